"""What `make book` has executed is not executed again by nbval, and is judged as if it were."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import execution_cache
import nbformat
import pytest
from build_site import fill_cache
from common import ROOT
from nbformat.v4 import new_code_cell, new_notebook, new_output

RAN = "with open('ran', 'a') as file:\n    print({name!r}, file=file)\n"


def notebook(name: str, *cells: tuple[str, list]) -> nbformat.NotebookNode:
    """Each cell with the outputs that it shows; the first one notes down that it has run."""
    made = [new_code_cell(RAN.format(name=name), execution_count=1)]
    for source, outputs in cells:
        checked = {"tags": ["nbval-check-output"]}
        made.append(new_code_cell(source, outputs=outputs, metadata=checked, execution_count=1))
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    return new_notebook(cells=made, metadata={**kernel, "language_info": {"name": "python"}})


def says(text: str, stream: str = "stdout") -> nbformat.NotebookNode:
    return new_output("stream", name=stream, text=text)


def gives(text: str) -> nbformat.NotebookNode:
    return new_output("execute_result", data={"text/plain": text}, execution_count=1)


TWICE = "import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('c')"
BOOK = {
    "1_same": notebook(
        "1_same",
        (TWICE, [says("a\nc\n"), says("b\n", "stderr")]),
        ("1 + 1", [gives("2")]),
        ("1 + 1", [gives("2")]),  # the same words again
    ),
    "2_differs": notebook("2_differs", ("print('new')", [says("old\n")]), ("3", [gives("3")])),
    "3_fewer": notebook("3_fewer", ("print('new')", []), ("4", [gives("4")])),
}


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book of which `make book` has executed every notebook."""
    monkeypatch.setenv("TRANSFORMER_BOOK_DATA", str(tmp_path / "data"))
    for folder in ("code", "chapters", "data"):
        (tmp_path / folder).mkdir()
    for file, text in (("_toc.yml", ""), ("requirements.txt", "a==1\n"), ("code/a.py", "a = 1\n")):
        (tmp_path / file).write_text(text, encoding="utf-8")
    for name, content in BOOK.items():
        nbformat.write(content, tmp_path / "chapters" / f"{name}.ipynb")
    execution_cache._opened.cache_clear()
    paths = sorted((tmp_path / "chapters").glob("*.ipynb"))
    assert fill_cache(execution_cache.begin(tmp_path, tmp_path / "_build"), paths, jobs=2) == []
    return tmp_path


def ran(book: Path) -> list[str]:
    """The notebooks that have been executed since this was asked last."""
    file = book / "chapters" / "ran"
    names = file.read_text(encoding="utf-8").split() if file.exists() else []
    file.unlink(missing_ok=True)
    return sorted(names)


def run_nbval(book: Path, *options: str, what: str = "") -> tuple[dict[str, set[str]], str]:
    """The cells that passed and that failed, and what was printed."""
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-c", str(ROOT / "pyproject.toml")]
    command += ["-n", "0", "-rA", "--color=no", *options, f"{book / 'chapters'}{what}"]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tools"), str(ROOT / "code")])
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, "PYTEST_ADDOPTS": ""},
        check=False,
    )
    found = {"PASSED": set(), "FAILED": set()}
    for how, notebook, cell in re.findall(
        r"^(PASSED|FAILED) \S*?(\w+)\.ipynb::(Cell \d+)", done.stdout, re.MULTILINE
    ):
        found[how].add(f"{notebook} {cell}")
    return found, done.stdout + done.stderr


FAIL = {"2_differs Cell 1", "3_fewer Cell 1"}
CELLS = {f"{name} Cell {i}" for name, each in BOOK.items() for i in range(len(each.cells))}


def test_cells_are_judged_as_if_they_had_run_and_run_when_asked(book: Path) -> None:
    assert ran(book) == sorted(BOOK)
    found, said = run_nbval(book)
    assert found == {"PASSED": CELLS - FAIL, "FAILED": FAIL}, said
    assert "Cell outputs differ" in said and "3 notebooks were not executed again" in said
    assert ran(book) == []

    found, said = run_nbval(book, "--execute-again")
    assert found == {"PASSED": CELLS - FAIL, "FAILED": FAIL}, said
    assert "not executed again" not in said
    assert ran(book) == sorted(BOOK)


