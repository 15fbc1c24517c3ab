"""What others wrote from the docstrings alone: right is right, wrong is rejected, names stay.

`attacks` has their files, by round and author, and what is expected of each version: its status and
the names of the mistakes. Left out are versions that take more than a second and, from the second
round on, wrong ones for which an earlier one stands under the same name. After a change,
`tools/judge_versions.py --record` writes the expectations anew; look at the difference before you
commit it.
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

# Meant as wrong, and called right: component and function, by the reason.
CALLED_RIGHT = {
    "the docstring left it open, and says now that it does not come": {
        ("beam_search", "beam_search_c"),
        ("beam_search", "beam_search_h"),
        ("build_vocabulary", "build_vocabulary_e"),
        ("dropout", "dropout_b"),
        ("dropout", "dropout_d"),
        ("multi_head_attention", "mha_l"),
        ("top_k_probabilities", "top_k_probabilities_a"),
        ("top_k_probabilities", "top_k_probabilities_b"),
        ("training_update", "training_update_a"),
        ("training_update", "training_update_d"),
        ("transformer_forward", "transformer_forward_a"),
    },
    "the docstring left it open, and says now that it is no matter": {
        ("clip_gradients", "clip_gradients_c"),
    },
}


def test_every_file_has_its_expectations() -> None:
    assert sorted(EXPECTED) == sorted(path.name for path in FOLDER.glob("*.py"))
    for name, rows in EXPECTED.items():
        assert len(rows) == sum(version[0] == name for version in VERSIONS)


@pytest.mark.parametrize(
    ("name", "place", "intended", "component", "why", "made"),
    VERSIONS,
    ids=[f"{v[0][:-3]}-{v[1]}" for v in VERSIONS],
)
def test_a_version_gets_the_verdict_that_is_expected(
    name: str,
    place: int,
    intended: str,
    component: str,
    why: str,
    made: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # What is said where there is no name is looked at elsewhere, and takes time.
    monkeypatch.setattr(checks.diagnosis, "of_outcomes", lambda *given: ())
    monkeypatch.setattr(checks.diagnosis, "which_inputs", lambda *given: "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what learners do may be warned of
        found = checks.judging.judge(
            checks.COMPONENTS[component], made, checks.MISTAKES, seconds=judge_versions.SECONDS
        )
    known, function, status, *names = EXPECTED[name][place]
    assert (known, function) == (component, judge_versions.name_of(made))
    assert [found.status, *(m.name for m in found.mistakes)] == [status, *names], why
    if intended == "right":
        assert status == "right", found.text()
    elif status == "right":
        assert any((component, function) in listed for listed in CALLED_RIGHT.values()), why
    else:
        assert status in ("wrong", "convention"), why
