#!/usr/bin/env python3
"""Train the small models of chapter 26 on sequences that repeat, and record what their heads do.

Every fifty updates: the loss on tokens that come for the first time and on those that come again,
and the scores of each head. Of the two-layer model with seed 1, some checkpoints are kept, too. A
run whose settings have not changed since it was recorded is not repeated, so this can be stopped
and started again. One run takes half a minute; one thread, so that it can be repeated exactly.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from common import ROOT

TODAY = ROOT / "code" / "transformer_book" / "recipes" / "today"
RECORD, CHECKPOINTS = TODAY / "induction.json", TODAY / "induction.safetensors"

COMMON = {
    "vocab_size": 64,
    "d_model": 64,
    "n_heads": 2,
    "n_layers": 2,
    "positions": "learned",
    "length": 32,
    "periods": [16, 24],
    "batch": 32,
    "learning_rate": 0.002,
    "betas": [0.9, 0.98],
    "updates": 2400,
}
RUNS = {
    "two-layers": {},
    "one-layer": {"n_layers": 1},
    "one-period": {"n_layers": 1, "periods": [20, 20]},
    "sinusoidal": {"positions": "sinusoidal"},
}
SEEDS = {"two-layers": (1, 2, 3), "one-layer": (1, 2, 3), "one-period": (1,), "sinusoidal": (1,)}
EVERY = 50  # updates from one measurement to the next
KEPT = (0, 600, 1000, 1200, 1300, 1350, 1400, 1450, 1500, 1700, 2400)  # checkpoints, of seed 1
MEASURED, LOOKED_AT = 256, 64  # sequences: for the losses, for the scores
PERIOD = 20  # of those that are looked at
OFFSETS = range(-1, 4)  # how far behind the last place of the token


def run(name: str, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Train one model; returns what is recorded, and its checkpoints by update."""
    import torch
    import torch.nn.functional as F

    from transformer_book.attention import recorded_attention
    from transformer_book.studies.induction import (
        AttentionOnly,
        induction_score,
        losses,
        previous_token_score,
        repeated_sequences,
    )
    from transformer_book.weights.checkpoints import weights_of

    torch.set_num_threads(1)
    settings = COMMON | RUNS[name]
    low, high = settings["periods"]
    length, vocab_size = settings["length"], settings["vocab_size"]
    torch.manual_seed(seed)
    model = AttentionOnly(
        vocab_size,
        settings["d_model"],
        settings["n_heads"],
        settings["n_layers"],
        length,
        settings["positions"],
    )
    optimizer = torch.optim.Adam(
        model.parameters(), lr=settings["learning_rate"], betas=settings["betas"]
    )
    training = torch.Generator().manual_seed(seed)

    # The same for all runs: every period from 16 to 24, and one that is looked at.
    measuring = torch.Generator().manual_seed(1000)
    lowest, highest = COMMON["periods"]
    mixed = torch.randint(lowest, highest + 1, (MEASURED,), generator=measuring)
    mixed_tokens = repeated_sequences(mixed, length, vocab_size, measuring)
    one = torch.full((LOOKED_AT,), PERIOD)
    one_tokens = repeated_sequences(one, length, vocab_size, measuring)

    rows: dict[str, list[Any]] = {
        key: [] for key in ("updates", "first", "again", "again_one", "induction", "previous")
    }
    kept = {}

    def measure(update: int) -> None:
        with torch.no_grad(), recorded_attention(model):
            first, again = losses(model, mixed_tokens, mixed)
            _, again_one = losses(model, one_tokens, one)
        maps = [attention.weights for attention in model.attentions]
        rows["updates"].append(update)
        for key, loss in (("first", first), ("again", again), ("again_one", again_one)):
            rows[key].append(round(loss.item(), 4))
        for key, score in (
            ("induction", lambda weights: induction_score(weights, PERIOD)),
            ("previous", previous_token_score),
        ):
            rows[key].append([[round(s, 4) for s in score(weights).tolist()] for weights in maps])
        if update in KEPT:
            kept[update] = {name: w.clone() for name, w in weights_of(model).items()}

    for update in range(settings["updates"] + 1):
        if update % EVERY == 0:
            measure(update)
        if update == settings["updates"]:
            break
        periods = torch.randint(low, high + 1, (settings["batch"],), generator=training)
        tokens = repeated_sequences(periods, length, vocab_size, training)
        logits = model(tokens)[:, :-1]
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    # Where the heads look in the end: the mean weight some places behind the token's last place.
    t = torch.arange(PERIOD + 1, length)
    maps = [attention.weights for attention in model.attentions]
    offsets = [
        [
            [round(w[:, h, t, t - PERIOD + d].mean().item(), 4) for d in OFFSETS]
            for h in range(settings["n_heads"])
        ]
        for w in maps
    ]
    entry = {"recipe": name, "seed": seed, "settings": settings, **rows, "offsets": offsets}
    return entry, kept


def record(name: str, seed: int, path: Path, checkpoints: Path) -> None:
    """Train and record, unless this run stands in the record already."""
    import torch

    from transformer_book.support.atomic_files import read_json, write_json
    from transformer_book.weights.checkpoints import save_tensors

    entries = read_json(path) if path.exists() else []
    settings = COMMON | RUNS[name]
    if any((e["recipe"], e["seed"], e["settings"]) == (name, seed, settings) for e in entries):
        return
    entry, kept = run(name, seed)
    print(
        f"{name}, seed {seed}: {entry['first'][-1]} first, {entry['again'][-1]} again", flush=True
    )
    entries = [e for e in entries if (e["recipe"], e["seed"]) != (name, seed)] + [entry]
    entries.sort(key=lambda e: (list(RUNS).index(e["recipe"]), e["seed"]))
    if (name, seed) == ("two-layers", 1):
        tensors = {
            f"{update}/{key}": weight.to(torch.float16)
            for update, weights in kept.items()
            for key, weight in weights.items()
        }
        save_tensors(checkpoints, tensors, {"settings": settings, "seed": seed})
    write_json(path, entries)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="RUN", choices=RUNS, help="only these runs")
    parser.add_argument("--record", type=Path, default=RECORD, help="the file to keep them in")
    parser.add_argument(
        "--checkpoints", type=Path, default=CHECKPOINTS, help="the file for the checkpoints"
    )
    arguments = parser.parse_args()
    for seed in (1, 2, 3):
        for name in arguments.only or RUNS:
            if seed not in SEEDS[name]:
                continue
            record(name, seed, arguments.record, arguments.checkpoints)


if __name__ == "__main__":
    main()
