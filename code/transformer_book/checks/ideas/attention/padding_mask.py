"""Padding mask (chapter 8): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import PAD, on, token_conditions
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import OTHERS_IDS, sentences


def token_cases() -> Sequence[Case]:
    every = [1, 5, 2, 3]  # every kind of token that is not padding, at every place
    return (
        Case("two sentences, one of them padded", (torch.tensor([[5, 7, 2], [9, 2, 0]]),)),
        Case("three sentences", (sentences(4, 1, 3, seed=1),)),
        Case("no padding at all", (sentences(3, 3, 3, 3, seed=2),)),
        Case("one sentence", (sentences(5, seed=3),)),
        Case("as many sentences as tokens", (sentences(4, 2, 3, 1, seed=4),)),
        Case("a row of padding", (torch.tensor([[4, 2, 0, 0], [0, 0, 0, 0]]),)),
        Case("the target of a decoder", (torch.tensor([[1, 6, 3, 2], [1, 2, 0, 0]]),)),
        Case("one sentence with padding", (torch.tensor([[1, 7, 0, 2, 0]]),)),
        Case("padding in front", (torch.tensor([[0, 0, 1, 2], [0, 7, 3, 2]]),)),
        Case(
            "special tokens at every place",
            (torch.tensor([every[i:] + every[:i] for i in range(4)]),),
        ),
        Case("one token", (torch.tensor([[1]]),)),
        Case("three sentences of one token", (torch.tensor([[3], [0], [9]]),)),
        Case("a text longer than any buffer", (sentences(1030, seed=5),)),
    )


def padding_cases() -> Sequence[Case]:
    """And one that is too long for a mask of pairs."""
    long = torch.cat([torch.arange(4099) % 4 * 65536, torch.tensor([256, *OTHERS_IDS])])
    return (*token_cases(), Case("longer still, padding inside, large ids", (long[None],)))


PADDING_MASK = Component(
    name="padding_mask",
    chapter=8,
    order=1,
    section="The three masks of one batch",
    signature="tokens",
    pipeline=lambda s, tokens: s.shape(s.real(tokens)),
    steps={
        "real": lambda tokens: tokens != 0,
        "shape": lambda real: real[:, None, None, :],
    },
    cases=padding_cases,
    returns="a boolean mask `(B, 1, 1, S)`, `True` = may attend; padding is token 0",
    differentiable=False,
    met="batch",
    ready_made={"masks.padding_mask": "masks.padding_mask"},
    boundaries=on("tokens", token_conditions())
    | {
        "one place": lambda tokens: tokens.size(1) == 1,
        "nothing but padding": lambda tokens: (tokens == PAD).all(1).any(),
        "padding in the middle": lambda tokens: (
            (tokens[:, 1:-1] == PAD) & (tokens[:, -1:] != PAD)
        ).any(),
        "an id beyond two bytes": lambda tokens: tokens.max() > 65535,
        "an id that is 0 in one byte": lambda tokens: (tokens == 256).any(),
        "longer than 2048": lambda tokens: tokens.size(1) > 2048,
        "padding in front": lambda tokens: ((tokens[:, 0] == PAD) & tokens.any(1)).any(),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(PADDING_MASK)


@mistake(
    "real",
    "padding mask inverted",
    met=("frequencies", 5),
    symptom="The mask is True at the padding and False at the words.",
    cause="True means 'may attend' in this book: it stands where tokens != 0. (PyTorch's "
    "key_padding_mask means the opposite.)",
    section="PyTorch's modules mean the opposite",
)
def true_at_padding(tokens: Tensor) -> Tensor:
    return tokens == 0


@mistake(
    "shape",
    "query rows masked",
    met=("batch", 6),
    symptom="The mask hides the rows of padded queries; padded keys stay visible.",
    cause="The axis of the tokens stands at the queries: a padding mask hides keys, (B, 1, 1, S).",
    section="Break it: masks that are nearly right",
    seen="nn.MultiheadAttention causes gradients to become NaN under some use cases, "
    "https://github.com/pytorch/pytorch/issues/41508",
)
def rows_hidden(real: Tensor) -> Tensor:
    return real[:, None, :, None]


@mistake(
    "shape",
    "padding mask without its axis of heads",
    met=("sizes", 1),
    symptom="The mask has the shape (B, 1, S).",
    cause="Beside scores (B, H, T, S) its batch axis would meet the heads, silently when B equals "
    "H: insert one more axis, (B, 1, 1, S).",
    section="How a mask spreads",
)
def without_heads_axis(real: Tensor) -> Tensor:
    return real[:, None, :]


@mistake(
    "shape",
    "padding mask without new axes",
    met=("sizes", 2),
    symptom="The mask has the shape (B, S).",
    cause="Beside scores (B, H, T, S) its batch axis would meet the queries: insert the axes of "
    "heads and queries, (B, 1, 1, S).",
    section="How a mask spreads",
)
def without_axes(real: Tensor) -> Tensor:
    return real


@mistake(
    "real",
    "token 1 taken for the padding",
    symptom="Padding is not hidden.",
    cause="The padding is token 0 here: tokens != 0.",
)
def padding_is_one(tokens: Tensor) -> Tensor:
    return tokens != 1


@mistake(
    "real",
    "<sos> hidden, too",
    symptom="<sos>, with which a target begins, is hidden with the padding.",
    cause="<sos>, 1, is a token that is read: padding is token 0 alone, tokens != 0.",
)
def start_hidden(tokens: Tensor) -> Tensor:
    return tokens > 1


@mistake(
    "real",
    "all special tokens hidden",
    symptom="<sos>, <eos> and <unk> are hidden with the padding.",
    cause="1, 2 and 3 are tokens that are read: padding is token 0 alone, tokens != 0.",
)
def specials_hidden(tokens: Tensor) -> Tensor:
    return tokens > 3


@mistake(
    "real",
    "<eos> hidden, too",
    symptom="<eos>, with which a sentence ends, is hidden with the padding.",
    cause="<eos>, 2, is a token that is read: padding is token 0 alone, tokens != 0.",
)
def end_hidden(tokens: Tensor) -> Tensor:
    return (tokens != 0) & (tokens != 2)


@mistake(
    "real",
    "<sos> and <eos> hidden, too",
    symptom="<sos> and <eos> are hidden with the padding.",
    cause="1 and 2 are tokens that are read: padding is token 0 alone, tokens != 0.",
)
def start_and_end_hidden(tokens: Tensor) -> Tensor:
    return tokens > 2


@mistake(
    "real",
    "a padding mask of numbers",
    symptom="The mask holds 0 and 1 as numbers.",
    cause="Make it boolean: ones and zeros added to scores hide nothing, and ~ does not invert "
    "them.",
    section="PyTorch's modules mean the opposite",
)
def padding_as_numbers(tokens: Tensor) -> Tensor:
    return (tokens != 0).float()


@mistake(
    "real",
    "padding visible",
    symptom="The mask is True everywhere: padding is read like words.",
    cause="The mask is False at the padding, token 0: return tokens != 0, with its new axes.",
    seen="utils: Fix padding of attention masks, https://github.com/yg211/bert_nli/pull/3",
)
def all_visible(tokens: Tensor) -> Tensor:
    return torch.ones_like(tokens, dtype=torch.bool)


@mistake(
    "real",
    "padding of the first sentence for all",
    symptom="Every sentence has the mask of the first one.",
    cause="Compare every sentence's tokens, tokens != 0, not those of the first sentence alone.",
)
def first_for_all(tokens: Tensor) -> Tensor:
    return (tokens[:1] != 0).expand(tokens.shape)


@mistake(
    "real",
    "first padding left open",
    symptom="Of a sentence of n tokens the first n + 1 places are open, padding or not.",
    cause="Compare the tokens with the padding, tokens != 0. (Where padding stands behind, n "
    "tokens have the places 0 to n − 1, `< n`.)",
)
def one_more_open(tokens: Tensor) -> Tensor:
    return torch.arange(tokens.size(1)) <= (tokens != 0).sum(dim=1, keepdim=True)
