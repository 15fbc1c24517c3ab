"""The words of the caption grammar: sizes, spelling, and no ambiguity between entries."""

import subprocess
from collections import defaultdict

import pytest

from tests.fresh import fresh_package
from tests.system import ensure_files

# Without the hook that checks annotations: millions of short calls would take 30 times as long.
with fresh_package():
    from transformer_book.tasks import captions
    from transformer_book.tasks.captions import derivation as d
    from transformer_book.tasks.captions import english, german, italian, lexicon, statistics
    from transformer_book.tasks.captions import grammar as g

    lexicon.load()

LEXICON = lexicon.load()
ELISIONS = {
    "l'",
    "un'",
    "nessun'",
    "dell'",
    "all'",
    "dall'",
    "nell'",
    "sull'",
    "quest'",
    "bell'",
    "c'",
}


def test_sizes():
    entries = statistics.entries()
    assert len(captions.CONSTRUCTIONS) >= 12
    assert len(LEXICON.verbs) >= 60
    assert len(LEXICON.nouns) >= 150
    assert sum(entries.values()) >= 300
    assert captions.count() > 10**7


@pytest.mark.parametrize("language", captions.LANGUAGES)
def test_vocabulary_is_small_enough_to_learn(language):
    forms = set().union(*statistics.word_forms(language).values())
    assert 700 <= len(forms) <= 1500


@pytest.mark.parametrize(
    ("language", "dictionary"), [("en", "en_US"), ("de", "de_DE"), ("it", "it_IT")]
)
def test_every_word_form_is_in_the_dictionary(language, dictionary):
    ensure_files(
        "/usr/bin/hunspell",
        *(f"/usr/share/hunspell/{name}.dic" for name in ("de_DE", "it_IT", "en_US")),
        packages=("hunspell", "hunspell-de-de", "hunspell-it", "hunspell-en-us"),
        purpose="the spelling of all words in captions is checked with hunspell",
    )
    forms = set().union(*statistics.word_forms(language).values())
    elided = {form for form in forms if form.endswith("'")}
    assert elided == (ELISIONS if language == "it" else set())
    command = ["hunspell", "-i", "utf-8", "-d", dictionary, "-l"]
    words = "\n".join(sorted(forms - elided))
    unknown = subprocess.run(command, input=words, capture_output=True, text=True, check=True)
    assert unknown.stdout.split() == []
    # The dictionary does reject: a misspelled word is reported.
    wrong = subprocess.run(command, input="xqzzt", capture_output=True, text=True, check=True)
    assert wrong.stdout.split() == ["xqzzt"]


def homographs(entries, keys):
    """Groups of entries that agree in one key but are different entries."""
    found = set()
    for key in keys:
        table = defaultdict(list)
        for entry in entries:
            if key(entry):
                table[key(entry)].append(entry)
        found |= {tuple(group) for group in table.values() if len(group) > 1}
    return found


def test_no_two_nouns_share_a_form():
    for forms in (
        lambda n: {n.english, n.english_plural},
        lambda n: {n.german, n.german_plural},
        lambda n: {n.italian, n.italian_plural},
    ):
        owner = {}
        for noun in LEXICON.nouns:
            for form in forms(noun):
                assert owner.setdefault(form, noun) is noun, form


def test_no_two_adjectives_share_a_form():
    by_language = (
        lambda a: {a.english, a.english_comparative} - {""},
        lambda a: {a.german_stem, a.german_predicative} - {""},
        lambda a: {a.italian_ms, a.italian_fs, a.italian_mp, a.italian_fp},
    )
    for forms in by_language:
        owner = {}
        for adjective in LEXICON.adjectives:
            for form in forms(adjective):
                assert owner.setdefault(form, adjective) is adjective, form
    # Comparatives: `älter` attributively is `elderly`, but nothing is compared with `older`.
    comparatives = [a.german_comparative for a in LEXICON.adjectives if a.german_comparative]
    stems = {a.german_stem for a in LEXICON.adjectives}
    assert len(set(comparatives)) == len(comparatives)
    assert not stems & set(comparatives)


def test_homographic_verbs_never_share_an_object():
    keys = (lambda v: v.english, lambda v: v.german, lambda v: v.italian)
    groups = homographs(LEXICON.verbs, keys)
    assert {tuple(sorted({v.english for v in group})) for group in groups} == {("play",), ("put",)}
    for first, second in groups:
        assert not set(first.objects) & set(second.objects)
        assert bool(first.objects) != bool(second.objects) or first.frames == second.frames


def test_german_posture_verb_follows_from_the_object():
    put = [v for v in LEXICON.verbs if v.english == "put"]
    posture = {"legen": "liegen", "stellen": "stehen"}
    for verb in put:
        assert {n.posture for n in verb.objects} == {posture[verb.german]}


def test_places_of_a_verb_differ_in_every_language():
    grammar = g.Grammar(LEXICON)
    speak = (english.prepositional, german.prepositional, italian.prepositional)
    sets = {frozenset(v.places) for v in LEXICON.verbs}
    sets |= {places for _, _, places in grammar.errands} | {frozenset({"surface"})}
    for places in sets:
        pairs = {p for s in places for p in LEXICON.places[s]}
        phrases = [
            d.Prepositional(preposition, d.Phrase(noun, determiner, None, None, 1))
            for preposition, noun in pairs
            for determiner in g.place_determiners(preposition).options
        ]
        for say in speak:
            assert len({tuple(w for w, _ in say(p)) for p in phrases}) == len(phrases)


def test_noun_phrases_never_coincide():
    """All phrases of the grammar, exhaustively: different derivations, different words."""
    grammar = g.Grammar(LEXICON)
    owner = {}
    for noun in LEXICON.nouns:
        patterns = [(None, None), *((a, None) for a in grammar.before[noun])]
        patterns += [(None, a) for a in grammar.after[noun]]
        patterns += grammar.both[noun]
        for determiner in d.DETERMINERS:
            if determiner.declension == "bare":
                continue
            for before, after in patterns:
                phrase = d.Phrase(noun, determiner, before, after, 1)
                says = {
                    "en": english.phrase(phrase),
                    "it": italian.phrase(phrase),
                    "nominative": german.phrase(phrase, "nominative"),
                    "accusative": german.phrase(phrase, "accusative"),
                }
                if determiner not in (d.EVERY, d.ALL, d.NO):
                    says["dative"] = german.phrase(phrase, "dative")
                for language, words in says.items():
                    key = (language, *(word for word, _ in words))
                    assert owner.setdefault(key, phrase) is phrase, key
