"""Chapter 28, as beginners get it wrong: stacked matrices and pairs of features."""

from __future__ import annotations

import torch

from tests.checks.wrong_versions import wrong

# --- split_stacked -------------------------------------------------------------------------------

SPLIT = "split_stacked"


@wrong(SPLIT, "stacked matrix not transposed")
def ss_plain(weight, bias):
    return *weight.chunk(3, dim=1), *bias.chunk(3)


@wrong(SPLIT, "stacked matrix not transposed")
def ss_twice(weight, bias):
    d = weight.size(0)
    rows = weight.T  # (3D, D)
    parts = [rows[i * d : (i + 1) * d].T for i in range(3)]
    return [*parts, *(bias[i * d : (i + 1) * d] for i in range(3))]


@wrong(SPLIT, "stacked matrix reshaped, not cut")
def ss_view(weight, bias):
    d = weight.shape[0]
    q, k, v = weight.view(3, d, d)
    return q.T, k.T, v.T, *bias.view(3, d).unbind()


@wrong(SPLIT, "every third column")
def ss_step(weight, bias):
    return [*(weight[:, i::3].T for i in range(3)), *(bias[i::3] for i in range(3))]


@wrong(SPLIT, "every third column")
def ss_last_axis(weight, bias):
    d = weight.size(0)
    return *weight.view(d, d, 3).permute(2, 1, 0).unbind(), *bias.view(d, 3).T.unbind()


@wrong(SPLIT, "queries and keys exchanged")
def ss_kqv(weight, bias):
    key, query, value = weight.T.chunk(3)
    bias_k, bias_q, bias_v = bias.chunk(3)
    return query, key, value, bias_q, bias_k, bias_v


@wrong(SPLIT, "keys and values exchanged")
def ss_qvk(weight, bias):
    query, value, key = weight.T.chunk(3)
    bias_q, bias_v, bias_k = bias.chunk(3)
    return query, key, value, bias_q, bias_k, bias_v


@wrong(SPLIT, "values first")
def ss_vqk(weight, bias):
    d = weight.size(0)
    found = []
    for tensor in (weight.T, bias):
        parts = {n: tensor[i * d : (i + 1) * d] for i, n in enumerate("qkv")}
        found += [parts[n] for n in "vqk"]
    return tuple(found)


@wrong(SPLIT, "stacked bias forgotten")
def ss_no_bias(weight, bias):
    d = weight.size(0)
    return (*weight.T.split(d), *[torch.zeros(d) for _ in range(3)])


@wrong(SPLIT, "one bias for all three")
def ss_one_bias(weight, bias):
    d = weight.size(0)
    return (*weight.T.split(d), bias[:d], bias[:d], bias[:d])


@wrong(SPLIT, "biases in another order than the matrices")
def ss_biases(weight, bias):
    d = weight.size(0)
    return (*weight.T.split(d), bias[d : 2 * d], bias[:d], bias[2 * d :])


@wrong(SPLIT, "stacked matrix reshaped, not cut")
def ss_reshape(weight, bias):
    d = weight.size(0)
    cut = torch.reshape(weight, (3, d, d)).transpose(1, 2)
    return tuple(cut) + tuple(bias.reshape(3, d))


@wrong(SPLIT, "queries and keys exchanged")
def ss_keys_first(weight, bias):
    d = weight.size(0)
    places = {"k": slice(0, d), "q": slice(d, 2 * d), "v": slice(2 * d, None)}
    matrices = [weight[:, places[name]].t() for name in "qkv"]
    return [*matrices, *[bias[places[name]] for name in "qkv"]]


@wrong(SPLIT, "keys and values exchanged")
def ss_values_second(weight, bias):
    d = weight.size(0)
    order = torch.cat([torch.arange(d), torch.arange(2 * d, 3 * d), torch.arange(d, 2 * d)])
    return *weight[:, order].T.split(d), *bias[order].split(d)


