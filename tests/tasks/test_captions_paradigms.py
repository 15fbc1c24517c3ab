"""The paradigms of the caption grammar against tables written out independently."""

import pytest

from tests.fresh import fresh_package

# Without the hook that checks annotations: millions of short calls would take 30 times as long.
with fresh_package():
    from transformer_book.tasks.captions import derivation as d
    from transformer_book.tasks.captions import english, german, italian, lexicon

    lexicon.load()

CASES = ("nominative", "accusative", "dative", "genitive")

# Determiner and adjective `klein`, as grammars print them: masculine, feminine, neuter, plural.
GERMAN = {
    "definite": """
        der_kleine   die_kleine    das_kleine    die_kleinen
        den_kleinen  die_kleine    das_kleine    die_kleinen
        dem_kleinen  der_kleinen   dem_kleinen   den_kleinen
        des_kleinen  der_kleinen   des_kleinen   der_kleinen""",
    "dieser": """
        dieser_kleine   diese_kleine    dieses_kleine   diese_kleinen
        diesen_kleinen  diese_kleine    dieses_kleine   diese_kleinen
        diesem_kleinen  dieser_kleinen  diesem_kleinen  diesen_kleinen
        dieses_kleinen  dieser_kleinen  dieses_kleinen  dieser_kleinen""",
    "kein": """
        kein_kleiner    keine_kleine    kein_kleines    keine_kleinen
        keinen_kleinen  keine_kleine    kein_kleines    keine_kleinen
        keinem_kleinen  keiner_kleinen  keinem_kleinen  keinen_kleinen
        keines_kleinen  keiner_kleinen  keines_kleinen  keiner_kleinen""",
    "ein": """
        ein_kleiner    eine_kleine    ein_kleines    zwei_kleine
        einen_kleinen  eine_kleine    ein_kleines    zwei_kleine
        einem_kleinen  einer_kleinen  einem_kleinen  zwei_kleinen
        eines_kleinen  einer_kleinen  eines_kleinen  zwei_kleiner""",
    "jeder": """
        jeder_kleine   jede_kleine    jedes_kleine   alle_kleinen
        jeden_kleinen  jede_kleine    jedes_kleine   alle_kleinen
        jedem_kleinen  jeder_kleinen  jedem_kleinen  allen_kleinen
        jedes_kleinen  jeder_kleinen  jedes_kleinen  aller_kleinen""",
}
PLURALS = """
    einige_kleine   viele_kleine   mehrere_kleine
    einige_kleine   viele_kleine   mehrere_kleine
    einigen_kleinen vielen_kleinen mehreren_kleinen
    einiger_kleiner vieler_kleiner mehrerer_kleiner"""
SINGULAR_PLURAL = {
    "definite": (d.THE, d.THE_PLURAL),
    "dieser": (d.THIS, d.THESE),
    "kein": (d.NO, d.NO._replace(plural=True)),
    "ein": (d.A, d.NUMBERS[0]),
    "jeder": (d.EVERY, d.ALL),
}


def adjective(name: str) -> lexicon.Adjective:
    return next(a for a in lexicon.load().adjectives if a.english == name)


def noun(name: str) -> lexicon.Noun:
    return next(n for n in lexicon.load().nouns if n.english == name)


def german_pair(determiner: d.Determiner, gender: str, case: str, word: str = "small") -> str:
    form = german.adjective_form(adjective(word), determiner, gender, case)
    return f"{german.determiner_form(determiner, gender, case)}_{form}"


@pytest.mark.parametrize("name", GERMAN)
def test_german_determiners_and_adjectives(name):
    rows = [line.split() for line in GERMAN[name].strip().splitlines()]
    singular, plural = SINGULAR_PLURAL[name]
    for case, row in zip(CASES, rows, strict=True):
        got = [german_pair(singular, gender, case) for gender in "mfn"]
        assert [*got, german_pair(plural, "m", case)] == row, case


def test_german_plural_quantifiers():
    for case, line in zip(CASES, PLURALS.strip().splitlines(), strict=True):
        got = [german_pair(q, "f", case) for q in (d.SOME, d.MANY, d.SEVERAL)]
        assert got == line.split()


def test_german_adjectives_with_changing_stems():
    assert german_pair(d.A, "m", "nominative", "tall") == "ein_hoher"
    assert german_pair(d.A, "n", "nominative", "expensive") == "ein_teures"
    assert german_pair(d.THE, "m", "dative", "dark") == "dem_dunklen"
    assert german_pair(d.A, "f", "dative", "tired") == "einer_müden"
    assert german_pair(d.A, "n", "accusative", "pink") == "ein_rosa"


