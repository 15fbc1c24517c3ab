#!/usr/bin/env python3
"""Train every `ablation-*` recipe with three seeds, and record the results.

Chapter 16 shows the table. With `--mistakes`, the same for the recipes with a mistake, which
chapter 22 shows. A run whose recipe has not changed since it was recorded is not repeated, so this
can be stopped and started again. Nothing is read off the test split.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from common import ROOT

RECIPES = ROOT / "code" / "transformer_book" / "recipes"
SEEDS = (1, 2, 3)


def run(name: str, recipe, threads: int, n: int = 500) -> tuple[dict, Any]:
    """Train one recipe with one seed, and measure it on n pairs of the validation split.

    Returns what is recorded, and the trained model's `Translator`.
    """
    import torch

    from transformer_book.runs.evaluation import evaluate
    from transformer_book.runs.experiment import Experiment
    from transformer_book.training import NonFiniteLoss

    torch.set_num_threads(threads)
    experiment = Experiment(recipe)
    trainer = experiment.trainer()
    diverged = None
    try:
        trainer.fit()
    except NonFiniteLoss as error:
        diverged = str(error)
    history = trainer.history
    tail = history[-50:]
    measured = [(r["update"], r["validation_loss"]) for r in history if "validation_loss" in r]
    entry = {
        "recipe": name,
        "seed": recipe.training["seed"],
        "settings": recipe.to_dict(),
        "updates": trainer.update,
        "parameters": trainer.model.n_parameters,
        "train_nll": sum(r["nll"] for r in tail) / len(tail) if tail else None,
        "validation": measured,
        "diverged": diverged,
    }
    translator = experiment.translator(trainer.model)
    if diverged is None:
        result = evaluate(translator, "validation", n=n)
        kept = ("exact_match", "bleu", "mathematically_equal", "n", "torch")
        entry |= {key: result[key] for key in kept if key in result}
        entry["hardware"] = result["hardware"]
    return entry, translator


def record_once(record: Path, every: list[str], asked: dict, make: Callable[[], dict]) -> None:
    """Add what `make` measures to a record, unless a run like `asked` stands there already.

    Args:
        record: a JSON file; read anew each time, since another process may be recording, too.
        every: the names of all recipes, in the order of the record.
        asked: `settings`, the recipe as plain values, and what else tells the run from others.
        make: trains and measures; its result has `recipe` and `seed`.
    """
    from transformer_book.support.atomic_files import read_json, write_json

    def known() -> list[dict]:
        return read_json(record) if record.exists() else []

    asked = json.loads(json.dumps(asked))
    if any(asked.items() <= entry.items() for entry in known()):
        return
    entry = make()
    one = entry["recipe"], entry["seed"]
    print(f"{one[0]}, seed {one[1]}: {entry.get('exact_match') or entry['diverged']}", flush=True)
    entries = [old for old in known() if (old["recipe"], old["seed"]) != one] + [entry]
    entries.sort(key=lambda old: (every.index(old["recipe"]), old["seed"]))
    write_json(record, entries, indent=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mistakes", action="store_true", help="the recipes with a mistake")
    parser.add_argument("--only", nargs="+", metavar="RECIPE", help="only these recipes")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS, help="only these seeds")
    parser.add_argument("--threads", type=int, default=2, help="threads of one run")
    parser.add_argument("--record", type=Path, help="the file to keep them in")
    arguments = parser.parse_args()

    from transformer_book import recipes
    from transformer_book.checks import in_whole_models

    if arguments.mistakes:
        every, record = in_whole_models.names(), arguments.record or in_whole_models.RECORD
    else:
        every = [name for name in recipes.names() if name.startswith("ablation-")]
        record = arguments.record or RECIPES / "ablations.json"
    for seed in arguments.seeds:
        for name in arguments.only or every:
            change, extra = [f"training.seed={seed}"], {}
            if arguments.mistakes:
                wrong = in_whole_models.load(name, change)
                recipe = wrong.recipe
                extra = {"component": wrong.component, "mistake": wrong.mistake}
            else:
                recipe = recipes.load_recipe(name, change)
            asked = {"settings": recipe.to_dict(), **extra}

            def make(name=name, recipe=recipe, extra=extra) -> dict:
                made = in_whole_models.made(*extra.values()) if extra else contextlib.nullcontext()
                with made:
                    return run(name, recipe, arguments.threads)[0] | extra

            record_once(record, every, asked, make)


if __name__ == "__main__":
    main()
