#!/usr/bin/env python3
"""Train small recipes with three seeds, and record the results: chapters 5, 15, 18, 24, 25.

They stand in `recipes/today`, in groups by their names, most of them measured on the validation
split: `part-*`, one part each in the causal stack; `series-*`, parts on Taylor series; `peak-*` and
`loud-*`, ablations of chapter 16 with another learning rate or other first positions; `length-*`,
trained on short captions and asked for longer ones. The others, whole models side by side, are
measured on `test` and `compositional`, too, and each look at those is logged. A run whose recipe
has not changed since it was recorded is not repeated, so this can be stopped and started again.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from functools import partial
from itertools import product
from typing import Any

from common import ROOT
from record_ablations import SEEDS, record_once, run

TODAY = ROOT / "code" / "transformer_book" / "recipes" / "today"
RATES = (0.002, 0.004, 0.008)  # with --rates: tried on a recipe, kept in rates.json
VALIDATION_ONLY = ("part-", "series-", "peak-", "loud-")
PAIRS = 2000  # of the validation split, for the lengths: some are rare


def by_length(translator, n: int = PAIRS) -> list[dict[str, Any]]:
    """How many validation captions come out right, by the tokens of the longer side.

    Special tokens count, as in `data.max_length`.
    """
    from transformer_book.tasks import make_task, texts_of

    task = make_task(**translator.recipe["task"])
    pairs = task.pairs("validation", n=n, seed=translator.recipe["data"]["seed"])
    sources, references = zip(*(texts_of(task, pair) for pair in pairs), strict=True)
    right = defaultdict(list)
    for pair, said, reference in zip(
        pairs, translator.translate(list(sources)), references, strict=True
    ):
        right[max(len(pair.source) + 1, len(pair.target) + 2)].append(said == reference)
    return [{"length": k, "n": len(v), "right": sum(v)} for k, v in sorted(right.items())]


def measured(name: str, recipe, threads: int) -> dict[str, Any]:
    """Train one recipe, and measure what its group asks for; a run that diverged has nothing."""
    from transformer_book.runs.evaluation import evaluate, log_look

    entry, translator = run(name, recipe, threads, 100 if name.startswith("series-") else 500)
    if entry["diverged"] is not None or name.startswith(VALIDATION_ONLY):
        return entry
    if name.startswith("length-"):
        return entry | {"by_length": by_length(translator)}
    entry["results"] = [evaluate(translator, split) for split in ("test", "compositional")]
    for result in entry["results"]:
        log_look(TODAY.parent, result | {"recipe": name, "seed": entry["seed"]})
    return entry


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="RECIPE", help="only these recipes")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, help="only these seeds")
    parser.add_argument("--rates", nargs="+", type=float, default=[None], choices=RATES)
    parser.add_argument("--threads", type=int, default=1, help="threads of one run")
    arguments = parser.parse_args()

    from transformer_book.recipes import load_recipe

    every = sorted(path.stem for path in TODAY.glob("*.toml"))
    tried = [f"{name} at {rate}" for name in every for rate in RATES]
    for seed, name, rate in product(arguments.seeds, arguments.only or every, arguments.rates):
        changes = [f"training.seed={seed}", *([f"training.learning_rate={rate}"] if rate else [])]
        recipe = load_recipe(TODAY / f"{name}.toml", changes)
        asked = {"settings": recipe.to_dict()}
        make = partial(measured, f"{name} at {rate}" if rate else name, recipe, arguments.threads)
        record, names = ("rates.json", tried) if rate else ("recorded.json", every)
        record_once(TODAY / record, names, asked, make)


if __name__ == "__main__":
    main()
