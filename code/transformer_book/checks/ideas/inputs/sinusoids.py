"""Sinusoids (chapter 5): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import BUFFERS, longer_than, on
from transformer_book.checks.components import Case, Component, mistakes_in


def position_cases() -> Sequence[Case]:
    # Some are longer or wider than any buffer.
    sizes = ((3, 4), (1, 2), (5, 8), (7, 6), (12, 16), (40, 10), (2, 512), (5010, 4))
    sizes = (*sizes, (8, 8), (16400, 2), (2, 2052))
    return tuple(Case(f"{t} positions, d_model = {d}", (t, d)) for t, d in sizes)


def positions_pipeline(s, length, d_model):
    position = s.places(length)[:, None]  # (T, 1)
    angle = position / s.base() ** s.exponents(d_model)  # (T, D/2)
    return s.arrange(s.first(angle), s.second(angle)).to(torch.float32)  # (T, D)


POSITIONS = Component(
    name="sinusoids",
    chapter=5,
    order=1,
    section="By hand: a clock for places",
    signature="length, d_model",
    pipeline=positions_pipeline,
    steps={
        "places": lambda length: torch.arange(length, dtype=torch.float64),
        "base": lambda: 10000.0,
        "exponents": lambda d_model: torch.arange(0, d_model, 2, dtype=torch.float64) / d_model,
        "first": torch.sin,
        "second": torch.cos,
        "arrange": lambda first, second: torch.stack([first, second], dim=-1).flatten(1),
    },
    cases=position_cases,
    returns="`(T, D)`, D even: sines in the even columns, cosines in the odd ones, of p / "
    "10000^(2i/D) in the columns 2i and 2i + 1 of position p, which counts from 0",
    differentiable=False,
    met="worse",
    ready_made={"embeddings.sinusoids": "embeddings.sinusoids"},
    boundaries={
        "one position": lambda length: length == 1,
        "two features": lambda d_model: d_model == 2,
        "more features than positions": lambda length, d_model: d_model > length,
        "more positions than features": lambda length, d_model: d_model < length,
        "as many features as positions": lambda length, d_model: d_model == length,
        "d_model beyond 256": lambda d_model: d_model > 256,
        "d_model beyond 1024": lambda d_model: d_model > 1024,
        **on("length", longer_than((*BUFFERS, 5000, 8192), int)),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(POSITIONS)


@mistake(
    "exponents",
    "doubled exponent",
    met=("worse", 12),
    symptom="The exponents of 10000 are doubled: where 2i/D is a half or more, the columns hardly "
    "move.",
    cause="Divide the position once by 10000^(2i/d_model). arange(0, d_model, 2) counts 2i: "
    "neither double it again nor divide it by d_model / 2.",
    section="Break it: the exponent doubled",
)
def doubled(d_model: int) -> Tensor:
    return 2 * torch.arange(0, d_model, 2, dtype=torch.float64) / d_model


@mistake(
    "exponents",
    "halved exponent",
    symptom="The exponents of 10000 are half of what they should be.",
    cause="The base is 10000, and the exponent is 2i/d_model with i = 0, 1, 2, …, not i/d_model.",
    section="Break it: the exponent doubled",
)
def halved(d_model: int) -> Tensor:
    return torch.arange(0, d_model // 2, dtype=torch.float64) / d_model


@mistake(
    "exponents",
    "integer frequencies",
    symptom="All pairs of columns turn equally fast.",
    cause="Divide the position of each pair by its own 10000^(2i/d_model); 2i // d_model would "
    "always be 0: divide with /.",
    section="Break it: the exponent doubled",
    seen="model/embedding/position.py, https://github.com/codertimo/BERT-pytorch/issues/18",
)
def whole_numbers(d_model: int) -> Tensor:
    return (torch.arange(0, d_model, 2) // d_model).double()


@mistake(
    "exponents",
    "whole-number frequencies",
    symptom="All columns but the first two are constant, or nearly.",
    cause="The exponents are 2i/d_model, for all pairs of columns. Divide with /: by //, or in a "
    "tensor of whole numbers, frequencies below 1 become 0.",
    section="Break it: the exponent doubled",
)
def frequencies_rounded_down(d_model: int) -> Tensor:
    # 10000 to the power of infinity divides every angle to zero.
    exponents = torch.full((d_model // 2,), math.inf, dtype=torch.float64)
    exponents[0] = 0.0
    return exponents


@mistake(
    "exponents",
    "exponent per column",
    symptom="Sine and cosine of a pair have different wavelengths, so that no shift is a rotation.",
    cause="Columns 2i and 2i + 1 share one exponent, 2i/d_model.",
    steps={
        "first": lambda angle: angle[:, 0::2].sin(),
        "second": lambda angle: angle[:, 1::2].cos(),
    },
    seen="Position Encoding, https://github.com/maxjcohen/transformer/issues/62",
)
def every_column(d_model: int) -> Tensor:
    return torch.arange(d_model, dtype=torch.float64) / d_model


@mistake(
    "exponents",
    "doubled exponent per column",
    symptom="From the second column on the exponents are too large, and those of a sine and its "
    "cosine differ.",
    cause="Columns 2i and 2i + 1 share the exponent 2i/d_model, not 2j/d_model with j the column.",
    section="Break it: the exponent doubled",
    steps={
        "first": lambda angle: angle[:, 0::2].sin(),
        "second": lambda angle: angle[:, 1::2].cos(),
    },
    seen="Positional Encoding, "
    "https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/32",
)
def doubled_per_column(d_model: int) -> Tensor:
    return 2 * torch.arange(d_model, dtype=torch.float64) / d_model


@mistake(
    "base",
    "1000 in place of 10000",
    symptom="All wavelengths but the first are too short.",
    cause="The base is 10000.",
    seen="Position Encoding, https://github.com/maxjcohen/transformer/issues/62",
)
def smaller_base() -> float:
    return 1000.0


@mistake(
    "places",
    "positions from one",
    symptom="Each row is that of the next position.",
    cause="Positions count from zero.",
)
def from_one(length: int) -> Tensor:
    return torch.arange(1, length + 1, dtype=torch.float64)


@mistake(
    "arrange",
    "halves in place of interleaved",
    met=("harmless", 12),
    symptom="All sines stand in the first half of the columns, all cosines in the second.",
    cause="A convention, the same up to the order of the columns: the paper interleaves them.",
    section="Break it: halves instead of pairs",
    kind="convention",
)
def in_halves(first: Tensor, second: Tensor) -> Tensor:
    return torch.cat([first, second], dim=-1)


@mistake(
    "first",
    "sine and cosine exchanged",
    met=("harmless", 13),
    symptom="Cosines stand in the even columns, sines in the odd ones.",
    cause="A convention, the same up to the order of the columns: the paper begins with sines.",
    section="Break it: halves instead of pairs",
    kind="convention",
    steps={"second": torch.sin},
)
def cosine_first(angle: Tensor) -> Tensor:
    return angle.cos()


@mistake(
    "second",
    "sines only",
    symptom="Sines stand in all columns.",
    cause="The odd columns are cosines: with both, a shift is a rotation.",
)
def sine_twice(angle: Tensor) -> Tensor:
    return angle.sin()


@mistake(
    "exponents",
    "exponent over d_model minus two",
    symptom="With several pairs of columns the exponents run up to 1: the longest wavelength is "
    "10000 · 2π.",
    cause="The exponent is 2i / d_model, not 2i / (d_model − 2), as linspace(0, 1, …) has it.",
)
def up_to_one(d_model: int) -> Tensor:
    return torch.linspace(0, 1, d_model // 2, dtype=torch.float64)


@mistake(
    "base",
    "angles multiplied in place of divided",
    symptom="The later columns turn faster and faster, not slower.",
    cause="Divide the position by 10000^(2i/d_model), do not multiply by it.",
)
def inverse_base() -> float:
    return 1 / 10000.0


@mistake(
    "exponents",
    "exponent per column, rounded down",
    symptom="The first half of the columns turns by 1 a position, and the second by 1/10000.",
    cause="(2 * j) // d_model is 0 or 1. Divide with /, and let the columns 2i and 2i + 1 share "
    "the exponent 2i / d_model.",
    steps={
        "first": lambda angle: angle[:, 0::2].sin(),
        "second": lambda angle: angle[:, 1::2].cos(),
    },
)
def floored_per_column(d_model: int) -> Tensor:
    return (2 * torch.arange(d_model) // d_model).double()


@mistake(
    "exponents",
    "−log(10000)/d_model rounded down",
    symptom="The wavelengths grow too fast, with many features far too fast.",
    cause="`-math.log(10000) // d_model` is a whole number, −1 or below: divide with / alone.",
    seen="Wrong usage in position encoding, https://github.com/zju3dv/LoFTR/issues/41",
)
def rounded_logarithm(d_model: int) -> Tensor:
    step = math.log(10000.0) / d_model
    return torch.arange(0, d_model, 2).double() * math.ceil(step) / math.log(10000.0)


@mistake(
    "exponents",
    "−log(10000)/d_model // 2",
    symptom="From pair to pair the frequency is divided by e, or by a whole power of it.",
    cause="`-math.log(10000) / d_model // 2` is rounded down to a whole number: the rate is "
    "-2 * math.log(10000) / d_model.",
)
def rounded_half(d_model: int) -> Tensor:
    rate = math.log(10000.0) / d_model / 2
    return torch.arange(d_model // 2).double() * math.ceil(rate) / math.log(10000.0)
