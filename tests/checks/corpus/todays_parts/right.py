"""Right versions of todays parts, as people write them: none of these may be refused."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import version

# --- rms_norm -------------------------------------------------------------------------------------


@version("rms_norm", "right", "F.rms_norm")
def rms_ready_made(x, weight, eps=1e-5):
    return F.rms_norm(x, (x.size(-1),), weight, eps)


@version("rms_norm", "right", "rsqrt")
def rms_rsqrt(x, weight, eps=1e-5):
    return weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))


@version("rms_norm", "right", "sums")
def rms_sums(x, weight, eps=1e-5):
    d = x.shape[-1]
    ms = (x * x).sum(dim=-1, keepdim=True) / d
    return x / (ms + eps) ** 0.5 * weight


@version("rms_norm", "right", "position by position")
def rms_loop(x, weight, eps=1e-5):
    out = torch.zeros_like(x)
    for b in range(x.size(0)):
        for t in range(x.size(1)):
            row = x[b, t]
            out[b, t] = row / (row.dot(row) / len(row) + eps).sqrt() * weight
    return out


class RMS(nn.Module):
    def forward(self, x, weight, eps=1e-5):
        y = x.double()
        y = y * (y.square().mean(dim=-1).unsqueeze(-1) + eps).rsqrt()
        return y.type_as(x) * weight


version("rms_norm", "right", "a module")(RMS())


# --- rotary ---------------------------------------------------------------------------------------


def table(x, positions, base):
    k = x.size(-1)
    inverse = 1.0 / base ** (torch.arange(0, k, 2).float() / k)
    return torch.outer(positions.float(), inverse)


@version("rotary", "right", "rotate half, as in Llama")
def rotary_rotate_half(x, positions, base=10000.0):
    angles = table(x, positions, base)
    emb = torch.cat((angles, angles), dim=-1)
    x1, x2 = x[..., : x.shape[-1] // 2], x[..., x.shape[-1] // 2 :]
    return x * emb.cos() + torch.cat((-x2, x1), dim=-1) * emb.sin()


@version("rotary", "right", "complex numbers")
def rotary_complex(x, positions, base=10000.0):
    angles = table(x, positions, base)
    a, b = x.chunk(2, dim=-1)
    turned = torch.complex(a, b) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag], -1)


@version("rotary", "right", "pair by pair")
def rotary_loop(x, positions, base=10000.0):
    half = x.size(-1) // 2
    columns = [None] * (2 * half)
    for i in range(half):
        angle = positions * base ** (-2 * i / (2 * half))
        columns[i] = x[..., i] * angle.cos() - x[..., i + half] * angle.sin()
        columns[i + half] = x[..., i] * angle.sin() + x[..., i + half] * angle.cos()
    return torch.stack(columns, dim=-1)


@version("rotary", "right", "matrices")
def rotary_matrices(x, positions, base=10000.0):
    angles = table(x, positions, base)  # (T, K/2)
    c, s = angles.cos(), angles.sin()
    turn = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)  # (T, K/2, 2, 2)
    pairs = torch.stack(x.chunk(2, -1), -1)  # (B, H, T, K/2, 2)
    out = torch.einsum("tijk,bhtik->bhtij", turn, pairs)
    return torch.cat([out[..., 0], out[..., 1]], -1)


# --- swiglu ---------------------------------------------------------------------------------------


@version("swiglu", "right", "F.silu and F.linear")
def swiglu_linear(x, w_gate, w_value, w_output):
    return F.linear(F.silu(F.linear(x, w_gate)) * F.linear(x, w_value), w_output)


@version("swiglu", "right", "the value first")
def swiglu_value_first(x, w_gate, w_value, w_output):
    up = x @ w_value.t()
    gate = x @ w_gate.t()
    return (up * (gate / (1 + torch.exp(-gate)))) @ w_output.t()


@version("swiglu", "right", "one product for both")
def swiglu_fused(x, w_gate, w_value, w_output):
    both = x @ torch.cat([w_gate, w_value]).T
    gate, value = both.chunk(2, dim=-1)
    return torch.matmul(nn.SiLU()(gate) * value, w_output.mT)


@version("swiglu", "right", "einsum")
def swiglu_einsum(x, w_gate, w_value, w_output):
    g = torch.einsum("btd,fd->btf", x, w_gate)
    v = torch.einsum("btd,fd->btf", x, w_value)
    return torch.einsum("btf,btf,df->btd", g * g.sigmoid(), v, w_output)


# --- grouped_query_attention ----------------------------------------------------------------------


@version("grouped_query_attention", "right", "the kernel")
def gqa_kernel(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, mask, enable_gqa=True)


@version("grouped_query_attention", "right", "an axis of groups")
def gqa_axis(query, key, value, mask=None):
    b, h, t, k = query.shape
    g = key.size(1)
    q = query.reshape(b, g, h // g, t, k)
    scores = q @ key.unsqueeze(2).transpose(-1, -2) / k**0.5
    if mask is not None:
        mask = mask.expand(b, h, t, key.size(2)).reshape(b, g, h // g, t, -1)
        scores = scores.masked_fill(~mask, float("-inf"))
    return (scores.softmax(-1) @ value.unsqueeze(2)).reshape(b, h, t, k)


@version("grouped_query_attention", "right", "head by head")
def gqa_loop(query, key, value, mask=None):
    size = query.size(1) // key.size(1)
    heads = []
    for h in range(query.size(1)):
        q, k, v = query[:, h], key[:, h // size], value[:, h // size]
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            full = mask.expand(len(q), query.size(1), *scores.shape[1:])[:, h]
            scores = torch.where(full, scores, -torch.inf)
        heads.append(F.softmax(scores, dim=-1) @ v)
    return torch.stack(heads, 1)


@version("grouped_query_attention", "right", "expand, as in Llama")
def gqa_expand(query, key, value, mask=None):
    def repeat_kv(x, n):
        b, g, s, k = x.shape
        return x[:, :, None].expand(b, g, n, s, k).reshape(b, g * n, s, k)

    n = query.size(1) // key.size(1)
    weights = query @ repeat_kv(key, n).transpose(2, 3) * query.size(-1) ** -0.5
    if mask is not None:
        weights = weights + torch.zeros(mask.shape).masked_fill(mask.logical_not(), -1e30)
    return torch.softmax(weights, -1) @ repeat_kv(value, n)


# --- cached_attention -----------------------------------------------------------------------------


@version("cached_attention", "right", "the kernel with a mask")
def cached_kernel(query, key, value, kept_keys, kept_values, turn):
    past, new = kept_keys.size(2), query.size(2)
    positions = torch.arange(past, past + new)
    k = torch.cat((kept_keys, turn(key, positions)), 2)
    v = torch.cat((kept_values, value), 2)
    mask = torch.ones(new, past + new, dtype=torch.bool).tril(diagonal=past)
    return F.scaled_dot_product_attention(turn(query, positions), k, v, mask), k, v


@version("cached_attention", "right", "one token after the other")
def cached_one_by_one(query, key, value, kept_keys, kept_values, turn):
    outputs = []
    for t in range(query.size(2)):
        here = torch.tensor([kept_keys.size(2)])
        now = slice(t, t + 1)
        kept_keys = torch.cat([kept_keys, turn(key[:, :, now], here)], dim=-2)
        kept_values = torch.cat([kept_values, value[:, :, now]], dim=-2)
        scores = turn(query[:, :, now], here) @ kept_keys.mT / query.size(-1) ** 0.5
        outputs.append(scores.softmax(-1) @ kept_values)
    return torch.cat(outputs, dim=-2), kept_keys, kept_values


@version("cached_attention", "right", "a comparison of positions")
def cached_positions(query, key, value, kept_keys, kept_values, turn):
    start = kept_keys.shape[-2]
    new = start + torch.arange(key.shape[-2])
    query, key = turn(query, new), turn(key, new)
    keys = torch.cat([kept_keys, key], -2)
    values = torch.cat([kept_values, value], -2)
    scores = torch.einsum("bhtk,bhsk->bhts", query, keys) / math.sqrt(query.shape[-1])
    hidden = torch.arange(keys.shape[-2])[None, :] > new[:, None]
    weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    return [weights @ values, keys, values]


# --- rms_norm_in_half ----------------------------------------------------------------------------


@version("rms_norm_in_half", "right", "as Llama rounds")
def half_like_llama(x, weight, eps=1e-5):
    wide = x.to(torch.float32)
    variance = wide.pow(2).mean(-1, keepdim=True)
    return weight * (wide * torch.rsqrt(variance + eps)).to(x.dtype)


@version("rms_norm_in_half", "right", "weight in float32, too")
def half_all_wide(x, weight, eps=1e-5):
    wide = x.float()
    size = (wide.norm(dim=-1, keepdim=True) ** 2 / x.size(-1) + eps).sqrt()
    return (wide / size * weight.float()).type_as(x)


@version("rms_norm_in_half", "right", "in float64")
def half_in_double(x, weight, eps=1e-5):
    size = torch.einsum("...d,...d->...", x.double(), x.double()) / x.shape[-1]
    return (x.double() / (size[..., None] + eps).sqrt() * weight).to(x.dtype)
