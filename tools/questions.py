#!/usr/bin/env python3
"""The question bank, read from the notebooks: every *Predict first* and every *Ask yourself*.

The notebooks are the only source. A question of a box *Predict first* is answered by choosing: its
options are folded, and the explanation of the right one begins with "Yes". A question of a section
*Ask yourself* is folded over its answer. Where that is one number, a comment in it says so, and how
far off an answer may be:

    <!-- number: 1.75, within 0.005 -->

Where a question of a box needs what stands around it on its page, a comment in front of the options
says it in a few words. It is read where the question stands alone: in a review, in another system.

    <!-- alone: A query and three keys are given: $q = (1, 1)$, ... -->

Where words do not do, a second comment names the cell of its page that draws what it needs:

    <!-- figure: map-figure -->

The script writes the bank as JSON: texts as Markdown, summaries as HTML. A question's id is its
chapter, its cell's id and its number in the cell: 09/ask-yourself/3. The build of the website
(book/extension/transformer_book_questions.py) reads notebooks with the same functions. With
--exercises it writes, for the package, which functions the exercises of each page ask for.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from html import escape
from pathlib import Path

from common import ROOT, notebooks
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from normalise_notebooks import text_of

from transformer_book.support.atomic_files import write_json
from transformer_book.support.progress import EXERCISES

OUTPUT = ROOT / "_build" / "questions"
QUESTIONS = ("## Ask yourself", "### Further: more questions")
PREDICT = re.compile(r"^> \*\*Predict first\.\*\*.*?(?=^(?!>)|\Z)", re.MULTILINE | re.DOTALL)
FOLDED = re.compile(
    r"<details>\s*(?:> ?)*\s*<summary>(?P<summary>.*?)</summary>(?P<inside>.*?)</details>",
    re.DOTALL,
)
NUMBER = re.compile(r"<!-- number: (?P<value>\S+), within (?P<within>\S+) -->\s*")
ALONE = re.compile(r"<!-- alone: (.*?) -->", re.DOTALL)
FIGURE = re.compile(r"<!-- figure: ([\w-]+) -->")
RIGHT = re.compile(r"Yes\b")
TRIED = re.compile(r"^checks\.exercise\(\s*(my_\w+)", re.MULTILINE)
REMARK = re.compile(r"<!--.*?-->", re.DOTALL)
TITLE = re.compile(r"^# (?:\d+\. )?(.+)$", re.MULTILINE)
NAMED = re.compile(r"(\d\d)_")


@dataclass(frozen=True)
class Option:
    """An answer that one may choose: its text in HTML, whether it is right, and why (Markdown)."""

    text: str
    right: bool
    why: str


@dataclass(frozen=True)
class Question:
    """A question of a notebook. It is answered by its options, by a number, or in thought.

    text: Markdown of a *Predict first*, with what it needs to stand alone; HTML of an *Ask
        yourself* (a summary).
    note: what stands below the options.
    figure: the cell of its page that draws what it needs beside it.
    """

    id: str
    page: str
    title: str
    text: str
    options: tuple[Option, ...] = ()
    note: str = ""
    answer: str = ""
    number: float | None = None
    within: float = 0.0
    figure: str = ""

    @property
    def kind(self) -> str:
        if self.options:
            return "choice"
        return "open" if self.number is None else "number"

    def faults(self) -> list[str]:
        """What is wrong with its form: empty for a question that can be asked."""
        found = []
        if not self.text:
            found.append("it asks nothing")
        if self.answer or not self.options:
            if not self.answer:
                found.append("it has no answer")
            return found
        if len(self.options) < 2:
            found.append("it has one option only")
        n_right = sum(option.right for option in self.options)
        if n_right != 1:
            found.append(f"{n_right} of its options are right, not one")
        if len({option.text for option in self.options}) < len(self.options):
            found.append("two of its options are the same")
        found += [f"{option.text!r} is not explained" for option in self.options if not option.why]
        return found

    def details(self) -> Iterator[tuple[str, dict[str, str]]]:
        """The summary of each of its folds, in order, and the attributes that the page needs."""
        if not self.options:
            told = {"data-question": self.id}
            if self.number is not None:
                told |= {"data-number": f"{self.number:g}", "data-within": f"{self.within:g}"}
            yield self.text, told
        for place, option in enumerate(self.options):
            told = {"data-question": self.id, "data-option": str(place)}
            yield option.text, told | ({"data-right": ""} if option.right else {})


def chapter_of(path: Path) -> str:
    """What stands for a page in ids: a chapter's number, another page's name."""
    found = NAMED.match(path.stem)
    return found[1] if found else path.stem


def predictions(source: str) -> Iterator[dict]:
    """The parts of each box *Predict first* of a cell."""
    for box in PREDICT.finditer(source):
        text = re.sub(r"^> ?", "", box[0], flags=re.MULTILINE)
        asked, _, _ = text.removeprefix("**Predict first.**").partition("<details>")
        around = [each.strip() for each in ALONE.findall(asked)]
        drawn = FIGURE.search(asked)
        asked = FIGURE.sub("", asked)
        folds = list(FOLDED.finditer(text))
        options = []
        for fold in folds:
            why = fold["inside"].strip()
            options.append(Option(fold["summary"].strip(), RIGHT.match(why) is not None, why))
        note = text[folds[-1].end() :].strip() if folds else ""
        asked = "\n\n".join([*around, ALONE.sub("", asked).strip()])
        figure = drawn[1] if drawn else ""
        yield {"text": asked, "options": tuple(options), "note": note, "figure": figure}


def asked(source: str) -> Iterator[dict]:
    """The parts of each question of a cell *Ask yourself*."""
    for fold in FOLDED.finditer(source):
        inside, told = fold["inside"], {}
        if number := NUMBER.search(inside):
            told = {"number": float(number["value"]), "within": float(number["within"])}
        answer = REMARK.sub("", inside).strip()
        yield {"text": fold["summary"].strip(), "answer": answer, **told}


def questions_of(path: Path, root: Path = ROOT) -> Iterator[Question]:
    """The questions of a notebook, in the order of its cells."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    title = TITLE.search(text_of(cells[0]["source"])) if cells else None
    page = path.relative_to(root).with_suffix("").as_posix()
    for cell in cells:
        if cell["cell_type"] != "markdown":
            continue
        source = text_of(cell["source"])
        read = asked if source.startswith(QUESTIONS) else predictions
        for number, parts in enumerate(read(source), 1):
            yield Question(
                f"{chapter_of(path)}/{cell['id']}/{number}",
                page,
                title[1] if title else "",
                **parts,
            )


