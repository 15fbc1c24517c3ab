"""The loss that training lowers, and the learning rate it is lowered with (chapter 15)."""

from __future__ import annotations

import math

from jaxtyping import Float, Int
from torch import Tensor

from transformer_book.support.arguments import (
    check_choice,
    check_positive,
    check_probability,
    check_tokens,
)
from transformer_book.tokens import PAD


def label_smoothed_loss(
    logits: Float[Tensor, "B T V"],
    target: Int[Tensor, "B T"],
    smoothing: float = 0.0,
    padding: int = PAD,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    r"""The mean over all real tokens of the cross-entropy with smoothed labels, in nats.

    With $p$ the softmax of the logits and $y$ the right token, each token costs

    $$(1 - \varepsilon)\,(-\log p_y) \;+\; \frac{\varepsilon}{V} \sum_{v} (-\log p_v) .$$

    Padding costs nothing and is not counted. This is PyTorch's definition
    (`F.cross_entropy(..., label_smoothing=ε)`): ε is shared out among all V tokens, the right one
    included. Others share it among the V − 1 wrong ones.

    Args:
        logits: `(B, T, V)`.
        target: `(B, T)`, what row t should say: `batch.target_out`.
        smoothing: ε, at least 0 and below 1.
        padding: the id that is not counted.

    Returns:
        The loss, and its first part without smoothing (ε = 0), the negative log-likelihood per
        token, whose exponential is the perplexity. It carries no gradient.

    Raises:
        ValueError: if logits and target do not fit, a token lies outside the vocabulary, there is
            nothing but padding, or `smoothing` is out of range.

    Source: Szegedy et al. (2016), section 7; Vaswani et al. (2017), section 5.4.
    """
    check_probability(smoothing=smoothing)
    if logits.dim() != 3 or logits.shape[:2] != target.shape:
        raise ValueError(
            f"The logits have shape {tuple(logits.shape)} and the target {tuple(target.shape)}, "
            "but they must be (batch, length, vocabulary) and (batch, length)."
        )
    real = target != padding  # (B, T)
    if not real.any():
        raise ValueError("The target holds nothing but padding: there is no token to predict.")
    right = target.masked_fill(~real, 0)  # (B, T): padding may be any number, such as -100
    check_tokens(right, logits.size(-1))
    log_p = logits.log_softmax(dim=-1)  # (B, T, V)
    # Padding is left out last: taking rows out of (B, T, V) would cost as much as the softmax.
    nll = -log_p.gather(2, right[..., None]).squeeze(2)[real].mean()
    loss = nll
    if smoothing:
        spread = -log_p.mean(dim=-1)[real].mean()
        loss = (1 - smoothing) * nll + smoothing * spread
    return loss, nll.detach()


SCHEDULES = ("constant", "inverse_sqrt", "linear", "cosine")


def learning_rate(
    update: int,
    *,
    peak: float,
    schedule: str = "inverse_sqrt",
    warmup: int = 0,
    updates: int | None = None,
) -> float:
    r"""The learning rate of update number `update`, counted from 1.

    During the first `warmup` updates $w$ it rises in equal steps to the peak: update $n$ has
    $\text{peak} \cdot n / w$, so that the very first update already moves. Afterwards

    * `"constant"`: it stays at the peak;
    * `"inverse_sqrt"`: $\text{peak} \cdot \sqrt{w / n}$, the schedule of the 2017 paper, whose
      peak is $1 / \sqrt{d_{model}\, w}$;
    * `"linear"`: it falls in equal steps and would be zero one update after the last;
    * `"cosine"`: it falls along half a wave, slowly at both ends, to the same zero.

    Args:
        update: from 1.
        peak: the highest learning rate.
        schedule: one of `SCHEDULES`.
        warmup: number of updates of the rise; 0 for none.
        updates: number of updates in all; needed by `"linear"` and `"cosine"` only.

    Raises:
        ValueError: for an unknown schedule, a peak that is not positive, or numbers out of range.

    Source: Vaswani et al. (2017), section 5.3, equation 3; Loshchilov & Hutter (2017), equation 5,
    for the cosine.
    """
    check_positive(update=update)
    check_choice("schedule", schedule, SCHEDULES)
    if not 0 < peak < math.inf:
        raise ValueError(f"The peak is {peak!r}, but it must be a positive number.")
    if warmup < 0:
        raise ValueError(f"warmup is {warmup!r}, but it must be at least 0 updates.")
    if update <= warmup:
        return peak * (update / warmup)  # in this order: the last one is the peak exactly
    if schedule == "inverse_sqrt":
        return peak * math.sqrt(max(warmup, 1) / update)
    if schedule == "constant":
        return peak
    if updates is None or updates < update:
        raise ValueError(
            f"updates is {updates}, but this is update {update}: the schedule {schedule!r} must "
            "know how many there will be."
        )
    left = (updates + 1 - update) / (updates + 1 - warmup)  # of the fall: from 1 down to 0
    return peak * left if schedule == "linear" else peak * (1 - math.cos(math.pi * left)) / 2
