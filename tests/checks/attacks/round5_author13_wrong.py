"""Round 5, author 13: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right
import copy
import math
from collections import Counter

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

PAD, SOS, EOS, UNK = 0, 1, 2, 3


# ---------------------------------------------------------------- chapters 1 to 3


@wrong(
    "number_of_targets",
    "Base and exponent are exchanged: length ** vocab_size (vocabulary 10, length 3).",
)
def number_of_targets_a(vocab_size, length):
    return length**vocab_size


@wrong(
    "number_of_targets",
    "Sequences without repetition are counted (permutations): a token may come twice (vocabulary 3, length 2).",
)
def number_of_targets_b(vocab_size, length):
    return math.perm(vocab_size, length)


@wrong(
    "number_of_targets",
    "All lengths up to `length` are summed, where exactly `length` tokens are asked for (2, 3 gives 14).",
)
def number_of_targets_c(vocab_size, length):
    return sum(vocab_size**n for n in range(1, length + 1))


@wrong(
    "build_vocabulary",
    "Words must come more often than min_frequency, not at least that often (a word that comes exactly min_frequency times).",
)
def build_vocabulary_a(sentences, min_frequency):
    counts = Counter(word for sentence in sentences for word in sentence)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for word, count in counts.items():
        if count > min_frequency:
            vocabulary[word] = len(vocabulary)
    return vocabulary


@wrong(
    "build_vocabulary",
    "The ids come from the running number over all words, so rare words leave gaps (a rare word before a frequent one).",
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
    "Counts in how many sentences a word comes, not how often (a word twice in one sentence, min_frequency 2).",
)
def build_vocabulary_c(sentences, min_frequency):
    counts = Counter()
    for sentence in sentences:
        counts.update(set(sentence))
    words = [w for w, c in counts.items() if c >= min_frequency]
    return {w: i for i, w in enumerate(["<pad>", "<sos>", "<eos>", "<unk>"] + words)}


@wrong(
    "build_vocabulary",
    "The word is entered when its count is seen to reach min_frequency, but the count starts at 0 on the first sight, so it must come once more.",
)
def build_vocabulary_d(sentences, min_frequency):
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    seen = {}
    for sentence in sentences:
        for word in sentence:
            if word in seen:
                seen[word] += 1
            else:
                seen[word] = 0
    for word in seen:
        if seen[word] >= min_frequency:
            vocabulary[word] = len(vocabulary)
    return vocabulary


@wrong(
    "encode",
    "Unknown tokens are dropped in place of becoming <unk> (a token not in the dictionary).",
)
def encode_a(tokens, vocabulary):
    return [vocabulary[t] for t in tokens if t in vocabulary] + [EOS]


@wrong(
    "encode",
    "`or 3` takes the id 0 for missing: the token `<pad>` itself among the tokens becomes <unk>.",
)
def encode_b(tokens, vocabulary):
    return [vocabulary.get(t) or UNK for t in tokens] + [EOS]


@wrong(
    "encode",
    "Unknown tokens get a new id of their own in the dictionary: an argument is changed and <unk> never used (any unknown token).",
)
def encode_c(tokens, vocabulary):
    return [vocabulary.setdefault(t, len(vocabulary)) for t in tokens] + [EOS]


@wrong(
    "encode",
    "<eos> is forgotten for an empty list of tokens, for it is added to the last token only in the loop (tokens = []).",
)
def encode_d(tokens, vocabulary):
    ids = []
    for i, token in enumerate(tokens):
        ids.append(vocabulary.get(token, UNK))
        if i == len(tokens) - 1:
            ids.append(EOS)
    return ids


@wrong(
    "text_to_ids",
    "The text is split at spaces, and the tokenizer of the training is not used (any tokenizer that splits otherwise).",
)
def text_to_ids_a(text, tokenize, vocabulary):
    return [vocabulary.get(t, UNK) for t in text.split()] + [EOS]


@wrong(
    "text_to_ids",
    "The text is lowered before, though the tokenizer decides about capitals (a text with capitals and a tokenizer that keeps them).",
)
def text_to_ids_b(text, tokenize, vocabulary):
    return [vocabulary.get(t, UNK) for t in tokenize(text.lower())] + [EOS]


@wrong(
    "text_to_ids",
    "The text is stripped before tokenizing: tokenizers for which spaces are tokens give other ids (spaces at the ends, tokenize=list).",
)
def text_to_ids_c(text, tokenize, vocabulary):
    tokens = tokenize(text.strip())
    return [vocabulary.get(token, vocabulary["<unk>"]) for token in tokens] + [vocabulary["<eos>"]]


@wrong(
    "training_words",
    "Validation is counted, too: a model may learn from `train` alone (a word only frequent with validation).",
)
def training_words_a(splits, min_frequency):
    counts = Counter()
    for name in ("train", "validation"):
        for sentence in splits[name]:
            counts.update(sentence)
    return {w for w, c in counts.items() if c >= min_frequency}


@wrong(
    "training_words",
    "Words of the test set are taken out of the vocabulary (a frequent training word that is in the test set).",
)
def training_words_b(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    held_out = {w for s in splits["test"] for w in s}
    return {w for w, c in counts.items() if c >= min_frequency} - held_out


@wrong(
    "training_words",
    "The words come from train, but they are counted over all splits (rare in train, frequent in test).",
)
def training_words_c(splits, min_frequency):
    counts = Counter(w for part in splits.values() for s in part for w in s)
    return {w for s in splits["train"] for w in s if counts[w] >= min_frequency}


@wrong(
    "collate",
    "The width is that of the first row: longer rows are cut (first row not the longest).",
)
def collate_a(rows):
    length = len(rows[0])
    return torch.tensor([(row + [0] * length)[:length] for row in rows])


@wrong("collate", "One column too many: room for an <eos> that is there already (every input).")
def collate_b(rows):
    out = torch.zeros(len(rows), max(map(len, rows)) + 1, dtype=torch.long)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.tensor(row)
    return out


@wrong(
    "collate",
    "The rows are sorted by length, so the order of the sentences is lost (rows not in falling length).",
)
def collate_c(rows):
    rows = sorted(rows, key=len, reverse=True)
    out = torch.zeros(len(rows), len(rows[0]), dtype=torch.long)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.as_tensor(row)
    return out


@wrong(
    "collate",
    "The rows themselves are padded with +=: the argument is changed (rows of different length).",
)
def collate_d(rows):
    longest = max(len(row) for row in rows)
    for row in rows:
        row += [0] * (longest - len(row))
    return torch.tensor(rows)


@wrong("shift", "The decoder reads what it is to say: the two are exchanged (every input).")
def shift_a(target):
    return target[:, 1:], target[:, :-1]


@wrong(
    "shift",
    "torch.roll in place of cutting: T columns and <sos> at the end of the labels (every input).",
)
def shift_b(target):
    return target, torch.roll(target, -1, dims=1)


@wrong("shift", "The batch is cut, not the time (every input).")
def shift_c(target):
    return target[:-1], target[1:]


@wrong(
    "shift",
    "<eos> is taken out of what the decoder reads, where only the last column goes (a sentence with padding behind <eos>).",
)
def shift_d(target):
    return target[:, :-1].masked_fill(target[:, :-1] == EOS, PAD), target[:, 1:]


# ---------------------------------------------------------------- chapters 4 and 5


@wrong("embedding", "The root is of the vocabulary's size, weight.shape[0], not of D (V ≠ D).")
def embedding_a(tokens, weight):
    return weight[tokens] * math.sqrt(weight.shape[0])


@wrong(
    "embedding",
    "padding_idx=0 cuts the gradient of row 0 off, though the result's gradient is to be that of the rows (tokens with a 0).",
)
def embedding_b(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * weight.size(-1) ** 0.5


@wrong("embedding", "Divided by the root of D, as in attention (every input).")
def embedding_c(tokens, weight):
    return weight[tokens] / math.sqrt(weight.shape[1])


@wrong("embedding", "nn.Embedding.from_pretrained freezes: no gradient reaches the weight.")
def embedding_d(tokens, weight):
    layer = nn.Embedding.from_pretrained(weight)
    return layer(tokens) * math.sqrt(weight.shape[1])


class TokenEmbeddingPadded(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.scale = math.sqrt(d_model)

    def forward(self, tokens):
        vectors = self.weight[tokens] * self.scale
        return vectors * (tokens != 0).unsqueeze(-1)


wrong(
    "embedding",
    "The vectors of padding are set to zero, where row 0 of the weight is asked for (tokens with a 0).",
)(TokenEmbeddingPadded)


@wrong("tied_logits", "Detached weight: the embedding gets no gradient from the output side.")
def tied_logits_a(x, weight):
    return x @ weight.detach().T


@wrong(
    "tied_logits", "The logits are divided by the root of D, which nobody asked for (every input)."
)
def tied_logits_b(x, weight):
    return F.linear(x, weight) / math.sqrt(x.shape[-1])


@wrong(
    "tied_logits",
    "Cosine similarity in place of the dot product: the rows are normalised (rows with a length other than 1).",
)
def tied_logits_c(x, weight):
    return torch.einsum("btd,vd->btv", x, F.normalize(weight, dim=-1))


@wrong("sinusoids", "The exponent is i/D in place of 2i/D (D of 4 and more).")
def sinusoids_a(length, d_model):
    p = torch.arange(length).float().unsqueeze(1)
    i = torch.arange(d_model // 2).float()
    angles = p / 10000 ** (i / d_model)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


@wrong(
    "sinusoids",
    "The column's own number is the exponent, so sine and cosine of a pair have different frequencies (D ≥ 2, p > 0).",
)
def sinusoids_b(length, d_model):
    p = torch.arange(length).float().unsqueeze(1)
    c = torch.arange(d_model).float()
    angles = p / 10000 ** (c / d_model)
    table = torch.empty(length, d_model)
    table[:, 0::2] = angles[:, 0::2].sin()
    table[:, 1::2] = angles[:, 1::2].cos()
    return table


@wrong(
    "sinusoids",
    "linspace from 0 to 1 with both ends: the last frequency is 1/10000, not 10000^-((D-2)/D) (D of 4 and more).",
)
def sinusoids_c(length, d_model):
    p = torch.arange(length, dtype=torch.float32)
    freqs = 10000.0 ** -torch.linspace(0, 1, d_model // 2)
    angles = torch.outer(p, freqs)
    out = torch.zeros(length, d_model)
    out[:, ::2], out[:, 1::2] = torch.sin(angles), torch.cos(angles)
    return out


@wrong(
    "sinusoids",
    "The table is cut from one of 512 rows: longer ones come too short (length over 512).",
)
def sinusoids_d(length, d_model, max_len=512):
    pe = torch.zeros(max_len, d_model)
    position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe[:length]


@wrong("sinusoids", "Positions count from 1 (every input).")
def sinusoids_e(length, d_model):
    position = torch.arange(1, length + 1).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    pe = torch.zeros(length, d_model)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


@wrong(
    "add_positions",
    "x.size(0), the batch, chooses the rows, as in code for position-first tensors (B ≠ T; with B = 1 the same row everywhere).",
)
def add_positions_a(x, table):
    return x + table[: x.size(0)].unsqueeze(1)


@wrong("add_positions", "+= changes x itself, an argument.")
def add_positions_b(x, table):
    x += table[: x.shape[1]]
    return x


@wrong("add_positions", "The rows are detached: a learned table gets no gradient.")
def add_positions_c(x, table):
    return x + table[: x.size(1)].detach()


@wrong(
    "add_positions",
    "The last rows of the table are taken, not the first ones (table longer than T).",
)
def add_positions_d(x, table):
    return x + table[-x.shape[1] :]


# ---------------------------------------------------------------- chapters 7 and 8


@wrong(
    "softmax", "No maximum is subtracted: exp overflows and gives nan (scores about 100 and more)."
)
def softmax_a(scores):
    e = torch.exp(scores)
    return e / e.sum(dim=-1, keepdim=True)


@wrong(
    "softmax",
    "Softmax over axis 1, which is the last axis only for matrices (three and more axes).",
)
def softmax_b(scores):
    e = torch.exp(scores - scores.amax(dim=1, keepdim=True))
    return e / e.sum(dim=1, keepdim=True)


@wrong(
    "softmax",
    "The maximum of the whole tensor is subtracted: rows far below underflow to 0/0 (one row about 0, another about 1000).",
)
def softmax_c(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum(dim=-1, keepdim=True)


@wrong(
    "softmax",
    "keepdim is missing in the sum: broadcasting divides by the wrong row's sum (square matrices; else it raises).",
)
def softmax_d(scores):
    e = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return e / e.sum(dim=-1)


@wrong("softmax", "1e-3 in the denominator: the probabilities sum to less than one (every input).")
def softmax_e(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / (e.sum(-1, keepdim=True) + 1e-3)


@wrong(
    "scaled_dot_product_attention",
    "Rows that may attend to nothing are nan, for -inf everywhere has no softmax (a query without any key).",
)
def sdpa_a(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, dim=-1) @ value


@wrong(
    "scaled_dot_product_attention",
    "With -1e9 a query that may attend to nothing gets the mean of all values, not zeros (a query without any key).",
)
def sdpa_b(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, value)


@wrong(
    "scaled_dot_product_attention",
    "nan_to_num mends the values, but the gradient of a wholly masked row stays nan (a query without any key, gradients asked).",
)
def sdpa_c(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)
    return torch.nan_to_num(torch.softmax(scores, dim=-1)) @ value


@wrong(
    "scaled_dot_product_attention",
    "Scaled by the width of the values, not of the keys (values wider than the keys).",
)
def sdpa_d(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(value.shape[-1])
    if mask is None:
        return scores.softmax(-1) @ value
    weights = scores.masked_fill(~mask, -1e30).softmax(-1)
    return weights.masked_fill(~mask, 0.0) @ value


@wrong(
    "scaled_dot_product_attention",
    "Hidden weights are set to zero after the softmax and not normalised again (any mask that hides something).",
)
def sdpa_e(query, key, value, mask=None):
    weights = torch.softmax(query @ key.transpose(-2, -1) * key.shape[-1] ** -0.5, dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ value


@wrong(
    "scaled_dot_product_attention", "Softmax over the queries' axis, dim=-2 (more than one query)."
)
def sdpa_f(query, key, value, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", query, key) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e30)
    weights = torch.softmax(scores, dim=-2)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ value


@wrong(
    "scaled_dot_product_attention",
    "A whole sentence's rows are set to zero with any() over the last two axes: a single query without keys gets the mean (some queries of a sentence may attend, one not).",
)
def sdpa_g(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is None:
        return scores.softmax(-1) @ value
    out = scores.masked_fill(~mask, -1e9).softmax(-1) @ value
    alive = mask.flatten(-2).any(-1)[..., None, None]
    return out.masked_fill(~alive, 0.0)


@wrong(
    "scaled_dot_product_attention",
    "The scores are multiplied by the mask: hidden keys get score 0, not none (any mask that hides something).",
)
def sdpa_h(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores * mask
    return F.softmax(scores, dim=-1) @ value


@wrong(
    "scaled_dot_product_attention",
    "Hidden scores are -100, which a strongly negative visible score falls below (visible scores of about -100 and below).",
)
def sdpa_i(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is None:
        return scores.softmax(dim=-1) @ value
    weights = scores.masked_fill(~mask, -100.0).softmax(dim=-1)
    return (weights @ value) * mask.any(dim=-1, keepdim=True)


@wrong("padding_mask", "The mask is the wrong way round: True marks padding (every input).")
def padding_mask_a(tokens):
    return (tokens == 0)[:, None, None, :]


@wrong("padding_mask", "(B, 1, S, 1): it hides queries, not keys (every input with S > 1).")
def padding_mask_b(tokens):
    return (tokens != 0).unsqueeze(1).unsqueeze(-1)


@wrong("padding_mask", "`> 1` hides <sos> as well (a sentence with the token 1).")
def padding_mask_c(tokens):
    return (tokens > 1)[:, None, None]


@wrong(
    "padding_mask",
    "The length is counted and an arange compared with <=: one padding token more is seen (padded sentences).",
)
def padding_mask_d(tokens):
    lengths = tokens.ne(0).sum(dim=1, keepdim=True)
    positions = torch.arange(tokens.size(1), device=tokens.device)
    return (positions <= lengths)[:, None, None, :]


@wrong(
    "padding_mask",
    "What stands behind <eos> is hidden: a real token behind an <eos> counts as padding (an <eos> in the middle).",
)
def padding_mask_e(tokens):
    ended = (tokens == EOS).cumsum(dim=1) - (tokens == EOS).long()
    return ((tokens != PAD) & (ended == 0))[:, None, None, :]


@wrong("causal_mask", "triu: each sees itself and what comes after (length of 2 and more).")
def causal_mask_a(length):
    return torch.triu(torch.ones(length, length, dtype=torch.bool))


@wrong("causal_mask", "True marks what is hidden, as in nn.Transformer (every length).")
def causal_mask_b(length):
    return torch.triu(torch.ones(length, length), diagonal=1).bool()


@wrong("causal_mask", "diagonal=1: the next token is visible (length of 2 and more).")
def causal_mask_c(length):
    return torch.ones(length, length, dtype=torch.bool).tril(diagonal=1)


@wrong(
    "causal_mask",
    "A buffer of 128 positions is sliced: longer masks are too small (length over 128).",
)
def causal_mask_d(length, block_size=128):
    bias = torch.tril(torch.ones(block_size, block_size)).bool()
    return bias[:length, :length]


@wrong(
    "target_mask",
    "`|` in place of `&`: padding before is visible and so is the future (length 2 and more).",
)
def target_mask_a(tokens):
    length = tokens.shape[1]
    causal = torch.tril(torch.ones(length, length, dtype=torch.bool))
    return (tokens != 0)[:, None, None, :] | causal


@wrong(
    "target_mask",
    "The padding's rows are hidden, not its columns: a real token sees padding that stands before it (padding in front).",
)
def target_mask_b(tokens):
    length = tokens.size(1)
    causal = torch.ones(length, length, dtype=torch.bool, device=tokens.device).tril()
    return causal & (tokens != 0)[:, None, :, None]


@wrong(
    "target_mask",
    "Padding is taken to stand at the end, so its columns are left to the causal mask and padding in front is seen.",
)
def target_mask_c(tokens):
    b, t = tokens.shape
    lengths = (tokens != 0).sum(1)
    i = torch.arange(t)
    keep = i[None, :] < lengths[:, None]
    return keep[:, None, None, :] & (i[None, :] <= i[:, None])


@wrong(
    "target_mask",
    "The batch is merged: a column is hidden for all if the first sentence has padding there (B > 1 with different padding).",
)
def target_mask_d(tokens):
    b, t = tokens.shape
    mask = torch.tril(torch.ones(t, t, dtype=torch.bool)) & (tokens[0] != PAD)
    return mask.expand(b, 1, t, t)


@wrong(
    "target_mask",
    "The diagonal is forced to True, so padding sees itself, which is hidden by the sheet (any padding).",
)
def target_mask_e(tokens):
    t = tokens.size(1)
    mask = torch.tril(torch.ones(t, t, dtype=torch.bool)) & tokens.ne(0)[:, None, None, :]
    return mask | torch.eye(t, dtype=torch.bool)


# ---------------------------------------------------------------- chapter 9


@wrong(
    "multi_head_attention",
    "view straight to (B, H, T, K) without transpose: positions and features are mixed (T > 1, H > 1).",
)
def mha_a(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    k = d // n_heads
    q = (query @ w_query.T).view(b, n_heads, -1, k)
    ke = (key @ w_key.T).view(b, n_heads, -1, k)
    v = (value @ w_value.T).view(b, n_heads, -1, k)
    out = F.scaled_dot_product_attention(q, ke, v, attn_mask=mask)
    return out.transpose(1, 2).reshape(b, t, d) @ w_output.T


@wrong("multi_head_attention", "Scaled by the root of D, not of D / H (more than one head).")
def mha_b(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    split = lambda x: x.unflatten(-1, (n_heads, d // n_heads)).transpose(1, 2)
    q, k, v = split(query @ w_query.T), split(key @ w_key.T), split(value @ w_value.T)
    scores = q @ k.transpose(-2, -1) / math.sqrt(d)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) @ w_output.T


@wrong(
    "multi_head_attention",
    "The heads are merged without transpose(1, 2): (B, H, T, K) is reshaped at once (T > 1, H > 1).",
)
def mha_c(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    s = key.shape[1]
    k = d // n_heads
    q = F.linear(query, w_query).view(b, t, n_heads, k).transpose(1, 2)
    ke = F.linear(key, w_key).view(b, s, n_heads, k).transpose(1, 2)
    v = F.linear(value, w_value).view(b, s, n_heads, k).transpose(1, 2)
    scores = q @ ke.transpose(-1, -2) / math.sqrt(k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, float("-inf"))
    out = torch.softmax(scores, -1) @ v
    return F.linear(out.reshape(b, t, d), w_output)


@wrong("multi_head_attention", "The values are made from key, not from value (value ≠ key).")
def mha_d(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    heads = lambda x, w: F.linear(x, w).view(b, x.shape[1], n_heads, -1).transpose(1, 2)
    out = F.scaled_dot_product_attention(
        heads(query, w_query), heads(key, w_key), heads(key, w_value), attn_mask=mask
    )
    return F.linear(out.transpose(1, 2).reshape(b, t, d), w_output)


@wrong(
    "multi_head_attention",
    "The mask is used as nn.MultiheadAttention does, True = hidden (any mask that hides something).",
)
def mha_e(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    heads = lambda x, w: (x @ w.T).view(b, -1, n_heads, d // n_heads).transpose(1, 2)
    q, k, v = heads(query, w_query), heads(key, w_key), heads(value, w_value)
    scores = q @ k.transpose(2, 3) / (d // n_heads) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    return (scores.softmax(3) @ v).transpose(1, 2).reshape(b, t, d) @ w_output.T


@wrong(
    "multi_head_attention",
    "The output projection is forgotten (every input; w_output gets no gradient).",
)
def mha_f(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    heads = lambda x, w: (x @ w.T).view(b, -1, n_heads, d // n_heads).transpose(1, 2)
    out = F.scaled_dot_product_attention(
        heads(query, w_query), heads(key, w_key), heads(value, w_value), attn_mask=mask
    )
    return out.transpose(1, 2).reshape(b, t, d)


@wrong(
    "multi_head_attention",
    "Keys are split with view(b * n_heads, ...) and the mask repeated with repeat(n_heads) in the wrong order: heads get other sentences' masks (B > 1, H > 1, masks that differ by sentence).",
)
def mha_g(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    s, k = key.shape[1], d // n_heads
    split = lambda x: x.view(b, -1, n_heads, k).transpose(1, 2).reshape(b * n_heads, -1, k)
    q, ke, v = split(query @ w_query.T), split(key @ w_key.T), split(value @ w_value.T)
    scores = torch.bmm(q, ke.transpose(1, 2)) / math.sqrt(k)
    if mask is not None:
        m = mask.expand(b, 1, t, s).reshape(b, t, s).repeat(n_heads, 1, 1)
        scores = scores.masked_fill(~m, -torch.inf)
    out = torch.bmm(scores.softmax(-1), v).view(b, n_heads, t, k)
    return out.transpose(1, 2).reshape(b, t, d) @ w_output.T


class MHAQueryLength(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h, self.k = n_heads, d_model // n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        b, t, d = query.shape
        q = self.query(query).view(b, t, self.h, self.k).transpose(1, 2)
        k = self.key(key).view(b, t, self.h, self.k).transpose(1, 2)
        v = self.value(value).view(b, t, self.h, self.k).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.k)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, d))


wrong(
    "multi_head_attention",
    "Keys are viewed with the queries' length: it raises in cross-attention (S ≠ T).",
)(MHAQueryLength)


class MHAMaskIgnored(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, query, key, value, mask=None):
        split = lambda x: x.unflatten(-1, (self.h, -1)).transpose(1, 2)
        q, k, v = split(self.query(query)), split(self.key(key)), split(self.value(value))
        scores = q @ k.mT / math.sqrt(q.size(-1))
        if mask is not None:
            scores.masked_fill(~mask, float("-inf"))
        return self.output((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


wrong(
    "multi_head_attention",
    "masked_fill without the underscore and without assignment: the mask does nothing (any mask that hides something).",
)(MHAMaskIgnored)


@wrong("merge_heads", "reshape without transposing: heads and positions are mixed (H > 1, T > 1).")
def merge_heads_a(heads):
    b, h, t, k = heads.shape
    return heads.reshape(b, t, h * k)


@wrong("merge_heads", "The heads are averaged and repeated, not laid side by side (H > 1).")
def merge_heads_b(heads):
    return heads.mean(dim=1).repeat(1, 1, heads.shape[1])


@wrong("merge_heads", "squeeze() of the result drops the axis of size one (B = 1 or T = 1).")
def merge_heads_c(heads):
    return torch.cat(heads.split(1, dim=1), dim=-1).squeeze()


# ---------------------------------------------------------------- chapters 10 and 11


@wrong("layer_norm", "The unbiased variance, divided by D - 1 (every input, clearly for small D).")
def layer_norm_a(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.var(-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(std + eps) + bias


@wrong(
    "layer_norm",
    "Eps is added to the standard deviation, not to the variance (positions with small variance).",
)
def layer_norm_b(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    std = x.std(dim=-1, keepdim=True, unbiased=False)
    return weight * (x - mean) / (std + eps) + bias


@wrong("layer_norm", "Mean and variance over all axes but the batch (T > 1).")
def layer_norm_c(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=(1, 2), keepdim=True)
    var = x.var(dim=(1, 2), keepdim=True, correction=0)
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


@wrong(
    "layer_norm", "Mean and variance are detached: the values are right, the gradient to x is not."
)
def layer_norm_d(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True, unbiased=False)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@wrong("layer_norm", "The square root is missing: divided by the variance (every input).")
def layer_norm_e(x, weight, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.pow(2).mean(-1, keepdim=True) + eps) * weight + bias


@wrong(
    "layer_norm", "The bias is added before scaling (weight other than one, bias other than zero)."
)
def layer_norm_f(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return weight * ((x - mean) / (var + eps).sqrt() + bias)


@wrong(
    "layer_norm",
    "E[x²] − E[x]² loses all digits in float32 (features about 1000 with small differences give nan or nonsense).",
)
def layer_norm_g(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = (x * x).mean(-1, keepdim=True) - mean * mean
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


class LayerNormUnbiased(nn.Module):
    def __init__(self, d_model, eps=1e-6):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True)
        return self.weight * (x - mean) / (std + self.eps) + self.bias


wrong(
    "layer_norm",
    "As in the Annotated Transformer: unbiased deviation and ε beside it, not under the root (every input, clearly for small D).",
)(LayerNormUnbiased)


@wrong("layer_norm_parameters", "The weight starts at zero, so nothing goes through (every D).")
def layer_norm_parameters_a(d_model):
    return torch.zeros(d_model), torch.zeros(d_model)


@wrong("layer_norm_parameters", "Bias first, weight second (every D).")
def layer_norm_parameters_b(d_model):
    return nn.Parameter(torch.zeros(d_model)), nn.Parameter(torch.ones(d_model))


@wrong("layer_norm_parameters", "The weight is drawn at random, as for a linear layer (every D).")
def layer_norm_parameters_c(d_model):
    return torch.randn(d_model), torch.zeros(d_model)


@wrong(
    "pre_norm",
    "The residual is the normalised x: norm(x) + sublayer(norm(x)) (a norm that changes x).",
)
def pre_norm_a(x, sublayer, norm):
    x = norm(x)
    return x + sublayer(x)


@wrong("pre_norm", "The norm stands behind the sublayer: x + norm(sublayer(x)).")
def pre_norm_b(x, sublayer, norm):
    return x + norm(sublayer(x))


@wrong("pre_norm", "The residual path is forgotten.")
def pre_norm_c(x, sublayer, norm):
    return sublayer(norm(x))


@wrong("post_norm", "norm(x) + sublayer(x): only the residual is normalised.")
def post_norm_a(x, sublayer, norm):
    return norm(x) + sublayer(x)


@wrong("post_norm", "Twice normalised: before and after.")
def post_norm_b(x, sublayer, norm):
    return norm(x + sublayer(norm(x)))


@wrong("dropout", "The kept entries are not enlarged (p > 0, training).")
def dropout_a(x, p, keep, training):
    if not training:
        return x
    return x * keep


@wrong(
    "dropout",
    "Divided by p, the probability of dropping, not of keeping (p other than 0.5; p = 0 gives inf).",
)
def dropout_b(x, p, keep, training):
    return x * keep / p if training else x


@wrong(
    "dropout",
    "Enlarged by the share that happens to be kept, not by 1 − p (the share differs from 1 − p).",
)
def dropout_c(x, p, keep, training):
    if not training:
        return x
    return x * keep / keep.float().mean()


@wrong("dropout", "keep is taken for the entries to drop (training).")
def dropout_d(x, p, keep, training):
    if training:
        return x.masked_fill(keep, 0.0) / (1 - p)
    return x


@wrong("dropout", "In evaluation the mask still drops: `training` only decides about the scale.")
def dropout_e(x, p, keep, training):
    scale = 1 / (1 - p) if training else 1.0
    return torch.where(keep, x, 0.0) * scale


@wrong("sublayer_with_dropout", "Dropout over the sum: it hits the residual path, too.")
def sublayer_with_dropout_a(x, sublayer, norm, dropout):
    return dropout(x + sublayer(norm(x)))


@wrong("sublayer_with_dropout", "Dropout on the sublayer's input in place of its output.")
def sublayer_with_dropout_b(x, sublayer, norm, dropout):
    return x + sublayer(dropout(norm(x)))


@wrong(
    "sublayer_with_dropout",
    "Post-norm, which is no accepted convention here: norm(x + dropout(sublayer(x))).",
)
def sublayer_with_dropout_c(x, sublayer, norm, dropout):
    return norm(x + dropout(sublayer(x)))


@wrong("feed_forward", "A second ReLU at the end: nothing negative comes out.")
def feed_forward_a(x, w1, b1, w2, b2):
    return torch.relu(torch.relu(x @ w1.T + b1) @ w2.T + b2)


@wrong("feed_forward", "b1 is added behind the ReLU (b1 other than zero).")
def feed_forward_b(x, w1, b1, w2, b2):
    return (F.relu(x @ w1.T) + b1) @ w2.T + b2


@wrong("feed_forward", "No nonlinearity: two linear maps are one.")
def feed_forward_c(x, w1, b1, w2, b2):
    return F.linear(F.linear(x, w1, b1), w2, b2)


@wrong("feed_forward", "leaky_relu in place of relu (negative inner values).")
def feed_forward_d(x, w1, b1, w2, b2):
    return F.linear(F.leaky_relu(F.linear(x, w1, b1)), w2, b2)


class FeedForwardResidual(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return x + self.linear2(torch.relu(self.linear1(x)))


wrong(
    "feed_forward",
    "The residual connection is inside the network, where it does not belong (every input).",
)(FeedForwardResidual)


@wrong(
    "group_sort", "The first half is paired with the second half, not neighbours (D of 4 and more)."
)
def group_sort_a(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((torch.minimum(a, b), torch.maximum(a, b)), dim=-1)


@wrong("group_sort", "All features are sorted, not pairs (D of 4 and more).")
def group_sort_b(x):
    return x.sort(dim=-1).values


@wrong(
    "group_sort",
    "Pairs are sorted, but put back halves by halves: all smaller ones, then all larger ones (D of 4 and more).",
)
def group_sort_c(x):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.cat((torch.minimum(a, b), torch.maximum(a, b)), dim=-1)


@wrong(
    "group_sort",
    "Sorted along the axis of pairs, dim=-2, and not within the pair (D of 4 and more; D = 2 stays unsorted).",
)
def group_sort_d(x):
    return x.unflatten(-1, (-1, 2)).sort(dim=-2).values.flatten(-2)


# ---------------------------------------------------------------- chapters 12 to 14


@wrong("encoder_layer", "Only the queries are normalised: keys and values are the raw x.")
def encoder_layer_a(x, mask, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x), x, x, mask)
    return x + feed_forward(norm2(x))


@wrong("encoder_layer", "norm1 is used twice, norm2 never (norms that differ).")
def encoder_layer_b(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    x = x + attention(h, h, h, mask)
    return x + feed_forward(norm1(x))


@wrong("encoder_layer", "The mask is not handed on (any mask that hides something).")
def encoder_layer_c(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    x = x + attention(h, h, h, None)
    return x + feed_forward(norm2(x))


@wrong(
    "encoder_layer",
    "The second residual goes back to the layer's input: the attention's result is lost from the sum.",
)
def encoder_layer_d(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    y = x + attention(h, h, h, mask)
    return x + feed_forward(norm2(y))


@wrong(
    "encoder_layer",
    "Parallel form: both sublayers read x, the feed-forward does not see the attention's result.",
)
def encoder_layer_e(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    return x + attention(h, h, h, mask) + feed_forward(norm2(x))


@wrong("encoder_layer", "Half and half: the first sublayer pre-norm, the second post-norm.")
def encoder_layer_f(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    x = x + attention(h, h, h, mask)
    return norm2(x + feed_forward(x))


@wrong(
    "decoder_layer",
    "The masks are exchanged between the two attentions (masks that hide something; S ≠ T raises perhaps).",
)
def decoder_layer_a(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, memory_mask)
    x = x + cross_attention(norms[1](x), memory, memory, target_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "The memory is normalised with norms[1], too, though it is no residual stream of this layer.",
)
def decoder_layer_b(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    m = norms[1](memory)
    x = x + cross_attention(norms[1](x), m, m, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "Cross-attention comes before self-attention.")
def decoder_layer_c(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    x = x + cross_attention(norms[0](x), memory, memory, memory_mask)
    n = norms[1](x)
    x = x + self_attention(n, n, n, target_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "Keys from memory, values from the target: cross_attention(q, memory, x) (S ≠ T or other numbers).",
)
def decoder_layer_d(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    n = norms[1](x)
    x = x + cross_attention(n, memory, n, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "The residual around cross-attention is missing.")
def decoder_layer_e(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "The memory is detached: no gradient reaches the encoder.")
def decoder_layer_f(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    memory = memory.detach()
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "causal_self_attention",
    "The mask is applied only in training: in evaluation each position sees the future (training=False, T > 1).",
)
def causal_self_attention_a(x, training):
    scores = x @ x.transpose(-2, -1) / math.sqrt(x.shape[-1])
    if training:
        scores = scores.masked_fill(torch.ones_like(scores).triu(1).bool(), -torch.inf)
    return scores.softmax(-1) @ x


@wrong(
    "causal_self_attention",
    "is_causal=training, as is written for dropout_p: evaluation is not causal (training=False, T > 1).",
)
def causal_self_attention_b(x, training):
    return F.scaled_dot_product_attention(x, x, x, dropout_p=0.0, is_causal=training)


@wrong("causal_self_attention", "Scaled by D in place of its root (T > 1).")
def causal_self_attention_c(x, training):
    t, d = x.shape[1:]
    scores = torch.einsum("bid,bjd->bij", x, x) / d
    scores = scores + torch.full((t, t), -torch.inf).triu(diagonal=1)
    return scores.softmax(-1) @ x


@wrong(
    "causal_self_attention",
    "Dropout of 0.1 on the weights in training, though there is no dropout (training=True).",
)
def causal_self_attention_d(x, training):
    t = x.shape[1]
    scores = x @ x.mT / x.shape[-1] ** 0.5
    scores = scores.masked_fill(~torch.tril(torch.ones(t, t)).bool(), float("-inf"))
    return F.dropout(scores.softmax(-1), 0.1, training) @ x


@wrong(
    "causal_self_attention", "tril of the scores sets the future to 0, which is not -inf (T > 1)."
)
def causal_self_attention_e(x, training):
    scores = torch.tril(x @ x.transpose(1, 2) / math.sqrt(x.size(2)))
    return torch.softmax(scores, dim=-1) @ x


@wrong("make_stack", "One layer, n times: all share their weights (n_layers of 2 and more).")
def make_stack_a(make_layer, n_layers):
    return nn.ModuleList([make_layer()] * n_layers)


@wrong("make_stack", "One layer too many: the first, and n more.")
def make_stack_b(make_layer, n_layers):
    layers = [make_layer()]
    for _ in range(n_layers):
        layers.append(make_layer())
    return layers


@wrong("make_stack", "The functions are stacked, not the layers: make_layer is not called.")
def make_stack_d(make_layer, n_layers):
    return [make_layer for _ in range(n_layers)]


def _pm(tokens):
    return (tokens != 0)[:, None, None, :]


def _tm(tokens):
    t = tokens.shape[1]
    return _pm(tokens) & torch.ones(t, t, dtype=torch.bool).tril()


@wrong(
    "transformer_forward",
    "The memory mask is made from the target (S ≠ T raises; else the source's padding is seen).",
)
def transformer_forward_a(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pm(source))
    return output(decoder(embed_target(target), memory, _tm(target), _pm(target)))


@wrong(
    "transformer_forward",
    "The target mask hides padding alone: the decoder sees the future (T > 1).",
)
def transformer_forward_b(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pm(source))
    return output(decoder(embed_target(target), memory, _pm(target), _pm(source)))


@wrong("transformer_forward", "The target is embedded with the source's embedding.")
def transformer_forward_c(source, target, embed_source, embed_target, encoder, decoder, output):
    mask = _pm(source)
    memory = encoder(embed_source(source), mask)
    return output(decoder(embed_source(target), memory, _tm(target), mask))


@wrong(
    "transformer_forward",
    "The decoder gets no memory mask: it attends to the source's padding (a padded source).",
)
def transformer_forward_d(source, target, embed_source, embed_target, encoder, decoder, output):
    memory = encoder(embed_source(source), _pm(source))
    return output(decoder(embed_target(target), memory, _tm(target), None))


@wrong("transformer_forward", "The last target token is cut off inside: (B, T - 1, V) comes out.")
def transformer_forward_e(source, target, embed_source, embed_target, encoder, decoder, output):
    mask = _pm(source)
    memory = encoder(embed_source(source), mask)
    y = decoder(embed_target(target[:, :-1]), memory, _tm(target[:, :-1]), mask)
    return output(y)


@wrong("transformer_forward", "Probabilities, softmax instead of logits.")
def transformer_forward_f(source, target, embed_source, embed_target, encoder, decoder, output):
    mask = _pm(source)
    memory = encoder(embed_source(source), mask)
    return output(decoder(embed_target(target), memory, _tm(target), mask)).softmax(dim=-1)


@wrong(
    "transformer_forward",
    "Encoder and memory get masks made from the embedded source, where a padding vector is not zero (a padded source).",
)
def transformer_forward_g(source, target, embed_source, embed_target, encoder, decoder, output):
    x = embed_source(source)
    mask = (x != 0).any(dim=-1)[:, None, None, :]
    memory = encoder(x, mask)
    return output(decoder(embed_target(target), memory, _tm(target), mask))


# ---------------------------------------------------------------- chapters 15 and 16


@wrong("cross_entropy", "Padding is counted in the mean (padded targets).")
def cross_entropy_a(logits, target):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten())


@wrong(
    "cross_entropy",
    "The sum leaves padding out, but the divisor counts all places (padded targets).",
)
def cross_entropy_b(logits, target):
    logp = logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -(logp * (target != 0)).mean()


@wrong(
    "cross_entropy",
    "The mean of the sentences' means: short sentences weigh too much (sentences of different length).",
)
def cross_entropy_c(logits, target):
    real = target != 0
    nll = -torch.log_softmax(logits, -1).gather(-1, target[..., None])[..., 0] * real
    return (nll.sum(1) / real.sum(1).clamp(min=1)).mean()


@wrong(
    "cross_entropy",
    "log of exp/sum without subtracting the maximum: inf and nan (logits of 100 and more).",
)
def cross_entropy_d(logits, target):
    p = torch.exp(logits) / torch.exp(logits).sum(-1, keepdim=True)
    picked = p.gather(2, target.unsqueeze(2)).squeeze(2)
    return -torch.log(picked)[target != 0].mean()


@wrong(
    "cross_entropy",
    "1e-3 inside the logarithm falsifies small probabilities (an unlikely right token).",
)
def cross_entropy_e(logits, target):
    p = logits.softmax(-1).gather(2, target.unsqueeze(2)).squeeze(2)
    return -(p + 1e-3).log()[target != 0].mean()


@wrong(
    "cross_entropy",
    "Log-softmax twice would be harmless, but here softmax goes into cross_entropy, which expects logits.",
)
def cross_entropy_f(logits, target):
    p = torch.softmax(logits, dim=-1)
    return F.cross_entropy(p.transpose(1, 2), target, ignore_index=0)


@wrong(
    "cross_entropy",
    "log_softmax over dim=1, the positions, in place of the vocabulary (T other than 1).",
)
def cross_entropy_g(logits, target):
    logp = F.log_softmax(logits, dim=1)
    return F.nll_loss(logp.reshape(-1, logp.shape[-1]), target.reshape(-1), ignore_index=PAD)


@wrong(
    "cross_entropy",
    "Places are taken for padding where the logits' likeliest token is 0, not where the target is (a model that says 0 somewhere).",
)
def cross_entropy_h(logits, target):
    logp = logits.log_softmax(-1)
    real = (logp.argmax(-1) != 0) & (target != 0)
    nll = -logp.gather(-1, target[..., None]).squeeze(-1)
    return (nll * real).sum() / real.sum().clamp(min=1)


@wrong("label_smoothed_loss", "The smoothing is a mean over the padding as well (padded targets).")
def label_smoothed_loss_a(logits, target, smoothing):
    logp = F.log_softmax(logits, dim=-1)
    real = target != 0
    nll = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)[real].mean()
    return (1 - smoothing) * nll + smoothing * -logp.mean()


@wrong(
    "label_smoothed_loss",
    "The 1/V is forgotten: the whole sum is multiplied with ε (smoothing > 0).",
)
def label_smoothed_loss_b(logits, target, smoothing):
    logp = logits.log_softmax(-1)
    real = (target != 0).to(logp)
    nll = -logp.gather(-1, target[..., None])[..., 0]
    loss = (1 - smoothing) * nll - smoothing * logp.sum(-1)
    return (loss * real).sum() / real.sum()


@wrong(
    "label_smoothed_loss",
    "The right token keeps the full weight 1: nll + ε · mean (smoothing > 0).",
)
def label_smoothed_loss_c(logits, target, smoothing):
    logp = logits.log_softmax(-1)[target != 0]
    right_ids = target[target != 0]
    nll = -logp[torch.arange(len(right_ids)), right_ids]
    return (nll + smoothing * -logp.mean(-1)).mean()


@wrong(
    "label_smoothed_loss",
    "The column of padding gets no share of the smoothing, as in the Annotated Transformer, and V − 2 are left (smoothing > 0).",
)
def label_smoothed_loss_d(logits, target, smoothing):
    v = logits.size(-1)
    logp = logits.log_softmax(-1)
    dist = torch.full_like(logp, smoothing / (v - 2))
    dist.scatter_(-1, target.unsqueeze(-1), 1 - smoothing)
    dist[..., PAD] = 0
    real = target != PAD
    return -(dist * logp).sum(-1)[real].mean()


@wrong(
    "label_smoothed_loss",
    "A fixed smoothing of 0.1, the argument is not used (smoothing other than 0.1).",
)
def label_smoothed_loss_e(logits, target, smoothing):
    return F.cross_entropy(logits.transpose(1, 2), target, ignore_index=0, label_smoothing=0.1)


@wrong(
    "label_smoothed_loss",
    "The distribution gets 1 − ε at the right token by assignment, so its ε/V share is lost (smoothing > 0).",
)
def label_smoothed_loss_f(logits, target, smoothing):
    v = logits.shape[-1]
    q = torch.full_like(logits, smoothing / v).scatter(-1, target.unsqueeze(-1), 1 - smoothing)
    loss = -(q * F.log_softmax(logits, -1)).sum(-1)
    return loss[target != 0].mean()


@wrong("perplexity", "The plain mean of the batches' losses (batches of different size).")
def perplexity_a(losses, counts):
    return math.exp(sum(losses) / len(losses))


@wrong("perplexity", "The mean of the batches' perplexities (losses that differ).")
def perplexity_b(losses, counts):
    return sum(math.exp(l) * c for l, c in zip(losses, counts)) / sum(counts)


@wrong("perplexity", "2 to the power of a loss in nats.")
def perplexity_c(losses, counts):
    return 2 ** (np.dot(losses, counts) / np.sum(counts))


@wrong(
    "perplexity",
    "The losses are taken for sums: divided by the counts without weighing (counts other than 1).",
)
def perplexity_d(losses, counts):
    return math.exp(sum(losses) / sum(counts))


@wrong("inverse_sqrt_schedule", "max in place of min (all updates but n = warmup).")
def inverse_sqrt_schedule_a(update, d_model, warmup):
    return d_model**-0.5 * max(update**-0.5, update * warmup**-1.5)


@wrong(
    "inverse_sqrt_schedule",
    "update + 1: counts from 0, where the sheet counts from 1 (every update).",
)
def inverse_sqrt_schedule_b(update, d_model, warmup):
    n = update + 1
    return d_model**-0.5 * min(n**-0.5, n * warmup**-1.5)


@wrong(
    "inverse_sqrt_schedule",
    "Linear warm-up to 1 and then the root: warmup^-1 in place of warmup^-1.5, so the rate jumps (update < warmup, warmup > 1).",
)
def inverse_sqrt_schedule_c(update, d_model, warmup):
    if update < warmup:
        return d_model**-0.5 * update / warmup
    return d_model**-0.5 * update**-0.5


@wrong("inverse_sqrt_schedule", "The root of D multiplies in place of dividing (D > 1).")
def inverse_sqrt_schedule_d(update, d_model, warmup):
    return math.sqrt(d_model) * min(1 / math.sqrt(update), update / warmup**1.5)


@wrong("clip_gradients", "Every tensor is clipped by its own length (several tensors).")
def clip_gradients_a(gradients, limit):
    return [g * min(1.0, limit / (g.norm().item() + 1e-6)) for g in gradients]


@wrong("clip_gradients", "The lengths are added, not their squares (several tensors).")
def clip_gradients_b(gradients, limit):
    total = sum(g.norm() for g in gradients)
    scale = min(1.0, float(limit / (total + 1e-6)))
    return [g * scale for g in gradients]


@wrong(
    "clip_gradients",
    "Always scaled to `limit`: short gradients are enlarged (common length below limit).",
)
def clip_gradients_c(gradients, limit):
    total = torch.sqrt(sum((g**2).sum() for g in gradients))
    return [g * limit / (total + 1e-6) for g in gradients]


@wrong("clip_gradients", "Clipped value by value: the direction changes (an entry above limit).")
def clip_gradients_d(gradients, limit):
    return [g.clamp(-limit, limit) for g in gradients]


@wrong("clip_gradients", "mul_ changes the gradients that came in (common length above limit).")
def clip_gradients_e(gradients, limit):
    total = torch.stack([g.norm() for g in gradients]).norm()
    if total > limit:
        for g in gradients:
            g.mul_(limit / total)
    return gradients


@wrong(
    "clip_gradients",
    "The root is missing: the sum of squares is taken for the length (length between 1 and limit², or above).",
)
def clip_gradients_f(gradients, limit):
    total = sum(g.pow(2).sum().item() for g in gradients)
    if total <= limit:
        return [g.clone() for g in gradients]
    return [g * (limit / total) for g in gradients]


@wrong("clip_gradients", "Mean of squares in place of the sum (common length above limit).")
def clip_gradients_g(gradients, limit):
    flat = torch.cat([g.flatten() for g in gradients])
    length = flat.pow(2).mean().sqrt()
    factor = torch.clamp(limit / (length + 1e-6), max=1.0)
    return [g * factor for g in gradients]


@wrong(
    "training_update",
    "zero_grad is missing: gradients of earlier updates add up (from the second update).",
)
def training_update_a(model, optimizer, compute_loss):
    loss = compute_loss()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@wrong("training_update", "Clipped after the step, when it is too late (long gradients).")
def training_update_b(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@wrong(
    "training_update",
    "Clipped before backward: there is nothing yet to be clipped, so the gradients are used whole (long gradients).",
)
def training_update_c(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss.backward()
    optimizer.step()


@wrong("training_update", "Each parameter is clipped alone at 1 (several long parameters).")
def training_update_d(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    for p in model.parameters():
        nn.utils.clip_grad_norm_(p, 1.0)
    optimizer.step()


@wrong("training_update", "clip_grad_value_ in place of clip_grad_norm_ (long gradients).")
def training_update_e(model, optimizer, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    compute_loss().backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()


@wrong("training_update", "zero_grad between backward and step: the weights never move.")
def training_update_f(model, optimizer, compute_loss):
    loss = compute_loss()
    loss.backward()
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()


@wrong(
    "accumulated_update",
    "Not divided by the number of parts: the gradient is the sum (two parts and more).",
)
def accumulated_update_a(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        compute_loss(part).backward()
    optimizer.step()
    scheduler.step()


@wrong(
    "accumulated_update",
    "The gradients are cleared in the loop: only the last part counts (two parts and more).",
)
def accumulated_update_b(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        optimizer.zero_grad()
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()
    scheduler.step()


@wrong("accumulated_update", "The schedule moves on with every part (two parts and more).")
def accumulated_update_c(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
        scheduler.step()
    optimizer.step()


@wrong(
    "accumulated_update",
    "The gradients are not cleared before nor after: those of the last update stay (from the second update).",
)
def accumulated_update_d(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        loss = compute_loss(part) / len(parts)
        loss.backward()
    optimizer.step()
    scheduler.step()


@wrong(
    "accumulated_update",
    "The schedule moves before the optimizer, so the update has the next rate.",
)
def accumulated_update_e(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    torch.stack([compute_loss(part) for part in parts]).mean().backward()
    scheduler.step()
    optimizer.step()


@wrong(
    "best_checkpoint",
    "The plain mean over batches: small ones weigh too much (batches of different size).",
)
def best_checkpoint_a(checkpoints, batches, loss_of):
    means = [sum(loss_of(c, b) for b in batches) / len(batches) for c in checkpoints]
    return means.index(min(means))


@wrong("best_checkpoint", "The best checkpoint itself comes back, not its place.")
def best_checkpoint_b(checkpoints, batches, loss_of):
    return min(checkpoints, key=lambda c: sum(loss_of(c, b) * len(b) for b in batches))


@wrong(
    "best_checkpoint",
    "The total is not set back between checkpoints: later ones look worse (the best is not the first).",
)
def best_checkpoint_c(checkpoints, batches, loss_of):
    best, best_loss = 0, float("inf")
    total, tokens = 0.0, 0
    for i, checkpoint in enumerate(checkpoints):
        for batch in batches:
            total += loss_of(checkpoint, batch) * len(batch)
            tokens += len(batch)
        if total < best_loss:
            best, best_loss = i, total
    return best


@wrong(
    "best_checkpoint",
    "Early stopping: ends at the first checkpoint that is worse than the one before (a better one comes later).",
)
def best_checkpoint_d(checkpoints, batches, loss_of):
    n = sum(len(b) for b in batches)
    previous = float("inf")
    for i, c in enumerate(checkpoints):
        loss = sum(loss_of(c, b) * len(b) for b in batches) / n
        if loss > previous:
            return i - 1
        previous = loss
    return len(checkpoints) - 1


@wrong(
    "average_checkpoints",
    "The first checkpoint is shared and += changes its tensors (two checkpoints and more).",
)
def average_checkpoints_a(checkpoints):
    average = dict(checkpoints[0])
    for checkpoint in checkpoints[1:]:
        for name in average:
            average[name] += checkpoint[name]
    return {name: w / len(checkpoints) for name, w in average.items()}


@wrong(
    "average_checkpoints",
    "A running (a + b) / 2: later checkpoints weigh more (three checkpoints and more).",
)
def average_checkpoints_b(checkpoints):
    average = {k: v.clone() for k, v in checkpoints[0].items()}
    for checkpoint in checkpoints[1:]:
        for k, v in checkpoint.items():
            average[k] = (average[k] + v) / 2
    return average


@wrong(
    "average_checkpoints",
    "mean() without dim: every weight becomes one number (weights with more than one entry).",
)
def average_checkpoints_c(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).mean() for k in checkpoints[0]}


@wrong(
    "average_checkpoints",
    "Divided by n − 1, as counted from the second one (n of 2 and more gives too much).",
)
def average_checkpoints_d(checkpoints):
    out = {}
    for name in checkpoints[0]:
        total = torch.zeros_like(checkpoints[0][name])
        for n, checkpoint in enumerate(checkpoints):
            total = total + checkpoint[name]
        out[name] = total / max(n, 1)
    return out


# ---------------------------------------------------------------- chapter 17


@wrong("next_token", "The first position is read, not the last (T > 1).")
def next_token_a(logits):
    return logits[:, 0].argmax(dim=-1)


@wrong(
    "next_token",
    "argmax without dim: one number for the whole batch (B > 1, and no axis for B = 1).",
)
def next_token_b(logits):
    return logits[:, -1].argmax()


@wrong("next_token", "The axis stays: (B, 1) comes out.")
def next_token_c(logits):
    return logits[:, -1:].argmax(dim=-1)


@wrong("temperature_probabilities", "Multiplied by the temperature (temperature other than 1).")
def temperature_probabilities_a(logits, temperature):
    return F.softmax(logits * temperature, dim=-1)


@wrong(
    "temperature_probabilities",
    "The probabilities are divided by the temperature after the softmax (temperature other than 1).",
)
def temperature_probabilities_b(logits, temperature):
    return torch.softmax(logits, dim=-1) / temperature


@wrong("temperature_probabilities", "p^(1/T) is not normalised again (temperature other than 1).")
def temperature_probabilities_c(logits, temperature):
    return torch.softmax(logits, dim=-1).pow(1 / temperature)


@wrong(
    "temperature_probabilities",
    "The temperature is raised to at least 0.5 'for stability' (temperature under 0.5).",
)
def temperature_probabilities_d(logits, temperature):
    return (logits / max(temperature, 0.5)).softmax(-1)


@wrong(
    "temperature_probabilities",
    "exp without subtracting the maximum overflows (low temperature or large logits).",
)
def temperature_probabilities_e(logits, temperature):
    e = (logits / temperature).exp()
    return e / e.sum(-1, keepdim=True)


@wrong("top_k_probabilities", "Not normalised after the cut (k < V).")
def top_k_probabilities_a(logits, k):
    p = logits.softmax(-1)
    threshold = p.topk(k, dim=-1).values[:, -1:]
    return p * (p >= threshold)


@wrong("top_k_probabilities", "`>` the k-th value: only k − 1 are kept (every k; k = 1 gives nan).")
def top_k_probabilities_b(logits, k):
    threshold = logits.topk(k).values[:, -1:]
    return logits.masked_fill(~(logits > threshold), -torch.inf).softmax(-1)


@wrong("top_k_probabilities", "The threshold of the first sentence is used for all (B > 1).")
def top_k_probabilities_c(logits, k):
    threshold = logits.topk(k, dim=-1).values[0, -1]
    return logits.masked_fill(logits < threshold, float("-inf")).softmax(dim=-1)


@wrong(
    "top_k_probabilities", "The rest is set to 0 as a logit, not to -inf: it stays likely (k < V)."
)
def top_k_probabilities_d(logits, k):
    values, indices = logits.topk(k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, indices, values).softmax(-1)


@wrong(
    "top_k_probabilities",
    "Only the probabilities of the k, in falling order: (B, k) in place of (B, V).",
)
def top_k_probabilities_e(logits, k):
    return torch.topk(logits, k, dim=-1).values.softmax(dim=-1)


@wrong("top_k_probabilities", "The logits are changed in place, an argument (k < V).")
def top_k_probabilities_f(logits, k):
    kth = torch.topk(logits, k)[0][..., -1, None]
    logits[logits < kth] = -float("inf")
    return F.softmax(logits, dim=-1)


@wrong("greedy_search", "<eos> is left in the result (a sentence that ends).")
def greedy_search_a(step, max_length):
    tokens = [SOS]
    for _ in range(max_length):
        token = step(torch.tensor([tokens])).argmax(-1).item()
        tokens.append(token)
        if token == EOS:
            break
    return tokens[1:]


@wrong(
    "greedy_search",
    "max_length counts <sos>: one token too few (a sentence that does not end before).",
)
def greedy_search_b(step, max_length):
    tokens = [SOS]
    while len(tokens) < max_length:
        token = int(step(torch.tensor([tokens])).argmax())
        if token == EOS:
            break
        tokens.append(token)
    return tokens[1:]


@wrong(
    "greedy_search",
    "The last token is always cut off, though it is no <eos> when max_length is reached (no end before max_length).",
)
def greedy_search_c(step, max_length):
    tokens = torch.tensor([[SOS]])
    for _ in range(max_length):
        nxt = step(tokens).argmax(-1, keepdim=True)
        tokens = torch.cat((tokens, nxt), dim=1)
        if nxt.item() == EOS:
            break
    return tokens[0, 1:-1].tolist()


@wrong(
    "greedy_search",
    "Only the last token is given to step, not the whole prefix (a step that looks at the whole prefix, and begins with <sos>).",
)
def greedy_search_d(step, max_length):
    out, last = [], SOS
    for _ in range(max_length):
        last = step(torch.tensor([[last]])).argmax(-1).item()
        if last == EOS:
            break
        out.append(last)
    return out


@wrong("greedy_search", "<unk> is taken out of the result (a sentence with token 3).")
def greedy_search_e(step, max_length):
    tokens = [SOS]
    for _ in range(max_length):
        token = step(torch.tensor([tokens]))[0].argmax().item()
        if token == EOS:
            break
        tokens.append(token)
    return [t for t in tokens if t > UNK]


@wrong(
    "greedy_batch",
    "Finished sentences go on: tokens behind <eos> are not padding (one ends before another).",
)
def greedy_batch_a(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), SOS)
    finished = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        nxt = step(tokens).argmax(-1)
        tokens = torch.cat((tokens, nxt[:, None]), 1)
        finished |= nxt == EOS
        if finished.all():
            break
    return tokens[:, 1:]


@wrong("greedy_batch", "Stops as soon as any sentence ends (one ends before another).")
def greedy_batch_b(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), SOS, dtype=torch.long)
    for _ in range(max_length):
        nxt = step(tokens).argmax(-1, keepdim=True)
        tokens = torch.cat([tokens, nxt], dim=1)
        if (nxt == EOS).any():
            break
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "`finished` is set by the last step alone: a sentence that ended two steps ago lives again (one ends two steps before another).",
)
def greedy_batch_c(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), SOS)
    for _ in range(max_length):
        finished = tokens[:, -1] == EOS
        nxt = step(tokens).argmax(-1).masked_fill(finished, PAD)
        tokens = torch.cat((tokens, nxt.unsqueeze(1)), dim=1)
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "finished is updated before the padding is filled in: the <eos> itself becomes padding (a sentence that ends).",
)
def greedy_batch_d(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), SOS)
    finished = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        nxt = step(tokens).argmax(dim=-1)
        finished = finished | (nxt == EOS)
        nxt = torch.where(finished, PAD, nxt)
        tokens = torch.cat((tokens, nxt[:, None]), dim=1)
        if finished.all():
            break
    return tokens[:, 1:]


@wrong("greedy_batch", "<sos> stays in front.")
def greedy_batch_e(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), SOS)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    while tokens.shape[1] <= max_length and not done.all():
        nxt = step(tokens).argmax(-1).masked_fill(done, PAD)
        done = done | nxt.eq(EOS)
        tokens = torch.cat((tokens, nxt[:, None]), 1)
    return tokens


@wrong(
    "greedy_batch",
    "max_length does not count <eos>: one column too many (a sentence that is not finished at max_length).",
)
def greedy_batch_f(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), SOS)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length + 1):
        nxt = step(tokens).argmax(-1).masked_fill(done, PAD)
        done = done | nxt.eq(EOS)
        tokens = torch.cat((tokens, nxt[:, None]), 1)
        if done.all():
            break
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "An <eos> is written into the last column of what did not end (a sentence not finished at max_length).",
)
def greedy_batch_g(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, max_length + 1), PAD)
    tokens[:, 0] = SOS
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for t in range(1, max_length + 1):
        nxt = step(tokens[:, :t]).argmax(-1)
        tokens[:, t] = torch.where(done, PAD, nxt)
        done |= nxt == EOS
    tokens[~done, -1] = EOS
    return tokens[:, 1:]


@wrong(
    "beam_search",
    "<eos>'s log-probability is not added to the score (a hypothesis whose end is unlikely).",
)
def beam_search_a(step, beam_size, max_length):
    beams, done = [([SOS], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([b[0] for b in beams]))
        cands = []
        for (ids, score), row in zip(beams, logp.tolist()):
            cands += [(ids + [v], score if v == EOS else score + lp) for v, lp in enumerate(row)]
        cands.sort(key=lambda c: c[1], reverse=True)
        cands = cands[:beam_size]
        done += [c for c in cands if c[0][-1] == EOS]
        beams = [c for c in cands if c[0][-1] != EOS]
        if not beams:
            break
    ids = max(done + beams, key=lambda c: c[1])[0]
    return [i for i in ids if i not in (SOS, EOS)]


@wrong(
    "beam_search",
    "Stops at the first finished hypothesis and returns it (a living one that turns out likelier).",
)
def beam_search_b(step, beam_size, max_length):
    beams = [([SOS], 0.0)]
    for _ in range(max_length):
        logp = step(torch.tensor([b[0] for b in beams])).tolist()
        cands = [
            (ids + [v], s + lp) for (ids, s), row in zip(beams, logp) for v, lp in enumerate(row)
        ]
        beams = sorted(cands, key=lambda c: -c[1])[:beam_size]
        for ids, s in beams:
            if ids[-1] == EOS:
                return ids[1:-1]
    return beams[0][0][1:]


@wrong(
    "beam_search",
    "Length-normalised scores choose the winner, where the sum decides (hypotheses of different length).",
)
def beam_search_c(step, beam_size, max_length):
    beams, done = [([SOS], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([ids for ids, _ in beams])).tolist()
        cands = [
            (ids + [v], s + lp) for (ids, s), row in zip(beams, logp) for v, lp in enumerate(row)
        ]
        cands = sorted(cands, key=lambda c: -c[1])[:beam_size]
        beams = []
        for c in cands:
            (done if c[0][-1] == EOS else beams).append(c)
        if not beams:
            break
    ids, _ = max(done + beams, key=lambda c: c[1] / (len(c[0]) - 1))
    return ids[1:-1] if ids[-1] == EOS else ids[1:]


@wrong(
    "beam_search",
    "Unfinished hypotheses at max_length are thrown away if any is finished (the unfinished one is likelier).",
)
def beam_search_d(step, beam_size, max_length):
    beams, done = [([SOS], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([ids for ids, _ in beams])).tolist()
        cands = [
            (ids + [v], s + lp) for (ids, s), row in zip(beams, logp) for v, lp in enumerate(row)
        ]
        cands = sorted(cands, key=lambda c: -c[1])[:beam_size]
        done += [c for c in cands if c[0][-1] == EOS]
        beams = [c for c in cands if c[0][-1] != EOS]
        if not beams:
            break
    if not done:
        done = beams
    ids, _ = max(done, key=lambda c: c[1])
    return [t for t in ids[1:] if t != EOS]


@wrong(
    "beam_search",
    "Each hypothesis keeps its own best continuations and they are not compared across: beams go on as beam_size greedy searches (beam_size of 2 and more).",
)
def beam_search_e(step, beam_size, max_length):
    first = step(torch.tensor([[SOS]]))[0]
    scores, starts = first.topk(beam_size)
    done, beams = [], []
    for s, v in zip(scores.tolist(), starts.tolist()):
        (done if v == EOS else beams).append(([SOS, v], s))
    for _ in range(max_length - 1):
        if not beams:
            break
        best, idx = step(torch.tensor([ids for ids, _ in beams])).max(-1)
        grown = [(ids + [v], s + lp) for (ids, s), lp, v in zip(beams, best.tolist(), idx.tolist())]
        done += [g for g in grown if g[0][-1] == EOS]
        beams = [g for g in grown if g[0][-1] != EOS]
    ids = max(done + beams, key=lambda c: c[1])[0]
    return [t for t in ids[1:] if t != EOS]


@wrong(
    "beam_search",
    "Beam and token are taken from the flat index with the wrong divisor: `// beam_size` in place of `// V` (beam_size of 2 and more).",
)
def beam_search_g(step, beam_size, max_length):
    tokens, scores = torch.tensor([[SOS]]), torch.zeros(1)
    best, best_score = [], -math.inf
    for _ in range(max_length):
        total = scores[:, None] + step(tokens)
        v = total.shape[1]
        scores, flat = total.flatten().topk(beam_size)
        rows = (flat // beam_size) % tokens.shape[0]
        tokens = torch.cat((tokens[rows], (flat % v)[:, None]), dim=1)
        ended = tokens[:, -1] == EOS
        for ids, s in zip(tokens[ended].tolist(), scores[ended].tolist()):
            if s > best_score:
                best, best_score = ids[1:-1], s
        tokens, scores = tokens[~ended], scores[~ended]
        if len(tokens) == 0:
            break
    for ids, s in zip(tokens.tolist(), scores.tolist()):
        if s > best_score:
            best, best_score = ids[1:], s
    return best


@wrong(
    "beam_search",
    "beam_size shrinks by one with every finished hypothesis, where every step keeps beam_size (one finishes early, the winner comes from a lower place).",
)
def beam_search_h(step, beam_size, max_length):
    beams, done = [([SOS], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([ids for ids, _ in beams])).tolist()
        cands = [
            (ids + [v], s + lp) for (ids, s), row in zip(beams, logp) for v, lp in enumerate(row)
        ]
        cands = sorted(cands, key=lambda c: -c[1])[: beam_size - len(done)]
        done += [c for c in cands if c[0][-1] == EOS]
        beams = [c for c in cands if c[0][-1] != EOS]
        if not beams:
            break
    ids = max(done + beams, key=lambda c: c[1])[0]
    return [t for t in ids[1:] if t != EOS]


@wrong("embed_next", "Positions start at 0 again: `past` is not used (past > 0).")
def embed_next_a(tokens, past, weight, table):
    return weight[tokens] + table[: tokens.shape[1]]


@wrong("embed_next", "One row for all new tokens, table[past] (t of 2 and more).")
def embed_next_b(tokens, past, weight, table):
    return F.embedding(tokens, weight) + table[past]


@wrong("embed_next", "Off by one: the first new token gets row past + 1.")
def embed_next_c(tokens, past, weight, table):
    return weight[tokens] + table[past + 1 : past + 1 + tokens.size(1)]


@wrong("embed_next", "Scaled with the root of D, which the sheet excludes here.")
def embed_next_d(tokens, past, weight, table):
    return weight[tokens] * math.sqrt(weight.shape[1]) + table[past : past + tokens.shape[1]]


@wrong("reorder_cache", "Only the keys are reordered (rows other than 0, 1, 2, …).")
def reorder_cache_a(cache, rows):
    return [(keys[rows], values) for keys, values in cache]


@wrong(
    "reorder_cache",
    "The inverse: row rows[i] becomes what row i was (rows that are no permutation of order two).",
)
def reorder_cache_b(cache, rows):
    out = []
    for keys, values in cache:
        k, v = keys.clone(), values.clone()
        k[rows], v[rows] = keys, values
        out.append((k, v))
    return out


@wrong(
    "reorder_cache",
    "Row by row in place on the same tensor: a row already written is read again, and the cache is changed (rows such as 1, 0).",
)
def reorder_cache_c(cache, rows):
    for keys, values in cache:
        for i, r in enumerate(rows):
            keys[i] = keys[r]
            values[i] = values[r]
    return cache


@wrong("reorder_cache", "Only the last layer is reordered (two layers and more).")
def reorder_cache_d(cache, rows):
    new = list(cache)
    new[-1] = tuple(x[rows] for x in new[-1])
    return new


@wrong(
    "length_normalised",
    "alpha multiplies the length: score / (alpha · length) (alpha other than 1, length other than 1).",
)
def length_normalised_a(score, length, alpha):
    return score / (alpha * length)


@wrong("length_normalised", "Multiplied in place of divided (length other than 1).")
def length_normalised_b(score, length, alpha):
    return score * length**alpha


@wrong(
    "length_normalised",
    "The score is raised together with the length: (score / length) ** alpha of its absolute value (alpha other than 1).",
)
def length_normalised_c(score, length, alpha):
    return -((-score / length) ** alpha)


@wrong("length_normalised", "length + 1 counts <sos> as well.")
def length_normalised_d(score, length, alpha):
    return score / (length + 1) ** alpha


@wrong("cut_at_end", "<eos> stays in the list (a list with an <eos>).")
def cut_at_end_a(ids):
    return ids[: ids.index(EOS) + 1] if EOS in ids else list(ids)


@wrong("cut_at_end", "Cut at the last <eos>, not at the first one (two of them).")
def cut_at_end_b(ids):
    for i in range(len(ids) - 1, -1, -1):
        if ids[i] == EOS:
            return ids[:i]
    return list(ids)


@wrong("cut_at_end", "Only <eos> is taken out: what stands behind it stays (tokens behind <eos>).")
def cut_at_end_c(ids):
    return [i for i in ids if i != EOS]


@wrong("cut_at_end", "Without an <eos> the last token is cut, for find gives -1 (no <eos>).")
def cut_at_end_d(ids):
    end = next((i for i, token in enumerate(ids) if token == EOS), -1)
    return ids[:end]


@wrong(
    "cut_at_end",
    "Padding is cut as well: a 0 before the first <eos> belongs to the result (a 0 in the list).",
)
def cut_at_end_e(ids):
    out = []
    for token in ids:
        if token in (PAD, EOS):
            break
        out.append(token)
    return out


@wrong(
    "split_heads",
    "view to (B, H, T, K) without transposing: positions and features are mixed (H > 1, T > 1).",
)
def split_heads_a(x, n_heads):
    b, t, d = x.shape
    return x.reshape(b, n_heads, t, d // n_heads)


@wrong(
    "split_heads",
    "The axes stay (B, T, H, K): the transpose is forgotten (H ≠ T, and other numbers for H = T > 1).",
)
def split_heads_b(x, n_heads):
    return x.unflatten(-1, (n_heads, -1))


@wrong(
    "split_heads", "n_heads is taken for the width of a head: D / n_heads heads come out (K ≠ H)."
)
def split_heads_c(x, n_heads):
    return torch.stack(x.split(n_heads, dim=-1), dim=1)


@wrong(
    "split_heads",
    "permute(0, 3, 1, 2) brings K in front and H to the end, in place of permute(0, 2, 1, 3) (H > 1 or K > 1).",
)
def split_heads_d(x, n_heads):
    return x.reshape(x.size(0), x.size(1), n_heads, -1).permute(0, 3, 1, 2)
