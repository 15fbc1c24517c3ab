"""Tasks whose pairs come from files: made ones always, the real ones where they are."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import io
import os
import tarfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import made_data
from tests.faults import Killed, fault_in
from tests.fresh import fresh_package

REAL = os.environ.get("TRANSFORMER_BOOK_DATA")
MODULES = (
    "tokens",
    "tasks",
    "tasks.corpora",
    "tasks.europarl",
    "tasks.multi30k",
    "tasks.series.public",
)


@pytest.fixture(scope="module")
def book() -> Iterator[SimpleNamespace]:
    """The package without the hook that checks annotations, as users have it."""
    with fresh_package():
        yield SimpleNamespace(
            **{n.split(".")[-1]: importlib.import_module(f"transformer_book.{n}") for n in MODULES}
        )


@pytest.fixture(scope="module")
def folder(book, tmp_path_factory) -> Path:
    """All the corpora, made up."""
    folder = tmp_path_factory.mktemp("data")
    made_data.write_corpora(folder)
    return folder


@pytest.fixture
def made(book, folder, monkeypatch) -> SimpleNamespace:
    """The package, reading them."""
    made_data.provide(monkeypatch, folder)
    return book


@pytest.fixture
def corpus(book, tmp_path):
    """A function that writes two files of lines and reads them as a corpus."""

    def make(source: str | bytes, target: str | bytes, ending: str = "", **options: object):
        paths = [tmp_path / f"{side}.txt{ending}" for side in ("source", "target")]
        for path, text in zip(paths, (source, target), strict=True):
            data = text.encode() if isinstance(text, str) else text
            path.write_bytes(gzip.compress(data) if ending else data)
        words = importlib.import_module("transformer_book.tokens").SpaceTokenizer()
        return book.corpora.Corpus(*paths, words, words, **options)

    return make


def texts(pairs: object) -> list[tuple[str, str]]:
    return [(pair.source_text, pair.target_text) for pair in pairs]


# --- one spelling ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Ein  Hund .", "Ein Hund ."),
        ("\ufeffEin Hund.\r", "Ein Hund."),
        ("Zu\u0308ge", "Züge"),
        ("Zu\u00ad\u0308ge", "Züge"),  # composed once what stood between has gone
        ("a\x00b\x1fc\x7fd\x85e", "a b c d e"),
        ("a\u00a0b\u2009c\u3000d\u2028e", "a b c d e"),
        ("Donau\u00addampf\u200bschiff", "Donaudampfschiff"),
        ("👩\u200d🚒", "👩\u200d🚒"),
        ("\t \u00a0", ""),
        ("ﬁn ½ ①", "ﬁn ½ ①"),  # what looks different stays different
    ],
)
def test_one_spelling_for_what_looks_the_same(book, line, expected):
    assert book.tokens.uniform(line) == expected
    assert book.tokens.uniform(expected) == expected


# --- messy corpora --------------------------------------------------------------------------------

MESSY = [
    ("Ein Hund .", "A dog .", "kept"),
    ("", "", "blank"),
    ("  \t", "\u200b", "blank"),
    ("Ein Haus .", "", "one-sided"),
    ("\u00a0", "A house .", "one-sided"),
    ("Wort " * 10_000, "A word .", "too long"),
    ("Ein Wort .", "word " * 10_000, "too long"),
    ("x" * 100_000, "A word .", "too long"),
    ("Ein\x00Hund\x0b.", "A\x1bdog .", "repeated"),
    ("Ein \u00dcbel .", "An evil .", "kept"),
    ("Ein U\u0308bel .", "An evil .", "repeated"),
    ("Ein Hund .", "One dog .", "kept"),
    ("a b c d", "a", "too long"),
    ("a b c", "a b c", "kept"),
]


def test_messy_lines_are_left_out_and_counted(book, corpus):
    source, target, fates = zip(*MESSY, strict=True)
    messy = corpus("\n".join(source), "\n".join(target) + "\n", shorter_than=4)
    counts: Counter[str] = Counter()
    pairs = list(messy.read(counts=counts))
    assert counts == Counter(fates)
    assert texts(pairs) == [
        ("Ein Hund .", "A dog ."),
        ("Ein Übel .", "An evil ."),
        ("Ein Hund .", "One dog ."),
        ("a b c", "a b c"),
    ]
    assert pairs[0].source == ("Ein", "Hund", ".") and pairs[0].target == ("A", "dog", ".")
    assert set(counts) - {"kept"} < set(book.corpora.SKIPPED)


def test_nothing_is_left_out_for_its_length_unless_asked(corpus):
    messy = corpus("w " * 3000, "v " * 3000, repeats=True)
    assert [len(pair.source) for pair in messy.read()] == [3000]


def test_repetitions_may_stay(corpus):
    lines = "a b\nc\na b\n"
    assert len(list(corpus(lines, lines).read())) == 2
    assert len(list(corpus(lines, lines, repeats=True).read())) == 3


def test_words_that_a_list_lacks(corpus):
    source = "the Dog sleeps .\nthe raccoon sleeps .\n17 ( % ) the ?\n"
    target = "il cane dorme .\nil procione dorme .\n17 ( % ) il ?\n"
    some = {"the", "dog", "sleeps"}
    counts: Counter[str] = Counter()
    pairs = texts(corpus(source, target, source_words=some).read(counts=counts))
    assert [one for one, _ in pairs] == ["the Dog sleeps .", "17 ( % ) the ?"]
    assert counts == {"kept": 2, "unknown words": 1}
    italian = {"il", "procione", "dorme"}
    pairs = texts(corpus(source, target, target_words=italian).read())
    assert [one for _, one in pairs] == ["il procione dorme .", "17 ( % ) il ?"]
    assert len(list(corpus(source, target, source_words=some, target_words=italian).read())) == 1


def test_only_a_line_feed_ends_a_line(corpus):
    source, target = "a\x0bb\u2028c\r\nd\n", "e\x85f\ng\n"
    assert texts(corpus(source, target).read()) == [("a b c", "e f"), ("d", "g")]


def test_packed_files_are_read(corpus):
    assert texts(corpus("a\nb", "c\nd\n", ".gz").read()) == [("a", "c"), ("b", "d")]


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("a\nb\n", "a\n", "source.txt has 2 lines and .*target.txt 1, but line n of one must be"),
        ("a", "a\nb", "source.txt has 1 lines and .*target.txt 2"),
        ("", "a\n", r"source.txt is empty\."),
        ("a\n", b"", r"target.txt is empty\."),
        ("a\nb\n", b"a\n\xff\n", "target.txt is not valid UTF-8: see line 2"),
    ],
)
def test_files_that_do_not_fit(corpus, source, target, message):
    with pytest.raises(ValueError, match=message) as caught:
        list(corpus(source, target).read())
    assert "\n" not in str(caught.value)


def test_the_number_of_lines_is_known_before_the_first_pair(corpus):
    with pytest.raises(ValueError, match="has 2 lines"):
        next(iter(corpus("a\nb\n", "a\n").read()))


@pytest.mark.parametrize("damage", [lambda data: data[:-9], lambda data: b"no gzip " + data])
def test_damaged_packing(book, corpus, damage):
    damaged = corpus("a\n" * 99, "b\n" * 99, ".gz")
    path = damaged.target_file
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=r"target\.txt\.gz is damaged, or no gzip file"):
        list(damaged.read())


# --- multi30k -------------------------------------------------------------------------------------


def test_multi30k_reads_its_files(made, folder):
    task = made.tasks.make_task("multi30k")
    lines = gzip.decompress((folder / "multi30k" / "val.de.gz").read_bytes()).decode().split("\n")
    pairs = task.pairs("validation", n=80)
    assert [pair.source_text for pair in pairs] == lines[:80]
    assert all(pair.source == tuple(task.source_tokenizer(pair.source_text)) for pair in pairs)
    turned = made.tasks.make_task("multi30k", source="en", target="de").pairs("validation", n=80)
    assert texts(turned) == [(b, a) for a, b in texts(pairs)]
    with pytest.raises(ValueError, match=r"n is 81, but only 80 pairs of the split 'test'"):
        task.pairs("test", n=81)


def test_multi30k_lowercases_tokens_and_not_texts(made):
    pair = made.tasks.make_task("multi30k", lowercase=True).pairs("test", n=1)[0]
    plain = made.tasks.make_task("multi30k").pairs("test", n=1)[0]
    assert plain.source != pair.source == tuple(map(str.lower, plain.source))
    assert texts([pair]) == texts([plain])


def test_multi30k_is_shuffled_by_a_seed(made):
    task = made.tasks.make_task("multi30k")
    first, second = (texts(task.pairs("test", n=80, seed=seed)) for seed in (0, 7))
    assert first != second and sorted(first) == sorted(second)


def test_multi30k_counts_and_downloads(made, folder):
    task = made.tasks.make_task("multi30k")
    counts = task.counts()
    assert counts.pop("kept") == 400 and set(counts.values()) == {0}
    assert sorted(path.name for path in task.download()) == sorted(
        path.name for path in (folder / "multi30k").iterdir()
    )


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("multi30k", {"source": "fr"}, "source is 'fr', but it must be one of de, en"),
        ("multi30k", {"target": "it"}, "target is 'it', but it must be one of de, en"),
        ("multi30k", {"source": "en"}, "source and target are both 'en': choose two languages"),
        ("multi30k", {"lowercase": 1}, "lowercase is 1, but it must be true or false"),
        ("multi30k", {"lower": True}, "'lower'.* did you mean 'lowercase'"),
        ("europarl", {"source": "de"}, "source is 'de', but it must be one of en, it"),
        ("europarl", {"target": "en"}, "source and target are both 'en'"),
        ("europarl", {"source_file": "a"}, "source_file is 'a' and target_file is None: give both"),
        ("europarl", {"source_file": 3}, "source_file is 3, but it must be the path of a file"),
        ("europarl", {"shorter_than": 1}, "shorter_than is 1, but .* at least 2"),
        ("europarl", {"lowercase": "no"}, "lowercase is 'no', but it must be true or false"),
        (
            "europarl",
            {"source": "fr", "source_file": "a", "target_file": "b"},
            "source is 'fr', but it must be one of de, en, it",
        ),
        (
            "series",
            {"size": "two-terms-public", "split_by": "shape-disjoint"},
            "the public corpus has splits of its own",
        ),
    ],
)
def test_options_that_a_corpus_does_not_take(made, name, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        made.tasks.make_task(name, **options)
    assert "\n" not in str(caught.value)


# --- europarl -------------------------------------------------------------------------------------


def test_europarl_splits_by_the_source(made):
    task = made.tasks.make_task("europarl")
    found = {split: task.pairs(split, n=n) for split, n in (("train", 300), ("test", 50))}
    assert {p.source for p in found["train"]}.isdisjoint(p.source for p in found["test"])
    for split, pairs in found.items():
        for pair in pairs:
            key = f"europarl\t{pair.source_text.lower()}"
            assert made.tasks.split_by_hash(key, made.europarl.SHARES) == split
    assert task.pairs("train", n=100) == found["train"][:100]
    with pytest.raises(ValueError, match=r"n is 9000, but only \d+ pairs .* raise shorter_than"):
        task.pairs("train", n=9000)


def test_europarl_reads_no_further_than_it_must(made, monkeypatch):
    task = made.tasks.make_task("europarl")
    asked: list[str] = []
    tokenizer = task.source_tokenizer
    task.__dict__["source_tokenizer"] = lambda text: asked.append(text) or tokenizer(text)
    assert len(task.pairs("train", n=20)) == 20
    assert len(asked) == 20


def test_europarl_filters_by_the_tokens_of_training(made, tmp_path):
    lines = ["I don't know.", "No.", "This is not so long.", "(No.)"]
    for side in ("en", "de"):
        made_data.write_lines(tmp_path / f"my.{side}", lines)
    options = {
        f"{side}_file": tmp_path / f"my.{language}"
        for side, language in (("source", "en"), ("target", "de"))
    }
    task = made.tasks.make_task("europarl", source="en", target="de", shorter_than=5, **options)
    # Four words with "n't", five tokens with the full stop.
    assert task.counts() | {"kept": 2, "too long": 2} == task.counts()
    assert [pair.source for pair in task._corpus.read()] == [("No", "."), ("(", "No", ".", ")")]
    assert made.tasks.make_task(**task.to_dict()) == task
    assert task.download() == [tmp_path / "my.en", tmp_path / "my.de"]


@pytest.mark.parametrize("lowercase", [True, False])  # a recipe may lower-case in its tokenizer
def test_europarl_in_lower_case_has_no_source_in_two_splits(made, tmp_path, lowercase):
    words = ["madam", "president", "the", "sitting", "is", "closed", "we", "shall", "vote", "now"]
    lines = [form(f"{a} {b} .") for a in words for b in words for form in (str.lower, str.upper)]
    for name in ("a", "b"):
        made_data.write_lines(tmp_path / name, lines)
    files_ = {"source_file": str(tmp_path / "a"), "target_file": str(tmp_path / "b")}
    task = made.tasks.make_task("europarl", lowercase=lowercase, **files_)
    found = {}
    for split in task.splits:
        n = sum(
            made.tasks.split_by_hash(f"europarl\t{line.lower()}", made.europarl.SHARES) == split
            for line in lines
        )
        pairs = task.pairs(split, n) if n else []
        found[split] = {tuple(map(str.lower, pair.source)) for pair in pairs}
    assert found["train"] and found["test"]
    assert sum(map(len, found.values())) == len(set().union(*found.values()))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_own_files_that_cannot_be_read_twice_or_are_not_there_are_refused(made, tmp_path):
    (tmp_path / "a").write_text("The dog.\n", encoding="utf-8")
    os.mkfifo(tmp_path / "pipe")
    for name, problem in (("pipe", "can be read only once; copy it"), ("no", "There is no file")):
        files_ = {"source_file": str(tmp_path / "a"), "target_file": str(tmp_path / name)}
        task = made.tasks.make_task("europarl", **files_)
        with pytest.raises((ValueError, FileNotFoundError), match=problem):
            task.counts() if name == "pipe" else task.download()


def test_europarl_takes_a_list_of_words(made, tmp_path):
    made_data.write_lines(tmp_path / "a.gz", ["The dog.", "The raccoon.", "THE dog!"])
    made_data.write_lines(tmp_path / "b", ["Il cane.", "Il procione.", "Il cane!"])
    made_data.write_lines(tmp_path / "words", ["the ", "Dog"])
    task = made.tasks.make_task(
        "europarl",
        source_file=str(tmp_path / "a.gz"),
        target_file=str(tmp_path / "b"),
        source_words=str(tmp_path / "words"),
    )
    assert task.counts() | {"kept": 2, "unknown words": 1} == task.counts()


def test_europarl_in_both_directions(made):
    forth, back = (
        made.tasks.make_task("europarl", source=a, target=b)
        for a, b in (("en", "it"), ("it", "en"))
    )
    pairs = set(texts(forth.pairs(n=7000)))
    turned = {(b, a) for a, b in texts(back.pairs(n=7000))}
    assert len(pairs & turned) > 6000
    assert not back.pairs(n=1)[0].source_text.startswith("The")


# --- europarl's archive ---------------------------------------------------------------------------

ENGLISH, ITALIAN = b"Yes.\nNo.\n", b"Si.\nNo.\n"


def archive(path: Path, members: dict[str, bytes | None]) -> Path:
    """A `.tgz`; a member of `None` is a link to somewhere else."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            if data is None:
                info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
            else:
                info.size = len(data)
            tar.addfile(info, io.BytesIO(data or b""))
    return path


