"""Stills of the explorers: each as its page shows it when it opens, without what only moves it.

For a PDF a still is what Chromium has drawn, text and curves. An electronic book gets a picture of
the same, since few readers draw what a browser draws.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from common import ALONE, ROOT, served
from lxml import html
from lxml.html import HtmlElement
from paper_pages import explorer_places
from playwright.sync_api import sync_playwright

WIDTH = 900  # pixels: the panels stand side by side
PATIENCE = 300_000  # milliseconds: a busy machine is slow, not wrong
ALL = 'try { localStorage.setItem("transformer-book-further", "all") } catch {}'
READY = """n => {
    document.querySelectorAll("article details").forEach(details => details.open = true);
    const all = [...document.querySelectorAll(".explorer:not(.sentence, .talk, .explorer *)")];
    const shown = all.filter(each => each.querySelector("svg, table"));
    const places = [...document.querySelectorAll(".explorer-place")];
    places.find(each => !each.querySelector("svg, table"))?.scrollIntoView({block: "center"});
    all.forEach((each, i) => each.dataset.still = i);
    return shown.length === n;
}"""
# What a reader of paper cannot use; every control says its value, so that none is lost.
CLONES = """() => [...document.querySelectorAll("[data-still]")].map(explorer => {
    const still = explorer.cloneNode(true);
    for (const each of still.querySelectorAll(
        ".hint, .controls, .status, .sentence, [hidden], script")) each.remove();
    return still.outerHTML;
})"""
ALONE_PAGE = """<!DOCTYPE html><html data-theme="light"><head><meta charset="utf-8">
<style>{styles} body {{ background: white }}</style></head><body>{body}</body></html>"""
WIDGETS = ROOT / "code" / "transformer_book" / "widgets"


@dataclass
class Still:
    """An explorer as markup and as a picture (PNG)."""

    name: str  # what it calls itself: "Head explorer"
    markup: HtmlElement
    picture: bytes


def take_stills(site: Path, names: Iterable[str], chromium: str) -> dict[str, list[Still]]:
    """The stills of each page of the website that has explorers, in their order."""
    wanted = {}
    for name in names:
        document = html.fromstring((site / f"{name}.html").read_bytes())
        if n := len(explorer_places(document)):
            wanted[name] = n
    taken: dict[str, list[Still]] = {}
    with sync_playwright() as playwright, served(site) as address:
        browser = playwright.chromium.launch(executable_path=chromium, args=ALONE)
        context = browser.new_context(
            viewport={"width": WIDTH, "height": 1000},
            device_scale_factor=1.5,
            color_scheme="light",
            reduced_motion="reduce",
        )
        context.set_default_timeout(PATIENCE)
        context.add_init_script(ALL)
        # A page is long, and to draw it all for each picture takes long.
        page, alone = context.new_page(), context.new_page()
        for name, n in wanted.items():
            page.goto(f"{address}{name}.html")
            page.wait_for_function(READY, arg=n, polling=200)
            markups = page.evaluate(CLONES)
            alone.set_content(ALONE_PAGE.format(styles=styles(), body="".join(markups)))
            taken[name] = []
            for markup, shown in zip(markups, alone.locator("body > *").all(), strict=True):
                named = shown.get_attribute("aria-label") or "explorer"
                element = html.fragment_fromstring(markup)
                taken[name].append(Still(named, element, shown.screenshot(scale="device")))
        browser.close()
    return taken


def styles() -> str:
    """The style of every explorer; each names what it styles."""
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(WIDGETS.glob("*.css")))
