"""Whether a learner's answers are those of the right function, called in another way.

The right version is run on inputs that were changed in one place: without the mask, with two
arguments exchanged, with a number one larger. If that gives the learner's answers on every input,
it says what their code does; over many inputs that is hardly a coincidence.
"""

from __future__ import annotations

import dis
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from transformer_book.checks.comparing import same
from transformer_book.checks.diagnosis.trials import Trial, all_of, in_batch, ordinal

Given = dict[str, Any]
Answer = Callable[[Given], Any]


@dataclass(frozen=True)
class Change:
    """One other way to call the right function.

    Attributes:
        text: what follows on "what the right version gives".
        given: the changed arguments, or `None` where there is nothing to change; or a list of
            arguments for several calls.
        back: what is done to the answer afterwards.
    """

    text: str
    given: Callable[[Given], Given | list[Given] | None]
    back: Callable[[Any], Any] = lambda answer: answer


STEPS = 6  # steps can be varied in many ways, so this many different answers must be hit


def as_if(
    trials: Sequence[Trial], options: Iterable[tuple[Change, Answer]], least: int = 3
) -> str | None:
    """The first change that explains every answer, as a sentence, or `None`.

    Args:
        trials: all inputs, right and wrong.
        options: changes of the inputs, and the version that is run on them.
        least: how many different answers must be hit, if they are not made of decimal numbers.
    """
    wrong = [trial for trial in trials if trial.wrong and not trial.stops]
    fine = [trial for trial in trials if not trial.wrong]
    if sum(bool(_numbers(trial.mine)) for trial in wrong) < 2 or not telling(wrong, least):
        return None
    ids = not any(not float(x).is_integer() for trial in wrong for x in _numbers(trial.mine))
    stops = any(trial.stops for trial in trials)
    start = f"On {all_of(trials)} your answer"
    if stops:
        answered = f"{len(wrong) + len(fine)} of {len(trials)} inputs"
        start = f"On the {answered} where yours gives an answer, it"
    for change, version in options:
        if ids and change.text.endswith((" gives and 1 added", " gives and 1 subtracted")):
            continue  # which of several scores is the highest may be so by chance
        # The wrong ones first: most changes fail there.
        if all(_explains(change, trial, version) for trial in (*wrong, *fine)):
            return f"{start} is what the right version gives {change.text}."
    return None


def telling(wrong: Sequence[Trial], least: int) -> bool:
    """Whether the answers are so rich that hitting all of them is no coincidence."""
    numbers = [_numbers(trial.mine) for trial in wrong]
    different = {
        repr(trial.mine)
        for trial, own in zip(wrong, numbers, strict=True)
        if own or _holds_text(trial.mine)
    }
    decimal = [x for own in numbers for x in own if not float(x).is_integer()]
    return len(decimal) > 3 or len(different) >= least


def _numbers(value: Any) -> list[float]:
    """The different numbers in an answer, but 0, nan and infinity: many versions give those."""
    if isinstance(value, Tensor):
        return [x for x in value.double().flatten().unique().tolist() if x and math.isfinite(x)]
    if isinstance(value, dict):
        return _numbers(list(value.values()))
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in _numbers(item)]
    number = isinstance(value, (int, float)) and value and math.isfinite(value)
    return [float(value)] if number else []


def _holds_text(value: Any) -> bool:
    if isinstance(value, (list, tuple, set)):
        return any(map(_holds_text, value))
    return isinstance(value, str) and bool(value)


def _explains(change: Change, trial: Trial, answer: Answer) -> bool:
    try:
        given = change.given(dict(trial.given))
        if given is None:
            return not trial.wrong
        several = isinstance(given, list)
        found = change.back([answer(one) for one in given] if several else answer(given))
    except Exception:
        return False
    return same(trial.mine, found)


