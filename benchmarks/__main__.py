"""Measure the book's model beside its peers, and keep the result: `python -m benchmarks`.

First all contestants are shown to compute the same; then each kind of measurement gives everyone a
turn, round after round. A peer that is not installed is left out, and the result says so.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import torch

from benchmarks import growth, improvements, proofs, shares
from benchmarks.clock import round_robin, summary
from benchmarks.contestants import EVERY, Book, Contestant, Trained
from benchmarks.memory import TASKS, peak
from benchmarks.setting import KEPT, QUICK, Setting, Sizes
from transformer_book.support.atomic_files import write_json

RESULTS = Path(__file__).resolve().parent / "results"
FORMAT = 2


def machine(threads: int) -> dict[str, Any]:
    """The kind of machine, and the versions of what decides the speed."""
    kind = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        kind = next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {
        "processor": kind,
        "cores": os.cpu_count(),
        "threads": threads,
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "system": platform.system(),
        "python": platform.python_version(),
        "torch": torch.__version__.split("+")[0],
    }


def training(setting: Setting, kinds: list[type[Contestant]]) -> dict[str, Any]:
    """Tokens per second, source and target, without padding."""
    batches = setting.train_batches(setting.sizes.train_updates)
    tokens = sum(int((b.source != 0).sum()) + b.n_tokens for b in batches)
    contestants = [kind(setting, setting.sizes.dropout) for kind in kinds if kind_trains(kind)]
    turns = {}
    for contestant in contestants:
        contestant.prepare()
        turns[contestant.name] = lambda c=contestant: [c.update(batch) for batch in batches]
    seconds = round_robin(turns, setting.sizes.train_rounds)
    result = summary(seconds, dict.fromkeys(turns, tokens), Book.name)
    for c in contestants:
        result[c.name]["parameters"] = sum(p.numel() for p in c.model.parameters())
    return result


def kind_trains(kind: type[Contestant]) -> bool:
    return issubclass(kind, Trained)


def searching(
    setting: Setting, contestants: list[Contestant], search: str, rounds: int
) -> dict[str, Any]:
    """Sentences per second; what decodes one at a time gets fewer of them."""
    turns, amounts = {}, {}
    for c in contestants:
        if c.can(search):
            sources = setting.sources if c.batched else setting.single_sources
            turns[c.name] = lambda c=c, s=sources: [getattr(c, search)(source) for source in s]
            amounts[c.name] = sum(map(len, sources))
    seconds = round_robin(turns, rounds, warm_up=0)  # the proof has warmed them up
    return summary(seconds, amounts, Book.name)


def latency(setting: Setting, contestants: list[Contestant]) -> dict[str, Any]:
    """One sentence alone, greedily, another in each round."""
    sources = setting.single_sources
    turns = {}
    for c in contestants:
        if c.can("greedy"):
            number = count()
            turns[c.name] = lambda c=c, n=number: c.greedy(sources[next(n) % len(sources)])
    seconds = round_robin(turns, setting.sizes.latency_rounds)
    return summary(seconds, dict.fromkeys(turns, 1), Book.name)


def measure(
    sizes: Sizes,
    kinds: tuple[type[Contestant], ...] = EVERY,
    *,
    threads: int,
    folder: Path = KEPT,
    say: Any = lambda text: None,
) -> dict[str, Any]:
    """The whole comparison.

    Args:
        sizes: how large, how often.
        kinds: the contestants, the book first.
        threads: for all of them.
        folder: where the weights are kept.
        say: is told what is being done.

    Raises:
        AssertionError: contestants compute different things; then nothing is timed.
    """
    torch.set_num_threads(threads)
    missing = {kind.name: kind.missing() for kind in kinds}
    for name, why in missing.items():
        if why:
            say(f"{name}: not measured, {why}")
    here = [kind for kind in kinds if missing[kind.name] is None]
    began = time.monotonic()
    setting = Setting(sizes, folder)
    result: dict[str, Any] = {
        "format": FORMAT,
        "machine": machine(threads),
        "sizes": {k: v for k, v in vars(sizes).items()},
        "contestants": {
            kind.name: {"package": kind.package, "version": kind.version()} for kind in here
        },
        "missing": {name: why for name, why in missing.items() if why},
        "cannot": {kind.name: kind.cannot for kind in here if kind.cannot},
    }
    say("weights: trained once, then kept")
    contestants = [kind(setting) for kind in here]
    result["words"] = len(setting.vocabulary)
    result["proofs"] = proofs.same_translations(contestants, setting)
    result["proofs"]["training"] = proofs.same_losses(setting, here)
    say("all contestants compute the same")
    parts = {
        "greedy": lambda: searching(setting, contestants, "greedy", sizes.decode_rounds),
        "beam": lambda: searching(setting, contestants, "beam", sizes.beam_rounds),
        "latency": lambda: latency(setting, contestants),
        "training": lambda: training(setting, here),
        "memory": lambda: memory(setting, here, threads),
        "improvements": lambda: {
            "training": improvements.training(setting),
            "greedy": improvements.greedy(setting),
        },
        "shares": lambda: shares.measure(setting, here),
        "training_growth": lambda: growth.training(setting),
        "decoding_growth": lambda: growth.decoding(setting),
    }
    for name, part in parts.items():
        started = time.monotonic()
        result[name] = part()
        say(f"{name}: {time.monotonic() - started:.0f} s")
    result["minutes"] = round((time.monotonic() - began) / 60, 1)
    return result


def memory(setting: Setting, kinds: list[type[Contestant]], threads: int) -> dict[str, Any]:
    """Megabytes of each contestant at each task, each in a process of its own."""
    result: dict[str, Any] = {}
    for task, method in TASKS.items():
        result[task] = {
            kind.name: peak(setting.sizes, kind.name, task, threads, setting.folder)
            for kind in kinds
            if hasattr(kind, method)
        }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], prog="benchmarks")
    parser.add_argument("--quick", action="store_true", help="everything tiny: a try-out")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="for every contestant")
    parser.add_argument("--output", type=Path, default=RESULTS / "cpu.json", metavar="FILE")
    parser.add_argument("--rounds", type=int, help="turns of everyone; fewer are rougher")
    parser.add_argument("--note", help="kept with the result and shown on the page")
    arguments = parser.parse_args()
    sizes = QUICK if arguments.quick else Sizes()
    if arguments.rounds:
        rounds = [name for name in vars(sizes) if name.endswith("_rounds")]
        sizes = replace(sizes, **dict.fromkeys(rounds, arguments.rounds))
    result = measure(
        sizes, threads=arguments.threads, say=lambda text: print(text, file=sys.stderr, flush=True)
    )
    result["note"] = arguments.note
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    write_json(arguments.output, result, indent=1)
    print(f"{arguments.output}, after {result['minutes']} minutes")


if __name__ == "__main__":
    main()
