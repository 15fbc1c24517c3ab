"""`class-report`: which questions fail in a class, from the files that its readers saved."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from transformer_book.cli.messages import columns, counted
from transformer_book.cli.options import AsJson
from transformer_book.support.progress import RIGHT, Answers, answers_in


def summary(readers: Iterable[Answers]) -> dict[str, dict[str, Any]]:
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
    """Say which questions and checks a class fails, from the files that its readers saved.

    Readers save theirs on the page Your progress, or let transformer-book progress keep one. The
    report counts, and names no student. A question's name is its chapter, its place there, and its
    number; a check's place begins with check.

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
