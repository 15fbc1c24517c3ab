"""Known mistakes of chapter 24: one sequence, its mask and its labels."""

from __future__ import annotations

import torch
from torch import Tensor

from transformer_book.checks.mistakes.registry import mistake

# --- what sees what ------------------------------------------------------------------------------

SEES = "What may see what"
SEPARATOR = "Break it: no separator"


@mistake(
    "prefix_mask",
    "seen",
    "prefix ignored",
    symptom="The mask is purely causal: the source is not seen in both directions.",
    cause="The first places are open to everyone: combine with |, causal | (place < prefix).",
    section=SEES,
)
def causal_alone(causal: Tensor, opened: Tensor) -> Tensor:
    return causal


@mistake(
    "prefix_mask",
    "seen",
    "prefix visible to itself alone",
    symptom="The target does not see the source.",
    cause="Source and target were cut into two blocks: the prefix is open to every query.",
    section=SEES,
)
def two_blocks(causal: Tensor, opened: Tensor) -> Tensor:
    return opened & opened[:, None] | causal & ~opened


@mistake(
    "prefix_mask",
    "seen",
    "causal mask forgotten in the target",
    symptom="The target sees its own future.",
    cause="Only the prefix is open: a place of the target sees the prefix and what came before.",
    section=SEES,
)
def future_of_the_target(causal: Tensor, opened: Tensor) -> Tensor:
    return opened | ~opened[:, None]


@mistake(
    "prefix_mask",
    "seen",
    "everything visible to everyone",
    symptom="Every place sees the future: padding alone is hidden.",
    cause="The causal part is missing: causal | (place < prefix).",
    section=SEES,
)
def all_open(causal: Tensor, opened: Tensor) -> Tensor:
    return torch.ones_like(causal)


@mistake(
    "prefix_mask",
    "seen",
    "places of the prefix see the target",
    symptom="The source sees the target, whose tokens are to be predicted.",
    cause="place < prefix stands at the queries: it belongs to the keys, the last axis.",
    section=SEES,
)
def prefix_of_queries(causal: Tensor, opened: Tensor) -> Tensor:
    return causal | opened[:, None]


@mistake(
    "prefix_mask",
    "seen",
    "and in place of or",
    symptom="Only the prefix is visible: the target does not see its own past.",
    cause="Causal and prefix are combined with &; either is enough: use |.",
    section=SEES,
)
def and_for_or(causal: Tensor, opened: Tensor) -> Tensor:
    return causal & opened


@mistake(
    "prefix_mask",
    "seen",
    "prefix instead of causal",
    symptom="The target sees the source and nothing of itself.",
    cause="The causal part is missing: causal | (place < prefix).",
    section=SEES,
)
def prefix_alone(causal: Tensor, opened: Tensor) -> Tensor:
    return opened & torch.ones_like(causal)


@mistake(
    "prefix_mask",
    "opened",
    "prefix one place too long",
    symptom="Every place sees the first place of the target.",
    cause="place <= prefix is one too many: places count from zero, place < prefix.",
    section=SEES,
)
def one_more(real: Tensor, prefix: int) -> Tensor:
    return torch.arange(real.size(1)) <= prefix


@mistake(
    "prefix_mask",
    "opened",
    "prefix one place too short",
    symptom="The last place of the source, its <eos>, is not open.",
    cause="The prefix ends one place early: place < prefix, without − 1.",
    section=SEES,
)
def one_less(real: Tensor, prefix: int) -> Tensor:
    return torch.arange(real.size(1)) < prefix - 1


@mistake(
    "prefix_mask",
    "opened",
    "prefix counted in real tokens",
    symptom="Where a source is padded, the first tokens of its target are open, too.",
    cause="prefix counts places, padding among them: compare places, not the running sum of real.",
    section="Padding in the middle",
)
def counted_in_tokens(real: Tensor, prefix: int) -> Tensor:
    counts = real.cumsum(dim=1) <= prefix  # (B, S)
    return counts[:, None, None, :]


@mistake(
    "prefix_mask",
    "opened",
    "last places open in place of the first",
    symptom="The end of the target is open to everyone, and the source is not.",
    cause="The prefix is the beginning: place < prefix, or mask[..., :prefix].",
    section=SEES,
)
def suffix(real: Tensor, prefix: int) -> Tensor:
    return torch.arange(real.size(1)) >= real.size(1) - prefix


@mistake(
    "prefix_mask",
    "both",
    "padding of the prefix seen",
    symptom="Padding inside the source is visible.",
    cause="The prefix is opened after the padding was hidden: hide the padding last.",
    section="Padding in the middle",
    steps={
        "tokens": lambda real, prefix: (real | (torch.arange(real.size(1)) < prefix))[
            :, None, None, :
        ]
    },
)
def padded_prefix_open(keys: Tensor, seen: Tensor) -> Tensor:
    return keys & seen


