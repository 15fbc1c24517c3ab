"""The constructions: functions that build derivations from choices, and count them.

Every construction is a method `build_…` that asks a chooser for each decision, and a method
`count_…` that computes how many derivations `build_…` can produce, from the lexicon alone. On small
lexicons a test enumerates every sequence of choices and finds exactly these counts.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from itertools import accumulate

from . import derivation as d
from .derivation import Clause, Coordination, Phrase, Prepositional, Sentence
from .lexicon import Adjective, Lexicon, Noun, Preposition, Verb

Place = tuple[Preposition, Noun]


class Clash(Exception):
    """These choices do not go together (the same noun twice, …): draw again."""


class Weighted:
    """Options with weights; those of weight zero are dropped."""

    def __init__(self, *pairs: tuple[object, float]):
        self.options = tuple(option for option, weight in pairs if weight)
        self.cumulative = tuple(accumulate(weight for _, weight in pairs if weight))
        self.last = len(self.options) - 1

    def __len__(self) -> int:
        return len(self.options)


class Chooser:
    """Random choices, from a seed, with the same outcome on every platform."""

    def __init__(self, seed: object):
        self.random = random.Random(seed).random

    def pick(self, options: Sequence):
        """One of the options, each with the same probability."""
        if not options:
            raise Clash
        return options[int(self.random() * len(options))]

    def weighted(self, table: Weighted):
        """One of the options, by weight."""
        point = self.random() * table.cumulative[-1]
        return table.options[bisect_right(table.cumulative, point, 0, table.last)]


def _numbers(weight: float) -> tuple[tuple[d.Determiner, float], ...]:
    """The numerals, smaller ones more often, with a total weight."""
    scale = weight / sum(1 / (i + 2) for i in range(len(d.NUMBERS)))
    return tuple((number, scale / (i + 2)) for i, number in enumerate(d.NUMBERS))


SUBJECT = Weighted(
    *((d.A, 38), (d.THE, 24), (d.THIS, 3), (d.EVERY, 2), (d.THE_PLURAL, 8), (d.SOME, 6)),
    *((d.MANY, 2), (d.SEVERAL, 2), (d.THESE, 2), (d.ALL, 2), *_numbers(12)),
)
SUBJECT_ONE = Weighted((d.A, 55), (d.THE, 38), (d.THIS, 5), (d.EVERY, 2))
OBJECT = Weighted(
    *((d.A, 48), (d.THE, 26), (d.THIS, 2), (d.THE_PLURAL, 7)),
    *((d.SOME, 5), (d.MANY, 1.5), (d.SEVERAL, 1.5), *_numbers(9)),
)
OBJECT_ONE = Weighted((d.A, 70), (d.THE, 30))
PLACE = Weighted((d.THE, 78), (d.A, 22))
INDEFINITE = Weighted((d.A, 60), (d.SOME, 9), (d.MANY, 4), (d.SEVERAL, 4), *_numbers(23))
DEFINITE = Weighted((d.THE, 60), (d.THE_PLURAL, 24), (d.THIS, 6), (d.THESE, 4), (d.ALL, 6))
NEGATED = Weighted((d.THE, 60), (d.THE_PLURAL, 25), (d.THIS, 9), (d.THESE, 6))
PARTNER = Weighted((d.A, 45), (d.THE, 40), (d.THE_PLURAL, 7), *_numbers(8))
SIMPLE = Weighted((d.A, 45), (d.THE, 55))
ONE_A = Weighted((d.A, 1))
ONE_NO = Weighted((d.NO, 1))

# Which sets of places suit which group of subjects; persons: all but those of animals.
ANIMAL_PLACES = {
    "baby": {"seat", "indoor"},
    "pet": {
        "outdoor",
        "rest_spot",
        "seat",
        "pet_spot",
        "water",
        "animal_goal",
        "through",
        "goal",
        "source",
    }
    | {"splash", "hop", "roof"},
    "farm": {"pasture", "animal_goal", "through"},
    "wild": {"wild_spot", "animal_goal", "through"},
    "small": {"wild_spot"},
    "fowl": {"wild_spot", "water", "over"},
}
NOT_FOR_PERSONS = {"pet_spot", "wild_spot"}
SAME_KIND = {"adult": "person", "kid": "person"}


def place_determiners(preposition: Preposition) -> Weighted:
    """Landmarks that one is *at* or goes *to* are definite: at the station, alla stazione."""
    return _THE_ONE if preposition.name in ("at", "at_auf", "to") else PLACE


def suits(noun: Noun, place_set: str) -> bool:
    """Whether a subject may be at the places of a set."""
    if noun.group in ANIMAL_PLACES:
        return place_set in ANIMAL_PLACES[noun.group]
    return place_set not in NOT_FOR_PERSONS


CONTRADICTIONS = {
    *(("young", "elderly"), ("old", "new"), ("old", "modern"), ("old", "fresh")),
    *(("small", "tall"), ("small", "wide"), ("small", "long"), ("small", "short")),
    *(("big", "tall"), ("big", "wide"), ("big", "long"), ("big", "short"), ("big", "narrow")),
}
# Adjectives that do not suit a part of a clause with this verb (or of this kind).
UNSUITABLE = {
    ("cry", "subject"): {"happy"},
    ("laugh", "subject"): {"sad"},
    ("smile", "subject"): {"sad"},
    ("fill", "object"): {"full"},
    ("put", "place"): {"full"},
    ("existential", "place"): {"empty"},
}


def _compatible(before: Adjective, after: Adjective) -> bool:
    """Whether two adjectives can describe one thing."""
    return (before.english, after.english) not in CONTRADICTIONS


def unsuitable(verb: Verb | str, part: str) -> Collection[str]:
    """The adjectives that its subject, object or place cannot have."""
    return UNSUITABLE.get((verb if isinstance(verb, str) else verb.english, part), ())


def fits(thing: Noun, landmark: Noun) -> bool:
    """Whether a thing may lie on, in, under or next to a piece of furniture or a container.

    German things stand on a table, but lie in a box: what usually stands stays out of containers.
    """
    if landmark.group == "container" and thing.posture != "liegen":
        return False
    if thing.group == "meal":
        return landmark.key in ("table", "shelf", "basket")
    return thing.group != landmark.group


class Grammar:
    """All constructions over one lexicon."""

    def __init__(self, lexicon: Lexicon):
        self.lexicon = lexicon
        self.relation = lexicon.prepositions
        before: dict[Noun, list[Adjective]] = {n: [] for n in lexicon.nouns}
        after: dict[Noun, list[Adjective]] = {n: [] for n in lexicon.nouns}
        for adjective in lexicon.adjectives:
            table = before if adjective.position == "before" else after
            for noun in adjective.nouns:
                table[noun].append(adjective)
        self.before = {n: tuple(a) for n, a in before.items()}
        self.after = {n: tuple(a) for n, a in after.items()}
        self.both = {
            n: tuple((b, a) for b in before[n] for a in after[n] if _compatible(b, a))
            for n in lexicon.nouns
        }
        self.said = {
            n: tuple(a for a in (*self.before[n], *self.after[n]) if a.german_predicative)
            for n in lexicon.nouns
        }
        self._counts: dict[str, int] = {}
        self._found: dict[tuple[str, str], tuple[Verb, ...]] = {}
        self._spots: dict[tuple[Verb, Noun, frozenset[str]], tuple[Place, ...]] = {}
        self._reset()

    def _reset(self) -> None:
        self.next_bit = 2  # bit 0 is the full stop
        self.combinations: list[tuple[str, str]] = []

    # ------------------------------------------------------------------ lists of the lexicon

    def _verbs(self, frame: str, *, flag: str = "") -> tuple[Verb, ...]:
        if (frame, flag) not in self._found:
            self._found[frame, flag] = tuple(
                v
                for v in self.lexicon.verbs
                if frame in v.frames
                and v.subjects
                and (frame == "intransitive" or frame == "directional" or v.objects)
                and (not flag or flag in v.flags)
            )
        return self._found[frame, flag]

    @cached_property
    def intransitive_verbs(self) -> tuple[Verb, ...]:
        return tuple(v for v in self._verbs("intransitive") if "placed" not in v.flags)

    @cached_property
    def placed_verbs(self) -> tuple[Verb, ...]:
        return tuple(v for v in self._verbs("intransitive") if self._some_spot(v))

    @cached_property
    def transitive_verbs(self) -> tuple[Verb, ...]:
        return self._verbs("transitive")

    @cached_property
    def placed_transitive_verbs(self) -> tuple[Verb, ...]:
        return tuple(
            v for v in self.transitive_verbs if "caused" not in v.frames and self._some_spot(v)
        )

    @cached_property
    def active_verbs(self) -> tuple[Verb, ...]:
        """Transitive verbs of doing: what one can want, must, or be able to do."""
        return tuple(v for v in self.transitive_verbs if v.aspect == "prog")

    @cached_property
    def deniable_verbs(self) -> tuple[Verb, ...]:
        return tuple(v for v in self.active_verbs if "bare" not in v.flags)

    @cached_property
    def willing_verbs(self) -> tuple[Verb, ...]:
        return tuple(v for v in self.intransitive_verbs if "unwilled" not in v.flags)

    @cached_property
    def passive_verbs(self) -> tuple[Verb, ...]:
        return tuple(
            v
            for v in self.transitive_verbs
            if v.english_participle and "single" not in v.flags and v.case == "accusative"
        )

    @cached_property
    def postured(self) -> tuple[Noun, ...]:
        return tuple(n for n in self.lexicon.nouns if n.posture)

    @cached_property
    def accessories(self) -> tuple[Noun, ...]:
        names = "hat scarf helmet umbrella backpack camera suitcase basket stick guitar violin"
        return tuple(n for n in self.lexicon.nouns if n.key in names.split())

    @cached_property
    def parts(self) -> tuple[Noun, ...]:
        return tuple(n for n in self.lexicon.nouns if n.group == "part")

    @cached_property
    def wholes(self) -> tuple[Noun, ...]:
        return tuple(n for n in self.lexicon.nouns if n.group == "building")

    def _some_spot(self, verb: Verb) -> bool:
        return any(self.spots(verb, noun) for noun in verb.subjects)

    def spots(
        self, verb: Verb, noun: Noun, only: frozenset[str] | None = None
    ) -> tuple[Place, ...]:
        """The places where (or to which) a subject does what the verb says."""
        key = (verb, noun, only)
        if key not in self._spots:
            sets = verb.places if only is None else only
            chosen = (s for s in sorted(sets) if suits(noun, s))
            places = (place for s in chosen for place in self.lexicon.places.get(s, ()))
            self._spots[key] = tuple(dict.fromkeys(places))
        return self._spots[key]

    def predicates(self, noun: Noun, barred: Collection[str] = ()) -> tuple[Adjective, ...]:
        """Adjectives that can be said of a noun with `is`."""
        said = self.said[noun]
        return tuple(a for a in said if a.key not in barred) if barred else said

    def attributes(self, noun: Noun, barred: Collection[str] = ()):
        """Adjectives before a noun and after it (in Italian), and pairs of them."""
        before, after, both = self.before[noun], self.after[noun], self.both[noun]
        if barred:
            before = tuple(a for a in before if a.key not in barred)
            after = tuple(a for a in after if a.key not in barred)
            both = tuple((b, a) for b, a in both if b in before and a in after)
        return before, after, both

    # ------------------------------------------------------------------ parts of a derivation

    def _bits(self, count: int) -> int:
        bit = self.next_bit
        self.next_bit = bit << count
        return bit

    def phrase(
        self,
        choose,
        noun: Noun,
        determiners: Weighted,
        busy: float = 1.0,
        extra=None,
        barred: Collection[str] = (),
    ):
        """A noun phrase; `busy` scales how often it has adjectives (0: never), none `barred`."""
        determiner = choose.weighted(determiners)
        before = after = None
        if busy:
            pre, post, both = self.attributes(noun, barred)
            pattern = choose.weighted(_PATTERNS[busy][bool(pre), bool(post), bool(both)])
            if pattern == "before":
                before = choose.pick(pre)
            elif pattern == "after":
                after = choose.pick(post)
            elif pattern == "both":
                before, after = choose.pick(both)
            used = (adjective for adjective in (before, after) if adjective)
            self.combinations.extend((adjective.key, noun.key) for adjective in used)
        return Phrase(noun, determiner, before, after, self._bits(d.PHRASE_BITS), extra)

    def count_phrase(
        self,
        noun: Noun,
        determiners: Weighted,
        busy: float = 1.0,
        barred: Collection[str] = (),
    ) -> int:
        """How many noun phrases `phrase` can produce."""
        if not busy:
            return len(determiners)
        described = sum(map(len, self.attributes(noun, barred)))
        return len(determiners) * (1 + described)

    def _sum(
        self,
        nouns: Iterable[Noun],
        determiners: Weighted,
        busy: float = 1.0,
        barred: Collection[str] = (),
    ) -> int:
        return sum(self.count_phrase(n, determiners, busy, barred) for n in nouns)

    def _subjects(self, verb: Verb, determiners: Weighted) -> int:
        """How many subjects a verb can have."""
        return self._sum(verb.subjects, determiners, barred=unsuitable(verb, "subject"))

    def place(
        self,
        choose,
        options: Sequence[Place],
        busy: float = 0.5,
        barred: Collection[str] = (),
    ) -> Prepositional:
        """A prepositional phrase of place."""
        preposition, noun = choose.pick(options)
        table = place_determiners(preposition)
        return Prepositional(preposition, self.phrase(choose, noun, table, busy, None, barred))

    def count_places(
        self, options: Sequence[Place], busy: float = 0.5, barred: Collection[str] = ()
    ) -> int:
        """How many prepositional phrases `place` can produce."""
        return sum(self.count_phrase(n, place_determiners(p), busy, barred) for p, n in options)

    def does(self, verb: Verb, *nouns: Noun) -> None:
        """Record which noun does what."""
        self.combinations.extend((verb.key, noun.key) for noun in nouns)

    def clause(self, **parts) -> Clause:
        return Clause(bit=self._bits(d.CLAUSE_BITS), **parts)

    def sentence(self, name: str, first: Clause, second: Clause | None = None, link: str = ""):
        return Sentence(name, first, second, link, bit=self._bits(2) if second else 0)

    # ------------------------------------------------------------------ reusable clauses

    def _intransitive(self, choose, verbs: Sequence[Verb], determiners=SUBJECT, busy=1.0):
        verb = choose.pick(verbs)
        noun = choose.pick(verb.subjects)
        self.does(verb, noun)
        barred = unsuitable(verb, "subject")
        return verb, noun, self.phrase(choose, noun, determiners, busy, None, barred)

    def _transitive(
        self, choose, verbs: Sequence[Verb], subjects=SUBJECT, objects=OBJECT, busy=1.0
    ):
        verb = choose.pick(verbs)
        agent = choose.pick(verb.subjects)
        thing = choose.pick(verb.objects)
        if agent is thing:
            raise Clash
        self.does(verb, agent)
        subjects, _ = tables(verb, subjects, objects)
        subject = self.phrase(choose, agent, subjects, busy)
        return verb, subject, self._object(choose, verb, thing, objects, busy)

    def _object(self, choose, verb: Verb, thing: Noun, objects: Weighted, busy: float) -> Phrase:
        """The object of a verb; an instrument that is played has no adjectives."""
        _, objects = tables(verb, SUBJECT, objects)
        barred = unsuitable(verb, "object")
        busy = 0 if "bare" in verb.flags else busy
        return self.phrase(choose, thing, objects, busy, None, barred)

    def _count_objects(self, verb: Verb, agent: Noun, objects: Weighted) -> int:
        """How many objects other than the agent's noun `_object` can produce."""
        _, objects = tables(verb, SUBJECT, objects)
        things = (n for n in verb.objects if n is not agent)
        busy = 0 if "bare" in verb.flags else 1.0
        return self._sum(things, objects, busy, unsuitable(verb, "object"))

    def _count_pairs(self, verb: Verb, subjects: Weighted, objects: Weighted) -> int:
        """How many pairs of subject and object `_transitive` has for a verb."""
        first, _ = tables(verb, subjects, objects)
        return sum(
            self.count_phrase(n, first) * self._count_objects(verb, n, objects)
            for n in verb.subjects
        )

    # ------------------------------------------------------------------ the constructions

    def build_intransitive(self, choose) -> Sentence:
        verb, _, subject = self._intransitive(choose, self.intransitive_verbs)
        adverb = choose.weighted(_adverbs(verb, subject.plural))
        clause = self.clause(subject=subject, verb=verb, adverb=adverb)
        return self.sentence("intransitive", clause)

    def count_intransitive(self) -> int:
        total = 0
        for verb in self.intransitive_verbs:
            forms = self._subjects(verb, SUBJECT) // len(SUBJECT)
            choices = (len(_adverbs(verb, det.plural)) for det in SUBJECT.options)
            total += forms * sum(choices)
        return total

    def build_transitive(self, choose) -> Sentence:
        verb, subject, thing = self._transitive(choose, self.transitive_verbs)
        return self.sentence("transitive", self.clause(subject=subject, verb=verb, object=thing))

    def count_transitive(self) -> int:
        return sum(self._count_pairs(v, SUBJECT, OBJECT) for v in self.transitive_verbs)

    def build_locative(self, choose) -> Sentence:
        verb, noun, subject = self._intransitive(choose, self.placed_verbs)
        place = self.place(choose, self.spots(verb, noun))
        return self.sentence("locative", self.clause(subject=subject, verb=verb, place=place))

    def _count_locative(self, verbs: Sequence[Verb], determiners: Weighted) -> int:
        return sum(
            self.count_phrase(n, determiners, barred=unsuitable(v, "subject"))
            * self.count_places(self.spots(v, n))
            for v in verbs
            for n in v.subjects
        )

    def count_locative(self) -> int:
        return self._count_locative(self.placed_verbs, SUBJECT)

    def build_transitive_locative(self, choose) -> Sentence:
        verb, subject, thing = self._transitive(choose, self.placed_transitive_verbs, busy=0.5)
        place = self.place(choose, self.spots(verb, subject.noun))
        clause = self.clause(subject=subject, verb=verb, object=thing, place=place)
        return self.sentence("transitive_locative", clause)

    def _count_transitive_locative(self, subjects: Weighted, objects: Weighted) -> int:
        return sum(
            self.count_phrase(n, tables(v, subjects, objects)[0])
            * self._count_objects(v, n, objects)
            * self.count_places(self.spots(v, n))
            for v in self.placed_transitive_verbs
            for n in v.subjects
        )

    def count_transitive_locative(self) -> int:
        return self._count_transitive_locative(SUBJECT, OBJECT)

    def build_directional(self, choose) -> Sentence:
        verb, noun, subject = self._intransitive(choose, self._verbs("directional"))
        adverb = choose.weighted(_MANNER)
        direction = self.place(choose, self.spots(verb, noun))
        clause = self.clause(subject=subject, verb=verb, adverb=adverb, direction=direction)
        return self.sentence("directional", clause)

    def count_directional(self) -> int:
        return len(_MANNER) * self._count_locative(self._verbs("directional"), SUBJECT)

    def build_caused_motion(self, choose) -> Sentence:
        verb, subject, thing = self._transitive(choose, self._verbs("caused"), busy=0.5)
        spots, barred = self.spots(verb, subject.noun), unsuitable(verb, "place")
        direction = self.place(choose, spots, barred=barred)
        if not fits(thing.noun, direction.phrase.noun):
            raise Clash
        clause = self.clause(subject=subject, verb=verb, object=thing, direction=direction)
        return self.sentence("caused_motion", clause)

    def count_caused_motion(self) -> int:
        total = 0
        for verb in self._verbs("caused"):
            barred = unsuitable(verb, "place")
            for agent in verb.subjects:
                spots = self.spots(verb, agent)
                pairs = sum(
                    self.count_phrase(thing, OBJECT)
                    * self.count_places([s for s in spots if fits(thing, s[1])], barred=barred)
                    for thing in verb.objects
                    if thing is not agent
                )
                total += self.count_phrase(agent, SUBJECT) * pairs
        return total

    def build_existential(self, choose) -> Sentence:
        noun = choose.pick(self.postured)
        subject = self.phrase(choose, noun, INDEFINITE)
        barred = unsuitable("existential", "place")
        place = self.place(choose, self.lexicon.places["surface"], barred=barred)
        if not fits(noun, place.phrase.noun):
            raise Clash
        clause = self.clause(subject=subject, place=place, kind="existential")
        return self.sentence("existential", clause)

    def count_existential(self) -> int:
        spots = self.lexicon.places["surface"]
        barred = unsuitable("existential", "place")
        return sum(
            self.count_phrase(n, INDEFINITE)
            * self.count_places([s for s in spots if fits(n, s[1])], barred=barred)
            for n in self.postured
        )

    def build_fronted(self, choose) -> Sentence:
        if choose.pick((False, True)):
            verb, subject, thing = self._transitive(
                choose, self.placed_transitive_verbs, INDEFINITE, OBJECT, busy=0.5
            )
        else:
            thing = None
            verb, _, subject = self._intransitive(choose, self.placed_verbs, INDEFINITE)
        place = self.place(choose, self.spots(verb, subject.noun))
        clause = self.clause(subject=subject, verb=verb, object=thing, place=place, kind="fronted")
        return self.sentence("fronted", clause)

    def count_fronted(self) -> int:
        intransitive = self._count_locative(self.placed_verbs, INDEFINITE)
        return intransitive + self._count_transitive_locative(INDEFINITE, OBJECT)

    @cached_property
    def described(self) -> tuple[Noun, ...]:
        return tuple(n for n in self.lexicon.nouns if self.predicates(n))

    def build_predicate(self, choose) -> Sentence:
        noun = choose.pick(self.described)
        adjective = choose.pick(self.predicates(noun))
        self.combinations.append((adjective.key, noun.key))
        subject = self.phrase(choose, noun, DEFINITE, 0)
        return self.sentence("predicate", self.clause(subject=subject, adjective=adjective))

    def count_predicate(self) -> int:
        return len(DEFINITE) * sum(len(self.predicates(n)) for n in self.described)

    @cached_property
    def comparisons(self) -> tuple[tuple[Adjective, Noun, Noun], ...]:
        """Adjectives with two different nouns of one kind that they compare."""
        kind = {n: SAME_KIND.get(n.group, n.group) for n in self.lexicon.nouns}
        return tuple(
            (a, first, second)
            for a in self.lexicon.adjectives
            if a.english_comparative
            for first in a.nouns
            for second in a.nouns
            if first is not second and kind[first] == kind[second]
        )

    def build_comparative(self, choose) -> Sentence:
        adjective, noun, other = choose.pick(self.comparisons)
        self.combinations.append((adjective.key, noun.key))
        subject = self.phrase(choose, noun, DEFINITE, 0)
        than = self.phrase(choose, other, _STANDARD, 0)
        clause = self.clause(subject=subject, adjective=adjective, than=than)
        return self.sentence("comparative", clause)

    def count_comparative(self) -> int:
        return len(self.comparisons) * len(DEFINITE) * len(_STANDARD)

    def build_coordinated_subjects(self, choose) -> Sentence:
        verb, noun, first = self._intransitive(choose, self.placed_verbs, PARTNER, 0.5)
        other = choose.pick(self._partners(verb, noun))
        self.does(verb, other)
        second = self.phrase(choose, other, PARTNER, 0.5, None, unsuitable(verb, "subject"))
        place = self.place(choose, self.spots(verb, noun))
        subject = Coordination(first, second, self._bits(1))
        clause = self.clause(subject=subject, verb=verb, place=place)
        return self.sentence("coordinated_subjects", clause)

    def _partners(self, verb: Verb, noun: Noun) -> tuple[Noun, ...]:
        """Other subjects of the verb that are of the same kind."""
        kind = SAME_KIND.get(noun.group, noun.group)
        return tuple(
            n for n in verb.subjects if n is not noun and SAME_KIND.get(n.group, n.group) == kind
        )

    def count_coordinated_subjects(self) -> int:
        return sum(
            self.count_phrase(n, PARTNER, barred=unsuitable(v, "subject"))
            * self._sum(self._partners(v, n), PARTNER, barred=unsuitable(v, "subject"))
            * self.count_places(self.spots(v, n))
            for v in self.placed_verbs
            for n in v.subjects
        )

    def _shared(self, first: Verb, second: Verb) -> tuple[Noun, ...]:
        return tuple(n for n in first.subjects if n in second.subjects and n.is_person)

    def build_coordinated_verbs(self, choose) -> Sentence:
        first = choose.pick(self._verbs("intransitive", flag="background"))
        second = choose.pick(self._verbs("transitive", flag="calm"))
        noun = choose.pick(self._shared(first, second))
        thing = choose.pick(second.objects)
        if thing is noun:
            raise Clash
        self.does(first, noun)
        self.does(second, noun)
        determiners, _ = tables(second, SUBJECT, OBJECT)
        subject = self.phrase(choose, noun, determiners, 0.5)
        place = self.place(choose, self.spots(first, noun), 0.5)
        clause = self.clause(subject=subject, verb=first, place=place)
        other = self.clause(verb=second, object=self._object(choose, second, thing, OBJECT, 0.5))
        return self.sentence("coordinated_verbs", clause, other, "and")

    def count_coordinated_verbs(self) -> int:
        return sum(
            self.count_phrase(n, tables(second, SUBJECT, OBJECT)[0])
            * self.count_places(self.spots(first, n))
            * self._count_objects(second, n, OBJECT)
            for first in self._verbs("intransitive", flag="background")
            for second in self._verbs("transitive", flag="calm")
            for n in self._shared(first, second)
        )

    def build_subject_relative(self, choose) -> Sentence:
        main = choose.pick(self._verbs("intransitive", flag="background"))
        verb = choose.pick(self._verbs("transitive", flag="calm"))
        noun = choose.pick(main.subjects)
        thing = choose.pick(verb.objects)
        if noun not in verb.subjects or thing is noun:
            raise Clash
        self.does(main, noun)
        self.does(verb, noun)
        relative = self.clause(
            verb=verb, object=self._object(choose, verb, thing, OBJECT, 0.5), gap="subject"
        )
        determiners, _ = tables(verb, SUBJECT, OBJECT)
        subject = self.phrase(choose, noun, determiners, 0.5, relative)
        place = self.place(choose, self.spots(main, noun), 0)
        clause = self.clause(subject=subject, verb=main, place=place)
        return self.sentence("subject_relative", clause)

    def count_subject_relative(self) -> int:
        total = 0
        for main in self._verbs("intransitive", flag="background"):
            for verb in self._verbs("transitive", flag="calm"):
                subjects, _ = tables(verb, SUBJECT, OBJECT)
                total += sum(
                    self.count_phrase(n, subjects)
                    * self._count_objects(verb, n, OBJECT)
                    * self.count_places(self.spots(main, n), 0)
                    for n in main.subjects
                    if n in verb.subjects
                )
        return total

    @cached_property
    def relative_heads(self) -> tuple[tuple[Verb, Noun], ...]:
        """Verbs with an object that is neither person nor animal and has a describing adjective."""
        living = ("adult", "kid", *ANIMAL_PLACES)
        return tuple(
            (v, n)
            for v in self.transitive_verbs
            if v.case == "accusative" and "bare" not in v.flags
            for n in v.objects
            if n.group not in living and self.predicates(n)
        )

    def build_object_relative(self, choose) -> Sentence:
        verb, thing = choose.pick(self.relative_heads)
        agent = choose.pick(verb.subjects)
        adjective = choose.pick(self.predicates(thing, unsuitable(verb, "object")))
        self.does(verb, agent)
        self.combinations.append((adjective.key, thing.key))
        single = "single" in verb.flags
        inner = self.phrase(choose, agent, SIMPLE, 0.5)
        relative = self.clause(subject=inner, verb=verb, gap="object")
        subject = self.phrase(choose, thing, _THE_ONE if single else _THE, 0, relative)
        clause = self.clause(subject=subject, adjective=adjective)
        return self.sentence("object_relative", clause)

    def count_object_relative(self) -> int:
        return sum(
            self._sum(v.subjects, SIMPLE)
            * len(self.predicates(n, unsuitable(v, "object")))
            * len(_THE_ONE if "single" in v.flags else _THE)
            for v, n in self.relative_heads
        )

    def _simple_clause(self, choose, verbs: Sequence[Verb] | None = None) -> Clause:
        if verbs is None and choose.pick((False, True)):
            verb, subject, thing = self._transitive(
                choose, self.active_verbs, PARTNER, OBJECT, 0.25
            )
            return self.clause(subject=subject, verb=verb, object=thing)
        verb, _, subject = self._intransitive(
            choose, verbs or self.intransitive_verbs, PARTNER, 0.25
        )
        return self.clause(subject=subject, verb=verb)

    def _two_clauses(self, choose, name: str, inverted: bool) -> Sentence:
        link = choose.weighted(_FRONTED_LINKS if inverted else _LINKS)
        verbs = self._verbs("intransitive", flag="reaction") if link == "because" else None
        first = self._simple_clause(choose, verbs)
        second = self._simple_clause(choose)
        if first.subject.noun is second.subject.noun or first.verb is second.verb:
            raise Clash
        for clause in (first, second):
            if clause.object and clause.object.noun in (first.subject.noun, second.subject.noun):
                raise Clash
        return Sentence(name, first, second, link, inverted, self._bits(2))

    def build_subordinate(self, choose) -> Sentence:
        return self._two_clauses(choose, "subordinate", False)

    def count_subordinate(self) -> int:
        return self._count_two_clauses(_LINKS)

    def _count_two_clauses(self, links: Weighted) -> int:
        """A lower bound: both clauses intransitive, with different verbs and nouns."""
        reactions = self._verbs("intransitive", flag="reaction")
        total = 0
        for link in links.options:
            firsts = reactions if link == "because" else self.intransitive_verbs
            for one in firsts:
                for two in self.intransitive_verbs:
                    if one is two:
                        continue
                    both = (n for n in one.subjects if n in two.subjects)
                    total += self._subjects(one, PARTNER) * self._subjects(two, PARTNER)
                    total -= sum(
                        self.count_phrase(n, PARTNER, barred=unsuitable(one, "subject"))
                        * self.count_phrase(n, PARTNER, barred=unsuitable(two, "subject"))
                        for n in both
                    )
        return total

    def build_fronted_subordinate(self, choose) -> Sentence:
        return self._two_clauses(choose, "fronted_subordinate", True)

    def count_fronted_subordinate(self) -> int:
        return self._count_two_clauses(_FRONTED_LINKS)

    def build_modal(self, choose) -> Sentence:
        modal = choose.pick(d.MODALS)
        if choose.pick((False, True)):
            verb, subject, thing = self._transitive(choose, self.active_verbs)
        else:
            thing = None
            verb, _, subject = self._intransitive(choose, self.willing_verbs)
        clause = self.clause(subject=subject, verb=verb, object=thing, modal=modal)
        return self.sentence("modal", clause)

    def count_modal(self) -> int:
        transitive = sum(self._count_pairs(v, SUBJECT, OBJECT) for v in self.active_verbs)
        intransitive = sum(self._subjects(v, SUBJECT) for v in self.willing_verbs)
        return len(d.MODALS) * (transitive + intransitive)

    @cached_property
    def errands(self) -> tuple[tuple[Verb, Verb, frozenset[str]], ...]:
        """A verb of motion, a verb of purpose, and where one goes for it."""
        motions = [v for v in self._verbs("directional") if v.english in ("go", "run")]
        return tuple(
            (motion, verb, frozenset(f for f in verb.flags if f.startswith("errand")))
            for motion in motions
            for verb in self.transitive_verbs
            if any(f.startswith("errand") for f in verb.flags)
        )

    def build_purpose(self, choose) -> Sentence:
        motion, verb, sets = choose.pick(self.errands)
        noun = choose.pick(self._shared(motion, verb))
        thing = choose.pick(verb.objects)
        if thing is noun:
            raise Clash
        self.does(motion, noun)
        self.does(verb, noun)
        subject = self.phrase(choose, noun, SUBJECT, 0.5)
        direction = self.place(choose, self.spots(motion, noun, sets), 0)
        first = self.clause(subject=subject, verb=motion, direction=direction)
        second = self.clause(verb=verb, object=self._object(choose, verb, thing, OBJECT, 0.5))
        return self.sentence("purpose", first, second, "to")

    def count_purpose(self) -> int:
        return sum(
            self.count_phrase(n, SUBJECT)
            * self.count_places(self.spots(motion, n, sets), 0)
            * self._count_objects(verb, n, OBJECT)
            for motion, verb, sets in self.errands
            for n in self._shared(motion, verb)
        )

    def build_attempt(self, choose) -> Sentence:
        verbs = self._verbs("transitive", flag="try")
        verb, subject, thing = self._transitive(choose, verbs, busy=0.5)
        first, second = self.clause(subject=subject), self.clause(verb=verb, object=thing)
        return self.sentence("attempt", first, second, "try")

    def count_attempt(self) -> int:
        verbs = self._verbs("transitive", flag="try")
        return sum(self._count_pairs(v, SUBJECT, OBJECT) for v in verbs)

    def build_passive(self, choose) -> Sentence:
        verb, agent, thing = self._transitive(choose, self.passive_verbs, PARTNER, SUBJECT, 0.5)
        by = Prepositional(self.relation["by"], agent)
        return self.sentence("passive", self.clause(subject=thing, verb=verb, agent=by))

    def count_passive(self) -> int:
        return sum(self._count_pairs(v, PARTNER, SUBJECT) for v in self.passive_verbs)

    @cached_property
    def recipients(self) -> tuple[Noun, ...]:
        return tuple(n for n in self.lexicon.nouns if n.group in ("adult", "kid"))

    def build_ditransitive(self, choose) -> Sentence:
        verb, subject, thing = self._transitive(
            choose, self._verbs("ditransitive"), SUBJECT, OBJECT, 0.5
        )
        noun = choose.pick(self.recipients)
        if noun is subject.noun:
            raise Clash
        recipient = self.phrase(choose, noun, PARTNER, 0.25)
        clause = self.clause(subject=subject, verb=verb, object=thing, recipient=recipient)
        return self.sentence("ditransitive", clause)

    def count_ditransitive(self) -> int:
        return sum(
            self.count_phrase(n, SUBJECT)
            * self._count_objects(v, n, OBJECT)
            * self._sum((r for r in self.recipients if r is not n), PARTNER)
            for v in self._verbs("ditransitive")
            for n in v.subjects
        )

    def _part_of(self, choose) -> Phrase:
        part = choose.pick(self.parts)
        whole = self.phrase(choose, choose.pick(self.wholes), SIMPLE, 0.5)
        of = Prepositional(self.relation["of"], whole)
        return self.phrase(choose, part, _THE, 0, of)

    def build_possession(self, choose) -> Sentence:
        if choose.pick((False, True)):
            thing = self._part_of(choose)
            verb = choose.pick([v for v in self.transitive_verbs if thing.noun in v.objects])
            agent = choose.pick(verb.subjects)
            self.does(verb, agent)
            subject = self.phrase(choose, agent, SUBJECT, 0.5)
            clause = self.clause(subject=subject, verb=verb, object=thing)
        else:
            subject = self._part_of(choose)
            adjective = choose.pick(self.predicates(subject.noun))
            self.combinations.append((adjective.key, subject.noun.key))
            clause = self.clause(subject=subject, adjective=adjective)
        return self.sentence("possession", clause)

    def count_possession(self) -> int:
        wholes = len(_THE) * self._sum(self.wholes, SIMPLE)
        total = 0
        for part in self.parts:
            verbs = [v for v in self.transitive_verbs if part in v.objects]
            total += len(self.predicates(part))
            total += sum(self._sum(v.subjects, SUBJECT) for v in verbs)
        return wholes * total

    def build_negation(self, choose) -> Sentence:
        form = choose.pick(("intransitive", "transitive", "predicate", "no"))
        adjective = thing = verb = None
        if form == "predicate":
            noun = choose.pick(self.described)
            adjective = choose.pick(self.predicates(noun))
            self.combinations.append((adjective.key, noun.key))
            subject = self.phrase(choose, noun, NEGATED, 0)
        elif form == "intransitive":
            verb, _, subject = self._intransitive(choose, self.intransitive_verbs, NEGATED)
        elif form == "no":
            verb, _, subject = self._intransitive(choose, self.intransitive_verbs, ONE_NO)
        else:
            verb, subject, thing = self._transitive(
                choose, self.deniable_verbs, NEGATED, OBJECT_ONE
            )
        clause = self.clause(
            subject=subject, verb=verb, object=thing, adjective=adjective, negated=form != "no"
        )
        return self.sentence("negation", clause)

    def count_negation(self) -> int:
        return (
            len(NEGATED) * sum(len(self.predicates(n)) for n in self.described)
            + sum(self._subjects(v, NEGATED) for v in self.intransitive_verbs)
            + sum(self._subjects(v, ONE_NO) for v in self.intransitive_verbs)
            + sum(self._count_pairs(v, NEGATED, OBJECT_ONE) for v in self.deniable_verbs)
        )

    def _companions(self, verb: Verb, noun: Noun) -> tuple[Noun, ...]:
        groups = ("kid", "toy", "pet") if verb.english == "play" else ("adult", "kid")
        return tuple(n for n in self.lexicon.nouns if n.group in groups and n is not noun)

    @cached_property
    def sociable(self) -> tuple[tuple[Verb, Noun], ...]:
        """Verbs of doing something together, with their human subjects."""
        verbs = self._verbs("intransitive", flag="together")
        return tuple((v, n) for v in verbs for n in v.subjects if n.group in ("adult", "kid"))

    def build_comitative(self, choose) -> Sentence:
        verb, noun = choose.pick(self.sociable)
        self.does(verb, noun)
        barred = unsuitable(verb, "subject")
        subject = self.phrase(choose, noun, SUBJECT, 0.5, None, barred)
        other = self.phrase(choose, choose.pick(self._companions(verb, noun)), PARTNER, 0.5)
        companion = Prepositional(self.relation["with"], other)
        place = self.place(choose, self.spots(verb, noun), 0)
        clause = self.clause(subject=subject, verb=verb, companion=companion, place=place)
        return self.sentence("comitative", clause)

    def count_comitative(self) -> int:
        return sum(
            self.count_phrase(n, SUBJECT, barred=unsuitable(v, "subject"))
            * self._sum(self._companions(v, n), PARTNER)
            * self.count_places(self.spots(v, n), 0)
            for v, n in self.sociable
        )

    @cached_property
    def dry_verbs(self) -> tuple[Verb, ...]:
        """What one does with a bag or a hat: anything but swim."""
        return tuple(v for v in self.placed_verbs if "water" not in v.places)

    def build_attribute(self, choose) -> Sentence:
        verb = choose.pick(self.dry_verbs)
        noun = choose.pick(verb.subjects)
        if noun.group not in ("adult", "kid"):
            raise Clash
        self.does(verb, noun)
        owned = self.phrase(choose, choose.pick(self.accessories), ONE_A, 1.0)
        attribute = Prepositional(self.relation["with"], owned)
        barred = unsuitable(verb, "subject")
        subject = self.phrase(choose, noun, SUBJECT_ONE, 0.5, attribute, barred)
        place = self.place(choose, self.spots(verb, noun), 0.25)
        clause = self.clause(subject=subject, verb=verb, place=place)
        return self.sentence("attribute", clause)

    def count_attribute(self) -> int:
        owned = self._sum(self.accessories, ONE_A)
        return owned * sum(
            self.count_phrase(n, SUBJECT_ONE, barred=unsuitable(v, "subject"))
            * self.count_places(self.spots(v, n))
            for v in self.dry_verbs
            for n in v.subjects
            if n.group in ("adult", "kid")
        )

    # ------------------------------------------------------------------ drawing

    def derive(self, name: str, choose) -> tuple[Sentence, list[tuple[str, str]]]:
        """A derivation of a construction, and its (adjective or verb, noun) combinations."""
        self._reset()
        build: Callable = getattr(self, f"build_{name}")
        return build(choose), self.combinations

    def count(self, name: str) -> int:
        """How many derivations a construction has (for two clauses: a lower bound)."""
        if name not in self._counts:
            self._counts[name] = getattr(self, f"count_{name}")()
        return self._counts[name]


