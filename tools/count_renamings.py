#!/usr/bin/env python3
"""Count how often the public two-term corpus holds an expression with other letters.

Chapter 18 asks a model, trained on that corpus, for series of the book's own expressions. Which of
them has the model seen with other letters? The corpus is not part of the book, so the counts are
recorded: for each expression, how many sources of the training split are renamings of it, itself
included, and whether it is there itself. The record is `recipes/renamings.json`.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterable

LETTER = re.compile(r"\b[a-wyz]\b")  # x is the variable


def key(source: str) -> tuple[str, int]:
    """What an expression shares with its renamings, and with nothing else of two factors."""
    from transformer_book.tasks.series.expressions import read, shape

    return shape(read(source)), len(set(LETTER.findall(source)))


def renamings(sources: Iterable[str], corpus: Iterable[str]) -> dict[str, list[int]]:
    """For each source: how many of the corpus are renamings of it; is it there itself."""
    from transformer_book.tasks.series import canonical_source

    corpus = list(map(canonical_source, corpus))
    counts, known = Counter(map(key, corpus)), set(corpus)
    return {source: [counts[key(source)], int(source in known)] for source in sources}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=300, help="expressions of the test split (300)")
    parser.add_argument("--seed", type=int, default=18, help="with which they are drawn (18)")
    arguments = parser.parse_args()

    from transformer_book.files import write_json
    from transformer_book.recipes import FOLDER
    from transformer_book.tasks import make_task
    from transformer_book.tasks.downloads import NotDownloaded
    from transformer_book.tasks.series import public

    try:
        corpus = ["".join(pair.source) for pair in public.pairs()["train"]]
        asked = make_task("series", size="two-terms").pairs("test", arguments.n, arguments.seed)
        found = renamings(["".join(pair.source) for pair in asked], corpus)
    except (ValueError, NotDownloaded) as error:
        raise SystemExit(str(error)) from None
    write_json(FOLDER / "renamings.json", {"pairs": len(corpus), "counts": found}, indent=1)
    print(
        f"{len(found)} expressions, {sum(n > 0 for n, _ in found.values())} seen with other letters"
    )


if __name__ == "__main__":
    main()
