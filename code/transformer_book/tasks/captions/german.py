"""German words of a derivation: declension, verb second and verb last, separable verbs, commas."""

from __future__ import annotations

from . import derivation as d
from .derivation import Clause, Coordination, Determiner, Phrase, Prepositional, Sentence, Word
from .lexicon import Adjective, Noun, Verb

CASES = ("nominative", "accusative", "dative", "genitive")

# Forms for masculine, feminine, neuter, plural.
_DEFINITE = {
    "nominative": ("der", "die", "das", "die"),
    "accusative": ("den", "die", "das", "die"),
    "dative": ("dem", "der", "dem", "den"),
    "genitive": ("des", "der", "des", "der"),
}
# Endings of dieser, jeder, alle; also of adjectives without an article before them, but for -en in
# the genitive of masculines and neuters.
_DIESER = {
    "nominative": ("er", "e", "es", "e"),
    "accusative": ("en", "e", "es", "e"),
    "dative": ("em", "er", "em", "en"),
    "genitive": ("es", "er", "es", "er"),
}
# Endings of ein and kein (ein has no plural).
_EIN = {
    "nominative": ("", "e", "", "e"),
    "accusative": ("en", "e", "", "e"),
    "dative": ("em", "er", "em", "en"),
    "genitive": ("es", "er", "es", "er"),
}
_WEAK = {
    "nominative": ("e", "e", "e", "en"),
    "accusative": ("en", "e", "e", "en"),
    "dative": ("en", "en", "en", "en"),
    "genitive": ("en", "en", "en", "en"),
}
_MIXED = {
    "nominative": ("er", "e", "es", "en"),
    "accusative": ("en", "e", "es", "en"),
    "dative": ("en", "en", "en", "en"),
    "genitive": ("en", "en", "en", "en"),
}
_STRONG = {**_DIESER, "genitive": ("en", "er", "en", "er")}
ADJECTIVE_ENDINGS = {
    "definite": _WEAK,
    "dieser": _WEAK,
    "indefinite": _MIXED,
    "kein": _MIXED,
    "strong": _STRONG,
    "none": _STRONG,
    "bare": _STRONG,
}
CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
}
INVARIABLE = ("rosa",)


def _column(gender: str, plural: bool) -> int:
    return 3 if plural else "mfn".index(gender)


def determiner_form(determiner: Determiner, gender: str, case: str) -> str:
    """The form of a determiner for a gender (`m`, `f`, `n`; ignored in the plural) and a case."""
    column = _column(gender, determiner.plural)
    if determiner.declension == "definite":
        return _DEFINITE[case][column]
    if determiner.declension in ("indefinite", "kein"):
        return determiner.german + _EIN[case][column]
    if determiner.declension in ("dieser", "strong"):
        return determiner.german + _DIESER[case][column]
    return determiner.german


def adjective_form(adjective: Adjective, determiner: Determiner, gender: str, case: str) -> str:
    """The form of an adjective after a determiner."""
    if adjective.german_stem in INVARIABLE:
        return adjective.german_stem
    endings = ADJECTIVE_ENDINGS[determiner.declension][case]
    ending = endings[_column(gender, determiner.plural)]
    stem = adjective.german_stem
    return stem + (ending[1:] if stem.endswith("e") else ending)


def noun_form(noun: Noun, plural: bool, case: str) -> str:
    """The form of a noun for number and case."""
    if plural:
        form = noun.german_plural
        return form + "n" if case == "dative" and form[-1] not in "ns" else form
    if case == "genitive":
        return noun.german_genitive
    return noun.german_genitive if noun.german_weak and case != "nominative" else noun.german


def phrase(p: Phrase | Coordination, case: str) -> list[Word]:
    """A noun phrase in a case."""
    if isinstance(p, Coordination):
        return [*phrase(p.first, case), ("und", p.bit), *phrase(p.second, case)]
    bit, det, gender = p.bit, p.determiner, p.noun.german_gender
    mark = bit * (d.DETERMINER | d.QUANTIFIER) if det is d.ALL else bit * d.DETERMINER
    words = [(determiner_form(det, gender, case), mark)] if det.german else []
    for adjective, own in p.adjectives():
        words.append((adjective_form(adjective, det, gender, case), own))
    words.append((noun_form(p.noun, p.plural, case), bit * d.NOUN))
    if isinstance(p.extra, Prepositional):
        words += prepositional(p.extra)
    elif p.extra is not None:
        words += relative(p.extra, p)
    return words


def prepositional(p: Prepositional) -> list[Word]:
    """A prepositional phrase, contracted where German does; `of` is the bare genitive."""
    words = phrase(p.phrase, p.preposition.case)
    (article, mark), *rest = words
    own = p.phrase.bit * d.PREPOSITION
    if not p.preposition.german:
        return [(article, mark | own), *rest]
    if p.phrase.determiner.declension == "definite":
        joined = CONTRACTIONS.get((p.preposition.german, article))
        if joined:
            return [(joined, mark | own), *rest]
    return [(p.preposition.german, own), *words]


def relative(c: Clause, head: Phrase) -> list[Word]:
    """A relative clause between commas."""
    case = "nominative" if c.gap == "subject" else c.verb.case
    pronoun = _DEFINITE[case][_column(head.noun.german_gender, head.plural)]
    words = [(",", 0), (pronoun, head.bit * d.RELATIVE)]
    if c.gap == "object":
        words += phrase(c.subject, "nominative")
    plural = head.plural if c.gap == "subject" else c.subject.plural
    return [*words, *middle(c), *verb_last(c, plural), (",", 0)]


def _finite(verb: Verb, plural: bool) -> str:
    return verb.german_stem if plural else verb.german_3sg


