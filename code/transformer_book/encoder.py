"""The encoder: one layer, and the stack (chapter 12)."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_book.attention import MultiHeadAttention
from transformer_book.layers import LayerConfig, final_norm, make_feed_forward, make_residual
from transformer_book.support.arguments import check_positive


class EncoderLayer(nn.Module):
    """Self-attention, then the feed-forward network, each in a `Residual`.

    Args:
        config: see `LayerConfig`.

    Shapes: x `(B, S, D)`, mask broadcastable to `(B, H, S, S)` → `(B, S, D)`.

    Source: Vaswani et al. (2017), section 3.1.
    """

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        self.self_attention = MultiHeadAttention(
            config.d_model,
            config.n_heads,
            dropout=config.attention_dropout,
            bias=config.bias,
            scale=config.score_scale,
        )
        self.feed_forward = make_feed_forward(config)
        self.attention_residual = make_residual(config)
        self.feed_forward_residual = make_residual(config)

    def forward(
        self, x: Float[Tensor, "B S D"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "B S D"]:
        x = self.attention_residual(x, lambda y: self.self_attention(y, y, y, mask))  # (B, S, D)
        return self.feed_forward_residual(x, self.feed_forward)  # (B, S, D)


class Encoder(nn.Module):
    """A stack of `n_layers` encoder layers, and a final norm if they are pre-norm.

    Args:
        n_layers: number of layers, each with weights of its own.
        config: of every layer.

    Shapes: x `(B, S, D)`, mask broadcastable to `(B, H, S, S)` → memory `(B, S, D)`.
    """

    def __init__(self, n_layers: int, config: LayerConfig) -> None:
        super().__init__()
        check_positive(n_layers=n_layers)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(n_layers))
        self.norm = final_norm(config)

    def forward(
        self, x: Float[Tensor, "B S D"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "B S D"]:
        for layer in self.layers:
            x = layer(x, mask)  # (B, S, D)
        return self.norm(x)
