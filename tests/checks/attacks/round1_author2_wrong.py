"""Round 1, author 2: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right
import copy, functools, inspect, itertools, math
from collections import Counter, defaultdict
from functools import lru_cache
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


# The sheet does not say whether compute_loss takes the model: call it either way.
def _call_loss(compute_loss, model):
    try:
        n = len(inspect.signature(compute_loss).parameters)
    except (TypeError, ValueError):
        n = 0
    return compute_loss(model) if n else compute_loss()


# ---------------------------------------------------------------- number_of_targets
@wrong(
    "number_of_targets",
    "A token may come twice in a sequence; this counts sequences without repetition.",
)
def number_of_targets_a(vocab_size, length):
    total = 1
    for i in range(length):
        total *= vocab_size - i
    return total


@wrong(
    "number_of_targets",
    "Computed in floating point: for long sequences the whole number is no longer exact (vocab 10007, length 5, say).",
)
def number_of_targets_b(vocab_size, length):
    return int(math.pow(vocab_size, length))


# ---------------------------------------------------------------- build_vocabulary
@wrong("build_vocabulary", "A word that comes exactly min_frequency times is left out.")
def build_vocabulary_a(sentences, min_frequency):
    counts = Counter(word for sentence in sentences for word in sentence)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for word, count in counts.items():
        if count > min_frequency:
            vocabulary[word] = len(vocabulary)
    return vocabulary


@wrong(
    "build_vocabulary",
    "The ids are numbered before the rare words are dropped, so there are gaps and ids beyond the size.",
)
def build_vocabulary_b(sentences, min_frequency):
    counts = Counter(word for sentence in sentences for word in sentence)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for i, (word, count) in enumerate(counts.most_common()[::-1], start=4):
        if count >= min_frequency:
            vocabulary[word] = i
    return vocabulary


@wrong(
    "build_vocabulary",
    "Counts in how many sentences a word comes, not how often it comes: wrong where a word comes twice in a sentence.",
)
def build_vocabulary_c(sentences, min_frequency):
    counts = Counter()
    for sentence in sentences:
        counts.update(set(sentence))
    words = [w for w, c in counts.items() if c >= min_frequency]
    return {w: i for i, w in enumerate(["<pad>", "<sos>", "<eos>", "<unk>"] + words)}


@wrong(
    "build_vocabulary",
    "The counter is a default argument and is kept from call to call: the second vocabulary holds the words of the first.",
)
def build_vocabulary_d(sentences, min_frequency, counts=Counter()):
    for sentence in sentences:
        counts.update(sentence)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for word in counts:
        if counts[word] >= min_frequency:
            vocabulary[word] = len(vocabulary)
    return vocabulary


@wrong(
    "build_vocabulary",
    "A text in which the word <unk> (or <eos>) stands gives it a new id: 3 no longer means unknown.",
)
def build_vocabulary_e(sentences, min_frequency):
    counts = Counter(itertools.chain.from_iterable(sentences))
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    next_id = 4
    for word in sorted(counts):
        if counts[word] >= min_frequency:
            vocabulary[word] = next_id
            next_id += 1
    return vocabulary


# ---------------------------------------------------------------- encode
@wrong("encode", "`get(...) or 3` takes the id 0 for missing: the token <pad> becomes <unk>.")
def encode_a(tokens, vocabulary):
    return [vocabulary.get(token) or 3 for token in tokens] + [2]


@wrong(
    "encode",
    "<eos> is appended to the caller's list of tokens: after the call the input is longer, and a second call gives two <eos>.",
)
def encode_b(tokens, vocabulary):
    tokens.append("<eos>")
    return [vocabulary.get(token, vocabulary["<unk>"]) for token in tokens]


@wrong(
    "encode",
    "Nothing is returned but an empty list where there are no tokens; the <eos> belongs there, too.",
)
def encode_c(tokens, vocabulary):
    if not tokens:
        return []
    return [vocabulary.get(token, 3) for token in tokens] + [2]


@wrong("encode", "An unknown word is entered in the dictionary instead of becoming <unk>.")
def encode_d(tokens, vocabulary):
    ids = []
    for token in tokens:
        ids.append(vocabulary.setdefault(token, len(vocabulary)))
    ids.append(vocabulary["<eos>"])
    return ids


# ---------------------------------------------------------------- text_to_ids
@wrong(
    "text_to_ids",
    "The text is split at spaces instead of by the tokenizer the model was trained with.",
)
def text_to_ids_a(text, tokenize, vocabulary):
    return [vocabulary.get(word, 3) for word in text.split()] + [2]


@wrong(
    "text_to_ids",
    "The text is lower-cased before the tokenizer sees it, though that may tell capitals apart.",
)
def text_to_ids_b(text, tokenize, vocabulary):
    ids = [vocabulary.get(token, 3) for token in tokenize(text.lower())]
    ids.append(2)
    return ids


_ids_of_text = {}


@wrong(
    "text_to_ids",
    "The ids are cached by text alone: with another vocabulary or tokenizer the old ids come back.",
)
def text_to_ids_c(text, tokenize, vocabulary):
    if text not in _ids_of_text:
        _ids_of_text[text] = [vocabulary.get(t, 3) for t in tokenize(text)] + [2]
    return list(_ids_of_text[text])


# ---------------------------------------------------------------- training_words
@wrong(
    "training_words",
    "The words of all three splits are counted; the test sentences must stay unseen.",
)
def training_words_a(splits, min_frequency):
    counts = Counter()
    for name in splits:
        for sentence in splits[name]:
            counts.update(sentence)
    return {w for w, c in counts.items() if c >= min_frequency}


@wrong(
    "training_words",
    "The frequency counts train and validation together, so that a word rare in train gets in (wrong only where validation adds what is missing).",
)
def training_words_b(splits, min_frequency):
    counts = Counter()
    for sentence in splits["train"] + splits["validation"]:
        counts.update(sentence)
    known = {w for sentence in splits["train"] for w in sentence}
    return {w for w in known if counts[w] >= min_frequency}


@wrong(
    "training_words",
    "Words that come in the test set, too, are taken out: the vocabulary is now chosen by looking at the test set.",
)
def training_words_c(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    unseen = {w for s in splits["test"] for w in s}
    return [w for w in counts if counts[w] >= min_frequency and w not in unseen]


# ---------------------------------------------------------------- collate
@wrong("collate", "Takes it that the longest row comes first; a longer one behind it is cut.")
def collate_a(rows):
    width = len(rows[0])
    return torch.tensor([(list(row) + [0] * width)[:width] for row in rows])


@wrong("collate", "The batch is always at least 16 wide, longer than needed for short rows.")
def collate_c(rows):
    width = max(16, max(len(r) for r in rows))
    batch = torch.zeros(len(rows), width, dtype=torch.long)
    for i, row in enumerate(rows):
        batch[i, : len(row)] = torch.tensor(row, dtype=torch.long)
    return batch


@wrong(
    "collate",
    "The buffer is torch.zeros without a dtype, so the ids become floating-point numbers.",
)
def collate_d(rows):
    batch = torch.zeros(len(rows), max(len(r) for r in rows))
    for i, row in enumerate(rows):
        for j, token in enumerate(row):
            batch[i, j] = token
    return batch


@wrong(
    "collate", "The rows come back sorted by length: a source no longer stands beside its target."
)
def collate_e(rows):
    rows = sorted(rows, key=len, reverse=True)
    width = len(rows[0])
    return torch.tensor([list(r) + [0] * (width - len(r)) for r in rows], dtype=torch.long)


# ---------------------------------------------------------------- shift
@wrong("shift", "The two are exchanged: the decoder reads what it is to say.")
def shift_a(target):
    return target[:, 1:], target[:, :-1]


@wrong("shift", "The batch is squeezed away where there is only one sentence.")
def shift_b(target):
    return target[:, :-1].squeeze(0), target[:, 1:].squeeze(0)


@wrong(
    "shift",
    "The sequence is rolled instead of cut: the first token turns up as the last one to say, both are T long.",
)
def shift_c(target):
    return target, torch.roll(target, -1, dims=1)


@wrong("shift", "The labels are shifted once too far: the first real token is never to be said.")
def shift_d(target):
    says = torch.cat([target[:, 2:], torch.zeros_like(target[:, :1])], dim=1)
    return target[:, :-1], says


# ---------------------------------------------------------------- embedding
@wrong(
    "embedding", "math.isqrt gives the whole part of the root: wrong unless D is a square number."
)
def embedding_a(tokens, weight):
    return weight[tokens] * math.isqrt(weight.shape[1])


@wrong(
    "embedding",
    "The row of token 0 is put to zero, though the docstring wants the rows as they are.",
)
def embedding_b(tokens, weight):
    out = weight[tokens] * math.sqrt(weight.size(-1))
    return out.masked_fill((tokens == 0).unsqueeze(-1), 0.0)


@wrong(
    "embedding",
    "The weight itself is multiplied in place: the second call gives D times instead of the root of D.",
)
def embedding_c(tokens, weight):
    with torch.no_grad():
        weight *= weight.shape[1] ** 0.5
    return weight[tokens]


@wrong("embedding", "weight.data cuts the gradient off: the embedding would never be trained.")
def embedding_d(tokens, weight):
    return weight.data[tokens] * weight.shape[1] ** 0.5


class ScaledEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.scale = vocab_size**0.5

    def forward(self, tokens):
        return self.weight[tokens] * self.scale


wrong("embedding", "The factor is the root of the number of words instead of the root of D.")(
    ScaledEmbedding
)


# ---------------------------------------------------------------- tied_logits
@wrong("tied_logits", "The dot products are divided by the root of D; that belongs to attention.")
def tied_logits_a(x, weight):
    return x @ weight.T / math.sqrt(x.shape[-1])


@wrong("tied_logits", "The embedding is detached, so that it learns nothing from the output.")
def tied_logits_b(x, weight):
    return torch.matmul(x, weight.detach().transpose(0, 1))


# ---------------------------------------------------------------- sinusoids
@wrong("sinusoids", "The exponent is i / D instead of 2i / D.")
def sinusoids_a(length, d_model):
    table = torch.zeros(length, d_model)
    for p in range(length):
        for i in range(d_model // 2):
            angle = p / 10000 ** (i / d_model)
            table[p, 2 * i] = math.sin(angle)
            table[p, 2 * i + 1] = math.cos(angle)
    return table


@wrong(
    "sinusoids",
    "Every column has its own frequency; a sine and the cosine beside it should share one.",
)
def sinusoids_b(length, d_model):
    table = torch.empty(length, d_model)
    for p in range(length):
        for j in range(d_model):
            angle = p / 10000 ** (j / d_model)
            table[p, j] = math.sin(angle) if j % 2 == 0 else math.cos(angle)
    return table


_table = {}


@wrong(
    "sinusoids",
    "The table is cached by d_model alone: a longer one, asked for later, comes back too short.",
)
def sinusoids_c(length, d_model):
    if d_model not in _table:
        p = torch.arange(length).float()[:, None]
        w = 10000.0 ** (-torch.arange(0, d_model, 2).float() / d_model)
        t = torch.zeros(length, d_model)
        t[:, 0::2] = torch.sin(p * w)
        t[:, 1::2] = torch.cos(p * w)
        _table[d_model] = t
    return _table[d_model][:length]


@wrong("sinusoids", "The first position is counted as 1, not 0.")
def sinusoids_d(length, d_model):
    p = torch.arange(1, length + 1).float().unsqueeze(1)
    w = torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2) / d_model)
    return torch.stack([torch.sin(p * w), torch.cos(p * w)], dim=-1).reshape(length, d_model)


@wrong(
    "sinusoids",
    "The last frequency is put at exactly 1/10000 (divided by D/2 − 1 as linspace does): all but the first differ.",
)
def sinusoids_e(length, d_model):
    p = torch.arange(length).float()[:, None]
    w = torch.logspace(0, -4, d_model // 2)
    return torch.stack([torch.sin(p * w), torch.cos(p * w)], dim=-1).flatten(1)


# ---------------------------------------------------------------- add_positions
@wrong("add_positions", "x is changed in place: the caller's tensor holds the sum afterwards.")
def add_positions_a(x, table):
    x += table[: x.shape[1]]
    return x


@wrong(
    "add_positions",
    "The last rows of the table are taken: wrong whenever the table is longer than the sentence.",
)
def add_positions_b(x, table):
    return x + table[-x.size(1) :]


@wrong(
    "add_positions",
    "The row is chosen by the place in the batch, not by the place in the sentence.",
)
def add_positions_c(x, table):
    out = x.clone()
    for b in range(x.shape[0]):
        out[b] = x[b] + table[b]
    return out


# ---------------------------------------------------------------- softmax
@wrong("softmax", "No maximum is taken off: large scores overflow to inf / inf = nan.")
def softmax_a(scores):
    e = scores.exp()
    return e / e.sum(-1, keepdim=True)


@wrong(
    "softmax",
    "The maximum of the whole tensor is taken off: a row far below it becomes 0 / 0 (two rows around 0 and 1000).",
)
def softmax_b(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=-1, keepdim=True)


@wrong("softmax", "The axis is 1 instead of the last one: right only for two-dimensional scores.")
def softmax_c(scores):
    e = torch.exp(scores - scores.amax(dim=1, keepdim=True))
    return e / e.sum(dim=1, keepdim=True)


@wrong(
    "softmax",
    "The scores are limited to ±20 against overflow: larger ones all become equally likely.",
)
def softmax_d(scores):
    e = torch.exp(scores.clamp(-20, 20))
    return e / e.sum(-1, keepdim=True)


# ---------------------------------------------------------------- scaled_dot_product_attention
def _attend(q, k, v, mask=None):
    """A right one, that some of the compound versions below build on."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.nan_to_num(torch.softmax(scores, -1)) @ v


