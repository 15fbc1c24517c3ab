"""Wrong versions of one stack: each makes the mistake that is named."""

import torch
import torch.nn.functional as F

from tests.checks.corpus import version

# --- prefix_mask ----------------------------------------------------------------------------------


def lower(n):
    return torch.ones(n, n).tril().bool()


def keys(real):
    return real[:, None, None, :]


@version("prefix_mask", "wrong: prefix ignored")
def mask_causal(real, prefix):
    return keys(real) & lower(real.size(1))


@version("prefix_mask", "wrong: prefix visible to itself alone")
def mask_block_diagonal(real, prefix):
    n = real.size(1) - prefix
    seen = torch.block_diag(torch.ones(prefix, prefix), torch.ones(n, n).tril()).bool()
    return real.unsqueeze(1).unsqueeze(1) & seen


@version("prefix_mask", "wrong: causal mask forgotten in the target")
def mask_rows_of_the_target(real, prefix):
    place = torch.arange(real.size(1))
    seen = (place[None] < prefix) | (place[:, None] >= prefix)
    return seen & keys(real)


@version("prefix_mask", "wrong: everything visible to everyone")
def mask_padding_only(real, prefix):
    return keys(real).expand(-1, 1, real.size(1), -1)


@version("prefix_mask", "wrong: everything visible to everyone")
def mask_padding_small(real, prefix):
    return real.unsqueeze(1).unsqueeze(2)


@version("prefix_mask", "wrong: places of the prefix see the target")
def mask_rows_set(real, prefix):
    seen = lower(real.size(1))
    seen[:prefix] = True
    return keys(real) & seen


def before(n, prefix):
    return torch.arange(n) < prefix


@version("prefix_mask", "wrong: and in place of or")
def mask_product(real, prefix):
    s = real.size(1)
    return (real.int()[:, None, None] * lower(s).int() * before(s, prefix).int()).bool()


@version("prefix_mask", "wrong: prefix instead of causal")
def mask_prefix_slice(real, prefix):
    seen = torch.zeros(real.size(1), real.size(1), dtype=torch.bool)
    seen[:, :prefix] = True
    return seen & keys(real)


@version("prefix_mask", "wrong: prefix one place too long")
def mask_too_long(real, prefix):
    s = real.size(1)
    return keys(real) & (lower(s) | (torch.arange(s) <= prefix))


@version("prefix_mask", "wrong: prefix one place too short")
def mask_too_short(real, prefix):
    s = real.size(1)
    return keys(real) & (lower(s) | (torch.arange(s) + 1 < prefix))


@version("prefix_mask", "wrong: prefix counted in real tokens")
def mask_cumsum(real, prefix):
    first = (real.cumsum(1) <= prefix)[:, None, None, :]
    return keys(real) & (lower(real.size(1)) | first)


@version("prefix_mask", "wrong: last places open in place of the first")
def mask_suffix(real, prefix):
    s = real.size(1)
    seen = lower(s)
    seen[:, s - prefix :] = True
    return keys(real) & seen


@version("prefix_mask", "wrong: padding of the prefix seen")
def mask_opened_last(real, prefix):
    mask = keys(real) & lower(real.size(1))
    mask[..., :prefix] = True
    return mask


@version("prefix_mask", "wrong: padding of one sequence forgotten")
def mask_no_padding(real, prefix):
    s = real.size(1)
    return (lower(s) | before(s, prefix)).expand(real.size(0), 1, s, s)


@version("prefix_mask", "wrong: padding of one sequence forgotten")
def mask_no_padding_small(real, prefix):
    seen = lower(real.size(1))
    seen[:, :prefix] = True
    return seen


@version("prefix_mask", "wrong: query rows of one sequence masked")
def mask_rows_transposed(real, prefix):
    seen = lower(real.size(1))
    seen[:, :prefix] = True
    return real.unsqueeze(1).unsqueeze(-1) & seen


@version("prefix_mask", "wrong: padding inverted in one sequence")
def mask_inverted_slice(real, prefix):
    seen = lower(real.size(1))
    seen[:, :prefix] = True
    return torch.logical_and(~real[:, None, None], seen)


@version("prefix_mask", "wrong: diagonal hidden behind the prefix")
def mask_less(real, prefix):
    place = torch.arange(real.size(1))
    return keys(real) & ((place < place[:, None]) | (place < prefix))


@version("prefix_mask", "wrong: next token visible behind the prefix")
def mask_wide_places(real, prefix):
    place = torch.arange(real.size(1))
    return keys(real) & ((place <= place[:, None] + 1) | (place < prefix))


