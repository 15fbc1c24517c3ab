"""Components of chapters 6 to 9: softmax, attention, masks, heads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.components import AsClass, Case, Component


def normal(*shape: int, seed: int) -> Tensor:
    """Random numbers that are the same in every process."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def addresses(*shape: int) -> Tensor:
    """Entries that say where they stand: [1, 2, 3] holds 123 (sizes up to ten)."""
    result = torch.zeros(shape)
    for axis, size in enumerate(shape):
        places = torch.arange(size, dtype=torch.float32) * 10 ** (len(shape) - 1 - axis)
        result = result + places.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return result


def sentences(*lengths: int, seed: int = 0) -> Tensor:
    """A batch of token ids, padded with zeros behind."""
    generator = torch.Generator().manual_seed(seed)
    batch = torch.zeros(len(lengths), max(lengths), dtype=torch.long)
    for row, length in enumerate(lengths):
        batch[row, :length] = torch.randint(4, 20, (length,), generator=generator)
    return batch


# --- softmax -------------------------------------------------------------------------------------


def shifted(scores: Tensor) -> Tensor:
    return scores - scores.amax(dim=-1, keepdim=True)


def softmax_cases() -> Sequence[Case]:
    return (
        Case("three scores", (torch.tensor([1.0, 1.0, 2.0]),)),
        Case("two rows of three", (torch.tensor([[0.0, 1.0, 2.0], [5.0, 5.0, 5.0]]),)),
        Case("negative scores", (torch.tensor([-3.0, -1.0, -2.0]),)),
        Case("random scores", (normal(2, 3, 4, seed=1),)),
        Case("a square of random scores", (normal(4, 4, seed=2),)),
        Case("two sentences of random scores", (normal(2, 4, 5, seed=3),)),
        Case("five sentences of random scores", (2 * normal(5, 2, 3, seed=4),)),
        Case(
            "scores near 1000",
            (torch.tensor([[1000.0, 1001.0], [1000.0, 1000.0]]),),
            rough=True,
        ),
        Case("scores near -1000", (torch.tensor([-1000.0, -1001.0]),), rough=True),
        Case("large scores of several sizes", (torch.tensor([[500.0, 100.0], [-500.0, 0.0]]),)),
        Case("a row far below another", (torch.tensor([[300.0, 301.0], [-300.0, -301.0]]),)),
        Case("another one", (torch.tensor([[0.0, 1.0, 2.0], [-400.0, -401.0, -399.0]]),)),
        Case("two sentences, two heads", (normal(2, 2, 3, 5, seed=5),)),
        Case("one score", (torch.tensor([[3.0]]),)),
    )


SOFTMAX = Component(
    name="softmax",
    chapter=7,
    section="A softmax that survives large scores",
    signature="scores",
    pipeline=lambda s, scores: s.normalise(s.exponentials(s.shift(scores)), scores),
    steps={
        "shift": shifted,
        "exponentials": torch.exp,
        "normalise": lambda e, scores: e / e.sum(dim=-1, keepdim=True),
    },
    cases=softmax_cases,
    returns="the softmax over the last axis, of the shape of `scores`",
)


# --- attention -----------------------------------------------------------------------------------


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
        Case("one mask for all", tuple(batch), {"mask": uneven}),
        Case("a causal mask", tuple(square), {"mask": causal}),
        Case("values wider than keys", (batch[0], batch[1], normal(2, 3, 6, 7, seed=5))),
        Case("values narrower than keys", (batch[0], batch[1], normal(2, 3, 6, 2, seed=9))),
        Case("one number in each value", (*square[:2], normal(2, 2, 4, 1, seed=19))),
        Case("one query, one key", tuple(normal(1, 1, 1, 4, seed=30 + i) for i in range(3))),
        Case(
            "long vectors",
            (normal(3, 64, seed=6), normal(4, 64, seed=7), normal(4, 64, seed=8)),
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
        Case("a query that may attend to nothing", tuple(square), {"mask": empty}),
        Case(
            "two queries that may attend to nothing",
            tuple(square),
            {"mask": torch.tensor([[True] * 4, [False] * 4, [True] * 4, [False] * 4])},
        ),
        Case(
            "a sentence of nothing but padding",
            tuple(batch),
            {"mask": torch.tensor([[True] * 6, [False] * 6])[:, None, None]},
        ),
    )


ATTENTION = Component(
    name="scaled_dot_product_attention",
    chapter=7,
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
)


# --- masks ---------------------------------------------------------------------------------------


