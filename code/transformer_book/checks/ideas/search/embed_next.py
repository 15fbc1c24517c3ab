"""Embed next (chapter 17): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import PAD, longer_than, on
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def embed_cases() -> Sequence[Case]:
    short = normal(9, 4, seed=1), normal(12, 4, seed=2)
    long = normal(9, 6, seed=1), normal(2060, 6, seed=3)

    def tokens(batch: int, length: int, seed: int) -> Tensor:
        least = 0 if length > 1 else 4  # special tokens, too
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(least, 9, (batch, length), generator=generator)

    many = normal(300, 4, seed=5), normal(12, 4, seed=2)  # words, and rows of the table
    narrow = normal(9, 1, seed=1), normal(4100, 1, seed=4)
    few = tuple(
        Case(f"{t} new tokens after {past}", (tokens(b, t, past), past, *(short, long)[past > 12]))
        for b, t, past in (
            *((1, 1, 3), (2, 1, 5), (3, 1, 1), (2, 1, 0), (2, 2, 4), (1, 3, 2)),
            *((1, 2, 6), (2, 3, 0), (1, 1, 11), (2, 1, 257), (1, 2, 2051)),
        )
    )
    return (
        *few,
        Case("the last of 300 words, ten times", (torch.full((2, 10), 299), 2, *many)),
        Case("one feature, far into the text", (torch.tensor([[4, 5]]), 4098, *narrow)),
    )


EMBED_NEXT = Component(
    name="embed_next",
    chapter=17,
    order=7,
    section="The cache of keys and values",
    signature="tokens, past, weight, table",
    pipeline=lambda s, tokens, past, weight, table: (
        s.look_up(weight, tokens) + s.rows(table, past, tokens.size(1))
    ),
    steps={
        "look_up": lambda weight, tokens: weight[tokens],
        "rows": lambda table, past, new: table[past : past + new],
    },
    cases=embed_cases,
    returns="`(B, t, D)`: of the new tokens `(B, t)` alone, the rows of the embedding `weight` "
    "plus (it is not scaled) their rows of the `table` of positions; `past` tokens stand in the "
    "cache already",
    # Before the first row there is none, and what people get there differs.
    settled=lambda case, answer: answer if case.arguments[1] else 0.0,
    done_by="decode_step",
    met="nonsense",
    boundaries={
        "padding": lambda tokens: bool((tokens == PAD).any()),
        "nothing in the cache": lambda past: past == 0,
        "one in the cache": lambda past: past == 1,
        "several new tokens": lambda tokens: tokens.size(1) > 1,
        "several new tokens after some": lambda tokens, past: tokens.size(1) > 1 and past > 0,
        "one sentence": lambda tokens: len(tokens) == 1,
        "the last row of the table": lambda tokens, past, table: (
            past + tokens.size(1) == len(table)
        ),
        "more than 8 new tokens": lambda tokens: tokens.size(1) > 8,
        "one token everywhere": lambda tokens: tokens.numel() > 1 and tokens.unique().numel() == 1,
        "more than 255 words": lambda tokens: tokens.max() > 255,
        "one feature": lambda weight: weight.size(1) == 1,
        **on("past", longer_than((256, 1024, 2048, 4096), int)),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(EMBED_NEXT)


@mistake(
    "rows",
    "every decoded token at position 0",
    met=("nonsense", 5),
    symptom="The new tokens get the first rows of the table: the decoder forgets where it is.",
    cause="The new tokens are handed in without the `past` ones before them, so they begin at "
    "position `past`, not at 0.",
    section="Break it: three bugs in a decoder",
    seen="Qwen3-Omni: decode assigns RoPE position 0 to every token, "
    "https://github.com/Blaizzy/mlx-vlm/issues/1983",
)
def from_the_start(table: Tensor, past: int, new: int) -> Tensor:
    return table[:new]


@mistake(
    "rows",
    "new tokens one position too late",
    symptom="The rows are read from one place too far, so the last may be missing.",
    cause="With `past` tokens before it, the first new one has position `past`, not past + 1.",
)
def one_too_late(table: Tensor, past: int, new: int) -> Tensor:
    return table[past + 1 : past + 1 + new]


@mistake(
    "rows",
    "new tokens at the position of the last one",
    symptom="Where tokens stand in the cache, each new one gets the row of the token before it.",
    cause="With `past` tokens before it, the first new one has position `past`, not past − 1.",
)
def one_too_early(table: Tensor, past: int, new: int) -> Tensor:
    return table[max(past - 1, 0) : max(past - 1, 0) + new]


@mistake(
    "rows",
    "row of the first new token for all",
    symptom="Several new tokens get one and the same position.",
    cause="There may be more than one new token: table[past : past + tokens.size(1)].",
)
def one_row_for_all(table: Tensor, past: int, new: int) -> Tensor:
    return table[past]


@mistake(
    "rows",
    "last rows of the table for the new tokens",
    symptom="The positions depend on how long the table is.",
    cause="Begin at `past`: table[past : past + t], not table[-t:].",
)
def from_the_end(table: Tensor, past: int, new: int) -> Tensor:
    return table[-new:]


@mistake(
    "rows",
    "positions of the new tokens forgotten",
    symptom="The new tokens get no position.",
    cause="Return weight[tokens] plus the rows of the table, from `past` on.",
)
def no_rows(table: Tensor, past: int, new: int) -> float:
    return 0.0


@mistake(
    "look_up",
    "embedding of the new tokens scaled",
    symptom="The rows of `weight` are multiplied by the root of d_model.",
    cause="`weight` is taken as it is here: weight[tokens], without a factor.",
)
def new_tokens_scaled(weight: Tensor, tokens: Tensor) -> Tensor:
    return weight[tokens] * weight.size(1) ** 0.5
