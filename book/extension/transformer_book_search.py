"""What the search of the website knows: each section of each page, as clean text.

While pages are read, the sections are noted: heading, page, what else a term is called, text
without code and without TeX. They are written into ``_static/search/sections.js``, which a page
loads when the reader begins to search (``js/search.js``): a script, so that it works in pages from
a folder. What readers call a subject that its heading does not name stands in ``subjects.toml``.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from transformer_book_math import mathml

ALSO = re.compile(r"(?:<!-- |^)also: (.*?)(?: -->|$)", re.MULTILINE)  # a remark in the glossary
FURTHER = "Further: "
SUBJECTS = Path(__file__).with_name("subjects.toml")
LEFT_OUT = (nodes.literal_block, nodes.raw, nodes.comment, nodes.math_block, nodes.title)
FRACTION = re.compile(r"\\[dt]?frac\{([^{}]*)\}\{([^{}]*)\}")
LINE = r"\\text{√}\1"
ROOT = re.compile(r"\\sqrt\{([^{}]*)\}")


def readable(tex: str) -> str:
    """The TeX of a formula with fractions and roots in a line."""
    for pattern, put in ((ROOT, LINE), (FRACTION, r"\1/\2"), (ROOT, LINE)):
        tex = pattern.sub(put, tex)
    return tex


def words_of(node: nodes.Node) -> Iterator[str]:
    """The text of a node piece by piece, without code, headings and the sections in it."""
    if isinstance(node, nodes.Text):
        yield node.astext()
    elif isinstance(node, nodes.math):
        tex = readable(node.astext())
        yield unescape(re.sub(r"<[^>]*>", "", mathml(tex)))
    elif not isinstance(node, (nodes.section, *LEFT_OUT)):
        for child in node.children:
            yield from words_of(child)
        if isinstance(node, (nodes.TextElement, nodes.Structural, nodes.Body)) and not isinstance(
            node, nodes.Inline
        ):
            yield " "


def sections_of(doctree: nodes.document) -> list[dict[str, str]]:
    """Heading, anchor, other names and text of each section of a page, in their order."""
    found = []
    for section in doctree.findall(nodes.section):
        own = [child for child in section.children if not isinstance(child, nodes.section)]
        raw = " ".join(
            node.astext()
            for child in own
            for node in child.findall(lambda n: isinstance(n, (nodes.raw, nodes.comment)))
        )
        title = "".join(words_of_title(section.next_node(nodes.title)))
        text = "".join(word for child in own for word in words_of(child))
        found.append(
            {
                "title": title.removeprefix(FURTHER),
                "anchor": section["ids"][0],
                "also": ", ".join(ALSO.findall(raw)).replace("; common: ", ", "),
                "text": " ".join(text.split()),
            }
        )
    return found


def words_of_title(title: nodes.title) -> Iterator[str]:
    for child in title.children:
        yield from words_of(child)


def note_sections(app: Sphinx, doctree: nodes.document) -> None:
    app.env.metadata[app.env.docname]["sections"] = sections_of(doctree)


def with_subjects(pages: list[dict], subjects: dict[str, dict[str, str]]) -> list[dict]:
    """The pages, their sections with the names under which readers look for them.

    Raises:
        ExtensionError: if a name is given to a section that its page does not have.
    """
    built = {page["name"] for page in pages}
    left = {
        (page, anchor): names
        for page, of in subjects.items()
        if page in built
        for anchor, names in of.items()
    }
    for page in pages:
        page["sections"] = [
            section | {"subjects": left.pop((page["name"], section["anchor"]), "")}
            for section in page["sections"]
        ]
    if left:
        raise ExtensionError(f"{SUBJECTS.name} names sections that do not exist: {sorted(left)}")
    return pages


def write_sections(app: Sphinx, env) -> None:
    if app.builder.format != "html":
        return
    pages = [
        {
            "name": name,
            "title": env.titles[name].astext(),
            "url": app.builder.get_target_uri(name),
            "sections": noted,
        }
        for name in sorted(env.found_docs)
        if (noted := env.metadata[name].get("sections"))
    ]
    pages = with_subjects(pages, tomllib.loads(SUBJECTS.read_text(encoding="utf-8")))
    folder = Path(app.outdir) / "_static" / "search"
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(pages, ensure_ascii=False, separators=(",", ":"))
    (folder / "sections.js").write_text(f"window.bookSections = {text};\n", encoding="utf-8")


def setup(app: Sphinx) -> dict:
    app.connect("doctree-read", note_sections)
    app.connect("env-updated", write_sections)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
