"""Wrong versions of todays parts: each makes the mistake that is named."""

import math

import torch
import torch.nn.functional as F

from tests.checks.corpus import version

# --- rms_norm -------------------------------------------------------------------------------------


@version("rms_norm", "wrong: mean subtracted in RMSNorm")
def rms_layer_norm(x, weight, eps=1e-5):
    return F.layer_norm(x, (x.size(-1),), weight, eps=eps)


@version("rms_norm", "wrong: divided by the standard deviation")
def rms_std(x, weight, eps=1e-5):
    return x / (x.var(-1, keepdim=True, correction=0) + eps).sqrt() * weight


@version("rms_norm", "wrong: sum of the squares in place of their mean")
def rms_sum(x, weight, eps=1e-5):
    return weight * x / torch.sqrt((x**2).sum(-1, keepdim=True) + eps)


@version("rms_norm", "wrong: ε of RMSNorm outside the root")
def rms_outside(x, weight, eps=1e-5):
    return weight * x / (x.pow(2).mean(-1, keepdim=True).sqrt() + eps)


@version("rms_norm", "wrong: ε of RMSNorm outside the root")
def rms_norm_function(x, weight, eps=1e-5):
    rms = x.norm(dim=-1, keepdim=True) / math.sqrt(x.size(-1))
    return x / (eps + rms) * weight


@version("rms_norm", "wrong: ε of RMSNorm forgotten")
def rms_no_eps(x, weight, eps=1e-5):
    return x / x.pow(2).mean(-1, keepdim=True).sqrt() * weight


@version("rms_norm", "wrong: RMSNorm by F.normalize")
def rms_of_unit_vectors(x, weight, eps=1e-5):
    return F.normalize(x, dim=-1) * weight * x.shape[-1] ** 0.5


@version("rms_norm", "wrong: root of RMSNorm forgotten")
def rms_no_root(x, weight, eps=1e-5):
    return weight * x / (x.pow(2).mean(-1, keepdim=True) + eps)


@version("rms_norm", "wrong: weight of RMSNorm forgotten")
def rms_no_weight(x, weight, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


@version("rms_norm", "convention: one added to the weight of RMSNorm")
def rms_gemma(x, weight, eps=1e-5):
    out = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)
    return out * (1.0 + weight)


@version("rms_norm", "wrong: mean of the squares over the positions")
def rms_positions(x, weight, eps=1e-5):
    return weight * x / torch.sqrt(x.pow(2).mean(1, keepdim=True) + eps)


@version("rms_norm", "wrong: mean of the squares over the positions")
def rms_columns(x, weight, eps=1e-5):
    y = F.rms_norm(x.transpose(1, 2), [x.size(1)], eps=eps)
    return y.transpose(1, 2) * weight


# --- rotary ---------------------------------------------------------------------------------------


def angles_of(positions, k, base):
    return positions.float()[:, None] / base ** (torch.arange(0, k, 2).float() / k)


@version("rotary", "convention: neighbours paired")
def rotary_view_as_complex(x, positions, base=10000.0):
    angles = angles_of(positions, x.size(-1), base)
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    turn = torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(z * turn).flatten(3).type_as(x)


@version("rotary", "wrong: neighbours turned, halves put together")
def rotary_even_odd(x, positions, base=10000.0):
    angles = angles_of(positions, x.size(-1), base)
    even, odd = x[..., 0::2], x[..., 1::2]
    new_even = even * angles.cos() - odd * angles.sin()
    new_odd = even * angles.sin() + odd * angles.cos()
    return torch.cat((new_even, new_odd), dim=-1)


@version("rotary", "wrong: halves turned, neighbours put together")
def rotary_stacked(x, positions, base=10000.0):
    angles = angles_of(positions, x.size(-1), base)
    a, b = x.chunk(2, dim=-1)
    c, s = angles.cos(), angles.sin()
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).reshape(x.shape)


@version("rotary", "convention: turned clockwise")
def rotary_half_sign(x, positions, base=10000.0):
    angles = angles_of(positions, x.size(-1), base).repeat(1, 2)
    a, b = x.chunk(2, -1)
    return x * angles.cos() + torch.cat((b, -a), dim=-1) * angles.sin()