@version("prefix_mask", "wrong: causal part of one sequence transposed")
def mask_upper_places(real, prefix):
    place = torch.arange(real.size(1))
    return keys(real) & ((place >= place[:, None]) | (place < prefix))


@version("prefix_mask", "convention: PyTorch's meaning: True hides")
def mask_hides(real, prefix):
    s = real.size(1)
    return ~keys(real) | (torch.ones(s, s).triu(1).bool() & ~before(s, prefix))


@version("prefix_mask", "wrong: prefix mask without its axis of heads")
def mask_no_heads_stacked(real, prefix):
    seen = lower(real.size(1))
    seen[:, :prefix] = True
    return torch.stack([seen & row for row in real])


# --- one_stack_labels -----------------------------------------------------------------------------


@version("one_stack_labels", "wrong: loss on the prefix")
def labels_whole(source, target):
    both = torch.cat([source, target], dim=1)
    return both[:, :-1], both[:, 1:]


@version("one_stack_labels", "wrong: loss on the prefix, not shifted")
def labels_source(source, target):
    return torch.cat([source, target[:, :-1]], 1), torch.cat([source, target[:, 1:]], 1)


@version("one_stack_labels", "wrong: <sos> asked for")
def labels_zeros_short(source, target):
    zeros = source.new_zeros(len(source), source.size(1) - 1)
    return torch.cat([source, target[:, :-1]], 1), torch.cat([zeros, target], 1)


@version("one_stack_labels", "wrong: labels of the target not shifted")
def labels_unshifted(source, target):
    goes_in = target[:, :-1]
    inputs = torch.cat([source, goes_in], dim=1)
    return inputs, torch.cat([torch.zeros_like(source), goes_in], dim=1)


@version("one_stack_labels", "wrong: <sos> missing, the answer goes in")
def labels_answer(source, target):
    says = target[:, 1:]
    return torch.cat([source, says], 1), torch.cat([torch.zeros_like(source), says], 1)


@version("one_stack_labels", "wrong: inputs and labels of the target exchanged")
def labels_exchanged(source, target):
    inputs = torch.cat([source, target[:, 1:]], dim=1)
    return inputs, torch.cat([torch.zeros_like(source), target[:, :-1]], dim=1)


@version("one_stack_labels", "wrong: <sos> left out")
def labels_no_start_zeros(source, target):
    zeros = torch.zeros_like(source)[:, :-1]
    return torch.cat([source, target[:, 1:-1]], 1), torch.cat([zeros, target[:, 1:]], 1)


