"""Components of chapter 26: how much of an induction head a head is, and what it is needed for."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.attention import normal
from transformer_book.checks.components import Case, Component

# --- the score -----------------------------------------------------------------------------------


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
    )


INDUCTION_SCORE = Component(
    name="induction_score",
    chapter=26,
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
)

# --- the ablation --------------------------------------------------------------------------------


def ablate_pipeline(s, heads, weight, bias, head):
    merged = s.merge(s.silence(heads, head))  # (B, T, H·K)
    projected = s.project(merged, s.read(weight, heads, head))  # (B, T, D)
    return s.finish(projected, bias, heads, head)


def merged_heads(heads: Tensor) -> Tensor:
    return heads.transpose(1, 2).flatten(2)  # (B, T, H, K) → (B, T, H·K)


def silenced(heads: Tensor, head: int) -> Tensor:
    kept = torch.arange(heads.size(1)) != head  # (H,)
    return heads * kept[:, None, None]


def ablate_cases() -> Sequence[Case]:
    def parts(batch, n_heads, length, d_head, d_model, head, *, seed):
        heads = normal(batch, n_heads, length, d_head, seed=seed)
        weight = normal(n_heads * d_head, d_model, seed=seed + 1)
        return heads, weight, normal(d_model, seed=seed + 2), head

    pencil = torch.tensor([[[[1.0, 2.0]], [[3.0, 4.0]]]])  # one position, two heads
    return (
        Case("one position, two heads", (pencil, torch.eye(4), torch.tensor([1.0, 0, 0, 1.0]), 1)),
        Case("two heads, the first", (*parts(1, 2, 3, 3, 6, 0, seed=10),)),
        Case("three heads, the middle one", (*parts(2, 3, 4, 2, 6, 1, seed=20),)),
        Case("four heads, the last", (*parts(2, 4, 3, 2, 8, 3, seed=30),)),
        Case("more features than heads", (*parts(2, 2, 5, 4, 8, 1, seed=40),)),
        Case("more heads than features", (*parts(1, 5, 3, 2, 10, 2, seed=50),)),
        Case("another width behind", (*parts(2, 3, 3, 2, 5, 2, seed=60),)),
        Case("many positions", (*parts(1, 3, 8, 3, 9, 1, seed=70),)),
        Case("as many heads as features", (*parts(2, 3, 2, 3, 9, 2, seed=80),)),
        Case("one head", (*parts(2, 1, 3, 4, 4, 0, seed=90),)),
    )


ABLATE_HEAD = Component(
    name="ablate_head",
    chapter=26,
    section="Take a head away",
    signature="heads, weight, bias, head",
    pipeline=ablate_pipeline,
    steps={
        "silence": silenced,
        "merge": merged_heads,
        "read": lambda weight, heads, head: weight,
        "project": lambda merged, weight: merged @ weight,
        "finish": lambda projected, bias, heads, head: projected + bias,
    },
    cases=ablate_cases,
    returns="`(B, T, D)`: what multi-head attention gives if one head, counted from 0, adds "
    "nothing; `heads` `(B, H, T, K)` is what each head has found, `weight` `(H·K, D)` and `bias` "
    "`(D,)` are those of the output projection, which gives `merged @ weight + bias`",
)

COMPONENTS = (INDUCTION_SCORE, ABLATE_HEAD)
