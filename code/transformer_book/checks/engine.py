"""How a learner's function is run, compared and judged; what is compared stands in the components.

A `Component` is a pipeline of named steps. Its reference is the pipeline with the right steps, and
a known `Mistake` puts one small wrong step in the place of a right one. So mistakes can be tried
singly and in pairs, and a verdict names one only if it gives the learner's own numbers.
"""

from __future__ import annotations

import contextlib
import copy
import dis
import functools
import inspect
import io
import itertools
import math
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from transformer_book.checks import builtin, diagnosis, kept, watchdog
from transformer_book.checks.comparing import brief, difference, same

SECONDS = 20.0  # of processor time, for one input
CONFIRMATIONS = 3  # a mistake is named if it gives the learner's numbers on so many inputs


@dataclass(frozen=True)
class Case:
    """One input: what it tries, and the arguments.

    `rough` inputs have gradients that rounding decides (a softmax of scores in the thousands):
    correct versions differ there, so a gradient only has to arrive and to be finite.
    """

    name: str
    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    rough: bool = False


@dataclass(frozen=True)
class Mistake:
    """A known mistake: one step of a component, done wrongly.

    Attributes:
        name: short, as a reader would search for it.
        component: the component it is found in.
        symptom: one sentence, what is seen.
        cause: one sentence, what was done and what to do instead.
        section: the heading of the chapter's section that explains it.
        kind: `"wrong"`, `"convention"` (a different but consistent choice) or `"harmless"`.
        seen: where it was found in the wild: the title of a public thread, and its address.
        steps: by name, the wrong versions.
        chapter: if another one than the component's.
        stops: it is seen by where it stops, with an exception, and not by numbers.
    """

    name: str
    component: str
    symptom: str
    cause: str
    section: str
    steps: Mapping[str, Callable[..., Any]]
    kind: str = "wrong"
    seen: str = ""
    chapter: int | None = None
    stops: bool = False


@dataclass(frozen=True)
class AsClass:
    """How a component is tried that a learner hands in as a class: an `nn.Module`, not an instance.

    It is built with sizes, its parameters are filled by their published names, and it is called
    with the inputs, in evaluation mode.

    Attributes:
        constructor, forward: the arguments of both, as text.
        weights: the published names, with their shapes, as text.
        cases: inputs whose arguments are `(sizes, weights, inputs)`.
        arguments: `arguments(sizes, weights, inputs)` are those of the component's function.
    """

    constructor: str
    forward: str
    weights: str
    cases: Callable[[], Sequence[Case]]
    arguments: Callable[..., tuple[Any, ...]]


@dataclass(frozen=True)
class Component:
    """Something a learner writes, and how it is tried.

    Attributes:
        name: of the check.
        chapter, section: where it is explained.
        signature: the arguments the learner's function takes, as text.
        pipeline: `pipeline(steps, *arguments)` computes the answer from the steps.
        steps: the right steps, by name.
        cases: the inputs, smallest first; called anew for every check.
        differentiable: compare gradients, too.
        returns: what the function returns, in words, with its shape.
        observe: makes of a function one whose answer can be compared; for components that are
            judged by what they do, not by what they return.
        alike: right steps in another form, by name. They change nothing in the right version, but
            a mistake beside them gives other numbers, so mistakes are tried with them, too.
        settled: `settled(case, answer)`, the part of an answer by which a mistake is recognised
            when none gives the whole of it; the rest depends on how the mistake is written.
        as_class: how a class is tried in place of a function, if one is taken.
        form: `"function"`, or `"class"` for what `of_class` makes.
    """

    name: str
    chapter: int
    section: str
    signature: str
    pipeline: Callable[..., Any]
    steps: Mapping[str, Callable[..., Any]]
    cases: Callable[[], Sequence[Case]]
    returns: str
    differentiable: bool = True
    observe: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda function: function
    alike: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    settled: Callable[[Case, Any], Any] | None = None
    as_class: AsClass | None = None
    form: str = "function"

    def reference(self, *arguments: Any, **keywords: Any) -> Any:
        """The right answer."""
        return self.version({})(*arguments, **keywords)

    def version(self, wrong: Mapping[str, Callable[..., Any]]) -> Callable[..., Any]:
        """The component with some of its steps replaced."""
        steps = _Steps({**self.steps, **wrong})
        return lambda *arguments, **keywords: self.pipeline(steps, *arguments, **keywords)

    def of_class(self) -> Component:
        """The same component, tried on sizes, weights and inputs, as a class is."""
        form = self.as_class
        assert form is not None
        settled = self.settled
        names = list(inspect.signature(self.pipeline).parameters)[1:]

        def pipeline(steps: Any, *given: Any) -> Any:
            return self.pipeline(steps, *form.arguments(*given))

        def settled_part(case: Case, answer: Any) -> Any:
            given = dict(zip(names, form.arguments(*case.arguments), strict=False))
            return settled(Case(case.name, tuple(given.values()), given), answer)

        return replace(
            self,
            signature="sizes, weights, inputs",
            pipeline=pipeline,
            cases=form.cases,
            observe=lambda made: lambda *given: built(made, *given),
            settled=settled and settled_part,
            form="class",
        )


