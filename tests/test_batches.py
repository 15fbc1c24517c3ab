"""Batches hold every example once, padded at the end, and repeat exactly for a seed and epoch."""

from __future__ import annotations

import random
import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from transformer_book.batches import Batch, BucketedBatches, PairDataset, collate
from transformer_book.tokens import EOS, PAD, SOS, UNK, SubwordTokenizer, Vocabulary

VOCABULARY = Vocabulary(["a", "b", "c"])
PAIRS = [(["a"], ["b", "b", "b"]), (["a", "b", "c"], ["c"]), (["c", "?"], ["a", "b"])]


def tiny(**options: object) -> PairDataset:
    return PairDataset(PAIRS, VOCABULARY, VOCABULARY, **options)


def of_lengths(lengths: list[tuple[int, int]]) -> PairDataset:
    """A dataset whose examples have these lengths, special tokens included."""
    pairs = [(["a"] * (source - 1), ["b"] * (target - 2)) for source, target in lengths]
    return PairDataset(pairs, VOCABULARY, VOCABULARY)


def realistic(n: int = 3000) -> PairDataset:
    """Lengths spread like those of captions: mean 14, most between 7 and 25."""
    draw = random.Random(1)
    sources = [min(40, max(4, round(draw.gauss(14, 4.5)))) for _ in range(n)]
    return of_lengths([(s, max(3, s + draw.randint(-3, 3))) for s in sources])


@pytest.fixture(scope="module")
def captions() -> PairDataset:
    return realistic()


FEW = of_lengths([(i + 3, i + 3) for i in range(105)])  # no two of equal length


def waste(batches: BucketedBatches) -> float:
    """The share of padding in an epoch."""
    padding = total = 0
    for indices in batches:
        lengths = torch.tensor([batches.lengths[i] for i in indices])
        total += int(lengths.max(dim=0).values.sum()) * len(indices)
        padding += int((lengths.max(dim=0).values - lengths).sum())
    return padding / total


# --- the dataset ----------------------------------------------------------------------------------


def test_examples_are_encoded_with_their_special_tokens():
    dataset = tiny()
    assert len(dataset) == 3
    assert dataset[0] == ([4, EOS], [SOS, 5, 5, 5, EOS])
    assert dataset[2] == ([6, UNK, EOS], [SOS, 4, 5, EOS])
    assert dataset.lengths == [(2, 5), (4, 3), (3, 4)]
    assert tiny(source_sos=True)[0][0] == [SOS, 4, EOS]


def test_pairs_may_be_strings_or_objects():
    strings = [(" ".join(source), " ".join(target)) for source, target in PAIRS]
    dataset = PairDataset(
        strings, VOCABULARY, VOCABULARY, source_tokenizer=str.split, target_tokenizer=str.split
    )
    objects = [SimpleNamespace(source=tuple(s), target=t, alignment=()) for s, t in PAIRS]
    other = PairDataset(iter(objects), VOCABULARY, VOCABULARY, target_tokenizer=str.split)
    assert dataset.examples == other.examples == tiny().examples


def test_long_pairs_are_dropped_on_request():
    assert tiny(max_length=5).dropped == 0
    dataset = tiny(max_length=4, too_long="drop")
    assert dataset.dropped == 1
    assert dataset.lengths == [(4, 3), (3, 4)]


def test_a_new_dataset_draws_new_spellings():
    tokenizer = SubwordTokenizer("ab", ["a b", "ab ab", "abab abab"], dropout=0.5)
    vocabulary = Vocabulary(tokenizer.pieces)

    def encoded() -> PairDataset:
        tokenizers = {"source_tokenizer": tokenizer, "target_tokenizer": tokenizer}
        return PairDataset([("ab" * 20, "ab" * 20)], vocabulary, vocabulary, **tokenizers)

    dataset = encoded()
    assert dataset[0] == dataset[0]
    assert dataset.lengths == [tuple(map(len, dataset[0]))]
    assert encoded()[0] != dataset[0]


# --- a batch --------------------------------------------------------------------------------------


def test_padding_comes_after_the_end():
    batch = collate([tiny()[0], tiny()[1]])
    assert batch.source.tolist() == [[4, EOS, PAD, PAD], [4, 5, 6, EOS]]
    assert batch.target.tolist() == [[SOS, 5, 5, 5, EOS], [SOS, 6, EOS, PAD, PAD]]
    assert batch.source.dtype == batch.target.dtype == torch.int64


