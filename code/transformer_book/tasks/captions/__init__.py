"""Captions: a trilingual grammar of picture captions with gold word alignments.

A caption is first derived (who does what where, with which words), then said in English, German
and Italian. No download, no parser: `pairs` yields as many distinct, aligned sentence pairs as
asked for, up to the limits of the grammar.

    >>> from transformer_book.tasks import captions
    >>> pair = captions.pairs("de", "en", n=1)[0]
    >>> pair.source_text, pair.target_text, pair.alignment          # doctest: +SKIP

**One source, one target.** Within every pair of languages, translation is a bijection between the
sentences of the grammar. Words whose translation depends on their context (play, wear, put) have
frames or objects that decide it.

**The alignment guideline.** Every word carries the nodes of the derivation that it realises; two
words are aligned exactly when they share a node, whatever their places in the sentences. In detail:

* Content words align with their counterparts; all words of a compound noun (`police officer` –
  `Polizist`) and all words of an expression (`next to` – `neben`, `again` – `di nuovo`) align.
* A verb is one node: finite verb, auxiliary *be* of the progressive, particle or separated prefix,
  inherent reflexive pronoun, `in piedi` (`is picking up` – `hebt` … `auf`). Two further nodes have
  words of their own: the modal verb (`wants to` – `will`), and the passive auxiliary (`is being` –
  `wird` – `viene`), so that participle aligns with participle.
* Determiners, numerals and quantifiers align with each other. In `all the` – `alle` – `tutti i`,
  the German word takes both.
* A preposition fused with an article takes both (`della`, `im`). A German case without preposition
  marks the first word of its phrase (`of the` – `des`, `to the child` – `dem Kind`).
* `kein` takes the article and the negation (`not` … `a`).
* Relative pronouns align with each other; so do conjunctions, `than` – `als` – `di`, and the
  marker of an infinitive: `to` – `um` … `zu` – `per`, `to` – `zu` – `a` (`aufzuheben` takes both
  the verb and the marker).
* The comparative is one node: `more elegant` – `eleganter` – `più elegante`.
* Unaligned: a comma that the other language lacks, and, in a pair with German, the English
  `there` or Italian `c'`, `ci` of existence and the article of an instrument (`play the piano` –
  `Klavier spielen`); English and Italian align these with each other. The full stops align.

**Splits.** A *combination* is (adjective, noun), where the adjective stands beside the noun or is
predicated of it, or (verb, noun), where the noun is the agent. About one combination in twenty is
held out, by a hash of its English words. `compositional` has the sentences with at least one
held-out combination. All others go to `train` (90 %), `validation` (5 %) or `test` (5 %) by a hash
of the sentence in English, which identifies the derivation; how many are drawn, in which order and
between which languages plays no part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from typing import NamedTuple

from transformer_book.support.arguments import check_choice

from . import english, german, italian, lexicon
from .derivation import Sentence, Word
from .grammar import Chooser, Clash, Grammar, Weighted

LANGUAGES = {"en": "English", "de": "German", "it": "Italian"}
SPLITS = {
    "train": "90 % of the sentences without a held-out combination",
    "validation": "5 % of them",
    "test": "another 5 % of them",
    "compositional": "the sentences with a combination that the other splits never show",
}
FULL_STOP = 1
_SPEAKERS = {"en": english.sentence, "de": german.sentence, "it": italian.sentence}


class Construction(NamedTuple):
    """A construction: what it shows, one example, and its share of the captions."""

    description: str
    example: str
    weight: float


CONSTRUCTIONS: dict[str, Construction] = {
    "intransitive": Construction(
        "a subject and a verb, perhaps with an adverb", "Two dogs are sleeping outside.", 4
    ),
    "transitive": Construction(
        "a subject, a verb and an object", "A small girl is reading a red book.", 7
    ),
    "locative": Construction(
        "where someone does something (German dative)", "The cat is sleeping on the sofa.", 8
    ),
    "transitive_locative": Construction(
        "a transitive verb with a place", "A woman is reading a book in the park.", 8
    ),
    "directional": Construction(
        "a verb of motion and its goal (German accusative)", "A boy is running into the house.", 6
    ),
    "caused_motion": Construction(
        "an object is moved somewhere", "A woman is putting the cup on the table.", 5
    ),
    "existential": Construction(
        "there is something somewhere", "There is a red book on the table.", 5
    ),
    "fronted": Construction(
        "the place first (German verb second)", "In the park, a dog is sleeping.", 6
    ),
    "predicate": Construction("a predicate adjective", "The cat is black.", 3),
    "comparative": Construction(
        "one thing has more of a quality than another", "The horse is bigger than the dog.", 3
    ),
    "coordinated_subjects": Construction(
        "two subjects, plural verb", "A boy and a girl are dancing in the garden.", 4
    ),
    "coordinated_verbs": Construction(
        "one subject, two verbs", "A man is sitting on the bench and reading a newspaper.", 4
    ),
    "subject_relative": Construction(
        "a relative clause about its subject (German verb last)",
        "The man who is reading a book is sitting on the bench.",
        4,
    ),
    "object_relative": Construction(
        "a relative clause about its object", "The ball that the boy is throwing is red.", 4
    ),
    "subordinate": Construction(
        "while, because or although, second in the sentence",
        "The man is sleeping while the woman is reading a book.",
        5,
    ),
    "fronted_subordinate": Construction(
        "while or although, first in the sentence",
        "While the man is sleeping, the woman is reading a book.",
        4,
    ),
    "modal": Construction("can, must, want to", "The boy wants to pick up the ball.", 4),
    "purpose": Construction(
        "going somewhere to do something",
        "A man is going to the market to buy a hat.",
        4,
    ),
    "attempt": Construction("trying to do something", "The girl is trying to open the door.", 3),
    "passive": Construction(
        "a passive with its agent", "The car is being repaired by a mechanic.", 4
    ),
    "ditransitive": Construction(
        "giving, showing, bringing (German dative)", "A man is giving a ball to the child.", 5
    ),
    "possession": Construction(
        "a part of a building (German genitive)", "The roof of the house is red.", 3
    ),
    "negation": Construction("not and no", "The woman is not wearing a hat.", 5),
    "comitative": Construction(
        "with whom someone does something", "The girl is playing with a dog in the park.", 3
    ),
    "attribute": Construction(
        "a person with a thing", "A woman with a red hat is waiting at the station.", 4
    ),
}


@dataclass(frozen=True)
class AlignedPair:
    """Two sentences with the same meaning, and which of their words correspond.

    `alignment` holds pairs (index into `source`, index into `target`), counted from 0, in order.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    alignment: tuple[tuple[int, int], ...]
    construction: str

    @property
    def source_text(self) -> str:
        return _join(self.source)

    @property
    def target_text(self) -> str:
        return _join(self.target)


