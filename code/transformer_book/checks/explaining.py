"""Which known mistakes give a learner's own numbers, singly or in pairs."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.comparing import apart, holds_nan, same
from transformer_book.checks.components import Case, Component, Mistake
from transformer_book.checks.running import Outcome, call, in_words

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


# How closely the learner's answers must be those of a known mistake.
FULLY, LOOSELY, PARTLY = "on every input", "but for stops and nan", "where the learner's is wrong"


@dataclass(frozen=True)
class Explained:
    """The known mistakes that give the learner's numbers.

    Attributes:
        groups: single mistakes, or pairs; several groups where no input tells them apart.
        before, beside: on how many inputs they explain all, and what they leave open on others, a
            sentence each; nothing if they explain every input.
        among: if they are those of wrong answers alone, the inputs on which they show.
    """

    groups: list[tuple[Mistake, ...]]
    before: str = ""
    beside: str = ""
    among: tuple[int, ...] = ()


def explain(
    component: Component,
    mistakes: Sequence[Mistake],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
) -> Explained | None:
    """The known mistakes that give the learner's own numbers: single ones, or else pairs."""
    known = [m for m in mistakes if m.component == component.name and m.kind != "harmless"]
    singles = [(mistake,) for mistake in known]
    pairs = [
        (a, b) for a, b in itertools.combinations(known, 2) if not a.steps.keys() & b.steps.keys()
    ]
    for groups, alike, how in (
        (singles, False, FULLY),
        (singles, True, FULLY),
        (pairs, False, FULLY),
        (pairs, True, FULLY),
        (singles, False, LOOSELY),
        (singles, True, LOOSELY),
        (singles, False, PARTLY),
    ):
        if alike and not component.alike:
            continue
        explained = [
            group
            for group in groups
            if not (alike and any(m.steps.keys() & component.alike.keys() for m in group))
            and _confirmed(component, group, found, expected, how, alike=alike)
        ]
        if how != FULLY:
            explained = _nearest(component, explained, found, alike)
        if explained and (how != PARTLY or len(explained) == 1):
            explained = _by_trace(component, explained, found, alike) or explained
            theirs = known_outcomes(component, explained[0], alike=alike)
            if how == PARTLY:
                among = [i for i, right in enumerate(expected) if theirs.tells(i, right)]
                return Explained(explained, among=tuple(among))
            kind = "convention" if explained[0][0].kind == "convention" else "mistake"
            share = _share(found, theirs, kind)
            return Explained(explained, share, _left(component, found, theirs))
    return None


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
    how: str,
    *,
    alike: bool,
) -> bool:
    """Whether these mistakes together give the learner's answers, as closely as `how` says.

    On at least three inputs the answer must be one that the right version does not give.

    `LOOSELY`: one of the two may stop, or give nan, where the other does not, on half of the inputs
    at most; but if what is told of the mistakes speaks of stopping, or of nan, the learner's must
    do so wherever theirs does. `PARTLY`: where the learner's answer is right, theirs is no matter.
    """
    telling = excused = 0
    told = " ".join(f"{mistake.symptom} {mistake.cause}" for mistake in group)
    stops = how != LOOSELY and any(mistake.stops for mistake in group)
    versions = known_outcomes(component, group, alike=alike)
    for i, (mine, right, theirs) in enumerate(zip(found, expected, versions, strict=True)):
        if how == PARTLY and not mine.trouble and same(mine.answer, right.answer):
            continue
        if bool(theirs.trouble) != bool(mine.trouble) and how != LOOSELY:
            return False
        if theirs.trouble or mine.trouble:
            if not mine.trouble and "stops" in told:
                return False
            excused += bool(theirs.trouble) != bool(mine.trouble)
            telling += stops and not right.trouble and _for_one_reason(mine, theirs)
            continue
        if how != LOOSELY:
            if mine.cannot_equal(theirs) or not same(mine.answer, theirs.answer):
                return False
            telling += versions.tells(i, right)
            continue
        if "nan" in told and holds_nan(theirs.answer) and not holds_nan(mine.answer):
            return False
        answers = mine.answer, right.answer, theirs.answer
        answers = _comparable(component, versions.cases[i], *answers)
        excused += isinstance(answers[0], Tensor) and _nowhere(mine.answer, theirs.answer)
        if not same(answers[0], answers[2]):
            return False
        telling += not same(answers[2], answers[1])
    return telling >= CONFIRMATIONS and 2 * excused <= len(found)


