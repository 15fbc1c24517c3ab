"""Every recipe of the book is a configuration of one model, not a fork of it.

Built on the meta device: shapes and numbers of parameters, no memory.
"""

from __future__ import annotations

import pickle

import pytest
import torch

from transformer_book.transformer import Transformer, TransformerConfig

PAPER = {"d_model": 512, "n_heads": 8, "d_ff": 2048}
TUTORIAL = {
    "n_heads": 8,
    "positions": "learned",
    "norm": "post",
    "initialization": "xavier",
    "attention_dropout": 0.1,
    "activation_dropout": 0.1,
}


def layers(n: int) -> dict[str, int]:
    return {"n_encoder_layers": n, "n_decoder_layers": n}


RECIPES = {
    "copy-untrained": TransformerConfig(11, 11, **PAPER, **layers(6), bias=False, norm="pre"),
    "paper": TransformerConfig(
        37000, 37000, **PAPER, **layers(6), norm="post", tie_embeddings="all"
    ),
    "multi30k-tutorial": TransformerConfig(
        7855, 5893, d_model=256, d_ff=512, max_length=100, **layers(3), **TUTORIAL
    ),
    "multi30k-teacher": TransformerConfig(
        8000,
        8000,
        d_model=128,
        n_heads=4,
        d_ff=256,
        **layers(4),
        dropout=0.3,
        tie_embeddings="all",
        initialization="scaled_normal",
    ),
    "series-tutorial": TransformerConfig(
        34, 28, d_model=200, d_ff=1024, max_length=200, **layers(4), **TUTORIAL
    ),
    "series-two-terms-tutorial": TransformerConfig(
        34, 28, d_model=64, d_ff=128, max_length=85, **layers(2), **TUTORIAL
    ),
    "different depths": TransformerConfig(
        100, 90, d_model=64, n_heads=4, d_ff=128, n_encoder_layers=5, n_decoder_layers=2
    ),
    "no scaling": TransformerConfig(100, 100, **PAPER, **layers(2), score_scale=1.0),
    "no causal mask": TransformerConfig(100, 100, **PAPER, **layers(2), causal=False),
    "no positions": TransformerConfig(100, 100, **PAPER, **layers(2), positions="none"),
    "no residual": TransformerConfig(100, 100, **PAPER, **layers(2), residual=False),
    "no feed-forward": TransformerConfig(100, 100, **PAPER, **layers(2), feed_forward=False),
    "no dropout": TransformerConfig(100, 100, **PAPER, **layers(2), dropout=0.0),
    "groupsort": TransformerConfig(100, 100, **PAPER, **layers(2), activation="groupsort"),
}


@pytest.mark.parametrize("name", RECIPES)
def test_recipe_is_a_configuration(name):
    config = RECIPES[name]
    with torch.device("meta"):
        model = Transformer(config)
        source, target = torch.empty(3, 7).long(), torch.empty(3, 5).long()
        assert model(source, target).shape == (3, 5, config.target_vocab_size)
    assert len(model.encoder.layers) == config.n_encoder_layers
    assert len(model.decoder.layers) == config.n_decoder_layers


def test_the_published_numbers_of_parameters():
    """Multi30k tutorial: about 9.04 million. The paper's base model: 65 million (its table 3)."""
    with torch.device("meta"):
        tutorial = Transformer(RECIPES["multi30k-tutorial"]).n_parameters
        paper = Transformer(RECIPES["paper"]).n_parameters
    assert round(tutorial / 1e6, 2) == 9.04
    assert 62e6 < paper < 66e6


def test_a_model_can_be_pickled():
    """Processes and some libraries send models that way (the book's own files are safetensors)."""
    model = Transformer(TransformerConfig(9, 9, d_model=8, n_heads=2, d_ff=16, **layers(1))).eval()
    source, target = torch.tensor([[4, 5, 2]]), torch.tensor([[1, 6]])
    twin = pickle.loads(pickle.dumps(model))
    assert torch.equal(twin(source, target), model(source, target))
