#!/usr/bin/env python3
"""What a page of the built site costs its reader, in Chromium, printed as JSON, a page a line.

* kilobytes: all that the page loads before it is touched, gzipped where a server would;
* nodes: of its document, texts included, once it is at rest;
* interactive_s: from the start to the end of the last task of 50 ms or more;
* busy_s: processor time of the page's main thread until it is at rest; of it scripts, and styles
  and layout. Other work of the machine hardly changes it;
* shift: by how much its parts move while it loads (cumulative layout shift).

The processor is slowed down four times. What is interactive, the clock says: measure that on a
quiet machine.

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
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

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


def spent(session: CDPSession) -> dict[str, float]:
    """Processor time of a page's main thread, in seconds."""
    found = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
    return {
        "busy_s": found["TaskDuration"],
        "scripts_s": found["ScriptDuration"],
        "layout_s": found["LayoutDuration"] + found["RecalcStyleDuration"],
    }


def look(page: Page, address: str, slowed: float) -> tuple[dict, list[str]]:
    """What a page notes of itself until it is at rest, and what it has asked for."""
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.add_init_script(WATCH)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    session.send("Emulation.setCPUThrottlingRate", {"rate": slowed})
    page.goto(address)
    page.wait_for_function(AT_REST, timeout=120_000)
    found = page.evaluate(FOUND) | spent(session)
    return found, [each for each in requests if each.startswith("http")]


def measure(browser: Browser, site: Path, address: str, name: str, options) -> dict:
    rounds = []
    for _ in range(options.rounds):
        page = browser.new_page(viewport={"width": options.width, "height": 900})
        found, requests = look(page, f"{address}{name}.html", options.slowed)
        rounds.append(found | {"interactive_s": found["interactive"] / 1000})
        page.context.close()
    timed = ("interactive_s", "busy_s", "scripts_s", "layout_s")
    return {
        "page": name,
        "width": options.width,
        "kilobytes": round(weight(site, requests) / 1000),
        "nodes": found["nodes"],
        **{name: round(statistics.median(r[name] for r in rounds), 2) for name in timed},
        "shift": round(max(r["shift"] for r in rounds), 4),
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
