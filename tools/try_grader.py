#!/usr/bin/env python3
"""Grade honest submissions and attacks, and count who was harmed and what was earned unearned.

    python tools/try_grader.py --jobs 1 2 6 --busy 4

The classes are those of the tests (`tests/course/honest.py`, `test_hostile.py`, `attacks.py`). They
are graded with each number of jobs, and then, with the first one, beside busy processes.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from common import ROOT

sys.path.insert(0, str(ROOT))

from tests.course import attacks, honest, test_hostile
from tests.course.small import NAME, make_course
from transformer_book.course.grading import Limits, Outcome, grade
from transformer_book.course.release import release

LIMITS = Limits(seconds=120, cell_seconds=30, memory=2**30)


def hand_in_honest(course: Path, part: slice) -> dict[str, honest.Honest]:
    """The honest class, or a part of it."""
    released = nbformat.read(str(course / "release" / NAME / f"{NAME}.ipynb"), 4)
    chosen = dict(list(honest.HONEST.items())[part])
    for name, each in chosen.items():
        path = course / "submitted" / name / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(honest.hand_in(released, each), str(path))
    return chosen


def hand_in_attacks(course: Path, part: slice) -> dict[str, test_hostile.Attack]:
    """The hostile class, or a part of it."""
    every = {**test_hostile.attacks(course, 9), **attacks.more()}
    chosen = dict(list(every.items())[part])
    for name, each in chosen.items():
        test_hostile.hand_in(course, name, each)
    return chosen


def harmed(chosen: dict[str, honest.Honest], outcomes: dict[str, Outcome]) -> list[str]:
    """Who lost points, or the good name."""
    return [
        _line(outcomes[name])
        for name, each in chosen.items()
        if (outcomes[name].score, outcomes[name].status) != (100.0, each.status)
    ]


def gained(chosen: dict[str, test_hostile.Attack], outcomes: dict[str, Outcome]) -> list[str]:
    """Who has more points than deserved."""
    return [
        _line(outcomes[name])
        for name, each in chosen.items()
        if (outcomes[name].score or 0.0) > (each.score or 0.0)
    ]


def _line(outcome: Outcome) -> str:
    notes = " ".join(outcome.notes)
    return f"  {outcome.student}: {outcome.status}, {outcome.score}. {notes}"


@contextmanager
def busy(n: int) -> Iterator[None]:
    """Beside `n` processes that compute without end."""
    spinning = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(n)]
    for process in spinning:
        process.start()
    try:
        yield
    finally:
        for process in spinning:
            process.kill()


def _spin() -> None:
    while True:
        pass


def try_once(jobs: int, beside: int, options: argparse.Namespace) -> int:
    """Grade both classes; how many are not as they must be."""
    bad = 0
    part = slice(*options.part)
    for kind, hand_in, judged in (
        ("honest", hand_in_honest, harmed),
        ("attacks", hand_in_attacks, gained),
    ):
        if options.only not in (None, kind):
            continue
        with tempfile.TemporaryDirectory(prefix="try-") as place, busy(beside):
            course = make_course(Path(place) / "course")
            release(course)
            chosen = hand_in(course, part)
            start, before = time.monotonic(), os.times()
            outcomes = grade(course, limits=LIMITS, jobs=jobs, feedback=False)
            found = judged(chosen, {outcome.student: outcome for outcome in outcomes})
        seconds = time.monotonic() - start
        spent = sum(os.times()[:2]) - sum(before[:2])
        word = "harmed" if kind == "honest" else "with points unearned"
        print(
            f"{kind}: {len(chosen)} submissions, --jobs {jobs}, beside {beside} busy processes: "
            f"{len(found)} {word} ({seconds:.0f} s, {spent:.0f} s of processor time in the grader)",
            *found,
            sep="\n",
            flush=True,
        )
        bad += len(found)
    return bad


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit status is 1 if anything is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--jobs", type=int, nargs="+", default=[2], metavar="N")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="then beside so many")
    parser.add_argument("--only", choices=("honest", "attacks"), help="one of the classes")
    parser.add_argument("--part", type=int, nargs=3, default=(None, None, None), metavar="N",
                        help="start, stop and step of those that are graded")  # fmt: skip
    options = parser.parse_args(arguments)
    bad = sum(try_once(jobs, 0, options) for jobs in options.jobs)
    if options.busy:
        bad += try_once(options.jobs[0], options.busy, options)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
