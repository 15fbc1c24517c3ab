"""What a diagnosis is made from: on each input, what was given, what came, and what should have."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.comparing import apart, same

WORDS = {"B": "sentence", "T": "position", "S": "position", "t": "position", "H": "head"}
WORDS |= {"D": "feature", "K": "feature", "F": "feature", "V": "id", "N": "row"}
BATCHES = {"tokens", "source", "target", "logits", "x", "query", "key", "value", "heads", "memory"}
LETTERS = re.compile(r"(?:…, )?\w(?:, \w)*")
ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True)
class Trial:
    """One input.

    Attributes:
        name: what the input tries.
        given: the arguments by name.
        mine, right: the learner's answer and the right one.
        stops: the learner's function gave no answer.
        wrong: the answers differ, or there is none.
        axes: what the axes of the answer are called: letters, or nothing.
    """

    name: str
    given: Mapping[str, Any]
    mine: Any
    right: Any
    stops: bool
    wrong: bool
    axes: tuple[str, ...] = ()

    @functools.cached_property
    def sizes(self) -> dict[str, float]:
        """The numbers that the input is made of, in words: sizes, counts, single numbers."""
        return _sizes(self.given)

    def leaves(self) -> list[Leaf]:
        """The parts of the two answers that differ, compared one by one."""
        found = _leaves(self, "", self.mine, self.right)
        return [leaf for leaf in found if not same(leaf.mine, leaf.right)]

    def in_part(self) -> bool:
        """Whether the answer has parts that are right, besides those that differ."""
        return len(self.leaves()) < len(list(_leaves(self, "", self.mine, self.right)))


@dataclass(frozen=True)
class Leaf:
    """A tensor, a number or a list of such in both answers, at the same place of them."""

    trial: Trial
    place: str
    mine: Any
    right: Any

    @property
    def tensors(self) -> bool:
        """Two tensors of one shape."""
        both = isinstance(self.mine, Tensor) and isinstance(self.right, Tensor)
        return both and self.mine.shape == self.right.shape

    def apart(self) -> Tensor:
        """Of two tensors of one shape: where they differ."""
        return apart(self.mine, self.right)

    def everywhere(self) -> bool:
        """Whether two tensors of one shape differ at every entry where a factor would show."""
        small = self.right.abs() <= 1e-3 * self.right.abs().max()
        return bool((self.apart() | small).all())

    def word(self, axis: int) -> str:
        """What stands along an axis (counted from the end): positions, features, …"""
        letters, dim = self.trial.axes, self.mine.dim()
        known = letters[:1] == ("…",) or len(letters) == dim  # a part may have other axes
        if known and len(letters) >= -axis and letters[axis] in WORDS:
            return WORDS[letters[axis]]
        words = {-1: "column", -2: "row"} if dim > 1 else {-1: "place"}
        return words.get(axis, f"index of axis {dim + axis}")


def is_number(value: Any) -> bool:
    """A number, in a tensor of no axes or not."""
    if isinstance(value, Tensor):
        return value.dim() == 0
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def are_ids(name: str, trial: Trial) -> bool:
    """Whether an argument holds ids of tokens, of which 0 to 3 mean what they do in the book."""
    return name in ("tokens", "source", "target", "ids") and not any(
        "pad" in other for other in trial.given
    )


def axes_of(returns: str) -> tuple[str, ...]:
    """The letters of the shape in what a component returns: `(B, T, D)`, `(…, D)` or `(H,)`.

    The first that stands there is meant; one that follows may be that of an argument.
    """
    first = re.search(r"`\((.*?),?\)`", returns)
    return tuple(first[1].split(", ")) if first and LETTERS.fullmatch(first[1]) else ()


def in_batch(name: str, value: Tensor) -> bool:
    """Whether the first axis of an argument is that of the sentences.

    (T, D) without a batch is one sentence: its first axis is that of the positions.
    """
    return name in BATCHES and value.dim() > 1 + value.is_floating_point()


def _leaves(trial: Trial, place: str, mine: Any, right: Any) -> Iterator[Leaf]:
    if isinstance(right, dict) and isinstance(mine, dict) and mine.keys() == right.keys():
        for key in right:
            yield from _leaves(trial, f"{place}[{key!r}]", mine[key], right[key])
    elif (
        isinstance(right, (list, tuple))
        and isinstance(mine, (list, tuple))
        and len(mine) == len(right)
        and any(isinstance(item, (Tensor, list, tuple, dict)) for item in right)
    ):
        for i, (own, theirs) in enumerate(zip(mine, right, strict=True)):
            if all(isinstance(x, Tensor) and not x.dim() for x in (own, theirs)):
                own, theirs = own[None], theirs[None]  # a list holds tensors of any shape
            yield from _leaves(trial, f"{place}[{i}]", own, theirs)
    else:
        yield Leaf(trial, place, mine, right)


def ordinal(i: int) -> str:
    """`first`, `second`, …"""
    return ORDINALS[i] if i < len(ORDINALS) else f"{i + 1}th"


def _sizes(given: Mapping[str, Any]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in given.items():
        if isinstance(value, bool):
            continue
        if isinstance(value, (int, float)):
            found[f"`{name}`"] = float(value)
            if 0 < value < 1:
                found[f"(1 − `{name}`)"] = 1 - float(value)
        elif isinstance(value, Tensor):
            found[f"the number of axes of `{name}`"] = value.dim()
            for axis, size in enumerate(value.shape):
                batch = axis == 0 and in_batch(name, value)
                key = "the number of sentences" if batch else f"the size of axis {axis} of `{name}`"
                found[key] = size
            if value.dim() > 1:
                found[f"the number of entries of `{name}`"] = value.numel()
            if value.dtype in (torch.bool, torch.long) and value.dim() > 1:
                found[f"the number of entries of `{name}` that are not 0"] = int((value != 0).sum())
        elif isinstance(value, (list, tuple, str)):
            found[f"the length of `{name}`"] = len(value)
            if value and all(is_number(item) for item in value):
                found[f"the sum of `{name}`"] = float(sum(value))
    return found


def all_of(trials: Sequence[Trial]) -> str:
    """All inputs, counted."""
    return f"all {len(trials)} inputs" if len(trials) > 1 else "the input"


def every(items: Sequence[Any], holds: Any) -> bool:
    """Whether it holds of all of them, and there are some."""
    return bool(items) and all(holds(item) for item in items)
