"""On which inputs a learner's version is wrong: with a mask, with padding, from a length on, …"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.diagnosis.trials import Trial, is_number, sizes

Condition = tuple[str, str, Callable[[Trial], bool | None]]


def condition(trials: Sequence[Trial]) -> str | None:
    """The property of the inputs that tells the wrong ones from the right ones, or `None`.

    It tells them apart without exception, and there are two or more of each kind.
    """
    wrong = [trial.wrong for trial in trials]
    if min(sum(wrong), len(wrong) - sum(wrong)) < 2:
        return _alone(trials)
    weak = None
    for text, opposite, holds in conditions(trials):
        found = [holds(trial) for trial in trials]
        if None in found:
            continue
        if found == wrong:
            return f"It is wrong exactly on the inputs {text}."
        if [not value for value in found] == wrong:
            return f"It is wrong exactly on the inputs {opposite}."
        for values, said, other in (
            (found, text, opposite),
            ([not v for v in found], opposite, text),
        ):
            outside = len(values) - sum(values)
            if (
                weak is None
                and outside >= 2
                and all(v for v, w in zip(values, wrong, strict=True) if w)
            ):
                weak = f"It is wrong only on inputs {said}; right on all {outside} {other}."
    return weak


def _alone(trials: Sequence[Trial]) -> str | None:
    """Wrong on one input: nothing can be said but which. Right on the first alone: it is said."""
    wrong = [trial.wrong for trial in trials]
    if len(wrong) > 3 and not wrong[0] and all(wrong[1:]):
        return (
            "Only the first input came out right: does something from an earlier call stay behind?"
        )
    return None


def conditions(trials: Sequence[Trial]) -> Iterator[Condition]:
    """What inputs have, and what they do not have."""
    for name in trials[0].given:
        values = [trial.given.get(name) for trial in trials]
        if any(value is None for value in values):
            yield (
                f"with `{name}`",
                f"without `{name}`",
                lambda t, n=name: t.given.get(n) is not None,
            )
        kinds = [value for value in values if value is not None]
        if all(isinstance(value, bool) for value in kinds):
            yield f"with {name}=True", f"with {name}=False", lambda t, n=name: bool(t.given[n])
        elif all(isinstance(value, (int, float)) for value in kinds):
            yield from _of_number(trials, f"`{name}`", lambda t, n=name: t.given[n])
        elif all(isinstance(value, Tensor) for value in kinds):
            yield from _of_tensor(name, kinds[0])
    yield from _of_answers(trials)
    names = list(dict.fromkeys(n for t in trials for n in sizes(t.given)))
    numbers = {f"`{name}`" for name, value in trials[0].given.items() if is_number(value)}
    for name in names:
        if name not in numbers:
            yield from _of_number(trials, name, lambda t, n=name: sizes(t.given).get(n))
    for i, a in enumerate(names):
        for b in names[:i]:
            yield from _of_two(a, b)


def _of_number(
    trials: Sequence[Trial], name: str, value: Callable[[Trial], float | None]
) -> Iterator[Condition]:
    found = [value(trial) for trial in trials]
    known = sorted({x for x in found if x is not None})
    if len(known) < 2 or None in found:
        return
    low, high = known[0], known[-1]
    for x in known:
        yield (
            f"where {name} is {x:.4g}",
            f"where {name} is not {x:.4g}",
            lambda t, x=x: value(t) == x,
        )
    for x in known[1:-1]:
        yield (
            f"where {name} is more than {x:.4g}",
            f"where {name} is {x:.4g} or less",
            lambda t, x=x: value(t) > x,
        )
    if low < known[1] < high:
        yield (
            f"where {name} is more than {low:.4g}",
            f"where {name} is {low:.4g}",
            lambda t: value(t) > low,
        )


def _of_tensor(name: str, first: Tensor) -> Iterator[Condition]:
    def of(trial: Trial) -> Tensor | None:
        return trial.given.get(name)

    if first.dtype == torch.bool:
        yield (
            f"with a row of `{name}` that is False throughout",
            f"without a row of `{name}` that is False throughout",
            lambda t: of(t) is not None and bool((~of(t).any(-1)).any()),
        )
    elif not first.dtype.is_floating_point:
        for token, said in (
            (0, "padding (0)"),
            (1, "<sos> (1)"),
            (2, "<eos> (2)"),
            (3, "<unk> (3)"),
        ):
            yield (
                f"with {said} in `{name}`",
                f"without {said} in `{name}`",
                lambda t, i=token: bool((of(t) == i).any()),
            )
    else:
        yield (
            f"with numbers beyond 100 in `{name}`",
            f"without numbers beyond 100 in `{name}`",
            lambda t: of(t) is not None and bool((of(t).abs() > 100).any()),
        )
        yield (
            f"with negative numbers in `{name}`",
            f"without negative numbers in `{name}`",
            lambda t: of(t) is not None and bool((of(t) < 0).any()),
        )


def _of_answers(trials: Sequence[Trial]) -> Iterator[Condition]:
    """What the right answer is like: empty, with a token in it, as long as is allowed."""
    if not all(isinstance(trial.right, list) for trial in trials):
        return
    if all(isinstance(item, int) for trial in trials for item in trial.right):
        yield (
            "with <unk> (3) in the right answer",
            "without <unk> (3) in the right answer",
            lambda t: 3 in t.right,
        )
    yield (
        "whose right answer is empty",
        "whose right answer is not empty",
        lambda t: not t.right,
    )
    if all("max_length" in trial.given for trial in trials):
        yield (
            "that are cut off at `max_length`",
            "that end before `max_length`",
            lambda t: len(t.right) >= t.given["max_length"],
        )


def _of_two(a: str, b: str) -> Iterator[Condition]:
    def two(trial: Trial) -> tuple[float, float] | None:
        found: Mapping[str, Any] = sizes(trial.given)
        return (found[a], found[b]) if a in found and b in found else None

    def compared(trial: Trial, compare: Callable[[float, float], bool]) -> bool | None:
        pair = two(trial)
        return None if pair is None else compare(*pair)

    yield (
        f"where {a} is {b}",
        f"where {a} is not {b}",
        lambda t: compared(t, lambda x, y: x == y),
    )
    yield (
        f"where {a} is more than {b}",
        f"where {a} is not more than {b}",
        lambda t: compared(t, lambda x, y: x > y),
    )
    yield (
        f"where {a} is less than {b}",
        f"where {a} is not less than {b}",
        lambda t: compared(t, lambda x, y: x < y),
    )
