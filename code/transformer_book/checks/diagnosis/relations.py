"""How a learner's answers differ from the right ones: by a factor, a sign, an order, an axis.

Each relation makes a prediction from the right answer. It is said only if the prediction is the
learner's answer, wherever that differs from the right one.
"""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.checks.comparing import Unordered, plain, same
from transformer_book.checks.diagnosis.trials import Leaf, every, is_number

ENOUGH = 3  # differing entries, before a number taken from one of them says anything


@dataclass(frozen=True)
class Relation:
    """What the learner's answer would be, made from the right one, and how that is said.

    `predict` raises an exception, or gives `None`, where the relation makes no sense. If it holds
    on an answer that is not `telling`, that proves nothing. A relation that is not `plain` is
    believed of a single input only if there are many entries. A `loose` one leaves much open.
    """

    text: str
    predict: Callable[[Leaf], Any]
    telling: Callable[[Leaf], bool] = lambda leaf: _amount(leaf) > 1
    plain: bool = False
    loose: bool = False


def related(leaves: Sequence[Leaf], *, loose: bool) -> str | None:
    """The first relation that holds for all of them, as a sentence, or `None`.

    Args:
        leaves: what differs, on all inputs.
        loose: look for those that leave much open; else for the others.
    """
    return _first(relations(leaves), leaves, loose)


def by_arguments(leaves: Sequence[Leaf]) -> str | None:
    """Whether an argument is what is missing, or what is too much."""
    if every(leaves, lambda leaf: leaf.tensors and not _other_kind(leaf)):
        return _first(_with_arguments(leaves), leaves, False)
    return None


def _first(options: Iterable[Relation], leaves: Sequence[Leaf], loose: bool) -> str | None:
    for relation in options:
        if relation.loose == loose and every(leaves, _holds(relation)):
            telling = [leaf for leaf in leaves if relation.telling(leaf)]
            alone = len(leaves) == 1 and not relation.plain and _amount(leaves[0]) < 2 * ENOUGH
            if len(telling) >= min(2, len(leaves)) and not alone:
                return relation.text
    return None


def _amount(leaf: Leaf) -> int:
    """How many entries the longer of the two answers has; numbers tell by themselves."""
    if is_number(leaf.right):
        return 2
    return max(x.numel() if isinstance(x, Tensor) else len(x) for x in (leaf.mine, leaf.right))


def _holds(relation: Relation) -> Callable[[Leaf], bool]:
    def holds(leaf: Leaf) -> bool:
        try:
            found = relation.predict(leaf)
        except Exception:
            return False
        if not relation.plain and _no_number(leaf):
            return False
        if found is None or not is_number(leaf.mine):
            mine = leaf.mine
            if isinstance(found, Tensor) and found.dtype == torch.float64:
                mine = mine.double()  # what was computed from whole numbers, too
            return found is not None and same(mine, found)
        if isinstance(leaf.right, int):
            return plain(leaf.mine) == found
        # Unlike in the check, small numbers do not count as zero here.
        return math.isclose(plain(leaf.mine), plain(found), rel_tol=1e-3, abs_tol=1e-12)

    return holds


def _no_number(leaf: Leaf) -> bool:
    """Whether nothing but nan and infinity differs, which many relations give."""
    if not leaf.tensors or not leaf.mine.is_floating_point():
        return False
    differs = leaf.apart()
    return bool(differs.any()) and not bool(leaf.mine[differs].isfinite().any())


def relations(leaves: Sequence[Leaf]) -> Iterator[Relation]:
    """Those that are worth trying on such answers, the most telling first."""
    first = leaves[0]
    if every(leaves, lambda leaf: leaf.tensors and _other_kind(leaf)):
        yield Relation(
            "The numbers are right, but of another kind.",
            lambda leaf: None if leaf.apart().any() else leaf.mine,
            plain=True,
        )
    elif any(leaf.tensors and _other_kind(leaf) for leaf in leaves):
        return
    elif every(leaves, lambda leaf: leaf.tensors and leaf.right.dim() > 0):
        yield from _of_tensors(leaves)
    elif every(leaves, lambda leaf: is_number(leaf.mine) and is_number(leaf.right)):
        yield from _of_numbers(leaves)
    elif isinstance(first.right, Tensor) and isinstance(first.mine, Tensor):
        yield from _of_shapes(first.right.dim())
    elif isinstance(first.right, Unordered):
        return
    elif isinstance(first.right, (list, tuple)) and isinstance(first.mine, (list, tuple)):
        yield from _of_lists(leaves)


# --- tensors -------------------------------------------------------------------------------------


