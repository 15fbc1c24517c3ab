"""Copy: say the source again, forwards or backwards. The smallest task that needs attention.

Seven symbols and the four special tokens make a vocabulary of 11 ids. With ten symbols a sequence,
this is the copy task of many tutorials.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from transformer_book.support.arguments import check_choice
from transformer_book.tasks import Options, Pair, check_whole, split_by_hash, too_few
from transformer_book.tokens import SpaceTokenizer

SYMBOLS = ("a", "b", "c", "d", "e", "f", "g")
KINDS = ("copy", "reverse")
SHARES = {"train": 90, "validation": 5, "test": 5}


@dataclass(frozen=True)
class CopyTask(Options):
    """Sequences of the symbols a–g; the target is the source, or the source reversed.

    The length is drawn first, each from `min_length` to `max_length` with equal probability while
    it has sequences left, then the symbols. A hash of the sequence decides its split, whatever the
    options: 90 % train, 5 % validation, 5 % test.

    Args:
        kind: "copy" or "reverse".
        min_length, max_length: the number of symbols, special tokens not counted.

    Raises:
        ValueError: an unknown kind, a length below 1, or `min_length` above `max_length`.
    """

    name: ClassVar[str] = "copy"
    splits: ClassVar[tuple[str, ...]] = tuple(SHARES)

    kind: str = "copy"
    min_length: int = 10
    max_length: int = 10

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        check_whole(1, min_length=self.min_length, max_length=self.max_length)
        if self.min_length > self.max_length:
            raise ValueError(
                f"min_length is {self.min_length}, but it must be at most max_length, which is "
                f"{self.max_length}: give both."
            )

    @cached_property
    def source_tokenizer(self) -> SpaceTokenizer:
        return SpaceTokenizer()

    @cached_property
    def target_tokenizer(self) -> SpaceTokenizer:
        return SpaceTokenizer()

    def pairs(self, split: str = "train", n: int = 1000, seed: int = 0) -> list[Pair]:
        """The first `n` distinct pairs of a split, in an order that the seed determines.

        Raises:
            ValueError: an unknown split, `n` below 1, or more pairs than the split has.
        """
        check_choice("split", split, self.splits)
        check_whole(1, n=n)
        check_whole(seed=seed)
        rng = random.Random(f"copy {seed}")
        lengths = range(self.min_length, self.max_length + 1)
        sources = [_sequences(length, split, rng) for length in lengths]
        found: list[Pair] = []
        while sources and len(found) < n:
            some = sources[int(rng.random() * len(sources))]
            source = next(some, None)
            if source is None:
                sources.remove(some)
                continue
            found.append(Pair(source, source if self.kind == "copy" else source[::-1]))
        if len(found) < n:
            raise too_few(n, len(found), split, "ask for fewer, or raise max_length")
        return found


def _sequences(length: int, split: str, rng: random.Random) -> Iterator[tuple[str, ...]]:
    """Every sequence of one length that belongs to a split, once, in random order."""
    # A shuffle (Fisher and Yates) of all 7**length numbers that stores only those moved so far, so
    # that it costs nothing before it is used and still ends after the last sequence.
    size = len(SYMBOLS) ** length
    moved: dict[int, int] = {}
    for i in range(size):
        left = size - i
        # A float reaches to 10**308.
        j = i + (int(rng.random() * left) if left < 2**1000 else rng.randrange(left))
        drawn = moved.get(j, j)
        moved[j] = moved.pop(i, i)
        source = _spell(drawn, length)
        if split_by_hash(" ".join(source), SHARES) == split:
            yield source


def _spell(number: int, length: int) -> tuple[str, ...]:
    """The digits of a number, written to base 7 in the symbols."""
    symbols = []
    for _ in range(length):
        number, digit = divmod(number, len(SYMBOLS))
        symbols.append(SYMBOLS[digit])
    return tuple(symbols)
