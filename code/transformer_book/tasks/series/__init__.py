"""Series: an expression in x and its Taylor (or Laurent) series about x = 0 to O(x**6).

    >>> from transformer_book.tasks.series import series_of
    >>> series_of("exp(a*x)/sin(b*x)")                              # doctest: +SKIP
    '1/(b*x)+a/b+x*(a**2/(2*b)+b/6)+x**2*(a**3/(6*b)+a*b/6)+...+O(x**6)'

Expressions are drawn at random and written in one canonical way (`expressions`), so that no source
comes back with its terms in another order; their series are computed by exact arithmetic
(`expansion`), without sympy, which the tests compare with.

**Order.** Terms have ascending powers of x; within a coefficient, powers of the first letter
descend, then those of the second (`series_of`). A public two-term corpus of this kind
([hbprosper/Terascale](https://github.com/hbprosper/Terascale)) has the same spelling, but sorts the
terms by the text of their power, so that 1/x stands beside x.

**Lengths.** Among the first 46 000 pairs of size "long", sources have 29 tokens on average and
targets 97 (in the public corpus they are modelled on, 29 and 142); of size "two-terms", 14 and 60.
7 to 9 % of the series begin with a pole.

**Splits.** 85 % train, 10 % validation, 5 % test, by a hash. With `split_by="random"` it is the
hash of the source, and test sources may be training sources with other letters: about 95 % of size
"two-terms" are with 10 000 training pairs, 24 % of "long" with 200 000. With "shape-disjoint" it is
the hash of the source without its letters, so that no source has a renaming in another split.

**The public corpus** itself is the size "two-terms-public", with its own splits: see `public`.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import count, islice
from pathlib import Path
from threading import Lock
from typing import ClassVar

from transformer_book.support.arguments import check_choice
from transformer_book.tasks import Options, Pair, check_whole, split_by_hash, too_few
from transformer_book.tasks.series import public
from transformer_book.tasks.series.expansion import ORDER, series_of, write_series
from transformer_book.tasks.series.expressions import (
    VARIABLE,
    NotInGrammar,
    Sum,
    read,
    shape,
    write,
)
from transformer_book.tasks.series.generator import SIZES, draw
from transformer_book.tokens import MathTokenizer

__all__ = [
    "NotInGrammar",
    "SeriesTask",
    "canonical_source",
    "count_by_functions",
    "same_series",
    "series_of",
]

SHARES = {"train": 85, "validation": 10, "test": 5}
SPLIT_BY = ("random", "shape-disjoint")
PUBLIC = "two-terms-public"
# 60 and 200 ids with <sos> and <eos>.
MAX_SOURCE, MAX_TARGET = 58, 198
# Draws in a row without a new pair after which a split counts as exhausted.
_PATIENCE = 100_000
# Expressions that are kept for the next split that is asked for, a few ten megabytes.
_KEPT = 30_000


class _Drawn:
    """An expression that was drawn, its source, and what is computed when it is asked for."""

    def __init__(self, expression: Sum, source: str) -> None:
        self.expression, self.source = expression, source

    @cached_property
    def shape(self) -> str:
        return shape(self.expression)

    @cached_property
    def pair(self) -> Pair | None:
        """None if it has no x, no series, no term below O(x**6), or is too long."""
        tokenizer = MathTokenizer()
        tokens = tokenizer(self.source)
        if "x" not in tokens or len(tokens) > MAX_SOURCE:
            return None
        try:
            target = tokenizer(write_series(self.expression))
        except NotInGrammar:
            return None
        return Pair(tuple(tokens), tuple(target)) if 1 < len(target) <= MAX_TARGET else None


class _Draws:
    """What is drawn for a size and a seed, whatever the split; None where it repeats itself."""

    def __init__(self, size: str, seed: int) -> None:
        self.size, self.seed = size, seed
        self.kept: list[_Drawn | None] = []
        self._n_expressions = 0
        self._next = self._drawn()
        self._lock = Lock()

    def _drawn(self) -> Iterator[_Drawn | None]:
        seen: set[str] = set()
        for expression in draw(self.size, self.seed):
            source = write(expression)
            yield None if source in seen else _Drawn(expression, source)
            seen.add(source)

    def __iter__(self) -> Iterator[_Drawn | None]:
        for place in count():
            with self._lock:
                if place == len(self.kept):
                    if self._n_expressions == _KEPT:
                        break
                    drawn = next(self._next)
                    self.kept.append(drawn)
                    self._n_expressions += drawn is not None
            yield self.kept[place]
        yield from islice(self._drawn(), len(self.kept), None)


_draws = lru_cache(maxsize=2)(_Draws)


@dataclass(frozen=True)
class SeriesTask(Options):
    """Expressions in Python's notation and their series, both split by `MathTokenizer`.

    Sources have at most 58 tokens and targets 198; expressions whose series has no term below
    O(x**6) are left out.

    Args:
        size: "two-terms" or "long": see `generator`; "two-terms-public", which is downloaded: see
            `public`.
        split_by: "random" or "shape-disjoint": see above.

    Raises:
        ValueError: an unknown size or way to split, or one that the public corpus does not have.
    """

    name: ClassVar[str] = "series"
    splits: ClassVar[tuple[str, ...]] = tuple(SHARES)

    size: str = "two-terms"
    split_by: str = "random"

    def __post_init__(self) -> None:
        check_choice("size", self.size, (*SIZES, PUBLIC))
        check_choice("split_by", self.split_by, SPLIT_BY)
        if self.size == PUBLIC and self.split_by != "random":
            raise ValueError(
                f"split_by is {self.split_by!r}, but the public corpus has splits of its own: "
                "choose 'random', or the size 'two-terms'."
            )

    @cached_property
    def source_tokenizer(self) -> MathTokenizer:
        return MathTokenizer()

    @cached_property
    def target_tokenizer(self) -> MathTokenizer:
        return MathTokenizer()

    def pairs(self, split: str = "train", n: int = 1000, seed: int = 0) -> list[Pair]:
        """The first `n` pairs of a split, with distinct sources, in an order that the seed fixes.

        Those of the public corpus stand in its own order if the seed is 0.

        Raises:
            ValueError: an unknown split, `n` below 1, more pairs than were found, or a corpus that
                cannot be downloaded.
        """
        check_choice("split", split, self.splits)
        check_whole(1, n=n)
        check_whole(seed=seed)
        if self.size == PUBLIC:
            return self._public_pairs(split, n, seed)
        found: list[Pair] = []
        failures = 0
        for drawn in _draws(self.size, seed):
            failures += 1
            if failures > _PATIENCE:
                raise too_few(n, len(found), split, "ask for fewer, or choose the size 'long'")
            if drawn is None or self._split_of(drawn) != split:
                continue
            if drawn.pair is not None:
                found.append(drawn.pair)
                failures = 0
            if len(found) == n:
                break
        return found

    def download(self) -> list[Path]:
        """Fetch the public corpus, if that is the size; returns where its file is."""
        return [public.download()] if self.size == PUBLIC else []

    @cached_property
    def _public_splits(self) -> dict[str, list[Pair]]:
        return public.pairs()

    def _public_pairs(self, split: str, n: int, seed: int) -> list[Pair]:
        found = list(self._public_splits[split])
        if n > len(found):
            raise too_few(n, len(found), split, "ask for fewer, or choose the size 'two-terms'")
        if seed:
            random.Random(f"series {seed}").shuffle(found)
        return found[:n]

    def _split_of(self, drawn: _Drawn) -> str:
        key = drawn.shape if self.split_by == "shape-disjoint" else drawn.source
        return split_by_hash(f"series\t{key}", SHARES)


def canonical_source(text: str) -> str:
    """The spelling that `SeriesTask` gives to an expression: `x*a+x` becomes `a*x+x`.

    Raises:
        ValueError: the text is not in the grammar, which the message gives.
    """
    return write(read(text))


def count_by_functions(
    sources: Sequence[str], flags: Sequence[bool], name: str
) -> dict[str, dict[str, int]]:
    """How many expressions are flagged, and of how many, by the number of functions in them.

    Returns:
        For each number, as text and ascending: `{name: flagged, "n": all}`; `exp(a*x)/sin(b*x)**2`
        has two functions.
    """
    found: dict[int, list[bool]] = defaultdict(list)
    for source, flag in zip(sources, flags, strict=True):
        found[len(re.findall(r"[a-z]\(", source))].append(flag)
    return {str(k): {name: sum(found[k]), "n": len(found[k])} for k in sorted(found)}


def same_series(one: str, other: str) -> bool:
    """Whether two texts mean the same series, however it is written; by exact arithmetic.

    `x**2/2+x*a+O(x**6)` and `a*x+2*x**2/4+O(x**6)` do. A text that does not end with O(x**6), or
    that cannot be read, means no series and equals no text, not even itself.
    """
    meanings = _meaning(one), _meaning(other)
    return None not in meanings and meanings[0] == meanings[1]


def _meaning(text: str) -> str | None:
    """A series in canonical form, the same for all texts that mean it; None if there is none."""
    rest = f"O({VARIABLE}**{ORDER})"
    text = text.replace(" ", "")
    if not text.endswith(rest):
        return None
    terms = text[: -len(rest)]
    if terms and not terms.endswith("+"):
        return None
    try:
        return series_of(terms[:-1] or "0")
    except ValueError:
        return None
