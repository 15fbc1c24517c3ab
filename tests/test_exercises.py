"""The exercises of every chapter: a box, a stub, a solution, and one check that judges both.

That solutions are right and stubs not started is shown by running the chapters: nbval compares the
panels of these cells with the committed ones. Here the committed ones are read.
"""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from common import CHAPTERS, notebooks
from normalise_notebooks import tags, text_of

from tests.damage import replaced_once
from transformer_book import checks

BEGINNING = re.compile(r"^> \*\*Your turn.*", re.MULTILINE)
HINT_OUTSIDE = re.compile(r"^<details><summary>Hint", re.MULTILINE)
BOX = re.compile(r"> \*\*Your turn (\d+)\*\* ★{1,3} · \d+ min\. (Pencil\.)?")
SOLUTION = re.compile(r"# @title Solution (\d+)\n")
PANEL = re.compile(r"(Not started|Right|Another convention|Not yet) \(\w+\): ")


@dataclass(frozen=True)
class Judged:
    """One call of a check: `checks.name(prefix_function, cases)`."""

    check: str
    function: str
    cases: str  # as a syntax tree
    names: frozenset[str]  # that the cases use


def judged(source: str, prefix: str) -> list[Judged]:
    """The checks that a cell calls on the functions whose names begin with `prefix`, in order."""
    found = []
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            continue
        call = node.value
        match call:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="checks"), attr=check),
                args=[ast.Name(id=name), *_],
            ) if name.startswith(prefix):
                rest = [*call.args[1:], *call.keywords]
                used = {n.id for part in rest for n in ast.walk(part) if isinstance(n, ast.Name)}
                used = {name for name in used if not name.startswith(prefix)}
                # An exercise may ask for two functions, and try one with the other.
                cases = " ".join(map(ast.dump, rest)).replace(f"id='{prefix}", "id='")
                found.append(Judged(check, name.removeprefix(prefix), cases, frozenset(used)))
    return found


def assigned(source: str) -> set[str]:
    """The names that a cell gives a value."""
    tree = ast.parse(source)
    return {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    } | {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}


def shown(cell: dict) -> list[str]:
    """What the committed outputs are: the titles of panels, and the kind of everything else."""
    found = []
    for output in cell["outputs"]:
        panel = PANEL.match(text_of(output.get("data", {}).get("text/plain", "")))
        found.append(panel[1] if panel else output["output_type"])
    return found


def faults(notebook: dict, *, chapter: bool = True, component: bool = True) -> list[str]:
    """What is wrong with the exercises of a notebook, a phrase for each.

    Chapters have 3 to 6; in those that build, train and use the model, one at least is
    judged by a component's own check. The other pages have as many as they like.
    """
    cells = [{**cell, "source": text_of(cell["source"])} for cell in notebook["cells"]]
    starts = [
        (i, BOX.match(line))
        for i, cell in enumerate(cells)
        if cell["cell_type"] == "markdown"
        for line in BEGINNING.findall(cell["source"])
    ]
    wrong = [f"{cells[i]['id']}: no number, stars and minutes" for i, box in starts if not box]
    wrong += [
        f"{cells[i]['id']}: the hint stands outside the box"
        for i, _ in starts
        if HINT_OUTSIDE.search(cells[i]["source"])
    ]
    boxes = [(i, int(box[1]), bool(box[2])) for i, box in starts if box]
    if [number for _, number, _ in boxes] != list(range(1, len(boxes) + 1)):
        wrong.append("the exercises are not numbered 1, 2, 3, …")
    to_write = [box for box in boxes if not box[2]]
    if chapter and not 3 <= len(to_write) <= 6:
        wrong.append(f"{len(to_write)} exercises, not 3 to 6")
    ends = [*(i for i, _, _ in boxes), len(cells)][1:]
    inside: set[int] = set()
    called: list[Judged] = []
    for (start, number, pencil), end in zip(boxes, ends, strict=True):
        places = range(start + 1, end)
        inside |= set(places)
        code = [i for i in places if cells[i]["cell_type"] == "code"]
        stubs = [i for i in code if "exercise" in tags(cells[i])]
        solutions = [i for i in code if SOLUTION.match(cells[i]["source"])]
        if pencil and not stubs:
            continue
        if len(stubs) != 1 or len(solutions) != 1 or solutions[0] < stubs[0]:
            wrong.append(f"{number}: not one stub and behind it one solution")
            continue
        found, problems = pair_faults(cells[stubs[0] : solutions[0] + 1], number)
        called += found
        wrong += [f"{number}: {problem}" for problem in problems]
    for i, cell in enumerate(cells):
        code = cell["cell_type"] == "code"
        if i not in inside and (
            "exercise" in tags(cell) or (code and SOLUTION.match(cell["source"]))
        ):
            wrong.append(f"{cell['id']}: a stub or solution without a box")
    if chapter and component and not any(call.check in checks.COMPONENTS for call in called):
        wrong.append("no exercise asks for a component of the book")
    return wrong


