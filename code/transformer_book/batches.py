"""From pairs of sentences to padded batches of ids (chapter 3).

`PairDataset` encodes the pairs, `BucketedBatches` chooses which of them go together, and `collate`
pads them to one length:

    loader = DataLoader(dataset, batch_sampler=BucketedBatches(dataset, batch_size=128),
                        collate_fn=collate)
"""

from __future__ import annotations

import operator
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset, Sampler

from transformer_book.support.arguments import check_positive, check_same_batch, check_token_batch
from transformer_book.tokens import PAD, Vocabulary

Example = tuple[list[int], list[int]]
"""The ids of a source and of its target, special tokens included."""


class PairDataset(Dataset[Example]):
    """Pairs of source and target, encoded: `tokens <eos>` and `<sos> tokens <eos>`.

    `dataset[i]` is the pair of id lists, `dataset.lengths[i]` the pair of their lengths. Pairs are
    encoded once: a tokenizer with dropout draws one spelling here, the same in every epoch. For
    new spellings, make a new dataset (and its `BucketedBatches`) for each epoch.

    Args:
        pairs: (source, target), or objects with the attributes `source` and `target`; each side a
            sequence of tokens, or a string where that side has a tokenizer.
        source_vocabulary, target_vocabulary: built from the training split only.
        source_tokenizer, target_tokenizer: split a string into tokens.
        max_length: the largest number of ids on either side, special tokens included.
        too_long: what happens to a longer pair: "raise", or "drop" and count it in `dropped`.
        source_sos: begin sources with `<sos>`, as the tutorial recipes do.

    Raises:
        ValueError: no pairs, a side that is empty or no sequence, a string without a tokenizer, or
            a pair that is too long; the message says which pair (counted from 0).
    """

    def __init__(
        self,
        pairs: Iterable[object],
        source_vocabulary: Vocabulary,
        target_vocabulary: Vocabulary,
        *,
        source_tokenizer: Callable[[str], Sequence[str]] | None = None,
        target_tokenizer: Callable[[str], Sequence[str]] | None = None,
        max_length: int | None = None,
        too_long: Literal["raise", "drop"] = "raise",
        source_sos: bool = False,
    ):
        if too_long not in ("raise", "drop"):
            raise ValueError(f"too_long is {too_long!r}, but it must be 'raise' or 'drop'.")
        if max_length is not None:
            check_positive(max_length=max_length)
        self.examples: list[Example] = []
        self.dropped = 0
        for i, pair in enumerate(pairs):
            source, target = _sides(pair, i)
            source = _tokens(source, source_tokenizer, f"source {i}")
            target = _tokens(target, target_tokenizer, f"target {i}")
            source_ids = source_vocabulary.encode_source(source, sos=source_sos)
            target_ids = target_vocabulary.encode_target(target)
            longest = max(len(source_ids), len(target_ids))
            if max_length is None or longest <= max_length:
                self.examples.append((source_ids, target_ids))
            elif too_long == "drop":
                self.dropped += 1
            else:
                side = "source" if longest == len(source_ids) else "target"
                raise ValueError(
                    f"The {side} of pair {i} has {longest} tokens, special tokens included, but "
                    f"max_length is {max_length}; raise it, shorten the pair, or leave such pairs "
                    "out (data.max_length in a recipe, too_long='drop' in code)."
                )
        if not self.examples:
            why = f"all {self.dropped} pairs are longer than {max_length}" if self.dropped else ""
            raise ValueError(f"The dataset is empty: {why or 'there are no pairs'}.")
        self.lengths = [(len(source), len(target)) for source, target in self.examples]

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, i: int) -> Example:
        return self.examples[i]


def _sides(pair: object, i: int) -> tuple[object, object]:
    if hasattr(pair, "source") and hasattr(pair, "target"):
        return pair.source, pair.target
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise ValueError(f"Pair {i} is {pair!r}, but it must be a pair (source, target).")
    return pair[0], pair[1]


def _tokens(
    side: object, tokenizer: Callable[[str], Sequence[str]] | None, name: str
) -> Sequence[str]:
    if isinstance(side, str):
        if tokenizer is None:
            kind = name.split()[0]
            raise ValueError(
                f"The {name} is the string {side!r}: pass {kind}_tokenizer=, or split it first."
            )
        side = tokenizer(side)
    if not isinstance(side, Sequence):
        raise ValueError(f"The {name} is {side!r}, but it must be a sequence of tokens.")
    if len(side) == 0:
        raise ValueError(f"The {name} is empty: every source and target needs at least one token.")
    return side


