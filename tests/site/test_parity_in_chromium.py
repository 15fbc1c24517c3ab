"""The model computes in Chromium what PyTorch computes: see tools/browser_parity.py.

Three hundred sentences are decoded greedily and three hundred with the search that each model ships
with: the shortest of many, most of them by the fastest models; the probabilities of all tokens are
compared. The logits of few more are, of short sentences and of long ones. The tool takes a thousand
sentences for each model and search, every week. The gradients, and the first losses of three tasks,
are those of tests/javascript/test_backward.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import pytest
from browser_parity import (
    TIE,
    TOLERANCE,
    Run,
    differences,
    largest_difference,
    random_strings,
    run_in_page,
    sentences,
    tokenizers,
    translator_of,
    wrong_pieces,
    wrong_texts,
)
from playwright.sync_api import Browser

from tests import small
from tests.javascript.test_backward import TASKS, check_gradients, check_losses, random_cases
from tests.system import PATIENCE
from transformer_book import pretrained

N_LOGITS = 20  # of each model, the shortest and the longest among them
N_STRINGS = 10_000
# Sentences for greedy search, and for the search as shipped; for series the two are one.
SEARCHED = {
    "captions-de-en": (120, 120),
    "captions-en-it": (120, 120),
    "multi30k-de-en": (20, 20),
    "multi30k-en-de": (20, 20),
    "series": (20, 20),
}


@pytest.fixture(scope="module")
def chromium(site: Path, serve, browser: Browser) -> Iterator[Run]:
    """Does jobs in a page, with the modules, weights and rules of the site."""
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.goto(f"{serve(site)}/_static/model/rules/version.txt")
    yield partial(run_in_page, page, f"{serve(site)}/_static/model/")
    page.close()


@pytest.fixture(scope="module", autouse=True)
def one_thread(unenforced):
    """tests/javascript does the same with the annotations enforced, on fewer sentences."""
    with small.one_thread():
        yield


@cache
def captions_in(language: str) -> list[str]:
    """Many captions, those with the fewest words first."""
    several = dict.fromkeys(sentences(f"captions-{language}", 2500))
    return sorted(several, key=lambda text: text.count(" "))


def texts_for(name: str, n: int) -> list[str]:
    """The shortest captions in the language that a model reads, or expressions."""
    return sentences(name, n) if name == "series" else captions_in(name.split("-")[1])[:n]


def short_and_long(name: str) -> list[str]:
    """A few texts for a model, evenly from the shortest of many to the longest."""
    many = sorted(texts_for(name, 2500 if name != "series" else 100), key=len)
    return [many[round(i * (len(many) - 1) / (N_LOGITS - 1))] for i in range(N_LOGITS)]


def test_every_model_is_searched_and_three_hundred_sentences_in_all() -> None:
    assert SEARCHED.keys() == set(pretrained.names())
    greedy, shipped = (sum(counts) for counts in zip(*SEARCHED.values(), strict=True))
    assert greedy >= 300 and shipped >= 300


@pytest.mark.parametrize("name", SEARCHED)
def test_the_logits_are_pytorchs(name, chromium, tell) -> None:
    texts = short_and_long(name)
    difference = largest_difference(pretrained.find(name), texts, chromium)
    tell(
        f"{name} in Chromium: logits of {len(texts)} sentences differ from PyTorch's by at most "
        f"{difference:.1e}"
    )
    assert difference < TOLERANCE


@pytest.mark.parametrize("name", SEARCHED)
def test_the_translations_are_the_packages(name, chromium, tell) -> None:
    folder = pretrained.find(name)
    shipped = {} if translator_of(folder).decoding.beam_size > 1 else None
    for options, n in zip(({"beam_size": 1}, shipped), SEARCHED[name], strict=True):
        if options is None:
            continue  # it is greedy, too
        texts = texts_for(name, n)
        assert len(texts) == n
        found = differences(folder, texts, options, chromium)
        for each in found:
            tell(f"{name} in Chromium: {each}")
        assert all(each.gap < TIE for each in found)


@pytest.mark.parametrize("name", tokenizers())
def test_the_pieces_are_the_packages(name, chromium) -> None:
    """On random strings with combining marks, emoji and unassigned code points."""
    assert not wrong_pieces(name, list(random_strings(N_STRINGS)), chromium)


def test_text_is_treated_as_python_does(chromium) -> None:
    assert not wrong_texts(list(random_strings(N_STRINGS)), chromium)


def test_the_gradients_are_pytorchs(chromium, tell) -> None:
    check_gradients(random_cases(), chromium, tell, "Chromium")


@pytest.mark.parametrize("name", TASKS)
def test_the_first_losses_are_pytorchs(name, chromium, tell) -> None:
    check_losses(name, "adam", chromium, tell, "Chromium")