@pytest.mark.parametrize(
    ("name", "forms"),
    {
        "boy": "Junge Jungen Jungen Jungen / Jungen Jungen Jungen Jungen",
        "farmer": "Bauer Bauern Bauern Bauern / Bauern Bauern Bauern Bauern",
        "elephant": "Elefant Elefanten Elefanten Elefanten / "
        "Elefanten Elefanten Elefanten Elefanten",
        "bear": "Bär Bären Bären Bären / Bären Bären Bären Bären",
        "dog": "Hund Hund Hund Hundes / Hunde Hunde Hunden Hunde",
        "child": "Kind Kind Kind Kindes / Kinder Kinder Kindern Kinder",
        "girl": "Mädchen Mädchen Mädchen Mädchens / Mädchen Mädchen Mädchen Mädchen",
        "cat": "Katze Katze Katze Katze / Katzen Katzen Katzen Katzen",
        "car": "Auto Auto Auto Autos / Autos Autos Autos Autos",
        "house": "Haus Haus Haus Hauses / Häuser Häuser Häusern Häuser",
        "uncle": "Onkel Onkel Onkel Onkels / Onkel Onkel Onkeln Onkel",
        "kite": "Drachen Drachen Drachen Drachens / Drachen Drachen Drachen Drachen",
    }.items(),
)
def test_german_nouns(name, forms):
    got = [[german.noun_form(noun(name), p, case) for case in CASES] for p in (False, True)]
    assert got == [part.split() for part in forms.split(" / ")]


def test_german_weak_nouns_are_listed():
    weak = {n.german for n in lexicon.load().nouns if n.german_weak}
    assert weak == {
        *("Bauer", "Polizist", "Tourist", "Fotograf", "Student", "Matrose", "Junge"),
        *("Affe", "Bär", "Elefant", "Löwe", "Teddybär"),
    }


def test_german_separable_verbs():
    verbs = {v.english: v for v in lexicon.load().verbs}
    assert verbs["pick up"].german_infinitive == "aufheben"
    assert verbs["pick up"].german_zu_infinitive == "aufzuheben"
    assert verbs["rest"].german_zu_infinitive == "auszuruhen"
    assert verbs["prepare"].german_zu_infinitive == "zuzubereiten"
    assert verbs["read"].german_zu_infinitive == ""
    assert verbs["rest"].reflexive and not verbs["read"].reflexive


ITALIAN_ARTICLES = """
    m cane      il  un   bel    i   bei    quel
    m studente  lo  uno  bello  gli begli  quello
    m zaino     lo  uno  bello  gli begli  quello
    m gnomo     lo  uno  bello  gli begli  quello
    m sasso     il  un   bel    i   bei    quel
    m albero    l'  un   bell'  gli begli  quell'
    m uomo      l'  un   bell'  gli begli  quell'
    f donna     la  una  bella  le  belle  quella
    f scala     la  una  bella  le  belle  quella
    f amica     l'  un'  bell'  le  belle  quell'"""

ARTICULATED = """
        il   lo    la    l'    i    gli   le
    di  del  dello della dell' dei  degli delle
    a   al   allo  alla  all'  ai   agli  alle
    da  dal  dallo dalla dall' dai  dagli dalle
    in  nel  nello nella nell' nei  negli nelle
    su  sul  sullo sulla sull' sui  sugli sulle"""


@pytest.mark.parametrize("line", ITALIAN_ARTICLES.strip().splitlines())
def test_italian_articles(line):
    gender, word, definite, indefinite, bello, plural, belli, _ = line.split()
    assert italian.definite_article(gender, False, word) == definite
    assert italian.indefinite_article(gender, word) == indefinite
    assert italian.bello(gender, False, word) == bello
    assert italian.definite_article(gender, True, word) == plural
    assert italian.bello(gender, True, word) == belli
    no = italian.determiner_form(d.NO, gender, word)
    assert no == "ness" + indefinite
    this = italian.determiner_form(d.THIS, gender, word)
    elided = definite == "l'"
    assert this == ("quest'" if elided else {"m": "questo", "f": "questa"}[gender])


def test_italian_articulated_prepositions():
    header, *rows = (line.split() for line in ARTICULATED.strip().splitlines())
    assert tuple(header) == italian.ARTICLES
    assert {row[0]: tuple(row[1:]) for row in rows} == italian.ARTICULATED


def test_italian_quantifiers():
    expected = {
        d.SOME: ("alcuni", "alcune"),
        d.MANY: ("molti", "molte"),
        d.SEVERAL: ("diversi", "diverse"),
        d.THESE: ("questi", "queste"),
        d.EVERY: ("ogni", "ogni"),
        d.NUMBERS[0]: ("due", "due"),
    }
    for determiner, forms in expected.items():
        got = tuple(italian.determiner_form(determiner, g, "alberi") for g in "mf")
        assert got == forms


def test_english_articles():
    for word in ("apple", "elderly", "umbrella", "orange", "uncle", "old", "egg", "hour", "honest"):
        assert english.indefinite_article(word) == "an", word
    for word in "man yellow university uniform horse one useful European".lower().split():
        assert english.indefinite_article(word) == "a", word


def test_english_ing_and_s():
    ing = """sleep-sleeping sit-sitting swim-swimming run-running put-putting cut-cutting
        write-writing ride-riding lie-lying see-seeing play-playing open-opening wait-waiting
        hang-hanging hug-hugging unwrap-unwrapping look-looking draw-drawing carry-carrying
        offer-offering feed-feeding get-getting jump-jumping study-studying greet-greeting
        fill-filling shout-shouting water-watering fish-fishing buy-buying photograph-photographing
        chase-chasing take-taking dry-drying plant-planting follow-following build-building"""
    for pair in ing.split():
        verb, form = pair.split("-")
        assert english.ing_form(verb) == form
    third = "see-sees hear-hears have-has love-loves watch-watches carry-carries play-plays go-goes"
    for pair in third.split():
        verb, form = pair.split("-")
        assert english.third_person(verb) == form