class NamesDiffer(Exception):
    """A learner's class whose parameters are called otherwise than the check's docstring says."""


def built(
    made: Callable[..., nn.Module],
    sizes: tuple[int, ...],
    weights: Mapping[str, Tensor],
    inputs: tuple[Any, ...],
) -> Any:
    """What a learner's class gives, built with these sizes, filled with these weights.

    Raises:
        NamesDiffer: if the parameters have other names, or other shapes.
    """
    return filled(made(*sizes).eval(), sizes, weights, inputs)


def filled(
    module: nn.Module,
    sizes: tuple[int, ...],
    weights: Mapping[str, Tensor],
    inputs: tuple[Any, ...],
) -> Any:
    """What a learner's module gives with these weights in the place of its own.

    A bias that has no published name is set to zero.

    Raises:
        NamesDiffer: if the parameters have other names, or other shapes.
    """
    own = dict(module.named_parameters(remove_duplicate=False))
    extra = [n for n in own if n not in weights and not n.endswith("bias")]
    missing = [n for n in weights if n not in own]
    if extra or missing:
        has = ", ".join(own) or "none"
        raise NamesDiffer(
            f"The parameters of your class have other names than this check fills. Yours: {has}. "
            f"It fills: {', '.join(weights)}. Give them these names."
        )
    for name, weight in weights.items():
        if own[name].shape != weight.shape:
            raise NamesDiffer(
                f"The parameter {name} has the shape {tuple(own[name].shape)} in your class, "
                f"built with {sizes}; it should be {tuple(weight.shape)}."
            )
    shared = [n for n in weights for m in weights if n < m and own[n] is own[m]]
    if shared:
        raise NamesDiffer(
            f"Your class uses one and the same parameter twice: {shared[0]} is shared with another "
            "one. A fresh model gives the same numbers, but the weights of a trained one have no "
            "place in it: make a module for each."
        )
    zeros = {name: torch.zeros_like(p) for name, p in own.items() if name not in weights}
    return torch.func.functional_call(module, {**zeros, **weights}, inputs)


def is_class(function: object) -> bool:
    """Whether it is a subclass of `nn.Module`, or a partial of one: something that makes modules.

    `functools.partial(MyLayer, dropout=0.0)` sets what the check does not.
    """
    if isinstance(function, functools.partial):
        return is_class(function.func)
    return isinstance(function, type) and issubclass(function, nn.Module)


