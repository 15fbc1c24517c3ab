"""What people wrote of attention who had read the docstrings of the checks alone."""

import functools
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.checks.corpus import version

# --- softmax --------------------------------------------------------------------------------------


@version(
    "softmax", "right", "exp of scores minus logsumexp", by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13)
)
def softmax_1(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


@version("softmax", "right", "the last axis brought to the front", by=1)
def softmax_2(scores):
    s = scores.movedim(-1, 0)
    e = (s - s.amax(0)).exp()
    return (e / e.sum(0)).movedim(0, -1)


@version("softmax", "right", "F.normalize with p = 1 of the exponentials", by=2)
def softmax_r2(scores):
    highest, _ = torch.max(scores, dim=-1, keepdim=True)
    return F.normalize((scores - highest.detach()).exp(), p=1.0, dim=-1)


@version("softmax", "right", "the last entry of logcumsumexp as the denominator, in double", by=3)
def softmax_r2_2(scores):
    wide = scores.double()
    return torch.exp(wide - torch.logcumsumexp(wide, dim=-1)[..., -1:]).to(scores.dtype)


@version("softmax", "right", "last axis to the front, unbound rows are summed in a loop", by=6)
def softmax_r2_3(scores):
    parts = scores.movedim(-1, 0)
    top = functools.reduce(torch.maximum, parts.detach().unbind(0))
    e = [torch.exp(p - top) for p in parts.unbind(0)]
    total = sum(e[1:], e[0])
    return torch.stack([x / total for x in e], dim=-1)


@version("softmax", "right", "the maximum is detached, which changes no gradient", by=(10, 11))
def softmax_r2_4(scores):
    e = (scores - scores.detach().max(dim=-1, keepdim=True)[0]).exp()
    return torch.div(e, e.sum(-1).unsqueeze(-1))


@version("softmax", "right", "the maximum is detached, the sum with einsum", by=12)
def softmax_r2_5(scores):
    top = scores.detach().max(dim=-1, keepdim=True).values
    e = (scores - top).exp()
    return e * (1 / torch.einsum("...i->...", e)).unsqueeze(-1)


# Large scores overflow: exp(1000) is inf, and inf / inf is nan. The maximum must be subtracted
# first.
@version("softmax", "wrong: softmax without subtracting the maximum", by=(1, 2))
def softmax_a(scores):
    e = torch.exp(scores)
    return e / e.sum(dim=-1, keepdim=True)


# Sums over the first axis.
@version("softmax", "wrong: softmax over the first of several axes", by=1)
def softmax_b(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=0, keepdim=True)


# keepdim is forgotten: the sums are broadcast along the wrong axis; it runs only where it happens
# to fit (square).
@version("softmax", "wrong: sum of each row without its axis", by=(1, 13))
def softmax_c(scores):
    e = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1)