@pytest.fixture
def empty(book, tmp_path, monkeypatch) -> Path:
    """An empty folder for data."""
    monkeypatch.setenv("TRANSFORMER_BOOK_DATA", str(tmp_path / "data"))
    return tmp_path / "data" / "europarl"


GOOD = {
    "README": b"x",
    "../../evil": b"x",
    "txt/europarl-v7.it-en.it": ITALIAN,
    "/etc/europarl-v7.it-en.en": ENGLISH,
}


def test_an_archive_is_unpacked(book, empty, tmp_path):
    archive(empty / "it-en.tgz", GOOD)
    task = book.tasks.make_task("europarl")
    assert task.counts()["kept"] == 2
    names = {"it-en.tgz", "europarl-v7.it-en.en", "europarl-v7.it-en.it"}
    assert {path.name for path in empty.iterdir()} == names
    assert (empty / "europarl-v7.it-en.en").read_bytes() == ENGLISH
    # Nothing was written to where the archive wanted it.
    assert {path.name for path in tmp_path.iterdir()} == {"data"}
    (empty / "it-en.tgz").unlink()
    assert task.counts()["kept"] == 2  # and once unpacked, it is not needed


def damaged(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-6] ^= 1  # in the checksum
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("members", "damage", "message"),
    [
        ({"europarl-v7.it-en.it": ITALIAN}, None, r"does not hold europarl-v7\.it-en\.en: delete"),
        ({**GOOD, "txt/europarl-v7.it-en.it": None}, None, "is not a file to unpack"),
        (GOOD, damaged, "is damaged .*: delete it, and it is downloaded again"),
        (GOOD, lambda path: path.write_bytes(path.read_bytes()[:-40]), "is damaged"),
        (GOOD, lambda path: path.write_bytes(b"<html>no</html>"), "is damaged"),
        (GOOD, lambda path: path.write_bytes(gzip.compress(b"no tar" * 999)), "is damaged"),
    ],
)
def test_a_bad_archive_leaves_nothing_behind(book, empty, members, damage, message):
    path = archive(empty / "it-en.tgz", members)
    if damage is not None:
        damage(path)
    with pytest.raises(ValueError, match=message) as caught:
        book.tasks.make_task("europarl").pairs(n=1)
    assert "\n" not in str(caught.value)
    assert list(empty.iterdir()) == [path]


