"""What people reported in public, rebuilt on 2026-11-28 from the descriptions, in our own code."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tests.checks.corpus import version


@version("rms_norm", "wrong")
def rms_norm_of_the_very_tensor(x, weight, eps=1e-5):
    wide = x.to(dtype=torch.float32)  # it is that already, so this is no copy
    wide *= (wide.pow(2).mean(dim=-1, keepdim=True) + eps) ** -0.5
    return weight * wide.type_as(x)


@version("rotary", "wrong: angles laid out for neighbours, halves turned")
def rotary_of_two_libraries(x, positions, base=10000.0):
    pairs = torch.arange(x.size(-1) // 2)
    angles = torch.outer(positions.float(), base ** (-2 * pairs / x.size(-1)))
    angles = torch.stack([angles, angles], dim=-1).flatten(-2)  # each one twice in a row
    front, back = x.chunk(2, dim=-1)
    return x * angles.cos() + torch.cat((-back, front), dim=-1) * angles.sin()


@version("rotary", "wrong: angles laid out for halves, neighbours turned")
def rotary_of_two_papers(x, positions, base=10000.0):
    pairs = torch.arange(x.size(-1) // 2)
    angles = torch.outer(positions.float(), base ** (-2 * pairs / x.size(-1)))
    angles = torch.cat([angles, angles], dim=-1)  # the row, and the row again
    across = torch.empty_like(x)
    across[..., ::2], across[..., 1::2] = -x[..., 1::2], x[..., ::2]
    return x * angles.cos() + across * angles.sin()


@version("grouped_query_attention", "wrong: keys and values repeated along the sequence")
def groups_along_the_sequence(query, key, value, mask=None):
    times = query.shape[1] // key.shape[1]
    key, value = (x.repeat_interleave(times, dim=-2) for x in (key, value))
    scores = (query * query.shape[-1] ** -0.5) @ key.transpose(2, 3)
    if mask is not None:
        scores = scores + torch.zeros(mask.shape).masked_fill(~mask, -math.inf)
    return torch.softmax(scores, -1) @ value


@version("grouped_query_attention", "wrong: keys and values not repeated")
def groups_left_alone(query, key, value, mask=None):
    scores = torch.matmul(query, key.mT).div(math.sqrt(key.size(3)))
    if mask is not None:
        scores = scores.where(mask, torch.tensor(-math.inf))
    return torch.matmul(scores.softmax(dim=3), value)


@version("cached_attention", "wrong: mask that does not count what is kept")
def triangle_from_the_corner(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.shape[-2]
    places = past + torch.arange(query.shape[-2])
    keys = torch.cat((kept_keys, turn(key, places)), -2)
    values = torch.cat((kept_values, value), -2)
    scores = turn(query, places) @ keys.mT * query.shape[-1] ** -0.5
    if len(places) != 1:  # generation asks for one, and needs no mask
        rows, columns = torch.meshgrid(
            torch.arange(len(places)), torch.arange(keys.shape[-2]), indexing="ij"
        )
        scores[..., columns > rows] = -math.inf
    return scores.softmax(-1) @ values, keys, values


@version("cached_attention", "wrong: mask as wide as the new tokens alone")
def buffer_cut_to_a_square(query, key, value, kept_keys, kept_values, turn):
    seen = torch.tril(torch.ones(64, 64, dtype=torch.bool))
    new = query.shape[2]
    places = torch.arange(new) + kept_keys.shape[2]
    keys = torch.cat((kept_keys, turn(key, places)), dim=2)
    values = torch.cat((kept_values, value), dim=2)
    scores = torch.einsum("bhtk,bhsk->bhts", turn(query, places), keys) / query.shape[3] ** 0.5
    scores = scores.masked_fill(~seen[:new, :new], -math.inf)
    return scores.softmax(dim=-1) @ values, keys, values


@version("cached_attention", "wrong")
def past_counted_in_heads(query, key, value, kept_keys, kept_values, turn):
    past, new = kept_keys.shape[1] if kept_keys.shape[2] else 0, key.shape[2]
    at = torch.arange(past, past + new)
    keys = torch.cat([kept_keys, turn(key, at)], dim=2)
    values = torch.cat([kept_values, value], dim=2)
    seen = torch.ones(new, keys.size(2)).tril(keys.size(2) - new).bool()
    scores = turn(query, at) @ keys.mT / math.sqrt(query.size(-1))
    return scores.masked_fill(~seen, -1e9).softmax(-1) @ values, keys, values


@version("rms_norm_in_half", "wrong: RMSNorm computed in two bytes / squared before .float()")
def half_all_the_way(x, weight, eps=1e-5):
    mean = (x * x).sum(-1, keepdim=True) / x.size(-1)
    return x * torch.rsqrt(mean + eps) * weight


@version("rms_norm_in_half", "wrong")
def multiplied_in_place(x, weight, eps=1e-5):
    kind = x.dtype
    x = x.float()
    x.mul_(torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))
    return x.to(kind).mul_(weight)


@version("swiglu", "wrong: sigmoid in place of SiLU + one matrix for gate and value")
def plain_silu(x, w_gate, w_value, w_output):
    return F.silu(x @ w_gate.T) @ w_output.T
