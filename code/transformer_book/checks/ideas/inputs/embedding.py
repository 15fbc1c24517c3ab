"""Embedding (chapter 4): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import SPECIAL
from transformer_book.checks.components import AsClass, Case, Component, mistakes_in
from transformer_book.checks.given import normal, sentences


def embedding_cases() -> Sequence[Case]:
    by_hand = torch.tensor([[0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    return (
        Case("by hand: d_model = 4", (torch.tensor([[1, 2]]), by_hand)),
        Case("a token twice", (torch.tensor([[2, 1, 2]]), by_hand)),
        Case("random, d_model = 6", (sentences(3, 2, seed=1), normal(20, 6, seed=2))),
        Case("random, d_model = 16", (sentences(5, 1, 4, seed=3), normal(20, 16, seed=4))),
        Case("random, d_model = 9", (sentences(2, 2, seed=5), normal(20, 9, seed=6))),
        Case("special tokens and padding", (torch.tensor([[1, 3, 2, 0]]), normal(5, 7, seed=7))),
        Case("300 words", (torch.tensor([[298, 258], [4, 257]]), normal(300, 6, seed=9))),
        Case("one token, d_model = 128", (torch.tensor([[3]]), normal(4, 128, seed=8))),
        Case(
            "large ids, d_model = 1", (torch.tensor([[69999], [2049]]), normal(70000, 1, seed=10))
        ),
        Case(
            "as many words as features, large numbers",
            (torch.tensor([[3, 0], [1, 1], [4, 2]]), 9 * normal(5, 5, seed=11)),
        ),
        Case("a text longer than any buffer", (sentences(1030, seed=12), normal(20, 3, seed=13))),
    )


EMBEDDING = Component(
    name="embedding",
    chapter=4,
    order=1,
    section="How loud is a word?",
    signature="tokens, weight",
    pipeline=lambda s, tokens, weight: s.scale(s.look_up(tokens, weight), weight),
    steps={
        "look_up": lambda tokens, weight: weight[tokens],
        "scale": lambda x, weight: x * math.sqrt(weight.size(1)),
    },
    cases=embedding_cases,
    returns="`(B, T, D)`: the rows of `weight` `(V, D)`, times the root of D",
    as_class=AsClass(
        constructor="vocab_size, d_model",
        forward="tokens",
        weights="`weight` (V, D)",
        cases=lambda: tuple(
            Case(case.name, (tuple(weight.shape), {"weight": weight}, (tokens,)))
            for case in embedding_cases()
            for tokens, weight in [case.arguments]
        ),
        arguments=lambda sizes, weights, inputs: (*inputs, *weights.values()),
    ),
    done_by="TokenEmbedding",
    met="worse",
    ready_made={"TokenEmbedding": "embeddings.TokenEmbedding.forward"},
    boundaries={
        "one token": lambda tokens: tokens.numel() == 1,
        "one sentence": lambda tokens: len(tokens) == 1,
        "several sentences": lambda tokens: len(tokens) > 1,
        **{
            f"the token {name}": lambda tokens, t=t: (tokens == t).any()
            for name, t in SPECIAL.items()
        },
        "d_model is no square": lambda weight: int(weight.size(1) ** 0.5) ** 2 != weight.size(1),
        "an id beyond one byte": lambda tokens: tokens.max() > 255,
        "an id beyond two bytes": lambda tokens: tokens.max() > 65535,
        "several sentences of one token": lambda tokens: tokens.size(0) > 1 == tokens.size(1),
        "longer than 1024": lambda tokens: tokens.size(1) > 1024,
        "one feature": lambda weight: weight.size(1) == 1,
        "a square matrix": lambda weight: weight.size(0) == weight.size(1),
        "rows longer than 10": lambda weight: weight.norm(dim=1).max() > 10,
        "d_model beyond 64": lambda weight: weight.size(1) > 64,
        "as many features as words": lambda weight: weight.size(0) <= weight.size(1),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(EMBEDDING)


@mistake(
    "scale",
    "embedding not scaled",
    met=("frequencies", 4),
    symptom="The vectors are too short for the positions that are added to them, by a factor of "
    "the root of d_model.",
    cause="Return the vectors times the root of d_model, d_model ** 0.5.",
    seen="Embedding scaling is tied to positional encoding for Transformer models, "
    "https://github.com/OpenNMT/OpenNMT-py/issues/1722",
)
def unscaled(x: Tensor, weight: Tensor) -> Tensor:
    return x


@mistake(
    "scale",
    "embedding scaled twice",
    met=("worse", 9),
    symptom="The vectors are too long by a factor of the root of d_model.",
    cause="The factor is the root of d_model, once.",
)
def scaled_twice(x: Tensor, weight: Tensor) -> Tensor:
    return x * weight.size(1)


@mistake(
    "scale",
    "embedding divided by the root",
    met=("frequencies", 12),
    symptom="The vectors are too short by a factor of d_model.",
    cause="Multiply by the root of d_model; attention scores are what is divided.",
    seen="Transformer tutorial multiplying with sqrt(d_model) (asks to divide), "
    "https://github.com/pytorch/tutorials/issues/2849",
)
def divided(x: Tensor, weight: Tensor) -> Tensor:
    return x / math.sqrt(weight.size(1))


@mistake(
    "scale",
    "embedding scaled by the root of the vocabulary",
    symptom="The factor depends on the number of words.",
    cause="weight.size(0) is the vocabulary; d_model is weight.size(1).",
)
def scaled_by_vocabulary(x: Tensor, weight: Tensor) -> Tensor:
    return x * math.sqrt(weight.size(0))


@mistake(
    "scale",
    "half of d_model in place of its root",
    symptom="It is right for d_model = 4; for more features the vectors are too long, for fewer "
    "too short.",
    cause="The factor is d_model ** 0.5; d_model ** 1 / 2 would be (d_model ** 1) / 2.",
)
def scaled_by_half(x: Tensor, weight: Tensor) -> Tensor:
    return x * weight.size(1) / 2


@mistake(
    "scale",
    "root of d_model cut to a whole number",
    symptom="The vectors are too short, unless d_model is a square.",
    cause="The root is cut to a whole number, as by int() or //: leave it as it is.",
)
def scaled_by_whole_root(x: Tensor, weight: Tensor) -> Tensor:
    return x * int(math.sqrt(weight.size(1)))


@mistake(
    "scale",
    "embedding scaled by the root of the length",
    symptom="The factor depends on how long the sentence is.",
    cause="tokens.size(1) is the number of tokens; d_model is weight.size(1).",
)
def scaled_by_length(x: Tensor, weight: Tensor) -> Tensor:
    return x * math.sqrt(x.size(1))


@mistake(
    "look_up",
    "the table scaled in place of the vectors",
    symptom="Nothing changes: the same numbers come out.",
    cause="A row times the root of d_model is the row of the table times the root of "
    "d_model; but at each call the whole table is multiplied, and copied.",
    kind="harmless",
    steps={"scale": lambda x, weight: x},
)
def table_scaled(tokens: Tensor, weight: Tensor) -> Tensor:
    return (weight * math.sqrt(weight.size(1)))[tokens]
