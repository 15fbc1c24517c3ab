"""What all tasks promise, copying, captions as a task, the registry and its refusals."""

import json
import os
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import made_data
from tests.fresh import fresh_package
from transformer_book.tasks import TASKS, Pair, Task, check_whole, make_task, split_by_hash
from transformer_book.tasks.copy import SYMBOLS, CopyTask
from transformer_book.tokens import Vocabulary, tokenizer_from_dict

EVERY_KIND = [
    {"name": "copy"},
    {"name": "copy", "kind": "reverse", "min_length": 3, "max_length": 8},
    {"name": "captions"},
    {"name": "captions", "source": "en", "target": "it", "constructions": ["modal", "passive"]},
    {"name": "series"},
    {"name": "series", "size": "two-terms", "split_by": "shape-disjoint"},
    {"name": "series", "size": "long"},
    {"name": "series", "size": "two-terms-public"},
    {"name": "multi30k"},
    {"name": "multi30k", "source": "en", "target": "de", "lowercase": True},
    {"name": "europarl"},
    {"name": "europarl", "source": "it", "target": "en", "shorter_than": 11, "lowercase": True},
]
WITHOUT_DOWNLOAD = ("copy", "captions", "series")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Made corpora in the place of those that would have to be downloaded."""
    folder = tmp_path_factory.mktemp("data")
    with fresh_package():
        made_data.write_corpora(folder)
    return folder


@pytest.fixture(scope="module")
def imported():
    """The modules that `plain` has imported: what a grammar counts, it counts once."""
    return {}


@pytest.fixture
def plain(folder, monkeypatch, imported):
    """`make_task` without the hook that checks annotations, as users have it."""
    with fresh_package():
        sys.modules.update(imported)
        from transformer_book.tasks import make_task

        made_data.provide(monkeypatch, folder)
        yield make_task
        imported |= {n: m for n, m in sys.modules.items() if n.startswith("transformer_book")}


# --- every task -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", EVERY_KIND, ids=lambda options: "-".join(map(str, options.values()))
)
class TestEveryTask:
    def test_pairs(self, plain, options):
        task = plain(**options)
        sources = []
        for split in task.splits:
            many = task.pairs(split, n=60, seed=4)
            assert len(many) == 60
            assert task.pairs(split, n=25, seed=4) == many[:25]
            assert plain(**options).pairs(split, n=60, seed=4) == many
            assert task.pairs(split, n=60, seed=5) != many
            sources += [pair.source for pair in many]
            for pair in many:
                for side in (pair.source, pair.target):
                    assert isinstance(side, tuple) and side
                    assert all(isinstance(token, str) and token for token in side)
        assert len(set(sources)) == len(sources)

    def test_the_tokenizers_split_as_the_pairs_are_split(self, plain, options):
        task = plain(**options)
        for pair in task.pairs("validation", n=60):
            sides = (task.source_tokenizer, pair.source), (task.target_tokenizer, pair.target)
            for tokenizer, tokens in sides:
                assert tuple(tokenizer(tokenizer.detokenize(tokens))) == tokens
        assert task.source_tokenizer is task.source_tokenizer
        again = tokenizer_from_dict(json.loads(json.dumps(task.source_tokenizer.to_dict())))
        assert again.to_dict() == task.source_tokenizer.to_dict()

    def test_a_record_makes_the_task_again(self, plain, options):
        task = plain(**options)
        record = json.loads(json.dumps(task.to_dict()))
        assert options.items() <= record.items()
        again = plain(**record)
        assert again == task and again.to_dict() == task.to_dict()
        assert again.pairs("test", n=5) == task.pairs("test", n=5)

    def test_with_its_annotations_enforced(self, options, folder, monkeypatch):
        made_data.provide(monkeypatch, folder)
        task = make_task(**options)
        assert isinstance(task, Task)
        assert task.name == options["name"]
        assert task.splits[:3] == ("train", "validation", "test")
        if task.name != "captions":  # checking the annotations of a whole grammar takes minutes
            assert len(task.pairs("test", n=2)) == 2

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"split": "tset"}, "split is 'tset', but it must be one of .*did you mean 'test'"),
            ({"split": None}, "split is None"),
            ({"n": 0}, "n is 0, but .* a whole number of at least 1"),
            ({"n": 2.5}, "n is 2.5, but .* a whole number of at least 1"),
            ({"n": True}, "n is True, but .* a whole number of at least 1"),
        ],
    )
    def test_bad_arguments(self, plain, options, arguments, message):
        with pytest.raises(ValueError, match=message):
            plain(**options).pairs(**arguments)


# --- copying --------------------------------------------------------------------------------------


def test_the_classic_copy_task():
    pairs = CopyTask().pairs(n=500)
    assert all(len(pair.source) == 10 and pair.source == pair.target for pair in pairs)
    vocabulary = Vocabulary.build(pair.source for pair in pairs)
    assert len(vocabulary) == 11 and sorted(vocabulary.tokens[4:]) == list(SYMBOLS)
    counts = Counter(symbol for pair in pairs for symbol in pair.source)
    assert all(abs(count / 5000 - 1 / 7) < 0.02 for count in counts.values())


def test_reversing():
    pairs = CopyTask("reverse", 2, 5).pairs(n=300)
    assert all(pair.target == pair.source[::-1] for pair in pairs)
    assert any(pair.target != pair.source for pair in pairs)


def test_lengths_are_equally_likely():
    lengths = Counter(
        len(pair.source) for pair in CopyTask(min_length=6, max_length=9).pairs(n=2000)
    )
    assert sorted(lengths) == [6, 7, 8, 9]
    assert all(abs(count - 500) < 100 for count in lengths.values())


@pytest.mark.parametrize(("least", "most"), [(1, 1), (2, 2), (1, 3), (4, 4)])
def test_every_sequence_is_in_exactly_one_split(least, most):
    task = CopyTask(min_length=least, max_length=most)
    size = sum(7**length for length in range(least, most + 1))
    found = []
    for split in task.splits:
        with pytest.raises(ValueError, match=f"n is {size + 1}, but only") as caught:
            task.pairs(split, n=size + 1)
        assert f"of the split {split!r} were found: ask for fewer" in str(caught.value)
        n = int(str(caught.value).split("only ")[1].split()[0])
        found += [pair.source for pair in task.pairs(split, n, seed=8)] if n else []
    assert len(found) == len(set(found)) == size


@settings(max_examples=20)
@given(n=st.integers(1, 300), seed=st.integers(), least=st.integers(1, 5), more=st.integers(0, 3))
def test_fewer_copies_are_the_first_of_more(n, seed, least, more):
    task = CopyTask(min_length=least, max_length=max(4, least + more))
    many = task.pairs("train", 300, seed)
    assert task.pairs("train", n, seed) == many[:n]
    assert len({pair.source for pair in many}) == 300


def test_the_copies_are_those_of_every_release():
    """If this fails, recorded results no longer fit the data they name."""
    found = ["".join(pair.source) for pair in CopyTask().pairs("test", n=3)]
    assert found == ["afggcgbedb", "eeacbafdgg", "acccdabccb"]


# --- captions -------------------------------------------------------------------------------------


def test_captions_are_those_of_the_grammar(plain):
    from transformer_book.tasks import captions

    task = plain("captions", source="it", target="de", constructions=("passive", "modal"))
    assert task.splits == tuple(captions.SPLITS)
    direct = captions.pairs("it", "de", "compositional", 40, 3, ["modal", "passive"])
    assert task.pairs("compositional", 40, 3) == direct
    assert all(pair.alignment for pair in direct)
    # In the order of the grammar, whatever the order they were named in.
    assert task.to_dict()["constructions"] == ["modal", "passive"]
    assert plain("captions", constructions="modal").constructions == ("modal",)


@pytest.mark.parametrize(("source", "target"), [("de", "en"), ("en", "it")])
def test_spacy_splits_captions_as_the_grammar_does(plain, source, target):
    task = plain("captions", source=source, target=target)
    from transformer_book.tasks import captions

    for pair in task.pairs(n=500):
        assert tuple(task.source_tokenizer(captions.text(pair.source, source))) == pair.source
        assert tuple(task.target_tokenizer(captions.text(pair.target, target))) == pair.target


# --- the registry ---------------------------------------------------------------------------------


def test_the_registry():
    for name, entry in TASKS.items():
        task = entry.load()
        assert task.name == name == task().to_dict()["name"]
        assert entry.description and "\n" not in entry.description
        assert task.__doc__


def test_pairs_are_values():
    assert Pair(("a",), ("b",)) == Pair(("a",), ("b",))
    assert len({Pair(("a",), ("b",)), Pair(("a",), ("b",))}) == 1


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "cpoy",
            {},
            "task is 'cpoy', but .* one of copy, captions, series, multi30k, europarl; .*'copy'",
        ),
        ("multi40k", {}, "task is 'multi40k', but it must be one of .* did you mean 'multi30k'"),
        (None, {}, "task is None"),
        ("copy", {"knd": 1}, "an option of the task 'copy' is 'knd'.* did you mean 'kind'"),
        ("copy", {"splits": ()}, "an option of the task 'copy' is 'splits'"),
        ("copy", {"kind": "invert"}, "kind is 'invert', but it must be one of copy, reverse"),
        ("copy", {"kind": None}, "kind is None"),
        ("copy", {"min_length": 0}, "min_length is 0, but .* at least 1"),
        ("copy", {"max_length": "9"}, "max_length is '9', but .* a whole number"),
        ("copy", {"max_length": 9.0}, "max_length is 9.0"),
        ("copy", {"min_length": True}, "min_length is True"),
        ("copy", {"max_length": 3}, "min_length is 10, .* at most max_length, which is 3: give bo"),
        ("captions", {"lang": "de"}, "is 'lang', .* source, target, constructions"),
        ("captions", {"source": "fr"}, "source is 'fr', but it must be one of en, de, it"),
        ("captions", {"target": 3}, "target is 3"),
        ("captions", {"target": "de"}, "source and target are both 'de': choose two languages"),
        ("captions", {"constructions": []}, r"constructions is \[\], .* a list of at least one"),
        ("captions", {"constructions": 3}, "constructions is 3, but it must be None, for all, or"),
        ("captions", {"constructions": ["pasive"]}, "construction is 'pasive'.* 'passive'"),
        ("captions", {"constructions": [["modal"]]}, r"construction is \['modal'\]"),
        ("series", {"size": "lnog"}, "size is 'lnog', .* did you mean 'long'"),
        ("series", {"size": ["long"]}, r"size is \['long'\]"),
        ("series", {"split_by": "shape"}, "split_by is 'shape', .* random, shape-disjoint"),
        ("series", {"order": 6}, "an option of the task 'series' is 'order', .* size, split_by"),
    ],
)
def test_bad_tasks(plain, name, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        plain(name, **options)
    assert "\n" not in str(caught.value)


def test_checks(plain):
    with pytest.raises(ValueError, match=r"seed is '1', but it must be a whole number\.$"):
        plain("copy").pairs(seed="1")
    with pytest.raises(ValueError, match="do not add up to 100"):
        for i in range(300):
            split_by_hash(str(i), {"train": 90})
    check_whole(1, n=1)
    check_whole(seed=-1)


def run(code: str, seed: str = "0") -> str:
    """What a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_pairs_need_nothing_heavy():
    code = f"""
import sys
from transformer_book.tasks import make_task
tasks = [name for name in sys.modules if name.startswith("transformer_book.tasks.")]
for name in {WITHOUT_DOWNLOAD}:
    make_task(name).pairs(n=2)
heavy = ("torch", "spacy", "sympy", "tokenizers", "numpy")
print(tasks, [name for name in heavy if name in sys.modules])
"""
    assert run(code) == "[] []"


def test_pairs_are_the_same_in_every_process():
    code = f"""
from transformer_book.tasks import make_task
for name in {WITHOUT_DOWNLOAD}:
    print(make_task(name).pairs("test", n=30, seed=1))
print(make_task("series", size="long", split_by="shape-disjoint").pairs("validation", n=30))
"""
    assert run(code, "1") == run(code, "2")
