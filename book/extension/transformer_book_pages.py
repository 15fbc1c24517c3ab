"""What stands around the chapters: the table of times, cards, 404.

* ``{times}`` lists the chapters with the time that each says it takes; the role ``hours`` is the
  sum for some of them: ``core 1-23``.
* ``{buttons}`` lists pages and what the button to each says; one that is not there has none.
* Every page names itself, its first paragraph and the social card to whoever shows a link to it.
* ``404.html`` and ``index.html`` load nothing, so they work from any address.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective, SphinxRole

HERE = Path(__file__).parent
CARD = "social-card.png"
CARD_ALT = "Transformers, Cell by Cell: a triangle of cells, each row one cell longer."
LONGEST = 200  # characters of a description
TIME = re.compile(
    r"^\*\*Time:\*\* (?P<core>\d+) minutes for the core, (?P<all>\d+) for all of it; "
    r"(?P<run>.+?) to run\.$",
    re.MULTILINE,
)


def notebook_at(directive: SphinxDirective | SphinxRole, docname: str) -> dict:
    """The notebook of a page, as its file has it; the page is built anew when that changes."""
    relative, path = directive.env.relfn2path(f"/{docname}.ipynb")
    directive.env.note_dependency(relative)
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ExtensionError(f"there is no notebook {relative}") from None


# --- where to begin -------------------------------------------------------------------------------


class ButtonsDirective(SphinxDirective):
    """``{buttons}``: a line for each, `chapters/01_… Start chapter 1`; the first is the largest."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        place = nodes.paragraph("", classes=["buttons"])
        for line in self.content:
            docname, _, words = line.partition(" ")
            if docname in self.env.found_docs:
                place += addnodes.pending_xref(
                    "",
                    nodes.inline("", words),
                    refdomain="std",
                    reftype="doc",
                    refexplicit=True,
                    refdoc=self.env.docname,
                    reftarget=f"/{docname}",
                )
                place += nodes.Text(" ")
        return [place]


# --- how long the chapters take -------------------------------------------------------------------


def times_of(notebook: dict) -> tuple[int, int, str] | None:
    """What the first cell says: minutes for the core, for all of it, and the time to run."""
    found = TIME.search("".join(notebook["cells"][0]["source"]))
    return (int(found["core"]), int(found["all"]), found["run"]) if found else None


def hours(minutes: int) -> str:
    """Minutes as hours, to the nearest half."""
    halves = max(round(minutes / 30), 1)
    return {1: "half an hour", 2: "1 hour"}.get(halves, f"{halves / 2:g} hours")


class TimesDirective(SphinxDirective):
    """``{times}``: a table of the chapters, with the times that they state."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(Path(self.env.srcdir) / "_toc.yml"))
        lines = ["| chapter | the core | all of it | to run |", "|---|---|---|---|"]
        core = whole = 0
        for docname in sorted(self.env.found_docs):
            if re.match(r"chapters/\d\d_", docname) and (
                times := times_of(notebook_at(self, docname))
            ):
                core, whole = core + times[0], whole + times[1]
                read = f"{times[0]} minutes | {times[1]} minutes"
                lines.append(f"| [](/{docname}.ipynb) | {read} | {times[2]} |")
        lines.append(f"| together | {hours(core)} | {hours(whole)} | |")
        return self.parse_text_to_nodes("\n".join(lines)) if core else []


class HoursRole(SphinxRole):
    """``{hours}`core 1-3,14```: what reading these chapters takes; ``all`` for all of them."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        kind, _, listed = self.text.partition(" ")
        minutes = 0
        for number in numbers_in(listed):
            for docname in sorted(self.env.found_docs):
                if docname.startswith(f"chapters/{number:02}_"):
                    times = times_of(notebook_at(self, docname))
                    minutes += times[("core", "all").index(kind)] if times else 0
        return [nodes.Text(hours(minutes))], []


def numbers_in(listed: str) -> list[int]:
    """`1-3,14` → 1, 2, 3, 14."""
    found = []
    for part in listed.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


# --- what a link to a page shows ------------------------------------------------------------------


