"""What a check tries: a component, its steps, the known mistakes in them, and the inputs.

A `Component` is a pipeline of named steps. Its reference is the pipeline with the right steps, and
a known `Mistake` puts one small wrong step in the place of a right one. So mistakes can be tried
singly and in pairs, and a verdict names one only if it gives the learner's own numbers.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transformer_book.checks.classes import built


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

    @property
    def given(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What a function is called with."""
        return self.arguments, dict(self.keywords)


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
        seen: where it was found in the wild: the title of a public thread, and its address, as read
            in 2026. Most were mended long ago, many by the very people who made them: which is why
            they can be shown.
        steps: by name, the wrong versions.
        chapter: if another one than the component's.
        stops: it is seen by where it stops, with an exception, and not by numbers.
        met: the key of the symptom by which it is met (`catalogue`), else the component's.
        rank: its place among the causes to suspect first; 0 behind them.
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
    met: str = ""
    rank: int = 0


@dataclass(frozen=True)
class AsClass:
    """How to try a component handed in as a class: a subclass of `nn.Module`, not an instance.

    It is built with sizes, or with a configuration of these sizes if that is all it takes, its
    parameters are filled by their published names, and it is called with the inputs, in evaluation
    mode.

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
        steps: the right steps, by name. A step is handed what its known mistakes look at, too, and
            may leave it alone: `x` in the second layer is for the one that adds it there.
        cases: the inputs, smallest first; called anew for every check.
        differentiable: compare gradients, too.
        returns: what the function returns, in words, with its shape.
        observe: turns a function into one whose answer can be compared; for components that are
            judged by what they do, not by what they return.
        compared: what was done to an answer before it is compared, a sentence; it stands behind an
            example, whose entry the answer itself may not have.
        alike: right steps in another form, by name. They change nothing in the right version, but
            a mistake beside them gives other numbers, so mistakes are tried with them, too.
        settled: `settled(case, answer)`, the part of an answer by which a mistake is recognised
            when none gives the whole of it; the rest depends on how the mistake is written.
        as_class: how a class is tried in place of a function, if one is taken.
        order: its place among the components of its chapter.
        done_by: the name in the package of what does it, `Class` or `Class.method`, if it is
            another one.
        met: the key of the symptom by which its mistakes are met, see `catalogue`.
        ready_made: what a task on it may forbid, by the name a learner knows it by. A text names
            code of this package: `module.function`, `room/module.function`.
        boundaries: conditions on the arguments, by name. Some input must meet each of them, so that
            a program that is right everywhere else is found out.
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
    compared: str = ""
    alike: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    settled: Callable[[Case, Any], Any] | None = None
    as_class: AsClass | None = None
    form: str = "function"
    order: int = 99
    done_by: str = ""
    met: str = ""
    ready_made: Mapping[str, Any] = field(default_factory=dict)
    boundaries: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The names of the arguments of a learner's function."""
        return [argument.partition("=")[0] for argument in self.signature.split(", ")]

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


MISTAKES: dict[str, list[Mistake]] = {}
"""The known mistakes of each component whose module has been imported."""


def mistakes_in(component: Component) -> Callable[..., Callable[..., Any]]:
    """The decorator for the known mistakes of a component, below it in its module."""
    known = MISTAKES[component.name] = []

    def mistake(
        replaces: str,
        name: str,
        *,
        symptom: str,
        cause: str,
        section: str = component.section,
        met: tuple[str, int] = ("", 0),
        **more: Any,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Note the decorated function as the wrong version of one step.

        Args:
            replaces: the step it takes the place of.
            name, symptom, cause: as in `Mistake`.
            section: the heading that explains it, if it is not the component's.
            met: the key of the symptom by which it is met, and its rank there.
            **more: `chapter`, `kind`, `seen`, `stops`; and `steps`, further steps it replaces.
        """

        def note(step: Callable[..., Any]) -> Callable[..., Any]:
            steps = {replaces: step, **more.pop("steps", {})}
            told = (name, component.name, symptom, cause, section, steps)
            known.append(Mistake(*told, met=met[0], rank=met[1], **more))
            return step

        return note

    return mistake


class _Steps(dict):
    """Steps read as attributes: `steps.scores(query, key)`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None
