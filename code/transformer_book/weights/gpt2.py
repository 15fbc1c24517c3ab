"""The book's decoder-only model as GPT-2: other names, stacked and transposed (chapter 28)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jaxtyping import Float
from torch import Tensor

from transformer_book.decoder_only import DecoderOnlyConfig
from transformer_book.support.harmless_settings import refuse_others, without_harmless

# Of the whole model, then of one layer: the name in a GPT-2 checkpoint, and the book's.
MODEL_NAMES = {
    "wte.weight": "embedding.weight",
    "wpe.weight": "positions.weight",
    "ln_f.weight": "norm.weight",
    "ln_f.bias": "norm.bias",
    "lm_head.weight": "output.weight",
}
LAYER_NAMES = {
    "ln_1.weight": "attention_norm.weight",
    "ln_1.bias": "attention_norm.bias",
    "attn.c_proj.weight": "self_attention.output.weight",
    "attn.c_proj.bias": "self_attention.output.bias",
    "ln_2.weight": "feed_forward_norm.weight",
    "ln_2.bias": "feed_forward_norm.bias",
    "mlp.c_fc.weight": "feed_forward.linear1.weight",
    "mlp.c_fc.bias": "feed_forward.linear1.bias",
    "mlp.c_proj.weight": "feed_forward.linear2.weight",
    "mlp.c_proj.bias": "feed_forward.linear2.bias",
}
STACKED = ("attn.c_attn.weight", "attn.c_attn.bias")
# Causal masks: some files hold them, and nothing was learned in them.
BUFFERS = ("attn.bias", "attn.masked_bias")

_ACTIVATIONS = {
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu": "gelu",
    "relu": "relu",
}
_NEEDED = ("vocab_size", "n_positions", "n_embd", "n_layer", "n_head")
_SUPPORTED = {
    "model_type": "gpt2",
    "scale_attn_weights": True,
    "scale_attn_by_inverse_layer_idx": False,
    "add_cross_attention": False,
}


def config_from_gpt2(settings: Mapping[str, Any]) -> DecoderOnlyConfig:
    """The configuration that `settings`, the `config.json` of a GPT-2 checkpoint, describes.

    Raises:
        ValueError: a setting that the book's model has no part for, or one that is missing.

    Source: Radford et al. (2019), section 2.3.
    """
    for name in _NEEDED:
        if name not in settings:
            raise ValueError(f"The settings of the GPT-2 model lack {name!r}.")
    settings = without_harmless(settings)
    for name, supported in _SUPPORTED.items():
        value = settings.pop(name, supported)
        if value != supported:
            raise ValueError(
                f"The GPT-2 model has {name} = {value!r}, but the book's model only knows "
                f"{supported!r}."
            )
    activation = settings.pop("activation_function", "gelu_new")
    if activation not in _ACTIVATIONS:
        raise ValueError(
            f"The GPT-2 model has activation_function = {activation!r}, but the book's model only "
            f"knows {', '.join(map(repr, _ACTIVATIONS))}."
        )
    length, width = settings.pop("n_positions"), settings.pop("n_embd")
    if settings.pop("n_ctx", length) != length:
        raise ValueError("The GPT-2 model has an n_ctx that is not its n_positions.")
    if length % 2:
        raise ValueError(
            f"The GPT-2 model has n_positions = {length}, but the book's model needs an even "
            "number: source and target have half of them each."
        )
    config = DecoderOnlyConfig(
        vocab_size=settings.pop("vocab_size"),
        d_model=width,
        n_heads=settings.pop("n_head"),
        n_layers=settings.pop("n_layer"),
        d_ff=settings.pop("n_inner", None) or 4 * width,
        max_length=length // 2,
        dropout=settings.pop("resid_pdrop", 0.1),
        attention_dropout=settings.pop("attn_pdrop", 0.1),
        norm_eps=settings.pop("layer_norm_epsilon", 1e-5),
        positions="learned",
        activation=_ACTIVATIONS[activation],
        tie_embeddings=settings.pop("tie_word_embeddings", True),
        scale_embeddings=False,
        padding=None,
    )
    settings.pop("embd_pdrop", None)  # the book's has one rate for embeddings and sublayers
    refuse_others(settings, "GPT-2")
    return config


def weights_from_gpt2(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The weights of a GPT-2 checkpoint under the book's names, cut and transposed as needed.

    Raises:
        ValueError: a name that is not known; a stacked matrix or bias without its other half.
    """
    named = {name.removeprefix("transformer."): tensor for name, tensor in weights.items()}
    found = {}
    for name, tensor in named.items():
        layer, part = _layer_and_part(name)
        if part in BUFFERS:
            continue
        if part in STACKED:
            weight, bias = (named.get(f"h.{layer}.{stacked}") for stacked in STACKED)
            if weight is None or bias is None:
                lacking = STACKED[weight is not None]
                raise ValueError(f"The GPT-2 checkpoint lacks the weight 'h.{layer}.{lacking}'.")
            if weight.dim() != 2 or weight.size(1) != 3 * weight.size(0):
                raise ValueError(
                    f"The GPT-2 checkpoint's 'h.{layer}.{STACKED[0]}' has shape "
                    f"{tuple(weight.shape)}, which is not (D, 3 D)."
                )
            parts = [
                (kind, own) for own in ("weight", "bias") for kind in ("query", "key", "value")
            ]
            for (kind, own), numbers in zip(parts, split_stacked(weight, bias), strict=True):
                found[f"layers.{layer}.self_attention.{kind}.{own}"] = numbers
        elif layer is None:
            found[MODEL_NAMES[name]] = tensor
        else:
            matrix = tensor.dim() == 2  # all matrices of a layer: (in, out) there, (out, in) here
            found[f"layers.{layer}.{LAYER_NAMES[part]}"] = tensor.T if matrix else tensor
    return found


def split_stacked(
    weight: Float[Tensor, "D stacked"], bias: Float[Tensor, "stacked"]
) -> tuple[Tensor, ...]:
    r"""Cut GPT-2's `c_attn` into the weights and the biases of queries, keys and values.

    $$X\,[A_Q \mid A_K \mid A_V] + [b_Q \mid b_K \mid b_V], \qquad W_Q = A_Q^\top, \dots$$

    GPT-2 multiplies from the right, `x @ weight`; `nn.Linear` with the transposed, `x @ weight.T`.

    Shapes: weight `(D, 3 D)`, bias `(3 D,)` → three weights `(D, D)` as `nn.Linear` has them, then
    three biases `(D,)`; both of queries, keys and values, in this order.

    Source: https://github.com/openai/gpt-2, `model.py`, `attn`.
    """
    weights = [columns.T for columns in weight.chunk(3, dim=1)]  # (D, D) each
    return (*weights, *bias.chunk(3))  # and (D,) each


def _layer_and_part(name: str) -> tuple[str | None, str]:
    """`h.3.ln_1.bias` is layer 3's `ln_1.bias`."""
    found = re.fullmatch(r"h\.(\d+)\.(.+)", name)
    if found and found[2] in (*LAYER_NAMES, *STACKED, *BUFFERS):
        return found[1], found[2]
    if name in MODEL_NAMES:
        return None, name
    raise ValueError(f"{name!r} is not a weight of a GPT-2 model as the book knows it.")
