"""Every page of the website in a real browser, from a folder: narrow and wide, in the dark."""

from __future__ import annotations

from pathlib import Path

from tests.site.accessibility import (
    NARROW,
    OF_COLOURS,
    page_names,
    resize,
    violations,
    violations_around,
    width_of,
)


def test_every_page_from_a_folder_in_the_dark(site: Path, visit) -> None:
    problems = []
    for name in page_names(site):
        seen = visit((site / name).as_uri(), width=NARROW, scheme="dark")
        found = seen.problems + violations(seen.page, rules=OF_COLOURS)
        problems += [f"{name}: {each}" for each in found]
        if width_of(seen.page) > NARROW:
            problems.append(f"{name}: scrolls sideways, {width_of(seen.page)} px at {NARROW}")
        if seen.page.evaluate("document.documentElement.dataset.theme") != "dark":
            problems.append(f"{name}: is not dark")
        resize(seen.page, 1280, 900)
        found = violations_around(seen.page, OF_COLOURS)
        problems += [f"{name}, 1280 px: {each}" for each in found]
        seen.page.context.close()
    assert not problems, "\n" + "\n".join(problems)
