"""RMSNorm: a layer norm that neither centres nor shifts (chapter 25)."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_book.support.arguments import check_positive, check_width


class RMSNorm(nn.Module):
    r"""Divide each vector by the root of the mean of its squares, then scale.

    $$y = \gamma \, \frac{x}{\sqrt{\tfrac1D \sum_d x_d^2 + \varepsilon}}$$

    Args:
        d_model: width of the vectors, `D`.
        eps: ε, inside the root.

    Shapes: `(…, D)` → `(…, D)`.

    Source: Zhang and Sennrich (2019).
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5) -> None:
        super().__init__()
        check_positive(d_model=d_model)
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        check_width("The input of RMSNorm", x, len(self.weight))
        mean_square = x.square().mean(dim=-1, keepdim=True)  # (…, 1)
        return self.weight * x * torch.rsqrt(mean_square + self.eps)  # (…, D)