class _Steps(dict):
    """Steps read as attributes: `steps.scores(query, key)`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None


@dataclass(frozen=True)
class Outcome:
    """What one call gave: an answer and the gradients of its inputs, or why there is none."""

    answer: Any = None
    gradients: tuple[Tensor | None, ...] = ()
    trouble: str | None = None
    line: int | None = None
    printed: bool = False
    changed: tuple[int, ...] = ()  # which arguments were changed in place
    unfinished: bool = False  # it was stopped: it computed, or waited, for too long
    names_differ: bool = False

    @functools.cached_property
    def total(self) -> tuple[float, float] | None:
        """Of a tensor of finite numbers: their sum, and how far rounding may move it."""
        if not isinstance(self.answer, Tensor) or not self.answer.is_floating_point():
            return None
        numbers = self.answer.double()
        total = numbers.sum().item()
        size = max(1e-3, numbers.abs().max().item()) if numbers.numel() else 1e-3
        return (total, 2e-4 * size * numbers.numel()) if math.isfinite(total) else None

    def cannot_equal(self, other: Outcome) -> bool:
        """Whether the sums differ already: cheaper than to compare all entries."""
        mine, theirs = self.total, other.total
        return bool(mine and theirs) and abs(mine[0] - theirs[0]) > mine[1] + theirs[1]


class CheckFailed(AssertionError):
    """The check's verdict on a wrong attempt; notebooks show its sentences, not a traceback."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.text())
        self.verdict = verdict

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of the traceback (its own hook for this)."""
        return [f"CheckFailed: {self}"]


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    Attributes:
        status: `"not started"`, `"right"`, `"convention"` or `"wrong"`.
        component: the name of what was checked.
        sentences: what to tell the learner, in order.
        mistakes: the known mistakes that explain the learner's numbers; several if they
            cannot be told apart, or come together (then `together`).
        together: the mistakes are made at the same time.
        example: the smallest numeric difference.
    """

    status: str
    component: str
    sentences: tuple[str, ...]
    mistakes: tuple[Mistake, ...] = ()
    together: bool = False
    example: str = ""
    line: int | None = None

    def text(self) -> str:
        """The verdict as plain text."""
        return " ".join(part for part in (*self.sentences, self.example) if part)


def _leaves(value: Any) -> Iterator[Tensor]:
    """Every floating-point tensor inside nested tuples, lists and dictionaries."""
    if isinstance(value, Tensor):
        if value.dtype.is_floating_point:
            yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _leaves(item)


def _fresh(value: Any, gradients: bool) -> Any:
    """A copy of an argument whose floating-point tensors may collect gradients."""
    value = _copied(value)
    if gradients:
        for leaf in _leaves(value):
            leaf.requires_grad_()
    return value


def _copied(value: Any) -> Any:
    """As `copy.deepcopy` does it, which is slow for tensors."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    return copy.deepcopy(value)


def call(
    function: Callable[..., Any],
    case: Case,
    *,
    gradients: bool,
    seconds: float = SECONDS,
    asleep: float | None = None,
    source: Callable[..., Any] | None = None,
) -> Outcome:
    """Run a function on one case; whatever it does, an `Outcome` comes back.

    It may use `seconds` of processor time, on one thread, and sleep for `asleep` seconds, see
    `watchdog`. `source` is the learner's own function, whose lines are reported, if `function`
    wraps it.
    """
    source = source or function
    arguments, keywords = _fresh((case.arguments, dict(case.keywords)), gradients)
    leaves = list(_leaves((arguments, keywords)))
    # Behind a copy, in-place changes of the inputs are reported by us, not refused by autograd.
    handed = _mapped(torch.clone, (arguments, keywords))
    output = io.StringIO()
    try:
        # The fused attention kernels do not check that keys and values are equally many: they
        # read past the end, and the learner's process dies. The plain one raises an error.
        with (
            one_thread(),
            watchdog.limit(seconds, asleep, sys._getframe()),
            contextlib.redirect_stdout(_Bounded(output)),
            sdpa_kernel(SDPBackend.MATH),
        ):
            torch.default_generator.manual_seed(0)  # torch.manual_seed is slow
            answer = function(*handed[0], **handed[1])
    except watchdog.TooLong as stop:
        return Outcome(trouble=_unfinished(stop), line=learners_line(stop, source), unfinished=True)
    except NamesDiffer as error:
        return Outcome(trouble=str(error), names_differ=True)
    except RecursionError as error:
        return Outcome(trouble="It calls itself without end", line=learners_line(error, source))
    except (Exception, SystemExit) as error:
        message = " ".join(str(error).split())[:300]
        kind = type(error).__name__
        return Outcome(
            trouble=f"It stops with {kind}" + (f": {message}" if message else ""),
            line=learners_line(error, source),
        )
    changed = tuple(
        i
        for i, (now, then) in enumerate(zip(handed[0], case.arguments, strict=True))
        if not _unchanged(now, then)
    )
    slopes: tuple[Tensor | None, ...] = ()
    if gradients and not changed:
        try:
            slopes = _gradients(answer, leaves)
        except RuntimeError as error:
            message = " ".join(str(error).split())[:200]
            return Outcome(trouble=f"No gradient can be computed through it: {message}")
    return Outcome(
        answer=_mapped(lambda tensor: tensor.detach().clone(), answer),
        gradients=slopes,
        printed=bool(output.getvalue()),
        changed=changed,
    )


def _unfinished(stop: watchdog.TooLong) -> str:
    """Why it was stopped. It is called endless only if it was seen to be."""
    if stop.waits:
        return (
            "It waits and does not go on (`time.sleep`, `input()` or a lock does that); it was "
            f"stopped after it had slept for {stop.slept:.0f} seconds"
        )
    if stop.endless:
        return f"An endless loop, {stop.endless}"
    return (
        f"Not finished after {stop.computed:.2g} seconds of processor time: either it never ends, "
        "or it does far more work than is needed. It was stopped"
    )


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch compute on one thread: threads that wait for each other spin, and use up time."""
    threads = torch.get_num_threads()
    if threads == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class _Bounded(io.TextIOBase):
    """Takes what is printed, and keeps the beginning: endless printing must not fill the memory."""

    def __init__(self, into: io.StringIO) -> None:
        self.into = into

    def write(self, text: str) -> int:
        if self.into.tell() < 1000:
            self.into.write(text[:1000])
        return len(text)


