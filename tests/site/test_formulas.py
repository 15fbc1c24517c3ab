"""Formulas: MathML made at build time, in a font that has every sign, and no stops for the keyboard."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pytest
from common import ROOT
from fontTools.ttLib import TTFont
from transformer_book_math import LINE, in_a_sentence, mathml, on_a_line

from tests.site.accessibility import NARROW
from tests.site.html_pages import read_pages

FONT = ROOT / "book" / "assets" / "fonts" / "stix-two-math.woff2"
FORMULA = re.compile(r"<math\b.*?</math>", re.DOTALL)
NO_TEXT = re.compile(r"<(script|style|pre|code|svg|head)\b.*?</\1>|<math\b.*?</math>|<[^>]*>", re.S)
TEX = re.compile(r"\\[A-Za-z]{2,}|\$[^$\n]{1,80}\$")


@pytest.fixture(scope="module")
def texts(site: Path) -> dict[str, str]:
    return {str(p.relative_to(site)): p.read_text(encoding="utf-8") for p in read_pages(site)}


def test_no_page_holds_raw_tex_or_a_formula_that_failed(texts: dict[str, str]) -> None:
    raw = {
        f"{name}: {found}"
        for name, text in texts.items()
        for found in TEX.findall(unescape(NO_TEXT.sub(" ", text)))
    }
    failed = [
        name for name, text in texts.items() if re.search(r"<merror|mtext.*?\\[a-z]{2}", text)
    ]
    assert raw == set() and failed == []
    assert sum(len(FORMULA.findall(text)) for text in texts.values()) > 2000
    assert TEX.findall(NO_TEXT.sub(" ", r"<p>the \frac{1}{2} of $x$</p>")) == [r"\frac", "$x$"]


def test_a_formula_in_a_sentence_is_no_longer_than_a_telephone_is_wide(
    texts: dict[str, str],
) -> None:
    """No browser breaks MathML: what is too long for its line is cut off there."""
    too_long = {
        f"{name}: {signs}"
        for name, text in texts.items()
        for formula in FORMULA.findall(text)
        if not re.match(r'<math [^>]*display(style)?="', formula)
        and len(signs := re.sub(r"<[^>]*>|\s", "", unescape(formula))) > LINE + 4
    }
    assert too_long == set()
    parts = in_a_sentence(
        r"(0.125, 0.5, 0.375) - (0.025, 0.925, 0.05) = (-0.4, \frac{a = b}{2} - 1)"
    )
    shown = [unescape(re.sub(r"<[^>]*>", "", part)) for part in parts.split("</math> ")]
    assert shown == ["(0.125,0.5,0.375)", "−(0.025,0.925,0.05)", "=(−0.4,a=b2−1)"]
    assert in_a_sentence("a = b - c") == mathml("a = b - c")


def test_a_formula_on_a_line_for_itself_has_parts() -> None:
    def shown(tex: str) -> list[str]:
        parts = on_a_line(tex).split("</math>")[:-1]
        assert len(parts) == 1 or all('displaystyle="true"' in part for part in parts)
        return [unescape(re.sub(r"<[^>]*>", "", part)) for part in parts]

    assert shown("a = b + c = d") == ["a=b+c=d"]
    assert shown(r"x = -1,\qquad \text{if } y = 2") == ["x=−1,", "if\xa0y=2"]
    assert 'class="apart"' in on_a_line(r"x,\quad y")
    long = r"p(y \mid x) = p(y_1 \mid x)\, p(y_2 \mid x, y_1) = -1 + \frac{a = b}{2} - (c + d + e + f + g + h + i + j + k + l + m + n)"
    assert shown(long) == [
        "p(y∣x)", "=p(y1∣x)p(y2∣x,y1)", "=−1", "+a=b2", "−(c+d+e+f+g+h+i+j+k+l+m+n)"
    ]  # fmt: skip
    cases = r"Y = X,\quad M = \begin{cases} 0 & i = j \\ 1 & i \ne j \end{cases}"
    assert len(shown(cases)) == 2
    assert shown(r"a = 1 \\ b = 2") == ["a=1b=2"]


def test_no_page_loads_a_script_that_sets_formulas(site: Path) -> None:
    loads = {load for page in read_pages(site).values() for load in page.loads}
    assert [load for load in loads if "mathjax" in load.lower()] == []


def test_a_formula_keeps_the_marks_beside_it(texts: dict[str, str]) -> None:
    """Between them a browser would break a line, and let the next one begin with a comma."""
    kept = re.compile(r'<span class="kept">[^<]*<math\b.*?</math>[^<]*</span>', re.DOTALL)
    loose = {
        name: found
        for name, text in texts.items()
        if (found := re.findall(r"[(\[]<math\b|</math>[.,;:!?)\]]", kept.sub("", text)))
    }
    assert loose == {}
    assert sum(len(kept.findall(text)) for text in texts.values()) > 1000
    style = (ROOT / "book" / "assets" / "css" / "formulas.css").read_text("utf-8")
    assert re.search(r"\.kept \{\s*white-space: nowrap;", style)


def test_the_font_has_every_character_of_every_formula(texts: dict[str, str]) -> None:
    known = TTFont(FONT).getBestCmap()
    missing = set()
    for name, text in texts.items():
        for formula in set(FORMULA.findall(text)):
            letters = unescape(re.sub(r"<[^>]*>", "", formula))
            for letter in letters:
                if not letter.isspace() and ord(letter) not in known:
                    missing.add(f"{letter!r} in {name}")
    assert missing == set()
    # A letter alone is shown in italics, which are characters apart.
    assert {ord("𝑥"), ord("𝑄"), ord("𝜎"), ord("ℎ")} <= set(known)
    assert FONT.stat().st_size < 60_000


def test_a_formula_is_well_formed_in_html_and_in_xml() -> None:
    made = mathml(r"\operatorname{softmax}(x)_i < \textbf{one}", display=True)
    assert "&ApplyFunction;" not in made and "\u2061" in made
    root = ElementTree.fromstring(made)
    assert root.tag == "{http://www.w3.org/1998/Math/MathML}math" and root.get("display") == "block"
    assert all(element.tag.startswith("{http://www.w3.org/1998/Math") for element in root.iter())
    assert root.find(".//*[@style='font-weight: bold']").text == "one"
    assert 'display="block"' not in mathml("x")


def test_the_sign_of_a_number_keeps_to_it() -> None:
    assert '<mo form="prefix">−</mo><mn>3</mn>' in mathml(r"(1,\ -3)")
    assert 'form="prefix"' not in mathml(r"1 - 3")


def test_several_lines_stay_several() -> None:
    assert mathml(r"a \\ b", display=True).count("<mtr>") == 2


def test_a_formula_that_cannot_be_set_is_refused() -> None:
    with pytest.raises(ValueError, match="unheard"):
        mathml(r"\unheard{x}")


# By how much formulas are out of the middle of their lines; those that scroll begin at the edge.
OFF_CENTRE = """all => all.filter(line => line.childElementCount === 1).map(line => {
    const [box, made] = [line, line.querySelector("math")].map(e => e.getBoundingClientRect());
    const [before, after] = [made.left - box.left, box.right - made.right];
    return line.scrollWidth > line.clientWidth ? Math.abs(before) : Math.abs(before - after);
})"""
TOO_WIDE = """all => all.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)"""


# By how much the sign of a root hangs below what stands in it, in letters' sizes.
HANGS = """all => all.map(e => (e.getBoundingClientRect().bottom
    - e.firstElementChild.getBoundingClientRect().bottom) / parseFloat(getComputedStyle(e).fontSize))"""


def test_the_sign_of_a_root_stands_on_the_line(site: Path, visit) -> None:
    page = visit((site / "chapters/15_loss_and_schedule.html").as_uri()).page
    small = page.locator("math:not([display=block]) msqrt").filter(has_text=re.compile("^n$"))
    hangs = small.evaluate_all(HANGS)
    assert len(hangs) >= 2 and max(hangs) < 0.45, hangs


# A paragraph that scrolls cuts off what hangs below its last line.
CUT_BELOW = """all => all.filter(e => getComputedStyle(e).overflowY === "hidden"
    && e.scrollHeight > e.clientHeight).map(e => e.textContent.slice(0, 40))"""


def test_formulas_are_stops_for_the_keyboard_only_where_they_scroll(site: Path, visit) -> None:
    # The first has many short formulas, the second some that are wider than a phone.
    for name in ("06_geometry_of_attention", "07_scaled_dot_product_attention"):
        page = visit((site / f"chapters/{name}.html").as_uri(), width=NARROW).page
        page.evaluate("new Promise(requestAnimationFrame)")
        assert page.locator("math").count() > 50
        assert page.locator("math[tabindex], math [tabindex]").count() == 0
        assert page.eval_on_selector_all("div.math", TOO_WIDE) == [], name
        off = page.eval_on_selector_all("div.math", OFF_CENTRE)
        assert [each for each in off if each > 2] == [], name
        below = page.eval_on_selector_all("p:has(math)", CUT_BELOW)
        assert below == [], name
        assert page.locator("div.math[tabindex='0']").count() == 0
    page.add_style_tag(content="div.math { width: 4rem; }")
    page.set_viewport_size({"width": NARROW - 1, "height": 900})
    page.wait_for_function("document.querySelector('div.math[tabindex]')")
    page.add_style_tag(content="div.math { width: auto !important; }")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.wait_for_function("!document.querySelector('div.math[tabindex]')")
