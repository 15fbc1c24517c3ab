"""`grade`: what a class handed in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transformer_book.cli.messages import columns
from transformer_book.cli.options import positive, whole

if TYPE_CHECKING:
    from transformer_book.course.grading import Outcome


def grade(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The course, with submitted/STUDENT/SET.")
    ],
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="SET", help="Such as ps2; may be repeated.", show_default="all"
        ),
    ] = None,
    students: Annotated[
        list[str] | None,
        typer.Option("--student", metavar="NAME", help="May be repeated.", show_default="all"),
    ] = None,
    jobs: Annotated[
        int, typer.Option(parser=whole(1), metavar="N", help="Submissions at a time.")
    ] = 1,
    minutes: Annotated[
        float,
        typer.Option(parser=positive, metavar="M", help="Of processor time, for one submission."),
    ] = 10.0,
    cell_seconds: Annotated[
        float, typer.Option(parser=positive, metavar="S", help="Of processor time, for one cell.")
    ] = 60.0,
    memory: Annotated[
        float, typer.Option(parser=positive, metavar="GIB", help="For one submission.")
    ] = 6.0,
    force: Annotated[bool, typer.Option("--force", help="Also what has not changed.")] = False,
    hidden_tests: Annotated[
        bool, typer.Option("--hidden-tests", help="Feedback shows them: after the deadline.")
    ] = False,
) -> None:
    """Grade what a class handed in; nothing a submission does can lose another one.

    Writes grades.csv, lms.csv, report.html and feedback/ into the course. What was graded before
    and has not changed is not run again.

    \b
    Example:
      transformer-book grade assignments --set ps2 --jobs 2
    """
    try:
        from transformer_book.course import grading
    except ModuleNotFoundError as error:
        raise ValueError(
            f"Grading needs {error.name}, which is not installed: "
            "pip install 'transformer-book[course]'."
        ) from None
    limits = grading.Limits(60 * minutes, cell_seconds, int(memory * 2**30))

    outcomes = grading.grade(
        folder,
        sets or (),
        students or (),
        limits=limits,
        jobs=jobs,
        force=force,
        hidden=hidden_tests,
        progress=_tell,
        begin=lambda sentence: print(sentence, file=sys.stderr),
    )
    counts = {status: sum(o.status == status for o in outcomes) for status in grading.STATUSES}
    print(columns([(status, str(n)) for status, n in counts.items()]))
    print(f"grades.csv, lms.csv, report.html and feedback/ are in {folder}.")
    for sentence in grading.Course(folder.resolve()).strays():
        print(sentence, file=sys.stderr)
    if sentence := grading.without_isolation(outcomes):
        print(sentence, file=sys.stderr)


def _tell(done: int, of: int, outcome: Outcome) -> None:
    score = "no grade" if outcome.score is None else f"{outcome.score:g}/{outcome.max_score:g}"
    line = f"{done}/{of} {outcome.problem_set} {outcome.student}: {outcome.status}, {score}"
    print(line, file=sys.stderr, flush=True)
