"""Every page of the website in a real browser, from a server: wide and narrow, by day."""

from __future__ import annotations

from pathlib import Path

from tests.site.accessibility import (
    NARROW,
    OF_SIZES,
    page_names,
    resize,
    violations,
    violations_around,
    width_of,
)


def test_every_page_from_a_server(site: Path, serve, visit) -> None:
    problems = []
    for name in page_names(site):
        seen = visit(f"{serve(site)}/{name}")
        problems += [f"{name}: {each}" for each in seen.problems + violations(seen.page)]
        resize(seen.page, NARROW, 800)
        if width_of(seen.page) > NARROW:
            problems.append(f"{name}: scrolls sideways, {width_of(seen.page)} px at {NARROW}")
        found = violations(seen.page, rules=OF_SIZES) + violations_around(seen.page)
        problems += [f"{name}, {NARROW} px: {each}" for each in found]
        seen.page.context.close()
    assert not problems, "\n" + "\n".join(problems)
