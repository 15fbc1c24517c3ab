"""On which inputs a learner's version is wrong: with a mask, with padding, from a length on, …"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.comparing import same
from transformer_book.checks.diagnosis.trials import Trial, are_ids, is_number

THRESHOLD = re.compile(r"more than -?\d|or less")
CHANCE = 0.25  # how often all wrong inputs may have by chance what likely tells them apart
BY_CHANCE = 0.05  # how often as many inputs may share by chance what is not likely


@dataclass(frozen=True)
class Condition:
    """A property of inputs, and of those that do not have it, in words.

    `holds` gives `None` where the question makes no sense. `enough` inputs of each kind are needed
    before it is said. `likely`: inputs differ in it on purpose, so that it is not met by chance, as
    a threshold among a handful of numbers is.
    """

    text: str
    opposite: str
    holds: Callable[[Trial], bool | None]
    enough: int = 2
    likely: bool = True

    @property
    def about(self) -> set[str]:
        """The arguments it is about, or what else."""
        return set(re.findall(r"`(\w+)`", self.text)) or {self.text}


def condition(trials: Sequence[Trial]) -> str | None:
    """The property of the inputs that tells the wrong ones from the right ones, or `None`."""
    said = exact(trials)
    return said and f"Of the {len(trials)} inputs it is wrong exactly on those {said}."


def exact(trials: Sequence[Trial], by_chance: float = BY_CHANCE) -> str | None:
    """The property that all wrong inputs have, and no other: `where … is 1`; or `None`.

    One that is not likely is told only if as many inputs, drawn at random, share one of those that
    were tried as seldom as is said; and not if another one holds that is about something else.
    A threshold, which a handful of numbers may have by chance, comes behind all others; powers of
    two, which hardly any code is about, behind that.
    """
    wrong = [trial.wrong for trial in trials]
    held = list(_that_hold(trials))
    found = [(each, said) for each, values, said in held if values == wrong]
    alike = {tuple(values) for _, values, _ in held if sum(values) == sum(wrong)}
    if likely := [said for each, said in found if each.likely]:
        return likely[0]
    often = len(alike) / math.comb(len(wrong), sum(wrong)) > by_chance
    if not found or often or not set.intersection(*(each.about for each, _ in found)):
        return None
    odd = ("power of two", THRESHOLD)
    return min(
        (said for _, said in found), key=lambda said: [bool(re.search(x, said)) for x in odd]
    )


def _that_hold(trials: Sequence[Trial]) -> Iterator[tuple[Condition, list[bool], str]]:
    """Each condition and its opposite: on which inputs it holds, and that in words."""
    wrong = sum(trial.wrong for trial in trials)
    for each in conditions(trials):
        if min(wrong, len(trials) - wrong) < each.enough:
            continue
        found = [each.holds(trial) for trial in trials]
        if None not in found:
            yield each, [bool(value) for value in found], each.text
            yield each, [not value for value in found], each.opposite


def conditions(trials: Sequence[Trial]) -> Iterator[Condition]:
    """What inputs have, and what they do not have."""
    for name in trials[0].given:
        values = [trial.given.get(name) for trial in trials]
        if any(value is None for value in values):
            yield Condition(
                f"with `{name}`",
                f"without `{name}`",
                lambda t, n=name: t.given.get(n) is not None,
            )
        kinds = [value for value in values if value is not None]
        if all(isinstance(value, bool) for value in kinds):
            yield Condition(
                f"with {name}=True", f"with {name}=False", lambda t, n=name: bool(t.given[n])
            )
        elif all(isinstance(value, (int, float)) for value in kinds):
            yield from _of_number(trials, f"`{name}`", lambda t, n=name: t.given[n])
        elif all(isinstance(value, str) for value in kinds):
            yield from _of_text(name)
        elif all(isinstance(value, (list, tuple)) for value in kinds):
            yield from _of_items(name, [item for value in kinds for item in value])
        elif all(isinstance(value, Tensor) for value in kinds):
            yield from _of_tensor(name, kinds[0], ids=are_ids(name, trials[0]))
    yield from _of_answers(trials)
    names = list(dict.fromkeys(n for t in trials for n in t.sizes))
    numbers = {f"`{name}`" for name, value in trials[0].given.items() if is_number(value)}
    for name in names:
        if name not in numbers:
            yield from _of_number(trials, name, lambda t, n=name: t.sizes.get(n), size=True)
    # Compared with sizes, these say little.
    odd = ("number of axes", "number of entries", "the sum of")
    names = [name for name in names if not any(word in name for word in odd)]
    for i, a in enumerate(names):
        for b in names[:i]:
            yield from _of_two(a, b)
            yield from (_multiple(a, b), _multiple(b, a))


def _of_number(
    trials: Sequence[Trial],
    name: str,
    value: Callable[[Trial], float | None],
    *,
    size: bool = False,
) -> Iterator[Condition]:
    """A number of every input is this one, or more than this one."""
    found = [value(trial) for trial in trials]
    known = sorted({x for x in found if x is not None})
    if len(known) < 2 or None in found:
        return
    low, high = known[0], known[-1]
    if size:
        yield Condition(
            f"where {name} is no power of two",
            f"where {name} is a power of two",
            lambda t: int(value(t)).bit_count() != 1,
            enough=3,
            likely=False,
        )
    if {0, 1} <= set(known):
        yield Condition(
            f"where {name} is neither 0 nor 1",
            f"where {name} is 0 or 1",
            lambda t: value(t) not in (0, 1),
            likely=False,
        )
    for x in known:
        if size and x > 1:
            continue
        yield Condition(
            f"where {name} is {x:.4g}",
            f"where {name} is not {x:.4g}",
            lambda t, x=x: value(t) == x,
            enough=2 if x in (0, 1) else 3,
            likely=x in (0, 1),
        )
    for x in known[1:-1]:
        yield Condition(
            f"where {name} is more than {x:.4g}",
            f"where {name} is {x:.4g} or less",
            lambda t, x=x: value(t) > x,
            enough=3,
            likely=False,
        )
    if low < known[1] < high:
        yield Condition(
            f"where {name} is more than {low:.4g}",
            f"where {name} is {low:.4g}",
            lambda t: value(t) > low,
            enough=3,
            likely=False,
        )


def _of_text(name: str) -> Iterator[Condition]:
    for does, does_not, pattern in (
        ("begins with white space", "does not begin with white space", r"\s"),
        ("ends with white space", "does not end with white space", r"(?s).*\s\Z"),
        ("holds white space within", "holds no white space within", r"(?s).*\S\s+\S"),
    ):
        yield Condition(
            f"where `{name}` {does}",
            f"where `{name}` {does_not}",
            lambda t, n=name, p=pattern: bool(re.match(p, t.given[n])),
        )


def _of_items(name: str, items: Sequence[Any]) -> Iterator[Condition]:
    def several(of: Callable[[Any], Any]) -> Callable[[Trial], bool]:
        return lambda trial: len({of(item) for item in trial.given[name]}) > 1

    if items and all(map(is_number, items)):
        yield Condition(
            f"where `{name}` holds different numbers",
            f"where the numbers in `{name}` are all alike",
            several(float),
        )
    elif items and all(isinstance(item, (list, tuple)) for item in items):
        yield Condition(
            f"where the lists in `{name}` are of different lengths",
            f"where the lists in `{name}` are of one length",
            several(len),
        )


def _of_tensor(name: str, first: Tensor, *, ids: bool) -> Iterator[Condition]:
    def of(trial: Trial) -> Tensor | None:
        return trial.given.get(name)

    if first.dtype == torch.bool:
        yield Condition(
            f"with a row of `{name}` that is False throughout",
            f"without a row of `{name}` that is False throughout",
            lambda t: of(t) is not None and bool((~of(t).any(-1)).any()),
        )
    elif not first.dtype.is_floating_point and first.dim() == 2 and ids:
        for token, said in (
            (0, "padding (0)"),
            (1, "<sos> (1)"),
            (2, "<eos> (2)"),
            (3, "<unk> (3)"),
        ):
            yield Condition(
                f"with {said} in `{name}`",
                f"without {said} in `{name}`",
                lambda t, i=token: bool((of(t) == i).any()),
                enough=3 if token else 2,
                likely=token == 0,
            )
    elif first.dtype.is_floating_point:
        yield Condition(
            f"with numbers beyond ±100 in `{name}`",
            f"without numbers beyond ±100 in `{name}`",
            lambda t: of(t) is not None and bool((of(t).isfinite() & (of(t).abs() > 100)).any()),
            likely=False,
        )
        yield Condition(
            f"with negative numbers in `{name}`",
            f"without negative numbers in `{name}`",
            lambda t: of(t) is not None and bool((of(t) < 0).any()),
            enough=3,
            likely=False,
        )


def _of_answers(trials: Sequence[Trial]) -> Iterator[Condition]:
    """What the right answer is like: an argument, empty, as long as is allowed."""
    for name in trials[0].given:
        yield Condition(
            f"whose right answer is `{name}` itself",
            f"whose right answer is not `{name}` itself",
            lambda t, n=name: same(t.given[n], t.right),
        )
    if all(type(trial.right) is int for trial in trials):
        yield Condition(
            "whose right answer is too large for 32 bits, and for 64",
            "whose right answer is not too large for 32 bits",
            lambda t: None if 2**31 <= t.right < 2**63 else t.right >= 2**63,
        )
    if not all(isinstance(trial.right, list) for trial in trials):
        return
    if all(isinstance(item, int) for trial in trials for item in trial.right):
        yield Condition(
            "with <unk> (3) in the right answer",
            "without <unk> (3) in the right answer",
            lambda t: 3 in t.right,
            likely=False,
        )
    yield Condition(
        "whose right answer is empty",
        "whose right answer is not empty",
        lambda t: not t.right,
        likely=False,
    )
    if all("max_length" in trial.given for trial in trials):
        yield Condition(
            "whose right answer has `max_length` ids",
            "whose right answer has fewer than `max_length` ids",
            lambda t: len(t.right) >= t.given["max_length"],
            likely=False,
        )


def _of_two(a: str, b: str) -> Iterator[Condition]:
    def two(trial: Trial) -> tuple[float, float] | None:
        found: Mapping[str, Any] = trial.sizes
        return (found[a], found[b]) if a in found and b in found else None

    def compared(trial: Trial, compare: Callable[[float, float], bool]) -> bool | None:
        pair = two(trial)
        return None if pair is None else compare(*pair)

    for text, compare in (
        ("", operator.eq),
        ("more than ", operator.gt),
        ("less than ", operator.lt),
    ):
        yield Condition(
            f"where {a} is {text}{b}",
            f"where {a} is not {text}{b}",
            lambda t, c=compare: compared(t, c),
            enough=3,
            likely=False,
        )


def _multiple(a: str, b: str) -> Condition:
    def holds(trial: Trial) -> bool | None:
        pair = trial.sizes.get(a), trial.sizes.get(b)
        if None in pair or 0 in pair or any(x != int(x) for x in pair):
            return None
        return pair[0] % pair[1] == 0

    return Condition(
        f"where {a} is a multiple of {b}",
        f"where {a} is not a multiple of {b}",
        holds,
        enough=3,
        likely=False,
    )
