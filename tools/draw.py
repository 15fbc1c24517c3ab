#!/usr/bin/env python3
"""Draw the book's diagrams (book/assets/figures/*.svg), each from its description in drawings.toml.

A description is a text, placed on a grid whose cells are counted from 0. A line holds one thing, or
several between semicolons with a space on both sides:

    q 1 3 w2 h1 .lit @07 : queries / (B, T, D)  box q: its middle, width and height in cells, kind,
                                                chapter, and its lines of words
    frame 0 1 2 5 .12 : N times                 columns 0 to 1, rows 2 to 5; .12: of chapter 12
    note 0 2.5 : words                          words alone
    cells 1 2 : 100 110 111                     a table of squares, lit (1), barred (x) or empty
    a > b c > d .round : words                  arrows: from a to b and c, from both to d; .round
                                                goes about what lies between

Each chapter shows its drawings in cells called drawing-NAME: the image with its alternative text,
and the caption. This tool writes them, too; to show a new drawing, add a Markdown cell of that
name. --check compares only. The website inlines the drawings and makes links of the boxes that name
a chapter (book/extension); elsewhere they are images that follow the system, light or dark.
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product
from xml.sax.saxutils import escape

from common import CHAPTERS, ROOT
from normalise_notebooks import written

DESCRIPTIONS = ROOT / "tools" / "drawings.toml"
FIGURES = ROOT / "book" / "assets" / "figures"
WIDTH, MARGIN = 360, 6  # as wide as a telephone: nothing has to be made smaller there
LINE, LETTER = 16, 6.6  # height of a line of words; the width of a letter, seldom exceeded

STYLE = """
  .arch { font: 14px var(--book-sans, "Source Sans 3", Arial, Helvetica, sans-serif); }
  .arch text { fill: INK; text-anchor: middle; }
  .arch .frame > rect { fill: TINT; stroke: EDGE; }
  .arch .part > rect { fill: PAPER; stroke: EDGE; }
  .arch .bare > rect { fill: none; stroke: none; }
  .arch .open > rect { stroke-dasharray: 3 3; }
  .arch .lit > rect { fill: GLOW; stroke: ACCENT; stroke-width: 2; }
  .arch .warm > rect { stroke: AMBER; stroke-width: 2; }
  .arch .small { font-size: 13px; }
  .arch .quiet { fill: SOFT; }
  .arch .start { text-anchor: start; }
  .arch .bold { font-weight: 600; }
  .arch .raised { font-size: 12.8px; }
  .arch path { fill: none; stroke: EDGE; stroke-width: 1.5; }
  .arch .residual { stroke-dasharray: 4 3; }
  .arch .strong { stroke: ACCENT; stroke-width: 2.5; }
  .arch path.head { fill: EDGE; stroke: none; }
  .arch .cell { fill: PAPER; stroke: EDGE; }
  .arch .cell.on { fill: ACCENT; }
  .arch .written > rect { fill: GLOW; stroke: ACCENT; stroke-width: 1.5; }
  .arch .written > text { fill: ACCENT; text-decoration: underline; }
  .arch a:hover .written > rect, .arch a:focus .written > rect { stroke-width: 3.5; }
  .arch .unwritten > rect { stroke-dasharray: 2 3; }
  .arch .here > rect { fill: ACCENT; stroke: ACCENT; }
  .arch .here > text { fill: PAPER; font-weight: 600; }
  .arch .frame.here > rect { fill: TINT; stroke-width: 3; }
"""


@cache
def palette(theme: str) -> dict[str, str]:
    """The site's colours in one theme, by their names without `book-`."""
    css = (ROOT / "book/assets/css/book.css").read_text(encoding="utf-8")
    block = re.search(rf'html\[data-theme="{theme}"\] \{{(.*?)\}}', css, re.DOTALL)[1]
    return dict(re.findall(r"--book-([\w-]+): (#[0-9a-f]{6});", block))


