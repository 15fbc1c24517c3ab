"""The tool that proves the book under load finds what is false, and leaves nothing running."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import psutil
import pytest
import under_load
from nbformat.v4 import new_code_cell, new_notebook, writes

from tests.checks import corpus
from tests.tools.running import run_tool


def notebook(path: Path, cell: str) -> Path:
    kernel = {"name": "python3", "display_name": "Python 3"}
    cells = [new_code_cell(cell)]
    path.write_text(writes(new_notebook(cells=cells, metadata={"kernelspec": kernel})), "utf-8")
    return path


def test_the_busy_processes_run_and_end_with_the_block() -> None:
    def children() -> set[psutil.Process]:
        return set(psutil.Process().children())

    before = children()
    with under_load.busy(2):
        started = children() - before
        assert len(started) == 2 and all(process.is_running() for process in started)
    assert not any(process.is_running() for process in started)


def test_a_chapter_that_fails_is_a_false_verdict(tmp_path: Path) -> None:
    paths = [notebook(tmp_path / "01_a.ipynb", "1"), notebook(tmp_path / "02_b.ipynb", "1 / 0")]
    done = run_tool("under_load.py", "--only", "book", "--busy", "1", "--chapters", *paths)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FALSE (quiet): 02_b, cell 1" in done.stdout
    assert "FALSE (busy): 02_b, cell 1" in done.stdout
    last = done.stdout.strip().splitlines()[-1]
    assert last.startswith("Beside 1 busy") and last.endswith("2 chapters; false verdicts: 1")


def test_a_right_version_that_is_rejected_is_a_false_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = next(each for each in corpus.right_versions() if each.component == "softmax")
    wrong = replace(right, label="wrong", made=lambda scores: scores)
    monkeypatch.setattr(corpus, "right_versions", lambda: [right, wrong])
    # Of the functions whose verdict is known, those that are quick; and one that is told wrongly.
    quick = {under_load.without_end: "It calls itself too often", under_load.endless: None}
    monkeypatch.setattr(under_load, "HONEST", quick)
    found = under_load.Found()
    under_load.judge_all(found)
    assert found.counted == {"right versions": 2, "slow and endless ones": 2}
    assert len(found.false) == 2
    assert found.false[0].startswith("softmax, wrong: ")
    assert found.false[1].startswith("endless: An endless loop")
    text = under_load.report(found, None, 4)
    assert text.endswith("false verdicts: 2") and text.count("FALSE (busy): ") == 2


def test_the_report_says_how_much_slower_it_was() -> None:
    quiet = under_load.Found(seconds={"the book": 20.0})
    loaded = under_load.Found(seconds={"the book": 50.0}, counted={"chapters": 23})
    row = under_load.report(loaded, quiet, 4).splitlines()[1].split()
    assert row == ["the", "book", "20", "s", "50", "s", "2.5"]


def test_a_notebook_that_is_not_there_is_named() -> None:
    done = run_tool("under_load.py", "--chapters", "no.ipynb")
    assert done.returncode == 2 and "no such notebook: no.ipynb" in done.stderr
