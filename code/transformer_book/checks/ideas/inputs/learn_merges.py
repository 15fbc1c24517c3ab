"""Learn merges (chapter 2): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import cycle, pairwise, product

from transformer_book.checks.components import Case, Component, mistakes_in

Pair = tuple[str, str]
Pieces = Mapping[str, Sequence[str]]


def learned_cases() -> Sequence[Case]:
    def corpus(text: str) -> dict[str, int]:
        return {word: int(n) for word, n in (part.split(":") for part in text.split())}

    return (
        Case("one word, one merge", (corpus("ab:3"), 1)),
        Case("four words of the chapter", (corpus("_sing:5 _singing:3 _spinning:4 _ring:1"), 4)),
        Case("a frequent word", (corpus("xy:9 ab:2 cab:3 abc:1"), 3)),
        Case("a tie", (corpus("zb:2 ac:2"), 2)),
        Case("ties of three", (corpus("ca:1 ab:1 bc:1"), 3)),
        Case("a pair twice in a word", (corpus("ababx:3 qr:5"), 2)),
        Case("three alike", (corpus("aaab:4 aac:2"), 3)),
        Case("a piece that ends like another", (corpus("cab:6 cabd:5 ab:4"), 3)),
        Case("no pair is left", (corpus("ab:2 c:3"), 4)),
        Case("pieces of three", (corpus("abcabc:2 bca:3 xbc:4"), 5)),
        Case("neighbours in two words", (corpus("xa:3 bx:3 xab:1"), 3)),
        Case("a long end", (corpus("xa:7 xab:2 ab:5 xxab:3"), 4)),
        Case("four alike", (corpus("aaaa:3 aab:2"), 3)),
        Case("nothing but single letters", (corpus("b:2 a:1"), 2)),
        Case("three times in a word", (corpus("efefef:2 gh:5"), 3)),
        Case("an end in the middle", (corpus("ca:9 cab:4 ab:8 cabs:2"), 3)),
        Case("two ends", (corpus("te:7 tes:3 es:6 ttes:2"), 3)),
        Case("five alike beside a pair", (corpus("aaaaa:2 bc:6"), 2)),
        Case("three alike beside a pair", (corpus("ooo:3 xy:5"), 2)),
        Case("two words of alike", (corpus("zzz:2 zz:1 ab:4"), 2)),
        Case(
            "marks, and a backslash",
            (
                corpus(
                    r"A.b:5 Acb:2 x\d:6 x\1:4 (c|:3 c|+:3 **:2 "
                    r"""-,/'&;~=$>%!?^"{[]}:10 a##b@@c</w>:9"""
                ),
                38,
            ),
        ),
        Case("no merge", (corpus("ab:3 abc:2"), 0)),
        Case("a pair from word to word", (corpus("ab:9 xa:4 by:3 aby:1"), 4)),
        Case("more merges than there are, twice in a word", (corpus("caca:1"), 14)),
        Case("more merges than there are, three alike", (corpus("bccc:9"), 12)),
        Case(
            "capitals, accents and digits",
            (corpus("né:3 nè:2 Bx:1200 ax:1200 ne\u0301:2 2024:5 mp3:4"), 14),
        ),
        Case("a long word, merged to the end", (corpus("internationalization:2"), 19)),
        Case("no words", ({}, 2)),
        Case(
            "sixty-four words",
            (dict(zip(map("".join, product("abcdefgh", repeat=2)), cycle(range(1, 8)))), 20),
        ),
    )


def pairs_of(pieces: Pieces, words: Mapping[str, int]) -> Counter[Pair]:
    found: Counter[Pair] = Counter()
    for word, n in words.items():
        for pair in pairwise(pieces[word]):
            found[pair] += n
    return found


def joined(parts: Sequence[str], pair: Pair) -> list[str]:
    new: list[str] = []
    i = 0
    while i < len(parts):
        found = tuple(parts[i : i + 2]) == pair
        new.append("".join(pair) if found else parts[i])
        i += 2 if found else 1
    return new


def learned_pipeline(s, words, n):
    pieces, merges = {word: list(word) for word in words}, []
    for _ in range(n):
        counts = s.count(pieces, words)
        if not counts:
            break
        pair = s.best(counts)
        merges.append(pair)
        pieces = {word: s.join(parts, pair) for word, parts in pieces.items()}
    return merges


