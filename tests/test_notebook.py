"""What chapters use in their cells: seeds and shown sources."""

from __future__ import annotations

import ast
import inspect
import random

import numpy as np
import pytest
import torch

from transformer_book import attention, batches, layers, notebook


def published(monkeypatch) -> list[dict]:
    bundles: list[dict] = []
    monkeypatch.setattr(notebook, "publish_display_data", lambda data: bundles.append(data))
    return bundles


def test_seed_everything_repeats_all_generators():
    draws = []
    for _ in range(2):
        notebook.seed_everything(5)
        draws.append((random.random(), np.random.rand(), torch.rand(3).tolist()))
    assert draws[0] == draws[1]
    notebook.seed_everything(6)
    assert torch.rand(3).tolist() != draws[0][2]


@pytest.mark.parametrize("seed", [-1, 2**32, 1.5, "7", True])
def test_seed_out_of_range(unhooked, seed):
    with pytest.raises(ValueError, match="whole number from 0 to 4294967295"):
        unhooked("transformer_book.notebook").seed_everything(seed)


@pytest.mark.parametrize(
    "thing",
    [attention.scaled_dot_product_attention, attention.MultiHeadAttention, layers.LayerNorm],
)
def test_shown_source_is_the_files_own(thing, monkeypatch):
    bundles = published(monkeypatch)
    notebook.show_source(thing)
    shown = bundles[0]["text/plain"].splitlines()[1:]
    own = inspect.getsource(thing).splitlines()
    rest = iter(own)
    assert all(line in rest for line in shown)  # in the file's order, nothing added
    ast.parse("\n".join(shown))
    assert notebook.as_markdown(inspect.getdoc(thing)) in bundles[0]["text/markdown"]


def test_documentation_stands_below_the_source():
    source, documentation = notebook.source_of(layers.LayerNorm)
    assert documentation.splitlines()[0] not in source
    assert "Ba et al. (2016)" in documentation
    assert notebook.source_of(batches.PairDataset.__init__)[1] == ""  # not that of object


@pytest.mark.parametrize(
    "thing",
    [attention.scaled_dot_product_attention, layers.LayerNorm, notebook.seed_everything],
)
def test_formulas_of_documentation_stand_outside_of_code(thing):
    documentation = inspect.getdoc(thing)
    markdown = notebook.as_markdown(documentation)
    words, fence, lists = markdown.partition("```text\n")
    assert words.strip() + "\n\n" + lists.removesuffix("\n```") == documentation
    assert fence and "$" not in lists and documentation.count("$") == words.count("$")
    assert notebook.as_markdown("One sentence.") == "One sentence."


def test_later_topics_are_folded():
    source, _ = notebook.source_of(attention.MultiHeadAttention, {"keys_and_values": 17})
    assert "...  # chapter 17" in source
    assert "self.split_heads(self.value(value))" not in source
    assert "def merge_heads" in source
    ast.parse(source)


def test_folding_what_is_not_there():
    with pytest.raises(ValueError, match="'splitheads' is not a method of MultiHeadAttention"):
        notebook.source_of(attention.MultiHeadAttention, {"splitheads": 17})