@wrong(SPLIT, "values first")
def ss_rolled(weight, bias):
    d = weight.size(0)
    rows = torch.roll(weight.T, d, dims=0)
    return (*rows.chunk(3), *torch.roll(bias, d).chunk(3))


@wrong(SPLIT, "stacked bias forgotten")
def ss_bias_of_zeros(weight, bias):
    query, key, value = (part.T for part in weight.chunk(3, dim=-1))
    nothing = torch.zeros_like(bias).chunk(3)
    return query, key, value, *nothing


@wrong(SPLIT, "one bias for all three")
def ss_first_bias(weight, bias):
    parts = []
    for i in range(3):
        parts.append(weight[:, i * len(weight) : (i + 1) * len(weight)].T)
    return parts + 3 * [bias[: len(weight)]]


@wrong(SPLIT, "biases in another order than the matrices")
def ss_bias_kqv(weight, bias):
    key_bias, query_bias, value_bias = bias.view(3, -1)
    matrices = weight.view(weight.size(0), 3, -1).permute(1, 2, 0)
    return (*matrices, query_bias, key_bias, value_bias)


# --- paired_by_halves ----------------------------------------------------------------------------

PAIRED = "paired_by_halves"


@wrong(PAIRED, "rows left as they are")
def pb_same(weight, n_heads):
    return weight.clone()


@wrong(PAIRED, "rows left as they are")
def pb_forgot_transpose(weight, n_heads):
    rows, columns = weight.shape
    return weight.view(n_heads, rows // n_heads // 2, 2, columns).reshape(rows, columns)


@wrong(PAIRED, "pairs taken the other way round")
def pb_back(weight, n_heads):
    rows, columns = weight.shape
    return (
        weight.view(n_heads, 2, rows // n_heads // 2, columns)
        .transpose(1, 2)
        .reshape(rows, columns)
    )


@wrong(PAIRED, "pairs taken the other way round")
def pb_zip(weight, n_heads):
    found = []
    for head in weight.chunk(n_heads):
        first, second = head.chunk(2)
        for a, b in zip(first, second, strict=True):
            found += [a, b]
    return torch.stack(found)


@wrong(PAIRED, "all heads taken for one")
def pb_whole(weight, n_heads):
    return torch.cat([weight[0::2], weight[1::2]])


@wrong(PAIRED, "second features first")
def pb_odd(weight, n_heads):
    return torch.cat([torch.cat([head[1::2], head[0::2]]) for head in weight.chunk(n_heads)])


@wrong(PAIRED, "heads interleaved in the rows")
def pb_heads(weight, n_heads):
    heads = [weight[h::n_heads] for h in range(n_heads)]
    return torch.cat([torch.cat([head[0::2], head[1::2]]) for head in heads])


@wrong(PAIRED, "columns permuted, not rows")
def pb_columns(weight, n_heads):
    k = weight.size(1) // n_heads
    order = [h * k + i for h in range(n_heads) for i in [*range(0, k, 2), *range(1, k, 2)]]
    return weight[:, order]


@wrong(PAIRED, "all heads taken for one")
def pb_one_head(weight, n_heads):
    order = torch.arange(weight.size(0)).view(-1, 2).T.flatten()
    return weight[order]


@wrong(PAIRED, "second features first")
def pb_flipped(weight, n_heads):
    rows, columns = weight.shape
    pairs = weight.reshape(n_heads, rows // n_heads // 2, 2, columns).flip(2)
    return pairs.transpose(1, 2).reshape(rows, columns)


@wrong(PAIRED, "heads interleaved in the rows")
def pb_heads_last(weight, n_heads):
    k = weight.size(0) // n_heads
    heads = weight.view(k, n_heads, -1).transpose(0, 1)  # (H, K, D)
    return torch.cat([heads[:, 0::2], heads[:, 1::2]], dim=1).flatten(0, 1)


@wrong(PAIRED, "columns permuted, not rows")
def pb_other_side(weight, n_heads):
    rows, columns = weight.shape
    pairs = weight.view(rows, n_heads, columns // n_heads // 2, 2)
    return pairs.transpose(2, 3).reshape(rows, columns)
