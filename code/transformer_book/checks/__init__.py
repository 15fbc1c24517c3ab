"""What a learner's own code is held against.

A check takes the function you wrote, tries it on inputs that can tell mistakes apart, and says
whether it is right. If it is wrong in a way people are often wrong, it says which way:

    from transformer_book import checks

    checks.merge_heads(my_merge_heads)

Some checks take your class, too, an nn.Module: what its parameters must be called stands in the
check's docstring. With `allow_builtin=False` the ready-made functions that stand there are
forbidden; assignments use it, chapters do not. Where people do a thing in several ways that are
consistent in themselves, the check tells you of another convention than the book's and lets it
pass; with `allow_conventions=False` it does not.

`exercise` does the same for what a chapter asks once, with the cases that stand there. An untouched
stub is "not started". A wrong attempt raises `CheckFailed`, whose text is the verdict.
A mistake is named only if it gives your numbers on at least three inputs on which the right version
gives others; where yours stops or gives nan, it may differ.

Nothing of this is kept, unless you ask for it: `checks.keep_progress()`, or in a terminal
`transformer-book progress --keep`, which also shows and deletes what is kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from transformer_book.checks.components import Component, Mistake
from transformer_book.checks.contract import docstring
from transformer_book.checks.exercise import case, exercise
from transformer_book.checks.ideas import COMPONENTS, FAMILIES, MISTAKES
from transformer_book.checks.judging import judge
from transformer_book.checks.report import publish
from transformer_book.checks.verdicts import CheckFailed, Verdict
from transformer_book.support.progress import keep as keep_progress


def _check(component: Component) -> Callable[..., None]:
    def check(function: Any, *, allow_builtin: bool = True, allow_conventions: bool = True) -> None:
        verdict = judge(component, function, MISTAKES, allow_builtin=allow_builtin)
        page = f"{component.chapter:02}"
        publish(verdict, function, page, allow_conventions=allow_conventions)

    check.__name__ = check.__qualname__ = component.name
    check.__doc__ = docstring(component, MISTAKES)
    return check


globals().update({name: _check(component) for name, component in COMPONENTS.items()})

__all__ = [
    "COMPONENTS",
    "FAMILIES",
    "MISTAKES",
    "CheckFailed",
    "Mistake",
    "Verdict",
    "case",
    "exercise",
    "keep_progress",
    *COMPONENTS,
]
