"""How the pages look: typefaces, openers, asides, and the sentence of the landing page."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from common import ROOT, notebooks
from docutils import nodes
from transformer_book_site import mark_aside

from tests.site.accessibility import NARROW, width_of
from tests.site.html_pages import read_pages

LANDING = "book/landing.html"
CHAPTERS = [path for path in notebooks() if path.parent.name == "chapters"]
WITH_ASIDES = "chapters/10_residuals_and_layer_norm.html"
SHIFTS = """window.shifts = [];
new PerformanceObserver(list => window.shifts.push(...list.getEntries().map(e => e.value)))
    .observe({type: "layout-shift", buffered: true});"""


# --- typefaces ------------------------------------------------------------------------------------


def test_the_typefaces_are_small_and_have_their_licences() -> None:
    files = [p for p in (ROOT / "book/assets/fonts").iterdir() if p.suffix == ".woff2"]
    assert {path.name for path in files} >= {
        f"source-{name}.woff2"
        for name in ("serif-4-normal", "serif-4-italic", "sans-3-normal", "code-pro-normal")
    }
    assert sum(path.stat().st_size for path in files) <= 120_000
    for name in {path.stem.rpartition("-")[0] for path in files if path.stem.startswith("source")}:
        text = (ROOT / "book/assets/fonts" / f"LICENSE-{name}").read_text("utf-8")
        assert "SIL OPEN FONT LICENSE" in text


@pytest.mark.parametrize("way", ["server", "folder"])
def test_text_headings_and_code_are_set_in_them(site: Path, serve, visit, way: str) -> None:
    address = serve(site) if way == "server" else site.as_uri()
    seen = visit(f"{address}/chapters/08_masks.html")
    families = "selector => getComputedStyle(document.querySelector(selector)).fontFamily"
    for selector, family in (
        (".bd-article p", "Book Serif"), (".bd-article h2", "Book Sans"),
        (".cell_input pre", "Book Code"), ("nav.bd-links a", "Book Sans"),
    ):  # fmt: skip
        assert seen.page.evaluate(families, selector).startswith(f'"{family}"'), selector
    loaded = "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)"
    found = {name.strip('"') for name in seen.page.evaluate(loaded)}
    assert found >= {"Book Serif", "Book Sans", "Book Code"}
    # Every letter of the three languages is in them: each is wider or narrower than its stand-in.
    letters = "letters => ['Serif', 'Sans', 'Code'].every(n => document.fonts.check(`16px 'Book ${n}'`, letters))"
    assert seen.page.evaluate(letters, "ÄÖÜäöüßàèéìòù–“”’")
    assert seen.problems == []


def test_a_page_is_not_set_in_two_typefaces(site: Path, serve, visit) -> None:
    """If one of its files comes late, the page keeps to the stand-ins of all; else to none."""
    seen = visit("about:blank")
    session = seen.page.context.new_cdp_session(seen.page)

    def late(route) -> None:
        time.sleep(2)
        route.continue_()

    def set_in() -> set[str]:
        for domain in ("DOM", "CSS"):
            session.send(f"{domain}.enable")
        root = session.send("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
        asked = {"nodeId": root, "selector": ".bd-article :is(h1, p, em, td)"}
        return {
            font["familyName"].split("-")[0]
            for node in session.send("DOM.querySelectorAll", asked)["nodeIds"]
            for font in session.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
        }

    address = f"{serve(site)}/book/errata.html"
    seen.go(address)
    assert set_in() == {"Book"}
    seen.page.context.clear_cookies()
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    seen.page.route("**/source-serif-4-italic.woff2", late)
    seen.go(address)
    assert "Book" not in set_in()


# --- the landing page -----------------------------------------------------------------------------


def test_the_landing_page_says_where_to_begin(site: Path) -> None:
    text = (site / LANDING).read_text(encoding="utf-8")
    buttons = re.search(r'<p class="buttons">.*?</p>', text, re.DOTALL)[0]
    found = re.findall(r'href="([^"]+)"[^>]*>(?:<span[^>]*>)*([^<]+)', buttons)
    wanted = [
        ("../chapters/01_sequence_to_sequence.html", "Start chapter 1"),
        ("talk.html", "Talk to a model"),
        ("bench.html", "Train one"),
    ]
    assert found == [each for each in wanted if (site / "book" / each[0]).exists()] != []
    main = text[text.index('<div class="hero') :]
    assert main.index("translating") < main.index("<h2>"), "the page opens with something else"
    assert re.search(r"For you if .*? hours for the heart", main, re.DOTALL)


def cells(figure) -> list[list[int]]:
    rows = "table => [...table.tBodies[0].rows].map(row => [...row.cells].slice(1).map(c => +c.textContent))"
    return figure.locator("table").evaluate(rows)


def test_the_sentence_is_recorded_from_the_model_and_comes_alive(site: Path, serve, visit) -> None:
    """What Python has computed while the site was built, the page computes, too."""
    seen = visit(f"{serve(site)}/{LANDING}")
    figure = seen.page.locator("figure.translating")
    recorded, said = cells(figure), figure.locator(".said").inner_text()
    assert said == "An old woman is reading a newspaper on the bench."
    assert len(recorded) == 12 and all(95 <= sum(row) <= 105 for row in recorded)
    # The newspaper is the ninth word that is read, and the bench the seventh.
    assert recorded[6][8] > 90 and recorded[9][6] > 90
    words = figure.get_by_role("textbox")
    words.focus()
    seen.page.keyboard.press("Enter")
    figure.get_by_role("status").get_by_text(said).wait_for()
    live = cells(figure)
    pairs = [p for a, b in zip(recorded, live, strict=True) for p in zip(a, b, strict=True)]
    assert all(abs(one - other) <= 1 for one, other in pairs)
    words.fill("Ein Hund schläft im Iglu.")
    figure.get_by_role("button", name="Translate").click()
    figure.get_by_role("status").get_by_text("does not know: Iglu").wait_for()
    assert figure.locator(".read").inner_text() == "Ein Hund schläft im Iglu."
    assert figure.locator("tbody th").first.inner_text() == "A"
    words.fill("")
    words.press("Enter")
    seen.page.wait_for_function(
        "/empty|no word|sentence/i.test(document.querySelector('.translating [role=status]').textContent)"
    )
    assert seen.problems == []


@pytest.mark.parametrize("width", [NARROW, 1440])
def test_the_landing_page_does_not_shift(site: Path, serve, visit, width: int) -> None:
    seen = visit(f"{serve(site)}/{LANDING}", width=width, begin=SHIFTS)
    explorer = seen.page.locator('[data-explorer="GeometryExplorer"]')
    for _ in range(60):  # as one reads: an explorer is made before it is in sight
        if explorer.count():
            break
        seen.page.evaluate("scrollBy({top: 150, behavior: 'instant'})")
        seen.page.wait_for_timeout(50)
    explorer.wait_for()
    assert sum(seen.page.evaluate("window.shifts")) <= 0.02
    assert width_of(seen.page) <= width


def test_the_sentence_moves_only_for_those_who_like_movement(site: Path, visit) -> None:
    page = visit(f"{site.as_uri()}/{LANDING}").page
    name = "() => getComputedStyle(document.querySelector('.translating tbody tr')).animationName"
    assert page.evaluate(name) == "none"
    assert page.locator(".translating input").count() == 0, "no model runs from a folder"
    page.emulate_media(reduced_motion="no-preference")
    assert page.evaluate(name) == "said"


# --- openers --------------------------------------------------------------------------------------


def test_every_chapter_opens_with_its_part_of_the_model(site: Path) -> None:
    pages = read_pages(site)
    labels = {}
    for path in CHAPTERS:
        page = site / path.relative_to(ROOT).with_suffix(".html")
        text = page.read_text(encoding="utf-8")
        opener = re.search(
            r'<div class="opener"><a href="([^"]+)" aria-label="([^"]+)">(.*?)</a>', text
        )
        target, _, anchor = opener[1].partition("#")
        assert anchor in pages[(page.parent / target).resolve()].ids, path.name
        assert 'class="part lit"' in opener[3] and "<text" not in opener[3], path.name
        labels[path.name[:2]] = opener[2]
    assert "lit: self-attention, cross-attention." in labels["09"]
    assert "lit: feed-forward." in labels["11"]
    assert "it is about all of it" in labels["19"]
    assert "lit: layer, N times" in labels["24"]


# --- drawings -------------------------------------------------------------------------------------

WIDTHS = """() => [...document.querySelectorAll("figure.drawing")].map(e => [e.querySelector("svg"),
    e.querySelector("figcaption p")].map(each => each.getBoundingClientRect().width))"""


def test_a_caption_is_as_wide_as_its_drawing(site: Path, visit) -> None:
    """Also beside a margin, where the text itself is narrower than its part of the page."""
    page = visit(f"{site.as_uri()}/{WITH_ASIDES}", width=1440).page
    for width in (1440, NARROW):
        page.set_viewport_size({"width": width, "height": 900})
        found = page.evaluate(WIDTHS)
        assert len(found) == 3
        assert all(said > 0.9 * drawn > 270 for drawn, said in found), found


def test_tables_of_few_columns_fit_a_phone(site: Path, visit) -> None:
    """Those of the text, and of an explorer; what must be wider scrolls in its own box."""
    seen = visit("about:blank", width=NARROW)
    for name, explorer, selector in (
        ("chapters/04_embeddings", "EmbeddingMap", ".pst-scrollable-table-container"),
        ("chapters/06_geometry_of_attention", "GeometryExplorer", ".explorer .numbers"),
        ("chapters/08_masks", "", ".pst-scrollable-table-container"),  # long names of code
        ("book/teaching", "", ".pst-scrollable-table-container"),
        ("chapters/09_multi_head_attention", "ShapeStepper", ".explorer .numbers"),
        ("chapters/17_decoding", "BeamExplorer", ".explorer .numbers:not(.tree)"),
        ("chapters/18_taylor_series", "HeadExplorer", ".explorer .numbers"),
    ):
        seen.go((site / f"{name}.html").as_uri())
        if explorer:
            seen.explorer(explorer)
        widths = seen.page.locator(selector).evaluate_all(
            "each => each.map(e => [e.scrollWidth, e.clientWidth])"
        )
        assert widths and all(needs <= has for needs, has in widths), (name, widths)


def test_a_figure_keeps_its_shape_and_takes_the_width_of_a_phone(site: Path, visit) -> None:
    """Also one of a page that is no notebook: no empty bands above it and below."""
    seen = visit("about:blank", width=NARROW)
    for name in ("book/benchmarks", "chapters/29_backwards"):
        seen.go((site / f"{name}.html").as_uri())
        for image in seen.page.locator('.bd-article img[src*="_images/"]').all():
            image.scroll_into_view_if_needed()
            shown, own = image.evaluate(
                "e => e.decode().then(() => [[e.width, e.height], [e.naturalWidth, e.naturalHeight]])"
            )
            assert shown[0] == NARROW, name
            assert abs(shown[1] - shown[0] * own[1] / own[0]) < 2, name
        assert width_of(seen.page) <= NARROW


# What of a drawing is smaller than this cannot be read.
SMALL = """least => [...document.querySelectorAll("main svg text")].filter(e => e.checkVisibility()
    && e.textContent.trim() && e.getBoundingClientRect().width > 1).flatMap(e => {
        const {a, b} = e.getScreenCTM();
        const size = parseFloat(getComputedStyle(e).fontSize) * Math.hypot(a, b);
        return size < least ? [`${e.textContent}: ${size.toFixed(1)} px`] : [];
    })"""


def test_the_words_of_a_drawing_that_scripts_make_can_be_read_on_a_phone(
    site: Path, serve, visit
) -> None:
    seen = visit("about:blank", width=NARROW)
    for name in ("book/landing", "book/bench", "book/gym", "chapters/15_loss_and_schedule"):
        seen.go(f"{serve(site)}/{name}.html")
        for place in seen.page.locator(".explorer-place").all():
            seen.explorer(place.get_attribute("data-name"))
        seen.page.locator("main svg text").first.wait_for()
        assert seen.page.evaluate(SMALL, 8) == [], name


def test_what_an_explorer_says_is_as_wide_as_its_panel(site: Path, visit) -> None:
    """Also on a page with a margin, whose text is narrower."""
    seen = visit((site / "chapters/05_positions.html").as_uri(), width=1440)
    widths = "all => all.map(e => [e.clientWidth, e.parentElement.clientWidth])"
    panels = seen.explorer("PositionExplorer").locator(".panel > p")
    found = panels.evaluate_all(widths)
    assert len(found) >= 5 and all(own > 0.9 * whole for own, whole in found), found


def test_the_names_of_the_next_pages_have_room_on_a_phone(site: Path, visit) -> None:
    page = visit((site / "book/notation.html").as_uri(), width=NARROW).page
    lines = page.locator(".prev-next-title").evaluate_all(
        "all => all.map(e => e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight))"
    )
    assert len(lines) == 2 and max(lines) < 4


def test_no_page_is_empty(site: Path) -> None:
    """Sphinx would write an index of nothing."""
    assert not (site / "genindex.html").exists()


# --- asides ---------------------------------------------------------------------------------------

PLACES = """() => [...document.querySelectorAll(".aside")].filter(e => e.checkVisibility()).map(e => {
    e.scrollIntoView({block: "center", behavior: "instant"});
    const own = e.getBoundingClientRect(), text = e.parentElement.getBoundingClientRect();
    const middle = [own.left + own.width / 2, own.top + own.height / 2];
    return {
        beside: own.left >= text.right - 1,
        alone: e.contains(document.elementFromPoint(...middle)),
        words: e.innerText.slice(0, 1),
    };
})"""


def test_verdicts_and_figures_stand_on_the_paper_of_the_page_in_the_dark(site: Path, visit) -> None:
    """The theme would put what cells show on white cards."""
    page = visit((site / WITH_ASIDES).as_uri(), scheme="dark").page
    for kind in (".cell_output .text_html", "figure.book-figure img"):
        grounds = page.locator(kind).evaluate_all(
            "each => [...new Set(each.map(e => getComputedStyle(e).backgroundColor))]"
        )
        assert grounds == ["rgba(0, 0, 0, 0)"], kind


def test_an_aside_stands_in_the_margin_where_there_is_one(site: Path, visit) -> None:
    """In a chapter's core and in what is folded; a narrow page has it in the text, in brackets."""
    page = visit(f"{site.as_uri()}/{WITH_ASIDES}", width=1440).page
    for width in (1440, 1200, 820, NARROW):
        page.set_viewport_size({"width": width, "height": 900})
        found = page.evaluate(PLACES)
        assert len(found) >= 3
        for aside in found:
            if width >= 1200:
                assert aside["beside"] and aside["alone"] and aside["words"] != "(", (width, aside)
            else:
                assert not aside["beside"] and aside["words"] == "(", (width, aside)
        assert width_of(page) <= width


