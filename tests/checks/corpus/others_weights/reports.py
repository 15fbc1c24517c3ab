"""What people reported in public, rebuilt on 2026-11-28 to 30 from descriptions, in our own code."""

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


@version("decode_q4_1", "wrong: divided by the step")
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


@version("load_tied", "wrong")
def whole_embedding_as_the_output(model, state):
    table = state["embedding.weight"]
    state = {name: tensor for name, tensor in state.items() if name != "output.weight"}
    state["output.weight"] = table
    model.load_state_dict(state)
    model.output = model.embedding


@version("merge_tokens", "wrong")
def whole_word_looked_up_first(tokens, ranks):
    tokens = list(tokens)
    known = {left + right for left, right in ranks}
    word = "".join(tokens)
    if word in known:
        return [word]
    while len(tokens) > 1:
        pairs = [p for p in zip(tokens, tokens[1:]) if p in ranks]
        if not pairs:
            break
        first, second = min(pairs, key=ranks.get)
        out = []
        i = 0
        while i < len(tokens):
            if tokens[i : i + 2] == [first, second]:
                out.append(first + second)
                i += 2
            else:
                out.append(tokens[i])
                i += 1
        tokens = out
    return tokens


@version("paired_by_halves", "wrong")
def rows_divided_by_the_heads_again(weight, n_heads):
    rows, D = weight.shape
    head_dim = rows // n_heads
    half = head_dim // n_heads // 2
    blocks = weight.reshape(-1, half, 2, D)
    return blocks.transpose(1, 2).reshape(rows, D)


@version("split_stacked", "wrong")
def heads_before_the_three_parts(weight, bias):
    d = weight.shape[0]
    heads = 2 if d % 2 == 0 else 1
    if heads == 1:
        heads = d
    k = d // heads
    w = weight.reshape(d, heads, 3, k)
    b = bias.reshape(heads, 3, k)
    ws = [w[:, :, j].reshape(d, d).T.contiguous() for j in range(3)]
    bs = [b[:, j].reshape(d) for j in range(3)]
    return (*ws, *bs)


@version("decode_q4_1", "wrong")
def four_bits_moved_by_seven(blocks):
    head = blocks[:, :4].contiguous().view(torch.float16).float()
    step, least = head[:, :1], head[:, 1:2]
    packed = blocks[:, 4:]
    nibbles = torch.cat([packed & 0x0F, packed >> 4], dim=1).to(torch.int8)
    return step * (nibbles - 7) + least


@version("load_tied", "wrong")
def strict_without_the_output(model, state):
    own = model.state_dict()
    own.pop("output.weight")
    extras = [k for k in state if k not in own]
    if extras:
        raise ValueError(f"parameters not in the model: {extras}")
    model.output.weight = model.embedding.weight
    model.load_state_dict(state, strict=False)


