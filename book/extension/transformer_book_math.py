"""Formulas as MathML, made when the book is built: a page needs no script to show them.

`mathml` is for every place that shows a formula: pages, slides, paper. On the website Sphinx calls
it by the name ``mathml`` (``html_math_renderer`` in ``_config.yml``). The font of the formulas is
``assets/fonts/stix-two-math.woff2``, cut by ``tools/vendor.py`` to what they need.
"""

from __future__ import annotations

import re
from functools import cache
from html import unescape

from docutils import nodes
from math_core import LatexError, LatexToMathML
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

# XML has no names for characters but these.
NAMED = re.compile(r"&(?!(?:lt|gt|amp|quot);)[A-Za-z]+;")
# A sign after a comma and a space belongs to the number that follows.
SPACE = r"(?:<mspace[^>]*/>|<mtext>\xa0</mtext>)"
SIGN = re.compile(rf"(<mo[^>]*>[,;:=]</mo>{SPACE}+<mo)(?=>[−+±]</mo>)")
# The root's sign is as tall as this at least: over a small letter it would hang below the line.
STRUT = '<mspace height="0.74em"/></msqrt>'
# The converter puts elements of HTML into text; XML, of which books on paper are made, has none.
MARKED = re.compile(r"<mtext><(b|i|code)>([^<]*)</\1></mtext>")
STYLES = {"b": "font-weight: bold", "i": "font-style: italic", "code": "font-family: monospace"}
# A formula in a sentence, with the brackets before it and the marks behind it.
INLINE = re.compile(
    r"([(\[“‘]*)(<math\b(?![^>]*display=)[^>]*>.*?</math>)([.,;:!?…)\]”’]*)", re.DOTALL
)

# A formula of more signs than LONG may break before a relation, and what is still longer than LINE
# before a sum's next term: a telephone's line has room for about as many.
LONG, LINE = 24, 32
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
RELATIONS = {"=", "<", ">", r"\approx", r"\le", r"\leq", r"\ge", r"\geq", r"\ne", r"\neq", r"\to"}
TERMS = {"+", "-"}
APART = {r"\quad", r"\qquad"}  # between formulas on one line
OPENING = {"{", "(", "[", r"\left", r"\{", r"\begin"}
CLOSING = {"}", ")", "]", r"\right", r"\}", r"\end"}
# What a sign follows is no term before it.
SIGNED = RELATIONS | TERMS | OPENING | {",", r"\cdot", r"\times", "{}", ""}


@cache
def converter() -> LatexToMathML:
    return LatexToMathML(xml_namespace=True, fancy_error=False)


def mathml(tex: str, display: bool = False) -> str:
    r"""A formula in TeX as a `<math>` element, well-formed in HTML and in XML.

    display: on a line for itself, as between two `$$`; otherwise within a sentence.

    Raises:
        ValueError: the TeX is wrong, or has a command that is not known.
    """
    if r"\\" in tex and r"\begin{" not in tex:  # several lines
        tex = rf"\begin{{gathered}}{tex}\end{{gathered}}"
    try:
        made = converter().convert_with_local_state(tex.strip(), displaystyle=display)
    except LatexError as error:
        raise ValueError(f"the formula {tex!r} cannot be set: {error}") from None
    made = NAMED.sub(lambda name: unescape(name[0]), made)
    made = SIGN.sub(r'\1 form="prefix"', made).replace("</msqrt>", STRUT)
    return MARKED.sub(lambda part: f'<mtext style="{STYLES[part[1]]}">{part[2]}</mtext>', made)


def signs(tex: str) -> int:
    return len(re.sub(r"<[^>]*>|\s", "", unescape(mathml(tex))))


def cut_before(tex: str, operators: set[str]) -> list[str]:
    """The formula in parts, each but the first beginning with one of the operators."""
    parts, depth, before = [""], 0, ""
    for token in TOKEN.findall(tex.removeprefix("{}")):
        if depth == 0 and token in operators and (token in APART or before not in SIGNED):
            parts.append("{}")  # what stands between two terms is no sign of the second
        depth += (token in OPENING) - (token in CLOSING)
        parts[-1] += token
        before = token if token.strip() else before
    return ["{}" * tex.startswith("{}") + parts[0], *parts[1:]]


def pieces(tex: str) -> list[str]:
    """The formula in parts between which a line may break."""
    if signs(tex) <= LONG:
        return [tex]
    terms = [
        cut_before(part, TERMS) if signs(part) > LINE else [part]
        for part in cut_before(tex, RELATIONS)
    ]
    return [term for part in terms for term in part]


def in_a_sentence(tex: str) -> str:
    """A formula whose line may break where a reader would break it: MathML itself never does."""
    return mathml(tex) if r"\begin{" in tex else " ".join(map(mathml, pieces(tex)))


def on_a_line(tex: str) -> str:
    """A formula, or several, on a line for itself: it breaks where the line is too short.

    Each part is in display style, and the first of what stood apart has the class `apart`.
    """
    formulas = cut_before(tex.strip(), APART)
    parts = [pieces(re.sub(r"^\{\}\\q?quad\b", "", formula).strip()) for formula in formulas]
    several_lines = r"\\" in re.sub(r"\\begin\{.*\\end\{", "", tex, flags=re.DOTALL)
    if several_lines or sum(map(len, parts)) == 1:
        return mathml(tex, display=True)
    made = ""
    for i, formula in enumerate(parts):
        for j, part in enumerate(formula):
            look = 'displaystyle="true"' + ' class="apart"' * (i > 0 and j == 0)
            made += mathml(part, display=True).replace('display="block"', look, 1)
    return made


def set_formula(node: nodes.Element, display: bool) -> str:
    """The MathML of a node; a warning, which fails the build, and the TeX where it is wrong."""
    try:
        return on_a_line(node.astext()) if display else in_a_sentence(node.astext())
    except ValueError as error:
        logger.warning("%s", error, location=node)
        return f"<code>{node.astext()}</code>"


def visit_formula(self, node: nodes.math) -> None:
    self.body.append(set_formula(node, display=False))
    raise nodes.SkipNode


def visit_formula_block(self, node: nodes.math_block) -> None:
    self.body.append(self.starttag(node, "div", CLASS="math"))
    self.body.append(f"{set_formula(node, display=True)}</div>\n")
    raise nodes.SkipNode


def keep_marks(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Let no line begin with the comma behind a formula, nor end with the bracket before one."""

    def kept(found: re.Match) -> str:
        marked = found[1] or found[3]
        return f'<span class="kept">{found[0]}</span>' if marked else found[0]

    if context.get("body"):
        context["body"] = INLINE.sub(kept, context["body"])


def setup(app: Sphinx) -> dict:
    app.connect("html-page-context", keep_marks)
    app.add_html_math_renderer("mathml", (visit_formula, None), (visit_formula_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
