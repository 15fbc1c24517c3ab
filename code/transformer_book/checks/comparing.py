"""How answers are compared: up to rounding, in value, shape and kind, and in words."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

FEW = 12  # numbers: an input of so many is shown


class Unordered(list[Any]):
    """Items of which the order is free, each of them once; sorted, so that they can be compared."""


def same(a: Any, b: Any) -> bool:
    """Equal up to rounding, in value, shape and kind; `None` and numbers and lists included."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):  # most are asked for: without the words
        return a.shape == b.shape and _of_one_kind(a, b) and not _apart_somewhere(a, b)
    return difference(a, b) is None


def difference(got: Any, expected: Any, where: str = "") -> str | None:
    """The first difference in words, or `None`."""
    place = f" at {where}" if where else ""
    if isinstance(expected, Tensor):
        return _tensor_difference(got, expected, where)
    if isinstance(expected, bool) or expected is None or isinstance(expected, str):
        equal = type(got) is type(expected) and got == expected
        return None if equal else f"{_told(brief(got), where)} {expected!r}"
    if isinstance(expected, int):
        got = plain(got)
        equal = type(got) in (int, float) and got == expected  # not of a kind that equals all
        return None if equal else f"{_told(brief(got), where)} {brief(expected)}"
    if isinstance(expected, float):
        got = plain(got)
        if isinstance(got, bool) or not isinstance(got, (int, float)):
            return f"{_told(brief(got), where)} a number"
        # A learning rate may be far below a millionth, and is no zero.
        if math.isclose(got, expected, rel_tol=2e-5, abs_tol=1e-12 if expected else 1e-6):
            return None
        mine, right = apart_in_words(got, expected)
        return f"{_told(mine, where)} {right}"
    if isinstance(expected, dict):
        if not isinstance(got, dict):
            return f"you return {brief(got)}{place}, it should be a dictionary"
        if got.keys() != expected.keys():
            odd = sorted(map(str, got.keys() ^ expected.keys()))[:3]
            return f"your dictionary{place} differs in its keys: {', '.join(odd)}"
        pairs = [(where + _key(key), got[key], expected[key]) for key in expected]
    else:
        if not isinstance(got, (list, tuple)):
            return f"you return {brief(got)}{place}, it should be a {type(expected).__name__}"
        if isinstance(got, Unordered) and isinstance(expected, Unordered):
            return _of_items(got, expected, where)
        if len(got) != len(expected):
            items = f"{len(got)} item{'s' * (len(got) != 1)}"
            told = f"you return {items}{place}, it should be {len(expected)}"
            least = min(len(got), len(expected))
            first = difference(list(got[:least]), list(expected[:least]), where)
            return f"{told}; {first}" if first else told
        pairs = [(f"{where}[{i}]", *pair) for i, pair in enumerate(zip(got, expected, strict=True))]
    return next(
        (found for name, mine, right in pairs if (found := difference(mine, right, name))), None
    )


def _told(got: str, where: str) -> str:
    """What is there: what has a name may be seen by the check, and not be returned."""
    place = f" at {where}" if where else ""
    named = where.startswith(("['", "“"))
    return f"{f'{where} is {got}' if named else f'you return {got}{place}'}, it should be"


def _of_items(got: Unordered, expected: Unordered, where: str) -> str | None:
    """What is missing, and what should not be there."""
    missing, odd = ([x for x in a if x not in b] for a, b in ((expected, got), (got, expected)))
    told = []
    for word, items in (("lacks", missing), ("should not hold", odd)):
        few_of = [*map(brief, items[:4]), *([f"and {len(items) - 4} more"] if items[4:] else [])]
        told += [f"{word} {', '.join(few_of)}"] if items else []
    return f"yours{f' ({where})' if where else ''} {', and '.join(told)}" if told else None


def _key(key: Any) -> str:
    """A key of a dictionary, or, in words, what the check has seen for itself."""
    return f"“{key}”" if " " in str(key) else f"[{key!r}]"


def plain(number: Any) -> Any:
    """A number out of a tensor of one entry, or out of NumPy; all else as it is."""
    if isinstance(number, Tensor):
        return number.item() if number.numel() == 1 else number
    return number.item() if getattr(number, "ndim", None) == 0 else number


