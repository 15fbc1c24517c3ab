"""Causal mask (chapter 8): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from transformer_book.checks.boundaries import BUFFERS, longer_than, on
from transformer_book.checks.components import Case, Component, mistakes_in


def length_cases() -> Sequence[Case]:
    # A buffer made once has 10 rows, or 64, or 1024.
    return tuple(Case(f"length {length}", (length,)) for length in (3, 1, 2, 4, 6, 17, 128, 1030))


CAUSAL_MASK = Component(
    name="causal_mask",
    chapter=8,
    order=2,
    section="The three masks of one batch",
    signature="length",
    pipeline=lambda s, length: s.kind(s.triangle(torch.ones(length, length))),
    steps={"triangle": torch.tril, "kind": lambda triangle: triangle.bool()},
    cases=length_cases,
    returns="a boolean mask `(T, T)`, `True` = may attend: to itself and to what came before",
    differentiable=False,
    met="too-good",
    ready_made={
        "nn.Transformer.generate_square_subsequent_mask": (
            nn.modules.transformer._generate_square_subsequent_mask
        ),
        "masks.causal_mask": "masks.causal_mask",
    },
    boundaries={
        "one place": lambda length: length == 1,
        "two places": lambda length: length == 2,
        **on("length", longer_than(BUFFERS, int)),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(CAUSAL_MASK)


@mistake(
    "triangle",
    "causal mask transposed",
    symptom="A position sees the future and not the past.",
    cause="What may be seen is the upper triangle: row i is the query, so it must be the lower.",
)
def upper_triangle(ones: Tensor) -> Tensor:
    return torch.triu(ones)


@mistake(
    "triangle",
    "diagonal hidden",
    met=("nan", 6),
    symptom="A position does not see itself, and the first one sees nothing.",
    cause="The diagonal is hidden with the future: a position may attend to itself.",
    section="Break it: masks that are nearly right",
)
def diagonal_hidden(ones: Tensor) -> Tensor:
    return torch.tril(ones, diagonal=-1)


@mistake(
    "triangle",
    "next token visible",
    met=("too-good", 6),
    symptom="A position sees the token after it, the one it is to predict.",
    cause="The triangle is one too wide: use torch.tril with diagonal=0.",
    section="Break it: masks that are nearly right",
)
def next_visible(ones: Tensor) -> Tensor:
    return torch.tril(ones, diagonal=1)


@mistake(
    "triangle",
    "causal mask with the opposite meaning",
    symptom="The mask is True at the future and False elsewhere.",
    cause="True means 'may attend' in this book. (nn.Transformer's masks mean the opposite.)",
    section="PyTorch's modules mean the opposite",
    seen="translate.py not consistent, https://github.com/hkproj/pytorch-transformer/issues/19",
)
def true_at_future(ones: Tensor) -> Tensor:
    return torch.triu(ones, diagonal=1)


@mistake(
    "triangle",
    "one row for all",
    symptom="Every row is the first: each position sees the first token alone.",
    cause="Row i sees the tokens 0 to i, not token 0 alone: torch.tril of the ones (T, T).",
)
def first_row(ones: Tensor) -> Tensor:
    return torch.tril(ones)[:1].expand_as(ones)


@mistake(
    "kind",
    "additive mask in place of a boolean one",
    met=("harmless", 19),
    symptom="The mask holds 0 and -inf instead of True and False.",
    cause="This mask is to be added to the scores, as nn.Transformer's "
    "generate_square_subsequent_mask is; the book's masks are boolean.",
    section="PyTorch's modules mean the opposite",
    kind="convention",
)
def additive(triangle: Tensor) -> Tensor:
    return torch.zeros_like(triangle).masked_fill(triangle == 0, float("-inf"))


@mistake(
    "kind",
    "a mask of numbers",
    met=("harmless", 20),
    symptom="The mask holds 0 and 1 as numbers.",
    cause="Make it boolean: ones and zeros added to scores hide nothing, and ~ does not invert "
    "them.",
    section="PyTorch's modules mean the opposite",
    seen="`attn_mask` in nn.MultiheadAttention is additive, "
    "https://github.com/pytorch/pytorch/issues/21518",
)
def numbers(triangle: Tensor) -> Tensor:
    return triangle


@mistake(
    "triangle",
    "first row empty",
    symptom="The first position sees nothing, not even itself.",
    cause="Row 0 needs its True, too: the first position may attend to itself.",
)
def first_row_empty(ones: Tensor) -> Tensor:
    mask = ones.tril()
    mask[:1] = 0
    return mask


@mistake(
    "triangle",
    "nothing hidden",
    symptom="Every position sees everything.",
    cause="Hide what comes later: return what torch.tril gives of the ones, as booleans. (It "
    "leaves the ones as they are.)",
)
def nothing_hidden(ones: Tensor) -> Tensor:
    return ones


@mistake(
    "triangle",
    "diagonal alone",
    symptom="A position sees itself and nothing else.",
    cause="The past must be visible, too: torch.tril of the ones, not the diagonal alone.",
)
def diagonal_alone(ones: Tensor) -> Tensor:
    return torch.eye(len(ones))


@mistake(
    "kind",
    "causal mask with axes in front",
    symptom="The mask has the shape (1, 1, T, T).",
    cause="(T, T) is asked for; it spreads over sentences and heads by itself.",
    section="How a mask spreads",
    kind="convention",
)
def axes_in_front(triangle: Tensor) -> Tensor:
    return triangle.bool()[None, None]
