"""What people reported in public, rebuilt on 2026-11-28 to 30 from descriptions, in our own code."""

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
    seen = torch.tril(torch.ones(128, 128, dtype=torch.bool))
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


@version("rms_norm_in_half", "wrong: RMSNorm computed in two bytes")
def half_all_the_way(x, weight, eps=1e-5):
    mean = (x * x).sum(-1, keepdim=True) / x.size(-1)
    return x * torch.rsqrt(mean + eps) * weight


@version("rms_norm_in_half", "wrong")
def multiplied_in_place(x, weight, eps=1e-5):
    kind = x.dtype
    x = x.float()
    x.mul_(torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps))
    return x.to(kind).mul_(weight)


@version("swiglu", "wrong: no value for the gate to open")
def plain_silu(x, w_gate, w_value, w_output):
    return F.silu(x @ w_gate.T) @ w_output.T


@version("rotary", "wrong: kept from the call before", instance=True)
class AnglesKeptByLength:
    def __init__(self):
        self.cache = {}

    def __call__(self, x, positions, base=10000.0):
        length, width = x.shape[-2:]
        key = f"freqs:{length}"
        if key not in self.cache:
            inv = base ** (-torch.arange(0, width, 2).float() / width)
            freqs = torch.outer(positions.float(), inv)
            self.cache[key] = torch.cat([freqs, freqs], -1)
        freqs = self.cache[key]
        a, b = x.chunk(2, dim=-1)
        return x * freqs.cos() + torch.cat([-b, a], -1) * freqs.sin()


