"""`class-report`: which questions fail in a class, from the files that its readers saved."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from transformer_book.atomic_files import read_json
from transformer_book.cli.messages import columns, counted
from transformer_book.cli.options import AsJson

VERSION = 1  # of what book/assets/js/memory.js saves
ID = re.compile(r"[\w-]+/[\w-]+/\d+", re.ASCII)
RIGHT = 3  # the grades: 1 wrong or not known, 2 partly, 3 right or known


def is_answer(entry: Any) -> bool:
    """Whether this is an answer as the page saves it: when, the grade, what was chosen or typed."""
    if not isinstance(entry, list) or len(entry) != 3:
        return False
    at, grade, chosen = entry
    if type(at) not in (int, float) or type(grade) is not int or not 1 <= grade <= RIGHT:
        return False
    option = type(chosen) is int and 0 <= chosen < 26
    return chosen is None or option or (isinstance(chosen, str) and len(chosen) <= 40)


def answers_in(path: Path) -> dict[str, list[list[Any]]]:
    """The answers to each question in a file of the page *Your progress*, oldest first.

    Raises:
        ValueError: it is no such file, or it is damaged.
        OSError: it cannot be read.
    """
    data = read_json(path)
    again = "save it again with Save as a file on the page Your progress."
    if not isinstance(data, dict) or not isinstance(data.get("answers"), dict):
        raise ValueError(f"{path} is no file of a reader's progress; {again}")
    if data.get("version") != VERSION:
        found = data.get("version")
        raise ValueError(f"{path} has the version {found!r}, and this command reads {VERSION}.")
    for name, log in data["answers"].items():
        if not ID.fullmatch(name) or not isinstance(log, list) or not all(map(is_answer, log)):
            raise ValueError(f"{path} is damaged at the answers to {name!r}; {again}")
    return {name: log for name, log in data["answers"].items() if log}


def summary(readers: Iterable[dict[str, list[list[Any]]]]) -> dict[str, dict[str, Any]]:
    """Of each question, how a class answered it; what failed most often at first comes first."""
    logs = defaultdict(list)
    for answers in readers:
        for name, log in answers.items():
            logs[name].append(log)
    found: dict[str, dict[str, Any]] = {}
    for name, told in logs.items():
        wrong = Counter(log[0][2] for log in told if log[0][1] != RIGHT and log[0][2] is not None)
        found[name] = {
            "answered": len(told),
            "right at first": sum(log[0][1] == RIGHT for log in told),
            "right at last": sum(log[-1][1] == RIGHT for log in told),
            "wrong at first": dict(wrong.most_common()),
        }
    share = {name: each["right at first"] / each["answered"] for name, each in found.items()}
    return {name: found[name] for name in sorted(found, key=lambda name: (share[name], name))}


def in_words(question: dict[str, Any]) -> str:
    """How a class answered a question, in a line; options have letters, from A."""
    n = question["answered"]
    text = (
        f"{question['right at first']} of {n} right at first, {question['right at last']} at last"
    )
    if wrong := question["wrong at first"]:
        most, times = next(iter(wrong.items()))
        said = f"option {chr(ord('A') + most)}" if isinstance(most, int) else repr(most)
        text += f"; frequent mistake: {said} ({times})"
    return text


def class_report(
    files: Annotated[list[Path], typer.Argument(metavar="FILES...", help="What readers saved.")],
    as_json: AsJson = False,
) -> None:
    """Say which questions a class fails, from the files that its readers saved.

    Readers save theirs on the page Your progress. The report counts, and names no student. A
    question's name is its chapter, its place there, and its number.

    \b
    Example:
      transformer-book class-report progress/*.json
    """
    found = summary([answers_in(path) for path in files])
    if as_json:
        print(json.dumps(found, indent=1, ensure_ascii=False))
        return
    print(f"{counted(len(files), 'reader')}, {counted(len(found), 'question')} answered.")
    if found:
        print(columns((name, in_words(question)) for name, question in found.items()))
