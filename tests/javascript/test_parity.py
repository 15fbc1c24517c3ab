"""The model in the browser computes what the package computes: see tools/browser_parity.py.

On few sentences, in node; tests/site/test_parity_in_chromium.py compares more in the browser.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from browser_parity import (
    MODULES,
    TIE,
    TOLERANCE,
    differences,
    differing,
    largest_difference,
    pairs_of,
    random_strings,
    search_job,
    tokenizers,
    translator_of,
    unpacked,
    wrong_pieces,
    wrong_rare_words,
    wrong_texts,
)

from tests.javascript.conftest import ODD, sentences
from transformer_book import masks, pretrained
from transformer_book.attention import (
    MultiHeadAttention,
    recorded_attention,
    scaled_dot_product_attention,
)
from transformer_book.layers import LayerNorm

MODELS = pretrained.names()


# --- whole models ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_the_logits_are_pytorchs(name, node, tell) -> None:
    difference = largest_difference(pretrained.find(name), sentences(name, 2), node)
    tell(f"{name} in JavaScript: logits differ from PyTorch's by at most {difference:.1e}")
    assert difference < TOLERANCE


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("options", [{"beam_size": 1}, {}], ids=["greedy", "as shipped"])
def test_the_translations_are_the_packages(name, options, node, tell) -> None:
    found = differences(pretrained.find(name), sentences(name, 1, first=6), options, node)
    for each in found:
        tell(f"{name} in JavaScript: {each}")
    assert all(each.gap < TIE for each in found)


@pytest.mark.parametrize("name", [name for name in ODD if ODD[name].get("causal", True)])
def test_configurations_that_no_shipped_model_has(name, odd, node) -> None:
    texts = ["a b c", "g g", "d", "a c e g b d f a c"]
    assert largest_difference(odd[name], texts, node) < 1e-4


def test_a_decoder_that_sees_the_future_is_computed_anew_at_every_step(odd, node) -> None:
    translator = translator_of(odd["bare"])
    job = {"operation": "logits", "folder": str(odd["bare"])}
    pairs = pairs_of(translator, ["a b c", "g"])
    (found,) = node([{**job, "pairs": pairs}])
    for packed, (source, target) in zip(found, pairs, strict=True):
        with torch.no_grad():
            right = translator.model(torch.tensor([source]), torch.tensor([target]))[0].numpy()
        np.testing.assert_allclose(unpacked(packed, *right.shape), right, atol=1e-4)
    assert not differences(odd["bare"], ["a b c", "g", "e d"], {"beam_size": 3}, node)


OPTIONS = [
    {"beam_size": 4, "n_best": 4},
    {"beam_size": 2, "length_penalty": 0.0},
    {"beam_size": 20, "n_best": 3},  # more beams than there are tokens
    {"beam_size": 3, "max_length": 4, "n_best": 3},
    {"beam_size": 1, "max_length": 1},
]
SHORT = ["a b c", "g g", "d e f a"]


@pytest.fixture(scope="module")
def searched(odd, node) -> dict[tuple[str, int], list]:
    """What node finds with each model and each of the options; it is started once."""
    asked = [(name, i) for name in ODD for i in range(len(OPTIONS))]
    jobs = [search_job(odd[name], SHORT, OPTIONS[i]) for name, i in asked]
    return dict(zip(asked, node(jobs), strict=True))


@pytest.mark.parametrize("number", range(len(OPTIONS)), ids=lambda i: str(OPTIONS[i]))
@pytest.mark.parametrize("name", ODD)
def test_searches_with_other_options(name, number, odd, searched) -> None:
    found = differing(odd[name], SHORT, OPTIONS[number], searched[name, number])
    assert all(each.gap < TIE for each in found)


def test_the_candidates_of_each_step(node) -> None:
    folder = pretrained.find("captions-de-en")
    text = sentences("captions-de-en", 1)[0]
    options = {"beam_size": 1, "n_candidates": 6}
    job = {"operation": "search", "folder": str(folder), "texts": [text], "options": options}
    (((found,),),) = node([job])
    (right,) = translator_of(folder).search([text], **options)
    for step, others in zip(right.candidates, found["candidates"], strict=True):
        assert [token for token, _ in step] == [each["token"] for each in others]
        np.testing.assert_allclose([p for _, p in step], [c["p"] for c in others], atol=1e-5)


def test_a_search_stops_where_it_must(node) -> None:
    """Without <eos> a target is as long as it may be; forced tokens are said, then it goes on."""
    folder = pretrained.find("captions-de-en")
    job = {"operation": "search", "folder": str(folder), "texts": ["Ein Hund schläft."]}
    endless = {"beam_size": 1, "ban": [2]}
    forced = {"beam_size": 1, "forced": [7, 4]}
    (long,), (other,) = (
        result[0] for result in node([{**job, "options": o} for o in (endless, forced)])
    )
    assert len(long["ids"]) == min(5 + 50, 63) and not long["finished"]
    assert other["ids"][:2] == [7, 4] and other["finished"]


def test_sentences_for_what_cannot_be_translated(node) -> None:
    """The same ones as the package's."""
    for name, texts in {
        "captions-de-en": ["", " \t\u200b", "Hund " * 100],
        "series": ["2x", "sin(y x)", "x $ y", "a***b", "α", "sin(a)", ""],
    }.items():
        folder = pretrained.find(name)
        job = {"operation": "search", "folder": str(folder), "texts": texts, "options": {}}
        (found,) = node([job])
        for text, result in zip(texts, found, strict=True):
            with pytest.raises(ValueError) as error:
                translator_of(folder).encode(text)
            assert result == {"error": str(error.value)}


