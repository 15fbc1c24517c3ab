"""Open a checkpoint as the Hugging Face hub has it: a folder, or a name (chapter 28).

A folder holds `config.json` (the settings), `tokenizer.json`, and the weights: `model.safetensors`,
or several files and `model.safetensors.index.json`, which says what is where. Nothing in it is
executed, and no pickle is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import safetensors
import torch
from tokenizers import Tokenizer
from torch import Tensor

from transformer_book.architectures import check_memory
from transformer_book.decoder_only import DecoderOnly, DecoderOnlyConfig
from transformer_book.support.atomic_files import read_json
from transformer_book.weights.checkpoint_settings import FAMILIES, config_from_checkpoint, family_of
from transformer_book.weights.language_model import LanguageModel, in_a_sentence

WEIGHTS, INDEX = "model.safetensors", "model.safetensors.index.json"
# What is fetched of a named model; nothing else is read.
FILES = ("config.json", "generation_config.json", "tokenizer.json", INDEX, "model*.safetensors")
# Tables that some Llama files hold; they follow from the settings.
COMPUTED = re.compile(r"model\.layers\.\d+\.self_attn\.rotary_emb\.inv_freq")


def open_model(name: str | Path, device: str = "cpu") -> LanguageModel:
    """Open a checkpoint folder, or fetch a named model from the hub, as the book's own model.

    Args:
        name: a folder, or a name such as `HuggingFaceTB/SmolLM2-135M`. A name needs the package
            `huggingface_hub`, and a network the first time.
        device: where to put the model.

    Raises:
        ValueError: there is no such folder or model; a file is missing or damaged; a weight or a
            setting that the book's model does not know, lacks, or has in another shape.
    """
    folder = Path(name)
    if not folder.is_dir():
        folder = fetched(str(name))
    settings = read_json(_file(folder, "config.json"))
    model = load_model(folder, settings).to(device)
    path = _file(folder, "tokenizer.json")
    with in_a_sentence(f"{path} is not a tokenizer"):
        tokenizer = Tokenizer.from_file(str(path))
    return LanguageModel(model, tokenizer, _end(folder, settings))


def load_model(folder: str | Path, settings: Any = None) -> DecoderOnly:
    """The book's model with the weights of a checkpoint folder, in float32, in evaluation mode.

    The weights are in memory once: the model is built without numbers, and gets those of the file.

    Args:
        folder: of the checkpoint.
        settings: what its `config.json` says; `None`: it is read.

    Raises:
        ValueError: see `open_model`.
    """
    folder = Path(folder)
    if settings is None:
        settings = read_json(_file(folder, "config.json"))
    config = config_from_checkpoint(settings)
    renamed = FAMILIES[family_of(settings)][1]
    weights = renamed(
        {n: tensor for n, tensor in read_weights(folder) if not COMPUTED.fullmatch(n)}
    )
    return assembled(config, weights)


def assembled(config: DecoderOnlyConfig, weights: dict[str, Tensor]) -> DecoderOnly:
    """The model of this configuration with these weights, in evaluation mode; nothing is copied.

    Raises:
        ValueError: a weight is missing, of another shape, or left over; the model is larger than
            this machine's memory.
    """
    check_memory(config)
    with torch.device("meta"):  # shapes without numbers
        model = DecoderOnly(config)
    _check_weights(model, weights, config)
    model.load_state_dict(weights, assign=True)
    return model.eval()


def read_weights(folder: str | Path) -> Iterator[tuple[str, Tensor]]:
    """The weights of a checkpoint folder by name, one after the other, in float32.

    Raises:
        ValueError: there are none; a file is missing or damaged; the index names a weight that is
            not where it says.
    """
    folder = Path(folder)
    if (folder / INDEX).is_file():
        index = read_json(folder / INDEX)
        places = index.get("weight_map") if isinstance(index, dict) else None
        if not isinstance(places, dict) or not places:
            raise ValueError(f"{folder / INDEX} does not say which weight is in which file.")
        for file in places.values():
            if not isinstance(file, str) or Path(file).name != file:
                raise ValueError(f"{folder / INDEX} names a file outside the folder: {file!r}.")
    elif (folder / WEIGHTS).is_file():
        places = None
    else:
        raise ValueError(f"{folder} has neither {WEIGHTS} nor {INDEX}.")
    for file in dict.fromkeys(places.values()) if places else (WEIGHTS,):
        path = _file(folder, file)
        try:
            with safetensors.safe_open(path, framework="pt", device="cpu") as opened:
                names = list(opened.keys())
                wanted = names if places is None else [n for n in places if places[n] == file]
                for name in wanted:
                    if name not in names:
                        raise ValueError(f"{path} lacks the weight {name!r}.")
                    # A copy: the file may go away while the model is in use.
                    yield name, opened.get_tensor(name).to(torch.float32, copy=True)
        except safetensors.SafetensorError as error:
            raise ValueError(f"{path} is damaged ({error}).") from error


def _check_weights(
    model: DecoderOnly, weights: dict[str, Tensor], config: DecoderOnlyConfig
) -> None:
    """Raise `ValueError` unless every weight is there, in its shape, and no others.

    A tied matrix may be stored once; it is added under its second name.
    """
    tied = "embedding.weight", "output.weight"
    if config.tie_embeddings and weights.keys() & set(tied):
        first, second = (weights.get(name) for name in tied)
        if first is not None and second is not None and not torch.equal(first, second):
            raise ValueError(
                "The settings say that embedding and output are one matrix "
                "(tie_word_embeddings), but the checkpoint holds two that differ."
            )
        weights.update(dict.fromkeys(tied, second if first is None else first))
    own = model.state_dict()
    for name, tensor in own.items():
        if name not in weights:
            raise ValueError(f"The checkpoint lacks a weight: the book's {name!r} gets none.")
        if weights[name].shape != tensor.shape:
            raise ValueError(
                f"The checkpoint has {tuple(weights[name].shape)} for the book's {name!r}, but "
                f"its settings ask for {tuple(tensor.shape)}."
            )
    left = sorted(weights.keys() - own.keys())
    if left:
        raise ValueError(
            f"The checkpoint has a weight left over, for the book's {left[0]!r}, which a model "
            "with its settings does not have."
        )


def _end(folder: Path, settings: Any) -> frozenset[int]:
    """The tokens that end a text: `generation_config.json` takes precedence over `config.json`."""
    path = folder / "generation_config.json"
    generation = read_json(path) if path.is_file() else {}
    for source in (generation, settings):
        ids = source.get("eos_token_id") if isinstance(source, dict) else None
        if ids is not None:
            ids = ids if isinstance(ids, list) else [ids]
            if all(isinstance(i, int) for i in ids):
                return frozenset(ids)
    return frozenset()


def _file(folder: Path, name: str) -> Path:
    if not (folder / name).is_file():
        raise ValueError(f"{folder} has no {name}.")
    return folder / name


def fetched(name: str) -> Path:
    """The folder in which a named model is, after fetching what is not there yet.

    Raises:
        ValueError: it is not the name of a model; `huggingface_hub` is not installed; there is no
            such model, or no network.
    """
    if not re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        raise ValueError(
            f"{name!r} is neither a folder nor the name of a model, such as "
            "'HuggingFaceTB/SmolLM2-135M'."
        )
    try:
        from huggingface_hub import snapshot_download
    except ModuleNotFoundError:
        raise ValueError(
            f"There is no folder {name}, and to fetch the model of this name, huggingface_hub is "
            "needed, which is not installed: pip install huggingface_hub."
        ) from None
    with in_a_sentence(f"The model {name} cannot be fetched"):
        return Path(snapshot_download(name, allow_patterns=list(FILES)))
