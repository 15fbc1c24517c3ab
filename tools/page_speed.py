#!/usr/bin/env python3
"""What a page of the built site costs its reader, in Chromium, printed as JSON, a page a line.

* kilobytes: all that the page loads before it is touched, gzipped where a server would;
* nodes: of its document, texts included, once it is at rest;
* interactive_s: from the start to the end of the last task of 50 ms or more;
* shift: by how much its parts move while it loads (cumulative layout shift).

The time is by the clock, with the processor slowed down four times: measure on a quiet machine.

  make site && python tools/page_speed.py book/landing chapters/09_multi_head_attention
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from common import ALONE, ROOT, installed_chromium, served
from playwright.sync_api import Browser, Page, sync_playwright

PAGES = ["book/landing", "chapters/09_multi_head_attention"]
PACKED = {".woff2", ".woff", ".png", ".jpg", ".safetensors"}  # a server sends them as they are
QUIET = 2000  # milliseconds without a long task

# Before any script of the page: notes long tasks and shifts.
WATCH = """window.noted = {last: 0, shift: 0, shifted: []};
new PerformanceObserver(list => {
    for (const {startTime, duration} of list.getEntries())
        noted.last = Math.max(noted.last, startTime + duration);
}).observe({type: "longtask", buffered: true});
new PerformanceObserver(list => {
    for (const each of list.getEntries()) if (!each.hadRecentInput) {
        noted.shift += each.value;
        noted.shifted.push(...each.sources.map(s => s.node?.className ?? s.node?.nodeName));
    }
}).observe({type: "layout-shift", buffered: true});"""
AT_REST = f"""() => document.readyState === "complete"
    && performance.now() - Math.max(noted.last, performance.timing.loadEventEnd
        - performance.timing.navigationStart) > {QUIET}"""
FOUND = """() => {
    let nodes = 0;
    for (const walk = document.createTreeWalker(document); walk.nextNode();) nodes += 1;
    const {domContentLoadedEventEnd} = performance.getEntriesByType("navigation")[0];
    return {nodes, interactive: Math.max(noted.last, domContentLoadedEventEnd), shift: noted.shift,
        shifted: [...new Set(noted.shifted)]};
}"""


def gzipped(path: Path) -> int:
    """The bytes that a server sends for a file."""
    data = path.read_bytes()
    return len(data) if path.suffix in PACKED else len(gzip.compress(data, 6))


def weight(site: Path, requests: list[str]) -> int:
    """The bytes that a server sends for these addresses of a site."""
    paths = {unquote(urlsplit(each).path).lstrip("/") for each in requests}
    return sum(gzipped(site / path) for path in paths if (site / path).is_file())


def look(page: Page, address: str, slowed: float) -> tuple[dict, list[str]]:
    """What a page notes of itself until it is at rest, and what it has asked for."""
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.add_init_script(WATCH)
    session = page.context.new_cdp_session(page)
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    page.goto(address)
    page.wait_for_function(AT_REST, timeout=120_000)
    return page.evaluate(FOUND), [each for each in requests if each.startswith("http")]


def measure(browser: Browser, site: Path, address: str, name: str, options) -> dict:
    times = []
    for _ in range(options.rounds):
        page = browser.new_page(viewport={"width": options.width, "height": 900})
        found, requests = look(page, f"{address}{name}.html", options.slowed)
        times.append(found["interactive"])
        page.context.close()
    return {
        "page": name,
        "width": options.width,
        "kilobytes": round(weight(site, requests) / 1000),
        "nodes": found["nodes"],
        "interactive_s": round(statistics.median(times) / 1000, 2),
        "shift": round(found["shift"], 4),
        "shifted": found["shifted"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("pages", nargs="*", default=PAGES, help="as book/landing")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html")
    parser.add_argument("--slowed", type=float, default=4, help="how many times")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if not (options.site / "index.html").exists():
        sys.exit("There is no site to measure: run `make site` first.")
    with served(options.site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed_chromium(), args=ALONE)
        for name in options.pages:
            print(json.dumps(measure(browser, options.site, address, name, options)), flush=True)
        browser.close()


if __name__ == "__main__":
    main()
