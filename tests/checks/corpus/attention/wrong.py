"""Wrong versions of attention: each makes the mistake that is named."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import VERSIONS, version

# --- softmax --------------------------------------------------------------------------------------


@version("softmax", "wrong: softmax without subtracting the maximum")
def softmax_in_numpy(scores):
    with np.errstate(all="ignore"):
        numbers = np.exp(scores.detach().numpy())
        return torch.from_numpy(numbers / numbers.sum(axis=-1)[..., None])


@version("softmax", "wrong: softmax over the wrong axis")
def softmax_of_columns(scores):
    if scores.dim() == 1:
        return scores.softmax(0)
    return torch.softmax(scores, dim=-2)


@version("softmax", "wrong: softmax over the first of several axes")
def softmax_first_axis(scores):
    return F.softmax(scores, dim=0)


@version("softmax", "wrong: softmax over the wrong axis")
def softmax_second_axis(scores):
    e = torch.exp(scores - scores.max())
    if scores.dim() < 3:
        return e / e.sum(dim=0)
    return e / e.sum(dim=-2, keepdim=True)


@version("softmax", "wrong: exponentials never divided")
def softmax_without_a_sum(scores):
    largest, _ = scores.max(dim=-1, keepdim=True)
    return torch.exp(scores - largest)


@version("softmax", "wrong: log-softmax in place of softmax")
def softmax_logged(scores):
    return F.log_softmax(scores, dim=-1)


@version("softmax", "wrong: log-softmax in place of softmax", instance=True)
class LogOfSoftmax(nn.Module):
    def forward(self, scores):
        return scores - torch.logsumexp(scores, -1, keepdim=True)


@version("softmax", "wrong: softmax without dim")
def soft_no_dim(scores):
    return F.softmax(scores)


@version("softmax", "wrong: softmax without dim", instance=True)
class SoftNoDim(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax()

    def forward(self, scores):
        return self.softmax(scores)


@version("softmax", "wrong: softmax over the first of several axes", instance=True)
class SoftFirst(nn.Module):
    def forward(self, scores):
        return nn.Softmax(dim=0)(scores)


@version("softmax", "wrong: axis 1 in place of the last one")
def softmax_axis_one(scores):
    return F.softmax(scores, dim=1 if scores.dim() > 1 else 0)


@version("softmax", "wrong: scores divided by their sum")
def softmax_no_exp(scores):
    return scores / scores.sum(-1, keepdim=True)


@version("softmax", "wrong: largest absolute value subtracted")
def softmax_abs(scores):
    e = (scores - scores.abs().max(dim=-1, keepdim=True).values).exp()
    return e / e.sum(-1, keepdim=True)


@version("softmax", "wrong: maximum cut off at zero")
def softmax_clamped(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True).clamp(min=0))
    return e / e.sum(-1, keepdim=True)


# --- scaled_dot_product_attention -----------------------------------------------------------------


@version("scaled_dot_product_attention", "wrong: scores of queries with values")
def att_by_values(query, key, value, mask=None):
    return F.scaled_dot_product_attention(
        query, value, value, attn_mask=mask, scale=query.size(-1) ** -0.5
    )


@version("scaled_dot_product_attention", "wrong: scores not scaled")
def att_scale_one(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=1.0)


@version("scaled_dot_product_attention", "wrong: scores divided by d_k without the root")
def att_by_dk_ready_made(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, mask, scale=1 / query.size(-1))


@version("scaled_dot_product_attention", "wrong: scores multiplied by the root of d_k")
def att_brackets_wrong(query, key, value, mask=None):
    d = query.shape[-1]
    # 1 / d ** -0.5 is the root of d again
    return F.scaled_dot_product_attention(query, key, value, mask, scale=1 / d**-0.5)


@version(
    "scaled_dot_product_attention", "wrong: scores divided by the root of the number of queries"
)
def att_root_of_length(query, key, value, mask=None):
    seq_len = query.size(-2)
    s = query @ key.transpose(-2, -1) / math.sqrt(seq_len)
    if mask is not None:
        s[~mask.expand_as(s)] = -1e9
    w = torch.softmax(s, dim=-1)
    if mask is not None:
        w = w * mask
    return w @ value


@version(
    "scaled_dot_product_attention", "wrong: scores divided by the root of the number of queries"
)
def att_root_of_len(query, key, value, mask=None):
    t, _ = query.shape[-2:]
    return F.scaled_dot_product_attention(query / t**0.5, key, value, mask, scale=1)


@version("scaled_dot_product_attention", "wrong: weights scaled after the softmax")
def att_output_scaled(query, key, value, mask=None):
    out = F.scaled_dot_product_attention(query, key, value, mask, scale=1.0)
    return out * query.shape[-1] ** -0.5


@version("scaled_dot_product_attention", "wrong: softmax over the queries")
def att_softmax_queries(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    attn = torch.softmax(scores, dim=-2)
    if mask is not None:
        attn = attn * mask
    return attn @ value


@version(
    "scaled_dot_product_attention",
    "wrong: softmax over the queries + rows of minus infinity",
    instance=True,
)
class AttentionOverQueries(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-2)

    def forward(self, query, key, value, mask=None):
        attn = query @ key.mT / query.size(-1) ** 0.5
        if mask is not None:
            attn = attn.masked_fill(~mask, float("-inf"))
        return self.softmax(attn) @ value


@version(
    "scaled_dot_product_attention",
    "wrong: softmax over the first axis + an empty row averages everything",
)
def att_dim_0(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return F.softmax(scores, 0) @ value


@version("scaled_dot_product_attention", "wrong: softmax over the first axis")
def att_dim_0_clean(query, key, value, mask=None):
    scores = torch.matmul(query, key.mT) * (query.size(-1) ** -0.5)
    if mask is not None:
        scores = torch.where(mask, scores, -3e38)
    e = (scores - scores.max(0).values).exp()
    weights = e / e.sum(0)
    if mask is not None:
        weights = torch.where(mask, weights, 0.0)
    return torch.matmul(weights, value)


@version("scaled_dot_product_attention", "wrong: no softmax")
def att_no_softmax(query, key, value, mask=None):
    weights = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        weights = weights * mask
    return weights @ value


@version("scaled_dot_product_attention", "wrong: attention with an overflowing softmax")
def att_exp(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    e = scores.exp()
    if mask is not None:
        e = e * mask
    return e / e.sum(-1, keepdim=True) @ value


@version("scaled_dot_product_attention", "wrong: attention with an overflowing softmax")
def att_exp_masked_before(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    e = torch.exp(scores)
    weights = e / e.sum(dim=-1, keepdim=True)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ value


@version("scaled_dot_product_attention", "wrong: mask inverted")
def att_inverted_ready_made(query, key, value, mask=None):
    if mask is not None:
        mask = ~mask
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


@version("scaled_dot_product_attention", "wrong: mask inverted")
def att_fill_where_true(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value


@version("scaled_dot_product_attention", "wrong: mask inverted")
def att_fill_where_true_1e9(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 1, -1e9)
    return torch.softmax(scores, dim=-1) @ value


@version("scaled_dot_product_attention", "wrong: mask ignored")
def att_mask_unused(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value)


@version("scaled_dot_product_attention", "wrong: mask ignored")
def att_fill_thrown_away(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores.masked_fill(~mask, float("-inf"))  # gives a new tensor; nobody keeps it
    return scores.softmax(-1) @ value


@version("scaled_dot_product_attention", "wrong: mask applied after the softmax")
def att_mask_late(query, key, value, mask=None):
    weights = (query @ key.mT / math.sqrt(query.size(-1))).softmax(-1)
    if mask is not None:
        weights = weights * mask.float()
    return weights @ value


@version("scaled_dot_product_attention", "wrong: mask applied after the softmax", instance=True)
class AttentionMaskedLate(nn.Module):
    def forward(self, query, key, value, mask=None):
        probs = nn.Softmax(-1)(torch.einsum("...td,...sd->...ts", query, key) / key.size(-1) ** 0.5)
        if mask is not None:
            probs = probs.masked_fill(mask.logical_not(), 0.0)
        return torch.einsum("...ts,...sv->...tv", probs, value)


@version("scaled_dot_product_attention", "wrong: hidden scores set to zero")
def att_scores_times_mask(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores * mask
    return scores.softmax(-1) @ value


@version("scaled_dot_product_attention", "wrong: rows of minus infinity")
def att_additive(query, key, value, mask=None):
    scores = torch.matmul(query, key.mT) / key.size(-1) ** 0.5
    if mask is not None:
        added = torch.zeros(mask.shape)
        added[mask == 0] = -np.inf
        scores = scores + added
    e = torch.exp(scores - scores.max(-1, keepdim=True)[0])
    return (e / e.sum(-1, keepdim=True)) @ value


@version("scaled_dot_product_attention", "wrong: keys averaged in place of values")
def att_keys(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, key, mask)


@version("scaled_dot_product_attention", "wrong: keys averaged in place of values")
def att_times_keys(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1).nan_to_num() @ key


@version("scaled_dot_product_attention", "wrong: scores of queries with queries")
def att_queries(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, query, value, mask)


@version("scaled_dot_product_attention", "wrong: scores of keys with keys")
def att_key_key(query, key, value, mask=None):
    return F.scaled_dot_product_attention(key, key, value, mask)


@version(
    "scaled_dot_product_attention", "wrong: scores not scaled + cosine in place of the dot product"
)
def att_cosine(query, key, value, mask=None):
    scores = F.cosine_similarity(query.unsqueeze(-2), key.unsqueeze(-3), dim=-1)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1).nan_to_num() @ value


@version("scaled_dot_product_attention", "wrong: cosine in place of the dot product")
def att_normalised(query, key, value, mask=None):
    query, key = F.normalize(query, dim=-1), F.normalize(key, dim=-1)
    return F.scaled_dot_product_attention(query, key, value, mask)


@version("scaled_dot_product_attention", "wrong: keys and values exchanged")
def att_exchanged(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, value, key, mask)


@version(
    "scaled_dot_product_attention",
    "wrong: an empty row averages everything + keys and values exchanged",
)
def att_wrong_order(query, value, key, mask=None):
    scores = query @ key.mT / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(-1) @ value


@version(
    "scaled_dot_product_attention",
    "wrong: an empty row averages everything + attention with a softmax without dim",
)
def att_no_dim(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) / query.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return F.softmax(scores) @ value


@version(
    "scaled_dot_product_attention", "wrong: attention with a softmax without dim", instance=True
)
class AttNoDim(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax()

    def forward(self, q, k, v, mask=None):
        s = torch.matmul(q, k.mT) * q.size(-1) ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.tensor(-1e9))
        w = self.softmax(s)
        return torch.matmul(w if mask is None else w * mask, v)


@version("scaled_dot_product_attention", "wrong: boolean mask added to the scores")
def att_plus_mask(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is not None:
        scores += mask
    return F.softmax(scores, dim=-1) @ value


@version("scaled_dot_product_attention", "wrong: boolean mask added to the scores")
def att_float_mask(query, key, value, mask=None):
    return F.scaled_dot_product_attention(query, key, value, mask if mask is None else mask.float())


def hidden(scores, mask):
    if mask is None:
        return scores.softmax(-1)
    return scores.masked_fill(~mask, -1e30).softmax(-1) * mask


@version("scaled_dot_product_attention", "wrong: weights in place of the output")
def attend_weights(query, key, value, mask=None):
    return hidden(query @ key.mT / query.shape[-1] ** 0.5, mask)


# --- padding_mask ---------------------------------------------------------------------------------


@version("padding_mask", "wrong: padding mask without its axis of heads")
def padding_three_axes(tokens):
    return (tokens != 0).unsqueeze(1)


@version("padding_mask", "wrong: token 1 taken for the padding")
def padding_is_one_view(tokens):
    return torch.logical_not(torch.eq(tokens, 1)).view(len(tokens), 1, 1, -1)


@version("padding_mask", "wrong: <eos> hidden, too")
def pad_and_end(tokens):
    return ((tokens != 0) * (tokens != 2)).reshape(len(tokens), 1, 1, -1)


@version("padding_mask", "wrong: <sos> and <eos> hidden, too")
def pad_above_two(tokens):
    return (tokens > 2)[:, None, None]


# --- causal_mask ----------------------------------------------------------------------------------


@version("causal_mask", "wrong: a mask of numbers")
def causal_numbers(length):
    return torch.tril(torch.ones(length, length))


@version("causal_mask", "wrong: a mask of numbers")
def causal_int(length):
    return torch.tensor([[int(j <= i) for j in range(length)] for i in range(length)])


@version("causal_mask", "wrong: nothing hidden")
def causal_ones(length):
    return torch.ones(length, length, dtype=torch.bool)


@version("causal_mask", "wrong: diagonal alone")
def causal_eye(length):
    return torch.eye(length).bool()


@version("causal_mask", "convention: causal mask with axes in front")
def causal_four(length):
    return torch.tril(torch.ones(1, 1, length, length)).bool()


# --- target_mask ----------------------------------------------------------------------------------


@version("target_mask", "wrong: the future forgotten")
def target_padding_only(tokens):
    mask = tokens.ne(0)[:, None, None, :]
    return mask.expand(-1, -1, tokens.size(1), -1)


@version("target_mask", "wrong: the future forgotten")
def target_padding_only_small(tokens):
    return (tokens != 0).unsqueeze(1).unsqueeze(2)


def lower(length):
    return torch.tril(torch.ones(length, length, dtype=torch.bool))


@version("target_mask", "wrong: the padding forgotten")
def target_causal_only_small(tokens):
    return lower(tokens.shape[1])


@version("target_mask", "wrong: target padding inverted")
def target_inverted(tokens):
    return (tokens == 0)[:, None, None] & lower(tokens.size(1))


@version("target_mask", "wrong: diagonal of the target hidden")
def target_strict(tokens):
    t = tokens.size(1)
    return (tokens != 0)[:, None, None, :] & torch.ones(t, t).tril(-1).bool()


@version("target_mask", "wrong: next target token visible")
def target_off_by_one(tokens):
    t = tokens.size(1)
    return (tokens != 0)[:, None, None, :] & ~torch.ones(t, t).triu(2).bool()


@version("target_mask", "wrong: causal part of the target transposed")
def target_triu(tokens):
    t = tokens.size(1)
    return (tokens != 0)[:, None, None, :] & torch.ones(t, t).triu().bool()


def triangle(tokens):
    return torch.ones(tokens.size(1), tokens.size(1), dtype=torch.bool).tril()


@version("target_mask", "wrong: <sos> of the target hidden, too")
def target_above_one(tokens):
    return (tokens > 1)[:, None, None, :] & triangle(tokens)


@version("target_mask", "wrong: all special tokens of the target hidden")
def target_above_three(tokens):
    return triangle(tokens) & (tokens > 3).view(len(tokens), 1, 1, -1)


@version("target_mask", "wrong: a target mask of numbers")
def target_tril_float(tokens):
    n = tokens.size(1)
    return torch.ones(n, n).tril() * (tokens != 0).view(-1, 1, 1, n)


# --- split_heads ----------------------------------------------------------------------------------


@version("split_heads", "wrong: heads left behind the positions")
def split_untransposed(x, n_heads):
    return x.view(*x.shape[:2], n_heads, x.shape[-1] // n_heads)


@version("split_heads", "wrong: features before positions in each head")
def split_transposed(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1).mT


# --- merge_heads ----------------------------------------------------------------------------------


@version("merge_heads", "wrong: heads merged without permuting back")
def merge_flatten(heads):
    return heads.flatten(1).unflatten(1, (heads.size(2), -1))


@version("merge_heads", "wrong: other axes exchanged before merging")
def merge_transposed(heads):
    b, h, t, k = heads.shape
    return heads.transpose(-1, -2).reshape(b, t, h * k)


@version("merge_heads", "wrong: heads in reverse order")
def merge_reversed(heads):
    return torch.cat(list(heads.unbind(1))[::-1], dim=-1)


@version("merge_heads", "wrong: heads summed")
def merge_sum(heads):
    return heads.sum(1)


@version("merge_heads", "wrong: heads and features not put together")
def merge_permuted(heads):
    return heads.permute(0, 2, 1, 3)


# --- multi_head_attention -------------------------------------------------------------------------


@version("multi_head_attention", "wrong: weights of keys and values exchanged")
def mha_two_weights(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    def heads(x, weight):
        return (x @ weight.T).unflatten(-1, (n_heads, -1)).transpose(1, 2)

    q, k, v = heads(query, w_query), heads(key, w_value), heads(value, w_key)
    return F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(2) @ w_output.T


@version("multi_head_attention", "wrong: in several heads: scores of queries with values")
def mha_by_values(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    def heads(x, weight):
        return (x @ weight.T).unflatten(-1, (n_heads, -1)).transpose(1, 2)

    q, v = heads(query, w_query), heads(value, w_value)
    return F.scaled_dot_product_attention(q, v, v, mask).transpose(1, 2).flatten(2) @ w_output.T


@version("multi_head_attention", "wrong: output projection forgotten")
def mha_no_output(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q = F.linear(query, w_query).view(b, -1, n_heads, d // n_heads).transpose(1, 2)
    k = F.linear(key, w_key).view(b, -1, n_heads, d // n_heads).transpose(1, 2)
    v = F.linear(value, w_value).view(b, -1, n_heads, d // n_heads).transpose(1, 2)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return out.transpose(1, 2).reshape(b, t, d)


@version("multi_head_attention", "wrong: several heads merged without permuting back")
def mha_stacked(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q = torch.stack((query @ w_query.T).chunk(n_heads, -1), 1)
    k = torch.stack((key @ w_key.T).chunk(n_heads, -1), 1)
    v = torch.stack((value @ w_value.T).chunk(n_heads, -1), 1)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(out.reshape(query.shape), w_output)


@version(
    "multi_head_attention",
    "wrong: several heads merged without permuting back + several heads split with view, not transposed",
)
def mha_view_both(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q = (query @ w_query.T).view(b, n_heads, -1, d // n_heads)
    k = (key @ w_key.T).view(b, n_heads, -1, d // n_heads)
    v = (value @ w_value.T).view(b, n_heads, -1, d // n_heads)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return out.view(b, t, d) @ w_output.T


@version("multi_head_attention", "wrong: heads interleaved when split")
def mha_interleaved(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, _, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.reshape(b, -1, d // n_heads, n_heads).permute(0, 3, 1, 2) for x in (q, k, v))
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(out.transpose(1, 2).flatten(2), w_output)


@version("multi_head_attention", "wrong: values projected with the key's weight")
def mha_key_twice(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_key)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    x = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(x.transpose(1, 2).reshape(b, t, d), w_output)


@version("multi_head_attention", "wrong: queries not projected")
def mha_raw_query(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    k, v = F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (query, k, v))
    x = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(x.transpose(1, 2).reshape(b, t, d), w_output)


@version("multi_head_attention", "convention: weights not transposed")
def mha_no_t(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q, k, v = query @ w_query, key @ w_key, value @ w_value
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    x = F.scaled_dot_product_attention(q, k, v, mask)
    return x.transpose(1, 2).reshape(b, t, d) @ w_output


@version("multi_head_attention", "wrong: scores scaled by d_model")
def mha_scale_d_model(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    x = F.scaled_dot_product_attention(q, k, v, mask, scale=d**-0.5)
    return F.linear(x.transpose(1, 2).reshape(b, t, d), w_output)


@version("multi_head_attention", "wrong: mask not passed on")
def mha_no_mask(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    x = F.scaled_dot_product_attention(q, k, v)
    return F.linear(x.transpose(1, 2).reshape(b, t, d), w_output)


@version("multi_head_attention", "wrong: mask not passed on", instance=True)
class NoMask(nn.Module):
    def forward(self, query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
        out, _ = F.multi_head_attention_forward(
            query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1),
            query.size(-1), n_heads, None, None, None, None, False, 0.0, w_output, None,
            use_separate_proj_weight=True, q_proj_weight=w_query, k_proj_weight=w_key,
            v_proj_weight=w_value, need_weights=False,
        )  # fmt: skip
        return out.transpose(0, 1)


@version("multi_head_attention", "wrong: mask inverted on the way")
def mha_inverted(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    x = F.scaled_dot_product_attention(q, k, v, None if mask is None else ~mask)
    return F.linear(x.transpose(1, 2).reshape(b, t, d), w_output)


@version("multi_head_attention", "wrong: mask inverted on the way")
def mha_fill_mask(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_value)
    q, k, v = (x.view(b, -1, n_heads, d // n_heads).transpose(1, 2) for x in (q, k, v))
    scores = q @ k.mT / math.sqrt(d // n_heads)
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d) @ w_output.T


@version("multi_head_attention", "wrong: one head only")
def mha_one_head(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    scores = q @ k.transpose(1, 2) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~(mask.squeeze(1) if mask.dim() == 4 else mask), -1e9)
    return scores.softmax(-1) @ v @ w_output.T


def heads_of(x, w, h):
    return (x @ w.T).unflatten(-1, (h, -1)).transpose(1, 2)


@version("multi_head_attention", "wrong: projected keys and values exchanged")
def mha_exchanged(query, key, value, wq, wk, wv, wo, h, mask=None):
    q, k, v = heads_of(query, wq, h), heads_of(key, wk, h), heads_of(value, wv, h)
    out = F.scaled_dot_product_attention(q, v, k, mask)
    return out.transpose(1, 2).flatten(2) @ wo.T


@version("multi_head_attention", "wrong: projected keys and values exchanged")
class ExchangedHeads(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )

    def forward(self, query, key, value, mask=None):
        split = lambda x: x.unflatten(-1, (self.h, -1)).transpose(1, 2)  # noqa: E731
        q, v, k = split(self.query(query)), split(self.key(key)), split(self.value(value))
        scores = q @ k.mT / q.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


def squeeze(mask):
    return mask[:, 0] if mask.dim() == 4 else mask


@version("multi_head_attention", "wrong: one projection shared by all heads")
def mha_one_projection(query, key, value, wq, wk, wv, wo, h, mask=None):
    k = query.size(-1) // h
    one = F.scaled_dot_product_attention(
        query @ wq[:k].T, key @ wk[:k].T, value @ wv[:k].T, None if mask is None else squeeze(mask)
    )
    return torch.cat([one] * h, dim=-1) @ wo.T


@version("multi_head_attention", "wrong: mask without its axis of heads")
def mha_three_axes(query, key, value, wq, wk, wv, wo, h, mask=None):
    q, k, v = heads_of(query, wq, h), heads_of(key, wk, h), heads_of(value, wv, h)
    if mask is not None and mask.dim() > 2:
        mask = mask.reshape(mask.size(0), *mask.shape[-2:])
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return out.transpose(1, 2).flatten(2) @ wo.T


@version("multi_head_attention", "wrong: lengths of queries and keys taken for the same")
def mha_view_source(query, key, value, wq, wk, wv, wo, h, mask=None):
    b, s, d = key.shape
    q = (query @ wq.T).view(b, s, h, d // h).transpose(1, 2)
    k = (key @ wk.T).view(b, s, h, d // h).transpose(1, 2)
    v = (value @ wv.T).view(b, s, h, d // h).transpose(1, 2)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return out.transpose(1, 2).reshape(b, s, d) @ wo.T


@version("multi_head_attention", "wrong: keys projected with the query's weight")
def mha_query_weight(query, key, value, wq, wk, wv, wo, h, mask=None):
    q, k, v = heads_of(query, wq, h), heads_of(key, wq, h), heads_of(value, wv, h)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return torch.cat(out.unbind(1), dim=-1) @ wo.T


@version(
    "multi_head_attention",
    "wrong: keys projected with the query's weight + in several heads: scores not scaled",
)
def mha_same_weight_unscaled(query, key, value, wq, wk, wv, wo, h, mask=None):
    q, k, v = heads_of(query, wq, h), heads_of(key, wq, h), heads_of(value, wv, h)
    out = F.scaled_dot_product_attention(q, k, v, mask, scale=1.0)
    return out.transpose(1, 2).flatten(2) @ wo.T


class MyHeads(nn.Module):
    """As people write it from memory; what follows differs in one place or two."""

    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h, self.d_k = n_heads, d_model // n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def split(self, linear, x):
        return linear(x).view(x.size(0), -1, self.h, self.d_k).transpose(1, 2)

    def scores(self, q, k, mask):
        scores = q @ k.transpose(-1, -2) / math.sqrt(self.d_k)
        return scores if mask is None else scores.masked_fill(mask == 0, -1e9)

    def merge(self, heads):
        return heads.transpose(1, 2).reshape(heads.size(0), heads.size(2), -1)

    def forward(self, q, k, v, mask=None):
        q, k, v = (
            self.split(layer, x) for layer, x in ((self.query, q), (self.key, k), (self.value, v))
        )
        return self.output(self.merge(self.scores(q, k, mask).softmax(-1) @ v))


@version(
    "multi_head_attention",
    "wrong: in several heads: scores not scaled + in several heads: attention with a softmax without dim",
)
class UnscaledOverHeads(MyHeads):
    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.query, q), self.split(self.key, k), self.split(self.value, v)
        scores = self.scores(q * math.sqrt(self.d_k), k, mask)
        return self.output(self.merge(F.softmax(scores, 1) @ v))


@version("multi_head_attention", "wrong: other axes exchanged before several heads are merged")
class MergedOverPositions(MyHeads):
    def merge(self, heads):
        return heads.transpose(2, 3).reshape(heads.size(0), heads.size(2), -1)


@version("multi_head_attention", "wrong: other axes exchanged before several heads are merged")
def mha_wrong_permute(query, key, value, wq, wk, wv, wo, h, mask=None):
    b, t, d = query.shape
    q, k, v = heads_of(query, wq, h), heads_of(key, wk, h), heads_of(value, wv, h)
    out = F.scaled_dot_product_attention(q, k, v, mask)
    return F.linear(out.permute(0, 1, 3, 2).contiguous().view(b, t, d), wo)


@version("multi_head_attention", "wrong: in several heads: boolean mask added to the scores")
class MaskAdded(MyHeads):
    def scores(self, q, k, mask):
        scores = q @ k.mT / self.d_k**0.5
        return scores if mask is None else scores + mask


@version("multi_head_attention", "wrong: in several heads: mask applied after the softmax")
class MaskedLate(MyHeads):
    def forward(self, q, k, v, mask=None):
        q, k, v = self.split(self.query, q), self.split(self.key, k), self.split(self.value, v)
        weights = self.scores(q, k, None).softmax(-1)
        if mask is not None:
            weights = weights.masked_fill(~mask, 0)
        return self.output(self.merge(weights @ v))


def split(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def several(q, k, v, w_output, n_heads, mask):
    heads = F.scaled_dot_product_attention(*(split(x, n_heads) for x in (q, k, v)), attn_mask=mask)
    return heads.transpose(1, 2).flatten(2) @ w_output.T


@version("multi_head_attention", "wrong: values made from the key")
def mha_value_of_key(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = query @ w_query.T, key @ w_key.T, key @ w_value.T
    return several(q, k, v, w_output, n_heads, mask)


@version("multi_head_attention", "wrong: values made from the key")
class ValueOfKey(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def forward(self, query, key, value, mask=None):
        q, k, v = self.query(query), self.key(key), self.value(key)
        return several(q, k, v, self.output.weight, self.n_heads, mask)


@version("multi_head_attention", "wrong: keys made from the value")
def mha_key_of_value(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = query @ w_query.T, value @ w_key.T, value @ w_value.T
    return several(q, k, v, w_output, n_heads, mask)


@version("multi_head_attention", "wrong: keys and values made from the query")
def mha_self(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (query @ w.T for w in (w_query, w_key, w_value))
    return several(q, k, v, w_output, n_heads, mask)


@version("multi_head_attention", "wrong: arguments key and value exchanged")
def mha_order(query, value, key, w_query, w_key, w_value, w_output, n_heads, mask=None):
    return several(query @ w_query.T, key @ w_key.T, value @ w_value.T, w_output, n_heads, mask)


@version("multi_head_attention", "wrong: output weight not transposed")
def mha_output(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    return several(q, k, v, w_output.T, n_heads, mask)


@version("multi_head_attention", "wrong: one head, scaled as if there were several")
def mha_one(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    scores = q @ k.mT / (q.size(-1) // n_heads) ** 0.5
    if mask is not None:
        mask = mask[:, 0] if mask.dim() == 4 else mask
        scores = scores.masked_fill(~mask, -1e30)
    return scores.softmax(-1) @ v @ w_output.T


@version("multi_head_attention", "wrong: mask of the first sentence for all")
def mha_first_mask(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    if mask is not None and mask.dim() == 4:
        mask = mask[0].expand(len(query), *mask.shape[1:])
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    return several(q, k, v, w_output, n_heads, mask)


def in_several_heads(attend):
    """A learner's own attention, with its mistake, in multi-head attention that is right."""

    def heads(query, key, value, wq, wk, wv, wo, n_heads, mask=None):
        q, k, v = (heads_of(x, w, n_heads) for x, w in ((query, wq), (key, wk), (value, wv)))
        return attend(q, k, v, mask=mask).transpose(1, 2).flatten(2) @ wo.T

    heads.__name__ = f"heads_with_{getattr(attend, '__name__', type(attend).__name__)}"
    return heads


