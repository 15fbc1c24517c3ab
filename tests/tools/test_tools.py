"""The maintenance scripts: normal form, execution, the set-up cell, the build's memory."""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from build_site import derived_configuration
from common import ROOT, configuration, repository_url
from execution_cache import digest, forget_if_changed
from IPython.core.inputtransformer2 import TransformerManager
from normalise_notebooks import WIDGET_STATE, Refused, normalise, written
from setup_cell import SOURCE, setup_cell, with_setup_cell

from tests.tools.running import run_tool

MODULES = {
    "common.py",
    "copied_kernels.py",
    "execution_cache.py",
    "gym.py",
    "many_at_once.py",
    "model_cards.py",
    "paper_epub.py",
    "paper_pages.py",
    "paper_pdf.py",
    "paper_stills.py",
    "reference_mutants.py",
    "searches.py",
    "notebook_runner.py",
}  # imported by scripts, and none themselves
SCRIPTS = sorted({path.name for path in (ROOT / "tools").glob("*.py")} - MODULES)


def notebook(*cells: dict, **metadata: object) -> dict:
    return {"cells": list(cells), "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def code(source: str, outputs: list | None = None, count: int | None = 7, **more: object) -> dict:
    cell = {"cell_type": "code", "source": source, "outputs": outputs or []}
    return {**cell, "execution_count": count, "metadata": {}, **more}


def printed(text: str, name: str = "stdout") -> dict:
    return {"output_type": "stream", "name": name, "text": text}


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_explains_itself(script: str) -> None:
    shown = run_tool(script, "--help")
    assert shown.returncode == 0, shown.stderr
    assert len(shown.stdout) > 60


# --- normal form ----------------------------------------------------------------------------------


def test_normalising_twice_changes_nothing() -> None:
    given = notebook(
        code("1 + 1", [printed("a\n"), printed("b\n")], metadata={"collapsed": True}),
        {"cell_type": "markdown", "source": ["# A\n", "text"], "metadata": {}},
        code("2", id="kept", metadata={"tags": ["volatile"]}, outputs=[printed("12 ms")]),
        code("3", id="kept", metadata={"execution": {"iopub.status.busy": "2026-01-01"}}),
        code("4", count=None),
        language_info={"name": "python", "version": "3.11.2"},
        kernelspec={"name": "mine", "display_name": "Mine"},
    )
    untouched = copy.deepcopy(given)
    once = normalise(given)
    assert given == untouched
    assert normalise(once) == once
    assert written(normalise(once)) == written(once)
    cells = once["cells"]
    assert cells[2]["id"] == "kept" and len({cell["id"] for cell in cells}) == 5
    assert [cell.get("execution_count") for cell in cells] == [1, None, 1, 1, None]
    assert cells[0]["outputs"] == [printed("a\nb\n")]
    assert cells[2]["outputs"] == []
    assert cells[0]["metadata"] == {} == cells[3]["metadata"]
    assert once["metadata"]["language_info"] == {"name": "python"}
    assert once["metadata"]["kernelspec"]["name"] == "python3"
    assert [c["id"] for c in normalise(given)["cells"]] == [c["id"] for c in cells]


@pytest.mark.parametrize(
    "text",
    ["/home/ada/book/x.py", "File /Users/ada/x.py", '"/tmp/ipykernel_12/3.py"', "C:\\Users\\ada"],
)
def test_an_absolute_path_in_an_output_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="of this machine"):
        normalise(notebook(code("x", [printed(text)])))


@pytest.mark.parametrize("text", ["https://example.org/home/ada", "a/tmp/b", "and/or", "1 / 2"])
def test_what_is_no_path_passes(text: str) -> None:
    normalised = normalise(notebook(code("x", [printed(text)])))
    assert text in str(normalised)


def test_an_error_is_refused_unless_it_is_meant() -> None:
    error = {"output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": ["no"]}
    with pytest.raises(Refused, match="ValueError: no"):
        normalise(notebook(code("x", [error])))
    normalise(notebook(code("x", [error], metadata={"tags": ["raises-exception"]})))


