"""Sublayer with dropout (chapter 10): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from transformer_book.checks.boundaries import RESIDUAL
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.layers.pre_norm import (
    doubled_plus_one,
    halved_cube,
    plain_norm,
    running_sum,
    scaled_norm,
)


def every_second(x: Tensor) -> Tensor:
    """A dropout without chance, p = 0.5: every second feature survives, doubled."""
    return 2 * x * (torch.arange(x.size(-1)) % 2)


def every_third_less(x: Tensor) -> Tensor:
    """The same with p = 1/3."""
    return 1.5 * x * (torch.arange(x.size(-1)) % 3 > 0)


class Turning:
    """One without chance, too, that drops the other features when it is called again."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Tensor) -> Tensor:
        self.calls += 1
        return 2 * x * ((torch.arange(x.size(-1)) + self.calls) % 2)


def sublayer_cases() -> Sequence[Case]:
    return (
        Case(
            "one vector, f(x) = 2x + 1",
            (torch.tensor([[[1.0, 3.0, 2.0]]]), doubled_plus_one, plain_norm, every_second),
        ),
        Case(
            "random",
            (
                normal(2, 3, 4, seed=1) * torch.eye(3)[:, :1],
                doubled_plus_one,
                plain_norm,
                every_second,
            ),
        ),
        Case("another f", (normal(2, 3, 4, seed=2), halved_cube, plain_norm, every_third_less)),
        Case("another norm", (3 * normal(1, 4, 6, seed=3), torch.sin, scaled_norm, every_second)),
        Case("both", (normal(3, 2, 5, seed=4), halved_cube, scaled_norm, every_third_less)),
        Case("one position", (normal(3, 1, 5, seed=5), torch.sin, scaled_norm, every_third_less)),
        Case("as many of all", (normal(4, 4, 4, seed=6), running_sum, plain_norm, Turning())),
        Case(
            "dropout off, behind a tanh",
            (normal(2, 3, 4, seed=7), torch.tanh, scaled_norm, nn.Dropout(0.5).eval()),
        ),
        # What comes back is the input itself: adding to it in place changes x.
        Case(
            "f, the norm and dropout do nothing",
            (normal(1, 2, 4, seed=8), nn.Identity(), nn.Identity(), nn.Identity()),
        ),
        Case(
            "f gives zeros alone",
            (1e5 * normal(1, 2, 4, seed=9), torch.zeros_like, plain_norm, every_second),
        ),
    )


SUBLAYER = Component(
    name="sublayer_with_dropout",
    chapter=10,
    order=6,
    section="Dropout",
    signature="x, sublayer, norm, dropout",
    pipeline=lambda s, x, sublayer, norm, dropout: s.out(
        x, s.drop(sublayer(s.feed(s.norm(x, norm), dropout)), dropout), dropout, norm
    ),
    steps={
        "norm": lambda x, norm: norm(x),
        "feed": lambda y, dropout: y,
        "drop": lambda change, dropout: dropout(change),
        "out": lambda x, change, dropout, norm: x + change,
    },
    cases=sublayer_cases,
    returns="`x + dropout(sublayer(norm(x)))`: dropout on the sublayer's output, and nowhere else",
    done_by="Residual",
    met="worse",
    boundaries={
        **RESIDUAL,
        "dropout off": lambda dropout: isinstance(dropout, nn.Identity),
        "nothing but the sum": lambda sublayer, norm, dropout: all(
            isinstance(part, nn.Identity) for part in (sublayer, norm, dropout)
        ),
        "f gives zeros alone": lambda x, sublayer: not sublayer(x).any(),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(SUBLAYER)


@mistake(
    "drop",
    "dropout declared and never applied",
    met=("worse", 5),
    symptom="Nothing is ever dropped.",
    cause="Apply dropout to the sublayer's output: x + dropout(f(norm(x))).",
)
def never_called(change: Tensor, dropout: Callable[[Tensor], Tensor]) -> Tensor:
    return change


@mistake(
    "out",
    "dropout applied to the residual stream",
    met=("worse", 3),
    symptom="What came in is dropped, too: the stream loses numbers in each sublayer.",
    cause="Apply dropout to the sublayer's output alone: x + dropout(f(norm(x))), not dropout(x "
    "+ f(norm(x))).",
    steps={"drop": never_called},
)
def sum_dropped(
    x: Tensor, change: Tensor, dropout: Callable[[Tensor], Tensor], norm: object
) -> Tensor:
    return dropout(x + change)


@mistake(
    "out",
    "dropout on x in place of the sublayer",
    symptom="What came in is dropped, and the sublayer's output is not.",
    cause="Apply dropout to the sublayer's output, not to x: x + dropout(f(norm(x))).",
    steps={"drop": never_called},
)
def stream_dropped(
    x: Tensor, change: Tensor, dropout: Callable[[Tensor], Tensor], norm: object
) -> Tensor:
    return dropout(x) + change


@mistake(
    "feed",
    "dropout before the sublayer",
    symptom="The sublayer's input is dropped, and its output is not.",
    cause="Apply dropout to what the sublayer gives.",
    steps={"drop": never_called},
)
def input_dropped(y: Tensor, dropout: Callable[[Tensor], Tensor]) -> Tensor:
    return dropout(y)


@mistake(
    "norm",
    "norm in front of the sublayer forgotten",
    symptom="The sublayer sees x as it is, however large.",
    cause="Hand norm(x) to the sublayer.",
    section="Where to put the norm",
)
def sublayer_not_normalised(x: Tensor, norm: Callable[[Tensor], Tensor]) -> Tensor:
    return x


@mistake(
    "out",
    "residual connection around the dropout forgotten",
    symptom="Only what the dropout gives goes on.",
    cause="Add x to what the dropout gives.",
    section="Where to put the norm",
)
def dropout_without_stream(x: Tensor, change: Tensor, dropout: object, norm: object) -> Tensor:
    return change


@mistake(
    "out",
    "what the dropout gives added to itself",
    symptom="What the dropout gives is added twice, and x is not added.",
    cause="Add x, as it came in: x + dropout(f(norm(x))).",
    section="Where to put the norm",
)
def change_doubled(x: Tensor, change: Tensor, dropout: object, norm: object) -> Tensor:
    return change + change


@mistake(
    "out",
    "normalised x in the sum",
    symptom="The stream itself is normalised.",
    cause="Add x, as it came in: x + dropout(f(norm(x))).",
    section="Where to put the norm",
)
def normalised_x(
    x: Tensor, change: Tensor, dropout: object, norm: Callable[[Tensor], Tensor]
) -> Tensor:
    return norm(x) + change


@mistake(
    "out",
    "dropout on the output and on the sum",
    symptom="Dropout is applied twice, the second time to the stream.",
    cause="Once is enough: x + dropout(f(norm(x))).",
)
def dropped_again(
    x: Tensor, change: Tensor, dropout: Callable[[Tensor], Tensor], norm: object
) -> Tensor:
    return dropout(x + change)


@mistake(
    "feed",
    "dropout before the sublayer and behind it",
    symptom="The sublayer's input is dropped, too.",
    cause="Apply dropout to what the sublayer gives, and to nothing else.",
)
def dropped_before_and_behind(y: Tensor, dropout: Callable[[Tensor], Tensor]) -> Tensor:
    return dropout(y)
