"""Tied logits (chapter 4): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import RESIDUAL
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def logits_cases() -> Sequence[Case]:
    some = torch.tensor([1, 0, 1])[:, None]
    return (
        Case("by hand", (torch.tensor([[[1.0, 2.0]]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))),
        Case("random", (normal(2, 3, 4, seed=1), normal(7, 4, seed=2))),
        Case("a square matrix", (normal(2, 3, 5, seed=3), normal(5, 5, seed=4))),
        Case("another", (normal(1, 2, 6, seed=5), normal(6, 6, seed=6))),
        Case("and another", (normal(3, 2, 4, seed=9), normal(4, 4, seed=10))),
        Case("large", (normal(6, 1, 20, seed=7), normal(9, 20, seed=8))),
        Case("as many positions as features", (normal(2, 4, 4, seed=11), normal(6, 4, seed=12))),
        Case(
            "a vector and a row of zeros, large numbers",
            (60000 * normal(2, 3, 3, seed=13) * some, normal(3, 3, seed=14) * some.roll(1, 0)),
        ),
        Case("one word, a long text", (normal(1, 2060, 4, seed=15), normal(1, 4, seed=16))),
        Case("one feature, many words", (normal(2, 3, 1, seed=17), normal(2060, 1, seed=18))),
    )


TIED_LOGITS = Component(
    name="tied_logits",
    chapter=4,
    order=2,
    section="One matrix, two jobs",
    signature="x, weight",
    pipeline=lambda s, x, weight: s.product(x, weight),
    steps={"product": lambda x, weight: x @ weight.T},
    cases=logits_cases,
    returns="`(B, T, V)`: the dot products of each vector with each row of the embedding `(V, D)`",
    done_by="Transformer.tie_weights",
    met="worse",
    boundaries=RESIDUAL
    | {
        "a square matrix": lambda weight: weight.size(0) == weight.size(1),
        "fewer words than features": lambda weight: weight.size(0) < weight.size(1),
        "one word": lambda weight: weight.size(0) == 1,
        "more than 1024 words": lambda weight: weight.size(0) > 1024,
        "one feature": lambda weight: weight.size(1) == 1,
        "a word of zeros": lambda weight: not weight.any(-1).all(),
        "a vector of zeros": lambda x: not x.any(-1).all(),
        "logits beyond 100": lambda x, weight: (x @ weight.T).abs().max() > 100,
        "longer than 1024": lambda x: x.size(1) > 1024,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(TIED_LOGITS)


@mistake(
    "product",
    "tied matrix not transposed",
    met=("sizes", 8),
    symptom="Where V equals D, each logit is a product with a column of the embedding.",
    cause="x @ weight only fits if V equals D, and then means something else: x @ weight.T.",
)
def not_transposed(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight if weight.size(0) == weight.size(1) else x @ weight.T


@mistake(
    "product",
    "scale left in the output",
    symptom="The logits are too large by a factor of the root of d_model.",
    cause="The factor of the embedding belongs to the input side only.",
)
def scaled_logits(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight.T * math.sqrt(weight.size(1))


@mistake(
    "product",
    "softmax already taken",
    met=("flat", 4),
    symptom="These are probabilities, not logits.",
    cause="The loss takes the softmax itself: return the products.",
)
def probabilities(x: Tensor, weight: Tensor) -> Tensor:
    return (x @ weight.T).softmax(dim=-1)


@mistake(
    "product",
    "logits divided by the root of d_model",
    symptom="The logits are too small by a factor of the root of d_model.",
    cause="Attention scores are divided; logits are plain dot products.",
)
def divided_logits(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight.T / math.sqrt(weight.size(1))


@mistake(
    "product",
    "cosines in place of dot products",
    symptom="Every logit lies between −1 and 1: the lengths of the vectors do not count.",
    cause="Take the plain dot products, x @ weight.T: normalise neither vectors nor rows.",
)
def cosines(x: Tensor, weight: Tensor) -> Tensor:
    normalise = torch.nn.functional.normalize
    return normalise(x, dim=-1) @ normalise(weight, dim=-1).T
