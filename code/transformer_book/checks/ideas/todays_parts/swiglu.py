"""Swiglu (chapter 25): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def swiglu_pipeline(s, x, w_gate, w_value, w_output):
    gate, value = s.gate(x, w_gate, w_value), s.value(x, w_value, w_gate)  # (…, F) each
    hidden = s.combine(s.open(gate, value), s.pass_on(value, gate), gate)  # (…, F)
    return s.output(hidden, w_output, x)  # (…, D)


def swiglu_cases() -> Sequence[Case]:
    def inputs(batch: int, length: int, d_model: int, d_ff: int, seed: int) -> tuple[Tensor, ...]:
        return (
            normal(batch, length, d_model, seed=seed),
            normal(d_ff, d_model, seed=seed + 1) / d_model**0.5,
            normal(d_ff, d_model, seed=seed + 2) / d_model**0.5,
            normal(d_model, d_ff, seed=seed + 3) / d_ff**0.5,
        )

    by_hand = (
        torch.tensor([[[1.0, -1.0]]]),
        torch.tensor([[2.0, 0.0], [0.0, 2.0]]),
        torch.tensor([[3.0, 1.0], [1.0, 3.0]]),
        torch.eye(2),
    )
    far = torch.tensor([[60.0, -60.0], [-10.0, 10.0], [40.0, -20.0]])  # gates of 120, -20 and 60
    long, *inside = inputs(2, 70, 2, 1, 63)
    long[0, 1] = 0.0
    return (
        Case("by hand: two features", by_hand),
        Case("random", inputs(2, 3, 4, 70, 10)),
        Case("wider than deep", inputs(1, 5, 6, 2, 20)),
        Case("as wide inside as outside", inputs(2, 4, 4, 4, 30)),
        Case("one position", inputs(3, 1, 5, 7, 40)),
        Case("large numbers", (5 * normal(2, 2, 4, seed=50), *inputs(2, 2, 4, 8, 51)[1:])),
        Case("gates far from 0", (by_hand[0], far, normal(3, 2, seed=61), normal(2, 3, seed=62))),
        Case("70 positions, one unit inside, and a position of zeros", (long, *inside)),
        Case("one feature at one place", inputs(1, 1, 1, 3, 90)),
    )


def silu(z: Tensor) -> Tensor:
    return z * torch.sigmoid(z)


SWIGLU = Component(
    name="swiglu",
    chapter=25,
    order=3,
    section="SwiGLU, by hand",
    signature="x, w_gate, w_value, w_output",
    pipeline=swiglu_pipeline,
    steps={
        "gate": lambda x, w_gate, w_value: x @ w_gate.T,
        "value": lambda x, w_value, w_gate: x @ w_value.T,
        "open": lambda gate, value: silu(gate),
        "pass_on": lambda value, gate: value,
        "combine": lambda opened, value, gate: opened * value,
        "output": lambda hidden, w_output, x: hidden @ w_output.T,
    },
    cases=swiglu_cases,
    returns="`(silu(x @ w_gate.T) * (x @ w_value.T)) @ w_output.T`, `(B, T, D)`",
    met="worse",
    boundaries={
        "a gate beyond 88": lambda x, w_gate: (x @ w_gate.T).max() > 88,
        "more than 64 positions": lambda x: x.size(1) > 64,
        "one unit inside": lambda w_gate: w_gate.size(0) == 1,
        "one feature": lambda x: x.size(-1) == 1,
        "a position of zeros": lambda x: (x == 0).all(-1).any(),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(SWIGLU)


@mistake(
    "open",
    "gate and value exchanged",
    symptom="The activation is on the other of the two products.",
    cause="silu is taken of x @ w_value.T: it belongs to x @ w_gate.T.",
    steps={"pass_on": lambda value, gate: gate},
)
def value_opened(gate: Tensor, value: Tensor) -> Tensor:
    return silu(value)


@mistake(
    "open",
    "sigmoid in place of SiLU",
    symptom="The gate lies between 0 and 1.",
    cause="The gate is sigmoid(z), which makes this GLU: SwiGLU's is z · sigmoid(z).",
)
def sigmoid_gate(gate: Tensor, value: Tensor) -> Tensor:
    return torch.sigmoid(gate)


@mistake(
    "open",
    "GELU in place of SiLU",
    symptom="The gate is off by less than 0.2.",
    cause="The gate is GELU(z), which makes this GeGLU: it works, too, but it is another network.",
    kind="convention",
)
def gelu_gate(gate: Tensor, value: Tensor) -> Tensor:
    return torch.nn.functional.gelu(gate)


@mistake(
    "open",
    "ReLU in place of SiLU",
    symptom="The gate is 0 wherever its product is negative.",
    cause="The gate is ReLU(z), which makes this ReGLU: it works, too, but it is another network.",
    kind="convention",
)
def relu_gate(gate: Tensor, value: Tensor) -> Tensor:
    return torch.relu(gate)


@mistake(
    "open",
    "activation of the gate forgotten",
    symptom="The network is a product of two linear maps: it is the same for x and −x.",
    cause="Take silu of the gate: silu(x @ w_gate.T).",
)
def bare_gate(gate: Tensor, value: Tensor) -> Tensor:
    return gate


@mistake(
    "combine",
    "gate added in place of multiplied",
    symptom="The value passes even where the gate is closed.",
    cause="Multiply the two: silu(x @ w_gate.T) * (x @ w_value.T).",
)
def added(opened: Tensor, value: Tensor, gate: Tensor) -> Tensor:
    return opened + value


@mistake(
    "combine",
    "activation after the product of both",
    symptom="The hidden numbers are never below −0.28.",
    cause="silu is taken of the product of gate and value: take it of the gate, before.",
)
def activated_last(opened: Tensor, value: Tensor, gate: Tensor) -> Tensor:
    return silu(gate * value)


@mistake(
    "pass_on",
    "activation on gate and value",
    symptom="Neither factor is ever below −0.28.",
    cause="An activation is taken of the value, too: let the value through as it is.",
)
def value_activated(value: Tensor, gate: Tensor) -> Tensor:
    return silu(value)


@mistake(
    "value",
    "no value for the gate to open",
    symptom="`w_value` has no effect: this is a network of two matrices, with SiLU between them.",
    cause="The value is missing: multiply silu(x @ w_gate.T) by it, x @ w_value.T.",
)
def without_value(x: Tensor, w_value: Tensor, w_gate: Tensor) -> Tensor:
    return torch.ones_like(x @ w_gate.T)


@mistake(
    "value",
    "one matrix for gate and value",
    symptom="`w_value` has no effect.",
    cause="Multiply the activated gate by the value, x @ w_value.T.",
)
def same_matrix(x: Tensor, w_value: Tensor, w_gate: Tensor) -> Tensor:
    return x @ w_gate.T
