"""A citation names its entry in `book/references.bib` as the entry says: who and when."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from common import ROOT, notebooks
from pybtex.database import parse_file

ENTRIES = parse_file(ROOT / "book/references.bib").entries
LINK = re.compile(r"\[([^\[\]]+)\]\((?:\.\./book/)?bibliography\.md#([\w-]+)\)")
WORDS = {"a public tutorial", "cosine"}  # of a sentence, which lead to an entry
PAGES = [*notebooks(), *sorted((ROOT / "book").glob("*.md"))]


def cited(page: Path) -> Iterator[tuple[str, str]]:
    """Each label with the key that it leads to."""
    yield from LINK.findall(page.read_text(encoding="utf-8"))


def names(entry: Any) -> list[str]:
    """Last names, without LaTeX's accents: those of the text, "others" included."""
    return ["".join(map(str, person.rich_last_names)) for person in entry.persons["author"]]


def what_differs(label: str, entry: Any) -> str | None:
    first, *rest = names(entry)
    year = re.search(r"\b\d{4}\b", label)
    if year and year.group() != entry.fields["year"]:
        return f"the year is {entry.fields['year']}"
    if label not in WORDS and not label.startswith(first):
        return f"the first author is {first}"
    if ("et al." in label) > (len(rest) > 1 or rest == ["others"]):
        return f"the authors are {first} and {rest}"
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_labels_agree_with_their_entries(page: Path) -> None:
    assert not [(label, key) for label, key in cited(page) if key not in ENTRIES]
    differ = {label: what_differs(label, ENTRIES[key]) for label, key in cited(page)}
    assert {label: why for label, why in differ.items() if why} == {}


def test_every_entry_is_cited() -> None:
    assert {key for page in PAGES for _, key in cited(page)} == set(ENTRIES)


def test_a_wrong_year_name_or_number_of_authors_is_found() -> None:
    entry = ENTRIES["press2017using"]
    assert what_differs("Press and Wolf (2017)", entry) is None
    for wrong in ("Press and Wolf (2016)", "Wolf and Press (2017)", "Press et al., 2017"):
        assert what_differs(wrong, entry)
