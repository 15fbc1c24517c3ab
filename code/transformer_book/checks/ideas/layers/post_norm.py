"""Post norm (chapter 10): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from transformer_book.checks.boundaries import RESIDUAL
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.layers.pre_norm import residual_cases, scaled_norm


def shifted(x: Tensor) -> Tensor:
    """As a layer with a bias: zeros do not stay zeros."""
    return x + torch.linspace(-1, 2, x.size(-1))


def post_norm_cases() -> Sequence[Case]:
    return (
        *residual_cases(),
        Case("f gives zeros", (normal(2, 3, 4, seed=10), torch.zeros_like, scaled_norm)),
        Case("zeros, sentences of one position", (torch.zeros(3, 1, 5), shifted, scaled_norm)),
        Case(
            "a long text of large numbers",
            (3000 * normal(1, 1030, 4, seed=12), nn.Identity(), nn.Identity()),
        ),
    )


POST_NORM = Component(
    name="post_norm",
    chapter=10,
    order=4,
    section="Where to put the norm",
    signature="x, sublayer, norm",
    pipeline=lambda s, x, sublayer, norm: s.add(x, s.inside(x, sublayer, norm), norm),
    steps={
        "inside": lambda x, sublayer, norm: sublayer(x),
        "add": lambda x, change, norm: norm(x + change),
    },
    cases=post_norm_cases,
    returns="`norm(x + sublayer(x))`",
    done_by="Residual",
    met="worse",
    ready_made={"Residual": "layers.Residual.forward"},
    boundaries=RESIDUAL
    | {
        "f gives zeros": lambda x, sublayer: not sublayer(x).any(),
        "x is zeros": lambda x: not x.any(),
        "several sentences of one position": lambda x: x.size(0) > 1 == x.size(1),
        "longer than 1024": lambda x: x.size(1) > 1024,
        "numbers beyond 1000": lambda x: x.abs().max() > 1000,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(POST_NORM)


@mistake(
    "inside",
    "pre-norm in place of post-norm",
    met=("harmless", 3),
    symptom="This is pre-norm, x + f(norm(x)).",
    cause="Post-norm is norm(x + f(x)). Both exist; weights do not fit from one to the other.",
    kind="convention",
    steps={"add": lambda x, change, norm: x + change},
    seen="LayerNorm(x + Sublayer(x)), https://github.com/harvardnlp/annotated-transformer/issues/1",
)
def pre_norm(
    x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return sublayer(norm(x))


@mistake(
    "add",
    "residual connection of post-norm forgotten",
    met=("frequencies", 15),
    symptom="The sublayer's output alone is normalised, without x.",
    cause="Normalise the sum: norm(x + f(x)).",
)
def post_stream_lost(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return norm(change)


@mistake(
    "add",
    "norm of post-norm forgotten",
    symptom="The sum comes back as it is.",
    cause="Return the normalised sum: norm(x + f(x)).",
)
def sum_not_normalised(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return x + change


@mistake(
    "add",
    "norm of the change alone",
    symptom="x is added after the norm.",
    cause="Add first, then normalise: norm(x + f(x)), not x + norm(f(x)).",
)
def change_normalised(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return x + norm(change)


@mistake(
    "inside",
    "normalised stream in place of post-norm",
    symptom="norm(x) goes into the sublayer and into the sum, and the sum comes back as it is.",
    cause="Post-norm has one norm, behind the sum: norm(x + f(x)), x untouched.",
    steps={"add": lambda x, change, norm: norm(x) + change},
    seen="Implementation applies residual connections after a LayerNorm, "
    "https://github.com/shivanandmn/Knowledge-Tracing-SAINT/issues/6",
)
@mistake(
    "inside",
    "normalised in front and behind",
    symptom="The sublayer sees norm(x), and the sum is normalised, too.",
    cause="Post-norm has one norm, behind the sum: norm(x + f(x)).",
)
def both_normalised(
    x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return sublayer(norm(x))


@mistake(
    "add",
    "x normalised and not the sum",
    symptom="norm(x) is added to the sublayer's output, and the sum comes back as it is.",
    cause="Add first, then normalise: norm(x + f(x)), not norm(x) + f(x).",
)
def x_normalised(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return norm(x) + change
