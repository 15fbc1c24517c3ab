"""Known mistakes of chapter 26: scores one token off, heads taken away in the wrong place."""

from __future__ import annotations

import torch
from torch import Tensor

from transformer_book.checks.induction import merged_heads, silenced
from transformer_book.checks.mistakes.registry import mistake

# --- induction_score -----------------------------------------------------------------------------

SCORE = "induction_score"
OFF = "Break it: one token off"
A_SCORE = "A number for a head"


@mistake(
    SCORE,
    "looked_at",
    "the same token in place of the one after it",
    symptom="A head that copies gets a score near 0, and one that looks for its own token near 1.",
    cause="The key is t − period, where the row's own token stood: the token after it stands at "
    "t − period + 1.",
    section=OFF,
)
def same_token(rows: Tensor, period: int) -> Tensor:
    return rows - period


@mistake(
    SCORE,
    "looked_at",
    "the token before the last occurrence",
    symptom="A head that copies gets a score near 0.",
    cause="The diagonal lies two places too low, period + 1 below the main one: it must be "
    "period − 1 below.",
    section=OFF,
    steps={"rows": lambda length, period: torch.arange(period + 1, length)},
)
def token_before(rows: Tensor, period: int) -> Tensor:
    return rows - period - 1


@mistake(
    SCORE,
    "looked_at",
    "previous token scored",
    symptom="The heads of the first layer have the high scores.",
    cause="The key is t − 1: that is the score of a previous-token head. For induction it is "
    "t − period + 1.",
    section=A_SCORE,
)
def previous_token(rows: Tensor, period: int) -> Tensor:
    return rows - 1


@mistake(
    SCORE,
    "rows",
    "a row counted that has not seen its token yet",
    symptom="The score is a little off, by one row too many.",
    cause="The whole diagonal is averaged, from row period − 1 on: the first row whose token stood "
    "there before is row period.",
    section=OFF,
)
def one_row_more(length: int, period: int) -> Tensor:
    return torch.arange(period - 1, length)


@mistake(
    SCORE,
    "rows",
    "third time left out",
    symptom="The score is off where the sequence is longer than two periods.",
    cause="Only rows period to 2 · period − 1 are averaged: every row from period on has seen its "
    "token before.",
    section=A_SCORE,
)
def second_time_only(length: int, period: int) -> Tensor:
    return torch.arange(period, min(2 * period, length))


@mistake(
    SCORE,
    "rows",
    "only the last row scored",
    symptom="The score jumps from sequence to sequence.",
    cause="One row is read, the last: take the mean over all rows from period on.",
    section=A_SCORE,
)
def last_row(length: int, period: int) -> Tensor:
    return torch.arange(length - 1, length)


@mistake(
    SCORE,
    "pick",
    "queries and keys exchanged",
    symptom="With a causal mask, every score is 0.",
    cause="The weights are read as [key, query], above the diagonal: rows are queries, columns are "
    "keys.",
    section=OFF,
)
def exchanged(weights: Tensor, rows: Tensor, keys: Tensor) -> Tensor:
    return weights[:, :, keys, rows]


@mistake(
    SCORE,
    "average",
    "divided by all rows",
    symptom="Even a head that copies perfectly stays well below 1.",
    cause="The sum is divided by the length of the sequence, and the first period has nothing to "
    "copy: divide by the rows that were added up.",
    section=OFF,
)
def over_all_rows(picked: Tensor, weights: Tensor) -> Tensor:
    return picked.sum(dim=2).mean(dim=0) / weights.size(-2)


@mistake(
    SCORE,
    "average",
    "weights summed over the rows",
    symptom="Scores are above 1.",
    cause="The weights of all rows are added up: take their mean.",
    section=A_SCORE,
)
def summed(picked: Tensor, weights: Tensor) -> Tensor:
    return picked.sum(dim=2).mean(dim=0)


@mistake(
    SCORE,
    "average",
    "averaged over the heads",
    symptom="There is one number for the layer, and no head stands out.",
    cause="The mean is taken over the heads, too: take it over sequences and rows, dim=(0, 2).",
    section=A_SCORE,
)
def over_heads(picked: Tensor, weights: Tensor) -> Tensor:
    return picked.mean()


@mistake(
    SCORE,
    "average",
    "only the first sequence scored",
    symptom="The score does not depend on the other sequences of the batch.",
    cause="Only sequence 0 is read: take the mean over the whole batch.",
    section=A_SCORE,
)
def first_sequence(picked: Tensor, weights: Tensor) -> Tensor:
    return picked[0].mean(dim=-1)


# --- ablate_head ---------------------------------------------------------------------------------

ABLATE = "ablate_head"
AWAY = "Take a head away"
WRONG_PLACE = "Break it: the wrong numbers set to zero"


@mistake(
    ABLATE,
    "silence",
    "heads counted from one",
    symptom="The head before the one you meant is gone.",
    cause="Head `head` − 1 is set to zero: heads are counted from 0, as the axis is.",
    section=AWAY,
)
def from_one(heads: Tensor, head: int) -> Tensor:
    return silenced(heads, (head - 1) % heads.size(1))