def style() -> str:
    """The rules of a drawing: in a page with the page's colours, alone with colours of its own."""
    light, dark = palette("light"), palette("dark")

    def colour(match: re.Match) -> str:
        name = match[0].lower()
        return f"var(--book-{name}, {light[name]})"

    names = "INK|SOFT|PAPER|TINT|EDGE|ACCENT|GLOW|AMBER"
    rules = re.sub(rf"\b({names})\b", colour, STYLE)
    night = " ".join(f"--book-{name.lower()}: {dark[name.lower()]};" for name in names.split("|"))
    alone = f"  .arch:root {{ background: var(--book-paper, {light['paper']}); }}\n"
    return f"{rules}{alone}  @media (prefers-color-scheme: dark) {{ .arch:root {{ {night} }} }}\n"


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """What is drawn, and what is said of it: for those who cannot see it, and below it.

    grid: columns of the width, and the height of a row in pixels. here: the chapter whose parts are
    dark in a drawing of the whole model.
    """

    name: str
    chapter: int
    title: str
    alt: str
    caption: str
    parts: str
    grid: tuple[float, float]
    here: int = 0

    def __post_init__(self) -> None:
        for field in ("title", "alt", "caption"):
            if not getattr(self, field).strip() or "*" in getattr(self, field):
                raise ValueError(f"{self.name} has no {field}, or one with an asterisk.")

    def cell(self) -> str:
        """The Markdown that shows it in a chapter."""
        image = f"![{self.alt}](../book/assets/figures/{self.name}.svg)"
        return f"{image}\n\n*{self.caption}*"

    def svg(self) -> str:
        return Canvas(self).svg()


@dataclass
class Box:
    """A rectangle: its middle and half its sides, in pixels."""

    x: float
    y: float
    w: float
    h: float


def within(x: float, box: Box) -> float:
    """The place on the edge of a box that is nearest to x, and not at its corners."""
    inner = max(box.w - 16, 0)
    return min(max(x, box.x - inner), box.x + inner)


