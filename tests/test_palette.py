"""The colours of the website: each pair that meets has the contrast of WCAG's level AA."""

from __future__ import annotations

import re

import pytest
from common import ROOT
from matplotlib.colors import to_hex

from transformer_book.plots import PALETTE

TEXT, SHAPE = 4.5, 3.0  # contrast of text, and of what only must be told apart from its ground
BOOK = (ROOT / "book/assets/css/book.css").read_text("utf-8")
EXPLORERS = (ROOT / "code/transformer_book/widgets/shared.css").read_text("utf-8")
DRAWING = (ROOT / "book/assets/figures/architecture.svg").read_text("utf-8")

PAPERS = ("book-paper", "book-tint", "book-glow")
BOXES = ("predict", "departs", "turn", "break", "note")
CODE = ("ink", "comment", "keyword", "string", "number", "name", "wrong")
# text, ground
WRITTEN = [
    *((ink, paper) for ink in ("book-ink", "book-accent") for paper in PAPERS),
    *(("book-soft", paper) for paper in PAPERS[:2]),
    ("book-paper", "book-accent"),  # the first button of the landing page
    *((f"book-{box}", f"book-{box}-paper") for box in BOXES),
    *((ink, f"book-{box}-paper") for ink in ("book-ink", "book-accent") for box in BOXES),
    *((f"code-{kind}", paper) for kind in CODE for paper in PAPERS[:2]),
]
SHAPES = [
    *((line, paper) for line in ("book-edge", "book-amber") for paper in PAPERS[:2]),
]


def luminance(colour: str) -> float:
    """The relative luminance of #rrggbb, as WCAG defines it."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def colours(theme: str) -> dict[str, str]:
    """The palette of book.css in one theme."""
    block = re.search(rf'html\[data-theme="{theme}"\] \{{(.*?)\}}', BOOK, re.DOTALL)[1]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))


def explorers(theme: str) -> dict[str, str]:
    """The palette of the explorers in one theme."""
    pairs = re.findall(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", EXPLORERS)
    return {name: light if theme == "light" else dark for name, light, dark in pairs}


def too_weak(palette: dict[str, str], pairs: list[tuple[str, str]], least: float) -> dict:
    measured = {pair: contrast(*(palette[name] for name in pair)) for pair in pairs}
    return {pair: round(found, 2) for pair, found in measured.items() if found < least}


def test_contrast_is_computed_as_wcag_has_it() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
    assert too_weak({"a": "#777777", "b": "#ffffff"}, [("a", "b")], TEXT) == {("a", "b"): 4.48}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_pair_of_the_website_can_be_read(theme: str) -> None:
    palette = colours(theme)
    assert too_weak(palette, WRITTEN, TEXT) == {}
    assert too_weak(palette, SHAPES, SHAPE) == {}
    named = {name for pair in (*WRITTEN, *SHAPES) for name in pair}
    assert palette.keys() - named == {"book-rule"}, "a colour that no pair is tested for"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_pair_of_the_explorers_can_be_read(theme: str) -> None:
    palette = explorers(theme)
    inks = ["ink", "soft", "accent", *(name for name in palette if name.startswith("token-"))]
    pairs = [(ink, paper) for ink in inks for paper in ("paper", "tint")]
    assert too_weak(palette, pairs, TEXT) == {}
    assert too_weak(palette, [("line", "paper"), ("line", "tint")], SHAPE) == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_explorers_and_drawings_have_the_colours_of_the_website(theme: str) -> None:
    site, widgets = colours(theme), explorers(theme)
    assert site["book-accent"] == widgets["accent"] == site["code-name"]
    assert (site["book-soft"], site["book-edge"]) == (widgets["soft"], widgets["line"])
    assert site["book-amber"] == widgets["token-1"]
    light, dark = r"var\(--(book-\w+), (#[0-9a-f]{6})\)", r"--(book-\w+): (#[0-9a-f]{6});"
    drawn = set(re.findall(light if theme == "light" else dark, DRAWING))
    assert len(drawn) == 8 and drawn <= set(site.items())


def turned(colour: str) -> str:
    """invert(1) hue-rotate(180deg) of #rrggbb, by the matrix of the W3C's Filter Effects."""
    red, green, blue = (1 - int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    grey = 0.426 * red + 1.430 * green + 0.144 * blue
    return to_hex([min(max(grey - channel, 0), 1) for channel in (red, green, blue)])


def test_figures_stand_out_in_the_light_and_turned_over_in_the_dark() -> None:
    assert "filter: invert(1) hue-rotate(180deg);" in BOOK
    assert (turned("#ffffff"), turned("#000000")) == ("#000000", "#ffffff")
    dark = colours("dark")["book-paper"]
    weak = [
        (colour, on)
        for colour in map(to_hex, PALETTE)
        for drawn, on in ((colour, "#ffffff"), (turned(colour), dark))
        if contrast(drawn, on) < SHAPE
    ]
    assert weak == []
