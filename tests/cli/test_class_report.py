"""`class-report`: what a class answered, counted; and files that are none of the page's."""

from __future__ import annotations

import json

import pytest

from tests.cli.small import refused

HEADS, ENTROPY, MASK = "09/ask-yourself/3", "21/ask-yourself/2", "08/predict/1"


def saved(folder, name, answers, **more):
    """A file as the page saves it."""
    path = folder / f"{name}.json"
    state = {"version": 1, "answers": answers, "read": {}, "last": None} | more
    path.write_text(json.dumps(state, indent=1), encoding="utf-8")
    return path


def test_it_counts_first_and_last_answers_and_names_the_frequent_mistake(call, tmp_path):
    paths = [
        saved(tmp_path, "a", {HEADS: [[1.0, 1, None], [2, 3, None]], ENTROPY: [[5, 1, "2"]]}),
        saved(tmp_path, "b", {HEADS: [[1, 3, None]], ENTROPY: [[5, 1, "2"]], MASK: [[6, 3, 0]]}),
        saved(tmp_path, "c", {ENTROPY: [[5, 1, "0.5"], [6, 3, "7/4"]], MASK: [[6, 1, 2]]}),
        saved(tmp_path, "d", {MASK: [], HEADS: [[3, 2, None]]}),
    ]
    answer = call("class-report", *paths)
    assert answer.status == 0 and answer.err == ""
    assert answer.out.splitlines() == [
        "4 readers, 3 questions answered.",
        "21/ask-yourself/2  0 of 3 right at first, 1 at last; frequent mistake: '2' (2)",
        "09/ask-yourself/3  1 of 3 right at first, 2 at last",
        "08/predict/1       1 of 2 right at first, 1 at last; frequent mistake: option C (1)",
    ]
    found = json.loads(call("class-report", "--json", *paths).out)
    assert list(found) == [ENTROPY, HEADS, MASK]
    assert found[ENTROPY] == {
        "answered": 3,
        "right at first": 0,
        "right at last": 1,
        "wrong at first": {"2": 2, "0.5": 1},
    }


def test_who_has_answered_nothing_is_counted(call, tmp_path):
    assert call("class-report", saved(tmp_path, "a", {})).out == "1 reader, 0 questions answered.\n"


@pytest.mark.parametrize(
    ("answers", "more", "says"),
    [
        ({"<b>": [[1, 1, 0]]}, {}, "is damaged at the answers to '<b>'."),
        ({HEADS: [[1, 4, 0]]}, {}, f"is damaged at the answers to '{HEADS}'"),
        ({HEADS: [[1, True, 0]]}, {}, "is damaged"),
        ({HEADS: [[1, 3, -1]]}, {}, "is damaged"),
        ({HEADS: [[1, 3, "x" * 41]]}, {}, "is damaged"),
        ({HEADS: [["1", 3, 0]]}, {}, "is damaged"),
        ({HEADS: [[1, 3]]}, {}, "is damaged"),
        ({HEADS: 3}, {}, "is damaged"),
        ([], {}, "is no file of a reader's progress"),
        ({}, {"version": 2}, "has the version 2, and this program reads 1."),
    ],
)
def test_a_damaged_file_is_refused(call, tmp_path, answers, more, says):
    good = saved(tmp_path, "good", {HEADS: [[1, 3, None]]})
    bad = saved(tmp_path, "bad", answers, **more)
    sentence = refused(call("class-report", good, bad))
    assert sentence.startswith(str(bad)) and says in sentence


@pytest.mark.parametrize("data", [b"", b"[1]", b'{"version": 1, "ans', b"\xff\xfe"])
def test_what_is_no_such_file_is_refused(call, tmp_path, data):
    (tmp_path / "bad.json").write_bytes(data)
    assert refused(call("class-report", "bad.json")).startswith("bad.json is no")


def test_a_missing_file_is_named(call):
    assert refused(call("class-report", "no.json")) == "no.json: No such file or directory."
