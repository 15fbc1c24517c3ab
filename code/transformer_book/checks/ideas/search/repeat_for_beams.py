"""Repeat for beams (chapter 17): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import addresses, normal, sentences


def beams_cases() -> Sequence[Case]:
    def batch(name: str, n_beams: int, *lengths: int, seed: int = 0, d_model: int = 2) -> Case:
        tokens = sentences(*lengths)
        memory = (
            normal(*tokens.shape, d_model, seed=seed) if seed else addresses(*tokens.shape, d_model)
        )
        return Case(name, (memory, (tokens != 0)[:, None, None, :], n_beams))

    return (
        batch("two sentences, two beams", 2, 3, 1),
        batch("two sentences, three beams", 3, 2, 4),
        batch("four sentences, two beams", 2, 1, 3, 2, 4),
        batch("one sentence", 3, 4),
        batch("one beam", 1, 2, 3),
        batch("as many sentences as beams", 3, 2, 1, 3, seed=1),
        batch("as many positions as beams", 2, 2, 1, 2, seed=2, d_model=3),
        batch("one token each", 2, 1, 1, seed=3),
        Case(
            "padding in front, five beams",
            (
                normal(2, 3, 2, seed=4),
                torch.tensor([[False, True, True], [False, False, True]])[:, None, None],
                5,
            ),
        ),
        Case(
            "padding in the middle and alone, a sentence twice, twelve beams",
            (
                normal(2, 4, 3, seed=5)[[0, 1, 0]],
                torch.tensor([[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 0]]).bool()[:, None, None],
                12,
            ),
        ),
        batch("one sentence of one token, one beam", 1, 1, seed=6, d_model=1),
    )


BEAMS = Component(
    name="repeat_for_beams",
    chapter=17,
    order=9,
    section="Many sentences at once",
    signature="memory, mask, n_beams",
    pipeline=lambda s, memory, mask, n_beams: (
        s.memory_rows(memory, n_beams),
        s.mask_rows(mask, n_beams),
    ),
    steps={
        "memory_rows": lambda memory, n: memory.repeat_interleave(n, dim=0),
        "mask_rows": lambda mask, n: mask.repeat_interleave(n, dim=0),
    },
    cases=beams_cases,
    returns="`(memory, mask)` for a search with `n_beams` beams for each sentence, from the "
    "encoder's output `(B, S, D)` and its mask `(B, 1, 1, S)`: `(B · n_beams, S, D)` and "
    "`(B · n_beams, 1, 1, S)`, in which row `b · n_beams + i` belongs to beam i of sentence b",
    differentiable=False,
    met="nonsense",
    boundaries={
        "one beam": lambda n_beams: n_beams == 1,
        "one sentence": lambda memory: len(memory) == 1,
        "as many sentences as beams": lambda memory, n_beams: len(memory) == n_beams,
        "padding in front": lambda mask: not mask[..., 0].all(),
        "padding in the middle": lambda mask: (
            mask[..., 2:] & ~mask[..., 1:-1] & mask[..., :-2]
        ).any(),
        "padding alone": lambda mask: not mask.any(-1).all(),
        "a sentence twice": lambda memory: len({str(s.tolist()) for s in memory}) < len(memory),
        "more than ten beams": lambda n_beams: n_beams > 10,
        "one token": lambda memory: memory.size(1) == 1,
        "more than four beams": lambda n_beams: n_beams > 4,
        "as many positions as beams": lambda memory, n_beams: memory.size(1) == n_beams,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(BEAMS)


def tiled(x: Tensor, n: int) -> Tensor:
    return x.repeat(n, *[1] * (x.dim() - 1))


mistake(
    "memory_rows",
    "whole batch repeated, not each sentence",
    symptom="With several sentences and beams, some beams read the source of another sentence.",
    cause="Lay a sentence's beams side by side, a, a, b, b, not a, b, a, b, as "
    "`repeat_interleave(n_beams, dim=0)` does.",
    steps={"mask_rows": tiled},
)(tiled)

mistake(
    "memory_rows",
    "memory repeated in the other order",
    symptom="With several sentences and beams, some beams read the source of another sentence, "
    "under the mask of their own.",
    cause="Lay a sentence's memories side by side, a, a, b, b, not a, b, a, b: "
    "`repeat_interleave(n_beams, dim=0)`.",
)(tiled)

mistake(
    "mask_rows",
    "mask repeated in the other order",
    symptom="With several sentences and beams, some beams read their source under another "
    "sentence's mask.",
    cause="Lay the mask as the memory lies, a, a, b, b, not a, b, a, b: "
    "`repeat_interleave(n_beams, dim=0)`.",
)(tiled)


@mistake(
    "mask_rows",
    "mask not repeated for the beams",
    met=("sizes", 0),
    symptom="With several beams the mask has too few rows; that of a single sentence is stretched, "
    "and works all the same.",
    cause="Each beam needs the mask of its sentence, returned beside the memory: "
    "`mask.repeat_interleave(n_beams, dim=0)`.",
)
def mask_left(mask: Tensor, n: int) -> Tensor:
    return mask


@mistake(
    "memory_rows",
    "first sentence for all beams",
    symptom="All beams read the first sentence.",
    cause="The first row alone is right for a batch of one: repeat each sentence.",
    steps={"mask_rows": lambda mask, n: mask[:1].repeat(len(mask) * n, 1, 1, 1)},
)
def first_for_all(memory: Tensor, n: int) -> Tensor:
    return memory[:1].repeat(len(memory) * n, 1, 1)


@mistake(
    "memory_rows",
    "positions repeated in place of sentences",
    met=("sizes", 0),
    symptom="The source has become longer, not the batch.",
    cause="dim=1 are the positions: repeat along dim=0.",
    steps={"mask_rows": lambda mask, n: mask.repeat_interleave(n, dim=-1)},
)
def positions_repeated(memory: Tensor, n: int) -> Tensor:
    return memory.repeat_interleave(n, dim=1)


@mistake(
    "memory_rows",
    "an axis for the beams, not flattened",
    met=("sizes", 0),
    symptom="There is an axis more, `(B, n_beams, S, D)`.",
    cause="The decoder knows one axis of rows: flatten the first two.",
    steps={"mask_rows": lambda mask, n: mask[:, None].expand(-1, n, -1, -1, -1)},
)
def not_flattened(memory: Tensor, n: int) -> Tensor:
    return memory[:, None].expand(-1, n, -1, -1)