def description_of(doctree: nodes.document) -> str:
    """The first paragraph, without citations: the whole sentences that fit, or a cut one."""
    for paragraph in doctree.findall(nodes.paragraph):
        if not isinstance(paragraph.parent, (nodes.section, nodes.container)):
            continue
        paragraph = paragraph.deepcopy()
        for link in list(paragraph.findall(addnodes.pending_xref)):
            if link["refdomain"] == "cite":
                link.parent.remove(link)
        text = re.sub(r" +([.,;:])", r"\1", " ".join(paragraph.astext().split()))
        if not text:
            continue
        if len(text) <= LONGEST:
            return text
        whole = re.match(rf".{{60,{LONGEST}}}[.?!](?= )", text)
        cut = text[: LONGEST - 1].rsplit(" ", 1)[0].rstrip(",;: ") + " …"
        return whole[0] if whole else cut
    return ""


def card_tags(site: str, page: str, title: str, description: str, book: str) -> str:
    """The tags from which other places draw a link to this page (the Open Graph protocol)."""
    tags = {
        "og:title": title,
        "og:description": description,
        "og:type": "article" if page.startswith("chapters/") else "website",
        "og:url": f"{site}{quote(page)}.html",
        "og:site_name": book,
        "og:image": f"{site}_static/{CARD}",
        "og:image:width": "1200",
        "og:image:height": "630",
        "og:image:alt": CARD_ALT,
    }
    named = {"description": description, "twitter:card": "summary_large_image"}
    lines = [
        f'<meta {kind}="{name}" content="{html.escape(value, quote=True)}" />'
        for kind, group in (("property", tags), ("name", named))
        for name, value in group.items()
        if value
    ]
    return "\n    " + "\n    ".join(lines)


def name_the_page(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    """Give the page its card; one without text of its own (search, index of terms) has none."""
    if doctree is None:
        return
    config, title = app.config, app.env.titles[page].astext()
    description = description_of(app.env.get_doctree(page))
    tags = card_tags(config.html_baseurl, page, title, description, config.html_title)
    context["metatags"] = context.get("metatags", "") + tags


# --- pages that load nothing ----------------------------------------------------------------------


def pages_that_load_nothing(app: Sphinx) -> Iterator[tuple[str, dict, str]]:
    """404.html, for every address that leads nowhere, and index.html, which leads to the start."""
    if app.builder.format != "html":
        return
    env, config = app.env, app.config
    root, title = config.root_doc, config.html_title
    static = HERE.parent / "assets"
    start = app.builder.get_target_uri(root)
    shared = {
        "book": title,
        "start": start,
        "icon": "data:image/svg+xml," + quote((static / "favicon.svg").read_text(encoding="utf-8")),
        "card": card_tags(
            config.html_baseurl,
            root,
            title,
            description_of(env.get_doctree(root)),
            title,
        ),
    }
    yield "index", shared, "forward.html"
    chapters = [
        (app.builder.get_target_uri(name), env.titles[name].astext())
        for name in sorted(env.found_docs)
        if re.match(r"chapters/\d\d_", name)
    ]
    reference = [
        (app.builder.get_target_uri(name), env.titles[name].astext())
        for name in ("book/how_to_read", "book/glossary", "book/cheat_sheet", "book/debugging")
        if name in env.found_docs
    ]
    repository = config.html_theme_options["repository_url"].rstrip("/")
    published = urlsplit(config.html_baseurl)
    yield (
        "404",
        {
            **shared,
            "base": published.path or "/",
            "host": published.netloc,
            "published": config.html_baseurl + start,
            "chapters": chapters,
            "reference": reference,
            "issues": f"{repository}/issues",
        },
        "missing.html",
    )


def find_templates(app: Sphinx, config) -> None:
    config.templates_path.append(str(HERE / "templates"))


def setup(app: Sphinx) -> dict:
    app.add_directive("buttons", ButtonsDirective)
    app.add_directive("times", TimesDirective)
    app.add_role("hours", HoursRole())
    app.connect("config-inited", find_templates)
    app.connect("html-page-context", name_the_page)
    app.connect("html-collect-pages", pages_that_load_nothing)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
