#!/usr/bin/env python3
"""Put a trained run into the package as a shipped model: half precision, measured, with its card.

    transformer-book train series-two-terms-best --output runs/series
    python tools/ship_model.py runs/series --name series

The order is that of an honest comparison. On the validation split: the last weights, the average of
the last checkpoints, greedy and with a beam, length penalties. The best search is kept, of those
that repeat themselves at most twice as often as the references do, as far as two standard errors
can tell; of all that are at most half a tenth of a BLEU below the best, it is the one that repeats
itself least. Then the weights are rounded to half precision, and measured again: a model that loses
by it is not shipped. The test split (and the compositional one, where there is one) is looked at
once, at the end, and each look is logged for good. What was shipped before stays as it is until all
of that is done.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from common import split_sizes
from model_cards import about, card

if TYPE_CHECKING:
    from transformer_book.translator import Translator

LARGEST = 5_000_000
PENALTIES = (0.0, 0.6, 1.0, 1.4, 1.8, 2.2)
# What rounding may cost, on the validation split: BLEU, or the share that is right.
ROUNDING = {"bleu": 0.1, "exact_match": 0.001}
REPETITIONS = 2  # so many times as often as the references may a model repeat itself
EQUAL = {"bleu": 0.05, "exact_match": 0.0}  # so far below the best, a search is as good
UNROUNDED = "before rounding"


def quality(result: dict) -> float:
    """What a search is chosen by: BLEU where there is one, else the share that is right."""
    return result.get("bleu", result["exact_match"])["value"]


def best_search(tried: Sequence[dict]) -> dict:
    """The result of the best search: of those that seldom repeat themselves, if there are any.

    Of those that are as good, it is the one that repeats itself least.
    """
    fluent = [result for result in tried if not stutters(result)] or tried
    best = max(fluent, key=quality)
    margin = EQUAL["bleu" if "bleu" in best else "exact_match"]
    equal = [result for result in fluent if quality(result) >= quality(best) - margin]
    return min(equal, key=lambda r: (r.get("repetitions", {}).get("value", 0.0), -quality(r)))


def stutters(result: dict) -> bool:
    """Whether these translations repeat themselves too often, by more than chance explains."""
    if (measured := result.get("repetitions")) is None:
        return False
    surely = measured["value"] - 2 * measured["error"]
    return surely > REPETITIONS * measured["references"]


def lost(before: dict, after: dict) -> dict[str, float]:
    """By how much a result is worse than another, for each metric that has a limit."""
    return {
        name: before[name]["value"] - after[name]["value"] for name in ROUNDING if name in before
    }


def measure(translator: Translator, n: int, weights: str | None = None, **search: object) -> dict:
    """Measure a model on the validation split; `weights` says which, if not those shipped."""
    from transformer_book.runs.evaluation import evaluate

    result = evaluate(translator, "validation", n=n, **search)
    if weights:
        result["weights"] = weights
    print(f"{quality(result):.4f}", weights or "rounded", result["decoding"], flush=True)
    return result


def steps(run: Translator, folder: Path, n: int, penalties: Sequence[float]) -> list[dict]:
    """What each step is worth on the validation split, one after the other.

    The last weights, greedy; the average of the last checkpoints, greedy; with a beam and each
    length penalty. Without penalties, or without a beam, the only search is that of the run.
    """
    from transformer_book.weights.checkpoints import list_checkpoints, load_tensors, load_weights

    found = []
    greedy = {"beam_size": 1, "length_penalty": 0.0}
    if run.recipe["training"]["average"] > 1:
        last = list_checkpoints(folder)[-1][1] / "model.safetensors"
        averaged = {name: tensor.clone() for name, tensor in run.model.state_dict().items()}
        load_weights(run.model, load_tensors(last)[0], last)
        found.append(measure(run, n, "last checkpoint", **greedy))
        run.model.load_state_dict(averaged)
    searches: list[dict] = [{}]
    if (beam_size := run.decoding.beam_size) > 1 and penalties:
        searches = [greedy] + [{"beam_size": beam_size, "length_penalty": p} for p in penalties]
    return found + [measure(run, n, UNROUNDED, **search) for search in searches]


def history_of(folder: Path) -> list[dict]:
    """What the training run in a folder has recorded of each update."""
    lines = (folder / "metrics.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="the folder of a finished training run")
    parser.add_argument("--name", help="what the shipped model is called (the recipe's name)")
    parser.add_argument("--n", type=int, default=2000, help="pairs of a generated split (2000)")
    parser.add_argument(
        "--keep-search", action="store_true", help="the recipe's search: no other one is tried"
    )
    arguments = parser.parse_args()

    import torch

    from transformer_book.known_words import FILE as KNOWN_WORDS
    from transformer_book.pretrained import FOLDER
    from transformer_book.recipes import DecodingConfig
    from transformer_book.runs.evaluation import evaluate, log_look
    from transformer_book.support.atomic_files import write_atomically, write_json
    from transformer_book.translator import Translator

    run = Translator.from_pretrained(arguments.run)
    try:
        made = max((row["update"] for row in history_of(arguments.run)), default=0)
        updates = run.recipe["training"]["updates"]
        if made < updates:
            raise ValueError(f"{arguments.run} has made {made} of {updates} updates: resume it.")
        about(run.recipe["task"])
    except (ValueError, OSError) as error:
        raise SystemExit(str(error)) from None
    folder = FOLDER / (arguments.name or run.recipe["name"])
    sizes = split_sizes(run.recipe["task"], arguments.n)
    n = sizes["validation"]

    results = steps(run, arguments.run, n, () if arguments.keep_search else PENALTIES)
    tried = [
        result
        for result in results
        if result["weights"] == UNROUNDED
        and result["decoding"]["beam_size"] == run.decoding.beam_size
    ]
    unrounded = best_search(tried)
    run.decoding = DecodingConfig(**unrounded["decoding"])

    with tempfile.TemporaryDirectory() as draft:
        run.save(draft, dtype=torch.float16)
        files = list(Path(draft).iterdir())
        size = sum(path.stat().st_size for path in files)
        if size > LARGEST:
            raise SystemExit(f"{folder.name} has {size:,} bytes; a shipped model has at most 5 MB.")
        shipped = Translator.from_pretrained(draft)
        rounded = measure(shipped, n)
        for name, difference in lost(unrounded, rounded).items():
            if difference > ROUNDING[name]:
                raise SystemExit(
                    f"Rounding costs {difference:.4f} of {name}, more than {ROUNDING[name]}: the "
                    "model is not shipped."
                )
        results.append(rounded)
        folder.mkdir(parents=True, exist_ok=True)
        for split, n_pairs in sizes.items():
            if split != "validation":
                result = evaluate(shipped, split, n=n_pairs)
                log_look(folder, result)
                results.append(result)
                print(split, f"{quality(result):.4f}", flush=True)
        for path in files:
            write_atomically(folder / path.name, path.read_bytes())
        if shipped.known_words is None:  # those of the model that was here before
            (folder / KNOWN_WORDS).unlink(missing_ok=True)
    write_json(folder / "results.json", results, indent=1)
    write_atomically(folder / "README.md", card(folder).encode())


if __name__ == "__main__":
    main()
