#!/usr/bin/env python3
"""Execute chapters in place, side by side, and normalise them. Run twice, nothing changes.

A chapter is written only after all its cells have run. Prints how long each took.
"""

from __future__ import annotations

import argparse
import json
import sys

import nbformat
from common import notebooks
from normalise_notebooks import Refused, normalise, written
from notebook_runner import CELL_SECONDS, Executed, Failure, execute_all, tell


def keep(done: Executed) -> bool:
    """Write an executed notebook in its normal form; whether that changed the file."""
    text = written(normalise(json.loads(nbformat.writes(done.notebook)), done.path.name))
    changed = text != done.path.read_text(encoding="utf-8")
    if changed:
        done.path.write_text(text, encoding="utf-8")
    return changed


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("notebooks", nargs="*", help="default: every chapter")
    parser.add_argument("--jobs", type=int, help="notebooks at a time (default: one a core, to 4)")
    parser.add_argument(
        "--cell-seconds",
        type=float,
        default=CELL_SECONDS,
        help="processor time that one cell may use (default: %(default)g)",
    )
    options = parser.parse_args()
    failures = []
    for done in execute_all(notebooks(options.notebooks), options.jobs, options.cell_seconds):
        if isinstance(done, Failure):
            failures.append(done)
            continue
        try:
            state = "changed" if keep(done) else "as before"
        except Refused as problem:
            failures.append(Failure(done.path, "its outputs", str(problem)))
            continue
        print(f"{done.path.name}: {done.seconds:.0f} s, {state}")
    tell(failures, "; their files are as they were")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
