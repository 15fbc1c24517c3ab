"""Byte-pair merges (chapter 28): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import SIGNS
from transformer_book.checks.ideas.inputs.learn_merges import Pair, joined

Ranks = Mapping[Pair, int]


def merge_cases() -> Sequence[Case]:
    def ranks(*merges: str) -> Ranks:
        return {(first, second): i for i, (first, second) in enumerate(map(str.split, merges))}

    hugs = ranks("u g", "h ug", "g s", "hug s")
    chain = "abcdefghijklm"
    gaps = {(chain[:i], chain[i]): 256 + 100_000 * i for i in range(1, 13)}
    return (
        Case("nothing to merge", (["x", "y"], ranks("a b"))),
        Case("one merge", (["a", "b"], ranks("a b"))),
        Case("the word hugs", ([*"hugs"], hugs)),
        Case("the word bugs", ([*"bugs"], hugs)),
        Case("the lower rank stands further right", ([*"abc"], ranks("b c", "a b"))),
        Case("three alike", ([*"aaa"], ranks("a a"))),
        Case("five alike, merged twice", ([*"aaaaa"], ranks("aa aa", "a a"))),
        Case("the pair twice in a word", ([*"abxab"], ranks("x a", "a b"))),
        Case("a frequent pair of a high rank", ([*"ababc"], ranks("b c", "a b"))),
        Case(
            "marks, and a backslash",
            (
                [*r"acb.x\d(|", "e", "\u0301", *SIGNS],
                ranks("c .", r"x \ ", "b .", r"x\ d", "( |", "! ?", "中 😀", "e \u0301"),
            ),
        ),
        Case("a space is a letter", ([" ", "Ġ", *"dog"], ranks("Ġd og", "o g", "Ġ d"))),
        Case("second and first", ([*"ba"], ranks("a b"))),
        Case("a long pair of a high rank", ([*"abcd"], ranks("a b", "b c", "c d", "ab cd"))),
        Case("a merge that spoils another", ([*"xyz"], ranks("x y", "xy w", "y z"))),
        Case("a longer pair of a higher rank", ([*"abcd"], ranks("a b", "c d", "ab c"))),
        Case("a longer pair further right", ([*"dcab"], ranks("a b", "d c", "c ab"))),
        Case("three beside one", ([*"abcdef"], ranks("a b", "ab c", "d e", "abc d"))),
        Case("turned round, and as learned", ([*"babab"], ranks("a b"))),
        Case("both turned round", ([*"zyx"], ranks("y z", "x y"))),
        Case("three alike, twice, and joined again", ([*"aaaxaaa"], ranks("aa a", "a a"))),
        Case("a pair that comes three times", ([*"ababxabx"], ranks("x a", "b x", "a b"))),
        Case("the middle first", ([*"abcd"], ranks("b c", "a b", "c d", "ab c"))),
        Case("the middle first, twice", ([*"abcdabcd"], ranks("b c", "a b", "c d", "ab c"))),
        Case("a word that no order of merges reaches", ([*"abc"], ranks("b c", "a b", "ab c"))),
        Case("the middle first, of five", ([*"vwxyz"], ranks("w x", "v w", "x y", "vw x"))),
        Case("one token, and an empty table", (["a"], {})),
        Case(
            "a table in another order",
            ([*"abcd"], {("a", "bc"): 1, ("bc", "d"): 0, ("b", "c"): 2}),
        ),
        Case("twelve merges, and ranks with gaps", ([*chain, "n"], gaps)),
        Case("a hundred and twenty letters", ([*"ab" * 60], ranks("a b", "ab ab", "abab abab"))),
    )


def lowest(tokens: list[str], ranks: Ranks) -> Pair | None:
    pairs = [pair for pair in pairwise(tokens) if pair in ranks]
    return min(pairs, key=ranks.__getitem__, default=None)


def merged(s, tokens: list[str], ranks: Ranks) -> list[str]:
    tokens = list(tokens)
    # A wrong step must not go on for ever: each merge takes a token away.
    for _ in range(len(tokens)):
        pair = s.lowest(tokens, ranks)
        if pair is None:
            break
        tokens = s.joined(tokens, pair)
    return tokens


MERGE_TOKENS = Component(
    name="merge_tokens",
    chapter=28,
    order=4,
    section="Merges, by hand",
    signature="tokens, ranks",
    pipeline=merged,
    steps={"lowest": lowest, "joined": joined},
    cases=merge_cases,
    returns="the tokens of a word after all merges, a list of strings: as long as some neighbours "
    "are a pair in `ranks`, the pair of the lowest rank is joined, from left to right wherever it "
    "stands (or one place at a time, which is the same with ranks as they are learned)",
    differentiable=False,
    done_by="SubwordTokenizer",
    met="nonsense",
    boundaries={
        "a backslash": lambda tokens: any("\\" in token for token in tokens),
        "a mark": lambda tokens: any(token in set(".*+?|()[]") for token in tokens),
        "one token": lambda tokens: len(tokens) == 1,
        "an empty table": lambda ranks: not ranks,
        "more than ten merges": lambda ranks: len(ranks) > 10,
        "ranks above the number of merges": lambda ranks: max(ranks.values(), default=0) > 1000,
        "more than 64 tokens": lambda tokens: len(tokens) > 64,
        "a table in another order": lambda ranks: [*ranks.values()] != sorted(ranks.values()),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(MERGE_TOKENS)


@mistake(
    "lowest",
    "the last learned merge first",
    symptom="Of the possible merges, the one learned last is done first.",
    cause="Do the one learned first, that of the lowest rank.",
)
def highest(tokens: list[str], ranks: Ranks) -> Pair | None:
    pairs = [pair for pair in pairwise(tokens) if pair in ranks]
    return max(pairs, key=ranks.__getitem__, default=None)


@mistake(
    "lowest",
    "the leftmost pair first",
    symptom="A pair further left is joined although one of a lower rank stands further right.",
    cause="Look at all pairs of the word, and take the one of the lowest rank.",
)
def leftmost(tokens: list[str], ranks: Ranks) -> Pair | None:
    return next((p for p in pairwise(tokens) if p in ranks), None)


@mistake(
    "lowest",
    "the most frequent pair of the word first",
    symptom="A pair that comes twice in the word is joined before one of a lower rank.",
    cause="Counting belongs to the training; a word is merged by the ranks alone.",
)
def most_frequent(tokens: list[str], ranks: Ranks) -> Pair | None:
    counted = Counter(p for p in pairwise(tokens) if p in ranks)
    return min(counted, key=lambda pair: (-counted[pair], ranks[pair]), default=None)


@mistake(
    "lowest",
    "the longest token first",
    symptom="A long token is made although a pair of a lower rank was there.",
    cause="The length does not matter: take the pair of the lowest rank.",
)
def longest(tokens: list[str], ranks: Ranks) -> Pair | None:
    pairs = [pair for pair in pairwise(tokens) if pair in ranks]
    return max(pairs, key=lambda pair: (len("".join(pair)), -ranks[pair]), default=None)


@mistake(
    "lowest",
    "rank 0 taken for no rank",
    symptom="The very first merge is never done.",
    cause="Zero is a rank like any other: ask `pair in ranks`.",
)
def no_zero(tokens: list[str], ranks: Ranks) -> Pair | None:
    pairs = [pair for pair in pairwise(tokens) if ranks.get(pair)]
    return min(pairs, key=ranks.__getitem__, default=None)


def joined_as_spelt(tokens: list[str], pair: Pair) -> list[str]:
    new, i = [], 0
    while i < len(tokens):
        both = i + 1 < len(tokens) and tokens[i] + tokens[i + 1] == "".join(pair)
        new.append("".join(tokens[i : i + 1 + both]))
        i += 1 + both
    return new


@mistake(
    "lowest",
    "pairs looked up by what they spell",
    symptom="Two neighbours are joined that are no pair of the table, but spell what another pair "
    "spells.",
    cause="Look up (a, b), not a + b: a bc and ab c are spelt alike.",
    steps={"joined": joined_as_spelt},
)
def lowest_spelt(tokens: list[str], ranks: Ranks) -> Pair | None:
    spelt: dict[str, int] = {}
    for pair, rank in ranks.items():
        spelt["".join(pair)] = min(rank, spelt.get("".join(pair), rank))
    pairs = [pair for pair in pairwise(tokens) if "".join(pair) in spelt]
    return min(pairs, key=lambda pair: spelt["".join(pair)], default=None)


@mistake(
    "lowest",
    "pairs of single letters only",
    symptom="What was joined is never joined again.",
    cause="What was merged is a token like others: after each join look for pairs anew, with it "
    "among them.",
)
def letters_only(tokens: list[str], ranks: Ranks) -> Pair | None:
    letters = [token if len(token) == 1 else "" for token in tokens]
    return lowest(letters, ranks)


@mistake(
    "lowest",
    "order of the two ignored",
    symptom="b a is joined although only a b was learned.",
    cause="A pair has a first and a second: (b, a) is not (a, b).",
)
def either_order(tokens: list[str], ranks: Ranks) -> Pair | None:
    both = {**{(b, a): rank for (a, b), rank in ranks.items()}, **ranks}
    return lowest(tokens, both)


@mistake(
    "lowest",
    "unknown pairs joined, too",
    symptom="The whole word becomes one token.",
    cause="Join only pairs that are in the table, stop when the word holds none, and return the "
    "tokens as they are then.",
)
def unknown_too(tokens: list[str], ranks: Ranks) -> Pair | None:
    pairs = pairwise(tokens)
    return min(pairs, key=lambda pair: ranks.get(pair, len(ranks)), default=None)


@mistake(
    "joined",
    "joined from right to left",
    symptom="Of three alike the last two are joined.",
    cause="Begin with the leftmost place of the pair: go from left to right, and let no later "
    "place of the same rank replace it (<, not <=).",
)
def from_the_right(tokens: list[str], pair: Pair) -> list[str]:
    turned = joined([token[::-1] for token in tokens[::-1]], (pair[1][::-1], pair[0][::-1]))
    return [token[::-1] for token in turned[::-1]]


@mistake(
    "joined",
    "a token used in two pairs",
    symptom="Of three alike two pairs come out, and the word has grown.",
    cause="After a join go on behind both tokens.",
)
def used_twice(tokens: list[str], pair: Pair) -> list[str]:
    new, i = [], 0
    while i < len(tokens):
        if tuple(tokens[i : i + 2]) == pair:
            new.append("".join(pair))
            i += 1 if tuple(tokens[i + 1 : i + 3]) == pair else 2
        else:
            new.append(tokens[i])
            i += 1
    return new


@mistake(
    "joined",
    "places that overlap joined into one",
    symptom="Where a pair of two alike is joined, all of a row of them become one pair: the word "
    "has shrunk.",
    cause="Its places are looked for before the first is joined, and overlap: look for the next "
    "place behind what was joined.",
)
def overlapping_as_one(tokens: list[str], pair: Pair) -> list[str]:
    new = list(tokens)
    for i in reversed([i for i, found in enumerate(pairwise(tokens)) if found == pair]):
        new[i : i + 2] = ["".join(pair)]
    return new


@mistake(
    "joined",
    "a space put between the two",
    symptom="The tokens hold spaces that are not in the word.",
    cause="Join the two as they are, first + second, without a space.",
)
def with_space(tokens: list[str], pair: Pair) -> list[str]:
    new = joined(tokens, pair)
    return [" ".join(pair) if token == "".join(pair) else token for token in new]


@mistake(
    "joined",
    "what stands behind the pair is lost",
    symptom="At each merge the rest of the word, behind the pair, is lost.",
    cause="Keep the tokens behind the pair.",
)
def rest_lost(tokens: list[str], pair: Pair) -> list[str]:
    for i in range(len(tokens) - 1):
        if (tokens[i], tokens[i + 1]) == pair:
            return [*tokens[:i], "".join(pair)]
    return tokens


def in_one_pass(tokens: list[str], ranks: Ranks) -> list[str]:
    new, i = [], 0
    while i < len(tokens):
        found = tuple(tokens[i : i + 2]) in ranks
        new.append("".join(tokens[i : i + 2]) if found else tokens[i])
        i += 2 if found else 1
    return new


@mistake(
    "lowest",
    "all pairs of the table joined in one pass",
    symptom="A pair further left is joined although a pair of a lower rank needs one of its "
    "tokens.",
    cause="In each pass join one pair, that of the lowest rank; then look again.",
    steps={"joined": in_one_pass},
    seen='Encoding issue with "Hello,", https://github.com/rasbt/LLMs-from-scratch/issues/558',
)
def any_pair(tokens: list[str], ranks: Ranks) -> Any:
    return ranks if lowest(tokens, ranks) else None


class Through(list[str]):
    """What comes of a table that has been gone through."""


def in_the_order_of_the_table(tokens: list[str], ranks: Ranks) -> list[str]:
    for pair in sorted(ranks, key=ranks.__getitem__):
        tokens = joined(tokens, pair)
    return Through(tokens)


@mistake(
    "lowest",
    "table gone through once",
    symptom="A merge is left out if it can be made only after one of a higher rank.",
    cause="A join can make room for a pair of a lower rank: look at the whole table after each.",
    steps={"joined": in_the_order_of_the_table},
)
def whole_table(tokens: list[str], ranks: Ranks) -> Any:
    return None if isinstance(tokens, Through) else ranks


def joined_once(tokens: list[str], pair: Pair) -> list[str]:
    i = next(i for i, found in enumerate(pairwise(tokens)) if found == pair)
    return [*tokens[:i], "".join(pair), *tokens[i + 2 :]]


mistake(
    "lowest",
    "the first pair met joined, from left to right",
    symptom="The word is cut by what stands further left, not by the ranks.",
    cause="Look at all pairs of the word before joining any, and take the one of the lowest rank.",
    steps={"joined": joined_once},
    seen="Fix GGUF tokenization: BPE merges are applied left-to-right instead of by merge rank, "
    "https://github.com/ztxz16/fastllm/pull/715",
)(leftmost)
