"""What a real browser makes of the website, with no network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from transformer_book_explorers import place_of
from transformer_book_light import Thin

from tests.site.accessibility import (
    NARROW,
    ONE_WORD_OF_EACH,
    prepare,
    violations,
    violations_around,
    violations_of_colour,
    violations_of_page,
    width_of,
)


def test_every_icon_is_drawn(site: Path, serve, visit) -> None:
    """The build draws them into the page; no script and no font has to bring them."""
    seen = visit(f"{serve(site)}/book/notation.html")
    page = seen.page
    assert page.locator("i[class*=fa-]").count() == 0
    drawn = page.eval_on_selector_all(
        "svg.svg-inline--fa", "all => all.map(e => e.querySelector(':scope > path[d]') !== null)"
    )
    assert len(drawn) > 5 and all(drawn)
    assert [each for each in seen.requests if "fontawesome" in each or "fa-solid" in each] == []


def test_the_start_page_leads_to_the_book(site: Path, serve, visit) -> None:
    assert "url=book/landing.html" in (site / "index.html").read_text(encoding="utf-8")
    seen = visit(f"{serve(site)}/book/landing.html")
    seen.page.locator(".explorer").wait_for()  # to leave earlier is to break it off
    link = seen.page.locator("figure.drawing a").first
    link.focus()
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_url("**/chapters/**")
    assert seen.problems == []


def test_the_cheat_sheet_fits_a_phone_and_two_sheets_of_paper(site: Path, visit) -> None:
    page = visit((site / "book/cheat_sheet.html").as_uri(), width=NARROW).page
    tables = page.locator(".pst-scrollable-table-container").all()
    assert len(tables) >= 8
    assert [t for t in tables if t.evaluate("e => e.scrollWidth > e.clientWidth")] == []
    pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4")))
    assert 1 <= pages <= 2


def test_links_to_the_glossary_are_quiet_and_still_links(site: Path, visit) -> None:
    seen = visit((site / "chapters/07_scaled_dot_product_attention.html").as_uri())
    link = seen.page.locator('.bd-article a[href*="glossary.html#"]').first
    style = "e => [getComputedStyle(e).textDecorationStyle, getComputedStyle(e).color]"
    text = link.locator("xpath=..").evaluate("e => getComputedStyle(e).color")
    assert link.evaluate(style) == ["dotted", text]
    link.click()
    seen.page.wait_for_url("**/glossary.html#*")
    anchor = seen.page.url.partition("#")[2]
    assert seen.page.locator(f"section#{anchor} > h3").is_visible()


# --- what the book's own code does, on the scratch book -------------------------------------------


def contrast(page, selector: str) -> float:
    """WCAG contrast of an element's text on the nearest painted background."""
    inks = page.evaluate(
        """selector => {
            const element = document.querySelector(selector);
            let paper = element;
            const painted = e => !/rgba\\(.*, 0\\)|transparent/.test(getComputedStyle(e).backgroundColor);
            while (paper.parentElement && !painted(paper)) paper = paper.parentElement;
            return [getComputedStyle(element).color, getComputedStyle(paper).backgroundColor];
        }""",
        selector,
    )

    def luminance(colour: str) -> float:
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(luminance(ink) for ink in inks)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_boxes_have_their_own_readable_colours(scratch: Path, visit, scheme: str) -> None:
    page = visit((scratch / "chapters/07_scratch.html").as_uri(), scheme=scheme).page
    colours = set()
    for kind in ("predict", "departs", "turn", "break", "note"):
        selector = f".box-{kind}"
        assert page.locator(selector).count() == 1, kind
        colours.add(
            page.evaluate(
                "s => getComputedStyle(document.querySelector(s)).color", f"{selector} .box-title"
            )
        )
        assert contrast(page, f"{selector} .box-title") >= 4.5, kind
        assert contrast(page, f"{selector} p") >= 4.5, kind
    assert len(colours) == 5
    assert page.locator("blockquote").count() == 1


def test_folded_text_shows_its_formulas(scratch: Path, visit) -> None:
    page = visit((scratch / "chapters/07_scratch.html").as_uri()).page
    seen = []
    for summary in page.locator(".bd-article details > summary").all():
        if summary.inner_text() in ("Six", "Hint"):
            seen.append(summary.inner_text())
            summary.click()
            inside = summary.locator("xpath=..")
            assert inside.locator("math").first.is_visible()
            assert inside.locator("strong, em").count() >= 1
    assert sorted(seen) == ["Hint", "Six"]


