"""Every explorer computes what Python computes, responds to every use, and stays small."""

from __future__ import annotations

import json
import math
import random
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from common import ROOT
from normalise_notebooks import WIDGET_STATE
from playwright.sync_api import Browser, ElementHandle, Locator, Page

from tests.site.accessibility import NARROW, OF_SIZES, violations, width_of
from tests.site.widget_cases import CASES, Case
from tests.typecheck import unenforced
from transformer_book import widgets

EACH = pytest.mark.parametrize("case", [pytest.param(c, id=c.widget.__name__) for c in CASES])
CONTROLS = "[role=slider], input, select, button"


# --- the pure functions: JavaScript against Python ------------------------------------------------


def leaves(value: object, path: str = "") -> dict[str, object]:
    """Nested data as {"weights.0": 0.67, …}."""
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, (list, tuple)):
        parts = enumerate(value)
    else:
        return {path: value}
    found = {}
    for name, part in parts:
        found |= leaves(part, f"{path}.{name}" if path else str(name))
    return found


def equal(one: object, other: object) -> bool:
    """Texts and truths alike, numbers to 1e-5 (of their size, if they are large)."""
    if isinstance(one, (str, bool)) or one is None:
        return one == other
    if not isinstance(other, (int, float)) or isinstance(other, bool):
        return False
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-5)


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Page:
    return browser.new_page()


# The module is imported from its text, as anywidget does it. NaN can be returned, but not as JSON.
COMPUTE = """async ([code, states]) => {
    const address = URL.createObjectURL(new Blob([code], {type: "text/javascript"}));
    const {numbers} = await import(address);
    return states.map(state => numbers(state));
}"""


@EACH
def test_javascript_computes_what_python_computes(case: Case, blank: Page) -> None:
    source = random.Random(0)
    twins = [case.widget(**case.arguments(source)) for _ in range(50)]
    states = [json.loads(json.dumps(twin.state())) for twin in twins]
    found = blank.evaluate(COMPUTE, [case.widget._esm, states])
    for twin, theirs in zip(twins, found, strict=True):
        ours, theirs = leaves(twin.numbers()), leaves(theirs)
        assert ours.keys() == theirs.keys()
        wrong = {
            path: (ours[path], theirs[path]) for path in ours if not equal(ours[path], theirs[path])
        }
        assert wrong == {}, twin.state()


def test_every_explorer_has_its_case() -> None:
    shown = (getattr(widgets, name) for name in widgets.__all__)
    classes = {each for each in shown if issubclass(each, widgets.Explorer)} - {widgets.Explorer}
    assert classes == {case.widget for case in CASES}


def test_explorers_write_no_markup() -> None:
    """Texts reach the page as text: nothing in a label can become an element."""
    for path in (ROOT / "code" / "transformer_book" / "widgets").glob("*.js"):
        found = re.findall(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|https?://(?!www\.w3\.org/2000/svg)",
            path.read_text(encoding="utf-8"),
        )
        assert found == [], path.name


# --- the explorers on the website -----------------------------------------------------------------


@cache
def models_on(page: str) -> dict[str, dict]:
    """The state of every widget that a page holds, by the name of its model."""
    notebook = json.loads((ROOT / f"{page}.ipynb").read_text(encoding="utf-8"))
    models = notebook["metadata"]["widgets"][WIDGET_STATE]["state"]
    return {name: model["state"] for name, model in models.items()}


def saved(case: Case) -> dict:
    """The state of the explorer that its page holds."""
    kind = f"{case.widget.__module__}.{case.widget.__name__}"
    for held in models_on(case.page).values():
        if held.get("_anywidget_id") == kind:
            return held
    pytest.fail(f"{case.page} shows no {kind}")


def twin(case: Case, moved: dict) -> object:
    """The explorer in Python, in the state that the reader sees."""
    start = saved(case)
    names = case.widget.class_traits(sync=True).keys() - widgets.Explorer.class_traits().keys()
    return case.widget(**{**{name: start[name] for name in names}, **moved})


