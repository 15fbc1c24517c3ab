"""The book's diagrams: as described, where they belong, and readable on a telephone."""

from __future__ import annotations

import json
import re

import pytest
from common import CHAPTERS
from draw import FIGURES, STYLE, WIDTH, Drawing, drawings, files

DRAWN = {drawing.name: drawing for drawing in drawings()}
TELEPHONE = 311  # pixels that a drawing has on a screen of 360
GOOD = {"name": "x", "chapter": 1, "title": "t", "alt": "a", "caption": "c", "grid": (3, 40)}


def test_files_and_cells_are_as_described() -> None:
    made = files(list(DRAWN.values()))
    assert [path.name for path, text in made.items() if path.read_text("utf-8") != text] == []
    ours = {path for path in FIGURES.glob("*.svg") if 'class="arch"' in path.read_text("utf-8")}
    assert ours == {path for path in made if path.suffix == ".svg"}


def test_every_drawing_stands_in_its_chapter_once_and_no_other_does() -> None:
    shown = [
        (cell["id"], int(path.name[:2]))
        for path in CHAPTERS.glob("*.ipynb")
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        if "/figures/" in "".join(cell["source"])
    ]
    assert sorted(shown) == sorted((f"drawing-{n}", d.chapter) for n, d in DRAWN.items())


def test_the_whole_model_says_where_one_is() -> None:
    for number in range(4, 15):
        svg = DRAWN[f"model_{number:02}"].svg()
        (dark,) = set(re.findall(r'here" data-chapter="(\d\d)"', svg))
        assert int(dark) == (7 if number == 6 else number)


@pytest.mark.parametrize("name", DRAWN)
def test_a_drawing_can_be_read_at_the_width_of_a_telephone(name: str) -> None:
    sizes = [float(size) for size in re.findall(r"font(?:-size)?: ([\d.]+)px", STYLE)]
    assert min(sizes) * TELEPHONE / WIDTH >= 11
    svg = DRAWN[name].svg()
    boxes = re.findall(r'<rect x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)"', svg)
    assert all(float(x) >= 0 and float(x) + float(w) <= WIDTH for x, _, w in boxes)
    paths = " ".join(re.findall(r' d="(.*?)"', svg))
    assert all(0 <= float(x) <= WIDTH for x in re.findall(r"[MHL]([-\d.]+)", paths))
    assert len(DRAWN[name].caption.split()) <= 30


@pytest.mark.parametrize("field", ["title", "alt", "caption"])
def test_a_drawing_must_say_what_it_shows(field: str) -> None:
    with pytest.raises(ValueError, match=f"x has no {field}"):
        Drawing(**GOOD | {field: " "}, parts="a 0 0 : a")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ("a 0 0 : a ; a > b", "'a > b' is not understood: 'b'"),
        ("a 0 0 w0.3 : far too many words", "18 letters do not fit"),
        ("a 0", "not understood"),
    ],
)
def test_a_description_that_is_wrong_is_refused(parts: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        Drawing(**GOOD, parts=parts).svg()


def test_an_arrow_goes_round_what_lies_between() -> None:
    parts = "a 1 2 w0.5 : a ; f 1 1 w2 : f ; b 1 0 w0.5 : b ; a > b .round"
    svg = Drawing(**GOOD, parts=parts).svg()
    boxes = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', svg)
    right = max(float(x) + float(width) for x, width in boxes)
    assert float(re.search(r'residual" d="\S+ \S+ H([\d.]+)', svg)[1]) > right


def test_arrows_lead_from_each_to_each() -> None:
    svg = Drawing(**GOOD, parts="a 0 1 : a ; b 1 1 : b ; c 0 0 : c ; d 1 0 : d ; a b > c d").svg()
    assert svg.count("marker-end") == 4
