"""Layer norm parameters (chapter 10): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.boundaries import longer_than, on
from transformer_book.checks.classes import Seen
from transformer_book.checks.components import Case, Component, mistakes_in


def observe_parameters(function: Callable[..., Any]) -> Callable[..., Any]:
    """What is returned, and whether an update of one number would change another."""

    def observed(d_model: int) -> Any:
        found = function(d_model)
        if not isinstance(found, (tuple, list)) or not all(isinstance(t, Tensor) for t in found):
            return found
        before = [tensor.detach().clone() for tensor in found]
        others = [tensor.detach() for tensor in function(d_model) if isinstance(tensor, Tensor)]
        apart = [tensor.clone() for tensor in others]
        for now, then in zip(found, before, strict=True):
            if now.numel():
                now.detach().flatten()[:1].add_(1)
            if not torch.equal(now.detach().flatten()[1:], then.flatten()[1:]):
                raise Seen("An update of one feature's number changes those of others, too")
        if not all(map(torch.equal, others, apart)):
            raise Seen("An update of one layer's numbers changes those of another, too")
        return tuple(before)

    return observed


LAYER_NORM_PARAMETERS = Component(
    name="layer_norm_parameters",
    chapter=10,
    order=2,
    section="Layer norm, by hand",
    signature="d_model",
    pipeline=lambda s, d_model: (s.scale(d_model), s.shift(d_model)),
    steps={"scale": torch.ones, "shift": torch.zeros},
    cases=lambda: tuple(
        Case(f"d_model = {d_model}", (d_model,)) for d_model in (4, 1, 2, 7, 1030, 8196)
    ),
    returns="the weight (γ) and the bias (β) of a layer norm before training, both `(D,)`, and "
    "each of the D numbers one of its own, which no other layer shares",
    differentiable=False,
    observe=observe_parameters,
    done_by="LayerNorm",
    met="worse",
    boundaries={
        "one feature": lambda d_model: d_model == 1,
        "several features": lambda d_model: d_model > 1,
        **on("d_model", longer_than((512, 1024, 2048), int)),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(LAYER_NORM_PARAMETERS)


@mistake(
    "shift",
    "bias that starts at one",
    symptom="A fresh layer norm gives vectors of mean 1.",
    cause="β starts at zero (and γ at one), in two tensors that share no numbers.",
)
def starting_at_one(d_model: int) -> Tensor:
    return torch.ones(d_model)


@mistake(
    "scale",
    "starts of weight and bias exchanged",
    symptom="A fresh layer norm gives nothing but ones.",
    cause="γ starts at one and β at zero: return γ first.",
    steps={"shift": torch.ones},
)
@mistake(
    "scale",
    "weight that starts at zero",
    met=("flat", 6),
    symptom="A fresh layer norm gives nothing but zeros.",
    cause="γ starts at one (and β at zero), in two tensors that share no numbers.",
)
def starting_at_zero(d_model: int) -> Tensor:
    return torch.zeros(d_model)


@mistake(
    "scale",
    "one number for all features",
    symptom="There is one weight and one bias for all features.",
    cause="Make one for each feature: torch.ones(d_model) and torch.zeros(d_model).",
    steps={"shift": lambda d_model: torch.zeros(1)},
)
def one_number(d_model: int) -> Tensor:
    return torch.ones(1)


@mistake(
    "scale",
    "a matrix for the weight",
    symptom="The weight is a matrix, (D, D).",
    cause="Features are scaled one by one: D numbers, torch.ones(d_model).",
)
def identity_matrix(d_model: int) -> Tensor:
    return torch.eye(d_model)