# Of the article the explorer's cell, headings, what folds sections, and styles alone, before any
# deferred script of the page runs: no other explorer is drawn. A browser lays out the whole page again
# at each step, axe-core reads all of it, and chapters are long. test_pages_served looks at whole pages.
ALONE = """name => document.addEventListener("readystatechange", () => {
    const view = document.querySelector(`.explorer-place[data-name="${name}"]`);
    const article = view.closest("article");
    article.append(...article.querySelectorAll("style, .sentence-models"));
    const stays = "section, h1, h2, h3, h4, h5, h6, .further-bar, .further-button, .further-body";
    for (const part of article.querySelectorAll("section > *, .further-body > *"))
        if (!part.contains(view) && !part.matches(stays)) part.remove();
}, {once: true})"""


def opened(case: Case, visit, address: str, **options: object) -> tuple:
    """The page with nothing but the explorer on it, and the explorer once it is there."""
    alone = f"({ALONE})({json.dumps(case.widget.__name__)})"
    seen = visit(f"{address}/{case.page}.html", begin=alone, **options)
    root = seen.explorer(case.widget.__name__)
    root.scroll_into_view_if_needed()
    return seen, root


@dataclass(frozen=True)
class Look:
    """All that an explorer says at one moment; asked for at once and in one text: each question, and
    each value of an answer, takes Playwright time."""

    state: str
    shown: list[list]  # of each number: its path, its text and the digits after its point
    controls: list[str]  # what each control says of itself; a button may say nothing


# What a control says of itself.
VALUE = "e => [e.getAttribute('aria-valuetext'), e.checked, e.value, e.getAttribute('aria-pressed')].join(' ')"
LOOK = f"""root => JSON.stringify({{
    state: root.dataset.state,
    shown: [...root.querySelectorAll("[data-number]")].map(
        e => [e.dataset.number, e.textContent, Number(e.dataset.digits)]),
    controls: [...root.querySelectorAll("{CONTROLS}")].map({VALUE}),
}})"""
RESET_AND_LOOK = f"""root => {{
    root.querySelector("button.reset").click();
    return ({LOOK})(root);
}}"""


def look(root: Locator | ElementHandle, script: str = LOOK) -> Look:
    return Look(**json.loads(root.evaluate(script)))


def state(root: Locator) -> dict:
    return json.loads(look(root).state)


def shown(root: Locator) -> dict[str, tuple[str, int]]:
    """Every number on the page: its path, its text and the digits after its point."""
    return {path: (text, digits) for path, text, digits in look(root).shown}


def differing(case: Case, root: Locator | Look) -> list[str]:
    """The numbers on the page that are not those of Python, as sentences."""
    now = root if isinstance(root, Look) else look(root)
    with unenforced():  # in random states they are enforced, above
        ours = twin(case, json.loads(now.state))
        return disagreeing(now, {**ours.state(), **ours.numbers()})


def disagreeing(root: Locator | Look, theirs: dict) -> list[str]:
    """The numbers on the page that are not among these, as sentences."""
    numbers = leaves(theirs)
    now = root if isinstance(root, Look) else look(root)
    wrong = []
    for path, text, digits in now.shown:
        value = numbers.get(path, f"nothing called {path}")
        if isinstance(value, str):
            right = text == value
        elif math.isnan(value):
            right = text == "—"
        else:
            # Half a unit of the last digit, and a little for what lies on the border.
            right = abs(float(text.replace("−", "-")) - value) <= 0.5001 * 10**-digits
        if not right:
            wrong.append(f"{path} shows {text}, Python has {value}")
    return wrong


def names_and_places(root: Locator) -> list[tuple[str, int]]:
    """What can be used, but the button that leads back: accessible name, place among all."""
    found = root.locator(CONTROLS).evaluate_all(
        """all => all.map((e, i) => [e, i])
            .filter(([e]) => !e.disabled && !e.classList.contains("reset"))
            .map(([e, i]) => [
                e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent, i])"""
    )
    names = [name for name, _ in found]
    assert all(name.strip() for name in names), "a control has no name"
    assert len(set(names)) == len(names), "two controls have the same name"
    return found


def names_of_controls(root: Locator) -> list[str]:
    return [name for name, _ in names_and_places(root)]


def control(root: Locator, number: int) -> Locator:
    return root.locator(f":is({CONTROLS}):not(.reset, :disabled)").nth(number)


