"""Italian words of a derivation: articles by sound, articulated prepositions, agreement."""

from __future__ import annotations

import re

from . import derivation as d
from .derivation import Clause, Coordination, Determiner, Phrase, Prepositional, Sentence, Word
from .lexicon import Adjective

ARTICULATED = {
    "di": ("del", "dello", "della", "dell'", "dei", "degli", "delle"),
    "a": ("al", "allo", "alla", "all'", "ai", "agli", "alle"),
    "da": ("dal", "dallo", "dalla", "dall'", "dai", "dagli", "dalle"),
    "in": ("nel", "nello", "nella", "nell'", "nei", "negli", "nelle"),
    "su": ("sul", "sullo", "sulla", "sull'", "sui", "sugli", "sulle"),
}
ARTICLES = ("il", "lo", "la", "l'", "i", "gli", "le")
_IMPURE = re.compile(r"(?:s[^aeiouàèéìòù]|z|gn|ps|pn|x|y|i[aeou])")


def sound(word: str) -> str:
    """How a word begins, for the articles: `vowel`, `impure` (zaino, studente) or `plain`."""
    if _IMPURE.match(word):
        return "impure"
    return "vowel" if word[0] in "aeiouàèéìòù" else "plain"


def definite_article(gender: str, plural: bool, following: str) -> str:
    """il, lo, la, l', i, gli, le before the word that follows."""
    begin = sound(following)
    if gender == "f":
        if plural:
            return "le"
        return "l'" if begin == "vowel" else "la"
    if plural:
        return "i" if begin == "plain" else "gli"
    return {"vowel": "l'", "impure": "lo", "plain": "il"}[begin]


def indefinite_article(gender: str, following: str) -> str:
    """un, uno, una, un' before the word that follows."""
    begin = sound(following)
    if gender == "f":
        return "un'" if begin == "vowel" else "una"
    return "uno" if begin == "impure" else "un"


def bello(gender: str, plural: bool, following: str) -> str:
    """The forms of bello before a noun follow the article: bel, bello, bell', bei, begli, ..."""
    article = definite_article(gender, plural, following)
    forms = {"il": "bel", "lo": "bello", "la": "bella", "l'": "bell'", "i": "bei", "gli": "begli"}
    return forms.get(article, "belle")


def determiner_form(det: Determiner, gender: str, following: str) -> str:
    """The form of a determiner for a gender and the word that follows."""
    if det.italian == "il":
        return definite_article(gender, det.plural, following)
    if det.italian in ("un", "nessun"):
        return det.italian[:-2] + indefinite_article(gender, following)
    if det.italian in ("ogni",) or det.declension == "none":
        return det.italian
    if det.italian == "quest" and not det.plural and sound(following) == "vowel":
        return "quest'"
    endings = {"m": "oi", "f": "ae"}[gender]
    return det.italian.removesuffix("i") + endings[det.plural]


def adjective_form(adjective: Adjective, gender: str, plural: bool, following: str = "") -> str:
    """An adjective after the noun, or before it when `following` is given."""
    if following and adjective.italian_ms == "bello":
        return bello(gender, plural, following)
    return adjective.italian(gender, plural)


def phrase(p: Phrase | Coordination) -> list[Word]:
    """A noun phrase."""
    if isinstance(p, Coordination):
        return [*phrase(p.first), ("e", p.bit), *phrase(p.second)]
    bit, det, plural = p.bit, p.determiner, p.plural
    gender = gender_of(p)
    noun = p.noun.italian_plural if plural else p.noun.italian
    words = []
    if p.before:
        form = adjective_form(p.before, gender, plural, noun)
        words.append((form, bit * d.BEFORE))
    words += [(part, bit * d.NOUN) for part in noun.split()]
    if p.after:
        words.append((adjective_form(p.after, gender, plural), bit * d.AFTER))
    following = words[0][0]
    if det is d.ALL:
        article = definite_article(gender, True, following)
        head = [("tutti" if gender == "m" else "tutte", bit * d.QUANTIFIER)]
        head.append((article, bit * d.DETERMINER))
    else:
        head = [(determiner_form(det, gender, following), bit * d.DETERMINER)]
    words = head + words
    if isinstance(p.extra, Prepositional):
        words += prepositional(p.extra)
    elif p.extra is not None:
        words += relative(p.extra, p)
    return words


def gender_of(p: Phrase | Coordination) -> str:
    """The grammatical gender of a phrase (uovo is masculine, uova feminine)."""
    if isinstance(p, Coordination):
        return "f" if gender_of(p.first) == gender_of(p.second) == "f" else "m"
    if p.plural and p.noun.italian_plural == "uova":
        return "f"
    return p.noun.italian_gender


def prepositional(p: Prepositional) -> list[Word]:
    """A prepositional phrase, with preposition and article in one word where Italian does so."""
    return attach(p.preposition.italian, p.phrase, p.phrase.bit * d.PREPOSITION)


