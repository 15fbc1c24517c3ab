#!/usr/bin/env python3
"""Draw the book's own figures of the Transformer, in book/assets/figures.

`architecture.svg` is the encoder–decoder, `decoder_only.svg` the one stack of chapter 24. Every
part that has a chapter is a <g data-chapter="NN">. The website inlines the figures and turns those
groups into links once the chapter exists (book/extension). --check compares only.
"""

from __future__ import annotations

import argparse
from xml.sax.saxutils import escape

from common import ROOT

FIGURES = ROOT / "book" / "assets" / "figures"
ENCODER, DECODER, WIDTH = 8, 282, 230  # left edges of the two columns, and their width
INNER, RAIL = 30, 14  # where boxes begin inside a layer, and where the residual line runs

STYLE = """
  .arch { font: 15px system-ui, sans-serif; --a-ink: #1c2330; --a-soft: #5a6373; --a-line: #7a8494;
    --a-paper: #ffffff; --a-frame: #f3f5f9; --a-link: #0b4fa8; --a-glow: #e3edfb; }
  .arch text { fill: var(--a-ink); text-anchor: middle; }
  .arch .frame > rect { fill: var(--a-frame); stroke: var(--a-line); }
  .arch .part > rect { fill: var(--a-paper); stroke: var(--a-line); }
  .arch .small { font-size: 13px; }
  .arch .quiet { fill: var(--a-soft); }
  .arch .flow { fill: none; stroke: var(--a-line); stroke-width: 1.5; }
  .arch .residual { fill: none; stroke: var(--a-line); stroke-width: 1.2; stroke-dasharray: 4 3; }
  .arch .head { fill: var(--a-line); }
  .arch .unwritten > rect { stroke-dasharray: 2 3; }
  .arch .unwritten > text { fill: var(--a-soft); }
  .arch .written > rect { fill: var(--a-glow); stroke: var(--a-link); stroke-width: 2; }
  .arch .written > text { fill: var(--a-link); font-weight: 600; text-decoration: underline; }
  .arch .written > .small { font-size: 12px; }
  .arch a:hover .written > rect, .arch a:focus .written > rect { stroke-width: 3.5; }
"""

DARK = """
    --a-ink: #e6eaf2; --a-soft: #aab3c2; --a-line: #8b95a5; --a-paper: #1b212b; --a-frame: #232a36;
    --a-link: #8fc0ff; --a-glow: #1d3354; }
"""


