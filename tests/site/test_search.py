"""The search of the website: what one types leads to its place, from a server and from a folder."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.site.accessibility import NARROW, violations, width_of

# What a learner types, and the places of which each must be among the first three.
QUERIES = {
    "nan loss": ["book/debugging.html#nan-at-once"],
    "how to mask padding": ["chapters/08_masks.html", "chapters/03_batches_and_padding.html"],
    "lable smoothing": ["chapters/15_loss_and_schedule.html#label-smoothing"],
    "beam search length penalty": ["chapters/17_decoding.html#the-length-penalty"],
    "why sqrt d": ["chapters/07_scaled_dot_product_attention.html#why-divide-by-the-square-root"],
    "teacher forcing": ["book/glossary.html#teacher-forcing", "chapters/13_decoder.html"],
    "kv cache": ["chapters/17_decoding.html#the-cache-of-keys-and-values"],
    "weight tying": ["chapters/14_transformer.html#tying"],
    "exploding loss": ["book/debugging.html#nan-at-once"],
    "diagnosis gym": ["book/gym.html"],
    "what is <unk>": ["book/glossary.html#unknown-token"],
    "batch padding waste": ["chapters/03_batches_and_padding.html#how-much-of-a-batch-is-padding"],
    "attention heads different": ["chapters/09_multi_head_attention.html"],
    "positional encoding": ["chapters/05_positions.html"],
    "layer norm vs batch norm": ["chapters/10_residuals_and_layer_norm.html"],
    "warmup": ["book/glossary.html#warm-up", "chapters/15_loss_and_schedule.html"],
    "bleu": ["book/glossary.html#bleu", "chapters/19_translating_german.html#by-hand-bleu"],
    "LoRA": ["book/glossary.html#lora", "chapters/27_adapting.html"],
    "rope": ["book/glossary.html#rotary-positions", "chapters/25_todays_parts.html#rotary"],
    "inducton head": ["book/glossary.html#induction-head", "chapters/26_induction.html"],
    "loss is zero but output wrong": [
        "book/debugging.html#validation-is-fine-and-what-it-writes-is-nonsense",
        "book/debugging.html#the-loss-is-far-below-what-is-plausible",
    ],
    "model repeats the same word": [
        "book/debugging.html#validation-is-fine-and-what-it-writes-is-nonsense"
    ],
    "model works in training but not in eval": [
        "book/debugging.html#validation-is-fine-and-what-it-writes-is-nonsense"
    ],
    "different result each time": ["book/debugging.html#the-output-changes-from-call-to-call"],
    "why is my bleu zero": ["book/debugging.html#bleu-is-two-points-low"],
    "out of memory": ["chapters/23_faster_and_larger.html#fused-attention"],
    "dropout at test time": ["chapters/10_residuals_and_layer_norm.html#further-dropout"],
    "save and resume training": ["chapters/16_training.html#kill-a-run-and-resume-it"],
    "how many parameters does a transformer have": ["chapters/14_transformer.html"],
    "translate my own sentence": ["chapters/19_translating_german.html#further-your-own-sentence"],
    "the loss does not go down": ["book/debugging.html#the-loss-does-not-fall"],
}
FIND = "async query => (await window.bookSearch(query)).map(each => each.url)"


@pytest.fixture(scope="module")
def page(reading_browser: Browser, site: Path) -> Iterator[Page]:
    """One page from a folder, for all queries."""
    page = reading_browser.new_page()
    page.goto((site / "book/notation.html").as_uri())
    yield page
    page.close()


@pytest.mark.parametrize("query", QUERIES)
def test_what_one_types_leads_to_its_place(query: str, page: Page) -> None:
    found = page.evaluate(FIND, query)[:3]
    missed = [place for place in QUERIES[query] if not any(url.startswith(place) for url in found)]
    assert missed == [], found


def test_excerpts_hold_neither_code_nor_tex(site: Path) -> None:
    text = (site / "_static" / "search" / "sections.js").read_text(encoding="utf-8")
    pages = json.loads(text[text.index("[") : text.rindex("]") + 1])
    sections = [(page["url"], section) for page in pages for section in page["sections"]]
    assert len(sections) > 500
    ids = {
        page["url"]: set(re.findall(r'\bid="([^"]+)"', (site / page["url"]).read_text("utf-8")))
        for page in pages
    }
    for url, section in sections:
        said = section["title"] + " " + section["text"]
        assert not re.search(r"\\[A-Za-z]{2,}|\$\S[^$]*\$|^(import|from) \w+ import", said), url
        assert section["anchor"] in ids[url], (url, section["anchor"])


@pytest.mark.parametrize("way", ["server", "folder"])
def test_results_appear_as_one_types_and_lead_to_sections(
    way: str, site: Path, serve, visit
) -> None:
    address = serve(site) if way == "server" else site.as_uri()
    seen = visit(f"{address}/chapters/07_scaled_dot_product_attention.html", width=NARROW)
    page = seen.page
    assert not [each for each in seen.requests if "search/" in each or "searchindex" in each]
    page.keyboard.press("Control+k")
    dialog = page.locator("#pst-search-dialog")
    dialog.get_by_role("searchbox").fill("lable smoothing")
    first = dialog.locator(".found a").first
    first.wait_for()
    assert first.locator("strong").inner_text() == "Label smoothing"
    assert first.locator("mark").count() >= 2
    assert dialog.get_by_role("status").inner_text().startswith("The best 12")
    assert width_of(page) <= NARROW
    # Neither the text of the page nor the glass lies below what is read.
    paper = dialog.evaluate("e => getComputedStyle(e).backgroundColor")
    assert re.fullmatch(r"rgb\(\d+, \d+, \d+\)", paper), paper
    assert dialog.locator("form svg").evaluate(
        """svg => svg.getBoundingClientRect().right <= svg.nextElementSibling.getBoundingClientRect()
            .left + parseFloat(getComputedStyle(svg.nextElementSibling).paddingLeft)"""
    )
    if way == "server":
        assert violations(page, "#pst-search-dialog") == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/15_loss_and_schedule.html#label-smoothing")
    assert seen.problems == []


def test_the_page_of_results_shows_what_its_address_asks(site: Path, visit) -> None:
    seen = visit((site / "search.html").as_uri() + "?q=padding")
    seen.page.locator("#search-results .found a").first.wait_for()
    field = seen.page.locator(".bd-search-container").get_by_role("searchbox")
    assert field.input_value() == "padding"
    field.fill("qqqqqqqqqqqqq")
    seen.page.get_by_text("Nothing is found.").wait_for()
    assert seen.problems == []
