"""The decoder: one layer, and the stack (chapter 13)."""

from __future__ import annotations

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_book.attention import MultiHeadAttention
from transformer_book.layers import LayerConfig, final_norm, make_feed_forward, make_residual
from transformer_book.support.arguments import check_positive


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention to the memory, then the feed-forward network.

    In cross-attention the queries come from the target, keys and values from the memory (the
    encoder's output). Arguments as for an `EncoderLayer`.

    Shapes: x `(B, T, D)`, memory `(B, S, D)`, target mask broadcastable to `(B, H, T, T)`, memory
    mask broadcastable to `(B, H, T, S)` → `(B, T, D)`.

    Source: Vaswani et al. (2017), section 3.1.
    """

    def __init__(self, config: LayerConfig) -> None:
        super().__init__()
        attention = {"dropout": config.attention_dropout, "scale": config.score_scale}
        attention["bias"] = config.bias
        self.self_attention = MultiHeadAttention(config.d_model, config.n_heads, **attention)
        self.cross_attention = MultiHeadAttention(config.d_model, config.n_heads, **attention)
        self.feed_forward = make_feed_forward(config)
        self.self_residual = make_residual(config)
        self.cross_residual = make_residual(config)
        self.feed_forward_residual = make_residual(config)

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
        config: of every layer.

    Shapes: as for `DecoderLayer`.
    """

    def __init__(self, n_layers: int, config: LayerConfig) -> None:
        super().__init__()
        check_positive(n_layers=n_layers)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(n_layers))
        self.norm = final_norm(config)

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
