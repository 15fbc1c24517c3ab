"""Components of chapters 1 to 5: counting, vocabularies, batches, embeddings, positions."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.attention import normal, sentences
from transformer_book.checks.components import AsClass, Case, Component

SPECIALS = ("<pad>", "<sos>", "<eos>", "<unk>")

# --- counting ------------------------------------------------------------------------------------

NUMBER_OF_TARGETS = Component(
    name="number_of_targets",
    chapter=1,
    section="How many sentences are there?",
    signature="vocab_size, length",
    pipeline=lambda s, vocab_size, length: s.count(vocab_size, length),
    steps={"count": lambda vocab_size, length: vocab_size**length},
    cases=lambda: tuple(
        Case(f"{v} words, {n} places", (v, n))
        # The last but one is too large for 64 bits, the last for a float.
        for v, n in ((2, 3), (3, 2), (10, 4), (5, 1), (1, 6), (2000, 10), (28, 200))
    ),
    returns="the number of different sequences of `length` tokens, a whole number",
    differentiable=False,
)

# --- vocabularies --------------------------------------------------------------------------------


def count_words(texts: Sequence[Sequence[str]]) -> Counter[str]:
    return Counter(word for words in texts for word in words)


def corpus_cases() -> Sequence[Case]:
    dogs = [["the", "dog", "sleeps"], ["the", "dog", "eats"], ["a", "cat", "sleeps"]]
    more = [["b", "a", "b"], ["c", "a", "b"], ["d", "d", "a", "e"]]
    once = [["eins", "zwei", "zwei"], ["drei", "drei", "drei"]]
    kinds = [["Hund", "hund", ".", "3", "x-y", "über"], ["Hund", "hund", ".", "3", "x-y"], ["3"]]
    return (
        Case("three sentences, every word", (dogs, 1)),
        Case("three sentences, words that come twice", (dogs, 2)),
        Case("letters, at least twice", (more, 2)),
        Case("letters, at least three times", (more, 3)),
        Case("German numbers, at least twice", (once, 2)),
        Case("nothing frequent enough", (once, 5)),
        Case("large letters and small, numbers, marks", (kinds, 2)),
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
            "the words": sorted(map(str, words)),
            "the ids": sorted(vocabulary.values()),
        }

    return observed


BUILD_VOCABULARY = Component(
    name="build_vocabulary",
    chapter=2,
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
    "0, `<sos>` 1, `<eos>` 2, `<unk>` 3, then the words that come at least `min_frequency` times, "
    "in any order; none of the four is a word",
    differentiable=False,
    observe=observe_vocabulary,
)


def encode_cases() -> Sequence[Case]:
    vocabulary = {**{s: i for i, s in enumerate(SPECIALS)}, "the": 4, "dog": 5, "sleeps": 6}
    small = {**{s: i for i, s in enumerate(SPECIALS)}, "x": 4}
    return (
        Case("a sentence of known words", (["the", "dog", "sleeps"], vocabulary)),
        Case("an unknown word", (["the", "cat", "sleeps"], vocabulary)),
        Case("unknown words only", (["y", "z"], small)),
        Case("one word", (["x"], small)),
        Case("an unknown word at the end", (["x", "y"], small)),
        Case("a longer sentence", (["The", "dog", "the", "raccoon", "the"], vocabulary)),
        Case("padding among the tokens", (["dog", "<pad>", "<pad>"], vocabulary)),
        Case("special tokens among the tokens", (["<sos>", "x", "<pad>", "<unk>", "<eos>"], small)),
        Case("padding first", (["<pad>", "x", "y"], small)),
        Case("no token", ([], vocabulary)),
        Case(
            "more tokens than any buffer has places", (["the", "dog", "sleeps"] * 180, vocabulary)
        ),
    )


ENCODE = Component(
    name="encode",
    chapter=2,
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
)


def letters(text: str) -> list[str]:
    return [letter for letter in text if letter != " "]


def words_and_marks(text: str) -> list[str]:
    return re.findall(r"\w+|[^\w\s]", text)


def lowered_words_and_marks(text: str) -> list[str]:
    return words_and_marks(text.lower())


def numbered(*tokens: str) -> dict[str, int]:
    return {token: i for i, token in enumerate((*SPECIALS, *tokens))}


def text_cases() -> Sequence[Case]:
    cased = numbered("Two", "Dogs", "dogs", "sleep", "eat", ".", ",", "the")
    lowered = numbered("two", "dogs", "sleep", "eat", ".", ",", "the")
    single = numbered(*"abcdefghT.,")
    return (
        Case("words and full stops", ("Two dogs sleep.", words_and_marks, cased)),
        Case("capital letters", ("The Dogs, Two dogs.", words_and_marks, cased)),
        Case("a model of small letters", ("The Dogs sleep.", lowered_words_and_marks, lowered)),
        Case("the same, with a comma", ("TWO dogs eat, sleep.", lowered_words_and_marks, lowered)),
        Case("a model of letters", ("a bad face.", letters, single)),
        Case("letters, one of them large", ("The egg, a bag", letters, single)),
        Case("unknown words and a word twice", ("Two cats eat Two mice.", words_and_marks, cased)),
        Case("the same text, another vocabulary", ("Two dogs sleep.", words_and_marks, lowered)),
        Case("nothing but unknown words", ("Two of them!", words_and_marks, lowered)),
        Case("a text longer than any buffer", ("the dogs eat. " * 180, words_and_marks, cased)),
        Case("letters, blanks and lines", (" a bad\nface ", list, {**single, " ": 20, "\n": 21})),
        Case("an empty text", ("", words_and_marks, cased)),
        Case("a text that is a token itself", ("bad", letters, {**single, "bad": 15})),
    )


TEXT_TO_IDS = Component(
    name="text_to_ids",
    chapter=2,
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
    # What an empty text, or one of several lines, is split into depends on the way.
    settled=lambda case, answer: answer if re.fullmatch(".+", case.arguments[0]) else 0.0,
)


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
    return (
        Case("dogs, every word", (dogs, 1)),
        Case("dogs, words that come twice", (dogs, 2)),
        Case("letters, every one", (signs, 1)),
        Case("letters that come twice", (signs, 2)),
        Case("letters that come three times", (signs, 3)),
        Case("words twice in a sentence", (twice, 2)),
        Case("words twice in a sentence, three times in all", (twice, 3)),
    )


def frequent(sentences: Sequence[Sequence[str]], least: int) -> set[str]:
    return {word for word, n in count_words(sentences).items() if n >= least}


TRAINING_WORDS = Component(
    name="training_words",
    chapter=2,
    section="Break it: the test set in the vocabulary",
    signature="splits, min_frequency",
    pipeline=lambda s, splits, least: sorted(s.keep(s.counted(splits), least)),
    steps={"counted": lambda splits: splits["train"], "keep": frequent},
    cases=split_cases,
    returns="the words that a vocabulary may hold, as a set or a list, in any order: those that "
    "come at least `min_frequency` times where a model may learn from; `splits` is a dictionary "
    "with the sentences, lists of words, of `train`, `validation` and `test`",
    differentiable=False,
    observe=lambda function: lambda splits, least: sorted(set(function(splits, least))),
)

# --- batches -------------------------------------------------------------------------------------


def collate_cases() -> Sequence[Case]:
    return (
        Case("two sentences", ([[5, 7, 2], [9, 2]],)),
        Case("three sentences", ([[4, 2], [5, 6, 7, 8, 2], [9, 9, 2]],)),
        Case("of equal length", ([[4, 2], [5, 2]],)),
        Case("one sentence", ([[4, 5, 2]],)),
        Case("the longest first", ([[4, 5, 6, 2], [7, 2], [2]],)),
        Case("the longest last", ([[2], [7, 2], [4, 5, 6, 2]],)),
        Case("targets, with special tokens", ([[1, 5, 3, 2], [1, 2]],)),
        Case("one token", ([[2]],)),
        Case("large ids", ([[70000, 300, 2], [40000, 2]],)),
        Case("a row longer than any buffer", ([[4, 2], [*range(4, 1033), 2]],)),
    )


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[0] * (longest - len(row))] for row in rows])


COLLATE = Component(
    name="collate",
    chapter=3,
    section="Three captions, one rectangle",
    signature="rows",
    pipeline=lambda s, rows: s.pad(rows),
    steps={"pad": padded},
    cases=collate_cases,
    returns="a tensor `(B, S)` of whole numbers, padded with 0 behind, no longer than needed; "
    "`rows` are lists of ids, none of them empty",
    differentiable=False,
)


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
            (torch.tensor([[1, 2, 0], [1, 4, 2], [1, 3, 2], [1, 2, 0]]),),
        ),
    )


SHIFT = Component(
    name="shift",
    chapter=3,
    section="One place to the right",
    signature="target",
    pipeline=lambda s, target: (s.goes_in(target), s.comes_out(target)),
    steps={"goes_in": lambda target: target[:, :-1], "comes_out": lambda target: target[:, 1:]},
    cases=target_cases,
    returns="two tensors `(B, T − 1)`: what the decoder reads, and what it is to say at each place",
    differentiable=False,
)

# --- embeddings and positions --------------------------------------------------------------------


def embedding_cases() -> Sequence[Case]:
    by_hand = torch.tensor([[0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]])
    return (
        Case("by hand: d_model = 4", (torch.tensor([[1, 2]]), by_hand)),
        Case("a token twice", (torch.tensor([[2, 1, 2]]), by_hand)),
        Case("random, d_model = 6", (sentences(3, 2, seed=1), normal(20, 6, seed=2))),
        Case("random, d_model = 16", (sentences(5, 1, 4, seed=3), normal(20, 16, seed=4))),
        Case("random, d_model = 9", (sentences(2, 2, seed=5), normal(20, 9, seed=6))),
        Case("special tokens and padding", (torch.tensor([[1, 3, 2, 0]]), normal(5, 7, seed=7))),
        Case("one token, d_model = 128", (torch.tensor([[3]]), normal(4, 128, seed=8))),
    )


EMBEDDING = Component(
    name="embedding",
    chapter=4,
    section="How loud is a word?",
    signature="tokens, weight",
    pipeline=lambda s, tokens, weight: s.scale(s.look_up(tokens, weight), weight),
    steps={
        "look_up": lambda tokens, weight: weight[tokens],
        "scale": lambda x, weight: x * math.sqrt(weight.size(1)),
    },
    cases=embedding_cases,
    returns="`(B, T, D)`: the rows of `weight` `(V, D)`, times the root of D",
    as_class=AsClass(
        constructor="vocab_size, d_model",
        forward="tokens",
        weights="`weight` (V, D)",
        cases=lambda: tuple(
            Case(case.name, (tuple(weight.shape), {"weight": weight}, (tokens,)))
            for case in embedding_cases()
            for tokens, weight in [case.arguments]
        ),
        arguments=lambda sizes, weights, inputs: (*inputs, *weights.values()),
    ),
)


def logits_cases() -> Sequence[Case]:
    return (
        Case("by hand", (torch.tensor([[[1.0, 2.0]]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]]))),
        Case("random", (normal(2, 3, 4, seed=1), normal(7, 4, seed=2))),
        Case("a square matrix", (normal(2, 3, 5, seed=3), normal(5, 5, seed=4))),
        Case("another", (normal(1, 2, 6, seed=5), normal(6, 6, seed=6))),
        Case("and another", (normal(3, 2, 4, seed=9), normal(4, 4, seed=10))),
        Case("large", (normal(2, 2, 4, seed=7), normal(9, 4, seed=8))),
        Case("as many positions as features", (normal(2, 4, 4, seed=11), normal(6, 4, seed=12))),
    )


TIED_LOGITS = Component(
    name="tied_logits",
    chapter=4,
    section="One matrix, two jobs",
    signature="x, weight",
    pipeline=lambda s, x, weight: s.product(x, weight),
    steps={"product": lambda x, weight: x @ weight.T},
    cases=logits_cases,
    returns="`(B, T, V)`: the dot products of each vector with each row of the embedding `(V, D)`",
)


def position_cases() -> Sequence[Case]:
    # The last one is longer than any buffer.
    sizes = ((3, 4), (1, 2), (5, 8), (7, 6), (12, 16), (40, 10), (2, 512), (5010, 4))
    return tuple(Case(f"{t} positions, d_model = {d}", (t, d)) for t, d in sizes)


def positions_pipeline(s, length, d_model):
    position = s.places(length)[:, None]  # (T, 1)
    angle = position / s.base() ** s.exponents(d_model)  # (T, D/2)
    return s.arrange(s.first(angle), s.second(angle)).to(torch.float32)  # (T, D)


POSITIONS = Component(
    name="sinusoids",
    chapter=5,
    section="By hand: a clock for places",
    signature="length, d_model",
    pipeline=positions_pipeline,
    steps={
        "places": lambda length: torch.arange(length, dtype=torch.float64),
        "base": lambda: 10000.0,
        "exponents": lambda d_model: torch.arange(0, d_model, 2, dtype=torch.float64) / d_model,
        "first": torch.sin,
        "second": torch.cos,
        "arrange": lambda first, second: torch.stack([first, second], dim=-1).flatten(1),
    },
    cases=position_cases,
    returns="`(T, D)`, D even: sines in the even columns, cosines in the odd ones, of p / "
    "10000^(2i/D) in the columns 2i and 2i + 1 of position p, which counts from 0",
    differentiable=False,
)


def add_cases() -> Sequence[Case]:
    zeros = normal(4, 2, 6, seed=9)
    zeros[2, 1] = 0  # a vector of zeros is no padding
    return (
        Case("one sentence", (normal(1, 3, 4, seed=1), normal(9, 4, seed=2))),
        Case("two sentences", (normal(2, 3, 4, seed=3), normal(9, 4, seed=4))),
        Case("as many sentences as tokens", (normal(3, 3, 4, seed=5), normal(9, 4, seed=6))),
        Case("as many tokens as features", (normal(2, 4, 4, seed=15), normal(9, 4, seed=16))),
        Case("the whole table", (normal(2, 5, 4, seed=7), normal(5, 4, seed=8))),
        Case("more sentences than tokens", (zeros, normal(9, 6, seed=10))),
        Case("one token", (normal(1, 1, 3, seed=11), normal(9, 3, seed=12))),
        Case("a long text", (normal(1, 1030, 2, seed=13), normal(1040, 2, seed=14))),
    )


ADD_POSITIONS = Component(
    name="add_positions",
    chapter=5,
    section="Word and place in one vector",
    signature="x, table",
    pipeline=lambda s, x, table: s.join(x, s.rows(x, table)),
    steps={
        "rows": lambda x, table: table[: x.size(1)],
        "join": lambda x, rows: x + rows,
    },
    cases=add_cases,
    returns="`(B, T, D)`: row p of the table added to the vector at position p",
)

COMPONENTS = (
    NUMBER_OF_TARGETS,
    BUILD_VOCABULARY,
    ENCODE,
    TEXT_TO_IDS,
    TRAINING_WORDS,
    COLLATE,
    SHIFT,
    EMBEDDING,
    TIED_LOGITS,
    POSITIONS,
    ADD_POSITIONS,
)
