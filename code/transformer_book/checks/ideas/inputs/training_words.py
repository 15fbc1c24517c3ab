"""Training words (chapter 2): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from transformer_book.checks.comparing import Unordered
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import SIGNS
from transformer_book.checks.ideas.inputs.build_vocabulary import count_words


def split_cases() -> Sequence[Case]:
    dogs = {
        "train": [["the", "dog", "sleeps"], ["the", "cat", "eats"]],
        "validation": [["the", "dog", "barks"]],
        "test": [["a", "raccoon", "sleeps"], ["a", "raccoon", "barks"]],
    }
    signs = {
        "train": [["a", "b", "a"], ["b", "c"], ["c", "d"]],
        "validation": [["d", "e"], ["e", "f", "f"]],
        "test": [["f", "g"], ["h", "g", "d"]],
    }
    twice = {
        "test": [["di", "fa", "fa", "fa"]],
        "validation": [["so", "la", "mi"], ["mi", "mi"]],
        "train": [["so", "so"], ["la", "la", "la"], ["la", "di", "da", "di"], ["so", "da"]],
    }
    captions = [
        [
            "The",
            "the",
            " the",
            "",
            "10\u00a0000",
            "7",
            "Dr.",
            "<unk>",
            "http://example.org/docs/index.html",
        ],
        ["né", "<b>", ",", "née"],
        ["né", "<b>", ",", "ne\u0301e"],
    ]
    kinds = {
        "train": [captions[0], captions[0], [], *captions[1:]],
        "validation": [],
        "test": captions[2:],
    }
    words = [*SIGNS, *(f"word{i}" for i in range(1060))]
    many = {"train": [*[words] * 5, ["rare"] * 4], "validation": [["rare"], words], "test": [words]}
    return (
        Case("dogs, every word", (dogs, 1)),
        Case("dogs, words that come twice", (dogs, 2)),
        Case("letters, every one", (signs, 1)),
        Case("letters that come twice", (signs, 2)),
        Case("letters that come three times", (signs, 3)),
        Case("words twice in a sentence", (twice, 2)),
        Case("words twice in a sentence, three times in all", (twice, 3)),
        Case("words of all kinds, a sentence twice, and one without words", (kinds, 2)),
        Case("many words that come five times, and one that comes four times", (many, 5)),
        Case("no training sentence", ({**dogs, "train": []}, 1)),
    )


def frequent(sentences: Sequence[Sequence[str]], least: int) -> set[str]:
    return {word for word, n in count_words(sentences).items() if n >= least}


def _some(holds: Callable[[str], bool]) -> Callable[[dict[str, list[list[str]]]], bool]:
    """The condition that it holds for some word of the training sentences."""
    return lambda splits: any(holds(word) for sentence in splits["train"] for word in sentence)


TRAINING_WORDS = Component(
    name="training_words",
    chapter=2,
    order=4,
    section="Break it: the test set in the vocabulary",
    signature="splits, min_frequency",
    pipeline=lambda s, splits, least: s.known(s.keep(s.counted(splits), least), splits),
    steps={
        "counted": lambda splits: splits["train"],
        "keep": frequent,
        "known": lambda words, splits: words,
    },
    cases=split_cases,
    returns="the words that a vocabulary may hold, as a set or a list, in any order: those that "
    "come at least `min_frequency` times (1 or more) where a model may learn from; `splits` is a "
    "dictionary with the sentences, lists of words, of `train`, `validation` and `test`",
    differentiable=False,
    observe=lambda function: lambda splits, least: Unordered(sorted(set(function(splits, least)))),
    done_by="read_lines",
    met="score",
    boundaries={
        "no training sentence": lambda splits: not splits["train"],
        "no validation sentence": lambda splits: not splits["validation"],
        "a sentence without words": lambda splits: [] in splits["train"],
        "a sentence twice": lambda splits: any(
            splits["train"].count(sentence) > 1 for sentence in splits["train"]
        ),
        "a sentence that is tested, too": lambda splits: any(
            sentence in splits["test"] for sentence in splits["train"]
        ),
        "a capital": _some(lambda word: word != word.lower()),
        "a mark": _some(lambda word: not word.isalnum()),
        "a word in angle brackets": _some(lambda word: word[0] == "<"),
        "letters beyond ASCII": _some(lambda word: not word.isascii()),
        "a space in a word": _some(lambda word: len(word.split()) > 1),
        "more than 256 words": lambda splits: len({w for s in splits["train"] for w in s}) > 256,
        "more than three times": lambda least: least > 3,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(TRAINING_WORDS)


@mistake(
    "counted",
    "vocabulary built on test data",
    met=("score", 1),
    symptom="The words of the validation and the test set are counted, too.",
    cause="Count in the training sentences alone: the test tells us about new texts.",
    seen="Why use training, validation and test set to build vocabulary in build_data.py?, "
    "https://github.com/guillaumegenthial/sequence_tagging/issues/94",
)
def all_counted(splits: dict[str, list[list[str]]]) -> list[list[str]]:
    return [words for split in splits.values() for words in split]


@mistake(
    "counted",
    "vocabulary built on training and test",
    symptom="The words of the test set are counted, too.",
    cause="Count in the training sentences alone: the test tells us about new texts.",
    seen="Why we build tokenizer using both train and test set?, "
    "https://github.com/songyouwei/ABSA-PyTorch/issues/190",
)
def test_counted(splits: dict[str, list[list[str]]]) -> list[list[str]]:
    return splits["train"] + splits["test"]


@mistake(
    "counted",
    "vocabulary built on training and validation",
    symptom="The words of the validation set are counted, too.",
    cause="Count in the training sentences alone: a model learns from no others.",
    seen="Major Concern regarding Test/Val data, https://github.com/keras-team/keras/issues/7447",
)
def validation_counted(splits: dict[str, list[list[str]]]) -> list[list[str]]:
    return splits["train"] + splits["validation"]


@mistake(
    "known",
    "how often: counted in all three sets",
    symptom="A word of the training sentences that is rare there is kept if it comes in the other "
    "sets often enough.",
    cause="Count in the training sentences alone: what a word adds in the other sets does not "
    "count.",
    steps={"counted": all_counted},
)
def words_of_training(words: set[str], splits: dict[str, list[list[str]]]) -> set[str]:
    return words & {word for sentence in splits["train"] for word in sentence}


@mistake(
    "keep",
    "more often than min_frequency",
    symptom="Words that come exactly min_frequency times are missing.",
    cause="Count a word from 1 on, and keep it from min_frequency on: n >= min_frequency.",
    section="Three captions, by hand",
)
def more_often(sentences: Sequence[Sequence[str]], least: int) -> set[str]:
    return {word for word, n in _counted(sentences).items() if n > least}


@mistake(
    "keep",
    "frequency of the training words ignored",
    symptom="Rare words are there, too.",
    cause="Keep only the words that come at least min_frequency times.",
    section="Three captions, by hand",
)
def all_training_words(sentences: Sequence[Sequence[str]], least: int) -> set[str]:
    return set(_counted(sentences))


@mistake(
    "keep",
    "the n most frequent words",
    symptom="The min_frequency most frequent words are there, however often they come.",
    cause="min_frequency is how often a word must come, not how many words are kept.",
    section="Three captions, by hand",
)
def most_frequent(sentences: Sequence[Sequence[str]], least: int) -> set[str]:
    return {word for word, _ in _counted(sentences).most_common(least)}


@mistake(
    "keep",
    "training sentences counted in place of words",
    symptom="A word that comes twice in one sentence counts once.",
    cause="Count every occurrence, not the sentences a word is in.",
    section="Three captions, by hand",
)
def training_sentences_counted(sentences: Sequence[Sequence[str]], least: int) -> set[str]:
    return {word for word, n in _counted(map(set, sentences)).items() if n >= least}


def _counted(sentences: Iterable[Iterable[str]]) -> Counter[str]:
    return Counter(word for words in sentences for word in words)
