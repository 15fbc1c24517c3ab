"""A public corpus of two-term series, to compare with a published result on its own test split.

[hbprosper/Terascale](https://github.com/hbprosper/Terascale) (MIT licence, © 2023 hbprosper) has
14 367 pairs `expression|series`. Its tutorial keeps the 11 850 whose series has at most 83 tokens
(85 with `<sos>` and `<eos>`) and cuts them, in the order of the file, 17 : 2 : 1 into 10 072 pairs
for training, 1 185 for validation and 593 for test. It reports 0.948 ± 0.009 of those exactly
right. This module keeps and cuts the pairs in the same way.

The terms of a series are in a different order from the book's own pairs: see `series`.
"""

from __future__ import annotations

import gzip
from pathlib import Path

from transformer_book.tasks import Pair
from transformer_book.tasks.downloads import Remote, data_folder, locate
from transformer_book.tokens import MathTokenizer

FOLDER = "taylor-two-terms"
# The file in the repository, and the same bytes compressed.
TEXT = Remote(
    f"{FOLDER}/seq2seq_series_2terms.txt",
    "https://raw.githubusercontent.com/hbprosper/Terascale/"
    "da8a084108599e02c2d0ceab6e481cab1cb5ff6a/05_TNN/seq2seq_series_2terms.txt",
    "cc1da22547f0e54cae4a82cf136d5efe536d6be9461fa4600c2b62e87b33610e",
    1417862,
)
PACKED = Remote(
    f"{FOLDER}/pairs.txt.gz",
    TEXT.url,
    "1561650b3d0fabdecaa0fdaacfa7fce7d69f64e7c1d9de67112ce7c5bd9a056f",
    299925,
)
MAX_TARGET = 83
SHARES = {"train": 17, "validation": 2, "test": 1}


def download() -> Path:
    """The path of the corpus, which has been fetched if need be, and checked."""
    if (data_folder() / PACKED.path).exists():
        return locate(PACKED)
    return locate(TEXT, instead="the size 'two-terms', which is generated")


def pairs() -> dict[str, list[Pair]]:
    """The pairs of each split, in the order of the file.

    Raises:
        ValueError: the corpus cannot be downloaded, or is another one.
    """
    path = download()
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("ascii")
    tokenizer = MathTokenizer()
    sides = (line.split("|") for line in text.splitlines())
    read = (Pair(tuple(tokenizer(source)), tuple(tokenizer(target))) for source, target in sides)
    kept = [pair for pair in read if len(pair.target) <= MAX_TARGET]
    whole = sum(SHARES.values())
    ends = [len(kept) * SHARES["train"] // whole]
    ends.append(ends[0] + len(kept) * SHARES["validation"] // whole)
    return {
        "train": kept[: ends[0]],
        "validation": kept[ends[0] : ends[1]],
        "test": kept[ends[1] :],
    }
