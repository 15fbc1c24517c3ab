"""Damages: one passage of a source replaced, on disk or where a module is imported."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType


def replaced_once(source: str, old: str, new: str) -> str:
    """The source with a passage replaced, which must stand there exactly once."""
    found = source.count(old)
    assert found == 1, f"{old!r} is in the source {found} times"
    return source.replace(old, new)


@dataclass(frozen=True)
class Damage(MetaPathFinder):
    """What finds a module as it is on disk, but for one passage of its source."""

    module: str  # by its full name
    old: str
    new: str

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        spec = PathFinder.find_spec(fullname, path)
        assert spec is not None and spec.origin is not None, f"there is no module {fullname}"
        spec.loader = _Damaged(fullname, spec.origin, self)
        return spec


class _Damaged(SourceFileLoader):
    def __init__(self, fullname: str, path: str, damage: Damage) -> None:
        super().__init__(fullname, path)
        self.damage = damage

    def get_code(self, fullname: str) -> CodeType:
        """Compiled anew: the cached bytecode is that of the file."""
        source = replaced_once(self.get_source(fullname) or "", self.damage.old, self.damage.new)
        return compile(source, self.path, "exec", dont_inherit=True)
