"""Which known mistakes give a learner's own numbers, singly or in pairs."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.comparing import same
from transformer_book.checks.components import Case, Component, Mistake
from transformer_book.checks.running import Outcome, call

CONFIRMATIONS = 3  # inputs on which a mistake must give the learner's numbers to be named

CASES: dict[tuple[str, str], tuple[Case, ...]] = {}

KNOWN: dict[tuple[str, str, tuple[str, ...], bool], _Known] = {}


def _cases_of(component: Component) -> tuple[Case, ...]:
    """The inputs for our own versions, made once in a process; a learner's are made anew."""
    key = component.name, component.form
    if key not in CASES:
        CASES[key] = tuple(component.cases())
    return CASES[key]


class _Known(Sequence[Outcome]):
    """What a component gives with some mistakes, or with none: each case when it is asked for.

    Most groups of mistakes are ruled out by the first case already.
    """

    def __init__(self, component: Component, group: tuple[Mistake, ...], alike: bool) -> None:
        wrong = dict(component.alike) if alike else {}
        wrong |= {name: step for mistake in group for name, step in mistake.steps.items()}
        version = component.version(wrong)
        self.version = component.observe(version) if component.form == "function" else version
        self.gradients = component.differentiable and not group
        self.cases = _cases_of(component)
        self.found: dict[int, Outcome] = {}
        self.compared: dict[int, tuple[Outcome, bool]] = {}

    def __len__(self) -> int:
        return len(self.cases)

    def __getitem__(self, i: Any) -> Any:
        if i not in self.found:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a mistake of ours is not the learner's
                self.found[i] = call(self.version, self.cases[i], gradients=self.gradients)
        return self.found[i]

    def tells(self, i: int, right: Outcome) -> bool:
        """Whether its answer to a case is not the right one; compared once."""
        if i not in self.compared or self.compared[i][0] is not right:
            self.compared[i] = right, not same(self[i].answer, right.answer)
        return self.compared[i][1]


def known_outcomes(
    component: Component, group: tuple[Mistake, ...], *, alike: bool = False
) -> _Known:
    """What a component gives with these mistakes, or with none; computed once in a process."""
    key = (component.name, component.form, tuple(mistake.name for mistake in group), alike)
    if key not in KNOWN:
        KNOWN[key] = _Known(component, group, alike)
    return KNOWN[key]


def explain(
    component: Component,
    mistakes: Sequence[Mistake],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
) -> list[tuple[Mistake, ...]]:
    """The known mistakes that give the learner's own numbers: single ones, or else pairs."""
    known = [m for m in mistakes if m.component == component.name and m.kind != "harmless"]
    singles = [(mistake,) for mistake in known]
    pairs = [
        (a, b) for a, b in itertools.combinations(known, 2) if not a.steps.keys() & b.steps.keys()
    ]
    cases = _cases_of(component)
    for groups, alike, loosely in (
        (singles, False, ()),
        (singles, True, ()),
        (pairs, False, ()),
        (pairs, True, ()),
        (singles, False, cases),
        (singles, True, cases),
    ):
        if alike and not component.alike:
            continue
        explained = [
            group
            for group in groups
            if not (alike and any(m.steps.keys() & component.alike.keys() for m in group))
            and _confirmed(component, group, found, expected, loosely, alike=alike)
        ]
        if explained:
            return _by_trace(component, explained, found, alike) or explained
    return []


def _by_trace(
    component: Component,
    explained: Sequence[tuple[Mistake, ...]],
    found: Sequence[Outcome],
    alike: bool,
) -> list[tuple[Mistake, ...]]:
    """Of those that give the learner's numbers, the ones that come to them in the same way.

    Some answers have a `trace`, such as the number of steps of a search, that is not compared.
    """

    def traces(outcomes: Sequence[Outcome]) -> list[Any]:
        return [getattr(outcome.answer, "trace", None) for outcome in outcomes]

    mine = traces(found)
    return [
        group
        for group in explained
        if traces(known_outcomes(component, group, alike=alike)) == mine
    ]


def _confirmed(
    component: Component,
    group: tuple[Mistake, ...],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
    loosely: Sequence[Case] = (),
    alike: bool = False,
) -> bool:
    """Whether these mistakes together give the learner's answer on every input.

    On at least three inputs the answer must be one that the right version does not give.
    `loosely`, on these cases: one of the two may stop, or give nan, where the other does not, but
    not on more than half of the inputs.
    """
    telling = excused = 0
    stops = not loosely and any(mistake.stops for mistake in group)
    versions = known_outcomes(component, group, alike=alike)
    for i, (mine, right, theirs) in enumerate(zip(found, expected, versions, strict=True)):
        if bool(theirs.trouble) != bool(mine.trouble) and not loosely:
            return False
        if theirs.trouble or mine.trouble:
            excused += bool(theirs.trouble) != bool(mine.trouble)
            telling += stops and not right.trouble
            continue
        if not loosely and mine.cannot_equal(theirs):
            return False
        if not loosely:
            if not same(mine.answer, theirs.answer):
                return False
            telling += versions.tells(i, right)
            continue
        answers = mine.answer, right.answer, theirs.answer
        answers = _comparable(component, loosely[i], *answers)
        excused += isinstance(answers[0], Tensor) and _nowhere(mine.answer, theirs.answer)
        if not same(answers[0], answers[2]):
            return False
        telling += not same(answers[2], answers[1])
    return telling >= CONFIRMATIONS and 2 * excused <= len(found)


def _nowhere(mine: Any, theirs: Any) -> bool:
    """Whether there is no entry that both give as a number, or both as nan."""
    if not isinstance(mine, Tensor) or not isinstance(theirs, Tensor) or mine.shape != theirs.shape:
        return False
    return bool((mine.isnan() ^ theirs.isnan()).all())


def _comparable(component: Component, case: Case, *answers: Any) -> tuple[Any, ...]:
    """The learner's, the right and the mistaken answer, without what depends on the wording."""
    if component.settled is not None:
        answers = tuple(component.settled(case, answer) for answer in answers)
    mine, right, theirs = answers
    if all(isinstance(answer, list) and len(answer) == len(mine) for answer in answers):
        rows = [_comparable(component, case, *row) for row in zip(*answers, strict=True)]
        return tuple(map(list, zip(*rows, strict=True))) if rows else answers
    if not isinstance(mine, Tensor) or not isinstance(theirs, Tensor):
        return answers
    if torch.bool not in (mine.dtype, theirs.dtype):
        mine = mine.to(theirs.dtype)
    if mine.shape == theirs.shape and theirs.is_floating_point():
        odd = mine.isnan() ^ theirs.isnan()
        mine, theirs = mine.masked_fill(odd, 0.0), theirs.masked_fill(odd, 0.0)
        if isinstance(right, Tensor) and right.shape == odd.shape:
            right = right.masked_fill(odd, 0)
    return mine, right, theirs
