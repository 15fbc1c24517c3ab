"""Every page of the website in a real browser, from a folder: narrow, and opened in the dark."""

from __future__ import annotations

from pathlib import Path

from tests.site.accessibility import NARROW, page_names, width_of


def test_every_page_opens_from_a_folder_in_the_dark(site: Path, visit) -> None:
    problems = []
    for name in page_names(site):
        seen = visit((site / name).as_uri(), width=NARROW, scheme="dark")
        problems += [f"{name}: {each}" for each in seen.problems]
        if width_of(seen.page) > NARROW:
            problems.append(f"{name}: scrolls sideways, {width_of(seen.page)} px at {NARROW}")
        if seen.page.evaluate("document.documentElement.dataset.theme") != "dark":
            problems.append(f"{name}: is not dark")
        seen.page.context.close()
    assert not problems, "\n" + "\n".join(problems)
