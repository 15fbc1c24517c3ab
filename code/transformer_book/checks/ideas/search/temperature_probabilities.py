"""Temperature probabilities (chapter 17): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def temperature_cases() -> Sequence[Case]:
    # A softmax written by hand overflows where the temperature is low.
    low = ((0.01, 3), (0.02, 4), (0.015, 5))
    return (
        *(
            Case(f"temperature {temperature}", (normal(2, 6, seed=i), temperature))
            for i, temperature in enumerate((1.0, 0.5, 2.0, 0.1))
        ),
        Case("temperature 2.5, three sentences", (normal(3, 6, seed=4) - 4, 2.5)),
        Case("one sentence", (normal(1, 5, seed=9), 0.7)),
        Case("a sure model, temperature 0.01", (torch.tensor([[5.0, 0.0, -3.0]]), 0.01)),
        *(
            Case(f"temperature {t}", (4 + normal(2, 6, seed=seed), t), rough=True)
            for t, seed in low
        ),
        Case(
            "one row far above another",
            (torch.tensor([[0.0, 1.0, -2.0], [300.0, 301.0, 299.0]]), 1.0),
        ),
        Case(
            "temperature 0.005, two likeliest tokens, one ruled out",
            (torch.tensor([[0.004, 0.0, 0.0, -torch.inf], [3.0, 3.0, 1.0, 0.0]]), 0.005),
        ),
        Case("temperature 40, 1088 tokens", (10 * normal(2, 1088, seed=11), 40.0)),
    )


TEMPERATURE = Component(
    name="temperature_probabilities",
    chapter=17,
    order=2,
    section="Drawing instead of searching",
    signature="logits, temperature",
    pipeline=lambda s, logits, temperature: s.heat(logits, temperature),
    steps={"heat": lambda logits, temperature: (logits / temperature).softmax(dim=-1)},
    cases=temperature_cases,
    returns="the probabilities `(B, V)` that are sampled from; the temperature is above 0",
    done_by="sample",
    met="random",
    boundaries={
        "one sentence": lambda logits: len(logits) == 1,
        "temperature 1": lambda temperature: temperature == 1,
        "a low temperature": lambda temperature: temperature < 0.05,
        "a high temperature": lambda temperature: temperature > 1,
        "exponentials that overflow": lambda logits, temperature: (logits / temperature).max() > 88,
        "a temperature below 0.01": lambda temperature: temperature < 0.01,
        "a temperature above 10": lambda temperature: temperature > 10,
        "a token ruled out": lambda logits: logits.isinf().any(),
        "two likeliest tokens": lambda logits: (
            (logits == logits.amax(-1, keepdim=True)).sum(-1).max() > 1
        ),
        "more than 50 tokens": lambda logits: logits.size(-1) > 50,
        "rows far apart": lambda logits: logits.amax(-1).max() - logits.amax(-1).min() > 200,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(TEMPERATURE)


@mistake(
    "heat",
    "logits multiplied by the temperature",
    met=("random", 2),
    symptom="A low temperature makes the choice more random, a high one less.",
    cause="Divide the logits by the temperature.",
)
def heated_the_wrong_way(logits: Tensor, temperature: float) -> Tensor:
    return (logits * temperature).softmax(dim=-1)


@mistake(
    "heat",
    "temperature after the softmax",
    symptom="The probabilities sum to 1 / temperature, not to one.",
    cause="Divide the logits, before the softmax.",
)
def heated_too_late(logits: Tensor, temperature: float) -> Tensor:
    return logits.softmax(dim=-1) / temperature


@mistake(
    "heat",
    "divided by the temperature twice",
    symptom="A temperature of 0.5 works like one of 0.25.",
    cause="Divide the logits by the temperature once.",
    seen="[BUG] Temperature applied twice in FlashInfer sampling path, "
    "https://github.com/RL-Align/RL-Kernel/issues/81",
)
def heated_twice(logits: Tensor, temperature: float) -> Tensor:
    return (logits / temperature**2).softmax(dim=-1)


@mistake(
    "heat",
    "temperature ignored",
    met=("random", 3),
    symptom="The temperature changes nothing.",
    cause="Take the softmax of logits / temperature.",
)
def not_heated(logits: Tensor, temperature: float) -> Tensor:
    return logits.softmax(dim=-1)


@mistake(
    "heat",
    "softmax of probabilities over the temperature",
    symptom="The probabilities are too even at every temperature.",
    cause="The softmax is taken twice: divide the logits, then take it once.",
)
def softmax_twice(logits: Tensor, temperature: float) -> Tensor:
    return (logits.softmax(dim=-1) / temperature).softmax(dim=-1)


@mistake(
    "heat",
    "softmax over the whole batch",
    symptom="With several sentences, the probabilities of one do not sum to one: those of all "
    "together do.",
    cause="Take the softmax of each row, over dim=-1, the vocabulary.",
)
def over_the_batch(logits: Tensor, temperature: float) -> Tensor:
    return (logits / temperature).flatten().softmax(dim=0).reshape(logits.shape)


@mistake(
    "heat",
    "logarithms of the probabilities",
    symptom="Every number is negative or zero.",
    cause="These are logarithms: return the probabilities, softmax(dim=-1).",
)
def logarithms(logits: Tensor, temperature: float) -> Tensor:
    return (logits / temperature).log_softmax(dim=-1)


@mistake(
    "heat",
    "exponentials that overflow at a low temperature",
    symptom="A low temperature may give nan.",
    cause="Exponentials may overflow: use torch.softmax, or subtract the largest logit first.",
    section="A softmax that survives large scores",
    chapter=7,
)
def overflowing(logits: Tensor, temperature: float) -> Tensor:
    exponentials = (logits / temperature).exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@mistake(
    "heat",
    "softmax over the sentences",
    symptom="The probabilities of a token sum to one over the sentences, not those of a sentence.",
    cause="The softmax runs over dim=0: use dim=-1, the vocabulary.",
)
def over_the_sentences(logits: Tensor, temperature: float) -> Tensor:
    return (logits / temperature).softmax(dim=0)


@mistake(
    "heat",
    "divided by the temperature behind the softmax",
    symptom="Unless the temperature is 1, the probabilities of a row do not sum to one.",
    cause="Divide the logits by the temperature first, then take the softmax.",
)
def not_normalised_again(logits: Tensor, temperature: float) -> Tensor:
    return (logits.log_softmax(dim=-1) / temperature).exp()
