"""Min p probabilities (chapter 27): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.adapting.top_p_probabilities import FOUR, drop


def min_p_cases() -> Sequence[Case]:
    flat, falling = normal(128, seed=8) / 10, -torch.linspace(0, 15, 128)
    one = torch.full((128,), -torch.inf)
    one[57] = 3.0
    return (
        Case("four tokens, a quarter of the best", (FOUR, 0.25)),
        Case("four tokens, a third", (FOUR, 0.33)),
        Case("the best alone", (FOUR - 2, 0.6)),
        Case("a sure row and an unsure one", (torch.cat([FOUR * 3, FOUR / 4]), 0.4)),
        Case("eight tokens, random", (2 * normal(3, 8, seed=4), 0.1)),
        Case("nine tokens, random", (normal(2, 9, seed=5) + 5, 0.3)),
        Case("logits below zero", (normal(2, 6, seed=6) - 6, 0.5)),
        Case("one row a little surer", (torch.cat([FOUR * 1.5, FOUR]), 0.25)),
        Case("the other one", (torch.cat([FOUR, FOUR * 1.4]) + 2, 0.28)),
        Case("three rows", (torch.cat([FOUR.flip(1), FOUR * 1.6, FOUR * 1.2]), 0.25)),
        Case("as likely as the likeliest", (normal(2, 5, seed=7), 1.0)),
        Case(
            "one row far above another, a token ruled out",
            (
                torch.tensor([[200.0, 199.0, 190.0, -torch.inf], [-200.0, -200.5, -203.0, -204.0]]),
                0.5,
            ),
        ),
        Case("two likeliest tokens", (torch.tensor([[1.0, 3.0, 3.0, 0.0]]), 1.0)),
        Case(
            "128 tokens: nearly equal, equal, falling, one alone, and a small min-p",
            (torch.stack([flat, torch.zeros(128), falling, one]), 0.0001),
        ),
    )


MIN_P = Component(
    name="min_p_probabilities",
    chapter=27,
    order=5,
    section="Top-p and min-p, by hand",
    signature="logits, min_p",
    pipeline=lambda s, logits, min_p: s.share(
        s.drop(logits, s.keep(s.p(logits), s.bound(s.p(logits), min_p)))
    ),
    steps={
        "p": lambda logits: logits.softmax(dim=-1),
        "bound": lambda p, min_p: min_p * p.amax(dim=-1, keepdim=True),
        "keep": lambda p, bound: p >= bound,
        "drop": drop,
        "share": lambda logits: logits.softmax(dim=-1),
    },
    cases=min_p_cases,
    returns="probabilities `(B, V)`: of the tokens at least `min_p` times as likely as the "
    "likeliest of their row, 0 < min_p ≤ 1, summing to one; all others zero",
    differentiable=False,
    done_by="keep_min_p",
    met="random",
    boundaries={
        "rows far apart": lambda logits: logits.amax(-1).max() - logits.amax(-1).min() > 200,
        "exponentials that overflow": lambda logits: logits.max() > 88,
        "a token ruled out": lambda logits: logits.isinf().any(),
        "one token alone": lambda logits: (logits.isfinite().sum(-1) == 1).any(),
        "more than 50 tokens kept": lambda logits, min_p: (
            (logits >= logits.amax(-1, keepdim=True) + math.log(min_p)).sum(-1).max() > 50
        ),
        "a small min-p": lambda min_p: min_p < 0.001,
        "two likeliest tokens": lambda logits: (
            (logits == logits.amax(-1, keepdim=True)).sum(-1).max() > 1
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(MIN_P)


@mistake(
    "drop",
    "min-p not shared out anew",
    symptom="Where tokens are dropped, the probabilities of the others sum to less than one.",
    cause="Take the softmax after dropping the others, or divide by the sum.",
    steps={"share": lambda p: p},
)
def not_shared(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.softmax(dim=-1) * kept


@mistake(
    "drop",
    "softmax of the min-p taken twice",
    symptom="Where several tokens are kept, their probabilities are too even.",
    cause="Take the last softmax of logits, not of probabilities, or divide the kept "
    "probabilities by their sum.",
)
def of_probabilities(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.softmax(dim=-1).masked_fill(~kept, float("-inf"))


@mistake(
    "bound",
    "min-p taken absolutely",
    symptom="Where the model is unsure, too few tokens can reach the bound, or none.",
    cause="Compare with min_p times the probability of the likeliest token.",
)
def absolute(p: Tensor, min_p: float) -> Tensor:
    return torch.full_like(p[..., :1], min_p)


@mistake(
    "bound",
    "min-p relative to the whole batch",
    symptom="Which tokens of a row stay depends on the other rows.",
    cause="Take the largest probability of each row: dim=-1, keepdim=True.",
)
def of_the_batch(p: Tensor, min_p: float) -> Tensor:
    return min_p * p.max().expand_as(p[..., :1])


@mistake(
    "bound",
    "token 0 taken for the likeliest",
    symptom="The bound is a share of what token 0 has, likely or not.",
    cause="Take the largest probability of the row, amax(dim=-1, keepdim=True), or sort first.",
)
def of_token_zero(p: Tensor, min_p: float) -> Tensor:
    return min_p * p[..., :1]


@mistake(
    "p",
    "min-p on logits",
    symptom="The bound is a share of the largest logit or log-probability, which may be negative.",
    cause="Compare probabilities: take the softmax first.",
)
def on_logits(logits: Tensor) -> Tensor:
    return logits


@mistake(
    "bound",
    "min-p of 1 − p",
    symptom="The bound is (1 − min_p) times the largest probability.",
    cause="min_p itself is the share: the smaller it is, the more tokens stay.",
)
def bound_of_complement(p: Tensor, min_p: float) -> Tensor:
    return (1 - min_p) * p.amax(dim=-1, keepdim=True)


@mistake(
    "keep",
    "the likely ones dropped",
    symptom="What is below the bound stays.",
    cause="Keep the tokens at or above the bound.",
)
def below(p: Tensor, bound: Tensor) -> Tensor:
    return p < bound


@mistake(
    "drop",
    "below min-p set to zero",
    symptom="Dropped tokens can still be drawn: the exponential of zero is one.",
    cause="Set the logits of dropped tokens to −inf.",
)
def below_to_zero(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.masked_fill(~kept, 0.0)


@mistake(
    "drop",
    "the cut of min-p never used",
    symptom="Tokens below the bound keep their probabilities.",
    cause="Drop the tokens below min_p times the largest probability of their row, then take the "
    "softmax of what is left.",
)
def not_dropped(logits: Tensor, kept: Tensor) -> Tensor:
    return logits
