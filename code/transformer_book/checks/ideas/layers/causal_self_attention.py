"""Causal self attention (chapter 13): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import RESIDUAL
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def modes_pipeline(s, x, training):
    scores = x @ x.mT / s.root(x)  # (B, T, T)
    seen = s.seen(torch.ones(x.size(1), x.size(1)), training).bool()  # (T, T)
    return s.weights(scores, seen) @ x


def modes_cases() -> Sequence[Case]:
    return (
        *(
            Case(f"{tokens} tokens, {mode}", (normal(batch, tokens, width, seed=tokens), flag))
            for batch, tokens, width in ((1, 2, 2), (2, 3, 4), (1, 5, 6), (5, 4, 3), (1, 130, 2))
            for mode, flag in (("training", True), ("evaluation", False))
        ),
        Case("scores of ten thousand", (200 * normal(2, 4, 3, seed=9), True), rough=True),
        Case("one token", (normal(1, 1, 3, seed=10), False)),
        Case(
            "a vector of zeros",
            (normal(2, 4, 3, seed=11) * torch.tensor([1, 0, 1, 1])[:, None], True),
        ),
        Case("a long text, large scores", (40 * normal(1, 264, 2, seed=12), False), rough=True),
        Case("three sentences of one token, one feature", (normal(3, 1, 1, seed=13), True)),
        Case(
            "as many sentences as tokens, zeros in front, a token twice",
            (normal(3, 3, 4, seed=14)[:, [0, 1, 1]] * torch.tensor([0, 1, 1])[:, None], False),
        ),
    )


SELF_ATTENTION = Component(
    name="causal_self_attention",
    chapter=13,
    order=2,
    section="Break it: a mask in one mode only",
    signature="x, training",
    pipeline=modes_pipeline,
    steps={
        "root": lambda x: x.size(-1) ** 0.5,
        "seen": lambda ones, training: ones.tril(),
        "weights": lambda scores, seen: scores.masked_fill(~seen, -torch.inf).softmax(dim=-1),
    },
    cases=modes_cases,
    returns="`(B, T, D)`: attention of x to itself (queries, keys and values are x), each "
    "position to itself and what came before; `training` is the module's mode, `self.training`, "
    "and there is no dropout; scores are divided by the root of D",
    done_by="DecoderLayer",
    met="too-good",
    boundaries=RESIDUAL
    | {
        "training": lambda training: training,
        "evaluation": lambda training: not training,
        "longer than 128": lambda x: x.size(1) > 128,
        "longer than 256": lambda x: x.size(1) > 256,
        "one feature": lambda x: x.size(2) == 1,
        "several sentences of one token": lambda x: x.size(0) > 1 == x.size(1),
        "as many sentences as tokens": lambda x: x.size(0) == x.size(1) > 1,
        "zeros in front": lambda x: not x[:, 0].any(-1).all(),
        "a token twice": lambda x: x.size(1) > 2 and x[0, 1].equal(x[0, 2]),
        "large scores, evaluation": lambda x, training: not training and (x @ x.mT).max() > 200,
        "scores beyond 10000": lambda x: (x @ x.mT).max() > 2e4,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(SELF_ATTENTION)


@mistake(
    "seen",
    "causal mask only in training mode",
    met=("nonsense", 16),
    symptom="In evaluation a position sees its future, which training hid from it.",
    cause="Use the mask in both modes, not in training alone.",
)
def masked_in_training(ones: Tensor, training: bool) -> Tensor:
    return ones.tril() if training else ones


@mistake(
    "seen",
    "causal mask only in evaluation",
    met=("too-good", 4),
    symptom="In training a position sees the answer, and learns to copy it.",
    cause="Use the mask in both modes, not in evaluation alone.",
)
def masked_in_evaluation(ones: Tensor, training: bool) -> Tensor:
    return ones if training else ones.tril()


@mistake(
    "seen",
    "no causal mask in either mode",
    symptom="A position sees its future, in training and in evaluation.",
    cause="Set the scores above the diagonal to −inf, before the softmax. (masked_fill returns a "
    "new tensor: assign it.)",
    section="Leak tests, in both modes",
    seen="`RoFormerForCausalLM`, … attend to future tokens since v5.9.0 — CLM training loss "
    "collapses, https://github.com/huggingface/transformers/issues/48745",
)
def never_masked(ones: Tensor, training: bool) -> Tensor:
    return ones


@mistake(
    "seen",
    "past hidden in place of the future",
    symptom="A position sees its future and not its past.",
    cause="Let the lower triangle through, tril, or hide triu(1).",
    section="Leak tests, in both modes",
)
def past_hidden(ones: Tensor, training: bool) -> Tensor:
    return ones.triu()


@mistake(
    "root",
    "causal scores not scaled",
    symptom="The scores are √D times too large: the wider the vectors, the sharper the weights.",
    cause="Take the softmax of the scores divided by the root of D.",
    section="Why divide by the square root of the width",
    chapter=7,
)
def causal_not_scaled(x: Tensor) -> float:
    return 1.0


@mistake(
    "root",
    "causal scores divided by the root of the length",
    symptom="The weights depend on how long the sentence is.",
    cause="Divide the scores by the root of the width, x.size(-1), not of the number of tokens.",
    section="Why divide by the square root of the width",
    chapter=7,
)
def causal_divided_by_length(x: Tensor) -> float:
    return x.size(1) ** 0.5


@mistake(
    "weights",
    "future scores set to zero",
    symptom="The future can still get weight: the exponential of zero is one.",
    cause="Set the hidden scores to −inf, before the softmax.",
    section="Break it: the mask after the softmax",
    chapter=8,
)
def future_at_zero(scores: Tensor, seen: Tensor) -> Tensor:
    return (scores * seen).softmax(dim=-1)


@mistake(
    "weights",
    "future hidden after the softmax",
    symptom="The weights of a position that has a future can sum to less than one.",
    cause="Hide the scores of the future before the softmax, so that they do not count in its sum.",
    section="Break it: the mask after the softmax",
    chapter=8,
)
def future_hidden_late(scores: Tensor, seen: Tensor) -> Tensor:
    return scores.softmax(dim=-1) * seen


@mistake(
    "weights",
    "additive mask where ones and zeros are meant",
    met=("flat", 0),
    symptom="Where scores lie within about ±30, each position takes the mean of itself and what "
    "came before.",
    cause="Use one meaning of the mask: ones and zeros, or 0 and −∞ that are added to the "
    "scores. (In float32, −1e9 plus a number within ±30 is −1e9.)",
    seen="fix(tinytorch): fix GPT causal mask convention in module 13, "
    "https://github.com/harvard-edge/cs249r_book/pull/1785",
)
def additive_for_ones(scores: Tensor, seen: Tensor) -> Tensor:
    mask = torch.zeros_like(scores).masked_fill(~seen, -1e9)
    return (scores + (1 - mask) * -1e9).softmax(dim=-1)


@mistake(
    "seen",
    "next token visible to causal attention",
    symptom="A position sees the token after it, the one it is to predict.",
    cause="Let the lower triangle through, tril with diagonal=0, or hide triu(1).",
    section="Break it: masks that are nearly right",
    chapter=8,
)
def causal_next_visible(ones: Tensor, training: bool) -> Tensor:
    return ones.tril(1)
