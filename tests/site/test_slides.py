"""Decks for teachers: made from each chapter's core, one screen per slide, using no other host."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from core_path import chapters
from slides import deck, question, sections, sentences, write

WIDTH, HEIGHT = 1100, 700
TOO_LARGE = f"""() => Reveal.getSlides().map(slide => {{
    const place = Reveal.getIndices(slide);
    Reveal.slide(place.h, place.v);
    return [slide.scrollWidth, slide.scrollHeight, slide.innerText.slice(0, 60)];
}}).filter(([width, height]) => width > {WIDTH} || height > {HEIGHT})"""


@pytest.fixture(scope="module")
def decks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("slides")
    write(folder)
    return folder


def test_every_deck_fits_its_slides_and_asks_nobody(decks: Path, visit) -> None:
    names = [f"{name[:-6]}.html" for name in chapters()]
    listed = re.findall(r'href="(\d\d_\w+\.html)"', (decks / "index.html").read_text("utf-8"))
    assert listed == names
    seen = visit((decks / "index.html").as_uri())
    for name in names:
        seen.page.goto((decks / name).as_uri())
        seen.page.wait_for_function("window.Reveal?.isReady()")
        seen.settle()
        assert seen.page.evaluate("Reveal.getTotalSlides()") >= 8, name
        assert seen.page.evaluate(TOO_LARGE) == [], name
        assert seen.page.locator("section:not(.notes)", has_text="$").count() == 0, name
    assert seen.problems == []


def test_what_the_answers_say_is_in_the_notes(decks: Path, visit) -> None:
    page = visit((decks / "09_multi_head_attention.html").as_uri()).page
    notes = page.locator("aside.notes").first
    assert notes.count() == 1 and not notes.is_visible()
    assert "Predict first" in page.locator("section", has=notes).last.text_content()


def test_drawings_say_what_to_see(decks: Path) -> None:
    for path in decks.glob("[0-9]*.html"):
        text = path.read_text(encoding="utf-8")
        drawings = re.findall(r'<div role="img" aria-label="([^"]*)"', text)
        assert all(drawings), path.name
        assert len(re.findall(r"<svg", text)) >= len(drawings)


def cell(source: str) -> dict:
    return {"cell_type": "markdown", "id": "a", "metadata": {}, "source": source}


def test_a_deck_has_the_core_only() -> None:
    text = "# 1. A\n\nWhy?\n\n## B\n\nIt is. So.\n\n## Further: C\n\nMore.\n\n## Your turn\n\nDo."
    notebook = {"cells": [cell(text)]}
    assert [section.title for section in sections(notebook)] == ["1. A", "B", "Your turn"]
    texts = [each.source for each in deck("01_a.ipynb", notebook).cells]
    assert texts == ["# 1. A\n\nWhy?", "## B\n\nIt is. So."]


def test_a_question_keeps_its_answers_for_the_teacher() -> None:
    text = (
        "Before.\n\n> **Predict first.** What?\n>\n> <details><summary>This</summary>\n>\n"
        "> Not [so](x.md).\n>\n> </details>\n\nAfter."
    )
    asked, notes = question(text)
    assert asked == "> **Predict first.** What?\n\n* This"
    assert notes == "**This** Not so."
    assert question("No question.") is None


def test_first_sentences() -> None:
    assert sentences("| a |\n\nOne. Two? Three.", 2) == "One. Two?"
    assert sentences("$$x$$", 2) == ""
