"""What a check promises, as its docstring says it; all of it comes from what the check uses."""

from __future__ import annotations

from collections.abc import Sequence

from transformer_book.checks.builtin import published
from transformer_book.checks.components import Component, Mistake


def docstring(component: Component, mistakes: Sequence[Mistake]) -> str:
    """The docstring of a component's check."""
    paragraphs = (
        f"Check your `{component.name}({component.signature})`.",
        f"It returns {component.returns}. Chapter {component.chapter}.",
        f"{_right(component)} {_conventions(component, mistakes)}",
        _taken(component),
        f"{published(component)} A chapter never sets it.",
        "Raises:\n        CheckFailed: if it is wrong; the text says how.",
    )
    return "\n\n    ".join(paragraphs) + "\n    "


def _right(component: Component) -> str:
    """What counts as right."""
    if component.returns.startswith("nothing"):
        return "Right is what does the same, up to rounding, on every input."
    told = "Right is what gives these answers, up to rounding, on every input"
    if component.differentiable:
        told += ", and their gradients"
    return f"{told}, and leaves its arguments as they were."


def _conventions(component: Component, mistakes: Sequence[Mistake]) -> str:
    """What counts as another convention, and what becomes of it."""
    names = [m.name for m in mistakes if m.component == component.name and m.kind == "convention"]
    if not names:
        return "All else is wrong."
    return (
        f"Also accepted as another convention, which is told and raises nothing: "
        f"{'; '.join(names)}. With allow_conventions=False, and in a problem set that says so, "
        "it is wrong, as all else is."
    )


def _taken(component: Component) -> str:
    """What may be handed in."""
    form = component.as_class
    if form is None:
        return (
            "Hand in a function, or an instance of a class that is called like it. No call may "
            "depend on those before."
        )
    return (
        f"Hand in a function, or your class, an nn.Module (not an instance): it is built as "
        f"Class({form.constructor}), its parameters are filled by name, and it is called in "
        f"evaluation mode with ({form.forward}). The names: {form.weights}. Biases without a name "
        "here are set to zero. functools.partial(Class, …) sets further arguments. No call may "
        "depend on those before."
    )