def test_only_whole_sentences_in_brackets_are_asides() -> None:
    def marked(*children: nodes.Node) -> list[str]:
        paragraph = nodes.paragraph("", "", *children)
        whole = paragraph.astext()
        while mark_aside(paragraph):
            pass
        assert paragraph.astext() == whole
        return [
            each.astext()
            for each in paragraph.findall(nodes.inline)
            if each["classes"] == ["aside"]
        ]

    assert marked(nodes.Text("One. (Two, (three), four.) Five.")) == ["(Two, (three), four.)"]
    assert marked(nodes.Text("(All of it.)")) == ["(All of it.)"]
    assert marked(nodes.Text("A (b) c. (d) E (F) g (and so on).")) == []
    assert marked(
        nodes.Text("One. (That "), nodes.emphasis("", "two"), nodes.Text(" is.) (Three.)")
    ) == [
        "(That two is.)",
        "(Three.)",
    ]
    assert marked(nodes.Text("One. (It never ends.")) == []


# --- room on a phone ------------------------------------------------------------------------------

LINES = (
    "e => Math.round(e.getBoundingClientRect().height / parseFloat(getComputedStyle(e).lineHeight))"
)


def lines_of(page, selector: str) -> list[int]:
    return page.locator(selector).evaluate_all(f"each => each.map({LINES})")