# --- what the hooks are shown ---------------------------------------------------------------------


def test_every_stage_is_shown(node) -> None:
    """Weights, queries, keys, values, norms of all modules, under their names in the state dict."""
    folder = pretrained.find("captions-en-it")
    translator = translator_of(folder)
    (pair,) = pairs_of(translator, sentences("captions-en-it", 1))
    stages = ["weights", "query", "key", "value", "output"]
    job = {"operation": "stages", "folder": str(folder), "pair": pair, "stages": stages}
    (found,) = node([job])
    right: dict[str, torch.Tensor] = {}

    def keep(name: str, split=lambda x: x):
        def hook(module, inputs, made) -> None:
            right[name] = split(made)

        return hook

    handles = []
    for name, module in translator.model.named_modules():
        if isinstance(module, LayerNorm):
            handles.append(module.register_forward_hook(keep(f"{name}.output")))
        if isinstance(module, MultiHeadAttention):
            for part in ("query", "key", "value"):
                hook = keep(f"{name}.{part}", module.split_heads)
                handles.append(getattr(module, part).register_forward_hook(hook))
            handles.append(module.output.register_forward_hook(keep(f"{name}.output")))
    with torch.no_grad(), recorded_attention(translator.model) as modules:
        translator.model(*(torch.tensor([ids]) for ids in pair))
        right |= {f"{name}.weights": module.weights for name, module in modules.items()}
    for handle in handles:
        handle.remove()
    assert right.keys() <= found.keys()
    for name, tensor in right.items():
        np.testing.assert_allclose(unpacked(found[name], *tensor.shape), tensor, atol=2e-4)


