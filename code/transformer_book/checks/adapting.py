"""Components of chapter 27: LoRA, and what a draw may choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer_book.checks.attention import normal
from transformer_book.checks.components import Case, Component

# --- LoRA ----------------------------------------------------------------------------------------


def matrices(rows: int, columns: int, rank: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """A weight, the projection down and the one up again."""
    return (
        normal(rows, columns, seed=seed),
        normal(rank, columns, seed=seed + 1),
        normal(rows, rank, seed=seed + 2),
    )


BY_HAND = (
    torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]),
    torch.tensor([[1.0, 2.0]]),
    torch.tensor([[1.0], [0.0], [-1.0]]),
)


def lora_cases() -> Sequence[Case]:
    return (
        Case("by hand: rank 1 beside 3 × 2", (torch.tensor([[3.0, 1.0]]), *BY_HAND, 2.0)),
        Case("rank 2", (normal(2, 3, 4, seed=1), *matrices(5, 4, 2, 10), 6.0)),
        Case("rank 3, α smaller than it", (normal(4, 6, seed=2), *matrices(4, 6, 3, 20), 0.5)),
        Case("as many rows as columns", (normal(2, 2, 4, seed=3), *matrices(4, 4, 2, 30), 5.0)),
        Case("another square", (normal(3, 5, seed=4), *matrices(5, 5, 3, 40), 7.0)),
        Case("a third square", (normal(6, 3, seed=5), *matrices(3, 3, 2, 50), 1.5)),
        Case("rank 4", (normal(2, 6, seed=6), *matrices(7, 6, 4, 60), 10.0)),
        Case("a single vector", (normal(4, seed=7), *matrices(3, 4, 2, 70), 3.0)),
    )


LORA = Component(
    name="lora",
    chapter=27,
    section="LoRA, by hand",
    signature="x, weight, down, up, alpha",
    pipeline=lambda s, x, weight, down, up, alpha: s.join(
        s.base(x, weight), s.change(x, down, up), s.factor(alpha, down), x
    ),
    steps={
        "base": lambda x, weight: x @ weight.T,
        "change": lambda x, down, up: x @ down.T @ up.T,
        "factor": lambda alpha, down: alpha / down.size(0),
        "join": lambda base, change, factor, x: base + factor * change,
    },
    cases=lora_cases,
    returns="`(…, O)`: what `x` becomes under the frozen `weight` (O, I), plus α/r times what it "
    "becomes under `down` (r, I) and then `up` (O, r)",
)


def merged_cases() -> Sequence[Case]:
    return tuple(
        Case(case.name, case.arguments[1:]) for case in lora_cases() if case.arguments[0].dim() > 1
    )


MERGED_WEIGHT = Component(
    name="merged_weight",
    chapter=27,
    section="Merging",
    signature="weight, down, up, alpha",
    pipeline=lambda s, weight, down, up, alpha: s.join(
        weight, s.change(down, up), s.factor(alpha, down)
    ),
    steps={
        "change": lambda down, up: up @ down,
        "factor": lambda alpha, down: alpha / down.size(0),
        "join": lambda weight, change, factor: weight + factor * change,
    },
    cases=merged_cases,
    returns="the one matrix (O, I) that computes what `weight` (O, I), `down` (r, I) and `up` "
    "(O, r) compute together",
)


def drawing(seed: int) -> Callable[..., Tensor]:
    """A `draw(*shape)`; the same shape gives the same numbers."""
    return lambda *shape: normal(*shape, seed=seed)


def start_cases() -> Sequence[Case]:
    return tuple(
        Case(f"{rows} × {columns}, rank {rank}", (normal(rows, columns, seed=i), rank, drawing(i)))
        for i, (rows, columns, rank) in enumerate(
            ((3, 2, 1), (4, 5, 2), (4, 4, 3), (5, 5, 2), (6, 6, 6))
        )
    )


LORA_START = Component(
    name="lora_start",
    chapter=27,
    section="How it begins",
    signature="weight, rank, draw",
    pipeline=lambda s, weight, rank, draw: (
        s.down(rank, weight.size(1), draw),
        s.up(weight.size(0), rank, draw),
    ),
    steps={
        "down": lambda rank, columns, draw: draw(rank, columns),
        "up": lambda rows, rank, draw: torch.zeros(rows, rank),
    },
    cases=start_cases,
    returns="the pair `down` (r, I), random, and `up` (O, r), so that at first nothing changes; "
    "`draw(*shape)` gives random numbers",
    differentiable=False,
)

# --- what a draw may choose ----------------------------------------------------------------------

FOUR = torch.tensor([[0.15, 0.5, 0.1, 0.25]]).log()


def top_p_cases() -> Sequence[Case]:
    return (
        Case("four tokens, p = 0.7", (FOUR, 0.7)),
        Case("four tokens, p = 0.8", (FOUR, 0.8)),
        Case("less than the likeliest has", (FOUR, 0.3)),
        Case("nearly all", (FOUR + 3, 0.95)),
        Case("two rows", (torch.cat([FOUR, FOUR.flip(1) * 3]), 0.6)),
        Case("eight tokens, random", (2 * normal(3, 8, seed=1), 0.9)),
        Case("five tokens, random", (normal(2, 5, seed=2) - 4, 0.5)),
        Case("logits far from zero", (normal(2, 6, seed=3) + 40, 0.75)),
    )


def nucleus(logits: Tensor, top_p: float) -> Tensor:
    p, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    kept = torch.zeros_like(logits).scatter(-1, order, (p.cumsum(dim=-1) - p < top_p).to(p.dtype))
    return kept > 0


def drop(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.masked_fill(~kept, float("-inf"))


TOP_P = Component(
    name="top_p_probabilities",
    chapter=27,
    section="Top-p and min-p, by hand",
    signature="logits, top_p",
    pipeline=lambda s, logits, top_p: s.share(s.drop(logits, s.keep(logits, top_p))),
    steps={"keep": nucleus, "drop": drop, "share": lambda logits: logits.softmax(dim=-1)},
    cases=top_p_cases,
    returns="probabilities `(B, V)`: of each row's fewest likeliest tokens whose probabilities "
    "reach `top_p`, 0 < top_p < 1, summing to one; all others zero; no two tokens are equally "
    "likely",
    differentiable=False,
)


def min_p_cases() -> Sequence[Case]:
    return (
        Case("four tokens, a quarter of the best", (FOUR, 0.25)),
        Case("four tokens, a third", (FOUR, 0.33)),
        Case("the best alone", (FOUR - 2, 0.6)),
        Case("a sure row and an unsure one", (torch.cat([FOUR * 3, FOUR / 4]), 0.4)),
        Case("eight tokens, random", (2 * normal(3, 8, seed=4), 0.1)),
        Case("nine tokens, random", (normal(2, 9, seed=5) + 5, 0.3)),
        Case("logits below zero", (normal(2, 6, seed=6) - 6, 0.5)),
        Case("one row a little surer", (torch.cat([FOUR * 1.5, FOUR]), 0.25)),
        Case("the other one", (torch.cat([FOUR, FOUR * 1.4]) + 2, 0.28)),
        Case("three rows", (torch.cat([FOUR.flip(1), FOUR * 1.6, FOUR * 1.2]), 0.25)),
        Case("as likely as the likeliest", (normal(2, 5, seed=7), 1.0)),
    )


MIN_P = Component(
    name="min_p_probabilities",
    chapter=27,
    section="Top-p and min-p, by hand",
    signature="logits, min_p",
    pipeline=lambda s, logits, min_p: s.share(
        s.drop(logits, s.keep(s.p(logits), s.bound(s.p(logits), min_p)))
    ),
    steps={
        "p": lambda logits: logits.softmax(dim=-1),
        "bound": lambda p, min_p: min_p * p.amax(dim=-1, keepdim=True),
        "keep": lambda p, bound: p >= bound,
        "drop": drop,
        "share": lambda logits: logits.softmax(dim=-1),
    },
    cases=min_p_cases,
    returns="probabilities `(B, V)`: of the tokens at least `min_p` times as likely as the "
    "likeliest of their row, 0 < min_p ≤ 1, summing to one; all others zero",
    differentiable=False,
)

COMPONENTS = (LORA, MERGED_WEIGHT, LORA_START, TOP_P, MIN_P)