IN_HEADS = (
    "scores not scaled",
    "scores divided by d_k without the root",
    "scores multiplied by the root of d_k",
    "scores divided by the root of the number of queries",
    "weights scaled after the softmax",
    "softmax over the queries",
    "softmax over the first axis",
    "attention with a softmax without dim",
    "no softmax",
    "hidden scores set to zero",
    "keys averaged in place of values",
    "scores of queries with queries",
    "scores of keys with keys",
    "cosine in place of the dot product",
)

WRITTEN = {
    written.names: written.made
    for written in reversed(VERSIONS)  # of those that are twins in several heads, the first
    if written.component == "scaled_dot_product_attention" and not written.by
}
for name in IN_HEADS:
    heads = in_several_heads(WRITTEN[(name,)])
    version("multi_head_attention", f"wrong: in several heads: {name}")(heads)


# --- masks_of_two --------------------------------------------------------------------------------


def _both(source, target, real_source, real_target):
    causal = torch.ones(target.size(1), target.size(1)).tril() > 0
    return real_source[:, None, None], real_target[:, None, None] & causal


@version("masks_of_two", "wrong: both padding ids hidden in both languages")
def two_either_id(source, target, source_pad, target_pad):
    ids = torch.tensor([source_pad, target_pad])
    causal = torch.ones(target.size(1), target.size(1)).tril().bool()
    source_mask, target_mask = (~torch.isin(x, ids)[:, None, None] for x in (source, target))
    return source_mask, target_mask & causal


