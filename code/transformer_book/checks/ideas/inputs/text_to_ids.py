"""Text to ids (chapter 2): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import SIGNS
from transformer_book.checks.ideas.inputs.build_vocabulary import SPECIALS


def letters(text: str) -> list[str]:
    return [letter for letter in text if letter != " "]


def words_and_marks(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def lowered_words_and_marks(text: str) -> list[str]:
    return words_and_marks(text.lower())


def numbered(*tokens: str) -> dict[str, int]:
    return {token: i for i, token in enumerate((*SPECIALS, *tokens))}


def text_cases() -> Sequence[Case]:
    cased = numbered("Two", "Dogs", "dogs", "sleep", "eat", ".", ",", "the", "▁cats")
    lowered = numbered("two", "dogs", "sleep", "eat", ".", ",", "the")
    single = numbered(*"abcdefghT.,")
    long = "ha" * 60
    signs = " ".join(["<sos> two <pad> dogs", long, *SIGNS])
    marked = numbered("two", long, *SIGNS[::2])
    unusual = dict(reversed(numbered(*"us. abc\tü…ß").items()))  # <pad> comes last
    return (
        Case("words and full stops", ("Two dogs sleep.", words_and_marks, cased)),
        Case("capital letters", ("The Dogs, Two dogs.", words_and_marks, cased)),
        Case("a model of small letters", ("The Dogs sleep", lowered_words_and_marks, lowered)),
        Case("the same, with a comma", ("TWO dogs eat, sleep.", lowered_words_and_marks, lowered)),
        Case("a model of letters", ("a bat face.", letters, single)),
        Case("letters, one of them large", ("The egg, a bag", letters, single)),
        Case("unknown words and a word twice", ("Two cats eat Two mice", words_and_marks, cased)),
        Case("the same text, another vocabulary", ("Two dogs sleep.", words_and_marks, lowered)),
        Case("nothing but unknown words", ("Two of them!", words_and_marks, lowered)),
        Case("a text longer than any buffer", ("the dogs eat. " * 180, words_and_marks, cased)),
        Case("letters, blanks and lines", (" a bad\r\nface ", list, {**single, "\n": 21})),
        Case("an empty text", ("", words_and_marks, cased)),
        Case("a text that is a token itself", ("bad", letters, {**single, "bad": 15})),
        Case("special tokens in the text", (signs, str.split, marked)),
        Case(
            "accents, a tab, and two blanks",
            ("\ufeffsüß…  a\tbu\u0308\xa0s\u200b\ufe0faaaa&lt;b", list, unusual),
        ),
        Case("nothing but blanks", ("  ", lambda text: text.split(" "), unusual)),
        Case("longer than any buffer", ("the dogs eat. " * 2100, words_and_marks, cased)),
    )


TEXT_TO_IDS = Component(
    name="text_to_ids",
    chapter=2,
    order=3,
    section="Break it: one tokenizer in training, another in use",
    signature="text, tokenize, vocabulary",
    pipeline=lambda s, text, tokenize, vocabulary: s.finish(
        s.look_up(s.tokens(text, tokenize), vocabulary)
    ),
    steps={
        "tokens": lambda text, tokenize: tokenize(text),
        "look_up": lambda tokens, vocabulary: [vocabulary.get(token, 3) for token in tokens],
        "finish": lambda ids: [*ids, 2],
    },
    cases=text_cases,
    returns="the ids a trained model is given for a text: `tokenize(text)` is what it was trained "
    "with, `vocabulary` the dictionary it was trained with; unknown tokens are `<unk>` (3), and "
    "`<eos>` (2) comes last",
    differentiable=False,
    # What an empty text, several lines, tabs and more than single blanks become depends on the way.
    settled=lambda case, answer: (
        answer if re.fullmatch(r"\S+( \S+)* ?", case.arguments[0]) else 0.0
    ),
    done_by="Translator.encode",
    met="nonsense",
    boundaries={
        "no text": lambda text: not text,
        "capital letters": lambda text: text != text.lower(),
        "longer than 512": lambda text: len(text.split()) > 512,
        "longer than 2048": lambda text: len(text.split()) > 2048,
        "blanks alone": lambda text: bool(text) and not text.strip(),
        "two blanks": lambda text: "  " in text.strip(),
        "accents": lambda text: not text.isascii(),
        "a tab": lambda text: "\t" in text,
        "a vocabulary in another order": lambda vocabulary: next(iter(vocabulary)) != "<pad>",
        "the text is a token": lambda text, vocabulary: text in vocabulary,
        "special tokens": lambda text: any(token in text for token in SPECIALS),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(TEXT_TO_IDS)


@mistake(
    "tokens",
    "trained on one tokenizer and used with another",
    met=("nonsense", 18),
    symptom="The tokens are not those of the training: where its tokenizer cuts off a full stop, a "
    "word that has one is unknown.",
    cause="Call tokenize(text), the tokenizer that the model was trained with.",
)
def split_at_spaces(text: str, tokenize: object) -> list[str]:
    return text.split()


@mistake(
    "tokens",
    "lower-cased for a model that was not",
    symptom="Capital letters are lost on the way into the vocabulary.",
    cause="Lower neither the text nor its tokens: that is the tokenizer's business.",
)
def lowered_first(text: str, tokenize: Callable[[str], list[str]]) -> list[str]:
    return tokenize(text.lower())


@mistake(
    "tokens",
    "letters in place of tokens",
    symptom="The text is cut into letters, most of which a model of words does not know.",
    cause="A loop over a text gives its characters: go through tokenize(text), its tokens.",
)
def letters_of(text: str, tokenize: object) -> list[str]:
    return list(text)


@mistake(
    "look_up",
    "numbered anew",
    symptom="The ids count up from 4, whatever the words are.",
    cause="A new vocabulary is built from the text: the ids must be those of the training.",
)
def numbered_anew(tokens: list[str], vocabulary: object) -> list[int]:
    own: dict[str, int] = {}
    return [own.setdefault(token, 4 + len(own)) for token in tokens]


@mistake(
    "finish",
    "end of the text forgotten",
    symptom="The text has no end.",
    cause="Append <eos>, id 2: the model was trained on sources that end with it.",
)
def text_without_end(ids: list[int]) -> list[int]:
    return list(ids)


@mistake(
    "finish",
    "<sos> in front of the text",
    symptom="The text begins with <sos>.",
    cause="The book's sources are tokens and <eos>: put <sos> in front of all sources, or of none.",
    section="The vocabulary in the package",
    kind="convention",
)
def text_with_start(ids: list[int]) -> list[int]:
    return [1, *ids, 2]


@mistake(
    "look_up",
    "unknown tokens of the text dropped",
    symptom="A text with an unknown token comes out shorter.",
    cause="An unknown token becomes <unk>, id 3; dropping it changes the text silently.",
)
def unknown_tokens_dropped(tokens: list[str], vocabulary: dict[str, int]) -> list[int]:
    return [vocabulary[token] for token in tokens if token in vocabulary]


@mistake(
    "look_up",
    "text ends at its first unknown token",
    symptom="Everything behind the first unknown token is lost.",
    cause="Give an unknown token the id of <unk>, 3, and go on with the next.",
)
def until_the_unknown(tokens: list[str], vocabulary: dict[str, int]) -> list[int]:
    known = itertools.takewhile(lambda token: token in vocabulary, tokens)
    return [vocabulary[token] for token in known]


@mistake(
    "look_up",
    "unknown tokens of the text taken for padding",
    symptom="Unknown tokens get id 0, and attention never sees them.",
    cause="0 is the padding: <unk> is 3.",
)
def unknown_tokens_padded(tokens: list[str], vocabulary: dict[str, int]) -> list[int]:
    return [vocabulary.get(token, 0) for token in tokens]


@mistake(
    "finish",
    "the end in front of the text",
    symptom="The text begins with its end, and has none behind it.",
    cause="Append <eos>, id 2: the ids of the tokens first, then the end.",
)
def text_after_end(ids: list[int]) -> list[int]:
    return [2, *ids]
