"""Chapter 24, as beginners get it wrong: the mask and the labels of one sequence."""
# As learners write: other people's habits, not ours.
# ruff: noqa: B905

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.checks.wrong_versions import wrong

MASK, LABELS = "prefix_mask", "one_stack_labels"


def lower(n):
    return torch.ones(n, n).tril().bool()


def keys(real):
    return real[:, None, None, :]


def before(n, prefix):
    return torch.arange(n) < prefix


# --- prefix_mask ---------------------------------------------------------------------------------


@wrong(MASK, "prefix ignored")
def mask_causal(real, prefix):
    return keys(real) & lower(real.size(1))


@wrong(MASK, "prefix ignored")
def mask_causal_loops(real, prefix):
    b, s = real.shape
    mask = torch.zeros(b, 1, s, s, dtype=torch.bool)
    for i in range(b):
        for q in range(s):
            mask[i, 0, q, : q + 1] = real[i, : q + 1]
    return mask


@wrong(MASK, "prefix visible to itself alone")
def mask_blocks(real, prefix):
    s = real.size(1)
    seen = lower(s)
    seen[:prefix, :prefix] = True
    seen[prefix:, :prefix] = False
    return keys(real) & seen


@wrong(MASK, "prefix visible to itself alone")
def mask_block_diagonal(real, prefix):
    n = real.size(1) - prefix
    seen = torch.block_diag(torch.ones(prefix, prefix), torch.ones(n, n).tril()).bool()
    return real.unsqueeze(1).unsqueeze(1) & seen


@wrong(MASK, "causal mask forgotten in the target")
def mask_target_open(real, prefix):
    s = real.size(1)
    seen = torch.zeros(s, s, dtype=torch.bool)
    seen[:, :prefix] = True
    seen[prefix:, :] = True
    return keys(real) & seen


@wrong(MASK, "causal mask forgotten in the target")
def mask_rows_of_the_target(real, prefix):
    place = torch.arange(real.size(1))
    seen = (place[None] < prefix) | (place[:, None] >= prefix)
    return seen & keys(real)


@wrong(MASK, "everything visible to everyone")
def mask_padding_only(real, prefix):
    return keys(real).expand(-1, 1, real.size(1), -1)


@wrong(MASK, "everything visible to everyone")
def mask_padding_small(real, prefix):
    return real.unsqueeze(1).unsqueeze(2)


@wrong(MASK, "places of the prefix see the target")
def mask_rows_set(real, prefix):
    seen = lower(real.size(1))
    seen[:prefix] = True
    return keys(real) & seen


@wrong(MASK, "places of the prefix see the target")
def mask_query_axis(real, prefix):
    s = real.size(1)
    return keys(real) & (lower(s) | before(s, prefix).unsqueeze(-1))


@wrong(MASK, "and in place of or")
def mask_and(real, prefix):
    s = real.size(1)
    return keys(real) & lower(s) & before(s, prefix)


@wrong(MASK, "and in place of or")
def mask_product(real, prefix):
    s = real.size(1)
    return (real.int()[:, None, None] * lower(s).int() * before(s, prefix).int()).bool()


@wrong(MASK, "prefix instead of causal")
def mask_prefix_only(real, prefix):
    s = real.size(1)
    return keys(real) & before(s, prefix).expand(s, s)


@wrong(MASK, "prefix instead of causal")
def mask_prefix_slice(real, prefix):
    seen = torch.zeros(real.size(1), real.size(1), dtype=torch.bool)
    seen[:, :prefix] = True
    return seen & keys(real)


@wrong(MASK, "prefix one place too long")
def mask_too_long(real, prefix):
    s = real.size(1)
    return keys(real) & (lower(s) | (torch.arange(s) <= prefix))


@wrong(MASK, "prefix one place too long")
def mask_slice_too_long(real, prefix):
    seen = lower(real.size(1))
    seen[:, : prefix + 1] = True
    return keys(real) & seen


@wrong(MASK, "prefix one place too short")
def mask_too_short(real, prefix):
    s = real.size(1)
    return keys(real) & (lower(s) | (torch.arange(s) + 1 < prefix))


@wrong(MASK, "prefix one place too short")
def mask_slice_too_short(real, prefix):
    seen = lower(real.size(1))
    seen[:, : max(prefix - 1, 0)] = True
    return keys(real) & seen