def pair_faults(cells: list[dict], number: int) -> tuple[list[Judged], list[str]]:
    """The checks of one exercise, and what is wrong; from its stub cell to its solution cell."""
    stub, solution = cells[0], cells[-1]
    wrong = []
    if not {"exercise", "nbval-check-output"} <= set(tags(stub)):
        wrong.append("the stub's tags")
    if not {"hide-cell", "nbval-check-output"} <= set(tags(solution)):
        wrong.append("the solution's tags")
    if int(SOLUTION.match(solution["source"])[1]) != number:
        wrong.append("the solution has another number")
    asked, answered = judged(stub["source"], "my_"), judged(solution["source"], "solution_")
    if not asked:
        wrong.append("the stub calls no check")
    if asked != answered:
        wrong.append("the solution is not judged by the stub's checks and cases")
    unknown = {call.check for call in asked} - {"exercise", *checks.COMPONENTS}
    if unknown:
        wrong.append(f"no such check: {', '.join(sorted(unknown))}")
    used = {name for call in asked for name in call.names}
    changed = {
        name
        for cell in cells[1:]
        if cell["cell_type"] == "code"
        for name in assigned(cell["source"])
    }
    if used & changed:
        wrong.append(f"the cases are others for the solution: {', '.join(sorted(used & changed))}")
    if shown(stub) != ["Not started"] * len(asked):
        wrong.append(f"the stub shows {shown(stub)}")
    panels = [what for what in shown(solution) if what != "stream"]
    if len(panels) != len(asked) or not set(panels) <= {"Right", "Another convention"}:
        wrong.append(f"the solution shows {panels}")
    return asked, wrong


