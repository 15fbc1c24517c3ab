"""Checkpoints as others have them: opened as the book's model, equal to `transformers`."""

from __future__ import annotations

import json
import sys
import types
from importlib import import_module

import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from transformer_book.support.atomic_files import read_json
from transformer_book.weights.checkpoint_settings import config_from_checkpoint
from transformer_book.weights.gpt2 import split_stacked, weights_from_gpt2
from transformer_book.weights.hugging_face import (
    INDEX,
    WEIGHTS,
    load_model,
    open_model,
    read_weights,
)
from transformer_book.weights.llama import weights_from_llama

WORDS = ["a", "dog", "cat", "sees", "sleeps", "and", "the", "end", "<eos>", "."]
VOCABULARY = {word: i for i, word in enumerate(WORDS)}
KINDS = {
    "llama": (LlamaForCausalLM, LlamaConfig, {}),
    "llama, grouped": (LlamaForCausalLM, LlamaConfig, {"num_key_value_heads": 2}),
    "llama, one key head, tied": (
        LlamaForCausalLM,
        LlamaConfig,
        {"num_key_value_heads": 1, "tie_word_embeddings": True, "head_dim": 6},
    ),
    "gpt2": (GPT2LMHeadModel, GPT2Config, {}),
    "gpt2, another width": (
        GPT2LMHeadModel,
        GPT2Config,
        {"n_inner": 20, "activation_function": "gelu", "layer_norm_epsilon": 1e-3},
    ),
    "gpt2, not tied": (GPT2LMHeadModel, GPT2Config, {"tie_word_embeddings": False}),
}


def write_tokenizer(folder):
    tokenizer = Tokenizer(models.WordLevel(VOCABULARY, unk_token="."))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))


def theirs_of(kind):
    model, config, options = KINDS[kind]
    sizes = (
        {
            "hidden_size": 16,
            "intermediate_size": 24,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
            "max_position_embeddings": 64,
        }
        if config is LlamaConfig
        else {"n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 64}
    )
    special = {"bos_token_id": None, "eos_token_id": 8, "pad_token_id": None}
    torch.manual_seed(5)
    theirs = model(config(vocab_size=10, **sizes | special | options)).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():  # their biases start at zero
            parameter.add_(0.2 * torch.randn_like(parameter))
    return theirs


@pytest.fixture(params=KINDS)
def pair(request, tmp_path):
    theirs = theirs_of(request.param)
    theirs.save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    return theirs, open_model(tmp_path)


@pytest.fixture(params=("llama", "gpt2"))
def folder(request, tmp_path):
    theirs_of(request.param).save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    return tmp_path


def change_weights(folder, change):
    weights = load_file(folder / WEIGHTS)
    change(weights)
    save_file(weights, folder / WEIGHTS)


def test_logits_and_gradients_are_theirs(pair):
    theirs, ours = pair
    for length in (1, 2, 33):
        tokens = torch.randint(0, 10, (2, length))
        torch.testing.assert_close(
            ours.model.logits(tokens), theirs(tokens).logits, atol=5e-6, rtol=1e-4
        )
    for logits in (ours.model.logits(tokens), theirs(tokens).logits):
        torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens.flatten()).backward()
    torch.testing.assert_close(
        ours.model.embedding.weight.grad,
        theirs.get_input_embeddings().weight.grad,
        atol=5e-6,
        rtol=1e-4,
    )
    gradients = {name: p.grad for name, p in theirs.named_parameters()}
    renamed = {"gpt2": weights_from_gpt2, "llama": weights_from_llama}[theirs.config.model_type]
    found = renamed(gradients)
    for name, parameter in ours.model.named_parameters():
        torch.testing.assert_close(parameter.grad, found[name], atol=5e-6, rtol=1e-4)


def test_the_greedy_continuation_is_theirs_token_for_token(pair):
    theirs, ours = pair
    for text in ("the dog", "a cat sees the dog and", "sleeps"):
        tokens = torch.tensor([ours.encode(text)])
        mine = ours.search(text, 30)
        expected = theirs.generate(
            tokens, max_new_tokens=30, do_sample=False, attention_mask=torch.ones_like(tokens)
        )
        assert mine.tokens == expected[0, tokens.size(1) :].tolist()
        assert mine.finished == (mine.tokens[-1] == 8)


def test_shards_give_the_same_model(pair, tmp_path):
    theirs, ours = pair
    shards = tmp_path / "shards"
    theirs.save_pretrained(shards, max_shard_size="2KB")
    assert (shards / INDEX).exists() and len(list(shards.glob("*.safetensors"))) > 1
    write_tokenizer(shards)
    again = open_model(shards)
    for name, tensor in ours.model.state_dict().items():
        assert torch.equal(tensor, again.model.state_dict()[name]), name


