"""Bad input to the model: one sentence with the offending value, the limit and the remedy.

Run without the annotations' hook, as users run it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tests.fresh import import_model


@pytest.fixture(scope="module")
def book() -> SimpleNamespace:
    return import_model(fresh=True)


def tiny(book: SimpleNamespace, **options: object):
    settings = {
        "d_model": 8,
        "n_heads": 2,
        "n_encoder_layers": 1,
        "n_decoder_layers": 1,
        "d_ff": 16,
        "max_length": 6,
        **options,
    }
    return book.transformer.Transformer(book.transformer.TransformerConfig(10, 12, **settings))


IDS = torch.tensor([[4, 5, 2]])

CONFIGURATIONS = [
    (
        {"n_heads": 3},
        "d_model = 8 is not divisible by n_heads = 3; choose n_heads among 1, 2, 4, 8",
    ),
    ({"d_model": 9, "n_heads": 3}, "needs an even size, not 9; use 10"),
    ({"d_model": 0}, "d_model is 0, but it must be a whole number of at least 1"),
    ({"n_encoder_layers": 0}, "n_encoder_layers is 0"),
    ({"n_decoder_layers": 1.5}, "n_decoder_layers is 1.5"),
    ({"n_heads": "2"}, "n_heads is '2'"),
    ({"d_ff": True}, "d_ff is True"),
    ({"d_ff": 15, "activation": "groupsort"}, "GroupSort (d_ff) needs an even size, not 15"),
    ({"dropout": 1.0}, "dropout is 1.0, but it must be at least 0 and below 1"),
    ({"attention_dropout": -0.1}, "attention_dropout is -0.1"),
    ({"norm": "prenorm"}, "must be one of pre, post"),
    ({"positions": "sinusoid"}, "did you mean 'sinusoidal'?"),
    ({"activation": "rleu"}, "did you mean 'relu'?"),
    ({"tie_embeddings": "al"}, "did you mean 'all'?"),
    ({"initialization": "xaiver"}, "did you mean 'xavier'?"),
    ({"score_scale": float("nan")}, "score_scale is nan, but it must be None or a positive number"),
    ({"score_scale": 0}, "score_scale is 0"),
    ({"score_scale": "1"}, "score_scale is '1'"),
    ({"causal": "no"}, "causal is 'no', but it must be True or False"),
    ({"bias": 1}, "bias is 1, but it must be True or False"),
    ({"dropout": float("nan")}, "dropout is nan"),
    ({"tie_embeddings": "all"}, "source_vocab_size is 10 and target_vocab_size 12"),
]


@pytest.mark.parametrize(("options", "message"), CONFIGURATIONS, ids=lambda x: str(x)[:40])
def test_configuration(book, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        tiny(book, **options)


CALLS = [
    (torch.tensor([[10, 2]]), IDS, "Token id 10 is outside the vocabulary of 10 entries (0 to 9)"),
    (IDS, torch.tensor([[-1, 2]]), "Token id -1 is outside the vocabulary of 12 entries"),
    (torch.ones(1, 7, dtype=torch.long), IDS, "7 positions, but max_length is 6"),
    (IDS, torch.ones(1, 7, dtype=torch.long), "7 positions, but max_length is 6"),
    (IDS[:, :0], IDS, "The batch of token ids is empty: its shape is (1, 0)"),
    (IDS[:0], IDS[:0], "The batch of token ids is empty: its shape is (0, 3)"),
    (IDS[0], IDS, "shape (3,), but it must be (batch, length)"),
    (IDS.float(), IDS, "the type torch.float32, but they must be a tensor of whole numbers"),
    (IDS.to(torch.uint8), IDS, "the type torch.uint8"),
    (IDS.tolist(), IDS, "the type list, but they must be a tensor"),
    (IDS.repeat(2, 1), IDS, "The source has 2 sentences and the target 1"),
]


@pytest.mark.parametrize(("source", "target", "message"), CALLS, ids=lambda x: str(x)[:40])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_call(book, source, target, message, positions):
    with pytest.raises(ValueError, match=re.escape(message)):
        tiny(book, positions=positions)(source, target)


X = torch.randn(2, 4, 8, generator=torch.Generator().manual_seed(0))

MASKS = [
    (torch.zeros(4, 4), "The mask has type torch.float32, but it must be boolean"),
    (torch.ones(4, 4, dtype=torch.long), "The mask has type torch.int64"),
    (torch.ones(4, 5, dtype=torch.bool), "(4, 5), which does not broadcast to the scores' (2, 2, 4, 4)"),
    (torch.ones(2, 4, 4, dtype=torch.bool), "add the missing axis, as in mask.unsqueeze(1)"),
    (torch.ones(1, 2, 2, 4, 4, dtype=torch.bool), "does not broadcast"),
    (torch.ones(4, dtype=torch.bool), "needs at least the two axes (queries, keys)"),
    (torch.tensor(True), "needs at least the two axes"),
]  # fmt: skip


@pytest.mark.parametrize(("mask", "message"), MASKS, ids=lambda x: str(x)[:40])
@pytest.mark.parametrize("keep_weights", [False, True])
def test_mask(book, mask, message, keep_weights):
    attention = book.attention.MultiHeadAttention(8, 2)
    attention.keep_weights = keep_weights
    with pytest.raises(ValueError, match=re.escape(message)):
        attention(X, X, X, mask)


def test_features(book):
    attention = book.attention.MultiHeadAttention(8, 2)
    for arguments, what in (((X[..., :6], X, X), "query"), ((X, X[0], X), "key")):
        with pytest.raises(ValueError, match=f"The {what} has shape .* must be"):
            attention(*arguments)
    with pytest.raises(ValueError, match="it is empty"):
        attention(X[:0], X[:0], X[:0])
    for keep_weights in (False, True):
        attention.keep_weights = keep_weights
        with pytest.raises(ValueError, match="each key needs exactly one value"):
            attention(X, X, X[:, :2])
        with pytest.raises(ValueError, match="The query has 1 sentences and the key 2"):
            attention(X[:1], X, X)


def test_one_feature_is_not_stretched_to_many(book):
    """A last axis of size one would broadcast silently."""
    for component in (
        book.encoder.Encoder(1, book.layers.LayerConfig(d_model=8, n_heads=2, d_ff=16)),
        book.layers.LayerNorm(8),
        book.embeddings.SinusoidalPositions(8),
        book.embeddings.LearnedPositions(8),
    ):
        with pytest.raises(ValueError, match="must have the width 8"):
            component(X[..., :1])


def test_a_mask_without_its_four_axes_is_refused(book):
    """(B, S) may fit by accident, where B equals S, and would then hide keys by query."""
    model, ids = tiny(book), torch.randint(4, 10, (3, 3))
    with pytest.raises(ValueError, match="The source mask has shape"):
        model.encode(ids, ids != 0)
    memory = torch.randn(3, 3, 8)
    with pytest.raises(ValueError, match="The memory mask has shape"):
        model.decode(ids, memory, ids != 0)


def test_numpy_numbers_are_numbers(book):
    model = tiny(book, d_model=np.int64(8), dropout=np.float32(0.1))
    assert model(IDS, IDS).shape == (1, 3, 12)


def test_components_answer_by_themselves(book):
    """Each component checks what it is given, not only the configuration of the whole model."""
    with pytest.raises(ValueError, match="not divisible"):
        book.attention.MultiHeadAttention(8, 3)
    with pytest.raises(ValueError, match="dropout is 2"):
        book.attention.MultiHeadAttention(8, 2, dropout=2)
    with pytest.raises(ValueError, match="even"):
        book.embeddings.sinusoids(4, 7)
    with pytest.raises(ValueError, match="did you mean 'gelu'"):
        book.layers.FeedForward(8, 16, activation="gleu")
    with pytest.raises(ValueError, match="n_layers is 0"):
        book.encoder.Encoder(0, book.layers.LayerConfig(d_model=8, n_heads=2, d_ff=16))
    with pytest.raises(ValueError, match="length is 0"):
        book.masks.causal_mask(0)
    with pytest.raises(ValueError, match="initialization is 'zeros'"):
        book.transformer.initialize(tiny(book), "zeros")


def test_reference_says_what_pytorch_lacks(book):
    config = book.layers.LayerConfig(d_model=8, n_heads=2, d_ff=16)
    layer = book.encoder.EncoderLayer(replace(config, residual=False))
    with pytest.raises(ValueError, match="always have residual"):
        book.pytorch_twins.to_pytorch(layer)
    layer = book.decoder.DecoderLayer(replace(config, feed_forward=False))
    with pytest.raises(ValueError, match="always have a feed-forward"):
        book.pytorch_twins.to_pytorch(layer)
    layer = book.encoder.EncoderLayer(config)
    layer.attention_residual.norm.eps = 0.1
    with pytest.raises(ValueError, match="one epsilon"):
        book.pytorch_twins.to_pytorch(layer)
    layer = book.decoder.DecoderLayer(config)
    layer.cross_attention.scale = 2.0
    with pytest.raises(ValueError, match="scaled scores"):
        book.pytorch_twins.to_pytorch(layer)
    with pytest.raises(ValueError, match="no counterpart of Residual"):
        book.pytorch_twins.to_pytorch(book.layers.Residual(8))
