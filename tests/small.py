"""A training run that takes a moment: sequences of letters, copied by a model of one layer."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from transformer_book.batches import PairDataset
from transformer_book.tokens import SpaceTokenizer, SubwordTokenizer, Vocabulary
from transformer_book.training import Trainer, TrainingConfig
from transformer_book.transformer import Transformer, TransformerConfig
from transformer_book.translator import Translator
from transformer_book.weights.checkpoints import weights_of

LETTERS = ("a", "b", "c", "d", "e")
VOCABULARY = Vocabulary(LETTERS)


def pairs(n: int, seed: int = 0) -> list[tuple[list[str], list[str]]]:
    """Sequences of 1 to 6 letters, each with itself."""
    draw = random.Random(seed)
    sources = [[draw.choice(LETTERS) for _ in range(draw.randint(1, 6))] for _ in range(n)]
    return [(source, source) for source in sources]


def dataset(n: int = 21, seed: int = 0) -> PairDataset:
    return PairDataset(pairs(n, seed), VOCABULARY, VOCABULARY)


TRAIN, VALIDATION = dataset(), dataset(8, seed=1)


def model(seed: int = 0, **options: object) -> Transformer:
    """Untrained. It has dropout, so that the state of the random numbers matters."""
    settings = {
        "d_model": 8,
        "n_heads": 2,
        "n_encoder_layers": 1,
        "n_decoder_layers": 1,
        "d_ff": 8,
        "max_length": 10,
        "tie_embeddings": "decoder",
        **options,
    }
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return Transformer(TransformerConfig(len(VOCABULARY), len(VOCABULARY), **settings))


def config(**options: object) -> TrainingConfig:
    """Six updates, three to the epoch, measured every second one, two checkpoints averaged."""
    settings = {
        "updates": 6,
        "batch_size": 8,
        "learning_rate": 0.01,
        "warmup": 3,
        "label_smoothing": 0.1,
        "validate_every": 2,
        "average": 2,
        "seed": 5,
        **options,
    }
    return TrainingConfig(**settings)


def trainer(folder: Path | None = None, **options: object) -> Trainer:
    """A new `Trainer`, as a new process would make it."""
    keywords = {"device", "progress", "save_seconds"} & options.keys()
    own = {name: options.pop(name) for name in keywords}
    made = options.pop("model", None) or model()
    return Trainer(made, TRAIN, VALIDATION, config(**options), folder=folder, **own)


def translator(seed: int = 0, **options: object) -> Translator:
    """Untrained, so it babbles; a search must find the same babble every time."""
    spaces = SpaceTokenizer()
    return Translator(model(seed), spaces, spaces, VOCABULARY, VOCABULARY, **options)


def subword_translator(**options: object) -> Translator:
    """Untrained, too; it reads and writes letter by letter."""
    letters = SubwordTokenizer("abcd", [])
    pieces = Vocabulary(letters.pieces)
    return Translator(model(), letters, letters, pieces, pieces, **options)


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, torch computes with one thread: for so little, a second one only waits."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def assert_same_weights(a: Transformer, b: Transformer) -> None:
    mine, theirs = weights_of(a), weights_of(b)
    assert mine.keys() == theirs.keys()
    for name, tensor in mine.items():
        assert torch.equal(tensor, theirs[name]), name


def assert_same_run(a: Trainer, b: Trainer) -> None:
    """Equal to the last bit: what was measured, the weights, Adam's state, the random numbers."""
    assert a.history == b.history
    assert a.best == b.best
    assert_same_weights(a.model, b.model)
    for mine, theirs in zip(a.model.parameters(), b.model.parameters(), strict=True):
        assert a.optimizer.state[mine].keys() == b.optimizer.state[theirs].keys()
        for key, value in a.optimizer.state[mine].items():
            assert torch.equal(value, b.optimizer.state[theirs][key]), key
    assert all(torch.equal(a._random[kind], b._random[kind]) for kind in a._random)
    if a.folder is not None and b.folder is not None:
        for name in ("metrics.jsonl", "model.safetensors"):
            assert (a.folder / name).read_bytes() == (b.folder / name).read_bytes(), name
