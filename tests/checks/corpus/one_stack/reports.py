"""What people reported in public, rebuilt on 2026-11-28 from the descriptions, in our own code."""

from __future__ import annotations

import torch

from tests.checks.corpus import version


@version("real_positions", "wrong: all padding of the row subtracted")
def offset_by_the_padding(tokens):
    missing = (tokens == 0).sum(1, keepdim=True)
    return torch.arange(tokens.size(1)) - missing


@version("one_stack_labels", "wrong: first token of the target not asked for")
def one_place_too_late(source, target):
    tokens = torch.cat([source, target[:, :-1]], dim=1)
    labels = torch.cat([source, target[:, 1:]], dim=1)
    labels[:, : source.size(1) + 1] = 0
    return tokens, labels


@version("one_stack_labels", "wrong")
def sources_padding_in_front(source, target):
    rows = []
    for row in source.tolist():
        words = [t for t in row if t != 0]
        rows.append([0] * (len(row) - len(words)) + words)
    left = torch.tensor(rows, dtype=source.dtype)
    labels = torch.cat([torch.zeros_like(source), target[:, 1:]], 1)
    return torch.cat([left, target[:, :-1]], 1), labels