def _of_tensors(leaves: Sequence[Leaf]) -> Iterator[Relation]:
    whole = every(leaves, lambda leaf: _boolean(leaf) or leaf.everywhere())
    if every(leaves, _boolean):
        yield Relation("All of yours is turned round: True for False.", lambda leaf: ~leaf.right)
    dim = min(leaf.right.dim() for leaf in leaves)
    yield from _rearranged(leaves, dim)
    if every(leaves, _boolean):
        for value, other in ((True, False), (False, True)):
            yield Relation(
                f"Wherever yours differs, it has {value} where {other} belongs.",
                lambda leaf, v=value: torch.where(leaf.apart(), v, leaf.right),
                loose=True,
            )
        return
    yield from _with_arguments(leaves)
    for text, function in _entrywise(leaves):
        constant = text in CONSTANTS
        if whole:
            yield Relation(f"Yours is {text}.", _in_floats(function), plain=constant)
        there = f"Wherever yours differs, it is {text}."
        yield Relation(there, _where_apart(function), plain=constant)
    if every(leaves, _is_float):
        several = len({leaf.trial.name for leaf in leaves}) > 1
        yield Relation(
            f"Yours is the right answer times a number{', not the same for all inputs' * several}."
            if _one_factor_an_input(leaves)
            else "Each tensor of yours is the right one times a number, often not the same for "
            "all.",
            _by_one_factor_alone,
            lambda leaf: leaf.right.numel() >= ENOUGH,
            loose=True,
        )
        yield from _normalised(dim, leaves)


def _other_kind(leaf: Leaf) -> bool:
    """Decimal numbers for whole ones, or numbers for booleans."""
    kinds = [(x.dtype.is_floating_point, x.dtype == torch.bool) for x in (leaf.mine, leaf.right)]
    return kinds[0] != kinds[1]


def _boolean(leaf: Leaf) -> bool:
    return leaf.right.dtype == torch.bool


def _is_float(leaf: Leaf) -> bool:
    return leaf.right.dtype.is_floating_point


def _in_floats(function: Callable[[Leaf, Tensor], Any]) -> Callable[[Leaf], Any]:
    return lambda leaf: function(leaf, leaf.right.double())


def _where_apart(function: Callable[[Leaf, Tensor], Any]) -> Callable[[Leaf], Any]:
    def predict(leaf: Leaf) -> Tensor | None:
        found = function(leaf, leaf.right.double())
        if found is None:
            return None
        return torch.where(leaf.apart(), found, leaf.mine.double())

    return predict


def _axis(leaf: Leaf, axis: int) -> str:
    word = leaf.word(axis)
    if word in ("column", "place"):
        return "the last axis"
    return (
        word.removeprefix("index of ") if word.startswith("index") else f"the axis of the {word}s"
    )


def _rearranged(leaves: Sequence[Leaf], dim: int) -> Iterator[Relation]:
    first = leaves[0]
    for b in range(-1, -dim, -1):
        for a in range(b - 1, -dim - 1, -1):
            yield Relation(
                f"Yours is the right answer with two axes exchanged: {_axis(first, a)} and "
                f"{_axis(first, b)}.",
                lambda leaf, a=a, b=b: leaf.right.transpose(a, b),
            )
    for axis in range(-1, -dim - 1, -1):
        along = _axis(first, axis)
        yield Relation(
            f"Yours is the right answer, reversed along {along}.",
            lambda leaf, x=axis: leaf.right.flip(x),
        )
        if _boolean(first):
            continue  # with two values, too much agrees by chance
        for step, where in ((1, "the last comes first"), (-1, "the first comes last")):
            yield Relation(
                f"Yours is the right answer moved by one along {along}: {where}.",
                lambda leaf, x=axis, s=step: leaf.right.roll(s, x),
            )
        for step, where in ((1, "later"), (-1, "earlier")):
            yield Relation(
                f"Along {along} yours stands one place {where} than the right answer.",
                lambda leaf, x=axis, s=step: _shifted(leaf, x, s),
                lambda leaf, x=axis: leaf.right.size(x) >= ENOUGH,
            )
        yield Relation(
            f"Along {along} yours is sorted.", lambda leaf, x=axis: leaf.right.sort(x).values
        )
        yield Relation(
            f"Along {along} yours is sorted, the largest first.",
            lambda leaf, x=axis: leaf.right.sort(x, descending=True).values,
        )
        yield Relation(
            f"Yours has the right numbers in another order along {along}.",
            lambda leaf, x=axis: _permuted(leaf, x),
        )
        yield Relation(
            f"Along {along} yours has the right numbers in another order, which is not the same "
            "everywhere.",
            lambda leaf, x=axis: (
                leaf.mine if same(leaf.mine.sort(x).values, leaf.right.sort(x).values) else None
            ),
            lambda leaf, x=axis: leaf.right.size(x) >= ENOUGH,
            loose=True,
        )
        yield Relation(
            f"Yours adds up along {along}: each is the sum of all up to there.",
            lambda leaf, x=axis: leaf.right.cumsum(x),
        )
        yield Relation(
            f"Yours is the same at every {first.word(axis)}; the right answer need not be.",
            lambda leaf, x=axis: _first_for_all(leaf.mine, x),
            lambda leaf, x=axis: not same(leaf.right, _first_for_all(leaf.right, x)),
            loose=True,
        )
        for place, word in ((0, "first"), (-1, "last")):
            yield Relation(
                f"Yours repeats the right answer's {word} {first.word(axis)} at every "
                f"{first.word(axis)}.",
                lambda leaf, x=axis, p=place: (
                    leaf.right.select(x, p).unsqueeze(x).expand(leaf.right.shape)
                ),
            )
        for name, function in (("mean", Tensor.mean), ("sum", Tensor.sum)):
            yield Relation(
                f"Along {along} each number of yours is the {name} of the right ones.",
                lambda leaf, x=axis, f=function: f(leaf.right.double(), x, keepdim=True).expand(
                    leaf.right.shape
                ),
            )
        yield Relation(
            f"Yours is interleaved otherwise along {along}: the right numbers, taken in steps.",
            lambda leaf, x=axis: _interleaved(leaf, x),
        )
    if not _boolean(first):
        yield Relation(
            "Yours has the right numbers, and they stand in other places.",
            lambda leaf: (
                leaf.mine
                if same(leaf.mine.flatten().sort().values, leaf.right.flatten().sort().values)
                else None
            ),
            lambda leaf: leaf.right.unique().numel() >= 2 * ENOUGH,
            loose=True,
        )