# --- the parts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [None, (2, 1, 1, 4), (3, 4), (2, 2, 3, 4), (1, 2, 1, 4)], ids=str)
def test_attention_with_a_mask_of_any_shape(shape, node) -> None:
    """A row with nothing to attend to gives zeros."""
    generator = torch.Generator().manual_seed(0)
    sizes = {"query": (2, 2, 3, 5), "key": (2, 2, 4, 5), "value": (2, 2, 4, 5)}
    tensors = {name: torch.randn(size, generator=generator) for name, size in sizes.items()}
    mask = None
    if shape is not None:
        mask = torch.rand(shape, generator=generator) < 0.6
        mask[(0,) * (len(shape) - 1)] = False
    listed = {n: {"data": t.flatten().tolist(), "shape": t.shape} for n, t in tensors.items()}
    if mask is not None:
        listed["mask"] = {"data": mask.flatten().int().tolist(), "shape": shape}
    (found,) = node([{"operation": "attention", **listed}])
    for packed, right in zip(
        found, scaled_dot_product_attention(**tensors, mask=mask), strict=True
    ):
        np.testing.assert_allclose(unpacked(packed, *right.shape), right, atol=1e-6)


def test_the_target_mask(node) -> None:
    tokens = [[1, 5, 7, 0, 0], [1, 5, 7, 8, 9]]
    (found,) = node([{"operation": "masks", "tokens": tokens}])
    right = masks.target_mask(torch.tensor(tokens))
    assert found == [right.int().flatten().tolist(), list(right.shape)]


def test_layer_norm_of_equal_features_is_finite(node) -> None:
    rows = [[1.0, 2.0, 4.0], [2.5, 2.5, 2.5], [1e-3, -1e-3, 0.0]]
    job = {"operation": "norm", "rows": rows, "weight": [1.0, 2.0, 3.0], "bias": [0.1, 0.0, -0.1]}
    (found,) = node([job])
    norm = LayerNorm(3)
    norm.load_state_dict({name: torch.tensor(job[name]) for name in ("weight", "bias")})
    np.testing.assert_allclose(unpacked(found, 3, 3), norm(torch.tensor(rows)).detach(), atol=1e-5)


def test_every_half_precision_number_is_widened(node) -> None:
    (found,) = node([{"operation": "widened"}])
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    np.testing.assert_array_equal(unpacked(found, -1), halves.astype(np.float32))


# --- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", tokenizers())
def test_the_pieces_are_the_packages(name, node) -> None:
    """On random strings with combining marks, emoji and unassigned code points."""
    assert not wrong_pieces(name, list(random_strings(500, seed=1)), node)


def test_text_is_treated_as_python_does(node) -> None:
    """Random strings, and every character that this Python or any newer Unicode might know."""
    characters = [
        chr(i) for i in (*range(0xD800), *range(0xE000, 0x32400), *range(0xE0000, 0xE0200))
    ]
    lines = ["a".join(characters[i : i + 500]) for i in range(0, len(characters), 500)]
    assert not wrong_texts([*random_strings(500, seed=1), *lines], node)


def test_rare_words_are_the_packages(node) -> None:
    assert not wrong_rare_words(list(random_strings(500, seed=1)), node)


def test_a_translation_names_the_rare_words_if_its_model_can(odd, node) -> None:
    texts = ["A bad FEE", "ab. ab!", "bad_egg, bad", "日"]
    for name in ("subwords", "silent"):
        assert not differences(odd[name], texts, {"beam_size": 2}, node)
    named = [one.rare for one in translator_of(odd["subwords"]).search(texts)]
    assert named == [("bad",), (), ("bad", "egg"), ("日",)]
    assert {one.rare for one in translator_of(odd["silent"]).search(texts)} == {None}


# --- as short as Python's -------------------------------------------------------------------------


def code_lines(*names: str) -> int:
    """Lines of JavaScript that are neither empty nor only a comment."""
    lines = [
        line.strip()
        for name in names
        for line in (MODULES / f"{name}.js").read_text(encoding="utf-8").splitlines()
    ]
    return sum(bool(line) and not line.startswith(("//", "/**", "*")) for line in lines)


def test_the_model_is_read_in_one_sitting() -> None:
    model = ("tensors", "safetensors", "masks", "attention", "embeddings", "layers")
    assert code_lines(*model, "encoder", "decoder", "transformer") <= 600
    assert code_lines(*model, "encoder", "decoder", "transformer", "backwards") <= 800
    assert code_lines("decoder_cache", "decoding") <= 250
