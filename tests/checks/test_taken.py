"""What is handed in is taken as it is written, and what is compared is not rounding."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.fresh import import_fresh

checks = import_fresh("transformer_book.checks")


def in_double(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.double() if value.dtype.is_floating_point else value
    if isinstance(value, (list, tuple)):
        return type(value)(map(in_double, value))
    return value


@pytest.mark.parametrize(
    "name", [name for name, part in checks.COMPONENTS.items() if part.differentiable]
)
def test_what_is_compared_is_not_decided_by_rounding(name: str) -> None:
    """The reference in double precision differs from itself by a tenth of the tolerance at most."""
    component = checks.COMPONENTS[name]
    for case in component.cases():
        # No tensor twice: the gradients of the copies would be counted singly.
        case = replace(case, arguments=tuple(map(apart, case.arguments)))
        precise = replace(case, arguments=in_double(case.arguments))
        single, double = (
            checks.running.call(component.reference, each, gradients=True)
            for each in (case, precise)
        )
        leaves = (checks.running.leaves_of(outcome.answer) for outcome in (single, double))
        pairs = list(zip(*leaves, strict=True))
        if not case.rough:
            pairs += zip(single.gradients, double.gradients, strict=True)
        for mine, right in pairs:
            if right is not None and right.numel():
                size = max(1e-3, right.abs().max().item())
                assert (mine - right).abs().max() <= 1e-5 * size, case.name


def apart(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


# --- modules and objects are taken as functions are -----------------------------------------------


class Stub(torch.nn.Module):
    def forward(self, scores):
        """Write the softmax."""


class StubObject:
    def __call__(self, scores): ...


class Broken(torch.nn.Module):
    def forward(self, scores):
        return scores / undefined_name


def broken(scores, axis):
    return scores.softmax(undefined_name)


@pytest.mark.parametrize("stub", [Stub(), StubObject(), Stub().forward])
def test_an_untouched_module_is_not_started(stub: Any) -> None:
    assert checks.judging.judge(checks.COMPONENTS["softmax"], stub).status == "not started"


@pytest.mark.parametrize(
    ("attempt", "code"),
    [
        (Broken(), Broken.forward.__code__),
        (functools.partial(broken, axis=-1), broken.__code__),
    ],
)
def test_an_exception_in_a_module_is_reported_with_its_line(attempt: Any, code: Any) -> None:
    found = checks.judging.judge(checks.COMPONENTS["softmax"], attempt)
    assert found.line == code.co_firstlineno + 1, found.text()
