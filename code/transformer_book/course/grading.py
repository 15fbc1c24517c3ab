"""Grade what a class handed in: every student in processes of their own, and nothing is lost.

    outcomes = grade(Path("assignments"))

Each submission is restored (test cells, points and kernel are the released ones again), run in
`sandbox`, and scored with nbgrader's own rules into the course's gradebook. A submission that was
graded before and has not changed, nor its tests, is not run again.
"""

from __future__ import annotations

import ast
import csv
import hashlib
import io
import json
import re
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from jinja2 import Environment
from nbformat.v4 import new_notebook
from nbformat.validator import NotebookValidationError as ValidationError
from nbgrader.api import Gradebook
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties, SaveAutoGrades
from nbgrader.utils import compute_checksum, is_grade, is_locked, is_solution
from traitlets import Float

from transformer_book.course import apart, collecting, seed
from transformer_book.course.feedback import briefly, is_test
from transformer_book.course.release import (
    OUTCOME,
    PERSONAL,
    answered,
    answers_of,
    application,
    instantiate,
    read_secret,
    sets_of,
    with_variants,
)
from transformer_book.course.sandbox import Limits, Run, Unsafe, circumstances, end_all, run
from transformer_book.course.supervisor import DRAWS
from transformer_book.support.arguments import check_choice
from transformer_book.support.atomic_files import write_atomically, write_json

LONGEST = 2 * 2**20  # characters in all its cells: a student's own are a few thousand
MOST = 5000  # cells
PAGE = 60.0  # seconds of processor time to write a page: some texts take hours to typeset
SEED = re.compile(r"course\.seed\(\s*[\"']([^\"']+)")
TEMPLATE = "numbers of this secret are replaced"
STATUSES = {
    "graded": "ran to the end",
    "timed out": "a cell, or the whole, took too long and was stopped; the rest was graded",
    "crashed": "Python was ended, or the file could not be read",
    "missing": "nothing was handed in",
    "changed tests": "test cells had been changed or deleted; they were restored, then graded",
    "cannot be repeated": "an answer that passed its test gave something else when asked again",
    "interfered": "what grades was replaced from inside the notebook: read its code",
}


