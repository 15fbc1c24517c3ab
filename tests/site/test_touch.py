"""Every handle of every explorer, dragged by a finger: it follows, and the page stays where it is.

A mouse does not show what is asked here. A browser that takes a finger's way for scrolling tells
the page so (`pointercancel`) and moves it; it does so wherever `touch-action` is not heeded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, CDPSession, ElementHandle, Page

from tests.site.accessibility import NARROW
from tests.site.html_pages import read_pages
from tests.site.test_pages_served import COME_NEAR, DRAWN
from tests.site.test_widgets import GRIP
from tests.system import PATIENCE
from transformer_book import widgets

HANDLES = "[role=slider]:not(input)"
STEPS = 8
# Of the article, outputs alone, and so much room that the page can scroll in both directions.
ROOM = """document.addEventListener("readystatechange", () => {
    const kept = ".cell_output, [data-explorer], .explorer-place";
    for (const part of document.querySelectorAll("article section > *, article p, article pre"))
        if (!part.matches("section, h1") && !part.closest(kept) && !part.querySelector(kept)) part.remove();
    document.querySelector("article").style.paddingBlock = "150vh";
}, {once: true})"""
# Where a finger meets the handle, and where it goes: to the middle of the drawing, and a good way down
# or up, as one does who scrolls. From now on it is noted what the page is told of it.
TAKE = f"""handle => {{
    handle.scrollIntoView({{block: "center", behavior: "instant"}});
    const drawing = (handle.closest("svg") ?? handle.parentElement).getBoundingClientRect();
    const grip = ({GRIP})(handle);
    if (!grip) return null;
    const [x, y] = grip;
    const across = x < drawing.left + drawing.width / 2 ? 30 : -30;
    const down = y < drawing.top + drawing.height / 2 ? 90 : -90;
    window.told = {{pointermove: 0, pointercancel: 0, scroll: 0}};
    return [x, y, across, down];
}}"""
LISTEN = """() => {
    for (const kind of ["pointermove", "pointercancel", "scroll"])
        addEventListener(kind, () => window.told && (window.told[kind] += 1), true);
}"""
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
STATE = "handle => handle.closest('[data-explorer]')?.dataset.state ?? handle.getAttribute('aria-valuenow')"


@pytest.fixture
def phone(reading_browser: Browser) -> Iterator[Page]:
    context = reading_browser.new_context(
        viewport={"width": NARROW, "height": 700},
        has_touch=True,
        is_mobile=True,
        reduced_motion="reduce",
    )
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    page.add_init_script(ROOM)
    yield page
    context.close()


def pages_with_explorers(site: Path) -> list[str]:
    """By what the built pages hold, so that a new explorer is found by itself."""
    marks = ("explorer-place", "data-explorer")
    return [
        path.relative_to(site).as_posix()
        for path in read_pages(site)
        if any(mark in path.read_text(encoding="utf-8") for mark in marks)
    ]


def drag(page: Page, finger: CDPSession, handle: ElementHandle) -> list[str]:
    """What goes wrong when a finger moves a handle, as sentences."""
    first = handle.evaluate(STATE)
    page.evaluate("() => delete window.told")
    way = handle.evaluate(TAKE)
    if way is None:
        return ["lies wholly under something else"]
    page.evaluate(TWO_FRAMES)  # until the scrolling that brought it here has been told
    page.evaluate("() => Object.assign(told, {pointermove: 0, scroll: 0})")
    x, y, across, down = way

    def touch(kind: str, *points: dict) -> None:
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})

    touch("touchStart", {"x": x, "y": y})
    for i in range(1, STEPS + 1):
        touch("touchMove", {"x": x + across * i / STEPS, "y": y + down * i / STEPS})
    touch("touchEnd")
    page.evaluate(TWO_FRAMES)
    told = page.evaluate("told")
    problems = []
    if told["pointermove"] < STEPS - 1:
        problems.append(f"is told of {told['pointermove']} of {STEPS} moves")
    if told["pointercancel"]:
        problems.append("is cut off by pointercancel")
    if told["scroll"]:
        problems.append("scrolls the page")
    if handle.evaluate(STATE) == first:
        problems.append("does not move")
    return problems


def test_every_handle_follows_a_finger(site: Path, serve, phone: Page) -> None:
    finger = phone.context.new_cdp_session(phone)
    problems, found, n_handles = [], set(), 0
    for name in pages_with_explorers(site):
        phone.goto(f"{serve(site)}/{name}")
        phone.wait_for_function(DRAWN)
        assert phone.evaluate(COME_NEAR) == "", name
        phone.evaluate(LISTEN)
        found |= set(
            phone.locator("[data-explorer]").evaluate_all("all => all.map(e => e.dataset.explorer)")
        )
        for handle in phone.locator(HANDLES).element_handles():
            n_handles += 1
            said = json.dumps(handle.get_attribute("aria-label"))
            problems += [f"{name}: {said} {each}" for each in drag(phone, finger, handle)]
    assert not problems, "\n" + "\n".join(problems)
    classes = (getattr(widgets, each) for each in widgets.__all__)
    explorers = {c.__name__ for c in classes if issubclass(c, widgets.Explorer)} - {"Explorer"}
    assert found >= explorers and n_handles > 10
