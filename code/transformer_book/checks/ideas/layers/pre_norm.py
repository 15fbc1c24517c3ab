"""Pre norm (chapter 10): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from transformer_book.checks.boundaries import RESIDUAL
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def doubled_plus_one(x: Tensor) -> Tensor:
    return 2 * x + 1


def halved_cube(x: Tensor) -> Tensor:
    return x**3 / 2


def running_sum(x: Tensor) -> Tensor:
    """Each position gets something of those before it, as in attention."""
    return x.cumsum(dim=1)


def plain_norm(x: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()


def scaled_norm(x: Tensor) -> Tensor:
    return 3 * plain_norm(x) - 1


def residual_cases() -> Sequence[Case]:
    uneven = normal(5, 2, 3, seed=10)
    uneven[1, 0] = 0  # a vector of zeros is no padding
    uneven[2, 1] *= 1e5
    return (
        Case(
            "one vector, f(x) = 2x + 1",
            (torch.tensor([[[1.0, 3.0]]]), doubled_plus_one, plain_norm),
            rough=True,  # two numbers, once normalised, hardly depend on what they were
        ),
        Case("random vectors", (normal(2, 3, 4, seed=1), doubled_plus_one, plain_norm)),
        Case("another f", (normal(2, 3, 4, seed=2), halved_cube, plain_norm)),
        Case("another norm", (5 * normal(2, 3, 4, seed=3), doubled_plus_one, scaled_norm)),
        Case("both", (2 + normal(1, 2, 6, seed=4), halved_cube, scaled_norm)),
        Case("f is the sine", (3 * normal(2, 2, 5, seed=5), torch.sin, scaled_norm)),
        Case("one position", (normal(1, 1, 7, seed=6), halved_cube, scaled_norm)),
        Case("as many positions as features", (normal(2, 4, 4, seed=7), torch.sin, plain_norm)),
        # What comes back is the input itself: adding to it in place changes x.
        Case("f and the norm do nothing", (normal(2, 3, 4, seed=8), nn.Identity(), nn.Identity())),
        Case("f mixes positions", (normal(2, 3, 4, seed=9), running_sum, plain_norm)),
        Case("a vector of zeros and a large one", (uneven, doubled_plus_one, plain_norm)),
    )


PRE_NORM = Component(
    name="pre_norm",
    chapter=10,
    order=3,
    section="Where to put the norm",
    signature="x, sublayer, norm",
    pipeline=lambda s, x, sublayer, norm: s.add(x, s.inside(x, sublayer, norm), norm),
    steps={
        "inside": lambda x, sublayer, norm: sublayer(norm(x)),
        "add": lambda x, change, norm: x + change,
    },
    cases=residual_cases,
    returns="`x + sublayer(norm(x))`",
    done_by="Residual",
    met="worse",
    ready_made={"Residual": "layers.Residual.forward"},
    boundaries={
        **RESIDUAL,
        "a vector of zeros": lambda x: (x == 0).all(-1).any(),
        "numbers above 65504": lambda x: (x.abs() > 65504).any(),
        "more sentences than positions": lambda x: x.size(0) > x.size(1),
        "f mixes positions": lambda x, sublayer: not sublayer(x)[:, -1].equal(sublayer(x[:, -1])),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(PRE_NORM)


@mistake(
    "add",
    "normalised residual",
    met=("worse", 14),
    symptom="The stream itself is normalised in each sublayer.",
    cause="norm(x) is added to the sublayer's output: add x, untouched.",
    seen="pre-norm bug in transformer block, "
    "https://github.com/Howuhh/faster-trajectory-transformer/issues/3",
)
def normalised_stream(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return norm(x) + change


@mistake(
    "add",
    "residual connection forgotten",
    met=("frequencies", 3),
    symptom="Only the sublayer's output goes on.",
    cause="Add x, as it came in, to the sublayer's output: x + f(norm(x)).",
)
def stream_lost(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return change


@mistake(
    "add",
    "sublayer's output added to itself",
    symptom="The sublayer's output is added twice, and x is not added.",
    cause="Add x, as it came in, to the sublayer's output: x + f(norm(x)).",
    seen="[BUG] residual connection wrong?, https://github.com/kyegomez/BitNet/issues/32",
)
def change_doubled(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return change + change


@mistake(
    "inside",
    "norm forgotten",
    met=("flat", 12),
    symptom="The sublayer sees x as it is, however large.",
    cause="Hand norm(x) to the sublayer.",
)
def not_normalised(
    x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return sublayer(x)


@mistake(
    "inside",
    "norm after the sublayer",
    symptom="The sublayer's output is normalised, not its input.",
    cause="Normalise what goes in, not what comes out: sublayer(norm(x)), not norm(sublayer(x)).",
)
def normalised_afterwards(
    x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return norm(sublayer(x))


@mistake(
    "inside",
    "post-norm in place of pre-norm",
    met=("harmless", 2),
    symptom="This is post-norm, norm(x + f(x)), as in the 2017 paper.",
    cause="Pre-norm is x + f(norm(x)). Both exist; weights do not fit from one to the other.",
    kind="convention",
    steps={"add": lambda x, change, norm: norm(x + change)},
)
def post_norm(
    x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return sublayer(x)


@mistake(
    "add",
    "sum normalised once more",
    symptom="The sum is normalised, too.",
    cause="Pre-norm has one norm, in front of the sublayer: x + f(norm(x)).",
)
def sum_normalised_too(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return norm(x + change)


@mistake(
    "add",
    "residual subtracted",
    symptom="The sublayer's output has the wrong sign.",
    cause="Add it: x + f(norm(x)).",
)
def change_subtracted(x: Tensor, change: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return x - change


@mistake(
    "inside",
    "input added before the sublayer",
    symptom="The sublayer gets norm(x) + x, and there is no way around it.",
    cause="Add x to what the sublayer gives, not to what it gets: x + f(norm(x)).",
    steps={"add": lambda x, change, norm: change},
    seen="book 1; page 530; pre-norm formulation, https://github.com/probml/pml-book/issues/709",
)
def added_inside(
    x: Tensor, sublayer: Callable[[Tensor], Tensor], norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return sublayer(norm(x) + x)
