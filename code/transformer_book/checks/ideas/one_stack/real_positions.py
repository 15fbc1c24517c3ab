"""Real positions (chapter 24): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import longer_than, on
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import OTHERS_IDS


def positions_pipeline(s, tokens):
    real = s.real(tokens)  # (B, T)
    return s.floor(s.start(s.count(real), real))  # (B, T)


def position_cases() -> Sequence[Case]:
    def rows(*ids: list[int]) -> tuple[Tensor]:
        return (torch.tensor(ids),)

    return (
        Case("padding in the middle", rows([10, 2, 0, 0, 1, 11], [4, 5, 2, 1, 8, 9])),
        Case("padding in front", rows([0, 0, 6, 2, 1], *[[0, 5, 7, 2, 1], [4, 5, 6, 2, 1]] * 3)),
        Case("one sentence, padded in front", rows([0, 0, 0, 7, 9])),
        Case("padding behind", rows([7, 2, 1, 0, 0], [7, 8, 9, 2, 1])),
        Case("twice", rows([7, 0, 2, 1, 0, 0, 3], [0, 4, 0, 5, 6, 0, 2])),
        Case("no padding", rows([4, 5, 6, 2], [9, 8, 7, 2])),
        Case("one token", rows([5], [0])),
        Case("three hundred tokens", rows([0] * 20 + [5, 7, 9, 2] * 75)),
        Case("long padding, and padding alone", rows([7, 2, 0, 0, 0, 0, 9, 256], [0] * 8)),
        Case(
            "two thousand tokens, and large ids",
            rows([0] * 20 + [*OTHERS_IDS, 65536, 9, 0, 2] * 600),
        ),
        Case("one sentence of one token", rows([5])),
    )


def counted(real: Tensor) -> Tensor:
    return real.cumsum(dim=1)


POSITIONS = Component(
    name="real_positions",
    chapter=24,
    order=3,
    section="Padding in the middle",
    signature="tokens",
    pipeline=positions_pipeline,
    steps={
        "real": lambda tokens: tokens != 0,
        "count": counted,
        "start": lambda count, real: count - 1,
        "floor": lambda positions: positions.clamp(min=0),
    },
    cases=position_cases,
    returns="the position of each token, whole numbers `(B, T)`: from ids `(B, T)` in which "
    "padding (0) may stand anywhere, real tokens are counted from zero; padding has the position "
    "of the last real token before it, or 0 if there is none",
    differentiable=False,
    met="batch",
    boundaries={
        "padding in front": lambda tokens: bool((tokens[:, 0] == 0).any()),
        "padding alone": lambda tokens: tokens.size(1) > 1 and bool((tokens == 0).all(1).any()),
        "four paddings between tokens": lambda tokens: any(
            "0000" in "".join("01"[token != 0] for token in row).strip("0")
            for row in tokens.tolist()
        ),
        "no padding": lambda tokens: bool((tokens != 0).all()),
        "one token": lambda tokens: tokens.size(1) == 1,
        "one sentence": lambda tokens: len(tokens) == 1,
        **on("tokens", longer_than((10, 100, 256, 512, 1024, 2048), lambda tokens: tokens.size(1))),
        "ids beyond 65535": lambda tokens: bool((tokens > 65535).any()),
        "one sentence of one token": lambda tokens: tokens.numel() == 1,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(POSITIONS)


@mistake(
    "real",
    "places of the tensor for positions",
    met=("batch", 23),
    symptom="A sentence's positions change with the padding in front of it.",
    cause="Count real tokens alone: `((tokens != 0).cumsum(1) - 1).clamp(min=0)`.",
)
def all_real(tokens: Tensor) -> Tensor:
    return torch.ones_like(tokens, dtype=torch.bool)


@mistake(
    "start",
    "real positions counted from one",
    symptom="The first real token has position 1.",
    cause="The running sum is 1 at the first real token: subtract one, and keep 0 as the least.",
)
def from_one(count: Tensor, real: Tensor) -> Tensor:
    return count


@mistake(
    "start",
    "counted from behind the padding's id",
    symptom="The first real token has position 1, and padding 0 wherever it stands.",
    cause="Count real tokens from 0; padding has the position of the last real token before it, "
    "or 0.",
)
def behind_the_padding(count: Tensor, real: Tensor) -> Tensor:
    return torch.where(real, count, 0)


@mistake(
    "start",
    "padding counted with what follows it",
    symptom="Padding has the position that a token behind it would have.",
    cause="Count the real tokens up to each place and in it, subtract one, and keep 0 as the "
    "least.",
)
def next_position(count: Tensor, real: Tensor) -> Tensor:
    return count - real.long()


@mistake(
    "floor",
    "padding in front below zero",
    symptom="Padding in front has position −1 in place of 0.",
    cause="The sum less one is −1 before the first real token: make that 0, with clamp(min=0) "
    "behind the subtraction, and return it.",
)
def below_zero(positions: Tensor) -> Tensor:
    return positions


@mistake(
    "count",
    "counted down the batch",
    symptom="The positions of a sentence depend on the sentences above it.",
    cause="The sum runs from sentence to sentence: run along the sequence, cumsum(1).",
)
def down_the_batch(real: Tensor) -> Tensor:
    return real.cumsum(dim=0)


@mistake(
    "count",
    "padding in front subtracted, and no other",
    symptom="Padding in front makes no difference, padding anywhere else does.",
    cause="Only the padding before the first real token is taken off: count the real tokens up to "
    "each place.",
)
def front_taken_off(real: Tensor) -> Tensor:
    front = (real.cumsum(dim=1) == 0).sum(dim=1, keepdim=True)
    return torch.arange(1, real.size(1) + 1) - front


@mistake(
    "count",
    "the first sentence's positions for all",
    symptom="All sentences have the positions of the first one.",
    cause="Count the real tokens of each sentence in its own row.",
)
def of_the_first(real: Tensor) -> Tensor:
    return real[:1].cumsum(dim=1).expand(real.shape)


@mistake(
    "start",
    "padding at position one",
    symptom="Padding has position 1 wherever it stands.",
    cause="Where padding is hidden from all, its position changes nothing for the tokens.",
    kind="convention",
)
def padding_at_one(count: Tensor, real: Tensor) -> Tensor:
    return torch.where(real, count - 1, 1)


@mistake(
    "start",
    "padding at position zero",
    symptom="Padding has position 0 wherever it stands.",
    cause="Where padding is hidden from all, its position changes nothing for the tokens.",
    kind="convention",
)
def padding_at_zero(count: Tensor, real: Tensor) -> Tensor:
    return torch.where(real, count - 1, 0)


@mistake(
    "count",
    "all padding of the row subtracted",
    symptom="Padding behind a token moves its position, too, and positions can be below 0.",
    cause="Only the padding before each place counts: add up the real tokens up to there.",
    steps={"floor": lambda positions: positions},
    seen="Batch generation with Exllamav2_HF is weird, "
    "https://github.com/turboderp-org/exllamav2/issues/606",
)
def all_padding_taken_off(real: Tensor) -> Tensor:
    return torch.arange(1, real.size(1) + 1) - (~real).sum(dim=1, keepdim=True)
