"""What axe-core finds on a page, and whether the page fits: each part of a page is checked once.

axe-core takes seconds for a chapter, whatever it is asked about, so it reads a whole page once, and
when the width changes only what surrounds the article, which changes too. Of the words of code,
which are most of a chapter, one of each kind keeps its markup: the others share its colours and
have nothing else to check. Inline formulas, half of all elements, are treated alike: the others
leave a gap of their size. Colours come from one set of styles: of the elements of one kind, on
whatever pages, one is checked in each scheme.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
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
ONE_FORMULA_OF_EACH = """() => {
    const seen = new Set();
    const repeated = [...document.querySelectorAll("mjx-container:not([display])")].filter(formula => {
        const around = formula.closest("[class*=admonition], [class*=output], summary, td, th, figcaption");
        const kind = [formula.getAttributeNames(), formula.parentElement.tagName,
            formula.parentElement.className, around?.tagName, around?.className].join("|");
        return seen.has(kind) || !seen.add(kind);
    });
    const sizes = repeated.map(formula => formula.getBoundingClientRect());
    repeated.forEach((formula, i) => {
        const place = document.createElement("span");
        place.style.cssText = `display: inline-block; width: ${sizes[i].width}px; height: ${sizes[i].height}px`;
        formula.replaceChildren(place);
    });
}"""

# One element with words of each kind not yet known. A kind is a tag and classes, and what colours
# depend on, of the element and of each around it that differs from the one around that.
OF_NEW_KINDS = """known => {
    const kinds = new Set(known), found = [];
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
        if (kinds.has(kind)) continue;
        kinds.add(kind);
        found.push(e);
    }
    window.ofNewKinds = found;
    return [...kinds].slice(known.length);
}"""


# The rules of colours look at these alone, until axe-core is reset.
ONLY_NEW_KINDS = """() => {
    for (const e of window.ofNewKinds) e.setAttribute("data-new-kind", "");
    axe.configure({rules: [{id: "color-contrast", selector: "[data-new-kind]"},
        {id: "link-in-text-block", selector: "a[href][data-new-kind]"}]});
}"""


def page_names(site: Path) -> list[str]:
    """Every page but the one that only forwards to the landing page."""
    pages = [path.relative_to(site) for path in sorted(site.rglob("*.html"))]
    return [
        path.as_posix()
        for path in pages
        if "_static" not in path.parts and path.as_posix() != "index.html"
    ]


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

    rules: these alone; without: all but these. By itself axe-core would not look at sizes.
    """
    prepare(page)
    run = "([where, options]) => axe.run(window[where] ?? where, options)"
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


def prepare(page: Page) -> None:
    """Bring axe-core onto the page, once."""
    if not page.evaluate("'axe' in window"):
        page.add_script_tag(path=str(AXE))
        page.evaluate(ONE_WORD_OF_EACH)
        page.evaluate(ONE_FORMULA_OF_EACH)


def violations_of_colour(page: Page, known: list[str]) -> list[str]:
    """What axe-core finds in the colours of kinds that are not known; they are from now on."""
    prepare(page)
    new = page.evaluate(OF_NEW_KINDS, known)
    known += new
    return violations(page, "ofNewKinds", OF_COLOURS) if new else []


def violations_with_colour(page: Page, known: list[str]) -> list[str]:
    """What axe-core finds on a page; in colours, of kinds that are not known. Read once for both."""
    prepare(page)
    known += page.evaluate(OF_NEW_KINDS, known)
    page.evaluate(ONLY_NEW_KINDS)
    found = violations(page)
    page.evaluate("axe.reset()")
    return found


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


def in_scheme(page: Page, scheme: str) -> None:
    """The page as a reader sees it whose system turns dark, or light, while it is open."""
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function(f"document.documentElement.dataset.theme === '{scheme}'")
    # No colour is half way between two.
    page.evaluate(
        "document.getAnimations().forEach(each => each instanceof CSSTransition && each.finish())"
    )


def resize(page: Page, width: int, height: int) -> None:
    """A window of another size, when the page has seen it.

    The theme makes what scrolls reachable by keyboard 300 ms after the last resize, the explorers
    their tables in the next frame, and both later on a busy machine; what is never made reachable
    is left for axe-core to tell.
    """
    page.set_viewport_size({"width": width, "height": height})
    follows = """() => [...document.querySelectorAll(".bd-article [tabindex='-1']")].every(
        e => e.scrollWidth <= e.clientWidth && e.scrollHeight <= e.clientHeight)
        && [...document.querySelectorAll(".explorer .numbers")].every(
        e => e.scrollWidth <= e.clientWidth || e.tabIndex === 0)"""
    with contextlib.suppress(TimeoutError):
        page.wait_for_function(follows)
