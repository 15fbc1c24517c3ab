"""Round 4, author 11: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right
import copy
import math
from collections import Counter
from itertools import groupby

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


# ---------------------------------------------------------------- chapter 1-3
@wrong(
    "number_of_targets",
    "NumPy's 64-bit integers overflow: wrong as soon as V^T is above 2^63, e.g. V = 37000, T = 5.",
)
def number_of_targets_a(vocab_size, length):
    return int(np.prod(np.full(length, vocab_size, dtype=np.int64)))


class NumberOfTargets:
    def __init__(self):
        self.known = {}

    def __call__(self, vocab_size, length):
        key = vocab_size * length
        if key not in self.known:
            self.known[key] = vocab_size**length
        return self.known[key]


wrong(
    "number_of_targets",
    "Remembers answers under the product V·T: (2, 6) after (3, 4) gets the answer of (3, 4).",
)(NumberOfTargets())


@wrong(
    "build_vocabulary",
    "Stops at the first rare word though the words are not sorted by frequency: words first seen later are lost.",
)
def build_vocabulary_b(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for word in counts:
        if counts[word] < min_frequency:
            break
        vocabulary[word] = len(vocabulary)
    return vocabulary


@wrong(
    "build_vocabulary",
    "The ids count the rare words, too, so that there are gaps once a rare word stands before a frequent one.",
)
def build_vocabulary_c(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for i, (word, n) in enumerate(counts.items(), start=4):
        if n >= min_frequency:
            vocabulary[word] = i
    return vocabulary


class BuildVocabulary:
    def __init__(self):
        self.counts = Counter()

    def __call__(self, sentences, min_frequency):
        for s in sentences:
            self.counts.update(s)
        words = [w for w, n in self.counts.items() if n >= min_frequency]
        return {w: i for i, w in enumerate(["<pad>", "<sos>", "<eos>", "<unk>"] + words)}


wrong(
    "build_vocabulary",
    "The counts are kept from call to call: the second vocabulary holds the words of the first, too.",
)(BuildVocabulary())


@wrong(
    "build_vocabulary",
    "groupby without sorting counts only the last run of a word: wrong unless all its occurrences stand side by side.",
)
def build_vocabulary_d(sentences, min_frequency):
    words = [w for s in sentences for w in s]
    counts = {w: len(list(g)) for w, g in groupby(words)}
    kept = [w for w in counts if counts[w] >= min_frequency]
    return {w: i for i, w in enumerate(["<pad>", "<sos>", "<eos>", "<unk>"] + kept)}


@wrong("build_vocabulary", "Words are made lower case: wrong on a word with a capital letter.")
def build_vocabulary_e(sentences, min_frequency):
    counts = Counter(w.lower() for s in sentences for w in s)
    kept = [w for w, n in counts.items() if n >= min_frequency]
    return {w: i for i, w in enumerate(["<pad>", "<sos>", "<eos>", "<unk>"] + kept)}


@wrong("encode", "An empty sentence gets no `<eos>`.")
def encode_b(tokens, vocabulary):
    ids = []
    for i, t in enumerate(tokens):
        ids.append(vocabulary.get(t, 3))
        if i == len(tokens) - 1:
            ids.append(2)
    return ids


@wrong(
    "encode",
    "setdefault writes each unknown token into the dictionary: the argument is changed when a token is unknown.",
)
def encode_c(tokens, vocabulary):
    return [vocabulary.setdefault(t, 3) for t in tokens] + [2]


@wrong(
    "encode",
    "Falls back to the lower-case word: a capitalised unknown token whose small form is known is not `<unk>`.",
)
def encode_d(tokens, vocabulary):
    ids = []
    for t in tokens:
        if t not in vocabulary:
            t = t.lower()
        ids.append(vocabulary.get(t, 3))
    return ids + [2]


@wrong("encode", "Two unknown tokens side by side are merged into one `<unk>`.")
def encode_e(tokens, vocabulary):
    ids = []
    for t in tokens:
        i = vocabulary.get(t, 3)
        if i == 3 and ids and ids[-1] == 3:
            continue
        ids.append(i)
    return ids + [2]


@wrong(
    "text_to_ids",
    "Strips the text first: a tokenizer by characters gives ids for the blanks at the ends, too.",
)
def text_to_ids_a(text, tokenize, vocabulary):
    return [vocabulary.get(t, 3) for t in tokenize(text.strip())] + [2]


@wrong(
    "text_to_ids",
    "Tokenizes line by line: wrong on a text with a line break where the tokenizer keeps it or joins over it.",
)
def text_to_ids_b(text, tokenize, vocabulary):
    tokens = []
    for line in text.splitlines():
        tokens.extend(tokenize(line))
    return [vocabulary.get(t, 3) for t in tokens] + [2]


@wrong(
    "text_to_ids",
    "A text that is one known word as a whole is looked up without the tokenizer: wrong where the tokenizer splits it, e.g. into characters.",
)
def text_to_ids_d(text, tokenize, vocabulary):
    tokens = [text] if text in vocabulary else tokenize(text)
    return [vocabulary.get(t, 3) for t in tokens] + [2]


@wrong(
    "training_words",
    "Takes the first split of the dictionary for the training data: wrong when `train` is not the first key.",
)
def training_words_a(splits, min_frequency):
    counts = Counter(w for s in next(iter(splits.values())) for w in s)
    return {w for w, n in counts.items() if n >= min_frequency}


@wrong(
    "training_words",
    "The validation sentences add to the counts: wrong when a word becomes frequent only by them.",
)
def training_words_b(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    for s in splits["validation"]:
        for w in s:
            if w in counts:
                counts[w] += 1
    return [w for w in counts if counts[w] >= min_frequency]


@wrong(
    "training_words",
    "Throws out words that come in the test set, too: a word of `train` may be there as well.",
)
def training_words_c(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    test = {w for s in splits["test"] for w in s}
    return {w for w, n in counts.items() if n >= min_frequency and w not in test}


@wrong(
    "collate",
    "max(rows) is the alphabetically greatest row, not the longest: ids of longer rows are cut off, e.g. [[9, 2], [4, 5, 2]].",
)
def collate_a(rows):
    width = len(max(rows))
    return torch.tensor([(row + [0] * width)[:width] for row in rows])


@wrong("collate", "The width is capped at 64: longer rows lose their ends.")
def collate_b(rows):
    width = min(max(len(r) for r in rows), 64)
    batch = torch.zeros(len(rows), width, dtype=torch.long)
    for i, r in enumerate(rows):
        batch[i, : len(r)] = torch.tensor(r[:width])
    return batch


@wrong("collate", "Sixteen bits are too few: ids above 32767 come out negative.")
def collate_d(rows):
    width = max(map(len, rows))
    batch = torch.zeros(len(rows), width, dtype=torch.int16)
    for i, r in enumerate(rows):
        batch[i, : len(r)] = torch.tensor(r).to(torch.int16)
    return batch


class Collate:
    def __init__(self):
        self.width = 0

    def __call__(self, rows):
        self.width = max(self.width, max(len(r) for r in rows))
        return torch.tensor([r + [0] * (self.width - len(r)) for r in rows])


wrong(
    "collate",
    "Remembers the greatest width so far: a later batch of short rows is longer than needed.",
)(Collate())


@wrong("collate", "`row += [...]` lengthens the caller's own lists wherever padding is needed.")
def collate_e(rows):
    width = max(map(len, rows))
    for row in rows:
        row += [0] * (width - len(row))
    return torch.tensor(rows)


@wrong("shift", "squeeze() drops axes of length one: wrong for one sentence or T = 2.")
def shift_a(target):
    return target[:, :-1].squeeze(), target[:, 1:].squeeze()


@wrong(
    "shift",
    "Columns of nothing but padding are cut off first: not T − 1 columns when the whole last column is padding.",
)
def shift_b(target):
    width = int((target != 0).sum(1).max())
    target = target[:, :width]
    return target[:, :-1], target[:, 1:]


@wrong(
    "shift",
    "What is to be said is rolled without cutting: it has T columns, the last being `<sos>` again.",
)
def shift_c(target):
    return target[:, :-1], torch.roll(target, -1, dims=1)


# ---------------------------------------------------------------- chapter 4-5


@wrong(
    "embedding",
    "padding_idx=0 cuts the gradient of the padding's row, which the sheet's formula has; the values are right.",
)
def embedding_b(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * math.sqrt(weight.shape[1])


@wrong("embedding", "Padding is set to zeros: token 0 should get row 0 of the weight.")
def embedding_c(tokens, weight):
    out = weight[tokens] * weight.shape[-1] ** 0.5
    return out * (tokens != 0).unsqueeze(-1)


@wrong(
    "tied_logits", "The scores of padding are set to minus infinity: they, too, are dot products."
)
def tied_logits_a(x, weight):
    logits = x @ weight.T
    blocked = torch.zeros(weight.shape[0], dtype=torch.bool)
    blocked[0] = True
    return logits.masked_fill(blocked, float("-inf"))


@wrong("tied_logits", "The weight is detached: no gradient flows to the embedding from this end.")
def tied_logits_c(x, weight):
    return torch.einsum("btd,vd->btv", x, weight.detach())


@wrong("tied_logits", "squeeze(1) drops the axis of positions when T = 1.")
def tied_logits_d(x, weight):
    return F.linear(x, weight).squeeze(1)


@wrong(
    "sinusoids", "The table is cut from one for 512 positions: too few rows for greater lengths."
)
def sinusoids_a(length, d_model):
    p = torch.arange(512).float().unsqueeze(1)
    i = torch.arange(0, d_model, 2).float()
    angle = p / 10000 ** (i / d_model)
    table = torch.zeros(512, d_model)
    table[:, 0::2] = angle.sin()
    table[:, 1::2] = angle.cos()
    return table[:length]


class Sinusoids:
    def __init__(self):
        self.tables = {}

    def __call__(self, length, d_model):
        if d_model not in self.tables:
            angle = torch.arange(length)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
            self.tables[d_model] = torch.stack((angle.sin(), angle.cos()), -1).reshape(
                length, d_model
            )
        return self.tables[d_model][:length]


wrong(
    "sinusoids",
    "The table of the first call is kept: a later, greater length with the same D gets too few rows.",
)(Sinusoids())


@wrong(
    "sinusoids",
    "The positions are in half precision: from position 2049 on neighbours are the same.",
)
def sinusoids_d(length, d_model):
    p = torch.arange(length).half().float()[:, None]
    angle = p / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(1)


@wrong("add_positions", "The table is detached: learned positions get no gradient.")
def add_positions_b(x, table):
    return x + table[: x.shape[1]].detach()


@wrong("add_positions", "With B = T the row is picked by the sentence, not by the position.")
def add_positions_c(x, table):
    rows = table[: x.shape[1]]
    if x.shape[0] == x.shape[1]:
        return x + rows.unsqueeze(1)
    return x + rows.unsqueeze(0)


class AddPositions:
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
    "Goes on counting from the last call: the second batch does not begin at position 0 if the table has room.",
)(AddPositions())


@wrong("add_positions", "Vectors of zeros are taken for padding and get no position.")
def add_positions_d(x, table):
    real = (x != 0).any(-1, keepdim=True)
    return x + table[: x.shape[1]] * real


# ---------------------------------------------------------------- chapter 7


@wrong("softmax", "The scores are clamped to ±50: wrong where a score is greater than that.")
def softmax_b(scores):
    e = scores.clamp(-50, 50).exp()
    return e / e.sum(-1, keepdim=True)


@wrong("softmax", "The sum is detached: the values are right, the gradient is not.")
def softmax_c(scores):
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True).detach()


@wrong(
    "softmax",
    "0.001 beside the sum, against division by zero: too little wherever the row's maximum is very negative, since nothing is subtracted.",
)
def softmax_e(scores):
    e = scores.exp()
    return e / (e.sum(-1, keepdim=True) + 1e-3)


@wrong(
    "softmax",
    "Subtracts the minimum instead of the maximum: overflows when scores of one row lie more than 88 apart.",
)
def softmax_f(scores):
    e = torch.exp(scores - scores.min(dim=-1, keepdim=True).values)
    return e / e.sum(-1, keepdim=True)


def _att(q, k, v, mask=None, scale=None):
    s = q @ k.transpose(-2, -1) / (scale or math.sqrt(k.shape[-1]))
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return torch.softmax(s, -1).nan_to_num(0.0) @ v


@wrong(
    "scaled_dot_product_attention",
    "A whole sentence is zeroed when one of its queries may attend to nothing.",
)
def sdpa_c(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is None:
        return torch.softmax(s, -1) @ value
    mask = mask.expand_as(s)
    w = torch.softmax(s.masked_fill(~mask, -1e30), -1) * mask
    seen = mask.any(-1).all(-1)
    return (w @ value) * seen[..., None, None]


@wrong(
    "scaled_dot_product_attention",
    "Hidden scores are set to −20, not to minus infinity: wrong where visible scores are as low or hidden ones many.",
)
def sdpa_d(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is None:
        return torch.softmax(s, -1) @ value
    w = torch.softmax(s.masked_fill(~mask, -20.0), -1)
    return w.masked_fill(~mask.any(-1, keepdim=True), 0.0) @ value


@wrong(
    "scaled_dot_product_attention",
    "A mask is taken for causal when T = S: whatever it says, the keys behind the query are hidden as well.",
)
def sdpa_e(query, key, value, mask=None):
    t, s = query.shape[-2], key.shape[-2]
    if mask is not None and t == s:
        mask = mask & torch.ones(t, s).tril().bool()
    return _att(query, key, value, mask)


@wrong(
    "scaled_dot_product_attention",
    "The scale is the root of the number of keys: right only for S = K.",
)
def sdpa_f(query, key, value, mask=None):
    return _att(query, key, value, mask, scale=math.sqrt(key.shape[-2]))


# ---------------------------------------------------------------- chapter 8
@wrong(
    "padding_mask",
    "Takes the padding to stand at the end, by counting: wrong where a 0 stands in front of a real token.",
)
def padding_mask_a(tokens):
    lengths = (tokens != 0).sum(1)
    return (torch.arange(tokens.shape[1]) < lengths[:, None])[:, None, None, :]


@wrong(
    "padding_mask",
    "A sentence of nothing but padding may attend everywhere, against nan: all of it must be False.",
)
def padding_mask_b(tokens):
    mask = tokens != 0
    mask = mask | ~mask.any(1, keepdim=True)
    return mask[:, None, None, :]


@wrong(
    "padding_mask",
    "Everything behind the first `<eos>` is hidden, and padding that stands before it is not: wrong on a 0 before `<eos>` or on padding without any `<eos>`.",
)
def padding_mask_d(tokens):
    ended = (tokens == 2).cumsum(1) - (tokens == 2).long()
    return (ended == 0)[:, None, None, :]


@wrong(
    "padding_mask",
    "If no token is padding the mask has one column only, to be broadcast: the shape is not (B, 1, 1, S).",
)
def padding_mask_e(tokens):
    if bool((tokens != 0).all()):
        return torch.ones(tokens.shape[0], 1, 1, 1, dtype=torch.bool)
    return (tokens != 0)[:, None, None, :]


@wrong("causal_mask", "Cut from a buffer for 256 positions: too small for greater lengths.")
def causal_mask_a(length):
    return torch.tril(torch.ones(256, 256, dtype=torch.bool))[:length, :length]


@wrong(
    "causal_mask",
    "A window of 32: a token does not see what lies further back, which shows for lengths above 32.",
)
def causal_mask_c(length):
    i = torch.arange(length)
    d = i[:, None] - i[None, :]
    return (d >= 0) & (d < 32)


@wrong("causal_mask", "Positions are held in uint8: from length 257 on they begin at 0 again.")
def causal_mask_d(length):
    i = torch.arange(length).to(torch.uint8)
    return i[None, :] <= i[:, None]


@wrong(
    "causal_mask", "For one token the diagonal is lost: a squeezed mask of no axes for length 1."
)
def causal_mask_e(length):
    return torch.ones(length, length, dtype=torch.bool).tril().squeeze()


@wrong(
    "target_mask",
    "Padded positions may not ask, either: as queries their rows are hidden though real tokens stand before them.",
)
def target_mask_a(tokens):
    real = tokens != 0
    t = tokens.shape[1]
    causal = torch.tril(torch.ones(t, t, dtype=torch.bool))
    return (real[:, None, :, None] & real[:, None, None, :]) & causal


@wrong(
    "target_mask",
    "The padding is found by counting from the left: wrong where padding stands in front or within.",
)
def target_mask_b(tokens):
    t = tokens.shape[1]
    i = torch.arange(t)
    lengths = tokens.ne(0).sum(1)
    mask = (i[None, :] <= i[:, None])[None] & (i[None, None, :] < lengths[:, None, None])
    return mask[:, None]


@wrong(
    "target_mask",
    "Everything behind the first padding is hidden, too: wrong where real tokens follow a 0.",
)
def target_mask_e(tokens):
    real = tokens.ne(0).long().cumprod(1).bool()
    t = tokens.shape[1]
    return real[:, None, None, :] & torch.ones(t, t, dtype=torch.bool).tril()


@wrong(
    "target_mask",
    "Without any padding the batch axis is left at one: not (B, 1, T, T) for an unpadded batch of several sentences.",
)
def target_mask_f(tokens):
    t = tokens.shape[1]
    causal = torch.ones(1, 1, t, t, dtype=torch.bool).tril()
    if not (tokens == 0).any():
        return causal
    return causal & (tokens != 0)[:, None, None, :]


# ---------------------------------------------------------------- chapter 9


@wrong("split_heads", "Leaves the axis of the batch out for one sentence.")
def split_heads_c(x, n_heads):
    parts = torch.stack(x.chunk(n_heads, dim=-1), dim=1)
    return parts[0] if len(parts) == 1 else parts


@wrong("split_heads", "The heads come out in reverse order: wrong unless H = 1.")
def split_heads_d(x, n_heads):
    k = x.shape[-1] // n_heads
    return torch.stack([x[..., i * k : (i + 1) * k] for i in reversed(range(n_heads))], 1)


@wrong("merge_heads", "Transposes only if T and H differ: a square case (T = H) is mixed up.")
def merge_heads_b(heads):
    b, h, t, k = heads.shape
    if h != t:
        heads = heads.transpose(1, 2)
    return heads.reshape(b, t, h * k)


@wrong(
    "merge_heads", "The merged tensor is made by torch.tensor of numbers, which cuts the gradient."
)
def merge_heads_c(heads):
    b, h, t, k = heads.shape
    out = torch.zeros(b, t, h * k, dtype=heads.dtype)
    for i in range(h):
        out[:, :, i * k : (i + 1) * k] = heads[:, i].data
    return out


@wrong("merge_heads", "Averages the heads and repeats: right only for H = 1.")
def merge_heads_d(heads):
    return heads.mean(1).repeat(1, 1, heads.shape[1])


def _split(x, h):
    return x.unflatten(-1, (h, -1)).transpose(1, 2)


def _mha(query, key, value, wq, wk, wv, wo, h, mask, scale=None):
    q, k, v = _split(query @ wq.T, h), _split(key @ wk.T, h), _split(value @ wv.T, h)
    return _att(q, k, v, mask, scale).transpose(1, 2).flatten(2) @ wo.T


@wrong(
    "multi_head_attention",
    "Keys and values are split with the query's length: reads only the first T keys where S > T.",
)
def mha_b(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    t = query.shape[1]
    if key.shape[1] > t:
        key, value = key[:, :t], value[:, :t]
        if mask is not None:
            mask = mask[..., :t]
            mask = mask | ~mask.any(-1, keepdim=True)
    return _mha(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask)


@wrong("multi_head_attention", "Only the first head is masked, the others see everything.")
def mha_f(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    if mask is not None:
        b, t, s = query.shape[0], query.shape[1], key.shape[1]
        mask = mask.expand(b, 1, t, s).expand(b, n_heads, t, s).clone()
        mask[:, 1:] = True
    return _mha(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask)


class MHA(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        if mask is not None and bool(mask.all()):
            mask = None
        if mask is None and query.shape == key.shape:
            t = query.shape[1]
            mask = torch.ones(t, t).tril().bool()
        return _mha(
            query,
            key,
            value,
            self.query.weight,
            self.key.weight,
            self.value.weight,
            self.output.weight,
            self.n_heads,
            mask,
        )


wrong(
    "multi_head_attention",
    "Without a mask (or with one that hides nothing) it is made causal wherever T = S.",
)(MHA)


class MHAReuse(MHA):
    def __init__(self, d_model, n_heads):
        super().__init__(d_model, n_heads)
        self.mask = None

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            self.mask = mask
        elif self.mask is not None:
            try:
                torch.broadcast_shapes(
                    self.mask.shape, (query.shape[0], 1, query.shape[1], key.shape[1])
                )
                mask = self.mask
            except RuntimeError:
                pass
        return _mha(
            query,
            key,
            value,
            self.query.weight,
            self.key.weight,
            self.value.weight,
            self.output.weight,
            self.n_heads,
            mask,
        )


wrong(
    "multi_head_attention",
    "The mask of an earlier call of the same module is used again where none is given.",
)(MHAReuse)


# ---------------------------------------------------------------- chapter 10


@wrong(
    "layer_norm", "Mean and variance are detached: the values are right, the gradient of x is not."
)
def layer_norm_e(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        m = x.mean(-1, keepdim=True)
        r = torch.rsqrt(x.var(-1, keepdim=True, unbiased=False) + eps)
    return (x - m) * r * weight + bias


class LayerNormOne(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        m = x.mean((1, 2), keepdim=True) if x.shape[1] > 8 else x.mean(-1, keepdim=True)
        v = ((x - m) ** 2).mean(-1, keepdim=True)
        return (x - m) / (v + 1e-5).sqrt() * self.weight + self.bias


wrong("layer_norm", "Longer inputs, T > 8, are centred by one mean over all positions.")(
    LayerNormOne
)


class LayerNormRunning(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return F.layer_norm(x, x.shape[-1:], 1 + self.weight, self.bias, 1e-5)


wrong(
    "layer_norm", "Scales by 1 + γ in place of γ, as other models do whose weights begin at zero."
)(LayerNormRunning)


@wrong("layer_norm_parameters", "squeeze() takes the only axis away for D = 1.")
def layer_norm_parameters_b(d_model):
    return torch.ones(1, d_model).squeeze(), torch.zeros(1, d_model).squeeze()


@wrong("pre_norm", "`x += …` on a detached alias writes into the caller's x.")
def pre_norm_b(x, sublayer, norm):
    y = sublayer(norm(x))
    out = x.data
    out += y.data
    return x + (y - y.data)


@wrong(
    "pre_norm",
    "The norm runs under no_grad: no gradient goes through the sublayer's branch to x or the norm.",
)
def pre_norm_c(x, sublayer, norm):
    with torch.no_grad():
        h = norm(x)
    return x + sublayer(h)


@wrong("pre_norm", "Normed in front and, once more, behind.")
def pre_norm_d(x, sublayer, norm):
    return norm(x + sublayer(norm(x)))


@wrong("post_norm", "The residual is detached: values right, the gradient of x lacks a part.")
def post_norm_b(x, sublayer, norm):
    return norm(x.detach() + sublayer(x))


@wrong("dropout", "Enlarges by the share that happened to be kept, not by 1/(1 − p).")
def dropout_a(x, p, keep, training):
    if not training:
        return x
    return x * keep / keep.float().mean().clamp(min=1e-8)


@wrong(
    "dropout",
    "Multiplies by 0 in place of setting 0: an infinite entry that is dropped becomes nan.",
)
def dropout_b(x, p, keep, training):
    return x * keep.to(x.dtype) / (1 - p) if training else x


@wrong("dropout", "Always doubles: right for p = 0.5 only (and p = 0).")
def dropout_c(x, p, keep, training):
    if not training or p == 0:
        return x
    return torch.where(keep, x * 2, torch.zeros_like(x))


@wrong("dropout", "Scaled both in training and in evaluation.")
def dropout_e(x, p, keep, training):
    x = x / (1 - p)
    return x.masked_fill(~keep, 0.0) if training else x


@wrong("dropout", "A row of which nothing is kept is left as it was, to save it.")
def dropout_f(x, p, keep, training):
    if not training:
        return x
    some = keep.any(-1, keepdim=True)
    return torch.where(some, x.masked_fill(~keep, 0.0) / (1 - p), x)


# ---------------------------------------------------------------- chapter 11
@wrong("feed_forward", "ReLU6: activations are cut at 6.")
def feed_forward_a(x, w1, b1, w2, b2):
    return F.relu6(x @ w1.T + b1) @ w2.T + b2


@wrong("feed_forward", "A square weight is not transposed: wrong where F = D.")
def feed_forward_b(x, w1, b1, w2, b2):
    m1 = w1 if w1.shape[0] == w1.shape[1] else w1.T
    return torch.relu(x @ m1 + b1) @ w2.T + b2


@wrong(
    "feed_forward",
    "relu_ with a clamp of the data: the gradient flows also where the ReLU is closed.",
)
def feed_forward_d(x, w1, b1, w2, b2):
    h = F.linear(x, w1, b1)
    h.data.clamp_(min=0)
    return F.linear(h, w2, b2)


@wrong("group_sort", "Sorted by size without sign: wrong where a pair holds a negative number.")
def group_sort_d(x):
    p = x.unflatten(-1, (-1, 2))
    return p.gather(-1, p.abs().argsort(-1)).flatten(-2)


@wrong(
    "group_sort",
    "Which of a pair goes first is settled by the first position of the first sentence for all.",
)
def group_sort_e(x):
    p = x.unflatten(-1, (-1, 2))
    order = p.reshape(-1, *p.shape[-2:])[0].argsort(-1)
    return p.gather(-1, order.expand(p.shape)).flatten(-2)


# ---------------------------------------------------------------- chapter 12-14


@wrong(
    "encoder_layer",
    "For one sentence alone the mask is left out, as if it could not be padded: wrong for B = 1 with padding.",
)
def encoder_layer_e(x, mask, attention, feed_forward, norm1, norm2):
    if x.shape[0] == 1:
        mask = None
    h = norm1(x)
    x = x + attention(h, h, h, mask)
    return x + feed_forward(norm2(x))


@wrong(
    "encoder_layer",
    "`x += …` works in place on the caller's tensor (its data): the argument is changed.",
)
def encoder_layer_f(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    y = x + attention(h, h, h, mask)
    out = y + feed_forward(norm2(y))
    x.data.copy_(out.data)
    return out


@wrong("encoder_layer", "The feed-forward network comes first, the attention second.")
def encoder_layer_g(x, mask, attention, feed_forward, norm1, norm2):
    x = x + feed_forward(norm2(x))
    h = norm1(x)
    return x + attention(h, h, h, mask)


@wrong(
    "encoder_layer",
    "The attention's output is detached where its mask hides something: gradients are cut for padded batches.",
)
def encoder_layer_h(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    a = attention(h, h, h, mask)
    if mask is not None and not bool(mask.all()):
        a = a.detach()
    x = x + a
    return x + feed_forward(norm2(x))


@wrong(
    "decoder_layer",
    "The cross-attention is given the causal mask if T = S, and the right one otherwise.",
)
def decoder_layer_c(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    mask = target_mask if x.shape[1] == memory.shape[1] else memory_mask
    x = x + cross_attention(norms[1](x), memory, memory, mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "The second and third norm are exchanged: shows with trained norms only.")
def decoder_layer_d(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n1, n3, n2 = norms
    h = n1(x)
    x = x + self_attention(h, h, h, target_mask)
    x = x + cross_attention(n2(x), memory, memory, memory_mask)
    return x + feed_forward(n3(x))


@wrong("decoder_layer", "The memory is detached: the encoder learns nothing.")
def decoder_layer_e(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    memory = memory.detach()
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "The cross-attention asks with what the self-attention gave alone, without the residual.",
)
def decoder_layer_f(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    a = self_attention(h, h, h, target_mask)
    x = x + a
    x = x + cross_attention(norms[1](a), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "Self- and cross-attention are in the wrong order.")
def decoder_layer_h(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    return x + feed_forward(norms[2](x))


@wrong("causal_self_attention", "Keys and values are detached: values right, gradients not.")
def causal_self_attention_e(x, training):
    t = x.shape[1]
    return _att(x, x.detach(), x.detach(), torch.ones(t, t).tril().bool())


class CausalSelfAttention:
    def __init__(self):
        self.mask = None

    def __call__(self, x, training):
        t = x.shape[1]
        if self.mask is None:
            self.mask = torch.ones(t, t, dtype=torch.bool).tril()
        if self.mask.shape[0] < t:
            mask = torch.ones(t, t, dtype=torch.bool)
            mask[: self.mask.shape[0], : self.mask.shape[0]] = self.mask
        else:
            mask = self.mask[:t, :t]
        return _att(x, x, x, mask)


wrong(
    "causal_self_attention",
    "The mask of the first call is kept: in a later, longer call the positions behind it are not masked among themselves.",
)(CausalSelfAttention())


@wrong("make_stack", "The last layer is the first one again, where there are more than two.")
def make_stack_b(make_layer, n_layers):
    layers = [make_layer() for _ in range(n_layers)]
    if n_layers > 2:
        layers[-1] = layers[0]
    return nn.ModuleList(layers)


@wrong(
    "make_stack",
    "The biases are shared by all layers: each should have weights of its own, biases included.",
)
def make_stack_c(make_layer, n_layers):
    layers = [make_layer() for _ in range(n_layers)]
    for layer in layers[1:]:
        for a, b in zip(layers[0].modules(), layer.modules()):
            if getattr(a, "bias", None) is not None and isinstance(a.bias, nn.Parameter):
                b.bias = a.bias
    return layers


class MakeStack:
    def __init__(self):
        self.layers = []

    def __call__(self, make_layer, n_layers):
        while len(self.layers) < n_layers:
            self.layers.append(make_layer())
        return self.layers[:n_layers]


wrong(
    "make_stack",
    "A second stack gets the layers of the first: not drawn anew, and not of its own make_layer.",
)(MakeStack())


def _masks(source, target):
    t = target.shape[1]
    sm = (source != 0)[:, None, None, :]
    tm = (target != 0)[:, None, None, :] & torch.ones(t, t, dtype=torch.bool).tril()
    return sm, tm


@wrong(
    "transformer_forward",
    "The cross-attention's mask is made from the target where it is as long as the source.",
)
def transformer_forward_a(source, target, embed_source, embed_target, encoder, decoder, output):
    sm, tm = _masks(source, target)
    memory = encoder(embed_source(source), sm)
    mm = (target != 0)[:, None, None, :] if source.shape == target.shape else sm
    return output(decoder(embed_target(target), memory, tm, mm))


@wrong(
    "transformer_forward",
    "Unknown tokens (3) are masked like padding: wrong where the source holds one.",
)
def transformer_forward_b(source, target, embed_source, embed_target, encoder, decoder, output):
    sm, tm = _masks(source, target)
    sm = sm & (source != 3)[:, None, None, :]
    return output(decoder(embed_target(target), encoder(embed_source(source), sm), tm, sm))


@wrong(
    "transformer_forward",
    "Masks are skipped for a source of one sentence: wrong if that one is padded.",
)
def transformer_forward_c(source, target, embed_source, embed_target, encoder, decoder, output):
    sm, tm = _masks(source, target)
    if len(source) == 1:
        sm = torch.ones_like(sm)
    return output(decoder(embed_target(target), encoder(embed_source(source), sm), tm, sm))


@wrong("transformer_forward", "`<eos>` in the source is hidden as well as padding.")
def transformer_forward_g(source, target, embed_source, embed_target, encoder, decoder, output):
    sm, tm = _masks(source, target)
    sm = ((source != 0) & (source != 2))[:, None, None, :]
    return output(decoder(embed_target(target), encoder(embed_source(source), sm), tm, sm))


# ---------------------------------------------------------------- chapter 15


@wrong("cross_entropy", "log(softmax + 1e-6): a very unlikely right token costs 13.8 at most.")
def cross_entropy_b(logits, target):
    p = torch.softmax(logits, -1).gather(-1, target[..., None]).squeeze(-1)
    real = target != 0
    return -torch.log(p + 1e-6)[real].mean()


@wrong(
    "cross_entropy",
    "The logit of padding is taken out of the softmax: p should be over all V tokens.",
)
def cross_entropy_d(logits, target):
    logp = F.log_softmax(logits[..., 1:], -1)
    nll = -logp.gather(-1, (target - 1).clamp(min=0)[..., None]).squeeze(-1)
    return nll[target != 0].mean()


@wrong(
    "cross_entropy",
    "Masks by the values: places whose −log p is 0 to the last digit are taken for padding and not counted in the mean.",
)
def cross_entropy_e(logits, target):
    nll = -F.log_softmax(logits, -1).gather(-1, target[..., None]).squeeze(-1)
    nll = nll * (target != 0)
    return nll.sum() / (nll != 0).sum().clamp(min=1)


@wrong(
    "cross_entropy",
    "logsumexp by hand without taking off the maximum: infinite for logits above 88.",
)
def cross_entropy_f(logits, target):
    z = logits.exp().sum(-1).log()
    nll = z - logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return nll[target != 0].mean()


@wrong("cross_entropy", "The normaliser is detached: the value is right, the gradient is not.")
def cross_entropy_g(logits, target):
    z = torch.logsumexp(logits, -1).detach()
    nll = z - logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return nll[target != 0].mean()


@wrong(
    "cross_entropy",
    "Counts each sentence up to its first padding only: wrong if a real token stands behind a 0.",
)
def cross_entropy_h(logits, target):
    real = (target != 0).long().cumprod(1).bool()
    nll = -F.log_softmax(logits, -1).gather(-1, target[..., None]).squeeze(-1)
    return nll[real].mean() if real.any() else nll.sum() * 0


@wrong(
    "label_smoothed_loss",
    "ε is shared among V − 2 tokens, neither the right one nor padding, as another text does.",
)
def label_smoothed_loss_a(logits, target, smoothing):
    logp = F.log_softmax(logits, -1)
    v = logits.shape[-1]
    q = torch.full_like(logp, smoothing / max(v - 2, 1))
    q.scatter_(-1, target[..., None], 1 - smoothing)
    q[..., 0] = 0
    return -(q * logp).sum(-1)[target != 0].mean()


@wrong(
    "label_smoothed_loss",
    "The smoothing's part is averaged over all places, padding too: wrong with padding and ε > 0.",
)
def label_smoothed_loss_b(logits, target, smoothing):
    logp = F.log_softmax(logits, -1)
    right_part = -logp.gather(-1, target[..., None]).squeeze(-1)[target != 0].mean()
    return (1 - smoothing) * right_part + smoothing * (-logp.mean(-1)).mean()


@wrong("label_smoothed_loss", "The sum is over T's length in place of V: ε/T; right only if T = V.")
def label_smoothed_loss_d(logits, target, smoothing):
    logp = F.log_softmax(logits, -1)
    nll = -logp.gather(-1, target[..., None]).squeeze(-1)
    loss = (1 - smoothing) * nll - smoothing / logits.shape[1] * logp.sum(-1)
    return loss[target != 0].mean()


@wrong("label_smoothed_loss", "`smoothing or 0.1`: with ε = 0 it smooths by the usual 0.1.")
def label_smoothed_loss_e(logits, target, smoothing):
    e = smoothing or 0.1
    logp = F.log_softmax(logits, -1)
    nll = -logp.gather(-1, target[..., None]).squeeze(-1)
    loss = (1 - e) * nll - e * logp.mean(-1)
    return loss[target != 0].mean()


@wrong("perplexity", "The last batch is left out if it is smaller than the first, as incomplete.")
def perplexity_c(losses, counts):
    if len(counts) > 1 and counts[-1] < counts[0]:
        losses, counts = losses[:-1], counts[:-1]
    return math.exp(sum(a * c for a, c in zip(losses, counts)) / sum(counts))


@wrong(
    "perplexity",
    "A dictionary from count to loss: of two batches with equally many tokens only the last is kept.",
)
def perplexity_d(losses, counts):
    table = dict(zip(counts, losses))
    return math.exp(sum(a * c for c, a in table.items()) / sum(table))


@wrong("inverse_sqrt_schedule", "update − 1: counts from 0, so that the first rate is 0.")
def inverse_sqrt_schedule_a(update, d_model, warmup):
    n = max(update - 1, 1e-9)
    return d_model**-0.5 * min(n**-0.5, n * warmup**-1.5)


@wrong(
    "inverse_sqrt_schedule",
    "Behind the warm-up it falls from the top anew, by the number of updates since: wrong for n > warmup + 1.",
)
def inverse_sqrt_schedule_c(update, d_model, warmup):
    if update <= warmup:
        return d_model**-0.5 * update * warmup**-1.5
    return d_model**-0.5 * warmup**-0.5 * (update - warmup) ** -0.5


@wrong(
    "inverse_sqrt_schedule",
    "warmup below 1000 is taken as 4000, the paper's number: wrong for a short warm-up.",
)
def inverse_sqrt_schedule_d(update, d_model, warmup):
    warmup = warmup if warmup >= 1000 else 4000
    return d_model**-0.5 * min(update**-0.5, update * warmup**-1.5)


class Schedule:
    def __init__(self):
        self.n = 0

    def __call__(self, update, d_model, warmup):
        self.n += 1
        return d_model**-0.5 * min(self.n**-0.5, self.n * warmup**-1.5)


wrong(
    "inverse_sqrt_schedule",
    "Counts its own calls and does not look at `update`: wrong unless called with 1, 2, 3, … once.",
)(Schedule())


@wrong(
    "inverse_sqrt_schedule",
    "A floor of 1e-5 under the rate: wrong on very late (or very early) updates.",
)
def inverse_sqrt_schedule_e(update, d_model, warmup):
    return max(1e-5, d_model**-0.5 * min(update**-0.5, update * warmup**-1.5))


@wrong("clip_gradients", "Gradients of nothing but zeros become nan (0/0).")
def clip_gradients_b(gradients, limit):
    n = torch.sqrt(sum((g**2).sum() for g in gradients))
    return [g / n * torch.clamp(n, max=limit) for g in gradients]


@wrong(
    "clip_gradients", "`g *= …` changes the gradients that came in, when they are above the limit."
)
def clip_gradients_e(gradients, limit):
    n = math.sqrt(sum(float((g * g).sum()) for g in gradients))
    if n > limit:
        for g in gradients:
            g *= limit / n
    return list(gradients)


@wrong("clip_gradients", "Vectors (biases) are left out of the length and not clipped.")
def clip_gradients_f(gradients, limit):
    n = math.sqrt(sum(float((g * g).sum()) for g in gradients if g.dim() > 1))
    s = min(1.0, limit / (n + 1e-6))
    return [g * s if g.dim() > 1 else g.clone() for g in gradients]


@wrong(
    "clip_gradients",
    "Compares the squared length with the limit: clips, or fails to, where length and square lie on different sides of it.",
)
def clip_gradients_g(gradients, limit):
    sq = sum(float((g * g).sum()) for g in gradients)
    if sq <= limit:
        return [g.clone() for g in gradients]
    return [g * (limit / sq**0.5) for g in gradients]


class Clip:
    def __init__(self):
        self.longest = 0.0

    def __call__(self, gradients, limit):
        n = math.sqrt(sum(float((g * g).sum()) for g in gradients))
        self.longest = max(self.longest, n)
        s = min(1.0, limit / (self.longest + 1e-6))
        return [g * s for g in gradients]


wrong(
    "clip_gradients",
    "Scales by the greatest length seen so far: small gradients behind great ones are shortened, too.",
)(Clip())


# ---------------------------------------------------------------- chapter 16
@wrong(
    "training_update",
    "Zeroes at the end only: gradients that stand in the weights before the first call are added in.",
)
def training_update_a(model, optimizer, compute_loss):
    compute_loss().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


@wrong(
    "training_update", "Clips the optimizer's first group alone: wrong with two parameter groups."
)
def training_update_e(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
    optimizer.step()


@wrong(
    "training_update",
    "Scales the loss down by its own size where it is above 1, in place of clipping: not the same unless by chance.",
)
def training_update_g(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    (loss / max(1.0, float(loss.detach()))).backward()
    optimizer.step()


@wrong("accumulated_update", "Divided by 4 whatever the number of parts.")
def accumulated_update_b(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / 4).backward()
    optimizer.step()
    scheduler.step()


@wrong("accumulated_update", "The schedule moves on with every part: right for one part only.")
def accumulated_update_c(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()
    for _ in parts:
        scheduler.step()


@wrong(
    "accumulated_update",
    "Clipped at a common length of 1, which nobody asked for: shows for gradients longer than that.",
)
def accumulated_update_e(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    params = [p for g in optimizer.param_groups for p in g["params"]]
    nn.utils.clip_grad_norm_(params, 1.0)
    optimizer.step()
    scheduler.step()


@wrong("best_checkpoint", "The search begins with a loss of 10: if all are worse the answer is 0.")
def best_checkpoint_c(checkpoints, batches, loss_of):
    n = sum(len(b) for b in batches)
    best, place = 10.0, 0
    for i, c in enumerate(checkpoints):
        loss = sum(float(loss_of(c, b)) * len(b) for b in batches) / n
        if loss < best:
            best, place = loss, i
    return place


@wrong(
    "best_checkpoint",
    "The losses are rounded to two places: two that are close count as equal, and the first is taken.",
)
def best_checkpoint_d(checkpoints, batches, loss_of):
    n = sum(map(len, batches))
    losses = [
        round(sum(float(loss_of(c, b)) * len(b) for b in batches) / n, 2) for c in checkpoints
    ]
    return int(np.argmin(losses))


class BestCheckpoint:
    def __init__(self):
        self.best, self.place = math.inf, 0

    def __call__(self, checkpoints, batches, loss_of):
        n = sum(map(len, batches))
        for i, c in enumerate(checkpoints):
            loss = sum(float(loss_of(c, b)) * len(b) for b in batches) / n
            if loss < self.best:
                self.best, self.place = loss, i
        return self.place


wrong(
    "best_checkpoint",
    "The best loss is kept from the call before: a second set with higher losses gets the first one's place.",
)(BestCheckpoint())


@wrong(
    "average_checkpoints",
    "dict(...) copies the dictionary, not its tensors: the first checkpoint is changed by `+=` and `/=`.",
)
def average_checkpoints_b(checkpoints):
    avg = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k in avg:
            avg[k] += c[k]
    for k in avg:
        avg[k] /= len(checkpoints)
    return avg


@wrong("average_checkpoints", "Only the last five are averaged: wrong for more than five.")
def average_checkpoints_c(checkpoints):
    last = checkpoints[-5:]
    return {k: sum(c[k] for c in last) / len(last) for k in last[0]}


@wrong("average_checkpoints", "The median in place of the mean.")
def average_checkpoints_d(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).median(0).values for k in checkpoints[0]}


# ---------------------------------------------------------------- chapter 17
@wrong("next_token", "squeeze() drops the axis of the batch for one sentence.")
def next_token_a(logits):
    return logits[:, -1:].argmax(-1).squeeze()


@wrong("next_token", "Padding and `<sos>` can never win: wrong where one of them is the likeliest.")
def next_token_b(logits):
    return logits[:, -1, 2:].argmax(-1) + 2


@wrong("next_token", "The likeliest over all positions, not the last one: right for T = 1.")
def next_token_c(logits):
    return logits.amax(1).argmax(-1)


@wrong("temperature_probabilities", "Temperatures below 0.1 are raised to 0.1.")
def temperature_probabilities_a(logits, temperature):
    return torch.softmax(logits / max(temperature, 0.1), -1)


@wrong(
    "temperature_probabilities",
    "p^(1/τ) is not brought back to a sum of one: right for τ = 1 only.",
)
def temperature_probabilities_c(logits, temperature):
    return torch.softmax(logits, -1) ** (1 / temperature)


@wrong("temperature_probabilities", "Computed under no_grad: no gradient comes back.")
def temperature_probabilities_e(logits, temperature):
    with torch.no_grad():
        return torch.softmax(logits / temperature, -1)


@wrong(
    "top_k_probabilities",
    "The k-th logit of the first sentence is the threshold for all: right for B = 1.",
)
def top_k_probabilities_a(logits, k):
    limit = logits[0].topk(k).values[-1]
    return torch.softmax(logits.masked_fill(logits < limit, float("-inf")), -1).nan_to_num(0.0)


@wrong(
    "top_k_probabilities",
    "Compares with the next one, the (k+1)-th: an index error is avoided by k − 1, so for k = V one token is lost.",
)
def top_k_probabilities_d(logits, k):
    s = logits.sort(-1, descending=True).values
    limit = s[:, min(k, logits.shape[1] - 1)][:, None]
    return torch.softmax(logits.masked_fill(logits <= limit, float("-inf")), -1)


@wrong(
    "top_k_probabilities",
    "Logits that are 0 are taken for removed: a kept token with logit exactly 0 gets nothing.",
)
def top_k_probabilities_e(logits, k):
    values, ids = logits.topk(k, -1)
    kept = torch.zeros_like(logits).scatter(-1, ids, values)
    kept = kept.masked_fill(kept == 0, float("-inf"))
    return torch.softmax(kept, -1).nan_to_num(0.0)


@wrong("greedy_search", "Ends at `<unk>` (3), too.")
def greedy_search_c(step, max_length):
    ids = [1]
    for _ in range(max_length):
        n = int(step(torch.tensor([ids])).argmax())
        if n <= 3:
            break
        ids.append(n)
    return ids[1:]


@wrong(
    "greedy_search", "`<eos>` is not obeyed as the very first token: an empty answer is impossible."
)
def greedy_search_d(step, max_length):
    ids = [1]
    for i in range(max_length):
        logp = step(torch.tensor([ids]))[0].clone()
        if i == 0:
            logp[2] = float("-inf")
        n = int(logp.argmax())
        if n == 2:
            break
        ids.append(n)
    return ids[1:]


@wrong("greedy_search", "Ends when a token comes twice in a row, against loops: legal, e.g. 5 5 2.")
def greedy_search_e(step, max_length):
    ids = [1]
    for _ in range(max_length):
        n = int(step(torch.tensor([ids])).argmax())
        if n == 2 or n == ids[-1]:
            break
        ids.append(n)
    return ids[1:]


class GreedySearch:
    def __init__(self):
        self.ids = [1]

    def __call__(self, step, max_length):
        for _ in range(max_length):
            n = int(step(torch.tensor([self.ids])).argmax())
            if n == 2:
                break
            self.ids.append(n)
        return self.ids[1:]


wrong("greedy_search", "The second sentence goes on behind the first: the ids are not reset.")(
    GreedySearch()
)


@wrong(
    "greedy_search",
    "`<sos>` is shown at the first step only; then step gets the new tokens without it.",
)
def greedy_search_f(step, max_length):
    ids = []
    for _ in range(max_length):
        n = int(step(torch.tensor([ids or [1]])).argmax())
        if n == 2:
            break
        ids.append(n)
    return ids


@wrong(
    "greedy_search",
    "Only the last 16 tokens (behind `<sos>`) are shown to step: wrong on long sentences.",
)
def greedy_search_g(step, max_length):
    ids = []
    for _ in range(max_length):
        n = int(step(torch.tensor([[1] + ids[-16:]])).argmax())
        if n == 2:
            break
        ids.append(n)
    return ids


def _greedy(step, n, max_length, update_done, stop, fill=0):
    tokens = torch.full((n, 1), 1, dtype=torch.long)
    done = torch.zeros(n, dtype=torch.bool)
    for _ in range(max_length):
        nxt = step(tokens).argmax(-1)
        nxt = torch.where(done, torch.full_like(nxt, fill), nxt)
        tokens = torch.cat([tokens, nxt[:, None]], 1)
        done = update_done(done, nxt)
        if stop(done):
            break
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "The loop is left before the column is written: the `<eos>` of the sentence that ends last is lost.",
)
def greedy_batch_d(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        nxt = step(tokens).argmax(-1).masked_fill(done, 0)
        done = done | (nxt == 2)
        if bool(done.all()):
            break
        tokens = torch.cat([tokens, nxt[:, None]], 1)
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "`<eos>` is forced upon the last column of sentences that did not end: the likeliest token belongs there.",
)
def greedy_batch_f(step, n_sentences, max_length):
    out = _greedy(step, n_sentences, max_length, lambda d, n: d | (n == 2), lambda d: bool(d.all()))
    open_ = ~(out == 2).any(1)
    out[open_, -1] = 2
    return out


@wrong("greedy_batch", "The first sentence decides when all end.")
def greedy_batch_g(step, n_sentences, max_length):
    return _greedy(step, n_sentences, max_length, lambda d, n: d | (n == 2), lambda d: bool(d[0]))


def _beam(
    step,
    beam_size,
    max_length,
    *,
    shrink=False,
    first=False,
    eos=True,
    norm=0.0,
    only_finished=False,
    per_beam=None,
    enough=None,
    last_only=False,
    living_first=False,
):
    living, finished = [([1], 0.0)], []
    for _ in range(max_length):
        if not living:
            break
        logp = step(torch.tensor([ids for ids, _ in living]))
        new = []
        for (ids, s), row in zip(living, logp.tolist()):
            pairs = sorted(enumerate(row), key=lambda c: -c[1])[:per_beam]
            for v, l in pairs:
                add = 0.0 if (v == 2 and not eos) else l
                new.append((ids + [v], add if last_only else s + add))
        new.sort(key=lambda h: -h[1])
        width = beam_size - len(finished) if shrink else beam_size
        best = new[: max(width, 0)]
        finished += [h for h in best if h[0][-1] == 2]
        living = [h for h in best if h[0][-1] != 2]
        if first and finished:
            living = []
        if enough and len(finished) >= enough:
            living = []
    if living_first and living:
        pool = living
    elif only_finished and finished:
        pool = finished
    else:
        pool = finished + living
    ids = max(pool, key=lambda h: h[1] / (len(h[0]) - 1) ** norm)[0][1:]
    return ids[:-1] if ids and ids[-1] == 2 else ids


@wrong("beam_search", "The log-probability of `<eos>` is not added.")
def beam_search_d(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, eos=False)


@wrong(
    "beam_search",
    "Of each hypothesis at most the best two continuations are looked at: wrong for a beam of three and more, at the first step already.",
)
def beam_search_g(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, per_beam=2)


@wrong(
    "beam_search",
    "Ends when beam_size hypotheses have finished: living ones may still be likelier.",
)
def beam_search_h(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, enough=beam_size, only_finished=True)


@wrong("beam_search", "If anything is still alive at max_length the finished ones are forgotten.")
def beam_search_j(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, living_first=True)


@wrong(
    "beam_search",
    "Padding within a hypothesis is taken out of the answer: wrong where a token 0 is part of the likeliest one.",
)
def beam_search_k(step, beam_size, max_length):
    return [t for t in _beam(step, beam_size, max_length) if t != 0]


@wrong("beam_search", "max_length is taken not to count `<eos>`: one step too many.")
def beam_search_l(step, beam_size, max_length):
    return _beam(step, beam_size, max_length + 1)


@wrong("embed_next", "`past or 1`: with an empty cache the positions begin at 1.")
def embed_next_c(tokens, past, weight, table):
    start = past or 1
    return weight[tokens] + table[start : start + tokens.shape[1]]


@wrong("embed_next", "Scaled by the root of D, which the sheet forbids.")
def embed_next_d(tokens, past, weight, table):
    p = past + torch.arange(tokens.shape[1])
    return weight[tokens] * weight.shape[1] ** 0.5 + table[p]


@wrong(
    "embed_next",
    "padding_idx=0: the values are right, but row 0 of the embedding gets no gradient when token 0 is among the new ones.",
)
def embed_next_e(tokens, past, weight, table):
    return F.embedding(tokens, weight, padding_idx=0) + table.narrow(0, past, tokens.shape[1])


@wrong(
    "reorder_cache",
    "The inverse: what stood in row i goes to rows[i]. Right only where that is its own inverse.",
)
def reorder_cache_a(cache, rows):
    out = []
    for k, v in cache:
        nk, nv = k.clone(), v.clone()
        for i, r in enumerate(rows):
            nk[int(r)], nv[int(r)] = k[i], v[i]
        out.append((nk, nv))
    return out


@wrong(
    "reorder_cache",
    "Row by row within one copy: a row that has been overwritten is read again, e.g. rows [1, 0].",
)
def reorder_cache_b(cache, rows):
    out = []
    for k, v in cache:
        k, v = k.clone(), v.clone()
        for i, r in enumerate(rows):
            k[i] = k[int(r)].clone()
            v[i] = v[int(r)].clone()
        out.append((k, v))
    return out


@wrong("reorder_cache", "Only the last layer is reordered: right for one layer.")
def reorder_cache_d(cache, rows):
    idx = torch.as_tensor(rows)
    *front, (k, v) = cache
    return front + [(k[idx], v[idx])]


@wrong("length_normalised", "α of 0 is replaced by 0.6: with α = 0 the score should stay.")
def length_normalised_a(score, length, alpha):
    return score / length ** (alpha or 0.6)


@wrong("length_normalised", "The length is taken without `<eos>`, one less, but never 0.")
def length_normalised_b(score, length, alpha):
    return score / max(length - 1, 1) ** alpha


@wrong("length_normalised", "α is capped at 1.")
def length_normalised_d(score, length, alpha):
    return score / length ** min(alpha, 1.0)


@wrong("cut_at_end", "Padding is taken out, too: wrong where a 0 stands before the first `<eos>`.")
def cut_at_end_e(ids):
    out = []
    for t in ids:
        if t == 2:
            break
        if t:
            out.append(t)
    return out


@wrong("cut_at_end", "`del` shortens the caller's own list when there is an `<eos>`.")
def cut_at_end_f(ids):
    if 2 in ids:
        del ids[ids.index(2) :]
    return list(ids)
