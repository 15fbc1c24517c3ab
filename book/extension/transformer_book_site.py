"""What the website adds to Jupyter Book: boxes, figures with captions, live drawings.

Chapters are plain CommonMark notebooks that every front end renders. This extension dresses them
for the website; nothing in a chapter depends on it.

* A block quote that begins with a bold word ("**Predict first.**") becomes a box.
* An SVG output whose metadata carries ``alt`` and ``caption`` becomes ``<figure>``, ``<img alt>``
  and ``<figcaption>``. The caption that `plots.show` also prints for notebook front ends is dropped
  here, so that it appears once.
* ``{architecture}``, or in a chapter the image of any drawing that ``tools/draw.py`` has made,
  stands in the page itself: its colours follow the theme, and a box that names a chapter links to
  it as soon as ``_toc.yml`` lists that chapter. The emphasised line below the image is its caption.
* A section "Further: …" is a branch off the core path: it can be folded (``js/further.js``), and
  keeps the address that it would have without that word. The contents of a page show it by a mark.
* The imports at the beginning of a notebook fold to one line.
* A chapter opens with a small drawing of the model, its own part lit, which leads to the large one.
* A sentence in brackets that stands by itself in the text is an aside: on wide screens it stands in
  the margin, without its brackets.
* A cell of a table that holds no more than a pair or a sum keeps it on one line.
* Every chapter ends with a link to the debugging page.
* Every entry of the bibliography gets its key as an anchor:
  ``[Vaswani et al., 2017](../book/bibliography.md#vaswani2017attention)``.
"""

from __future__ import annotations

import re
from html import escape, unescape
from pathlib import Path
from xml.etree import ElementTree

from docutils import nodes
from mdit_py_plugins.anchors.index import slugify
from myst_nb.core.render import MimeData, NbElementRenderer, load_mime_renders
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.transforms import SphinxTransform
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective

# The first words of a box, and the class that colours it. Other bold beginnings make a plain note.
KINDS = {
    "predict first": "predict",
    "departs from the paper": "departs",
    "your turn": "turn",
    "try it": "turn",
    "break it": "break",
}

DEBUGGING = "book/debugging"


# --- boxes --------------------------------------------------------------------------------------


class Box(nodes.General, nodes.Element):
    """A block quote that begins with a bold word."""


def box_kind(quote: nodes.block_quote) -> tuple[str, str] | None:
    """The kind and the title of a box, or None for a block quote that quotes."""
    first = quote.children[0] if quote.children else None
    if not isinstance(first, nodes.paragraph):
        return None
    strong = next((child for child in first.children if child.astext()), None)
    if not isinstance(strong, nodes.strong):
        return None
    strong["classes"].append("box-title")
    title = strong.astext().strip().rstrip(".:!?")
    for beginning, kind in KINDS.items():
        if title.lower().startswith(beginning):
            return kind, title
    return "note", title


class Boxes(SphinxTransform):
    """Turn block quotes that begin with a bold word into boxes."""

    default_priority = 400

    def apply(self, **kwargs) -> None:
        for quote in list(self.document.findall(nodes.block_quote)):
            if found := box_kind(quote):
                kind, title = found
                box = Box("", *quote.children, kind=kind, title=title)
                box.source, box.line = quote.source, quote.line
                quote.replace_self(box)


def visit_box(self, node: Box) -> None:
    attributes = {"role": "note", "aria-label": node["title"]}
    self.body.append(self.starttag(node, "div", CLASS=f"box box-{node['kind']}", **attributes))


def depart_box(self, node: Box) -> None:
    self.body.append("</div>\n")


def pass_box(self, node: Box) -> None:
    """Other builders show the contents as they are."""


# --- figures ------------------------------------------------------------------------------------


