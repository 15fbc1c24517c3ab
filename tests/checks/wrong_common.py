"""What beginners write often beside that, in every chapter: twice, here or in `attacks`."""

from __future__ import annotations

import math
from collections import Counter

import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.wrong_versions import wrong

# --- counting, words, batches, positions ----------------------------------------------------------


@wrong("number_of_targets", "each word at most once")
def targets_permutations(vocab_size, length):
    return math.perm(vocab_size, length)


@wrong("number_of_targets", "each word at most once")
def targets_falling(vocab_size, length):
    total = 1
    for left in range(vocab_size, vocab_size - length, -1):
        total *= left
    return total


@wrong("number_of_targets", "shorter sentences counted, too")
def targets_up_to(vocab_size, length):
    total, power = 0, 1
    for _ in range(length):
        power *= vocab_size
        total += power
    return total


BV = "build_vocabulary"
SPECIAL = ["<pad>", "<sos>", "<eos>", "<unk>"]


def frequent(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    return [w for w in counts if counts[w] >= min_frequency]


@wrong(BV, "first word takes the id of <unk>")
def vocab_from_three(sentences, min_frequency):
    vocab = dict(zip(SPECIAL, range(4), strict=True))
    for i, w in enumerate(frequent(sentences, min_frequency)):
        vocab[w] = i + 3
    return vocab


@wrong(BV, "an id left out before the words")
def vocab_from_five(sentences, min_frequency):
    vocab = dict(zip(SPECIAL, range(4), strict=True))
    for i, w in enumerate(frequent(sentences, min_frequency), start=5):
        vocab[w] = i
    return vocab


@wrong(BV, "an id left out before the words")
def vocab_next_id(sentences, min_frequency):
    vocab, next_id = dict(zip(SPECIAL, range(4), strict=True)), 4
    for w in sorted(frequent(sentences, min_frequency)):
        next_id += 1
        vocab[w] = next_id
    return vocab


@wrong(BV, "from id to token")
def vocab_inverse(sentences, min_frequency):
    return dict(enumerate(SPECIAL + frequent(sentences, min_frequency)))


@wrong("encode", "<eos> behind every token")
def encode_ends(tokens, vocabulary):
    ids = []
    for t in tokens:
        ids += [vocabulary.get(t, 3), 2]
    return ids


@wrong("encode", "<eos> in front")
def encode_insert(tokens, vocabulary):
    ids = [vocabulary.get(t, 3) for t in tokens]
    ids.insert(0, 2)
    return ids


@wrong("encode", "<eos> in front")
def encode_added(tokens, vocabulary):
    return [vocabulary["<eos>"]] + [vocabulary.get(t, vocabulary["<unk>"]) for t in tokens]


TEXT = "text_to_ids"


@wrong(TEXT, "end of the text forgotten")
def text_no_end(text, tokenize, vocabulary):
    return [vocabulary.get(t, 3) for t in tokenize(text)]


@wrong(TEXT, "end of the text forgotten")
def text_no_end_loop(text, tokenize, vocabulary):
    ids = []
    for t in tokenize(text):
        known = t in vocabulary
        ids.append(vocabulary[t if known else "<unk>"])
    return ids


@wrong(TEXT, "<sos> in front of the text")
def text_start(text, tokenize, vocabulary):
    return [1, *(vocabulary.get(t, 3) for t in tokenize(text)), 2]


@wrong(TEXT, "<sos> in front of the text")
def text_start_tokens(text, tokenize, vocabulary):
    tokens = ["<sos>", *tokenize(text), "<eos>"]
    return [vocabulary.get(t, vocabulary["<unk>"]) for t in tokens]


@wrong(TEXT, "unknown tokens of the text dropped")
def text_dropped(text, tokenize, vocabulary):
    ids = map(vocabulary.get, tokenize(text))
    return [i for i in ids if i is not None] + [2]


@wrong(TEXT, "text ends at its first unknown token")
def text_until(text, tokenize, vocabulary):
    ids = []
    for t in tokenize(text):
        if t not in vocabulary:
            break
        ids.append(vocabulary[t])
    return [*ids, 2]


@wrong(TEXT, "unknown tokens of the text taken for padding")
def text_zero(text, tokenize, vocabulary):
    return [vocabulary.get(t, 0) for t in tokenize(text)] + [2]


@wrong(TEXT, "unknown tokens of the text taken for padding")
def text_pad(text, tokenize, vocabulary):
    ids = [vocabulary[t if t in vocabulary else "<pad>"] for t in tokenize(text)]
    ids.append(vocabulary["<eos>"])
    return ids


WORDS = "training_words"


@wrong(WORDS, "more often than min_frequency")
def words_more(splits, min_frequency):
    flat = sum(splits["train"], [])  # noqa: RUF017
    return {w for w in flat if flat.count(w) > min_frequency}


@wrong(WORDS, "frequency of the training words ignored")
def words_set(splits, min_frequency):
    return {w for s in splits["train"] for w in s}


@wrong(WORDS, "frequency of the training words ignored")
def words_updated(splits, min_frequency):
    words = set()
    for s in splits["train"]:
        words.update(s)
    return sorted(words)


@wrong(WORDS, "the n most frequent words")
def words_ranked(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    return sorted(counts, key=counts.get, reverse=True)[:min_frequency]


@wrong(WORDS, "training sentences counted in place of words")
def words_by_sentence(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in set(s))
    return [w for w in counts if counts[w] >= min_frequency]


@wrong(WORDS, "training sentences counted in place of words")
def words_in_sentences(splits, min_frequency):
    words = {w for s in splits["train"] for w in s}
    return {w for w in words if sum(w in s for s in splits["train"]) >= min_frequency}


@wrong("collate", "one column of padding too many")
def collate_wide(rows):
    batch = torch.zeros(len(rows), 1 + max(len(r) for r in rows), dtype=torch.long)
    for i, r in enumerate(rows):
        batch[i, : len(r)] = torch.tensor(r)
    return batch


@wrong("collate", "padded with the last token")
def collate_repeat(rows):
    longest = max(len(r) for r in rows)
    return torch.stack(
        [torch.tensor([r[min(i, len(r) - 1)] for i in range(longest)]) for r in rows]
    )


@wrong("collate", "rows sorted by length")
def collate_sorted(rows):
    rows = sorted(rows, key=lambda r: -len(r))
    longest = len(rows[0])
    return torch.tensor([r + [0] * (longest - len(r)) for r in rows])


@wrong("collate", "rows sorted by length")
def collate_sort_pad(rows):
    ordered = [torch.tensor(r) for r in rows]
    ordered.sort(key=len, reverse=True)
    return nn.utils.rnn.pad_sequence(ordered, batch_first=True)


@wrong("collate", "ids that are no whole numbers")
def collate_zeros(rows):
    batch = torch.zeros(len(rows), max(map(len, rows)))
    for i, r in enumerate(rows):
        for j, token in enumerate(r):
            batch[i, j] = token
    return batch


@wrong("collate", "ids that are no whole numbers")
def collate_float_rows(rows):
    return nn.utils.rnn.pad_sequence([torch.tensor(r, dtype=torch.float32) for r in rows], True)


@wrong("shift", "rolled round in place of cut")
def shift_rolled(target):
    return target, torch.roll(target, -1, 1)


@wrong("shift", "rolled round in place of cut")
def shift_cat(target):
    return target, torch.cat([target[:, 1:], target[:, :1]], dim=1)


@wrong("shift", "last token left in the decoder's input")
def shift_whole(target):
    return target, target[:, 1:]


@wrong("shift", "last token left in the decoder's input")
def shift_whole_clone(target):
    goes_in = target.clone()
    comes_out = torch.narrow(target, 1, 1, target.size(1) - 1)
    return goes_in, comes_out


@wrong("shift", "shifted by two")
def shift_two(target):
    return target[:, :-1], target[:, 2:]


@wrong("shift", "shifted by two")
def shift_again(target):
    goes_in = target[:, :-1]
    comes_out = target[:, 1:]
    return goes_in, comes_out[:, 1:]


@wrong("embedding", "half of d_model in place of its root")
def embedding_half(tokens, weight):
    d_model = weight.shape[1]
    return F.embedding(tokens, weight) * d_model**1 / 2


@wrong("embedding", "root of d_model cut to a whole number")
def embedding_int(tokens, weight):
    return weight[tokens] * int(weight.size(1) ** 0.5)


@wrong("embedding", "root of d_model cut to a whole number")
def embedding_isqrt(tokens, weight):
    return F.embedding(tokens, weight) * math.isqrt(weight.size(-1))


@wrong("embedding", "embedding scaled by the root of the length")
def embedding_by_length(tokens, weight):
    return weight[tokens] * tokens.size(-1) ** 0.5


@wrong("tied_logits", "logits divided by the root of d_model")
def tied_scaled(x, weight):
    return x @ weight.T / x.size(-1) ** 0.5


@wrong("tied_logits", "logits divided by the root of d_model")
def tied_scaled_einsum(x, weight):
    return torch.einsum("btd,vd->btv", x, weight) * weight.size(1) ** -0.5


@wrong("tied_logits", "cosines in place of dot products")
def tied_cosine(x, weight):
    return F.cosine_similarity(x[:, :, None, :], weight, dim=-1)


@wrong("sinusoids", "exponent over d_model minus two")
def sinusoids_minus_two(length, d_model):
    table = torch.zeros(length, d_model)
    half = d_model // 2
    for p in range(length):
        for i in range(half):
            angle = p / 10000 ** (i / max(half - 1, 1))
            table[p, 2 * i], table[p, 2 * i + 1] = math.sin(angle), math.cos(angle)
    return table


@wrong("sinusoids", "exponent over d_model minus two")
def sinusoids_linspace(length, d_model):
    rates = 10000.0 ** -torch.linspace(0, 1, d_model // 2, dtype=torch.float64)
    angle = torch.arange(length).double().outer(rates)
    return torch.stack([angle.sin(), angle.cos()], -1).reshape(length, d_model).float()


@wrong("sinusoids", "angles multiplied in place of divided")
def sinusoids_times(length, d_model):
    place = torch.arange(length, dtype=torch.float64)[:, None]
    angle = place * 10000.0 ** (torch.arange(0, d_model, 2).double() / d_model)
    table = torch.zeros(length, d_model)
    table[:, 0::2], table[:, 1::2] = angle.sin().float(), angle.cos().float()
    return table


@wrong("sinusoids", "angles multiplied in place of divided")
def sinusoids_exp(length, d_model):
    even = torch.arange(0, d_model, 2, dtype=torch.float64)
    rates = (even * (math.log(10000.0) / d_model)).exp()  # the minus is missing
    angle = torch.arange(length, dtype=torch.float64)[:, None] * rates
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1).float()


@wrong("add_positions", "positions one row late")
def positions_late(x, table):
    places = torch.arange(1, x.size(1) + 1).clamp(max=len(table) - 1)
    return x + (table[places] if x.size(1) < len(table) else table[1:])


@wrong("add_positions", "words scaled once more")
def positions_scaled(x, table):
    return x * x.size(-1) ** 0.5 + table[: x.size(1)]


@wrong("add_positions", "words scaled once more")
def positions_scaled_later(x, table):
    d_model = x.shape[2]
    x = math.sqrt(d_model) * x
    return torch.add(table[: x.shape[1]], x)


@wrong("add_positions", "positions of the first sentence only")
def positions_first(x, table):
    y = x.clone()
    y[0] = y[0] + table[: x.size(1)]
    return y


@wrong("add_positions", "positions subtracted")
def positions_minus(x, table):
    return x - table[: x.size(1)]


@wrong("add_positions", "positions subtracted")
def positions_sub(x, table):
    return torch.sub(x, table.narrow(0, 0, x.size(1)))


# --- attention and masks --------------------------------------------------------------------------


@wrong("softmax", "axis 1 in place of the last one")
def softmax_axis_one(scores):
    return F.softmax(scores, dim=1 if scores.dim() > 1 else 0)


@wrong("softmax", "axis 1 in place of the last one")
def softmax_axis_one_by_hand(scores):
    if scores.dim() == 1:
        return scores.softmax(0)
    e = torch.exp(scores - scores.amax(dim=1, keepdim=True))
    return e / e.sum(dim=1, keepdim=True)


@wrong("softmax", "largest of all scores subtracted")
def softmax_global(scores):
    e = torch.exp(scores - torch.max(scores))
    return e / torch.sum(e, -1, keepdim=True)


@wrong("softmax", "largest of all scores subtracted")
def softmax_global_flat(scores):
    largest = scores.flatten().sort().values[-1]
    e = (scores - largest).exp()
    return torch.div(e, e.sum(-1).unsqueeze(-1))


@wrong("softmax", "scores divided by their sum")
def softmax_no_exp(scores):
    return scores / scores.sum(-1, keepdim=True)


@wrong("softmax", "scores divided by their sum")
def softmax_no_exp_unsqueeze(scores):
    total = torch.sum(scores, dim=-1).unsqueeze(-1)
    return torch.div(scores, total)


SDPA = "scaled_dot_product_attention"


def hidden(scores, mask):
    if mask is None:
        return scores.softmax(-1)
    return scores.masked_fill(~mask, -1e30).softmax(-1) * mask


@wrong(SDPA, "root of the values' width")
def attend_value_width(query, key, value, mask=None):
    return hidden(query @ key.mT / value.shape[-1] ** 0.5, mask) @ value


@wrong(SDPA, "weights returned beside the output")
def attend_both(query, key, value, mask=None):
    weights = hidden(query @ key.mT / query.shape[-1] ** 0.5, mask)
    return torch.matmul(weights, value), weights


@wrong(SDPA, "weights in place of the output")
def attend_weights(query, key, value, mask=None):
    return hidden(query @ key.mT / query.shape[-1] ** 0.5, mask)


@wrong(SDPA, "weights in place of the output")
def attend_forgot_value(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query, key) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores, dim=-1)
    return weights if mask is None else torch.where(mask, weights, 0.0)


PM = "padding_mask"


@wrong(PM, "<sos> hidden, too")
def pad_above_one(tokens):
    return (tokens > 1)[:, None, None, :]


@wrong(PM, "<sos> hidden, too")
def pad_and_start(tokens):
    mask = torch.logical_and(tokens != 0, tokens != 1)
    return mask.unsqueeze(1).unsqueeze(2)


@wrong(PM, "all special tokens hidden")
def pad_isin(tokens):
    return ~torch.isin(tokens, torch.tensor([0, 1, 2, 3]))[:, None, None]


@wrong(PM, "<eos> hidden, too")
def pad_and_end(tokens):
    return ((tokens != 0) * (tokens != 2)).reshape(len(tokens), 1, 1, -1)


@wrong(PM, "<eos> hidden, too")
def pad_isin_end(tokens):
    return torch.isin(tokens, torch.tensor([0, 2])).logical_not()[:, None, None]


@wrong(PM, "<sos> and <eos> hidden, too")
def pad_above_two(tokens):
    return (tokens > 2)[:, None, None]


@wrong(PM, "<sos> and <eos> hidden, too")
def pad_three_up(tokens):
    return tokens.ge(3).view(tokens.size(0), 1, 1, tokens.size(1))


@wrong(PM, "a padding mask of numbers")
def pad_float(tokens):
    return (tokens != 0).to(torch.float32)[:, None, None]


@wrong(PM, "a padding mask of numbers")
def pad_where(tokens):
    return torch.where(tokens == 0, 0.0, 1.0).unsqueeze(1).unsqueeze(1)


@wrong(PM, "padding of the first sentence for all")
def pad_first(tokens):
    return (tokens[0] != 0).repeat(len(tokens), 1)[:, None, None]


CM = "causal_mask"


@wrong(CM, "first row empty")
def causal_from_one(length):
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(1, length):
        mask[i, : i + 1] = True
    return mask


@wrong(CM, "nothing hidden")
def causal_ones(length):
    return torch.ones(length, length, dtype=torch.bool)


@wrong(CM, "nothing hidden")
def causal_full(length):
    return torch.full((length, length), True)


@wrong(CM, "diagonal alone")
def causal_eye(length):
    return torch.eye(length).bool()


@wrong(CM, "diagonal alone")
def causal_equal(length):
    place = torch.arange(length)
    return place[:, None] == place


@wrong(CM, "causal mask with axes in front")
def causal_four(length):
    return torch.tril(torch.ones(1, 1, length, length)).bool()


@wrong(CM, "causal mask with axes in front")
def causal_unsqueezed(length):
    place = torch.arange(length)
    return (place[None, :] <= place[:, None]).unsqueeze(0).unsqueeze(0)


TM = "target_mask"


def triangle(tokens):
    return torch.ones(tokens.size(1), tokens.size(1), dtype=torch.bool).tril()


@wrong(TM, "<sos> of the target hidden, too")
def target_above_one(tokens):
    return (tokens > 1)[:, None, None, :] & triangle(tokens)


@wrong(TM, "<sos> of the target hidden, too")
def target_not_start(tokens):
    real = torch.logical_and(tokens != 0, tokens != 1)
    return torch.logical_and(real[:, None, None], triangle(tokens)[None, None])


@wrong(TM, "all special tokens of the target hidden")
def target_above_three(tokens):
    return triangle(tokens) & (tokens > 3).view(len(tokens), 1, 1, -1)


@wrong(TM, "all special tokens of the target hidden")
def target_four_up(tokens):
    return tokens.ge(4)[:, None, None] * triangle(tokens)


@wrong(TM, "<eos> of the target hidden, too")
def target_not_end(tokens):
    real = ~torch.isin(tokens, torch.tensor([0, 2]))
    return real[:, None, None] & triangle(tokens)


@wrong(TM, "<eos> of the target hidden, too")
def target_no_end(tokens):
    return triangle(tokens) & ((tokens != 0) & (tokens != 2))[:, None, None]


@wrong(TM, "padding of the first target for all")
def target_first(tokens):
    real = (tokens[0] != 0)[None, None, None].expand(len(tokens), 1, 1, -1)
    return real & triangle(tokens)


@wrong(TM, "padding of the first target for all")
def target_first_repeated(tokens):
    mask = (tokens != 0)[:1, None, None] & triangle(tokens)
    return mask.repeat(len(tokens), 1, 1, 1)


@wrong(TM, "diagonal of the target always open")
def target_open(tokens):
    mask = (tokens != 0)[:, None, None] & triangle(tokens)
    mask.diagonal(dim1=-2, dim2=-1).fill_(True)
    return mask


@wrong(TM, "diagonal of the target always open")
def target_open_eye(tokens):
    mask = (tokens != 0)[:, None, None] & triangle(tokens)
    return mask | torch.eye(tokens.size(1)).bool()


@wrong(TM, "a target mask of numbers")
def target_float(tokens):
    return (tokens != 0).float()[:, None, None] * triangle(tokens)


@wrong(TM, "a target mask of numbers")
def target_tril_float(tokens):
    n = tokens.size(1)
    return torch.ones(n, n).tril() * (tokens != 0).view(-1, 1, 1, n)


@wrong("split_heads", "sentences and heads exchanged")
def split_heads_first(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1))


