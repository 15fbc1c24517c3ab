"""A pull request shows what changed in a chapter as text."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from chapter_changes import changes
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.tools.running import run_tool


@pytest.fixture
def repository(tmp_path: Path):
    """A function that commits a notebook with these cells, in a repository of its own."""

    def git(*arguments: str) -> None:
        who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *who, *arguments], cwd=tmp_path, check=True, capture_output=True)

    def commit(name: str, prose: str, code: str, output: str) -> Path:
        shown = new_code_cell(code, id="b", outputs=[new_output("stream", text=output)])
        notebook = new_notebook(cells=[new_markdown_cell(prose, id="a"), shown])
        (tmp_path / name).write_text(json.dumps(notebook), encoding="utf-8")
        git("add", ".")
        git("commit", "-m", name, "--allow-empty")
        return tmp_path

    git("init", "-b", "main")
    return commit


def test_prose_and_code_are_shown_and_outputs_are_not(repository) -> None:
    repository("a.ipynb", "One `idea`.", "x = 1\nx", "1")
    root = repository("a.ipynb", "Another idea.", "x = 2\nx", "2")
    text = changes("HEAD~1", "HEAD", root)
    assert "\n-One `idea`.\n+Another idea.\n" in text
    assert "\n-x = 1\n+x = 2\n" in text
    assert '"2"' not in text and "stream" not in text


def test_only_what_changed_and_new_chapters_as_a_whole(repository) -> None:
    repository("a.ipynb", "One.", "x = 1", "1")
    repository("b.ipynb", "Two.", "y = 2", "2")
    root = repository("a.ipynb", "One.", "x = 1", "another output")
    text = changes("HEAD~2", "HEAD", root)
    assert "## a.ipynb\n\nOnly outputs or metadata." in text
    assert "+Two." in text and "+y = 2" in text
    assert changes("HEAD", "HEAD", root) == "No chapter changed.\n"


def test_what_is_no_commit_is_one_sentence() -> None:
    done = run_tool("chapter_changes.py", "no-such-commit")
    assert done.returncode == 2
    assert done.stderr.startswith("chapter_changes: ") and done.stderr.count("\n") == 1