def test_wide_things_scroll_in_their_own_box(scratch: Path, visit) -> None:
    page = visit((scratch / "chapters/07_scratch.html").as_uri(), width=NARROW).page
    assert width_of(page) <= NARROW
    table = page.locator(".pst-scrollable-table-container").first
    assert table.evaluate("e => e.scrollWidth > e.clientWidth")
    assert page.locator("figure.book-figure img").evaluate("e => e.clientWidth") <= NARROW


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everything_is_accessible(scratch: Path, serve, visit, scheme: str) -> None:
    seen = visit(f"{serve(scratch)}/chapters/07_scratch.html", scheme=scheme)
    seen.explorer("GeometryExplorer")
    problems = seen.problems + violations(seen.page)
    assert not problems, "\n" + "\n".join(problems)


def test_code_of_a_pale_colour_is_found_although_each_kind_is_asked_about_once(
    scratch: Path, visit
) -> None:
    page = visit((scratch / "chapters/07_scratch.html").as_uri()).page
    words, texts = page.locator(".highlight pre span[class]"), page.locator(".highlight pre")
    before, said = words.count(), texts.all_inner_texts()
    page.evaluate(ONE_WORD_OF_EACH)
    assert words.count() < before and texts.all_inner_texts() == said
    assert violations(page) == []
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    # What opens fades in; where it is half there, no colour can be judged.
    page.evaluate("Promise.all(document.getAnimations().map(each => each.finished))")
    seen = page.locator(".highlight pre span[class]:visible").first
    kind = seen.get_attribute("class").split()[0]
    page.add_style_tag(content=f".highlight .{kind} {{ color: #c8c8c8 !important; }}")
    assert any("color-contrast" in each for each in violations(page))


def test_buttons_of_fewer_elements_are_as_large(site: Path, visit) -> None:
    chapter = site / "chapters/07_scaled_dot_product_attention.html"
    page = visit(chapter.as_uri(), width=NARROW).page
    every = page.locator(".bd-article .copybtn")
    sizes = "all => all.map(e => [e.offsetWidth, e.offsetHeight, e.scrollWidth, e.scrollHeight])"
    before, n_before = every.evaluate_all(sizes), page.locator(".bd-article *").count()
    prepare(page)
    assert page.locator(".bd-article *").count() < n_before / 1.5
    for old, new in zip(before, every.evaluate_all(sizes), strict=True):
        assert new == pytest.approx(old, abs=1.01)
    titles = page.locator(".copybtn svg > title")
    assert titles.count() == page.locator(".copybtn").count()


def test_a_pale_colour_is_found_once_on_whatever_page(scratch: Path, visit) -> None:
    page = visit((scratch / "chapters/07_scratch.html").as_uri()).page
    known: list[int] = []
    assert violations_of_colour(page, known) == [] and len(known) > 30
    for paler in (".bd-article p", ".bd-article a", "tbody tr:nth-child(odd) td"):
        style = page.add_style_tag(content=f"{paler} {{ color: #c8c8c8 !important; }}")
        assert violations_of_colour(page, known), paler
        assert violations_of_colour(page, known) == []  # they were asked about before
        assert any("color-contrast" in each for each in violations_of_colour(page, [])), paler
        style.evaluate("e => e.remove()")
    page.evaluate(
        """document.querySelector(".bd-article section").insertAdjacentHTML("beforeend",
            '<p class="new">One</p><p class="new">Two</p><p class="new" style="color: #c8c8c8">Three</p>')"""
    )
    (found,) = violations_of_colour(page, known)
    assert "#c8c8c8" in found and "more" not in found
    assert violations_of_colour(page, known) == []
    page.add_style_tag(content=".bd-article section { background-color: #777 !important; }")
    assert violations_of_colour(page, known)  # the same ink on another paper


FAULTS = """
@media (max-width: 400px) {
    html[data-theme=light] .bd-article ul li { color: #c8c8c8 !important; }
    html[data-theme=dark] .bd-article ol li { color: #484848 !important; }
    .bd-article blockquote { width: 500px; }
}
@media (min-width: 400px) {
    html[data-theme=light] .bd-article td p { color: #c8c8c8 !important; }
    html[data-theme=dark] .bd-article summary { color: #484848 !important; transition: color 1s; }
}
"""


