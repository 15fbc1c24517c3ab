"""Notebooks are executed side by side; what fails is named and hides nothing else."""

from __future__ import annotations

import ast
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import build_site
import nbformat
import pytest
import yaml
from common import ROOT
from copied_kernels import copies
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from notebook_runner import FEW, ONE_THREAD, Executed, Failure, Progress, cost, execute, execute_all

from tests.tools.running import run_tool

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}


def book(path: Path, *cells: str, tags: tuple[str, ...] = ()) -> Path:
    made = [new_code_cell(cell, metadata={"tags": list(tags)}) for cell in cells]
    metadata = {**KERNEL, "language_info": {"name": "python"}}
    nbformat.write(new_notebook(cells=made, metadata=metadata), path)
    return path


def test_each_notebook_has_a_kernel_of_its_own_with_one_thread(tmp_path: Path) -> None:
    one = book(
        tmp_path / "01_a.ipynb", "import os", "x = 1", "print(os.environ['OMP_NUM_THREADS'])"
    )
    two = book(tmp_path / "02_b.ipynb", "'x' in globals()")
    found = {done.path: done for done in execute_all([one, two], jobs=2)}
    assert all(isinstance(done, Executed) for done in found.values())
    assert found[one].notebook.cells[2].outputs[0].text == ONE_THREAD["OMP_NUM_THREADS"] + "\n"
    assert found[two].notebook.cells[0].outputs[0].data["text/plain"] == "False"


def test_many_have_copied_kernels_of_their_own_and_fail_alike(tmp_path: Path) -> None:
    told = "import os, sys\nprint([os.getppid(), hasattr(sys, 'mark')])\nsys.mark = 1"
    cells = {"1_a": told, "2_b": told, "3_c": told, "4_d": "1 / 0", "5_e": "import os\nos._exit(3)"}
    paths = [book(tmp_path / f"{name}.ipynb", cell) for name, cell in cells.items()]
    assert len(paths) > FEW
    *answers, refused, ended = sorted(execute_all(paths, jobs=2), key=lambda done: done.path)
    assert refused.reason == "ZeroDivisionError: division by zero"
    assert ended.reason == "Kernel died"
    told = {done.notebook.cells[0].outputs[0].text for done in answers}
    (parent, marked), *others = [ast.literal_eval(line) for line in told]
    assert not others and not marked
    assert (parent != os.getpid()) == copies.POSSIBLE  # that of the process that is copied


def test_two_run_at_a_time(tmp_path: Path) -> None:
    """Each waits until the other is there: one after the other, neither would end."""
    met = "import pathlib, time\npathlib.Path({!r}).touch()\n"
    met += "while not pathlib.Path({!r}).exists():\n    time.sleep(0.05)"
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    paths = [
        book(tmp_path / "1.ipynb", met.format(a, b)),
        book(tmp_path / "2.ipynb", met.format(b, a)),
    ]
    assert all(isinstance(done, Executed) for done in execute_all(paths, jobs=2))


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import os\nos._exit(3)", "Kernel died"),
        ("while True:\n    pass", "stopped after 2 seconds of processor time"),
    ],
)
def test_a_failure_is_one_line_with_its_cell(tmp_path: Path, cell: str, reason: str) -> None:
    path = book(tmp_path / "07_x.ipynb", "x = 1", cell, "x = 2")
    found = execute(path, seconds=2.0)
    assert isinstance(found, Failure)
    assert str(found).startswith("07_x, cell 2 (") and reason in str(found)
    assert "\n" not in str(found)


def test_a_cell_that_sleeps_is_stopped_as_one_that_waits(tmp_path: Path) -> None:
    found = execute(book(tmp_path / "07_x.ipynb", "import time\ntime.sleep(1e6)"), asleep=2.0)
    assert isinstance(found, Failure) and "it waited, asleep, for 2 seconds" in found.reason