def changes(
    trials: Sequence[Trial], answer: Answer, kinds: Sequence[str] = ()
) -> Iterator[tuple[Change, Answer]]:
    """The changes that are tried on arguments such as these, for the right version.

    Args:
        trials: all inputs.
        answer: the right version.
        kinds: if some are given, only arguments of these kinds are changed.
    """
    return ((change, answer) for change in _changes(trials, kinds))


def others(versions: Sequence[tuple[str, Answer]]) -> Iterator[tuple[Change, Answer]]:
    """Other versions than the right one, on the inputs as they are."""
    return ((Change(text, lambda given: given), version) for text, version in versions)


def _changes(trials: Sequence[Trial], kinds: Sequence[str]) -> Iterator[Change]:
    met: dict[str, set[str]] = {}
    for trial in trials:
        for name, value in trial.given.items():
            met.setdefault(name, set()).add(_kind(value))
    one = {name: next(iter(kind - {"None"}), "None") for name, kind in met.items()}
    if kinds:
        one = {name: kind for name, kind in one.items() if kind in kinds}
    for name, kind in one.items():
        yield from _of_one.get(kind, lambda name: ())(name)
        if kind == "number":
            for value in dict.fromkeys(trial.given[name] for trial in trials):
                yield Change(f"with `{name}` always {value:.4g}", _put(name, lambda _, v=value: v))
    for a, b in itertools.combinations(one, 2):
        if one[a] == one[b] != "None":
            yield Change(f"with `{a}` and `{b}` exchanged", _exchanged(a, b))
            yield Change(f"with `{b}` in the place of `{a}`", _copied(b, a))
            yield Change(f"with `{a}` in the place of `{b}`", _copied(a, b))
            if one[a] == "vectors":
                for name in (a, b):
                    yield Change(
                        f"with `{a} * {b}` in the place of `{name}`",
                        lambda given, a=a, b=b, n=name: given | {n: given[a] * given[b]},
                    )
    for source in one:
        alike = [name for name in one if one[name] == one[source] != "None" and name != source]
        for a, b in itertools.combinations(alike, 2):
            yield Change(
                f"with `{source}` in the place of `{a}` and of `{b}`",
                lambda given, s=source, a=a, b=b: given | {a: given[s], b: given[s]},
            )
    if not kinds:
        yield from _of_all(trials)


def _kind(value: Any) -> str:
    if isinstance(value, Tensor):
        if value.dtype == torch.bool:
            return "mask"
        return "vectors" if value.dtype.is_floating_point else "tokens"
    if value is None:
        return "None"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, (int, float)):
        return "number"
    if callable(value):
        return "function"
    return {"str": "text", "list": "list", "tuple": "list"}.get(type(value).__name__, "other")


def _exchanged(a: str, b: str) -> Callable[[Given], Given | None]:
    return lambda given: (
        None if same_value(given[a], given[b]) else given | {a: given[b], b: given[a]}
    )


def _copied(source: str, target: str) -> Callable[[Given], Given | None]:
    def change(given: Given) -> Given | None:
        if same_value(given[source], given[target]):
            return None
        return given | {target: given[source]}

    return change


