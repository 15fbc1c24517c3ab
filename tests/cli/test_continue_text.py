"""`continue`: a checkpoint in the layout of others goes on with a text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from tests.cli.small import refused


@pytest.fixture
def llama(tmp_path) -> Path:
    """A checkpoint of one layer in the layout of Llama, with random weights."""
    from safetensors.torch import save_file
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = tmp_path / "llama"
    folder.mkdir()
    shapes = {
        "model.embed_tokens.weight": (5, 4),
        "model.norm.weight": (4,),
        "model.layers.0.input_layernorm.weight": (4,),
        "model.layers.0.self_attn.q_proj.weight": (4, 4),
        "model.layers.0.self_attn.k_proj.weight": (2, 4),
        "model.layers.0.self_attn.v_proj.weight": (2, 4),
        "model.layers.0.self_attn.o_proj.weight": (4, 4),
        "model.layers.0.post_attention_layernorm.weight": (4,),
        "model.layers.0.mlp.gate_proj.weight": (6, 4),
        "model.layers.0.mlp.up_proj.weight": (6, 4),
        "model.layers.0.mlp.down_proj.weight": (4, 6),
    }
    generator = torch.Generator().manual_seed(1)
    weights = {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    save_file(weights, folder / "model.safetensors")
    config = {
        "model_type": "llama",
        "vocab_size": 5,
        "hidden_size": 4,
        "intermediate_size": 6,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "max_position_embeddings": 64,
        "rms_norm_eps": 1e-5,
        "tie_word_embeddings": True,
    }
    (folder / "config.json").write_text(json.dumps(config))
    words = {word: i for i, word in enumerate("abcde")}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="a"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_continue(call, llama):
    answer = call("continue", llama, "a b", "--tokens", 6)
    assert (answer.status, answer.err) == (0, "")
    words = answer.out.split()
    assert words[:2] == ["a", "b"] and len(words) == 8
    assert call("continue", llama, "a b", "--tokens", 6) == answer
    draws = {
        seed: call("continue", llama, "a b", "--temperature", 9, "--seed", seed).out
        for seed in (1, 2, 3)
    }
    assert len(set(draws.values())) == 3
    assert call("continue", llama, "a b", "--temperature", 9, "--seed", 2).out == draws[2]
    assert "the text has no tokens" in refused(call("continue", llama, ""))
    assert "64 positions" in refused(call("continue", llama, "a " * 64))
