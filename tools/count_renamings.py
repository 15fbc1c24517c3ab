#!/usr/bin/env python3
"""Count the expressions of a test that stand in the training data with other letters.

Chapter 18 asks what a model has met before. For two models the training data are too large, or not
part of the book, so the counts are recorded, in `recipes/renamings.json`, by recipe:

* `series-two-terms-best`, trained on the public two-term corpus: for each of the book's own
  expressions that the chapter asks for, how many sources of the training split are renamings of it,
  itself included, and whether it is there itself; and, in the corpus's own test, how many have such
  a renaming and how many have none, and how many of each the shipped model answers correctly;
* `series-best`, trained on long expressions, split at random: how many expressions of its test have
  a renaming in the training split, and of how many, by the number of functions in the expression;
  and how many shapes there are in that split.
"""

from __future__ import annotations

import argparse
import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

LETTER = re.compile(r"\b[a-wyz]\b")  # x is the variable
PUBLIC, LONG = "series-two-terms-best", "series-best"
SHIPPED = "series"  # the model of PUBLIC


def key(source: str) -> tuple[str, int]:
    """What an expression shares with its renamings, and with little else."""
    from transformer_book.tasks.series.expressions import read, shape

    return shape(read(source)), len(set(LETTER.findall(source)))


def renamings(sources: Iterable[str], corpus: Iterable[str]) -> dict[str, list[int]]:
    """For each source: how many of the corpus are renamings of it; is it there itself."""
    from transformer_book.tasks.series import canonical_source

    corpus = list(map(canonical_source, corpus))
    alike, known = by_key(corpus), set(corpus)
    return {source: [len(renamings_of(source, alike)), int(source in known)] for source in sources}


def is_renaming(source: str, other: str) -> bool:
    """Whether an exchange of letters makes the other expression, in its canonical spelling."""
    from transformer_book.tasks.series import canonical_source

    letters, others = ("".join(sorted(set(LETTER.findall(text)))) for text in (source, other))
    if len(letters) != len(others):
        return False
    exchanges = (str.maketrans(letters, "".join(order)) for order in itertools.permutations(others))
    return any(
        canonical_source(LETTER.sub(lambda found, to=exchange: found[0].translate(to), source))
        == other
        for exchange in exchanges
    )


def by_key(corpus: Iterable[str]) -> dict[tuple[str, int], list[str]]:
    """The expressions, those of one key together: only among them can there be renamings."""
    alike: dict[tuple[str, int], list[str]] = defaultdict(list)
    for source in corpus:
        alike[key(source)].append(source)
    return alike


def renamings_of(source: str, alike: Mapping[tuple[str, int], list[str]]) -> list[str]:
    """Those expressions of a corpus, `by_key`, that are renamings of the source."""
    return [other for other in alike.get(key(source), ()) if is_renaming(source, other)]


def renamed_by_functions(
    asked: Sequence[str], alike: Mapping[tuple[str, int], list[str]]
) -> dict[str, dict[str, int]]:
    """How many sources have a renaming in a corpus, `by_key`, by their number of functions."""
    from transformer_book.tasks.series import count_by_functions

    renamed = [bool(renamings_of(source, alike)) for source in asked]
    return count_by_functions(asked, renamed, "renamed")


def right_by_renaming(
    pairs: Sequence[tuple[str, str]],
    corpus: Iterable[str],
    answers: Callable[[list[str]], list[str]],
) -> dict[str, dict[str, int]]:
    """Of sources with "some" renaming in a corpus and with "none": answers right, and `n`."""
    found = renamings([source for source, _ in pairs], corpus)
    counts = {group: {"right": 0, "n": 0} for group in ("some", "none")}
    for (source, target), answer in zip(pairs, answers([s for s, _ in pairs]), strict=True):
        group = counts["some" if found[source][0] else "none"]
        group["n"] += 1
        group["right"] += answer == target
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--n", type=int, default=300, help="expressions of the test split (300)")
    parser.add_argument("--seed", type=int, default=18, help="with which they are drawn (18)")
    parser.add_argument("--long", type=int, default=1000, help="of the long test (1000)")
    arguments = parser.parse_args()

    from transformer_book.recipes import FOLDER, load_recipe
    from transformer_book.support.atomic_files import write_json
    from transformer_book.tasks import make_task
    from transformer_book.tasks.downloads import NotDownloaded
    from transformer_book.tasks.series import public
    from transformer_book.translator import Translator

    recipe = load_recipe(LONG).to_dict()
    task, data = make_task(**recipe["task"]), recipe["data"]
    try:
        splits = public.pairs()
        corpus = ["".join(pair.source) for pair in splits["train"]]
        public_test = [("".join(pair.source), "".join(pair.target)) for pair in splits["test"]]
        asked = make_task("series", size="two-terms").pairs("test", arguments.n, arguments.seed)
        found = renamings(["".join(pair.source) for pair in asked], corpus)
        test, training = (
            ["".join(pair.source) for pair in task.pairs(split, n, data["seed"])]
            for split, n in (("test", arguments.long), ("train", data["train"]))
        )
    except (ValueError, NotDownloaded) as error:
        raise SystemExit(str(error)) from None
    # The same greedy answers as in the model's recorded mark: not a new look, only a breakdown.
    translator = Translator.from_pretrained(SHIPPED)
    by_renaming = right_by_renaming(public_test, corpus, translator.translate)
    alike = by_key(training)
    by_functions = renamed_by_functions(test, alike)
    n_shapes = len({shape for shape, _ in alike})
    counted = {
        PUBLIC: {"pairs": len(corpus), "test": by_renaming, "counts": found},
        LONG: {"pairs": len(training), "shapes": n_shapes, "by_functions": by_functions},
    }
    write_json(FOLDER / "renamings.json", counted, indent=1)
    print(
        f"{len(found)} expressions, {sum(n > 0 for n, _ in found.values())} seen with other letters"
    )
    for group, of_it in by_renaming.items():
        print(f"public test, renamings {group}: {of_it['right']} right of {of_it['n']}")
    n_renamed = sum(counts["renamed"] for counts in by_functions.values())
    print(f"{len(test)} long expressions, {n_renamed} seen with other letters")


if __name__ == "__main__":
    main()