class Figures:
    """A MyST-NB mime renderer: images whose output metadata carries alt text and a caption."""

    mime_priority_overrides = ()

    @staticmethod
    def handle_mime(
        renderer: NbElementRenderer, data: MimeData, inline: bool
    ) -> list[nodes.Node] | None:
        if data.output_metadata.get("transformer_book") == "caption":
            return []  # the figure above carries it
        described = data.output_metadata.get(data.mime_type)
        if not data.mime_type.startswith("image/") or not isinstance(described, dict):
            return None
        if "alt" not in described and "caption" not in described:
            return None
        images = renderer.render_image(data)
        for image in images:
            image["alt"] = described.get("alt", "")
        figure = nodes.figure("", *images, classes=["book-figure"])
        if caption := described.get("caption"):
            parsed = nodes.Element()
            with renderer.renderer.current_node_context(parsed):
                renderer.renderer.nested_render_text(caption, data.line or 0)
            paragraph, *rest = parsed.children
            figure += nodes.caption(caption, "", *paragraph.children)
            if rest:
                figure += nodes.legend("", *rest)
        return [figure]


# --- drawings -----------------------------------------------------------------------------------

SVG = "http://www.w3.org/2000/svg"
OURS = '<svg xmlns="http://www.w3.org/2000/svg" class="arch"'  # how tools/draw.py begins a file


class Drawn(nodes.General, nodes.Element):
    """A drawing, inline, so that its links work and its colours follow the theme; and a caption."""


def drawn(env: BuildEnvironment, address: str) -> Drawn | None:
    """The drawing at an address from the root of the book, or None for another kind of image."""
    relative, path = env.relfn2path(f"/{address}")
    with Path(path).open(encoding="utf-8") as file:
        if file.read(len(OURS)) != OURS:
            return None
    env.note_dependency(relative)
    env.note_dependency(str(Path(env.srcdir) / "_toc.yml"))
    return Drawn(path=path)


