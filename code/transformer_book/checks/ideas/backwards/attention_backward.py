"""Attention backward (chapter 29): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def attention_backward_pipeline(s, d_output, query, key, value, weights):
    weights = s.weights(weights, query, key)  # (B, T, S)
    d_weights = d_output @ value.mT  # (B, T, S)
    d_scores = s.scale(s.softmax(d_weights, weights), query, value)  # (B, T, S)
    d_query, d_key = d_scores @ key, d_scores.mT @ query  # (B, T, K), (B, S, K)
    return s.order(d_query, d_key, s.value(weights, d_output, d_scores))  # and (B, S, K_v)


def attention_backward_cases() -> Sequence[Case]:
    def case(
        name: str, *sizes: int, seed: int, hidden: Tensor | None = None, large: bool = False
    ) -> Case:
        b, t, s, k, k_value = sizes
        query, key = normal(b, t, k, seed=seed), normal(b, s, k, seed=seed + 1)
        value, d_output = normal(b, s, k_value, seed=seed + 2), normal(b, t, k_value, seed=seed + 3)
        if large and hidden is not None:  # all scores, by the same, and values that nobody sees
            query[..., 0] = key[..., 0] = 15.0
            value += 1000 * hidden.mT
        scores = query @ key.mT / k**0.5  # (B, T, S)
        if hidden is not None:
            scores = scores.masked_fill(hidden, -torch.inf)
        return Case(name, (d_output, query, key, value, scores.softmax(dim=-1)))

    first_or_last = torch.tensor([[[False, False, True]], [[True, False, False]]])  # (B, 1, S)
    return (
        case("two words, two keys", 1, 2, 2, 2, 2, seed=1),
        case("more keys than queries", 2, 3, 5, 4, 6, seed=5),
        case("causal", 2, 70, 70, 3, 5, seed=9, hidden=torch.ones(70, 70).triu(1).bool()),
        case("hidden keys", 1, 3, 6, 4, 2, seed=13, hidden=torch.arange(6) > 3),
        case("vectors of twenty", 1, 2, 3, 20, 2, seed=21),
        case("the last key is hidden", 2, 4, 3, 5, 3, seed=17, hidden=torch.arange(3) > 1),
        case("other keys hidden in each sentence", 2, 2, 3, 2, 4, seed=25, hidden=first_or_last),
        case("one query in each of two sentences", 2, 1, 3, 2, 3, seed=29),
        case("one key, vectors of one number", 2, 2, 1, 1, 1, seed=33),
        case(
            "large scores, hidden values", 2, 3, 3, 3, 2, seed=37, hidden=first_or_last, large=True
        ),
    )


ATTENTION_BACKWARD = Component(
    name="attention_backward",
    chapter=29,
    order=3,
    section="Attention, with a mask",
    signature="d_output, query, key, value, weights",
    pipeline=attention_backward_pipeline,
    steps={
        "weights": lambda weights, query, key: weights,
        "softmax": lambda d_weights, weights: (
            weights * (d_weights - (weights * d_weights).sum(dim=-1, keepdim=True))
        ),
        "scale": lambda d_scores, query, value: d_scores / query.size(-1) ** 0.5,
        "value": lambda weights, d_output, d_scores: weights.mT @ d_output,
        "order": lambda d_query, d_key, d_value: (d_query, d_key, d_value),
    },
    cases=attention_backward_cases,
    returns="the gradients of query `(B, T, K)`, key `(B, S, K)` and value `(B, S, K_v)`, for "
    "weights with 1/√K in their scores",
    differentiable=False,  # it is a gradient itself
    met="worse",
    boundaries={
        "other keys hidden in each sentence": lambda weights: bool(
            ((weights == 0) != (weights[:1] == 0)).any()
        ),
        "one query in each of several sentences": lambda query: (
            len(query) > 1 and query.size(1) == 1
        ),
        "one key": lambda key: key.size(1) == 1,
        "vectors of one number": lambda key: key.size(2) == 1,
        "large scores": lambda query, key: (query @ key.mT / query.size(-1) ** 0.5).max() > 88,
        "large values at hidden keys": lambda value, weights: bool(
            ((weights == 0).all(1)[..., None] & (value.abs() > 900)).any()
        ),
        "hidden keys, as many as queries": lambda weights: bool(
            weights.size(1) == weights.size(2) and (weights == 0).all(1).any()
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(ATTENTION_BACKWARD)


@mistake(
    "weights",
    "weights computed again without the mask",
    symptom="Hidden keys get gradients.",
    cause="The mask is in the weights of the forward pass: use those, or mask again.",
)
def without_mask(weights: Tensor, query: Tensor, key: Tensor) -> Tensor:
    return (query @ key.mT / query.size(-1) ** 0.5).softmax(dim=-1)


@mistake(
    "softmax",
    "softmax's dot product forgotten in attention",
    symptom="The gradients of a row of scores do not sum to zero.",
    cause="From the weights' gradients subtract, in each row, their dot product with the "
    "weights; multiply by the weights afterwards.",
)
def no_dot(d_weights: Tensor, weights: Tensor) -> Tensor:
    return weights * d_weights


@mistake(
    "softmax",
    "softmax skipped on the way back",
    symptom="The gradients of the weights are taken for those of the scores.",
    cause="Between scores and weights stands the softmax: go back through it.",
)
def skipped(d_weights: Tensor, weights: Tensor) -> Tensor:
    return d_weights


@mistake(
    "softmax",
    "dot product over the queries in attention",
    symptom="The dot products are taken over the queries, not over the keys.",
    cause="The softmax ran over the keys: sum over the last axis.",
)
def over_queries(d_weights: Tensor, weights: Tensor) -> Tensor:
    return weights * (d_weights - (weights * d_weights).sum(dim=-2, keepdim=True))


@mistake(
    "softmax",
    "only the diagonal of softmax's Jacobian",
    symptom="Each weight is treated alone, as behind a sigmoid.",
    cause="Compute weights * (d_weights - (weights * d_weights).sum(-1, keepdim=True)).",
)
def diagonal(d_weights: Tensor, weights: Tensor) -> Tensor:
    return weights * (1 - weights) * d_weights


@mistake(
    "scale",
    "scale forgotten on the way back",
    symptom="The gradients of queries and keys are too large, by the root of K.",
    cause="The scores hold the factor 1/√K: multiply the gradients of query and key by it, too.",
)
def not_scaled(d_scores: Tensor, query: Tensor, value: Tensor) -> Tensor:
    return d_scores


@mistake(
    "scale",
    "scale once too often",
    symptom="The gradients of queries and keys are too small, by the root of K.",
    cause="1/√K stands once in the scores, so once in the gradients of query and key.",
)
def scaled_twice(d_scores: Tensor, query: Tensor, value: Tensor) -> Tensor:
    return d_scores / query.size(-1)


@mistake(
    "scale",
    "multiplied by the root on the way back",
    symptom="The gradients of queries and keys are too large, by K.",
    cause="The scores hold the factor 1/√K, and so do the gradients of query and key: divide by "
    "√K.",
)
def multiplied(d_scores: Tensor, query: Tensor, value: Tensor) -> Tensor:
    return d_scores * query.size(-1) ** 0.5


@mistake(
    "scale",
    "scaled by the width of the values",
    symptom="It is right only if values are as wide as keys.",
    cause="The scores were divided by the root of the width of queries and keys.",
)
def width_of_values(d_scores: Tensor, query: Tensor, value: Tensor) -> Tensor:
    return d_scores / value.size(-1) ** 0.5


@mistake(
    "value",
    "values weighted by the gradients of the scores",
    symptom="The gradient of the values is made of the gradients of the scores.",
    cause="The output is weights @ value, so the gradient of the values is weights.mT @ d_output, "
    "with the weights that were handed in.",
)
def scores_for_weights(weights: Tensor, d_output: Tensor, d_scores: Tensor) -> Tensor:
    return d_scores.mT @ d_output


@mistake(
    "value",
    "values averaged over the queries",
    symptom="The gradient of the values is too small: divided by the number of queries.",
    cause="Add the shares of all queries: weights.mT @ d_output.",
)
def mean_of_queries(weights: Tensor, d_output: Tensor, d_scores: Tensor) -> Tensor:
    return weights.mT @ d_output / d_output.size(1)


@mistake(
    "order",
    "gradients of query and key exchanged",
    symptom="The first two gradients have changed places.",
    cause="Return them in the order query, key, value: d_scores @ key belongs to the query, and "
    "d_scores.mT @ query to the key.",
)
def exchanged(d_query: Tensor, d_key: Tensor, d_value: Tensor) -> Tensor | tuple:
    return (d_key, d_query, d_value)
