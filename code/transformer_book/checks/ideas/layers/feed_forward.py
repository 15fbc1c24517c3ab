"""Feed forward (chapter 11): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from transformer_book.checks.boundaries import RESIDUAL
from transformer_book.checks.components import AsClass, Case, Component, mistakes_in
from transformer_book.checks.given import normal


def feed_forward_cases() -> Sequence[Case]:
    def inputs(batch: int, length: int, d_model: int, d_ff: int, seed: int) -> tuple[Tensor, ...]:
        return (
            normal(batch, length, d_model, seed=seed),
            normal(d_ff, d_model, seed=seed + 1) / d_model**0.5,
            normal(d_ff, seed=seed + 2),
            normal(d_model, d_ff, seed=seed + 3) / d_ff**0.5,
            normal(d_model, seed=seed + 4),
        )

    by_hand = (
        torch.tensor([[[1.0, -1.0]]]),
        torch.eye(2),
        torch.zeros(2),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
        torch.tensor([10.0, 20.0]),
    )
    return (
        Case("by hand: two features", by_hand),
        Case("random", inputs(2, 3, 4, 8, 10)),
        Case("wider than deep", inputs(1, 5, 6, 2, 20)),
        Case("as wide inside as outside", inputs(5, 4, 4, 4, 30)),
        Case("one position", inputs(3, 1, 5, 7, 40)),
        Case(
            "large numbers, and a vector of zeros",
            (
                20 * normal(2, 2, 4, seed=50) * torch.tensor([[1.0], [0.0]]),
                *inputs(2, 2, 4, 8, 51)[1:],
            ),
        ),
        Case(
            "72 positions, one unit inside, numbers in the ten thousands",
            (5e4 * normal(2, 72, 2, seed=59), *inputs(2, 72, 2, 1, 60)[1:]),
        ),
        Case(
            "one feature, and no unit is open",
            (*inputs(1, 1, 1, 4, 80)[:2], torch.full((4,), -20.0), *inputs(1, 1, 1, 4, 80)[3:]),
        ),
    )


FEED_FORWARD_NAMES = ("linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias")


def feed_forward_class_cases() -> Sequence[Case]:
    return tuple(
        Case(
            case.name,
            (
                (x.size(-1), len(weights[0])),
                dict(zip(FEED_FORWARD_NAMES, weights, strict=True)),
                (x,),
            ),
        )
        for case in feed_forward_cases()
        for x, *weights in [case.arguments]
    )


FEED_FORWARD = Component(
    name="feed_forward",
    chapter=11,
    order=1,
    section="Two matrices and a bend, by hand",
    signature="x, w1, b1, w2, b2",
    pipeline=lambda s, x, w1, b1, w2, b2: s.second(s.activate(s.first(x, w1, b1), b1), w2, b2, x),
    steps={
        "first": lambda x, w, b: x @ w.T + b,
        "activate": lambda h, b: torch.relu(h),
        "second": lambda h, w, b, x: h @ w.T + b,
    },
    cases=feed_forward_cases,
    returns="`relu(x @ w1.T + b1) @ w2.T + b2`",
    as_class=AsClass(
        constructor="d_model, d_ff",
        forward="x",
        weights="`linear1.weight` (F, D), `linear1.bias` (F,), `linear2.weight` (D, F), "
        "`linear2.bias` (D,)",
        cases=feed_forward_class_cases,
        arguments=lambda sizes, weights, inputs: (*inputs, *weights.values()),
    ),
    met="worse",
    ready_made={"FeedForward": "layers.FeedForward.forward"},
    boundaries=RESIDUAL
    | {
        "as wide inside": lambda w1: w1.size(0) == w1.size(1),
        "narrower inside": lambda w1: w1.size(0) < w1.size(1),
        "activations beyond 6": lambda x, w1, b1: (x @ w1.T + b1).max() > 6,
        "activations beyond 100": lambda x, w1, b1: (x @ w1.T + b1).max() > 100,
        "no unit open": lambda x, w1, b1: (x @ w1.T + b1).max() < 0,
        "more than 64 positions": lambda x: x.size(1) > 64,
        "one unit inside": lambda w1: w1.size(0) == 1,
        "one feature": lambda x: x.size(-1) == 1,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(FEED_FORWARD)


@mistake(
    "activate",
    "activation forgotten",
    met=("worse", 11),
    symptom="The network is linear: two matrices in a row do no more than one.",
    cause="Hand relu(x @ w1.T + b1) to the second layer.",
)
def no_activation(h: Tensor, b: Tensor) -> Tensor:
    return h


@mistake(
    "activate",
    "GELU in place of ReLU",
    met=("harmless", 1),
    symptom="This is GELU where the book's check expects ReLU.",
    cause="Both are in use; this exercise asks for ReLU.",
    kind="convention",
)
def gelu(h: Tensor, b: Tensor) -> Tensor:
    return nn.functional.gelu(h)


@mistake(
    "activate",
    "approximate GELU in place of ReLU",
    symptom="This is GELU, by its approximation with tanh, where the check expects ReLU.",
    cause="Both are in use; this exercise asks for ReLU.",
    kind="convention",
)
def gelu_by_tanh(h: Tensor, b: Tensor) -> Tensor:
    return nn.functional.gelu(h, approximate="tanh")


@mistake(
    "activate",
    "activation after the second layer",
    symptom="No output is negative.",
    cause="ReLU belongs between the layers, not behind them.",
    steps={"second": lambda h, w, b, x: torch.relu(h @ w.T + b)},
)
def activated_late(h: Tensor, b: Tensor) -> Tensor:
    return h


@mistake(
    "second",
    "activation twice",
    symptom="No output is negative.",
    cause="ReLU stands between the two layers alone: take it off the output.",
)
def activated_twice(h: Tensor, w: Tensor, b: Tensor, x: Tensor) -> Tensor:
    return torch.relu(h @ w.T + b)


@mistake(
    "second",
    "residual inside the feed-forward network",
    symptom="x is added already here.",
    cause="Return the network's output alone: the layer around it adds x.",
)
def residual_inside(h: Tensor, w: Tensor, b: Tensor, x: Tensor) -> Tensor:
    return x + h @ w.T + b


@mistake(
    "second",
    "second bias forgotten",
    symptom="b2 changes nothing.",
    cause="Return what the second layer gives with b2 added: h @ w2.T + b2.",
)
def second_bias_forgotten(h: Tensor, w: Tensor, b: Tensor, x: Tensor) -> Tensor:
    return h @ w.T


@mistake(
    "first",
    "first bias forgotten",
    symptom="b1 changes nothing.",
    cause="Hand x @ w1.T + b1 to the ReLU.",
)
def first_bias_forgotten(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return x @ w.T


@mistake(
    "activate",
    "first bias behind the activation",
    symptom="b1 is added after the ReLU.",
    cause="relu(x @ w1.T + b1), not relu(x @ w1.T) + b1.",
    steps={"first": lambda x, w, b: x @ w.T},
)
def biased_late(h: Tensor, b: Tensor) -> Tensor:
    return torch.relu(h) + b


@mistake(
    "activate",
    "leaky ReLU in place of ReLU",
    symptom="Negative numbers are divided by 100, not set to zero.",
    cause="This is a leaky ReLU; the check asks for ReLU.",
)
def leaky(h: Tensor, b: Tensor) -> Tensor:
    return nn.functional.leaky_relu(h)


@mistake(
    "activate",
    "tanh in place of ReLU",
    symptom="No number between the layers is larger than one.",
    cause="This is tanh; the check asks for ReLU.",
)
def hyperbolic(h: Tensor, b: Tensor) -> Tensor:
    return torch.tanh(h)


@mistake(
    "activate",
    "sigmoid in place of ReLU",
    symptom="All numbers between the layers lie between zero and one.",
    cause="This is the sigmoid; the check asks for ReLU.",
)
def logistic(h: Tensor, b: Tensor) -> Tensor:
    return torch.sigmoid(h)
