"""Counts of the lexicon and the grammar, as a readable report."""

from __future__ import annotations

from collections import Counter

from . import (
    CONSTRUCTIONS,
    LANGUAGES,
    count,
    derivation,
    derivations,
    english,
    german,
    italian,
    lexicon,
    speak,
)


def entries() -> dict[str, int]:
    """Lexical entries per word class; every entry has forms in all three languages."""
    lex = lexicon.load()
    return {
        "nouns": len(lex.nouns),
        "verbs": len(lex.verbs) + 1 + len(derivation.MODALS),  # and `try`, and the modals
        "adjectives": len(lex.adjectives),
        "prepositions": len({(p.english, p.german, p.italian) for p in lex.prepositions.values()}),
        "determiners and numerals": len({d.german for d in derivation.DETERMINERS if d.german}),
        "adverbs": len(derivation.ADVERBS),
        "conjunctions": len(derivation.CONJUNCTIONS) + 1,  # and `and`
    }


def word_forms(language: str) -> dict[str, set[str]]:
    """All word forms that the grammar can use in a language, per word class, not capitalised."""
    return {"en": _english_forms, "de": _german_forms, "it": _italian_forms}[language]()


def _split(*texts: str) -> set[str]:
    return {word for text in texts for word in text.split()}


def _english_forms() -> dict[str, set[str]]:
    lex = lexicon.load()
    verbs = _split("is are being trying", *(" ".join(m.english) for m in derivation.MODALS))
    for verb in lex.verbs:
        base = verb.english_base
        verbs |= {base, *verb.english_particle} | _split(verb.english_participle)
        stative = verb.aspect == "simple"
        verbs.add(english.third_person(base) if stative else english.ing_form(base))
    return {
        "nouns": _split(*(f"{n.english} {n.english_plural}" for n in lex.nouns)),
        "verbs": verbs,
        "adjectives": _split(*(f"{a.english} {a.english_comparative}" for a in lex.adjectives)),
        "prepositions": _split(*(p.english for p in lex.prepositions.values())),
        "determiners": _split("an", *(d.english for d in derivation.DETERMINERS)),
        "others": _split(
            "and who that not there to",
            *(a.english for a in derivation.ADVERBS),
            *(c.english for c in derivation.CONJUNCTIONS.values()),
        ),
    }


def _german_forms() -> dict[str, set[str]]:
    lex = lexicon.load()
    verbs = _split("ist sind wird werden versucht versuchen")
    verbs |= _split(*(" ".join(m.german) for m in derivation.MODALS))
    for v in lex.verbs:
        prefix, stem, third = v.german_prefix, v.german_stem, v.german_3sg
        verbs |= {prefix, stem, third, prefix + stem, prefix + third} - {""}
        verbs |= _split(v.german_participle, v.german_zu_infinitive)
    verbs |= {"liegt", "liegen", "steht", "stehen"}
    determiners, adjectives = set(), set()
    for determiner in derivation.DETERMINERS:
        for gender in "mfn" if determiner.german else "":
            for case in german.CASES:
                determiners.add(german.determiner_form(determiner, gender, case))
                if determiner is derivation.A:
                    determiners.add("k" + german.determiner_form(determiner, gender, case))
                for a in lex.adjectives:
                    adjectives.add(german.adjective_form(a, determiner, gender, case))
    for a in lex.adjectives:
        adjectives |= _split(a.german_predicative, a.german_comparative)
    return {
        "nouns": {
            german.noun_form(n, plural, case)
            for n in lex.nouns
            for plural in (False, True)
            for case in german.CASES
            if case != "genitive" or n.group == "building"  # the only genitives in the grammar
        },
        "verbs": verbs,
        "adjectives": adjectives,
        "prepositions": _split(*(p.german for p in lex.prepositions.values()))
        | set(german.CONTRACTIONS.values()),
        "determiners": determiners,
        "others": _split(
            "und nicht sich um zu",
            *(a.german for a in derivation.ADVERBS),
            *(c.german for c in derivation.CONJUNCTIONS.values()),
        ),
    }