def test_input_and_output_are_shifted_by_one_place():
    batch = collate([tiny()[0], tiny()[1]])
    assert batch.target_in.tolist() == [[SOS, 5, 5, 5], [SOS, 6, EOS, PAD]]
    assert batch.target_out.tolist() == [[5, 5, 5, EOS], [6, EOS, PAD, PAD]]
    assert batch.n_tokens == 6
    assert batch.size == 2
    assert batch.padding_fraction == 4 / 18


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(4, 9), min_size=1, max_size=9),
            st.lists(st.integers(4, 9), min_size=2, max_size=9),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_collating_changes_no_id(examples):
    batch = collate(examples)
    assert batch.source.shape == (len(examples), max(len(s) for s, _ in examples))
    for (source, target), padded_source, padded_target in zip(
        examples, batch.source.tolist(), batch.target.tolist(), strict=True
    ):
        assert padded_source == source + [PAD] * (len(padded_source) - len(source))
        assert padded_target == target + [PAD] * (len(padded_target) - len(target))
    assert batch.n_tokens == sum(len(target) - 1 for _, target in examples)


def test_a_batch_moves_and_is_pinned(monkeypatch):
    batch = collate([tiny()[0]])
    moved = batch.to("meta")
    assert moved.source.device.type == moved.target.device.type == "meta"
    assert batch.source.device.type == "cpu"
    pinned = []
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: pinned.append(self) or self)
    batch.pin_memory()
    assert pinned[0] is batch.source and pinned[1] is batch.target


# --- which examples go together -------------------------------------------------------------------

LIMITS = [{"batch_size": 64}, {"max_tokens": 1000}]


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_bucketing_saves_padding(captions, limit):
    """From 43 % to 10 % on these lengths with `batch_size`, from 41 % to 9 % with `max_tokens`."""
    without = waste(BucketedBatches(captions, **limit, bucket=False))
    bucketed = waste(BucketedBatches(captions, **limit))
    print(f"{limit}: {without:.1%} padding without buckets, {bucketed:.1%} with")
    assert bucketed < 0.11 < 0.35 < without


