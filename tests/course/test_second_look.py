"""The second look: what crosses from a student's kernel is data, whatever the kernel sends."""

from __future__ import annotations

import ast
import base64
import json
import pickle
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
import torch
from nbgrader.utils import is_grade, is_locked, is_solution

from transformer_book import course
from transformer_book.checks.comparing import same
from transformer_book.course import second_look
from transformer_book.course.release import instantiate, sets_of
from transformer_book.course.second_look import Judge, NoData, Reply, decoded, encoded, received

ROOT = Path(__file__).parents[2]
COURSE = ROOT / "assignments"


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        0.1,
        float("inf"),
        "größe",
        [1, [2.5, "x"], ()],
        (torch.tensor([[1.5, -2.0]]), torch.tensor(True)),
        {"a": torch.arange(6).reshape(2, 3), (1, 2): [None]},
        torch.empty(0, 3),
        torch.tensor([1.0, 2.0], dtype=torch.bfloat16),
        torch.ones(2, 3).T,
    ],
)
def test_data_arrives_as_it_was(value: Any) -> None:
    arrived = decoded(json.loads(json.dumps(encoded(value))))
    assert same(arrived, value) and type(arrived) is type(value)
    if isinstance(value, torch.Tensor):
        assert arrived.dtype == value.dtype and arrived.shape == value.shape


def test_what_is_a_number_of_numpys_arrives_as_pythons() -> None:
    assert decoded(encoded(np.float64(0.5))) == 0.5
    assert torch.equal(decoded(encoded(np.arange(3))), torch.arange(3))


def test_what_is_no_data_is_not_sent() -> None:
    for value in (object(), lambda: 1, {object()}, [object()], torch.ones(2).to_sparse()):
        with pytest.raises(NoData):
            encoded(value)


def test_a_subclass_arrives_as_what_it_is_built_on() -> None:
    class Both(int):
        __hash__ = int.__hash__

        def __eq__(self, other: object) -> bool:
            return True

    class Chameleon(torch.Tensor):
        def item(self) -> float:
            return 42.0

    assert type(decoded(encoded(Both(3)))) is int
    arrived = decoded(encoded(torch.zeros(1).as_subclass(Chameleon)))
    assert type(arrived) is torch.Tensor and arrived.item() == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[",
        "[" * 100_000,
        "null",
        "[[1], [2], [3]]",
        '{"gives": {"tensor": "float32", "shape": [1000000000], "data": ""}}',
        '{"gives": {"tensor": "float32", "shape": [-1, -1], "data": "AAAAAA=="}}',
        '{"gives": {"tensor": "qint8", "shape": [], "data": ""}}',
        '{"gives": {"tensor": "float32", "shape": [1], "data": "no base64"}}',
        '{"gives": {"dict": [[{"list": []}, 1]]}}',
        '{"gives": {"dict": [[1]]}}',
        '{"gives": {"reduce": ["os.system", "true"]}}',
        '{"stops": "anything"}',
        '{"stops": 5}',
        '{"0": 1}',
    ],
)
def test_what_a_kernel_makes_up_is_no_answer(text: str) -> None:
    assert received(text).given == ()


def asked(names: dict[str, Any]) -> second_look.Ask:
    """Asks the functions of this process, in the place of a kernel."""

    def ask(made: str, inputs: Sequence[tuple[Any, Any]], build: bool) -> list[Reply]:
        sent = [base64.b64encode(pickle.dumps(each)).decode() for each in inputs]
        return [received(second_look.answer(eval(made, names), each, build)) for each in sent]

    return ask


def judged(function: Callable[..., Any], test: str) -> list[bool]:
    """What the judge finds, with a function in this process in the place of a kernel."""
    judge = Judge(asked({"double": function}))
    judge.run("from transformer_book import checks")
    return judge.test(test, ["double"])


TEST = """
assert double(1.0) == 2.0
checks.exercise(double, checks.case(2.0, gives=4.0), checks.case(3.0, gives=6.0))
raise_here = missing
checks.exercise(double, checks.case(5.0, accept=lambda answer, x: None if answer == 10 else "no"))
"""


def test_every_input_counts_by_itself_and_a_test_goes_on() -> None:
    assert judged(lambda x: 2 * x, TEST) == [True, True, True]
    assert judged(lambda x: x * x, TEST) == [True, False, False]
    assert judged(lambda x: object(), TEST) == [False, False, False]


def seen(name: str, draws: int = 0) -> dict[str, dict[str, Any]]:
    """By test of a set, what the second look sees of the reference solution."""
    notebook = nbformat.read(str(COURSE / "source" / name / f"{name}.ipynb"), 4)
    student: dict[str, Any] = {"__name__": "student"}
    judge = Judge(asked(student))
    found, names = {}, []
    for cell in notebook.cells:
        if cell.cell_type != "code" or "nbgrader" not in cell.metadata:
            continue
        source = instantiate(cell.source, "tuesday")
        if is_grade(cell) and not is_solution(cell):
            others = []
            right = judge.test(source, names)
            for draw in range(draws if "course.seed(" in cell.source else 0):
                other = instantiate(cell.source, "tuesday", f"draw {draw}")
                others.append(judge.test(other, names, True))
            found[cell.metadata.nbgrader.grade_id] = {"same": right, "other": others}
            continue
        exec(compile(source, name, "exec"), student)
        if is_solution(cell):
            kinds = (ast.FunctionDef, ast.ClassDef)
            names += [p.name for p in ast.parse(source).body if isinstance(p, kinds)]
        elif is_locked(cell):
            judge.run(source)
    return found


def test_the_teaching_guide_says_which_tests_are_looked_at_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(course, "begin", lambda *given, **named: None)  # it would block modules
    found = {name: seen(name, draws=1) for name in sets_of(COURSE)}
    every = {(name, test): look for name, tests in found.items() for test, look in tests.items()}
    once = {test for test, look in every.items() if not any(look["same"])}
    assert once == {
        ("ps4", "sandwich-test"),
        ("ps5", "pieces-test"),
        ("ps5", "loop-test"),
    }
    # What a test asks of other inputs, the reference gives as on its own.
    same = {test for test, look in every.items() if look["other"] == [look["same"]]}
    # Students give the inputs there; and numbers by pencil have none.
    pencil = {("ps1", "saved-test"), ("ps2", "heard-test")}
    pencil |= {("ps4", "counted-test"), ("ps8", "weight-test")}
    assert set(every) - once - same == {("ps2", "telling-test"), *pencil}
    page = " ".join((ROOT / "book" / "teaching.md").read_text(encoding="utf-8").split())
    total = sum(map(len, found.values()))
    assert f"Of the {total} tests of the eight sets {total - len(once)} are looked at twice" in page
    assert re.search(r"\*sandwich\* in ps4, \*pieces\* and \*loop\* in ps5", page)
