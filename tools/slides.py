#!/usr/bin/env python3
"""A deck of slides for each chapter, made from its core: for teachers, in _build/slides.

For each section: what it is about in a sentence or two, its formula, one figure, one cell with what
it prints, and its question, if it has them. What the answers say is in the speaker's notes (key S).
A deck asks no other host for anything, and works from a folder.
"""

from __future__ import annotations

import argparse
import html
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from common import ROOT
from core_path import chapters, core_of, headings, plain
from nbconvert import SlidesExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from normalise_notebooks import tags, text_of
from questions import FOLDED, PREDICT

sys.path.append(str(ROOT / "book" / "extension"))
from transformer_book_math import mathml

OUTPUT = ROOT / "_build" / "slides"
TEMPLATES = Path(__file__).parent / "decks"
ASSETS = ROOT / "book" / "assets"
LONGEST_CELL = 16  # lines of code on one slide
LONGEST_OUTPUT = 10  # lines
SENTENCES = 2
LONGEST_LEAD = 40  # words before a formula
NO_SLIDES = ("Your turn",)
LINK = re.compile(r"\[([^\[\]]*)\]\(([^()]*)\)")
FORMULA = re.compile(r"^\$\$.+?\$\$$", re.MULTILINE | re.DOTALL)


@dataclass
class Section:
    """What a section of the core has to show."""

    title: str
    text: str = ""
    cells: list[dict] = field(default_factory=list)


def sections(notebook: dict) -> Iterator[Section]:
    """The sections of a chapter; its first is what stands under the title."""
    current = None
    for cell in core_of(notebook)["cells"]:
        source = text_of(cell["source"])
        if cell["cell_type"] != "markdown":
            if current is not None:
                current.cells.append(cell)
            continue
        found = [title for title in headings(source) if len(title[1]) <= 2]
        starts = [title.start() for title in found] or [len(source)]
        if current is not None:
            current.text += source[: starts[0]] + "\n\n"
        for title, end in zip(found, [*starts[1:], len(source)], strict=False):
            if current is not None:
                yield current
            current = Section(plain(title[2]), source[title.end() : end].strip() + "\n\n")
    if current is not None:
        yield current


def without_links(text: str) -> str:
    """Text without its links, for projection on a wall, where nobody clicks."""
    return LINK.sub(r"\1", text)


def sentences(text: str, at_most: int) -> str:
    """The first sentences of the first paragraph that is one."""
    for paragraph in re.split(r"\n\s*\n", text):
        if re.match(r"[\w*_`$\[“\"'(]", paragraph) and not paragraph.startswith(("* ", "$$")):
            found = re.findall(r".+?[.?!:](?=\s|$)", paragraph.replace("\n", " "))
            return " ".join(one.strip() for one in found[:at_most]) or paragraph
    return ""


def question(text: str) -> tuple[str, str] | None:
    """The first question of a text as a slide, and the answers as notes."""
    if not (found := PREDICT.search(text)):
        return None
    quoted = re.sub(r"^> ?", "", found[0], flags=re.MULTILINE)
    asked = quoted.partition("<details>")[0].strip()
    options = FOLDED.findall(quoted)
    listed = "\n".join(f"* {without_links(summary.strip())}" for summary, _ in options)
    notes = "\n\n".join(
        f"**{without_links(summary.strip())}** {without_links(' '.join(answer.split()))}"
        for summary, answer in options
    )
    boxed = without_links(asked).replace("\n", "\n> ")
    return f"> {boxed}\n\n{listed}", notes


def drawing(cells: list[dict]) -> str | None:
    """The first figure of the cells: the drawing, and its caption under it."""
    for cell in cells:
        for output in cell.get("outputs", []):
            svg = output.get("data", {}).get("image/svg+xml")
            if svg:
                about = output["metadata"].get("image/svg+xml", {})
                alt = html.escape(about.get("alt", ""), quote=True)
                drawn = text_of(svg)
                drawn = drawn[drawn.index("<svg") :]
                # Ids of one drawing must not meet those of another.
                for name in set(re.findall(r'\bid="([^"]+)"', drawn)):
                    drawn = re.sub(
                        rf'(["#]){re.escape(name)}(?=["\)])', rf"\g<1>{cell['id']}-{name}", drawn
                    )
                caption = without_links(about.get("caption", ""))
                return (
                    f'<div role="img" aria-label="{alt}">{drawn}</div>\n\n'
                    f'<div class="caption">\n\n{sentences(caption, 1)}\n\n</div>'
                )
    return None


def shown(cells: list[dict]) -> dict | None:
    """The first cell that is short enough to be read on a wall, and prints something short."""
    for cell in cells:
        hidden = {"hide-input", "hide-cell", "remove-cell", "exercise", "volatile"} & set(
            tags(cell)
        )
        outputs = cell.get("outputs", [])
        printed = "".join(
            text_of(output.get("text", output.get("data", {}).get("text/plain", "")))
            for output in outputs
        )
        rich = any(
            set(output.get("data", {})) - {"text/plain"} or output["output_type"] == "error"
            for output in outputs
        )
        lines = text_of(cell["source"]).count("\n") + 1
        is_short = lines <= LONGEST_CELL and printed.count("\n") <= LONGEST_OUTPUT
        if outputs and not hidden and not rich and is_short:
            return cell
    return None


