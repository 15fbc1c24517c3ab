"""Wrong versions of others weights: each makes the mistake that is named."""

import struct
from itertools import pairwise

import torch
from torch import nn

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


# --- decode_q4_1 ----------------------------------------------------------------------------------


def q4_parts(blocks):
    halves = blocks[:, :4].clone().view(torch.half).float()
    packed = blocks[:, 4:].int()
    return halves[:, :1], halves[:, 1:], packed


@version("decode_q4_1", "wrong: step and least number exchanged")
def q4_exchanged(blocks):
    m, d, packed = q4_parts(blocks)
    return d * torch.cat([packed % 16, packed // 16], 1) + m


@version("decode_q4_1", "wrong: half precision read as bfloat16")
def q4_bfloat16(blocks):
    halves = blocks[:, :4].clone().view(torch.bfloat16).float()
    packed = blocks[:, 4:].int()
    return halves[:, :1] * torch.cat([packed % 16, packed // 16], 1) + halves[:, 1:]


@version("decode_q4_1", "wrong: bytes of the header the wrong way round")
def q4_big(blocks):
    rows = []
    for block in blocks.tolist():
        d, m = struct.unpack(">ee", bytes(block[:4]))
        rows.append([d * (b & 15) + m for b in block[4:]] + [d * (b >> 4) + m for b in block[4:]])
    return torch.tensor(rows)


@version("decode_q4_1", "wrong: header read as whole numbers")
def q4_whole(blocks):
    rows = []
    for block in blocks.tolist():
        d, m = struct.unpack("<hh", bytes(block[:4]))
        rows.append([d * (b & 15) + m for b in block[4:]] + [d * (b >> 4) + m for b in block[4:]])
    return torch.tensor(rows).float()


@version("decode_q4_1", "wrong: upper four bits first")
def q4_upper(blocks):
    d, m, packed = q4_parts(blocks)
    return torch.cat([packed // 16, packed % 16], 1) * d + m


@version("decode_q4_1", "wrong: the two numbers of a byte taken for neighbours")
def q4_neighbours(blocks):
    d, m, packed = q4_parts(blocks)
    q = torch.zeros(len(blocks), 32)
    q[:, 0::2], q[:, 1::2] = packed & 15, packed >> 4
    return d * q + m


@version("decode_q4_1", "wrong: upper four bits not shifted")
def q4_unshifted(blocks):
    d, m, packed = q4_parts(blocks)
    return torch.cat([packed & 0x0F, packed & 0xF0], 1) * d + m


@version("decode_q4_1", "wrong: lower four bits not cut out")
def q4_unmasked(blocks):
    d, m, packed = q4_parts(blocks)
    return torch.cat([packed, packed >> 4], 1) * d + m


@version("decode_q4_1", "wrong: least number forgotten")
def q4_no_least(blocks):
    d, _, packed = q4_parts(blocks)
    return torch.cat([packed & 15, packed >> 4], 1) * d


@version("decode_q4_1", "wrong: least number taken away")
def q4_minus(blocks):
    d, m, packed = q4_parts(blocks)
    return torch.cat([packed & 15, packed >> 4], 1) * d - m


@version("decode_q4_1", "wrong: least number multiplied by the step, too")
def q4_both(blocks):
    d, m, packed = q4_parts(blocks)
    return (torch.cat([packed & 15, packed >> 4], 1) + m) * d


@version("decode_q4_1", "wrong: eight taken away, as the format Q4_0 has it")
def q4_zero(blocks):
    d, m, packed = q4_parts(blocks)
    return (torch.cat([packed & 15, packed >> 4], 1) - 8) * d + m


@version("decode_q4_1", "wrong: four bits taken for a signed number")
def q4_signed(blocks):
    d, m, packed = q4_parts(blocks)
    q = torch.cat([packed & 15, packed >> 4], 1)
    return torch.where(q >= 8, q - 16, q) * d + m


# --- merge_tokens ---------------------------------------------------------------------------------


def merge_by(choose, join=None):
    """The loop of merges with another choice of the pair, or another join."""

    def merge(tokens, ranks):
        word = list(tokens)
        for _ in tokens:
            pairs = list(pairwise(word))
            pair = choose(pairs, ranks)
            if pair is None:
                return word
            word = (join or every)(word, pair)
        return word

    return merge


def every(word, pair):
    new = []
    while word:
        n = 2 if tuple(word[:2]) == pair else 1
        new.append("".join(word[:n]))
        word = word[n:]
    return new


def the_lowest(pairs, ranks):
    return min((p for p in pairs if p in ranks), key=ranks.get, default=None)


version("merge_tokens", "wrong: the last learned merge first", "merge_highest")(
    merge_by(
        lambda pairs, ranks: max((p for p in pairs if p in ranks), key=ranks.get, default=None)
    )
)
version("merge_tokens", "wrong: the leftmost pair first", "merge_leftmost")(
    merge_by(lambda pairs, ranks: ([p for p in pairs if p in ranks] or [None])[0])
)
version("merge_tokens", "wrong: the most frequent pair of the word first", "merge_frequent")(
    merge_by(
        lambda pairs, ranks: min(
            (p for p in pairs if p in ranks),
            key=lambda p: (-pairs.count(p), ranks[p]),
            default=None,
        )
    )
)
version("merge_tokens", "wrong: the longest token first", "merge_longest")(
    merge_by(
        lambda pairs, ranks: min(
            (p for p in pairs if p in ranks),
            key=lambda p: (-len(p[0] + p[1]), ranks[p]),
            default=None,
        )
    )
)
version("merge_tokens", "wrong: rank 0 taken for no rank", "merge_no_zero")(
    merge_by(lambda pairs, ranks: min(filter(ranks.get, pairs), key=ranks.get, default=None))
)
version("merge_tokens", "wrong: pairs of single letters only", "merge_letters")(
    merge_by(
        lambda pairs, ranks: the_lowest([p for p in pairs if len(p[0]) == len(p[1]) == 1], ranks)
    )
)
version("merge_tokens", "wrong: unknown pairs joined, too", "merge_unknown")(
    merge_by(lambda pairs, ranks: min(pairs, key=lambda p: ranks.get(p, 10**6), default=None))
)


@version("merge_tokens", "wrong: table gone through once")
def merges_row_by_row(tokens, ranks):
    tokens = list(tokens)
    for first, second in ranks:
        i = 0
        while i + 1 < len(tokens):
            if tokens[i : i + 2] == [first, second]:
                tokens[i : i + 2] = [first + second]
            i += 1
    return tokens


@version("merge_tokens", "wrong: order of the two ignored")
def bpe_either(tokens, ranks):
    word = list(tokens)
    while True:
        found = [
            (min(ranks.get((a, b), 99), ranks.get((b, a), 99)), i)
            for i, (a, b) in enumerate(pairwise(word))
            if (a, b) in ranks or (b, a) in ranks
        ]
        if not found:
            return word
        i = min(found)[1]
        word[i : i + 2] = [word[i] + word[i + 1]]


@version("merge_tokens", "wrong: joined from right to left")
def bpe_right(tokens, ranks):
    word = list(tokens)
    while (pair := the_lowest(list(pairwise(word)), ranks)) is not None:
        i = len(word) - 2
        while i >= 0:
            if (word[i], word[i + 1]) == pair:
                word[i : i + 2] = ["".join(pair)]
            i -= 1
    return word


@version("merge_tokens", "wrong: a token used in two pairs")
def bpe_overlapping(tokens, ranks):
    word = list(tokens)
    for _ in tokens:
        pair = the_lowest(list(pairwise(word)), ranks)
        if pair is None:
            break
        new = []
        for i, token in enumerate(word):
            if tuple(word[i : i + 2]) == pair:
                new.append("".join(pair))
            elif i == 0 or tuple(word[i - 1 : i + 1]) != pair:
                new.append(token)
        word = new
    return word


@version("merge_tokens", "wrong: a space put between the two")
def bpe_space(tokens, ranks):
    word = list(tokens)
    while (pair := the_lowest(list(pairwise(word)), ranks)) is not None:
        i = list(pairwise(word)).index(pair)
        word[i : i + 2] = [" ".join(pair)]
    return word


@version("merge_tokens", "wrong: what stands behind the pair is lost")
def bpe_lost(tokens, ranks):
    word = list(tokens)
    while (pair := the_lowest(list(pairwise(word)), ranks)) is not None:
        i = list(pairwise(word)).index(pair)
        word = [*word[:i], "".join(pair)]
    return word


# --- load_tied -----------------------------------------------------------------------------------


@version("load_tied", "wrong: loaded, and not tied")
def tied_never(model, state):
    model.load_state_dict({"output.weight": state["embedding.weight"], **state})


@version("load_tied", "wrong: output left as it was drawn")
def tied_before_assigning(model, state):
    model.output.weight = nn.Parameter(model.output.weight.detach().clone())
    model.load_state_dict(state, strict=False, assign=True)
    for parameter in model.parameters():
        parameter.requires_grad_()


@version("load_tied", "wrong: tied the wrong way round")
def tied_backwards(model, state):
    model.load_state_dict(state, strict=False)
    model.embedding.weight = model.output.weight


@version("load_tied", "wrong: one storage, two parameters")
def tied_by_data(model, state):
    model.load_state_dict(state, strict=False)
    model.output.weight = nn.Parameter(model.embedding.weight.data)


@version("load_tied", "wrong: only the tied matrix loaded")
def tied_and_no_more(model, state):
    model.embedding.load_state_dict({"weight": state["embedding.weight"]})
    model.output.weight = model.embedding.weight


@version("load_tied", "wrong: tied matrix frozen")
def tied_and_frozen(model, state):
    model.load_state_dict(state, strict=False)
    model.embedding.weight.requires_grad = False
    model.output.weight = model.embedding.weight


@version("merge_tokens", "wrong: all pairs of the table joined in one pass")
def merge_in_passes(tokens, ranks):
    tokens, again = list(tokens), True
    while again:
        again, new = False, []
        for token in tokens:
            if new and (new[-1], token) in ranks and not joined_now:
                new[-1], joined_now, again = new[-1] + token, True, True
            else:
                new.append(token)
                joined_now = False
        tokens = new
    return tokens