def tables(verb: Verb, subjects: Weighted, objects: Weighted) -> tuple[Weighted, Weighted]:
    """The determiners of subject and object that suit a verb.

    One wears one coat: verbs flagged `single` have singular subjects and objects. One plays the
    piano: objects of verbs flagged `bare` have no article in German.
    """
    if "bare" in verb.flags:
        return subjects, _INSTRUMENT
    if "single" in verb.flags:
        singular = {id(SUBJECT): SUBJECT_ONE, id(NEGATED): _ONE_NEGATED}
        return singular.get(id(subjects), OBJECT_ONE), OBJECT_ONE
    return subjects, objects


def _adverbs(verb: Verb, plural: bool) -> Weighted:
    return _TOGETHER if plural and "together" in verb.flags else _ALONE


_ALONE = Weighted((None, 50), (d.OUTSIDE, 20), (d.AGAIN, 20))
_TOGETHER = Weighted((None, 40), (d.OUTSIDE, 15), (d.AGAIN, 15), (d.TOGETHER, 30))
_MANNER = Weighted((None, 70), (d.SLOWLY, 15), (d.QUICKLY, 15))
_LINKS = Weighted(("while", 60), ("because", 20), ("although", 20))
# Italian perché does not open a sentence as a reason.
_FRONTED_LINKS = Weighted(("while", 70), ("although", 30))
_INSTRUMENT = Weighted((d.INSTRUMENT, 1))
_ONE_NEGATED = Weighted((d.THE, 9), (d.THIS, 1))
_STANDARD = Weighted((d.THE, 60), (d.THE_PLURAL, 25), (d.A, 15))
_THE = Weighted((d.THE, 70), (d.THE_PLURAL, 30))
_THE_ONE = Weighted((d.THE, 1))


def _patterns(busy: float) -> dict[tuple[bool, bool, bool], Weighted]:
    """How often a noun phrase has no adjective, one, or two; by what the noun offers."""
    none, before, after, both = 100 - 60 * busy, 22 * busy, 24 * busy, 14 * busy
    return {
        (pre, post, two): Weighted(
            ("none", none),
            ("before", pre * (before if post else before + after)),
            ("after", post * (after if pre else before + after)),
            ("both", two * both),
        )
        for pre in (False, True)
        for post in (False, True)
        for two in (False, True)
    }


_PATTERNS = {busy: _patterns(busy) for busy in (0.25, 0.5, 1.0)}