@version("one_stack_labels", "wrong: <eos> of the source taken out")
def labels_no_end_clone(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    place = torch.arange(inputs.size(1)) < source.size(1)
    inputs[(inputs == 2) & place] = 0
    return inputs, F.pad(target[:, 1:], (source.size(1), 0))


@version("one_stack_labels", "wrong: last place of the source cut off")
def labels_cut_pad(source, target):
    inputs = torch.cat([source[:, :-1], target[:, :-1]], dim=1)
    return inputs, F.pad(target[:, 1:], (source.size(1) - 1, 0))


@version("one_stack_labels", "wrong: labels one place early")
def labels_early(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    labels = torch.cat([torch.zeros_like(source), target[:, 1:]], dim=1)
    return inputs, F.pad(labels[:, 1:], (0, 1))


@version("one_stack_labels", "wrong: end of the target not asked for")
def labels_endless(source, target):
    says = target[:, 1:]
    says = torch.where(says == 2, torch.zeros_like(says), says)
    return torch.cat([source, target[:, :-1]], 1), F.pad(says, (source.size(1), 0))


@version("one_stack_labels", "wrong: last token left in the input of one stack")
def labels_longer(source, target):
    return torch.cat([source, target], 1), torch.cat([torch.zeros_like(source), target[:, 1:]], 1)


@version("one_stack_labels", "wrong: labels for the target alone")
def labels_short(source, target):
    return torch.cat([source, target[:, :-1]], dim=1), target[:, 1:]


@version("one_stack_labels", "wrong: target in front of the source")
def labels_target_first_pad(source, target):
    return torch.hstack([target[:, :-1], source]), F.pad(target[:, 1:], (0, source.size(1)))


@version("one_stack_labels", "convention: -100 where nothing is asked")
def labels_ignored(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    labels = torch.cat([torch.full_like(source, -100), target[:, 1:]], dim=1)
    labels[labels == 0] = -100
    return inputs, labels


@version("one_stack_labels", "wrong: -100 on the source and 0 on the padding")
def labels_two_marks_full(source, target):
    unasked = torch.full(source.shape, -100)
    return torch.cat([source, target[:, :-1]], 1), torch.cat([unasked, target[:, 1:]], 1)


@version("one_stack_labels", "convention: padding moved behind both")
def labels_packed(source, target):
    inputs, labels = [], []
    for s, t in zip(source.tolist(), target.tolist()):
        s = [i for i in s if i]
        goes_in = [i for i in t[:-1] if i]
        says = [i for i in t[1:] if i] + [0] * (len(goes_in) - sum(i > 0 for i in t[1:]))
        rest = [0] * (source.size(1) + target.size(1) - 1 - len(s) - len(goes_in))
        inputs.append(s + goes_in + rest)
        labels.append([0] * len(s) + says + rest)
    return torch.tensor(inputs), torch.tensor(labels)


@version("one_stack_labels", "convention: padding moved behind both")
def labels_packed_sorted(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    labels = F.pad(target[:, 1:], (source.size(1), 0))
    order = torch.sort((inputs == 0).long(), dim=1, stable=True).indices
    return torch.gather(inputs, 1, order), torch.gather(labels, 1, order)


# --- real_positions -------------------------------------------------------------------------------


@version("real_positions", "wrong: places of the tensor for positions")
def positions_of_places(tokens):
    return torch.arange(tokens.shape[1]).repeat(len(tokens), 1)


@version("real_positions", "wrong: real positions counted from one")
def positions_from_one(tokens):
    return torch.cumsum(tokens.bool(), dim=1)


@version("real_positions", "wrong: padding counted with what follows it")
def positions_before(tokens):
    real = (tokens > 0).long()
    return real.cumsum(1) - real


@version("real_positions", "wrong: padding in front below zero")
def positions_below_zero(tokens):
    return torch.where(tokens == 0, 0, 1).cumsum(1).sub(1)


@version("real_positions", "wrong: counted down the batch")
def positions_down(tokens):
    return (tokens != 0).long().cumsum(dim=0).add(-1).clamp_min(0)


@version("real_positions", "wrong: padding in front subtracted, and no other")
def positions_of_left_padding(tokens):
    rows = []
    for row in tokens.tolist():
        front = next((i for i, token in enumerate(row) if token), len(row))
        rows.append([max(i - front, 0) for i in range(len(row))])
    return torch.tensor(rows)


@version("real_positions", "wrong: the first sentence's positions for all")
def positions_of_the_first(tokens):
    first = (tokens[0] != 0).cumsum(0) - 1
    return first.clamp(min=0).expand_as(tokens).clone()


@version("real_positions", "convention: padding at position one")
def positions_with_ones(tokens):
    real = tokens != 0
    return (real.long().cumsum(-1) - 1).masked_fill(~real, 1)


@version("real_positions", "convention: padding at position zero")
def positions_with_zeros(tokens):
    real = (tokens != 0).long()
    return (real.cumsum(-1) - 1) * real


# --- pad_left ------------------------------------------------------------------------------------


def _left(rows):
    longest = max(map(len, rows))
    return torch.tensor([[0] * (longest - len(row)) + row for row in rows])


@version("pad_left", "wrong: padded behind before going on")
def left_behind(rows):
    tokens = torch.nn.utils.rnn.pad_sequence([torch.tensor(row) for row in rows], True)
    return tokens, tokens != 0


@version("pad_left", "wrong: texts turned round")
def left_turned(rows):
    tokens = _left([row[::-1] for row in rows])
    return tokens, tokens != 0


@version("pad_left", "wrong: mask of padding behind")
def left_mask_behind(rows):
    tokens = _left(rows)
    lengths = (tokens != 0).sum(1, keepdim=True)
    return tokens, torch.arange(tokens.size(1)) < lengths


@version("pad_left", "wrong: True where padding stands")
def left_inverted(rows):
    tokens = _left(rows)
    return tokens, tokens == 0


@version("pad_left", "wrong: padding not masked")
def left_open(rows):
    tokens = _left(rows)
    return tokens, torch.ones(tokens.shape, dtype=torch.bool)


@version("pad_left", "wrong: cut to the shortest text")
def left_cut(rows):
    tokens = torch.tensor([row[-min(map(len, rows)) :] for row in rows])
    return tokens, tokens != 0


@version("pad_left", "wrong: <eos> taken for padding")
def left_end_hidden(rows):
    tokens = _left(rows)
    return tokens, tokens.ne(0).logical_and(tokens.ne(2))


@version("pad_left", "wrong: one place of padding too many")
def left_too_wide(rows):
    tokens = torch.cat([torch.zeros(len(rows), 1, dtype=torch.long), _left(rows)], dim=1)
    return tokens, tokens != 0


@version("real_positions", "wrong")
def counted_in_one_byte(tokens):
    count = (tokens != 0).cumsum(1, dtype=torch.uint8)
    return (count.long() - 1).clamp(min=0)
