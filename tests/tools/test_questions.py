"""The question bank: every question of the notebooks can be asked, and ids stay."""

from __future__ import annotations

import json
import re
from pathlib import Path

from common import CHAPTERS, ROOT, notebooks
from questions import Option, Question, as_html, bank, questions_of

BANK = bank()


def test_every_question_has_the_form() -> None:
    assert [f"{each.id}: {fault}" for each in BANK for fault in each.faults()] == []


def test_every_question_of_the_notebooks_is_in_the_bank() -> None:
    texts = [path.read_text(encoding="utf-8") for path in notebooks()]
    n_boxes = sum(text.count("> **Predict first.**") for text in texts)
    assert sum(each.kind == "choice" for each in BANK) == n_boxes
    assert sum(each.kind == "number" for each in BANK) == sum(
        text.count("<!-- number:") for text in texts
    )
    chapters = {each.page for each in BANK if each.kind != "choice"}
    assert chapters == {f"chapters/{path.stem}" for path in CHAPTERS.glob("[0-9][0-9]_*.ipynb")}


def test_ids_are_different_and_name_chapter_cell_and_number() -> None:
    assert len({each.id for each in BANK}) == len(BANK)
    entropy = next(each for each in BANK if "entropy in bits" in each.text)
    assert entropy.id == "21/ask-yourself/2"
    assert (entropy.kind, entropy.number, entropy.within) == ("number", 1.75, 0)
    assert "<!--" not in entropy.answer


def test_a_typed_number_is_one_that_the_answer_names() -> None:
    for each in BANK:
        if each.number is not None:
            plain = each.answer.replace("{,}", "").replace("\\", "")
            words = {0.25: "quarter", 7: "seven"}
            named = f"{each.number:g}" in plain or words.get(each.number, "?") in plain.lower()
            assert named, f"{each.id}: {each.number:g} is not in {each.answer!r}"


# What stands on the page of a question, and not beside it in another system.
REFERS = re.compile(
    r"\b(figure|picture|drawing|plot|map|rectangle|table|cell|listing|example)s?\W+(\w+\W+){0,2}"
    r"(above|below)\b|\bin the (figure|picture|drawing|plot|map)\b|\bthe cell (prints|shows)\b"
    r"|\b(next|last|previous) (section|cell|figure)\b|\b(printed|shown|drawn) (above|below)\b",
    re.IGNORECASE,
)


def parts_of(question: Question) -> list[str]:
    options = (part for each in question.options for part in (each.text, each.why))
    return [question.text, question.note, question.answer, *options]


def test_a_question_refers_to_nothing_that_is_not_there() -> None:
    """The one that does has what it needs in front of it (`<!-- alone: ... -->`)."""
    for text in (
        "In the rectangle above, a column is cut off.",
        "in the figure below they do",
        "the second line that the cell prints",
        "The next section shows what it writes.",
        "the weights in the table of weights above",
    ):
        assert REFERS.search(text), text
    found = [each.id for each in BANK if any(map(REFERS.search, parts_of(each)))]
    assert found == ["03/shift/1"]
    (rectangle,) = (each for each in BANK if each.id == "03/shift/1")
    assert rectangle.text.startswith("Three sentences of different lengths stand in a rectangle")


def test_what_stands_around_a_question_comes_first_where_it_stands_alone() -> None:
    texts = [path.read_text(encoding="utf-8") for path in notebooks()]
    arrows = next(each for each in BANK if each.id == "06/arrows/1")
    assert arrows.text.startswith("One query and three keys are given: $q = (1, 1)$")
    assert sum(text.count("<!-- alone: ") for text in texts) >= 30
    assert not any("alone:" in part for each in BANK for part in parts_of(each))


def test_faults_are_found() -> None:
    right, wrong = Option("a", True, "Yes."), Option("b", False, "No.")
    asked = {"id": "1/a/1", "page": "chapters/01_a", "title": "", "text": "What?"}
    assert Question(**asked, options=(right, wrong)).faults() == []
    assert Question(**asked, options=(wrong, Option("c", False, "No."))).faults() == [
        "0 of its options are right, not one"
    ]
    assert Question(**asked, options=(right, Option("b", False, ""))).faults() == [
        "'b' is not explained"
    ]
    assert Question(**asked, options=(right,)).faults() == ["it has one option only"]
    assert Question(**asked).faults() == ["it has no answer"]


def test_questions_are_read_from_a_notebook(tmp_path: Path) -> None:
    box = (
        "Before.\n\n> **Predict first.** What is $x$?\n>\n> <details><summary>One</summary>\n"
        ">\n> Yes.\n>\n> </details>\n> <details>\n> <summary>Two</summary>\n>\n> It is half of it."
        "\n>\n> </details>\n>\n> *Note.*\n\nAfter."
    )
    end = (
        "## Ask yourself\n\n<details>\n<summary>How many?</summary>\n\n"
        "<!-- number: 3, within 0.5 -->\n\nThree.\n\n</details>"
    )
    cells = [
        {"cell_type": "markdown", "id": name, "source": text}
        for name, text in (("top", "# 7. A page"), ("box", box), ("end", end))
    ]
    path = tmp_path / "chapters" / "07_page.ipynb"
    path.parent.mkdir()
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    choice, number = questions_of(path, tmp_path)
    assert choice == Question(
        "07/box/1",
        "chapters/07_page",
        "A page",
        "What is $x$?",
        (Option("One", True, "Yes."), Option("Two", False, "It is half of it.")),
        "*Note.*",
    )
    assert number == Question(
        "07/end/1",
        "chapters/07_page",
        "A page",
        "How many?",
        answer="Three.",
        number=3,
        within=0.5,
    )
    assert [told for _, told in choice.details()] == [
        {"data-question": "07/box/1", "data-option": "0", "data-right": ""},
        {"data-question": "07/box/1", "data-option": "1"},
    ]


def test_links_lead_from_any_page_and_formulas_are_kept() -> None:
    text = "A [*mask*](../book/glossary.md#mask) of $a < b$, [here](#here), as in [7](07_x.ipynb)."
    assert as_html(text, "chapters/08_masks", "https://book/") == (
        '<p>A <a href="https://book/book/glossary.html#mask"><em>mask</em></a> of \\(a &lt; b\\), '
        '<a href="https://book/chapters/08_masks.html#here">here</a>, '
        'as in <a href="https://book/chapters/07_x.html">7</a>.</p>'
    )


def test_every_link_of_the_bank_leads_to_a_page() -> None:
    for each in BANK:
        for text in (each.answer, each.note, *(option.why for option in each.options)):
            for target in as_html(text, each.page, "", lambda *_: "").split('href="')[1:]:
                address = target.partition('"')[0].partition("#")[0]
                if "://" not in address:
                    page = ROOT / address.removesuffix(".html")
                    assert any(page.with_suffix(end).exists() for end in (".ipynb", ".md")), address