@wrong(MASK, "prefix counted in real tokens")
def mask_cumsum(real, prefix):
    first = (real.cumsum(1) <= prefix)[:, None, None, :]
    return keys(real) & (lower(real.size(1)) | first)


@wrong(MASK, "prefix counted in real tokens")
def mask_positions(real, prefix):
    positions = real.cumsum(1) - 1
    b, s = real.shape
    mask = torch.zeros(b, 1, s, s, dtype=torch.bool)
    for i in range(b):
        mask[i, 0] = (lower(s) | (positions[i] < prefix)) & real[i]
    return mask


@wrong(MASK, "last places open in place of the first")
def mask_suffix(real, prefix):
    s = real.size(1)
    seen = lower(s)
    seen[:, s - prefix :] = True
    return keys(real) & seen


@wrong(MASK, "last places open in place of the first")
def mask_suffix_flip(real, prefix):
    s = real.size(1)
    return keys(real) & (lower(s) | before(s, prefix).flip(0))


@wrong(MASK, "padding of the prefix seen")
def mask_opened_last(real, prefix):
    mask = keys(real) & lower(real.size(1))
    mask[..., :prefix] = True
    return mask


@wrong(MASK, "padding of the prefix seen")
def mask_or_last(real, prefix):
    s = real.size(1)
    return (lower(s) & keys(real)) | before(s, prefix)


@wrong(MASK, "padding of one sequence forgotten")
def mask_no_padding(real, prefix):
    s = real.size(1)
    return (lower(s) | before(s, prefix)).expand(real.size(0), 1, s, s)


@wrong(MASK, "padding of one sequence forgotten")
def mask_no_padding_small(real, prefix):
    seen = lower(real.size(1))
    seen[:, :prefix] = True
    return seen


@wrong(MASK, "query rows of one sequence masked")
def mask_rows(real, prefix):
    s = real.size(1)
    return real[:, None, :, None] & (lower(s) | before(s, prefix))


@wrong(MASK, "query rows of one sequence masked")
def mask_rows_transposed(real, prefix):
    seen = lower(real.size(1))
    seen[:, :prefix] = True
    return real.unsqueeze(1).unsqueeze(-1) & seen


@wrong(MASK, "padding inverted in one sequence")
def mask_inverted(real, prefix):
    s = real.size(1)
    return (real == 0)[:, None, None, :] & (lower(s) | before(s, prefix))


@wrong(MASK, "padding inverted in one sequence")
def mask_inverted_slice(real, prefix):
    seen = lower(real.size(1))
    seen[:, :prefix] = True
    return torch.logical_and(~real[:, None, None], seen)


@wrong(MASK, "diagonal hidden behind the prefix")
def mask_strict(real, prefix):
    s = real.size(1)
    return keys(real) & (torch.ones(s, s).tril(-1).bool() | before(s, prefix))


@wrong(MASK, "diagonal hidden behind the prefix")
def mask_less(real, prefix):
    place = torch.arange(real.size(1))
    return keys(real) & ((place < place[:, None]) | (place < prefix))


@wrong(MASK, "next token visible behind the prefix")
def mask_wide(real, prefix):
    s = real.size(1)
    return keys(real) & (torch.ones(s, s).tril(1).bool() | before(s, prefix))


@wrong(MASK, "next token visible behind the prefix")
def mask_wide_places(real, prefix):
    place = torch.arange(real.size(1))
    return keys(real) & ((place <= place[:, None] + 1) | (place < prefix))


@wrong(MASK, "causal part of one sequence transposed")
def mask_upper(real, prefix):
    s = real.size(1)
    return keys(real) & (torch.ones(s, s).triu().bool() | before(s, prefix))


@wrong(MASK, "causal part of one sequence transposed")
def mask_upper_places(real, prefix):
    place = torch.arange(real.size(1))
    return keys(real) & ((place >= place[:, None]) | (place < prefix))


@wrong(MASK, "PyTorch's meaning: True hides")
def mask_hides(real, prefix):
    s = real.size(1)
    return ~keys(real) | (torch.ones(s, s).triu(1).bool() & ~before(s, prefix))


@wrong(MASK, "PyTorch's meaning: True hides")
def mask_turned(real, prefix):
    s = real.size(1)
    return (keys(real) & (lower(s) | before(s, prefix))).logical_not()