def _first_for_all(x: Tensor, axis: int) -> Tensor:
    """The first along an axis, repeated all along it."""
    return x.narrow(axis, 0, 1).expand(x.shape)


def _shifted(leaf: Leaf, axis: int, step: int) -> Tensor:
    """The right answer a place later; what comes in at the end is the learner's."""
    size = leaf.right.size(axis)
    found = leaf.right.roll(step, axis).clone()
    edge = 0 if step > 0 else size - 1
    found.select(axis, edge).copy_(leaf.mine.select(axis, edge))
    return found


def _permuted(leaf: Leaf, axis: int) -> Tensor | None:
    """The right answer in the learner's order along an axis, if it is one order for all."""
    size = leaf.right.size(axis)
    if size < 2 or leaf.right.dim() < 2:
        return None
    mine = leaf.mine.double().movedim(axis, 0).flatten(1)
    right = leaf.right.double().movedim(axis, 0).flatten(1)
    order = torch.cdist(mine, right).argmin(dim=1)
    if order.unique().numel() != size:
        return None
    return leaf.right.index_select(axis, order)


def _interleaved(leaf: Leaf, axis: int) -> Tensor | None:
    """The right answer cut along an axis as (a, b), and read as (b, a)."""
    size = leaf.right.size(axis)
    for a in range(2, size // 2 + 1):
        if size % a == 0:
            parts = leaf.right.movedim(axis, -1).unflatten(-1, (a, size // a))
            found = parts.mT.flatten(-2).movedim(-1, axis)
            if same(leaf.mine, found):
                return found
    return None


def _with_arguments(leaves: Sequence[Leaf]) -> Iterator[Relation]:
    """The learner's answer, or its difference from the right one, is an argument."""
    for name, value in leaves[0].trial.given.items():
        if isinstance(value, (list, tuple)):
            yield Relation(
                f"Each number of yours is the one that stands there in one of `{name}`.",
                lambda leaf, n=name: _of_one(leaf, leaf.trial.given[n]),
            )
        if not isinstance(value, Tensor) or value.dtype == torch.bool:
            continue
        yield Relation(f"Yours is `{name}`, unchanged.", lambda leaf, n=name: leaf.trial.given[n])
        yield Relation(
            f"`{name}` is missing in yours: with it added, it would be right.",
            lambda leaf, n=name: leaf.right - leaf.trial.given[n],
        )
        yield Relation(
            f"`{name}` is added once too often in yours.",
            lambda leaf, n=name: leaf.right + leaf.trial.given[n],
        )
        yield Relation(
            f"Yours is the right answer times `{name}`.",
            lambda leaf, n=name: leaf.right * leaf.trial.given[n],
        )
        for other, more in leaves[0].trial.given.items():
            if isinstance(more, Tensor) and more.is_floating_point() and other != name:
                for sign, function in (("+", torch.add), ("-", torch.sub), ("*", torch.mul)):
                    yield Relation(
                        f"Yours is `{name} {sign} {other}`.",
                        lambda leaf, a=name, b=other, f=function: f(
                            leaf.trial.given[a], leaf.trial.given[b]
                        ),
                    )
        yield Relation(
            f"Yours is `{name}` minus the right answer.",
            lambda leaf, n=name: leaf.trial.given[n] - leaf.right,
        )
        yield Relation(
            f"Wherever yours differs, it is what stands there in `{name}`.",
            lambda leaf, n=name: torch.where(leaf.apart(), leaf.trial.given[n], leaf.mine),
            loose=True,
        )


def _of_one(leaf: Leaf, items: Sequence[Any]) -> Tensor:
    """The learner's answer, where each number stands at its place in one of several items."""
    (key,) = ast.literal_eval(leaf.place)  # such as ['weight']
    there = torch.stack([item[key] for item in items])
    return leaf.mine.where((there == leaf.mine).any(dim=0), math.nan)


CONSTANTS = ("nan", "infinite", "−infinite", "0")
Entrywise = tuple[str, Callable[[Leaf, Any], Any]]


def _entrywise(leaves: Sequence[Leaf]) -> Iterator[Entrywise]:
    """Functions of single entries: constants, factors, summands, and what people forget."""
    yield "nan", lambda leaf, x: x * math.nan
    yield "infinite", lambda leaf, x: x * 0 + math.inf
    yield "−infinite", lambda leaf, x: x * 0 - math.inf
    yield "0", lambda leaf, x: 0 * x
    yield "the right answer with the other sign", lambda leaf, x: -x
    yield "the right answer without its sign", lambda leaf, x: abs(x)
    own = [number for leaf in leaves for _, number in _entries(leaf)]
    if len(own) >= ENOUGH and len(set(own)) == 1:
        yield f"{own[0]:.4g}", lambda leaf, x: 0 * x + own[0]
    yield from _factors(leaves)
    yield from _summands(leaves)
    yield "1 minus the right answer", lambda leaf, x: 1 - x
    yield "the inverse (1/x) of the right answer", lambda leaf, x: 1 / x
    yield "the square of the right answer", lambda leaf, x: x * x
    yield "the root of the right answer", lambda leaf, x: x**0.5
    yield "the logarithm of the right answer", lambda leaf, x: _torch(torch.log, x)
    yield "minus the logarithm of the right answer", lambda leaf, x: -_torch(torch.log, x)
    yield "exp of the right answer", lambda leaf, x: _torch(torch.exp, x)
    yield "exp of minus the right answer", lambda leaf, x: _torch(torch.exp, -x)
    yield "the right answer, rounded", lambda leaf, x: _torch(torch.round, x)
    yield "the right answer, rounded down", lambda leaf, x: _torch(torch.floor, x)


def _torch(function: Callable[[Tensor], Tensor], x: Any) -> Any:
    return function(x) if isinstance(x, Tensor) else function(torch.tensor(float(x))).item()


def _telling_entry(leaves: Sequence[Leaf]) -> tuple[float, float] | None:
    """The largest finite right entry that differs, and the learner's number there."""
    pairs = [pair for leaf in leaves[:3] for pair in _entries(leaf)]
    pairs = [pair for pair in pairs if all(map(math.isfinite, pair))]
    return max(pairs, key=lambda pair: abs(pair[0]), default=None)


def _entries(leaf: Leaf) -> list[tuple[float, float]]:
    """Of all differing entries: what is right, and what the learner has."""
    if is_number(leaf.right):
        return [(float(plain(leaf.right)), float(plain(leaf.mine)))]
    places = leaf.apart()
    return list(
        zip(leaf.right[places].double().tolist(), leaf.mine[places].double().tolist(), strict=True)
    )


def _enough(leaves: Sequence[Leaf]) -> bool:
    """Whether so many different entries differ that a number found in one can be believed."""
    right = {round(x, 6) for leaf in leaves for x, _ in _entries(leaf) if math.isfinite(x) and x}
    return len(right) >= ENOUGH


def _factors(leaves: Sequence[Leaf]) -> Iterator[Entrywise]:
    entry = _telling_entry(leaves)
    if entry is None or not entry[0] or not _enough(leaves):
        return
    factor = entry[1] / entry[0]
    for text, function in _expressions(leaves):
        values = [function(leaf) for leaf in leaves]
        near = [v is not None and math.isclose(v, factor, rel_tol=1e-3) for v in values]
        if any(near) and None not in values and len({round(value, 6) for value in values}) > 1:
            yield f"the right answer {text}", lambda leaf, x, f=function: x * f(leaf)
    yield f"the right answer times {factor:.4g}", lambda leaf, x: x * factor
    for text, function in _powers(leaves):
        values = [function(leaf) for leaf in leaves]
        if None not in values and len({round(value, 6) for value in values}) >= ENOUGH:
            rest = factor / function(_leaf_of(leaves, entry))
            yield (
                f"the right answer times {rest:.4g} and {text}",
                lambda leaf, x, f=function, r=rest: x * r * f(leaf),
            )


def _leaf_of(leaves: Sequence[Leaf], entry: tuple[float, float]) -> Leaf:
    """Where an entry was found."""
    return next(leaf for leaf in leaves if entry in _entries(leaf))


def _summands(leaves: Sequence[Leaf]) -> Iterator[Entrywise]:
    entry = _telling_entry(leaves)
    if entry is None or not _enough(leaves):
        return
    summand = entry[1] - entry[0]
    word = "larger" if summand > 0 else "smaller"
    yield f"{word} by {abs(summand):.4g} than the right answer", lambda leaf, x: x + summand
    for name in leaves[0].trial.given:
        if is_number(leaves[0].trial.given[name]):
            for sign, text in ((1, "larger"), (-1, "smaller")):
                yield (
                    f"{text} by `{name}` than the right answer",
                    lambda leaf, x, n=name, s=sign: x + s * float(leaf.trial.given[n]),
                )


Factor = tuple[str, Callable[[Leaf], float | None]]


def _value(leaf: Leaf, name: str) -> float | None:
    found = leaf.trial.sizes.get(name)
    return found if found and found > 0 else None


def _powers(leaves: Sequence[Leaf]) -> Iterator[Factor]:
    """Factors that can be read off an input: sizes, and their roots."""
    for name in leaves[0].trial.sizes:
        for text, power in (
            ("times {}", 1),
            ("divided by {}", -1),
            ("times the root of {}", 0.5),
            ("divided by the root of {}", -0.5),
            ("times the square of {}", 2),
            ("divided by the square of {}", -2),
        ):
            yield (
                text.format(name),
                lambda leaf, n=name, p=power: (
                    None if _value(leaf, n) is None else _value(leaf, n) ** p
                ),
            )


def _expressions(leaves: Sequence[Leaf]) -> Iterator[Factor]:
    """The same, and what is made from them: n / (n − 1), quotients of two."""
    yield from _powers(leaves)
    names = list(leaves[0].trial.sizes)

    def against_one_less(leaf: Leaf, name: str, power: float) -> float | None:
        found = _value(leaf, name)
        return None if found is None or found <= 1 else (found / (found - 1)) ** power

    for name in names:
        for text, power in (
            ("times n / (n − 1), n being {}", 1),
            ("times (n − 1) / n, n being {}", -1),
            ("times the root of n / (n − 1), n being {}", 0.5),
            ("times the root of (n − 1) / n, n being {}", -0.5),
        ):
            yield text.format(name), lambda leaf, n=name, p=power: against_one_less(leaf, n, p)

    def quotient(leaf: Leaf, above: str, below: str, power: float) -> float | None:
        a, b = _value(leaf, above), _value(leaf, below)
        return None if a is None or b is None else (a / b) ** power

    for above in names:
        for below in names:
            if above != below:
                for root, power in (("", 1), ("the root of ", 0.5)):
                    yield (
                        f"times {root}{above} and divided by {root}{below}",
                        lambda leaf, a=above, b=below, p=power: quotient(leaf, a, b, p),
                    )


def _normalised(dim: int, leaves: Sequence[Leaf]) -> Iterator[Relation]:
    """The right answer with something done to it along an axis, as a norm or a softmax does."""
    for axis in range(-1, -dim - 1, -1):
        along = _axis(leaves[0], axis)
        functions: tuple[tuple[str, Callable[[Tensor, int], Tensor]], ...] = (
            ("divided by its sum", lambda x, a: x / x.sum(a, keepdim=True)),
            ("divided by its length", lambda x, a: F.normalize(x, dim=a)),
            ("divided by its largest number", lambda x, a: x / x.amax(a, keepdim=True)),
            ("with its mean subtracted", lambda x, a: x - x.mean(a, keepdim=True)),
            ("with its largest number subtracted", lambda x, a: x - x.amax(a, keepdim=True)),
            ("put through a softmax", lambda x, a: x.softmax(a)),
            ("put through a log-softmax", lambda x, a: x.log_softmax(a)),
            (
                "normalised (mean 0, variance 1)",
                lambda x, a: (
                    (x - x.mean(a, keepdim=True))
                    / (x.var(a, keepdim=True, unbiased=False) + 1e-5).sqrt()
                ),
            ),
        )
        for text, function in functions:
            yield Relation(
                f"Yours is the right answer {text}, along {along}.",
                lambda leaf, f=function, a=axis: f(leaf.right.double(), a),
            )
    yield Relation(
        "Yours is the right answer with what is negative set to 0.",
        lambda leaf: leaf.right.relu(),
    )
    yield Relation("Yours is tanh of the right answer.", lambda leaf: leaf.right.tanh())
    yield from _mended(leaves, dim)
    for axis in range(-1, -dim - 1, -1):
        word = leaves[0].word(axis)
        for text, quotient in (("times", True), ("plus", False)):
            yield Relation(
                f"Yours is the right answer {text} one number for each {word}.",
                lambda leaf, a=axis, q=quotient: _by_one_number(leaf, a, q),
                lambda leaf, a=axis: leaf.right.numel() >= ENOUGH * leaf.right.size(a),
                loose=True,
            )
        yield Relation(
            f"Yours is the right answer times a number that is the same all along "
            f"{_axis(leaves[0], axis)}.",
            lambda leaf, a=axis: _by_one_factor(leaf, a),
            lambda leaf, a=axis: leaf.right.size(a) >= ENOUGH,
            loose=True,
        )
        yield Relation(
            f"The difference from the right answer is the same all along {_axis(leaves[0], axis)}.",
            lambda leaf, a=axis: _by_one_summand(leaf, a),
            lambda leaf, a=axis: leaf.right.size(a) >= ENOUGH,
            loose=True,
        )


def _mended(leaves: Sequence[Leaf], dim: int) -> Iterator[Relation]:
    """What would have to be done to the learner's answer."""
    functions: list[tuple[str, Callable[[Tensor], Tensor]]] = [
        ("After exp", torch.exp),
        ("After a logarithm", torch.log),
        ("After relu", torch.relu),
        ("After a root", torch.sqrt),
        ("Squared", torch.square),
    ]
    for axis in range(-1, -dim - 1, -1):
        along = _axis(leaves[0], axis)
        functions += [
            (f"After a softmax along {along}", lambda x, a=axis: x.softmax(a)),
            (f"After a log-softmax along {along}", lambda x, a=axis: x.log_softmax(a)),
            (f"Divided by its sum along {along}", lambda x, a=axis: x / x.sum(a, True)),
            (f"Added up along {along}", lambda x, a=axis: x.cumsum(a)),
        ]
    for text, function in functions:
        yield Relation(
            f"{text}, yours would be right.",
            lambda leaf, f=function: leaf.mine if same(f(leaf.mine), leaf.right) else None,
        )


def _closely(leaf: Leaf, found: Tensor) -> Tensor | None:
    """A prediction that was fitted, if it is near every entry, the small ones too."""
    near = leaf.mine.double().isclose(found, rtol=1e-3, atol=1e-6 * found.abs().max().item())
    return found if bool(near.all()) else None


def _by_one_number(leaf: Leaf, axis: int, quotient: bool) -> Tensor | None:
    """One factor, or summand, for each index of an axis."""
    others = [a for a in range(-1, -leaf.right.dim() - 1, -1) if a != axis]
    right, mine = leaf.right.double(), leaf.mine.double()
    if quotient:
        factors = (mine * right).sum(others, True) / right.square().sum(others, True)
        return _closely(leaf, right * factors)
    return _closely(leaf, right + (mine - right).mean(others, keepdim=True))


def _by_one_factor(leaf: Leaf, axis: int) -> Tensor | None:
    right, mine = leaf.right.double(), leaf.mine.double()
    return _closely(leaf, right * (mine * right).sum(axis, True) / right.square().sum(axis, True))


def _by_one_factor_alone(leaf: Leaf) -> Tensor | None:
    return _closely(leaf, leaf.right.double() * _factor(leaf))


def _factor(leaf: Leaf) -> Tensor:
    right, mine = leaf.right.double(), leaf.mine.double()
    return (mine * right).sum() / right.square().sum()


def _one_factor_an_input(leaves: Sequence[Leaf]) -> bool:
    """Whether all tensors of an answer, those that are right too, have the same factor.

    Those of zeros have any.
    """
    factors: dict[str, list[Tensor]] = {}
    for leaf in leaves:
        if leaf.right.any():
            factors.setdefault(leaf.trial.name, []).append(_factor(leaf))
    for name, answer in {leaf.trial.name: leaf.trial.right for leaf in leaves}.items():
        parts = [*answer.values()] if isinstance(answer, dict) else answer
        if isinstance(parts, (list, tuple)):
            differ = [x for x in parts if not isinstance(x, Tensor) or x.any()]
            if len(differ) != len(factors.get(name, ())):
                return False
    return all(max(found) - min(found) < 1e-3 * abs(found[0]) for found in factors.values())


def _by_one_summand(leaf: Leaf, axis: int) -> Tensor | None:
    right, mine = leaf.right.double(), leaf.mine.double()
    return _closely(leaf, right + (mine - right).mean(axis, keepdim=True))


# --- numbers -------------------------------------------------------------------------------------


def _of_numbers(leaves: Sequence[Leaf]) -> Iterator[Relation]:
    for name in leaves[0].trial.given:
        if is_number(leaves[0].trial.given[name]):
            yield Relation(
                f"Yours is `{name}`, unchanged.", lambda leaf, n=name: leaf.trial.given[n]
            )
    if len({round(x, 6) for leaf in leaves for _, x in _entries(leaf)}) == 1 and len(leaves) > 2:
        yield Relation(
            f"Yours is {_entries(leaves[0])[0][1]:.4g} on each input that differs.",
            lambda leaf: _entries(leaves[0])[0][1],
        )
    for text, function in _entrywise(leaves):
        yield Relation(
            f"Yours is {text}.",
            lambda leaf, f=function: _as_right(leaf, f(leaf, plain(leaf.right))),
        )


def _as_right(leaf: Leaf, found: float) -> Any:
    """A number in the form in which the learner's stands."""
    if isinstance(leaf.mine, Tensor):
        return torch.tensor(found, dtype=leaf.mine.dtype)
    return int(found) if isinstance(leaf.mine, int) and float(found).is_integer() else found


# --- shapes --------------------------------------------------------------------------------------


def _of_shapes(dim: int) -> Iterator[Relation]:
    """Relations that make a tensor of another shape."""
    yield Relation(
        "The numbers are right, in another shape.",
        lambda leaf: leaf.right.reshape(leaf.mine.shape),
    )
    for b in range(dim):
        for a in range(b):
            yield Relation(
                f"Yours is the right answer with axes {a} and {b} exchanged.",
                lambda leaf, a=a, b=b: leaf.right.transpose(a, b),
            )
    if dim == 3:
        for order in ((1, 2, 0), (2, 0, 1)):
            yield Relation(
                f"Yours is the right answer with its axes in the order {order}.",
                lambda leaf, o=order: leaf.right.permute(o),
            )
    for axis in range(dim):
        options: tuple[tuple[str, Callable[[Tensor, int], Tensor]], ...] = (
            (f"the first along axis {axis} alone", lambda x, a: x.select(a, 0)),
            (f"the last along axis {axis} alone", lambda x, a: x.select(a, -1)),
            (f"the first along axis {axis} alone", lambda x, a: x.narrow(a, 0, 1)),
            (f"the last along axis {axis} alone", lambda x, a: x.narrow(a, x.size(a) - 1, 1)),
            (f"without the last along axis {axis}", lambda x, a: x.narrow(a, 0, x.size(a) - 1)),
            (f"without the first along axis {axis}", lambda x, a: x.narrow(a, 1, x.size(a) - 1)),
            (f"summed over axis {axis}", lambda x, a: x.sum(a)),
            (f"averaged over axis {axis}", lambda x, a: x.double().mean(a)),
            (f"the largest along axis {axis}", lambda x, a: x.amax(a)),
        )
        for text, function in options:
            yield Relation(
                f"Yours is the right answer, {text}.",
                lambda leaf, f=function, a=axis: f(leaf.right, a),
            )
        yield Relation(
            f"Yours is too long along axis {axis}: the right answer, and then more.",
            lambda leaf, a=axis: _longer(leaf, a, 0),
        )
        yield Relation(
            f"Yours has more along axis {axis}: the right answer stands at its end.",
            lambda leaf, a=axis: _longer(leaf, a, leaf.mine.size(a) - leaf.right.size(a)),
        )
        yield Relation(
            f"Yours has less along axis {axis}: it is the beginning of the right answer.",
            lambda leaf, a=axis: leaf.right.narrow(a, 0, leaf.mine.size(a)),
        )
        yield Relation(
            f"Yours has less along axis {axis}: it is the end of the right answer.",
            lambda leaf, a=axis: leaf.right.narrow(
                a, leaf.right.size(a) - leaf.mine.size(a), leaf.mine.size(a)
            ),
        )
    yield Relation("Yours is the sum of the right answer.", lambda leaf: leaf.right.sum())
    yield Relation("Yours is the mean of the right answer.", lambda leaf: leaf.right.mean())
    yield Relation(
        "Yours is the right answer, repeated along an axis that it should not have.",
        lambda leaf: leaf.right.expand(leaf.mine.shape),
    )


def _longer(leaf: Leaf, axis: int, start: int) -> Tensor | None:
    """The learner's answer with the right one in it."""
    extra = leaf.mine.size(axis) - leaf.right.size(axis)
    if extra <= 0 or leaf.mine.dim() != leaf.right.dim() or not leaf.right.numel():
        return None
    found = leaf.mine.clone()
    inside = found.narrow(axis, start, leaf.right.size(axis))
    return None if inside.shape != leaf.right.shape else _copied(found, inside, leaf.right)


def _copied(found: Tensor, inside: Tensor, right: Tensor) -> Tensor:
    inside.copy_(right)
    return found


# --- lists ---------------------------------------------------------------------------------------


def _of_lists(leaves: Sequence[Leaf]) -> Iterator[Relation]:
    options: tuple[tuple[str, Callable[[list[Any]], list[Any]]], ...] = (
        ("Yours is the right answer, reversed.", lambda r: r[::-1]),
        ("Yours is the right answer, sorted.", lambda r: sorted(r)),
        ("Yours is the right answer without its last item.", lambda r: r[:-1]),
        ("Yours is the right answer without its first item.", lambda r: r[1:]),
        ("Yours is the first item of the right answer alone.", lambda r: r[:1]),
        ("Yours is the last item of the right answer alone.", lambda r: r[-1:]),
        ("Yours is the right answer, its last item twice.", lambda r: [*r, *r[-1:]]),
        ("Yours is empty.", lambda r: []),
        ("Each of yours is the right one plus 1.", lambda r: [x + 1 for x in r]),
        ("Each of yours is the right one minus 1.", lambda r: [x - 1 for x in r]),
        (
            "Yours is the right answer, each item only once.",
            lambda r: list(dict.fromkeys(r)),
        ),
        (
            "Yours is the right answer moved by one place: the last item comes first.",
            lambda r: [*r[-1:], *r[:-1]],
        ),
        (
            "Yours is the right answer moved by one place: the first item comes last.",
            lambda r: [*r[1:], *r[:1]],
        ),
    )
    for text, function in options:
        alone = text.endswith("alone.")
        if "only once" in text and len(leaves) == 1:
            continue  # one list may have few that come twice
        yield Relation(text, lambda leaf, f=function: f(list(leaf.right)), plain=not alone)
    met = {item for leaf in leaves for item in (*leaf.mine, *leaf.right)}
    often = [(Counter(leaf.mine), Counter(leaf.right)) for leaf in leaves]
    # First those that come another number of times in most answers.
    alike = {item: sum(mine[item] == right[item] for mine, right in often) for item in met}
    for item in sorted(met, key=lambda item: (alike[item], str(item)))[:30]:
        if isinstance(item, int) and item > 3 and len(leaves) < ENOUGH:
            continue  # an id that means nothing, met by chance
        said = named(item)
        yield Relation(
            f"Yours is the right answer with {said} in front.",
            lambda leaf, i=item: [i, *leaf.right],
        )
        yield Relation(
            f"Yours is the right answer with {said} behind it.",
            lambda leaf, i=item: [*leaf.right, i],
        )
        yield Relation(
            f"Yours is the right answer without {said}.",
            lambda leaf, i=item: [x for x in leaf.right if x != i],
        )
        yield Relation(
            f"Without {said} yours would be right.",
            lambda leaf, i=item: (
                leaf.mine if [x for x in leaf.mine if x != i] == [*leaf.right] else None
            ),
        )
        yield Relation(
            f"Wherever yours differs, it has {said}.",
            lambda leaf, i=item: _put_in(leaf, i, lambda own, right: own != right),
            lambda leaf: len(leaf.right) >= ENOUGH,
        )
        yield Relation(
            f"Yours differs only where {said} belongs.",
            lambda leaf, i=item: [
                own if right == i else right
                for own, right in zip(leaf.mine, leaf.right, strict=True)
            ],
            lambda leaf: len(leaf.right) >= ENOUGH,
        )
    yield Relation(
        "The right answer is empty, and yours is not.",
        lambda leaf: None if leaf.right else leaf.mine,
    )
    yield Relation(
        "Yours begins with the right answer, and then goes on.",
        lambda leaf: [*leaf.right, *leaf.mine[len(leaf.right) :]],
        lambda leaf: bool(leaf.right),
    )
    yield Relation(
        "Yours is the beginning of the right answer: it ends too early.",
        lambda leaf: list(leaf.right[: len(leaf.mine)]),
    )
    yield Relation(
        "Yours ends with the right answer, and has more in front.",
        lambda leaf: (
            leaf.mine
            if list(leaf.mine[len(leaf.mine) - len(leaf.right) :]) == [*leaf.right]
            and len(leaf.mine) > len(leaf.right)
            else None
        ),
        lambda leaf: bool(leaf.right),
    )
    yield Relation(
        "Yours has the right items in another order.",
        lambda leaf: leaf.mine if sorted(leaf.mine) == sorted(leaf.right) else None,
    )
    yield Relation(
        "Yours is right but for its last item.",
        lambda leaf: [*leaf.right[:-1], leaf.mine[-1]],
        lambda leaf: len(leaf.right) >= ENOUGH,
        plain=True,
    )
    yield Relation(
        "Yours is right but for its first item.",
        lambda leaf: [leaf.mine[0], *leaf.right[1:]],
        lambda leaf: len(leaf.right) >= ENOUGH,
        plain=True,
    )


def _put_in(leaf: Leaf, item: Any, where: Callable[[Any, Any], bool]) -> list[Any]:
    return [
        item if where(own, right) else right
        for own, right in zip(leaf.mine, leaf.right, strict=True)
    ]


def named(item: Any) -> str:
    """A token, by the name of its id where it is a special one."""
    special = {0: "padding (0)", 1: "<sos> (1)", 2: "<eos> (2)", 3: "<unk> (3)"}
    return special.get(item, repr(item)) if isinstance(item, int) else repr(item)
