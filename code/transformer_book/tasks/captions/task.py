"""Captions as a task: a pair of languages and, if wanted, some of the constructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from transformer_book.support.arguments import check_choice
from transformer_book.tasks import Options, captions
from transformer_book.tokens import SpacyTokenizer


@dataclass(frozen=True)
class CaptionsTask(Options):
    """Translate captions; the pairs carry their gold alignment (`captions.AlignedPair`).

    spaCy's tokenizers split the sentences exactly as the grammar does.

    Args:
        source, target: two of "en", "de", "it".
        constructions: the names of `captions.CONSTRUCTIONS` to draw from; None for all.

    Raises:
        ValueError: an unknown language or construction, or two equal languages.
    """

    name: ClassVar[str] = "captions"
    splits: ClassVar[tuple[str, ...]] = tuple(captions.SPLITS)

    source: str = "de"
    target: str = "en"
    constructions: Sequence[str] | None = None

    def __post_init__(self) -> None:
        for side in ("source", "target"):
            check_choice(side, getattr(self, side), captions.LANGUAGES)
        if self.source == self.target:
            raise ValueError(f"source and target are both {self.source!r}: choose two languages.")
        if self.constructions is not None:
            object.__setattr__(self, "constructions", _constructions(self.constructions))

    @cached_property
    def source_tokenizer(self) -> SpacyTokenizer:
        return SpacyTokenizer(self.source)

    @cached_property
    def target_tokenizer(self) -> SpacyTokenizer:
        return SpacyTokenizer(self.target)

    def pairs(
        self, split: str = "train", n: int = 1000, seed: int = 0
    ) -> list[captions.AlignedPair]:
        """The first `n` distinct pairs of a split: see `captions.pairs`."""
        return captions.pairs(self.source, self.target, split, n, seed, self.constructions)


def _constructions(names: object) -> tuple[str, ...]:
    if isinstance(names, str):
        names = (names,)
    if not isinstance(names, Sequence) or not names:
        raise ValueError(
            f"constructions is {names!r}, but it must be None, for all, or a list of at least one."
        )
    for name in names:
        check_choice("construction", name, captions.CONSTRUCTIONS)
    return tuple(name for name in captions.CONSTRUCTIONS if name in names)
