"""Every committed chapter, read as a file: what must hold before any cell runs."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest
from common import notebooks
from normalise_notebooks import normalised_text, tags, text_of
from setup_cell import CELL_ID, setup_cell, with_setup_cell

CHAPTERS = [pytest.param(path, id=path.stem) for path in notebooks()]
FOLDED = {"hide-input", "hide-cell", "remove-cell"}

MYST = {
    "a directive": re.compile(r"^\s*(?:`{3,}|~{3,}|:{3,})\s*\{", re.MULTILINE),
    "a role": re.compile(r"(?<![\w\\$}])\{[a-zA-Z][\w:.+-]*\}`"),
    "a target": re.compile(r"^\([\w:. -]+\)=\s*$", re.MULTILINE),
    "a block break": re.compile(r"^\+\+\+(?:\s|$)", re.MULTILINE),
    "a comment": re.compile(r"^%(?:\s|$)", re.MULTILINE),
    "a substitution": re.compile(r"\{\{\s*[a-zA-Z_]\w*\s*\}\}"),
}


def myst_in(text: str) -> list[str]:
    """The kinds of MyST syntax in a Markdown cell; what stands in code fences and spans is not."""
    kinds = [kind for kind in ("a directive", "a role") if MYST[kind].search(text)]
    plain = re.sub(r"^(`{3,}|~{3,}).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    plain = re.sub(r"`[^`\n]*`", "", plain)
    return kinds + [k for k in MYST if k not in ("a directive", "a role") and MYST[k].search(plain)]


def cells_of(path: Path, kind: str) -> list[dict]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [
        {**cell, "source": text_of(cell["source"])} for cell in cells if cell["cell_type"] == kind
    ]


@pytest.mark.parametrize("path", CHAPTERS)
def test_is_normalised(path: Path) -> None:
    assert normalised_text(path) == path.read_text(encoding="utf-8"), (
        f"run python tools/normalise_notebooks.py {path.name}"
    )


@pytest.mark.parametrize("path", CHAPTERS)
def test_has_the_setup_cell(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = text_of(cell["source"])
    assert with_setup_cell(notebook) == notebook, "run python tools/setup_cell.py --write"
    assert [c for c in notebook["cells"] if c["id"] == CELL_ID] == [setup_cell()]


@pytest.mark.parametrize("path", CHAPTERS)
def test_cells_are_plain_python(path: Path) -> None:
    """No `!` command, no magic: nbval would not see them fail. The set-up cell is exempt."""
    for cell in cells_of(path, "code"):
        if cell["id"] != CELL_ID:
            try:
                ast.parse(cell["source"])
            except SyntaxError as error:
                pytest.fail(f"cell {cell['id']}: {error}\n{error.text}", pytrace=False)


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_cell_fits_a_screen(path: Path) -> None:
    """Those that are unfolded; the imports are one list, whatever its length."""
    for cell in cells_of(path, "code"):
        folded = FOLDED & set(tags(cell))
        lines = sum(bool(line.strip()) for line in cell["source"].split("\n"))
        assert lines <= 40 or folded or cell["id"] == "imports", f"{cell['id']}: {lines} lines"


def tricks_in(code: str) -> set[str]:
    """What makes a reader stop at code that could be said simply."""
    found, walruses = set(), 0
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Assert(test=ast.IfExp()):
                found.add("an assertion with a condition in it")
            case ast.Expr(value=ast.IfExp() | ast.BoolOp() | ast.ListComp() | ast.SetComp()):
                found.add("an expression for its effect")
            case ast.Call(func=ast.IfExp() | ast.BoolOp()):
                found.add("a call of one thing or another")
            case ast.For(target=target) | ast.comprehension(target=target):
                if any(
                    isinstance(part, ast.Attribute | ast.Subscript) for part in ast.walk(target)
                ):
                    found.add("a loop over an attribute or an entry")
            case ast.Subscript(slice=ast.Compare(comparators=[ast.Constant(value=str())])):
                found.add("an index that is a comparison")
            case ast.Subscript(
                value=ast.Constant(value=str()), slice=ast.Call(func=ast.Name(id=name))
            ):
                if name != "len":
                    found.add("an index that is a comparison")
            case ast.BinOp(left=ast.List(), op=ast.Mult(), right=ast.UnaryOp() | ast.Compare()):
                found.add("a list times true or false")
            case ast.BinOp(left=ast.List(), op=ast.Mult(), right=ast.Attribute()):
                found.add("a list times true or false")
            case ast.Starred(value=ast.IfExp()) | ast.keyword(arg=None, value=ast.IfExp()):
                found.add("a star before a condition")
            case ast.Call(func=ast.Name(id="sum"), args=[ast.Call(func=ast.Name(id="map")), *_]):
                found.add("a sum of a map")
            case ast.Call(func=ast.Name(id="map"), args=[ast.Attribute(attr=name), *_]):
                if name.startswith("__"):
                    found.add("a map of an operator")
            case ast.IfExp(test=ast.IfExp()) | ast.IfExp(body=ast.IfExp()):
                found.add("a condition in a condition")
            case ast.IfExp(orelse=ast.IfExp()):
                found.add("a condition in a condition")
            case ast.Assign(targets=[ast.Tuple(elts=[_, *middle, _])]):
                if any(isinstance(part, ast.Starred) for part in middle):
                    found.add("a star in the middle")
            case ast.NamedExpr():
                walruses += 1
                if walruses == 2:
                    found.add("more than one walrus")
    return found


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def loops_of(node: ast.AST) -> int:
    """How many loops stand one in the other inside comprehensions."""
    inside = max((loops_of(part) for part in ast.iter_child_nodes(node)), default=0)
    return inside + (len(node.generators) if isinstance(node, COMPREHENSIONS) else 0)


def riddles_in(code: str) -> set[str]:
    """What may stand in a folded cell, and not in one that is read."""
    found = set()
    tree = ast.parse(code)
    if loops_of(tree) > 2:
        found.add("three loops in one expression")
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.List() | ast.Tuple(elts=[_, *_]), slice=ast.Name()):
                found.add("an entry of what is written in place")
            case ast.Lambda(args=ast.arguments(defaults=[_, *_])):
                found.add("a lambda that keeps values")
            case ast.Lambda(args=ast.arguments(kw_defaults=[_, *_])):
                found.add("a lambda that keeps values")
            case ast.BinOp(op=ast.Mult(), right=ast.Compare()):
                found.add("a comparison as a factor")
            case ast.BinOp(op=ast.Mult(), left=ast.Compare()):
                found.add("a comparison as a factor")
            case ast.Call(func=ast.Name(id="map"), args=[_, ast.Call(func=ast.Name(id="zip"))]):
                found.add("a map over columns")
    return found


@pytest.mark.parametrize("path", CHAPTERS)
def test_code_is_said_simply(path: Path) -> None:
    """And where it is not folded, it holds no riddle."""
    found = {
        cell["id"]: tricks_in(cell["source"])
        | (set() if FOLDED & set(tags(cell)) else riddles_in(cell["source"]))
        for cell in cells_of(path, "code")
        if cell["id"] != CELL_ID
    }
    assert {name: tricks for name, tricks in found.items() if tricks} == {}


@pytest.mark.parametrize(
    "code",
    [
        "[f(i, j, k) for i in n for j in n for k in n]",
        "[[sum(a * b for a, b in zip(row, column)) for column in B] for row in A]",
        "steps = [lambda x, mask=mask: f(x, mask)]",
        "steps = [lambda x, *, mask=mask: f(x, mask)]",
        "[first, second, again][damage]",
        "half + 0.5 * (i == j)",
        "(heads != head) * output",
        "sources, targets = map(list, zip(*pairs))",
    ],
)
def test_a_riddle_is_found(code: str) -> None:
    assert riddles_in(code)


def test_plain_loops_are_no_riddle() -> None:
    assert not riddles_in("[[f(i, j) for j in n] for i in n] + [g(i) for i in n]")


@pytest.mark.parametrize(
    "code",
    [
        "assert share > 0.9 if right else share < 0.2",
        "loss.backward() if update else steps[what]()",
        "wrong and names.append(wrong)",
        "[names.append(name) for name in more]",
        "(loss.backward if update else steps[what])()",
        "for narrow.decoder.words in windows:\n    pass",
        "[0 for seen[0] in windows]",
        'lengths[first][side == "target"]',
        "'.#'[sees(query, key)]",
        "odd += [pair] * (not de)",
        "odd += [pair] * (a != b)",
        'columns = ["<sos>"] * translator.source_sos',
        "f(*([] if keywords else masks))",
        "f(**({} if keywords else named))",
        "sum(map(len, words))",
        "all(map(str.__eq__, a, b))",
        "(a := 1) + (b := 2)",
        "a if x else b if y else c",
        "(a if x else b) if y else c",
        "first, *_, last = row",
    ],
)
def test_a_trick_is_found(code: str) -> None:
    assert tricks_in(code)


@pytest.mark.parametrize(
    "code",
    [
        "assert share > (0.9 if right else 0.2)",
        "for name, words in windows:\n    narrow.decoder.words = words",
        "x = weights[tokens == 0]",
        "rows = [0] * len(words)",
        "while (pair := best(pairs)) is not None:\n    pass",
        "longest = max(map(len, rows))",
        "print(*(f'{share:.2f}' for share in shares))",
    ],
)
def test_what_is_no_trick(code: str) -> None:
    assert not tricks_in(code)


@pytest.mark.parametrize("path", CHAPTERS)
def test_text_is_what_every_front_end_shows(path: Path) -> None:
    found = {cell["id"]: myst_in(cell["source"]) for cell in cells_of(path, "markdown")}
    assert {name: kinds for name, kinds in found.items() if kinds} == {}


@pytest.mark.parametrize("path", CHAPTERS)
def test_images_and_figures_say_what_to_see(path: Path) -> None:
    for cell in cells_of(path, "markdown"):
        assert not re.search(r"!\[\s*\]\(", cell["source"]), cell["id"]
        for image in re.findall(r"<img\b[^>]*>", cell["source"]):
            assert re.search(r'alt="[^"]+"', image), image
    for cell in cells_of(path, "code"):
        for output in cell["outputs"]:
            for mime in output.get("data", {}):
                if mime.startswith("image/"):
                    described = output["metadata"].get(mime, {})
                    assert described.get("alt") and described.get("caption"), cell["id"]


@pytest.mark.parametrize("path", CHAPTERS)
def test_the_words_in_a_figure_can_be_read_on_a_phone(path: Path) -> None:
    """A figure takes all of its 360 pixels: the smallest word of any has seven of them."""
    for cell in cells_of(path, "code"):
        for output in cell["outputs"]:
            drawing = text_of(output.get("data", {}).get("image/svg+xml", ""))
            if width := re.search(r'<svg[^>]*? width="([\d.]+)pt"', drawing):
                pixels = float(width[1]) * 4 / 3
                assert pixels <= 530, f"{cell['id']}: {pixels:.0f} pixels; stack its panels"
                sizes = [float(s) for s in re.findall(r" scale\(([\d.]+) -[\d.]+\)", drawing)]
                least = 100 * min(sizes, default=1) * 4 / 3 * min(1, 360 / pixels)
                assert least >= 6.9, f"{cell['id']}: a word of {least:.1f} pixels; enlarge it"


@pytest.mark.parametrize("path", CHAPTERS)
def test_outputs_hold_no_warnings(path: Path) -> None:
    """A warning in an output is either a fault to mend or a sentence to write."""
    for cell in cells_of(path, "code"):
        assert not [o for o in cell["outputs"] if o.get("name") == "stderr"], cell["id"]


@pytest.mark.parametrize("path", CHAPTERS)
def test_cells_that_raise_on_purpose_do_raise(path: Path) -> None:
    """nbval and Jupyter let a cell pass that is tagged and does not raise."""
    for cell in cells_of(path, "code"):
        if "raises-exception" in tags(cell) or "nbval-raises-exception" in tags(cell):
            assert {"raises-exception", "nbval-raises-exception"} <= set(tags(cell)), cell["id"]
            assert [o for o in cell["outputs"] if o["output_type"] == "error"], cell["id"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("```{note}\nx\n```", ["a directive"]),
        (":::{note}\nx\n:::", ["a directive"]),
        ("see {ref}`here`", ["a role"]),
        ("(here)=\n# Title", ["a target"]),
        ("a\n\n+++\n\nb", ["a block break"]),
        ("% hidden", ["a comment"]),
        ("today is {{ date }}", ["a substitution"]),
        ("```python\nx = {1}\n% no\n```", []),
        ("a set `{1, 2}` and $\\mathrm{softmax}$ and `{{ x }}`", []),
        ("$x_{i}$`code`", []),
        (
            "> **Predict first.** 5 % of it\n\n<details>\n<summary>a</summary>\n\nb\n\n</details>",
            [],
        ),
    ],
)
def test_what_counts_as_myst(text: str, kinds: list[str]) -> None:
    assert myst_in(text) == kinds
