"""Collate (chapter 3): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book.checks.boundaries import EOS, SOS, UNK
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import OTHERS_IDS


def collate_cases() -> Sequence[Case]:
    return (
        Case("two sentences", ([[5, 7, 2], [9, 2]],)),
        Case("three sentences", ([[4, 2], [5, 6, 7, 8, 2], [9, 9, 2]],)),
        Case("of equal length", ([[4, 2], [5, 2]],)),
        Case("one sentence", ([[4, 5, 2]],)),
        Case("the longest first", ([[4, 5, 6, 2], [7, 2], [2]],)),
        Case("the longest last", ([[2], [7, 2], [4, 5, 6, 2]],)),
        Case("targets, with special tokens", ([[1, 1, 3, 2], [1, 2]],)),
        Case("one token", ([[2]],)),
        Case("large ids", ([[70000, 300, *OTHERS_IDS, 2], [40000, 2]],)),
        Case("a row longer than any buffer", ([[4, 2], [*range(4, 4102), 2]],)),
        Case("a row twice, <eos> inside", ([[7, 2], [4, 5, 6, 2], [7, 2], [4, 2, 5, 2], [9, 2]],)),
        Case("rows without <eos>, padding inside", ([[7, 0, 8], [0, 0, 5], [9]],)),
        Case("a hundred and thirty rows", ([[*range(4, 5 + i // 50), 2] for i in range(130)],)),
    )


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


def without_the_last(case: Case, answer: Any) -> Any:
    """Without the last id of a row, if it is not <eos>: which is moved then, depends on the way."""
    (rows,) = case.arguments
    if not isinstance(answer, Tensor) or answer.shape != padded(rows).shape:
        return answer
    answer = answer.clone()
    for i, row in enumerate(rows):
        if row[-1] != EOS:
            answer[i, len(row) - 1 :] = 0
    return answer


COLLATE = Component(
    name="collate",
    chapter=3,
    order=1,
    section="Three captions, one rectangle",
    signature="rows",
    pipeline=lambda s, rows: s.pad(rows),
    steps={"pad": padded},
    cases=collate_cases,
    returns="a tensor `(B, S)` of whole numbers, padded with 0 behind, no longer than needed; "
    "`rows` are lists of ids, none of them empty",
    differentiable=False,
    settled=without_the_last,
    met="bleu",
    ready_made={
        "nn.utils.rnn.pad_sequence": nn.utils.rnn.pad_sequence,
        "batches.collate": "batches.collate",
    },
    boundaries={
        "one row": lambda rows: len(rows) == 1,
        "one token": lambda rows: max(map(len, rows)) == 1,
        "of one length": lambda rows: len(set(map(len, rows))) == 1 and len(rows) > 1,
        "the longest first": lambda rows: len(rows[0]) > len(rows[-1]),
        "the longest last": lambda rows: len(rows[0]) < len(rows[-1]),
        "an id beyond one byte": lambda rows: max(map(max, rows)) > 255,
        "an id beyond two bytes": lambda rows: max(map(max, rows)) > 65535,
        "<sos> first": lambda rows: any(row[0] == SOS for row in rows),
        "<unk>": lambda rows: any(UNK in row for row in rows),
        "longer than 1024": lambda rows: max(map(len, rows)) > 1024,
        "a row twice": lambda rows: len(set(map(tuple, rows))) < len(rows),
        "<eos> inside": lambda rows: any(EOS in row[:-1] for row in rows),
        "a row without <eos>": lambda rows: any(EOS not in row for row in rows),
        "padding inside": lambda rows: any(0 in row for row in rows),
        "more than a hundred rows": lambda rows: len(rows) > 100,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(COLLATE)


Rows = Sequence[Sequence[int]]


@mistake(
    "pad",
    "padding in front",
    met=("harmless", 22),
    symptom="The padding stands before the words.",
    cause="Pad behind. (In front is a convention of some decoder-only models.)",
    kind="convention",
)
def padded_in_front(rows: Rows) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*[0] * (longest - len(row)), *row] for row in rows])


@mistake(
    "pad",
    "cut to the shortest",
    met=("endless", 6),
    symptom="Longer sentences lose their ends.",
    cause="The width is that of the longest row: fill the shorter ones up, and cut none.",
)
def cut(rows: Rows) -> Tensor:
    shortest = min(map(len, rows))
    return torch.tensor([list(row[:shortest]) for row in rows])


@mistake(
    "pad",
    "<eos> after the padding",
    met=("endless", 5),
    symptom="The last token of a shorter row, mostly <eos>, stands behind its padding.",
    cause="Pad behind the last token of each row.",
    section="Break it: the end after the padding",
)
def end_after_padding(rows: Rows) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row[:-1], *[0] * (longest - len(row)), row[-1]] for row in rows])


@mistake(
    "pad",
    "padded with another token",
    met=("batch", 13),
    symptom="The filling is <sos>, not <pad>.",
    cause="Padding is id 0; any other id is read as a token.",
)
def padded_with_one(rows: Rows) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[1] * (longest - len(row))] for row in rows])


@mistake(
    "pad",
    "padded with the highest id",
    symptom="The filling is the highest id of the batch, not 0.",
    cause="Padding is id 0 in every batch; any other id is read as a token.",
)
def padded_with_the_highest(rows: Rows) -> Tensor:
    longest, highest = max(map(len, rows)), max(map(max, rows))
    return torch.tensor([[*row, *[highest] * (longest - len(row))] for row in rows])


@mistake(
    "pad",
    "position first",
    met=("harmless", 23),
    symptom="The shape is (S, B).",
    cause="The batch comes first in this book (pad_sequence needs batch_first=True).",
    kind="convention",
)
def position_first(rows: Rows) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows]).T.contiguous()


@mistake(
    "pad",
    "one column of padding too many",
    symptom="Even the longest row has a padding behind it.",
    cause="The longest row gets no padding: with it, each row has max(map(len, rows)) ids.",
)
def one_column_more(rows: Rows) -> Tensor:
    longest = max(map(len, rows)) + 1
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


@mistake(
    "pad",
    "rows sorted by length",
    symptom="The rows are sorted, the longest first: a source may stand beside another's target.",
    cause="Keep the order of the rows; sort whole pairs if you must, before the batch is made.",
)
def longest_first(rows: Rows) -> Tensor:
    return padded(sorted(rows, key=len, reverse=True))


@mistake(
    "pad",
    "padded with the last token",
    symptom="Short rows that end with <eos> are filled up with <eos>.",
    cause="Padding is id 0; any other id is read as a token.",
)
def last_token_repeated(rows: Rows) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *row[-1:] * (longest - len(row))] for row in rows])


@mistake(
    "pad",
    "ids that are no whole numbers",
    symptom="The tensor holds numbers with a point: an embedding refuses them.",
    cause="Give the tensor dtype=torch.long; torch.zeros and np.zeros alone make floats.",
)
def ids_as_floats(rows: Rows) -> Tensor:
    return padded(rows).float()


@mistake(
    "pad",
    "as wide as the first row",
    symptom="The batch is as wide as its first row: longer rows lose their ends.",
    cause="The width is that of the longest row: max(map(len, rows)).",
)
def as_wide_as_the_first(rows: Rows) -> Tensor:
    return padded(rows)[:, : len(rows[0])]
