#!/usr/bin/env python3
"""Record what a check adds to the model `series`: how many candidates are right (chapter 18).

Asked are expressions of the book's own generator that have no renaming in the model's training
data, and, as a second group, some whose series is longer than any it was trained on. For each: is
the greedy answer right; which places of a beam are; how many of the draws, at several temperatures.
The public corpus must be at hand (see `tasks.downloads`). It takes some twenty minutes.

`--long RUN` asks another model, trained by the recipe `series-long-small`, for long expressions of
the validation split, whose shapes it has not met, and sorts by the number of functions in them.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from typing import Any

from common import ROOT
from count_renamings import SHIPPED, by_key, renamings_of

RECORD = ROOT / "code" / "transformer_book" / "recipes" / "candidates.json"
SEED = 1855  # of the expressions and of the draws
GROUPS = {"new": 120, "too long": 30}
LONG, LONG_RECIPE = 400, "series-long-small"  # long expressions, of one to six functions
LONGEST = 83  # tokens of a series in the training data
BEAMS = (1, 2, 4, 8, 16, 32, 64)
TEMPERATURES = (0.5, 1.0, 1.5)
DRAWS = 64


def expressions(corpus: list[str]) -> Iterator[tuple[str, str, str]]:
    """Group, source and series of expressions that have no renaming in the corpus."""
    from transformer_book.tasks import make_task
    from transformer_book.tasks.series import canonical_source

    task = make_task("series", size="two-terms")
    alike = by_key(map(canonical_source, corpus))
    for pair in task.pairs("train", 10_000, SEED):
        source = "".join(pair.source)
        if not renamings_of(source, alike):
            group = "new" if len(pair.target) <= LONGEST else "too long"
            yield group, source, "".join(pair.target)


class Judge:
    """What is right, by exact arithmetic; the check by numbers must say the same."""

    def __init__(self) -> None:
        self.wrong_from: dict[tuple[str, str], int | str | None] = {}

    def __call__(self, source: str, series: str, answer: str) -> bool:
        from transformer_book.tasks.series import same_series
        from transformer_book.tasks.series.checking import wrong_from
        from transformer_book.tasks.series.expressions import NotInGrammar

        if (source, answer) not in self.wrong_from:
            try:
                power: int | str | None = wrong_from(source, answer)
            except NotInGrammar:
                power = "unreadable"
            assert (power is None) == same_series(answer, series), (source, answer)
            self.wrong_from[source, answer] = power
        return self.wrong_from[source, answer] is None

    def counts(self) -> dict[str, int]:
        """How many different answers are right, and how many are wrong from which power on."""
        counted = Counter(map(str, self.wrong_from.values()))
        return {"right": counted.pop("None"), **dict(sorted(counted.items()))}


def places(
    translator: Any, asked: list[tuple[str, str]], judge: Judge, **search: Any
) -> tuple[list[list[int]], float]:
    """For each expression the places of right candidates; and the tokens that it cost."""
    found = translator.search([source for source, _ in asked], batch_size=16, **search)
    every = [[one, *one.alternatives] for one in found]
    tokens = sum(len(each.tokens) for row in every for each in row) / len(every)
    return [
        [place for place, each in enumerate(row) if judge(source, series, each.text)]
        for (source, series), row in zip(asked, every, strict=True)
    ], round(tokens, 1)


def measured(translator: Any, asked: list[tuple[str, str]], judge: Judge) -> dict[str, Any]:
    """For each expression of a group, in order: what was right."""
    from transformer_book.sampling import Drawing

    record: dict[str, Any] = {"beams": {}, "draws": {}}
    for k in BEAMS:
        right, tokens = places(translator, asked, judge, beam_size=k, n_best=k)
        record["beams"][str(k)] = {"tokens": tokens, "first": [min(p, default=None) for p in right]}
        print(f"beam {k}: {sum(map(bool, right))} of {len(asked)}", flush=True)
    for temperature in TEMPERATURES:
        drawing = Drawing(temperature=temperature)
        right, tokens = places(translator, asked, judge, drawing=drawing, seed=SEED, n_best=DRAWS)
        record["draws"][str(temperature)] = {"tokens": tokens, "right": list(map(len, right))}
        print(f"T {temperature}: {sum(map(bool, right))} of {len(asked)}", flush=True)
    return record


def measured_by_functions(run: str) -> dict[str, Any]:
    """Of long expressions that a run did not train on, by the number of functions: how many have a
    right candidate in a beam."""
    from transformer_book.recipes import load_recipe
    from transformer_book.tasks import make_task
    from transformer_book.tasks.series import count_by_functions
    from transformer_book.translator import Translator

    translator, judge = Translator.from_pretrained(run), Judge()
    recipe = translator.recipe
    pairs = make_task(**recipe["task"]).pairs("validation", LONG, recipe["data"]["seed"])
    asked = [("".join(pair.source), "".join(pair.target)) for pair in pairs]
    asked_for = load_recipe(LONG_RECIPE).to_dict()
    assert all(recipe[part] == asked_for[part] for part in ("task", "data", "model", "training"))
    record: dict[str, Any] = {"recipe": LONG_RECIPE, "n": LONG, "beams": {}}
    for k in (k for k in BEAMS if k <= 16):
        right, tokens = places(translator, asked, judge, beam_size=k, n_best=k)
        parts = count_by_functions([source for source, _ in asked], list(map(bool, right)), "right")
        record["beams"][str(k)] = {"tokens": tokens, "by_functions": parts}
        print(f"beam {k}:", *(f"{n}: {v['right']} of {v['n']}" for n, v in parts.items()))
    return record | {"different_answers": judge.counts()}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--long", metavar="RUN", help="the folder of a trained model")
    given = parser.parse_args()
    import torch

    from transformer_book.support.atomic_files import read_json, write_json
    from transformer_book.tasks.downloads import NotDownloaded
    from transformer_book.tasks.series import public
    from transformer_book.translator import Translator

    torch.set_num_threads(1)
    if given.long:
        long = measured_by_functions(given.long)
        write_json(RECORD, read_json(RECORD) | {"long": long}, indent=1)
        return
    try:
        corpus = ["".join(pair.source) for pair in public.pairs()["train"]]
    except NotDownloaded as error:
        raise SystemExit(str(error)) from None
    translator, judge = Translator.from_pretrained(SHIPPED), Judge()
    record: dict[str, Any] = {"model": SHIPPED, "n_draws": DRAWS, "groups": {}}
    every = list(expressions(corpus))
    for group, n in GROUPS.items():
        asked = [(source, series) for name, source, series in every if name == group][:n]
        assert len(asked) == n, (group, len(asked))
        print(f"{group}: {n} expressions")
        record["groups"][group] = {
            "sources": [source for source, _ in asked],
            **measured(translator, asked, judge),
        }
    record |= {"different_answers": judge.counts(), "long": read_json(RECORD)["long"]}
    write_json(RECORD, record, indent=1)
    print(judge.counts())


if __name__ == "__main__":
    main()
