"""Each button of the theme, pressed with a pointer, a finger and a key: what it promises happens.

A page may hold a button twice, once where it is hidden; a script that wakes the first of its kind
then leaves the one that is seen dead. So each button that is seen is pressed, and its effect asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.site.html_pages import read_pages
from tests.system import PATIENCE

WIDTHS = (360, 600, 820, 975, 1000, 1200, 1440)
FINGER = 960  # below this width a finger presses, and not a pointer
CHAPTER = "chapters/01_sequence_to_sequence.html"

# The middle of an element is in the window, and nothing lies over it.
SEEN = """e => {
    const {left, top, width, height} = e.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    return width > 0 && x >= 0 && x <= innerWidth && y >= 0 && y <= innerHeight
        && e.checkVisibility({visibilityProperty: true, opacityProperty: true})
        && e.contains(document.elementFromPoint(x, y));
}"""
# Whether one of these elements is seen, or none.
SOME_SEEN = f"([selector, seen]) => [...document.querySelectorAll(selector)].some({SEEN}) === seen"
# What the theme puts around the article.
AROUND = "button, summary, [role=button]"
# Of the article only its first headings: what surrounds it is asked about, and a short page is quick.
SHORT = """document.addEventListener("readystatechange", () => {
    for (const part of document.querySelectorAll("article section > *"))
        if (!part.matches("section, h1, h2")) part.remove();
    document.querySelector("article")?.append(Object.assign(document.createElement("p"),
        {style: "height: 300vh", textContent: "A long page."}));
}, {once: true})"""
COUNT_PRINTS = "window.prints = 0; window.print = () => (window.prints += 1)"


@pytest.fixture
def opened(reading_browser: Browser) -> Iterator[Callable[[str, int], Page]]:
    """A function: address, width -> the page, as a phone, a tablet or a laptop shows it."""
    contexts = []

    def at(address: str, width: int) -> Page:
        context = reading_browser.new_context(
            viewport={"width": width, "height": 800},
            has_touch=width < FINGER,
            is_mobile=width < FINGER,
            reduced_motion="reduce",
            color_scheme="light",
        )
        context.set_default_timeout(1000 * PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.add_init_script(f"{SHORT}\n{COUNT_PRINTS}")
        page.goto(address)
        page.wait_for_load_state("load")
        return page

    yield at
    for context in contexts:
        context.close()


def until(page: Page, selector: str, seen: bool = True) -> None:
    page.wait_for_function(SOME_SEEN, arg=[selector, seen])


# --- what each button does: a function of the page and of a way to press it ---------------------

Press = Callable[[], None]


def shows_the_chapters(page: Page, press: Press) -> None:
    """In a drawer over the page, or beside it; and back again."""
    chapters = "nav.bd-links a"
    before = page.evaluate(SOME_SEEN, [chapters, True])
    press()
    until(page, chapters, not before)
    if page.locator("#pst-primary-sidebar-modal[open]").count():
        page.keyboard.press("Escape")
    else:
        press()
    until(page, chapters, before)


def shows_the_contents(page: Page, press: Press) -> None:
    """And a link in them leads to its section, which is then in sight."""
    links = "#pst-page-toc-nav a"
    until(page, links, seen=False)
    press()
    until(page, links)
    link = page.locator(links).last
    section = link.get_attribute("href")
    link.click()
    until(page, f"section{section} > h2")
    page.evaluate("scrollTo(0, 0)")


def changes_the_colours(page: Page, press: Press) -> None:
    """Light, dark, and what the system says, one after the other."""
    look = "() => [document.documentElement.dataset.mode, getComputedStyle(document.body).backgroundColor]"
    looks = [page.evaluate(look)]
    for _ in range(3):
        press()
        looks.append(page.evaluate(look))
    assert {mode for mode, _ in looks} == {"auto", "light", "dark"}
    assert len({paper for _, paper in looks}) == 2
    assert looks[0] == looks[-1]


def opens_the_search(page: Page, press: Press) -> None:
    """Ready to type."""
    press()
    field = "#pst-search-dialog input[type=search]"
    until(page, field)
    assert page.locator(field).evaluate("e => e === document.activeElement")
    page.keyboard.press("Escape")
    until(page, field, seen=False)


def fills_the_screen(page: Page, press: Press) -> None:
    for filled in (True, False):
        press()
        page.wait_for_function(
            f"() => Boolean(document.fullscreenElement) === {str(filled).lower()}"
        )


def opens_a_menu(page: Page, press: Press) -> None:
    """All its entries are in sight; one of them prints."""
    press()
    entries = page.locator(".dropdown-menu.show .dropdown-item")
    entries.first.wait_for()
    for entry in entries.all():
        page.wait_for_function(SEEN, arg=entry.element_handle())
        if entry.get_attribute("onclick"):
            before = page.evaluate("prints")
            entry.click()
            assert page.evaluate("prints") == before + 1
    if page.locator(".dropdown-menu.show").count():
        page.keyboard.press("Escape")
    page.locator(".dropdown-menu.show").wait_for(state="hidden")


EFFECTS = {
    ".primary-toggle": shows_the_chapters,
    ".secondary-toggle": shows_the_contents,
    ".theme-switch-button": changes_the_colours,
    ".search-button__button": opens_the_search,
    ".btn-fullscreen-button": fills_the_screen,
    ".dropdown-toggle": opens_a_menu,
}
# What is in sight only while something is open, or when the page has been scrolled.
INSIDE = ".dropdown-item, dialog *, #pst-back-to-top"


@pytest.mark.parametrize("width", WIDTHS)
def test_every_button_around_the_text_does_what_it_promises(
    width: int, site: Path, serve, opened
) -> None:
    page = opened(f"{serve(site)}/{CHAPTER}", width)
    buttons = [
        button
        for button in page.locator(AROUND).all()
        if button.evaluate(f"e => !e.closest('article') && !e.matches('{INSIDE}')")
        and button.is_visible()
    ]
    found = set()
    for button in buttons:
        [kind] = [each for each in EFFECTS if button.evaluate(f"e => e.matches('{each}')")]
        found.add(kind)
        button.scroll_into_view_if_needed()
        assert button.evaluate(SEEN), f"{kind} lies under something"
        EFFECTS[kind](page, button.tap if width < FINGER else button.click)
        page.mouse.move(width / 2, 700)  # a menu stays open under the pointer
    # Where the contents stand beside the text, there is no button for them.
    assert found == EFFECTS.keys() - ({".secondary-toggle"} if width >= 1200 else set())


def test_no_page_hides_the_buttons_that_the_theme_wakes(site: Path) -> None:
    """The theme's scripts take the first of a kind, on every page."""
    for path in read_pages(site):
        text = path.read_text(encoding="utf-8")
        for kind in ("primary-toggle", "secondary-toggle"):
            assert text.count(f'class="sidebar-toggle {kind} ') <= 1, path.name
        assert "pst-navbar-icon sidebar-toggle" not in text, path.name