@pytest.mark.parametrize("path", [pytest.param(p, id=p.stem) for p in notebooks()])
def test_exercises_are_judged_by_one_check_as_stub_and_as_solution(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    chapter = path.parent == CHAPTERS
    # From chapter 18 on the model is finished: there is no component left to write, but in the
    # catalogue of mistakes.
    component = chapter and (int(path.name[:2]) <= 17 or path.name.startswith("22"))
    assert faults(notebook, chapter=chapter, component=component) == []


# --- the test itself, on a notebook made up for it ---------------------------------------------


def code_cell(name: str, source: str, *labels: str, panels: tuple[str, ...] = ()) -> dict:
    outputs = [
        {"output_type": "display_data", "metadata": {}, "data": {"text/plain": f"{panel} (x): y"}}
        for panel in panels
    ]
    return {
        "cell_type": "code",
        "id": name,
        "source": source,
        "metadata": {"tags": list(labels)},
        "outputs": outputs,
    }


def example() -> dict:
    """Three exercises without a fault."""
    cells = [code_cell("cases", "cases = [checks.case(1, gives=2)]")]
    calls = ("checks.softmax({})", "checks.exercise({}, *cases)", "checks.exercise({}, *cases)")
    for i, call in enumerate(calls, start=1):
        text = f"> **Your turn {i}** {'★' * i} · {5 * i} min. Write it."
        cells.append({"cell_type": "markdown", "id": f"box-{i}", "source": text, "metadata": {}})
        stub = f"def my_f(x):\n    return None  # your code\n\n\n{call.format('my_f')}"
        tagged = ("exercise", "nbval-check-output")
        cells.append(code_cell(f"stub-{i}", stub, *tagged, panels=("Not started",)))
        text = f"# @title Solution {i}\ndef solution_f(x):\n    return x + 1\n\n\n"
        text += call.format("solution_f")
        tagged = ("hide-cell", "nbval-check-output")
        cells.append(code_cell(f"solution-{i}", text, *tagged, panels=("Right",)))
    return {"cells": cells}


def edit(name: str, old: str, new: str) -> Callable[[list[dict]], None]:
    def doctor(cells: list[dict]) -> None:
        (cell,) = [cell for cell in cells if cell["id"] == name]
        cell["source"] = replaced_once(cell["source"], old, new)

    return doctor


def untag(name: str, label: str) -> Callable[[list[dict]], None]:
    return lambda cells: next(tags(c).remove(label) for c in cells if c["id"] == name)


def without(name: str) -> Callable[[list[dict]], None]:
    def doctor(cells: list[dict]) -> None:
        cells[:] = [cell for cell in cells if cell["id"] != name]

    return doctor


def showing(name: str, *panels: str) -> Callable[[list[dict]], None]:
    def doctor(cells: list[dict]) -> None:
        (cell,) = [cell for cell in cells if cell["id"] == name]
        cell["outputs"] = code_cell("", "", panels=panels)["outputs"]

    return doctor


def print_in(name: str) -> Callable[[list[dict]], None]:
    printed = {"output_type": "stream", "name": "stdout", "text": "Right (x): y"}
    return lambda cells: next(c["outputs"].append(printed) for c in cells if c["id"] == name)


def insert(place: int, source: str) -> Callable[[list[dict]], None]:
    return lambda cells: cells.insert(place, code_cell("new", source))


def test_the_example_has_no_fault() -> None:
    assert faults(example()) == []
    calm = example()
    showing("solution-2", "Another convention")(calm["cells"])
    print_in("solution-3")(calm["cells"])
    insert(8, "print(1)")(calm["cells"])
    assert faults(calm) == []


@pytest.mark.parametrize(
    ("doctor", "phrase"),
    [
        (edit("box-2", "★★", ""), "box-2: no number, stars and minutes"),
        (edit("box-2", "· 10 min.", ""), "box-2: no number, stars and minutes"),
        (edit("box-3", "turn 3", "turn 4"), "not numbered"),
        (
            edit("box-2", "Write it.", "Write it.\n\n<details><summary>Hint</summary>"),
            "box-2: the hint stands outside the box",
        ),
        (without("stub-2"), "2: not one stub"),
        (without("solution-2"), "2: not one stub"),
        (without("box-3"), "2 exercises, not 3 to 6"),
        (without("box-1"), "stub-1: a stub or solution without a box"),
        (untag("stub-1", "exercise"), "1: not one stub"),
        (untag("stub-1", "nbval-check-output"), "1: the stub's tags"),
        (untag("solution-1", "nbval-check-output"), "1: the solution's tags"),
        (untag("solution-3", "hide-cell"), "3: the solution's tags"),
        (edit("solution-3", "Solution 3", "Solution 2"), "3: the solution has another number"),
        (edit("stub-1", "checks.softmax(my_f)", "my_f(1)"), "1: the stub calls no check"),
        (edit("stub-1", "softmax", "sofdmax"), "1: no such check: sofdmax"),
        (edit("solution-1", "softmax", "causal_mask"), "1: the solution is not judged"),
        (edit("solution-2", "checks.exercise(solution_f, *cases)", "0"), "2: the solution is not"),
        (edit("solution-2", "*cases", "*cases[:1]"), "2: the solution is not judged"),
        (edit("solution-2", "(solution_f", "(my_f"), "2: the solution is not judged"),
        (edit("solution-2", "checks.", "if False:\n    checks."), "2: the solution is not judged"),
        (edit("solution-2", "def", "cases = []\ndef"), "2: the cases are others"),
        (insert(6, "cases = []"), "2: the cases are others"),
        (insert(6, "def cases():\n    pass"), "2: the cases are others"),
        (showing("stub-2"), "2: the stub shows []"),
        (showing("stub-2", "Right"), "2: the stub shows ['Right']"),
        (print_in("stub-2"), "2: the stub shows ['Not started', 'stream']"),
        (showing("solution-2"), "2: the solution shows []"),
        (showing("solution-2", "Not started"), "2: the solution shows ['Not started']"),
        (showing("solution-2", "Not yet"), "2: the solution shows ['Not yet']"),
        (showing("solution-2", "Right", "Right"), "2: the solution shows"),
    ],
)
def test_a_fault_is_found(doctor: Callable[[list[dict]], None], phrase: str) -> None:
    doctored = copy.deepcopy(example())
    doctor(doctored["cells"])
    assert [fault for fault in faults(doctored) if phrase in fault], faults(doctored)


def test_a_chapter_without_a_component_has_a_fault() -> None:
    doctored = example()
    for name, function in (("stub-1", "my_f"), ("solution-1", "solution_f")):
        edit(name, f"softmax({function})", f"exercise({function}, *cases)")(doctored["cells"])
    assert faults(doctored) == ["no exercise asks for a component of the book"]