@mistake(
    "prefix_mask",
    "both",
    "padding of one sequence forgotten",
    symptom="Padding is visible everywhere.",
    cause="real is not used: combine it with what may be seen, real[:, None, None, :] & seen.",
    section="Padding in the middle",
)
def padding_seen(keys: Tensor, seen: Tensor) -> Tensor:
    return seen & torch.ones_like(keys)


@mistake(
    "prefix_mask",
    "tokens",
    "query rows of one sequence masked",
    symptom="The rows of padded queries are hidden, and padded keys stay visible.",
    cause="real stands at the queries: it must be (B, 1, 1, S+T).",
    section="Padding in the middle",
)
def rows_hidden(real: Tensor, prefix: int) -> Tensor:
    return real[:, None, :, None]


@mistake(
    "prefix_mask",
    "tokens",
    "padding inverted in one sequence",
    symptom="Only padding is visible.",
    cause="real is True at tokens, and True means 'may attend': do not turn it round.",
    section="Padding in the middle",
)
def padding_alone(real: Tensor, prefix: int) -> Tensor:
    return ~real[:, None, None, :]


@mistake(
    "prefix_mask",
    "causal",
    "diagonal hidden behind the prefix",
    symptom="A place of the target does not see itself.",
    cause="The causal part leaves the diagonal out (diagonal=-1).",
    section=SEES,
)
def without_diagonal(real: Tensor) -> Tensor:
    return torch.ones(real.size(1), real.size(1), dtype=torch.bool).tril(-1)


@mistake(
    "prefix_mask",
    "causal",
    "next token visible behind the prefix",
    symptom="A place of the target sees the token that it is to predict.",
    cause="The causal part is one too wide (diagonal=1).",
    section=SEES,
)
def next_visible(real: Tensor) -> Tensor:
    return torch.ones(real.size(1), real.size(1), dtype=torch.bool).tril(1)


@mistake(
    "prefix_mask",
    "causal",
    "causal part of one sequence transposed",
    symptom="A place of the target sees its future and not its past.",
    cause="The causal part is the upper triangle: use tril.",
    section=SEES,
)
def upper(real: Tensor) -> Tensor:
    return torch.ones(real.size(1), real.size(1), dtype=torch.bool).triu()


@mistake(
    "prefix_mask",
    "both",
    "PyTorch's meaning: True hides",
    symptom="The mask is turned round as a whole: True stands where nothing may be seen.",
    cause="In the book True means 'may attend'; nn.TransformerEncoder wants the opposite.",
    section="The proof",
    kind="convention",
)
def true_hides(keys: Tensor, seen: Tensor) -> Tensor:
    return ~(keys & seen)


@mistake(
    "prefix_mask",
    "both",
    "prefix mask without its axis of heads",
    symptom="The mask has the shape (B, S+T, S+T).",
    cause="Beside the scores its batch axis would meet the heads: keep (B, 1, S+T, S+T).",
    section=SEES,
)
def without_heads_axis(keys: Tensor, seen: Tensor) -> Tensor:
    return (keys & seen)[:, 0]


# --- what is asked -------------------------------------------------------------------------------

COUNT = "Which places count"
ONE = "One sequence, by hand"
SOURCE = "Break it: the loss on the source"


@mistake(
    "one_stack_labels",
    "unasked",
    "loss on the prefix",
    symptom="The source's own tokens are asked for, and <sos> behind them.",
    cause="The labels are the whole sequence shifted: those of the source must be 0.",
    section=SOURCE,
)
def prefix_asked(source: Tensor, target: Tensor) -> Tensor:
    return torch.cat([source[:, 1:], target[:, :1]], dim=1)


@mistake(
    "one_stack_labels",
    "unasked",
    "loss on the prefix, not shifted",
    symptom="At each place of the source the token that stands there is asked for.",
    cause="The labels begin with the source itself: there nothing is asked, put 0.",
    section=SOURCE,
)
def prefix_copied(source: Tensor, target: Tensor) -> Tensor:
    return source


@mistake(
    "one_stack_labels",
    "unasked",
    "<sos> asked for",
    symptom="At the last place of the source <sos> is asked for.",
    cause="<sos> is given, never predicted: one more 0 in front, and the target from place 1 on.",
    section=COUNT,
)
def start_asked(source: Tensor, target: Tensor) -> Tensor:
    return torch.cat([torch.zeros_like(source[:, 1:]), target[:, :1]], dim=1)


@mistake(
    "one_stack_labels",
    "asked",
    "labels of the target not shifted",
    symptom="At each place of the target the token that was just read is asked for.",
    cause="What is asked is one place further on: target[:, 1:].",
    section=COUNT,
)
def labels_not_shifted(target: Tensor) -> Tensor:
    return target[:, :-1]


@mistake(
    "one_stack_labels",
    "goes_in",
    "<sos> missing, the answer goes in",
    symptom="The target goes in without <sos>, so that each place reads what it is to say.",
    cause="What goes in is all but the last token of the target: target[:, :-1].",
    section=COUNT,
)
def answer_goes_in(target: Tensor) -> Tensor:
    return target[:, 1:]


