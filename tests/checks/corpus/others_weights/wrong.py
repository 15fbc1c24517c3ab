"""Wrong versions of others weights: each makes the mistake that is named."""

import torch

from tests.checks.corpus import version

# --- split_stacked --------------------------------------------------------------------------------


@version("split_stacked", "wrong: stacked matrix not transposed")
def ss_plain(weight, bias):
    return *weight.chunk(3, dim=1), *bias.chunk(3)


@version("split_stacked", "wrong: stacked matrix not transposed")
def ss_twice(weight, bias):
    d = weight.size(0)
    rows = weight.T  # (3D, D)
    parts = [rows[i * d : (i + 1) * d].T for i in range(3)]
    return [*parts, *(bias[i * d : (i + 1) * d] for i in range(3))]


@version("split_stacked", "wrong: stacked matrix reshaped, not cut")
def ss_view(weight, bias):
    d = weight.shape[0]
    q, k, v = weight.view(3, d, d)
    return q.T, k.T, v.T, *bias.view(3, d).unbind()


@version("split_stacked", "wrong: every third column")
def ss_step(weight, bias):
    return [*(weight[:, i::3].T for i in range(3)), *(bias[i::3] for i in range(3))]


@version("split_stacked", "wrong: every third column")
def ss_last_axis(weight, bias):
    d = weight.size(0)
    return *weight.view(d, d, 3).permute(2, 1, 0).unbind(), *bias.view(d, 3).T.unbind()


@version("split_stacked", "wrong: queries and keys exchanged")
def ss_kqv(weight, bias):
    key, query, value = weight.T.chunk(3)
    bias_k, bias_q, bias_v = bias.chunk(3)
    return query, key, value, bias_q, bias_k, bias_v


@version("split_stacked", "wrong: keys and values exchanged")
def ss_qvk(weight, bias):
    query, value, key = weight.T.chunk(3)
    bias_q, bias_v, bias_k = bias.chunk(3)
    return query, key, value, bias_q, bias_k, bias_v


@version("split_stacked", "wrong: stacked bias forgotten")
def ss_no_bias(weight, bias):
    d = weight.size(0)
    return (*weight.T.split(d), *[torch.zeros(d) for _ in range(3)])


@version("split_stacked", "wrong: one bias for all three")
def ss_one_bias(weight, bias):
    d = weight.size(0)
    return (*weight.T.split(d), bias[:d], bias[:d], bias[:d])


@version("split_stacked", "wrong: biases in another order than the matrices")
def ss_biases(weight, bias):
    d = weight.size(0)
    return (*weight.T.split(d), bias[d : 2 * d], bias[:d], bias[2 * d :])


@version("split_stacked", "wrong: queries and keys exchanged")
def ss_keys_first(weight, bias):
    d = weight.size(0)
    places = {"k": slice(0, d), "q": slice(d, 2 * d), "v": slice(2 * d, None)}
    matrices = [weight[:, places[name]].t() for name in "qkv"]
    return [*matrices, *[bias[places[name]] for name in "qkv"]]


@version("split_stacked", "wrong: values first")
def ss_rolled(weight, bias):
    d = weight.size(0)
    rows = torch.roll(weight.T, d, dims=0)
    return (*rows.chunk(3), *torch.roll(bias, d).chunk(3))


@version("split_stacked", "wrong: one bias for all three")
def ss_first_bias(weight, bias):
    parts = []
    for i in range(3):
        parts.append(weight[:, i * len(weight) : (i + 1) * len(weight)].T)
    return parts + 3 * [bias[: len(weight)]]


# --- paired_by_halves -----------------------------------------------------------------------------


@version("paired_by_halves", "wrong: rows left as they are")
def pb_same(weight, n_heads):
    return weight.clone()


@version("paired_by_halves", "wrong: pairs taken the other way round")
def pb_back(weight, n_heads):
    rows, columns = weight.shape
    return (
        weight.view(n_heads, 2, rows // n_heads // 2, columns)
        .transpose(1, 2)
        .reshape(rows, columns)
    )


@version("paired_by_halves", "wrong: all heads taken for one")
def pb_whole(weight, n_heads):
    return torch.cat([weight[0::2], weight[1::2]])


@version("paired_by_halves", "wrong: second features first")
def pb_odd(weight, n_heads):
    return torch.cat([torch.cat([head[1::2], head[0::2]]) for head in weight.chunk(n_heads)])


@version("paired_by_halves", "wrong: heads interleaved in the rows")
def pb_heads(weight, n_heads):
    heads = [weight[h::n_heads] for h in range(n_heads)]
    return torch.cat([torch.cat([head[0::2], head[1::2]]) for head in heads])


@version("paired_by_halves", "wrong: columns permuted, not rows")
def pb_columns(weight, n_heads):
    k = weight.size(1) // n_heads
    order = [h * k + i for h in range(n_heads) for i in [*range(0, k, 2), *range(1, k, 2)]]
    return weight[:, order]
