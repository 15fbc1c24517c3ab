"""Chapter 25, as beginners get it wrong: RMSNorm, rotary positions, SwiGLU, shared heads, cache."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tests.checks.wrong_versions import wrong

# --- RMSNorm -------------------------------------------------------------------------------------

RMS = "rms_norm"


@wrong(RMS, "mean subtracted in RMSNorm")
def rms_layer_norm(x, weight, eps=1e-5):
    return F.layer_norm(x, (x.size(-1),), weight, eps=eps)


@wrong(RMS, "mean subtracted in RMSNorm")
def rms_centred(x, weight, eps=1e-5):
    x = x - x.mean(-1, keepdim=True)
    return weight * x * (x.pow(2).mean(-1, keepdim=True) + eps).rsqrt()


@wrong(RMS, "divided by the standard deviation")
def rms_std(x, weight, eps=1e-5):
    return x / (x.var(-1, keepdim=True, correction=0) + eps).sqrt() * weight


@wrong(RMS, "divided by the standard deviation")
def rms_var_mean(x, weight, eps=1e-5):
    var, _ = torch.var_mean(x, dim=2, unbiased=False, keepdim=True)
    return weight * x * (var + eps) ** -0.5


@wrong(RMS, "sum of the squares in place of their mean")
def rms_sum(x, weight, eps=1e-5):
    return weight * x / torch.sqrt((x**2).sum(-1, keepdim=True) + eps)


@wrong(RMS, "sum of the squares in place of their mean")
def rms_length(x, weight, eps=1e-5):
    squares = torch.einsum("btd,btd->bt", x, x)[..., None]
    return x * torch.rsqrt(squares + eps) * weight


@wrong(RMS, "ε of RMSNorm outside the root")
def rms_outside(x, weight, eps=1e-5):
    return weight * x / (x.pow(2).mean(-1, keepdim=True).sqrt() + eps)


@wrong(RMS, "ε of RMSNorm outside the root")
def rms_norm_function(x, weight, eps=1e-5):
    rms = x.norm(dim=-1, keepdim=True) / math.sqrt(x.size(-1))
    return x / (eps + rms) * weight


@wrong(RMS, "ε of RMSNorm forgotten")
def rms_no_eps(x, weight, eps=1e-5):
    return x / x.pow(2).mean(-1, keepdim=True).sqrt() * weight


@wrong(RMS, "ε of RMSNorm forgotten")
def rms_length_alone(x, weight, eps=1e-5):
    return weight * x * x.size(-1) ** 0.5 / x.norm(dim=-1, keepdim=True)


@wrong(RMS, "root of RMSNorm forgotten")
def rms_no_root(x, weight, eps=1e-5):
    return weight * x / (x.pow(2).mean(-1, keepdim=True) + eps)


@wrong(RMS, "root of RMSNorm forgotten")
def rms_reciprocal(x, weight, eps=1e-5):
    return x * torch.reciprocal((x * x).mean(2, keepdim=True) + eps) * weight


@wrong(RMS, "weight of RMSNorm forgotten")
def rms_no_weight(x, weight, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


@wrong(RMS, "weight of RMSNorm forgotten")
def rms_ready_made_alone(x, weight, eps=1e-5):
    return F.rms_norm(x, [x.size(-1)], eps=eps)


@wrong(RMS, "one added to the weight of RMSNorm")
def rms_gemma(x, weight, eps=1e-5):
    out = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return out * (1.0 + weight)


@wrong(RMS, "one added to the weight of RMSNorm")
def rms_residual(x, weight, eps=1e-5):
    out = F.rms_norm(x, [x.size(-1)], eps=eps)
    return out + out * weight


@wrong(RMS, "mean of the squares over the positions")
def rms_positions(x, weight, eps=1e-5):
    return weight * x / torch.sqrt(x.pow(2).mean(1, keepdim=True) + eps)


@wrong(RMS, "mean of the squares over the positions")
def rms_columns(x, weight, eps=1e-5):
    y = F.rms_norm(x.transpose(1, 2), [x.size(1)], eps=eps)
    return y.transpose(1, 2) * weight


# --- rotary positions ----------------------------------------------------------------------------

ROTARY = "rotary"


def angles_of(positions, k, base):
    return positions.float()[:, None] / base ** (torch.arange(0, k, 2).float() / k)


def rotate_half(x, angles):
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


@wrong(ROTARY, "neighbours paired")
def rotary_neighbours(x, positions, base=10000.0):
    angles = angles_of(positions, x.size(-1), base)
    out = torch.empty_like(x)
    out[..., ::2] = x[..., ::2] * angles.cos() - x[..., 1::2] * angles.sin()
    out[..., 1::2] = x[..., ::2] * angles.sin() + x[..., 1::2] * angles.cos()
    return out


@wrong(ROTARY, "neighbours paired")
def rotary_view_as_complex(x, positions, base=10000.0):
    angles = angles_of(positions, x.size(-1), base)
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    turn = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(z * turn).flatten(3).type_as(x)


@wrong(ROTARY, "neighbours turned, halves put together")
def rotary_even_odd(x, positions, base=10000.0):
    angles = angles_of(positions, x.size(-1), base)
    even, odd = x[..., 0::2], x[..., 1::2]
    new_even = even * angles.cos() - odd * angles.sin()
    new_odd = even * angles.sin() + odd * angles.cos()
    return torch.cat((new_even, new_odd), dim=-1)


@wrong(ROTARY, "neighbours turned, halves put together")
def rotary_unflattened(x, positions, base=10000.0):
    pairs = x.unflatten(-1, (-1, 2)).transpose(-1, -2).flatten(-2)
    return rotate_half(pairs, angles_of(positions, x.size(-1), base))


@wrong(ROTARY, "halves turned, neighbours put together")
def rotary_stacked(x, positions, base=10000.0):
    angles = angles_of(positions, x.size(-1), base)
    a, b = x.chunk(2, dim=-1)
    c, s = angles.cos(), angles.sin()
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).reshape(x.shape)


@wrong(ROTARY, "halves turned, neighbours put together")
def rotary_written(x, positions, base=10000.0):
    turned = rotate_half(x, angles_of(positions, x.size(-1), base))
    out = torch.empty_like(x)
    out[..., 0::2], out[..., 1::2] = turned.chunk(2, -1)
    return out


@wrong(ROTARY, "turned clockwise")
def rotary_minus(x, positions, base=10000.0):
    return rotate_half(x, angles_of(-positions, x.size(-1), base))


@wrong(ROTARY, "turned clockwise")
def rotary_half_sign(x, positions, base=10000.0):
    angles = angles_of(positions, x.size(-1), base).repeat(1, 2)
    a, b = x.chunk(2, -1)
    return x * angles.cos() + torch.cat((b, -a), dim=-1) * angles.sin()


@wrong(ROTARY, "one sign of the turn wrong")
def rotary_no_minus(x, positions, base=10000.0):
    angles = angles_of(positions, x.size(-1), base).repeat(1, 2)
    a, b = x.chunk(2, -1)
    return x * angles.cos() + torch.cat((b, a), dim=-1) * angles.sin()


@wrong(ROTARY, "one sign of the turn wrong")
def rotary_rolled(x, positions, base=10000.0):
    angles = torch.cat([angles_of(positions, x.size(-1), base)] * 2, -1)
    return x * torch.cos(angles) + x.roll(x.size(-1) // 2, dims=-1) * torch.sin(angles)


@wrong(ROTARY, "all pairs turned equally fast")
def rotary_one_speed(x, positions, base=10000.0):
    return rotate_half(x, positions[:, None].float())


@wrong(ROTARY, "all pairs turned equally fast")
def rotary_power_zero(x, positions, base=10000.0):
    theta = base ** torch.zeros(x.size(-1) // 2)
    return rotate_half(x, torch.outer(positions.float(), theta))


@wrong(ROTARY, "exponent without its factor two")
def rotary_half_exponent(x, positions, base=10000.0):
    k = x.size(-1)
    return rotate_half(x, positions[:, None] / base ** (torch.arange(k // 2) / k))


@wrong(ROTARY, "exponent without its factor two")
def rotary_root_of_base(x, positions, base=10000.0):
    return rotate_half(x, angles_of(positions, x.size(-1), math.sqrt(base)))


@wrong(ROTARY, "positions counted from the start of the tensor")
def rotary_arange(x, positions, base=10000.0):
    return rotate_half(x, angles_of(torch.arange(x.size(2)), x.size(-1), base))


@wrong(ROTARY, "positions counted from the start of the tensor")
def rotary_enumerate(x, positions, base=10000.0):
    rows = []
    for t, row in enumerate(x.unbind(dim=2)):
        rows.append(rotate_half(row, angles_of(torch.tensor([t]), x.size(-1), base)[0]))
    return torch.stack(rows, dim=2)


@wrong(ROTARY, "base fixed at 10000")
def rotary_fixed(x, positions, base=10000.0):
    return rotate_half(x, angles_of(positions, x.size(-1), 10000.0))


@wrong(ROTARY, "base fixed at 10000")
def rotary_fixed_exponential(x, positions, base=10000.0):
    k = x.size(-1)
    theta = torch.exp(torch.arange(0, k, 2) * (-math.log(10_000) / k))
    return rotate_half(x, positions.unsqueeze(-1) * theta)


@wrong(ROTARY, "rotary positions counted from one")
def rotary_from_one(x, positions, base=10000.0):
    return rotate_half(x, angles_of(1 + positions, x.size(-1), base))


@wrong(ROTARY, "rotary positions counted from one")
def rotary_one_more(x, positions, base=10000.0):
    k = x.size(-1)
    theta = base ** (-torch.arange(0, k, 2) / k)
    return rotate_half(x, positions[:, None] * theta + theta)


# --- SwiGLU --------------------------------------------------------------------------------------

GLU = "swiglu"


@wrong(GLU, "gate and value exchanged")
def swiglu_exchanged(x, w_gate, w_value, w_output):
    return (F.silu(x @ w_value.T) * (x @ w_gate.T)) @ w_output.T


@wrong(GLU, "gate and value exchanged")
def swiglu_up_activated(x, w_gate, w_value, w_output):
    gate, up = F.linear(x, w_gate), F.linear(x, w_value)
    return F.linear(gate * up * up.sigmoid(), w_output)


@wrong(GLU, "sigmoid in place of SiLU")
def swiglu_sigmoid(x, w_gate, w_value, w_output):
    return (torch.sigmoid(x @ w_gate.T) * (x @ w_value.T)) @ w_output.T


@wrong(GLU, "sigmoid in place of SiLU")
def swiglu_glu(x, w_gate, w_value, w_output):
    both = torch.cat([x @ w_value.T, x @ w_gate.T], dim=-1)
    return F.glu(both, dim=-1) @ w_output.T


@wrong(GLU, "GELU in place of SiLU")
def swiglu_gelu(x, w_gate, w_value, w_output):
    return (F.gelu(x @ w_gate.T) * (x @ w_value.T)) @ w_output.T


@wrong(GLU, "GELU in place of SiLU")
def swiglu_erf(x, w_gate, w_value, w_output):
    z = F.linear(x, w_gate)
    z = z * 0.5 * (1 + torch.erf(z / math.sqrt(2)))
    return F.linear(z * F.linear(x, w_value), w_output)


@wrong(GLU, "activation of the gate forgotten")
def swiglu_bilinear(x, w_gate, w_value, w_output):
    return ((x @ w_gate.T) * (x @ w_value.T)) @ w_output.T


@wrong(GLU, "activation of the gate forgotten")
def swiglu_einsum(x, w_gate, w_value, w_output):
    return torch.einsum("btd,fd,bte,fe,of->bto", x, w_gate, x, w_value, w_output)


@wrong(GLU, "gate added in place of multiplied")
def swiglu_sum(x, w_gate, w_value, w_output):
    return (F.silu(x @ w_gate.T) + x @ w_value.T) @ w_output.T


@wrong(GLU, "gate added in place of multiplied")
def swiglu_two_outputs(x, w_gate, w_value, w_output):
    opened = F.linear(F.silu(F.linear(x, w_gate)), w_output)
    return opened + F.linear(F.linear(x, w_value), w_output)


@wrong(GLU, "activation after the product of both")
def swiglu_last(x, w_gate, w_value, w_output):
    return F.silu((x @ w_gate.T) * (x @ w_value.T)) @ w_output.T


@wrong(GLU, "activation after the product of both")
def swiglu_last_written_out(x, w_gate, w_value, w_output):
    h = F.linear(x, w_value) * F.linear(x, w_gate)
    return F.linear(h / (1 + torch.exp(-h)), w_output)


@wrong(GLU, "activation on gate and value")
def swiglu_twice(x, w_gate, w_value, w_output):
    return (F.silu(x @ w_gate.T) * F.silu(x @ w_value.T)) @ w_output.T


@wrong(GLU, "activation on gate and value")
def swiglu_fused_twice(x, w_gate, w_value, w_output):
    both = F.silu(F.linear(x, torch.cat([w_gate, w_value])))
    gate, value = both.chunk(2, -1)
    return F.linear(gate * value, w_output)


@wrong(GLU, "one matrix for gate and value")
def swiglu_once(x, w_gate, w_value, w_output):
    h = x @ w_gate.T
    return (F.silu(h) * h) @ w_output.T


@wrong(GLU, "one matrix for gate and value")
def swiglu_square(x, w_gate, w_value, w_output):
    h = F.linear(x, w_gate)
    return F.linear(h.square() * torch.sigmoid(h), w_output)


# --- grouped-query attention ---------------------------------------------------------------------

GQA = "grouped_query_attention"


def attended(q, k, v, mask=None):
    return F.scaled_dot_product_attention(q, k, v, mask)


def side_by_side(x, n_heads):
    return x.repeat_interleave(n_heads // x.size(1), 1)


@wrong(GQA, "repeat for repeat_interleave")
def gqa_repeat(query, key, value, mask=None):
    n = query.size(1) // key.size(1)
    return attended(query, key.repeat(1, n, 1, 1), value.repeat(1, n, 1, 1), mask)


@wrong(GQA, "repeat for repeat_interleave")
def gqa_remainder(query, key, value, mask=None):
    mine = [h % key.size(1) for h in range(query.size(1))]
    return attended(query, key[:, mine], value[:, mine], mask)


@wrong(GQA, "values repeated in another order than the keys")
def gqa_values_cat(query, key, value, mask=None):
    n = query.size(1) // key.size(1)
    return attended(query, side_by_side(key, query.size(1)), torch.cat([value] * n, 1), mask)


@wrong(GQA, "values repeated in another order than the keys")
def gqa_values_tile(query, key, value, mask=None):
    n = query.size(1) // key.size(1)
    scores = query @ side_by_side(key, query.size(1)).mT / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return scores.softmax(-1) @ value.tile(1, n, 1, 1)


@wrong(GQA, "keys and values averaged over their heads")
def gqa_mean(query, key, value, mask=None):
    key = key.mean(1, keepdim=True).expand(-1, query.size(1), -1, -1)
    value = value.mean(1, keepdim=True).expand(-1, query.size(1), -1, -1)
    return attended(query, key, value, mask)


@wrong(GQA, "keys and values averaged over their heads")
def gqa_mean_unsqueezed(query, key, value, mask=None):
    k, v = key.mean(dim=1).unsqueeze(1), value.mean(dim=1).unsqueeze(1)
    scores = query @ k.transpose(-1, -2) / query.size(-1) ** 0.5
    scores = scores if mask is None else scores.masked_fill(~mask, -1e30)
    return F.softmax(scores, dim=-1) @ v


@wrong(GQA, "first head of keys and values for all")
def gqa_first(query, key, value, mask=None):
    def all_read_one(x):
        return x[:, 0].unsqueeze(1).expand(-1, query.size(1), -1, -1)

    return attended(query, all_read_one(key), all_read_one(value), mask)


@wrong(GQA, "first head of keys and values for all")
def gqa_zero(query, key, value, mask=None):
    n = query.size(1)
    zero = torch.zeros(n, dtype=torch.long)
    return attended(query, key.index_select(1, zero), value.index_select(1, zero), mask)


@wrong(GQA, "scaled by the root of the model's width")
def gqa_model_width(query, key, value, mask=None):
    d_model = query.transpose(1, 2).flatten(2).size(-1)
    k, v = side_by_side(key, query.size(1)), side_by_side(value, query.size(1))
    return F.scaled_dot_product_attention(query, k, v, mask, scale=d_model**-0.5)


@wrong(GQA, "scaled by the root of the model's width")
def gqa_model_width_formula(query, key, value, mask=None):
    k, v = side_by_side(key, query.size(1)), side_by_side(value, query.size(1))
    scores = torch.einsum("bhtk,bhsk->bhts", query, k) / math.sqrt(query.size(1) * query.size(3))
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, -1) @ v


@wrong(GQA, "grouped scores not scaled")
def gqa_unscaled(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, mask, scale=1.0, enable_gqa=True)


@wrong(GQA, "grouped scores not scaled")
def gqa_unscaled_formula(query, key, value, mask=None):
    k, v = side_by_side(key, query.size(1)), side_by_side(value, query.size(1))
    scores = query @ k.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, -1) @ v


@wrong(GQA, "grouped mask inverted")
def gqa_inverted(query, key, value, mask=None):
    k, v = side_by_side(key, query.size(1)), side_by_side(value, query.size(1))
    scores = query @ k.mT / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    return torch.softmax(scores, -1) @ v


@wrong(GQA, "grouped mask inverted")
def gqa_not_mask(query, key, value, mask=None):
    k, v = side_by_side(key, query.size(1)), side_by_side(value, query.size(1))
    scores = query @ k.mT / query.size(-1) ** 0.5
    if mask is not None:
        scores = torch.where(mask, -torch.inf, scores)
    return F.softmax(scores, dim=-1) @ v


@wrong(GQA, "grouped mask ignored")
def gqa_unmasked(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, enable_gqa=True)


@wrong(GQA, "grouped mask ignored")
def gqa_filled_after(query, key, value, mask=None):
    k, v = side_by_side(key, query.size(1)), side_by_side(value, query.size(1))
    scores = query @ k.mT / query.size(-1) ** 0.5
    weights = torch.softmax(scores, -1)
    if mask is not None:
        scores.masked_fill(~mask, -torch.inf)  # not in place, and too late
    return weights @ v


# --- attention with a cache of turned keys -------------------------------------------------------

CACHED = "cached_attention"


def attend(query, keys, values, past):
    mask = torch.ones(query.size(2), keys.size(2)).tril(past).bool()
    return F.scaled_dot_product_attention(query, keys, values, mask)


def cached(query, key, value, kept_keys, kept_values, turn, start=None):
    past, new = kept_keys.size(2), query.size(2)
    start = past if start is None else start
    places = torch.arange(start, start + new)
    keys = torch.cat([kept_keys, turn(key, places)], 2)
    values = torch.cat([kept_values, value], 2)
    return attend(turn(query, places), keys, values, past), keys, values


@wrong(CACHED, "positions not advanced with the cache")
def cached_from_zero(query, key, value, kept_keys, kept_values, turn):
    return cached(query, key, value, kept_keys, kept_values, turn, start=0)


@wrong(CACHED, "positions not advanced with the cache")
def cached_default_positions(query, key, value, kept_keys, kept_values, turn):
    positions = torch.arange(query.size(2))
    q, k = (turn(x, positions) for x in (query, key))
    k = torch.cat([kept_keys, k], -2)
    v = torch.cat([kept_values, value], -2)
    return attend(q, k, v, kept_keys.size(2)), k, v


@wrong(CACHED, "new token one position too far")
def cached_plus_one(query, key, value, kept_keys, kept_values, turn):
    return cached(query, key, value, kept_keys, kept_values, turn, kept_keys.size(2) + 1)


@wrong(CACHED, "new token one position too far")
def cached_after_append(query, key, value, kept_keys, kept_values, turn):
    positions = torch.arange(1, query.size(2) + 1) + kept_keys.size(2)
    keys = torch.cat([kept_keys, turn(key, positions)], 2)
    values = torch.cat([kept_values, value], 2)
    return attend(turn(query, positions), keys, values, kept_keys.size(2)), keys, values


@wrong(CACHED, "new queries not turned")
def cached_keys_only(query, key, value, kept_keys, kept_values, turn):
    _, keys, values = cached(query, key, value, kept_keys, kept_values, turn)
    return attend(query, keys, values, kept_keys.size(2)), keys, values


@wrong(CACHED, "new queries not turned")
def cached_query_at_zero(query, key, value, kept_keys, kept_values, turn):
    _, keys, values = cached(query, key, value, kept_keys, kept_values, turn)
    query = turn(query, torch.zeros(query.size(2), dtype=torch.long))
    return attend(query, keys, values, kept_keys.size(2)), keys, values


@wrong(CACHED, "new keys not turned")
def cached_queries_only(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    q = turn(query, torch.arange(past, past + query.size(2)))
    keys, values = torch.cat([kept_keys, key], 2), torch.cat([kept_values, value], 2)
    return attend(q, keys, values, past), keys, values


@wrong(CACHED, "new keys not turned")
def cached_result_thrown_away(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    positions = past + torch.arange(query.size(2))
    query = turn(query, positions)
    turn(key, positions)
    k, v = (torch.cat(pair, -2) for pair in ((kept_keys, key), (kept_values, value)))
    scores = query @ k.mT / math.sqrt(query.size(-1))
    seen = torch.arange(k.size(2)) <= positions[:, None]
    return scores.masked_fill(~seen, -torch.inf).softmax(-1) @ v, k, v


@wrong(CACHED, "values turned, too")
def cached_all_turned(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    positions = torch.arange(past, past + query.size(2))
    query, key, value = (turn(x, positions) for x in (query, key, value))
    keys, values = torch.cat([kept_keys, key], 2), torch.cat([kept_values, value], 2)
    return attend(query, keys, values, past), keys, values


@wrong(CACHED, "values turned, too")
def cached_stacked_turned(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    turned = turn(torch.cat([key, value], 1), torch.arange(past, past + query.size(2)))
    key, value = turned.chunk(2, dim=1)
    q = turn(query, past + torch.arange(query.size(2)))
    keys, values = torch.cat([kept_keys, key], 2), torch.cat([kept_values, value], 2)
    return attend(q, keys, values, past), keys, values


@wrong(CACHED, "kept keys turned again")
def cached_all_keys_turned(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    keys = torch.cat([kept_keys, key], 2)
    keys = turn(keys, torch.arange(keys.size(2)))
    values = torch.cat([kept_values, value], 2)
    q = turn(query, torch.arange(past, keys.size(2)))
    return attend(q, keys, values, past), keys, values


@wrong(CACHED, "kept keys turned again")
def cached_turned_then_joined(query, key, value, kept_keys, kept_values, turn):
    again = turn(kept_keys, torch.arange(kept_keys.size(2)))
    return cached(query, key, value, again, kept_values, turn)


@wrong(CACHED, "new tokens see each other's future")
def cached_unmasked(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    q = turn(query, torch.arange(past, past + query.size(2)))
    _, keys, values = cached(query, key, value, kept_keys, kept_values, turn)
    return F.scaled_dot_product_attention(q, keys, values), keys, values


@wrong(CACHED, "new tokens see each other's future")
def cached_all_ones(query, key, value, kept_keys, kept_values, turn):
    past, new = kept_keys.size(2), query.size(2)
    q = turn(query, torch.arange(past, past + new))
    _, keys, values = cached(query, key, value, kept_keys, kept_values, turn)
    return attend(q, keys, values, past + new), keys, values


@wrong(CACHED, "mask that does not count what is kept")
def cached_is_causal(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    q = turn(query, torch.arange(past, past + query.size(2)))
    _, keys, values = cached(query, key, value, kept_keys, kept_values, turn)
    return F.scaled_dot_product_attention(q, keys, values, is_causal=True), keys, values


@wrong(CACHED, "mask that does not count what is kept")
def cached_small_triangle(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    q = turn(query, torch.arange(past, past + query.size(2)))
    _, keys, values = cached(query, key, value, kept_keys, kept_values, turn)
    return attend(q, keys, values, 0), keys, values


@wrong(CACHED, "cache not extended")
def cached_old(query, key, value, kept_keys, kept_values, turn):
    output, _, _ = cached(query, key, value, kept_keys, kept_values, turn)
    return output, kept_keys, kept_values


@wrong(CACHED, "cache not extended")
def cached_cut(query, key, value, kept_keys, kept_values, turn):
    output, keys, values = cached(query, key, value, kept_keys, kept_values, turn)
    past = keys.size(2) - key.size(2)
    return output, keys[:, :, :past], values[:, :, :past]


@wrong(CACHED, "new keys kept before they are turned")
def cached_straight(query, key, value, kept_keys, kept_values, turn):
    output, _, values = cached(query, key, value, kept_keys, kept_values, turn)
    return output, torch.cat([kept_keys, key], 2), values


@wrong(CACHED, "new keys kept before they are turned")
def cached_kept_first(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    keys, values = torch.cat([kept_keys, key], 2), torch.cat([kept_values, value], 2)
    places = torch.arange(past, past + query.size(2))
    turned = torch.cat([keys[:, :, :past], turn(keys[:, :, past:], places)], 2)
    return attend(turn(query, places), turned, values, past), keys, values
