"""The teaching guide, followed literally: every shell command on the page, in its order."""

from __future__ import annotations

import csv
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import nbformat
import pytest

from transformer_book.course.grading import STATUSES
from transformer_book.course.proof import read_mistakes
from transformer_book.course.release import sets_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "book" / "teaching.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"(?ms)^```shell\n(.*?)^```", PAGE)
SET = "ps1"


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
    environment = {**os.environ, "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(folder)}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.mark.skipif(
    not (ROOT / ".venv" / "bin" / "python").exists(),
    reason="the page's commands use .venv, which make makes; this Python is another one",
)
def test_the_page_leads_from_nothing_to_returned_grades(repository: Path) -> None:
    release, roster, grade, solutions = COMMANDS  # and no other command stands on the page
    assert "ps1: proven" in shell(release, repository)
    course = repository / "assignments"
    assert (course / "secret.txt").exists()
    shell(roster, repository)
    released = course / "release" / SET / f"{SET}.ipynb"
    solved = nbformat.read(str(course / "source" / SET / f"{SET}.ipynb"), 4)
    shell("source .venv/bin/activate\n" + solutions, repository)
    assert (course / "solution" / SET / f"{SET}.ipynb").exists()
    for student in ("alice", "bob"):
        (course / "submitted" / student / SET).mkdir(parents=True)
    # alice solves it, bob hands in what he got
    shutil.copy(released, course / "submitted" / "bob" / SET)
    notebook = nbformat.read(str(released), 4)
    answers = {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in nbformat.read(str(course / "solution" / SET / f"{SET}.ipynb"), 4).cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    for cell in notebook.cells:
        cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    nbformat.write(notebook, str(course / "submitted" / "alice" / SET / f"{SET}.ipynb"))
    (course / "submitted" / "alice" / SET / "timestamp.txt").write_text("2030-03-08 11:58:03 UTC")
    out = shell("source .venv/bin/activate\n" + grade, repository)
    assert "graded     2" in out
    rows = {row["student"]: row for row in csv.DictReader((course / "lms.csv").open())}
    assert rows["alice"][SET] == "100" and rows["bob"][SET] == "0"
    for file in ("report.html", "grades.csv", "lms.csv", f"feedback/alice/{SET}/{SET}.html"):
        assert f"assignments/{file}" in PAGE and (course / file).exists()
    assert solved.cells


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
    assert sum("course.seed(" not in source for source in hidden) <= 1
    answers = {entry.grade_id for entry in data if entry.solution and not entry.grade}
    automatic = {entry.grade_id for entry in data if entry.grade and not entry.solution}
    mistakes = read_mistakes(ROOT / "assignments", name)
    assert {mistake.cell for mistake in mistakes} <= answers
    assert {cell for mistake in mistakes for cell in mistake.loses} == automatic
