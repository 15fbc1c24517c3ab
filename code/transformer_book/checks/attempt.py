"""A learner's attempt: what was handed in, as what it is tried, and what it gives on each input."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from transformer_book.checks import kept
from transformer_book.checks.classes import is_class
from transformer_book.checks.comparing import same
from transformer_book.checks.components import Case, Component
from transformer_book.checks.explaining import known_outcomes
from transformer_book.checks.running import Outcome, call


@dataclass(frozen=True)
class Attempt:
    """What a learner hands in for a component.

    Attributes:
        plain: the component, as a function.
        component: the component as it is tried: `plain`, or as a class.
        function: what was handed in: a function, an object or a class.
        seconds: of processor time, for each input.
        anew: the same, but beginning each call in the state of now; `None` if it keeps nothing.
        held: what it holds now.
    """

    plain: Component
    component: Component
    function: Any
    seconds: float
    anew: Callable[..., Any] | None
    held: dict[str, Any] | None

    @classmethod
    def of(cls, plain: Component, function: Any, seconds: float) -> Attempt:
        """The attempt, before its first call.

        Raises:
            TypeError: if `function` is a class where none is taken.
        """
        component = plain
        anew, held = kept.anew(function), kept.attributes(function)
        if is_class(function) and plain.returns.startswith("an `nn.Module`"):
            anew = None  # called with the arguments, it makes what is asked for
        elif isinstance(function, type) or is_class(function):
            if plain.as_class is None or not is_class(function):
                raise TypeError(
                    f"checks.{plain.name} takes a function, not a class: hand in an instance, "
                    "with parentheses, whose arguments are those of the function."
                )
            component = plain.of_class()
        return cls(plain, component, function, seconds, anew, held)

    @property
    def name(self) -> str:
        """The component's."""
        return self.plain.name

    @functools.cached_property
    def cases(self) -> tuple[Case, ...]:
        """The inputs, made for this attempt alone."""
        return tuple(self.component.cases())

    @functools.cached_property
    def given(self) -> tuple[Case, ...]:
        """The same as arguments of the component's function, also where a class is tried."""
        form = self.plain.as_class
        if form is None or self.component is self.plain:
            return self.cases
        return tuple(
            replace(case, arguments=form.arguments(*case.arguments)) for case in self.cases
        )

    @functools.cached_property
    def expected(self) -> Sequence[Outcome]:
        """The right outcomes."""
        return known_outcomes(self.component, ())

    @functools.cached_property
    def tried(self) -> Callable[..., Any]:
        """What is called with a case's arguments."""
        return self.component.observe(self.function)

    def call(self, case: Case, *, gradients: bool = False) -> Outcome:
        """What it gives on one input."""
        return call(
            self.tried, case, gradients=gradients, seconds=self.seconds, source=self.function
        )

    @functools.cached_property
    def found(self) -> tuple[Outcome, ...]:
        """What it gives on each input; ends where it does not, or where its names differ."""
        found: list[Outcome] = []
        for case in self.cases:
            found.append(self.call(case, gradients=self.component.differentiable))
            if found[-1].unfinished or found[-1].names_differ:
                break  # nor would it finish on the other inputs
        return tuple(found)

    @functools.cached_property
    def wrong(self) -> list[int]:
        """The places of the inputs on which it is wrong."""
        return [
            i
            for i, (mine, right) in enumerate(zip(self.found, self.expected, strict=False))
            if mine.trouble or not same(mine.answer, right.answer)
        ]

    def right_alone(self) -> bool:
        """Whether it is right on each input if nothing is kept from the calls before."""
        if self.anew is None:
            return False
        tried = self.component.observe(self.anew)
        for case, right in zip(self.cases, self.expected, strict=True):
            mine = call(tried, case, gradients=False, seconds=self.seconds)
            if mine.trouble or not same(mine.answer, right.answer):
                return False
        return True
