"""Lora (chapter 27): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def matrices(rows: int, columns: int, rank: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """A weight, the projection down and the one up again."""
    return (
        normal(rows, columns, seed=seed),
        normal(rank, columns, seed=seed + 1),
        normal(rows, rank, seed=seed + 2),
    )


BY_HAND = (
    torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]),
    torch.tensor([[1.0, 2.0]]),
    torch.tensor([[1.0], [0.0], [-1.0]]),
)


def lora_cases() -> Sequence[Case]:
    return (
        Case("by hand: rank 1 beside 3 × 2", (torch.tensor([[3.0, 1.0]]), *BY_HAND, 2.0)),
        Case("rank 2", (normal(2, 3, 4, seed=1), *matrices(5, 4, 2, 10), 6.0)),
        Case("rank 4, α smaller than it", (normal(4, 6, seed=2), *matrices(4, 6, 4, 20), 0.5)),
        Case("as many rows as columns", (normal(2, 4, 4, seed=3), *matrices(4, 4, 2, 30), 5.0)),
        Case("another square", (normal(3, 5, seed=4), *matrices(5, 5, 3, 40), 7.0)),
        Case("a third square", (normal(6, 3, seed=5), *matrices(3, 3, 3, 50), 1.5)),
        Case("rank 4", (normal(2, 6, seed=6), *matrices(7, 6, 4, 60), 10.0)),
        Case("a single vector, α below zero", (normal(4, seed=7), *matrices(3, 4, 2, 70), -3.0)),
        Case(
            "rank 5 beside 4 × 3",
            (normal(2, 1, 2, 3, seed=9), *matrices(4, 3, 5, 90), 32.0),
        ),
        Case("α = 0, one number out", (normal(2, 3, seed=8), *matrices(1, 3, 2, 80), 0.0)),
        Case(
            "up is zero, as at the start; one number in",
            (normal(2, 1, seed=9), *matrices(4, 1, 2, 85)[:2], torch.zeros(4, 2), 4.0),
        ),
    )


LORA = Component(
    name="lora",
    chapter=27,
    order=1,
    section="LoRA, by hand",
    signature="x, weight, down, up, alpha",
    pipeline=lambda s, x, weight, down, up, alpha: s.join(
        s.base(x, weight), s.change(x, down, up), s.factor(alpha, down), x
    ),
    steps={
        "base": lambda x, weight: x @ weight.T,
        "change": lambda x, down, up: x @ down.T @ up.T,
        "factor": lambda alpha, down: alpha / down.size(0),
        "join": lambda base, change, factor, x: base + factor * change,
    },
    cases=lora_cases,
    returns="`(…, O)`: what `x` becomes under the frozen `weight` (O, I), plus α/r times what it "
    "becomes under `down` (r, I) and then `up` (O, r)",
    met="worse",
    boundaries={
        "a rank above the widths": lambda weight, down: down.size(0) > max(weight.shape),
        "four axes": lambda x: x.dim() == 4,
        "α above 16": lambda alpha: alpha > 16,
        "α = 0": lambda alpha: alpha == 0,
        "up is zero": lambda up: not up.any(),
        "one number in": lambda weight: weight.size(1) == 1,
        "one number out": lambda weight: weight.size(0) == 1,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(LORA)


@mistake(
    "factor",
    "α/r forgotten",
    symptom="The change is added as it is, and α does nothing.",
    cause="Multiply the change by α over the rank.",
    section="Break it: the factor forgotten",
)
def factor_of_one(alpha: float, down: Tensor) -> float:
    return 1.0


@mistake(
    "factor",
    "α not divided by the rank",
    symptom="The change is r times what it should be.",
    cause="Multiply by α / r: r is the number of rows of `down`.",
    section="Break it: the factor forgotten",
)
def alpha_alone(alpha: float, down: Tensor) -> float:
    return alpha


@mistake(
    "factor",
    "α times the rank",
    symptom="The change is r² times what it should be.",
    cause="Divide α by the rank, do not multiply.",
    section="Break it: the factor forgotten",
)
def alpha_times_rank(alpha: float, down: Tensor) -> float:
    return alpha * down.size(0)


@mistake(
    "factor",
    "rank read off the wrong axis",
    symptom="α is divided by the width of the input, not by the rank.",
    cause="`down` is (r, I): its rank is the number of rows, down.size(0).",
    section="Break it: the factor forgotten",
)
def rank_of_columns(alpha: float, down: Tensor) -> float:
    return alpha / down.size(1)


@mistake(
    "factor",
    "the root of the rank",
    symptom="The change is √r times what it is with α/r.",
    cause="This is rsLoRA's factor, α/√r, which is just as consistent; but with a rank above 1, "
    "an adapter made for one factor does not fit the other.",
    section="Break it: the factor forgotten",
    kind="convention",
)
def root_of_rank(alpha: float, down: Tensor) -> float:
    return alpha / down.size(0) ** 0.5


@mistake(
    "join",
    "base weight left out",
    symptom="Only the change arrives, without what the frozen weight gives.",
    cause="Add the output of the frozen weight.",
)
def change_alone(base: Tensor, change: Tensor, factor: float, x: Tensor) -> Tensor:
    return factor * change


@mistake(
    "join",
    "the sum scaled",
    symptom="The frozen layer's output is multiplied by α/r, too.",
    cause="Only the change has the factor: base + α/r · change.",
)
def sum_scaled(base: Tensor, change: Tensor, factor: float, x: Tensor) -> Tensor:
    return factor * (base + change)


@mistake(
    "join",
    "change of LoRA scaled twice",
    symptom="The change has the factor (α/r)².",
    cause="Scale once: base + α/r · change.",
    section="Break it: the factor forgotten",
)
def factor_twice(base: Tensor, change: Tensor, factor: float, x: Tensor) -> Tensor:
    return base + factor**2 * change


@mistake(
    "join",
    "input in place of the base",
    symptom="The input comes through where the frozen weight should have acted.",
    cause="Add x @ weight.T, not x.",
)
def input_added(base: Tensor, change: Tensor, factor: float, x: Tensor) -> Tensor:
    return x + factor * change


@mistake(
    "change",
    "down and up exchanged",
    symptom="The change is that of the transposed matrix.",
    cause="Compute x @ down.T @ up.T: `down` first, `up` second, each transposed.",
)
def exchanged(x: Tensor, down: Tensor, up: Tensor) -> Tensor:
    return x @ up @ down


@mistake(
    "base",
    "frozen weight not transposed",
    symptom="The frozen weight acts with rows and columns exchanged.",
    cause="A weight is (O, I): x @ weight.T, or F.linear(x, weight), which transposes it.",
)
def base_transposed(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight


@mistake(
    "factor",
    "α/r turned over",
    symptom="The change has the factor r/α: a larger α makes it smaller.",
    cause="Divide α by the rank, not the rank by α.",
    section="Break it: the factor forgotten",
)
def rank_by_alpha(alpha: float, down: Tensor) -> float:
    return down.size(0) / alpha