def middle(c: Clause, *, with_place: bool = True) -> list[Word]:
    """What stands between the two parts of the verb, without the subject."""
    if c.verb is None:
        return _complement(c)
    words: list[Word] = []
    if c.verb.reflexive:
        words.append(("sich", c.bit * d.VERB))
    if c.recipient:
        (head, mark), *rest = phrase(c.recipient, "dative")
        words += [(head, mark | c.recipient.bit * d.PREPOSITION), *rest]
    indefinite: list[Word] = []
    negation = [("nicht", c.bit * d.NEGATION)] if c.negated else []
    if c.object and c.gap != "object":
        if c.object.determiner.definite:
            words += phrase(c.object, c.verb.case)
        else:
            indefinite, negation = _negated(phrase(c.object, c.verb.case), c, negation)
    words += negation
    if c.agent:
        words += prepositional(c.agent)
    if c.place and with_place:
        words += prepositional(c.place)
    if c.companion:
        words += prepositional(c.companion)
    if c.adverb:
        words += [(word, c.bit * d.ADVERB) for word in c.adverb.german.split()]
    words += indefinite
    if c.direction:
        words += prepositional(c.direction)
    return words


def _negated(words: list[Word], c: Clause, negation: list[Word]) -> tuple[list[Word], list[Word]]:
    """`nicht` and the article `ein` become `kein`."""
    if not c.negated or c.object.determiner is not d.A:
        return words, negation
    (article, mark), *rest = words
    return [("k" + article, mark | c.bit * d.NEGATION), *rest], []


def _complement(c: Clause) -> list[Word]:
    mark = c.bit * d.PREDICATE
    words = [("nicht", c.bit * d.NEGATION)] if c.negated else []
    if not c.than:
        return [*words, (c.adjective.german_predicative, mark)]
    than = [("als", c.bit * d.THAN), *phrase(c.than, "nominative")]
    return [*words, (c.adjective.german_comparative, mark), *than]


def verb_second(c: Clause, plural: bool) -> tuple[Word, list[Word]]:
    """The finite verb of a main clause, and the part of the verb that closes the clause."""
    mark = c.bit * d.VERB
    if c.verb is None:
        return ("sind" if plural else "ist", mark), []
    if c.agent:
        return ("werden" if plural else "wird", c.bit * d.VOICE), [(c.verb.german_participle, mark)]
    if c.modal:
        return (c.modal.german[plural], c.bit * d.MODAL), [(c.verb.german_infinitive, mark)]
    prefix = c.verb.german_prefix
    return (_finite(c.verb, plural), mark), [(prefix, mark)] if prefix else []


def verb_last(c: Clause, plural: bool) -> list[Word]:
    """The verb of a subordinate clause: `aufhebt`, `aufheben will`, `repariert wird`."""
    finite, closing = verb_second(c, plural)
    if c.verb and not c.agent and not c.modal:
        return [(c.verb.german_prefix + finite[0], finite[1])]
    return [*closing, finite]


def zu_infinitive(c: Clause, marker: int) -> list[Word]:
    """`einen Ball aufzuheben`, `ein Buch zu lesen`."""
    mark = c.bit * d.VERB
    joined = c.verb.german_zu_infinitive
    if joined:
        return [*middle(c), (joined, mark | marker)]
    return [*middle(c), ("zu", marker), (c.verb.german_infinitive, mark)]


def clause(c: Clause, *, inverted: bool = False) -> list[Word]:
    """A main clause; `inverted`: the verb comes first, since something else precedes."""
    if c.kind == "existential":
        posture = c.subject.noun.posture
        form = posture if c.subject.plural else {"liegen": "liegt", "stehen": "steht"}[posture]
        verb = [(form, c.bit * d.VERB)]
        return prepositional(c.place) + verb + phrase(c.subject, "nominative")
    finite, closing = verb_second(c, c.subject.plural)
    subject = phrase(c.subject, "nominative")
    if c.kind == "fronted":
        rest = middle(c, with_place=False)
        pronoun = rest[:1] if c.verb.reflexive else []
        front = prepositional(c.place)
        return [*front, finite, *pronoun, *subject, *rest[len(pronoun) :], *closing]
    head = [finite, *subject] if inverted else [*subject, finite]
    if inverted and c.verb and c.verb.reflexive:
        (pronoun, *rest) = middle(c)
        return [finite, pronoun, *subject, *rest, *closing]
    return [*head, *middle(c), *closing]


def subordinate(c: Clause) -> list[Word]:
    """A verb-last clause after its conjunction."""
    subject = phrase(c.subject, "nominative")
    return [*subject, *middle(c), *verb_last(c, c.subject.plural)]


def sentence(s: Sentence) -> list[Word]:
    """The words of a sentence, without the full stop and the capital."""
    if s.second is None:
        return clause(s.first)
    if s.link in d.CONJUNCTIONS:
        link = (d.CONJUNCTIONS[s.link].german, s.bit)
        if s.inverted:
            comma = (",", s.bit << 1)
            return [link, *subordinate(s.second), comma, *clause(s.first, inverted=True)]
        return [*clause(s.first), (",", 0), link, *subordinate(s.second)]
    plural = s.first.subject.plural
    if s.link == "and":
        finite, closing = verb_second(s.second, plural)
        return [*clause(s.first), ("und", s.bit), finite, *middle(s.second), *closing]
    if s.link == "try":
        attempt = ("versuchen" if plural else "versucht", s.bit << 1)
        subject = phrase(s.first.subject, "nominative")
        return [*subject, attempt, (",", 0), *zu_infinitive(s.second, s.bit)]
    return [*clause(s.first), (",", 0), ("um", s.bit), *zu_infinitive(s.second, s.bit)]
