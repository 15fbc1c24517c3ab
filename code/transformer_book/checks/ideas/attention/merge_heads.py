"""Merge heads (chapter 9): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from transformer_book.checks.boundaries import longer_than, on, vector_conditions
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import addresses, normal


def merge_cases() -> Sequence[Case]:
    return (
        Case("addresses: two heads, three positions", (addresses(1, 2, 3, 2),)),
        Case("addresses: two sentences", (addresses(2, 2, 3, 2),)),
        Case("addresses: as many heads as positions", (addresses(2, 3, 3, 2),)),
        Case("addresses: four heads", (addresses(1, 4, 2, 3),)),
        Case("one head", (addresses(2, 1, 3, 4),)),
        Case("addresses: one feature in each head", (addresses(2, 3, 5, 1),)),
        Case("addresses: one position", (addresses(3, 2, 1, 3),)),
        Case("addresses: as many of all", (addresses(3, 3, 3, 3),)),
        Case("random numbers", (normal(2, 3, 5, 4, seed=1),)),
        Case("eleven heads, one sentence, one position", (normal(1, 11, 1, 3, seed=2),)),
        Case("one of all", (normal(1, 1, 1, 1, seed=3),)),
        Case("twelve heads, 320 positions", (normal(1, 12, 320, 2, seed=4),)),
    )


MERGE_HEADS = Component(
    name="merge_heads",
    chapter=9,
    order=2,
    section="Merging",
    signature="heads",
    pipeline=lambda s, heads: s.merge(heads),
    steps={"merge": lambda heads: heads.transpose(1, 2).flatten(-2)},
    cases=merge_cases,
    returns="`(B, T, D)` from `(B, H, T, K)`",
    met="worse",
    ready_made={
        "MultiHeadAttention.merge_heads": "attention.MultiHeadAttention.merge_heads",
    },
    boundaries={
        **on("heads", vector_conditions("sentences", "heads", "positions", "features")),
        **on("heads", longer_than((10, 100, 256), lambda heads: heads.size(2))),
        "more than ten heads": lambda heads: heads.size(1) > 10,
        "one sentence, one position": lambda heads: heads.size(0) == heads.size(2) == 1,
        "one of all": lambda heads: heads.numel() == 1,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(MERGE_HEADS)


@mistake(
    "merge",
    "heads merged without permuting back",
    met=("nonsense", 1),
    symptom="With several heads and positions, a row holds numbers of several positions.",
    cause="Merge the last two axes of heads.transpose(1, 2), (B, T, H, K): `heads` itself stays "
    "(B, H, T, K).",
    seen="Fix several bugs, one critical, "
    "https://github.com/jsbaan/transformer-from-scratch/pull/6",
)
def merged_without_transpose(heads: Tensor) -> Tensor:
    return heads.reshape(heads.size(0), heads.size(2), -1)


@mistake(
    "merge",
    "other axes exchanged before merging",
    symptom="Where it differs, a row holds numbers of several positions, feature by feature.",
    cause="Exchange the axes of heads and positions, 1 and 2, and no others, before merging.",
)
def merged_over_positions(heads: Tensor) -> Tensor:
    return heads.transpose(2, 3).reshape(heads.size(0), heads.size(2), -1)


@mistake(
    "merge",
    "heads merged interleaved",
    met=("harmless", 15),
    symptom="With several heads of several features, the features of the heads alternate in place "
    "of standing one head after the other.",
    cause="Merge the last two axes as (H, K), not as (K, H). Both work if used everywhere.",
    kind="convention",
)
def merged_interleaved(heads: Tensor) -> Tensor:
    return heads.permute(0, 2, 3, 1).flatten(-2)


@mistake(
    "merge",
    "heads averaged",
    met=("sizes", 9),
    symptom="The shape is (B, T, K): the heads are averaged.",
    cause="Put the heads side by side; the output projection mixes them.",
)
def heads_averaged(heads: Tensor) -> Tensor:
    return heads.mean(dim=1)


@mistake(
    "merge",
    "heads in reverse order",
    symptom="The last head stands first.",
    cause="Head 0 has the first K features, head 1 the next ones.",
)
def heads_reversed(heads: Tensor) -> Tensor:
    return heads.flip(1).transpose(1, 2).flatten(-2)


@mistake(
    "merge",
    "heads summed",
    symptom="The shape is (B, T, K): the heads are added up.",
    cause="Put the heads side by side; the output projection mixes them.",
)
def heads_summed(heads: Tensor) -> Tensor:
    return heads.sum(dim=1)


@mistake(
    "merge",
    "heads and features not put together",
    symptom="The shape is (B, T, H, K): the last two axes are still apart.",
    cause="Return one axis in place of the last two: flatten(-2) makes it, and leaves what it is "
    "called on as it is.",
)
def heads_left_apart(heads: Tensor) -> Tensor:
    return heads.transpose(1, 2)


@mistake(
    "merge",
    "a stack of heads read off",
    symptom="Where it differs, a row holds numbers of several positions or sentences.",
    cause="Bring the heads to (B, T, H, K) first, then merge the last two axes.",
    seen="A possible bug in self_attention.py, https://github.com/hackiey/QAnet-pytorch/issues/2",
)
def stack_read_off(heads: Tensor) -> Tensor:
    return heads.transpose(0, 1).reshape(heads.size(0), heads.size(2), -1)
