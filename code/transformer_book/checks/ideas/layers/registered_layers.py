"""Registered layers (chapter 14): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def observe_module(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a module computes, and what it knows of the layers that it was given."""

    def observed(x: Tensor, n_layers: int, dropout: bool) -> dict[str, Any]:
        layers: list[nn.Module] = []
        for i in range(n_layers):
            if dropout and i == 1:
                layers.append(nn.Dropout())
            layer = nn.Linear(x.size(-1), x.size(-1))
            with torch.no_grad():
                for weight in layer.parameters():
                    weight.copy_(normal(*weight.shape, seed=10 * i + weight.dim()))
            layers.append(layer)
        given = list(layers)
        module = function(given)
        # An optimizer is made of it before it is called for the first time.
        trained = {id(p) for p in module.parameters() if p.requires_grad}
        parts = list(module.modules())
        output = module(x)
        found = {"the output": output.detach()}
        if output.requires_grad:
            output.sum().backward()
        module.eval()
        found |= {
            "layers whose weights parameters() lists": sum(
                any(id(parameter) in trained for parameter in layer.parameters())
                for layer in layers
            ),
            "tensors that are saved": len(module.state_dict()),
            "layers that modules() lists before a call": sum(
                any(layer is known for known in parts) for layer in layers
            ),
            "layers in evaluation mode": sum(not layer.training for layer in layers),
            "the output in evaluation mode": module(x).detach(),
        }
        module.train(True)
        return {
            **found,
            "layers in training mode again": sum(layer.training for layer in layers),
            "layers that a gradient reaches": sum(
                any(parameter.grad is not None for parameter in layer.parameters())
                for layer in layers
            ),
            "layers left in the list that was given": len(given),
        }

    return observed


class Chain(nn.Module):
    """Applies layers one after the other; `kept` are those that the module knows."""

    def __init__(self, layers: Sequence[nn.Module], kept: nn.Module | None):
        super().__init__()
        self.applied = tuple(layers)
        self.kept = kept

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.applied:
            x = layer(x)
        return x


def chain_cases() -> Sequence[Case]:
    return tuple(
        Case(
            f"{n} layers, {d} features{', and dropout' * dropout}",
            (normal(2, 3, d, seed=n + d), n, dropout),
        )
        for dropout, sizes in (
            (False, ((2, 2), (3, 3), (1, 4), (4, 2), (6, 3), (0, 5))),
            (True, ((2, 3), (3, 2), (5, 4))),
            (False, ((12, 2),)),  # as text, "10" stands before "2"
        )
        for n, d in sizes
    )