def test_half_precision_is_read_as_float32(folder):
    weights = load_file(folder / WEIGHTS)
    save_file({name: tensor.bfloat16() for name, tensor in weights.items()}, folder / WEIGHTS)
    model = load_model(folder)
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_weights_are_there_once(folder):
    """Each parameter is the tensor that was read: no second copy is made."""
    model = load_model(folder)
    storages = {p.untyped_storage().data_ptr(): p.untyped_storage() for p in model.parameters()}
    read = sum(tensor.numel() for _, tensor in read_weights(folder))
    assert sum(storage.nbytes() for storage in storages.values()) == 4 * read
    assert not any(p.is_meta for p in model.parameters()) and not model.training


def test_buffers_are_left_out(folder):
    more = {
        "h.0.attn.bias": torch.ones(1, 1, 64, 64),
        "h.0.attn.masked_bias": torch.tensor(-1e4),
        "model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(2),
    }
    kind = json.loads((folder / "config.json").read_text())["model_type"]
    weights = load_file(folder / WEIGHTS)
    if kind == "gpt2":  # the first published files have no prefix
        weights = {name.removeprefix("transformer."): t for name, t in weights.items()}
    weights |= {name: t for name, t in more.items() if name.startswith("h.") == (kind == "gpt2")}
    before = load_model(folder).state_dict()
    save_file(weights, folder / WEIGHTS)
    after = load_model(folder).state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def removed(*endings):
    def change(weights):
        del weights[next(name for name in weights if name.endswith(endings))]

    return change


def added(weights):
    weights[next(iter(weights)) + "s"] = torch.ones(2)


def cut(weights):
    name = next(name for name in weights if "norm.weight" in name or "ln_1.weight" in name)
    weights[name] = weights[name][:-1].clone()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (removed("ln_f.weight", "model.norm.weight"), "the book's 'norm.weight' gets none"),
        (removed("h.1.mlp.c_fc.weight", "layers.1.mlp.up_proj.weight"), "lacks a weight"),
        (added, "is not a weight of a"),
        (cut, r"The checkpoint has \(15,\) for the book's .* settings ask for \(16,\)"),
    ],
)
def test_wrong_weights_are_refused(folder, change, sentence):
    change_weights(folder, change)
    with pytest.raises(ValueError, match=sentence):
        open_model(folder)


def test_a_layer_too_many_is_refused(folder):
    settings = json.loads((folder / "config.json").read_text())
    name = "n_layer" if "n_layer" in settings else "num_hidden_layers"
    settings[name] = 1
    settings.pop("layer_types", None)
    (folder / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ValueError, match=r"has a weight left over, for the book's 'layers\.1\."):
        open_model(folder)


def test_half_of_a_stack_is_refused(tmp_path):
    theirs_of("gpt2").save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    change_weights(tmp_path, removed("h.1.attn.c_attn.bias"))
    with pytest.raises(ValueError, match=r"lacks the weight 'h\.1\.attn\.c_attn\.bias'"):
        open_model(tmp_path)


def test_a_stack_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"has shape \(4, 8\), which is not \(D, 3 D\)"):
        weights_from_gpt2(
            {"h.0.attn.c_attn.weight": torch.ones(4, 8), "h.0.attn.c_attn.bias": torch.ones(8)}
        )


def test_a_tied_matrix_that_is_two(tmp_path):
    theirs_of("llama, one key head, tied").save_pretrained(tmp_path)
    write_tokenizer(tmp_path)
    tied = load_model(tmp_path)
    assert tied.output.weight is tied.embedding.weight

    def second(weights):
        weights["lm_head.weight"] = weights["model.embed_tokens.weight"].clone()

    change_weights(tmp_path, second)
    assert torch.equal(load_model(tmp_path).output.weight, tied.output.weight)
    change_weights(tmp_path, lambda weights: weights["lm_head.weight"].add_(1))
    with pytest.raises(ValueError, match="holds two that differ"):
        load_model(tmp_path)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", WEIGHTS])
def test_a_missing_or_damaged_file(folder, name):
    (folder / name).write_bytes(b"no")
    with pytest.raises(ValueError, match=r"is not a JSON file|is not a tokenizer|is damaged"):
        open_model(folder)
    (folder / name).unlink()
    with pytest.raises(ValueError, match=r"has no|has neither"):
        open_model(folder)


