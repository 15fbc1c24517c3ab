"""The catalogue by symptom: every known mistake has its place, and one only."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from transformer_book.checks import COMPONENTS, MISTAKES
from transformer_book.checks.catalogue import SYMPTOMS, full_name, mistakes_of, symptom_of

KNOWN = {full_name(mistake) for mistake in MISTAKES}


def test_every_mistake_belongs_to_exactly_one_symptom() -> None:
    found = Counter(full_name(m) for symptom in SYMPTOMS for m in mistakes_of(symptom))
    assert set(found) == KNOWN
    assert set(found.values()) == {1}


def test_no_mistake_is_named_twice_and_each_that_is_named_exists() -> None:
    named = [name for symptom in SYMPTOMS for name in symptom.likely]
    assert len(named) == len(set(named))
    assert set(named) <= KNOWN


def test_no_component_has_two_homes() -> None:
    homes = [component for symptom in SYMPTOMS for component in symptom.rest]
    assert len(homes) == len(set(homes))
    assert set(homes) <= set(COMPONENTS)


def test_the_likely_ones_come_first_in_their_order() -> None:
    for symptom in SYMPTOMS:
        first = [full_name(m) for m in mistakes_of(symptom)][: len(symptom.likely)]
        assert first == list(symptom.likely), symptom.key


def test_what_is_harmless_elsewhere_is_named_there() -> None:
    """No convention is met as a symptom of something broken, unless the catalogue says so."""
    for mistake in MISTAKES:
        symptom = symptom_of(mistake)
        if mistake.kind != "wrong":
            assert symptom.key == "harmless" or full_name(mistake) in symptom.likely


def test_a_mistake_without_a_place_is_an_error() -> None:
    lost = replace(MISTAKES[0], name="something new", component="something else")
    with pytest.raises(ValueError, match="No symptom has the mistake 'something else: something"):
        symptom_of(lost)