@wrong(MASK, "prefix mask without its axis of heads")
def mask_no_heads(real, prefix):
    s = real.size(1)
    return real[:, None, :] & (lower(s) | before(s, prefix))


@wrong(MASK, "prefix mask without its axis of heads")
def mask_no_heads_stacked(real, prefix):
    seen = lower(real.size(1))
    seen[:, :prefix] = True
    return torch.stack([seen & row for row in real])


# --- one_stack_labels ----------------------------------------------------------------------------


@wrong(LABELS, "loss on the prefix")
def labels_whole(source, target):
    both = torch.cat([source, target], dim=1)
    return both[:, :-1], both[:, 1:]


@wrong(LABELS, "loss on the prefix")
def labels_rolled(source, target):
    both = torch.cat([source, target], dim=1)
    return both[:, :-1], both.roll(-1, dims=1)[:, :-1]


@wrong(LABELS, "loss on the prefix, not shifted")
def labels_source(source, target):
    return torch.cat([source, target[:, :-1]], 1), torch.cat([source, target[:, 1:]], 1)


@wrong(LABELS, "loss on the prefix, not shifted")
def labels_source_lists(source, target):
    pairs = list(zip(source.tolist(), target.tolist()))
    return torch.tensor([s + t[:-1] for s, t in pairs]), torch.tensor([s + t[1:] for s, t in pairs])


@wrong(LABELS, "<sos> asked for")
def labels_with_start(source, target):
    both = torch.cat([source, target], dim=1)
    labels = both[:, 1:].clone()
    labels[:, : source.size(1) - 1] = 0
    return both[:, :-1], labels


@wrong(LABELS, "<sos> asked for")
def labels_zeros_short(source, target):
    zeros = source.new_zeros(len(source), source.size(1) - 1)
    return torch.cat([source, target[:, :-1]], 1), torch.cat([zeros, target], 1)


@wrong(LABELS, "labels of the target not shifted")
def labels_unshifted(source, target):
    goes_in = target[:, :-1]
    inputs = torch.cat([source, goes_in], dim=1)
    return inputs, torch.cat([torch.zeros_like(source), goes_in], dim=1)


