"""The package imported anew: without the annotations' hook, or from a changed copy of it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace

PACKAGE = "transformer_book"
MODEL = ("embeddings", "attention", "masks", "layers", "encoder", "decoder", "transformer")


def _hooks() -> list[object]:
    return [finder for finder in sys.meta_path if "jaxtyping" in type(finder).__module__]


@contextmanager
def fresh_package(source: Path | None = None) -> Iterator[None]:
    """Inside, importing the package runs its source again, unhooked; afterwards all is as before.

    `source` is a folder to import from instead of the installed one.
    """
    before = {name: module for name, module in sys.modules.items() if _ours(name)}
    path, finders = list(sys.path), list(sys.meta_path)
    for name in before:
        del sys.modules[name]
    for hook in _hooks():
        sys.meta_path.remove(hook)
    if source is not None:
        sys.path.insert(0, str(source))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        for name in [name for name in sys.modules if _ours(name)]:
            del sys.modules[name]
        sys.modules.update(before)
        sys.path[:], sys.meta_path[:] = path, finders
        importlib.invalidate_caches()


def _ours(name: str) -> bool:
    return name == PACKAGE or name.startswith(PACKAGE + ".")


def import_fresh(name: str) -> ModuleType:
    """The module `name` of the package, imported anew and without the annotations' hook."""
    with fresh_package():
        return importlib.import_module(name)


def import_model(source: Path | None = None, *, fresh: bool = False) -> SimpleNamespace:
    """The seven model modules and `pytorch_twins`, as one namespace."""
    names = (*MODEL, "pytorch_twins")
    if not fresh and source is None:
        return SimpleNamespace(**{n: importlib.import_module(f"{PACKAGE}.{n}") for n in names})
    with fresh_package(source):
        modules = {n: importlib.import_module(f"{PACKAGE}.{n}") for n in names}
        if source is not None:
            assert all(str(source) in module.__file__ for module in modules.values())
        return SimpleNamespace(**modules)