def token_cases() -> Sequence[Case]:
    every = [1, 5, 2, 3]  # every kind of token that is not padding, at every place
    return (
        Case("two sentences, one of them padded", (torch.tensor([[5, 7, 2], [9, 2, 0]]),)),
        Case("three sentences", (sentences(4, 1, 3, seed=1),)),
        Case("no padding at all", (sentences(3, 3, seed=2),)),
        Case("one sentence", (sentences(5, seed=3),)),
        Case("as many sentences as tokens", (sentences(4, 2, 3, 1, seed=4),)),
        Case("a row of padding", (torch.tensor([[4, 2, 0, 0], [0, 0, 0, 0]]),)),
        Case("the target of a decoder", (torch.tensor([[1, 6, 3, 2], [1, 2, 0, 0]]),)),
        Case("one sentence with padding", (torch.tensor([[1, 7, 2, 0, 0]]),)),
        Case("padding in front", (torch.tensor([[0, 0, 5, 2], [0, 7, 3, 2]]),)),
        Case(
            "special tokens at every place",
            (torch.tensor([every[i:] + every[:i] for i in range(4)]),),
        ),
        Case("one token", (torch.tensor([[1]]),)),
        Case("three sentences of one token", (torch.tensor([[3], [2], [9]]),)),
        Case("a text longer than any buffer", (sentences(1030, seed=5),)),
    )


PADDING_MASK = Component(
    name="padding_mask",
    chapter=8,
    section="The three masks of one batch",
    signature="tokens",
    pipeline=lambda s, tokens: s.shape(s.real(tokens)),
    steps={
        "real": lambda tokens: tokens != 0,
        "shape": lambda real: real[:, None, None, :],
    },
    cases=token_cases,
    returns="a boolean mask `(B, 1, 1, S)`, `True` = may attend; padding is token 0",
    differentiable=False,
)


def length_cases() -> Sequence[Case]:
    # A buffer made once has 10 rows, or 64, or 1024.
    return tuple(Case(f"length {length}", (length,)) for length in (3, 1, 2, 4, 6, 17, 70, 1030))


CAUSAL_MASK = Component(
    name="causal_mask",
    chapter=8,
    section="The three masks of one batch",
    signature="length",
    pipeline=lambda s, length: s.kind(s.triangle(torch.ones(length, length))),
    steps={"triangle": torch.tril, "kind": lambda triangle: triangle.bool()},
    cases=length_cases,
    returns="a boolean mask `(T, T)`, `True` = may attend: to itself and to what came before",
    differentiable=False,
)


def spread_out(case: Case, mask: Any) -> Any:
    """A smaller mask that is broadcast says the same as the whole one."""
    batch, length = case.arguments[0].shape
    try:
        return mask.expand(batch, 1, length, length)
    except (RuntimeError, AttributeError):
        return mask


TARGET_MASK = Component(
    name="target_mask",
    chapter=8,
    section="The functions in the package",
    signature="tokens",
    pipeline=lambda s, tokens: s.both(s.padding(tokens), s.causal(tokens)),
    steps={
        "padding": lambda tokens: (tokens != 0)[:, None, None, :],
        "causal": lambda tokens: torch.ones(tokens.size(1), tokens.size(1)).tril().bool(),
        "both": lambda padding, causal: padding & causal,
    },
    cases=token_cases,
    returns="a boolean mask `(B, 1, T, T)`, `True` = may attend: to itself and to what came "
    "before, unless that is padding (token 0), which may stand anywhere",
    settled=spread_out,
    differentiable=False,
)


# --- heads ---------------------------------------------------------------------------------------


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
        Case("random numbers", (normal(2, 5, 12, seed=1), 3)),
    )


SPLIT_HEADS = Component(
    name="split_heads",
    chapter=9,
    section="Splitting",
    signature="x, n_heads",
    pipeline=lambda s, x, n_heads: s.split(x, n_heads),
    steps={
        "split": lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).transpose(1, 2),
    },
    cases=split_cases,
    returns="`(B, H, T, K)` from `(B, T, D)`",
)


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
    )


MERGE_HEADS = Component(
    name="merge_heads",
    chapter=9,
    section="Merging",
    signature="heads",
    pipeline=lambda s, heads: s.merge(heads),
    steps={"merge": lambda heads: heads.transpose(1, 2).flatten(-2)},
    cases=merge_cases,
    returns="`(B, T, D)` from `(B, H, T, K)`",
)