class Canvas:
    """Reads a description from top to bottom, and keeps what is drawn and where boxes are."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        columns, self.row = drawing.grid
        self.column = (WIDTH - 2 * MARGIN) / columns
        self.boxes: dict[str, Box] = {}
        self.lines: list[str] = []
        self.bottom = 0.0
        for line in filter(None, map(str.strip, re.split(r"\n| ; ", drawing.parts))):
            head, _, words = (each.strip() for each in f"{line} ".partition(" : "))
            try:
                self.read(head.split(), [each.strip() for each in words.split(" / ") if each])
            except (KeyError, IndexError, TypeError, ValueError) as error:
                raise ValueError(f"{drawing.name}: {line!r} is not understood: {error}") from error

    def read(self, head: list[str], words: list[str]) -> None:
        kinds = [each[1:] for each in head if each.startswith(".")]
        chapter = next((each[1:] for each in head if each.startswith("@")), "")
        head = [each for each in head if each[0] not in ".@"]
        if ">" in head:
            groups = [group.split() for group in " ".join(head).split(">")]
            for ends in pairwise(groups):
                for a, b in product(*ends):
                    self.arrow(self.boxes[a], self.boxes[b], kinds, words)
        elif head[0] == "frame":
            self.frame(*map(float, head[1:5]), words, kinds)
        elif head[0] == "note":
            x, y = self.place(*head[1:3])
            for number, line in enumerate(words):
                self.text(x, y + 5 + LINE * number, line, "small quiet", *kinds)
        elif head[0] == "cells":
            self.cells(*self.place(*head[1:3]), words[0].split())
        else:
            self.box(head, words, kinds, chapter)

    def place(self, x: str, y: str) -> tuple[float, float]:
        return MARGIN + (float(x) + 0.5) * self.column, MARGIN + (float(y) + 0.5) * self.row

    def reach(self, y: float) -> None:
        self.bottom = max(self.bottom, y)

    def text(self, x: float, y: float, words: str, *kinds: str) -> None:
        """Words; ^ raises the letters behind it."""
        self.reach(y + 5)
        plain, *raised = re.split(r"\^(\w+)", words)
        shown = escape(plain)
        for up, rest in zip(raised[::2], raised[1::2], strict=True):
            shown += f'<tspan dy="-4" class="raised">{up}</tspan>'
            shown += f'<tspan dy="4">{escape(rest)}</tspan>' if rest else ""
        self.lines.append(f'  <text x="{x:g}" y="{y:g}" class="{" ".join(kinds)}">{shown}</text>')

    def rectangle(self, box: Box, radius: float, kinds: str) -> None:
        left, top = box.x - box.w, box.y - box.h
        self.reach(box.y + box.h)
        self.lines.append(
            f'  <rect x="{left:g}" y="{top:g}" width="{2 * box.w:g}" height="{2 * box.h:g}" '
            f'rx="{radius:g}"{kinds}/>'
        )

    def box(self, head: list[str], words: list[str], kinds: list[str], chapter: str) -> None:
        name, *place = head
        x, y = self.place(*place[:2])
        sides = {each[0]: float(each[1:]) for each in place[2:]}
        width = sides.get("w", 1) * self.column - 8
        height = 12 + LINE * len(words) if words[1:] else min(28, self.row - 8)
        height = sides["h"] * self.row - 8 if "h" in sides else height
        box = self.boxes[name] = Box(x, y, width / 2, height / 2)
        longest = max(map(len, words), default=0)
        if longest * LETTER > width:
            raise ValueError(f"{longest} letters do not fit into {width:.0f} pixels")
        if chapter and int(chapter) == self.drawing.here:
            kinds = [*kinds, "here"]
        number = f' data-chapter="{chapter}"' if chapter else ""
        self.lines.append(f'<g class="{" ".join(["part", *kinds])}"{number}>')
        self.rectangle(box, 14 if "token" in kinds else 6, "")
        top = y - LINE * (len(words) - 1) / 2 + 5
        for row, line in enumerate(words):
            small = ["small", "quiet"] if row else []
            self.text(x, top + LINE * row, line, *small)
        self.lines.append("</g>")

    def frame(self, left, right, top, bottom, words: list[str], kinds: list[str]) -> None:
        (x0, y0), (x1, y1) = self.place(left, top), self.place(right, bottom)
        w, h = (x1 - x0 + self.column) / 2, (y1 - y0 + self.row) / 2
        here = ["here"] if str(self.drawing.here) in kinds else []
        self.lines.append(f'<g class="{" ".join(["frame", *here])}">')
        self.rectangle(Box((x0 + x1) / 2, (y0 + y1) / 2, w - 3, h - 1), 10, "")
        self.lines.append("</g>")
        for number, line in enumerate(words):
            self.text(x0 - self.column / 2 + 10, y0 - self.row / 2 + 19 + LINE * number, line,
                      "small quiet start")  # fmt: skip

    def cells(self, x: float, y: float, rows: list[str], side: float = 22) -> None:
        left, top = x - side * len(rows[0]) / 2, y - side * len(rows) / 2
        for i, row in enumerate(rows):
            for j, kind in enumerate(row):
                place = Box(left + side * (j + 0.5), top + side * (i + 0.5), side / 2, side / 2)
                self.rectangle(place, 2, f' class="cell{" on" if kind == "1" else ""}"')
                if kind == "x":
                    self.text(place.x, place.y + 4.5, "×", "small quiet")

    def arrow(self, a: Box, b: Box, kinds: list[str], words: list[str]) -> None:
        down = 1 if b.y > a.y else -1
        right = 1 if b.x > a.x else -1
        start, end = a.y + down * a.h, b.y - down * (b.h + 2)  # edges that face each other
        label = (0.0, 0.0, "start")
        if "round" in kinds:  # leaves the arrow behind a, and enters b from its side
            side = -1 if "left" in kinds else 1
            begin = start + down * 7
            passed = [
                side * each.x + each.w
                for each in self.boxes.values()
                if (a.y - each.y) * (b.y - each.y) <= 0 and abs(each.x - a.x) < each.w
            ]
            rail = side * (max(passed) + 13)
            data = f"M{a.x:g} {begin:g} H{rail:g} V{b.y:g} H{b.x + side * (b.w + 2):g}"
            kinds = [*kinds, "residual"]
        elif "arc" in kinds:  # above both
            top = a.y - a.h
            over = top - 12 - abs(b.x - a.x) * 0.22
            data = f"M{a.x:g} {top:g} C{a.x:g} {over:g} {b.x:g} {over:g} {b.x:g} {b.y - b.h - 2:g}"
            label = ((a.x + b.x) / 2, over + (top - over) * 0.25 - 5, "")
        elif abs(a.y - b.y) < min(a.h, b.h) or "across" in kinds:
            y = a.y if a.h <= b.h else b.y
            data = f"M{a.x + right * a.w:g} {y:g} H{b.x - right * (b.w + 2):g}"
            label = ((a.x + right * a.w + b.x - right * b.w) / 2, y - 5, "")
        elif "riser" in kinds:  # up out of a, across, and down again between the columns
            between = b.x - b.w - 24
            over = f"V{a.y - a.h - 34:g} H{between:g} V{b.y:g} H{b.x - b.w - 2:g}"
            data = f"M{a.x:g} {a.y - a.h - 4:g} {over}"
        elif "tap" in kinds:  # leaves the arrow behind a, and enters b from below
            data = f"M{a.x:g} {start + down * 9:g} H{b.x:g} V{b.y - down * (b.h + 2):g}"
        elif "turn" in kinds:  # up or down, then into the side
            data = f"M{a.x:g} {start:g} V{b.y:g} H{b.x - right * (b.w + 2):g}"
        elif "corner" in kinds:  # out of the side, then up or down
            data = f"M{a.x + right * a.w:g} {a.y:g} H{b.x:g} V{end:g}"
        elif abs(a.x - b.x) < max(a.w, b.w):
            x = a.x if a.w <= b.w else b.x
            data = f"M{x:g} {start:g} V{end:g}"
            label = (x + 7, (start + end) / 2 + 4, "start")
        else:
            x0, x1 = (within(other.x, box) for other, box in ((b, a), (a, b)))
            data = f"M{x0:g} {start:g} L{x1:g} {end:g}"
        point = "" if "plain" in kinds else f' marker-end="url(#{self.drawing.name}-head)"'
        shown = " ".join(kind for kind in kinds if kind in ("residual", "strong")) or "flow"
        self.lines.append(f'<path class="{shown}" d="{data}"{point}/>')
        for line in words:
            self.text(label[0], label[1], line, "small quiet", label[2])

    def svg(self) -> str:
        """The file: the drawing with its title, its description and its colours."""
        it = self.drawing
        body, name = "\n".join(self.lines), it.name
        role = "group" if "data-chapter" in body else "img"
        return f"""<svg xmlns="http://www.w3.org/2000/svg" class="arch" width="{WIDTH}" \