class PerDay(LateSubmissionPlugin):
    """A penalty for every day, or part of a day, after the due date.

    Attributes:
        per_day: points taken for each day begun.
        at_most: points taken at most.
    """

    per_day = Float(0.0, help="points taken for each day begun").tag(config=True)
    at_most = Float(100.0, help="points taken at most").tag(config=True)

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float | None:
        """Points to take off."""
        if self.per_day <= 0 or total_seconds_late <= 0:
            return None
        return min(score, self.at_most, self.per_day * -(-total_seconds_late // 86400))


@dataclass(frozen=True)
class Outcome:
    """What happened to one submission.

    Attributes:
        student, problem_set: whose, and which.
        status: a key of `STATUSES`.
        score: points, without the penalty; `None` where nothing could be graded.
        max_score: points there are.
        penalty: points taken because it was late.
        manual: some answer waits for a person.
        notes: one sentence each, for the teacher.
        digest: of the submission, its tests and the limits; unchanged: not run again.
        isolated: it ran apart from everything else, and was looked at twice.
        seen: of the notes, those about what was handed in.
        page: of all that the feedback shows beside the notebook; unchanged: not written again.
    """

    student: str
    problem_set: str
    status: str
    score: float | None
    max_score: float
    penalty: float = 0.0
    manual: bool = False
    notes: tuple[str, ...] = ()
    digest: str = ""
    isolated: bool = True
    seen: tuple[str, ...] = ()
    page: str = ""


NO_PAGE = "Its page of feedback could not be written."
GONE = "What was graded is not there any more; the grade stands."


class Unreadable(ValueError):
    """A submission that is no notebook; the text says why."""


def grade(
    folder: Path,
    names: Sequence[str] = (),
    students: Sequence[str] = (),
    *,
    limits: Limits | None = None,
    jobs: int = 1,
    force: bool = False,
    feedback: bool = True,
    hidden: bool = False,
    progress: Callable[[int, int, Outcome], None] = lambda done, of, outcome: None,
    begin: Callable[[str], None] = lambda sentence: None,
) -> list[Outcome]:
    """Grade the submissions of a course and write `grades.csv`, `lms.csv`, `report.html`, feedback.

    Args:
        folder: of the course, with `submitted/STUDENT/SET/SET.ipynb`.
        names: of the sets to grade; none: all that were released.
        students: whom to grade; none: all.
        limits: for each submission.
        jobs: how many submissions run at a time.
        force: grade again what has not changed.
        feedback: write each student's `feedback/STUDENT/SET/SET.html`, too.
        hidden: the feedback shows the hidden tests, for after the deadline.
        progress: called after each submission with how many are done, of how many.
        begin: called before the first one is run, if there is something to know about this system.

    Returns:
        one outcome for every student and set, sorted.

    Raises:
        ValueError: if `folder` is no course, or a set is unknown or not released; if students' code
            would run as root.
    """
    limits = limits or Limits()
    folder = folder.resolve()
    course = Course(folder, feedback, hidden)
    names = list(names) or course.released()
    for name in names:
        check_choice("problem set", name, course.released())
    roster = course.students()
    for student in students:
        check_choice("student", student, roster)
    work = [(student, name) for name in names for student in (students or roster)]
    outcomes: list[Outcome] = []

    def finish(outcome: Outcome) -> None:
        outcomes.append(outcome)
        progress(len(outcomes), len(work), outcome)

    running: dict[Future[Run], tuple[str, str, list[str], str]] = {}
    told: list[str] = []

    def save_next() -> None:
        done, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            student, name, tampered, digest = running.pop(future)
            with _nobody_else_suffers(course, student, name, finish):
                finish(course.save(student, name, future.result(), tampered, digest, limits))

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for student, name in work:
                with _nobody_else_suffers(course, student, name, finish):
                    ready = course.prepare(student, name, limits, force)
                    if isinstance(ready, Outcome):
                        finish(ready)
                        continue
                    if not told:
                        told.append(circumstances())
                        if told[0]:
                            begin(told[0])
                    notebook, tampered, digest = ready
                    others = course.others(
                        name, f"{student} {digest}", course.variants_of(student, name)
                    )
                    future = pool.submit(run, notebook, limits, others)
                    running[future] = (student, name, tampered, digest)
                if len(running) > jobs:  # what is done is saved: little is lost by stopping here
                    save_next()
            while running:
                save_next()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_all()
            raise
    course.report()
    return sorted(outcomes, key=lambda outcome: (outcome.problem_set, outcome.student))


class TooLong(BaseException):
    """Not an `Exception`: what it stops must not swallow it."""


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise `TooLong` in the block after so much processor time, where the system can ring."""
    if not hasattr(signal, "setitimer") or threading.current_thread() != threading.main_thread():
        yield
        return

    def ring(*_: Any) -> None:
        raise TooLong

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def _nobody_else_suffers(
    course: Course, student: str, name: str, finish: Callable[[Outcome], None]
) -> Iterator[None]:
    """If a submission makes the grader fail, report that, and go on with the others.

    Its outcome then has no digest, so it is tried again the next time.
    """
    try:
        yield
    except Unsafe:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
        note = f"Grading it stopped with {why}."
        most = course._max_score(name)
        finish(course._record(Outcome(student, name, "crashed", None, most, notes=(note,))))


class Course:
    """A course folder: what was released, what was handed in, and the gradebook."""

    def __init__(self, folder: Path, feedback: bool = True, hidden: bool = False) -> None:
        self.folder = folder
        self.feedback = feedback
        self.hidden = hidden
        self.sets = sets_of(folder)
        self._seen_twice: dict[str, dict[str, Any]] = {}
        self._tests: dict[tuple[str, str], dict[str, tuple[str, list[str]]]] = {}
        self._named: dict[str, list[str]] = {}
        self._locked: dict[str, tuple[float, dict[str, str]]] = {}
        self.api = application(folder)
        if hidden:
            self.api.config.HideTests.show = True
        self.url = self.api.coursedir.db_url

    def gradebook(self) -> Gradebook:
        """The gradebook, to be used in a `with`."""
        return Gradebook(self.url, self.api.coursedir.course_id)

    def released(self) -> list[str]:
        """The sets that students have.

        Raises:
            ValueError: if there is none.
        """
        found = [name for name in self.sets if self._release(name).exists()]
        if not found:
            raise ValueError(
                f"{self.folder} has no released problem set: run make assignments first."
            )
        return found

    def students(self) -> list[str]:
        """Everyone in the gradebook, and everyone who handed something in."""
        there = set(collecting.students(self.folder))
        with self.gradebook() as book:
            there |= {student.id for student in book.students}
        return sorted(there)

    def _release(self, name: str) -> Path:
        return self.folder / "release" / name / f"{name}.ipynb"

    def _place(self, step: str, student: str, name: str) -> Path:
        return self.folder / step / student / name

    # --- before it runs ---------------------------------------------------------------------------

    def prepare(
        self, student: str, name: str, limits: Limits, force: bool
    ) -> Outcome | tuple[Any, list[str], str]:
        """The restored notebook, what had been tampered with, its digest; or an outcome already."""
        most = self._max_score(name)
        path, notes = collecting.find(self.folder, student, name)
        before = self._before(student, name)
        if path is None:
            if before and before.score is not None:  # graded once, and moved since
                return self._refreshed(before, (GONE, *notes))
            return self._record(Outcome(student, name, "missing", None, most, notes=tuple(notes)))
        full = self._own_sources(student, name)
        digest = hashlib.blake2b(digest_size=16)
        digest.update(path.read_bytes() if not collecting.refused(path) else b"refused")
        digest.update(json.dumps([full, asdict(limits)], sort_keys=True).encode())
        if before and before.digest == digest.hexdigest() and not force:
            return self._refreshed(before, notes)
        try:
            notebook = read_notebook(path)
        except Unreadable as error:
            outcome = Outcome(
                student,
                name,
                "crashed",
                None,
                most,
                notes=(*notes, str(error)),
                digest=digest.hexdigest(),
            )
            return self._record(outcome)
        copy = self.variants_of(student, name)
        handed_out = self._place(PERSONAL, copy, name) / f"{name}.ipynb" if copy else None
        released = nbformat.read(handed_out or self._release(name), 4)
        notebook, changed = restore(notebook, released, full)
        return guarded(notebook, released), [*notes, *changed], digest.hexdigest()

    def seen_twice(self, name: str, limits: Limits) -> dict[str, Any]:
        """By test, what the second look sees of the reference solution.

        What it cannot show there, no student has to show. Empty if there is no second look, or no
        source of the set.
        """
        if name not in self._seen_twice:
            source = self.folder / "source" / name / f"{name}.ipynb"
            released = nbformat.read(self._release(name), 4)
            solved = answered(released, answers_of(nbformat.read(source, 4), self.secret()))
            solved, _ = restore(solved, released, self._full_sources(name))
            others = self.others(name, "the reference")
            seen = run(guarded(solved, released), limits, others).again
            if seen is not None and not seen:  # else no answer would have to be right
                raise RuntimeError("the reference solution was not seen in the second look")
            self._seen_twice[name] = seen or {}
        return self._seen_twice[name]

    def others(self, name: str, whose: str, student: str = "") -> dict[str, list[str]]:
        """By test, the same test with other inputs than anyone has, a few times.

        `course.seed` has other results there: they depend on the secret and on the submission, so
        it is the same grade whenever it is graded. Empty where the source of a test is not that of
        the release, or has no `course.seed`. The variants are those of `student`, or the class's.
        """
        if (name, student) not in self._tests:
            path = self.folder / "source" / name / f"{name}.ipynb"
            full = self._full_sources(name)
            self._tests[name, student] = {
                _identity(cell): (
                    instantiate(cell.source, self.secret(), TEMPLATE, student),
                    SEED.findall(cell.source),
                )
                for cell in nbformat.read(path, 4).cells
                if is_test(cell) and SEED.search(cell.source)
                if instantiate(cell.source, self.secret()) == full.get(_identity(cell))
            }
        key = self.secret().encode()[:64]
        found: dict[str, list[str]] = {test: [] for test in self._tests[name, student]}
        for draw in range(DRAWS):
            drawn = hashlib.blake2b(f"{whose} {name} {draw}".encode(), key=key, digest_size=16)
            for test, (source, seeds) in self._tests[name, student].items():
                for each in seeds:
                    number = str(seed(each, drawn.hexdigest()))
                    source = source.replace(str(seed(each, TEMPLATE)), number)
                found[test].append(source)
        return found

    def secret(self) -> str:
        """What the sets were made from."""
        return read_secret(self.folder)

    def _max_score(self, name: str) -> float:
        return self._of_set(name)[0]

    def _full_sources(self, name: str) -> dict[str, str]:
        """Every locked cell by its id, hidden tests included."""
        return self._of_set(name)[1]

    def variants_of(self, student: str, name: str) -> str:
        """Whose variants a submission has: the student's, if a copy was made for them; or none."""
        copy = self._place(PERSONAL, student, name) / f"{name}.ipynb"
        return student if copy.exists() else ""

    def _own_sources(self, student: str, name: str) -> dict[str, str]:
        """The locked cells with the variants that the student was given, whatever they hand in."""
        full = self._full_sources(name)
        copy = self.variants_of(student, name)
        if not copy:
            return full
        own = {}
        for identity, source in with_variants(self.folder, name).items():
            if instantiate(source, self.secret()) != full.get(identity):
                raise ValueError(f"the source of {identity} is not that of the release.")
            own[identity] = instantiate(source, self.secret(), student=copy)
        return full | own

    def _of_set(self, name: str) -> tuple[float, dict[str, str]]:
        """The most points, and the locked cells: the same for the whole class, and read once."""
        if name not in self._locked:
            with self.gradebook() as book:
                locked = {
                    cell.name: cell.source
                    for cell in book.find_notebook(name, name).source_cells
                    if cell.locked
                }
                self._locked[name] = float(book.find_assignment(name).max_score), locked
        return self._locked[name]

    # --- after it ran -----------------------------------------------------------------------------

    def save(
        self,
        student: str,
        name: str,
        done: Run,
        tampered: list[str],
        digest: str,
        limits: Limits,
    ) -> Outcome:
        """Scores into the gradebook, the executed notebook and the feedback onto the disk."""
        most = self._max_score(name)
        kinds = {event["kind"] for event in done.events}
        notes = [*tampered, *(_told(event, done.notebook) for event in done.events)]
        if done.notebook is None:
            status = "timed out" if "timeout" in kinds else "crashed"
            return self._record(
                Outcome(student, name, status, None, most, notes=tuple(notes), digest=digest)
            )
        notebook = nbformat.from_dict(done.notebook)
        again = None if done.again is None else (done.again, self.seen_twice(name, limits))
        verdict = settle(notebook, again)
        notes += [*verdict.interfered, *verdict.not_repeated]
        place = self._place("autograded", student, name)
        place.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, place / f"{name}.ipynb")
        resources = self._submitted(student, name)
        SaveAutoGrades(parent=self.api).preprocess(notebook, resources)
        statuses = {
            "crashed": kinds & {"died", "memory"},
            "timed out": kinds & {"timeout", "not run"},
            "interfered": verdict.interfered,
            "cannot be repeated": verdict.not_repeated,
            "changed tests": [note for note in notes if "test cell" in note],
        }
        status = next((word for word, seen in statuses.items() if seen), "graded")
        isolated = done.again is not None
        _, seen = collecting.find(self.folder, student, name)
        told = tuple(notes)
        outcome = Outcome(
            student, name, status, None, most, 0.0, False, told, digest, isolated, tuple(seen)
        )
        return self._record(self._up_to_date(outcome))

    def _submitted(self, student: str, name: str) -> dict[str, Any]:
        """Let the gradebook have the submission and its time; what nbgrader's steps ask for."""
        when, _ = collecting.timestamp(self.folder, student, name)
        with self.gradebook() as book:
            book.update_or_create_student(student)
            book.update_or_create_submission(name, student, timestamp=when)
        ids = {"notebook": name, "assignment": name, "student": student, "db_url": self.url}
        return {"nbgrader": ids}

    def _refreshed(self, before: Outcome, notes: Sequence[str]) -> Outcome:
        """An earlier outcome, with everything that needs no run as it is now.

        That is how it was handed in, what a person has graded by hand, and the penalty, whatever
        has changed: a timestamp, the date when it is due, or the configuration.
        """
        ran = [note for note in before.notes if note not in before.seen]
        now = replace(before, notes=(*notes, *ran), seen=tuple(notes))
        if before.score is not None:
            now = self._up_to_date(now)
        return before if now == before else self._record(now)

    def _up_to_date(self, outcome: Outcome) -> Outcome:
        """With the penalty reckoned anew, points as the gradebook has them, and the page of it."""
        student, name = outcome.student, outcome.problem_set
        _, odd = collecting.timestamp(self.folder, student, name)
        stale = (collecting.NO_TIME, NO_PAGE)
        notes = tuple(note for note in outcome.notes if note not in stale)
        notes = (odd, *notes) if odd else notes
        ids = self._submitted(student, name)
        AssignLatePenalties(parent=self.api).preprocess(new_notebook(), ids)
        with self.gradebook() as book:
            found = book.find_submission(name, student)
            penalty = float(found.late_submission_penalty or 0.0)
            score, manual = float(found.score), bool(found.needs_manual_grade)
            (written,) = found.notebooks
            marks = sorted((grade.name, grade.score) for grade in written.grades)
            marks += sorted((c.name, c.comment or "") for c in written.comments)
        now = replace(outcome, score=score, penalty=penalty, manual=manual, notes=notes)
        if not self.feedback:
            return now
        brief = self.brief(now)
        shown = json.dumps([marks, penalty, brief, self.hidden, outcome.digest])
        page = hashlib.blake2b(shown.encode(), digest_size=8).hexdigest()
        place = self._place("feedback", student, name) / f"{name}.html"
        if (page == outcome.page and place.exists()) or self._write_page(student, name, brief):
            return replace(now, page=page)
        return replace(now, page="", notes=(*notes, NO_PAGE))

    def _write_page(self, student: str, name: str, notes: Sequence[str]) -> bool:
        """Write what the student gets back; whether nbgrader could."""
        path = self._place("autograded", student, name) / f"{name}.ipynb"
        notebook = nbformat.read(path, 4)
        notebook.metadata["noticed"] = list(notes)  # the page begins with it
        nbformat.write(notebook, path)
        with suppress(TooLong), _limited(PAGE):
            return bool(self.api.generate_feedback(name, student, force=True)["success"])
        return False

    def brief(self, outcome: Outcome) -> tuple[str, ...]:
        """What is told about a submission: one sentence for each problem, three at most."""
        return briefly(outcome.notes, self._cells(outcome.problem_set))

    def _cells(self, name: str) -> list[str]:
        """The names of a set's cells."""
        if name not in self._named:
            path = self._release(name)
            cells = nbformat.read(path, 4).cells if path.exists() else []
            self._named[name] = [identity for cell in cells if (identity := _identity(cell))]
        return self._named[name]

    def _before(self, student: str, name: str) -> Outcome | None:
        path = self._place("autograded", student, name) / OUTCOME
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            lists = {key: tuple(found[key]) for key in ("notes", "seen")}
            return Outcome(**{**found, **lists})
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def _record(self, outcome: Outcome) -> Outcome:
        place = self._place("autograded", outcome.student, outcome.problem_set)
        place.mkdir(parents=True, exist_ok=True)
        write_json(place / OUTCOME, asdict(outcome), indent=1)
        return outcome

    # --- what the teacher reads -------------------------------------------------------------------

    def outcomes(self) -> list[Outcome]:
        """Everything that was ever graded here, sorted."""
        found = [
            outcome
            for name in self.sets
            for student in self.students()
            if (outcome := self._before(student, name))
        ]
        return sorted(found, key=lambda outcome: (outcome.problem_set, outcome.student))

    def report(self) -> None:
        """Write `grades.csv`, `lms.csv` and `report.html` anew, from all that was ever graded."""
        outcomes = self.outcomes()
        _write_table(
            self.folder / "grades.csv",
            ["student", "set", "status", "score", "max_score", "penalty", "total", "notes"],
            [
                [
                    outcome.student,
                    outcome.problem_set,
                    outcome.status,
                    _points(outcome.score),
                    _points(outcome.max_score),
                    _points(outcome.penalty),
                    _points(total(outcome)),
                    " ".join(self.brief(outcome)),
                ]
                for outcome in outcomes
            ],
        )
        names = sorted({outcome.problem_set for outcome in outcomes})
        totals = {(o.student, o.problem_set): _points(total(o)) for o in outcomes}
        _write_table(
            self.folder / "lms.csv",
            ["student", *names],
            [
                [student, *(totals.get((student, name), "") for name in names)]
                for student in sorted({outcome.student for outcome in outcomes})
            ],
        )
        told = [(outcome, self.brief(outcome)) for outcome in outcomes]
        _write(self.folder / "report.html", _report_page(told, self.strays()))

    def strays(self) -> list[str]:
        """A sentence for everything that was handed in and belongs to no student or no set."""
        return collecting.strays(self.folder, self.sets)


def without_isolation(outcomes: Iterable[Outcome]) -> str:
    """In one sentence, how many ran beside everything else; empty if none."""
    count = sum(not outcome.isolated for outcome in outcomes)
    what = "submission ran" if count == 1 else "submissions ran"
    if not count:
        return ""
    return (
        f"{count} {what} without isolation, which this system does not offer: students' code could "
        "read and change what you can, and each answer was looked at only beside its test."
    )


def total(outcome: Outcome) -> float | None:
    """What counts: the score without the penalty; `None` where a person has to look first."""
    return None if outcome.score is None else outcome.score - outcome.penalty


def read_notebook(path: Path) -> Any:
    """A submitted notebook.

    Raises:
        Unreadable: in one sentence, if it is none.
    """
    if why := collecting.refused(path):
        raise Unreadable(why)
    data = path.read_bytes()
    if not data.strip():
        raise Unreadable("The file is empty.")
    try:
        text = data.decode("utf-8-sig")  # some editors mark it
    except UnicodeDecodeError:
        raise Unreadable("The file is not UTF-8, so it is no notebook.") from None
    try:
        found = json.loads(text)
        if (cells := len(found["cells"])) > MOST:
            raise Unreadable(f"It has {cells} cells; at most {MOST} are graded.")
        notebook = nbformat.from_dict(_emptied(found))
        notebook.nbformat, notebook.nbformat_minor = 4, 5
        for i, cell in enumerate(notebook.cells):
            cell.id = f"cell-{i}"
            cell.source = "".join(cell.source)
            cell.source.encode()  # JSON can write half a character
        nbformat.validate(notebook)
    except Unreadable:
        raise
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError, ValidationError):
        raise Unreadable("The file is no Jupyter notebook.") from None
    length = sum(len(cell.source) for cell in notebook.cells)
    if length > LONGEST:
        raise Unreadable(f"Its cells hold {length / 2**20:.0f} MB of text; at most 2 are graded.")
    return notebook


