"""Merged weight (chapter 27): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.ideas.adapting.lora import lora_cases, matrices


def merged_cases() -> Sequence[Case]:
    beside = tuple(
        Case(case.name, case.arguments[1:]) for case in lora_cases() if case.arguments[0].dim() > 1
    )
    weight, down, up = matrices(3, 4, 2, 80)
    return (
        *beside,
        Case("as it begins: nothing is learned yet", (weight, down, torch.zeros_like(up), 3.0)),
        Case("one row and column, rank 70, α below zero", (*matrices(1, 1, 70, 83), -2.0)),
        Case("α = 0", (*matrices(1, 2, 1, 86), 0.0)),
    )


MERGED_WEIGHT = Component(
    name="merged_weight",
    chapter=27,
    order=2,
    section="Merging",
    signature="weight, down, up, alpha",
    pipeline=lambda s, weight, down, up, alpha: s.join(
        weight, s.change(down, up), s.factor(alpha, down)
    ),
    steps={
        "change": lambda down, up: up @ down,
        "factor": lambda alpha, down: alpha / down.size(0),
        "join": lambda weight, change, factor: weight + factor * change,
    },
    cases=merged_cases,
    returns="the one matrix (O, I) that computes what `weight` (O, I), `down` (r, I) and `up` "
    "(O, r) compute together",
    done_by="merge_lora",
    met="worse",
    boundaries={
        "nothing is learned yet": lambda up: not up.any(),
        "one row and column": lambda weight: weight.numel() == 1,
        "a rank above both sizes": lambda weight, down: len(down) > max(weight.shape),
        "a rank above 64": lambda down: len(down) > 64,
        "α = 0": lambda alpha: alpha == 0,
        "α below zero": lambda alpha: alpha < 0,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(MERGED_WEIGHT)


@mistake(
    "factor",
    "merged without α/r",
    symptom="The change is merged as it is, and α does nothing.",
    cause="Multiply the product up @ down by α / r, as the adapter's output is multiplied.",
    section="Break it: the factor forgotten",
)
def merged_unscaled(alpha: float, down: Tensor) -> float:
    return 1.0


@mistake(
    "factor",
    "merged with α alone",
    symptom="The change is r times what it should be in the merged weight.",
    cause="Divide α by the rank.",
    section="Break it: the factor forgotten",
)
def merged_alpha(alpha: float, down: Tensor) -> float:
    return alpha


@mistake(
    "join",
    "the change alone is merged",
    symptom="The frozen weight is lost.",
    cause="Add the change to the weight.",
)
def merged_change(weight: Tensor, change: Tensor, factor: float) -> Tensor:
    return factor * change


@mistake(
    "join",
    "merged twice",
    symptom="The change is in the weight twice.",
    cause="Add the change once: weight + α/r · up @ down.",
    section="Break it: merged twice",
)
def merged_twice(weight: Tensor, change: Tensor, factor: float) -> Tensor:
    return weight + 2 * factor * change


@mistake(
    "join",
    "merged with the factor twice",
    symptom="The change has the factor (α/r)² in the merged weight.",
    cause="Scale once: weight + α/r · up @ down.",
    section="Break it: the factor forgotten",
)
def merged_factor_twice(weight: Tensor, change: Tensor, factor: float) -> Tensor:
    return weight + factor**2 * change


@mistake(
    "join",
    "subtracted in place of added",
    symptom="The change has the wrong sign: this takes an adapter out again.",
    cause="Merging adds; unmerging subtracts.",
    section="Break it: merged twice",
)
def unmerged(weight: Tensor, change: Tensor, factor: float) -> Tensor:
    return weight - factor * change


@mistake(
    "change",
    "product of the adapter transposed",
    symptom="The change is added with rows and columns exchanged.",
    cause="The weight is (O, I), and so is up @ down.",
)
def product_transposed(down: Tensor, up: Tensor) -> Tensor:
    return down.T @ up.T


@mistake(
    "change",
    "matrices of the adapter read in the other layout",
    symptom="With a rank above 1, the matrices have their numbers at the wrong places when they "
    "are multiplied.",
    cause="Multiply `up` (O, r) and `down` (r, I) as they are: the change is up @ down.",
    seen="fix(lora): MergeEngine::merge transposed PEFT adapters, "
    "https://github.com/paiml/aprender/pull/2138",
)
def other_layout(down: Tensor, up: Tensor) -> Tensor:
    rank = down.size(0)
    return (down.reshape(-1, rank) @ up.reshape(rank, -1)).T