def same_value(a: Any, b: Any) -> bool:
    """Whether two arguments are one and the same."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b  # 1e-8 is not 0
    return a is b or (_kind(a) == _kind(b) != "function" and same(a, b))


def _put(name: str, change: Callable[[Any], Any]) -> Callable[[Given], Given | None]:
    """The arguments with one changed; `None` if it is not there, or stays what it was."""

    def changed(given: Given) -> Given | None:
        if given.get(name) is None:
            return None
        value = change(given[name])
        return None if value is None or same_value(value, given[name]) else given | {name: value}

    return changed


def _of_mask(name: str) -> Iterator[Change]:
    def visible(given: Given) -> Given | None:
        return None if given.get(name) is None else given | {name: None}

    yield Change(f"without `{name}`", visible)
    yield Change(f"with everything in `{name}` True", _put(name, torch.ones_like))
    yield Change(f"with `{name}` turned round (True for False)", _put(name, torch.logical_not))
    yield Change(f"with the last two axes of `{name}` exchanged", _put(name, lambda m: m.mT))
    yield Change(
        f"with the first sentence's `{name}` for all",
        _put(name, lambda m: m[:1].expand(m.shape) if m.dim() > 2 else None),
    )


def _of_vectors(name: str) -> Iterator[Change]:
    zeros, ones = torch.zeros_like, torch.ones_like
    yield Change(f"with zeros in the place of `{name}`", _put(name, zeros))
    yield Change(f"with ones in the place of `{name}`", _put(name, ones))
    yield Change(f"with −`{name}` in the place of `{name}`", _put(name, torch.neg))
    yield Change(f"with the absolute values of `{name}`", _put(name, torch.abs))
    yield Change(f"with relu(`{name}`) in the place of `{name}`", _put(name, torch.relu))
    yield Change(f"with `{name}` transposed", _put(name, lambda x: x.mT if x.dim() > 1 else None))
    yield Change(f"with 1 / `{name}` in the place of `{name}`", _put(name, lambda x: 1 / x))
    for factor, text in ((2, "twice"), (0.5, "half of")):
        yield Change(f"with {text} `{name}`", _put(name, lambda x, f=factor: f * x))
    for text, power in (("times", 0.5), ("divided by", -0.5)):
        yield Change(
            f"with `{name}` {text} the root of its last size",
            _put(name, lambda x, p=power: x * x.size(-1) ** p if x.dim() else None),
        )
    for text, function in (("softmax", torch.softmax), ("log_softmax", torch.log_softmax)):
        yield Change(
            f"with {text}(`{name}`) in the place of `{name}`",
            _put(name, lambda x, f=function: f(x, dim=-1) if x.dim() else None),
        )
    yield Change(f"with 1 + `{name}` in the place of `{name}`", _put(name, lambda x: 1 + x))
    yield Change(
        f"with the mean over the last axis taken from `{name}`",
        _put(name, lambda x: x - x.mean(-1, keepdim=True) if x.dim() else None),
    )
    for axis, text in ((0, "axis 0"), (-2, "the last axis but one"), (-1, "the last axis")):
        yield from _along(name, axis, text)


def _of_tokens(name: str) -> Iterator[Change]:
    for token, text in ((1, "<sos>, 1,"), (2, "<eos>, 2,"), (3, "<unk>, 3,")):
        yield Change(
            f"with {text} in `{name}` taken for padding",
            _put(name, lambda x, t=token: x.masked_fill(x == t, 0)),
        )
    yield Change(
        f"with <sos> and <eos> in `{name}` taken for padding",
        _put(name, lambda x: x.masked_fill(x < 3, 0)),
    )
    yield Change(
        f"with the padding of `{name}` taken for <unk>, 3",
        _put(name, lambda x: x.masked_fill(x == 0, 3)),
    )
    yield Change(
        f"with the first sentence of `{name}` for all",
        _put(name, lambda x: x[:1].expand(x.shape) if x.dim() > 1 else None),
    )
    yield Change(f"with 1 added to every number in `{name}`", _put(name, lambda x: x + 1))
    yield Change(f"with 1 taken from every number in `{name}`", _put(name, lambda x: x - 1))
    for axis, text in ((0, "axis 0"), (-1, "the last axis")):
        yield from _along(name, axis, text)


def _along(name: str, axis: int, text: str) -> Iterator[Change]:
    def long(x: Tensor) -> bool:
        return x.dim() >= abs(axis) + (axis >= 0) and x.size(axis) > 1

    yield Change(
        f"with `{name}` reversed along {text}",
        _put(name, lambda x: x.flip(axis) if long(x) else None),
    )
    for step in (1, -1):
        ends = "last first" if step > 0 else "first last"
        yield Change(
            f"with `{name}` moved by one along {text}, the {ends}",
            _put(name, lambda x, s=step: x.roll(s, axis) if long(x) else None),
        )
    yield Change(
        f"with the first of `{name}` along {text} repeated for all",
        _put(name, lambda x: x.narrow(axis, 0, 1).expand(x.shape) if long(x) else None),
    )
    for cut, start in (("last", 0), ("first", 1)):
        yield Change(
            f"without the {cut} along {text} of `{name}`",
            _put(name, lambda x, s=start: x.narrow(axis, s, x.size(axis) - 1) if long(x) else None),
        )


def _of_number(name: str) -> Iterator[Change]:
    def alike(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Whole numbers stay whole: half a length is no length."""

        def changed(x: Any) -> Any:
            found = change(x)
            if not isinstance(x, int) or found is None:
                return found
            return int(found) if float(found).is_integer() else None

        return changed

    options: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("one larger", lambda x: x + 1),
        ("one smaller", lambda x: x - 1),
        ("two larger", lambda x: x + 2),
        ("two smaller", lambda x: x - 2),
        ("doubled", lambda x: 2 * x),
        ("halved", lambda x: x / 2),
        ("negated", lambda x: -x),
        ("squared", lambda x: x * x),
        ("replaced by its root", lambda x: x**0.5 if x >= 0 else None),
        ("replaced by 1 − itself", lambda x: 1 - x),
        ("replaced by its inverse", lambda x: 1 / x if x else None),
        ("set to 0", lambda x: type(x)(0)),
        ("set to 1", lambda x: type(x)(1)),
        ("set to 2", lambda x: type(x)(2)),
    )
    for text, change in options:
        yield Change(f"with `{name}` {text}", _put(name, alike(change)))