def _emptied(notebook: dict[str, Any]) -> dict[str, Any]:
    """Without outputs, which may be large and are made anew, and without cells' own ids."""
    for cell in notebook["cells"]:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
        if cell.get("cell_type") == "code":
            cell["outputs"], cell["execution_count"] = [], None
        cell.pop("attachments", None)
        # Only the name and points are read from a cell's own metadata: the rest is for the course
        # to decide, and nbclient would obey some of it.
        own = cell["metadata"].get("nbgrader")
        named = isinstance(own, dict) and isinstance(own.get("grade_id"), str)
        cell["metadata"] = {"nbgrader": own} if named else {}
    return notebook


def restore(notebook: Any, released: Any, full: dict[str, str]) -> tuple[Any, list[str]]:
    """The student's answers among the course's own cells, and what had been changed of these.

    Args:
        notebook: as handed in.
        released: as handed out.
        full: the sources of all locked cells by their id, hidden tests included.
    """
    notes = _recovered(notebook, released)
    theirs: dict[str, Any] = {}
    for cell in reversed(notebook.cells):  # of two with one id the last counts, as in nbgrader
        identity = _identity(cell)
        if identity in theirs:
            cell.metadata.pop("nbgrader")
            notes.append(f"The cell {identity} was there twice; the last one counts.")
        elif identity is not None:
            theirs[identity] = cell
    known = {_identity(cell): cell for cell in released.cells if _identity(cell)}
    for identity, cell in theirs.items():
        if identity not in known:
            cell.metadata.pop("nbgrader")
    before: Any = None
    for identity, ours in known.items():
        kind = "test cell" if is_grade(ours) and not is_solution(ours) else "cell"
        cell = theirs.get(identity)
        if cell is None and not is_locked(ours):
            notes.append(_lost(ours, notebook))
            continue
        if cell is None:
            cell = nbformat.from_dict(ours)
            at = 0 if before is None else _place_of(before, notebook.cells) + 1
            notebook.cells.insert(at, cell)
            notes.append(f"The {kind} {identity} had been deleted.")
        elif is_locked(ours) and not _says_the_same(cell, ours):
            notes.append(f"The {kind} {identity} had been edited.")
        elif cell.metadata.nbgrader.get("points") != ours.metadata.nbgrader.get("points"):
            notes.append(f"The points of the {kind} {identity} had been edited.")
        if cell.cell_type != ours.cell_type:
            replaced = nbformat.from_dict(ours)
            replaced.source = cell.source
            notebook.cells[_place_of(cell, notebook.cells)] = cell = replaced
        cell.metadata["nbgrader"] = nbformat.from_dict(ours.metadata.nbgrader)
        if is_locked(ours):
            cell.source = full[identity]
            cell.metadata.nbgrader["checksum"] = compute_checksum(cell)
        before = cell
    notebook.metadata = nbformat.from_dict(
        {"kernelspec": released.metadata.kernelspec, "language_info": {"name": "python"}}
    )
    return notebook, notes


