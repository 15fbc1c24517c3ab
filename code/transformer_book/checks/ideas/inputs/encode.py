"""Encode (chapter 2): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import SIGNS
from transformer_book.checks.ideas.inputs.build_vocabulary import SPECIALS


def encode_cases() -> Sequence[Case]:
    vocabulary = {**{s: i for i, s in enumerate(SPECIALS)}, "the": 4, "dog": 5, "sleeps": 6}
    small = {**{s: i for i, s in enumerate(SPECIALS)}, "x": 4}
    # A tokenizer's dictionary: the ids are not the places, and most are larger than a byte.
    unordered = {"grün": 70000, "dog": 5, "3": 4, "dog.": 300}
    unordered |= {s: i for i, s in enumerate(SPECIALS)}
    pieces = {**{s: i for i, s in enumerate(SPECIALS)}, "the": 4, " the": 5, "x": 6}
    pieces |= {"ice": 7, "ice cream": 8, "é": 9}
    pieces |= {sign: i for i, sign in enumerate(SIGNS[::2], start=10)}
    spaced = [" the", "ice cream", " ", "the\n", "e\u0301"]  # the last is é in two characters
    return (
        Case("a sentence of known words", (["the", "dog", "sleeps"], vocabulary)),
        Case("an unknown word", (["the", "cat", "sleeps"], vocabulary)),
        Case("unknown words only", (["y", "ax"], small)),
        Case("one word", (["x"], small)),
        Case("an unknown word at the end", (["x", "y"], small)),
        Case("a longer sentence", (["The", "dog", "the", "raccoon", "the"], vocabulary)),
        Case("padding among the tokens", (["dog", "<pad>", "<pad>"], vocabulary)),
        Case(
            "special tokens among the tokens",
            (["<sos>", "x", "<eos>", "<pad>", "<unk>", "<eos>"], small),
        ),
        Case("padding first", (["<pad>", "x", "y"], small)),
        Case("no token", ([], vocabulary)),
        Case(
            "more tokens than any buffer has places", (["the", "dog", "sleeps"] * 180, vocabulary)
        ),
        Case(
            "a dictionary in another order",
            (
                # The unknown ones would be known if they were written a little otherwise.
                [
                    "3",
                    "grün",
                    "",
                    "dog.",
                    "dog",
                    "dog,",
                    "dòg",
                    "dogs",
                    "dog-3",
                    "##dog",
                    "33",
                    "usa",
                    "paul",
                ],
                {"USA": 302, "Paul": 303, **unordered},
            ),
        ),
        Case("tokens with spaces, and more than 1024", ([*spaced, *SIGNS, *["x"] * 2100], pieces)),
    )


ENCODE = Component(
    name="encode",
    chapter=2,
    order=2,
    section="The vocabulary in the package",
    signature="tokens, vocabulary",
    pipeline=lambda s, tokens, vocabulary: s.finish(
        [s.look_up(token, vocabulary) for token in tokens]
    ),
    steps={
        "look_up": lambda token, vocabulary: vocabulary.get(token, 3),
        "finish": lambda ids: [*ids, 2],
    },
    cases=encode_cases,
    returns="a list of ids: of the tokens, `<unk>` (3) for those not in the dictionary, then "
    "`<eos>` (2)",
    differentiable=False,
    done_by="Vocabulary.encode",
    met="bleu",
    ready_made={
        "Vocabulary.encode": "tokens.Vocabulary.encode",
        "Vocabulary.encode_source": "tokens.Vocabulary.encode_source",
    },
    boundaries={
        "no token": lambda tokens: not tokens,
        "one token": lambda tokens: len(tokens) == 1,
        "a token twice": lambda tokens: len(set(tokens)) < len(tokens),
        "unknown first": lambda tokens, vocabulary: tokens[:1] and tokens[0] not in vocabulary,
        "unknown last": lambda tokens, vocabulary: tokens[-1:] and tokens[-1] not in vocabulary,
        "nothing unknown": lambda tokens, vocabulary: all(t in vocabulary for t in tokens),
        "nothing known": lambda tokens, vocabulary: not any(t in vocabulary for t in tokens),
        "ids that are not the places": lambda vocabulary: (
            [*vocabulary.values()] != [*range(len(vocabulary))]
        ),
        "an empty token": lambda tokens: "" in tokens,
        "a token with spaces": lambda tokens: any(t != t.strip() or " " in t for t in tokens),
        "more than 1024 tokens": lambda tokens: len(tokens) > 1024,
        "a large letter": lambda tokens: any(t != t.lower() for t in tokens),
        **{f"the token {t}": lambda tokens, t=t: t in tokens for t in ("<pad>", "<sos>", "<eos>")},
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(ENCODE)


@mistake(
    "look_up",
    "unknown words dropped",
    met=("bleu", 8),
    symptom="A sentence with an unknown word comes out shorter.",
    cause="An unknown word becomes <unk>, id 3; dropping it changes the sentence silently.",
    steps={"finish": lambda ids: [i for i in ids if i is not None] + [2]},
)
def unknown_dropped(token: str, vocabulary: dict[str, int]) -> int | None:
    return vocabulary.get(token)


@mistake(
    "look_up",
    "unknown words taken for padding",
    symptom="Unknown words get id 0, and attention never sees them.",
    cause="0 is the padding: <unk> is 3.",
)
def unknown_is_padding(token: str, vocabulary: dict[str, int]) -> int:
    return vocabulary.get(token, 0)


@mistake(
    "finish",
    "<eos> forgotten",
    met=("endless", 1),
    symptom="The sentence has no end.",
    cause="Return the ids with <eos>, id 2, behind them: a target without it does not teach a "
    "model where to stop.",
)
def no_end(ids: list[int]) -> list[int]:
    return ids


@mistake(
    "finish",
    "<sos> in front of a source",
    met=("harmless", 24),
    symptom="The sentence begins with <sos>.",
    cause="The book's sources are tokens and <eos>: put <sos> in front of all sources, or of none.",
    kind="convention",
)
def with_start(ids: list[int]) -> list[int]:
    return [1, *ids, 2]


@mistake(
    "finish",
    "begun and not ended",
    symptom="<sos> is put in front, and no <eos> behind.",
    cause="The book's sources are the tokens and <eos> behind them: append 2, and leave <sos> to "
    "the target.",
)
def begun_not_ended(ids: list[int]) -> list[int]:
    return [1, *ids]


@mistake(
    "finish",
    "<eos> behind every token",
    symptom="An end stands behind each token.",
    cause="Append <eos> once, behind all tokens.",
)
def ends_everywhere(ids: list[int]) -> list[int]:
    return [part for i in ids for part in (i, 2)]


@mistake(
    "finish",
    "<eos> in front",
    symptom="The end stands before the tokens.",
    cause="Append it: tokens first, then <eos>.",
)
def end_in_front(ids: list[int]) -> list[int]:
    return [2, *ids]


@mistake(
    "look_up",
    "id 0 taken for not found",
    symptom="A token whose id is 0, as <pad>, becomes <unk>.",
    cause="Write vocabulary.get(token, 3): `vocabulary.get(token) or 3` gives 3 for the id 0, too.",
)
def zero_is_nothing(token: str, vocabulary: dict[str, int]) -> int:
    return vocabulary.get(token) or 3