def test_titles_on_a_phone_have_room(site: Path, visit) -> None:
    """Those of the neighbours stand below each other; no line ends within "multi-head"."""
    seen = visit((site / "chapters/10_residuals_and_layer_norm.html").as_uri(), width=NARROW)
    titles = seen.page.locator(".prev-next-title")
    assert titles.count() == 2 and max(lines_of(seen.page, ".prev-next-title")) <= 2
    lefts = titles.evaluate_all(
        "each => each.map(e => e.closest('a').getBoundingClientRect().width)"
    )
    assert min(lefts) >= 0.8 * NARROW
    for name, width in (("09_multi_head_attention", NARROW), ("11_feed_forward", 1440)):
        seen.page.set_viewport_size({"width": width, "height": 900})
        seen.go((site / f"chapters/{name}.html").as_uri())
        word = seen.page.locator("h1 .kept")
        assert word.evaluate("e => e.getClientRects().length") == 1, name


def test_short_names_and_links_to_chapters_do_not_break(site: Path, visit) -> None:
    seen = visit((site / "book/glossary.html").as_uri(), width=820)
    for width in (820, NARROW):
        seen.page.set_viewport_size({"width": width, "height": 900})
        for selector in (".bd-article p > code.kept", ".bd-article p > a.kept"):
            kept = seen.page.locator(selector)
            assert kept.count() > 20
            assert set(kept.evaluate_all("each => each.map(e => e.getClientRects().length)")) == {1}
        assert width_of(seen.page) == width