# --- by keyboard ---------------------------------------------------------------------------------

# How an element, what is in it and what is around it look: a focus may be drawn on any of them.
LOOK = """e => {
    const look = (element, part) => {
        const s = getComputedStyle(element, part);
        const outline = s.outlineStyle === "none" ? "" : s.outlineWidth + s.outlineColor;
        return [outline, s.boxShadow, s.borderColor, s.borderWidth, s.backgroundColor].join();
    };
    const all = [e, ...e.querySelectorAll("*")];
    for (let each = e.parentElement, i = 0; each && i < 3; each = each.parentElement, i += 1) all.push(each);
    return all.map(each => look(each) + look(each, "::before") + look(each, "::after")).join(";");
}"""
# The element that has the focus: its name if it looks as it does without, else nothing.
UNMARKED = f"""() => {{
    const e = document.activeElement;
    if (e === document.body) return "the end";
    const look = {LOOK};
    const focused = look(e);
    e.blur();
    const plain = look(e);
    e.focus({{focusVisible: true}});
    return focused === plain ? e.className + " " + (e.getAttribute("aria-label") ?? e.textContent).trim() : "";
}}"""


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1440, "dark")])
def test_whatever_has_the_focus_shows_it(
    width: int, scheme: str, site: Path, serve, opened
) -> None:
    page = opened(f"{serve(site)}/{CHAPTER}", width)
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    unmarked, n_stops = [], 0
    for _ in range(200):
        page.keyboard.press("Tab")
        said = page.evaluate(UNMARKED)
        if said == "the end":
            break
        n_stops += 1
        unmarked += [said] if said else []
    assert n_stops > 10
    for menu in page.locator(".dropdown-toggle").all():
        menu.press("Enter")
        for entry in menu.locator("xpath=..").locator(".dropdown-item").all():
            page.keyboard.press("ArrowDown")
            assert entry.evaluate("e => e === document.activeElement")
            unmarked += [said] if (said := page.evaluate(UNMARKED)) else []
        page.keyboard.press("Escape")
    assert unmarked == []


@pytest.mark.parametrize("width", [360, 1440])
def test_a_button_pressed_by_keyboard_keeps_the_focus(
    width: int, site: Path, serve, opened
) -> None:
    """Also when what it has opened is closed again."""
    page = opened(f"{serve(site)}/{CHAPTER}", width)
    for kind in EFFECTS:
        for button in page.locator(f"{kind}:visible:not({INSIDE})").all():
            button.press("Enter")
            if page.locator("dialog[open]").count():
                assert page.evaluate(
                    "document.querySelector('dialog[open]').contains(document.activeElement)"
                )
                page.keyboard.press("Escape")
            if kind == ".dropdown-toggle":
                page.keyboard.press("Escape")
            page.wait_for_function("e => e === document.activeElement", arg=button.element_handle())
