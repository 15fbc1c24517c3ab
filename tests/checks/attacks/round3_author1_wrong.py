"""Round 3, author 1: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right
import math
from collections import Counter
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


@wrong(
    "number_of_targets",
    "Base and exponent are swapped: length ** vocab_size; wrong whenever the two differ, but for (2, 4) and (4, 2).",
)
def number_of_targets_a(vocab_size, length):
    return length**vocab_size


@wrong(
    "number_of_targets",
    "A float power overflows or loses digits: wrong for large results such as 37000 ** 100 (raises OverflowError).",
)
def number_of_targets_b(vocab_size, length):
    return int(math.pow(vocab_size, length))


@wrong(
    "build_vocabulary",
    "Comparison: > in place of >=; words that come exactly min_frequency times are lost.",
)
def build_vocabulary_a(sentences, min_frequency):
    c = Counter(w for s in sentences for w in s)
    v = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for w, n in c.items():
        if n > min_frequency:
            v[w] = len(v)
    return v


@wrong(
    "build_vocabulary",
    "The id comes from the loop counter over all words, so that rare words leave gaps in the ids.",
)
def build_vocabulary_b(sentences, min_frequency):
    c = Counter(w for s in sentences for w in s)
    v = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for i, (w, n) in enumerate(c.items()):
        if n >= min_frequency:
            v[w] = i + 4
    return v


@wrong(
    "build_vocabulary",
    "Counts in how many sentences a word comes (set), not how often: wrong if a word comes twice in one sentence.",
)
def build_vocabulary_c(sentences, min_frequency):
    c = Counter()
    for s in sentences:
        c.update(set(s))
    v = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for w in sorted(c):
        if c[w] >= min_frequency:
            v[w] = len(v)
    return v


@wrong("encode", "`or 3` turns the id 0 into <unk>: wrong for the token '<pad>' among the tokens.")
def encode_a(tokens, vocabulary):
    return [vocabulary.get(t) or 3 for t in tokens] + [2]


@wrong(
    "encode", "<eos> is added in the loop's last turn, so that an empty list of tokens gets none."
)
def encode_b(tokens, vocabulary):
    out = []
    for i in range(len(tokens)):
        out.append(vocabulary.get(tokens[i], 3))
        if i == len(tokens) - 1:
            out.append(2)
    return out


@wrong(
    "text_to_ids",
    "Splits at blanks in place of calling the tokenizer: wrong for a tokenizer that cuts punctuation or letters.",
)
def text_to_ids_a(text, tokenize, vocabulary):
    return [vocabulary.get(t, 3) for t in text.split()] + [2]


@wrong(
    "text_to_ids",
    "Lowercases the text first: wrong if the tokenizer and the dictionary keep capitals.",
)
def text_to_ids_b(text, tokenize, vocabulary):
    return [vocabulary.get(t, 3) for t in tokenize(text.lower())] + [2]


@wrong(
    "training_words",
    "Validation sentences are counted too; wrong if a word becomes frequent enough only through them.",
)
def training_words_a(splits, min_frequency):
    c = Counter(w for k in ("train", "validation") for s in splits[k] for w in s)
    return {w for w in c if c[w] >= min_frequency}


@wrong(
    "training_words",
    "Off by one: > in place of >=; words that come exactly min_frequency times are left out.",
)
def training_words_b(splits, min_frequency):
    c = Counter()
    for s in splits["train"]:
        for w in s:
            c[w] += 1
    return [w for w, n in c.items() if n > min_frequency]


@wrong("collate", "The width is the length of the first row: a later longer row is cut off.")
def collate_a(rows):
    S = len(rows[0])
    out = torch.zeros(len(rows), S, dtype=torch.long)
    for i, r in enumerate(rows):
        for j in range(min(S, len(r))):
            out[i, j] = r[j]
    return out


@wrong("collate", "torch.zeros without a dtype: floating-point numbers in place of whole ones.")
def collate_b(rows):
    out = torch.zeros(len(rows), max(map(len, rows)))
    for i, r in enumerate(rows):
        out[i, : len(r)] = torch.tensor(r)
    return out


@wrong("collate", "One column too many: max + 1, every batch has a useless column of padding.")
def collate_c(rows):
    S = max(len(r) for r in rows) + 1
    return torch.tensor([r + [0] * (S - len(r)) for r in rows])


@wrong("shift", "Input and expected output are returned the wrong way round.")
def shift_a(target):
    return target[:, 1:], target[:, :-1]


@wrong("shift", "Slices the batch axis in place of the positions: wrong shapes for every batch.")
def shift_b(target):
    return target[:-1], target[1:]


@wrong("embedding", "The root is missing: multiplied by D itself; wrong for every D > 1.")
def embedding_a(tokens, weight):
    return weight[tokens] * weight.shape[1]


@wrong("embedding", "Takes the root of V (shape[0]) in place of D: right only if V = D.")
def embedding_b(tokens, weight):
    return weight[tokens] * math.sqrt(weight.shape[0])


@wrong(
    "embedding",
    "padding_idx=0 cuts the gradient of row 0: values right, gradient wrong as soon as a token is 0.",
)
def embedding_c(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * weight.size(-1) ** 0.5


@wrong(
    "tied_logits",
    "Forgotten transpose: x @ weight; it raises if V is not D, and gives wrong numbers for V = D.",
)
def tied_logits_a(x, weight):
    return (
        x @ weight
        if weight.shape[0] == weight.shape[1]
        else x @ weight.reshape(weight.shape[1], weight.shape[0])
    )


@wrong(
    "tied_logits",
    "Divides by the root of D, as attention does, though plain dot products are asked for; wrong for D > 1.",
)
def tied_logits_b(x, weight):
    return torch.einsum("btd,vd->btv", x, weight) / math.sqrt(x.shape[-1])


@wrong("sinusoids", "The exponent is i/D in place of 2i/D; wrong from the column 2 on.")
def sinusoids_a(length, d_model):
    p = torch.arange(length).float()[:, None]
    i = torch.arange(d_model // 2).float()
    a = p / 10000 ** (i / d_model)
    out = torch.zeros(length, d_model)
    out[:, 0::2] = torch.sin(a)
    out[:, 1::2] = torch.cos(a)
    return out


@wrong("sinusoids", "Positions count from 1.")
def sinusoids_b(length, d_model):
    out = torch.zeros(length, d_model)
    for p in range(length):
        for i in range(d_model // 2):
            a = (p + 1) / 10000 ** (2 * i / d_model)
            out[p, 2 * i] = math.sin(a)
            out[p, 2 * i + 1] = math.cos(a)
    return out


@wrong(
    "sinusoids",
    "The odd columns use their own number as exponent, 10000^((2i+1)/D), so sine and cosine of a pair have different frequencies.",
)
def sinusoids_c(length, d_model):
    p = torch.arange(length).float().unsqueeze(1)
    a = p / 10000 ** (torch.arange(d_model).float() / d_model)
    out = torch.sin(a)
    out[:, 1::2] = torch.cos(a[:, 1::2])
    return out


@wrong(
    "add_positions",
    "Adds the last T rows of the table: right only if the table has exactly T rows.",
)
def add_positions_a(x, table):
    return x + table[-x.shape[1] :]


@wrong(
    "add_positions",
    "Takes as many rows as there are sentences and adds row b to every position of sentence b: the wrong axis.",
)
def add_positions_b(x, table):
    return x + table[: x.shape[0]].unsqueeze(1)


@wrong("softmax", "exp without subtracting the maximum: nan for large scores such as 1000.")
def softmax_a(scores):
    e = torch.exp(scores)
    return e / e.sum(-1, keepdim=True)


@wrong("softmax", "dim=1 in the sum in place of -1: wrong for inputs of three axes or more.")
def softmax_b(scores):
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e / e.sum(dim=1 if scores.dim() > 1 else 0, keepdim=True)


@wrong(
    "softmax",
    "The maximum over the whole tensor is subtracted: rows far below another row underflow to 0/0 = nan.",
)
def softmax_c(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum(-1, keepdim=True)


@wrong("softmax", "The scores are clamped to ±50, wrong if scores lie beyond, such as 60 and 80.")
def softmax_d(scores):
    e = torch.exp(torch.clamp(scores.double(), -50, 50))
    return (e / e.sum(-1, keepdim=True)).to(scores.dtype)


def _attend(q, k, v, mask, scale):
    s = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
        w = torch.softmax(s.masked_fill(~mask.any(-1, keepdim=True), 0.0), -1)
        w = w * mask
    else:
        w = torch.softmax(s, -1)
    return w @ v


@wrong(
    "scaled_dot_product_attention",
    "Scores are divided by the width itself, the square root is forgotten.",
)
def sdpa_a(query, key, value, mask=None):
    return _attend(query, key, value, mask, key.shape[-1])


@wrong(
    "scaled_dot_product_attention",
    "Divided by the root of the values' width: wrong if keys and values differ in width.",
)
def sdpa_b(query, key, value, mask=None):
    return _attend(query, key, value, mask, math.sqrt(value.shape[-1]))


@wrong("scaled_dot_product_attention", "Softmax over the queries (dim=-2) in place of the keys.")
def sdpa_c(query, key, value, mask=None):
    s = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is not None:
        s = s.masked_fill(~mask, -1e9)
    w = torch.softmax(s, dim=-2)
    if mask is not None:
        w = w * mask
    return w @ value


@wrong(
    "scaled_dot_product_attention",
    "A query that may attend to nothing gets the mean of all values (-1e9 everywhere), not zeros.",
)
def sdpa_d(query, key, value, mask=None):
    s = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(mask == False, -1e9)
    return torch.softmax(s, -1) @ value


@wrong(
    "scaled_dot_product_attention",
    "The root of the number of keys, key.shape[-2], in place of their width: wrong if S is not K.",
)
def sdpa_e(query, key, value, mask=None):
    return _attend(query, key, value, mask, key.shape[-2] ** 0.5)


@wrong(
    "scaled_dot_product_attention",
    "The mask is multiplied onto the weights after the softmax, which no longer sum to one; wrong whenever something is hidden.",
)
def sdpa_f(query, key, value, mask=None):
    w = torch.softmax(query @ key.transpose(-1, -2) / math.sqrt(key.size(-1)), -1)
    if mask is not None:
        w = w * mask
    return w @ value


@wrong(
    "scaled_dot_product_attention",
    "Masking with -1e2 is no full hiding: with large scores hidden keys leak in (scores differ by hundreds).",
)
def sdpa_g(query, key, value, mask=None):
    s = query @ key.transpose(-1, -2) / math.sqrt(key.size(-1))
    if mask is None:
        return torch.softmax(s, -1) @ value
    w = torch.softmax(torch.where(mask, s, torch.full_like(s, -100.0)), -1)
    return (w @ value) * mask.any(-1, keepdim=True)


@wrong("padding_mask", "The wrong way round: True where padding is.")
def padding_mask_a(tokens):
    return (tokens == 0)[:, None, None, :]


@wrong("padding_mask", "tokens > 1: <sos> is taken for padding; wrong if a token is 1.")
def padding_mask_b(tokens):
    return (tokens > 1).unsqueeze(1).unsqueeze(2)


@wrong(
    "padding_mask",
    "The axis is put at the end: (B, 1, S, 1) hides queries in place of keys; wrong shape unless S = 1.",
)
def padding_mask_c(tokens):
    return (tokens != 0)[:, None, :, None]


@wrong(
    "padding_mask",
    "Everything behind the first 0 counts as padding: wrong if a 0 stands in front or in the middle.",
)
def padding_mask_d(tokens):
    return (tokens != 0).long().cumprod(-1).bool()[:, None, None]


@wrong("causal_mask", "Strict comparison: the diagonal is hidden, a token cannot see itself.")
def causal_mask_a(length):
    i = torch.arange(length)
    return i[:, None] > i[None, :]


@wrong(
    "causal_mask",
    "Dropped transpose: triu in place of tril, so that each position sees the future; right only for length 1.",
)
def causal_mask_b(length):
    return torch.ones(length, length).triu().bool()


@wrong("causal_mask", "Off by one in the loop: the last row stays False.")
def causal_mask_c(length):
    m = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length - 1):
        m[i, : i + 1] = True
    return m


@wrong(
    "target_mask",
    "or in place of and: padding before a position may be attended to, and so may the future.",
)
def target_mask_a(tokens):
    T = tokens.shape[1]
    c = torch.ones(T, T).tril().bool()
    return c | (tokens != 0)[:, None, None, :]


@wrong(
    "target_mask",
    "The padding is hidden along the query axis: wrong where padding stands in front or in the middle, or behind.",
)
def target_mask_b(tokens):
    T = tokens.shape[1]
    c = torch.ones(T, T).tril().bool()
    return c & (tokens != 0)[:, None, :, None]


@wrong(
    "target_mask",
    "Only the first sentence's padding is used for all: right only if all sentences are padded alike.",
)
def target_mask_c(tokens):
    B, T = tokens.shape
    c = torch.ones(T, T).tril().bool()
    m = c & (tokens[0] != 0)
    return m.expand(B, 1, T, T).clone()


@wrong(
    "target_mask",
    "The diagonal is set to True again 'against nan': wrong at padding positions, which may not attend to themselves.",
)
def target_mask_d(tokens):
    T = tokens.shape[1]
    c = torch.ones(T, T).tril().bool()
    return (c & (tokens != 0)[:, None, None, :]) | torch.eye(T).bool()


@wrong(
    "split_heads",
    "Plain view to (B, H, T, K) without transposing: tears positions and features apart; right only for T = 1 or H = 1.",
)
def split_heads_a(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)


@wrong("split_heads", "n_heads and the width of a head are swapped: right only if H = K.")
def split_heads_b(x, n_heads):
    B, T, D = x.shape
    return x.view(B, T, D // n_heads, n_heads).permute(0, 2, 1, 3)


@wrong(
    "merge_heads",
    "The transpose is forgotten: reshape straight from (B, H, T, K); right only for T = 1 or H = 1.",
)
def merge_heads_a(heads):
    B, H, T, K = heads.shape
    return heads.reshape(B, T, H * K)


@wrong("merge_heads", "Averages over the heads and repeats, in place of laying them side by side.")
def merge_heads_b(heads):
    H = heads.shape[1]
    return heads.mean(dim=1).repeat(1, 1, H)


def _split(x, h):
    B, T, D = x.shape
    return x.reshape(B, T, h, D // h).transpose(1, 2)


def _merge(x):
    return x.transpose(1, 2).flatten(2)


@wrong(
    "multi_head_attention",
    "Divided by the root of D in place of the root of the head's width: right only for one head.",
)
def mha_a(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _split(query @ w_query.T, n_heads),
        _split(key @ w_key.T, n_heads),
        _split(value @ w_value.T, n_heads),
    )
    return _merge(_attend(q, k, v, mask, math.sqrt(query.shape[-1]))) @ w_output.T


@wrong(
    "multi_head_attention",
    "Swapped arguments: the value projection is applied to key in place of value; right only if key is value.",
)
def mha_b(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _split(query @ w_query.T, n_heads),
        _split(key @ w_key.T, n_heads),
        _split(key @ w_value.T, n_heads),
    )
    return _merge(_attend(q, k, v, mask, math.sqrt(q.shape[-1]))) @ w_output.T


@wrong(
    "multi_head_attention",
    "The transpose of w_output alone is dropped (the other three weights are transposed).",
)
def mha_c(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _split(query @ w_query.T, n_heads),
        _split(key @ w_key.T, n_heads),
        _split(value @ w_value.T, n_heads),
    )
    return _merge(_attend(q, k, v, mask, math.sqrt(q.shape[-1]))) @ w_output


@wrong("multi_head_attention", "The output projection is forgotten.")
def mha_d(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _split(query @ w_query.T, n_heads),
        _split(key @ w_key.T, n_heads),
        _split(value @ w_value.T, n_heads),
    )
    return _merge(_attend(q, k, v, mask, math.sqrt(q.shape[-1])))


@wrong(
    "multi_head_attention",
    "The keys' length is taken from the query's reshape, so heads are mixed if S is not T: keys are split with view(B, H, S, K).",
)
def mha_e(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    S, K = key.shape[1], D // n_heads
    q = _split(query @ w_query.T, n_heads)
    if S == T:
        k, v = _split(key @ w_key.T, n_heads), _split(value @ w_value.T, n_heads)
    else:
        k, v = (
            (key @ w_key.T).reshape(B, n_heads, S, K),
            (value @ w_value.T).reshape(B, n_heads, S, K),
        )
    return _merge(_attend(q, k, v, mask, math.sqrt(K))) @ w_output.T


@wrong("layer_norm", "Mean and variance over dim=1 (the positions) in place of the features.")
def layer_norm_a(x, weight, bias, eps=1e-5):
    m = x.mean(dim=1, keepdim=True)
    v = x.var(dim=1, keepdim=True, unbiased=False)
    return (x - m) / torch.sqrt(v + eps) * weight + bias


@wrong("layer_norm", "The square root is forgotten: divided by the variance.")
def layer_norm_b(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    v = ((x - m) ** 2).mean(-1, keepdim=True)
    return (x - m) / (v + eps) * weight + bias


@wrong(
    "layer_norm",
    "torch.var with its default divides by D − 1: the variance is not 1; seen on small D.",
)
def layer_norm_c(x, weight, bias, eps=1e-5):
    return (x - x.mean(-1, keepdim=True)) / torch.sqrt(
        x.var(-1, keepdim=True) + eps
    ) * weight + bias


@wrong(
    "layer_norm",
    "The variance is taken from the square x² without subtracting the mean: right only for mean 0.",
)
def layer_norm_d(x, weight, bias, eps=1e-5):
    c = x - x.mean(-1, keepdim=True)
    return c / torch.sqrt((x**2).mean(-1, keepdim=True) + eps) * weight + bias


@wrong(
    "layer_norm",
    "eps is written as the constant 1e-5 and the argument ignored: wrong for eps = 0.1 or for another eps at small variance.",
)
def layer_norm_e(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    v = ((x - m) ** 2).mean(-1, keepdim=True)
    return (x - m) / torch.sqrt(v + 1e-5) * weight + bias


@wrong(
    "layer_norm", "Mean and standard deviation are detached: values right, gradient for x wrong."
)
def layer_norm_f(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True).detach()
    s = torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + eps).detach()
    return (x - m) / s * weight + bias


@wrong("layer_norm_parameters", "Swapped: weight zeros and bias ones.")
def layer_norm_parameters_a(d_model):
    return torch.zeros(d_model), torch.ones(d_model)


@wrong("pre_norm", "The residual branch carries norm(x) in place of x.")
def pre_norm_a(x, sublayer, norm):
    x = norm(x)
    return x + sublayer(x)


@wrong("post_norm", "Only the sublayer's output is normed: x + norm(sublayer(x)).")
def post_norm_a(x, sublayer, norm):
    return x + norm(sublayer(x))


@wrong(
    "dropout", "Divided by p in place of 1 − p; wrong unless p = 0.5, and p = 0 divides by nothing."
)
def dropout_a(x, p, keep, training):
    if not training or p == 0:
        return x
    return x * keep / p


@wrong("dropout", "Multiplied with 1 − p in place of divided, in training; wrong for p > 0.")
def dropout_b(x, p, keep, training):
    return torch.where(keep, x, torch.zeros_like(x)) * (1 - p) if training else x


@wrong(
    "dropout",
    "The keep rate is measured from the mask (keep.mean()) in place of 1 − p: wrong when the drawn fraction differs from p.",
)
def dropout_c(x, p, keep, training):
    if training:
        return x * keep / keep.float().mean()
    return x


@wrong("sublayer_with_dropout", "Dropout on the whole sum, the residual branch included.")
def sublayer_with_dropout_a(x, sublayer, norm, dropout):
    return dropout(x + sublayer(norm(x)))


@wrong("sublayer_with_dropout", "Dropout stands in front of the sublayer, not behind it.")
def sublayer_with_dropout_b(x, sublayer, norm, dropout):
    return x + sublayer(dropout(norm(x)))


@wrong("feed_forward", "A second ReLU on the output: negative results become 0.")
def feed_forward_a(x, w1, b1, w2, b2):
    return torch.relu(torch.relu(x @ w1.T + b1) @ w2.T + b2)


@wrong("feed_forward", "b1 is added behind the ReLU.")
def feed_forward_b(x, w1, b1, w2, b2):
    return (torch.relu(x @ w1.T) + b1) @ w2.T + b2


@wrong(
    "group_sort",
    "Sorts all features of a position, not the neighbouring pairs: wrong from 4 features on.",
)
def group_sort_a(x):
    return x.sort(-1).values


@wrong(
    "group_sort",
    "Pairs feature i with feature i + D/2 (halves) in place of neighbours; wrong from 4 features on.",
)
def group_sort_b(x):
    a, b = x.chunk(2, -1)
    return torch.stack([torch.minimum(a, b), torch.maximum(a, b)], -1).flatten(-2)


@wrong("encoder_layer", "norm1 is used twice, norm2 never; wrong if the norms' weights differ.")
def encoder_layer_a(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    x = x + attention(n, n, n, mask)
    return x + feed_forward(norm1(x))


@wrong("encoder_layer", "Keys and values are the un-normed x; only the query is normed.")
def encoder_layer_b(x, mask, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x), x, x, mask)
    return x + feed_forward(norm2(x))


@wrong(
    "encoder_layer",
    "The second residual adds the layer's input, not the attention's output: the attention branch is lost from the sum.",
)
def encoder_layer_c(x, mask, attention, feed_forward, norm1, norm2):
    n = norm1(x)
    y = x + attention(n, n, n, mask)
    return x + feed_forward(norm2(y))


@wrong(
    "decoder_layer",
    "Swapped arguments: if the shapes fit (S = T), the memory asks and the decoder answers; right for S ≠ T only.",
)
def decoder_layer_a(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    n = norms[1](x)
    if memory.shape == n.shape:
        x = x + cross_attention(memory, n, n, memory_mask)
    else:
        x = x + cross_attention(n, memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "The two masks are swapped if their last sizes fit (S = T): wrong as soon as the masks differ.",
)
def decoder_layer_b(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    if x.shape[1] == memory.shape[1]:
        target_mask, memory_mask = memory_mask, target_mask
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "The memory is normed too, with the decoder's second norm.")
def decoder_layer_c(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    m = norms[1](memory)
    x = x + cross_attention(norms[1](x), m, m, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "causal_self_attention",
    "The mask is used only in training: in evaluation each position sees the future.",
)
def causal_self_attention_a(x, training):
    T, D = x.shape[1:]
    m = torch.ones(T, T).tril().bool() if training else None
    return _attend(x, x, x, m, math.sqrt(D))


@wrong(
    "causal_self_attention",
    "The root of T in place of the root of D: right only if T = D (or T = 1).",
)
def causal_self_attention_b(x, training):
    T = x.shape[1]
    return _attend(x, x, x, torch.ones(T, T).tril().bool(), math.sqrt(T))


@wrong(
    "make_stack", "One layer n times: [layer] * n shares the weights; wrong from n_layers = 2 on."
)
def make_stack_a(make_layer, n_layers):
    return nn.ModuleList([make_layer()] * n_layers)


@wrong("make_stack", "Loop from 1 to n − 1: one layer is missing.")
def make_stack_b(make_layer, n_layers):
    out = []
    for i in range(1, n_layers):
        out.append(make_layer())
    return out


def _tm(t):
    return torch.ones(t.shape[1], t.shape[1]).tril().bool() & (t != 0)[:, None, None]


@wrong(
    "transformer_forward",
    "The decoder gets no padding mask for the memory: wrong if a source sentence is padded.",
)
def transformer_forward_a(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), (source != 0)[:, None, None])
    ones = torch.ones(source.shape[0], 1, 1, source.shape[1], dtype=torch.bool)
    return output(decoder(embed_target(target), memory, _tm(target), ones))


@wrong("transformer_forward", "The target is embedded with the source's embedding.")
def transformer_forward_b(source, target, embed_source, embed_target, encoder, decoder, output):
    m = (source != 0)[:, None, None]
    memory = encoder(embed_source(source), m)
    return output(decoder(embed_source(target), memory, _tm(target), m))


@wrong(
    "transformer_forward",
    "The target mask forgets causality, it hides only padding: the decoder sees the future, wrong for T > 1.",
)
def transformer_forward_c(source, target, embed_source, embed_target, encoder, decoder, output):
    m = (source != 0)[:, None, None]
    memory = encoder(embed_source(source), m)
    t = (target != 0)[:, None, None].expand(-1, 1, target.shape[1], -1)
    return output(decoder(embed_target(target), memory, t, m))


def _nll(logits, target):
    return -torch.log_softmax(logits, -1).gather(-1, target.unsqueeze(-1)).squeeze(-1)


@wrong(
    "cross_entropy",
    "Padding is zeroed out but the mean goes over all B·T places: wrong if anything is padded.",
)
def cross_entropy_a(logits, target):
    return (_nll(logits, target) * (target != 0)).mean()


@wrong("cross_entropy", "The mean of the sentences' means: wrong if sentences differ in length.")
def cross_entropy_b(logits, target):
    m = (target != 0).float()
    per = (_nll(logits, target) * m).sum(1) / m.sum(1).clamp(min=1)
    return per.mean()


@wrong(
    "cross_entropy",
    "log of softmax by hand: log(0) = -inf for logits that differ by more than about 100.",
)
def cross_entropy_c(logits, target):
    p = torch.softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    return -torch.log(p)[target != 0].mean()


@wrong(
    "cross_entropy",
    "target > 2 counts as real: <sos>, <eos> are left out; wrong if a target holds 1 or 2.",
)
def cross_entropy_d(logits, target):
    m = target > 2
    if not m.any():
        m = target != 0
    return _nll(logits, target)[m].mean()


@wrong(
    "label_smoothed_loss",
    "Divided by V twice: ε / V times the mean over V, not the sum; wrong for every ε > 0 (V > 1).",
)
def label_smoothed_loss_a(logits, target, smoothing):
    lp = torch.log_softmax(logits, -1)
    V = logits.shape[-1]
    l = (1 - smoothing) * _nll(logits, target) + smoothing / V * (-lp).mean(-1)
    return l[target != 0].mean()


@wrong("label_smoothed_loss", "1 − ε and ε are swapped: right only for ε = 0.5.")
def label_smoothed_loss_b(logits, target, smoothing):
    lp = torch.log_softmax(logits, -1)
    l = smoothing * _nll(logits, target) - (1 - smoothing) * lp.mean(-1)
    return l[target != 0].mean()


@wrong(
    "label_smoothed_loss",
    "The smoothing term is averaged over padding as well: wrong if anything is padded.",
)
def label_smoothed_loss_c(logits, target, smoothing):
    lp = torch.log_softmax(logits, -1)
    return (1 - smoothing) * _nll(logits, target)[target != 0].mean() - smoothing * lp.mean()


@wrong(
    "perplexity",
    "The mean of the batches' losses without weights: wrong if the batches differ in tokens.",
)
def perplexity_a(losses, counts):
    return math.exp(sum(losses) / len(losses))


@wrong("perplexity", "exp of each batch first, then the weighted mean: wrong if the losses differ.")
def perplexity_b(losses, counts):
    return sum(math.exp(l) * n for l, n in zip(losses, counts)) / sum(counts)


@wrong("inverse_sqrt_schedule", "max in place of min.")
def inverse_sqrt_schedule_a(update, d_model, warmup):
    return d_model**-0.5 * max(update**-0.5, update * warmup**-1.5)


@wrong(
    "inverse_sqrt_schedule",
    "The warmup's exponent is −0.5 in place of −1.5; wrong during the warmup (n < warmup), if warmup > 1.",
)
def inverse_sqrt_schedule_b(update, d_model, warmup):
    return d_model**-0.5 * min(update**-0.5, update * warmup**-0.5)


@wrong("inverse_sqrt_schedule", "Counts from 0: update + 1 is used.")
def inverse_sqrt_schedule_c(update, d_model, warmup):
    n = update + 1
    return d_model**-0.5 * min(n**-0.5, n * warmup**-1.5)


@wrong(
    "clip_gradients",
    "Each gradient is clipped by its own length, not by the common one; wrong from two tensors on.",
)
def clip_gradients_a(gradients, limit):
    out = []
    for g in gradients:
        n = g.norm()
        out.append(g * (limit / n) if n > limit else g.clone())
    return out


@wrong(
    "clip_gradients", "The square root is forgotten: the sum of squares is compared and divided by."
)
def clip_gradients_b(gradients, limit):
    n = sum((g**2).sum() for g in gradients)
    return [g * limit / n if n > limit else g.clone() for g in gradients]


@wrong(
    "clip_gradients",
    "The comparison is missing: short gradients are stretched to the limit, too; wrong if the length is below the limit.",
)
def clip_gradients_c(gradients, limit):
    n = torch.sqrt(sum((g**2).sum() for g in gradients))
    return [g * (limit / (n + 1e-12)) for g in gradients]


@wrong(
    "clip_gradients",
    "The lengths are added (not their squares) before comparing: wrong from two tensors on.",
)
def clip_gradients_d(gradients, limit):
    n = sum(g.norm() for g in gradients)
    return [g * limit / n if n > limit else g.clone() for g in gradients]


@wrong(
    "training_update",
    "Clipped before backward(), when there is nothing to clip: the update uses unclipped gradients.",
)
def training_update_a(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss.backward()
    optimizer.step()


@wrong("training_update", "zero_grad is forgotten: gradients pile up from the second update on.")
def training_update_b(model, optimizer, compute_loss):
    compute_loss().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@wrong(
    "training_update",
    "clip_grad_value_ in place of clip_grad_norm_: each entry is cut at 1, not the common length.",
)
def training_update_c(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()


@wrong(
    "accumulated_update",
    "The losses of the parts are added without dividing by their number: the gradient is too large from two parts on.",
)
def accumulated_update_a(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for p in parts:
        compute_loss(p).backward()
    optimizer.step()
    scheduler.step()


@wrong(
    "accumulated_update",
    "scheduler.step() stands inside the loop: the schedule moves on once for each part.",
)
def accumulated_update_b(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for p in parts:
        (compute_loss(p) / len(parts)).backward()
        if p is not parts[0]:
            scheduler.step()
    optimizer.step()
    scheduler.step()


@wrong(
    "best_checkpoint",
    "The batches' means are averaged without weights: wrong if batches of different length turn the order round.",
)
def best_checkpoint_a(checkpoints, batches, loss_of):
    l = [sum(loss_of(c, b) for b in batches) / len(batches) for c in checkpoints]
    return l.index(min(l))


@wrong("best_checkpoint", "Wrong comparison: takes the highest loss.")
def best_checkpoint_b(checkpoints, batches, loss_of):
    best, where = -1.0, 0
    for i, c in enumerate(checkpoints):
        l = sum(loss_of(c, b) * len(b) for b in batches)
        if l > best:
            best, where = l, i
    return where


@wrong(
    "best_checkpoint",
    "The best so far starts at 10.0: if all losses lie above, the place 0 comes out.",
)
def best_checkpoint_c(checkpoints, batches, loss_of):
    best, where = 10.0, 0
    n = sum(len(b) for b in batches)
    for i, c in enumerate(checkpoints):
        l = sum(loss_of(c, b) * len(b) for b in batches) / n
        if l < best:
            best, where = l, i
    return where


@wrong(
    "average_checkpoints",
    "Running mean of two: (mean + new) / 2 weighs late checkpoints more; right only for one or two.",
)
def average_checkpoints_a(checkpoints):
    out = {k: v.clone() for k, v in checkpoints[0].items()}
    for c in checkpoints[1:]:
        for k in out:
            out[k] = (out[k] + c[k]) / 2
    return out


@wrong(
    "average_checkpoints",
    "The sum starts with the first checkpoint's own tensors and adds in place: the first checkpoint is changed.",
)
def average_checkpoints_b(checkpoints):
    out = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k in out:
            out[k] += c[k]
    return {k: v / len(checkpoints) for k, v in out.items()}


@wrong("next_token", "Takes the first position's logits, not the last one's; right only for T = 1.")
def next_token_a(logits):
    return logits[:, 0].argmax(-1)


@wrong(
    "next_token",
    "The last sentence is taken in place of the last position: logits[-1]; the shape is (T,).",
)
def next_token_b(logits):
    return logits[-1].argmax(-1)


@wrong(
    "temperature_probabilities",
    "Multiplied by the temperature in place of divided: right only at temperature 1.",
)
def temperature_probabilities_a(logits, temperature):
    return torch.softmax(logits * temperature, -1)


@wrong(
    "temperature_probabilities",
    "The softmax is divided by the temperature, so it doesn't sum to one; right only at temperature 1.",
)
def temperature_probabilities_b(logits, temperature):
    return torch.softmax(logits, -1) / temperature


@wrong("top_k_probabilities", "Strictly larger than the k-th value: only k − 1 tokens stay.")
def top_k_probabilities_a(logits, k):
    t = logits.topk(min(k, logits.shape[-1]), -1).values[:, -1:]
    m = logits > t
    m = m | ((k == 1) & (logits == t))
    return torch.softmax(logits.masked_fill(~m, float("-inf")), -1)


@wrong(
    "top_k_probabilities",
    "Not renormalised: the k probabilities sum to less than one unless k = V.",
)
def top_k_probabilities_b(logits, k):
    p = torch.softmax(logits, -1)
    v, i = p.topk(k, -1)
    return torch.zeros_like(p).scatter(-1, i, v)


@wrong(
    "top_k_probabilities",
    "One threshold for the whole batch, the smallest of the sentences' k-th values: other sentences may keep more than k tokens; right only for B = 1.",
)
def top_k_probabilities_c(logits, k):
    t = logits.topk(k, -1).values[:, -1].min()
    p = torch.softmax(logits.masked_fill(logits < t, float("-inf")), -1)
    return p


@wrong(
    "greedy_search",
    "Off by one: range(max_length - 1), one token too few if nothing ends it before.",
)
def greedy_search_a(step, max_length):
    ids = [1]
    for _ in range(max_length - 1):
        n = step(torch.tensor([ids])).argmax(-1).item()
        if n == 2:
            break
        ids.append(n)
    return ids[1:]


@wrong(
    "greedy_search",
    "step gets only <sos> and the last token, not all tokens; wrong from the third step on if it depends on earlier tokens.",
)
def greedy_search_b(step, max_length):
    ids = [1]
    while len(ids) <= max_length:
        n = int(
            step(
                torch.tensor([ids[-2:]]) if len(ids) <= 2 else torch.tensor([[1, ids[-1]]])
            ).argmax()
        )
        if n == 2:
            break
        ids.append(n)
    return ids[1:]


@wrong(
    "greedy_search",
    "The last token is always cut off as if it were <eos>: wrong if max_length stopped the search.",
)
def greedy_search_c(step, max_length):
    ids = [1]
    for _ in range(max_length):
        ids.append(int(step(torch.tensor([ids]))[0].argmax()))
        if ids[-1] == 2:
            break
    return ids[1:-1]


@wrong(
    "greedy_batch",
    "any in place of all: stops for all as soon as one sentence has ended; right only if all end together.",
)
def greedy_batch_a(step, n_sentences, max_length):
    t = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        n = step(t).argmax(-1)
        t = torch.cat([t, n[:, None]], 1)
        if (n == 2).any():
            break
    return t[:, 1:]


@wrong(
    "greedy_batch",
    "Finished sentences are not padded: tokens come behind <eos> while others go on.",
)
def greedy_batch_b(step, n_sentences, max_length):
    t = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        n = step(t).argmax(-1)
        t = torch.cat([t, n[:, None]], 1)
        done = done | (n == 2)
        if done.all():
            break
    return t[:, 1:]


@wrong(
    "greedy_batch",
    "done = (n == 2) forgets the sentences that ended earlier: after one padding they go on; wrong if others run two steps longer.",
)
def greedy_batch_c(step, n_sentences, max_length):
    t = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        n = step(t).argmax(-1).masked_fill(done, 0)
        t = torch.cat([t, n[:, None]], 1)
        done = n == 2
        if done.all():
            break
    return t[:, 1:]


def _beam(step, beam_size, max_length, last=False, mean=False, mixup=False, drop=False):
    alive, done = [([1], 0.0)], []
    for n in range(max_length):
        lp = step(torch.tensor([a for a, _ in alive]))
        V = lp.shape[1]
        if mean:
            score = lp
        else:
            score = lp + torch.tensor([s for _, s in alive], dtype=lp.dtype)[:, None]
        v, i = score.flatten().topk(min(beam_size, score.numel()))
        new = []
        for s, j in zip(v.tolist(), i.tolist()):
            r, tok = (j % len(alive), j // len(alive)) if mixup else (j // V, j % V)
            tok = min(tok, V - 1)
            h = (alive[r][0] + [tok], s)
            (done if tok == 2 else new).append(h)
        alive = new
        if last and done:
            break
        if not alive:
            break
    pool = done if (drop and done) else done + alive
    best = max(pool, key=lambda h: h[1])[0][1:]
    return best[:-1] if best and best[-1] == 2 else best


@wrong(
    "beam_search", "Stops at the first finished hypothesis: wrong if a longer one would end better."
)
def beam_search_a(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        lp = step(torch.tensor([a for a, _ in alive]))
        V = lp.shape[1]
        sc = lp + torch.tensor([s for _, s in alive], dtype=lp.dtype)[:, None]
        v, i = sc.flatten().topk(min(beam_size, sc.numel()))
        new = []
        for s, j in zip(v.tolist(), i.tolist()):
            h = (alive[j // V][0] + [j % V], s)
            if j % V == 2:
                done.append(h)
            else:
                new.append(h)
        alive = new
        if done or not alive:
            break
    best = max(done or alive, key=lambda h: h[1])[0][1:]
    return [t for t in best if t != 2]


@wrong(
    "beam_search",
    "The scores are not added up: hypotheses are ranked by the last token's log-probability alone.",
)
def beam_search_b(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, mean=True)


@wrong(
    "beam_search",
    "j // n and j % n are taken with the number of beams in place of V: hypothesis and token are mixed up, from the second step on.",
)
def beam_search_c(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, mixup=True)


@wrong(
    "beam_search",
    "Unfinished hypotheses at max_length are thrown away if any is finished: wrong if the living one is likelier.",
)
def beam_search_d(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, drop=True)


@wrong("embed_next", "`past` is ignored: positions count from 0 again; right only for past = 0.")
def embed_next_a(tokens, past, weight, table):
    return weight[tokens] + table[: tokens.shape[1]]


@wrong("embed_next", "All new tokens get the row `past`: wrong for more than one new token.")
def embed_next_b(tokens, past, weight, table):
    return weight[tokens] + table[past]


@wrong("embed_next", "Off by one: starts at past − 1 (or 0 if there is none); wrong for past > 0.")
def embed_next_c(tokens, past, weight, table):
    p = max(past - 1, 0)
    return weight[tokens] + table[p : p + tokens.shape[1]]


@wrong(
    "reorder_cache", "Only the keys are reordered, the values stay; wrong unless rows is 0, 1, 2, …"
)
def reorder_cache_a(cache, rows):
    return [(k[rows], v) for k, v in cache]


@wrong(
    "reorder_cache",
    "Inverse permutation (scatter): row rows[i] becomes what row i was; right only for permutations that are their own inverse.",
)
def reorder_cache_b(cache, rows):
    out = []
    for k, v in cache:
        a, b = k.clone(), v.clone()
        for i, r in enumerate(list(rows)):
            a[int(r)] = k[i]
            b[int(r)] = v[i]
        out.append((a, b))
    return out


@wrong(
    "reorder_cache",
    "Written in place row by row on one copy: a row that was overwritten already is copied on; wrong for rows such as [1, 0].",
)
def reorder_cache_c(cache, rows):
    out = []
    for k, v in cache:
        a, b = k.clone(), v.clone()
        for i, r in enumerate(list(rows)):
            a[i] = a[int(r)]
            b[i] = b[int(r)]
        out.append((a, b))
    return out


@wrong(
    "length_normalised",
    "Multiplied with length^α in place of divided; right only for length 1 or α = 0.",
)
def length_normalised_a(score, length, alpha):
    return score * length**alpha


@wrong(
    "length_normalised",
    "α is multiplied, not an exponent: score / (length · α); right only for α = 1.",
)
def length_normalised_b(score, length, alpha):
    return score / (length * alpha) if alpha else score


@wrong("cut_at_end", "Takes the last <eos> for the end (walks backwards): wrong if there are two.")
def cut_at_end_a(ids):
    for i in range(len(ids) - 1, -1, -1):
        if ids[i] == 2:
            return ids[:i]
    return list(ids)


@wrong("cut_at_end", "Without an <eos> find gives −1 and the last token is lost.")
def cut_at_end_b(ids):
    where = -1
    for i, t in enumerate(ids):
        if t == 2:
            where = i
            break
    return ids[:where]


@wrong("cut_at_end", "The loop begins at 1: an <eos> in the first place is overlooked.")
def cut_at_end_c(ids):
    for i in range(1, len(ids)):
        if ids[i] == 2:
            return ids[:i]
    return list(ids)