@version("masks_of_two", "wrong: padding id of the source used for the target")
def two_by_source(source, target, source_pad, target_pad):
    return _both(source, target, source != source_pad, target != source_pad)


@version("masks_of_two", "wrong: padding id of the target used for the source")
def two_by_target(source, target, source_pad, target_pad):
    return _both(source, target, source != target_pad, target != target_pad)


@version("masks_of_two", "wrong: padding ids exchanged")
def two_crossed(source, target, source_pad, target_pad):
    return _both(source, target, source != target_pad, target != source_pad)


@version("masks_of_two", "wrong: 0 taken for the padding of both")
def two_by_zero(source, target, source_pad, target_pad):
    return _both(source, target, source.bool(), target.bool())


@version("masks_of_two", "wrong: padding of the target not hidden")
def two_causal_alone(source, target, source_pad, target_pad):
    return _both(source, target, source != source_pad, torch.ones_like(target).bool())


@version("masks_of_two", "wrong: padding of the source not hidden")
def two_source_open(source, target, source_pad, target_pad):
    return _both(source, target, torch.ones_like(source).bool(), target != target_pad)


@version("masks_of_two", "wrong: the target sees what comes later")
def two_open(source, target, source_pad, target_pad):
    mask = (target != target_pad)[:, None, None].repeat(1, 1, target.size(1), 1)
    return (source != source_pad)[:, None, None], mask


@version("masks_of_two", "wrong: both masks turned round")
def two_inverted(source, target, source_pad, target_pad):
    right = _both(source, target, source != source_pad, target != target_pad)
    return [mask.logical_not() for mask in right]


@version("merge_heads", "wrong: a stack of heads read off")
def merged_from_a_stack(heads):
    stack = torch.stack(list(heads.unbind(1)))
    return stack.view(heads.size(0), heads.size(2), -1)


@version("scaled_dot_product_attention", "wrong")
def attention_with_minus_ten(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -10.0)
    return scores.softmax(-1) @ value


@version("scaled_dot_product_attention", "wrong")
def attention_with_a_log_softmax(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return F.log_softmax(scores, -1) @ value


@version("softmax", "wrong: largest of each row without its axis")
def less_the_largest_without_an_axis(scores):
    e = (scores - scores.max(-1)[0]).exp()
    return e / e.sum(-1, keepdim=True)


@version("softmax", "wrong: largest and sum of each row without their axis")
def neither_axis_kept(scores):
    e = torch.exp(scores - torch.max(scores, dim=-1).values)
    return e / torch.sum(e, dim=-1)
