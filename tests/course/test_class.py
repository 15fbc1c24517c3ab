"""A class of thirty, some of whom mean harm: the expected grade for each, and nobody's is lost.

Its set is small, so that a submission is graded in a second; each real set, with all its planted
mistakes, is rehearsed below.
"""

from __future__ import annotations

import copy
import csv
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_output

from tests import copied
from tests.course.small import NAME, cell, make_course, remember_runs
from transformer_book.course.grading import Outcome, grade
from transformer_book.course.proof import Mistake, read_mistakes
from transformer_book.course.release import answers_of, read_secret, release, sets_of
from transformer_book.course.sandbox import Limits, Run, fork_server

if sys.platform != "linux":
    pytest.skip("the limits of a submission are tested on Linux", allow_module_level=True)

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "assignments"
# Seconds of processor time. In a kernel that is no copy the first cell, which imports torch, takes
# one or two.
LIMITS = Limits(seconds=240, cell_seconds=2 if fork_server() else 5, memory=3 * 2**30)


class Student(NamedTuple):
    """What one student hands in, and what must come of it.

    `losing` are the test cells that must be lost, `None` for no grade at all.
    """

    status: str
    losing: set[str] | None
    notebook: Any = None
    data: bytes | None = None
    file: str = f"{NAME}.ipynb"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with one released set, and a secret of its own."""
    place = make_course(tmp_path_factory.mktemp("class") / "course")
    (place / "secret.txt").write_text("a class of thirty\n")
    release(place)
    return place


def everyone(folder: Path) -> dict[str, Student]:
    """The class."""
    mistakes = read_mistakes(folder, NAME)
    released = nbformat.read(str(folder / "release" / NAME / f"{NAME}.ipynb"), 4)
    source = nbformat.read(str(folder / "source" / NAME / f"{NAME}.ipynb"), 4)
    answers = answers_of(source, read_secret(folder))
    tests = {c.metadata.nbgrader.grade_id for c in released.cells if _grades(c)}
    first = mistakes[0].cell
    firsts = set(mistakes[0].loses)

    def right(edit: Callable[[Any], None] = lambda _: None, **other: str) -> Any:
        notebook = copy.deepcopy(released)
        for identity, answer in {**answers, **other}.items():
            cell(notebook, identity).source = answer
        edit(notebook)
        return notebook

    def with_first(code: str, inside: bool = False) -> Any:
        """A right notebook whose first answer does something before it is defined, or inside."""
        if inside:
            header = answers[first].split('"""')[0].split("    ###")[0].rstrip("\n ")
            return right(**{first: f"{header}\n    {code}"})
        return right(**{first: f"{code}\n{answers[first]}"})

    def planted(mistake: Mistake) -> Student:
        return Student("graded", set(mistake.loses), right(**{mistake.cell: mistake.source}))

    one_each = {mistake.cell: mistake for mistake in mistakes}
    test = next(iter(firsts))
    elsewhere = (
        "import glob, os\n"
        "near = [p for d in ('.', '..') for p in glob.glob(os.path.join(d, '**'), "
        "recursive=True)]\n"
        "assert not [p for p in near if p.endswith(('.db', '.ipynb', 'secret.txt'))], near\n"
        "seen = True"
    )
    sleepers = (
        "import subprocess\n"
        "children = [subprocess.Popen(['sleep', '983'], start_new_session=True) for _ in range(50)]"
    )
    patches = (
        "import torch\nchecks.exercise = checks.softmax = lambda *a, **k: None\n"
        "checks.case = lambda *a, **k: None\n"
    )
    stub = cell(released, first).source

    def scratch(notebook: Any) -> None:
        notebook.cells.insert(4, new_code_cell("print('scratch')", outputs=[]))

    def large(notebook: Any) -> None:
        notebook.cells[1].outputs = [new_output("stream", text="x" * 50_000_000)]

    def other_kernel(notebook: Any) -> None:
        notebook.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}

    def twice(notebook: Any) -> None:
        notebook.cells.insert(0, copy.deepcopy(cell(notebook, test)))

    def no_test(notebook: Any) -> None:
        notebook.cells.remove(cell(notebook, test))

    def soft_test(notebook: Any) -> None:
        cell(notebook, test).source = "assert True"

    def more_points(notebook: Any) -> None:
        cell(notebook, test).metadata.nbgrader.points = 1000

    return {
        "right": Student("graded", set(), right()),
        "right-with-scratch": Student("graded", set(), right(scratch)),
        "right-on-another-kernel": Student("graded", set(), right(other_kernel)),
        "untouched": Student("graded", tests, copy.deepcopy(released)),
        "half-done": Student("graded", firsts, right(**{first: stub})),
        **{f"wrong-{i}": planted(mistake) for i, mistake in enumerate(one_each.values())},
        "wrong-twice": Student(
            "graded",
            {lost for mistake in list(one_each.values())[:2] for lost in mistake.loses},
            right(**{m.cell: m.source for m in list(one_each.values())[:2]}),
        ),
        "endless-loop": Student("timed out", firsts, right(**{first: "while True: pass"})),
        "endless-in-the-test": Student("graded", firsts, with_first("while True: pass", True)),
        "sleeping-children": Student("graded", set(), with_first(sleepers)),
        "sys-exit": Student("graded", firsts, right(**{first: "import sys\nsys.exit(0)"})),
        "os-exit": Student("crashed", firsts, right(**{first: "import os\nos._exit(0)"})),
        "kills-itself": Student(
            "crashed", firsts, right(**{first: "import os\nos.kill(os.getpid(), 9)"})
        ),
        "ends-the-grading": Student(
            "graded" if fork_server() else "crashed",  # isolated, it cannot
            firsts if fork_server() else None,
            right(**{first: "import os\nos.kill(os.getppid(), 9)"}),
        ),
        "thirty-gigabytes": Student(
            "graded", firsts, right(**{first: "x = bytearray(30 * 10**9)"})
        ),
        "endless-printing": Student(
            "timed out", firsts, right(**{first: "while True: print('x' * 1000)"})
        ),
        "syntax-error": Student("graded", firsts, right(**{first: "def f(:\n    pass"})),
        "renamed-file": Student("graded", set(), right(), file="final_version (2).ipynb"),
        "deleted-test": Student("changed tests", firsts, right(no_test, **{first: stub})),
        "edited-test": Student("changed tests", firsts, right(soft_test, **{first: stub})),
        "edited-points": Student("changed tests", firsts, right(more_points, **{first: stub})),
        "duplicate-ids": Student("graded", set(), right(twice)),
        "fifty-megabytes": Student("graded", set(), right(large)),
        "reads-the-disk": Student("graded", set(), with_first(elsewhere)),
        "patches-the-checks": Student("graded", firsts, right(**{first: patches + stub})),
        "patches-torch": Student(
            "interfered",
            tests,
            right(**{first: "import torch\ntorch.equal = lambda *a: True\n" + stub}),
        ),
        "empty-file": Student("crashed", None, data=b""),
        "not-utf-8": Student("crashed", None, data="grün".encode("utf-16")),
        "nothing": Student("missing", None),
    }


