"""Ablate head (chapter 26): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


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
    twelve, *others = parts(1, 12, 2, 1, 5, 10, seed=110)
    twelve[:, 3] = twelve[:, 10]
    return (
        Case("one position, two heads", (pencil, torch.eye(4), torch.tensor([1.0, 0, 0, 1.0]), 1)),
        Case("two heads, the first", (*parts(1, 2, 3, 3, 6, 0, seed=10),)),
        Case("three heads, the middle one", (*parts(3, 3, 4, 2, 6, 1, seed=20),)),
        Case("four heads, the last", (*parts(2, 4, 3, 2, 8, 3, seed=30),)),
        Case("more features than heads", (*parts(2, 2, 5, 4, 8, 1, seed=40),)),
        Case("more heads than features", (*parts(1, 5, 3, 2, 10, 2, seed=50),)),
        Case("another width behind", (*parts(2, 3, 3, 2, 5, 2, seed=60),)),
        Case("many positions", (*parts(1, 3, 1030, 3, 9, 1, seed=70),)),
        Case("as many heads as features", (*parts(2, 3, 2, 3, 9, 2, seed=80),)),
        Case("one head", (*parts(2, 1, 3, 4, 4, 0, seed=90),)),
        Case("a wider model", (*parts(2, 3, 3, 2, 8, 0, seed=100),)),
        Case("twelve heads of one feature, two of them alike", (twelve, *others)),
        Case("one head, one position, one feature behind", (*parts(2, 1, 1, 3, 1, 0, seed=120),)),
    )


ABLATE_HEAD = Component(
    name="ablate_head",
    chapter=26,
    order=2,
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
    met="worse",
    boundaries={
        "the first head": lambda head: head == 0,
        "the last head of several": lambda heads, head: 0 < head == heads.size(1) - 1,
        "one head": lambda heads: heads.size(1) == 1,
        "one sequence": lambda heads: len(heads) == 1,
        "one position": lambda heads: heads.size(2) == 1,
        "as many heads as features": lambda heads: heads.size(1) == heads.size(3),
        "another width behind": lambda weight: weight.size(0) != weight.size(1),
        "a wider model": lambda weight: weight.size(0) < weight.size(1),
        "more than ten heads": lambda heads: heads.size(1) > 10,
        "one feature in each head": lambda heads: heads.size(3) == 1,
        "another head like this one": lambda heads, head: any(
            torch.equal(other, heads[:, head])
            for i, other in enumerate(heads.unbind(1))
            if i != head
        ),
        "one head, one position": lambda heads: heads.size(1) == heads.size(2) == 1,
        "one feature behind": lambda weight: weight.size(1) == 1,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(ABLATE_HEAD)


@mistake(
    "silence",
    "heads counted from one",
    symptom="The head before the one you meant is gone; for head 0, the last one.",
    cause="Head `head` − 1 is set to zero: heads are counted from 0, as the axis is.",
)
def from_one(heads: Tensor, head: int) -> Tensor:
    return silenced(heads, (head - 1) % heads.size(1))


@mistake(
    "silence",
    "only this head kept",
    symptom="All other heads are gone, and the one you meant stays.",
    cause="This head must be zero, and the others stay.",
)
def inverted(heads: Tensor, head: int) -> Tensor:
    return heads - silenced(heads, head)


@mistake(
    "silence",
    "others enlarged",
    symptom="The other heads are too large, by the factor H / (H − 1).",
    cause="The other heads are scaled up, as dropout does in training: an ablation takes one head "
    "away and leaves the others as they are.",
)
def enlarged(heads: Tensor, head: int) -> Tensor:
    n = heads.size(1)
    return silenced(heads, head) * n / max(n - 1, 1)


@mistake(
    "silence",
    "mean ablation",
    met=("harmless", 27),
    symptom="The head still adds something, the same at every position.",
    cause="The head is replaced by its mean over positions and sequences: mean ablation, as good a "
    "question, but another one than zero ablation.",
    kind="convention",
)
def mean_ablation(heads: Tensor, head: int) -> Tensor:
    mean = heads.mean(dim=(0, 2), keepdim=True)  # (1, H, 1, K)
    return silenced(heads, head) + (mean - silenced(mean, head))


@mistake(
    "silence",
    "head read at the wrong place after merging",
    symptom="With several heads of several features, no head is gone as a whole, and parts of "
    "others are.",
    cause="After merging, every H-th feature is set to zero: the features of a head stand side by "
    "side, head · K to (head + 1) · K − 1.",
    section="Break it: the wrong numbers set to zero",
)
def every_hth(heads: Tensor, head: int) -> Tensor:
    H, K = heads.size(1), heads.size(3)
    merged = merged_heads(heads)  # (B, T, H·K)
    kept = torch.arange(H * K) % H != head
    return (merged * kept).unflatten(2, (H, K)).transpose(1, 2)


@mistake(
    "silence",
    "head as wide as there are heads",
    symptom="It is right where H = K; elsewhere the features that are gone are not the head's K.",
    cause="After merging, the slice from head · H to (head + 1) · H is set to zero: a head is "
    "K features wide.",
    section="Break it: the wrong numbers set to zero",
)
def wide_as_heads(heads: Tensor, head: int) -> Tensor:
    H, K = heads.size(1), heads.size(3)
    place = torch.arange(H * K)
    kept = (place < head * H) | (place >= (head + 1) * H)
    return (merged_heads(heads) * kept).unflatten(2, (H, K)).transpose(1, 2)


@mistake(
    "silence",
    "remaining heads moved up",
    symptom="It is right for the last head; with any other, all heads behind it meet the wrong "
    "rows of `weight`.",
    cause="The gap must stay: set the head to zero in its place, do not cut it out.",
    section="Break it: the wrong numbers set to zero",
)
def moved_up(heads: Tensor, head: int) -> Tensor:
    others = torch.cat([heads[:, :head], heads[:, head + 1 :]], dim=1)
    return torch.cat([others, torch.zeros_like(heads[:, :1])], dim=1)


@mistake(
    "merge",
    "merged without permuting back, one head silent",
    symptom="With several heads and positions, a row holds numbers of several positions.",
    cause="Bring the positions to the front before merging: transpose(1, 2).",
    section="Break it: the wrong numbers set to zero",
)
def unpermuted(heads: Tensor) -> Tensor:
    B, H, T, K = heads.shape
    return heads.reshape(B, T, H * K)


@mistake(
    "finish",
    "bias taken away with the head",
    symptom="Every output is shifted by the same vector, whichever head is gone.",
    cause="Add the bias of the output projection: it belongs to no head, so it stays.",
)
def no_bias(projected: Tensor, bias: Tensor, heads: Tensor, head: int) -> Tensor:
    return projected


@mistake(
    "finish",
    "ablated after the projection",
    symptom="A block of each position's outputs may be zero, and all heads speak in the rest.",
    cause="Set the head to zero before the projection: each output feature is a sum over all "
    "heads.",
    section="Break it: the wrong numbers set to zero",
    steps={"silence": lambda heads, head: heads},
)
def after_projection(projected: Tensor, bias: Tensor, heads: Tensor, head: int) -> Tensor:
    K, place = heads.size(-1), torch.arange(projected.size(-1))
    return (projected + bias) * ((place < head * K) | (place >= (head + 1) * K))


@mistake(
    "read",
    "columns of the weight in place of its rows",
    symptom="A block of output features may be the bias alone, and all heads speak in the rest.",
    cause="Set the head itself to zero: the columns of `weight` are output features, and its rows "
    "belong to the heads.",
    section="Break it: the wrong numbers set to zero",
    steps={"silence": lambda heads, head: heads},
)
def columns(weight: Tensor, heads: Tensor, head: int) -> Tensor:
    K, place = heads.size(-1), torch.arange(weight.size(1))
    return weight * ((place < head * K) | (place >= (head + 1) * K))
