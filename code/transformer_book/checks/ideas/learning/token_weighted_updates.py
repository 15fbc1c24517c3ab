"""Token-weighted updates (chapter 15): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.learning.training_update import Optimizer, small_model


def observe_epochs(function: Callable[..., Any]) -> Callable[..., Any]:
    """The weights of a small model, and how many updates there were, after each of two epochs."""

    def observed(x: Tensor, y: Tensor, counts: Sequence[int], n: int) -> dict[str, Any]:
        model = small_model(x, y)
        # With weight decay a smaller loss is not the same as a smaller rate. It is usual for
        # matrices alone, so the optimizer has two groups.
        groups = [{"params": [model.weight], "weight_decay": 0.3}, {"params": [model.bias]}]
        optimizer = torch.optim.SGD(groups, lr=0.1)
        updates: list[int] = []
        optimizer.register_step_post_hook(lambda *_: updates.append(1))
        parts = list(zip(x.split(list(counts)), y.split(list(counts)), strict=True))

        def compute_loss(part: tuple[Tensor, Tensor]) -> tuple[Tensor, int]:
            return (model(part[0]) - part[1]).square().mean(), len(part[0])

        found: dict[str, Any] = {}
        for epoch in (1, 2):
            handed = list(parts)
            function(optimizer, handed, n, compute_loss)
            found[f"the weight after epoch {epoch}"] = model.weight.detach().clone()
            found[f"the bias after epoch {epoch}"] = model.bias.detach().clone()
            same = len(handed) == len(parts) and all(map(is_, handed, parts))
            found[f"parts as they were after epoch {epoch}"] = same
            found[f"updates after epoch {epoch}"] = len(updates)
        return found

    return observed


def weighted_pipeline(s, optimizer, parts, n, compute_loss):
    for window in s.windows(parts, n):
        s.before(optimizer)
        measured = [compute_loss(part) for part in window]
        s.average(measured, n).backward()
        s.move(optimizer, measured, n)


def windows_cases() -> Sequence[Case]:
    def epoch(n: int, *counts: int, scale: float = 1.0) -> Case:
        tokens, name = sum(counts), ", ".join(map(str, counts))
        x, y = scale * normal(tokens, 3, seed=tokens), normal(tokens, 2, seed=tokens + 1)
        large = ", large losses" if scale > 1 else ""
        return Case(f"tokens {name} in windows of {n}{large}", (x, y, counts, n))

    return (
        epoch(2, 5, 1),
        epoch(2, 3, 3, 1, 4),
        epoch(2, 2, 2, 2),
        epoch(3, 1, 4, 2, 6),
        epoch(4, 2, 1),
        epoch(2, 300, *[1, 3, 2, 4] * 17),
        epoch(1, 3, 2),
        epoch(3, 2, 5, 1, 3, 4),
        epoch(20, *[1, 2] * 11, scale=30.0),
    )


Measured = Sequence[tuple[Tensor, int]]
Windows = Sequence[Sequence[Any]]


WEIGHTED = Component(
    name="token_weighted_updates",
    chapter=15,
    order=10,
    section="Gradient accumulation",
    signature="optimizer, parts, n, compute_loss",
    pipeline=weighted_pipeline,
    steps={
        "windows": lambda parts, n: [parts[i : i + n] for i in range(0, len(parts), n)],
        "before": lambda optimizer: optimizer.zero_grad(),
        "average": lambda measured, n: (
            sum(loss * tokens for loss, tokens in measured) / sum(tokens for _, tokens in measured)
        ),
        "move": lambda optimizer, measured, n: optimizer.step(),
    },
    cases=windows_cases,
    returns="nothing that is looked at: one epoch, with an update for every `n` of the `parts` in "
    "their order, and one for those that are left at the end. Each goes along the gradient of the "
    "mean loss per token of all its parts. `compute_loss(part)` gives the mean loss of one, a "
    "tensor `()`, and how many tokens it has. The optimizer has several groups of parameters, and "
    "`parts` stay as they are. Judged by the weights and by the number of updates, after each of "
    "two epochs",
    differentiable=False,
    observe=observe_epochs,
    met="worse",
    boundaries={
        "a window that is not full": lambda parts, n: len(parts) % n > 0,
        "windows of one part": lambda n: n == 1,
        "fewer parts than a window": lambda parts, n: len(parts) < n,
        "full windows": lambda parts, n: len(parts) % n == 0,
        "windows of more than eight parts": lambda parts, n: len(parts) > n > 8,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(WEIGHTED)


@mistake(
    "average",
    "mean of the parts' means",
    symptom="A token of a short part counts for more than one of a long part.",
    cause="Multiply each mean by its tokens, add up, and divide by all tokens of the window.",
)
def mean_of_parts(measured: Measured, n: int) -> Tensor:
    return torch.stack([loss for loss, _ in measured]).mean()


@mistake(
    "average",
    "each mean divided by n",
    symptom="A token of a short part counts for more, and a last window that is not full is "
    "divided by too much.",
    cause="Multiply each mean by its tokens, add up, and divide by all tokens of the window.",
)
def divided_by_n(measured: Measured, n: int) -> Tensor:
    return torch.stack([loss for loss, _ in measured]).sum() / n


@mistake(
    "average",
    "means of the parts added up",
    symptom="The gradient grows with the number of parts in a window.",
    cause="Multiply each mean by its tokens, add up, and divide by all tokens of the window.",
)
def means_added(measured: Measured, n: int) -> Tensor:
    return torch.stack([loss for loss, _ in measured]).sum()


@mistake(
    "average",
    "losses of all tokens added up",
    symptom="The gradient grows with the number of tokens in a window.",
    cause="Divide the sum by the number of all tokens of the window before backward(), or the "
    "gradients by it before step().",
)
def tokens_added(measured: Measured, n: int) -> Tensor:
    return sum((loss * tokens for loss, tokens in measured), torch.tensor(0.0))


@mistake(
    "windows",
    "last window dropped",
    symptom="There is no update for the parts that are left at the end of an epoch.",
    cause="Make an update for the parts that are left at the end, too.",
)
def full_windows(parts: Sequence[Any], n: int) -> Windows:
    return [parts[i : i + n] for i in range(0, len(parts) - n + 1, n)]


@mistake(
    "windows",
    "first update after one part",
    symptom="The first window has one part, and those of n parts begin behind it.",
    cause="Make the first update after n parts: `i % n == 0` is true for i = 0 already.",
)
def counted_from_zero(parts: Sequence[Any], n: int) -> Windows:
    return [parts[:1], *(parts[i : i + n] for i in range(1, len(parts), n))]


@mistake(
    "windows",
    "update after every part",
    symptom="Nothing is accumulated: each part has its own update.",
    cause="Call step() once for each window, not for each part.",
)
def one_by_one(parts: Sequence[Any], n: int) -> Windows:
    return [[part] for part in parts]


@mistake(
    "windows",
    "the whole epoch in one window",
    symptom="There is one update in an epoch.",
    cause="Call step() after every n parts, not only behind the last.",
)
def one_window(parts: Sequence[Any], n: int) -> Windows:
    return [parts]


@mistake(
    "before",
    "gradients of earlier windows kept",
    symptom="From the second update on, each step also goes along all earlier gradients.",
    cause="backward() adds to .grad: call zero_grad() before each window.",
)
def kept(optimizer: Optimizer) -> None:
    """Does nothing, and that is the mistake."""


@mistake(
    "average",
    "divided by the tokens and by the parts",
    symptom="The gradient is too short, by the number of parts in the window.",
    cause="The sum over all tokens of the window is divided by them: that is the mean already.",
    seen="Reconcile grad-accum loss normalization in _unsloth_get_batch_samples, "
    "https://github.com/unslothai/unsloth-zoo/pull/1023",
)
def divided_twice(measured: Measured, n: int) -> Tensor:
    total = sum((loss * tokens for loss, tokens in measured), torch.zeros(()))
    return total / sum(tokens for _, tokens in measured) / len(measured)


@mistake(
    "average",
    "means divided by all tokens",
    symptom="Each part counts as one token, and the sum is divided by all tokens.",
    cause="Each loss is a mean already: multiply it by its tokens before dividing by all of them.",
    seen="Incorrect normalization, https://github.com/OpenNMT/OpenNMT-py/issues/2209",
)
def means_by_tokens(measured: Measured, n: int) -> Tensor:
    return means_added(measured, n) / sum(tokens for _, tokens in measured)


@mistake(
    "move",
    "rest of an epoch carried into the next",
    symptom="The parts that are left at the end have no update: their gradients stay for the next "
    "one.",
    cause="Make an update for the parts that are left, too, and call zero_grad() after it.",
    steps={"before": kept},
)
def full_windows_update(optimizer: Any, measured: Measured, n: int) -> None:
    if len(measured) == n:
        optimizer.step()
        optimizer.zero_grad()


@mistake(
    "move",
    "rest of an epoch carried, and divided by the next tokens",
    symptom="The parts that are left at the end have no update: their gradients stay for the next "
    "one, and are divided by its tokens.",
    cause="Make an update for the parts that are left, too, and begin each epoch with "
    "gradients and a count of zero.",
    steps={"before": kept, "average": tokens_added},
)
def full_windows_divide(optimizer: Any, measured: Measured, n: int) -> None:
    if len(measured) == n:
        for group in optimizer.param_groups:
            for weight in group["params"]:
                weight.grad /= sum(tokens for _, tokens in measured)
        full_windows_update(optimizer, measured, n)


@mistake(
    "average",
    "gradients cleared before each part",
    symptom="Of the parts of a window only the last one moves the weights.",
    cause="Add up loss · tokens of all parts of the window (`total = total + …`), or call "
    "backward() for every part, and zero_grad() only before each window.",
)
def last_part(measured: Measured, n: int) -> Tensor:
    loss, tokens = measured[-1]
    return loss * tokens / sum(tokens for _, tokens in measured)
