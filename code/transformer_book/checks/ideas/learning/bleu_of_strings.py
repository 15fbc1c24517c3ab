"""BLEU of strings (chapter 19): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from typing import Any

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import SIGNS


def counted(tokens: Sequence[Any], n: int) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def smoothed_bleu(translations: Sequence[Any], references: Sequence[Any]) -> float:
    """BLEU, 0 to 1, of lists of tokens; like NLTK's it takes strings, too, for lists of letters.

    With one added to each count, so that short texts give more than zero (Lin and Och, 2004). An
    empty string is no token: `split(" ")` makes one of an empty text.
    """
    translations = [list(filter(None, tokens)) for tokens in translations]
    if len(translations) != len(references):
        raise ValueError(f"{len(translations)} translations, {len(references)} lists of references")
    found, possible = [1.0] * 4, [1.0] * 4
    length = closest = 0
    for translation, several in zip(translations, references, strict=True):
        length += len(translation)
        closest += min((abs(len(r) - len(translation)), len(r)) for r in several)[1]
        for n in range(1, 5):
            mine = counted(translation, n)
            best: Counter[tuple[Any, ...]] = Counter()
            for reference in several:
                best |= counted(reference, n)
            found[n - 1] += (mine & best).total()
            possible[n - 1] += mine.total()
    brevity = min(0.0, 1 - closest / max(length, 1))
    precision = sum(math.log(f / p) for f, p in zip(found, possible, strict=True)) / 4
    return math.exp(brevity + precision)


def observe_bleu(function: Callable[..., Any]) -> Callable[..., Any]:
    def observed(translations: list[str], references: list[list[str]]) -> Any:
        return function(translations, references, smoothed_bleu)

    return observed


def bleu_pipeline(s, translations, references, corpus_bleu):
    mine = [s.cut(text) for text in translations]
    right = [s.nest([s.cut_reference(text) for text in several]) for several in references]
    return s.measure(corpus_bleu, mine, right)


def bleu_cases() -> Sequence[Case]:
    dog, man = "a dog runs in the snow", "a man rides a bike"
    return (
        Case("one translation, one reference", ([dog], [["a dog is running in the snow"]])),
        Case("two translations", ([man, dog], [["a man is on a bike"], ["two dogs run"]])),
        Case(
            "two references each",
            (
                ["two dogs play outside", man],
                [
                    ["two dogs are playing", "dogs play outside"],
                    ["a boy rides", "the man rides a bike"],
                ],
            ),
        ),
        Case("word for word", ([dog, man], [[dog], [man]])),
        Case(
            "too short", (["a dog", "the man sleeps now"], [[dog], ["the man sleeps on a bench"]])
        ),
        Case("too long", ([dog + " and " + man], [["a dog and a man"]])),
        Case("nothing in common", (["red green"], [["a hat", "some shoes here"]])),
        Case(
            "three references, two and one",
            (
                [dog, "some people wait", "he sings a song"],
                [
                    ["the dog runs", "a dog in the snow", "a dog runs away"],
                    ["people are waiting", "some people are there"],
                    ["he sings the song"],
                ],
            ),
        ),
        Case("one word", (["snow"], [["the big snow", ""]])),
        Case(
            "an empty translation",
            ([dog, ""], [["a dog in the snow", "the dog runs"], ["a man sleeps"]]),
        ),
        Case("the second reference", ([man], [[dog, "a man rides his bike"]])),
        Case(
            "marks and capital letters",
            (
                [
                    "A dog , isn't it?",
                    "The e@@ nd is n't e\u0301 ▁ „ 3-4 a @-@ b &amp; <eos> now.",
                    " ".join(SIGNS),
                ],
                [
                    ["a dog, isn't it ?"],
                    ["the end .", "The end isn't é \" 3 - 4 a-b & ."],
                    [" ".join(SIGNS[::-1])],
                ],
            ),
        ),
        Case("the same translation twice", ([dog, dog], [["a dog in the snow"], ["two dogs run"]])),
        Case(
            "digits, <unk>, a word twice in a row, five references",
            (
                ["er füllt 3 T-Shirts für 12 Leute", "the <unk> man man rides", "some people wait"],
                [
                    ["er fällt 3 T Shirts für 12 Leute"],
                    ["the <unk> man rides", "a <unk> man rides"],
                    ["a hat", "a dog", "the end", "two men", "some people wait here now"],
                ],
            ),
        ),
        Case(
            "many translations, one of more than a hundred words",
            (
                ["a man and " * 110 + "the dog runs away", *["a dog"] * 60, *["the cat"] * 170],
                [
                    ["a man and " * 110 + "the cat runs away"],
                    *[["a dog"]] * 60,
                    *[["the dog"]] * 170,
                ],
            ),
        ),
    )


BLEU = Component(
    name="bleu_of_strings",
    chapter=19,
    order=1,
    section="What the function is given",
    signature="translations, references, corpus_bleu",
    pipeline=bleu_pipeline,
    steps={
        "cut": lambda text: text.split(),
        "cut_reference": lambda text: text.split(),
        "nest": lambda several: several,
        "measure": lambda corpus_bleu, mine, right: corpus_bleu(mine, right),
    },
    cases=bleu_cases,
    returns="the BLEU of all translations together, a number: from `translations`, strings, and "
    "`references`, for each translation a list of strings. `corpus_bleu(translations, references)` "
    "takes what NLTK's does: a list of tokens for each translation, and for each a list of "
    "references, each a list of tokens; the check's adds one to every count, so that short texts "
    "do not give 0. Tokens stand between spaces here",
    differentiable=False,
    observe=observe_bleu,
    met="score",
    boundaries={
        "one translation": lambda translations: len(translations) == 1,
        "an empty translation": lambda translations: not all(translations),
        "several references": lambda references: len(references[0]) > 1,
        "a mark": lambda translations: any("?" in text for text in translations),
        "a capital letter": lambda translations: any(text != text.lower() for text in translations),
        "a translation twice": lambda translations: len({*translations}) < len(translations),
        "one reference": lambda references: all(len(several) == 1 for several in references),
        "more than four references": lambda references: max(map(len, references)) > 4,
        "a digit": lambda translations: any(map(str.isdigit, "".join(translations))),
        "<unk>": lambda translations: any("<unk>" in text for text in translations),
        "a word twice in a row": lambda translations: any(
            a == b for text in translations for a, b in pairwise(text.split())
        ),
        "more than 100 words": lambda translations: any(len(t.split()) > 100 for t in translations),
        "more than 128 translations": lambda translations: len(translations) > 128,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(BLEU)

Measure = Callable[[Sequence[Any], Sequence[Any]], float]


@mistake(
    "cut_reference",
    "references left as strings",
    met=("bleu", 0),
    symptom="Words are compared with letters: only words of one character can agree.",
    cause="Hand over the references, too, as lists of words.",
)
@mistake(
    "cut",
    "letters compared, not words",
    symptom="Letters are compared in place of words, and mostly agree more often: most "
    "scores are too high.",
    cause="A string is a sequence of characters: hand over lists of words, `text.split()`.",
    steps={"cut_reference": str},
)
def not_cut(text: str) -> str:
    return text


@mistake(
    "nest",
    "reference not in a list",
    met=("bleu", 0),
    symptom="Each word of the first reference is taken for a reference, and its letters for words: "
    "only words of one character can agree.",
    cause="Hand over a list of references for each translation, each reference a list of words.",
)
def not_nested(several: list[Any]) -> Any:
    return several[0]


@mistake(
    "nest",
    "only the first reference kept",
    met=("bleu", 0),
    symptom="What agrees with another reference, and not with the first, does not count.",
    cause="Hand over all references of each translation.",
)
def first_reference(several: list[Any]) -> list[Any]:
    return several[:1]


@mistake(
    "measure",
    "mean of the sentences' BLEU",
    symptom="Each translation gets a BLEU alone, and the mean of several cannot be compared with "
    "published scores.",
    cause="BLEU is counted over the whole corpus: call corpus_bleu once, with all translations.",
)
def mean_of_sentences(corpus_bleu: Measure, mine: Sequence[Any], right: Sequence[Any]) -> float:
    pairs = zip(mine, right, strict=True)
    return sum(corpus_bleu([one], [several]) for one, several in pairs) / len(mine)


@mistake(
    "measure",
    "translations and references exchanged",
    symptom="The first reference is scored against the translation: what is too short counts as "
    "too long.",
    cause="Hand over the translations first, then all references of each.",
)
def exchanged(corpus_bleu: Measure, mine: Sequence[Any], right: Sequence[Any]) -> float:
    return corpus_bleu([several[0] for several in right], [[one] for one in mine])


@mistake(
    "measure",
    "all translations in one text",
    symptom="Runs of words go from one translation into the next, and only first references count.",
    cause="Hand over a list of words for each translation, and all of its references.",
)
def one_text(corpus_bleu: Measure, mine: Sequence[Any], right: Sequence[Any]) -> float:
    firsts = [several[0] for several in right]
    return corpus_bleu([list(chain(*mine))], [[list(chain(*firsts))]])


@mistake(
    "measure",
    "only the first translation measured",
    symptom="All other translations make no difference.",
    cause="The list of all translations goes into one call.",
)
def first_translation(corpus_bleu: Measure, mine: Sequence[Any], right: Sequence[Any]) -> float:
    return corpus_bleu(mine[:1], right[:1])