def _nearest(
    component: Component,
    explained: Sequence[tuple[Mistake, ...]],
    found: Sequence[Outcome],
    alike: bool,
) -> list[tuple[Mistake, ...]]:
    """Those that give the learner's answer most often, right answers too."""
    numbers = [
        sum(_agreeing(found, known_outcomes(component, group, alike=alike))) for group in explained
    ]
    most = max(numbers, default=0)
    return [group for group, number in zip(explained, numbers, strict=True) if number == most]


def _agreeing(found: Sequence[Outcome], theirs: Sequence[Outcome]) -> list[bool]:
    """On which inputs two versions do the same."""
    return [
        bool(m.trouble) == bool(t.trouble) and same(m.answer, t.answer)
        for m, t in zip(found, theirs, strict=True)
    ]


def _share(found: Sequence[Outcome], theirs: Sequence[Outcome], kind: str) -> str:
    """On how many inputs mistakes do what the learner's version does, if not on all."""
    agreeing, of = _agreeing(found, theirs), len(found)
    number = sum(agreeing)
    if number == of:
        return ""
    near = sum(
        not (agree or m.trouble or t.trouble)
        and holds_nan(m.answer) == holds_nan(t.answer)
        and _in_part(m.answer, t.answer)
        for agree, m, t in zip(agreeing, found, theirs, strict=True)
    )
    how = "in part" if near == of else f"in part on {near} of {of} inputs" if near else LOOSELY
    if number:
        also = f", and in part on {'the rest' if number + near == of else near}" if near else ""
        how = f"up to rounding on {number} of {of} inputs{also}"
    return f"Yours gives what a known {kind} gives, {how}; the cause may be another."


def _in_part(mine: Any, theirs: Any) -> bool:
    """Whether some entry, or item, is the same in both; of what has no parts, it may be."""
    if isinstance(mine, (list, tuple)) and isinstance(theirs, (list, tuple)):
        return any(same(a, b) for a, b in zip(mine, theirs, strict=False))
    if isinstance(mine, Tensor) and isinstance(theirs, Tensor) and mine.shape == theirs.shape:
        return bool((~apart(mine, theirs)).any())
    return True


def _left(component: Component, found: Sequence[Outcome], theirs: Sequence[Outcome]) -> str:
    """What mistakes leave open that give the learner's answers loosely."""
    cases, of = _cases_of(component), len(found)
    pairs = list(zip(found, theirs, strict=True))
    stops = [i for i, (m, t) in enumerate(pairs) if m.trouble and not t.trouble]
    if stops:
        named = repr(cases[stops[0]].name)
        much = f"{len(stops)} of {of} inputs"
        return (
            f"On {much} yours stops, and the mistake as we know it does not: "
            f"on {named if len(stops) == 1 else f'the first of them, {named},'} "
            f"{in_words(found[stops[0]])}."
        )
    odd = [holds_nan(m.answer) and not t.trouble and not holds_nan(t.answer) for m, t in pairs]
    if any(odd):
        much = f"{sum(odd)} of {of} inputs"
        return f"On {much} yours holds nan, and the mistake as we know it does not."
    told = (
        "On {} of {} inputs, where yours gives an answer, the mistake as we know it stops.",
        "On {} of {} inputs, where yours holds no nan, the mistake as we know it gives nan.",
    )
    other = sum(bool(t.trouble) and not m.trouble for m, t in pairs)
    nan = sum(not m.trouble and holds_nan(t.answer) > holds_nan(m.answer) for m, t in pairs)
    return next((text.format(n, of) for n, text in zip((other, nan), told, strict=True) if n), "")


def _for_one_reason(mine: Outcome, theirs: Outcome) -> bool:
    """Whether two versions stop with the same kind of exception, over the same numbers.

    How the shapes are put into words depends on the operation that does not fit.
    """
    told = [outcome.trouble or "" for outcome in (mine, theirs)]
    kinds = [text.partition(":")[0] for text in told]
    numbers = [sorted(re.findall(r"\d+", text)) for text in told]
    return kinds[0] == kinds[1] and numbers[0] == numbers[1]


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
