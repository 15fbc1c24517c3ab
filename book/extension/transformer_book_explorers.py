"""Explorers on pages, without the machinery of notebooks: from the state that a notebook holds.

A page has the traits of each explorer, and loads its JavaScript and its style, which are files of
the package, from ``_static/explorers``. ``js/explorers.js`` puts the explorer in its place when the
reader comes near. What needs a kernel cannot live on a page: a notebook that shows it does not
build. ``{explorer} GeometryExplorer`` with ``:chapter: chapters/06_…`` puts the explorer of that
chapter on another page: its state is read from the chapter's notebook, so that it is written once.
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterable
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import directives
from myst_nb.core.render import (
    WIDGET_STATE_MIMETYPE,
    WIDGET_VIEW_MIMETYPE,
    MimeData,
    NbElementRenderer,
    load_mime_renders,
    sanitize_script_content,
)
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective
from transformer_book_pages import notebook_at

from transformer_book.widgets.explorer import page_script, style_source

logger = logging.getLogger(__name__)

PACKAGE = "transformer_book.widgets."
LOADER = "js/explorers.js"
OF_NOTEBOOKS = {"layout", "tabbable", "tooltip"}  # traits that every widget has


class Place(nodes.General, nodes.Element):
    """Where an explorer stands: its module, its class, its traits, its numbers as text."""


def place_of(models: dict, view: str, text: str) -> Place:
    """The place of an explorer, from the widgets' state that a notebook holds.

    Raises:
        ValueError: it is no explorer of the package, so pages cannot show it.
    """
    state = models.get(view, {}).get("state", {})
    kind = state.get("_anywidget_id", "")
    if not kind.startswith(PACKAGE):
        what = kind or models.get(view, {}).get("model_name", view)
        raise ValueError(
            f"{what} needs a kernel, and pages have none: they show explorers of {PACKAGE[:-1]}"
        )
    module, name = kind.removeprefix(PACKAGE).split(".")
    traits = {
        trait: value
        for trait, value in state.items()
        if not trait.startswith("_") and trait not in OF_NOTEBOOKS
    }
    return Place(module=module, name=name, traits=json.dumps(traits), said=text)


def views_of(notebook: dict) -> dict[str, str]:
    """The explorers that a notebook shows, by their models: the numbers of each as text."""
    shown = [
        output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", [])
    ]
    return {
        view["model_id"]: "".join(data.get("text/plain", ""))
        for data in shown
        if (view := data.get(WIDGET_VIEW_MIMETYPE))
    }


class Explorers:
    """A MyST-NB mime renderer: the views of widgets in notebooks."""

    mime_priority_overrides = ()

    @staticmethod
    def handle_mime(
        renderer: NbElementRenderer, data: MimeData, inline: bool
    ) -> list[nodes.Node] | None:
        if data.mime_type != WIDGET_VIEW_MIMETYPE:
            return None
        client = renderer.renderer.nb_client
        saved = client.nb_metadata.get("widgets", {}).get(WIDGET_STATE_MIMETYPE, {})
        # Not by the output's number: MyST-NB counts after it has joined what was printed in pieces.
        view = data.content["model_id"]
        text = views_of(client.notebook)[view]
        try:
            return [place_of(saved.get("state", {}), view, text)]
        except ValueError as error:
            logger.warning("%s", error, location=(renderer.renderer.document["source"], data.line))
            return [nodes.literal_block(text, text)]


def explorer_in(notebook: dict, name: str) -> Place | None:
    """The place of the first explorer of this class that a notebook shows."""
    saved = notebook["metadata"].get("widgets", {}).get(WIDGET_STATE_MIMETYPE, {})
    for view, text in views_of(notebook).items():
        place = place_of(saved.get("state", {}), view, text)
        if place["name"] == name:
            return place
    return None


class ExplorerDirective(SphinxDirective):
    """``{explorer} GeometryExplorer``: what a chapter shows, alive on another page."""

    required_arguments = 1
    option_spec = {"chapter": directives.unchanged_required}  # noqa: RUF012 (as docutils has it)

    def run(self) -> list[nodes.Node]:
        name, chapter = self.arguments[0], self.options.get("chapter", "")
        if place := explorer_in(notebook_at(self, chapter), name):
            return [place]
        raise self.error(f"{chapter} shows no {name}")


def visit_place(self, node: Place) -> None:
    traits = sanitize_script_content(node["traits"])
    self.body.append(
        f'<div class="explorer-place" data-module="{node["module"]}" data-name="{node["name"]}">'
        f'<script type="application/json">{traits}</script>'
        f"<noscript><pre>{html.escape(node['said'])}</pre></noscript></div>\n"
    )
    raise nodes.SkipNode


def skip_place(self, node: Place) -> None:
    raise nodes.SkipNode


def forget_machinery(app: Sphinx, doctree: nodes.document) -> None:
    """Drop the state of the widgets that MyST-NB would put on the page once more."""
    files = NbMetadataCollector.get_js_files(app.env, app.env.docname)
    for name in [name for name in files if name.startswith("ipywidgets_")]:
        del files[name]


def modules_on(doctree: nodes.document | None) -> list[str]:
    """The modules of the explorers on a page."""
    return sorted({place["module"] for place in doctree.findall(Place)}) if doctree else []


def load_explorers(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    modules = modules_on(doctree)
    for module in modules:
        app.add_css_file(f"explorers/{module}.css")
        app.add_js_file(f"explorers/{module}.js", loading_method="defer")
    if modules:
        app.add_js_file(LOADER, loading_method="defer")


def write_explorers(modules: Iterable[str], folder: Path) -> None:
    """The JavaScript and the style of these explorers, each in one file."""
    folder.mkdir(parents=True, exist_ok=True)
    for module in modules:
        (folder / f"{module}.js").write_text(page_script(f"{module}.js"), encoding="utf-8")
        (folder / f"{module}.css").write_text(style_source(f"{module}.js"), encoding="utf-8")


def write_files(app: Sphinx, env) -> None:
    """Before any page is written: what pages load carries the digest of its file in its address."""
    if app.builder.format == "html":
        modules = {name for doc in env.found_docs for name in modules_on(env.get_doctree(doc))}
        write_explorers(modules, Path(app.outdir) / "_static" / "explorers")


def setup(app: Sphinx) -> dict:
    others = {"latex": (skip_place, None), "text": (skip_place, None)}
    app.add_node(Place, html=(visit_place, None), **others)
    if Explorers not in load_mime_renders():
        load_mime_renders().append(Explorers)
    app.add_directive("explorer", ExplorerDirective)
    app.connect("doctree-read", forget_machinery)
    app.connect("env-updated", write_files)
    app.connect("html-page-context", load_explorers)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
