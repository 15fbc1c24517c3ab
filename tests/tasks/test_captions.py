"""Captions: the interface, unambiguity, tokens, alignments, splits, bad input."""

import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from tests.fresh import fresh_package

# Without the hook that checks annotations: millions of short calls would take 30 times as long.
with fresh_package():
    from transformer_book.tasks import captions
    from transformer_book.tasks.captions import __main__ as command
    from transformer_book.tasks.captions import derivation as d
    from transformer_book.tasks.captions import english, german, italian, lexicon, statistics
    from transformer_book.tasks.captions import grammar as g

    lexicon.load()

CHECKED = Path(__file__).with_name("captions_checked.tsv")


@pytest.fixture(scope="module")
def sample():
    """Derivations with their combinations, in the mixture of the captions."""
    return list(islice(captions.derivations(seed=1), 40_000))


# ---------------------------------------------------------------------- interface


def test_pairs_are_deterministic_distinct_and_prefix_stable():
    many = captions.pairs("de", "en", "train", 1000, seed=3)
    assert captions.pairs("de", "en", "train", 100, seed=3) == many[:100]
    assert captions.pairs("de", "en", "train", 1000, seed=3) == many
    assert captions.pairs("de", "en", "train", 100, seed=4) != many[:100]
    assert len({p.source for p in many}) == len({p.target for p in many}) == 1000


def test_default_pairs():
    pairs = captions.pairs()
    assert len(pairs) == 20_000
    lengths = [len(p.target) for p in pairs]
    assert 9 <= sum(lengths) / len(lengths) <= 11
    for pair in pairs:
        assert 4 <= len(pair.source) <= 22 and 4 <= len(pair.target) <= 22
    assert {p.construction for p in pairs} == set(captions.CONSTRUCTIONS)


@pytest.mark.parametrize("split", captions.SPLITS)
def test_languages_are_parallel(split):
    german_pairs = captions.pairs("en", "de", split, 300)
    italian_pairs = captions.pairs("en", "it", split, 300)
    across = captions.pairs("de", "it", split, 300)
    for a, b, c in zip(german_pairs, italian_pairs, across, strict=True):
        assert a.source == b.source and c.source == a.target and c.target == b.target
    back = captions.pairs("de", "en", split, 300)
    for a, b in zip(german_pairs, back, strict=True):
        assert (a.source, a.target) == (b.target, b.source)
        assert sorted((j, i) for i, j in a.alignment) == sorted(b.alignment)


@pytest.mark.parametrize("name", captions.CONSTRUCTIONS)
def test_each_construction_alone(name):
    pairs = captions.pairs("de", "it", "train", 200, constructions=[name])
    assert {p.construction for p in pairs} == {name}


def test_examples_are_sentences_of_their_construction():
    """Each example is read back as tokens that occur among the words of the grammar."""
    words = set().union(*statistics.word_forms("en").values())
    for construction in captions.CONSTRUCTIONS.values():
        tokens = construction.example.replace(",", " ,").replace(".", " .").split()
        tokens[0] = tokens[0].lower()
        assert set(tokens) <= words | {",", "."}


def test_text():
    tokens = ("Sul", "tavolo", "c'", "è", "un", "libro", ".")
    assert captions.text(tokens, "it") == "Sul tavolo c'è un libro."
    assert captions.text(("Auf", "dem", "Tisch", ",", "ja", "."), "de") == "Auf dem Tisch, ja."
    with pytest.raises(ValueError, match="'fr'"):
        captions.text(tokens, "fr")


