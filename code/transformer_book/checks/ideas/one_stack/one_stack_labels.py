"""One stack labels (chapter 24): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import OTHERS_IDS


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
            "as long as each other",
            (ids([4, 5, 6, 2], *[[9, 2, 0, 0]] * 4), ids([1, 7, 8, 2]).tile(5, 1)),
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
        Case("large ids", (ids([70000, 1, *OTHERS_IDS, 2]), ids([1, 40000, *OTHERS_IDS, 2]))),
        Case(
            "columns of padding alone, a word twice, larger ids",
            (ids([5, 2, 0, 0], [200000, 6, 2, 0]), ids([1, 8, 8, 2, 0], [1, 200000, 2, 0, 0])),
        ),
        Case("a long pair", (ids([*range(4, 604), 2]), ids([1, *range(4, 504), 2]))),
    )


ONE_STACK_LABELS = Component(
    name="one_stack_labels",
    chapter=24,
    order=2,
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
    done_by="DecoderOnly.source_labels",
    met="worse",
    boundaries={
        "padding behind every source": lambda source: not source[:, -1].any(),
        "padding behind every target": lambda target: not target[:, -1].any(),
        "a word twice": lambda target: (
            (target[:, 1:] == target[:, :-1]) & (target[:, 1:] > 6)
        ).any(),
        "an id beyond 17 bits": lambda target: target.max() >= 2**17,
        "longer than 1024": lambda source, target: source.size(1) + target.size(1) > 1025,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(ONE_STACK_LABELS)


@mistake(
    "unasked",
    "loss on the prefix",
    symptom="All tokens of the source but its first are asked for, and <sos> behind them.",
    cause="The source's labels are the tokens that follow: they must be 0.",
    section="Break it: the loss on the source",
)
def prefix_asked(source: Tensor, target: Tensor) -> Tensor:
    return torch.cat([source[:, 1:], target[:, :1]], dim=1)


@mistake(
    "unasked",
    "loss on the prefix, not shifted",
    met=("too-good", 28),
    symptom="At each place of the source the token that stands there is asked for.",
    cause="The labels begin with the source itself: there nothing is asked, put 0.",
    section="Break it: the loss on the source",
)
def prefix_copied(source: Tensor, target: Tensor) -> Tensor:
    return source


@mistake(
    "unasked",
    "<sos> asked for",
    symptom="At the last place of the source <sos> is asked for.",
    cause="<sos> is given, never predicted: put 0 at every place of the source, then target[:, "
    "1:].",
)
def start_asked(source: Tensor, target: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(source[:, 1:]), target[:, :1]], dim=1)


@mistake(
    "asked",
    "labels of the target not shifted",
    met=("too-good", 25),
    symptom="At each place of the target the token that was just read is asked for.",
    cause="What is asked is one place further on: target[:, 1:].",
)
def labels_not_shifted(target: Tensor) -> Tensor:
    return target[:, :-1]


@mistake(
    "goes_in",
    "inputs and labels of the target exchanged",
    met=("too-good", 27),
    symptom="The next tokens go in, and the previous ones are asked for.",
    cause="target[:, :-1] goes in, and target[:, 1:] is asked for.",
    steps={"asked": lambda target: target[:, :-1]},
)
@mistake(
    "goes_in",
    "<sos> missing, the answer goes in",
    met=("too-good", 26),
    symptom="The target goes in without <sos>, so that each place reads what it is to say.",
    cause="What goes in begins with <sos>: target[:, :-1] of the target as it was given, all but "
    "its last token.",
)
def answer_goes_in(target: Tensor) -> Tensor:
    return target[:, 1:]


@mistake(
    "goes_in",
    "<sos> left out",
    met=("batch", 22),
    symptom="The first token is asked at the source's last place, which may be padding.",
    cause="Keep <sos> between source and target: it is the place where the first token is asked.",
    section="Break it: no separator",
    steps={"unasked": lambda source, target: torch.zeros_like(source[:, 1:])},
)
def start_left_out(target: Tensor) -> Tensor:
    return target[:, 1:-1]


@mistake(
    "first",
    "<eos> of the source taken out",
    symptom="Where the source ends, padding stands in place of <eos>.",
    cause="Leave the source as it is, with its <eos>.",
    section="Break it: no separator",
)
def end_taken_out(source: Tensor) -> Tensor:
    return source.masked_fill(source == 2, 0)


@mistake(
    "first",
    "last place of the source cut off",
    symptom="The last place of the source is missing, be it padding or <eos>.",
    cause="Only the target is shifted: the source goes in whole.",
    section="Break it: no separator",
    steps={"unasked": lambda source, target: torch.zeros_like(source[:, 1:])},
)
def source_cut(source: Tensor) -> Tensor:
    return source[:, :-1]


@mistake(
    "out",
    "labels one place early",
    symptom="Each token of the target is asked one place before its turn.",
    cause="target[:, 1:] is shifted already: put as many zeros before it as the source has places.",
)
def early(inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return inputs, torch.cat([labels[:, 1:], torch.zeros_like(labels[:, :1])], dim=1)


@mistake(
    "asked",
    "end of the target not asked for",
    met=("endless", 2),
    symptom="<eos> is never asked for: the model would not learn to stop.",
    cause="<eos> counts, padding does not: keep target[:, 1:] as it is.",
)
def end_not_asked(target: Tensor) -> Tensor:
    after = target[:, 1:]
    return after.masked_fill(after == 2, 0)


@mistake(
    "goes_in",
    "last token left in the input of one stack",
    met=("sizes", 14),
    symptom="What goes in is one place longer than what is asked.",
    cause="Nothing is asked behind the last token: target[:, :-1] goes in.",
)
def whole_goes_in(target: Tensor) -> Tensor:
    return target


@mistake(
    "unasked",
    "labels for the target alone",
    met=("sizes", 13),
    symptom="The labels are shorter than the sequence: those of the source are missing.",
    cause="Every place has a label; put 0 where nothing is asked.",
)
def target_alone(source: Tensor, target: Tensor) -> Tensor:
    return source[:, :0]


@mistake(
    "join",
    "target in front of the source",
    met=("frequencies", 10),
    symptom="The target comes first, so that it is predicted without the source.",
    cause="Put the source first: a place of the target sees nothing of what comes after it.",
    section="One sequence, by hand",
)
def target_first(source: Tensor, target: Tensor) -> Tensor:
    return torch.cat([target, source], dim=1)


@mistake(
    "out",
    "-100 where nothing is asked",
    symptom="Where nothing is asked, the label is -100.",
    cause="That is what PyTorch's cross_entropy leaves out by itself; the book leaves out padding, "
    "0, with ignore_index=0.",
    kind="convention",
)
def minus_one_hundred(inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return inputs, labels.masked_fill(labels == 0, -100)


@mistake(
    "unasked",
    "-100 on the source and 0 on the padding",
    symptom="The source is marked with -100, and the padding of the target with 0.",
    cause="A loss leaves out one id: whichever you choose, mark both with it.",
)
def two_marks(source: Tensor, target: Tensor) -> Tensor:
    return torch.full_like(source, -100)


@mistake(
    "asked",
    "first token of the target not asked for",
    symptom="At <sos> nothing is asked: the model never learns how to begin.",
    cause="<sos> is the last place before the target's first token, and the one that says it: the "
    "labels begin there, not one place later.",
    seen="Fix prefix lm offsets, "
    "https://github.com/bigscience-workshop/Megatron-DeepSpeed/pull/167",
)
def first_not_asked(target: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(target[:, :1]), target[:, 2:]], dim=1)


@mistake(
    "out",
    "padding moved behind both",
    symptom="The padding between source and target has been moved to the end.",
    cause="The book leaves padding where it stands, and masks it.",
    section="Padding in the middle",
    kind="convention",
)
def moved_behind(inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    order = (inputs == 0).int().argsort(dim=1, stable=True)  # (B, T)
    width = labels.size(1)  # may differ if another mistake is made as well
    return inputs.gather(1, order), labels.gather(1, order[:, :width].clamp(max=width - 1))
