"""Pad left (chapter 24): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import OTHERS_IDS

Rows = Sequence[Sequence[int]]


def left_cases() -> Sequence[Case]:
    def rows(*ids: list[int]) -> tuple[Rows]:
        return (list(ids),)

    return (
        Case("two texts", rows([5, 7, 8], [9])),
        Case("three texts", rows([4], [5, 6, 7, 8], [9, 8])),
        Case("of equal length", rows([4, 3], [5, 6])),
        Case("one text", rows([4, 5, 6])),
        Case("the longest first", rows([3, 4, 5, 6], [7, 8], [9])),
        Case("a text that reads the same backwards", rows([4, 5, 4], [6, 6])),
        Case("one token", rows([7])),
        Case("all but one short", rows([3], [4], [5, 6, 7, 8, 9])),
        Case("<eos> inside and at the end", rows([5, 2, 6, 2, 2], [2, 7])),
        Case("<sos>, <eos> and <unk> alone", rows([1], [3, 2], [2])),
        Case("<eos> behind each text", rows([1, 1, 5, 2], [6, 2])),
        Case("the same text twice", rows([5, 7], [9, 4, 6], [5, 7])),
        Case(
            "large ids, a text of more than 1024, many of one token",
            rows(*([i] for i in range(4, 80)), [9, *OTHERS_IDS], [50256, 300, *range(4, 4102)]),
        ),
    )


def in_front(rows: Rows) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[0] * (longest - len(row)) + list(row) for row in rows])


PAD_LEFT = Component(
    name="pad_left",
    chapter=24,
    order=4,
    section="Padding and the cache",
    signature="rows",
    pipeline=lambda s, rows: (s.pad(rows), s.real(s.pad(rows), rows)),
    steps={"pad": in_front, "real": lambda tokens, rows: tokens != 0},
    cases=left_cases,
    returns="`(tokens, real)` for texts that a decoder-only model goes on with together: `rows` "
    "are lists of ids, none of them empty or 0; `tokens`, whole numbers `(B, T)`, has them with "
    "padding (0) in front, so that all end in the last place, and no longer than needed; `real`, "
    "booleans `(B, T)`, is True where a token is no padding",
    differentiable=False,
    met="batch",
    boundaries={
        "one text": lambda rows: len(rows) == 1,
        "<eos> inside a text": lambda rows: any(2 in row[:-1] for row in rows),
        "<eos> in front": lambda rows: any(row[0] == 2 for row in rows),
        "one token": lambda rows: max(map(len, rows)) == 1,
        "of one length": lambda rows: len(set(map(len, rows))) == 1 and len(rows) > 1,
        "the longest first": lambda rows: len(rows[0]) > len(rows[-1]),
        "a text twice": lambda rows: len(set(map(tuple, rows))) < len(rows),
        "ids above 65535": lambda rows: max(map(max, rows)) > 65535,
        "more than 1024 tokens": lambda rows: max(map(len, rows)) > 1024,
        "more than 64 texts": lambda rows: len(rows) > 64,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(PAD_LEFT)


@mistake(
    "real",
    "<eos> taken for padding",
    symptom="Where a text says <eos>, the mask has False, as at padding.",
    cause="Only 0 is padding: <eos> is a token that a text may hold.",
)
def end_is_padding(tokens: Tensor, rows: Rows) -> Tensor:
    return (tokens != 0) & (tokens != 2)


@mistake(
    "pad",
    "padded behind before going on",
    symptom="Shorter texts go on behind their padding: the next token is read at a place that "
    "holds none.",
    cause="The last place must hold the last token of each text: put the padding in front.",
)
def behind(rows: Rows) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([list(row) + [0] * (longest - len(row)) for row in rows])


@mistake(
    "pad",
    "texts turned round",
    met=("nonsense", 0),
    symptom="The tokens stand in the opposite order.",
    cause="Pad in front and turn nothing: rows that are padded behind and then turned have "
    "their texts turned, too.",
)
def turned(rows: Rows) -> Tensor:
    return in_front([row[::-1] for row in rows])


@mistake(
    "real",
    "mask of padding behind",
    symptom="The mask hides the end of shorter texts and shows padding.",
    cause="Padding stands in front: ask `tokens != 0` of the tokens that you give back, and leave "
    "it so. `arange(T) < length` is right for padding behind.",
)
def mask_behind(tokens: Tensor, rows: Rows) -> Tensor:
    return behind(rows) != 0


@mistake(
    "real",
    "True where padding stands",
    symptom="The mask says True at padding, and False at every token.",
    cause="Here True means a real token; `key_padding_mask` of PyTorch means the opposite.",
)
def inverted(tokens: Tensor, rows: Rows) -> Tensor:
    return tokens == 0


@mistake(
    "real",
    "padding not masked",
    symptom="The mask is True everywhere: how a text goes on depends on the padding in front "
    "of it.",
    cause="Mark as real what is no padding: `tokens != 0`.",
)
def all_real(tokens: Tensor, rows: Rows) -> Tensor:
    return torch.ones_like(tokens, dtype=torch.bool)


@mistake(
    "pad",
    "cut to the shortest text",
    met=("nonsense", 0),
    symptom="Longer texts have lost their beginning.",
    cause="T is the length of the longest text: pad the others.",
)
def cut_to_shortest(rows: Rows) -> Tensor:
    shortest = min(map(len, rows))
    return torch.tensor([row[-shortest:] for row in rows])


@mistake(
    "pad",
    "one place of padding too many",
    symptom="Even the longest text has padding in front.",
    cause="T is the length of the longest text, and no more.",
)
def one_too_many(rows: Rows) -> Tensor:
    return torch.nn.functional.pad(in_front(rows), (1, 0))
