"""The pages around the chapters: landing page, 404, errata; cards, and what comes out on paper."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import pytest
from common import ROOT, configuration, notebooks, repository_url
from docutils import nodes
from docutils.utils import new_document
from myst_nb.core.render import WIDGET_VIEW_MIMETYPE, MimeData
from playwright.sync_api import Browser, Page
from sphinx import addnodes
from transformer_book_explorers import Explorers, explorer_in, views_of
from transformer_book_pages import description_of

from tests.site.accessibility import NARROW, violations, width_of
from tests.site.html_pages import read_pages
from tests.site.test_widgets import control, differing, drive, names_of_controls, shown
from tests.site.widget_cases import CASES
from transformer_book.widgets import GeometryExplorer

LANDING = "book/landing.html"
CHAPTER = "chapters/06_geometry_of_attention.html"
GEOMETRY = next(case for case in CASES if case.widget is GeometryExplorer)


# --- the landing page -----------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["server", "folder"])
def test_the_explorer_of_the_landing_page_is_alive(site: Path, serve, visit, way: str) -> None:
    address = serve(site) if way == "server" else site.as_uri()
    seen = visit(f"{address}/{LANDING}")
    root = seen.explorer("GeometryExplorer")
    problems = differing(GEOMETRY, root)
    # What the text beside it says of the start.
    said = re.search(
        r"A gets (\d\.\d\d), B gets (\d\.\d\d)", (ROOT / "book/landing.md").read_text("utf-8")
    )
    assert [shown(root)[f"weights.{j}"][0] for j in (0, 1)] == list(said.groups())
    name, key, path, text = GEOMETRY.example
    control(root, names_of_controls(root).index(name)).focus()
    seen.page.keyboard.press(key)
    assert shown(root)[path][0] == text
    root.locator("button.reset").click()
    problems += drive(GEOMETRY, seen.page, root, "pointer") + seen.problems
    assert not problems, "\n" + "\n".join(problems)


def test_the_landing_page_invites_in_three_ways(site: Path) -> None:
    text = (site / LANDING).read_text(encoding="utf-8")
    assert re.findall(r"sd-card-title[^>]*>\s*(\w+)", text) == ["Read", "Run", "Teach"]
    links = read_pages(site)[site / LANDING].links
    for name in ("how_to_read.html", "how_to_read.html#run-a-chapter", "teaching.html"):
        assert name in links, name
    figure = re.search(r'<figure class="drawing.*?</figure>', text, re.DOTALL)[0]
    drawn = set(re.findall(r'data-chapter="(\d\d)"', figure))
    written = {path.name[:2] for path in notebooks() if path.parent.name == "chapters"}
    assert set(re.findall(r'<a href="../chapters/(\d\d)_', figure)) == drawn & written != set()


def test_how_to_read_lists_the_times_that_the_chapters_state(site: Path) -> None:
    text = re.sub(r"<[^>]+>|\s+", " ", (site / "book/how_to_read.html").read_text(encoding="utf-8"))
    text = re.sub(r" +", " ", text)
    for path in notebooks():
        if path.parent.name != "chapters":
            continue
        cell = json.loads(path.read_text(encoding="utf-8"))["cells"][0]
        stated = re.search(
            r"\*\*Time:\*\* (\d+) minutes for the core, (\d+) for all of it; (.+) to run",
            "".join(cell["source"]),
        )
        title = (site / path.relative_to(ROOT)).with_suffix(".html").read_text(encoding="utf-8")
        title = re.sub(r"<[^>]+>", "", re.search(r"<h1>(.*?)<a class=", title)[1])
        read = f"{stated[1]} minutes {stated[2]} minutes"
        assert f" {title} {read} {stated[3]} " in text, path.name


# --- 404 ------------------------------------------------------------------------------------------


class Published:
    """The site behind an address, answered without a network; what is not there is 404.html."""

    def __init__(self, site: Path, address: str) -> None:
        self.site, self.address = site, address
        self.requests: list[str] = []
        self.problems: list[str] = []

    def answer(self, route) -> None:
        url = unquote(route.request.url.partition("?")[0].partition("#")[0])
        self.requests.append(f"{route.request.method} {url}")
        if not url.startswith(f"{self.address}/"):
            self.problems.append(f"asks for {url}")
            route.abort()
            return
        file = self.site / url.removeprefix(f"{self.address}/")
        if file.is_file():
            route.fulfill(path=file)
        else:
            route.fulfill(status=404, content_type="text/html", path=self.site / "404.html")


PLACES = {
    "where it is published": configuration()["html"]["baseurl"].rstrip("/"),
    "alone on a host": "http://127.0.0.1:8000",
    "in a folder of another host": "http://127.0.0.1:8000/a/preview",
}


@pytest.fixture(params=PLACES)
def published(site: Path, request: pytest.FixtureRequest) -> Published:
    """The site at its own address, or a copy of it elsewhere."""
    return Published(site, PLACES[request.param])


@pytest.fixture
def reader(browser: Browser, published: Published) -> Iterator[Page]:
    context = browser.new_context()
    context.route("**/*", published.answer)
    page = context.new_page()
    page.on("pageerror", lambda error: published.problems.append(f"script error: {error}"))
    yield page
    context.close()


@pytest.mark.parametrize(
    "missing", ["gone.html", "chapters/08_mask.html", "a/b/c/d/", "book/ü <b>", "book/book/x"]
)
def test_a_missing_page_leads_on_from_any_depth(
    site: Path, published: Published, reader: Page, missing: str
) -> None:
    assert reader.goto(f"{published.address}/{missing}").status == 404
    assert reader.locator("h1").inner_text() == "This page does not exist"
    assert missing in reader.locator("#asked").inner_text()
    start = f"{published.address}/{LANDING}"
    reader.wait_for_function("a => document.querySelector('main li a').href === a", arg=start)
    asked = [request for request in published.requests if not request.startswith("HEAD ")]
    assert len(asked) == 1, "it loads something, which may not be where it looks"
    links = set(reader.locator("main a").evaluate_all("all => all.map(e => e.href)"))
    outside = {link for link in links if not link.startswith(f"{published.address}/")}
    assert outside == {f"{repository_url()}/issues"}
    inside = [site / link.removeprefix(f"{published.address}/") for link in links - outside]
    assert len(inside) >= len(notebooks())
    assert [file for file in inside if not file.is_file()] == []
    reader.get_by_role("link", name="The first page").click()
    reader.wait_for_url(start)
    assert published.problems == []


def test_a_missing_page_offers_a_search_for_its_words(published: Published, reader: Page) -> None:
    reader.goto(f"{published.address}/chapters/08_beam_search.html")
    start = f"{published.address}/{LANDING}"
    reader.wait_for_function("a => document.querySelector('main li a').href === a", arg=start)
    words = reader.get_by_label("Search the book")
    assert words.input_value() == "beam search"
    words.press("Enter")
    reader.wait_for_url(f"{published.address}/search.html?q=beam+search")
    reader.wait_for_selector("#search-results li a")
    assert published.problems == []


def test_the_missing_page_needs_no_script(site: Path) -> None:
    """What lies beside it is found; who is elsewhere is led to the published book."""
    text = (site / "404.html").read_text(encoding="utf-8")
    assert "<base" not in text.replace('createElement("base")', "")
    body = text[text.index("<body>") :]
    links = {link for link in re.findall(r'(?:href|action)="([^"]+)"', body)}
    outside = {link for link in links if urlsplit(link).scheme}
    assert outside == {
        configuration()["html"]["baseurl"] + LANDING,
        f"{repository_url()}/issues",
    }
    assert [link for link in links - outside if not (site / link).is_file()] == []


def test_the_missing_page_works_from_a_folder(site: Path, visit) -> None:
    seen = visit((site / "404.html").as_uri(), width=NARROW, scheme="dark")
    assert seen.problems + violations(seen.page) == []
    assert width_of(seen.page) <= NARROW
    assert seen.page.evaluate("document.documentElement.dataset.theme") == "dark"
    seen.page.get_by_role("link", name="The first page").click()
    seen.page.wait_for_url((site / LANDING).as_uri())


# --- cards, launch buttons, downloads -------------------------------------------------------------


def metas(path: Path) -> dict[str, str]:
    found = re.findall(
        r'<meta (?:property|name)="([\w:]+)" content="([^"]*)"', path.read_text("utf-8")
    )
    return dict(found)


def test_every_page_has_a_card(site: Path) -> None:
    base = configuration()["html"]["baseurl"]
    pages = [p for p in read_pages(site) if len(p.relative_to(site).parts) > 1]
    seen: dict[str, set[str]] = {"og:title": set(), "og:description": set()}
    for path in pages:
        name, tags = path.relative_to(site).as_posix(), metas(path)
        assert tags["og:url"] == base + name
        assert tags["og:image"].startswith(base), name
        assert 20 <= len(tags["og:description"]) <= 230, name
        assert not re.search(r"[\[\]\\$*]", tags["og:description"]), (name, tags["og:description"])
        assert tags["description"] == tags["og:description"]
        for kind, known in seen.items():
            known.add(tags[kind])
    assert all(len(known) == len(pages) for known in seen.values()), "two pages say the same"
    image = (site / metas(site / LANDING)["og:image"].removeprefix(base)).read_bytes()
    assert struct.unpack(">II", image[16:24]) == (1200, 630)
    # Whoever shares the book's address shares index.html.
    assert metas(site / "index.html").items() <= metas(site / LANDING).items()
    assert metas(site / "index.html")["og:url"] == f"{base}{LANDING}"


def test_every_notebook_can_be_downloaded_as_it_is_committed(site: Path) -> None:
    pages = read_pages(site)
    for path in notebooks():
        here = path.relative_to(ROOT)
        page = site / here.with_suffix(".html")
        links = {link for link in pages[page].links if link.endswith(".ipynb")}
        (link,) = {link for link in links if not urlsplit(link).scheme}  # the other opens Colab
        downloaded = json.loads((page.parent / link).read_text(encoding="utf-8"))
        assert downloaded == json.loads(path.read_text(encoding="utf-8")), here


# --- on paper -------------------------------------------------------------------------------------


def test_a_printed_chapter_is_light_unfolded_and_without_buttons(site: Path, visit) -> None:
    seen = visit(f"{site.as_uri()}/{CHAPTER}", scheme="dark")
    seen.explorer("GeometryExplorer")
    page = seen.page
    folded = page.locator(".bd-article details:not([open])")
    n_folded = folded.count()
    assert n_folded > 10
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert folded.count() == 0
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    for selector in (
        ".bd-sidebar-primary", ".bd-sidebar-secondary", ".bd-header-article", ".prev-next-footer",
        ".copybtn", ".headerlink", ".explorer .controls", ".explorer .hint",
    ):  # fmt: skip
        found = page.locator(selector)
        assert found.count() and not found.locator("visible=true").count(), selector
    unfolded = page.locator(
        ":is(.explorer svg, .explorer table, details .cell_input, details > p)"
        ":not(.tag_hide-input, .tag_hide-input *)"
    )
    n_visible = unfolded.locator("visible=true").count()
    assert n_visible == unfolded.count() > 0
    faded = "all => all.filter(e => getComputedStyle(e).opacity < 1 || getComputedStyle(e).animationName !== 'none').length"
    assert page.locator(".bd-article details > *").evaluate_all(faded) == 0
    outside = page.locator(".bd-article a.external[href^=http]")
    told = "all => all.map(e => [e.getAttribute('href'), getComputedStyle(e, '::after').content])"
    assert all(address in said for address, said in outside.evaluate_all(told))
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert folded.count() == n_folded
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_a_page_is_printed_through_its_own_style(site: Path, visit) -> None:
    """The errata name addresses: the PDF says where each link leads."""
    page = visit(f"{site.as_uri()}/book/errata.html").page
    page.emulate_media(media="print")
    link = page.locator(".bd-article a.external").first
    assert (
        link.evaluate("e => getComputedStyle(e, '::after').content")
        == f'" ({repository_url()}/issues)"'
    )
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4"))) <= 2


# --- the extension by itself ----------------------------------------------------------------------


def test_an_explorer_is_taken_with_its_own_traits_and_no_others() -> None:
    notebook = json.loads((ROOT / GEOMETRY.page).with_suffix(".ipynb").read_text(encoding="utf-8"))
    place = explorer_in(notebook, "GeometryExplorer")
    assert json.loads(place["traits"]).keys() == set(
        GEOMETRY.widget(**GEOMETRY.arguments(Random(0))).state()
    ) | {"start"}
    assert "weights: 0.67, 0.24, 0.09" in place["said"]
    assert explorer_in(notebook, "Explorer") is None
    assert explorer_in(notebook, "MaskExplorer") is None
    assert explorer_in({"cells": [], "metadata": {}}, "GeometryExplorer") is None


def test_an_explorer_is_found_below_what_was_printed_in_pieces() -> None:
    """A quick or a slow machine cuts prints differently; MyST-NB counts them joined."""
    notebook = json.loads((ROOT / GEOMETRY.page).with_suffix(".ipynb").read_text(encoding="utf-8"))
    view, text = next(iter(views_of(notebook).items()))
    for cell in notebook["cells"]:
        printed = {"output_type": "stream", "name": "stdout", "text": ["piece"]}
        cell["outputs"] = [printed] * 9 + cell.get("outputs", [])
    client = SimpleNamespace(nb_metadata=notebook["metadata"], notebook=notebook)
    renderer = SimpleNamespace(renderer=SimpleNamespace(nb_client=client))
    data = MimeData(WIDGET_VIEW_MIMETYPE, {"model_id": view}, cell_index=0, output_index=1)
    (place,) = Explorers.handle_mime(renderer, data, False)
    assert place["said"] == text


def test_a_description_is_whole_sentences_without_citations() -> None:
    def described(*paragraphs: nodes.Node) -> str:
        document = new_document("test")
        document += nodes.section("", *paragraphs)
        return description_of(document)

    cited = addnodes.pending_xref("", nodes.inline("", "vaswani"), refdomain="cite")
    assert described(
        nodes.paragraph("", "", nodes.Text("As they say "), cited, nodes.Text("."))
    ) == ("As they say.")
    first, second = (
        "A sentence " + "on and on " * 9 + "ends.",
        "Another " + "and another " * 9 + ".",
    )
    assert described(nodes.paragraph("", f"{first} {second}")) == first
    long = described(nodes.paragraph("", "word " * 90))
    assert long.endswith("word …") and len(long) <= 200
    assert described(nodes.paragraph("", ""), nodes.paragraph("", "Short.")) == "Short."
    assert described() == ""