class ArchitectureDirective(SphinxDirective):
    """``{architecture}``: the book's own drawing of the Transformer, each box a link."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        return [drawn(self.env, "book/assets/figures/architecture.svg")]


class Drawings(SphinxTransform):
    """A chapter shows a drawing as an ordinary image; the website puts the live one there."""

    default_priority = 450

    def apply(self, **kwargs) -> None:
        for image in list(self.document.findall(nodes.image)):
            found = re.search(r"book/assets/figures/\w+\.svg$", image["uri"])
            live = drawn(self.env, found[0]) if found else None
            if live is None:
                continue
            place = image.parent
            if not (isinstance(place, nodes.paragraph) and len(place) == 1):
                image.replace_self(live)
                continue
            below = place.next_node(descend=False, siblings=True)
            inside = below.children if isinstance(below, nodes.paragraph) else []
            if len(inside) == 1 and isinstance(inside[0], nodes.emphasis):
                live += nodes.paragraph("", "", *inside[0].children)
                below.parent.remove(below)
            place.replace_self(live)


def chapters_by_number(docnames) -> dict[str, str]:
    """``{"07": "chapters/07_scaled_dot_product_attention"}`` for the chapters of the book."""
    found = (re.fullmatch(r"chapters/(\d\d)_.*", name) for name in docnames)
    return {match[1]: match[0] for match in found if match}


# --- branches -----------------------------------------------------------------------------------

FURTHER = "Further: "
FURTHER_LINK = re.compile(rf'(<a class="reference internal)"([^>]*>)({FURTHER})')


def slug_of(heading: str) -> str:
    """The address of a section, the same whether it is a branch or not."""
    return slugify(heading.removeprefix(FURTHER))


class Branches(SphinxTransform):
    """Mark the sections that can be folded; the address without "further" leads to them, too."""

    default_priority = 450

    def apply(self, **kwargs) -> None:
        for section in self.document.findall(nodes.section):
            title = section.next_node(nodes.title)
            if title.astext().startswith(FURTHER):
                section["classes"].append("further")
                if (slug := title.get("slug") or section.get("slug")) not in (
                    None,
                    *section["ids"],
                ):
                    section["ids"].append(slug)


# Before any branch is read, so that what is folded is never laid out, and nothing moves when the
# script comes. `js/further.js` keeps what the reader has chosen by this name.
FOLD = """<script>{
  let all = false;
  try { all = localStorage.getItem("transformer-book-further") === "all"; } catch {}
  document.documentElement.classList.add("folds", ...(all ? [] : ["folded"]));
}</script>
"""


class Folds(SphinxPostTransform):
    """Put a bar below the title, and a button and a body into each branch.

    This comes after the contents of the page have been collected: they look for sections only in
    sections.
    """

    default_priority = 450
    formats = ("html",)

    def run(self, **kwargs) -> None:
        branches = [s for s in self.document.findall(nodes.section) if "further" in s["classes"]]
        if not branches:
            return
        for number, branch in enumerate(branches, 1):
            place = branch.index(branch.next_node(nodes.title)) + 1
            name = f"further-body-{number}"
            inner = branch.children[place:]
            del branch[place:]
            button = (
                '<button type="button" class="further-button" aria-expanded="false" '
                f'aria-controls="{name}">Show this section</button>\n'
                f'<div class="further-body" id="{name}">\n'
            )
            branch += [raw_html(button), *inner, raw_html("</div>\n")]
        title = self.document.next_node(nodes.title)
        n = len(branches)
        bar = (
            '<div class="further-bar" role="group" '
            'aria-label="How much of this chapter is shown">'
            '<button type="button" class="further-choice" aria-pressed="true">The core</button>'
            '<button type="button" class="further-choice" aria-pressed="false">All of it</button>'
            f'<span role="status">{n} further section{"s are" if n > 1 else " is"} folded.</span>'
            f"</div>\n{FOLD}"
        )
        title.parent.insert(title.parent.index(title) + 1, raw_html(bar))


def raw_html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


# --- what stands before the text -----------------------------------------------------------------


class Imports(SphinxTransform):
    """The imports, the first cell of each notebook, fold to one line: the text begins in sight."""

    default_priority = 450

    def apply(self, **kwargs) -> None:
        cells = self.document.findall(nodes.container)
        cell = next((each for each in cells if each.get("nb_element") == "cell_code"), None)
        if cell is None:
            return
        source = cell.next_node(nodes.literal_block).astext()
        if not cell.get("hide_mode") and source.startswith(("import ", "from ")):
            line = "Set-up and imports"
            cell.update_basic_atts({"classes": ["tag_hide-input"]})
            cell["hide_mode"], cell["prompt_show"], cell["prompt_hide"] = "input", line, line


class DebuggingLink(SphinxTransform):
    """The last line of every chapter: where to look when one's own model does not work."""

    default_priority = 460

    def apply(self, **kwargs) -> None:
        env = self.env
        if not re.match(r"chapters/\d\d_", env.docname) or DEBUGGING not in env.found_docs:
            return
        link = addnodes.pending_xref(
            "",
            nodes.inline("", "Look it up by what you see."),
            refdomain="std",
            reftype="doc",
            refexplicit=True,
            refdoc=env.docname,
            reftarget=f"/{DEBUGGING}",
        )
        line = nodes.paragraph("", "Your own model does not work? ", link, classes=["debugging"])
        *_, last = [self.document, *self.document.findall(nodes.section)]
        last += line


def visit_drawn(self, node: Drawn) -> None:
    builder = self.builder
    chapters = chapters_by_number(builder.env.found_docs)
    ElementTree.register_namespace("", SVG)
    root = ElementTree.parse(node["path"]).getroot()
    parents = {child: parent for parent in root.iter() for child in parent}
    for group in list(root.iter(f"{{{SVG}}}g")):
        number = group.get("data-chapter")
        if number is None:
            continue
        docname = chapters.get(number)
        if docname == builder.current_docname:
            continue  # the reader is there
        group.set("class", f"{group.get('class', '')} {'written' if docname else 'unwritten'}")
        if docname:
            title = builder.env.titles[docname].astext()
            link = ElementTree.Element(f"{{{SVG}}}a")
            link.set("href", builder.get_relative_uri(builder.current_docname, docname))
            # What is written in the box comes first: who speaks to the page says what they see.
            shown = " ".join(" ".join(text.itertext()) for text in group.iter(f"{{{SVG}}}text"))
            link.set("aria-label", f"{shown}: chapter {title}")
            parent = parents[group]
            position = list(parent).index(group)
            parent.remove(group)
            link.append(group)
            link.tail = group.tail
            parent.insert(position, link)
    text = ElementTree.tostring(root, encoding="unicode")
    self.body.append(f'<figure class="drawing">\n{text}\n')
    self.body.append("<figcaption>\n" if node.children else "")