LEARN_MERGES = Component(
    name="learn_merges",
    chapter=2,
    order=4,
    section="Pieces of words",
    signature="words, n",
    pipeline=learned_pipeline,
    steps={
        "count": pairs_of,
        "best": lambda counts: min(counts, key=lambda pair: (-counts[pair], pair)),
        "join": joined,
    },
    cases=learned_cases,
    returns="the first `n` merges of byte-pair encoding, a list of pairs of strings, fewer if no "
    "pair is left: `words` is a dictionary from each word to its count, thousands at most. Words "
    "begin as single letters. Each merge is the pair of neighbours that occurs most often in all "
    "words, a word counting as often as it occurs (in aaa the pair a a stands at two places); of "
    "equally frequent pairs the smallest, as Python compares tuples. It is joined from left to "
    "right in all words before the next is counted",
    differentiable=False,
    done_by="SubwordTokenizer.train",
    met="bleu",
    boundaries={
        "one word": lambda words: len(words) == 1,
        "one merge": lambda n: n == 1,
        "no merge": lambda n: n == 0,
        "a backslash": lambda words: any("\\" in word for word in words),
        "a mark": lambda words: any(not word.replace("_", "").isalnum() for word in words),
        "a letter alone": lambda words: any(len(word) == 1 for word in words),
        "no words": lambda words: not words,
        "more than fifty words": lambda words: len(words) > 50,
        "a word of more than ten letters": lambda words: any(len(word) > 10 for word in words),
        "a capital": lambda words: any(word != word.lower() for word in words),
        "digits alone": lambda words: any(word.isdigit() for word in words),
        "letters beyond ASCII": lambda words: any(not word.isascii() for word in words),
        "letters made of two characters": lambda words: any("\u0301" in word for word in words),
        "a word that comes 1000 times": lambda words: any(n >= 1000 for n in words.values()),
        "more merges than pairs": lambda words, n: n >= sum(len(word) - 1 for word in words) > 1,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(LEARN_MERGES)


@mistake(
    "count",
    "each word counted once",
    symptom="How often a word occurs changes nothing.",
    cause="A word that occurs five times brings its pairs five times: add its count.",
)
def each_word_once(pieces: Pieces, words: Mapping[str, int]) -> Counter[Pair]:
    return pairs_of(pieces, dict.fromkeys(words, 1))


@mistake(
    "count",
    "a pair counted once in a word",
    symptom="A pair that stands twice in a word counts once.",
    cause="Count every place at which the pair stands, not every word that has it.",
)
def once_in_a_word(pieces: Pieces, words: Mapping[str, int]) -> Counter[Pair]:
    found: Counter[Pair] = Counter()
    for word, n in words.items():
        for pair in set(pairwise(pieces[word])):
            found[pair] += n
    return found


@mistake(
    "count",
    "pairs counted across words",
    symptom="The end of a word and the beginning of the next are counted as neighbours.",
    cause="Count inside each word: a merge never goes from one word into the next.",
)
def across_words(pieces: Pieces, words: Mapping[str, int]) -> Counter[Pair]:
    line = [piece for word, n in words.items() for _ in range(n) for piece in pieces[word]]
    return Counter(pairwise(line))


@mistake(
    "best",
    "of equally frequent pairs the first met",
    symptom="Ties go to the pair that is met first: words in another order may give other merges.",
    cause="`max` by the count alone and `most_common` keep the first they meet: ask for the "
    "smallest pair among the most frequent.",
    kind="convention",
)
def first_met(counts: Mapping[Pair, int]) -> Pair:
    return max(counts, key=counts.__getitem__)


@mistake(
    "best",
    "of equally frequent pairs the largest",
    symptom="Ties go to the largest pair, as Python compares tuples.",
    cause="`max` by (count, pair) takes the largest pair: turn the sign of the count, and take the "
    "minimum.",
    kind="convention",
)
def largest(counts: Mapping[Pair, int]) -> Pair:
    return max(counts, key=lambda pair: (counts[pair], pair))


@mistake(
    "best",
    "the rarest pair first",
    symptom="The rarest pair is joined first.",
    cause="Take the pair with the largest count, of equal ones the smallest pair, as min by "
    "(−count, pair) does.",
)
def rarest(counts: Mapping[Pair, int]) -> Pair:
    return min(counts, key=lambda pair: (counts[pair], pair))


@mistake(
    "join",
    "merged pair not joined before the next count",
    symptom="The same pair is found again and again.",
    cause="Join it in every word, keep the joined pieces, and count these anew before the next "
    "merge.",
)
def not_joined(parts: Sequence[str], pair: Pair) -> list[str]:
    return list(parts)


@mistake(
    "join",
    "joined by replacing text",
    symptom="A pair is also found where it begins or ends inside a longer piece.",
    cause="In `xa b` the text `a b` is found, and the piece is `xa`: compare pieces, not "
    "text, or use re.sub with `(?<!\\S)` before the pair and `(?!\\S)` behind it.",
)
def replaced_as_text(parts: Sequence[str], pair: Pair) -> list[str]:
    return " ".join(parts).replace(" ".join(pair), "".join(pair)).split(" ")


@mistake(
    "join",
    "joined at the first place only",
    symptom="A pair that stands twice in a word is joined once.",
    cause="Go on behind the pair until the end of the word.",
)
def first_place(parts: Sequence[str], pair: Pair) -> list[str]:
    new = list(parts)
    for i, found in enumerate(pairwise(parts)):
        if found == pair:
            new[i : i + 2] = ["".join(pair)]
            break
    return new


def of_letters(pieces: Pieces, words: Mapping[str, int]) -> Counter[Pair]:
    return Counter({pair: n for pair, n in pairs_of(pieces, words).items() if "" not in pair})


@mistake(
    "join",
    "pairs counted once, nothing joined",
    symptom="All merges are pairs of single letters.",
    cause="The most frequent pairs of the first count are taken: join each in all words, and count "
    "anew, before the next.",
    steps={"count": of_letters},
    seen="It amazes me that this implementation of BPE doesn't require LOOP. How to make it "
    "correct?, https://github.com/soaxelbrooke/python-bpe/issues/20",
)
def set_apart(parts: Sequence[str], pair: Pair) -> list[str]:
    """The parts with nothing joined, but the pair no longer side by side."""
    found: list[str] = []
    for part in parts:
        if found and (found[-1], part) == pair:
            found.append("")
        found.append(part)
    return found


@mistake(
    "count",
    "places that overlap not counted",
    symptom="A pair of two alike counts too little where three stand side by side.",
    cause="In aaa the pair a a stands at two places, one of which can be joined: count both.",
    seen="Bug in BPE algorithm, https://github.com/google/sentencepiece/issues/318",
    kind="convention",
)
def not_overlapping(pieces: Pieces, words: Mapping[str, int]) -> Counter[Pair]:
    found: Counter[Pair] = Counter()
    for word, n in words.items():
        before: tuple[Pair, int] | None = None
        for i, pair in enumerate(pairwise(pieces[word])):
            before = None if before == (pair, i - 1) else (pair, i)
            found[pair] += n if before else 0
    return found
