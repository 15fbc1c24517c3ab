"""Evaluation loss (chapter 15): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_book.checks.comparing import plain, same
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


class WithDropout(nn.Module):
    """As parts of a model are that call `F.dropout` themselves: attention, for one."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.p, self.training)


def observe_evaluation(function: Callable[..., Any]) -> Callable[..., Any]:
    """What is measured of a small model with dropout, and what becomes of the model."""

    def observed(x: Tensor, counts: Sequence[int], training: bool) -> dict[str, Any]:
        model = nn.Sequential(nn.Linear(x.size(-1), 4), WithDropout(0.5), nn.Linear(4, 1))
        with torch.no_grad():
            for i, weight in enumerate(model.parameters()):
                weight.copy_(normal(*weight.shape, seed=i + 1))
                weight.grad = torch.ones_like(weight)
        model[2].bias.requires_grad_(False)
        model.train(training)
        before = held_by(model)
        recorded = []

        def compute_loss(model: nn.Module, batch: Tensor) -> tuple[Tensor, int]:
            recorded.append(torch.is_grad_enabled())
            real = batch[batch.any(dim=-1)]  # all other rows are padding
            return model(real).square().mean(), len(real)

        parts = enumerate(x.split(list(counts)), start=1)
        # As many rows as no count of the batches gives: 1, 3, 5.
        padded = [F.pad(part, (0, 0, 0, 2 * n - 1)) for n, part in parts]
        with torch.enable_grad():
            loss = float(plain(function(model, padded, compute_loss)))
            recorded_again = torch.is_grad_enabled()
        return {
            "the loss": loss,
            "gradients recorded": any(recorded),
            "training": model.training,
            "parts in training mode again": sum(part.training for part in model),
            "gradients recorded again": recorded_again,
            "model otherwise as before": same(held_by(model), before),
        }

    return observed


def held_by(model: nn.Sequential) -> list[Any]:
    """Weights and their gradients, which of them learn, and the probability of dropout."""
    weights = [
        [weight.detach().clone(), weight.grad.clone() if weight.grad is not None else None]
        for weight in model.parameters()
    ]
    return [weights, [weight.requires_grad for weight in model.parameters()], model[1].p]


def evaluation_pipeline(s, model, batches, compute_loss):
    was = model.training
    s.enter(model)
    with s.guard():
        measured = [compute_loss(model, batch) for batch in batches]
    s.leave(model, was)
    return s.average([(loss.item(), n) for loss, n in measured])


def evaluation_cases() -> Sequence[Case]:
    def measured(*counts: int, training: bool, seed: int) -> Case:
        before = "training" if training else "evaluation"
        name = f"{before} mode, tokens: {', '.join(map(str, counts))}"
        return Case(name, (normal(sum(counts), 3, seed=seed), counts, training))

    return (
        measured(6, 2, training=True, seed=1),
        measured(3, 5, 1, training=True, seed=2),
        measured(4, training=True, seed=3),
        measured(2, 2, 2, training=True, seed=4),
        measured(5, 1, training=False, seed=5),
        measured(1, 7, 2, training=False, seed=6),
        measured(3, training=False, seed=7),
        measured(4, 4, training=False, seed=8),
        Case(
            "large losses, ten times tokens: 3, 1, 2, 5, 1, 1, 4, 2, 3, 1, 2",
            (20 * normal(250, 3, seed=9), 10 * (3, 1, 2, 5, 1, 1, 4, 2, 3, 1, 2), True),
        ),
    )


Measured = Sequence[tuple[float, int]]


