"""Grouped query attention (chapter 25): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import longer_than, on
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def grouped_pipeline(s, query, key, value, mask=None):
    n_heads = query.size(1)
    keys, values = s.share_keys(key, n_heads), s.share_values(value, n_heads)  # (B, H, S, K) each
    scores = s.scale(s.products(query, keys, value), query, key)  # (B, H, T, S)
    if mask is not None:
        scores = s.hide(scores, mask, value)  # (B, H, T, S)
    return s.weigh(scores, mask) @ values  # (B, H, T, K)


def grouped_cases() -> Sequence[Case]:
    def inputs(b: int, h: int, g: int, t: int, n: int, k: int, seed: int) -> tuple[Tensor, ...]:
        return (
            normal(b, h, t, k, seed=seed),
            normal(b, g, n, k, seed=seed + 1),
            normal(b, g, n, k, seed=seed + 2),
        )

    def causal(t: int) -> Tensor:
        return torch.ones(t, t).tril().bool()

    padded = torch.tensor([[True, True, True], [True, True, False]])[:, None, None]
    own = torch.tensor([[[1, 0, 0], [1, 1, 0]], [[0, 1, 1], [0, 0, 1]]]).bool()[:, None]
    own = own.repeat(1, 4, 1, 1)
    own[:, 1] = own[:, 2] = True  # heads may have masks of their own
    query, key, value = inputs(2, 4, 2, 2, 3, 2, 100)
    query[:, :, 0] = 0.0  # all scores of the first query are 0, which hides nothing
    # Each head of values is its own number: which one a query head reads is seen at once.
    address = torch.tensor([10.0, 20.0])[None, :, None, None].expand(1, 2, 2, 1).clone()
    return (
        Case(
            "four heads, two groups: each head of values is one number",
            (normal(1, 4, 2, 1, seed=1), normal(1, 2, 2, 1, seed=2), address),
            rough=True,  # whatever the weights, their average of equal values is the same
        ),
        Case("four heads, two groups", inputs(1, 4, 2, 3, 3, 2, 10)),
        Case("six heads, two groups, masked", (*inputs(4, 6, 2, 4, 4, 3, 20), causal(4))),
        Case("six heads, three groups, padded", (*inputs(2, 6, 3, 3, 3, 4, 30), padded)),
        Case("eight heads, four groups", (*inputs(1, 8, 4, 5, 5, 2, 40), causal(5))),
        Case("one group: multi-query", (*inputs(2, 3, 1, 4, 4, 2, 50), causal(4))),
        Case("as many groups as heads", (*inputs(2, 4, 4, 3, 3, 4, 60), causal(3))),
        Case("as many groups as heads, no mask", inputs(1, 3, 3, 2, 5, 4, 70)),
        Case("one query, seven keys", inputs(2, 4, 2, 1, 7, 4, 80)),
        Case("large scores", tuple(20 * x for x in inputs(1, 4, 2, 3, 3, 4, 90)), rough=True),
        Case("a mask of each sentence, and a query of zeros", (query, key, value, own)),
        Case(
            "one query, padded, with scores beyond a hundred thousand",
            (*(1000 * x for x in inputs(2, 4, 2, 1, 3, 4, 120)), padded),
            rough=True,
        ),
        Case(
            "twelve heads, three groups, two queries after three keys",
            (*inputs(3, 12, 3, 2, 5, 2, 130), torch.ones(2, 5).tril(3).bool()),
        ),
        Case(
            "one head, one query, one key",
            (*inputs(1, 1, 1, 1, 1, 3, 140), torch.ones(1, 1, 1, 1).bool()),
        ),
        Case(
            "two queries, 320 keys, 260 of them padding in front",
            (*inputs(1, 2, 1, 2, 320, 2, 150), torch.arange(320)[None, None, None] >= 260),
        ),
    )


def shared(x: Tensor, n_heads: int) -> Tensor:
    return x.repeat_interleave(n_heads // x.size(1), dim=1)


GROUPED = Component(
    name="grouped_query_attention",
    chapter=25,
    order=4,
    section="Fewer heads of keys and values",
    signature="query, key, value, mask=None",
    pipeline=grouped_pipeline,
    steps={
        "share_keys": shared,
        "share_values": shared,
        "products": lambda query, key, value: query @ key.transpose(-2, -1),
        "scale": lambda scores, query, key: scores / math.sqrt(query.size(-1)),
        "hide": lambda scores, mask, value: scores.masked_fill(~mask, -math.inf),
        "weigh": lambda scores, mask: torch.softmax(scores, dim=-1),
    },
    cases=grouped_cases,
    returns="`(B, H, T, K)`: queries `(B, H, T, K)`, keys and values `(B, G, S, K)`, G divides H; "
    "the first H/G query heads share head 0 of keys and values, the next H/G head 1, …; `mask` is "
    "boolean, True = may attend, and hides from no query all keys",
    met="worse",
    boundaries={
        "fewer queries than keys, masked": lambda query, key, mask: (
            mask is not None and query.size(2) < key.size(2)
        ),
        "a mask of each sentence's queries and keys": lambda mask: (
            mask is not None and mask.dim() == 4 and len(mask) > 1 and mask.size(2) > 1
        ),
        "fewer queries than keys, one mask for all": lambda query, key, mask: (
            mask is not None and mask.dim() == 2 and query.size(2) < key.size(2)
        ),
        "more than ten heads": lambda query: query.size(1) > 10,
        "one head": lambda query: query.size(1) == 1,
        "one key": lambda key: key.size(2) == 1,
        **on("key", longer_than((10, 100, 256), lambda key: key.size(2))),
        "one query, masked": lambda query, mask: mask is not None and query.size(2) == 1,
        "a query of zeros": lambda query: bool((query == 0).all(-1).any()),
        "queries and keys of large numbers": lambda query, key: bool(
            query.abs().max() * key.abs().max() > 1000
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(GROUPED)


@mistake(
    "share_values",
    "values repeated in another order than the keys",
    symptom="With several groups of several heads, some heads average another group's values, "
    "though with the right weights.",
    cause="Repeat the values as the keys are, with `repeat_interleave` over dim=1.",
)
@mistake(
    "share_keys",
    "repeat for repeat_interleave",
    symptom="With several groups of several heads, query head 1 reads head 1 of keys and values, "
    "where it shares head 0.",
    cause="Let neighbouring query heads share a head, as `repeat_interleave` over dim=1 does: with "
    "two groups, four query heads read heads 0 0 1 1, not 0 1 0 1.",
    steps={"share_values": lambda x, n_heads: x.repeat(1, n_heads // x.size(1), 1, 1)},
)
def repeated(x: Tensor, n_heads: int) -> Tensor:
    return x.repeat(1, n_heads // x.size(1), 1, 1)


@mistake(
    "share_keys",
    "keys and values repeated along the sequence",
    met=("sizes", 16),
    symptom="It stops wherever there are several heads of keys and values, and fewer than those of "
    "the queries.",
    cause="Repeat keys and values over dim=1, the heads, not over dim=2, the positions.",
    steps={"share_values": lambda x, n_heads: repeated_positions(x, n_heads)},
    stops=True,
)
def repeated_positions(x: Tensor, n_heads: int) -> Tensor:
    return x.repeat_interleave(n_heads // x.size(1), dim=2)


@mistake(
    "share_keys",
    "keys and values not repeated",
    symptom="It stops wherever there are several heads of keys and values, and fewer than those "
    "of the queries.",
    cause="Each head of keys and values serves H / G heads of queries: repeat it, with "
    "`repeat_interleave` over dim=1.",
    steps={"share_values": lambda x, n_heads: x},
    stops=True,
)
def not_repeated(x: Tensor, n_heads: int) -> Tensor:
    return x


@mistake(
    "share_keys",
    "keys and values averaged over their heads",
    symptom="All query heads read the same keys and values.",
    cause="The heads of keys and values are averaged into one: each group keeps its own.",
    steps={"share_values": lambda x, n_heads: x.mean(dim=1, keepdim=True)},
)
def averaged(x: Tensor, n_heads: int) -> Tensor:
    return x.mean(dim=1, keepdim=True)


@mistake(
    "share_keys",
    "first head of keys and values for all",
    symptom="All query heads read head 0 of keys and values.",
    cause="Only the first of the G heads is used: that would be multi-query attention, with G = 1.",
    steps={"share_values": lambda x, n_heads: x[:, :1]},
)
def first_head(x: Tensor, n_heads: int) -> Tensor:
    return x[:, :1]


@mistake(
    "scale",
    "scaled by the root of the model's width",
    symptom="The scores are 1/√H of what they should be: the more heads, the evener the weights.",
    cause="The scores are divided by √(H · K): divide by √K, K being the width of one head.",
)
def model_scaled(scores: Tensor, query: Tensor, key: Tensor) -> Tensor:
    return scores / math.sqrt(query.size(1) * query.size(-1))


@mistake(
    "scale",
    "grouped scores not scaled",
    symptom="The scores are √K times too large: the wider the heads, the sharper the weights.",
    cause="Divide the scores by √K.",
)
def unscaled(scores: Tensor, query: Tensor, key: Tensor) -> Tensor:
    return scores


@mistake(
    "hide",
    "grouped mask inverted",
    met=("too-good", 9),
    symptom="Queries see what they must not, and not what they may.",
    cause="The mask is True where a query may attend: the score must stay there, and be minus "
    "infinity where it is False.",
)
def inverted(scores: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    return scores.masked_fill(mask, -math.inf)


def widened(x: Tensor, n_heads: int) -> Tensor:
    flat = x.transpose(1, 2).flatten(2).repeat_interleave(n_heads // x.size(1), dim=-1)
    return flat.unflatten(2, (n_heads, -1)).transpose(1, 2)


@mistake(
    "share_keys",
    "features repeated before they are cut into heads",
    met=("nonsense", 0),
    symptom="With several heads to a group, a head can hold some of its group's features several "
    "times, and others not at all.",
    cause="Repeat whole heads, not single features: `repeat_interleave` over dim=1 of (B, G, S, "
    "K).",
    steps={"share_values": widened},
    seen="One question about repeat KV, https://github.com/jxiw/M1/issues/4",
)
def features_repeated(x: Tensor, n_heads: int) -> Tensor:
    return widened(x, n_heads)


@mistake(
    "hide",
    "grouped mask ignored",
    met=("too-good", 10),
    symptom="Queries see what the mask hides.",
    cause="The softmax must get minus infinity where the mask is False: masked_fill gives new "
    "scores, and leaves the old ones.",
)
def unmasked(scores: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    return scores


def unfolded(x: Tensor, n_heads: int) -> Tensor:
    copies = x.repeat_interleave(n_heads // x.size(1), dim=2)  # (B, G, S · H/G, K)
    return copies.reshape(x.size(0), n_heads, x.size(2), x.size(3))


@mistake(
    "share_keys",
    "heads and positions taken for each other",
    met=("nonsense", 0),
    symptom="Query heads that share keys see some positions more than once, and others not at all.",
    cause="Copy each head, not each position: `repeat_interleave` over dim=1 of (B, G, S, K).",
    steps={"share_values": unfolded},
)
def positions_for_heads(x: Tensor, n_heads: int) -> Tensor:
    return unfolded(x, n_heads)
