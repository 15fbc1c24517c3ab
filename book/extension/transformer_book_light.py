"""Light pages: icons, code and figures as few and small as they look the same.

* Icons of the theme are drawn into the page, from its own font: no script of two thousand icons
  puts them there, and nothing moves. The theme's style and fonts keep only what is used.
* Code has marks only where a colour differs from that of text, one for neighbours of a colour.
* Figures say how large they are, and are fetched when the reader comes near.
* A page asks for the typefaces that it is set in before anything else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from xml.etree import ElementTree

from fontTools import subset
from fontTools.pens.svgPathPen import SVGPathPen
from fontTools.pens.transformPen import TransformPen
from fontTools.ttLib import TTFont
from pygments.formatters import HtmlFormatter
from pygments.styles import get_style_by_name
from pygments.token import STANDARD_TYPES, Text, _TokenType
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

# --- code -----------------------------------------------------------------------------------------

SCHEMES = ("a11y-high-contrast-light", "a11y-high-contrast-dark")  # as the theme has it


@cache
def look(kind: _TokenType) -> tuple:
    """How a kind of token looks in both schemes."""
    while kind not in STANDARD_TYPES:
        kind = kind.parent
    return tuple(
        tuple(get_style_by_name(scheme).style_for_token(kind).items()) for scheme in SCHEMES
    )


def joined(tokens: Iterable[tuple[_TokenType, str]]) -> Iterator[tuple[_TokenType, str]]:
    """The same text with as few tokens as look the same; space takes the look of what precedes."""
    before, text = Text, ""
    for kind, value in tokens:
        if look(kind) == look(Text):
            kind = Text
        if not value.strip() or look(kind) == look(before):
            text += value
            continue
        if text:
            yield before, text
        before, text = kind, value
    if text:
        yield before, text


class Thin(HtmlFormatter):
    """Code as HTML with few elements."""

    def _format_lines(self, tokensource: Iterable) -> Iterator[tuple[int, str]]:
        return super()._format_lines(joined(tokensource))


# --- icons ----------------------------------------------------------------------------------------

ICON = re.compile(
    r"<(?P<tag>i|span) class=\"(?P<classes>[^\"]*\bfa[a-z]?-[^\"]*)\"(?P<rest>[^>]*)>\s*</(?P=tag)>"
)
FAMILIES = {"fab": "brands-400", "fa-brands": "brands-400", "far": "regular-400"}
RULE = re.compile(r"(?P<names>(?:\.fa-[a-z0-9-]+:before,?)+)\{content:\"(?P<code>[^\"]*)\"\}")
ESCAPE = re.compile(r"\\([0-9a-f]{4})")
# What pages load no longer: the script of the icons, and the search that comes with Sphinx, in
# place of which transformer_book_search stands.
SCRIPT = re.compile(
    r"\s*<script [^>]*(?:scripts/fontawesome|/searchtools|/language_data|searchindex)\.js[^>]*>"
    r"\s*</script>"
)


class Icons:
    """The icons of the theme: drawn from its fonts, by the names that its style knows."""

    def __init__(self, static: Path) -> None:
        self.style = static / "styles" / "pydata-sphinx-theme.css"
        self.fonts = static / "vendor" / "fontawesome" / "webfonts"

    @cached_property
    def codes(self) -> dict[str, int]:
        rules = RULE.finditer(self.style.read_text(encoding="utf-8"))
        return {
            name: int(found[1], 16)
            if (found := ESCAPE.fullmatch(rule["code"]))
            else ord(rule["code"][0])
            for rule in rules
            for name in re.findall(r"\.fa-([a-z0-9-]+):before", rule["names"])
        }

    @cache  # noqa: B019 (there is one, for one build)
    def font(self, family: str) -> TTFont:
        return TTFont(self.fonts / f"fa-{family}.woff2")

    def drawn(self, found: re.Match) -> str:
        """The element of an icon, as a drawing."""
        classes = found["classes"].split()
        name = next((c[3:] for c in classes if c[3:] in self.codes), None)
        if name is None:
            return found[0]
        font = self.font(next((FAMILIES[c] for c in classes if c in FAMILIES), "solid-900"))
        glyph = font.getBestCmap()[self.codes[name]]
        glyphs, size = font.getGlyphSet(), font["head"].unitsPerEm
        pen = SVGPathPen(glyphs, ntos=lambda number: f"{number:.0f}")
        glyphs[glyph].draw(TransformPen(pen, (1, 0, 0, -1, 0, size * 7 / 8)))
        rest = re.sub(r'\s*title="[^"]*"', "", found["rest"])
        return (
            f'<svg class="svg-inline--fa {" ".join(classes)}"{rest} aria-hidden="true" '
            f'viewBox="0 0 {font["hmtx"][glyph][0]} {size}">'
            f'<path fill="currentColor" d="{pen.getCommands()}"/></svg>'
        )

    def keep_used(self) -> None:
        """Leave out of the style and the fonts what no page shows: a style may still draw some."""
        style = RULE.sub("", self.style.read_text(encoding="utf-8"))
        style = re.sub(r"url\([^)]*\.ttf\) format\(\"truetype\"\)", "", style)
        self.style.write_text(style.replace(",;", ";").replace(",}", "}"), encoding="utf-8")
        styles = [path.read_text(encoding="utf-8") for path in self.style.parent.glob("*.css")]
        used = {int(code, 16) for text in styles for code in ESCAPE.findall(text)}
        used |= {ord(sign) for text in styles for sign in text if "\ue000" <= sign <= "\uf8ff"}
        for path in self.fonts.glob("*.woff2"):
            options = subset.Options(flavor="woff2", layout_features=[], notdef_outline=True)
            font = subset.load_font(str(path), options)
            cutter = subset.Subsetter(options)
            cutter.populate(unicodes=used)
            cutter.subset(font)
            subset.save_font(font, str(path), options)
        for path in self.fonts.glob("*.ttf"):
            path.unlink()
        for path in (self.style.parent.parent / "scripts").glob("fontawesome.*"):
            path.unlink()


# --- figures --------------------------------------------------------------------------------------

IMAGE = re.compile(
    r'<img (?P<rest>[^>]*\bsrc="(?P<src>[^":?]*_images/[^"]*\.svg)"[^>]*?)(?P<end>\s*/?>)'
)
LENGTH = re.compile(r"([\d.]+)\s*(pt|px|)")


@cache
def size_of(path: Path) -> tuple[int, int] | None:
    """Width and height of a drawing in pixels, as it says itself."""
    for _, root in ElementTree.iterparse(path, events=["start"]):
        found = [LENGTH.fullmatch(root.get(side, "")) for side in ("width", "height")]
        if all(found):
            return tuple(
                round(float(side[1]) * (4 / 3 if side[2] == "pt" else 1)) for side in found
            )
        box = root.get("viewBox", "").split()
        return (round(float(box[2])), round(float(box[3]))) if len(box) == 4 else None
    return None


def sized(page: Path, image: re.Match) -> str:
    """The element of a figure, which says its size and waits for the reader."""
    size = size_of((page.parent / image["src"]).resolve())
    if size is None or "width=" in image["rest"]:
        return image[0]
    return f'<img {image["rest"]} width="{size[0]}" height="{size[1]}" loading="lazy"{image["end"]}'


# --- typefaces ------------------------------------------------------------------------------------

# Each file of `assets/fonts`, what of a page is set in it, and its family in `book.css`.
FACES = {
    "source-sans-3-normal": ("", "Book Sans"),
    "source-serif-4-normal": ("", "Book Serif"),
    "source-serif-4-italic": ("<em", "Book Serif"),
    "source-code-pro-normal": ("<code|<pre", "Book Code"),
    "stix-two-math": ("<math", None),  # formulas wait for it
}


# They come together, or the page keeps to their stand-ins: a browser that takes each as it comes,
# and asks again when a style is added, would set a page in two. It waits half a second for them.
# From a folder a page may not ask for them so: there they come with its style.
ASK = """
    <script>
      if (location.protocol !== "file:") {{
        const shown = document.documentElement.classList;
        shown.add("waiting");
        const coming = {faces}.map(([href, family, look]) => {{
          document.head.append(Object.assign(document.createElement("link"),
            {{rel: "preload", as: "font", type: "font/woff2", crossOrigin: "anonymous", href}}));
          return family && new FontFace(family, `url(${{href}})`, look).load();
        }});
        const late = new Promise((_, reject) => setTimeout(reject, 500));
        Promise.race([Promise.all(coming), late])
          .then((faces) => faces.forEach((face) => face && document.fonts.add(face)))
          .catch(() => shown.add("near"))
          .finally(() => shown.remove("waiting"));
      }}
    </script>"""


def ask_for_faces(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """At the head of a page, ask for the typefaces in which it is set."""
    body, pathto = context.get("body") or "", context.get("pathto")
    if template not in {"page.html", "search.html"}:
        return
    faces = [
        (
            pathto(f"_static/fonts/{name}.woff2", 1),
            family,
            {"style": "italic"} if name.endswith("italic") else {"weight": "400 700"},
        )
        for name, (used, family) in FACES.items()
        if re.search(used, body)
    ]
    context["metatags"] = context.get("metatags", "") + ASK.format(faces=json.dumps(faces))


# --- the build ------------------------------------------------------------------------------------


def lighten(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    site = Path(app.outdir)
    icons = Icons(site / "_static")
    fresh = bool(icons.codes)  # otherwise an earlier build has left out what is not used
    for path in site.rglob("*.html"):
        if "_static" in path.relative_to(site).parts:
            continue
        before = text = path.read_text(encoding="utf-8")
        text = SCRIPT.sub("", text)
        if fresh:
            text = ICON.sub(icons.drawn, text)
        text = IMAGE.sub(lambda image, page=path: sized(page, image), text)
        if text != before:
            path.write_text(text, encoding="utf-8")
    if fresh:
        icons.keep_used()


def setup(app: Sphinx) -> dict:
    PygmentsBridge.html_formatter = Thin
    app.connect("html-page-context", ask_for_faces)
    app.connect("build-finished", lighten)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
