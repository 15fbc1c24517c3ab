"""Training update (chapter 16): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.learning.clip_gradients import length


def small_model(x: Tensor, y: Tensor) -> nn.Linear:
    """A layer from the features of x to those of y, always with the same weights."""
    model = nn.Linear(x.size(-1), y.size(-1))
    with torch.no_grad():
        model.weight.copy_(normal(*model.weight.shape, seed=1))
        model.bias.copy_(normal(*model.bias.shape, seed=2))
    return model


class Moved(nn.Module):
    """A second part of a model: it adds a learned vector, at first zeros."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.by = nn.Parameter(torch.zeros(features))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.by


def observe_updates(function: Callable[..., Any]) -> Callable[..., Any]:
    """The weights after three updates of a small model with momentum, and what is left behind."""

    def observed(x: Tensor, y: Tensor, rate: float) -> dict[str, Any]:
        model = nn.Sequential(small_model(x, y), Moved(y.size(-1)), Moved(y.size(-1)))
        model[2].by = model[1].by  # tied: one weight of two names
        groups = [{"params": [weight]} for weight in model.parameters()]
        optimizer = torch.optim.SGD(groups, lr=rate, momentum=0.5)
        weights = []
        calls = 0

        def compute_loss() -> Tensor:
            nonlocal calls
            calls += 1
            # A loss may be negative: what counts is how it changes.
            return (model(x) - y).square().mean() - 2

        for _ in range(3):
            function(model, optimizer, compute_loss)
            weights.append(model[0].weight.detach().clone())
        found = {f"the weight after update {i + 1}": weight for i, weight in enumerate(weights)}
        return {
            **found,
            "the model in training mode": model.training,
            "losses computed in three updates": calls,
        }

    return observed


def update_pipeline(s, model, optimizer, compute_loss):
    s.before(optimizer)
    loss = compute_loss()
    s.steps(loss, optimizer, model)
    s.after(optimizer)


def backward_then_step(loss: Tensor, optimizer: torch.optim.Optimizer, model: nn.Module) -> None:
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def update_cases() -> Sequence[Case]:
    long = tuple(
        Case(
            f"{batch} examples, rate {rate}",
            (scale * normal(batch, 3, seed=batch), normal(batch, 2, seed=batch + 1), rate),
        )
        for batch, rate, scale in ((4, 0.1, 1.0), (8, 0.5, 3.0), (2, 0.05, 2.0))
    )

    def nearly_right(batch: int, seed: int) -> tuple[Tensor, Tensor]:
        """Examples that the first weights almost explain, so that the gradients are short."""
        x = normal(batch, 3, seed=seed)
        y = x @ normal(2, 3, seed=1).T + normal(2, seed=2)
        return x, y + 0.1 * normal(batch, 2, seed=seed + 1)

    short = tuple(
        Case(f"{batch} examples nearly right, rate {rate}", (*nearly_right(batch, seed), rate))
        for batch, seed, rate in ((5, 30, 0.2), (3, 40, 0.5), (1, 50, 0.1))
    )
    done = Case(
        "nothing to learn", (torch.zeros(2, 3), normal(2, seed=2).expand(2, 2).clone(), 0.1)
    )
    # With so large a rate an update shows that is 65,536 times too short, too.
    far = 30 * normal(4, 3, seed=60), 100 * normal(4, 2, seed=61), 1000.0
    return (*long, *short, done, Case("very far off, rate 1000", far))


def nothing_to_learn(model: nn.Module, compute_loss: Callable[[], Tensor]) -> bool:
    gradients = torch.autograd.grad(compute_loss(), [*model.parameters()])
    return not any(gradient.any() for gradient in gradients)


