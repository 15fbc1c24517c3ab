"""The book as one PDF: printed by Chromium, twice, so that the contents names the true pages.

The first print says on which page each place is; the second has these numbers in the room that was
kept for them. It is an error if anything has moved between the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pikepdf
from common import ALONE, served
from lxml import html
from lxml.html import HtmlElement
from lxml.html import builder as E
from paper_pages import ANSWERS, Page, appendix, page_number, text_of, with_class
from paper_stills import styles
from playwright.sync_api import sync_playwright

STYLE = Path(__file__).parent / "paper" / "pdf.css"
# Of the website: the colours of code, boxes, drawings.
STYLES = (
    "_static/pygments.css",
    *(f"_static/css/{name}.css" for name in ("formulas", "book", "print")),
)


def print_pdf(
    site: Path, pages: Sequence[Page], output: Path, *, book: Mapping[str, str], chromium: str
) -> int:
    """Print `pages` into the file `output`; how many pages of paper they take.

    Args:
        site: the folder of the website, whose figures are printed.
        book: its title, author, license, url and version, for the title page.
        chromium: the path of a Chromium or Chrome.
    """
    document = whole(pages, book)
    source = site / "paper.html"
    numbers: dict[str, int] = {}
    try:
        with sync_playwright() as playwright, served(site) as address:
            browser = playwright.chromium.launch(executable_path=chromium, args=ALONE)
            for _ in range(2):
                fill_in(document, numbers)
                source.write_text(
                    html.tostring(document, encoding="unicode", doctype="<!DOCTYPE html>"),
                    encoding="utf-8",
                )
                tab = browser.new_page()
                tab.goto(f"{address}{source.name}", timeout=0)
                tab.evaluate("document.fonts.ready.then(() => null)")
                tab.set_default_timeout(0)
                tab.pdf(
                    path=output,
                    prefer_css_page_size=True,
                    print_background=True,
                    outline=True,
                    tagged=True,
                )
                tab.close()
                before, numbers = numbers, places(output)
            browser.close()
    finally:
        source.unlink(missing_ok=True)
    wanted = {e.get("data-target") for e in with_class(document, "page-number")}
    moved = sorted(name for name in wanted if before.get(name) != numbers.get(name))
    if moved:
        raise RuntimeError(f"page numbers moved between the two prints: {', '.join(moved[:5])}")
    with pikepdf.open(output, allow_overwriting_input=True) as pdf:
        name_outline(pdf, document)
        # Chromium writes each element of the structure by itself: compressed, a third is left.
        pdf.save(output, object_stream_mode=pikepdf.ObjectStreamMode.generate)
        return len(pdf.pages)


def places(path: Path) -> dict[str, int]:
    """On which page each place is to which a link leads, from 1."""
    with pikepdf.open(path) as pdf:
        pages = {page.objgen: i for i, page in enumerate(pdf.pages, 1)}
        return {
            name.lstrip("/"): pages[destination[0].objgen]
            for name, destination in pdf.Root.get("/Dests", {}).items()
        }


def name_outline(pdf: pikepdf.Pdf, document: HtmlElement) -> None:
    """Chromium's outline leaves out the space at which a heading's line ends."""
    headings = map(text_of, document.iter("h1", "h2", "h3", "h4"))
    named = {title.replace(" ", ""): title for title in headings}
    items = [pdf.Root.get("/Outlines", {}).get("/First")]
    while items:
        if (item := items.pop()) is not None:
            title = str(item.Title)
            item.Title = named.get("".join(title.split()), title)
            items += [item.get("/First"), item.get("/Next")]


def fill_in(document: HtmlElement, numbers: Mapping[str, int]) -> None:
    """Write the page numbers; before they are known, as wide a number."""
    for element in with_class(document, "page-number"):
        for child in list(element):
            element.remove(child)
        element.text = element.get("data-before")
        element.append(E.B(str(numbers.get(element.get("data-target"), "000"))))


def whole(pages: Sequence[Page], book: Mapping[str, str]) -> HtmlElement:
    """All pages in one document: title, contents, pages, answers."""
    answers = [section for _, section in appendix(pages)]
    parts = [title_page(book), contents(pages, bool(answers)), *(page.body for page in pages)]
    if answers:
        parts.append(
            E.ARTICLE(
                E.H1("Answers, hints and solutions"),
                E.P(
                    "What is folded on the website, in the order of the book. The number in front "
                    "of each leads back to its question."
                ),
                *answers,
                id=ANSWERS,
            )
        )
        parts[-1].set("class", "page")
    heads = {page.slug: page.title for page in pages} | {ANSWERS: "Answers, hints and solutions"}
    sheets = [E.LINK(rel="stylesheet", href=path) for path in STYLES]
    own = "\n".join(
        [
            styles(),
            STYLE.read_text(encoding="utf-8"),
            *map(running_head, heads, heads.values()),
        ]
    )
    head = E.HEAD(E.META(charset="utf-8"), E.TITLE(book["title"]), *sheets, E.STYLE(own))
    body = E.BODY(*parts)
    body.set("class", "bd-article on-paper")
    document = E.HTML(head, body, lang="en")
    document.set("data-theme", "light")
    for image in document.iter("img"):  # it would wait to be scrolled to: then it is not on paper
        image.attrib.pop("loading", None)
    return document


def running_head(slug: str, title: str) -> str:
    """A page style of its own for each page of the book, which names it at the top."""
    quoted = title.replace("\\", "\\\\").replace('"', '\\"')
    return f'@page {slug} {{ @top-right {{ content: "{quoted}"; }} }}\n#{slug} {{ page: {slug}; }}'


def title_page(book: Mapping[str, str]) -> HtmlElement:
    page = E.SECTION(
        E.IMG(src="_static/logo.svg", alt=""),
        E.P(book["title"]),
        E.P(book["author"]),
        E.P(f"Version {book['version']}"),
        E.P("The website runs what stands here: ", E.A(book["url"], href=book["url"])),
        E.P(book["license"]),
        id="title-page",
    )
    return page


def contents(pages: Sequence[Page], answers: bool) -> HtmlElement:
    """Every page, with its sections and where it is."""
    listed = E.NAV(E.H1("Contents"), id="contents")
    part = ""
    for page in pages:
        if page.part != part:
            part = page.part
            caption = E.P(part)
            caption.set("class", "part")
            listed.append(caption)
        entry = E.DIV(line(page.slug, page.title, "entry"))
        entry.set("class", "chapter")
        entry.extend(line(section.id, section.title, "section") for section in page.sections)
        listed.append(entry)
    if answers:
        listed.append(line(ANSWERS, "Answers, hints and solutions", "entry"))
    return listed


def line(target: str, title: str, kind: str) -> HtmlElement:
    entry = E.A(E.SPAN(title), page_number(target, ""), href=f"#{target}")
    entry.set("class", kind)
    return entry
