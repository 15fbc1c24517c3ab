"""Masks: boolean, True = may attend, broadcastable to (B, H, T, S) (chapter 8).

`torch.nn.functional.scaled_dot_product_attention` means the same; `nn.MultiheadAttention` and
`nn.Transformer` mean the opposite (True = may *not* attend).
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_book.support.arguments import check_positive, check_token_batch


def padding_mask(tokens: Int[Tensor, "B S"], padding: int = 0) -> Bool[Tensor, "B 1 1 S"]:
    r"""Every query may attend to every key that is a real token: $m_{bts} = [t_{bs} \neq pad]$.

    The two axes of size one stand for the heads and the queries: the same keys are hidden from all.
    """
    check_token_batch(tokens)
    return (tokens != padding)[:, None, None, :]  # (B, 1, 1, S)


def causal_mask(length: int, device: torch.device | str | None = None) -> Bool[Tensor, "T T"]:
    r"""Position i may attend to itself and to what came before: $m_{ij} = [j \le i]$."""
    check_positive(length=length)
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()  # (T, T)


def target_mask(tokens: Int[Tensor, "B T"], padding: int = 0) -> Bool[Tensor, "B 1 T T"]:
    """What a decoder's self-attention may see: real tokens that are not in the future."""
    return padding_mask(tokens, padding) & causal_mask(
        tokens.size(1), tokens.device
    )  # (B, 1, T, T)