def _mapped(change: Callable[[Tensor], Tensor], value: Any) -> Any:
    """The same nest of tuples, lists and dictionaries with every tensor in it changed."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: _mapped(change, item) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_mapped(change, item) for item in value)
    return value


def _unchanged(now: Any, then: Any) -> bool:
    if isinstance(then, Tensor):
        return (
            isinstance(now, Tensor)
            and now.shape == then.shape
            and torch.equal(torch.nan_to_num(now.detach()), torch.nan_to_num(then))
        )
    if isinstance(then, dict):
        return now.keys() == then.keys() and all(_unchanged(now[k], then[k]) for k in then)
    if isinstance(then, (list, tuple)):
        return len(now) == len(then) and all(map(_unchanged, now, then))
    return True


def _gradients(answer: Any, leaves: Sequence[Tensor]) -> tuple[Tensor | None, ...]:
    """What a fixed random weighting of the answer sends back to each input."""
    outputs = [leaf for leaf in _leaves(answer) if leaf.requires_grad]
    if not outputs:
        return (None,) * len(leaves)
    generator = torch.Generator().manual_seed(1)
    total = sum(
        (leaf.double() * torch.randn(leaf.shape, generator=generator, dtype=torch.float64)).sum()
        for leaf in outputs
    )
    return torch.autograd.grad(total, leaves, allow_unused=True)


def learners_line(error: BaseException, function: Callable[..., Any]) -> int | None:
    """The last line of the learner's own file in a traceback."""
    code = _code(function)
    file = code.co_filename if code else None
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file
    ]
    return frames[-1].lineno if frames else None


def _code(function: Any) -> CodeType | None:
    """What the learner wrote: of a function, a method, a partial, a module, a callable object."""
    if isinstance(function, functools.partial):
        return _code(function.func)
    if isinstance(function, nn.Module) or is_class(function):
        kind = function if isinstance(function, type) else type(function)
        function = getattr(kind, "forward", None)  # compiled ones have none
    elif not hasattr(function, "__code__") and not hasattr(function, "__wrapped__"):
        function = getattr(type(function), "__call__", None)  # noqa: B004
    return getattr(inspect.unwrap(function), "__code__", None)