def depart_drawn(self, node: Drawn) -> None:
    self.body.append("</figcaption>\n" if node.children else "")
    self.body.append("</figure>\n")


# --- the opener of a chapter ---------------------------------------------------------------------

DRAWING, LARGE = "book/landing", "the-model-and-the-chapters-that-build-it"
# What is lit in chapters that the drawing does not name: the chapters of those parts.
LIT = {
    "06": {"07"},
    "15": {"14"},
    "16": {"14"},
    "25": {"05", "10"},
    "26": {"24"},
}
ONE_STACK = {"24", "25", "26", "27", "28"}


class Opener(nodes.General, nodes.Element):
    """Where a chapter stands in the model: its drawing, small, with the chapter's part lit."""


class Openers(SphinxTransform):
    """Put the opener below the title of each chapter."""

    default_priority = 460

    def apply(self, **kwargs) -> None:
        number = re.match(r"chapters/(\d\d)_", self.env.docname)
        title = self.document.next_node(nodes.title)
        if number is None or title is None:
            return
        name = "decoder_only" if number[1] in ONE_STACK else "architecture"
        relative, path = self.env.relfn2path(f"/book/assets/figures/{name}.svg")
        self.env.note_dependency(relative)
        parent = title.parent
        parent.insert(parent.index(title) + 1, Opener(path=path, number=number[1]))


def opened(path: str | Path, number: str) -> tuple[str, list[str]]:
    """The drawing without words, and the names of the parts that are lit in it.

    A part is lit if it belongs to the chapter of this number; if none does, all of them are.
    """
    ElementTree.register_namespace("", SVG)
    root = ElementTree.parse(path).getroot()
    parts = [group for group in root.iter(f"{{{SVG}}}g") if group.get("data-chapter")]
    mine = LIT.get(number, {number})
    lit = [group for group in parts if group.get("data-chapter") in mine]
    names = ["".join(group.itertext()).strip() for group in lit]
    for group in lit or parts:
        group.set("class", "part lit")
    for group in parts:
        del group.attrib["data-chapter"]
    for name in ("title", "desc", "style", "defs", "text"):
        for parent in list(root.iter()):
            for child in parent.findall(f"{{{SVG}}}{name}"):
                parent.remove(child)
    for line in root.iter(f"{{{SVG}}}path"):
        line.attrib.pop("marker-end", None)
    root.attrib = {"viewBox": root.get("viewBox"), "aria-hidden": "true"}
    text = ElementTree.tostring(root, encoding="unicode")
    return re.sub(r"\s*\n\s*", "", text), list(dict.fromkeys(names))


def visit_opener(self, node: Opener) -> None:
    builder = self.builder
    drawing, names = opened(node["path"], node["number"])
    if DRAWING in builder.env.found_docs:
        lit = f"its part is lit: {', '.join(names)}" if names else "it is about all of it"
        label = f"Where this chapter stands in the model; {lit}. To the large drawing."
        address = builder.get_relative_uri(builder.current_docname, DRAWING)
        self.body.append(
            f'<div class="opener"><a href="{address}#{LARGE}" aria-label="{escape(label)}">'
            f"{drawing}</a></div>\n"
        )
    raise nodes.SkipNode


# --- asides ---------------------------------------------------------------------------------------

ASIDE = re.compile(r"(?:^\s*|(?<=[.?!:]\s))\((?=[A-Z“‘])")


