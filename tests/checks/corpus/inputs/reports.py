"""What people reported in public, rebuilt on 2026-11-28 from the descriptions, in our own code."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tests.checks.corpus import version


@version("add_positions", "wrong: as many rows as sentences")
def table_by_the_first_axis(x, table):
    return x + table[: x.size(0)]


@version("sinusoids", "wrong: exponent per column, rounded down")
def divided_as_whole_numbers(length, d_model):
    table = torch.tensor(
        [[p / 10000 ** ((2 * i) // d_model) for i in range(d_model)] for p in range(length)]
    )
    table = table.reshape(length, d_model)
    table[:, 0::2] = table[:, 0::2].sin()
    table[:, 1::2] = table[:, 1::2].cos()
    return table


@version("sinusoids", "wrong: −log(10000) / d_model rounded down")
def floored_to_minus_one(length, d_model):
    speed = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model // 1))
    angle = torch.arange(length).float().unsqueeze(1) * speed
    table = torch.zeros(length, d_model)
    table[:, 0::2], table[:, 1::2] = angle.sin(), angle.cos()
    return table


@version("shift", "wrong")
def wrapped_around(target):
    last = target.ne(0).sum(1, keepdim=True) - 1
    reads = target.clone()
    reads[:, 0] = target.gather(1, last).squeeze(1)
    reads[:, 1:] = target[:, :-1]
    return reads, target
