"""What axe-core finds on a page, and whether the page fits: each part of a page is checked once.

axe-core takes seconds for a chapter, whatever it is asked about, so it reads a whole page once, and
when the width changes only what surrounds the article, which changes too. Of the words of code,
which are most of a chapter, one of each kind keeps its markup: the others share its colours and
have nothing else to check. The drawings on buttons are treated alike. Colours come from one set of
styles: of the elements of one kind, on whatever pages, one is checked in each scheme; and since
axe-core computes them for all elements at once, it sees a page of which only these and what is
around them is left.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from common import ROOT
from playwright.sync_api import Page, TimeoutError

AXE = ROOT / "tests" / "site" / "vendor" / "axe.min.js"
NARROW = 360
OF_COLOURS = ["color-contrast", "link-in-text-block"]
OF_SIZES = ["scrollable-region-focusable", "target-size"]
# A word's class, what it stands in, and whether that is an input, an output or text. All words of a
# line are replaced at once: scripts of the theme look at every change.
ONE_WORD_OF_EACH = """() => {
    const seen = new Set();
    for (const code of document.querySelectorAll(".highlight pre")) {
        const around = code.closest("[class*=cell], .output")?.className;
        for (const line of [code, ...code.querySelectorAll("span")]) {
            const thinner = [...line.childNodes].map(word => {
                if (word.nodeType !== Node.ELEMENT_NODE || word.firstElementChild) return word;
                if (word.localName !== "span" || word.getAttributeNames().join() !== "class") return word;
                const kind = [word.className, line.className, around].join("|");
                return seen.has(kind) || !seen.add(kind) ? word.textContent : word;
            });
            if (thinner.every((part, i) => part === line.childNodes[i])) continue;
            line.replaceChildren(...thinner);
            line.normalize();
        }
    }
}"""
# Before the page's own scripts run: a page of fewer elements is laid out sooner.
THIN = f'document.addEventListener("readystatechange", {ONE_WORD_OF_EACH}, {{once: true}})'
# The lines of an icon have nothing to check; its title names the button that it stands on.
ONE_ICON_OF_EACH = """() => {
    const seen = new Set();
    for (const icon of document.querySelectorAll("button > svg")) {
        const kind = icon.parentElement.className;
        if (!seen.has(kind)) seen.add(kind);
        else icon.replaceChildren(...icon.querySelectorAll(":scope > title"));
    }
}"""

# One element with words of each kind not yet known. A kind is a tag and classes, and what colours
# depend on, of the element and of each around it that differs from the one around that; it is known
# by a number of 53 bits, since pages are told of all kinds that others have shown.
OF_NEW_KINDS = """([known, name]) => {
    const kinds = new Set(known), here = new Set(), found = [];
    const number = text => {
        let [a, b] = [0xdeadbeef, 0x41c6ce57];
        for (let i = 0; i < text.length; i++) {
            a = Math.imul(a ^ text.charCodeAt(i), 2654435761);
            b = Math.imul(b ^ text.charCodeAt(i), 1597334677);
        }
        a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
        b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
        return 4294967296 * (2097151 & b) + (a >>> 0);
    };
    const one = e => {
        const s = getComputedStyle(e), size = parseFloat(s.fontSize), bold = s.fontWeight >= 700;
        return [s.color, s.backgroundColor, s.backgroundImage, s.opacity, s.position, s.textShadow,
            s.filter, s.mixBlendMode, s.textDecorationLine, s.borderBottomStyle, s.fontStyle,
            s.fontWeight, size === 0, size >= (bold ? 18.66 : 24), e.matches(":disabled"),
            e.getAttribute("aria-disabled"), e.matches("a[href]")].join("|");
    };
    const last = new Map(), of = new Map([[null, ""]]);
    const colours = e => {
        if (!of.has(e)) {
            const around = colours(e.parentElement);
            last.set(e, one(e));
            const same = last.get(e) === last.get(e.parentElement);
            of.set(e, same ? around : around + ">" + last.get(e));
        }
        return of.get(e);
    };
    for (const e of document.body.querySelectorAll("*")) {
        const says = [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim());
        if (!says && !e.matches("input, select, textarea, button, a")) continue;
        if (!e.checkVisibility()) continue;
        const kind = [e.tagName, e.getAttribute("class"), colours(e)].join("|");
        if (here.has(kind)) continue;
        here.add(kind);
        if (kinds.has(number(kind))) continue;
        kinds.add(number(kind));
        found.push(e);
    }
    (window.ofNewKinds ??= {})[name] = found;
    return [...kinds].slice(known.length);
}"""

# Of the parts of an article, what is in those that hold none of these. The parts stay, since what
# is beside an element may choose its colours.
EMPTY_THE_OTHERS = """() => {
    const kept = new Set();
    for (let e of Object.values(window.ofNewKinds).flat())
        for (; e && !kept.has(e); e = e.parentElement) kept.add(e);
    if (![...kept].every(e => e.isConnected)) return false; // it draws itself anew for another look
    const empty = place => {
        for (const part of place.children)
            if (part.matches("section, .further-body")) empty(part);
            else if (!kept.has(part) && !part.matches("h1")) part.replaceChildren();
    };
    document.querySelectorAll(".bd-article").forEach(empty);
    return true;
}"""


def page_names(site: Path) -> list[str]:
    """Every page but the one that only forwards to the landing page."""
    pages = [path.relative_to(site) for path in sorted(site.rglob("*.html"))]
    return [
        path.as_posix()
        for path in pages
        if "_static" not in path.parts and path.as_posix() != "index.html"
    ]


def cut_options(page: Page) -> list[str]:
    """Options whose words are longer than the select that is in sight and offers them."""
    return page.evaluate("""() => [...document.querySelectorAll("select")].flatMap(select => {
        const arrow = 16;
        const style = getComputedStyle(select);
        const pen = document.createElement("canvas").getContext("2d");
        pen.font = style.font;
        const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
        return [...select.options].map(each => each.text)
            .filter(text => room > 0 && pen.measureText(text).width > room - arrow);
    })""")


def width_of(page: Page) -> int:
    return page.evaluate("document.scrollingElement.scrollWidth")


def violations(
    page: Page,
    where: str = "html",
    rules: list[str] | None = None,
    *,
    without: Sequence[str] = (),
) -> list[str]:
    """What axe-core finds in these elements, one line for each kind.

    where: a selector, or the name of a list that `new_kinds` has found. rules: these alone;
    without: all but these. By itself axe-core would not look at sizes.
    """
    prepare(page)
    return found_by_axe(page, where, rules, without)


def found_by_axe(
    page: Page, where: str, rules: list[str] | None = None, without: Sequence[str] = ()
) -> list[str]:
    """As `violations`, on a page that is prepared."""
    run = "([where, options]) => axe.run(window.ofNewKinds?.[where] ?? where, options)"
    options: dict[str, Any] = {"resultTypes": ["violations"], "preload": False}
    if rules:
        options["runOnly"] = {"type": "rule", "values": rules}
    else:
        enabled = dict.fromkeys(OF_SIZES, True) | dict.fromkeys(without, False)
        options["rules"] = {rule: {"enabled": on} for rule, on in enabled.items()}
    found = page.evaluate(run, [where, options])["violations"]
    return [
        f"axe {each['id']} ({each['impact']}): {each['nodes'][0]['html'][:120]}"
        + f" and {len(each['nodes']) - 1} more" * (len(each["nodes"]) > 1)
        for each in found
    ]


@cache
def axe() -> str:
    """axe-core, as text: a page that begins with it is spared an element, which scripts look at."""
    return AXE.read_text(encoding="utf-8")


def prepare(page: Page) -> None:
    """Bring axe-core onto the page, once, if it has not begun with it; and thin the page."""
    if page.evaluate("window.isThin"):
        return
    if not page.evaluate("'axe' in window"):
        page.evaluate("text => { (0, eval)(text); }", axe())
    steps = (ONE_WORD_OF_EACH, ONE_ICON_OF_EACH)
    thin = " ".join(f"({step})();" for step in steps)
    page.evaluate(f"() => {{ {thin} window.isThin = true; }}")


def new_kinds(page: Page, known: list[int], name: str) -> bool:
    """Note, on a page that is prepared, elements of kinds that are not known; now they are.

    name: of the list in which they are noted. Says whether there are any.
    """
    new = page.evaluate(OF_NEW_KINDS, [known, name])
    known += new
    return bool(new)


def violations_of_colour(page: Page, known: list[int]) -> list[str]:
    """What axe-core finds in the colours of kinds that are not known; they are from now on."""
    prepare(page)
    return found_by_axe(page, "new", OF_COLOURS) if new_kinds(page, known, "new") else []


Look = tuple[int, str]  # how wide a page is, and its colour scheme


def violations_of_page(page: Page, known: Mapping[str, list[int]], wide: int) -> dict[Look, list]:
    """What axe-core finds on a page that is wide and light: narrow and wide, in light and dark.

    In colours, of kinds that are not known in a scheme. What scrolls sideways is named, too. Each
    step is a change of one thing, since each is laid out anew; ask this last.
    """
    looks = [(wide, "light"), (wide, "dark"), (NARROW, "dark"), (NARROW, "light")]
    found: dict[Look, list] = {look: [] for look in looks}
    new, before = {}, {scheme: list(kinds) for scheme, kinds in known.items()}
    prepare(page)
    for look in looks:
        show(page, *look)
        new[look] = new_kinds(page, known[look[1]], name_of(look))
    until_scrollable(page)
    if (width := width_of(page)) > NARROW:
        found[NARROW, "light"].append(f"scrolls sideways, {width} px")
    found[NARROW, "light"] += found_by_axe(page, "html", without=OF_COLOURS)
    as_noted = page.evaluate(EMPTY_THE_OTHERS)
    for look in reversed(looks):
        if new[look]:
            show(page, *look)
            if not as_noted:
                new_kinds(page, list(before[look[1]]), name_of(look))
            found[look] += found_by_axe(page, name_of(look), OF_COLOURS)
    show(page, wide, "light")
    found[wide, "light"] += violations_around(page)
    return found


def name_of(look: Look) -> str:
    return f"{look[1]}, {look[0]} px"


def violations_around(page: Page) -> list[str]:
    """What axe-core finds outside the article, of which only the title is left: ask this last.

    Of colours it is not asked.
    """
    page.evaluate(
        """() => {
            const article = document.querySelector(".bd-article");
            article?.replaceChildren(...article.querySelectorAll("h1"));
        }"""
    )
    return violations(page, without=OF_COLOURS)


def show(page: Page, width: int, scheme: str) -> None:
    """A page in a window of this width, when it has seen it, and in this scheme.

    As a reader sees it whose window, or whose system, changes while it is open.
    """
    size = {"width": width, "height": 800 if width == NARROW else 900}
    if is_resized := page.viewport_size != size:
        page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    page.evaluate(SHOWN, [width, scheme, is_resized])


# The explorers measure themselves in the frame after. No colour is half way between two; a width may
# choose colours, too.
SHOWN = """async ([width, scheme, isResized]) => {
    const frame = () => new Promise(requestAnimationFrame);
    while (innerWidth !== width || document.documentElement.dataset.theme !== scheme) await frame();
    for (let i = 0; isResized && i < 2; i++) await frame();
    for (const each of document.getAnimations()) if (each instanceof CSSTransition) each.finish();
}"""


def resize(page: Page, width: int, height: int) -> None:
    """A window of another size, when the page has seen it."""
    page.set_viewport_size({"width": width, "height": height})
    until_scrollable(page)


def until_scrollable(page: Page) -> None:
    """Wait until what scrolls can be reached by keyboard.

    The theme makes it so 300 ms after the last resize, the explorers their tables in the next
    frame, and both later on a busy machine; what is never made reachable is left for axe-core to
    tell.
    """
    follows = """() => [...document.querySelectorAll(".bd-article [tabindex='-1']")].every(
        e => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight)
        && [...document.querySelectorAll(".explorer .numbers")].every(
        e => e.scrollWidth <= e.clientWidth || e.tabIndex === 0)"""
    with contextlib.suppress(TimeoutError):
        page.wait_for_function(follows)
