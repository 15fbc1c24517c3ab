"""Series in x by exact arithmetic: poles and all, every coefficient a polynomial in the letters.

A `Laurent` holds the coefficients from the lowest power of x up to the order to which it is known.
Each coefficient is a dictionary {monomial: numerator}, and one denominator is common to all. A
monomial such as a**2/b is one number: the exponents of the letters, 24 bits each, the first letter
highest. Multiplying monomials is then adding numbers, and sorting them is sorting by the exponent
of the first letter, then of the second, and so on.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

from transformer_book.tasks.series.expressions import (
    VARIABLE,
    Base,
    Call,
    NotInGrammar,
    Sum,
    join,
    outside,
    read,
    write,
    write_base,
    write_term,
)
from transformer_book.tokens import brief

ORDER = 6
_BITS = 24  # exponents below 2**23 in size: 20 in a power, 200 tokens, some 60 powers of x
_HALF = 1 << (_BITS - 1)
# Beyond these, expressions take longer than anyone would wait. Generated ones stay far below.
_DEEPEST = 60
_MOST_PRODUCTS = 100_000

Polynomial: TypeAlias = dict[int, int]


@dataclass(frozen=True, slots=True)
class Laurent:
    """Σ rows[i] / denominator · x**(low + i), known up to O(x**order).

    The first row is not empty. Without rows, nothing below O(x**order) is known to be there.
    """

    low: int
    rows: list[Polynomial]
    denominator: int = 1

    @property
    def order(self) -> int:
        return self.low + len(self.rows)


def series_of(text: str) -> str:
    """The Taylor or Laurent series of an expression about x = 0 to O(x**6), in canonical form.

    The terms have ascending powers of x. A coefficient that is a sum is in parentheses, except
    at x**0; its terms are ordered by the exponent of the first letter of the alphabet that occurs,
    the highest first, then by that of the second, and so on:

        >>> series_of("exp(a*x)*tan(b*x)/x")
        'b+a*b*x+x**2*(a**2*b/2+b**3/3)+x**3*(a**3*b/6+a*b**3/3)+...+O(x**6)'     # doctest: +SKIP

    Raises:
        ValueError: the expression is not in the grammar, which the message gives. In particular,
            functions need an argument without a constant term, and in a divisor the coefficient of
            the lowest power of x has to be a single product: 1/(1+sin(a*x)), not
            1/(sin(a*x)+sin(b*x)).
    """
    expression = read(text)
    try:
        return write_series(expression)
    except NotInGrammar as error:
        raise outside(text, error) from error
    except RecursionError as error:
        raise outside(text, "it is nested too deeply") from error


def write_series(expression: Sum, order: int = ORDER) -> str:
    """The canonical series of an expression: see `series_of`.

    Raises:
        NotInGrammar: it has no such series.
    """
    letters = _letters(expression)
    series = expand(expression, order)
    terms: list[str] = []
    for power, row in enumerate(series.rows, series.low):
        x = [(VARIABLE, power)] if power else []
        alone = len(row) == 1
        written = []
        for monomial, value in sorted(row.items(), reverse=True):
            common = math.gcd(value, series.denominator)
            factors = _unpack(monomial, letters) + (x if alone else [])
            written.append(write_term(value // common, series.denominator // common, factors))
        if alone or not x:
            terms += written
        elif written:
            terms.append(write_term(1, 1, [*x, (f"({join(written)})", 1)]))
    return join([*terms, f"O({VARIABLE}**{order})"])


def _unpack(monomial: int, letters: list[str]) -> list[tuple[str, int]]:
    """The letters with their exponents: the digits of a number, from -2**23 to 2**23 - 1."""
    factors = []
    for letter in reversed(letters):
        exponent = (monomial + _HALF) % (2 * _HALF) - _HALF
        monomial = (monomial - exponent) >> _BITS
        if exponent:
            factors.append((letter, exponent))
    return factors[::-1]


def expand(expression: Sum, order: int = ORDER) -> Laurent:
    """The series of an expression up to O(x**order).

    Raises:
        NotInGrammar: it has no such series.
    """
    evaluate = _evaluation(*_letters(expression))
    depth = order
    # Poles and divisors use up known terms: try, see how many are missing, start that much deeper.
    while depth <= _DEEPEST:
        try:
            series = evaluate.sum(expression, depth)
        except _Unknown:
            depth += order
            continue
        if series.order >= order:
            return _cut(series, order)
        depth += order - series.order
    raise NotInGrammar(
        f"a divisor has no term below {VARIABLE}**{_DEEPEST}, or its pole is as high as that"
    )


class _Unknown(Exception):
    """A divisor has no known term: more terms are needed."""


class _Evaluation:
    """Evaluates expressions in given letters. Constants and letters are exact to any depth."""

    def __init__(self, letters: tuple[str, ...]):
        last = len(letters) - 1
        self.monomials = {letter: 1 << _BITS * (last - i) for i, letter in enumerate(letters)}
        # Those of a few functions come again and again; nothing changes a series once it is made.
        self.power = lru_cache(maxsize=500)(self._power)

    def sum(self, expression: Sum, depth: int) -> Laurent:
        total = Laurent(depth, [])
        for number, factors in expression.terms:
            product = _constant(number.numerator, number.denominator, depth)
            for base, exponent in factors:
                product = _multiply(product, self.power(base, exponent, depth))
            total = _add(total, product)
        return total

    def _power(self, base: Base, exponent: int, depth: int) -> Laurent:
        if isinstance(base, str):
            if base == VARIABLE:
                return Laurent(exponent, _constant(1, 1, depth).rows)
            return Laurent(0, [{self.monomials[base] * exponent: 1}, *_nothing(depth - 1)])
        series = self.base(base, depth)
        result = series
        for _ in range(abs(exponent) - 1):
            result = _multiply(result, series)
        if exponent < 0:
            result = _invert(result, base)
        return result

    def base(self, base: Call | Sum, depth: int) -> Laurent:
        if isinstance(base, Sum):
            return self.sum(base, depth)
        argument = self.sum(base.argument, depth)
        if argument.low < 1:
            raise NotInGrammar(
                f"the argument of {base.function}({brief(write(base.argument))}) does not vanish "
                f"at {VARIABLE} = 0"
            )
        return _compose(base.function, argument)


@lru_cache(maxsize=64)
def _evaluation(*letters: str) -> _Evaluation:
    return _Evaluation(letters)


def _letters(expression: Sum) -> list[str]:
    found: set[str] = set()

    def visit(part: Sum) -> None:
        for _, factors in part.terms:
            for base, _ in factors:
                if isinstance(base, str):
                    found.add(base)
                else:
                    visit(base.argument if isinstance(base, Call) else base)

    visit(expression)
    return sorted(found - {VARIABLE})


# --- arithmetic -----------------------------------------------------------------------------------


def _nothing(n: int) -> list[Polynomial]:
    return [{} for _ in range(n)]


def _constant(numerator: int, denominator: int, depth: int) -> Laurent:
    return Laurent(0, [{0: numerator}, *_nothing(depth - 1)], denominator)


def _cut(series: Laurent, order: int) -> Laurent:
    rows = series.rows[: max(order - series.low, 0)]
    return _tidy(min(series.low, order), rows, series.denominator)


def _tidy(low: int, rows: list[Polynomial], denominator: int) -> Laurent:
    """Without zeros, without empty rows in front, and with the smallest denominator."""
    rows = [{monomial: v for monomial, v in row.items() if v} for row in rows]
    empty = next((i for i, row in enumerate(rows) if row), len(rows))
    low, rows = low + empty, rows[empty:]
    common = math.gcd(denominator, *(v for row in rows for v in row.values()))
    if common > 1:
        rows = [{monomial: v // common for monomial, v in row.items()} for row in rows]
    return Laurent(low, rows, denominator // common)


def _add(left: Laurent, right: Laurent) -> Laurent:
    order = min(left.order, right.order)
    low = min(left.low, right.low, order)
    denominator = math.lcm(left.denominator, right.denominator)
    rows = _nothing(order - low)
    for series in (left, right):
        scale = denominator // series.denominator
        # Rows at or beyond `order` are not known in the sum: zip leaves them out.
        for row, new in zip(series.rows, rows[series.low - low :], strict=False):
            for monomial, value in row.items():
                new[monomial] = new.get(monomial, 0) + value * scale
    return _tidy(low, rows, denominator)


def _multiply(left: Laurent, right: Laurent) -> Laurent:
    known = min(len(left.rows), len(right.rows))
    rows = _nothing(known)
    work = 0
    for i, row in enumerate(left.rows):
        if row:
            for new, other in zip(rows[i:], right.rows, strict=False):
                work = _accumulate(new, row, other, work)
    return _tidy(left.low + right.low, rows, left.denominator * right.denominator)


def _accumulate(
    into: Polynomial, left: Polynomial, right: Polynomial, work: int, scale: int = 1
) -> int:
    """into += scale * left * right; returns `work` plus the number of products."""
    work += len(left) * len(right)
    if work > _MOST_PRODUCTS:
        raise NotInGrammar("its coefficients have too many terms")
    for m, a in left.items():
        a *= scale
        for n, b in right.items():
            into[m + n] = into.get(m + n, 0) + a * b
    return work


def _invert(series: Laurent, base: Call | Sum) -> Laurent:
    """1 / series, where the lowest coefficient is a single product, first = a*m.

    Σ c_i x**i with c_0 = 1 and c_n = -Σ_{i≥1} rows[i]/(a*m) c_{n-i}, over a*m. To stay with whole
    numbers, C_n = a**n c_n.
    """
    if not series.rows:
        raise _Unknown
    if len(series.rows[0]) > 1:
        raise NotInGrammar(
            f"in the divisor {brief(write_base(base))} the coefficient of the lowest power of "
            f"{VARIABLE} is a sum, not a single product"
        )
    ((monomial, first),) = series.rows[0].items()
    known = len(series.rows)
    rest = [{m - monomial: v for m, v in row.items()} for row in series.rows]
    rows: list[Polynomial] = [{0: 1}, *_nothing(known - 1)]
    work = 0
    for n in range(1, known):
        for i in range(1, n + 1):
            if rest[i]:
                work = _accumulate(rows[n], rest[i], rows[n - i], work, -(first ** (i - 1)))
    # 1/series = denominator/(a*m) * Σ C_n/a**n x**n, over the common denominator a**known.
    sign = 1 if first > 0 or known % 2 == 0 else -1
    for n, row in enumerate(rows):
        scale = sign * series.denominator * first ** (known - 1 - n)
        rows[n] = {m - monomial: v * scale for m, v in row.items()}
    return _tidy(-series.low, rows, abs(first) ** known)


def _compose(function: str, argument: Laurent) -> Laurent:
    """Σ_k f_k argument**k, where the argument has no constant term."""
    order = argument.order
    if argument.rows and not any(argument.rows[1:]) and len(argument.rows[0]) == 1:
        return _compose_with_product(function, argument)
    coefficients = _coefficients(function, order)
    total = _add(Laurent(order, []), _scaled(coefficients[0], _constant(1, 1, order)))
    power = argument
    for k in range(1, order):
        if k > 1:
            power = _multiply(power, argument)
        if power.low >= order:
            break
        if coefficients[k]:
            total = _add(total, _scaled(coefficients[k], power))
    return total


def _compose_with_product(function: str, argument: Laurent) -> Laurent:
    """The frequent case argument = number * monomial * x**low: every power is a single product."""
    ((monomial, value),) = argument.rows[0].items()
    order, number = argument.order, Fraction(value, argument.denominator)
    numerators, denominator = _rescaled_coefficients(function, number, -(-order // argument.low))
    rows = _nothing(order)
    for k, numerator in enumerate(numerators):
        if numerator:
            rows[k * argument.low] = {k * monomial: numerator}
    return _tidy(0, rows, denominator)


@lru_cache(maxsize=1024)
def _rescaled_coefficients(function: str, number: Fraction, n: int) -> tuple[list[int], int]:
    """The first n coefficients of f(number*t) as whole numbers over a common denominator."""
    values = [c * number**k for k, c in enumerate(_coefficients(function, n))]
    denominator = math.lcm(*(value.denominator for value in values))
    return [value.numerator * (denominator // value.denominator) for value in values], denominator


def _scaled(factor: Fraction, series: Laurent) -> Laurent:
    rows = [{m: v * factor.numerator for m, v in row.items()} for row in series.rows]
    return Laurent(series.low, rows, series.denominator * factor.denominator)


@lru_cache(maxsize=256)
def _coefficients(function: str, n: int) -> tuple[Fraction, ...]:
    """The first n Taylor coefficients of a function, exactly."""
    if function in ("tan", "tanh"):
        # f' = 1 ± f**2 gives each coefficient from those before it.
        sign = 1 if function == "tan" else -1
        f = [Fraction(0)]
        for k in range(1, n):
            square = sum(f[i] * f[k - 1 - i] for i in range(k))
            f.append(((k == 1) + sign * square) / Fraction(k))
        return tuple(f[:n])
    parities = {"exp": (0, 1), "sin": (1,), "sinh": (1,), "cos": (0,), "cosh": (0,)}[function]
    alternating = function in ("sin", "cos")
    return tuple(
        Fraction((-1) ** (k // 2) if alternating else 1, math.factorial(k)) * (k % 2 in parities)
        for k in range(n)
    )