def _recovered(notebook: Any, released: Any) -> list[str]:
    """Mark cells again that have lost nbgrader's mark, if it is clear which they are.

    Some programs drop what they do not know of a cell. A cell of the course is known by its text,
    an answer by what it defines, an essay by its place between two others.

    Returns:
        one sentence for each answer that was found.
    """
    notes = []
    marked = {_identity(cell) for cell in notebook.cells}
    free = [cell for cell in notebook.cells if _identity(cell) is None]
    lost = [c for c in released.cells if _identity(c) and _identity(c) not in marked]
    for ours in sorted(lost, key=lambda cell: not is_locked(cell)):  # they show an essay's place
        alike = [cell for cell in free if cell.cell_type == ours.cell_type]
        defined = set(_defined(ours.source)) if ours.cell_type == "code" else set()
        if is_locked(ours):
            alike = [cell for cell in alike if _says_the_same(cell, ours)]
        elif defined:
            alike = [cell for cell in alike if defined <= apart.defines(cell.source)]
        else:
            texts = {cell.source.strip() for cell in released.cells if cell is not ours}
            between = _between(ours, notebook, released)
            alike = [c for c in alike if c.source.strip() not in texts and between(c)]
            alike = alike if len(alike) == 1 else []
        if not alike:
            continue
        cell = alike[-1]  # of two definitions the last one counts, as in Python
        free.remove(cell)
        cell.metadata["nbgrader"] = nbformat.from_dict(ours.metadata.nbgrader)
        if not is_locked(ours):
            how = "what it defines" if defined else "its place"
            notes.append(
                f"The answer {_identity(ours)} had lost its mark; {how} says that it is it."
            )
    return notes


