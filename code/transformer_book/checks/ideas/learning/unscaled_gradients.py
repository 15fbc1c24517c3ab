"""Unscaled gradients (chapter 23): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.learning.clip_gradients import CLIP, length

Gradients = Sequence[Tensor]


def scaled_cases() -> Sequence[Case]:
    def scaled(name: str, gradients: Gradients, scale: float, limit: float) -> Case:
        return Case(name, ([scale * gradient for gradient in gradients], scale, limit))

    hand = [torch.tensor([3.0, 0.0]), torch.tensor([[0.0, 4.0]])]
    inf, nan = torch.tensor([1.0, float("inf")]), torch.tensor([[2.0], [float("nan")]])
    one_number = [torch.tensor(3.0), torch.tensor([[0.0, 4.0]]), torch.zeros(2)]
    return (
        scaled("a length of 5, limit 1", hand, 8.0, 1.0),
        scaled("a length of 5, limit 10", hand, 8.0, 10.0),
        scaled("long, limit 2", [normal(4, seed=1), normal(2, 3, seed=2)], 1024.0, 2.0),
        scaled("short", [0.01 * normal(5, seed=3)], 256.0, 1.0),
        scaled("two short ones", [0.1 * normal(3, seed=4), 0.1 * normal(2, seed=5)], 64.0, 3.0),
        scaled("a scale below one", [2 * normal(3, seed=6), normal(2, seed=7)], 0.5, 1.0),
        scaled("inf", [inf, normal(2, seed=8)], 16.0, 1.0),
        scaled("inf in the last", [0.1 * normal(3, seed=9), -inf], 4.0, 2.0),
        scaled("nan", [normal(2, seed=10), nan], 32.0, 1.0),
        scaled("nan in the first", [nan, 0.1 * normal(2, seed=11)], 2.0, 5.0),
        scaled("inf and nan", [inf, nan], 8.0, 1.0),
        scaled("inf in the middle", [normal(2, seed=12), inf, normal(3, seed=13)], 8.0, 0.5),
        scaled("a length of 0", [torch.zeros(3)], 8.0, 1.0),
        scaled("a high limit", [normal(3, seed=14)], 4.0, 100.0),
        scaled(
            "higher than needed",
            [normal(2, 2, seed=15), normal(1, seed=16), torch.zeros(0)],
            2.0,
            50.0,
        ),
        scaled("a limit that is never met", [normal(4, seed=17)], 8.0, 1000.0),
        scaled("nan alone", [nan], 4.0, 2.0),
        scaled("a scale of one, a number alone, and zeros", one_number, 1.0, 1.0),
        scaled("inf, and a scale of one", [normal(2, seed=18), inf], 1.0, 1.0),
        scaled("nan, and a scale of one", [nan, normal(2, seed=19)], 1.0, 100.0),
        scaled(
            "a number, and four axes", [torch.tensor(3.0), normal(1, 1, 2, 2, seed=20)], 8.0, 2.0
        ),
        scaled("a limit below the scale", [3e9 * normal(3, seed=21)], 8.0, 5.0),
        scaled(
            "above what float16 holds", [torch.tensor([2.0, -1.0]), torch.ones(1)], 2.0**16, 10.0
        ),
    )


def unscaled_pipeline(s, gradients, scale, limit):
    if s.overflown(gradients):
        return s.skipped(gradients)
    return s.clip(s.unscale(gradients, scale), scale, limit)


def shortened(gradients: Gradients, size: Tensor, limit: float) -> Gradients:
    return [gradient * limit / size if size > limit else gradient for gradient in gradients]


UNSCALED = Component(
    name="unscaled_gradients",
    chapter=23,
    order=1,
    section="Two bytes with a shorter reach",
    signature="gradients, scale, limit",
    pipeline=unscaled_pipeline,
    steps={
        "overflown": lambda gradients: any(not g.isfinite().all() for g in gradients),
        "skipped": lambda gradients: [],
        "unscale": lambda gradients, scale: [gradient / scale for gradient in gradients],
        "clip": lambda gradients, scale, limit: shortened(gradients, length(gradients), limit),
    },
    cases=scaled_cases,
    returns="a list of tensors, the gradients for the step: the loss was multiplied by `scale`, so "
    "they are `scale` times too large. They are divided by it; if their common length is then "
    "above `limit`, they are shortened to it. If any number of any gradient is inf or nan, the "
    "update is skipped: an empty list. The gradients that came in stay as they are",
    differentiable=False,
    met="worse",
    ready_made=CLIP.ready_made,
    boundaries={
        "one tensor": lambda gradients: len(gradients) == 1,
        "inf": lambda gradients: any(g.isinf().any() for g in gradients),
        "nan": lambda gradients: any(g.isnan().any() for g in gradients),
        "long before, short afterwards": lambda gradients, scale, limit: bool(
            length(gradients) / scale <= limit < length(gradients)
        ),
        "a scale of one, and too long": lambda gradients, scale, limit: bool(
            scale == 1 and length(gradients) > limit
        ),
        "inf and a scale of one": lambda gradients, scale: (
            scale == 1 and any(g.isinf().any() for g in gradients)
        ),
        "nan and a scale of one": lambda gradients, scale: (
            scale == 1 and any(g.isnan().any() for g in gradients)
        ),
        "finite, and above what float16 holds": lambda gradients: (
            all(g.isfinite().all() for g in gradients)
            and any((g.abs() > 65504).any() for g in gradients)
        ),
        "a limit below the scale": lambda scale, limit, gradients: bool(
            limit < scale < length(gradients) / scale
        ),
        "a number alone": lambda gradients: any(g.dim() == 0 for g in gradients),
        "a number, and another scale than one": lambda gradients, scale: (
            scale != 1 and any(g.dim() == 0 for g in gradients)
        ),
        "zeros among others": lambda gradients: (
            len(gradients) > 1 and any((g == 0).all() for g in gradients)
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(UNSCALED)


@mistake(
    "clip",
    "clipped before the scale was taken off",
    symptom="The limit is held against the scaled length: where that is above it, the step is no "
    "longer than the limit divided by the scale.",
    cause="The limit is meant for the real length. Divide by the scale first, then measure the "
    "length and clip (scaler.unscale_(optimizer) before clip_grad_norm_).",
)
def clipped_too_early(gradients: Gradients, scale: float, limit: float) -> Gradients:
    return shortened(gradients, length(gradients) * scale, limit)


@mistake(
    "unscale",
    "scale never taken off",
    symptom="Before they are clipped, gradients are `scale` times what they should be.",
    cause="The loss was multiplied by the scale: divide its gradients by it, and clip and return "
    "the quotients. (`g = g / scale` in a loop changes no list.)",
)
def left_scaled(gradients: Gradients, scale: float) -> Gradients:
    return gradients


@mistake(
    "unscale",
    "scale taken off twice",
    symptom="Before they are clipped, gradients are 1 / `scale` times what they should be.",
    cause="The scale is taken off twice: divide by it once.",
)
def unscaled_twice(gradients: Gradients, scale: float) -> Gradients:
    return [gradient / scale**2 for gradient in gradients]


@mistake(
    "unscale",
    "multiplied by the scale once more",
    symptom="Before they are clipped, gradients are `scale` ** 2 times what they should be.",
    cause="The gradients hold the scale already: divide by it.",
)
def scaled_again(gradients: Gradients, scale: float) -> Gradients:
    return [gradient * scale for gradient in gradients]


@mistake(
    "clip",
    "unscaled, and not clipped",
    symptom="Long gradients stay long.",
    cause="If the divided gradients are longer than the limit, return them multiplied by limit / "
    "length. (clip_grad_norm_ shortens the .grad of what it is given.)",
)
def unclipped(gradients: Gradients, scale: float, limit: float) -> Gradients:
    return gradients


@mistake(
    "overflown",
    "a step with inf or nan",
    met=("nan", 0),
    symptom="A gradient of inf or nan makes a step: weights become inf or nan.",
    cause="Return an empty list if any number of any gradient is not finite: ask isfinite(), as "
    "`x == nan` is never true.",
)
def never_skipped(gradients: Gradients) -> bool:
    return False


@mistake(
    "overflown",
    "nan looked for, and not inf",
    met=("nan", 0),
    symptom="A gradient of inf makes a step: shortened to the limit it becomes nan.",
    cause="float16 overflows to inf: ask isfinite(), which sees inf and nan.",
)
def only_nan(gradients: Gradients) -> bool:
    return any(gradient.isnan().any() for gradient in gradients)


@mistake(
    "overflown",
    "inf looked for, and not nan",
    met=("nan", 0),
    symptom="A gradient of nan makes a step: weights become nan.",
    cause="inf − inf and 0 · inf are nan: ask isfinite(), which sees inf and nan.",
)
def only_inf(gradients: Gradients) -> bool:
    return any(gradient.isinf().any() for gradient in gradients)


@mistake(
    "overflown",
    "only the first gradient looked at",
    met=("nan", 0),
    symptom="An overflow in any other gradient makes a step.",
    cause="Ask all gradients: any of them may hold inf or nan.",
)
def first_only(gradients: Gradients) -> bool:
    return not gradients[0].isfinite().all()


@mistake(
    "skipped",
    "zeros in place of a skipped update",
    symptom="The update is made with zeros: momentum and weight decay, where there are any, move "
    "the weights.",
    cause="Do not step at all: return an empty list.",
)
def zeros(gradients: Gradients) -> Gradients:
    return [torch.zeros_like(gradient) for gradient in gradients]


@mistake(
    "clip",
    "each gradient clipped by its own length",
    symptom="With several tensors, their common length may stay above the limit, and the direction "
    "of the step may change.",
    cause="The limit is for all gradients together: one length, the root of the sum of all "
    "squares, and one factor.",
)
def each_alone(gradients: Gradients, scale: float, limit: float) -> Gradients:
    return [one for each in gradients for one in shortened([each], length([each]), limit)]
