"""Round 2, author 5: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right

import copy
import itertools
import math
from collections import Counter
from functools import lru_cache

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


# ---------------------------------------------------------------- chapters 1 to 3


@wrong(
    "number_of_targets",
    "It counts in 64-bit integers, which wrap around: 37000 tokens and 20 places give nonsense.",
)
def number_of_targets_a(vocab_size, length):
    return int(torch.tensor(vocab_size) ** length)


@wrong(
    "number_of_targets",
    "It goes through floating-point exp and log, which overflows (an error) for long sequences such as 37000 tokens and 100 places.",
)
def number_of_targets_b(vocab_size, length):
    return round(math.exp(length * math.log(vocab_size)))


@wrong(
    "build_vocabulary",
    "The ids are counted before the rare words are left out, so that there are gaps as soon as a rare word comes before a frequent one.",
)
def build_vocabulary_b(sentences, min_frequency):
    counts = Counter(word for sentence in sentences for word in sentence)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for number, (word, count) in enumerate(counts.items(), start=4):
        if count >= min_frequency:
            vocabulary[word] = number
    return vocabulary


@wrong(
    "build_vocabulary",
    "It stops at the first rare word, though the words are in order of appearance and frequent ones may still come behind it.",
)
def build_vocabulary_c(sentences, min_frequency):
    counts = Counter(itertools.chain.from_iterable(sentences))
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for word in counts:
        if counts[word] < min_frequency:
            break
        vocabulary[word] = len(vocabulary)
    return vocabulary


@wrong(
    "build_vocabulary",
    "Words with other characters than letters (numbers, full stops, hyphens) are left out.",
)
def build_vocabulary_d(sentences, min_frequency):
    counts = Counter(word for sentence in sentences for word in sentence if word.isalpha())
    words = [word for word, count in counts.items() if count >= min_frequency]
    return {word: i for i, word in enumerate(["<pad>", "<sos>", "<eos>", "<unk>"] + words)}


@wrong("encode", "An empty sentence comes back empty, without <eos>.")
def encode_a(tokens, vocabulary):
    if not tokens:
        return []
    return [vocabulary.get(token, 3) for token in tokens] + [2]


@wrong(
    "encode",
    "setdefault writes the unknown tokens into the caller's dictionary: the argument is changed when a token is unknown.",
)
def encode_b(tokens, vocabulary):
    ids = []
    for token in tokens:
        ids.append(vocabulary.setdefault(token, 3))
    ids.append(2)
    return ids


@wrong("encode", "Sentences are cut to 128 tokens; longer ones lose their end.")
def encode_c(tokens, vocabulary, max_length=128):
    ids = [vocabulary[token] if token in vocabulary else 3 for token in tokens[:max_length]]
    return ids + [2]


@wrong("encode", "Several unknown tokens in a row become one <unk>.")
def encode_d(tokens, vocabulary):
    ids = []
    for token in tokens:
        number = vocabulary.get(token, 3)
        if number == 3 and ids and ids[-1] == 3:
            continue
        ids.append(number)
    return ids + [2]


@wrong(
    "text_to_ids",
    "Space at the ends of the text is cut off before tokenizing; a tokenizer that makes tokens of it (characters) gives others.",
)
def text_to_ids_b(text, tokenize, vocabulary):
    ids = []
    for token in tokenize(text.strip()):
        ids.append(vocabulary.get(token, 3))
    return ids + [2]


@wrong(
    "text_to_ids",
    "Each line is tokenized by itself, so that a tokenizer that has a token for the line break never sees it (texts of several lines).",
)
def text_to_ids_c(text, tokenize, vocabulary):
    ids = []
    for line in text.split("\n"):
        ids += [vocabulary.get(token, 3) for token in tokenize(line)]
    return ids + [2]


@wrong(
    "training_words",
    "The frequency is counted over all splits and only then are the words of train kept: a word once in train and once in test passes min_frequency 2.",
)
def training_words_a(splits, min_frequency):
    counts = Counter(
        word for sentences in splits.values() for sentence in sentences for word in sentence
    )
    seen = {word for sentence in splits["train"] for word in sentence}
    return {word for word in seen if counts[word] >= min_frequency}


@wrong("collate", "The tensor is int16: ids above 32767 overflow (a large vocabulary).")
def collate_a(rows):
    longest = max(len(row) for row in rows)
    out = torch.zeros(len(rows), longest, dtype=torch.int16)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.tensor(row).to(torch.int16)
    return out


@wrong(
    "collate",
    "max(rows) is the row that is greatest in alphabetical order, not the longest one: [[5], [4, 4]] goes wrong.",
)
def collate_b(rows):
    longest = len(max(rows))
    return torch.tensor([row[:longest] + [0] * (longest - len(row)) for row in rows])


@wrong(
    "collate",
    "The padding is appended to the caller's own lists: the argument is changed when the rows differ in length.",
)
def collate_c(rows):
    longest = max(map(len, rows))
    for row in rows:
        while len(row) < longest:
            row.append(0)
    return torch.tensor(rows)


@wrong(
    "collate",
    "The width is rounded up to a multiple of 4, more than needed when the longest row has, say, five ids.",
)
def collate_d(rows):
    longest = max(len(row) for row in rows)
    width = -(-longest // 4) * 4
    out = torch.zeros(len(rows), width, dtype=torch.long)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.tensor(row)
    return out


@wrong(
    "collate",
    "A batch of one sentence comes back as (S,), for squeeze takes away the axis of size one (and rows of one id lose an axis, too).",
)
def collate_e(rows):
    longest = max(len(row) for row in rows)
    return torch.tensor([row + [0] * (longest - len(row)) for row in rows]).squeeze()


@wrong(
    "shift",
    "In place of the last column it takes every <eos> out of the decoder's input: right without padding, wrong as soon as a sentence is padded.",
)
def shift_a(target):
    inputs = target[target != 2].view(target.shape[0], -1)
    return inputs, target[:, 1:]


@wrong(
    "shift",
    "Columns of nothing but padding are cut off first: a batch whose last columns are all padding comes back narrower than (B, T - 1).",
)
def shift_b(target):
    width = int((target != 0).any(0).nonzero().max()) + 1
    target = target[:, :width]
    return target[:, :-1], target[:, 1:]


@wrong(
    "shift",
    "squeeze takes away the axis of the batch when there is one sentence (and T - 1 when it is one).",
)
def shift_c(target):
    return target[:, :-1].squeeze(), target[:, 1:].squeeze()


# ---------------------------------------------------------------- chapters 4 and 5


@wrong(
    "embedding",
    "padding_idx=0 cuts off the gradient of the padding's row; the numbers are right, the gradient of weight[0] is zero where token 0 comes.",
)
def embedding_b(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * weight.shape[1] ** 0.5


@wrong(
    "embedding",
    "scale_grad_by_freq divides the gradient of tokens that come several times by how often they come.",
)
def embedding_c(tokens, weight):
    return F.embedding(tokens, weight, scale_grad_by_freq=True) * math.sqrt(weight.size(1))


@wrong(
    "embedding",
    "one_hot without num_classes is only as wide as the largest id in the batch: it fails unless the last token of the vocabulary is there.",
)
def embedding_d(tokens, weight):
    return F.one_hot(tokens).to(weight.dtype) @ weight * weight.shape[-1] ** 0.5


class EmbeddingE(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, tokens):
        out = self.weight[tokens] * math.sqrt(self.weight.shape[1])
        return out * (tokens != 0).unsqueeze(-1)


wrong(
    "embedding",
    "The vectors of token 0 are set to zero, though row 0 of the weight is a row as any other (inputs with padding).",
)(EmbeddingE)


@wrong(
    "tied_logits", "The weight is detached, so that the embedding gets no gradient from the output."
)
def tied_logits_b(x, weight):
    return torch.einsum("btd,vd->btv", x, weight.detach())


@wrong("tied_logits", "squeeze: with one sentence or one position an axis is missing.")
def tied_logits_c(x, weight):
    return (weight @ x.unsqueeze(-1)).squeeze()


@wrong(
    "sinusoids",
    "The table is made once for 512 positions and cut: longer ones do not exist (length 600).",
)
def sinusoids_a(length, d_model):
    position = torch.arange(512).float().unsqueeze(1)
    rate = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    table = torch.zeros(512, d_model)
    table[:, 0::2] = torch.sin(position * rate)
    table[:, 1::2] = torch.cos(position * rate)
    return table[:length]


@wrong("sinusoids", "The positions are counted in 8 bits: position 256 is position 0 again.")
def sinusoids_b(length, d_model):
    position = torch.from_numpy(np.arange(length).astype(np.uint8)).float()
    i = torch.arange(d_model // 2).float()
    angle = position[:, None] / 10000 ** (2 * i / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).reshape(length, d_model)


@wrong(
    "sinusoids",
    "The angles are reduced by 2 * 3.14 in place of 2 pi: right up to position 6, then drifting.",
)
def sinusoids_d(length, d_model):
    i = torch.arange(0, d_model, 2).float()
    angle = torch.arange(length).float()[:, None] / 10000.0 ** (i / d_model)
    angle = torch.remainder(angle, 2 * 3.14)
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)


@wrong(
    "add_positions",
    "The positions count on from sentence to sentence: right for one sentence (B = 1) only; with several the second begins at T.",
)
def add_positions_b(x, table):
    B, T, D = x.shape
    rows = torch.arange(B * T).view(B, T) % table.shape[0]
    return x + table[rows]


@wrong("add_positions", "The table is taken with .data, so that learned positions get no gradient.")
def add_positions_c(x, table):
    return x + table[: x.size(1)].data


@wrong("add_positions", "In place: the caller's x is changed.")
def add_positions_d(x, table):
    for p in range(x.shape[1]):
        x[:, p] += table[p]
    return x


@wrong(
    "add_positions",
    "The table is cut by the size of the batch, which is right only when B = T (or it fails).",
)
def add_positions_e(x, table):
    return x + table[: len(x)]


# ---------------------------------------------------------------- chapter 7


@wrong(
    "softmax",
    "The mean is subtracted in place of the largest score: one score of 1000 among small ones still overflows.",
)
def softmax_c(scores):
    e = torch.exp(scores - scores.mean(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


@wrong(
    "softmax",
    "Scores are clamped to [-30, 30] against overflow: 40 and 50 are taken as equally large.",
)
def softmax_d(scores):
    e = scores.clamp(-30, 30).exp()
    return e / e.sum(dim=-1, keepdim=True)


@wrong(
    "softmax",
    "A small number in the denominator without subtracting the largest score: where all scores are very low (-50) the row sums to far less than one.",
)
def softmax_e(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True).clamp(min=0))
    return e / (e.sum(-1, keepdim=True) + 1e-9)


@wrong("softmax", "The sum is detached: the probabilities are right, their gradient is not.")
def softmax_f(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True).detach()


@wrong(
    "scaled_dot_product_attention",
    "The NaN of a query that may attend to nothing is mended only in the output: on the way back its gradients are NaN.",
)
def sdpa_b(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / key.size(-1) ** 0.5
    if mask is not None:
        scores = scores + torch.where(mask, 0.0, -math.inf)
    return torch.nan_to_num(torch.softmax(scores, -1)) @ value


@wrong(
    "scaled_dot_product_attention",
    "Softmax over all keys, hidden ones set to zero, renormalised: where a hidden key has by far the highest score, nothing is left to renormalise.",
)
def sdpa_c(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, -1)
    if mask is not None:
        weights = weights * mask
        weights = weights / (weights.sum(-1, keepdim=True) + 1e-12)
    return weights @ value


@wrong(
    "scaled_dot_product_attention",
    "Hidden scores are set to -100, which is not low enough when the visible ones are below -100 themselves (large queries and keys).",
)
def sdpa_d(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is None:
        return scores.softmax(-1) @ value
    weights = scores.masked_fill(mask == 0, -100.0).softmax(-1)
    nothing = ~mask.any(-1, keepdim=True)
    return weights.masked_fill(nothing, 0.0) @ value


@wrong(
    "scaled_dot_product_attention",
    "The exponentials are not protected by subtracting the largest score: large queries and keys give NaN.",
)
def sdpa_g(query, key, value, mask=None):
    e = torch.exp(query @ key.mT / math.sqrt(key.shape[-1]))
    if mask is not None:
        e = e * mask
    total = e.sum(-1, keepdim=True)
    return (e / total.masked_fill(total == 0, 1.0)) @ value


# ---------------------------------------------------------------- chapter 8


@wrong(
    "padding_mask",
    "It counts the real tokens and shows that many from the left: wrong when padding stands in front or in between.",
)
def padding_mask_a(tokens):
    lengths = (tokens != 0).sum(1)
    return (torch.arange(tokens.shape[1]) < lengths[:, None])[:, None, None, :]


@wrong(
    "padding_mask",
    "What comes after the first <eos> is hidden, by argmax, which is 0 for a sentence without <eos>: all but its first token is hidden.",
)
def padding_mask_b(tokens):
    end = (tokens == 2).int().argmax(1, keepdim=True)
    return (torch.arange(tokens.size(1)) <= end).unsqueeze(1).unsqueeze(1)


@wrong(
    "padding_mask",
    "In a sentence of nothing but padding the first key is shown, against NaN; all padding must be hidden.",
)
def padding_mask_c(tokens):
    mask = tokens != 0
    mask[~mask.any(1), 0] = True
    return mask[:, None, None]


@wrong("padding_mask", "<unk> (3) is hidden like padding: unknown words are real tokens.")
def padding_mask_d(tokens):
    return ((tokens != 0) & (tokens != 3)).view(tokens.shape[0], 1, 1, -1)


@wrong("causal_mask", "At most 512 positions: a longer one gets a mask that is too small.")
def causal_mask_a(length):
    full = torch.tril(torch.ones(512, 512, dtype=torch.bool))
    return full[:length, :length]


@wrong(
    "causal_mask",
    "Only the last 64 positions may be seen: from length 65 on, the beginning is hidden.",
)
def causal_mask_b(length):
    i = torch.arange(length)
    back = i[:, None] - i[None, :]
    return (back >= 0) & (back < 64)


@wrong("causal_mask", "A length of one gives a number in place of a matrix (1, 1), by squeeze.")
def causal_mask_c(length):
    return torch.ones(1, length, length).tril().squeeze() == 1


@wrong(
    "causal_mask",
    "Positions are counted in bytes; from 256 on they begin anew, and late positions see too little and too much.",
)
def causal_mask_d(length):
    i = torch.arange(length).to(torch.uint8)
    return i[:, None] >= i[None, :]


@wrong("target_mask", "A batch of one sentence is taken to have no padding.")
def target_mask_c(tokens):
    B, T = tokens.shape
    mask = torch.ones(T, T, dtype=torch.bool).tril().expand(B, 1, T, T)
    if B > 1:
        mask = mask & (tokens != 0)[:, None, None, :]
    return mask


@wrong(
    "target_mask",
    "A sentence of nothing but padding is let see everything before it, in order that there is no NaN.",
)
def target_mask_e(tokens):
    T = tokens.shape[1]
    keys = tokens != 0
    keys = keys | ~keys.any(1, keepdim=True)
    return keys[:, None, None, :] & torch.ones(T, T).tril().bool()


# ---------------------------------------------------------------- chapters 9 and 10


@wrong(
    "split_heads", "With one head x is given back as it is, (B, T, D), without the axis of heads."
)
def split_heads_a(x, n_heads):
    if n_heads == 1:
        return x
    B, T, D = x.shape
    return x.view(B, T, n_heads, D // n_heads).transpose(1, 2)


@wrong(
    "merge_heads",
    "It guesses from the sizes which axis is the heads' one (the smaller): with more heads than positions, T = 1 apart, they are mixed up.",
)
def merge_heads_a(heads):
    B, a, b, K = heads.shape
    if a <= b:
        heads = heads.transpose(1, 2)
        return heads.reshape(B, b, a * K)
    return heads.reshape(B, b, a * K)


@wrong("merge_heads", "squeeze: a batch of one sentence, or one position, loses its axis.")
def merge_heads_b(heads):
    return torch.cat(heads.unbind(1), dim=-1).squeeze()


def _project(x, weight, n_heads):
    B, T, D = x.shape
    return (x @ weight.T).view(B, T, n_heads, D // n_heads).transpose(1, 2)


@wrong(
    "multi_head_attention",
    "With one head the output projection is left out, as if there were nothing to merge.",
)
def multi_head_attention_c(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    if n_heads == 1:
        if mask is not None and mask.dim() == 4:
            mask = mask[:, 0]
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        return scores.softmax(-1) @ v
    heads = []
    for a, b, c in zip(q.chunk(n_heads, -1), k.chunk(n_heads, -1), v.chunk(n_heads, -1)):
        scores = (a @ b.mT / math.sqrt(a.shape[-1])).unsqueeze(1)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        heads.append(scores.squeeze(1).softmax(-1) @ c)
    return torch.cat(heads, -1) @ w_output.T


@wrong(
    "multi_head_attention",
    "The mask is only used when there are as many keys as queries (self-attention): padding of a memory with S ≠ T is not hidden.",
)
def multi_head_attention_d(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    q, k, v = (
        _project(query, w_query, n_heads),
        _project(key, w_key, n_heads),
        _project(value, w_value, n_heads),
    )
    scores = torch.einsum("bhtk,bhsk->bhts", q, k) * (D // n_heads) ** -0.5
    if mask is not None and scores.shape[-1] == scores.shape[-2]:
        scores = scores.masked_fill(~mask, -torch.inf)
    out = torch.einsum("bhts,bhsk->bthk", scores.softmax(-1), v)
    return out.reshape(B, T, D) @ w_output.T


@wrong(
    "multi_head_attention",
    "Hidden scores get -20, not minus infinity: with large queries and keys the hidden places win.",
)
def multi_head_attention_e(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    q, k, v = (
        _project(query, w_query, n_heads),
        _project(key, w_key, n_heads),
        _project(value, w_value, n_heads),
    )
    scores = q @ k.mT / math.sqrt(D // n_heads)
    if mask is not None:
        scores = torch.where(mask, scores, scores.new_tensor(-20.0))
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ w_output.T


@wrong(
    "layer_norm",
    "The variance is divided by D - 1 and multiplied by (D - 1) / D again: the two cancel, but for D = 1 it is NaN.",
)
def layer_norm_c(x, weight, bias, eps=1e-5):
    D = x.shape[-1]
    variance = x.var(-1, keepdim=True) * (D - 1) / D
    return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(variance + eps) * weight + bias


@wrong(
    "layer_norm", "Mean and variance are detached: the numbers are right, the gradient of x is not."
)
def layer_norm_d(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        mean = x.mean(-1, keepdim=True)
        variance = x.var(-1, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(variance + eps) * weight + bias


@wrong(
    "layer_norm",
    "max(variance, ε) in place of variance + ε: seen where the variance is about as small as ε, or eps is large.",
)
def layer_norm_g(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / variance.clamp(min=eps).sqrt() * weight + bias


@wrong(
    "layer_norm_parameters", "The bias is one zero for all features, (1,), right only for D = 1."
)
def layer_norm_parameters_a(d_model):
    return torch.ones(d_model), torch.zeros(1)


@wrong(
    "layer_norm_parameters",
    "The weight is cut out of a buffer of 1024 ones: for larger D it is too short.",
)
def layer_norm_parameters_b(d_model):
    return torch.ones(1024)[:d_model], torch.zeros(d_model)


@wrong(
    "pre_norm",
    "The sum is written into what the sublayer returned; where that is x itself (norm and sublayer the identity) the caller's x is doubled.",
)
def pre_norm_a(x, sublayer, norm):
    out = sublayer(norm(x))
    out += x
    return out


@wrong("post_norm", "x is changed in place before the norm.")
def post_norm_a(x, sublayer, norm):
    with torch.no_grad():
        changed = sublayer(x)
        x.copy_(x + changed)
    return norm(x)


@wrong(
    "dropout",
    "Where nothing was dropped x is given back as it is, though the kept entries are to be enlarged even then (keep all True, p > 0).",
)
def dropout_a(x, p, keep, training):
    if not training or keep.all():
        return x
    return x * keep / (1 - p)


@wrong(
    "dropout",
    "It enlarges by the fraction that was really kept, not by 1 - p; if nothing is kept, it divides by zero and gives NaN.",
)
def dropout_c(x, p, keep, training):
    if training:
        return x * keep / keep.to(x.dtype).mean()
    return x


@wrong(
    "sublayer_with_dropout",
    "Dropout is used on the norm's output and on the sublayer's: right only when dropout does nothing.",
)
def sublayer_with_dropout_a(x, sublayer, norm, dropout):
    return x + dropout(sublayer(dropout(norm(x))))


# ---------------------------------------------------------------- chapters 11 to 14


@wrong("feed_forward", "ReLU6: values inside above 6 are cut off.")
def feed_forward_a(x, w1, b1, w2, b2):
    return (x @ w1.T + b1).clamp(0, 6) @ w2.T + b2


@wrong(
    "feed_forward",
    "It tries w1 without transposing first, which runs through and is wrong when F = D.",
)
def feed_forward_b(x, w1, b1, w2, b2):
    try:
        h = x @ w1 + b1
        return h.relu() @ w2 + b2
    except RuntimeError:
        return torch.relu(x @ w1.T + b1) @ w2.T + b2


@wrong("group_sort", "The absolute values decide which is smaller: wrong for negative numbers.")
def group_sort_a(x):
    a, b = x[..., 0::2], x[..., 1::2]
    swap = a.abs() > b.abs()
    return torch.stack([torch.where(swap, b, a), torch.where(swap, a, b)], -1).flatten(-2)


@wrong(
    "group_sort",
    "The larger one is taken from features of which the smaller has been overwritten already: where a pair is not in order, both become the smaller.",
)
def group_sort_c(x):
    x = x.clone()
    x[..., 0::2] = torch.minimum(x[..., 0::2], x[..., 1::2])
    x[..., 1::2] = torch.maximum(x[..., 0::2].clone(), x[..., 1::2])
    return x


@wrong(
    "encoder_layer",
    "The mask is dropped for a batch of one sentence, which may have padding all the same.",
)
def encoder_layer_a(x, mask, attention, feed_forward, norm1, norm2):
    if x.shape[0] == 1:
        mask = None
    h = norm1(x)
    x = x + attention(h, h, h, mask)
    return x + feed_forward(norm2(x))


@wrong(
    "decoder_layer",
    "When source and target are equally long the cross-attention gets the target's mask in place of the memory's.",
)
def decoder_layer_b(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    cross_mask = target_mask if memory.shape[1] == x.shape[1] else memory_mask
    x = x + cross_attention(norms[1](x), memory, memory, cross_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "causal_self_attention",
    "tril sets the future's scores to zero and then all zeros are hidden: a real score that is exactly 0 (orthogonal vectors, a vector of zeros) is hidden, too.",
)
def causal_self_attention_a(x, training):
    scores = torch.tril(x @ x.mT / math.sqrt(x.shape[-1]))
    scores = scores.masked_fill(scores == 0, float("-inf"))
    return scores.softmax(-1) @ x


@wrong(
    "causal_self_attention",
    "The future is cut out after the softmax and the rest renormalised: where a later position has by far the highest score nothing is left (large x).",
)
def causal_self_attention_b(x, training):
    weights = torch.softmax(x @ x.mT / x.shape[-1] ** 0.5, -1).tril()
    return weights / (weights.sum(-1, keepdim=True) + 1e-10) @ x


@wrong(
    "make_stack",
    "At most six different layers are made; from the seventh on they are the first ones again.",
)
def make_stack_a(make_layer, n_layers):
    layers = [make_layer() for _ in range(min(n_layers, 6))]
    return [layers[i % 6] for i in range(n_layers)]


@wrong(
    "make_stack",
    "The first layer stands at the end again, in place of one of its own (two layers and more).",
)
def make_stack_b(make_layer, n_layers):
    layers = nn.ModuleList(make_layer() for _ in range(max(1, n_layers - 1)))
    if n_layers > 1:
        layers.append(layers[0])
    return layers


def _future(T):
    return torch.ones(T, T, dtype=torch.bool).tril()


@wrong("transformer_forward", "<eos> (2) is hidden in the source like padding.")
def transformer_forward_b(source, target, embed_source, embed_target, encoder, decoder, output):
    source_mask = ((source != 0) & (source != 2))[:, None, None, :]
    target_mask = (target != 0)[:, None, None, :] & _future(target.shape[1])
    memory = encoder(embed_source(source), source_mask)
    return output(decoder(embed_target(target), memory, target_mask, source_mask))


@wrong(
    "transformer_forward",
    "The source's mask is made from the first sentence alone; with several sentences of different lengths it is wrong.",
)
def transformer_forward_c(source, target, embed_source, embed_target, encoder, decoder, output):
    source_mask = (source[:1] != 0)[:, None, None, :].expand(len(source), 1, 1, -1)
    target_mask = (target != 0)[:, None, None, :] & _future(target.shape[1])
    memory = encoder(embed_source(source), source_mask)
    return output(decoder(embed_target(target), memory, target_mask, source_mask))


# ---------------------------------------------------------------- chapters 15 and 16


@wrong(
    "cross_entropy",
    "1e-9 inside the logarithm limits the loss to 20.7 per token: wrong where the model is very sure and mistaken.",
)
def cross_entropy_a(logits, target):
    p = logits.softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    real = target != 0
    return -(torch.log(p + 1e-9) * real).sum() / real.sum()


@wrong(
    "cross_entropy",
    "log of the sum of exp is computed without subtracting the largest logit: logits of 100 give infinity.",
)
def cross_entropy_c(logits, target):
    right_one = logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    losses = logits.exp().sum(-1).log() - right_one
    return losses[target != 0].mean()


@wrong(
    "cross_entropy", "<unk> (3) is left out together with the padding, though it is a real token."
)
def cross_entropy_d(logits, target):
    losses = -torch.log_softmax(logits, -1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return losses[(target != 0) & (target != 3)].mean()


@wrong(
    "label_smoothed_loss",
    "`smoothing or 0.1`: a smoothing of 0 is taken as not given, and becomes 0.1.",
)
def label_smoothed_loss_a(logits, target, smoothing):
    smoothing = smoothing or 0.1
    nll = -logits.log_softmax(-1)
    losses = (1 - smoothing) * nll.gather(-1, target[..., None])[..., 0] + smoothing * nll.mean(-1)
    return losses[target != 0].mean()


@wrong(
    "label_smoothed_loss",
    "1 - ε is put in front of the bracket, and divides inside it: with a smoothing of 1 that is a division by zero.",
)
def label_smoothed_loss_b(logits, target, smoothing):
    nll = -logits.log_softmax(-1)
    picked = nll.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    losses = (1 - smoothing) * (
        picked + smoothing / (1 - smoothing) / logits.shape[-1] * nll.sum(-1)
    )
    real = target != 0
    return losses.masked_fill(~real, 0).sum() / real.sum()


@wrong(
    "label_smoothed_loss",
    "The smoothing's part is averaged over all positions, the padding included; right without padding.",
)
def label_smoothed_loss_c(logits, target, smoothing):
    nll = -logits.log_softmax(-1)
    real = target != 0
    picked = nll.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return (1 - smoothing) * picked[real].mean() + smoothing * nll.mean()


@wrong(
    "label_smoothed_loss",
    "The Kullback-Leibler divergence, from which the entropy of the smoothed target is missing: right for a smoothing of 0 only.",
)
def label_smoothed_loss_d(logits, target, smoothing):
    V = logits.shape[-1]
    goal = (1 - smoothing) * F.one_hot(target, V).to(logits.dtype) + smoothing / V
    losses = F.kl_div(logits.log_softmax(-1), goal, reduction="none").sum(-1)
    return losses[target != 0].mean()


@wrong("perplexity", "Batches with a loss of 0 are skipped, together with their tokens.")
def perplexity_a(losses, counts):
    pairs = [(loss, count) for loss, count in zip(losses, counts) if loss]
    if not pairs:
        return 1.0
    return math.exp(sum(loss * count for loss, count in pairs) / sum(count for _, count in pairs))


@wrong(
    "perplexity",
    "The mean loss is cut at 10 against overflow: a worse model gets exp(10) all the same.",
)
def perplexity_b(losses, counts):
    mean = sum(loss * count for loss, count in zip(losses, counts)) / sum(counts)
    return math.exp(min(mean, 10.0))


@wrong(
    "perplexity",
    "It multiplies the probabilities of all tokens and takes the root: with a few thousand tokens the product is 0, and one divides by zero.",
)
def perplexity_c(losses, counts):
    product = 1.0
    for loss, count in zip(losses, counts):
        product *= math.exp(-loss) ** count
    return (1 / product) ** (1 / sum(counts))


@wrong(
    "inverse_sqrt_schedule",
    "The rate never falls below 1e-4: with D = 512 that is wrong from update 195313 on.",
)
def inverse_sqrt_schedule_a(update, d_model, warmup):
    return max(d_model**-0.5 * min(update**-0.5, update * warmup**-1.5), 1e-4)


@wrong(
    "inverse_sqrt_schedule",
    "The root of D is cut to a whole number: right for D = 64 or 256, wrong for 512.",
)
def inverse_sqrt_schedule_b(update, d_model, warmup):
    return min(1 / math.sqrt(update), update / warmup**1.5) / math.isqrt(d_model)


@wrong(
    "clip_gradients",
    "The square of the length is compared with the limit: right for a limit of 1, wrong for others (length 1.5, limit 2).",
)
def clip_gradients_a(gradients, limit):
    square = sum((g**2).sum() for g in gradients)
    if square > limit:
        return [g * (limit / square.sqrt()) for g in gradients]
    return list(gradients)


@wrong(
    "clip_gradients",
    "It multiplies by limit / length, computed before asking whether it is needed, with numbers of Python: gradients of nothing but zeros divide by zero.",
)
def clip_gradients_b(gradients, limit):
    length = math.sqrt(sum(float((g**2).sum()) for g in gradients))
    factor = min(1.0, limit / length)
    return [g * factor for g in gradients]


@wrong(
    "clip_gradients",
    "1e-6 is added to the length, which matters when gradients and limit are tiny (length 1e-5, limit 1e-6).",
)
def clip_gradients_c(gradients, limit):
    length = torch.sqrt(sum(g.square().sum() for g in gradients))
    factor = torch.clamp(limit / (length + 1e-6), max=1.0)
    return [g * factor for g in gradients]


@wrong("clip_gradients", "torch.stack of the gradients goes only when all have the same shape.")
def clip_gradients_e(gradients, limit):
    length = torch.stack(gradients).norm()
    return [g * limit / length for g in gradients] if length > limit else gradients


@wrong(
    "training_update",
    "A loss that is not positive is taken as a sign that there is nothing to learn, and no update is made; losses may be negative.",
)
def training_update_a(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    if loss.item() <= 0:
        return
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@wrong(
    "training_update",
    "p.grad is taken to be there: a model with a weight that the loss does not use has None, and the update fails.",
)
def training_update_d(model, optimizer, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    compute_loss().backward()
    length = math.sqrt(sum(p.grad.square().sum().item() for p in model.parameters()))
    if length > 1:
        for p in model.parameters():
            p.grad /= length
    optimizer.step()


@wrong(
    "accumulated_update",
    "The losses are not divided by the number of parts, but the rate is: the two cancel for plain SGD, not for Adam or with weight decay.",
)
def accumulated_update_a(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        compute_loss(part).backward()
    rates = [group["lr"] for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        group["lr"] /= len(parts)
    optimizer.step()
    for group, rate in zip(optimizer.param_groups, rates):
        group["lr"] = rate
    scheduler.step()


@wrong(
    "accumulated_update",
    "The gradients are clipped at a length of 1, though nothing is to be clipped (large gradients).",
)
def accumulated_update_b(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)
    optimizer.step()
    scheduler.step()


@wrong("accumulated_update", "The divisor is fixed at 4 parts: wrong for any other number.")
def accumulated_update_c(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / 4).backward()
    optimizer.step()
    scheduler.step()


@wrong(
    "best_checkpoint",
    "The search starts with 10 as the best loss so far: if all checkpoints are worse than that, 0 comes back.",
)
def best_checkpoint_c(checkpoints, batches, loss_of):
    best, place = 10.0, 0
    for i, checkpoint in enumerate(checkpoints):
        loss = sum(loss_of(checkpoint, b) * len(b) for b in batches) / sum(map(len, batches))
        if loss < best:
            best, place = loss, i
    return place


@wrong(
    "average_checkpoints",
    "The sum is written into the first checkpoint's own tensors (dict copies no tensors): the argument is changed.",
)
def average_checkpoints_b(checkpoints):
    mean = dict(checkpoints[0])
    for name in mean:
        for checkpoint in checkpoints[1:]:
            mean[name] += checkpoint[name]
        mean[name] = mean[name] / len(checkpoints)
    return mean


# ---------------------------------------------------------------- chapter 17


@wrong("next_token", "squeeze: for one sentence (B = 1) a single number comes back, not (1,).")
def next_token_a(logits):
    return logits[:, -1:].argmax(-1).squeeze()


@wrong(
    "next_token", "Padding is never chosen, though it may be the likeliest token in these logits."
)
def next_token_b(logits):
    return logits[:, -1, 1:].argmax(-1) + 1


@wrong(
    "temperature_probabilities",
    "The probabilities are raised to 1 / temperature and normalised: at small temperatures all of them underflow when no token is very likely (0.01), and it is 0 / 0.",
)
def temperature_probabilities_a(logits, temperature):
    p = logits.softmax(-1) ** (1 / temperature)
    return p / p.sum(-1, keepdim=True)


@wrong("temperature_probabilities", "Temperatures below 0.1 are taken as 0.1.")
def temperature_probabilities_b(logits, temperature):
    return (logits / max(temperature, 0.1)).softmax(-1)


@wrong(
    "top_k_probabilities",
    "The others' logits are set to -100: where the likeliest tokens are below -100 themselves, the others win.",
)
def top_k_probabilities_a(logits, k):
    best = logits.topk(k, -1)
    return torch.full_like(logits, -100.0).scatter(-1, best.indices, best.values).softmax(-1)


@wrong(
    "top_k_probabilities",
    "It keeps what is above the (k + 1)-th; with k = V there is none, and it fails.",
)
def top_k_probabilities_b(logits, k):
    bound = logits.sort(-1, descending=True).values[:, k]
    return logits.masked_fill(logits <= bound[:, None], -math.inf).softmax(-1)


@wrong(
    "greedy_search",
    'It stops when a token repeats the one before it, which is legal ("very very").',
)
def greedy_search_b(step, max_length):
    tokens = torch.tensor([[1]])
    for _ in range(max_length):
        new = step(tokens).argmax(-1, keepdim=True)
        if new.item() == 2 or new.item() == tokens[0, -1].item():
            break
        tokens = torch.cat([tokens, new], 1)
    return tokens[0, 1:].tolist()


@wrong("greedy_search", "However large max_length is, it stops after 50 tokens.")
def greedy_search_c(step, max_length=50):
    tokens = [1]
    for _ in range(min(max_length, 50)):
        new = step(torch.tensor([tokens]))[0].argmax().item()
        if new == 2:
            break
        tokens.append(new)
    return tokens[1:]


@wrong(
    "greedy_batch",
    "Finished sentences are filled with <eos> (a convention), but then all <eos> are counted: two of one sentence end the search while another goes on.",
)
def greedy_batch_a(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        new = step(tokens).argmax(-1)
        new[(tokens == 2).any(1)] = 2
        tokens = torch.cat([tokens, new[:, None]], 1)
        if (tokens == 2).sum() >= n_sentences:
            break
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "A sentence that did not end gets <eos> in its last place, over the word that was chosen there.",
)
def greedy_batch_c(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), 1)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for i in range(max_length):
        new = step(tokens).argmax(-1)
        if i == max_length - 1:
            new = torch.full_like(new, 2)
        new = torch.where(done, torch.zeros_like(new), new)
        done = done | (new == 2)
        tokens = torch.cat([tokens, new.unsqueeze(1)], 1)
        if bool(done.all()):
            break
    return tokens[:, 1:]


def _continuations(step, living):
    """All (score, tokens) that continue the living ones."""
    logp = step(torch.tensor([tokens for _, tokens in living]))
    return [
        (score + logp[i, t].item(), tokens + [t])
        for i, (score, tokens) in enumerate(living)
        for t in range(logp.shape[1])
    ]


def _strip(tokens):
    return [t for t in tokens[1:] if t != 2]


@wrong(
    "beam_search",
    "topk(beam_size) over the continuations fails when there are fewer than that: a beam larger than the vocabulary.",
)
def beam_search_c(step, beam_size, max_length):
    tokens, scores, finished = torch.tensor([[1]]), torch.zeros(1), []
    for _ in range(max_length):
        total = scores[:, None] + step(tokens)
        V = total.shape[1]
        values, places = total.flatten().topk(beam_size)
        tokens = torch.cat([tokens[places // V], (places % V)[:, None]], 1)
        ended = tokens[:, -1] == 2
        finished += [(s.item(), t.tolist()) for s, t in zip(values[ended], tokens[ended])]
        tokens, scores = tokens[~ended], values[~ended]
        if len(tokens) == 0:
            break
    finished += [(s.item(), t.tolist()) for s, t in zip(scores, tokens)]
    return _strip(max(finished)[1])


@wrong(
    "beam_search",
    "The finished ones are set aside without the log-probability of their <eos>: an ending that is very unlikely costs nothing.",
)
def beam_search_e(step, beam_size, max_length):
    living, finished = [(0.0, [1])], []
    for _ in range(max_length):
        before = {tuple(tokens): score for score, tokens in living}
        best = sorted(_continuations(step, living), key=lambda h: -h[0])[:beam_size]
        finished += [(before[tuple(h[1][:-1])], h[1]) for h in best if h[1][-1] == 2]
        living = [h for h in best if h[1][-1] != 2]
        if not living:
            break
    return _strip(max(finished + living, key=lambda h: h[0])[1])


@wrong(
    "beam_search",
    "Finished hypotheses do not take up room: the best beam_size of those that go on are kept besides, so that more is searched than asked for (a beam of one finds another than greedy).",
)
def beam_search_f(step, beam_size, max_length):
    living, finished = [(0.0, [1])], []
    for _ in range(max_length):
        best = sorted(_continuations(step, living), key=lambda h: -h[0])
        finished += [h for h in best if h[1][-1] == 2]
        living = [h for h in best if h[1][-1] != 2][:beam_size]
    return _strip(max(finished + living, key=lambda h: h[0])[1])


@wrong(
    "beam_search",
    "As soon as beam_size hypotheses are finished the search ends, although a living one has a better score than all of them.",
)
def beam_search_g(step, beam_size, max_length):
    living, finished = [(0.0, [1])], []
    for _ in range(max_length):
        best = sorted(_continuations(step, living), key=lambda h: -h[0])[:beam_size]
        finished += [h for h in best if h[1][-1] == 2]
        living = [h for h in best if h[1][-1] != 2]
        if len(finished) >= beam_size:
            return _strip(max(finished, key=lambda h: h[0])[1])
        if not living:
            break
    return _strip(max(finished + living, key=lambda h: h[0])[1])


@wrong(
    "embed_next",
    "The last rows are counted from the end of what stands in the cache: `past or 1`, so that the very first token, with an empty cache, gets position 1.",
)
def embed_next_b(tokens, past, weight, table):
    past = past or 1
    return weight[tokens] + table[past : past + tokens.shape[1]]


@wrong(
    "reorder_cache",
    "Each row is written where another may still have to be read from: [1, 0] or [2, 0, 1] reads rows that are overwritten already.",
)
def reorder_cache_a(cache, rows):
    out = []
    for keys, values in cache:
        keys, values = keys.clone(), values.clone()
        for i, row in enumerate(rows):
            keys[i], values[i] = keys[int(row)].clone(), values[int(row)].clone()
        out.append((keys, values))
    return out


@wrong(
    "reorder_cache",
    "The wrong way round, row i goes to place rows[i]: right where two beams change places, wrong for [1, 2, 0] or when a beam is continued twice.",
)
def reorder_cache_b(cache, rows):
    out = []
    for keys, values in cache:
        new_keys, new_values = torch.zeros_like(keys), torch.zeros_like(values)
        for i in range(len(rows)):
            new_keys[int(rows[i])] = keys[i]
            new_values[int(rows[i])] = values[i]
        out.append((new_keys, new_values))
    return out


@wrong(
    "length_normalised",
    "`alpha or 0.6`: an alpha of 0, which switches the normalisation off, becomes 0.6.",
)
def length_normalised_a(score, length, alpha):
    return score / length ** (alpha or 0.6)


@wrong(
    "cut_at_end",
    "The ids are written as text and cut at the first '2', which also stands in 12, 20 and 27.",
)
def cut_at_end_b(ids):
    text = " ".join(str(i) for i in ids).split("2")[0]
    return [int(word) for word in text.split()]