def _between(ours: Any, notebook: Any, released: Any) -> Callable[[Any], bool]:
    """Whether a cell stands where a released one stood: between the marked cells around it."""
    order = [_identity(cell) for cell in released.cells]
    at = order.index(_identity(ours))
    place = {_identity(cell): i for i, cell in enumerate(notebook.cells) if _identity(cell)}
    before = max((place[name] for name in order[:at] if name in place), default=-1)
    after = min((place[n] for n in order[at + 1 :] if n in place), default=len(notebook.cells))
    return lambda cell: before < _place_of(cell, notebook.cells) < after


def _lost(ours: Any, notebook: Any) -> str:
    """What has become of an answer whose cell is not there."""
    identity = _identity(ours)
    if ours.cell_type == "code":
        for cell in notebook.cells:
            names = _defined(ours.source)
            if cell.cell_type == "code" and names and {*names} <= apart.defines(cell.source):
                return f"The answer {identity} stands in another cell."
    return f"The answer {identity} is lost: no cell is marked as it."


def _says_the_same(cell: Any, ours: Any) -> bool:
    """Whether two cells differ at most in how they are written: blanks, comments, line breaks."""
    texts = [[line.rstrip() for line in c.source.strip().splitlines()] for c in (cell, ours)]
    if texts[0] == texts[1] or ours.cell_type != "code":
        return texts[0] == texts[1]
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.dump(ast.parse(cell.source)) == ast.dump(ast.parse(ours.source))
    return False


