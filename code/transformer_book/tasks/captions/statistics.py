"""Counts of the lexicon and the grammar, as a readable report."""

from __future__ import annotations

from collections import Counter

from . import CONSTRUCTIONS, LANGUAGES, count, derivation, derivations, lexicon, speak


def entries() -> dict[str, int]:
    """Lexical entries per word class; every entry has forms in all three languages."""
    lex = lexicon.load()
    return {
        "nouns": len(lex.nouns),
        "verbs": len(lex.verbs) + 1 + len(derivation.MODALS),  # and `try`, and the modals
        "adjectives": len(lex.adjectives),
        "prepositions": len({(p.english, p.german, p.italian) for p in lex.prepositions.values()}),
        "determiners and numerals": len({d.english for d in derivation.DETERMINERS}),
        "adverbs": len(derivation.ADVERBS),
        "conjunctions": len(derivation.CONJUNCTIONS) + 1,  # and `and`
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
