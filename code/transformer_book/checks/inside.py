"""Which steps of the right version come up inside a learner's, and what is handed to functions.

What has no name among the known mistakes can still be located. Every tensor that the learner's
lines compute is held against what the steps of the right version give, and every call of a function
that was handed in against the right version's calls. Each sentence holds on every input on which
the learner's answer is wrong, or says which input it is about.
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from itertools import combinations_with_replacement as pairs
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from transformer_book.checks import diagnosis
from transformer_book.checks.attempt import Attempt
from transformer_book.checks.comparing import few, same
from transformer_book.checks.diagnosis.places import placed
from transformer_book.checks.diagnosis.relations import related
from transformer_book.checks.diagnosis.trials import Leaf, Trial, ordinal
from transformer_book.checks.learners_code import code_of
from transformer_book.checks.running import Outcome, call, leaves_of, tensors_of, unchanged
from transformer_book.checks.verdicts import first_difference

MOST, LARGE = 400, 30_000  # values or calls, and entries of a value: more are not looked at
SHORT = 160  # letters of a list that is told in full
LONG = 1.0  # seconds of processor time for what does not end
MASKED = -1e8  # below it, a score is as good as −∞

Key = tuple[str, int]  # a step's name, and the number of its call
At = tuple[str, Key]  # "into" or "from" it
Values = list[tuple[int, Tensor]]  # the learner's lines, and what they give


def located(attempt: Attempt, inputs: Sequence[int], *, calls: bool = False) -> tuple[str, ...]:
    """Where the mistake is, as a sentence; `inputs` are the places of those to look at.

    `calls`: look only at what functions are handed.
    """
    answered = not attempt.found[inputs[0]].trouble
    finders = (_calls, _one_step, _up_to) if answered else (_calls, _up_to)
    for find in finders[:1] if calls or attempt.found[inputs[0]].unfinished else finders:
        if told := diagnosis.tried(find, attempt, inputs):
            return (told,)
    return ()


# --- values --------------------------------------------------------------------------------------


class _Watched(TorchFunctionMode):
    """Notes what each line of a file computes."""

    def __init__(self, file: str) -> None:
        super().__init__()
        self.file = file
        self.values: Values = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        line = self._line()
        if line is not None:
            given = args[0] if func is Tensor.__setitem__ else found
            for value in given if isinstance(given, (list, tuple)) else [given]:
                if isinstance(value, Tensor) and value.numel() <= LARGE and len(self.values) < MOST:
                    self.values.append((line, value.detach().clone()))
        return found

    def _line(self) -> int | None:
        frame: Any = sys._getframe(2)
        while frame is not None and frame.f_code.co_filename != self.file:
            # A cell may end with the check: what that computes itself is none of the learner's.
            frame = frame.f_back if frame.f_code is not call.__code__ else None
        return frame and frame.f_lineno


def _values(attempt: Attempt, i: int) -> Values:
    """What the learner's lines compute on an input."""
    code = code_of(attempt.function)
    if code is None:
        return []
    with _Watched(code.co_filename) as watched:
        attempt.call(attempt.cases[i])
    return watched.values


def _steps(attempt: Attempt, i: int) -> dict[At, Tensor]:
    """On an input, in their order: what goes into the steps of the right version, and what comes.

    The first is noted only if it is computed between two steps.
    """
    found: dict[At, Tensor] = {}
    counts: dict[str, int] = {}

    def noted(name: str, step: Callable[..., Any]) -> Callable[..., Any]:
        def called(*given: Any) -> Any:
            key = name, counts.get(name, 0)
            counts[name] = key[1] + 1
            answer = step(*given)
            for kind, value in (("into", given[0] if given else None), ("from", answer)):
                if isinstance(value, Tensor):
                    found[kind, key] = value.detach().clone()
            return answer

        return called

    component = attempt.component
    version = component.version({name: noted(name, s) for name, s in component.steps.items()})
    call(_observed(attempt, version), attempt.cases[i], gradients=False)
    return found


def _observed(attempt: Attempt, version: Callable[..., Any]) -> Callable[..., Any]:
    """A version as it is tried: that of a class is tried as it is."""
    component = attempt.component
    return component.observe(version) if component.form == "function" else version


def _given(attempt: Attempt, i: int) -> tuple[Any, ...]:
    """All arguments of an input."""
    case = attempt.cases[i]
    return (*case.arguments, *case.keywords.values())


