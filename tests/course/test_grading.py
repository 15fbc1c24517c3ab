"""Grades: what is restored, what is scored, what is told apart, and what is not run again."""

from __future__ import annotations

import copy
import csv
import json
import re
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_output

from tests.course.small import NAME, cell, make_course, remember_runs
from tests.damage import replaced_once
from tests.fresh import import_fresh
from transformer_book.course import grading, isolation, proof, sandbox
from transformer_book.course.feedback import briefly
from transformer_book.course.grading import Course, Outcome, Unreadable, grade, read_notebook
from transformer_book.course.release import release
from transformer_book.course.sandbox import Run

# As a teacher runs transformer_book.cli.grade: the annotations' hook does not know typer's classes.
command = import_fresh("transformer_book.cli").run
CELL = {"cell_type": "markdown", "metadata": {}, "source": "Good."}
RIGHT = {"double": "def double(x):\n    return x + x", "triple": "def triple(x):\n    return x * 3"}


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course, released once."""
    place = make_course(tmp_path_factory.mktemp("released") / "course")
    release(place)
    return place


@pytest.fixture
def folder(released: Path, tmp_path: Path) -> Path:
    """A released course, as if it had just been released."""
    return Path(shutil.copytree(released, tmp_path / "course"))


RUNS: dict[str, Run] = {}


@pytest.fixture(autouse=True)
def remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    remember_runs(monkeypatch, RUNS)


@pytest.fixture
def counted(remembered: None, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every run: of a submission, and in each class one of the reference solution."""
    runs: list[int] = []
    before = grading.run
    monkeypatch.setattr(grading, "run", lambda *a: (runs.append(1), before(*a))[1])
    return runs


def hand_in(
    folder: Path, student: str, answers: dict[str, str], edit: Callable[[Any], None] | None = None
) -> Path:
    """A submission: the release with these answers, and then edited; its file."""
    notebook = nbformat.read(str(folder / "release" / NAME / f"{NAME}.ipynb"), 4)
    for each in notebook.cells:
        identity = each.metadata.get("nbgrader", {}).get("grade_id")
        each.source = answers.get(identity, each.source)
    if edit:
        edit(notebook)
    path = folder / "submitted" / student / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, str(path))
    return path


# --- before it runs -------------------------------------------------------------------------------


def restored(folder: Path, edit: Callable[[Any], None]) -> tuple[Any, list[str]]:
    path = hand_in(folder, "alice", RIGHT, edit)
    released = nbformat.read(str(folder / "release" / NAME / f"{NAME}.ipynb"), 4)
    full = Course(folder)._full_sources(NAME)
    return grading.restore(read_notebook(path), released, full)


def test_an_honest_submission_gets_its_hidden_tests_and_nothing_else(folder: Path) -> None:
    def edit(notebook: Any) -> None:
        notebook.cells.insert(3, new_code_cell("scratch = 1"))

    notebook, notes = restored(folder, edit)
    assert notes == []
    assert "HIDDEN" in cell(notebook, "double-test").source
    assert [c.source for c in notebook.cells].count("scratch = 1") == 1
    assert cell(notebook, "double").source == RIGHT["double"]


@pytest.mark.parametrize(
    ("edit", "note"),
    [
        (lambda nb: cell(nb, "double-test").update(source="pass"), "double-test had been edited"),
        (lambda nb: nb.cells.remove(cell(nb, "double-test")), "double-test had been deleted"),
        (lambda nb: nb.cells.remove(cell(nb, "setup")), "The cell setup had been deleted"),
        (
            lambda nb: cell(nb, "triple-test").metadata.nbgrader.update(points=1000),
            "The points of the test cell triple-test had been edited",
        ),
        (lambda nb: nb.cells.remove(cell(nb, "triple")), "The answer triple is lost"),
        (lambda nb: nb.cells.append(copy.deepcopy(cell(nb, "double"))), "double was there twice"),
    ],
)
def test_what_was_tampered_with_is_restored_and_told(
    folder: Path, edit: Callable[[Any], None], note: str
) -> None:
    notebook, notes = restored(folder, edit)
    assert len(notes) == 1 and note in notes[0]
    tests = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade")]
    assert [c.metadata.nbgrader.points for c in tests] == [60, 40]
    assert "HIDDEN" in tests[0].source and "HIDDEN" not in tests[1].source
    order = [c.metadata.get("nbgrader", {}).get("grade_id") for c in notebook.cells]
    assert order.index("setup") < order.index("double-test") < order.index("triple-test")


