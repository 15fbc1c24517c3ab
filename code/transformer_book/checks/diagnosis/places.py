"""Where in its answers a learner's version differs: at the last position, at the padding, …"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.comparing import plain, same
from transformer_book.checks.diagnosis.trials import Leaf, Trial, are_ids, every, is_number, ordinal

NEARLY_ALL = 0.9  # of the entries
NEAR = 0.01  # so close that a method of approximation, or a small summand, is likely
SIDES = 6  # so many numbers, all too large or all too small, are so by chance in 1 of 32 cases
BY_VALUE = 0.001  # stricter, since half of all numbers are negative by chance
SPECIAL = {0: "padding (0)", 1: "<sos> (1)", 2: "<eos> (2)", 3: "<unk> (3)"}


@dataclass(frozen=True)
class Place:
    """A set of entries: where it is, in words, and which ones in an answer.

    `inside` gives booleans of the answer's shape, or `None` where there is no such place. The place
    is named if differences strewn at random would all fall into it less often than `coincidence`.
    """

    text: str
    inside: Callable[[Leaf], Tensor | None]
    coincidence: float = 0.05


def placed(leaves: Sequence[Leaf]) -> str | None:
    """The first place that holds all differences, while there is more outside of it."""
    if not every(leaves, lambda leaf: leaf.tensors and leaf.right.dim() > 0):
        return None
    differ = [leaf.apart() for leaf in leaves]
    for options in (places(leaves, differ), _of_values(leaves)):
        found = [
            (chance, i, place.text)
            for i, place in enumerate(options)
            if (chance := _chance(place, leaves, differ)) < math.log(place.coincidence)
        ]
        if found:
            return min(found)[2]  # the smallest place
    return None


def _chance(place: Place, leaves: Sequence[Leaf], differ: Sequence[Tensor]) -> float:
    """The logarithm of how often differences strewn at random all fall into a place.

    It is 0 where not all of these do, and where on most inputs there is nothing else.
    """
    chance, more = 0.0, 0
    for leaf, where in zip(leaves, differ, strict=True):
        inside = _inside(place, leaf)
        if inside is None or (where & ~inside).any():
            return 0.0
        eligible = torch.ones_like(where)
        if leaf.right.dtype != torch.bool:  # a 0 that is 0 in both says nothing
            eligible = where | (leaf.right != 0) | (leaf.mine != 0)
        share = int((inside & eligible).sum()) / int(eligible.sum())
        chance += int(where.sum()) * math.log(share)
        more += share < 1
    return chance if 2 * more >= len(leaves) else 0.0


def _inside(place: Place, leaf: Leaf) -> Tensor | None:
    try:
        found = place.inside(leaf)
        return None if found is None else found.expand(leaf.right.shape)
    except (RuntimeError, IndexError, ValueError):
        return None


def extent(leaves: Sequence[Leaf]) -> str | None:
    """How much of the answers differs, and to which side: where nothing more can be said."""
    if every(leaves, lambda leaf: is_number(leaf.mine) and is_number(leaf.right)):
        if len(leaves) < SIDES or any(math.isnan(plain(leaf.mine)) for leaf in leaves):
            return None
        # Whole numbers are compared as they are: the last digits of large ones are lost in floats.
        signs = {plain(leaf.mine) > plain(leaf.right) for leaf in leaves}
        if all(map(_is_place, leaves)):
            return f"Yours stands {_beside(signs)} the right place." if len(signs) == 1 else None
        near = all(math.isclose(plain(x.mine), plain(x.right), rel_tol=NEAR) for x in leaves)
        told = f"{'Close, but ' if near else ''}{_side(signs)}" if len(signs) == 1 else ""
        return f"Yours is {told[:1].lower()}{told[1:]}." if told else None
    if every(leaves, lambda leaf: isinstance(leaf.mine, list) and isinstance(leaf.right, list)):
        signs = {len(leaf.mine) > len(leaf.right) for leaf in leaves}
        if len(signs) == 1 and every(leaves, lambda leaf: len(leaf.mine) != len(leaf.right)):
            others = sum(any(x not in leaf.right for x in leaf.mine) for leaf in leaves)
            share = f"on {others} of them " * (others < len(leaves))
            more = f", and {share}holds what the right answer does not have" if others else ""
            return f"Yours is too {'long' if signs.pop() else 'short'}{more}."
        return None
    if not every(leaves, lambda leaf: leaf.tensors and leaf.right.dim() > 0):
        return None
    differ = [leaf.apart() for leaf in leaves]
    pairs = list(zip(leaves, differ, strict=True))
    if leaves[0].right.dtype == torch.bool or any(x.mine[w].isnan().any() for x, w in pairs):
        return None
    if not any(leaf.right.is_floating_point() for leaf in leaves):
        return None  # ids are not large or small
    signs = {bool(s) for leaf, where in pairs for s in (leaf.mine > leaf.right)[where].tolist()}
    gaps = [(leaf.mine - leaf.right).abs().max() / leaf.right.abs().max() for leaf in leaves]
    if all(gap < NEAR for gap in gaps):
        off = "off by less than a hundredth of the largest number"
        return f"Yours is close to the right answer, but not equal: {off}."
    if len(signs) == 1:
        whole = all(bool(where.all()) and not leaf.trial.in_part() for leaf, where in pairs)
        start = "Everywhere" if whole else "Wherever it differs,"
        return f"{start} your number is {_side(signs)}."
    several = len({id(leaf.trial) for leaf in leaves}) > 1
    whole = all(bool(where.double().mean() > NEARLY_ALL) for where in differ)
    if not whole or not several:
        return None
    some = any(leaf.trial.in_part() for leaf in leaves)
    return f"Nearly every entry differs{', of the parts that do' * some}."


def _is_place(leaf: Leaf) -> bool:
    """Whether the answer is a whole number that counts the items of an argument."""
    lists = (value for value in leaf.trial.given.values() if isinstance(value, (list, tuple)))
    return isinstance(leaf.right, int) and any(len(value) > leaf.right for value in lists)


def _beside(larger: set[bool]) -> str:
    return "behind" if True in larger else "in front of"


def _side(larger: set[bool]) -> str:
    return "too large" if True in larger else "too small"


def places(leaves: Sequence[Leaf], differ: Sequence[Tensor]) -> Iterator[Place]:
    """Those that are worth trying, the most telling first."""
    yield from _of_arguments(leaves)
    dims = {leaf.right.dim() for leaf in leaves}
    if len(dims) != 1:
        return
    dim = dims.pop()
    for axis in range(-dim, 0):
        yield from _along(leaves, differ, axis)
    if dim > 1:
        yield from _of_squares(leaves[0])


def _of_values(leaves: Sequence[Leaf]) -> Iterator[Place]:
    if leaves[0].right.dtype == torch.bool:
        return
    yield Place(
        "It differs only where the right answer is 0.", lambda leaf: leaf.right == 0, BY_VALUE
    )
    yield Place(
        "It differs only where the right answer is negative.", lambda leaf: leaf.right < 0, BY_VALUE
    )
    yield Place(
        "It differs only where the right answer is positive.", lambda leaf: leaf.right > 0, BY_VALUE
    )


def _along(leaves: Sequence[Leaf], differ: Sequence[Tensor], axis: int) -> Iterator[Place]:
    word = leaves[0].word(axis)
    if all(leaf.right.size(axis) == 2 for leaf in leaves):  # whether it is the last, none tells
        for number in (0, 1):
            yield Place(
                f"Of two {word}s each, it differs only at the {ordinal(number)}.",
                lambda leaf, n=number: _indices(leaf, axis, lambda i, _: i == n),
            )
        return
    options: tuple[tuple[str, Callable[[Tensor, int], Tensor]], ...] = (
        (f"It differs only at the first {word}.", lambda i, n: i == 0),
        (f"It differs only at the last {word}.", lambda i, n: i == n - 1),
        (f"The first {word} is right; yours differs only after it.", lambda i, n: i > 0),
        (f"The last {word} is right; yours differs only before it.", lambda i, n: i < n - 1),
        (
            f"It differs only at the first and the last {word}.",
            lambda i, n: (i == 0) | (i == n - 1),
        ),
        (
            f"The first and the last {word} are right; yours differs only between them.",
            lambda i, n: (i > 0) & (i < n - 1),
        ),
        (f"It differs only at every second {word}: 1, 3, 5 and so on.", lambda i, n: i % 2 == 1),
        (f"It differs only at every second {word}: 0, 2, 4 and so on.", lambda i, n: i % 2 == 0),
        (f"It differs only in the first half of the {word}s.", lambda i, n: 2 * i < n),
        (f"It differs only in the second half of the {word}s.", lambda i, n: 2 * i >= n),
    )
    for text, choose in options:
        chance = BY_VALUE if "half" in text else 0.05
        yield Place(text, lambda leaf, c=choose: _indices(leaf, axis, c), chance)
    others = [
        where.movedim(axis, 0).reshape(where.size(axis), -1).any(dim=1).nonzero().flatten().tolist()
        for where in differ
    ]
    lowest, highest = min(min(i) for i in others), max(max(i) for i in others)
    if lowest > 1 and all(min(i) == lowest for i in others):
        yield Place(
            f"Up to the {ordinal(lowest - 1)} {word} yours is right.",
            lambda leaf: _indices(leaf, axis, lambda i, n: i >= lowest),
        )
    if highest == lowest:
        yield Place(
            f"It differs only at the {word} number {lowest}, counted from 0.",
            lambda leaf: _indices(leaf, axis, lambda i, n: i == lowest),
        )


def _indices(leaf: Leaf, axis: int, choose: Callable[[Tensor, int], Tensor]) -> Tensor:
    size = leaf.right.size(axis)
    shape = [1] * leaf.right.dim()
    shape[axis] = size
    return choose(torch.arange(size), size).reshape(shape)


def _of_squares(first: Leaf) -> Iterator[Place]:
    row, column = first.word(-2), first.word(-1)
    if row == column:
        row, column = "row", "column"
    options = (
        ("only on the diagonal", lambda i, j: i == j),
        ("only beside the diagonal: the diagonal is right", lambda i, j: i != j),
        (f"only above the diagonal (a later {column} than {row})", lambda i, j: j > i),
        (f"only below the diagonal (an earlier {column} than {row})", lambda i, j: j < i),
        ("only on the diagonal and above it", lambda i, j: j >= i),
        ("only on the diagonal and below it", lambda i, j: j <= i),
        ("only directly above the diagonal", lambda i, j: j == i + 1),
        ("only directly below the diagonal", lambda i, j: j == i - 1),
    )
    for text, choose in options:

        def inside(leaf: Leaf, choose: Any = choose) -> Tensor | None:
            rows, columns = leaf.right.shape[-2:]
            return choose(torch.arange(rows)[:, None], torch.arange(columns))

        yield Place(f"It differs {text}.", inside)


def _of_arguments(leaves: Sequence[Leaf]) -> Iterator[Place]:
    """Places that an argument marks: padding, special tokens, what a mask hides."""
    for name, value in leaves[0].trial.given.items():
        values = [leaf.trial.given.get(name) for leaf in leaves]
        if any(isinstance(v, Tensor) and v.dtype == torch.bool for v in values):
            yield from _of_mask(name)
        elif not isinstance(value, Tensor):
            continue
        elif value.dtype.is_floating_point:
            yield from _of_vectors(name)
        elif value.dim() == 2 and are_ids(name, leaves[0].trial):
            yield from _of_tokens(name)


def _of_vectors(name: str) -> Iterator[Place]:
    for text, choose in (
        ("negative", lambda x: x < 0),
        ("positive", lambda x: x > 0),
        ("0", lambda x: x == 0),
    ):
        yield Place(
            f"It differs only where `{name}` is {text}.",
            lambda leaf, c=choose: (
                c(leaf.trial.given[name])
                if leaf.trial.given[name].shape == leaf.right.shape
                else None
            ),
            BY_VALUE,
        )


def _of_mask(name: str) -> Iterator[Place]:
    def rows(leaf: Leaf, choose: Callable[[Tensor], Tensor]) -> Tensor | None:
        mask = leaf.trial.given[name]
        if mask is None:
            return None
        chosen = choose(mask)  # (…, T or 1, 1)
        # Heads that are merged have no axis any more.
        return chosen[:, 0] if chosen.dim() == 4 and leaf.right.dim() == 3 else chosen

    def same_shape(leaf: Leaf, value: bool) -> Tensor | None:
        mask = leaf.trial.given[name]
        return (mask == value) if mask is not None and mask.shape == leaf.right.shape else None

    for value in (False, True):
        yield Place(
            f"It differs only where `{name}` is {value}.", lambda leaf, v=value: same_shape(leaf, v)
        )
    if "mask" not in name:
        return
    options: tuple[tuple[str, Callable[[Tensor], Tensor]], ...] = (
        ("that may attend to nothing", lambda m: ~m.any(-1, keepdim=True)),
        ("that may attend to everything", lambda m: m.all(-1, keepdim=True)),
        ("from which something is hidden", lambda m: ~m.all(-1, keepdim=True)),
        ("that may attend to something", lambda m: m.any(-1, keepdim=True)),
    )
    for text, choose in options:
        yield Place(f"It differs only for queries {text}.", lambda leaf, c=choose: rows(leaf, c))


def _of_tokens(name: str) -> Iterator[Place]:
    def at(leaf: Leaf, chosen: Tensor) -> Tensor | None:
        """The places of tokens `(B, T)` in an answer: (B, T, …), or (B, 1, 1, T)."""
        shape = leaf.right.shape
        if shape[:2] == chosen.shape:
            return chosen.reshape(*chosen.shape, *[1] * (len(shape) - 2))
        if shape == (len(chosen), 1, 1, chosen.size(1)):
            return chosen[:, None, None]
        return None

    def keys(leaf: Leaf, chosen: Tensor) -> Tensor | None:
        """The places of tokens `(B, T)` in a mask `(B, 1, T, T)`, as keys."""
        own = leaf.right.shape == (len(chosen), 1, chosen.size(1), chosen.size(1))
        return chosen[:, None, None] if own and chosen.size(1) > 1 else None

    def tokens(leaf: Leaf) -> Tensor:
        return leaf.trial.given[name]

    for token, said in SPECIAL.items():
        yield Place(
            f"It differs only where `{name}` is {said}.",
            lambda leaf, t=token: at(leaf, tokens(leaf) == t),
        )
        yield Place(
            f"It differs only where the key in `{name}` is {said}.",
            lambda leaf, t=token: keys(leaf, tokens(leaf) == t),
        )
    yield Place(
        f"It differs only at real tokens, not at the padding of `{name}`.",
        lambda leaf: at(leaf, tokens(leaf) != 0),
    )
    yield Place(
        f"It differs only where the key in `{name}` is a real token.",
        lambda leaf: keys(leaf, tokens(leaf) != 0),
    )
    yield Place(
        f"It differs only at special tokens of `{name}` (ids below 4).",
        lambda leaf: at(leaf, tokens(leaf) < 4),
    )
    for text, choose in (
        ("that have padding", lambda t: (t == 0).any(1, keepdim=True)),
        ("without padding", lambda t: (t != 0).all(1, keepdim=True)),
        ("of nothing but padding", lambda t: (t == 0).all(1, keepdim=True)),
    ):
        yield Place(
            f"It differs only in sentences {text} (`{name}`).",
            lambda leaf, c=choose: at(leaf, c(tokens(leaf)).expand(tokens(leaf).shape)),
        )


# --- answers of several parts --------------------------------------------------------------------


ELSEWHERE = "stand in another order"


def _order(trials: Sequence[Trial]) -> list[int] | None:
    """Which right part each of the learner's parts is, if it is the same one on every input."""
    if len(lengths := {len(t.right) for t in trials}) > 1:
        return None
    places = range(lengths.pop())
    found = [
        set.intersection(*({j for j in places if same(t.mine[i], t.right[j])} for t in trials))
        for i in places
    ]
    order = [min(each) for each in found if len(each) == 1]
    return order if sorted(order) == [*places] else None


