"""What people reported in public, rebuilt on 2026-11-28 and 29 from descriptions, in our own code."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from tests.checks.corpus import version


@version("merge_tokens", "wrong")
def ranks_of_single_pieces(tokens, ranks):
    parts = list(tokens)
    while True:
        found = [(ranks[part], i) for i, part in enumerate(parts) if part in ranks]
        if not found:
            return parts
        _, i = min(found)
        parts[i : i + 2] = ["".join(parts[i : i + 2])]


@version("merge_tokens", "wrong: the first pair met joined, from left to right")
def left_to_right_first_found(tokens, ranks):
    tokens, i = list(tokens), 0
    while i + 1 < len(tokens):
        if (tokens[i], tokens[i + 1]) in ranks:
            tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
            i = 0
        else:
            i += 1
    return tokens


@version("load_tied", "wrong: tied, and then loaded with assign=True")
def tied_and_then_assigned(model, state):
    model.output.weight = model.embedding.weight
    model.load_state_dict({k: nn.Parameter(v) for k, v in state.items()}, strict=False, assign=True)


@version("paired_by_halves", "wrong")
def as_many_rows_as_columns(weight, n_heads):
    dim = weight.size(1)
    return weight.view(n_heads, dim // n_heads // 2, 2, dim).transpose(1, 2).reshape(dim, dim)


@version("paired_by_halves", "right", "view, transpose, reshape, reported as wrong")
def viewed_and_transposed(weight, n_heads):
    rows, columns = weight.shape
    w = weight.view(n_heads, rows // n_heads // 2, 2, columns)
    return w.transpose(1, 2).reshape(rows, columns)


@version("decode_q4_1", "wrong: the least number read as four numbers")
def quants_from_byte_two(blocks):
    head = blocks[:, :4].contiguous().view(torch.float16).float()
    scale, bias = head[:, :1], head[:, 1:2]
    data = blocks[:, 2:18]
    q = torch.cat([data & 0x0F, data >> 4], dim=1).float()
    return q * scale + bias


@version("load_tied", "wrong")
def put_where_each_name_is_looked_up(model, state):
    model.output.weight = model.embedding.weight
    params_dict = dict(model.named_parameters())
    for name, loaded_weight in state.items():
        param = params_dict[name]
        param.data.copy_(loaded_weight)


@version("load_tied", "wrong: loaded as if both names were in the file")
def loaded_strictly(model, state):
    model.load_state_dict(state)
    model.output.weight = model.embedding.weight


@version("merge_tokens", "wrong: pairs looked up by what they spell")
def pairs_by_their_spelling(tokens, ranks):
    by_text = {}
    for (left, right), rank in ranks.items():
        text = left + right
        by_text[text] = min(rank, by_text.get(text, rank))
    tokens = list(tokens)
    while True:
        found = [by_text[a + b] for a, b in zip(tokens, tokens[1:]) if a + b in by_text]
        if not found:
            return tokens
        lowest = min(found)
        joined, i = [], 0
        while i < len(tokens):
            if i + 1 < len(tokens) and by_text.get(tokens[i] + tokens[i + 1]) == lowest:
                joined.append(tokens[i] + tokens[i + 1])
                i += 2
            else:
                joined.append(tokens[i])
                i += 1
        tokens = joined


@version("decode_q4_1", "wrong")
def second_number_subtracted(blocks):
    rows = []
    for block in blocks:
        d, m = block[:4].clone().view(torch.float16).float()
        q = torch.cat([block[4:] & 15, block[4:] >> 4]).float()
        rows.append((q - m) * d)
    return torch.stack(rows)


@version("load_tied", "wrong")
def tied_only_if_the_state_has_it(model, state):
    model.load_state_dict(state, strict=False)
    if "output.weight" in state:
        model.output.weight = model.embedding.weight


@version("paired_by_halves", "wrong")
def width_of_a_head_from_the_columns(weight, n_heads):
    dim = weight.shape[1]
    head_dim = dim // n_heads
    w = weight.reshape(n_heads, head_dim // 2, 2, -1)
    return w.transpose(1, 2).reshape(weight.shape)


@version("decode_q4_1", "wrong")
def divided_by_the_step(blocks):
    raw = blocks.numpy()
    halves = np.ascontiguousarray(raw[:, :4]).view(np.float16).astype(np.float32)
    low = raw[:, 4:] & 0x0F
    high = raw[:, 4:] >> 4
    q = np.concatenate([low, high], axis=1).astype(np.float32)
    return torch.from_numpy(q / halves[:, :1] + halves[:, 1:2])


@version("decode_q4_1", "wrong")
def both_groups_from_the_lower_bits(blocks):
    step = blocks[:, 0:2].contiguous().view(torch.float16).float()
    least = blocks[:, 2:4].contiguous().view(torch.float16).float()
    out = torch.empty(blocks.shape[0], 32)
    for group in range(2):
        for c in range(16):
            q = blocks[:, 4 + c] & 15
            out[:, group * 16 + c] = step[:, 0] * q + least[:, 0]
    return out
