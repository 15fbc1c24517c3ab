"""`data`: the pairs, tasks, files and lines that it shows."""

from __future__ import annotations

from tests import made_data
from tests.cli.small import refused, settings
from tests.faults import no_network


def test_data_show_prints_the_pairs_of_the_task(call, book):
    options = {"kind": "reverse", "min_length": 3, "max_length": 4}
    task = book.tasks.make_task("copy", **options)
    command = ["data", "show", "copy", "-n", 4, "--split", "test", "--seed", 5, *settings(options)]
    rows = [line.split("\t") for line in call(*command).out.splitlines()]
    pairs = task.pairs("test", n=4, seed=5)
    assert rows == [[" ".join(pair.source), " ".join(pair.target)] for pair in pairs]


def test_data_show_prints_alignments(call, book):
    command = ["data", "show", "captions", "-n", 30, "--set", "source=en", "--set", "target=it"]
    rows = [line.split("\t") for line in call(*command, "--alignment").out.splitlines()]
    pairs = book.tasks.make_task("captions", source="en", target="it").pairs("train", n=30)
    for (source, target, alignment), pair in zip(rows, pairs, strict=True):
        assert (source, target) == (pair.source_text, pair.target_text)
        links = tuple(tuple(map(int, link.split("-"))) for link in alignment.split())
        assert links == pair.alignment


def test_data_list_names_every_task(call, book):
    lines = call("data", "list").out.splitlines()
    assert [line.split()[0] for line in lines] == list(book.tasks.TASKS)
    for line, task in zip(lines, book.tasks.TASKS.values(), strict=True):
        assert line.endswith(task.description)


def test_data_download_says_where_the_files_are(call, tmp_path, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_BOOK_DATA", str(tmp_path))
    assert call("data", "download", "copy").out == "The task 'copy' needs no download.\n"
    for name in ("en", "it"):
        made_data.write_lines(tmp_path / "europarl" / f"europarl-v7.it-en.{name}", ["No."])
    answer = call("data", "download", "europarl", "--set", "source=it", "--set", "target=en")
    there = [f"{tmp_path}/europarl/europarl-v7.it-en.{name}\n" for name in ("it", "en")]
    assert answer == (0, "".join(there), "")
    (tmp_path / "multi30k").write_text("no folder")
    assert "multi30k" in refused(call("data", "download", "multi30k"))


def test_data_download_without_a_network(call, tmp_path, monkeypatch):
    no_network(monkeypatch)
    monkeypatch.setenv("TRANSFORMER_BOOK_DATA", str(tmp_path / "data"))
    commands = (
        ("data", "download", "multi30k"),
        ("data", "show", "multi30k"),
        ("train", "multi30k-tutorial", "--output", "run"),
    )
    for command in commands:
        sentence = refused(call(*command))
        for told in ("train.de.gz", "https://raw.git", str(tmp_path / "data"), "'captions'"):
            assert told in sentence
    assert not (tmp_path / "run").exists()


def test_data_count_says_what_is_left_out(call, tmp_path):
    made_data.write_lines(tmp_path / "a.en", ["Yes.", "", "No.", "No."])
    made_data.write_lines(tmp_path / "a.it", ["Sì.", "", "No.", "No."])
    files = ["--set", "source_file=a.en", "--set", "target_file=a.it"]
    rows = dict(
        line.rsplit(maxsplit=1)
        for line in call("data", "count", "europarl", *files).out.splitlines()
    )
    assert rows == {
        "kept": "2",
        "blank": "1",
        "one-sided": "0",
        "too long": "0",
        "unknown words": "0",
        "repeated": "1",
    }
    assert refused(call("data", "count", "copy")) == (
        "The task 'copy' reads no corpus: there are no lines to count."
    )
    made_data.write_lines(tmp_path / "a.it", ["Sì."])
    assert "a.en has 4 lines and a.it 1" in refused(call("data", "count", "europarl", *files))