UPDATE = Component(
    name="training_update",
    chapter=16,
    order=1,
    section="One update, line by line",
    signature="model, optimizer, compute_loss",
    pipeline=update_pipeline,
    steps={
        "before": lambda optimizer: optimizer.zero_grad(),
        "steps": backward_then_step,
        "after": lambda optimizer: None,
    },
    cases=update_cases,
    returns="nothing that is looked at: one update, a step of the `optimizer` with the gradients "
    "clipped at a common length of 1; `compute_loss()`, called once, gives the loss, in which "
    "every weight has a part; before the first update no weight has a gradient, and the model is "
    "in training mode and stays in it; judged by that and by the weights after three updates",
    differentiable=False,
    observe=observe_updates,
    done_by="Trainer",
    met="worse",
    boundaries={
        "gradients of 0": nothing_to_learn,
        "a loss above 1000": lambda compute_loss: compute_loss() > 1000,
        "a learning rate above 100": lambda optimizer: optimizer.param_groups[0]["lr"] > 100,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(UPDATE)


Optimizer = torch.optim.Optimizer


@mistake(
    "before",
    "gradients not zeroed",
    met=("worse", 2),
    symptom="From the second update on, each step also goes along all earlier gradients.",
    cause="backward() adds to .grad: call optimizer.zero_grad() first.",
    seen="[ez] zero grad every step, https://github.com/meta-pytorch/torchforge/pull/71",
)
def not_zeroed(optimizer: Optimizer) -> None:
    """Does nothing, and that is the mistake."""


@mistake(
    "steps",
    "clipped before backward",
    met=("worse", 8),
    symptom="The step is taken with gradients of full length.",
    cause="There is nothing to clip before backward(): clip between backward() and step().",
    seen="Clip gradients in configure_gradient_clipping instead of training_step, "
    "https://github.com/simchowitzlabpublic/nano-world-model/pull/22",
)
def clipped_too_early(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss.backward()
    optimizer.step()


@mistake(
    "steps",
    "clipped after the step",
    symptom="The step is taken with gradients of full length.",
    cause="Clip between backward() and step().",
    seen="Incorrect use of torch.nn.utils.clip_grad_norm, "
    "https://github.com/VGraphRNN/VGRNN/issues/4",
)
def clipped_too_late(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@mistake(
    "steps",
    "step before backward",
    met=("flat", 2),
    symptom="The weights never change.",
    cause="Call zero_grad(), backward(), clip_grad_norm_() and step(), once each and in this "
    "order: backward() on the loss that compute_loss() gave, not on a copy of its number.",
)
def stepped_too_early(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    optimizer.step()
    loss.backward()


@mistake(
    "before",
    "step at the top, before the loss",
    symptom="Each update goes along the gradient of the batch before, and the last one is lost.",
    cause="step() stands before the loss is computed: backward() first, then step().",
    steps={"steps": lambda loss, optimizer, model: _backward_and_clip(loss, model)},
)
def stepped_at_the_top(optimizer: Optimizer) -> None:
    optimizer.step()
    optimizer.zero_grad()


def _backward_and_clip(loss: Tensor, model: nn.Module) -> None:
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@mistake(
    "steps",
    "gradients zeroed after backward",
    met=("flat", 1),
    symptom="The weights never change.",
    cause="If zero_grad() stands between backward() and step(), call it before backward().",
)
def zeroed_too_late(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()


@mistake(
    "steps",
    "two steps in one update",
    symptom="With plain gradient descent each update moves twice as far.",
    cause="Call step() once in an update.",
)
def two_steps(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    backward_then_step(loss, optimizer, model)
    optimizer.step()


def clipped_apart(groups: Callable[[nn.Module], Iterable[Any]]) -> Callable[..., None]:
    """Backward, and a step with the gradients of each group of parameters clipped on its own."""

    def steps(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
        loss.backward()
        for group in groups(model):
            nn.utils.clip_grad_norm_(group, 1.0)
        optimizer.step()

    return steps


mistake(
    "steps",
    "each parameter clipped on its own",
    symptom="The direction of the step may change.",
    cause="Hand all parameters to clip_grad_norm_ at once: their gradients are to have a common "
    "length of 1 at most.",
)(clipped_apart(lambda model: ([weight] for weight in model.parameters())))


mistake(
    "steps",
    "each part of the model clipped on its own",
    symptom="The direction of the step may change.",
    cause="Hand the parameters of all parts to clip_grad_norm_ at once, model.parameters(): their "
    "gradients are to have a common length of 1 at most.",
)(clipped_apart(lambda model: (part.parameters() for part in model.children())))


@mistake(
    "steps",
    "entries clipped in place of the length",
    symptom="Each entry of the gradients is cut off at 1, and the direction may change.",
    cause="Call clip_grad_norm_, not clip_grad_value_.",
)
def entries_clipped(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()


@mistake(
    "steps",
    "gradients always brought to length one",
    symptom="Short gradients are made longer.",
    cause="Clip only what is longer than 1: clip_grad_norm_ leaves short gradients alone.",
    section="Clipping",
    chapter=15,
)
def always_unit_length(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    loss.backward()
    size = length([p.grad for p in model.parameters()])
    for parameter in model.parameters():
        parameter.grad /= size
    optimizer.step()


@mistake(
    "steps",
    "clipping left out",
    symptom="The step is taken with gradients of full length.",
    cause="Clip in place between backward() and step(): clip_grad_norm_(model.parameters(), 1.0).",
)
def never_clipped(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    loss.backward()
    optimizer.step()


@mistake(
    "before",
    "gradients zeroed at the end of an update",
    symptom="Nothing changes, as long as nothing else calls backward().",
    cause="What counts is that they are zero before backward().",
    kind="harmless",
    steps={"after": lambda optimizer: optimizer.zero_grad()},
)
def zeroed_at_the_end(optimizer: Optimizer) -> None:
    """Does nothing: the step `after` does it."""