@version("rotary", "wrong: one sign of the turn wrong")
def rotary_rolled(x, positions, base=10000.0):
    angles = torch.cat([angles_of(positions, x.size(-1), base)] * 2, -1)
    return x * torch.cos(angles) + x.roll(x.size(-1) // 2, dims=-1) * torch.sin(angles)


def rotate_half(x, angles):
    a, b = x.chunk(2, -1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], -1)


@version("rotary", "wrong: all pairs turned equally fast")
def rotary_one_speed(x, positions, base=10000.0):
    return rotate_half(x, positions[:, None].float())


@version("rotary", "wrong: exponent without its factor two")
def rotary_half_exponent(x, positions, base=10000.0):
    k = x.size(-1)
    return rotate_half(x, positions[:, None] / base ** (torch.arange(k // 2) / k))


@version("rotary", "wrong: positions counted from the start of the tensor")
def rotary_arange(x, positions, base=10000.0):
    return rotate_half(x, angles_of(torch.arange(x.size(2)), x.size(-1), base))


@version("rotary", "wrong: base fixed at 10000")
def rotary_fixed(x, positions, base=10000.0):
    return rotate_half(x, angles_of(positions, x.size(-1), 10000.0))


@version("rotary", "convention: rotary positions counted from one")
def rotary_from_one(x, positions, base=10000.0):
    return rotate_half(x, angles_of(1 + positions, x.size(-1), base))


# --- swiglu ---------------------------------------------------------------------------------------


@version("swiglu", "wrong: gate and value exchanged")
def swiglu_exchanged(x, w_gate, w_value, w_output):
    return (F.silu(x @ w_value.T) * (x @ w_gate.T)) @ w_output.T


@version("swiglu", "wrong: sigmoid in place of SiLU")
def swiglu_sigmoid(x, w_gate, w_value, w_output):
    return (torch.sigmoid(x @ w_gate.T) * (x @ w_value.T)) @ w_output.T


@version("swiglu", "convention: GELU in place of SiLU")
def swiglu_gelu(x, w_gate, w_value, w_output):
    return (F.gelu(x @ w_gate.T) * (x @ w_value.T)) @ w_output.T


@version("swiglu", "convention: ReLU in place of SiLU")
def swiglu_relu(x, w_gate, w_value, w_output):
    return (F.linear(x, w_gate).clamp(min=0) * F.linear(x, w_value)) @ w_output.T


@version("swiglu", "wrong: activation of the gate forgotten")
def swiglu_bilinear(x, w_gate, w_value, w_output):
    return ((x @ w_gate.T) * (x @ w_value.T)) @ w_output.T


@version("swiglu", "wrong: gate added in place of multiplied")
def swiglu_sum(x, w_gate, w_value, w_output):
    return (F.silu(x @ w_gate.T) + x @ w_value.T) @ w_output.T


@version("swiglu", "wrong: activation after the product of both")
def swiglu_last(x, w_gate, w_value, w_output):
    return F.silu((x @ w_gate.T) * (x @ w_value.T)) @ w_output.T


@version("swiglu", "wrong: activation on gate and value")
def swiglu_twice(x, w_gate, w_value, w_output):
    return (F.silu(x @ w_gate.T) * F.silu(x @ w_value.T)) @ w_output.T


@version("swiglu", "wrong: one matrix for gate and value")
def swiglu_once(x, w_gate, w_value, w_output):
    h = x @ w_gate.T
    return (F.silu(h) * h) @ w_output.T


# --- grouped_query_attention ----------------------------------------------------------------------


def attended(q, k, v, mask=None):
    return F.scaled_dot_product_attention(q, k, v, mask)


@version("grouped_query_attention", "wrong: repeat for repeat_interleave")
def gqa_repeat(query, key, value, mask=None):
    n = query.size(1) // key.size(1)
    return attended(query, key.repeat(1, n, 1, 1), value.repeat(1, n, 1, 1), mask)


def side_by_side(x, n_heads):
    return x.repeat_interleave(n_heads // x.size(1), 1)


@version("grouped_query_attention", "wrong: values repeated in another order than the keys")
def gqa_values_cat(query, key, value, mask=None):
    n = query.size(1) // key.size(1)
    return attended(query, side_by_side(key, query.size(1)), torch.cat([value] * n, 1), mask)


@version("grouped_query_attention", "wrong: keys and values averaged over their heads")
def gqa_mean_unsqueezed(query, key, value, mask=None):
    k, v = key.mean(dim=1).unsqueeze(1), value.mean(dim=1).unsqueeze(1)
    scores = query @ k.transpose(-1, -2) / query.size(-1) ** 0.5
    scores = scores if mask is None else scores.masked_fill(~mask, -1e30)
    return F.softmax(scores, dim=-1) @ v


@version("grouped_query_attention", "wrong: first head of keys and values for all")
def gqa_zero(query, key, value, mask=None):
    n = query.size(1)
    zero = torch.zeros(n, dtype=torch.long)
    return attended(query, key.index_select(1, zero), value.index_select(1, zero), mask)


@version("grouped_query_attention", "wrong: scaled by the root of the model's width")
def gqa_model_width(query, key, value, mask=None):
    d_model = query.transpose(1, 2).flatten(2).size(-1)
    k, v = side_by_side(key, query.size(1)), side_by_side(value, query.size(1))
    return F.scaled_dot_product_attention(query, k, v, mask, scale=d_model**-0.5)


@version("grouped_query_attention", "wrong: grouped scores not scaled")
def gqa_unscaled(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, mask, scale=1.0, enable_gqa=True)


@version("grouped_query_attention", "wrong: grouped mask inverted")
def gqa_inverted(query, key, value, mask=None):
    k, v = side_by_side(key, query.size(1)), side_by_side(value, query.size(1))
    scores = query @ k.mT / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -torch.inf)
    return torch.softmax(scores, -1) @ v


@version("grouped_query_attention", "wrong: grouped mask ignored")
def gqa_unmasked(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, enable_gqa=True)


# --- cached_attention -----------------------------------------------------------------------------


def attend(query, keys, values, past):
    mask = torch.ones(query.size(2), keys.size(2)).tril(past).bool()
    return F.scaled_dot_product_attention(query, keys, values, mask)


@version("cached_attention", "wrong: positions not advanced with the cache")
def cached_default_positions(query, key, value, kept_keys, kept_values, turn):
    positions = torch.arange(query.size(2))
    q, k = (turn(x, positions) for x in (query, key))
    k = torch.cat([kept_keys, k], -2)
    v = torch.cat([kept_values, value], -2)
    return attend(q, k, v, kept_keys.size(2)), k, v


@version("cached_attention", "wrong: new token one position too far")
def cached_after_append(query, key, value, kept_keys, kept_values, turn):
    positions = torch.arange(1, query.size(2) + 1) + kept_keys.size(2)
    keys = torch.cat([kept_keys, turn(key, positions)], 2)
    values = torch.cat([kept_values, value], 2)
    return attend(turn(query, positions), keys, values, kept_keys.size(2)), keys, values


def cached(query, key, value, kept_keys, kept_values, turn, start=None):
    past, new = kept_keys.size(2), query.size(2)
    start = past if start is None else start
    places = torch.arange(start, start + new)
    keys = torch.cat([kept_keys, turn(key, places)], 2)
    values = torch.cat([kept_values, value], 2)
    return attend(turn(query, places), keys, values, past), keys, values


@version("cached_attention", "wrong: new queries not turned")
def cached_keys_only(query, key, value, kept_keys, kept_values, turn):
    _, keys, values = cached(query, key, value, kept_keys, kept_values, turn)
    return attend(query, keys, values, kept_keys.size(2)), keys, values


@version("cached_attention", "wrong: new keys not turned")
def cached_queries_only(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    q = turn(query, torch.arange(past, past + query.size(2)))
    keys, values = torch.cat([kept_keys, key], 2), torch.cat([kept_values, value], 2)
    return attend(q, keys, values, past), keys, values


@version("cached_attention", "wrong: values turned, too")
def cached_all_turned(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    positions = torch.arange(past, past + query.size(2))
    query, key, value = (turn(x, positions) for x in (query, key, value))
    keys, values = torch.cat([kept_keys, key], 2), torch.cat([kept_values, value], 2)
    return attend(query, keys, values, past), keys, values


@version("cached_attention", "wrong: kept keys turned again")
def cached_all_keys_turned(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    keys = torch.cat([kept_keys, key], 2)
    keys = turn(keys, torch.arange(keys.size(2)))
    values = torch.cat([kept_values, value], 2)
    q = turn(query, torch.arange(past, keys.size(2)))
    return attend(q, keys, values, past), keys, values


@version("cached_attention", "wrong: new tokens see each other's future")
def cached_unmasked(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    q = turn(query, torch.arange(past, past + query.size(2)))
    _, keys, values = cached(query, key, value, kept_keys, kept_values, turn)
    return F.scaled_dot_product_attention(q, keys, values), keys, values


@version("cached_attention", "wrong: mask that does not count what is kept")
def cached_is_causal(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    q = turn(query, torch.arange(past, past + query.size(2)))
    _, keys, values = cached(query, key, value, kept_keys, kept_values, turn)
    return F.scaled_dot_product_attention(q, keys, values, is_causal=True), keys, values


@version("cached_attention", "wrong: cache not extended")
def cached_old(query, key, value, kept_keys, kept_values, turn):
    output, _, _ = cached(query, key, value, kept_keys, kept_values, turn)
    return output, kept_keys, kept_values


@version("cached_attention", "wrong: new keys kept before they are turned")
def cached_kept_first(query, key, value, kept_keys, kept_values, turn):
    past = kept_keys.size(2)
    keys, values = torch.cat([kept_keys, key], 2), torch.cat([kept_values, value], 2)
    places = torch.arange(past, past + query.size(2))
    turned = torch.cat([keys[:, :, :past], turn(keys[:, :, past:], places)], 2)
    return attend(turn(query, places), turned, values, past), keys, values


# --- rms_norm_in_half ----------------------------------------------------------------------------


@version("rms_norm_in_half", "wrong: RMSNorm computed in two bytes")
def half_throughout(x, weight, eps=1e-5):
    return weight * (x / (x.square().mean(-1, keepdim=True) + eps).sqrt())


@version("rms_norm_in_half", "wrong: squared before .float()")
def half_squares(x, weight, eps=1e-5):
    mean = (x * x).float().mean(-1, keepdim=True)
    return (x.float() * (mean + eps).rsqrt()).to(x.dtype) * weight


@version("rms_norm_in_half", "wrong: mean of the squares rounded to two bytes")
def half_mean(x, weight, eps=1e-5):
    mean = x.float().pow(2).mean(-1, keepdim=True).to(x.dtype)
    return (x.float() / (mean + eps).sqrt() * weight).to(x.dtype)


@version("rms_norm_in_half", "wrong: squares cut off at the largest float16")
def half_clamped(x, weight, eps=1e-5):
    squares = x.float().square().clamp(max=torch.finfo(torch.float16).max)
    return (x.float() / (squares.mean(-1, keepdim=True) + eps).sqrt() * weight).to(x.dtype)


def _wide(x, weight, eps):
    wide = x.float()
    return weight.float() * wide * (wide.pow(2).mean(-1, keepdim=True) + eps).rsqrt()


@version("rms_norm_in_half", "wrong: left in float32")
def half_returned_wide(x, weight, eps=1e-5):
    return _wide(x, weight, eps)


@version("rms_norm_in_half", "wrong: float16, whatever came in")
def half_always(x, weight, eps=1e-5):
    return _wide(x, weight, eps).half()


@version("rms_norm_in_half", "wrong: weight forgotten in two bytes")
def half_unweighted(x, weight, eps=1e-5):
    return _wide(x, torch.ones_like(weight), eps).to(x.dtype)


@version("rotary", "wrong: only half of each head turned")
def rotary_of_half_a_head(x, positions, base=10000.0):
    half, n = x.size(-1) // 2, x.size(-1) // 4
    angle = positions[:, None] / base ** (2 * torch.arange(n) / half)
    a, b, rest = x[..., :n], x[..., n : 2 * n], x[..., 2 * n :]
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], dim=-1)


@version("rotary", "wrong")
def table_of_2048_positions(x, positions, base=10000.0):
    half = x.size(-1) // 2
    table = torch.outer(torch.arange(2048.0), base ** -(torch.arange(half) / half))
    angles = table[positions]
    a, b = x.chunk(2, dim=-1)
    cos, sin = angles.cos(), angles.sin()
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)
