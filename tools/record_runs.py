#!/usr/bin/env python3
"""Record the results of finished runs whose models are not shipped.

    transformer-book train multi30k-tutorial --output runs/tutorial
    python tools/record_runs.py runs/tutorial

Each is measured with one search, fixed beforehand: first on the validation split, then, once, on
the test. The search is that of the recipe. But if there is a shipped model of the same recipe, the
run is another seed beside it: then the search is that of the model, and what led to it, step by
step on the validation split, is measured as well. So it is, too, where the steps of another seed
are recorded: a model of that recipe was shipped once. The record is `recipes/runs.json`, which
chapters 18 and 19 show; beside it, `test_looks.jsonl` has a line for each look at a test. A run
that is recorded is not measured again.

With --unfinished a run may be recorded before its recipe's last update, where that takes days: the
record says how many updates it made, and whoever resumes the run later records it anew. The looks
of before stay.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from common import split_sizes
from ship_model import PENALTIES, history_of, quality, steps


def shipped_search(recipe: str) -> dict | None:
    """The search of the shipped model of a recipe, `None` if there is no such model."""
    from transformer_book import pretrained
    from transformer_book.support.atomic_files import read_json

    for name in pretrained.names():
        config = read_json(pretrained.find(name) / "config.json")
        if config["recipe"]["name"] == recipe:
            return config["decoding"]
    return None


def check_settings(folder: Path) -> None:
    """A run of other settings must not take the place of one of the recipe itself.

    Raises:
        ValueError: it is such a run. Only the seed may differ, and the number of updates.
    """
    from transformer_book.recipes import load_recipe, recipe_from_dict
    from transformer_book.support.atomic_files import read_json

    recipe = read_json(folder / "config.json")["recipe"]
    own = [f"training.{name}={recipe['training'][name]}" for name in ("seed", "updates")]
    if load_recipe(recipe["name"], own) != recipe_from_dict(recipe):
        raise ValueError(f"{folder} is a run with other settings than {recipe['name']!r} has.")


def record(folder: Path, path: Path, n: int, unfinished: bool = False) -> dict | None:
    """Measure a run and add it to the record; `None` if it is there already.

    Args:
        folder: of the run.
        path: the record, a JSON file.
        n: pairs of a split that is generated.
        unfinished: take a run, too, that has not made all updates of its recipe.

    Raises:
        ValueError: the run has not ended, though it should have; or it would be compared with a
            model whose run has ended.
    """
    from transformer_book.recipes import DecodingConfig
    from transformer_book.runs.evaluation import evaluate, log_look
    from transformer_book.support.atomic_files import read_json, write_json
    from transformer_book.translator import Translator

    translator = Translator.from_pretrained(folder)
    recipe = translator.recipe
    entry = {"recipe": recipe["name"], "seed": recipe["training"]["seed"], "settings": recipe}
    known = read_json(path) if path.exists() else []
    history = history_of(folder)
    updates = recipe["training"]["updates"]
    reached = max(row["update"] for row in history)
    if any((entry | {"updates": reached}).items() <= old.items() for old in known):
        return None
    search = shipped_search(recipe["name"]) or next(
        (
            old["results"][0]["decoding"]
            for old in known
            if old["recipe"] == recipe["name"] and "steps" in old
        ),
        None,
    )
    if reached < updates and (search or not unfinished):
        raise ValueError(
            f"{folder} has made {reached} of {updates} updates: resume it first"
            + (", as the shipped model of its recipe has ended." if search else ".")
        )
    sizes = split_sizes(recipe["task"], n)
    if search:
        entry["steps"] = steps(translator, folder, sizes["validation"], PENALTIES)
        translator.decoding = DecodingConfig(**search)
    entry |= {
        "updates": reached,
        "parameters": translator.model.n_parameters,
        "validation": [
            (row["update"], row["validation_loss"]) for row in history if "validation_loss" in row
        ],
        "results": [
            evaluate(translator, split, n=pairs)
            for split, pairs in sorted(sizes.items(), key=lambda item: item[0] != "validation")
        ],
    }
    run = {"seed": entry["seed"], "updates": reached}
    for result in entry["results"]:
        log_look(path.parent, result | run)
    one = (entry["recipe"], entry["seed"])
    known = [old for old in known if (old["recipe"], old["seed"]) != one] + [entry]
    write_json(path, sorted(known, key=lambda run: (run["recipe"], run["seed"])), indent=1)
    return entry


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", type=Path, nargs="+", help="folders of training runs")
    parser.add_argument(
        "--unfinished", action="store_true", help="take runs, too, that have updates left to make"
    )
    parser.add_argument("--n", type=int, default=1000, help="pairs of a generated split (1000)")
    arguments = parser.parse_args()

    from transformer_book.recipes import FOLDER

    for folder in arguments.runs:
        try:
            check_settings(folder)
            entry = record(folder, FOLDER / "runs.json", arguments.n, arguments.unfinished)
        except (ValueError, OSError) as error:
            raise SystemExit(str(error)) from None
        if entry is None:
            print(f"{folder}: recorded already")
        for result in entry["results"] if entry else []:
            print(f"{folder}: {result['split']} {quality(result):.4f}", flush=True)


if __name__ == "__main__":
    main()
