"""Build vocabulary (chapter 2): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from transformer_book.checks.comparing import Unordered
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import SIGNS

Texts = Sequence[Sequence[str]]
SPECIALS = ("<pad>", "<sos>", "<eos>", "<unk>")


def count_words(texts: Sequence[Sequence[str]]) -> Counter[str]:
    return Counter(word for words in texts for word in words)


def corpus_cases() -> Sequence[Case]:
    dogs = [["a", "cat", "sleeps"], ["the", "dog", "sleeps"], ["the", "dog", "eats"]]
    more = [["b", "a", "b"], ["c", "a", "b"], ["d", "d", "a", "e"]]
    once = [["eins", "zwei", "zwei"], ["drei", "drei", "drei"]]
    kinds = [["Hund", "hund", ".", "3", "x-y", "über"], ["Hund", "hund", ".", "3", "x-y"]]
    kinds += [["3", "u\u0308ber"]]
    many = [[f"Wort{i}" for i in range(0, 90, step)] for step in (1, 2)]
    again = [["ja", "schön"], [], ["ja", "schön"], [], ["schon"]]
    odd = [*SIGNS, "it's", "it", "New York", "<b>", "<PAD>", "[MASK]", "<|end|>", "pad", "dogs"]
    odd += ["dog", " dog", "10\u00a0000", "https://example.org/" + "a/long/path/" * 5]
    long = [odd, *(["oft", f"Wort{i}"] for i in range(1024))]
    return (
        Case("three sentences, every word", (dogs, 1)),
        Case("three sentences, words that come twice", ([*dogs[:2], [*dogs[2], "", ""]], 2)),
        Case("letters, at least twice", (more, 2)),
        Case("letters, at least three times", (more, 3)),
        Case("German numbers, at least twice", (once, 2)),
        Case("nothing frequent enough", (once, 5)),
        Case("large letters and small, numbers, marks", (kinds, 2)),
        Case("ninety words, half of them twice", (many, 2)),
        Case("a sentence twice, and empty ones", (again, 2)),
        Case("a thousand sentences, and words with blanks and marks in them", (long, 1)),
    )


def observe_vocabulary(function):
    """The order of the words is free: compare them as a set, and the ids as a whole."""

    def observed(texts, least):
        vocabulary = function(texts, least)
        if not isinstance(vocabulary, dict):
            return vocabulary
        words = [word for word in vocabulary if word not in SPECIALS]
        return {
            "the special tokens": [vocabulary.get(special) for special in SPECIALS],
            "the words": Unordered(sorted(map(str, words))),
            "the ids, sorted": sorted(vocabulary.values()),
        }

    return observed


BUILD_VOCABULARY = Component(
    name="build_vocabulary",
    chapter=2,
    order=1,
    section="Three captions, by hand",
    signature="sentences, min_frequency",
    pipeline=lambda s, texts, least: dict(
        s.number(s.specials(), s.keep(s.count(texts), least), texts)
    ),
    steps={
        "count": count_words,
        "specials": lambda: SPECIALS,
        "keep": lambda counts, least: [w for w, n in counts.items() if n >= least],
        "number": lambda specials, words, texts: (
            (word, i) for i, word in enumerate((*specials, *sorted(set(words))))
        ),
    },
    cases=corpus_cases,
    returns="a dictionary from token to id, without gaps; `sentences` are lists of words: `<pad>` "
    "0, `<sos>` 1, `<eos>` 2, `<unk>` 3, then the words that come at least `min_frequency` times "
    "(1 or more), in any order; none of the four is a word",
    differentiable=False,
    observe=observe_vocabulary,
    done_by="Vocabulary",
    met="bleu",
    ready_made={"Vocabulary.build": "tokens.Vocabulary.build"},
    boundaries={
        "every word": lambda least: least == 1,
        "more than fifty words": lambda texts: len(count_words(texts)) > 50,
        "no word": lambda texts, least: max(map(len, texts)) * len(texts) < 3 * least,
        "a word twice in a sentence": lambda texts: any(len(set(t)) < len(t) for t in texts),
        "a sentence twice": lambda texts: (
            len({tuple(t) for t in texts if t}) < sum(map(bool, texts))
        ),
        "an empty sentence": lambda texts: not all(texts),
        "more than a thousand words": lambda texts: len(count_words(texts)) > 1000,
        "a word a thousand times": lambda texts: max(count_words(texts).values()) > 1000,
        "an apostrophe": lambda texts: any("'" in word for word in count_words(texts)),
        "a blank in a word": lambda texts: any(" " in word for word in count_words(texts)),
        "a word in angle brackets": lambda texts: any("<" in word for word in count_words(texts)),
        "a special token's name": lambda texts: "pad" in count_words(texts),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(BUILD_VOCABULARY)


@mistake(
    "specials",
    "special tokens forgotten",
    met=("batch", 17),
    symptom="The words begin at id 0, where the padding should be.",
    cause="The first four ids belong to <pad>, <sos>, <eos>, <unk>.",
)
def no_specials() -> tuple[str, ...]:
    return ()


@mistake(
    "number",
    "special tokens at the end",
    met=("nonsense", 22),
    symptom="The special tokens have the last ids.",
    cause="Number them first: <pad> is 0, and the words begin at 4.",
)
def specials_last(specials: Sequence[str], words: Sequence[str], texts: object) -> object:
    return ((word, i) for i, word in enumerate((*sorted(set(words)), *specials)))


@mistake(
    "number",
    "special tokens sorted with the words",
    symptom="The special tokens have been sorted together with the words.",
    cause="Put the four in front, in their order, and leave them out of any sorting: <pad> is 0.",
)
def sorted_together(specials: Sequence[str], words: Sequence[str], texts: object) -> object:
    return ((word, i) for i, word in enumerate(sorted({*specials, *words})))


@mistake(
    "keep",
    "more than in place of at least",
    symptom="Words that come exactly min_frequency times are missing.",
    cause="Count all occurrences of a word, the first one too, and keep it if there are "
    "min_frequency of them or more.",
)
def strictly_more(counts: Counter[str], least: int) -> list[str]:
    return [word for word, n in counts.items() if n > least]


@mistake(
    "keep",
    "frequency ignored",
    symptom="Rare words have ids of their own.",
    cause="Keep only the words that come at least min_frequency times.",
)
def all_kept(counts: Counter[str], least: int) -> list[str]:
    return list(counts)


@mistake(
    "keep",
    "rare words kept, frequent ones dropped",
    symptom="Only rare words have ids.",
    cause="Keep the words that come at least min_frequency times, and drop those that come less "
    "often.",
)
def rare_kept(counts: Counter[str], least: int) -> list[str]:
    return [word for word, n in counts.items() if n < least]


@mistake(
    "keep",
    "at most in place of at least",
    symptom="Words that come more often than min_frequency have no ids.",
    cause="Keep the words that come min_frequency times or more often, and drop only those that "
    "come less often.",
)
def at_most(counts: Counter[str], least: int) -> list[str]:
    return [word for word, n in counts.items() if n <= least]


@mistake(
    "count",
    "sentences counted in place of words",
    symptom="A word that comes twice in one sentence counts once.",
    cause="Count every occurrence, not the sentences a word is in.",
)
def sentences_counted(texts: Sequence[Sequence[str]]) -> Counter[str]:
    return Counter(word for words in texts for word in set(words))


@mistake(
    "count",
    "letters counted in place of words",
    symptom="The entries are letters.",
    cause="A loop over a word gives its characters, as Counter.update(word) does: loop over the "
    "sentences, then over the words, and count each word as one.",
)
def letters_counted(texts: Sequence[Sequence[str]]) -> Counter[str]:
    return Counter(letter for words in texts for word in words for letter in word)


@mistake(
    "number",
    "first word takes the id of <unk>",
    symptom="The first word has id 3, which <unk> has already.",
    cause="Four special tokens stand in front: the words begin at id 4.",
)
def words_from_three(specials: Sequence[str], words: Sequence[str], texts: object) -> object:
    return [
        *zip(specials, range(4), strict=False),
        *zip(sorted(set(words)), range(3, 10**6), strict=False),
    ]


@mistake(
    "number",
    "an id left out before the words",
    symptom="No token has id 4: the words begin at 5.",
    cause="The four special tokens have the ids 0 to 3: the words begin at id 4.",
)
def words_from_five(specials: Sequence[str], words: Sequence[str], texts: object) -> object:
    return [
        *zip(specials, range(4), strict=False),
        *zip(sorted(set(words)), range(5, 10**6), strict=False),
    ]


@mistake(
    "number",
    "rare words numbered, too",
    symptom="The ids may have gaps: a word that is too rare is left out, and its number with it.",
    cause="Drop the rare words first, then number those that are kept.",
)
def numbered_before_dropped(specials: Sequence[str], words: Sequence[str], texts: Texts) -> object:
    met = dict.fromkeys(word for sentence in texts for word in sentence)
    all_ids = enumerate((*specials, *met))
    return ((word, i) for i, word in all_ids if i < len(specials) or word in set(words))


@mistake(
    "number",
    "from id to token",
    symptom="The dictionary is the wrong way round: its keys are the ids.",
    cause="It is looked up by token: {token: id}, not {id: token}.",
)
def wrong_way_round(specials: Sequence[str], words: Sequence[str], texts: object) -> object:
    return enumerate((*specials, *sorted(set(words))))


def met_again(words: Sequence[str], texts: Texts) -> list[str]:
    """The words in the order of the texts, each as often as it comes."""
    return [word for sentence in texts for word in sentence if word in set(words)]


@mistake(
    "number",
    "a known word numbered once more",
    symptom="A kept word that comes again gets the next number, and its first one is left out.",
    cause="Number each word once: give an id only to a word that is not in the dictionary yet.",
)
def numbered_once_more(specials: Sequence[str], words: Sequence[str], texts: Texts) -> object:
    return ((word, i) for i, word in enumerate((*specials, *met_again(words, texts))))


@mistake(
    "number",
    "a known word numbered by the size of the dictionary",
    symptom="A kept word that comes again gets another id, the number of tokens so far, which a "
    "second word may get, too.",
    cause="Number each word once: vocabulary[word] = len(vocabulary) is only for a word that is "
    "not in the dictionary yet.",
)
def numbered_by_size(specials: Sequence[str], words: Sequence[str], texts: Texts) -> object:
    vocabulary = dict(zip(specials, range(4), strict=True))
    for word in met_again(words, texts):
        vocabulary[word] = len(vocabulary)
    return vocabulary.items()