def text(tokens: Sequence[str], language: str) -> str:
    """The tokens as running text: no space before , and . nor after an Italian apostrophe."""
    check_choice("language", language, LANGUAGES)
    return _join(tokens)


def _join(tokens: Sequence[str]) -> str:
    """The tokens with spaces; in these languages only Italian words end in an apostrophe."""
    pieces: list[str] = []
    glue = True
    for token in tokens:
        if not glue and token not in (",", "."):
            pieces.append(" ")
        pieces.append(token)
        glue = token.endswith("'")
    return "".join(pieces)


def pairs(
    source: str = "de",
    target: str = "en",
    split: str = "train",
    n: int = 20000,
    seed: int = 0,
    constructions: Sequence[str] | None = None,
) -> list[AlignedPair]:
    """The first `n` distinct pairs of a split, in an order that the seed determines.

    `pairs(n=100) == pairs(n=1000)[:100]`, and for equal `split`, `seed` and `constructions` the
    i-th sentences agree between any two languages. `constructions` restricts the grammar.

    Raises ValueError for an unknown language, split or construction, for equal languages, for
    n < 1, and for more pairs than the grammar or the split has.
    """
    for language in (source, target):
        check_choice("language", language, LANGUAGES)
    if source == target:
        raise ValueError(f"source and target are both {source!r}: choose two languages.")
    check_choice("split", split, SPLITS)
    names = _names(constructions)
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise ValueError(f"n is {n!r}, but must be a whole number of at least 1.")
    limit = 0
    for name in names:  # to count them all takes a second
        limit += _grammar().count(name)
        if limit >= n:
            break
    else:
        raise ValueError(f"n is {n}, but these constructions have only {limit} sentences.")
    return list(_found(source, target, split, n, seed, names))


