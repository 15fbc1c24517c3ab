#!/usr/bin/env python3
"""Train in PyTorch what the bench trains in the browser, and record the curves that it shows.

The recipe of each run is the one that the page itself would save (`book/assets/bench/export.js`,
run by node). Of each run it records, every 50 updates, the validation loss and the share of 200
validation pairs that come out exactly right. What is recorded already is not repeated, so this can
be stopped and started again. Before it trains, it writes the captions that the page learns
(`book/assets/bench/captions.js`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from browser_parity import node
from common import ROOT

BENCH = ROOT / "book" / "assets" / "bench"
RECORD = BENCH / "recorded.json"
PAIRS = 200
EVERY = 50
CAPTIONS = BENCH / "captions.js"
# A data file of at most 300 kB; 600 words and names suffice for these two constructions.
CAPTIONS_TASK = {"name": "captions", "constructions": ["intransitive", "locative"]}
N_CAPTIONS = {"train": 3300, "validation": 200}
TASKS = ("copy", "reverse")
# Each alone, and nothing: by the names of the bench's settings.
CHANGES: list[dict[str, Any]] = [
    {},
    {"score_scale": 1},
    {"causal": False},
    {"positions": "none"},
    {"residual": False},
    {"warmup": 0},
    {"norm": "post"},
    {"n_heads": 1},
    {"feed_forward": False},
    {"initialization": "xavier"},
    {"clip_norm": 0},
    {"dropout": 0.1},
    {"label_smoothing": 0.1},
    {"positions": "learned"},
    {"scale_embeddings": False},
    {"tie_embeddings": "decoder"},
    {"tie_embeddings": "all"},
]
OF_CAPTIONS = {"task": "captions", "d_model": 64, "layers": 2, "d_ff": 128, "updates": 400}
CHANGES_OF_CAPTIONS: list[dict[str, Any]] = [
    {},
    {"causal": False},
    {"score_scale": 1},
    {"residual": False},
    {"positions": "none"},
    {"warmup": 0},
    {"feed_forward": False},
]
ASK = """
const [bench, settings] = process.argv.slice(1);
const { recipe_toml } = await import(`${bench}/export.js`);
const { START } = await import(`${bench}/settings.js`);
const { prepare } = await import(`${bench}/tasks.js`);
await prepare(JSON.parse(settings));
console.log(recipe_toml({ ...START, ...JSON.parse(settings) }));
"""


def recipe_of(settings: dict[str, Any]) -> str:
    """The TOML that the page saves for these settings, the others as where the bench begins."""
    command = [node(), "--no-warnings", "--input-type=module", "-e", ASK]
    command += [BENCH.as_uri(), json.dumps(settings)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def captions_module() -> str:
    """The captions that the page learns: the pairs that the package draws for the same recipe."""
    from transformer_book.tasks import make_task

    task = make_task(**CAPTIONS_TASK)
    lines = [
        "// Captions of the book's grammar, German and English. Made by tools/record_bench.py."
    ]
    lines.append(f"export const recipe = {json.dumps(CAPTIONS_TASK)};")
    for split, n in N_CAPTIONS.items():
        pairs = (f"{' '.join(p.source)}\t{' '.join(p.target)}" for p in task.pairs(split, n))
        lines += [f"export const {split} = `", *pairs, "`;"]
    return "\n".join(lines) + "\n"


def measured(settings: dict[str, Any], every: int = EVERY) -> Iterator[tuple[int, float, float]]:
    """Train one recipe: at times the update, the validation loss, the share that is right."""
    from transformer_book.recipes import load_recipe
    from transformer_book.runs.experiment import Experiment
    from transformer_book.tasks import texts_of

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recipe.toml"
        path.write_text(recipe_of(settings), encoding="utf-8")
        experiment = Experiment(load_recipe(path, [f"training.validate_every={every}"]))
    trainer = experiment.trainer()
    pairs = experiment.task.pairs("validation", n=min(PAIRS, experiment.recipe.data.validation))
    sources, targets = zip(*(texts_of(experiment.task, pair) for pair in pairs), strict=True)
    while not trainer.finished:
        trainer.fit(updates=every)
        found = experiment.translator(trainer.model).search(sources)
        right = sum(each.text == target for each, target in zip(found, targets, strict=True))
        yield trainer.update, trainer.history[-1]["validation_loss"], right / len(pairs)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", type=Path, default=RECORD, help="the file to write")
    parser.add_argument("--only", type=int, help="only so many runs, to try it")
    options = parser.parse_args()
    import torch

    from transformer_book.support.atomic_files import write_atomically

    torch.set_num_threads(1)
    text = options.record.read_text(encoding="utf-8") if options.record.exists() else "[]"
    runs = json.loads(text)
    write_atomically(CAPTIONS, captions_module().encode())
    all_settings = [OF_CAPTIONS | change for change in CHANGES_OF_CAPTIONS]
    all_settings += [{"task": task, **change} for change in CHANGES for task in TASKS]
    for settings in all_settings[: options.only]:
        if any(run["settings"] == settings for run in runs):
            continue
        points = [[n, round(loss, 4), round(right, 3)] for n, loss, right in measured(settings)]
        runs.append({"settings": settings, "points": points})
        print(settings, runs[-1]["points"][-1], flush=True)
        lines = ",\n".join(json.dumps(run) for run in runs)
        write_atomically(options.record, f"[\n{lines}\n]\n".encode())


if __name__ == "__main__":
    main()
