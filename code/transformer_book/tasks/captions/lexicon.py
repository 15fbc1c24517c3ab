"""The words: tables of nouns, verbs, adjectives, prepositions and places, read from the TSV files.

Every table has one entry per line and gives the forms of all three languages explicitly; only what
is fully regular (German dative plural, English -ing and -s) is derived, in the language modules.
A column that lists nouns may name single nouns (`dog`, with `_` for a space), groups (`pet`), the
super-group `person`, and exceptions (`-baby`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import resources

SUPERGROUPS = {"person": ("adult", "kid")}


@dataclass(frozen=True, eq=False)
class Noun:
    """A noun with its forms; `posture` is the German verb for where such a thing is (or "")."""

    english: str
    english_plural: str
    group: str
    german_gender: str
    german: str
    german_plural: str
    german_genitive: str
    italian_gender: str
    italian: str
    italian_plural: str
    posture: str

    @cached_property
    def key(self) -> str:
        """The name by which tables refer to the noun: its English singular with underscores."""
        return self.english.replace(" ", "_")

    @cached_property
    def is_person(self) -> bool:
        """Whether English says `who` and not `that`."""
        return self.group in ("adult", "kid", "baby")

    @cached_property
    def german_weak(self) -> bool:
        """Whether it is an n-noun (der Junge, den Jungen): masculine, genitive without -s."""
        return self.german_gender == "m" and not self.german_genitive.endswith("s")


@dataclass(frozen=True, eq=False)
class Adjective:
    """An adjective and the nouns it describes.

    `position` is its place beside the Italian noun; `rank` orders two adjectives in English and
    German: opinion, size, state, age, colour.
    """

    english: str
    english_comparative: str
    german_stem: str
    german_predicative: str
    german_comparative: str
    italian_ms: str
    italian_fs: str
    italian_mp: str
    italian_fp: str
    position: str
    rank: str
    nouns: tuple[Noun, ...]

    @cached_property
    def key(self) -> str:
        return self.english

    def italian(self, gender: str, plural: bool) -> str:
        """The regular Italian form for a gender (`m`, `f`) and number."""
        return getattr(self, f"italian_{gender}{'p' if plural else 's'}")


@dataclass(frozen=True, eq=False)
class Verb:
    """A verb, its forms, and what it goes with (subjects, objects, sets of places)."""

    english: str
    english_participle: str
    aspect: str
    german: str
    german_3sg: str
    german_participle: str
    case: str
    italian: str
    italian_3sg: str
    italian_3pl: str
    italian_participle: str
    frames: frozenset[str]
    subjects: tuple[Noun, ...]
    objects: tuple[Noun, ...]
    places: frozenset[str]
    flags: frozenset[str]

    @cached_property
    def key(self) -> str:
        """A unique name (`put` has two German verbs, `play` two Italian ones)."""
        return f"{self.english}/{self.german_infinitive}/{self.italian}"

    @cached_property
    def english_base(self) -> str:
        return self.english.split()[0]

    @cached_property
    def english_particle(self) -> list[str]:
        return self.english.split()[1:]

    @cached_property
    def reflexive(self) -> bool:
        """Whether German says `sich`."""
        return self.german.startswith("sich ")

    @cached_property
    def german_prefix(self) -> str:
        """The separable prefix, or "": `auf` for `auf+heben`."""
        prefix, plus, _ = self.german.removeprefix("sich ").partition("+")
        return prefix if plus else ""

    @cached_property
    def german_stem(self) -> str:
        """The infinitive without its prefix, which is also the third person plural: `heben`."""
        return self.german.removeprefix("sich ").rpartition("+")[2]

    @cached_property
    def german_infinitive(self) -> str:
        return self.german_prefix + self.german_stem

    @cached_property
    def german_zu_infinitive(self) -> str:
        """`aufzuheben` in one word, or "" where `zu` stands alone before the infinitive."""
        return f"{self.german_prefix}zu{self.german_stem}" if self.german_prefix else ""


@dataclass(frozen=True, eq=False)
class Preposition:
    """A preposition in one sense: English words, German word and case, Italian words."""

    name: str
    english: str
    german: str
    case: str
    italian: str


@dataclass(frozen=True)
class Lexicon:
    """All entries; `places` maps a set of places to its (preposition, noun) pairs."""

    nouns: tuple[Noun, ...]
    adjectives: tuple[Adjective, ...]
    verbs: tuple[Verb, ...]
    prepositions: dict[str, Preposition] = field(hash=False)
    places: dict[str, tuple[tuple[Preposition, Noun], ...]] = field(hash=False)

    def keep(self, nouns: set[str], verbs: set[str], adjectives: set[str]) -> Lexicon:
        """A smaller lexicon with the named entries only (English names), for exhaustive tests."""
        kept = tuple(n for n in self.nouns if n.english in nouns)

        def only(members: tuple[Noun, ...]) -> tuple[Noun, ...]:
            return tuple(n for n in members if n in kept)

        return Lexicon(
            kept,
            tuple(
                replace(a, nouns=only(a.nouns)) for a in self.adjectives if a.english in adjectives
            ),
            tuple(
                replace(v, subjects=only(v.subjects), objects=only(v.objects))
                for v in self.verbs
                if v.english in verbs
            ),
            self.prepositions,
            {s: tuple(p for p in pairs if p[1] in kept) for s, pairs in self.places.items()},
        )


def read_table(name: str) -> list[dict[str, str]]:
    """The rows of a TSV file of this package; `-` is an empty cell."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    header, *lines = text.splitlines()
    keys = header.split("\t")
    rows = [[("" if cell == "-" else cell) for cell in line.split("\t")] for line in lines]
    return [dict(zip(keys, row, strict=True)) for row in rows]