@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        ({}, "does not say which weight is in which file"),
        ({"weight_map": {"wte.weight": "../other.safetensors"}}, "outside the folder"),
        ({"weight_map": {"wte.weight": "gone.safetensors"}}, "has no gone.safetensors"),
        ({"weight_map": {"nothing": WEIGHTS}}, "lacks the weight 'nothing'"),
    ],
)
def test_a_wrong_index(folder, index, sentence):
    (folder / INDEX).write_text(json.dumps(index))
    with pytest.raises(ValueError, match=sentence):
        open_model(folder)


def test_a_tokenizer_of_another_model(folder):
    many = Tokenizer(models.WordLevel({str(i): i for i in range(11)}, unk_token="0"))
    many.save(str(folder / "tokenizer.json"))
    with pytest.raises(ValueError, match="knows 11 tokens, but the model only 10"):
        open_model(folder)


def test_a_tokenizer_at_which_the_library_panics(folder):
    """Its Rust code does for a merge that is no token, and for a token in front that is not there.

    What it raises then is no `Exception`.
    """
    whole = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    whole.post_processor = processors.TemplateProcessing("a $A", special_tokens=[("a", 0)])
    described = json.loads(whole.to_str())
    (folder / "tokenizer.json").write_text(json.dumps(described))
    assert open_model(folder).encode("b") == [0, 1]
    described["post_processor"]["special_tokens"] = {}
    (folder / "tokenizer.json").write_text(json.dumps(described))
    with pytest.raises(ValueError, match=r"^The tokenizer cannot read the text: .*\.$"):
        open_model(folder).encode("b")
    described["model"]["vocab"].pop("ab")
    (folder / "tokenizer.json").write_text(json.dumps(described))
    with pytest.raises(ValueError, match=r"is not a tokenizer: .*\.$"):
        open_model(folder)


def test_the_end_tokens(folder):
    assert open_model(folder).end == {8}
    (folder / "generation_config.json").write_text('{"eos_token_id": [7, 8]}')
    assert open_model(folder).end == {7, 8}


def test_a_name_is_fetched(folder, monkeypatch):
    asked = {}

    def snapshot_download(name, allow_patterns):
        asked.update(name=name, patterns=allow_patterns)
        return str(folder)

    hub = types.ModuleType("huggingface_hub")
    hub.snapshot_download = snapshot_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert open_model("some/model").encode("the dog") == [6, 1]
    assert asked["name"] == "some/model" and "config.json" in asked["patterns"]
    assert not any("bin" in pattern or "py" in pattern for pattern in asked["patterns"])

    def fails(name, allow_patterns):
        raise OSError("There is no network.\nMore about it.")

    hub.snapshot_download = fails
    with pytest.raises(
        ValueError, match=r"^The model a/b cannot be fetched: There is no network.$"
    ):
        open_model("a/b")


def test_without_the_hubs_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ValueError, match="huggingface_hub is needed, which is not installed"):
        open_model("a/b")
    with pytest.raises(ValueError, match="neither a folder nor the name of a model"):
        open_model("no-such-folder")


def test_a_stack_by_hand():
    addresses = torch.tensor([[100.0 * row + column for column in range(6)] for row in range(2)])
    query, key, value, *biases = split_stacked(addresses, torch.arange(6.0))
    assert query.tolist() == [[0, 100], [1, 101]]
    assert key.tolist() == [[2, 102], [3, 103]]
    assert value.tolist() == [[4, 104], [5, 105]]
    assert [bias.tolist() for bias in biases] == [[0, 1], [2, 3], [4, 5]]


CLASSES = [
    (module, name)
    for module in ("llama", "gpt2")
    for name in import_module(f"transformers.models.{module}.modeling_{module}").__all__
    if not name.endswith("PreTrainedModel")
]


@pytest.mark.parametrize(("module", "name"), CLASSES, ids=lambda given: given)
def test_folders_of_all_their_classes(module, name, tmp_path):
    """The settings of each are known; those without another task's head are opened, too."""
    made = getattr(import_module(f"transformers.models.{module}.modeling_{module}"), name)
    made(theirs_of(module).config).save_pretrained(tmp_path)
    assert config_from_checkpoint(read_json(tmp_path / "config.json")).vocab_size == 10
    if name in ("LlamaForCausalLM", "GPT2LMHeadModel", "GPT2Model"):
        load_model(tmp_path)
    else:  # one sentence: which weight is not the language model's, or which one it lacks
        with pytest.raises(ValueError, match=r"is not a weight of|lacks a weight"):
            load_model(tmp_path)
