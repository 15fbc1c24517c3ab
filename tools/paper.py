#!/usr/bin/env python3
"""The book on paper: one PDF (`make pdf`), or an EPUB for electronic readers (`make epub`).

Both are made of the website's pages with the committed outputs; nothing is executed. What is folded
there stands in an appendix, with links there and back, and explorers are stills. A PDF is printed
by Chromium; an EPUB takes its stills from Chromium, and where there is none, the explorers' numbers
as text.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from build_site import build_site
from common import ROOT, configuration, installed_chromium
from lxml import html
from paper_epub import write_epub
from paper_pages import listed, read_pages
from paper_pdf import print_pdf
from paper_stills import Still, take_stills

from transformer_book import __version__

NAME = "transformers-cell-by-cell"
NO_BROWSER = (
    "A PDF is printed by Chromium or Chrome: install one of them, or run "
    "`.venv/bin/python -m playwright install chromium`, and try again."
)
WITHOUT = "There is no Chromium or Chrome here, so explorers appear as their numbers, as text."


def browser() -> str | None:
    """A Chromium: an installed one, else Playwright's own."""
    if found := installed_chromium():
        return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if own and Path(own).exists() else None


def about(root: Path = ROOT) -> dict[str, str]:
    """What the title page says."""
    settings = configuration(root)
    return {
        "title": settings["title"],
        "author": settings["author"],
        "url": settings["html"]["baseurl"],
        "version": __version__,
        "license": "Code: MIT. Text and figures: CC BY 4.0.",
    }


def pictures(stills: dict[str, list[Still]], folder: Path) -> dict[str, list[html.HtmlElement]]:
    """The stills as images, for an EPUB; their files go into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    images: dict[str, list[html.HtmlElement]] = {}
    for name, taken in stills.items():
        for i, still in enumerate(taken, 1):
            path = folder / f"{name.rpartition('/')[2]}-{i}.png"
            path.write_bytes(still.picture)
            image = html.Element("img", src=str(path), alt=still.name)
            images.setdefault(name, []).append(image)
    return images


def make(
    output: Path,
    site: Path,
    stills: dict[str, list[Still]],
    chromium: str | None,
    only: Sequence[str] = (),
) -> int | None:
    """Make the file, a PDF or an EPUB by its name, of a built website; how many pages a PDF has."""
    output.parent.mkdir(parents=True, exist_ok=True)
    if output.suffix == ".pdf":
        marked = {name: [still.markup for still in taken] for name, taken in stills.items()}
        pages = read_pages(site, only=only, stills=marked)
        return print_pdf(site, pages, output, book=about(), chromium=chromium)
    pages = read_pages(site, only=only, stills=pictures(stills, output.parent / "stills"))
    moment = float(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    modified = datetime.fromtimestamp(moment, UTC)
    write_epub(site, pages, output, book=about(), modified=modified)
    return None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=("pdf", "epub"))
    parser.add_argument("--output", type=Path, help="the file (default: in _build/paper)")
    parser.add_argument("--site", type=Path, help="a built website (default: it is built first)")
    parser.add_argument("--only", nargs="+", default=[], metavar="PAGE", help="some pages")
    options = parser.parse_args()
    folder = ROOT / "_build" / "paper"
    output = options.output or folder / f"{NAME}.{options.kind}"
    chromium = browser()
    if chromium is None:
        if options.kind == "pdf":
            sys.exit(NO_BROWSER)
        print(WITHOUT)
    if output.suffix != f".{options.kind}":
        parser.error(f"the file is a {options.kind.upper()}: let its name end with .{options.kind}")
    if unknown := set(options.only) - {name for name, _ in listed(ROOT)}:
        parser.error(f"not in _toc.yml: {', '.join(sorted(unknown))}")
    try:
        site = options.site or build_site(output=folder)
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
    names = options.only or [name for name, _ in listed(ROOT)]
    stills = take_stills(site, names, chromium) if chromium else {}
    n_pages = make(output, site, stills, chromium, options.only)
    size = output.stat().st_size / 1e6
    print(f"{output}: {f'{n_pages} pages, ' if n_pages else ''}{size:.1f} MB")


if __name__ == "__main__":
    main()