class Drawing:
    """Lines of SVG, from top to bottom as they are drawn."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, line: str) -> None:
        self.lines.append(line)

    def text(self, x: float, y: float, words: str, style: str = "") -> None:
        self.add(f'  <text x="{x:g}" y="{y:g}" class="{style}">{escape(words)}</text>')

    def box(self, x, y, width, height, words, chapter, style="", radius=6) -> None:
        """A part of the model: a rectangle with its name, belonging to a chapter."""
        self.add(f'<g class="part" data-chapter="{chapter:02d}">')
        self.add(
            f'  <rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius}"/>'
        )
        self.text(x + width / 2, y + height / 2 + 5, words, style)
        self.add("</g>")

    def path(self, data: str, style: str = "flow", arrow: bool = True) -> None:
        end = ' marker-end="url(#arch-head)"' if arrow else ""
        self.add(f'<path class="{style}" d="{data}"{end}/>')


def attention(drawing: Drawing, x: float, y: float, name: str, mask: str, of_mask: int = 8) -> None:
    """Multi-head attention with what it holds; 104 high."""
    left, width = x + INNER, WIDTH - INNER - 10
    drawing.add('<g class="part group">')
    drawing.add(f'  <rect x="{left:g}" y="{y:g}" width="{width:g}" height="104" rx="6"/>')
    drawing.add("</g>")
    drawing.box(left + 7, y + 6, width - 14, 26, name, 9)
    drawing.box(left + 7, y + 37, width - 14, 28, "scaled dot-product", 7)
    drawing.box(left + 7, y + 70, width - 14, 26, mask, of_mask, "small")


def residual(drawing: Drawing, x: float, below: float, above: float) -> None:
    """The line that goes round a sublayer and is added to what comes out of it."""
    centre, rail = x + INNER + (WIDTH - INNER - 10) / 2, x + RAIL
    data = f"M{centre:g} {below:g} H{rail:g} V{above:g} H{x + INNER - 3:g}"
    drawing.path(data, "residual")


def column(drawing: Drawing, x: float, sublayers: list[tuple], floor: float) -> float:
    """Sublayers from the floor upwards, each followed by add & norm; returns where it ends."""
    left, width = x + INNER, WIDTH - INNER - 10
    centre, y = left + width / 2, floor
    for kind, *words in sublayers:
        height = 104 if kind == "attention" else 34
        below, top = y, y - 18 - height
        drawing.path(f"M{centre:g} {below:g} V{top + height + 3:g}")
        if kind == "attention":
            attention(drawing, x, top, *words)
        else:
            drawing.box(left, top, width, height, "feed-forward", 11)
        norm = top - 12 - 28
        drawing.path(f"M{centre:g} {top:g} V{norm + 31:g}")
        drawing.box(left, norm, width, 28, "add & normalise", 10)
        residual(drawing, x, below - 4, norm + 14)
        y = norm
    return y


def layer_height(sublayers: list[tuple]) -> int:
    return sum((104 if kind == "attention" else 34) + 58 for kind, *_ in sublayers)


def draw() -> str:
    encoder = [("attention", "self-attention", "padding mask"), ("feed-forward",)]
    decoder = [
        ("attention", "self-attention", "causal and padding mask"),
        ("attention", "cross-attention", "padding mask"),
        ("feed-forward",),
    ]
    drawing = Drawing()
    top = 128
    floor = top + 46 + layer_height(decoder)
    below = floor + 26
    height = below + 196
    for x, sublayers, name, chapter in (
        (ENCODER, encoder, "encoder layer, N times", 12),
        (DECODER, decoder, "decoder layer, N times", 13),
    ):
        roof = floor - layer_height(sublayers) - 46
        drawing.add('<g class="frame">')
        drawing.add(
            f'  <rect x="{x}" y="{roof}" width="{WIDTH}" height="{floor - roof + 10}" rx="10"/>'
        )
        drawing.add("</g>")
        drawing.box(x + INNER, roof + 8, WIDTH - INNER - 10, 26, name, chapter, "small", 13)
        column(drawing, x, sublayers, floor)
        centre = x + INNER + (WIDTH - INNER - 10) / 2
        source = chapter == 12
        token = "source tokens" if source else "target tokens, shifted"
        drawing.path(f"M{centre:g} {below + 20} V{floor + 13}")
        drawing.box(x + INNER, below + 20, WIDTH - INNER - 10, 32, "+ positions", 5)
        drawing.path(f"M{centre:g} {below + 74} V{below + 55}")
        drawing.box(x + INNER, below + 74, WIDTH - INNER - 10, 32, "embedding", 4)
        drawing.path(f"M{centre:g} {below + 130} V{below + 109}")
        drawing.box(x + INNER, below + 130, WIDTH - INNER - 10, 32, token, 2 if source else 3)
    centre = DECODER + INNER + (WIDTH - INNER - 10) / 2
    drawing.path(f"M{centre:g} {top} V101")
    drawing.box(DECODER + INNER, 66, WIDTH - INNER - 10, 32, "projection, softmax", 14)
    drawing.path(f"M{centre:g} 66 V47")
    drawing.box(DECODER + INNER, 12, WIDTH - INNER - 10, 32, "search: next token", 17)
    # The encoder's output goes into every cross-attention of the decoder.
    roof = floor - layer_height(encoder) - 46
    encoder_centre = ENCODER + INNER + (WIDTH - INNER - 10) / 2
    cross = floor - (104 + 58) - 18 - 52
    gap = (ENCODER + WIDTH + DECODER) / 2
    turn = roof - 26
    drawing.path(f"M{encoder_centre:g} {roof} V{turn} H{gap:g} V{cross} H{DECODER + INNER - 3}")
    drawing.text(encoder_centre + 66, turn - 8, "memory", "small quiet")
    description = (
        "Two columns, read from bottom to top. Left: source tokens, embedding plus positions, and "
        "N encoder layers of self-attention and feed-forward network, each followed by add and "
        "normalise. Its output, the memory, goes to the right column. Right: target tokens "
        "shifted by one, embedding plus positions, and N decoder layers of masked self-attention, "
        "cross-attention to the memory and feed-forward network; then projection, softmax and the "
        "search for the next token. Dashed lines are residual connections."
    )
    return framed(drawing, height, "The encoder–decoder Transformer", description)


ONE, GAP = 145, 12  # left edge of the one column, and what lies between its parts


def draw_decoder_only() -> str:
    """One column, the norms in front: what is left without encoder and cross-attention."""
    drawing = Drawing()
    left, width = ONE + INNER, WIDTH - INNER - 10
    centre, y = left + width / 2, 12

    def part(height: int, words: str, chapter: int, style: str = "") -> None:
        nonlocal y
        drawing.box(left, y, width, height, words, chapter, style)
        y += height

    def arrow(length: int) -> None:
        nonlocal y
        drawing.path(f"M{centre:g} {y + length} V{y + 3}")
        y += length

    part(32, "search: next token", 17)
    arrow(22)
    part(32, "projection, softmax", 14)
    arrow(22)
    part(28, "last norm", 10)
    arrow(26)
    roof = y
    layer = 8 + 26 + 14 + (28 + GAP + 34 + GAP + 28) + 24 + (28 + GAP + 104 + GAP + 28) + 22
    drawing.add('<g class="frame">')
    drawing.add(f'  <rect x="{ONE}" y="{roof}" width="{WIDTH}" height="{layer}" rx="10"/>')
    drawing.add("</g>")
    y += 8
    drawing.box(left, y, width, 26, "layer, N times", 24, "small", 13)
    y += 26 + 14
    for kind in ("feed-forward", "attention"):
        top = y + 14
        part(28, "add", 10)
        arrow(GAP)
        if kind == "attention":
            attention(drawing, ONE, y, "self-attention", "causal or prefix mask", 24)
            y += 104
        else:
            part(34, "feed-forward", 11)
        arrow(GAP)
        part(28, "normalise", 10)
        residual(drawing, ONE, y + 10, top)
        arrow(24 if kind == "feed-forward" else 22 + 16)
    y -= 3
    part(32, "+ positions of real tokens", 5, "small")
    arrow(22)
    part(32, "embedding", 4)
    arrow(22)
    part(32, "one sequence of tokens", 24, "small")
    for height, words in ((roof + 20, "no encoder,"), (roof + 38, "no cross-attention")):
        drawing.text(ONE / 2, height, words, "small quiet")
    description = (
        "One column, read from bottom to top: source, the separator and target as one sequence of "
        "tokens, embedding plus positions, and N layers. In each, a norm, self-attention with a "
        "causal or a prefix mask, and an addition; a norm, the feed-forward network, and an "
        "addition. Then a last norm, projection, softmax and the search for the next token. Dashed "
        "lines are residual connections. There is no encoder and no cross-attention."
    )
    return framed(drawing, y + 12, "The decoder-only Transformer", description)


def framed(drawing: Drawing, height: float, title: str, description: str) -> str:
    """The file: the drawing with its title, its description and its colours."""
    body = "\n".join(drawing.lines)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" class="arch" viewBox="0 0 520 {height:g}" \
role="group" aria-labelledby="arch-title arch-desc">
<title id="arch-title">{title}</title>
<desc id="arch-desc">{description}</desc>
<style>{STYLE}  html[data-theme="dark"] .arch {{{DARK}  @media (prefers-color-scheme: dark) {{ \
.arch:root {{{DARK}  }}
</style>
<defs>
  <marker id="arch-head" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" \
orient="auto"><path class="head" d="M0 0 L8 4 L0 8 z"/></marker>
</defs>
{body}
</svg>
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="fail if the file is out of date")
    options = parser.parse_args()
    for name, draw_it in (("architecture", draw), ("decoder_only", draw_decoder_only)):
        path, drawn = FIGURES / f"{name}.svg", draw_it()
        if options.check:
            if not path.exists() or path.read_text(encoding="utf-8") != drawn:
                raise SystemExit(f"{path.name} is out of date: run tools/draw_architecture.py.")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
