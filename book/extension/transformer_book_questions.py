"""Questions that the page can ask: the bank of ``tools/questions.py``, on the website.

The folds of each question get the attributes that ``js/questions.js`` needs: whose option or answer
they are, which option is right, which number is wanted. Without scripts they stay folded text.
A box of a page that is no notebook, such as the landing page's, can be answered there only.

The whole bank, as HTML, is written into ``_static/questions/bank.js`` for the page *Your progress*
(``{progress}``): a script, so that it works in pages from a folder.
"""

from __future__ import annotations

import json
import re
import sys
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from transformer_book_math import mathml

sys.path.append(str(Path(__file__).parents[2] / "tools"))
import gym
from questions import Question, as_html, predictions, questions_of

FOLD = re.compile(r"<details>(\s*<summary>(.*?)</summary>)", re.DOTALL)
PROGRESS = "book/progress"


def asked_in(root: str | Path, docname: str) -> list[Question]:
    """The questions of a page that can be asked."""
    path = Path(root) / docname
    if (notebook := path.with_suffix(".ipynb")).exists():
        found = list(questions_of(notebook, Path(root)))
    elif (page := path.with_suffix(".md")).exists():  # what its text shows beside it is needed
        boxes = enumerate(predictions(page.read_text(encoding="utf-8")), 1)
        found = [Question(f"{path.name}/predict/{n}", docname, "", **parts) for n, parts in boxes]
    else:
        return []
    return [question for question in found if not question.faults()]


def attributes(told: dict[str, str]) -> str:
    return "".join(f' {name}="{escape(value)}"' for name, value in told.items())


class Questions(SphinxTransform):
    """Tell each fold of a question whose it is."""

    default_priority = 410

    def apply(self, **kwargs) -> None:
        wanted = [
            pair
            for question in asked_in(self.env.srcdir, self.env.docname)
            for pair in question.details()
        ]

        def told(fold: re.Match) -> str:
            if not wanted or fold[2].strip() != wanted[0][0]:
                return fold[0]  # a hint, an aside
            return f"<details{attributes(wanted.pop(0)[1])}>{fold[1]}"

        for raw in list(self.document.findall(nodes.raw)):
            text = raw.astext()
            if (changed := FOLD.sub(told, text)) != text:
                raw.children = [nodes.Text(changed)]
        if wanted:
            missing = f"the page lacks the fold {wanted[0][0]!r} of {wanted[0][1]['data-question']}"
            raise ExtensionError(f"{self.env.docname}: {missing}")


def shown(question: Question) -> str:
    """A question in the markup that its own page has."""

    def html(text: str) -> str:
        return as_html(text, question.page, "../", mathml)

    inside = [option.why for option in question.options] or [question.answer]
    folds = "\n".join(
        f"<details{attributes(told)}><summary>{summary}</summary>\n{html(text)}\n</details>"
        for (summary, told), text in zip(question.details(), inside, strict=True)
    )
    return f"{html(question.text)}\n{folds}\n{html(question.note)}" if question.options else folds


def write_bank(app: Sphinx, env) -> None:
    if app.builder.format != "html":
        return
    found = {
        question.id: {
            "page": question.page,
            "title": env.titles[docname].astext(),
            "html": shown(question),
        }
        for docname in sorted(env.found_docs)
        if (Path(env.srcdir) / f"{docname}.ipynb").exists()
        for question in asked_in(env.srcdir, docname)
    }
    folder = Path(app.outdir) / "_static" / "questions"
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    (folder / "bank.js").write_text(f"window.bookQuestions = {text};\n", encoding="utf-8")


class ProgressDirective(SphinxDirective):
    """``{progress}``: the place of what the browser remembers, which ``js/progress.js`` fills."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        place = (
            f'<div class="progress-place" data-cases="{len(gym.recorded())}">'
            "<p>What stands here needs JavaScript.</p></div>"
        )
        return [nodes.raw("", place, format="html")]


def add_scripts(app: Sphinx, page: str, template: str, context: dict, doctree) -> None:
    if page == PROGRESS:
        for name in ("vendor/ts-fsrs/ts-fsrs.js", "questions/bank.js", "js/progress.js"):
            # After what _config.yml names, which Sphinx gives 800: it stands on them.
            app.add_js_file(name, loading_method="defer", priority=900)


def setup(app: Sphinx) -> dict:
    app.add_transform(Questions)
    app.add_directive("progress", ProgressDirective)
    app.connect("env-updated", write_bank)
    app.connect("html-page-context", add_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
