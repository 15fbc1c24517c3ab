"""Multi head attention (chapter 9): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.boundaries import MASKS, QUERIES_AND_KEYS
from transformer_book.checks.components import MISTAKES, AsClass, Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.attention.merge_heads import merged_over_positions
from transformer_book.checks.ideas.attention.scaled_dot_product_attention import (
    ATTENTION,
    FUSED_HEADS,
    attention_pipeline,
    partly_masked,
)
from transformer_book.checks.ideas.attention.split_heads import (
    split_interleaved,
    split_without_transpose,
)


def multi_head_pipeline(
    s, query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    w_key, w_value = s.key_weight(w_query, w_key), s.value_weight(w_key, w_value)  # (D, D)
    asking = s.asking(query, key)  # (B, T, D)
    key, value = s.sources(query, key, value)  # (B, S, D)
    w_asking = s.asking_weight(w_query, w_key)  # (D, D)
    q = s.split_query(s.project_query(asking, w_asking, n_heads), n_heads, key)  # (B, H, T, K)
    k = s.split_source(s.project_source(key, w_key, n_heads), n_heads)  # (B, H, S, K)
    v = s.split_source(s.project_source(value, w_value, n_heads), n_heads)  # (B, H, S, K)
    heads = attention_pipeline(s, q, k, v, s.mask(mask, q))  # (B, H, T, K)
    return s.output(s.merge(heads), w_output)  # (B, T, D)


def multi_head_cases() -> Sequence[Case]:
    def inputs(batch: int, queries: int, keys: int, d_model: int, seed: int) -> list[Tensor]:
        vectors = [
            normal(batch, n, d_model, seed=seed + i) for i, n in enumerate((queries, keys, keys))
        ]
        weights = [normal(d_model, d_model, seed=seed + 3 + i) / d_model**0.5 for i in range(4)]
        return [*vectors, *weights]

    causal = torch.ones(4, 4, dtype=torch.bool).tril()
    front = torch.arange(1030) < 1027
    padding = torch.stack([front, ~front])[:, None, None]
    some = torch.tensor([[True, True, False, True], [True, False, False, True]])[:, None, None]
    window = torch.ones(3, 5, dtype=torch.bool).tril().triu(-1)  # itself, and the one before
    return (
        Case("one sentence, two heads", (*inputs(1, 3, 3, 4, 10), 2)),
        Case("two sentences, two heads", (*inputs(2, 4, 4, 8, 20), 2)),
        Case("more keys than queries", (*inputs(2, 3, 1030, 8, 30), 4)),
        Case("more queries than keys", (*inputs(3, 5, 2, 6, 40), 3)),
        Case("a causal mask", (*inputs(2, 4, 4, 8, 50), 2), {"mask": causal}),
        Case("a padding mask (B, 1, 1, S)", (*inputs(2, 3, 1030, 8, 60), 4), {"mask": padding}),
        Case("one head", (*inputs(2, 4, 4, 8, 70), 1)),
        Case("as many heads as sentences", (*inputs(2, 4, 4, 8, 80), 2), {"mask": causal}),
        Case(
            "another mask of that shape",
            (*inputs(4, 4, 4, 8, 85), 2),
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
            "a causal mask (1, 1, T, T)",
            (*inputs(2, 70, 70, 8, 150), 2),
            {"mask": torch.ones(1, 1, 70, 70, dtype=torch.bool).tril()},
        ),
        Case(
            "a causal mask and large scores",
            (*(400 * x for x in inputs(2, 4, 4, 8, 140)[:3]), *inputs(2, 4, 4, 8, 140)[3:], 2),
            {"mask": causal},
            rough=True,
        ),
        Case("heads of one feature", (*inputs(2, 3, 1, 4, 160), 4)),
        Case("one query, and a mask", (*inputs(2, 1, 4, 4, 170), 2), {"mask": some}),
        Case("a window over the keys", (*inputs(2, 3, 5, 6, 180), 3), {"mask": window}),
    )


def settled_heads(case: Case, answer: Any) -> Any:
    """As in one head; and what becomes of a mask beside wrong scores of one query is open, too."""
    mask = case.arguments[8] if len(case.arguments) > 8 else case.keywords.get("mask")
    one_query = case.arguments[0].size(1) == 1
    return 0.0 if mask is not None and one_query else partly_masked(case, answer)


def some_keys(*shape: int, seed: int) -> Tensor:
    """A mask that hides about a third of the keys, and never the second one."""
    return (normal(*shape, seed=seed) < 0.4) | (torch.arange(shape[-1]) == 1)


PROJECTIONS = ("query", "key", "value", "output")


def multi_head_class_cases() -> Sequence[Case]:
    cases = []
    for case in multi_head_cases():
        query, key, value, *weights, n_heads = case.arguments[:8]
        names = (f"{name}.weight" for name in PROJECTIONS)
        mask = case.arguments[8] if len(case.arguments) > 8 else case.keywords.get("mask")
        given = dict(zip(names, weights, strict=True))
        inputs = (query, key, value) if mask is None else (query, key, value, mask)
        cases.append(
            replace(case, arguments=((query.size(-1), n_heads), given, inputs), keywords={})
        )
    return tuple(cases)


MULTI_HEAD = Component(
    name="multi_head_attention",
    chapter=9,
    order=3,
    section="The class in the package",
    signature="query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None",
    pipeline=multi_head_pipeline,
    steps={
        "project_query": lambda x, weight, n_heads: x @ weight.T,
        "project_source": lambda x, weight, n_heads: x @ weight.T,
        **ATTENTION.steps,
        "asking": lambda query, key: query,
        "sources": lambda query, key, value: (key, value),
        "asking_weight": lambda w_query, w_key: w_query,
        "key_weight": lambda w_query, w_key: w_key,
        "value_weight": lambda w_key, w_value: w_value,
        "split_query": lambda x, n_heads, key: x.unflatten(-1, (n_heads, -1)).transpose(1, 2),
        "split_source": lambda x, n_heads: x.unflatten(-1, (n_heads, -1)).transpose(1, 2),
        "mask": lambda mask, query: mask,
        "merge": lambda heads: heads.transpose(1, 2).flatten(-2),
        "output": lambda x, weight: x @ weight.T,
    },
    cases=multi_head_cases,
    # No query is without a key here, so nobody needs to clean the weights; beside a softmax over
    # a wrong axis it shows.
    alike={"clean": lambda weights, mask: weights},
    returns="`(B, T, D)`; a weight is used as `x @ weight.T`, as `nn.Linear` does; `mask` is "
    "boolean, True = may attend, for all heads alike, and hides from no query all keys",
    settled=settled_heads,
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
    met="worse",
    ready_made={
        **FUSED_HEADS,
        "MultiHeadAttention": "attention.MultiHeadAttention.forward",
    },
    boundaries={
        **MASKS,
        **QUERIES_AND_KEYS,
        "more queries than keys": lambda query, key: key.size(-2) < query.size(-2),
        "one head": lambda n_heads: n_heads == 1,
        "as many heads as sentences": lambda query, n_heads: len(query) == n_heads > 1,
        "more heads than sentences": lambda query, n_heads: len(query) < n_heads,
        "one mask with four axes for several sentences": lambda query, mask: (
            mask is not None and mask.dim() == 4 and len(mask) == 1 < len(query)
        ),
        "one query and a mask": lambda query, mask: mask is not None and query.size(1) == 1,
        "a mask (T, S), more keys than queries": lambda mask: (
            mask is not None and mask.dim() == 2 and mask.size(0) < mask.size(1)
        ),
        "heads of one feature": lambda query, n_heads: (
            query.size(-1) == n_heads and query.size(1) > 1
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(MULTI_HEAD)


@mistake(
    "output",
    "output projection forgotten",
    symptom="The last weight does not matter: the heads stand side by side, unmixed.",
    cause="Return the merged heads projected with the output's weight: heads @ weight.T.",
    section="Break it: three more",
)
def output_forgotten(x: Tensor, weight: Tensor) -> Tensor:
    return x


@mistake(
    "merge",
    "several heads merged without permuting back",
    met=("nonsense", 20),
    symptom="With several heads and positions, a row holds numbers of several positions.",
    cause="Merge the last two axes of (B, T, H, K): where the heads are (B, H, T, K), transpose "
    "axes 1 and 2 first.",
    section="Merging",
    seen="Fix several bugs, one critical, "
    "https://github.com/jsbaan/transformer-from-scratch/pull/6",
)
def several_merged_wrongly(heads: Tensor) -> Tensor:
    return heads.reshape(heads.size(0), heads.size(2), -1)


@mistake(
    "merge",
    "other axes exchanged before several heads are merged",
    symptom="Where it differs, a row holds numbers of several positions, feature by feature.",
    cause="Exchange the axes of heads and positions, 1 and 2, before merging.",
    section="Merging",
)
def several_merged_over_positions(heads: Tensor) -> Tensor:
    return merged_over_positions(heads)


@mistake(
    "key_weight",
    "keys projected with the query's weight",
    symptom="The weight of the keys does not matter.",
    cause="The keys are projected with the queries' weight: use their own.",
)
def query_weight_for_keys(w_query: Tensor, w_key: Tensor) -> Tensor:
    return w_query


@mistake(
    "split_source",
    "keys and values split with view, not transposed",
    symptom="With several heads and positions, head 0 of the keys, and of the values, holds "
    "numbers of the first positions alone; the queries are split as they should be.",
    cause="reshape keys and values to (B, S, H, K) first, then transpose axes 1 and 2.",
    section="Splitting",
)
@mistake(
    "split_source",
    "several heads split with view, not transposed",
    met=("nonsense", 21),
    symptom="With several heads and positions, head 0 holds numbers of the first positions alone.",
    cause="reshape to (B, T, H, K) first, then transpose axes 1 and 2.",
    section="Splitting",
    steps={"split_query": lambda x, n_heads, key: split_without_transpose(x, n_heads)},
    seen="MultiHeadAttention bug when num_heads is greater than 1, "
    "https://github.com/reczoo/FuxiCTR/issues/30",
)
def several_split_wrongly(x: Tensor, n_heads: int) -> Tensor:
    return split_without_transpose(x, n_heads)


@mistake(
    "split_source",
    "heads interleaved when split",
    met=("harmless", 16),
    symptom="Head h holds every H-th feature in place of its own stretch.",
    cause="Head h has the features h·K to (h + 1)·K − 1: unfold them as (H, K), not as (K, H).",
    section="Splitting",
    steps={"split_query": lambda x, n_heads, key: split_interleaved(x, n_heads)},
)
def several_interleaved(x: Tensor, n_heads: int) -> Tensor:
    return split_interleaved(x, n_heads)


@mistake(
    "value_weight",
    "values projected with the key's weight",
    symptom="The weight of the values does not matter.",
    cause="The values are projected with the keys' weight: use their own.",
)
def key_weight_for_values(w_key: Tensor, w_value: Tensor) -> Tensor:
    return w_key


@mistake(
    "project_query",
    "queries not projected",
    symptom="The weight of the queries does not matter.",
    cause="Compare the keys with the projected queries, query @ weight.T, not with `query` itself.",
)
def query_not_projected(x: Tensor, weight: Tensor, n_heads: int) -> Tensor:
    return x


@mistake(
    "project_source",
    "weights not transposed",
    met=("harmless", 17),
    symptom="Each projection uses its weight the other way round.",
    cause="This is x @ weight; the book computes x @ weight.T, as nn.Linear does, which stores "
    "one row per output.",
    section="Three projections, or one",
    kind="convention",
    steps={"project_query": lambda x, weight, n_heads: x @ weight, "output": torch.matmul},
)
def not_transposed(x: Tensor, weight: Tensor, n_heads: int) -> Tensor:
    return x @ weight


@mistake(
    "scale",
    "scores scaled by d_model",
    symptom="The scores are 1/√H of what they should be: the more heads, the evener the weights.",
    cause="Divide the scores by the root of d_head, the width of one head, not of d_model.",
    seen="WS04: Attention uses the wrong scaling dimension, "
    "https://github.com/Graylab/DL4Proteins-notebooks/issues/12",
)
def scaled_by_d_model(query: Tensor, value: Tensor) -> float:
    return 1 / math.sqrt(query.size(-1) * query.size(1))


@mistake(
    "mask",
    "mask not passed on",
    met=("too-good", 12),
    symptom="The mask changes nothing.",
    cause="Set the scores of the heads to the lowest number where the mask is False, before the "
    "softmax. (masked_fill returns a new tensor: assign it.)",
)
def mask_lost(mask: Tensor | None, query: Tensor) -> None:
    return None


@mistake(
    "mask",
    "mask inverted on the way",
    met=("too-good", 13),
    symptom="What should be hidden is seen, and what should be seen is hidden.",
    cause="True means 'may attend'. (nn.MultiheadAttention means the opposite.)",
    section="PyTorch's modules mean the opposite",
    chapter=8,
)
def mask_inverted(mask: Tensor | None, query: Tensor) -> Tensor | None:
    return None if mask is None else ~mask


@mistake(
    "split_source",
    "one head only",
    met=("worse", 10),
    symptom="The number of heads does not matter.",
    cause="Split queries, keys and values into H heads, and give each head its own scores.",
    section="Splitting",
    steps={"split_query": lambda x, n_heads, key: x[:, None]},
)
def never_split(x: Tensor, n_heads: int) -> Tensor:
    return x[:, None]


@mistake(
    "roles",
    "projected keys and values exchanged",
    symptom="The queries are compared with the values, and the keys are averaged.",
    cause="Compare the queries with the projected keys, and average the projected values. "
    "(Trained from the start, with one tensor for `key` and `value`, the two weights would only "
    "exchange their names.)",
    seen="Returned q,k,v but assigned q,v,k? Is there any difference?, "
    "https://github.com/jsbaan/transformer-from-scratch/issues/1",
)
def projections_exchanged(key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return value, key


def _of_the_first_head(weight: Tensor, n_heads: int) -> Tensor:
    return weight[: weight.size(0) // n_heads].repeat(n_heads, 1)


@mistake(
    "project_source",
    "one projection shared by all heads",
    symptom="All heads are equal: each is the first head again.",
    cause="Head h has the rows h·K to (h + 1)·K − 1 of the weights of queries, keys and values, "
    "or the same features of what is projected; the first K are those of head 0 alone.",
    section="Splitting",
    steps={
        "project_query": lambda x, weight, n_heads: x @ _of_the_first_head(weight, n_heads).T,
    },
)
def first_head_repeated(x: Tensor, weight: Tensor, n_heads: int) -> Tensor:
    return x @ _of_the_first_head(weight, n_heads).T


@mistake(
    "mask",
    "mask without its axis of heads",
    symptom="Where each of several sentences has a mask, head h gets that of sentence h, or, with "
    "more or fewer heads than sentences, it stops.",
    cause="Keep the axis of heads: beside scores (B, H, T, S) a mask is (B, 1, T, S), as the "
    "first axis of (B, T, S) would meet the heads.",
    section="How a mask spreads",
    chapter=8,
)
def heads_axis_lost(mask: Tensor | None, query: Tensor) -> Tensor | None:
    return mask[:, 0] if mask is not None and mask.dim() == 4 else mask


@mistake(
    "split_query",
    "lengths of queries and keys taken for the same",
    symptom="It works where there are as many keys as queries, and stops elsewhere.",
    cause="There may be more or fewer keys than queries: take the length of each tensor from that "
    "tensor, as in query.view(B, T, H, K) and key.view(B, S, H, K).",
    section="All heads at once",
    stops=True,
)
def reshaped_with_source_length(x: Tensor, n_heads: int, key: Tensor) -> Tensor:
    width = x.size(-1) // n_heads
    return x.reshape(x.size(0), key.size(1), n_heads, width).transpose(1, 2)


@mistake(
    "sources",
    "values made from the key",
    symptom="The argument `value` does not matter.",
    cause="The values are made from `key`: project them from `value`.",
)
def values_from_key(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return key, key


@mistake(
    "sources",
    "keys made from the value",
    symptom="The argument `key` does not matter.",
    cause="The keys are made from `value`: project them from `key`.",
)
def keys_from_value(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return value, value


@mistake(
    "sources",
    "keys and values made from the query",
    symptom="The arguments `key` and `value` do not matter: this is self-attention.",
    cause="Project the keys from `key` and the values from `value`: in cross-attention they are "
    "the memory.",
)
def all_from_query(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return query, query


@mistake(
    "sources",
    "arguments key and value exchanged",
    symptom="Keys are made from `value`, and values from `key`.",
    cause="Project the keys from `key`, and the values from `value`: the order is query, key, "
    "value.",
)
@mistake(
    "sources",
    "weights of keys and values exchanged",
    symptom="Keys are projected with the values' weight, and values with the keys'.",
    cause="Project `key` with the keys' weight, and `value` with the values' weight.",
    steps={"roles": projections_exchanged},
)
def arguments_exchanged(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return value, key


@mistake(
    "output",
    "output weight not transposed",
    symptom="The output projection uses its weight the other way round.",
    cause="Compute heads @ weight.T, as nn.Linear does, not heads @ weight.",
    section="Three projections, or one",
)
def output_not_transposed(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight


@mistake(
    "split_source",
    "one head, scaled as if there were several",
    symptom="There is one head as wide as the model, though the scores are divided by the root of "
    "D / H.",
    cause="Split queries, keys and values into H heads, and give each head its own scores.",
    section="Splitting",
    steps={
        "split_query": lambda x, n_heads, key: (x * n_heads**0.5)[:, None],
    },
)
def one_wide_head(x: Tensor, n_heads: int) -> Tensor:
    return x[:, None]


@mistake(
    "mask",
    "mask of the first sentence for all",
    symptom="Every sentence has the mask of the first one.",
    cause="Give each sentence its own mask, not mask[0] to all.",
)
def first_mask_for_all(mask: Tensor | None, query: Tensor) -> Tensor | None:
    return mask[:1] if mask is not None and mask.dim() == 4 else mask


@mistake(
    "mask",
    "heads stacked head by head, masks sentence by sentence",
    met=("batch", 24),
    symptom="With several sentences and heads, some heads get the mask of another sentence.",
    cause="Keep heads and sentences as two axes, or, where they are one axis of H · B, all "
    "sentences of head 0 first, repeat the masks with `repeat`, not with `repeat_interleave`.",
    section="How a mask spreads",
    chapter=8,
)
def masks_by_sentence(mask: Tensor | None, query: Tensor) -> Tensor | None:
    if mask is None or mask.dim() < 4:
        return mask
    n_heads = query.size(1)
    rows = mask[:, 0].repeat_interleave(n_heads, dim=0)  # (B · H, T, S)
    return rows.unflatten(0, (n_heads, -1)).transpose(0, 1)  # (B, H, T, S)


@mistake(
    "mask",
    "heads stacked sentence by sentence, masks head by head",
    met=("batch", 25),
    symptom="With several sentences and heads, one sentence's heads get the masks of several.",
    cause="Keep heads and sentences as two axes, or, where they are one axis of B · H, all heads "
    "of sentence 0 first, repeat the masks with `repeat_interleave`, not with `repeat`.",
    section="How a mask spreads",
    chapter=8,
)
def masks_by_head(mask: Tensor | None, query: Tensor) -> Tensor | None:
    if mask is None or mask.dim() < 4:
        return mask
    n_heads = query.size(1)
    return mask[:, 0].repeat(n_heads, 1, 1).unflatten(0, (-1, n_heads))  # (B, H, T, S)


@mistake(
    "scale",
    "scores scaled by the number of heads",
    symptom="The sharpness of the weights changes with the number of heads.",
    cause="The scores are divided by the root of the number of heads: divide them by the root of "
    "d_head, the width of one head.",
)
def scaled_by_heads(query: Tensor, value: Tensor) -> float:
    return 1 / math.sqrt(query.size(1))


@mistake(
    "asking_weight",
    "queries projected with the key's weight",
    symptom="The weight of the queries does not matter.",
    cause="The queries are projected with the keys' weight: use their own.",
)
def key_weight_for_queries(w_query: Tensor, w_key: Tensor) -> Tensor:
    return w_key


@mistake(
    "asking",
    "queries, keys and values all made from the projected keys",
    symptom="The arguments `query` and `value` do not matter, nor do their weights; with more or "
    "fewer queries than keys it stops.",
    cause="Queries, keys and values are all the keys, projected by the keys' weight: project "
    "`query`, `key` and `value`, each by its own weight.",
    steps={
        "asking_weight": lambda w_query, w_key: w_key,
        "sources": lambda query, key, value: (key, key),
        "value_weight": lambda w_key, w_value: w_key,
    },
)
def all_from_the_projected_keys(query: Tensor, key: Tensor) -> Tensor:
    return key.reshape(query.shape)


IN_SEVERAL_HEADS = (
    "scores not scaled",
    "scores divided by d_k without the root",
    "scores multiplied by the root of d_k",
    "scores divided by the root of the number of queries",
    "weights scaled after the softmax",
    "softmax over the queries",
    "softmax over the first axis",
    "attention with a softmax without dim",
    "no softmax",
    "mask applied after the softmax",
    "boolean mask added to the scores",
    "hidden scores set to zero",
    "keys averaged in place of values",
    "scores of queries with queries",
    "scores of queries with values",
    "scores of keys with keys",
    "cosine in place of the dot product",
)
# There are four axes here, and `query` is wider than a head.
OTHERWISE_SAID = {
    "attention with a softmax without dim": {
        "symptom": "The weights are shared out over the heads, not over the keys.",
        "cause": "Take the softmax over the keys, dim=-1 of scores (B, H, T, S). (Without dim, as "
        "with dim=1, F.softmax takes the heads there.)",
    },
    "scores of queries with queries": {  # it stops with one query and several keys, too
        "steps": {
            "scores": lambda query, key: (query @ query.mT).reshape(*query.shape[:-1], key.size(-2))
        },
    },
    "scores divided by the root of the number of queries": {
        "cause": "The scores are divided by the root of the number of queries: divide them by the "
        "root of d_head, the width of one head.",
    },
}
MISTAKES[MULTI_HEAD.name].extend(
    replace(
        known,
        name=f"in several heads: {known.name}",
        component=MULTI_HEAD.name,
        chapter=known.chapter or ATTENTION.chapter,
        seen="",  # said of the mistake in one head
        met="",
        rank=0,
        **OTHERWISE_SAID.get(known.name, {}),
    )
    for known in MISTAKES[ATTENTION.name]
    if known.name in IN_SEVERAL_HEADS
)


@mistake(
    "scores",
    "a bias on the keys",
    symptom="Nothing changes, whatever the bias is: it can learn nothing.",
    cause="It adds the same number to all scores of a query, and a softmax does not notice.",
    section="Three projections, or one",
    kind="harmless",
)
def keys_moved(query: Tensor, key: Tensor) -> Tensor:
    bias = torch.linspace(-1, 1, key.size(-1))
    return query @ (key + bias).transpose(-2, -1)
