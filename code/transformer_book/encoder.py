"""The encoder: one layer, and the stack (chapter 12)."""

from __future__ import annotations

from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_book.arguments import check_positive
from transformer_book.attention import MultiHeadAttention
from transformer_book.layers import FeedForward, NoFeedForward, Residual, final_norm


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each in a `Residual`.

    Args:
        d_model: width of the vectors, `D`.
        n_heads: number of attention heads.
        d_ff: inner width of the feed-forward network.
        norm: `"pre"` or `"post"`.
        dropout: on each sublayer's output.
        attention_dropout: on the attention weights.
        activation_dropout: inside the feed-forward network.
        activation: `relu`, `gelu` or `groupsort`.
        bias: let projections and norms have a bias.
        score_scale: factor on the attention scores; `None` means one over the root of `d_head`.
        residual: keep the residual connections (`False` is an ablation).
        feed_forward: keep the feed-forward network (`False` is an ablation).

    Shapes: x `(B, S, D)`, mask broadcastable to `(B, H, S, S)` → `(B, S, D)`.

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
        self.self_attention = MultiHeadAttention(
            d_model, n_heads, dropout=attention_dropout, bias=bias, scale=score_scale
        )
        network = {"activation": activation, "dropout": activation_dropout, "bias": bias}
        self.feed_forward = (
            FeedForward(d_model, d_ff, **network) if feed_forward else NoFeedForward()
        )
        wrap = {"norm": norm, "dropout": dropout, "bias": bias, "residual": residual}
        self.attention_residual = Residual(d_model, **wrap)
        self.feed_forward_residual = Residual(d_model, **wrap)

    def forward(
        self, x: Float[Tensor, "B S D"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "B S D"]:
        x = self.attention_residual(x, lambda y: self.self_attention(y, y, y, mask))  # (B, S, D)
        return self.feed_forward_residual(x, self.feed_forward)  # (B, S, D)


class Encoder(nn.Module):
    """A stack of `n_layers` encoder layers, and a final norm if they are pre-norm.

    Args:
        n_layers: number of layers, each with weights of its own.
        d_model, n_heads, d_ff, norm, **options: as for `EncoderLayer`.

    Shapes: x `(B, S, D)`, mask broadcastable to `(B, H, S, S)` → memory `(B, S, D)`.
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
            EncoderLayer(d_model, n_heads, d_ff, norm=norm, bias=bias, **options)
            for _ in range(n_layers)
        )
        self.norm = final_norm(d_model, norm=norm, bias=bias)

    def forward(
        self, x: Float[Tensor, "B S D"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "B S D"]:
        for layer in self.layers:
            x = layer(x, mask)  # (B, S, D)
        return self.norm(x)
