"""`evaluate`: what is printed, and what is kept."""

from __future__ import annotations

import errno
import json


def test_evaluate_prints_a_table_and_keeps_the_result(call, own):
    answer = call("evaluate", own, "-n", 5, "--beam-size", 2)
    assert answer.status == 0 and answer.err == ""
    rows = dict(line.split("  ", 1) for line in answer.out.splitlines())
    (result,) = json.loads((own / "results.json").read_text())
    exact, perplexity = result["exact_match"], result["perplexity"]["value"]
    assert rows["split"].strip() == "validation, 5 pairs"
    assert "beam size 2" in rows["search"]
    assert f"{100 * exact['value']:.1f} ± {100 * exact['error']:.1f} %" in rows["exact match"]
    assert rows["perplexity"].strip() == f"{perplexity:.3f}"
    assert result["decoding"]["beam_size"] == 2 and result["n"] == 5


def test_the_table_counts_series_by_their_functions(call, book, own, monkeypatch):
    counts = {"1": {"right": 2, "n": 2}, "3": {"right": 0, "n": 1}}
    measured = book.evaluation.evaluate

    def of_series(*given: object, **options: object) -> dict[str, object]:
        return measured(*given, **options) | {"equal_by_functions": counts}

    monkeypatch.setattr(book.evaluation, "evaluate", of_series)
    rows = call("evaluate", own, "-n", 3).out.splitlines()
    counted = [" ".join(row.split()) for row in rows if row.startswith("equal")]
    assert counted == ["equal, 1 function 2 of 2", "equal, 3 functions 0 of 1"]


def test_captions_are_measured_with_bleu(call, captions):
    answer = call("evaluate", captions, "-n", 4)
    assert answer.status == 0
    (result,) = json.loads((captions / "results.json").read_text())
    rows = dict(line.split("  ", 1) for line in answer.out.splitlines())
    assert rows["BLEU, cased"].strip() == f"{result['bleu']['value']:.1f}"
    assert rows["BLEU, cased, signature"].strip() == result["bleu"]["signature"]
    printed = [row.partition("  ")[0] for row in answer.out.splitlines()]
    assert printed[3:5] == ["BLEU, cased", "BLEU, lower case"]  # before everything else
    tokens = f"{result['bleu_tokens']['value']:.1f}"
    assert rows["BLEU, tokens in lower case"].strip() == tokens
    assert "tok:13a" in result["bleu"]["signature"]


def test_looks_at_the_test_split_are_counted(call, own):
    for n in (3, 3, 4):
        assert call("evaluate", own, "-n", n, "--split", "test").status == 0
    assert call("evaluate", own, "-n", 3, "--split", "test", "--no-record").status == 0
    assert call("evaluate", own, "-n", 3, "--no-record").status == 0
    assert len(json.loads((own / "results.json").read_text())) == 2
    assert len((own / "test_looks.jsonl").read_text().splitlines()) == 4


def test_a_result_that_cannot_be_kept_is_printed_all_the_same(call, book, monkeypatch, own):
    (own / "results.json").write_text('"mine"')
    answer = call("evaluate", own, "-n", 3, "--json")
    assert answer.status == 0 and json.loads(answer.out)["n"] == 3
    assert answer.err.startswith("transformer-book: The result is not recorded: ")
    assert (own / "results.json").read_text() == '"mine"'
    (own / "results.json").unlink()

    def denied(path: object, *_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(book.evaluation, "write_json", denied)
    answer = call("evaluate", own, "-n", 3)
    assert answer.status == 0 and "exact match" in answer.out
    assert answer.err == (
        f"transformer-book: The result is not recorded: {own}/results.json: Permission denied.\n"
    )


def test_another_measurement_of_a_model_of_the_book_is_not_quoted(call, book, monkeypatch, own):
    """The text quotes its results: they stay as they are, and looks at the test are logged."""
    call("evaluate", own, "-n", 5)
    before = (own / "results.json").read_bytes().replace(b'"seconds"', b'"quoted"')
    (own / "results.json").write_bytes(before)
    monkeypatch.setattr(book.pretrained, "FOLDER", own.parent)
    for options in (["-n", 5], ["-n", 3], ["-n", 3, "--split", "test"]):
        assert "is a model of the book" in call("evaluate", own, *options).err
    assert (own / "results.json").read_bytes() == before
    assert len((own / "test_looks.jsonl").read_text().splitlines()) == 1
