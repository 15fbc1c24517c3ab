"""Clip gradients (chapter 15): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def clip_cases() -> Sequence[Case]:
    hand = [torch.tensor([3.0, 0.0]), torch.tensor([[0.0, 4.0]])]
    return (
        Case("a length of 5, limit 1", (hand, 1.0)),
        Case("a length of 5, limit 10", (hand, 10.0)),
        Case("random, limit 1", ([normal(3, seed=1), normal(2, 2, seed=2)], 1.0)),
        Case("one long, one short", ([10 * normal(4, seed=3), 0.1 * normal(3, seed=4)], 2.0)),
        Case("short already", ([0.01 * normal(4, seed=5)], 1.0)),
        Case("two short ones", ([0.1 * normal(3, seed=9), 0.1 * normal(2, 2, seed=10)], 3.0)),
        Case("three tensors", ([normal(5, seed=6), normal(2, 3, seed=7), normal(1, seed=8)], 0.5)),
        Case("a length of 0", ([torch.zeros(3)], 1.0)),
        Case("long together only", ([torch.tensor([0.8]), torch.tensor([[-0.5, 0.6]])], 1.0)),
        Case(
            "a limit below one", ([0.01 * normal(4, seed=11), 0.03 * normal(1, 2, seed=12)], 0.01)
        ),
        Case("a tensor of zeros among others", ([torch.zeros(2), torch.tensor([3.0, 4.0])], 1.0)),
        Case(
            "gradients in the thousands, of no axis to four",
            (
                [
                    torch.tensor(2000.0),
                    3000 * normal(2, 1, 3, seed=13),
                    normal(1, 2, 1, 2, seed=14),
                ],
                40.0,
            ),
        ),
        Case("many tensors", ([normal(2, seed=20 + i) for i in range(130)], 1.5)),
    )


def length(gradients: Sequence[Tensor]) -> Tensor:
    return torch.sqrt(sum(gradient.square().sum() for gradient in gradients))


CLIP = Component(
    name="clip_gradients",
    chapter=15,
    order=5,
    section="Clipping",
    signature="gradients, limit",
    pipeline=lambda s, gradients, limit: s.shorten(gradients, limit),
    steps={
        "shorten": lambda gradients, limit: [
            g * limit / length(gradients) if length(gradients) > limit else g for g in gradients
        ]
    },
    cases=clip_cases,
    returns="a list of tensors: if their common length, the root of the sum of all squares, is "
    "above `limit`, the same direction with a common length of `limit`; else the same numbers; "
    "1e-6 beside a length, as PyTorch adds it, is no matter. The gradients that came in stay as "
    "they are",
    differentiable=False,
    done_by="Trainer",
    met="worse",
    ready_made={
        "nn.utils.clip_grad_norm_": nn.utils.clip_grad_norm_,
        "nn.utils.clip_grads_with_norm_": nn.utils.clip_grads_with_norm_,
        "nn.utils.get_total_norm": nn.utils.get_total_norm,
    },
    boundaries={
        "one tensor": lambda gradients: len(gradients) == 1,
        "several tensors": lambda gradients: len(gradients) > 1,
        "a length of 0": lambda gradients: not any(g.any() for g in gradients),
        "zeros among others": lambda gradients: (
            0 < sum(bool(g.any()) for g in gradients) < len(gradients)
        ),
        "a limit below one": lambda limit: limit < 1,
        "a limit above one": lambda limit: limit > 1,
        "a tensor without an axis": lambda gradients: any(g.dim() == 0 for g in gradients),
        "three axes or more": lambda gradients: any(g.dim() > 2 for g in gradients),
        "gradients above 1000": lambda gradients: any((g.abs() > 1000).any() for g in gradients),
        "more than 128 tensors": lambda gradients: len(gradients) > 128,
        "short singly, long together": lambda gradients, limit: (
            max(float(g.norm()) for g in gradients)
            <= limit
            < float(torch.cat([g.flatten() for g in gradients]).norm())
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(CLIP)


@mistake(
    "shorten",
    "each tensor clipped on its own",
    symptom="With several tensors the direction of the step may change.",
    cause="Take the length of all gradients together, and shorten all by the same factor.",
)
def one_by_one(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return [g * limit / g.norm() if g.norm() > limit else g for g in gradients]


@mistake(
    "shorten",
    "values clipped in place of the length",
    symptom="Each number is cut off at the limit, and the direction may change.",
    cause="Shorten the whole gradient, as clip_grad_norm_ does, and not clip_grad_value_.",
)
def values_clipped(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return [g.clamp(-limit, limit) for g in gradients]


@mistake(
    "shorten",
    "always brought to the limit",
    symptom="Gradients that are short, and not 0, are made longer.",
    cause="Leave gradients alone that are short enough.",
)
def always_scaled(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return [g * limit / length(gradients) for g in gradients]


@mistake(
    "shorten",
    "root forgotten in the length",
    symptom="Gradients longer than 1 may come out too short, and shorter ones too long.",
    cause="The length is the root of the sum of squares.",
)
def squared_length(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    square = length(gradients) ** 2
    return [g * limit / square if square > limit else g for g in gradients]


@mistake(
    "shorten",
    "not clipped",
    met=("nan", 9),
    symptom="Long gradients stay long.",
    cause="If the length exceeds the limit, hand back the gradients times limit / length.",
)
def not_clipped(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return list(gradients)


def _clipped(gradients: Sequence[Tensor], size: Tensor, limit: float) -> list[Tensor]:
    return [g * limit / size if size > limit else g for g in gradients]


@mistake(
    "shorten",
    "lengths of the tensors added up",
    symptom="With several tensors the gradients may be shortened too much.",
    cause="The common length is the root of the sum of squares, not the sum of the lengths.",
)
def lengths_added(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return _clipped(gradients, sum(g.norm() for g in gradients), limit)


@mistake(
    "shorten",
    "longest tensor taken for the length",
    symptom="With several tensors the gradients may stay too long.",
    cause="The common length is the root of the sum of squares over all tensors, not the largest.",
)
def longest_tensor(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return _clipped(gradients, max(g.norm() for g in gradients), limit)


@mistake(
    "shorten",
    "absolute values added up",
    symptom="With several numbers the gradients may be shortened too much.",
    cause="The length is the root of the sum of squares, not the sum of absolute values.",
)
def absolute_values(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return _clipped(gradients, sum(g.abs().sum() for g in gradients), limit)


@mistake(
    "shorten",
    "largest entry taken for the length",
    symptom="With several numbers the gradients may stay too long.",
    cause="The length is the root of the sum of squares, not the largest absolute value.",
)
def largest_entry(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return _clipped(gradients, max(g.abs().max() for g in gradients), limit)


@mistake(
    "shorten",
    "limit fixed at one",
    symptom="The argument limit changes nothing.",
    cause="Gradients are held against 1, whatever is asked for: use limit.",
)
def always_one(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return _clipped(gradients, length(gradients), 1.0)


@mistake(
    "shorten",
    "limit forgotten in the numerator",
    symptom="Long gradients come out with length 1, whatever the limit is.",
    cause="Multiply by limit / length, not by 1 / length.",
)
def unit_length(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return [g / length(gradients) if length(gradients) > limit else g for g in gradients]
