"""Layer norm (chapter 10): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.checks.boundaries import RESIDUAL
from transformer_book.checks.components import AsClass, Case, Component, mistakes_in
from transformer_book.checks.given import normal


def layer_norm_pipeline(s, x, weight, bias, eps=1e-5):
    centred = x - s.mean(x)  # (…, D)
    normalised = s.divide(centred, s.variance(x), eps)  # (…, D)
    return s.scale(normalised, weight, bias)  # (…, D)


def layer_norm_cases() -> Sequence[Case]:
    def parameters(d_model: int, seed: int) -> tuple[Tensor, Tensor]:
        return 1 + 0.5 * normal(d_model, seed=seed), normal(d_model, seed=seed + 1)

    plain = torch.ones(4), torch.zeros(4)
    shift = normal(12, seed=35)
    far_out = torch.zeros(1, 2, 12)
    far_out[0, 0] = torch.arange(12.0) + 20000 * (torch.arange(12) == 3)
    return (
        Case("four numbers", (torch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), *plain)),
        Case(
            "two positions", (torch.tensor([[[1.0, 3.0, 5.0, 7.0], [0.0, 0.0, 4.0, 4.0]]]), *plain)
        ),
        Case("random vectors", (normal(4, 3, 1030, seed=1), *parameters(1030, 2))),
        Case("far from zero", (5 + 2 * normal(2, 4, 8, seed=3), *parameters(8, 4))),
        Case("small numbers, where ε counts", (0.01 * normal(2, 3, 6, seed=5), *parameters(6, 6))),
        Case("very small numbers", (0.001 * normal(2, 2, 4, seed=12), *parameters(4, 13))),
        Case(
            "small numbers, seven features", (0.002 * normal(1, 2, 7, seed=31), *parameters(7, 32))
        ),
        Case("a large ε", (normal(1, 3, 4, seed=7), *parameters(4, 8)), {"eps": 0.5}),
        Case("ε = 0.1", (normal(2, 2, 6, seed=14), *parameters(6, 15)), {"eps": 0.1}),
        Case("ε = 2", (normal(2, 2, 5, seed=16), *parameters(5, 17)), {"eps": 2.0}),
        Case(
            "equal numbers: the variance is zero", (torch.full((1, 2, 4), 3.0), *parameters(4, 9))
        ),
        Case("as many positions as features", (normal(3, 5, 5, seed=10), *parameters(5, 11))),
        # The mean of such numbers is exact; the mean of their squares is not.
        Case(
            "close together, far from zero",
            (300 + torch.tensor([[[5.0, 77.0, 33.0, 130.0]]]) / 64, *parameters(4, 18)),
            rough=True,
        ),
        Case(
            "another such vector",
            (torch.tensor([[[11.0, 3.0, 90.0, 121.0]]]) / 64 - 350, *parameters(4, 20)),
            rough=True,
        ),
        Case(
            "two such vectors",
            (280 + torch.tensor([[[7.0, 151.0]], [[99.0, 3.0]]]) / 64, *parameters(2, 22)),
            rough=True,
        ),
        Case(
            "positions whose means cancel",
            (torch.tensor([[[1.0, 2.0, 6.0], [-1.0, -2.0, -6.0]]]), *parameters(3, 24)),
        ),
        # The gradient of RMSNorm, which may stand here, is a difference that rounding decides.
        Case("one feature", (normal(2, 3, 1, seed=26), *parameters(1, 27)), rough=True),
        Case("more positions than features", (normal(2, 70, 3, seed=29), *parameters(3, 30))),
        Case("ε = 0", (0.01 * normal(1, 2, 4, seed=33), *parameters(4, 34)), {"eps": 0.0}),
        Case(
            "one number far out, a position of zeros, a weight of zero",
            (far_out, torch.arange(12.0) - 3, shift),
        ),
    )


def layer_norm_class_cases() -> Sequence[Case]:
    return tuple(
        replace(case, arguments=((x.size(-1),), {"weight": weight, "bias": bias}, (x,)))
        for case in layer_norm_cases()
        if not case.keywords  # a class keeps its own ε
        for x, weight, bias in [case.arguments]
    )


LAYER_NORM = Component(
    name="layer_norm",
    chapter=10,
    order=1,
    section="Layer norm, by hand",
    signature="x, weight, bias, eps=1e-5",
    pipeline=layer_norm_pipeline,
    steps={
        "mean": lambda x: x.mean(dim=-1, keepdim=True),
        "variance": lambda x: x.var(dim=-1, keepdim=True, unbiased=False),
        "divide": lambda centred, variance, eps: centred / torch.sqrt(variance + eps),
        "scale": lambda x, weight, bias: weight * x + bias,
    },
    cases=layer_norm_cases,
    returns="`(B, T, D)`, each position's features with mean 0 and variance 1, scaled and shifted",
    as_class=AsClass(
        constructor="d_model",
        forward="x",
        weights="`weight` and `bias`, both (D,); ε is 1e-5",
        cases=layer_norm_class_cases,
        arguments=lambda sizes, weights, inputs: (*inputs, *weights.values()),
    ),
    met="worse",
    ready_made={
        "F.layer_norm": F.layer_norm,
        "torch.layer_norm": torch.layer_norm,
        "torch.native_layer_norm": torch.native_layer_norm,
        "F.rms_norm": F.rms_norm,
        "F.group_norm": F.group_norm,
        "F.instance_norm": F.instance_norm,
        "F.batch_norm": F.batch_norm,
        "LayerNorm": "layers.LayerNorm.forward",
    },
    boundaries=RESIDUAL
    | {
        "ε counts": lambda x: (x.var(-1, unbiased=False) < 1e-4).any(),
        "no variance": lambda x: (x.var(-1, unbiased=False) == 0).any(),
        "another ε": lambda eps: eps is not None and eps != 1e-5,
        "far from zero": lambda x: x.size(-1) > 1 and (x.mean(-1).abs() > 1000 * x.std(-1)).any(),
        "one feature": lambda x: x.size(-1) == 1,
        "an ε below 1e-5": lambda eps: eps is not None and eps < 1e-5,
        "one number far out": lambda x: (
            (x - x.mean(-1, keepdim=True)).abs() > 3 * x.std(-1, keepdim=True)
        ).any(),
        "a variance beyond half precision": lambda x: (x.var(-1, unbiased=False) > 65504).any(),
        "a position of zeros": lambda x: (x == 0).all(-1).any(),
        "a weight of zero": lambda weight: (weight == 0).any(),
        "more than eight positions": lambda x: x.size(1) > 8,
        "means that cancel": lambda x: x.mean().abs() < 1e-6 and (x.mean(-1).abs() > 0.1).any(),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(LAYER_NORM)


@mistake(
    "mean",
    "layer norm over two axes",
    met=("batch", 5),
    symptom="A position's output changes with the other positions, padding included.",
    cause="Mean and variance are taken over positions and features: take them over the features "
    "only, dim=-1.",
    section="Break it: statistics over the wrong axes",
    steps={"variance": lambda x: x.var(dim=(-2, -1), keepdim=True, unbiased=False)},
    seen="Fix layernorm bug in baseline transformer, "
    "https://github.com/Qualcomm-AI-research/geometric-algebra-transformer/pull/8",
)
def mean_over_two_axes(x: Tensor) -> Tensor:
    return x.mean(dim=(-2, -1), keepdim=True)


@mistake(
    "mean",
    "layer norm over the positions",
    met=("batch", 11),
    symptom="Before weight and bias, each feature has mean 0 over the sentence.",
    cause="Take mean and variance over the features, the last axis, not over the positions.",
    section="Break it: statistics over the wrong axes",
    steps={"variance": lambda x: x.var(dim=1, keepdim=True, unbiased=False)},
    seen="Correct LayerNormalization, "
    "https://github.com/jadore801120/attention-is-all-you-need-pytorch/pull/17",
)
def mean_over_positions(x: Tensor) -> Tensor:
    return x.mean(dim=1, keepdim=True)


@mistake(
    "mean",
    "mean not subtracted",
    symptom="The mean stays in the features, divided like the rest.",
    cause="Subtract the mean of the features first. (RMSNorm, another norm, does not.)",
)
def no_mean(x: Tensor) -> Tensor:
    return torch.zeros_like(x[..., :1])


@mistake(
    "mean",
    "RMS norm without the bias",
    symptom="The vectors are divided by their root mean square, and nothing is added.",
    cause="This is RMSNorm, another norm that works as well; layer norm subtracts the mean first "
    "and adds a bias at the end.",
    kind="convention",
    steps={
        "variance": lambda x: x.square().mean(dim=-1, keepdim=True),
        "scale": lambda x, weight, bias: weight * x,
    },
)
@mistake(
    "mean",
    "RMS norm in place of layer norm",
    symptom="The vectors are divided by their root mean square, and their mean is not subtracted.",
    cause="This is RMSNorm, another norm that works as well; layer norm subtracts the mean "
    "first. Weights do not fit from one to the other.",
    kind="convention",
    steps={"variance": lambda x: x.square().mean(dim=-1, keepdim=True)},
)
def rms(x: Tensor) -> Tensor:
    return torch.zeros_like(x[..., :1])


@mistake(
    "variance",
    "variance with Bessel's correction",
    met=("harmless", 7),
    symptom="Before weight and bias, vectors of several features come out too small: by √((D − "
    "1)/D), where ε does not count.",
    cause="Divide the sum of the squares by D, not by D − 1: torch.var and torch.std do so with "
    "unbiased=False.",
    section="Break it: ε outside the root, and the other variance",
    seen="Is there any reason we used a different LayerNorm implementation?, "
    "https://github.com/harvardnlp/annotated-transformer/issues/122",
)
def bessel(x: Tensor) -> Tensor:
    return x.var(dim=-1, keepdim=True)


@mistake(
    "divide",
    "ε outside the root",
    met=("harmless", 8),
    symptom="With a small ε, vectors of a small variance come out too large, before weight and "
    "bias.",
    cause="Add ε to the variance, inside the root, not to the standard deviation.",
    section="Break it: ε outside the root, and the other variance",
    seen="The LayerNorm implementation, https://github.com/codertimo/BERT-pytorch/issues/30",
)
def epsilon_outside(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / (variance.sqrt() + eps)


@mistake(
    "divide",
    "ε forgotten",
    met=("nan", 4),
    symptom="A vector of zeros gives nan, and one of hardly any variance is enlarged too much.",
    cause="Add ε to the variance, inside the root, so that nothing is divided by zero.",
    section="Break it: ε outside the root, and the other variance",
)
def epsilon_forgotten(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / variance.sqrt()


@mistake(
    "divide",
    "ε fixed",
    met=("harmless", 9),
    symptom="The argument eps changes nothing.",
    cause="ε is 1e-5, whatever eps is: use eps.",
    section="Break it: ε outside the root, and the other variance",
)
def epsilon_fixed(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / torch.sqrt(variance + 1e-5)


@mistake(
    "divide",
    "divided by the variance",
    symptom="Vectors with a variance above 1 come out too small, before weight and bias.",
    cause="Divide by the root of the variance (plus ε).",
)
def root_forgotten(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / (variance + eps)


@mistake(
    "scale",
    "scale and shift forgotten",
    symptom="The parameters change nothing.",
    cause="Multiply by the weight and add the bias.",
)
def unscaled(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return x


@mistake(
    "scale",
    "shifted before it is scaled",
    symptom="The bias is multiplied by the weight.",
    cause="Multiply first, then add: weight * x + bias, not weight * (x + bias).",
)
def shifted_first(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return weight * (x + bias)


@mistake(
    "scale",
    "weight and bias exchanged",
    symptom="The bias scales and the weight shifts.",
    cause="Weight and bias have changed places: multiply by the weight, and add the bias.",
)
def exchanged(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return bias * x + weight


@mistake(
    "scale",
    "bias added twice",
    symptom="The bias counts twice.",
    cause="Add it once: weight * x + bias. (F.layer_norm adds the bias that it is given.)",
)
def bias_twice(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return weight * x + 2 * bias


@mistake(
    "scale",
    "β starting at one",
    symptom="Every output is too large by one.",
    cause="Add the bias and nothing else; it starts at zero.",
)
def one_more(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return weight * x + bias + 1


@mistake(
    "mean",
    "layer norm over the batch",
    symptom="A sentence's output changes with the other sentences.",
    cause="Take mean and variance over the features, the last axis, not over the batch.",
    section="Break it: statistics over the wrong axes",
    steps={"variance": lambda x: x.var(dim=0, keepdim=True, unbiased=False)},
)
def mean_over_batch(x: Tensor) -> Tensor:
    return x.mean(dim=0, keepdim=True)


@mistake(
    "mean",
    "layer norm over everything",
    symptom="A position's output changes with all others, in all sentences.",
    cause="Take mean and variance for each position, over the last axis: dim=-1, keepdim=True.",
    section="Break it: statistics over the wrong axes",
    steps={"variance": lambda x: x.var(unbiased=False)},
)
def mean_over_everything(x: Tensor) -> Tensor:
    return x.mean()


@mistake(
    "mean",
    "layer norm over batch and positions",
    symptom="Before weight and bias, each feature has mean 0 over the whole batch: this is batch "
    "norm.",
    cause="Take mean and variance over the features, the last axis, not over batch and positions.",
    section="Break it: statistics over the wrong axes",
    steps={"variance": lambda x: x.var(dim=(0, 1), keepdim=True, unbiased=False)},
)
def mean_over_sentences(x: Tensor) -> Tensor:
    return x.mean(dim=(0, 1), keepdim=True)


@mistake(
    "scale",
    "a norm without its bias",
    symptom="The bias changes nothing.",
    cause="Add the bias at the end: weight * x + bias.",
)
def bias_forgotten(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return weight * x


@mistake(
    "scale",
    "a norm without its weight",
    symptom="The weight changes nothing.",
    cause="Multiply by the weight: weight * x + bias.",
)
def weight_forgotten(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return x + bias


@mistake(
    "divide",
    "not divided at all",
    symptom="Before weight and bias, the features have mean 0, and the variance they had.",
    cause="Divide by the root of the variance (plus ε).",
)
def not_divided(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred


@mistake(
    "variance",
    "variance as mean of squares minus square of the mean",
    symptom="Numbers close together and far from zero can come out wrong: the digits cancel.",
    cause="Subtract the mean first, then take the mean of the squares.",
)
def cancelling(x: Tensor) -> Tensor:
    return x.square().mean(dim=-1, keepdim=True) - x.mean(dim=-1, keepdim=True).square()


@mistake(
    "divide",
    "ε fixed at 1e-12",
    symptom="Where ε should be 1e-5, vectors of a small variance come out too large.",
    cause="Add the eps that is handed in, and 1e-5 if none is, to the variance, inside the root: "
    "as little as 1e-12 hardly counts.",
    section="Break it: ε outside the root, and the other variance",
)
def epsilon_of_bert(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / torch.sqrt(variance + 1e-12)


@mistake(
    "divide",
    "ε fixed at 1e-6",
    symptom="Where ε should be 1e-5, vectors of a small variance come out too large.",
    cause="Take the eps that is handed in, and 1e-5 if none is, not 1e-6.",
    section="Break it: ε outside the root, and the other variance",
)
def epsilon_of_a_millionth(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / torch.sqrt(variance + 1e-6)


@mistake(
    "divide",
    "root of the standard deviation",
    symptom="Vectors with a variance above 1 come out too large, before weight and bias.",
    cause="The standard deviation is a root already: take one root, of the variance plus ε.",
    seen="LayerNorm implement, https://github.com/hyunwoongko/transformer/issues/7",
)
def root_twice(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / torch.sqrt(variance.sqrt() + eps)


@mistake(
    "divide",
    "squared in place of the root",
    symptom="Vectors with a variance above 1 come out too small, before weight and bias.",
    cause="Divide by the root of the variance plus ε, not by its square.",
    seen="Question about layernorm?, "
    "https://github.com/131250208/TPlinker-joint-extraction/issues/37",
)
def squared_not_rooted(centred: Tensor, variance: Tensor, eps: float) -> Tensor:
    return centred / (variance + eps) ** 2
