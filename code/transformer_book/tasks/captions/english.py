"""English words of a derivation: articles, progressive forms, word order."""

from __future__ import annotations

from . import derivation as d
from .derivation import Clause, Coordination, Phrase, Prepositional, Sentence, Word

VOWELS = "aeiou"
# Spelled with a vowel but spoken with a consonant, and the other way round.
CONSONANT_SOUND = ("uni", "use", "euro", "one")
VOWEL_SOUND = ("hour", "honest", "heir")


def indefinite_article(word: str) -> str:
    """`a` or `an` before a word, by its sound."""
    if word.startswith(VOWEL_SOUND):
        return "an"
    return "an" if word[0] in VOWELS and not word.startswith(CONSONANT_SOUND) else "a"


def ing_form(verb: str) -> str:
    """The -ing form: make → making, lie → lying, sit → sitting, open → opening, play → playing."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")):
        return verb[:-1] + "ing"
    return verb + verb[-1] + "ing" if doubles(verb) else verb + "ing"


def doubles(verb: str) -> bool:
    """Whether the last consonant doubles: after one short vowel in the last, stressed syllable."""
    if len(verb) < 3 or verb[-1] in VOWELS + "wxy" or verb[-2] not in VOWELS:
        return False
    if verb[-3] in VOWELS and verb[-3:-1] != "ui":
        return False
    syllables = sum(
        a in VOWELS and b not in VOWELS for a, b in zip(verb, verb[1:] + " ", strict=False)
    )
    return syllables == 1 or verb in ("begin", "prefer", "admit", "regret", "forget", "unwrap")


def third_person(verb: str) -> str:
    """The third person singular: see → sees, watch → watches, carry → carries, have → has."""
    if verb == "have":
        return "has"
    if verb.endswith("y") and verb[-2] not in VOWELS:
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "x", "z", "ch", "sh", "o")) else "s")


def _words(text: str, mark: int) -> list[Word]:
    return [(word, mark) for word in text.split()]


def phrase(p: Phrase | Coordination) -> list[Word]:
    """A noun phrase."""
    if isinstance(p, Coordination):
        return [*phrase(p.first), ("and", p.bit), *phrase(p.second)]
    bit = p.bit
    words = [(adjective.english, mark) for adjective, mark in p.adjectives()]
    noun = p.noun.english_plural if p.plural else p.noun.english
    words += _words(noun, bit * d.NOUN)
    if p.determiner is d.A:
        head = [(indefinite_article(words[0][0]), bit * d.DETERMINER)]
    elif p.determiner is d.ALL:
        head = [("all", bit * d.QUANTIFIER), ("the", bit * d.DETERMINER)]
    else:
        head = [(p.determiner.english, bit * d.DETERMINER)]
    words = head + words
    if isinstance(p.extra, Prepositional):
        words += prepositional(p.extra)
    elif p.extra is not None:
        words += relative(p.extra, p)
    return words


def prepositional(p: Prepositional) -> list[Word]:
    """A prepositional phrase."""
    return _words(p.preposition.english, p.phrase.bit * d.PREPOSITION) + phrase(p.phrase)


def relative(clause: Clause, head: Phrase) -> list[Word]:
    """A restrictive relative clause, without commas."""
    pronoun = "who" if head.noun.is_person else "that"
    words = [(pronoun, head.bit * d.RELATIVE)]
    if clause.gap == "subject":
        return words + predicate(clause, head.plural)
    return words + phrase(clause.subject) + predicate(clause, clause.subject.plural)


def predicate(c: Clause, plural: bool, form: str = "finite") -> list[Word]:
    """Everything but the subject. `form`: finite, infinitive (bare), participle (-ing alone)."""
    bit = c.bit
    verb, negation = bit * d.VERB, bit * d.NEGATION
    be = "are" if plural else "is"
    no = [("not", negation)] if c.negated else []
    if c.verb is None:
        return [(be, verb), *no, *_complement(c)]
    base = c.verb.english_base
    particle = [(word, verb) for word in c.verb.english_particle]
    if c.agent:
        words = [(be, bit * d.VOICE), ("being", bit * d.VOICE), (c.verb.english_participle, verb)]
    elif c.modal:
        words = [*_words(c.modal.english[plural], bit * d.MODAL), (base, verb)]
    elif form == "infinitive":
        words = [(base, verb)]
    elif form == "participle":
        words = [(ing_form(base), verb)]
    elif c.verb.aspect == "simple":
        words = [(base if plural else third_person(base), verb)]
    else:
        words = [(be, verb), *no, (ing_form(base), verb)]
    words += particle
    if c.adverb in (d.SLOWLY, d.QUICKLY):
        words.append((c.adverb.english, bit * d.ADVERB))
    if c.object and c.gap != "object":
        words += phrase(c.object)
    if c.recipient:
        words += [("to", c.recipient.bit * d.PREPOSITION), *phrase(c.recipient)]
    if c.adverb and c.adverb not in (d.SLOWLY, d.QUICKLY):
        words += _words(c.adverb.english, bit * d.ADVERB)
    for part in (c.agent, c.companion, c.direction):
        if part:
            words += prepositional(part)
    if c.place and c.kind != "fronted":
        words += prepositional(c.place)
    return words


def _complement(c: Clause) -> list[Word]:
    mark = c.bit * d.PREDICATE
    if not c.than:
        return [(c.adjective.english, mark)]
    than = [("than", c.bit * d.THAN), *phrase(c.than)]
    return _words(c.adjective.english_comparative, mark) + than


def clause(c: Clause) -> list[Word]:
    """A finite clause with its subject."""
    if c.kind == "existential":
        be = "are" if c.subject.plural else "is"
        there = [("there", c.bit * d.EXPLETIVE), (be, c.bit * d.VERB)]
        return there + phrase(c.subject) + prepositional(c.place)
    words = phrase(c.subject) + predicate(c, c.subject.plural)
    if c.kind == "fronted":
        return [*prepositional(c.place), (",", 0), *words]
    return words


def sentence(s: Sentence) -> list[Word]:
    """The words of a sentence, without the full stop and the capital."""
    if s.second is None:
        return clause(s.first)
    if s.link in d.CONJUNCTIONS:
        link = _words(d.CONJUNCTIONS[s.link].english, s.bit)
        if s.inverted:
            return [*link, *clause(s.second), (",", s.bit << 1), *clause(s.first)]
        return clause(s.first) + link + clause(s.second)
    plural = s.first.subject.plural
    if s.link == "and":
        return [*clause(s.first), ("and", s.bit), *predicate(s.second, plural, "participle")]
    if s.link == "try":
        attempt = [("are" if plural else "is", s.bit << 1), ("trying", s.bit << 1), ("to", s.bit)]
        return phrase(s.first.subject) + attempt + predicate(s.second, plural, "infinitive")
    return [*clause(s.first), ("to", s.bit), *predicate(s.second, plural, "infinitive")]