def test_each_look_of_a_page_is_asked_for_its_own_faults(scratch: Path, visit) -> None:
    page = visit((scratch / "chapters/07_scratch.html").as_uri()).page
    page.evaluate(
        """faults => {
            document.head.append(Object.assign(document.createElement("style"), {textContent: faults}));
            document.querySelector(".bd-article section").insertAdjacentHTML("beforeend",
                "<ul><li>One</li></ul><p>Or</p><ol><li>Two</li></ol><p><button></button></p>");
            document.querySelector(".bd-sidebar-primary").insertAdjacentHTML("beforeend", "<button></button>");
        }""",
        FAULTS,
    )
    known: dict[str, list[int]] = {"light": [], "dark": []}
    found = violations_of_page(page, known, 1280)
    for look, pale in (
        ((NARROW, "light"), "<li"),
        ((NARROW, "dark"), "<li"),
        ((1280, "light"), "<p>one"),
        ((1280, "dark"), "<summary"),
    ):
        (one,) = (each for each in found[look] if "color-contrast" in each)
        assert pale in one, look
    told = [each.split(":")[0] for each in found[NARROW, "light"]]
    assert sorted(told)[-1].startswith("scrolls sideways")
    assert told.count("axe button-name (critical)") == 1
    (around,) = (each for each in found[1280, "light"] if "button-name" in each)
    assert "more" not in around  # the article's is told once


def test_what_stands_around_an_article_is_asked_about_without_it(scratch: Path, visit) -> None:
    page = visit((scratch / "chapters/07_scratch.html").as_uri()).page
    page.evaluate("document.querySelector('.bd-article p').innerHTML = '<button></button>'")
    page.evaluate("document.querySelector('.bd-sidebar-primary').innerHTML = '<button></button>'")
    assert any("1 more" in each for each in violations(page) if "button-name" in each)
    (found,) = (each for each in violations_around(page) if "button-name" in each)
    assert "more" not in found


@pytest.mark.parametrize("way", ["server", "folder"])
def test_explorers_work_with_no_kernel_and_no_network(
    scratch: Path, serve, visit, way: str
) -> None:
    address = serve(scratch) if way == "server" else scratch.as_uri()
    seen = visit(f"{address}/chapters/07_scratch.html")
    explorer = seen.explorer("GeometryExplorer")
    explorer.scroll_into_view_if_needed()
    before = explorer.get_attribute("data-state")
    explorer.get_by_role("slider").first.press("ArrowRight")
    assert explorer.get_attribute("data-state") != before
    assert not [each for each in seen.requests if "require" in each or "manager" in each]
    assert seen.problems == []


def test_a_page_without_explorers_loads_none(scratch: Path, serve, visit) -> None:
    seen = visit(f"{serve(scratch)}/chapters/08_plain.html")
    assert not [each for each in seen.requests if "explorers" in each]
    assert seen.problems == []


def test_an_explorer_is_made_when_the_reader_comes_near(site: Path, visit) -> None:
    page = visit((site / "chapters/09_multi_head_attention.html").as_uri()).page
    place = page.locator(".explorer-place").last
    assert place.locator(".explorer").count() == 0
    place.scroll_into_view_if_needed()
    place.locator(".explorer").wait_for()


def test_a_widget_that_needs_a_kernel_is_refused() -> None:
    models = {"a": {"model_name": "IntSliderModel", "state": {"value": 4}}}
    with pytest.raises(ValueError, match="IntSliderModel needs a kernel"):
        place_of(models, "a", "")


# --- what is light about pages --------------------------------------------------------------------


def test_code_is_marked_only_where_it_looks_different() -> None:
    code = "def f(x):\n    return x + 1  # one\n"
    marked = highlight(code, PythonLexer(), Thin(nowrap=True))
    assert re.sub(r"<[^>]*>", "", marked) == code
    assert 'class="n"' not in marked and 'class="p"' not in marked and 'class="w"' not in marked
    assert 'class="k"' in marked and 'class="c1"' in marked
    plain = highlight(code, PythonLexer(), HtmlFormatter(nowrap=True))
    assert marked.count("<span") < plain.count("<span") / 1.5