def parts(trials: Sequence[Trial]) -> str | None:
    """Which parts of answers that are lists or dictionaries differ."""
    first = trials[0].right
    if isinstance(first, dict):
        return _keys(trials)
    if not isinstance(first, (list, tuple)) or not any(
        isinstance(item, (Tensor, list, tuple, dict)) for item in first
    ):
        return None
    if not every(
        trials, lambda t: isinstance(t.mine, (list, tuple)) and len(t.mine) == len(t.right)
    ):
        return None
    bad = [{int(leaf.place[1:].split("]")[0]) for leaf in trial.leaves()} for trial in trials]
    lengths = [len(trial.right) for trial in trials]
    if min(lengths) < 2 and len(trials) > 1 and sum(n > 1 for n in lengths) < 2:
        return None
    both = list(zip(bad, lengths, strict=True))
    if max(lengths) == 1:
        return None
    part = "item" if isinstance(first, list) else "part"
    if order := _order(trials):
        moved = [(i, j) for i, j in enumerate(order) if i != j]
        some = [f"your {ordinal(i)} is the right {ordinal(j)}" for i, j in moved[:3]]
        said = ", ".join(some) + ", …" * (len(moved) > 3)
        return f"The {part}s are right and {ELSEWHERE}: {said}."
    if all(b == {n - 1} for b, n in both):
        return f"Of what you return, only the last {part} differs."
    if all(len(b) == 1 and b == bad[0] for b in bad):
        return f"Of what you return, only the {ordinal(min(bad[0]))} {part} differs."
    if n := min(min(b) for b in bad):
        some = f"the first {part} is right; yours differs only after it"
        some = some if n == 1 else f"the first {n} {part}s are right; yours differs only after them"
        return f"Of what you return, {some}."
    if (told := _pairs(trials)) or any(each != both[0] for each in both):
        return told
    wrong, right = ([i for i in range(lengths[0]) if (i in bad[0]) == odd] for odd in (True, False))
    which, others = (
        f"the {' and the '.join(map(ordinal, each))} {part}" for each in (wrong, right)
    )
    return f"Of what you return, {which} differ, and not {others}." if right else None


