"""Round 2, author 1: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right
import copy, math, functools
from collections import Counter
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


# ---- chapter 1 and 2
@wrong(
    "number_of_targets",
    "Base and exponent are exchanged; only right where both are equal (or 2 and 4).",
)
def number_of_targets_a(vocab_size, length):
    return length**vocab_size


@wrong(
    "number_of_targets",
    "Counted in 64-bit integers, which run over: 30000 words and 10 tokens give nonsense.",
)
def number_of_targets_b(vocab_size, length):
    n = torch.tensor(1)
    for _ in range(length):
        n = n * vocab_size
    return n.item()


@wrong(
    "number_of_targets",
    "No token may come twice here; with a length of 1 it is right, with 'the … the' it is not.",
)
def number_of_targets_c(vocab_size, length):
    return math.perm(vocab_size, length)


@wrong("build_vocabulary", "'More than' in place of 'at least' min_frequency.")
def build_vocabulary_a(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for w, c in counts.items():
        if c > min_frequency:
            vocab[w] = len(vocab)
    return vocab


@wrong(
    "build_vocabulary",
    "Counts sentences in place of occurrences: a word twice in one sentence counts once.",
)
def build_vocabulary_b(sentences, min_frequency):
    counts = Counter()
    for s in sentences:
        counts.update(set(s))
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for w in sorted(counts):
        if counts[w] >= min_frequency:
            vocab[w] = len(vocab)
    return vocab


@wrong(
    "build_vocabulary",
    "The id is the word's place among all words, so each rare word leaves a gap.",
)
def build_vocabulary_c(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for i, w in enumerate(counts):
        if counts[w] >= min_frequency:
            vocab[w] = i + 4
    return vocab


@wrong(
    "build_vocabulary",
    "The counter is a default argument, so it goes on counting from one call to the next: the second call holds the first one's words.",
)
def build_vocabulary_d(sentences, min_frequency, counts=Counter()):
    for s in sentences:
        counts.update(s)
    words = ["<pad>", "<sos>", "<eos>", "<unk>"] + [
        w for w, c in counts.items() if c >= min_frequency
    ]
    return {w: i for i, w in enumerate(words)}


@wrong("encode", "Unknown words are left out in place of becoming <unk>.")
def encode_a(tokens, vocabulary):
    return [vocabulary[t] for t in tokens if t in vocabulary] + [2]


@wrong("encode", "No <eos> behind an empty sentence.")
def encode_b(tokens, vocabulary):
    ids = [vocabulary.get(t, 3) for t in tokens]
    if ids:
        ids.append(2)
    return ids


@wrong(
    "encode",
    "setdefault writes every unknown word into the dictionary, which is an argument and must stay as it was.",
)
def encode_c(tokens, vocabulary):
    return [vocabulary.setdefault(t, 3) for t in tokens] + [2]


@wrong("text_to_ids", "The text is split at blanks, whatever tokenizer the model was trained with.")
def text_to_ids_a(text, tokenize, vocabulary):
    return [vocabulary.get(t, 3) for t in text.split()] + [2]


@wrong(
    "text_to_ids",
    "The text is lowered first, although the tokenizer of the training kept capitals: 'Berlin' turns to <unk>.",
)
def text_to_ids_b(text, tokenize, vocabulary):
    ids = []
    for token in tokenize(text.lower()):
        ids.append(vocabulary[token] if token in vocabulary else 3)
    ids.append(2)
    return ids


@wrong("text_to_ids", "The token <unk> is dropped: nothing stands for an unknown word.")
def text_to_ids_c(text, tokenize, vocabulary):
    ids = map(vocabulary.get, tokenize(text))
    return [i for i in ids if i is not None] + [2]


@wrong("training_words", "The validation sentences are counted, too.")
def training_words_a(splits, min_frequency):
    counts = Counter()
    for name in ("train", "validation"):
        for s in splits[name]:
            counts.update(s)
    return {w for w in counts if counts[w] >= min_frequency}


@wrong(
    "training_words",
    "min_frequency is asked of each sentence, not of the whole training set: a word once in each of two sentences does not reach 2.",
)
def training_words_b(splits, min_frequency):
    words = set()
    for s in splits["train"]:
        for w, c in Counter(s).items():
            if c >= min_frequency:
                words.add(w)
    return words


@wrong(
    "training_words",
    "Words that also stand in the test set are taken out; they may be learnt, as they are in the training set.",
)
def training_words_c(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    test = {w for s in splits["test"] for w in s}
    return {w for w, c in counts.items() if c >= min_frequency and w not in test}


# ---- chapter 3
@wrong("collate", "As long as the first row: longer rows behind it are cut.")
def collate_a(rows):
    width = len(rows[0])
    return torch.tensor([(r + [0] * width)[:width] for r in rows])


@wrong(
    "collate",
    "Sorted by length, longest first, so that source and target rows no longer belong together.",
)
def collate_b(rows):
    rows = sorted(rows, key=len, reverse=True)
    out = torch.zeros(len(rows), len(rows[0]), dtype=torch.long)
    for i, r in enumerate(rows):
        out[i, : len(r)] = torch.tensor(r)
    return out


@wrong(
    "collate", "The rows that came in are lengthened themselves: += changes the learner's lists."
)
def collate_c(rows):
    width = max(map(len, rows))
    for r in rows:
        r += [0] * (width - len(r))
    return torch.tensor(rows)


@wrong("shift", "Exchanged: the decoder reads what it is to say.")
def shift_a(target):
    return target[:, 1:], target[:, :-1]


@wrong("shift", "Cut along the sentences in place of the positions.")
def shift_b(target):
    return target[:-1], target[1:]


@wrong("shift", "The labels are not shifted: the model learns to copy its input.")
def shift_c(target):
    reads = target[:, :-1]
    says = target[:, :-1]
    return reads, says


# ---- chapter 4
@wrong("embedding", "padding_idx=0 cuts the gradient of row 0; wrong as soon as token 0 comes.")
def embedding_a(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * math.sqrt(weight.size(1))


@wrong("embedding", "Scaled with the root of V: weight.shape[0] is the number of words.")
def embedding_b(tokens, weight):
    return weight[tokens] * weight.shape[0] ** 0.5


@wrong("embedding", "from_pretrained freezes the weight: no gradient comes to it.")
def embedding_c(tokens, weight):
    table = nn.Embedding.from_pretrained(weight)
    return table(tokens) * math.sqrt(weight.size(-1))


class EmbeddingD(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))

    def forward(self, tokens):
        return self.weight[tokens]


wrong("embedding", "A class that forgets the factor of root D.")(EmbeddingD)


@wrong(
    "tied_logits",
    "Reshaped to (D, V) in place of transposed: the shape is right, the numbers are mixed up.",
)
def tied_logits_a(x, weight):
    V, D = weight.shape
    return x @ weight.reshape(D, V)


@wrong(
    "tied_logits",
    "The embedding is detached: tied weights are to get their gradient from the output, too.",
)
def tied_logits_b(x, weight):
    return F.linear(x, weight.detach())


@wrong("tied_logits", "Divided by the root of D, as scores of attention are.")
def tied_logits_c(x, weight):
    return torch.einsum("btd,vd->btv", x, weight) / math.sqrt(x.size(-1))


# ---- chapter 5
@wrong("sinusoids", "The cosine takes its own column 2i + 1 as exponent in place of 2i.")
def sinusoids_a(length, d_model):
    p = torch.arange(length).float()[:, None]
    c = torch.arange(d_model).float()[None]
    angle = p / 10000 ** (c / d_model)
    out = angle.clone()
    out[:, 0::2] = angle[:, 0::2].sin()
    out[:, 1::2] = angle[:, 1::2].cos()
    return out


@wrong("sinusoids", "Exponent i/D in place of 2i/D.")
def sinusoids_b(length, d_model):
    out = torch.zeros(length, d_model)
    for p in range(length):
        for i in range(d_model // 2):
            angle = p / 10000 ** (i / d_model)
            out[p, 2 * i] = math.sin(angle)
            out[p, 2 * i + 1] = math.cos(angle)
    return out


@wrong("sinusoids", "A table of 512 rows is cut: longer texts get too few rows.")
def sinusoids_c(length, d_model, max_len=512):
    p = torch.arange(max_len, dtype=torch.float64).unsqueeze(1)
    f = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model))
    table = torch.stack([torch.sin(p * f), torch.cos(p * f)], -1).flatten(1).float()
    return table[:length]


@wrong("sinusoids", "Positions count from 1.")
def sinusoids_d(length, d_model):
    p = torch.arange(1, length + 1, dtype=torch.float64)[:, None]
    f = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    return torch.stack([(p * f).sin(), (p * f).cos()], dim=2).reshape(length, d_model).float()


@wrong(
    "add_positions",
    "The row is chosen by the sentence's place in the batch in place of the position: the axes of batch and time are exchanged.",
)
def add_positions_a(x, table):
    return x + table[: x.size(0)].unsqueeze(1)


@wrong(
    "add_positions", "The table is not cut: wrong as soon as the table is longer than the sentence."
)
def add_positions_b(x, table):
    return x + table.unsqueeze(0)


@wrong("add_positions", "The table is detached: learned positions get no gradient.")
def add_positions_c(x, table):
    return x + table[None, : x.shape[1]].detach()


# ---- chapter 7
@wrong(
    "softmax",
    "The largest score of the whole tensor is taken off, not that of each row: a row 200 below the others divides 0 by 0.",
)
def softmax_a(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=-1, keepdim=True)


@wrong("softmax", "Axis 1 in place of the last: right for two axes only, wrong for (B, T, S).")
def softmax_b(scores):
    scores = scores - scores.max(dim=-1, keepdim=True).values
    e = scores.exp()
    return e / e.sum(dim=1, keepdim=True)


@wrong("softmax", "exp of raw scores: 1000 gives inf / inf.")
def softmax_c(scores):
    return scores.exp() / scores.exp().sum(-1, keepdim=True)


@wrong(
    "softmax",
    "sum over the last axis without keepdim and with [:, None] in its place: fits two axes, divides by the wrong sums (or fails) with three.",
)
def softmax_d(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / e.sum(-1)[:, None]


@wrong(
    "scaled_dot_product_attention",
    "−1e9 in place of −inf, and nothing else: a query that may attend to nothing gets the mean of all values, not zeros.",
)
def scaled_dot_product_attention_a(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(-1) @ value


@wrong(
    "scaled_dot_product_attention",
    "An additive −inf and nan_to_num behind it: the forward pass is right, but a query with nothing to attend to sends NaN back in the gradient.",
)
def scaled_dot_product_attention_b(query, key, value, mask=None):
    scores = query @ key.mT / key.size(-1) ** 0.5
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(
            ~mask, float("-inf")
        )
    return torch.nan_to_num(scores.softmax(-1)) @ value


@wrong(
    "scaled_dot_product_attention",
    "The weights are multiplied by the mask after the softmax and no longer sum to one.",
)
def scaled_dot_product_attention_c(query, key, value, mask=None):
    w = F.softmax(query @ key.transpose(-2, -1) / math.sqrt(key.size(-1)), dim=-1)
    if mask is not None:
        w = w * mask
    return w @ value


@wrong(
    "scaled_dot_product_attention", "1e-9 in place of −1e9: hidden places get a score of about 0."
)
def scaled_dot_product_attention_d(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        return scores.softmax(-1) @ value
    w = scores.masked_fill(~mask, 1e-9).softmax(-1)
    w = w.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    return w @ value


@wrong(
    "scaled_dot_product_attention",
    "Divided by the root of the values' width: wrong where keys and values differ in width.",
)
def scaled_dot_product_attention_e(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query, key) / math.sqrt(value.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -torch.inf)
    return scores.softmax(-1).nan_to_num(0.0) @ value


@wrong("scaled_dot_product_attention", "Softmax over the queries (axis −2) in place of the keys.")
def scaled_dot_product_attention_f(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e30)
    w = scores.softmax(-2)
    if mask is not None:
        w = w * mask
    return w @ value


@wrong(
    "scaled_dot_product_attention",
    "If one query may attend to nothing, all queries of that sentence get zeros: any/all taken over both axes.",
)
def scaled_dot_product_attention_g(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is None:
        return scores.softmax(-1) @ value
    out = scores.masked_fill(~mask, -1e9).softmax(-1) @ value
    ok = mask.any(-1, keepdim=True).all(-2, keepdim=True)
    return torch.where(ok, out, torch.zeros_like(out))


# ---- chapter 8
@wrong(
    "padding_mask",
    "The lengths are counted and the first places kept: wrong when padding stands in front or in between.",
)
def padding_mask_a(tokens):
    n = (tokens != 0).sum(1, keepdim=True)
    return (torch.arange(tokens.size(1)) < n)[:, None, None, :]


@wrong("padding_mask", "Along the queries in place of the keys: (B, 1, S, 1).")
def padding_mask_b(tokens):
    return (tokens != 0).unsqueeze(1).unsqueeze(-1)


@wrong("padding_mask", "True where padding is: the wrong way round.")
def padding_mask_c(tokens):
    return tokens.eq(0)[:, None, None]


@wrong("causal_mask", "The upper triangle: each token sees itself and what comes after it.")
def causal_mask_a(length):
    return torch.triu(torch.ones(length, length, dtype=torch.bool))


@wrong("causal_mask", "Zeros and ones as floats: neither boolean nor to be added to scores.")
def causal_mask_b(length):
    return torch.tril(torch.ones(length, length))


BUFFER = torch.ones(256, 256, dtype=torch.bool).tril()


@wrong(
    "causal_mask",
    "Cut out of a fixed buffer of 256 places: longer sentences get a mask that is too small.",
)
def causal_mask_c(length):
    return BUFFER[:length, :length]


@wrong(
    "target_mask",
    "'or' in place of 'and': padding that came before may be attended to, and so may what comes after.",
)
def target_mask_a(tokens):
    T = tokens.size(1)
    pad = (tokens != 0)[:, None, None, :]
    return pad | torch.ones(T, T).tril().bool()


@wrong("target_mask", "Padding is forgotten: only what comes after is hidden.")
def target_mask_b(tokens):
    B, T = tokens.shape
    return torch.ones(T, T, dtype=torch.bool).tril().expand(B, 1, T, T)


@wrong(
    "target_mask",
    "Padding is hidden along the queries (axis −2), not along the keys: a row of padding sees nothing, and others would see padding in front of them.",
)
def target_mask_c(tokens):
    T = tokens.size(1)
    return (tokens != 0)[:, None, :, None] & torch.tril(torch.ones(T, T)).bool()


@wrong("target_mask", "Without an axis for the heads, broadcast at the batch: (B, T, T).")
def target_mask_d(tokens):
    T = tokens.size(1)
    return (tokens != 0)[:, None, :] & torch.tril(torch.ones(T, T, dtype=torch.bool))


@wrong(
    "target_mask",
    "A row that sees nothing is opened at its own place 'against NaN': wrong when padding comes in front.",
)
def target_mask_e(tokens):
    T = tokens.size(1)
    m = (tokens != 0)[:, None, None, :] & torch.ones(T, T, dtype=torch.bool).tril()
    return m | torch.eye(T, dtype=torch.bool) & ~m.any(-1, keepdim=True)


# ---- chapter 9
@wrong(
    "split_heads",
    "Viewed as (B, H, T, K) at once: the transpose is forgotten, tokens and heads are mixed.",
)
def split_heads_a(x, n_heads):
    B, T, D = x.shape
    return x.view(B, n_heads, T, D // n_heads)


@wrong("split_heads", "n_heads is taken for the width of a head; right only where H = K.")
def split_heads_b(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, T, D // n_heads, n_heads).transpose(1, 2)


@wrong("split_heads", "Heads in front of the batch: (H, B, T, K).")
def split_heads_c(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1))


@wrong(
    "merge_heads",
    "transpose without contiguous, then view: raises except for one head or one token.",
)
def merge_heads_a(heads):
    B, H, T, K = heads.shape
    return heads.transpose(1, 2).view(B, T, H * K)


@wrong(
    "merge_heads", "contiguous() comes before the wrong step: reshaped without transposing back."
)
def merge_heads_b(heads):
    B, H, T, K = heads.shape
    return heads.contiguous().view(B, T, H * K)


def _heads(x, n):
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


@wrong(
    "multi_head_attention",
    "Scaled by the root of D in place of the root of the head's width K; right for one head only.",
)
def multi_head_attention_a(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    s = q @ k.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        s = s.masked_fill(~mask, -1e9)
    return (s.softmax(-1) @ v).transpose(1, 2).flatten(2) @ w_output.T


@wrong(
    "multi_head_attention",
    "Keys and values are viewed with the queries' length: fails in cross-attention, where S ≠ T.",
)
def multi_head_attention_b(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    K = D // n_heads
    q = (query @ w_query.T).view(B, T, n_heads, K).transpose(1, 2)
    k = (key @ w_key.T).view(B, T, n_heads, K).transpose(1, 2)
    v = (value @ w_value.T).view(B, T, n_heads, K).transpose(1, 2)
    s = q @ k.transpose(-2, -1) / math.sqrt(K)
    if mask is not None:
        s = s.masked_fill(~mask, -1e9)
    return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D) @ w_output.T


@wrong(
    "multi_head_attention",
    "The values are projected from the keys' input: wrong where key and value differ.",
)
def multi_head_attention_c(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    q, k, v = (
        _heads(F.linear(query, w_query), n_heads),
        _heads(F.linear(key, w_key), n_heads),
        _heads(F.linear(key, w_value), n_heads),
    )
    o = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(o.transpose(1, 2).flatten(2), w_output)


@wrong("multi_head_attention", "The heads are merged without the transpose back.")
def multi_head_attention_d(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    s = q @ k.mT / math.sqrt(D // n_heads)
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return (s.softmax(-1) @ v).reshape(B, T, D) @ w_output.T


@wrong("multi_head_attention", "The output projection is forgotten.")
def multi_head_attention_e(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    outs = []
    for wq, wk, wv in zip(w_query.chunk(n_heads), w_key.chunk(n_heads), w_value.chunk(n_heads)):
        s = (query @ wq.T) @ (key @ wk.T).transpose(1, 2) / wq.size(0) ** 0.5
        s = s[:, None]
        if mask is not None:
            s = s.masked_fill(~mask, -1e9)
        outs.append((s.softmax(-1) @ (value @ wv.T)[:, None])[:, 0])
    return torch.cat(outs, -1)


class MultiHeadF(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.query, self.key, self.value, self.output = [
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        ]
        self.n_heads, self.mask = n_heads, None

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            self.mask = mask
        q, k, v = (
            _heads(self.query(query), self.n_heads),
            _heads(self.key(key), self.n_heads),
            _heads(self.value(value), self.n_heads),
        )
        s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if self.mask is not None:
            s = s.masked_fill(~self.mask, -1e9)
        return self.output((s.softmax(-1) @ v).transpose(1, 2).flatten(2))


wrong(
    "multi_head_attention",
    "The mask stays in self.mask: a call without a mask, of the same instance, still uses the one before.",
)(MultiHeadF)


@wrong(
    "multi_head_attention",
    "The mask is multiplied to the weights behind the softmax; hidden keys still count in the sum.",
)
def multi_head_attention_g(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    w = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return (w @ v).transpose(1, 2).flatten(2) @ w_output.T


# ---- chapter 10
@wrong(
    "layer_norm",
    "torch's var divides by D − 1 unless told otherwise: the variance does not come out as 1.",
)
def layer_norm_a(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@wrong(
    "layer_norm", "Normalised over positions and features together; right only for one position."
)
def layer_norm_b(x, weight, bias, eps=1e-5):
    dims = tuple(range(1, x.dim()))
    var, mean = torch.var_mean(x, dim=dims, unbiased=False, keepdim=True)
    return weight * (x - mean) * torch.rsqrt(var + eps) + bias


@wrong(
    "layer_norm",
    "Mean and variance are treated as constants (no_grad): the numbers are right, the gradients are not.",
)
def layer_norm_c(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, unbiased=False, keepdim=True)
    return (x - mean) / (var + eps).sqrt() * weight + bias


@wrong("layer_norm", "ε is forgotten: a position whose features are all equal gives 0 / 0.")
def layer_norm_d(x, weight, bias, eps=1e-5):
    d = x - x.mean(-1, keepdim=True)
    return weight * d / d.pow(2).mean(-1, keepdim=True).sqrt() + bias


@wrong(
    "layer_norm",
    "Scaled and shifted in the wrong order: weight · (x̂ + bias); right while the bias is 0.",
)
def layer_norm_e(x, weight, bias, eps=1e-5):
    d = x - x.mean(-1, keepdim=True)
    return weight * (d / (d.square().mean(-1, keepdim=True) + eps).sqrt() + bias)


class LayerNormF(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        mean, std = x.mean(1, keepdim=True), x.std(1, unbiased=False, keepdim=True)
        return self.weight * (x - mean) / (std**2 + 1e-5).sqrt() + self.bias


wrong("layer_norm", "Axis 1 is the positions, not the features.")(LayerNormF)


@wrong("layer_norm_parameters", "Exchanged: a weight of zeros wipes out every input.")
def layer_norm_parameters_a(d_model):
    return torch.zeros(d_model), torch.ones(d_model)


@wrong("layer_norm_parameters", "Drawn at random as if it were a linear layer.")
def layer_norm_parameters_b(d_model):
    return torch.randn(d_model) / math.sqrt(d_model), torch.zeros(d_model)


@wrong(
    "pre_norm", "x is overwritten with norm(x), so the residual carries the normalised vector on."
)
def pre_norm_a(x, sublayer, norm):
    x = norm(x)
    return x + sublayer(x)


@wrong("post_norm", "The norm stands on the sublayer's output alone, and not on the sum.")
def post_norm_a(x, sublayer, norm):
    return x + norm(sublayer(x))


@wrong("post_norm", "Norm in front and behind: norm(x + sublayer(norm(x))).")
def post_norm_b(x, sublayer, norm):
    return norm(x + sublayer(norm(x)))


@wrong("dropout", "Divided by p in place of 1 − p; right for p = 0.5 only, and p = 0 gives inf.")
def dropout_a(x, p, keep, training):
    return x * keep / p if training else x


@wrong(
    "dropout",
    "Divided by the share that was kept by chance, not by 1 − p; if nothing is kept, 0 / 0.",
)
def dropout_b(x, p, keep, training):
    if not training:
        return x
    return x * keep / keep.float().mean()


@wrong("dropout", "The kept entries are not enlarged.")
def dropout_c(x, p, keep, training):
    return x.masked_fill(~keep, 0.0) if training else x


@wrong("sublayer_with_dropout", "Dropout on the sum: parts of the residual are dropped, too.")
def sublayer_with_dropout_a(x, sublayer, norm, dropout):
    return dropout(x + sublayer(norm(x)))


@wrong("sublayer_with_dropout", "Dropout on the sublayer's input in place of its output.")
def sublayer_with_dropout_b(x, sublayer, norm, dropout):
    return x + sublayer(dropout(norm(x)))


# ---- chapter 11
@wrong("feed_forward", "The activation behind the second layer, in place of between them.")
def feed_forward_a(x, w1, b1, w2, b2):
    return F.relu(F.linear(F.linear(x, w1, b1), w2, b2))


@wrong("feed_forward", "The first bias is added behind the ReLU; right while b1 is 0.")
def feed_forward_b(x, w1, b1, w2, b2):
    return (torch.relu(x @ w1.T) + b1) @ w2.T + b2


@wrong("feed_forward", "ReLU6: large activations, above 6, are cut.")
def feed_forward_c(x, w1, b1, w2, b2):
    return F.linear(F.relu6(F.linear(x, w1, b1)), w2, b2)


@wrong("group_sort", "All features of a position are sorted, not the pairs.")
def group_sort_a(x):
    return x.sort(dim=-1).values


@wrong(
    "group_sort",
    "Feature i is paired with i + D/2, not with its neighbour; right for two features only.",
)
def group_sort_b(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([torch.minimum(a, b), torch.maximum(a, b)], dim=-1)


@wrong(
    "group_sort",
    "The second line reads the name that the first has overwritten: a pair that stood the wrong way round becomes twice the smaller.",
)
def group_sort_c(x):
    a, b = x[..., 0::2], x[..., 1::2]
    a = torch.minimum(a, b)
    b = torch.maximum(a, b)
    return torch.stack([a, b], dim=-1).flatten(-2)


@wrong("group_sort", "Sorted along the pairs' axis in place of within a pair.")
def group_sort_d(x):
    return x.unflatten(-1, (-1, 2)).sort(dim=-2).values.flatten(-2)


# ---- chapters 12 to 14
@wrong("encoder_layer", "Only the query is normalised; key and value are the raw x.")
def encoder_layer_a(x, mask, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x), x, x, mask)
    return x + feed_forward(norm2(x))


@wrong(
    "encoder_layer",
    "The second residual starts from the layer's input, so that the attention reaches the output through the feed-forward network only.",
)
def encoder_layer_b(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    y = x + attention(n, n, n, mask)
    return x + feed_forward(norm2(y))


@wrong("encoder_layer", "norm1 is used twice; not seen while both norms are fresh.")
def encoder_layer_c(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    x = x + attention(n, n, n, mask)
    return x + feed_forward(norm1(x))


@wrong("encoder_layer", "The mask is not passed on: wrong for a batch with padding.")
def encoder_layer_d(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    x = x + attention(n, n, n, None)
    return x + feed_forward(norm2(x))


@wrong("encoder_layer", "The feed-forward network has no residual connection.")
def encoder_layer_e(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    h = x + attention(h, h, h, mask)
    return feed_forward(norm2(h))


@wrong(
    "decoder_layer",
    "The two masks are exchanged; where S = T and nothing is padded it runs, and the target sees its future.",
)
def decoder_layer_a(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, memory_mask)
    x = x + cross_attention(norms[1](x), memory, memory, target_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "The memory is normalised once more by the layer's norm.")
def decoder_layer_b(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    m = norms[1](memory)
    x = x + cross_attention(norms[1](x), m, m, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "Cross-attention asks with the memory: query and key are exchanged; (B, S, D) does not fit where S ≠ T.",
)
def decoder_layer_c(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    n = norms[1](x)
    x = x + cross_attention(memory, n, n, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "The memory mask is left out: padding of the source is read; right for unpadded sources.",
)
def decoder_layer_d(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    norm1, norm2, norm3 = norms
    n = norm1(x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(norm2(x), memory, memory, None)
    return x + feed_forward(norm3(x))


@wrong("decoder_layer", "Cross-attention comes first, then self-attention.")
def decoder_layer_e(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    x = x + cross_attention(norms[0](x), memory, memory, memory_mask)
    n = norms[1](x)
    x = x + self_attention(n, n, n, target_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "causal_self_attention",
    "The mask is applied in training only; in evaluation the model reads the future.",
)
def causal_self_attention_a(x, training):
    s = x @ x.mT / math.sqrt(x.size(-1))
    if training:
        T = x.size(1)
        s = s.masked_fill(~torch.ones(T, T, dtype=torch.bool).tril(), float("-inf"))
    return s.softmax(-1) @ x


@wrong("causal_self_attention", "Divided by the root of the length T in place of D.")
def causal_self_attention_b(x, training):
    T = x.size(1)
    s = x @ x.transpose(1, 2) / math.sqrt(T)
    s = s + torch.full((T, T), float("-inf")).triu(1)
    return s.softmax(-1) @ x


@wrong(
    "causal_self_attention", "tril on the scores puts 0 in place of −inf: the future keeps weight."
)
def causal_self_attention_c(x, training):
    s = torch.bmm(x, x.transpose(1, 2)) / x.size(-1) ** 0.5
    return s.tril().softmax(-1) @ x


@wrong("make_stack", "One layer, named n times: all share their weights.")
def make_stack_a(make_layer, n_layers):
    return nn.ModuleList([make_layer()] * n_layers)


@wrong("make_stack", "copy.copy is shallow: the copies share their parameters.")
def make_stack_b(make_layer, n_layers):
    first = make_layer()
    return [first] + [copy.copy(first) for _ in range(n_layers - 1)]


def _masks(source, target):
    T = target.size(1)
    s = (source != 0)[:, None, None]
    t = (target != 0)[:, None, None] & torch.ones(T, T, dtype=torch.bool).tril()
    return s, t


@wrong(
    "transformer_forward",
    "The decoder's memory mask is made from the target's padding, not the source's; fails or misleads where the two differ.",
)
def transformer_forward_a(source, target, embed_source, embed_target, encoder, decoder, output):
    s, t = _masks(source, target)
    memory = encoder(embed_source(source), s)
    memory_mask = (target != 0)[:, None, None]
    return output(decoder(embed_target(target), memory, t, memory_mask))


@wrong(
    "transformer_forward",
    "The decoder gets no memory mask: right only without padding in the source.",
)
def transformer_forward_b(source, target, embed_source, embed_target, encoder, decoder, output):
    s, t = _masks(source, target)
    return output(decoder(embed_target(target), encoder(embed_source(source), s), t, None))


@wrong(
    "transformer_forward",
    "The target is cut inside once more: it was shifted before the call, so the last row is lacking.",
)
def transformer_forward_c(source, target, embed_source, embed_target, encoder, decoder, output):
    target = target[:, :-1]
    s, t = _masks(source, target)
    return output(decoder(embed_target(target), encoder(embed_source(source), s), t, s))


@wrong(
    "transformer_forward",
    "The target mask hides padding only: each row sees the tokens it is to say.",
)
def transformer_forward_d(source, target, embed_source, embed_target, encoder, decoder, output):
    s = (source != 0)[:, None, None]
    t = (target != 0)[:, None, None]
    return output(decoder(embed_target(target), encoder(embed_source(source), s), t, s))


# ---- chapter 15
@wrong("cross_entropy", "Padding is set to zero but still counted: divided by B · T.")
def cross_entropy_a(logits, target):
    nll = -logits.log_softmax(-1).gather(-1, target[..., None])[..., 0]
    return (nll * (target != 0)).mean()


@wrong(
    "cross_entropy", "The mean of the sentences' means: wrong where the sentences differ in length."
)
def cross_entropy_b(logits, target):
    real = (target != 0).to(logits.dtype)
    nll = -logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    per = (nll * real).sum(1) / real.sum(1).clamp(min=1)
    return per.mean()


@wrong("cross_entropy", "log(p + 1e-9): a right token with p = 1e-20 costs 20.7 in place of 46.")
def cross_entropy_c(logits, target):
    p = logits.softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -torch.log(p + 1e-9)[target != 0].mean()


@wrong(
    "cross_entropy",
    "<eos> (2) and the other special tokens are left out, too: the model never learns to stop.",
)
def cross_entropy_d(logits, target):
    real = target > 3
    nll = -logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return nll[real].sum() / real.sum().clamp(min=1)


@wrong("cross_entropy", "log_softmax over axis 1, the positions, in place of the vocabulary.")
def cross_entropy_e(logits, target):
    real = target.ne(0)
    nll = -F.log_softmax(logits, dim=1).gather(2, target[:, :, None])[:, :, 0]
    return nll[real].mean()


@wrong("label_smoothed_loss", "Mean in place of sum, and then divided by V once more.")
def label_smoothed_loss_a(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    nll = -lp.gather(-1, target[..., None])[..., 0]
    loss = (1 - smoothing) * nll + smoothing / logits.size(-1) * -lp.mean(-1)
    return loss[target != 0].mean()


@wrong(
    "label_smoothed_loss",
    "The share for padding, token 0, is left out of the sum over the vocabulary.",
)
def label_smoothed_loss_b(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    V = lp.size(-1)
    q = torch.full_like(lp, smoothing / V)
    q = q.scatter_add(-1, target[..., None], torch.full_like(lp[..., :1], 1 - smoothing))
    q[..., 0] = 0
    return -(q * lp).sum(-1)[target != 0].mean()


@wrong("label_smoothed_loss", "ε is written in as 0.1; the argument is not used.")
def label_smoothed_loss_c(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    real = target != 0
    nll = -lp.gather(-1, target[..., None])[..., 0][real]
    return (0.9 * nll - 0.1 * lp.mean(-1)[real]).mean()


@wrong(
    "label_smoothed_loss",
    "Padding is taken out of the first part only; the smoothed part is averaged over all places.",
)
def label_smoothed_loss_d(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    nll = -lp.gather(-1, target[..., None])[..., 0]
    return (1 - smoothing) * nll[target != 0].mean() + smoothing * -lp.mean(-1).mean()


@wrong("perplexity", "Each batch counts alike; the last, small one weighs too much.")
def perplexity_a(losses, counts):
    return math.exp(sum(losses) / len(losses))


@wrong(
    "perplexity",
    "exp first, then the weighted mean: the mean of perplexities is not the perplexity.",
)
def perplexity_b(losses, counts):
    return sum(math.exp(l) * c for l, c in zip(losses, counts)) / sum(counts)


@wrong("inverse_sqrt_schedule", "max in place of min.")
def inverse_sqrt_schedule_a(update, d_model, warmup):
    return d_model**-0.5 * max(update**-0.5, update * warmup**-1.5)


@wrong(
    "inverse_sqrt_schedule", "Updates are taken to count from 0, so every rate is the next one's."
)
def inverse_sqrt_schedule_b(update, d_model, warmup):
    n = update + 1
    return d_model**-0.5 * min(n**-0.5, n * warmup**-1.5)


@wrong(
    "inverse_sqrt_schedule",
    "The brackets: D^(−1/2) stands inside min, with the decay alone; the warm-up is too steep.",
)
def inverse_sqrt_schedule_c(update, d_model, warmup):
    return min(d_model**-0.5 * update**-0.5, update * warmup**-1.5)


@wrong(
    "inverse_sqrt_schedule",
    "Behind the warm-up the rate starts afresh, with n − warmup; wrong for n > warmup.",
)
def inverse_sqrt_schedule_d(update, d_model, warmup):
    if update <= warmup:
        return d_model**-0.5 * update * warmup**-1.5
    return d_model**-0.5 * (update - warmup) ** -0.5


@wrong(
    "clip_gradients",
    "Each tensor is clipped by itself, so the direction changes; right for one tensor.",
)
def clip_gradients_a(gradients, limit):
    return [g * min(1.0, limit / max(g.norm().item(), 1e-12)) for g in gradients]


@wrong("clip_gradients", "Short gradients are made longer: the 'if above limit' is missing.")
def clip_gradients_b(gradients, limit):
    n = torch.sqrt(sum((g**2).sum() for g in gradients))
    return [g * (limit / (n + 1e-12)) for g in gradients]


@wrong("clip_gradients", "The gradients that came in are scaled in place.")
def clip_gradients_c(gradients, limit):
    n = math.sqrt(sum(float(g.pow(2).sum()) for g in gradients))
    if n > limit:
        for g in gradients:
            g.mul_(limit / n)
    return gradients


@wrong("clip_gradients", "Every number is cut at the limit, which turns the direction.")
def clip_gradients_d(gradients, limit):
    return [g.clamp(-limit, limit) for g in gradients]


@wrong("clip_gradients", "The root is forgotten: the squared length is compared and divided by.")
def clip_gradients_e(gradients, limit):
    total = sum(g.square().sum() for g in gradients)
    return (
        [g * limit / total for g in gradients] if total > limit else [g.clone() for g in gradients]
    )


# ---- chapter 16
@wrong(
    "training_update",
    "The gradients are never set to zero: the second update adds the first one's.",
)
def training_update_a(model, optimizer, compute_loss):
    compute_loss().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@wrong("training_update", "Clipped behind the step: too late.")
def training_update_b(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@wrong("training_update", "clip_grad_norm_ once for each parameter: not a common length.")
def training_update_c(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    for p in model.parameters():
        nn.utils.clip_grad_norm_(p, 1.0)
    optimizer.step()


@wrong("accumulated_update", "The parts' gradients are summed and not divided by their number.")
def accumulated_update_a(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        compute_loss(part).backward()
    optimizer.step()
    scheduler.step()


@wrong("accumulated_update", "zero_grad stands in the loop: only the last part counts.")
def accumulated_update_b(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        optimizer.zero_grad()
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()
    scheduler.step()


@wrong("accumulated_update", "The schedule moves on with every part.")
def accumulated_update_c(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
        scheduler.step()
    optimizer.step()


@wrong("best_checkpoint", "Each batch counts alike, whatever its number of tokens.")
def best_checkpoint_a(checkpoints, batches, loss_of):
    means = [sum(loss_of(c, b) for b in batches) / len(batches) for c in checkpoints]
    return means.index(min(means))


@wrong(
    "best_checkpoint",
    "Stops at the first checkpoint that is worse than the one before: a later, better one is never seen.",
)
def best_checkpoint_b(checkpoints, batches, loss_of):
    best = None
    for i, c in enumerate(checkpoints):
        loss = sum(float(loss_of(c, b)) * len(b) for b in batches)
        if best is not None and loss > best:
            return i - 1
        best = loss
    return len(checkpoints) - 1


@wrong(
    "average_checkpoints",
    "Averaged one after the other, (mean + next) / 2: the last weighs half; right for two.",
)
def average_checkpoints_a(checkpoints):
    mean = {k: v.clone() for k, v in checkpoints[0].items()}
    for c in checkpoints[1:]:
        mean = {k: (mean[k] + c[k]) / 2 for k in mean}
    return mean


@wrong(
    "average_checkpoints", "The sum is collected in the first checkpoint itself, which is changed."
)
def average_checkpoints_b(checkpoints):
    total = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k in total:
            total[k] += c[k]
    return {k: v / len(checkpoints) for k, v in total.items()}


# ---- chapter 17
@wrong("next_token", "The first position's logits in place of the last one's; right for one token.")
def next_token_a(logits):
    return logits[:, 0].argmax(-1)


@wrong("next_token", "The dimension is kept: (B, 1).")
def next_token_b(logits):
    return logits[:, -1].argmax(dim=-1, keepdim=True)


@wrong("temperature_probabilities", "Multiplied by the temperature: hot becomes cold.")
def temperature_probabilities_a(logits, temperature):
    return (logits * temperature).softmax(-1)


@wrong(
    "temperature_probabilities",
    "exp without taking off the largest: a temperature of 0.01 overflows to inf / inf.",
)
def temperature_probabilities_b(logits, temperature):
    e = torch.exp(logits / temperature)
    return e / e.sum(-1, keepdim=True)


@wrong(
    "top_k_probabilities",
    "The rest is set to zero behind the softmax and not brought to a sum of one.",
)
def top_k_probabilities_a(logits, k):
    p = logits.softmax(-1)
    return p * (p >= p.topk(k).values[:, -1:])


@wrong(
    "top_k_probabilities",
    "'Larger than number k + 1', with the index held inside the vocabulary: where k = V the least likely token falls away.",
)
def top_k_probabilities_b(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    limit = ordered[:, min(k, logits.size(-1) - 1)].unsqueeze(-1)
    return logits.masked_fill(logits <= limit, -torch.inf).softmax(-1)


@wrong(
    "top_k_probabilities",
    "The whole batch's k-th largest is the limit of each sentence; right for B = 1.",
)
def top_k_probabilities_c(logits, k):
    limit = logits.flatten().topk(k).values[-1]
    keep = logits >= torch.minimum(limit, logits.amax(-1, keepdim=True))
    return logits.masked_fill(~keep, -torch.inf).softmax(-1)


@wrong("greedy_search", "max_length counts <sos>, so the search is one token short.")
def greedy_search_a(step, max_length):
    tokens = [1]
    while len(tokens) < max_length:
        n = step(torch.tensor([tokens])).argmax(-1).item()
        if n == 2:
            break
        tokens.append(n)
    return tokens[1:]


@wrong("greedy_search", "One step too many: max_length + 1 tokens if no <eos> comes.")
def greedy_search_b(step, max_length):
    tokens = torch.tensor([[1]])
    while tokens.size(1) - 1 <= max_length:
        n = step(tokens).argmax(-1, keepdim=True)
        if n.item() == 2:
            break
        tokens = torch.cat([tokens, n], 1)
    return tokens[0, 1:].tolist()


@wrong(
    "greedy_search",
    "All ids below 4 are filtered out as special: an <unk> (3) in the translation is lost.",
)
def greedy_search_c(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        tokens.append(int(step(torch.tensor([tokens])).argmax()))
        if tokens[-1] == 2:
            break
    return [t for t in tokens if t > 3]


@wrong(
    "greedy_search",
    "The list is a default argument: the second call goes on where the first one ended.",
)
def greedy_search_d(step, max_length, tokens=[1]):
    for _ in range(max_length):
        n = step(torch.tensor([tokens])).argmax(-1).item()
        if n == 2:
            break
        tokens.append(n)
    return [t for t in tokens if t != 1]


@wrong("greedy_search", "The model is shown the last token only.")
def greedy_search_e(step, max_length):
    out, last = [], 1
    while len(out) < max_length:
        last = step(torch.tensor([[last]])).argmax(-1).item()
        if last == 2:
            return out
        out.append(last)
    return out


@wrong("greedy_batch", "Stops as soon as one sentence has ended: the others are cut.")
def greedy_batch_a(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        n = step(tokens).argmax(-1)
        tokens = torch.cat([tokens, n[:, None]], 1)
        if (n == 2).any():
            break
    return tokens[:, 1:]


@wrong("greedy_batch", "Ended sentences go on talking: no padding behind <eos>.")
def greedy_batch_b(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        n = step(tokens).argmax(-1)
        tokens = torch.cat([tokens, n[:, None]], 1)
        done |= n == 2
        if done.all():
            break
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "'finished' is overwritten by each step: the place behind <eos> is padding, and then the sentence wakes up again; seen only when another goes on for two tokens or more.",
)
def greedy_batch_c(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    finished = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        n = step(tokens).argmax(-1).masked_fill(finished, 0)
        tokens = torch.cat([tokens, n.unsqueeze(1)], 1)
        finished = n == 2
        if finished.all():
            break
    return tokens[:, 1:]


@wrong(
    "greedy_batch", "The flag is set before the token is written, so <eos> itself turns to padding."
)
def greedy_batch_d(step, n_sentences, max_length):
    out = []
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    finished = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        n = step(tokens).argmax(-1)
        finished = finished | (n == 2)
        n = torch.where(finished, 0, n)
        tokens = torch.cat([tokens, n.unsqueeze(1)], 1)
        if finished.all():
            break
    return tokens[:, 1:]


def _beam(
    step,
    beam_size,
    max_length,
    eos_score=True,
    rank=lambda s, n: s,
    stop=None,
    steps=None,
    unfinished=True,
    free=False,
    copies=1,
):
    living, done = [(0.0, [1])] * copies, []
    for _ in range(max_length if steps is None else steps):
        lp = step(torch.tensor([t for _, t in living])).tolist()
        everything = [
            (s + l, t + [v]) for (s, t), row in zip(living, lp) for v, l in enumerate(row)
        ]
        everything.sort(key=lambda h: -h[0])
        if free:
            done += [h for h in everything if h[1][-1] == 2][:beam_size]
            living = [h for h in everything if h[1][-1] != 2][:beam_size]
        else:
            kept = everything[:beam_size]
            if eos_score:
                done += [h for h in kept if h[1][-1] == 2]
            else:
                before = {tuple(t): s for s, t in living}
                done += [(before[tuple(t[:-1])], t) for s, t in kept if t[-1] == 2]
            living = [h for h in kept if h[1][-1] != 2]
        if not living or (stop and stop(done)):
            break
    pool = done + living if unfinished or not done else done
    best = max(pool, key=lambda h: rank(h[0], len(h[1]) - 1))[1][1:]
    return best[:-1] if best and best[-1] == 2 else best


@wrong(
    "beam_search",
    "Ranked by the score per token: the docstring asks for the plain sum, which likes shorter ones.",
)
def beam_search_a(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, rank=lambda s, n: s / n)


@wrong(
    "beam_search",
    "Stops at the first finished hypothesis: a likelier one that ends later is not found.",
)
def beam_search_b(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, stop=lambda done: len(done) > 0)


@wrong("beam_search", "The log-probability of <eos> is not added to the sum.")
def beam_search_c(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, eos_score=False)


@wrong(
    "beam_search",
    "Starts with beam_size copies of <sos>: all beams stay equal, and the search is greedy.",
)
def beam_search_d(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, copies=beam_size)


@wrong("beam_search", "One step short: a hypothesis of max_length tokens is never made.")
def beam_search_e(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, steps=max_length - 1)


@wrong(
    "beam_search",
    "Hypotheses that reach max_length unfinished are thrown away as soon as anything has ended, however unlikely.",
)
def beam_search_f(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, unfinished=False)


@wrong(
    "beam_search",
    "Each living hypothesis keeps its own best continuation (argmax for each row); the beams do not compete.",
)
def beam_search_g(step, beam_size, max_length):
    lp = step(torch.tensor([[1]]))[0]
    s, first = lp.topk(min(beam_size, lp.numel()))
    pool = [(a.item(), [1, v.item()]) for a, v in zip(s, first)]
    for _ in range(max_length - 1):
        pool = [
            (sc, t)
            if t[-1] == 2
            else (lambda r: (sc + r.max().item(), t + [r.argmax().item()]))(
                step(torch.tensor([t]))[0]
            )
            for sc, t in pool
        ]
    return [v for v in max(pool, key=lambda h: h[0])[1] if v not in (1, 2)]


@wrong(
    "beam_search",
    "topk(beam_size) over the continuations: fails at the first step when beam_size is larger than the vocabulary.",
)
def beam_search_h(step, beam_size, max_length):
    tokens, scores, best = torch.tensor([[1]]), torch.zeros(1), (-math.inf, [])
    for _ in range(max_length):
        total = scores[:, None] + step(tokens)
        V = total.size(1)
        scores, flat = total.flatten().topk(beam_size)
        tokens = torch.cat([tokens[flat // V], (flat % V)[:, None]], 1)
        end = tokens[:, -1] == 2
        for s, t in zip(scores[end].tolist(), tokens[end].tolist()):
            best = max(best, (s, t[1:-1]))
        tokens, scores = tokens[~end], scores[~end]
        if len(tokens) == 0:
            return best[1]
    return max([best] + [(s, t[1:]) for s, t in zip(scores.tolist(), tokens.tolist())])[1]


@wrong("embed_next", "The positions start at 0 again: what stands in the cache is forgotten.")
def embed_next_a(tokens, past, weight, table):
    return weight[tokens] + table[: tokens.size(1)]


@wrong("embed_next", "One row, table[past], for all new tokens; right for one new token.")
def embed_next_b(tokens, past, weight, table):
    return F.embedding(tokens, weight) + table[past]


@wrong("reorder_cache", "Only the keys are reordered; the values stay with the old beams.")
def reorder_cache_a(cache, rows):
    return [(k[rows], v) for k, v in cache]


@wrong(
    "reorder_cache",
    "The wrong way round: row i goes to rows[i] in place of coming from there; equal for a mere exchange of two.",
)
def reorder_cache_b(cache, rows):
    out = []
    for k, v in cache:
        k2, v2 = k.clone(), v.clone()
        k2[rows], v2[rows] = k, v
        out.append((k2, v2))
    return out


@wrong(
    "reorder_cache",
    "The rows are overwritten one after the other, so a row that is needed later has been replaced: [1, 0] gives [1, 1].",
)
def reorder_cache_c(cache, rows):
    out = []
    for k, v in cache:
        k, v = k.clone(), v.clone()
        for i, r in enumerate(rows):
            k[i], v[i] = k[int(r)].clone(), v[int(r)].clone()
        out.append((k, v))
    return out


@wrong("length_normalised", "length · α in place of length to the power α; equal for α = 1.")
def length_normalised_a(score, length, alpha):
    return score / (length * alpha) if alpha else score


@wrong(
    "length_normalised",
    "'alpha or 0.6': an α of 0, which means no normalising, turns to the default.",
)
def length_normalised_b(score, length, alpha):
    return score / length ** (alpha or 0.6)


@wrong(
    "cut_at_end",
    "If <eos> is the first token, index 0 is taken for 'not found' and everything comes back.",
)
def cut_at_end_a(ids):
    end = ids.index(2) if 2 in ids else 0
    return ids[:end] if end else list(ids)


@wrong("cut_at_end", "The last token falls away if there is no <eos>: the search gives −1.")
def cut_at_end_b(ids):
    end = next((i for i, t in enumerate(ids) if t == 2), -1)
    return list(ids[:end])


@wrong("cut_at_end", "Every <eos> is filtered out, and what comes behind the first one stays.")
def cut_at_end_c(ids):
    return [t for t in ids if t != 2]
