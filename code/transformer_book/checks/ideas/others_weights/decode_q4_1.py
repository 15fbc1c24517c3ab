"""Numbers in four bits (chapter 28): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in


def block(step: float, least: float, numbers: Sequence[int]) -> Tensor:
    """A block of the format Q4_1, `(20,)`: the 32 whole numbers are from 0 to 15."""
    packed = [low + 16 * high for low, high in zip(numbers[:16], numbers[16:], strict=True)]
    return torch.tensor([*struct.pack("<ee", step, least), *packed], dtype=torch.uint8)


def drawn(n_blocks: int, seed: int) -> Tensor:
    """Blocks with steps and least numbers such as a trained matrix has."""
    generator = torch.Generator().manual_seed(seed)
    rows = []
    for _ in range(n_blocks):
        step, least = torch.rand(2, generator=generator).tolist()
        numbers = torch.randint(16, (32,), generator=generator).tolist()
        rows.append(block(0.01 + 0.05 * step, -0.1 - 0.5 * least, numbers))
    return torch.stack(rows)


def q4_1_cases() -> Sequence[Case]:
    counted = [*range(16), *reversed(range(16))]
    return (
        Case("counted up, then down", (block(1.0, 0.0, counted)[None],)),
        Case("a step of a half, from -3 on", (block(0.5, -3.0, counted)[None],)),
        Case("only lower halves", (block(2.0, 1.0, [*range(16)] + [0] * 16)[None],)),
        Case("all the same number", (block(0.0, 0.75, [0] * 32)[None],)),
        Case("a drawn block", (drawn(1, 1),)),
        Case("three blocks", (drawn(3, 2),)),
        Case("a step that falls", (block(-0.25, 2.0, counted)[None],)),
        # Below 2^-14 half precision has no exponent left, and numbers of fewer digits.
        Case("a very small step", (block(2**-16, -(2**-13), counted)[None],)),
        Case(
            "two blocks, numbers beyond half precision",
            (torch.stack([block(8192.0, -60000.0, counted), block(4096.0, 60000.0, counted)]),),
        ),
        Case("96 blocks", (drawn(96, 3),)),
    )


def header(blocks: Tensor) -> tuple[Tensor, Tensor]:
    step, least = blocks[:, :4].view(torch.float16).float().split(1, dim=1)
    return step, least  # (B, 1) each


DECODE_Q4_1 = Component(
    name="decode_q4_1",
    chapter=28,
    order=3,
    section="Four bits a number, by hand",
    signature="blocks",
    pipeline=lambda s, blocks: s.scaled(*s.header(blocks), s.unpacked(s.packed(blocks))),
    steps={
        "header": header,
        "packed": lambda blocks: blocks[:, 4:],
        "unpacked": lambda packed: torch.cat([packed & 15, packed >> 4], dim=1),
        "scaled": lambda step, least, numbers: step * numbers + least,
    },
    cases=q4_1_cases,
    returns="`(B, 32)`: the numbers of each block `(B, 20)` of bytes, step · q + least. Bytes 0 "
    "and 1 are the step, 2 and 3 the least number, in half precision; of byte 4 + j the lower four "
    "bits are q of number j, the upper four that of number j + 16",
    differentiable=False,
    met="nonsense",
    boundaries={
        "one block": lambda blocks: len(blocks) == 1,
        "two blocks": lambda blocks: len(blocks) == 2,
        "more than 64 blocks": lambda blocks: len(blocks) > 64,
        "a step of 0": lambda blocks: (header(blocks)[0] == 0).any(),
        "a step below 0": lambda blocks: (header(blocks)[0] < 0).any(),
        "a step below 2^-14": lambda blocks: (
            (header(blocks)[0] != 0) & (header(blocks)[0].abs() < 2**-14)
        ).any(),
        "beyond half precision": lambda blocks: (header(blocks)[0] * 15 > 65504).any(),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(DECODE_Q4_1)


@mistake(
    "header",
    "step and least number exchanged",
    symptom="q is multiplied by the least number, and the step is added.",
    cause="Bytes 0 and 1 are the step, bytes 2 and 3 the least number.",
)
def exchanged(blocks: Tensor) -> tuple[Tensor, Tensor]:
    step, least = header(blocks)
    return least, step


@mistake(
    "header",
    "half precision read as bfloat16",
    symptom="Steps and least numbers are mostly far off.",
    cause="Both numbers are float16, with five bits of exponent; bfloat16 has eight.",
)
def as_bfloat16(blocks: Tensor) -> tuple[Tensor, Tensor]:
    step, least = blocks[:, :4].view(torch.bfloat16).float().split(1, dim=1)
    return step, least


@mistake(
    "header",
    "bytes of the header the wrong way round",
    symptom="Steps and least numbers are mostly quite other ones.",
    cause="The least significant byte comes first: read both numbers as little-endian.",
)
def big_endian(blocks: Tensor) -> tuple[Tensor, Tensor]:
    return header(blocks[:, [1, 0, 3, 2]])


@mistake(
    "header",
    "header read as whole numbers",
    symptom="The numbers that come out are mostly far beyond ±1000.",
    cause="The two bytes are a number in half precision, not a whole number of 16 bits.",
)
def as_integers(blocks: Tensor) -> tuple[Tensor, Tensor]:
    step, least = blocks[:, :4].view(torch.int16).float().split(1, dim=1)
    return step, least


@mistake(
    "packed",
    "the least number read as four numbers",
    symptom="Bytes 2 and 3 are read as numbers of four bits, and the last two bytes are not read.",
    cause="The header has four bytes, step and least number: the numbers begin at byte 4. (Q4_0's "
    "header has two.)",
)
def from_byte_two(blocks: Tensor) -> Tensor:
    return blocks[:, 2:18]


@mistake(
    "unpacked",
    "upper four bits first",
    symptom="The first and the second half of each block have changed places.",
    cause="The lower four bits are numbers 0 to 15, the upper four numbers 16 to 31.",
)
def upper_first(packed: Tensor) -> Tensor:
    return torch.cat([packed >> 4, packed & 15], dim=1)


@mistake(
    "unpacked",
    "the two numbers of a byte taken for neighbours",
    symptom="All numbers of a block are there, in another order.",
    cause="Byte j holds numbers j and j + 16, not 2j and 2j + 1: put the halves one behind the "
    "other.",
)
def as_neighbours(packed: Tensor) -> Tensor:
    return torch.stack([packed & 15, packed >> 4], dim=2).flatten(1)


@mistake(
    "unpacked",
    "upper four bits not shifted",
    symptom="In the second half of each block q is 16 times what it should be.",
    cause="The upper bits still count 16, 32, …: shift them by four.",
)
def not_shifted(packed: Tensor) -> Tensor:
    return torch.cat([packed & 15, packed & 240], dim=1)


@mistake(
    "unpacked",
    "lower four bits not cut out",
    symptom="In the first half of each block q is larger by 16 times the number in the upper bits.",
    cause="The whole byte holds both numbers: keep its lower four bits, `& 15`.",
)
def not_masked(packed: Tensor) -> Tensor:
    return torch.cat([packed, packed >> 4], dim=1)


@mistake(
    "scaled",
    "least number forgotten",
    symptom="A block's numbers are all off by its least number, and lie on one side of zero.",
    cause="Return step · q plus the block's least number.",
)
def no_least(step: Tensor, least: Tensor, numbers: Tensor) -> Tensor:
    return step * numbers


@mistake(
    "scaled",
    "least number taken away",
    symptom="All numbers of a block are off by twice its least number.",
    cause="The least number is stored with its sign: add it.",
)
def least_subtracted(step: Tensor, least: Tensor, numbers: Tensor) -> Tensor:
    return step * numbers - least


@mistake(
    "scaled",
    "least number multiplied by the step, too",
    symptom="The differences within a block are right, its level is step · least, not least.",
    cause="Multiply q by the step first, then add the least number.",
)
def least_scaled(step: Tensor, least: Tensor, numbers: Tensor) -> Tensor:
    return step * (numbers + least)


@mistake(
    "scaled",
    "eight taken away, as the format Q4_0 has it",
    symptom="All numbers of a block are off by eight steps.",
    cause="Q4_0 has no least number and counts from -8; Q4_1 counts from its least number.",
)
def centred(step: Tensor, least: Tensor, numbers: Tensor) -> Tensor:
    return step * (numbers.float() - 8) + least


@mistake(
    "scaled",
    "four bits taken for a signed number",
    symptom="Where q is 8 or more, it comes out 16 too small.",
    cause="The four bits count from 0 to 15: there is no sign in them.",
)
def signed(step: Tensor, least: Tensor, numbers: Tensor) -> Tensor:
    whole = numbers.float()
    return step * (whole - 16 * (whole > 7)) + least


@mistake(
    "scaled",
    "divided by the step",
    symptom="q is divided by the step: with a step between −1 and 1 the differences within a "
    "block are too large.",
    cause="Packing divides by the step; decoding multiplies: step * q + least.",
)
def divided(step: Tensor, least: Tensor, numbers: Tensor) -> Tensor:
    return numbers / step + least
