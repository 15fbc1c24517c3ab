"""Adam update (chapter 29): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def adam_update_pipeline(
    s, parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon
):
    m = s.first(mean, gradient, beta1)
    v = s.second(square, gradient, beta2, m)
    direction = s.corrected(m, update, beta1)
    length = s.length(s.corrected_square(v, update, beta2), epsilon, update, beta2)
    return s.step(parameter, learning_rate, direction, length), m, v


def adam_update_cases() -> Sequence[Case]:
    def case(name: str, update: int, seed: int, *settings: float, size: float = 1.0) -> Case:
        w, gradient, mean = (size * normal(2, 3, seed=seed + i) for i in range(3))
        square = size**2 * normal(2, 3, seed=seed + 3).square()
        zero = torch.zeros(2, 3)
        means = (zero, zero.clone()) if update == 1 else (mean, square)
        return Case(name, (w, gradient, *means, update, *settings))

    seen = torch.tensor([[0.0, 1.0, 1.0], [1.0, 1.0, 1.0]])  # one weight never had a gradient
    return (
        case("the first update", 1, 1, 0.1, 0.9, 0.98, 1e-9),
        case("the second", 2, 5, 0.1, 0.9, 0.98, 1e-9),
        case("the seventh, other settings", 7, 9, 0.03, 0.8, 0.95, 1e-4),
        case("a large ε", 3, 13, 0.5, 0.7, 0.9, 0.3),
        case("another large ε", 5, 17, 0.2, 0.6, 0.99, 0.1),
        case("large numbers", 4, 21, 1.0, 0.9, 0.999, 1.0, size=4.0),
        Case(
            "late: gradients of zero and a large one, a weight of zero",
            (
                torch.tensor([[0.0, 0.7, -1.2, 0.4]]),
                torch.tensor([[0.0, 0.5, 0.0, -300.0]]),
                normal(1, 4, seed=26),
                torch.tensor([[0.5, 0.1, 1.0, 2.0]]),
                *(1200, 0.1, 0.9, 0.999, 1e-8),
            ),
        ),
        Case(
            "no gradient at all",
            (
                normal(2, 3, seed=27),
                torch.zeros(2, 3),
                normal(2, 3, seed=28) * seen,
                normal(2, 3, seed=29).square() * seen,
                *(4, 0.1, 0.9, 0.98, 1e-9),
            ),
        ),
        case("β₁ = 0, and tiny numbers", 1, 30, 1e-6, 0.0, 0.98, 1e-9, size=1e-6),
        case("a learning rate of zero, β₂ = 0", 3, 34, 0.0, 0.9, 0.0, 1e-9),
    )


ADAM_UPDATE = Component(
    name="adam_update",
    chapter=29,
    order=7,
    done_by="adam_step",
    section="Adam, on three numbers",
    signature="parameter, gradient, mean, square, update, learning_rate, beta1, beta2, epsilon",
    pipeline=adam_update_pipeline,
    steps={
        "first": lambda mean, gradient, beta: beta * mean + (1 - beta) * gradient,
        "second": lambda square, gradient, beta, mean: beta * square + (1 - beta) * gradient**2,
        "corrected": lambda mean, update, beta: mean / (1 - beta**update),
        "corrected_square": lambda square, update, beta: square / (1 - beta**update),
        "length": lambda square, epsilon, update, beta: square.sqrt() + epsilon,
        "step": lambda parameter, rate, direction, length: parameter - rate * direction / length,
    },
    cases=adam_update_cases,
    returns="the new parameter, the new running mean of the gradient and that of its square; "
    "`update` counts from 1",
    differentiable=False,  # it is a gradient itself
    met="worse",
    boundaries={
        "one row": lambda parameter: parameter.size(0) == 1,
        "a weight of zero": lambda parameter: (parameter == 0).any(),
        "no gradient at all": lambda gradient: not gradient.any(),
        "a gradient of zero": lambda gradient: (gradient == 0).any(),
        "a gradient beyond 100": lambda gradient: gradient.abs().max() > 100,
        "tiny gradients": lambda gradient: 0 < gradient.abs().max() < 1e-4,
        "more than 1000 updates": lambda update: update > 1000,
        "a learning rate of zero": lambda learning_rate: learning_rate == 0,
        "β₁ = 0": lambda beta1: beta1 == 0,
        "β₂ = 0": lambda beta2: beta2 == 0,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(ADAM_UPDATE)


@mistake(
    "first",
    "1 − β₁ forgotten",
    symptom="The running mean is a running sum: begun at zero, it is 1 / (1 − β₁) times too large.",
    cause="Let both shares add up to one: β₁ m + (1 - β₁) g.",
)
def summed(mean: Tensor, gradient: Tensor, beta: float) -> Tensor:
    return beta * mean + gradient


@mistake(
    "first",
    "no running mean of the gradient",
    symptom="The newest gradient stands in the place of the running mean.",
    cause="Keep a running mean: β₁ m + (1 - β₁) g.",
)
def no_momentum(mean: Tensor, gradient: Tensor, beta: float) -> Tensor:
    return gradient


@mistake(
    "first",
    "the shares of the running mean exchanged",
    symptom="The newest gradient counts for β₁, and the old mean for the rest.",
    cause="β₁ belongs to the old mean, 1 - β₁ to the new gradient.",
)
@mistake(
    "first",
    "both decay rates the wrong way round",
    symptom="The newest gradient counts for β₁, its square for β₂, and the old means for the rest.",
    cause="β belongs to the old mean, 1 - β to what is new, in both means.",
    steps={"second": lambda square, gradient, beta, mean: (1 - beta) * square + beta * gradient**2},
)
def shares_exchanged(mean: Tensor, gradient: Tensor, beta: float) -> Tensor:
    return (1 - beta) * mean + beta * gradient


@mistake(
    "second",
    "gradient not squared",
    symptom="The second mean is one of absolute values, not of squares.",
    cause="Average the squares of the gradients, gradient**2.",
)
def not_squared(square: Tensor, gradient: Tensor, beta: float, mean: Tensor) -> Tensor:
    return beta * square + (1 - beta) * gradient.abs()


@mistake(
    "second",
    "the mean squared in place of the gradient",
    symptom="The square of the running mean is averaged, not that of the gradient.",
    cause="Average the squares of the gradients as they come in, not the square of their mean.",
)
def mean_squared(square: Tensor, gradient: Tensor, beta: float, mean: Tensor) -> Tensor:
    return beta * square + (1 - beta) * mean**2


@mistake(
    "corrected",
    "neither mean corrected for its start at zero",
    symptom="Early steps are mostly of a wrong length; much later ones are nearly right.",
    cause="Both means begin at zero, which the first updates still show: divide each by 1 − "
    "β**update, and take those for the step.",
    steps={"corrected_square": lambda square, update, beta: square},
)
@mistake(
    "corrected",
    "mean not corrected for its start at zero",
    symptom="Steps are too short by the factor 1 − β₁**update, the first one most.",
    cause="Divide the mean by 1 - β₁**update, and take that for the step.",
)
def uncorrected(mean: Tensor, update: int, beta: float) -> Tensor:
    return mean


@mistake(
    "corrected_square",
    "square not corrected for its start at zero",
    symptom="The first steps are too long.",
    cause="Divide the mean of the squares by 1 - β₂**update, and take that for the step.",
)
def square_uncorrected(square: Tensor, update: int, beta: float) -> Tensor:
    return square


@mistake(
    "corrected",
    "correction of the first update for ever",
    symptom="From the second update on, the corrected mean is too large.",
    cause="Divide by 1 - β₁**update, not by 1 - β₁.",
)
def corrected_for_ever(mean: Tensor, update: int, beta: float) -> Tensor:
    return mean / (1 - beta)


@mistake(
    "length",
    "ε inside the root of Adam",
    symptom="Where ε is not small beside the squares, the steps are of another size.",
    cause="Take the root first, then add ε: sqrt(v) + ε.",
)
def epsilon_inside(square: Tensor, epsilon: float, update: int, beta: float) -> Tensor:
    return (square + epsilon).sqrt()


@mistake(
    "length",
    "ε beside the uncorrected root",
    symptom="With a large ε, the first steps are too short, where they are not 0.",
    cause="Correct the mean square, take its root, and add ε last: sqrt(v / (1 - β₂**update)) + ε.",
)
def epsilon_corrected(square: Tensor, epsilon: float, update: int, beta: float) -> Tensor:
    return square.sqrt() + epsilon / (1 - beta**update) ** 0.5


@mistake(
    "length",
    "root forgotten in Adam",
    symptom="Where all gradients are ten times as large, steps are a tenth as long.",
    cause="Divide by the root of the mean square.",
)
def root_forgotten(square: Tensor, epsilon: float, update: int, beta: float) -> Tensor:
    return square + epsilon


@mistake(
    "step",
    "steps uphill",
    symptom="Each number moves to the wrong side.",
    cause="The gradient points uphill: go against it, parameter - learning_rate * m / (√v + ε), "
    "with both means divided by 1 - β**update.",
)
def uphill(parameter: Tensor, rate: float, direction: Tensor, length: Tensor) -> Tensor:
    return parameter + rate * direction / length


@mistake(
    "corrected",
    "multiplied by both corrections",
    symptom="Early steps are mostly of a wrong length; much later ones are nearly right.",
    cause="The means begin at zero and are too small at first: divide both by 1 − β**update.",
    steps={"corrected_square": lambda square, update, beta: square * (1 - beta**update)},
    seen="Fix adam optimizer, https://github.com/karpathy/convnetjs/pull/70",
)
def multiplied(mean: Tensor, update: int, beta: float) -> Tensor:
    return mean * (1 - beta**update)


@mistake(
    "corrected",
    "one minus the correction in its place",
    symptom="The means are divided by β**update: with the usual β₁ and β₂, and the same gradient "
    "again and again, steps grow with every update.",
    cause="Divide both means by 1 − β**update.",
    steps={"corrected_square": lambda square, update, beta: square / beta**update},
    seen="[Bugfix] Fix AdamG instability, https://github.com/kozistr/pytorch_optimizer/pull/308",
)
def subtracted_twice(mean: Tensor, update: int, beta: float) -> Tensor:
    return mean / beta**update


@mistake(
    "step",
    "learning rate forgotten",
    symptom="The argument learning_rate changes nothing.",
    cause="Multiply the step by the learning rate.",
)
def no_rate(parameter: Tensor, rate: float, direction: Tensor, length: Tensor) -> Tensor:
    return parameter - direction / length
