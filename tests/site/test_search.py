"""The search of the website: what one types leads to its place, from a server and from a folder."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from sphinx.errors import ExtensionError
from transformer_book_search import SUBJECTS, with_subjects

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
    "temperature sampling": ["chapters/17_decoding.html#further-drawing-instead-of-searching"],
    "gradient accumulation": ["chapters/15_loss_and_schedule.html#further-gradient-accumulation"],
    "checkpoint averaging": ["chapters/16_training.html#further-the-average-of-five-models"],
    "dead relu": ["chapters/11_feed_forward.html#further-silent-units-and-dead-units"],
    "pre norm or post norm": ["chapters/10_residuals_and_layer_norm.html#where-to-put-the-norm"],
    "4 bit quantization": ["chapters/28_weights_of_others.html#four-bits-a-number-by-hand"],
    "catastrophic forgetting": ["chapters/27_adapting.html#what-is-forgotten"],
    "greedy vs beam search": ["chapters/17_decoding.html#beam-search"],
    "loss only on the answer not the prompt": ["chapters/24_one_stack.html#which-places-count"],
    "why can training predict all words at once": [
        "chapters/13_decoder.html#all-questions-in-one-pass"
    ],
    "word not in the vocabulary": ["chapters/02_tokens_and_vocabularies.html#pieces-of-words"],
    "flash attention": ["chapters/23_faster_and_larger.html#fused-attention"],
    "multi gpu training": ["chapters/23_faster_and_larger.html#further-several-processes"],
    "train on my own data": ["chapters/20_translating_italian.html#a-loader-for-two-files"],
    "initial loss too high": ["chapters/14_transformer.html#further-what-should-the-first-loss-be"],
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


def test_a_subject_of_a_section_that_does_not_exist_stops_the_build() -> None:
    pages = [{"name": "a", "sections": [{"title": "One", "anchor": "one"}]}]
    named = with_subjects(pages, {"a": {"one": "first, start"}})
    assert named[0]["sections"][0]["subjects"] == "first, start"
    with pytest.raises(ExtensionError, match="'two'"):
        with_subjects(pages, {"a": {"two": "second"}})
    with_subjects(pages, {"of another book": {"two": "second"}})  # as in a book of one chapter


def test_subjects_are_those_of_pages_of_this_book(site: Path) -> None:
    named = tomllib.loads(SUBJECTS.read_text(encoding="utf-8"))
    assert named and [page for page in named if not (site / f"{page}.html").is_file()] == []


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
