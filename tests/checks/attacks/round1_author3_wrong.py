"""Round 1, author 3: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right

import math
from collections import Counter, defaultdict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

# ------------------------------------------------------------------ text


@wrong(
    "number_of_targets",
    "`**` on tensors of int64 overflows: with a real vocabulary (37000 ** 50) the number wraps round to nonsense.",
)
def number_of_targets_a(vocab_size, length):
    return int((torch.tensor(vocab_size) ** torch.tensor(length)).item())


@wrong(
    "number_of_targets",
    "Going through logarithms and floats gives only about 15 right digits: for long sequences the whole number is not exact.",
)
def number_of_targets_b(vocab_size, length):
    return round(math.exp(length * math.log(vocab_size)))


@wrong(
    "build_vocabulary",
    "The fairseq order of special tokens (<sos> 0, <pad> 1, <eos> 2, <unk> 3) instead of <pad> 0, <sos> 1.",
)
def build_vocabulary_a(sentences, min_frequency):
    vocabulary = {"<sos>": 0, "<pad>": 1, "<eos>": 2, "<unk>": 3}
    counts = Counter(word for sentence in sentences for word in sentence)
    for word, n in counts.most_common():
        if n >= min_frequency:
            vocabulary[word] = len(vocabulary)
    return vocabulary


@wrong(
    "build_vocabulary",
    "Like torchtext's `vocab`, the loop breaks at the first rare word, but the counter is in order of first appearance, not of frequency: later frequent words get lost.",
)
def build_vocabulary_b(sentences, min_frequency):
    counts = Counter()
    for sentence in sentences:
        counts.update(sentence)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for word, n in counts.items():
        if n < min_frequency:
            break
        vocabulary[word] = len(vocabulary)
    return vocabulary


@wrong(
    "build_vocabulary",
    "The ids are given before the rare words are dropped, so the ids have holes and run beyond the size of the embedding.",
)
def build_vocabulary_d(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for i, (w, n) in enumerate(counts.items()):
        if n >= min_frequency:
            vocabulary[w] = 4 + i
    return vocabulary


@wrong(
    "encode",
    "`vocabulary.get(t) or unk` takes id 0 for missing: a token `<pad>` in the text becomes `<unk>`.",
)
def encode_b(tokens, vocabulary):
    return [vocabulary.get(t) or vocabulary["<unk>"] for t in tokens] + [vocabulary["<eos>"]]


@wrong("encode", "An empty sentence gets no `<eos>`: the early exit returns an empty list.")
def encode_c(tokens, vocabulary):
    if not tokens:
        return []
    out = []
    for t in tokens:
        out.append(vocabulary[t] if t in vocabulary else vocabulary["<unk>"])
    out.append(vocabulary["<eos>"])
    return out


@wrong(
    "encode",
    "`setdefault` writes the unknown word into the dictionary: the vocabulary grows with each sentence encoded.",
)
def encode_d(tokens, vocabulary):
    return [vocabulary.setdefault(t, vocabulary["<unk>"]) for t in tokens] + [vocabulary["<eos>"]]


@wrong(
    "text_to_ids",
    "Lower-cases the text first, as uncased BERT does, though the tokenizer given is the one that it was trained with: capitalised words are lost.",
)
def text_to_ids_a(text, tokenize, vocabulary):
    return [vocabulary.get(t, 3) for t in tokenize(text.lower())] + [2]


@wrong(
    "text_to_ids",
    "Truncates to 512 tokens as BERT's tokenizer does: in a longer text the end is lost.",
)
def text_to_ids_b(text, tokenize, vocabulary):
    ids = [vocabulary.get(t, 3) for t in tokenize(text)]
    ids = ids[:511]
    return ids + [2]


@wrong("text_to_ids", "Unknown words are skipped (as gensim does) instead of becoming `<unk>`.")
def text_to_ids_c(text, tokenize, vocabulary):
    return [vocabulary[t] for t in tokenize(text) if t in vocabulary] + [2]


@wrong(
    "training_words",
    "The frequency is counted over train and validation together: the validation set is there for choosing, not for learning from.",
)
def training_words_a(splits, min_frequency):
    counts = Counter(w for part in ("train", "validation") for s in splits[part] for w in s)
    return {w for w, n in counts.items() if n >= min_frequency}


# ------------------------------------------------------------------ batches


@wrong(
    "collate",
    "The length is rounded up to a multiple of 8 (`pad_to_multiple_of` for tensor cores): longer than needed.",
)
def collate_b(rows):
    longest = max(len(r) for r in rows)
    longest = -(-longest // 8) * 8
    out = torch.zeros(len(rows), longest, dtype=torch.long)
    for i, r in enumerate(rows):
        out[i, : len(r)] = torch.tensor(r, dtype=torch.long)
    return out


@wrong("collate", "int16 to save memory: ids beyond 32767 overflow and become negative.")
def collate_c(rows):
    longest = max(len(r) for r in rows)
    out = np.zeros((len(rows), longest), dtype=np.int64)
    for i, r in enumerate(rows):
        out[i, : len(r)] = r
    return torch.from_numpy(out.astype(np.int16)).long()


@wrong(
    "collate",
    "The rows are sorted by length, longest first (as `pack_padded_sequence` wanted): source and target no longer belong together.",
)
def collate_d(rows):
    rows = sorted(rows, key=len, reverse=True)
    longest = len(rows[0])
    return torch.tensor([list(r) + [0] * (longest - len(r)) for r in rows])


@wrong("collate", "`torch.zeros` without a dtype is a float tensor; ids are whole numbers.")
def collate_e(rows):
    out = torch.zeros(len(rows), max(map(len, rows)))
    for i, r in enumerate(rows):
        out[i, : len(r)] = torch.tensor(r)
    return out


@wrong(
    "shift",
    "The decoder's input is made as T5 and Hugging Face do it (`shift_tokens_right`): a start token 0 is put before the whole target, whose `<sos>` stays.",
)
def shift_a(target):
    start = torch.zeros_like(target[:, :1])
    return torch.cat([start, target[:, :-1]], dim=1)[:, :-1], target[:, :-1]


@wrong(
    "shift",
    "Padding in the labels is set to -100 (the `ignore_index` of PyTorch and Hugging Face); here padding stays 0.",
)
def shift_c(target):
    labels = target[:, 1:].clone()
    labels[labels == 0] = -100
    return target[:, :-1], labels


# ------------------------------------------------------------------ embeddings, positions


@wrong(
    "embedding",
    "`weight[tokens]` in place: `mul_` on the table itself before looking up makes the embedding larger with every call.",
)
def embedding_b(tokens, weight):
    with torch.no_grad():
        weight.mul_(weight.size(1) ** 0.5)
    return weight[tokens]


@wrong(
    "embedding",
    "The row of padding is made zero, by `padding_idx` habit; asked are the rows as they are, that of token 0 too.",
)
def embedding_c(tokens, weight):
    x = weight[tokens] * math.sqrt(weight.size(-1))
    return x * (tokens != 0).unsqueeze(-1)


@wrong(
    "tied_logits",
    "T5 rescales by D^-0.5 before the tied output; here plain dot products are asked for.",
)
def tied_logits_a(x, weight):
    return (x * weight.size(1) ** -0.5) @ weight.T


@wrong(
    "tied_logits",
    "The logit of padding is set to minus infinity, so that it is never produced; the plain dot product is asked for.",
)
def tied_logits_b(x, weight):
    logits = x @ weight.T
    logits[..., 0] = float("-inf")
    return logits


@wrong(
    "sinusoids",
    "tensor2tensor's exponent: divided by (D/2 - 1), so that the last wavelength is exactly 10000; the paper divides 2i by D.",
)
def sinusoids_b(length, d_model):
    half = d_model // 2
    pos = torch.arange(length).float()[:, None]
    inv = torch.exp(torch.arange(half).float() * (-math.log(10000.0) / max(half - 1, 1)))
    table = torch.zeros(length, d_model)
    table[:, 0::2] = torch.sin(pos * inv)
    table[:, 1::2] = torch.cos(pos * inv)
    return table


@wrong(
    "sinusoids",
    "Each column j has its own frequency 10000^(j/D): sine and cosine of a pair must share one, 10000^(2i/D).",
)
def sinusoids_c(length, d_model):
    pos = np.arange(length)[:, None]
    angle = pos / 10000 ** (np.arange(d_model)[None] / d_model)
    angle[:, 0::2] = np.sin(angle[:, 0::2])
    angle[:, 1::2] = np.cos(angle[:, 1::2])
    return torch.tensor(angle, dtype=torch.float32)


@wrong(
    "sinusoids",
    "Computed in float16: from position 2049 on the whole numbers themselves are rounded, and the angles are wrong long before.",
)
def sinusoids_d(length, d_model):
    pos = torch.arange(length).half()[:, None]
    inv = torch.exp(-math.log(10000.0) * torch.arange(0, d_model, 2) / d_model).half()
    angle = (pos * inv).float()
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


@wrong(
    "sinusoids",
    "Fairseq's positions begin after the padding index, at 1: position 0 gets the row of position 1.",
)
def sinusoids_e(length, d_model):
    pos = torch.arange(1, length + 1).float()[:, None]
    inv = 10000.0 ** (-torch.arange(0, d_model, 2).float() / d_model)
    return torch.stack([torch.sin(pos * inv), torch.cos(pos * inv)], -1).reshape(length, -1)


@wrong(
    "sinusoids", "A fixed buffer of 512 positions (BERT's limit): longer inputs get too few rows."
)
def sinusoids_f(length, d_model):
    pos = torch.arange(512).float()[:, None]
    inv = 10000.0 ** (-torch.arange(0, d_model, 2).float() / d_model)
    table = torch.zeros(512, d_model)
    table[:, 0::2], table[:, 1::2] = torch.sin(pos * inv), torch.cos(pos * inv)
    return table[:length]


@wrong("add_positions", "In place: `+=` changes the caller's x.")
def add_positions_a(x, table):
    x += table[: x.size(1)]
    return x


@wrong(
    "add_positions",
    "The table is indexed by batch (the sequence-first habit (T, B, D) of the PyTorch tutorial): all positions of sentence b get row b.",
)
def add_positions_b(x, table):
    return x + table[: x.size(0)].unsqueeze(1)


@wrong(
    "add_positions",
    "The table is cut off from the gradient with detach: learned positions would never learn.",
)
def add_positions_c(x, table):
    return x + table[: x.size(1)].detach()


@wrong(
    "add_positions", "x is scaled by the root of D once more, though that belongs to the embedding."
)
def add_positions_d(x, table):
    return x * math.sqrt(x.size(-1)) + table[: x.size(1)]


# ------------------------------------------------------------------ softmax, attention


@wrong(
    "softmax",
    "The maximum of the whole tensor is subtracted: a row that lies 1000 lower underflows to 0/0.",
)
def softmax_a(scores):
    e = torch.exp(scores - scores.max())
    return e / e.sum(-1, keepdim=True)


@wrong(
    "softmax",
    "The maximum is clamped at 0 to be safe: with very negative scores (all below -1000) all exponentials are 0, and 0/0 is nan.",
)
def softmax_b(scores):
    top = scores.max(dim=-1, keepdim=True).values.clamp(min=0)
    e = torch.exp(scores - top)
    return e / e.sum(dim=-1, keepdim=True)


@wrong(
    "softmax",
    "Softmax plus one (attention can be 'off'): 1 is added to the denominator, the weights do not sum to one.",
)
def softmax_c(scores):
    top = scores.amax(-1, keepdim=True)
    e = torch.exp(scores - top)
    return e / (torch.exp(-top) + e.sum(-1, keepdim=True))


@wrong(
    "softmax",
    "An epsilon of 1e-3 is added to the sum: the probabilities sum to a little less than one.",
)
def softmax_d(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / (e.sum(-1, keepdim=True) + 1e-3)


@wrong(
    "softmax",
    "The dim-less legacy habit: axis 1 for anything but three axes, instead of the last one; wrong for (B, H, T, S).",
)
def softmax_e(scores):
    dim = 0 if scores.dim() in (1, 3) else 1
    e = torch.exp(scores - scores.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


@wrong(
    "scaled_dot_product_attention",
    "-1e9 instead of -inf, and no zeros afterwards: a query that may attend to nothing gets the mean of all values.",
)
def sdpa_b(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) * query.size(-1) ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return torch.softmax(scores, dim=-1) @ value


@wrong(
    "scaled_dot_product_attention",
    "BERT's additive -10000 is not enough against scores of many thousands: with large queries hidden keys win.",
)
def sdpa_c(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is None:
        return torch.softmax(scores, -1) @ value
    weights = torch.softmax(scores + (1.0 - mask.to(scores.dtype)) * -10000.0, dim=-1)
    return (weights * mask.any(-1, keepdim=True)) @ value


@wrong(
    "scaled_dot_product_attention",
    "A float mask is added, the boolean True counting as 1: nothing is hidden at all.",
)
def sdpa_d(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask
    return torch.softmax(scores, -1) @ value


@wrong(
    "scaled_dot_product_attention",
    "-inf rows give nan in the softmax, and nothing is done about it: a query that may attend to nothing gets nan.",
)
def sdpa_e(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query, key) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -math.inf)
    return torch.softmax(scores, -1) @ value


@wrong(
    "scaled_dot_product_attention",
    "The weights are multiplied by the mask after the softmax, and not normalised again: they no longer sum to one.",
)
def sdpa_f(query, key, value, mask=None):
    weights = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), -1)
    if mask is not None:
        weights = weights * mask
    return weights @ value


@wrong(
    "scaled_dot_product_attention",
    "T5 does not scale the scores; here they are divided by the root of K.",
)
def sdpa_g(query, key, value, mask=None):
    scores = query @ key.mT
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, -1).nan_to_num(0.0) @ value


@wrong(
    "scaled_dot_product_attention",
    "Multiplying the scores by the mask (0 for hidden) leaves exp(0) = 1: hidden keys still get weight.",
)
def sdpa_h(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores * mask
        weights = torch.softmax(scores, -1) * mask.any(-1, keepdim=True)
    else:
        weights = torch.softmax(scores, -1)
    return weights @ value


@wrong(
    "scaled_dot_product_attention",
    "Whether there is nothing to see is asked for the whole batch (`mask.any()`), not for each query: a single query without any key stays nan.",
)
def sdpa_i(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        if not mask.any():
            return torch.zeros(*query.shape[:-1], value.size(-1))
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, -1) @ value


# ------------------------------------------------------------------ masks


@wrong(
    "padding_mask",
    "The Hugging Face form, 1 and 0 as whole numbers, not booleans: `~mask` of it is -2 and -1.",
)
def padding_mask_a(tokens):
    return (tokens != 0).long()[:, None, None, :]


@wrong(
    "padding_mask",
    "`tokens > 1`: as in fairseq 1 is taken as padding, so that <sos> is hidden as well.",
)
def padding_mask_c(tokens):
    return (tokens > 1).unsqueeze(1).unsqueeze(2)


@wrong(
    "padding_mask",
    "BERT's `attention_mask[:, :, None, None]` slip: the mask stands at the queries, (B, S, 1, 1) instead of (B, 1, 1, S).",
)
def padding_mask_d(tokens):
    return tokens.ne(0)[:, :, None, None]


@wrong(
    "padding_mask",
    "A sentence that is all padding is let see everything, to avoid nan; its mask must be False throughout.",
)
def padding_mask_e(tokens):
    mask = tokens != 0
    empty = ~mask.any(dim=1, keepdim=True)
    return (mask | empty)[:, None, None, :]


@wrong(
    "padding_mask",
    "The first position is always shown, as BERT's [CLS] is: wrong where a row begins with padding (an empty one).",
)
def padding_mask_f(tokens):
    mask = (tokens != 0).clone()
    mask[:, 0] = True
    return mask.view(tokens.size(0), 1, 1, tokens.size(1))


@wrong(
    "causal_mask",
    "The form of nn.Transformer: 0 and -inf as floats, to be added, instead of booleans.",
)
def causal_mask_a(length):
    return torch.triu(torch.full((length, length), float("-inf")), diagonal=1)


@wrong("causal_mask", "True = hidden, as PyTorch's attn_mask has it: the wrong way round.")
def causal_mask_b(length):
    return torch.ones(length, length, dtype=torch.bool).triu(1)


@wrong("causal_mask", "tril of uint8, the old PyTorch convention of byte masks, not of booleans.")
def causal_mask_c(length):
    return torch.tril(torch.ones(length, length, dtype=torch.uint8))


@wrong("causal_mask", "GPT-2's buffer `bias` of 1024 positions: beyond it the mask is too small.")
def causal_mask_d(length):
    return torch.tril(torch.ones(1024, 1024, dtype=torch.bool))[:length, :length]


@wrong(
    "target_mask",
    "Additive combination of two 0/1 masks: `+` of booleans is OR, so that the future's real tokens are visible.",
)
def target_mask_a(tokens):
    t = tokens.size(1)
    pad = (tokens != 0)[:, None, None, :]
    causal = torch.tril(torch.ones(t, t, dtype=torch.bool))
    return pad + causal


@wrong(
    "target_mask",
    "Prefix LM (UniLM, T5): the first half of the target is visible in both directions.",
)
def target_mask_b(tokens):
    t = tokens.size(1)
    i = torch.arange(t)
    causal = (i[None, :] <= i[:, None]) | (i[None, :] < t // 2)
    return causal & (tokens != 0)[:, None, None, :]


@wrong(
    "target_mask",
    "Only the causal mask: the keys at padding stay visible for the rows of padding behind.",
)
def target_mask_c(tokens):
    t = tokens.size(1)
    return torch.ones(t, t, dtype=torch.bool).tril().expand(tokens.size(0), 1, t, t)


@wrong(
    "target_mask",
    "The padding mask is put at the queries, not at the keys: rows of padding see nothing, and padded keys stay visible.",
)
def target_mask_d(tokens):
    t = tokens.size(1)
    return (tokens != 0)[:, None, :, None] & torch.ones(t, t, dtype=torch.bool).tril()


@wrong(
    "target_mask",
    "The end token is taken as padding, as with GPT-2 where pad = eos: <eos> (2) is hidden.",
)
def target_mask_e(tokens):
    t = tokens.size(1)
    real = (tokens != 0) & (tokens != 2)
    return real[:, None, None, :] & torch.tril(torch.ones(t, t)).bool()


# ------------------------------------------------------------------ heads


@wrong(
    "split_heads",
    "The interleaved layout: head h gets features h, h + H, …, instead of a block of K neighbouring ones.",
)
def split_heads_a(x, n_heads):
    b, t, d = x.shape
    return x.reshape(b, t, d // n_heads, n_heads).permute(0, 3, 1, 2)


@wrong(
    "split_heads",
    "Viewed as (B, H, T, K) directly, without transposing: the heads cut the positions up instead of the features.",
)
def split_heads_c(x, n_heads):
    return x.reshape(x.size(0), n_heads, x.size(1), -1)


@wrong(
    "merge_heads", "The view is taken without transposing first: positions and heads get mixed up."
)
def merge_heads_a(heads):
    b, h, t, k = heads.shape
    return heads.reshape(b, t, h * k)


@wrong("merge_heads", "Features of all heads interleaved: (K, H) is flattened instead of (H, K).")
def merge_heads_c(heads):
    return heads.permute(0, 2, 3, 1).flatten(2)


def _attend(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.softmax(scores, -1).nan_to_num(0.0) @ v


def _split(x, h):
    return x.unflatten(-1, (h, -1)).transpose(-3, -2)


def _merge(x):
    return x.transpose(-3, -2).flatten(-2)


@wrong(
    "multi_head_attention",
    "Scaled by the root of D (the model's width), not of K (the head's width).",
)
def mha_b(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q = _split(query @ w_query.T / math.sqrt(query.size(-1)), n_heads)
    k, v = _split(key @ w_key.T, n_heads), _split(value @ w_value.T, n_heads)
    s = q @ k.transpose(-1, -2)
    if mask is not None:
        s = s.masked_fill(~mask, -torch.inf)
    return _merge(torch.softmax(s, -1).nan_to_num() @ v) @ w_output.T


@wrong(
    "multi_head_attention",
    "One packed projection of the query (GPT-2's c_attn): keys and values are made from the query's input, right for self-attention only.",
)
def mha_c(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (query @ torch.cat([w_query, w_key, w_value]).T).chunk(3, dim=-1)
    return (
        _merge(_attend(_split(q, n_heads), _split(k, n_heads), _split(v, n_heads), mask))
        @ w_output.T
    )


@wrong(
    "multi_head_attention",
    "The values are projected from `key` (in fairseq's encoder-decoder attention both are the memory): wrong where value is not key.",
)
def mha_d(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = (
        _split(F.linear(x, w), n_heads) for x, w in ((query, w_query), (key, w_key), (key, w_value))
    )
    return _merge(_attend(q, k, v, mask)) @ w_output.T


@wrong(
    "multi_head_attention",
    "The mask (B, 1, 1, S) is repeated for the heads with `repeat` in the order (H, B), as for tensors folded to B * H: sentence b's heads get other sentences' masks.",
)
def mha_e(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b = query.size(0)
    q, k, v = (
        _split(F.linear(x, w), n_heads).flatten(0, 1)
        for x, w in ((query, w_query), (key, w_key), (value, w_value))
    )
    if mask is not None:
        mask = mask.expand(b, 1, query.size(1), key.size(1)).squeeze(1).repeat(n_heads, 1, 1)
    out = _attend(q, k, v, mask).unflatten(0, (b, n_heads))
    return _merge(out) @ w_output.T


# ------------------------------------------------------------------ layer norm, residuals


@wrong(
    "layer_norm",
    "The unbiased variance (divided by D - 1), torch.var's default; layer norm divides by D.",
)
def layer_norm_a(x, weight, bias, eps=1e-5):
    return (x - x.mean(-1, keepdim=True)) / torch.sqrt(
        x.var(-1, keepdim=True) + eps
    ) * weight + bias


@wrong(
    "layer_norm",
    "Epsilon is added to the standard deviation, outside of the root (the Annotated Transformer): seen where the features hardly vary.",
)
def layer_norm_b(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True, unbiased=False)
    return weight * (x - mean) / (std + eps) + bias


@wrong(
    "layer_norm",
    "E[x²] - E[x]² in float32: for features with a large mean (10000) and small spread it cancels out, and can become negative: nan.",
)
def layer_norm_c(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = (x * x).mean(-1, keepdim=True) - mean * mean
    return (x - mean) * torch.rsqrt(var + eps) * weight + bias


@wrong(
    "layer_norm",
    "BERT's epsilon of 1e-12 is hard-wired, the argument ignored: seen where the variance is small.",
)
def layer_norm_d(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = ((x - mean) ** 2).mean(-1, keepdim=True)
    return (x - mean) / torch.sqrt(var + 1e-12) * weight + bias


@wrong("layer_norm", "RMS norm as in T5 and LLaMA: the mean is not subtracted.")
def layer_norm_e(x, weight, bias, eps=1e-5):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * weight + bias


@wrong(
    "layer_norm", "The weight is used as (1 + weight), Gemma's convention, where it starts at 0."
)
class LayerNormF(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return x / (x.pow(2).mean(-1, keepdim=True) + 1e-5).sqrt() * (1 + self.weight) + self.bias


@wrong(
    "layer_norm",
    "Mean and variance are cut off from the gradient, as running statistics are: the numbers are right, the gradient is wrong.",
)
def layer_norm_h(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True, correction=0)
    return (x - mean) / (var + eps).sqrt() * weight + bias


@wrong(
    "layer_norm_parameters",
    "Both zeros (Gemma's and Apple's 'zero-centred gamma'): without the 1 + in the norm everything becomes 0.",
)
def layer_norm_parameters_a(d_model):
    return nn.Parameter(torch.zeros(d_model)), nn.Parameter(torch.zeros(d_model))


@wrong(
    "pre_norm",
    "The residual carries the normed x (BERT's `apply_residual_connection_post_layernorm`, BLOOM): norm(x) + sublayer(norm(x)).",
)
def pre_norm_a(x, sublayer, norm):
    x = norm(x)
    return x + sublayer(x)


@wrong("pre_norm", "Post-norm, the paper's and BERT's order, where pre-norm is asked for.")
def pre_norm_b(x, sublayer, norm):
    return norm(x + sublayer(x))


@wrong("pre_norm", "`x += …` writes into the caller's x.")
def pre_norm_d(x, sublayer, norm):
    x += sublayer(norm(x))
    return x


@wrong("post_norm", "Sandwich norm (CogView, Gemma 2): the input is normed as well.")
def post_norm_a(x, sublayer, norm):
    return norm(x + sublayer(norm(x)))


@wrong(
    "post_norm",
    "DeepNorm's factor on the residual (here the root of 2) is brought in; plain x is asked for.",
)
def post_norm_b(x, sublayer, norm):
    return norm(math.sqrt(2.0) * x + sublayer(x))


@wrong(
    "dropout",
    "TensorFlow 1's keep_prob: p is taken as the probability of keeping, so divided by p instead of 1 - p.",
)
def dropout_a(x, p, keep, training):
    if not training:
        return x
    return x * keep / p


@wrong("dropout", "The 2014 paper's form: not enlarged in training, made smaller in evaluation.")
def dropout_b(x, p, keep, training):
    if training:
        return x * keep
    return x * (1 - p)


@wrong(
    "dropout", "Divided by the share that was really kept in this draw (keep.mean()), not by 1 - p."
)
def dropout_c(x, p, keep, training):
    if not training:
        return x
    return torch.where(keep, x, torch.zeros_like(x)) / keep.float().mean()


@wrong(
    "dropout",
    "With p = 1 everything is dropped and the division by 1 - p = 0 gives 0/0 = nan, where zeros belong.",
)
def dropout_d(x, p, keep, training):
    return x * keep / (1 - p) if training else x


@wrong("sublayer_with_dropout", "Dropout over the sum, residual included.")
def sublayer_with_dropout_a(x, sublayer, norm, dropout):
    return dropout(x + sublayer(norm(x)))


@wrong("sublayer_with_dropout", "Dropout on the normed input instead of the output.")
def sublayer_with_dropout_b(x, sublayer, norm, dropout):
    return x + sublayer(dropout(norm(x)))


@wrong("feed_forward", "GELU, BERT's and GPT's activation, instead of ReLU.")
def feed_forward_a(x, w1, b1, w2, b2):
    return F.linear(F.gelu(F.linear(x, w1, b1)), w2, b2)


@wrong("feed_forward", "ReLU6 (MobileNet): activations beyond 6 are cut off.")
def feed_forward_b(x, w1, b1, w2, b2):
    return F.linear(F.relu6(F.linear(x, w1, b1)), w2, b2)


@wrong("feed_forward", "Squared ReLU (Primer) instead of ReLU.")
class FeedForwardC(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(torch.relu(self.linear1(x)) ** 2)


@wrong(
    "group_sort",
    "Features i and i + D/2 are paired, as in LLaMA's rotate_half and maxout by chunks, instead of neighbours.",
)
def group_sort_a(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([torch.minimum(a, b), torch.maximum(a, b)], dim=-1)


@wrong(
    "group_sort",
    "Overwritten in place while still needed: the second column compares with the already changed first one, so both become the smaller.",
)
def group_sort_c(x):
    y = x.clone()
    y[..., 0::2] = torch.minimum(y[..., 0::2], y[..., 1::2])
    y[..., 1::2] = torch.maximum(y[..., 0::2], y[..., 1::2])
    return y


# ------------------------------------------------------------------ layers


@wrong(
    "encoder_layer",
    "Attention and feed-forward stand side by side (GPT-J's parallel block): the network does not see what attention found.",
)
def encoder_layer_b(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    return x + attention(h, h, h, mask) + feed_forward(norm2(x))


@wrong(
    "encoder_layer",
    "Only the query is normed; keys and values are the raw x (the Perceiver / cross-attention habit).",
)
def encoder_layer_c(x, mask, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x), x, x, mask)
    return x + feed_forward(norm2(x))


@wrong(
    "encoder_layer",
    "The mask is inverted on the way, as for nn.MultiheadAttention's key_padding_mask (True = hidden).",
)
def encoder_layer_d(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    x = x + attention(h, h, h, ~mask if mask is not None else None)
    return x + feed_forward(norm2(x))


@wrong(
    "decoder_layer",
    "The memory is normed with the second norm, too; it comes from the encoder already finished.",
)
def decoder_layer_b(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n1, n2, n3 = norms
    h = n1(x)
    x = x + self_attention(h, h, h, target_mask)
    m = n2(memory)
    x = x + cross_attention(n2(x), m, m, memory_mask)
    return x + feed_forward(n3(x))


@wrong(
    "decoder_layer",
    "If no memory mask is given the target's mask is taken for the memory: right only for S = T, and even there it hides.",
)
def decoder_layer_c(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    mask = memory_mask if memory_mask is not None else target_mask
    x = x + cross_attention(norms[1](x), memory, memory, mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer", "In the cross-attention block the residual carries the normed x, not x itself."
)
def decoder_layer_d(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    h = norms[1](x)
    x = h + cross_attention(h, memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "Feed-forward before cross-attention, as in the sandwich transformer: the order is self, cross, feed-forward.",
)
def decoder_layer_e(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    x = x + feed_forward(norms[2](x))
    return x + cross_attention(norms[1](x), memory, memory, memory_mask)


@wrong(
    "decoder_layer",
    "The memory's gradient is cut off, as for a frozen encoder: the encoder would never learn.",
)
def decoder_layer_f(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    memory = memory.detach()
    for norm, sub in zip(
        norms,
        (
            lambda h: self_attention(h, h, h, target_mask),
            lambda h: cross_attention(h, memory, memory, memory_mask),
            feed_forward,
        ),
    ):
        x = x + sub(norm(x))
    return x


@wrong(
    "causal_self_attention", "`is_causal=training`: in evaluation each position sees the future."
)
def causal_self_attention_a(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=training)


@wrong(
    "causal_self_attention",
    "`is_causal` only when more than one query (the Hugging Face SDPA line), written as > 2: for two tokens the first sees the second.",
)
def causal_self_attention_b(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=x.size(1) > 2)


@wrong(
    "causal_self_attention",
    "In evaluation the habit of the KV cache: only the last position's output is returned, (B, 1, D).",
)
def causal_self_attention_c(x, training):
    out = F.scaled_dot_product_attention(x, x, x, is_causal=True)
    return out if training else out[:, -1:]


@wrong(
    "causal_self_attention",
    "-1e4 is added for the future (GPT-2's first code): a later token with very large numbers breaks through it.",
)
def causal_self_attention_d(x, training):
    t = x.size(1)
    scores = x @ x.transpose(1, 2) / math.sqrt(x.size(-1))
    scores = scores - 1e4 * torch.ones(t, t, dtype=x.dtype).triu(1)
    return scores.softmax(-1) @ x


@wrong(
    "make_stack",
    "Weight sharing as in ALBERT and the Universal Transformer: one and the same layer n times.",
)
def make_stack_a(make_layer, n_layers):
    layer = make_layer()
    return nn.ModuleList([layer for _ in range(n_layers)])


@wrong(
    "make_stack",
    "`copy.deepcopy` of one layer (nn.Transformer's _get_clones): all layers begin with the same numbers, not drawn anew.",
)
def make_stack_b(make_layer, n_layers):
    import copy

    layer = make_layer()
    return nn.ModuleList([copy.deepcopy(layer) for _ in range(n_layers)])


@wrong(
    "make_stack",
    "The seed is set before each layer, for reproducibility: all layers get the same weights.",
)
def make_stack_c(make_layer, n_layers):
    layers = []
    for _ in range(n_layers):
        torch.manual_seed(0)
        layers.append(make_layer())
    return layers


def _masks(source, target):
    t = target.size(1)
    source_mask = (source != 0)[:, None, None, :]
    target_mask = (target != 0)[:, None, None, :] & torch.ones(
        t, t, dtype=torch.bool, device=target.device
    ).tril()
    return source_mask, target_mask


@wrong(
    "transformer_forward",
    "The decoder's cross-attention gets no mask: it attends to the source's padding (Hugging Face needs it passed on as well, and people forget).",
)
def transformer_forward_b(source, target, embed_source, embed_target, encoder, decoder, output):
    sm, tm = _masks(source, target)
    memory = encoder(embed_source(source), sm)
    every = torch.ones_like(sm)
    return output(decoder(embed_target(target), memory, tm, every))


@wrong(
    "transformer_forward",
    "Shared vocabulary assumed: the source is looked up with the target's embedding.",
)
def transformer_forward_c(source, target, embed_source, embed_target, encoder, decoder, output):
    sm, tm = _masks(source, target)
    memory = encoder(embed_target(source), sm)
    return output(decoder(embed_target(target), memory, tm, sm))


@wrong(
    "transformer_forward",
    "The target is shifted inside (the T5 / BART habit, `shift_tokens_right`), although it comes in already as what the decoder reads.",
)
def transformer_forward_d(source, target, embed_source, embed_target, encoder, decoder, output):
    start = torch.ones_like(target[:, :1])
    target = torch.cat([start, target[:, :-1]], dim=1)
    sm, tm = _masks(source, target)
    return output(decoder(embed_target(target), encoder(embed_source(source), sm), tm, sm))


@wrong(
    "transformer_forward",
    "The source mask is only built when the LAST row has padding (`source[-1]`): with padding in another row it is missing.",
)
def transformer_forward_e(source, target, embed_source, embed_target, encoder, decoder, output):
    sm, tm = _masks(source, target)
    if not (source[-1] == 0).any():
        sm = torch.ones_like(sm)
    return output(decoder(embed_target(target), encoder(embed_source(source), sm), tm, sm))


# ------------------------------------------------------------------ losses


@wrong(
    "cross_entropy",
    "Averaged over each sentence first and then over sentences (fairseq's sentence_avg): short sentences weigh more.",
)
def cross_entropy_a(logits, target):
    logp = torch.log_softmax(logits, -1)
    picked = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    real = (target != 0).float()
    return ((picked * real).sum(1) / real.sum(1)).mean()


@wrong(
    "cross_entropy",
    "Padding is -100 by PyTorch's habit: places with target 0 are counted, as if <pad> had to be said.",
)
def cross_entropy_b(logits, target):
    real = target != -100
    logp = logits.log_softmax(-1)
    picked = logp.gather(-1, target.clamp(min=0).unsqueeze(-1)).squeeze(-1)
    return -(picked * real).sum() / real.sum()


@wrong(
    "cross_entropy",
    "log of softmax: where a probability underflows, log(0) is -inf and the loss infinite.",
)
def cross_entropy_c(logits, target):
    p = torch.softmax(logits, dim=-1)
    picked = p.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    real = target != 0
    return -torch.log(picked[real]).mean()


@wrong(
    "cross_entropy",
    "log(p + 1e-9), the Keras epsilon: the loss of a very unlikely token is cut off at about 20.7.",
)
def cross_entropy_d(logits, target):
    p = torch.softmax(logits, dim=-1)[target != 0]
    y = target[target != 0]
    return -torch.log(p[torch.arange(len(y)), y] + 1e-9).mean()


@wrong(
    "cross_entropy",
    "Logits of padding are excluded from the softmax's denominator: <pad> can be predicted, and its mass counts.",
)
def cross_entropy_g(logits, target):
    real = target != 0
    rest = logits[real][:, 1:]
    return -torch.log_softmax(rest, -1).gather(1, target[real][:, None] - 1).mean()


@wrong(
    "label_smoothed_loss",
    "The smoothed part is spread over the V - 1 other tokens (the paper by Pereyra, OpenNMT); here it is ε/V over all V.",
)
def label_smoothed_loss_a(logits, target, smoothing):
    real = target != 0
    nlp = -torch.log_softmax(logits[real], -1)
    v = logits.size(-1)
    q = torch.full_like(nlp, smoothing / (v - 1)).scatter(1, target[real][:, None], 1 - smoothing)
    return (q * nlp).sum(-1).mean()


@wrong(
    "label_smoothed_loss",
    "The Annotated Transformer: spread over V - 2 tokens, none for padding, and a KL divergence, smaller by the entropy of the smoothed target.",
)
def label_smoothed_loss_b(logits, target, smoothing):
    real = target != 0
    logp = torch.log_softmax(logits[real], -1)
    v = logits.size(-1)
    q = torch.full_like(logp, smoothing / (v - 2)).scatter(1, target[real][:, None], 1 - smoothing)
    q[:, 0] = 0.0
    return F.kl_div(logp, q, reduction="sum") / real.sum()


@wrong(
    "label_smoothed_loss",
    "The uniform part is averaged over padding, too; only the first part leaves it out.",
)
def label_smoothed_loss_d(logits, target, smoothing):
    nlp = -torch.log_softmax(logits, -1)
    real = target != 0
    first = nlp.gather(-1, target[..., None]).squeeze(-1)[real].mean()
    return (1 - smoothing) * first + smoothing * nlp.mean(-1).mean()


@wrong(
    "perplexity",
    "The mean of the batches' means, unweighted: small batches count as much as large ones.",
)
def perplexity_a(losses, counts):
    return math.exp(sum(losses) / len(losses))


@wrong("perplexity", "The losses are rounded to two places first, as they are in the log file.")
def perplexity_c(losses, counts):
    losses = [round(float(l), 2) for l in losses]
    return math.exp(sum(l * n for l, n in zip(losses, counts)) / sum(counts))


@wrong(
    "perplexity",
    "The mean loss is capped at 10 (a guard against overflow): worse models all look the same.",
)
def perplexity_e(losses, counts):
    mean = sum(l * n for l, n in zip(losses, counts)) / sum(counts)
    return math.exp(min(mean, 10.0))


# ------------------------------------------------------------------ training


@wrong(
    "inverse_sqrt_schedule",
    "Steps are taken as counted from 0 (PyTorch's LambdaLR): one is added once too often.",
)
def inverse_sqrt_schedule_b(update, d_model, warmup):
    step = update + 1
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@wrong(
    "inverse_sqrt_schedule",
    "Linear decay to zero at 100000 updates after the warm-up, as for BERT.",
)
def inverse_sqrt_schedule_c(update, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    if update <= warmup:
        return peak * update / warmup
    return peak * max(0.0, (100_000 - update) / (100_000 - warmup))


@wrong(
    "inverse_sqrt_schedule",
    "The decay counts from the end of the warm-up, (update - warmup)^-0.5: just after it the rate jumps up.",
)
def inverse_sqrt_schedule_d(update, d_model, warmup):
    if update <= warmup:
        return d_model**-0.5 * update * warmup**-1.5
    return d_model**-0.5 * (update - warmup) ** -0.5


@wrong("clip_gradients", "Keras' clipnorm: each tensor has its own length, not one common to all.")
def clip_gradients_a(gradients, limit):
    return [g * min(1.0, limit / (g.norm().item() + 1e-12)) for g in gradients]


@wrong(
    "clip_gradients", "In place, as clip_grad_norm_ does: the gradients that came in are changed."
)
def clip_gradients_c(gradients, limit):
    total = torch.sqrt(sum((g**2).sum() for g in gradients))
    if total > limit:
        for g in gradients:
            g.mul_(limit / total)
    return gradients


@wrong(
    "clip_gradients",
    "Direction times length: when all gradients are zero the direction is 0/0 = nan.",
)
def clip_gradients_d(gradients, limit):
    total = torch.cat([g.reshape(-1) for g in gradients]).norm()
    return [g / total * torch.clamp(total, max=limit) for g in gradients]


@wrong(
    "clip_gradients",
    "Always normalised to the limit, also when shorter (the LARS / normalised-gradient habit): small gradients are blown up.",
)
def clip_gradients_e(gradients, limit):
    total = math.sqrt(sum(float(g.pow(2).sum()) for g in gradients))
    if total == 0:
        return [g.clone() for g in gradients]
    return [g * (limit / total) for g in gradients]


@wrong(
    "clip_gradients",
    "The squares are summed in float16: beyond 65504 they overflow to inf, and the gradients become 0.",
)
def clip_gradients_g(gradients, limit):
    total = sum((g.half() ** 2).sum() for g in gradients).float().sqrt()
    scale = torch.clamp(limit / total.clamp(min=1e-12), max=1.0)
    return [g * scale for g in gradients]


@wrong(
    "training_update",
    "Clipped before backward: the old (empty) gradients are clipped, the new ones not.",
)
def training_update_a(model, optimizer, compute_loss):
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    compute_loss().backward()
    optimizer.step()


@wrong(
    "training_update", "zero_grad is missing: the gradients of all earlier updates are added up."
)
def training_update_b(model, optimizer, compute_loss):
    compute_loss().backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()


@wrong("training_update", "Each parameter is clipped for itself, not all at a common length.")
def training_update_c(model, optimizer, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    compute_loss().backward()
    for p in model.parameters():
        nn.utils.clip_grad_norm_([p], 1.0)
    optimizer.step()


@wrong(
    "accumulated_update",
    "The parts' gradients are summed (fairseq sums and divides by tokens later) but never divided by the number of parts: seen with SGD.",
)
def accumulated_update_a(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        compute_loss(part).backward()
    optimizer.step()
    scheduler.step()


@wrong(
    "accumulated_update",
    "The schedule moves on with every part, so len(parts) times for one update.",
)
def accumulated_update_b(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
        scheduler.step()
    optimizer.step()


@wrong(
    "accumulated_update",
    "scheduler.step() comes before optimizer.step(), as before PyTorch 1.1: the update is made with the next rate.",
)
def accumulated_update_c(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    sum(compute_loss(p) for p in parts).div(len(parts)).backward()
    scheduler.step()
    optimizer.step()


@wrong(
    "accumulated_update",
    "`accumulate_grad_batches = 4` hard-wired: divided by 4, however many parts there are.",
)
def accumulated_update_d(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / 4).backward()
    optimizer.step()
    scheduler.step()


@wrong(
    "best_checkpoint",
    "The mean of the batches' losses, unweighted: batches of different length must count by their tokens.",
)
def best_checkpoint_a(checkpoints, batches, loss_of):
    means = [sum(loss_of(c, b) for b in batches) / len(batches) for c in checkpoints]
    return min(range(len(means)), key=means.__getitem__)


@wrong(
    "best_checkpoint",
    "Early stopping with patience 1: the search ends at the first rise, and a better checkpoint later is not seen.",
)
def best_checkpoint_b(checkpoints, batches, loss_of):
    best, best_loss = 0, float("inf")
    for i, c in enumerate(checkpoints):
        loss = sum(float(loss_of(c, b)) * len(b) for b in batches) / sum(len(b) for b in batches)
        if loss > best_loss:
            break
        best, best_loss = i, loss
    return best


@wrong(
    "average_checkpoints",
    "An exponential moving average (decay 0.5), where later checkpoints weigh more: right only for one or two.",
)
def average_checkpoints_a(checkpoints):
    mean = {k: v.clone() for k, v in checkpoints[0].items()}
    for c in checkpoints[1:]:
        for k, v in c.items():
            mean[k] = 0.5 * mean[k] + 0.5 * v
    return mean


@wrong(
    "average_checkpoints",
    "The sum is gathered in the first checkpoint's own tensors: that checkpoint is destroyed.",
)
def average_checkpoints_b(checkpoints):
    mean = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k in mean:
            mean[k] += c[k]
    return {k: v / len(checkpoints) for k, v in mean.items()}


@wrong(
    "average_checkpoints",
    "fairseq's script averages the last 5 only: with more checkpoints the first ones are dropped.",
)
def average_checkpoints_c(checkpoints):
    last = checkpoints[-5:]
    return {k: torch.stack([c[k] for c in last]).mean(0) for k in last[0]}


# ------------------------------------------------------------------ decoding


@wrong(
    "next_token", "argmax over the wrong axis after taking the last position: over the sentences."
)
def next_token_a(logits):
    return logits[:, -1].argmax(0)


@wrong(
    "next_token", "The [MASK]/[CLS] habit of BERT: the prediction is read from the first position."
)
def next_token_b(logits):
    return logits[:, 0].argmax(-1)


@wrong(
    "temperature_probabilities",
    "Multiplied by the temperature (as an inverse temperature β, or a CLIP logit scale), instead of divided.",
)
def temperature_probabilities_a(logits, temperature):
    return torch.softmax(logits * temperature, dim=-1)


@wrong(
    "temperature_probabilities",
    "p^(1/T) normalised, but a small temperature underflows: with T = 0.01 an only moderately likely winner gives 0/0 = nan.",
)
def temperature_probabilities_c(logits, temperature):
    p = torch.softmax(logits, -1) ** (1 / temperature)
    return p / p.sum(-1, keepdim=True)


@wrong(
    "top_k_probabilities",
    "Every token as likely as the k-th is kept (Hugging Face's `logits < kth`): with ties there are more than k.",
)
def top_k_probabilities_a(logits, k):
    kth = logits.topk(k, dim=-1).values[..., -1:]
    return torch.softmax(logits.masked_fill(logits < kth, float("-inf")), -1)


@wrong(
    "top_k_probabilities",
    "Not normalised again after the cut: the k probabilities sum to less than one.",
)
def top_k_probabilities_b(logits, k):
    p = torch.softmax(logits, -1)
    values, places = p.topk(k, -1)
    return torch.zeros_like(p).scatter(-1, places, values)


@wrong(
    "top_k_probabilities",
    "Removed logits are set to 0 instead of -inf: they keep exp(0), and may even win against negative logits.",
)
def top_k_probabilities_c(logits, k):
    values, places = logits.topk(k, -1)
    return torch.softmax(torch.zeros_like(logits).scatter(-1, places, values), -1)


@wrong(
    "greedy_search",
    "max_length counts `<sos>` as well (Hugging Face's max_length, not max_new_tokens): one token too few.",
)
def greedy_search_a(step, max_length):
    ids = [1]
    while len(ids) < max_length:
        token = int(step(torch.tensor([ids])).argmax(-1))
        if token == 2:
            break
        ids.append(token)
    return ids[1:]


@wrong(
    "greedy_search",
    "`<eos>` is appended and cut off with [1:-1] always: when max_length is reached without it the last real token is lost.",
)
def greedy_search_b(step, max_length):
    ids = torch.tensor([[1]])
    for _ in range(max_length):
        ids = torch.cat([ids, step(ids).argmax(-1, keepdim=True)], 1)
        if ids[0, -1] == 2:
            break
    return ids[0, 1:-1].tolist()


@wrong(
    "greedy_search",
    "Stops at padding (0) too, as if it were an end: a 0 in the middle cuts the sentence off.",
)
def greedy_search_c(step, max_length):
    ids = [1]
    for _ in range(max_length):
        token = step(torch.tensor([ids])).argmax().item()
        if token in (0, 2):
            break
        ids.append(token)
    return ids[1:]


@wrong(
    "greedy_search",
    "min_length = 1: `<eos>` is forbidden as the first token, so the empty answer is never given.",
)
def greedy_search_d(step, max_length):
    ids = [1]
    for i in range(max_length):
        logp = step(torch.tensor([ids]))[0].clone()
        if i == 0:
            logp[2] = -math.inf
        token = int(logp.argmax())
        if token == 2:
            break
        ids.append(token)
    return ids[1:]


@wrong("greedy_batch", "The loop stops as soon as ANY sentence ends: the others are cut short.")
def greedy_batch_a(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        new = step(ids).argmax(-1).masked_fill(done, 0)
        ids = torch.cat([ids, new[:, None]], 1)
        done = done | (new == 2)
        if done.any():
            break
    return ids[:, 1:]


@wrong(
    "greedy_batch",
    "`finished` is only the last token == <eos>: after one padding a finished sentence comes alive again.",
)
def greedy_batch_b(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        last = ids[:, -1]
        if bool((last == 2).all()):
            break
        new = torch.where(last == 2, torch.zeros_like(last), step(ids).argmax(-1))
        ids = torch.cat([ids, new[:, None]], dim=1)
    return ids[:, 1:]


@wrong(
    "greedy_batch",
    "Finished sentences are filled with <eos> (pad = eos, as for GPT-2), not with padding 0.",
)
def greedy_batch_c(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        new = step(ids).argmax(-1).masked_fill(done, 2)
        done |= new == 2
        ids = torch.cat([ids, new[:, None]], 1)
        if done.all():
            break
    return ids[:, 1:]


@wrong(
    "greedy_batch",
    "A produced padding token counts as 'finished' (`ids == 0` is asked for the state): a sentence that says 0 without having ended stops.",
)
def greedy_batch_d(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        done = (ids == 2).any(1) | (ids == 0).any(1)
        if done.all():
            break
        new = step(ids).argmax(-1) * ~done
        ids = torch.cat([ids, new[:, None]], 1)
    return ids[:, 1:]


def _beam(step, beam_size, max_length, key):
    living, finished = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([h for h, _ in living])).double()
        new = [
            (h + [t], s + float(logp[i, t]))
            for i, (h, s) in enumerate(living)
            for t in range(logp.size(1))
        ]
        new.sort(key=lambda c: -c[1])
        living = []
        for h, s in new[:beam_size]:
            (finished if h[-1] == 2 else living).append((h, s))
        if not living:
            break
    best = max(finished + living, key=lambda c: key(c[1], len(c[0]) - 1))
    return [t for t in best[0][1:] if t != 2]


@wrong(
    "beam_search",
    "GNMT's length penalty ((5 + n)/6)^0.6 is used for the ranking at the end; asked is the plain sum of log-probabilities.",
)
def beam_search_a(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, key=lambda s, n: s / ((5 + n) / 6) ** 0.6)


@wrong(
    "beam_search",
    "Early stopping: the best hypothesis finished by the first step at which one ends is returned, though a living one may become likelier than it.",
)
def beam_search_b(step, beam_size, max_length):
    living = [([1], 0.0)]
    for _ in range(max_length):
        logp = step(torch.tensor([h for h, _ in living])).double()
        new = [
            (h + [t], s + float(logp[i, t]))
            for i, (h, s) in enumerate(living)
            for t in range(logp.size(1))
        ]
        new = sorted(new, key=lambda c: -c[1])[:beam_size]
        ended = [h for h, _ in new if h[-1] == 2]
        if ended:
            return ended[0][1:-1]
        living = new
    return living[0][0][1:]


@wrong(
    "beam_search",
    "fairseq's 2·beam: finished hypotheses do not use up a place of the beam, so more continuations live than beam_size allows.",
)
def beam_search_d(step, beam_size, max_length):
    living, finished = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([h for h, _ in living]))
        total = (torch.tensor([s for _, s in living])[:, None] + logp).flatten()
        v = logp.size(1)
        values, places = total.topk(min(2 * beam_size, total.numel()))
        alive = []
        for value, place in zip(values.tolist(), places.tolist()):
            h = living[place // v][0] + [place % v]
            if h[-1] == 2:
                finished.append((h, value))
            elif len(alive) < beam_size:
                alive.append((h, value))
        living = alive
        if not living:
            break
    best = max(finished + living, key=lambda c: c[1])[0]
    return [t for t in best if t not in (1, 2)]


@wrong(
    "beam_search",
    "The initial scores are all 0 for `beam_size` copies of <sos>: every beam makes the same choices, and it is only a greedy search (GNMT sets all but the first to -inf).",
)
def beam_search_e(step, beam_size, max_length):
    ids = torch.ones(beam_size, 1, dtype=torch.long)
    scores = torch.zeros(beam_size)
    finished = []
    for _ in range(max_length):
        logp = step(ids)
        v = logp.size(1)
        values, places = (scores[:, None] + logp).flatten().topk(min(beam_size, ids.size(0) * v))
        ids = torch.cat([ids[places // v], (places % v)[:, None]], 1)
        scores = values
        ended = ids[:, -1] == 2
        finished += [(s, h) for s, h in zip(scores[ended].tolist(), ids[ended].tolist())]
        ids, scores = ids[~ended], scores[~ended]
        if len(ids) == 0:
            break
    finished += list(zip(scores.tolist(), ids.tolist()))
    best = max(finished, key=lambda c: c[0])[1]
    return [t for t in best[1:] if t != 2]


@wrong(
    "beam_search",
    "Only finished hypotheses may win; one that reaches max_length alive is forgotten though it counts as it is.",
)
def beam_search_f(step, beam_size, max_length):
    living, finished = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([h for h, _ in living]))
        new = [
            (h + [t], s + logp[i, t].item())
            for i, (h, s) in enumerate(living)
            for t in range(logp.size(1))
        ]
        new = sorted(new, key=lambda c: c[1], reverse=True)[:beam_size]
        finished += [c for c in new if c[0][-1] == 2]
        living = [c for c in new if c[0][-1] != 2]
        if not living:
            break
    pool = finished or living
    return [t for t in max(pool, key=lambda c: c[1])[0][1:] if t != 2]


@wrong(
    "beam_search",
    "The score of <eos> itself is not added to a finished hypothesis: short ones are ranked too high.",
)
def beam_search_g(step, beam_size, max_length):
    living, finished = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([h for h, _ in living]))
        new = [
            (s + logp[i, t].item(), h, t, s)
            for i, (h, s) in enumerate(living)
            for t in range(logp.size(1))
        ]
        new.sort(key=lambda c: c[0], reverse=True)
        living = []
        for s, h, t, before in new[:beam_size]:
            if t == 2:
                finished.append((h, before))
            else:
                living.append((h + [t], s))
        if not living:
            break
    return max(finished + living, key=lambda c: c[1])[0][1:]


@wrong(
    "beam_search",
    "Sums kept in float16: long hypotheses with nearly equal sums are rounded to ties, and the wrong one wins.",
)
def beam_search_h(step, beam_size, max_length):
    ids, scores, finished = torch.tensor([[1]]), torch.zeros(1, dtype=torch.float16), []
    for _ in range(max_length):
        logp = step(ids).half()
        v = logp.size(1)
        total = (scores[:, None] + logp).flatten()
        scores, places = total.topk(min(beam_size, total.numel()))
        ids = torch.cat([ids[places // v], (places % v)[:, None]], 1)
        ended = ids[:, -1] == 2
        finished += list(zip(scores[ended].tolist(), ids[ended].tolist()))
        ids, scores = ids[~ended], scores[~ended]
        if not len(ids):
            break
    finished += list(zip(scores.tolist(), ids.tolist()))
    return [t for t in max(finished, key=lambda c: c[0])[1][1:] if t != 2]


@wrong(
    "embed_next",
    "fairseq counts positions from padding_idx + 1: the new tokens get row past + 1, one too far.",
)
def embed_next_a(tokens, past, weight, table):
    t = tokens.size(1)
    rows = (past + 1 + torch.arange(t)).clamp(max=table.size(0) - 1)
    return weight[tokens] + table[rows]


@wrong(
    "embed_next",
    "The new tokens' positions begin again at 0: what stands in the cache is forgotten.",
)
def embed_next_b(tokens, past, weight, table):
    return weight[tokens] + table[: tokens.size(1)]


@wrong(
    "embed_next", "All new tokens get the one row `past` (right for one new token at a time only)."
)
def embed_next_c(tokens, past, weight, table):
    return F.embedding(tokens, weight) + table[past]


@wrong("reorder_cache", "Only the keys are reordered, the values stay with their old beams.")
def reorder_cache_a(cache, rows):
    return [(k.index_select(0, torch.as_tensor(rows)), v) for k, v in cache]


@wrong(
    "reorder_cache",
    "In-place copy row by row: an already overwritten row is read for a later one (rows = [1, 0] gives the same beam twice).",
)
def reorder_cache_b(cache, rows):
    out = []
    for k, v in cache:
        k, v = k.clone(), v.clone()
        for i, r in enumerate(torch.as_tensor(rows).tolist()):
            k[i], v[i] = k[r].clone(), v[r].clone()
        out.append((k, v))
    return out


@wrong(
    "reorder_cache",
    "The inverse permutation: row i goes TO rows[i] (scatter), instead of coming from there.",
)
def reorder_cache_c(cache, rows):
    rows = torch.as_tensor(rows)
    out = []
    for k, v in cache:
        nk, nv = k.clone(), v.clone()
        nk[rows], nv[rows] = k, v
        out.append((nk, nv))
    return out


@wrong("length_normalised", "GNMT's penalty ((5 + n) / 6)^alpha instead of n^alpha.")
def length_normalised_a(score, length, alpha):
    return score / ((5 + length) / 6) ** alpha


@wrong(
    "length_normalised",
    "A straight-line blend between 1 and the length instead of a power: right for alpha 0 and 1 (and length 1), wrong in between.",
)
def length_normalised_b(score, length, alpha):
    return score / (alpha * length + (1 - alpha))


@wrong("cut_at_end", "Cut at the LAST <eos> (rindex): what comes between two ends stays.")
def cut_at_end_b(ids):
    for i in range(len(ids) - 1, -1, -1):
        if ids[i] == 2:
            return ids[:i]
    return ids


@wrong(
    "cut_at_end", "`ids.find(2)`-like -1 for 'not found': without an end the last token is lost."
)
def cut_at_end_c(ids):
    place = next((i for i, t in enumerate(ids) if t == 2), -1)
    return ids[:place]


@wrong(
    "cut_at_end",
    "BERT's habit of dropping all special tokens (0, 1, 2) instead of cutting: what stands behind the first end remains.",
)
def cut_at_end_d(ids):
    return [t for t in ids if t not in (0, 1, 2)]


# ------------------------------------------------------------------ two mistakes at once


@wrong(
    "layer_norm",
    "Two: the unbiased variance (D - 1), and epsilon added to the standard deviation (the Annotated Transformer's LayerNorm, letter by letter).",
)
def layer_norm_two(x, weight, bias, eps=1e-5):
    return weight * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias


@wrong(
    "scaled_dot_product_attention",
    "Two: True is read as hidden, and a row where all is hidden gets the mean of the values by the -1e9.",
)
def sdpa_two(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    if mask is not None:
        scores = scores + mask.to(scores.dtype) * -1e9
    return scores.softmax(-1) @ value


@wrong(
    "label_smoothed_loss", "Two: ε is spread over V - 1 tokens, and padding is counted in the mean."
)
def label_smoothed_loss_two(logits, target, smoothing):
    nlp = -logits.log_softmax(-1)
    q = torch.full_like(nlp, smoothing / (logits.size(-1) - 1)).scatter(
        -1, target[..., None], 1 - smoothing
    )
    return ((q * nlp).sum(-1) * (target != 0)).mean()


@wrong(
    "decoder_layer",
    "Two: post-norm at the end (an extra norm over the result with the third norm), and the cross-attention gets the target's mask when S = T.",
)
def decoder_layer_two(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    mask = target_mask if memory.size(1) == x.size(1) else memory_mask
    x = x + cross_attention(norms[1](x), memory, memory, mask)
    return norms[2](x + feed_forward(x))


@wrong(
    "clip_gradients",
    "Two: each tensor by itself, and only the entries' mean square (not the sum) is taken as the length.",
)
def clip_gradients_two(gradients, limit):
    return [g * min(1.0, limit / (g.pow(2).mean().sqrt().item() + 1e-6)) for g in gradients]


@wrong(
    "training_update",
    "Two: the gradients are zeroed after the step only (what was there before counts in the first update), and they are clipped by value at 1.",
)
def training_update_two(model, optimizer, compute_loss):
    compute_loss().backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


@wrong(
    "greedy_batch",
    "Two: <eos> is replaced by padding at once, and so nobody is ever noticed to be finished: the rows are always max_length long.",
)
def greedy_batch_two(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        new = step(ids).argmax(-1)
        new = torch.where(new == 2, torch.zeros_like(new), new)
        ids = torch.cat([ids, new[:, None]], 1)
        if (new == 2).all():
            break
    return ids[:, 1:]


@wrong(
    "transformer_forward",
    "Two: the target's padding decides over the memory, and the source is not masked in the encoder; fits only when S = T.",
)
def transformer_forward_two(source, target, embed_source, embed_target, encoder, decoder, output):
    sm, tm = _masks(source, target)
    memory = encoder(embed_source(source), torch.ones_like(sm))
    wrong_mask = (target != 0)[:, None, None, :] if source.size(1) == target.size(1) else sm
    return output(decoder(embed_target(target), memory, tm, wrong_mask))