def picture(question: Question) -> tuple[str, bytes]:
    """Its figure: what is drawn there in words, and the drawing (SVG)."""
    path = (ROOT / question.page).with_suffix(".ipynb")
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", []) if cell["id"] == question.figure else []:
            if svg := output.get("data", {}).get("image/svg+xml"):
                return output["metadata"]["image/svg+xml"]["alt"], text_of(svg).encode()
    raise ValueError(f"{question.page} has no cell {question.figure!r} that draws something")


def bank(paths: list[Path] | None = None) -> list[Question]:
    """The questions of all notebooks of the book, or of these."""
    return [each for path in paths or notebooks() for each in questions_of(path)]


# --- exercises ------------------------------------------------------------------------------------


def exercises() -> dict[str, list[str]]:
    """The functions that the exercises of each page ask for, such as `split(x, n_heads)`.

    Only those that `checks.exercise` tries: other checks know their chapter.
    """
    found = {}
    for path in notebooks():
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = [text_of(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        forms = [form for source in sources for form in stubs(source)]
        if forms:
            found[chapter_of(path)] = forms
    return found


def stubs(source: str) -> Iterator[str]:
    """The functions of a cell that `checks.exercise` tries, without `my_`."""
    for name in TRIED.findall(source):
        for node in ast.parse(source).body:
            if isinstance(node, ast.FunctionDef) and node.name == name:
                arguments = ", ".join(each.arg for each in node.args.args)
                yield f"{name.removeprefix('my_')}({arguments})"


# --- as HTML --------------------------------------------------------------------------------------


@cache
def renderer(formula: Callable[[str, bool], str]) -> MarkdownIt:
    """Markdown as notebooks have it, in HTML; `formula` sets TeX: (tex, on a line for itself)."""
    made = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)
    made.add_render_rule(
        "math_inline", lambda _, tokens, i, *rest: formula(tokens[i].content, False)
    )
    made.add_render_rule(
        "math_block", lambda _, tokens, i, *rest: f"<p>{formula(tokens[i].content, True)}</p>\n"
    )
    return made


def tex(body: str, display: bool) -> str:
    r"""A formula as MathJax reads it: \(x\), and \[x\] on its own line."""
    opens, closes = (r"\[", r"\]") if display else (r"\(", r"\)")
    return escape(f"{opens}{body.strip()}{closes}", quote=False)


def as_html(text: str, page: str, site: str, formula: Callable[[str, bool], str] = tex) -> str:
    """Markdown of a page in HTML; its links lead to the pages of `site`, an address with a slash.

    A line of HTML is a piece of Markdown, too.
    """
    made = renderer(formula).render(REMARK.sub("", text)).strip()
    folder = page.rpartition("/")[0]

    def led(found: re.Match) -> str:
        target, mark, anchor = found[1].partition("#")
        if "://" in target:
            return found[0]
        parts = (f"{folder}/{target}" if target else f"{page}.html").split("/")
        while ".." in parts:
            place = parts.index("..")
            del parts[place - 1 : place + 1]
        path = re.sub(r"\.(?:ipynb|md)$", ".html", "/".join(parts))
        return f'href="{site}{path}{mark}{anchor}"'

    return re.sub(r'href="([^"]*)"', led, made)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--exercises", action="store_true", help="write code/transformer_book/exercises.json"
    )
    if parser.parse_args().exercises:
        write_json(EXERCISES, exercises(), indent=1)
        return 0
    found = bank()
    wrong = [f"{each.id}: {fault}" for each in found for fault in each.faults()]
    if wrong:
        print("\n".join(wrong))
        return 1
    OUTPUT.mkdir(parents=True, exist_ok=True)
    data = [{"kind": each.kind, **asdict(each)} for each in found]
    write_json(OUTPUT / "bank.json", data, indent=1)
    print(f"{len(found)} questions in _build/questions/bank.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
