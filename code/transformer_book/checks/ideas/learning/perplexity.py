"""Perplexity (chapter 15): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from transformer_book.checks.components import Case, Component, mistakes_in


def perplexity_cases() -> Sequence[Case]:
    return (
        Case("two batches of equal size", ([1.0, 3.0], [10, 10])),
        Case("a large and a small batch", ([1.0, 3.0], [30, 10])),
        Case("one batch", ([2.5], [7])),
        Case("three batches", ([0.5, 4.0, 2.0], [3, 5, 40])),
        Case("another three", ([3.0, 0.1, 0.2], [1, 20, 9])),
        Case("batches of one token", ([0.0, 2.0, 0.5, 1.5, *[3.0] * 300], [1] * 304)),
        Case("a very high loss", ([12.3456, 10.4321], [2, 3])),
        Case("thousands of tokens", ([2.0, 3.5], [3000, 5000])),
        Case("no loss at all", ([0.0, 0.0], [4, 2])),
        Case("two equal losses, above 20", ([30.0, 25.0, 30.0], [3, 4, 5])),
        Case(
            "many tokens, and a batch without any",  # a mean of 56
            ([7.0, 60.0, 0.0, 20.0, 7.0], [0, 140000, 5500, 7000, 0]),
        ),
    )


PERPLEXITY = Component(
    name="perplexity",
    chapter=15,
    order=3,
    section="Perplexity",
    signature="losses, counts",
    pipeline=lambda s, losses, counts: s.power(s.average(losses, counts)),
    steps={
        "average": lambda losses, counts: (
            sum(loss * n for loss, n in zip(losses, counts, strict=True)) / sum(counts)
        ),
        "power": math.exp,
    },
    cases=perplexity_cases,
    returns="exp of the mean loss per token, from each batch's mean loss (nats) and its number of "
    "tokens, two lists of numbers",
    differentiable=False,
    met="score",
    ready_made={"metrics.perplexity": "metrics.perplexity"},
    boundaries={
        "one batch": lambda losses: len(losses) == 1,
        "a batch of one token": lambda counts: 1 in counts,
        "batches of one size": lambda counts: len(set(counts)) == 1 and len(counts) > 1,
        "no loss": lambda losses: 0.0 in losses,
        "a loss above 10": lambda losses: max(losses) > 10,
        "no loss at all": lambda losses: not any(losses),
        "losses above 20": lambda losses: min(losses) > 20,
        "a mean loss above 50": lambda losses, counts: (
            sum(loss * n for loss, n in zip(losses, counts, strict=True)) > 50 * sum(counts)
        ),
        "a batch without tokens": lambda counts: 0 in counts,
        "several tokens without loss": lambda losses, counts: any(
            loss == 0 and n > 1 for loss, n in zip(losses, counts, strict=True)
        ),
        "more than 65504 tokens": lambda counts: max(counts) > 65504,
        "equal losses": lambda losses: len({*losses}) < len(losses),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(PERPLEXITY)


@mistake(
    "average",
    "mean of the batches' means",
    met=("score", 3),
    symptom="A small batch counts as much as a large one.",
    cause="Weigh each batch's loss by its number of tokens.",
    section="A mean of means is not the mean",
    seen="Incorrect average calculation in `Perplexity of fixed-length models`, "
    "https://github.com/huggingface/transformers/issues/34138",
)
def mean_of_means(losses: Sequence[float], counts: Sequence[int]) -> float:
    return sum(losses) / len(losses)


def with_tokens(losses: Sequence[float], counts: Sequence[int]) -> list[float]:
    return [loss for loss, n in zip(losses, counts, strict=True) if n]


@mistake(
    "average",
    "mean of the means of batches with tokens",
    symptom="A batch without tokens is left out, and of the others a small one counts as much as a "
    "large one.",
    cause="Multiply each batch's loss by its number of tokens, add up, and divide once by all "
    "tokens: a batch without any then adds nothing.",
    section="A mean of means is not the mean",
)
def mean_of_means_with_tokens(losses: Sequence[float], counts: Sequence[int]) -> float:
    return mean_of_means(with_tokens(losses, counts), counts)


@mistake(
    "average",
    "mean of the perplexities",
    symptom="Where the batches' losses differ, the result is too large.",
    cause="Average the losses first, then exponentiate.",
    seen="Fix perplexity calculation., https://github.com/magenta/magenta/pull/239",
)
def mean_of_exponentials(losses: Sequence[float], counts: Sequence[int]) -> float:
    total = sum(math.exp(loss) * n for loss, n in zip(losses, counts, strict=True))
    return math.log(total / sum(counts))


@mistake(
    "average",
    "plain mean of the batches' perplexities",
    symptom="Perplexities are averaged in place of losses, and a small batch counts as much as a "
    "large one.",
    cause="Average the losses first, weighted by their tokens, then exponentiate.",
)
def plain_mean_of_exponentials(losses: Sequence[float], counts: Sequence[int]) -> float:
    return math.log(sum(map(math.exp, losses)) / len(losses))


@mistake(
    "average",
    "plain mean of the perplexities of batches with tokens",
    symptom="Perplexities are averaged in place of losses, a small batch counts as much as a large "
    "one, and one without tokens is left out.",
    cause="Average the losses first, weighted by their tokens, then exponentiate.",
)
def plain_mean_of_exponentials_with_tokens(losses: Sequence[float], counts: Sequence[int]) -> float:
    return plain_mean_of_exponentials(with_tokens(losses, counts), counts)


@mistake(
    "average",
    "losses summed",
    symptom="The result is the product of the batches' perplexities.",
    cause="Multiply each loss by its number of tokens, add up, and divide by all tokens.",
)
def losses_summed(losses: Sequence[float], counts: Sequence[int]) -> float:
    return sum(losses)


@mistake(
    "power",
    "two to the power of nats",
    met=("score", 2),
    symptom="The result is too small, unless the loss is 0.",
    cause="Powers of 2 are for a loss in bits; this one is in nats: exp of the mean loss itself, "
    "with no factor.",
)
def power_of_two(loss: float) -> float:
    return 2**loss


@mistake(
    "power",
    "exponential forgotten",
    symptom="It gives the mean loss.",
    cause="The perplexity is the exponential of the mean loss: return that.",
)
def no_power(loss: float) -> float:
    return loss


@mistake(
    "average",
    "the running sum divided in every pass",
    symptom="The earlier a batch comes, the less it counts.",
    cause="What was added before is divided again in every pass: divide once, behind the loop.",
)
def divided_in_the_loop(losses: Sequence[float], counts: Sequence[int]) -> float:
    total = 0.0
    for loss, n in zip(losses, counts, strict=True):
        total = (total + loss * n) / sum(counts)
    return total


@mistake(
    "average",
    "sums divided by the number of batches",
    symptom="The larger the batches, the larger the result: it is right where each has one token.",
    cause="The losses were multiplied by their tokens: divide by the number of tokens.",
)
def divided_by_batches(losses: Sequence[float], counts: Sequence[int]) -> float:
    return sum(loss * n for loss, n in zip(losses, counts, strict=True)) / len(losses)


@mistake(
    "average",
    "means not multiplied by their tokens",
    symptom="The larger the batches, the closer to one is the result.",
    cause="Each loss is a mean: multiply it by its number of tokens before you divide by all.",
)
def not_weighted(losses: Sequence[float], counts: Sequence[int]) -> float:
    return sum(losses) / sum(counts)


@mistake(
    "power",
    "two to the power of bits",
    symptom="Nothing changes: the same number comes out.",
    cause="2 to the power of a loss in bits is e to the power of the same loss in nats.",
    kind="harmless",
)
def power_of_bits(loss: float) -> float:
    return 2 ** (loss / math.log(2))


@mistake(
    "average",
    "every batch taken to be as large as the first",
    symptom="It is right where all batches are of one size.",
    cause="The sum is divided by one batch's size times the number of batches: add up the sizes.",
    seen="incorrect mean cross entropy when batch sizes vary, "
    "https://github.com/rinuboney/ladder/issues/5",
)
def as_large_as_the_first(losses: Sequence[float], counts: Sequence[int]) -> float:
    total = sum(loss * n for loss, n in zip(losses, counts, strict=True))
    return total / (counts[0] * len(counts))


@mistake(
    "power",
    "root in place of exp",
    symptom="For mean losses from 1 to 4 the result lies between 1 and 2.",
    cause="Perplexity is exp of the mean loss, not its square root: math.exp.",
    seen="Perplexity Calculation, https://github.com/SocialComplexityLab/life2vec/issues/8",
)
def rooted(loss: float) -> float:
    return math.sqrt(loss)