def test_another_kernel_or_cell_type_is_put_right(folder: Path) -> None:
    def edit(notebook: Any) -> None:
        notebook.metadata.kernelspec = {"name": "ir", "display_name": "R", "language": "R"}
        cell(notebook, "triple-test").cell_type = "raw"

    notebook, _ = restored(folder, edit)
    assert notebook.metadata.kernelspec.name == "python3"
    assert cell(notebook, "triple-test").cell_type == "code"
    nbformat.validate(notebook)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is empty."),
        (b" \n", "The file is empty."),
        ("grün".encode("latin-1"), "not UTF-8"),
        (b"print('hello')", "no Jupyter notebook"),
        (b"[1, 2]", "no Jupyter notebook"),
        (b'{"cells": [1]}', "no Jupyter notebook"),
        (b'{"cells": [{"cell_type": "code"}]}', "no Jupyter notebook"),
        (b"[" * 100_000, "no Jupyter notebook"),
        (json.dumps({"cells": [CELL] * 5001}).encode(), "5001 cells"),
    ],
)
def test_a_file_that_is_no_notebook_is_told_in_one_sentence(
    tmp_path: Path, data: bytes, sentence: str
) -> None:
    path = tmp_path / "a.ipynb"
    path.write_bytes(data)
    with pytest.raises(Unreadable, match=sentence):
        read_notebook(path)


def test_a_mark_of_an_editor_before_a_notebook_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": [CELL], "metadata": {}}), encoding="utf-8-sig")
    assert len(read_notebook(path).cells) == 1


# --- after it ran ---------------------------------------------------------------------------------


def settled(*outputs: Any, finished: bool = True, guard: bool = True) -> Any:
    test = new_code_cell("", outputs=list(outputs))
    test.metadata = nbformat.from_dict(
        {"finished": finished, "nbgrader": {"grade": True, "solution": False, "grade_id": "t"}}
    )
    before = new_code_cell("")
    before.metadata = nbformat.from_dict({"for": "guard", "finished": guard})
    notebook = nbformat.v4.new_notebook(cells=[before, test])
    grading.settle(notebook)
    assert notebook.cells == [test]
    return [out.output_type for out in test.outputs]


def test_a_test_counts_only_if_it_ran_to_its_end() -> None:
    warning = new_output("stream", name="stderr", text="UserWarning")
    number = new_output("execute_result", data={"text/plain": "1000"})
    printed = new_output("stream", name="stdout", text="Right")
    assert settled(printed, warning, number) == ["stream"]
    assert settled(finished=False) == ["error"]
    assert settled(guard=False) == ["error"]


# --- a class --------------------------------------------------------------------------------------


def test_a_class_is_graded_once_and_only_what_changed_is_run_again(
    folder: Path, counted: list[int]
) -> None:
    hand_in(folder, "alice", RIGHT)
    hand_in(folder, "bob", RIGHT | {"double": "def double(x):\n    return 4.0"})
    hand_in(folder, "carol", {})
    (folder / "submitted" / "dave").mkdir()
    first = grade(folder)
    scores = {o.student: (o.status, o.score) for o in first}
    assert scores == {
        "alice": ("graded", 100.0),
        "bob": ("graded", 40.0),
        "carol": ("graded", 0.0),
        "dave": ("missing", None),
    }
    assert len(counted) == 3 + 1
    table = (folder / "grades.csv").read_text(encoding="utf-8")
    assert grade(folder, feedback=False) == first and len(counted) == 3 + 1
    assert (folder / "grades.csv").read_text(encoding="utf-8") == table
    hand_in(folder, "bob", RIGHT)
    again = {o.student: o.score for o in grade(folder, feedback=False)}
    assert again["bob"] == 100.0 and len(counted) == 4 + 2
    # A mended test: everyone's submission of this set is run again, once.
    source = folder / "source" / NAME / f"{NAME}.ipynb"
    notebook = nbformat.read(str(source), 4)
    cell(notebook, "triple-test").source += "\nchecks.exercise(triple, checks.case(1.0, gives=3.0))"
    nbformat.write(notebook, str(source))
    release(folder)
    assert {o.student: o.score for o in grade(folder)} == again and len(counted) == 7 + 3
    rows = list(csv.DictReader((folder / "lms.csv").open(encoding="utf-8")))
    assert rows[0] == {"student": "alice", NAME: "100"}
    assert rows[3] == {"student": "dave", NAME: ""}
    feedback = folder / "feedback" / "bob" / NAME / f"{NAME}.html"
    assert "Right" in feedback.read_text(encoding="utf-8")


