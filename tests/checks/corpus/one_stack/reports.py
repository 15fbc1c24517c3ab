"""What people reported in public, rebuilt on 2026-11-28 to 30 from descriptions, in our own code."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from tests.checks.corpus import version


@version("real_positions", "wrong: all padding of the row subtracted")
def offset_by_the_padding(tokens):
    missing = (tokens == 0).sum(1, keepdim=True)
    return torch.arange(tokens.size(1)) - missing


@version("one_stack_labels", "wrong: first token of the target not asked for")
def one_place_too_late(source, target):
    tokens = torch.cat([source, target[:, :-1]], dim=1)
    labels = torch.cat([source, target[:, 1:]], dim=1)
    labels[:, : source.size(1) + 1] = 0
    return tokens, labels


@version("one_stack_labels", "wrong")
def sources_padding_in_front(source, target):
    rows = []
    for row in source.tolist():
        words = [t for t in row if t != 0]
        rows.append([0] * (len(row) - len(words)) + words)
    left = torch.tensor(rows, dtype=source.dtype)
    labels = torch.cat([torch.zeros_like(source), target[:, 1:]], 1)
    return torch.cat([left, target[:, :-1]], 1), labels


@version("one_stack_labels", "wrong: <sos> asked for + end of the target not asked for")
def mask_shifted_against_the_labels(source, target):
    ids = torch.cat([source, target], dim=1)
    loss_mask = torch.zeros_like(ids)
    loss_mask[:, source.size(1) + 1 :] = target[:, 1:] != 0
    labels = ids[:, 1:]
    mask = torch.cat([loss_mask[:, 2:], torch.zeros_like(loss_mask[:, :1])], dim=1)
    return ids[:, :-1], labels * mask


@version(
    "one_stack_labels", "wrong: loss on the prefix, not shifted + labels of the target not shifted"
)
def labels_that_are_read(source, target):
    ids = torch.cat((source, target[:, :-1]), 1)
    return ids, ids.clone()


PAD = EOS = 2


@version("pad_left", "wrong")
def padded_with_the_end(rows):
    width = max(len(row) for row in rows)
    tokens = torch.full((len(rows), width), PAD)
    for b, row in enumerate(rows):
        tokens[b, -len(row) :] = torch.as_tensor(row)
    real = tokens.ne(PAD)
    return tokens, real


@version("pad_left", "wrong")
def padded_with_the_end_in_a_list(rows):
    T = max(map(len, rows))
    tokens = torch.full((len(rows), T), 2)
    real = torch.zeros(len(rows), T, dtype=torch.bool)
    for i, row in enumerate(rows):
        tokens[i, T - len(row) :] = torch.tensor(row)
        real[i, T - len(row) :] = True
    return tokens, real


@version("prefix_mask", "wrong: padding of the prefix seen from the prefix")
def prefix_open_for_itself(real, prefix):
    n = real.size(1)
    causal = torch.ones(n, n, dtype=torch.bool).tril()
    mask = causal[None] & real[:, None, :]
    mask[:, :prefix, :prefix] = True
    return mask[:, None]


@version("prefix_mask", "wrong")
def prefix_one_place_short(real, prefix):
    length = real.size(1)
    mask = torch.ones(length, length, dtype=torch.bool).tril()
    mask[: prefix - 1, : prefix - 1] = True
    return mask[None, None] & real[:, None, None, :]


@version("real_positions", "wrong")
def positions_of_the_longest_row(tokens):
    real = tokens != 0
    row = real.sum(dim=1).argmax()
    position = (real[row].long().cumsum(0) - 1).clamp(min=0)
    return position.expand_as(tokens)


@version("prefix_mask", "wrong")
def padding_hidden_from_the_last_place(real, prefix):
    N = real.size(1)
    i = torch.arange(N, device=real.device)
    seen = (i[None, :] <= i[:, None]) | (i[None, :] < prefix)
    mask = seen.repeat(real.size(0), 1, 1, 1)
    mask[:, 0, -1] &= real
    return mask


@version("real_positions", "wrong: counted from behind the padding's id")
def counted_from_the_padding_id_plus_one(tokens):
    pad = 0
    positions = torch.full_like(tokens, pad)
    for b, row in enumerate(tokens.tolist()):
        position = pad + 1
        for t, token in enumerate(row):
            if token != pad:
                positions[b, t] = position
                position += 1
    return positions


@version("one_stack_labels", "wrong")
def labels_are_a_view(source, target):
    sequence = torch.cat((source, target), dim=1)
    tokens, labels = sequence[:, :-1], sequence[:, 1:]
    labels[:, : source.size(1)] = 0
    return tokens, labels


@version(
    "real_positions", "wrong: places of the tensor for positions + real positions counted from one"
)
def numbered_through_from_one(tokens):
    first = 0 + 1
    return torch.ones_like(tokens).cumsum(dim=1) - 1 + first


@version("one_stack_labels", "wrong")
def source_asked_for_as_well(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    asked_of_source = F.pad(source[:, 1:], (0, 1))
    labels = torch.cat([asked_of_source, target[:, 1:]], dim=1)
    return inputs, labels


@version("pad_left", "wrong")
def turned_round_along_the_batch(rows):
    flipped = [torch.tensor(row).flip(0) for row in rows]
    padded = pad_sequence(flipped, batch_first=False, padding_value=0)
    tokens = padded.flip(1).t().contiguous()
    return tokens, tokens.ne(0)


@version("pad_left", "wrong")
def filled_in_front_and_behind(rows):
    longest = max(map(len, rows))
    sequence_length = longest + 1
    tokens = []
    for row in rows:
        row = [0] * (longest - len(row)) + list(row)
        tokens.append(row + [0] * (sequence_length - len(row)))
    tokens = torch.tensor(tokens)
    return tokens, tokens > 0


def collate(rows, pad_id=0):
    width = max(len(row) for row in rows)
    return torch.tensor([[pad_id] * (width - len(row)) + list(row) for row in rows])


def attention_mask(tokens, pad_token_id=2):
    return tokens.ne(pad_token_id)


@version("pad_left", "wrong")
def mask_of_another_padding_id(rows):
    tokens = collate(rows)
    return tokens, attention_mask(tokens)


@version("prefix_mask", "wrong")
def prefix_sees_all_and_the_rest_itself(real, prefix):
    n = real.size(1)
    q_idx = torch.arange(n).view(n, 1)
    kv_idx = torch.arange(n).view(1, n)
    allowed = (q_idx < prefix) | ((q_idx >= prefix) & (kv_idx >= prefix) & (q_idx >= kv_idx))
    return allowed.view(1, 1, n, n) & real.view(-1, 1, 1, n)


@version(
    "real_positions", "wrong: padding in front subtracted, and no other + padding at position zero"
)
def gaps_counted_as_positions(tokens):
    real = tokens != 0
    in_front = (real.long().cumsum(dim=1) == 0).sum(dim=1, keepdim=True)
    positions = torch.arange(tokens.size(1)).unsqueeze(0) - in_front
    return positions.masked_fill(~real, 0)


@version("real_positions", "wrong")
def padding_below_zero(tokens):
    real = tokens.ne(0).long()
    return torch.cumsum(real, dim=1) * real - 1


@version("one_stack_labels", "wrong")
def padding_asked_for_as_the_end(source, target):
    nothing = torch.zeros_like(source)
    labels = target[:, 1:].clone()
    labels[labels == 0] = 2
    return torch.cat((source, target[:, :-1]), 1), torch.cat((nothing, labels), 1)


@version("one_stack_labels", "wrong")
def real_tokens_left_unasked(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    whole = torch.cat([source, target], dim=1)
    labels = whole[:, 1:].clone()
    prefix = (source != 0).sum(dim=1)
    for row in range(labels.shape[0]):
        labels[row, : prefix[row]] = 0
    return inputs, labels


# --- rebuilt on 2026-11-30 ------------------------------------------------------------------------


@version("one_stack_labels", "wrong")
def source_asked_for(source, target):
    seq = torch.cat([source, target], dim=1)
    seq, labels = seq[:, :-1].clone(), seq[:, 1:].clone()
    prompt = torch.arange(labels.size(1)) < source.size(1)
    labels.masked_fill_(~prompt, 0)
    return seq, labels


@version("one_stack_labels", "wrong: labels of the target not shifted + labels one place early")
def asked_one_place_early(source, target):
    S, T = source.size(1), target.size(1) - 1
    ids = torch.cat([source, target], dim=1)
    loss_mask = torch.zeros(S + T, dtype=torch.long)
    loss_mask[S - 1 : S + T - 1] = 1
    return ids[:, :-1], ids[:, 1:] * loss_mask


@version("prefix_mask", "wrong")
def prefix_as_an_offset(real, prefix):
    L = real.size(1)
    query_pos = torch.arange(L).unsqueeze(1)
    key_pos = torch.arange(L).unsqueeze(0)
    allowed = ~(key_pos > query_pos + prefix)
    return allowed & real[:, None, None, :]


@version("real_positions", "wrong")
def positions_start_at_two(tokens):
    padding_position = 1
    mask = tokens.ne(0).long()
    return torch.cumsum(mask, dim=1) * mask + padding_position


@version("pad_left", "wrong")
def pad_left_squeezes_a_batch_of_one(rows):
    longest = max(len(r) for r in rows)
    tokens = torch.zeros(len(rows), longest, dtype=torch.long)
    for b, row in enumerate(rows):
        tokens[b, longest - len(row) :] = torch.tensor(row)
    tokens = tokens.squeeze(0)
    return tokens, tokens != 0


@version("prefix_mask", "wrong")
def prefix_mask_only_causal_and_padding_rows_see_all(real, prefix):
    batch, size = real.shape
    padding = real.float()
    full = torch.ones(batch, size, size).tril()
    full = full * padding.unsqueeze(1)
    full = full - (padding.unsqueeze(-1) - 1)
    return (full > 0.5).unsqueeze(1)


@version(
    "real_positions",
    "wrong: padding in front below zero + padding in front subtracted, and no other",
)
def positions_go_on_in_padding(tokens):
    mask = tokens.ne(0).long()
    in_front = (mask.cumsum(dim=1) == 0).sum(dim=1, keepdim=True)
    positions = torch.arange(tokens.size(1)).expand_as(tokens) - in_front
    return positions * mask + positions * (1 - mask)


@version("pad_left", "wrong: padded behind before going on + padding not masked")
def padded_behind_and_mask_dropped(rows):
    batch = [torch.tensor(row, dtype=torch.long) for row in rows]
    tokens = nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=0)
    return tokens, torch.ones_like(tokens, dtype=torch.bool)


@version("pad_left", "wrong")
def new_pad_token_behind_the_vocabulary(rows):
    pad = max(max(row) for row in rows) + 1
    longest = max(len(row) for row in rows)
    filled = [[pad] * (longest - len(row)) + list(row) for row in rows]
    tokens = torch.tensor(filled)
    return tokens, tokens != pad


@version("real_positions", "wrong")
def real_positions_rest_assigned_without_row_index(tokens):
    batch, length = tokens.shape
    position_ids = torch.arange(length, device=tokens.device).unsqueeze(0).repeat(batch, 1)
    for i in range(batch):
        real = (tokens[i] != 0).nonzero().flatten()
        end = int(real[-1]) + 1 if len(real) else 0
        inside = (tokens[i, :end] != 0).long().cumsum(0) - 1
        position_ids[i, :end] = inside.clamp(min=0)
        position_ids[end:] = max(len(real) - 1, 0)
    return position_ids


def u_one_prefix_mask(real, prefix):
    n = real.shape[0]
    mask = torch.ones(n, n, dtype=torch.bool, device=real.device).tril()
    mask[:, :prefix] = True
    return mask & real[None, :]


@version("prefix_mask", "wrong")
def prefix_mask_of_the_first_row_for_the_batch(real, prefix):
    mask = u_one_prefix_mask(real[0], prefix)
    return mask[None, None].expand(real.shape[0], 1, -1, -1)


@version("prefix_mask", "wrong")
def prefix_mask_data_for_one_row_in_a_batch_shape(real, prefix):
    b, n = real.shape
    data = [j <= i or j < prefix for i in range(n) for j in range(n)]
    mask = torch.zeros(b * n * n, dtype=torch.bool, device=real.device)
    mask[: n * n] = torch.tensor(data, device=real.device)
    return mask.view(b, 1, n, n) & real.view(b, 1, 1, n)


def _fit(values, room, last):
    if len(values) < room:
        return values
    return values[: room - 1] + [last]


@version("one_stack_labels", "wrong")
def one_stack_labels_hides_the_end_of_full_rows(source, target):
    room = target.shape[1] - 1
    read, say = [], []
    for src, tgt in zip(source.tolist(), target.tolist()):
        said = [i for i in tgt[1:] if i != 0]
        hidden = [False] * len(said)
        said, hidden = _fit(said, room, 2), _fit(hidden, room, True)
        said = [0 if h else i for i, h in zip(said, hidden)]
        read.append(src + tgt[:-1])
        say.append([0] * len(src) + said + [0] * (room - len(said)))
    return (
        torch.tensor(read, dtype=source.dtype, device=source.device),
        torch.tensor(say, dtype=source.dtype, device=source.device),
    )
