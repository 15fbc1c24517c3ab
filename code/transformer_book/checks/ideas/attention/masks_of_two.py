"""Masks of two languages (chapter 8): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in


def two_cases() -> Sequence[Case]:
    def pair(name: str, source: list, target: list, source_pad: int, target_pad: int) -> Case:
        return Case(name, (torch.tensor(source), torch.tensor(target), source_pad, target_pad))

    return (
        pair("0 and 1", [[5, 7, 1, 0]], [[4, 6, 0, 1]], 0, 1),
        pair("3 and 0", [[5, 3, 3], [0, 4, 6]], [[7, 8, 3], [7, 0, 0]], 3, 0),
        pair("0 and 9", [[4, 9, 0, 0], [4, 5, 6, 2]], [[1, 9, 9], [1, 0, 8]], 0, 9),
        pair("2 and 5", [[0, 1, 5, 2]], [[6, 2, 4, 5, 5]], 2, 5),
        pair("alike, 0", [[8, 0], [3, 1]], [[4, 0, 0], [4, 5, 6]], 0, 0),
        pair("alike, 7", [[0, 8, 7]], [[1, 0, 7, 7]], 7, 7),
        pair("no padding", [[3, 4, 0]], [[5, 2, 6]], 1, 9),
        pair("as long as each other", [[4, 1, 0], [6, 0, 0]] * 2, [[0, 5, 1], [5, 1, 1]] * 2, 0, 1),
        pair("one token", [[0]], [[9]], 0, 9),
        pair(
            "padding in front, in the middle, and alone",
            [[9, 9, 265, 4], [7, 9, 3, 9], [9, 9, 9, 9]],
            [[0, 5, 256], [4, 0, 6], [0, 0, 0]],
            9,
            0,
        ),
        pair(
            "longer than any buffer, padding that is no small number",
            [[i % 7 * 8376 + (1, 2, 65537)[i % 3] for i in range(2050)]],
            [[i % 5 - 1 for i in range(2050)]],
            50257,
            -1,
        ),
    )


TWO = Component(
    name="masks_of_two",
    chapter=8,
    order=4,
    section="Two vocabularies, two padding ids",
    signature="source, target, source_pad, target_pad",
    pipeline=lambda s, source, target, source_pad, target_pad: (
        s.source_mask(source, source_pad, target_pad),
        s.causal(s.target_mask(target, source_pad, target_pad)),
    ),
    steps={
        "source_mask": lambda source, source_pad, target_pad: (source != source_pad)[:, None, None],
        "target_mask": lambda target, source_pad, target_pad: (target != target_pad)[:, None, None],
        "causal": lambda real: real & torch.ones(real.size(-1), real.size(-1)).tril().bool(),
    },
    cases=two_cases,
    returns="two boolean masks, `True` = may attend: that of the source, `(B, 1, 1, S)`, which "
    "hides its padding, `source_pad`; and that of the target, `(B, 1, T, T)`, which hides its own "
    "padding, `target_pad`, and what comes later. An id that is padding in one is a word in the "
    "other",
    differentiable=False,
    met="worse",
    boundaries={
        "two ids": lambda source_pad, target_pad: source_pad != target_pad,
        "one id": lambda source_pad, target_pad: source_pad == target_pad,
        "neither is 0": lambda source_pad, target_pad: source_pad * target_pad != 0,
        "one sentence": lambda source: len(source) == 1,
        "one token": lambda source, target: source.numel() == target.numel() == 1,
        "a target padded in front": lambda target, target_pad: bool(
            ((target[:, 0] == target_pad) & (target[:, -1] != target_pad)).any()
        ),
        "a target of padding alone": lambda target, target_pad: bool(
            (target == target_pad).all(1).any()
        ),
        "longer than 512": lambda target: target.size(1) > 512,
        "a padding id beyond one byte": lambda source_pad: source_pad > 256,
        "a padding id below 0": lambda target_pad: target_pad < 0,
        "a source of padding alone": lambda source, source_pad: bool(
            (source == source_pad).all(1).any()
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(TWO)


def hides_source_pad(tokens: Tensor, source_pad: int, target_pad: int) -> Tensor:
    return (tokens != source_pad)[:, None, None]


def hides_target_pad(tokens: Tensor, source_pad: int, target_pad: int) -> Tensor:
    return (tokens != target_pad)[:, None, None]


def hides_zero(tokens: Tensor, source_pad: int, target_pad: int) -> Tensor:
    return (tokens != 0)[:, None, None]


def hides_both(tokens: Tensor, source_pad: int, target_pad: int) -> Tensor:
    return ((tokens != source_pad) & (tokens != target_pad))[:, None, None]


def hides_none(tokens: Tensor, source_pad: int, target_pad: int) -> Tensor:
    return torch.ones_like(tokens, dtype=torch.bool)[:, None, None]


mistake(
    "target_mask",
    "padding id of the source used for the target",
    symptom="Where the two ids differ, padding of the target is seen, and words with the id "
    "`source_pad` are hidden.",
    cause="The target's padding is `target_pad`: each vocabulary has its padding id.",
)(hides_source_pad)

mistake(
    "source_mask",
    "padding id of the target used for the source",
    symptom="Where the two ids differ, padding of the source is seen, and words with the id "
    "`target_pad` are hidden.",
    cause="The source's padding is `source_pad`: each vocabulary has its padding id.",
)(hides_target_pad)

mistake(
    "source_mask",
    "padding ids exchanged",
    symptom="Where the two ids differ, padding is seen in both languages, and words with the "
    "other language's padding id are hidden.",
    cause="`source_pad`, which is given first, belongs to the source, `target_pad` to the target.",
    steps={"target_mask": hides_source_pad},
)(hides_target_pad)

mistake(
    "source_mask",
    "both padding ids hidden in both languages",
    symptom="Where the two ids differ, words with the other language's padding id are hidden.",
    cause="`source_pad` is padding in the source alone, `target_pad` in the target alone.",
    steps={"target_mask": hides_both},
)(hides_both)

mistake(
    "source_mask",
    "0 taken for the padding of both",
    symptom="Where a padding id is not 0, padding is seen, and words with the id 0 are hidden.",
    cause="Padding is not always 0: use `source_pad` and `target_pad`.",
    steps={"target_mask": hides_zero},
)(hides_zero)

mistake(
    "target_mask",
    "padding of the target not hidden",
    symptom="The target's mask hides only what comes later: padding is visible wherever a "
    "token would be.",
    cause="Padding may stand anywhere: combine the causal mask with `target != target_pad`.",
)(hides_none)

mistake(
    "source_mask",
    "padding of the source not hidden",
    symptom="The source's mask hides nothing.",
    cause="Hide the padding of the source: `source != source_pad`.",
)(hides_none)


@mistake(
    "causal",
    "the target sees what comes later",
    met=("too-good", 0),
    symptom="The target's mask hides padding alone: the words to come are seen.",
    cause="Combine the target's padding mask with the lower triangle, `torch.ones(T, "
    "T).tril().bool()`.",
)
def not_causal(real: Tensor) -> Tensor:
    return real.expand(-1, -1, real.size(-1), -1)


@mistake(
    "source_mask",
    "both masks turned round",
    symptom="True stands where False should, and False where True should.",
    cause="Here True means may attend; `nn.MultiheadAttention` means the opposite.",
    steps={"causal": lambda real: ~TWO.steps["causal"](real)},
)
def turned_round(source: Tensor, source_pad: int, target_pad: int) -> Tensor:
    return (source == source_pad)[:, None, None]
