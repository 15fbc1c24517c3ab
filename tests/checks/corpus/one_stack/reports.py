"""What people reported in public, rebuilt on 2026-11-28 from the descriptions, in our own code."""

from __future__ import annotations

import torch

from tests.checks.corpus import version


@version("real_positions", "wrong: all padding of the row subtracted")
def offset_by_the_padding(tokens):
    missing = (tokens == 0).sum(1, keepdim=True)
    return torch.arange(tokens.size(1)) - missing