# A place within the element at which the pointer meets it, and nothing that lies above.
GRIP = """(element => {
    const box = element.getBoundingClientRect();
    for (const across of [0.5, 0.35, 0.65, 0.2, 0.8, 0.1, 0.9])
        for (const down of [0.5, 0.35, 0.65, 0.2, 0.8, 0.1, 0.9]) {
            const [x, y] = [box.left + across * box.width, box.top + down * box.height];
            if (element.contains(document.elementFromPoint(x, y))) return [x, y];
        }
    return null;
})"""
KIND = "(e => e.getAttribute('role') ?? e.type ?? e.tagName.toLowerCase())"
FOCUS = f"""(root, place) => {{
    const e = root.querySelectorAll("{CONTROLS}")[place];
    e.focus();
    return [{KIND}(e), e === document.activeElement];
}}"""
TAKE_HOLD = f"""(root, place) => {{
    const e = root.querySelectorAll("{CONTROLS}")[place];
    e.scrollIntoView({{block: "center", inline: "nearest", behavior: "instant"}});
    const {{left, width}} = e.getBoundingClientRect();
    const other = [...e.options ?? []].find(option => option.value !== e.value);
    return [{KIND}(e), {GRIP}(e), left, width, e.value / e.max, other?.value];
}}"""


KEYS = {"checkbox": ["Space"], "button": ["Enter"], "select-one": ["ArrowDown", "ArrowUp"]}


def by_keyboard(page: Page, root: ElementHandle, place: int, first: Look) -> tuple[str, Look]:
    """The key that changes a control; the other way where it stands at its end.

    Returns what kind of control it is, and what the explorer then says.
    """
    kind, focused = root.evaluate(FOCUS, place)
    assert focused, "cannot be focused"
    for key in KEYS.get(kind, ["ArrowRight", "ArrowLeft"]):
        page.keyboard.press(key)
        now = look(root)
        if kind == "button" or now.controls[place] != first.controls[place]:
            break
    return kind, now


def by_pointer(
    page: Page, root: ElementHandle, place: int, way: tuple[int, int]
) -> tuple[str, Look]:
    """A click at a control, or a drag. What kind it is, and what the explorer then says."""
    kind, grip, left, width, share, other = root.evaluate(TAKE_HOLD, place)
    assert grip, "lies wholly under something else"
    if kind == "select-one":  # its list is drawn by the system, outside the page
        root.query_selector_all(CONTROLS)[place].select_option(other)
    elif kind == "range":
        page.mouse.click(left + (0.25 if share > 0.5 else 0.85) * width, grip[1])
    elif kind == "slider":
        page.mouse.move(*grip)
        page.mouse.down()
        page.mouse.move(grip[0] + way[0] / 2, grip[1] + way[1] / 2)
        page.mouse.move(grip[0] + way[0], grip[1] + way[1])
        page.mouse.up()
    else:
        page.mouse.click(*grip)
    return kind, look(root)


def drive(case: Case, page: Page, root: Locator, way: str, only: str | None = None) -> list[str]:
    """Use every control (or one) in one way, each from the start; what is wrong, as sentences."""
    problems = []
    controls = names_and_places(root)
    root = root.element_handle()  # a locator looks for it anew at each question
    first = look(root)
    for name, place in controls:
        if only not in (None, name):
            continue
        if way == "keyboard":
            kind, now = by_keyboard(page, root, place, first)
        else:
            kind, now = by_pointer(page, root, place, case.drag.get(name, (23, -17)))
        if kind != "button" and now.controls[place] == first.controls[place]:
            problems.append(f"{name} does not move by {way}")
        if name not in case.silent:
            if now.state == first.state:
                problems.append(f"{name} changes nothing by {way}")
            if now.shown == first.shown:
                problems.append(f"{name} changes no number by {way}")
        problems += [f"after {name} by {way}: {each}" for each in differing(case, now)]
        if look(root, RESET_AND_LOOK) != first:
            problems.append(f"Reset after {name} by {way} does not lead back")
    return problems


