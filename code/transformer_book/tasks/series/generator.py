"""Random expressions of two sizes. `SIZES` holds what a size may contain."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

from transformer_book.tasks.series import expressions as e
from transformer_book.tasks.series.expressions import FUNCTIONS, VARIABLE, NotInGrammar, Sum, Term


class Chooser:
    """Random choices, from a seed, with the same outcome on every platform."""

    def __init__(self, seed: str):
        self.random = random.Random(seed).random

    def pick(self, options: Sequence):
        """One of the options, each with the same probability."""
        return options[int(self.random() * len(options))]

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.random() < probability


def two_terms(choose: Chooser) -> Sum:
    """One or two factors `f(c*x)` with c of a b c d f g h, joined by `+`, `-`, `*` or `/`."""
    left = _factor(choose, "abcdfgh")
    if choose.chance(0.5):
        return left
    return choose.pick(OPERATIONS)(left, _factor(choose, "abcdfgh"))


def long(choose: Chooser) -> Sum:
    """One to six factors f(m*c*x), m a whole number and c of a b c d f g, in any nesting."""
    return _nested(choose, choose.pick(FACTORS))


# Mostly three to five: with these, sources within the limits have 29 tokens on average.
FACTORS = (1, 2, 3, 3, 4, 4, 4, 5, 5, 6)


def _nested(choose: Chooser, factors: int) -> Sum:
    if factors == 1:
        return _factor(choose, "abcdfg", multiples=True)
    left = 1 + int(choose.random() * (factors - 1))
    operation = choose.pick(OPERATIONS)
    return operation(_nested(choose, left), _nested(choose, factors - left))


OPERATIONS: tuple[Callable[[Sum, Sum], Sum], ...] = (e.add, e.subtract, e.multiply, e.divide)


def _factor(choose: Chooser, letters: str, multiples: bool = False) -> Sum:
    """`f(c*x)`, at 0.2 squared or cubed; with `multiples`, some `f(2*c*x)` and `exp(-c*x)`."""
    function = choose.pick(FUNCTIONS)
    number = 1
    if multiples:
        number = choose.pick((2, 3)) if choose.chance(0.15) else 1
        if function == "exp" and choose.chance(0.3):
            number = -number
    letter = choose.pick(letters)
    exponent = choose.pick((2, 3)) if choose.chance(0.2) else 1
    return _power(function, number, letter, exponent)


@lru_cache(maxsize=2000)
def _power(function: str, number: int, letter: str, exponent: int) -> Sum:
    argument = Term(Fraction(number), ((letter, 1), (VARIABLE, 1)))
    return e.power(e.call(function, Sum((argument,))), exponent)


SIZES: dict[str, Callable[[Chooser], Sum]] = {"two-terms": two_terms, "long": long}


def draw(size: str, seed: int) -> Iterator[Sum]:
    """Endless random expressions of one size, repetitions included."""
    make = SIZES[size]
    choose = Chooser(f"series {size} {seed}")
    while True:
        try:
            yield make(choose)
        except NotInGrammar:  # it divided by zero
            continue
