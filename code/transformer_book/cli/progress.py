"""`progress`: what the checks keep of a learner, where, and how to begin and to end it."""

from __future__ import annotations

from collections import defaultdict
from typing import Annotated

import typer

from transformer_book.cli.messages import columns
from transformer_book.support import progress as kept


def by_page(answers: kept.Answers) -> dict[str, tuple[list[str], list[str]]]:
    """Of each page, the checks that were passed at last, and those that were not."""
    found: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for name, log in answers.items():
        if told := kept.CHECK.fullmatch(name):
            found[told["page"]][log[-1][1] != kept.RIGHT].append(told["name"])
    return dict(sorted(found.items()))


def progress(
    keep: Annotated[
        bool, typer.Option("--keep", help="From now on, keep which checks you pass.")
    ] = False,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete the file; nothing is kept any more.")
    ] = False,
) -> None:
    """Show which checks you have passed, if you have asked for them to be kept.

    They are kept in one file of yours, and only after --keep (in a notebook:
    checks.keep_progress()): of each function or class called my_..., when its check was passed or
    not. Nothing is sent anywhere. The page Your progress adds the file to what it shows.

    \b
    Examples:
      transformer-book progress --keep
      transformer-book progress
      transformer-book progress --delete
    """
    if keep and delete:
        raise typer.BadParameter("--keep and --delete exclude each other")
    path = kept.own_file()
    if delete:
        print(f"{path} is deleted." if kept.delete() else "There is nothing to delete.")
    elif keep:
        print(f"Which checks you pass is kept in {kept.keep()}.")
    elif not path.exists():
        print("Nothing is kept. To begin: transformer-book progress --keep.")
    else:
        found = by_page(kept.answers_in(path))
        print(f"Kept in {path}, which the page Your progress can add:")
        rows = []
        for page, (passed, missing) in found.items():
            text = ", ".join(passed) + ("; " if passed and missing else "")
            rows.append((page, text + (f"not yet: {', '.join(missing)}" if missing else "")))
        print(columns(rows) if rows else "no check yet.")
