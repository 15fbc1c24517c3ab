"""Components of chapters 15 and 16: losses, perplexity, schedule, clipping, one update."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book.checks.attention import normal, sentences
from transformer_book.checks.components import Case, Component

# --- losses --------------------------------------------------------------------------------------


def loss_pipeline(s, logits, target):
    losses = -s.log_p(logits).gather(2, target[..., None]).squeeze(2)  # (B, T)
    return s.average(losses, s.real(target))


def loss_cases() -> Sequence[Case]:
    by_hand = torch.tensor([[[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 3.0]]])
    far = torch.tensor([[[0.0, 0.0, 0.0, 0.0, 90.0], [0.0, 120.0, 0.0, 100.0, 0.0]]])
    sure = normal(2, 3, 5, seed=13)
    sure[0, 0, 2] = 60.0  # beside it, all other exponentials are rounded away
    return (
        Case("by hand: no padding", (by_hand, torch.tensor([[1, 3]]))),
        Case("by hand: one padding", (by_hand, torch.tensor([[1, 0]]))),
        Case("two sentences of different length", _batch(5, 2, seed=1)),
        Case("three sentences", _batch(2, 6, 3, seed=3)),
        Case("as many sentences as tokens", _batch(1, 3, 2, seed=5)),
        Case("very sure logits", (20 * _batch(4, 1, seed=7)[0], _batch(4, 1, seed=7)[1])),
        Case(
            "special tokens", (normal(2, 4, 6, seed=9), torch.tensor([[1, 3, 5, 2], [3, 2, 0, 0]]))
        ),
        Case("one sentence, padded", (normal(1, 4, 5, seed=10), torch.tensor([[4, 2, 0, 0]]))),
        Case("ends alone", (normal(3, 1, 5, seed=11), torch.tensor([[2], [2], [0]]))),
        Case("a word given up for lost", (far, torch.tensor([[2, 4]])), rough=True),
        Case("another one", (-far, torch.tensor([[4, 1]])), rough=True),
        Case("and padding", (far.flip(1), torch.tensor([[2, 0]])), rough=True),
        Case("a word of probability one", (sure, torch.tensor([[2, 3, 0], [1, 2, 3]]))),
        Case(
            "padding in front",
            (normal(2, 4, 5, seed=12), torch.tensor([[0, 4, 3, 2], [0, 0, 1, 2]])),
        ),
    )


def _batch(*lengths: int, seed: int) -> tuple[Tensor, Tensor]:
    return normal(len(lengths), max(lengths), 20, seed=seed), sentences(*lengths, seed=seed + 1)


CROSS_ENTROPY = Component(
    name="cross_entropy",
    chapter=15,
    section="Three tokens, by hand",
    signature="logits, target",
    pipeline=loss_pipeline,
    steps={
        "log_p": lambda logits: logits.log_softmax(dim=-1),
        "real": lambda target: target != 0,
        "average": lambda losses, real: losses[real].mean(),
    },
    cases=loss_cases,
    # The logarithm of a softmax that underflows is another mistake than those beside it.
    settled=lambda case, answer: 0.0 if case.rough else answer,
    returns="a tensor `()` from logits `(B, T, V)` and ids `(B, T)`: the mean of −log p over all "
    "real tokens (padding is 0, wherever it stands), of which there is one at least, in nats",
)


def smoothed_pipeline(s, logits, target, smoothing):
    log_p = s.log_p(logits)  # (B, T, V)
    nll = -log_p.gather(2, target[..., None]).squeeze(2)  # (B, T)
    losses = s.mix(nll, s.spread(log_p, nll), smoothing)  # (B, T)
    return s.average(losses, s.real(target))


SMOOTHED = Component(
    name="label_smoothed_loss",
    chapter=15,
    section="Two definitions",
    signature="logits, target, smoothing",
    pipeline=smoothed_pipeline,
    steps={
        "log_p": lambda logits: logits.log_softmax(dim=-1),
        "spread": lambda log_p, nll: -log_p.mean(dim=-1),
        "mix": lambda nll, spread, epsilon: (1 - epsilon) * nll + epsilon * spread,
        "real": lambda target: target != 0,
        "average": lambda losses, real: losses[real].mean(),
    },
    cases=lambda: tuple(
        Case(f"{case.name}, ε = {epsilon}", (*case.arguments, epsilon), rough=case.rough)
        for case, epsilon in zip(
            loss_cases(),
            (0.1, 0.1, 0.3, 0.2, 0.0, 0.1, 0.2, 0.5, 1.0, 0.1, 0.3, 0.0, 0.2, 0.4),
            strict=True,
        )
    ),
    settled=CROSS_ENTROPY.settled,
    returns="a tensor `()`: (1 − ε) (−log p of the right token) + ε / V · Σ (−log p), averaged "
    "over real tokens (padding is 0, wherever it stands), of which there is one at least",
)


def perplexity_cases() -> Sequence[Case]:
    return (
        Case("two batches of equal size", ([1.0, 3.0], [10, 10])),
        Case("a large and a small batch", ([1.0, 3.0], [30, 10])),
        Case("one batch", ([2.5], [7])),
        Case("three batches", ([0.5, 4.0, 2.0], [3, 5, 40])),
        Case("another three", ([3.0, 0.1, 0.2], [1, 20, 9])),
        Case("batches of one token", ([0.0, 2.0, 0.5, 1.5], [1, 1, 1, 1])),
        Case("a very high loss", ([12.3456, 10.4321], [2, 3])),
        Case("thousands of tokens", ([2.0, 3.5], [3000, 5000])),
    )


PERPLEXITY = Component(
    name="perplexity",
    chapter=15,
    section="Perplexity",
    signature="losses, counts",
    pipeline=lambda s, losses, counts: s.power(s.average(losses, counts)),
    steps={
        "average": lambda losses, counts: (
            sum(loss * n for loss, n in zip(losses, counts, strict=True)) / sum(counts)
        ),
        "power": math.exp,
    },
    cases=perplexity_cases,
    returns="exp of the mean loss per token, from each batch's mean loss (nats) and its number of "
    "tokens, two lists of numbers",
    differentiable=False,
)

# --- schedule and clipping -----------------------------------------------------------------------

SCHEDULE = Component(
    name="inverse_sqrt_schedule",
    chapter=15,
    section="The schedule",
    signature="update, d_model, warmup",
    pipeline=lambda s, update, d_model, warmup: s.width(d_model) * s.time(update, warmup),
    steps={
        "width": lambda d_model: d_model**-0.5,
        "time": lambda update, warmup: min(update**-0.5, update * warmup**-1.5),
    },
    cases=lambda: tuple(
        Case(f"update {n}, d_model = {d}, {w} updates of warm-up", (n, d, w))
        for n, d, w in (
            (1, 512, 4000),
            (2000, 512, 4000),
            (4000, 512, 4000),
            (16000, 512, 4000),
            (50, 64, 100),
            (400, 64, 100),
            (3, 16, 2),
            (1, 32, 1),
            (9, 1, 3),
            (5000, 256, 8000),
        )
    ),
    returns="the learning rate of the 2017 paper, D^(−1/2) · min(n^(−1/2), n · warmup^(−3/2)); "
    "updates n count from 1",
    differentiable=False,
)


def clip_cases() -> Sequence[Case]:
    hand = [torch.tensor([3.0, 0.0]), torch.tensor([[0.0, 4.0]])]
    return (
        Case("a length of 5, limit 1", (hand, 1.0)),
        Case("a length of 5, limit 10", (hand, 10.0)),
        Case("random, limit 1", ([normal(3, seed=1), normal(2, 2, seed=2)], 1.0)),
        Case("one long, one short", ([10 * normal(4, seed=3), 0.1 * normal(3, seed=4)], 2.0)),
        Case("short already", ([0.01 * normal(4, seed=5)], 1.0)),
        Case("two short ones", ([0.1 * normal(3, seed=9), 0.1 * normal(2, 2, seed=10)], 3.0)),
        Case("three tensors", ([normal(5, seed=6), normal(2, 3, seed=7), normal(1, seed=8)], 0.5)),
        Case("a length of 0", ([torch.zeros(3)], 1.0)),
        Case("long together only", ([torch.tensor([0.8]), torch.tensor([[-0.5, 0.6]])], 1.0)),
        Case("a limit below one", ([0.3 * normal(4, seed=11), normal(1, 2, seed=12)], 0.1)),
    )


def length(gradients: Sequence[Tensor]) -> Tensor:
    return torch.sqrt(sum(gradient.square().sum() for gradient in gradients))


CLIP = Component(
    name="clip_gradients",
    chapter=15,
    section="Clipping",
    signature="gradients, limit",
    pipeline=lambda s, gradients, limit: s.shorten(gradients, limit),
    steps={
        "shorten": lambda gradients, limit: [
            g * limit / length(gradients) if length(gradients) > limit else g for g in gradients
        ]
    },
    cases=clip_cases,
    returns="a list of tensors: if their common length, the root of the sum of all squares, is "
    "above `limit`, the same direction with a common length of `limit`; else the same numbers; "
    "1e-6 beside a length, as PyTorch adds it, is no matter. The gradients that came in stay as "
    "they are",
    differentiable=False,
)

# --- one update ----------------------------------------------------------------------------------


def observe_updates(function: Callable[..., Any]) -> Callable[..., Any]:
    """The weights after three updates of a small model with plain gradient descent."""

    def observed(x: Tensor, y: Tensor, rate: float) -> dict[str, Any]:
        model = nn.Linear(x.size(-1), y.size(-1))
        with torch.no_grad():
            model.weight.copy_(normal(*model.weight.shape, seed=1))
            model.bias.copy_(normal(*model.bias.shape, seed=2))
        groups = [{"params": [weight]} for weight in model.parameters()]
        optimizer = torch.optim.SGD(groups, lr=rate)
        weights = []
        for _ in range(3):
            # A loss may be negative: what counts is how it changes.
            function(model, optimizer, lambda: (model(x) - y).square().mean() - 2)
            weights.append(model.weight.detach().clone())
        return {f"the weight after update {i + 1}": weight for i, weight in enumerate(weights)}

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
    return (*long, *short)


UPDATE = Component(
    name="training_update",
    chapter=16,
    section="One update, line by line",
    signature="model, optimizer, compute_loss",
    pipeline=update_pipeline,
    steps={
        "before": lambda optimizer: optimizer.zero_grad(),
        "steps": backward_then_step,
        "after": lambda optimizer: None,
    },
    cases=update_cases,
    returns="nothing that is looked at: one update, with the gradients clipped at a common length "
    "of 1; `compute_loss()` gives the loss, in which every weight has a part; before the first "
    "update no weight has a gradient; judged by the weights after three updates",
    differentiable=False,
    observe=observe_updates,
)


def observe_accumulation(function: Callable[..., Any]) -> Callable[..., Any]:
    """The weights, and the rate that comes next, after each of three updates of a small model."""

    def observed(x: Tensor, y: Tensor, n_parts: int) -> dict[str, Any]:
        model = nn.Linear(x.size(-1), y.size(-1))
        with torch.no_grad():
            model.weight.copy_(normal(*model.weight.shape, seed=1))
            model.bias.copy_(normal(*model.bias.shape, seed=2))
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
    for part in parts:
        s.before_part(optimizer)
        s.share(compute_loss(part), parts).backward()
        s.after_part(optimizer, scheduler)
    s.after(optimizer, scheduler)


def step_both(optimizer: Any, scheduler: Any) -> None:
    optimizer.step()
    scheduler.step()


def accumulation_cases() -> Sequence[Case]:
    return tuple(
        Case(
            f"{batch} examples in {n_parts} parts",
            (normal(batch, 3, seed=batch), normal(batch, 2, seed=batch + 1), n_parts),
        )
        for batch, n_parts in ((4, 2), (6, 3), (8, 4), (6, 2), (3, 1), (5, 5))
    )


ACCUMULATION = Component(
    name="accumulated_update",
    chapter=16,
    section="One update, line by line",
    signature="optimizer, scheduler, parts, compute_loss",
    pipeline=accumulation_pipeline,
    steps={
        "before": lambda optimizer: optimizer.zero_grad(),
        "before_part": lambda optimizer: None,
        "share": lambda loss, parts: loss / len(parts),
        "after_part": lambda optimizer, scheduler: None,
        "after": step_both,
    },
    cases=accumulation_cases,
    returns="nothing that is looked at: one update for a batch cut into equally large parts, "
    "`compute_loss(part)` is the mean loss of one; nothing is clipped; then the schedule moves on "
    "by one. Judged by the weights and the rate after each of three updates",
    differentiable=False,
    observe=observe_accumulation,
)


def loss_table(
    seed: int, least: float = 2.0, spread: float = 1.0
) -> Callable[[int, Sequence[int]], float]:
    """The mean loss of a checkpoint on a batch: made up, the same at every call."""
    table = least + spread * normal(9, 9, seed=seed).double()
    return lambda checkpoint, batch: float(table[checkpoint, batch[0]])


def best_cases() -> Sequence[Case]:
    sizes = ((1, 9, 2), (7, 1, 1), (3, 3, 8), (1, 1, 12, 2), (2, 9), (6, 2, 1, 1), (1, 4, 9))
    return tuple(
        Case(
            f"{4 + i % 3} checkpoints, {len(lengths)} batches",
            (
                # A checkpoint's number is not its place: older ones have been deleted.
                list(range(8 - i % 3, 8 - i % 3 - (4 + i % 3), -1)),
                # Its first token tells a batch from the others; some come twice.
                [[b, *(4 + j * j % 5 for j in range(n - 1))] for b, n in enumerate(lengths)],
                # All are bad, or nearly the same.
                loss_table(40 + i, 2.0 if i % 4 else 120.0, 0.002 if i % 6 == 5 else 1.0),
            ),
        )
        for i, lengths in enumerate((*sizes, *sizes[:-2]))
    )


def mean_per_token(measured: Sequence[tuple[float, int]]) -> float:
    return sum(loss * n for loss, n in measured) / sum(n for _, n in measured)


BEST = Component(
    name="best_checkpoint",
    chapter=16,
    section="Two hundred pairs",
    signature="checkpoints, batches, loss_of",
    pipeline=lambda s, checkpoints, batches, loss_of: s.choose(
        [
            s.average([(loss_of(c, batch), len(batch)) for batch in s.measured(batches)])
            for c in checkpoints
        ]
    ),
    steps={
        "measured": lambda batches: batches,
        "average": mean_per_token,
        "choose": lambda losses: losses.index(min(losses)),
    },
    cases=best_cases,
    returns="the place (0, 1, …) of the checkpoint with the lowest validation loss per token; "
    "`batches` are lists of tokens, and `loss_of(checkpoint, batch)` is the mean loss per token "
    "of one batch; no two are equally good",
    differentiable=False,
)


def checkpoint_cases() -> Sequence[Case]:
    def checkpoint(seed: int) -> dict[str, Tensor]:
        return {"weight": normal(2, 3, seed=seed), "bias": normal(2, seed=seed + 1)}

    hand = [{"weight": torch.tensor([1.0, 2.0])}, {"weight": torch.tensor([3.0, 6.0])}]
    return (
        Case("two checkpoints, by hand", (hand,)),
        Case("three", ([checkpoint(seed) for seed in (1, 3, 5)],)),
        Case("one", ([checkpoint(7)],)),
        Case("four", ([checkpoint(seed) for seed in range(20, 28, 2)],)),
        Case("five", ([checkpoint(seed) for seed in range(10, 20, 2)],)),
        Case("seven", ([checkpoint(seed) for seed in range(30, 44, 2)],)),
    )


def mean_of(checkpoints: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    return {
        name: torch.stack([checkpoint[name] for checkpoint in checkpoints]).mean(dim=0)
        for name in checkpoints[0]
    }


AVERAGE = Component(
    name="average_checkpoints",
    chapter=16,
    section="The average of five models",
    signature="checkpoints",
    pipeline=lambda s, checkpoints: s.average(checkpoints),
    steps={"average": mean_of},
    cases=checkpoint_cases,
    returns="a dictionary of tensors: the mean of each weight, a tensor of floating-point "
    "numbers, over the checkpoints",
    differentiable=False,
)

COMPONENTS = (
    CROSS_ENTROPY,
    SMOOTHED,
    PERPLEXITY,
    SCHEDULE,
    CLIP,
    UPDATE,
    ACCUMULATION,
    BEST,
    AVERAGE,
)
