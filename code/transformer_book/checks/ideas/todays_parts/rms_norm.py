"""Rms norm (chapter 25): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def rms_norm_pipeline(s, x, weight, eps=1e-5):
    centred = s.centre(x)  # (…, D)
    return s.scale(s.divide(centred, s.mean_square(centred), eps), weight, x)  # (…, D)


def rms_norm_cases() -> Sequence[Case]:
    def weight(d_model: int, seed: int) -> Tensor:
        return 1 + 0.5 * normal(d_model, seed=seed)

    by_hand = torch.tensor([[[1.0, 7.0, -5.0, 5.0]]])  # the mean of the squares is 25
    large = normal(1, 2, 4, seed=24) * torch.tensor([[1e3], [1e10]])
    between = normal(1, 3, 4, seed=26) * torch.tensor([[1.0], [0.0], [1.0]])
    return (
        Case("four numbers", (by_hand, torch.ones(4))),
        Case("four numbers and a weight", (by_hand, torch.tensor([1.0, 2.0, 0.0, -1.0]))),
        Case("two positions", (normal(1, 2, 4, seed=1), weight(4, 2))),
        Case("random vectors", (normal(4, 3, 6, seed=3), weight(6, 4))),
        Case("far from zero", (5 + 2 * normal(2, 4, 8, seed=5), weight(8, 6))),
        Case("small numbers, where ε counts", (0.01 * normal(2, 3, 6, seed=7), weight(6, 8))),
        Case("very small numbers", (0.001 * normal(2, 2, 4, seed=9), weight(4, 10))),
        Case("zeros", (torch.zeros(1, 2, 4), weight(4, 11))),
        Case("ε = 1e-6", (0.002 * normal(2, 2, 4, seed=12), weight(4, 13)), {"eps": 1e-6}),
        Case("ε = 0.1", (normal(2, 2, 6, seed=14), weight(6, 15)), {"eps": 0.1}),
        Case("ε = 2", (normal(2, 2, 5, seed=16), weight(5, 17)), {"eps": 2.0}),
        Case("as many positions as features", (normal(3, 5, 5, seed=18), weight(5, 19))),
        Case("more positions than features", (normal(2, 12, 3, seed=20), weight(3, 21))),
        Case("ε = 0", (0.01 * normal(2, 2, 4, seed=22), weight(4, 23)), {"eps": 0.0}),
        Case("large numbers, and very large ones", (large, weight(4, 25))),
        Case("a position of zeros between others", (between, weight(4, 27))),
    )


RMS_NORM = Component(
    name="rms_norm",
    chapter=25,
    order=1,
    section="RMSNorm, by hand",
    signature="x, weight, eps=1e-5",
    pipeline=rms_norm_pipeline,
    steps={
        "centre": lambda x: x,
        "mean_square": lambda x: x.square().mean(dim=-1, keepdim=True),
        "divide": lambda x, mean_square, eps: x / torch.sqrt(mean_square + eps),
        "scale": lambda normalised, weight, x: weight * normalised,
    },
    cases=rms_norm_cases,
    returns="`(B, T, D)`, each position's features divided by the root of the mean of their "
    "squares plus ε, and scaled by `weight` (D,)",
    met="worse",
    boundaries={
        "ε = 0": lambda eps: eps == 0,
        "numbers beyond 100": lambda x: bool((x.abs() > 100).any()),
        "numbers beyond 1e9": lambda x: bool((x.abs() > 1e9).any()),
        "zeros alone": lambda x: not x.any(),
        "a position of zeros beside others": lambda x: bool((~x.any(-1)).any() and x.any()),
        "a weight of 0": lambda weight: bool((weight == 0).any()),
        "one position": lambda x: x.size(0) * x.size(1) == 1,
        "more positions than features": lambda x: x.size(1) > x.size(2),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(RMS_NORM)


@mistake(
    "centre",
    "mean subtracted in RMSNorm",
    symptom="Before the weight, the features have mean 0.",
    cause="The mean is subtracted first, as in layer norm: RMSNorm leaves it in.",
)
def centred(x: Tensor) -> Tensor:
    return x - x.mean(dim=-1, keepdim=True)


@mistake(
    "mean_square",
    "divided by the standard deviation",
    symptom="Vectors whose features have another mean than 0 come out too large.",
    cause="The variance leaves the mean out: take the mean of the squares, x.square().mean(-1, "
    "keepdim=True).",
)
def variance(x: Tensor) -> Tensor:
    return x.var(dim=-1, keepdim=True, unbiased=False)


@mistake(
    "mean_square",
    "sum of the squares in place of their mean",
    symptom="Vectors come out too small: by √D, where ε does not count.",
    cause="The squares are added up and not divided by their number: take the mean.",
)
def sum_of_squares(x: Tensor) -> Tensor:
    return x.square().sum(dim=-1, keepdim=True)


@mistake(
    "divide",
    "ε of RMSNorm outside the root",
    symptom="With a small ε, small vectors come out too large.",
    cause="ε is added to the root: add it to the mean of the squares, inside.",
)
def epsilon_outside(x: Tensor, mean_square: Tensor, eps: float) -> Tensor:
    return x / (mean_square.sqrt() + eps)


@mistake(
    "divide",
    "ε of RMSNorm forgotten",
    met=("nan", 5),
    symptom="Zeros become nan, and small vectors come out too large.",
    cause="A vector of zeros is divided by zero: add ε inside the root.",
)
def no_epsilon(x: Tensor, mean_square: Tensor, eps: float) -> Tensor:
    return x / mean_square.sqrt()


@mistake(
    "divide",
    "ε of RMSNorm beside the squares of scaled numbers",
    met=("nan", 0),
    symptom="A row of zeros becomes nan, and rows of small numbers come out too large.",
    cause="Add ε to the mean of the squares of x itself. If each row is divided by its largest |x| "
    "first, divide ε by the square of that, and leave rows of zeros as they are.",
)
def scaled_by_the_largest(x: Tensor, mean_square: Tensor, eps: float) -> Tensor:
    scaled = x / x.abs().amax(dim=-1, keepdim=True)
    return scaled / torch.sqrt(scaled.square().mean(dim=-1, keepdim=True) + eps)


@mistake(
    "divide",
    "RMSNorm by F.normalize",
    symptom="Small vectors come out too large.",
    cause="Divide by the root of the mean of the squares plus ε. (F.normalize does not add it.)",
)
def divided_by_length(x: Tensor, mean_square: Tensor, eps: float) -> Tensor:
    return torch.nn.functional.normalize(x, dim=-1) * x.size(-1) ** 0.5


@mistake(
    "divide",
    "root of RMSNorm forgotten",
    symptom="Vectors whose mean square is above 1 come out too small.",
    cause="Divide by the root of the mean of the squares plus ε, and only once.",
)
def no_root(x: Tensor, mean_square: Tensor, eps: float) -> Tensor:
    return x / (mean_square + eps)


@mistake(
    "scale",
    "weight of RMSNorm forgotten",
    symptom="`weight` has no effect.",
    cause="Multiply the normalised vector by `weight`, feature by feature.",
)
def no_weight(normalised: Tensor, weight: Tensor, x: Tensor) -> Tensor:
    return normalised


@mistake(
    "scale",
    "one added to the weight of RMSNorm",
    symptom="The normalised vector is multiplied by 1 + w, not by w.",
    cause="The weight counts from zero, (1 + w), as in Gemma 1 to 3, whose weights start at 0. "
    "Llama's and PyTorch's start at 1 and are multiplied as they are.",
    kind="convention",
)
def from_zero(normalised: Tensor, weight: Tensor, x: Tensor) -> Tensor:
    return (1 + weight) * normalised


@mistake(
    "divide",
    "multiplied by the root in RMSNorm",
    symptom="Vectors whose mean square is above 1 become larger still, before the weight.",
    cause="Divide by the root, or multiply by rsqrt(…), which is one over the root.",
    seen="Incorrect implementation of RMSNorm, https://github.com/mosaicml/llm-foundry/issues/371",
)
def times_the_root(x: Tensor, mean_square: Tensor, eps: float) -> Tensor:
    return x * torch.sqrt(mean_square + eps)


@mistake(
    "mean_square",
    "mean of the squares over the positions",
    met=("batch", 12),
    symptom="A position's output changes with the other positions.",
    cause="The mean is taken over dim=1, the positions: take it over the features, dim=-1.",
)
def over_positions(x: Tensor) -> Tensor:
    return x.square().mean(dim=1, keepdim=True)