def holds_nan(value: Any) -> bool:
    """Whether nan is somewhere in it, which is neither above nor below anything."""
    value = plain(value)
    if isinstance(value, Tensor):
        return value.is_floating_point() and bool(value.isnan().any())
    if isinstance(value, dict):
        return any(map(holds_nan, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(holds_nan, value))
    return isinstance(value, float) and math.isnan(value)


def _tensor_difference(got: Any, expected: Tensor, where: str) -> str | None:
    place = f" at {where}" if where else ""
    if not isinstance(got, Tensor):
        return f"you return {brief(got)}{place}, it should be a tensor"
    if got.shape != expected.shape:
        return (
            f"you return the shape {tuple(got.shape)}{place}, it should be {tuple(expected.shape)}"
        )
    if not _of_one_kind(got, expected):
        return f"you return {got.dtype}{place}, it should be {expected.dtype}"
    if not _apart_somewhere(got, expected):
        return None
    first = tuple(apart(got, expected).nonzero()[0].tolist())
    both = ((x.detach().double()[first] + 0.0).item() for x in (got, expected))  # -0.0 is 0
    mine, right = apart_in_words(*both, digits=4 if expected.is_floating_point() else 17)
    if not first:
        return f"{_told(mine, where)} {right}"
    # The entry of a tensor in a list has one index; that of a named one has a name beside it.
    entry = f"{where}{_index(first)}" if _is_index(where) else f"{_index(first)}{place}"
    return f"entry {entry} is {mine}, it should be {right}"


def apart_in_words(mine: float, right: float, digits: int = 4) -> tuple[str, str]:
    """Two numbers with so many digits, or with as many more as tell them apart."""
    while digits < 17 and f"{mine:.{digits}g}" == f"{right:.{digits}g}":
        digits += 1
    return f"{mine:.{digits}g}", f"{right:.{digits}g}"


def _of_one_kind(got: Tensor, expected: Tensor) -> bool:
    """Whether both are booleans, or both whole numbers, or both fractions."""
    return got.dtype.is_floating_point == expected.dtype.is_floating_point and (
        (got.dtype == torch.bool) == (expected.dtype == torch.bool)
    )


def _apart_somewhere(got: Tensor, expected: Tensor) -> bool:
    """Whether two tensors of one shape differ by more than rounding."""
    if got.dtype == expected.dtype:
        equal = torch.equal(got, expected)
        if equal or not got.is_floating_point():  # most are equal, and a mask is large
            return not equal
    if got.numel():  # what follows takes half the time of `apart`
        mine, right = got.detach().double(), expected.detach().double()
        largest = (mine - right).abs().max().item()
        if math.isfinite(largest):  # then all numbers are
            return largest > _rounding(right.abs().max().item(), expected)
    return bool(apart(got, expected).any())


def _is_index(where: str) -> bool:
    """Whether a place is made of numbers alone: `[0][1]`."""
    return bool(re.fullmatch(r"(\[\d+\])+", where))


def apart(got: Tensor, expected: Tensor) -> Tensor:
    """Where two tensors of one shape differ by more than rounding, as booleans."""
    mine, right = got.detach().double(), expected.detach().double()
    # Rounding is relative to the size of the whole tensor: sums cancel.
    size = right.abs().max().item() if right.numel() else math.nan
    if not math.isfinite(size):  # seldom
        finite = right[right.isfinite()]
        size = finite.abs().max().item() if finite.numel() else 1.0
    return ~mine.isclose(right, rtol=0.0, atol=_rounding(size, expected), equal_nan=True)


def _rounding(size: float, of: Tensor) -> float:
    """By how much rounding may move a number of a tensor whose largest is this: ids are exact."""
    return 1e-4 * max(1e-3, size) if of.is_floating_point() else 0.0


def _index(place: tuple[int, ...]) -> str:
    return f"[{', '.join(map(str, place))}]"


def in_full(given: Mapping[str, Any]) -> str:
    """Arguments by name, if they are numbers and tensors, and of both few; else nothing."""
    told = {name: few(value) for name, value in given.items() if value is not None}
    numbers = [number for written in told.values() for number in re.findall(r"[\w.+-]+", written)]
    if not told or not all(told.values()) or len(numbers) > FEW:
        return ""
    return ", ".join(f"{name} = {written}" for name, written in told.items())


def few(value: Any) -> str:
    """A number, a tensor, or words and numbers as they are written; nothing for others, or many."""
    if isinstance(value, Tensor) and value.numel() <= FEW:
        return _written(value.tolist())
    if isinstance(value, (str, list, tuple, dict)) and _of_words(value):
        return repr(value) if len(repr(value)) <= 6 * FEW else ""
    return _written(value) if isinstance(value, (bool, int, float)) else ""


def _of_words(value: Any) -> bool:
    """Whether it is made of words and numbers alone."""
    if isinstance(value, dict):
        return all(map(_of_words, (*value, *value.values())))
    if isinstance(value, (list, tuple)):
        return all(map(_of_words, value))
    return isinstance(value, (str, int, float))


def _written(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def brief(value: Any) -> str:
    """A value in a few words: itself if it is short, else its kind."""
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, int) and value.bit_length() > 10_000:
        return "a number of thousands of digits"  # Python does not write it out
    if isinstance(value, (type(None), bool, int, float, str)) and len(repr(value)) < 60:
        return repr(value)
    if isinstance(value, int):
        digits = str(value)
        return f"{digits[:8]}…{digits[-8:]} ({len(digits)} digits)"
    return f"a {type(value).__name__}"
