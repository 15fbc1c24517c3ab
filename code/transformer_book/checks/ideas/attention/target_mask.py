"""Target mask (chapter 8): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer_book.checks.boundaries import PAD
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import OTHERS_IDS, sentences
from transformer_book.checks.ideas.attention.padding_mask import PADDING_MASK, token_cases


def spread_out(case: Case, mask: Any) -> Any:
    """A smaller mask that is broadcast says the same as the whole one."""
    batch, length = case.arguments[0].shape
    try:
        return mask.expand(batch, 1, length, length)
    except (RuntimeError, AttributeError):
        return mask


LONG = 2000  # tokens: whoever writes two loops over them would wait


def target_cases() -> Sequence[Case]:
    return (
        *(case for case in token_cases() if case.arguments[0].size(1) < LONG),
        Case(
            "padding between words, ids that are multiples of 256",
            (torch.tensor([[256, 0, 65536, 2, *OTHERS_IDS], [5, 0, 0, 512, *OTHERS_IDS]]),),
        ),
        Case(
            "five sentences of one token, one of padding",
            (torch.tensor([[3], [2], [9], [5], [0]]),),
        ),
        Case("a long text with padding behind", (F.pad(sentences(520, seed=6), (0, 10)),)),
    )


TARGET_MASK = Component(
    name="target_mask",
    chapter=8,
    order=3,
    section="The functions in the package",
    signature="tokens",
    pipeline=lambda s, tokens: s.both(s.padding(tokens), s.causal(tokens)),
    steps={
        "padding": lambda tokens: (tokens != 0)[:, None, None, :],
        "causal": lambda tokens: torch.ones(tokens.size(1), tokens.size(1)).tril().bool(),
        "both": lambda padding, causal: padding & causal,
    },
    cases=target_cases,
    returns="a boolean mask `(B, 1, T, T)`, `True` = may attend: to itself and to what came "
    "before, unless that is padding (token 0), which may stand anywhere",
    settled=spread_out,
    differentiable=False,
    met="worse",
    ready_made={
        "nn.Transformer.generate_square_subsequent_mask": (
            nn.modules.transformer._generate_square_subsequent_mask
        ),
        "masks.target_mask": "masks.target_mask",
        "masks.padding_mask": "masks.padding_mask",
        "masks.causal_mask": "masks.causal_mask",
    },
    boundaries={
        **{
            name: holds
            for name, holds in PADDING_MASK.boundaries.items()
            if name != "longer than 2048"
        },
        "padding between words": lambda tokens: (
            (tokens[:, 1:-1] == PAD) & (tokens[:, 2:] != PAD) & (tokens[:, :-2] != PAD)
        ).any(),
        "one token, of padding": lambda tokens: tokens.size(1) == 1 and (tokens == PAD).any(),
        "more than four sentences": lambda tokens: len(tokens) > 4,
        "padding beyond 512": lambda tokens: (tokens[:, 512:] == PAD).any(),
        "a multiple of 256": lambda tokens: ((tokens != PAD) & (tokens % 256 == 0)).any(),
        "a multiple of 65536": lambda tokens: ((tokens != PAD) & (tokens % 65536 == 0)).any(),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(TARGET_MASK)


@mistake(
    "both",
    "the future forgotten",
    met=("too-good", 1),
    symptom="The future is visible: padding alone is hidden.",
    cause="Hide the future, too: combine the mask of padding, by &, with a lower triangle, as "
    "tril() gives it.",
)
def padding_only(padding: Tensor, causal: Tensor) -> Tensor:
    return padding & torch.ones_like(causal)


@mistake(
    "both",
    "the padding forgotten",
    met=("harmless", 10),
    symptom="Padding is visible wherever a token would be: only the future is hidden.",
    cause="Hide padding, too: tokens != the id of padding, combined with the other mask by &.",
)
def causal_only(padding: Tensor, causal: Tensor) -> Tensor:
    return causal & torch.ones_like(padding)


@mistake(
    "both",
    "either in place of both",
    met=("too-good", 17),
    symptom="A key is visible if it is real or not in the future; it must be both.",
    cause="Combine what may be seen with &, or what is hidden with |.",
)
def either(padding: Tensor, causal: Tensor) -> Tensor:
    return padding | causal


@mistake(
    "padding",
    "query rows of the target masked",
    met=("harmless", 11),
    symptom="The rows of padded queries are hidden, and words see padding that stands before them.",
    cause="What counts is whether the key is padding, not the query: lay tokens != 0 along the "
    "last axis, (B, 1, 1, T).",
    section="Break it: masks that are nearly right",
)
def target_rows_hidden(tokens: Tensor) -> Tensor:
    return (tokens != 0)[:, None, :, None]


@mistake(
    "padding",
    "target padding inverted",
    met=("frequencies", 7),
    symptom="Only padding is visible.",
    cause="A key that is padding must become False, and a token stay: & with tokens != 0, or "
    "masked_fill where tokens == 0.",
    section="PyTorch's modules mean the opposite",
)
def target_padding_inverted(tokens: Tensor) -> Tensor:
    return (tokens == 0)[:, None, None, :]


@mistake(
    "causal",
    "diagonal of the target hidden",
    met=("nan", 7),
    symptom="A position does not see itself.",
    cause="The causal part leaves the diagonal out: a position may attend to itself.",
    section="Break it: masks that are nearly right",
)
def target_diagonal_hidden(tokens: Tensor) -> Tensor:
    return torch.ones(tokens.size(1), tokens.size(1)).tril(-1).bool()


@mistake(
    "causal",
    "next target token visible",
    met=("too-good", 7),
    symptom="A position sees the token it is to predict.",
    cause="The causal part is one too wide: it must end with the diagonal.",
    section="Break it: masks that are nearly right",
)
def target_next_visible(tokens: Tensor) -> Tensor:
    return torch.ones(tokens.size(1), tokens.size(1)).tril(1).bool()


@mistake(
    "causal",
    "causal part of the target transposed",
    met=("too-good", 18),
    symptom="A position sees the future and not the past.",
    cause="The causal part is the upper triangle, it must be the lower: row i is the query.",
    section="The three masks of one batch",
)
def target_upper(tokens: Tensor) -> Tensor:
    return torch.ones(tokens.size(1), tokens.size(1)).triu().bool()


@mistake(
    "both",
    "target mask without its axis of heads",
    symptom="The mask has the shape (B, T, T).",
    cause="Beside scores (B, H, T, T) its batch axis would meet the heads, silently when B "
    "equals H or H is 1: keep one more axis, (B, 1, T, T).",
    section="How a mask spreads",
)
def target_without_heads_axis(padding: Tensor, causal: Tensor) -> Tensor:
    return (padding & causal)[:, 0]


@mistake(
    "padding",
    "<sos> of the target hidden, too",
    symptom="<sos>, with which a target begins, is hidden with the padding.",
    cause="<sos>, 1, is a token that is read: padding is token 0 alone, tokens != 0.",
    section="The three masks of one batch",
)
def target_start_hidden(tokens: Tensor) -> Tensor:
    return (tokens > 1)[:, None, None, :]


@mistake(
    "padding",
    "all special tokens of the target hidden",
    symptom="<sos>, <eos> and <unk> are hidden with the padding.",
    cause="1, 2 and 3 are tokens that are read: padding is token 0 alone, tokens != 0.",
    section="The three masks of one batch",
)
def target_specials_hidden(tokens: Tensor) -> Tensor:
    return (tokens > 3)[:, None, None, :]


@mistake(
    "padding",
    "<eos> of the target hidden, too",
    symptom="<eos>, with which a sentence ends, is hidden with the padding.",
    cause="<eos>, 2, is a token that is read: padding is token 0 alone, tokens != 0.",
    section="The three masks of one batch",
)
def target_end_hidden(tokens: Tensor) -> Tensor:
    return ((tokens != 0) & (tokens != 2))[:, None, None, :]


@mistake(
    "padding",
    "padding of the first target for all",
    symptom="Every sentence has the padding of the first one.",
    cause="Compare every sentence's tokens, tokens != 0, not those of the first sentence alone.",
    section="The three masks of one batch",
)
def first_target_for_all(tokens: Tensor) -> Tensor:
    return (tokens[:1] != 0).expand(tokens.shape)[:, None, None, :]


@mistake(
    "both",
    "diagonal of the target always open",
    symptom="A padding sees itself.",
    cause="The diagonal is open everywhere: a hidden key stays hidden, from itself, too.",
)
def diagonal_open(padding: Tensor, causal: Tensor) -> Tensor:
    return padding & causal | torch.eye(len(causal), dtype=torch.bool)


@mistake(
    "both",
    "a target mask of numbers",
    symptom="The mask holds 0 and 1 as numbers.",
    cause="Return a boolean mask: make both parts boolean, and combine them with &.",
    section="PyTorch's modules mean the opposite",
)
def target_as_numbers(padding: Tensor, causal: Tensor) -> Tensor:
    return padding.float() * causal.float()
