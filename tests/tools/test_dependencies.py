"""What is imported is declared in pyproject.toml, and what is declared there is used."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from common import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Which lists a folder may import from, besides the package's own dependencies.
LISTS = {
    "code/transformer_book/course": ("course",),
    # What runs notebooks.
    "code/transformer_book/support/metered_kernels.py": ("course", "book", "test"),
    "code/transformer_book/weights/gguf_file.py": ("weights",),
    "code": (),
    "chapters": (),
    "book/prerequisites.ipynb": (),
    "book/twelve_recipes.ipynb": (),
    "book/extension": ("book",),
    "tools": ("book", "questions"),
    "tests": ("test", "book", "course"),  # they look at everything
    "conftest.py": ("test",),
    "benchmarks": ("benchmarks",),
}
# Used without an import: where, by a name that stands there.
BY_NAME = {
    "ipywidgets": "tools/copied_kernels.py",  # anywidget stands on it; Colab has an old one
    "jsonschema": "CONTRIBUTING.md",  # nbformat reads with it
    "jupyter-book": "tools/build_site.py",
    "jupyterlab": "tests/site/test_jupyterlab.py",
    "jupytext": "Makefile",
    "pytest-xdist": "Makefile",
    "ruff": "tests/tools/test_style.py",
    "ty": "tests/tools/test_style.py",
    "sphinx-book-theme": "_config.yml",
    "sphinxcontrib-bibtex": "_config.yml",
}
NAMES = {"jupyter-book": "jupyter_book", "pytest-xdist": "-n auto"} | {
    name: name.replace("-", "_") for name in ("sphinx-book-theme",)
}
NAMES |= {"sphinxcontrib-bibtex": "sphinxcontrib.bibtex", "jupyterlab": "jupyter"}
# Imported where it is installed; where it is not, one sentence says so, or says where it is shown.
OPTIONAL = {
    "code": {"huggingface-hub"},
    "chapters": {"transformers"},
    "tools": {"transformers"},  # what `record_smollm2.py` measures beside the book's model
}
ELSEWHERE = {"benchmarks": {"ctranslate2": "ctranslate2", "x_transformers": "x-transformers"}}


def name_of(requirement: str) -> str:
    return normal(re.match(r"[\w.-]+", requirement)[0])


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


DECLARED = {"": {name_of(each) for each in PROJECT["dependencies"]}} | {
    extra: {name_of(each) for each in listed} for extra, listed in EXTRAS.items()
}


def code_of(path: Path) -> str:
    if path.suffix == ".py":
        return path.read_text(encoding="utf-8")
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    return "\n".join(text for text in code if "%pip" not in text)


def modules_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(code_of(path))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]


@cache
def files() -> dict[str, list[Path]]:
    """The files of each entry of `LISTS`: a file belongs to the first that it lies in."""
    taken: set[Path] = set()
    found = {}
    for place in LISTS:
        root = ROOT / place
        paths = [root] if root.is_file() else [*root.rglob("*.py"), *root.rglob("*.ipynb")]
        found[place] = [path for path in sorted(paths) if path not in taken]
        taken |= set(paths)
    return found


DISTRIBUTIONS = packages_distributions()
OWN = {"transformer_book", "tests", "benchmarks", "kit"} | {
    path.stem for folder in ("tools", "book/extension") for path in (ROOT / folder).glob("*.py")
}


@cache
def asked_for(place: str) -> dict[str, set[str]]:
    """The distributions that the files of a place import, and which files do."""
    found: dict[str, set[str]] = {}
    for path in files()[place]:
        for module in set(modules_in(path)) - OWN - sys.stdlib_module_names:
            named = DISTRIBUTIONS.get(module) or [ELSEWHERE.get(place, {}).get(module, module)]
            found.setdefault(normal(named[0]), set()).add(path.name)
    return found


@pytest.mark.parametrize("place", LISTS)
def test_what_is_imported_is_declared(place: str) -> None:
    allowed = set().union(*(DECLARED[extra] for extra in ("", *LISTS[place])))
    allowed |= OPTIONAL.get(place, set())
    missing = {name: files for name, files in asked_for(place).items() if name not in allowed}
    assert missing == {}


@pytest.mark.parametrize("extra", DECLARED)
def test_what_is_declared_is_used(extra: str) -> None:
    places = [place for place, extras in LISTS.items() if extra in ("", *extras)]
    used = set().union(*(asked_for(place) for place in places))
    for name in DECLARED[extra] - used:
        assert name in BY_NAME, f"{name} is declared and nothing imports it"
        text = (ROOT / BY_NAME[name]).read_text(encoding="utf-8")
        assert NAMES.get(name, name) in text, name


def test_an_import_that_nobody_declared_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("import os\nimport torch.nn as nn\nfrom yaml import load\n")
    assert set(modules_in(path)) == {"os", "torch", "yaml"}