def is_untouched(function: object) -> bool:
    """A stub nobody has written into: only a docstring, `pass`, `...` or `return None`."""
    code = _code(function) if callable(function) else None
    if code is None:
        return False
    trivial = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "COPY_FREE_VARS"}
    constants = [step.argval for step in dis.get_instructions(code) if "CONST" in step.opname]
    return (
        all(step.opname in trivial for step in dis.get_instructions(code))
        and set(map(repr, constants)) <= {"None"}
    ) or _raises_not_implemented(code)


def _raises_not_implemented(code: Any) -> bool:
    names = [step.argval for step in dis.get_instructions(code) if "GLOBAL" in step.opname]
    raises = any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(code))
    return raises and names == ["NotImplementedError"]


# --- the verdict ---------------------------------------------------------------------------------


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
            or _right(component, cases, found)
        )
    first = wrong[0]
    mine = found[first]
    explained = [] if len(found) < len(cases) else explain(component, mistakes, found, expected)
    if explained:
        named = _named(component, cases, found, expected, wrong, explained)
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
        example = _example(mine, expected[first])
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
    example = " ".join((_example(mine, expected[first]), diagnosis.shown(plain, given[first])))
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
            return _keeps(plain, function, names, case.name, _example(mine, Outcome(right)))
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
        with contextlib.redirect_stdout(_Bounded(io.StringIO())):
            module = made(*sizes).eval()
        held = kept.attributes(module)
        function = functools.partial(filled, module)
        for inputs in kept.in_a_row([case.arguments[2] for case in cases]):
            case = Case("", (sizes, weights, inputs))
            right = call(component.reference, case, gradients=False)
            mine = call(function, case, gradients=False, seconds=seconds, source=made)
            if not right.trouble and (mine.trouble or not same(mine.answer, right.answer)):
                names = kept.changed(module, held)
                return _keeps(plain, made, names, "", _example(mine, right))
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
        with builtin.watch(component.name, _code(function)) as noted:
            outcome = call(tried, case, gradients=False, seconds=seconds, source=function)
        if noted:
            name, line = noted[0]
            sentence = f"You call {name}, which this task asks you to write yourself."
            return Verdict("wrong", component.name, (sentence,), line=line)
        if outcome.unfinished:
            return None
    return None


def must_be_callable(function: object, check: str) -> None:
    """Raise `TypeError` for what is no function."""
    if not callable(function):
        raise TypeError(
            f"checks.{check} takes your function itself, not {brief(function)}: write "
            f"its name without parentheses."
        )


def unsaid() -> str:
    """What to tell a learner whose function returns nothing."""
    return "It returns nothing (None): is the `return` missing?"


def stopped(name: str, case: Case, mine: Outcome) -> Verdict:
    """The verdict on a function that raised an exception, or did not end."""
    if mine.names_differ:
        return Verdict("wrong", name, (mine.trouble or "",))
    at = f", in line {mine.line} of your cell or file" if mine.line else ""
    of = f" The input was: {case.name}." if case.name else ""
    return Verdict("wrong", name, (f"{mine.trouble}{at}.{of}", _shapes(case)), line=mine.line)


def _example(mine: Outcome, right: Outcome) -> str:
    found = difference(mine.answer, right.answer)
    return f"{found[0].upper()}{found[1:]}." if found else ""


def _shapes(case: Case) -> str:
    """The shapes of the input, for a learner whose function stopped."""
    flat = (b for a in case.arguments for b in (a if isinstance(a, tuple) else (a,)))
    shapes = [tuple(tensor.shape) for tensor in flat if isinstance(tensor, Tensor)]
    if len(shapes) == 1:
        return f"Its tensor has the shape {shapes[0]}."
    return f"Its tensors have the shapes {', '.join(map(str, shapes))}." if shapes else ""


def last_line(function: Callable[..., Any]) -> int | None:
    """The last line of what the learner wrote."""
    code = _code(function)
    lines = [line for *_, line in code.co_lines() if line] if code else []
    return max(lines, default=None)


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
                continue  # nothing needs to come back here
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
    """Whether both have a gradient for an input's tensor, and another one."""
    if mine.trouble or right.trouble or max(len(mine.gradients), len(right.gradients)) <= i:
        return False
    own, other = mine.gradients[i], right.gradients[i]
    return own is not None and other is not None and not same(own, other)