def test_documentation_below_source_is_as_wide_as_its_box(site: Path, visit) -> None:
    seen = visit((site / "chapters/07_scaled_dot_product_attention.html").as_uri(), width=NARROW)
    lists = seen.page.locator(".cell_output details > .highlight-text pre")
    lists.evaluate_all("each => each.forEach(e => (e.closest('details').open = true))")
    assert lists.count() > 0
    over = lists.evaluate_all("each => each.map(e => e.scrollWidth - e.clientWidth)")
    assert max(over) <= 0


def test_statements_of_a_formula_stand_below_each_other_on_a_phone(site: Path, visit) -> None:
    page = visit((site / "chapters/11_feed_forward.html").as_uri(), width=NARROW).page
    places = """each => each.filter(e => e.children.length > 1).map(e => [e.scrollWidth - e.clientWidth,
        ...[...e.children].map(part => Math.round(part.getBoundingClientRect().top / 8))])"""
    formulas = page.locator("div.math")
    found = formulas.evaluate_all(places)
    assert found and all(over <= 1 for over, *_ in found)
    assert any(len(set(tops)) > 1 for _, *tops in found)
    page.set_viewport_size({"width": 1440, "height": 900})
    assert any(len(set(tops)) == 1 for _, *tops in formulas.evaluate_all(places))


