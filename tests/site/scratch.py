"""A small book that shows everything the site's own code does, with the real configuration."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import nbformat
from common import ROOT
from link_terms import PAGES, unlinked
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from normalise_notebooks import normalise, written

from transformer_book.support.metered_kernels import MeteredClient

MARKDOWN = [
    """# 7. A page for the tests

> **Predict first.** What is $x^2$ for `x = 3`?
>
> <!-- alone: A number $x$ is read after `<sos>`, and nobody sees this. -->
>
> <details>
> <summary>Six</summary>
>
> You doubled: *times two* is not $x^2$.
>
> </details>

> **Departs from the paper.** Reason.

> **Your turn** ★★ 10 min. Write it.

> **Break it.** Leave out the root.

> **Remember.** A note of no particular kind.

> A quotation stays a quotation.

<details>
<summary>Hint</summary>

The root is $\\sqrt{d_k}$, and **bold** is bold.

</details>

| a | table | that | is | much | wider | than | a | narrow | screen | of | a | telephone |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
| one | two | three | four | five | six | seven | eight | nine | ten | eleven | twelve | thirteen |

$$a_{1} + a_{2} + a_{3} + a_{4} + a_{5} + a_{6} + a_{7} + a_{8} + a_{9} + a_{10} + a_{11} + a_{12} = b$$

See [Vaswani et al., 2017](../book/bibliography.md#vaswani2017attention) and [masks](../book/notation.md#masks).

The branch has [an address](08_plain.ipynb#a-branch-and-more), and so has [its part](08_plain.ipynb#in-it).

![One stack.](../book/assets/figures/decoder_only.svg)

*What is `left` of it.*
""",
]

BRANCHES = [
    "## Further: A branch, and more\n\nThe first secret.\n\n### In it\n\nIts end.",
    "## Back on the path\n\nSeen by all.\n\n### Further: A second branch\n\nThe second secret.",
]

FIGURE = """\
from IPython.display import publish_display_data

drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="60"><rect width="900" height="60"/></svg>'
publish_display_data(
    {"image/svg+xml": drawing, "text/plain": "A black bar."},
    metadata={"image/svg+xml": {"alt": "A black bar.", "caption": "A bar of **length** $x^2$."}},
)
publish_display_data(
    {"text/markdown": "*A bar of **length** $x^2$.*", "text/plain": "caption"},
    metadata={"transformer_book": "caption"},
)"""

WIDGETS = """\
from transformer_book.widgets import GeometryExplorer

GeometryExplorer([2, 1], [[1, 0], [0, 1], [1, 1]], [[1, 0], [0, 1], [1, 1]])"""

TOC = {
    "format": "jb-book",
    "root": "book/landing",
    "chapters": [
        {"file": name}
        for name in (
            "book/talk",
            "book/bench",
            "book/gym",
            "book/how_to_read",
            "book/progress",
            "book/prerequisites",
            "book/notation",
            "chapters/07_scratch",
            "chapters/08_plain",
            "book/glossary",
            "book/cheat_sheet",
            "book/debugging",
            "book/teaching",
            "book/bibliography",
            "book/errata",
        )
    ],
}


EXPLORED = "chapters/06_geometry_of_attention.ipynb"


def executed(cells: list) -> str:
    """The text of a notebook with these cells, run and normalised."""
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    notebook = new_notebook(cells=cells, metadata=metadata)
    MeteredClient(notebook, store_widget_state=True).execute()
    return written(normalise(json.loads(nbformat.writes(notebook)), "scratch"))


def write_scratch_book(root: Path) -> None:
    shutil.copytree(ROOT / "book", root / "book", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "tools").symlink_to(ROOT / "tools")  # from which the book's extension reads questions
    shutil.copy(ROOT / "_config.yml", root)
    shutil.copy(ROOT / "requirements.txt", root)
    for name in (
        *PAGES,
        "landing.md",
        "how_to_read.md",
        "talk.md",
        "gym.md",
    ):  # the chapters that these name are not in this book
        page = root / "book" / name
        page.write_text(unlinked(page.read_text(encoding="utf-8")), encoding="utf-8")
    # Pages that how_to_read and the gym name; their own links lead to chapters that are not here.
    (root / "book" / "debugging.md").write_text("# When it does not work\n", encoding="utf-8")
    (root / "book" / "bench.md").write_text("# Train a model, and break it\n", encoding="utf-8")
    stand_in = executed([new_markdown_cell("# Prerequisites")])
    (root / "book" / "prerequisites.ipynb").write_text(stand_in, encoding="utf-8")
    (root / "code").mkdir()
    (root / "chapters").mkdir()
    shutil.copy(ROOT / EXPLORED, root / "chapters")  # no page: the landing page shows its explorer
    (root / "_toc.yml").write_text(json.dumps(TOC), encoding="utf-8")  # JSON is YAML
    cells = [new_markdown_cell(text) for text in MARKDOWN]
    cells += [new_code_cell(FIGURE), new_code_cell(WIDGETS)]
    cells += [new_code_cell("print('folded')", metadata={"tags": ["hide-cell"]})]
    chapters = root / "chapters"
    (chapters / "07_scratch.ipynb").write_text(executed(cells), encoding="utf-8")
    plain = [new_markdown_cell("# 8. Without widgets"), new_code_cell("1 + 1")]
    plain += [new_markdown_cell(text) for text in BRANCHES]
    (chapters / "08_plain.ipynb").write_text(executed(plain), encoding="utf-8")
