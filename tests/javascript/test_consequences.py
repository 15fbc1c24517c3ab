"""What the chapters say of a model with a part taken away is what the page shows.

The numbers are read from the chapters' committed outputs. The page's code computes them in node,
the package in PyTorch.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

import pytest
from browser_parity import run, translator_of
from common import ROOT

from transformer_book import pretrained
from transformer_book.studies.interventions import changed
from transformer_book.tasks import captions

ALL_OF_ENCODER = [f"head:encoder.{layer}.{head}" for layer in range(2) for head in range(4)]
ALL_OF_CROSS = [f"head:cross.{layer}.{head}" for layer in range(2) for head in range(4)]


def printed(chapter: str, pattern: str) -> str:
    """What the outputs of a chapter say, where they match the pattern: its group."""
    (path,) = (ROOT / "chapters").glob(f"{chapter}_*.ipynb")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    outputs = [out for cell in cells for out in cell.get("outputs", ())]
    text = "\n".join("".join(out.get("text", ())) for out in outputs)
    (found,) = re.findall(pattern, text)
    return found


def share(text: str) -> float:
    return float(text.removesuffix("%")) / 100


def written(name: str, texts: Sequence[str], changes: Sequence[str], rules) -> list[list[str]]:
    """The tokens that a changed model writes greedily, `<eos>` left out: node and PyTorch agree."""
    folder = pretrained.find(name)
    job = {"operation": "changed_search", "folder": str(folder), "texts": list(texts)}
    (found,) = run([{**job, "changes": list(changes)}], rules)
    translator = translator_of(folder)
    with changed(translator.model, changes):
        expected = [list(one.tokens) for one in translator.search(texts, beam_size=1)]
    assert found == expected
    return [tokens[: len(tokens) - (tokens[-1] == "<eos>")] for tokens in found]


def right(name: str, pairs: Sequence[captions.Caption], changes: Sequence[str], rules) -> float:
    said = written(name, [pair.source_text for pair in pairs], changes, rules)
    return sum(s == list(pair.target) for s, pair in zip(said, pairs, strict=True)) / len(pairs)


def test_without_positions_one_caption_in_four_is_left(rules) -> None:
    """Chapter 5: the source's words are known, their order is not."""
    pairs = captions.pairs("en", "it", "validation", n=200)
    stated = share(printed("05", r"none +(\d+%) exact"))
    assert 0 < stated < 0.3
    found = right("captions-en-it", pairs, ["positions:source"], rules)
    assert found == pytest.approx(stated, abs=0.005)


def test_without_the_encoders_attention_no_sentence_begins_with_there(rules) -> None:
    """Chapter 12: word by word, so that all captions of one kind go wrong."""
    pairs = captions.pairs("de", "en", "validation", n=60, constructions=["existential"])
    stated = share(printed("12", r"attention skipped +(\d+)% exact"))
    assert right("captions-de-en", pairs, ALL_OF_ENCODER, rules) == stated == 0
    sentence = ["Auf dem Sofa liegt eine Geige ."]
    said = printed("12", r"attention skipped +(On .*\.)")
    assert written("captions-de-en", sentence, ALL_OF_ENCODER, rules) == [said.split()]


def test_with_the_mask_taken_away_the_model_writes_on(rules) -> None:
    """Chapter 13: the newest position has no future to look at."""
    pairs = captions.pairs("de", "en", "validation", n=100)
    stated = share(printed("13", r"in training only +teacher forcing +0% +writing +(\d+%)"))
    assert stated > 0.9
    assert right("captions-de-en", pairs, ["causal:off"], rules) == pytest.approx(stated, abs=1e-9)


def test_without_the_memory_it_writes_the_same_words_whatever_the_source(rules) -> None:
    """Chapter 14."""
    texts = [pair.source_text for pair in captions.pairs("de", "en", "validation", n=4)]
    assert len({tuple(said) for said in written("captions-de-en", texts, ALL_OF_CROSS, rules)}) == 1
