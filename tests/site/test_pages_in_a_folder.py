"""Pages of the website in a real browser, from a folder: narrow, and opened in the dark.

From a folder the browser refuses what a server would allow, such as reading another file. That
depends on the scripts and styles of a page, so of the pages that load the same ones, from the same
depth, only the largest is opened. Other tests check on every page that no file it needs is missing
(test_pages), and how wide it is (test_pages_served).
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

from tests.site.accessibility import NARROW, page_names, width_of
from tests.site.html_pages import read_pages


def one_of_each_kind(site: Path) -> list[str]:
    """The largest of the pages that load the same scripts and styles and hold the same data."""
    found: dict[object, list[str]] = {}
    for path, page in read_pages(site).items():
        name = path.relative_to(site).as_posix()
        # An explorer's own files are loaded like any other's.
        loads = {re.sub(r"explorers/\w+", "explorers/any", urlsplit(e).path) for e in page.loads}
        code = frozenset(each for each in loads if each.endswith((".js", ".css")))
        found.setdefault((name.count("/"), code, page.data), []).append(name)
    wanted = set(page_names(site))
    return sorted(
        max(names, key=lambda name: (site / name).stat().st_size)
        for kind in found.values()
        if (names := sorted(wanted.intersection(kind)))
    )


def test_pages_open_from_a_folder_in_the_dark(site: Path, visit) -> None:
    problems, names = [], one_of_each_kind(site)
    assert 5 <= len(names) <= 12 and any(name.startswith("chapters/") for name in names)
    seen = visit("about:blank", width=NARROW, scheme="dark")
    for name in names:
        seen.go((site / name).as_uri())
        problems += [f"{name}: {each}" for each in seen.problems]
        if width_of(seen.page) > NARROW:
            problems.append(f"{name}: scrolls sideways, {width_of(seen.page)} px at {NARROW}")
        if seen.page.evaluate("document.documentElement.dataset.theme") != "dark":
            problems.append(f"{name}: is not dark")
    assert not problems, "\n" + "\n".join(problems)
