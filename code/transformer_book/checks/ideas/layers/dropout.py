"""Dropout (chapter 10): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def dropout_cases() -> Sequence[Case]:
    def some(*shape: int, p: float, seed: int) -> tuple[Tensor, float, Tensor]:
        return normal(*shape, seed=seed), p, normal(*shape, seed=seed + 1) > (p - 0.5)

    four = torch.tensor([2.0, 4.0, 6.0, 8.0]), 0.5, torch.tensor([True, False, True, True])
    seldom = torch.tensor([[[[True, False, False]], [[False, True, False]]]])
    return (
        Case("four numbers, p = 0.5", (*four, True)),
        Case("the same in evaluation", (*four, False)),
        Case("p = 0.1", (*some(3, 4, p=0.1, seed=1), True)),
        Case("p = 0.75", (*some(2, 3, 4, p=0.75, seed=2), True)),
        Case("p = 0.3", (*some(50, 60, p=0.3, seed=4), True)),
        Case("p = 0.1 in evaluation", (*some(3, 4, p=0.1, seed=1), False)),
        Case("p = 0.75 in evaluation", (*some(2, 3, 4, p=0.75, seed=2), False)),
        Case("p = 0", (*some(2, 3, p=0.0, seed=6)[:2], torch.ones(2, 3).bool(), True)),
        Case("all dropped", (normal(1, 4, seed=8), 0.9, torch.zeros(1, 4).bool(), True)),
        Case(
            "behind a ReLU", (normal(4, 5, seed=10).relu(), *some(4, 5, p=0.4, seed=11)[1:], True)
        ),
        Case("all kept by chance", (normal(2, 2, seed=9), 0.2, torch.ones(2, 2).bool(), True)),
        Case(
            "p = 0.995, large numbers, four axes",
            (2000 * normal(1, 2, 1, 3, seed=20), 0.995, seldom, True),
        ),
        Case("one number", (torch.tensor([3.0]), 0.75, torch.tensor([True]), True)),
        Case(
            "all dropped, but in evaluation",
            (normal(2, 3, seed=21), 0.9, torch.zeros(2, 3).bool(), False),
        ),
    )


DROPOUT = Component(
    name="dropout",
    chapter=10,
    order=5,
    section="Dropout",
    signature="x, p, keep, training",
    pipeline=lambda s, x, p, keep, training: (
        s.rescale(s.drop(x, keep), p) if training else s.evaluate(x, p, keep)
    ),
    steps={
        "drop": lambda x, keep: x * keep,
        "rescale": lambda x, p: x / (1 - p),
        "evaluate": lambda x, p, keep: x,
    },
    cases=dropout_cases,
    returns="in training, x with zeros where the boolean `keep` is False, which happens with "
    "probability p, 0 ≤ p < 1, and the other entries enlarged so that the expected value stays; "
    "else x, whose entries are finite",
    met="worse",
    ready_made={"F.dropout": F.dropout, "torch.dropout": torch.dropout},
    boundaries={
        "evaluation": lambda training: not training,
        "p = 0": lambda p: p == 0,
        "a number that is 0": lambda x: bool((x == 0).any()),
        "p below a half": lambda p: 0 < p < 0.5,
        "p above a half": lambda p: p > 0.5,
        "all dropped": lambda keep, training: training and not keep.any(),
        "p above 0.99": lambda p: p > 0.99,
        "numbers beyond 100": lambda x: bool((x.abs() > 100).any()),
        "four axes": lambda x: x.dim() == 4,
        "one number": lambda x: x.numel() == 1,
        "all dropped, but in evaluation": lambda keep, training: not training and not keep.any(),
        "all kept, and p": lambda keep, p, training: training and bool(keep.all()) and p > 0,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(DROPOUT)


@mistake(
    "rescale",
    "what survives is not enlarged",
    met=("worse", 15),
    symptom="In training the outputs are, on average, 1 − p times those in evaluation.",
    cause="Divide what survives by 1 − p.",
)
def not_enlarged(x: Tensor, p: float) -> Tensor:
    return x


@mistake(
    "rescale",
    "divided by p",
    symptom="What survives is multiplied by 1/p, not by 1/(1 − p).",
    cause="Divide by 1 − p, the probability of surviving, not by p.",
)
def divided_by_p(x: Tensor, p: float) -> Tensor:
    return x / p


@mistake(
    "rescale",
    "multiplied by 1 − p in training",
    symptom="What survives is multiplied by 1 − p, not divided by it.",
    cause="Divide by 1 − p.",
)
def multiplied(x: Tensor, p: float) -> Tensor:
    return x * (1 - p)


@mistake(
    "drop",
    "keep taken for drop",
    symptom="What should survive is dropped.",
    cause="keep is True where an entry survives.",
)
def kept_dropped(x: Tensor, keep: Tensor) -> Tensor:
    return x * ~keep


@mistake(
    "evaluate",
    "dropout left on in evaluation",
    met=("random", 1),
    symptom="In evaluation numbers are dropped and the others enlarged, as in training.",
    cause="Return x as it is unless training.",
    seen="Dropout not disabled for eval when using SDPA, "
    "https://github.com/wenet-e2e/wenet/issues/2699",
)
def always_on(x: Tensor, p: float, keep: Tensor) -> Tensor:
    return x * keep / (1 - p)


@mistake(
    "evaluate",
    "scaled in evaluation in place of training",
    met=("harmless", 21),
    symptom="This scales by 1 − p in evaluation, and not in training.",
    cause="An older convention, consistent in itself. PyTorch and this book enlarge in training.",
    kind="convention",
    steps={"rescale": not_enlarged},
)
def scaled_in_evaluation(x: Tensor, p: float, keep: Tensor) -> Tensor:
    return x * (1 - p)


@mistake(
    "drop",
    "declared and never applied",
    symptom="Nothing is ever dropped.",
    cause="In training, multiply by keep and divide by 1 − p.",
    steps={"rescale": not_enlarged},
)
def never_applied(x: Tensor, keep: Tensor) -> Tensor:
    return x


@mistake(
    "rescale",
    "multiplied by one plus p",
    symptom="For p above 0, what survives is enlarged too little.",
    cause="1 + p is near 1 / (1 − p) for small p only: divide by 1 − p.",
)
def one_plus_p(x: Tensor, p: float) -> Tensor:
    return x * (1 + p)


@mistake(
    "evaluate",
    "made smaller in evaluation, too",
    symptom="In evaluation the outputs are multiplied by 1 − p.",
    cause="Enlarge in training alone: in evaluation return x as it is.",
)
def smaller_in_evaluation(x: Tensor, p: float, keep: Tensor) -> Tensor:
    return x * (1 - p)


@mistake(
    "evaluate",
    "enlarged in evaluation",
    symptom="In evaluation the outputs are too large by a factor of 1 / (1 − p).",
    cause="Enlarge in training alone: in evaluation return x as it is.",
)
def larger_in_evaluation(x: Tensor, p: float, keep: Tensor) -> Tensor:
    return x / (1 - p)


@mistake(
    "rescale",
    "enlarged twice",
    symptom="What survives is divided by (1 − p)².",
    cause="Divide what survives by 1 − p, once.",
)
def enlarged_twice(x: Tensor, p: float) -> Tensor:
    return x / (1 - p) ** 2
