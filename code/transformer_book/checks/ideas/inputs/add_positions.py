"""Add positions (chapter 5): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import RESIDUAL
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def add_cases() -> Sequence[Case]:
    zeros = normal(4, 2, 6, seed=9)
    zeros[2, 1] = 0  # a vector of zeros is no padding
    behind = normal(6, 2, 4, seed=17).relu()  # as behind a ReLU
    behind[1] = 0
    return (
        Case("one sentence", (normal(1, 3, 4, seed=1), normal(9, 4, seed=2))),
        Case("two sentences", (normal(2, 3, 4, seed=3), normal(9, 4, seed=4))),
        Case("as many sentences as tokens", (normal(3, 3, 4, seed=5), normal(9, 4, seed=6))),
        Case("as many tokens as features", (normal(2, 4, 4, seed=15), normal(4, 4, seed=16))),
        Case("the whole table", (normal(2, 5, 4, seed=7), normal(5, 4, seed=8))),
        Case("more sentences than tokens", (zeros, normal(9, 6, seed=10))),
        Case("one token", (normal(1, 1, 3, seed=11), normal(9, 3, seed=12))),
        Case("a long text", (normal(1, 1152, 2, seed=13), normal(1160, 2, seed=14))),
        Case("zeros in x, and more sentences than rows", (behind, normal(3, 4, seed=18))),
        Case(
            "more than 5000 tokens of one feature",
            (normal(1, 5001, 1, seed=21), normal(5002, 1, seed=22)),
        ),
    )


ADD_POSITIONS = Component(
    name="add_positions",
    chapter=5,
    order=2,
    section="Word and place in one vector",
    signature="x, table",
    pipeline=lambda s, x, table: s.join(x, s.rows(x, table)),
    steps={
        "rows": lambda x, table: table[: x.size(1)],
        "join": lambda x, rows: x + rows,
    },
    cases=add_cases,
    returns="`(B, T, D)`: row p of the table added to the vector at position p",
    done_by="SinusoidalPositions",
    met="worse",
    ready_made={
        "SinusoidalPositions": "embeddings.SinusoidalPositions.forward",
        "LearnedPositions": "embeddings.LearnedPositions.forward",
    },
    boundaries=RESIDUAL
    | {
        "the whole table": lambda x, table: x.size(1) == len(table),
        "more sentences than positions": lambda x: x.size(0) > x.size(1),
        "longer than 1024": lambda x: x.size(1) > 1024,
        "longer than 5000": lambda x: x.size(1) > 5000,
        "one feature": lambda x: x.size(-1) == 1,
        "more sentences than rows": lambda x, table: len(x) > len(table),
        "a vector of zeros": lambda x: (x == 0).all(-1).any(),
        "a sentence of zeros": lambda x: (x == 0).flatten(1).all(-1).any(),
        "zeros in a vector": lambda x: ((x == 0).any(-1) & (x != 0).any(-1)).any(),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(ADD_POSITIONS)


@mistake(
    "rows",
    "batch axis taken for position",
    met=("batch", 10),
    symptom="All tokens of sentence b get row b of the table, whatever their position; with more "
    "sentences than rows it mostly stops.",
    cause="x.size(0) is the batch: take one row per position, x + table[:x.size(1)].",
    seen="Question about positional encoding, https://github.com/songyangco/GETNext/issues/2",
)
def rows_per_sentence(x: Tensor, table: Tensor) -> Tensor:
    return table[: x.size(0), None]


@mistake(
    "rows",
    "the same position everywhere",
    met=("worse", 13),
    symptom="Every token gets the vector of position 0.",
    cause="Take one row per position, table[:x.size(1)].",
)
def first_row(x: Tensor, table: Tensor) -> Tensor:
    return table[:1]


@mistake(
    "rows",
    "one row for all positions",
    symptom="Every token gets the same row, the one after the sentence's last; for a sentence as "
    "long as the table there is none.",
    cause="Take one row for each position, table[:x.size(1)], with the colon.",
    seen="Critical bug in the implementation of the PositionalEncoding class, "
    "https://github.com/DiffPoseTalk/DiffPoseTalk/issues/20",
)
def one_row(x: Tensor, table: Tensor) -> Tensor:
    return table[x.size(1)]


@mistake(
    "rows",
    "positions from the end",
    symptom="The positions run backwards: the first token gets the row of the last.",
    cause="Take the first rows of the table, in their order.",
)
def backwards(x: Tensor, table: Tensor) -> Tensor:
    return table[: x.size(1)].flip(0)


@mistake(
    "rows",
    "last rows of the table",
    symptom="The positions depend on how long the table is.",
    cause="Take the first rows, table[:x.size(1)], not the last.",
)
def last_rows(x: Tensor, table: Tensor) -> Tensor:
    return table[-x.size(1) :]


@mistake(
    "rows",
    "last rows of the table, backwards",
    symptom="The first token gets the last row of the whole table.",
    cause="Take the first rows of the table, in their order.",
)
def last_rows_backwards(x: Tensor, table: Tensor) -> Tensor:
    return table[-x.size(1) :].flip(0)


@mistake(
    "join",
    "positions in place of words",
    met=("frequencies", 11),
    symptom="The words do not matter.",
    cause="Add the positions to x.",
)
def words_lost(x: Tensor, rows: Tensor) -> Tensor:
    return rows.expand_as(x)


@mistake(
    "join",
    "multiplied in place of added",
    symptom="The vectors are multiplied by the positions.",
    cause="Add them.",
)
def multiplied(x: Tensor, rows: Tensor) -> Tensor:
    return x * rows


@mistake(
    "rows",
    "positions one row late",
    symptom="The rows are read from one place too far, so the last may be missing.",
    cause="Position 0 has row 0: table[:x.size(1)], not table[1:x.size(1) + 1].",
)
def one_row_late(x: Tensor, table: Tensor) -> Tensor:
    return table[1 : x.size(1) + 1]


@mistake(
    "join",
    "words scaled once more",
    symptom="The words are multiplied by the root of d_model before the positions are added.",
    cause="That factor belongs to the embedding: x + table[:x.size(1)].",
)
def scaled_once_more(x: Tensor, rows: Tensor) -> Tensor:
    return x * math.sqrt(x.size(-1)) + rows


@mistake(
    "join",
    "positions of the first sentence only",
    symptom="Only the first sentence gets its positions.",
    cause="x[0] is the first sentence: add the rows to all of them, x + table[:x.size(1)].",
)
def first_sentence_only(x: Tensor, rows: Tensor) -> Tensor:
    return torch.cat([x[:1] + rows, x[1:]])


@mistake(
    "join",
    "positions subtracted",
    symptom="The positions have the wrong sign.",
    cause="Add them.",
)
def subtracted(x: Tensor, rows: Tensor) -> Tensor:
    return x - rows


@mistake(
    "rows",
    "as many rows as sentences",
    symptom="Where there are several sentences and another number of positions it mostly stops; in "
    "a single sentence every token gets the vector of position 0.",
    cause="x.size(0) is the batch: take one row per position, x + table[:x.size(1)].",
    stops=True,
)
def rows_by_sentences(x: Tensor, table: Tensor) -> Tensor:
    return table[: x.size(0)]


@mistake(
    "join",
    "first token without a position",
    symptom="The first token gets no row, and the second the row of position 0: each one behind it "
    "has the row of the position before.",
    cause="Add the rows to the whole sentence, its first token included: x + table[:x.size(1)].",
)
def first_without(x: Tensor, rows: Tensor) -> Tensor:
    return torch.cat([x[:, :1], x[:, 1:] + rows[:-1]], dim=1)
