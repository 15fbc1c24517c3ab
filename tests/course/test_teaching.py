"""The teaching guide, followed literally: every shell command on the page, in its order."""

from __future__ import annotations

import csv
import html
import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import pytest

from transformer_book.course.feedback import HIDDEN
from transformer_book.course.grading import STATUSES, Course
from transformer_book.course.proof import read_mistakes
from transformer_book.course.release import answered, answers_of, read_secret, sets_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"(?ms)^```shell\n(.*?)^```", PAGE)
SET = "ps1"
ESSAY = "ps6"
NEEDS_OURS = pytest.mark.skipif(
    not (ROOT / ".venv" / "bin" / "python").exists(),
    reason="the page's commands use .venv, which make makes; this Python is another one",
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository as a teacher has it, without what the course made here."""
    place = tmp_path_factory.mktemp("teacher") / "book"
    place.mkdir()
    for name in ("Makefile", "requirements.txt", "pyproject.toml", "_config.yml"):
        shutil.copy(ROOT / name, place)
    shutil.copytree(ROOT / "tools", place / "tools")
    (place / "assignments").mkdir()
    shutil.copy(ROOT / "assignments" / "nbgrader_config.py", place / "assignments")
    for folder in ("source", "mistakes"):
        shutil.copytree(ROOT / "assignments" / folder, place / "assignments" / folder)
    _one_mistake_for_each_test(place / "assignments" / "mistakes" / f"{SET}.toml")
    # What is installed here, and newer than requirements.txt: make installs nothing.
    (place / ".venv").mkdir()
    for entry in (ROOT / ".venv").resolve().iterdir():
        if entry.name != ".installed":
            (place / ".venv" / entry.name).symlink_to(entry)
    (place / ".venv" / ".installed").touch()
    return place


def _one_mistake_for_each_test(path: Path) -> None:
    """Fewer, so that the proof of the set is short: `test_class` rehearses every one of them."""
    head, *mistakes = path.read_text(encoding="utf-8").split("[[mistake]]")
    kept, lost = [], set()
    for text in mistakes:
        loses = set(tomllib.loads(text)["loses"])
        if not loses <= lost:
            kept.append(text)
            lost |= loses
    assert 4 <= len(kept) < len(mistakes)
    path.write_text("[[mistake]]".join([head, *kept]), encoding="utf-8")


def shell(script: str, folder: Path) -> str:
    """What a command prints, in a new terminal: nothing is activated, and no variable is ours."""
    environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def solved(course: Path, name: str) -> Any:
    """What a student hands in who has solved a set."""
    source = nbformat.read(str(course / "source" / name / f"{name}.ipynb"), 4)
    released = nbformat.read(str(course / "release" / name / f"{name}.ipynb"), 4)
    return answered(released, answers_of(source, read_secret(course)))


class Week(NamedTuple):
    """What a teacher saw in a week."""

    course: Path
    said: dict[str, str]  # by the moment, what the commands printed
    rows: dict[str, dict[str, dict[str, str]]]  # by the moment, `grades.csv` by student
    pages: dict[str, str]  # by the moment, alice's feedback, as a reader sees it


@pytest.fixture(scope="module")
def week(repository: Path) -> Week:
    """The whole of it, block by block as the page has them, each in a new terminal."""
    release, roster, collect, grade, hidden, solutions = COMMANDS  # and no other is on the page
    assert "zip_collect" in collect and "--hidden-tests" in hidden and "--solutions" in solutions
    (late_days,) = re.findall(r"(?ms)^```python\n(c = get_config\(\)\nc\.PerDay.*?)^```", PAGE)
    course = repository / "assignments"
    found = Week(course, {}, {}, {})

    def look(moment: str, script: str, name: str = SET) -> None:
        found.said[moment] = shell(script.replace(SET, name), repository)
        with (course / "grades.csv").open(encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["set"] == name]
        found.rows[moment] = {row["student"]: row for row in rows}
        page = (course / "feedback" / "alice" / name / f"{name}.html").read_text("utf-8")
        found.pages[moment] = html.unescape(re.sub(r"(?s)<style.*?</style>|<[^>]+>", "", page))

    found.said["release"] = shell(release, repository)
    shell(roster, repository)
    archive = course / "downloaded" / SET / "archive"
    archive.mkdir(parents=True)
    notebook = solved(course, SET)
    notebook.cells.append(nbformat.v4.new_code_cell("print('seen by', 'alice')"))
    with zipfile.ZipFile(archive / "class.zip", "w") as packed:
        packed.writestr(f"alice_4711_{SET}.ipynb", nbformat.writes(notebook))
        packed.write(course / "release" / SET / f"{SET}.ipynb", f"bob/work/{SET}.ipynb")
        packed.writestr(f"zoe/{SET}.ipynb", "she is not in the class")
    found.said["collect"] = shell(collect, repository)
    (course / "submitted" / f"{SET}.ipynb").write_text("whose?")
    look("graded", grade)

    with (course / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.write(f"\n{late_days}")
    stamp = course / "submitted" / "alice" / SET / "timestamp.txt"
    stamp.write_text("2030-03-09 12:00:01 UTC\n")
    look("late", grade)
    stamp.unlink()
    look("not late", grade)
    look("after the deadline", hidden)

    shell(f".venv/bin/python tools/assignments.py --no-proof {ESSAY}", repository)
    place = course / "submitted" / "alice" / ESSAY
    place.mkdir(parents=True)
    shutil.copy(course / "release" / ESSAY / f"{ESSAY}.ipynb", place)
    essay = nbformat.read(str(place / f"{ESSAY}.ipynb"), 4)
    (answer,) = [c for c in essay.cells if _is_essay(c)]
    answer.source = "It looks at the next word."
    nbformat.write(essay, str(place / f"{ESSAY}.ipynb"))
    look("essay", grade, ESSAY)
    with Course(course).gradebook() as book:  # as the Formgrader does it
        mark = book.find_grade(answer.metadata.nbgrader.grade_id, ESSAY, ESSAY, "alice")
        mark.manual_score, mark.needs_manual_grade = 17.0, False
        comment = book.find_comment(answer.metadata.nbgrader.grade_id, ESSAY, ESSAY, "alice")
        comment.manual_comment = "Which head, and where?"
        book.db.commit()
    look("marked", grade, ESSAY)
    found.said["solutions"] = shell(solutions, repository)
    return found


def _is_essay(cell: Any) -> bool:
    data = cell.metadata.get("nbgrader", {})
    return bool(data.get("grade") and data.get("solution"))


@NEEDS_OURS
def test_the_page_leads_from_nothing_to_returned_grades(week: Week) -> None:
    assert "ps1: proven" in week.said["release"] and "cheap answers fail" in week.said["release"]
    assert (week.course / "secret.txt").exists()
    assert "No student of the gradebook is named in class/zoe" in week.said["collect"]
    assert re.search(r"graded +2\n", week.said["graded"])
    assert f"submitted/{SET}.ipynb lies in no student's folder" in week.said["graded"]
    rows = week.rows["graded"]
    assert (rows["alice"]["total"], rows["bob"]["total"]) == ("100", "0")
    assert rows["alice"]["notes"] == ""
    for file in ("report.html", "grades.csv", "lms.csv", f"feedback/alice/{SET}/{SET}.html"):
        assert f"assignments/{file}" in PAGE and (week.course / file).exists()
    with (week.course / "lms.csv").open(encoding="utf-8") as file:
        assert {r["student"]: r[SET] for r in csv.DictReader(file)} == {"alice": "100", "bob": "0"}
    assert (week.course / "solution" / SET / f"{SET}.ipynb").exists()


@NEEDS_OURS
def test_late_days_are_told_after_grading_and_taken_back(week: Week) -> None:
    penalties = {moment: rows["alice"]["penalty"] for moment, rows in week.rows.items()}
    assert [penalties[m] for m in ("graded", "late", "not late")] == ["0", "20", "0"]
    scores = {
        m: re.findall(r"\(Score: ([\d.]+) / 100\.0\)", page) for m, page in week.pages.items()
    }
    assert [scores[m] for m in ("graded", "late", "not late")] == [["100.0"], ["80.0"], ["100.0"]]


@NEEDS_OURS
def test_feedback_shows_own_cells_and_no_hidden_test_before_the_deadline(week: Week) -> None:
    source = nbformat.read(str(week.course / "source" / SET / f"{SET}.ipynb"), 4)
    open_to_all = "\n".join(HIDDEN.sub("", cell.source) for cell in source.cells)
    hidden = [
        line.strip()
        for cell in source.cells
        for part in HIDDEN.findall(cell.source)
        for line in part.splitlines()[1:-1]
        if len(line.strip()) > 20 and line.strip() not in open_to_all and "course." not in line
    ]
    assert len(hidden) > 50
    before, after = week.pages["graded"], week.pages["after the deadline"]
    assert [line for line in hidden if line in before] == []
    assert [line for line in hidden if line not in after] == []
    assert "BEGIN HIDDEN TESTS" not in before and "cover-test" in before
    for page in (before, after):
        assert "seen by alice" in page and "NameError" not in page


@NEEDS_OURS
def test_an_essay_marked_by_hand_counts_everywhere(week: Week) -> None:
    assert week.rows["essay"]["alice"]["score"] == "0"
    assert week.rows["marked"]["alice"]["score"] == "17"
    assert "(Score: 17.0 / 100.0)" in week.pages["marked"]
    assert "Which head, and where?" in week.pages["marked"]
    assert re.search(r"Student's answer\s+Score: 17\.0 / 20\.0", week.pages["marked"])


def test_the_page_names_every_set_and_every_status() -> None:
    listed = re.findall(r"(?m)^\| (ps\d) \|", PAGE)
    assert listed == sets_of(ROOT / "assignments")
    assert re.findall(rf"(?m)^\| ({'|'.join(STATUSES)}) \|", PAGE) == list(STATUSES)


@pytest.mark.parametrize("name", sets_of(ROOT / "assignments"))
def test_every_set_is_whole(name: str) -> None:
    """Points, answers before tests, and a planted mistake for every test."""
    path = ROOT / "assignments" / "source" / name / f"{name}.ipynb"
    cells = [cell for cell in nbformat.read(str(path), 4).cells if "nbgrader" in cell.metadata]
    data = [cell.metadata.nbgrader for cell in cells]
    points = [entry.points for entry in data if entry.grade]
    assert sum(points) == 100 and 4 <= len(points) <= 10
    assert len({entry.grade_id for entry in data}) == len(data)
    tests = [cell for cell in cells if cell.metadata.nbgrader.grade]
    hidden = [cell.source for cell in tests if not cell.metadata.nbgrader.solution]
    assert all("### BEGIN HIDDEN TESTS" in source for source in hidden)
    # One task may ask for inputs: its hidden tests are other wrong versions, not other numbers.
    # And a number by pencil has no inputs: its variants are other numbers.
    pencil = sum("course.variant(" in cell.source for cell in cells)
    assert sum("course.seed(" not in source for source in hidden) <= 1 + pencil
    answers = {entry.grade_id for entry in data if entry.solution and not entry.grade}
    automatic = {entry.grade_id for entry in data if entry.grade and not entry.solution}
    mistakes = read_mistakes(ROOT / "assignments", name)
    assert {mistake.cell for mistake in mistakes} <= answers
    assert {cell for mistake in mistakes for cell in mistake.loses} == automatic