@mistake(
    ABLATE,
    "silence",
    "only this head kept",
    symptom="Nearly everything is gone, whichever head you take away.",
    cause="The mask is inverted: this head must be zero, and the others stay.",
    section=AWAY,
)
def inverted(heads: Tensor, head: int) -> Tensor:
    return heads - silenced(heads, head)


@mistake(
    ABLATE,
    "silence",
    "others enlarged",
    symptom="What remains is too large, by the factor H / (H − 1).",
    cause="The other heads are scaled up, as dropout does in training: an ablation takes one head "
    "away and leaves the others as they are.",
    section=AWAY,
)
def enlarged(heads: Tensor, head: int) -> Tensor:
    n = heads.size(1)
    return silenced(heads, head) * n / max(n - 1, 1)


@mistake(
    ABLATE,
    "silence",
    "mean ablation",
    symptom="The head still adds something, the same at every position.",
    cause="The head is replaced by its mean over positions and sequences: mean ablation, as good a "
    "question, but another one than zero ablation.",
    section=AWAY,
    kind="convention",
)
def mean_ablation(heads: Tensor, head: int) -> Tensor:
    mean = heads.mean(dim=(0, 2), keepdim=True)  # (1, H, 1, K)
    return silenced(heads, head) + (mean - silenced(mean, head))


@mistake(
    ABLATE,
    "silence",
    "head read at the wrong place after merging",
    symptom="A bit of every head is gone, and no head is gone as a whole.",
    cause="After merging, every H-th feature is set to zero: the features of a head stand side by "
    "side, head · K to (head + 1) · K.",
    section=WRONG_PLACE,
)
def every_hth(heads: Tensor, head: int) -> Tensor:
    H, K = heads.size(1), heads.size(3)
    merged = merged_heads(heads)  # (B, T, H·K)
    kept = torch.arange(H * K) % H != head
    return (merged * kept).unflatten(2, (H, K)).transpose(1, 2)


@mistake(
    ABLATE,
    "silence",
    "head as wide as there are heads",
    symptom="Right where H = K; elsewhere a part of the head remains, or another goes with it.",
    cause="After merging, the slice from head · H to (head + 1) · H is set to zero: a head is "
    "K features wide.",
    section=WRONG_PLACE,
)
def wide_as_heads(heads: Tensor, head: int) -> Tensor:
    H, K = heads.size(1), heads.size(3)
    place = torch.arange(H * K)
    kept = (place < head * H) | (place >= (head + 1) * H)
    return (merged_heads(heads) * kept).unflatten(2, (H, K)).transpose(1, 2)


@mistake(
    ABLATE,
    "silence",
    "remaining heads moved up",
    symptom="The last head is harmless to remove, and every other one costs far too much.",
    cause="The head is cut out and the others close the gap, so they meet the rows of `weight` of "
    "their neighbours: set it to zero in its place.",
    section=WRONG_PLACE,
)
def moved_up(heads: Tensor, head: int) -> Tensor:
    others = torch.cat([heads[:, :head], heads[:, head + 1 :]], dim=1)
    return torch.cat([others, torch.zeros_like(heads[:, :1])], dim=1)


@mistake(
    ABLATE,
    "merge",
    "merged without permuting back, one head silent",
    symptom="Positions are mixed: the head of one stands in the row of another.",
    cause="The heads are merged with reshape alone: bring the positions to the front first, "
    "transpose(1, 2).",
    section=WRONG_PLACE,
)
def unpermuted(heads: Tensor) -> Tensor:
    B, H, T, K = heads.shape
    return heads.reshape(B, T, H * K)


@mistake(
    ABLATE,
    "finish",
    "bias taken away with the head",
    symptom="Every output is shifted by the same vector, whichever head is gone.",
    cause="The bias of the output projection is missing: it belongs to no head, so it stays.",
    section=AWAY,
)
def no_bias(projected: Tensor, bias: Tensor, heads: Tensor, head: int) -> Tensor:
    return projected


@mistake(
    ABLATE,
    "finish",
    "ablated after the projection",
    symptom="The outputs have K zeros at each position, and all heads speak in the rest.",
    cause="Features head · K to (head + 1) · K of the output are set to zero: the projection has "
    "mixed the heads. Set them to zero before it.",
    section=WRONG_PLACE,
    steps={"silence": lambda heads, head: heads},
)
def after_projection(projected: Tensor, bias: Tensor, heads: Tensor, head: int) -> Tensor:
    K, place = heads.size(-1), torch.arange(projected.size(-1))
    return (projected + bias) * ((place < head * K) | (place >= (head + 1) * K))


@mistake(
    ABLATE,
    "read",
    "columns of the weight in place of its rows",
    symptom="Some features of the output are the bias alone, and no head is gone.",
    cause="weight[:, head · K : (head + 1) · K] is set to zero, which are output features: the "
    "rows of `weight` belong to the heads.",
    section=WRONG_PLACE,
    steps={"silence": lambda heads, head: heads},
)
def columns(weight: Tensor, heads: Tensor, head: int) -> Tensor:
    K, place = heads.size(-1), torch.arange(weight.size(1))
    return weight * ((place < head * K) | (place >= (head + 1) * K))
