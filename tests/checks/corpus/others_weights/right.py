"""Right versions of others weights, as people write them: none of these may be refused."""

import struct
from itertools import pairwise

import numpy as np
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


# --- decode_q4_1 ----------------------------------------------------------------------------------


@version("decode_q4_1", "right", "number by number")
def q4_loop(blocks):
    rows = []
    for block in blocks.tolist():
        d, m = struct.unpack("<ee", bytes(block[:4]))
        low = [d * (byte % 16) + m for byte in block[4:]]
        high = [d * (byte // 16) + m for byte in block[4:]]
        rows.append(low + high)
    return torch.tensor(rows)


@version("decode_q4_1", "right", "as numpy reads the fields")
def q4_fields(blocks):
    kind = np.dtype([("d", "<f2"), ("m", "<f2"), ("qs", "u1", 16)])
    fields = np.frombuffer(blocks.numpy().tobytes(), kind)
    q = (fields["qs"][:, None, :] >> np.array([0, 4], np.uint8)[:, None]) & 15
    numbers = fields["d"].astype("f4")[:, None] * q.reshape(len(q), 32).astype("f4")
    return torch.from_numpy(numbers + fields["m"].astype("f4")[:, None])


@version("decode_q4_1", "right", "each number written in its place")
def q4_places(blocks):
    out = torch.zeros(len(blocks), 32)
    halves = blocks[:, :4].clone().view(torch.half).float()
    for j in range(16):
        byte = blocks[:, 4 + j].int()
        out[:, j] = halves[:, 0] * (byte & 0x0F) + halves[:, 1]
        out[:, j + 16] = halves[:, 0] * (byte >> 4) + halves[:, 1]
    return out


# --- merge_tokens ---------------------------------------------------------------------------------


@version("merge_tokens", "right", "as GPT-2's first program wrote it")
def bpe_while(tokens, ranks):
    word = tuple(tokens)
    while len(word) > 1:
        pairs = {(word[i], word[i + 1]) for i in range(len(word) - 1)}
        best = min(pairs, key=lambda pair: ranks.get(pair, float("inf")))
        if best not in ranks:
            break
        first, second = best
        new, i = [], 0
        while i < len(word):
            if word[i] == first and i + 1 < len(word) and word[i + 1] == second:
                new.append(first + second)
                i += 2
            else:
                new.append(word[i])
                i += 1
        word = tuple(new)
    return list(word)


@version("merge_tokens", "right", "one join at a time, the leftmost of the lowest rank")
def bpe_one(tokens, ranks):
    left = list(tokens)
    while True:
        found = [(ranks[p], i) for i, p in enumerate(pairwise(left)) if p in ranks]
        if not found:
            return left
        i = min(found)[1]
        left[i : i + 2] = [left[i] + left[i + 1]]


@version("merge_tokens", "right", "calls itself")
def bpe_recursive(tokens, ranks):
    known = sorted((pair for pair in pairwise(tokens) if pair in ranks), key=ranks.get)
    if not known:
        return tokens
    a, b = known[0]
    i = next(i for i in range(len(tokens)) if tokens[i] == a and tokens[i + 1 : i + 2] == [b])
    return bpe_recursive([*tokens[:i], a + b, *tokens[i + 2 :]], ranks)


# --- load_tied -----------------------------------------------------------------------------------


@version("load_tied", "right", "with the name added")
def tied_by_name(model, state):
    state["output.weight"] = state["embedding.weight"]
    model.load_state_dict(state)
    model.output.weight = model.embedding.weight


@version("load_tied", "right", "tied first, in place")
def tied_first(model, state):
    model.output.weight = model.embedding.weight
    model.load_state_dict(state, strict=False)


@version("load_tied", "right", "number by number")
@torch.no_grad()
def tied_by_copying(model, state):
    for name, parameter in model.named_parameters():
        parameter.copy_(state.get(name, state["embedding.weight"]))
    del model.output.weight
    model.output.register_parameter("weight", model.embedding.weight)