def attach(preposition: str, p: Phrase, mark: int) -> list[Word]:
    """A preposition (`su`, `davanti a`) before a phrase."""
    *front, last = preposition.split()
    words = phrase(p)
    head = [(word, mark) for word in front]
    if p.determiner.italian == "il" and last in ARTICULATED:
        (article, own), *rest = words
        joined = ARTICULATED[last][ARTICLES.index(article)]
        return [*head, (joined, mark | own), *rest]
    return [*head, (last, mark), *words]


def relative(c: Clause, head: Phrase) -> list[Word]:
    """A relative clause with `che`."""
    words = [("che", head.bit * d.RELATIVE)]
    if c.gap == "object":
        words += phrase(c.subject)
    owner = head if c.gap == "subject" else c.subject
    return words + predicate(c, owner)


def predicate(c: Clause, subject: Phrase | Coordination, form: str = "finite") -> list[Word]:
    """Everything but the subject. `form`: finite or infinitive."""
    plural = subject.plural
    mark = c.bit * d.VERB
    words = [("non", c.bit * d.NEGATION)] if c.negated else []
    if c.verb is None:
        return [*words, ("sono" if plural else "è", mark), *_complement(c, subject)]
    if c.agent:
        words.append(("vengono" if plural else "viene", c.bit * d.VOICE))
        words.append((_participle(c.verb.italian_participle, subject), mark))
    elif c.modal:
        words.append((c.modal.italian[plural], c.bit * d.MODAL))
        words += [(word, mark) for word in c.verb.italian.split()]
    elif form == "infinitive":
        words += [(word, mark) for word in c.verb.italian.split()]
    else:
        finite = c.verb.italian_3pl if plural else c.verb.italian_3sg
        words += [(_agree(word, subject), mark) for word in finite.split()]
    return words + _complements(c)


def _agree(word: str, subject: Phrase | Coordination) -> str:
    """Participles marked with `~` in the lexicon agree: `è seduto~` becomes `è seduta`."""
    return _participle(word[:-1], subject) if word.endswith("~") else word


def _participle(form: str, subject: Phrase | Coordination) -> str:
    ending = {"m": "oi", "f": "ae"}[gender_of(subject)][subject.plural]
    return form[:-1] + ending


def _complements(c: Clause) -> list[Word]:
    words: list[Word] = []
    if c.adverb:
        words += [(word, c.bit * d.ADVERB) for word in c.adverb.italian.split()]
    if c.object and c.gap != "object":
        words += phrase(c.object)
    if c.recipient:
        words += attach("a", c.recipient, c.recipient.bit * d.PREPOSITION)
    for part in (c.agent, c.companion, c.direction):
        if part:
            words += prepositional(part)
    if c.place and c.kind != "fronted":
        words += prepositional(c.place)
    return words


def _complement(c: Clause, subject: Phrase | Coordination) -> list[Word]:
    mark = c.bit * d.PREDICATE
    form = adjective_form(c.adjective, gender_of(subject), subject.plural)
    if not c.than:
        return [(form, mark)]
    return [("più", mark), (form, mark), *attach("di", c.than, c.bit * d.THAN)]


def clause(c: Clause) -> list[Word]:
    """A finite clause with its subject."""
    if c.kind == "existential":
        there = [("ci", "sono") if c.subject.plural else ("c'", "è")][0]
        verb = [(there[0], c.bit * d.EXPLETIVE), (there[1], c.bit * d.VERB)]
        return prepositional(c.place) + verb + phrase(c.subject)
    subject, rest = phrase(c.subject), predicate(c, c.subject)
    if c.kind == "fronted":
        # A place first: the subject of an intransitive verb follows the verb.
        order = subject + rest if c.object else rest + subject
        return prepositional(c.place) + order
    return subject + rest


def sentence(s: Sentence) -> list[Word]:
    """The words of a sentence, without the full stop and the capital."""
    if s.second is None:
        return clause(s.first)
    if s.link in d.CONJUNCTIONS:
        link = [(word, s.bit) for word in d.CONJUNCTIONS[s.link].italian.split()]
        if s.inverted:
            return [*link, *clause(s.second), (",", s.bit << 1), *clause(s.first)]
        return clause(s.first) + link + clause(s.second)
    subject = s.first.subject
    if s.link == "and":
        return [*clause(s.first), ("e", s.bit), *predicate(s.second, subject)]
    if s.link == "try":
        rest = predicate(s.second, subject, "infinitive")
        marker = "ad" if rest[0][0].startswith("a") else "a"
        attempt = [("provano" if subject.plural else "prova", s.bit << 1), (marker, s.bit)]
        return phrase(subject) + attempt + rest
    return [*clause(s.first), ("per", s.bit), *predicate(s.second, subject, "infinitive")]
