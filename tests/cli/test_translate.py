"""`translate`: one line for each line, whatever it holds and however it arrives."""

from __future__ import annotations

import io
import shutil
from types import SimpleNamespace

from tests.cli.small import SMALL, refused, settings


def test_one_line_of_output_for_each_line(call, model):
    one = call("translate", model, "a b").out
    assert one.count("\n") == 1
    answer = call("translate", model, stdin=b"a b\n\n  \t\na b\r\na b")
    assert answer == (0, f"{one}\n\n{one}{one}", "")
    assert call("translate", model, "a b", "", "a b").out == f"{one}\n{one}"
    assert call("translate", model, stdin=b"") == (0, "", "")
    assert call("translate", model, stdin=b"\n") == (0, "\n", "")
    assert call("translate", model, stdin=b"\xef\xbb\xbfa b\n") == (0, one, "")  # a byte order mark


def test_a_line_that_cannot_be_read_is_named_and_the_others_are_translated(call, model):
    one = call("translate", model, "a b").out
    answer = call("translate", model, stdin=b"a b\na b c d e f g a b\na b\n")
    assert (answer.status, answer.out) == (2, f"{one}\n{one}")
    assert answer.err == (
        "transformer-book: Line 2: The text has 10 tokens, special tokens included, but this model "
        "reads at most 8; translate it sentence by sentence.\n"
    )
    answer = call("translate", model, "a b c d e f g a b", "a b")
    assert (answer.status, answer.out) == (2, f"\n{one}")
    assert answer.err.startswith("transformer-book: Text 1: The text has 10 tokens")


def test_invalid_utf8_is_named_and_the_lines_before_it_are_translated(call, model):
    one = call("translate", model, "a b").out
    answer = call("translate", model, stdin=b"a b\na b\na \xff\na b\n")
    assert (answer.status, answer.out) == (2, one + one)
    assert answer.err == "transformer-book: Line 3: This is not valid UTF-8.\n"
    answer = call("translate", model, "a b", "a \udcff")
    assert (answer.status, answer.out) == (2, one)
    assert answer.err == "transformer-book: Text 2: This is not valid UTF-8.\n"


def test_unknown_words_are_translated_and_named_once(call, model):
    odd = "a 🦊 \x07 \ue000 zebra"
    answer = call("translate", model, stdin=f"{odd}\na b\n{odd}\n".encode())
    assert answer.status == 0 and answer.out.count("\n") == 3
    assert answer.err == "transformer-book: The model has never seen: 🦊, '\\ue000', zebra.\n"
    lines = "".join(f"w{i} x{i} y{i} z{i}\n" for i in range(5))
    answer = call("translate", model, stdin=lines.encode())
    assert answer.err.endswith("w2, x2 and 10 more.\n")


def test_odd_lines_give_one_line_each(call, model):
    lines = [
        "\x00",
        "\x1b[31m",
        "a\u2028b",
        "a\x0bb",
        "a\x85b",
        "\u200b",
        "é" * 50,
        "a\tb",
        "<eos>",
    ]
    answer = call("translate", model, stdin="\n".join(lines).encode())
    assert answer.out.count("\n") == len(lines)
    assert answer.status == 0


def test_odd_captions(call, captions):
    odd = ["Ein Hund 🐕 schläft.", "\x00\x07", "Zoë", "Ein\u2028Hund", "(((", "schläft" * 36]
    long = "Ein " * 80
    answer = call("translate", captions, stdin="\n".join([*odd, long, "Ein Hund."]).encode())
    assert answer.status == 2
    lines = answer.out.split("\n")
    assert len(lines) == len(odd) + 3 and lines[len(odd)] == lines[-1] == ""
    sentences = answer.err.splitlines()
    assert sentences[0].startswith("transformer-book: Line 7: The text has 81 tokens")
    assert sentences[1].startswith("transformer-book: The model has never seen: ")
    assert "🐕" in sentences[1] and "Zoë" in sentences[1] and len(sentences) == 2
    assert len(sentences[1]) < 200


def test_odd_sentences_for_a_model_of_subwords(call):
    """A sentence in another language, emoji only, nothing, and 504 words."""
    long = "Ein Hund läuft über die Wiese und " * 72
    lines = ["The dog sleeps on the sofa.", "🐶🐶🐶", "", long, "Ein Hund schläft."]
    answer = call("translate", "multi30k-de-en", "--beam-size", 1, stdin="\n".join(lines).encode())
    assert answer.status == 2
    english = answer.out.split("\n")
    assert english[2:4] == ["", ""] and "dog" in english[4]
    assert english[0] and english[1]  # it has no way to say that it does not know
    refused, *warnings = answer.err.splitlines()
    assert refused.startswith("transformer-book: Line 4: The text has 505 tokens")
    assert len(warnings) <= 1 and "Traceback" not in answer.err


def test_several_translations(call, model):
    answer = call("translate", model, "--n-best", 3, "a b", "", "c d")
    rows = [line.split("\t") for line in answer.out.splitlines()]
    assert [row[0] for row in rows] == ["1", "1", "1", "2", "3", "3", "3"]
    scores = [float(row[1]) for row in rows[:3]]
    assert scores == sorted(scores, reverse=True)
    assert len({row[2] for row in rows[:3]}) == 3
    assert rows[3] == ["2", "", ""]


def test_probabilities(call, model):
    text, tokens = call("translate", model, "--probabilities", "a b").out.rstrip("\n").split("\t")
    pairs = [piece.split() for piece in tokens.split("  ")]
    assert [token for token, _ in pairs if token != "<eos>"] == text.split()
    assert all(0 <= float(p) <= 1 for _, p in pairs)


