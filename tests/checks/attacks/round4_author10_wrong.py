"""Round 4, author 10: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right
import copy
import functools
import math
from collections import Counter, defaultdict

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


# ---------------------------------------------------------------- number_of_targets


@wrong(
    "number_of_targets",
    "NumPy's 64-bit product overflows: wrong for 30000 words and a length of five or more.",
)
def number_of_targets_b(vocab_size, length):
    return int(np.prod(np.full(length, vocab_size, dtype=np.int64)))


@wrong("number_of_targets", "Order is ignored: it counts bags of tokens.")
def number_of_targets_d(vocab_size, length):
    return math.comb(vocab_size + length - 1, length)


# ---------------------------------------------------------------- build_vocabulary
@wrong(
    "build_vocabulary",
    "A word is numbered anew every time it comes beyond the minimum, which leaves gaps: wrong where a word comes more often than the minimum.",
)
def build_vocabulary_a(sentences, min_frequency):
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    counts = {}
    for sentence in sentences:
        for word in sentence:
            counts[word] = counts.get(word, 0) + 1
            if counts[word] >= min_frequency:
                vocabulary[word] = len(vocabulary)
    return vocabulary


class _CountingVocabulary:
    def __init__(self):
        self.counts = Counter()

    def __call__(self, sentences, min_frequency):
        for s in sentences:
            self.counts.update(s)
        vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
        for w, c in self.counts.items():
            if c >= min_frequency:
                vocab[w] = len(vocab)
        return vocab


wrong(
    "build_vocabulary",
    "The counts are kept between calls: the second vocabulary holds words of the first corpus.",
)(_CountingVocabulary())


@wrong(
    "build_vocabulary",
    "Rare words use up a number although they are left out, so that there are gaps.",
)
def build_vocabulary_c(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for i, (w, c) in enumerate(counts.items()):
        if c >= min_frequency:
            vocab[w] = i + 4
    return vocab


@wrong(
    "build_vocabulary",
    "Stops at the first rare word, though the words are not sorted by frequency: frequent words that come later are missing.",
)
def build_vocabulary_d(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for w, c in counts.items():
        if c < min_frequency:
            break
        vocab[w] = len(vocab)
    return vocab


@wrong(
    "build_vocabulary",
    "Counts the letters of the joined sentences' words: Counter is updated with a string.",
)
def build_vocabulary_e(sentences, min_frequency):
    counts = Counter()
    for s in sentences:
        for w in s:
            counts.update(w)
    words = [w for w, c in counts.items() if c >= min_frequency]
    return {w: i for i, w in enumerate(["<pad>", "<sos>", "<eos>", "<unk>", *words])}


# ---------------------------------------------------------------- encode
@wrong(
    "encode",
    "`setdefault` writes the unknown words into the vocabulary, an argument, which thus grows.",
)
def encode_a(tokens, vocabulary):
    return [vocabulary.setdefault(t, 3) for t in tokens] + [2]


@wrong("encode", "`<eos>` is appended to the caller's own list of tokens.")
def encode_b(tokens, vocabulary):
    tokens.append("<eos>")
    return [vocabulary.get(t, 3) for t in tokens]


@wrong("encode", "For an empty sentence it gives an empty list, without `<eos>`.")
def encode_d(tokens, vocabulary):
    if not tokens:
        return []
    return [vocabulary.get(t, 3) for t in tokens] + [2]


@wrong("encode", "The unknown id is the last of the dictionary, a word's, rather than 3.")
def encode_e(tokens, vocabulary):
    unk = len(vocabulary) - 1
    return [vocabulary.get(t, unk) for t in tokens] + [2]


@wrong("encode", "Cuts everything after 64 tokens: wrong for long sentences.")
def encode_f(tokens, vocabulary):
    return [vocabulary.get(t, 3) for t in tokens[:64]] + [2]


# ---------------------------------------------------------------- text_to_ids


@wrong("text_to_ids", "Looks unknown words up in lower case, too: they were `<unk>` in training.")
def text_to_ids_c(text, tokenize, vocabulary):
    ids = []
    for t in tokenize(text):
        if t in vocabulary:
            ids.append(vocabulary[t])
        elif t.lower() in vocabulary:
            ids.append(vocabulary[t.lower()])
        else:
            ids.append(3)
    return ids + [2]


class _CachedTextToIds:
    def __init__(self):
        self.memo = {}

    def __call__(self, text, tokenize, vocabulary):
        if text not in self.memo:
            self.memo[text] = [vocabulary.get(t, 3) for t in tokenize(text)] + [2]
        return list(self.memo[text])


wrong(
    "text_to_ids",
    "Remembers the ids by the text alone: wrong when the same text comes with another vocabulary or tokenizer.",
)(_CachedTextToIds())


@wrong(
    "text_to_ids",
    "Tokenizes word by word after a split at blanks: wrong for tokenizers that look at blanks (letters, for example).",
)
def text_to_ids_d(text, tokenize, vocabulary):
    ids = []
    for word in text.split():
        ids.extend(vocabulary.get(t, 3) for t in tokenize(word))
    ids.append(2)
    return ids


# ---------------------------------------------------------------- training_words


@wrong(
    "training_words",
    "The frequencies come from all splits, though the words are of the training set: a word rare in training gets in by way of the test set.",
)
def training_words_b(splits, min_frequency):
    c = Counter(w for sents in splits.values() for s in sents for w in s)
    return {w for s in splits["train"] for w in s if c[w] >= min_frequency}


@wrong(
    "training_words",
    "Words that come in the test set are taken out of the vocabulary, though training has them.",
)
def training_words_d(splits, min_frequency):
    c = Counter(w for s in splits["train"] for w in s)
    test = {w for s in splits["test"] for w in s}
    return {w for w, n in c.items() if n >= min_frequency and w not in test}


# ---------------------------------------------------------------- collate
@wrong(
    "collate",
    "`max(rows)` is the alphabetically last row, not the longest: fails where a longer row begins with a smaller id.",
)
def collate_a(rows):
    S = len(max(rows))
    out = torch.zeros(len(rows), S, dtype=torch.long)
    for i, r in enumerate(rows):
        out[i, : len(r)] = torch.tensor(r[:S])
    return out


@wrong("collate", "Pads the caller's own lists.")
def collate_b(rows):
    S = max(len(r) for r in rows)
    for r in rows:
        while len(r) < S:
            r.append(0)
    return torch.tensor(rows)


@wrong("collate", "16-bit numbers overflow: wrong for ids above 32767.")
def collate_d(rows):
    S = max(map(len, rows))
    out = np.zeros((len(rows), S), dtype=np.int64)
    for i, r in enumerate(rows):
        out[i, : len(r)] = r
    return torch.from_numpy(out.astype(np.int16)).long()


@wrong("collate", "Pads to a fixed length of 32: longer than needed.")
def collate_e(rows):
    S = max(32, max(map(len, rows)))
    return torch.tensor([list(r) + [0] * (S - len(r)) for r in rows])


class _Collator:
    def __init__(self):
        self.longest = 0

    def __call__(self, rows):
        self.longest = max([self.longest] + [len(r) for r in rows])
        return torch.tensor([list(r) + [0] * (self.longest - len(r)) for r in rows])


wrong(
    "collate",
    "The greatest length is kept between calls: a later batch of short rows is longer than needed.",
)(_Collator())


# ---------------------------------------------------------------- shift


@wrong("shift", "`squeeze` loses the batch axis of a single sentence.")
def shift_b(target):
    target = target.squeeze()
    return target[..., :-1], target[..., 1:]


@wrong("shift", "What is to be said is flattened to one axis.")
def shift_e(target):
    return target[:, :-1], target[:, 1:].reshape(-1)


@wrong("shift", "What the decoder reads is what it is to say: it may copy.")
def shift_f(target):
    return target[:, 1:], target[:, 1:]


# ---------------------------------------------------------------- embedding
@wrong("embedding", "`padding_idx` keeps the gradient from row 0, which the formula gives it.")
def embedding_a(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * math.sqrt(weight.shape[1])


@wrong(
    "embedding", "`scale_grad_by_freq` divides the gradient of a token that comes several times."
)
def embedding_b(tokens, weight):
    return F.embedding(tokens, weight, scale_grad_by_freq=True) * math.sqrt(weight.shape[1])


@wrong(
    "embedding",
    "The one-hot matrix has as many columns as the largest id of the batch, so that it does not fit unless the last token of the vocabulary comes.",
)
def embedding_e(tokens, weight):
    return F.one_hot(tokens).to(weight.dtype) @ weight * weight.shape[1] ** 0.5


# ---------------------------------------------------------------- tied_logits


@wrong("tied_logits", "The embedding is cut off from the gradient.")
def tied_logits_b(x, weight):
    return x @ weight.detach().T


@wrong("tied_logits", "The log-softmax is taken already: these are no longer dot products.")
def tied_logits_d(x, weight):
    return (x @ weight.T).log_softmax(-1)


# ---------------------------------------------------------------- sinusoids


@wrong("sinusoids", "The table is a buffer of 256 rows: wrong for longer sequences.")
def sinusoids_d(length, d_model):
    p = torch.arange(256.0)[:, None]
    a = p * torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    table = torch.empty(256, d_model)
    table[:, 0::2], table[:, 1::2] = a.sin(), a.cos()
    return table[:length]


class _SinusoidTable:
    def __init__(self):
        self.tables = {}

    def __call__(self, length, d_model):
        if d_model not in self.tables:
            p = torch.arange(length).float()[:, None]
            a = p / 10000 ** (torch.arange(0, d_model, 2).float() / d_model)
            self.tables[d_model] = torch.stack([a.sin(), a.cos()], -1).flatten(1)
        return self.tables[d_model][:length]


wrong(
    "sinusoids",
    "The table of the first call is kept: a later, longer sequence of the same width gets too few rows.",
)(_SinusoidTable())


# ---------------------------------------------------------------- add_positions


@wrong("add_positions", "The table is detached: learned positions do not learn.")
def add_positions_c(x, table):
    return x + table[: x.shape[1]].detach()


@wrong("add_positions", "Vectors of zeros are taken for padding and get no position.")
def add_positions_d(x, table):
    real = (x != 0).any(-1, keepdim=True)
    return x + table[: x.shape[1]] * real


class _PositionAdder:
    def __init__(self):
        self.past = 0

    def __call__(self, x, table):
        t = x.shape[1]
        if self.past + t > len(table):
            self.past = 0
        rows = table[self.past : self.past + t]
        self.past += t
        return x + rows


wrong(
    "add_positions",
    "The positions count on from call to call: the second batch does not begin at row 0 where the table has room.",
)(_PositionAdder())


# ---------------------------------------------------------------- softmax


@wrong("softmax", "The denominator is detached, so that the gradient is wrong.")
def softmax_d(scores):
    e = (scores - scores.max(-1, keepdim=True).values).exp()
    return e / e.sum(-1, keepdim=True).detach()


@wrong("softmax", "The scores are clamped to ±20: wrong for scores beyond.")
def softmax_e(scores):
    e = scores.clamp(-20, 20).exp()
    return e / e.sum(-1, keepdim=True)


@wrong("softmax", "The maximum is taken off in place: the caller's scores change.")
def softmax_f(scores):
    with torch.no_grad():
        scores -= scores.max(dim=-1, keepdim=True).values
    e = scores.exp()
    return e / e.sum(dim=-1, keepdim=True)


# ---------------------------------------------------------------- scaled_dot_product_attention


@wrong(
    "scaled_dot_product_attention",
    "The mask is applied only if it has the scores' very shape: one that broadcasts is passed over.",
)
def sdpa_c(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / key.shape[-1] ** 0.5
    if mask is not None and mask.shape == s.shape:
        s = s.masked_fill(~mask, float("-inf"))
        return torch.nan_to_num(torch.softmax(s, -1)) @ value
    return torch.softmax(s, -1) @ value


@wrong(
    "scaled_dot_product_attention",
    "An additive −inf and `nan_to_num`: the answers are right, but the gradients of a query that sees nothing are nan.",
)
def sdpa_d(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query, key) * key.shape[-1] ** -0.5
    if mask is not None:
        s = s + torch.zeros(mask.shape, dtype=s.dtype).masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(s.softmax(-1)) @ value


@wrong(
    "scaled_dot_product_attention",
    "Hidden scores are −10, not −inf: hidden keys are seen where the scores are large or low.",
)
def sdpa_f(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is None:
        return s.softmax(-1) @ value
    w = s.masked_fill(~mask, -10.0).softmax(-1)
    return w * mask.any(-1, keepdim=True) @ value


@wrong(
    "scaled_dot_product_attention",
    "Only the mask's first query is used: right for padding masks, wrong for causal ones.",
)
def sdpa_g(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is not None:
        m = mask[..., :1, :]
        return s.masked_fill(~m, float("-inf")).softmax(-1).nan_to_num(0.0) @ value
    return s.softmax(-1) @ value


@wrong(
    "scaled_dot_product_attention", "If one query may attend to nothing, every query gets zeros."
)
def sdpa_h(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is not None:
        if not mask.any(-1).all():
            return torch.zeros_like(s) @ value
        s = s.masked_fill(~mask, float("-inf"))
    return s.softmax(-1) @ value


@wrong("scaled_dot_product_attention", "Divided by the root of the number of keys, the wrong axis.")
def sdpa_j(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-2])
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return s.softmax(-1).nan_to_num() @ value


# ---------------------------------------------------------------- padding_mask
@wrong(
    "padding_mask", "The last token is taken for padding: wrong for a sentence that fills its row."
)
def padding_mask_a(tokens):
    return (tokens != tokens[:, -1:])[:, None, None, :]


@wrong(
    "padding_mask",
    "From the number of real tokens: wrong where padding stands in front or in between.",
)
def padding_mask_b(tokens):
    lengths = (tokens != 0).sum(1)
    return (torch.arange(tokens.shape[1]) < lengths[:, None])[:, None, None, :]


@wrong(
    "padding_mask",
    "A row of nothing but padding is laid open, to keep nan away; by the sheet all of it is False.",
)
def padding_mask_c(tokens):
    m = tokens != 0
    m = m | ~m.any(1, keepdim=True)
    return m[:, None, None, :]


@wrong("padding_mask", "`squeeze` first: loses an axis for one sentence or a length of one.")
def padding_mask_f(tokens):
    m = (tokens != 0).squeeze()
    return m.unsqueeze(-2).unsqueeze(-3) if m.dim() < 2 else m[:, None, None, :]


# ---------------------------------------------------------------- causal_mask
@wrong("causal_mask", "A position sees no further back than 50: wrong for long sequences.")
def causal_mask_a(length):
    i = torch.arange(length)
    d = i[:, None] - i[None, :]
    return (d >= 0) & (d < 50)


_CAUSAL = torch.ones(128, 128).tril().bool()


@wrong("causal_mask", "Cut out of a fixed 128 × 128 buffer: too small for longer sequences.")
def causal_mask_d(length):
    return _CAUSAL[:length, :length]


# ---------------------------------------------------------------- target_mask
@wrong(
    "target_mask",
    "The queries at padding are hidden as well: padding must not be attended to, but its own row may look at what came before.",
)
def target_mask_a(tokens):
    T = tokens.shape[1]
    real = tokens != 0
    c = torch.ones(T, T, dtype=torch.bool).tril()
    return c & real[:, None, :, None] & real[:, None, None, :]


@wrong(
    "target_mask",
    "From the number of real tokens, as if padding stood behind only: wrong with padding in front or in between.",
)
def target_mask_d(tokens):
    B, T = tokens.shape
    out = torch.zeros(B, 1, T, T, dtype=torch.bool)
    for b in range(B):
        n = int((tokens[b] != 0).sum())
        for t in range(T):
            out[b, 0, t, : min(t + 1, n)] = True
    return out


@wrong(
    "target_mask",
    "Everything behind the first padding is hidden: wrong where padding stands in front or in between.",
)
def target_mask_e(tokens):
    B, T = tokens.shape
    real = (tokens != 0).long().cumprod(1).bool()
    return torch.ones(T, T).tril().bool() & real[:, None, None, :]


@wrong(
    "target_mask",
    "Padding is hidden only if an `<eos>` is in the batch: wrong for padded rows without one.",
)
def target_mask_g(tokens):
    T = tokens.shape[1]
    m = torch.ones(T, T).tril().bool()[None, None].expand(len(tokens), 1, T, T)
    if (tokens == 2).any():
        m = m & (tokens != 0)[:, None, None, :]
    return m


# ---------------------------------------------------------------- split_heads / merge_heads


@wrong("split_heads", "Splits at 4 features a head whatever `n_heads` says.")
def split_heads_d(x, n_heads):
    return torch.stack(x.split(4, dim=-1), dim=1)


@wrong(
    "merge_heads",
    "The batch and position axes are exchanged before the reshape: right only for one sentence or one position.",
)
def merge_heads_b(heads):
    B, H, T, K = heads.shape
    return heads.permute(2, 0, 1, 3).reshape(B, T, H * K)


@wrong("merge_heads", "The heads are averaged and repeated rather than put side by side.")
def merge_heads_c(heads):
    return heads.mean(1).repeat(1, 1, heads.shape[1])


@wrong(
    "merge_heads",
    "`squeeze` loses the batch axis of a single sentence, and that of a single position.",
)
def merge_heads_d(heads):
    B, H, T, K = heads.shape
    return heads.transpose(1, 2).reshape(B, T, H * K).squeeze()


# ---------------------------------------------------------------- multi_head_attention
def _heads(x, n):
    B, T, D = x.shape
    return x.reshape(B, T, n, D // n).transpose(1, 2)


@wrong("multi_head_attention", "The mask hides keys from the first head only.")
def mha_c(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        first = s[:, :1].masked_fill(~mask, float("-inf"))
        s = torch.cat([first, s[:, 1:]], dim=1)
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ w_output.T


@wrong(
    "multi_head_attention",
    "The keys are cut to as many as there are queries: wrong where S is larger than T.",
)
def mha_e(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    T = query.shape[1]
    key, value = key[:, :T], value[:, :T]
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    s = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(~mask[..., :T], float("-inf"))
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ w_output.T


class _TrainingMaskMHA(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n = n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            _heads(self.query(query), self.n),
            _heads(self.key(key), self.n),
            _heads(self.value(value), self.n),
        )
        s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        if mask is not None:
            s = s.masked_fill(~mask, -1e9)
        w = F.dropout(s.softmax(-1), 0.1)
        return self.output((w @ v).transpose(1, 2).flatten(2))


wrong("multi_head_attention", "`F.dropout` without `self.training` drops in evaluation mode, too.")(
    _TrainingMaskMHA
)


# ---------------------------------------------------------------- layer_norm


@wrong("layer_norm", "Mean and variance are detached, so that the gradient is wrong.")
def layer_norm_e(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        m = x.mean(-1, keepdim=True)
        s = torch.sqrt(x.var(-1, unbiased=False, keepdim=True) + eps)
    return (x - m) / s * weight + bias


class _LayerNormStd(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return (
            self.weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + 1e-6)
            + self.bias
        )


wrong(
    "layer_norm",
    "The Annotated Transformer's class: the deviation divides by D − 1, and ε stands outside the root.",
)(_LayerNormStd)


# ---------------------------------------------------------------- layer_norm_parameters


@wrong("layer_norm_parameters", "The weight is drawn at random, as that of a linear layer.")
def layer_norm_parameters_b(d_model):
    return torch.randn(d_model) * 0.02, torch.zeros(d_model)


@wrong("layer_norm_parameters", "Both are (1, D).")
def layer_norm_parameters_c(d_model):
    return torch.ones(1, d_model), torch.zeros(1, d_model)


# ---------------------------------------------------------------- pre_norm / post_norm


@wrong("pre_norm", "Adds to the caller's x in place.")
def pre_norm_c(x, sublayer, norm):
    y = sublayer(norm(x))
    with torch.no_grad():
        x += y
    return x


@wrong("post_norm", "The sublayer is called on a detached x: part of the gradient is cut off.")
def post_norm_c(x, sublayer, norm):
    return norm(x + sublayer(x.detach()))


# ---------------------------------------------------------------- dropout
@wrong("dropout", "Scaled by the share that was kept this time, not by 1 − p.")
def dropout_a(x, p, keep, training):
    if not training:
        return x
    return x * keep * (keep.numel() / max(int(keep.sum()), 1))


@wrong("dropout", "Divided by p in place of 1 − p: right for one half only (p = 0 left alone).")
def dropout_b(x, p, keep, training):
    if not training or p == 0:
        return x
    return x * keep / p


@wrong("dropout", "Draws a mask of its own and does not look at `keep`.")
def dropout_e(x, p, keep, training):
    if not training:
        return x
    return x * (torch.rand_like(x) >= p) / (1 - p)


# ---------------------------------------------------------------- sublayer_with_dropout


@wrong("sublayer_with_dropout", "Dropout twice.")
def sublayer_with_dropout_c(x, sublayer, norm, dropout):
    return x + dropout(dropout(sublayer(norm(x))))


# ---------------------------------------------------------------- feed_forward
@wrong("feed_forward", "ReLU6: hidden values above 6 are cut off.")
def feed_forward_a(x, w1, b1, w2, b2):
    return F.relu6(x @ w1.T + b1) @ w2.T + b2


class _LeakyDropFF(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(F.dropout(F.relu(self.linear1(x)), p=0.1))


wrong(
    "feed_forward",
    "`F.dropout` without `training=self.training`: it drops in evaluation mode, too.",
)(_LeakyDropFF)


# ---------------------------------------------------------------- group_sort


@wrong("group_sort", "Writes into x itself.")
def group_sort_d(x):
    with torch.no_grad():
        pairs = x.reshape(*x.shape[:-1], -1, 2).sort(-1).values
        x.copy_(pairs.reshape(x.shape))
    return x


@wrong(
    "group_sort",
    "The maximum is detached, and the smaller one is the sum less the maximum: right numbers, wrong gradient.",
)
def group_sort_e(x):
    a, b = x[..., 0::2], x[..., 1::2]
    hi = torch.maximum(a, b).detach()
    return torch.stack([a + b - hi, hi], -1).flatten(-2)


# ---------------------------------------------------------------- encoder_layer


@wrong(
    "encoder_layer",
    "The mask is left out where the batch is a single sentence: wrong for one sentence with padding.",
)
def encoder_layer_f(x, mask, attention, feed_forward, norm1, norm2):
    if x.shape[0] == 1:
        mask = None
    n = norm1(x)
    x = x + attention(n, n, n, mask)
    return x + feed_forward(norm2(x))


# ---------------------------------------------------------------- decoder_layer


@wrong("decoder_layer", "The norms are taken backwards.")
def decoder_layer_g(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n3, n2, n1 = norms
    n = n1(x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(n2(x), memory, memory, memory_mask)
    return x + feed_forward(n3(x))


@wrong("decoder_layer", "The memory is cut off from the gradient: the encoder would learn nothing.")
def decoder_layer_h(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    memory = memory.detach()
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


# ---------------------------------------------------------------- causal_self_attention


@wrong("causal_self_attention", "Divided by D, not by its root.")
def causal_self_attention_b(x, training):
    T = x.shape[1]
    s = x @ x.transpose(1, 2) / x.shape[-1]
    return s.masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf")).softmax(-1) @ x


@wrong("causal_self_attention", "In evaluation it gives the last position only, as for decoding.")
def causal_self_attention_e(x, training):
    T = x.shape[1]
    s = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
    out = s.masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf")).softmax(-1) @ x
    return out if training else out[:, -1:]


@wrong("causal_self_attention", "The softmax runs over the queries.")
def causal_self_attention_f(x, training):
    T = x.shape[1]
    s = x @ x.transpose(1, 2) / x.shape[-1] ** 0.5
    return s.masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf")).softmax(1) @ x


# ---------------------------------------------------------------- make_stack


@wrong("make_stack", "The last layer is the first again: seen from two layers on.")
def make_stack_d(make_layer, n_layers):
    layers = [make_layer() for _ in range(n_layers)]
    layers[-1] = layers[0]
    return layers


class _StackMaker:
    def __init__(self):
        self.layers = []

    def __call__(self, make_layer, n_layers):
        for _ in range(n_layers):
            self.layers.append(make_layer())
        return self.layers


wrong("make_stack", "The list is kept: the second stack holds the first one's layers, too.")(
    _StackMaker()
)


# ---------------------------------------------------------------- transformer_forward
def _pad(tokens):
    return (tokens != 0)[:, None, None, :]


def _tri(tokens):
    T = tokens.shape[1]
    return torch.ones(T, T, dtype=torch.bool).tril() & _pad(tokens)


@wrong(
    "transformer_forward",
    "The source is cut to the target's length before it is encoded: wrong where it is longer.",
)
def transformer_forward_g(source, target, embed_source, embed_target, encoder, decoder, output):
    source = source[:, : target.shape[1]]
    m = _pad(source)
    memory = encoder(embed_source(source), m)
    return output(decoder(embed_target(target), memory, _tri(target), m))


@wrong(
    "transformer_forward",
    "The memory is masked by the target's padding where source and target are equally long.",
)
def transformer_forward_i(source, target, embed_source, embed_target, encoder, decoder, output):
    m = _pad(source)
    memory = encoder(embed_source(source), m)
    mm = _pad(target) if source.shape == target.shape else m
    return output(decoder(embed_target(target), memory, _tri(target), mm))


# ---------------------------------------------------------------- cross_entropy


@wrong("cross_entropy", "log of softmax plus 1e-9: a very unlikely token costs 20.7 nats at most.")
def cross_entropy_c(logits, target):
    p = logits.softmax(-1).gather(-1, target[..., None])[..., 0]
    return -(p + 1e-9).log()[target != 0].mean()


@wrong("cross_entropy", "The loss is turned into a number and back: no gradient.")
def cross_entropy_g(logits, target):
    return torch.tensor(
        F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0).item()
    )


@wrong(
    "cross_entropy",
    "Real tokens are told by the length of the first sentence: right where all are equally long.",
)
def cross_entropy_h(logits, target):
    n = int((target[0] != 0).sum())
    return F.cross_entropy(logits[:, :n].flatten(0, 1), target[:, :n].flatten(), ignore_index=0)


# ---------------------------------------------------------------- label_smoothed_loss


@wrong("label_smoothed_loss", "Padding gets no share of ε: the sum leaves out column 0.")
def label_smoothed_loss_b(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    nll = -lp.gather(-1, target[..., None])[..., 0]
    loss = (1 - smoothing) * nll + smoothing / lp.shape[-1] * -lp[..., 1:].sum(-1)
    return loss[target != 0].mean()


@wrong("label_smoothed_loss", "The smoothing part is averaged over padding as well.")
def label_smoothed_loss_c(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    nll = -lp.gather(-1, target[..., None])[..., 0]
    return (1 - smoothing) * nll[target != 0].mean() + smoothing * -lp.mean()


@wrong(
    "label_smoothed_loss",
    "ε/(V − 1) over all tokens, the right one included: neither of the two ways of sharing it.",
)
def label_smoothed_loss_f(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    nll = -lp.gather(-1, target[..., None])[..., 0]
    loss = (1 - smoothing) * nll - smoothing / (lp.shape[-1] - 1) * lp.sum(-1)
    return loss[target != 0].mean()


# ---------------------------------------------------------------- perplexity


class _PerplexityMeter:
    def __init__(self):
        self.total, self.n = 0.0, 0

    def __call__(self, losses, counts):
        for l, n in zip(losses, counts):
            self.total += l * n
            self.n += n
        return math.exp(self.total / self.n)


wrong(
    "perplexity",
    "The sums are not reset: the second epoch's perplexity has the first one's losses in it.",
)(_PerplexityMeter())


@wrong(
    "perplexity",
    "The smaller last batch is left out, as with drop_last (unless it is the only one).",
)
def perplexity_d(losses, counts):
    pairs = list(zip(losses, counts))
    if len(pairs) > 1 and counts[-1] < counts[0]:
        pairs = pairs[:-1]
    return math.exp(sum(l * n for l, n in pairs) / sum(n for _, n in pairs))


# ---------------------------------------------------------------- inverse_sqrt_schedule


@wrong(
    "inverse_sqrt_schedule",
    "After the warm-up the root counts from the end of the warm-up, not from the first update.",
)
def schedule_d(update, d_model, warmup):
    if update <= warmup:
        return d_model**-0.5 * update * warmup**-1.5
    return d_model**-0.5 * (update - warmup + 1) ** -0.5


class _ScheduleCounter:
    def __init__(self):
        self.n = 0

    def __call__(self, update, d_model, warmup):
        self.n += 1
        return d_model**-0.5 * min(self.n**-0.5, self.n * warmup**-1.5)


wrong(
    "inverse_sqrt_schedule",
    "Counts its own calls in place of taking `update`: wrong if it is asked out of turn.",
)(_ScheduleCounter())


@wrong("inverse_sqrt_schedule", "D is always 512.")
def schedule_e(update, d_model, warmup):
    return 512**-0.5 * min(update**-0.5, update * warmup**-1.5)


# ---------------------------------------------------------------- clip_gradients


@wrong(
    "clip_gradients",
    "`torch.linalg.norm(g, 2)` of a matrix is its largest singular value, not the root of the sum of squares.",
)
def clip_b(gradients, limit):
    sq = 0.0
    for g in gradients:
        n = torch.linalg.norm(g, 2) if g.dim() <= 2 else g.norm()
        sq += float(n) ** 2
    total = sq**0.5
    c = limit / total if total > limit else 1.0
    return [g * c for g in gradients]


@wrong("clip_gradients", "Multiplies the caller's gradients in place.")
def clip_e(gradients, limit):
    total = torch.cat([g.flatten() for g in gradients]).norm()
    if total > limit:
        for g in gradients:
            g.mul_(limit / total)
    return gradients


@wrong(
    "clip_gradients",
    "The root is forgotten when comparing: a length between the limit and its root counts as too long (or, below one, as short enough).",
)
def clip_g(gradients, limit):
    sq = sum((g * g).sum() for g in gradients)
    if sq > limit:
        return [g * (limit / sq.sqrt()) for g in gradients]
    return [g.clone() for g in gradients]


# ---------------------------------------------------------------- training_update


class _Trainer:
    def __init__(self):
        self.parameters = None

    def __call__(self, model, optimizer, compute_loss):
        if self.parameters is None:
            self.parameters = model.parameters()
        optimizer.zero_grad()
        compute_loss().backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        optimizer.step()


wrong(
    "training_update",
    "`model.parameters()` is a generator, used up after the first update: the later ones are not clipped.",
)(_Trainer())


@wrong("training_update", "The largest gradient is the length (`norm_type=inf`).")
def training_update_e(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=float("inf"))
    optimizer.step()


# ---------------------------------------------------------------- accumulated_update


@wrong("accumulated_update", "The schedule moves on with every part.")
def accumulated_update_c(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for i, part in enumerate(parts):
        (compute_loss(part) / len(parts)).backward()
        if i == len(parts) - 1:
            optimizer.step()
        scheduler.step()


@wrong(
    "accumulated_update",
    "Steps after every second part and forgets the rest: an odd last part is lost, and more than two make more than one step.",
)
def accumulated_update_f(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for i, part in enumerate(parts):
        (compute_loss(part) / 2).backward()
        if (i + 1) % 2 == 0:
            optimizer.step()
            optimizer.zero_grad()
    scheduler.step()


# ---------------------------------------------------------------- best_checkpoint


@wrong("best_checkpoint", "Compared with the checkpoint before, not the best so far.")
def best_checkpoint_c(checkpoints, batches, loss_of):
    n = sum(len(b) for b in batches)
    previous, place = float("inf"), 0
    for i, c in enumerate(checkpoints):
        loss = sum(float(loss_of(c, b)) * len(b) for b in batches) / n
        if loss < previous:
            place = i
        previous = loss
    return place


@wrong(
    "best_checkpoint",
    "Losses are rounded to one place, as in the printed table: close ones tie, and the first is taken.",
)
def best_checkpoint_e(checkpoints, batches, loss_of):
    n = sum(len(b) for b in batches)
    losses = [
        round(sum(float(loss_of(c, b)) * len(b) for b in batches) / n, 1) for c in checkpoints
    ]
    return losses.index(min(losses))


@wrong(
    "best_checkpoint",
    "Weighted by the different tokens of a batch: wrong where a token comes twice.",
)
def best_checkpoint_f(checkpoints, batches, loss_of):
    losses = [sum(float(loss_of(c, b)) * len(set(b)) for b in batches) for c in checkpoints]
    return losses.index(min(losses))


# ---------------------------------------------------------------- average_checkpoints


@wrong(
    "average_checkpoints",
    "A copy of the dictionary shares its tensors: the first checkpoint is changed by `+=`.",
)
def average_checkpoints_b(checkpoints):
    avg = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k in avg:
            avg[k] += c[k]
    for k in avg:
        avg[k] = avg[k] / len(checkpoints)
    return avg


@wrong("average_checkpoints", "Divided by the number of weights, not of checkpoints.")
def average_checkpoints_c(checkpoints):
    return {k: sum(c[k] for c in checkpoints) / len(checkpoints[0]) for k in checkpoints[0]}


# ---------------------------------------------------------------- next_token
@wrong("next_token", "`squeeze` loses the only axis of a single sentence.")
def next_token_a(logits):
    return logits[:, -1].topk(1).indices.squeeze()


@wrong(
    "next_token", "`argmax()` without an axis: one place in the flattened tensor for all sentences."
)
def next_token_c(logits):
    return logits[:, -1].argmax().repeat(logits.shape[0])


@wrong("next_token", "The likeliest token over all positions.")
def next_token_d(logits):
    return logits.max(dim=1).values.argmax(-1)


# ---------------------------------------------------------------- temperature_probabilities


@wrong(
    "temperature_probabilities",
    "Probabilities to the power 1/T: they underflow to 0/0 at low temperatures in a flat distribution.",
)
def temperature_b(logits, temperature):
    p = logits.softmax(-1) ** (1 / temperature)
    return p / p.sum(-1, keepdim=True)


@wrong("temperature_probabilities", "The temperature is kept at 0.1 or above.")
def temperature_d(logits, temperature):
    return (logits / max(temperature, 0.1)).softmax(-1)


@wrong("temperature_probabilities", "The softmax runs over the sentences.")
def temperature_e(logits, temperature):
    return (logits / temperature).softmax(0)


# ---------------------------------------------------------------- top_k_probabilities


@wrong("top_k_probabilities", "The threshold of the first sentence is used for all.")
def top_k_c(logits, k):
    kth = logits[0].topk(k).values[-1]
    out = logits.masked_fill(logits < kth, -1e30)
    return out.softmax(-1)


@wrong("top_k_probabilities", "Above the (k + 1)-th logit: raises an error where k = V.")
def top_k_d(logits, k):
    s = torch.sort(logits, dim=-1, descending=True).values
    return logits.masked_fill(logits <= s[:, k : k + 1].expand(-1, 1), float("-inf")).softmax(-1)


@wrong("top_k_probabilities", "Writes −inf into the caller's logits.")
def top_k_e(logits, k):
    kth = logits.topk(k, dim=-1).values[:, -1].unsqueeze(1)
    logits[logits < kth] = float("-inf")
    return logits.softmax(-1)


# ---------------------------------------------------------------- greedy_search


@wrong("greedy_search", "Stops at a word that comes twice running.")
def greedy_search_d(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        n = step(torch.tensor([tokens]))[0].argmax().item()
        if n == 2 or n == tokens[-1]:
            break
        tokens.append(n)
    return tokens[1:]


class _Greedy:
    def __init__(self):
        self.tokens = [1]

    def __call__(self, step, max_length):
        for _ in range(max_length):
            n = step(torch.tensor([self.tokens]))[0].argmax().item()
            if n == 2:
                break
            self.tokens.append(n)
        return self.tokens[1:]


wrong("greedy_search", "The tokens are kept: the second search begins where the first ended.")(
    _Greedy()
)


@wrong("greedy_search", "Never more than 20 tokens, whatever max_length says.")
def greedy_search_e(step, max_length):
    tokens = [1]
    for _ in range(min(max_length, 20)):
        n = step(torch.tensor([tokens]))[0].argmax().item()
        if n == 2:
            break
        tokens.append(n)
    return tokens[1:]


# ---------------------------------------------------------------- greedy_batch


@wrong(
    "greedy_batch",
    "max_length is taken without `<eos>`: a sentence that does not end is one token too long.",
)
def greedy_batch_e(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length + 1):
        n = step(tokens).argmax(-1).masked_fill(done, 0)
        tokens = torch.cat([tokens, n[:, None]], 1)
        done = done | (n == 2)
        if done.all():
            break
    return tokens[:, 1:]


@wrong("greedy_batch", "An `<eos>` is forced at the last place where a sentence did not end.")
def greedy_batch_f(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for i in range(max_length):
        n = step(tokens).argmax(-1)
        if i == max_length - 1:
            n = torch.full_like(n, 2)
        n = n.masked_fill(done, 0)
        tokens = torch.cat([tokens, n[:, None]], 1)
        done = done | (n == 2)
        if done.all():
            break
    return tokens[:, 1:]


# ---------------------------------------------------------------- beam_search
def _candidates(step, live):
    lp = step(torch.tensor([h for h, _ in live]))
    return [
        (h + [v], s + float(lp[i, v])) for i, (h, s) in enumerate(live) for v in range(lp.shape[1])
    ]


def _clean(h):
    return [t for t in h[1:] if t != 2]


@wrong("beam_search", "The log-probability of `<eos>` is not added.")
def beam_search_e(step, beam_size, max_length):
    live, done = [([1], 0.0)], []
    for _ in range(max_length):
        lp = step(torch.tensor([h for h, _ in live]))
        cand = [
            (h + [v], s + float(lp[i, v]), s)
            for i, (h, s) in enumerate(live)
            for v in range(lp.shape[1])
        ]
        best = sorted(cand, key=lambda c: -c[1])[:beam_size]
        done += [(h, before) for h, _, before in best if h[-1] == 2]
        live = [(h, s) for h, s, _ in best if h[-1] != 2]
        if not live:
            break
    return _clean(max(done + live, key=lambda c: c[1])[0])


@wrong(
    "beam_search",
    "Stops when as many hypotheses as the beam is wide have ended, while living ones are likelier.",
)
def beam_search_i(step, beam_size, max_length):
    live, done = [([1], 0.0)], []
    for _ in range(max_length):
        best = sorted(_candidates(step, live), key=lambda c: -c[1])[:beam_size]
        done += [c for c in best if c[0][-1] == 2]
        live = [c for c in best if c[0][-1] != 2]
        if not live:
            break
        if len(done) >= beam_size:
            live = []
            break
    return _clean(max(done + live, key=lambda c: c[1])[0])


# ---------------------------------------------------------------- embed_next


@wrong("embed_next", "Scaled by the root of D.")
def embed_next_c(tokens, past, weight, table):
    return weight[tokens] * weight.shape[1] ** 0.5 + table[past : past + tokens.shape[1]]


@wrong("embed_next", "One position too far where there is a cache.")
def embed_next_d(tokens, past, weight, table):
    start = past + 1 if past else 0
    rows = (torch.arange(tokens.shape[1]) + start).clamp(max=len(table) - 1)
    return weight[tokens] + table[rows]


@wrong("embed_next", "Only the last of the new tokens comes back.")
def embed_next_e(tokens, past, weight, table):
    return (weight[tokens] + table[past : past + tokens.shape[1]])[:, -1:]


# ---------------------------------------------------------------- reorder_cache
@wrong(
    "reorder_cache",
    "Written the other way: row i goes to place rows[i] (wrong unless the exchange is its own inverse).",
)
def reorder_cache_a(cache, rows):
    out = []
    for k, v in cache:
        nk, nv = torch.zeros_like(k), torch.zeros_like(v)
        for i, r in enumerate(rows):
            nk[int(r)], nv[int(r)] = k[i], v[i]
        out.append((nk, nv))
    return out


@wrong(
    "reorder_cache",
    "Row after row is overwritten in a copy that is read from as well: a row already overwritten is copied on.",
)
def reorder_cache_c(cache, rows):
    out = []
    for k, v in cache:
        k, v = k.clone(), v.clone()
        for i, r in enumerate(rows):
            k[i], v[i] = k[int(r)].clone(), v[int(r)].clone()
        out.append((k, v))
    return out


# ---------------------------------------------------------------- length_normalised
@wrong("length_normalised", "`alpha or 1`: α = 0 counts as 1.")
def length_normalised_a(score, length, alpha):
    return score / length ** (alpha or 1.0)


@wrong("length_normalised", "`<eos>` is not counted: the length less one.")
def length_normalised_d(score, length, alpha):
    return score / max(length - 1, 1) ** alpha


@wrong(
    "length_normalised", "The score is divided first, then taken to the power: (−score/length)^α."
)
def length_normalised_e(score, length, alpha):
    return -((-score / length) ** alpha)


# ---------------------------------------------------------------- cut_at_end


@wrong("cut_at_end", "Cuts the caller's list itself.")
def cut_at_end_e(ids):
    if 2 in ids:
        del ids[ids.index(2) :]
    return ids
