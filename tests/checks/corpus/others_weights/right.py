"""Right versions of others weights, as people write them: none of these may be refused."""

import torch

from tests.checks.corpus import version

# --- split_stacked --------------------------------------------------------------------------------


@version("split_stacked", "right", "transposed first, split along the rows")
def split_stacked_rows(weight, bias):
    d = weight.shape[0]
    return weight.T.split(d, dim=0) + bias.split(d)


@version("split_stacked", "right", "slices")
def split_stacked_slices(weight, bias):
    D = weight.size(0)
    q, k, v = weight[:, :D].t(), weight[:, D : 2 * D].t(), weight[:, 2 * D :].t()
    return q, k, v, bias[:D], bias[D : 2 * D], bias[2 * D :]


@version("split_stacked", "right", "reshape of the transposed")
def split_stacked_reshape(weight, bias):
    d = weight.size(0)
    parts = weight.transpose(0, 1).reshape(3, d, d)
    return [parts[0], parts[1], parts[2]] + list(bias.view(3, d))


@version("split_stacked", "right", "number by number")
def split_stacked_loops(weight, bias):
    d = weight.size(0)
    weights, biases = [], []
    for part in range(3):
        w, b = torch.empty(d, d), torch.empty(d)
        for i in range(d):
            for j in range(d):
                w[i, j] = weight[j, part * d + i]
            b[i] = bias[part * d + i]
        weights.append(w)
        biases.append(b)
    return weights + biases


@version("split_stacked", "right", "unflatten and permute")
def split_stacked_permute(weight, bias):
    weights = weight.unflatten(1, (3, -1)).permute(1, 2, 0).unbind()
    return (*weights, *bias.unflatten(0, (3, -1)).unbind())


# --- paired_by_halves -----------------------------------------------------------------------------


@version("paired_by_halves", "right", "as the converters write it")
def paired_view(w, n_heads):
    dim1, dim2 = w.shape
    return w.view(n_heads, dim1 // n_heads // 2, 2, dim2).transpose(1, 2).reshape(dim1, dim2)


@version("paired_by_halves", "right", "even rows, then odd ones")
def paired_strides(weight, n_heads):
    heads = weight.chunk(n_heads)
    return torch.cat([torch.cat([head[0::2], head[1::2]]) for head in heads])


@version("paired_by_halves", "right", "a list of row numbers")
def paired_index(weight, n_heads):
    k = weight.size(0) // n_heads
    order = [h * k + i for h in range(n_heads) for i in [*range(0, k, 2), *range(1, k, 2)]]
    return weight[order]


@version("paired_by_halves", "right", "row by row")
def paired_loop(weight, n_heads):
    new = torch.zeros_like(weight)
    width = len(weight) // n_heads
    for h in range(n_heads):
        for i in range(width // 2):
            new[h * width + i] = weight[h * width + 2 * i]
            new[h * width + i + width // 2] = weight[h * width + 2 * i + 1]
    return new