RARE = "Ein Eisvogel sieht ein Haus und ein Eisvogel."  # no word of the grammar


def test_rare_words_are_marked_behind_the_translation(call, subwords):
    lines = [RARE, "", "Ein Hund."]
    plain = call("translate", subwords, *lines).out.split("\n")
    marked = call("translate", subwords, "--mark-rare", *lines)
    first, empty, last, end = marked.out.split("\n")
    text, words = first.split("\t")
    assert text == plain[0] and words.split(" ")[0] == "Eisvogel"
    assert words.split(" ").count("Eisvogel") == 1 and "Ein" not in words.split(" ")
    assert (empty, last, end) == ("", f"{plain[2]}\t", "")
    assert marked.status == 0


def test_rare_words_stand_behind_all_else(call, subwords):
    options = ("--n-best", 2, "--probabilities", "--mark-rare")
    rows = [r.split("\t") for r in call("translate", subwords, *options, RARE).out.splitlines()]
    assert [row[0] for row in rows] == ["1", "1"] and {len(row) for row in rows} == {5}
    assert all(row[4].split(" ")[0] == "Eisvogel" for row in rows)


def test_of_a_model_of_words_the_unknown_ones_are_marked(call, captions):
    answer = call("translate", captions, "--mark-rare", "Ein Eisvogel und 🦊 ein Hund.")
    words = answer.out.rstrip("\n").split("\t")[1].split(" ")
    assert words[0] == "Eisvogel" and "🦊" in words
    assert "has never seen: Eisvogel" in answer.err


def test_a_model_that_does_not_know_its_words_says_so_until_its_training_goes_on(
    call, subwords, tmp_path
):
    old = shutil.copytree(subwords, tmp_path / "old")
    before = (old / "known_words.json").read_bytes()
    (old / "known_words.json").unlink()
    translated = call("translate", subwords, RARE).out
    assert call("translate", old, RARE) == (0, translated, "")
    sentence = refused(call("translate", old, "--mark-rare", RARE))
    assert sentence.startswith(f"--mark-rare marks nothing: {old} has no known_words.json")
    changes = SMALL | {"tokens.kind": "subwords", "tokens.vocab_size": 150}
    again = ("train", "captions-small", "--output", old, "--quiet", "--resume")
    assert call(*again, *settings(changes)).status == 0
    assert (old / "known_words.json").read_bytes() == before
    (old / "known_words.json").write_text("{}")
    assert "known_words.json does not hold words" in refused(call("translate", old, RARE))


class Arriving(io.RawIOBase):
    """A stream whose bytes arrive in these pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self.pieces = list(pieces)

    def read1(self, size: int) -> bytes:
        return self.pieces.pop(0) if self.pieces else b""


def test_lines_are_given_out_as_they_arrive(book):
    chunks = book.cli.translate._chunks
    pieces = b"a\nb", b"c\r\n", b"d", b"e", b"f\n\ng\nh\n", b"i"
    assert list(chunks(Arriving(*pieces), 3, full=False)) == [
        [b"a"],
        [b"bc"],
        [b"def", b"", b"g"],
        [b"h"],
        [b"i"],
    ]
    full = [[b"a", b"bc", b"def"], [b"", b"g", b"h"], [b"i"]]
    assert list(chunks(Arriving(*pieces), 3, full=True)) == full
    assert list(chunks(Arriving(b"".join(pieces)), 3, full=True)) == full
    assert list(chunks(Arriving(b"a\n"), 3, full=True)) == [[b"a"]]
    assert list(chunks(Arriving(), 3, full=False)) == []


def test_draws_repeat_and_do_not_depend_on_when_lines_arrive(call, book, monkeypatch, model):
    monkeypatch.setattr(book.cli.translate, "CHUNK", 4)
    lines = b"a b\n" * 10
    draw = ("translate", model, "--temperature", 3, "--seed")
    drawn = call(*draw, 1, stdin=lines).out
    assert len(set(drawn.splitlines())) > 1
    assert call(*draw, 2, stdin=lines).out != drawn
    slowly = SimpleNamespace(isatty=lambda: False, buffer=Arriving(*[b"a b\n"] * 10))
    assert call(*draw, 1, stdin=slowly).out == drawn
    searched = call("translate", model, stdin=lines).out
    assert call("translate", model, "--top-k", 1, stdin=lines).out == searched


class Terminal(io.TextIOWrapper):
    """What is typed at a terminal."""

    def isatty(self) -> bool:
        return True


def test_at_a_terminal_each_sentence_is_answered(call, model):
    one = call("translate", model, "a b").out
    typed = Terminal(io.BytesIO(b"a b\n\na b c d e f g a b\na q\na b\n"), encoding="utf-8")
    answer = call("translate", model, stdin=typed)
    said = answer.err.splitlines()
    assert said[0] == "Type a sentence and press Enter; Ctrl-D ends."
    assert said[1].startswith("transformer-book: The text has 10 tokens")
    assert said[2] == "transformer-book: The model has never seen: q."
    assert answer.status == 0
    odd = call("translate", model, "a q").out
    assert answer.out == f"{one}\n\n{odd}{one}"  # no prompts in a file


def test_a_series_is_checked_and_nothing_else_is(call, captions):
    answer = call("translate", "series", "sin(a*x)", "", "1/sin(b*x)")
    right, empty, wrong, end = answer.out.split("\n")
    assert right.endswith("\tchecked: agrees to O(x**6)") and (empty, end) == ("", "")
    assert "\tchecked: wrong from x**1 on" in wrong
    assert "\t" not in call("translate", "series", "--no-check", "sin(a*x)").out
    sentence = refused(call("translate", captions, "--check", "Ein Hund."))
    assert sentence.startswith("--check is for a model of series")