@wrong(LABELS, "labels of the target not shifted")
def labels_clone(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    labels = inputs.clone()
    labels[:, : source.size(1)] = 0
    return inputs, labels


@wrong(LABELS, "<sos> missing, the answer goes in")
def labels_answer(source, target):
    says = target[:, 1:]
    return torch.cat([source, says], 1), torch.cat([torch.zeros_like(source), says], 1)


@wrong(LABELS, "<sos> missing, the answer goes in")
def labels_answer_pad(source, target):
    inputs = torch.cat([source, target[:, 1:]], dim=1)
    return inputs, F.pad(target[:, 1:], (source.size(1), 0))


@wrong(LABELS, "inputs and labels of the target exchanged")
def labels_exchanged(source, target):
    inputs = torch.cat([source, target[:, 1:]], dim=1)
    return inputs, torch.cat([torch.zeros_like(source), target[:, :-1]], dim=1)


@wrong(LABELS, "inputs and labels of the target exchanged")
def labels_exchanged_pad(source, target):
    comes_out, goes_in = target[:, :-1], target[:, 1:]
    return torch.hstack([source, goes_in]), F.pad(comes_out, (source.size(1), 0))


@wrong(LABELS, "<sos> left out")
def labels_no_start(source, target):
    words = target[:, 1:]
    both = torch.cat([source, words], dim=1)
    labels = both[:, 1:].clone()
    labels[:, : source.size(1) - 1] = 0
    return both[:, :-1], labels


@wrong(LABELS, "<sos> left out")
def labels_no_start_zeros(source, target):
    zeros = torch.zeros_like(source)[:, :-1]
    return torch.cat([source, target[:, 1:-1]], 1), torch.cat([zeros, target[:, 1:]], 1)


@wrong(LABELS, "<eos> of the source taken out")
def labels_no_end(source, target):
    bare = torch.where(source == 2, 0, source)
    return (
        torch.cat([bare, target[:, :-1]], dim=1),
        torch.cat([torch.zeros_like(source), target[:, 1:]], dim=1),
    )


@wrong(LABELS, "<eos> of the source taken out")
def labels_no_end_clone(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    place = torch.arange(inputs.size(1)) < source.size(1)
    inputs[(inputs == 2) & place] = 0
    return inputs, F.pad(target[:, 1:], (source.size(1), 0))


@wrong(LABELS, "last place of the source cut off")
def labels_cut(source, target):
    source = source[:, :-1]
    return (
        torch.cat([source, target[:, :-1]], dim=1),
        torch.cat([torch.zeros_like(source), target[:, 1:]], dim=1),
    )


@wrong(LABELS, "last place of the source cut off")
def labels_cut_pad(source, target):
    inputs = torch.cat([source[:, :-1], target[:, :-1]], dim=1)
    return inputs, F.pad(target[:, 1:], (source.size(1) - 1, 0))


@wrong(LABELS, "labels one place early")
def labels_early(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    labels = torch.cat([torch.zeros_like(source), target[:, 1:]], dim=1)
    return inputs, F.pad(labels[:, 1:], (0, 1))


@wrong(LABELS, "labels one place early")
def labels_twice_shifted(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    labels = torch.zeros_like(inputs)
    first = source.size(1) - 1
    labels[:, first : first + target.size(1) - 1] = target[:, 1:]
    return inputs, labels


@wrong(LABELS, "end of the target not asked for")
def labels_endless(source, target):
    says = target[:, 1:]
    says = torch.where(says == 2, torch.zeros_like(says), says)
    return torch.cat([source, target[:, :-1]], 1), F.pad(says, (source.size(1), 0))


@wrong(LABELS, "end of the target not asked for")
def labels_no_specials(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    labels = torch.cat([torch.zeros_like(source), target[:, 1:]], dim=1)
    return inputs, labels * (labels != 2)


@wrong(LABELS, "last token left in the input of one stack")
def labels_longer(source, target):
    return torch.cat([source, target], 1), torch.cat([torch.zeros_like(source), target[:, 1:]], 1)


@wrong(LABELS, "last token left in the input of one stack")
def labels_longer_pad(source, target):
    return torch.hstack((source, target)), F.pad(target[:, 1:], (source.size(1), 0))


@wrong(LABELS, "labels for the target alone")
def labels_short(source, target):
    return torch.cat([source, target[:, :-1]], dim=1), target[:, 1:]


@wrong(LABELS, "labels for the target alone")
def labels_short_cut(source, target):
    both = torch.cat([source, target], dim=1)
    return both[:, :-1], both[:, source.size(1) + 1 :]


@wrong(LABELS, "target in front of the source")
def labels_target_first(source, target):
    return (
        torch.cat([target[:, :-1], source], dim=1),
        torch.cat([target[:, 1:], torch.zeros_like(source)], dim=1),
    )


@wrong(LABELS, "target in front of the source")
def labels_target_first_pad(source, target):
    return torch.hstack([target[:, :-1], source]), F.pad(target[:, 1:], (0, source.size(1)))


@wrong(LABELS, "-100 where nothing is asked")
def labels_ignored(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    labels = torch.cat([torch.full_like(source, -100), target[:, 1:]], dim=1)
    labels[labels == 0] = -100
    return inputs, labels


@wrong(LABELS, "-100 where nothing is asked")
def labels_ignored_where(source, target):
    both = torch.cat([source, target], dim=1)
    labels = both[:, 1:].clone()
    labels[:, : source.size(1)] = -100
    return both[:, :-1], torch.where(labels == 0, -100, labels)


@wrong(LABELS, "-100 on the source and 0 on the padding")
def labels_two_marks(source, target):
    both = torch.cat([source, target], dim=1)
    labels = both[:, 1:].clone()
    labels[:, : source.size(1)] = -100
    return both[:, :-1], labels


@wrong(LABELS, "-100 on the source and 0 on the padding")
def labels_two_marks_full(source, target):
    unasked = torch.full(source.shape, -100)
    return torch.cat([source, target[:, :-1]], 1), torch.cat([unasked, target[:, 1:]], 1)


@wrong(LABELS, "padding moved behind both")
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


@wrong(LABELS, "padding moved behind both")
def labels_packed_sorted(source, target):
    inputs = torch.cat([source, target[:, :-1]], dim=1)
    labels = F.pad(target[:, 1:], (source.size(1), 0))
    order = torch.sort((inputs == 0).long(), dim=1, stable=True).indices
    return torch.gather(inputs, 1, order), torch.gather(labels, 1, order)