def _pairs(trials: Sequence[Trial]) -> str | None:
    """In a list of pairs: which of the two."""
    inner = {leaf.place.count("[") for trial in trials for leaf in trial.leaves()}
    if inner != {2}:
        return None
    second = {leaf.place.split("[")[2] for trial in trials for leaf in trial.leaves()}
    if second == {"0]"}:
        return "Of each pair that you return only the first differs."
    return "Of each pair that you return only the second differs." if second == {"1]"} else None


def _keys(trials: Sequence[Trial]) -> str | None:
    if not every(trials, lambda t: isinstance(t.mine, dict)):
        return None
    missing = [set(t.right) - set(t.mine) for t in trials]
    extra = [set(t.mine) - set(t.right) for t in trials]
    if any(missing) or any(extra):
        both = _common(missing), _common(extra)
        told = [
            f"{word}: {', '.join(map(repr, k))}"
            for word, k in zip(("missing", "too many"), both, strict=True)
            if k
        ]
        return f"Your dictionary has not the right keys; {'; '.join(told)}." if told else None
    bad = [_differing(trial) for trial in trials]
    names: Mapping[str, None] = dict.fromkeys(key for keys in bad for key in keys)
    always = [key for key in names if all(key in keys for keys in bad)]
    right = [key for key in trials[0].right if key not in names]
    if right and list(trials[0].right)[: len(right)] == right and always:
        where = " on all of these inputs" if len(trials) > 1 else ""
        return f"Right: {_list(right)}; wrong{where}: {_list(always)}."
    if right and len(names) == len(always):
        return f"Of what is compared, it differs in {_list(always)}, and not in {_list(right)}."
    return None