viewBox="0 0 {WIDTH} {self.bottom + MARGIN:g}" role="{role}" \
aria-labelledby="{name}-title {name}-desc">
<title id="{name}-title">{escape(it.title)}</title>
<desc id="{name}-desc">{escape(it.alt)}</desc>
<style>{style()}</style>
<defs><marker id="{name}-head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" \
markerHeight="7" markerUnits="userSpaceOnUse" orient="auto">\
<path class="head" d="M0 0 L8 4 L0 8 z"/></marker></defs>
{body}
</svg>
"""


def drawings() -> list[Drawing]:
    """All that are described."""
    described = tomllib.loads(DESCRIPTIONS.read_text(encoding="utf-8"))
    made = []
    for name, fields in described.items():
        if like := fields.pop("like", None):
            fields = {key: described[like][key] for key in ("grid", "parts")} | fields
        made.append(Drawing(name=name, **fields))
    return made


def files(drawn: list[Drawing]) -> dict:
    """What stands in each file: the drawings, and the chapters that show them."""
    made = {FIGURES / f"{drawing.name}.svg": drawing.svg() for drawing in drawn}
    for path in sorted(CHAPTERS.glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        shown = {f"drawing-{each.name}": each.cell() for each in drawn}
        for cell in notebook["cells"]:
            if cell["id"] in shown:
                cell["source"] = shown[cell["id"]]
                made[path] = notebook
        if path in made:
            made[path] = written(notebook)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="fail if a file is out of date")
    options = parser.parse_args()
    for path, text in files(drawings()).items():
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        if options.check:
            raise SystemExit(f"{path.name} is out of date: run tools/draw.py.")
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