def _italian_forms() -> dict[str, set[str]]:
    lex = lexicon.load()
    verbs = _split("è sono ci c' viene vengono prova provano")
    verbs |= _split(*(" ".join(m.italian) for m in derivation.MODALS))
    for v in lex.verbs:
        words = _split(v.italian, v.italian_3sg, v.italian_3pl)
        agreeing = {w.removesuffix("~") for w in words if w.endswith("~")}
        agreeing |= _split(v.italian_participle)
        verbs |= {w for w in words if not w.endswith("~")}
        verbs |= {participle[:-1] + ending for participle in agreeing for ending in "oaie"}
    beginnings = ("cane", "studente", "uomo")
    genders = [(g, w) for g in "mf" for w in beginnings]
    determiners = {"tutti", "tutte", *italian.ARTICLES}
    adjectives = {"più"}
    for gender, word in genders:
        for determiner in derivation.DETERMINERS:
            if determiner is not derivation.ALL:
                determiners.add(italian.determiner_form(determiner, gender, word))
        for a in lex.adjectives:
            for plural in (False, True):
                adjectives.add(italian.adjective_form(a, gender, plural))
                if a.position == "before":
                    adjectives.add(italian.adjective_form(a, gender, plural, word))
    articulated = {form for forms in italian.ARTICULATED.values() for form in forms}
    return {
        "nouns": _split(*(f"{n.italian} {n.italian_plural}" for n in lex.nouns)),
        "verbs": verbs,
        "adjectives": adjectives,
        "prepositions": _split(*(p.italian for p in lex.prepositions.values())) | articulated,
        "determiners": determiners,
        "others": _split(
            "e che non a ad per",
            *(a.italian for a in derivation.ADVERBS),
            *(c.italian for c in derivation.CONJUNCTIONS.values()),
        ),
    }


def report(n: int) -> str:
    """Entries, word forms, constructions with counts and examples, lengths of `n` sentences."""
    sample = []
    for sentence, _ in derivations(seed=0):
        sample.append(sentence)
        if len(sample) == n:
            break
    lines = ["Lexical entries (each in every language)"]
    table = entries()
    lines += [f"  {name:<26}{number:>6}" for name, number in table.items()]
    lines += [f"  {'all':<26}{sum(table.values()):>6}", ""]
    lines += ["Word forms per class", "  " + " " * 26 + "".join(f"{x:>6}" for x in LANGUAGES)]
    forms = {language: word_forms(language) for language in LANGUAGES}
    for name in forms["en"]:
        lines.append(f"  {name:<26}" + "".join(f"{len(forms[x][name]):>6}" for x in LANGUAGES))
    totals = [len(set().union(*forms[x].values())) for x in LANGUAGES]
    lines += [f"  {'different in all':<26}" + "".join(f"{t:>6}" for t in totals), ""]
    lines += [f"Constructions ({len(CONSTRUCTIONS)}) and their numbers of sentences"]
    for name, construction in CONSTRUCTIONS.items():
        lines.append(f"  {name:<22}{count((name,)):>22,}  {construction.example}")
    lines += [f"  {'all':<22}{count():>22,}", ""]
    for code, language in LANGUAGES.items():
        lines += _lengths(language, [speak(s, code)[0] for s in sample])
    return "\n".join(lines)


def _lengths(language: str, sentences: list[tuple[str, ...]]) -> list[str]:
    lengths = Counter(map(len, sentences))
    forms = len({word for s in sentences for word in s})
    mean = sum(map(len, sentences)) / len(sentences)
    head = f"{language}: {len(sentences)} sentences, {forms} word forms, mean length {mean:.1f}"
    most = max(lengths.values())
    bars = [
        f"  {length:>3} {'#' * round(50 * number / most):<50} {number}"
        for length, number in sorted(lengths.items())
    ]
    return [head, *bars, ""]