def _right(component: Component, cases: Sequence[Case], found: Sequence[Outcome]) -> Verdict:
    sentences = [
        f"Right: {len(cases)} inputs" + (", gradients, too." if component.differentiable else ".")
    ]
    if any(outcome.printed for outcome in found):
        sentences.append("(What it printed meanwhile was left out.)")
    return Verdict("right", component.name, tuple(sentences))


class _Known(Sequence[Outcome]):
    """What a component gives with some mistakes, or with none: each case when it is asked for.

    Most groups of mistakes are ruled out by the first case already.
    """

    def __init__(self, component: Component, group: tuple[Mistake, ...], alike: bool) -> None:
        wrong = dict(component.alike) if alike else {}
        wrong |= {name: step for mistake in group for name, step in mistake.steps.items()}
        version = component.version(wrong)
        self.version = component.observe(version) if component.form == "function" else version
        self.gradients = component.differentiable and not group
        self.cases = CASES.setdefault((component.name, component.form), tuple(component.cases()))
        self.found: dict[int, Outcome] = {}

    def __len__(self) -> int:
        return len(self.cases)

    def __getitem__(self, i: Any) -> Any:
        if i not in self.found:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a mistake of ours is not the learner's
                self.found[i] = call(self.version, self.cases[i], gradients=self.gradients)
        return self.found[i]


CASES: dict[tuple[str, str], tuple[Case, ...]] = {}
KNOWN: dict[tuple[str, str, tuple[str, ...], bool], _Known] = {}


def known_outcomes(
    component: Component, group: tuple[Mistake, ...], *, alike: bool = False
) -> _Known:
    """What a component gives with these mistakes, or with none; computed once in a process."""
    key = (component.name, component.form, tuple(mistake.name for mistake in group), alike)
    if key not in KNOWN:
        KNOWN[key] = _Known(component, group, alike)
    return KNOWN[key]


def explain(
    component: Component,
    mistakes: Sequence[Mistake],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
) -> list[tuple[Mistake, ...]]:
    """The known mistakes that give the learner's own numbers: single ones, or else pairs."""
    known = [m for m in mistakes if m.component == component.name and m.kind != "harmless"]
    singles = [(mistake,) for mistake in known]
    pairs = [
        (a, b) for a, b in itertools.combinations(known, 2) if not a.steps.keys() & b.steps.keys()
    ]
    cases = component.cases()
    for groups, alike, loosely in (
        (singles, False, ()),
        (singles, True, ()),
        (pairs, False, ()),
        (pairs, True, ()),
        (singles, False, cases),
        (singles, True, cases),
    ):
        if alike and not component.alike:
            continue
        explained = [
            group
            for group in groups
            if not (alike and any(m.steps.keys() & component.alike.keys() for m in group))
            and _confirmed(component, group, found, expected, loosely, alike=alike)
        ]
        if explained:
            return _by_trace(component, explained, found, alike) or explained
    return []


def _by_trace(
    component: Component,
    explained: Sequence[tuple[Mistake, ...]],
    found: Sequence[Outcome],
    alike: bool,
) -> list[tuple[Mistake, ...]]:
    """Of those that give the learner's numbers, the ones that come to them in the same way.

    Some answers have a `trace`, such as the number of steps of a search, that is not compared.
    """

    def traces(outcomes: Sequence[Outcome]) -> list[Any]:
        return [getattr(outcome.answer, "trace", None) for outcome in outcomes]

    mine = traces(found)
    return [
        group
        for group in explained
        if traces(known_outcomes(component, group, alike=alike)) == mine
    ]


