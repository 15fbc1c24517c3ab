"""Quicker ways to what the model's formulas compute, for training on a processor (chapter 23)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

from torch import Tensor, nn

from transformer_book.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer_book.layers import fused_norms

_usual = MultiHeadAttention.attend


@contextmanager
def formula_for_short(model: nn.Module, length: int = 24) -> Iterator[None]:
    """While this is open, attention over at most `length` positions is computed by the formula.

    The fused kernel works block by block, and a short sentence does not fill a block. On a
    processor, in training, it is ahead from about 32 positions on; in decoding, with one query at
    a time, always. Classes and methods of your own are left as they are. Chapter 23.
    """
    modules = [
        m for m in model.modules() if type(m) is MultiHeadAttention and "attend" not in vars(m)
    ]
    if MultiHeadAttention.attend is not _usual:  # someone has put another in its place
        modules = []
    try:
        for module in modules:
            module.attend = partial(_attend_short, module, length)
        yield
    finally:
        for module in modules:
            del module.attend


def _attend_short(
    module: MultiHeadAttention, length: int, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None
) -> Tensor:
    """`MultiHeadAttention.attend`, by the formula if no more than `length` positions meet."""
    if module.keep_weights or max(q.size(-2), k.size(-2)) > length:
        return _usual(module, q, k, v, mask)
    dropout = module.dropout if module.training else 0.0
    heads, _ = scaled_dot_product_attention(q, k, v, mask, dropout, module.scale)
    module.weights = None
    return heads


@contextmanager
def quick_kernels(model: nn.Module) -> Iterator[None]:
    """While this is open, norms and attentions are computed in the ways that are quick in training.

    The results are those of the formulas but for rounding.
    """
    with fused_norms(model), ExitStack() as stack:
        if next(model.parameters()).device.type == "cpu":
            stack.enter_context(formula_for_short(model))
        yield
