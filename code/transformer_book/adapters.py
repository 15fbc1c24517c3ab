"""LoRA: a frozen matrix, and a small one beside it that learns (chapter 27)."""

from __future__ import annotations

import math
from collections.abc import Collection

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from transformer_book.support.arguments import check_positive, is_number

ATTENTION = ("attention.query", "attention.value")  # what Hu et al. adapt


class LoRA(nn.Module):
    r"""A linear layer that stays as it is, and a change of low rank that is learned beside it.

    $$y = W x + b + \frac{\alpha}{r}\, B A\, x$$

    A is `(r, I)` and drawn at random, B is `(O, r)` and begins at zero: at first nothing changes.
    Only A and B have gradients. They hold r (I + O) numbers instead of I · O.

    Args:
        linear: the layer, with weight `(O, I)`.
        rank: r.
        alpha: α; `None`: r, so that the factor is 1.

    Shapes: `(…, I)` → `(…, O)`.

    Raises:
        ValueError: for a rank below 1 or above the smaller side of the matrix, or an `alpha` that
            is not a positive number.

    Source: Hu et al. (2022), section 4.1.
    """

    def __init__(self, linear: nn.Linear, rank: int, alpha: float | None = None) -> None:
        super().__init__()
        check_positive(rank=rank)
        rows, columns = linear.weight.shape
        if rank > min(rows, columns):
            raise ValueError(
                f"rank is {rank}, but a matrix of {rows} × {columns} has at most rank "
                f"{min(rows, columns)}."
            )
        alpha = rank if alpha is None else alpha
        if not is_number(alpha) or alpha <= 0:
            raise ValueError(f"alpha is {alpha!r}, but it must be a number above 0.")
        self.linear = linear.requires_grad_(False)
        new = linear.weight.new_empty
        self.down = nn.Parameter(nn.init.kaiming_uniform_(new(rank, columns), a=math.sqrt(5)))
        self.up = nn.Parameter(torch.zeros_like(new(rows, rank)))
        self.scale = alpha / rank
        self.in_features, self.out_features = columns, rows  # as of the layer itself

    def forward(self, x: Float[Tensor, "*batch I"]) -> Float[Tensor, "*batch O"]:
        change = F.linear(F.linear(x, self.down), self.up)  # (…, I) → (…, r) → (…, O)
        return self.linear(x) + self.scale * change

    def merged(self) -> nn.Linear:
        """One plain layer that computes the same: its weight is $W + \\frac{\\alpha}{r} B A$."""
        rows, columns = self.linear.weight.shape
        layer = nn.utils.skip_init(
            nn.Linear, columns, rows, bias=self.linear.bias is not None, **_like(self.linear.weight)
        )
        with torch.no_grad():
            layer.weight.copy_(self.linear.weight + self.scale * self.up @ self.down)
            if self.linear.bias is not None:
                layer.bias.copy_(self.linear.bias)
        return layer


def _like(weight: Tensor) -> dict[str, object]:
    return {"device": weight.device, "dtype": weight.dtype}


def add_lora(
    model: nn.Module, rank: int, alpha: float | None = None, names: Collection[str] = ATTENTION
) -> list[str]:
    """Freeze a model, and wrap each linear layer whose name ends in one of `names` in a `LoRA`.

    Args:
        model: is changed in place.
        rank, alpha: see `LoRA`.
        names: ends of the layers' names: `"attention.query"` for `layers.0.self_attention.query`.

    Returns:
        The names of the layers that were adapted.

    Raises:
        ValueError: there is no such layer, or the model has adapters already; as for `LoRA`.
    """
    if any(isinstance(module, LoRA) for module in model.modules()):
        raise ValueError("The model has adapters already: merge them first (merge_lora).")
    found = [
        name
        for name, module in model.named_modules()
        if isinstance(module, nn.Linear) and name.endswith(tuple(names))
    ]
    if not found:
        raise ValueError(
            f"No linear layer of the model has a name that ends in {' or '.join(names)}."
        )
    adapters = {name: LoRA(model.get_submodule(name), rank, alpha) for name in found}
    model.requires_grad_(False)
    for name, adapter in adapters.items():
        for own in (adapter.down, adapter.up):
            own.requires_grad_(True)
        _replace(model, name, adapter)
    return found


def merge_lora(model: nn.Module) -> list[str]:
    """Put plain layers in place of all adapters, and let every weight learn again.

    The model computes what it did, and has the names of weights that it had before `add_lora`.

    Returns:
        The names of the layers that were merged.
    """
    found = {n: module for n, module in model.named_modules() if isinstance(module, LoRA)}
    for name, adapter in found.items():
        _replace(model, name, adapter.merged().train(adapter.training))
    model.requires_grad_(True)
    return list(found)


def _replace(model: nn.Module, name: str, module: nn.Module) -> None:
    parent, _, last = name.rpartition(".")
    setattr(model.get_submodule(parent), last, module)


def n_trainable(model: nn.Module) -> int:
    """How many numbers of a model have gradients."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)
