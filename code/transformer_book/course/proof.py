"""The proof of a problem set: what must be right before a student sees it.

The reference solution earns every point; the untouched release earns none, and crashes nothing;
and each planted mistake, which has the right shape and runs to the end, loses its own points only
and is named by the feedback. The mistakes of a set stand in `mistakes/SET.toml`:

    [[mistake]]
    cell = "bias"                  # the answer that it replaces
    loses = ["bias-test"]          # the test cells that notice
    says = "the wrong direction"   # what one of them says
    source = '''def bias(...): ...'''
"""

from __future__ import annotations

import contextlib
import functools
import io
import shutil
import sys
import tempfile
import tomllib
import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.utils import is_grade, is_solution

from transformer_book.course.grading import Course, Outcome, grade
from transformer_book.course.release import (
    CONFIGURATION,
    SECRET,
    answered,
    answers_of,
    instantiate,
    read_secret,
    release,
)
from transformer_book.course.sandbox import Limits

REFERENCE, UNTOUCHED = "reference", "untouched"


@dataclass(frozen=True)
class Mistake:
    """A planted mistake: the answer it replaces, the tests that notice, what one of them says."""

    cell: str
    loses: tuple[str, ...]
    says: str
    source: str


def read_mistakes(folder: Path, name: str) -> list[Mistake]:
    """The planted mistakes of a set.

    Raises:
        ValueError: if the file is missing or is not TOML, or an entry lacks a key.
    """
    path = folder / "mistakes" / f"{name}.toml"
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))["mistake"]
        return [Mistake(e["cell"], tuple(e["loses"]), e["says"], e["source"]) for e in entries]
    except OSError:
        raise ValueError(f"{path} is missing: a set needs planted mistakes to be proven.") from None
    except (tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is no list of mistakes: {error}.") from None


def prove(
    folder: Path, name: str, limits: Limits | None = None, jobs: int = 1
) -> tuple[list[str], list[Outcome]]:
    """Grade the reference, the untouched release and every planted mistake of a set.

    Returns:
        what is not as it must be, one sentence each (nothing: the set is proven), and the outcomes.
    """
    mistakes = read_mistakes(folder, name)
    with tempfile.TemporaryDirectory(prefix="proof-") as place:
        course = Path(place)
        shutil.copytree(folder / "source" / name, course / "source" / name)
        for file in (CONFIGURATION, SECRET):
            if (folder / file).exists():
                shutil.copy(folder / file, course / file)
        release(course, [name])
        source = nbformat.read(str(course / "source" / name / f"{name}.ipynb"), 4)
        released = nbformat.read(str(course / "release" / name / f"{name}.ipynb"), 4)
        secret = read_secret(course)
        right = answered(released, answers_of(source, secret))
        students = {REFERENCE: right, UNTOUCHED: released}
        for i, mistake in enumerate(mistakes):
            students[f"mistake-{i:02}"] = answered(right, {mistake.cell: mistake.source})
        for student, notebook in students.items():
            path = course / "submitted" / student / name / f"{name}.ipynb"
            path.parent.mkdir(parents=True)
            nbformat.write(notebook, str(path))
        outcomes = grade(course, [name], limits=limits, jobs=jobs, feedback=False)
        graded = {
            student: nbformat.read(str(course / "autograded" / student / name / f"{name}.ipynb"), 4)
            for student in students
        }
        points = {student: _points(Course(course), student, name) for student in students}
    return _complaints(mistakes, outcomes, points, graded), outcomes


def _points(course: Course, student: str, name: str) -> dict[str, tuple[float | None, float]]:
    """Points and the most points of every graded cell; `None` where a person grades."""
    with course.gradebook() as book:
        found = book.find_submission_notebook(name, name, student).grades
        return {grade.name: (grade.auto_score, grade.max_score) for grade in found}


def _complaints(
    mistakes: list[Mistake],
    outcomes: list[Outcome],
    points: Mapping[str, Mapping[str, tuple[float | None, float]]],
    graded: Mapping[str, Any],
) -> list[str]:
    found = []
    most = sum(most for _, most in points[REFERENCE].values())
    if most != 100:
        found.append(f"The points sum to {most:g}, not to 100.")
    for outcome in outcomes:
        if outcome.status != "graded":
            found.append(f"{outcome.student}: {outcome.status}. {' '.join(outcome.notes)}")
    for cell, (score, of) in points[REFERENCE].items():
        if score is not None and score != of:
            found.append(
                f"The reference earns {score:g} of {of:g} in {cell}: "
                f"{_said(graded[REFERENCE], cell)}"
            )
    for cell, (score, _) in points[UNTOUCHED].items():
        if score:
            found.append(f"The untouched release earns {score:g} in {cell}.")
    for i, mistake in enumerate(mistakes):
        student = f"mistake-{i:02}"
        lost = {
            cell
            for cell, (score, of) in points[student].items()
            if score is not None and score < of
        }
        title = f"The mistake {i + 1} in {mistake.cell}"
        if lost != set(mistake.loses):
            found.append(f"{title} loses {sorted(lost)}, not {sorted(mistake.loses)}.")
        said = " ".join(_said(graded[student], cell) for cell in sorted(lost))
        if mistake.says not in said:
            found.append(f"{title}: the feedback does not say {mistake.says!r}, but: {said}")
    tested = {
        cell.metadata.nbgrader.grade_id
        for cell in graded[REFERENCE].cells
        if is_grade(cell) and not is_solution(cell)
    }
    spared = tested - {cell for mistake in mistakes for cell in mistake.loses}
    if spared:
        found.append(f"No planted mistake is noticed by {', '.join(sorted(spared))}.")
    return found


def _said(notebook: Any, identity: str) -> str:
    """What a test cell shows the student, in one line."""
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == identity:
            texts = [
                f"{out.ename}: {out.evalue}" for out in cell.outputs if out.output_type == "error"
            ]
            return " ".join(" ".join(texts).split())
    return ""


def rehearse(folder: Path, name: str, secret: str) -> list[str]:
    """The proof without the grading: every planted mistake against the tests, in this process.

    It takes seconds where `prove` takes minutes, and runs code of the course only. It leaves the
    modules that the set blocks blocked: call it in a process of its own,
    `python -m transformer_book.course.proof FOLDER SET SECRET`.

    Returns:
        what is not as it must be, one sentence each.
    """
    source = nbformat.read(str(folder / "source" / name / f"{name}.ipynb"), 4)
    cells = [
        (cell.metadata.get("nbgrader", {}), instantiate(cell.source, secret))
        for cell in source.cells
        if cell.cell_type == "code" and "skip-execution" not in cell.metadata.get("tags", [])
    ]
    mistakes = read_mistakes(folder, name)
    found = [f"The reference fails {cell}: {said}" for cell, said in _lost(cells, {}).items()]
    for i, mistake in enumerate(mistakes):
        lost = _lost(cells, {mistake.cell: mistake.source})
        title = f"The mistake {i + 1} in {mistake.cell}"
        if set(lost) != set(mistake.loses):
            found.append(f"{title} loses {sorted(lost)}, not {sorted(mistake.loses)}.")
        elif not any(mistake.says in said for said in lost.values()):
            found.append(f"{title}: {mistake.says!r} is not said, but: {' '.join(lost.values())}")
    return found


def _lost(cells: list[tuple[Any, str]], answers: Mapping[str, str]) -> dict[str, str]:
    """The test cells that fail, and what they say."""
    lost, names = {}, {}
    with contextlib.redirect_stdout(io.StringIO()):
        for data, source in cells:
            identity = data.get("grade_id", "")
            try:
                exec(_compiled(answers.get(identity, source), identity), names)
            except Exception as error:
                lost[identity] = f"{type(error).__name__}: {error}"
    return lost


@functools.cache
def _compiled(source: str, name: str) -> types.CodeType:
    """A cell is run for every mistake, and compiled once."""
    return compile(source, name, "exec")


if __name__ == "__main__":
    complaints = rehearse(Path(sys.argv[1]), *sys.argv[2:4])
    print("\n".join(complaints) or f"{sys.argv[2]}: rehearsed")
    sys.exit(bool(complaints))
