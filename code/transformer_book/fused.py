"""Quicker ways to what the model's formulas compute, for training on a processor (chapter 23)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from transformer_book.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer_book.layers import fused_norms
from transformer_book.support.arguments import check_probability, check_tokens
from transformer_book.support.parts import is_changed
from transformer_book.tokens import PAD


@contextmanager
def formula_for_short(model: nn.Module, length: int = 24) -> Iterator[None]:
    """While this is open, attention over at most `length` positions is computed by the formula.

    The fused kernel works block by block, and a short sentence does not fill a block. What that is
    worth in training is measured by `make benchmarks`; chapter 23 lets you measure from which
    length on the kernel is ahead on your processor. Classes and methods of your own are left as
    they are.
    """
    modules = [
        m for m in model.modules() if type(m) is MultiHeadAttention and not is_changed(m, "attend")
    ]
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
        return MultiHeadAttention.attend(module, q, k, v, mask)
    dropout = module.dropout if module.training else 0.0
    heads, _ = scaled_dot_product_attention(q, k, v, mask, dropout, module.scale)
    module.weights = None
    return heads


@contextmanager
def fused_kernels(model: nn.Module) -> Iterator[None]:
    """While this is open, norms and attentions are computed in the ways that train fastest.

    The results are those of the formulas but for rounding.
    """
    with fused_norms(model), ExitStack() as stack:
        if next(model.parameters()).device.type == "cpu":
            stack.enter_context(formula_for_short(model))
        yield


def projected_loss(
    vectors: Float[Tensor, "B T D"],
    output: nn.Linear,
    target: Int[Tensor, "B T"],
    smoothing: float = 0.0,
    padding: int = PAD,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    r"""`label_smoothed_loss(output(vectors), target, smoothing, padding)`, faster (chapter 23).

    All logits of a batch do not fit into a processor's cache. Projection, softmax and loss would
    each carry them to main memory and back, and so would their gradients. Here a slice of
    positions is projected, its loss taken, and the gradients of vectors and weights computed at
    once, while its logits are still in the cache; then they are forgotten. Padding is not even
    projected. The values are the same but for rounding.

    Args:
        vectors: `(B, T, D)`, what the decoder made.
        output: the projection to the vocabulary.
        target, smoothing, padding: as for `label_smoothed_loss`.

    Returns:
        The loss and the negative log-likelihood, as `label_smoothed_loss`. The loss can be
        differentiated once.

    Raises:
        ValueError: as `label_smoothed_loss`.

    Source: Wijmans et al. (2025), Cut your losses in large-vocabulary language models; Hsu et al.
        (2024), Liger kernel. Both do the same on a GPU.
    """
    check_probability(smoothing=smoothing)
    fits = vectors.dim() == 3 and vectors.size(-1) == output.in_features
    if not fits or vectors.shape[:2] != target.shape:
        raise ValueError(
            f"The vectors have shape {tuple(vectors.shape)} and the target {tuple(target.shape)}, "
            f"but they must be (batch, length, {output.in_features}) and (batch, length)."
        )
    places = (target != padding).flatten().nonzero().squeeze(1)  # (N,)
    if not len(places):
        raise ValueError("The target holds nothing but padding: there is no token to predict.")
    right = target.flatten()[places]  # (N,)
    check_tokens(right[None], output.out_features)
    return _ProjectedLoss.apply(vectors, output.weight, output.bias, places, right, smoothing)


class _ProjectedLoss(torch.autograd.Function):
    """The mean loss at `places`, whose gradients are ready when it is."""

    SLICE = 3_000_000  # logits, 12 MB in single precision: half of a typical last-level cache

    @staticmethod
    def forward(ctx, vectors, weight, bias, places, right, smoothing):
        x = vectors.flatten(0, 1)[places]  # (N, D)
        V, N, wanted = weight.size(0), len(places), any(ctx.needs_input_grad)
        d_x = torch.empty_like(x) if wanted else None
        d_weight = torch.zeros_like(weight) if wanted else None
        d_bias = torch.zeros_like(bias) if wanted and bias is not None else None
        loss = nll = torch.zeros((), dtype=torch.float64, device=x.device)
        size = max(1, _ProjectedLoss.SLICE // V)
        for rows in (slice(i, i + size) for i in range(0, N, size)):
            logits = F.linear(x[rows], weight, bias)  # (n, V)
            y = right[rows, None]  # (n, 1)
            p = logits.softmax(dim=-1)  # (n, V)
            # The most likely token's p is never rounded to 0, so that its logarithm is finite.
            total = logits.amax(dim=-1) - p.amax(dim=-1).log()  # (n,): log Σ exp(logits)
            cost = total - logits.gather(1, y).squeeze(1)  # (n,)
            nll = nll + cost.sum(dtype=torch.float64)
            if smoothing:
                cost = (1 - smoothing) * cost + smoothing * (total - logits.mean(dim=-1))
            loss = loss + cost.sum(dtype=torch.float64)
            if wanted:  # d cost / d logits = p − the smoothed labels
                d_logits = p.sub_(smoothing / V) if smoothing else p  # (n, V)
                d_logits.scatter_add_(1, y, d_logits.new_full((1, 1), smoothing - 1).expand_as(y))
                torch.mm(d_logits, weight, out=d_x[rows])
                d_weight.addmm_(d_logits.t(), x[rows])
                if d_bias is not None:
                    d_bias += d_logits.sum(dim=0)
        if wanted:
            ctx.save_for_backward(d_x, d_weight, d_bias, places)
            ctx.shape = vectors.shape
        nll = (nll / N).to(x.dtype)
        ctx.mark_non_differentiable(nll)
        return (loss / N).to(x.dtype), nll

    @staticmethod
    @once_differentiable
    def backward(ctx, d_loss, _):
        d_x, d_weight, d_bias, places = ctx.saved_tensors
        each = d_loss / len(places)
        d_vectors = d_x.new_zeros(ctx.shape)
        d_vectors.flatten(0, 1)[places] = d_x * each
        d_bias = None if d_bias is None else d_bias * each
        return d_vectors, d_weight * each, d_bias, None, None, None