def _of_function(name: str) -> Iterator[Change]:
    def others(value: Any, *more: Any) -> Any:
        return value

    yield Change(f"if `{name}` gave back its argument unchanged", _put(name, lambda f: others))
    yield Change(f"if `{name}` gave zeros", _put(name, lambda f: lambda x, *more: 0 * f(x, *more)))
    yield Change(
        f"with `{name}` called twice, one time on the result of the other",
        _put(name, lambda f: lambda x, *more: f(f(x, *more), *more)),
    )
    yield Change(f"with minus what `{name}` gives", _put(name, lambda f: lambda *all: -f(*all)))
    yield Change(f"with twice what `{name}` gives", _put(name, lambda f: lambda *all: 2 * f(*all)))
    for i in range(4):
        yield Change(
            f"if `{name}` got None as its {ordinal(i)} argument", _put(name, _with_none(i))
        )
        for j in range(4):
            if i < j:
                yield Change(
                    f"with the {ordinal(i)} and the {ordinal(j)} argument of `{name}` exchanged",
                    _put(name, _reordered({i: j, j: i})),
                )
            if i != j:
                yield Change(
                    f"if `{name}` got its {ordinal(i)} argument as its {ordinal(j)}, too",
                    _put(name, _reordered({j: i})),
                )


def _with_none(i: int) -> Callable[[Any], Any]:
    """A function that gets None at one place, and cannot be called with fewer arguments."""

    def changed(function: Any) -> Any:
        def called(*given: Any) -> Any:
            if i >= len(given):
                raise TypeError(f"There is no {ordinal(i)} argument that could be None.")
            return function(*given[:i], None, *given[i + 1 :])

        return called

    return changed


def _reordered(order: Mapping[int, int]) -> Callable[[Any], Any]:
    """A function that takes, at some places, the argument of another place."""

    def changed(function: Any) -> Any:
        return lambda *all: function(*(all[order.get(i, i)] for i in range(len(all))))

    return changed


