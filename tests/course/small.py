"""A problem set of two tasks, for tests: as small as a set can be."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from transformer_book.course import grading
from transformer_book.course.sandbox import Limits, Run

ROOT = Path(__file__).parents[2]
NAME = "ps9"
CELLS: list[tuple[str, str, dict[str, Any]]] = [
    (
        "setup",
        'from transformer_book import checks, course\n\ncourse.begin("ps9", blocks=["attention"])',
        {"locked": True},
    ),
    (
        "double",
        "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION",
        {"solution": True},
    ),
    (
        "double-test",
        "checks.exercise(double, checks.case(2.0, gives=4.0))\ninputs = [2.0, 5.0]\n\n\n"
        "def spread(width):\n    return [width] * 2\n\n\n### BEGIN HIDDEN TESTS\n"
        'n = course.seed("ps9-double") % 100 + 3.0\n'
        # Names that students have, too: a test must not touch theirs.
        "first_fit = by_place = cut = lambda x: 2 * x\nwords = tokens = known = hidden = [n]\n"
        "inputs = spread = helper = name = None\n"
        "checks.exercise(double, *(checks.case(x, gives=first_fit(x)) for x in hidden))\n"
        "### END HIDDEN TESTS",
        {"grade": True, "locked": True, "points": 60},
    ),
    (
        "triple",
        "def triple(x):\n    ### BEGIN SOLUTION\n    return 3 * x\n    ### END SOLUTION",
        {"solution": True},
    ),
    (
        "triple-test",
        "checks.exercise(triple, checks.case(2.0, gives=6.0))",
        {"grade": True, "locked": True, "points": 40},
    ),
]
MISTAKES = """
[[mistake]]
cell = "double"
loses = ["double-test"]
says = "it should be"
source = "def double(x):\\n    return x * x"

[[mistake]]
cell = "triple"
loses = ["triple-test"]
says = "it should be 6"
source = "def triple(x):\\n    return 2 * x"
"""
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def remember_runs(monkeypatch: pytest.MonkeyPatch, runs: dict[str, Run]) -> None:
    """From now on, what was run once is not run again: the same cells bring back the same outputs.

    `runs` holds what was run, by its cells.
    """
    run = grading.run

    def once(notebook: Any, limits: Limits, others: Any = None) -> Run:
        key = json.dumps([notebook, str(limits)], sort_keys=True)
        if key not in runs:
            runs[key] = run(notebook, limits, others)
        return copy.deepcopy(runs[key])

    monkeypatch.setattr(grading, "run", once)


def make_course(folder: Path) -> Path:
    """A course with this one set; its folder."""
    cells = [new_markdown_cell("# Doubling")]
    for identity, source, options in CELLS:
        cell = new_code_cell(source)
        plain = {"schema_version": 3, "grade": False, "solution": False, "locked": False}
        cell.metadata["nbgrader"] = {**plain, "task": False, "grade_id": identity, **options}
        cells.append(cell)
    metadata = {"kernelspec": KERNEL, "language_info": {"name": "python"}}
    place = folder / "source" / NAME
    place.mkdir(parents=True)
    nbformat.write(new_notebook(cells=cells, metadata=metadata), str(place / f"{NAME}.ipynb"))
    configuration = ROOT / "assignments" / "nbgrader_config.py"
    (folder / "nbgrader_config.py").write_text(configuration.read_text(encoding="utf-8"))
    (folder / "mistakes").mkdir()
    (folder / "mistakes" / f"{NAME}.toml").write_text(MISTAKES)
    return folder


def cell(notebook: Any, identity: str) -> Any:
    """The cell of a problem set that has this name."""
    return next(
        c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == identity
    )
