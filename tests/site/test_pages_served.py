"""Every page of the website in a real browser, from a server: wide and narrow, light and dark.

A page is opened once for all that is asked of it. Of its article, axe-core is asked when it is
narrow, since nothing has more room then, and of what surrounds it also when it is wide. How wide
explorers arrange their controls, test_widgets asks. What makes a page slow is asked, not the time
that it takes: bytes, nodes, and by how much its parts move while it loads.
"""

from __future__ import annotations

from pathlib import Path

from page_speed import FOUND, WATCH, weight

from tests.site.accessibility import THIN, axe, name_of, page_names, violations_of_page

WIDE = 1280
HEAVIEST = 1_000_000  # bytes, gzipped, before an explorer is touched
MOST_NODES = 25_000  # texts included; test_browser asks what code has
SHIFT = 0.02
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


def test_every_page_from_a_server(site: Path, serve, visit, tell) -> None:
    problems = []
    names = page_names(site)
    known: dict[str, list[int]] = {"light": [], "dark": []}  # kinds whose colours are known
    # As for one who comes from elsewhere: the theme keeps how far its contents were scrolled.
    forget = "try { sessionStorage.clear() } catch {}"
    # A page of fewer elements is sooner laid out anew.
    seen = visit("about:blank", width=WIDE, begin=f"{forget}\n{WATCH}\n{THIN}\n{axe()}")
    n_explorers = 0
    for name in names:
        seen.go(f"{serve(site)}/{name}")
        seen.page.wait_for_function(DRAWN)
        said, wrong = burdens(seen, site)
        tell(f"{name}: {said}")
        if late := seen.page.evaluate(COME_NEAR):
            wrong.append(late)
        n_explorers += seen.page.locator(".explorer-place .explorer").count()
        for look, found in violations_of_page(seen.page, known, WIDE).items():
            wrong += [f"{name_of(look)}: {each}" for each in found]
        problems += [f"{name}: {each}" for each in wrong + seen.problems]
    assert n_explorers > 10
    assert not problems, "\n" + "\n".join(problems)
