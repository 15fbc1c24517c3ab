"""Which tokens a draw may choose: top-k, top-p (nucleus) and min-p (chapters 17 and 27)."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_book.arguments import check_positive, is_number

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
