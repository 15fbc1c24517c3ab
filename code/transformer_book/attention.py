"""Scaled dot-product attention and its multi-head form (chapters 6, 7 and 9)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_book.key_value_cache import KeysAndValues
from transformer_book.support.arguments import (
    check_features,
    check_heads,
    check_keys_and_values,
    check_mask,
    check_probability,
    check_scale,
)


def scaled_dot_product_attention(
    query: Float[Tensor, "*batch T K"],
    key: Float[Tensor, "*batch S K"],
    value: Float[Tensor, "*batch S K_v"],
    mask: Bool[Tensor, "..."] | None = None,
    dropout: float = 0.0,
    scale: float | None = None,
) -> tuple[Float[Tensor, "*batch T K_v"], Float[Tensor, "*batch T S"]]:
    r"""Attention: for each query, an average of the values, weighted by how well the keys match.

    $$\mathrm{Attention}(Q, K, V) = \mathrm{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right) V$$

    Args:
        query: `(…, T, K)`, one row per position that asks.
        key: `(…, S, K)`, one row per position that can be attended to.
        value: `(…, S, K_v)`, what each of these positions hands over.
        mask: boolean, `True` = may attend, broadcastable to `(…, T, S)`. A query that may attend
            to nothing gets weights and an output of zero, and sends back a gradient of zero.
        dropout: probability with which each weight is set to zero (and the others enlarged).
        scale: factor on the scores; `None` means 1/√K.

    Returns:
        The outputs `(…, T, K_v)` and the weights `(…, T, S)`; without dropout each row of weights
        sums to one, or to zero where nothing may be attended to.

    Raises:
        ValueError: if the mask is not boolean or does not broadcast to the scores.

    Source: Vaswani et al. (2017), section 3.2.1, equation 1.
    """
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    scores = (query * scale) @ key.transpose(-2, -1)  # (…, T, S)
    check_mask(mask, tuple(scores.shape))
    if mask is not None:
        # The lowest finite number, not -inf: a row of nothing but -inf would turn into NaN.
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)  # (…, T, S)
    weights = scores.softmax(dim=-1)  # (…, T, S)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)  # changes only rows with nothing to attend to
    weights = F.dropout(weights, dropout)  # (…, T, S)
    return weights @ value, weights  # (…, T, K_v)


def fused_attention(
    query: Float[Tensor, "*batch T K"],
    key: Float[Tensor, "*batch S K"],
    value: Float[Tensor, "*batch S K_v"],
    mask: Bool[Tensor, "..."] | None = None,
    dropout: float = 0.0,
    scale: float | None = None,
) -> tuple[Float[Tensor, "*batch T K_v"], None]:
    """The same outputs from PyTorch's fused kernel, which never writes the weights down.

    Arguments, outputs and errors as for `scaled_dot_product_attention`; no weights are returned.
    Source: Dao et al. (2022); `torch.nn.functional.scaled_dot_product_attention`. Chapter 23.
    """
    check_mask(mask, (*query.shape[:-1], key.size(-2)))
    output = F.scaled_dot_product_attention(query, key, value, mask, dropout, scale=scale)
    return output, None


class MultiHeadAttention(nn.Module):
    r"""Several attentions side by side, each in its own slice of `d_model`.

    $$\mathrm{head}_h = \mathrm{Attention}(Q W^Q_h,\; K W^K_h,\; V W^V_h), \qquad
      \mathrm{output} = [\mathrm{head}_1; \dots; \mathrm{head}_H]\, W^O$$

    Args:
        d_model: width of the vectors, `D`.
        n_heads: number of heads, `H`; must divide `d_model`. Each head is `K = D / H` wide, so the
            number of parameters does not depend on `H`.
        dropout: on the attention weights.
        bias: let the four projections have a bias.
        scale: factor on the scores; `None` means 1/√K.

    Shapes: query `(B, T, D)`, key and value `(B, S, D)`, mask broadcastable to `(B, H, T, S)`,
    `True` = may attend → `(B, T, D)`. What is `kept` of earlier positions stands before the new
    keys and values (chapter 17).

    The weights of the last call stand in `weights`, `(B, H, T, S)`, if `keep_weights` is set, as
    `recorded_attention` does for a whole model; otherwise the fused kernel is used.

    Raises:
        ValueError: if `n_heads` does not divide `d_model`, for inputs of another width, and for a
            mask of the wrong type or shape.

    Source: Vaswani et al. (2017), section 3.2.2.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        dropout: float = 0.0,
        bias: bool = True,
        scale: float | None = None,
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads)
        check_probability(dropout=dropout)
        check_scale(scale=scale)
        self.n_heads, self.dropout, self.scale = n_heads, dropout, scale
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.key = nn.Linear(d_model, d_model, bias=bias)
        self.value = nn.Linear(d_model, d_model, bias=bias)
        self.output = nn.Linear(d_model, d_model, bias=bias)
        self.keep_weights = False
        self.weights: Tensor | None = None

    def forward(
        self,
        query: Float[Tensor, "B T D"],
        key: Float[Tensor, "B S D"],
        value: Float[Tensor, "B S D"],
        mask: Bool[Tensor, "..."] | None = None,
        kept: KeysAndValues | None = None,
    ) -> Float[Tensor, "B T D"]:
        for name, x in (("query", query), ("key", key), ("value", value)):
            check_features(f"The {name}", x, self.query.in_features)
        check_keys_and_values(query, key, value)
        q = self.split_heads(self.query(query))  # (B, H, T, K)
        k, v = self.keys_and_values(key, value)  # (B, H, S, K) each
        if kept is not None:
            k, v = kept.extended(k, v)  # (B, H, S, K) each
        heads = self.attend(q, k, v, mask)  # (B, H, T, K)
        return self.output(self.merge_heads(heads))  # (B, T, D)

    def keys_and_values(
        self, key: Float[Tensor, "B S D"], value: Float[Tensor, "B S D"]
    ) -> tuple[Float[Tensor, "B H S K"], Float[Tensor, "B H S K"]]:
        """The projected keys and values of every head: what a cache keeps (chapter 17)."""
        return self.split_heads(self.key(key)), self.split_heads(self.value(value))

    def attend(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B H S K"],
        v: Float[Tensor, "B H S K"],
        mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "B H T K"]:
        """All heads at once, by the formula if the weights are asked for, else by the kernel."""
        attention = scaled_dot_product_attention if self.keep_weights else fused_attention
        dropout = self.dropout if self.training else 0.0
        heads, weights = attention(q, k, v, mask, dropout, self.scale)
        self.weights = None if weights is None else weights.detach()
        return heads

    def split_heads(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "B H T K"]:
        """Cut each vector into `H` slices and bring the heads before the positions."""
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (B, T, H, K) → (B, H, T, K)

    def merge_heads(self, heads: Float[Tensor, "B H T K"]) -> Float[Tensor, "B T D"]:
        """The inverse: positions first again, then the slices of each position side by side."""
        return heads.transpose(1, 2).flatten(-2)  # (B, T, H, K) → (B, T, D)


def keeps_weights(module: nn.Module) -> bool:
    """Whether its attribute `weights` is for attention weights (a parameter does not count)."""
    return "weights" in vars(module)


@contextmanager
def recorded_attention(model: nn.Module) -> Iterator[dict[str, nn.Module]]:
    """While this is open, every `MultiHeadAttention` inside `model` keeps its weights.

    So does every module of your own with an attribute `weights`, which its `forward` must set.

    Yields the modules by name; after a call of the model, `modules[name].weights` is the
    `(B, H, T, S)` of that call. On leaving, the weights stay readable until the next call.

        with recorded_attention(model) as modules:
            model(source, target)
        maps = {name: module.weights for name, module in modules.items()}
    """
    modules = {name: module for name, module in model.named_modules() if keeps_weights(module)}
    before = {name: getattr(module, "keep_weights", False) for name, module in modules.items()}
    try:
        for module in modules.values():
            module.keep_weights = True
        yield modules
    finally:
        for name, module in modules.items():
            module.keep_weights = before[name]
