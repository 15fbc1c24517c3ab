"""Every page of the website in a real browser, from a server: wide and narrow, light and dark.

A page is opened once for all that is asked of it. Of its article, axe-core is asked when it is
narrow, since nothing has more room then, and of what surrounds it also when it is wide. How wide
explorers arrange their controls, test_widgets asks. What makes a page slow is asked, not the time
that it takes: bytes, nodes, and by how much its parts move while it loads.
"""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from page_speed import FOUND, WATCH, weight

from tests.site.accessibility import THIN, axe, name_of, page_names, violations_of_page
from tests.site.talk_page import METERED

WIDE = 1280
HEAVIEST = 1_000_000  # bytes, gzipped, before an explorer is touched
MOST_NODES = 25_000  # texts included; test_browser asks what code has
SHIFT = 0.02
FIRST_SEEN = [
    "book/landing",
    "chapters/05_positions",  # with sentences in the margin
    "chapters/09_multi_head_attention",
    "book/glossary",
    "book/talk",  # while the small model loads by itself and translates
    "book/bench",  # which scripts make, as they do the next two
    "book/gym",
    "book/progress",
]
BUSY = {
    "book/talk": "() => document.querySelector('.talk .result')?.textContent.endsWith('.')",
    "book/bench": "() => document.querySelector('.bench .size')?.textContent.includes('About')",
}
BANNED = ("mathjax", "require.js", "html-manager", "fontawesome")

# The page on which one talks to a model is drawn when all else is there.
DRAWN = """() => [...document.querySelectorAll(".talk-place")].every(
    place => place.querySelector("button"))"""
# Explorers are made when the reader comes near.
COME_NEAR = """async () => {
    const frame = () => new Promise(requestAnimationFrame);
    for (const place of document.querySelectorAll(".explorer-place")) {
        for (let i = 0; i < 100 && !place.querySelector(".explorer"); i++) {
            place.scrollIntoView({behavior: "instant"});
            await frame();
        }
        if (!place.querySelector(".explorer")) return `${place.dataset.name} does not come`;
    }
    window.scrollTo({top: 0, behavior: "instant"});
    return "";
}"""


# How far down explorers begin, as shares of a page on which what is further is folded.
PLACES = """() => {
    const further = [...document.querySelectorAll("section.further")];
    for (const each of further) each.style.display = "none";
    const page = (document.querySelector("article") ?? document.body).getBoundingClientRect();
    const share = (place) => (place.getBoundingClientRect().top - page.top) / page.height;
    const found = [...document.querySelectorAll(".explorer-place")].map(
        (place) => [place.dataset.name, share(place)]);
    for (const each of further) each.style.display = "";
    return found;
}"""
DEEPEST = 0.35  # about a third


def burdens(seen, site: Path) -> tuple[str, list[str]]:
    """What a page costs before it is touched, as a sentence; and what of it is too much."""
    found, bytes_ = seen.page.evaluate(FOUND), weight(site, seen.requests)
    nodes, shift, shifted = found["nodes"], found["shift"], found["shifted"]
    problems = []
    if bytes_ > HEAVIEST:
        problems.append(f"weighs {bytes_:,} bytes")
    if nodes > MOST_NODES:
        problems.append(f"has {nodes:,} nodes")
    if shift > SHIFT:
        problems.append(f"moves by {shift:.3f} while it loads: {shifted}")
    problems += [f"loads {each}" for each in seen.requests if any(b in each for b in BANNED)]
    return f"{bytes_ / 1e6:.2f} MB, {nodes:,} nodes, moves by {shift:.3f}", problems


def test_every_icon_is_drawn(site: Path) -> None:
    """The font of the theme's icons is not there: one that waits for it is never seen."""
    waiting = re.compile(r"""<(?!svg)\w+ [^>]*class="[^"]*\bfa[a-z]?-[a-z-]+[^>]*>""")
    left = {
        f"{name}: {found[0]}"
        for name in page_names(site)
        for found in waiting.finditer((site / name).read_text(encoding="utf-8"))
    }
    assert not left, "\n".join(sorted(left))


@pytest.mark.parametrize("width", [360, 1440])
def test_nothing_moves_while_a_page_loads(width: int, site: Path, serve, visit) -> None:
    """A visitor's first page, its typefaces late: no line moves under the one who reads it."""

    def late(route) -> None:
        time.sleep(0.2)
        route.continue_()

    seen = visit("about:blank", width=width, folded=True, begin=WATCH)
    seen.page.route("**/*.woff2", late)
    moved = []
    for name in FIRST_SEEN:
        seen.go(f"{serve(site)}/{name}.html")
        if name in BUSY:
            seen.page.wait_for_function(BUSY[name])
        seen.page.wait_for_timeout(300)  # the observer is told of what has moved a frame later
        found = seen.page.evaluate(FOUND)
        if found["shift"] > SHIFT:
            moved.append(f"{name}: by {found['shift']:.3f}: {found['shifted']}")
    assert not moved, "\n" + "\n".join(moved)


def test_every_page_from_a_server(site: Path, serve, visit, tell) -> None:
    problems = []
    names = page_names(site)
    known: dict[str, list[int]] = {"light": [], "dark": []}  # kinds whose colours are known
    # As for one who comes from elsewhere: the theme keeps how far its contents were scrolled.
    forget = "try { sessionStorage.clear() } catch {}"
    # A page of fewer elements is sooner laid out anew.
    # Where each byte may cost, Talk loads no model by itself: that may be before or after it is weighed.
    begin = [forget, METERED, WATCH, THIN, axe()]
    seen = visit("about:blank", width=WIDE, begin="\n".join(begin))
    n_explorers = 0
    for name in names:
        seen.go(f"{serve(site)}/{name}")
        seen.page.wait_for_function(DRAWN)
        said, wrong = burdens(seen, site)
        tell(f"{name}: {said}")
        if late := seen.page.evaluate(COME_NEAR):
            wrong.append(late)
        places = seen.page.evaluate(PLACES)
        n_explorers += len(places)
        if name.startswith("chapters/") and places and (share := places[0][1]) > DEEPEST:
            wrong.append(f"the first explorer stands {share:.0%} down the page")
        for look, found in violations_of_page(seen.page, known, WIDE).items():
            wrong += [f"{name_of(look)}: {each}" for each in found]
        problems += [f"{name}: {each}" for each in wrong + seen.problems]
    assert n_explorers > 10
    assert not problems, "\n" + "\n".join(problems)