@pytest.mark.parametrize("limit", LIMITS, ids=str)
def test_epochs_differ_in_composition_and_order(captions, limit):
    batches = BucketedBatches(captions, **limit)
    first = list(batches)
    assert list(batches) == first
    batches.set_epoch(1)
    second = list(batches)
    shared = {frozenset(batch) for batch in first} & {frozenset(batch) for batch in second}
    assert len(shared) <= 1  # the longest sentences of all may meet again
    batches.set_epoch(0)
    assert list(batches) == first
    # Short sentences do not all come first.
    means = [sum(captions.lengths[i][0] for i in batch) / len(batch) for batch in first]
    assert means != sorted(means) and means[: len(means) // 2] != sorted(means[: len(means) // 2])


@pytest.mark.parametrize("limit", [{"batch_size": 10}, {"max_tokens": 500}], ids=str)
def test_epochs_of_few_examples_differ_too(limit):
    """From 43 % to 13 % on these lengths with `batch_size`, from 39 % to 12 % with `max_tokens`."""
    before, wasted, epochs = set[frozenset[int]](), 0.0, 8
    batches = BucketedBatches(FEW, **limit)
    for epoch in range(epochs):
        batches.set_epoch(epoch)
        composition = {frozenset(batch) for batch in batches}
        assert len(composition & before) <= len(batches) / 4  # four long ones may meet again
        before = composition
        wasted += waste(batches) / epochs
    without = waste(BucketedBatches(FEW, **limit, bucket=False))
    print(f"{limit}: {without:.1%} padding without buckets, {wasted:.1%} with")
    assert wasted < 0.4 * without


def test_the_order_is_a_function_of_seed_and_epoch(captions):
    orders = {}
    for seed in (0, 1, 2**32, 2**40):
        for epoch in range(4):
            batches = BucketedBatches(captions, batch_size=64, seed=seed)
            torch.manual_seed(epoch)  # the global generator has no say
            batches.set_epoch(epoch)
            orders[seed, epoch] = str(list(batches))
    assert len(set(orders.values())) == len(orders)


def test_a_new_process_repeats_the_order():
    code = """
from transformer_book.batches import BucketedBatches
from types import SimpleNamespace
dataset = SimpleNamespace(lengths=[(2 + i % 7, 3 + i % 11) for i in range(100)])
batches = BucketedBatches(dataset, max_tokens=60, seed=3)
batches.set_epoch(2)
print(list(batches))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    batches = BucketedBatches(
        of_lengths([(2 + i % 7, 3 + i % 11) for i in range(100)]), max_tokens=60, seed=3
    )
    batches.set_epoch(2)
    assert run.stdout.strip() == str(list(batches))


@given(
    lengths=st.lists(st.tuples(st.integers(2, 12), st.integers(3, 12)), min_size=1, max_size=60),
    limit=st.one_of(
        st.fixed_dictionaries({"batch_size": st.integers(1, 20)}),
        st.fixed_dictionaries({"max_tokens": st.integers(12, 80)}),
    ),
    shuffle=st.booleans(),
    bucket=st.booleans(),
    pool=st.integers(1, 4),
    epoch=st.integers(0, 3),
)
def test_every_example_once_within_the_limit(lengths, limit, shuffle, bucket, pool, epoch):
    class Pools(BucketedBatches):
        POOL = pool

    batches = Pools(of_lengths(lengths), **limit, shuffle=shuffle, bucket=bucket)
    batches.set_epoch(epoch)
    chosen = list(batches)
    assert len(chosen) == len(batches)
    assert sorted(i for batch in chosen for i in batch) == list(range(len(lengths)))
    sizes = sorted(map(len, chosen))
    if "batch_size" in limit:
        assert all(size == limit["batch_size"] for size in sizes[1:])
        assert 1 <= sizes[0] <= limit["batch_size"]
    else:
        widest = [max(max(lengths[i]) for i in batch) for batch in chosen]
        for width, batch in zip(widest, chosen, strict=True):
            assert batch and width * len(batch) <= limit["max_tokens"]


def test_without_shuffling():
    dataset = of_lengths([(5, 4), (2, 3), (4, 4), (3, 3), (6, 4)])
    plain = BucketedBatches(dataset, batch_size=2, shuffle=False, bucket=False)
    assert list(plain) == [[0, 1], [2, 3], [4]]
    by_length = BucketedBatches(dataset, batch_size=2, shuffle=False)
    assert list(by_length) == [[1, 3], [2, 0], [4]]
    by_length.set_epoch(7)
    assert list(by_length) == [[1, 3], [2, 0], [4]]


def test_drop_last(captions):
    batches = BucketedBatches(captions, batch_size=64, drop_last=True)
    assert len(batches) == len(list(batches)) == 3000 // 64
    assert {len(batch) for batch in batches} == {64}
    exact = BucketedBatches(captions, batch_size=100, drop_last=True)
    assert len(exact) == 30
    everything = BucketedBatches(captions, max_tokens=1000)
    assert len(BucketedBatches(captions, max_tokens=1000, drop_last=True)) == len(everything) - 1


@pytest.mark.parametrize("limit", [{"batch_size": 10}, {"max_tokens": 500}], ids=str)
def test_drop_last_drops_others_in_each_epoch(limit):
    batches = BucketedBatches(FEW, **limit, drop_last=True)
    dropped = []
    for epoch in range(10):
        batches.set_epoch(epoch)
        dropped.append(set(range(105)) - {i for batch in batches for i in batch})
    assert all(dropped) and not set.intersection(*dropped)
    assert min(set.union(*dropped)) < 35 and max(set.union(*dropped)) >= 70  # short and long
    if "batch_size" in limit:
        assert {len(examples) for examples in dropped} == {5}


def test_the_default_device_has_no_say():
    batches = BucketedBatches(FEW, batch_size=10)
    with torch.device("meta"):
        assert list(BucketedBatches(FEW, batch_size=10)) == list(batches)


@pytest.mark.parametrize("workers", [0, 1])
def test_in_a_data_loader(workers):
    batches = BucketedBatches(tiny(), batch_size=2)
    loader = DataLoader(tiny(), batch_sampler=batches, collate_fn=collate, num_workers=workers)
    loaded = list(loader)
    assert len(loaded) == len(loader) == 2
    for batch, indices in zip(loaded, batches, strict=True):
        expected = collate([tiny()[i] for i in indices])
        assert torch.equal(batch.source, expected.source)
        assert torch.equal(batch.target, expected.target)


# --- bad input ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def book(unhooked):
    return unhooked("transformer_book.batches")


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        ([], {}, "dataset is empty: there are no pairs"),
        ([*PAIRS, (["a"], [])], {}, "target 3 is empty"),
        ([([], ["a"])], {}, "source 0 is empty"),
        ([("", "a")], {"source_tokenizer": str.split}, "source 0 is empty"),
        ([(None, ["a"])], {}, "source 0 is None, but it must be a sequence"),
        ([(["a"], None)], {"target_tokenizer": str.split}, "target 0 is None"),
        ([("a b", ["a"])], {}, "source 0 is the string 'a b': pass source_tokenizer="),
        ([(["a"], "a b")], {"source_tokenizer": str.split}, "target 0 is .* target_tokenizer="),
        (PAIRS, {"max_length": 4}, "target of pair 0 has 5 tokens, .* max_length is 4; .*'drop'"),
        (PAIRS[1:], {"max_length": 3}, "source of pair 0 has 4 tokens"),
        (PAIRS, {"max_length": 2, "too_long": "drop"}, "empty: all 3 pairs are longer than 2"),
        (PAIRS, {"max_length": 0}, "max_length is 0"),
        (PAIRS, {"too_long": "cut"}, "too_long is 'cut'"),
        (["ab"], {}, "Pair 0 is 'ab'"),
        ([(["a"], ["b"], ["c"])], {}, "Pair 0 is .* a pair"),
        ([([4, 5], [6])], {}, "4 is not a token"),
    ],
)
def test_bad_datasets(book, pairs, options, message):
    vocabulary = book.Vocabulary(["a", "b", "c"])
    with pytest.raises(ValueError, match=message):
        book.PairDataset(pairs, vocabulary, vocabulary, **options)


IDS = torch.tensor([[4, 5, EOS]])


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ([[4, 5], [4]], IDS, "source of a batch is a list, .* collate"),
        (IDS, torch.empty(0, 3, dtype=torch.int64), "is empty"),
        (IDS[0], IDS, "(batch, length)"),
        (IDS.float(), IDS, "torch.float32"),
        (IDS, IDS.int(), "target of a batch has type torch.int32, .* torch.int64"),
        (IDS.expand(2, 3), IDS, "source has 2 sentences and the target 1"),
        (IDS, IDS[:, :1], "target of a batch has 1 column"),
    ],
)
def test_bad_batches(book, source, target, message):
    with pytest.raises(ValueError, match=message):
        book.Batch(source, target)


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ([], "no examples"),
        ([([4], [1, 2]), ([], [1, 2])], "source of example 1 is empty"),
        ([([4], [])], "target of example 0 is empty"),
        ([([1.7], [1, 2])], "source of example 0 must hold ids, but 'float'"),
        ([([4], [1, 2]), ([4], [1, None])], "target of example 1 must hold ids"),
    ],
)
def test_bad_examples(book, examples, message):
    with pytest.raises(ValueError, match=message):
        book.collate(examples)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one"),
        ({"batch_size": 2, "max_tokens": 9}, "batch_size is 2 and max_tokens is 9"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"max_tokens": -1}, "max_tokens is -1"),
        ({"max_tokens": 4}, "Example 0 has 5 tokens, but max_tokens is 4"),
        ({"batch_size": 4, "drop_last": True}, "no batch of batch_size = 4 from 3 examples"),
        ({"batch_size": 4, "drop_last": True, "shuffle": False}, "no batch of batch_size = 4"),
        ({"max_tokens": 99, "drop_last": True}, "no batch of max_tokens = 99 from 3 examples"),
    ],
)
def test_bad_bucketing(book, options, message):
    with pytest.raises(ValueError, match=message):
        book.BucketedBatches(tiny(), **options)


def test_bucketing_nothing(book):
    with pytest.raises(ValueError, match="nothing to make batches of"):
        book.BucketedBatches(SimpleNamespace(lengths=[]), batch_size=2)


def test_the_hook_is_on():
    """All tests but those of bad input run with the annotations enforced."""
    with pytest.raises(TypeError):
        Batch(torch.zeros(2), torch.zeros(2, 3, dtype=torch.int64))
