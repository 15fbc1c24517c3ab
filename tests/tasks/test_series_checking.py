"""The check of a series by numbers, beside exact arithmetic: both say the same of all."""

from __future__ import annotations

import os
import random
import re
from itertools import islice

import pytest

from transformer_book.tasks.series import same_series, series_of
from transformer_book.tasks.series.checking import wrong_from
from transformer_book.tasks.series.expansion import ORDER
from transformer_book.tasks.series.expressions import MAX_TOKENS, NotInGrammar, write
from transformer_book.tasks.series.generator import draw
from transformer_book.tokens import MathTokenizer

TOKEN = re.compile(r"\d+|[a-z]|\*\*|.")
REST = f"+O(x**{ORDER})"


def pairs(size: str, n: int, seed: int = 5) -> list[tuple[str, str]]:
    """Expressions with their series, those that a model can write."""
    found = []
    for expression in islice(draw(size, seed), 3 * n):
        source = write(expression)
        try:
            series = series_of(source)
        except ValueError:
            continue
        if len(MathTokenizer()(series)) < MAX_TOKENS and len(found) < n:
            found.append((source, series))
    return found


def mutated(series: str, rng: random.Random) -> str | None:
    """One coefficient, sign, power or letter is another."""
    tokens = TOKEN.findall(series.removesuffix(REST))
    if not tokens:
        return None
    i = rng.randrange(len(tokens))
    token = tokens[i]
    if token.isdigit():
        tokens[i] = str(max(int(token) + rng.choice([-1, 1, 2]), 1))
    elif token in "+-":
        tokens[i] = "-" if token == "+" else "+"
    elif token.isalpha():
        tokens[i] = rng.choice("abcdfgx".replace(token, ""))
    else:
        return None
    return "".join(tokens) + REST


@pytest.mark.parametrize("size", ["two-terms", "long"])
def test_no_right_series_is_refused(size):
    for source, series in pairs(size, 60):
        assert wrong_from(source, series) is None, (source, series)


def test_no_wrong_series_passes():
    """What exact arithmetic says of a mutation, numbers say too; of as many as one asks for."""
    mutations = int(os.environ.get("TRANSFORMER_BOOK_MUTATIONS", "250"))
    rng, known, told = random.Random(1), pairs("long", max(40, mutations // 100)), 0
    while told < mutations:
        source, series = rng.choice(known)
        changed = mutated(series, rng)
        if changed is None or changed == series:
            continue
        try:
            power = wrong_from(source, changed)
        except NotInGrammar:
            continue
        assert (power is None) == same_series(changed, series), (source, changed, power)
        told += 1


@pytest.mark.parametrize(
    ("series", "power"),
    [
        ("1+a*x+a**2*x**2/2+a**3*x**3/6+a**4*x**4/24+a**5*x**5/120+O(x**6)", None),
        ("a*x+1+x**2*a*a/2+a**3*x**3/6+a**4*x**4/24+a**5*x**5/120+x**7+O(x**6)", None),
        ("1+a*x+a**2*x**2/2+a**3*x**3/6+a**4*x**4/25+a**5*x**5/120+O(x**6)", 4),
        ("1+a*x+a**2*x**2/2+O(x**6)", 3),
        ("1+b*x+a**2*x**2/2+a**3*x**3/6+a**4*x**4/24+a**5*x**5/120+O(x**6)", 1),
        ("1/x+1+a*x+a**2*x**2/2+a**3*x**3/6+a**4*x**4/24+a**5*x**5/120+O(x**6)", -1),
        ("O(x**6)", 0),
    ],
)
def test_where_it_goes_wrong(series, power):
    assert wrong_from("exp(a*x)", series) == power


def test_steep_poles_keep_their_digits():
    source = "cos(a*x)/x**12"
    assert wrong_from(source, series_of(source)) is None
    assert wrong_from(source, series_of(source).replace("1/x**12", "2/x**12")) == -12
    assert wrong_from(source, series_of(source).replace("x**4", "x**3")) == -4


@pytest.mark.parametrize(
    ("series", "said"),
    [
        ("1+a*x", "does not end in O"),
        ("1+a*xO(x**6)", "no plus sign"),
        ("1+a*+O(x**6)", "is not in the grammar"),
        ("1/(a-a)+O(x**6)", "divides by zero"),
    ],
)
def test_what_is_no_series(series, said):
    with pytest.raises(NotInGrammar, match=said):
        wrong_from("exp(a*x)", series)