def _differing(trial: Trial) -> list[Any]:
    """The keys under which an answer that is a dictionary differs."""
    places = [leaf.place for leaf in trial.leaves()]
    return [k for k in trial.right if any(place.startswith(f"[{k!r}]") for place in places)]


def alike_in_parts(wrong: Sequence[Trial]) -> list[Trial]:
    """Those that differ under the same keys as most of them do; none if fewer than two do."""
    if not every(wrong, lambda t: isinstance(t.mine, dict) and t.mine.keys() == t.right.keys()):
        return []
    keys = [tuple(_differing(trial)) for trial in wrong]
    most = max(keys, key=keys.count)
    some = [trial for trial, each in zip(wrong, keys, strict=True) if each == most]
    return some if len(some) > 1 else []


def unmoved(trials: Sequence[Trial]) -> str | None:
    """Whether all parts of the learner's answers are one, where the right ones differ."""

    def alone(answers: dict[Any, Any]) -> bool:
        first, *rest = (value for value in answers.values() if isinstance(value, Tensor))
        return bool(rest) and all(same(first, other) for other in rest)

    if not every(trials, lambda t: isinstance(t.right, dict) and alone(t.mine) > alone(t.right)):
        return None
    if any(" " in str(key) for key in trials[0].right):  # seen by the check, one after the other
        return "In yours it is the same every time: nothing changes."
    return "In yours the same stands under every name."


def _common(sets: Sequence[set[Any]]) -> list[Any]:
    found = set.intersection(*sets)
    return sorted(found, key=str)[:4]


def _list(names: Sequence[str]) -> str:
    return ", ".join(map(str, names))
