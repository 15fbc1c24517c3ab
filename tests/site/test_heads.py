"""The head explorer with all three kinds of attention, and with long sentences.

Chapter 12 shows only the encoder. Here the page is a bare one, with a model that answers as that
of ipywidgets does.
"""

from __future__ import annotations

import random

import pytest
from playwright.sync_api import Browser

from tests.site import test_widgets
from tests.site.accessibility import NARROW, violations, width_of
from tests.site.test_widgets import differing, drive, shown, state
from tests.site.widget_cases import CASES, attention
from transformer_book.widgets import HeadExplorer

CASE = next(case for case in CASES if case.widget is HeadExplorer)
SHOW = """async ([code, css, traits]) => {
    document.head.append(Object.assign(document.createElement("style"), {textContent: css}));
    const address = URL.createObjectURL(new Blob([code], {type: "text/javascript"}));
    const {default: {render}} = await import(address);
    const heard = {};
    render({
        el: document.body,
        model: {
            get: name => traits[name],
            set: (name, value) => {
                traits[name] = value;
                for (const hear of heard[`change:${name}`] ?? []) hear();
            },
            on: (event, hear) => (heard[event] ??= []).push(hear),
            off: () => {},
            save_changes: () => {},
        },
    });
}"""
PAGE = '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">'


@pytest.fixture
def show(browser: Browser, monkeypatch: pytest.MonkeyPatch):
    """A function that puts an explorer on a bare page: (page, its element)."""
    pages = []

    def shown_on_a_page(explorer: HeadExplorer) -> tuple:
        start = {**explorer.state(), "start": explorer.start}
        monkeypatch.setattr(test_widgets, "saved", lambda case: start)
        pages.append(browser.new_page())
        pages[-1].set_content(PAGE)
        pages[-1].evaluate(SHOW, [explorer._esm, explorer._css, start])
        return pages[-1], pages[-1].locator(".explorer")

    yield shown_on_a_page
    for page in pages:
        page.close()


def test_every_kind_shows_its_own_numbers(show) -> None:
    source = random.Random(0)
    page, root = show(
        HeadExplorer(
            ["Die", "Frau", "<eos>"],
            ["<sos>", "The"],
            encoder=attention(source, 2, 2, 3, 3),
            decoder=attention(source, 1, 3, 2, 2),
            cross=attention(source, 2, 1, 2, 3),
            layer=1,
            head=1,
            token=2,
        )
    )
    problems = drive(CASE, page, root, "keyboard") + drive(CASE, page, root, "pointer")
    kind = page.get_by_label("attention")
    for option, tokens in (("decoder", (2, 2)), ("cross", (2, 3)), ("encoder", (3, 3))):
        kind.select_option(label=next(t for t in kind.inner_text().split("\n") if option in t[:7]))
        # What was chosen there may not exist here.
        assert (state(root)["kind"], state(root)["token"]) == (option, -1)
        found = [root.locator(f".token.{side}").count() for side in ("query", "key")]
        assert tuple(found) == tokens
        assert len([path for path in shown(root) if path.startswith("weights.")]) == tokens[1]
        root.locator(".token.key").first.click()
        assert shown(root)["chosen"][0].startswith("key")
        problems += differing(CASE, root) + drive_heads(root)
    assert not problems, "\n" + "\n".join(problems)


def drive_heads(root) -> list[str]:
    """Press each layer and head once; what is wrong, as sentences."""
    problems = []
    for cell in root.locator("button.cell").all():
        cell.click()
        problems += [
            f"after {cell.get_attribute('aria-label')}: {p}" for p in differing(CASE, root)
        ]
    return problems


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_twenty_tokens_and_twelve_heads_fit(show, scheme: str) -> None:
    source = random.Random(1)
    names = [f"Donaudampfschiff{i}" if i % 3 else "." for i in range(20)]
    page, root = show(HeadExplorer(names, encoder=attention(source, 6, 12, 20, 20)))
    page.emulate_media(color_scheme=scheme)
    problems = violations(page, ".explorer")
    page.set_viewport_size({"width": NARROW, "height": 800})
    problems += [f"narrow: {each}" for each in violations(page, ".explorer")]
    assert not problems, "\n" + "\n".join(problems)
    assert width_of(page) <= NARROW
    assert shown(root)["possible"][0] == "400"
    heights = root.locator(".token").evaluate_all("all => all.map(e => e.offsetHeight)")
    assert min(heights) >= 24  # a finger must meet it
