"""Expressions in x: how they are built, read and written, each in one canonical way.

An expression is a `Sum` of `Term`s; a term is a rational number times a product of powers; the base
of a power is x or another letter, a `Call` such as sin(a*x), or a sum. The functions here build
such values in a canonical form, so that `a*x+x` and `x*a+x`, or `exp(a*x)**2` and `exp(2*a*x)`, are
the same value with the same spelling:

* factors of a product: numbers, letters in alphabetical order, functions in the order of
  `FUNCTIONS`, then by argument, then sums in parentheses; all divisors follow a single `/`;
* terms of a sum: by their factors in that order, higher powers first, numbers last;
* equal factors become a power, equal terms a multiple, and a number that all terms of a factor
  share stands before the product, as in -2*sin(a*x)*(cos(b*x)-tan(c*x));
* a product or power of exponentials becomes one exponential, such as exp(3*a*x) or exp(x*(a-b)).

Nothing is expanded, and no other identity is used.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from transformer_book.tokens import MathTokenizer, brief

VARIABLE = "x"
FUNCTIONS = ("exp", "sin", "cos", "tan", "sinh", "cosh", "tanh")
MAX_EXPONENT = 20
MAX_TOKENS = 200
_MAX_BITS = 2000
GRAMMAR = (
    "whole numbers, single letters, + - * / **, parentheses, whole exponents up to "
    f"{MAX_EXPONENT}, and {' '.join(FUNCTIONS)} of an argument that vanishes at x = 0, "
    "such as sin(3*a*x)"
)


class NotInGrammar(ValueError):
    """An expression without a canonical series here; the message says why."""


class Call(NamedTuple):
    """A function of an expression: sin(a*x)."""

    function: str
    argument: Sum


class Term(NamedTuple):
    """A number times powers: 3*a**2*x/2. The factors are in canonical order."""

    number: Fraction
    factors: tuple[tuple[Base, int], ...]


class Sum(NamedTuple):
    """A sum of terms in canonical order; no terms make zero."""

    terms: tuple[Term, ...]


Base: TypeAlias = "str | Call | Sum"
ZERO, ONE = Sum(()), Sum((Term(Fraction(1), ()),))


# --- building -------------------------------------------------------------------------------------


def number(value: int | Fraction) -> Sum:
    """A constant."""
    return _sum([Term(Fraction(value), ())])


def symbol(letter: str) -> Sum:
    """x, or a letter that stands for a constant."""
    return Sum((Term(Fraction(1), ((letter, 1),)),))


def call(function: str, argument: Sum) -> Sum:
    """A function of an expression."""
    return _product(Fraction(1), [(Call(function, argument), 1)])


def add(*sums: Sum) -> Sum:
    """The sum of expressions."""
    return _sum(term for one in sums for term in one.terms)


def multiply(left: Sum, right: Sum) -> Sum:
    """The product of two expressions; only numbers are distributed over a sum."""
    (a, factors), (b, others) = _as_term(left), _as_term(right)
    return _product(a * b, [*factors, *others])


def negate(expression: Sum) -> Sum:
    """The expression with its sign changed."""
    return Sum(tuple(Term(-value, factors) for value, factors in expression.terms))


def subtract(left: Sum, right: Sum) -> Sum:
    """The difference of two expressions."""
    return add(left, negate(right))


def power(base: Sum, exponent: int) -> Sum:
    """A whole power of an expression.

    Raises:
        NotInGrammar: the exponent is beyond `MAX_EXPONENT`, or the power is 0**0 or divides by 0.
    """
    value, factors = _as_term(base)
    if abs(exponent) > MAX_EXPONENT:
        raise NotInGrammar(f"the exponent {brief(str(exponent))} is beyond {MAX_EXPONENT}")
    if value == 0 and exponent <= 0:
        raise NotInGrammar("it divides by zero" if exponent else "0**0 has no value")
    return _product(value**exponent, [(base, n * exponent) for base, n in factors])


def divide(left: Sum, right: Sum) -> Sum:
    """The quotient of two expressions."""
    return multiply(left, power(right, -1))


def _as_term(expression: Sum) -> Term:
    if len(expression.terms) == 1:
        return expression.terms[0]
    return Term(Fraction(1), ((expression, 1),)) if expression.terms else Term(Fraction(0), ())


def _sum(terms: Iterable[Term]) -> Sum:
    numbers: dict[tuple[tuple[Base, int], ...], Fraction] = {}
    for value, factors in terms:
        numbers[factors] = numbers.get(factors, 0) + value
    kept = [Term(_bounded(value), factors) for factors, value in numbers.items() if value]
    return Sum(tuple(sorted(kept, key=_term_key)))


def _product(value: Fraction, factors: Iterable[tuple[Base, int]]) -> Sum:
    exponents: dict[Base, int] = {}
    exponential = ZERO
    for base, exponent in factors:
        if isinstance(base, Call) and base.function == "exp":
            multiple = (Term(a * exponent, rest) for a, rest in _spread(base.argument))
            exponential = _sum([*exponential.terms, *multiple])
            continue
        if isinstance(base, Sum):
            content, base = _primitive(base)
            value *= content**exponent
        exponents[base] = exponents.get(base, 0) + exponent
    if exponential.terms:
        exponents[Call("exp", _gathered(exponential))] = 1
    if value == 0:
        return ZERO
    for exponent in exponents.values():
        if abs(exponent) > MAX_EXPONENT:
            raise NotInGrammar(f"the exponent {brief(str(exponent))} is beyond {MAX_EXPONENT}")
    kept = sorted(
        ((base, exponent) for base, exponent in exponents.items() if exponent),
        key=lambda factor: _base_key(factor[0]),
    )
    if len(kept) == 1 and isinstance(kept[0][0], Sum) and kept[0][1] == 1:
        return Sum(tuple(Term(_bounded(a * value), rest) for a, rest in kept[0][0].terms))
    return Sum((Term(_bounded(value), tuple(kept)),))


def _primitive(expression: Sum) -> tuple[Fraction, Sum]:
    """A number times a sum whose coefficients are coprime integers, the first of them positive."""
    numbers = [term.number for term in expression.terms]
    content = Fraction(
        math.gcd(*(value.numerator for value in numbers)),
        math.lcm(*(value.denominator for value in numbers)),
    )
    if numbers[0] < 0:
        content = -content
    if content == 1:
        return content, expression
    return content, Sum(tuple(Term(value / content, rest) for value, rest in expression.terms))


_X = (VARIABLE, 1)


def _spread(argument: Sum) -> Iterator[Term]:
    """The terms of an exponent, those of x*(a+b) one by one."""
    for value, factors in argument.terms:
        match factors:
            case ((letter, 1), (Sum() as inner, 1)) if letter == VARIABLE:
                for a, rest in inner.terms:
                    yield from _product(value * a, [*rest, _X]).terms
            case _:
                yield Term(value, factors)


def _gathered(argument: Sum) -> Sum:
    """An exponent of several terms, x before the others in parentheses: x*(a+b)."""
    if len(argument.terms) < 2 or not all(_X in factors for _, factors in argument.terms):
        return argument
    inner = _sum(
        Term(value, tuple(factor for factor in factors if factor != _X))
        for value, factors in argument.terms
    )
    content, inner = _primitive(inner)
    if content < 0:  # exp(x*(-a+b)), not exp(-x*(a-b))
        content, inner = -content, negate(inner)
    return Sum((Term(content, (_X, (inner, 1))),))


def _bounded(value: Fraction) -> Fraction:
    # Repeated powers would otherwise make numbers that fill the memory: ((9**20)**20)**20, …
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_BITS:
        raise NotInGrammar(f"a number in it has more than {_MAX_BITS} binary digits")
    return value


def _term_key(term: Term) -> tuple:
    return (not term.factors, _factors_key(term), term.number)


def _factors_key(term: Term) -> tuple:
    return tuple((_base_key(base), -exponent) for base, exponent in term.factors)


def _base_key(base: Base) -> tuple:
    if isinstance(base, str):
        return (0, base)
    if isinstance(base, Call):
        return (1, FUNCTIONS.index(base.function), *map(_term_key, base.argument.terms))
    return (2, *map(_term_key, base.terms))


# --- writing --------------------------------------------------------------------------------------


def write(expression: Sum) -> str:
    """The expression in Python's notation, without spaces."""
    return join(_signed(term) for term in expression.terms) or "0"