def _identity(cell: Any) -> str | None:
    data = cell.metadata.get("nbgrader")
    return data.get("grade_id") if isinstance(data, dict) else None


def _place_of(cell: Any, cells: Sequence[Any]) -> int:
    return next(i for i, other in enumerate(cells) if other is cell)


def guarded(notebook: Any, released: Any) -> Any:
    """The notebook with a cell before each test, by which it runs apart, see `apart`.

    Everything that grades is loaded anew there, and tried: so an answer that replaces a check, or
    `torch`, is reported. And every cell says what it is for, see `supervisor`.
    """
    known = {_identity(cell): cell for cell in released.cells if _identity(cell)}
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    setup = "\n".join(c.source for c in code if is_locked(c) and not is_grade(c))
    used = {name for c in code if not is_locked(c) for name in apart.uses(c.source)}
    used -= apart.defines(setup)
    names: list[str] = []
    cells = []
    for cell in notebook.cells:
        ours = known.get(_identity(cell))
        if ours is not None and cell.cell_type == "code":
            cell.metadata["for"] = _role(ours)
        if not is_test(cell):
            cells.append(cell)
            continue
        names = _answers_before(ours, released)
        cell.metadata["names"] = names
        lent = sorted(used & apart.defines(ours.source))
        cells += [_aside("guard", apart.guard(setup, names, cell.source)), cell]
        if lent:
            cells.append(_aside("lent", f"{LEND}({ours.source!r}, {lent!r})"))
    notebook.cells = cells
    return notebook


