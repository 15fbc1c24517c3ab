"""Multi30k: 31 014 captions of photographs, English and German (Elliott et al. 2016).

29 000 pairs for training, 1 014 for validation; `test` is the 1 000 pairs of test_2016_flickr. The
captions are derived from Flickr30K; its authors provide them for non-commercial research and
education, so the book does not contain them: they are downloaded once (1.3 MB) from
[multi30k/dataset](https://github.com/multi30k/dataset) and kept in `downloads.data_folder()`.

The splits are those of the corpus, and stay as they are: 24 German sentences occur more than once
in training (23 twice, one three times), and one of validation occurs there, too.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from transformer_book.support.arguments import check_choice
from transformer_book.tasks import Options, check_switch, check_whole, too_few
from transformer_book.tasks.corpora import SKIPPED, Corpus, TextPair
from transformer_book.tasks.downloads import Remote, locate
from transformer_book.tokens import SpacyTokenizer

LANGUAGES = ("de", "en")
URL = (
    "https://raw.githubusercontent.com/multi30k/dataset/"
    "a3d2e0d26b56f3846f66a952536ffed4e401d05a/data/task1/raw/"
)
# Split and language: the file's name, its size, its SHA-256.
FILES = {
    ("train", "de"): (
        "train.de.gz",
        637044,
        "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    ),
    ("train", "en"): (
        "train.en.gz",
        568929,
        "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    ),
    ("validation", "de"): (
        "val.de.gz",
        24681,
        "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    ),
    ("validation", "en"): (
        "val.en.gz",
        21650,
        "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    ),
    ("test", "de"): (
        "test_2016_flickr.de.gz",
        22890,
        "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    ),
    ("test", "en"): (
        "test_2016_flickr.en.gz",
        21077,
        "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    ),
}


@dataclass(frozen=True)
class Multi30kTask(Options):
    """Translate captions of photographs. The pairs are `corpora.TextPair`s.

    Args:
        source, target: "de" and "en", in either order.
        lowercase: lower-case the tokens, as tutorials do; the texts of the pairs keep their case.

    Raises:
        ValueError: a language that the corpus lacks, or two equal ones.
    """

    name: ClassVar[str] = "multi30k"
    splits: ClassVar[tuple[str, ...]] = ("train", "validation", "test")

    source: str = "de"
    target: str = "en"
    lowercase: bool = False

    def __post_init__(self) -> None:
        for side in ("source", "target"):
            check_choice(side, getattr(self, side), LANGUAGES)
        if self.source == self.target:
            raise ValueError(f"source and target are both {self.source!r}: choose two languages.")
        check_switch(lowercase=self.lowercase)

    @cached_property
    def source_tokenizer(self) -> SpacyTokenizer:
        return SpacyTokenizer(self.source, lowercase=self.lowercase)

    @cached_property
    def target_tokenizer(self) -> SpacyTokenizer:
        return SpacyTokenizer(self.target, lowercase=self.lowercase)

    def pairs(self, split: str = "train", n: int = 1000, seed: int = 0) -> list[TextPair]:
        """The first `n` pairs of a split: in the order of the corpus, or shuffled by a seed not 0.

        Raises:
            ValueError: an unknown split, `n` below 1 or above what the split has, or files that
                cannot be downloaded or are damaged.
        """
        check_choice("split", split, self.splits)
        check_whole(1, n=n)
        check_whole(seed=seed)
        found = list(self._corpus(split).read())
        if n > len(found):
            raise too_few(n, len(found), split, "ask for fewer")
        if seed:
            random.Random(f"multi30k {seed}").shuffle(found)
        return found[:n]

    def download(self) -> list[Path]:
        """Fetch what is missing of all splits; returns where the files are."""
        return [_locate(split, side) for split in self.splits for side in LANGUAGES]

    def counts(self) -> dict[str, int]:
        """How many pairs of lines were kept, over all splits, and how many left out, and why."""
        counts = Counter(dict.fromkeys(("kept", *SKIPPED), 0))
        for split in self.splits:
            for _ in self._corpus(split).read(counts=counts):
                pass
        return dict(counts)

    def _corpus(self, split: str) -> Corpus:
        return Corpus(
            _locate(split, self.source),
            _locate(split, self.target),
            self.source_tokenizer,
            self.target_tokenizer,
            repeats=True,
        )


def _locate(split: str, language: str) -> Path:
    name, size, sha256 = FILES[split, language]
    return locate(Remote(f"multi30k/{name}", URL + name, sha256, size))
