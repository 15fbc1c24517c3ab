"""Numbers of a student's own: in the copy handed out, in the grader's tests, and nowhere else."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from tests.course.small import NAME, cell, make_course
from transformer_book import checks, course
from transformer_book.course.grading import Course, grade
from transformer_book.course.release import instantiate, personal, read_secret, release, sets_of

ASSIGNMENTS = Path(__file__).parents[2] / "assignments"
VARIED = ("ps1", "ps2", "ps4", "ps8")
RIGHT = {"double": "def double(x):\n    return x + x", "triple": "def triple(x):\n    return x * 3"}
SIDE = f'SIDE = course.variant("ps9-side", {tuple(range(3, 103))})'
AREA = (
    "checks.exercise(area, checks.case(accept=lambda n: None))\n"
    "### BEGIN HIDDEN TESTS\n"
    "checks.exercise(area, checks.case(gives=SIDE * SIDE))\n"
    'n = course.seed("ps9-area") % 100\n'
    "checks.exercise(double, checks.case(n, gives=2 * n))\n"
    "### END HIDDEN TESTS"
)
STUDENTS = ("alice", "bob", "carol", "dave")  # dave gets the class's file


def test_a_variant_depends_on_the_student_the_name_and_the_secret() -> None:
    options = tuple(range(1000))
    draws = [
        course.variant(*each)
        for each in (
            ("a", options),
            ("a", options, "alice"),
            ("a", options, "bob"),
            ("a", options, "alice", "mine"),
            ("b", options, "alice"),
        )
    ]
    assert len(set(draws)) == len(draws)
    assert course.variant("a", options, "alice") == draws[1]
    assert instantiate(f'course.variant("a", {options})', "mine", student="alice") == str(draws[3])


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose set asks each student for an area by pencil; three have their own copies."""
    folder = make_course(tmp_path_factory.mktemp("varied") / "course")
    (folder / "secret.txt").write_text("a secret\n")
    path = folder / "source" / NAME / f"{NAME}.ipynb"
    notebook = nbformat.read(str(path), 4)
    plain = {"schema_version": 3, "grade": False, "solution": False, "locked": False}
    answer = "def area():\n    ### BEGIN SOLUTION\n    return SIDE * SIDE\n    ### END SOLUTION"
    for identity, source, options in (
        ("area-given", SIDE, {"locked": True}),
        ("area", answer, {"solution": True}),
        ("area-test", AREA, {"grade": True, "locked": True, "points": 50}),
    ):
        each = new_code_cell(source)
        each.metadata["nbgrader"] = {**plain, "task": False, "grade_id": identity, **options}
        notebook.cells.append(each)
    nbformat.write(notebook, str(path))
    release(folder)
    personal(folder, NAME, STUDENTS[:3])
    return folder


def copy_of(folder: Path, student: str) -> Any:
    place = "release" if student == "dave" else f"personal/{student}"
    return nbformat.read(str(folder / place / NAME / f"{NAME}.ipynb"), 4)


def side(folder: Path, student: str) -> int:
    return int(cell(copy_of(folder, student), "area-given").source.removeprefix("SIDE = "))


def test_each_student_has_other_numbers_and_no_hidden_test(released: Path) -> None:
    sides = [side(released, student) for student in STUDENTS]
    assert len(set(sides)) == len(STUDENTS)  # with this secret
    for student in STUDENTS:
        text = nbformat.writes(copy_of(released, student))
        assert "course.variant" not in text and "HIDDEN" not in text and "SIDE * SIDE" not in text
        assert "course.seed" not in text and read_secret(released) not in text
    changed = [
        [c.source for c in copy_of(released, student).cells] for student in ("alice", "dave")
    ]
    assert sum(a != b for a, b in zip(*changed, strict=True)) == 1


def test_a_student_earns_with_their_own_number_only(released: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(released, tmp_path / "course"))
    mine = {student: side(folder, student) for student in STUDENTS}

    def hand_in(student: str, number: int, file_of: str = "") -> Any:
        notebook = copy_of(folder, file_of or student)
        answers = RIGHT | {"area": f"def area():\n    return {number**2}"}
        for identity, source in answers.items():
            cell(notebook, identity).source = source
        path = folder / "submitted" / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, str(path))

    def scores() -> dict[str, float | None]:
        return {each.student: each.score for each in grade(folder, feedback=False)}

    hand_in("alice", mine["alice"])
    hand_in("bob", mine["alice"])  # the neighbour's answer
    hand_in("carol", mine["alice"], file_of="alice")  # the neighbour's whole file
    hand_in("dave", mine["dave"])
    assert scores() == {"alice": 150.0, "bob": 100.0, "carol": 100.0, "dave": 150.0}
    hand_in("bob", mine["bob"], file_of="alice")  # what counts is whose it is
    assert scores()["bob"] == 150.0
    # The second look's other inputs keep the student's variant.
    (other, *_) = Course(folder).others(NAME, "alice x", "alice")["area-test"]
    assert cell(copy_of(folder, "alice"), "area-given").source == f"SIDE = {mine['alice']}"
    assert "course." not in other


def test_what_cannot_be_varied_is_refused(released: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"ps9 has no course\.variant"):
        personal(make_course(tmp_path / "plain"), NAME, ["alice"])
    folder = Path(shutil.copytree(released, tmp_path / "course"))
    path = folder / "source" / NAME / f"{NAME}.ipynb"
    path.write_text(path.read_text().replace("ps9-side", "ps9-other"))
    with pytest.raises(ValueError, match="area-given is not that of the release"):
        Course(folder)._own_sources("alice", NAME)
    notebook = nbformat.read(str(path), 4)
    cell(notebook, "area-given").metadata.nbgrader.locked = False
    nbformat.write(notebook, str(path))
    with pytest.raises(ValueError, match="must be locked"):
        personal(folder, NAME, ["alice"])


@pytest.mark.parametrize("name", VARIED)
def test_a_pencil_question_of_the_sets_takes_the_students_own_answer(name: str) -> None:
    notebook = nbformat.read(str(ASSIGNMENTS / "source" / name / f"{name}.ipynb"), 4)
    given, answer, test = notebook.cells[-3:]
    (function,) = (line[4:].split("(")[0] for line in answer.source.splitlines()[:1])

    def names_of(student: str) -> dict[str, Any]:
        names = {"checks": checks, "course": course}
        for each in (given, answer):
            exec(instantiate(each.source, "a secret", student=student), names)
        return names

    classes = [names_of(f"student {i}") for i in range(40)]
    numbers = {names[function]() for names in classes}
    assert len(numbers) >= 8, "neighbours would have the same number too often"
    told = instantiate(test.source, "a secret")
    for names in classes[:8]:
        own = names[function]()
        for number in sorted(numbers):
            names[function] = lambda number=number: number
            if number == own:
                exec(told, names)
            else:
                with pytest.raises(checks.CheckFailed):
                    exec(told, names)


def test_the_other_sets_have_none() -> None:
    texts = {
        name: (ASSIGNMENTS / "source" / name / f"{name}.ipynb").read_text(encoding="utf-8")
        for name in sets_of(ASSIGNMENTS)
    }
    assert tuple(name for name, text in texts.items() if "course.variant" in text) == VARIED
