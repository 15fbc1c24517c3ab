"""Components of chapter 28: the weights of others, cut and put into another order."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from transformer_book.checks.attention import addresses, normal
from transformer_book.checks.components import Case, Component

# --- queries, keys and values in one matrix ------------------------------------------------------


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
    )


SPLIT_STACKED = Component(
    name="split_stacked",
    chapter=28,
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
)

# --- the two ways to pair features ---------------------------------------------------------------


def paired_by_halves_pipeline(s, weight, n_heads):
    pairs = s.unfold(weight, n_heads)  # (H, K/2, 2, D)
    return s.fold(s.first_and_second(pairs))  # (H·K, D)


def paired_by_halves_cases() -> Sequence[Case]:
    return (
        Case("one head of four features", (addresses(4, 4), 1)),
        Case("one head of six", (addresses(6, 6), 1)),
        Case("two heads of four", (addresses(8, 8), 2)),
        Case("two heads of six", (normal(12, 12, seed=1), 2)),
        Case("three heads of four", (normal(12, 12, seed=2), 3)),
        Case("two heads of eight", (normal(16, 16, seed=3), 2)),
        Case("keys of fewer heads", (normal(12, 16, seed=4), 2)),
        Case("heads of two features: nothing moves", (normal(6, 6, seed=5), 3)),
    )


PAIRED_BY_HALVES = Component(
    name="paired_by_halves",
    chapter=28,
    section="Which features are a pair, by hand",
    signature="weight, n_heads",
    pipeline=paired_by_halves_pipeline,
    steps={
        "unfold": lambda weight, n_heads: weight.unflatten(0, (n_heads, -1, 2)),
        "first_and_second": lambda pairs: pairs.transpose(1, 2),
        "fold": lambda pairs: pairs.flatten(0, 2),
    },
    cases=paired_by_halves_cases,
    returns="`(H·K, D)`: the rows of a query or key weight whose heads pair neighbours (features "
    "2i and 2i + 1), in the order in which the same pairs are features i and i + K/2 of the same "
    "head",
)

COMPONENTS = (SPLIT_STACKED, PAIRED_BY_HALVES)
