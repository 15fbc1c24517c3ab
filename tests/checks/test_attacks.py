"""What others wrote from the docstrings alone: right is right, wrong is rejected, names stay.

`attacks` has their files, by round and author, and what is expected of each version: its status and
the names of the mistakes. After a change, `tools/judge_versions.py --record` writes that anew; look
at the difference before you commit it. The weekly workflow does it for all of them.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import judge_versions
import pytest

from tests.fresh import import_fresh

checks = import_fresh("transformer_book.checks")
FOLDER = Path(__file__).with_name("attacks")
EXPECTED: dict[str, list[list[str]]] = {
    name: rows
    for path in sorted(FOLDER.glob("round*.json"))
    for name, rows in json.loads(path.read_text(encoding="utf-8")).items()
}
VERSIONS = [
    (name, place, *version)
    for name in EXPECTED
    for place, version in enumerate(judge_versions.versions(FOLDER / name))
]

# Meant as wrong, and called right: the docstring left it open, and says now that it does not come.
CALLED_RIGHT = {
    ("round1_author1_wrong.py", "build_vocabulary_e"),
    ("round1_author1_wrong.py", "mha_l"),
    ("round1_author1_wrong.py", "top_k_probabilities_b"),
    ("round1_author2_wrong.py", "build_vocabulary_e"),
    ("round1_author2_wrong.py", "transformer_forward_a"),
    ("round1_author2_wrong.py", "top_k_probabilities_a"),
    ("round1_author3_wrong.py", "dropout_d"),
    ("round1_author3_wrong.py", "top_k_probabilities_a"),
    ("round2_author1_wrong.py", "beam_search_h"),
    ("round2_author2_wrong.py", "clip_gradients_c"),
    ("round2_author2_wrong.py", "training_update_d"),
    ("round2_author2_wrong.py", "beam_search_c"),
    ("round4_author2_wrong.py", "dropout_b"),
    ("round4_author2_wrong.py", "training_update_a"),
}
# A version of the first round, and of each later one every third: the others are tried every week.
TRIED = [
    version
    for version in VERSIONS
    if version[0].startswith("round1_") or version[1] % 3 == 0 or version[2] == "right"
]


def test_every_file_has_its_expectations() -> None:
    assert sorted(EXPECTED) == sorted(path.name for path in FOLDER.glob("*.py"))
    for name, rows in EXPECTED.items():
        assert len(rows) == sum(version[0] == name for version in VERSIONS)


@pytest.mark.parametrize(
    ("name", "place", "intended", "component", "why", "made"),
    TRIED,
    ids=[f"{version[0][:-3]}-{version[1]}" for version in TRIED],
)
def test_a_version_gets_the_verdict_that_is_expected(
    name: str, place: int, intended: str, component: str, why: str, made: Any
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what learners do may be warned of
        found = checks.engine.judge(
            checks.COMPONENTS[component], made, checks.MISTAKES, seconds=judge_versions.SECONDS
        )
    known, function, status, *names = EXPECTED[name][place]
    assert (known, function) == (component, judge_versions.name_of(made))
    assert [found.status, *(m.name for m in found.mistakes)] == [status, *names], why
    if intended == "right":
        assert status == "right", found.text()
    elif status == "right":
        assert (name, function) in CALLED_RIGHT, why
    else:
        assert status in ("wrong", "convention"), why
