"""Softmax backward (chapter 29): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def softmax_backward_pipeline(s, d_output, output):
    return s.combine(d_output, output, s.dot(d_output, output))


def softmax_backward_cases() -> Sequence[Case]:
    def case(name: str, *shape: int, seed: int) -> Case:
        return Case(name, (normal(*shape, seed=seed), normal(*shape, seed=seed + 1).softmax(-1)))

    masked = normal(2, 4, 5, seed=9)
    masked[:, 1:, 3:] = -torch.inf
    pencil = torch.tensor([[[4.0, 0.0, 8.0]]]), torch.tensor([[[0.5, 0.25, 0.25]]])
    return (
        Case("with a pencil", pencil),
        case("two rows", 1, 2, 3, seed=1),
        case("four sentences", 4, 3, 4, seed=3),
        case("as many rows as keys", 2, 4, 4, seed=5),
        Case("hidden keys", (normal(2, 4, 5, seed=7), masked.softmax(-1))),
        Case(
            "many keys, large gradients",
            (500 * normal(1, 3, 192, seed=11), normal(1, 3, 192, seed=12).softmax(-1)),
        ),
        Case("one key", (normal(2, 3, 1, seed=13), torch.ones(2, 3, 1))),
        Case(
            "tiny gradients, a row that is all on one key",
            (
                5e-4 * normal(2, 3, 4, seed=14).tanh(),
                torch.cat([normal(2, 2, 4, seed=15).softmax(-1), torch.eye(4)[1:3, None]], 1),
            ),
        ),
    )


SOFTMAX_BACKWARD = Component(
    name="softmax_backward",
    chapter=29,
    order=2,
    section="Softmax: one dot product for each row",
    signature="d_output, output",
    pipeline=softmax_backward_pipeline,
    steps={
        "dot": lambda d_output, output: (output * d_output).sum(dim=-1, keepdim=True),
        "combine": lambda d_output, output, dot: output * (d_output - dot),
    },
    cases=softmax_backward_cases,
    returns="the gradient of the scores, of the shape of `output`, which is the softmax of the "
    "scores",
    differentiable=False,  # it is a gradient itself
    met="worse",
    boundaries={
        "one key": lambda output: output.size(-1) == 1,
        "more than 128 keys": lambda output: output.size(-1) > 128,
        "a row that is all on one of several keys": lambda output: (
            output.size(-1) > 1 and (output == 1).any()
        ),
        "gradients beyond 100": lambda d_output: d_output.abs().max() > 100,
        "tiny gradients": lambda d_output: d_output.abs().max() < 1e-3,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(SOFTMAX_BACKWARD)


@mistake(
    "dot",
    "dot product of the row forgotten",
    symptom="The gradients of a row do not sum to zero.",
    cause="Subtract, in each row, the dot product of weights and gradients: output * (d_output - "
    "dot).",
)
def no_dot(d_output: Tensor, output: Tensor) -> Tensor:
    return torch.zeros_like(output[..., :1])


@mistake(
    "dot",
    "mean in place of the dot product",
    symptom="What is subtracted is too small: divided by the number of keys.",
    cause="The weights already sum to one: a sum of output * d_output, not a mean.",
)
def mean_of_products(d_output: Tensor, output: Tensor) -> Tensor:
    return (output * d_output).mean(dim=-1, keepdim=True)


@mistake(
    "dot",
    "gradients averaged without the weights",
    symptom="The plain mean of the gradients is subtracted.",
    cause="Multiply by the weights and sum: (output * d_output).sum(-1, keepdim=True).",
)
def unweighted(d_output: Tensor, output: Tensor) -> Tensor:
    return d_output.mean(dim=-1, keepdim=True)


@mistake(
    "dot",
    "gradients summed without the weights",
    symptom="The plain sum of the gradients is subtracted.",
    cause="Multiply by the weights before you sum: (output * d_output).sum(-1, keepdim=True).",
)
def plain_sum(d_output: Tensor, output: Tensor) -> Tensor:
    return d_output.sum(dim=-1, keepdim=True)


@mistake(
    "dot",
    "dot product over the queries",
    symptom="Each row's gradient depends on the other rows.",
    cause="The softmax ran over the keys: sum over that axis, the last, and no other.",
)
def over_queries(d_output: Tensor, output: Tensor) -> Tensor:
    return (output * d_output).sum(dim=-2, keepdim=True)


@mistake(
    "dot",
    "one dot product for all rows",
    symptom="All rows share one number.",
    cause="Each row has its own dot product: sum(dim=-1, keepdim=True).",
)
def over_everything(d_output: Tensor, output: Tensor) -> Tensor:
    return (output * d_output).sum()


@mistake(
    "dot",
    "only the diagonal of the Jacobian",
    symptom="It is the derivative of a sigmoid: each weight is treated alone.",
    cause="p (1 - p) is the diagonal only: compute output * (d_output - (output * "
    "d_output).sum(-1, keepdim=True)).",
)
def diagonal(d_output: Tensor, output: Tensor) -> Tensor:
    return output * d_output


@mistake(
    "combine",
    "dot product added",
    symptom="A row of equal gradients gives something other than zero.",
    cause="Subtract the dot product: output * (d_output - dot).",
)
def added(d_output: Tensor, output: Tensor, dot: Tensor) -> Tensor:
    return output * (d_output + dot)


@mistake(
    "combine",
    "not multiplied by the weights",
    symptom="Hidden keys get a gradient, and large weights no larger one.",
    cause="Multiply the difference by the weights at the end.",
)
def not_weighted(d_output: Tensor, output: Tensor, dot: Tensor) -> Tensor:
    return d_output - dot


@mistake(
    "combine",
    "dot product subtracted outside the brackets",
    symptom="The dot product is not multiplied by the weights.",
    cause="Set brackets: output * (d_output - dot).",
)
def outside(d_output: Tensor, output: Tensor, dot: Tensor) -> Tensor:
    return output * d_output - dot


@mistake(
    "combine",
    "weights and gradients exchanged",
    symptom="What is computed is d_output * (output - dot).",
    cause="Exchange weights and gradients: output * (d_output - dot).",
)
def exchanged(d_output: Tensor, output: Tensor, dot: Tensor) -> Tensor:
    return d_output * (output - dot)


@mistake(
    "combine",
    "softmax taken again",
    symptom="The factor is the softmax of the weights.",
    cause="output is the softmax already: use it as it is.",
)
def again(d_output: Tensor, output: Tensor, dot: Tensor) -> Tensor:
    return output.softmax(dim=-1) * (d_output - dot)


@mistake(
    "combine",
    "gradient of the log-softmax",
    symptom="What is computed is d_output - output * d_output.sum(-1): a row's gradients sum to "
    "zero, and an output of 0 lets its gradient through.",
    cause="The output is the softmax, not its logarithm: output * (d_output - (output * "
    "d_output).sum(-1, keepdim=True)).",
)
def of_the_logarithm(d_output: Tensor, output: Tensor, dot: Tensor) -> Tensor:
    return d_output - output * d_output.sum(dim=-1, keepdim=True)
