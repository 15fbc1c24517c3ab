"""Paired by halves (chapter 28): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import addresses, normal


def paired_by_halves_pipeline(s, weight, n_heads):
    pairs = s.unfold(weight, n_heads)  # (H, K/2, 2, D)
    return s.fold(s.first_and_second(pairs))  # (H·K, D)


def paired_by_halves_cases() -> Sequence[Case]:
    alike = normal(24, 4, seed=7)
    alike[3] = alike[2]
    return (
        Case("one head of four features", (addresses(4, 4), 1)),
        Case("one head of six", (addresses(6, 6), 1)),
        Case("two heads of four", (addresses(8, 8), 2)),
        Case("two heads of six", (normal(12, 12, seed=1), 2)),
        Case("three heads of four", (normal(12, 12, seed=2), 3)),
        Case("two heads of eight", (normal(16, 16, seed=3), 2)),
        Case("keys of fewer heads", (normal(12, 16, seed=4), 2)),
        Case("keys of two heads beside eight", (normal(8, 32, seed=6), 2)),
        Case("heads of two features: nothing moves", (normal(6, 6, seed=5), 3)),
        Case("two heads of twelve, a narrow model, two rows alike", (alike, 2)),
        Case("one head of 160 beside a wider model", (normal(160, 170, seed=8), 1)),
        Case("twelve heads of four", (normal(48, 24, seed=9), 12)),
    )


PAIRED_BY_HALVES = Component(
    name="paired_by_halves",
    chapter=28,
    order=2,
    section="Which features are a pair, by hand",
    signature="weight, n_heads",
    pipeline=paired_by_halves_pipeline,
    steps={
        "unfold": lambda weight, n_heads: weight.unflatten(0, (n_heads, -1, 2)),
        "first_and_second": lambda pairs: pairs.transpose(1, 2),
        "fold": lambda pairs: pairs.flatten(0, 2),
    },
    cases=paired_by_halves_cases,
    returns="`(H·K, D)`: the rows of a query or key weight whose heads pair neighbours (features "
    "2i and 2i + 1), in the order in which the same pairs are features i and i + K/2 of the same "
    "head",
    done_by="rotate",
    met="nonsense",
    boundaries={
        "one head": lambda n_heads: n_heads == 1,
        "one head, another width": lambda weight, n_heads: (
            n_heads == 1 and weight.size(0) != weight.size(1)
        ),
        "more than ten heads": lambda n_heads: n_heads > 10,
        "heads of two features": lambda weight, n_heads: weight.size(0) == 2 * n_heads,
        "heads of more than ten features": lambda weight, n_heads: weight.size(0) > 10 * n_heads,
        "more rows than columns": lambda weight: weight.size(0) > weight.size(1),
        "fewer rows than columns": lambda weight: weight.size(0) < weight.size(1),
        "two rows alike": lambda weight: len(weight.unique(dim=0)) < len(weight),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(PAIRED_BY_HALVES)


@mistake(
    "first_and_second",
    "rows left as they are",
    met=("nonsense", 14),
    symptom="No row has moved: the heads still pair neighbours.",
    cause="In each head, take the first features of all pairs, then the second ones.",
    section="Break it: the other pairs",
)
def unmoved(pairs: Tensor) -> Tensor:
    return pairs


@mistake(
    "unfold",
    "pairs taken the other way round",
    symptom="Where a head has more than four features, rows are moved from halves to neighbours; "
    "they were neighbours, and should become halves.",
    cause="Row i of a head is its old row 2i, row i + K/2 its old row 2i + 1: unfold into (K/2, "
    "2), and exchange the two axes.",
)
def way_back(weight: Tensor, n_heads: int) -> Tensor:
    return weight.unflatten(0, (n_heads, 2, -1))


@mistake(
    "unfold",
    "all heads taken for one",
    symptom="With several heads, rows have left theirs.",
    cause="The even rows of the whole matrix come first: do it within each head.",
)
def one_head(weight: Tensor, n_heads: int) -> Tensor:
    return weight.unflatten(0, (1, -1, 2))


@mistake(
    "first_and_second",
    "second features first",
    symptom="The second features of the pairs come first: each pair is turned the other way.",
    cause="Put the first feature of pair i at place i, the second at i + K/2.",
)
def second_first(pairs: Tensor) -> Tensor:
    return pairs.transpose(1, 2).flip(1)


@mistake(
    "unfold",
    "heads interleaved in the rows",
    symptom="A row is taken for that of another head.",
    cause="The K rows of a head stand together: unfold into (H, K), not (K, H).",
)
def heads_inside(weight: Tensor, n_heads: int) -> Tensor:
    return weight.unflatten(0, (-1, n_heads)).transpose(0, 1).unflatten(1, (-1, 2))


@mistake(
    "unfold",
    "columns permuted, not rows",
    symptom="What was moved is the columns, not the rows.",
    cause="nn.Linear's weight is (out, in): the features of queries and keys are its rows.",
    steps={"fold": lambda pairs: pairs.flatten(0, 2).T},
)
def columns(weight: Tensor, n_heads: int) -> Tensor:
    return weight.T.unflatten(0, (n_heads, -1, 2))
