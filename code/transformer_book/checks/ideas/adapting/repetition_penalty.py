"""Repetition penalty (chapter 27): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def penalty_pipeline(s, logits, tokens, penalty):
    said = s.said(tokens, logits)  # (B, V), how often
    return s.put(logits, s.weaken(logits, penalty, said), said)  # (B, V)


def penalty_cases() -> Sequence[Case]:
    by_hand = torch.tensor([[1.0, -1.0, 2.0, 4.0, -2.0, 3.0]])
    forbidden = torch.tensor([[1.0, -torch.inf, 2.0, -torch.inf, 3.0, 0.0]])
    long = torch.tensor([[5, 2, 4, 0, 3, *[1] * 1025], [1] * 256 + [0] * 774])
    return (
        Case("by hand: one token said", (by_hand, torch.tensor([[3]]), 2.0)),
        Case(
            "by hand: one that is unlikely",
            (by_hand.tile(3, 1), torch.tensor([[4], [1], [0]]), 2.0),
        ),
        Case("by hand: two tokens", (by_hand, torch.tensor([[4, 5]]), 2.0)),
        Case("one of them twice", (by_hand, torch.tensor([[3, 4, 3]]), 2.0)),
        Case("two sentences", (normal(2, 6, seed=1), torch.tensor([[1, 4, 5], [1, 3, 3]]), 1.3)),
        Case("padding behind", (normal(2, 6, seed=2), torch.tensor([[1, 4, 5], [1, 2, 0]]), 1.5)),
        Case("padding in front", (normal(2, 5, seed=3), torch.tensor([[0, 0, 3], [1, 4, 4]]), 1.2)),
        Case(
            "three sentences", (normal(3, 8, seed=4), torch.tensor([[1, 6], [1, 7], [0, 1]]), 3.0)
        ),
        Case("nothing is changed", (normal(2, 5, seed=5), torch.tensor([[1, 3], [1, 4]]), 1.0)),
        Case("said again is welcome", (normal(1, 6, seed=6), torch.tensor([[1, 5, 5, 2]]), 0.5)),
        Case(
            "padding alone, and in the middle behind <eos>",
            (normal(2, 6, seed=8), torch.tensor([[0, 0, 0, 0, 0], [5, 2, 4, 0, 3]]), 2.0),
        ),
        Case("forbidden tokens, a logit of 0", (forbidden, torch.tensor([[4, 3, 5]]), 2.0)),
        Case("longer than any buffer, a token 256 times", (normal(2, 6, seed=7), long, 1.5)),
    )


def times_said(tokens: Tensor, logits: Tensor) -> Tensor:
    counts = F.one_hot(tokens, logits.size(-1)).sum(dim=1)  # (B, V)
    counts[:, 0] = 0  # padding
    return counts


def weakened(logits: Tensor, penalty: float, said: Tensor) -> Tensor:
    return torch.where(logits > 0, logits / penalty, logits * penalty)


PENALTY = Component(
    name="repetition_penalty",
    chapter=27,
    order=6,
    section="Top-p and min-p, by hand",
    signature="logits, tokens, penalty",
    pipeline=penalty_pipeline,
    steps={
        "said": times_said,
        "weaken": weakened,
        "put": lambda logits, weaker, said: torch.where(said > 0, weaker, logits),
    },
    cases=penalty_cases,
    returns="logits `(B, V)`: of the tokens that stand in the row of `tokens` `(B, T)`, padding "
    "(0) left out, what is positive is divided by `penalty` and what is negative multiplied by it, "
    "once however often the token stands there; all others are as they were",
    differentiable=False,
    met="worse",
    boundaries={
        "no penalty": lambda penalty: penalty == 1,
        "padding": lambda tokens: bool((tokens == 0).any()),
        "one sentence": lambda tokens: len(tokens) == 1,
        "a forbidden token": lambda logits: bool(logits.isinf().any()),
        "a logit of 0": lambda logits: bool((logits == 0).any()),
        "longer than 1024": lambda tokens: tokens.size(1) > 1024,
        "a token 256 times": lambda tokens: bool(((tokens == 1).sum(1) == 256).any()),
        "padding alone": lambda tokens: bool((tokens == 0).all(1).any()),
        "padding in the middle": lambda tokens: bool(
            ((tokens[:, 1:-1] == 0) & (tokens[:, :1] != 0) & (tokens[:, -1:] != 0)).any()
        ),
        "words behind <eos>": lambda tokens: bool(
            ((tokens[:, :-1] == 2) & (tokens[:, 1:] != 0)).any()
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(PENALTY)


@mistake(
    "weaken",
    "negative logits divided by the penalty, too",
    symptom="With a penalty above 1, negative logits of what was said rise: −2 divided by 2 is −1.",
    cause="Divide where the logit is positive, and multiply where it is negative: then a penalty "
    "above 1 moves both down.",
)
def always_divided(logits: Tensor, penalty: float, said: Tensor) -> Tensor:
    return logits / penalty


@mistake(
    "weaken",
    "logits multiplied by the penalty",
    symptom="With a penalty above 1, positive logits of what was said rise.",
    cause="Divide where the logit is positive, and multiply where it is negative.",
)
def always_multiplied(logits: Tensor, penalty: float, said: Tensor) -> Tensor:
    return logits * penalty


@mistake(
    "weaken",
    "division and multiplication exchanged",
    symptom="With a penalty above 1, logits of what was said rise.",
    cause="Divide where the logit is positive, and multiply where it is negative, not the other "
    "way round.",
)
def exchanged(logits: Tensor, penalty: float, said: Tensor) -> Tensor:
    return torch.where(logits > 0, logits * penalty, logits / penalty)


@mistake(
    "weaken",
    "penalty subtracted",
    symptom="Small logits fall as far as large ones, and a penalty of 1 changes something.",
    cause="Divide positive logits by the penalty, and multiply negative ones by it: then a "
    "penalty of 1 changes nothing.",
)
def subtracted(logits: Tensor, penalty: float, said: Tensor) -> Tensor:
    return logits - penalty


@mistake(
    "weaken",
    "penalty once for each time",
    symptom="What was said twice is punished twice.",
    cause="Apply the penalty once to each token of a row: `unique()` of a row of `tokens`, or a "
    "set, has each token once.",
)
def for_each_time(logits: Tensor, penalty: float, said: Tensor) -> Tensor:
    return weakened(logits, penalty**said, said)


@mistake(
    "said",
    "padding punished",
    symptom="In rows that are padded, the penalty is applied to padding, too.",
    cause="0 is no token that was said: leave it out.",
)
def padding_said(tokens: Tensor, logits: Tensor) -> Tensor:
    return F.one_hot(tokens, logits.size(-1)).sum(dim=1)


@mistake(
    "said",
    "what any sentence has said is punished in all",
    met=("batch", 0),
    symptom="A row changes with the other rows of the batch.",
    cause="Look at the tokens of each row alone.",
)
def said_by_any(tokens: Tensor, logits: Tensor) -> Tensor:
    return times_said(tokens, logits).sum(dim=0, keepdim=True)


@mistake(
    "said",
    "the last token alone punished",
    symptom="Only the token in the last place is punished, and two words may alternate for ever.",
    cause="Punish all tokens so far, not tokens[:, -1] alone: in a loop over them, keep what "
    "earlier rounds have changed.",
)
def last_alone(tokens: Tensor, logits: Tensor) -> Tensor:
    return times_said(tokens[:, -1:], logits)


@mistake(
    "put",
    "every token punished",
    symptom="All tokens are punished, not only those that were said.",
    cause="Change the logits of the words in `tokens` alone, not of padding, 0.",
)
def all_punished(logits: Tensor, weaker: Tensor, said: Tensor) -> Tensor:
    return weaker


@mistake(
    "weaken",
    "penalty subtracted, as often as a token was said",
    symptom="What comes twice is punished twice, and each time by the same amount.",
    cause="This is a frequency penalty: divide positive logits by the penalty, and multiply "
    "negative ones by it, once.",
)
def subtracted_for_each(logits: Tensor, penalty: float, said: Tensor) -> Tensor:
    return logits - penalty * said
