"""The model in JavaScript, run by node beside PyTorch."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

import pytest
import torch
from browser_parity import Run, run
from transformer_book_model import write_rules

from tests import small
from tests.system import built_once
from transformer_book.known_words import KnownWords
from transformer_book.tasks.series import SeriesTask
from transformer_book.tokens import SpaceTokenizer, SubwordTokenizer, Tokenizer, Vocabulary
from transformer_book.transformer import Transformer, TransformerConfig
from transformer_book.translator import Translator

LETTERS = Vocabulary(tuple("abcdefg"))
# Pieces of a model that reads lower case, and what it met in training.
PIECES = SubwordTokenizer("abcdefg.", ["▁ a", "▁a b", "e e"], lowercase=True)
MET = KnownWords(frozenset({"a", "ab", "fee"}), frozenset({"g"}), lowercase=True)
# What no model of the book uses, and what the ablations of chapter 16 change.
ODD = {
    "post": {
        "norm": "post",
        "positions": "learned",
        "activation": "groupsort",
        "bias": False,
        "scale_embeddings": False,
    },
    "bare": {"positions": "none", "feed_forward": False, "causal": False, "score_scale": 0.7},
    "cut": {"residual": False, "tie_embeddings": "decoder"},
    "tied": {"tie_embeddings": "all", "initialization": "scaled_normal"},
    "gelu": {"activation": "gelu"},
}


CHECKED = Path(__file__).parents[1] / "tasks" / "captions_checked.tsv"


def sentences(name: str, n: int, first: int = 0) -> list[str]:
    """Texts for a model of the book; captions that have been checked by hand, or expressions."""
    if name == "series":
        pairs = SeriesTask().pairs("validation", first + n)
        return ["".join(pair.source) for pair in pairs[first:]]
    with CHECKED.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["language"] == "de"]
    column = "target" if name.split("-")[1] == "de" else "source"
    return [row[column] for row in rows[:: len(rows) // (first + n)][first : first + n]]


@pytest.fixture(scope="session")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with unicode.json and spacy-….json, as the site's build writes them."""

    def build() -> Path:
        folder = tmp_path_factory.mktemp("rules")
        write_rules(folder)
        return folder

    return built_once(tmp_path_factory, "rules", build)


@pytest.fixture(scope="session")
def node(rules: Path) -> Run:
    """Does jobs with the modules as they are, in node."""
    return partial(run, rules=rules)


@pytest.fixture(scope="session")
def odd(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders of small untrained models, in half precision, whose numbers are far from equal.

    Two more than `ODD` has, of usual parts: they read and write subwords, and one of them does not
    say which words it has met.
    """
    folders = {}
    for seed, (name, options) in enumerate({**ODD, "subwords": {}, "silent": {}}.items()):
        spells = name not in ODD
        tokenizer: Tokenizer = PIECES if spells else SpaceTokenizer()
        vocabulary = Vocabulary(PIECES.pieces) if spells else LETTERS
        met = MET if name == "subwords" else None
        sizes = {
            "d_model": 12,
            "n_heads": 3,
            "d_ff": 10,
            "max_length": 20 if name != "tied" else 80,
        }
        config = TransformerConfig(
            len(vocabulary),
            len(vocabulary),
            n_encoder_layers=2,
            n_decoder_layers=2,
            **sizes,
            **options,
        )
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            model = Transformer(config)
            for parameter in model.parameters():
                parameter.data += 0.3 * torch.randn_like(parameter)
            if name == "cut":
                # Two tokens are always equally probable: the first one is said. Their rows of
                # weights are zero, so that no order of summing can make a difference.
                weight, bias = model.output.parameters()
                weight.data[[4, 9]], bias.data[[4, 9]] = 0.0, 1.0
        both = (tokenizer, tokenizer, vocabulary, vocabulary)
        translator = Translator(model, *both, source_sos=name == "post", known_words=met)
        folders[name] = tmp_path_factory.mktemp(name)
        translator.save(folders[name], dtype=torch.float16)
    return folders


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    with small.one_thread():
        yield
