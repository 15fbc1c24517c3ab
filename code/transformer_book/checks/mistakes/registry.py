"""The list of known mistakes, and the decorator that adds to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transformer_book.checks.components import Mistake

MISTAKES: list[Mistake] = []


def mistake(
    component: str, replaces: str, name: str, *, symptom: str, cause: str, section: str, **more: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the wrong version of one step.

    Args:
        component: the component it is found in.
        replaces: the step it takes the place of.
        name, symptom, cause, section: as in `Mistake`.
        **more: `chapter`, `kind`, `seen`; and `steps`, further steps it replaces.
    """

    def register(step: Callable[..., Any]) -> Callable[..., Any]:
        steps = {replaces: step, **more.pop("steps", {})}
        MISTAKES.append(Mistake(name, component, symptom, cause, section, steps, **more))
        return step

    return register