def slide(text: str, kind: str = "subslide") -> nbformat.NotebookNode:
    return new_markdown_cell(text, metadata={"slideshow": {"slide_type": kind}})


def slides_of(section: Section, *, first: bool) -> Iterator[nbformat.NotebookNode]:
    """The slides of one section, one below the other."""
    heading = f"## {without_links(section.title)}"
    if first:
        heading = f"# {section.title}"
        able = re.findall(r"^\* .+$", section.text, re.MULTILINE)
        yield slide(f"{heading}\n\n{without_links(sentences(section.text, SENTENCES))}", "slide")
        if able:
            yield slide("### What you will be able to do\n\n" + without_links("\n".join(able)))
        return
    if section.title == "Summary":
        points = re.findall(r"^\* .+$", section.text, re.MULTILINE)
        for start in range(0, len(points), 3):
            some = without_links("\n".join(points[start : start + 3]))
            yield slide(f"{heading}\n\n{some}", "subslide" if start else "slide")
        following = re.search(r"^\*\*The next question\*?\*?.*$", section.text, re.MULTILINE)
        if following:
            yield slide(without_links(following[0]))
        return
    said = sentences(section.text, SENTENCES)
    if formula := FORMULA.search(section.text):
        before = section.text[: formula.start()].rstrip().rpartition("\n\n")[2]
        if said not in before and len(before.split()) <= LONGEST_LEAD:
            said = f"{said}\n\n{before}"
        said = f"{said}\n\n{formula[0]}"
    yield slide(f"{heading}\n\n{without_links(said)}", "slide")
    if asked := question(section.text):
        yield slide(asked[0])
        yield slide(asked[1], "notes")
    if cell := shown(section.cells):
        outputs = [
            {key: text_of(value) if key == "text" else value for key, value in output.items()}
            | (
                {"data": {k: text_of(v) for k, v in output["data"].items()}}
                if "data" in output
                else {}
            )
            for output in cell["outputs"]
        ]
        copied = new_code_cell(text_of(cell["source"]), outputs=outputs)
        copied.metadata["slideshow"] = {"slide_type": "subslide"}
        yield copied
    if figure := drawing(section.cells):
        yield slide(figure)


def deck(name: str, notebook: dict) -> nbformat.NotebookNode:
    """The deck of a chapter, as the notebook that nbconvert shows."""
    made = new_notebook()
    for i, section in enumerate(sections(notebook)):
        if section.title not in NO_SLIDES:
            made.cells += slides_of(section, first=i == 0)
        if i == 0:
            made.metadata["title"] = section.title
    # Outputs as nbformat wants them.
    return nbformat.from_dict(made)


class Renderer(IPythonRenderer):
    """Markdown as HTML, with its formulas as MathML."""

    def block_math(self, body: str) -> str:
        return f'<div class="math">{mathml(body, display=True)}</div>'

    def inline_math(self, body: str) -> str:
        return mathml(body)


class Exporter(SlidesExporter):
    def default_filters(self) -> Iterator[tuple[str, Callable[[str], str]]]:
        yield from super().default_filters()
        yield ("markdown2html", MarkdownWithMath(renderer=Renderer(escape=False)).render)


def exporter() -> SlidesExporter:
    return Exporter(
        template_name="book",
        extra_template_basedirs=[str(TEMPLATES)],
        exclude_input_prompt=True,
        exclude_output_prompt=True,
    )


def write(folder: Path, wanted: set[str] = frozenset()) -> list[Path]:
    """Write the decks of these chapters (numbers; none: of all), and a page that lists them."""
    assets = folder / "assets"
    shutil.copytree(ASSETS / "vendor" / "reveal", assets / "reveal", dirs_exist_ok=True)
    shutil.copytree(ASSETS / "fonts", assets / "fonts", dirs_exist_ok=True)
    (assets / "css").mkdir(exist_ok=True)
    for style in ("slides", "formulas"):
        shutil.copy(ASSETS / "css" / f"{style}.css", assets / "css")
    to_html, made = exporter(), []
    titles = {}
    for name, notebook in chapters().items():
        if wanted and name[:2] not in wanted:
            continue
        shown_as = deck(name, notebook)
        text, _ = to_html.from_notebook_node(shown_as)
        made.append(folder / f"{name[:-6]}.html")
        made[-1].write_text(text, encoding="utf-8")
        titles[made[-1].name] = shown_as.metadata["title"]
    links = "\n".join(
        f'<li><a href="{name}">{html.escape(title)}</a></li>' for name, title in titles.items()
    )
    (folder / "index.html").write_text(
        '<!DOCTYPE html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Slides</title>\n'
        '<link rel="stylesheet" href="assets/css/slides.css">\n<body class="reveal">\n'
        f"<main>\n<h1>Slides</h1>\n<ul>\n{links}\n</ul>\n</main>\n</body>\n</html>\n",
        encoding="utf-8",
    )
    return made


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("chapter", nargs="*", help="numbers of chapters; without: all")
    wanted = {f"{number:0>2}" for number in parser.parse_args().chapter}
    known = {name[:2] for name in chapters()}
    if unknown := sorted(wanted - known):
        print(f"There is no chapter {unknown[0]}; there are {min(known)} to {max(known)}.")
        return 2
    OUTPUT.mkdir(parents=True, exist_ok=True)
    made = write(OUTPUT, wanted)
    print(f"{len(made)} decks in _build/slides; open _build/slides/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
