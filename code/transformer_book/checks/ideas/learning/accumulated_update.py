"""Accumulated update (chapter 16): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.learning.training_update import Optimizer, small_model


def observe_accumulation(function: Callable[..., Any]) -> Callable[..., Any]:
    """The weights, and the rate that comes next, after each of three updates of a small model."""

    def observed(x: Tensor, y: Tensor, n_parts: int) -> dict[str, Any]:
        model = small_model(x, y)
        # With weight decay a smaller rate is not the same as a smaller loss.
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=0.3)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 1 / (1 + n))
        parts = list(zip(x.chunk(n_parts), y.chunk(n_parts), strict=True))
        found = {}
        for update in (1, 2, 3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the order of two steps is ours to judge
                function(
                    optimizer,
                    scheduler,
                    parts,
                    lambda part: (model(part[0]) - part[1]).square().mean(),
                )
            found[f"the weight after update {update}"] = model.weight.detach().clone()
            found[f"the rate after update {update}"] = float(optimizer.param_groups[0]["lr"])
        return found

    return observed


def accumulation_pipeline(s, optimizer, scheduler, parts, compute_loss):
    s.before(optimizer)
    for number, part in enumerate(parts, start=1):
        s.before_part(optimizer)
        s.share(compute_loss(part), parts, number).backward()
        s.after_part(optimizer, scheduler, part is parts[-1])
    s.after(optimizer, scheduler)


def step_both(optimizer: Any, scheduler: Any) -> None:
    optimizer.step()
    scheduler.step()


def accumulation_cases() -> Sequence[Case]:
    few = tuple(
        Case(
            f"{batch} examples in {n_parts} parts",
            (normal(batch, 3, seed=batch), normal(batch, 2, seed=batch + 1), n_parts),
        )
        for batch, n_parts in ((4, 2), (6, 3), (8, 4), (6, 2), (3, 1), (5, 5))
    )
    far = 9 * normal(33, 3, seed=17), 40 * normal(33, 2, seed=18), 33
    return (*few, Case("33 parts, and large losses", far))


ACCUMULATION = Component(
    name="accumulated_update",
    chapter=16,
    order=2,
    section="One update, line by line",
    signature="optimizer, scheduler, parts, compute_loss",
    pipeline=accumulation_pipeline,
    steps={
        "before": lambda optimizer: optimizer.zero_grad(),
        "before_part": lambda optimizer: None,
        "share": lambda loss, parts, number: loss / len(parts),
        "after_part": lambda optimizer, scheduler, last: None,
        "after": step_both,
    },
    cases=accumulation_cases,
    returns="nothing that is looked at: one update for a batch cut into equally large parts, "
    "`compute_loss(part)` is the mean loss of one; nothing is clipped; then the schedule moves on "
    "by one. Judged by the weights and the rate after each of three updates",
    differentiable=False,
    observe=observe_accumulation,
    done_by="Trainer",
    met="worse",
    boundaries={
        "one part": lambda parts: len(parts) == 1,
        "more than ten parts": lambda parts: len(parts) > 10,
        "losses above 100": lambda parts, compute_loss: max(map(compute_loss, parts)) > 100,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(ACCUMULATION)


@mistake(
    "after_part",
    "schedule stepped per micro-batch",
    met=("worse", 4),
    symptom="The rate moves on with every part of the batch, before the step: a warm-up would be "
    "over too soon.",
    cause="Call scheduler.step() once for the whole batch, behind optimizer.step().",
    section="Break it: counting from zero",
    chapter=15,
    steps={"after": lambda optimizer, scheduler: optimizer.step()},
    seen="Scheduler always steps when training with gradient accumulation, "
    "https://github.com/huggingface/accelerate/issues/963",
)
def schedule_per_part(optimizer: Optimizer, scheduler: Any, last: bool) -> None:
    scheduler.step()


@mistake(
    "after_part",
    "step per micro-batch",
    symptom="Each part makes a step of its own, along all of the batch's gradients so far.",
    cause="Call optimizer.step() once, after the last part.",
    steps={"after": lambda optimizer, scheduler: scheduler.step()},
)
def step_per_part(optimizer: Optimizer, scheduler: Any, last: bool) -> None:
    optimizer.step()


@mistake(
    "share",
    "micro-batches summed, not averaged",
    symptom="The gradient is too large by a factor: the number of parts.",
    cause="Divide each part's mean loss by the number of parts, which are equally large here, "
    "before its backward().",
    section="A mean of means is not the mean",
    chapter=15,
    seen="Logic Error in gradient accumulation?, https://github.com/karpathy/nanoGPT/issues/206",
)
def parts_summed(loss: Tensor, parts: Sequence[Any], number: int) -> Tensor:
    return loss


@mistake(
    "before_part",
    "gradients zeroed in every micro-batch",
    symptom="Only the last part counts.",
    cause="Call backward() for every part, and zero_grad() once, before the first part.",
    seen="train.py: zero_grad is called per microbatch, breaking gradient accumulation, "
    "https://github.com/bytetriper/RAE/issues/67",
)
def zeroed_per_part(optimizer: Optimizer) -> None:
    optimizer.zero_grad()


@mistake(
    "before",
    "gradients of the last batch kept",
    symptom="From the second update on, each step also goes along all earlier gradients.",
    cause="backward() adds to .grad: call zero_grad() before the first part.",
)
def never_zeroed(optimizer: Optimizer) -> None:
    """Does nothing, and that is the mistake."""


@mistake(
    "after",
    "schedule never stepped",
    symptom="The rate stays what it was at the beginning.",
    cause="Call scheduler.step() behind optimizer.step().",
    section="The schedule",
    chapter=15,
)
def schedule_forgotten(optimizer: Optimizer, scheduler: Any) -> None:
    optimizer.step()


@mistake(
    "after",
    "schedule before the step",
    symptom="Every update has the rate of the next one: the first rate is skipped.",
    cause="optimizer.step() first, then scheduler.step().",
    section="The schedule",
    chapter=15,
    seen="Detected call of `lr_scheduler.step()` before `optimizer.step()`, "
    "https://github.com/ThilinaRajapakse/pytorch-transformers-classification/issues/21",
)
def schedule_first(optimizer: Optimizer, scheduler: Any) -> None:
    scheduler.step()
    optimizer.step()


def of_a_fixed_number(number: int, more: str = "") -> None:
    """Note as a mistake: the loss of a part is divided by this, however many parts there are."""
    mistake(
        "share",
        f"divided by a fixed number of parts, {number}",
        symptom=f"With {number} parts it is right; with fewer, the gradient is too short, and with "
        "more too long.",
        cause=f"Divide each loss by len(parts), not by {number}: the last batch of an epoch "
        f"may have fewer parts.{more}",
        section="A mean of means is not the mean",
        chapter=15,
    )(lambda loss, parts, _: loss / number)


of_a_fixed_number(2, " (`len(part)` is 2 if a part is a pair of inputs and targets.)")
of_a_fixed_number(4)
of_a_fixed_number(8)


@mistake(
    "share",
    "divided by the size of a part",
    symptom="The larger the parts are, the shorter is the gradient: it is right only where a part "
    "has as many examples as there are parts.",
    cause="The loss of a part is a mean already: divide it by the number of parts.",
    section="A mean of means is not the mean",
    chapter=15,
)
def divided_by_size(loss: Tensor, parts: Sequence[Any], number: int) -> Tensor:
    return loss / len(parts[0][0])


@mistake(
    "after",
    "step forgotten",
    symptom="The weights never change.",
    cause="optimizer.step() finds no gradients, or is not called: call zero_grad() first, then "
    "backward() for every part, on a loss that is computed from the weights, then step(), once.",
)
def step_forgotten(optimizer: Optimizer, scheduler: Any) -> None:
    scheduler.step()


@mistake(
    "after_part",
    "gradients clipped behind every part",
    symptom="A sum of gradients longer than 1 is shortened, behind every part again: earlier "
    "parts can then count for less.",
    cause="What has been added up so far is clipped behind every backward(). Nothing is clipped "
    "here; where something is, clip once, behind the last part.",
    seen="Potential bug with gradient clipping when using gradient accumulation in examples, "
    "https://github.com/huggingface/transformers/issues/986",
)
def clipped_per_part(optimizer: Optimizer, scheduler: Any, last: bool) -> None:
    torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)


@mistake(
    "share",
    "each part divided by its own number",
    symptom="The first part counts in full, and each one behind it for less.",
    cause="The divisor is how many parts there have been so far: divide all by len(parts).",
    section="A mean of means is not the mean",
    chapter=15,
    seen="gradient accumulation, https://github.com/karpathy/nanoGPT/issues/605",
)
def by_its_own_number(loss: Tensor, parts: Sequence[Any], number: int) -> Tensor:
    return loss / number


@mistake(
    "after_part",
    "schedule stepped in the loop over the parts",
    symptom="There is one update for the batch, and the rate moves on once for each part.",
    cause="scheduler.step() runs for every part: call it once for the batch, behind "
    "optimizer.step().",
    section="The schedule",
    chapter=15,
    steps={"after": lambda optimizer, scheduler: None},
)
def schedule_in_the_loop(optimizer: Optimizer, scheduler: Any, last: bool) -> None:
    if last:
        optimizer.step()
    scheduler.step()
