"""How a token is drawn: temperature, top-k, top-p (nucleus) and min-p (chapters 17 and 27)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_book.support.arguments import check_positive, is_number

INFINITY = float("inf")


def keep_top_k(logits: Float[Tensor, "*batch V"], top_k: int) -> Float[Tensor, "*batch V"]:
    """The k largest logits of each row as they are, and the others −∞; of equal ones the first.

    A `top_k` larger than the row leaves it as it is.

    Raises:
        ValueError: for a `top_k` that is not a whole number above 0.

    Source: Fan et al. (2018).
    """
    check_positive(top_k=top_k)
    best = logits.sort(dim=-1, descending=True, stable=True).indices[..., :top_k]  # (…, k)
    kept = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, best, True)  # (…, V)
    return logits.masked_fill(~kept, -INFINITY)


def keep_top_p(logits: Float[Tensor, "*batch V"], top_p: float) -> Float[Tensor, "*batch V"]:
    r"""The nucleus of each row: the fewest likeliest tokens whose probabilities reach `top_p`.

    A token stays if those that are likelier sum to less than `top_p`. So the one that crosses the
    line is in, and at least one always is.

    Raises:
        ValueError: for a `top_p` that is not above 0 and at most 1.

    Source: Holtzman et al. (2020).
    """
    if not is_number(top_p) or not 0 < top_p <= 1:
        raise ValueError(f"top_p is {top_p!r}, but it must be a number above 0, and at most 1.")
    if top_p == 1:
        return logits  # sums are rounded: they may reach 1 before the last token
    p, order = logits.softmax(dim=-1).sort(dim=-1, descending=True, stable=True)  # (…, V) each
    likelier = p.cumsum(dim=-1) - p  # (…, V): how much stands before each
    kept = torch.zeros_like(likelier, dtype=torch.bool).scatter(-1, order, likelier < top_p)
    return logits.masked_fill(~kept, -INFINITY)


def keep_min_p(logits: Float[Tensor, "*batch V"], min_p: float) -> Float[Tensor, "*batch V"]:
    r"""The tokens that are at least `min_p` times as likely as the likeliest of their row.

    Where the model is sure, few stay; where it is not, many do.

    Raises:
        ValueError: for a `min_p` that is not from 0 to 1.

    Source: Nguyen et al. (2024).
    """
    if not is_number(min_p) or not 0 <= min_p <= 1:
        raise ValueError(f"min_p is {min_p!r}, but it must be a number from 0 to 1.")
    p = logits.softmax(dim=-1)  # (…, V)
    return logits.masked_fill(p < min_p * p.amax(dim=-1, keepdim=True), -INFINITY)


@dataclass(frozen=True)
class Drawing:
    r"""How tokens are drawn at random: $p_i \propto \exp(\text{logit}_i / \tau)$ among those kept.

    Attributes:
        temperature: τ; below 1 the probable gets more probable, towards 0 it is certain.
        top_k, top_p, min_p: draw among those only that `keep_top_k`, and then at this temperature
            `keep_top_p` and `keep_min_p`, keep; `None`: among all.

    Raises:
        ValueError: for a temperature that is not a number above 0, a `top_k` that is not a whole
            number above 0, a `top_p` or `min_p` out of range.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None

    def __post_init__(self) -> None:
        if not is_number(self.temperature) or self.temperature <= 0:
            raise ValueError(
                f"temperature is {self.temperature!r}, but it must be a number above 0; for the "
                "most probable token at each step leave it out."
            )
        self.kept(torch.zeros(1))  # says at once what is wrong with the others

    @classmethod
    def asked(cls, temperature: float | None = None, **cuts: Any) -> Drawing | None:
        """A drawing if any of its four numbers is given; `None`: nothing is to be random."""
        if temperature is None and all(cut is None for cut in cuts.values()):
            return None
        return cls(1.0 if temperature is None else temperature, **cuts)

    def kept(self, logits: Float[Tensor, "*batch V"]) -> Float[Tensor, "*batch V"]:
        """The logits at this temperature; −∞ for the tokens that are not drawn."""
        if self.top_k is not None:
            logits = keep_top_k(logits, self.top_k)  # (…, V)
        # An extreme temperature would leave the range of the floating-point type.
        limits = torch.finfo(logits.dtype)
        logits = logits - logits.amax(dim=-1, keepdim=True)  # (…, V), the largest is 0
        logits = logits / min(max(self.temperature, limits.tiny), limits.max)
        if self.top_p is not None:
            logits = keep_top_p(logits, self.top_p)
        return logits if self.min_p is None else keep_min_p(logits, self.min_p)

    def draw(
        self, logits: Float[Tensor, "N V"], generator: torch.Generator | None = None
    ) -> Int[Tensor, "N"]:
        """One token for each row; the same state of the generator gives the same tokens."""
        return self.kept(logits).softmax(dim=-1).multinomial(1, generator=generator).squeeze(1)
