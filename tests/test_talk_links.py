"""Links from chapters to “Talk to the model”: each names a model and changes that exist."""

from __future__ import annotations

import json
import re
from urllib.parse import parse_qs

import pytest
from common import ROOT, configuration

from transformer_book import pretrained
from transformer_book.studies.interventions import parts_of
from transformer_book.support.atomic_files import read_json
from transformer_book.transformer import TransformerConfig

CHAPTERS = {path.stem[:2]: path for path in sorted((ROOT / "chapters").glob("*.ipynb"))}
TALK = re.escape(f"{configuration()['html']['baseurl']}book/talk.html")


def queries(chapter: str) -> list[str]:
    """What stands behind the question mark in every link of a chapter to the page."""
    cells = json.loads(CHAPTERS[chapter].read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")
    return re.findall(rf"\]\({TALK}\?([^)\s]*)\)", text)


@pytest.mark.parametrize("chapter", [f"{n:02}" for n in (*range(5, 15), 21)])
def test_each_of_these_chapters_has_a_link_with_a_change(chapter) -> None:
    assert queries(chapter)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_link_names_what_there_is(chapter) -> None:
    """An absolute address: Jupyter, Colab and GitHub lose the query of a relative one."""
    text = CHAPTERS[chapter].read_text(encoding="utf-8")
    assert len(re.findall(r"talk\.html", text)) == len(queries(chapter))
    for query in queries(chapter):
        found = parse_qs(query, strict_parsing=True)
        assert set(found) == {"model", "text", "change"}
        (name,), (source,) = found["model"], found["text"]
        assert source.strip()
        config = read_json(pretrained.find(name) / "config.json")["model"]
        for change in found["change"]:
            parts_of(change, TransformerConfig(**config))