def test_widget_state_is_kept_under_stable_names() -> None:
    def with_widget(first: str, second: str) -> dict:
        view = {"application/vnd.jupyter.widget-view+json": {"model_id": first}, "text/plain": "w"}
        output = {"output_type": "display_data", "data": view, "metadata": {}}
        models = {second: {"n": 2}, first: {"children": [f"IPY_MODEL_{second}"]}}
        state = {WIDGET_STATE: {"state": models, "version_major": 2, "version_minor": 0}}
        return notebook(code("w", [output], id="w"), widgets=state)

    one = normalise(with_widget("a" * 32, "b" * 32))
    two = normalise(with_widget("e" * 32, "c" * 32))
    assert written(one) == written(two)
    state = one["metadata"]["widgets"][WIDGET_STATE]["state"]
    assert len(state) == 2 and normalise(one) == one


def test_the_books_widgets_carry_the_code_that_the_package_has_now() -> None:
    from transformer_book.widgets import GeometryExplorer

    name = f"{GeometryExplorer.__module__}.{GeometryExplorer.__name__}"
    old = {"_anywidget_id": name, "_esm": "old", "_css": "old", "query": [1, 2]}
    foreign = {"_anywidget_id": "elsewhere.Widget", "_esm": "theirs", "_css": "theirs"}
    models = {"a" * 32: {"state": old}, "b" * 32: {"state": foreign}, "c" * 32: {"state": {}}}
    state = {WIDGET_STATE: {"state": models, "version_major": 2, "version_minor": 0}}
    found = normalise(notebook(code("w"), widgets=state))["metadata"]["widgets"][WIDGET_STATE]
    states = {each["state"].get("_anywidget_id"): each["state"] for each in found["state"].values()}
    assert states[name]["_esm"] == GeometryExplorer._esm and states[name]["query"] == [1, 2]
    assert states[name]["_css"] == GeometryExplorer._css
    assert states["elsewhere.Widget"] == foreign


def test_check_names_the_file_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "07_x.ipynb"
    path.write_text(json.dumps(notebook(code("1"))), encoding="utf-8")
    before = path.read_bytes()
    checked = run_tool("normalise_notebooks.py", "--check", path)
    assert checked.returncode == 1 and path.name in checked.stderr
    assert path.read_bytes() == before
    assert run_tool("normalise_notebooks.py", path).returncode == 0
    assert run_tool("normalise_notebooks.py", "--check", path).returncode == 0


# --- execution ------------------------------------------------------------------------------------

WIDGET = """\
import ipywidgets
a, b = ipywidgets.IntSlider(1), ipywidgets.IntSlider(2)
link = ipywidgets.jslink((a, "value"), (b, "value"))
ipywidgets.VBox([a, b])"""
EXPLORER = """\
from transformer_book.widgets import GeometryExplorer
GeometryExplorer([1, 1], [[4, -1], [1, 1], [0, 1]], [[0, 0], [4, 0], [0, 2]])"""


def test_executing_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "07_x.ipynb"
    cells = [code("for i in range(3):\n    print(i, flush=True)"), code(WIDGET), code(EXPLORER)]
    cells += [code("6 * 7")]
    path.write_text(json.dumps(notebook(*cells)), encoding="utf-8")
    assert run_tool("setup_cell.py", "--write", path).returncode == 0
    first = run_tool("execute_chapters.py", path)
    assert first.returncode == 0, first.stderr
    text = path.read_text(encoding="utf-8")
    assert "42" in text and WIDGET_STATE in text
    second = run_tool("execute_chapters.py", path)
    assert "as before" in second.stdout and path.read_text(encoding="utf-8") == text
    assert run_tool("setup_cell.py", "--check", path).returncode == 0


