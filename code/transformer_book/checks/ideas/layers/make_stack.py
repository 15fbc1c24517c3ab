"""Make stack (chapter 14): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import torch
from torch import nn

from transformer_book.checks.components import Case, Component, mistakes_in


def observe_stack(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a list of layers is like: how many, how many of them different, and alike or not."""

    def observed(make_layer: Callable[[], nn.Module], n_layers: int) -> dict[str, Any]:
        layers = list(function(make_layer, n_layers))
        held = zip(*(chain(each.parameters(), each.buffers()) for each in layers), strict=False)
        own = [len({*map(id, each)}) for each in held]
        # Biases, and the factors of a norm, may begin alike.
        alike = zip(*(filter(is_matrix, each.parameters()) for each in layers), strict=False)
        different = [len({weight.sum().item() for weight in each}) for each in alike]
        return {
            "layers": len(layers),
            "layers with weights of their own": min(own, default=0),
            "layers that begin with different numbers": min(different, default=0),
            "layers that can learn": sum(map(can_learn, layers)),
        }

    return observed


def is_matrix(weight: nn.Parameter) -> bool:
    return weight.dim() > 1


def can_learn(layer: nn.Module) -> bool:
    training = all(part.training for part in layer.modules())
    return training and all(weight.requires_grad for weight in layer.parameters())


def make_linear() -> nn.Module:
    return nn.Linear(3, 3)


class Nested(nn.Module):
    """A layer made of parts, as the encoder's are: it has no reset_parameters of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = make_linear()


class Mixed(nn.Module):
    """A layer of several kinds of parts, with a weight and a buffer of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.table = make_linear(), nn.LayerNorm(3), nn.Embedding(4, 3)
        self.scale = nn.Parameter(torch.randn(2, 3))
        self.register_buffer("seen", torch.zeros(3))


def stack_cases() -> Sequence[Case]:
    return (
        *(Case(f"{n} layers", (make_linear, n)) for n in (2, 3, 1, 4, 6, 9)),
        Case("12 layers that are made of parts", (Nested, 12)),
        Case("3 layers of several kinds of parts", (Mixed, 3)),
    )


STACK = Component(
    name="make_stack",
    chapter=14,
    order=1,
    section="Break it: N layers that are one",
    signature="make_layer, n_layers",
    pipeline=lambda s, make_layer, n_layers: s.build(make_layer, n_layers),
    steps={"build": lambda make, n: [make() for _ in range(n)]},
    cases=stack_cases,
    returns="a list (or `nn.ModuleList`) of `n_layers` layers, each with weights of its own, "
    "drawn anew, that can learn; `make_layer()` makes one",
    differentiable=False,
    observe=observe_stack,
    done_by="Encoder",
    met="worse",
    boundaries={
        "layers made of parts": lambda make_layer: any(make_layer().children()),
        "layers with a buffer": lambda make_layer: any(True for _ in make_layer().buffers()),
        "more than 10 layers": lambda n_layers: n_layers > 10,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(STACK)


@mistake(
    "build",
    "[layer] * N",
    met=("worse", 6),
    symptom="All N layers share their weights.",
    cause="`[layer] * N`, a loop over one layer, and copy.copy repeat the same weights: call "
    "make_layer() for each.",
    seen="ff_layer weights sharing, https://github.com/habla-liaa/encodecmae/issues/3",
)
def one_layer_repeated(make: Callable[[], nn.Module], n: int) -> list[nn.Module]:
    return [make()] * n


@mistake(
    "build",
    "deep copies that start equal",
    met=("harmless", 18),
    symptom="The layers have weights of their own that all begin with the same numbers.",
    cause="Let each layer draw its numbers anew: call make_layer() for each, set no seed in "
    "between, and write no equal numbers over them. (Equal ones train, too; nn.TransformerEncoder "
    "begins with deep copies.)",
    kind="convention",
    seen="TransformerEncoder/TransformerDecoder has same initial parameters for all layers, "
    "https://github.com/pytorch/pytorch/issues/86274",
)
def deep_copies(make: Callable[[], nn.Module], n: int) -> list[nn.Module]:
    layer = make()
    return [copy.deepcopy(layer) for _ in range(n)]


@mistake(
    "build",
    "one layer too few",
    symptom="There are n_layers − 1 layers.",
    cause="Make n_layers of them: range(n_layers) has that many numbers, range(1, n_layers) one "
    "less.",
)
def one_layer_less(make: Callable[[], nn.Module], n: int) -> list[nn.Module]:
    return [make() for _ in range(n - 1)]


@mistake(
    "build",
    "one layer too many",
    symptom="There are n_layers + 1 layers.",
    cause="Make n_layers of them: range(n_layers), and no layer besides.",
)
def one_layer_more(make: Callable[[], nn.Module], n: int) -> list[nn.Module]:
    return [make() for _ in range(n + 1)]


@mistake(
    "build",
    "always six layers",
    symptom="There are six layers, as in the paper, whatever n_layers is.",
    cause="Use the n_layers that is handed in, not a fixed 6.",
)
def always_six(make: Callable[[], nn.Module], n: int) -> list[nn.Module]:
    return [make() for _ in range(6)]
