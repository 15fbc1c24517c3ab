"""The chapters' explorers show for the reader's own sentence what Python shows for it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Locator, Page

from tests.site.accessibility import NARROW, resize, violations, width_of
from transformer_book.tokens import SOS
from transformer_book.translator import Translator
from transformer_book.widgets import BeamExplorer, EmbeddingMap, Explorer, HeadExplorer, NeuronView
from transformer_book.widgets.beam import LONGEST
from transformer_book.widgets.talk import EXAMPLES, answers

# The model and the explorers of each page; those in TYPED are tried in the browser.
PAGES = {
    "chapters/04_embeddings": ("captions-en-it", ["EmbeddingMap"]),
    "chapters/12_encoder": ("captions-de-en", ["HeadExplorer"]),
    "chapters/13_decoder": ("captions-de-en", ["HeadExplorer"]),
    "chapters/17_decoding": ("captions-de-en", ["BeamExplorer"]),
    "chapters/18_taylor_series": ("series", ["HeadExplorer"]),
    "chapters/19_translating_german": ("multi30k-de-en", ["HeadExplorer"]),
    "chapters/20_translating_italian": ("captions-en-it", ["HeadExplorer"]),
    "chapters/21_looking_inside": ("captions-de-en", ["HeadExplorer", "NeuronView"]),
}
TYPED = ["chapters/04_embeddings", "chapters/17_decoding", "chapters/21_looking_inside"]
LIMIT = 15_000  # bytes, gzipped, that a page may grow by before a model is asked for


def read(translator: Translator, text: str) -> tuple:
    """What the model reads on both sides when it translates greedily: ids and names, in turn."""
    (said,) = translator.search([text], beam_size=1)
    ids = translator.encode(text).ids
    target = [SOS, *(translator.target_vocabulary.tokens.index(t) for t in said.tokens[:-1])]
    names = said.source_tokens, ("<sos>", *said.tokens[:-1])
    return torch.tensor([ids]), names[0], torch.tensor([target]), names[1]


def heads(translator: Translator, text: str, page: Page) -> HeadExplorer:
    """With what the page begins with: the kind of attention that its chapter chose."""
    state = page.locator("[data-explorer=HeadExplorer]:visible").get_attribute("data-state")
    return HeadExplorer.from_model(translator.model, *read(translator, text), **json.loads(state))


def neuron(translator: Translator, text: str, page: Page) -> NeuronView:
    chosen = {"kind": "cross", "order": "advantage", "kept": 4}
    return NeuronView.from_model(translator.model, *read(translator, text), **chosen)


def tree(translator: Translator, text: str, page: Page) -> BeamExplorer:
    *_, done = answers(translator, {"task": "beam", "text": text})
    start = {"beam_size": 2, "length_penalty": 0.0, "step": LONGEST}
    return BeamExplorer([done["search"]], **start)


def nearest(translator: Translator, text: str, page: Page) -> EmbeddingMap:
    """The neighbours by cosine, of all words that the page shows; the map has places of its own."""
    words = page.locator("[data-explorer=EmbeddingMap]:visible select").last
    shown = words.locator("option").all_inner_texts()
    vocabulary = translator.source_vocabulary
    rows = translator.model.source_embedding.weight[vocabulary.encode(shown)]
    one = {"reader": torch.zeros(len(shown), 2)}
    groups = {"all": ["x"] * len(shown)}
    first = translator.source_tokenizer(text)[0]
    return EmbeddingMap.from_vectors(shown, {"reader": rows}, one, {"reader": 1}, groups, first)


SHOWN: dict[str, tuple[Callable[..., Explorer], tuple[str, ...]]] = {
    "HeadExplorer": (heads, ("chosen", "carried", "breadths.0.1", "weights.0")),
    "NeuronView": (neuron, ("strongest", "scores.0", "weights.1", "running.0")),
    "BeamExplorer": (tree, ("result.sentence", "result.score", "greedy.sentence")),
    "EmbeddingMap": (nearest, ("chosen", "neighbours.0", "neighbour_cosines.0")),
}


def part(numbers: dict, path: str) -> object:
    for name in path.split("."):
        numbers = numbers[int(name)] if isinstance(numbers, list) else numbers[name]
    return numbers


def ask(place: Locator, text: str) -> str:
    """Type a sentence below an explorer; what the line then says."""
    status = place.get_by_role("status")
    place.get_by_role("textbox").fill(text)
    place.get_by_role("textbox").press("Enter")
    status.filter(has_text="Computing").wait_for(state="detached")
    return status.inner_text()


@pytest.mark.parametrize("page", TYPED)
def test_an_explorer_takes_a_sentence(page, site: Path, serve, visit) -> None:
    seen = visit(f"{serve(site)}/{page}.html")
    model, names = PAGES[page]
    translator = Translator.from_pretrained(model)
    for name in names:
        seen.explorer(name)
        place = seen.page.locator(f'.sentence[data-of="{name}"]')
        place.get_by_role("button", name="Use a sentence of your own").click()
        text = place.get_by_role("textbox").input_value()
        assert ask(place, text) == f"Shown: {text}"
        shown = seen.page.locator(f'[data-explorer="{name}"]:visible')
        make, paths = SHOWN[name]
        numbers = make(translator, text, seen.page).numbers()
        for path in paths:
            told = shown.locator(f'[data-number="{path}"]').first.inner_text()
            right = part(numbers, path)
            if isinstance(right, str):
                assert told == right, path
            else:
                assert float(told.replace("−", "-")) == pytest.approx(right, abs=0.051), path
        odd = EXAMPLES[model][-1]  # with a word that the captions lack
        (rare,) = translator.rare_words(odd)
        assert ask(place, odd) == f"Shown: {odd} Seldom or never seen in training: {rare}."
    last = place.get_by_role("button", name="Back to the chapter's sentence")
    if page == "chapters/21_looking_inside":
        assert ask(place, " ") == "There is nothing to translate: the text is empty."
        assert "this model reads at most" in ask(place, "Hund " * 5000)
        assert violations(seen.page, ".sentence") == []
        resize(seen.page, NARROW, 800)
        assert width_of(seen.page) == NARROW
        line = place.get_by_role("textbox").bounding_box()["width"]
        assert line > 0.9 * place.locator(".controls").bounding_box()["width"]
        last.click()
        assert shown.count() == 1
    assert seen.problems == []


@pytest.mark.parametrize("page", TYPED)
def test_from_a_folder_one_sentence_says_why_it_cannot_take_one(page, site: Path, visit) -> None:
    """And nothing stands there to be pressed."""
    seen = visit((site / f"{page}.html").as_uri(), width=NARROW)
    for name in PAGES[page][1]:
        seen.explorer(name)
        place = seen.page.locator(f'.sentence[data-of="{name}"]')
        assert place.inner_text().startswith(
            "A sentence of your own needs a page that comes from a server, since browsers run no "
        )
        assert place.locator("button, input").count() == 0
    assert violations(seen.page, ".sentence") == []
    assert width_of(seen.page) == NARROW
    assert seen.problems == []


def test_pages_without_a_model_hardly_grow(site: Path) -> None:
    """The button's script and what stands in the page for it; of the model itself, nothing."""
    script = (site / "_static" / "model" / "sentence-loader.js").read_bytes()
    growing = {}
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        # These pages show a model of their kind, and have tests of it.
        if "_static/model/" in text and path.stem not in ("talk", "bench", "gym", "landing"):
            page = path.relative_to(site).with_suffix("").as_posix()
            _, _, rest = text.partition('class="sentence-models">')
            about = rest.partition("</script>")[0]
            growing[page] = len(gzip.compress(script + about.encode()))
            model, names = PAGES[page]
            offered = json.loads(about)["explorers"]
            assert {name: each["model"]["name"] for name, each in offered.items()} == (
                dict.fromkeys(names, model)
            )
            assert text.count("_static/model/") == 1
    assert growing.keys() == PAGES.keys()
    assert max(growing.values()) < LIMIT
