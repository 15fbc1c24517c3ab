#!/usr/bin/env python3
"""Judge what others wrote from the checks' docstrings alone, and count what was found.

Each file defines versions of the checked functions, marked with two decorators that the file
imports from `kit` (this tool provides that module):

    @wrong("softmax", "The exponentials are never divided by their sum.")
    @right("softmax", "with a loop")

After the component comes, for a wrong version, the mistake in one sentence, and for a right one how
it is written. Every version is judged as the check judges it, with the known mistakes at hand, and
each input may use `SECONDS` of processor time. `--json` gives one line for each version,
`--record` what a test expects of them: status and names, in the order of each file.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import types
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SECONDS = 5.0  # of processor time, for one input


@dataclass(frozen=True)
class Judged:
    """One version, and what the check said of it."""

    file: str
    line: int
    component: str
    function: str
    intended: str  # "right" or "wrong"
    why: str
    status: str  # "right", "convention", "wrong", "not started", or "refused"
    names: tuple[str, ...]
    together: bool
    text: str


def versions(path: Path) -> list[tuple[str, str, str, Any]]:
    """What a file marks: intended, component, why, and the function or class itself.

    Raises:
        OSError, SyntaxError, or whatever the file raises as it is run.
    """
    found: list[tuple[str, str, str, Any]] = []

    def marker(intended: str) -> Any:
        def mark(component: str, why: str, **more: Any) -> Any:
            def note(made: Any) -> Any:
                found.append((intended, component, why, made))
                return made

            return note

        return mark

    kit = types.ModuleType("kit")
    kit.wrong, kit.right = marker("wrong"), marker("right")
    module = types.ModuleType(path.stem)
    module.__file__ = str(path)
    before = {name: sys.modules.get(name) for name in ("kit", path.stem)}
    sys.modules.update({"kit": kit, path.stem: module})
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), vars(module))
    finally:
        for name, old in before.items():
            if old is None:
                del sys.modules[name]
            else:
                sys.modules[name] = old
    return found


def name_of(made: Any) -> str:
    """The name of a function, of a class, or of an object's class."""
    return getattr(made, "__name__", type(made).__name__)


def line_of(made: Any) -> int:
    """Where a function, or the method that computes, stands in its file."""
    made = getattr(made, "func", made)  # a partial
    for named in (made, getattr(made, "forward", None), type(made).__dict__.get("__call__")):
        if code := getattr(named, "__code__", None):
            return code.co_firstlineno
    return 0


def judged(path: Path, seconds: float) -> Iterator[Judged]:
    """The verdict on every version of a file."""
    from transformer_book import checks

    for intended, component, why, made in versions(path):
        where = f"{path.parent.name}/{path.name}", line_of(made)
        place = *where, component, name_of(made), intended, why
        if component not in checks.COMPONENTS:
            yield Judged(*place, "refused", (), False, f"There is no check {component!r}.")
            continue
        try:
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")  # learners' code may cause warnings
                found = checks.judging.judge(
                    checks.COMPONENTS[component], made, checks.MISTAKES, seconds=seconds
                )
        except TypeError as error:
            yield Judged(*place, "refused", (), False, str(error))
            continue
        names = tuple(mistake.name for mistake in found.mistakes)
        yield Judged(*place, found.status, names, found.together, found.text())


def kind_of(version: Judged) -> str:
    """The column of the table that a version is counted in."""
    if version.intended == "right":
        return "right" if version.status == "right" else "right, rejected"
    if version.status == "wrong":
        generic = "told how many are right" if "Right on" in version.text else "told where it fails"
        return "named" if version.names else generic
    return {"right": "wrong, accepted", "convention": "another convention"}.get(
        version.status, version.status
    )


def as_record(everything: list[Judged]) -> str:
    """Of each file, by name, what was found in its versions, one a line."""
    files: dict[str, list[str]] = {}
    for version in everything:
        found = [version.component, version.function, version.status, *version.names]
        line = json.dumps(found, ensure_ascii=False)
        files.setdefault(version.file.rpartition("/")[2], []).append(line)
    parts = (
        json.dumps(name) + ": [\n" + ",\n".join(lines) + "\n]" for name, lines in files.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of processor time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every verdict there")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write what is expected there")
    parser.add_argument("--all", action="store_true", help="list the named ones, too")
    arguments = parser.parse_args()
    everything: list[Judged] = []
    for path in arguments.files:
        try:
            mine = list(judged(path, arguments.seconds))
        except (OSError, SyntaxError, ImportError, NameError, ValueError) as error:
            print(f"{path}: {' '.join(str(error).split())}", file=sys.stderr)
            return 1
        everything += mine
        counted = Counter(map(kind_of, mine))
        print(f"{path}: {len(mine)} versions")
        for kind, n in counted.most_common():
            print(f"  {n:4} {kind}")
        for version in mine:
            kind = kind_of(version)
            if arguments.all or kind not in ("right", "named"):
                print(f"{version.file}:{version.line} {version.component} [{kind}]")
                print(f"    {version.why}\n    -> {', '.join(version.names) or version.text}")
    if arguments.record:
        arguments.record.write_text(as_record(everything), encoding="utf-8")
    if arguments.json:
        lines = (json.dumps(asdict(version), ensure_ascii=False) for version in everything)
        arguments.json.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
