"""What verdicts tell is true of the versions that they are told of, on every input."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
import torch
from true_sentences import (
    IDLE,
    Told,
    true_numbers,
    true_size,
    truly_idle,
    untrue,
    versions,
)

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


def cut_off_or_warm(scores):
    return scores.detach().softmax(-1) if scores.dim() == 1 else warm(scores)


FALSE: list[tuple[str, Any, str]] = [
    (
        "min_p_probabilities",
        nan_or_an_exception,
        "On the 12 of 14 inputs where yours gives an answer, it is what the right version gives "
        "with `min_p` doubled.",
    ),
    ("softmax", warm, "Right on 14 of 14 inputs; the first that differs: random scores."),
    (
        "softmax",
        cut_off_or_warm,
        "Right on 6 of 15 inputs; the first that differs: two rows of three.",
    ),
    ("softmax", warm, "On all 14 inputs your answer is `scores`, unchanged."),
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


def test_what_symptoms_say_of_rows_signs_axes_sizes_and_idle_arguments_is_true_on_every_input() -> (
    None
):
    read = 0
    for mistake in checks.MISTAKES:
        component, said = checks.COMPONENTS[mistake.component], mistake.symptom
        found = checks.explaining.known_outcomes(component, (mistake,))
        expected = checks.explaining.known_outcomes(component, ())
        for outcome, right, case in zip(found, expected, component.cases(), strict=True):
            assert outcome.trouble or true_numbers(said, outcome.answer), (said, case.name)
            assert outcome.trouble or true_size(said, outcome.answer, right.answer), (said, case)
        version = component.version(mistake.steps)
        attempt = checks.attempt.Attempt.of(component, version, 5.0)
        assert truly_idle(checks, attempt, said), (component.name, mistake.name, said)
        read += bool(re.match(IDLE, said))
    assert read > 40


@pytest.mark.parametrize(
    ("symptom", "rows"),
    [
        ("The columns sum to one instead of the rows.", [0.2, 0.8]),
        ("Each row sums to less than one; all rows together sum to one.", [[0.2, 0.8]]),
        ("The numbers sum to one, and some of them are negative.", [0.25, 0.75]),
        ("The probabilities do not sum to one.", [0.25, 0.75]),
        ("No output is negative.", [0.0, -1.0]),
        ("Every number is negative or zero.", [0.0, 1.0]),
        ("The mask holds 0 and 1 as numbers.", [True, False]),
        ("The shape is (B, T, K): the heads are averaged.", [1.0, 2.0]),
    ],
)
def test_a_symptom_that_an_answer_contradicts_is_found(symptom: str, rows: list[Any]) -> None:
    assert not true_numbers(symptom, torch.tensor(rows))


@pytest.mark.parametrize(
    ("symptom", "mine", "right", "true"),
    [
        ("The result is too large.", 3.0, 2.0, True),
        ("The result is too large.", 2.0, 2.0, False),
        ("The result is too small, unless the loss is 0.", 1.0, 1.0, True),
        ("The vectors are too short by a factor of d_model.", torch.ones(1), torch.ones(1), True),
        ("Gradients are shortened too much.", [torch.ones(2)], [torch.ones(2) / 2], False),
    ],
)
def test_a_size_that_an_answer_does_not_have_is_found(
    symptom: str, mine: Any, right: Any, true: bool
) -> None:
    assert true_size(symptom, mine, right) == true


def cleaned_and_not_masked(query, key, value, mask=None):
    """A mask changes nothing, but for queries that may see nothing."""
    weights = (query @ key.mT / query.size(-1) ** 0.5).softmax(dim=-1)
    return weights @ value * (1.0 if mask is None else mask.any(-1, keepdim=True))


def test_an_argument_that_matters_after_all_is_found() -> None:
    attempt = checks.attempt.Attempt.of(
        checks.COMPONENTS["scaled_dot_product_attention"], cleaned_and_not_masked, 5.0
    )
    assert not truly_idle(checks, attempt, "The mask changes nothing.")
    assert not truly_idle(checks, attempt, "The values do not matter.")
    assert not truly_idle(checks, attempt, "The arguments `query` and `key` do not matter.")
