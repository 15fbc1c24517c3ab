"""book/debugging.md: every symptom, lists that are up to date, tests that find mistakes."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from common import ROOT
from debugging_page import causes, written
from torch import nn

from transformer_book import checks
from transformer_book.batches import PairDataset
from transformer_book.checks.catalogue import SYMPTOMS, anchor_of, place_of
from transformer_book.checks.in_whole_models import made
from transformer_book.metrics import bleu
from transformer_book.training import mean_loss
from transformer_book.transformer import Transformer, TransformerConfig

PAGE = (ROOT / "book" / "debugging.md").read_text(encoding="utf-8")
SECTIONS = {
    title: body for title, body in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
}
BY_KEY = {symptom.key: SECTIONS.get(symptom.title, "") for symptom in SYMPTOMS}

pytestmark = pytest.mark.usefixtures("unhooked")


def test_the_page_has_every_symptom_and_no_other() -> None:
    assert list(SECTIONS) == [symptom.title for symptom in SYMPTOMS]
    for symptom in SYMPTOMS:
        assert re.findall(r"<!-- causes: ([\w-]+) -->", BY_KEY[symptom.key]) == [symptom.key]


def test_the_lists_are_those_of_the_checks() -> None:
    assert written(PAGE) == PAGE, "run python tools/debugging_page.py --write"
    assert "**ε forgotten.**" in PAGE  # a capital would be another letter


def test_an_unknown_symptom_is_told() -> None:
    with pytest.raises(ValueError, match="no symptom 'slow'; known are too-good"):
        causes("slow")


def test_each_cause_has_its_chapter_its_section_and_its_check() -> None:
    for symptom in SYMPTOMS:
        for line in re.findall(r"^\* \*\*.+$", BY_KEY[symptom.key], re.M):
            number, anchor, check = re.search(
                r"\[Chapter (\d+), .*\]\(\S+?#(\S+)\); `checks\.(\w+)`\.$", line
            ).groups()
            places = {place_of(m) for m in checks.MISTAKES if m.component == check}
            assert (int(number), anchor) in {(n, anchor_of(section)) for n, section in places}


def test_anchors_are_those_of_the_website() -> None:
    from mdit_py_plugins.anchors.index import slugify

    headings = [*SECTIONS, *(place_of(mistake)[1] for mistake in checks.MISTAKES)]
    assert {text: anchor_of(text) for text in headings} == {t: slugify(t) for t in headings}


# --- the tests on the page ------------------------------------------------------------------------


def snippets_of(key: str) -> str:
    return "\n".join(re.findall(r"```python\n(.*?)```", BY_KEY[key], re.S))


class Data(PairDataset):
    """Pairs that are encoded already."""

    def __init__(self, pairs: list[tuple[list[int], list[int]]]) -> None:
        self.examples, self.lengths = pairs, [(len(s), len(t)) for s, t in pairs]


PAIRS = [([5, 6, 2], [1, 4, 5, 6, 2]), ([7, 8, 9, 10, 2], [1, 7, 8, 9, 2])]
PAIRS += [([11, 5, 4, 2], [1, 5, 4, 2]), ([9, 2], [1, 6, 2])]


def small_model() -> Transformer:
    sizes = {"d_model": 16, "n_heads": 4, "n_encoder_layers": 2, "n_decoder_layers": 2, "d_ff": 16}
    return Transformer(TransformerConfig(64, 64, max_length=20, **sizes)).eval()


def update(model: nn.Module) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    with torch.enable_grad():
        loss(model(SOURCE, TARGET)).backward()
    optimizer.step()
    optimizer.zero_grad()


def update_too_late(model: nn.Module) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.0)
    loss(model(SOURCE, TARGET)).backward()
    optimizer.zero_grad()
    optimizer.step()


SOURCE = torch.tensor([[5, 6, 2, 0, 0], [7, 8, 9, 10, 2], [11, 5, 4, 2, 0], [9, 2, 0, 0, 0]])
TARGET = torch.tensor([[1, 4, 5, 6], [1, 7, 8, 9], [1, 5, 4, 0], [1, 6, 0, 0]])


def loss(logits: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(logits.mT, TARGET, ignore_index=0)


def names(**others: Any) -> dict[str, Any]:
    """What the snippets use: a small right model, a batch, right helpers; and what differs."""
    torch.manual_seed(0)
    everything = {
        "torch": torch,
        "checks": checks,
        "bleu": bleu,
        "mean_loss": mean_loss,
        "model": small_model(),
        "source": SOURCE,
        "target": TARGET,
        "target_out": torch.tensor([[4, 5, 6, 2], [7, 8, 9, 2], [5, 4, 2, 0], [6, 2, 0, 0]]),
        "loss": loss,
        "update": update,
        "references": ["A dog sleeps.", "Two cats run."],
        "outputs": ["A dog sleeps.", "Two cats sleep."],
        "dataset": Data(PAIRS),
        "my_feed_forward": checks.COMPONENTS["feed_forward"].reference,
    }
    return everything | others


@pytest.mark.parametrize("key", BY_KEY)
def test_a_right_model_passes_its_test(key: str, capsys) -> None:
    assert snippets_of(key)
    exec(snippets_of(key), names())


LATE_END = torch.tensor([[4, 5, 6, 2], [7, 8, 9, 2], [5, 4, 0, 2], [6, 0, 0, 2]])
NO_END = torch.tensor([[4, 5, 6, 7], [7, 8, 9, 2], [5, 4, 2, 0], [6, 2, 0, 0]])


def always_drops(model: nn.Module) -> nn.Module:
    model.encoder.register_forward_hook(lambda module, inputs, output: F.dropout(output, 0.5))
    return model


def overflows(model: nn.Module) -> nn.Module:
    with torch.no_grad():
        model.output.weight[5] = torch.inf
    return model


def mean_of_means(model: nn.Module, dataset: Data, batch_size: int) -> float:
    batches = [PAIRS[i : i + batch_size] for i in range(0, len(PAIRS), batch_size)]
    means = [mean_loss(model, Data(pairs), batch_size=batch_size) for pairs in batches]
    return sum(means) / len(means)


WRONG = {
    "too-good": [
        ("target_mask", "next target token visible"),
        ("scaled_dot_product_attention", "mask applied after the softmax"),
    ],
    "nonsense": [
        ("merge_heads", "heads merged without permuting back"),
        ("split_heads", "heads split with view, not transposed"),
    ],
    "batch": [
        ("encoder_layer", "encoder mask not passed on"),
        ("layer_norm", "layer norm over two axes"),
    ],
    "nan": [{"model": overflows}],
    "flat": [{"update": update_too_late}],
    "frequencies": [("decoder_layer", "keys and values from the target")],
    "random": [{"model": always_drops}],
    "sizes": [("decoder_layer", "target mask used in cross-attention")],
    "worse": [("make_stack", "[layer] * N")],
    "endless": [{"target_out": LATE_END}, {"target_out": NO_END}],
    "bleu": [{"bleu": lambda outputs, references: bleu([o[:-1] for o in outputs], references)}],
    "score": [{"mean_loss": mean_of_means}],
    "harmless": [{"my_feed_forward": lambda x, w1, b1, w2, b2: x @ w1.T @ w2.T}],
}


@pytest.mark.parametrize(
    ("key", "wrong"), [(key, wrong) for key, several in WRONG.items() for wrong in several]
)
def test_a_mistake_of_its_symptom_fails_its_test(key: str, wrong: Any) -> None:
    assert WRONG.keys() == BY_KEY.keys()
    making: AbstractContextManager = made(*wrong) if isinstance(wrong, tuple) else nullcontext()
    with making, pytest.raises((AssertionError, ValueError)):
        others = {} if isinstance(wrong, tuple) else dict(wrong)
        if "model" in others:
            others["model"] = others["model"](names()["model"])
        exec(snippets_of(key), names(**others))
