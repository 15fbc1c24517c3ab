#!/usr/bin/env python3
"""Bring notebooks into the one form in which they are committed, so that running them again changes
nothing.

Cell ids stay (missing and repeated ones are made from the cell's place and text), timestamps and
other traces of a run go, the kernel is called python3, outputs of cells tagged `volatile` are
cleared, consecutive prints become one output, a drawing is one line, random widget ids become
stable ones, and the book's widgets carry the JavaScript that the package has now. Execution counts
are all 1: otherwise a new cell would change the counts of all cells after it, and two people who
work on two sections would conflict in a third. A notebook whose outputs hold an absolute path, or
an error in a cell that is not tagged `raises-exception`, is refused.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import re
import sys
from pathlib import Path

import nbformat
from common import notebooks

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python"}
CELL_METADATA = {"tags", "jupyter", "cellView", "nbgrader"}
NOTEBOOK_METADATA = {"kernelspec", "language_info", "widgets"}
SVG = "image/svg+xml"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
ABSOLUTE_PATH = re.compile(
    r"(?<![\w:/.~-])(?:/(?:home|root|Users|tmp|work|opt|usr|var|mnt|private|content)/[\w.-]+"
    r"|[A-Za-z]:\\\\?Users\\)"
)


class Refused(ValueError):
    """A notebook that must not be committed as it is."""


def tags(cell: dict) -> list[str]:
    return cell["metadata"].get("tags", [])


def text_of(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "".join(value)


def with_ids(cells: list[dict]) -> None:
    """Keep every valid id; give missing, invalid and repeated ones a deterministic new one."""
    seen: set[str] = set()
    for place, cell in enumerate(cells):
        name = cell.get("id", "")
        if not re.fullmatch(r"[a-zA-Z0-9-_]{1,64}", name) or name in seen:
            salt = 0
            while not name or name in seen:
                text = f"{place} {salt} {cell['cell_type']} {text_of(cell['source'])}"
                name = "cell-" + hashlib.sha256(text.encode()).hexdigest()[:10]
                salt += 1
        cell["id"] = name
        seen.add(name)


def merged_streams(outputs: list[dict]) -> list[dict]:
    """One output per run of prints: how the kernel cuts them varies from run to run."""
    merged: list[dict] = []
    for output in outputs:
        last = merged[-1] if merged else {}
        if output["output_type"] == "stream" == last.get("output_type") and (
            output["name"] == last["name"]
        ):
            last["text"] = text_of(last["text"]) + text_of(output["text"])
        else:
            merged.append(output)
    return merged


def output_texts(output: dict) -> list[str]:
    """What a reader sees of an output, as text."""
    texts = [text_of(output["text"])] if "text" in output else []
    for mime, value in output.get("data", {}).items():
        if mime.startswith("text/") or mime == "image/svg+xml":
            texts.append(text_of(value))
    return [*texts, *output.get("traceback", [])]


def check_outputs(cell: dict, where: str) -> None:
    for output in cell["outputs"]:
        if output["output_type"] == "error" and "raises-exception" not in tags(cell):
            raise Refused(f"{where} ends in {output['ename']}: {output['evalue']}")
        for text in output_texts(output):
            if found := ABSOLUTE_PATH.search(text):
                raise Refused(f"{where} shows the path {found[0]} of this machine")


MODEL = re.compile(r"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")


def widget_order(notebook: dict, state: dict) -> list[str]:
    """The ids of all widget models, in an order that does not depend on the ids.

    First what the cells show, each model followed by those it names; then the models that nobody
    names (links), by what they hold.
    """
    order: dict[str, None] = {}

    def follow(name: str) -> None:
        if name in state and name not in order:
            order[name] = None
            for other in MODEL.findall(json.dumps(state[name], sort_keys=True)):
                follow(other)

    def content(name: str) -> str:
        known = {each: str(number) for number, each in enumerate(order)}
        text = json.dumps(state[name], sort_keys=True)
        return MODEL.sub(lambda match: known.get(match[0], "?"), text)

    for name in MODEL.findall(json.dumps(notebook["cells"], sort_keys=True)):
        follow(name)
    while rest := [name for name in state if name not in order]:
        follow(min(rest, key=content))
    return list(order)


def stable_widgets(notebook: dict) -> dict:
    """Replace the random ids of widget models by their number in the order of the page."""
    saved = notebook["metadata"].get("widgets", {}).get(WIDGET_STATE, {})
    if not saved.get("state"):
        return notebook
    order = widget_order(notebook, saved["state"])
    named = [
        hashlib.sha256(f"widget {number}".encode()).hexdigest()[:32] for number in range(len(order))
    ]
    names = dict(zip(order, named, strict=True))
    text = MODEL.sub(lambda match: names.get(match[0], match[0]), json.dumps(notebook))
    return json.loads(text)


def current_widgets(notebook: dict) -> dict:
    """Give the book's own widgets the code that the package has now.

    A notebook holds the JavaScript of its widgets. A change there must reach the page, but is no
    reason to run the chapter again.
    """
    saved = notebook["metadata"].get("widgets", {}).get(WIDGET_STATE, {})
    for model in saved.get("state", {}).values():
        state = model.get("state", {})
        module, _, name = state.get("_anywidget_id", "").rpartition(".")
        if module.startswith("transformer_book."):
            widget = getattr(importlib.import_module(module), name)
            state["_esm"], state["_css"] = widget._esm, widget._css
    return notebook


def on_one_line(drawing: str) -> str:
    """A drawing without its line ends: a notebook keeps each line as a string of its own, and a
    curve has hundreds."""
    return re.sub(r"\s*\n\s*", " ", drawing).strip()


def normalise(notebook: dict, where: str = "notebook") -> dict:
    """The normal form of a notebook given as JSON data. Normalising twice changes nothing more."""
    notebook = current_widgets(stable_widgets(json.loads(json.dumps(notebook))))
    with_ids(notebook["cells"])
    for number, cell in enumerate(notebook["cells"], start=1):
        cell["metadata"] = {
            key: value for key, value in sorted(cell["metadata"].items()) if key in CELL_METADATA
        }
        cell["source"] = "\n".join(
            line.rstrip() if cell["cell_type"] == "code" else line
            for line in text_of(cell["source"]).split("\n")
        ).rstrip("\n")
        if cell["cell_type"] != "code":
            continue
        if "volatile" in tags(cell):
            cell["outputs"] = []
        cell["outputs"] = merged_streams(cell["outputs"])
        check_outputs(cell, f"{where}, cell {number} ({cell['id']})")
        # 1 for every cell that ran: nbval takes a cell without a count for one that never did.
        cell["execution_count"] = cell.get("execution_count") and 1
        for output in cell["outputs"]:
            if "execution_count" in output:
                output["execution_count"] = cell["execution_count"]
            if drawing := output.get("data", {}).get(SVG):
                output["data"][SVG] = on_one_line(text_of(drawing))
    metadata = {
        key: value for key, value in notebook["metadata"].items() if key in NOTEBOOK_METADATA
    }
    notebook["metadata"] = {**metadata, "kernelspec": KERNEL, "language_info": LANGUAGE}
    notebook["nbformat"], notebook["nbformat_minor"] = 4, 5
    return notebook


def written(notebook: dict) -> str:
    """The notebook as the text of a file: keys in order, long strings cut at line ends."""
    node = nbformat.from_dict(notebook)
    nbformat.validate(node)
    return nbformat.writes(node, version=nbformat.NO_CONVERT).rstrip("\n") + "\n"


def normalised_text(path: Path) -> str:
    return written(normalise(json.loads(path.read_text(encoding="utf-8")), path.name))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("notebooks", nargs="*", help="default: every chapter")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 if needed")
    options = parser.parse_args()
    wrong = 0
    for path in notebooks(options.notebooks):
        try:
            text = normalised_text(path)
        except Refused as refusal:
            print(f"refused: {refusal}", file=sys.stderr)
            wrong += 1
            continue
        if text == path.read_text(encoding="utf-8"):
            continue
        if options.check:
            print(f"not normalised: {path}", file=sys.stderr)
            wrong += 1
        else:
            path.write_text(text, encoding="utf-8")
            print(f"normalised {path}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