def test_a_pair_in_a_cell_of_a_table_stays_on_one_line(site: Path, visit) -> None:
    page = visit((site / "chapters/11_feed_forward.html").as_uri(), width=NARROW).page
    cells = page.locator("td.short", has_text=re.compile(r"^\(\d, \d\)$"))
    assert cells.count() >= 8
    heights = "each => each.map(e => (r => (r.selectNodeContents(e), r.getBoundingClientRect().height))(new Range()))"
    assert max(cells.evaluate_all(heights)) < 30


def test_a_field_stands_with_its_question(site: Path, visit) -> None:
    page = visit((site / "chapters/10_residuals_and_layer_norm.html").as_uri(), width=NARROW).page
    gaps = page.locator("details + .question-form:has(+ details)").evaluate_all(
        """each => each.map(e => [e.previousElementSibling, e, e.nextElementSibling]
            .map(part => part.getBoundingClientRect()))
            .map(([above, own, below]) => [own.top - above.bottom, below.top - own.bottom])"""
    )
    assert gaps and all(0 <= 2 * above <= below for above, below in gaps), gaps


def test_a_drawing_stands_in_the_middle_of_the_text(site: Path, visit) -> None:
    page = visit((site / WITH_ASIDES).as_uri(), width=1440).page
    middles = """selector => [...document.querySelectorAll(selector)].map(e => e.getBoundingClientRect())
        .map(box => (box.left + box.right) / 2)"""
    text = page.evaluate(middles, "section > section > p")
    assert all(abs(each - text[0]) < 2 for each in page.evaluate(middles, "figure.drawing svg"))


