"""What people write: right and wrong versions of the checked functions, with what is said of each.

A folder holds a family of ideas: `right.py` and `wrong.py` are what we wrote, `blind.py` is what
others wrote who had read the docstrings of the checks alone; `reports.py` rebuilds what people
reported in public, in our own code, and says when. `parts.py` has right parts that versions of
whole layers are made of. Each version has one decorator:

    @version("softmax", "right", "with a loop")
    @version("softmax", "wrong: softmax over the queries")
    @version("softmax", "wrong", by=12)

It says the component, the expected verdict with the names of the mistakes that are told, and who
wrote it blind: a number of `ROUNDS`, which says when. Where several people wrote the same, as
`tools/twins.py` measures it, one version stands for all of them. Those that stood here before are
in the history, under the tag `corpus-before-merging` (commit d0aa191, folders `attacks`,
`correct_versions` and `wrong_*.py` of `tests/checks`); the last fourteen at commit 13c14f7.

The code is as it was written, with other people's habits; it knows nothing of how a mistake is
written in `transformer_book.checks`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

# Authors who wrote blind, by round; each round had read the docstrings as they were then.
ROUNDS = {
    1: ("November 2026", (1, 2, 3)),
    2: ("November 2026", (4, 5, 6)),
    3: ("November 2026", (7, 8)),
    4: ("November 2026", (10, 11)),
    5: ("November 2026", (12, 13)),
}
AUTHORS = {author: number for number, (_, authors) in ROUNDS.items() for author in authors}


@dataclass(frozen=True)
class Version:
    """A version, and what is expected of it.

    Attributes:
        component: what it should be.
        status: of the verdict: `"right"`, `"convention"` or `"wrong"`.
        names: the mistakes that are told: made together, or not told apart.
        together: the mistakes are made at the same time.
        label: how a right one is written, else the name of the function.
        by: who wrote it, or a twin of it, blind.
        meant: `"right"` or `"wrong"`, as its author meant it.
        made: the function, the class or the object.
    """

    component: str
    status: str
    names: tuple[str, ...]
    together: bool
    label: str
    by: tuple[int, ...]
    meant: str
    made: Any

    @property
    def verdict(self) -> str:
        """What is expected, as the decorator says it."""
        told = (" + " if self.together else " / ").join(self.names)
        return f"{self.status}: {told}" if told else self.status


FOLDER = Path(__file__).parent
VERSIONS: list[Version] = []
LOADED: dict[Path, list[Version]] = {}


def version(
    component: str,
    verdict: str,
    label: str = "",
    *,
    by: int | tuple[int, ...] = (),
    instance: bool = False,
    once_open: bool = False,
) -> Callable[[Any], Any]:
    """Notes that the decorated function, class or object is a version of a component.

    Args:
        component: what it should be.
        verdict: `"right"`, `"wrong"` or `"convention"`, and behind a colon the names that are told:
            `a + b` for two mistakes at once, `a / b` for what no input tells apart.
        label: how a right version is written.
        by: the blind authors who wrote it, or a twin of it.
        instance: a class is handed in as an instance, made without arguments.
        once_open: its author meant it as wrong. The docstring left open what it does otherwise, and
            says now that this does not come, or is no matter.

    Raises:
        ValueError: if the verdict is none, or an author is not in `ROUNDS`.
    """
    status, _, told = verdict.partition(": ")
    authors = (by,) if isinstance(by, int) else by
    if status not in ("right", "convention", "wrong") or (status == "right" and told):
        raise ValueError(f"{verdict!r} is no verdict: write right, or wrong: and what is told.")
    if unknown := [author for author in authors if author not in AUTHORS]:
        raise ValueError(f"Author {unknown[0]} is in no round: say in ROUNDS when it was.")
    together = " + " in told
    names = tuple(told.split(" + " if together else " / ")) if told else ()
    meant = "right" if status == "right" and not once_open else "wrong"

    def note(made: Any) -> Any:
        given = made() if instance else made
        named = label or getattr(made, "__name__", type(made).__name__)
        VERSIONS.append(Version(component, status, names, together, named, authors, meant, given))
        return made

    return note


def load(*paths: Path) -> list[Version]:
    """The versions of these files of the corpus, or of all of them; each file is run once."""
    found: list[Version] = []
    for path in paths or sorted(FOLDER.glob("*/*.py")):
        if path not in LOADED:
            before = len(VERSIONS)
            import_module(f"{__name__}.{path.parent.name}.{path.stem}")
            LOADED[path] = VERSIONS[before:]
        found += LOADED[path]
    return found


def right_versions() -> list[Version]:
    """The right versions that we wrote."""
    return load(*sorted(FOLDER.glob("*/right.py")))