def _grades(cell: Any) -> bool:
    data = cell.metadata.get("nbgrader", {})
    return bool(data.get("grade")) and not data.get("solution")


def test_everyone_gets_the_grade_they_earned(
    folder: Path, tell: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: dict[str, Run] = {}
    remember_runs(monkeypatch, runs)
    students = everyone(folder)
    assert len(students) >= 30
    for name, student in students.items():
        place = folder / "submitted" / name / NAME
        place.mkdir(parents=True)
        if student.data is not None:
            (place / student.file).write_bytes(student.data)
        elif student.notebook is not None:
            nbformat.write(student.notebook, str(place / student.file))
    start = time.monotonic()
    outcomes = {o.student: o for o in grade(folder, limits=LIMITS, jobs=3, feedback=False)}
    minutes = (time.monotonic() - start) / 60
    tell(f"{len(runs)} different submissions run, {len(runs) / minutes:.1f} a minute")
    assert len(students) > len(runs) >= 25  # some became the same when their tests were restored
    released = nbformat.read(str(folder / "release" / NAME / f"{NAME}.ipynb"), 4)
    points = {
        c.metadata.nbgrader.grade_id: c.metadata.nbgrader.points
        for c in released.cells
        if _grades(c)
    }
    wrong = []
    for name, student in students.items():
        outcome = outcomes[name]
        expected = (
            None
            if student.losing is None
            else float(sum(p for test, p in points.items() if test not in student.losing))
        )
        if (outcome.status, outcome.score) != (student.status, expected):
            wrong.append((name, student.status, expected, outcome))
    assert wrong == []
    assert [
        p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "983"]
    ] == []
    rows = list(csv.DictReader((folder / "grades.csv").open(encoding="utf-8")))
    assert [row["student"] for row in rows] == sorted(students)
    assert all(bool(row["notes"]) for row in rows if row["status"] not in ("graded", "missing"))
    assert _again(folder) == outcomes