def misfits(seen, root: Locator, scheme: str) -> list[str]:
    """What is wrong with how an explorer stands on its page, wide and narrow, as sentences.

    Of colours axe-core is asked elsewhere, with all that stands on the page; here of sizes on the
    wide page, and of everything on the narrow one, in the light.
    """
    page, problems = seen.page, []
    paper, ink = root.evaluate(
        "e => { const s = getComputedStyle(e); return [s.backgroundColor, s.color]; }"
    )
    if (sum(map(int, re.findall(r"\d+", paper)[:3])) < 200) != (scheme == "dark"):
        problems.append(f"stands {ink} on {paper} when the page is {scheme}")
    around = root.evaluate("e => getComputedStyle(e.closest('.explorer-place')).backgroundColor")
    if around != "rgba(0, 0, 0, 0)":
        problems.append(f"has a frame of {around} when the page is {scheme}")
    if scheme == "light":
        problems += violations(page, ".explorer", OF_SIZES)
    page.set_viewport_size({"width": NARROW, "height": 800})
    if width_of(page) > NARROW:
        problems.append(f"scrolls sideways, {width_of(page)} px at {NARROW}")
    cut = root.locator("svg, .controls, p:not(.status)").evaluate_all(
        "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"
    )
    if cut:
        problems.append(f"{cut} parts are cut off at {NARROW} px")
    if scheme == "light":
        problems += [f"narrow: {each}" for each in violations(page, ".explorer")]
    return problems


@EACH
def test_every_control_changes_numbers_to_those_of_python(
    case: Case, site: Path, serve, visit
) -> None:
    """From a server, in the light: how it stands, and every control by keyboard and by pointer."""
    seen, root = opened(case, visit, serve(site))
    page = seen.page
    first = look(root)
    problems = differing(case, first)  # at the start
    assert json.loads(first.state) == json.loads(json.dumps(saved(case)["start"]))
    name, key, path, text = case.example
    assert shown(root)[path][0] != text, "the example shows its result before it begins"
    target = control(root, names_of_controls(root).index(name))
    target.focus()
    page.keyboard.press(key)
    if shown(root)[path][0] != text:
        problems.append(f"{key} on {name}: {path} shows {shown(root)[path][0]}, not {text}")
    said = root.locator("[role=status]")
    said.filter(has_text=re.compile(r"\w")).wait_for(state="attached")
    root.locator("button.reset").click()  # once by hand
    if look(root) != first:
        problems.append("a click at Reset does not lead back")
    problems += drive(case, page, root, "keyboard") + drive(case, page, root, "pointer")
    for grid in root.locator(".cells").all():  # one Tab stop, and arrows within
        assert grid.locator("button[tabindex='0']").count() == 1
        grid.locator("button").first.focus()  # the stop is where the reader was last
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        there = "g => [...g.querySelectorAll('button')].indexOf(document.activeElement)"
        across = grid.locator("tbody tr").first.locator("button").count()
        assert grid.evaluate(there) == across + 1
    problems += misfits(seen, root, "light") + seen.problems
    assert not problems, "\n" + "\n".join(problems)


@EACH
def test_explorers_work_from_a_folder_in_the_dark(case: Case, site: Path, visit) -> None:
    """The same module, loaded in another way: all numbers, two of the controls."""
    seen, root = opened(case, visit, site.as_uri(), scheme="dark")
    problems = differing(case, look(root))
    names = [name for name in names_of_controls(root) if name not in case.silent]
    problems += drive(case, seen.page, root, "keyboard", only=names[0])
    problems += drive(case, seen.page, root, "pointer", only=names[-1])
    problems += misfits(seen, root, "dark") + seen.problems
    assert not problems, "\n" + "\n".join(problems)


def test_the_place_of_a_widget_says_what_will_come(scratch: Path, visit) -> None:
    page = visit((scratch / "chapters/07_scratch.html").as_uri()).page
    place = page.locator(".explorer-place")
    place.scroll_into_view_if_needed()
    place.locator(".explorer").wait_for()
    said = "e => getComputedStyle(e, '::before').content"
    assert place.evaluate(said) == "none"
    place.locator(":scope > div").evaluate("e => e.remove()")  # as before it came
    assert "It needs JavaScript" in place.evaluate(said)
