#!/usr/bin/env python3
"""The set-up cell, the same in every chapter and problem set, with the URL from _config.yml.

On Colab it installs the book's package and touches nothing that Colab brings along. Elsewhere it
only says, in one sentence, how to install the package where it is missing. The website leaves it
out.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from common import notebooks, problem_sets, repository_url
from normalise_notebooks import text_of, written

CELL_ID = "setup"
IN_SETS = "install"  # there "setup" is the cell with a set's imports
TAGS = ["nbval-skip", "remove-cell", "skip-execution"]

SOURCE = """\
# Set-up. On Colab this installs the book's package; elsewhere it changes nothing.
import importlib.util
import sys

if importlib.util.find_spec("transformer_book") is None:
    if "google.colab" in sys.modules:
        %pip install -q "transformer-book @ git+{url}"
    else:
        raise ModuleNotFoundError(
            "This chapter needs the book's package. Install it with: "
            'python -m pip install "transformer-book @ git+{url}"'
        )"""


def setup_cell(cell_id: str = CELL_ID) -> dict:
    source = SOURCE.format(url=repository_url())
    if cell_id == IN_SETS:
        source = source.replace("This chapter", "This problem set")
    return {
        "cell_type": "code",
        "execution_count": None,
        "id": cell_id,
        "metadata": {"tags": TAGS},
        "outputs": [],
        "source": source,
    }


def with_setup_cell(notebook: dict, cell_id: str = CELL_ID) -> dict:
    """The notebook with the set-up cell as its first code cell, and nowhere else."""
    cells = [cell for cell in notebook["cells"] if cell.get("id") != cell_id]
    first = next((i for i, cell in enumerate(cells) if cell["cell_type"] == "code"), len(cells))
    return {**notebook, "cells": [*cells[:first], setup_cell(cell_id), *cells[first:]]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("notebooks", nargs="*", help="default: every chapter and every problem set")
    action = parser.add_mutually_exclusive_group(required=True)
    action.add_argument("--check", action="store_true", help="exit 1 and name what differs")
    action.add_argument("--write", action="store_true", help="put the cell in its place")
    options = parser.parse_args()
    wrong: list[Path] = []
    for path in notebooks(options.notebooks) + ([] if options.notebooks else problem_sets()):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for cell in notebook["cells"]:
            cell["source"] = text_of(cell["source"])
        in_set = path.resolve() in problem_sets()
        wanted = with_setup_cell(notebook, IN_SETS if in_set else CELL_ID)
        if wanted == notebook:
            continue
        wrong.append(path)
        if options.write:
            path.write_text(written(wanted), encoding="utf-8")
            print(f"wrote the set-up cell of {path}")
    if options.check and wrong:
        for path in wrong:
            print(f"another set-up cell: {path}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