def _of_list(name: str) -> Iterator[Change]:
    for i in range(3):
        yield Change(
            f"if the {ordinal(i)} of `{name}` gave back its argument unchanged",
            _put(name, _with_identity(i)),
        )
        for j in range(3):
            if i != j:
                yield Change(
                    f"with the {ordinal(i)} of `{name}` in the place of the {ordinal(j)}",
                    _put(
                        name,
                        lambda x, i=i, j=j: (
                            [*x[:j], x[i], *x[j + 1 :]] if max(i, j) < len(x) else None
                        ),
                    ),
                )
    options: tuple[tuple[str, Callable[[Any], Any]], ...] = (
        ("all equal to the first of them", lambda x: [x[0]] * len(x)),
        ("all equal to the last of them", lambda x: [x[-1]] * len(x)),
        ("reversed", lambda x: x[::-1]),
        ("without its last item", lambda x: x[:-1]),
        ("without its first item", lambda x: x[1:]),
        ("cut to its first item", lambda x: x[:1]),
        ("cut to its last item", lambda x: x[-1:]),
        ("sorted", lambda x: sorted(x)),
        ("without what comes twice", lambda x: [y for i, y in enumerate(x) if y not in x[:i]]),
        ("sorted by length", lambda x: sorted(x, key=len)),
        ("with 1 for every item", lambda x: [1 for _ in x]),
        ("with 1 added to every number", lambda x: [y + 1 for y in x]),
        ("with 1 taken from every number", lambda x: [y - 1 for y in x]),
        ("with each item reversed", lambda x: [y[::-1] for y in x]),
        ("with each item without its last", lambda x: [y[:-1] for y in x]),
        ("with each item without its first", lambda x: [y[1:] for y in x]),
        ("in small letters", lambda x: [y.lower() for y in x]),
    )
    for text, change in options:
        yield Change(f"with `{name}` {text}", _put(name, change))


def _with_identity(i: int) -> Callable[[Any], Any]:
    """A list of functions with one that does nothing."""

    def changed(functions: Any) -> Any:
        if i >= len(functions) or not callable(functions[i]):
            return None
        return [*functions[:i], lambda value, *more: value, *functions[i + 1 :]]

    return changed


def _of_text(name: str) -> Iterator[Change]:
    yield Change(f"with `{name}` in small letters", _put(name, str.lower))
    yield Change(f"with `{name}` in capital letters", _put(name, str.upper))
    yield Change(f"with `{name}` reversed", _put(name, lambda x: x[::-1]))


def _of_flag(name: str) -> Iterator[Change]:
    yield Change(f"with `{name}` always False", _put(name, lambda x: False))
    yield Change(f"with `{name}` always True", _put(name, lambda x: True))
    yield Change(f"with `{name}` turned round", _put(name, lambda x: not x))


def _of_all(trials: Sequence[Trial]) -> Iterator[Change]:
    """Changes of all tensors at once: other axes, all axes together, sentence by sentence."""

    def on_all(change: Callable[[Tensor], Tensor]) -> Callable[[Given], Given | None]:
        def changed(given: Given) -> Given | None:
            found = {
                name: change(value) if isinstance(value, Tensor) and value.dim() > 1 else value
                for name, value in given.items()
            }
            return None if all(same_value(found[n], given[n]) for n in given) else found

        return changed

    for a, b, text in (
        (0, 1, "the first two axes"),
        (-1, -2, "the last two axes"),
        (0, -1, "the first and the last axis"),
    ):
        swap = _transposed(a, b)
        back = f"along another axis: {text} change places before, and back afterwards"
        yield Change(back, on_all(swap), swap)
        yield Change(f"if {text} of what comes in change places", on_all(swap))
    shapes: list[torch.Size] = []

    def flat(given: Given) -> Given | None:
        tensors = [v for v in given.values() if isinstance(v, Tensor)]
        if len(tensors) != 1 or tensors[0].dim() < 2:
            return None
        shapes[:] = [tensors[0].shape]
        return {n: v.flatten() if isinstance(v, Tensor) else v for n, v in given.items()}

    yield Change("if all axes are one", flat, lambda answer: answer.reshape(shapes[0]))
    one, only = "index of axis 0", "with the first along axis 0 of all tensors for all"
    tensors = [(n, x) for t in trials for n, x in t.given.items() if isinstance(x, Tensor)]
    if all(in_batch(n, x) or "mask" in n for n, x in tensors if x.dim() > 1):
        one, only = "sentence", "if the batch holds nothing but its first sentence"
    for text, back in (
        ("the mean of the answers", lambda answers: torch.stack(answers).mean(dim=0)),
        ("the sum of the answers", lambda answers: torch.stack(answers).sum(dim=0)),
    ):
        yield Change(f"for each {one} by itself: yours is {text}", _singly, back)
    yield Change(only, on_all(lambda x: x[:1].expand(x.shape)))


