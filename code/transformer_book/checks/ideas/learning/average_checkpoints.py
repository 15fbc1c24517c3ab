"""Average checkpoints (chapter 16): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def checkpoint_cases() -> Sequence[Case]:
    def checkpoint(seed: int) -> dict[str, Tensor]:
        return {"weight": normal(2, 3, seed=seed), "bias": normal(2, seed=seed + 1)}

    def tied(seed: int) -> dict[str, Tensor]:
        matrix = normal(3, 2, seed=seed)
        return {"embedding": matrix, "output": matrix, "bias": normal(2, seed=seed + 1)}

    turned_round = [
        {"weight": normal(2, 2, 2, seed=50), "scale": torch.tensor(3.0)},
        {"scale": torch.tensor(6.0), "weight": normal(2, 2, 2, seed=51)},
    ]
    hand = [{"weight": torch.tensor([1.0, 2.0])}, {"weight": torch.tensor([3.0, 6.0])}]

    def frozen(weight: float) -> dict[str, Tensor]:
        return {"weight": torch.tensor([weight, 2.0]), "scale": torch.ones(2)}

    def deep(seed: int) -> dict[str, Tensor]:
        ten, two = normal(1, 3, seed=seed), normal(1, seed=seed + 1)
        return {"running_mean_10": ten, "position_2": two, "bias": torch.zeros(2)}

    return (
        Case("two checkpoints, by hand", (hand,)),
        Case("three", ([checkpoint(seed) for seed in (1, 3, 5)],)),
        Case("one", ([checkpoint(7)],)),
        Case("four, with one matrix under two names", ([tied(s) for s in range(20, 28, 2)],)),
        Case("five", ([checkpoint(seed) for seed in range(10, 20, 2)],)),
        Case("seven", ([checkpoint(seed) for seed in range(30, 44, 2)],)),
        Case("names in another order, and a scalar", (turned_round,)),
        Case(
            "the same one twice, large numbers, and some that do not change",
            ([frozen(300.0), frozen(300.0), frozen(900.0)],),
        ),
        Case("twelve, with zeros, and a weight of one number", ([*map(deep, range(60, 84, 2))],)),
    )


def mean_of(checkpoints: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {
        name: torch.stack([checkpoint[name] for checkpoint in checkpoints]).mean(dim=0)
        for name in checkpoints[0]
    }


AVERAGE = Component(
    name="average_checkpoints",
    chapter=16,
    order=4,
    section="The average of five models",
    signature="checkpoints",
    pipeline=lambda s, checkpoints: s.average(checkpoints),
    steps={"average": mean_of},
    cases=checkpoint_cases,
    returns="a dictionary of tensors: the mean of each weight, a float32 tensor in all of the "
    "checkpoints",
    differentiable=False,
    done_by="average",
    met="bleu",
    ready_made={"checkpoints.average": "weights/checkpoints.average"},
    boundaries={
        "one checkpoint": lambda checkpoints: len(checkpoints) == 1,
        "two checkpoints": lambda checkpoints: len(checkpoints) == 2,
        "two names of one tensor": lambda checkpoints: (
            len({id(tensor) for tensor in checkpoints[0].values()}) < len(checkpoints[0])
        ),
        "names in another order": lambda checkpoints: (
            len({tuple(checkpoint) for checkpoint in checkpoints}) > 1
        ),
        "a scalar": lambda checkpoints: any(t.dim() == 0 for t in checkpoints[0].values()),
        "more than five": lambda checkpoints: len(checkpoints) > 5,
        "more than ten": lambda checkpoints: len(checkpoints) > 10,
        "the same one twice": lambda checkpoints: any(
            all(torch.equal(one[name], other[name]) for name in one)
            for one, other in pairwise(checkpoints)
        ),
        "a weight that does not change": lambda checkpoints: (
            len(checkpoints) > 1
            and any(
                all(torch.equal(first, checkpoint[name]) for checkpoint in checkpoints)
                for name, first in checkpoints[0].items()
            )
        ),
        "numbers beyond 100": lambda checkpoints: any(
            bool((weight.abs() > 100).any()) for weight in checkpoints[0].values()
        ),
        "zeros alone": lambda checkpoints: not all(w.any() for w in checkpoints[0].values()),
        "a weight of one number": lambda checkpoints: any(
            weight.dim() > 0 and weight.numel() == 1 for weight in checkpoints[0].values()
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(AVERAGE)


Checkpoint = dict[str, Tensor]


def _summed(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    return {name: sum(c[name] for c in checkpoints) for name in checkpoints[0]}


@mistake(
    "average",
    "checkpoints summed",
    met=("nonsense", 23),
    symptom="The weights are too large by a factor of the number of checkpoints.",
    cause="Return each sum divided by their number: `w = w / n` in a loop over values() changes "
    "no entry.",
)
def checkpoints_summed(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    return _summed(checkpoints)


@mistake(
    "average",
    "running average of halves",
    symptom="From the second on, each checkpoint counts as much as all before it together.",
    cause="(average + next) / 2 halves the earlier ones each time: add all, then divide once.",
)
def halved_again_and_again(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    average: dict[str, Any] = dict(checkpoints[0])
    for checkpoint in checkpoints[1:]:
        average = {name: (average[name] + checkpoint[name]) / 2 for name in average}
    return average


@mistake(
    "average",
    "the last checkpoint",
    met=("bleu", 11),
    symptom="It gives the last checkpoint alone.",
    cause="Begin the sum before the loop, add each checkpoint to it, and divide by their number "
    "behind the loop.",
)
def last_alone(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    return dict(checkpoints[-1])


@mistake(
    "average",
    "average divided by two",
    symptom="It is right for two checkpoints only.",
    cause="Divide by their number, len(checkpoints).",
)
def divided_by_two(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    return {name: total / 2 for name, total in _summed(checkpoints).items()}


@mistake(
    "average",
    "first checkpoint counted twice",
    symptom="The first checkpoint counts for more.",
    cause="It is added twice: begin the sum with zeros, and add each checkpoint once.",
)
def first_twice(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    total = _summed([checkpoints[0], *checkpoints])
    return {name: weight / len(checkpoints) for name, weight in total.items()}


@mistake(
    "average",
    "one number for each weight",
    symptom="Each weight has become a single number.",
    cause="The entries are averaged, too, as by mean() without dim: take the mean over dim=0 of "
    "the stack.",
)
def mean_over_all(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    return {name: torch.stack([c[name] for c in checkpoints]).mean() for name in checkpoints[0]}


@mistake(
    "average",
    "running mean with its shares exchanged",
    symptom="It is right for two checkpoints; with more, the last one counts for most of it.",
    cause="With the n-th the mean so far keeps (n − 1) / n, and the new one gets 1 / n.",
    seen="Stochastic Weight Averaging bug, https://github.com/pbaylies/stylegan-encoder/issues/13",
)
def shares_exchanged(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    mean: dict[str, Any] = dict(checkpoints[0])
    for n, checkpoint in enumerate(checkpoints[1:], start=1):
        mean = {name: (n * checkpoint[name] + mean[name]) / (n + 1) for name in mean}
    return mean


@mistake(
    "average",
    "the first checkpoint",
    symptom="It gives the first checkpoint alone.",
    cause="Begin the sum with zeros, add each checkpoint to it in the loop, and divide by their "
    "number behind the loop.",
)
def first_alone(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    return dict(checkpoints[0])
