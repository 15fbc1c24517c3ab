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

from tests.site.accessibility import (
    NARROW,
    THIN,
    in_scheme,
    page_names,
    prepare,
    resize,
    violations_around,
    violations_of_colour,
    violations_with_colour,
    width_of,
)

WIDE = 1280
HEAVIEST = 2_500_000  # bytes, gzipped, of a page with widgets


def pages_with_widgets() -> set[str]:
    with_widgets = [path for path in notebooks() if WIDGET_STATE in path.read_text("utf-8")]
    pages = [ROOT / "book" / "landing.md", *with_widgets]
    return {path.relative_to(ROOT).with_suffix(".html").as_posix() for path in pages}


@cache
def size(file: Path) -> int:
    return len(gzip.compress(file.read_bytes()))


def weight(seen, site: Path) -> tuple[int, list[str]]:
    """What a page with widgets loads at first, in bytes; and what is wrong with the order."""
    seen.page.wait_for_function(
        """() => {
            const places = [...document.querySelectorAll(".widget-subarea")];
            return places.length && places.every(place => place.firstElementChild);
        }"""
    )
    paths = [parts.path for each in seen.requests if (parts := urlsplit(each)).scheme == "http"]
    files = {site / unquote(path).lstrip("/") for path in paths}
    if not any("embed-amd" in file.name for file in files):
        return 0, ["loads no widgets"]
    painted, loaded = seen.page.evaluate(
        """[performance.getEntriesByName("first-contentful-paint")[0].startTime,
            performance.getEntriesByType("resource").find(e => e.name.includes("require.js")).startTime]"""
    )
    late = [] if painted <= loaded else ["loads widgets before it is painted"]
    return sum(map(size, files)), late


def test_every_page_from_a_server(site: Path, serve, visit, tell) -> None:
    problems, heavy = [], pages_with_widgets()
    names = page_names(site)
    light, dark = [], []  # the kinds of elements whose colours are known
    assert heavy <= set(names) and len(heavy) > 10
    # As for one who comes from elsewhere: the theme keeps how far its contents were scrolled.
    forget = "try { sessionStorage.clear() } catch {}"
    window = visit("about:blank", width=WIDE, begin=f"{forget}\n{THIN}")
    for name in names:
        address = f"{serve(site)}/{name}"
        if name in heavy:  # as for a first visit: what it loads, and when, is asked
            seen = visit(address, width=WIDE)
            bytes_, late = weight(seen, site)
            tell(f"{name}: {bytes_ / 1e6:.2f} MB, gzipped, at the first load")
            problems += [f"{name}: {each}" for each in late]
            if bytes_ > HEAVIEST:
                problems.append(f"{name}: weighs {bytes_:,} bytes at the first load")
        else:
            seen = window
            seen.go(address)
        page = seen.page
        prepare(page)  # a page of fewer elements is sooner laid out anew
        resize(page, NARROW, 800)
        found = []
        if width_of(page) > NARROW:
            found.append(f"scrolls sideways, {width_of(page)} px at {NARROW}")
        found += [f"{NARROW} px: {each}" for each in violations_with_colour(page, light)]
        in_scheme(page, "dark")
        found += [f"{NARROW} px, dark: {each}" for each in violations_of_colour(page, dark)]
        resize(page, WIDE, 900)
        found += [f"dark: {each}" for each in violations_of_colour(page, dark)]
        in_scheme(page, "light")
        found += violations_of_colour(page, light) + violations_around(page)
        problems += [f"{name}: {each}" for each in seen.problems + found]
        if seen is not window:
            page.context.close()
    assert not problems, "\n" + "\n".join(problems)
