"""Lora start (chapter 27): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.comparing import same
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def drawing(seed: int) -> Callable[..., Tensor]:
    """A `draw(*shape)`; the same shape gives the same numbers."""
    return lambda *shape: normal(*shape, seed=seed)


def start_cases() -> Sequence[Case]:
    several = tuple(
        Case(
            f"{rows} × {columns}, rank {rank}, largest numbers brought to 1",
            (normal(rows, columns, seed=i), rank, drawing(i)),
        )
        for i, (rows, columns, rank) in enumerate(
            ((3, 2, 1), (4, 12, 2), (4, 4, 3), (5, 5, 2), (6, 6, 6))
        )
    )
    return (
        *several,
        Case("3 × 2 zeros, rank 256", (torch.zeros(3, 2), 256, drawing(7))),
        Case("1 × 1, rank 1", (normal(1, 1, seed=6), 1, drawing(6))),
    )


def largest_one(x: Tensor) -> Tensor:
    return x / x.abs().max() if x.any() else x


def observe_start(function: Callable[..., Any]) -> Callable[..., Any]:
    """The pair, each with its largest number brought to one: how large a start is is free.

    So is the order of what is drawn: (I, r) turned is as random as (r, I).
    """

    def observed(weight: Tensor, rank: int, draw: Callable[..., Tensor]) -> Any:
        drawn: list[Tensor] = []

        def noted(*shape: int) -> Tensor:
            drawn.append(draw(*shape))
            return drawn[-1].clone()

        def as_drawn(x: Tensor) -> Tensor:
            ordered = largest_one(x).flatten().sort().values
            for each in drawn:
                if same(ordered, largest_one(each).flatten().sort().values):
                    return largest_one(draw(*x.shape))
            return largest_one(x)

        pair = function(weight, rank, noted)
        if not isinstance(pair, (tuple, list)) or not all(isinstance(x, Tensor) for x in pair):
            return pair
        return tuple(map(as_drawn, pair))

    return observed


LORA_START = Component(
    name="lora_start",
    chapter=27,
    order=3,
    section="How it begins",
    signature="weight, rank, draw",
    pipeline=lambda s, weight, rank, draw: (
        s.down(rank, weight.size(1), draw),
        s.up(weight.size(0), rank, draw),
    ),
    steps={
        "down": lambda rank, columns, draw: draw(rank, columns),
        "up": lambda rows, rank, draw: torch.zeros(rows, rank),
    },
    cases=start_cases,
    returns="the pair `down` (r, I), random, and `up` (O, r), so that at first nothing changes; "
    "`draw(*shape)` gives random numbers, which may be scaled. Each is judged with its largest "
    "number brought to 1",
    differentiable=False,
    observe=observe_start,
    done_by="LoRA",
    met="worse",
    boundaries={
        "a weight of zeros": lambda weight: not weight.any(),
        "one row and column": lambda weight: weight.numel() == 1,
        "rank 1": lambda rank: rank == 1,
        "a rank above both sizes": lambda weight, rank: rank > max(weight.shape),
        "a rank above 64": lambda rank: rank > 64,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(LORA_START)


@mistake(
    "up",
    "A zero in place of B",
    symptom="`down` is zero and `up` is random.",
    cause="The product is zero as well, so it works, too; Hu et al. begin with a random `down` "
    "and `up` = 0.",
    section="Break it: a start that is not zero",
    kind="convention",
    steps={"down": lambda rank, columns, draw: torch.zeros(rank, columns)},
)
@mistake(
    "up",
    "B not zero",
    symptom="Before the first update the model is another one already.",
    cause="Begin `up` with zeros: then the change is zero, whatever `down` is.",
    section="Break it: a start that is not zero",
)
def up_drawn(rows: int, rank: int, draw: Callable[..., Tensor]) -> Tensor:
    return draw(rows, rank)


@mistake(
    "down",
    "A and B both zero",
    met=("flat", 13),
    symptom="Nothing is ever learned: the gradient of each is multiplied by the other.",
    cause="Draw `down` at random; only `up` begins with zeros.",
    section="Break it: a start that is not zero",
)
def down_zero(rank: int, columns: int, draw: Callable[..., Tensor]) -> Tensor:
    return torch.zeros(rank, columns)


@mistake(
    "up",
    "B of one number",
    symptom="`up` is one number everywhere: the model changes before it has learned.",
    cause="Begin `up` with zeros.",
    section="Break it: a start that is not zero",
)
def up_ones(rows: int, rank: int, draw: Callable[..., Tensor]) -> Tensor:
    return torch.ones(rows, rank)
