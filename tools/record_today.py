#!/usr/bin/env python3
"""Train the recipes of chapters 24 and 25 with three seeds, and record the results.

Three groups, by the names of the recipes in `recipes/today`: `part-*`, one part each in the causal
stack, and `length-*`, trained on short captions and asked for longer ones, are measured on the
validation split; the others, whole models side by side, on `test` and `compositional`, too, and
each look at those is logged. A run whose recipe has not changed since it was recorded is not
repeated, so this can be stopped and started again.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from typing import Any

from common import ROOT
from record_ablations import SEEDS, run

TODAY = ROOT / "code" / "transformer_book" / "recipes" / "today"
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="RECIPE", help="only these recipes")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, help="only these seeds")
    parser.add_argument("--threads", type=int, default=1, help="threads of one run")
    arguments = parser.parse_args()

    from transformer_book import recipes
    from transformer_book.evaluation import evaluate, log_look
    from transformer_book.files import read_json, write_json

    record = TODAY / "recorded.json"
    every = sorted(path.stem for path in TODAY.glob("*.toml"))
    for seed in arguments.seeds:
        for name in arguments.only or every:
            recipe = recipes.load_recipe(TODAY / f"{name}.toml", [f"training.seed={seed}"])
            asked = json.loads(json.dumps({"settings": recipe.to_dict()}))
            known = read_json(record) if record.exists() else []
            if any(asked.items() <= entry.items() for entry in known):
                continue
            print(f"{name}, seed {seed}", flush=True)
            entry, translator = run(name, recipe, arguments.threads)
            if name.startswith("length-"):
                entry["by_length"] = by_length(translator)
            elif not name.startswith("part-"):
                entry["results"] = [evaluate(translator, s) for s in ("test", "compositional")]
                for result in entry["results"]:
                    log_look(TODAY.parent, result | {"recipe": name, "seed": seed})
            known = read_json(record) if record.exists() else []
            known = [k for k in known if (k["recipe"], k["seed"]) != (name, seed)] + [entry]
            known.sort(key=lambda k: (every.index(k["recipe"]), k["seed"]))
            write_json(record, known, indent=1)
            print("  " + str(entry.get("exact_match") or entry["diverged"]), flush=True)


if __name__ == "__main__":
    main()
