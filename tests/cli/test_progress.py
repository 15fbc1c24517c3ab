"""`progress`: what checks keep of a learner who asks for it, whole after every trouble."""

from __future__ import annotations

import json
import threading
from contextlib import nullcontext
from pathlib import Path

import pytest
from questions import bank, exercises

from tests.cli.small import python, refused
from transformer_book.support.progress import EXERCISES, VARIABLE, answers_in


@pytest.fixture
def file(book, tmp_path, monkeypatch) -> Path:
    """Where this learner's progress would be kept; nothing is there yet."""
    path = tmp_path / "mine" / "progress.json"
    monkeypatch.setenv(VARIABLE, str(path))
    book.progress.say.cache_clear()
    return path


def my_softmax(scores):
    return scores.softmax(dim=-1)


def my_split(x, n_heads):  # as chapter 9 asks for it
    return x


solution_softmax = type(my_softmax)(my_softmax.__code__, {}, "solution_softmax")


def ends(path: Path) -> dict[str, list[int]]:
    """The grades that a file keeps, by check."""
    return {name: [grade for _, grade, _ in log] for name, log in answers_in(path).items()}


def test_nothing_is_kept_unless_it_is_asked_for(book, call, file) -> None:
    book.checks.softmax(my_softmax)
    assert not file.parent.exists()
    assert call("progress").out == (
        "Nothing is kept. To begin: transformer-book progress --keep.\n"
    )
    assert not file.parent.exists()


def test_it_shows_what_was_passed_by_chapter_and_ends_when_asked(book, call, file) -> None:
    assert str(file) in call("progress", "--keep").out
    assert call("progress").out.endswith("no check yet.\n")
    book.checks.softmax(solution_softmax)  # the book's own
    book.checks.softmax(my_softmax)
    book.checks.softmax(my_softmax)  # an end that is the same is kept once
    for gives in (4, 3, 4):
        with nullcontext() if gives == 3 else pytest.raises(book.checks.CheckFailed):
            book.checks.exercise(my_split, book.checks.case(3, 2, gives=gives))
    assert ends(file) == {"07/check-softmax/1": [3], "09/check-split/1": [1, 3, 1]}
    assert book.checks.keep_progress() == file  # asked again, nothing is lost
    assert call("progress").out.splitlines()[1:] == ["07  softmax", "09  not yet: split"]
    found = call("class-report", file).out
    assert "07/check-softmax/1  1 of 1 right at first, 1 at last" in found
    assert call("progress", "--delete").out == f"{file} is deleted.\n"
    book.checks.softmax(my_softmax)
    assert list(file.parent.iterdir()) == []
    assert call("progress", "--delete").out == "There is nothing to delete.\n"
    assert "exclude each other" in refused(call("progress", "--keep", "--delete"))


def test_a_grader_keeps_nothing(book, file, monkeypatch) -> None:
    book.progress.keep()
    monkeypatch.setattr(book.checks.report, "STRICT", {"ps1"})
    book.checks.softmax(my_softmax)
    assert ends(file) == {}


@pytest.mark.parametrize("text", ["", '{"version": 1, "answers"', '{"version": 2, "answers": {}}'])
def test_a_damaged_file_is_said_once_and_stays(book, call, file, capsys, text: str) -> None:
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    book.checks.softmax(my_softmax)
    book.checks.softmax(my_softmax)
    said = capsys.readouterr().out
    assert said.count("Your progress is not kept:") == 1 and said.count("Right (softmax)") == 2
    for arguments in ((), ("--keep",)):
        assert refused(call("progress", *arguments)).startswith(str(file))
    assert file.read_text(encoding="utf-8") == text
    assert call("progress", "--delete").status == 0


def test_where_nothing_can_be_written_a_sentence_says_so(
    book, call, file, capsys, monkeypatch
) -> None:
    file.parent.write_text("no folder", encoding="utf-8")
    assert refused(call("progress", "--keep")).startswith(str(file.parent))
    file.parent.unlink()
    book.progress.keep()
    before = file.read_bytes()

    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device", str(file))

    monkeypatch.setattr(book.progress, "write_json", full)
    capsys.readouterr()
    book.checks.softmax(my_softmax)
    said = capsys.readouterr().out
    assert "not kept: [Errno 28] No space left on device" in said and "Right (softmax)" in said
    assert file.read_bytes() == before


def test_another_program_is_waited_for_and_told_of(book, file, capsys, monkeypatch) -> None:
    book.progress.keep()
    monkeypatch.setattr(book.progress, "WAIT", 0.05)
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with book.progress.alone(file):
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    book.checks.softmax(my_softmax)
    done.set()
    thread.join()
    assert f"{file} is held by another program" in capsys.readouterr().out
    assert ends(file) == {}


def test_two_kernels_at_once_lose_nothing(book, file) -> None:
    book.progress.keep()
    code = (
        "import sys; from transformer_book.support import progress\n"
        "for i in range(20): progress.add(f'07/check-{sys.argv[1]}{i}/1', True)"
    )
    threads = [threading.Thread(target=python, args=(code, name)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ends(file)) == 40


def test_the_table_of_exercises_is_that_of_the_notebooks() -> None:
    known = json.loads(EXERCISES.read_text(encoding="utf-8"))
    assert known == exercises()  # tools/questions.py --exercises writes it
    forms = [form for each in known.values() for form in each]
    assert len(set(forms)) == len(forms), "two exercises cannot be told apart"
    assert not any("/check-" in question.id for question in bank())