def expand(cell: str, nouns: tuple[Noun, ...]) -> tuple[Noun, ...]:
    """The nouns that a cell such as `person dog -baby` names, in the order of the noun table."""
    words = cell.split()
    wanted = {g for w in words for g in SUPERGROUPS.get(w, (w,)) if not w.startswith("-")}
    unwanted = {w[1:] for w in words if w.startswith("-")}
    known = {n.group for n in nouns} | {n.key for n in nouns}
    if unknown := (wanted | unwanted) - known:
        raise ValueError(f"the lexicon names unknown nouns: {', '.join(sorted(unknown))}")

    def chosen(noun: Noun) -> bool:
        names = {noun.key, noun.group}
        return bool(names & wanted) and not names & unwanted

    return tuple(noun for noun in nouns if chosen(noun))


@lru_cache(maxsize=1)
def load() -> Lexicon:
    """The lexicon of the package."""
    nouns = tuple(Noun(**row) for row in read_table("nouns.tsv"))
    adjectives = tuple(
        Adjective(**{**row, "nouns": expand(row["nouns"], nouns)})
        for row in read_table("adjectives.tsv")
    )
    verbs = []
    for row in read_table("verbs.tsv"):
        members = {c: expand(row[c], nouns) for c in ("subjects", "objects")}
        sets = {
            "frames": frozenset(row["frames"].split(",")),
            "places": frozenset(row["places"].split()),
            "flags": frozenset(row["flags"].split()),
        }
        verbs.append(Verb(**{**row, **members, **sets}))
    prepositions = {row["name"]: Preposition(**row) for row in read_table("prepositions.tsv")}
    places: dict[str, list[tuple[Preposition, Noun]]] = {}
    for row in read_table("places.tsv"):
        pairs = [(prepositions[row["relation"]], n) for n in expand(row["nouns"], nouns)]
        places.setdefault(row["set"], []).extend(pairs)
    frozen = {name: tuple(pairs) for name, pairs in places.items()}
    if missing := {s for v in verbs for s in v.places} - set(frozen):
        raise ValueError(f"the lexicon names unknown sets of places: {', '.join(sorted(missing))}")
    return Lexicon(nouns, adjectives, tuple(verbs), prepositions, frozen)
