"""What the catalogue says of itself is true: what is harmless, and where things were seen."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.fresh import import_fresh

checks = import_fresh("transformer_book.checks")
judge = checks.judging.judge

HARMLESS = [mistake for mistake in checks.MISTAKES if mistake.kind == "harmless"]
SHARED = "one LayerNorm shared, at the beginning"


def fresh_norms(case: Any) -> Any:
    """The case with all norms as a new model has them."""
    sizes, weights, inputs = case.arguments
    fresh = {
        name: torch.ones_like(w) if name.endswith("norm.weight") else torch.zeros_like(w)
        for name, w in weights.items()
        if ".norm." in name
    }
    return replace(case, arguments=(sizes, {**weights, **fresh}, inputs))


@pytest.mark.parametrize("mistake", HARMLESS, ids=lambda mistake: mistake.name)
def test_what_is_harmless_changes_nothing(mistake: Any) -> None:
    component = checks.COMPONENTS[mistake.component]
    if mistake.name == SHARED:
        component = component.of_class()
        for case in component.cases():
            ours, theirs = (
                version(*fresh_norms(case).arguments)
                for version in (component.reference, component.version(mistake.steps))
            )
            assert torch.equal(ours, theirs)
            assert not torch.equal(
                component.reference(*case.arguments),
                component.version(mistake.steps)(*case.arguments),
            )
        return
    found = judge(component, component.version(mistake.steps), checks.MISTAKES)
    assert found.status == "right", found.text()


def test_a_harmless_version_does_something_else() -> None:
    """It replaces a step, and not by the same code."""
    for mistake in HARMLESS:
        right = checks.COMPONENTS[mistake.component].steps
        assert all(step is not right[name] for name, step in mistake.steps.items())


def test_a_convention_is_called_one() -> None:
    for mistake in checks.MISTAKES:
        assert mistake.kind in ("wrong", "convention", "harmless")
        if mistake.kind == "harmless":
            assert "othing changes" in mistake.symptom or "No real position" in mistake.symptom


def test_forty_mistakes_were_seen_in_the_wild_each_with_a_thread() -> None:
    seen = [m.seen for m in checks.MISTAKES if "https://" in m.seen]
    assert len(seen) >= 40
    for text in seen:
        assert re.search(r"^\S.+, https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+$", text)


# --- published lists -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", checks.COMPONENTS)
def test_a_check_publishes_its_conventions(name: str) -> None:
    published = getattr(checks, name).__doc__
    known = [m for m in checks.MISTAKES if m.component == name]
    conventions = [m.name for m in known if m.kind == "convention"]
    assert all(convention in published for convention in conventions)
    assert ("Also accepted as another convention" in published) == bool(conventions)
    assert ("allow_conventions=False" in published) == bool(conventions)
    for mistake in known:
        if mistake.kind == "wrong":
            assert f": {mistake.name};" not in published and f"; {mistake.name}" not in published


@pytest.mark.parametrize(
    "mistake", [m for m in checks.MISTAKES if m.kind == "convention"], ids=lambda m: m.name
)
def test_a_convention_passes_and_is_wrong_where_that_is_asked_for(
    mistake: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    component = checks.COMPONENTS[mistake.component]
    check = getattr(checks, mistake.component)
    version = component.version(mistake.steps)
    check(version)
    told = capsys.readouterr().out
    assert told.startswith("Another convention") and checks.verdicts.as_a_rule(mistake) in told
    with pytest.raises(checks.CheckFailed) as caught:
        check(version, allow_conventions=False)
    assert str(caught.value) == told.partition(": ")[2].strip()


def test_a_convention_without_gradients_is_wrong() -> None:
    def cut(x, w1, b1, w2, b2):
        return torch.nn.functional.gelu(x.detach() @ w1.detach().T + b1) @ w2.T + b2

    found = judge(checks.COMPONENTS["feed_forward"], cut, checks.MISTAKES)
    assert found.status == "wrong" and "no gradient comes back" in found.text()


@pytest.mark.parametrize("name", checks.COMPONENTS)
def test_a_check_publishes_what_it_takes_and_what_may_be_forbidden(name: str) -> None:
    published = getattr(checks, name).__doc__
    for forbidden in checks.COMPONENTS[name].ready_made:
        assert forbidden in published
    form = checks.COMPONENTS[name].as_class
    if form is not None:
        assert form.constructor in published and form.weights in published
        for case in form.cases():
            for weight in case.arguments[1]:
                last = ".".join(weight.split(".")[-2:]) if "." in weight else weight
                described = last in published or weight.rsplit(".", 1)[0] in published
                assert described or "those of" in published, weight
