"""What people reported in public, rebuilt on 2026-11-28 from the descriptions, in our own code."""

from __future__ import annotations

import torch

from tests.checks.corpus import version


@version("layer_norm", "wrong: squared in place of the root")
def squared_in_place_of_a_root(x, weight, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    variance = (centred**2).mean(-1, keepdim=True)
    std = (variance + eps) ** 2
    return centred / std * weight + bias


@version("layer_norm", "wrong: variance with Bessel's correction + root of the standard deviation")
def root_of_the_deviation(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return weight * ((x - mean) / torch.sqrt(std + eps)) + bias


@version("encoder_layer", "wrong")
def second_residual_behind_the_norm(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    x = x + attention(y, y, y, mask)
    x = norm2(x)
    return x + feed_forward(x)


@version("pre_norm", "wrong: input added before the sublayer")
def sum_inside_the_sublayer(x, sublayer, norm):
    return sublayer(norm(x) + x)