def _singly(given: Given) -> list[Given] | None:
    """One call for each sentence, if all tensors have a first axis of one size."""
    tensors = {name: value for name, value in given.items() if isinstance(value, Tensor)}
    batch = {value.size(0) if value.dim() > 1 else 0 for value in tensors.values()}
    if len(batch) != 1 or batch <= {0, 1}:
        return None
    return [
        given | {name: value[i : i + 1] for name, value in tensors.items()}
        for i in range(batch.pop())
    ]


def _transposed(a: int, b: int) -> Callable[[Any], Any]:
    return lambda x: x.transpose(a, b) if isinstance(x, Tensor) and x.dim() > 1 else x


_of_one: Mapping[str, Callable[[str], Any]] = {
    "mask": _of_mask,
    "vectors": _of_vectors,
    "tokens": _of_tokens,
    "number": _of_number,
    "function": _of_function,
    "list": _of_list,
    "text": _of_text,
    "flag": _of_flag,
}


# --- one step of the right version, done otherwise ------------------------------------------------

AFTER: tuple[tuple[str, Callable[[Any], Any]], ...] = (
    ("with the sign of {} turned", lambda x: -x),
    ("with twice {}", lambda x: 2 * x),
    ("with half of {}", lambda x: x / 2),
    ("with {} and 1 added", lambda x: x + 1),
    ("with {} and 1 subtracted", lambda x: x - 1),
    ("with 1 minus {}", lambda x: 1 - x),
    ("with the square of {}", lambda x: x * x),
    ("with the root of {}", lambda x: x**0.5),
    ("with 1 divided by {}", lambda x: 1 / x),
    ("with 0 for {}", lambda x: x * 0),
    ("with 1 for {}", lambda x: x * 0 + 1),
    ("with exp of {}", lambda x: x.exp()),
    ("with a sigmoid of {}", lambda x: x.sigmoid()),
    ("with the logarithm of {}", lambda x: x.log()),
    ("with the absolute value of {}", abs),
    ("with relu of {}", lambda x: x.relu()),
    ("with {} put through a softmax", lambda x: x.softmax(-1)),
    ("with {} put through a softmax over the axis before", lambda x: x.softmax(-2)),
    ("with {} put through a log-softmax", lambda x: x.log_softmax(-1)),
    ("with the last two axes of {} exchanged", lambda x: x.mT),
    ("with {} turned round: True for False", lambda x: ~x if isinstance(x, Tensor) else not x),
    ("with {} True throughout", lambda x: x | ~x),
    ("with {} reversed", lambda x: x[::-1]),
    ("without the last of {}", lambda x: x[:-1]),
    ("without the first of {}", lambda x: x[1:]),
)


def _given_back(step: Callable[..., Any], i: int) -> Callable[..., Any]:
    """A step that gives back an argument; not one that answers a question, which has no such."""

    def changed(*given: Any) -> Any:
        plain = all(isinstance(x, (Tensor, int, float, list, tuple)) for x in given)
        if plain and isinstance(step(*given), bool):  # what else is given may be changed by it
            raise TypeError("It answers yes or no.")
        return given[i]

    return changed


