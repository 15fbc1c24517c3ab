"""Cross-entropy backward (chapter 29): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def cross_entropy_backward_pipeline(s, logits, target, smoothing=0.0):
    hot = F.one_hot(target, logits.size(-1))  # (B, T, V)
    difference = s.minus(s.p(logits), s.q(hot, smoothing), hot)  # (B, T, V)
    return s.count(s.real(difference, target), target)


def cross_entropy_backward_cases() -> Sequence[Case]:
    def case(name: str, target: list, vocab_size: int, seed: int, **keywords: float) -> Case:
        ids = torch.tensor(target)
        return Case(name, (2 * normal(*ids.shape, vocab_size, seed=seed), ids), keywords)

    p = torch.tensor([[[0.7, 0.2, 0.1]]])
    return (
        Case("with a pencil", (p.log(), torch.tensor([[1]]))),
        Case("with a pencil, smoothed", (p.log(), torch.tensor([[1]])), {"smoothing": 0.3}),
        case("two sentences", [[3, 1, 2], [4, 3, 1]], 5, 1),
        case("padding", [[3, 1, 2, 0], [2, 0, 0, 0]], 5, 2),
        case("padding, smoothed", [[3, 2], [2, 0], [1, 0]], 4, 3, smoothing=0.1),
        case("a large share", [[5, 4, 2, 0], [1, 2, 0, 0]], 6, 4, smoothing=0.5),
        case("as many positions as tokens", [[3, 1, 2, 0]], 4, 5, smoothing=0.2),
        Case(
            "large logits, one position each",
            (
                torch.tensor([[[200.0, 201.0, 100.0, 0.0]], [[-300.0, -301.0, -302.0, -303.0]]]),
                torch.tensor([[1], [2]]),
            ),
        ),
        case(
            "padding in front, and an empty sentence",
            [[0, 3, 2, 1], [0, 0, 1, 2], [0, 0, 0, 0]],
            5,
            6,
        ),
        case("a share of one, one position each", [[3], [0], [2]], 4, 7, smoothing=1.0),
        case(
            "66 positions, half of them padding, 448 words",
            [[*range(230, 263), *[0] * 33]],
            448,
            8,
        ),
        Case(
            "very unlikely tokens",
            (
                torch.tensor([[[0.0, 20.0, 1.0, 2.0], [30.0, 0.0, -1.0, 1.0]]]),
                torch.tensor([[2, 3]]),
            ),
            {"smoothing": 0.1},
        ),
    )


CROSS_ENTROPY_BACKWARD = Component(
    name="cross_entropy_backward",
    chapter=29,
    order=6,
    section="Cross-entropy: p − q",
    signature="logits, target, smoothing=0.0",
    pipeline=cross_entropy_backward_pipeline,
    steps={
        "p": lambda logits: logits.softmax(dim=-1),
        "q": lambda hot, smoothing: (1 - smoothing) * hot + smoothing / hot.size(-1),
        "minus": lambda p, q, hot: p - q,
        "real": lambda difference, target: difference * (target != 0)[..., None],
        "count": lambda difference, target: difference / (target != 0).sum(),
    },
    cases=cross_entropy_backward_cases,
    returns="the gradient `(B, T, V)` of the mean loss over the real tokens with respect to the "
    "logits; padding is 0",
    differentiable=False,  # it is a gradient itself
    met="worse",
    boundaries={
        "logits beyond 88": lambda logits: logits.max() > 88,
        "logits far below others": lambda logits: logits.amax(-1).min() < logits.max() - 103,
        "one position each": lambda target: target.size(1) == 1 and len(target) > 1,
        "padding in front": lambda target: ((target[:, 0] == 0) & target.any(1)).any(),
        "an empty sentence": lambda target: (target == 0).all(1).any(),
        "a right token less likely than 1e-7": lambda logits, target: (
            logits.softmax(-1).gather(-1, target[..., None])[target != 0] < 1e-7
        ).any(),
        "smoothing of one": lambda smoothing: smoothing == 1.0,
        "more than 255 words": lambda logits: logits.size(-1) > 255,
        "more than 64 positions": lambda target: target.size(1) > 64,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(CROSS_ENTROPY_BACKWARD)


@mistake(
    "minus",
    "q − p in place of p − q",
    symptom="The gradient has the wrong sign: updates go uphill.",
    cause="The gradient points uphill: p - q. The update subtracts it.",
)
def turned(p: Tensor, q: Tensor, hot: Tensor) -> Tensor:
    return q - p


@mistake(
    "minus",
    "only the right token's logit",
    symptom="Wrong tokens get no gradient.",
    cause="Every logit is in the softmax: p - q for every token of the vocabulary.",
)
def right_only(p: Tensor, q: Tensor, hot: Tensor) -> Tensor:
    return (p - q) * hot


@mistake(
    "minus",
    "multiplied by the slope of a sigmoid",
    symptom="Each gradient is p (1 − p) times what it should be, a quarter at most.",
    cause="Leave p (1 - p) out: p - q holds the derivative of the softmax already.",
)
def sigmoid_slope(p: Tensor, q: Tensor, hot: Tensor) -> Tensor:
    return (p - q) * p * (1 - p)


@mistake(
    "p",
    "logits in place of probabilities",
    symptom="The logits themselves are compared with the targets.",
    cause="The gradient is p - q, where p is the softmax of the logits.",
)
def no_softmax(logits: Tensor) -> Tensor:
    return logits


@mistake(
    "p",
    "log-probabilities in place of probabilities",
    symptom="log p stands in the place of p.",
    cause="softmax, not log_softmax: the gradient is p - q.",
)
def logarithms(logits: Tensor) -> Tensor:
    return logits.log_softmax(dim=-1)


@mistake(
    "p",
    "softmax over the positions in the gradient",
    symptom="The probabilities of a position do not sum to one.",
    cause="The softmax runs over the vocabulary, the last axis.",
)
def over_positions(logits: Tensor) -> Tensor:
    return logits.softmax(dim=1)


@mistake(
    "q",
    "smoothing forgotten on the way back",
    symptom="The argument smoothing changes nothing.",
    cause="Put 1 - ε + ε/V at the right token of q, and ε/V elsewhere.",
)
def sharp(hot: Tensor, smoothing: float) -> Tensor:
    return hot


@mistake(
    "q",
    "ε/(V − 1) on the way back",
    symptom="ε is shared by the wrong tokens only.",
    cause="PyTorch, and this book, share ε among all V tokens, the right one too.",
)
def other_denominator(hot: Tensor, smoothing: float) -> Tensor:
    return (1 - smoothing) * hot + (1 - hot) * smoothing / (hot.size(-1) - 1)


@mistake(
    "q",
    "ε added, and not taken from the right token",
    symptom="The targets sum to 1 + ε.",
    cause="Take from the right token what all tokens share: q holds 1 - ε + ε/V there, and ε/V "
    "elsewhere.",
)
def too_much(hot: Tensor, smoothing: float) -> Tensor:
    return hot + smoothing / hot.size(-1)


@mistake(
    "real",
    "padding gets a gradient",
    symptom="Rows of padding get a gradient like all others, where zeros belong.",
    cause="Multiply by target != padding: padding has no loss.",
)
def padding_too(difference: Tensor, target: Tensor) -> Tensor:
    return difference


@mistake(
    "count",
    "divided by all tokens, padding too",
    symptom="With padding, the gradients are too small.",
    cause="The loss is a mean over the real tokens: divide by their number.",
)
def all_tokens(difference: Tensor, target: Tensor) -> Tensor:
    return difference / target.numel()


@mistake(
    "count",
    "not divided by the number of tokens",
    symptom="The gradients are too large by a factor: the number of real tokens.",
    cause="The loss is a mean over the real tokens: divide by their number.",
)
def sum_of_tokens(difference: Tensor, target: Tensor) -> Tensor:
    return difference


@mistake(
    "count",
    "divided by the number of sentences",
    symptom="The gradients are multiplied by how many real tokens a sentence has, on average.",
    cause="The loss is a mean over the real tokens, not over the sentences.",
)
def per_sentence(difference: Tensor, target: Tensor) -> Tensor:
    return difference / len(target)