def multi_head_pipeline(
    s, query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    w_key, w_value = s.key_weight(w_query, w_key), s.value_weight(w_key, w_value)  # (D, D)
    key, value = s.sources(query, key, value)  # (B, S, D)
    q = s.split_query(s.project_query(query, w_query, n_heads), n_heads, key)  # (B, H, T, K)
    k = s.split(s.project(key, w_key, n_heads), n_heads)  # (B, H, S, K)
    v = s.split(s.project(value, w_value, n_heads), n_heads)  # (B, H, S, K)
    heads = attention_pipeline(s, q, k, v, s.mask(mask))  # (B, H, T, K)
    return s.output(s.merge(heads), w_output)  # (B, T, D)


def multi_head_cases() -> Sequence[Case]:
    def inputs(batch: int, queries: int, keys: int, d_model: int, seed: int) -> list[Tensor]:
        vectors = [
            normal(batch, n, d_model, seed=seed + i) for i, n in enumerate((queries, keys, keys))
        ]
        weights = [normal(d_model, d_model, seed=seed + 3 + i) / d_model**0.5 for i in range(4)]
        return [*vectors, *weights]

    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    padding = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])[:, None, None]
    return (
        Case("one sentence, two heads", (*inputs(1, 3, 3, 4, 10), 2)),
        Case("two sentences, two heads", (*inputs(2, 4, 4, 8, 20), 2)),
        Case("more keys than queries", (*inputs(2, 3, 5, 8, 30), 4)),
        Case("more queries than keys", (*inputs(3, 5, 2, 6, 40), 3)),
        Case("a causal mask", (*inputs(2, 4, 4, 8, 50), 2), {"mask": causal}),
        Case("a padding mask (B, 1, 1, S)", (*inputs(2, 3, 5, 8, 60), 4), {"mask": padding}),
        Case("one head", (*inputs(2, 4, 4, 8, 70), 1)),
        Case("as many heads as sentences", (*inputs(2, 4, 4, 8, 80), 2), {"mask": causal}),
        Case(
            "another mask of that shape",
            (*inputs(2, 4, 4, 8, 85), 2),
            {"mask": some_keys(4, 4, seed=89)},
        ),
        Case(
            "as many heads as sentences, and a mask for each",
            (*inputs(2, 4, 4, 8, 90), 2),
            {"mask": some_keys(2, 1, 4, 4, seed=94)},
        ),
        Case(
            "the same with three, and more keys than queries",
            (*inputs(3, 2, 5, 6, 100), 3),
            {"mask": some_keys(3, 1, 2, 5, seed=104)},
        ),
        Case(
            "three sentences, three heads, a padding mask",
            (*inputs(3, 4, 4, 6, 110), 3),
            {"mask": some_keys(3, 1, 1, 4, seed=114)},
        ),
        Case(
            "two sentences, three heads, a mask for each sentence",
            (*inputs(2, 3, 4, 6, 120), 3),
            {"mask": some_keys(2, 1, 3, 4, seed=124)},
        ),
        Case("one token, four heads", (*inputs(1, 1, 1, 8, 130), 4)),
        Case(
            "a causal mask and large scores",
            (*(40 * x for x in inputs(2, 4, 4, 8, 140)[:3]), *inputs(2, 4, 4, 8, 140)[3:], 2),
            {"mask": causal},
            rough=True,
        ),
    )


def some_keys(*shape: int, seed: int) -> Tensor:
    """A mask that hides about a third of the keys, and never the second one."""
    return (normal(*shape, seed=seed) < 0.4) | (torch.arange(shape[-1]) == 1)


PROJECTIONS = ("query", "key", "value", "output")


def multi_head_class_cases() -> Sequence[Case]:
    cases = []
    for case in multi_head_cases():
        query, key, value, *weights, n_heads = case.arguments
        names = (f"{name}.weight" for name in PROJECTIONS)
        mask = case.keywords.get("mask")
        given = dict(zip(names, weights, strict=True))
        inputs = (query, key, value) if mask is None else (query, key, value, mask)
        cases.append(
            replace(case, arguments=((query.size(-1), n_heads), given, inputs), keywords={})
        )
    return tuple(cases)


MULTI_HEAD = Component(
    name="multi_head_attention",
    chapter=9,
    section="The class in the package",
    signature="query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None",
    pipeline=multi_head_pipeline,
    steps={
        "project_query": lambda x, weight, n_heads: x @ weight.T,
        "project": lambda x, weight, n_heads: x @ weight.T,
        **ATTENTION.steps,
        "sources": lambda query, key, value: (key, value),
        "key_weight": lambda w_query, w_key: w_key,
        "value_weight": lambda w_key, w_value: w_value,
        "split_query": lambda x, n_heads, key: x.unflatten(-1, (n_heads, -1)).transpose(1, 2),
        "split": lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).transpose(1, 2),
        "mask": lambda mask: mask,
        "merge": lambda heads: heads.transpose(1, 2).flatten(-2),
        "output": lambda x, weight: x @ weight.T,
    },
    cases=multi_head_cases,
    # No query is without a key here, so nobody needs to clean the weights; beside a softmax over
    # a wrong axis it shows.
    alike={"clean": lambda weights, mask: weights},
    returns="`(B, T, D)`; a weight is used as `x @ weight.T`, as `nn.Linear` does; `mask` is "
    "boolean, True = may attend, for all heads alike, and hides from no query all keys",
    settled=partly_masked,
    as_class=AsClass(
        constructor="d_model, n_heads",
        forward="query, key, value, mask=None",
        weights="`query.weight`, `key.weight`, `value.weight`, `output.weight`, each (D, D). "
        "Keys and values exchanged both in the code and in the names give the same numbers, and "
        "are not seen",
        cases=multi_head_class_cases,
        arguments=lambda sizes, weights, inputs: (
            *inputs[:3],
            *weights.values(),
            sizes[1],
            *inputs[3:],
        ),
    ),
)

COMPONENTS = (
    SOFTMAX,
    ATTENTION,
    PADDING_MASK,
    CAUSAL_MASK,
    TARGET_MASK,
    SPLIT_HEADS,
    MERGE_HEADS,
    MULTI_HEAD,
)
