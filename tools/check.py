#!/usr/bin/env python3
"""Run what a change needs, in two minutes: `make check` before a commit, `make test` before a push.

Without arguments it looks at what git says has changed. For a module it runs the tests that import
it, the proofs and their mutants if it is part of the model, and the chapters that show its source;
for an idea of the checks, its tests there and its chapter; for a chapter, its cells; for a test
file, that file; and always the style and the architecture. --list says what that is, and runs
nothing. Tests of several minutes (training runs, the course, the whole website) are run for the
modules they are named after, and otherwise left to `make test`.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from common import ROOT, notebooks

from transformer_book.support.arguments import check_choice

PACKAGE = ROOT / "code" / "transformer_book"
TESTS = ROOT / "tests"
ALWAYS = ("tests/test_architecture.py", "tests/tools/test_style.py")
PROOFS = (
    "tests/test_proofs.py",
    "tests/test_mutants.py",
    "tests/test_configurations.py",
    "tests/test_bad_input.py",
)
# They take minutes and notice little of a module that they are not named after.
LONG = (
    *("test_benchmarks", "test_distributed", "test_experiment", "test_in_whole_models"),
    *("test_class", "test_teaching"),
)
PYTEST = ("-n", "auto", "--maxprocesses", "4", "--dist", "loadfile", "-q")


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            found[name] = path
    return found


@cache
def imports(path: Path) -> frozenset[str]:
    """The package's modules that a test names: in an import, or in a text that imports it."""
    text = path.read_text(encoding="utf-8")
    names = set(re.findall(r"transformer_book\.([a-z_]+(?:\.[a-z_]+)*)", text))
    for listed in re.findall(r"from transformer_book import ([\w, ]+)", text):
        names |= set(listed.replace(" ", "").split(","))
    return frozenset(names)


@cache
def files_of_tests() -> tuple[Path, ...]:
    """Every file of tests/ that is Python."""
    return tuple(sorted(TESTS.rglob("*.py")))


def tests_of(module: str) -> list[str]:
    """The test files that import a module or one of its parts; the folder that is named like it."""
    found = []
    package, _, last = module.rpartition(".")
    for path in files_of_tests():
        if not path.name.startswith("test_"):
            continue
        folder, own = path.parent.name, path.stem == f"test_{last}"
        if folder == "site" or (folder == "course" and package != "course"):
            continue
        if path.stem in LONG and not own:
            continue
        named = any(name == module or name.startswith(f"{module}.") for name in imports(path))
        beside = folder in ("checks", "cli", "tasks") and folder == module.split(".")[0]
        if own or named or beside:
            found.append(path.relative_to(ROOT).as_posix())
    return found


