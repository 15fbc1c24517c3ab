"""Linear backward (chapter 29): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def linear_backward_pipeline(s, d_output, x, weight):
    return s.input(d_output, x, weight), s.weight(d_output, x), s.bias(d_output, x)


def linear_backward_cases() -> Sequence[Case]:
    def case(name: str, *sizes: int, seed: int) -> Case:
        b, t, m, n = sizes
        given = normal(b, t, n, seed=seed), normal(b, t, m, seed=seed + 1)
        return Case(name, (*given, normal(n, m, seed=seed + 2)))

    return (
        case("one sentence of two words", 1, 2, 2, 3, seed=1),
        case("two sentences", 2, 3, 4, 5, seed=4),
        case("more sentences than words", 9, 2, 3, 2, seed=7),
        case("as many outputs as inputs", 2, 3, 4, 4, seed=10),
        case("three sentences of one number", 3, 1, 1, 1, seed=13),
        case("all sizes alike", 3, 3, 3, 3, seed=16),
        case("one sentence of one word", 1, 1, 3, 2, seed=19),
        case("one output, several words", 2, 1030, 4, 1, seed=22),
        case("one input, several words", 2, 3, 1, 4, seed=25),
    )


LINEAR_BACKWARD = Component(
    name="linear_backward",
    chapter=29,
    order=1,
    section="A linear layer",
    signature="d_output, x, weight",
    pipeline=linear_backward_pipeline,
    steps={
        "input": lambda d_output, x, weight: d_output @ weight,
        "weight": lambda d_output, x: d_output.flatten(0, 1).T @ x.flatten(0, 1),
        "bias": lambda d_output, x: d_output.flatten(0, 1).sum(dim=0),
    },
    cases=linear_backward_cases,
    returns="the gradients of x `(B, T, M)`, of the weight `(N, M)` and of the bias `(N,)`",
    differentiable=False,  # it is a gradient itself
    met="worse",
    boundaries={
        "one word in each of several sentences": lambda x: len(x) > 1 and x.size(1) == 1,
        "one input": lambda weight: weight.size(1) == 1,
        "one output": lambda weight: weight.size(0) == 1,
        "all sizes alike": lambda x, weight: len({*x.shape, *weight.shape}) == 1,
        "one sentence of one word": lambda x: x.size(0) == x.size(1) == 1,
        "one output, several words": lambda x, weight: len(weight) == 1 < x.size(1),
        "one input, several words": lambda x: x.size(2) == 1 < x.size(1),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(LINEAR_BACKWARD)


@mistake(
    "input",
    "multiplied by the input, too",
    symptom="The gradient of x has the right signs only where x is positive.",
    cause="The derivative of a product does not contain the factor itself: d_output @ weight.",
)
def times_x(d_output: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    return (d_output @ weight) * x


@mistake(
    "input",
    "a mean over the outputs",
    symptom="The gradient of x is too small: divided by the number of outputs.",
    cause="Each output adds its share: a sum, which the matrix product takes.",
)
def mean_outputs(d_output: Tensor, x: Tensor, weight: Tensor) -> Tensor:
    return d_output @ weight / len(weight)


@mistake(
    "weight",
    "gradient of the weight transposed",
    symptom="The gradient of the weight is (M, N): with M = N nothing stops, and it is transposed.",
    cause="The weight is (outputs, inputs), and so is its gradient: d_output.T @ x, with all rows "
    "in one axis.",
)
def turned(d_output: Tensor, x: Tensor) -> Tensor:
    return x.flatten(0, 1).T @ d_output.flatten(0, 1)


@mistake(
    "weight",
    "gradient of the weight averaged over the rows",
    symptom="The gradient of the weight is too small: divided by the number of rows.",
    cause="The weight was used in every row, so the gradients add. If the loss is a mean, that "
    "is in d_output.",
)
def averaged(d_output: Tensor, x: Tensor) -> Tensor:
    return d_output.flatten(0, 1).T @ x.flatten(0, 1) / (x.size(0) * x.size(1))


@mistake(
    "weight",
    "gradient of the weight overwritten",
    symptom="Only the last row counts in the gradient of the weight.",
    cause="The weight was used in every row: add up the gradients of all rows.",
)
def last_row(d_output: Tensor, x: Tensor) -> Tensor:
    return torch.outer(d_output[-1, -1], x[-1, -1])


@mistake(
    "weight",
    "one gradient of the weight for each sentence",
    symptom="The gradient of the weight still has the axis of the batch.",
    cause="All sentences share the weight: add over them, too.",
)
def per_sentence(d_output: Tensor, x: Tensor) -> Tensor:
    return d_output.mT @ x


@mistake(
    "bias",
    "gradient of the bias averaged",
    symptom="The gradient of the bias is too small: divided by the number of rows.",
    cause="The bias was added in every row, so the gradients add.",
)
def bias_mean(d_output: Tensor, x: Tensor) -> Tensor:
    return d_output.mean(dim=(0, 1))


@mistake(
    "bias",
    "gradient of the bias not summed",
    symptom="The gradient of the bias still has the axes of batch and positions.",
    cause="One bias serves all rows: sum over all axes but the last.",
)
def bias_rows(d_output: Tensor, x: Tensor) -> Tensor:
    return d_output


@mistake(
    "bias",
    "gradient of the bias summed over the features",
    symptom="The gradient of the bias has an entry for each position, not for each output.",
    cause="Sum over batch and positions; the last axis stays.",
)
def bias_features(d_output: Tensor, x: Tensor) -> Tensor:
    return d_output.sum(dim=-1)


@mistake(
    "bias",
    "gradient of the bias added up from the weight's",
    symptom="The gradient of the bias depends on x.",
    cause="Sum d_output itself over batch and positions: the gradient of the bias does not hold x.",
    seen="Course 2 week 4 ~ Wrong back propagation function ~ UNQ_C4, https://github.com/rust0258/"
    "Deeplearning.ai-Natural-Language-Processing-Specialization/issues/64",
)
def bias_of_the_weight(d_output: Tensor, x: Tensor) -> Tensor:
    return torch.einsum("btn,btm->n", d_output, x)


@mistake(
    "bias",
    "gradient of the bias summed over the sentences only",
    symptom="The gradient of the bias still has the axis of the positions.",
    cause="All positions share the bias: sum over both axes.",
)
def bias_batch(d_output: Tensor, x: Tensor) -> Tensor:
    return d_output.sum(dim=0)


@mistake(
    "weight",
    "gradients of the parameters averaged over the sentences",
    symptom="The gradients of weight and bias are too small: divided by the number of sentences.",
    cause="All sentences share weight and bias, so the gradients add. If the loss is a mean, that "
    "is in d_output.",
    steps={"bias": lambda d_output, x: d_output.flatten(0, 1).sum(dim=0) / len(d_output)},
)
def averaged_sentences(d_output: Tensor, x: Tensor) -> Tensor:
    return d_output.flatten(0, 1).T @ x.flatten(0, 1) / len(x)
