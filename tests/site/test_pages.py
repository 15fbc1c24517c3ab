"""The built website as files: every link leads somewhere, every image says what to see."""

from __future__ import annotations

import functools
import gzip
import re
from pathlib import Path

from common import ROOT, notebooks, repository_url

from tests.site.html_pages import HtmlPage, Reader, broken, read_pages


def test_every_link_and_anchor_leads_somewhere(site: Path) -> None:
    assert broken(site) == []


def test_scratch_book_has_no_broken_link_either(scratch: Path) -> None:
    assert broken(scratch) == []


def test_the_link_checker_bites(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<p id="here">', encoding="utf-8")
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here"></a><a href="b.html#gone"></a><a href="c.html"></a><img src="d.png">',
        encoding="utf-8",
    )
    assert broken(tmp_path) == [
        "a.html links to b.html#gone, which has no such anchor",
        "a.html links to c.html, which does not exist",
        "a.html links to d.png, which does not exist",
    ]


def test_every_image_says_what_to_see(site: Path) -> None:
    silent = [
        f"{path.relative_to(site)}: {image.get('src')}"
        for path, page in read_pages(site).items()
        for image in page.images
        if not image.get("alt", "").strip() and "logo__image" not in image.get("class", "")
    ]
    assert silent == []  # the logo's alternative text is the title that stands beside it


def test_no_page_loads_from_another_host(site: Path) -> None:
    foreign = [
        f"{path.relative_to(site)}: {address}"
        for path, page in read_pages(site).items()
        for address in page.loads
        if re.match(r"(?:https?:)?//", address)
    ]
    assert foreign == []


def test_styles_load_nothing_from_another_host(site: Path) -> None:
    foreign = [
        f"{path.relative_to(site)}: {found}"
        for path in site.rglob("*.css")
        for found in re.findall(
            r"(?:url\(\s*['\"]?|@import\s+['\"])((?:https?:)?//[^)'\"]+)",
            path.read_text(encoding="utf-8"),
        )
    ]
    assert foreign == []


def test_notebooks_have_a_colab_button_for_the_one_repository(site: Path) -> None:
    name = repository_url().removeprefix("https://github.com/")
    pages = read_pages(site)
    for path in notebooks():
        here = path.relative_to(ROOT)
        wanted = f"https://colab.research.google.com/github/{name}/blob/main/{here.as_posix()}"
        assert wanted in pages[site / here.with_suffix(".html")].links, path.name


def test_every_chapter_leads_to_the_debugging_page(site: Path) -> None:
    pages = read_pages(site)
    for path in notebooks():
        here = path.relative_to(ROOT)
        if here.parts[0] == "chapters":
            text = (site / here.with_suffix(".html")).read_text(encoding="utf-8")
            assert text.count('<p class="debugging">') == 1, path.name
            assert "../book/debugging.html" in pages[site / here.with_suffix(".html")].links


def test_no_explorer_is_folded(site: Path) -> None:
    """It stands in the core of its chapter: in no closed details, and not in what is further."""
    explorers = [
        (path.name, *explorer)
        for path, page in read_pages(site).items()
        for explorer in page.explorers
    ]
    assert len({page for page, _, _ in explorers}) > 15
    assert [each for each in explorers if each[2]] == []


def test_a_folded_explorer_is_noticed() -> None:
    page = HtmlPage(Path("page.html"))
    place = '<div class="explorer-place" data-name="NAME"></div>'
    Reader(page).feed(
        f"<section>{place}<section class='further'><h2>F</h2>{place}</section>"
        f"<details open>{place}</details><details>{place}</details>{place}</section>"
    )
    assert [folded for _, folded in page.explorers] == ["", "Further", "", "details", ""]


def test_set_up_and_imports_are_one_folded_line(site: Path) -> None:
    """The first cell of each chapter; no other cell before the text installs or imports."""
    first = re.compile(r'<div class="cell [^"]*">\s*(.*?)</summary>', re.DOTALL)
    for path in notebooks():
        here = path.relative_to(ROOT)
        if here.parts[0] == "chapters":
            text = (site / here.with_suffix(".html")).read_text(encoding="utf-8")
            cell = first.search(text)[1]
            assert re.match(r'<details class="[^"]*\bhide\b[^"]*">', cell), path.name
            assert ">Set-up and imports<" in cell and "cell_input" not in cell, path.name
            assert "%pip" not in text, path.name


def test_figures_carry_caption_and_text_once(scratch: Path) -> None:
    text = (scratch / "chapters" / "07_scratch.html").read_text(encoding="utf-8")
    figure = re.search(r'<figure class="book-figure.*?</figure>', text, re.DOTALL)[0]
    assert 'alt="A black bar."' in figure
    assert "<strong>length</strong>" in figure and "Fig." not in figure
    assert text.count("A bar of") == text.count("A bar of **length**") + 1  # as source, and as text


def test_figure_of_the_architecture_links_to_existing_chapters_only(scratch: Path) -> None:
    text = (scratch / "book" / "landing.html").read_text(encoding="utf-8")
    figure = re.search(r'<figure class="drawing.*?</figure>', text, re.DOTALL)[0]
    links = set(re.findall(r'<a href="([^"]+)"', figure))
    assert links == {"../chapters/07_scratch.html", "../chapters/08_plain.html"}
    assert "unwritten" in figure


def test_figure_of_one_stack_is_drawn_in_its_chapter(scratch: Path) -> None:
    text = (scratch / "chapters" / "07_scratch.html").read_text(encoding="utf-8")
    figure = re.search(r'<figure class="drawing.*?</figure>', text, re.DOTALL)[0]
    assert "The decoder-only Transformer" in figure and "decoder_only.svg" not in text
    assert "unwritten" in figure and "<a " not in figure  # the one written chapter is this page
    assert 'class="part" data-chapter="07"' in figure
    caption = re.search(r"<figcaption>(.*)</figcaption>", figure, re.DOTALL)[1]
    assert re.sub("<.*?>", "", caption).strip() == "What is left of it."
    assert "<em>What is" not in text


def test_a_page_without_widgets_weighs_at_most_a_megabyte(site: Path) -> None:
    """What each page loads, the script for its formulas included, every file compressed."""
    heavy = {}
    size = functools.cache(lambda file: len(gzip.compress(file.read_bytes())))
    for path, page in read_pages(site).items():
        loads = [load.split("?")[0] for load in page.loads if not load.startswith("data:")]
        files = {path, *((path.parent / load).resolve() for load in loads)}
        total = sum(map(size, files))
        if total > 1_000_000:
            heavy[path.name] = total
    assert heavy == {}