def _confirmed(
    component: Component,
    group: tuple[Mistake, ...],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
    loosely: Sequence[Case] = (),
    alike: bool = False,
) -> bool:
    """Whether these mistakes together give the learner's answer on every input.

    On at least three inputs the answer must be one that the right version does not give.
    `loosely`, on these cases: one of the two may stop, or give nan, where the other does not, but
    not on more than half of the inputs.
    """
    telling = excused = 0
    stops = not loosely and any(mistake.stops for mistake in group)
    versions = known_outcomes(component, group, alike=alike)
    for i, (mine, right, theirs) in enumerate(zip(found, expected, versions, strict=True)):
        if bool(theirs.trouble) != bool(mine.trouble) and not loosely:
            return False
        if theirs.trouble or mine.trouble:
            excused += bool(theirs.trouble) != bool(mine.trouble)
            telling += stops and not right.trouble
            continue
        if not loosely and mine.cannot_equal(theirs):
            return False
        answers = mine.answer, right.answer, theirs.answer
        if loosely:
            answers = _comparable(component, loosely[i], *answers)
            excused += isinstance(answers[0], Tensor) and _nowhere(mine.answer, theirs.answer)
        if not same(answers[0], answers[2]):
            return False
        telling += not same(answers[2], answers[1])
    return telling >= CONFIRMATIONS and 2 * excused <= len(found)


def _nowhere(mine: Any, theirs: Any) -> bool:
    """Whether there is no entry that both give as a number, or both as nan."""
    if not isinstance(mine, Tensor) or not isinstance(theirs, Tensor) or mine.shape != theirs.shape:
        return False
    return bool((mine.isnan() ^ theirs.isnan()).all())


def _comparable(component: Component, case: Case, *answers: Any) -> tuple[Any, ...]:
    """The learner's, the right and the mistaken answer, without what depends on the wording."""
    if component.settled is not None:
        answers = tuple(component.settled(case, answer) for answer in answers)
    mine, right, theirs = answers
    if all(isinstance(answer, list) and len(answer) == len(mine) for answer in answers):
        rows = [_comparable(component, case, *row) for row in zip(*answers, strict=True)]
        return tuple(map(list, zip(*rows, strict=True))) if rows else answers
    if not isinstance(mine, Tensor) or not isinstance(theirs, Tensor):
        return answers
    if torch.bool not in (mine.dtype, theirs.dtype):
        mine = mine.to(theirs.dtype)
    if mine.shape == theirs.shape and theirs.is_floating_point():
        odd = mine.isnan() ^ theirs.isnan()
        mine, theirs = mine.masked_fill(odd, 0.0), theirs.masked_fill(odd, 0.0)
        if isinstance(right, Tensor) and right.shape == odd.shape:
            right = right.masked_fill(odd, 0)
    return mine, right, theirs


def _named(
    component: Component,
    cases: Sequence[Case],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
    wrong: Sequence[int],
    explained: Sequence[tuple[Mistake, ...]],
) -> Verdict:
    first = next((i for i in wrong if not found[i].trouble), wrong[0])
    example = _example(found[first], expected[first])
    if example:
        example = f"On the input {cases[first].name!r}: {example[0].lower()}{example[1:]}"
    told = tuple(itertools.chain(*explained))
    convention = all(mistake.kind == "convention" for mistake in told)
    status, kind = ("convention", "conventions") if convention else ("wrong", "mistakes")
    if len(told) == 1:
        (mistake,) = told
        sentences = (mistake.symptom, mistake.cause, where(component, mistake))
        return Verdict(status, component.name, sentences, told, example=example)
    if len(explained[0]) == 2:
        a, b = explained[0]
        sentences = (
            f"Two {kind} together explain your numbers.",
            f"First: {a.symptom} {a.cause} {where(component, a)}",
            f"Second: {b.symptom} {b.cause} {where(component, b)}",
        )
        return Verdict(status, component.name, sentences, (a, b), together=True, example=example)
    sentences = (
        f"{len(told)} known {kind} explain your numbers, and no input tells them apart.",
        *(f"{m.symptom} {m.cause} {where(component, m)}" for m in told),
    )
    return Verdict(status, component.name, sentences, told, example=example)


def where(component: Component, mistake: Mistake) -> str:
    """Where the book explains it."""
    return f"See chapter {mistake.chapter or component.chapter}, “{mistake.section}”."
