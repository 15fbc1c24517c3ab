"""What verdicts tell is true of the versions that they are told of, on every input."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from true_sentences import Told, untrue, versions

from tests.checks.judged import checks

pytestmark = pytest.mark.filterwarnings("ignore")


def test_every_sentence_of_a_sample_is_true() -> None:
    """One in sixty of the corpus, of the mutants, the mistakes and their pairs."""
    number = 0
    for name, component, made in versions(checks, every=60):
        number += 1
        found = untrue(checks, component, made)
        assert not found, (component.name, name, found)
    assert number > 100


def nan_or_an_exception(logits, min_p):
    return logits * torch.tensor(float("nan")) if logits.numel() < 5 else logits.item()


def warm(scores):
    return (scores / 1.5).softmax(-1)


FALSE: list[tuple[str, Any, str]] = [
    (
        "min_p_probabilities",
        nan_or_an_exception,
        "Wherever yours gives an answer, it is what the right version gives with `min_p` doubled.",
    ),
    ("softmax", warm, "Right on 14 of 14 inputs; the first that differs: random scores."),
    ("softmax", warm, "On every input your answer is `scores` itself, unchanged."),
    ("softmax", warm, "Yours is the right answer times 2."),
    ("softmax", warm, "It differs only at the first column."),
    ("softmax", warm, "Everywhere your number is too small."),
    ("softmax", warm, "It stops with ValueError: no. The input was: random scores."),
    ("softmax", warm, "On 2 of 14 inputs, the first of them 'random scores': entry [0] is 1."),
    ("softmax", warm, "A sentence of a kind that is not known."),
]


@pytest.mark.parametrize(("name", "function", "sentence"), FALSE, ids=[f[2] for f in FALSE])
def test_a_false_sentence_is_found(name: str, function: Any, sentence: str) -> None:
    told = Told(checks, checks.COMPONENTS[name], function)
    assert not list(told.untrue())
    told.verdict = replace(told.verdict, sentences=(sentence,), mistakes=())
    assert list(told.untrue()) == [sentence]


def test_a_name_that_is_not_that_of_the_numbers_is_found() -> None:
    told = Told(checks, checks.COMPONENTS["softmax"], warm)
    wrong = next(m for m in checks.MISTAKES if m.component == "softmax" and m.kind == "wrong")
    told.verdict = replace(told.verdict, mistakes=(wrong,))
    (found,) = told.untrue()
    assert found.startswith(wrong.name)
