"""Softmax (chapter 7): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def shifted(scores: Tensor) -> Tensor:
    return scores - scores.amax(dim=-1, keepdim=True)


def softmax_cases() -> Sequence[Case]:
    return (
        Case("three scores", (torch.tensor([1.0, 1.0, 2.0]),)),
        Case("two rows of three", (torch.tensor([[0.0, 1.0, 2.0], [5.0, 5.0, 5.0]]),)),
        Case("negative scores", (torch.tensor([-3.0, -1.0, -2.0]),)),
        Case("random scores", (normal(2, 3, 4, seed=1),)),
        Case("a square of random scores", (normal(4, 4, seed=2),)),
        Case("two sentences of random scores", (normal(2, 4, 5, seed=3),)),
        Case("five sentences of random scores", (2 * normal(5, 2, 3, seed=4),)),
        Case(
            "scores near 1000",
            (torch.tensor([[1000.0, 1001.0], [1000.0, 1000.0]]),),
            rough=True,
        ),
        Case("scores near -1000", (torch.tensor([-1000.0, -1001.0]),), rough=True),
        Case(
            "large scores of several sizes",
            (torch.tensor([[500.0, 380.0, -880.0], [-500.0, 0.0, -110.0]]),),
        ),
        Case("a row far below another", (torch.tensor([[300.0, 301.0], [-300.0, -301.0]]),)),
        Case("another one", (torch.tensor([[0.0, 1.0, 2.0], [-400.0, -401.0, -399.0]]),)),
        Case("scores near -20000", (torch.tensor([-20000.0, -20050.0]),), rough=True),
        Case(
            "two sentences, two heads",
            (normal(2, 2, 3, 5, seed=5) + torch.tensor([[-300.0], [300.0], [0.0]]),),
        ),
        Case("one score", (torch.tensor([[3.0]]),)),
        Case("200 scores", (normal(2, 200, seed=7),)),
        Case("five axes, and zeros", (torch.tensor([[[[[0.0, -1.0], [0.0, 0.0]]]]]),)),
    )


SOFTMAX = Component(
    name="softmax",
    chapter=7,
    order=1,
    section="A softmax that survives large scores",
    signature="scores",
    pipeline=lambda s, scores: s.normalise(s.exponentials(s.shift(scores)), scores),
    steps={
        "shift": shifted,
        "exponentials": torch.exp,
        "normalise": lambda e, scores: e / e.sum(dim=-1, keepdim=True),
    },
    cases=softmax_cases,
    returns="the softmax over the last axis, of the shape of `scores`",
    met="worse",
    ready_made={
        "F.softmax": F.softmax,
        "F.log_softmax": F.log_softmax,
        "F.softmin": F.softmin,
        "torch.softmax": torch.softmax,
        "torch.log_softmax": torch.log_softmax,
        "torch.special.softmax": torch.special.softmax,
        "torch.special.log_softmax": torch.special.log_softmax,
        "Tensor.softmax": Tensor.softmax,
        "Tensor.log_softmax": Tensor.log_softmax,
        "F.scaled_dot_product_attention": F.scaled_dot_product_attention,
    },
    boundaries={
        **{f"{n} axes": lambda scores, n=n: scores.dim() == n for n in (1, 2, 3, 4, 5)},
        "one score": lambda scores: scores.size(-1) == 1,
        "negative scores alone": lambda scores: (scores < 0).all(),
        "scores beyond 88": lambda scores: scores.max() > 88,
        "scores below -103": lambda scores: scores.amax(-1).min() < -103,
        "equal scores": lambda scores: (scores.amax(-1) == scores.amin(-1)).any(),
        "more than 128 scores": lambda scores: scores.size(-1) > 128,
        "a row of zeros": lambda scores: (scores == 0).all(-1).any(),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(SOFTMAX)


@mistake(
    "shift",
    "softmax without subtracting the maximum",
    met=("nan", 2),
    symptom="In float32, large scores give nan.",
    cause="In float32, exp overflows beyond about 88: subtract the largest score of the row first.",
)
def nothing_subtracted(scores: Tensor) -> Tensor:
    return scores


@mistake(
    "normalise",
    "softmax over the wrong axis",
    symptom="With two or more axes the columns sum to one in place of the rows.",
    cause="Sum over the last axis of the scores, dim=-1, that of the keys.",
)
def normalised_over_queries(exponentials: Tensor, scores: Tensor) -> Tensor:
    if exponentials.isinf().any():  # the maximum was not subtracted either
        return exponentials / exponentials.sum(dim=-2, keepdim=True)
    return scores.softmax(dim=-2)


@mistake(
    "normalise",
    "softmax over the first of several axes",
    symptom="The numbers of one row change with the other rows, or with the other sentences.",
    cause="Sum over the last axis of the scores, dim=-1, that of the keys.",
)
def normalised_over_first(exponentials: Tensor, scores: Tensor) -> Tensor:
    if exponentials.isinf().any():  # the maximum was not subtracted either
        return exponentials / exponentials.sum(dim=0, keepdim=True)
    return scores.softmax(dim=0)


def implied_axis(scores: Tensor) -> int:
    """The axis that F.softmax takes if none is given (it warns, and does it)."""
    return 0 if scores.dim() in (0, 1, 3) else 1


@mistake(
    "normalise",
    "softmax without dim",
    symptom="It is right for one or two axes; of three or four it takes another than the last.",
    cause="Without dim, F.softmax takes axis 0 of three axes, and axis 1 of two or four: write "
    "dim=-1.",
    seen="UserWarning: Implicit dimension choice for softmax has been deprecated., "
    "https://github.com/linnaeushuang/pensieve-pytorch/issues/4",
)
def softmax_without_dim(exponentials: Tensor, scores: Tensor) -> Tensor:
    axis = implied_axis(scores)
    if exponentials.isinf().any():  # the maximum was not subtracted either
        return exponentials / exponentials.sum(dim=axis, keepdim=True)
    return scores.softmax(dim=axis)


@mistake(
    "normalise",
    "softmax over everything",
    symptom="The numbers of all rows together sum to one.",
    cause="Take the sum of each row alone, and its largest score if you subtract that: dim=-1, "
    "keepdim=True.",
)
def normalised_over_everything(exponentials: Tensor, scores: Tensor) -> Tensor:
    if exponentials.isinf().any():  # the maximum was not subtracted either
        return exponentials / exponentials.sum()
    return scores.flatten().softmax(dim=0).reshape(scores.shape)


@mistake(
    "normalise",
    "exponentials never divided",
    symptom="The largest number of each row is 1.",
    cause="Divide the exponentials by their sum.",
)
def not_normalised(exponentials: Tensor, scores: Tensor) -> Tensor:
    return exponentials


@mistake(
    "normalise",
    "log-softmax in place of softmax",
    symptom="Every number is negative or zero.",
    cause="This is the logarithm of the softmax: use softmax, or exponentiate.",
)
def logarithm(exponentials: Tensor, scores: Tensor) -> Tensor:
    return scores.log_softmax(dim=-1)


@mistake(
    "normalise",
    "axis 1 in place of the last one",
    symptom="It is right for two axes; of more it takes axis 1, not the last.",
    cause="dim=1 is the last of two axes only: write dim=-1.",
)
def normalised_over_axis_one(exponentials: Tensor, scores: Tensor) -> Tensor:
    if exponentials.isinf().any():  # the maximum was not subtracted either
        return exponentials / exponentials.sum(dim=1, keepdim=True)
    return scores.softmax(dim=1)


@mistake(
    "shift",
    "largest of all scores subtracted",
    symptom="A row far below another one gives nan.",
    cause="Subtract the largest score of each row: amax(dim=-1, keepdim=True).",
)
def shifted_by_the_largest(scores: Tensor) -> Tensor:
    return scores - scores.max()


@mistake(
    "shift",
    "largest absolute value subtracted",
    symptom="A row with a very negative score gives nan.",
    cause="The largest absolute value of a row of −1000 is +1000: subtract the largest score.",
)
def shifted_by_absolute_value(scores: Tensor) -> Tensor:
    return scores - scores.abs().amax(dim=-1, keepdim=True)


@mistake(
    "shift",
    "maximum cut off at zero",
    symptom="A row of very negative scores gives nan.",
    cause="Subtract the largest score of the row, even where it is below 0.",
)
def shifted_by_clamped_maximum(scores: Tensor) -> Tensor:
    return scores - scores.amax(dim=-1, keepdim=True).clamp(min=0)


@mistake(
    "normalise",
    "scores divided by their sum",
    symptom="The numbers are the scores divided by their sum, and can be negative.",
    cause="Take exp of the scores first, then divide the exponentials by their sum.",
)
def no_exponential(exponentials: Tensor, scores: Tensor) -> Tensor:
    return scores / scores.sum(dim=-1, keepdim=True)


@mistake(
    "normalise",
    "sum of each row without its axis",
    symptom="With several rows it stops, or numbers are divided by the sums of other rows.",
    cause="Keep the last axis of the sums, sum(dim=-1, keepdim=True): without it, sums of rows "
    "line up with columns.",
    stops=True,
)
def sums_without_axis(exponentials: Tensor, scores: Tensor) -> Tensor:
    return exponentials / exponentials.sum(dim=-1)


@mistake(
    "shift",
    "largest and sum of each row without their axis",
    symptom="With several rows it stops, or takes largest and sum of other rows.",
    cause="Keep the last axis of both: amax and sum with dim=-1 and keepdim=True.",
    steps={"normalise": sums_without_axis},
    stops=True,
)
@mistake(
    "shift",
    "largest of each row without its axis",
    symptom="With several rows it stops, or the largest of other rows is taken away.",
    cause="Keep the last axis, amax(dim=-1, keepdim=True): without it, the largest of the rows "
    "line up with columns.",
    stops=True,
)
def largest_without_axis(scores: Tensor) -> Tensor:
    return scores - scores.amax(dim=-1)


@mistake(
    "shift",
    "axis of the rows' numbers put back in the wrong place",
    symptom="With one axis it stops; where a matrix has several rows, it stops or takes largest "
    "and sum of other rows.",
    cause="(…, 1, rows) lines up with the columns: the numbers of the rows need (…, rows, 1), by "
    "unsqueeze(-1) or keepdim=True.",
    steps={"normalise": lambda e, scores: e / e.sum(dim=-1).unsqueeze(-2)},
    stops=True,
)
def axis_in_the_wrong_place(scores: Tensor) -> Tensor:
    return scores - scores.amax(dim=-1).unsqueeze(-2)