class Asides(SphinxTransform):
    """Mark the sentences in brackets that stand by themselves in a paragraph of the text."""

    default_priority = 455

    def apply(self, **kwargs) -> None:
        if not self.env.docname.startswith("chapters/"):
            return
        for paragraph in list(self.document.findall(nodes.paragraph)):
            if isinstance(paragraph.parent, nodes.section):
                while mark_aside(paragraph):
                    # The margin is there before the first of them is read: no line breaks anew.
                    chapter = self.document.next_node(nodes.section)
                    if "with-asides" not in chapter["classes"]:
                        chapter["classes"].append("with-asides")


def mark_aside(paragraph: nodes.paragraph) -> bool:
    """Put the first sentence in brackets, brackets and all, into a node of the class `aside`."""
    children = paragraph.children
    for first, child in enumerate(children):
        if not isinstance(child, nodes.Text):
            continue
        after_aside = first == 0 or "aside" in getattr(children[first - 1], "attributes", {}).get(
            "classes", ()
        )
        for opens in ASIDE.finditer(child):
            start = opens.end() - 1
            if not child[:start].strip() and not after_aside:
                continue
            last, end = closing(children, first, start)
            if end and children[last][end - 1] in ".?!":
                cut_aside(paragraph, first, start, last, end)
                return True
    return False


def closing(children: list[nodes.Node], first: int, start: int) -> tuple[int, int]:
    """Where the bracket closes that opens at `start` of child `first`: child and place, or 0."""
    depth = 0
    for last in range(first, len(children)):
        text = children[last]
        if isinstance(text, nodes.Text):
            for i in range(start if last == first else 0, len(text)):
                depth += (text[i] == "(") - (text[i] == ")")
                if depth == 0 and text[i] == ")":
                    return last, i
    return first, 0


def cut_aside(paragraph: nodes.paragraph, first: int, start: int, last: int, end: int) -> None:
    """Replace children `first` to `last` by what is before the aside, the aside, what is after."""
    head, tail = paragraph.children[first], paragraph.children[last]
    if first == last:
        inner: list[nodes.Node] = [nodes.Text(head[start + 1 : end])]
    else:
        between = paragraph.children[first + 1 : last]
        inner = [nodes.Text(head[start + 1 :]), *between, nodes.Text(tail[:end])]
    bracket = [nodes.inline("", sign, classes=["bracket"]) for sign in "()"]
    aside = nodes.inline("", "", bracket[0], *inner, bracket[1], classes=["aside"])
    parts = [nodes.Text(head[:start]), aside, nodes.Text(tail[end + 1 :])]
    paragraph.children[first : last + 1] = []
    for part in reversed([part for part in parts if part.astext()]):
        paragraph.insert(first, part)


# --- the bibliography ---------------------------------------------------------------------------


def name_entries(app: Sphinx, env: BuildEnvironment) -> None:
    """Let pages link to an entry of the bibliography by its key."""
    for place, bibliography in env.get_domain("cite").bibliographies.items():
        slugs = env.metadata[place.docname].setdefault("myst_slugs", {})
        for key, node in bibliography.citation_nodes.items():
            if key not in node["ids"]:
                node["ids"].append(key)
            slugs[key] = (0, key, key)


# A long word of code in the text, and where its parts meet.
NAME = re.compile(r'<span class="pre">[^<]{15,}</span>')
JOINT = re.compile(r"(?<=\w)[._/]+(?=[A-Za-z])|(?<=[a-z])(?==[\w])")
TITLE = re.compile(r"<h1>.*?(?=<a class=\"headerlink)", re.DOTALL)
COMPOUND = re.compile(r"(?<![-\w])[^\W\d]+-[^\W\d]+(?![-\w])")
CODE = re.compile(
    r'(?<=<code class="docutils literal notranslate)">'
    r'((?:<span class="pre">[^<]*</span> ?)+)(?=</code>)'
)
LONGEST_KEPT = 14  # characters of code that stay on one line: "(B, H, T, T)"
ONE_CHAPTER = re.compile(
    r'<a class="reference internal(?="[^>]*>(?:<[^>]+>)?[Cc]hapter \d+(?:<[^>]+>)?</a>)'
)