@lru_cache(maxsize=2)  # experiments that differ in other things train and validate on the same
def _found(
    source: str, target: str, split: str, n: int, seed: int, names: tuple[str, ...]
) -> tuple[AlignedPair, ...]:
    say_source, say_target = _SPEAKERS[source], _SPEAKERS[target]
    found: list[AlignedPair] = []
    for sentence, words in _sentences(split, seed, names):
        a = words if source == "en" else _finish(say_source(sentence))
        b = words if target == "en" else _finish(say_target(sentence))
        found.append(_aligned(a, b, sentence.construction))
        if len(found) == n:
            return tuple(found)
    raise ValueError(
        f"n is {n}, but only {len(found)} sentences of the split {split!r} were found with these "
        "constructions: ask for fewer, or allow more constructions."
    )


@lru_cache(maxsize=64)
def count(constructions: tuple[str, ...] | None = None) -> int:
    """How many sentences the grammar has, in all splits together (a proven lower bound).

    Exact for each construction except the two with subordinate clauses, of which only those with
    two intransitive clauses are counted.
    """
    return sum(_grammar().count(name) for name in _names(constructions))


def derivations(
    seed: int = 0, constructions: Sequence[str] | None = None
) -> Iterator[tuple[Sentence, tuple[tuple[str, str], ...]]]:
    """Endless random derivations with their combinations, repetitions included."""
    names = _names(constructions)
    choose = Chooser(f"captions {seed}")
    grammar = _grammar()
    table = Weighted(*((name, CONSTRUCTIONS[name].weight) for name in names))
    while True:
        try:
            name = choose.weighted(table)
            sentence, combinations = grammar.derive(name, choose)
        except Clash:
            continue
        yield sentence, tuple(combinations)


def speak(sentence: Sentence, language: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The tokens of a derivation in a language, and for each token the bits of its nodes."""
    words = _finish(_SPEAKERS[language](sentence))
    return tuple(word for word, _ in words), tuple(mark for _, mark in words)


@cache
def held_out(combination: tuple[str, str]) -> bool:
    """Whether a combination (adjective or verb, noun) is kept for the split `compositional`."""
    return _hash("held out\t" + "\t".join(combination)) % 20 == 0


def split_of(english_words: Sequence[str], combinations: Sequence[tuple[str, str]]) -> str:
    """The split that a derivation belongs to."""
    if any(map(held_out, combinations)):
        return "compositional"
    bucket = _hash(" ".join(english_words)) % 20
    return {0: "test", 1: "validation"}.get(bucket, "train")


def report(n: int = 2000) -> str:
    """The size of the lexicon and the grammar, and the lengths of `n` sentences, as text."""
    from .statistics import report as make

    return make(n)


# Draws in a row without a new sentence after which a split counts as exhausted.
_PATIENCE = 100_000


def _sentences(
    split: str, seed: int, names: tuple[str, ...]
) -> Iterator[tuple[Sentence, list[Word]]]:
    """Distinct derivations of a split with their English words, until none turns up any more."""
    seen: set[tuple[str, ...]] = set()
    failures = 0
    compositional = split == "compositional"
    for sentence, combinations in derivations(seed, names):
        failures += 1
        if failures > _PATIENCE:
            return
        if any(map(held_out, combinations)) != compositional:
            continue
        words = _finish(english.sentence(sentence))
        key = tuple(word for word, _ in words)
        if key in seen or split_of(key, combinations) != split:
            continue
        seen.add(key)
        failures = 0
        yield sentence, words


def _finish(words: list[Word]) -> list[Word]:
    """A capital for the first word, a full stop at the end."""
    first, mark = words[0]
    words[0] = (first[0].upper() + first[1:], mark)
    words.append((".", FULL_STOP))
    return words


def _aligned(a: list[Word], b: list[Word], name: str) -> AlignedPair:
    links = tuple(
        (i, j) for i, (_, left) in enumerate(a) for j, (_, right) in enumerate(b) if left & right
    )
    words_a, words_b = tuple(w for w, _ in a), tuple(w for w, _ in b)
    return AlignedPair(words_a, words_b, links, name)


def _names(constructions: Sequence[str] | None) -> tuple[str, ...]:
    if constructions is None:
        return tuple(CONSTRUCTIONS)
    names = (constructions,) if isinstance(constructions, str) else tuple(constructions)
    if not names:
        raise ValueError("constructions is empty: name at least one, or pass None for all.")
    for name in names:
        check_choice("construction", name, CONSTRUCTIONS)
    return tuple(name for name in CONSTRUCTIONS if name in names)


def _hash(string: str) -> int:
    return int.from_bytes(blake2b(string.encode(), digest_size=8).digest(), "big")


@lru_cache(maxsize=1)
def _grammar() -> Grammar:
    return Grammar(lexicon.load())