@wrong(
    "scaled_dot_product_attention",
    "A query that may attend to nothing gets the mean of all values instead of zeros.",
)
def sdpa_a(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return torch.softmax(scores, dim=-1) @ value


@wrong(
    "scaled_dot_product_attention",
    "Zeros are given only if nothing at all is allowed in the whole mask; one blocked query among others becomes nan.",
)
def sdpa_b(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        if not mask.any():
            return torch.zeros(*scores.shape[:-1], value.shape[-1])
        scores = scores.masked_fill(mask == False, float("-inf"))
    return scores.softmax(-1) @ value


@wrong(
    "scaled_dot_product_attention",
    "The blocked scores are set to 1e-9 instead of −1e9: they still get weight.",
)
def sdpa_c(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query, key) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = torch.where(mask, scores, torch.tensor(1e-9, dtype=scores.dtype))
    weights = torch.softmax(scores, dim=-1)
    if mask is not None:
        weights = weights * mask.any(-1, keepdim=True)
    return weights @ value


@wrong(
    "scaled_dot_product_attention",
    "The mask is applied after the softmax and the weights are not made to sum to one again.",
)
def sdpa_d(query, key, value, mask=None):
    weights = torch.softmax(query @ key.mT / math.sqrt(query.size(-1)), dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ value


@wrong(
    "scaled_dot_product_attention",
    "The scale is taken from axis 1 (the length), not from the last one.",
)
def sdpa_e(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.nan_to_num(torch.softmax(scores, -1)) @ value


@wrong("scaled_dot_product_attention", "A causal mask is the default where none was given.")
def sdpa_f(query, key, value, mask=None):
    if mask is None:
        mask = torch.ones(query.shape[-2], key.shape[-2]).tril().bool()
    return _attend(query, key, value, mask)


@wrong(
    "scaled_dot_product_attention",
    "The mask is added as a number: True = 1 only raises the score a little, nothing is hidden.",
)
def sdpa_g(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores + mask
        return (torch.softmax(scores, -1) * mask.any(-1, keepdim=True)) @ value
    return torch.softmax(scores, -1) @ value


@wrong(
    "scaled_dot_product_attention",
    "The query is scaled in place: the caller's query is smaller afterwards, and where query and key are one tensor the scores are divided twice.",
)
def sdpa_h(query, key, value, mask=None):
    query /= math.sqrt(query.shape[-1])
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.nan_to_num(scores.softmax(-1)) @ value


# ---------------------------------------------------------------- padding_mask
@wrong(
    "padding_mask",
    "Everything up to <sos> (1) counts as padding: a sentence that begins with <sos> loses it.",
)
def padding_mask_a(tokens):
    return (tokens > 1)[:, None, None, :]


@wrong(
    "padding_mask",
    "Only counts the real tokens and takes it that the padding stands behind: wrong with a 0 in front or between.",
)
def padding_mask_b(tokens):
    lengths = (tokens != 0).sum(dim=1, keepdim=True)
    return (torch.arange(tokens.shape[1]) < lengths)[:, None, None, :]


@wrong(
    "padding_mask",
    "A row of nothing but padding is opened, against nan; it has nothing that may be attended to.",
)
def padding_mask_c(tokens):
    mask = tokens != 0
    empty = ~mask.any(dim=1)
    mask[empty] = True
    return mask.unsqueeze(1).unsqueeze(1)


@wrong(
    "padding_mask",
    "Everything behind <eos> is taken for padding, and a sentence without <eos> counts as all real; the mark of padding is token 0 alone.",
)
def padding_mask_d(tokens):
    ended = (tokens == 2).long().cumsum(1) - (tokens == 2).long()
    return (ended == 0)[:, None, None, :]


# ---------------------------------------------------------------- causal_mask
@wrong("causal_mask", "Cut from a buffer of 128 places: longer sentences get too small a mask.")
def causal_mask_a(length):
    buffer = torch.ones(128, 128).tril().bool()
    return buffer[:length, :length]


@wrong(
    "causal_mask",
    "The diagonal is one too far up: each token sees the next one, which it is to predict.",
)
def causal_mask_b(length):
    return torch.tril(torch.ones(length, length, dtype=torch.bool), diagonal=1)


@wrong(
    "causal_mask",
    "True stands for hidden here, as in nn.MultiheadAttention; asked was True = may attend.",
)
def causal_mask_c(length):
    return torch.ones(length, length).triu(diagonal=1).bool()


@wrong(
    "causal_mask",
    "Turned round: a position sees itself and what comes after (right for a length of one only).",
)
def causal_mask_d(length):
    i = torch.arange(length)
    return i[None, :] >= i[:, None]


# ---------------------------------------------------------------- target_mask
@wrong("target_mask", "Causal only; padding may be attended to.")
def target_mask_a(tokens):
    B, T = tokens.shape
    return torch.ones(T, T).tril().bool().expand(B, 1, T, T)


@wrong(
    "target_mask",
    "The padding hides the rows (the queries) instead of the columns (the keys): with padding behind, the difference is only in the padded rows; with a 0 elsewhere everywhere.",
)
def target_mask_b(tokens):
    T = tokens.size(1)
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    return causal & (tokens != 0)[:, None, :, None]


@wrong(
    "target_mask",
    "Each position always sees itself, even when it is padding: the diagonal is opened to avoid empty rows.",
)
def target_mask_c(tokens):
    T = tokens.size(1)
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    mask = causal & (tokens != 0)[:, None, None, :]
    return mask | torch.eye(T, dtype=torch.bool)


@wrong("target_mask", "`or` instead of `and`: the future is seen wherever it is not padding.")
def target_mask_d(tokens):
    T = tokens.shape[1]
    return torch.ones(T, T).tril().bool() | (tokens != 0)[:, None, None, :]


@wrong(
    "target_mask",
    "The padding of the first sentence is used for the whole batch (right for B = 1).",
)
def target_mask_e(tokens):
    B, T = tokens.shape
    mask = torch.ones(T, T).tril().bool() & (tokens[0] != 0)
    return mask.repeat(B, 1, 1, 1)


@wrong(
    "target_mask",
    "<eos> is taken for padding as well, so a finished sentence hides its last token.",
)
def target_mask_f(tokens):
    B, T = tokens.shape
    real = (tokens != 0) & (tokens != 2)
    return torch.ones(T, T).tril().bool()[None, None] & real[:, None, None]


# ---------------------------------------------------------------- split_heads, merge_heads
@wrong(
    "split_heads",
    "Reshaped straight to (B, H, T, K): the numbers of different positions are mixed (right only for T = 1 or H = 1).",
)
def split_heads_a(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)


@wrong(
    "split_heads",
    "The features are dealt out like cards: head h gets each H-th feature, not K neighbouring ones.",
)
def split_heads_b(x, n_heads):
    return torch.stack([x[..., h::n_heads] for h in range(n_heads)], dim=1)


@wrong(
    "split_heads", "torch.split takes the size of a piece, not their number: right only if H = K."
)
def split_heads_c(x, n_heads):
    return torch.stack(torch.split(x, n_heads, dim=-1), dim=1)


@wrong(
    "merge_heads",
    "Reshaped without bringing the heads behind the positions (right for T = 1 or H = 1).",
)
def merge_heads_a(heads):
    B, H, T, K = heads.shape
    return heads.reshape(B, T, H * K)


@wrong(
    "merge_heads", "The last two axes come as (K, H): the features of the heads are interleaved."
)
def merge_heads_b(heads):
    return heads.permute(0, 2, 3, 1).flatten(2)


@wrong(
    "merge_heads",
    "squeeze() takes every axis of size one away: for one sentence, or one token, the shape is wrong.",
)
def merge_heads_c(heads):
    B, H, T, K = heads.shape
    return heads.transpose(1, 2).reshape(B, T, H * K).squeeze()


# ---------------------------------------------------------------- multi_head_attention
@wrong(
    "multi_head_attention",
    "Scaled by the root of D instead of that of K = D / H (right for one head).",
)
def mha_a(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    q, k, v = [
        (x @ w.T).view(B, -1, n_heads, D // n_heads).transpose(1, 2)
        for x, w in ((query, w_query), (key, w_key), (value, w_value))
    ]
    scores = q @ k.transpose(-1, -2) / math.sqrt(D)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    out = torch.nan_to_num(scores.softmax(-1)) @ v
    return out.transpose(1, 2).reshape(B, T, D) @ w_output.T


@wrong(
    "multi_head_attention",
    "The length of the query is used for keys and values as well: where S ≠ T it fails or mixes sentences.",
)
def mha_b(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape

    def heads(x, w):
        return (x @ w.T).reshape(-1, T, n_heads, D // n_heads).transpose(1, 2)

    out = _attend(heads(query, w_query), heads(key, w_key), heads(value, w_value), mask)
    return out.transpose(1, 2).reshape(B, T, D) @ w_output.T


@wrong("multi_head_attention", "The output weight is used untransposed.")
def mha_c(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    K = query.shape[-1] // n_heads
    outs = []
    for h in range(n_heads):
        rows = slice(h * K, (h + 1) * K)
        outs.append(
            _attend(
                query @ w_query[rows].T,
                key @ w_key[rows].T,
                value @ w_value[rows].T,
                mask if mask is None or mask.dim() == 2 else mask[:, 0],
            )
        )
    return torch.cat(outs, -1) @ w_output


@wrong(
    "multi_head_attention",
    "Values are projected from key: the same in self-attention, wrong where key and value are different tensors.",
)
def mha_e(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    def heads(x, w):
        return (x @ w.T).unflatten(-1, (n_heads, -1)).transpose(1, 2)

    out = _attend(heads(query, w_query), heads(key, w_key), heads(key, w_value), mask)
    return out.transpose(1, 2).flatten(2) @ w_output.T


@wrong(
    "multi_head_attention", "The mask is taken for hidden = True, as nn.MultiheadAttention does."
)
def mha_f(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    def heads(x, w):
        return (x @ w.T).unflatten(-1, (n_heads, -1)).transpose(1, 2)

    out = _attend(
        heads(query, w_query),
        heads(key, w_key),
        heads(value, w_value),
        None if mask is None else ~mask,
    )
    return out.transpose(1, 2).flatten(2) @ w_output.T


@wrong(
    "multi_head_attention", "Only the first head gets the mask; the others see padding and future."
)
def mha_g(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = [
        (x @ w.T).chunk(n_heads, dim=-1)
        for x, w in ((query, w_query), (key, w_key), (value, w_value))
    ]
    if mask is not None and mask.dim() == 4:
        mask = mask[:, 0]
    outs = []
    for h in range(n_heads):
        outs.append(_attend(q[h], k[h], v[h], mask))
        mask = None
    return torch.cat(outs, dim=-1) @ w_output.T


class MHAModule(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)
        self.masks = {}

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = self.masks.setdefault(mask.shape, mask)
        B, T, D = query.shape
        heads = [
            l(x).view(B, -1, self.n_heads, D // self.n_heads).transpose(1, 2)
            for l, x in ((self.query, query), (self.key, key), (self.value, value))
        ]
        return self.output(_attend(*heads, mask).transpose(1, 2).reshape(B, T, D))


wrong(
    "multi_head_attention",
    "The first mask is kept in self and used again for every later batch of the same shape.",
)(MHAModule)


# ---------------------------------------------------------------- layer_norm
@wrong("layer_norm", "std() divides by D − 1: the variance is not 1 but a little less.")
def layer_norm_a(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(std**2 + eps) + bias


@wrong(
    "layer_norm",
    "ε is added to the standard deviation instead of to the variance: visible where the features hardly differ.",
)
def layer_norm_b(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.var(-1, keepdim=True, unbiased=False).sqrt()
    return weight * (x - mean) / (std + eps) + bias


@wrong("layer_norm", "Mean and variance are taken over all positions of a sentence together.")
def layer_norm_c(x, weight, bias, eps=1e-5):
    mean = x.mean((1, 2), keepdim=True)
    var = x.var((1, 2), keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@wrong(
    "layer_norm",
    "ε is written into the code, the argument is ignored (wrong for another eps than 1e-5).",
)
def layer_norm_d(x, weight, bias, eps=1e-5):
    centred = x - x.mean(dim=-1, keepdim=True)
    return centred * torch.rsqrt(centred.pow(2).mean(-1, keepdim=True) + 1e-5) * weight + bias


@wrong(
    "layer_norm",
    "The variance is the mean square minus the squared mean in single precision: with a large mean (1000) and small differences it is garbage.",
)
def layer_norm_e(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = ((x * x).mean(-1, keepdim=True) - mean * mean).clamp(min=0)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@wrong("layer_norm", "The default ε is 1e-3 instead of 1e-5.")
def layer_norm_f(x, weight, bias, eps=1e-3):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
    return (x - mean) / (var + eps) ** 0.5 * weight + bias


@wrong(
    "layer_norm",
    "Mean and variance are computed under no_grad: the numbers are right, the gradient is not.",
)
def layer_norm_g(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


# ---------------------------------------------------------------- layer_norm_parameters
@wrong(
    "layer_norm_parameters",
    "One and the same kind of start for both: the bias begins at one as well.",
)
def layer_norm_parameters_a(d_model):
    return torch.ones(d_model), torch.ones(d_model)


@wrong("layer_norm_parameters", "The parameters are drawn at random as for a linear layer.")
def layer_norm_parameters_b(d_model):
    return torch.randn(d_model), torch.zeros(d_model)


# ---------------------------------------------------------------- pre_norm, post_norm
@wrong("pre_norm", "x is overwritten by its norm: the residual path carries norm(x) instead of x.")
def pre_norm_a(x, sublayer, norm):
    x = norm(x)
    return x + sublayer(x)


@wrong("post_norm", "The norm is put around the sublayer only; it belongs around the sum.")
def post_norm_a(x, sublayer, norm):
    return x + norm(sublayer(x))


@wrong("post_norm", "Both orders are mixed: normed before and after.")
def post_norm_b(x, sublayer, norm):
    return norm(x + sublayer(norm(x)))


# ---------------------------------------------------------------- dropout
@wrong("dropout", "The kept entries are divided by p instead of 1 − p (the same at p = 0.5).")
def dropout_a(x, p, keep, training):
    return x * keep / p if training else x


@wrong(
    "dropout", "Outside training x is scaled by 1 − p although training had already enlarged it."
)
def dropout_b(x, p, keep, training):
    if not training:
        return x * (1 - p)
    return torch.where(keep, x / (1 - p), torch.zeros_like(x))


@wrong(
    "dropout",
    "Scaled by the share that happened to be kept instead of by 1 − p: not the expected value.",
)
def dropout_c(x, p, keep, training):
    if training:
        x = x * keep / keep.float().mean()
    return x


@wrong(
    "dropout",
    "keep is ignored whenever p is below one half: `round` makes the probability 0 and the early exit returns x.",
)
def dropout_d(x, p, keep, training):
    if not training or round(p) == 0:
        return x
    return x.masked_fill(~keep, 0) / (1 - p)


# ---------------------------------------------------------------- sublayer_with_dropout
@wrong("sublayer_with_dropout", "Dropout falls on the sum, and so on the residual path as well.")
def sublayer_with_dropout_a(x, sublayer, norm, dropout):
    return dropout(x + sublayer(norm(x)))


@wrong("sublayer_with_dropout", "Dropout falls on the sublayer's input instead of its output.")
def sublayer_with_dropout_b(x, sublayer, norm, dropout):
    return x + sublayer(dropout(norm(x)))


# ---------------------------------------------------------------- feed_forward
@wrong("feed_forward", "The first bias is added behind the relu.")
def feed_forward_a(x, w1, b1, w2, b2):
    return (torch.relu(x @ w1.T) + b1) @ w2.T + b2


@wrong("feed_forward", "gelu instead of relu: close for large numbers, different around zero.")
def feed_forward_b(x, w1, b1, w2, b2):
    return F.linear(F.gelu(F.linear(x, w1, b1)), w2, b2)


# ---------------------------------------------------------------- group_sort
@wrong(
    "group_sort",
    "The first half is paired with the second half; neighbours are 0 and 1, 2 and 3, …",
)
def group_sort_a(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([torch.minimum(a, b), torch.maximum(a, b)], dim=-1)


@wrong("group_sort", "The pairs overlap: (0,1), (1,2), (2,3) … as one round of bubble sort.")
def group_sort_b(x):
    x = x.clone()
    for i in range(x.shape[-1] - 1):
        a, b = x[..., i].clone(), x[..., i + 1].clone()
        x[..., i], x[..., i + 1] = torch.minimum(a, b), torch.maximum(a, b)
    return x


# ---------------------------------------------------------------- encoder_layer
@wrong("encoder_layer", "Only the query is normed; keys and values are the raw x.")
def encoder_layer_a(x, mask, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x), x, x, mask)
    return x + feed_forward(norm2(x))


@wrong("encoder_layer", "norm1 is used in both places, norm2 never.")
def encoder_layer_b(x, mask, attention, feed_forward, norm1, norm2):
    for sublayer in (lambda h: attention(h, h, h, mask), feed_forward):
        x = x + sublayer(norm1(x))
    return x


@wrong(
    "encoder_layer",
    "The feed-forward network reads the layer's input and not what attention gave; the sublayers run side by side.",
)
def encoder_layer_c(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    return x + attention(h, h, h, mask) + feed_forward(norm2(x))


@wrong(
    "encoder_layer",
    "The mask is passed only if it hides something in the first sentence: padding in the other sentences is attended to.",
)
def encoder_layer_d(x, mask, attention, feed_forward, norm1, norm2):
    if mask is not None and mask[0].all():
        mask = None
    h = norm1(x)
    x = x + attention(h, h, h, mask)
    return x + feed_forward(norm2(x))


@wrong("encoder_layer", "Post-norm: the norm stands behind the sum instead of before the sublayer.")
def encoder_layer_e(x, mask, attention, feed_forward, norm1, norm2):
    x = norm1(x + attention(x, x, x, mask))
    return norm2(x + feed_forward(x))


# ---------------------------------------------------------------- decoder_layer
@wrong("decoder_layer", "The two masks are exchanged (goes through without an error where S = T).")
def decoder_layer_a(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, memory_mask)
    x = x + cross_attention(norms[1](x), memory, memory, target_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "The memory is normed again with the decoder's norm; it comes from the encoder ready.",
)
def decoder_layer_b(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    m = norms[1](memory)
    x = x + cross_attention(norms[1](x), m, m, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "Query and memory are exchanged in cross-attention: the source asks the target.",
)
def decoder_layer_c(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    h = norms[1](x)
    x = x + cross_attention(memory, h, h, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "Cross-attention takes its query from the layer's input, as if self-attention had not been.",
)
def decoder_layer_d(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    a = self_attention(norms[0](x), norms[0](x), norms[0](x), target_mask)
    c = cross_attention(norms[1](x), memory, memory, memory_mask)
    x = x + a + c
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "The keys come from the memory, but the values from memory cut off the graph: the encoder gets less gradient (the numbers are right).",
)
def decoder_layer_e(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    norm1, norm2, norm3 = norms
    h = norm1(x)
    x = x + self_attention(h, h, h, target_mask)
    x = x + cross_attention(norm2(x), memory, memory.detach(), memory_mask)
    return x + feed_forward(norm3(x))


@wrong("decoder_layer", "memory_mask is forgotten: padding of the source is attended to.")
def decoder_layer_f(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, None)
    return x + feed_forward(norms[2](x))


# ---------------------------------------------------------------- causal_self_attention
@wrong(
    "causal_self_attention",
    "The causal mask is used in training only; in evaluation each position sees the future.",
)
def causal_self_attention_a(x, training):
    T = x.shape[1]
    return _attend(x, x, x, torch.ones(T, T).tril().bool() if training else None)


@wrong(
    "causal_self_attention",
    "The causal mask is used in evaluation only: in training the model sees what it is to say.",
)
def causal_self_attention_b(x, training):
    mask = None
    if not training:
        mask = torch.ones(x.shape[1], x.shape[1]).tril().bool()
    return _attend(x, x, x, mask)


@wrong(
    "causal_self_attention",
    "The softmax runs over the queries (axis −2): the weights of one position do not sum to one.",
)
def causal_self_attention_c(x, training):
    T, D = x.shape[1:]
    scores = x @ x.transpose(1, 2) / math.sqrt(D)
    scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), -torch.inf)
    return torch.softmax(scores, dim=-2) @ x


@wrong(
    "causal_self_attention", "Dropout of 0.1 falls on the weights in training; there is none here."
)
def causal_self_attention_e(x, training):
    return F.scaled_dot_product_attention(
        x, x, x, is_causal=True, dropout_p=0.1 if training else 0.0
    )


# ---------------------------------------------------------------- make_stack
@wrong("make_stack", "One layer n times: all share one set of weights.")
def make_stack_a(make_layer, n_layers):
    return nn.ModuleList([make_layer()] * n_layers)


@wrong(
    "make_stack",
    "deepcopy gives each layer weights of its own, but all with the same numbers; they should be drawn anew.",
)
def make_stack_b(make_layer, n_layers):
    layer = make_layer()
    return nn.ModuleList(copy.deepcopy(layer) for _ in range(n_layers))


@wrong("make_stack", "The random seed is set before each layer: all begin with the same numbers.")
def make_stack_c(make_layer, n_layers):
    layers = []
    for _ in range(n_layers):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            layers.append(make_layer())
    return layers


@wrong(
    "make_stack",
    "The layers are kept in a default argument: a second stack holds the first one's layers, too.",
)
def make_stack_d(make_layer, n_layers, layers=[]):
    while len(layers) < n_layers:
        layers.append(make_layer())
    return layers[:n_layers]


# ---------------------------------------------------------------- transformer_forward
@wrong(
    "transformer_forward",
    "The decoder gets the causal mask only; with padding in front or between it attends to padding.",
)
def transformer_forward_a(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.shape[1]
    source_mask = (source != 0)[:, None, None]
    memory = encoder(embed_source(source), source_mask)
    return output(
        decoder(
            embed_target(target), memory, torch.ones(T, T).tril().bool()[None, None], source_mask
        )
    )


@wrong(
    "transformer_forward",
    "The decoder's memory mask is made from the target instead of the source.",
)
def transformer_forward_b(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.shape[1]
    source_mask, target_pad = (source != 0)[:, None, None], (target != 0)[:, None, None]
    memory = encoder(embed_source(source), source_mask)
    y = decoder(
        embed_target(target), memory, target_pad & torch.ones(T, T).tril().bool(), target_pad
    )
    return output(y)


@wrong(
    "transformer_forward", "The encoder is given no mask, so source padding flows into the memory."
)
def transformer_forward_c(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.shape[1]
    memory = encoder(embed_source(source), None)
    target_mask = (target != 0)[:, None, None] & torch.ones(T, T).tril().bool()
    return output(decoder(embed_target(target), memory, target_mask, (source != 0)[:, None, None]))


@wrong(
    "transformer_forward",
    "The last target token is cut off inside: one row of logits too few, and the caller has shifted already.",
)
def transformer_forward_e(source, target, embed_source, embed_target, encoder, decoder, output):
    target = target[:, :-1]
    T = target.shape[1]
    source_mask = (source != 0)[:, None, None]
    target_mask = (target != 0)[:, None, None] & torch.ones(T, T).tril().bool()
    y = decoder(
        embed_target(target), encoder(embed_source(source), source_mask), target_mask, source_mask
    )
    return output(y)


@wrong(
    "transformer_forward",
    "The memory is cached by the shape of the source: another batch of the same shape is translated as the first.",
)
def transformer_forward_f(
    source, target, embed_source, embed_target, encoder, decoder, output, _memory={}
):
    T = target.shape[1]
    source_mask = (source != 0)[:, None, None]
    if source.shape not in _memory:
        _memory[source.shape] = encoder(embed_source(source), source_mask)
    target_mask = (target != 0)[:, None, None] & torch.ones(T, T).tril().bool()
    return output(decoder(embed_target(target), _memory[source.shape], target_mask, source_mask))


# ---------------------------------------------------------------- cross_entropy
@wrong(
    "cross_entropy",
    "First a mean per sentence, then over the sentences: a short sentence's tokens count more (right for B = 1 or equal lengths).",
)
def cross_entropy_a(logits, target):
    nll = -logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    real = (target != 0).float()
    return ((nll * real).sum(1) / real.sum(1).clamp(min=1)).mean()


@wrong("cross_entropy", "Padding counts in the divisor: the mean is over all places.")
def cross_entropy_b(logits, target):
    losses = F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=0, reduction="none"
    )
    return losses.mean()


@wrong(
    "cross_entropy", "log of softmax: a very unlikely token (logit 200 below) gives log 0 = −inf."
)
def cross_entropy_c(logits, target):
    p = torch.softmax(logits, dim=-1).gather(-1, target[..., None])[..., 0]
    return -p[target != 0].log().mean()


@wrong(
    "cross_entropy",
    "A small number is added to p before the log: the loss can never exceed 18, and is a little off for unlikely tokens.",
)
def cross_entropy_d(logits, target):
    p = torch.softmax(logits, dim=-1).gather(-1, target[..., None])[..., 0]
    return -torch.log(p[target > 0] + 1e-8).mean()


@wrong(
    "cross_entropy",
    "Places where the prediction is right already are left out as if done: the mean is over the wrong ones.",
)
def cross_entropy_e(logits, target):
    open_places = (target != 0) & (logits.argmax(-1) != target)
    if not open_places.any():
        return logits.sum() * 0
    return F.cross_entropy(logits[open_places], target[open_places])


@wrong(
    "cross_entropy",
    "The sentence is counted only up to <eos>, and <eos> itself is left out: the model never learns to stop.",
)
def cross_entropy_f(logits, target):
    keep = (target != 0) & (target != 2)
    return -logits.log_softmax(-1)[keep].gather(1, target[keep][:, None]).mean()


# ---------------------------------------------------------------- label_smoothed_loss
@wrong("label_smoothed_loss", "ε is shared out among the V − 1 wrong tokens only.")
def label_smoothed_loss_a(logits, target, smoothing):
    logp = logits.log_softmax(-1)
    V = logits.shape[-1]
    right_one = -logp.gather(-1, target[..., None])[..., 0]
    rest = -logp.sum(-1) - right_one
    loss = (1 - smoothing) * right_one + smoothing / (V - 1) * rest
    return loss[target != 0].mean()


@wrong("label_smoothed_loss", "The second term is averaged over all places, padding included.")
def label_smoothed_loss_b(logits, target, smoothing):
    logp = logits.log_softmax(-1)
    real = target != 0
    nll = -logp.gather(-1, target[..., None])[..., 0][real].mean()
    return (1 - smoothing) * nll + smoothing * (-logp).mean()


@wrong(
    "label_smoothed_loss",
    "ε is 0.1 whatever was asked for: `smoothing or 0.1` takes the 0 for missing.",
)
def label_smoothed_loss_c(logits, target, smoothing):
    smoothing = smoothing or 0.1
    logp = logits.log_softmax(-1)
    loss = -(1 - smoothing) * logp.gather(-1, target[..., None])[..., 0] - smoothing * logp.mean(-1)
    return loss[target != 0].mean()


@wrong("label_smoothed_loss", "The column of the padding token is left out of the sum over V.")
def label_smoothed_loss_d(logits, target, smoothing):
    logp = logits.log_softmax(-1)
    loss = -(1 - smoothing) * logp.gather(-1, target[..., None])[..., 0]
    loss = loss - smoothing / logits.shape[-1] * logp[..., 1:].sum(-1)
    return loss[target != 0].mean()


@wrong("label_smoothed_loss", "The sum is not divided by V.")
def label_smoothed_loss_e(logits, target, smoothing):
    logp = logits.log_softmax(-1)[target != 0]
    y = target[target != 0]
    return (
        (1 - smoothing) * F.nll_loss(logp, y, reduction="none") - smoothing * logp.sum(-1)
    ).mean()


# ---------------------------------------------------------------- perplexity
@wrong("perplexity", "Each batch counts the same, however many tokens it has.")
def perplexity_a(losses, counts):
    return math.exp(sum(float(l) for l in losses) / len(losses))


@wrong("perplexity", "The mean of the batches' perplexities instead of exp of the mean loss.")
def perplexity_b(losses, counts):
    total = sum(float(n) for n in counts)
    return sum(math.exp(float(l)) * float(n) for l, n in zip(losses, counts)) / total


@wrong("perplexity", "Batches with loss 0 are skipped by `if loss`, tokens and all.")
def perplexity_c(losses, counts):
    pairs = [(float(l), float(n)) for l, n in zip(losses, counts) if l]
    if not pairs:
        return 1.0
    return math.exp(sum(l * n for l, n in pairs) / sum(n for _, n in pairs))


@wrong("perplexity", "2 to the power of a loss in nats.")
def perplexity_d(losses, counts):
    total = sum(float(l) * float(n) for l, n in zip(losses, counts))
    return 2 ** (total / sum(float(n) for n in counts))


# ---------------------------------------------------------------- inverse_sqrt_schedule
@wrong(
    "inverse_sqrt_schedule", "Counts updates from 0 and adds one: every rate is one update late."
)
def inverse_sqrt_schedule_a(update, d_model, warmup):
    step = update + 1
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@wrong(
    "inverse_sqrt_schedule",
    "After the warm-up the fall begins anew: the root is taken of update − warmup, not of update.",
)
def inverse_sqrt_schedule_b(update, d_model, warmup):
    if update <= warmup:
        return d_model**-0.5 * update * warmup**-1.5
    return d_model**-0.5 * (update - warmup) ** -0.5


@wrong(
    "inverse_sqrt_schedule",
    "The rate is never lower than 1e-5: the last part of a long training (or the first updates) runs too fast.",
)
def inverse_sqrt_schedule_c(update, d_model, warmup):
    rate = d_model**-0.5 * min(update**-0.5, update * warmup**-1.5)
    return max(rate, 1e-5)


@wrong(
    "inverse_sqrt_schedule", "The warm-up is always 4000, as in the paper; the argument is ignored."
)
def inverse_sqrt_schedule_d(update, d_model, warmup=4000):
    warmup = 4000
    return 1 / math.sqrt(d_model) * min(1 / math.sqrt(update), update / warmup**1.5)


@wrong("inverse_sqrt_schedule", "It multiplies by the root of d_model instead of dividing.")
def inverse_sqrt_schedule_e(update, d_model, warmup):
    return math.sqrt(d_model) * min(update**-0.5, update * warmup**-1.5)


# ---------------------------------------------------------------- clip_gradients
@wrong("clip_gradients", "Each tensor is clipped on its own: the common direction is lost.")
def clip_gradients_a(gradients, limit):
    return [g * min(1.0, limit / (float(g.norm()) + 1e-12)) for g in gradients]


@wrong("clip_gradients", "The gradients that came in are multiplied in place.")
def clip_gradients_b(gradients, limit):
    norm = torch.sqrt(sum((g**2).sum() for g in gradients))
    if norm > limit:
        for g in gradients:
            g *= limit / norm
    return gradients


@wrong(
    "clip_gradients",
    "All is divided by the length without looking: gradients of nothing but zeros become 0 / 0 = nan.",
)
def clip_gradients_c(gradients, limit):
    norm = torch.cat([g.flatten() for g in gradients]).norm()
    return [g / norm * norm.clamp(max=limit) for g in gradients]


@wrong(
    "clip_gradients",
    "Each number is limited to ±limit: the direction changes and the common length can still be too large.",
)
def clip_gradients_d(gradients, limit):
    return [g.clamp(-limit, limit) for g in gradients]


@wrong(
    "clip_gradients",
    "The lengths of the tensors are added instead of their squares: gradients are clipped that are short enough, and too much.",
)
def clip_gradients_e(gradients, limit):
    norm = sum(float(g.norm()) for g in gradients)
    factor = limit / norm if norm > limit else 1.0
    return [g * factor for g in gradients]


@wrong(
    "clip_gradients",
    "Without the square root: the squared length is compared with the limit and divided by.",
)
def clip_gradients_f(gradients, limit):
    total = sum((g * g).sum().item() for g in gradients)
    return [g * limit / total if total > limit else g.clone() for g in gradients]


# ---------------------------------------------------------------- training_update
@wrong(
    "training_update", "The gradients are never set to zero: each update adds those of all before."
)
def training_update_a(model, optimizer, compute_loss):
    _call_loss(compute_loss, model).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@wrong("training_update", "Each parameter is clipped on its own instead of all at a common length.")
def training_update_b(model, optimizer, compute_loss):
    optimizer.zero_grad()
    _call_loss(compute_loss, model).backward()
    for p in model.parameters():
        if p.grad is not None:
            nn.utils.clip_grad_norm_([p], 1.0)
    optimizer.step()


@wrong("training_update", "Clipped after the step, when it no longer helps.")
def training_update_c(model, optimizer, compute_loss):
    optimizer.zero_grad()
    _call_loss(compute_loss, model).backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@wrong("training_update", "clip_grad_value_ limits each number, not the common length.")
def training_update_d(model, optimizer, compute_loss):
    optimizer.zero_grad()
    _call_loss(compute_loss, model).backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()


# ---------------------------------------------------------------- accumulated_update
@wrong(
    "accumulated_update",
    "The losses of the parts are added, not averaged: the gradient is as many times too large.",
)
def accumulated_update_a(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        compute_loss(part).backward()
    optimizer.step()
    scheduler.step()


@wrong(
    "accumulated_update", "The schedule moves on with every part instead of once for the update."
)
def accumulated_update_b(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
        if part is parts[-1]:
            optimizer.step()
        scheduler.step()


@wrong(
    "accumulated_update",
    "The gradients are set to zero before each part: only the last one counts.",
)
def accumulated_update_c(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        optimizer.zero_grad()
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()
    scheduler.step()


@wrong("accumulated_update", "Divides by 4 whatever the number of parts.")
def accumulated_update_d(optimizer, scheduler, parts, compute_loss, n_parts=4):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / n_parts).backward()
    optimizer.step()
    scheduler.step()


@wrong("accumulated_update", "The gradients of the update before are not cleared.")
def accumulated_update_e(optimizer, scheduler, parts, compute_loss):
    loss = torch.stack([compute_loss(part) for part in parts]).mean()
    loss.backward()
    optimizer.step()
    scheduler.step()


# ---------------------------------------------------------------- best_checkpoint
@wrong(
    "best_checkpoint",
    "The batches' means are averaged without their sizes: a small batch counts as much as a large one.",
)
def best_checkpoint_a(checkpoints, batches, loss_of):
    means = [sum(float(loss_of(c, b)) for b in batches) / len(batches) for c in checkpoints]
    return means.index(min(means))


@wrong(
    "best_checkpoint",
    "Stops at the first checkpoint that is worse than the one before; a later one may be better.",
)
def best_checkpoint_b(checkpoints, batches, loss_of):
    best, place = None, 0
    for i, c in enumerate(checkpoints):
        loss = sum(float(loss_of(c, b)) * len(b) for b in batches)
        if best is not None and loss > best:
            break
        best, place = loss, i
    return place


@wrong(
    "best_checkpoint",
    "`best` begins at 10: if every loss is higher, the place is never set and 0 comes out.",
)
def best_checkpoint_c(checkpoints, batches, loss_of):
    best, place = 10.0, 0
    n = sum(len(b) for b in batches)
    for i, c in enumerate(checkpoints):
        loss = sum(float(loss_of(c, b)) * len(b) for b in batches) / n
        if loss < best:
            best, place = loss, i
    return place


@wrong(
    "best_checkpoint", "The sum is not set back between the checkpoints: the first one always wins."
)
def best_checkpoint_d(checkpoints, batches, loss_of):
    total, losses = 0.0, []
    for c in checkpoints:
        for b in batches:
            total += float(loss_of(c, b)) * len(b)
        losses.append(total)
    return int(np.argmin(losses))


# ---------------------------------------------------------------- average_checkpoints
@wrong(
    "average_checkpoints",
    "The sum is built up in the first checkpoint's own tensors: that one is destroyed.",
)
def average_checkpoints_a(checkpoints):
    mean = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for name in mean:
            mean[name] += c[name]
    for name in mean:
        mean[name] /= len(checkpoints)
    return mean


@wrong(
    "average_checkpoints",
    "The mean of the mean so far and the next one: later checkpoints count more (right for one or two).",
)
def average_checkpoints_b(checkpoints):
    mean = {k: v.clone() for k, v in checkpoints[0].items()}
    for c in checkpoints[1:]:
        mean = {k: (mean[k] + c[k]) / 2 for k in mean}
    return mean


@wrong("average_checkpoints", "Only the last five are averaged, as in the paper.")
def average_checkpoints_c(checkpoints):
    checkpoints = checkpoints[-5:]
    return {k: torch.stack([c[k] for c in checkpoints]).mean(0) for k in checkpoints[0]}


# ---------------------------------------------------------------- next_token
@wrong("next_token", "squeeze() takes the batch axis away, too, where there is one sentence.")
def next_token_a(logits):
    return logits[:, -1:].argmax(-1).squeeze()


@wrong(
    "next_token", "The prediction of every position is made, and that of the first one returned."
)
def next_token_b(logits):
    return logits.argmax(dim=-1)[:, 0]


@wrong(
    "next_token",
    "The likeliest pair of position and token in the whole sentence is looked for (right for T = 1).",
)
def next_token_c(logits):
    B, T, V = logits.shape
    return logits.reshape(B, T * V).argmax(-1) % V


@wrong("next_token", "It looks among the words only, from id 4 on: <eos> can never come out.")
def next_token_d(logits):
    return logits[:, -1, 4:].argmax(-1) + 4


# ---------------------------------------------------------------- temperature_probabilities
@wrong(
    "temperature_probabilities",
    "Multiplied by the temperature: a high one makes it surer, not bolder (the same at 1).",
)
def temperature_probabilities_a(logits, temperature):
    return torch.softmax(logits * temperature, dim=-1)


@wrong(
    "temperature_probabilities",
    "The probabilities are divided instead of the logits: they no longer sum to one.",
)
def temperature_probabilities_b(logits, temperature):
    return torch.softmax(logits, dim=-1) / temperature


# ---------------------------------------------------------------- top_k_probabilities
@wrong(
    "top_k_probabilities",
    "Everything not below the k-th largest is kept: with ties these are more than k tokens.",
)
def top_k_probabilities_a(logits, k):
    threshold = logits.topk(k, dim=-1).values[..., -1:]
    return torch.softmax(logits.masked_fill(logits < threshold, -torch.inf), dim=-1)


@wrong("top_k_probabilities", "The k largest are not made to sum to one.")
def top_k_probabilities_b(logits, k):
    p = logits.softmax(-1)
    top = p.topk(k, dim=-1)
    return torch.zeros_like(p).scatter(-1, top.indices, top.values)


@wrong(
    "top_k_probabilities",
    "The logits of the others are set to 0 instead of −inf: they stay possible, and if all logits are negative even likely.",
)
def top_k_probabilities_c(logits, k):
    top = logits.topk(k, dim=-1)
    return torch.softmax(torch.zeros_like(logits).scatter(-1, top.indices, top.values), dim=-1)


@wrong(
    "top_k_probabilities",
    "Keeps what is larger than the k-th: only k − 1 tokens, and for k = 1 none at all (nan).",
)
def top_k_probabilities_d(logits, k):
    kth = logits.sort(dim=-1, descending=True).values[..., k - 1 : k]
    return torch.softmax(logits.masked_fill(logits <= kth, -torch.inf), dim=-1)


# ---------------------------------------------------------------- greedy_search
@wrong("greedy_search", "<sos> counts as a token: at most max_length − 1 words come out.")
def greedy_search_a(step, max_length):
    ids = [1]
    while len(ids) < max_length:
        token = step(torch.tensor([ids])).argmax(-1).item()
        if token == 2:
            break
        ids.append(token)
    return ids[1:]


@wrong(
    "greedy_search",
    "Only the last token is handed to step, as if it had a cache; it wants all from <sos> on.",
)
def greedy_search_b(step, max_length):
    ids = [1]
    for _ in range(max_length):
        token = int(step(torch.tensor([ids[-1:]])).argmax())
        if token == 2:
            break
        ids.append(token)
    return ids[1:]


@wrong(
    "greedy_search",
    "The token 0 ends the loop, too (`if not token`), though only <eos> ends a sentence.",
)
def greedy_search_c(step, max_length):
    ids = []
    while len(ids) < max_length:
        token = step(torch.tensor([[1] + ids])).argmax(dim=-1).item()
        if not token or token == 2:
            break
        ids.append(token)
    return ids


@wrong(
    "greedy_search",
    "The last token is cut off as if it were <eos>, even when the search ended at max_length.",
)
def greedy_search_d(step, max_length):
    ids = torch.tensor([[1]])
    for _ in range(max_length):
        ids = torch.cat([ids, step(ids).argmax(-1, keepdim=True)], dim=1)
        if ids[0, -1] == 2:
            break
    return ids[0, 1:-1].tolist()


@wrong(
    "greedy_search",
    "Stops when the same word comes twice running, against loops; only <eos> and max_length end the search.",
)
def greedy_search_e(step, max_length):
    ids = [1]
    for _ in range(max_length):
        token = step(torch.tensor([ids])).argmax(-1).item()
        if token == 2 or token == ids[-1]:
            break
        ids.append(token)
    return ids[1:]


@wrong(
    "greedy_search",
    "The list is a default argument: the second sentence goes on where the first stopped.",
)
def greedy_search_f(step, max_length, ids=[1]):
    while len(ids) - 1 < max_length:
        token = step(torch.tensor([ids])).argmax(-1).item()
        if token == 2:
            break
        ids.append(token)
    return ids[1:]


# ---------------------------------------------------------------- greedy_batch
@wrong("greedy_batch", "Stops as soon as one sentence has ended.")
def greedy_batch_a(step, n_sentences, max_length):
    ids = torch.full((n_sentences, 1), 1)
    for _ in range(max_length):
        token = step(ids).argmax(-1)
        ids = torch.cat([ids, token[:, None]], 1)
        if (token == 2).any():
            break
    return ids[:, 1:]


@wrong(
    "greedy_batch",
    "All must say <eos> at the same step for it to stop; what a finished sentence says afterwards stays instead of padding.",
)
def greedy_batch_b(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        token = step(ids).argmax(-1)
        ids = torch.cat([ids, token.unsqueeze(1)], 1)
        if (token == 2).all():
            break
    return ids[:, 1:]


@wrong(
    "greedy_batch",
    "`done` is set anew each time instead of kept: a sentence wakes up two steps after its <eos>.",
)
def greedy_batch_c(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        token = step(ids).argmax(-1).masked_fill(done, 0)
        ids = torch.cat([ids, token[:, None]], 1)
        done = token == 2
        if done.all():
            break
    return ids[:, 1:]


@wrong("greedy_batch", "Finished sentences repeat <eos> instead of being padded with 0.")
def greedy_batch_d(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        token = torch.where(done, torch.tensor(2), step(ids).argmax(-1))
        ids = torch.cat([ids, token[:, None]], 1)
        done |= token == 2
        if done.all():
            break
    return ids[:, 1:]


@wrong(
    "greedy_batch",
    "A sentence cut at max_length gets an <eos> in its last place though it said something else.",
)
def greedy_batch_e(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        token = step(ids).argmax(-1).masked_fill(done, 0)
        ids = torch.cat([ids, token[:, None]], 1)
        done = done | (token == 2)
        if done.all():
            break
    ids[~done, -1] = 2
    return ids[:, 1:]


@wrong(
    "greedy_batch",
    "The sentence counts as done when it says 0 as well as at <eos>: a likeliest token 0 in the middle ends it.",
)
def greedy_batch_f(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        done = (ids[:, -1] == 2) | (ids[:, -1] == 0)
        if done.all():
            break
        token = step(ids).argmax(-1)
        token[done] = 0
        ids = torch.cat([ids, token[:, None]], 1)
    return ids[:, 1:]


# ---------------------------------------------------------------- beam_search
def _grow(step, living):
    """All continuations of the living hypotheses: (score, ids), best first."""
    logp = step(torch.tensor([[1] + ids for _, ids in living]))
    new = [
        (score + logp[i, t].item(), ids + [t])
        for i, (score, ids) in enumerate(living)
        for t in range(logp.shape[1])
    ]
    return sorted(new, key=lambda h: -h[0])


@wrong(
    "beam_search",
    "The first finished hypothesis is returned at once; one that ends later may be likelier.",
)
def beam_search_a(step, beam_size, max_length):
    living = [(0.0, [])]
    for _ in range(max_length):
        living = _grow(step, living)[:beam_size]
        for _, ids in living:
            if ids[-1] == 2:
                return ids[:-1]
    return living[0][1]


@wrong("beam_search", "The score is divided by the length; asked is the sum of log-probabilities.")
def beam_search_b(step, beam_size, max_length):
    living, finished = [(0.0, [])], []
    for _ in range(max_length):
        best = _grow(step, living)[:beam_size]
        finished += [h for h in best if h[1][-1] == 2]
        living = [h for h in best if h[1][-1] != 2]
        if not living:
            break
    score, ids = max(finished + living, key=lambda h: h[0] / len(h[1]))
    return [t for t in ids if t != 2]


@wrong(
    "beam_search", "Finished ones win against those that reach max_length, whatever their scores."
)
def beam_search_c(step, beam_size, max_length):
    living, finished = [(0.0, [])], []
    for _ in range(max_length):
        best = _grow(step, living)[:beam_size]
        finished += [h for h in best if h[1][-1] == 2]
        living = [h for h in best if h[1][-1] != 2]
        if not living:
            break
    ids = max(finished or living, key=lambda h: h[0])[1]
    return ids[:-1] if ids[-1] == 2 else ids


@wrong("beam_search", "The log-probability of <eos> is not added to a finished hypothesis.")
def beam_search_d(step, beam_size, max_length):
    living, finished = [(0.0, [])], []
    for _ in range(max_length):
        before = {tuple(ids): score for score, ids in living}
        best = _grow(step, living)[:beam_size]
        finished += [(before[tuple(h[1][:-1])], h[1]) for h in best if h[1][-1] == 2]
        living = [h for h in best if h[1][-1] != 2]
        if not living:
            break
    ids = max(finished + living, key=lambda h: h[0])[1]
    return ids[:-1] if ids[-1] == 2 else ids


@wrong(
    "beam_search",
    "Each hypothesis keeps its own best continuation, instead of the best beam_size of all together.",
)
def beam_search_e(step, beam_size, max_length):
    first = _grow(step, [(0.0, [])])[:beam_size]
    living, finished = first, []
    for n in range(1, max_length + 1):
        finished += [h for h in living if h[1][-1] == 2]
        living = [h for h in living if h[1][-1] != 2]
        if not living or n == max_length:
            break
        living = [max(_grow(step, [h])) for h in living]
    ids = max(finished + living, key=lambda h: h[0])[1]
    return ids[:-1] if ids[-1] == 2 else ids


@wrong(
    "beam_search",
    "Stops as soon as beam_size hypotheses are finished, while a living one is still better and could win.",
)
def beam_search_f(step, beam_size, max_length):
    living, finished = [(0.0, [])], []
    for _ in range(max_length):
        best = _grow(step, living)[:beam_size]
        finished += [h for h in best if h[1][-1] == 2]
        living = [h for h in best if h[1][-1] != 2]
        if not living or len(finished) >= beam_size:
            break
    ids = max(finished if len(finished) >= beam_size else finished + living, key=lambda h: h[0])[1]
    return ids[:-1] if ids[-1] == 2 else ids


@wrong(
    "beam_search",
    "The <sos> counts towards max_length, so that the hypotheses are cut one token early.",
)
def beam_search_g(step, beam_size, max_length):
    living, finished = [(0.0, [])], []
    while living and 1 + len(living[0][1]) < max_length:
        best = _grow(step, living)[:beam_size]
        finished += [h for h in best if h[1][-1] == 2]
        living = [h for h in best if h[1][-1] != 2]
    ids = max(finished + living, key=lambda h: h[0])[1]
    return ids[:-1] if ids and ids[-1] == 2 else ids


@wrong("beam_search", "Only the last log-probability is kept, the sum is not carried on.")
def beam_search_h(step, beam_size, max_length):
    living, finished = [(0.0, [])], []
    for _ in range(max_length):
        best = _grow(step, [(0.0, ids) for _, ids in living])[:beam_size]
        finished += [h for h in best if h[1][-1] == 2]
        living = [h for h in best if h[1][-1] != 2]
        if not living:
            break
    ids = max(finished + living, key=lambda h: h[0])[1]
    return ids[:-1] if ids[-1] == 2 else ids


# ---------------------------------------------------------------- embed_next
@wrong("embed_next", "The positions begin at 0 instead of at `past` (right for an empty cache).")
def embed_next_a(tokens, past, weight, table):
    return weight[tokens] + table[: tokens.shape[1]]


@wrong("embed_next", "All new tokens get the position of the first one (right for t = 1).")
def embed_next_b(tokens, past, weight, table):
    return weight[tokens] + table[past]


@wrong(
    "embed_next",
    "One position too far: past tokens stand at 0 … past − 1, the first new one at `past`.",
)
def embed_next_c(tokens, past, weight, table):
    positions = torch.arange(1, tokens.shape[1] + 1) + past
    return F.embedding(tokens, weight) + table[positions.clamp(max=len(table) - 1)]


@wrong("embed_next", "Only the last new token is embedded (right for t = 1).")
def embed_next_d(tokens, past, weight, table):
    return weight[tokens[:, -1:]] + table[past + tokens.shape[1] - 1]


# ---------------------------------------------------------------- reorder_cache
@wrong(
    "reorder_cache",
    "Written in place, row by row: a row that was overwritten already is read again (rows = [1, 0]).",
)
def reorder_cache_a(cache, rows):
    for keys, values in cache:
        for i, row in enumerate(rows):
            keys[i] = keys[row]
            values[i] = values[row]
    return cache


@wrong(
    "reorder_cache",
    "Turned round: row i is sent to rows[i], instead of taken from there (the same for an exchange of two).",
)
def reorder_cache_b(cache, rows):
    new = []
    for keys, values in cache:
        k, v = keys.clone(), values.clone()
        for i, row in enumerate(rows):
            k[row], v[row] = keys[i], values[i]
        new.append((k, v))
    return new


@wrong("reorder_cache", "Only the keys follow the beams, the values stay.")
def reorder_cache_c(cache, rows):
    rows = torch.as_tensor(rows)
    return [(keys.index_select(0, rows), values) for keys, values in cache]


@wrong("reorder_cache", "A row that is taken twice comes only once: the number of beams shrinks.")
def reorder_cache_d(cache, rows):
    rows = torch.tensor(list(dict.fromkeys(int(r) for r in rows)))
    return [(k[rows], v[rows]) for k, v in cache]


# ---------------------------------------------------------------- length_normalised
@wrong("length_normalised", "Divided by length · α instead of length^α.")
def length_normalised_a(score, length, alpha):
    return score / (length * alpha) if alpha else score


@wrong("length_normalised", "The formula of another paper: ((5 + length) / 6)^α.")
def length_normalised_b(score, length, alpha):
    return score / ((5 + length) / 6) ** alpha


@wrong(
    "length_normalised",
    "`alpha or 1`: α = 0, which should leave the score alone, divides by the length.",
)
def length_normalised_c(score, length, alpha):
    return score / length ** (alpha or 1)


# ---------------------------------------------------------------- cut_at_end
@wrong(
    "cut_at_end",
    "The place 0 is taken for not found: a list that begins with <eos> comes back whole.",
)
def cut_at_end_a(ids):
    end = next((i for i, t in enumerate(ids) if t == 2), None)
    return ids[:end] if end else ids


@wrong("cut_at_end", "Cuts at the last <eos> instead of the first.")
def cut_at_end_b(ids):
    for i in reversed(range(len(ids))):
        if ids[i] == 2:
            return ids[:i]
    return ids


@wrong("cut_at_end", "Where there is no <eos>, the last id is lost (find gives −1).")
def cut_at_end_c(ids):
    end = -1
    for i, t in enumerate(ids):
        if t == 2:
            end = i
            break
    return ids[:end]


@wrong("cut_at_end", "All <eos> are filtered out, but what stands behind the first stays.")
def cut_at_end_d(ids):
    return [t for t in ids if t != 2]
