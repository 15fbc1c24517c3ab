"""Components of chapter 24: source and target as one sequence, what sees what, what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component

# --- what sees what ------------------------------------------------------------------------------


def prefix_cases() -> Sequence[Case]:
    def real(*rows: str) -> Tensor:
        return torch.tensor([[place == "1" for place in row] for row in rows])

    return (
        Case("three places of the source, three of the target", (real("111111"), 3)),
        Case("padding in the middle", (real("110111", "111111"), 3)),
        Case("padding behind both", (real("11001100", "11111111", "10001000"), 4)),
        Case("a short source, a long target", (real("1111111", "1011110"), 2)),
        Case("a source of one place", (real("1111", "1110"), 1)),
        Case("no prefix", (real("11111", "11100"), 0)),
        Case("nothing but prefix", (real("1111", "1100"), 4)),
        Case("padding in front", (real("001111", "111111", "011011"), 3)),
        Case("as many sentences as places", (real("1101", "1111", "1011", "1110"), 2)),
        Case("a row of padding", (real("000000", "111100"), 3)),
        Case("a text longer than any buffer", (torch.arange(1030)[None] % 7 > 0, 500)),
    )


def spread_out(case: Case, mask: Any) -> Any:
    """A smaller mask that is broadcast says the same as the whole one."""
    batch, length = case.arguments[0].shape
    try:
        return mask.expand(batch, 1, length, length)
    except (RuntimeError, AttributeError):
        return mask


PREFIX_MASK = Component(
    name="prefix_mask",
    chapter=24,
    section="What may see what",
    signature="real, prefix",
    pipeline=lambda s, real, prefix: s.both(
        s.tokens(real, prefix), s.seen(s.causal(real), s.opened(real, prefix))
    ),
    steps={
        "tokens": lambda real, prefix: real[:, None, None, :],
        "causal": lambda real: torch.ones_like(real[0]).expand(real.size(1), -1).tril(),
        "opened": lambda real, prefix: torch.arange(real.size(1)) < prefix,
        "seen": lambda causal, opened: causal | opened,
        "both": lambda keys, seen: keys & seen,
    },
    cases=prefix_cases,
    returns="a boolean mask `(B, 1, S+T, S+T)`, `True` = may attend, for one sequence of source "
    "and target: every place sees the first `prefix` places, itself, and what came before, unless "
    "that is padding; `real` `(B, S+T)` is `False` at the padding, which may stand anywhere",
    settled=spread_out,
    differentiable=False,
)

# --- what is asked -------------------------------------------------------------------------------


def pair_cases() -> Sequence[Case]:
    def ids(*rows: Sequence[int]) -> Tensor:
        return torch.tensor(rows)

    return (
        Case("one pair", (ids([5, 7, 2]), ids([1, 8, 9, 2]))),
        Case(
            "two pairs, padding in the middle and behind",
            (ids([5, 2, 0], [6, 7, 2]), ids([1, 8, 9, 4, 2], [1, 6, 2, 0, 0])),
        ),
        Case(
            "as long as each other", (ids([4, 5, 6, 2], [9, 2, 0, 0]), ids([1, 7, 8, 2]).tile(2, 1))
        ),
        Case("the shortest", (ids([2], [2]), ids([1, 2], [1, 2]))),
        Case(
            "a long source",
            (
                ids([4, 6, 5, 7, 8, 9, 2], [5, 2, 0, 0, 0, 0, 0], [7, 6, 5, 4, 2, 0, 0]),
                ids([1, 4, 2], [1, 2, 0], [1, 9, 2]),
            ),
        ),
        Case(
            "a long target",
            (ids([8, 2], [2, 0]), ids([1, 9, 8, 7, 6, 5, 4, 2], [1, 3, 3, 6, 6, 2, 0, 0])),
        ),
        Case("an unknown word on each side", (ids([3, 5, 2]), ids([1, 3, 6, 2]))),
        Case(
            "as many pairs as places",
            (ids([6, 5, 2], [3, 2, 0], [2, 0, 0]), ids([1, 6, 2]).tile(3, 1)),
        ),
        Case("large ids", (ids([70000, 300, 2]), ids([1, 40000, 300, 7, 2]))),
    )


ONE_STACK_LABELS = Component(
    name="one_stack_labels",
    chapter=24,
    section="Which places count",
    signature="source, target",
    pipeline=lambda s, source, target: s.out(
        s.join(s.first(source), s.goes_in(target)),
        s.join(s.unasked(source, target), s.asked(target)),
    ),
    steps={
        "first": lambda source: source,
        "goes_in": lambda target: target[:, :-1],
        "unasked": lambda source, target: torch.zeros_like(source),
        "asked": lambda target: target[:, 1:],
        "join": lambda source, target: torch.cat([source, target], dim=1),
        "out": lambda inputs, labels: (inputs, labels),
    },
    cases=pair_cases,
    returns="two tensors `(B, S + T)`: what one stack reads, the source and then what goes "
    "into a decoder, and what it is to say at each place, 0 where nothing is asked; `source` "
    "`(B, S)` is tokens and `<eos>` (2), `target` `(B, T + 1)` is `<sos>` (1), tokens and `<eos>`, "
    "both padded with 0 behind",
    differentiable=False,
)

COMPONENTS = (PREFIX_MASK, ONE_STACK_LABELS)