def _afterwards(step: Callable[..., Any], after: Callable[[Any], Any]) -> Callable[..., Any]:
    """A step and something that is done to its result; with True and False nothing is computed."""

    def changed(*given: Any) -> Any:
        right = step(*given)
        found = after(right)
        if _kind(right) in ("mask", "flag") and _kind(found) != _kind(right):
            raise TypeError("True and False are no numbers.")
        return found

    return changed


AXES = (
    ("the axis before the last", -1, -2),
    ("the first axis", 0, -1),
    ("the third axis from the end", -1, -3),
)


def _along_another(step: Callable[..., Any], a: int, b: int) -> Callable[..., Any]:
    """A step whose tensors have two axes exchanged, and back afterwards."""

    def changed(*given: Any) -> Any:
        turn = _transposed(a, b)
        return turn(step(*map(turn, given)))

    return changed


# What runs along one axis.
ALONG = {"sort", "softmax", "log_softmax", "sum", "mean", "var", "std", "norm", "cumsum"}
ALONG |= {"max", "min", "amax", "amin", "argmax", "argmin", "topk", "logsumexp"}


class _Redirected(TorchFunctionMode):
    """Lets what runs along the last axis run along another one."""

    def __init__(self, axis: int) -> None:
        super().__init__()
        self.axis = axis

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func.__name__ in ALONG and kwargs.get("dim") == -1:
            kwargs = {**kwargs, "dim": self.axis}
        return func(*args, **kwargs)


def _redirected(step: Callable[..., Any], axis: int) -> Callable[..., Any]:
    def changed(*given: Any) -> Any:
        with _Redirected(axis):
            return step(*given)

    return changed


def step_named(name: str, step: Callable[..., Any]) -> str:
    """A step by its name, and by what it makes its result of, as far as that can be read."""
    said = f"“{name.replace('_', ' ')}”"
    if (code := getattr(step, "__code__", None)) is None:
        return said
    # Some arguments are there for known mistakes alone. An instruction may read two at once.
    read = [i.argval for i in dis.get_instructions(code)]
    names = {n for x in read for n in (x if isinstance(x, tuple) else (x,)) if isinstance(n, str)}
    used = [n for n in _named(step) if n in names]
    return f"{said} ({', '.join(used)})" if used else said


def _named(step: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a step's arguments, as far as they can be read."""
    code = getattr(step, "__code__", None)
    return code.co_varnames[: code.co_argcount] if code else ()


def versions_of(steps: Mapping[str, Callable[..., Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Other versions of a pipeline: one step is left out, or something is done to its result.

    Yields what to say, and the step that is put in the place of the right one.
    """
    for name, step in steps.items():
        said = f"its step {step_named(name, step)}"
        for i, text in enumerate(["left out", *(f"giving back `{n}`" for n in _named(step)[1:4])]):
            yield f"with {said} {text}", {name: _given_back(step, i)}
        yield (
            f"with the arguments of {said} exchanged",
            {name: lambda *all, s=step: s(*all[::-1]) if len(all) > 1 else 1 / 0},
        )
        for text, a, b in AXES:
            yield (
                f"with {said} done along {text} of what it gets",
                {name: _along_another(step, a, b)},
            )
        for text, axis in (("the last axis but one", -2), ("the first axis", 0)):
            yield (
                f"with each operation of {said} along the last axis done along {text}",
                {name: _redirected(step, axis)},
            )
        for text, power in (("times", 1), ("divided by", -1)):
            yield (
                f"with what {said} gives {text} the last size of what it is given",
                {name: lambda *all, s=step, p=power: s(*all) * all[0].size(-1) ** p},
            )
        for text, after in AFTER:
            yield text.format(f"what {said} gives"), {name: _afterwards(step, after)}