EVALUATION = Component(
    name="evaluation_loss",
    chapter=15,
    order=9,
    section="A mean of means is not the mean",
    signature="model, batches, compute_loss",
    pipeline=evaluation_pipeline,
    steps={
        "enter": lambda model: model.eval(),
        "guard": torch.no_grad,
        "leave": lambda model, was: model.train(was),
        "average": lambda measured: (
            sum(loss * n for loss, n in measured) / sum(n for _, n in measured)
        ),
    },
    cases=evaluation_cases,
    returns="the mean loss per token of all batches, a number: `compute_loss(model, batch)` gives "
    "the mean loss of one, a tensor `()`, and how many tokens it has, not counting padding. "
    "Dropout is off meanwhile, gradients are not recorded, and afterwards they are again, the "
    "model is in the mode in which it came, all parts of it in one mode, and nothing else of it "
    "has changed. Judged by all of that, with a model that has dropout",
    differentiable=False,
    observe=observe_evaluation,
    done_by="mean_loss",
    met="score",
    boundaries={
        "in training mode": lambda model: model.training,
        "in evaluation mode": lambda model: not model.training,
        "one batch": lambda batches: len(batches) == 1,
        "more than ten batches": lambda batches: len(batches) > 10,
        "a batch of one token": lambda batches: any(
            int(batch.any(-1).sum()) == 1 for batch in batches
        ),
        "numbers beyond 20": lambda batches: any(bool((b.abs() > 20).any()) for b in batches),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(EVALUATION)


@mistake(
    "enter",
    "evaluated in training mode",
    met=("random", 5),
    symptom="A model in training mode is measured with dropout: its loss changes from call to "
    "call.",
    cause="Call model.eval() before the first batch is measured, and go back to the old mode "
    "behind the last: `torch.no_grad()` leaves dropout on.",
    section="One update, line by line",
    chapter=16,
)
def mode_as_it_was(model: nn.Module) -> None:
    """Does nothing, and that is the mistake."""


@mistake(
    "leave",
    "left in evaluation mode",
    met=("worse", 16),
    symptom="After an evaluation the model has no dropout until somebody calls train().",
    cause="eval() changes model.training: remember it before eval(), and call model.train() with "
    "it before you return.",
    section="One update, line by line",
    chapter=16,
)
def never_back(model: nn.Module, was: bool) -> None:
    """Does nothing, and that is the mistake."""


@mistake(
    "leave",
    "always put into training mode",
    symptom="A finished model has dropout on after it was evaluated.",
    cause="Remember model.training as it was at first, and call model.train() with that value.",
    section="One update, line by line",
    chapter=16,
)
def always_training(model: nn.Module, was: bool) -> None:
    model.train()


@mistake(
    "guard",
    "gradients recorded while evaluating",
    symptom="A graph is recorded for every batch, which costs time and memory.",
    cause="eval() changes layers and not autograd: call compute_loss inside `with "
    "torch.no_grad():`, not in a generator read behind it.",
    section="One update, line by line",
    chapter=16,
)
def recorded_all_along() -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()


@mistake(
    "average",
    "mean of the batches' losses",
    symptom="A token of a small batch counts for more than one of a large batch.",
    cause="Multiply each mean by its number of tokens, add up, and divide by all tokens.",
)
def mean_of_batches(measured: Measured) -> float:
    return sum(loss for loss, _ in measured) / len(measured)


@mistake(
    "average",
    "loss of the last batch",
    symptom="Only the last batch counts.",
    cause="Multiply each mean by its number of tokens, add up, and divide by all tokens.",
)
def last_batch(measured: Measured) -> float:
    return measured[-1][0]


@mistake(
    "average",
    "losses added up, and not divided",
    symptom="The result grows with the number of tokens.",
    cause="Divide by the number of all tokens.",
)
def sum_of_all(measured: Measured) -> float:
    return sum(loss * n for loss, n in measured)


@mistake(
    "average",
    "every batch taken to be as large as the first one",
    symptom="It is right where batches are, on average, as large as the first one.",
    cause="The divisor is the first batch's size times the number of batches: add up the sizes.",
    seen="incorrect mean cross entropy when batch sizes vary, "
    "https://github.com/rinuboney/ladder/issues/5",
)
def as_large_as_the_first(measured: Measured) -> float:
    return sum_of_all(measured) / (measured[0][1] * len(measured))


@mistake(
    "average",
    "losses of the batches added up",
    symptom="The result grows with the number of batches.",
    cause="Each loss is a mean already: multiply it by its tokens, and divide by all tokens.",
)
def sum_of_means(measured: Measured) -> float:
    return sum(loss for loss, _ in measured)
