"""What each improvement is worth: the book with all of them, and with one taken away."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from torch import Tensor

from benchmarks.clock import round_robin, summary
from benchmarks.contestants import Book
from benchmarks.setting import Setting
from transformer_book.batches import Batch
from transformer_book.decoding import greedy_search
from transformer_book.fused import formula_for_short
from transformer_book.layers import fused_norms
from transformer_book.training import batch_loss

ALL = "all of them"
TAKEN = (
    "the formula for short attentions",
    "fused norms",
    "the projection in slices",
    "batches by length",
)


class Partly(Book):
    """The book's model in training, without one of its improvements."""

    def __init__(self, setting: Setting, dropout: float = 0.0, without: str | None = None) -> None:
        super().__init__(setting, dropout)
        self.without = without

    def loss(self, batch: Batch) -> Tensor:
        fused = self.without != "the projection in slices"
        return batch_loss(self.model, batch, fused=fused)[0]

    @contextmanager
    def kernels(self) -> Iterator[None]:
        norms, short = fused_norms(self.model), formula_for_short(self.model)
        with (
            nullcontext() if self.without == "fused norms" else norms,
            nullcontext() if self.without == "the formula for short attentions" else short,
        ):
            yield


def training(setting: Setting) -> dict[str, Any]:
    """Tokens per second, source and target, without padding."""
    turns: dict[str, Callable[[], object]] = {}
    amounts = {}
    for without in (None, *TAKEN):
        batches = setting.train_batches(
            setting.sizes.train_updates, bucket=without != "batches by length"
        )
        contestant = Partly(setting, setting.sizes.dropout, without)
        contestant.prepare()
        turns[without or ALL] = lambda c=contestant, all_=batches: [c.update(b) for b in all_]
        amounts[without or ALL] = sum(int((b.source != 0).sum()) + b.n_tokens for b in batches)
    return summary(round_robin(turns, setting.sizes.improvement_rounds), amounts, ALL)


def greedy(setting: Setting) -> dict[str, Any]:
    """Sentences per second, greedily."""
    model = setting.model()

    def search(sources: list[Tensor], cached: bool = True) -> Callable[[], object]:
        return lambda: [
            greedy_search(model, source, max_length=setting.limit(source), cached=cached)
            for source in sources
        ]

    together, alone = setting.sources, setting.single_sources
    turns = {
        ALL: search(together),
        "the cache": search(together, cached=False),
        "batches": search(alone),
        "the cache and batches": search(alone, cached=False),
    }
    sizes = (together, together, alone, alone)
    amounts = {name: sum(map(len, s)) for name, s in zip(turns, sizes, strict=True)}
    return summary(round_robin(turns, setting.sizes.improvement_rounds), amounts, ALL)