LEND = "__import__('transformer_book.course.apart', fromlist=['lend']).lend"
ASIDE = ("guard", "lent")  # what cells are for that are not the student's to see


def _aside(what: str, source: str) -> Any:
    cell = nbformat.v4.new_code_cell(source)
    cell.metadata["for"] = what
    return cell


def _answers_before(test: Any, released: Any) -> list[str]:
    """The functions and classes that the released answers before a test define."""
    before = released.cells[: _place_of(test, released.cells)]
    return [name for cell in before if _role(cell) == "answer" for name in _defined(cell.source)]


def _defined(source: str) -> list[str]:
    parts = ast.parse(source).body
    return [part.name for part in parts if isinstance(part, ast.FunctionDef | ast.ClassDef)]


def _role(ours: Any) -> str | None:
    if _identity(ours) is None or ours.cell_type != "code":
        return None
    if not is_locked(ours):
        return "answer"
    return "test" if is_test(ours) else "course"


class Verdict(NamedTuple):
    """What was found out about the tests of a submission, one sentence each."""

    interfered: list[str]
    not_repeated: list[str]


def settle(
    notebook: Any, again: tuple[Mapping[str, Any], Mapping[str, Any]] | None = None
) -> Verdict:
    """Take the guards out, and make nbgrader's rules fit; what was found out, for the teacher.

    A test cell has failed unless it ran to its end, its guard did, and the answer was right in the
    second look. nbgrader gives no points for anything on stderr, and any number for a last value: a
    warning of a library must not cost, nor an expression pay.

    Args:
        again: by test, what the second look has seen of the student's answers, and of those of the
            reference; `None` if there was none.
    """
    seen, needed = again or ({}, {})
    kept, guard, found = [], None, Verdict([], [])
    for cell in notebook.cells:
        finished = cell.metadata.pop("finished", False)
        cell.metadata.pop("execution", None)
        cell.metadata.pop("names", None)
        role = cell.metadata.pop("for", None)
        if role == "guard":
            guard = cell, finished
        if role in ASIDE:
            continue
        kept.append(cell)
        if not is_test(cell):
            continue
        cell.outputs = [
            out
            for out in cell.outputs
            if out.output_type != "execute_result" and out.get("name") != "stderr"
        ]
        identity = cell.metadata.nbgrader.grade_id
        if guard is not None and not guard[1]:
            _add_error(cell, "NotRun", "What grades did not work here.")
            found.interfered.append(_what_failed(guard[0], identity))
        elif not finished and not _failed(cell):
            _add_error(cell, "NotRun", "This test was not run to its end.")
        if not _failed(cell):
            mine, reference = (each.get(identity, {}) for each in (seen, needed))
            if not repeated(mine, reference):
                how = mine.get("how") or "it gave no answer"
                _add_error(cell, "NotRepeated", NOT_REPEATED)
                found.not_repeated.append(f"The answer to {identity} cannot be repeated: {how}.")
    notebook.cells = kept
    return found


