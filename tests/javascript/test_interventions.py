"""Every change that the page makes in a model, made in PyTorch, too: the same logits and tokens."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from browser_parity import MODULES, conversation, pairs_of, run, translator_of, unpacked

from tests.javascript.conftest import sentences
from transformer_book import pretrained
from transformer_book.studies.interventions import changed

NAME = "captions-de-en"
FOLDER = pretrained.find(NAME)
TEXTS = sentences(NAME, 2)
BEAMS = (1, 3)
CHANGES = (
    "head:cross.1.2",
    "head:encoder.0.3",
    "head:decoder.1.0",
    "average:cross.0.1",
    "average:decoder.1.3",
    "weight:cross.1.2.1.0.0.5",
    "weight:cross.0.0.0.2.0.75",
    "layer:encoder.1",
    "layer:decoder.0",
    "feed_forward:decoder.0",
    "residual:encoder.0",
    "residual:decoder.1",
    "scale:0.5",
    "scale:1",
    "causal:off",
    "positions:off",
    "positions:source",
    "temperature:0.5",
)


@pytest.fixture(scope="module")
def pairs() -> list[tuple[list[int], list[int]]]:
    return pairs_of(translator_of(FOLDER), TEXTS)


@pytest.fixture(scope="module")
def found(rules, pairs) -> dict[str, list]:
    """For each change, and none: logits, and translations with one beam and with three."""
    jobs = []
    for change in ("", *CHANGES):
        job = {"folder": str(FOLDER), "changes": [change] if change else []}
        jobs.append({**job, "operation": "changed_logits", "pairs": pairs})
        search = {**job, "operation": "changed_search", "texts": TEXTS}
        jobs += [{**search, "beam_size": n} for n in BEAMS]
    results = iter(run(jobs, rules))
    return {change: [next(results) for _ in range(3)] for change in ("", *CHANGES)}


@pytest.mark.parametrize("change", CHANGES)
@torch.no_grad()
def test_a_change_does_what_it_does_in_pytorch(change, found, pairs) -> None:
    """With one beam and with three: then a step asks for several rows at one position."""
    translator = translator_of(FOLDER)
    with changed(translator.model, [change]):
        right = [translator.model(*(torch.tensor([i]) for i in pair))[0].numpy() for pair in pairs]
        expected = [
            [list(one.tokens) for one in translator.search(TEXTS, beam_size=n)] for n in BEAMS
        ]
    moved = 0.0
    logits, *said = found[change]
    for packed, untouched, each in zip(logits, found[""][0], right, strict=True):
        np.testing.assert_allclose(unpacked(packed, *each.shape), each, atol=2e-3)
        moved = max(moved, np.abs(unpacked(untouched, *each.shape) - each).max())
    assert moved > 0.01, "the change changes nothing"
    assert said == expected


def test_afterwards_the_model_is_as_before() -> None:
    model = translator_of(FOLDER).model
    before = {name: dict(vars(module)) for name, module in model.named_modules()}
    ids = torch.tensor([[4, 5, 6, 2]]), torch.tensor([[1, 7, 8]])
    with torch.no_grad():
        logits = model(*ids)
        with changed(model, CHANGES):
            assert not torch.allclose(model(*ids), logits)
        assert torch.equal(model(*ids), logits)
    for name, module in model.named_modules():
        assert vars(module).keys() == before[name].keys()


REFUSED = (
    *("", "head", "head:cross.9.0", "head:cross.0.9", "head:cross.0", "head:toString.0.0"),
    *("weight:cross.0.0.1.1.x", "layer:cross.0", "scale:", "scale:1e9", "causal:on"),
    *("constructor:off", "temperature:0", "temperature:-1", "scale:0x10", "scale: 1", "scale:1."),
    *(
        "head:encoder.0.0.0",
        "positions:both",
        "head:cross.-1.0",
        "head:cross.0.0:",
        "weight:cross.0.0.1.1.1_0",
    ),
)


def test_what_a_model_does_not_have_is_refused_in_one_sentence(rules) -> None:
    job = {"operation": "changed_search", "folder": str(FOLDER), "texts": TEXTS}
    with conversation(rules) as ask:
        results = ask(MODULES, [{**job, "changes": [c]} for c in REFUSED])
    for change, result in zip(REFUSED, results, strict=True):
        with (
            pytest.raises(ValueError) as error,
            changed(translator_of(FOLDER).model, [change]),
        ):
            pass
        assert str(error.value).startswith(f"This model cannot be changed by “{change}”")
        assert result == {"error": str(error.value)}
