#!/usr/bin/env python3
"""Judge what people wrote, and compare it with the verdict that stands beside each version.

A file marks its versions as `tests/checks/corpus` does; without files all of that is judged. Who
writes blind has read the docstrings of the checks alone, and writes the number of an author and
what is meant, `right` or `wrong`:

    from tests.checks.corpus import version

    @version("softmax", "wrong", by=14)

The script lists what differs, and what is wrong and has no name. `--write` puts what the check said
into the decorators, for a person to read through; `--json` keeps every verdict in full, so that
those before and after a change can be compared.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib.util
import io
import json
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

from common import ROOT

sys.path.insert(0, str(ROOT))

from tests.checks import corpus

SECONDS = 5.0  # of processor time, for one input


def versions(path: Path) -> list[corpus.Version]:
    """The versions of a file, in its order.

    Raises:
        OSError, SyntaxError, or whatever the file raises as it is run.
    """
    if corpus.FOLDER in path.resolve().parents:
        return corpus.load(path.resolve())
    before = len(corpus.VERSIONS)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
    found = corpus.VERSIONS[before:]
    del corpus.VERSIONS[before:]
    return found


def judged(checks: Any, version: corpus.Version) -> tuple[str, str]:
    """The verdict as it stands in a decorator, and what the learner is told."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # learners' code may cause warnings
        component = checks.COMPONENTS[version.component]
        found = checks.judging.judge(component, version.made, checks.MISTAKES, seconds=SECONDS)
    names = (" + " if found.together else " / ").join(mistake.name for mistake in found.mistakes)
    return f"{found.status}: {names}" if names else found.status, found.text()


def rewritten(text: str, changes: list[tuple[corpus.Version, str]]) -> str:
    """A file's text with these verdicts in its decorators, which stand there in this order.

    All versions must be handed in: several have the same verdict of one component.
    """
    waiting, lines = list(changes), text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "version":
            continue
        component, verdict = node.args[:2]
        for change in waiting:
            old, new = change
            if [part.value for part in (component, verdict)] == [old.component, old.verdict]:
                waiting.remove(change)
                line = lines[verdict.lineno - 1]
                before, after = json.dumps(old.verdict), json.dumps(new, ensure_ascii=False)
                lines[verdict.lineno - 1] = line.replace(before, after, 1)
                break
    return "".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: the corpus")
    parser.add_argument("--write", action="store_true", help="write the verdicts into the files")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every verdict there")
    arguments = parser.parse_args()
    from transformer_book import checks

    everything: list[list[str]] = []
    differs = 0
    for path in arguments.files or sorted(corpus.FOLDER.glob("*/*.py")):
        try:
            mine = versions(path)
        except (OSError, SyntaxError, ImportError, NameError, ValueError) as error:
            print(f"{path}: {' '.join(str(error).split())}", file=sys.stderr)
            return 1
        counted, changes, found = Counter[str](), [], []
        for version in mine:
            verdict, text = judged(checks, version)
            everything.append([version.component, version.label, verdict, text])
            found.append((version, verdict))
            counted["as expected" if verdict == version.verdict else "otherwise"] += 1
            counted["wrong without a name"] += verdict == "wrong"
            if verdict != version.verdict:
                changes.append((version, verdict))
                print(f"{version.component}, {version.label}: {version.verdict} -> {verdict}")
                print(f"    {text}")
        differs += len(changes)
        told = ", ".join(f"{n} {kind}" for kind, n in counted.items())
        print(f"{path}: {len(mine)} versions; {told}")
        if arguments.write and changes:
            text = rewritten(path.read_text(encoding="utf-8"), found)
            path.write_text(text, encoding="utf-8")
    if arguments.json:
        lines = (json.dumps(row, ensure_ascii=False) for row in everything)
        arguments.json.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return bool(differs and not arguments.write)


if __name__ == "__main__":
    sys.exit(main())
