"""The book as an EPUB: a file of XHTML for each page, its answers in another one behind all pages.

Nothing in it needs a script. A formula is MathML, as on the website; a drawing is SVG with its
alternative text; the still of an explorer is a picture, and its numbers are the picture's text.
"""

from __future__ import annotations

import re
import uuid
import zipfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from pathlib import Path

from common import ROOT
from lxml import etree
from lxml.html import HtmlElement
from paper_pages import ANSWERS, Page, appendix, has_class, with_class

STYLE = Path(__file__).parent / "paper" / "epub.css"
MATH_FONT = ROOT / "book" / "assets" / "fonts" / "stix-two-math.woff2"
XHTML = "http://www.w3.org/1999/xhtml"
SVG = "http://www.w3.org/2000/svg"
TYPES = {
    ".xhtml": "application/xhtml+xml",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
# A parser of HTML writes the names of SVG in small letters; XML minds.
CAPITALS = {
    name.lower(): name
    for name in (
        *("clipPath", "clipPathUnits", "foreignObject", "gradientTransform", "gradientUnits"),
        *("lengthAdjust", "linearGradient", "markerHeight", "markerUnits", "markerWidth"),
        *("maskUnits", "pathLength", "patternTransform", "patternUnits", "preserveAspectRatio"),
        *("radialGradient", "refX", "refY", "spreadMethod", "startOffset", "textLength"),
        *("textPath", "viewBox"),
    )
}
# Browsers know these of every element of MathML, the standard of EPUB of these.
STYLED = {"displaystyle": {"math", "mstyle", "mtable"}, "scriptlevel": {"mstyle"}}
PAGE = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"
 lang="en" xml:lang="en">
<head><meta charset="utf-8"/><title>{title}</title><link rel="stylesheet" href="style.css"/></head>
<body>{body}</body>
</html>
"""
CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles>
<rootfile full-path="book/package.opf" media-type="application/oebps-package+xml"/>
</rootfiles>
</container>
"""
PACKAGE = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:uuid:{identifier}</dc:identifier>
<dc:title>{title}</dc:title>
<dc:creator>{author}</dc:creator>
<dc:language>en</dc:language>
<dc:rights>{license}</dc:rights>
<dc:source>{url}</dc:source>
<meta property="dcterms:modified">{modified}</meta>
<meta property="schema:accessMode">textual</meta>
<meta property="schema:accessMode">visual</meta>
<meta property="schema:accessModeSufficient">textual</meta>
<meta property="schema:accessibilityFeature">alternativeText</meta>
<meta property="schema:accessibilityFeature">MathML</meta>
<meta property="schema:accessibilityFeature">tableOfContents</meta>
<meta property="schema:accessibilityFeature">structuralNavigation</meta>
<meta property="schema:accessibilityHazard">none</meta>
<meta property="schema:accessibilitySummary">Every figure has an alternative text, every formula \
is MathML, and the numbers of every explorer stand beside its picture.</meta>
</metadata>
<manifest>
{items}
</manifest>
<spine>
{spine}
</spine>
</package>
"""


def write_epub(
    site: Path, pages: Sequence[Page], output: Path, *, book: Mapping[str, str], modified: datetime
) -> None:
    """Write `pages` into the file `output`.

    Args:
        site: the folder of the website, whose figures are taken.
        book: its title, author, license, url and version.
        modified: the time that the book gives as its own (UTC).
    """
    bodies: dict[str, tuple[str, HtmlElement]] = {}  # file -> title, what it holds
    for page in pages:
        bodies[f"{page.slug}.xhtml"] = page.title, page.body
    answers = list(appendix(pages))
    for page, section in answers:
        bodies[f"{ANSWERS}-{page.slug}.xhtml"] = f"Answers: {page.title}", section
    where = {
        element.get("id"): name
        for name, (_, body) in bodies.items()
        for element in body.iter()
        if element.get("id")
    }
    files: dict[str, bytes] = {
        "style.css": style(site).encode(),
        "logo.svg": drawing((site / "_static" / "logo.svg").read_bytes()),
    }
    if MATH_FONT.exists():
        files[MATH_FONT.name] = MATH_FONT.read_bytes()
    files["title.xhtml"] = title_page(book)
    files["contents.xhtml"] = contents(pages, [page for page, _ in answers])
    for name, (title, body) in bodies.items():
        prepare(body, name, where)
        for image in body.iter("img"):
            taken, data = figure(site, image)
            files[taken] = data
            image.set("src", taken)
        made = etree.tostring(body, encoding="unicode", method="xml", with_tail=False)
        files[name] = PAGE.format(title=escape(title), body=made).encode()
    pack(output, files, ["title.xhtml", "contents.xhtml", *bodies], book, modified)


def prepare(body: HtmlElement, name: str, where: Mapping[str, str]) -> None:
    """Make XHTML of a page: no page numbers, links between files, SVG with its own names."""
    for number in with_class(body, "page-number"):
        number.drop_tree()
    for link in list(body.iter("a")):
        href = link.get("href", "")
        if link.xpath("ancestor::svg"):
            link.drop_tag()
        elif href.startswith("#"):
            file = where[href[1:]]
            link.set("href", href if file == name else f"{file}{href}")
    for svg in list(body.iter("svg")):
        svg.set("xmlns", SVG)
        for element in svg.iter():
            if isinstance(element.tag, str):
                element.tag = CAPITALS.get(element.tag, element.tag)
                for attribute, value in list(element.attrib.items()):
                    if attribute in CAPITALS:
                        del element.attrib[attribute]
                        element.set(CAPITALS[attribute], value)
    for element in list(body.iter()):
        moved = {
            name: element.attrib.pop(name)
            for name, allowed in STYLED.items()
            if name in element.attrib and element.tag not in allowed
        }
        if moved:
            styled = etree.SubElement(element.getparent(), "mstyle", moved)
            element.getparent().replace(element, styled)
            styled.append(element)
            styled.tail, element.tail = element.tail, None
        for attribute in list(element.attrib):
            # Of no use in a book, or of HTML before its fifth version.
            if attribute.startswith("data-") or attribute in {"align", "valign", "border", "name"}:
                del element.attrib[attribute]


def figure(site: Path, image: HtmlElement) -> tuple[str, bytes]:
    """The name in the book, and the contents, of what an image shows."""
    source = image.get("src", "")
    if not image.get("alt") and not has_class(image, "decoration"):
        raise ValueError(f"a figure has no alternative text: {source}")
    path = site / source
    data = path.read_bytes()
    return f"images/{path.name}", drawing(data) if path.suffix == ".svg" else data


def drawing(data: bytes) -> bytes:
    """An SVG file without what only its maker needs."""
    root = etree.fromstring(data, etree.XMLParser(remove_comments=True, resolve_entities=False))
    for element in root.findall(f"{{{SVG}}}metadata"):
        root.remove(element)
    return etree.tostring(root, xml_declaration=True, encoding="utf-8")


def style(site: Path) -> str:
    """The style of the book, and the light colours of code from the website."""
    colours = (site / "_static" / "pygments.css").read_text(encoding="utf-8")
    light = re.findall(r'^html\[data-theme="light"\] (\.highlight \.\w+ \{[^}]*\})', colours, re.M)
    return STYLE.read_text(encoding="utf-8") + "\n".join(light) + "\n"


def title_page(book: Mapping[str, str]) -> bytes:
    lines = (
        '<section class="title-page"><img src="logo.svg" alt=""/>',
        f"<h1>{escape(book['title'])}</h1>",
        f"<p>{escape(book['author'])}</p><p>Version {escape(book['version'])}</p>",
        f'<p>The website runs what stands here: <a href="{book["url"]}">{book["url"]}</a></p>',
        f"<p>{escape(book['license'])}</p></section>",
    )
    return PAGE.format(title=escape(book["title"]), body="\n".join(lines)).encode()


def contents(pages: Sequence[Page], answered: Sequence[Page]) -> bytes:
    """The contents, which is the reader's menu, too."""
    lines = ['<nav epub:type="toc" id="toc"><h1>Contents</h1><ol>']

    def entry(file: str, title: str, below: str = "") -> str:
        return f'<li><a href="{file}">{escape(title)}</a>{below}</li>'

    part = ""
    for page in pages:
        if page.part != part:
            lines.append("</ol></li>" if part else "")
            lines.append(f"<li><span>{escape(page.part)}</span><ol>")
            part = page.part
        sections = "".join(entry(f"{page.slug}.xhtml#{s.id}", s.title) for s in page.sections)
        below = f"<ol>{sections}</ol>" if sections else ""
        lines.append(entry(f"{page.slug}.xhtml", page.title, below))
    lines.append("</ol></li>" if part else "")
    if answered:
        listed = "".join(entry(f"{ANSWERS}-{p.slug}.xhtml", p.title) for p in answered)
        lines.append(f"<li><span>Answers, hints and solutions</span><ol>{listed}</ol></li>")
    lines.append("</ol></nav>")
    return PAGE.format(title="Contents", body="\n".join(lines)).encode()


def pack(
    output: Path,
    files: Mapping[str, bytes],
    spine: Sequence[str],
    book: Mapping[str, str],
    modified: datetime,
) -> None:
    """Write the archive. Its first file says what it is, and is not compressed."""
    items = []
    names = {name: f"f{i}" for i, name in enumerate(files)}
    for name, data in files.items():
        properties = [
            kind
            for kind in ("mathml", "svg")
            if name.endswith(".xhtml") and (b"<math" if kind == "mathml" else b"<svg") in data
        ]
        properties += ["nav"] if name == "contents.xhtml" else []
        properties += ["cover-image"] if name == "logo.svg" else []
        said = f' properties="{" ".join(properties)}"' if properties else ""
        kind = TYPES[Path(name).suffix]
        items.append(f'<item id="{names[name]}" href="{name}" media-type="{kind}"{said}/>')
    package = PACKAGE.format(
        identifier=uuid.uuid5(uuid.NAMESPACE_URL, book["url"]),
        modified=modified.strftime("%Y-%m-%dT%H:%M:%SZ"),
        items="\n".join(items),
        spine="\n".join(f'<itemref idref="{names[name]}"/>' for name in spine),
        **{key: escape(book[key]) for key in ("title", "author", "license", "url")},
    )
    stamp = (max(modified.year, 1980), *modified.timetuple()[1:6])
    with zipfile.ZipFile(output, "w") as archive:

        def add(name: str, data: bytes | str, kind: int = zipfile.ZIP_DEFLATED) -> None:
            archive.writestr(zipfile.ZipInfo(name, stamp), data, compress_type=kind)

        add("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        add("META-INF/container.xml", CONTAINER)
        add("book/package.opf", package)
        for name, data in files.items():
            add(f"book/{name}", data)
