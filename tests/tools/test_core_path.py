"""The core path: marked in every chapter, of a weekend's length, and able to stand on its own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from core_path import (
    FURTHER,
    HEART,
    chapters,
    core_of,
    headings,
    marked,
    minutes,
    most_words,
    needs,
    plain,
    with_times,
    words,
    words_of,
)
from link_terms import slug
from normalise_notebooks import tags, text_of
from questions import QUESTIONS

CHAPTERS = chapters()
EACH = pytest.mark.parametrize("name", [pytest.param(n, id=n[:-6]) for n in CHAPTERS])
HOURS, HOURS_TODAY = 8, 2.5  # for the cores of the heart, and of the chapters after it
AT_LEAST = 1200  # words
MOST_LINES = 20  # of a cell that the reader sees: it does one thing
FOLDED = {"hide-input", "hide-cell", "remove-cell", "exercise"}


@EACH
def test_the_core_is_long_enough_and_no_longer(name: str) -> None:
    assert AT_LEAST <= words_of(core_of(CHAPTERS[name])) <= most_words(name)


@EACH
def test_a_cell_of_the_core_does_one_thing(name: str) -> None:
    seen = (
        cell
        for cell in core_of(CHAPTERS[name])["cells"]
        if cell["cell_type"] == "code" and not FOLDED & set(tags(cell)) and cell["id"] != "imports"
    )
    lines = {cell["id"]: sum(map(bool, text_of(cell["source"]).split("\n"))) for cell in seen}
    assert {cell: n for cell, n in lines.items() if n > MOST_LINES} == {}


@EACH
def test_code_of_the_core_needs_no_branch(name: str) -> None:
    assert needs(CHAPTERS[name]) == []


@EACH
def test_a_chapter_says_how_long_core_and_whole_take(name: str) -> None:
    assert with_times(CHAPTERS[name]) == CHAPTERS[name], "run tools/core_path.py --times"


ASKED = re.compile(
    r"<details>\n<summary>(.+)</summary>\n\n(?:<!-- number: .+ -->\n\n)?((?:.+\n)+)\n</details>"
)


@EACH
@pytest.mark.parametrize(("heading", "least"), [(QUESTIONS[0], 5), (QUESTIONS[1], 2)])
def test_a_chapter_ends_with_questions_and_folded_answers(
    name: str, heading: str, least: int
) -> None:
    texts = [text_of(cell["source"]) for cell in CHAPTERS[name]["cells"]]
    (here,) = [n for n, text in enumerate(texts) if text.startswith(heading)]
    (turn, summary) = (
        next(n for n, text in enumerate(texts) if re.search(f"^## {title}$", text, re.MULTILINE))
        for title in ("Your turn", "Summary")
    )
    assert turn < here < summary
    asked = ASKED.findall(texts[here] + "\n")
    assert least <= len(asked) == texts[here].count("<details>")
    for question, answer in asked:
        bare = re.sub(r"<code>.+?</code>", "", question)  # front ends show a summary as HTML
        assert re.search(r"[?.]$", question) and not re.search(r"[$*`\[]", bare), question
        assert answer.strip()


@EACH
def test_the_core_has_its_steps(name: str) -> None:
    """A question, an exercise with its solution, a summary; and something that leads further."""
    core = core_of(CHAPTERS[name])
    found = [plain(title[2]) for cell in core["cells"] for title in titles(cell)]
    assert "Summary" in found and "Your turn" in found
    kinds = [cell["metadata"].get("tags", []) for cell in core["cells"]]
    assert 1 <= sum("exercise" in tags for tags in kinds) <= 3
    assert any(branch for _, _, branch in marked(CHAPTERS[name]))


def titles(cell: dict) -> list[re.Match]:
    return list(headings(text_of(cell["source"]))) if cell["cell_type"] == "markdown" else []


@pytest.mark.parametrize("today", [False, True])
def test_the_heart_of_the_book_is_read_in_a_weekend(today: bool) -> None:
    part = [each for name, each in CHAPTERS.items() if (int(name[:2]) > HEART) == today]
    hours = HOURS_TODAY if today else HOURS
    assert sum(minutes(words_of(core_of(each))) for each in part) <= 60 * hours


BRANCHES = {
    (name, slug(plain(title[2])))
    for name, notebook in CHAPTERS.items()
    for cell in notebook["cells"]
    for title in titles(cell)
    if title[2].startswith(FURTHER)
}


@EACH
def test_no_core_asks_for_a_branch(name: str) -> None:
    """Who reads only cores is sent to no branch, except where that is said."""
    asked = []
    for cell in core_of(CHAPTERS[name])["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        for paragraph in text_of(cell["source"]).split("\n\n"):
            for chapter, anchor in re.findall(r"\]\(([\w.]*)#([\w-]+)\)", paragraph):
                if (chapter or name, anchor) in BRANCHES and "further" not in paragraph.lower():
                    asked.append((cell["id"], chapter, anchor))
    assert asked == []


# --- the tool itself ------------------------------------------------------------------------------


def notebook(*cells: str | tuple[str, str]) -> dict:
    """Markdown cells as texts, code cells as (id, source)."""
    made = []
    for i, cell in enumerate(cells):
        kind = "markdown" if isinstance(cell, str) else "code"
        name, source = (f"text-{i}", cell) if isinstance(cell, str) else cell
        made.append({"cell_type": kind, "id": name, "metadata": {}, "source": [source]})
        if kind == "code":
            made[-1] |= {"outputs": [], "execution_count": None}
    return {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


SMALL = notebook(
    "# 1. A\n\nWords.",
    ("give", "x = 1"),
    "## Further: B\n\nMore.\n\n```\n## no heading\n```",
    ("side", "y = x + 1"),
    "### B, too",
    "End of it.\n\n## C\n\nBack.\n\n### Further: D\n\nAside.",
    ("aside", "z = 3"),
    "### E\n\nLast.",
    ("ask", "print(x)"),
)


def test_a_branch_ends_at_a_heading_of_its_level() -> None:
    kept = [cell["id"] for cell in core_of(SMALL)["cells"]]
    assert kept == ["text-0", "give", "text-5", "text-7", "ask"]
    assert core_of(SMALL)["cells"][2]["source"] == "## C\n\nBack.\n\n"


@pytest.mark.parametrize(
    ("code", "missing"),
    [
        ("print(y)", ["y"]),
        ("def f(a):\n    return a + y", ["y"]),
        ("def f(y):\n    return y", []),
        ("rows = [y for y in range(3)]", []),
        ("y = 2\nprint(y)", []),
        ("y += 2", ["y"]),
        ("for y in range(2):\n    print(y)", []),
        ("f = lambda a: a + y", ["y"]),
        ("f = lambda y: y", []),
        ("class A:\n    def f(self):\n        return y", ["y"]),
        ("with open(0) as y:\n    print(y)", []),
        ("import y\nprint(y.z)", []),
        ("print(f'{y}')", ["y"]),
        ("def f():\n    y = 1\n    return y", []),
    ],
)
def test_a_name_that_only_a_branch_gives_is_missed(code: str, missing: list[str]) -> None:
    found = needs(notebook("## Further: B", ("side", "y = 1"), "## C", ("ask", code)))
    assert found == [f"ask: {name} (given in side)" for name in missing]


def test_words_are_what_one_reads() -> None:
    assert words("> A [word](../book/glossary.md#a-b c) <b>or</b>\n>\n> two: $x^2$.") == 5
    assert [minutes(n) for n in (1, 500, 501, 2000)] == [5, 5, 10, 20]


def test_the_time_to_run_stays() -> None:
    for old in (
        "**Time:** about 50 minutes to read, under a minute to run.",
        "**Time:** 5 minutes for the core, 90 for all of it; under a minute to run.",
    ):
        first = with_times(notebook(f"# A\n\n{old}"))["cells"][0]["source"]
        said = "**Time:** 5 minutes for the core, 5 for all of it; under a minute to run."
        assert first == ["# A\n", "\n", said]


def test_a_core_that_does_not_run_is_named(tmp_path: Path, capfd) -> None:
    from core_path import run

    assert run({"01_a.ipynb": notebook("# 1. A", ("fine", "print(1)"))})
    assert not run({"02_b.ipynb": notebook("# 2. B", ("bad", "print(nowhere)"))})
    said = capfd.readouterr()
    assert "02_b" in said.out + said.err and "nowhere" in said.out + said.err
