"""Causal self-attention whose heads share keys and values, with its cache (chapter 25)."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_book.attention import scaled_dot_product_attention
from transformer_book.key_value_cache import KeysAndValues
from transformer_book.rotary import RotaryPositions
from transformer_book.support.arguments import (
    check_features,
    check_heads,
    check_mask,
    check_positive,
    check_probability,
)


class GroupedQueryAttention(nn.Module):
    r"""Self-attention in which G groups of query heads share a head of keys and values each.

    $$\mathrm{head}_h = \mathrm{Attention}(X W^Q_h,\; X W^K_{g(h)},\; X W^V_{g(h)}), \qquad
      g(h) = \lfloor h\, G / H \rfloor$$

    With G = H it is multi-head self-attention, with G = 1 multi-query attention. A cache holds
    2 · G · K numbers for each position and layer.

    Args:
        d_model: width of the vectors, `D`.
        n_heads: number of query heads, `H`.
        n_kv_heads: number of heads of keys and values, `G`; must divide `H`. `None`: H.
        d_head: width of a head, `K`; `None`: D / H.
        dropout: on the attention weights.
        bias: let the four projections have a bias.
        rotary: turns queries and keys by their positions; `None`: nothing does.

    Shapes: x `(B, T, D)`, mask broadcastable to `(B, H, T, S)`, `True` = may attend, positions
    `(T,)` or `(B, T)`, used by `rotary` only → `(B, T, D)`. S is T, or with a `kept` cache all
    positions so far.

    The weights of the last call stand in `weights` if `keep_weights` is set (`recorded_attention`);
    otherwise the fused kernel is used.

    Raises:
        ValueError: if `n_kv_heads` does not divide `n_heads`, or `n_heads` not `d_model` where
            `d_head` is `None`; for inputs of another width; for a mask of the wrong type or shape.

    Source: Ainslie et al. (2023), GQA; Shazeer (2019), multi-query attention.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        n_kv_heads: int | None = None,
        *,
        d_head: int | None = None,
        dropout: float = 0.0,
        bias: bool = False,
        rotary: RotaryPositions | None = None,
    ) -> None:
        super().__init__()
        n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        check_positive(n_kv_heads=n_kv_heads)
        if d_head is None:
            check_heads(d_model, n_heads)
            d_head = d_model // n_heads
        check_positive(d_model=d_model, n_heads=n_heads, d_head=d_head)
        check_groups(n_heads, n_kv_heads)
        check_probability(dropout=dropout)
        self.n_heads, self.n_kv_heads, self.d_head = n_heads, n_kv_heads, d_head
        self.dropout, self.rotary = dropout, rotary
        self.query = nn.Linear(d_model, n_heads * d_head, bias=bias)
        self.key = nn.Linear(d_model, n_kv_heads * d_head, bias=bias)
        self.value = nn.Linear(d_model, n_kv_heads * d_head, bias=bias)
        self.output = nn.Linear(n_heads * d_head, d_model, bias=bias)
        self.keep_weights = False
        self.weights: Tensor | None = None

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "..."] | None = None,
        positions: Int[Tensor, "*batch T"] | None = None,
        kept: KeysAndValues | None = None,
    ) -> Float[Tensor, "B T D"]:
        check_features("The input", x, self.query.in_features)
        q = self.split_heads(self.query(x))  # (B, H, T, K)
        k = self.split_heads(self.key(x))  # (B, G, T, K)
        v = self.split_heads(self.value(x))  # (B, G, T, K)
        if self.rotary is not None:
            if positions is None:
                positions = torch.arange(x.size(1), device=x.device)  # (T,)
            q, k = self.rotary(q, positions), self.rotary(k, positions)
        if kept is not None:
            k, v = kept.extended(k, v)  # (B, G, S, K) each
        heads = self.attend(q, k, v, mask)  # (B, H, T, K)
        return self.output(heads.transpose(1, 2).flatten(-2))  # (B, T, H, K) → (B, T, D)

    def split_heads(self, x: Float[Tensor, "B T W"]) -> Float[Tensor, "B heads T K"]:
        """Cut each vector into slices of `K` and bring the heads before the positions."""
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)

    def attend(
        self,
        q: Float[Tensor, "B H T K"],
        k: Float[Tensor, "B G S K"],
        v: Float[Tensor, "B G S K"],
        mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "B H T K"]:
        """All heads at once, by the formula if the weights are asked for, else by the kernel."""
        dropout = self.dropout if self.training else 0.0
        if not self.keep_weights:
            self.weights = None
            check_mask(mask, (*q.shape[:-1], k.size(-2)))
            return F.scaled_dot_product_attention(q, k, v, mask, dropout, enable_gqa=True)
        k, v = self.shared(k), self.shared(v)  # (B, H, S, K) each
        heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
        self.weights = weights.detach()
        return heads

    def shared(self, x: Float[Tensor, "B G S K"]) -> Float[Tensor, "B H S K"]:
        """Each head of keys or values once for every query head of its group, side by side."""
        return x.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1)


def check_groups(n_heads: int, n_kv_heads: int) -> None:
    """Raise `ValueError` unless the query heads can be shared out among `n_kv_heads`."""
    if n_heads % n_kv_heads:
        raise ValueError(
            f"n_heads is {n_heads} and n_kv_heads {n_kv_heads}, but the query heads must be shared "
            "out evenly: n_kv_heads must divide n_heads."
        )
