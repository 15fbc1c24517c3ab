"""Token embeddings and positions (chapters 4 and 5)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_book.support.arguments import (
    check_even,
    check_length,
    check_positive,
    check_tokens,
    check_width,
)


class TokenEmbedding(nn.Module):
    r"""Look up one learned vector per token id: $E(t) = \sqrt{d_{model}}\; W_t$.

    The entries of `weight` start at variance $1/d_{model}$ (so that the same matrix can serve as
    the output projection); the factor $\sqrt{d_{model}}$ brings the vectors to variance 1.

    Args:
        vocab_size: number of token ids, `V`.
        d_model: width of the vectors, `D`.
        scale: multiply by √D.

    Shapes: tokens `(B, T)`, whole numbers in `0 … V-1` → `(B, T, D)`.

    Raises:
        ValueError: for an id outside the vocabulary, an empty batch, or a batch without two axes.

    Source: Vaswani et al. (2017), section 3.4.
    """

    def __init__(self, vocab_size: int, d_model: int, *, scale: bool = True) -> None:
        super().__init__()
        check_positive(vocab_size=vocab_size, d_model=d_model)
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model) * d_model**-0.5)
        self.scale = math.sqrt(d_model) if scale else 1.0

    def forward(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        check_tokens(tokens, self.weight.size(0))
        return F.embedding(tokens, self.weight) * self.scale  # (B, T, D)


def sinusoids(length: int, d_model: int, dtype: torch.dtype | None = None) -> Float[Tensor, "T D"]:
    r"""The table of sinusoidal positions.

    $$PE_{p,2i} = \sin(p / 10000^{2i/d_{model}}), \qquad
      PE_{p,2i+1} = \cos(p / 10000^{2i/d_{model}})$$

    Computed on the CPU in double precision (large positions lose digits otherwise) and returned as
    `dtype`, by default torch's default type.

    Raises:
        ValueError: if `d_model` is odd, since sines and cosines come in pairs.

    Source: Vaswani et al. (2017), section 3.5.
    """
    check_positive(length=length, d_model=d_model)
    check_even("A table of sinusoids", d_model)
    exact, cpu = torch.float64, torch.device("cpu")
    position = torch.arange(length, dtype=exact, device=cpu)[:, None]  # (T, 1)
    exponent = torch.arange(0, d_model, 2, dtype=exact, device=cpu) / d_model  # (D/2,)
    angle = position / 10000**exponent  # (T, D/2)
    table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)  # (T, D), interleaved
    return table.to(dtype or torch.get_default_dtype())


class SinusoidalPositions(nn.Module):
    r"""Add the fixed table of `sinusoids`: $x_p + PE_p$.

    Args:
        d_model: width of the vectors, `D`; even.
        max_length: number of rows of the table.

    Shapes: `(B, T, D)` → `(B, T, D)`. `start` is the position of the first vector (chapter 17
    decodes one token at a time and needs the row of that token, not row 0).

    Raises:
        ValueError: if `d_model` is odd, or the sequence ends beyond `max_length`.
    """

    def __init__(self, d_model: int, max_length: int = 1024) -> None:
        super().__init__()
        # Not a buffer: converted along with the model it would lose digits for good.
        self.table = sinusoids(max_length, d_model)

    def forward(self, x: Float[Tensor, "B T D"], start: int = 0) -> Float[Tensor, "B T D"]:
        end = start + x.size(1)
        check_length(end, len(self.table))
        check_width("The sequence", x, self.table.size(1))
        return x + self.rows_for(x)[start:end]  # (B, T, D)

    def rows_for(self, x: Float[Tensor, "B T D"]) -> Float[Tensor, "max_length D"]:
        """The table on the device and in the type of `x`, computed anew when either changes."""
        if (self.table.device, self.table.dtype) != (x.device, x.dtype):
            self.table = sinusoids(*self.table.shape, dtype=x.dtype).to(x.device)
        return self.table


class LearnedPositions(nn.Module):
    r"""Add one learned vector per position: $x_p + W_p$.

    Args, shapes and errors as for `SinusoidalPositions`; `d_model` may be odd. Positions beyond
    `max_length` do not exist, and positions that training never reached were never learned.

    Source: Gehring et al. (2017); Vaswani et al. (2017), section 3.5, compares both.
    """

    def __init__(self, d_model: int, max_length: int = 1024) -> None:
        super().__init__()
        check_positive(d_model=d_model, max_length=max_length)
        self.weight = nn.Parameter(torch.randn(max_length, d_model) * d_model**-0.5)

    def forward(self, x: Float[Tensor, "B T D"], start: int = 0) -> Float[Tensor, "B T D"]:
        end = start + x.size(1)
        check_length(end, self.weight.size(0))
        check_width("The sequence", x, self.weight.size(1))
        return x + self.weight[start:end]  # (B, T, D)


class NoPositions(nn.Module):
    """Add nothing: what remains of the model without any notion of order (an ablation)."""

    def __init__(self, d_model: int, max_length: int = 1024) -> None:
        super().__init__()
        self.max_length = max_length

    def forward(self, x: Float[Tensor, "B T D"], start: int = 0) -> Float[Tensor, "B T D"]:
        check_length(start + x.size(1), self.max_length)
        return x


POSITIONS = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions, "none": NoPositions}
