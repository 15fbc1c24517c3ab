"""What the book on paper is made of: the website's pages, one after the other, with nothing folded.

* An answer, a hint, a solution moves from its place to an appendix; a link leads there, and another
  one back. The code that draws a figure stays in the notebook, as in the print of a single page.
* An explorer becomes a still with a caption (`paper_stills`), or, without one, the numbers it
  begins with, as text.
* Every id begins with the name of its page, so that all pages can stand in one file, and every link
  within the book leads to such an id. Other links name the published website.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from posixpath import join, normpath
from urllib.parse import urlsplit

import yaml
from common import ROOT, configuration
from lxml import html
from lxml.html import HtmlElement
from lxml.html import builder as E

ANSWERS = "answers"
BY_NAME = ("Hint", "Answer", "What you should find", "The documentation of ")
TITLE = re.compile(r"#\s*@title\s+(.+)")
POINTS = (
    "href",
    "aria-labelledby",
    "aria-describedby",
    "for",
    "clip-path",
    "fill",
    "mask",
    "style",
)


@dataclass
class Section:
    """A heading of the second rank, for the contents."""

    id: str
    title: str


@dataclass
class Page:
    """A page of the book: where it stands, and what is left of it when the answers are moved."""

    name: str  # as _toc.yml has it: "chapters/05_positions"
    part: str
    title: str
    body: HtmlElement
    answers: list[HtmlElement] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)

    @property
    def slug(self) -> str:
        return slug_of(self.name)


def slug_of(name: str) -> str:
    """The beginning of every id of a page; XML wants a letter first."""
    stem = name.rpartition("/")[2]
    return f"chapter-{stem}" if stem[0].isdigit() else stem


def listed(root: Path) -> Iterator[tuple[str, str]]:
    """Every page of the table of contents, in reading order, and the part in which it stands."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    yield toc["root"], ""
    for part in toc["parts"]:
        for chapter in part["chapters"]:
            yield chapter["file"], part["caption"]


def has_class(element: HtmlElement, name: str) -> bool:
    return name in (element.get("class") or "").split()


def with_class(element: HtmlElement, name: str) -> list[HtmlElement]:
    """The descendants that have a class."""
    found = element.xpath(f'.//*[contains(concat(" ", normalize-space(@class), " "), " {name} ")]')
    return list(found)


def text_of(element: HtmlElement) -> str:
    """The text in one line."""
    return " ".join(element.text_content().split())


# --- reading --------------------------------------------------------------------------------------


def read_pages(
    site: Path,
    root: Path = ROOT,
    only: Sequence[str] = (),
    stills: Mapping[str, Sequence[HtmlElement | None]] | None = None,
) -> list[Page]:
    """The pages of a built website, ready for paper.

    Args:
        site: the folder of the built website.
        only: the names of some pages (default: every page of the table of contents).
        stills: for each page what stands in the place of its explorers, in their order.
    """
    pages = []
    for name, part in listed(root):
        if only and name not in only:
            continue
        path = site / f"{name}.html"
        document = html.fromstring(path.read_bytes(), parser=html.HTMLParser(encoding="utf-8"))
        (article,) = with_class(document, "bd-article")
        body = E.ARTICLE(*article, id=slug_of(name))
        body.set("class", "page")
        clean(body)
        address = f"{configuration(root)['html']['baseurl'].rstrip('/')}/{name}.html"
        put_stills(body, (stills or {}).get(name, ()), address, numbers_of(root / f"{name}.ipynb"))
        pages.append(Page(name, part, text_of(body.find(".//h1")), body))
    for page in pages:
        name_everything(page)
        Answers(page).move()
        page.sections = [
            Section(h2.get("id"), text_of(h2))
            for h2 in page.body.iter("h2")
            if h2.get("id") and len(text_of(h2)) > 1  # no letter of the glossary
        ]
    lead(pages, configuration(root)["html"]["baseurl"])
    return pages


def clean(body: HtmlElement) -> None:
    """Take away what only a screen can use."""
    only_there = ("headerlink", "copybtn", "skip-link", "onlyprint", "further-bar", "controls")
    for kind in (*only_there, "tag_remove-cell"):
        for element in with_class(body, kind):
            element.drop_tree()
    for element in list(body.iter("style", "template", "button")):
        if element.xpath("ancestor::svg"):  # a drawing has its own style
            element.text = unescape(element.text or "")  # the parser reads it as HTML's
            continue
        element.drop_tag() if element.tag == "template" else element.drop_tree()
    for cell in with_class(body, "tag_exercise"):  # "Not started yet."
        for output in with_class(cell, "cell_output"):
            output.drop_tree()
    # A place is where its heading is: a section may begin at the end of the page before.
    for section in list(body.iter("section")):
        heading = next((e for e in section if e.tag in {"h1", "h2", "h3", "h4"}), None)
        if heading is not None and section.get("id") and not heading.get("id"):
            heading.set("id", section.attrib.pop("id"))
            for other in [e for e in section[: section.index(heading)] if e.tag == "span"]:
                heading.insert(0, other)
                other.tail, heading.text = heading.text, None
    for element in body.iter():
        for attribute in ("tabindex", "onclick"):
            element.attrib.pop(attribute, None)


