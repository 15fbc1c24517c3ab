"""From sources to releases: secrets put in, solutions and hidden tests taken out."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import nbformat
import pytest

from tests.course.small import make_course
from tests.damage import replaced_once
from transformer_book import checks, course
from transformer_book.checks import report
from transformer_book.course.grading import Course
from transformer_book.course.release import instantiate, read_secret, release, sets_of, solve


def test_seeds_and_choices_depend_on_the_name_and_the_secret() -> None:
    assert course.seed("a") == course.seed("a") != course.seed("b")
    assert course.seed("a", "mine") != course.seed("a", "yours")
    assert 0 <= course.seed("a", "mine") < 2**31
    chosen = {course.choice("a", (1, 2, 3), secret=f"{i}") for i in range(50)}
    assert chosen == {1, 2, 3}
    with pytest.raises(ValueError, match="no options"):
        course.choice("a", ())


def test_calls_are_replaced_by_their_results_wherever_they_stand() -> None:
    source = 'größe = course.seed("a") + f(course.choice("b", (1.5, 2.5)))\ncourse.begin("ps1")'
    seed, option = course.seed("a", "s"), course.choice("b", (1.5, 2.5), "s")
    assert instantiate(source, "s") == f'größe = {seed} + f({option})\ncourse.begin("ps1")'
    assert instantiate("x = 1", "s") == "x = 1"
    with pytest.raises(ValueError, match="write its arguments out"):
        instantiate("course.seed(name)", "s")


def test_the_secret_is_made_once_and_never_empty(tmp_path: Path) -> None:
    first = read_secret(tmp_path)
    assert len(first) == 32 and read_secret(tmp_path) == first
    (tmp_path / "secret.txt").write_text(" \n")
    with pytest.raises(ValueError, match=r"secret\.txt is empty"):
        read_secret(tmp_path)


def test_students_get_neither_solutions_nor_hidden_tests_nor_the_secret(tmp_path: Path) -> None:
    folder = make_course(tmp_path)
    (path,) = release(folder)
    text = path.read_text(encoding="utf-8")
    assert "return 2 * x" not in text and "HIDDEN" not in text and "course.seed" not in text
    assert read_secret(folder) not in text
    assert text.count("raise NotImplementedError()") == 2
    released = nbformat.read(str(path), 4)
    test = next(cell for cell in released.cells if "double-test" in str(cell.metadata))
    assert "gives=4.0" in test.source and "n = " not in test.source


def test_solutions_are_written_with_the_secret_and_without_hidden_tests(tmp_path: Path) -> None:
    folder = make_course(tmp_path)
    text = solve(folder, "ps9").read_text(encoding="utf-8")
    assert "return 2 * x" in text and "SOLUTION" not in text
    assert "HIDDEN" not in text and "course.seed" not in text and "gives=4.0" in text
    with pytest.raises(ValueError, match="did you mean 'ps9'"):
        solve(folder, "ps8")


def test_two_secrets_give_two_sets(tmp_path: Path) -> None:
    texts = []
    for secret in ("one", "two"):
        folder = make_course(tmp_path / secret)
        (folder / "secret.txt").write_text(secret)
        release(folder)
        texts.append(Course(folder)._full_sources("ps9")["double-test"])
    assert texts[0] != texts[1]


def test_what_is_no_course_or_no_set_is_said_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no folder source/"):
        sets_of(tmp_path)
    folder = make_course(tmp_path)
    with pytest.raises(ValueError, match="did you mean 'ps9'"):
        release(folder, ["ps8"])
    broken = nbformat.read(str(folder / "source/ps9/ps9.ipynb"), 4)
    broken.cells[2].source = replaced_once(broken.cells[2].source, "### END SOLUTION", "")
    nbformat.write(broken, str(folder / "source/ps9/ps9.ipynb"))
    with pytest.raises(ValueError, match=r"ps9 cannot be released: .*no end solution"):
        release(folder)


def test_what_a_convention_is_worth_is_the_sets_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    def larger_first(x):
        return x.unflatten(-1, (-1, 2)).sort(dim=-1, descending=True).values.flatten(-2)

    for name in ("STRICT", "NO_CONVENTIONS"):
        monkeypatch.setattr(report, name, set())
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    course.begin("ps9")
    checks.group_sort(larger_first)
    course.begin("ps9", conventions=False)
    with pytest.raises(checks.CheckFailed, match="the larger number comes first"):
        checks.group_sort(larger_first)
    course.begin("ps9")
    checks.group_sort(larger_first)


def test_what_can_be_blocked_exists() -> None:
    """A module that took another name would no longer be kept from a set."""
    for name in course.BLOCKABLE:
        assert importlib.util.find_spec(f"transformer_book.{name}"), name


def test_blocked_modules_cannot_be_imported_and_others_can() -> None:
    before = dict(sys.modules), list(sys.meta_path)
    try:
        course.begin("ps2", blocks=["attention"])
        with pytest.raises(ImportError, match="ps2 asks you to write this yourself"):
            importlib.import_module("transformer_book.attention")
        with pytest.raises(ImportError, match="ps2 asks you to write this yourself"):
            importlib.import_module("transformer_book.encoder")
        importlib.import_module("transformer_book.masks")
        with pytest.raises(ValueError, match="a module that can be blocked"):
            course.begin("ps2", blocks=["checks"])
    finally:
        sys.modules.clear()
        sys.modules.update(before[0])
        sys.meta_path[:] = before[1]
        report.STRICT.clear()
