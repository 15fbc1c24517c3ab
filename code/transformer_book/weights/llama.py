"""The book's decoder-only model as Llama: the same parts under other names (chapters 25 and 28)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from torch import Tensor

from transformer_book.decoder_only import DecoderOnlyConfig, todays
from transformer_book.support.harmless_settings import refuse_others, without_harmless

# Of the whole model, then of one layer: the name in a Llama checkpoint, and the book's.
MODEL_NAMES = {
    "model.embed_tokens.weight": "embedding.weight",
    "model.norm.weight": "norm.weight",
    "lm_head.weight": "output.weight",
}
LAYER_NAMES = {
    "input_layernorm.weight": "attention_norm.weight",
    "self_attn.q_proj.weight": "self_attention.query.weight",
    "self_attn.k_proj.weight": "self_attention.key.weight",
    "self_attn.v_proj.weight": "self_attention.value.weight",
    "self_attn.o_proj.weight": "self_attention.output.weight",
    "post_attention_layernorm.weight": "feed_forward_norm.weight",
    "mlp.gate_proj.weight": "feed_forward.gate.weight",
    "mlp.up_proj.weight": "feed_forward.value.weight",
    "mlp.down_proj.weight": "feed_forward.output.weight",
}

_NEEDED = (
    "vocab_size",
    "hidden_size",
    "num_attention_heads",
    "num_hidden_layers",
    "intermediate_size",
    "max_position_embeddings",
    "rms_norm_eps",
)
_SUPPORTED = {
    "model_type": "llama",
    "hidden_act": "silu",
    "attention_bias": False,
    "mlp_bias": False,
}


def config_from_llama(settings: Mapping[str, Any]) -> DecoderOnlyConfig:
    """The configuration that `settings`, the `config.json` of a Llama checkpoint, describes.

    Raises:
        ValueError: a setting that the book's model has no part for, or one that is missing.
    """
    for name in _NEEDED:
        if name not in settings:
            raise ValueError(f"The settings of the Llama model lack {name!r}.")
    settings = without_harmless(settings)
    rope = dict(settings.pop("rope_parameters", None) or {})
    scaling = settings.pop("rope_scaling", None) or {}
    kinds = {rope.pop("rope_type", None), scaling.get("rope_type"), scaling.get("type")}
    base = rope.pop("rope_theta", None) or settings.pop("rope_theta", 10000.0)
    other = sorted(kinds - {None, "default"})
    if other or rope:
        raise ValueError(
            f"The Llama model stretches its rotary positions ({', '.join(other + sorted(rope))}), "
            "for which the book's model has no part."
        )
    for name, supported in _SUPPORTED.items():
        value = settings.pop(name, supported)
        if value != supported:
            raise ValueError(
                f"The Llama model has {name} = {value!r}, but the book's model only knows "
                f"{supported!r}."
            )
    config = todays(
        vocab_size=settings.pop("vocab_size"),
        d_model=settings.pop("hidden_size"),
        n_heads=settings.pop("num_attention_heads"),
        n_kv_heads=settings.pop("num_key_value_heads", None),
        d_head=settings.pop("head_dim", None),
        n_layers=settings.pop("num_hidden_layers"),
        d_ff=settings.pop("intermediate_size"),
        max_length=max(settings.pop("max_position_embeddings") // 2, 1),
        dropout=0.0,
        attention_dropout=settings.pop("attention_dropout", 0.0),
        norm_eps=settings.pop("rms_norm_eps"),
        rotary_base=base,
        tie_embeddings=settings.pop("tie_word_embeddings", False),
        padding=None,
    )
    refuse_others(settings, "Llama")
    return config


def paired_by_halves(weight: Tensor, n_heads: int) -> Tensor:
    r"""The rows of a query or key weight whose heads pair neighbours, ordered for halves.

    $$\text{new row } m\tfrac{K}{2} + i \;=\; \text{old row } 2i + m, \qquad m \in \{0, 1\}$$

    in each head of $K$ rows. Rotary positions then turn the same pairs, features $i$ and $i + K/2$.

    Args:
        weight: `(H·K, D)`, or a bias `(H·K,)`.
        n_heads: H.

    Source: Su et al. (2024) pair neighbours; `transformers` pairs halves.
    """
    pairs = weight.unflatten(0, (n_heads, -1, 2))  # (H, K/2, 2, D)
    return pairs.transpose(1, 2).flatten(0, 2)  # (H·K, D)


def weights_from_llama(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a Llama checkpoint under the book's names; no number changes.

    Raises:
        ValueError: a name that is not known.
    """
    return {book_name(name): tensor for name, tensor in weights.items()}


def book_name(name: str) -> str:
    """What the book calls the weight that a Llama checkpoint calls `name`.

    A model without an output projection is saved without the prefix `model.`.
    """
    if name.partition(".")[0] in ("embed_tokens", "layers", "norm"):
        name = "model." + name
    found = re.fullmatch(r"model\.layers\.(\d+)\.(.+)", name)
    if found and found[2] in LAYER_NAMES:
        return f"layers.{found[1]}.{LAYER_NAMES[found[2]]}"
    if name in MODEL_NAMES:
        return MODEL_NAMES[name]
    raise ValueError(f"{name!r} is not a weight of a Llama model as the book knows it.")
