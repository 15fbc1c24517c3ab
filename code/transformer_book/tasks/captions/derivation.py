"""What a caption says, in no language: the nodes of a derivation.

Every node owns some bits of an integer. A language turns the derivation into words and marks each
word with the bits of the nodes it realises; two words of two languages are aligned exactly when
their marks share a bit (see `transformer_book.tasks.captions` for the guideline).
"""

from __future__ import annotations

from typing import NamedTuple

from .lexicon import Adjective, Noun, Preposition, Verb

Word = tuple[str, int]

# Bits of a noun phrase, relative to its own first bit.
DETERMINER, QUANTIFIER, BEFORE, AFTER, NOUN, PREPOSITION, RELATIVE = (1 << i for i in range(7))
PHRASE_BITS = 7
# Bits of a clause.
VERB, MODAL, NEGATION, VOICE, PREDICATE, THAN, ADVERB, EXPLETIVE = (1 << i for i in range(8))
CLAUSE_BITS = 8


class Determiner(NamedTuple):
    """A determiner: its name, number, and how each language says it."""

    name: str
    plural: bool
    english: str
    german: str  # the word, or the stem of one that declines
    declension: str  # definite, indefinite, kein, dieser, strong (viele), none (zwei), bare
    italian: str  # the masculine form, or the name of a pattern in `italian.py`

    @property
    def definite(self) -> bool:
        return self.declension in ("definite", "dieser")


class Phrase(NamedTuple):
    """A noun phrase. `extra` follows the noun: a `Prepositional`, or a `Clause` with a gap."""

    noun: Noun
    determiner: Determiner
    before: Adjective | None
    after: Adjective | None
    bit: int
    extra: object = None

    @property
    def plural(self) -> bool:
        return self.determiner.plural

    def adjectives(self) -> list[tuple[Adjective, int]]:
        """The adjectives with their bits, in the order of English and German."""
        found = []
        if self.before:
            found.append((self.before, self.bit * BEFORE))
        if self.after:
            found.append((self.after, self.bit * AFTER))
        if len(found) == 2 and self.before.rank > self.after.rank:
            found.reverse()
        return found


class Coordination(NamedTuple):
    """Two noun phrases joined by `and`."""

    first: Phrase
    second: Phrase
    bit: int

    plural = True


class Prepositional(NamedTuple):
    """A preposition and its noun phrase."""

    preposition: Preposition
    phrase: Phrase


class Adverb(NamedTuple):
    """An adverb in the three languages."""

    english: str
    german: str
    italian: str


class Modal(NamedTuple):
    """A modal verb: English words, German and Italian singular and plural."""

    english: tuple[str, str]
    german: tuple[str, str]
    italian: tuple[str, str]


class Clause(NamedTuple):
    """A clause. Without `verb` it is copular (`adjective`), or existential (`subject`, `place`).

    A relative clause lacks its subject or its object: `gap` says which. `kind` is "plain",
    "fronted" (place first) or "existential".
    """

    bit: int
    subject: Phrase | Coordination | None = None
    verb: Verb | None = None
    object: Phrase | None = None
    recipient: Phrase | None = None
    agent: Prepositional | None = None
    companion: Prepositional | None = None
    place: Prepositional | None = None
    direction: Prepositional | None = None
    adverb: Adverb | None = None
    modal: Modal | None = None
    negated: bool = False
    adjective: Adjective | None = None
    than: Phrase | None = None
    kind: str = "plain"
    gap: str = ""
    antecedent: Phrase | None = None


class Sentence(NamedTuple):
    """One or two clauses. `link` says how the second hangs on the first.

    "": one clause; "and": a second predicate of the same subject; "to": a purpose; "try": what the
    subject tries; a conjunction's name: a subordinate clause, first in the sentence if `inverted`.
    """

    construction: str
    first: Clause
    second: Clause | None = None
    link: str = ""
    inverted: bool = False
    bit: int = 0


class Conjunction(NamedTuple):
    """A subordinating conjunction in the three languages."""

    english: str
    german: str
    italian: str


def _number(english: str, german: str, italian: str) -> Determiner:
    return Determiner(english, True, english, german, "none", italian)


A = Determiner("a", False, "a", "ein", "indefinite", "un")
THE = Determiner("the", False, "the", "d", "definite", "il")
THE_PLURAL = Determiner("the+", True, "the", "d", "definite", "il")
THIS = Determiner("this", False, "this", "dies", "dieser", "quest")
THESE = Determiner("these", True, "these", "dies", "dieser", "quest")
EVERY = Determiner("every", False, "every", "jed", "dieser", "ogni")
ALL = Determiner("all", True, "all the", "all", "dieser", "tutti")
INSTRUMENT = Determiner("instrument", False, "the", "", "bare", "il")  # the piano – Klavier
NO = Determiner("no", False, "no", "kein", "kein", "nessun")
SOME = Determiner("some", True, "some", "einig", "strong", "alcun")
MANY = Determiner("many", True, "many", "viel", "strong", "molt")
SEVERAL = Determiner("several", True, "several", "mehrer", "strong", "divers")
NUMBERS = (
    _number("two", "zwei", "due"),
    _number("three", "drei", "tre"),
    _number("four", "vier", "quattro"),
    _number("five", "fünf", "cinque"),
    _number("six", "sechs", "sei"),
    _number("seven", "sieben", "sette"),
    _number("eight", "acht", "otto"),
    _number("nine", "neun", "nove"),
    _number("ten", "zehn", "dieci"),
)
DETERMINERS = (
    *(A, THE, THE_PLURAL, THIS, THESE, EVERY, ALL, INSTRUMENT, NO, SOME, MANY, SEVERAL),
    *NUMBERS,
)

MODALS = (
    Modal(("can", "can"), ("kann", "können"), ("può", "possono")),
    Modal(("must", "must"), ("muss", "müssen"), ("deve", "devono")),
    Modal(("wants to", "want to"), ("will", "wollen"), ("vuole", "vogliono")),
)
CONJUNCTIONS = {
    "while": Conjunction("while", "während", "mentre"),
    "because": Conjunction("because", "weil", "perché"),
    "although": Conjunction("although", "obwohl", "anche se"),
}
OUTSIDE = Adverb("outside", "draußen", "fuori")
TOGETHER = Adverb("together", "zusammen", "insieme")
AGAIN = Adverb("again", "wieder", "di nuovo")
SLOWLY = Adverb("slowly", "langsam", "lentamente")
QUICKLY = Adverb("quickly", "schnell", "velocemente")
ADVERBS = (OUTSIDE, TOGETHER, AGAIN, SLOWLY, QUICKLY)