@cache
def explorers(path: Path) -> tuple[str, ...]:
    """The explorers that a module of widgets defines: the website's tests are named after them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return tuple(node.name for node in tree.body if isinstance(node, ast.ClassDef))


@cache
def shown_in(notebook: Path) -> frozenset[str]:
    """The modules whose source a chapter shows."""
    text = "\n\n".join(
        "".join(cell["source"])
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        if cell["cell_type"] == "code" and "%pip" not in "".join(cell["source"])
    )
    origin, shown = {}, set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("transformer_book"):
            module = node.module.removeprefix("transformer_book").lstrip(".")
            origin |= {alias.asname or alias.name: (module, alias.name) for alias in node.names}
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "show_source":
            shown |= {name.id for name in ast.walk(node.args[0]) if isinstance(name, ast.Name)}
    found = set()
    for module, name in (origin[each] for each in shown if each in origin):
        inside = f"{module}.{name}".lstrip(".")
        found.add(inside if inside in modules() else module)
    return frozenset(found)


def chapters_of(module: str, path: Path) -> list[str]:
    """The chapters that show its source, or its explorers; the first, if none does."""
    shown = [notebook for notebook in notebooks() if module in shown_in(notebook)]
    if module.startswith("widgets."):
        names = re.compile(rf"\b({'|'.join(explorers(path))})\b")
        shown = [notebook for notebook in notebooks() if names.search(notebook.read_text("utf-8"))]
    if not shown:
        shown = [notebook for notebook in notebooks() if notebook.parent.name == "chapters"][:1]
    return [notebook.relative_to(ROOT).as_posix() for notebook in shown]


@cache
def is_part_of_the_model(module: str) -> bool:
    """Whether the proofs cover it: the mutants damage just these modules."""
    text = (TESTS / "test_mutants.py").read_text(encoding="utf-8")
    return f'", "{module}", "' in text


def plan(names: Iterable[str], paths: Iterable[str] = ()) -> list[list[str]]:
    """What each call of pytest is given for these modules and changed files, besides `PYTEST`."""
    known, files, views, ideas = modules(), list(ALWAYS), [], []
    for name in names:
        check_choice("module", name, known)
        taught = re.search(r"chapter=(\d+)", known[name].read_text(encoding="utf-8"))
        if name.startswith("checks.ideas.") and taught:
            ideas.append(known[name].stem)
            found = (ROOT / "chapters").glob(f"{int(taught[1]):02}_*.ipynb")
            files += [path.relative_to(ROOT).as_posix() for path in found]
            continue
        files += tests_of(name) + chapters_of(name, known[name])
        if is_part_of_the_model(name) or name in ("pytorch_twins", "support.arguments"):
            files += PROOFS
        if name.startswith("widgets."):
            views += explorers(known[name])
    for path in paths:
        if (path.endswith(".ipynb") and path.startswith(("chapters/", "book/"))) or (
            path.startswith("tests/") and Path(path).name.startswith("test_")
        ):
            files.append(path)
        if path.startswith("tools/"):
            files.append("tests/tools/test_tools.py")
    calls = [list(dict.fromkeys(files))]
    if views:  # a call of its own: `-k` would choose among the others, too
        calls.append(["tests/site/test_widgets.py", "--dist", "load", "-k", " or ".join(views)])
    if ideas:
        calls.append(["tests/checks", "--dist", "load", "-k", " or ".join(ideas)])
    return calls


def changed() -> list[str]:
    """What differs from the last commit, and what this branch has that `main` has not."""
    found: dict[str, None] = {}
    for command in (
        ["diff", "--name-only", "HEAD"],
        ["ls-files", "--others", "--exclude-standard"],
        ["diff", "--name-only", "main...HEAD"],
    ):
        done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True)
        found |= dict.fromkeys(done.stdout.split("\n"))
    return [path for path in found if path and (ROOT / path).exists()]


def module_of(path: str) -> str | None:
    """The module to which a file of the package belongs: an explorer's script to its Python."""
    python = Path(path).with_suffix(".py")
    here = {file.relative_to(ROOT).as_posix(): name for name, file in modules().items()}
    return here.get(python.as_posix())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("modules", nargs="*", help="such as attention or tasks.captions")
    parser.add_argument("--list", action="store_true", help="say what would be run")
    options = parser.parse_args()
    paths = [] if options.modules else changed()
    names = options.modules or [name for path in paths if (name := module_of(path))]
    try:
        calls = plan(dict.fromkeys(names), paths)
    except ValueError as problem:
        print(f"check: {problem}", file=sys.stderr)
        return 2
    left = [path for path in paths if not module_of(path) and path not in calls[0]]
    print(f"Checked: {', '.join(dict.fromkeys(names)) or 'no module'}")
    if left:
        print(f"Left to `make test`: {', '.join(left)}")
    status = 0
    for arguments in calls:
        print("pytest", *arguments, sep="\n  ", flush=True)
        if not options.list:
            command = [sys.executable, "-m", "pytest", *PYTEST, *arguments]
            done = subprocess.run(command, cwd=ROOT)
            status = status or done.returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
