#!/usr/bin/env python3
"""The core of each chapter: what is left without the sections whose heading begins with "Further:".

A heading "## Further: Wavelengths" makes its whole section a branch off the core path, its
subsections and cells included; "### Further: …" does so inside a section of the core. What is left
must stand on its own: its code runs alone, and its text needs nothing that a branch introduces.

Without arguments: a table of words and minutes. --needs lists the names that core cells use and
only a branch defines. --write DIR writes the core of each chapter as a notebook of its own. --times
puts the minutes into the line that says them in each chapter. --run executes each core alone, from
top to bottom, in a kernel of its own.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import copy
import json
import math
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from common import CHAPTERS, notebooks
from normalise_notebooks import tags, text_of
from notebook_runner import Failure, execute_all, tell
from questions import QUESTIONS

FURTHER = "Further: "
HEADING = re.compile(r"^(#{1,6}) +(.+?) *$", re.MULTILINE)
FENCE = re.compile(r"^[ >]*(`{3,}|~{3,}).*?^[ >]*\1", re.MULTILINE | re.DOTALL)
WORDS_A_MINUTE = 100  # with a pencil in the hand, and a look at every output
HEART = 23  # the last chapter of it
# How a cell begins that is not for reading: an exercise, what to try in an explorer, the questions
# at a chapter's end, and a drawing, whose caption counts as little as that of a figure.
DONE = ("> **Your turn", "> **Try it", "![", *QUESTIONS)


def is_further(heading: str) -> bool:
    """Whether a heading's text begins a branch."""
    return heading.startswith(FURTHER)


def plain(heading: str) -> str:
    """A heading without the word that makes it a branch."""
    return heading.removeprefix(FURTHER)


def headings(text: str) -> Iterator[re.Match]:
    """The headings of a Markdown text, not those inside code fences."""
    fences = [match.span() for match in FENCE.finditer(text)]
    for match in HEADING.finditer(text):
        if not any(start < match.start() < end for start, end in fences):
            yield match


def marked(notebook: dict) -> Iterator[tuple[dict, str, bool]]:
    """Each cell's pieces in order: the cell, a piece of its text, whether that is of a branch.

    A Markdown cell is cut at its headings; a code cell is one piece.
    """
    branch = 0  # the level of the heading that began the branch; 0: none did
    for cell in notebook["cells"]:
        text = text_of(cell["source"])
        if cell["cell_type"] != "markdown":
            yield cell, text, branch > 0
            continue
        found = list(headings(text))
        starts = [match.start() for match in found] or [len(text)]
        if text[: starts[0]].strip():
            yield cell, text[: starts[0]], branch > 0
        for match, end in zip(found, [*starts[1:], len(text)], strict=False):
            level = len(match[1])
            if branch == 0 or level <= branch:
                branch = level if is_further(match[2]) else 0
            yield cell, text[match.start() : end], branch > 0


def core_of(notebook: dict) -> dict:
    """The notebook without its branches."""
    kept: list[dict] = []
    for cell, text, branch in marked(notebook):
        if branch:
            continue
        if kept and kept[-1]["id"] == cell["id"]:
            kept[-1]["source"] += text
        else:
            kept.append({**copy.deepcopy(cell), "source": text})
    return {**notebook, "cells": kept}


def words(text: str) -> int:
    """The words of a Markdown text: no tags, comments, targets of links, marks of quotations."""
    text = re.sub(r"<!--.*?-->|<[^>]+>|^>", " ", text, flags=re.DOTALL | re.MULTILINE)
    return len(re.sub(r"\]\([^)]*\)", "]", text).split())


