"""The embedding map answers to the pointer: a word is named under it, and chosen by a press."""

from __future__ import annotations

from pathlib import Path

from tests.site.test_widgets import differing, opened, shown, state
from tests.site.widget_cases import CASES
from transformer_book.widgets import EmbeddingMap


def test_a_press_on_the_map_chooses_the_nearest_word(site: Path, serve, visit) -> None:
    (case,) = [case for case in CASES if case.widget is EmbeddingMap]
    seen, root = opened(case, visit, serve(site))
    picture = root.locator("svg.map")
    picture.scroll_into_view_if_needed()
    before = state(root)["word"]
    marks = picture.locator("g.word:not(.chosen)")
    x, y = marks.first.evaluate(  # "man", the first of the words
        "e => { const b = e.getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height / 2]; }"
    )
    seen.page.mouse.move(x, y + 1)
    assert picture.locator(".over").text_content() == "man"
    assert state(root)["word"] == before  # looking is not choosing
    seen.page.mouse.click(x, y + 1)
    assert shown(root)["chosen"][0] == "man" and state(root)["word"] != before
    assert differing(case, root) == [] and seen.problems == []
    corner = picture.bounding_box()
    seen.page.mouse.click(corner["x"] + 3, corner["y"] + 3)  # no word is near
    assert shown(root)["chosen"][0] == "man"