def explorer_places(body: HtmlElement) -> list[HtmlElement]:
    """Where the website mounts explorers, in the order of the page."""
    return [
        element
        for element in body.iter("div")
        if "explorer-place" in (element.get("class") or "").split()
    ]


def numbers_of(path: Path) -> list[str]:
    """What a notebook says of each of its explorers in text, for front ends that show none."""
    if not path.exists():
        return []
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    shown = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]
    view = "application/vnd.jupyter.widget-view+json"
    return ["".join(data.get("text/plain", "")).strip() for data in shown if view in data]


def put_stills(
    body: HtmlElement,
    stills: Sequence[HtmlElement | None],
    address: str,
    numbers: Sequence[str] = (),
) -> None:
    """Put the stills in the places of explorers; where there is none, the numbers as text."""
    places = explorer_places(body)
    if stills and len(stills) != len(places):
        raise ValueError(f"{address}: {len(places)} explorers, {len(stills)} stills")
    for i, (place, still) in enumerate(zip(places, stills or [None] * len(places), strict=True)):
        text = place.find("noscript")
        words = "" if text is None else text.text_content().strip()
        words = words or (numbers[i] if i < len(numbers) else "")
        if text is not None:
            text.drop_tree()
        if still is None:
            still = E.PRE(words) if words else E.P("It needs a browser.")
            still.set("class", "explorer-text")
        caption = E.FIGCAPTION("An explorer, as it opens. ", E.A("Move it", href=address), ".")
        figure = E.FIGURE(still, caption)
        figure.set("class", "still")
        for image in figure.iter("img"):
            image.set("alt", words or image.get("alt", ""))
        place.getparent().replace(place, figure)
    for script in list(body.iter("script", "noscript")):
        script.drop_tree()


# --- names ----------------------------------------------------------------------------------------


def name_everything(page: Page) -> None:
    """Let every id of the page begin with the page's name, and all that points to it follow."""
    known = {element.get("id") for element in page.body.iterdescendants() if element.get("id")}
    seen: set[str] = set()
    for element in list(page.body.iterdescendants()):
        if not isinstance(element.tag, str):
            element.drop_tree()  # comments
            continue
        if (name := element.get("id")) is not None:
            if name in seen or not name:
                del element.attrib["id"]
            else:
                seen.add(name)
                element.set("id", f"{page.slug}--{name}")
        for attribute in POINTS:
            value = element.get(attribute)
            if value is None:
                continue
            if attribute == "href":
                if value.startswith("#"):
                    element.set("href", f"#{page.slug}--{value[1:]}" if value[1:] else "#")
            elif "url(#" in value:
                element.set(attribute, value.replace("url(#", f"url(#{page.slug}--"))
            elif attribute.startswith("aria-") or attribute == "for":
                named = [f"{page.slug}--{part}" for part in value.split() if part in known]
                element.set(attribute, " ".join(named))
                if not named:
                    del element.attrib[attribute]


def lead(pages: Sequence[Page], published: str) -> None:
    """Let links within the book lead to its ids, and the others to the published website.

    The sources of images begin at the folder of the website then.

    Raises:
        ValueError: a link leads to a place of the book that is not there.
    """
    slugs = {page.name: page.slug for page in pages}
    ids = {
        element.get("id")
        for page in pages
        for part in (page.body, *page.answers)
        for element in part.iter()
        if element.get("id")
    }
    for page in pages:
        folder = page.name.rpartition("/")[0]
        for part in (page.body, *page.answers):
            for image in part.iter("img"):
                if not urlsplit(image.get("src")).scheme:
                    image.set("src", normpath(join(folder, image.get("src"))))
            for link in part.iter("a"):
                href = link.get("href")
                if href is None or urlsplit(href).scheme:
                    continue
                if not href.startswith("#"):
                    place = urlsplit(href)
                    path = normpath(join(folder, place.path))
                    name = path.removesuffix(".html")
                    if name not in slugs or place.query:
                        link.set("href", published.rstrip("/") + "/" + path + _rest(place))
                        continue
                    fragment = f"--{place.fragment}" if place.fragment else ""
                    href = f"#{slugs[name]}{fragment}"
                    link.set("href", href)
                if href[1:] not in ids:
                    raise ValueError(f"{page.name}: a link leads to {href}, which is not there")


def _rest(place) -> str:
    query = f"?{place.query}" if place.query else ""
    return query + (f"#{place.fragment}" if place.fragment else "")


# --- answers --------------------------------------------------------------------------------------