def test_a_failing_chapter_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "07_x.ipynb"
    path.write_text(json.dumps(notebook(code("1 / 0"))), encoding="utf-8")
    before = path.read_bytes()
    failed = run_tool("execute_chapters.py", path)
    assert failed.returncode == 1 and "ZeroDivisionError" in failed.stderr
    assert path.read_bytes() == before


# --- the set-up cell ------------------------------------------------------------------------------


def run_setup(monkeypatch: pytest.MonkeyPatch, *, installed: bool, colab: bool) -> list:
    """Run the cell as IPython would; return the magics that it called."""
    found = object() if installed else None
    monkeypatch.setattr("importlib.util.find_spec", lambda name: found)
    if colab:
        monkeypatch.setitem(sys.modules, "google.colab", SimpleNamespace())
    called: list = []
    shell = SimpleNamespace(run_line_magic=lambda *arguments: called.append(arguments[:2]))
    cell = TransformerManager().transform_cell(setup_cell()["source"])
    exec(compile(cell, "setup", "exec"), {"get_ipython": lambda: shell})
    return called


def test_setup_does_nothing_where_the_package_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_setup(monkeypatch, installed=True, colab=False) == []
    assert run_setup(monkeypatch, installed=True, colab=True) == []


def test_setup_installs_on_colab_from_the_one_address(monkeypatch: pytest.MonkeyPatch) -> None:
    called = run_setup(monkeypatch, installed=False, colab=True)
    assert called == [("pip", f'install -q "transformer-book @ git+{repository_url()}"')]


def test_setup_says_elsewhere_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModuleNotFoundError, match="Install it with: python -m pip install"):
        run_setup(monkeypatch, installed=False, colab=False)


def test_setup_cell_is_first_and_alone() -> None:
    assert "{url}" in SOURCE and set(setup_cell()["metadata"]["tags"]) == {
        "remove-cell",
        "skip-execution",
        "nbval-skip",
    }
    text = {"cell_type": "markdown", "source": "# A", "metadata": {}, "id": "a"}
    once = with_setup_cell(notebook(text, code("1", id="b"), setup_cell()))
    assert [cell["id"] for cell in once["cells"]] == ["a", "setup", "b"]
    assert with_setup_cell(once) == once
    nbformat.validate(nbformat.from_dict(normalise(once)))


# --- the build ------------------------------------------------------------------------------------


def test_a_change_of_the_package_forgets_the_executed_results(tmp_path: Path) -> None:
    (tmp_path / "code").mkdir()
    module = tmp_path / "code" / "a.py"
    module.write_text("a = 1", encoding="utf-8")
    (tmp_path / "requirements.txt").write_text("torch==1", encoding="utf-8")
    before = digest(tmp_path, "code", "requirements.txt")
    (tmp_path / "code" / "__pycache__").mkdir()
    (tmp_path / "code" / "__pycache__" / "a.pyc").write_text("x", encoding="utf-8")
    assert digest(tmp_path, "code", "requirements.txt") == before
    module.write_text("a = 2", encoding="utf-8")
    after = digest(tmp_path, "code", "requirements.txt")
    assert after != before
    stamp, cache = tmp_path / "_build" / "stamp", tmp_path / "_build" / ".jupyter_cache"
    for key, kept in ((before, False), (before, True), (after, False), (after, True)):
        cache.mkdir(parents=True, exist_ok=True)
        forget_if_changed(stamp, key, cache)
        assert cache.exists() is kept


def test_the_configuration_without_execution_differs_in_that_alone(tmp_path: Path) -> None:
    import yaml

    derived = yaml.safe_load(derived_configuration(ROOT, tmp_path, "off").read_text("utf-8"))
    plain = configuration()
    assert derived["execute"].pop("execute_notebooks") == "off"
    assert plain["execute"].pop("execute_notebooks") == "cache"
    extensions = derived["sphinx"].pop("local_extensions")
    assert {n: str(ROOT / p) for n, p in plain["sphinx"].pop("local_extensions").items()} == (
        extensions
    )
    assert derived == plain
