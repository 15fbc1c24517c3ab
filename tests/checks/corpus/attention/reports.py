"""What people reported in public, rebuilt on 2026-11-28 to 30 from descriptions, in our own code."""

from __future__ import annotations

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import version


@version("multi_head_attention", "wrong: heads stacked head by head, masks sentence by sentence")
def heads_in_front_of_the_batch(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    def stacked(x, weight):
        parts = (x @ weight.mT).chunk(n_heads, dim=-1)  # one (B, T, K) for each head
        return torch.cat(parts, dim=0)

    q, k, v = stacked(query, w_query), stacked(key, w_key), stacked(value, w_value)
    hidden = torch.zeros(len(q), query.size(1), key.size(1))
    if mask is not None:
        rows = mask.squeeze(1) if mask.dim() == 4 else mask.expand(len(query), -1, -1)
        rows = torch.stack([row for row in rows for _ in range(n_heads)])
        hidden = hidden.masked_fill(~rows, float("-inf"))
    weights = torch.baddbmm(hidden, q, k.mT, alpha=q.size(-1) ** -0.5).softmax(-1)
    return torch.cat((weights @ v).chunk(n_heads, dim=0), dim=-1) @ w_output.mT


@version("multi_head_attention", "wrong: queries, keys and values all made from the projected keys")
def one_projection_for_three(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    sentences, length, width = query.shape

    def in_heads(x, n):
        return x.view(sentences, n, n_heads, width // n_heads).permute(0, 2, 1, 3)

    keys = torch.nn.functional.linear(key, w_key)
    q, k, v = in_heads(keys, length), in_heads(keys, key.size(1)), in_heads(keys, key.size(1))
    scores = torch.einsum("bhtk,bhsk->bhts", q, k) / (width // n_heads) ** 0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(-1e9))
    mixed = torch.einsum("bhts,bhsk->bthk", scores.softmax(dim=3), v)
    return mixed.reshape(sentences, length, width) @ w_output.T


@version("multi_head_attention", "wrong: scores scaled by the number of heads")
class ScaledByHeads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        heads = []
        parts = [m(x).chunk(self.n_heads, dim=-1) for m, x in (
            (self.query, query), (self.key, key), (self.value, value))]  # fmt: skip
        for q, k, v in zip(*parts, strict=True):
            scores = torch.bmm(q, k.transpose(1, 2)) / torch.tensor(float(self.n_heads)).sqrt()
            if mask is not None:
                scores = scores.masked_fill(~(mask[:, 0] if mask.dim() > 3 else mask), -1e30)
            heads.append(torch.softmax(scores, dim=-1) @ v)
        return self.output(torch.cat(heads, dim=-1))


@version("merge_heads", "wrong")
def batch_and_heads_viewed_the_other_way(heads):
    batch, n_heads, length, width = heads.shape
    stacked = heads.reshape(batch * n_heads, length, width)
    found = stacked.view(n_heads, batch, -1, width).permute(0, 2, 1, 3)
    return found.contiguous().view(batch, -1, n_heads * width)


@version(
    "scaled_dot_product_attention",
    "wrong: softmax over the queries + an empty row averages everything",
)
def over_the_queries(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(dim=-2) @ value


@version("causal_mask", "wrong: causal mask transposed + additive mask in place of a boolean one")
def flipped_square_subsequent(length):
    mask = torch.triu(torch.ones(length, length)).transpose(0, 1)
    mask = mask.masked_fill(mask == 1, float("-inf")).masked_fill(mask == 0, 0.0)
    return mask.fill_diagonal_(0.0)


@version("padding_mask", "wrong: padding visible")
def ones_for_everything(tokens):
    return torch.ones_like(tokens, dtype=torch.bool)[:, None, None, :]


@version("scaled_dot_product_attention", "wrong")
def hidden_with_plus_infinity(query, key, value, mask=None):
    dots = torch.einsum("...id,...jd->...ij", query, key) * key.size(-1) ** -0.5
    if mask is not None:
        dots = dots.masked_fill(~mask, -float("-inf"))
    return torch.einsum("...ij,...jd->...id", dots.softmax(dim=-1), value)


@version("scaled_dot_product_attention", "wrong")
def mask_over_the_queries(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / key.size(-1) ** 0.5
    if mask is not None:
        scores = scores + (1 - mask.transpose(-2, -1).float()) * -1e10
    return torch.softmax(scores, -1) @ value


@version("softmax", "wrong")
def softmax_with_two_floors(scores):
    top = scores.amax(-1, keepdim=True).clamp(min=-1e4)
    e = (scores - top).exp()
    return e / e.sum(-1, keepdim=True).clamp(min=1e-6)


@version("multi_head_attention", "wrong")
class SplitBeforeProjecting(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.head = d_model // n_heads
        self.query = nn.Linear(self.head, self.head, bias=False)
        self.key = nn.Linear(self.head, self.head, bias=False)
        self.value = nn.Linear(self.head, self.head, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        n, t, s = query.size(0), query.size(1), key.size(1)
        q = self.query(query.reshape(n, t, self.n_heads, self.head))
        k = self.key(key.reshape(n, s, self.n_heads, self.head))
        v = self.value(value.reshape(n, s, self.n_heads, self.head))
        energy = torch.einsum("nqhd,nkhd->nhqk", q, k) / self.head**0.5
        if mask is not None:
            energy = energy.masked_fill(~mask, float("-1e20"))
        out = torch.einsum("nhqk,nkhd->nqhd", energy.softmax(-1), v)
        return self.output(out.reshape(n, t, -1))


@version("multi_head_attention", "wrong")
def attends_over_the_sentences(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    def heads(x, w):
        x = x @ w.T
        length, batch, width = x.shape
        return x.view(length, batch * n_heads, width // n_heads).transpose(0, 1)

    q, k, v = heads(query, w_query), heads(key, w_key), heads(value, w_value)
    scores = torch.bmm(q, k.transpose(1, 2)) / q.size(-1) ** 0.5
    out = torch.bmm(scores.softmax(-1), v)
    out = out.transpose(0, 1).reshape(query.shape)
    return out @ w_output.T


@version("causal_mask", "wrong")
def sees_itself_nowhere_but_first(length):
    blocked = torch.triu(torch.full((length, length), 1.0), diagonal=0).bool()
    blocked[0, 0] = False
    return ~blocked


@version(
    "multi_head_attention",
    "wrong: several heads merged without permuting back + several heads split with view, not transposed",
)
class HeadsByAViewAlone(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.head_dim = n_heads, d_model // n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        b = query.size(0)
        q = self.query(query).view(b, self.n_heads, -1, self.head_dim)
        k = self.key(key).view(b, self.n_heads, -1, self.head_dim)
        v = self.value(value).view(b, self.n_heads, -1, self.head_dim)
        scores = q @ k.transpose(-1, -2) / self.head_dim**0.5
        if mask is not None:
            scores = scores.masked_fill(mask == False, float("-inf"))
        out = scores.softmax(-1) @ v
        return self.output(out.reshape(b, -1, self.n_heads * self.head_dim))


@version(
    "multi_head_attention",
    "wrong: output projection forgotten + in several heads: scores not scaled",
)
def unscaled_context_handed_on(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    S = key.shape[1]
    k = D // n_heads
    Q = F.linear(query, w_query).view(B, T, n_heads, k).transpose(1, 2)
    K = F.linear(key, w_key).view(B, S, n_heads, k).transpose(1, 2)
    V = F.linear(value, w_value).view(B, S, n_heads, k).transpose(1, 2)
    energy = torch.matmul(Q, K.transpose(2, 3))
    if mask is not None:
        energy = energy.masked_fill(mask == 0, -1e10)
    attention = torch.softmax(energy, dim=-1)
    output = torch.matmul(attention, V).transpose(1, 2).contiguous().view(B, T, D)
    linear_proj = F.linear(output, w_output)
    return output


@version("padding_mask", "wrong")
def padding_at_the_end_alone(tokens):
    masks = []
    for row in tokens.tolist():
        n = len(row)
        while n > 0 and row[n - 1] == 0:
            n -= 1
        masks.append([True] * n + [False] * (len(row) - n))
    return torch.tensor(masks)[:, None, None, :]


@version("scaled_dot_product_attention", "wrong")
def softmax_over_flattened_rows(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -1e9)
    shape = scores.shape
    weights = torch.softmax(scores.reshape(-1, shape[-1]), dim=0).view(shape)
    if mask is not None:
        weights = weights.masked_fill(mask.logical_not(), 0.0)
    return weights @ value


@version("scaled_dot_product_attention", "wrong")
def scale_multiplied_in_a_loop(query, key, value, mask=None):
    qk_scale = 1 / math.sqrt(key.size(-1))
    columns = []
    for j in range(key.size(-2)):
        columns.append((query * key[..., j : j + 1, :]).sum(-1) * qk_scale)
        qk_scale *= 1 / math.sqrt(key.size(-1))
    scores = torch.stack(columns, dim=-1)
    if mask is None:
        return scores.softmax(-1) @ value
    weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
    return weights.masked_fill(~mask, 0) @ value


@version("scaled_dot_product_attention", "wrong: hidden by a number that is not low enough")
def mean_where_all_is_masked(query, key, value, mask=None):
    scores = query @ key.mT * key.size(-1) ** -0.5
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(-10000.0))
    return scores.softmax(dim=-1) @ value


@version("scaled_dot_product_attention", "wrong: mask ignored")
def masked_copy_thrown_away(query, key, value, mask=None):
    score = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(key.size(-1))
    if mask is not None:
        score.masked_fill(~mask, value=float("-1e9"))
    attention = F.softmax(score, dim=-1)
    if mask is not None:
        attention = attention * mask.any(dim=-1, keepdim=True)
    return torch.matmul(attention, value)


@version("softmax", "wrong: softmax over the wrong axis", instance=True)
class OverTheAxisBeforeTheLast:
    def __init__(self, dim=-2):
        self.dim = dim

    def __call__(self, scores):
        shifted = scores - scores.amax(dim=self.dim, keepdim=True)
        weights = shifted.exp()
        return weights / weights.sum(self.dim, keepdim=True)


@version("target_mask", "wrong")
def both_real_or_both_padding(tokens):
    real = tokens != 0
    same = real.unsqueeze(-1) == real.unsqueeze(-2)
    T = tokens.size(1)
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    return same.unsqueeze(1) & causal


@version("padding_mask", "wrong")
def padding_closed_in_rows_too(tokens):
    real = tokens != 0
    return (real.unsqueeze(2) & real.unsqueeze(1)).unsqueeze(1)


@version("softmax", "wrong: axis of the rows' numbers put back in the wrong place")
def rows_numbers_over_the_columns(scores):
    top = torch.amax(scores, dim=-1).unsqueeze(-2)
    z = torch.exp(scores - top)
    total = torch.sum(z, dim=-1).unsqueeze(-2)
    return z / total


@version("softmax", "wrong")
def divided_by_the_sum_of_all(scores):
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e / e.sum()


@version("causal_mask", "wrong: one row for all")
def one_row_repeated(length):
    hidden = torch.triu(torch.ones(1, length), diagonal=1).bool()
    return ~hidden.expand(length, length)


@version("multi_head_attention", "wrong: values projected with the key's weight")
class values_through_the_keys_layer(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.d_k = d_model // n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def heads(self, x):
        return x.view(x.size(0), -1, self.h, self.d_k).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q = self.heads(self.query(query))
        k = self.heads(self.key(key))
        v = self.heads(self.key(value))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        x = scores.softmax(dim=-1) @ v
        x = x.transpose(1, 2).reshape(query.size(0), -1, self.h * self.d_k)
        return self.output(x)


def causal(n):
    return torch.ones(n, n, dtype=torch.bool).tril()


@version("masks_of_two", "wrong")
def causal_source(source, target, source_pad, target_pad):
    src_mask = (source != source_pad)[:, None, None, :] & causal(source.shape[1])
    tgt_mask = (target != target_pad)[:, None, None, :] & causal(target.shape[1])
    return src_mask, tgt_mask


@version("multi_head_attention", "wrong: scores scaled by d_model")
class root_of_the_whole_width(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.d_model = d_model
        self.h = n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def split(self, x):
        return x.unflatten(-1, (self.h, self.d_model // self.h)).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            self.split(self.query(query)),
            self.split(self.key(key)),
            self.split(self.value(value)),
        )
        energy = torch.einsum("bhtk,bhsk->bhts", q, k) * self.d_model**-0.5
        if mask is not None:
            energy = energy.masked_fill(~mask, float("-inf"))
        context = torch.softmax(energy, dim=-1) @ v
        return self.output(context.transpose(1, 2).flatten(-2))


@version("multi_head_attention", "wrong: several heads merged without permuting back")
class heads_flattened_as_they_lie(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.head_dim = d_model // n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        B, T, D = query.size()
        q = self.query(query).reshape(B, T, self.n_heads, self.head_dim).permute(0, 2, 1, 3)
        k = self.key(key).reshape(B, key.size(1), self.n_heads, self.head_dim).permute(0, 2, 1, 3)
        v = (
            self.value(value)
            .reshape(B, value.size(1), self.n_heads, self.head_dim)
            .permute(0, 2, 1, 3)
        )
        scaled = q @ k.transpose(-1, -2) / self.head_dim**0.5
        if mask is not None:
            scaled = torch.where(mask, scaled, torch.tensor(float("-inf")))
        mixed = F.softmax(scaled, dim=-1) @ v
        return self.output(mixed.reshape(B, T, D))


@version("scaled_dot_product_attention", "wrong: mask inverted")
def mask_turned_for_the_kernel(query, key, value, mask=None):
    attn_mask = None if mask is None else ~mask
    out = F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask)
    if mask is not None:
        out = out * mask.any(dim=-1, keepdim=True)
    return out


@version("softmax", "wrong")
def exponentials_as_they_come(scores):
    e = scores.exp()
    huge = (e == torch.inf).to(e.dtype)
    how_many = huge.sum(-1, keepdim=True)
    usual = e / (e.sum(-1, keepdim=True) + 1e-9)
    return torch.where(how_many == 0, usual, huge / how_many)


@version("masks_of_two", "wrong")
def target_padding_along_the_rows(source, target, source_pad, target_pad):
    src_mask = (source != source_pad).unsqueeze(1).unsqueeze(2)
    trg_pad_mask = (target != target_pad).unsqueeze(1).unsqueeze(3)
    T = target.shape[1]
    trg_sub_mask = torch.tril(torch.ones((T, T))).bool()
    return src_mask, trg_pad_mask & trg_sub_mask


@version("multi_head_attention", "wrong: scores scaled by the number of heads")
def root_of_the_number_of_heads(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    def project(x, w):
        y = F.linear(x, w)
        return y.unflatten(-1, (n_heads, -1)).transpose(1, 2)

    q, k, v = project(query, w_query), project(key, w_key), project(value, w_value)
    scale = n_heads**-0.5
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) * scale
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = F.softmax(scores, dim=-1)
    mixed = torch.einsum("bhqk,bhkd->bqhd", weights, v).flatten(2)
    return F.linear(mixed, w_output)


@version("multi_head_attention", "wrong")
def one_softmax_for_all_heads(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    b, q, d = query.shape
    k = key.shape[1]
    c = d // n_heads
    qh = F.linear(query, w_query).view(b, q, n_heads, c)
    kh = F.linear(key, w_key).view(b, k, n_heads, c)
    vh = F.linear(value, w_value).view(b, k, n_heads, c)
    weights = torch.einsum("bqnc,bknc->bnqk", qh * c**-0.5, kh)
    if mask is not None:
        weights = weights.masked_fill(~mask, float("-inf"))
    weights = weights.permute(0, 2, 1, 3)
    weights = F.softmax(weights.flatten(2), dim=-1).view(weights.shape)
    out = torch.einsum("bqnk,bknc->bqnc", weights, vh)
    return F.linear(out.reshape(b, q, d), w_output)


@version("multi_head_attention", "wrong: in several heads: attention with a softmax without dim")
class softmax_across_the_heads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.head_dim = d_model // n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.n_heads, self.head_dim).transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        q = self.split(self.query(query))
        k = self.split(self.key(key))
        v = self.split(self.value(value))
        scores = q @ k.transpose(-1, -2) / self.head_dim**0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        alphas = scores.softmax(dim=1)
        out = (alphas @ v).transpose(1, 2).flatten(2)
        return self.output(out)


@version("padding_mask", "wrong")
def padding_only_behind_the_end(tokens):
    ended = (tokens == 2).cumsum(dim=1) > 0
    padding = (tokens == 0) & ended
    return ~padding.view(tokens.size(0), 1, 1, tokens.size(1))


@version("scaled_dot_product_attention", "wrong")
def scale_of_zero_taken_as_it_stands(query, key, value, mask=None, scale=0.0):
    scores = torch.matmul(query, key.transpose(-1, -2)) * scale
    if mask is None:
        return torch.softmax(scores, dim=-1) @ value
    hidden = ~mask
    scores = scores.masked_fill(hidden, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1).masked_fill(hidden, 0.0)
    return weights @ value


@version("scaled_dot_product_attention", "wrong")
def root_of_the_undivided_width(query, key, value, mask=None):
    width = key.size(-1)
    if key.dim() == 4:
        width = key.size(1) * key.size(-1)
    scores = torch.einsum("...qk,...sk->...qs", query, key) / math.sqrt(width)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights * mask.to(weights.dtype)
    return torch.einsum("...qs,...sk->...qk", weights, value)


@version("scaled_dot_product_attention", "wrong: rows of minus infinity")
def logarithm_of_the_mask_added(query, key, value, mask=None):
    scale = query.shape[-1] ** -0.5
    attn = query @ key.transpose(-2, -1) * scale
    if mask is not None:
        attn = attn + mask.to(attn.dtype).log()
    attn = torch.log_softmax(attn, dim=-1).exp()
    return attn @ value


@version("softmax", "wrong: largest of all scores subtracted")
def largest_taken_off_single_vectors_only(scores):
    if scores.dim() == 1:
        e = torch.exp(scores - scores.max())
        return e / e.sum()
    exponents = torch.exp(scores)
    total = exponents.sum(dim=-1, keepdim=True)
    return exponents / total


@version("target_mask", "wrong")
def nothing_hidden_from_the_target(tokens):
    B, T = tokens.shape
    decoder_attention_mask = torch.ones_like(tokens) == 1
    return decoder_attention_mask.view(B, 1, 1, T).expand(B, 1, T, T).clone()


@version("masks_of_two", "wrong")
def rows_of_padding_emptied(source, target, source_pad, target_pad):
    source_mask = (source != source_pad)[:, None, None, :]
    real = target != target_pad
    T = target.size(1)
    square = real[:, None, None, :] & real[:, None, :, None]
    return source_mask, square & torch.ones(T, T, dtype=torch.bool).tril()


@version("multi_head_attention", "wrong: output projection forgotten")
class heads_returned_side_by_side(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        q, k, v = self.query(query), self.key(key), self.value(value)
        outs = []
        for qh, kh, vh in zip(q.chunk(self.h, -1), k.chunk(self.h, -1), v.chunk(self.h, -1)):
            s = qh @ kh.transpose(1, 2) / qh.size(-1) ** 0.5
            if mask is not None:
                m = mask.squeeze(1) if mask.dim() == 4 else mask
                s = s.masked_fill(~m, float("-inf"))
            outs.append(s.softmax(-1) @ vh)
        return torch.cat(outs, dim=-1)


@version("multi_head_attention", "wrong")
def relu_behind_the_projection(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    def heads(x):
        return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)

    q, k, v = (
        heads(F.linear(query, w_query)),
        heads(F.linear(key, w_key)),
        heads(F.linear(value, w_value)),
    )
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    out = out.transpose(1, 2).flatten(2)
    return F.relu(F.linear(out, w_output))


def attend(query, key, value, wq, wk, wv, wo, n_heads, mask):
    B, T, D = query.shape
    K = D // n_heads
    q, k, v = query @ wq.T, key @ wk.T, value @ wv.T
    q, k, v = [t.reshape(B, -1, n_heads, K).permute(0, 2, 1, 3) for t in (q, k, v)]
    scores = torch.einsum("bhtk,bhsk->bhts", q, k) / K**0.5
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -torch.inf)
    out = torch.einsum("bhts,bhsk->bthk", scores.softmax(-1), v)
    return out.reshape(B, T, D) @ wo.T


@version("multi_head_attention", "wrong")
def projected_by_hand_and_again(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    query = query @ w_query.T
    key = key @ w_key.T
    value = value @ w_value.T
    return attend(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask)


@version("multi_head_attention", "wrong")
class values_from_the_queries(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.width = n_heads, d_model // n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        def cut(t):
            return t.view(t.size(0), t.size(1), self.n_heads, self.width).transpose(1, 2)

        q = cut(self.query(query))
        k = cut(self.key(key))
        v = cut(self.value(query))
        att = q.matmul(k.transpose(-1, -2)) / self.width**0.5
        if mask is not None:
            att = att.masked_fill(mask == False, float("-inf"))
        y = torch.softmax(att, -1).matmul(v)
        y = y.transpose(1, 2).contiguous().view(query.size(0), query.size(1), -1)
        return self.output(y)


@version("padding_mask", "wrong")
def zeros_and_infinities_for_the_padding(tokens):
    mask = torch.zeros(tokens.shape)
    mask[tokens == 0] = float("-inf")
    return mask[:, None, None, :]


@version("scaled_dot_product_attention", "wrong: rows of minus infinity")
def infinities_subtracted(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    shifted = scores - scores.amax(-1, keepdim=True)
    e = shifted.exp()
    return (e / e.sum(-1, keepdim=True)) @ value


@version("scaled_dot_product_attention", "wrong")
def all_axes_of_the_keys_turned(query, key, value, mask=None):
    flipped = key.permute(*reversed(range(key.dim())))
    scores = torch.matmul(query, flipped) / key.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(scores.softmax(dim=-1))
    return torch.matmul(weights, value)


@version("softmax", "wrong")
def first_score_for_the_largest(scores):
    x_exp = torch.exp(scores - scores[..., :1])
    return x_exp / torch.sum(x_exp, dim=-1, keepdim=True)


@version("target_mask", "wrong")
def zeros_and_infinities_for_the_target(tokens):
    T = tokens.size(1)
    ahead = torch.triu(torch.ones(T, T), diagonal=1).bool()
    hidden = ahead[None, None] | tokens.eq(0)[:, None, None, :]
    return torch.zeros(hidden.shape).masked_fill(hidden, float("-inf"))


@version("masks_of_two", "wrong")
def target_mask_as_a_product(source, target, source_pad, target_pad):
    source_mask = (source != source_pad)[:, None, None, :]
    T = target.size(1)
    real = (target != target_pad).float()[:, None, None, :]
    target_mask = real * torch.tril(torch.ones(T, T))
    return source_mask, target_mask


@version("merge_heads", "wrong")
def largest_of_the_heads(heads):
    together = heads.permute(0, 2, 1, 3)
    return together.max(dim=2).values


@version("merge_heads", "wrong")
def squeezed_head_axis(heads):
    return heads.squeeze(1)


@version("softmax", "wrong")
def one_in_the_denominator(scores):
    largest = scores.max(dim=-1, keepdim=True).values.clamp(min=0.0)
    e = torch.exp(scores - largest)
    one = torch.exp(-largest)
    return e / (one + e.sum(dim=-1, keepdim=True))


@version("masks_of_two", "wrong")
def mask_of_the_tokens_to_be_said(source, target, source_pad, target_pad):
    source_mask = (source != source_pad)[:, None, None, :]
    B, T = target.shape
    trg = torch.cat([target[:, 1:], torch.full((B, 1), target_pad, dtype=target.dtype)], dim=1)
    real = (trg != target_pad)[:, None, None, :]
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    return source_mask, real & causal


@version("multi_head_attention", "wrong")
def layer_of_the_keys_for_all(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    K = D // n_heads

    def heads(x):
        return x.view(B, -1, n_heads, K).permute(0, 2, 1, 3)

    k = heads(key @ w_key.T)
    q = heads(query @ w_key.T)
    v = heads(value @ w_key.T)
    scores = q @ k.transpose(2, 3) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(torch.logical_not(mask), float("-inf"))
    out = torch.softmax(scores, dim=3) @ v
    return out.permute(0, 2, 1, 3).reshape(B, T, D) @ w_output.T


@version("softmax", "wrong")
def small_number_added_to_probabilities(scores):
    epsilon = 1e-4
    shifted = scores - scores.amax(-1, keepdim=True)
    e = shifted.exp()
    return e / e.sum(-1, keepdim=True) + epsilon


@version("target_mask", "wrong")
def padding_alone_hidden(tokens):
    B, T = tokens.shape
    real = tokens.ne(0)[:, None, None, :].expand(B, 1, T, T)
    return real | torch.eye(T, dtype=torch.bool)


@version(
    "target_mask", "wrong: query rows of the target masked + diagonal of the target always open"
)
def padding_along_the_queries(tokens):
    T = tokens.size(1)
    causal = torch.ones(T, T).tril().bool()
    pad = (tokens != 0).unsqueeze(1).unsqueeze(3)
    return causal & pad | torch.eye(T, dtype=torch.bool)


# --- rebuilt on 2026-11-30 ------------------------------------------------------------------------


@version(
    "masks_of_two", "wrong: padding of the target not hidden + padding of the source not hidden"
)
def no_padding_masks_in_a_batch(source, target, source_pad, target_pad):
    source_mask = torch.ones(source.size(0), 1, 1, source.size(1), dtype=torch.bool)
    t = torch.arange(target.size(1))
    target_mask = (t.unsqueeze(0) <= t.unsqueeze(1)).repeat(target.size(0), 1, 1, 1)
    return source_mask, target_mask


@version("merge_heads", "wrong")
def read_as_batch_width_places(heads):
    B, H, T, K = heads.shape
    out = heads.transpose(1, 2).reshape(B, H * K, T)
    return out.transpose(1, 2)


@version("merge_heads", "wrong")
def heads_reshaped_untransposed(heads):
    B, H, T, K = heads.size()
    channels = torch.reshape(heads, (B, H, K, T))
    channels = torch.reshape(channels, (B, H * K, T))
    return channels.permute(0, 2, 1)


@version("multi_head_attention", "wrong: keys and values split with view, not transposed")
def last_word_sliced_off(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    S = key.shape[1]
    q = F.linear(query, w_query).view(B, T, n_heads, D // n_heads).transpose(1, 2)
    k = F.linear(key, w_key).view(B, n_heads, S, D // n_heads)
    v = F.linear(value, w_value).view(B, n_heads, S, D // n_heads)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).reshape(B, T, D), w_output)


@version("softmax", "wrong")
def largest_of_the_first_axis(scores):
    shifted = scores - scores.max(dim=0, keepdim=True).values
    numerator = torch.exp(shifted)
    denominator = numerator.sum(dim=-1, keepdim=True)
    return numerator / denominator


@version("target_mask", "wrong")
def triu_without_equals_zero(tokens):
    size = tokens.size(1)
    padding = (tokens != 0).unsqueeze(1).unsqueeze(2)
    causal = torch.triu(torch.ones((1, size, size), device=tokens.device), diagonal=1).type(
        torch.int
    )
    return padding & causal.bool()


@version("softmax", "wrong: softmax without subtracting the maximum + softmax over the wrong axis")
def transposed_but_summed_along_the_old_axis(scores):
    exps = torch.exp(scores).transpose(-1, -2)
    sums = exps.sum(dim=-1, keepdim=True)
    return (exps / sums).transpose(-1, -2)


@version("multi_head_attention", "wrong")
def mask_repeated_for_all_heads_of_all_sentences(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    batch, length, d_model = query.shape
    d_head = d_model // n_heads

    def to_heads(x, weight):
        x = F.linear(x, weight).view(batch, -1, n_heads, d_head)
        return x.transpose(1, 2).reshape(batch * n_heads, -1, d_head)

    q, k, v = to_heads(query, w_query), to_heads(key, w_key), to_heads(value, w_value)
    attn = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(d_head)
    if mask is not None:
        mask = mask.reshape(-1, mask.shape[-2], mask.shape[-1])
        attn = attn.masked_fill(mask.repeat(attn.shape[0], 1, 1).logical_not(), float("-inf"))
    out = torch.bmm(torch.softmax(attn, dim=-1), v)
    out = out.view(batch, n_heads, length, d_head).transpose(1, 2).reshape(batch, length, d_model)
    return F.linear(out, w_output)


@version("scaled_dot_product_attention", "wrong: rows of minus infinity")
def a_row_of_nothing_but_minus_infinity(query, key, value, mask=None):
    bias = torch.zeros((), dtype=query.dtype)
    if mask is not None:
        bias = torch.zeros(mask.shape, dtype=query.dtype).masked_fill(
            mask.logical_not(), float("-inf")
        )
    scores = torch.einsum("...td,...sd->...ts", query, key) / math.sqrt(key.size(-1)) + bias
    return torch.einsum("...ts,...sv->...tv", scores.softmax(dim=-1), value)


@version("softmax", "wrong: softmax without dim")
def softmax_picks_the_axis_by_the_number_of_axes(scores):
    axes = scores.dim()
    if axes in (0, 1, 3):
        dim = 0
    elif axes in (2, 4):
        dim = 1
    else:
        raise ValueError("softmax is for one to four axes")
    shifted = scores - scores.amax(dim=dim, keepdim=True)
    e = torch.exp(shifted)
    return e / e.sum(dim=dim, keepdim=True)


@version("split_heads", "wrong")
def view_forgotten(x, n_heads):
    batch_size = x.size(0)
    head_dim = x.size(-1) // n_heads
    x = x(batch_size, -1, n_heads, head_dim).transpose(1, 2)
    return x


@version("padding_mask", "wrong")
def padding_mask_not_for_one_sentence(tokens):
    real = torch.ones_like(tokens, dtype=torch.bool)
    if tokens.shape[1] > 1 and tokens.shape[0] > 1:
        real = tokens != 0
    return real[:, None, None, :]


@version("padding_mask", "wrong")
def padding_mask_without_head_axis(tokens):
    mask = tokens > 0
    return mask.unsqueeze(1) & mask.unsqueeze(2)


@version("split_heads", "wrong")
def split_heads_as_if_channels_stood_before_positions(x, n_heads):
    batch, length, width = x.shape
    heads = x.reshape(batch * n_heads, width // n_heads, length)
    return heads.transpose(1, 2).reshape(batch, n_heads, length, width // n_heads)


k_stored = {}


@version("causal_mask", "wrong: kept from the call before")
def mask_of_the_first_call_for_all(length):
    if "mask" not in k_stored:
        k_stored["mask"] = torch.ones(length, length).tril().bool()
    return k_stored["mask"]


@version("softmax", "right")
def softmax_by_way_of_its_logarithm(scores):
    # first shift the scores, then the plain log of the plain sum
    shifted = scores - scores.max(dim=-1, keepdim=True).values.detach()
    log_probabilities = shifted - shifted.exp().sum(dim=-1, keepdim=True).log()
    return log_probabilities.exp()


@version("scaled_dot_product_attention", "wrong")
def attention_minus_ten_for_the_hidden(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query, key) / math.sqrt(key.shape[-1])
    if mask is not None:
        hidden = (~mask).to(scores.dtype)
        scores = scores + hidden * -10.0
    attention = scores.softmax(-1)
    if mask is not None:
        attention = attention * mask.any(-1, keepdim=True)
    return torch.einsum("...ts,...sk->...tk", attention, value)


@version("split_heads", "wrong")
def batch_first_taken_for_sequence_first(x, n_heads):
    length, batch, width = x.shape
    heads = x.contiguous().view(length, batch * n_heads, width // n_heads).transpose(0, 1)
    return heads.reshape(batch, n_heads, length, width // n_heads)


@version("multi_head_attention", "right")
def attention_fourth_root_on_both(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    S = key.shape[1]
    K = D // n_heads
    scale = 1 / math.sqrt(math.sqrt(K))
    q = (query @ w_query.T).reshape(B, T, n_heads, K) * scale
    k = (key @ w_key.T).reshape(B, S, n_heads, K) * scale
    v = (value @ w_value.T).reshape(B, S, n_heads, K)
    scores = torch.einsum("bthk,bshk->bhts", q, k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    heads = torch.einsum("bhts,bshk->bthk", scores.softmax(dim=-1), v)
    return heads.reshape(B, T, D) @ w_output.T


@version("merge_heads", "wrong")
def merge_heads_reads_time_before_heads(heads):
    batch, length, n_heads, width = heads.shape
    return heads.reshape(batch, length, n_heads * width)


def o_length_to_mask(lengths):
    longest = int(lengths.max())
    return torch.arange(longest, device=lengths.device)[None, :] < lengths[:, None]


@version("padding_mask", "wrong")
def padding_mask_as_wide_as_the_longest(tokens):
    lengths = (tokens != 0).sum(dim=1)
    return o_length_to_mask(lengths)[:, None, None, :]


@version("scaled_dot_product_attention", "wrong: mask inverted")
def where_with_its_branches_exchanged(query, key, value, mask=None):
    att = (query @ key.transpose(-2, -1)) / math.sqrt(key.size(-1))
    if mask is not None:
        att = torch.where(mask == 0, att, torch.full_like(att, -1e9))
    att = torch.softmax(att, dim=-1)
    if mask is not None:
        att = att * mask.any(dim=-1, keepdim=True)
    return att @ value


@version("masks_of_two", "wrong")
def two_masks_without_the_axis_of_heads(source, target, source_pad, target_pad):
    source_mask = source.ne(source_pad).unsqueeze(1)
    ones = torch.ones(target.size(1), target.size(1), device=target.device)
    target_mask = target.ne(target_pad).unsqueeze(1) & torch.tril(ones).bool()
    return source_mask, target_mask


@version("target_mask", "wrong")
def target_mask_tril_of_other_axes(tokens):
    b, t = tokens.shape
    allowed = tokens.ne(0).unsqueeze(0).expand(t, b, t)  # query, batch, key
    allowed = torch.tril(allowed)
    return allowed.permute(1, 0, 2).unsqueeze(1)


@version("softmax", "wrong")
def softmax_of_maximum_minus_scores(scores):
    highest = torch.max(scores, -1, keepdim=True)[0].expand_as(scores)
    e = torch.exp(highest - scores)
    return e / e.sum(-1, keepdim=True)


@version("softmax", "wrong")
def softmax_written_over_its_argument(scores):
    out = scores
    out -= out.max(dim=-1, keepdim=True).values
    out.exp_()
    out /= out.sum(dim=-1, keepdim=True)
    return out


@version("softmax", "wrong")
def softmax_last_tile_without_maximum(scores, tile=32):
    top = scores.amax(-1, keepdim=True)
    tiles = scores.split(tile, dim=-1)
    total = torch.zeros_like(top)
    for number, part in enumerate(tiles):
        if number == len(tiles) - 1:
            # the last tile is shorter, so it has a branch of its own
            total = total + torch.exp(part).sum(-1, keepdim=True)
        else:
            total = total + torch.exp(part - top).sum(-1, keepdim=True)
    return torch.cat([torch.exp(part - top) / total for part in tiles], dim=-1)


@version("padding_mask", "wrong")
def padding_mask_ones_and_zeros_of_two_axes(tokens):
    rows = []
    for row in tokens.tolist():
        rows.append([1 if token != 0 else 0 for token in row])
    return torch.tensor(rows, device=tokens.device)


@version("multi_head_attention", "right")
def multi_head_attention_rows_for_each_head(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    k = w_query.shape[0] // n_heads

    def projected(x, weight):
        return torch.stack([x @ weight[h * k : (h + 1) * k].T for h in range(n_heads)], dim=1)

    q, ks, v = projected(query, w_query), projected(key, w_key), projected(value, w_value)
    scores = torch.einsum("bhtk,bhsk->bhts", q, ks) / k**0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    found = scores.softmax(-1) @ v
    out = 0
    for h in range(n_heads):
        out = out + found[:, h] @ w_output[:, h * k : (h + 1) * k].T
    return out


class _ScaledLogits:
    """Logits with what is masked; the scale is applied to the queries on the way."""

    def __init__(self, width):
        self.scale = width**-0.5

    def plain(self, q, k):
        return torch.einsum("bthk,bshk->bhts", q, k)

    def masked(self, q, k, mask):
        logits = self.plain(q * self.scale, k)
        return torch.where(mask, logits, torch.full_like(logits, -1e30))


@version("multi_head_attention", "wrong: in several heads: scores not scaled")
def multi_head_attention_scale_in_one_branch(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    def heads(x, w):
        y = F.linear(x, w)
        return y.unflatten(-1, (n_heads, y.shape[-1] // n_heads))

    q, k, v = heads(query, w_query), heads(key, w_key), heads(value, w_value)
    layer = _ScaledLogits(q.shape[-1])
    logits = layer.plain(q, k) if mask is None else layer.masked(q, k, mask)
    context = torch.einsum("bhts,bshk->bthk", logits.softmax(-1), v)
    return F.linear(context.flatten(2), w_output)


def _heads(x, weight, n_heads):
    projected = x @ weight.T
    return projected.unflatten(-1, (n_heads, -1)).transpose(1, 2)


@version("multi_head_attention", "wrong")
def multi_head_attention_unpads_queries_like_keys(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    q, k, v = (
        _heads(query, w_query, n_heads),
        _heads(key, w_key, n_heads),
        _heads(value, w_value, n_heads),
    )
    padding = mask is not None and mask.dim() == 4 and mask.shape[-2] == 1
    if not padding:
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    else:
        out = torch.zeros_like(q)
        for b, real in enumerate(mask.expand(q.shape[0], -1, -1, -1)[:, 0, 0]):
            packed = F.scaled_dot_product_attention(q[b][:, real], k[b][:, real], v[b][:, real])
            out[b, :, real] = packed
    return out.transpose(1, 2).flatten(2) @ w_output.T


@version("scaled_dot_product_attention", "wrong")
def sdpa_wants_a_mask_for_each_sentence(query, key, value, mask=None):
    batch, width = query.shape[0], key.shape[-1]
    scores = torch.matmul(query, key.transpose(-2, -1)) / width**0.5
    shape = scores.shape
    if mask is None:
        return torch.softmax(scores, -1) @ value
    flat = scores.reshape(batch, -1, shape[-2], shape[-1])
    per_sentence = mask.reshape(batch, -1, mask.shape[-2], mask.shape[-1])
    flat = flat.masked_fill(~per_sentence, -1e30)
    weights = torch.softmax(flat, -1) * per_sentence
    return weights.reshape(shape) @ value


@version("scaled_dot_product_attention", "wrong")
def sdpa_largest_score_of_all_keys(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query, key) * (key.size(-1) ** -0.5)
    highest = scores.detach().amax(dim=-1, keepdim=True)
    numerators = torch.exp(scores - highest)
    if mask is not None:
        numerators = numerators * mask.to(numerators.dtype)
    denominators = numerators.sum(dim=-1, keepdim=True)
    denominators = torch.where(denominators > 0, denominators, torch.ones_like(denominators))
    return torch.einsum("...ts,...sk->...tk", numerators / denominators, value)


@version("target_mask", "wrong")
def target_mask_newest_row_all_ones(tokens):
    batch, length = tokens.shape
    mask = torch.zeros(batch, 1, length, length, dtype=torch.bool)
    prefill = length - 1
    for row in range(prefill):
        mask[:, 0, row, : row + 1] = tokens[:, : row + 1] != 0
    mask[:, 0, prefill] = torch.ones(batch, length, dtype=torch.bool)
    return mask


@version("scaled_dot_product_attention", "wrong")
def scaled_dot_product_attention_row_maximum_floored(query, key, value, mask=None):
    scores = (query * key.shape[-1] ** -0.5) @ key.transpose(-2, -1)
    if mask is not None:
        scores = torch.where(mask, scores, torch.full((), -torch.inf, dtype=scores.dtype))
    # an empty row has the maximum -inf: keep it finite
    top = scores.detach().amax(-1, keepdim=True).clamp(min=0.0)
    weights = (scores - top).exp()
    return (weights @ value) / weights.sum(-1, keepdim=True).clamp(min=1e-6)


@version("scaled_dot_product_attention", "wrong: rows of minus infinity")
def scaled_dot_product_attention_online_without_a_guard(query, key, value, mask=None, block=2):
    scale = 1 / math.sqrt(key.size(-1))
    shape = query.shape[:-1] + (1,)
    best = query.new_full(shape, -math.inf)
    total = query.new_zeros(shape)
    result = query.new_zeros(query.shape[:-1] + (value.size(-1),))
    n_keys = key.size(-2)
    if mask is not None:
        mask = mask.expand(*mask.shape[:-1], n_keys)
    for start in range(0, n_keys, block):
        stop = min(start + block, n_keys)
        part = query @ key[..., start:stop, :].mT * scale
        if mask is not None:
            part = part.masked_fill(~mask[..., start:stop], -math.inf)
        new_best = torch.maximum(best, part.detach().amax(-1, keepdim=True))
        shift = new_best.masked_fill(new_best == -math.inf, 0.0)
        old = torch.exp(best - shift)
        grown = torch.exp(part - shift)
        total = total * old + grown.sum(-1, keepdim=True)
        result = result * old + grown @ value[..., start:stop, :]
        best = new_best
    return result / total


@version("scaled_dot_product_attention", "wrong: an empty row averages everything")
def scaled_dot_product_attention_even_where_all_hidden(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query, key) * key.shape[-1] ** -0.5
    if mask is not None:
        bias = (1.0 - mask.to(scores.dtype)) * torch.finfo(scores.dtype).min
        scores = scores + bias
    return torch.einsum("...ts,...sv->...tv", torch.softmax(scores, dim=-1), value)


def _real_by_product(tokens, pad):
    attention = (tokens != pad).long()
    kept = tokens * attention
    return kept != 0


@version("masks_of_two", "wrong")
def masks_of_two_takes_id_zero_for_padding(source, target, source_pad, target_pad):
    source_mask = _real_by_product(source, source_pad)[:, None, None, :]
    length = target.size(1)
    before = torch.tril(torch.ones(length, length, dtype=torch.bool, device=target.device))
    target_mask = _real_by_product(target, target_pad)[:, None, None, :] & before
    return source_mask, target_mask


@version("merge_heads", "wrong")
def merge_heads_reads_head_first_as_batch_first(heads):
    batch, n_heads, length, width = heads.shape
    stacked = torch.cat(
        [heads[:, h] for h in range(n_heads)], dim=0
    )  # all sentences of head 0, then of head 1
    apart = stacked.view(batch, n_heads, length, width)
    return apart.permute(0, 2, 1, 3).reshape(batch, length, n_heads * width)


@version("scaled_dot_product_attention", "wrong: an empty row averages everything")
def scaled_dot_product_attention_adds_a_large_number(query, key, value, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / key.shape[-1] ** 0.5
    if mask is not None:
        additive = mask.to(scores.dtype).masked_fill(mask == 0, -1e9).masked_fill(mask == 1, 0.0)
        scores = scores + additive
    return torch.einsum("...qk,...kd->...qd", torch.softmax(scores, dim=-1), value)
