"""RMSNorm in two bytes (chapter 25): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def observe_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """The numbers of the answer and their type, which are compared one after the other."""

    def observed(*arguments: Any, **keywords: Any) -> Any:
        found = function(*arguments, **keywords)
        if not isinstance(found, Tensor):
            return found
        return {"the type": str(found.dtype), "the numbers": found.float()}

    return observed


def roughly(case: Case, answer: Any) -> Any:
    """To an eighth: what is left of an answer when rounding in two bytes is no matter."""
    if not isinstance(answer, dict):
        return answer
    return [answer["the type"], (8 * answer["the numbers"]).round()]


def half_pipeline(s, x, weight, eps=1e-5):
    wide = s.widen(x)  # (…, D)
    normalised = s.divide(wide, s.mean_square(wide, x), eps)  # (…, D)
    return s.narrow(normalised, weight, x)  # (…, D)


def half_cases() -> Sequence[Case]:
    def row(*numbers: float, kind: torch.dtype = torch.float16) -> Tensor:
        return torch.tensor([[numbers]], dtype=kind)

    def weight(*numbers: float, kind: torch.dtype = torch.float16) -> Tensor:
        return torch.tensor(numbers, dtype=kind)  # powers of two, which round nothing

    b16 = torch.bfloat16
    some = weight(1, 2, -1, 0.5)
    return (
        Case("four numbers", (row(1, 7, -5, 5), weight(1, 1, 1, 1))),
        Case("squares beyond float16", (row(300, 2100, -1500, 1500), some)),
        Case("one square beyond float16", (row(300, 0, 100, -1), some)),
        Case("large numbers", (row(60000, -30000, 20000, 50000), some)),
        Case("zeros, ε = 1e-8", (row(0, 0, 0, 0), some), {"eps": 1e-8}),
        Case(
            "a row of zeros", (torch.cat([row(3, 1, 0, 5), row(0, 0, 0, 0)]), some), {"eps": 1e-9}
        ),
        Case("random", ((3 * normal(4, 3, 4, seed=1)).half(), some)),
        Case("small numbers", ((0.01 * normal(2, 2, 4, seed=2)).half(), some)),
        Case("bfloat16", (row(1, 7, -5, 5, kind=b16), weight(1, 1, 2, 1, kind=b16))),
        Case("bfloat16, random", (normal(1, 3, 4, seed=3).bfloat16(), some.bfloat16())),
        Case("bfloat16, large", (row(70000, 3e5, -1e5, 1, kind=b16), some.bfloat16())),
        Case("float32", (normal(1, 2, 4, seed=4), some.float())),
        Case("ε = 0.1", (normal(1, 3, 4, seed=5).half(), some), {"eps": 0.1}),
        Case(
            "float32, large and small, ε = 0",
            (torch.tensor([[[1e5, 3e5, -1e5, 1.0], [1e-4, 3e-4, -1e-4, 0.0]]]), some.float()),
            {"eps": 0.0},
        ),
        Case(
            "bfloat16, one feature, and a zero",
            (torch.tensor([[[3.0], [-0.5], [0.0]]], dtype=b16), weight(2, kind=b16)),
        ),
        Case("1500 features", (row(*[1.0] * 1100, *[3.0] * 400), weight(*[1.0] * 1500))),
    )


HALF = Component(
    name="rms_norm_in_half",
    chapter=25,
    order=2,
    section="Squares in two bytes",
    signature="x, weight, eps=1e-5",
    pipeline=half_pipeline,
    steps={
        "widen": lambda x: x.float(),
        "mean_square": lambda wide, x: wide.square().mean(dim=-1, keepdim=True),
        "divide": lambda wide, mean_square, eps: wide / torch.sqrt(mean_square + eps),
        "narrow": lambda normalised, weight, x: (weight * normalised).to(x.dtype),
    },
    cases=half_cases,
    returns="`(B, T, D)`, each position's features divided by the root of the mean of their "
    "squares plus ε, and scaled by `weight` (D,): of the type of `x`, which may be float16, "
    "bfloat16 or float32, and rounded to it only at the end, or before the weight. Judged by the "
    "numbers and by their type",
    differentiable=False,
    observe=observe_numbers,
    settled=roughly,  # in two bytes every way of writing it rounds otherwise
    done_by="RMSNorm",
    met="nan",
    boundaries={
        "squares beyond float16": lambda x: bool(x.double().square().max() > 65504),
        "bfloat16": lambda x: x.dtype == torch.bfloat16,
        "float32": lambda x: x.dtype == torch.float32,
        "zeros": lambda x: not x.any(),
        "zeros in bfloat16": lambda x: x.dtype == torch.bfloat16 and (x == 0).all(-1).any(),
        "float32 beyond float16": lambda x: x.dtype == torch.float32 and x.max() > 65504,
        "no ε": lambda eps: eps == 0.0,
        "one feature": lambda x: x.size(-1) == 1,
        "more than 1024 features": lambda x: x.size(-1) > 1024,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(HALF)


@mistake(
    "widen",
    "RMSNorm computed in two bytes",
    symptom="In float16 large features come out as zeros, and zeros as nan if ε is tiny; "
    "squares and mean are rounded.",
    cause="In float16 the square of 256 is inf, and an ε of 1e-8 is 0: compute in float32, "
    "x.float(), and round the result.",
)
def as_it_came(x: Tensor) -> Tensor:
    return x


@mistake(
    "mean_square",
    "squared before .float()",
    symptom="In float16 large features make the whole position zero, for squares end at 65504.",
    cause="Widen first, then square and add up in float32, `x.float().square()`: in float16 the "
    "square of 256 is inf.",
)
def squared_first(wide: Tensor, x: Tensor) -> Tensor:
    return x.square().float().mean(dim=-1, keepdim=True)


@mistake(
    "mean_square",
    "mean of the squares rounded to two bytes",
    symptom="In float16 positions whose mean square is 65520 or more become zero.",
    cause="Keep the mean in float32, and round the result alone.",
)
def mean_rounded(wide: Tensor, x: Tensor) -> Tensor:
    return wide.square().mean(dim=-1, keepdim=True).to(x.dtype)


@mistake(
    "mean_square",
    "squares cut off at the largest float16",
    symptom="Positions with features of 256 and more come out too large.",
    cause="Compute the squares in float32, and set no limit to them.",
)
def cut_off(wide: Tensor, x: Tensor) -> Tensor:
    return wide.square().clamp(max=65504).mean(dim=-1, keepdim=True)


@mistake(
    "narrow",
    "left in float32",
    met=("sizes", 0),
    symptom="The numbers are right, and come back in float32, whatever came in.",
    cause="Bring the result back to the type in which x came: note `x.dtype` before you widen x.",
)
def left_wide(normalised: Tensor, weight: Tensor, x: Tensor) -> Tensor:
    return weight.float() * normalised


@mistake(
    "narrow",
    "float16, whatever came in",
    met=("sizes", 0),
    symptom="It is right for float16, and bfloat16 or float32 come out as float16.",
    cause="Bring the result back to the type in which x came, `.to(x.dtype)`.",
)
def always_half(normalised: Tensor, weight: Tensor, x: Tensor) -> Tensor:
    return (weight * normalised).half()


@mistake(
    "divide",
    "ε beside the squares of scaled numbers",
    met=("nan", 0),
    symptom="A row of zeros becomes nan, and rows of small numbers come out too large.",
    cause="Add ε to the mean of the squares of x itself. If each row is divided by its largest |x| "
    "first, divide ε by the square of that, and leave rows of zeros as they are.",
    seen="Fix rms_norm eps inflation from max-|x| rescale; guard all-zero input, "
    "https://github.com/apple/coremltools/pull/2822",
)
def scaled_by_the_largest(wide: Tensor, mean_square: Tensor, eps: float) -> Tensor:
    scaled = wide / wide.abs().amax(dim=-1, keepdim=True)
    return scaled / torch.sqrt(scaled.square().mean(dim=-1, keepdim=True) + eps)


@mistake(
    "narrow",
    "weight forgotten in two bytes",
    met=("worse", 0),
    symptom="The features come out without their weights.",
    cause="Multiply by `weight`, before or after rounding.",
)
def no_weight(normalised: Tensor, weight: Tensor, x: Tensor) -> Tensor:
    return normalised.to(x.dtype)