@version("rotary", "wrong")
def sines_read_at_a_padded_place(x, positions, base=10000.0):
    dim = x.size(-1)
    padded = 1 << (dim - 1).bit_length()
    inv = base ** (-torch.arange(0, dim, 2, dtype=torch.float32) / dim)
    angles = positions.float().unsqueeze(-1) * inv
    row = torch.cat([angles.cos(), angles.sin(), torch.zeros(len(positions), padded)], -1)
    cos = row[:, : dim // 2]
    sin = row[:, padded // 2 : padded // 2 + dim // 2]
    a, b = x[..., : dim // 2], x[..., dim // 2 :]
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)


@version("rotary", "right", "cat(freqs, freqs) with rotated halves, reported as wrong")
def both_halves_have_the_same_angles(x, positions, base=10000.0):
    inv_freq = 1.0 / (base ** (torch.arange(0, x.size(-1), 2).float() / x.size(-1)))
    freqs = torch.einsum("i,j->ij", positions.float(), inv_freq)
    emb = torch.cat((freqs, freqs), dim=-1)
    first, second = x.chunk(2, dim=-1)
    return x * emb.cos() + torch.cat((-second, first), dim=-1) * emb.sin()


@version("cached_attention", "wrong: no mask as soon as something is kept")
def no_mask_with_a_cache(query, key, value, kept_keys, kept_values, turn):
    past, t = kept_keys.size(2), query.size(2)
    where = torch.arange(past, past + t)
    keys = torch.cat([kept_keys, turn(key, where)], dim=2)
    values = torch.cat([kept_values, value], dim=2)
    scores = turn(query, where) @ keys.transpose(-2, -1) / math.sqrt(query.size(-1))
    if past == 0:
        scores = scores.masked_fill(torch.ones(t, t).tril() == 0, float("-inf"))
    return scores.softmax(dim=-1) @ values, keys, values


@version("grouped_query_attention", "wrong: features repeated before they are cut into heads")
def features_repeated(query, key, value, mask=None):
    b, h, t, width = query.shape
    groups, s = key.shape[1], key.shape[2]

    def widened(x):
        flat = x.transpose(1, 2).reshape(b, s, groups * width)
        flat = flat.repeat_interleave(h // groups, dim=-1)
        return flat.view(b, s, h, width).transpose(1, 2)

    scores = query @ widened(key).mT / width**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ widened(value)


@version("rms_norm", "wrong: multiplied by the root in RMSNorm")
def divided_by_rsqrt(x, weight, eps=1e-5):
    output = x / torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return output * weight


@version("rms_norm", "wrong")
def normalised_along_the_positions(x, weight, eps=1e-5):
    scale = x.size(-1) ** -0.5
    return F.normalize(x, dim=-2, eps=eps) * scale * weight


@version("rms_norm", "wrong")
def root_of_the_deviation(x, weight, eps=1e-5):
    rms = torch.sqrt(torch.std(x, dim=-1, keepdim=True) + eps)
    return x / rms * weight


@version(
    "rms_norm_in_half",
    "wrong: RMSNorm computed in two bytes + ε beside the squares of scaled numbers",
)
def scaled_by_the_largest(x, weight, eps=1e-5):
    m = x.abs().amax(-1, keepdim=True)
    y = x / m
    return y / torch.sqrt(y.pow(2).mean(-1, keepdim=True) + eps) * weight.to(x.dtype)


# --- rebuilt on 2026-11-29 -----------------------------------------------------------------------


@version("rms_norm_in_half", "wrong")
def epsilon_of_the_type(x, weight, eps=1e-5):
    eps = torch.finfo(x.dtype).eps
    wide = x.float()
    out = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return (out * weight.float()).to(x.dtype)


@version("rms_norm_in_half", "wrong")
def one_over_the_root_rounded(x, weight, eps=1e-5):
    inv_rms = torch.rsqrt(x.float().square().mean(dim=-1, keepdim=True) + eps)
    inv_rms = inv_rms.to(x.dtype)
    return (x * inv_rms * weight).to(x.dtype)


@version("cached_attention", "wrong")
def kept_tokens_counted_after_the_new(query, key, value, kept_keys, kept_values, turn):
    values = torch.cat([kept_values, value], dim=2)
    t, total = query.size(2), values.size(2)
    positions = torch.arange(total, total + t)
    query, key = turn(query, positions), turn(key, positions)
    keys = torch.cat([kept_keys, key], dim=2)
    scores = query @ keys.transpose(-2, -1) / math.sqrt(query.size(-1))
    see = torch.ones(t, total).tril(total - t).bool()
    out = scores.masked_fill(~see, float("-inf")).softmax(-1) @ values
    return out, keys, values


@version("cached_attention", "wrong")
def queries_turned_from_zero(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    t = query.size(2)
    q = turn(query, torch.arange(t))
    k = torch.cat([kept_keys, turn(key, torch.arange(past, past + t))], dim=2)
    v = torch.cat([kept_values, value], dim=2)
    scores = q @ k.transpose(-1, -2) / q.size(-1) ** 0.5
    see = torch.ones(t, past + t, dtype=torch.bool).tril(diagonal=past)
    scores = scores.masked_fill(~see, float("-inf"))
    return scores.softmax(-1) @ v, k, v


@version("rms_norm", "wrong")
def epsilon_fixed_in_the_norm(x, weight, eps=1e-5):
    EPSILON = 1e-6
    return weight * x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + EPSILON)


@version("rms_norm", "wrong: ε of RMSNorm beside the squares of scaled numbers")
def divided_by_the_largest_first(x, weight, eps=1e-5):
    m = x.abs().amax(dim=-1, keepdim=True)
    scaled = x / m
    rms = torch.sqrt(scaled.pow(2).mean(-1, keepdim=True) + eps) * m
    return x / rms * weight


@version("rotary", "wrong")
def exponent_of_odd_numbers(x, positions, base=10000.0):
    K = x.shape[-1]
    k = torch.arange(1, K // 2 + 1, dtype=torch.float32)
    theta = base ** (-(2 * k - 1) / K)
    angle = positions.float()[:, None] * theta
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., : K // 2], x[..., K // 2 :]
    return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


@version("rotary", "wrong: exponent without its minus", instance=True)
class WithoutTheMinus:
    def __call__(self, x, positions, base=10000.0):
        K = x.size(-1)
        i = torch.arange(K // 2)
        theta = base ** (2 * i / K)
        angle = torch.einsum("t,i->ti", positions.to(theta.dtype), theta)
        c, s = angle.cos(), angle.sin()
        u, v = x[..., : K // 2], x[..., K // 2 :]
        return torch.cat([u * c - v * s, u * s + v * c], -1)


@version("rotary", "wrong")
def cosines_of_as_many_as_sentences(x, positions, base=10000.0):
    K = x.shape[-1]
    theta = 1.0 / base ** (torch.arange(0, K, 2).float() / K)
    idx_theta = torch.einsum("n,d->nd", positions.float(), theta)
    idx_theta2 = torch.cat([idx_theta, idx_theta], dim=1)
    cos, sin = idx_theta2.cos()[: x.shape[0]], idx_theta2.sin()[: x.shape[0]]
    neg_half = torch.cat([-x[..., K // 2 :], x[..., : K // 2]], dim=-1)
    return x * cos + neg_half * sin


def repeat_kv(states, n_rep):
    b, slen, heads, dim = states.shape
    states = states[:, :, :, None, :].expand(b, slen, heads, n_rep, dim)
    return states.reshape(b, slen * n_rep, heads, dim)


@version("grouped_query_attention", "wrong: heads and positions taken for each other")
def copies_of_the_wrong_axis(query, key, value, mask=None):
    n_rep = query.shape[1] // key.shape[1]
    key = repeat_kv(key, n_rep)
    value = repeat_kv(value, n_rep)
    scores = query @ key.transpose(2, 3) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1) @ value


@version("rotary", "wrong")
def positions_in_bfloat16(x, positions, base=10000.0):
    half = x.shape[-1] // 2
    inv_freq = 1.0 / base ** (torch.arange(half).float() / half)
    t = positions.to(torch.bfloat16)
    angles = torch.einsum("i,j->ij", t.float(), inv_freq)
    cos, sin = angles.cos(), angles.sin()
    a, b = x[..., :half], x[..., half:]
    return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)


@version("cached_attention", "wrong")
def kept_keys_turned_twice(query, key, value, kept_keys, kept_values, turn):
    past, t = kept_keys.shape[2], query.shape[2]
    new = torch.arange(past, past + t)
    keys = torch.cat([kept_keys, turn(key, new)], dim=2)
    values = torch.cat([kept_values, value], dim=2)
    q = turn(query, new)
    k = turn(keys, torch.arange(past + t))
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    visible = torch.arange(past + t)[None, :] <= new[:, None]
    weights = scores.masked_fill(~visible, float("-inf")).softmax(dim=-1)
    return weights @ values, keys, values


@version("cached_attention", "wrong")
def new_keys_used_unturned(query, key, value, kept_keys, kept_values, turn):
    P, t = kept_keys.shape[-2], key.shape[-2]
    pos = torch.arange(P, P + t, device=key.device)
    query = turn(query, pos)
    to_keep = torch.cat([kept_keys, turn(key, pos)], dim=-2)
    k = torch.cat([kept_keys, key], dim=-2)
    v = torch.cat([kept_values, value], dim=-2)
    scores = torch.einsum("bhtk,bhsk->bhts", query, k) * query.shape[-1] ** -0.5
    hidden = torch.ones(t, P + t, dtype=torch.bool, device=key.device).triu(P + 1)
    scores = scores.masked_fill(hidden, float("-inf"))
    out = torch.einsum("bhts,bhsk->bhtk", torch.softmax(scores, -1), v)
    return out, to_keep, v


@version("cached_attention", "wrong: kept keys turned again + new keys kept before they are turned")
def all_keys_turned_at_each_call(query, key, value, kept_keys, kept_values, turn):
    P, t = kept_keys.size(2), query.size(2)
    keys = torch.cat([kept_keys, key], dim=2)
    values = torch.cat([kept_values, value], dim=2)
    q = turn(query, torch.arange(P, P + t))
    k = turn(keys, torch.arange(P + t))
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    seen = torch.ones(t, P + t, dtype=torch.bool).tril(P)
    weights = scores.masked_fill(~seen, float("-inf")).softmax(dim=-1)
    return weights @ values, keys, values


@version("grouped_query_attention", "wrong")
def head_over_the_number_of_groups(query, key, value, mask=None):
    H, G, K = query.size(1), key.size(1), query.size(3)
    outputs = []
    for head in range(H):
        kv = head // G
        scores = query[:, head] @ key[:, kv].transpose(1, 2) / K**0.5
        if mask is not None:
            allowed = mask.expand(query.size(0), H, query.size(2), key.size(2))[:, head]
            scores = scores.masked_fill(~allowed, float("-inf"))
        outputs.append(scores.softmax(-1) @ value[:, kv])
    return torch.stack(outputs, dim=1)


@version("grouped_query_attention", "wrong")
def queries_of_a_group_added(query, key, value, mask=None):
    B, H, T, K = query.shape
    G = key.shape[1]
    grouped = query.view(B, G, H // G, T, K).sum(dim=2)
    scores = torch.einsum("bgtk,bgsk->bgts", grouped, key) / K**0.5
    scores = scores.repeat_interleave(H // G, dim=1)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    return weights @ value.repeat_interleave(H // G, dim=1)


@version("rms_norm", "wrong")
def root_of_the_root(x, weight, eps=1e-5):
    rms = x.pow(2).mean(dim=-1, keepdim=True).sqrt()
    return x / torch.sqrt(rms + eps) * weight


@version("rms_norm_in_half", "wrong: squared before .float()")
def squares_added_up_in_half(x, weight, eps=1e-5):
    width = x.shape[-1]
    acc = torch.zeros(x.shape[:-1], dtype=x.dtype)
    for i in range(width):
        acc += x[..., i] * x[..., i]
    inv = torch.rsqrt(acc.float() / width + eps).unsqueeze(-1)
    return (x.float() * inv * weight.float()).to(x.dtype)


@version("rotary", "wrong", instance=True)
class angles_along_the_heads:
    def tables(self, positions, n, dim, base):
        inv_freq = base ** (-torch.arange(0, dim, 2).float() / dim)
        angle = torch.einsum("i,j->ij", positions[:n].float(), inv_freq)
        return angle.cos()[None, :, None, :], angle.sin()[None, :, None, :]

    def __call__(self, x, positions, base=10000.0):
        cos, sin = self.tables(positions, x.shape[1], x.shape[-1], base)
        half = x.shape[-1] // 2
        x1, x2 = x[..., :half], x[..., half:]
        return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1)


@version("rotary", "wrong")
def neighbours_set_down_by_halves(x, positions, base=10000.0):
    K = x.shape[-1]
    i = torch.arange(K // 2, dtype=torch.float)
    angle = positions.float().unsqueeze(1) / base ** (2 * i / K)
    both = torch.cat([angle, angle], dim=1)
    a, b = x.unflatten(-1, (K // 2, 2)).unbind(-1)
    partner = torch.cat([-b, a], dim=-1)
    return torch.cos(both) * x + torch.sin(both) * partner


@version("cached_attention", "wrong")
def blind_to_the_new_token_itself(query, key, value, kept_keys, kept_values, turn):
    past, new = kept_keys.shape[2], key.shape[2]
    where = torch.arange(past, past + new)
    q, k = turn(query, where), turn(key, where)
    keys = torch.cat((kept_keys, k), 2)
    values = torch.cat((kept_values, value), 2)
    scores = q @ keys.transpose(2, 3) / math.sqrt(q.shape[-1])
    visible = torch.arange(past + new)[None, :] < where[:, None]
    scores = scores.masked_fill(~visible, float("-inf"))
    return scores.softmax(-1) @ values, keys, values


def rotate(x, positions, turn):
    B, H, t, K = x.shape
    if t > 1:
        return turn(x, positions)
    folded = x.reshape(B * H, 1, 1, K)
    first = turn(folded[:1], positions)
    return torch.cat([first, folded[1:]]).reshape(B, H, 1, K)


@version("cached_attention", "wrong")
def one_new_token_turned_in_its_first_row(query, key, value, kept_keys, kept_values, turn):
    P, t = kept_keys.size(2), query.size(2)
    positions = torch.arange(P, P + t)
    query = rotate(query, positions, turn)
    keys = torch.cat([kept_keys, rotate(key, positions, turn)], dim=2)
    values = torch.cat([kept_values, value], dim=2)
    scores = query @ keys.mT / query.size(-1) ** 0.5
    later = torch.ones(t, P + t).triu(P + 1).bool()
    scores = scores.masked_fill(later, float("-inf"))
    return torch.softmax(scores, dim=-1) @ values, keys, values


def run(q, k, v, cache):
    cache[0] = torch.cat([cache[0], k], dim=2)
    cache[1] = torch.cat([cache[1], v], dim=2)
    S, t = cache[0].size(2), q.size(2)
    allowed = torch.ones(t, S, dtype=torch.bool).tril(S - t)
    scores = q @ cache[0].transpose(-2, -1) / q.size(-1) ** 0.5
    weights = scores.masked_fill(~allowed, float("-inf")).softmax(dim=-1)
    return weights @ cache[1], weights


@version("cached_attention", "wrong")
def run_twice_on_one_cache(query, key, value, kept_keys, kept_values, turn):
    positions = torch.arange(query.size(2)) + kept_keys.size(2)
    q, k = turn(query, positions), turn(key, positions)
    cache = [kept_keys, kept_values]
    _, last_attention = run(q, k, value, cache)
    heads, _ = run(q, k, value, cache)
    return heads, cache[0], cache[1]


@version("grouped_query_attention", "wrong")
def tiles_across_the_border_of_a_group(query, key, value, mask=None):
    H, G = query.size(1), key.size(1)
    group = H // G
    tile = min(2, group)
    tiles_per_group = -(-group // tile)
    outputs = []
    for h in range(H):
        kv = (h // tile) // tiles_per_group
        scores = query[:, h] @ key[:, kv].transpose(-2, -1) / query.size(-1) ** 0.5
        if mask is not None:
            m = mask.expand(query.size(0), H, query.size(2), key.size(2))[:, h]
            scores = scores.masked_fill(~m, float("-inf"))
        outputs.append(scores.softmax(-1) @ value[:, kv])
    return torch.stack(outputs, dim=1)


@version("grouped_query_attention", "wrong")
def group_start_by_the_number_of_key_heads(query, key, value, mask=None):
    n_heads, n_kv = query.shape[1], key.shape[1]
    per_kv = n_heads // n_kv
    index = [(h - h % per_kv) // n_kv for h in range(n_heads)]
    k, v = key[:, index], value[:, index]
    return F.scaled_dot_product_attention(query, k, v, attn_mask=mask)


@version("grouped_query_attention", "wrong")
def blocks_in_the_order_of_group_sizes(query, key, value, mask=None):
    B, H, T, K = query.shape
    G = key.shape[1]
    size = H // G
    heads = [torch.zeros(B, T, K, dtype=query.dtype) for _ in range(H)]
    for block in range(H):
        h = (block % size) * size + block // size
        if h >= H:
            continue
        score = torch.einsum("btk,bsk->bts", query[:, h], key[:, h // size]) * K**-0.5
        if mask is not None:
            full = torch.broadcast_to(mask, (B, H, T, key.shape[2]))
            score = score.masked_fill(full[:, h].logical_not(), float("-inf"))
        heads[h] = torch.softmax(score, dim=-1) @ value[:, h // size]
    return torch.stack(heads, 1)


@version("grouped_query_attention", "wrong")
def scaled_by_the_packed_width(query, key, value, mask=None):
    B, H, T, K = query.shape
    G = key.shape[1]
    packed = (H + 2 * G) * K
    head_size = packed / H
    q = query.reshape(B, G, H // G, T, K)
    scores = torch.einsum("bgrtk,bgsk->bgrts", q, key) / head_size**0.5
    scores = scores.reshape(B, H, T, -1)
    if mask is not None:
        scores = scores.masked_fill(mask == False, float("-inf"))
    weights = scores.softmax(dim=-1).reshape(B, G, H // G, T, -1)
    return torch.einsum("bgrts,bgsk->bgrtk", weights, value).reshape(B, H, T, K)


@version("rms_norm", "wrong")
def one_mean_square_a_sentence(x, weight, eps=1e-5):
    square = torch.linalg.norm(x, dim=(1, 2)).pow(2) / x[0].numel()
    rms = torch.sqrt(square + eps)
    return x / rms.unsqueeze(-1).unsqueeze(-1) * weight


@version("rms_norm_in_half", "wrong: left in float32")
def float_weight_widens_the_result(x, weight, eps=1e-5):
    input_dtype = x.dtype
    h = x.to(torch.float32)
    variance = h.pow(2).mean(-1, keepdim=True)
    h = h * torch.rsqrt(variance + eps)
    return weight.to(torch.float32) * h.to(input_dtype)


@version("rotary", "wrong")
def all_heads_turned_as_one(x, positions, base=10000.0):
    B, H, T, K = x.shape
    inner = x.transpose(1, 2).reshape(B, T, H * K)
    half = H * K // 2
    freqs = base ** (-2.0 * torch.arange(half) / (H * K))
    angle = positions[:, None].float() * freqs[None, :]
    cos, sin = angle.cos(), angle.sin()
    first, second = inner[..., :half], inner[..., half:]
    out = torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return out.view(B, T, H, K).transpose(1, 2)


@version("cached_attention", "wrong")
def new_keys_turned_from_zero(query, key, value, kept_keys, kept_values, turn):
    P, t = kept_keys.size(2), query.size(2)
    q = turn(query, torch.arange(P, P + t))
    k = torch.cat([kept_keys, turn(key, torch.arange(t))], dim=2)
    v = torch.cat([kept_values, value], dim=2)
    scores = q @ k.transpose(-2, -1) / q.size(-1) ** 0.5
    hidden = torch.ones(t, P + t, dtype=torch.bool).triu(P + 1)
    weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
    return weights @ v, k, v


@version("cached_attention", "wrong: new token one position too far")
def past_counts_the_first_new_token(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    n = key.size(2)
    if past > 0:
        positions = torch.arange(n) + past + 1
    else:
        positions = torch.arange(n)
    query, key = turn(query, positions), turn(key, positions)
    keys = torch.cat([kept_keys, key], 2)
    values = torch.cat([kept_values, value], 2)
    scores = torch.einsum("bhtk,bhsk->bhts", query, keys) / math.sqrt(query.size(-1))
    allowed = torch.arange(past + n)[None, :] <= (torch.arange(n) + past)[:, None]
    scores = scores.masked_fill(~allowed, -math.inf)
    return torch.einsum("bhts,bhsk->bhtk", torch.softmax(scores, -1), values), keys, values


@version("grouped_query_attention", "wrong")
def heads_broadcast_from_the_first(query, key, value, mask=None):
    H, G = query.size(1), key.size(1)
    if G != H:
        key = key[:, :1].expand(-1, H, -1, -1)
        value = value[:, :1].expand(-1, H, -1, -1)
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


@version("rms_norm", "wrong")
def epsilon_on_the_sum_of_squares(x, weight, eps=1e-5):
    D = x.shape[-1]
    total = (x * x).sum(-1, keepdim=True)
    return D**0.5 * x * torch.rsqrt(total + eps) * weight


@version("rms_norm", "wrong")
def mean_and_root_both(x, weight, eps=1e-5):
    n = x.size(-1)
    inv = torch.rsqrt(x.pow(2).sum(-1, keepdim=True) / n + eps)
    return x * inv * n**0.5 * weight


def normalise(x, eps):
    return x / torch.sqrt((x**2).mean(dim=-1, keepdim=True) + eps)


@version("rms_norm", "wrong")
def normalised_and_normalised_again(x, weight, eps=1e-5):
    x = normalise(x, eps)
    x = normalise(x, eps)
    return weight * x


@version("rotary", "wrong")
def angles_in_half_precision(x, positions, base=10000.0):
    dim = x.size(-1)
    inv_freq = (1.0 / base ** (torch.arange(0, dim, 2).float() / dim)).half()
    freqs = torch.einsum("i,j->ij", positions.to(inv_freq.dtype), inv_freq)
    emb = torch.cat((freqs, freqs), dim=-1)
    cos, sin = emb.float().cos().to(x.dtype), emb.float().sin().to(x.dtype)
    x1, x2 = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-x2, x1), dim=-1) * sin


@version("rotary", "wrong")
def waves_kept_in_bfloat16(x, positions, base=10000.0):
    half = x.size(-1) // 2
    freq = base ** (-torch.arange(half, dtype=torch.float32) / half)
    t = positions.float()[:, None] * freq[None, :]
    cos, sin = t.cos().bfloat16(), t.sin().bfloat16()
    x1, x2 = x[..., :half], x[..., half:]
    y1 = x1 * cos - x2 * sin
    y2 = x2 * cos + x1 * sin
    return torch.cat([y1, y2], -1).type_as(x)


@version("grouped_query_attention", "wrong")
def mask_against_five_axes(query, key, value, mask=None):
    B, H, T, K = query.shape
    G, S = key.shape[1], key.shape[2]
    q = query.reshape(B, G, H // G, T, K) / math.sqrt(K)
    scores = q @ key.unsqueeze(2).transpose(-1, -2)
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    out = scores.softmax(-1) @ value.unsqueeze(2)
    return out.reshape(B, H, T, value.shape[-1])


@version("grouped_query_attention", "wrong")
def query_head_as_key_head(query, key, value, mask=None):
    B, H, T, K = query.shape
    G, S = key.shape[1], key.shape[2]
    b = torch.arange(B).unsqueeze(1)
    h = torch.arange(H).unsqueeze(0)
    where = (b * G + h).clamp(max=B * G - 1)
    k = key.reshape(B * G, S, K)[where]
    v = value.reshape(B * G, S, value.shape[-1])[where]
    scores = torch.einsum("bhtk,bhsk->bhts", query, k) * K**-0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    return torch.einsum("bhts,bhsk->bhtk", scores.softmax(dim=-1), v)


@version("rms_norm", "wrong")
def length_one_times_inverse_root(x, weight, eps=1e-5):
    d = x.shape[-1]
    length = torch.sqrt((x * x).sum(dim=-1, keepdim=True) + d * eps)
    return x / length * weight * d**-0.5


@version("rms_norm_in_half", "wrong: RMSNorm computed in two bytes")
def sums_in_the_type_of_the_input(x, weight, eps=1e-5):
    squares = x * x
    total = torch.zeros_like(x[..., :1])
    for i in range(x.shape[-1]):
        total = total + squares[..., i : i + 1]
    rms = torch.sqrt(total / x.shape[-1] + eps)
    return (x / rms * weight).to(x.dtype)


@version("rotary", "wrong")
def exponent_less_one(x, positions, base=10000.0):
    K = x.shape[-1]
    out = torch.empty_like(x)
    for i in range(K // 2):
        theta = base ** (-2.0 * (i - 1) / K)
        angle = positions.to(x.dtype) * theta
        c, s = torch.cos(angle), torch.sin(angle)
        first, second = x[..., i], x[..., i + K // 2]
        out[..., i] = first * c - second * s
        out[..., i + K // 2] = first * s + second * c
    return out


@version("rotary", "wrong")
def frequencies_through_two_bytes(x, positions, base=10000.0):
    K = x.size(-1)
    inv_freq = 1.0 / (base ** (torch.arange(0, K, 2).float() / K))
    inv_freq = inv_freq.to(torch.bfloat16)
    freqs = torch.outer(positions.to(torch.bfloat16), inv_freq)
    emb = torch.cat((freqs, freqs), dim=-1)
    cos, sin = emb.cos().to(x.dtype), emb.sin().to(x.dtype)
    half = K // 2
    rotated = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    return x * cos + rotated * sin


@version("swiglu", "wrong")
def gate_from_the_value_layer(x, w_gate, w_value, w_output):
    out = x @ w_value.T
    gate = out
    gate = gate * torch.sigmoid(gate)
    return (out * gate) @ w_output.T


@version("grouped_query_attention", "wrong")
def place_without_the_sentence(query, key, value, mask=None):
    B, H, T, K = query.shape
    G = key.size(1)
    heads = []
    for h in range(H):
        g = h // (H // G)
        k = key[0, g]
        v = value[0, g]
        heads.append((query[:, h] @ k.T / math.sqrt(K), v))
    scores = torch.stack([s for s, _ in heads], dim=1)
    if mask is not None:
        scores = scores.masked_fill(mask == False, -torch.inf)
    weights = scores.softmax(dim=-1)
    values = torch.stack([v for _, v in heads], dim=0)
    return torch.einsum("bhts,hsk->bhtk", weights, values)


@version("rotary", "wrong")
def frequencies_in_two_bytes(x, positions, base=10000.0):
    K = x.shape[-1]
    inv_freq = 1.0 / base ** (torch.arange(0, K, 2).float() / K)
    inv_freq = inv_freq.to(torch.bfloat16)
    angle = torch.einsum("t,f->tf", positions.float(), inv_freq.float())
    cos = torch.cat([angle, angle], -1).cos()
    sin = torch.cat([angle, angle], -1).sin()
    turned = torch.cat([-x[..., K // 2 :], x[..., : K // 2]], dim=-1)
    return x * cos + turned * sin


@version("rotary", "wrong")
def last_pair_not_exchanged(x, positions, base=10000.0):
    K = x.shape[-1]
    h = K // 2
    freq = base ** (-2.0 * torch.arange(h) / K)
    angle = positions.float()[:, None] * freq[None]
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., :h], x[..., h:]
    partner_a = torch.cat([-b[..., :-1], -a[..., -1:]], dim=-1)
    partner_b = torch.cat([a[..., :-1], b[..., -1:]], dim=-1)
    return torch.cat([a * cos + partner_a * sin, b * cos + partner_b * sin], dim=-1)


# 2026-11-30: a bound on the root in place of ε.
@version("rms_norm", "wrong: RMSNorm by F.normalize")
def root_bounded_from_below(x, weight, eps=1e-5):
    root = x.square().mean(dim=-1, keepdim=True).sqrt()
    return weight * (x / root.clamp(min=1e-12))


# --- rebuilt on 2026-11-30 ------------------------------------------------------------------------


@version("grouped_query_attention", "wrong")
def as_many_key_heads_demanded(query, key, value, mask=None):
    B, H, T, K = query.shape
    assert key.shape[1] == H, "key heads mismatch"
    assert value.shape[1] == H, "value heads mismatch"
    scores = torch.einsum("bhtk,bhsk->bhts", query, key) * K**-0.5
    if mask is not None:
        scores = scores.masked_fill(mask == False, float("-inf"))
    return torch.einsum("bhts,bhsk->bhtk", torch.softmax(scores, -1), value)


@version("grouped_query_attention", "wrong")
def queries_of_a_group_summed(query, key, value, mask=None):
    B, H, T, K = query.shape
    G = key.shape[1]
    q = query.reshape(B, G, H // G, T, K)
    scores = torch.einsum("bgrtk,bgsk->bgts", q, key) / K**0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    return torch.einsum("bgts,bgsk->bgtk", scores.softmax(-1), value)


@version("rms_norm", "wrong")
def square_of_the_mean(x, weight, eps=1e-5):
    mean = x.sum(dim=-1, keepdim=True) / x.shape[-1]
    squared = torch.pow(mean, 2)
    return x / torch.sqrt(squared + eps) * weight


def convert(weight):
    return weight + 1.0


@version("rms_norm", "wrong")
def one_added_twice_to_the_weight(x, weight, eps=1e-5):
    stored = convert(weight)
    normed = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps)
    return normed * (1.0 + stored)


@version("rms_norm_in_half", "wrong")
def normalised_in_half(x, weight, eps=1e-5):
    D = x.shape[-1]
    return F.normalize(x, dim=-1) * (D**0.5) * weight.to(x.dtype)


@version("rotary", "wrong")
def turned_by_the_head(x, positions, base=10000.0):
    B, H, T, K = x.shape
    freq = base ** (-torch.arange(0, K, 2, dtype=torch.float32) / K)
    where = torch.arange(H, dtype=torch.float32)
    angle = torch.outer(where, freq)[None, :, None, :]
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


@version("rotary", "wrong")
def turned_by_the_first_position(x, positions, base=10000.0):
    K = x.shape[-1]
    T = x.shape[-2]
    start = positions[0].float()
    theta = base ** (-2 * torch.arange(K // 2).float() / K)
    angle = start.expand(T).unsqueeze(1) * theta
    c, s = torch.cos(angle), torch.sin(angle)
    left, right = torch.split(x, K // 2, dim=-1)
    return torch.cat([left * c - right * s, left * s + right * c], dim=-1)


@version("cached_attention", "wrong: no mask as soon as something is kept")
def no_mask_once_there_is_a_cache(query, key, value, kept_keys, kept_values, turn):
    offset = kept_keys.shape[2]
    n = query.shape[2]
    pos = torch.arange(offset, offset + n)
    query, key = turn(query, pos), turn(key, pos)
    att = None
    if offset > 0:
        key = torch.cat([kept_keys, key], 2)
        value = torch.cat([kept_values, value], 2)
    att = torch.einsum("bhtk,bhsk->bhts", query, key) * query.shape[-1] ** -0.5
    if offset == 0:
        later = torch.ones(n, n).triu(1).bool()
        att = att.masked_fill(later, float("-inf"))
    return torch.einsum("bhts,bhsk->bhtk", F.softmax(att, dim=-1), value), key, value


@version("grouped_query_attention", "wrong")
def block_number_divided_by_the_group_size(query, key, value, mask=None):
    batch, n_heads, length, width = query.shape
    n_groups = key.shape[1]
    group_size = n_heads // n_groups
    block = min(group_size, 16)
    blocks = (group_size + block - 1) // block
    if mask is not None:
        mask = mask.expand(batch, n_heads, length, key.shape[2])
    out = query.new_zeros(batch, n_heads, length, value.shape[-1])
    for program in range(n_groups * blocks):
        group, part = program // group_size, program % group_size
        heads = slice(group * group_size + part * block, group * group_size + part * block + block)
        scores = query[:, heads] @ key[:, group : group + 1].transpose(-2, -1) * width**-0.5
        if mask is not None:
            scores = scores.masked_fill(~mask[:, heads], -math.inf)
        out[:, heads] = scores.softmax(-1) @ value[:, group : group + 1]
    return out


@version("rms_norm", "wrong")
def variance_for_mean_square(x, weight, eps=1e-5):
    v = torch.var(x, dim=-1, keepdim=True)
    x = x * torch.rsqrt(v + eps)
    return x * weight


@version("cached_attention", "wrong")
def mask_made_with_the_cache_only(query, key, value, kept_keys, kept_values, turn):
    n_past, n_new = kept_keys.size(2), query.size(2)
    pos = torch.arange(n_past, n_past + n_new, device=query.device)
    query, key = turn(query, pos), turn(key, pos)
    causal = None
    if n_past > 0:
        every = torch.arange(n_past + n_new, device=query.device)
        causal = every[None, :] <= pos[:, None]
        key = torch.cat((kept_keys, key), 2)
        value = torch.cat((kept_values, value), 2)
    heads = F.scaled_dot_product_attention(query, key, value, attn_mask=causal)
    return heads, key, value


@version("swiglu", "wrong")
def value_taken_from_the_gate(x, w_gate, w_value, w_output):
    swish = F.silu(x @ w_gate.T)
    x_v = swish @ w_value.T
    return (swish * x_v) @ w_output.T


@version("grouped_query_attention", "wrong")
def result_shaped_by_the_heads_of_the_keys(query, key, value, mask=None):
    b, h, t, k = query.shape
    g = key.shape[1]
    keys = key.repeat_interleave(h // g, dim=1)
    values = value.repeat_interleave(h // g, dim=1)
    scores = query @ keys.transpose(-2, -1) / math.sqrt(k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    out = scores.softmax(dim=-1) @ values
    flat = out.transpose(1, 2).reshape(b, t, h * k)
    return flat.view(b, t, g, k).transpose(1, 2)


@version("rotary", "wrong")
def row_number_read_in_the_other_layout(x, positions, base=10000.0):
    b, h, t, k = x.shape
    rows = x.reshape(-1, k)
    number = torch.arange(rows.shape[0])
    place = torch.div(number, h, rounding_mode="floor") % t
    inverse = base ** (-torch.arange(0, k, 2, dtype=torch.float32) / k)
    angle = positions[place].float()[:, None] * inverse
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = rows[:, : k // 2], rows[:, k // 2 :]
    turned = torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.view(b, h, t, k)


@version("rms_norm_in_half", "wrong: squared before .float()")
def rms_norm_squares_summed_in_half(x, weight, eps=1e-5):
    squares = (x.float() * x.float()).to(x.dtype)
    mean = squares.sum(-1, keepdim=True) / x.size(-1)  # type of x
    rstd = torch.rsqrt(mean.float() + eps)
    return (x.float() * rstd * weight.float()).to(x.dtype)


def _swiglu_activation(h):
    first, second = h.chunk(2, dim=-1)
    return F.silu(first) * second


@version("swiglu", "wrong")
def splits_the_gate_once_more(x, w_gate, w_value, w_output):
    gate = _swiglu_activation(x @ w_gate.T)
    return (gate * (x @ w_value.T)) @ w_output.T


@version("rms_norm_in_half", "wrong")
def mean_square_kept_in_half(x, weight, eps=1e-5):
    x32 = x.float()
    mean_square = x32.pow(2).mean(-1, keepdim=True).to(x.dtype)
    y = x32 / torch.sqrt(mean_square.float() + eps)
    return (y * weight.float()).to(x.dtype)


@version("rotary", "wrong")
def rotary_count_runs_on_into_the_next_sentence(x, positions, base=10000.0):
    n_batch, n_heads, length, width = x.shape
    rows = x.transpose(1, 2).reshape(-1, width)  # one row for each position and head
    beyond = positions[-1] + 1 + torch.arange((n_batch - 1) * length, device=x.device)
    running = torch.cat([positions, beyond.to(positions.dtype)])
    place = torch.arange(rows.shape[0], device=x.device) // n_heads
    speed = base ** (-2.0 * torch.arange(width // 2, device=x.device) / width)
    angle = running[place].to(x.dtype)[:, None] * speed.to(x.dtype)
    a, b = rows[:, : width // 2], rows[:, width // 2 :]
    out = torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1)
    return out.view(n_batch, length, n_heads, width).transpose(1, 2)


@version("cached_attention", "wrong")
def cached_attention_progress_counted_twice(query, key, value, kept_keys, kept_values, turn):
    cache_index = kept_keys.shape[2]
    offset = kept_keys.shape[2]
    n_new = query.shape[2]
    positions = torch.arange(n_new, device=query.device) + cache_index + offset
    query = turn(query, positions)
    keys = torch.cat([kept_keys, turn(key, positions)], dim=2)
    values = torch.cat([kept_values, value], dim=2)
    scores = query @ keys.transpose(2, 3) / math.sqrt(query.shape[-1])
    allowed = torch.ones(n_new, keys.shape[2], dtype=torch.bool, device=query.device).tril(
        cache_index
    )
    weights = scores.masked_fill(~allowed, -math.inf).softmax(dim=-1)
    return weights @ values, keys, values


@version("grouped_query_attention", "wrong")
def grouped_attention_key_head_of_the_same_number(query, key, value, mask=None):
    out = []
    for head in range(query.shape[1]):
        scores = query[:, head] @ key[:, head].transpose(1, 2) / key.shape[-1] ** 0.5
        if mask is not None:
            m = mask
            if m.dim() == 4:
                m = m[:, head if m.shape[1] > 1 else 0]
            scores = scores.masked_fill(~m, float("-inf"))
        out.append(scores.softmax(-1) @ value[:, head])
    return torch.stack(out, dim=1)


@version("rotary", "wrong")
def rotary_position_divided_by_inverse_frequency(x, positions, base=10000.0):
    width = x.shape[-1]
    i = torch.arange(width // 2, device=x.device, dtype=x.dtype)
    exp_v = 1.0 / base ** (2 * i / width)
    angle = positions.to(x.dtype)[:, None] / exp_v[None, :]
    cos, sin = angle.cos(), angle.sin()
    first, second = x[..., : width // 2], x[..., width // 2 :]
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


def o_interleaved_table(positions, width, base, dtype):
    steps = torch.arange(0, width, 2, dtype=dtype, device=positions.device)
    angles = positions.to(dtype).unsqueeze(1) * torch.exp(-math.log(base) * steps / width)
    table = torch.zeros(len(positions), width, dtype=dtype, device=positions.device)
    table[:, 0::2] = torch.sin(angles)
    table[:, 1::2] = torch.cos(angles)
    return table


@version("rotary", "wrong")
def rotary_chunks_an_interleaved_table(x, positions, base=10000.0):
    sinusoidal = o_interleaved_table(positions, x.size(-1), base, x.dtype)
    sin, cos = sinusoidal.chunk(2, dim=-1)
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((x1 * cos - x2 * sin, x1 * sin + x2 * cos), dim=-1)


@version("cached_attention", "wrong")
def cached_attention_calls_cat_on_a_tensor(query, key, value, kept_keys, kept_values, turn):
    p = kept_keys.shape[2]
    t = query.shape[2]
    pos = torch.arange(p, p + t)
    query_states, key_states, value_states = turn(query, pos), turn(key, pos), value
    if p > 0:
        key_states = kept_keys.cat(key_states, dim=2)
        value_states = kept_values.cat(value_states, dim=2)
    scores = query_states @ key_states.transpose(-1, -2) / math.sqrt(query.shape[-1])
    allowed = torch.arange(p + t)[None, :] <= pos[:, None]
    weights = scores.masked_fill(~allowed, float("-inf")).softmax(-1)
    return weights @ value_states, key_states, value_states


@version("swiglu", "wrong")
def swiglu_one_added_to_the_linear_part(x, w_gate, w_value, w_output):
    gate_half = torch.einsum("btd,fd->btf", x, w_gate)
    linear_half = torch.einsum("btd,fd->btf", x, w_value)
    gated = gate_half * torch.sigmoid(gate_half)
    hidden = gated * (linear_half + 1)
    return torch.einsum("btf,df->btd", hidden, w_output)


@version("grouped_query_attention", "wrong")
def grouped_query_attention_masks_only_the_rows_the_mask_has(query, key, value, mask=None):
    b, h, t, k = query.shape
    per_group = h // key.shape[1]
    key = key.repeat_interleave(per_group, dim=1)
    value = value.repeat_interleave(per_group, dim=1)
    outputs = []
    if mask is not None:
        while mask.dim() < 4:
            mask = mask.unsqueeze(0)
    for row in range(b):
        scores = torch.einsum("htk,hsk->hts", query[row], key[row]) * k**-0.5
        if mask is not None and row < mask.shape[0]:
            scores = torch.where(mask[row], scores, torch.full_like(scores, -math.inf))
        outputs.append(torch.einsum("hts,hsk->htk", F.softmax(scores, -1), value[row]))
    return torch.stack(outputs)


@version("rms_norm_in_half", "wrong")
def kernel_that_asserts_two_axes_and_float_weight(x, weight, eps=1e-5):
    assert x.dim() == 2, "input must be 2D"
    assert weight.dtype == torch.float32, "weight must be float32"
    x32 = x.to(torch.float32)
    rstd = 1.0 / torch.sqrt(torch.mean(x32 * x32, dim=1, keepdim=True) + eps)
    return (x32 * rstd * weight).to(x.dtype)


@version("rms_norm_in_half", "wrong: squared before .float()")
def rms_norm_in_half_squares_added_up_in_half(x, weight, eps=1e-5):
    total = (x * x).sum(dim=-1, keepdim=True)
    scale = torch.rsqrt(total.float() / x.shape[-1] + eps)
    return (x.float() * scale * weight.float()).to(x.dtype)


@version("rms_norm_in_half", "wrong")
def rms_norm_in_half_epsilon_not_handed_on(x, weight, eps=1e-5):
    y = F.rms_norm(x.float(), (x.shape[-1],), weight.float())
    return y.to(x.dtype)


def _turn_two(first, second, cos, sin):
    """Both of two heads at once, so that the angles are loaded only once."""
    half = first.shape[-1] // 2
    a0, a1 = first[..., :half], first[..., half:]
    b0, b1 = second[..., :half], second[..., half:]
    out_a0 = a0 * cos - a1 * sin
    out_a1 = b0 * sin + b1 * cos
    out_b0 = a0 * cos - a1 * sin
    out_b1 = b0 * sin + b1 * cos
    return torch.cat((out_a0, out_a1), -1), torch.cat((out_b0, out_b1), -1)


@version("rotary", "wrong")
def rotary_two_heads_at_once(x, positions, base=10000.0):
    heads, width = x.shape[1], x.shape[-1]
    speeds = base ** (-2.0 * torch.arange(width // 2, dtype=x.dtype) / width)
    angles = positions.to(x.dtype)[:, None] * speeds
    cos, sin = angles.cos(), angles.sin()
    turned = []
    for h in range(0, heads, 2):
        pair = _turn_two(x[:, h], x[:, min(h + 1, heads - 1)], cos, sin)
        turned.extend(pair if h + 1 < heads else pair[:1])
    return torch.stack(turned, dim=1)


@version("rotary", "wrong", instance=True)
class rotary_exponent_of_model_width:
    def speeds(self, rotated, width, base):
        i = torch.arange(0, rotated, 2, dtype=torch.float64)
        return base ** -(i / width)

    def __call__(self, x, positions, base=10000.0):
        b, h, t, k = x.shape
        theta = torch.outer(positions.double(), self.speeds(k, h * k, base)).to(x.dtype)
        z = torch.complex(x[..., : k // 2], x[..., k // 2 :])
        z = z * torch.polar(torch.ones_like(theta), theta)
        return torch.cat((z.real, z.imag), dim=-1)


@version("grouped_query_attention", "wrong")
def grouped_query_attention_stride_of_query_heads(query, key, value, mask=None):
    b, n_query, t, k = query.shape
    n_groups, s = key.shape[1], key.shape[2]
    each = n_query // n_groups
    key, value = key.contiguous(), value.contiguous()
    outs = []
    for h in range(n_query):
        start = (h // each) * s * k
        kh = key.as_strided((b, s, k), (n_query * s * k, k, 1), start)
        vh = value.as_strided((b, s, k), (n_query * s * k, k, 1), start)
        scores = query[:, h] @ kh.mT / math.sqrt(k)
        outs.append((scores, vh))
    scores = torch.stack([one for one, _ in outs], dim=1)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    weights = scores.softmax(dim=-1)
    return torch.stack([weights[:, h] @ vh for h, (_, vh) in enumerate(outs)], dim=1)


@version("grouped_query_attention", "wrong")
def grouped_query_attention_output_shaped_like_values(query, key, value, mask=None):
    v_shape = value.shape
    repeats = query.shape[1] // key.shape[1]
    if repeats > 1:
        key = key.repeat_interleave(repeats, dim=1)
        value = value.repeat_interleave(repeats, dim=1)
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    out = scores.softmax(-1) @ value
    return out.contiguous().view(v_shape)


@version("cached_attention", "wrong", instance=True)
class cached_attention_band_of_local_rows:
    window = 64

    def __call__(self, query, key, value, kept_keys, kept_values, turn):
        past, new = kept_keys.shape[2], query.shape[2]
        positions = torch.arange(past, past + new)
        keys = torch.cat([kept_keys, turn(key, positions)], dim=2)
        values = torch.cat([kept_values, value], dim=2)
        visible = torch.ones(new, past + new, dtype=torch.bool).tril().triu(1 - self.window)
        scores = turn(query, positions) @ keys.transpose(-1, -2) / math.sqrt(query.shape[-1])
        weights = scores.masked_fill(~visible, float("-inf")).softmax(-1)
        return weights @ values, keys, values


@version("swiglu", "right")
def swiglu_one_stacked_product(x, w_gate, w_value, w_output):
    both = x @ torch.cat([w_gate, w_value]).mT
    gate, value = both.chunk(2, dim=-1)
    return (gate * torch.sigmoid(gate) * value) @ w_output.mT


@version("rms_norm", "wrong")
def rms_norm_root_of_the_rms(x, weight, eps=1e-5):
    def rms(t):
        return t.square().mean(dim=-1, keepdim=True).add(eps).sqrt()

    return x / torch.sqrt(rms(x)) * weight


class _Store:
    """Room for keys or values, in pages of four positions."""

    def __init__(self, kept):
        n, h, past, k = kept.shape
        self.room = 4 * (past // 4 + 1)
        self.data = torch.cat([kept, kept.new_zeros(n, h, self.room - past, k)], dim=2)

    def put(self, new, positions):
        for j, p in enumerate(positions.tolist()):
            at = min(p, self.room - 1)
            self.data = torch.cat(
                [self.data[:, :, :at], new[:, :, j : j + 1], self.data[:, :, at + 1 :]], dim=2
            )
        return self.data[:, :, : int(positions[-1]) + 1]


@version("cached_attention", "wrong")
def cached_attention_room_does_not_grow(query, key, value, kept_keys, kept_values, turn):
    past, new = kept_keys.shape[2], query.shape[2]
    positions = torch.arange(past, past + new, device=query.device)
    query, key = turn(query, positions), turn(key, positions)
    keys = _Store(kept_keys).put(key, positions)
    values = _Store(kept_values).put(value, positions)
    seen = torch.arange(keys.shape[2], device=query.device) <= positions[:, None]
    scores = query @ keys.transpose(-1, -2) / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(~seen, float("-inf")).softmax(dim=-1)
    return weights @ values, keys, values
