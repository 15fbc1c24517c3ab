"""Where the time goes, as PyTorch's profiler sees it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from torch.profiler import ProfilerActivity, profile

from benchmarks.contestants import Contestant, Trained
from benchmarks.setting import Setting

OUTSIDE = "between the operations"
KINDS = {
    "matrix products": ("mm", "addmm", "bmm", "baddbmm", "addbmm"),
    "fused attention": ("flash_attention",),
    "softmax and its logarithm": ("softmax",),
    "random numbers for dropout": ("bernoulli", "native_dropout"),
    "norms": ("layer_norm",),
    "copying and gathering": ("copy_", "index", "gather", "cat", "fill_", "zero_", "scatter"),
    "the rest": ("",),
}


def kind_of(operation: str) -> str:
    """Which of `KINDS` an operation of PyTorch belongs to, by its name: `aten::mm`."""
    name = operation.removeprefix("aten::")
    exact = KINDS["matrix products"]
    return next(
        kind
        for kind, parts in KINDS.items()
        if (name in exact if parts is exact else any(part in name for part in parts))
    )


def shares(run: Callable[[], object]) -> dict[str, float]:
    """The share of each kind of operation in the time that `run` takes; together 1.

    The profiler itself takes time at each operation. It is counted as time between them, so that
    many small operations look a little dearer than they are.
    """
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        began = time.perf_counter()
        run()
        whole = time.perf_counter() - began
    spent = dict.fromkeys([*KINDS, OUTSIDE], 0.0)
    for entry in profiled.key_averages():
        if entry.key.startswith("aten::"):
            spent[kind_of(entry.key)] += entry.self_cpu_time_total / 1e6
    spent[OUTSIDE] = max(0.0, whole - sum(spent.values()))
    total = sum(spent.values())
    return {kind: round(seconds / total, 4) for kind, seconds in spent.items()}


def measure(setting: Setting, kinds: list[type[Contestant]]) -> dict[str, Any]:
    """Shares of the time of an update, of greedy and of beam search, by contestant.

    An engine outside PyTorch shows the profiler nothing, and is left out.
    """
    result: dict[str, Any] = {"training": {}, "greedy": {}, "beam": {}}
    for kind in kinds:
        if issubclass(kind, Trained):
            trained = kind(setting, setting.sizes.dropout)
            trained.prepare()
            batches = setting.train_batches(2)
            trained.update(batches[0])
            result["training"][kind.name] = shares(lambda c=trained, b=batches[-1]: c.update(b))
        if kind.package == "ctranslate2":
            continue
        searching = kind(setting)
        sources = setting.sources if kind.batched else setting.single_sources
        for search in ("greedy", "beam"):
            if searching.can(search):
                source = sources[len(sources) // 2]
                getattr(searching, search)(source)
                found = shares(lambda c=searching, m=search, s=source: getattr(c, m)(s))
                result[search][kind.name] = found
    return result