@dataclass(eq=False)
class Batch:
    """Sources (B, S) and targets (B, T) of ids, int64, with `<pad>` (0) after the shorter ones.

    Raises:
        ValueError: not int64 tensors, no rows, too few columns, or not as many sources as targets.
    """

    source: Int[Tensor, "B S"]
    target: Int[Tensor, "B T"]

    def __post_init__(self):
        for name, ids in (("source", self.source), ("target", self.target)):
            if not isinstance(ids, Tensor):
                raise ValueError(
                    f"The {name} of a batch is a {type(ids).__name__}, but it must be a tensor; "
                    "collate pads lists of different length into one."
                )
            check_token_batch(ids)
            if ids.dtype != torch.int64:
                raise ValueError(
                    f"The {name} of a batch has type {ids.dtype}, but ids are torch.int64; "
                    "convert it with .long()."
                )
        check_same_batch(self.source, self.target)
        if self.target.size(1) < 2:
            raise ValueError(
                "The target of a batch has 1 column, but it needs at least <sos> and <eos>."
            )

    @property
    def target_in(self) -> Int[Tensor, "B T"]:
        """What the decoder reads: everything but the last column."""
        return self.target[:, :-1]  # (B, T-1)

    @property
    def target_out(self) -> Int[Tensor, "B T"]:
        """What it should say: the same, shifted by one place, so that column t follows t."""
        return self.target[:, 1:]  # (B, T-1)

    @property
    def n_tokens(self) -> int:
        """How many tokens the loss averages over: `target_out` without padding."""
        return int((self.target_out != PAD).sum())

    @property
    def size(self) -> int:
        """B, the number of pairs."""
        return self.source.size(0)

    @property
    def padding_fraction(self) -> float:
        """The share of padding among all ids, source and target together: computed for nothing."""
        padding = (self.source == PAD).sum() + (self.target == PAD).sum()
        return int(padding) / (self.source.numel() + self.target.numel())

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Batch:
        """The same batch on another device."""
        return Batch(
            self.source.to(device, non_blocking=non_blocking),
            self.target.to(device, non_blocking=non_blocking),
        )

    def pin_memory(self) -> Batch:
        """In page-locked memory, from where a GPU copies faster; `DataLoader` calls this."""
        return Batch(self.source.pin_memory(), self.target.pin_memory())


def collate(examples: Sequence[tuple[Sequence[int], Sequence[int]]]) -> Batch:
    """Pad the examples to the longest source and the longest target among them.

    Padding comes last: `<eos>` directly follows the last real token.

    Raises:
        ValueError: no examples, or a source or target that is empty or holds anything but whole
            numbers; the message says which.
    """
    if len(examples) == 0:
        raise ValueError("There are no examples to make a batch of.")
    for i, (source, target) in enumerate(examples):
        if not len(source) or not len(target):
            side = "target" if len(source) else "source"
            raise ValueError(f"The {side} of example {i} is empty.")
    sources, targets = zip(*examples, strict=True)
    return Batch(_pad(sources, "source"), _pad(targets, "target"))


def _pad(rows: Sequence[Sequence[int]], side: str) -> Int[Tensor, "B S"]:
    tensors = []
    for i, row in enumerate(rows):
        try:
            ids = [operator.index(token) for token in row]  # torch would make 1 of 1.7
        except TypeError as error:
            raise ValueError(f"The {side} of example {i} must hold ids, but {error}.") from error
        tensors.append(torch.tensor(ids, dtype=torch.int64))
    return pad_sequence(tensors, batch_first=True, padding_value=PAD)  # (B, S)


def limit_of(batch_size: int | None, max_tokens: int | None) -> tuple[str, int | None]:
    """What limits a batch: the name of the one that is given, and its value.

    Raises:
        ValueError: not exactly one of the two, or one below 1.
    """
    if (batch_size is None) == (max_tokens is None):
        raise ValueError(
            f"batch_size is {batch_size} and max_tokens is {max_tokens}; "
            "give exactly one of the two."
        )
    name, limit = ("batch_size", batch_size) if max_tokens is None else ("max_tokens", max_tokens)
    check_positive(**{name: limit})
    return name, limit


