"""The package imported anew: without the annotations' hook, and with one module damaged."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

from tests.damage import Damage

PACKAGE = "transformer_book"
MODEL = ("embeddings", "attention", "masks", "layers", "encoder", "decoder", "transformer")


def _hooks() -> list[object]:
    return [finder for finder in sys.meta_path if "jaxtyping" in type(finder).__module__]


@contextmanager
def fresh_package(damage: Damage | None = None) -> Iterator[None]:
    """Inside, importing the package runs its source anew, unhooked; afterwards all is as before."""
    before = {name: module for name, module in sys.modules.items() if _ours(name)}
    finders = list(sys.meta_path)
    for name in before:
        del sys.modules[name]
    for hook in _hooks():
        sys.meta_path.remove(hook)
    if damage is not None:
        sys.meta_path.insert(0, damage)
    try:
        yield
    finally:
        for name in [name for name in sys.modules if _ours(name)]:
            del sys.modules[name]
        sys.modules.update(before)
        sys.meta_path[:] = finders


def _ours(name: str) -> bool:
    return name == PACKAGE or name.startswith(PACKAGE + ".")


def import_fresh(name: str) -> ModuleType:
    """The module `name` of the package, imported anew and without the annotations' hook."""
    with fresh_package():
        return importlib.import_module(name)


def import_model(damage: Damage | None = None, *, fresh: bool = False) -> SimpleNamespace:
    """The seven model modules and `pytorch_twins`, as one namespace."""
    names = (*MODEL, "pytorch_twins")
    if not fresh:
        return SimpleNamespace(**{n: importlib.import_module(f"{PACKAGE}.{n}") for n in names})
    with fresh_package(damage):
        return SimpleNamespace(**{n: importlib.import_module(f"{PACKAGE}.{n}") for n in names})
