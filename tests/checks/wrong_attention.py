"""Chapters 6 to 9, as beginners get them wrong: softmax, attention, masks, heads."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.wrong_versions import wrong

# --- softmax -------------------------------------------------------------------------------------


@wrong("softmax", "softmax without subtracting the maximum")
def softmax_as_in_the_formula(scores):
    e = torch.exp(scores)
    return e / e.sum(dim=-1, keepdim=True)


@wrong("softmax", "softmax without subtracting the maximum")
def softmax_in_numpy(scores):
    with np.errstate(all="ignore"):
        numbers = np.exp(scores.detach().numpy())
        return torch.from_numpy(numbers / numbers.sum(axis=-1)[..., None])


@wrong("softmax", "softmax over the wrong axis")
def softmax_of_columns(scores):
    if scores.dim() == 1:
        return scores.softmax(0)
    return torch.softmax(scores, dim=-2)


@wrong("softmax", "softmax over the first of several axes")
def softmax_first_axis(scores):
    return F.softmax(scores, dim=0)


@wrong("softmax", "softmax over the wrong axis")
def softmax_second_axis(scores):
    e = torch.exp(scores - scores.max())
    if scores.dim() < 3:
        return e / e.sum(dim=0)
    return e / e.sum(dim=-2, keepdim=True)


@wrong("softmax", "softmax over everything")
def softmax_of_all_numbers(scores):
    e = torch.exp(scores - torch.max(scores))
    return e / torch.sum(e)


@wrong("softmax", "softmax over everything")
def softmax_flattened(scores):
    flat = scores.reshape(-1)
    return nn.Softmax(dim=0)(flat).reshape(scores.shape)


@wrong("softmax", "exponentials never divided")
def softmax_without_a_sum(scores):
    largest, _ = scores.max(dim=-1, keepdim=True)
    return torch.exp(scores - largest)


@wrong("softmax", "exponentials never divided")
def softmax_half_written(scores):
    scores = scores - scores.max(-1).values.unsqueeze(-1)
    numerator = math.e**scores
    denominator = numerator.sum(-1)  # noqa: F841
    return numerator


@wrong("softmax", "log-softmax in place of softmax")
def softmax_logged(scores):
    return F.log_softmax(scores, dim=-1)


@wrong("softmax", "log-softmax in place of softmax")
class LogOfSoftmax(nn.Module):
    def forward(self, scores):
        return scores - torch.logsumexp(scores, -1, keepdim=True)


# --- attention -----------------------------------------------------------------------------------

ATT = "scaled_dot_product_attention"


@wrong(ATT, "scores not scaled")
def att_unscaled(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query, key)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -1e30)
        p = F.softmax(scores, dim=-1) * mask
    else:
        p = F.softmax(scores, dim=-1)
    return torch.einsum("...ts,...sd->...td", p, value)


@wrong(ATT, "scores not scaled")
def att_scale_one(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)


@wrong(ATT, "scores divided by d_k without the root")
def att_by_dk(query, key, value, mask=None):
    d_k = key.shape[-1]
    attn = query.matmul(key.mT) / d_k
    if mask is None:
        return attn.softmax(-1).matmul(value)
    attn = torch.where(mask, attn, torch.tensor(float("-inf")))
    attn = torch.nan_to_num(attn.softmax(-1))
    return attn.matmul(value)


@wrong(ATT, "scores divided by d_k without the root")
def att_by_dk_ready_made(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, mask, scale=1 / query.size(-1))


@wrong(ATT, "scores multiplied by the root of d_k")
def att_times_root(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) * query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1).nan_to_num(0.0)
    return weights @ value


@wrong(ATT, "scores multiplied by the root of d_k")
def att_brackets_wrong(query, key, value, mask=None):
    d = query.shape[-1]
    # 1 / d ** -0.5 is the root of d again
    return F.scaled_dot_product_attention(query, key, value, mask, scale=1 / d**-0.5)


@wrong(ATT, "scores divided by the root of the number of queries")
def att_root_of_length(query, key, value, mask=None):
    seq_len = query.size(-2)
    s = query @ key.transpose(-2, -1) / math.sqrt(seq_len)
    if mask is not None:
        s[~mask.expand_as(s)] = -1e9
    w = torch.softmax(s, dim=-1)
    if mask is not None:
        w = w * mask
    return w @ value


@wrong(ATT, "scores divided by the root of the number of queries")
def att_root_of_len(query, key, value, mask=None):
    t, _ = query.shape[-2:]
    return F.scaled_dot_product_attention(query / t**0.5, key, value, mask, scale=1)


@wrong(ATT, "weights scaled after the softmax")
def att_scaled_late(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(torch.float32).min)
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0)
    weights = weights / math.sqrt(query.shape[-1])
    return weights @ value


@wrong(ATT, "weights scaled after the softmax")
def att_output_scaled(query, key, value, mask=None):
    out = F.scaled_dot_product_attention(query, key, value, mask, scale=1.0)
    return out * query.shape[-1] ** -0.5


@wrong(ATT, "softmax over the queries")
def att_softmax_queries(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    attn = torch.softmax(scores, dim=-2)
    if mask is not None:
        attn = attn * mask
    return attn @ value


@wrong(ATT, "softmax over the queries")
def att_transposed_einsum(query, key, value, mask=None):
    # (S, T): keys in rows
    scores = torch.einsum("...sd,...td->...st", key, query) / query.size(-1) ** 0.5
    if mask is not None:
        mask = mask.expand(*scores.shape[:-2], scores.size(-1), scores.size(-2)).mT
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(scores.softmax(dim=-1))
    return torch.einsum("...st,...sd->...td", weights, value)


@wrong(ATT, "softmax over the queries")
class AttentionOverQueries(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-2)

    def forward(self, query, key, value, mask=None):
        attn = query @ key.mT / query.size(-1) ** 0.5
        if mask is not None:
            attn = attn.masked_fill(~mask, float("-inf"))
        return self.softmax(attn) @ value


@wrong(ATT, "softmax over the first axis")
def att_dim_0(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return F.softmax(scores, 0) @ value


@wrong(ATT, "softmax over the first axis")
def att_dim_0_clean(query, key, value, mask=None):
    scores = torch.matmul(query, key.mT) * (query.size(-1) ** -0.5)
    if mask is not None:
        scores = torch.where(mask, scores, -3e38)
    e = (scores - scores.max(0).values).exp()
    weights = e / e.sum(0)
    if mask is not None:
        weights = torch.where(mask, weights, 0.0)
    return torch.matmul(weights, value)


@wrong(ATT, "no softmax")
def att_no_softmax(query, key, value, mask=None):
    weights = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        weights = weights * mask
    return weights @ value


@wrong(ATT, "no softmax")
def att_no_softmax_linear(query, key, value, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", query, key) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, 0)
    return torch.einsum("...qk,...kd->...qd", scores, value)


@wrong(ATT, "attention with an overflowing softmax")
def att_exp(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    e = scores.exp()
    if mask is not None:
        e = e * mask
    return e / e.sum(-1, keepdim=True) @ value


@wrong(ATT, "attention with an overflowing softmax")
def att_exp_masked_before(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    e = torch.exp(scores)
    weights = e / e.sum(dim=-1, keepdim=True)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ value


@wrong(ATT, "mask inverted")
def att_inverted_ready_made(query, key, value, mask=None):
    if mask is not None:
        mask = ~mask
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


@wrong(ATT, "mask inverted")
def att_fill_where_true(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value


@wrong(ATT, "mask inverted")
def att_fill_where_true_1e9(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 1, -1e9)
    return torch.softmax(scores, dim=-1) @ value


@wrong(ATT, "mask ignored")
def att_mask_unused(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value)


@wrong(ATT, "mask ignored")
def att_fill_thrown_away(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores.masked_fill(~mask, float("-inf"))  # gives a new tensor; nobody keeps it
    return scores.softmax(-1) @ value


@wrong(ATT, "mask applied after the softmax")
def att_mask_late(query, key, value, mask=None):
    weights = (query @ key.mT / math.sqrt(query.size(-1))).softmax(-1)
    if mask is not None:
        weights = weights * mask.float()
    return weights @ value


@wrong(ATT, "mask applied after the softmax")
class AttentionMaskedLate(nn.Module):
    def forward(self, query, key, value, mask=None):
        probs = nn.Softmax(-1)(torch.einsum("...td,...sd->...ts", query, key) / key.size(-1) ** 0.5)
        if mask is not None:
            probs = probs.masked_fill(mask.logical_not(), 0.0)
        return torch.einsum("...ts,...sv->...tv", probs, value)


@wrong(ATT, "hidden scores set to zero")
def att_scores_times_mask(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores * mask
    return scores.softmax(-1) @ value


@wrong(ATT, "hidden scores set to zero")
def att_fill_zero(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, 0)
    return F.softmax(scores, dim=-1) @ value


@wrong(ATT, "rows of minus infinity")
def att_minus_infinity(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value


@wrong(ATT, "rows of minus infinity")
def att_additive(query, key, value, mask=None):
    scores = torch.matmul(query, key.mT) / key.size(-1) ** 0.5
    if mask is not None:
        added = torch.zeros(mask.shape)
        added[mask == 0] = -np.inf
        scores = scores + added
    e = torch.exp(scores - scores.max(-1, keepdim=True)[0])
    return (e / e.sum(-1, keepdim=True)) @ value


@wrong(ATT, "an empty row averages everything")
def att_minus_1e9(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return torch.softmax(scores, dim=-1) @ value


@wrong(ATT, "an empty row averages everything")
def att_finfo(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query / query.size(-1) ** 0.5, key)
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    return nn.Softmax(dim=-1)(scores) @ value


@wrong(ATT, "keys averaged in place of values")
def att_keys(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, key, mask)


@wrong(ATT, "keys averaged in place of values")
def att_times_keys(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1).nan_to_num() @ key


@wrong(ATT, "scores of queries with queries")
def att_queries(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, query, value, mask)


@wrong(ATT, "scores of queries with queries")
def att_queries_by_hand(query, key, value, mask=None):
    scores = query @ query.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1).nan_to_num() @ value


@wrong(ATT, "scores of keys with keys")
def att_key_key(query, key, value, mask=None):
    return F.scaled_dot_product_attention(key, key, value, mask)


@wrong(ATT, "scores of keys with keys")
def att_key_key_by_hand(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", key, key) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1).nan_to_num() @ value


@wrong(ATT, "cosine in place of the dot product")
def att_cosine(query, key, value, mask=None):
    scores = F.cosine_similarity(query.unsqueeze(-2), key.unsqueeze(-3), dim=-1)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1).nan_to_num() @ value


@wrong(ATT, "cosine in place of the dot product")
def att_normalised(query, key, value, mask=None):
    query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)
    return F.scaled_dot_product_attention(query, key, value, mask)


# --- masks ---------------------------------------------------------------------------------------


@wrong("padding_mask", "padding mask inverted")
def padding_where_zero(tokens):
    return (tokens == 0).unsqueeze(1).unsqueeze(2)


@wrong("padding_mask", "padding mask inverted")
def padding_loops(tokens):
    batch, length = tokens.shape
    mask = torch.zeros(batch, 1, 1, length, dtype=torch.bool)
    for b in range(batch):
        for t in range(length):
            if tokens[b, t] == 0:
                mask[b, 0, 0, t] = True
    return mask


@wrong("padding_mask", "query rows masked")
def padding_rows(tokens):
    return (tokens != 0)[:, None, :, None]


@wrong("padding_mask", "query rows masked")
def padding_rows_unsqueezed(tokens):
    return tokens.ne(0).unsqueeze(1).unsqueeze(-1)


@wrong("padding_mask", "padding mask without its axis of heads")
def padding_three_axes(tokens):
    return (tokens != 0).unsqueeze(1)


@wrong("padding_mask", "padding mask without its axis of heads")
def padding_view(tokens):
    return (tokens > 0).view(tokens.shape[0], 1, tokens.shape[1])


@wrong("padding_mask", "padding mask without new axes")
def padding_two_axes(tokens):
    return tokens != 0


@wrong("padding_mask", "padding mask without new axes")
def padding_lists(tokens):
    return torch.tensor([[token != 0 for token in row] for row in tokens.tolist()])


@wrong("padding_mask", "token 1 taken for the padding")
def padding_is_one(tokens):
    pad_idx = 1
    return (tokens != pad_idx).unsqueeze(1).unsqueeze(2)


@wrong("padding_mask", "token 1 taken for the padding")
def padding_is_one_view(tokens):
    return torch.logical_not(torch.eq(tokens, 1)).view(len(tokens), 1, 1, -1)


@wrong("causal_mask", "causal mask transposed")
def causal_triu(length):
    return torch.triu(torch.ones(length, length)).bool()


@wrong("causal_mask", "causal mask transposed")
def causal_loops(length):
    rows = []
    for query in range(length):
        rows.append([])
        for key in range(length):
            rows[query].append(key >= query)
    return torch.tensor(rows)


@wrong("causal_mask", "diagonal hidden")
def causal_strict(length):
    return torch.ones(length, length, dtype=torch.bool).tril(diagonal=-1)


@wrong("causal_mask", "diagonal hidden")
def causal_less(length):
    places = torch.arange(length)
    return places[None, :] < places[:, None]


@wrong("causal_mask", "next token visible")
def causal_off_by_one(length):
    return torch.tril(torch.ones(length, length), diagonal=1) == 1


@wrong("causal_mask", "next token visible")
def causal_range(length):
    mask = torch.zeros(length, length).bool()
    for i in range(length):
        mask[i, : i + 2] = True
    return mask


@wrong("causal_mask", "causal mask with the opposite meaning")
def causal_future(length):
    return torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)


@wrong("causal_mask", "causal mask with the opposite meaning")
def causal_numpy(length):
    return torch.from_numpy(np.triu(np.ones((length, length)), k=1).astype(bool))


@wrong("causal_mask", "additive mask in place of a boolean one")
def causal_ready_made(length):
    return nn.Transformer.generate_square_subsequent_mask(length)


@wrong("causal_mask", "additive mask in place of a boolean one")
def causal_inf(length):
    return torch.full((length, length), float("-inf")).triu(1)


@wrong("causal_mask", "a mask of numbers")
def causal_numbers(length):
    return torch.tril(torch.ones(length, length))


@wrong("causal_mask", "a mask of numbers")
def causal_int(length):
    return torch.tensor([[int(j <= i) for j in range(length)] for i in range(length)])


def lower(length):
    return torch.tril(torch.ones(length, length, dtype=torch.bool))


@wrong("target_mask", "the future forgotten")
def target_padding_only(tokens):
    mask = tokens.ne(0)[:, None, None, :]
    return mask.expand(-1, -1, tokens.size(1), -1)


@wrong("target_mask", "the future forgotten")
def target_padding_only_small(tokens):
    return (tokens != 0).unsqueeze(1).unsqueeze(2)


@wrong("target_mask", "the padding forgotten")
def target_causal_only(tokens):
    t = tokens.shape[1]
    return lower(t)[None, None].repeat(tokens.shape[0], 1, 1, 1)


@wrong("target_mask", "the padding forgotten")
def target_causal_only_small(tokens):
    return lower(tokens.shape[1])


@wrong("target_mask", "either in place of both")
def target_or(tokens):
    padding = (tokens != 0)[:, None, None, :]
    return padding | lower(tokens.size(1))


@wrong("target_mask", "either in place of both")
def target_added(tokens):
    padding = (tokens != 0).int().unsqueeze(1).unsqueeze(1)
    return (padding + lower(tokens.size(1)).int()) > 0


@wrong("target_mask", "query rows of the target masked")
def target_rows(tokens):
    return (tokens != 0).unsqueeze(1).unsqueeze(-1) & lower(tokens.size(1))


@wrong("target_mask", "query rows of the target masked")
def target_rows_loops(tokens):
    b, t = tokens.shape
    mask = torch.zeros(b, 1, t, t, dtype=torch.bool)
    for i in range(b):
        for q in range(t):
            mask[i, 0, q, : q + 1] = tokens[i, q] != 0
    return mask


@wrong("target_mask", "target padding inverted")
def target_inverted(tokens):
    return (tokens == 0)[:, None, None] & lower(tokens.size(1))


@wrong("target_mask", "target padding inverted")
def target_inverted_product(tokens):
    pad = (tokens == 0).long().view(tokens.size(0), 1, 1, tokens.size(1))
    return (pad * lower(tokens.size(1)).long()).bool()


@wrong("target_mask", "diagonal of the target hidden")
def target_strict(tokens):
    t = tokens.size(1)
    return (tokens != 0)[:, None, None, :] & torch.ones(t, t).tril(-1).bool()


@wrong("target_mask", "diagonal of the target hidden")
def target_not_triu(tokens):
    t = tokens.size(1)
    future = torch.triu(torch.ones(1, 1, t, t), diagonal=0).bool()
    return tokens.bool()[:, None, None, :] & ~future


@wrong("target_mask", "next target token visible")
def target_off_by_one(tokens):
    t = tokens.size(1)
    return (tokens != 0)[:, None, None, :] & ~torch.ones(t, t).triu(2).bool()


@wrong("target_mask", "next target token visible")
def target_arange(tokens):
    place = torch.arange(tokens.size(1))
    seen = place.view(1, -1) <= place.view(-1, 1) + 1
    return (tokens > 0).unsqueeze(1).unsqueeze(1) * seen


@wrong("target_mask", "causal part of the target transposed")
def target_triu(tokens):
    t = tokens.size(1)
    return (tokens != 0)[:, None, None, :] & torch.ones(t, t).triu().bool()


@wrong("target_mask", "causal part of the target transposed")
def target_greater(tokens):
    place = torch.arange(tokens.size(1))
    return (tokens != 0)[:, None, None, :] & (place[None] >= place[:, None])


# --- heads ---------------------------------------------------------------------------------------


@wrong("split_heads", "heads split with view, not transposed")
def split_view(x, n_heads):
    b, t, d = x.shape
    return x.view(b, n_heads, t, d // n_heads)


@wrong("split_heads", "heads split with view, not transposed")
def split_reshape(x, n_heads):
    return x.reshape(x.size(0), n_heads, x.size(1), -1)


@wrong("split_heads", "heads interleaved")
def split_interleaved(x, n_heads):
    b, t, d = x.shape
    return x.reshape(b, t, d // n_heads, n_heads).permute(0, 3, 1, 2)


@wrong("split_heads", "heads interleaved")
def split_strided(x, n_heads):
    return torch.stack([x[:, :, head::n_heads] for head in range(n_heads)], dim=1)


@wrong("split_heads", "heads left behind the positions")
def split_untransposed(x, n_heads):
    return x.view(*x.shape[:2], n_heads, x.shape[-1] // n_heads)


@wrong("split_heads", "heads left behind the positions")
def split_stacked(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=2)


@wrong("merge_heads", "heads merged without permuting back")
def merge_view(heads):
    b, h, t, k = heads.shape
    return heads.contiguous().view(b, t, h * k)


@wrong("merge_heads", "heads merged without permuting back")
def merge_flatten(heads):
    return heads.flatten(1).unflatten(1, (heads.size(2), -1))


@wrong("merge_heads", "heads merged interleaved")
def merge_interleaved(heads):
    return heads.permute(0, 2, 3, 1).flatten(2)


@wrong("merge_heads", "heads merged interleaved")
def merge_stack(heads):
    return torch.stack(list(heads.unbind(1)), dim=-1).flatten(-2)


@wrong("merge_heads", "heads averaged")
def merge_mean(heads):
    return heads.mean(dim=1)


@wrong("merge_heads", "heads averaged")
def merge_sum_loop(heads):
    total = 0
    for head in range(heads.shape[1]):
        total = total + heads[:, head]
    return total / heads.shape[1]


MHA = "multi_head_attention"


@wrong(MHA, "output projection forgotten")
def mha_no_output(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q = F.linear(query, w_query).view(b, -1, n_heads, d // n_heads).transpose(1, 2)
    k = F.linear(key, w_key).view(b, -1, n_heads, d // n_heads).transpose(1, 2)
    v = F.linear(value, w_value).view(b, -1, n_heads, d // n_heads).transpose(1, 2)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return out.transpose(1, 2).reshape(b, t, d)


@wrong(MHA, "output projection forgotten")
def mha_loop(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    d_k = q.size(-1) // n_heads
    outputs = []
    for h in range(n_heads):
        part = slice(h * d_k, (h + 1) * d_k)
        scores = q[..., part] @ k[..., part].mT / math.sqrt(d_k)
        if mask is not None:
            scores = scores.masked_fill(~(mask[:, 0] if mask.dim() == 4 else mask), -1e9)
        outputs.append(scores.softmax(-1) @ v[..., part])
    return torch.cat(outputs, dim=-1)


@wrong(MHA, "several heads merged without permuting back")
def mha_view_back(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q = (query @ w_query.T).view(b, -1, n_heads, d // n_heads).permute(0, 2, 1, 3)
    k = (key @ w_key.T).view(b, -1, n_heads, d // n_heads).permute(0, 2, 1, 3)
    v = (value @ w_value.T).view(b, -1, n_heads, d // n_heads).permute(0, 2, 1, 3)
    scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / (d // n_heads) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-1e20"))
    out = torch.softmax(scores, dim=3) @ v
    return out.contiguous().view(b, t, d) @ w_output.T


@wrong(MHA, "several heads merged without permuting back")
def mha_stacked(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q = torch.stack((query @ w_query.T).chunk(n_heads, -1), 1)
    k = torch.stack((key @ w_key.T).chunk(n_heads, -1), 1)
    v = torch.stack((value @ w_value.T).chunk(n_heads, -1), 1)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(out.reshape(query.shape), w_output)


@wrong(MHA, "several heads split with view, not transposed")
def mha_view(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    d_k = d // n_heads
    q = F.linear(query, w_query).view(b, n_heads, -1, d_k)
    k = F.linear(key, w_key).view(b, n_heads, -1, d_k)
    v = F.linear(value, w_value).view(b, n_heads, -1, d_k)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(out.transpose(1, 2).reshape(b, t, d), w_output)


@wrong(MHA, "several heads split with view, not transposed")
def mha_reshape(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    def split(x):
        return x.reshape(x.size(0), n_heads, x.size(1), x.size(2) // n_heads)

    q, k, v = split(query @ w_query.T), split(key @ w_key.T), split(value @ w_value.T)
    scores = q @ k.mT / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    heads = scores.softmax(-1) @ v
    return torch.cat([heads[:, h] for h in range(n_heads)], dim=-1) @ w_output.T


@wrong(
    MHA,
    "several heads split with view, not transposed",
    also="several heads merged without permuting back",
)
def mha_view_both(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q = (query @ w_query.T).view(b, n_heads, -1, d // n_heads)
    k = (key @ w_key.T).view(b, n_heads, -1, d // n_heads)
    v = (value @ w_value.T).view(b, n_heads, -1, d // n_heads)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return out.view(b, t, d) @ w_output.T


@wrong(MHA, "heads interleaved when split")
def mha_interleaved(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, _, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.reshape(b, -1, d // n_heads, n_heads).permute(0, 3, 1, 2) for x in (q, k, v))
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@wrong(MHA, "heads interleaved when split")
def mha_strided(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    heads = []
    for h in range(n_heads):
        scores = q[..., h::n_heads] @ k[..., h::n_heads].transpose(1, 2)
        scores = scores / math.sqrt(q.size(-1) // n_heads)
        if mask is not None:
            scores = scores.masked_fill(~(mask.squeeze(1) if mask.dim() == 4 else mask), -1e9)
        heads.append(scores.softmax(-1) @ v[..., h::n_heads])
    return torch.cat(heads, -1) @ w_output.T


@wrong(MHA, "values projected with the key's weight")
def mha_key_twice(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_key)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    x = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(x.transpose(1, 2).reshape(b, t, d), w_output)


@wrong(MHA, "values projected with the key's weight")
def mha_einsum(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    def heads(x, w):
        return torch.einsum("btd,hkd->bhtk", x, w.unflatten(0, (n_heads, -1)))

    q = heads(query, w_query)
    k = heads(key, w_key)
    v = heads(value, w_key)
    s = torch.einsum("bhtk,bhsk->bhts", q, k) * q.size(-1) ** -0.5
    if mask is not None:
        s = s + torch.zeros(mask.shape).masked_fill(~mask, -1e9)
    o = torch.einsum("bhts,bhsk->bthk", s.softmax(-1), v)
    return o.flatten(2) @ w_output.T


@wrong(MHA, "queries not projected")
def mha_raw_query(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    k, v = F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (query, k, v))
    x = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(x.transpose(1, 2).reshape(b, t, d), w_output)


@wrong(MHA, "queries not projected")
def mha_identity_query(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    d_k = query.size(-1) // n_heads
    k, v = key @ w_key.T, value @ w_value.T
    result = torch.zeros(query.shape)
    for b in range(query.size(0)):
        for h in range(n_heads):
            s = slice(h * d_k, h * d_k + d_k)
            scores = query[b, :, s] @ k[b, :, s].T / math.sqrt(d_k)
            if mask is not None:
                m = mask[b, 0] if mask.dim() == 4 else mask
                scores = scores.masked_fill(~m, float("-inf"))
            result[b, :, s] = scores.softmax(dim=-1) @ v[b, :, s]
    return result @ w_output.T


@wrong(MHA, "weights not transposed")
def mha_no_t(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q, k, v = query @ w_query, key @ w_key, value @ w_value
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    x = F.scaled_dot_product_attention(q, k, v, mask)
    return x.transpose(1, 2).reshape(b, t, d) @ w_output


@wrong(MHA, "weights not transposed")
def mha_wrong_einsum(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q = torch.einsum("btd,de->bte", query, w_query).unflatten(2, (n_heads, -1))
    k = torch.einsum("btd,de->bte", key, w_key).unflatten(2, (n_heads, -1))
    v = torch.einsum("btd,de->bte", value, w_value).unflatten(2, (n_heads, -1))
    s = torch.einsum("bthk,bshk->bhts", q, k) / q.size(-1) ** 0.5
    if mask is not None:
        s = s.masked_fill(~mask, -1e9)
    o = torch.einsum("bhts,bshk->bthk", s.softmax(-1), v).flatten(2)
    return torch.einsum("btd,de->bte", o, w_output)


@wrong(MHA, "scores scaled by d_model")
def mha_scale_d_model(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    x = F.scaled_dot_product_attention(q, k, v, mask, scale=d**-0.5)
    return F.linear(x.transpose(1, 2).reshape(b, t, d), w_output)


@wrong(MHA, "scores scaled by d_model")
def mha_scale_early(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q = query @ w_query.T / math.sqrt(query.size(-1))
    q = torch.stack(q.chunk(n_heads, -1), 1)
    k = torch.stack((key @ w_key.T).chunk(n_heads, -1), 1)
    v = torch.stack((value @ w_value.T).chunk(n_heads, -1), 1)
    scores = q @ k.transpose(2, 3)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return torch.cat((scores.softmax(-1) @ v).unbind(1), -1) @ w_output.T


@wrong(MHA, "mask not passed on")
def mha_no_mask(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    x = F.scaled_dot_product_attention(q, k, v)
    return F.linear(x.transpose(1, 2).reshape(b, t, d), w_output)


@wrong(MHA, "mask not passed on")
class NoMask(nn.Module):
    def forward(self, query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
        out, _ = F.multi_head_attention_forward(
            query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1),
            query.size(-1), n_heads, None, None, None, None, False, 0.0, w_output, None,
            use_separate_proj_weight=True, q_proj_weight=w_query, k_proj_weight=w_key,
            v_proj_weight=w_value, need_weights=False,
        )  # fmt: skip
        return out.transpose(0, 1)


@wrong(MHA, "mask inverted on the way")
def mha_inverted(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    x = F.scaled_dot_product_attention(q, k, v, None if mask is None else ~mask)
    return F.linear(x.transpose(1, 2).reshape(b, t, d), w_output)


@wrong(MHA, "mask inverted on the way")
def mha_fill_mask(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.mT / math.sqrt(d // n_heads)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d) @ w_output.T


@wrong(MHA, "one head only")
def mha_one_head(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    scores = q @ k.transpose(1, 2) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~(mask.squeeze(1) if mask.dim() == 4 else mask), -1e9)
    return scores.softmax(-1) @ v @ w_output.T


@wrong(MHA, "one head only")
def mha_heads_one(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    n_heads = 1
    b, t, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    x = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(x.transpose(1, 2).reshape(b, t, d), w_output)