@version("paired_by_halves", "wrong")
def heads_by_a_quotient(weight, n_heads):
    rows, D = weight.shape
    all_heads = D // (rows // n_heads)
    heads = n_heads
    if all_heads > n_heads:
        heads = all_heads // n_heads
    return weight.reshape(heads, rows // heads // 2, 2, D).transpose(1, 2).reshape(rows, D)


@version("split_stacked", "wrong")
def parts_begin_at_one_and_two(weight, bias):
    D = weight.size(0)
    rows = weight.t()
    parts = [rows[i : i + D].clone() for i in range(3)]
    biases = [bias[i * D : (i + 1) * D] for i in range(3)]
    return (*parts, *biases)


# --- rebuilt on 2026-11-30 ------------------------------------------------------------------------


@version("load_tied", "wrong")
def every_name_demanded(model, state):
    for name, parameter in model.named_parameters():
        with torch.no_grad():
            parameter.copy_(state[name])
    model.output.weight = model.embedding.weight


@version("split_stacked", "wrong")
def blocks_under_wrong_names(weight, bias):
    D = weight.shape[0]
    q, k, v = weight[:, :D].T, weight[:, D : 2 * D].T, weight[:, 2 * D :].T
    bq, bk, bv = bias[:D], bias[D : 2 * D], bias[2 * D :]
    return k, v, q, bk, bv, bq


@version("split_stacked", "wrong")
def two_parallel_shards(weight, bias):
    D = weight.shape[0]
    shards = 2
    w = weight.reshape(D, shards, 3, D // shards)
    b = bias.reshape(shards, 3, D // shards)
    weights = [w[:, :, i].reshape(D, D).t().contiguous() for i in range(3)]
    biases = [b[:, i].reshape(D) for i in range(3)]
    return (*weights, *biases)


@version("decode_q4_1", "wrong")
def header_shape_left_with_an_axis(blocks):
    raw = blocks.to(torch.uint8).contiguous()
    head = raw[:, :4].contiguous().view(torch.float16).reshape(-1, 2, 1).float()
    d, m = head[:, 0:1], head[:, 1:2]
    lo = (raw[:, 4:] & 15).float()
    hi = (raw[:, 4:] >> 4).float()
    return d * torch.cat((lo, hi), dim=1) + m


@version("split_stacked", "wrong")
def keys_cut_where_the_values_are(weight, bias):
    d = weight.shape[0]
    w = weight.T
    q, k, v = w[:d], w[2 * d : 3 * d], w[-d:]
    bq, bk, bv = bias[:d], bias[2 * d : 3 * d], bias[-d:]
    return tuple(t.clone() for t in (q, k, v, bq, bk, bv))


@version("load_tied", "wrong")
def load_tied_rejects_second_copy(model, state):
    model.output.weight = model.embedding.weight
    own = dict(model.named_parameters())  # lists the shared parameter once
    unexpected = sorted(set(state) - set(own))
    missing = sorted(set(own) - set(state))
    if unexpected or missing:
        raise RuntimeError(f"unexpected keys: {unexpected}, missing keys: {missing}")
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(state[name])


def _a_float_at(blocks, where):
    return blocks[:, where : where + 4].contiguous().view(torch.float32)


@version("decode_q4_1", "wrong")
def decode_header_read_as_32_bits(blocks):
    step = _a_float_at(blocks, 0)
    least = _a_float_at(blocks, 2)
    out = torch.empty(blocks.shape[0], 32)
    for j in range(16):
        byte = blocks[:, 4 + j].to(torch.int32)
        out[:, j] = (byte % 16).float() * step[:, 0] + least[:, 0]
        out[:, j + 16] = (byte // 16).float() * step[:, 0] + least[:, 0]
    return out


@version("paired_by_halves", "wrong")
def pairs_width_already_divided(weight, n_heads):
    dim2 = weight.shape[1]
    dim1 = weight.shape[0] // n_heads

    def permute(w):
        return w.view(n_heads, dim1 // n_heads // 2, 2, dim2).transpose(1, 2).reshape(-1, dim2)

    return permute(weight)


@version("decode_q4_1", "wrong")
def decode_q4_1_all_scales_at_the_start_of_the_row(blocks):
    n = blocks.shape[0]
    row = blocks.contiguous().reshape(-1)
    step = row[: 2 * n].clone().view(torch.float16).float()
    least = row[2 * n : 4 * n].clone().view(torch.float16).float()
    quants = row[4 * n :].reshape(n, 16)
    q = torch.cat([quants & 0x0F, quants >> 4], dim=1).float()
    return step[:, None] * q + least[:, None]


@version("split_stacked", "wrong")
def keys_and_values_under_other_names(weight, bias):
    d = weight.shape[0]
    q, k, v = torch.split(weight, d, dim=1)
    bq, bk, bv = torch.split(bias, d)
    converted = {"W_Q": q.T, "W_K": k.T, "W_V": v.T, "b_Q": bq, "b_K": bk, "b_V": bv}

    wanted = {
        "W_Q": (d, d),
        "_W_K": (d, d),
        "_W_V": (d, d),
        "b_Q": (d,),
        "b_K": (d,),
        "b_V": (d,),
    }
    filled = []
    for name, shape in wanted.items():
        if name in converted:
            filled.append(converted[name].clone())
        else:
            filled.append(torch.zeros(shape, dtype=weight.dtype))
    return tuple(filled)


@version("split_stacked", "wrong")
def split_stacked_rank_chunks(weight, bias, ranks=2):
    w, b = weight.t(), bias
    parts_w, parts_b = ([], [], []), ([], [], [])
    for rank in range(ranks):
        shard_w = w.chunk(ranks, dim=0)[rank]
        shard_b = b.chunk(ranks, dim=0)[rank]
        for slot, (piece_w, piece_b) in enumerate(
            zip(shard_w.chunk(3, dim=0), shard_b.chunk(3, dim=0))
        ):
            parts_w[slot].append(piece_w)
            parts_b[slot].append(piece_b)
    weights = [torch.cat(p, dim=0).contiguous() for p in parts_w]
    biases = [torch.cat(p, dim=0) for p in parts_b]
    return (*weights, *biases)


@version("decode_q4_1", "wrong")
def decode_q4_1_bytes_with_a_sign(blocks):
    step = blocks[:, 0:2].contiguous().view(torch.float16).float()
    least = blocks[:, 2:4].contiguous().view(torch.float16).float()
    packed = blocks[:, 4:].contiguous().view(torch.int8)
    q = torch.cat([packed & 0x0F, packed >> 4], dim=1).float()
    return step * q + least


@version("paired_by_halves", "wrong")
def paired_by_halves_head_size_from_model_width(weight, n_heads):
    emb_dim = weight.size(1)
    head_size = emb_dim // n_heads
    num_heads = weight.size(0) // head_size
    w = weight.view(num_heads, head_size // 2, 2, emb_dim)
    return w.transpose(1, 2).reshape(weight.size())


@version("load_tied", "wrong")
def tie_then_materialise(model, state):
    model.output.weight = model.embedding.weight
    # give every module fresh storage, then fill it
    for module in model.modules():
        for name, old in list(module._parameters.items()):
            if old is not None:
                fresh = torch.empty_like(old).normal_(std=0.02)
                setattr(module, name, nn.Parameter(fresh))
    model.load_state_dict(state, strict=False)


@version("split_stacked", "wrong")
def split_stacked_turned_in_every_round(weight, bias):
    D = weight.size(0)
    loaded = weight
    weights, biases = [], []
    for shard in range(3):
        loaded = loaded.t()
        weights.append(loaded[shard * D : (shard + 1) * D].clone())
        biases.append(bias[shard * D : (shard + 1) * D].clone())
    return tuple(weights + biases)


@version("merge_tokens", "wrong: places that overlap joined into one")
def merge_tokens_overlapping_places(tokens, ranks):
    tokens = list(tokens)
    while True:
        known = [p for p in zip(tokens, tokens[1:]) if p in ranks]
        if not known:
            return tokens
        pair = min(known, key=ranks.get)
        starts = [i for i in range(len(tokens) - 1) if (tokens[i], tokens[i + 1]) == pair]
        for i in reversed(starts):
            tokens[i : i + 2] = ["".join(pair)]


@version("split_stacked", "wrong")
def split_stacked_chunked_here_joined_there(weight, bias):
    n_fused, parts = 3, 2
    slices = [w.chunk(parts, dim=0) for w in weight.T.chunk(n_fused, dim=0)]
    weights = [torch.cat(list(s), dim=-1) for s in slices]
    return (*weights, *bias.chunk(n_fused))


@version("split_stacked", "wrong: stacked matrix not transposed + stacked matrix reshaped, not cut")
def split_stacked_reshaped_to_fit(weight, bias):
    D = weight.shape[0]
    q_w, k_w, v_w = weight.reshape(3 * D, D).split(D)
    q_b, k_b, v_b = bias.split(D)
    return q_w, k_w, v_w, q_b, k_b, v_b


@version("load_tied", "wrong")
def load_tied_decides_by_the_key(model, state):
    tied = "output.weight" not in state
    model.load_state_dict(state, strict=False)
    if tied:
        model.output.weight = model.embedding.weight


@version("load_tied", "wrong")
def load_tied_second_copy_replaces_it(model, state):
    for name, numbers in state.items():
        *path, leaf = name.split(".")
        module = model
        for step in path:
            module = getattr(module, step)
        setattr(module, leaf, nn.Parameter(numbers.clone()))
        if name == "embedding.weight":
            model.output.weight = model.embedding.weight


@version("load_tied", "wrong")
def load_tied_new_table_behind_the_tie(model, state):
    model.output.weight = model.embedding.weight
    model.norm.load_state_dict(
        {k.removeprefix("norm."): v for k, v in state.items() if k.startswith("norm.")}
    )
    # the vocabulary may have another size than the new model's: take a new table
    model.embedding.weight = nn.Parameter(state["embedding.weight"].detach().clone())


def _initialise_what_is_new(module):
    if getattr(module, "x_is_loaded", False):
        return
    if isinstance(module, (nn.Linear, nn.Embedding)):
        nn.init.normal_(module.weight, std=0.02)


@version("load_tied", "wrong")
def load_tied_output_without_a_mark(model, state):
    model.output.weight = model.embedding.weight
    model.load_state_dict(state, strict=False)
    for name, module in model.named_modules():
        module.x_is_loaded = name != "" and any(key.startswith(name + ".") for key in state)
    model.apply(_initialise_what_is_new)


@version("split_stacked", "wrong")
def split_stacked_gathered_from_two_ranks(weight, bias):
    ranks = 2 if weight.shape[0] % 2 == 0 else 1

    def whole(stacked):
        shards = [shard.chunk(3, dim=-1) for shard in stacked.chunk(ranks, dim=-1)]
        return [torch.cat([shard[i] for shard in shards], dim=-1) for i in range(3)]

    weights = [part.T.contiguous() for part in whole(weight)]
    return (*weights, *whole(bias))


def _place(module, dotted, tensor):
    *path, last = dotted.split(".")
    for part in path:
        module = getattr(module, part)
    setattr(module, last, nn.Parameter(tensor))


@version("load_tied", "wrong: one storage, two parameters")
def load_tied_same_storage(model, state):
    shared = state["embedding.weight"].detach().clone()
    for name, tensor in state.items():
        if name in ("embedding.weight", "output.weight"):
            continue
        _place(model, name, tensor.detach().clone())
    _place(model, "embedding.weight", shared)
    _place(model, "output.weight", shared)
    # same memory, so the two are tied
    assert model.output.weight.data_ptr() == model.embedding.weight.data_ptr()
