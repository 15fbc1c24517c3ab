#!/usr/bin/env python3
"""Write what students get of the problem sets, and prove each set.

The release of a set goes to assignments/release/SET. The proof: the reference solution earns every
point, the untouched release none, every planted mistake loses its own points only and is named, and
no cheap answer (`transformer_book.course.cheap`) earns any. With --personal, each student of the
gradebook also gets a copy with their own numbers (`course.variant`).
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from common import ROOT

from transformer_book.course.grading import Course
from transformer_book.course.proof import prove
from transformer_book.course.release import SECRET, personal, release, sets_of, solve, with_variants

COURSE = ROOT / "assignments"


def cheap_answers(name: str) -> tuple[list[str], str]:
    """The cheap answers that earn points, and how many do not.

    In a process that is gone afterwards: a set blocks modules.
    """
    words = [sys.executable, "-m", "transformer_book.course.cheap", COURSE, name]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines() or done.stderr.splitlines()[-1:]
    return (lines, "") if done.returncode else ([], lines[0])


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit status is 1 if a set is not proven."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help="such as ps2; none: all")
    parser.add_argument("--no-proof", action="store_true", help="only write the releases")
    parser.add_argument(
        "--personal",
        action="store_true",
        help="also write assignments/personal/STUDENT/SET for each student of the gradebook",
    )
    parser.add_argument(
        "--solutions", action="store_true", help="write assignments/solution/SET, and nothing else"
    )
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="gradings at a time (2)")
    options = parser.parse_args(arguments)
    new = not (COURSE / SECRET).exists()
    try:
        names = options.sets or sets_of(COURSE)
        if options.solutions:
            for name in names:
                print(f"solved: {solve(COURSE, name).relative_to(ROOT)}")
            return 0
        for path in release(COURSE, names):
            print(f"released: {path.relative_to(ROOT)}")
        if options.personal:
            students = Course(COURSE).students()
            if not students:
                print("There is no student in the gradebook, and so no personal copy.")
            for name in options.sets or [each for each in names if with_variants(COURSE, each)]:
                for path in personal(COURSE, name, students):
                    print(f"released: {path.relative_to(ROOT)}")
        if new:
            print(
                f"The secret of this course is in {(COURSE / SECRET).relative_to(ROOT)}: keep it."
            )
        if options.no_proof:
            return 0
        wrong = 0
        for name in names:
            complaints, outcomes = prove(COURSE, name, jobs=options.jobs)
            passed, tried = cheap_answers(name)
            complaints += passed
            wrong += len(complaints)
            print(f"{name}: {'not proven' if complaints else 'proven'} ({len(outcomes)} gradings)")
            for complaint in complaints:
                print(f"  {complaint}")
            if tried:
                print(f"  {tried}")
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
