"""``{gym}``: the place of the diagnosis gym, and the recorded runs that it asks about.

``tools/gym.py`` measures which faults look alike, and makes the questions. What the page needs is
written into ``_static/gym/cases.json``; only the page with the directive loads it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

sys.path.append(str(Path(__file__).parents[2] / "tools"))
import gym


class GymDirective(SphinxDirective):
    """``{gym}``: the place of the gym, which ``gym/page.js`` fills."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(str(gym.RECORD))
        self.env.note_dependency(str(gym.TABLE))
        self.env.metadata[self.env.docname]["gym"] = True
        words = "The gym is about to appear here: it needs JavaScript."
        return [nodes.raw("", f'<div class="gym-place">{words}</div>', format="html")]


def load_only_there(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    if app.env.metadata.get(page, {}).get("gym"):
        app.add_js_file("gym/loader.js", loading_method="defer")
        for style in ("model/widgets/shared.css", "bench/bench.css", "gym/gym.css"):
            app.add_css_file(style)


def write_cases(app: Sphinx, exception: Exception | None) -> None:
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "gym"
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(gym.page_data(), ensure_ascii=False, separators=(",", ":"))
    (folder / "cases.json").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict:
    app.add_directive("gym", GymDirective)
    app.connect("html-page-context", load_only_there)
    app.connect("build-finished", write_cases)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
