"""The checks of single exercises: what they accept, what they say, and that all is caught."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.fresh import import_fresh

checks = import_fresh("transformer_book.checks")
case, judge_exercise = checks.case, checks.exercise.__globals__["judge_exercise"]

NUMBERS = [torch.tensor([1.0, 2.0]), torch.tensor([3.0, -1.0]), torch.tensor([0.5, 8.0])]
CASES = [case(numbers, gives=numbers.mean(), name=f"row {i}") for i, numbers in enumerate(NUMBERS)]


def verdict(function: Any, *cases: Any, **options: Any) -> Any:
    return judge_exercise(function, cases or CASES, **options)


def my_mean(x: Tensor) -> Tensor:
    return x.sum() / len(x)


def test_what_is_right_is_right_and_named_after_the_function() -> None:
    found = verdict(my_mean)
    assert (found.status, found.component) == ("right", "mean")
    assert "3 inputs" in found.text()


def test_an_untouched_stub_is_not_started(capsys: pytest.CaptureFixture) -> None:
    def my_stub(x: Tensor) -> None:
        return None  # your code

    assert verdict(my_stub).status == "not started"
    checks.exercise(my_stub, *CASES)
    assert "Not started" in capsys.readouterr().out


def test_the_first_difference_is_shown_and_a_failed_check_raises() -> None:
    found = verdict(lambda x: x.sum() / 2 + (x[0] == 3))
    assert found.status == "wrong"
    assert found.text().startswith("Right on 2 of 3 inputs; on the input 'row 1', ")
    assert "it should be 1" in found.text()
    with pytest.raises(checks.CheckFailed, match=r"it should be 1\.5"):
        checks.exercise(lambda x: x.sum(), *CASES)


def test_how_the_answers_differ_is_told_where_they_are_known() -> None:
    rows = [case(x, gives=x.softmax(0)) for x in NUMBERS]
    assert verdict(lambda x: 3 * x.softmax(0), *rows).sentences[1:] == (
        "On all 3 inputs that differ: yours is the right answer times 3.",
    )
    one = case(NUMBERS[0], gives=NUMBERS[0] + 1)
    assert verdict(lambda x: x, one).sentences[1:] == (
        "On the input your answer is `x`, unchanged.",
    )
    asked = case(NUMBERS[0], accept=lambda answer, x: "it is not above x")
    assert len(verdict(lambda x: x, asked).sentences) == 1


def test_a_wrong_version_is_recognised_on_three_inputs_and_not_on_two() -> None:
    wrong = [(lambda x: x.sum(), "You do not divide.")]
    assert "You do not divide." in verdict(lambda x: x[0] + x[1], wrong=wrong).text()
    assert "You do not divide." not in verdict(lambda x: x[0] * x[1], wrong=wrong).text()
    two = judge_exercise(lambda x: x[0] + x[1], CASES[:2], wrong=wrong)
    assert two.status == "wrong" and "divide" not in two.text()


def test_many_right_answers_are_judged_by_what_is_asked_of_them() -> None:
    def positive(answer: Any, x: Tensor) -> str | None:
        return None if (answer > x).all() else f"{answer.tolist()} is not above {x.tolist()}"

    above = [case(x, accept=positive) for x in NUMBERS]
    assert verdict(lambda x: x + 1, *above).status == "right"
    assert "[1.0, 2.0] is not above" in verdict(lambda x: x, *above).text()


def test_an_answer_that_cannot_be_asked_about_is_a_wrong_one() -> None:
    def positive(answer: Any, x: Tensor) -> str | None:
        return None if (answer > x).all() else "not positive"

    above = [case(x, accept=positive) for x in NUMBERS]
    found = verdict(lambda x: "five" if x[0] == 1 else x + 1, *above)
    assert "cannot be used: TypeError" in found.text()
    assert "`return` missing" in verdict(lambda x: print(x), *above).text()


def test_nan_is_accepted_by_no_question() -> None:
    """It is neither above nor below anything: a comparison may let it pass."""

    def near(answer: Any, x: Tensor) -> str | None:
        return "too far" if abs(answer - x[0]) > 0.1 else None

    asked = [case(x, accept=near) for x in NUMBERS]
    assert verdict(lambda x: x[0], *asked).status == "right"
    for nan in (math.nan, torch.tensor(math.nan)):
        assert "you return nan" in verdict(lambda x, nan=nan: nan, *asked).text().lower()

    def names_it(answer: Any, x: Tensor) -> str | None:
        return "log(0) makes it nan" if math.isnan(answer) else None

    helped = [case(x, accept=names_it) for x in NUMBERS]
    assert "log(0) makes it nan" in verdict(lambda x: math.nan, *helped).text()
    through = [case(x, accept=near, through=lambda f, x: f(x)["a"][0]) for x in NUMBERS]
    assert verdict(lambda x: {"a": [math.nan]}, *through).status == "wrong"


def test_what_equals_everything_is_no_answer() -> None:
    class Number(float):
        __eq__ = lambda self, other: True  # noqa: E731
        __hash__ = float.__hash__

    class Same(Tensor):
        @classmethod
        def __torch_function__(
            cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            with torch._C.DisableTorchFunctionSubclass():
                return func is torch.equal or func(*args, **(kwargs or {}))

    rows = [case(x, gives=x + 1) for x in NUMBERS]
    assert verdict(lambda x: torch.zeros_like(x).as_subclass(Same), *rows).status == "wrong"
    assert verdict(lambda n: Number(1), case(1, gives=2)).status == "wrong"
    assert verdict(lambda n: 2.0, case(1, gives=2)).status == "right"


def test_the_answer_may_be_what_another_function_makes_of_the_attempt() -> None:
    def twice(function: Any, x: Tensor) -> Tensor:
        return function(function(x))

    through = [case(x, gives=x + 2, through=twice) for x in NUMBERS]
    assert verdict(lambda x: x + 1, *through).status == "right"
    assert verdict(lambda x: x + 2, *through).status == "wrong"


def test_a_change_of_the_inputs_is_reported() -> None:
    def my_sum(x: Tensor) -> Tensor:
        x *= 0.5
        return x.sum()

    assert "changes its argument 1" in verdict(my_sum).text()


def test_exceptions_endless_loops_and_forgotten_returns_are_one_paragraph() -> None:
    def my_broken(x: Tensor) -> Tensor:
        return x @ torch.zeros(7)

    def my_endless(x: Tensor) -> Tensor:
        while True:
            x = x + 1

    def my_silent(x: Tensor) -> None:
        x.mean()

    broken = verdict(my_broken)
    line = my_broken.__code__.co_firstlineno + 1
    assert "RuntimeError" in broken.text() and f"line {line}" in broken.text()
    assert "endless loop" in verdict(my_endless, seconds=0.5).text()
    assert "`return` missing" in verdict(my_silent).text()


def test_what_a_teacher_writes_wrongly_is_told() -> None:
    with pytest.raises(ValueError, match="one of the two"):
        case(1)
    with pytest.raises(ValueError, match="one of the two"):
        case(1, gives=2, accept=lambda answer, x: None)
    with pytest.raises(ValueError, match="at least one case"):
        judge_exercise(my_mean, [])
    with pytest.raises(TypeError, match="without parentheses"):
        checks.exercise(my_mean(NUMBERS[0]), *CASES)
