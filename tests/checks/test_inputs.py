"""The inputs tell programs apart: what the report of tools/find_inputs.py says is so."""

from __future__ import annotations

import itertools
import json
from typing import Any

import find_inputs
import pytest
import searches
import torch

from tests.checks.test_check_mutants import EQUIVALENT
from tests.fresh import import_fresh

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

checks = import_fresh("transformer_book.checks")
REPORT = json.loads(find_inputs.REPORT.read_text(encoding="utf-8"))
CHEAP = ("cut_at_end", "padding_mask", "length_normalised", "next_token", "perplexity", "encode")
STALE = "run python tools/find_inputs.py --write"

# Programs that no input tells apart, and why none could.
THE_SAME: dict[tuple[str, str], dict[str, list[str]]] = {
    ("training_update", "apart"): {
        "the weights move alike: without clipping, and not at all": [
            "clipped after the step / clipping left out",
            "clipped before backward / clipped after the step",
            "clipped before backward / clipping left out",
            "step before backward / gradients zeroed after backward",
        ]
    },
    ("greedy_search", "apart"): {
        "the same ids; the number of steps tells them apart": [
            "last token stripped blindly / loop one step too short"
        ]
    },
    ("greedy_search", "pairs"): {
        "one mends the other": ["last token stripped blindly + loop one step too long"]
    },
    ("greedy_search", "rivals"): {"no model says <sos> again": ["ends: (2, 1)"]},
    ("beam_search", "rivals"): {
        "more is kept, or for longer, and scores only fall: nothing better is found": [
            "places: filled",
            "places: filled, stop: beam's best",
            "places: filled, stop: worst",
            "places: finished from the best only",
            "places: finished from the best only, stop: beam's best",
            "places: finished from the best only, stop: worst",
            "places: go on",
            "places: go on, stop: beam's best",
            "places: go on, stop: worst",
            "stop: beam's best",
            "stop: worst",
        ]
    },
}


def test_the_report_has_every_component_and_every_input() -> None:
    assert list(REPORT) == list(checks.COMPONENTS), STALE
    for name, component in checks.COMPONENTS.items():
        reported = [told["input"] for told in REPORT[name]["inputs"]]
        assert reported == [case.name for case in component.cases()], (name, STALE)


def test_no_input_stands_that_tells_nothing_apart() -> None:
    for name, part in REPORT.items():
        for told in part["inputs"]:
            assert any(n for family, n in told.items() if family in part["families"]), (name, told)


def test_every_program_is_told_apart_that_can_be() -> None:
    met = set()
    for name, part in REPORT.items():
        for family, found in part["families"].items():
            same = THE_SAME.get((name, family), {})
            if family == "mutants":
                assert all((name, change) in EQUIVALENT for change in found["never"]), name
                continue
            assert found["never"] == sorted(itertools.chain(*same.values())), (name, family)
            met |= {(name, family)} if same else set()
            if family == "mistakes":  # fewer inputs would not give it its name
                assert found["by three inputs"] == found["programs"], name
    assert met == THE_SAME.keys()


@pytest.mark.parametrize("name", checks.COMPONENTS)
def test_what_the_report_says_of_mistakes_and_boundaries_is_so(name: str) -> None:
    component = checks.COMPONENTS[name]
    tables = find_inputs.table(checks, component, ("mistakes", "boundaries", "apart"))
    for family, programs in tables.items():
        reported = REPORT[name]["families"][family]
        assert reported["programs"] == len(programs), (family, STALE)
        for i, told in enumerate(REPORT[name]["inputs"]):
            assert told[family] == sum(row[i] for row in programs.values()), (told["input"], STALE)


@pytest.mark.parametrize("name", CHEAP)
def test_what_the_report_says_of_all_families_is_so(name: str) -> None:
    assert REPORT[name] == find_inputs.described(checks, checks.COMPONENTS[name]), STALE


def test_the_searches_agree_with_a_second_implementation_and_with_brute_force() -> None:
    said = searches.agreement(checks, 60)
    assert said == (
        "of 60 models: greedy agrees on 60, beam agrees on 60, brute force agrees on 60, "
        "batch agrees on 60, what is harmless agrees on 60"
    )


def test_few_inputs_are_found_that_tell_every_program_apart() -> None:
    told: dict[str, Any] = {"a": [True, False, True], "b": [False, True, True], "c": [False] * 3}
    assert find_inputs.cover({"family": told}) == [0, 1, 2]
    assert find_inputs.needed({"family": told}, 3) == [1, 1, 2]


@pytest.mark.parametrize("component", checks.COMPONENTS.values(), ids=lambda each: each.name)
def test_every_input_has_a_name_of_its_own(component: Any) -> None:
    names = [case.name for case in component.cases()]
    assert len({*names}) == len(names)


# What may have any number of axes, as the docstrings say; a mask is one that broadcasts.
ANY_AXES = {"softmax", "scaled_dot_product_attention", "dropout", "group_sort", "lora"}


@pytest.mark.parametrize("name", checks.COMPONENTS)
def test_an_argument_has_one_number_of_axes(name: str) -> None:
    component = checks.COMPONENTS[name]
    axes: dict[int | str, set[int]] = {}
    for case in component.cases():
        for place, value in [*enumerate(case.arguments), *case.keywords.items()]:
            if isinstance(value, torch.Tensor) and value.dtype != torch.bool:
                axes.setdefault(place, set()).add(value.dim())
    assert name in ANY_AXES or all(len(found) == 1 for found in axes.values()), axes
