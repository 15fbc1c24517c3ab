"""The page that a student gets back: their notebook, what each test said, and the points.

A page says of a hidden test its name and its verdict; `HideTests.show` adds the tests themselves,
for after the deadline. It begins with what the grader noticed, in three sentences at most.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from nbformat.v4 import new_markdown_cell
from nbgrader.converters.generate_feedback import HTMLExporter
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked, is_solution
from traitlets import Bool

HIDDEN = re.compile(r"(?ms)^[^\n]*BEGIN HIDDEN TESTS.*?END HIDDEN TESTS[^\n]*\n?")
NOT_SHOWN = "# Hidden tests follow: the same questions, on other inputs."
LEFT_OUT = "(This output repeats a hidden test, and is left out.)"
DISTINCT = 16  # characters of a line by which a hidden test is recognised
AT_MOST = 3  # sentences about one submission
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class _Compiled(BytecodeCache):
    """Templates that have been compiled, for as long as this process lives."""

    def __init__(self) -> None:
        self._found: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket, if its template was compiled before."""
        if bucket.key in self._found:
            bucket.bytecode_from_string(self._found[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep what was compiled."""
        self._found[bucket.key] = bucket.bytecode_to_string()


class FeedbackExporter(HTMLExporter):
    """nbgrader makes one for each submission; its templates are compiled once for a whole class."""

    compiled = _Compiled()

    @property
    def environment(self) -> Environment:
        """Where the templates are found, and kept."""
        found = super().environment
        found.bytecode_cache = self.compiled
        return found


class HideTests(NbGraderPreprocessor):
    """Takes hidden tests out of a page, and says on top what the grader noticed.

    Attributes:
        show: the tests stay, for after the deadline.
    """

    show = Bool(False, help="feedback shows the hidden tests").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Change the notebook of one page."""
        if not self.show:
            conceal(nb)
        _say_once(nb)
        if notes := nb.metadata.pop("noticed", []):
            lines = "".join(f"<li>{html.escape(note)}</li>" for note in notes)
            text = f"**What the grader noticed**\n\n<ul>{lines}</ul>"
            nb.cells.insert(0, new_markdown_cell(text))
        return nb, resources


def is_test(cell: Any) -> bool:
    """Whether a cell is a test that runs."""
    return cell.cell_type == "code" and is_grade(cell) and not is_solution(cell)


def conceal(notebook: Any) -> None:
    """Leave of each hidden test its name and its verdict."""
    hidden = [text for cell in notebook.cells if is_test(cell) for text in _hidden(cell.source)]
    theirs = {
        cell.execution_count
        for cell in notebook.cells
        if cell.cell_type == "code" and not is_locked(cell)
    }
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        if is_test(cell):
            cell.source = HIDDEN.sub(f"{NOT_SHOWN}\n", cell.source).rstrip("\n")
            for out in cell.outputs:
                if out.output_type == "error":
                    out.traceback = _own_frames(out.traceback, theirs)
        for i, out in enumerate(cell.outputs):
            if _repeats(out, hidden):
                cell.outputs[i] = type(out)(output_type="stream", name="stdout", text=LEFT_OUT)


def _hidden(source: str) -> Iterable[str]:
    """The lines by which a hidden test can be recognised, as they look in an output."""
    visible = HIDDEN.sub("", source)
    for part in HIDDEN.findall(source):
        for line in map(str.strip, part.splitlines()[1:-1]):
            if len(line) >= DISTINCT and line not in visible:
                yield from {line, repr(line)[1:-1], html.escape(line)}


def _repeats(out: Any, hidden: Sequence[str]) -> bool:
    if not hidden:
        return False
    if out.output_type == "error":
        told = "\n".join([out.evalue, *out.traceback])
    else:
        told = out.get("text") or "\n".join(map(_as_text, out.get("data", {}).values()))
    told = COLOURS.sub("", told)
    return any(line in told for line in hidden)


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _own_frames(traceback: Sequence[str], theirs: set[int | None]) -> list[str]:
    """A traceback with the frames of the student's own cells, and what was said in the end."""
    if len(traceback) <= 2:
        return list(traceback)
    kept = []
    for part in traceback[1:-1]:
        found = re.match(r"(?:Cell |Input |File )?In ?\[(\d+)\]", COLOURS.sub("", part).lstrip())
        if found and int(found.group(1)) in theirs:
            kept.append(part)
    return [traceback[0], *kept, traceback[-1]]


def _say_once(notebook: Any) -> None:
    """What stops several cells with the same words is told in full at the first of them."""
    first: dict[tuple[str, str], str] = {}
    for cell in notebook.cells:
        for out in cell.get("outputs", []):
            if out.output_type != "error":
                continue
            name = (cell.metadata.get("nbgrader") or {}).get("grade_id") or "a cell above"
            where = first.setdefault((out.ename, out.evalue), name)
            if where != name:
                out.traceback = [f"{out.ename}: the same as in {where}."]


def briefly(notes: Sequence[str], names: Iterable[str] = ()) -> tuple[str, ...]:
    """One sentence for each problem, and three at most.

    Sentences that differ in the name of a cell only become one; what is more than three is counted.

    Args:
        notes: one sentence each.
        names: of the cells that they may speak of.
    """
    pattern = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    groups: dict[str, list[tuple[str, str]]] = {}
    for note in notes:
        found = re.search(rf"(?<![\w-])({pattern}|number \d+)(?![\w-])", note)
        if not pattern or found is None:
            groups.setdefault(note, []).append((note, ""))
        else:
            kind = f"{note[: found.start()]}\0{note[found.end() :]}"
            groups.setdefault(kind, []).append((note, found.group()))
    told = []
    for members in groups.values():
        sentence = members[0][0]
        if others := list(dict.fromkeys(name for _, name in members[1:] if name)):
            more = f" and {len(others) - 3} more" if len(others) > 3 else ""
            sentence = f"{sentence.rstrip('.')}; the same of {', '.join(others[:3])}{more}."
        told.append(sentence)
    if len(told) <= AT_MOST:
        return tuple(told)
    left = len(told) - AT_MOST + 1
    return (*told[: AT_MOST - 1], f"{left} more are in outcome.json, beside the autograded file.")
