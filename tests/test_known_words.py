"""Which words training has met: counted in its texts, kept whole, and told from all others."""

from __future__ import annotations

import json
import re

import pytest

from tests.faults import Killed, fault_in
from transformer_book.known_words import LEAST, KnownWords, words

TEXTS = ["Ein Hund und ein Hund.", "Ein Hund, zwei Hunde", "Ein U-Boot", "Boote, U-Boot, U-Boot"]


def known(*source: str, target: str = "", **options: object) -> KnownWords:
    return KnownWords(frozenset(source), frozenset(target.split()), **options)


def test_a_word_is_a_run_of_letters_and_digits_and_nothing_else():
    text = "„Zwei U-Bahnen“, 3km/h; foo_bar … don't (日本)! __ 🦊"
    found = ["Zwei", "U", "Bahnen", "3km", "h", "foo", "bar", "don", "t", "日本"]
    assert words(text) == found
    assert words("Zu\u0308g Ha\u00adus\ufeff") == ["Züg", "Haus"]  # as every text is read
    assert words("") == words("?! _") == []


def test_words_are_known_from_the_third_time_on():
    assert LEAST == 3
    found = KnownWords.build(TEXTS, ["a a b", "a b c"])
    assert found.source == {"Ein", "Hund", "U", "Boot"} and found.target == {"a"}
    assert not found.lowercase
    twice = KnownWords.build(TEXTS, [], least=2)
    assert (twice.source, twice.target) == (found.source, frozenset())
    lower = KnownWords.build(TEXTS, ["A a B"], lowercase=True, least=2)
    assert lower.source == {"ein", "hund", "u", "boot"} and lower.target == {"a"}


def test_rare_words_are_named_once_as_they_are_written():
    one = known("ein", "Hund", "Züg")
    text = "ein Hund, Ein HUND - ein Zu\u0308g: Kiwi_Kiwi?"
    assert one.rare(text) == ("Ein", "HUND", "Kiwi")
    assert known("ein", "hund", "züg", lowercase=True).rare(text) == ("Kiwi",)
    assert one.rare("") == one.rare("…") == ()


def test_words_of_the_references_are_looked_for_in_the_translations():
    one = known("x", target="a b")
    rare, others = one.found(["a c B", "", "d d a"], ["a b c c", "b", "d d d a x"])
    assert rare == [True, False, True, True, False, False]  # c, c; d, d, d, x
    assert others == [True, False, False, True]  # a, b; b; a
    rare, others = known(target="a b", lowercase=True).found(["A C B"], ["a b c C"])
    assert (rare, others) == ([True, False], [True, True])
    with pytest.raises(ValueError):
        one.found(["a"], ["a", "b"])


@pytest.mark.parametrize("lowercase", [False, True])
def test_everything_comes_back(tmp_path, lowercase):
    one = KnownWords.build(TEXTS, ["a", "ß ß"], lowercase=lowercase, least=2)
    one.save(tmp_path / "words")
    assert KnownWords.load(tmp_path / "words") == one
    first = (tmp_path / "words").read_bytes()
    KnownWords.load(tmp_path / "words").save(tmp_path / "words")  # in one order, always
    assert (tmp_path / "words").read_bytes() == first


def test_a_fault_while_saving_leaves_the_file_whole(tmp_path):
    known("a").save(tmp_path / "words")
    for step in range(1, 20):
        with fault_in("killed", step) as fault:
            try:
                known("b").save(tmp_path / "words")
            except Killed:
                assert fault.happened
        assert KnownWords.load(tmp_path / "words") in (known("a"), known("b"))
        if not fault.happened:
            return
    pytest.fail("It never passed.")


WHOLE = {"source": ["a"], "target": ["b"], "lowercase": False, "least": 3}


@pytest.mark.parametrize(
    "damage",
    [
        {"source": ...},
        {"target": "b"},
        {"source": [3]},
        {"lowercase": "no"},
        {"least": "3"},
        {"least": None},
    ],
    ids=str,
)
def test_a_file_that_holds_something_else_is_named(tmp_path, damage):
    path = tmp_path / "words"
    changed = {**WHOLE, **damage}
    path.write_text(json.dumps({k: v for k, v in changed.items() if v is not ...}))
    with pytest.raises(ValueError, match=re.escape(f"{path} does not hold words")):
        KnownWords.load(path)


@pytest.mark.parametrize("content", ["", "{", "[]", "3", '"a"', "null"])
def test_a_file_of_another_kind_is_named(tmp_path, content):
    path = tmp_path / "words"
    path.write_text(content)
    with pytest.raises(ValueError, match=re.escape(str(path))):
        KnownWords.load(path)