def test_the_long_ones_come_first(tmp_path: Path) -> None:
    def said(run: str) -> Path:
        path = tmp_path / f"{len(run)}.ipynb"
        text = f"**Time:** 20 minutes for the core, 70 for all of it; {run} to run."
        nbformat.write(new_notebook(cells=[new_markdown_cell(text)]), path)
        return path

    costs = [
        cost(said(run)) for run in ("two minutes", "a minute", "under a minute", "half a minute")
    ]
    assert costs == sorted(costs, reverse=True) and len(set(costs)) == 4
    chapters = {path.stem[:2]: cost(path) for path in sorted((ROOT / "chapters").glob("*.ipynb"))}
    assert max(chapters, key=chapters.get) == "16"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_tells_what_runs_what_is_done_and_what_is_left() -> None:
    out = io.StringIO()
    progress = Progress(["a", "b", "c"], out)
    progress.at("a")
    progress.at("b", "(cell 2 of 9)")
    progress.end("a", "3 s")
    assert out.getvalue() == "[1/3] a: 3 s; running: b; left: 1\n"

    out = Terminal()
    progress = Progress(["a", "b", "c"], out)
    progress.at("b", "(cell 2 of 9)")
    assert "[0/3] running: b (cell 2 of 9); left: 2" in out.getvalue()
    progress.end("b", "FAILED")
    assert out.getvalue().endswith("[1/3] b: FAILED; left: 2\n")


# --- the build ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small_book(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, subprocess.CompletedProcess]:
    """A book of one page and three chapters, one of which fails; built as `make book` does it."""
    root = tmp_path_factory.mktemp("book")
    for name in ("book/assets", "code", "chapters"):
        (root / name).mkdir(parents=True)
    (root / "book" / "landing.md").write_text("# A book\n", encoding="utf-8")
    (root / "requirements.txt").write_text("", encoding="utf-8")
    head = "# {}. A chapter"
    for number, cell in ((1, "print('one', 1 + 1)"), (2, "1 / 0"), (3, "print('three', 1 + 2)")):
        cells = [new_markdown_cell(head.format(number)), new_code_cell(cell)]
        metadata = {**KERNEL, "language_info": {"name": "python"}}
        path = root / "chapters" / f"0{number}_x.ipynb"
        nbformat.write(new_notebook(cells=cells, metadata=metadata), path)
    files = [{"file": f"chapters/0{number}_x"} for number in (1, 2, 3)]
    toc = {
        "format": "jb-book",
        "root": "book/landing",
        "parts": [{"caption": "A", "chapters": files}],
    }
    (root / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    config = {
        "title": "A book",
        "only_build_toc_files": True,
        "execute": {"execute_notebooks": "cache"},
        "sphinx": {
            "local_extensions": {},
            "config": {"nb_execution_raise_on_error": True, "html_static_path": ["book/assets"]},
        },
    }
    (root / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    command = [sys.executable, str(ROOT / "tools" / "build_site.py"), "--execute", "cache"]
    return root, subprocess.run(
        [*command, "--root", str(root)], capture_output=True, text=True, check=False
    )


def test_one_failing_chapter_does_not_hide_the_others(small_book) -> None:
    root, done = small_book
    assert done.returncode == 1, done.stdout + done.stderr
    last = done.stderr.strip().splitlines()[-2:]
    assert last[0].startswith("1 of the notebooks failed")
    assert "02_x, cell 2 (" in last[1] and last[1].endswith("ZeroDivisionError: division by zero")
    for number, text in ((1, "one 2"), (3, "three 3")):
        page = (root / "_build" / "html" / "chapters" / f"0{number}_x.html").read_text("utf-8")
        assert text in page
    assert (root / "_build" / "html" / "chapters" / "02_x.html").exists()
    assert "make site" in done.stdout.splitlines()[1]  # said at its start


def test_what_is_cached_is_not_executed_again(small_book) -> None:
    root, _ = small_book
    cache = root / "_build" / ".jupyter_cache"
    paths = sorted((root / "chapters").glob("*.ipynb"))
    failed = build_site.fill_cache(cache, paths, jobs=1)
    assert [each.path.stem for each in failed] == ["02_x"]
    kept = json.loads(paths[0].read_text(encoding="utf-8"))
    assert kept["cells"][1]["outputs"] == []  # the chapters' own files are left alone


def test_an_asset_is_renewed_although_no_page_has_changed(small_book) -> None:
    root, _ = small_book
    source = root / "book" / "assets" / "site.css"
    copied = root / "_build" / "html" / "_static" / "site.css"
    for text in ("p { color: black }", "p { color: blue }", "p { color: black }"):
        source.write_text(text, encoding="utf-8")
        build_site.build_site(root, quiet=True)
        assert copied.read_text(encoding="utf-8") == text


def test_a_script_says_which_notebook_failed(tmp_path: Path) -> None:
    good, bad = book(tmp_path / "01_a.ipynb", "1"), book(tmp_path / "02_b.ipynb", "1 / 0")
    done = run_tool("execute_chapters.py", good, bad, "--jobs", "1")
    assert done.returncode == 1
    assert "01_a.ipynb" in done.stdout and "02_b, cell 1" in done.stderr.splitlines()[-1]
