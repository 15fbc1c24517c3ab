"""Scaled dot product attention (chapter 7): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.checks.boundaries import MASKS, QUERIES_AND_KEYS
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.attention.softmax import implied_axis


def attention_pipeline(s, query, key, value, mask=None):
    key, value = s.roles(key, value)
    scores = s.scores(query, key) * s.scale(query, value)  # (…, T, S)
    if mask is not None:
        scores = s.hide(scores, mask)  # (…, T, S)
    weights = s.normalise(scores)  # (…, T, S)
    weights = s.clean(weights, mask)  # (…, T, S)
    return s.average(weights, key, value)  # (…, T, K)


def hide(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min)


def clean(weights: Tensor, mask: Tensor | None) -> Tensor:
    """A query that may attend to nothing gets nothing."""
    return weights if mask is None else weights.masked_fill(~mask, 0.0)


def partly_masked(case: Case, answer: Any) -> Any:
    """The answer without the queries that may see everything, or nothing.

    What a wrong mask makes of those depends on how it is applied: with -1e9, with -inf, by a
    ready-made function.
    """
    mask = case.keywords.get("mask")
    if mask is None or not isinstance(answer, Tensor):
        return answer
    partly = mask.any(dim=-1, keepdim=True) & ~mask.all(dim=-1, keepdim=True)  # (…, T or 1, 1)
    # Multi-head attention gives (B, T, D): the axis of heads goes; no mask there differs by head.
    partly = partly[:, 0] if partly.dim() == 4 and answer.dim() == 3 else partly
    try:
        return answer.masked_fill(~partly, 0.0)
    except RuntimeError:  # a wrong shape stays as it is
        return answer


def attention_cases() -> Sequence[Case]:
    three = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    batch = [normal(2, 3, n, 4, seed=i) for i, n in enumerate((5, 6, 6))]
    square = [normal(2, 2, 4, 4, seed=10 + i) for i in range(3)]
    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    padding = torch.tensor([[True] * 6, [True] * 4 + [False] * 2])[:, None, None]  # (B, 1, 1, S)
    uneven = torch.tensor([[True, False, True, True, False, True]]).expand(5, 6)
    some = (normal(2, 3, 5, 6, seed=20) < 0.7) | (torch.arange(6) == 2)
    empty = causal.clone()
    empty[1] = False
    return (
        Case("three words, two numbers each", (three, three, three)),
        Case("the same, causal", (three, three, three), {"mask": torch.ones(3, 3).bool().tril()}),
        Case("more keys than queries", tuple(batch)),
        Case("a padding mask (B, 1, 1, S)", tuple(batch), {"mask": padding}),
        Case("a mask for every sentence and head", tuple(batch), {"mask": some}),
        Case(
            "one mask for all",
            tuple(normal(5, 3, n, 4, seed=56 + i) for i, n in enumerate((5, 6, 6))),
            {"mask": uneven},
        ),
        Case("a causal mask", tuple(square), {"mask": causal}),
        Case("values wider than keys", (batch[0], batch[1], normal(2, 3, 6, 7, seed=5))),
        Case("values narrower than keys", (batch[0], batch[1], normal(2, 3, 6, 2, seed=9))),
        Case(
            "one number in each value",
            (*(x[:, None] for x in square[:2]), normal(2, 1, 2, 4, 1, seed=19)),
        ),
        Case("one query, one key", tuple(normal(1, 1, 1, 4, seed=30 + i) for i in range(3))),
        Case(
            "long vectors",
            (normal(3, 160, seed=6), normal(4, 160, seed=7), normal(4, 160, seed=8)),
        ),
        Case("scores of several hundred", tuple(40 * tensor for tensor in square), rough=True),
        Case(
            "a causal mask and scores of several hundred",
            tuple(40 * tensor for tensor in square),
            {"mask": causal},
            rough=True,
        ),
        Case("scores of several thousand", tuple(80 * tensor for tensor in batch), rough=True),
        Case(
            "a causal mask and scores of a hundred thousand",
            tuple(400 * tensor for tensor in square),
            {"mask": causal},
            rough=True,
        ),
        Case(
            "a query that may attend to nothing",
            tuple(square),
            {"mask": torch.stack([causal, empty])},  # (H, T, S)
        ),
        Case(
            "two queries that may attend to nothing",
            tuple(square),
            {
                # (1, H, T, S)
                "mask": torch.stack(
                    [torch.tensor([True, False, True, False])[:, None].expand(4, 4), causal]
                )[None]
            },
        ),
        Case(
            "a sentence of nothing but padding",
            tuple(batch),
            {"mask": torch.tensor([[True] * 6, [False] * 6])[:, None, None]},
        ),
        Case(
            "one head (B, T, K), more queries than keys, a mask (B, 1, S)",
            (normal(2, 3, 4, seed=40), normal(2, 2, 4, seed=41), normal(2, 2, 4, seed=42)),
            {"mask": torch.tensor([[[True, False]], [[True, True]]])},
        ),
        Case(
            "a mask of queries (T, 1), vectors of one number",
            (
                normal(1, 2, 3, 1, seed=43),
                normal(1, 2, 4, 1, seed=44),
                normal(1, 2, 4, 3, seed=45),
            ),
            {"mask": torch.tensor([[True], [False], [True]])},
        ),
        Case(
            "a mask (B, 1, T, S) that hides all from one query",
            (batch[0], batch[1], batch[2]),
            {"mask": (some & (torch.arange(5) != 3)[:, None])[:, :1]},
        ),
        Case(
            "one key, hidden in one sentence",
            (
                normal(2, 1, 3, 2, seed=46),
                normal(2, 1, 1, 2, seed=47),
                normal(2, 1, 1, 2, seed=48),
            ),
            {"mask": torch.tensor([True, False])[:, None, None, None]},
        ),
        Case(
            "longer than a block, a mask with holes",
            (normal(1, 66, 2, seed=49), normal(1, 130, 2, seed=50), normal(1, 130, 2, seed=51)),
            {
                # For the last queries the whole first block is hidden.
                "mask": (normal(66, 130, seed=52) < 0.7)
                & ((torch.arange(66)[:, None] < 60) | (torch.arange(130) > 63))
            },
        ),
        Case(
            "a mask (S,)",
            (normal(2, 3, 4, seed=53), normal(2, 5, 4, seed=54), normal(2, 5, 4, seed=55)),
            {"mask": torch.tensor([True, False, True, True, False])},
        ),
    )


FUSED_HEADS: dict[str, Any] = {
    "F.multi_head_attention_forward": F.multi_head_attention_forward,
    "torch._native_multi_head_attention": torch._native_multi_head_attention,
}


ATTENTION = Component(
    name="scaled_dot_product_attention",
    chapter=7,
    order=2,
    section="The function in the package",
    signature="query, key, value, mask=None",
    pipeline=attention_pipeline,
    steps={
        "roles": lambda key, value: (key, value),
        "scores": lambda query, key: query @ key.transpose(-2, -1),
        "scale": lambda query, value: 1 / math.sqrt(query.size(-1)),
        "hide": hide,
        "normalise": lambda scores: scores.softmax(dim=-1),
        "clean": clean,
        "average": lambda weights, key, value: weights @ value,
    },
    cases=attention_cases,
    returns="the output `(…, T, K)` alone, without the weights; scores are divided by the root of "
    "the keys' width; `mask` is boolean, True = may attend, of as many axes as the scores or "
    "broadcast to them, and a query that may attend to nothing gets zeros",
    settled=partly_masked,
    met="worse",
    ready_made={
        "F.scaled_dot_product_attention": F.scaled_dot_product_attention,
        **FUSED_HEADS,
        "attention.scaled_dot_product_attention": "attention.scaled_dot_product_attention",
        "attention.fused_attention": "attention.fused_attention",
    },
    boundaries={
        **MASKS,
        **QUERIES_AND_KEYS,
        "an empty row": lambda mask: mask is not None and not mask.any(-1).all(),
        "values wider than keys": lambda key, value: value.size(-1) > key.size(-1),
        "values narrower than keys": lambda key, value: value.size(-1) < key.size(-1),
        "no axis in front": lambda query: query.dim() == 2,
        "one axis in front": lambda query: query.dim() == 3,
        "more queries than keys": lambda query, key: query.size(-2) > key.size(-2),
        "vectors longer than 50": lambda query: query.size(-1) > 50,
        "vectors of one number": lambda query: query.size(-1) == 1,
        "more than 64 queries": lambda query: query.size(-2) > 64,
        "more than 128 keys": lambda key: key.size(-2) > 128,
        "a mask of queries": lambda key, mask: (
            mask is not None and mask.size(-1) == 1 < key.size(-2)
        ),
        "a mask (B, 1, T, S)": lambda query, mask: (
            mask is not None and mask.dim() == 4 and mask.size(1) == 1 < mask.size(2)
        ),
        "a mask of one axis": lambda mask: mask is not None and mask.dim() == 1,
        "one key, hidden": lambda key, mask: (
            mask is not None and key.size(-2) == 1 and not mask.all()
        ),
        "a mask, and scores beyond 10000": lambda query, key, mask: (
            mask is not None and (query @ key.mT).abs().max() > 2e4
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(ATTENTION)


@mistake(
    "scale",
    "scores not scaled",
    met=("worse", 1),
    symptom="The scores are √d_k times too large: the wider the vectors, the sharper the weights.",
    cause="Divide the scores by the root of d_k, d_k ** 0.5, before the softmax.",
    section="Why divide by the square root of the width",
    seen="Fix scaling in attention computation, "
    "https://github.com/PAIR-code/tiny-transformers/issues/71",
)
def not_scaled(query: Tensor, value: Tensor) -> float:
    return 1.0


@mistake(
    "scale",
    "scores divided by d_k without the root",
    symptom="The scores are √d_k times too small: the wider the vectors, the evener the weights.",
    cause="Divide the scores by the root of d_k, once.",
    section="Why divide by the square root of the width",
)
def divided_without_root(query: Tensor, value: Tensor) -> float:
    return 1 / query.size(-1)


@mistake(
    "scale",
    "scores multiplied by the root of d_k",
    symptom="The scores are d_k times too large: the wider the vectors, the sharper the weights.",
    cause="Divide the scores by the root of d_k, as scores / d_k ** 0.5 does.",
    section="Why divide by the square root of the width",
    seen="Bug in MultiHeadAttention, https://github.com/esceptico/perceiver-io/issues/9",
)
def multiplied_by_root(query: Tensor, value: Tensor) -> float:
    return math.sqrt(query.size(-1))


@mistake(
    "scale",
    "scores divided by the root of the number of queries",
    symptom="The weights depend on how many queries there are.",
    cause="query.size(-2) is the number of queries; the width d_k is query.size(-1).",
    section="Why divide by the square root of the width",
)
def divided_by_length(query: Tensor, value: Tensor) -> float:
    return 1 / math.sqrt(query.size(-2))


@mistake(
    "normalise",
    "weights scaled after the softmax",
    symptom="The output is divided by √d_k, and the scores are not.",
    cause="Divide the scores by the root of d_k before the softmax, and nothing else by it.",
    section="Why divide by the square root of the width",
    steps={"scale": not_scaled, "average": lambda w, key, v: w @ v / math.sqrt(key.size(-1))},
)
def scaled_afterwards(scores: Tensor) -> Tensor:
    return scores.softmax(dim=-1)


@mistake(
    "normalise",
    "softmax over the queries",
    met=("frequencies", 13),
    symptom="Each key's weights are shared out over the queries, not each query's over the keys.",
    cause="Take the softmax of the scores (…, T, S) over their last axis, that of the keys.",
    seen="Bug in SA for DDPM UNet?, "
    "https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146",
)
def softmax_over_queries(scores: Tensor) -> Tensor:
    return scores.softmax(dim=-2)


@mistake(
    "normalise",
    "softmax over the first axis",
    met=("batch", 9),
    symptom="The weights are shared out over the first axis, mostly the sentences, not over "
    "the keys.",
    cause="Take the softmax of the scores (…, T, S) over their last axis, that of the keys.",
    seen="Attention's softmax dimension is wrong?, "
    "https://github.com/PetrochukM/PyTorch-NLP/issues/2",
)
def softmax_over_batch(scores: Tensor) -> Tensor:
    return scores.softmax(dim=0)


@mistake(
    "normalise",
    "no softmax",
    symptom="The weights are the scores themselves, whatever they sum to.",
    cause="Average the values by the softmax of the scores, not by the scores.",
)
def no_softmax(scores: Tensor) -> Tensor:
    return scores


@mistake(
    "normalise",
    "attention with an overflowing softmax",
    met=("nan", 3),
    symptom="Large scores give nan.",
    cause="In float32, exp overflows beyond about 88: subtract the row's maximum first, or use "
    "torch.softmax.",
    section="A softmax that survives large scores",
)
def overflowing_softmax(scores: Tensor) -> Tensor:
    exponentials = scores.exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@mistake(
    "hide",
    "mask inverted",
    met=("too-good", 8),
    symptom="What should be hidden is seen, and what should be seen is hidden.",
    cause="True means 'may attend' in this book: hide where the mask is False. "
    "(nn.MultiheadAttention means the opposite.)",
    section="PyTorch's modules mean the opposite",
    chapter=8,
    steps={
        "clean": lambda weights, mask: weights if mask is None else weights.masked_fill(mask, 0.0)
    },
    seen="Bug in Ch03 - Bonus02 - PyTorch's scaled dot product attention without FlashAttention, "
    "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
)
def hidden_where_true(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(mask, torch.finfo(scores.dtype).min)


@mistake(
    "hide",
    "mask applied after the softmax",
    met=("nonsense", 3),
    symptom="Where keys are hidden, the weights of a query can sum to less than one.",
    cause="Hidden keys still count in the sum of the softmax: hide their scores before it "
    "(masked_fill returns a new tensor: assign it).",
    section="Break it: the mask after the softmax",
    chapter=8,
)
@mistake(
    "hide",
    "mask ignored",
    met=("batch", 7),
    symptom="A query that may see some keys sees all.",
    cause="Set the scores to the lowest number where the mask is False, before the softmax "
    "(masked_fill returns a new tensor: assign it); a query that may see no key gets zeros.",
    section="Break it: the mask after the softmax",
    chapter=8,
    steps={"clean": lambda weights, mask: weights},
)
def mask_ignored(scores: Tensor, mask: Tensor) -> Tensor:
    return scores


@mistake(
    "hide",
    "boolean mask added to the scores",
    symptom="A query that may see some keys sees all: the scores of those are larger by one.",
    cause="True counts as 1: set hidden scores to the lowest number, masked_fill(~mask, …), and "
    "neither add nor subtract a mask; a query that may see no key gets zeros.",
    section="PyTorch's modules mean the opposite",
    chapter=8,
    steps={"clean": lambda weights, mask: weights},
)
def mask_added(scores: Tensor, mask: Tensor) -> Tensor:
    return scores + mask


@mistake(
    "hide",
    "hidden scores set to zero",
    met=("batch", 8),
    symptom="Hidden keys can still get weight: the exponential of zero is one.",
    cause="Hidden scores are 0, or close to it: set them to the lowest number instead; a "
    "query that may see no key gets zeros.",
    section="Break it: the mask after the softmax",
    chapter=8,
    steps={"clean": lambda weights, mask: weights},
)
def hidden_scores_zero(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, 0.0)


@mistake(
    "hide",
    "rows of minus infinity",
    met=("nan", 1),
    symptom="A query that may attend to nothing gives nan.",
    cause="A softmax over no keys is 0 / 0: set hidden scores to the lowest finite number before "
    "it, and the weights of hidden keys to zero after it.",
    section="Minus infinity, or a very small number?",
    chapter=8,
    steps={"clean": lambda weights, mask: weights},
    seen="`scaled_dot_product_attention` produces `nan`s with boolean `attn_mask` with zero rows., "
    "https://github.com/pytorch/pytorch/issues/103963",
)
def hidden_by_infinity(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, float("-inf"))


@mistake(
    "clean",
    "an empty row averages everything",
    symptom="A query that may attend to nothing gets the mean of all values.",
    cause="A softmax makes equal weights of equal low scores: then set those of hidden keys to "
    "zero, too (masked_fill returns a new tensor: assign it), before they meet the values.",
    section="Minus infinity, or a very small number?",
    chapter=8,
)
def empty_rows_average(weights: Tensor, mask: Tensor | None) -> Tensor:
    return weights


@mistake(
    "hide",
    "hidden by a number that is not low enough",
    symptom="A query that may attend to nothing gets the mean of all values, and where all open "
    "scores are far lower than what hidden ones are set to, hidden keys get weight.",
    cause="Set hidden scores to torch.finfo(dtype).min, the lowest number, and the weights of "
    "hidden keys to zero after the softmax.",
    section="Minus infinity, or a very small number?",
    chapter=8,
    steps={"clean": empty_rows_average},
)
def hidden_by_ten_thousand(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -1e4)


@mistake(
    "average",
    "keys averaged in place of values",
    symptom="The values do not matter.",
    cause="The weights average the keys; they must average the values.",
)
def keys_averaged(weights: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return weights @ key


@mistake(
    "roles",
    "keys and values exchanged",
    symptom="The queries are compared with the values, and the keys are averaged.",
    cause="Compare the queries with the keys, and average the values: the order is query, key, "
    "value.",
)
def exchanged(key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return value, key


@mistake(
    "roles",
    "scores of queries with values",
    symptom="The keys do not matter: the queries are compared with the values.",
    cause="The second factor of the scores must be the keys; the weights average the values.",
)
def compared_with_values(key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return value, value


@mistake(
    "normalise",
    "attention with a softmax without dim",
    symptom="With three or four axes the softmax does not run over the keys.",
    cause="Take the softmax over the keys, dim=-1 of scores (B, H, T, S). (Without dim, as with "
    "dim=1, F.softmax takes the second of four axes.)",
)
def attention_without_dim(scores: Tensor) -> Tensor:
    return scores.softmax(dim=implied_axis(scores))


@mistake(
    "scores",
    "scores of queries with queries",
    symptom="The keys do not matter.",
    cause="The scores are query times query: the second factor must be the key.",
)
def queries_with_queries(query: Tensor, key: Tensor) -> Tensor:
    return query @ query.transpose(-2, -1)


@mistake(
    "scores",
    "scores of keys with keys",
    met=("frequencies", 14),
    symptom="The queries do not matter.",
    cause="The scores are key times key: the first factor must be the query.",
)
def keys_with_keys(query: Tensor, key: Tensor) -> Tensor:
    return key @ key.transpose(-2, -1)


@mistake(
    "scores",
    "cosine in place of the dot product",
    symptom="The lengths of queries and keys no longer count.",
    cause="Take dot products of queries and keys, divided by the root of d_k, not cosines.",
    section="Angle and length, by hand",
    chapter=6,
)
def cosines(query: Tensor, key: Tensor) -> Tensor:
    normalise = torch.nn.functional.normalize
    return normalise(query, dim=-1) @ normalise(key, dim=-1).transpose(-2, -1)


@mistake(
    "scale",
    "root of the values' width",
    symptom="The weights change with the width of the values.",
    cause="The scores are sums over the width of the keys: divide by the root of key.size(-1).",
    section="Why divide by the square root of the width",
)
def by_the_values(query: Tensor, value: Tensor) -> float:
    return 1 / math.sqrt(value.size(-1))


@mistake(
    "average",
    "weights returned beside the output",
    symptom="Two things come back, the output and the weights.",
    cause="Return the output alone.",
)
def weights_too(weights: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return weights @ value, weights


@mistake(
    "average",
    "weights in place of the output",
    symptom="The weights come back, (…, T, S), and the values do not matter.",
    cause="Return the weights times the values.",
)
def weights_alone(weights: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return weights


@mistake(
    "scores",
    "queries scaled in place of scores",
    symptom="Nothing changes: the same scores come out.",
    cause="A factor can be pulled out of a product.",
    section="Why divide by the square root of the width",
    kind="harmless",
    steps={"scale": not_scaled},
)
def queries_scaled(query: Tensor, key: Tensor) -> Tensor:
    return query / math.sqrt(query.size(-1)) @ key.transpose(-2, -1)


@mistake(
    "hide",
    "-1e9 in place of the lowest number",
    symptom="Nothing changes, as long as scores are far from a billion.",
    cause="Any number that low has a weight of zero. (Half precision cannot hold it: use "
    "torch.finfo(dtype).min.)",
    section="Minus infinity, or a very small number?",
    chapter=8,
    kind="harmless",
)
def hidden_by_a_billion(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -1e9)