def test_a_member_that_fills_the_disk_is_refused(book, empty, monkeypatch):
    archive(empty / "it-en.tgz", GOOD)
    monkeypatch.setattr(book.europarl, "LARGEST", 8)
    with pytest.raises(ValueError, match="is not a file to unpack"):
        book.tasks.make_task("europarl").pairs(n=1)


@pytest.mark.parametrize("kind", ["full", "killed"])
def test_unpacking_may_fail_at_any_step(book, empty, kind):
    path = archive(empty / "it-en.tgz", GOOD)
    task, step = book.tasks.make_task("europarl"), 0
    while True:
        step += 1
        for one in empty.iterdir():
            if one != path:
                one.unlink()
        try:
            with fault_in(kind, step) as fault:
                task.download()
        except (OSError, Killed):
            pass
        if not fault.happened:
            break
        assert task.counts()["kept"] == 2  # whatever was left behind
        for one, content in (("en", ENGLISH), ("it", ITALIAN)):
            assert (empty / f"europarl-v7.it-en.{one}").read_bytes() == content
    assert step > 6


def test_offline_a_corpus_says_what_to_do(book, empty, monkeypatch):
    downloads = importlib.import_module("transformer_book.tasks.downloads")
    tried = []

    class Offline(downloads._Download):
        def run(self) -> str:
            tried.append(self.remote.url)
            return "no network"

    monkeypatch.setattr(downloads, "_Download", Offline)
    for name, options, instead in (
        ("multi30k", {}, "the task 'captions', which needs no download."),
        ("europarl", {}, "the task 'captions', which needs no download."),
        ("series", {"size": "two-terms-public"}, "the size 'two-terms', which is generated."),
    ):
        with pytest.raises(ValueError, match="could not be downloaded") as caught:
            book.tasks.make_task(name, **options).pairs(n=1)
        assert str(caught.value).endswith(instead) and "\n" not in str(caught.value)
        assert tried[-1] in str(caught.value) and str(empty.parent) in str(caught.value)
    assert [url.split("/")[2] for url in tried] == [
        "raw.githubusercontent.com",
        "www.statmt.org",
        "raw.githubusercontent.com",
    ]


