"""The page knows the series of an expression, and what has none, as the package does."""

from __future__ import annotations

import random

from browser_parity import run

from tests.javascript.conftest import sentences
from tests.tasks.test_series_checking import mutated, pairs
from transformer_book.tasks.series.expansion import series_of
from transformer_book.verified import checked

# No commas and no stars in calls: how such a tree is written differs between versions of Python.
PIECES = [
    *"xa(+-*/)",
    "**",
    "2",
    "10",
    "07",
    "0",
    "sin",
    "exp",
    "log",
    "O(x**6)",
    " ",
    "y",
    "α",
    "'",
]
FUNCTIONS = ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh", "log")
SPECIAL = [
    *("", "  ", "x" * 90 + "'", "2**3**2", "-x**2", "x**(1/2)", "y//a", "sin()", "0**0", "1/(a-a)"),
    *("((9**20)**20)**20", "exp(x)**20**2", "x**20*x", "1/x**30/x**30", "exp(a*x)*exp(-a*x)"),
    *("1/(sin(a*x)+sin(b*x))", "1/(1+sin(a*x))", "exp(x*(a+b))*exp(x*(a-b))", "sin(a*x+1)"),
    *("(2*a-2*b)**3/(b-a)", "sin(x)" + "*sin(x)" * 30, "(" * 50 + "x" + ")" * 50, "-" * 150 + "x"),
    *("(a+b+c)**20*(d+f+g)**20*exp(x*a)", "1/(cos(x)-1)**20", "tanh(x)/sin(b*x)**2", "a" * 300),
]


def expressions(n: int, seed: int = 0) -> list[str]:
    """Right ones and wrong ones, and some that are no expressions."""
    draw = random.Random(seed)

    def part(depth: int) -> str:
        kind = draw.random()
        if depth == 0 or kind < 0.3:
            return draw.choice("xxxabcz") if draw.random() < 0.75 else str(draw.randint(0, 12))
        if kind < 0.5:
            return f"{part(depth - 1)}{draw.choice('+-*/*')}{part(depth - 1)}"
        if kind < 0.62:
            exponent = draw.choice(["2", "3", "-1", "-2", "0", "a", "(1/2)", "21"])
            return f"({part(depth - 1)})**{exponent}"
        if kind < 0.85:
            inner = f"{part(depth - 1)}{draw.choice(['*x', '', '*x', '*a*x'])}"
            return f"{draw.choice(FUNCTIONS)}({inner})"
        if kind < 0.9:
            return f"-{part(depth - 1)}"
        return f"({part(depth - 1)}{draw.choice('+-')}{part(depth - 1)})"

    made = [part(draw.randint(1, 4)) for _ in range(n)]
    noise = ["".join(draw.choices(PIECES, k=draw.randint(1, 7))) for _ in range(n)]
    return [*SPECIAL, *made, *noise]


def answer(text: str) -> str | dict[str, str]:
    try:
        return series_of(text)
    except ValueError as error:
        return {"error": str(error)}


def test_the_series_and_the_refusals_are_the_packages(rules) -> None:
    texts = [*sentences("series", 100), *expressions(800)]
    (found,) = run([{"operation": "series", "texts": texts}], rules)
    right = [answer(text) for text in texts]
    wrong = [each for each in zip(texts, right, found, strict=True) if each[1] != each[2]]
    assert wrong == []
    refused = sum(isinstance(each, dict) for each in right)
    assert 500 < refused < len(texts) - 500


def test_what_a_check_says_is_the_packages(rules) -> None:
    """Exact arithmetic in the page, numbers in the package: the same words of all."""
    draw = random.Random(3)
    asked = [*pairs("long", 60), *pairs("two-terms", 60), ("exp(a*x)", "1+a*xO(x**6)")]
    for source, series in asked[:]:
        changed = [mutated(series, draw) for _ in range(4)]
        asked += [(source, each) for each in changed if each is not None]
    (found,) = run([{"operation": "checked", "pairs": asked}], rules)
    said = [checked(*each) for each in asked]
    assert [each for each in zip(asked, said, found, strict=True) if each[1] != each[2]] == []
    assert len({*said}) > 6 and said.count("agrees to O(x**6)") >= 120
