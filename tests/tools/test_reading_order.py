"""Each chapter says how long it takes, and ends with the question that the next one answers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from common import CHAPTERS, notebooks
from normalise_notebooks import text_of
from notebook_runner import COSTS

PATHS = [path for path in notebooks() if path.parent == CHAPTERS]
EACH = pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in PATHS])
LAST = 29  # the number of the book's last chapter, written or not
TIME = re.compile(
    rf"^\*\*Time:\*\* \d+ minutes for the core, \d+ for all of it; "
    rf"(?:{'|'.join(COSTS)})(?: a)?(?: minutes?)? to run\.$",
    re.MULTILINE,
)


def markdown(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [text_of(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]


def number_of(path: Path) -> int:
    return int(path.name[:2])


def wrong_with_the_end(text: str, number: int, following: str | None) -> str | None:
    """What is wrong with the last cell of a chapter, given the file of the next, if it exists."""
    *_, last = text.rstrip().split("\n\n")
    beginning = "**The next question** is yours. " if number == LAST else "**The next question.** "
    if not last.startswith(beginning):
        return "does not end with the next question"
    if following and f"]({following})" not in last:
        return f"asks a question and does not lead to {following}"
    if not following and number < LAST and f"chapter {number + 1}" not in last:
        return f"does not say that chapter {number + 1} will answer"
    return None


@EACH
def test_a_chapter_ends_with_the_question_of_the_next(path: Path) -> None:
    files = {number_of(each): each.name for each in PATHS}
    number = number_of(path)
    assert wrong_with_the_end(markdown(path)[-1], number, files.get(number + 1)) is None


@pytest.mark.parametrize(
    ("text", "following", "wrong"),
    [
        ("**The next question.** Why? See [it](08_b.ipynb).", "08_b.ipynb", None),
        ("**The next question.** Why? See [it](09_c.ipynb).", "08_b.ipynb", "lead to 08_b.ipynb"),
        ("**The next question.** Why? In chapter 8.", None, None),
        ("**The next question.** Why? Later.", None, "chapter 8 will answer"),
        ("**Further reading.** Why? See [it](08_b.ipynb).", "08_b.ipynb", "does not end"),
        ("**The next question.** [Why?](08_b.ipynb)\n\nAnd more.", "08_b.ipynb", "does not end"),
    ],
)
def test_what_is_wrong_with_an_end(text: str, following: str | None, wrong: str | None) -> None:
    found = wrong_with_the_end(text, 7, following)
    assert found is None if wrong is None else wrong in found


@EACH
def test_a_chapter_says_how_long_it_takes(path: Path) -> None:
    found = TIME.findall(markdown(path)[0])
    assert len(found) == 1, "run tools/core_path.py --times"


def test_the_last_chapter_hands_the_question_over() -> None:
    assert wrong_with_the_end("**The next question** is yours. What now?", LAST, None) is None
    assert wrong_with_the_end("**The next question.** In chapter 24.", LAST, None) is not None
    assert wrong_with_the_end("**The next question** is yours. What now?", 7, None) is not None
