"""Layer norm backward (chapter 29): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def layer_norm_backward_pipeline(s, d_output, x, weight, eps=1e-5):
    deviation = s.deviation(x, eps)  # (B, T, 1)
    normal = (x - x.mean(dim=-1, keepdim=True)) / deviation  # (B, T, D)
    d_normal = s.scale(d_output, weight)  # (B, T, D)
    d_centred = s.combine(d_normal, s.first(d_normal), normal, s.second(normal, d_normal))
    d_x = s.divide(d_centred, deviation)  # (B, T, D)
    return d_x, s.weight(d_output, normal, x, d_normal), s.bias(d_output, d_normal)


def layer_norm_backward_cases() -> Sequence[Case]:
    def case(name: str, *shape: int, seed: int, size: float = 1.0, **keywords: float) -> Case:
        d_output, x = normal(*shape, seed=seed), size * normal(*shape, seed=seed + 1)
        weight = 1 + 0.5 * normal(shape[-1], seed=seed + 2)
        return Case(name, (d_output, x, weight), keywords)

    word = torch.tensor([[[15.0, 1.0, 9.0, 7.0]]]), torch.ones(4)
    alike = torch.tensor([[[2.0, 2.0, 2.0, 2.0], [1.0, 2.0, 4.0, 0.0]]])
    unread = normal(1, 2, 4, seed=22)
    unread[:, 1] = 0.0  # nothing that follows has read this position
    return (
        Case("with a pencil", (torch.tensor([[[2.0, 0.0, 0.0, 2.0]]]), *word)),
        case("two words", 1, 2, 3, seed=1, size=3),
        case("two sentences", 2, 3, 1030, seed=4, size=0.5),
        case("as many words as features", 2, 4, 4, seed=7, size=2000),
        case("ε = 0.5", 1, 3, 4, seed=10, eps=0.5),
        case("ε = 0.1", 2, 2, 6, seed=13, eps=0.1),
        case("ε = 2", 3, 2, 5, seed=16, eps=2.0),
        Case(
            "equal features, and a weight of 0",
            (normal(1, 2, 4, seed=20), alike, torch.tensor([1.0, 0.0, -1.0, 2.0])),
        ),
        Case(
            "close together, far from zero beside that, ε = 0",
            (unread, 2 + 0.01 * normal(1, 2, 4, seed=33), 1 + 0.5 * normal(4, seed=23)),
            {"eps": 0.0},
        ),
        case("more positions than features, 150 of them", 5, 30, 3, seed=25),
    )


LAYER_NORM_BACKWARD = Component(
    name="layer_norm_backward",
    chapter=29,
    order=4,
    section="Layer norm: two means",
    signature="d_output, x, weight, eps=1e-5",
    pipeline=layer_norm_backward_pipeline,
    steps={
        "deviation": lambda x, eps: (x.var(dim=-1, keepdim=True, unbiased=False) + eps).sqrt(),
        "scale": lambda d_output, weight: d_output * weight,
        "first": lambda d_normal: d_normal.mean(dim=-1, keepdim=True),
        "second": lambda normal, d_normal: (normal * d_normal).mean(dim=-1, keepdim=True),
        "combine": lambda d_normal, first, normal, second: d_normal - first - normal * second,
        "divide": lambda d_centred, deviation: d_centred / deviation,
        "weight": lambda d_output, normal, x, d_normal: (d_output * normal).sum(dim=(0, 1)),
        "bias": lambda d_output, d_normal: d_output.sum(dim=(0, 1)),
    },
    cases=layer_norm_backward_cases,
    returns="the gradients of x `(B, T, D)`, of the weight and of the bias, both `(D,)`",
    differentiable=False,  # it is a gradient itself
    met="worse",
    boundaries={
        "equal features": lambda x: bool((x == x[..., :1]).all(-1).any()),
        "a weight of 0": lambda weight: bool((weight == 0).any()),
        "ε = 0": lambda eps: eps == 0,
        "a mean far beyond the deviation": lambda x: bool(
            ((x.std(-1) > 0) & (x.mean(-1).abs() > 50 * x.std(-1))).any()
        ),
        "a gradient of zeros": lambda d_output: bool((d_output == 0).all(-1).any()),
        "more positions than features": lambda x: x.size(1) > x.size(2),
        "more than 64 positions in all": lambda x: x.size(0) * x.size(1) > 64,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(LAYER_NORM_BACKWARD)


@mistake(
    "first",
    "the norm's first mean forgotten",
    symptom="The gradient of x does not sum to zero over the features.",
    cause="Every feature moves μ: subtract the mean of the gradients of the normalised vector.",
)
def no_first(d_normal: Tensor) -> Tensor:
    return torch.zeros_like(d_normal[..., :1])


@mistake(
    "second",
    "the norm's second mean forgotten",
    symptom="The gradient of x keeps its part along the normalised vector.",
    cause="The deviation depends on x: subtract n times the mean of n * dn.",
)
def no_second(normal: Tensor, d_normal: Tensor) -> Tensor:
    return torch.zeros_like(d_normal[..., :1])


@mistake(
    "combine",
    "both means of the norm forgotten",
    symptom="Mean and deviation are treated as constants.",
    cause="Both depend on x: subtract the mean of dn, and n times the mean of n * dn.",
)
def no_means(d_normal: Tensor, first: Tensor, normal: Tensor, second: Tensor) -> Tensor:
    return d_normal


@mistake(
    "combine",
    "second mean not multiplied by n",
    symptom="The second mean is subtracted from every feature alike.",
    cause="Subtract n times the second mean, n being the normalised vector.",
)
def n_forgotten(d_normal: Tensor, first: Tensor, normal: Tensor, second: Tensor) -> Tensor:
    return d_normal - first - second


@mistake(
    "combine",
    "second mean added",
    symptom="The second mean has the wrong sign.",
    cause="A larger deviation makes the normalised vector smaller: take dn minus the first mean "
    "minus n times the second.",
)
def second_added(d_normal: Tensor, first: Tensor, normal: Tensor, second: Tensor) -> Tensor:
    return d_normal - first + normal * second


@mistake(
    "first",
    "sum in place of the first mean",
    symptom="The first mean is too large, by the number of features.",
    cause="μ is a mean, so each feature moves it by 1/D: mean, not sum.",
)
def first_sum(d_normal: Tensor) -> Tensor:
    return d_normal.sum(dim=-1, keepdim=True)


@mistake(
    "second",
    "sum in place of the second mean",
    symptom="What is subtracted along n is too large, by the number of features.",
    cause="The variance is a mean: take the mean of n * dn, not the sum.",
)
def second_sum(normal: Tensor, d_normal: Tensor) -> Tensor:
    return (normal * d_normal).sum(dim=-1, keepdim=True)


@mistake(
    "scale",
    "γ forgotten in the gradient of x",
    symptom="The gradient of x does not know the weight.",
    cause="On the way back to x, the gradient is multiplied by γ first.",
)
def no_gamma(d_output: Tensor, weight: Tensor) -> Tensor:
    return d_output


@mistake(
    "divide",
    "not divided by the deviation",
    symptom="The gradient of x has the wrong size.",
    cause="The vector was divided by its deviation: divide the gradient, too.",
)
def not_divided(d_centred: Tensor, deviation: Tensor) -> Tensor:
    return d_centred


@mistake(
    "divide",
    "divided by the variance on the way back",
    symptom="The gradient of x is divided by the deviation twice.",
    cause="Divide by the deviation once; n is normalised already.",
)
def divided_twice(d_centred: Tensor, deviation: Tensor) -> Tensor:
    return d_centred / deviation**2


@mistake(
    "deviation",
    "ε forgotten on the way back",
    symptom="The argument eps changes nothing.",
    cause="Add ε to the variance inside the root, as on the way forward: sqrt(σ² + ε).",
)
def no_eps(x: Tensor, eps: float) -> Tensor:
    return x.var(dim=-1, keepdim=True, unbiased=False).sqrt()


@mistake(
    "weight",
    "γ's gradient from the raw input",
    symptom="The gradient of the weight is made of x, not of the normalised vector.",
    cause="γ multiplies the normalised vector: sum d_output * n.",
)
def raw(d_output: Tensor, normal: Tensor, x: Tensor, d_normal: Tensor) -> Tensor:
    return (d_output * x).sum(dim=(0, 1))


@mistake(
    "weight",
    "γ multiplied into its own gradient",
    symptom="The gradient of the weight contains the weight.",
    cause="d_output belongs here, not γ * d_output.",
)
def own_gamma(d_output: Tensor, normal: Tensor, x: Tensor, d_normal: Tensor) -> Tensor:
    return (d_normal * normal).sum(dim=(0, 1))


@mistake(
    "weight",
    "γ's gradient averaged",
    symptom="The gradient of the weight is B · T times too small.",
    cause="γ serves every position: the gradients add.",
)
def gamma_mean(d_output: Tensor, normal: Tensor, x: Tensor, d_normal: Tensor) -> Tensor:
    return (d_output * normal).mean(dim=(0, 1))


def over_everything(value: Tensor) -> Tensor:
    return value.sum() / value.size(-1)


@mistake(
    "first",
    "the norm's two sums over all rows",
    symptom="The gradient of a position depends on those of all others.",
    cause="Each position has its own two means: sum over the features alone, dim=-1.",
    steps={"second": lambda normal, d_normal: over_everything(normal * d_normal)},
    seen="[bugfix] fix error in layer_norm_backward_kernel, "
    "https://github.com/flagos-ai/FlagGems/pull/59",
)
def sums_of_all_rows(d_normal: Tensor) -> Tensor:
    return over_everything(d_normal)


def over_the_sentence(value: Tensor) -> Tensor:
    return value.mean(dim=(1, 2), keepdim=True)


@mistake(
    "first",
    "the norm's two means over the whole sentence",
    symptom="The gradient of a position depends on those of its sentence.",
    cause="Take both means over the features alone, dim=-1, and not over the positions, too.",
    steps={"second": lambda normal, d_normal: over_the_sentence(normal * d_normal)},
    seen="layer_norm_backward assumes 2-D input: silently wrong gradients + out-of-bounds writes "
    "for rank ≥ 3 inputs, https://github.com/flagos-ai/FlagGems/issues/5392",
)
def means_of_the_sentence(d_normal: Tensor) -> Tensor:
    return over_the_sentence(d_normal)


@mistake(
    "bias",
    "γ multiplied into the gradient of β",
    symptom="The gradient of the bias contains the weight.",
    cause="β is added after γ: its gradient is the sum of d_output.",
)
def gamma_in_beta(d_output: Tensor, d_normal: Tensor) -> Tensor:
    return d_normal.sum(dim=(0, 1))
