"""Honest work keeps its points and its good name: a class of right answers in all styles.

`tools/try_grader.py` grades all of `honest`, and attacks, in several jobs and on a busy machine; a
part of each is graded here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import nbformat
import pytest

from tests.course.honest import HONEST, NAMED, hand_in
from tests.course.small import NAME, make_course
from transformer_book.course.grading import Outcome, grade
from transformer_book.course.release import release
from transformer_book.course.sandbox import fork_server

if sys.platform != "linux":
    pytest.skip("submissions are isolated on Linux", allow_module_level=True)

# Most names of `NAMED` differ in nothing but the name.
HERE = {
    name: honest
    for i, (name, honest) in enumerate(HONEST.items())
    if name not in NAMED or i % 6 == 0
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What became of each."""
    if fork_server() is None:
        pytest.skip("this system does not isolate processes")
    course = make_course(tmp_path_factory.mktemp("honest") / "course")
    release(course)
    released = nbformat.read(str(course / "release" / NAME / f"{NAME}.ipynb"), 4)
    for name, honest in HERE.items():
        path = course / "submitted" / name / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(hand_in(released, honest), str(path))
    return {outcome.student: outcome for outcome in grade(course, jobs=4, feedback=False)}


def test_honest_work_keeps_its_points_and_its_good_name(
    graded: dict[str, Outcome], tell: Callable[[str], None]
) -> None:
    harmed = [
        f"{name}: {outcome.status}, {outcome.score}, {' '.join(outcome.notes)}"
        for name, honest in HERE.items()
        if (outcome := graded[name]).score != 100
        or outcome.status != honest.status
        or honest.says not in " ".join(outcome.notes)
        or (outcome.notes and not honest.says)
    ]
    tell(f"{len(HERE)} honest submissions, {len(harmed)} harmed")
    assert harmed == []
