"""Group sort (chapter 11): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def group_sort_cases() -> Sequence[Case]:
    return (
        Case("four numbers", (torch.tensor([3.0, 1.0, 2.0, 5.0]),)),
        Case("already sorted", (torch.tensor([1.0, 2.0, 0.0, 4.0]),)),
        Case("random", (normal(2, 3, 6, seed=1),)),
        Case("random, wider", (normal(4, 8, seed=2),)),
        Case("a batch of sentences", (normal(6, 5, 4, seed=3),)),
        Case("one pair", (torch.tensor([[[2.0, -3.0]]]),)),
        Case(
            "ties and negative numbers",
            (torch.tensor([[-1.0, -1.0, 0.0, -2.0, 5.0, 5.0]]),),
            rough=True,  # of two equal numbers either may come first
        ),
        Case("nothing but ties", (torch.tensor([[0.0, 0.0, -3.0, -3.0], [2.0, 2.0, 0.0, 0.0]]),)),
        Case("four axes, thirty-three pairs", (normal(2, 1, 3, 66, seed=4),)),
    )


def observe_group_sort(function):
    """Either of two equal numbers may have the gradient: where all are, each has half of both."""

    def observed(x):
        first, second = x[..., 0::2], x[..., 1::2]
        tied = torch.equal(first, second)
        return function(((first + second) / 2).repeat_interleave(2, dim=-1) if tied else x)

    return observed


GROUP_SORT = Component(
    name="group_sort",
    chapter=11,
    order=2,
    section="Three bends",
    signature="x",
    pipeline=lambda s, x: s.sort(x),
    steps={"sort": lambda x: x.unflatten(-1, (-1, 2)).sort(dim=-1).values.flatten(-2)},
    cases=group_sort_cases,
    observe=observe_group_sort,
    returns="x, which has an even number of features, with each pair of neighbouring features (0 "
    "and 1, 2 and 3, …) sorted, the smaller first (between equal ones the gradient may go to "
    "either, or in parts to both, and no part of it is lost)",
    met="worse",
    ready_made={"layers.group_sort": "layers.group_sort"},
    boundaries={
        "one pair": lambda x: x.size(-1) == 2,
        "several pairs": lambda x: x.size(-1) > 2,
        "one axis": lambda x: x.dim() == 1,
        "two equal numbers": lambda x: (x[..., 0::2] == x[..., 1::2]).any(),
        "nothing but ties": lambda x: bool((x[..., 0::2] == x[..., 1::2]).all()),
        "four axes": lambda x: x.dim() == 4,
        "more than thirty-two pairs": lambda x: x.size(-1) > 64,
        "sorted already": lambda x: (x[..., 0::2] <= x[..., 1::2]).all(),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(GROUP_SORT)


@mistake(
    "sort",
    "all features sorted",
    symptom="All features of a position are sorted, not each pair.",
    cause="Sort each pair by itself: unfold the last axis into pairs, sort over dim=-1, then "
    "flatten.",
)
def all_sorted(x: Tensor) -> Tensor:
    return x.sort(dim=-1).values


@mistake(
    "sort",
    "larger first",
    met=("harmless", 25),
    symptom="In each pair the larger number comes first.",
    cause="A different convention; the book puts the smaller first.",
    kind="convention",
)
def larger_first(x: Tensor) -> Tensor:
    return x.unflatten(-1, (-1, 2)).sort(dim=-1, descending=True).values.flatten(-2)


@mistake(
    "sort",
    "pairs from two halves",
    symptom="Feature i is paired with feature i + F/2.",
    cause="Sort neighbours, features 2i and 2i + 1: unfold the last axis as (F/2, 2).",
)
def pairs_of_halves(x: Tensor) -> Tensor:
    return x.unflatten(-1, (2, -1)).sort(dim=-2).values.flatten(-2)


@mistake(
    "sort",
    "halves paired, put together as neighbours",
    symptom="Feature i is sorted with feature i + F/2, and the two come out as neighbours.",
    cause="Neighbours are a pair: take x[..., 0::2] and x[..., 1::2], not two halves.",
)
def halves_to_neighbours(x: Tensor) -> Tensor:
    return x.unflatten(-1, (2, -1)).sort(dim=-2).values.mT.flatten(-2)


@mistake(
    "sort",
    "first of a pair overwritten",
    symptom="Where the larger of a pair comes first, both become the smaller.",
    cause="Take minimum and maximum of the two numbers as they came in.",
)
def overwritten(x: Tensor) -> Tensor:
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack([torch.minimum(first, second), second], dim=-1).flatten(-2)


@mistake(
    "sort",
    "sorted across the pairs",
    symptom="The first numbers of all pairs are sorted among themselves, and so are the second.",
    cause="Sort the two numbers of each pair: the last axis of (F/2, 2), dim=-1.",
)
def across_pairs(x: Tensor) -> Tensor:
    return x.unflatten(-1, (-1, 2)).sort(dim=-2).values.flatten(-2)


@mistake(
    "sort",
    "smaller ones in front, larger ones behind",
    symptom="The smaller numbers of all pairs stand in the first half, the larger in the second.",
    cause="The two of a pair stay neighbours: stack them on a new last axis, and flatten it.",
)
def minima_first(x: Tensor) -> Tensor:
    pairs = x.unflatten(-1, (-1, 2))
    return torch.cat([pairs.amin(dim=-1), pairs.amax(dim=-1)], dim=-1)


@mistake(
    "sort",
    "pairs that overlap",
    symptom="The largest feature ends up last: the larger of two goes on to be compared with "
    "the next.",
    cause="The pairs are (0, 1), (2, 3), …: go on by two, not by one.",
)
def overlapping(x: Tensor) -> Tensor:
    columns = list(x.unbind(-1))
    for i in range(len(columns) - 1):
        both = columns[i], columns[i + 1]
        columns[i], columns[i + 1] = torch.minimum(*both), torch.maximum(*both)
    return torch.stack(columns, dim=-1)
