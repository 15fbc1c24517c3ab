"""How many threads of the processor a model is worth: measured, by its size and its work.

A second thread must be told what to do and waited for, hundreds of times in each pass through the
model. Small models lose more by it than the thread gains; for a single sentence, so do large ones.
"""

from __future__ import annotations

import math

import torch
from torch import nn

# Parameters from which a second thread made it faster by a tenth or more; for one sentence it made
# it slower up to 44 million. Measured by `python -m benchmarks.threads`.
WORTH = {"training": 2_000_000, "many sentences": 8_000_000, "one sentence": math.inf}


def fitting_threads(model: nn.Module, work: str) -> int:
    """The number of threads for a model on the processor.

    Args:
        model: only its number of parameters counts.
        work: `"training"`, `"many sentences"` that are translated together, or `"one sentence"`.

    Returns:
        1, or as many as torch has: its own default, the cores, is the most there can be, and
        `OMP_NUM_THREADS` may have lowered it.
    """
    parameters = sum(parameter.numel() for parameter in model.parameters())
    return torch.get_num_threads() if parameters >= WORTH[work] else 1


def use_threads(model: nn.Module, work: str, asked: int | None = None) -> None:
    """Let torch compute with `asked` threads, or with those that fit the model and its work."""
    torch.set_num_threads(asked or fitting_threads(model, work))
