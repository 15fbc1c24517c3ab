"""What beginners write: functions that make known mistakes, each with the name of its mistake.

They stand in `wrong_*.py`, by chapter, and know nothing of how a mistake is written in
`transformer_book.checks`: other code, other ready-made functions, now and then other behaviour
where the mistake leaves it open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Version:
    """A learner's function, the component it should have been, and the mistake it makes.

    `also` is a second mistake in the same code.
    """

    component: str
    mistake: str
    function: Callable[..., Any]
    also: str | None = None


VERSIONS: list[Version] = []


def wrong(
    component: str,
    mistake: str,
    *,
    also: str | None = None,
    as_class: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a learner's function under the mistake it makes."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        # A module is handed in as an instance, or as the class itself, as learners do.
        made = function() if isinstance(function, type) and not as_class else function
        VERSIONS.append(Version(component, mistake, made, also))
        return function

    return register