# --- explorers in a page ---------------------------------------------------------------------------

# Rules of the book's styles that reach into an explorer without naming it. Typefaces may.
FOREIGN = r"""() => {
    const found = new Set();
    const read = rules => {
        for (const rule of rules) {
            const reaches = !/explorer/i.test(rule.selectorText ?? "explorer")
                && [...rule.style].some(name => name !== "font-family")
                && [...document.querySelectorAll("[data-explorer] *")].some(e => e.matches(rule.selectorText));
            if (reaches) found.add(rule.selectorText);
            if (rule.cssRules) read(rule.cssRules);
        }
    };
    for (const sheet of document.styleSheets)
        if (/\/(book|formulas)\.css/.test(sheet.href ?? "")) read(sheet.cssRules);
    return [...found];
}"""
# Words of heads of tables that are broken, and numbers that begin a line within a sentence.
BROKEN = r"""explorer => {
    const found = [];
    for (const head of explorer.querySelectorAll("th")) {
        const walker = document.createTreeWalker(head, NodeFilter.SHOW_TEXT);
        while (walker.nextNode())
            for (const word of walker.currentNode.data.matchAll(/\p{L}+/gu)) {
                const range = new Range();
                range.setStart(walker.currentNode, word.index);
                range.setEnd(walker.currentNode, word.index + word[0].length);
                if (new Set([...range.getClientRects()].map(box => Math.round(box.top))).size > 1)
                    found.push(word[0]);
            }
    }
    for (const number of explorer.querySelectorAll("p .figure"))
        if (getComputedStyle(number).display !== "inline") found.push(number.textContent);
    return found;
}"""


@pytest.mark.parametrize("width", [NARROW, 1280])
def test_an_explorer_looks_as_its_own_styles_say(site: Path, serve, visit, width: int) -> None:
    seen = visit("about:blank", width=width)
    for name, explorer in (
        ("09_multi_head_attention", "ShapeStepper"),
        ("10_residuals_and_layer_norm", "NormalisationExplorer"),
        ("12_encoder", "HeadExplorer"),
        ("17_decoding", "BeamExplorer"),
        ("22_known_mistakes", "WritingExplorer"),
    ):
        seen.go(f"{serve(site)}/chapters/{name}.html")
        made = seen.explorer(explorer)
        assert seen.page.evaluate(FOREIGN) == [], name
        assert made.evaluate(BROKEN) == [], name


def test_four_blocks_of_the_shape_stepper_stand_in_one_row_of_a_phone(site: Path, visit) -> None:
    seen = visit((site / "chapters/09_multi_head_attention.html").as_uri(), width=NARROW)
    rows = (
        seen.explorer("ShapeStepper")
        .locator(".blocks")
        .evaluate_all(
            """each => each.map(e => [e.children.length,
            new Set([...e.children].map(block => Math.round(block.getBoundingClientRect().top))).size])"""
        )
    )
    assert [4, 1] in rows and all(n_rows == 1 for blocks, n_rows in rows if blocks <= 4), rows
