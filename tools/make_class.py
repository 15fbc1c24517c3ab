#!/usr/bin/env python3
"""Make a class that hands in all problem sets, and compare its grades with those it must get.

    python tools/make_class.py FOLDER --students 60
    transformer-book grade FOLDER --jobs 2
    python tools/make_class.py FOLDER --compare

For each set a student hands in the reference solution, the untouched release, or the reference with
one of the planted mistakes; who hands in what depends only on the student's number.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
from common import ROOT

from transformer_book.course.proof import Mistake, read_mistakes
from transformer_book.course.release import (
    CONFIGURATION,
    answered,
    answers_of,
    read_secret,
    release,
)

EXPECTED = "expected.json"


def make(n_students: int, folder: Path) -> None:
    """A course in `folder`, released and handed in, with `expected.json`.

    Raises:
        ValueError: if the folder is there and not empty.
    """
    if folder.exists() and any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty: name a folder that is not there yet.")
    folder.mkdir(parents=True, exist_ok=True)
    for step in ("source", "mistakes"):
        shutil.copytree(ROOT / "assignments" / step, folder / step)
    shutil.copy(ROOT / "assignments" / CONFIGURATION, folder)
    secret = read_secret(folder)
    expected: dict[str, dict[str, float]] = {}
    for path in release(folder):
        name = path.stem
        released = nbformat.read(str(path), 4)
        source = nbformat.read(str(folder / "source" / name / path.name), 4)
        right = answered(released, answers_of(source, secret))
        versions = [(right, 0.0), (released, None)]
        for mistake in read_mistakes(folder, name):
            version = answered(right, {mistake.cell: mistake.source})
            versions.append((version, _lost(released, mistake)))
        most = sum(_points(released).values()) - _essay(released)
        for i in range(n_students):
            notebook, lost = versions[i % len(versions)]
            student = f"student-{i:03}"
            place = folder / "submitted" / student / name / path.name
            place.parent.mkdir(parents=True)
            nbformat.write(notebook, str(place))
            expected.setdefault(student, {})[name] = 0.0 if lost is None else most - lost
    (folder / EXPECTED).write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


def _points(notebook: Any) -> dict[str, float]:
    data = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    return {entry["grade_id"]: entry["points"] for entry in data if entry.get("grade")}


def _essay(notebook: Any) -> float:
    """Points that a person gives."""
    data = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    return sum(entry["points"] for entry in data if entry.get("grade") and entry["solution"])


def _lost(notebook: Any, mistake: Mistake) -> float:
    return sum(_points(notebook)[test] for test in mistake.loses)


def compare(folder: Path) -> list[str]:
    """The grades that are not as they must be, one sentence each.

    Raises:
        ValueError: if `make` has not made the folder, or nothing has been graded.
    """
    try:
        expected = json.loads((folder / EXPECTED).read_text(encoding="utf-8"))
        with (folder / "grades.csv").open(encoding="utf-8") as file:
            found = {(row["student"], row["set"]): row for row in csv.DictReader(file)}
    except OSError as error:
        raise ValueError(f"{error.filename} is not there: make a class and grade it.") from None
    complaints = []
    for student, sets in expected.items():
        for name, score in sets.items():
            row = found.get((student, name), {"status": "absent", "score": "", "notes": ""})
            if (row["status"], row["score"]) != ("graded", f"{score:g}"):
                complaints.append(
                    f"{student} {name}: {row['status']}, {row['score'] or 'no grade'} and not "
                    f"{score:g}. {row['notes']}"
                )
    return complaints


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit status is 1 if a grade is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="of the class")
    parser.add_argument("--students", type=int, default=60, metavar="N", help="how many (60)")
    parser.add_argument("--compare", action="store_true", help="its grades with the expected ones")
    options = parser.parse_args(arguments)
    try:
        if not options.compare:
            make(options.students, options.folder)
            return 0
        complaints = compare(options.folder)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(complaints) or "All grades are as they must be.")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