def test_points_given_by_hand_are_taken_over_without_a_run(
    folder: Path, counted: list[int]
) -> None:
    hand_in(folder, "alice", RIGHT | {"double": "def double(x):\n    return 4.0"})
    assert grade(folder)[0].score == 40
    with Course(folder).gradebook() as book:
        mended = book.find_grade("double-test", NAME, NAME, "alice")
        mended.manual_score, mended.needs_manual_grade = 50.0, False
        book.find_comment("double", NAME, NAME, "alice").manual_comment = "Nearly."
        book.db.commit()
    assert grade(folder)[0].score == 90
    assert len(counted) == 1 + 1
    assert ",90,100,0,90," in (folder / "grades.csv").read_text(encoding="utf-8")
    page = (folder / "feedback" / "alice" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    assert "(Score: 90.0 / 100.0)" in page and "Nearly." in page


def test_late_days_count_whenever_they_are_told(folder: Path, counted: list[int]) -> None:
    """Graded first, then due, then what a day costs, then timestamps: as after any other order."""
    for student in ("ann", "ben", "cem"):
        hand_in(folder, student, RIGHT)
    pages = folder / "feedback"
    stamps = {"ann": "2026-03-02 11:59", "ben": "2026-03-02 12:01", "cem": "2026-03-09 12:00"}

    def penalties() -> dict[str, float]:
        outcomes = {outcome.student: outcome for outcome in grade(folder)}
        for name, outcome in outcomes.items():
            page = (pages / name / NAME / f"{NAME}.html").read_text(encoding="utf-8")
            assert f"(Score: {grading.total(outcome)} / 100.0)" in page
        return {name: outcome.penalty for name, outcome in outcomes.items()}

    assert penalties() == {"ann": 0, "ben": 0, "cem": 0}
    with Course(folder).gradebook() as book:
        book.update_or_create_assignment(NAME, duedate=datetime(2026, 3, 2, 12))
    for student, stamp in stamps.items():
        path = folder / "submitted" / student / NAME / "timestamp.txt"
        path.write_text(f"{stamp}:00 UTC\n")
    assert penalties() == {"ann": 0, "ben": 0, "cem": 0}
    with (folder / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write("\nc = get_config()\nc.PerDay.per_day = 10\nc.PerDay.at_most = 25\n")
    assert penalties() == {"ann": 0, "ben": 10, "cem": 25}
    (folder / "submitted" / "cem" / NAME / "timestamp.txt").unlink()
    (folder / "submitted" / "ann" / NAME / "timestamp.txt").write_text("Monday\n")
    assert penalties() == {"ann": 0, "ben": 10, "cem": 0}
    assert "timestamp" in (folder / "report.html").read_text(encoding="utf-8")
    (folder / "submitted" / "ann" / NAME / "timestamp.txt").write_text("2026-03-03 12:00:00 UTC\n")
    assert penalties() == {"ann": 10, "ben": 10, "cem": 0}
    assert "timestamp" not in (folder / "report.html").read_text(encoding="utf-8")
    assert len(counted) == 3 + 1


def test_a_page_of_feedback_shows_verdicts_and_no_hidden_test(folder: Path) -> None:
    """Nor does a cell that prints what the kernel remembers; with the switch, both do."""

    def edit(notebook: Any) -> None:
        cell(notebook, "triple-test").source = "pass"
        notebook.cells.append(new_code_cell("print(In)"))

    answers = {"double": "def double(x):\n    return 4.0", "triple": "def triple(x):\n    oops"}
    hand_in(folder, "alice", answers, edit)
    grade(folder)
    place = folder / "feedback" / "alice" / NAME
    assert [path.name for path in place.iterdir()] == [f"{NAME}.html"]
    page = (place / f"{NAME}.html").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", "", page)
    assert "Hidden tests follow" in text and "Not yet · double" in text
    assert "You return 4, it should be" in text and "double-test" in text
    assert "BEGIN HIDDEN" not in text and "+ 3.0" not in text and "gives=first_fit(x)" not in text
    assert "repeats a hidden test" in text
    assert "What the grader noticed" in text and "triple-test had been edited" in text
    grade(folder, hidden=True)
    page = (place / f"{NAME}.html").read_text(encoding="utf-8")
    assert (
        "gives=first_fit(x)" in (text := re.sub(r"<[^>]+>", "", page))
        and "Hidden tests fo" not in text
    )


def test_one_sentence_for_each_problem_and_three_at_most() -> None:
    names = ["cover", "cover-test", "pieces-test", "mix-test", "no-test", "any-test"]
    deleted = [f"The test cell {name} had been deleted." for name in names[1:]]
    assert briefly(deleted, names) == (
        "The test cell cover-test had been deleted; "
        "the same of pieces-test, mix-test, no-test and 1 more.",
    )
    assert briefly(deleted[:1], names) == tuple(deleted[:1])
    others = [f"The file has {word}." for word in ("one", "two", "three")]
    assert briefly(others, names) == tuple(others)
    told = briefly([*others, *deleted], names)
    assert len(told) == 3 and told[:2] == tuple(others[:2]) and told[2].startswith("2 more are in")


def test_a_spreadsheet_takes_no_cell_for_a_formula(folder: Path) -> None:
    for student in ("=cmd|' 'A0", "+1", "@sum", "-x", "alice"):
        (folder / "submitted" / student).mkdir(parents=True)
    grade(folder, feedback=False)
    for table in ("grades.csv", "lms.csv"):
        rows = list(csv.DictReader((folder / table).open(encoding="utf-8")))
        assert {row["student"] for row in rows} == {
            "'=cmd|' 'A0",
            "'+1",
            "'@sum",
            "'-x",
            "alice",
        }


def test_each_hands_in_what_is_theirs_and_everything_else_is_told(
    folder: Path, counted: list[int]
) -> None:
    alice = hand_in(folder, "alice", RIGHT)
    submitted = folder / "submitted"
    (submitted / "bob").mkdir()
    (submitted / "bob" / NAME).symlink_to(alice.parent)
    (submitted / "carol").symlink_to(submitted / "alice")
    (submitted / "dave").mkdir()
    (submitted / "dave" / NAME).symlink_to(folder / "source" / NAME)
    (submitted / "stray.ipynb").write_bytes(alice.read_bytes())
    found = {o.student: (o.status, o.score) for o in grade(folder, feedback=False)}
    nothing = ("missing", None)
    assert found == {"alice": ("graded", 100.0), "bob": nothing, "dave": nothing}
    rows = {r["student"]: r for r in csv.DictReader((folder / "grades.csv").open(encoding="utf-8"))}
    assert "is a link" in rows["bob"]["notes"] and "is a link" in rows["dave"]["notes"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "submitted/stray.ipynb lies in no" in page and "submitted/carol is a link" in page
    alice.unlink()
    (alone,) = [o for o in grade(folder, feedback=False) if o.student == "alice"]
    assert alone.score == 100 and grading.GONE in alone.notes
    assert grade(folder, feedback=False)[0] == alone and len(counted) == 1 + 1


def test_a_crash_is_no_zero(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(folder, "alice", RIGHT)
    event = {"kind": "died", "cell": None, "text": "its processes ended themselves"}
    monkeypatch.setattr(grading, "run", lambda *_: Run(None, (event,), 1.0))
    (outcome,) = grade(folder)
    assert (outcome.status, outcome.score) == ("crashed", None)
    (row,) = csv.DictReader((folder / "grades.csv").open(encoding="utf-8"))
    assert row["status"] == "crashed" and row["score"] == row["total"] == ""
    assert "Its processes ended themselves." in row["notes"]


def test_what_stops_the_grader_costs_nobody_else_a_grade(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for student in ("alice", "bob", "carol"):
        hand_in(folder, student, RIGHT)
    prepared = grading.Course.prepare

    def breaks_on_bob(self: Course, student: str, *rest: Any) -> Any:
        if student == "bob":
            raise RuntimeError("no such thing")
        return prepared(self, student, *rest)

    monkeypatch.setattr(grading.Course, "prepare", breaks_on_bob)
    outcomes = {o.student: o for o in grade(folder, feedback=False)}
    assert [o.score for o in outcomes.values()] == [100.0, None, 100.0]
    assert outcomes["bob"].notes == ("Grading it stopped with RuntimeError: no such thing.",)
    monkeypatch.undo()
    remember_runs(monkeypatch, RUNS)
    assert [o.score for o in grade(folder, feedback=False)] == [100.0] * 3


def test_a_text_that_takes_hours_to_typeset_costs_a_page_and_no_grade(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grading, "PAGE", 3.0)
    slow = nbformat.v4.new_markdown_cell("\\begin{a}" * 12_000)
    hand_in(folder, "alice", RIGHT, lambda notebook: notebook.cells.append(slow))
    hand_in(folder, "bob", RIGHT)
    alice, bob = grade(folder)
    assert (alice.score, bob.score) == (100.0, 100.0)
    assert (alice.notes, bob.notes) == ((grading.NO_PAGE,), ())


def test_where_nothing_isolates_it_is_said_in_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(grading, "run", sandbox.run)
    monkeypatch.setattr(sandbox, "fork_server", lambda: None)
    monkeypatch.setattr(isolation, "stranger", lambda: None)
    hand_in(folder, "alice", RIGHT)
    assert command(["grade", str(folder)]) == 0
    assert "1/1 ps9 alice: graded, 100/100" in (err := capsys.readouterr().err)
    assert "1 submission ran without isolation" in err
    assert "1 submission ran without isolation" in (folder / "report.html").read_text()


def test_the_command_tells_what_it_did_and_what_it_cannot(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    hand_in(folder, "alice", RIGHT)
    assert command(["grade", str(folder)]) == 0
    out, err = capsys.readouterr()
    assert f"1/1 {NAME} alice: graded, 100/100" in err
    assert re.search(r"(?m)^graded +1$", out)
    assert ("without isolation" in err) == (sandbox.fork_server() is None)
    for arguments, sentence in [
        ([str(tmp_path)], "is not a course"),
        ([str(folder), "--set", "ps8"], "did you mean 'ps9'"),
        ([str(folder), "--student", "alise"], "did you mean 'alice'"),
        ([str(folder), "--jobs", "0"], "whole number of at least 1"),
    ]:
        assert command(["grade", *arguments]) == 2
        assert sentence in capsys.readouterr().err


# --- the proof ------------------------------------------------------------------------------------


def test_a_set_that_is_not_sound_is_told_why(folder: Path) -> None:
    """That a sound one is proven, `test_teaching` sees."""
    source = folder / "source" / NAME / f"{NAME}.ipynb"
    notebook = nbformat.read(str(source), 4)
    cell(notebook, "triple-test").source = "assert triple(2.0) > 0"
    cell(notebook, "triple-test").metadata.nbgrader.points = 30
    double = cell(notebook, "double")
    double.source = replaced_once(double.source, "2 *", "2.5 *")
    nbformat.write(notebook, str(source))
    complaints, outcomes = proof.prove(folder, NAME)
    assert len(outcomes) == 4
    told = " ".join(complaints)
    assert "The points sum to 90, not to 100." in told
    assert "The reference earns 0 of 60 in double-test" in told
    assert "The mistake 2 in triple loses []" in told or "loses ['double-test']" in told


def test_the_mistakes_of_a_set_are_read_or_refused_in_one_sentence(folder: Path) -> None:
    path = folder / "mistakes" / f"{NAME}.toml"
    assert [mistake.cell for mistake in proof.read_mistakes(folder, NAME)] == ["double", "triple"]
    path.write_text("[[mistake]]\ncell = 'double'\n")
    with pytest.raises(ValueError, match="is no list of mistakes"):
        proof.read_mistakes(folder, NAME)
    path.unlink()
    with pytest.raises(ValueError, match="needs planted mistakes"):
        proof.read_mistakes(folder, NAME)


def test_outcomes_survive_a_broken_record(folder: Path) -> None:
    course = Course(folder)
    course._record(Outcome("alice", NAME, "graded", 90.0, 100.0, notes=("Late.",), digest="x"))
    assert course._before("alice", NAME).notes == ("Late.",)
    path = folder / "autograded" / "alice" / NAME / "outcome.json"
    path.write_text(json.dumps({"student": "alice"}))
    assert course._before("alice", NAME) is None
