"""The catalogue by symptom: every known mistake has its place, and one only."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from transformer_book.checks import COMPONENTS, MISTAKES
from transformer_book.checks.catalogue import SYMPTOMS, full_name, likely, mistakes_of, symptom_of

KNOWN = {full_name(mistake) for mistake in MISTAKES}


def test_every_mistake_belongs_to_exactly_one_symptom() -> None:
    found = Counter(full_name(m) for symptom in SYMPTOMS for m in mistakes_of(symptom))
    assert set(found) == KNOWN
    assert set(found.values()) == {1}


def test_each_rank_of_a_symptom_is_given_once() -> None:
    for symptom in SYMPTOMS:
        ranks = [mistake.rank for mistake in likely(symptom)]
        assert ranks == sorted(set(ranks)), symptom.key


def test_what_a_mistake_and_a_component_are_met_by_is_a_symptom() -> None:
    keys = {symptom.key for symptom in SYMPTOMS}
    assert {mistake.met for mistake in MISTAKES} <= {"", *keys}
    assert {component.met for component in COMPONENTS.values()} <= {"", *keys}
    assert all(mistake.met for mistake in MISTAKES if mistake.rank)


def test_the_likely_ones_come_first_in_their_order() -> None:
    for symptom in SYMPTOMS:
        first = likely(symptom)
        assert first and mistakes_of(symptom)[: len(first)] == first


def test_what_is_harmless_elsewhere_is_named_there() -> None:
    """No convention is met as a symptom of something broken, unless the catalogue says so."""
    for mistake in MISTAKES:
        symptom = symptom_of(mistake)
        if mistake.kind != "wrong":
            assert symptom.key == "harmless" or mistake.met


def test_a_mistake_without_a_place_is_an_error() -> None:
    lost = replace(MISTAKES[0], name="something new", component="something else", met="")
    with pytest.raises(ValueError, match="No symptom has the mistake 'something else: something"):
        symptom_of(lost)