# --- the public series ----------------------------------------------------------------------------


def test_the_public_series_are_cut_in_the_order_of_the_file(made, folder):
    data = gzip.decompress((folder / "taylor-two-terms" / "pairs.txt.gz").read_bytes()).decode()
    lines = [line for line in data.splitlines()]
    task = made.tasks.make_task("series", size="two-terms-public")
    kept = [line for line in lines if len(task.target_tokenizer(line.split("|")[1])) <= 83]
    sizes = [len(kept) * share // 20 for share in (17, 2)]
    sizes.append(len(kept) - sum(sizes))
    found = [
        pair for split, n in zip(task.splits, sizes, strict=True) for pair in task.pairs(split, n)
    ]
    assert ["|".join(map("".join, (pair.source, pair.target))) for pair in found] == kept
    with pytest.raises(ValueError, match="choose the size 'two-terms'"):
        task.pairs("test", sizes[2] + 1)
    assert task.pairs("test", 20, seed=3) != task.pairs("test", 20)


def test_the_public_series_may_lie_there_unpacked(made, tmp_path, folder, monkeypatch):
    packed = folder / "taylor-two-terms" / "pairs.txt.gz"
    monkeypatch.setenv("TRANSFORMER_BOOK_DATA", str(tmp_path))
    place = tmp_path / made.public.TEXT.path
    place.parent.mkdir()
    place.write_bytes(gzip.decompress(packed.read_bytes()))
    task = made.tasks.make_task("series", size="two-terms-public")
    assert task.download() == [place] and len(task.pairs("test", 20)) == 20


# --- the real ones --------------------------------------------------------------------------------


def real(name: str) -> None:
    """Skip a test, aloud, where the corpus is not there. (It is not ours to give away.)"""
    if not REAL:
        pytest.skip(f"TRANSFORMER_BOOK_DATA is not set: the real {name} was not looked at")
    if not (Path(REAL) / name).exists():
        pytest.skip(f"{REAL} has no {name}: the real one was not looked at")


def test_the_real_multi30k(book):
    real("multi30k")
    task = book.tasks.make_task("multi30k", lowercase=True)
    for side in ("source_tokenizer", "target_tokenizer"):  # each line is read three times
        vars(task)[side] = cache(getattr(task, side))
    sizes = {"train": 29000, "validation": 1014, "test": 1000}
    splits = {split: task.pairs(split, n=n) for split, n in sizes.items()}
    for split, n in sizes.items():
        with pytest.raises(ValueError, match=f"only {n} pairs"):
            task.pairs(split, n=n + 1)
    assert task.counts() == {"kept": 31014, **dict.fromkeys(book.corpora.SKIPPED, 0)}
    train = [pair.source_text for pair in splits["train"]]
    assert len(train) - len(set(train)) == 25
    assert sum(pair.source_text in set(train) for pair in splits["validation"]) == 1
    assert not any(pair.source_text in set(train) for pair in splits["test"])
    # The texts that the shipped models were trained on.
    every = "\n".join("\t".join(one) for pairs in splits.values() for one in texts(pairs))
    digest = hashlib.sha256(every.encode()).hexdigest()
    assert digest == "d849995f58ffa8ecf1fba5c20e8f96f9454794f52bd17255b6104c4dff338a54"


def test_the_real_public_series(book, monkeypatch):
    real("taylor-two-terms")
    tokenizer = cache(book.public.MathTokenizer())  # each line is read seven times
    monkeypatch.setattr(book.public, "MathTokenizer", lambda: tokenizer)
    task = book.tasks.make_task("series", size="two-terms-public")
    for split, n in (("train", 10072), ("validation", 1185), ("test", 593)):
        assert len(task.pairs(split, n)) == n
        with pytest.raises(ValueError, match=f"only {n} pairs"):
            task.pairs(split, n + 1)
    first = task.pairs("train", 1)[0]
    assert "".join(first.source) == "cosh(a*x)**3+tanh(b*x)"
    data = book.public.download().read_bytes()
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    assert hashlib.sha256(text).hexdigest() == book.public.TEXT.sha256
    assert len(text) == book.public.TEXT.size


def test_another_corpus_in_its_place_is_refused(book, folder, monkeypatch):
    monkeypatch.setenv("TRANSFORMER_BOOK_DATA", str(folder))  # made ones, and not `provide`d
    for (split, language), (name, _, _) in book.multi30k.FILES.items():
        assert f".{language}." in name
        with pytest.raises(ValueError, match=f"{name} is not the file that belongs there"):
            book.multi30k._locate(split, language)
    with pytest.raises(ValueError, match=r"pairs\.txt\.gz is not the file that belongs there"):
        book.tasks.make_task("series", size="two-terms-public").pairs(n=1)