def words_of(notebook: dict) -> int:
    """The words of all Markdown cells but those that a reader works on: exercises, explorers."""
    texts = (text_of(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown")
    return sum(words(text) for text in texts if not text.startswith(DONE))


def most_words(name: str) -> int:
    """The words that a core may have: the chapters after the heart lean on more."""
    return 2000 if int(name[:2]) <= HEART else 2400


def minutes(n_words: int) -> int:
    """The time to read so many words, in steps of five minutes."""
    return 5 * math.ceil(n_words / WORDS_A_MINUTE / 5)


class Names(ast.NodeVisitor):
    """The names that a cell gives to the cells after it, and those that it asks of the ones before.

    What stands in a function's body is asked for, too: the function is called sooner or later.
    """

    def __init__(self, tree: ast.AST) -> None:
        self.gives: set[str] = set()
        self.asks: set[str] = set()
        self.inside: list[set[str]] = []
        self.visit(tree)

    def give(self, name: str) -> None:
        (self.inside[-1] if self.inside else self.gives).add(name)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            known = any(node.id in names for names in self.inside) or node.id in self.gives
            if not known and not hasattr(builtins, node.id):
                self.asks.add(node.id)
        else:
            self.give(node.id)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name) and not self.inside:
            self.visit_Name(ast.Name(node.target.id, ast.Load()))
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self.visit(target)

    def visit_For(self, node: ast.For) -> None:
        for part in (node.iter, node.target, *node.body, *node.orelse):
            self.visit(part)

    def visit_alias(self, node: ast.alias) -> None:
        self.give((node.asname or node.name).split(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.give(node.name)
        self.generic_visit(node)

    def scoped(self, node: ast.AST, parts: list[ast.AST], own: set[str]) -> None:
        # A name that is bound anywhere in a function is local everywhere in it.
        for each in (child for part in parts for child in ast.walk(part)):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                own.add(each.id)
            if isinstance(each, ast.FunctionDef | ast.ClassDef):
                own.add(each.name)
        self.inside.append(own)
        for part in parts:
            self.visit(part)
        self.inside.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.give(node.name)
        of = node.args
        for outside in (*node.decorator_list, *of.defaults, *filter(None, of.kw_defaults)):
            self.visit(outside)
        arguments = [*of.posonlyargs, *of.args, *of.kwonlyargs, of.vararg, of.kwarg]
        self.scoped(node, node.body, {each.arg for each in arguments if each})

    def visit_Lambda(self, node: ast.Lambda) -> None:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        arguments += [each for each in (node.args.vararg, node.args.kwarg) if each]
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        self.scoped(node, [node.body], {each.arg for each in arguments})

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.give(node.name)
        for outside in (*node.bases, *node.keywords, *node.decorator_list):
            self.visit(outside)
        self.scoped(node, node.body, {node.name})

    def comprehension(self, node: ast.AST) -> None:
        targets = {
            each.id
            for part in node.generators
            for each in ast.walk(part.target)
            if isinstance(each, ast.Name)
        }
        self.scoped(node, list(ast.iter_child_nodes(node)), targets)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = comprehension


def runs(cell: dict) -> bool:
    """Whether a cell is one that a reader's run executes."""
    return cell["cell_type"] == "code" and "skip-execution" not in tags(cell)


def needs(notebook: dict) -> list[str]:
    """What core cells ask for and no core cell before them gives: `cell: name (given in cell)`."""
    known: set[str] = set()
    elsewhere: dict[str, str] = {}
    missing = []
    for cell, text, branch in marked(notebook):
        if not runs(cell):
            continue
        names = Names(ast.parse(text))
        if branch:
            elsewhere |= dict.fromkeys(names.gives, cell["id"])
        else:
            missing += [
                f"{cell['id']}: {name} (given in {elsewhere[name]})"
                for name in sorted(names.asks - known)
                if name in elsewhere
            ]
            known |= names.gives
    return missing


TIME = re.compile(r"^\*\*Time:\*\* .*[,;] (?P<run>[\w ]+ minutes? to run\.)$", re.MULTILINE)


def with_times(notebook: dict) -> dict:
    """The notebook, with a first cell that says how long the core and the whole take to read."""
    core, whole = minutes(words_of(core_of(notebook))), minutes(words_of(notebook))
    first, *others = notebook["cells"]
    said = rf"**Time:** {core} minutes for the core, {whole} for all of it; \g<run>"

    text = TIME.sub(said, text_of(first["source"]))
    return {**notebook, "cells": [{**first, "source": text.splitlines(keepends=True)}, *others]}


def chapters() -> dict[str, dict]:
    """The chapters by their file's name."""
    paths = [path for path in notebooks() if path.parent == CHAPTERS]
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in paths}


def run(notebooks: dict[str, dict]) -> bool:
    """Execute the core of each; what fails is named in one line. Whether all ran to their end."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, notebook in notebooks.items():
            paths.append(Path(folder) / name)
            paths[-1].write_text(json.dumps(core_of(notebook)), encoding="utf-8")
        failures = [done for done in execute_all(paths) if isinstance(done, Failure)]
    tell(failures)
    return not failures


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("chapter", nargs="*", help="numbers of chapters; without: all")
    parser.add_argument("--needs", action="store_true", help="names that only a branch defines")
    parser.add_argument("--write", type=Path, metavar="DIR", help="write the cores there")
    parser.add_argument("--run", action="store_true", help="execute the cores")
    parser.add_argument("--times", action="store_true", help="say the minutes in each chapter")
    options = parser.parse_args()
    asked = {f"{number:0>2}" for number in options.chapter}
    found = {n: each for n, each in chapters().items() if not asked or n[:2] in asked}
    failed = False
    total = {"core": 0, "all": 0}
    print(f"{'chapter':34} {'core':>6} {'words':>6} {'core':>5} {'minutes':>7}")
    for name, notebook in found.items():
        core, whole = words_of(core_of(notebook)), words_of(notebook)
        total = {"core": total["core"] + core, "all": total["all"] + whole}
        long = "  longer than it should be" if core > most_words(name) else ""
        print(f"{name[:-6]:34} {core:6} {whole:6} {minutes(core):5} {minutes(whole):7}{long}")
        for line in needs(notebook) if options.needs else ():
            failed = True
            print(f"    {line}")
        if options.write:
            options.write.mkdir(parents=True, exist_ok=True)
            text = json.dumps(core_of(notebook), indent=1, ensure_ascii=False)
            (options.write / name).write_text(text + "\n", encoding="utf-8")
        if options.times:
            text = json.dumps(with_times(notebook), indent=1, ensure_ascii=False)
            (CHAPTERS / name).write_text(text + "\n", encoding="utf-8")
    hours = {kind: n / WORDS_A_MINUTE / 60 for kind, n in total.items()}
    print(f"{'':34} {total['core']:6} {total['all']:6}")
    print(f"{hours['core']:.1f} hours for the core, {hours['all']:.1f} for all of it")
    return failed | (options.run and not run(found))


if __name__ == "__main__":
    sys.exit(main())