REGISTERED = Component(
    name="registered_layers",
    chapter=14,
    order=2,
    section="Break it: N layers that are one",
    signature="layers",
    pipeline=lambda s, layers: Chain(s.order(layers), s.keep(layers)),
    steps={"order": lambda layers: layers, "keep": lambda layers: nn.ModuleList(layers)},
    cases=chain_cases,
    returns="an `nn.Module` that applies the `layers`, a list of modules, one after the other, to "
    "its input, whenever it is called, and knows all of them as soon as it is made: their "
    "parameters get gradients, are trained and saved once each, and `eval()` and `train()` reach "
    "them; the list itself stays as it is. Judged by its output and by that",
    differentiable=False,
    observe=observe_module,
    done_by="Encoder",
    met="flat",
    ready_made={"nn.Sequential": nn.Sequential},
    boundaries={
        "one layer": lambda layers: len(layers) == 1,
        "more than ten layers": lambda layers: len(layers) > 10,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(REGISTERED)

Layers = Sequence[nn.Module]


@mistake(
    "keep",
    "layers in a plain list",
    symptom="The optimizer gets no parameters of theirs: the layers are not trained, not saved, "
    "and not moved.",
    cause="A module does not look into a list, a tuple or a dictionary: set self.layers = "
    "nn.ModuleList(layers).",
)
def in_a_list(layers: Layers) -> None:
    """Registers nothing, and that is the mistake."""


@mistake(
    "keep",
    "only one layer registered",
    symptom="One layer learns, the others stay as they were drawn.",
    cause="Register all layers, with nn.ModuleList(layers): a module does not look into a list.",
)
def last_registered(layers: Layers) -> nn.Module:
    return layers[-1]


@mistake(
    "keep",
    "parameters registered without their layers",
    met=("random", 0),
    symptom="The layers are trained, and eval() does not reach them: their dropout would stay on.",
    cause="nn.ParameterList and register_parameter know the tensors alone: register the layers, "
    "with nn.ModuleList.",
)
def parameters_alone(layers: Layers) -> nn.Module:
    return nn.ParameterList([p for layer in layers for p in layer.parameters()])


class Closed(nn.ModuleList):
    """Hands its mode on to no layer."""

    def train(self, mode: bool = True) -> Closed:
        self.training = mode
        return self


@mistake(
    "keep",
    "a mode that does not reach the layers",
    met=("random", 0),
    symptom="The layers are registered and trained, and eval() does not reach them: their dropout "
    "would stay on.",
    cause="nn.Module's train() and eval() reach every registered layer: write neither yourself, "
    "or hand the mode on, with super().train(mode).",
    seen="The dropout layer is not disabled after setting the Module to Eval., "
    "https://github.com/dotnet/TorchSharp/issues/549",
)
def closed(layers: Layers) -> nn.Module:
    return Closed(layers)


@mistake(
    "order",
    "layers applied in the opposite order",
    met=("nonsense", 0),
    symptom="The layers are applied from the last to the first.",
    cause="Apply layers[0] first.",
)
def last_first(layers: Layers) -> Layers:
    return layers[::-1]


@mistake(
    "order",
    "first layer applied N times",
    met=("worse", 0),
    symptom="The other layers are there, and change nothing.",
    cause="Apply each layer once, in order, not layers[0] each time.",
)
def first_again(layers: Layers) -> Layers:
    return [layers[0] for _ in layers]


@mistake(
    "order",
    "last layer not applied",
    met=("worse", 0),
    symptom="The last layer is there, and changes nothing.",
    cause="Go through all layers, and return what the last one gives; range(n − 1), for example, "
    "leaves it out.",
)
def last_left_out(layers: Layers) -> Layers:
    return layers[:-1]


@mistake(
    "order",
    "each layer applied to the module's input",
    met=("worse", 0),
    symptom="The last layer's answer to the module's input comes back; the others change nothing.",
    cause="Hand each layer what the one before it gave: x = layer(x).",
)
def last_of_all(layers: Layers) -> Layers:
    return layers[-1:]


@mistake(
    "order",
    "only the first layer applied",
    met=("worse", 0),
    symptom="The first layer is applied, and the others change nothing.",
    cause="Hand each layer what the one before it gave, and return after the loop.",
)
def first_alone(layers: Layers) -> Layers:
    return layers[:1]


@mistake(
    "keep",
    "a layer registered twice",
    symptom="One layer's tensors are saved twice, under two names.",
    cause="Register each layer once: where you need it again, take it out of the list, as "
    "self.layers[-1].",
)
def last_registered_twice(layers: Layers) -> nn.Module:
    return nn.ModuleList([*layers, layers[-1]])


@mistake(
    "order",
    "all layers under one name",
    symptom="Of layers that share a name, only the last is applied, trained and saved.",
    cause="Each takes the place of the one before it: give each layer another name, or use "
    "nn.ModuleList.",
    steps={"keep": lambda layers: nn.ModuleList(last_of_each_kind(layers))},
)
def last_of_each_kind(layers: Layers) -> Layers:
    return [*{type(layer): layer for layer in layers}.values()]


@mistake(
    "keep",
    "only layers with parameters registered",
    symptom="All parameters are trained, and eval() does not reach the dropout between the layers.",
    cause="A layer without parameters has a mode, too: register all layers, with nn.ModuleList.",
)
def with_parameters(layers: Layers) -> nn.ModuleList:
    return nn.ModuleList(layer for layer in layers if list(layer.parameters()))
