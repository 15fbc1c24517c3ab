"""Is a series right? Asked without knowing the right one: by numbers (chapter 18).

An expression and the sum that a model wrote for it are evaluated with many digits at an x close to
0, the letters at fixed fractions. Their difference is c·x**k for the lowest power k that differs,
so that k can be read off its size: $k = \\log|\\text{difference}| / \\log x$, if |c| is nowhere
near 1/x. A right answer to O(x**6) has k of 6 or more.

Two points are asked: at one alone, a wrong coefficient may vanish by accident, as a − b does where
a = b. Source: Lample and Charton (2020), section 4.1, who check integrals by differentiating them.
"""

from __future__ import annotations

from fractions import Fraction

from mpmath import mp, mpf

from transformer_book.tasks.series.expansion import ORDER
from transformer_book.tasks.series.expressions import VARIABLE, Call, NotInGrammar, Sum, read

DIGITS = 40  # of 1/x: coefficients between 10**-20 and 10**20 are told from powers of x
SHALLOW = 10  # the steepest pole that is expected; what has a steeper one is computed again
# Two values for each letter, none far from 1 and none in a simple relation to another's.
PRIMES = [n for n in range(100, 400) if all(n % d for d in range(2, 20))]
POINTS = tuple(
    {
        chr(ord("a") + i): Fraction(PRIMES[(i + shift) % 26], PRIMES[26 + (7 * i + shift) % 26])
        for i in range(26)
    }
    for shift in (0, 11)
)
ENDING = f"O({VARIABLE}**{ORDER})"


def wrong_from(expression: str, series: str) -> int | None:
    """The lowest power of x in which a series is wrong; `None` if it agrees to O(x**6).

    Args:
        expression: in the grammar of `expressions`.
        series: what should be its series; it ends in `+O(x**6)`, or is that alone.

    Raises:
        NotInGrammar: the expression or the series cannot be read, or one divides by zero.
    """
    text = series.replace(" ", "")
    if not text.endswith(ENDING):
        raise NotInGrammar(f"the series does not end in {ENDING}")
    terms = text[: -len(ENDING)]
    if terms and not terms.endswith("+"):
        raise NotInGrammar(f"there is no plus sign before {ENDING}")
    left, right = read(expression), read(terms[:-1] or "0")
    powers = [_order_of_difference(left, right, letters) for letters in POINTS]
    lowest = min(powers)
    return lowest if lowest < ORDER else None


def _order_of_difference(left: Sum, right: Sum, letters: dict[str, Fraction]) -> int:
    """The power of x by which two expressions differ where the letters have these values."""
    pole = SHALLOW
    while True:
        with mp.workdps(DIGITS * (ORDER + pole + 2)):
            values = {name: mpf(v.numerator) / v.denominator for name, v in letters.items()}
            values[VARIABLE] = mpf(10) ** -DIGITS
            try:
                one, other = _value(left, values), _value(right, values)
            except ZeroDivisionError as error:
                raise NotInGrammar("it divides by zero") from error
            steepest = max((-_power(value) for value in (one, other) if value), default=0)
            if steepest > pole:
                pole = steepest
                continue
            return _power(one - other) if one != other else ORDER


def _power(value: mpf) -> int:
    """k, where the value is c·x**k."""
    return round(float(-mp.log10(abs(value))) / DIGITS)


def _value(expression: Sum, values: dict[str, mpf]) -> mpf:
    total = mpf(0)
    for term in expression.terms:
        product = mpf(term.number.numerator) / term.number.denominator
        for base, exponent in term.factors:
            product *= _value_of(base, values) ** exponent
        total += product
    return total


def _value_of(base: str | Call | Sum, values: dict[str, mpf]) -> mpf:
    if isinstance(base, str):
        return values[base]
    if isinstance(base, Call):
        return getattr(mp, base.function)(_value(base.argument, values))
    return _value(base, values)
