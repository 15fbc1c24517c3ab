"""What a reader has answered, in a file: read from anyone, kept by the checks if one asks for it.

The file is the one that the page *Your progress* saves and adds (book/assets/js/memory.js): under
the id of each question, `[when in ms, grade, what was chosen or typed]`, oldest first. A check has
the id `09/check-split_heads/1`. Imports nothing heavy.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from filelock import FileLock
from platformdirs import user_data_path

from transformer_book.support.atomic_files import read_json, write_json

VARIABLE = "TRANSFORMER_BOOK_PROGRESS"
VERSION = 1
WRONG, RIGHT = 1, 3  # the grades: 1 wrong or not known, 2 partly, 3 right or known
ID = re.compile(r"[\w-]+/[\w-]+/\d+", re.ASCII)
CHECK = re.compile(r"(?P<page>[\w-]+)/check-(?P<name>\w+)/1", re.ASCII)
EXERCISES = Path(__file__).parents[1] / "exercises.json"  # written by tools/questions.py
WAIT = 10.0  # seconds, for another kernel that writes

Answers = dict[str, list[list[Any]]]


# --- the file -------------------------------------------------------------------------------------


def is_answer(entry: Any) -> bool:
    """Whether this is an answer as the page saves it: when, the grade, what was chosen or typed."""
    if not isinstance(entry, list) or len(entry) != 3:
        return False
    at, grade, chosen = entry
    if type(at) not in (int, float) or type(grade) is not int or not WRONG <= grade <= RIGHT:
        return False
    option = type(chosen) is int and 0 <= chosen < 26
    return chosen is None or option or (isinstance(chosen, str) and len(chosen) <= 40)


def state_in(path: Path) -> dict[str, Any]:
    """What a file of a reader's progress holds.

    Raises:
        ValueError: it is no such file, or it is damaged.
        OSError: it cannot be read.
    """
    data = read_json(path)
    if not isinstance(data, dict) or not isinstance(data.get("answers"), dict):
        raise ValueError(f"{path} is no file of a reader's progress.")
    if data.get("version") != VERSION:
        found = data.get("version")
        raise ValueError(f"{path} has the version {found!r}, and this program reads {VERSION}.")
    for name, log in data["answers"].items():
        if not ID.fullmatch(name) or not isinstance(log, list) or not all(map(is_answer, log)):
            raise ValueError(f"{path} is damaged at the answers to {name!r}.")
    return data


def answers_in(path: Path) -> Answers:
    """The answers to each question in a file of a reader's progress, oldest first.

    Raises:
        ValueError: it is no such file, or it is damaged.
        OSError: it cannot be read.
    """
    return {name: log for name, log in state_in(path)["answers"].items() if log}


# --- one's own ------------------------------------------------------------------------------------


def own_file() -> Path:
    """`TRANSFORMER_BOOK_PROGRESS`, if it is set, or a file among the user's data."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen).absolute()
    return user_data_path("transformer-book", appauthor=False) / "progress.json"


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Inside, no other process changes the file."""
    try:
        with FileLock(f"{path}.lock", timeout=WAIT):
            yield
    except TimeoutError:
        raise TimeoutError(f"{path} is held by another program; nothing was written.") from None


def keep() -> Path:
    """From now on, keep in one file which checks you pass; returns the file, which may be there.

    Raises:
        OSError: it cannot be written.
        ValueError: there is a file, and it is damaged.
    """
    path = own_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone(path):
        if path.exists():
            state_in(path)
        else:
            state = {"version": VERSION, "answers": {}, "read": {}, "last": None}
            write_json(path, state, indent=1)
    return path


def delete() -> bool:
    """Delete the file, so that nothing is kept any more; returns whether there was one.

    Raises:
        OSError: it cannot be deleted.
    """
    path = own_file()
    if not path.exists():
        return False
    with alone(path):
        path.unlink(missing_ok=True)
    Path(f"{path}.lock").unlink(missing_ok=True)
    return True


def add(name: str, right: bool) -> None:
    """Write down how a check ended, if a file was asked for and the last end was another one.

    Raises:
        OSError: the file cannot be read or written.
        ValueError: it is damaged, and stays as it is.
    """
    path = own_file()
    if not path.exists():
        return
    grade = RIGHT if right else WRONG
    with alone(path):
        if not path.exists():
            return  # deleted in this moment
        state = state_in(path)
        log = state["answers"].setdefault(name, [])
        if log and log[-1][1] == grade:
            return
        log.append([time.time_ns() // 1_000_000, grade, None])
        write_json(path, state, indent=1)


@cache
def say(sentence: str) -> None:
    """Say a sentence, once in a process."""
    print(sentence)


def note(function: Callable[..., Any], page: str | None, name: str, right: bool) -> None:
    """Keep how the check of a learner's function ended, if the learner has asked for it.

    Only what is called `my_...` counts: the book's solutions are nobody's progress. What does not
    work is said in a sentence, and the check goes on.
    """
    function = getattr(function, "func", function)  # what a functools.partial completes
    if page is None or not getattr(function, "__name__", "").lower().startswith("my"):
        return
    try:
        add(f"{page}/check-{name}/1", right)
    except (OSError, ValueError, NotImplementedError) as error:
        say(f"Your progress is not kept: {str(error).rstrip('.')}. See transformer-book progress.")


# --- exercises ------------------------------------------------------------------------------------


@cache
def exercises() -> dict[str, str]:
    """The page of each exercise of the chapters, by its function: `split(x, n_heads)`."""
    found = json.loads(EXERCISES.read_text(encoding="utf-8"))
    return {form: page for page, forms in found.items() for form in forms}


def page_of(function: Callable[..., Any]) -> str | None:
    """The page that asks for this function in an exercise, by its name and parameters."""
    name = getattr(function, "__name__", "")
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None
    return exercises().get(f"{name.removeprefix('my_')}({', '.join(names)})")