class BucketedBatches(Sampler[list[int]]):
    """Chooses which examples form a batch; a `batch_sampler` for `DataLoader`.

    A batch is as wide as its longest example, so examples of similar length belong together.
    Shuffled examples are cut into pools of about `POOL` batches, at least two pools; each pool is
    sorted by length and cut into batches, and the batches are shuffled: little padding, and still
    another composition and another order in each epoch. Without `drop_last`, every example comes
    exactly once an epoch.

    The order depends on `seed` and epoch alone. Call `set_epoch` before each epoch: without it,
    every epoch has the same order.

    Args:
        dataset: anything with `lengths`, a (source, target) pair of lengths for each example.
        batch_size: examples in a batch; or instead
        max_tokens: ids in a batch, padding included, on the source side or the target side,
            whichever has more: its examples times the longest of their sequences.
        shuffle: False keeps the same order in all epochs: that of the dataset, or by length.
        bucket: False takes the examples as they come, whatever their length.
        drop_last: leave out what is left over at the end of the epoch: the last examples, fewer
            than `batch_size`, or with `max_tokens` the last batch; with `shuffle`, others in each
            epoch, whatever their length.

    Raises:
        ValueError: not exactly one of `batch_size` and `max_tokens`, one below 1, an example longer
            than `max_tokens`, an empty dataset, or a `drop_last` that leaves nothing.
    """

    POOL = 100

    def __init__(
        self,
        dataset: PairDataset,
        *,
        batch_size: int | None = None,
        max_tokens: int | None = None,
        shuffle: bool = True,
        bucket: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ):
        name, limit = limit_of(batch_size, max_tokens)
        self.lengths = dataset.lengths
        self.batch_size = batch_size
        self.max_tokens = max_tokens
        self.shuffle = shuffle
        self.bucket = bucket
        self.seed = seed
        self.drop_last = drop_last
        if not self.lengths:
            raise ValueError("The dataset is empty: there is nothing to make batches of.")
        longest = max(range(len(self.lengths)), key=lambda i: max(self.lengths[i]))
        if max_tokens is not None and max(self.lengths[longest]) > max_tokens:
            raise ValueError(
                f"Example {longest} has {max(self.lengths[longest])} tokens, but max_tokens is "
                f"{max_tokens}: no batch can hold it; raise max_tokens or drop long examples."
            )
        self.set_epoch(0)
        if not self._batches:
            raise ValueError(
                f"drop_last leaves no batch of {name} = {limit} from {len(self.lengths)} examples; "
                f"choose a smaller {name} or drop_last=False."
            )

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of this epoch."""
        generator = torch.Generator().manual_seed(_mix(self.seed, epoch))
        order = list(range(len(self.lengths)))
        if self.shuffle:
            order = _shuffled(order, generator)
        if self.drop_last and self.batch_size:
            # Before the sorting, after which the last ones are the longest or the shortest.
            del order[len(order) - len(order) % self.batch_size :]
        if self.bucket:
            order = self._sort_pools(order)
        batches = self._cut(order)
        if self.shuffle:
            batches = _shuffled(batches, generator)
        if self.drop_last and self.max_tokens:
            batches.pop()
        self._batches = batches

    def _sort_pools(self, order: list[int]) -> list[int]:
        pool = max(1, len(order))  # one pool where nothing is shuffled: simply sorted
        if self.shuffle:
            mean = sum(map(max, self.lengths)) / len(self.lengths)
            size = self.batch_size or max(1, int(self.max_tokens / mean))
            pool = min(self.POOL * size, len(order) // 2 + 1)
        pools = [order[start : start + pool] for start in range(0, len(order), pool)]
        # Up, down, up, …: a batch that spans two pools still holds examples of similar length.
        return [
            i
            for n, members in enumerate(pools)
            for i in sorted(members, key=self.lengths.__getitem__, reverse=n % 2 == 1)
        ]

    def _cut(self, order: list[int]) -> list[list[int]]:
        batches: list[list[int]] = []
        batch: list[int] = []
        longest = 0
        for i in order:
            longest = max(longest, *self.lengths[i])
            if batch and not self._fits(len(batch) + 1, longest):
                batches.append(batch)
                batch, longest = [], max(self.lengths[i])
            batch.append(i)
        return [*batches, batch] if batch else batches

    def _fits(self, size: int, longest: int) -> bool:
        if self.max_tokens is None:
            return size <= self.batch_size
        return size * longest <= self.max_tokens

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self._batches)

    def __len__(self) -> int:
        return len(self._batches)


def _shuffled(items: list, generator: torch.Generator) -> list:
    places = torch.randperm(len(items), generator=generator, device="cpu")
    return [items[i] for i in places.tolist()]


def _mix(seed: int, epoch: int) -> int:
    # Not seed + epoch: seed 0 in epoch 1 would repeat seed 1 in epoch 0. And torch's
    # CPU generator uses only the lower 32 bits of a larger number.
    return zlib.crc32(f"{seed} {epoch}".encode())