def join(terms: Iterable[str]) -> str:
    """Terms, each with its minus sign if it has one, as a sum."""
    return "".join(t if t.startswith("-") else f"+{t}" for t in terms).removeprefix("+")


def write_term(numerator: int, denominator: int, factors: Iterable[tuple[str, int]]) -> str:
    """A product of a number and powers, negative powers after a single `/`: -3*a**2*x/(2*b)."""
    above = [str(abs(numerator))] if abs(numerator) != 1 else []
    below = [str(denominator)] if denominator != 1 else []
    for base, exponent in factors:
        side = above if exponent > 0 else below
        side.append(base if abs(exponent) == 1 else f"{base}**{abs(exponent)}")
    text = ("-" if numerator < 0 else "") + ("*".join(above) or "1")
    if below:
        text += f"/{below[0]}" if len(below) == 1 else f"/({'*'.join(below)})"
    return text


def _signed(term: Term) -> str:
    factors = ((write_base(base), exponent) for base, exponent in term.factors)
    return write_term(term.number.numerator, term.number.denominator, factors)


def write_base(base: Base) -> str:
    """What may stand before `**`: a letter, a function, or a sum in parentheses."""
    if isinstance(base, str):
        return base
    if isinstance(base, Call):
        return f"{base.function}({write(base.argument)})"
    return f"({write(base)})"


