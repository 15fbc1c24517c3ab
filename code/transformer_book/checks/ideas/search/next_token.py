"""Next token (chapter 17): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def next_token_cases() -> Sequence[Case]:
    hand = torch.tensor([[[0.0, 3.0, 1.0], [2.0, 0.0, 1.0]]])
    many = normal(1, 2, 300, seed=9)
    many[0, 1, 3], many[0, 1, 299] = 5.0, 5.001  # one number in two bytes
    ruled_out = normal(3, 2, 6, seed=10) - 500
    ruled_out[:, :, 0] = -math.inf
    ruled_out[2, 1, [1, 2, 4, 5]] = -math.inf
    return (
        Case("two positions", (hand,)),
        Case("random", (normal(3, 4, 6, seed=1),)),
        Case("as many sentences as tokens", (normal(4, 4, 4, seed=2),)),
        Case("one position", (normal(2, 1, 5, seed=3),)),
        Case("a long sentence", (2000 * normal(2, 9, 7, seed=4),)),
        Case("one sentence", (normal(1, 5, 8, seed=5),)),
        Case("one sentence, one position", (normal(1, 1, 6, seed=6),)),
        Case("another sentence", (normal(1, 4, 9, seed=7),)),
        Case("far below zero", (normal(2, 2, 5, seed=8) - 500,)),
        Case("a vocabulary of 300, two of them nearly alike", (many,)),
        Case("tokens that are ruled out", (ruled_out,)),
    )


NEXT_TOKEN = Component(
    name="next_token",
    chapter=17,
    order=1,
    section="A tree of words, by hand",
    signature="logits",
    pipeline=lambda s, logits: s.choose(s.place(logits)),
    steps={
        "place": lambda logits: logits[:, -1],
        "choose": lambda last: last.argmax(dim=-1),
    },
    cases=next_token_cases,
    returns="`(B,)`: for each sentence the likeliest token after its last position",
    differentiable=False,
    done_by="greedy_search",
    met="nonsense",
    boundaries={
        "one sentence": lambda logits: logits.size(0) == 1,
        "one position": lambda logits: logits.size(1) == 1,
        "one of both": lambda logits: logits.size(0) == logits.size(1) == 1,
        "all below −100": lambda logits: bool((logits < -100).all()),
        "more than 256 tokens": lambda logits: logits.size(2) > 256,
        "two nearly alike": lambda logits: bool(
            (logits[:, -1].half().topk(2).values.diff() == 0).any()
        ),
        "a token that is ruled out": lambda logits: bool(logits.isinf().any()),
        "as many of all": lambda logits: len(set(logits.shape)) == 1,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(NEXT_TOKEN)


@mistake(
    "place",
    "greedy takes the first position",
    met=("nonsense", 4),
    symptom="The answer is that of the first position, however long the sentence is.",
    cause="The next token follows the last position: logits[:, -1], not logits[:, 0].",
)
def first_position(logits: Tensor) -> Tensor:
    return logits[:, 0]


@mistake(
    "place",
    "last sentence in place of last position",
    met=("sizes", 11),
    symptom="There is one answer per position in place of one per sentence.",
    cause="logits[-1] is the last sentence: the position is the second axis.",
)
def last_sentence(logits: Tensor) -> Tensor:
    return logits[-1]


@mistake(
    "choose",
    "least likely token",
    symptom="The least likely token is chosen.",
    cause="Choose the largest logit, as argmax does.",
)
def least(last: Tensor) -> Tensor:
    return last.argmin(dim=-1)


@mistake(
    "choose",
    "largest over the batch",
    met=("batch", 14),
    symptom="There is an answer for each token of the vocabulary, the number of a sentence.",
    cause="Take argmax over dim=-1, the vocabulary.",
)
def over_batch(last: Tensor) -> Tensor:
    return last.argmax(dim=0)


@mistake(
    "choose",
    "probability in place of the token",
    symptom="The answer is the largest probability, not the id of its token.",
    cause="Return the place of the largest, as argmax does, not its value.",
)
def value(last: Tensor) -> Tensor:
    return last.softmax(dim=-1).max(dim=-1).values


@mistake(
    "choose",
    "logit in place of the token",
    symptom="The answer is the largest value, not the id of its token.",
    cause="Return the place of the largest, as argmax does, not its value.",
)
def largest_logit(last: Tensor) -> Tensor:
    return last.amax(dim=-1)


@mistake(
    "place",
    "last but one position",
    symptom="The token after the last but one position is chosen.",
    cause="The next token follows the last position: logits[:, -1].",
)
def last_but_one(logits: Tensor) -> Tensor:
    return logits[:, max(logits.size(1) - 2, 0)]


@mistake(
    "place",
    "likeliest token of every position",
    symptom="There is one answer for each position.",
    cause="Take the last position first: logits[:, -1].",
)
def all_positions(logits: Tensor) -> Tensor:
    return logits


@mistake(
    "choose",
    "an axis of one token left",
    symptom="The shape is (B, 1).",
    cause="Return one id for each sentence, (B,), without the axis of length one.",
)
def axis_left(last: Tensor) -> Tensor:
    return last.argmax(dim=-1, keepdim=True)


@mistake(
    "choose",
    "softmax before argmax",
    symptom="Nothing changes: the largest logit has the largest probability.",
    cause="The softmax keeps the order; it is computed for nothing.",
    kind="harmless",
)
def likeliest(last: Tensor) -> Tensor:
    return last.softmax(dim=-1).argmax(dim=-1)