@mistake(
    "one_stack_labels",
    "goes_in",
    "inputs and labels of the target exchanged",
    symptom="The next tokens go in, and the previous ones are asked for.",
    cause="target[:, :-1] goes in, and target[:, 1:] is asked for.",
    section=COUNT,
    steps={"asked": lambda target: target[:, :-1]},
)
def target_exchanged(target: Tensor) -> Tensor:
    return target[:, 1:]


@mistake(
    "one_stack_labels",
    "goes_in",
    "<sos> left out",
    symptom="The first token is asked at the source's last place, which may be padding.",
    cause="Keep <sos> between source and target: it is the place where the first token is asked.",
    section=SEPARATOR,
    steps={"unasked": lambda source, target: torch.zeros_like(source[:, 1:])},
)
def start_left_out(target: Tensor) -> Tensor:
    return target[:, 1:-1]


@mistake(
    "one_stack_labels",
    "first",
    "<eos> of the source taken out",
    symptom="Where the source ends, padding stands in place of <eos>.",
    cause="<eos> <sos> is the separator: leave the source as it is.",
    section=SEPARATOR,
)
def end_taken_out(source: Tensor) -> Tensor:
    return source.masked_fill(source == 2, 0)


@mistake(
    "one_stack_labels",
    "first",
    "last place of the source cut off",
    symptom="The longest source has lost its <eos>.",
    cause="Only the target is shifted: the source goes in whole.",
    section=SEPARATOR,
    steps={"unasked": lambda source, target: torch.zeros_like(source[:, 1:])},
)
def source_cut(source: Tensor) -> Tensor:
    return source[:, :-1]


@mistake(
    "one_stack_labels",
    "out",
    "labels one place early",
    symptom="Each token of the target is asked one place before its turn.",
    cause="target[:, 1:] is shifted already: put as many zeros before it as the source has places.",
    section=COUNT,
)
def early(inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return inputs, torch.cat([labels[:, 1:], torch.zeros_like(labels[:, :1])], dim=1)


@mistake(
    "one_stack_labels",
    "asked",
    "end of the target not asked for",
    symptom="<eos> is never asked for: the model would not learn to stop.",
    cause="<eos> counts, padding does not: keep target[:, 1:] as it is.",
    section=COUNT,
)
def end_not_asked(target: Tensor) -> Tensor:
    after = target[:, 1:]
    return after.masked_fill(after == 2, 0)


@mistake(
    "one_stack_labels",
    "goes_in",
    "last token left in the input of one stack",
    symptom="What goes in is one place longer than what is asked.",
    cause="Nothing is asked behind the last token: target[:, :-1] goes in.",
    section=COUNT,
)
def whole_goes_in(target: Tensor) -> Tensor:
    return target


@mistake(
    "one_stack_labels",
    "unasked",
    "labels for the target alone",
    symptom="The labels are shorter than the sequence: those of the source are missing.",
    cause="Every place has a label; put 0 where nothing is asked.",
    section=COUNT,
)
def target_alone(source: Tensor, target: Tensor) -> Tensor:
    return source[:, :0]


@mistake(
    "one_stack_labels",
    "join",
    "target in front of the source",
    symptom="The target comes first, so that it is predicted without the source.",
    cause="The source goes first: a place sees only what came before.",
    section=ONE,
)
def target_first(source: Tensor, target: Tensor) -> Tensor:
    return torch.cat([target, source], dim=1)


@mistake(
    "one_stack_labels",
    "out",
    "-100 where nothing is asked",
    symptom="Where nothing is asked, the label is -100.",
    cause="That is what PyTorch's cross_entropy leaves out by itself; the book leaves out padding, "
    "0, with ignore_index=0.",
    section=COUNT,
    kind="convention",
)
def minus_one_hundred(inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return inputs, labels.masked_fill(labels == 0, -100)


@mistake(
    "one_stack_labels",
    "unasked",
    "-100 on the source and 0 on the padding",
    symptom="The source is marked with -100, and the padding of the target with 0.",
    cause="A loss leaves out one id: whichever you choose, mark both with it.",
    section=COUNT,
)
def two_marks(source: Tensor, target: Tensor) -> Tensor:
    return torch.full_like(source, -100)


@mistake(
    "one_stack_labels",
    "out",
    "padding moved behind both",
    symptom="The padding between source and target has been moved to the end.",
    cause="Many libraries lay their sequences so; the book masks padding where it stands.",
    section="Padding in the middle",
    kind="convention",
)
def moved_behind(inputs: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    order = (inputs == 0).int().argsort(dim=1, stable=True)  # (B, T)
    width = labels.size(1)  # may differ if another mistake is made as well
    return inputs.gather(1, order), labels.gather(1, order[:, :width].clamp(max=width - 1))