def test_pure_python_at_import():
    code = (
        "import sys, transformer_book.tasks.captions as c; c.pairs(n=10); "
        "print([m for m in ('torch', 'spacy', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_report():
    report = statistics.report(300)
    for word in ("nouns", "verbs", "English", "German", "Italian", *captions.CONSTRUCTIONS):
        assert word in report


# ---------------------------------------------------------------------- one source, one target


def test_translation_is_a_bijection():
    """200,000 derivations: no sentence of any language stands for two different derivations.

    There are then as many different sentences of each language as there are different triples.
    """
    speakers = (english.sentence, german.sentence, italian.sentence)
    found: list[set[str]] = [set(), set(), set(), set()]
    for sentence, _ in islice(captions.derivations(seed=2), 200_000):
        triple = [" ".join([word for word, _ in say(sentence)]) for say in speakers]
        for known, words in zip(found, (*triple, "|".join(triple)), strict=True):
            known.add(words)
    assert len({len(known) for known in found}) == 1


class Enumerator:
    """A chooser that goes through all sequences of choices."""

    def __init__(self):
        self.choices: list[list[int]] = []
        self.position = 0

    def _choose(self, options):
        if not options:
            raise g.Clash
        if self.position == len(self.choices):
            self.choices.append([0, len(options)])
        index = self.choices[self.position][0]
        self.position += 1
        return options[index]

    def pick(self, options):
        return self._choose(options)

    def weighted(self, table):
        return self._choose(table.options)

    def advance(self) -> bool:
        """Go to the next sequence; whether there is one."""
        self.position = 0
        while self.choices:
            self.choices[-1][0] += 1
            if self.choices[-1][0] < self.choices[-1][1]:
                return True
            self.choices.pop()
        return False


SMALL = {
    "intransitive": ("man girl dog", "sleep sing cry", "small tired happy"),
    "transitive": ("man girl apple coat box", "eat wear hug fill", "red full"),
    "locative": ("man dog bed park table lake", "sleep swim cry", "big old happy"),
    "transitive_locative": ("man apple kitchen market", "peel buy", ""),
    "directional": ("girl cat house table lake bench", "go run jump", "old new"),
    "caused_motion": ("man book cup sled table box garden", "put pull", "full"),
    "existential": ("book cup cake table box shelf", "", "red old empty"),
    "fronted": ("girl dog book trumpet park sofa", "sleep read play", ""),
    "predicate": ("girl cat egg church house", "", "old new beautiful fresh red"),
    "comparative": ("man woman dog cat", "", "tired thin lazy small"),
    "coordinated_subjects": ("man girl dog cat sofa", "sleep sing", ""),
    "coordinated_verbs": ("man book coat sofa", "sit stand read wear play", ""),
    "subject_relative": ("man coat apple park", "wear eat sit", ""),
    "object_relative": ("girl man coat apple letter", "wear eat write", "red beautiful"),
    "modal": ("man girl apple coat", "eat wear rest swim", ""),
    "purpose": ("girl apple market shop kitchen", "go run buy eat", ""),
    "attempt": ("man girl horse door", "open lead follow", "small"),
    "passive": ("man girl apple door", "eat open", ""),
    "ditransitive": ("man girl book", "give lend", ""),
    "possession": ("man roof door house station", "repair open", "old red"),
    "negation": ("man girl coat apple", "wear eat sleep", "tired red"),
    "comitative": ("man girl ball park", "play dance", ""),
    "attribute": ("man hat park scarf", "sleep rest", "red"),
}


@pytest.mark.parametrize("name", SMALL)
def test_counts_are_exact_and_sentences_unique(name):
    """On a small lexicon: all derivations, enumerated, are as many as counted, and all differ."""
    nouns, verbs, adjectives = SMALL[name]
    spaced = {verb.replace("_", " ") for verb in verbs.split()}
    small = lexicon.load().keep(set(nouns.split()), spaced, set(adjectives.split()))
    grammar = g.Grammar(small)
    enumerator = Enumerator()
    seen: list[set[str]] = [set(), set(), set()]
    number = 0
    while True:
        try:
            sentence, _ = grammar.derive(name, enumerator)
        except g.Clash:
            pass
        else:
            number += 1
            for found, say in zip(seen, (english, german, italian), strict=True):
                found.add(" ".join([word for word, _ in say.sentence(sentence)]))
        if not enumerator.advance():
            break
    assert number == grammar.count(name) > 0
    assert [len(found) for found in seen] == [number] * 3


# ---------------------------------------------------------------------- tokens


@pytest.mark.parametrize("language", captions.LANGUAGES)
def test_tokens_are_those_of_spacy(language, sample):
    import spacy

    tokenizer = spacy.blank(language)
    known = {w for forms in statistics.word_forms(language).values() for w in forms}
    known |= {",", "."}
    for sentence, _ in sample[:5000]:
        tokens, _ = captions.speak(sentence, language)
        text = captions.text(tokens, language)
        assert tuple(t.text for t in tokenizer(text)) == tokens
        assert tokens[-1] == "." and tokens[0][0].isupper()
        first = {tokens[0], tokens[0].lower()} & known
        assert first and set(tokens[1:]) <= known


# ---------------------------------------------------------------------- alignments


@pytest.mark.parametrize("languages", [("en", "de"), ("en", "it"), ("de", "it")])
def test_alignments_are_sane(languages):
    free = {"en": {"There", "the"}, "de": set(), "it": {"c'", "ci", "il", "la", "l'"}}
    for pair in captions.pairs(*languages, n=3000, seed=5):
        links = pair.alignment
        assert list(links) == sorted(set(links))
        left, right = {i for i, _ in links}, {j for _, j in links}
        assert left <= set(range(len(pair.source))) and right <= set(range(len(pair.target)))
        assert (len(pair.source) - 1, len(pair.target) - 1) in links
        last = [p for p in links if p[0] == len(pair.source) - 1]
        assert last == [(len(pair.source) - 1, len(pair.target) - 1)]
        for words, used, language in (
            (pair.source, left, languages[0]),
            (pair.target, right, languages[1]),
        ):
            unaligned = {w for i, w in enumerate(words) if i not in used}
            assert unaligned <= free[language] | {","}


def link_words(construction: str, source: str, target: str, wanted: str) -> set[tuple[str, str]]:
    """The aligned words of the first pair whose source text contains a phrase."""
    for pair in captions.pairs(source, target, n=3000, constructions=[construction]):
        if wanted in pair.source_text:
            return {(pair.source[i], pair.target[j]) for i, j in pair.alignment}
    raise AssertionError(f"no {construction} with {wanted!r}")


def test_alignment_guideline():
    links = link_words("transitive", "de", "en", " auf.")
    assert (
        {("hebt", "picking"), ("auf", "up"), ("auf", "picking"), ("hebt", "is")} <= links
        or {
            ("heben", "picking"),
            ("auf", "up"),
            ("heben", "are"),
        }
        <= links
        or ("auf", "hanging") in links
    )
    assert {("zum", "to"), ("zum", "the")} <= link_words("directional", "de", "en", " zum ")
    assert {("della", "of"), ("della", "the")} <= link_words("possession", "it", "en", " della ")
    assert {("des", "of"), ("des", "the")} <= link_words("possession", "de", "en", " des ")
    assert {("dem", "to"), ("dem", "the")} <= link_words("ditransitive", "de", "en", " dem ")
    assert {("keinen", "not")} <= link_words("negation", "de", "en", " keinen ")
    assert {("wird", "is"), ("wird", "being")} <= link_words("passive", "de", "en", " wird ")
    assert {("um", "to"), ("zu", "to")} <= link_words("purpose", "de", "en", " zu ")
    assert {("più", "more")} <= link_words("comparative", "it", "en", "è più stanc")
    assert {("c'", "There")} <= link_words("existential", "it", "en", " c'è ")
    assert not any("There" in pair for pair in link_words("existential", "en", "de", "There is"))


# ---------------------------------------------------------------------- splits


def test_splits_are_disjoint_and_of_the_stated_size(sample):
    owner: dict[str, str] = {}
    sizes = Counter()
    for sentence, combinations in sample:
        for language in captions.LANGUAGES:
            tokens, _ = captions.speak(sentence, language)
            if language == "en":
                split = captions.split_of(tokens, combinations)
                sizes[split] += 1
            key = f"{language} {' '.join(tokens)}"
            assert owner.setdefault(key, split) == split
    usual = sum(sizes[s] for s in ("train", "validation", "test"))
    assert abs(sizes["train"] / usual - 0.90) < 0.012
    assert abs(sizes["validation"] / usual - 0.05) < 0.01
    assert abs(sizes["test"] / usual - 0.05) < 0.01
    assert 0.03 < sizes["compositional"] / len(sample) < 0.3


def test_pairs_come_from_their_split():
    found = {split: captions.pairs("de", "en", split, 800) for split in captions.SPLITS}
    for a in found:
        for b in found:
            if a < b:
                assert not {p.source for p in found[a]} & {p.source for p in found[b]}
                assert not {p.target for p in found[a]} & {p.target for p in found[b]}


def test_compositional_split(sample):
    """Held-out combinations never occur in the other splits, though each of their parts does."""
    usual, held = set(), set()
    for sentence, combinations in sample:
        tokens, _ = captions.speak(sentence, "en")
        split = captions.split_of(tokens, combinations)
        out = {c for c in combinations if captions.held_out(c)}
        if split == "compositional":
            assert out
            held |= out
        else:
            assert not out
            if split == "train":
                usual |= set(combinations)
    assert len(held) > 100 and not held & usual
    describers, nouns = {a for a, _ in usual}, {b for _, b in usual}
    for describer, noun in held:
        assert describer in describers and noun in nouns


def test_adjectives_and_places_suit_the_clause(sample):
    """Nobody happy cries, nothing full is filled, nothing stands in a box."""
    for sentence, _ in sample:
        for clause in filter(None, (sentence.first, sentence.second)):
            place = clause.place or clause.direction
            parts = {"subject": clause.subject, "object": clause.object}
            parts["place"] = place and place.phrase
            if clause.agent:  # the subject of a passive is what something is done to
                parts = {"object": clause.subject}
            for part, phrase in parts.items():
                barred = g.unsuitable(clause.verb or clause.kind, part)
                for one in (getattr(phrase, "first", phrase), getattr(phrase, "second", None)):
                    used = [a.key for a in (one.before, one.after) if a] if one else []
                    assert not set(used) & set(barred)
            if clause.kind == "existential" and place.phrase.noun.group == "container":
                assert clause.subject.noun.posture == "liegen"


def test_combinations_are_complete(sample):
    """What the compositional claim rests on: every adjective and agent of a sentence is listed."""
    for sentence, combinations in sample[:20_000]:
        listed = set(combinations)
        for clause in (sentence.first, sentence.second):
            if clause is not None:
                check_clause(clause, sentence.first.subject, listed)


def phrases_of(clause):
    for part in (clause.subject, clause.object, clause.recipient, clause.than):
        if isinstance(part, d.Coordination):
            yield from (part.first, part.second)
        elif part is not None:
            yield part
    for part in (clause.agent, clause.companion, clause.place, clause.direction):
        if part is not None:
            yield part.phrase


def check_clause(clause, outer_subject, listed):
    subject = clause.subject or outer_subject
    agent = clause.agent.phrase if clause.agent else subject
    agents = (agent.first, agent.second) if isinstance(agent, d.Coordination) else (agent,)
    for noun in (a.noun for a in agents):
        if clause.verb is not None:
            assert (clause.verb.key, noun.key) in listed
        if clause.adjective is not None:
            assert (clause.adjective.key, noun.key) in listed
    for phrase in phrases_of(clause):
        for adjective in (phrase.before, phrase.after):
            assert adjective is None or (adjective.key, phrase.noun.key) in listed
        if isinstance(phrase.extra, d.Clause):
            inner = phrase.extra
            check_clause(inner, phrase if inner.gap == "subject" else inner.subject, listed)
        elif phrase.extra is not None:
            owned = phrase.extra.phrase
            for adjective in (owned.before, owned.after):
                assert adjective is None or (adjective.key, owned.noun.key) in listed


# ---------------------------------------------------------------------- checked by hand


def test_pairs_checked_by_hand():
    """The grammar still says, and aligns, what was read and approved word by word."""
    rows = [line.split("\t") for line in CHECKED.read_text("utf-8").splitlines()[1:] if line]
    assert len(rows) >= 100
    assert {row[2] for row in rows} == set(captions.CONSTRUCTIONS)
    for language, index, name, source, target, links in rows:
        pair = captions.pairs(
            "en", language, "train", int(index) + 1, seed=2026, constructions=[name]
        )[-1]
        assert (pair.source_text, pair.target_text) == (source, target)
        assert command.links(pair) == links


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"source": "fr"}, "language is 'fr', but it must be one of en, de, it"),
        ({"target": "dee"}, "did you mean 'de'"),
        ({"source": "en"}, "choose two languages"),
        ({"split": "training"}, "split is 'training'.*did you mean 'train'"),
        ({"constructions": ["passiv"]}, "did you mean 'passive'"),
        ({"constructions": []}, "constructions is empty"),
        ({"n": 0}, "n is 0.*at least 1"),
        ({"n": -5}, "n is -5"),
        ({"n": 2.5}, "n is 2.5"),
        ({"n": True}, "n is True"),
        ({"n": 10**30}, "have only [0-9]+ sentences"),
        ({"n": 10_000, "constructions": ["predicate"]}, "have only [0-9]+ sentences"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        captions.pairs(**arguments)


def test_exhausted_split(monkeypatch):
    monkeypatch.setattr(captions, "_PATIENCE", 3000)
    with pytest.raises(ValueError, match=r"only [0-9]+ sentences of the split 'test'"):
        captions.pairs(split="test", n=3000, constructions=["predicate"])


def run(*arguments):
    module = "transformer_book.tasks.captions"
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False
    )


def test_command_prints_pairs():
    done = run("--source", "en", "--target", "de", "-n", "3", "--split", "validation")
    assert done.returncode == 0 and done.stderr == ""
    blocks = done.stdout.strip().split("\n\n")
    assert len(blocks) == 3 and all(len(block.splitlines()) == 3 for block in blocks)
    first = captions.pairs("en", "de", "validation", 1)[0]
    assert blocks[0].splitlines()[:2] == [first.source_text, first.target_text]
    assert ".–." in blocks[0]


@pytest.mark.parametrize(
    "arguments",
    [("--source", "fr"), ("-n", "0"), ("-n", "many"), ("--split", "dev"), ("--nonsense",)],
)
def test_command_rejects_bad_input(arguments):
    done = run(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
