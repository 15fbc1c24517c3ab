"""Top k probabilities (chapter 17): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def top_k_cases() -> Sequence[Case]:
    hand = torch.tensor([[1.0, 3.0, 2.0, 0.0]])
    apart = torch.tensor([[50.0, -45.0, 52.0, 49.0], [-60.0, -63.0, -61.0, -62.0]])
    low = torch.tensor([[1.0, -torch.inf, 3.0, 0.0], [-700.0, -703.0, -701.0, -702.0]])
    near = torch.tensor([[20.001, 20.002, 20.003, 20.0], [200.0, 0.0, 100.0, -50.0]])
    return (
        Case("the two best of four", (hand, 2)),
        Case("the best", (torch.cat([hand, hand.roll(1, 1)]), 1)),
        Case("all", (torch.cat([hand, low]), 4)),
        Case("negative logits", (hand - 10, 2)),
        Case("logits far below zero", (hand - 300, 3)),
        Case("three of eight, random", (normal(3, 8, seed=1), 3)),
        Case("more rows than k", (normal(3, 8, seed=5), 2)),
        Case("five of nine, random", (normal(2, 9, seed=2) - 5, 5)),
        Case("rows far apart", (apart, 3)),
        Case("a forbidden token, and hundreds below zero", (low, 2)),
        Case("nearly alike, and far apart among the best", (near, 2)),
        Case("a hundred of a hundred and thirty", (normal(2, 130, seed=3), 100)),
    )


def keep_top(logits: Tensor, k: int) -> Tensor:
    worst = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < worst, float("-inf"))


TOP_K = Component(
    name="top_k_probabilities",
    chapter=17,
    order=3,
    section="Drawing instead of searching",
    signature="logits, k",
    pipeline=lambda s, logits, k: s.share(s.keep(logits, k)),
    steps={"keep": keep_top, "share": lambda logits: logits.softmax(dim=-1)},
    cases=top_k_cases,
    returns="probabilities `(B, V)`: those of the k likeliest tokens, summing to one; all others "
    "zero; k is at most V, and no two tokens are equally likely",
    differentiable=False,
    done_by="keep_top_k",
    met="random",
    boundaries={
        "one token": lambda k: k == 1,
        "all tokens": lambda logits, k: k == logits.size(-1),
        "one sentence": lambda logits: len(logits) == 1,
        "several sentences": lambda logits: len(logits) > 1,
        "more rows than k": lambda logits, k: len(logits) > k > 1,
        "negative logits alone": lambda logits: bool((logits < 0).all()),
        "rows far apart": lambda logits: bool(logits.amax(-1).max() - logits.amax(-1).min() > 100),
        "a forbidden token": lambda logits: bool(logits.isinf().any()),
        "hundreds below zero": lambda logits: bool((logits.amax(-1) < -500).any()),
        "nearly alike": lambda logits: bool((logits.amax(-1) - logits.amin(-1) < 0.01).any()),
        "the best far apart": lambda logits, k: bool(
            (logits.topk(k).values[:, 0] - logits.topk(k).values[:, -1] > 90).any()
        ),
        "more than fifty kept": lambda k: k > 50,
        "logits far apart": lambda logits: bool((logits.amax(-1) - logits.amin(-1) > 90).any()),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(TOP_K)


@mistake(
    "keep",
    "dropped logits set to zero",
    met=("random", 4),
    symptom="Dropped tokens can still be drawn: the exponential of zero is one.",
    cause="Set their logits to −inf.",
    seen="Possible Improvement to top_k_logits, https://github.com/karpathy/minGPT/issues/10",
)
def dropped_to_zero(logits: Tensor, k: int) -> Tensor:
    worst = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < worst, 0.0)


@mistake(
    "keep",
    "all but the best k",
    symptom="The likeliest tokens are dropped, and the others kept.",
    cause="Drop what lies below the k-th logit, not above.",
)
def best_dropped(logits: Tensor, k: int) -> Tensor:
    worst = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits >= worst, float("-inf"))


@mistake(
    "keep",
    "k cut from the rows",
    symptom="Every token can be drawn, and of more than k rows only the first k come back.",
    cause="[:k] cuts the first axis, the batch: choose along the last one, topk(k, dim=-1).",
)
def rows_cut(logits: Tensor, k: int) -> Tensor:
    return logits[:k]


@mistake(
    "keep",
    "one token too few",
    symptom="The k-th token is dropped, too.",
    cause="The k-th logit stays, too: drop only what is smaller (<), or, in descending order, the "
    "places from k on, counted from 0.",
)
def one_too_few(logits: Tensor, k: int) -> Tensor:
    worst = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits <= worst, float("-inf"))


@mistake(
    "keep",
    "one token too many",
    symptom="k + 1 tokens can be drawn, where there are so many.",
    cause="Drop what lies below the k-th logit; the place k, counted from zero, is one further.",
    seen="top-k sampling off by 1 bug, "
    "https://github.com/kingoflolz/mesh-transformer-jax/issues/164",
)
def one_too_many(logits: Tensor, k: int) -> Tensor:
    kept = min(k + 1, logits.size(-1))
    worst = logits.topk(kept, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < worst, float("-inf"))


@mistake(
    "share",
    "not shared out anew",
    symptom="Where tokens are dropped, the probabilities of the others do not sum to one.",
    cause="Take the softmax after dropping the others.",
    steps={"keep": lambda logits, k: (logits, k)},
)
def not_renormalised(both: tuple[Tensor, int]) -> Tensor:
    logits, k = both
    probabilities = logits.softmax(dim=-1)
    worst = probabilities.topk(k, dim=-1).values[..., -1:]
    return probabilities * (probabilities >= worst)


@mistake(
    "keep",
    "least likely k kept",
    symptom="The k least likely tokens are kept.",
    cause="Keep the k largest logits: topk(k, dim=-1) finds them.",
)
def least_kept(logits: Tensor, k: int) -> Tensor:
    best = logits.topk(k, dim=-1, largest=False).values[..., -1:]
    return logits.masked_fill(logits > best, float("-inf"))


@mistake(
    "keep",
    "only the k probabilities returned",
    symptom="There are k numbers in a row, in place of one for each token.",
    cause="Leave the others where they are, with probability 0: ids are places in the row.",
)
def values_alone(logits: Tensor, k: int) -> Tensor:
    return logits.topk(k, dim=-1).values


@mistake(
    "share",
    "no softmax after the choice",
    symptom="The kept numbers are logits, and the others −inf.",
    cause="Take the softmax of what is left.",
)
def logits_returned(logits: Tensor) -> Tensor:
    return logits


@mistake(
    "keep",
    "k ignored",
    symptom="Every token can be drawn.",
    cause="The softmax must get −inf in the place of all logits but the k largest: masked_fill "
    "gives a new tensor.",
)
def all_tokens_kept(logits: Tensor, k: int) -> Tensor:
    return logits
