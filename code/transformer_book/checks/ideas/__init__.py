"""The ideas: a folder for each family, and in it a module for each component.

A module says everything about its component: the right steps and the inputs, what a task may
forbid, the boundaries that some input must meet, and the known mistakes, each with its symptom. It
is found by standing here; nothing else names it.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from types import ModuleType

from transformer_book.checks import components
from transformer_book.checks.components import Component, Mistake


def _found() -> list[tuple[Component, ModuleType]]:
    """Each component and its module, in the order of the book."""
    found = []
    for family in pkgutil.iter_modules(__path__):
        package = import_module(f"{__name__}.{family.name}")
        for idea in pkgutil.iter_modules(package.__path__):
            module = import_module(f"{package.__name__}.{idea.name}")
            parts = [part for part in vars(module).values() if isinstance(part, Component)]
            (component,) = [part for part in parts if part.name == idea.name]
            found.append((component, module))
    return sorted(found, key=lambda pair: (pair[0].chapter, pair[0].order, pair[0].name))


_FOUND = _found()
COMPONENTS: dict[str, Component] = {component.name: component for component, _ in _FOUND}
MODULES: dict[str, ModuleType] = {component.name: module for component, module in _FOUND}
FAMILIES: dict[str, str] = {name: of.__name__.split(".")[-2] for name, of in MODULES.items()}
MISTAKES: list[Mistake] = [
    mistake for name in COMPONENTS for mistake in components.MISTAKES.get(name, ())
]
