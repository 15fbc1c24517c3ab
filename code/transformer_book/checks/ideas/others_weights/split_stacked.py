"""Split stacked (chapter 28): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import addresses, normal


def split_stacked_pipeline(s, weight, bias):
    weights = s.order(tuple(s.turn(columns) for columns in s.cut(weight)))  # (D, D) each
    return (*weights, *s.order_bias(s.cut_bias(bias)))  # and (D,) each


def split_stacked_cases() -> Sequence[Case]:
    return (
        Case("two features", (addresses(2, 6), torch.arange(6.0))),
        Case("three features", (addresses(3, 9), torch.arange(9.0) - 4)),
        Case("four features", (normal(4, 12, seed=1), normal(12, seed=2))),
        Case("five features", (normal(5, 15, seed=3), normal(15, seed=4))),
        Case("six features", (normal(6, 18, seed=5), normal(18, seed=6))),
        Case("one feature", (torch.tensor([[2.0, 3.0, 5.0]]), torch.tensor([7.0, 11.0, 13.0]))),
        Case(
            "a hundred and ninety-two features, large numbers",
            (300 * normal(192, 576, seed=7), 300 * normal(576, seed=8)),
        ),
    )


SPLIT_STACKED = Component(
    name="split_stacked",
    chapter=28,
    order=1,
    section="Three matrices in one, by hand",
    signature="weight, bias",
    pipeline=split_stacked_pipeline,
    steps={
        "cut": lambda weight: weight.chunk(3, dim=1),
        "turn": lambda columns: columns.T,
        "order": lambda parts: parts,
        "cut_bias": lambda bias: bias.chunk(3),
        "order_bias": lambda parts: parts,
    },
    cases=split_stacked_cases,
    returns="six tensors: three weights `(D, D)` as `nn.Linear` has them, then three biases "
    "`(D,)`, both in the order queries, keys, values, cut out of GPT-2's `(D, 3 D)` and `(3 D,)`, "
    "with which it computes `x @ weight + bias`",
    differentiable=False,  # numbers change their places, and nothing is computed
    met="nonsense",
    boundaries={
        "one feature": lambda weight: len(weight) == 1,
        "more than a hundred features": lambda weight: len(weight) > 100,
        "large numbers": lambda weight: bool(weight.abs().max() > 500),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(SPLIT_STACKED)


Parts = tuple[Tensor, ...]


@mistake(
    "turn",
    "stacked matrix not transposed",
    met=("nonsense", 15),
    symptom="The three matrices are cut correctly, but each is the transpose of nn.Linear's.",
    cause="GPT-2 computes x @ weight, nn.Linear x @ weight.T: transpose each once. Square "
    "matrices fit either way.",
    section="Break it: square matrices",
)
def not_turned(columns: Tensor) -> Tensor:
    return columns


@mistake(
    "cut",
    "stacked matrix reshaped, not cut",
    symptom="With several features, each matrix mixes pieces of queries, keys or values.",
    cause="(3, D, D) at once reads row by row; the three stand side by side: chunk(3, dim=1).",
)
def reshaped(weight: Tensor) -> Parts:
    return weight.reshape(3, weight.size(0), weight.size(0)).unbind(0)


@mistake(
    "cut",
    "every third column",
    symptom="Each matrix holds every third column, and each bias every third entry.",
    cause="Queries, keys and values stand one third each, in this order: chunk(3, dim=1), "
    "and chunk(3) of the bias, not a step of 3.",
    steps={"cut_bias": lambda bias: tuple(bias[i::3] for i in range(3))},
)
def every_third(weight: Tensor) -> Parts:
    return tuple(weight[:, i::3] for i in range(3))


@mistake(
    "order",
    "queries and keys exchanged",
    symptom="Queries and keys have changed places: who asks and who answers is turned round.",
    cause="c_attn stacks queries, keys, values, in this order: hand them back in it.",
    section="Break it: queries for keys",
    steps={"order_bias": lambda parts: (parts[1], parts[0], parts[2])},
)
def keys_first(parts: Parts) -> Parts:
    return parts[1], parts[0], parts[2]


@mistake(
    "order",
    "keys and values exchanged",
    symptom="Keys and values have changed places.",
    cause="c_attn stacks queries, keys, values, in this order: hand them back in it.",
    steps={"order_bias": lambda parts: (parts[0], parts[2], parts[1])},
)
def values_second(parts: Parts) -> Parts:
    return parts[0], parts[2], parts[1]


@mistake(
    "order",
    "values first",
    symptom="The values come first, then queries, then keys.",
    cause="c_attn stacks queries, keys, values, in this order: hand them back in it.",
    steps={"order_bias": lambda parts: (parts[2], parts[0], parts[1])},
)
def values_first(parts: Parts) -> Parts:
    return parts[2], parts[0], parts[1]


@mistake(
    "cut_bias",
    "stacked bias forgotten",
    symptom="The three biases are zero.",
    cause="c_attn has a bias, too: cut it into three, as the columns of the matrix.",
)
def no_bias(bias: Tensor) -> Parts:
    return torch.zeros_like(bias).chunk(3)


@mistake(
    "cut_bias",
    "one bias for all three",
    symptom="Keys and values have the bias of the queries.",
    cause="The bias is as long as all three together: hand back its three thirds, of queries, "
    "keys and values.",
)
def first_bias(bias: Tensor) -> Parts:
    return (bias[: len(bias) // 3],) * 3


@mistake(
    "order_bias",
    "biases in another order than the matrices",
    symptom="The matrices are right, the biases of queries and keys have changed places.",
    cause="Cut matrix and bias with the same slices, and hand back both in the same order.",
)
def biases_exchanged(parts: Parts) -> Parts:
    return parts[1], parts[0], parts[2]