@wrong("split_heads", "features before positions in each head")
def split_transposed(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1).mT


@wrong("split_heads", "number of heads taken for their width")
def split_width(x, n_heads):
    return torch.stack(x.split(n_heads, dim=-1), dim=1)


@wrong("split_heads", "number of heads taken for their width")
def split_view_width(x, n_heads):
    b, t, d = x.shape
    return x.view(b, t, d // n_heads, n_heads).permute(0, 2, 1, 3)


@wrong("merge_heads", "heads in reverse order")
def merge_reversed(heads):
    return torch.cat(list(heads.unbind(1))[::-1], dim=-1)


@wrong("merge_heads", "heads summed")
def merge_sum(heads):
    return heads.sum(1)


@wrong("merge_heads", "heads summed")
def merge_added(heads):
    total = torch.zeros_like(heads[:, 0])
    for h in range(heads.size(1)):
        total = total + heads[:, h]
    return total


@wrong("merge_heads", "heads and features not put together")
def merge_permuted(heads):
    return heads.permute(0, 2, 1, 3)


@wrong("merge_heads", "heads and features not put together")
def merge_stacked(heads):
    return torch.stack(list(heads.unbind(1)), dim=2)


MHA = "multi_head_attention"


def split(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def several(q, k, v, w_output, n_heads, mask):
    heads = F.scaled_dot_product_attention(*(split(x, n_heads) for x in (q, k, v)), attn_mask=mask)
    return heads.transpose(1, 2).flatten(2) @ w_output.T


@wrong(MHA, "values made from the key")
def mha_value_of_key(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = query @ w_query.T, key @ w_key.T, key @ w_value.T
    return several(q, k, v, w_output, n_heads, mask)


@wrong(MHA, "values made from the key", as_class=True)
class ValueOfKey(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def forward(self, query, key, value, mask=None):
        q, k, v = self.query(query), self.key(key), self.value(key)
        return several(q, k, v, self.output.weight, self.n_heads, mask)


@wrong(MHA, "keys made from the value")
def mha_key_of_value(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = query @ w_query.T, value @ w_key.T, value @ w_value.T
    return several(q, k, v, w_output, n_heads, mask)


@wrong(MHA, "keys made from the value")
def mha_key_overwritten(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    key = value
    q, k, v = (F.linear(x, w) for x, w in ((query, w_query), (key, w_key), (value, w_value)))
    return several(q, k, v, w_output, n_heads, mask)


@wrong(MHA, "keys and values made from the query")
def mha_self(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (query @ w.T for w in (w_query, w_key, w_value))
    return several(q, k, v, w_output, n_heads, mask)


@wrong(MHA, "keys and values made from the query")
def mha_stacked(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (query @ torch.cat([w_query, w_key, w_value]).T).chunk(3, dim=-1)
    return several(q, k, v, w_output, n_heads, mask)


@wrong(MHA, "arguments key and value exchanged")
def mha_order(query, value, key, w_query, w_key, w_value, w_output, n_heads, mask=None):
    return several(query @ w_query.T, key @ w_key.T, value @ w_value.T, w_output, n_heads, mask)


@wrong(MHA, "arguments key and value exchanged")
def mha_swapped(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = F.linear(query, w_query), F.linear(value, w_key), F.linear(key, w_value)
    return several(q, k, v, w_output, n_heads, mask)


@wrong(MHA, "output weight not transposed")
def mha_output(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    return several(q, k, v, w_output.T, n_heads, mask)


@wrong(MHA, "output weight not transposed")
def mha_output_matmul(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    identity = torch.eye(query.size(-1))
    q, k, v = F.linear(query, w_query), F.linear(key, w_key), F.linear(value, w_value)
    return torch.matmul(several(q, k, v, identity, n_heads, mask), w_output)


@wrong(MHA, "one head, scaled as if there were several")
def mha_one(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    scores = q @ k.mT / (q.size(-1) // n_heads) ** 0.5
    if mask is not None:
        mask = mask[:, 0] if mask.dim() == 4 else mask
        scores = scores.masked_fill(~mask, -1e30)
    return scores.softmax(-1) @ v @ w_output.T


@wrong(MHA, "mask of the first sentence for all")
def mha_first_mask(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    if mask is not None and mask.dim() == 4:
        mask = mask[0].expand(len(query), *mask.shape[1:])
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    return several(q, k, v, w_output, n_heads, mask)


# --- norms, residuals, layers, stacks -------------------------------------------------------------

LN = "layer_norm"


def normalised(x, weight, bias, eps, dims):
    mean = x.mean(dims, keepdim=True)
    return weight * (x - mean) / ((x - mean).square().mean(dims, keepdim=True) + eps).sqrt() + bias


@wrong(LN, "layer norm over the batch")
def ln_dim_0(x, weight, bias, eps=1e-5):
    return normalised(x, weight, bias, eps, 0)


@wrong(LN, "layer norm over the batch")
def ln_batch_var(x, weight, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=0, correction=0)
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


@wrong(LN, "layer norm over everything")
def ln_all(x, weight, bias, eps=1e-5):
    return weight * (x - x.mean()) / torch.sqrt(x.var(unbiased=False) + eps) + bias


@wrong(LN, "layer norm over everything")
def ln_all_ready(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, x.shape, eps=eps) * weight + bias


@wrong(LN, "layer norm over batch and positions")
def ln_batch_norm(x, weight, bias, eps=1e-5):
    return F.batch_norm(x.flatten(0, 1), None, None, weight, bias, True, eps=eps).view_as(x)


@wrong(LN, "layer norm over batch and positions")
def ln_two_first(x, weight, bias, eps=1e-5):
    return normalised(x, weight, bias, eps, (0, 1))


@wrong(LN, "a norm without its bias")
def ln_no_bias(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, weight.shape, weight, eps=eps)


@wrong(LN, "a norm without its bias")
def ln_bias_unused(x, weight, bias, eps=1e-5):
    return normalised(x, weight, 0, eps, -1)


@wrong(LN, "a norm without its weight")
def ln_weight_unused(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, bias.shape, bias=bias, eps=eps)


@wrong(LN, "not divided at all")
def ln_centred(x, weight, bias, eps=1e-5):
    return weight * (x - x.mean(-1, keepdim=True)) + bias


@wrong(LN, "not divided at all")
def ln_std_unused(x, weight, bias, eps=1e-5):
    mean = x.sum(-1, keepdim=True) / x.size(-1)
    return torch.addcmul(bias, weight, x - mean)


@wrong(LN, "variance as mean of squares minus square of the mean")
def ln_squares(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = (x**2).mean(-1, keepdim=True) - mean**2
    return weight * (x - mean) / torch.sqrt(var + eps) + bias


@wrong(LN, "variance as mean of squares minus square of the mean")
def ln_moments(x, weight, bias, eps=1e-5):
    first = x.mean(dim=-1, keepdim=True)
    second = x.square().mean(dim=-1, keepdim=True)
    return (x - first) / (second - first.square() + eps).sqrt() * weight + bias


PARAMS = "layer_norm_parameters"


@wrong(PARAMS, "one number for all features")
def params_scalar(d_model):
    return torch.tensor([1.0]), torch.tensor([0.0])


@wrong(PARAMS, "a matrix for the weight")
def params_diag(d_model):
    return torch.diag(torch.ones(d_model)), torch.zeros(d_model)


@wrong("post_norm", "normalised in front and behind")
def post_twice(x, sublayer, norm):
    return norm(x + sublayer(norm(x)))


@wrong("post_norm", "normalised in front and behind")
def post_twice_steps(x, sublayer, norm):
    change = sublayer(norm(x))
    total = change + x
    return norm(total)


@wrong("post_norm", "x normalised and not the sum")
def post_norm_x(x, sublayer, norm):
    return norm(x) + sublayer(x)


@wrong("post_norm", "x normalised and not the sum")
def post_norm_x_steps(x, sublayer, norm):
    y = sublayer(x)
    x = norm(x)
    return torch.add(x, y)


@wrong("pre_norm", "sum normalised once more")
def pre_twice(x, sublayer, norm):
    return norm(x + sublayer(norm(x)))


@wrong("pre_norm", "sum normalised once more")
def pre_twice_steps(x, sublayer, norm):
    y = norm(x)
    y = sublayer(y)
    y = y + x
    return norm(y)


@wrong("pre_norm", "residual subtracted")
def pre_minus(x, sublayer, norm):
    return x - sublayer(norm(x))


@wrong("pre_norm", "residual subtracted")
def pre_sub(x, sublayer, norm):
    return torch.sub(x, sublayer(norm(x)))


@wrong("dropout", "multiplied by one plus p")
def dropout_plus(x, p, keep, training):
    return torch.where(keep, x * (1.0 + p), 0.0) if training else x


@wrong("dropout", "made smaller in evaluation, too")
def dropout_both(x, p, keep, training):
    return x * keep / (1 - p) if training else x * (1 - p)


@wrong("dropout", "made smaller in evaluation, too")
def dropout_both_where(x, p, keep, training):
    if not training:
        return x - p * x
    return torch.where(keep, x / (1 - p), torch.zeros_like(x))


@wrong("dropout", "enlarged in evaluation")
def dropout_always_scaled(x, p, keep, training):
    if training:
        x = x * keep
    return x / (1 - p)


@wrong("dropout", "enlarged in evaluation")
def dropout_scaled_first(x, p, keep, training):
    scaled = x * (1.0 / (1.0 - p))
    return scaled.masked_fill(~keep, 0.0) if training else scaled


SUB = "sublayer_with_dropout"


@wrong(SUB, "norm in front of the sublayer forgotten")
def sub_no_norm(x, sublayer, norm, dropout):
    return x + dropout(sublayer(x))


@wrong(SUB, "residual connection around the dropout forgotten")
def sub_no_residual(x, sublayer, norm, dropout):
    return dropout(sublayer(norm(x)))


@wrong(SUB, "residual connection around the dropout forgotten")
def sub_overwritten(x, sublayer, norm, dropout):
    x = norm(x)
    x = sublayer(x)
    x = dropout(x)
    return x


@wrong(SUB, "normalised x in the sum")
def sub_normalised(x, sublayer, norm, dropout):
    x = norm(x)
    return x + dropout(sublayer(x))


@wrong(SUB, "dropout on the output and on the sum")
def sub_twice(x, sublayer, norm, dropout):
    return dropout(x + dropout(sublayer(norm(x))))


@wrong(SUB, "dropout before the sublayer and behind it")
def sub_before_behind(x, sublayer, norm, dropout):
    return x + dropout(sublayer(dropout(norm(x))))


@wrong(SUB, "dropout before the sublayer and behind it")
def sub_before_behind_steps(x, sublayer, norm, dropout):
    y = x
    for part in (norm, dropout, sublayer, dropout):
        y = part(y)
    return x + y


FF = "feed_forward"


@wrong(FF, "first bias behind the activation")
def ff_bias_late(x, w1, b1, w2, b2):
    return (torch.relu(x @ w1.T) + b1) @ w2.T + b2


@wrong(FF, "first bias behind the activation")
def ff_bias_late_linear(x, w1, b1, w2, b2):
    h = F.linear(x, w1).clamp(min=0)
    return F.linear(h + b1, w2, b2)


@wrong(FF, "leaky ReLU in place of ReLU")
def ff_leaky(x, w1, b1, w2, b2):
    h = F.linear(x, w1, b1)
    return F.linear(torch.where(h > 0, h, 0.01 * h), w2, b2)


@wrong(FF, "tanh in place of ReLU")
def ff_tanh(x, w1, b1, w2, b2):
    return F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2)


@wrong(FF, "tanh in place of ReLU")
def ff_tanh_by_hand(x, w1, b1, w2, b2):
    h = 2 * torch.sigmoid(2 * (x @ w1.T + b1)) - 1
    return h @ w2.T + b2


@wrong(FF, "sigmoid in place of ReLU")
def ff_sigmoid(x, w1, b1, w2, b2):
    return F.linear(F.linear(x, w1, b1).sigmoid(), w2, b2)


@wrong(FF, "sigmoid in place of ReLU")
def ff_sigmoid_by_hand(x, w1, b1, w2, b2):
    h = 1 / (1 + torch.exp(-(x @ w1.T + b1)))
    return h @ w2.T + b2


@wrong("group_sort", "smaller ones in front, larger ones behind")
def sort_cat(x):
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.cat([torch.minimum(even, odd), torch.maximum(even, odd)], dim=-1)


@wrong("group_sort", "pairs that overlap")
def sort_bubble(x):
    y = x
    for i in range(x.size(-1) - 1):
        pair = y[..., i : i + 2].sort(dim=-1).values
        y = torch.cat([y[..., :i], pair, y[..., i + 2 :]], dim=-1)
    return y


@wrong("group_sort", "pairs that overlap")
def sort_carried(x):
    out, carried = [], x[..., 0]
    for i in range(1, x.size(-1)):
        out.append(torch.minimum(carried, x[..., i]))
        carried = torch.maximum(carried, x[..., i])
    return torch.stack([*out, carried], dim=-1)


ENC = "encoder_layer"


@wrong(ENC, "sublayers side by side")
def enc_parallel(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    return x + attention(y, y, y, mask) + feed_forward(norm2(x))


@wrong(ENC, "sublayers side by side")
def enc_parallel_steps(x, mask, attention, feed_forward, norm1, norm2):
    a, b = norm1(x), norm2(x)
    attended = attention(a, a, a, mask)
    transformed = feed_forward(b)
    return sum((attended, transformed), x)


@wrong(ENC, "feed-forward network before the attention")
def enc_order(x, mask, attention, feed_forward, norm1, norm2):
    x = x + feed_forward(norm2(x))
    y = norm1(x)
    return x + attention(y, y, y, mask)


@wrong(ENC, "feed-forward network before the attention")
def enc_order_parts(x, mask, attention, feed_forward, norm1, norm2):
    for norm, part in ((norm2, feed_forward), (norm1, lambda y: attention(y, y, y, mask))):
        x = x + part(norm(x))
    return x


@wrong(ENC, "second residual from the layer's input")
def enc_back(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    h = x + attention(y, y, y, mask)
    return x + feed_forward(norm2(h))


@wrong(ENC, "norms of the encoder layer exchanged")
def enc_norms(x, mask, attention, feed_forward, norm2, norm1):
    y = norm1(x)
    x = x + attention(y, y, y, mask)
    return x + feed_forward(norm2(x))


@wrong(ENC, "first norm forgotten")
def enc_no_first(x, mask, attention, feed_forward, norm1, norm2):
    x = x + attention(x, x, x, mask)
    return x + feed_forward(norm2(x))


@wrong(ENC, "first norm forgotten")
def enc_norm_unused(x, mask, attention, feed_forward, norm1, norm2):
    norm1(x)
    h = attention(x, x, x, mask) + x
    return feed_forward(norm2(h)) + h


@wrong(ENC, "only the queries normalised")
def enc_queries(x, mask, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x), x, x, mask)
    return x + feed_forward(norm2(x))


@wrong(ENC, "only the queries normalised")
def enc_queries_steps(x, mask, attention, feed_forward, norm1, norm2):
    query, key, value = norm1(x), x, x
    h = torch.add(x, attention(query, key, value, mask))
    return torch.add(h, feed_forward(norm2(h)))


@wrong(ENC, "values not normalised")
def enc_values(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    x = x + attention(y, y, x, mask)
    return x + feed_forward(norm2(x))


@wrong(ENC, "values not normalised")
def enc_values_named(x, mask, attention, feed_forward, norm1, norm2):
    query = key = norm1(x)
    value = x
    h = x + attention(query, key, value, mask)
    return h + feed_forward(norm2(h))


DEC = "decoder_layer"


def after_self(x, mask, attention, norm):
    y = norm(x)
    return x + attention(y, y, y, mask)


@wrong(DEC, "cross-attention before self-attention")
def dec_order(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    x = after_self(x, target_mask, self_attention, norms[0])
    return x + ff(norms[2](x))


@wrong(DEC, "cross-attention before self-attention")
def dec_order_steps(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms
):
    n1, n2, n3 = norms
    h = cross_attention(n2(x), memory, memory, memory_mask) + x
    y = n1(h)
    h = self_attention(y, y, y, target_mask) + h
    return ff(n3(h)) + h


@wrong(DEC, "cross-attention left out")
def dec_no_cross(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    x = after_self(x, target_mask, self_attention, norms[0])
    return x + ff(norms[2](x))


@wrong(DEC, "cross-attention left out")
def dec_cross_lost(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    h = after_self(x, target_mask, self_attention, norms[0])
    h + cross_attention(norms[1](h), memory, memory, memory_mask)
    return h + ff(norms[2](h))


@wrong(DEC, "feed-forward network of the decoder left out")
def dec_no_ff(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    x = after_self(x, target_mask, self_attention, norms[0])
    return x + cross_attention(norms[1](x), memory, memory, memory_mask)


@wrong(DEC, "feed-forward network of the decoder left out")
def dec_ff_lost(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    y = norms[0](x)
    h = self_attention(y, y, y, target_mask) + x
    h = cross_attention(norms[1](h), memory, memory, memory_mask) + h
    ff(norms[2](h))
    return h


@wrong(DEC, "attentions side by side")
def dec_parallel(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    y = norms[0](x)
    across = cross_attention(norms[1](x), memory, memory, memory_mask)
    x = x + self_attention(y, y, y, target_mask) + across
    return x + ff(norms[2](x))


@wrong(DEC, "attentions side by side")
def dec_parallel_steps(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms
):
    first = after_self(x, target_mask, self_attention, norms[0]) - x
    second = cross_attention(norms[1](x), memory, memory, memory_mask)
    h = sum((first, second), x)
    return h + ff(norms[2](h))


def second_half(x, memory, mask, cross_attention, ff, norms):
    x = x + cross_attention(norms[1](x), memory, memory, mask)
    return x + ff(norms[2](x))


@wrong(DEC, "self-attention used for cross-attention, too")
def dec_one(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    h = after_self(x, target_mask, self_attention, norms[0])
    return second_half(h, memory, memory_mask, self_attention, ff, norms)


@wrong(DEC, "self-attention and cross-attention exchanged")
def dec_swapped(x, memory, target_mask, memory_mask, cross_attention, self_attention, ff, norms):
    h = after_self(x, target_mask, self_attention, norms[0])
    return second_half(h, memory, memory_mask, cross_attention, ff, norms)


@wrong(DEC, "self-attention and cross-attention exchanged")
def dec_swapped_steps(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms
):
    y = norms[0](x)
    h = x + cross_attention(y, y, y, target_mask)
    h = h + self_attention(norms[1](h), memory, memory, memory_mask)
    return h + ff(norms[2](h))


@wrong(DEC, "one norm for all three sublayers")
def dec_one_norm(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    norm = norms[0]
    h = after_self(x, target_mask, self_attention, norm)
    return second_half(h, memory, memory_mask, cross_attention, ff, [norm] * 3)


@wrong(DEC, "norm before cross-attention forgotten")
def dec_no_second(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    h = after_self(x, target_mask, self_attention, norms[0])
    h = h + cross_attention(h, memory, memory, memory_mask)
    return h + ff(norms[2](h))


@wrong(DEC, "norm before the decoder's feed-forward network forgotten")
def dec_no_third(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    h = after_self(x, target_mask, self_attention, norms[0])
    h = h + cross_attention(norms[1](h), memory, memory, memory_mask)
    return h + ff(h)


@wrong(DEC, "norm before the decoder's feed-forward network forgotten")
def dec_identity(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    h = after_self(x, target_mask, self_attention, norms[0])
    return second_half(
        h, memory, memory_mask, cross_attention, ff, [norms[0], norms[1], nn.Identity()]
    )


@wrong(DEC, "values of cross-attention from the target")
def dec_values(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    h = after_self(x, target_mask, self_attention, norms[0])
    y = norms[1](h)
    h = h + cross_attention(y, memory, y, memory_mask)
    return h + ff(norms[2](h))


MODES = "causal_self_attention"


@wrong(MODES, "causal scores not scaled")
def modes_unscaled(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=True, scale=1.0)


@wrong(MODES, "causal scores divided by the root of the length")
def modes_length(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=True, scale=x.size(1) ** -0.5)


@wrong(MODES, "future scores set to zero")
def modes_zero(x, training):
    scores = x @ x.mT / x.size(-1) ** 0.5
    return scores.tril().softmax(-1) @ x


@wrong(MODES, "future hidden after the softmax")
def modes_late(x, training):
    return (x @ x.mT / x.size(-1) ** 0.5).softmax(-1).tril() @ x


@wrong(MODES, "future hidden after the softmax")
def modes_late_mask(x, training):
    weights = F.softmax(torch.bmm(x, x.mT) / math.sqrt(x.size(-1)), dim=-1)
    future = torch.ones_like(weights).triu(1).bool()
    return weights.masked_fill(future, 0.0) @ x


@wrong(MODES, "next token visible to causal attention")
def modes_next(x, training):
    seen = torch.ones(x.size(1), x.size(1)).tril(diagonal=1).bool()
    return F.scaled_dot_product_attention(x, x, x, attn_mask=seen)


@wrong(MODES, "next token visible to causal attention")
def modes_next_places(x, training):
    place = torch.arange(x.size(1))
    hide = place[None, :] > place[:, None] + 1
    scores = (x @ x.mT / x.size(-1) ** 0.5).masked_fill(hide, -torch.inf)
    return scores.softmax(-1) @ x


@wrong("make_stack", "one layer too few")
def stack_from_one(make_layer, n_layers):
    return nn.ModuleList(make_layer() for _ in range(1, n_layers))


@wrong("make_stack", "one layer too many")
def stack_tried(make_layer, n_layers):
    layers = nn.ModuleList([make_layer()])
    for _ in range(n_layers):
        layers.append(make_layer())
    return layers


@wrong("make_stack", "one layer too many")
def stack_until(make_layer, n_layers):
    layers = []
    while len(layers) <= n_layers:
        layers.append(make_layer())
    return layers


@wrong("make_stack", "always six layers")
def stack_paper(make_layer, n_layers, depth=6):
    return [make_layer() for _ in range(depth)]


WHOLE = "transformer_forward"


def masks(source, target):
    causal = torch.ones(target.size(1), target.size(1), dtype=torch.bool).tril()
    return (source != 0)[:, None, None], (target != 0)[:, None, None] & causal


@wrong(WHOLE, "target embedded with the table of the source")
def whole_target(source, target, embed_source, embed_target, encoder, decoder, output):
    memory_mask, target_mask = masks(source, target)
    memory = encoder(embed_source(source), memory_mask)
    return output(decoder(embed_source(target), memory, target_mask, memory_mask))


@wrong(WHOLE, "tables of source and target exchanged")
def whole_tables(source, target, embed_target, embed_source, encoder, decoder, output):
    memory_mask, target_mask = masks(source, target)
    memory = encoder(embed_source(source), memory_mask)
    return output(decoder(embed_target(target), memory, target_mask, memory_mask))


@wrong(WHOLE, "tables of source and target exchanged")
def whole_tables_steps(source, target, embed_source, embed_target, encoder, decoder, output):
    memory_mask, target_mask = masks(source, target)
    x, y = embed_target(source), embed_source(target)
    return output(decoder(y, encoder(x, memory_mask), target_mask, memory_mask))


@wrong(WHOLE, "special tokens of the source hidden")
def whole_specials(source, target, embed_source, embed_target, encoder, decoder, output):
    _, target_mask = masks(source, target)
    memory_mask = source.ge(4)[:, None, None]
    memory = encoder(embed_source(source), memory_mask)
    return output(decoder(embed_target(target), memory, target_mask, memory_mask))


@wrong(WHOLE, "source mask of the model inverted")
def whole_inverted(source, target, embed_source, embed_target, encoder, decoder, output):
    _, target_mask = masks(source, target)
    memory_mask = (source == 0)[:, None, None]
    memory = encoder(embed_source(source), memory_mask)
    return output(decoder(embed_target(target), memory, target_mask, memory_mask))


@wrong(WHOLE, "source mask of the model inverted")
def whole_not(source, target, embed_source, embed_target, encoder, decoder, output):
    memory_mask, target_mask = masks(source, target)
    memory = encoder(embed_source(source), ~memory_mask)
    return output(decoder(embed_target(target), memory, target_mask, ~memory_mask))


@wrong(WHOLE, "last row of the model's logits cut off")
def whole_cut(source, target, embed_source, embed_target, encoder, decoder, output):
    memory_mask, target_mask = masks(source, target)
    memory = encoder(embed_source(source), memory_mask)
    return output(decoder(embed_target(target), memory, target_mask, memory_mask)[:, :-1])


@wrong(WHOLE, "logits of the last position only")
def whole_last(source, target, embed_source, embed_target, encoder, decoder, output):
    memory_mask, target_mask = masks(source, target)
    memory = encoder(embed_source(source), memory_mask)
    return output(decoder(embed_target(target), memory, target_mask, memory_mask))[:, -1]


@wrong(WHOLE, "logits of the last position only")
def whole_last_first(source, target, embed_source, embed_target, encoder, decoder, output):
    memory_mask, target_mask = masks(source, target)
    y = decoder(
        embed_target(target), encoder(embed_source(source), memory_mask), target_mask, memory_mask
    )
    return output(y[:, -1])


# --- losses, schedule, updates, checkpoints -------------------------------------------------------

CE = "cross_entropy"


@wrong(CE, "logarithm of a softmax that underflows")
def ce_log_softmax(logits, target):
    p = logits.softmax(-1).gather(2, target[..., None]).squeeze(2)
    return -p[target != 0].log().mean()


@wrong(CE, "logarithm of a softmax that underflows")
def ce_nll(logits, target):
    log_p = torch.log(F.softmax(logits, dim=-1))
    return F.nll_loss(log_p.flatten(0, 1), target.flatten(), ignore_index=0)


@wrong(CE, "<eos> left out of the loss")
def ce_no_end(logits, target):
    keep = (target != 0) & (target != 2)
    return F.cross_entropy(logits[keep], target[keep])


@wrong(CE, "<eos> left out of the loss")
def ce_isin(logits, target):
    losses = F.cross_entropy(logits.mT, target, reduction="none")
    return losses[~torch.isin(target, torch.tensor([0, 2]))].mean()


@wrong(CE, "all special tokens left out of the loss")
def ce_words(logits, target):
    return F.cross_entropy(logits[target > 3], target[target > 3])


@wrong(CE, "all special tokens left out of the loss")
def ce_words_masked(logits, target):
    losses = F.cross_entropy(logits.mT, target, reduction="none")
    real = target.ge(4)
    return (losses * real).sum() / real.sum()


@wrong(CE, "last position left out of the loss")
def ce_cut(logits, target):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), target[:, :-1].flatten(), ignore_index=0)


@wrong(CE, "loss with the wrong sign")
def ce_sign(logits, target):
    return -F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0)


@wrong(CE, "loss with the wrong sign")
def ce_log_p(logits, target):
    log_p = logits.log_softmax(-1).gather(2, target[..., None]).squeeze(2)
    return log_p[target != 0].mean()


LS = "label_smoothed_loss"


def smoothed(logits, target, smoothing):
    return F.cross_entropy(logits.mT, target, reduction="none", label_smoothing=smoothing)


@wrong(LS, "smoothed loss summed in place of averaged")
def ls_sum(logits, target, smoothing):
    return F.cross_entropy(
        logits.mT, target, ignore_index=0, reduction="sum", label_smoothing=smoothing
    )


@wrong(LS, "smoothed loss summed in place of averaged")
def ls_sum_by_hand(logits, target, smoothing):
    return (smoothed(logits, target, smoothing) * (target != 0)).sum()


@wrong(LS, "smoothed loss averaged per sentence")
def ls_sentences(logits, target, smoothing):
    real = (target != 0).float()
    return ((smoothed(logits, target, smoothing) * real).sum(1) / real.sum(1)).mean()


@wrong(LS, "smoothed loss divided by all positions")
def ls_all(logits, target, smoothing):
    return smoothed(logits, target, smoothing).masked_fill(target == 0, 0.0).mean()


@wrong(LS, "smoothed loss divided by all positions")
def ls_numel(logits, target, smoothing):
    return smoothed(logits, target, smoothing)[target != 0].sum() / target.numel()


@wrong(LS, "smoothed loss of a softmax taken twice")
def ls_twice(logits, target, smoothing):
    return smoothed(logits.softmax(-1), target, smoothing)[target != 0].mean()


@wrong(LS, "smoothed loss of a softmax taken twice")
def ls_twice_flat(logits, target, smoothing):
    p = F.softmax(logits, dim=-1)
    return F.cross_entropy(
        p.flatten(0, 1), target.flatten(), ignore_index=0, label_smoothing=smoothing
    )


@wrong(LS, "smoothed loss by the logarithm of a softmax")
def ls_log(logits, target, smoothing):
    log_p = torch.log(logits.softmax(-1))
    nll = -log_p.gather(2, target[..., None]).squeeze(2)
    return ((1 - smoothing) * nll - smoothing * log_p.mean(-1))[target != 0].mean()


@wrong(LS, "smoothed loss by the logarithm of a softmax")
def ls_log_one_hot(logits, target, smoothing):
    real = target != 0
    log_p = F.softmax(logits[real], dim=-1).log()
    right = -log_p[torch.arange(len(log_p)), target[real]]
    spread = -log_p.sum(-1) / logits.size(-1)
    return ((1 - smoothing) * right + smoothing * spread).mean()


@wrong(LS, "smoothing fixed at a tenth")
def ls_tenth(logits, target, smoothing):
    return F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=0, label_smoothing=0.1
    )


@wrong(LS, "smoothing with the wrong sign")
def ls_minus(logits, target, smoothing):
    log_p = logits.log_softmax(-1)
    nll = -log_p.gather(2, target[..., None]).squeeze(2)
    return ((1 - smoothing) * nll + smoothing * log_p.mean(-1))[target != 0].mean()


PPL = "perplexity"


@wrong(PPL, "sums divided by the number of batches")
def ppl_batches(losses, counts):
    total = 0.0
    for loss, n in zip(losses, counts, strict=True):
        total += loss * n
    return math.exp(total / len(counts))


@wrong(PPL, "means not multiplied by their tokens")
def ppl_not_weighted(losses, counts):
    return math.exp(float(torch.tensor(losses).double().sum()) / sum(counts))


LR = "inverse_sqrt_schedule"


@wrong(LR, "schedule one update early")
def lr_plus_one(update, d_model, warmup):
    step = update + 1
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@wrong(LR, "schedule one update early")
def lr_plus_one_branches(update, d_model, warmup):
    update += 1
    rate = update / warmup**1.5 if update < warmup else 1 / math.sqrt(update)
    return rate / math.sqrt(d_model)


@wrong(LR, "warm-up to the power of minus one")
def lr_minus_one(update, d_model, warmup):
    return d_model**-0.5 * min(update**-0.5, update / warmup)


@wrong(LR, "warm-up to the power of minus one")
def lr_linear(update, d_model, warmup):
    rise, fall = update * warmup**-1, 1 / update**0.5
    return (rise if rise < fall else fall) / d_model**0.5


@wrong(LR, "warm-up to the power of minus a half")
def lr_minus_half(update, d_model, warmup):
    return (1 / math.sqrt(d_model)) * min(1 / math.sqrt(update), update / math.sqrt(warmup))


@wrong(LR, "no decay after the warm-up")
def lr_flat(update, d_model, warmup):
    return d_model**-0.5 * min(update, warmup) * warmup**-1.5


@wrong(LR, "updates counted anew after the warm-up")
def lr_anew(update, d_model, warmup):
    if update <= warmup:
        return d_model**-0.5 * update * warmup**-1.5
    return d_model**-0.5 * (update - warmup) ** -0.5


@wrong(LR, "updates counted anew after the warm-up")
def lr_anew_rate(update, d_model, warmup):
    over = update - warmup
    rate = 1 / math.sqrt(over) if over > 0 else update / warmup**1.5
    return rate / d_model**0.5


@wrong(LR, "warm-up fixed at 4000")
def lr_fixed(update, d_model, warmup):
    warmup = 4000
    return d_model**-0.5 * min(update**-0.5, update * warmup**-1.5)


@wrong(LR, "warm-up fixed at 4000")
def lr_fixed_number(update, d_model, warmup):
    return min(1 / math.sqrt(update), update / 4000**1.5) / math.sqrt(d_model)


CLIP = "clip_gradients"


def shortened(gradients, size, limit):
    factor = min(1.0, limit / (float(size) + 1e-12))
    return [g * factor for g in gradients]


@wrong(CLIP, "lengths of the tensors added up")
def clip_norms(gradients, limit):
    return shortened(gradients, sum(torch.linalg.vector_norm(g) for g in gradients), limit)


@wrong(CLIP, "lengths of the tensors added up")
def clip_norms_loop(gradients, limit):
    size = 0.0
    for g in gradients:
        size += g.pow(2).sum().sqrt().item()
    return [g * (limit / size) if size > limit else g.clone() for g in gradients]


@wrong(CLIP, "longest tensor taken for the length")
def clip_longest(gradients, limit):
    return shortened(gradients, torch.stack([g.norm() for g in gradients]).max(), limit)


@wrong(CLIP, "absolute values added up")
def clip_l1(gradients, limit):
    return shortened(gradients, torch.cat([g.flatten() for g in gradients]).norm(p=1), limit)


@wrong(CLIP, "largest entry taken for the length")
def clip_inf(gradients, limit):
    return shortened(gradients, max(float(g.abs().max()) for g in gradients), limit)


@wrong(CLIP, "largest entry taken for the length")
def clip_inf_norm(gradients, limit):
    flat = torch.cat([g.flatten() for g in gradients])
    return shortened(gradients, flat.norm(p=float("inf")), limit)


@wrong(CLIP, "limit fixed at one")
def clip_one(gradients, limit):
    return shortened(gradients, torch.cat([g.flatten() for g in gradients]).norm(), 1.0)


@wrong(CLIP, "limit forgotten in the numerator")
def clip_unit(gradients, limit):
    size = math.sqrt(sum(float(g.square().sum()) for g in gradients))
    return [g / size for g in gradients] if size > limit else list(gradients)


@wrong(CLIP, "limit forgotten in the numerator")
def clip_unit_flat(gradients, limit):
    size = torch.cat([g.flatten() for g in gradients]).norm()
    factor = 1 / size if size > limit else 1
    return [factor * g for g in gradients]


UP = "training_update"


@wrong(UP, "each parameter clipped on its own")
def update_singly(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    for p in model.parameters():
        torch.nn.utils.clip_grad_norm_(p, 1.0)
    optimizer.step()


@wrong(UP, "each parameter clipped on its own")
def update_singly_by_hand(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    with torch.no_grad():
        for p in model.parameters():
            size = p.grad.norm()
            if size > 1:
                p.grad /= size
    optimizer.step()


@wrong(UP, "entries clipped in place of the length")
def update_values(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()


@wrong(UP, "entries clipped in place of the length")
def update_clamped(model, optimizer, compute_loss):
    model.zero_grad()
    compute_loss().backward()
    for p in model.parameters():
        p.grad.clamp_(-1, 1)
    optimizer.step()


@wrong(UP, "gradients always brought to length one")
def update_unit(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    size = sum(p.grad.square().sum() for p in model.parameters()).sqrt()
    for p in model.parameters():
        p.grad.mul_(1 / size)
    optimizer.step()


@wrong(UP, "clipping left out")
def update_plain(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    optimizer.step()


@wrong(UP, "clipping left out")
def update_clip_forgotten(model, optimizer, compute_loss):
    for p in model.parameters():
        p.grad = None
    loss = compute_loss()
    loss.backward()
    [p.grad.norm() for p in model.parameters()]
    optimizer.step()


ACC = "accumulated_update"


@wrong(ACC, "divided by the size of a part")
def acc_size(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(part[0])).backward()
    optimizer.step()
    scheduler.step()


@wrong(ACC, "divided by the size of a part")
def acc_size_sum(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    total = sum(compute_loss(part) for part in parts)
    (total / parts[0][0].size(0)).backward()
    optimizer.step()
    scheduler.step()


@wrong(ACC, "step forgotten")
def acc_no_step(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    scheduler.step()


@wrong(ACC, "step forgotten")
def acc_schedule_only(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    sum(compute_loss(part) for part in parts).div(len(parts)).backward()
    scheduler.step()


BEST = "best_checkpoint"


def validation(checkpoint, batches, loss_of):
    return sum(loss_of(checkpoint, b) * len(b) for b in batches) / sum(map(len, batches))


@wrong(BEST, "places counted from one")
def best_from_one(checkpoints, batches, loss_of):
    losses = [validation(c, batches, loss_of) for c in checkpoints]
    return min((loss, place) for place, loss in enumerate(losses, start=1))[1]


@wrong(BEST, "loss in place of the place")
def best_loss(checkpoints, batches, loss_of):
    return min(validation(c, batches, loss_of) for c in checkpoints)


@wrong(BEST, "loss in place of the place")
def best_loss_kept(checkpoints, batches, loss_of):
    best = float("inf")
    for c in checkpoints:
        loss = validation(c, batches, loss_of)
        if loss < best:
            best = loss
    return best


@wrong(BEST, "first minimum taken for the smallest")
def best_early(checkpoints, batches, loss_of):
    losses = [validation(c, batches, loss_of) for c in checkpoints]
    place = 0
    while place + 1 < len(losses) and losses[place + 1] <= losses[place]:
        place += 1
    return place


@wrong(BEST, "first minimum taken for the smallest")
def best_break(checkpoints, batches, loss_of):
    best, place = float("inf"), 0
    for i, c in enumerate(checkpoints):
        loss = validation(c, batches, loss_of)
        if loss > best:
            break
        best, place = loss, i
    return place


@wrong(BEST, "the first checkpoint taken for the best")
def best_total(checkpoints, batches, loss_of):
    total, best, place = 0.0, float("inf"), 0
    for i, c in enumerate(checkpoints):
        total += validation(c, batches, loss_of)
        if total < best:
            best, place = total, i
    return place


@wrong(BEST, "the first checkpoint taken for the best")
def best_never_compared(checkpoints, batches, loss_of):
    best = None
    for i, _ in enumerate(checkpoints):
        if best is None:
            best = i
    return best


@wrong(BEST, "losses divided by their tokens")
def best_divided(checkpoints, batches, loss_of):
    losses = []
    for c in checkpoints:
        losses.append(0.0)
        for b in batches:
            losses[-1] += loss_of(c, b) / len(b)
    return losses.index(min(losses))


AVG = "average_checkpoints"


@wrong(AVG, "average divided by two")
def avg_two(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).sum(0) / 2 for k in checkpoints[0]}


@wrong(AVG, "first checkpoint counted twice")
def avg_first_twice(checkpoints):
    total = {k: w.clone() for k, w in checkpoints[0].items()}
    for c in checkpoints:
        for k in c:
            total[k] += c[k]
    return {k: w / len(checkpoints) for k, w in total.items()}


@wrong(AVG, "one number for each weight")
def avg_numbers(checkpoints):
    return {k: sum(c[k] for c in checkpoints).mean() / len(checkpoints) for k in checkpoints[0]}


@wrong(AVG, "the first checkpoint")
def avg_first(checkpoints):
    return checkpoints[0].copy()


@wrong(AVG, "the first checkpoint")
def avg_return_in_loop(checkpoints):
    total = {}
    for n, c in enumerate(checkpoints, start=1):
        for k, w in c.items():
            total[k] = total.get(k, 0) + w
        return {k: w / n for k, w in total.items()}


# --- searching ------------------------------------------------------------------------------------


@wrong("next_token", "last but one position")
def next_but_one(logits):
    return logits[:, -2 if logits.size(1) > 1 else -1].argmax(-1)


@wrong("next_token", "likeliest token of every position")
def next_everywhere(logits):
    return torch.argmax(logits, dim=2)


@wrong("next_token", "an axis of one token left")
def next_slice(logits):
    return logits[:, -1:].argmax(dim=-1)


TEMP = "temperature_probabilities"


@wrong(TEMP, "softmax over the whole batch")
def temp_all(logits, temperature):
    scaled = logits / temperature
    e = (scaled - scaled.max()).exp()
    return e / e.sum()


@wrong(TEMP, "logarithms of the probabilities")
def temp_log(logits, temperature):
    return F.log_softmax(logits / temperature, dim=-1)


@wrong(TEMP, "exponentials that overflow at a low temperature")
def temp_overflow(logits, temperature):
    e = torch.exp(logits / temperature)
    return torch.div(e, e.sum(-1).unsqueeze(-1))


@wrong(TEMP, "softmax over the sentences")
def temp_dim_0(logits, temperature):
    return F.softmax(logits / temperature, dim=0)


@wrong(TEMP, "softmax over the sentences")
def temp_transposed(logits, temperature):
    return (logits.T / temperature).softmax(-1).T


TOP = "top_k_probabilities"


@wrong(TOP, "least likely k kept")
def top_ascending(logits, k):
    places = logits.argsort(dim=-1)[..., :k]
    kept = torch.full_like(logits, -torch.inf).scatter(-1, places, logits.gather(-1, places))
    return kept.softmax(-1)


@wrong(TOP, "only the k probabilities returned")
def top_values(logits, k):
    return logits.sort(dim=-1, descending=True).values[..., :k].softmax(-1)


@wrong(TOP, "no softmax after the choice")
def top_logits(logits, k):
    worst = torch.topk(logits, k).values[..., -1:]
    return torch.where(logits >= worst, logits, -torch.inf)


@wrong(TOP, "no softmax after the choice")
def top_logits_scatter(logits, k):
    best = logits.topk(k)
    return torch.full_like(logits, float("-inf")).scatter(-1, best.indices, best.values)


@wrong(TOP, "k ignored")
def top_softmax(logits, k):
    return F.softmax(logits, dim=-1)


@wrong(TOP, "k ignored")
def top_filter_unused(logits, k):
    logits.masked_fill(logits < logits.topk(k).values[..., -1:], -torch.inf)
    return logits.softmax(-1)


GREEDY = "greedy_search"


def likeliest(step, tokens):
    return int(step(torch.tensor([tokens])).argmax(-1))


@wrong(GREEDY, "loop one step too short")
def greedy_short(step, max_length):
    tokens = [1]
    for _ in range(max_length - 1):
        token = likeliest(step, tokens)
        if token == 2:
            break
        tokens.append(token)
    return tokens[1:]


@wrong(GREEDY, "loop one step too short")
def greedy_limit_with_start(step, max_length):
    tokens = torch.ones(1, 1, dtype=torch.long)
    while tokens.size(1) < max_length and tokens[0, -1] != 2:
        tokens = torch.cat([tokens, step(tokens).argmax(-1, keepdim=True)], dim=1)
    return [t for t in tokens[0, 1:].tolist() if t != 2]


@wrong(GREEDY, "loop one step too long")
def greedy_long(step, max_length):
    tokens = [1]
    while len(tokens) <= max_length + 1:
        token = likeliest(step, tokens)
        if token == 2:
            break
        tokens.append(token)
    return tokens[1:]


@wrong(GREEDY, "never stops, and <eos> stays")
def greedy_on(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        tokens.append(likeliest(step, tokens))
    return tokens[1:]


@wrong(GREEDY, "never stops, and <eos> stays")
def greedy_on_tensor(step, max_length):
    tokens = torch.tensor([[1]])
    while tokens.size(1) < max_length + 1:
        tokens = torch.cat([tokens, step(tokens).argmax(dim=-1)[:, None]], dim=1)
    return tokens[0, 1:].tolist()


@wrong(GREEDY, "begins with <eos>")
def greedy_from_end(step, max_length):
    tokens = [2]
    for _ in range(max_length):
        tokens.append(likeliest(step, tokens))
        if tokens[-1] == 2:
            return tokens[1:-1]
    return tokens[1:]


@wrong(GREEDY, "begins with padding")
def greedy_from_padding(step, max_length):
    tokens = [0]
    for _ in range(max_length):
        token = likeliest(step, tokens)
        if token == 2:
            break
        tokens.append(token)
    return tokens[1:]


@wrong(GREEDY, "begins with padding")
def greedy_from_zeros(step, max_length):
    tokens = torch.zeros(1, 1, dtype=torch.long)
    found = []
    while len(found) < max_length:
        chosen = step(tokens).argmax(-1)
        if chosen.item() == 2:
            return found
        found.append(chosen.item())
        tokens = torch.cat([tokens, chosen[None]], dim=1)
    return found


@wrong(GREEDY, "stops at <unk>, too")
def greedy_unknown(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        tokens.append(likeliest(step, tokens))
        if tokens[-1] in (2, 3):
            break
    return [t for t in tokens[1:] if t != 2]


@wrong(GREEDY, "stops at <unk>, too")
def greedy_specials_end(step, max_length):
    tokens = [1]
    while len(tokens) <= max_length:
        token = likeliest(step, tokens)
        if token == 2:
            break
        tokens.append(token)
        if token == 3:
            break
    return tokens[1:]


@wrong(GREEDY, "<eos> never chosen")
def greedy_no_end(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        log_p = step(torch.tensor([tokens]))[0].clone()
        log_p[2] = -1e9
        tokens.append(int(log_p.argmax()))
    return tokens[1:]


@wrong(GREEDY, "<eos> never chosen")
def greedy_second_best(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        best = step(torch.tensor([tokens]))[0].topk(2).indices.tolist()
        tokens.append(best[0] if best[0] != 2 else best[1])
    return tokens[1:]


GB = "greedy_batch"


def batch_search(step, tokens, steps):
    done = torch.zeros(len(tokens), dtype=torch.bool)
    for _ in range(steps):
        chosen = torch.where(done, 0, step(tokens).argmax(-1))
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)
        done |= chosen == 2
        if done.all():
            break
    return tokens


@wrong(GB, "<sos> left in front of the batch")
def batch_with_start(step, n_sentences, max_length):
    return batch_search(step, torch.ones(n_sentences, 1, dtype=torch.long), max_length)


@wrong(GB, "batch one step too short")
def batch_short(step, n_sentences, max_length):
    return batch_search(step, torch.ones(n_sentences, 1).long(), max_length - 1)[:, 1:]


@wrong(GB, "batch one step too long")
def batch_long(step, n_sentences, max_length):
    return batch_search(step, torch.ones(n_sentences, 1).long(), max_length + 1)[:, 1:]


@wrong(GB, "batch one step too long")
def batch_until_longer(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), 1)
    ended = torch.zeros(n_sentences).bool()
    while tokens.size(1) - 1 <= max_length and not ended.all():
        chosen = step(tokens).argmax(-1) * ~ended
        tokens = torch.cat([tokens, chosen.unsqueeze(1)], dim=1)
        ended = ended | (chosen == 2)
    return tokens[:, 1:]


@wrong(GB, "<eos> overwritten with padding")
def batch_overwritten(step, n_sentences, max_length):
    found = batch_search(step, torch.ones(n_sentences, 1).long(), max_length)[:, 1:]
    return found.masked_fill(found == 2, 0)


@wrong(GB, "finished rows wake up again")
def batch_awake(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        chosen = step(tokens).argmax(-1)
        chosen[done] = 0
        done = chosen == 2
        tokens = torch.cat([tokens, chosen[:, None]], 1)
        if done.all():
            break
    return tokens[:, 1:]


@wrong(GB, "finished rows wake up again")
def batch_awake_last(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), 1)
    for _ in range(max_length):
        ended = tokens[:, -1] == 2
        if ended.all():
            break
        chosen = torch.where(ended, 0, step(tokens).argmax(dim=-1))
        tokens = torch.hstack([tokens, chosen[:, None]])
    return tokens[:, 1:]


@wrong(GB, "token of the first sentence for all")
def batch_first(step, n_sentences, max_length):
    def first(tokens):
        return step(tokens)[:1].repeat(len(tokens), 1)

    return batch_search(first, torch.ones(n_sentences, 1).long(), max_length)[:, 1:]


BEAM = "beam_search"


def beam(step, beam_size, max_length, *, ends=True, gain=None, keep=None, key=None, stop=True):
    """A beam search as people write it, with what may be wrong in it."""
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        log_p = step(torch.tensor([tokens for tokens, _ in alive]))
        grown = []
        for (tokens, score), row in zip(alive, log_p.tolist(), strict=True):
            for token, value in enumerate(row):
                if ends or token != 2:
                    more = gain(value, token) if gain else value
                    grown.append(([*tokens, token], score + more))
        grown.sort(key=lambda pair: pair[1], reverse=True)
        best = keep(grown, done) if keep else grown[:beam_size]
        done += [pair for pair in best if pair[0][-1] == 2]
        alive = [pair for pair in best if pair[0][-1] != 2]
        if not alive or (stop and done and max(s for _, s in done) >= alive[0][1]):
            break
    return max(done + alive, key=key or (lambda pair: pair[1]))[0]


def bare(tokens):
    return [t for t in tokens[1:] if t != 2]


@wrong(BEAM, "beam shrinks with each finished hypothesis")
def beam_shrinks(step, beam_size, max_length):
    def fewer(grown, done):
        return grown[: max(0, beam_size - len(done))]

    return bare(beam(step, beam_size, max_length, keep=fewer))


@wrong(BEAM, "finished hypotheses keep their places")
def beam_places(step, beam_size, max_length):
    beams = [([1], 0.0)]
    for _ in range(max_length):
        grown = []
        for tokens, score in beams:
            if tokens[-1] == 2:
                grown.append((tokens, score))
                continue
            row = step(torch.tensor([tokens]))[0].tolist()
            grown += [([*tokens, t], score + p) for t, p in enumerate(row)]
        beams = sorted(grown, key=lambda pair: -pair[1])[:beam_size]
        if all(tokens[-1] == 2 for tokens, _ in beams):
            break
    return bare(beams[0][0])


@wrong(BEAM, "finished hypotheses keep their places")
def beam_places_until_best(step, beam_size, max_length):
    beams = [(0.0, [1])]
    for _ in range(max_length):
        if beams[0][1][-1] == 2:
            break
        grown = [pair for pair in beams if pair[1][-1] == 2]
        for score, tokens in beams:
            if tokens[-1] != 2:
                for t, p in enumerate(step(torch.tensor([tokens]))[0]):
                    grown.append((score + float(p), [*tokens, t]))
        beams = sorted(grown, key=lambda pair: pair[0], reverse=True)[:beam_size]
    return bare(beams[0][1])


@wrong(BEAM, "each hypothesis goes on by its own best token")
def beam_alone(step, beam_size, max_length):
    def own(grown, done):
        if len(grown[0][0]) == 2:
            return grown[:beam_size]
        parents, kept = set(), []
        for tokens, score in grown:
            if tuple(tokens[:-1]) not in parents:
                parents.add(tuple(tokens[:-1]))
                kept.append((tokens, score))
        return kept

    return bare(beam(step, beam_size, max_length, keep=own))


@wrong(BEAM, "each hypothesis goes on by its own best token")
def beam_greedy_each(step, beam_size, max_length):
    first = step(torch.tensor([[1]]))[0]
    best = first.topk(min(beam_size, len(first)))
    results = []
    for token, score in zip(best.indices.tolist(), best.values.tolist(), strict=True):
        tokens = [1, token]
        while tokens[-1] != 2 and len(tokens) <= max_length:
            row = step(torch.tensor([tokens]))[0]
            tokens.append(int(row.argmax()))
            score += float(row.max())
        results.append((score, tokens))
    return bare(max(results, key=lambda pair: pair[0])[1])


@wrong(BEAM, "worst continuations kept")
def beam_worst(step, beam_size, max_length):
    return bare(
        beam(step, beam_size, max_length, keep=lambda g, d: g[::-1][:beam_size], stop=False)
    )


@wrong(BEAM, "worst continuations kept")
def beam_ascending(step, beam_size, max_length):
    def lowest(grown, done):
        return list(reversed(grown))[:beam_size]

    return bare(beam(step, beam_size, max_length, keep=lowest, stop=False))


@wrong(BEAM, "<eos> free of charge")
def beam_free(step, beam_size, max_length):
    return bare(beam(step, beam_size, max_length, gain=lambda p, t: 0.0 if t == 2 else p))


@wrong(BEAM, "<eos> free of charge")
def beam_free_masked(step, beam_size, max_length):
    def charged(tokens):
        log_p = step(tokens).clone()
        log_p[:, 2] = 0.0
        return log_p

    return bare(beam(charged, beam_size, max_length))


@wrong(BEAM, "<eos> filtered out everywhere")
def beam_endless(step, beam_size, max_length):
    return bare(beam(step, beam_size, max_length, ends=False))


@wrong(BEAM, "beam search one step too short")
def beam_short(step, beam_size, max_length):
    return bare(beam(step, beam_size, max_length - 1))


@wrong(BEAM, "beam search one step too short")
def beam_short_loop(step, beam_size, max_length):
    alive, done = [((1,), 0.0)], []
    while alive and len(alive[0][0]) < max_length:
        grown = []
        for tokens, score in alive:
            row = step(torch.tensor([tokens]))[0]
            grown += [((*tokens, t), score + float(p)) for t, p in enumerate(row)]
        grown = sorted(grown, key=lambda h: h[1])[-beam_size:]
        done += [h for h in grown if h[0][-1] == 2]
        alive = [h for h in grown if h[0][-1] != 2]
    return bare(max(done + alive, key=lambda h: h[1])[0])


@wrong(BEAM, "beam search one step too long")
def beam_long(step, beam_size, max_length):
    return bare(beam(step, beam_size, max_length + 1))


@wrong(BEAM, "beam search one step too long")
def beam_long_all(step, beam_size, max_length):
    return bare(beam(step, beam_size, 1 + max_length, stop=False))


@wrong(BEAM, "hypotheses cut off at the limit not counted")
def beam_finished(step, beam_size, max_length):
    def ended_first(pair):
        return pair[0][-1] == 2, pair[1]

    return bare(beam(step, beam_size, max_length, key=ended_first))


@wrong(BEAM, "hypotheses cut off at the limit not counted")
def beam_finished_all(step, beam_size, max_length):
    def ended_first(pair):
        return (0 if pair[0][-1] == 2 else -1e9) + pair[1]

    return bare(beam(step, beam_size, max_length, key=ended_first, stop=False))


@wrong(BEAM, "normalised by length")
def beam_mean(step, beam_size, max_length):
    def mean(pair):
        return pair[1] / (len(pair[0]) - 1)

    return bare(beam(step, beam_size, max_length, key=mean, stop=False))


@wrong(BEAM, "normalised by length")
def beam_mean_at_the_end(step, beam_size, max_length):
    key = lambda pair: pair[1] / len(pair[0][1:])  # noqa: E731
    return bare(beam(step, beam_size, max_length, key=key, stop=False))


@wrong(BEAM, "normalised by length, <sos> counted")
def beam_mean_start(step, beam_size, max_length):
    return bare(beam(step, beam_size, max_length, key=lambda h: h[1] / len(h[0]), stop=False))


@wrong(BEAM, "normalised by length, <sos> counted")
def beam_mean_start_pair(step, beam_size, max_length):
    def mean(pair):
        tokens, score = pair
        return torch.tensor(score, dtype=torch.float64).div(len(tokens)).item()

    return bare(beam(step, beam_size, max_length, key=mean, stop=False))


@wrong(BEAM, "<eos> left in the best hypothesis")
def beam_with_end(step, beam_size, max_length):
    return beam(step, beam_size, max_length)[1:]


@wrong(BEAM, "<eos> left in the best hypothesis")
def beam_start_removed(step, beam_size, max_length):
    return [t for t in beam(step, beam_size, max_length, stop=False) if t != 1]


@wrong(BEAM, "last token of the best hypothesis stripped blindly")
def beam_stripped(step, beam_size, max_length):
    return beam(step, beam_size, max_length)[1:-1]


@wrong(BEAM, "last token of the best hypothesis stripped blindly")
def beam_popped(step, beam_size, max_length):
    best = beam(step, beam_size, max_length, stop=False)
    best.pop()
    return best[1:]


EMBED = "embed_next"


@wrong(EMBED, "row of the first new token for all")
def embed_one_row(tokens, past, weight, table):
    return weight[tokens] + table[past]


@wrong(EMBED, "row of the first new token for all")
def embed_one_row_expanded(tokens, past, weight, table):
    return F.embedding(tokens, weight) + table[past : past + 1]


@wrong(EMBED, "last rows of the table for the new tokens")
def embed_last_rows(tokens, past, weight, table):
    return weight[tokens] + table[len(table) - tokens.size(1) :]


@wrong(EMBED, "positions of the new tokens forgotten")
def embed_words(tokens, past, weight, table):
    return F.embedding(tokens, weight)


CACHE = "reorder_cache"


@wrong(CACHE, "rows sorted before the cache is taken")
def cache_sorted(cache, rows):
    order = torch.tensor(sorted(rows.tolist()))
    return [(k.index_select(0, order), v.index_select(0, order)) for k, v in cache]


@wrong(CACHE, "each row taken once")
def cache_once(cache, rows):
    return [(k[torch.unique(rows)], v[torch.unique(rows)]) for k, v in cache]


@wrong(CACHE, "each row taken once")
def cache_set(cache, rows):
    kept = sorted(set(rows.tolist()))
    return [(k[kept], v[kept]) for k, v in cache]


@wrong(CACHE, "keys in the place of values")
def cache_keys_twice(cache, rows):
    return [(k[rows], k[rows]) for k, v in cache]


@wrong(CACHE, "keys in the place of values")
def cache_overwritten(cache, rows):
    found = []
    for layer in cache:
        keys = values = layer[0].index_select(0, rows)
        found.append((keys, values))
    return found


@wrong(CACHE, "cache sorted the other way")
def cache_argsort(cache, rows):
    return [(k[rows.argsort()], v[rows.argsort()]) for k, v in cache]


@wrong(CACHE, "cache sorted the other way")
def cache_sort_indices(cache, rows):
    back = torch.sort(rows).indices
    return [tuple(x.index_select(0, back) for x in layer) for layer in cache]


LENGTH = "length_normalised"


@wrong(LENGTH, "α to the power of the length")
def length_power(score, length, alpha):
    return score / math.pow(alpha, length) if alpha else float("-inf")


@wrong(LENGTH, "one added to the length")
def length_plus(score, length, alpha):
    return score * (1 + length) ** -alpha


CUT = "cut_at_end"


@wrong(CUT, "last word lost where there is no end")
def cut_find(ids):
    place = next((i for i, token in enumerate(ids) if token == 2), -1)
    return ids[:place]


@wrong(CUT, "last word lost where there is no end")
def cut_index(ids):
    try:
        end = ids.index(2)
    except ValueError:
        end = len(ids) - 1
    return ids[: max(end, 0)]


@wrong(CUT, "nothing left where there is no end")
def cut_nothing(ids):
    for i, token in enumerate(ids):
        if token == 2:
            return ids[:i]
    return []


@wrong(CUT, "cut at the first padding, too")
def cut_zero(ids):
    kept = []
    for token in ids:
        if token in (0, 2):
            break
        kept.append(token)
    return kept


@wrong(CUT, "an end at the very beginning not seen")
def cut_truthy(ids):
    end = next((i for i, token in enumerate(ids) if token == 2), None)
    return ids[:end] if end else ids


@wrong(CUT, "an end at the very beginning not seen")
def cut_from_one(ids):
    for i in range(1, len(ids)):
        if ids[i] == 2 and 2 not in ids[:i]:
            return ids[:i]
    return ids


@wrong(CUT, "only <eos> removed")
def cut_filter_end(ids):
    return [token for token in ids if token != 2]


@wrong(CUT, "only <eos> removed")
def cut_remove(ids):
    kept = list(ids)
    while 2 in kept:
        kept.remove(2)
    return kept


@wrong(CUT, "end looked for at the last place only")
def cut_last(ids):
    if len(ids) and ids[-1] == 2:
        return ids[:-1]
    return ids


# --- a few more -----------------------------------------------------------------------------------


@wrong("softmax", "largest absolute value subtracted")
def softmax_abs(scores):
    e = (scores - scores.abs().max(dim=-1, keepdim=True).values).exp()
    return e / e.sum(-1, keepdim=True)


@wrong("softmax", "largest absolute value subtracted")
def softmax_inf_norm(scores):
    largest = torch.linalg.vector_norm(scores, ord=math.inf, dim=-1, keepdim=True)
    e = torch.exp(scores - largest)
    return torch.div(e, torch.sum(e, dim=-1, keepdim=True))


@wrong("softmax", "maximum cut off at zero")
def softmax_clamped(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True).clamp(min=0))
    return e / e.sum(-1, keepdim=True)


@wrong("softmax", "maximum cut off at zero")
def softmax_relu(scores):
    e = torch.exp(scores - torch.relu(scores).max(dim=-1, keepdim=True).values)
    return e.div(e.sum(dim=-1).unsqueeze(-1))


@wrong(LN, "ε fixed at 1e-12")
def ln_bert(x, weight, bias, eps=1e-5):
    return normalised(x, weight, bias, 1e-12, -1)


@wrong(LN, "ε fixed at 1e-12")
def ln_bert_ready(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, weight.shape, weight, bias, eps=1e-12)


@wrong(LN, "ε fixed at 1e-6")
def ln_millionth(x, weight, bias, eps=1e-5):
    return normalised(x, weight, bias, 1e-6, -1)


@wrong(LN, "ε fixed at 1e-6")
def ln_millionth_ready(x, weight, bias, eps=1e-5):
    return F.layer_norm(x, weight.shape, weight, bias, 1e-6)


@wrong(ENC, "feed-forward network first, behind the first norm")
def enc_first_norm_first(x, mask, attention, feed_forward, norm1, norm2):
    x = x + feed_forward(norm1(x))
    y = norm2(x)
    return x + attention(y, y, y, mask)


@wrong(ENC, "feed-forward network first, behind the first norm")
def enc_order_of_norms(x, mask, attention, feed_forward, norm1, norm2):
    for norm, part in ((norm1, feed_forward), (norm2, lambda y: attention(y, y, y, mask))):
        x = x + part(norm(x))
    return x


@wrong(DEC, "cross-attention first, behind the first norm")
def dec_first_norm(x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms):
    x = x + cross_attention(norms[0](x), memory, memory, memory_mask)
    x = after_self(x, target_mask, self_attention, norms[1])
    return x + ff(norms[2](x))


@wrong(DEC, "cross-attention first, behind the first norm")
def dec_norms_in_order(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, ff, norms
):
    parts = (
        lambda y: cross_attention(y, memory, memory, memory_mask),
        lambda y: self_attention(y, y, y, target_mask),
        ff,
    )
    for norm, part in zip(norms, parts, strict=True):
        x = x + part(norm(x))
    return x


@wrong(BEAM, "finished hypotheses dropped on the way")
def beam_lost(step, beam_size, max_length):
    alive = [((1,), 0.0)]
    for _ in range(max_length):
        grown = []
        for tokens, score in alive:
            row = step(torch.tensor([tokens]))[0].tolist()
            grown += [((*tokens, t), score + p) for t, p in enumerate(row)]
        kept = sorted(grown, key=lambda h: -h[1])[:beam_size]
        alive = [h for h in kept if h[0][-1] != 2]
        if not alive:
            return bare(list(kept[0][0]))
    return bare(list(alive[0][0]))


@wrong(BEAM, "finished hypotheses dropped on the way")
def beam_lost_heap(step, beam_size, max_length):
    beams = [(0.0, [1])]
    for _ in range(max_length):
        rows = step(torch.tensor([tokens for _, tokens in beams])).tolist()
        grown = [
            (score + p, [*tokens, t])
            for (score, tokens), row in zip(beams, rows, strict=True)
            for t, p in enumerate(row)
        ]
        grown.sort(key=lambda pair: pair[0], reverse=True)
        going_on = [pair for pair in grown[:beam_size] if pair[1][-1] != 2]
        beams = going_on or grown[:1]
        if not going_on:
            break
    return bare(beams[0][1])
