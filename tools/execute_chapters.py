#!/usr/bin/env python3
"""Execute chapters in place, one after the other, and normalise them. Run twice, nothing changes.

A chapter is written only after all its cells have run. Prints how long each took.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import nbformat
from common import notebooks
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from normalise_notebooks import Refused, normalise, written


def execute(path: Path, timeout: int) -> str:
    """The text of the executed and normalised notebook."""
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    notebook.metadata.pop("widgets", None)  # of the run before
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        store_widget_state=True,
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute()
    return written(normalise(json.loads(nbformat.writes(notebook)), path.name))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("notebooks", nargs="*", help="default: every chapter")
    parser.add_argument("--timeout", type=int, default=600, help="seconds that one cell may take")
    options = parser.parse_args()
    failed = 0
    for path in notebooks(options.notebooks):
        began = time.monotonic()
        try:
            text = execute(path, options.timeout)
        except (CellExecutionError, Refused) as problem:
            print(f"{path.name}: {problem}", file=sys.stderr)
            failed += 1
            continue
        changed = text != path.read_text(encoding="utf-8")
        if changed:
            path.write_text(text, encoding="utf-8")
        state = "changed" if changed else "as before"
        print(f"{path.name}: {time.monotonic() - began:.0f} s, {state}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
