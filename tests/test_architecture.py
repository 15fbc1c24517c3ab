"""The shape of the package itself: short enough to read, imports one way, nothing shadowed."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

import transformer_book
from tests.fresh import MODEL

PACKAGE = Path(transformer_book.__file__).parent
ROOT = Path(__file__).parents[1]


def docstring_lines(tree: ast.AST) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and ast.get_docstring(
            node
        ):
            expression = node.body[0]
            lines |= set(range(expression.lineno, expression.end_lineno + 1))
    return lines


def logical_lines(source: str) -> int:
    """Logical lines of Python, docstrings and comments not counted."""
    skip = docstring_lines(ast.parse(source))
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(token.type == tokenize.NEWLINE and token.start[0] not in skip for token in tokens)


def test_the_model_is_read_in_one_sitting():
    """At most 500 logical lines, the argument checks included."""
    counts = {
        name: logical_lines((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
        for name in (*MODEL, "support/arguments")
    }
    print(counts, sum(counts.values()))
    assert sum(counts.values()) <= 500


@pytest.mark.parametrize("name", MODEL)
def test_each_forward_is_short(name):
    tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in ("forward", "attend"):
            skip = docstring_lines(node)
            lines = set(range(node.body[0].lineno, node.end_lineno + 1)) - skip
            assert len(lines) <= 20, f"{name}.{node.name}"


def test_imports_go_one_way():
    """The contracts of `pyproject.toml`: layers, the checks beside the model, no circle."""
    assert lint_imports(str(ROOT / "pyproject.toml"), no_cache=True) == 0


def test_the_engine_of_the_checks_names_no_component():
    ideas = {path.stem for path in (PACKAGE / "checks" / "ideas").rglob("*.py")} - {"__init__"}
    for path in (PACKAGE / "checks").rglob("*.py"):
        place = path.relative_to(PACKAGE / "checks")
        if place.parts[0] == "ideas" or path.stem == "in_whole_models":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        # `shift` and `softmax` are words of other things, too.
        assert not (texts & ideas) - {"shift", "softmax", "dropout"}, place


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


def test_importing_attention_imports_torch_and_nothing_heavier():
    heavy = {"spacy", "tokenizers", "matplotlib", "seaborn", "IPython", "ipywidgets", "pandas"}
    loaded = modules_after("import transformer_book.attention")
    assert "torch" in loaded
    assert not loaded & heavy


def test_importing_the_package_imports_nothing():
    assert not {"torch", "anywidget"} & modules_after("import transformer_book")
    assert "anywidget" not in modules_after("import transformer_book.widgets")
