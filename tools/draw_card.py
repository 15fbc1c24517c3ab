#!/usr/bin/env python3
"""Draw book/assets/social-card.png, what other places show beside a link to the book.

The card is composed as SVG from the book's own logo, title and author line, and painted by an
installed Chromium. The PNG carries a digest of that SVG: --check draws nothing and says whether
the card is still made from the present logo and title.
"""

from __future__ import annotations

import argparse
import hashlib
import struct
import zlib
from pathlib import Path
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from common import ROOT, configuration, installed_chromium

LOGO = ROOT / "book" / "assets" / "logo.svg"
TARGET = ROOT / "book" / "assets" / "social-card.png"
WIDTH, HEIGHT = 1200, 630  # what the places that show such cards ask for
KEYWORD = b"made-from"
SIGNATURE = b"\x89PNG\r\n\x1a\n"
SVG = "http://www.w3.org/2000/svg"
LINES = ("Build the encoder–decoder Transformer", "by hand, prove it, break it, train it.")


def compose(logo: str, title: str) -> str:
    """The card as SVG: the cells of the logo, large, and the title beside them."""
    ElementTree.register_namespace("", SVG)
    root = ElementTree.fromstring(logo)
    size = float(root.get("viewBox").split()[2])
    parts = [
        ElementTree.tostring(part, encoding="unicode").strip()
        for part in root
        if part.tag != f"{{{SVG}}}title"
    ]
    paper, *cells = parts  # the logo's ground becomes the card's
    colour = ElementTree.fromstring(paper).get("fill")
    first, second = title.split(", ")
    words = "".join(
        f'<text x="84" y="{y}" class="{style}">{escape(text)}</text>'
        for text, y, style in (
            (f"{first},", 232, "title"),
            (second, 318, "title"),
            (LINES[0], 418, "line"),
            (LINES[1], 462, "line"),
        )
    )
    scale = 500 / size
    return f"""<svg xmlns="{SVG}" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">
<style>
  text {{ font-family: "DejaVu Sans", Verdana, sans-serif; fill: #ffffff; }}
  .title {{ font-size: 74px; font-weight: 700; letter-spacing: -1px; }}
  .line {{ font-size: 29px; fill: #c9dcf8; }}
</style>
<rect width="{WIDTH}" height="{HEIGHT}" fill="{colour}"/>
<g transform="translate(690 {(HEIGHT - 500) / 2:g}) scale({scale:g})">{"".join(cells)}</g>
{words}
</svg>
"""


def card() -> str:
    return compose(LOGO.read_text(encoding="utf-8"), configuration()["title"])


def chunk(kind: bytes, data: bytes) -> bytes:
    """One chunk of a PNG file: length, kind, data, checksum."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def marked(png: bytes, svg: str) -> bytes:
    """The PNG with the digest of the SVG that it was painted from, before its last chunk."""
    digest = hashlib.sha256(svg.encode()).hexdigest().encode()
    end = png.rindex(b"IEND") - 4
    return png[:end] + chunk(b"tEXt", KEYWORD + b"\0" + digest) + png[end:]


def outdated(png: bytes, svg: str) -> str | None:
    """What is wrong with the committed card, or None."""
    if png[:8] != SIGNATURE or struct.unpack(">II", png[16:24]) != (WIDTH, HEIGHT):
        return f"is no PNG of {WIDTH} × {HEIGHT} pixels"
    digest = hashlib.sha256(svg.encode()).hexdigest().encode()
    if KEYWORD + b"\0" + digest not in png:
        return "was painted from another logo or title"
    return None


def paint(svg: str) -> bytes:
    from playwright.sync_api import sync_playwright

    found = installed_chromium()  # None: Playwright's own
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_content(f'<!doctype html><body style="margin:0">{svg}')
        png = page.screenshot(type="png")
        browser.close()
    return png


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="fail if the card is out of date")
    options = parser.parse_args()
    svg = card()
    if options.check:
        wrong = outdated(TARGET.read_bytes(), svg) if TARGET.exists() else "does not exist"
        if wrong:
            raise SystemExit(f"{Path(TARGET).name} {wrong}: run tools/draw_card.py.")
        return
    TARGET.write_bytes(marked(paint(svg), svg))


if __name__ == "__main__":
    main()