class Answers:
    """Moves what is folded on a page to the appendix: `page.answers`, numbered as 5.1, 5.2, …"""

    def __init__(self, page: Page) -> None:
        self.page = page
        number = re.match(r"(\d+)\. ", page.title)
        self.number = f"{number[1]}." if number else ""

    def move(self) -> None:
        for cell in with_class(self.page.body, "cell"):
            folded = cell.find("details")
            if folded is not None and has_class(cell, "tag_hide-input"):
                draws = cell.xpath(".//img | .//svg | .//figure | .//table")
                if draws or not text_of(folded):
                    folded.drop_tree()
        while (first := next(self.page.body.iter("details"), None)) is not None:
            if has_class(first.getparent(), "box-predict"):
                self.options(first)
            else:
                self.single(first)

    def entry(self, label: HtmlElement | str, *contents: HtmlElement) -> HtmlElement:
        """Add an answer; the link that leads to it."""
        here = f"{self.page.slug}--asked-{len(self.page.answers) + 1}"
        there = f"{self.page.slug}--answer-{len(self.page.answers) + 1}"
        name = f"{self.number}{len(self.page.answers) + 1}"
        head = E.P(E.A(name, href=f"#{here}"), page_number(here, "p. "), " ", label)
        head.set("class", "answer-head")
        head.set("id", there)
        answer = E.DIV(head, *contents)
        answer.set("class", "answer")
        self.page.answers.append(answer)
        link = E.SPAN(E.A(name, href=f"#{there}"), page_number(there, ", p. "), id=here)
        link.set("class", "to-answer")
        return link

    def options(self, first: HtmlElement) -> None:
        """Guesses of a prediction: the guesses stay, what becomes of them goes."""
        box = first.getparent()
        guesses, outcomes = E.OL(), E.OL()
        for listed in (guesses, outcomes):
            listed.set("class", "guesses")
            listed.set("type", "A")
        position = box.index(first)
        for folded in box.findall("details"):
            summary = taken_summary(folded)
            guesses.append(E.LI(*as_content(summary)))
            outcomes.append(E.LI(*as_content(folded)))
            box.remove(folded)  # a tail is white space
        question = E.SPAN(without_bold(box))
        box.insert(position, guesses)
        link = self.entry(question, outcomes)
        line = E.P("The answer: ", link)
        line.set("class", "asked")
        box.insert(position + 1, line)

    def single(self, folded: HtmlElement) -> None:
        """A hint, an answer, a solution: a line leads to it. A question stays."""
        parent = folded.getparent()
        summary = taken_summary(folded)
        label = text_of(summary)
        is_code = has_class(folded, "hide")
        if is_code:
            found = TITLE.search(folded.text_content())
            label = found[1].strip() if found else "Inputs"
            for comment in with_class(folded, "c1")[: 1 if found else 0]:
                comment.drop_tree()  # the title would stand there twice
        by_name = is_code or label.startswith(BY_NAME)
        contents = as_content(folded)
        if by_name:
            line = E.P(f"{label}: ", self.entry(label, *contents))
        else:
            asked = E.SPAN(*as_content(summary))
            line = E.P(asked, " ", self.entry(_copy(asked), *contents))
        line.set("class", "asked by-name" if by_name else "asked")
        line.tail = folded.tail
        previous = folded.getprevious()
        if by_name and previous is not None and has_class(previous, "by-name"):
            previous[-1].tail = " · "
            previous.append(E.SPAN(line.text, *line))
            previous.tail = folded.tail
            parent.remove(folded)
        else:
            parent.replace(folded, line)


def taken_summary(folded: HtmlElement) -> HtmlElement:
    summary = folded.find("summary")
    folded.text = (folded.text or "") + (summary.tail or "")
    summary.tail = None
    folded.remove(summary)
    return summary


def as_content(element: HtmlElement) -> list[HtmlElement | str]:
    """What an element holds, for another one: its text, its children with their tails."""
    return [element.text or "", *element]


def _copy(element: HtmlElement) -> HtmlElement:
    """The same words once more: without ids, which stand only once."""
    again = html.fromstring(html.tostring(element))
    for each in again.iter():
        each.attrib.pop("id", None)
    return again


def without_bold(box: HtmlElement) -> str:
    """The question of a box: its last sentence that asks."""
    said = " ".join(text_of(p) for p in box.findall("p"))
    asks = re.findall(r"[^.?!]*\?", said)
    return asks[-1].strip() if asks else said


def page_number(target: str, before: str) -> HtmlElement:
    """The place of a page number, which only paper has: `paper_pdf` fills it in."""
    number = E.SPAN("")
    number.set("class", "page-number")
    number.set("data-target", target)
    number.set("data-before", before)
    return number


def appendix(pages: Sequence[Page]) -> Iterator[tuple[Page, HtmlElement]]:
    """For each page that has them, its answers under its title."""
    for page in pages:
        if page.answers:
            identity = f"{ANSWERS}-{page.slug}"
            title = E.H2(E.A(page.title, href=f"#{page.slug}"), id=identity)
            yield page, E.SECTION(title, *page.answers)
