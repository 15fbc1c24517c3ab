"""SwiGLU: a feed-forward network in which a gate opens and closes each feature (chapter 25)."""

from __future__ import annotations

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from transformer_book.support.arguments import check_positive, check_probability


class SwiGLU(nn.Module):
    r"""The same gated network at every position.

    $$\bigl(\mathrm{silu}(x W_g) \odot x W_v\bigr) W_o, \qquad
      \mathrm{silu}(z) = \frac{z}{1 + e^{-z}}$$

    It has three matrices where `FeedForward` has two: with two thirds of the width it has as many
    parameters.

    Args:
        d_model: width of the vectors, `D`.
        d_ff: width in between, `F`.
        dropout: on the gated features.
        bias: let the three layers have a bias; today's models have none.

    Shapes: `(…, D)` → `(…, D)`.

    Source: Shazeer (2020), GLU variants improve Transformer, equation 6.
    """

    def __init__(
        self, d_model: int, d_ff: int, *, dropout: float = 0.0, bias: bool = False
    ) -> None:
        super().__init__()
        check_positive(d_model=d_model, d_ff=d_ff)
        check_probability(dropout=dropout)
        self.gate = nn.Linear(d_model, d_ff, bias=bias)
        self.value = nn.Linear(d_model, d_ff, bias=bias)
        self.output = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        hidden = F.silu(self.gate(x)) * self.value(x)  # (…, F)
        return self.output(self.dropout(hidden))  # (…, D)