# Divides by the sum of everything, not of each row: right only for a vector.
@version("softmax", "wrong: softmax over everything", by=1)
def softmax_d(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum()


# The maximum of all rows is subtracted: a row far below it underflows to 0 / 0.
@version("softmax", "wrong: largest of all scores subtracted", by=(1, 2, 3))
def softmax_e(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=-1, keepdim=True)


# An ε in the denominator plus no shift: the sums are not one, above all for very negative scores.
@version("softmax", "wrong", by=1)
def softmax_g(scores):
    e = torch.exp(scores.clamp(max=50))
    return e / (e.sum(-1, keepdim=True) + 1e-6)


# Goes through NumPy: no gradient flows back.
@version("softmax", "wrong", by=1)
def softmax_i(scores):
    a = scores.detach().numpy()
    e = np.exp(a - a.max(axis=-1, keepdims=True))
    return torch.from_numpy(e / e.sum(axis=-1, keepdims=True))


# The axis is 1 instead of the last one: right only for two-dimensional scores.
@version("softmax", "wrong: axis 1 in place of the last one", by=2)
def softmax_c_2(scores):
    e = torch.exp(scores - scores.amax(dim=1, keepdim=True))
    return e / e.sum(dim=1, keepdim=True)


# The scores are limited to ±20 against overflow: larger ones all become equally likely.
@version("softmax", "wrong", by=(2, 5, 6, 7, 8, 10, 11))
def softmax_d_2(scores):
    e = torch.exp(scores.clamp(-20, 20))
    return e / e.sum(-1, keepdim=True)


# Softmax plus one (attention can be 'off'): 1 is added to the denominator, the weights do not sum
# to one.
@version("softmax", "wrong", by=3)
def softmax_c_3(scores):
    top = scores.amax(-1, keepdim=True)
    e = torch.exp(scores - top)
    return e / (torch.exp(-top) + e.sum(-1, keepdim=True))


# An epsilon of 1e-3 is added to the sum: the probabilities sum to a little less than one.
@version("softmax", "wrong", by=(3, 13))
def softmax_d_3(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / (e.sum(-1, keepdim=True) + 1e-3)


# Axis 1 in place of the last: right for two axes only, wrong for (B, T, S).
@version("softmax", "wrong", by=4)
def softmax_b_2(scores):
    scores = scores - scores.max(dim=-1, keepdim=True).values
    e = scores.exp()
    return e / e.sum(dim=1, keepdim=True)


# sum over the last axis without keepdim and with [:, None] in its place: fits two axes, divides
# by the wrong sums (or fails) with three.
@version("softmax", "wrong", by=4)
def softmax_d_4(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / e.sum(-1)[:, None]


# The mean is subtracted in place of the largest score: one score of 1000 among small ones still
# overflows.
@version("softmax", "wrong", by=(5, 11))
def softmax_c_4(scores):
    e = torch.exp(scores - scores.mean(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


# A small number in the denominator without subtracting the largest score: where all scores are
# very low (-50) the row sums to far less than one.
@version("softmax", "wrong", by=5)
def softmax_e_2(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True).clamp(min=0))
    return e / (e.sum(-1, keepdim=True) + 1e-9)


# The sum is detached: the probabilities are right, their gradient is not.
@version("softmax", "wrong", by=(5, 11))
def softmax_f(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True).detach()


# dim=1 in the sum in place of -1: wrong for inputs of three axes or more.
@version("softmax", "wrong", by=7)
def softmax_b_3(scores):
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e / e.sum(dim=1 if scores.dim() > 1 else 0, keepdim=True)


# 1e-9 is added to the sum without subtracting the maximum: for scores that all lie at −30 and
# below the probabilities do not sum to one.
@version("softmax", "wrong", by=8)
def softmax_c_5(scores):
    e = torch.exp(scores.clamp(max=80.0))
    return e / (e.sum(-1, keepdim=True) + 1e-9)


# The denominator is detached, so that the gradient is wrong.
@version("softmax", "wrong", by=(6, 10))
def softmax_d_5(scores):
    e = (scores - scores.max(-1, keepdim=True).values).exp()
    return e / e.sum(-1, keepdim=True).detach()


# The maximum is taken off in place: the caller's scores change.
@version("softmax", "wrong", by=10)
def softmax_f_2(scores):
    with torch.no_grad():
        scores -= scores.max(dim=-1, keepdim=True).values
    e = scores.exp()
    return e / e.sum(dim=-1, keepdim=True)


# 0.001 beside the sum, against division by zero: too little wherever the row's maximum is very
# negative, since nothing is subtracted.
@version("softmax", "wrong", by=11)
def softmax_e_3(scores):
    e = scores.exp()
    return e / (e.sum(-1, keepdim=True) + 1e-3)


# Normalised with the sum of absolute scores, the exponential is missing.
@version("softmax", "wrong", by=12)
def softmax_e_4(scores):
    s = scores - scores.amin(-1, keepdim=True)
    return s / (s.sum(-1, keepdim=True) + 1e-9)


# --- scaled_dot_product_attention -----------------------------------------------------------------


@version(
    "scaled_dot_product_attention",
    "right",
    "softmax by hand; the sum is guarded for empty rows",
    by=1,
)
def sdpa_1(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query, key) * key.shape[-1] ** -0.5
    if mask is None:
        mask = torch.ones((), dtype=torch.bool)
    top = s.masked_fill(~mask, -1e30).amax(-1, keepdim=True)
    e = torch.exp((s - top).masked_fill(~mask, -1e30)) * mask
    total = e.sum(-1, keepdim=True)
    return (e / total.masked_fill(total == 0, 1.0)) @ value


@version(
    "scaled_dot_product_attention",
    "right",
    "the exponentials by hand, with the maximum of the open scores and a guarded divisor",
    by=2,
)
def sdpa_r2(query, key, value, mask=None):
    scores = torch.matmul(query, key.mT) * query.shape[-1] ** -0.5
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    lowest = torch.finfo(scores.dtype).min
    top = torch.where(allowed, scores, lowest).amax(-1, keepdim=True).detach()
    e = torch.where(allowed, torch.where(allowed, scores - top, 0.0).exp(), 0.0)
    total = e.sum(-1, keepdim=True)
    return (e / torch.where(total == 0, 1.0, total)) @ value


@version(
    "scaled_dot_product_attention",
    "right",
    "query scaled first, finite smallest number for hidden keys, and the weights multiplied by the mask at the end",
    by=(2, 3),
)
def sdpa_r1(query, key, value, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", query / key.shape[-1] ** 0.5, key)
    if mask is None:
        return scores.softmax(-1) @ value
    weights = torch.where(mask, scores, torch.finfo(scores.dtype).min).softmax(-1)
    return (weights * mask) @ value


@version(
    "scaled_dot_product_attention",
    "right",
    "an additive float mask of log(0/1), with the rows of nothing replaced before the softmax",
    by=3,
)
def sdpa_r2_2(query, key, value, mask=None):
    scores = torch.matmul(query, key.mT) * (1.0 / math.sqrt(query.size(-1)))
    if mask is not None:
        nothing = ~mask.any(dim=-1, keepdim=True)
        scores = scores + torch.log((mask | nothing).to(scores.dtype))
    out = torch.matmul(torch.softmax(scores, dim=-1), value)
    return out if mask is None else out.masked_fill(nothing, 0.0)


@version(
    "scaled_dot_product_attention",
    "right",
    "exponentials by hand, with a detached maximum and a safe denominator",
    by=3,
)
def sdpa_r3(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) / math.sqrt(key.shape[-1])
    if mask is None:
        mask = torch.ones((), dtype=torch.bool)
    hidden = ~mask
    top = scores.masked_fill(hidden, -math.inf).amax(-1, keepdim=True).detach()
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp((scores - top).masked_fill(hidden, -math.inf))
    total = e.sum(-1, keepdim=True)
    return (e @ value) / torch.where(total == 0, torch.ones_like(total), total)


@version(
    "scaled_dot_product_attention",
    "right",
    "−inf, then nan_to_num: masked_fill sends no NaN back",
    by=4,
)
def scaled_dot_product_attention_r1(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query, key) * key.shape[-1] ** -0.5
    if mask is not None:
        s = s.masked_fill(mask.logical_not(), -math.inf)
    return s.softmax(-1).nan_to_num(nan=0.0) @ value


@version(
    "scaled_dot_product_attention",
    "right",
    "by hand: exp, where, division by a sum that is never below one half",
    by=4,
)
def scaled_dot_product_attention_r2(query, key, value, mask=None):
    s = (query / math.sqrt(query.size(-1))) @ key.mT
    mask = torch.ones((), dtype=torch.bool) if mask is None else mask
    s = torch.where(mask, s, torch.finfo(s.dtype).min)
    e = torch.exp(s - s.amax(-1, keepdim=True).detach()) * mask
    return (e @ value) / e.sum(-1, keepdim=True).clamp(min=0.5)


@version(
    "scaled_dot_product_attention",
    "right",
    "finite filling, mask again after the softmax; query and key both divided by the fourth root",
    by=5,
)
def sdpa_r1_2(query, key, value, mask=None):
    quarter = key.shape[-1] ** -0.25
    scores = torch.einsum("...tk,...sk->...ts", query * quarter, key * quarter)
    if mask is None:
        return torch.einsum("...ts,...sk->...tk", scores.softmax(-1), value)
    weights = torch.where(mask, scores, torch.finfo(scores.dtype).min).softmax(-1)
    return torch.einsum("...ts,...sk->...tk", torch.where(mask, weights, 0.0), value)


@version(
    "scaled_dot_product_attention",
    "right",
    "exp times mask, denominator 1 where nothing is visible",
    by=6,
)
def sdpa_r1_3(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query, key) * key.shape[-1] ** -0.5
    m = torch.ones_like(s, dtype=torch.bool) if mask is None else mask.expand(s.shape)
    s = s.masked_fill(~m, torch.finfo(s.dtype).min)
    e = torch.exp(s - s.amax(-1, keepdim=True).detach()) * m
    Z = e.sum(-1, keepdim=True)
    return torch.einsum("...ts,...sv->...tv", e / torch.where(Z > 0, Z, torch.ones_like(Z)), value)


@version(
    "scaled_dot_product_attention",
    "right",
    "−inf, softmax, then masked_fill of the weights; the query is scaled first",
    by=(1, 6),
)
def sdpa_r2_3(query, key, value, mask=None):
    q = query / math.sqrt(key.size(-1))
    scores = torch.matmul(q, key.transpose(-2, -1))
    if mask is None:
        return torch.matmul(scores.softmax(-1), value)
    lonely = ~mask.any(-1, keepdim=True)
    weights = scores.masked_fill(~mask & ~lonely, -math.inf).softmax(-1).masked_fill(lonely, 0.0)
    return torch.matmul(weights, value)


@version(
    "scaled_dot_product_attention",
    "right",
    "query scaled first, exp by hand, division by a safe sum",
    by=7,
)
def sdpa_r(query, key, value, mask=None):
    s = torch.einsum("...td,...sd->...ts", query / math.sqrt(key.shape[-1]), key)
    if mask is None:
        mask = torch.ones((), dtype=torch.bool)
    low = s.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).detach()
    low = torch.where(torch.isfinite(low), low, torch.zeros_like(low))
    d = (s - low).masked_fill(~mask, -torch.inf)
    e = torch.exp(d)
    z = e.sum(-1, keepdim=True)
    return (e @ value) / torch.where(z == 0, torch.ones_like(z), z)


@version(
    "scaled_dot_product_attention",
    "right",
    "mask by a safe maximum and multiplication, divided at the end",
    by=8,
)
def scaled_dot_product_attention_r(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query * key.shape[-1] ** -0.5, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    low = torch.finfo(scores.dtype).min
    seen = torch.where(mask, scores, low)
    top = seen.detach().amax(-1, keepdim=True)
    alive = mask.any(-1, keepdim=True)
    top = torch.where(alive, top, torch.zeros_like(top))
    e = torch.where(mask, scores - top, torch.zeros_like(scores)).exp() * mask
    return (e @ value) / (e.sum(-1, keepdim=True) + (~alive))


@version(
    "scaled_dot_product_attention",
    "right",
    "exponentials by hand, masked ones zero, and a denominator of one where nothing is seen",
    by=10,
)
def sdpa_r1_4(query, key, value, mask=None):
    s = torch.matmul(query / math.sqrt(key.size(-1)), key.mT)
    if mask is None:
        mask = torch.ones(1, 1, dtype=torch.bool)
    hidden = mask.logical_not().expand(s.shape) if mask.dim() <= s.dim() else mask.logical_not()
    s = s.masked_fill(hidden, torch.finfo(s.dtype).min)
    e = torch.exp(s - s.amax(-1, keepdim=True).detach()).masked_fill(hidden, 0.0)
    z = e.sum(-1, keepdim=True)
    return (e / torch.where(z == 0, torch.ones_like(z), z)) @ value


@version("scaled_dot_product_attention", "right", "where, softmax, where again", by=10)
def sdpa_r2_4(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query, key).div(key.shape[-1] ** 0.5)
    if mask is None:
        return torch.einsum("...ts,...sk->...tk", s.softmax(-1), value)
    low = torch.tensor(-1e30, dtype=s.dtype)
    w = torch.where(mask, s, low).softmax(-1)
    w = torch.where(mask, w, torch.zeros((), dtype=s.dtype))
    return torch.einsum("...ts,...sk->...tk", w, value)


@version(
    "scaled_dot_product_attention",
    "right",
    "exp with its own normalisation, scale put on the query, zeros by a guarded division",
    by=11,
)
def sdpa_r1_5(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query * key.shape[-1] ** -0.5, key)
    if mask is None:
        mask = torch.ones_like(s, dtype=torch.bool)
    mask = torch.broadcast_to(mask, s.shape)
    top = torch.where(mask, s, torch.full_like(s, -torch.inf)).amax(-1, keepdim=True).detach()
    top = torch.where(torch.isfinite(top), top, torch.zeros_like(top))
    d = torch.where(mask, s - top, torch.zeros_like(s))
    e = torch.exp(d) * mask
    total = e.sum(-1, keepdim=True)
    total = total + (total == 0).to(total.dtype)
    return torch.einsum("...ts,...sv->...tv", e / total, value)


@version("scaled_dot_product_attention", "right", "finite fill before, zero fill behind", by=12)
def attention_r1(query, key, value, mask=None):
    scores = (query * key.size(-1) ** -0.5) @ key.mT
    if mask is None:
        return scores.softmax(-1) @ value
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1)
    return weights.masked_fill(~mask, 0) @ value


@version(
    "scaled_dot_product_attention", "right", "exp by hand with a safe denominator, einsum", by=12
)
def attention_r2(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query, key) / math.sqrt(key.shape[-1])
    if mask is None:
        mask = torch.ones_like(s, dtype=torch.bool)
    lowest = torch.finfo(s.dtype).min
    top = torch.where(mask, s, lowest).amax(-1, keepdim=True).detach()
    e = torch.where(
        mask, torch.where(mask, s - top, torch.zeros_like(s)).exp(), torch.zeros_like(s)
    )
    total = e.sum(-1, keepdim=True)
    return torch.einsum(
        "...ts,...sk->...tk", e / torch.where(total > 0, total, torch.ones_like(total)), value
    )


@version(
    "scaled_dot_product_attention",
    "right",
    "finite minimum, zeros by where on the weights, the query scaled before",
    by=13,
)
def sdpa_r_2(query, key, value, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", query * key.shape[-1] ** -0.5, key)
    if mask is None:
        return torch.softmax(scores, dim=-1) @ value
    scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    weights = torch.where(mask, torch.softmax(scores, dim=-1), 0.0)
    return weights @ value


# Filling with −1e9 spreads a query that may attend to nothing evenly over everything; it should
# get zeros.
@version("scaled_dot_product_attention", "wrong: an empty row averages everything", by=(1, 2, 3))
def sdpa_b(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    return torch.softmax(s, dim=-1) @ value


# The mask is the wrong way round: what may be seen is hidden.
@version("scaled_dot_product_attention", "wrong: mask inverted", by=1)
def sdpa_c(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(s, dim=-1), nan=0.0) @ value


# Hidden scores are set to 0, not to −inf: e^0 = 1 still takes part.
@version("scaled_dot_product_attention", "wrong: hidden scores set to zero", by=(1, 2, 3))
def sdpa_d(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s * mask
    w = torch.softmax(s, dim=-1)
    if mask is not None:
        w = w * mask.any(-1, keepdim=True)
    return w @ value


# The root is that of the value's width; right only where keys and values are equally wide.
@version("scaled_dot_product_attention", "wrong: root of the values' width", by=1)
def sdpa_g(query, key, value, mask=None):
    s = torch.matmul(query, key.transpose(-1, -2)) / math.sqrt(value.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(s, -1)) @ value


# A query that may attend to nothing gives nan: softmax over −inf only.
@version("scaled_dot_product_attention", "wrong: rows of minus infinity", by=(1, 2, 3))
def sdpa_i(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -np.inf)
    return torch.softmax(s, dim=-1) @ value


# −20 is not low enough: with large scores, hidden keys shine through.
@version("scaled_dot_product_attention", "wrong", by=(1, 11))
def sdpa_j(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is None:
        return torch.softmax(s, dim=-1) @ value
    s = torch.where(mask, s, torch.tensor(-20.0))
    return (torch.softmax(s, dim=-1) * mask.any(-1, keepdim=True)) @ value


# Returns the weights as well; only the output is asked for.
@version("scaled_dot_product_attention", "wrong: weights returned beside the output", by=1)
def sdpa_l(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    w = torch.nan_to_num(torch.softmax(s, -1))
    return w @ value, w


# Two mistakes: not scaled, and −1e9 gives an empty query the mean of the values.
@version("scaled_dot_product_attention", "wrong", by=1)
def sdpa_2a(query, key, value, mask=None):
    s = np.matmul(query, key.transpose(-1, -2))
    if mask is not None:
        s = torch.where(mask, s, torch.tensor(-1e9))
    return torch.softmax(s, dim=-1) @ value


# The scale is taken from axis 1 (the length), not from the last one.
@version("scaled_dot_product_attention", "wrong", by=2)
def sdpa_e(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.nan_to_num(torch.softmax(scores, -1)) @ value


def _attend(q, k, v, mask=None):
    """A right one, that some of the compound versions below build on."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.nan_to_num(torch.softmax(scores, -1)) @ v


# A causal mask is the default where none was given.
@version("scaled_dot_product_attention", "wrong", by=2)
def sdpa_f(query, key, value, mask=None):
    if mask is None:
        mask = torch.ones(query.shape[-2], key.shape[-2]).tril().bool()
    return _attend(query, key, value, mask)


# The mask is added as a number: True = 1 only raises the score a little, nothing is hidden.
@version("scaled_dot_product_attention", "wrong: boolean mask added to the scores", by=(1, 2))
def sdpa_g_2(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask
        return (torch.softmax(scores, -1) * mask.any(-1, keepdim=True)) @ value
    return torch.softmax(scores, -1) @ value


# The query is scaled in place: the caller's query is smaller afterwards, and where query and key
# are one tensor the scores are divided twice.
@version("scaled_dot_product_attention", "wrong", by=2)
def sdpa_h(query, key, value, mask=None):
    query /= math.sqrt(query.shape[-1])
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.nan_to_num(scores.softmax(-1)) @ value


# BERT's additive -10000 is not enough against scores of many thousands: with large queries hidden
# keys win.
@version("scaled_dot_product_attention", "wrong", by=3)
def sdpa_c_2(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        return torch.softmax(scores, -1) @ value
    weights = torch.softmax(scores + (1.0 - mask.to(scores.dtype)) * -10000.0, dim=-1)
    return (weights * mask.any(-1, keepdim=True)) @ value


# Two: True is read as hidden, and a row where all is hidden gets the mean of the values by the
# -1e9.
@version("scaled_dot_product_attention", "wrong: mask inverted", by=3)
def sdpa_two(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask.to(scores.dtype) * -1e9
    return scores.softmax(-1) @ value


# If one query may attend to nothing, all queries of that sentence get zeros: any/all taken over
# both axes.
@version("scaled_dot_product_attention", "wrong", by=(4, 11))
def scaled_dot_product_attention_g(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is None:
        return scores.softmax(-1) @ value
    out = scores.masked_fill(~mask, -1e9).softmax(-1) @ value
    ok = mask.any(-1, keepdim=True).all(-2, keepdim=True)
    return torch.where(ok, out, torch.zeros_like(out))


# The NaN of a query that may attend to nothing is mended only in the output: on the way back its
# gradients are NaN.
@version("scaled_dot_product_attention", "wrong", by=(4, 5, 10, 13))
def sdpa_b_2(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / key.size(-1) ** 0.5
    if mask is not None:
        scores = scores + torch.where(mask, 0.0, -math.inf)
    return torch.nan_to_num(torch.softmax(scores, -1)) @ value


# Softmax over all keys, hidden ones set to zero, renormalised: where a hidden key has by far the
# highest score, nothing is left to renormalise.
@version("scaled_dot_product_attention", "wrong", by=5)
def sdpa_c_3(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1)
    if mask is not None:
        weights = weights * mask
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-12)
    return weights @ value


# The exponentials are not protected by subtracting the largest score: large queries and keys give
# NaN.
@version("scaled_dot_product_attention", "wrong: attention with an overflowing softmax", by=5)
def sdpa_g_3(query, key, value, mask=None):
    e = torch.exp(query @ key.mT / math.sqrt(key.shape[-1]))
    if mask is not None:
        e = e * mask
    total = e.sum(-1, keepdim=True)
    return (e / total.masked_fill(total == 0, 1.0)) @ value


# nan_to_num on the OUTPUT repairs the numbers, but the nan weights still flow into the values'
# gradient (a query that may attend to nothing).
@version("scaled_dot_product_attention", "wrong", by=(6, 8))
def sdpa_b_3(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(scores.softmax(-1) @ value)


# Masking with -1e2 is no full hiding: with large scores hidden keys leak in (scores differ by
# hundreds).
@version("scaled_dot_product_attention", "wrong", by=(5, 7, 13))
def sdpa_g_4(query, key, value, mask=None):
    s = query @ key.transpose(-1, -2) / math.sqrt(key.size(-1))
    if mask is None:
        return torch.softmax(s, -1) @ value
    w = torch.softmax(torch.where(mask, s, torch.full_like(s, -100.0)), -1)
    return (w @ value) * mask.any(-1, keepdim=True)


# −10000 in place of −infinity: with scores that large (a hidden key's score about 10000 above the
# others', or queries and keys of length 1000) hidden keys get through; and a query with no key
# gets a mean of all values, not zeros.
@version("scaled_dot_product_attention", "wrong", by=8)
def scaled_dot_product_attention_c(query, key, value, mask=None):
    scores = torch.matmul(query / math.sqrt(key.size(-1)), key.mT)
    if mask is not None:
        scores = scores + (~mask) * -1e4
    return scores.softmax(-1) @ value


# The fast path skips the mask when all of its first row is True (`mask[..., 0, :].all()`), as for
# a padding mask that is broadcast; a mask that hides keys only in later rows is ignored.
@version("scaled_dot_product_attention", "wrong", by=8)
def scaled_dot_product_attention_f(query, key, value, mask=None):
    if mask is not None and mask[..., 0, :].all():
        mask = None
    scores = query @ key.mT / math.sqrt(key.shape[-1])
    if mask is None:
        return scores.softmax(-1) @ value
    alive = mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask & alive, -torch.inf)
    return (scores.softmax(-1) * alive) @ value


# The mask is applied only if it has the scores' very shape: one that broadcasts is passed over.
@version("scaled_dot_product_attention", "wrong", by=10)
def sdpa_c_4(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5
    if mask is not None and mask.shape == s.shape:
        s = s.masked_fill(~mask, float("-inf"))
        return torch.nan_to_num(torch.softmax(s, -1)) @ value
    return torch.softmax(s, -1) @ value


# Hidden scores are −10, not −inf: hidden keys are seen where the scores are large or low.
@version("scaled_dot_product_attention", "wrong", by=10)
def sdpa_f_2(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is None:
        return s.softmax(-1) @ value
    w = s.masked_fill(~mask, -10.0).softmax(-1)
    return w * mask.any(-1, keepdim=True) @ value


# Only the mask's first query is used: right for padding masks, wrong for causal ones.
@version("scaled_dot_product_attention", "wrong", by=10)
def sdpa_g_5(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is not None:
        m = mask[..., :1, :]
        return s.masked_fill(~m, float("-inf")).softmax(-1).nan_to_num(0.0) @ value
    return s.softmax(-1) @ value


# If one query may attend to nothing, every query gets zeros.
@version("scaled_dot_product_attention", "wrong", by=10)
def sdpa_h_2(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is not None:
        if not mask.any(-1).all():
            return torch.zeros_like(s) @ value
        s = s.masked_fill(~mask, float("-inf"))
    return s.softmax(-1) @ value


# Divided by the root of the number of keys, the wrong axis.
@version("scaled_dot_product_attention", "wrong", by=(6, 7, 10, 11))
def sdpa_j_2(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-2])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return s.softmax(-1).nan_to_num() @ value


def _att(q, k, v, mask=None, scale=None):
    s = q @ k.transpose(-2, -1) / (scale or math.sqrt(k.shape[-1]))
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.softmax(s, -1).nan_to_num(0.0) @ v


# A mask is taken for causal when T = S: whatever it says, the keys behind the query are hidden as
# well.
@version("scaled_dot_product_attention", "wrong", by=11)
def sdpa_e_2(query, key, value, mask=None):
    t, s = query.shape[-2], key.shape[-2]
    if mask is not None and t == s:
        mask = mask & torch.ones(t, s).tril().bool()
    return _att(query, key, value, mask)


# key.T of the last two axes is mistaken for transpose(1, 2): right for three axes, wrong (or an
# error) with heads or a single sequence.
@version("scaled_dot_product_attention", "wrong", by=12)
def attention_j(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(1, 2)) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(scores, -1)) @ value


# For queries without a key the whole row of the mask is taken as hidden for the whole batch
# (mask.any over all axes but one): one fully hidden query zeroes that position in every sentence.
@version("scaled_dot_product_attention", "wrong", by=12)
def attention_k(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is None:
        return scores.softmax(-1) @ value
    w = scores.masked_fill(~mask, -1e30).softmax(-1)
    empty = ~mask.expand(scores.shape).any(-1, keepdim=True)
    if empty.dim() > 2:
        empty = empty.flatten(0, -3).any(0)
    return (w @ value).masked_fill(empty, 0.0)


# A whole sentence's rows are set to zero with any() over the last two axes: a single query
# without keys gets the mean (some queries of a sentence may attend, one not).
@version("scaled_dot_product_attention", "wrong", by=(1, 13))
def sdpa_g_6(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is None:
        return scores.softmax(-1) @ value
    out = scores.masked_fill(~mask, -1e9).softmax(-1) @ value
    alive = mask.flatten(-2).any(-1)[..., None, None]
    return out.masked_fill(~alive, 0.0)


# --- padding_mask ---------------------------------------------------------------------------------


@version("padding_mask", "right", "ne, then a view", by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13))
def padding_mask_1(tokens):
    return tokens.ne(0).view(tokens.size(0), 1, 1, tokens.size(1))


# The wrong way round: True stands at the padding.
@version("padding_mask", "wrong: padding mask inverted", by=1)
def padding_mask_a(tokens):
    return (tokens == 0)[:, None, None, :]


# The two axes of length one are forgotten: (B, S).
@version("padding_mask", "wrong: padding mask without new axes", by=1)
def padding_mask_b(tokens):
    return tokens != 0


# The axis of the tokens is where the queries belong: (B, 1, S, 1).
@version("padding_mask", "wrong: query rows masked", by=1)
def padding_mask_c(tokens):
    return (tokens != 0)[:, None, :, None]


# All special tokens are hidden, <eos> and <unk> too, not only padding.
@version("padding_mask", "wrong: all special tokens hidden", by=1)
def padding_mask_d(tokens):
    return (tokens > 3).unsqueeze(1).unsqueeze(1)


# Takes the first sentence's last token for the padding; wrong when that sentence is not padded.
@version("padding_mask", "wrong", by=1)
def padding_mask_e(tokens):
    pad = tokens[0, -1]
    return (tokens != pad)[:, None, None]


# Zeros and ones as floats, not a boolean mask.
@version("padding_mask", "wrong: a padding mask of numbers", by=1)
def padding_mask_f(tokens):
    return (tokens != 0).float()[:, None, None, :]


# <eos> is taken for the padding's start: sentences are hidden from <eos> on.
@version("padding_mask", "wrong", by=1)
def padding_mask_g(tokens):
    B, S = tokens.shape
    m = torch.ones(B, 1, 1, S, dtype=torch.bool)
    for b in range(B):
        for s in range(S):
            if tokens[b, s] == 2:
                m[b, 0, 0, s:] = False
                break
            if tokens[b, s] == 0:
                m[b, 0, 0, s] = False
    return m


# The batch axis is 1: the mask of the first sentence is used for all.
@version("padding_mask", "wrong: padding of the first sentence for all", by=1)
def padding_mask_h(tokens):
    return (tokens[0] != 0)[None, None, None, :].expand(tokens.shape[0], 1, 1, -1)


# squeeze() drops an axis of length one: for one sentence or one token the shape is wrong.
@version("padding_mask", "wrong", by=1)
def padding_mask_i(tokens):
    m = tokens.squeeze() != 0
    return m[..., None, None, :] if m.dim() else m[None]


# Everything up to <sos> (1) counts as padding: a sentence that begins with <sos> loses it.
@version("padding_mask", "wrong: <sos> hidden, too", by=(2, 3))
def padding_mask_a_2(tokens):
    return (tokens > 1)[:, None, None, :]


# Only counts the real tokens and takes it that the padding stands behind: wrong with a 0 in front
# or between.
@version("padding_mask", "wrong", by=(2, 4, 5, 8, 10, 11, 12))
def padding_mask_b_2(tokens):
    lengths = (tokens != 0).sum(dim=1, keepdim=True)
    return (torch.arange(tokens.shape[1]) < lengths)[:, None, None, :]


# Everything behind <eos> is taken for padding, and a sentence without <eos> counts as all real;
# the mark of padding is token 0 alone.
@version("padding_mask", "wrong", by=(2, 11))
def padding_mask_d_2(tokens):
    ended = (tokens == 2).long().cumsum(1) - (tokens == 2).long()
    return (ended == 0)[:, None, None, :]


# The Hugging Face form, 1 and 0 as whole numbers, not booleans: `~mask` of it is -2 and -1.
@version("padding_mask", "wrong: a padding mask of numbers", by=3)
def padding_mask_a_3(tokens):
    return (tokens != 0).long()[:, None, None, :]


# BERT's `attention_mask[:, :, None, None]` slip: the mask stands at the queries, (B, S, 1, 1)
# instead of (B, 1, 1, S).
@version("padding_mask", "wrong", by=3)
def padding_mask_d_3(tokens):
    return tokens.ne(0)[:, :, None, None]


# A sentence that is all padding is let see everything, to avoid nan; its mask must be False
# throughout.
@version("padding_mask", "wrong", by=(2, 3, 10, 11))
def padding_mask_e_2(tokens):
    mask = tokens != 0
    empty = ~mask.any(dim=1, keepdim=True)
    return (mask | empty)[:, None, None, :]


# The first position is always shown, as BERT's [CLS] is: wrong where a row begins with padding
# (an empty one).
@version("padding_mask", "wrong", by=3)
def padding_mask_f_2(tokens):
    mask = (tokens != 0).clone()
    mask[:, 0] = True
    return mask.view(tokens.size(0), 1, 1, tokens.size(1))


# What comes after the first <eos> is hidden, by argmax, which is 0 for a sentence without <eos>:
# all but its first token is hidden.
@version("padding_mask", "wrong", by=5)
def padding_mask_b_3(tokens):
    end = (tokens == 2).int().argmax(1, keepdim=True)
    return (torch.arange(tokens.size(1)) <= end).unsqueeze(1).unsqueeze(1)


# In a sentence of nothing but padding the first key is shown, against NaN; all padding must be
# hidden.
@version("padding_mask", "wrong", by=5)
def padding_mask_c_2(tokens):
    mask = tokens != 0
    mask[~mask.any(1), 0] = True
    return mask[:, None, None]


# <unk> (3) is hidden like padding: unknown words are real tokens.
@version("padding_mask", "wrong", by=5)
def padding_mask_d_4(tokens):
    return ((tokens != 0) & (tokens != 3)).view(tokens.shape[0], 1, 1, -1)


# argmax gives 0 where there is no padding at all, so a sentence without padding is hidden
# entirely.
@version("padding_mask", "wrong", by=6)
def padding_mask_a_4(tokens):
    first_pad = (tokens == 0).int().argmax(dim=1)
    pos = torch.arange(tokens.size(1), device=tokens.device)
    return (pos[None, :] < first_pad[:, None])[:, None, None, :]


# Everything behind the first 0 counts as padding: wrong if a 0 stands in front or in the middle.
@version("padding_mask", "wrong", by=7)
def padding_mask_d_5(tokens):
    return (tokens != 0).long().cumprod(-1).bool()[:, None, None]


# squeeze before the reshape: with several sentences of one token each (S = 1, B > 1) the mask is
# (1, 1, B).
@version("padding_mask", "wrong", by=8)
def padding_mask_b_4(tokens):
    return (
        tokens.squeeze().ne(0)[..., None, None, :]
        if tokens.shape[0] > 1
        else tokens.squeeze(0).ne(0)[None, None, :]
    )


# The last token is taken for padding: wrong for a sentence that fills its row.
@version("padding_mask", "wrong", by=10)
def padding_mask_a_5(tokens):
    return (tokens != tokens[:, -1:])[:, None, None, :]


# `squeeze` first: loses an axis for one sentence or a length of one.
@version("padding_mask", "wrong", by=(10, 12))
def padding_mask_f_3(tokens):
    m = (tokens != 0).squeeze()
    return m.unsqueeze(-2).unsqueeze(-3) if m.dim() < 2 else m[:, None, None, :]


# If no token is padding the mask has one column only, to be broadcast: the shape is not (B, 1, 1,
# S).
@version("padding_mask", "wrong", by=11)
def padding_mask_e_3(tokens):
    if bool((tokens != 0).all()):
        return torch.ones(tokens.shape[0], 1, 1, 1, dtype=torch.bool)
    return (tokens != 0)[:, None, None, :]


# The length is counted and an arange compared with <=: one padding token more is seen (padded
# sentences).
@version("padding_mask", "wrong: first padding left open", by=13)
def padding_mask_d_6(tokens):
    lengths = tokens.ne(0).sum(dim=1, keepdim=True)
    positions = torch.arange(tokens.size(1), device=tokens.device)
    return (positions <= lengths)[:, None, None, :]


PAD, SOS, EOS, UNK = 0, 1, 2, 3


# What stands behind <eos> is hidden: a real token behind an <eos> counts as padding (an <eos> in
# the middle).
@version("padding_mask", "wrong", by=13)
def padding_mask_e_4(tokens):
    ended = (tokens == EOS).cumsum(dim=1) - (tokens == EOS).long()
    return ((tokens != PAD) & (ended == 0))[:, None, None, :]


# --- causal_mask ----------------------------------------------------------------------------------


@version(
    "causal_mask",
    "right",
    "the cumulative sum of a unit matrix",
    by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13),
)
def causal_mask_2(length):
    return torch.eye(length).cumsum(0).bool()


# The diagonal is hidden, too: a token cannot see itself.
@version("causal_mask", "wrong: diagonal hidden", by=1)
def causal_mask_a(length):
    return torch.tril(torch.ones(length, length), diagonal=-1).bool()


# The upper triangle: each token sees what comes after it.
@version("causal_mask", "wrong: causal mask transposed", by=(1, 2))
def causal_mask_b(length):
    return torch.triu(torch.ones(length, length, dtype=torch.bool))


# The convention of PyTorch's own layers: True = hidden.
@version("causal_mask", "wrong: causal mask with the opposite meaning", by=(1, 2, 3))
def causal_mask_c(length):
    return torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)


# Returns a NumPy array, not a tensor.
@version("causal_mask", "wrong", by=1)
def causal_mask_e(length):
    return np.tril(np.ones((length, length), dtype=bool))


# The additive mask of −inf and 0, not booleans.
@version("causal_mask", "convention: additive mask in place of a boolean one", by=(1, 3))
def causal_mask_f(length):
    return torch.triu(torch.full((length, length), float("-inf")), diagonal=1)


# Rows that begin with a fixed buffer of 16: longer inputs get a mask that is too small.
@version("causal_mask", "wrong", by=1)
def causal_mask_g(length):
    big = torch.tril(torch.ones(16, 16)).bool()
    return big[:length, :length]


# The loop begins at 1: the first row stays empty, and the first token sees nothing.
@version("causal_mask", "wrong: first row empty", by=1)
def causal_mask_i(length):
    m = torch.zeros(length, length).bool()
    for i in range(1, length):
        m[i, : i + 1] = True
    return m


# Cut from a buffer of 128 places: longer sentences get too small a mask.
@version("causal_mask", "wrong", by=(2, 10, 13))
def causal_mask_a_2(length):
    buffer = torch.ones(128, 128).tril().bool()
    return buffer[:length, :length]


# The diagonal is one too far up: each token sees the next one, which it is to predict.
@version("causal_mask", "wrong: next token visible", by=2)
def causal_mask_b_2(length):
    return torch.tril(torch.ones(length, length, dtype=torch.bool), diagonal=1)


# tril of uint8, the old PyTorch convention of byte masks, not of booleans.
@version("causal_mask", "wrong: a mask of numbers", by=3)
def causal_mask_c_2(length):
    return torch.tril(torch.ones(length, length, dtype=torch.uint8))


# GPT-2's buffer `bias` of 1024 positions: beyond it the mask is too small.
@version("causal_mask", "wrong", by=3)
def causal_mask_d(length):
    return torch.tril(torch.ones(1024, 1024, dtype=torch.bool))[:length, :length]


# At most 512 positions: a longer one gets a mask that is too small.
@version("causal_mask", "wrong", by=5)
def causal_mask_a_3(length):
    full = torch.tril(torch.ones(512, 512, dtype=torch.bool))
    return full[:length, :length]


# A length of one gives a number in place of a matrix (1, 1), by squeeze.
@version("causal_mask", "wrong", by=(1, 5, 11))
def causal_mask_c_3(length):
    return torch.ones(1, length, length).tril().squeeze() == 1


# Positions are counted in bytes; from 256 on they begin anew, and late positions see too little
# and too much.
@version("causal_mask", "wrong", by=(5, 8, 11))
def causal_mask_d_2(length):
    i = torch.arange(length).to(torch.uint8)
    return i[:, None] >= i[None, :]


# Off by one in the loop: the last row stays False.
@version("causal_mask", "wrong", by=7)
def causal_mask_c_4(length):
    m = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length - 1):
        m[i, : i + 1] = True
    return m


# A band of 64 positions (a sliding window): from the 65th position on a token no longer sees the
# first ones.
@version("causal_mask", "wrong", by=(5, 8))
def causal_mask_b_3(length):
    d = torch.arange(length)[:, None] - torch.arange(length)
    return (d >= 0) & (d < 64)


# A position sees no further back than 50: wrong for long sequences.
@version("causal_mask", "wrong", by=10)
def causal_mask_a_4(length):
    i = torch.arange(length)
    d = i[:, None] - i[None, :]
    return (d >= 0) & (d < 50)


# Cut from a buffer for 256 positions: too small for greater lengths.
@version("causal_mask", "wrong", by=(4, 6, 8, 11))
def causal_mask_a_5(length):
    return torch.tril(torch.ones(256, 256, dtype=torch.bool))[:length, :length]


# A window of 32: a token does not see what lies further back, which shows for lengths above 32.
@version("causal_mask", "wrong", by=11)
def causal_mask_c_5(length):
    i = torch.arange(length)
    d = i[:, None] - i[None, :]
    return (d >= 0) & (d < 32)


# Cut out of a buffer of 64 positions (block_size): too small for longer sequences.
@version("causal_mask", "wrong", by=12)
def causal_mask_d_3(length):
    block = torch.tril(torch.ones(64, 64)).bool()
    return block[:length, :length]


# --- target_mask ----------------------------------------------------------------------------------


@version(
    "target_mask",
    "right",
    "tril of an expanded padding mask",
    by=(1, 2, 3, 5, 7, 8, 10, 11, 12, 13),
)
def target_mask_2(tokens):
    B, T = tokens.shape
    return tokens.ne(0).view(B, 1, 1, T).expand(B, 1, T, T).tril()


# Only causal; the padding is not hidden.
@version("target_mask", "wrong: the padding forgotten", by=(1, 2, 3))
def target_mask_a(tokens):
    B, T = tokens.shape
    return torch.tril(torch.ones(T, T)).bool().expand(B, 1, T, T)


# 'Or' in place of 'and': a key is visible if it is either no padding or not in the future.
@version("target_mask", "wrong: either in place of both", by=(1, 2, 3))
def target_mask_b(tokens):
    B, T = tokens.shape
    return (tokens != 0)[:, None, None, :] | torch.tril(torch.ones(T, T)).bool()


# The padding is hidden as a query (rows), not as a key (columns).
@version("target_mask", "wrong: query rows of the target masked", by=(1, 2, 3))
def target_mask_c(tokens):
    T = tokens.shape[1]
    return (tokens != 0)[:, None, :, None] & torch.tril(torch.ones(T, T)).bool()


# The head axis is missing: (B, T, T).
@version("target_mask", "wrong: target mask without its axis of heads", by=1)
def target_mask_d(tokens):
    T = tokens.shape[1]
    return (tokens != 0)[:, None, :] & torch.tril(torch.ones(T, T)).bool()


# The triangle is built with B rows: it fits only when B = T.
@version("target_mask", "wrong", by=1)
def target_mask_e(tokens):
    B, T = tokens.shape
    tri = torch.zeros(T, T).bool()
    tri[:B, :B] = torch.tril(torch.ones(B, B)).bool()[:T, :T]
    return (tokens != 0)[:, None, None, :] & tri


# The diagonal is always open, also where the token is padding.
@version("target_mask", "wrong: diagonal of the target always open", by=(1, 2))
def target_mask_h(tokens):
    B, T = tokens.shape
    m = (tokens != 0)[:, None, None, :] & torch.ones(T, T).tril().bool()
    return m | torch.eye(T).bool()


# <eos> is hidden along with the padding.
@version("target_mask", "wrong: <eos> of the target hidden, too", by=(1, 2, 3))
def target_mask_i(tokens):
    T = tokens.shape[1]
    ok = (tokens != 0) & (tokens != 2)
    return ok[:, None, None, :] & torch.ones(T, T).tril().bool()


# Two mistakes: True means hidden, and the padding is not looked at.
@version("target_mask", "wrong", by=1)
def target_mask_2a(tokens):
    B, T = tokens.shape
    return torch.triu(torch.ones(B, 1, T, T), diagonal=1).bool()


# The padding of the first sentence is used for the whole batch (right for B = 1).
@version("target_mask", "wrong: padding of the first target for all", by=2)
def target_mask_e_2(tokens):
    B, T = tokens.shape
    mask = torch.ones(T, T).tril().bool() & (tokens[0] != 0)
    return mask.repeat(B, 1, 1, 1)


# Prefix LM (UniLM, T5): the first half of the target is visible in both directions.
@version("target_mask", "wrong", by=3)
def target_mask_b_2(tokens):
    t = tokens.size(1)
    i = torch.arange(t)
    causal = (i[None, :] <= i[:, None]) | (i[None, :] < t // 2)
    return causal & (tokens != 0)[:, None, None, :]


# A row that sees nothing is opened at its own place 'against NaN': wrong when padding comes in
# front.
@version("target_mask", "wrong", by=4)
def target_mask_e_3(tokens):
    T = tokens.size(1)
    m = (tokens != 0)[:, None, None, :] & torch.ones(T, T, dtype=torch.bool).tril()
    return m | torch.eye(T, dtype=torch.bool) & ~m.any(-1, keepdim=True)


# A batch of one sentence is taken to have no padding.
@version("target_mask", "wrong", by=5)
def target_mask_c_2(tokens):
    B, T = tokens.shape
    mask = torch.ones(T, T, dtype=torch.bool).tril().expand(B, 1, T, T)
    if B > 1:
        mask = mask & (tokens != 0)[:, None, None, :]
    return mask


# A sentence of nothing but padding is let see everything before it, in order that there is no
# NaN.
@version("target_mask", "wrong", by=5)
def target_mask_e_4(tokens):
    T = tokens.shape[1]
    keys = tokens != 0
    keys = keys | ~keys.any(1, keepdim=True)
    return keys[:, None, None, :] & torch.ones(T, T).tril().bool()


# The batch size is used for the length: for a single sentence the 1 × 1 mask is broadcast and
# nothing of the future is hidden; otherwise it fits only if B = T.
@version("target_mask", "wrong", by=6)
def target_mask_a_2(tokens):
    seq_len = len(tokens)
    nopeak = torch.ones(seq_len, seq_len).tril().bool()
    return (tokens != 0)[:, None, None, :] & nopeak


# A padded query is blanked, too (outer product of the mask), so that the sentence's padding rows
# see nothing, although they may see the real tokens before them.
@version("target_mask", "wrong", by=(1, 8, 10, 11, 12))
def target_mask_a_3(tokens):
    real = tokens != 0
    return (real[:, :, None] & real[:, None, :]).tril()[:, None]


# cumprod: from the first padding on all is hidden; a real token behind padding (padding in front
# or inside) is hidden from itself.
@version("target_mask", "wrong", by=(8, 10, 11, 12))
def target_mask_b_3(tokens):
    real = (tokens != 0).long().cumprod(1).bool()
    T = tokens.shape[1]
    return real[:, None, None, :] & torch.ones(T, T).tril().bool()


# An early exit: it looks for padding in the last column only; where padding stands in front or
# inside (and the last token is real) the plain causal mask comes back.
@version("target_mask", "wrong", by=8)
def target_mask_d_2(tokens):
    B, T = tokens.shape
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    if bool((tokens[:, -1] != 0).all()):
        return causal.expand(B, 1, T, T)
    return causal & (tokens != 0)[:, None, None, :]


# Padding is hidden only if an `<eos>` is in the batch: wrong for padded rows without one.
@version("target_mask", "wrong", by=10)
def target_mask_g(tokens):
    T = tokens.shape[1]
    m = torch.ones(T, T).tril().bool()[None, None].expand(len(tokens), 1, T, T)
    if (tokens == 2).any():
        m = m & (tokens != 0)[:, None, None, :]
    return m


# The padding is found by counting from the left: wrong where padding stands in front or within.
@version("target_mask", "wrong", by=(10, 11, 13))
def target_mask_b_4(tokens):
    t = tokens.shape[1]
    i = torch.arange(t)
    lengths = tokens.ne(0).sum(1)
    mask = (i[None, :] <= i[:, None])[None] & (i[None, None, :] < lengths[:, None, None])
    return mask[:, None]


# Without any padding the batch axis is left at one: not (B, 1, T, T) for an unpadded batch of
# several sentences.
@version("target_mask", "wrong", by=11)
def target_mask_f(tokens):
    t = tokens.shape[1]
    causal = torch.ones(1, 1, t, t, dtype=torch.bool).tril()
    if not (tokens == 0).any():
        return causal
    return causal & (tokens != 0)[:, None, None, :]


# --- split_heads ----------------------------------------------------------------------------------


@version("split_heads", "right", "chunks, stacked", by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13))
def split_heads_1(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


# The head size of the example, 4, is hard-coded.
@version("split_heads", "wrong", by=1)
def split_heads_d(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, T, -1, 4).transpose(1, 2)


# The batch axis and the head axis are exchanged: (H, B, T, K); not noticed if B = H = 1.
@version("split_heads", "wrong: sentences and heads exchanged", by=1)
def split_heads_g(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1))


# The features are dealt out like cards: head h gets each H-th feature, not K neighbouring ones.
@version("split_heads", "convention: heads interleaved", by=(1, 2, 3))
def split_heads_b(x, n_heads):
    return torch.stack([x[..., h::n_heads] for h in range(n_heads)], dim=1)


# torch.split takes the size of a piece, not their number: right only if H = K.
@version("split_heads", "wrong: number of heads taken for their width", by=(1, 2))
def split_heads_c(x, n_heads):
    return torch.stack(torch.split(x, n_heads, dim=-1), dim=1)


# Viewed as (B, H, T, K) directly, without transposing: the heads cut the positions up instead of
# the features.
@version("split_heads", "wrong: heads split with view, not transposed", by=(1, 2, 3))
def split_heads_c_2(x, n_heads):
    return x.reshape(x.size(0), n_heads, x.size(1), -1)


# With one head x is given back as it is, (B, T, D), without the axis of heads.
@version("split_heads", "wrong", by=5)
def split_heads_a(x, n_heads):
    if n_heads == 1:
        return x
    B, T, D = x.shape
    return x.view(B, T, n_heads, D // n_heads).transpose(1, 2)


# Splits at 4 features a head whatever `n_heads` says.
@version("split_heads", "wrong", by=10)
def split_heads_d_2(x, n_heads):
    return torch.stack(x.split(4, dim=-1), dim=1)


# Leaves the axis of the batch out for one sentence.
@version("split_heads", "wrong", by=11)
def split_heads_c_3(x, n_heads):
    parts = torch.stack(x.chunk(n_heads, dim=-1), dim=1)
    return parts[0] if len(parts) == 1 else parts


# The heads come out in reverse order: wrong unless H = 1.
@version("split_heads", "wrong", by=11)
def split_heads_d_3(x, n_heads):
    k = x.shape[-1] // n_heads
    return torch.stack([x[..., i * k : (i + 1) * k] for i in reversed(range(n_heads))], 1)


# Positions and features are transposed before the reshape, so that the numbers come out
# scrambled; not seen for T = 1.
@version("split_heads", "wrong", by=12)
def split_heads_c_4(x, n_heads):
    B, T, D = x.shape
    return x.transpose(1, 2).reshape(B, n_heads, T, D // n_heads)


# permute(0, 3, 1, 2) brings K in front and H to the end, in place of permute(0, 2, 1, 3) (H > 1
# or K > 1).
@version("split_heads", "wrong", by=13)
def split_heads_d_4(x, n_heads):
    return x.reshape(x.size(0), x.size(1), n_heads, -1).permute(0, 3, 1, 2)


# --- merge_heads ----------------------------------------------------------------------------------


@version(
    "merge_heads", "right", "cat of the unbound heads", by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13)
)
def merge_heads_1(heads):
    return torch.cat(heads.unbind(1), dim=-1)


# Averages over the heads in place of laying them side by side.
@version("merge_heads", "wrong", by=(1, 6, 7, 10, 11, 13))
def merge_heads_b(heads):
    return heads.mean(dim=1).repeat(1, 1, heads.shape[1])


# Only the first two heads are joined, as in the example with H = 2.
@version("merge_heads", "wrong", by=1)
def merge_heads_f(heads):
    return torch.cat([heads[:, 0], heads[:, -1]], dim=-1)


# The last two axes come as (K, H): the features of the heads are interleaved.
@version("merge_heads", "convention: heads merged interleaved", by=(1, 2, 3))
def merge_heads_b_2(heads):
    return heads.permute(0, 2, 3, 1).flatten(2)


# transpose without contiguous, then view: raises except for one head or one token.
@version("merge_heads", "wrong", by=4)
def merge_heads_a(heads):
    B, H, T, K = heads.shape
    return heads.transpose(1, 2).view(B, T, H * K)


# It guesses from the sizes which axis is the heads' one (the smaller): with more heads than
# positions, T = 1 apart, they are mixed up.
@version("merge_heads", "wrong", by=5)
def merge_heads_a_2(heads):
    B, a, b, K = heads.shape
    if a <= b:
        heads = heads.transpose(1, 2)
        return heads.reshape(B, b, a * K)
    return heads.reshape(B, b, a * K)


# squeeze: a batch of one sentence, or one position, loses its axis.
@version("merge_heads", "wrong", by=(2, 5, 10, 13))
def merge_heads_b_3(heads):
    return torch.cat(heads.unbind(1), dim=-1).squeeze()


# The heads are summed side by side only over the first axis: `torch.cat([*heads], dim=-1)` joins
# the sentences, not the heads; right shape only by chance.
@version("merge_heads", "wrong", by=8)
def merge_heads_a_3(heads):
    B, H, T, K = heads.shape
    return torch.cat([*heads], dim=-1).reshape(B, T, H * K)


# swapaxes(1, 2) is done only where H differs from T ('already square'); for H = T positions and
# heads are mixed.
@version("merge_heads", "wrong", by=(8, 11))
def merge_heads_b_4(heads):
    if heads.shape[1] != heads.shape[2]:
        heads = heads.transpose(1, 2)
        return heads.flatten(2)
    return heads.flatten(2)


# The batch and position axes are exchanged before the reshape: right only for one sentence or one
# position.
@version("merge_heads", "wrong", by=10)
def merge_heads_b_5(heads):
    B, H, T, K = heads.shape
    return heads.permute(2, 0, 1, 3).reshape(B, T, H * K)


# The merged tensor is made by torch.tensor of numbers, which cuts the gradient.
@version("merge_heads", "wrong", by=11)
def merge_heads_c(heads):
    b, h, t, k = heads.shape
    out = torch.zeros(b, t, h * k, dtype=heads.dtype)
    for i in range(h):
        out[:, :, i * k : (i + 1) * k] = heads[:, i].data
    return out


# The heads are averaged in place of joined: (B, T, K).
@version("merge_heads", "wrong: heads averaged", by=12)
def merge_heads_b_6(heads):
    return heads.mean(dim=1)


# The joined heads come out position first, (T, B, D); unseen in values only for B = T = 1.
@version("merge_heads", "wrong", by=12)
def merge_heads_c_2(heads):
    return torch.cat(list(heads.unbind(1)), dim=-1).transpose(0, 1)


# --- multi_head_attention -------------------------------------------------------------------------


class MultiHeadClass(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n = n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            torch.stack(f(a).chunk(self.n, -1), 1)
            for f, a in ((self.query, query), (self.key, key), (self.value, value))
        )
        return self.output(torch.cat(sdpa_1(q, k, v, mask).unbind(1), -1))


version("multi_head_attention", "right", "a class, heads by chunk and unbind", by=1)(MultiHeadClass)


@version(
    "multi_head_attention",
    "right",
    "einsum all the way, weights seen as (H, K, D)",
    by=(1, 2, 3, 5),
)
def mha_r1(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    D = query.shape[-1]
    K = D // n_heads
    q = torch.einsum("btd,hkd->bhtk", query, w_query.reshape(n_heads, K, D))
    k = torch.einsum("bsd,hkd->bhsk", key, w_key.reshape(n_heads, K, D))
    v = torch.einsum("bsd,hkd->bhsk", value, w_value.reshape(n_heads, K, D))
    scores = torch.einsum("bhtk,bhsk->bhts", q, k) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(torch.logical_not(mask), -torch.inf)
    weights = torch.softmax(scores, -1)
    weights = torch.where(weights.isnan(), torch.zeros_like(weights), weights)
    return torch.einsum("bhtk,dhk->btd", weights @ v, w_output.reshape(D, n_heads, K))


@version(
    "multi_head_attention",
    "right",
    "a sum over the heads, each with its own columns of the output weight",
    by=2,
)
def mha_r2(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    K = query.shape[-1] // n_heads
    out = torch.zeros(())
    for h in range(n_heads):
        part = slice(h * K, h * K + K)
        q, k, v = (
            F.linear(query, w_query[part]),
            F.linear(key, w_key[part]),
            F.linear(value, w_value[part]),
        )
        out = out + F.linear(
            F.scaled_dot_product_attention(
                q[:, None],
                k[:, None],
                v[:, None],
                attn_mask=None
                if mask is None
                else (mask[:, h : h + 1] if mask.dim() == 4 and mask.shape[1] > 1 else mask),
            )[:, 0],
            w_output[:, part],
        )
    return out


@version(
    "multi_head_attention",
    "right",
    "a class; head by head in a loop, each head's share of the output added up",
    by=3,
)
class MHAR2(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.k = n_heads, d_model // n_heads
        for name in ("query", "key", "value", "output"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, query, key, value, mask=None):
        q, k, v = self.query(query), self.key(key), self.value(value)
        if mask is not None:
            mask = mask.expand(query.shape[0], self.n_heads, query.shape[1], key.shape[1])
        total = 0
        for h in range(self.n_heads):
            part = slice(h * self.k, (h + 1) * self.k)
            scores = q[..., part] @ k[..., part].mT / math.sqrt(self.k)
            if mask is not None:
                weights = torch.softmax(scores.masked_fill(~mask[:, h], -1e30), -1) * mask[:, h]
            else:
                weights = torch.softmax(scores, -1)
            total = total + (weights @ v[..., part]) @ self.output.weight[:, part].T
        return total


class MultiHeadR2(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("query", "key", "value", "output"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, query, key, value, mask=None):
        heads = lambda x: x.unflatten(-1, (self.n_heads, -1)).movedim(2, 1)
        q, k, v = heads(self.query(query)), heads(self.key(key)), heads(self.value(value))
        scores = q.matmul(k.mT) * q.size(-1) ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask == False, -1e30)
        return self.output(scores.softmax(-1).matmul(v).movedim(1, 2).flatten(-2))


version("multi_head_attention", "right", "a class with linear layers without bias", by=(5, 11))(
    MultiHeadR2
)


@version(
    "multi_head_attention",
    "right",
    "head by head in a loop; the output projection is summed up head by head",
    by=(1, 4, 6, 11, 12, 13),
)
def mha_r1_2(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    D = query.shape[-1]
    K = D // n_heads
    out = 0
    for h in range(n_heads):
        rows = slice(h * K, (h + 1) * K)
        q, k, v = query @ w_query[rows].T, key @ w_key[rows].T, value @ w_value[rows].T
        s = q @ k.transpose(1, 2) / math.sqrt(K)
        if mask is not None:
            m = mask if mask.dim() < 4 else mask[:, 0]
            s = s.masked_fill(~m, -math.inf)
        out = out + s.softmax(-1) @ v @ w_output[:, rows].T
    return out


@version("multi_head_attention", "right", "a module, einsum all the way", by=6)
class MultiHeadAttentionR2(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key = (
            nn.Linear(d_model, d_model, bias=False),
            nn.Linear(d_model, d_model, bias=False),
        )
        self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False),
            nn.Linear(d_model, d_model, bias=False),
        )

    def forward(self, query, key, value, mask=None):
        H = self.n_heads
        wq, wk, wv = (l.weight.unflatten(0, (H, -1)) for l in (self.query, self.key, self.value))
        q = torch.einsum("btd,hkd->bhtk", query, wq)
        k = torch.einsum("bsd,hkd->bhsk", key, wk)
        v = torch.einsum("bsd,hkd->bhsk", value, wv)
        a = torch.einsum("bhtk,bhsk->bhts", q, k) / wq.size(1) ** 0.5
        if mask is not None:
            a = torch.where(mask, a, a.new_tensor(-math.inf))
        return torch.einsum(
            "bhts,bhsk,dhk->btd", a.softmax(-1), v, self.output.weight.unflatten(1, (H, -1))
        )


@version(
    "multi_head_attention",
    "right",
    "loop over the heads, the output summed head by head",
    by=(7, 8, 10),
)
def mha_r(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    D = query.shape[-1]
    K = D // n_heads
    if mask is not None and mask.dim() == 4:
        mask = mask[:, 0]
    out = 0
    for h in range(n_heads):
        a = slice(h * K, (h + 1) * K)
        q, k, v = query @ w_query[a].T, key @ w_key[a].T, value @ w_value[a].T
        s = torch.bmm(q, k.mT) * K**-0.5
        if mask is not None:
            s = s.masked_fill(mask.logical_not(), -torch.inf)
        out = out + s.softmax(-1) @ v @ w_output[:, a].T
    return out


class _EinsumMHA(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def forward(self, query, key, value, mask=None):
        q = self.query(query).unflatten(-1, (self.h, -1))
        k = self.key(key).unflatten(-1, (self.h, -1))
        v = self.value(value).unflatten(-1, (self.h, -1))
        s = torch.einsum("bthk,bshk->bhts", q / q.shape[-1] ** 0.5, k)
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            s = torch.where(mask, s, torch.full_like(s, float("-inf")))
        return self.output(torch.einsum("bhts,bshk->bthk", s.softmax(-1), v).flatten(2))


version("multi_head_attention", "right", "class with einsum", by=10)(_EinsumMHA)


class MhaR2(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            f(x).unflatten(-1, (self.n_heads, -1))
            for f, x in ((self.query, query), (self.key, key), (self.value, value))
        )
        s = torch.einsum("bthk,bshk->bhts", q, k) / math.sqrt(q.size(-1))
        if mask is not None:
            s = s.masked_fill(mask.logical_not(), float("-inf"))
        return self.output(torch.einsum("bhts,bshk->bthk", s.softmax(-1), v).flatten(2))


version("multi_head_attention", "right", "a class with einsum and without biases", by=(12, 13))(
    MhaR2
)


def _heads(x, H):
    B, T, D = x.shape
    return x.view(B, T, H, D // H).transpose(1, 2)


def _join(o):
    B, H, T, K = o.shape
    return o.transpose(1, 2).reshape(B, T, H * K)


# A query that may attend to nothing gets the mean of all values (filled with −1e9), not zeros.
@version("multi_head_attention", "right", by=1, once_open=True)
def mha_l(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -1e9)
    return _join(torch.softmax(s, -1) @ v) @ w_output.T


def _attend_2(q, k, v, mask, scale):
    s = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(s, dim=-1)) @ v


# The head size is rounded from the example with two heads: H is ignored.
@version("multi_head_attention", "wrong", by=1)
def mha_m(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = _heads(query @ w_query.T, 2), _heads(key @ w_key.T, 2), _heads(value @ w_value.T, 2)
    return _join(_attend_2(q, k, v, mask, math.sqrt(q.shape[-1]))) @ w_output.T


class MyMultiHead(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h, self.k = n_heads, d_model // n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        outs = []
        for h in range(self.h):
            part = slice(h * self.k, (h + 1) * self.k)
            q, k, v = (
                self.query(query)[..., part],
                self.key(key)[..., part],
                self.value(value)[..., part],
            )
            s = q @ k.transpose(-2, -1) / self.k**0.5
            if mask is not None:
                m = mask.reshape(-1, *mask.shape[-2:])
                s = s.masked_fill(m, float("-inf"))
            outs.append(torch.nan_to_num(torch.softmax(s, -1)) @ v)
        return self.output(torch.cat(outs, dim=-1))


# The class has the mask the wrong way round: True is hidden.
version("multi_head_attention", "wrong: mask inverted on the way", by=1)(MyMultiHead)


def _attend_3(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, -1).nan_to_num(0.0) @ v


def _split(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-3, -2)


def _merge(x):
    return x.transpose(-3, -2).flatten(-2)


# The mask (B, 1, 1, S) is repeated for the heads with `repeat` in the order (H, B), as for
# tensors folded to B * H: sentence b's heads get other sentences' masks.
@version(
    "multi_head_attention", "wrong: heads stacked sentence by sentence, masks head by head", by=3
)
def mha_e(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b = query.size(0)
    q, k, v = (
        _split(F.linear(x, w), n_heads).flatten(0, 1)
        for x, w in ((query, w_query), (key, w_key), (value, w_value))
    )
    if mask is not None:
        mask = mask.expand(b, 1, query.size(1), key.size(1)).squeeze(1).repeat(n_heads, 1, 1)
    out = _attend_3(q, k, v, mask).unflatten(0, (b, n_heads))
    return _merge(out) @ w_output.T


def _heads_2(x, n):
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


class MultiHeadF(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.query, self.key, self.value, self.output = [
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        ]
        self.n_heads, self.mask = n_heads, None

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            self.mask = mask
        q, k, v = (
            _heads_2(self.query(query), self.n_heads),
            _heads_2(self.key(key), self.n_heads),
            _heads_2(self.value(value), self.n_heads),
        )
        s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if self.mask is not None:
            s = s.masked_fill(~self.mask, -1e9)
        return self.output((s.softmax(-1) @ v).transpose(1, 2).flatten(2))


# The mask stays in self.mask: a call without a mask, of the same instance, still uses the one
# before.
version("multi_head_attention", "wrong: kept from the call before", by=(2, 4, 11))(MultiHeadF)


# The mask is multiplied to the weights behind the softmax; hidden keys still count in the sum.
@version("multi_head_attention", "wrong: in several heads: mask applied after the softmax", by=4)
def multi_head_attention_g(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    q, k, v = (
        _heads_2(query @ w_query.T, n_heads),
        _heads_2(key @ w_key.T, n_heads),
        _heads_2(value @ w_value.T, n_heads),
    )
    w = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return (w @ v).transpose(1, 2).flatten(2) @ w_output.T


# With one head the output projection is left out, as if there were nothing to merge.
@version("multi_head_attention", "wrong", by=5)
def multi_head_attention_c(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    if n_heads == 1:
        if mask is not None and mask.dim() == 4:
            mask = mask[:, 0]
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return scores.softmax(-1) @ v
    heads = []
    for a, b, c in zip(q.chunk(n_heads, -1), k.chunk(n_heads, -1), v.chunk(n_heads, -1)):
        scores = (a @ b.mT / math.sqrt(a.shape[-1])).unsqueeze(1)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        heads.append(scores.squeeze(1).softmax(-1) @ c)
    return torch.cat(heads, -1) @ w_output.T


def _project(x, weight, n_heads):
    B, T, D = x.shape
    return (x @ weight.T).view(B, T, n_heads, D // n_heads).transpose(1, 2)


# The mask is only used when there are as many keys as queries (self-attention): padding of a
# memory with S ≠ T is not hidden.
@version("multi_head_attention", "wrong: mask not passed on", by=5)
def multi_head_attention_d(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    q, k, v = (
        _project(query, w_query, n_heads),
        _project(key, w_key, n_heads),
        _project(value, w_value, n_heads),
    )
    scores = torch.einsum("bhtk,bhsk->bhts", q, k) * (D // n_heads) ** -0.5
    if mask is not None and scores.shape[-1] == scores.shape[-2]:
        scores = scores.masked_fill(~mask, -torch.inf)
    out = torch.einsum("bhts,bhsk->bthk", scores.softmax(-1), v)
    return out.reshape(B, T, D) @ w_output.T


# Hidden scores get -20, not minus infinity: with large queries and keys the hidden places win.
@version("multi_head_attention", "wrong", by=5)
def multi_head_attention_e(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    q, k, v = (
        _project(query, w_query, n_heads),
        _project(key, w_key, n_heads),
        _project(value, w_value, n_heads),
    )
    scores = q @ k.mT / math.sqrt(D // n_heads)
    if mask is not None:
        scores = torch.where(mask, scores, scores.new_tensor(-20.0))
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ w_output.T


def _split_2(x, h):
    return x.view(x.size(0), x.size(1), h, -1).transpose(1, 2)


# The softmax runs over the heads (dim=1), not over the keys.
@version(
    "multi_head_attention", "wrong: in several heads: attention with a softmax without dim", by=6
)
def mha_c(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = [
        _split_2(x @ w.T, n_heads) for x, w in ((query, w_query), (key, w_key), (value, w_value))
    ]
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    p = F.softmax(scores, dim=1)
    return (p @ v).transpose(1, 2).flatten(2) @ w_output.T


# The boolean mask is ADDED to the scores: a visible key gets one more, a hidden one stays visible
# (any mask that hides something).
@version("multi_head_attention", "wrong: in several heads: boolean mask added to the scores", by=6)
def mha_e_2(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    d_head = D // n_heads
    q, k, v = (
        _split_2(query @ w_query.T, n_heads),
        _split_2(key @ w_key.T, n_heads),
        _split_2(value @ w_value.T, n_heads),
    )
    logits = torch.einsum("bhtk,bhsk->bhts", q, k) * d_head**-0.5
    if mask is not None:
        logits = logits + mask
    return torch.einsum("bhts,bhsk->bthk", logits.softmax(-1), v).reshape(B, T, D) @ w_output.T


# The queries are projected with the keys' weight (copy and paste); the queries' own weight is
# never used.
@version("multi_head_attention", "wrong: queries projected with the key's weight", by=6)
class MultiHeadAttentionG(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        def heads(t):
            return t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

        q, k, v = heads(self.key(query)), heads(self.key(key)), heads(self.value(value))
        return self.output(
            F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(-2)
        )


def _attend_4(q, k, v, mask, scale):
    s = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
        w = torch.softmax(s.masked_fill(~mask.any(-1, keepdim=True), 0.0), -1)
        w = w * mask
    else:
        w = torch.softmax(s, -1)
    return w @ v


def _split_3(x, h):
    B, T, D = x.shape
    return x.reshape(B, T, h, D // h).transpose(1, 2)


def _merge_2(x):
    return x.transpose(1, 2).flatten(2)


# The keys' length is taken from the query's reshape, so heads are mixed if S is not T: keys are
# split with view(B, H, S, K).
@version(
    "multi_head_attention",
    "wrong: keys and values split with view, not transposed",
    by=7,
)
def mha_e_3(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    S, K = key.shape[1], D // n_heads
    q = _split_3(query @ w_query.T, n_heads)
    if S == T:
        k, v = _split_3(key @ w_key.T, n_heads), _split_3(value @ w_value.T, n_heads)
    else:
        k, v = (
            (key @ w_key.T).reshape(B, n_heads, S, K),
            (value @ w_value.T).reshape(B, n_heads, S, K),
        )
    return _merge_2(_attend_4(q, k, v, mask, math.sqrt(K))) @ w_output.T


# When query and key have the same shape it takes the fused self-attention path (one projection of
# the query for all three): wrong for cross-attention with S = T.
@version("multi_head_attention", "wrong: keys and values made from the query", by=8)
def multi_head_attention_b(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    if query.shape == key.shape:
        q, k, v = (query @ torch.cat((w_query, w_key, w_value)).T).chunk(3, -1)
    else:
        q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    split = lambda t: t.view(B, t.shape[1], n_heads, D // n_heads).transpose(1, 2)
    q, k, v = map(split, (q, k, v))
    s = q @ k.mT * (D // n_heads) ** -0.5
    if mask is not None:
        s = s.masked_fill(mask.logical_not(), -torch.inf)
    return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D) @ w_output.T


# Causality is guessed: for T = S the mask is thrown away and is_causal=True taken; wrong for an
# encoder's padding mask and for no mask.
@version("multi_head_attention", "wrong", by=8)
def multi_head_attention_e_2(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    q, k, v = (
        F.linear(t, w).unflatten(-1, (n_heads, -1)).transpose(1, 2)
        for t, w in ((query, w_query), (key, w_key), (value, w_value))
    )
    causal = mask is not None and q.shape[2] == k.shape[2]
    o = F.scaled_dot_product_attention(
        q, k, v, attn_mask=None if causal else mask, is_causal=causal
    )
    return F.linear(o.transpose(1, 2).flatten(2), w_output)


def _heads_3(x, n):
    B, T, D = x.shape
    return x.reshape(B, T, n, D // n).transpose(1, 2)


# The mask hides keys from the first head only.
@version("multi_head_attention", "wrong", by=(2, 10, 11))
def mha_c_2(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _heads_3(query @ w_query.T, n_heads),
        _heads_3(key @ w_key.T, n_heads),
        _heads_3(value @ w_value.T, n_heads),
    )
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        first = s[:, :1].masked_fill(~mask, float("-inf"))
        s = torch.cat([first, s[:, 1:]], dim=1)
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ w_output.T


# The keys are cut to as many as there are queries: wrong where S is larger than T.
@version("multi_head_attention", "wrong", by=10)
def mha_e_4(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    T = query.shape[1]
    key, value = key[:, :T], value[:, :T]
    q, k, v = (
        _heads_3(query @ w_query.T, n_heads),
        _heads_3(key @ w_key.T, n_heads),
        _heads_3(value @ w_value.T, n_heads),
    )
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(~mask[..., :T], float("-inf"))
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ w_output.T


class _TrainingMaskMHA(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n = n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            _heads_3(self.query(query), self.n),
            _heads_3(self.key(key), self.n),
            _heads_3(self.value(value), self.n),
        )
        s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            s = s.masked_fill(~mask, -1e9)
        w = F.dropout(s.softmax(-1), 0.1)
        return self.output((w @ v).transpose(1, 2).flatten(2))


# `F.dropout` without `self.training` drops in evaluation mode, too.
version("multi_head_attention", "wrong", by=10)(_TrainingMaskMHA)


def _split_4(x, h):
    return x.unflatten(-1, (h, -1)).transpose(1, 2)


def _mha(query, key, value, wq, wk, wv, wo, h, mask, scale=None):
    q, k, v = _split_4(query @ wq.T, h), _split_4(key @ wk.T, h), _split_4(value @ wv.T, h)
    return _att(q, k, v, mask, scale).transpose(1, 2).flatten(2) @ wo.T


# Keys and values are split with the query's length: reads only the first T keys where S > T.
@version("multi_head_attention", "wrong", by=11)
def mha_b(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    t = query.shape[1]
    if key.shape[1] > t:
        key, value = key[:, :t], value[:, :t]
        if mask is not None:
            mask = mask[..., :t]
            mask = mask | ~mask.any(-1, keepdim=True)
    return _mha(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask)


class MHA(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        if mask is not None and bool(mask.all()):
            mask = None
        if mask is None and query.shape == key.shape:
            t = query.shape[1]
            mask = torch.ones(t, t).tril().bool()
        return _mha(
            query,
            key,
            value,
            self.query.weight,
            self.key.weight,
            self.value.weight,
            self.output.weight,
            self.n_heads,
            mask,
        )


# Without a mask (or with one that hides nothing) it is made causal wherever T = S.
version("multi_head_attention", "wrong", by=11)(MHA)


# view straight to (B, H, T, K) without transpose: positions and features are mixed (T > 1, H >
# 1).
@version("multi_head_attention", "wrong: several heads split with view, not transposed", by=13)
def mha_a(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    k = d // n_heads
    q = (query @ w_query.T).view(b, n_heads, -1, k)
    ke = (key @ w_key.T).view(b, n_heads, -1, k)
    v = (value @ w_value.T).view(b, n_heads, -1, k)
    out = F.scaled_dot_product_attention(q, ke, v, attn_mask=mask)
    return out.transpose(1, 2).reshape(b, t, d) @ w_output.T
