"""Measuring side by side: everyone has a turn, then everyone has the next."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from statistics import median
from typing import Any


def round_robin(
    turns: Mapping[str, Callable[[], object]], rounds: int, warm_up: int = 1
) -> dict[str, list[float]]:
    """Seconds of each turn, by name: `rounds` of them, after `warm_up` turns that do not count.

    What slows the machine down for a while slows all of them, and each round begins with another
    one: nobody is always the first.
    """
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    names = list(turns)
    for number in range(-warm_up, rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            began = time.perf_counter()
            turns[name]()
            if number >= 0:
                seconds[name].append(time.perf_counter() - began)
    return seconds


def summary(
    seconds: Mapping[str, list[float]], amounts: Mapping[str, float], of: str
) -> dict[str, dict[str, Any]]:
    """Rates and ratios, by name.

    Args:
        seconds: as `round_robin` gave them.
        amounts: how much a turn of each does (tokens, sentences).
        of: the one that the others are compared with.

    Returns:
        `seconds`, all of them; `rate`, amount per second at the median; `ratio`, the rate of `of`
        over this one's: the median over the rounds of their ratios in the same round, with the
        smallest and the largest as `ratio_from` and `ratio_to`. Above 1, `of` is faster.
    """
    rates = {name: [amounts[name] / taken for taken in turns] for name, turns in seconds.items()}
    result = {}
    for name, turns in seconds.items():
        ratios = sorted(ours / theirs for ours, theirs in zip(rates[of], rates[name], strict=True))
        result[name] = {
            "rate": _short(median(rates[name])),
            "ratio": _short(median(ratios)),
            "ratio_from": _short(ratios[0]),
            "ratio_to": _short(ratios[-1]),
            "seconds": [_short(taken) for taken in turns],
        }
    return result


def _short(number: float) -> float:
    """Four significant digits: no clock here is better."""
    return float(f"{number:.4g}")
