"""Induction score (chapter 26): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def maps(batch: int, heads: int, length: int, *, seed: int, causal: bool = True) -> Tensor:
    """Attention weights of random scores, `(B, H, T, T)`."""
    scores = 2 * normal(batch, heads, length, length, seed=seed)
    if causal:
        scores = scores.masked_fill(~torch.ones(length, length).tril().bool(), -torch.inf)
    return scores.softmax(dim=-1)


def score_pipeline(s, weights, period):
    rows = s.rows(weights.size(-2), period)  # (R,)
    keys = s.looked_at(rows, period)  # (R,)
    return s.average(s.pick(weights, rows, keys), weights)  # (H,)


def score_cases() -> Sequence[Case]:
    pencil = torch.zeros(1, 1, 4, 4)
    for row, weights in enumerate(([1, 0, 0, 0], [2, 2, 0, 0], [1, 3, 0, 0], [0, 1, 2, 1])):
        pencil[0, 0, row] = torch.tensor(weights) / 4
    pencil[0, 0, 0, 0] = 1.0
    # Of three rows that can copy, the first and the last look where they should.
    hard = torch.eye(6)[[0, 1, 1, 1, 3, 3]].expand(2, 2, 6, 6).clone()
    hard[1, 1, 4] = torch.eye(6)[2]  # and here the one between them, too
    return (
        Case("four tokens, the last two a repeat", (pencil, 2)),
        Case("two heads", (maps(1, 2, 6, seed=1), 3)),
        Case("three sequences", (maps(3, 2, 7, seed=2), 4)),
        Case("a third time", (maps(2, 3, 8, seed=3), 3)),
        Case("a third time, begun", (maps(2, 2, 7, seed=4), 3)),
        Case("one row that can copy", (maps(2, 2, 6, seed=5), 5)),
        Case("weights on what follows, too", (maps(2, 2, 7, seed=6, causal=False), 3)),
        Case("the same, four heads", (maps(2, 4, 6, seed=7, causal=False), 4)),
        Case("the same, one sequence", (maps(1, 3, 8, seed=8, causal=False), 3)),
        Case("a short period", (maps(2, 3, 7, seed=9), 2)),
        Case("weights that are 0 or 1", (hard, 3)),
        Case("a period of one, 110 places, one head", (maps(2, 1, 110, seed=10), 1)),
    )


INDUCTION_SCORE = Component(
    name="induction_score",
    chapter=26,
    order=1,
    section="A number for a head",
    signature="weights, period",
    pipeline=score_pipeline,
    steps={
        "rows": lambda length, period: torch.arange(period, length),
        "looked_at": lambda rows, period: rows - period + 1,
        "pick": lambda weights, rows, keys: weights[:, :, rows, keys],  # (B, H, R)
        "average": lambda picked, weights: picked.mean(dim=(0, 2)),
    },
    cases=score_cases,
    returns="`(H,)`: of attention weights `(B, H, T, T)` on sequences that repeat with this period "
    "(token t is token t − period), the mean weight of each head on the token after the last place "
    "where the row's token stood, over all rows that have such a place and all sequences",
    met="score",
    boundaries={
        "one sequence": lambda weights: len(weights) == 1,
        "several sequences": lambda weights: len(weights) > 1,
        "one head": lambda weights: weights.size(1) == 1,
        "a third time": lambda weights, period: weights.size(-1) > 2 * period,
        "one row that can copy": lambda weights, period: weights.size(-1) == period + 1,
        "a period of two": lambda period: period == 2,
        "a period of one": lambda period: period == 1,
        "more than 64 places": lambda weights: weights.size(-1) > 64,
        "one head, several sequences": lambda weights: weights.size(1) == 1 and len(weights) > 1,
        "many repeats": lambda weights, period: weights.size(-1) > 8 * period,
        "weights on what follows": lambda weights: bool(weights.triu(1).any()),
        "weights of 0 or 1 alone": lambda weights: bool(((weights == 0) | (weights == 1)).all()),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(INDUCTION_SCORE)


@mistake(
    "looked_at",
    "the same token in place of the one after it",
    symptom="A head that copies gets a score near 0, and one that looks for its own token near 1.",
    cause="The key is t − period, where the row's own token stood: the token after it stands at "
    "t − period + 1.",
    section="Break it: one token off",
)
def same_token(rows: Tensor, period: int) -> Tensor:
    return rows - period


@mistake(
    "looked_at",
    "the token before the last occurrence",
    symptom="Where several rows can copy, a head that copies gets a score near 0.",
    cause="The key is t − period − 1, on a diagonal two places too low: read t − period + 1, in "
    "all rows t from period on.",
    section="Break it: one token off",
    steps={"rows": lambda length, period: torch.arange(period + 1, length)},
)
def token_before(rows: Tensor, period: int) -> Tensor:
    return rows - period - 1


@mistake(
    "looked_at",
    "previous token scored",
    symptom="Heads that look at the token before get the high scores.",
    cause="The key is t − 1: that is the score of a previous-token head. For induction it is "
    "t − period + 1.",
)
def previous_token(rows: Tensor, period: int) -> Tensor:
    return rows - 1


@mistake(
    "rows",
    "a row counted that has not seen its token yet",
    symptom="One row too many is averaged, row period − 1.",
    cause="Begin with row period, the first whose token stood `period` places before it.",
    section="Break it: one token off",
)
def one_row_more(length: int, period: int) -> Tensor:
    return torch.arange(period - 1, length)


@mistake(
    "rows",
    "third time left out",
    symptom="What comes after two periods does not count.",
    cause="Only rows period to 2 · period − 1 are averaged: every row from period on has seen its "
    "token before.",
)
def second_time_only(length: int, period: int) -> Tensor:
    return torch.arange(period, min(2 * period, length))


@mistake(
    "rows",
    "only the last row scored",
    symptom="The score depends on the last row of each sequence alone.",
    cause="Only the last row counts: take the mean over all rows from period on.",
)
def last_row(length: int, period: int) -> Tensor:
    return torch.arange(length - 1, length)


@mistake(
    "pick",
    "queries and keys exchanged",
    symptom="With a causal mask and a period above one, every score is 0.",
    cause="Rows are queries, columns are keys: read [t, t − period + 1]; taken as a diagonal, its "
    "offset is 1 − period.",
    section="Break it: one token off",
)
def exchanged(weights: Tensor, rows: Tensor, keys: Tensor) -> Tensor:
    return weights[:, :, keys, rows]


@mistake(
    "average",
    "divided by all rows",
    symptom="Even a head that copies perfectly gets only (T − period)/T.",
    cause="All rows of the sequence are in the divisor, and those of the first period have nothing "
    "to copy: divide by the rows that were added up.",
    section="Break it: one token off",
)
def over_all_rows(picked: Tensor, weights: Tensor) -> Tensor:
    return picked.sum(dim=2).mean(dim=0) / weights.size(-2)


@mistake(
    "average",
    "weights summed over the rows",
    symptom="Scores grow with the number of rows, and can be above 1.",
    cause="The weights of all rows are added up: take their mean.",
)
def summed(picked: Tensor, weights: Tensor) -> Tensor:
    return picked.sum(dim=2).mean(dim=0)


@mistake(
    "average",
    "averaged over the heads",
    symptom="There is one number for the layer, and no head stands out.",
    cause="The mean is taken over the heads, too: take it over sequences and rows, dim=(0, 2).",
)
def over_heads(picked: Tensor, weights: Tensor) -> Tensor:
    return picked.mean()


@mistake(
    "average",
    "only the first sequence scored",
    symptom="The score does not depend on the other sequences of the batch.",
    cause="Only sequence 0 is read: take the mean over the whole batch.",
)
def first_sequence(picked: Tensor, weights: Tensor) -> Tensor:
    return picked[0].mean(dim=-1)
