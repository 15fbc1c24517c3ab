"""The decoder: one layer, and the stack (chapter 13)."""

from __future__ import annotations

from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_book.arguments import check_positive
from transformer_book.attention import MultiHeadAttention
from transformer_book.layers import FeedForward, NoFeedForward, Residual, final_norm


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention to the memory, then the feed-forward network.

    In cross-attention the queries come from the target, keys and values from the memory (the
    encoder's output). Arguments as for `EncoderLayer`.

    Shapes: x `(B, T, D)`, memory `(B, S, D)`, target mask broadcastable to `(B, H, T, T)`, memory
    mask broadcastable to `(B, H, T, S)` → `(B, T, D)`.

    Source: Vaswani et al. (2017), section 3.1.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        norm: str = "pre",
        dropout: float = 0.1,
        attention_dropout: float = 0.0,
        activation_dropout: float = 0.0,
        activation: str = "relu",
        bias: bool = True,
        score_scale: float | None = None,
        residual: bool = True,
        feed_forward: bool = True,
    ) -> None:
        super().__init__()
        attention = {"dropout": attention_dropout, "bias": bias, "scale": score_scale}
        self.self_attention = MultiHeadAttention(d_model, n_heads, **attention)
        self.cross_attention = MultiHeadAttention(d_model, n_heads, **attention)
        network = {"activation": activation, "dropout": activation_dropout, "bias": bias}
        self.feed_forward = (
            FeedForward(d_model, d_ff, **network) if feed_forward else NoFeedForward()
        )
        wrap = {"norm": norm, "dropout": dropout, "bias": bias, "residual": residual}
        self.self_residual = Residual(d_model, **wrap)
        self.cross_residual = Residual(d_model, **wrap)
        self.feed_forward_residual = Residual(d_model, **wrap)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        memory: Float[Tensor, "B S D"],
        target_mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "B T D"]:
        x = self.self_residual(x, lambda y: self.self_attention(y, y, y, target_mask))  # (B, T, D)
        x = self.cross_residual(
            x, lambda y: self.cross_attention(y, memory, memory, memory_mask)
        )  # (B, T, D)
        return self.feed_forward_residual(x, self.feed_forward)  # (B, T, D)


class Decoder(nn.Module):
    """A stack of `n_layers` decoder layers, and a final norm if they are pre-norm.

    Args:
        n_layers: number of layers, each with weights of its own.
        d_model, n_heads, d_ff, norm, **options: as for `EncoderLayer`.

    Shapes: as for `DecoderLayer`.
    """

    def __init__(
        self,
        n_layers: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        norm: str = "pre",
        bias: bool = True,
        **options: Any,
    ) -> None:
        super().__init__()
        check_positive(n_layers=n_layers)
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, n_heads, d_ff, norm=norm, bias=bias, **options)
            for _ in range(n_layers)
        )
        self.norm = final_norm(d_model, norm=norm, bias=bias)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        memory: Float[Tensor, "B S D"],
        target_mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "B T D"]:
        for layer in self.layers:
            x = layer(x, memory, target_mask, memory_mask)  # (B, T, D)
        return self.norm(x)
