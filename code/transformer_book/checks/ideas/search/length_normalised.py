"""Length normalised (chapter 17): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

from transformer_book.checks.components import Case, Component, mistakes_in


def penalty_cases() -> Sequence[Case]:
    return tuple(
        Case(f"score {score}, {n} tokens, α = {alpha}", (score, n, alpha))
        for score, n, alpha in (
            (-4.0, 2, 1.0),
            (-4.0, 4, 1.0),
            (-3.0, 9, 0.5),
            (-6.0, 7, 0.6),
            (float("-inf"), 12, 0.7),
            (-6.0, 7, 0.0),
            (-1.0, 1, 1.0),
            (-2.5, 3, 2.0),
            (0.0, 3, 0.6),
            (-0.02, 2100, 0.995),
            (-5000.0, 400, 1.25),
        )
    )


LENGTH_NORMALISED = Component(
    name="length_normalised",
    chapter=17,
    order=9,
    section="The length penalty",
    signature="score, length, alpha",
    pipeline=lambda s, score, length, alpha: s.apply(score, s.divisor(length, alpha)),
    steps={
        "divisor": lambda length, alpha: length**alpha,
        "apply": lambda score, divisor: score / divisor,
    },
    cases=penalty_cases,
    returns="the score that hypotheses are ranked by: the sum of log-probabilities over length^α, "
    "the simpler of two penalties (the chapter teaches ((5 + length) / 6)^α first)",
    differentiable=False,
    # With α = 0 a factor is zero, and people write all sorts of things to get round it.
    settled=lambda case, answer: answer if case.arguments[2] else 0.0,
    done_by="length_divisor",
    met="bleu",
    ready_made={"decoding.length_divisor": "decoding.length_divisor"},
    boundaries={
        "a score of 0": lambda score: score == 0,
        "one token": lambda length: length == 1,
        "α = 1": lambda alpha: alpha == 1,
        "α between": lambda alpha: 0 < alpha < 1,
        "α above one": lambda alpha: alpha > 1,
        "more than 1024 tokens": lambda length: length > 1024,
        "a score near 0": lambda score: -0.1 < score < 0,
        "a score below -1000": lambda score: score < -1000,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(LENGTH_NORMALISED)


@mistake(
    "divisor",
    "length ignored",
    met=("bleu", 4),
    symptom="Long sentences are at a disadvantage: every token makes the sum smaller.",
    cause="Divide by a length penalty: length^α in the check, ((5 + length) / 6)^α in the chapter.",
)
def no_division(length: int, alpha: float) -> float:
    return 1.0


@mistake(
    "divisor",
    "length times α",
    symptom="α works as a factor, not as an exponent.",
    cause="Divide by length**alpha.",
)
def times_alpha(length: int, alpha: float) -> float:
    return length * alpha if alpha else 1.0


@mistake(
    "divisor",
    "α ignored",
    symptom="The score is divided by the length itself, whatever α is.",
    cause="Divide by length**alpha.",
)
def always_length(length: int, alpha: float) -> float:
    return float(length)


@mistake(
    "apply",
    "the mean to the power of α",
    symptom="The mean of the log-probabilities is taken to the power of α.",
    cause="Take only the length to the power of α: score / length**alpha.",
    steps={"divisor": lambda length, alpha: (length, alpha)},
)
def mean_to_the_power(score: float, divisor: tuple[int, float]) -> float:
    length, alpha = divisor
    return -((-score / length) ** alpha)


@mistake(
    "apply",
    "multiplied by the length",
    symptom="Long sentences are punished twice.",
    cause="Divide by length**alpha.",
)
def multiplied(score: float, divisor: float) -> float:
    return score * divisor


@mistake(
    "divisor",
    "the penalty of Wu et al.",
    met=("harmless", 26),
    symptom="This divides by ((5 + length) / 6)^α.",
    cause="That is the penalty of Wu et al. (2016), which the chapter teaches first; this check "
    "asks for the simpler one, length^α.",
    kind="convention",
)
def wu(length: int, alpha: float) -> float:
    return ((5 + length) / 6) ** alpha


@mistake(
    "divisor",
    "α to the power of the length",
    symptom="The base and the exponent have changed places.",
    cause="Divide by length**alpha, not by alpha**length.",
)
def base_and_exponent(length: int, alpha: float) -> float:
    return alpha**length


@mistake(
    "divisor",
    "one added to the length",
    symptom="The score is divided by (length + 1)^α.",
    cause="Take `length` as it is given, and add nothing: length**alpha.",
)
def one_longer(length: int, alpha: float) -> float:
    return (length + 1) ** alpha


@mistake(
    "divisor",
    "one taken from the length",
    symptom="Hypotheses are ranked as if they had a token less.",
    cause="Take `length` as it is given, and take nothing off: length**alpha.",
    seen="hypotheses lengths off by one, https://github.com/awslabs/sockeye/issues/483",
)
def one_less(length: int, alpha: float) -> float:
    return max(length - 1, 1) ** alpha
