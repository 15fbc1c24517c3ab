"""Shift (chapter 3): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import on, token_conditions
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import OTHERS_IDS, sentences


def target_cases() -> Sequence[Case]:
    return (
        Case("one sentence", (torch.tensor([[1, 5, 6, 2]]),)),
        Case("two, one padded", (torch.tensor([[1, 5, 6, 7, 2], [1, 8, 2, 0, 0]]),)),
        Case("the shortest", (torch.tensor([[1, 2]]),)),
        Case("three sentences", (sentences(6, 4, 5, seed=1),)),
        Case("as many sentences as tokens", (sentences(4, 4, 4, 4, seed=2),)),
        Case("one sentence, padded", (torch.tensor([[1, 3, 4, 2, 0, 0]]),)),
        Case("the longer one last", (torch.tensor([[1, 4, 2, 0], [1, 3, 5, 2], [1, 2, 0, 0]]),)),
        Case(
            "more sentences than tokens",
            (torch.tensor([[1, 2, 0], [1, 4, 2], [1, 3, 2], [0, 0, 0]]),),
        ),
        Case(
            "padding inside and behind all, words behind <eos>",
            (torch.tensor([[1, 300, 2, 0, *OTHERS_IDS, 2, 9, 0], [1, 4, 0, 0, 2, *[0] * 14]]),),
        ),
        Case("longer than any buffer", (sentences(1152, 3, seed=3),)),
    )


SHIFT = Component(
    name="shift",
    chapter=3,
    order=2,
    section="One place to the right",
    signature="target",
    pipeline=lambda s, target: (s.goes_in(target), s.comes_out(target)),
    steps={"goes_in": lambda target: target[:, :-1], "comes_out": lambda target: target[:, 1:]},
    cases=target_cases,
    returns="two tensors `(B, T − 1)`: what the decoder reads, and what it is to say at each place",
    differentiable=False,
    done_by="Batch",
    met="worse",
    boundaries={
        name: where
        for name, where in on("target", token_conditions(buffers=())).items()
        if not name.endswith(("<sos> in the middle", "<sos> last", "<eos> first", "<unk> first"))
        and not name.endswith(("<unk> last",))
    }
    | {
        "as short as can be": lambda target: target.size(1) == 2,
        "padding inside": lambda target: ((target[:, 1:-1] == 0) & (target[:, 2:] != 0)).any(),
        "words behind <eos>": lambda target: ((target[:, :-1] == 2) & (target[:, 1:] > 2)).any(),
        "a column of padding": lambda target: len(target) > 1 and not target.any(0).all(),
        "an id beyond one byte": lambda target: target.max() > 255,
        "longer than 1024": lambda target: target.size(1) > 1024,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(SHIFT)


@mistake(
    "comes_out",
    "target not shifted",
    met=("too-good", 3),
    symptom="At each place the decoder is to say the token it is just reading.",
    cause="What comes out must be one place further on: target[:, 1:].",
    seen="Fix transformer training, https://github.com/Project-MONAI/GenerativeModels/issues/314",
)
def not_shifted(target: Tensor) -> Tensor:
    return target[:, :-1]


@mistake(
    "goes_in",
    "nothing to begin with",
    met=("too-good", 14),
    symptom="The decoder's input has no <sos>, and at each place it is the very token that is to "
    "be predicted.",
    cause="What goes in is the whole target, <sos> first, without its last token: target[:, :-1].",
)
def start_left_out(target: Tensor) -> Tensor:
    return target[:, 1:]


@mistake(
    "goes_in",
    "input and output exchanged",
    met=("too-good", 15),
    symptom="The decoder reads the next tokens and is to say the previous ones.",
    cause="target[:, :-1] goes in, and target[:, 1:] comes out.",
    steps={"comes_out": lambda target: target[:, :-1]},
)
def exchanged(target: Tensor) -> Tensor:
    return target[:, 1:]


@mistake(
    "goes_in",
    "shifted along the batch",
    met=("sizes", 10),
    symptom="Sentences are cut off in place of tokens.",
    cause="The slice runs over the first axis: the positions are the second.",
    steps={"comes_out": lambda target: target[1:]},
)
def along_the_batch(target: Tensor) -> Tensor:
    return target[:-1]


@mistake(
    "comes_out",
    "rolled round in place of cut",
    symptom="Nothing is cut off: both tensors are as long as the target, and <sos> comes out last.",
    cause="A roll brings <sos> back at the end: slice, target[:, :-1] and target[:, 1:].",
    steps={"goes_in": lambda target: target},
)
def rolled(target: Tensor) -> Tensor:
    return target.roll(-1, dims=1)


@mistake(
    "goes_in",
    "last token left in the decoder's input",
    symptom="What goes in is one token longer than what comes out.",
    cause="Nothing is to be said behind the last token: target[:, :-1] goes in.",
)
def whole_goes_in(target: Tensor) -> Tensor:
    return target


@mistake(
    "comes_out",
    "shifted by two",
    symptom="What comes out is two places further on: a token is lost.",
    cause="One place is enough: target[:, 1:].",
)
def two_places(target: Tensor) -> Tensor:
    return target[:, 2:]


@mistake(
    "comes_out",
    "shifted by two, padding at the end",
    symptom="What comes out is two places further on, and the last place is padding.",
    cause="One place further on is enough: target[:, 1:] is what comes out.",
)
def two_places_padded(target: Tensor) -> Tensor:
    return torch.cat([target[:, 2:], torch.zeros_like(target[:, :1])], dim=1)


@mistake(
    "goes_in",
    "shifted twice",
    symptom="Both are one place too short, and what is to be said is the token after the next.",
    cause="Shift by one place, once: target[:, :-1] goes in, and target[:, 1:] comes out.",
    steps={"comes_out": two_places},
)
def two_taken_off(target: Tensor) -> Tensor:
    return target[:, :-2]