def _again(folder: Path) -> dict[str, Outcome]:
    """A second time: nothing is run, and the grades are the same."""
    start = time.process_time()
    found = {o.student: o for o in grade(folder, limits=LIMITS, jobs=2, feedback=False)}
    assert time.process_time() - start < 60
    return found


REHEARSING = (
    *(*copied.PROGRAMS, "nbformat", "nbgrader.api", "nbgrader.apps"),
    *("nbgrader.plugins", "nbgrader.preprocessors"),
)


@pytest.mark.parametrize("name", sets_of(COURSE))
def test_every_set_is_rehearsed(name: str) -> None:
    """Reference right, every planted mistake loses its own points and is named."""
    words = ("-m", "transformer_book.course.proof", COURSE, name, "monday")
    done = copied.run(*words, imported=REHEARSING)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert done.stdout == f"{name}: rehearsed\n"


@pytest.mark.parametrize("name", ["ps2", "ps4"])  # `make assignments` tries those of every set
def test_no_cheap_answer_earns_a_point(name: str) -> None:
    """At least ten for each task of a set, made from the set itself."""
    words = ("-m", "transformer_book.course.cheap", COURSE, name, "monday")
    done = copied.run(*words, imported=REHEARSING)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert re.fullmatch(rf"{name}: \d+ cheap answers fail\n", done.stdout)


def test_a_hidden_test_that_lets_a_cheap_answer_pass_is_found(tmp_path: Path) -> None:
    """Two holes: a comparison that nan slips through, and no input but the visible ones."""
    course = make_course(tmp_path)
    path = course / "source" / NAME / f"{NAME}.ipynb"
    notebook = nbformat.read(str(path), 4)
    tests = {"double": "assert not abs(double(n) - 2 * n) > 1e-3", "triple": "triple(2.0)"}
    for name, hidden in tests.items():
        test = cell(notebook, f"{name}-test")
        visible = test.source.split("### BEGIN")[0].rstrip("\n")
        test.source = f"{visible}\n### BEGIN HIDDEN TESTS\nn = 5.0\n{hidden}\n### END HIDDEN TESTS"
    nbformat.write(notebook, str(path))
    words = ("-m", "transformer_book.course.cheap", course, NAME, "monday")
    done = copied.run(*words, imported=REHEARSING)
    passed = done.stdout.splitlines()
    assert done.returncode == 1, done.stderr[-2000:]
    assert "double: double earns points with a table, else nan." in passed
    assert {line.partition(":")[0] for line in passed} == {"double", "triple"}
    assert "triple: triple earns points with a table, else an error." in passed
