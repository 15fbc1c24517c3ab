"""How a class that a learner hands in is built, filled with weights by name, and called."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn


class Seen(Exception):
    """What a check sees of an answer by using it, said in the place of the answer."""


class NamesDiffer(Exception):
    """A learner's class whose parameters are called otherwise than the check's docstring says."""


def built(
    made: Callable[..., nn.Module],
    sizes: tuple[Any, ...],
    weights: Mapping[str, Tensor],
    inputs: tuple[Any, ...],
) -> Any:
    """What a learner's class gives, built with these sizes, filled with these weights.

    Args:
        sizes: what the class is built with; mostly numbers, but the widths of heads are a list.

    Raises:
        NamesDiffer: if the parameters have other names, or other shapes.
    """
    return filled(of_sizes(made, sizes), sizes, weights, inputs)


def of_sizes(made: Callable[..., nn.Module], sizes: tuple[Any, ...]) -> nn.Module:
    """A learner's class built with these sizes, in evaluation mode.

    A class that takes one `config`, as the layers of the package do, is built with what its
    annotation makes of the sizes.
    """
    try:
        parameters = dict(inspect.signature(made, eval_str=True).parameters)
    except (NameError, TypeError, ValueError):  # an annotation may name anything
        parameters = {}
    form = parameters["config"].annotation if [*parameters] == ["config"] else None
    if isinstance(form, type) and dataclasses.is_dataclass(form):
        fields = zip(dataclasses.fields(form), sizes, strict=False)  # sizes come first
        return made(form(**{field.name: size for field, size in fields})).eval()
    return made(*sizes).eval()


def filled(
    module: nn.Module,
    sizes: tuple[Any, ...],
    weights: Mapping[str, Tensor],
    inputs: tuple[Any, ...],
) -> Any:
    """What a learner's module gives with these weights in the place of its own.

    A bias that has no published name is set to zero.

    Raises:
        NamesDiffer: if the parameters have other names, or other shapes.
    """
    own = dict(module.named_parameters(remove_duplicate=False))
    extra = [n for n in own if n not in weights and not n.endswith("bias")]
    missing = [n for n in weights if n not in own]
    if extra or missing:
        told = "The parameters of your class have other names than this check fills."
        if not (own and extra and missing):
            odd = f"lacks {', '.join(missing)}" if missing else f"has {', '.join(extra)} besides"
            told = f"Your class {odd}."
        raise NamesDiffer(
            f"{told} Yours: {', '.join(own) or 'none'}. It fills: {', '.join(weights)}."
            f"{' Give them these names.' * bool(missing)}"
        )
    for name, weight in weights.items():
        if own[name].shape != weight.shape:
            raise NamesDiffer(
                f"The parameter {name} has the shape {tuple(own[name].shape)} in your class, "
                f"built with {sizes}; it should be {tuple(weight.shape)}."
            )
    shared = [n for n in weights for m in weights if n < m and own[n] is own[m]]
    if shared:
        raise NamesDiffer(
            f"Your class uses one and the same parameter twice: {shared[0]} is shared with another "
            "one. A fresh model gives the same numbers, but the weights of a trained one have no "
            "place in it: make a module for each."
        )
    zeros = {name: torch.zeros_like(p) for name, p in own.items() if name not in weights}
    return torch.func.functional_call(module, {**zeros, **weights}, inputs)


def is_class(function: object) -> bool:
    """Whether it is a subclass of `nn.Module`, or a partial of one: something that makes modules.

    `functools.partial(MyLayer, dropout=0.0)` sets what the check does not.
    """
    if isinstance(function, functools.partial):
        return is_class(function.func)
    return isinstance(function, type) and issubclass(function, nn.Module)
