"""Every term is linked at its first use, and nothing else is touched."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest
from common import ROOT, notebooks
from link_terms import (
    GLOSSARY,
    PAGES,
    Mistake,
    chapters_listed,
    forms_of,
    linked_file,
    slug,
    unlinked,
    with_links,
)
from normalise_notebooks import text_of, written

from tests.tools.running import run_tool

SMALL = """\
# Glossary

## A

### attention
<!-- also: attend, attending -->

An average. Chapter 7.

### multi-head attention

Several. Chapter 9.

### Adam

An optimizer. Chapter 16.

### key
<!-- common: key, keys -->

What is compared. Chapter 7.

### value
<!-- common: value, values; also: attention value -->

What is averaged. Chapter 7.

### query
<!-- also: queries -->

What asks. Chapter 7.
"""
FORMS = forms_of(SMALL)
CHAPTERS = {7: "07_attention.ipynb", 8: "08_masks.ipynb", 16: "16_training.ipynb"}


def link(*texts: str, here: int | None = 9) -> str:
    """The cells with their links, written shortly: [word](anchor)."""
    cells = with_links(list(texts), FORMS, CHAPTERS, here)
    return "\n---\n".join(cells).replace("../book/glossary.md#", "")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("We use attention, and attention.", "We use [attention](attention), and attention."),
        ("Attention attends.", "[Attention](attention) attends."),
        ("It attends. Attention too.", "It [attends](attention). Attention too."),
        ("Two queries.", "Two [queries](query)."),
        ("A query's width", "A [query](query)'s width"),
        # longest wins, and no word inside a word
        ("multi-head attention", "[multi-head attention](multi-head-attention)"),
        (
            "Multi-head attention is attention.",
            "[Multi-head attention](multi-head-attention) is [attention](attention).",
        ),
        ("self-attention, inattention, attentional", "self-attention, inattention, attentional"),
        ("query–key pairs, query-like, my_query", "query–key pairs, query-like, my_query"),
        ("multi-head\nattention", "[multi-head\nattention](multi-head-attention)"),
        # capitals that belong to the word
        ("adam bit; Adam steps", "adam bit; [Adam](adam) steps"),
        # what is no running text
        ("`attention` and $attention$", "`attention` and $attention$"),
        ("``a ` attention``", "``a ` attention``"),
        ("$$\nattention\n$$", "$$\nattention\n$$"),
        ("costs \\$5 of attention, \\$6", "costs \\$5 of [attention](attention), \\$6"),
        ("```python\nattention\n```", "```python\nattention\n```"),
        (
            "> ```\n> attention\n> ```\n> attention",
            "> ```\n> attention\n> ```\n> [attention](attention)",
        ),
        ("# Attention\n\n## Attention too", "# Attention\n\n## Attention too"),
        ("| attention | b |\n|---|---|\n| c | attention |", None),
        ("[attention](x.md) and [see [a] attention](y.md)", None),
        ("![attention](x.svg)", None),
        ('<img alt="attention"> <!-- attention -->', None),
        ("> **Attention first.** No.", None),
        (
            "> **Predict first.** Does attention help?",
            "> **Predict first.** Does [attention](attention) help?",
        ),
        ("**Attention is an average.**", "**[Attention](attention) is an average.**"),
        # italics: the term itself, not the words of an example
        ("*attention* is", "*[attention](attention)* is"),
        ("*the soldier stands at attention*", None),
        ("* attention, in a list\n* *another*", "* [attention](attention), in a list\n* *another*"),
        # common words
        ("The key to its value is a value.", None),
        ("a *key* and **value**", "a *[key](key)* and **[value](value)**"),
        ("keys and values", "[keys](key) and [values](value)"),
        ("queries, keys and values", "[queries](query), [keys](key) and [values](value)"),
        ("a query and the key", "a [query](query) and the [key](key)"),
        ("the query, the key idea", "the [query](query), the key idea"),
        ("keys of the values", None),
        ("The key is *key*.", "The key is *[key](key)*."),
        ("an attention value", "an [attention value](value)"),
    ],
)
def test_terms(text: str, wanted: str | None) -> None:
    assert link(text) == (text if wanted is None else wanted)


def test_folded_text_counts_only_if_there_is_no_other() -> None:
    folded = "<details><summary>attention</summary>\n\nAttention and Adam.\n\n</details>"
    assert link(folded, "Then attention.") == (
        folded.replace("Adam", "[Adam](adam)") + "\n---\nThen [attention](attention)."
    )


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("see chapter 7", "see [chapter 7](07_attention.ipynb)"),
        ("Chapter 7, chapter 7.", "[Chapter 7](07_attention.ipynb), chapter 7."),
        (
            "Chapter 7.\n\n## Next\n\nChapter 7.",
            "[Chapter 7](07_attention.ipynb).\n\n## Next\n\n[Chapter 7](07_attention.ipynb).",
        ),
        (
            "chapters 7, 8 and 16",
            "chapters [7](07_attention.ipynb), [8](08_masks.ipynb) and [16](16_training.ipynb)",
        ),
        ("chapters 7 to 9", "chapters [7](07_attention.ipynb) to 9"),
        ("chapters 7, or 8", "chapters [7](07_attention.ipynb), or [8](08_masks.ipynb)"),
        ("chapter 9 is this one, 21 is not written, chapter 70 never", None),
        ("`chapter 7`, $chapter 7$, [in chapter 7](x.md)", None),
        ("[chapter 7](07_attention.ipynb#proof)", None),
        ("[the function](07_attention.ipynb)", None),
        ("```\n# chapter 7\n```", None),
        ("[chapter 21](07_attention.ipynb)", None),
    ],
)
def test_chapters(text: str, wanted: str | None) -> None:
    assert link(text) == (text if wanted is None else wanted)


def test_a_comment_in_code_begins_no_section() -> None:
    text = "Chapter 7.\n\n```python\n# set up\n```\n\nChapter 7."
    assert link(text).count("](") == 1
    assert link("## A\n\nChapter 7.", "More of chapter 7.").count("](") == 1


def test_twice_changes_nothing_and_without_links_it_is_as_before() -> None:
    cells = [
        "# 9. Heads\n\n*Attention* in chapter 7, queries, keys and values; [Adam](x.md).",
        "> **Predict first.** Who attends?\n>\n> <details><summary>a</summary>\n>\n> Adam"
        "\n>\n> </details>",
    ]
    once = with_links(cells, FORMS, CHAPTERS, 9)
    assert sum(text.count("glossary.md#") for text in once) == 5
    assert with_links(once, FORMS, CHAPTERS, 9) == once
    assert [unlinked(text) for text in once] == cells


def test_a_term_that_has_left_the_glossary_is_unlinked() -> None:
    before = with_links(["Adam attends."], FORMS, CHAPTERS, 9)
    without = forms_of(SMALL.replace("### Adam\n", ""))
    assert with_links(before, without, CHAPTERS, 9) == [
        "Adam [attends](../book/glossary.md#attention)."
    ]
    assert with_links(["[chapter 7](07_attention.ipynb)"], FORMS, {}, 9) == ["chapter 7"]


def test_a_link_to_the_whole_glossary_stays() -> None:
    text = "See the [glossary](../book/glossary.md)."
    assert link(text) == text


def test_pages_link_chapters_from_their_own_folder() -> None:
    assert with_links(["### key\n\nChapter 7."], {}, CHAPTERS) == [
        "### key\n\n[Chapter 7](../chapters/07_attention.ipynb)."
    ]


def notebook_of(*cells: dict) -> dict:
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def test_only_markdown_changes(tmp_path: Path) -> None:
    output = {"output_type": "stream", "name": "stdout", "text": "attention\n"}
    notebook = notebook_of(
        {"cell_type": "markdown", "id": "one", "metadata": {"tags": ["x"]}, "source": "# 9. A"},
        {"cell_type": "markdown", "id": "two", "metadata": {}, "source": "Attention."},
        {
            "cell_type": "code",
            "id": "three",
            "metadata": {},
            "source": "# attention",
            "outputs": [output],
            "execution_count": 4,
        },
    )
    path = tmp_path / "09_x.ipynb"
    path.write_text(written(notebook), encoding="utf-8")
    text = linked_file(path, FORMS, CHAPTERS)
    notebook["cells"][1]["source"] = "[Attention](../book/glossary.md#attention)."
    assert text == written(notebook)
    path.write_text(text, encoding="utf-8")
    assert linked_file(path, FORMS, CHAPTERS) is None


def test_a_notebook_of_book_links_to_the_chapters_from_its_own_folder(tmp_path: Path) -> None:
    path = tmp_path / "prerequisites.ipynb"
    cell = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "Attention, chapter 7."}
    path.write_text(written(notebook_of(cell)), encoding="utf-8")
    cell["source"] = (
        "[Attention](../book/glossary.md#attention), [chapter 7](../chapters/07_attention.ipynb)."
    )
    assert linked_file(path, FORMS, CHAPTERS) == written(notebook_of(cell))


# --- the glossary ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (SMALL + "### attend\n", "'attend' under 'attention' and under 'attend'"),
        (SMALL + "### x\n<!-- alias: y -->\n", "under 'x' in the glossary has 'alias'"),
        ("# Glossary\n", "no terms"),
    ],
)
def test_a_wrong_glossary_is_refused(wrong: str, says: str) -> None:
    with pytest.raises(Mistake, match=says):
        forms_of(wrong)


@pytest.mark.parametrize(
    ("heading", "anchor"),
    [("key", "key"), ("Zipf's law", "zipfs-law"), ("top-k", "top-k"), ("layer norm", "layer-norm")],
)
def test_anchors_are_those_of_github(heading: str, anchor: str) -> None:
    assert slug(heading) == anchor


ENTRIES = re.split(r"^### ", GLOSSARY.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]


def test_every_entry_is_short_and_names_its_chapter() -> None:
    for entry in ENTRIES:
        term, _, text = entry.partition("\n")
        text = unlinked(re.sub(r"<!--.*?-->|^## .*$", "", text, flags=re.MULTILINE))
        assert re.search(r"\b[Cc]hapters? (?:[1-9]|1\d|2\d)\b", text), term
        assert 5 <= len(text.split()) <= 60, f"{term}: {len(text.split())} words"


def test_entries_stand_in_alphabetical_order_under_their_letters() -> None:
    text = GLOSSARY.read_text(encoding="utf-8")
    letter, terms = "", []
    for level, title in re.findall(r"^(##|###) (.+)$", text, re.MULTILINE):
        if level == "##":
            assert title > letter
            letter = title
        else:
            assert title[0].upper() == letter, title
            terms.append(title.lower())
    assert terms == sorted(terms) and len(set(map(slug, terms))) == len(terms)


# --- the book -------------------------------------------------------------------------------------

COMMITTED = [*notebooks(), *(ROOT / "book" / name for name in PAGES)]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in COMMITTED])
def test_terms_are_linked_at_their_first_use(path: Path) -> None:
    forms = forms_of(GLOSSARY.read_text(encoding="utf-8"))
    if linked_file(path, forms, chapters_listed()) is not None:
        name = path.relative_to(ROOT)
        pytest.fail(f"run python tools/link_terms.py --write {name}", pytrace=False)


def run(*arguments: str | Path) -> subprocess.CompletedProcess:
    return run_tool("link_terms.py", *arguments)


def test_check_names_the_file_and_write_mends_it(tmp_path: Path) -> None:
    path = tmp_path / "07_x.ipynb"
    cell = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "A softmax, chapter 7."}
    path.write_text(written(notebook_of(cell)), encoding="utf-8")
    before = path.read_bytes()
    checked = run("--check", path)
    assert checked.returncode == 1 and path.name in checked.stderr and path.read_bytes() == before
    assert run("--write", path).returncode == 0
    source = text_of(json.loads(path.read_text(encoding="utf-8"))["cells"][0]["source"])
    assert source == "A [softmax](../book/glossary.md#softmax), chapter 7."
    assert run("--check", path).returncode == 0


@pytest.mark.parametrize("content", [None, "not a notebook", "[]"])
def test_what_is_no_notebook_is_refused_in_one_sentence(tmp_path: Path, content) -> None:
    path = tmp_path / "07_x.ipynb"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    refused = run("--check", path)
    assert refused.returncode == 2 and str(path) in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
