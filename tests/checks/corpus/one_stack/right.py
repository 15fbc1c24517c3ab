"""Right versions of one stack, as people write them: none of these may be refused."""

import torch
import torch.nn.functional as F

from tests.checks.corpus import version

# --- prefix_mask ----------------------------------------------------------------------------------


@version("prefix_mask", "right", "comparisons of places")
def prefix_mask_places(real, prefix):
    place = torch.arange(real.shape[1])
    seen = (place[None, :] <= place[:, None]) | (place[None, :] < prefix)
    return seen[None, None] & real[:, None, None, :]


@version("prefix_mask", "right", "a slice set to True")
def prefix_mask_slice(real, prefix):
    b, s = real.shape
    mask = torch.ones(s, s).tril().bool().repeat(b, 1, 1, 1)
    mask[..., :prefix] = True
    return mask & real.view(b, 1, 1, s)


@version("prefix_mask", "right", "four loops")
def prefix_mask_loops(real, prefix):
    b, s = real.shape
    rows = real.tolist()
    table = [
        [[[rows[i][k] and (k <= q or k < prefix) for k in range(s)] for q in range(s)]]
        for i in range(b)
    ]
    return torch.tensor(table)


@version("prefix_mask", "right", "last place that is seen")
def prefix_mask_last(real, prefix):
    s = real.size(1)
    last = torch.arange(s).clamp(min=prefix - 1)
    return real[:, None, None] & (torch.arange(s) <= last.unsqueeze(-1))


@version("prefix_mask", "right", "not forbidden")
def prefix_mask_forbidden(real, prefix):
    s = real.size(1)
    future = torch.ones(s, s, dtype=torch.bool).triu(1)
    future[:, :prefix] = False
    return ~(future | ~real[:, None, None, :])


@version("prefix_mask", "right", "blocks")
def prefix_mask_blocks(real, prefix):
    n = real.size(1) - prefix
    top = torch.cat([torch.ones(prefix, prefix), torch.zeros(prefix, n)], dim=1)
    bottom = torch.cat([torch.ones(n, prefix), torch.ones(n, n).tril()], dim=1)
    return torch.cat([top, bottom]).bool()[None, None].logical_and(real[:, None, None, :])


# --- one_stack_labels -----------------------------------------------------------------------------


@version("one_stack_labels", "right", "zeros in front")
def labels_zeros(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    labels = torch.cat([torch.zeros_like(source), target[:, 1:]], dim=1)
    return inputs, labels


@version("one_stack_labels", "right", "one sequence, shifted, the source wiped")
def labels_wiped(source, target):
    both = torch.cat((source, target), 1)
    inputs, labels = both[:, :-1], both[:, 1:].clone()
    labels[:, : source.size(1)] = 0
    return inputs, labels


@version("one_stack_labels", "right", "F.pad")
def labels_padded(source, target):
    return [torch.hstack([source, target[:, :-1]]), F.pad(target[:, 1:], (source.shape[1], 0))]


@version("one_stack_labels", "right", "lists")
def labels_lists(source, target):
    inputs, labels = [], []
    for s, t in zip(source.tolist(), target.tolist()):
        inputs.append(s + t[:-1])
        labels.append([0] * len(s) + t[1:])
    return torch.tensor(inputs), torch.tensor(labels)


@version("one_stack_labels", "right", "where")
def labels_where(source, target):
    both = torch.cat([source, target], dim=-1)
    asked = torch.arange(both.size(1) - 1) >= source.size(1)
    return both[:, :-1], torch.where(asked, both[:, 1:], 0)


# --- real_positions -------------------------------------------------------------------------------


@version("real_positions", "right", "a running sum")
def positions_by_sum(tokens):
    return ((tokens != 0).cumsum(-1) - 1).clamp(min=0)


@version("real_positions", "right", "counted in a loop")
def positions_by_loops(tokens):
    found = torch.zeros_like(tokens)
    for i, row in enumerate(tokens.tolist()):
        count = 0
        for j, token in enumerate(row):
            found[i, j] = max(0, count - (token == 0))
            count += token != 0
    return found


@version("real_positions", "right", "a product with a triangle")
def positions_by_triangle(tokens):
    real = tokens.ne(0).float()
    up_to_here = torch.ones(tokens.size(1), tokens.size(1)).triu()
    return (real @ up_to_here - 1).relu().long()


# --- pad_left ------------------------------------------------------------------------------------


@version("pad_left", "right", "zeros filled")
def left_filled(rows):
    tokens = torch.zeros(len(rows), max(map(len, rows)), dtype=torch.long)
    for i, row in enumerate(rows):
        tokens[i, -len(row) :] = torch.tensor(row)
    return tokens, tokens > 0


@version("pad_left", "right", "turned, padded, turned back")
def left_by_flipping(rows):
    turned = [torch.tensor(row[::-1]) for row in rows]
    tokens = torch.nn.utils.rnn.pad_sequence(turned, batch_first=True).flip(1)
    return tokens, tokens.ne(0)


@version("pad_left", "right", "mask from the lengths")
def left_by_length(rows):
    longest = max(len(row) for row in rows)
    missing = torch.tensor([longest - len(row) for row in rows])
    tokens = [[0] * (longest - len(row)) + row for row in rows]
    return torch.tensor(tokens), torch.arange(longest) >= missing[:, None]
