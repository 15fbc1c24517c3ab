"""How a learner's function or class is judged: run on all inputs, compared, and explained."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from transformer_book.checks import builtin, diagnosis, kept
from transformer_book.checks.classes import filled, is_class
from transformer_book.checks.comparing import difference, same
from transformer_book.checks.components import Case, Component, Mistake
from transformer_book.checks.explaining import explain, known_outcomes
from transformer_book.checks.learners_code import code_of, is_untouched, last_line, must_be_callable
from transformer_book.checks.running import SECONDS, Bounded, Outcome, call
from transformer_book.checks.verdicts import (
    Verdict,
    all_right,
    first_difference,
    of_mistakes,
    stopped,
    unsaid,
)


def judge(
    component: Component,
    function: Any,
    mistakes: Sequence[Mistake] = (),
    *,
    seconds: float = SECONDS,
    allow_builtin: bool = True,
) -> Verdict:
    """Try a learner's function, and say what is wrong with it.

    Args:
        component: what it should be.
        function: the function, or the class if the component takes one.
        mistakes: those that may be named.
        seconds: of processor time, for each input.
        allow_builtin: let it call ready-made functions that do the work, see `builtin`.

    Raises:
        TypeError: if `function` cannot be called, or is a class where none is taken.
    """
    must_be_callable(function, component.name)
    plain, form = component, None
    anew, held = kept.anew(function), kept.attributes(function)
    if isinstance(function, type) or is_class(function):
        if component.as_class is None or not is_class(function):
            raise TypeError(
                f"checks.{component.name} takes a function, not a class: hand in an instance, "
                "with parentheses, whose arguments are those of the function."
            )
        form, component = component.as_class, component.of_class()
    if is_untouched(function):
        return Verdict("not started", component.name, ("Not started yet.",))
    cases = list(component.cases())
    if not allow_builtin:
        ready_made = _ready_made(component, function, cases, seconds)
        if ready_made is not None:
            return ready_made
    gradients = component.differentiable
    expected = known_outcomes(component, ())
    found: list[Outcome] = []
    tried = component.observe(function)
    for case in cases:
        found.append(call(tried, case, gradients=gradients, seconds=seconds, source=function))
        if found[-1].unfinished:
            break  # nor would it finish on the other inputs
        if found[-1].names_differ:
            return stopped(component.name, case, found[-1])
    wrong = [
        i
        for i, (mine, right) in enumerate(zip(found, expected, strict=False))
        if mine.trouble or not same(mine.answer, right.answer)
    ]
    if not wrong:
        return (
            _flaw(component, function, cases, found, expected)
            or _kept(plain, function, cases, tried, anew, held, expected[0], seconds)
            or all_right(component, cases, found)
        )
    first = wrong[0]
    mine = found[first]
    explained = [] if len(found) < len(cases) else explain(component, mistakes, found, expected)
    if explained:
        named = of_mistakes(component, cases, found, expected, wrong, explained)
        if named.status == "convention":
            other = known_outcomes(component, explained[0]).version
            theirs = [call(other, case, gradients=gradients) for case in cases]
            flaw = _flaw(component, function, cases, found, theirs, conventional=True)
            if flaw is None:
                return named
            told = (*flaw.sentences, *named.sentences)
            return replace(flaw, sentences=told, mistakes=named.mistakes)
        return named
    if all(outcome.answer is None and not outcome.trouble for outcome in found):
        return Verdict("wrong", component.name, (unsaid(),), line=last_line(function))
    if anew is not None and _right_alone(component, anew, cases, expected, seconds):
        example = first_difference(mine, expected[first])
        return _keeps(plain, function, kept.changed(function, held), cases[first].name, example)
    given = cases
    if form is not None:
        given = [replace(case, arguments=form.arguments(*case.arguments)) for case in cases]
    if mine.trouble:
        verdict = stopped(component.name, cases[first], mine)
        where_else = diagnosis.which_inputs(plain, given, found, expected)
        return replace(verdict, sentences=(*verdict.sentences, where_else))
    again = call(tried, cases[0], gradients=gradients, seconds=seconds, source=function)
    once = found[0].answer
    comparable = not again.trouble and not found[0].trouble and same(once, once)
    if comparable and not same(again.answer, once):
        told: tuple[str, ...] = (
            "Called again with the first input, it gives another answer than before: it keeps "
            "something from one call to the next, or draws at random.",
        )
        if kept.mutable_defaults(function):
            told = (*told, kept.cause(function, ()))
    else:
        told = diagnosis.of_outcomes(plain, given, found, expected)
    share = (
        f"Right on {len(cases) - len(wrong)} of {len(cases)} inputs; the first that differs: "
        f"{cases[first].name}."
    )
    example = " ".join(
        (first_difference(mine, expected[first]), diagnosis.shown(plain, given[first]))
    )
    return Verdict("wrong", plain.name, (share, *told), example=example.strip())


# Of any component: it is seen by calling twice, and not by numbers.
KEPT = "kept from the call before"


def _kept(
    plain: Component,
    function: Any,
    cases: Sequence[Case],
    tried: Callable[..., Any],
    anew: Callable[..., Any] | None,
    held: dict[str, Any] | None,
    first: Outcome,
    seconds: float,
) -> Verdict | None:
    """The verdict on what is right on every input alone, but not on one after the other."""
    if is_class(function):
        return _one_module(plain, function, seconds)
    again = call(tried, cases[0], gradients=False, seconds=seconds, source=function)
    rounds = [(cases[0], first.answer, again)]
    # Only what may keep something is held against more inputs: the rest costs one call.
    for case in cases if anew is not None else ():
        given = (*case.arguments, *case.keywords.values())
        if not _of_tensors(given):
            continue
        turned = kept.mirrored(given)
        keywords = dict(zip(case.keywords, turned[len(case.arguments) :], strict=True))
        other = replace(case, arguments=turned[: len(case.arguments)], keywords=keywords)
        right = call(plain.reference, other, gradients=False)
        mine = call(tried, other, gradients=False, seconds=seconds, source=function)
        if not right.trouble:
            rounds.append((other, right.answer, mine))
    for case, right, mine in rounds:
        if mine.trouble or not same(mine.answer, right):
            names = kept.changed(function, held)
            return _keeps(plain, function, names, case.name, first_difference(mine, Outcome(right)))
    return None


def _of_tensors(values: Sequence[Any]) -> bool:
    """Whether they are tensors and numbers: of a list or a function, nothing can be turned."""
    simple = all(value is None or isinstance(value, (int, float, Tensor)) for value in values)
    return simple and any(isinstance(value, Tensor) for value in values)


def _one_module(plain: Component, made: Any, seconds: float) -> Verdict | None:
    """One module for each size, on one input after the other, and on the first one again."""
    component = plain.of_class()
    groups: dict[tuple[int, ...], list[Case]] = {}
    for case in component.cases():
        groups.setdefault(case.arguments[0], []).append(case)
    for sizes, cases in groups.items():
        weights = cases[0].arguments[1]
        with contextlib.redirect_stdout(Bounded(io.StringIO())):
            module = made(*sizes).eval()
        held = kept.attributes(module)
        function = functools.partial(filled, module)
        for inputs in kept.in_a_row([case.arguments[2] for case in cases]):
            case = Case("", (sizes, weights, inputs))
            right = call(component.reference, case, gradients=False)
            mine = call(function, case, gradients=False, seconds=seconds, source=made)
            if not right.trouble and (mine.trouble or not same(mine.answer, right.answer)):
                names = kept.changed(module, held)
                return _keeps(plain, made, names, "", first_difference(mine, right))
    return None


def _right_alone(
    component: Component,
    anew: Callable[..., Any],
    cases: Sequence[Case],
    expected: Sequence[Outcome],
    seconds: float,
) -> bool:
    """Whether it is right on each input if nothing is kept from the calls before."""
    tried = component.observe(anew)
    for case, right in zip(cases, expected, strict=True):
        mine = call(tried, case, gradients=False, seconds=seconds)
        if mine.trouble or not same(mine.answer, right.answer):
            return False
    return True


def _keeps(plain: Component, function: Any, names: Sequence[str], of: str, example: str) -> Verdict:
    """The verdict on what is right when it is called for the first time."""
    what = "function" if inspect.isroutine(function) else "object"
    if is_class(function):
        what = "module"
    symptom = f"Your {what} is right in its first call, and wrong in a later one."
    cause = kept.cause(function, names)
    mistake = Mistake(KEPT, plain.name, symptom, cause, plain.section, {})
    if of and example:
        example = f"Called with the input {of!r} after others: {example[0].lower()}{example[1:]}"
    return Verdict("wrong", plain.name, (symptom, cause), (mistake,), example=example)


def _ready_made(
    component: Component, function: Any, cases: Sequence[Case], seconds: float
) -> Verdict | None:
    """The verdict on a function that calls what it should do itself, or `None`."""
    tried = component.observe(function)
    for case in cases:
        with builtin.watch(component.name, code_of(function)) as noted:
            outcome = call(tried, case, gradients=False, seconds=seconds, source=function)
        if noted:
            name, line = noted[0]
            sentence = f"You call {name}, which this task asks you to write yourself."
            return Verdict("wrong", component.name, (sentence,), line=line)
        if outcome.unfinished:
            return None
    return None


def _flaw(
    component: Component,
    function: Callable[..., Any],
    cases: Sequence[Case],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
    *,
    conventional: bool = False,
) -> Verdict | None:
    """The answers are right, or those of a convention; what about the inputs, and the gradients?"""
    names = component.signature.split(", ")
    numbers = "The numbers are " + ("those of another convention" if conventional else "right")
    for case, mine in zip(cases, found, strict=True):
        if mine.changed:
            name = names[mine.changed[0]].split("=")[0]
            what = "one of its inputs" if component.form == "class" else f"its argument `{name}`"
            return Verdict(
                "wrong",
                component.name,
                (
                    f"{numbers}, but your {component.form} changes {what}: "
                    "whoever called it loses their data. Work on a copy, and avoid operations "
                    f"whose name ends in an underscore, and `+=`. The input was: {case.name}.",
                ),
                line=last_line(function),
            )
    for case, mine, right in zip(cases, found, expected, strict=True):
        if mine.trouble or right.trouble:
            continue  # where nothing can be computed, two versions of a convention may differ
        for i, (slope, target) in enumerate(zip(mine.gradients, right.gradients, strict=True)):
            if target is None or not target.any():
                continue  # no gradient is required here
            if slope is None:
                return Verdict(
                    "wrong",
                    component.name,
                    (
                        f"{numbers}, but no gradient comes back: nothing would be "
                        "learned through this. `.item()`, `.detach()`, `.data`, NumPy, or a "
                        "new `torch.tensor(...)` of old numbers cut the connection.",
                    ),
                )
            if case.rough and slope.isfinite().all():
                continue
            if not same(slope, target):
                return Verdict(
                    "wrong",
                    component.name,
                    (
                        f"{numbers}, but the gradients are not "
                        f"(tensor {i + 1} of the input {case.name!r}): is part of the computation "
                        "cut off from them?",
                        diagnosis.slopes(
                            [
                                (own.gradients[i], other.gradients[i])
                                for own, other in zip(found, expected, strict=True)
                                if _slopes_differ(own, other, i)
                            ]
                        ),
                    ),
                    example=(difference(slope, target) or "").capitalize() + ".",
                )
    return None


def _slopes_differ(mine: Outcome, right: Outcome, i: int) -> bool:
    """Whether both have a gradient for an input's tensor, and the two differ."""
    if mine.trouble or right.trouble or max(len(mine.gradients), len(right.gradients)) <= i:
        return False
    own, other = mine.gradients[i], right.gradients[i]
    return own is not None and other is not None and not same(own, other)
