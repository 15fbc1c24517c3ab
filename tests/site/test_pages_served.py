"""Every page of the website in a real browser, from a server: wide and narrow, light and dark.

A page is opened once for all that is asked of it. Of its article, axe-core is asked when it is
narrow, since nothing has more room then, and of what surrounds it also when it is wide. How wide
explorers arrange their controls, test_widgets asks.
"""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from common import ROOT, notebooks
from normalise_notebooks import WIDGET_STATE

from tests.site.accessibility import THIN, axe, name_of, page_names, violations_of_page

WIDE = 1280
HEAVIEST = 2_500_000  # bytes, gzipped, of a page with widgets


def pages_with_widgets() -> set[str]:
    with_widgets = [path for path in notebooks() if WIDGET_STATE in path.read_text("utf-8")]
    pages = [ROOT / "book" / "landing.md", *with_widgets]
    return {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in pages}


@cache
def size(file: Path) -> int:
    return len(gzip.compress(file.read_bytes()))


# Explorers, and the page on which one talks to a model, are drawn when all else is there.
DRAWN = """() => {
    const all = selector => [...document.querySelectorAll(selector)];
    return all("script[type$='widget-view+json']").length
        === all(".widget-subarea").filter(place => place.querySelector("[data-explorer]")).length
        && all(".talk-place").every(place => place.querySelector("button"));
}"""


# When a page has come, and a frame of it been drawn: in a used window, too, all code begins later.
MARK = "addEventListener('load', () => requestAnimationFrame(() => performance.mark('painted')))"


def weight(seen, site: Path) -> tuple[int, list[str]]:
    """What a page with widgets loads at first, in bytes; and what is wrong with the order."""
    if not seen.page.locator(".widget-subarea").count():
        return 0, ["shows no widgets"]
    paths = [parts.path for each in seen.requests if (parts := urlsplit(each)).scheme == "http"]
    files = {site / unquote(path).lstrip("/") for path in paths}
    if not any("embed-amd" in file.name for file in files):
        return 0, ["loads no widgets"]
    in_order = seen.page.evaluate(
        """() => {
            const painted = performance.getEntriesByName("painted")[0]?.startTime ?? Infinity;
            const code = performance.getEntriesByType("resource")
                .filter(e => /require\\.js|html-manager|anywidget/.test(e.name));
            return code.length > 1 && code.every(e => e.startTime >= painted);
        }"""
    )
    return sum(map(size, files)), [] if in_order else ["loads widgets before it is painted"]


def test_every_page_from_a_server(site: Path, serve, visit, tell) -> None:
    problems, heavy = [], pages_with_widgets()
    names = page_names(site)
    known: dict[str, list[int]] = {"light": [], "dark": []}  # kinds whose colours are known
    assert heavy <= set(names) and len(heavy) > 10
    # As for one who comes from elsewhere: the theme keeps how far its contents were scrolled.
    forget = "try { sessionStorage.clear() } catch {}"
    # A page of fewer elements is sooner laid out anew.
    seen = visit("about:blank", width=WIDE, begin=f"{forget}\n{MARK}\n{THIN}\n{axe()}")
    for name in names:
        seen.go(f"{serve(site)}/{name}")
        seen.page.wait_for_function(DRAWN)
        if name in heavy:
            bytes_, late = weight(seen, site)
            tell(f"{name}: {bytes_ / 1e6:.2f} MB, gzipped, at the first load")
            problems += [f"{name}: {each}" for each in late]
            if bytes_ > HEAVIEST:
                problems.append(f"{name}: weighs {bytes_:,} bytes at the first load")
        for look, found in violations_of_page(seen.page, known, WIDE).items():
            problems += [f"{name}, {name_of(look)}: {each}" for each in found]
        problems += [f"{name}: {each}" for each in seen.problems]
    assert not problems, "\n" + "\n".join(problems)
