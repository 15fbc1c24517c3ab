"""`make check`: what it runs for a module or a changed file, and what it leaves to `make test`."""

from __future__ import annotations

from pathlib import Path

import check
import pytest
from common import ROOT

from tests.tools.running import run_tool


@pytest.mark.parametrize("name", check.modules())
def test_every_module_has_a_chapter_and_more_than_the_style(name: str) -> None:
    first, *others = check.plan([name])
    assert set(check.ALWAYS) <= set(first)
    assert any(file.startswith("chapters/") for file in first)
    assert all((ROOT / file).is_file() for file in first)
    assert len(others) == (
        name.startswith("widgets.") or name.count("checks.ideas.") == 1 < name.count(".") - 1
    )


@pytest.mark.parametrize(
    ("name", "files"),
    {
        "attention": [
            *check.PROOFS,
            "tests/test_using.py",
            "chapters/09_multi_head_attention.ipynb",
        ],
        "masks": [*check.PROOFS, "chapters/08_masks.ipynb"],
        "decoder_cache": ["tests/test_decoding.py", "chapters/17_decoding.ipynb"],
        "decoding": ["tests/test_decoding.py", "chapters/17_decoding.ipynb"],
        "support.threads": ["tests/test_threads.py"],
        "tasks.captions.german": ["tests/tasks/test_captions.py"],
        "course.grading": ["tests/course/test_grading.py"],
        "runs.distributed": ["tests/test_distributed.py"],
    }.items(),
)
def test_what_a_module_needs_is_run(name: str, files: list[str]) -> None:
    assert set(files) <= set(check.plan([name])[0])


@pytest.mark.parametrize("name", ["training", "tokens", "course.sandbox", "plots"])
def test_what_takes_minutes_is_run_for_what_it_is_named_after(name: str) -> None:
    (files,) = check.plan([name])
    assert not [file for file in files if Path(file).stem in check.LONG]
    assert not [file for file in files if file.startswith("tests/site")]
    assert set(check.PROOFS).isdisjoint(files)


def test_an_idea_needs_its_own_tests_of_checks() -> None:
    files, checks = check.plan(["checks.ideas.layers.layer_norm"])
    assert "chapters/10_residuals_and_layer_norm.ipynb" in files
    assert checks[0] == "tests/checks" and checks[-1] == "layer_norm"


def test_an_explorer_is_looked_for_on_its_page() -> None:
    pages, website = check.plan(["widgets.masks"])
    assert "chapters/08_masks.ipynb" in pages
    assert website[0] == "tests/site/test_widgets.py" and website[-1] == "MaskExplorer"


@pytest.mark.parametrize(
    ("path", "module"),
    [
        ("code/transformer_book/masks.py", "masks"),
        ("code/transformer_book/widgets/masks.js", "widgets.masks"),
        ("code/transformer_book/tasks/series/__init__.py", "tasks.series"),
        ("code/transformer_book/recipes/copy.toml", None),
        ("book/landing.md", None),
    ],
)
def test_a_file_belongs_to_its_module(path: str, module: str | None) -> None:
    assert check.module_of(path) == module


def test_changed_tests_and_chapters_are_run() -> None:
    changed = ["tests/test_tokens.py", "chapters/08_masks.ipynb", "tools/vendor.py", "README.md"]
    (files,) = check.plan([], changed)
    assert files == [*check.ALWAYS, *changed[:2], "tests/tools/test_tools.py"]


def test_a_list_runs_nothing_and_an_unknown_module_is_one_sentence() -> None:
    listed = run_tool("check.py", "--list", "masks")
    assert listed.returncode == 0 and "tests/test_mutants.py" in listed.stdout
    assert "passed" not in listed.stdout
    refused = run_tool("check.py", "atention")
    assert refused.returncode == 2 and refused.stderr.count("\n") == 1
    assert "did you mean 'attention'?" in refused.stderr
