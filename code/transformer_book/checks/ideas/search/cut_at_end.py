"""Cut at end (chapter 17): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from transformer_book.checks.boundaries import PAD, SOS, UNK
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import OTHERS_IDS
from transformer_book.checks.ideas.search.greedy_search import EOS


def cut_cases() -> Sequence[Case]:
    return (
        Case("padding behind the end", ([5, 6, 2, 0, 0],)),
        Case("an end at the end", ([5, 6, 2],)),
        Case("no end: cut off at the limit", ([5, 6, 7],)),
        Case("words behind the end", ([5, 2, 6, 7, 2],)),
        Case("two words behind the end", ([6, 2, 9, 8, 2],)),
        Case("padding, then words", ([6, 7, 2, 0, 8, 2],)),
        Case("an empty sentence", ([2, 0, 0],)),
        Case("one word", ([4, 2],)),
        Case("padding before the end", ([5, 0, 6, 2, 7],)),
        Case("padding first", ([0, 0, 2, 0],)),
        Case("padding and no end", ([0, 0, 0],)),
        Case("cut off, with <sos> and <unk>", ([1, 3, 5, 3],)),
        Case("one word that was cut off", ([6],)),
        Case("nothing", ([],)),
        Case("another end at once", ([2, 5, 2, 6],)),
        Case("words behind an end at once", ([2, 9],)),
        Case("ids with a 2 in them", ([12, 20, 5, 27, 2, 9],)),
        Case(
            "a long text, neighbours alike, large ids",
            ([1, 9, 9, 3, 7, 70000, *OTHERS_IDS, *[5, 6] * 300, 2, 2, 0],),
        ),
        Case("a long text that was cut off", (list(range(4, 2203)),)),
    )


def until_end(ids: Sequence[int]) -> list[int]:
    return list(ids[: ids.index(EOS)]) if EOS in ids else list(ids)


CUT = Component(
    name="cut_at_end",
    chapter=17,
    order=10,
    section="A tree of words, by hand",
    signature="ids",
    pipeline=lambda s, ids: s.cut(ids),
    steps={"cut": until_end},
    cases=cut_cases,
    returns="of a list of ids those before the first `<eos>` (2), as a list; all of them if there "
    "is none",
    differentiable=False,
    # Removing special tokens may or may not remove <unk> with them.
    settled=lambda case, answer: 0.0 if 3 in case.arguments[0] else answer,
    met="bleu",
    boundaries={
        "nothing": lambda ids: not ids,
        "no end": lambda ids: bool(ids) and EOS not in ids,
        "an end first": lambda ids: ids[:1] == [EOS],
        "an end last": lambda ids: ids[-1:] == [EOS],
        "two ends": lambda ids: ids.count(EOS) > 1,
        "padding before the end": lambda ids: (
            EOS in ids and PAD in ids and ids.index(PAD) < ids.index(EOS)
        ),
        "padding and no end": lambda ids: PAD in ids and EOS not in ids,
        "<sos>": lambda ids: SOS in ids,
        "<unk>": lambda ids: UNK in ids,
        "<sos> first, and an end": lambda ids: ids[:1] == [SOS] and EOS in ids,
        "an id beyond two bytes": lambda ids: bool(ids) and max(ids) > 65535,
        "an end beyond 512": lambda ids: EOS in ids and ids.index(EOS) > 512,
        "no end in more than 512": lambda ids: EOS not in ids and len(ids) > 512,
        "neighbours alike": lambda ids: any(
            a == b not in (PAD, EOS) for a, b in itertools.pairwise(ids)
        ),
        "two ends in a row": lambda ids: (EOS, EOS) in itertools.pairwise(ids),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(CUT)


@mistake(
    "cut",
    "last id stripped blindly",
    met=("bleu", 2),
    symptom="The last id is taken off, whatever it is, and no other.",
    cause="Look for the first <eos>, the number 2, and cut there; without one all ids are the "
    "sentence.",
)
def blindly(ids: Sequence[int]) -> list[int]:
    return list(ids[:-1])


@mistake(
    "cut",
    "only the special tokens removed",
    symptom="Tokens are taken out wherever they stand, and words behind the end stay.",
    cause="Cut at the first <eos>, and take nothing out before it: all that stands there is part "
    "of the sentence.",
)
def specials_removed(ids: Sequence[int]) -> list[int]:
    return [i for i in ids if i > 3]


@mistake(
    "cut",
    "<eos> kept",
    symptom="The end token stays in the sentence.",
    cause="Cut before the first <eos>.",
)
def end_kept(ids: Sequence[int]) -> list[int]:
    return list(ids[: ids.index(EOS) + 1]) if EOS in ids else list(ids)


@mistake(
    "cut",
    "cut at the last <eos>",
    symptom="Where there are several ends, what stands between the first and the last one stays.",
    cause="Cut at the first <eos>.",
)
def last_end(ids: Sequence[int]) -> list[int]:
    ids = list(ids)
    return ids[: len(ids) - 1 - ids[::-1].index(EOS)] if EOS in ids else ids


@mistake(
    "cut",
    "last word lost where there is no end",
    symptom="A sentence without <eos> loses its last word.",
    cause="Ask first whether there is an <eos>: without one all ids are the sentence.",
)
def last_lost(ids: Sequence[int]) -> list[int]:
    return list(ids[: ids.index(EOS)]) if EOS in ids else list(ids[:-1])


@mistake(
    "cut",
    "nothing left where there is no end",
    symptom="A sentence without <eos> comes out empty.",
    cause="Without an <eos> all ids are the sentence.",
)
def nothing_left(ids: Sequence[int]) -> list[int]:
    return list(ids[: ids.index(EOS)]) if EOS in ids else []


@mistake(
    "cut",
    "cut at the first padding, too",
    symptom="A padding ends the sentence as <eos> does.",
    cause="Only <eos>, 2, ends it; without one all ids are the sentence.",
)
def cut_at_padding(ids: Sequence[int]) -> list[int]:
    return list(itertools.takewhile(lambda i: i not in (0, EOS), ids))


@mistake(
    "cut",
    "an end at the very beginning not seen",
    symptom="A sentence that begins with <eos> is not cut.",
    cause="Place 0 is a place like any other: take all ids only where no <eos> is among them.",
)
def end_at_zero(ids: Sequence[int]) -> list[int]:
    place = ids.index(EOS) if EOS in ids else 0
    return list(ids[:place]) if place else list(ids)


@mistake(
    "cut",
    "only <eos> removed",
    symptom="What stands behind the end stays, but for the ends themselves.",
    cause="Cut at the first <eos>; what comes after it is not part of the sentence.",
)
def ends_removed(ids: Sequence[int]) -> list[int]:
    return [i for i in ids if i != EOS]


@mistake(
    "cut",
    "end looked for at the last place only",
    symptom="An <eos> with anything behind it is not found.",
    cause="Look for the first <eos> anywhere, and cut there.",
)
def end_at_last_place(ids: Sequence[int]) -> list[int]:
    return list(ids[:-1]) if ids and ids[-1] == EOS else list(ids)