def shape(expression: Sum) -> str:
    """The expression with its letters left out, terms and factors sorted without them.

    Two expressions that differ by a renaming of letters have the same shape, whatever order the
    new letters lead to. (So do some that differ in more than that, such as sin(a*x)*cos(b*x) and
    sin(a*x)*cos(a*x).)
    """
    terms = []
    for value, factors in expression.terms:
        bases = []
        for base, exponent in factors:
            if isinstance(base, Sum):
                # Whether a product holds A-B or -(B-A) depends on the letters: both are one shape.
                either = min(shape(base), shape(negate(base)))
                value = abs(value) if exponent % 2 else value
                bases.append(f"({either})^{exponent}")
            elif isinstance(base, Call):
                bases.append(f"{base.function}({shape(base.argument)})^{exponent}")
            else:
                bases.append(f"{base if base == VARIABLE else '_'}^{exponent}")
        terms.append(f"{value}.{'.'.join(sorted(bases))}")
    return "+".join(sorted(terms))


# --- reading --------------------------------------------------------------------------------------


def read(text: str) -> Sum:
    """Read an expression in Python's notation.

    Raises:
        ValueError: the text is not in the grammar, which the message gives.
    """
    try:
        if not isinstance(text, str):
            raise NotInGrammar("it is not a text")
        if not text.strip():
            raise NotInGrammar("it is empty")
        tokens = _tokenize(text)
        if len(tokens) > MAX_TOKENS:
            raise NotInGrammar(f"it has {len(tokens)} tokens, more than {MAX_TOKENS}")
        return _build(ast.parse("".join(tokens), mode="eval").body)
    except NotInGrammar as error:
        raise outside(text, error) from error
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise outside(text, "it cannot be read, since a part is missing or misplaced") from error


def outside(text: object, problem: object) -> NotInGrammar:
    """The error for an expression outside the grammar: what is wrong, and what is allowed."""
    shown = brief(repr(text), "'")
    return NotInGrammar(f"{shown} is not in the grammar: {problem}; the grammar has {GRAMMAR}.")


def _tokenize(text: str) -> list[str]:
    try:
        return MathTokenizer()(text)
    except ValueError as error:  # which goes on to say what that tokenizer accepts
        raise NotInGrammar(str(error).split("; the grammar")[0]) from error


_OPERATORS: dict[type, Callable[[Sum, Sum], Sum]] = {
    ast.Add: add,
    ast.Sub: subtract,
    ast.Mult: multiply,
    ast.Div: divide,
}


def _build(node: ast.expr) -> Sum:
    match node:
        case ast.Constant(value=int(value)):
            return number(value)
        case ast.Name(id=name) if len(name) == 1:
            return symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return negate(_build(operand))
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _build(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return power(_build(left), _exponent(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_build(left), _build(right))
        case ast.Call(func=ast.Name(id=name), args=[argument]) if name in FUNCTIONS:
            return call(name, _build(argument))
        case ast.Call(func=ast.Name(id=name)) if name in FUNCTIONS:
            raise NotInGrammar(f"{name} takes one argument")
    raise NotInGrammar(f"{_quoted(node)} does not belong there")


def _quoted(node: ast.expr) -> str:
    return brief(repr(ast.unparse(node)), "'")


def _exponent(node: ast.expr) -> int:
    terms = _build(node).terms
    if not terms:
        return 0
    value, factors = terms[0]
    if len(terms) > 1 or factors or value.denominator != 1:
        raise NotInGrammar(f"the exponent {_quoted(node)} is not a whole number")
    return value.numerator