def _alike(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors hold the same numbers, in whatever order of axes, or with some merged."""
    a, b = (x.squeeze().double().clamp(min=MASKED) for x in (a, b))
    if a.dim() != b.dim():
        merged = _ends(a) <= _ends(b) or _ends(b) <= _ends(a)
        return merged and same(a.flatten(), b.flatten())
    if sorted(a.shape) != sorted(b.shape) or a.dim() > 4:
        return False
    orders = itertools.permutations(range(a.dim()))
    return any(a.permute(order).shape == b.shape and same(a.permute(order), b) for order in orders)


def _ends(x: Tensor) -> set[int]:
    """After how many numbers one index of an axis ends: merged axes have fewer of these."""
    return {math.prod(x.shape[i:]) for i in range(x.dim() + 1)}


def _one_step(attempt: Attempt, inputs: Sequence[int]) -> str | None:
    """Whether the right version gives the learner's answers with a value of theirs in one step.

    The last step is left out, since its value is the answer.
    """
    if len(inputs) < 2:
        return None
    steps = [_steps(attempt, i) for i in inputs]
    values = [_values(attempt, i) for i in inputs]
    given = [[*leaves_of(_given(attempt, i))] for i in inputs]
    for at in steps[0]:
        if not all(at in each for each in steps) or all(
            any(_alike(each[at], x) for x in own) for each, own in zip(steps, given, strict=True)
        ):
            continue  # no value of theirs stands for an argument
        found = []
        for i, right, own in zip(inputs, steps, values, strict=True):
            found.append(dict(_leads(attempt, i, right[at], own)))
            if not found[-1]:
                break
        else:
            common = set.intersection(*map(set, found))
            line = min(common, default=min(found[0]))
            chosen = [each[line] if common else next(iter(each.values())) for each in found]
            name = (
                f"{_there(attempt, inputs)} one value explains your answer: where the right "
                f"version has {_value_of(attempt, *at)}, a value in {_line(line)} is another one; "
                "it, or what goes into it, is wrong"
            )
            right = [each[at] for each in steps]
            if told := _of_step(attempt, inputs, chosen, right):
                return f"{name}: {told}"
            before = [*itertools.takewhile(at.__ne__, steps[0])]
            if (_reached(attempt, inputs) or (None, None))[1] in before:
                return None  # a step before it tells where it begins
            return f"{name}: {_entry(attempt, inputs[0], chosen[0], right[0])}"
    return None


def _leads(attempt: Attempt, i: int, right: Tensor, values: Values) -> Iterator[tuple[int, Tensor]]:
    """Lines with a value that leads to the learner's answer if the right version has it."""
    answer, component = attempt.found[i].answer, attempt.component
    for line, value in values[::-1]:
        if value.shape != right.shape or value.dtype != right.dtype or same(value, right):
            continue
        given = (*_given(attempt, i), answer)
        if any(_alike(value, x) for x in leaves_of(given)):
            continue  # that the answer is wrong is known, and no argument is

        def turned(x: Any, v: Tensor = value) -> Any:
            return v if isinstance(x, Tensor) and x.dtype == v.dtype and same(x, right) else x

        def step(*given: Any, s: Callable[..., Any], turned: Any = turned) -> Any:
            return turned(s(*map(turned, given)))

        steps = {name: functools.partial(step, s=s) for name, s in component.steps.items()}
        theirs = call(
            _observed(attempt, component.version(steps)), attempt.cases[i], gradients=False
        )
        if not theirs.trouble and same(answer, theirs.answer):
            yield line, value


def _of_step(
    attempt: Attempt, inputs: Sequence[int], values: Sequence[Any], right: Sequence[Any]
) -> str:
    """How the learner's values differ from the right ones, if in a way that has words."""
    leaves = [_leaf(attempt, *each) for each in zip(inputs, values, right, strict=True)]
    with torch.no_grad():
        told = related(leaves, loose=False) or placed(leaves) or related(leaves, loose=True)
    told = told.replace("the right answer", "the right value") if told else ""
    return f"{told[:1].lower()}{told[1:]}"


def _leaf(attempt: Attempt, i: int, value: Tensor, right: Tensor) -> Leaf:
    given = dict(zip(attempt.plain.names, attempt.given[i].arguments, strict=False))
    if value.is_floating_point():  # what is masked is masked, by whatever number
        value, right = (
            x.masked_fill((value < MASKED) & (right < MASKED), 0) for x in (value, right)
        )
    return Leaf(
        Trial(attempt.cases[i].name, given, None, None, stops=False, wrong=True), "", value, right
    )


def _entry(attempt: Attempt, i: int, value: Tensor, right: Tensor) -> str:
    """The first entry that differs, on this input."""
    told = first_difference(Outcome(value), Outcome(right))
    told = told.replace("it should be", "the right version has")  # another may be as good there
    return f"on the input {attempt.cases[i].name!r}, {told[:1].lower()}{told[1:]}"


def _up_to(attempt: Attempt, inputs: Sequence[int]) -> str | None:
    """The last step whose right value the learner's lines give, and the next, which they do not."""
    reached = _reached(attempt, inputs)
    if reached is None:
        return None
    (last, line), after = reached
    behind = (
        f"no tensor of yours is {_value_of(attempt, *after)}"
        if after
        else "that value is right: look at what is done with it, in that line and behind it, and "
        "at what else goes in there"
    )
    has = f"{_there(attempt, inputs)} {_line(line)} has"
    if not all(_in_order(attempt, i, last, line) for i in inputs):
        has = f"{has}, its axes in another order,"
        behind = behind.replace("that value is right", "the numbers are right")
    return f"{has} {_value_of(attempt, *last)} of the right version; {behind}."


def _in_order(attempt: Attempt, i: int, at: At, line: int) -> bool:
    """Whether a line has the value of a step on an input, its axes in the same order."""
    right = _steps(attempt, i)[at].squeeze().double().clamp(min=MASKED)
    own = (x.squeeze() for n, x in _values(attempt, i) if n == line and _alike(x, right))
    return any(
        (x.dim() != right.dim() or x.shape == right.shape)
        and same(x.double().clamp(min=MASKED).flatten(), right.flatten())
        for x in own
    )


def _reached(attempt: Attempt, inputs: Sequence[int]) -> tuple[tuple[At, int], At | None] | None:
    """That last step with the learner's line, and that next one, if it may be told."""
    steps = [_steps(attempt, i) for i in inputs]
    values = [_values(attempt, i) for i in inputs]
    arguments = [_given(attempt, i) for i in inputs]
    given = [[*leaves_of(a), *(x for x in a if isinstance(x, Tensor))] for a in arguments]
    last = after = None
    gap = skipped = False  # whether a step is not reached, and one is that begins at an argument
    here = False  # whether some inputs have the value of a step by chance: the next is not told
    for at in steps[0]:
        before = [*itertools.takewhile(at.__ne__, steps[0])]
        if not all(at in each for each in steps) or all(
            any(key in each and _alike(each[key], each[at]) for key in before) for each in steps
        ):
            continue
        lines = [
            {line for line, value in own if _alike(value, right[at])}
            for right, own in zip(steps, values, strict=True)
        ]
        if common := set.intersection(*lines):
            both = zip(steps, given, strict=True)
            new = any(_computed(right[at], own) for right, own in both)
            if new and any(each[at].unique().numel() > 1 for each in steps):
                # Where it comes up first it is computed; behind that, it may be handed on.
                own = ((n, x) for n, x in values[0] if n in common)
                line = next(n for n, x in own if _alike(x, steps[0][at]))
                last, after, here = (at, line), None, False
                first = steps[0].get(("into", at[1]))
                skipped = gap and any(first is not None and _alike(first, x) for x in given[0])
        elif any(lines):
            here = gap = True
        else:
            gap = True
            if last and not (after or here) and max(map(len, values)) < MOST:
                both = zip(steps, given, strict=True)
                here = any(_alike(x, each[at]) for each, own in both for x in own)
                answer = leaves_of(attempt.expected[inputs[0]].answer)
                here = here or not _computed(steps[0][at], [*answer])  # then the answer is wrong
                after = None if here else at
    whole = all(isinstance(attempt.expected[i].answer, Tensor) for i in inputs)
    # Of several parts of an answer, or of what goes into a step, that value may be the right one.
    if last is None or not (after or (whole and not skipped and last[0][0] == "from")):
        return None
    return last, after


def _computed(value: Tensor, given: Sequence[Tensor]) -> bool:
    """Whether a value holds a number that none of these has: a row of a table is only taken."""
    known = torch.cat([torch.zeros(1), *(x.detach().flatten().float() for x in given)])
    return not bool(torch.isin(value.flatten().float(), known).all())


def _value_of(attempt: Attempt, kind: str, key: Key) -> str:
    way, times = "comes out of" if kind == "from" else "goes first into", ordinal(key[1])
    if key[1]:  # its arguments are called as they are the first time
        return f"what {way} the step “{key[0].replace('_', ' ')}”, the {times} time"
    return f"what {way} the step {diagnosis.step_named(key[0], attempt.component.steps[key[0]])}"


def _line(number: int) -> str:
    return f"line {number} of your cell or file"


def _there(attempt: Attempt, inputs: Sequence[int]) -> str:
    """The inputs that were looked at: elsewhere it may be otherwise."""
    if len(inputs) == 1:
        return f"On the input {attempt.cases[inputs[0]].name!r},"
    what = "on which it stops so" if attempt.found[inputs[0]].trouble else "that differ"
    return f"On all {len(inputs)} inputs {what},"


# --- changed arguments ---------------------------------------------------------------------------


class _Changing(_Watched):
    """Notes the line behind which one of these tensors has other numbers than it had."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.given: list[tuple[Tensor, int, Tensor]] = []
        self.line: int | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        if self.line is None and any(
            x._version != version and not unchanged(x, then) for x, version, then in self.given
        ):
            self.line = self._line()
        return found


def changing_line(attempt: Attempt, i: int) -> int | None:
    """The learner's line that changes the first changed argument of an input, if torch does."""
    code, component = code_of(attempt.function), attempt.component
    if code is None or component.form != "function":
        return None
    with _Changing(code.co_filename) as watched:

        def noted(*given: Any, **more: Any) -> Any:
            named = (dict(enumerate(given)) | more)[attempt.found[i].changed[0]]
            watched.given = [(x, x._version, x.clone()) for x in tensors_of(named)]
            return attempt.tried(*given, **more)

        call(noted, attempt.cases[i], gradients=False, seconds=LONG)
    return watched.line


# --- calls ---------------------------------------------------------------------------------------

Call = tuple[str, list[Any], Any]  # a function's name, what it was handed, and what it gave


def _calls(attempt: Attempt, inputs: Sequence[int]) -> str | None:
    """What the learner hands to a function and the right version never does, or how often."""
    if attempt.component.form != "function":
        return None
    ends, names, in_turn = [], dict[str, None](), True
    for i in inputs:
        known, mine = _called(attempt, i, attempt.anew or attempt.function)
        _, right = _called(attempt, i, attempt.component.reference)
        if not right:
            return None
        stops = bool(attempt.found[i].trouble)  # then it calls nothing more
        odd = _odd(known, mine, right, ends=not attempt.found[i].unfinished)
        again = odd is None and _again(known, mine, right)
        fewer = not stops and odd is None and _numbers(mine, right)
        if told := odd or again or (odd is None and _rows(mine, right)) or fewer:
            return f"On the input {attempt.cases[i].name!r} {told}"
        if odd is not None or stops:
            return None
        names |= {name: None for name, *_ in mine}
        in_turn = in_turn and all(_out_of_turn(name, mine, right) is None for name in names)
        if end := _end(attempt, i, known, mine, right):
            ends.append(f"on the input {attempt.cases[i].name!r} {end}")
    if not ends:
        return None
    all_of = " and ".join(f"`{name}`" for name in names)
    too = "is right" if in_turn else "the right version hands to it, too"
    what = f"all that you hand to {all_of} {too}" if names else "you call no function of these"
    # A part that is 0 there is missing in some.
    return f"{_there(attempt, inputs)} {what}; {max(ends, key=len)}"


def _called(attempt: Attempt, i: int, function: Any) -> tuple[dict[str, Any], list[Call]]:
    """The arguments by name, and the calls of the functions among them, in their order."""
    known: dict[str, Any] = {}
    calls: list[Call] = []

    def noted(name: str, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(noted(f"{name}[{k}]", item) for k, item in enumerate(value))
        if not inspect.isroutine(value):
            return value

        @functools.wraps(value)
        def called(*given: Any, **more: Any) -> Any:
            bound = inspect.signature(value).bind(*given, **more)
            bound.apply_defaults()
            if len(calls) >= MOST:
                raise RuntimeError("It goes on and on.")
            calls.append((name, [_kept(item) for item in bound.arguments.values()], None))
            answer = value(*given, **more)
            calls[-1] = (*calls[-1][:2], _kept(answer))  # a call that stops stays noted
            return answer

        return called

    def watched(*given: Any, **more: Any) -> Any:
        known.update(zip(attempt.plain.names, map(_kept, given), strict=False))
        return function(*map(noted, attempt.plain.names, given), **more)

    case = attempt.cases[i]
    call(attempt.component.observe(watched), case, gradients=False, seconds=LONG)
    return known | {name: _kept(value) for name, value in case.keywords.items()}, calls


def _kept(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, Tensor) else copy.copy(value)


def _odd(
    known: Mapping[str, Any], mine: Sequence[Call], right: Sequence[Call], *, ends: bool
) -> str | None:
    """The first thing that is handed to a function and should not be, in words.

    "" if there are no words for it, or if what differs may do no harm: parts of a batch, or rows
    behind the end of the right version's search in one that `ends`.
    """
    harmless = False
    for number, (name, given, _) in enumerate(mine):
        should = [theirs for other, theirs, _ in right if other == name]
        before = sum(other == name for other, *_ in mine[:number])
        for place, value in enumerate(given):
            expected = [theirs[place] for theirs in should if place < len(theirs)]
            if not expected or not (odd := _never(value, expected)):
                continue
            if _part(value, expected) or (ends and _beyond(value, expected)):
                harmless = True
                continue
            own = odd[0] or _described(known, value, mine[:number])
            at = f" as its {ordinal(place)} argument" if len(given) > 1 else ""
            what = own or "something else"
            told = f"your {ordinal(before)} call of `{name}` hands it {what}{at}"
            if odd[0]:
                told = _lacking(name, place, mine[:number], expected) + told
            if before < len(expected):
                theirs = _described(known, expected[before], right)
                if odd[0] and len(expected[before]) == 1:
                    theirs = f"the row {expected[before][0].tolist()}"
                if theirs and theirs != own:
                    return f"{told}, where it should get {theirs}."
            return f"{told}, which the right version never does." if own else ""
    return "" if harmless else None


def _lacking(name: str, place: int, mine: Sequence[Call], expected: Sequence[Any]) -> str:
    """The first row of ids that an earlier call should hand over and does not, with an "and"."""
    calls = [given[place] for other, given, _ in mine if other == name]
    sizes = [x.shape[1:] for x in calls if isinstance(x, Tensor)]
    if sizes != [x.shape[1:] for x in expected[: len(calls)]]:
        return ""  # it hands them over one after the other, or as something else
    for number, (own, theirs) in enumerate(zip(calls, expected, strict=False)):
        rows = own.tolist()
        for row in theirs.tolist():
            if row not in rows:
                lacks = f"your {ordinal(number)} call of `{name}` lacks the row {row}"
                return f"{lacks}, which it should get, and "
    return ""


def _part(value: Any, expected: Sequence[Any]) -> bool:
    """Whether a value is one of the expected batches with some of its rows, or a single row."""
    if not isinstance(value, Tensor):
        return False
    batches = [x for x in expected if isinstance(x, Tensor) and x.dim() > 2]
    return any(
        all(any(map(functools.partial(_equal, row), x)) for row in value.reshape(-1, *x.shape[1:]))
        for x in batches
        if value.shape[-x.dim() + 1 :] == x.shape[1:] and value.dim() <= x.dim()
    )


def _beyond(value: Any, expected: Sequence[Any]) -> bool:
    """Whether rows of ids are longer than all expected ones: the right version has ended."""
    return _of_ids(value) and all(
        value.size(1) > x.size(-1) for x in expected if isinstance(x, Tensor)
    )


def _never(value: Any, expected: Sequence[Any]) -> list[str]:
    """The row of ids that is in none of these, or that a value is none of these; else nothing."""
    if _of_ids(value):
        rows = [row.tolist() for x in expected if isinstance(x, Tensor) for row in x]
        more = " among others" if len(value) > 1 else ""
        return [f"the row {row}{more}" for row in value.tolist() if row not in rows][:1]
    return [] if any(_equal(value, x) for x in expected) else [""]


def _described(given: Mapping[str, Any], value: Any, calls: Sequence[Call]) -> str:
    """A value by its name, or as what a function gave; as the sum of two; or in full, if short."""
    known = dict(given)
    for name, handed, answer in calls:
        names = [_name_among(known, x) for x in handed]
        inner = ", ".join(n if n and n.count("(") < 2 else "…" for n in names)
        known.setdefault(f"{name}({inner})", answer)
    if name := _name_among(known, value):
        return f"`{name}`"
    if not isinstance(value, Tensor) or not value.is_floating_point():
        return _in_full(value)
    alike = [(n, x) for n, x in known.items() if getattr(x, "shape", 0) == value.shape]
    for some in (*pairs(alike, 2), *combinations(alike, 3)):
        if _equal(value, sum(x for _, x in some)):
            return f"`{' + '.join(name for name, _ in some)}`"
    return few(value)


def _in_full(value: Any) -> str:
    written = few(value) or (repr(value) if isinstance(value, (list, tuple, str)) else "")
    return written if len(written) <= SHORT else ""


def _name_among(known: Mapping[str, Any], value: Any) -> str:
    if value is None:
        return "None"
    return next((name for name, x in known.items() if x is not None and _equal(value, x)), "")


def _of_ids(value: Any) -> bool:
    """Whether a value is rows of ids."""
    return isinstance(value, Tensor) and value.dim() == 2 and not value.is_floating_point()


def _equal(a: Any, b: Any) -> bool:
    try:
        return same(a, b)
    except Exception:
        return False


def _handed(calls: Sequence[Call], name: str) -> list[Any]:
    """What each call of a function hands to it; of several rows of ids their order is no matter."""

    return [
        [sorted(x.tolist()) if _of_ids(x) else x for x in given]
        for other, given, _ in calls
        if other == name
    ]


def _out_of_turn(name: str, mine: Sequence[Call], right: Sequence[Call]) -> int | None:
    """The first call that hands over something else than that of the right version does."""
    own, theirs = _handed(mine, name), _handed(right, name)
    unlike = (n for n, x in enumerate(own) if n >= len(theirs) or not _equal(x, theirs[n]))
    return next(unlike, None)


def _again(known: Mapping[str, Any], mine: Sequence[Call], right: Sequence[Call]) -> str | None:
    """The first call that hands over the same as the one before it, where it should not."""
    for name in dict.fromkeys(name for name, *_ in mine):
        own, theirs = _handed(mine, name), _handed(right, name)
        n = _out_of_turn(name, mine, right)
        if n and n < len(theirs) and _equal(own[n], own[n - 1]) and len(own[n]) == 1:
            due = [given[0] for other, given, _ in right if other == name][n]
            should = _described(known, due, right)
            return (
                f"your {ordinal(n)} call of `{name}` hands it the same as the one before"
                f"{f', where it should get {should}' if should else ''}."
            )
    return None


def _rows(mine: Sequence[Call], right: Sequence[Call]) -> str | None:
    """The first call with another number of rows, where all calls of the right version have one."""

    def rows_of(calls: Sequence[Call], name: str) -> list[int]:
        firsts = [given[0] for other, given, _ in calls if other == name and given]
        return [len(x) for x in firsts if isinstance(x, Tensor) and x.dim() == 2]

    for name in dict.fromkeys(name for name, *_ in mine):
        theirs = set(rows_of(right, name))
        for number, many in enumerate(rows_of(mine, name)):
            if len(theirs) == 1 and many not in theirs:
                return (
                    f"your {ordinal(number)} call of `{name}` hands it {many} "
                    f"{'row' if many == 1 else 'rows'}; each call of the right version hands it "
                    f"{theirs.pop()}."
                )
    return None


def _numbers(mine: Sequence[Call], right: Sequence[Call]) -> str | None:
    """How often each function is called, where all that it is handed is right."""
    counts, others = (Counter(name for name, *_ in calls) for calls in (mine, right))
    for name, times in others.items():
        if counts[name] < times:
            told = f"{_times(counts[name])}, the right version {_times(times)}"
            in_turn = _out_of_turn(name, mine, right) is None
            too = "is right" if in_turn else "the right version hands to it, too"
            return (
                f"you call `{name}` {told}; what you hand to it {too}."
                if counts[name]
                else f"you never call `{name}`."
            )
    return None


def _end(
    attempt: Attempt, i: int, known: Mapping[str, Any], mine: Sequence[Call], right: Sequence[Call]
) -> str:
    """What is made of the results, where all that functions are handed is right."""
    own = _described(known, attempt.found[i].answer, mine)
    theirs = _described(known, attempt.expected[i].answer, right)
    if own == theirs or not own or not theirs:
        return ""
    return f"your answer is {own}, and should be {theirs}."


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")