NOT_REPEATED = (
    "Right here, but not when your function was called once more: in a fresh Python, after your "
    "cells and no test, on these inputs and on others like them. It must depend on nothing but its "
    "inputs and what your own cells define."
)


def _what_failed(guard: Any, identity: str) -> str:
    errors = [out for out in guard.outputs if out.output_type == "error"]
    why = errors[0].evalue if errors else "it was not run to its end"
    return f"Before {identity}, what grades had been replaced or did not work: {why}"


def repeated(seen: Mapping[str, Any], needed: Mapping[str, Any]) -> bool:
    """Whether an answer was right in the second look wherever the reference is.

    On other inputs it has to be so in one of the draws: a draw may hold an input for which two
    answers are right.
    """
    must = needed.get("same", [])

    def right(found: Sequence[bool]) -> bool:
        return all(yes or not any(must[i : i + 1]) for i, yes in enumerate(found))

    same, other = seen.get("same", []), [*map(right, seen.get("other", []))]
    asked = any(map(right, needed.get("other", [])))
    return len(same) >= len(must) and right(same) and (any(other) or not asked)


def _add_error(cell: Any, name: str, text: str) -> None:
    cell.outputs.append(nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[text]))


def _failed(cell: Any) -> bool:
    return any(out.output_type == "error" for out in cell.outputs)


def _told(event: dict[str, Any], notebook: dict[str, Any] | None) -> str:
    what = "too much memory or too many processes" if event["kind"] == "memory" else event["text"]
    if event["cell"] is None or notebook is None:
        return f"{what[:1].upper()}{what[1:]}."
    cells = notebook["cells"]
    metadata = cells[event["cell"]]["metadata"]
    own = sum(cell["metadata"].get("for") not in ASIDE for cell in cells[: event["cell"]]) + 1
    where = (metadata.get("nbgrader") or {}).get("grade_id") or f"number {own}"
    return f"In the cell {where}: {what}."


def _points(number: float | None) -> str:
    return "" if number is None else f"{number:g}"


def _write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    text = io.StringIO()
    safe = [[_as_text(each) for each in row] for row in rows]
    csv.writer(text, lineterminator="\n").writerows([header, *safe])
    _write(path, text.getvalue())


def _as_text(cell: str) -> str:
    """So that a spreadsheet takes no cell for a formula: an apostrophe in front of what begins one.

    https://owasp.org/www-community/attacks/CSV_Injection
    """
    return f"'{cell}" if re.match(r"\s*[=+\-@|%\t\r\n]", cell) else cell


def _write(path: Path, text: str) -> None:
    write_atomically(path, text.encode("utf-8"))


def _report_page(told: Sequence[tuple[Outcome, Sequence[str]]], strays: Sequence[str] = ()) -> str:
    """One page for the teacher: how many of each kind, and what to look at."""
    outcomes = [outcome for outcome, _ in told]
    page = files(__package__).joinpath("report.html.j2").read_text(encoding="utf-8")
    return (
        Environment(autoescape=True)
        .from_string(page)
        .render(
            statuses=[
                (status, sum(each.status == status for each in outcomes), meaning)
                for status, meaning in STATUSES.items()
            ],
            isolation=without_isolation(outcomes),
            strays=strays,
            outcomes=[
                (each, _points(total(each)), _points(each.max_score), notes) for each, notes in told
            ],
        )
    )
