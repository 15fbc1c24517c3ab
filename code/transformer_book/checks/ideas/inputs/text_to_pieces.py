"""Text to pieces (chapter 2): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from unicodedata import normalize

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import SIGNS
from transformer_book.checks.ideas.inputs.learn_merges import (
    Pair,
    first_place,
    joined,
    replaced_as_text,
)

Merges = Sequence[Pair]


def pieces_cases() -> Sequence[Case]:
    def merges(*written: str) -> list[Pair]:
        return [(left, right) for left, right in map(str.split, written)]

    chapter = merges("i n", "in g", "▁ s", "▁s ing")
    return (
        Case("one word", ("sing", chapter)),
        Case("two words", ("sing singing", chapter)),
        Case("letters without a merge", ("ring a song", chapter)),
        Case("a pair over the end of a word", ("ban ana", merges("n ▁", "a n"))),
        Case("the same, with o", ("no one", merges("o ▁", "n e"))),
        Case("a longer one", ("to go to", merges("o ▁", "t o▁", "g o"))),
        Case("a piece twice in a word", ("banana ban", merges("a n", "an a"))),
        Case("pieces of pieces", ("lala land", merges("l a", "la la", "▁ la"))),
        Case("two merges that share a letter", ("abc cab", merges("b c", "a b"))),
        Case("the same, turned round", ("zyxy xyz", merges("y z", "x y"))),
        Case("the middle first", ("vwxyz wxy", merges("w x", "v w", "x y", "vw x"))),
        Case("letters alike", ("aaa aaaa", merges("a a", "aa aa"))),
        Case("words that begin alike", ("the then\n", merges("t h", "▁ th", "▁th e"))),
        Case("one word inside another", ("he the", merges("h e", "t he", "▁ the"))),
        Case("whole words", (" cabs cab", merges("a b", "c ab", "▁ cab", "▁cab s"))),
        Case("an end like another piece", ("cab xcab ab", merges("c a", "x ca", "a b"))),
        Case("two ways to one piece", ("abc xabc", merges("b c", "a bc", "a b"))),
        Case("the same in the middle", ("\tdcab cab", merges("a b", "c ab", "c a"))),
        Case("the same beside a rival", ("xyzw yzw", merges("z w", "y zw", "y z", "x y"))),
        Case("several spaces", (" Sing  s ", chapter)),
        Case(
            "marks, and a backslash",
            (r"a.b acb x\d (c|", merges("a .", r"x \ ", r"x\ d", "( c", "(c |")),
        ),
        Case("no merges", ("a ab", [])),
        Case("no text", ("", chapter)),
        Case("white space alone", ("\t \n", chapter)),
        Case("tabs, a line end, a space that holds together", ("in\ta sing\ns\u00a0in", chapter)),
        Case(
            "signs made of several, digits, and a special token",
            (
                " ".join(
                    [
                        "\ufeffin \ufb01n e\u0301 👍🏽 ä 2010 中文 a\u00adb <eos>",
                        "a▁en in\u200bin &amp; “in” a\x08b",
                        *SIGNS,
                    ]
                ),
                merges("i n", "▁ e", "1 0", "▁ .", "d o"),
            ),
        ),
        Case(
            "a long text, a long word, and a pair listed twice",
            ("a sing " * 200 + "na" * 1100, merges("n a", "na na", "n a", "nana nana")),
        ),
    )


def pieces_pipeline(s, text, merges):
    return [piece for word in s.words(text) for piece in s.merge(list(word), merges)]


TEXT_TO_PIECES = Component(
    name="text_to_pieces",
    chapter=2,
    order=5,
    section="splitting a new word",
    signature="text, merges",
    pipeline=pieces_pipeline,
    steps={
        "words": lambda text: [f"▁{word}" for word in text.split()],
        "merge": lambda parts, merges: reduce(joined, merges, parts),
    },
    cases=pieces_cases,
    returns="the pieces of a text by byte-pair encoding, one list of strings: the text is cut at "
    "white space, as `str.split()` does; a word begins as ▁ and its letters; then each pair of "
    "`merges`, in their order, is joined from left to right wherever it stands in the word, and "
    "never across two words",
    differentiable=False,
    done_by="SubwordTokenizer",
    met="nonsense",
    boundaries={
        "no text": lambda text: not text,
        "white space alone": lambda text: text.isspace(),
        "words, and white space other than spaces": lambda text: (
            bool(text.strip()) and any(mark.isspace() for mark in text.replace(" ", ""))
        ),
        "one word": lambda text: len(text.split()) == 1,
        "no merges": lambda merges: not merges,
        "a backslash": lambda text: "\\" in text,
        "a mark": lambda text: any(mark in text for mark in ".*+?|()[]"),
        "several spaces": lambda text: "  " in text,
        "a space in front": lambda text: text.strip() and text[0].isspace(),
        "a space behind": lambda text: text.strip() and text[-1].isspace(),
        "a large letter": lambda text: text != text.lower(),
        "signs made of several": lambda text: text != normalize("NFKC", text),
        "signs beyond four digits": lambda text: any(ord(sign) > 0xFFFF for sign in text),
        "more than 100 words": lambda text: len(text.split()) > 100,
        "a word of more than fifty letters": lambda text: any(len(w) > 50 for w in text.split()),
        "a pair listed twice": lambda merges: len({*merges}) < len(merges),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(TEXT_TO_PIECES)


@mistake(
    "words",
    "merged across words",
    symptom="A piece may hold the end of a word and the mark of the next.",
    cause="Cut the text into words first (pre-tokens), and merge inside each of them.",
)
def one_row(text: str) -> list[str]:
    return ["".join(f"▁{word}" for word in text.split())]


@mistake(
    "words",
    "words without their mark",
    symptom="Words are cut as if they stood inside others, and nothing says where they begin.",
    cause="The mark of the beginning is missing: each word starts with ▁.",
)
def not_marked(text: str) -> list[str]:
    return text.split()


@mistake(
    "words",
    "first word without its mark",
    symptom="The first word is cut otherwise than the same word later.",
    cause="Put ▁ in front of the first word, too: where spaces become marks, it often has none.",
)
def first_not_marked(text: str) -> list[str]:
    first, *others = text.split() or [""]
    return [first, *(f"▁{word}" for word in others)]


@mistake(
    "words",
    "mark behind the word",
    symptom="The mark stands at the end of a word, and not at its beginning.",
    cause="Some programs mark the end. In this book ▁ stands in front of each word.",
)
def marked_behind(text: str) -> list[str]:
    return [f"{word}▁" for word in text.split()]


@mistake(
    "merge",
    "merges from the last to the first",
    symptom="A merge is tried before the merges that make its two pieces.",
    cause="A merge may need the pieces of earlier ones: apply them in the order in which they "
    "were learned.",
)
def from_the_last(parts: list[str], merges: Merges) -> list[str]:
    return reduce(joined, merges[::-1], parts)


@mistake(
    "merge",
    "longest known piece first",
    symptom="Words are cut into long pieces from the left, and not by the merges.",
    cause="The longest piece first is WordPiece: here each merge is applied in its order.",
)
def longest_first(parts: list[str], merges: Merges) -> list[str]:
    word, known, found = "".join(parts), {"".join(pair) for pair in merges}, []
    while word:
        size = max((n for n in range(len(word) + 1) if word[:n] in known), default=1)
        found.append(word[:size])
        word = word[size:]
    return found


@mistake(
    "merge",
    "whatever stands further left first",
    symptom="A word is cut by what stands on the left, and not by the order of the merges.",
    cause="The merge learned first goes first, wherever it stands in the word.",
)
def leftmost_first(parts: list[str], merges: Merges) -> list[str]:
    known, parts = set(merges), list(parts)
    while places := [i for i, pair in enumerate(pairwise(parts)) if pair in known]:
        i = places[0]
        parts[i : i + 2] = ["".join(parts[i : i + 2])]
    return parts


@mistake(
    "merge",
    "joined at the first place only",
    symptom="A pair that stands twice in a word is joined once.",
    cause="Go on behind the pair until the end of the word.",
)
def each_once(parts: list[str], merges: Merges) -> list[str]:
    return reduce(first_place, merges, parts)


@mistake(
    "merge",
    "joined by replacing text",
    symptom="A pair is also found where it begins or ends inside a longer piece.",
    cause="In `xca b` the text `a b` is found, and the piece is `xca`: compare pieces, not text.",
)
def as_text(parts: list[str], merges: Merges) -> list[str]:
    return reduce(replaced_as_text, merges, parts)


@mistake(
    "merge",
    "stopped after one merge",
    symptom="At most one merge is applied to a word.",
    cause="Go through all merges to the last, whether or not one has been applied.",
)
def one_merge(parts: list[str], merges: Merges) -> list[str]:
    return next((new for pair in merges if (new := joined(parts, pair)) != parts), parts)