def with_short_code_kept(code: re.Match) -> str:
    text = unescape(re.sub(r"<[^>]+>", "", code[1]))
    return f" kept{code[0]}" if len(text) <= LONGEST_KEPT else code[0]


def mend_body(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Mend what would mislead a screen reader, and mark the branches in the contents.

    No line of a title ends within a word such as "multi-head", no line of a text within `B T D` or
    "chapter 7".

    Roles of bibliography entries (deprecated, and wrong inside their list), and header cells of
    tables that hold nothing. The contents keep the word "Further" for who hears them. On a phone a
    long name breaks where its parts meet.
    """
    if "toc" in context:
        context["toc"] = FURTHER_LINK.sub(
            r'\1 further-link"\2<span class="visually-hidden">\3</span>', context["toc"]
        )
    body = context.get("body", "")
    if 'role="doc-biblioentry"' in body:
        body = body.replace(' role="doc-biblioentry"', "")
        body = body.replace('<div role="list" class="citation-list">', "<div>")
    if body:
        kept = r'<span class="kept">\g<0></span>'
        body = TITLE.sub(lambda title: COMPOUND.sub(kept, title[0]), body)
        body = ONE_CHAPTER.sub(r"\g<0> kept", CODE.sub(with_short_code_kept, body))
        body = re.sub(r"<th([^>]*)>\s*(?:<p>\s*</p>)?\s*</th>", r"<td\1></td>", body)
        context["body"] = NAME.sub(lambda name: JOINT.sub(r"\g<0><wbr/>", name[0]), body)


# --- the theme ----------------------------------------------------------------------------------


def theme_options(app: Sphinx, config) -> None:
    """What Jupyter Book's own configuration has no key for."""
    config.html_theme_options["logo"] = {"text": config.html_title, "alt_text": ""}
    # Without this the theme draws a header that the book does not show, whose buttons come first in
    # the page; its scripts wake the first of each kind only, and those that are seen stay dead.
    config.html_theme_options["navbar_persistent"] = []


def allow_side_by_side(app: Sphinx) -> None:
    """Sphinx reads pages side by side only if every extension says that it may.

    This one does not say. It replaces the method that numbers the sections once all pages are read.
    """
    app.extensions["sphinx_multitoc_numbering"].parallel_read_safe = True


# --- tables ---------------------------------------------------------------------------------------

SHORT = re.compile(r"[(+=−×·→]")  # a pair, a sum, a small equation
FEW = 9  # characters: no column of a phone is narrower


class ShortCells(SphinxTransform):
    """Mark the cells of tables that a narrow column may not break."""

    default_priority = 455

    def apply(self, **kwargs) -> None:
        for entry in self.document.findall(nodes.entry):
            text = entry.astext()
            if len(text) <= FEW and SHORT.search(text):
                entry["classes"].append("short")


# --- set-up -------------------------------------------------------------------------------------


def setup(app: Sphinx) -> dict:
    others = {"latex": (pass_box, pass_box), "text": (pass_box, pass_box)}
    app.add_node(Box, html=(visit_box, depart_box), **others)
    app.add_transform(Boxes)
    if Figures not in load_mime_renders():
        load_mime_renders().append(Figures)
    app.add_node(Drawn, html=(visit_drawn, depart_drawn))
    app.add_directive("architecture", ArchitectureDirective)
    app.add_transform(Drawings)
    app.add_transform(Branches)
    app.add_post_transform(Folds)
    app.add_transform(Imports)
    app.add_transform(DebuggingLink)
    app.add_node(Opener, html=(visit_opener, None))
    app.add_transform(Openers)
    app.add_transform(Asides)
    app.add_transform(ShortCells)
    app.connect("env-updated", name_entries)
    app.connect("html-page-context", mend_body)
    app.connect("config-inited", theme_options)
    app.connect("builder-inited", allow_side_by_side)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
