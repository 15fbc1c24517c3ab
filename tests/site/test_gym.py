"""The gym in a real browser: a wrong answer brings a look, a right one is remembered."""

from __future__ import annotations

import json

import gym
import pytest
from playwright.sync_api import Page, expect

from tests.site.accessibility import NARROW, until_scrollable, violations, width_of
from tests.site.test_questions import KEY, remembered

PAGE = "book/gym.html"
TASK, LEVEL = "reverse", 1
GROUP = next(group for group in gym.groups(TASK, LEVEL) if "no-causal-mask" in group)
FAULT = "no-causal-mask"
CASE = f"case={FAULT}-{TASK}&level={LEVEL}"
ID = f"gym/{FAULT}-{TASK}/{LEVEL}"
SAYS = {name: fault.says for name, fault in gym.FAULTS.items()}


@pytest.fixture
def opened(scratch, serve, visit):
    """A function that opens the gym at a case."""

    def at(query: str = CASE, **options):
        seen = visit(f"{serve(scratch)}/{PAGE}?{query}", **options)
        seen.page.locator(".gym legend").wait_for()
        return seen

    return at


def stands_for(fault: str) -> set[str]:
    """What may stand in the place of a fault, as a reader sees it."""
    return {SAYS[name] for name in (fault, *gym.stand_ins(TASK, GROUP)[fault])}


def option(page: Page, fault: str):
    texts = page.locator(".gym .option label").all_inner_texts()
    (text,) = stands_for(fault) & {each.removesuffix(" ✓") for each in texts}
    return page.get_by_role("radio", name=text, exact=True)


def test_a_wrong_answer_brings_the_look_and_a_right_one_is_remembered(opened) -> None:
    seen = opened()
    page = seen.page
    told = page.locator(".gym .told")
    expect(page.get_by_role("radio")).to_have_count(len(GROUP))
    expect(page.locator(".gym .evidence .curves")).to_have_count(1)
    page.get_by_role("button", name="Answer", exact=True).focus()
    page.keyboard.press("Enter")
    expect(told).to_have_text("Choose an answer first.")
    other = next(name for name in GROUP if name != FAULT)
    option(page, other).focus()
    page.keyboard.press("Space")
    page.keyboard.press("Enter")  # in the form, it sends
    expect(told).to_contain_text("Which look would tell this run from one with that fault?")
    assert SAYS[FAULT] not in told.inner_text()
    assert [entry[1] for entry in remembered(page)["answers"][ID]] == [1]
    expect(page.locator(".gym .end")).to_be_empty()
    looks = page.get_by_role("group", name="Which look would tell them apart?")
    apart = 0
    for name, sign in (
        ("The curves", ".curves"),
        ("The answers", "table"),
        ("The attention", ".map svg"),
        ("The gradients", "table"),
    ):
        looks.get_by_role("button", name=name).press("Enter")
        expect(looks.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
        sides = page.locator(".gym .sides > .panel")
        expect(sides).to_have_count(2)
        for side in sides.all():
            expect(side.locator(sign).first).to_be_visible()
        apart += "tells them apart" in told.inner_text()
    assert apart >= 1
    option(page, FAULT).check()
    page.get_by_role("button", name="Answer", exact=True).click()
    expect(told).to_contain_text("Right, after another look.")
    end = page.locator(".gym .end")
    expect(end).to_contain_text(gym.FAULTS[FAULT].why)
    read, bench = end.get_by_role("link").all()
    assert read.get_attribute("href") == (
        "../chapters/08_masks.html#break-it-no-causal-mask-and-a-whole-training"
    )
    assert "causal=false" in bench.get_attribute("href")
    assert [entry[1] for entry in remembered(page)["answers"][ID]] == [1, 2]
    page.reload()
    expect(told).to_contain_text("You have had this case before, and did not see it at once.")
    expect(page.locator(".gym .count")).to_contain_text(
        f"1 of {len(gym.recorded())} cases are solved, 0 of them at once"
    )
    option(page, FAULT).check()
    page.get_by_role("button", name="Answer", exact=True).click()
    page.get_by_role("button", name="Next case").press("Enter")
    expect(page.locator(".gym .end")).to_be_empty()
    assert f"{FAULT}-{TASK}" not in page.url
    assert seen.problems == []


def test_your_progress_counts_cases_and_asks_missed_ones_again(opened, scratch, serve) -> None:
    seen = opened()
    long_ago = {
        "version": 1,
        "answers": {ID: [[1_700_000_000_000, 1, "x"], [1_700_000_001_000, 2, "y"]]},
        "read": {},
        "last": None,
    }
    seen.page.evaluate(f"localStorage.setItem('{KEY}', {json.dumps(json.dumps(long_ago))})")
    seen.go(f"{serve(scratch)}/book/progress.html")
    page = seen.page
    row = page.locator(".progress-place tr", has_text="The diagnosis gym")
    expect(row.locator("td")).to_have_text(
        ["The diagnosis gym", "", f"1 of {len(gym.recorded())}", "0", ""]
    )
    due = page.locator(".progress-cases")
    expect(due).to_have_text("1 case of the gym is due. Look at one again.")
    due.get_by_role("link").click()
    page.locator(".gym legend").wait_for()
    assert page.url.endswith(CASE)
    assert seen.problems == []


@pytest.mark.parametrize("text", ["{", '{"faults": {}, "runs": {}}'])
def test_a_damaged_record_is_one_sentence(scratch, serve, visit, text: str) -> None:
    seen = visit(f"{serve(scratch)}/{PAGE}")
    seen.page.route("**/gym/cases.json", lambda route: route.fulfill(body=text))
    seen.go(f"{serve(scratch)}/{PAGE}")
    expect(seen.page.locator(".gym-place")).to_contain_text("The recorded runs cannot be read")
    assert seen.problems == []


def test_from_a_folder_and_without_scripts_one_sentence_stands_there(scratch, visit) -> None:
    page = scratch / PAGE
    assert "The gym is about to appear here: it needs JavaScript." in page.read_text("utf-8")
    seen = visit(page.as_uri())
    expect(seen.page.locator(".gym-place")).to_contain_text("only on pages that come from a server")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_case_can_be_read_by_everybody(scheme: str, opened) -> None:
    """On a telephone, with a wrong answer, a look and the explanation."""
    seen = opened(width=NARROW, scheme=scheme)
    page = seen.page
    option(page, next(name for name in GROUP if name != FAULT)).check()
    page.get_by_role("button", name="Answer", exact=True).click()
    for look in ("The attention", "The answers"):
        page.get_by_role("button", name=look).click()
        until_scrollable(page)
        assert width_of(page) == NARROW
    option(page, FAULT).check()
    page.get_by_role("button", name="Answer", exact=True).click()
    until_scrollable(page)
    assert violations(page) == []
    assert seen.problems == []


def test_only_the_gym_loads_the_gym(scratch) -> None:
    for path in scratch.rglob("*.html"):
        loads = "_static/gym/" in path.read_text("utf-8")
        assert loads == (path.stem == "gym"), path
