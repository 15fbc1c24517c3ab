"""Split heads (chapter 9): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from transformer_book.checks.boundaries import BTD, on, vector_conditions
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import addresses, normal


def split_cases() -> Sequence[Case]:
    return (
        Case("addresses: one sentence, three positions, two heads", (addresses(1, 3, 4), 2)),
        Case("addresses: two sentences, two heads", (addresses(2, 3, 4), 2)),
        Case("addresses: as many heads as positions", (addresses(2, 3, 6), 3)),
        Case("addresses: four heads", (addresses(3, 2, 8), 4)),
        Case("one head", (addresses(2, 3, 4), 1)),
        Case("addresses: as many heads as features", (addresses(2, 5, 3), 3)),
        Case("addresses: one position", (addresses(3, 1, 6), 2)),
        Case("addresses: as many of all", (addresses(4, 4, 4), 2)),
        Case("random numbers", (normal(2, 1030, 12, seed=1), 3)),
        Case("one sentence of one position", (normal(1, 1, 6, seed=2), 2)),
        Case("twelve heads, each seven wide", (normal(2, 3, 84, seed=3), 12)),
    )


SPLIT_HEADS = Component(
    name="split_heads",
    chapter=9,
    order=1,
    section="Splitting",
    signature="x, n_heads",
    pipeline=lambda s, x, n_heads: s.split(x, n_heads),
    steps={
        "split": lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).transpose(1, 2),
    },
    cases=split_cases,
    returns="`(B, H, T, K)` from `(B, T, D)`",
    done_by="MultiHeadAttention.split_heads",
    met="worse",
    ready_made={
        "MultiHeadAttention.split_heads": "attention.MultiHeadAttention.split_heads",
    },
    boundaries=on("x", vector_conditions(*BTD))
    | {
        "one sentence of one position": lambda x: x.size(0) == x.size(1) == 1,
        "more than eight heads": lambda n_heads: n_heads > 8,
        "heads of odd width": lambda x, n_heads: (
            x.size(2) // n_heads % 2 == 1 < x.size(2) // n_heads
        ),
        "one head": lambda n_heads: n_heads == 1,
        "as many heads as positions": lambda x, n_heads: x.size(1) == n_heads,
        "as many heads as features": lambda x, n_heads: x.size(2) == n_heads,
        "as many heads as sentences": lambda x, n_heads: x.size(0) == n_heads > 1,
        "as many heads as each is wide": lambda x, n_heads: x.size(2) == n_heads**2,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(SPLIT_HEADS)


@mistake(
    "split",
    "heads split with view, not transposed",
    met=("nonsense", 2),
    symptom="With several heads and positions, head 0 holds numbers of the first positions alone.",
    cause="Make (B, T, H, K) first, then transpose axes 1 and 2.",
    seen="MultiHeadAttention bug when num_heads is greater than 1, "
    "https://github.com/reczoo/FuxiCTR/issues/30",
)
def split_without_transpose(x: Tensor, n_heads: int) -> Tensor:
    return x.reshape(x.size(0), n_heads, x.size(1), -1)


@mistake(
    "split",
    "heads interleaved",
    met=("harmless", 14),
    symptom="Head h holds every H-th feature in place of its own stretch of K neighbours.",
    cause="Unfold the features as (H, K), not as (K, H). Both work if used everywhere, but "
    "weights do not fit from one to the other.",
    kind="convention",
)
def split_interleaved(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


@mistake(
    "split",
    "heads left behind the positions",
    met=("sizes", 7),
    symptom="The shape is (B, T, H, K): heads and positions have not changed places.",
    cause="Exchange axes 1 and 2, once (transpose returns a new tensor: assign it).",
)
def split_not_transposed(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1))


@mistake(
    "split",
    "sentences and heads exchanged",
    symptom="The shape is (H, B, T, K): the heads stand before the sentences.",
    cause="The batch stays in front: exchange axes 1 and 2 of (B, T, H, K), and no others, or "
    "stack the heads along dim=1.",
)
def heads_first(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).permute(2, 0, 1, 3)


@mistake(
    "split",
    "number of heads taken for their width",
    symptom="There are D / H heads, each n_heads wide.",
    cause="Unfold the last axis as (H, D / H), not as (D / H, H).",
)
def width_for_number(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (-1, n_heads)).transpose(1, 2)


@mistake(
    "split",
    "features before positions in each head",
    symptom="The shape is (B, H, K, T): the last two axes are exchanged, too.",
    cause="Unfold the features first, to (B, T, H, K); then exchange axes 1 and 2, and no others.",
)
def features_first(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).permute(0, 2, 3, 1)