def test_a_notebook_whose_cells_have_changed_runs_and_the_others_do_not(book: Path) -> None:
    ran(book)
    path = book / "chapters" / "2_differs.ipynb"
    path.write_text(path.read_text("utf-8").replace("'new'", "'old'"), encoding="utf-8")
    found, said = run_nbval(book)
    assert found == {"PASSED": CELLS - {"3_fewer Cell 1"}, "FAILED": {"3_fewer Cell 1"}}, said
    assert "2 notebooks were not executed again" in said
    assert ran(book) == ["2_differs"]


def test_one_may_ask_for_some_cells_alone(book: Path) -> None:
    for cell, how in ((2, "1 passed"), (1, "1 failed")):
        _, said = run_nbval(book, what=f"/2_differs.ipynb::Cell {cell}")
        assert how in said and "1 notebook was not executed again" in said, said


def rewrite(file: str, text: str) -> Callable[..., None]:
    def change(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (book / file).write_text(text, encoding="utf-8")

    return change


def install_another(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before, another = execution_cache.distributions, SimpleNamespace(name="another", version="1")
    monkeypatch.setattr(
        execution_cache, "distributions", lambda path: [*before(path=path), another]
    )


def take_another_python(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution_cache.sys, "version", "4.0")


def move_the_data(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (book / "elsewhere").mkdir()
    (book / "elsewhere" / "corpus").write_text("a", encoding="utf-8")
    monkeypatch.setenv("TRANSFORMER_BOOK_DATA", str(book / "elsewhere"))


@pytest.mark.parametrize(
    "change",
    [
        rewrite("code/a.py", "a = 2\n"),
        rewrite("code/b.py", ""),
        rewrite("requirements.txt", "a==2\n"),
        rewrite("data/corpus", "a"),
        install_another,
        take_another_python,
        move_the_data,
    ],
    ids=["code", "a new module", "pins", "data", "what is installed", "Python", "data elsewhere"],
)
def test_nothing_is_found_once_something_else_has_changed(book, monkeypatch, change) -> None:
    path = book / "chapters" / "1_same.ipynb"
    assert execution_cache.found(path).cells[2].outputs[0].data["text/plain"] == "2"
    execution_cache._opened.cache_clear()
    change(book, monkeypatch)
    assert execution_cache.found(path) is None
    # And `make book` executes all of it anew.
    execution_cache._opened.cache_clear()
    assert not (execution_cache.begin(book, book / "_build")).exists()
    assert execution_cache.found(path) is None


def test_what_a_long_run_has_imported_is_no_change(book: Path, monkeypatch) -> None:
    """setuptools, which torch imports, puts a folder of packages of its own on the path."""
    vendored = book / "vendored" / "another-1.dist-info"
    vendored.mkdir(parents=True)
    (vendored / "METADATA").write_text("Name: another\nVersion: 1\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(vendored.parent))
    assert any(each.name == "another" for each in execution_cache.distributions())
    assert execution_cache.found(book / "chapters" / "1_same.ipynb") is not None


def test_what_cannot_be_read_is_not_found(book: Path) -> None:
    path = book / "chapters" / "1_same.ipynb"
    for file in (book / "_build" / ".jupyter_cache").rglob("*.ipynb"):
        file.write_text("{", encoding="utf-8")
    assert execution_cache.found(path) is None


def test_without_a_build_nothing_is_found(tmp_path: Path) -> None:
    path = tmp_path / "1_same.ipynb"
    nbformat.write(BOOK["1_same"], path)
    assert execution_cache.found(path) is None  # no book
    (tmp_path / "_toc.yml").touch()
    execution_cache._opened.cache_clear()
    assert execution_cache.found(path) is None  # no build
