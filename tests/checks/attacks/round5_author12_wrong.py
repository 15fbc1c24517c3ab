"""Round 5, author 12: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right
import math
import copy
from collections import Counter
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


# ---------------------------------------------------------------- chapters 1 to 5
@wrong(
    "number_of_targets",
    "Base and exponent are exchanged; seen wherever vocab_size ** length differs from length ** vocab_size.",
)
def number_of_targets_a(vocab_size, length):
    return length**vocab_size


@wrong(
    "number_of_targets",
    "math.pow works in floats, so a long sequence over a big vocabulary loses its digits or overflows (e.g. 30000 words, 100 tokens).",
)
def number_of_targets_b(vocab_size, length):
    return int(math.pow(vocab_size, length))


@wrong(
    "number_of_targets",
    "Counts sequences without repetition (arrangements), as if no word might come twice.",
)
def number_of_targets_c(vocab_size, length):
    return math.perm(vocab_size, length)


@wrong(
    "build_vocabulary",
    "Words must come MORE than min_frequency times; a word that comes exactly that often is lost.",
)
def build_vocabulary_a(sentences, min_frequency):
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    counts = Counter(w for s in sentences for w in s)
    for w, c in counts.items():
        if c > min_frequency:
            vocab[w] = len(vocab)
    return vocab


@wrong(
    "build_vocabulary",
    "The id is taken from the place among all counted words, so rare words leave gaps in the numbering.",
)
def build_vocabulary_b(sentences, min_frequency):
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    counts = Counter()
    for s in sentences:
        counts.update(s)
    for i, w in enumerate(counts):
        if counts[w] >= min_frequency:
            vocab[w] = i + 4
    return vocab


@wrong(
    "build_vocabulary",
    "Counts in how many sentences a word stands, not how often it comes; wrong if a word is repeated inside one sentence.",
)
def build_vocabulary_c(sentences, min_frequency):
    counts = Counter()
    for s in sentences:
        counts.update(set(s))
    words = ["<pad>", "<sos>", "<eos>", "<unk>"] + sorted(
        w for w in counts if counts[w] >= min_frequency
    )
    return {w: i for i, w in enumerate(words)}


@wrong("encode", "The unknown words are dropped in place of becoming <unk>.")
def encode_a(tokens, vocabulary):
    return [vocabulary[t] for t in tokens if t in vocabulary] + [2]


@wrong(
    "encode",
    "`get(...) or 3` also turns id 0 into <unk>: the token <pad>, which is in the dictionary, is coded wrongly.",
)
def encode_b(tokens, vocabulary):
    ids = []
    for token in tokens:
        ids.append(vocabulary.get(token) or 3)
    ids.append(2)
    return ids


@wrong("encode", "<eos> and <unk> are exchanged: unknown words become 2 and the end is 3.")
def encode_c(tokens, vocabulary):
    return [vocabulary.get(t, 2) for t in tokens] + [3]


@wrong(
    "text_to_ids",
    "The text is split at spaces rather than with the tokenizer the model was trained with; seen with a tokenizer that treats punctuation or capitals otherwise.",
)
def text_to_ids_a(text, tokenize, vocabulary):
    return [vocabulary.get(w, 3) for w in text.split()] + [2]


@wrong(
    "text_to_ids",
    "Lower-cases the text before tokenizing, whatever the model was trained with; wrong if the vocabulary knows capitals.",
)
def text_to_ids_b(text, tokenize, vocabulary):
    ids = [vocabulary.get(t, 3) for t in tokenize(text.lower())]
    return ids + [2]


@wrong(
    "training_words",
    "The validation sentences are counted, too, so words get into the vocabulary from data that the model may not learn from.",
)
def training_words_a(splits, min_frequency):
    counts = Counter()
    for name in ("train", "validation"):
        for sentence in splits[name]:
            counts.update(sentence)
    return {w for w, c in counts.items() if c >= min_frequency}


@wrong(
    "training_words",
    "Counted in the training set rightly, but words that come nowhere in the test set are thrown out.",
)
def training_words_b(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    in_test = {w for s in splits["test"] for w in s}
    return [w for w in counts if counts[w] >= min_frequency and w in in_test]


@wrong(
    "training_words",
    "most_common(min_frequency) gives the min_frequency most frequent words, not those that come that often.",
)
def training_words_c(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    return [w for w, _ in counts.most_common(min_frequency)]


@wrong(
    "collate", "Longer than needed by one: one column of nothing but padding is always appended."
)
def collate_a(rows):
    length = max(len(r) for r in rows) + 1
    return torch.tensor([r + [0] * (length - len(r)) for r in rows])


@wrong("collate", "A fixed length of 32: too long for short rows, and longer ones are cut.")
def collate_b(rows):
    batch = torch.zeros(len(rows), 32, dtype=torch.long)
    for i, row in enumerate(rows):
        row = row[:32]
        batch[i, : len(row)] = torch.tensor(row)
    return batch


@wrong(
    "collate",
    "The length of the first row is taken for the longest one; a longer row behind is cut (right only for rows sorted by falling length).",
)
def collate_c(rows):
    length = len(rows[0])
    batch = torch.zeros(len(rows), length, dtype=torch.long)
    for i, row in enumerate(rows):
        n = min(len(row), length)
        batch[i, :n] = torch.tensor(row[:n])
    return batch


@wrong("collate", "torch.zeros without dtype gives floats rather than whole numbers.")
def collate_d(rows):
    batch = torch.zeros(len(rows), max(map(len, rows)))
    for i, row in enumerate(rows):
        batch[i, : len(row)] = torch.tensor(row)
    return batch


@wrong("collate", "The padding is <eos> (2) in place of 0.")
def collate_e(rows):
    longest = max(len(r) for r in rows)
    return torch.tensor([list(r) + [2] * (longest - len(r)) for r in rows])


@wrong("shift", "Returned in the wrong order: first what it is to say, then what it reads.")
def shift_a(target):
    return target[:, 1:], target[:, :-1]


@wrong("shift", "Cuts the first axis (the sentences) rather than the positions.")
def shift_b(target):
    return target[:-1], target[1:]


@wrong(
    "shift",
    "The goal is made with roll, so it wraps round and keeps the length T instead of T - 1.",
)
def shift_c(target):
    return target, torch.roll(target, -1, dims=1)


@wrong(
    "shift",
    "The decoder is given the goal itself: both tensors are target[:, 1:], it reads what it is to say.",
)
def shift_d(target):
    reads = target[:, 1:]
    says = target[:, 1:]
    return reads, says


@wrong("embedding", "The scaling by the root of D is forgotten.")
def embedding_a(tokens, weight):
    return F.embedding(tokens, weight)


@wrong(
    "embedding",
    "Multiplies by the root of V (the number of rows) in place of D; hidden only if V = D.",
)
def embedding_b(tokens, weight):
    return weight[tokens] * math.sqrt(weight.size(0))


@wrong(
    "embedding",
    "padding_idx=0 cuts off the gradient of the row of token 0: the values are right, the gradient is not as soon as a token 0 comes.",
)
def embedding_c(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * math.sqrt(weight.shape[1])


class EmbeddingD(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.d_model = d_model

    def forward(self, tokens):
        return self.weight[tokens] / math.sqrt(self.d_model)


wrong("embedding", "Divides by the root of D in place of multiplying.")(EmbeddingD)


@wrong("tied_logits", "Takes the cosine: both vectors are normalised before the dot product.")
def tied_logits_a(x, weight):
    return F.normalize(x, dim=-1) @ F.normalize(weight, dim=-1).T


@wrong(
    "tied_logits",
    "Divides by the root of D, as in attention, though the sheet asks for the plain dot products.",
)
def tied_logits_b(x, weight):
    return x @ weight.t() / x.size(-1) ** 0.5


@wrong("tied_logits", "weight.detach(): the embedding gets no gradient from the output side.")
def tied_logits_c(x, weight):
    return F.linear(x, weight.detach())


@wrong(
    "sinusoids",
    "The exponent is i / D in place of 2i / D: the frequencies fall half as fast; not seen for D = 2.",
)
def sinusoids_a(length, d_model):
    pos = torch.arange(length).unsqueeze(1).float()
    i = torch.arange(d_model // 2).float()
    angles = pos / 10000 ** (i / d_model)
    out = torch.zeros(length, d_model)
    out[:, 0::2] = torch.sin(angles)
    out[:, 1::2] = torch.cos(angles)
    return out


@wrong("sinusoids", "Positions are counted from 1.")
def sinusoids_b(length, d_model):
    pe = torch.zeros(length, d_model)
    position = torch.arange(1, length + 1, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


@wrong(
    "sinusoids",
    "Each column has a frequency of its own (10000^(j/D)): the cosine in column 2i + 1 does not have the frequency of the sine beside it.",
)
def sinusoids_c(length, d_model):
    out = torch.zeros(length, d_model)
    for p in range(length):
        for j in range(d_model):
            angle = p / 10000 ** (j / d_model)
            out[p, j] = math.sin(angle) if j % 2 == 0 else math.cos(angle)
    return out


@wrong(
    "sinusoids",
    "Returns (1, T, D), the shape of the registered buffer in PyTorch's tutorial, not (T, D).",
)
def sinusoids_d(length, d_model):
    pe = torch.zeros(length, d_model)
    position = torch.arange(length).unsqueeze(1)
    div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div)
    pe[:, 1::2] = torch.cos(position * div)
    return pe.unsqueeze(0)


@wrong(
    "add_positions",
    "Takes the row by the number of the sentence, not by the position (B rather than T).",
)
def add_positions_a(x, table):
    return x + table[: x.size(0)].unsqueeze(1)


@wrong(
    "add_positions",
    "x += changes the argument in place (and raises if x is a leaf that needs a gradient).",
)
def add_positions_b(x, table):
    x += table[: x.size(1)]
    return x


@wrong(
    "add_positions",
    "Takes the last T rows of the table; right only if the table is exactly as long as the sentence.",
)
def add_positions_c(x, table):
    return x + table[-x.shape[1] :]


@wrong(
    "add_positions",
    "The table is detached as for fixed sinusoids: a learned table gets no gradient.",
)
def add_positions_d(x, table):
    return x + table[: x.size(1)].detach()


@wrong(
    "add_positions",
    "The table is not cut to the length of x: shapes do not fit (raises) as soon as the table is longer than the sentence; for T = 1 it gives too many rows.",
)
def add_positions_e(x, table):
    return x + table.unsqueeze(0)


# ---------------------------------------------------------------- chapters 7 to 9
@wrong("softmax", "exp without subtracting the maximum overflows: scores like 1000 give nan.")
def softmax_a(scores):
    e = torch.exp(scores)
    return e / e.sum(-1, keepdim=True)


@wrong(
    "softmax",
    "The maximum of ALL scores is subtracted: a row far below the largest one becomes 0/0 = nan (e.g. rows around 0 and around 500).",
)
def softmax_b(scores):
    e = (scores - scores.max()).exp()
    return e / e.sum(dim=-1, keepdim=True)


@wrong("softmax", "Axis 1 is summed in place of the last one; right for two axes only.")
def softmax_c(scores):
    e = torch.exp(scores - scores.amax(dim=1, keepdim=True))
    return e / e.sum(dim=1, keepdim=True)


@wrong(
    "softmax",
    "The scores are clamped at 50 against overflow: scores above 50 that differ come out alike.",
)
def softmax_d(scores):
    e = torch.exp(torch.clamp(scores, max=50.0))
    return e / e.sum(dim=-1, keepdim=True)


@wrong("softmax", "Normalised with the sum of absolute scores, the exponential is missing.")
def softmax_e(scores):
    s = scores - scores.amin(-1, keepdim=True)
    return s / (s.sum(-1, keepdim=True) + 1e-9)


@wrong(
    "scaled_dot_product_attention",
    "Divides by the root of the VALUES' width; wrong whenever values and keys differ in width.",
)
def attention_a(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(value.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(scores, -1)) @ value


@wrong(
    "scaled_dot_product_attention",
    "With -1e9 a query that may attend to nothing gets the mean of all values, not zeros.",
)
def attention_b(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return torch.softmax(scores, dim=-1) @ value


@wrong("scaled_dot_product_attention", "With -inf a query that may attend to nothing gets nan.")
def attention_c(query, key, value, mask=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    p_attn = scores.softmax(dim=-1)
    return torch.matmul(p_attn, value)


@wrong("scaled_dot_product_attention", "The mask is read the wrong way round (True = hidden).")
def attention_d(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask, -1e30)
    w = scores.softmax(-1)
    if mask is not None:
        w = w.masked_fill(mask, 0.0)
    return w @ value


@wrong(
    "scaled_dot_product_attention",
    "The weights are zeroed after the softmax and not normalised again: the hidden keys still take their share.",
)
def attention_e(query, key, value, mask=None):
    w = torch.softmax(query @ key.transpose(-1, -2) / math.sqrt(key.size(-1)), dim=-1)
    if mask is not None:
        w = w * mask
    return w @ value


@wrong(
    "scaled_dot_product_attention",
    "The softmax runs over the queries (axis -2), not over the keys.",
)
def attention_f(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e30)
    w = scores.softmax(dim=-2)
    if mask is not None:
        w = w.masked_fill(~mask, 0)
    return w @ value


@wrong(
    "scaled_dot_product_attention",
    "Hidden scores are multiplied to 0 and not to minus infinity: exp(0) = 1 still attends.",
)
def attention_g(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores * mask
        return torch.softmax(scores, -1) @ value * mask.any(-1, keepdim=True)
    return torch.softmax(scores, -1) @ value


@wrong(
    "scaled_dot_product_attention",
    "Returns output AND weights as a pair; the sheet asks for the output alone.",
)
def attention_h(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    w = torch.nan_to_num(torch.softmax(scores, -1))
    return w @ value, w


@wrong(
    "scaled_dot_product_attention",
    "The denominator gets the mask, but exp is taken without subtracting the maximum: large scores overflow to nan.",
)
def attention_i(query, key, value, mask=None):
    e = torch.exp(query @ key.transpose(-2, -1) / math.sqrt(key.size(-1)))
    if mask is not None:
        e = e * mask
    return (e / (e.sum(-1, keepdim=True) + 1e-12)) @ value


@wrong(
    "scaled_dot_product_attention",
    "key.T of the last two axes is mistaken for transpose(1, 2): right for three axes, wrong (or an error) with heads or a single sequence.",
)
def attention_j(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(1, 2)) / math.sqrt(key.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(torch.softmax(scores, -1)) @ value


@wrong(
    "scaled_dot_product_attention",
    "For queries without a key the whole row of the mask is taken as hidden for the whole batch (mask.any over all axes but one): one fully hidden query zeroes that position in every sentence.",
)
def attention_k(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is None:
        return scores.softmax(-1) @ value
    w = scores.masked_fill(~mask, -1e30).softmax(-1)
    empty = ~mask.expand(scores.shape).any(-1, keepdim=True)
    if empty.dim() > 2:
        empty = empty.flatten(0, -3).any(0)
    return (w @ value).masked_fill(empty, 0.0)


@wrong(
    "padding_mask",
    "True stands for padding, as in PyTorch's key_padding_mask; here True = may attend.",
)
def padding_mask_a(tokens):
    return (tokens == 0)[:, None, None, :]


@wrong("padding_mask", "The axes of the queries and keys are exchanged: (B, 1, S, 1).")
def padding_mask_b(tokens):
    return (tokens != 0).unsqueeze(1).unsqueeze(-1)


@wrong(
    "padding_mask",
    "Tokens > 3 are taken as real: <sos>, <eos> and <unk> are hidden along with padding.",
)
def padding_mask_c(tokens):
    return (tokens > 3).unsqueeze(1).unsqueeze(2)


@wrong(
    "padding_mask",
    "The number of real tokens is counted and the first so many are shown: a 0 in front or in the middle is shown, a real token at the end hidden.",
)
def padding_mask_d(tokens):
    lengths = (tokens != 0).sum(1, keepdim=True)
    return (torch.arange(tokens.size(1), device=tokens.device) < lengths)[:, None, None]


@wrong(
    "padding_mask",
    "squeeze() before unsqueeze drops the axis of a batch of one or of a sentence of one token.",
)
def padding_mask_e(tokens):
    m = (tokens != 0).squeeze()
    return m.unsqueeze(-2).unsqueeze(-2)


@wrong(
    "padding_mask",
    "The ids themselves are returned as a mask: .long() numbers rather than booleans.",
)
def padding_mask_f(tokens):
    return (tokens != 0).long().unsqueeze(1).unsqueeze(1)


@wrong("causal_mask", "The upper triangle is True: a token attends to what comes after it.")
def causal_mask_a(length):
    return torch.triu(torch.ones(length, length)).bool()


@wrong("causal_mask", "diagonal=1 of tril lets each token see the one after it.")
def causal_mask_b(length):
    return torch.tril(torch.ones(length, length, dtype=torch.bool), diagonal=1)


@wrong("causal_mask", "True where it may NOT attend, the convention of nn.Transformer.")
def causal_mask_c(length):
    return torch.triu(torch.ones(length, length), diagonal=1) == 1


@wrong(
    "causal_mask",
    "Cut out of a buffer of 64 positions (block_size): too small for longer sequences.",
)
def causal_mask_d(length):
    block = torch.tril(torch.ones(64, 64)).bool()
    return block[:length, :length]


@wrong(
    "target_mask", "Only the causal part is kept: padding among the earlier tokens is attended to."
)
def target_mask_a(tokens):
    B, T = tokens.shape
    return torch.tril(torch.ones(T, T, dtype=torch.bool)).expand(B, 1, T, T)


@wrong("target_mask", "The padding hides the rows (queries), not the columns (keys).")
def target_mask_b(tokens):
    T = tokens.size(1)
    pad = (tokens != 0)[:, None, :, None]
    return pad & torch.tril(torch.ones(T, T, dtype=torch.bool))


@wrong(
    "target_mask",
    "`|` in place of `&`: a key is allowed as soon as one of the two masks allows it.",
)
def target_mask_c(tokens):
    T = tokens.shape[1]
    return (tokens != 0).unsqueeze(1).unsqueeze(2) | torch.tril(torch.ones(1, 1, T, T)).bool()


@wrong(
    "target_mask",
    "Tutorial code with both: padding hides rows as well as columns, so a query at a padding position sees nothing, though it may attend to the real tokens before it.",
)
def target_mask_d(tokens):
    T = tokens.shape[1]
    real = tokens != 0
    both = real[:, None, :, None] & real[:, None, None, :]
    return both & torch.ones(T, T, dtype=torch.bool).tril()


@wrong(
    "target_mask",
    "'To itself' is taken to hold for padding, too: the diagonal is set to True everywhere.",
)
def target_mask_e(tokens):
    T = tokens.size(1)
    m = (tokens != 0)[:, None, None, :] & torch.tril(torch.ones(T, T)).bool()
    return m | torch.eye(T, dtype=torch.bool)


@wrong(
    "target_mask",
    "The padding is judged from the first sentence of the batch only; right for B = 1.",
)
def target_mask_f(tokens):
    B, T = tokens.shape
    m = torch.tril(torch.ones(T, T)).bool() & (tokens[0] != 0)
    return m.expand(B, 1, T, T)


@wrong(
    "target_mask",
    "cumprod takes everything behind the first 0 as padding: a sentence padded in front sees nothing at all.",
)
def target_mask_g(tokens):
    T = tokens.size(1)
    real = torch.cumprod((tokens != 0).long(), dim=1).bool()
    return real[:, None, None, :] & torch.tril(torch.ones(T, T)).bool()


@wrong(
    "split_heads",
    "view straight to (B, H, T, K) without a transpose mixes positions and features; not seen for T = 1 or H = 1.",
)
def split_heads_a(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)


@wrong("split_heads", "The transpose is forgotten: (B, T, H, K).")
def split_heads_b(x, n_heads):
    B, T, D = x.shape
    return x.view(B, T, n_heads, D // n_heads)


@wrong(
    "split_heads",
    "Positions and features are transposed before the reshape, so that the numbers come out scrambled; not seen for T = 1.",
)
def split_heads_c(x, n_heads):
    B, T, D = x.shape
    return x.transpose(1, 2).reshape(B, n_heads, T, D // n_heads)


@wrong("split_heads", "n_heads is used as the width K of a head: right only if H * H = D.")
def split_heads_d(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, T, -1, n_heads).transpose(1, 2)


@wrong(
    "merge_heads",
    "Reshaped without bringing T in front of the heads first; not seen for T = 1 or H = 1.",
)
def merge_heads_a(heads):
    B, H, T, K = heads.shape
    return heads.reshape(B, T, H * K)


@wrong("merge_heads", "The heads are averaged in place of joined: (B, T, K).")
def merge_heads_b(heads):
    return heads.mean(dim=1)


@wrong(
    "merge_heads",
    "The joined heads come out position first, (T, B, D); unseen in values only for B = T = 1.",
)
def merge_heads_c(heads):
    return torch.cat(list(heads.unbind(1)), dim=-1).transpose(0, 1)


@wrong("multi_head_attention", "Divides by the root of D and not of the width of one head.")
def mha_a(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    S = key.size(1)
    K = D // n_heads
    q = (query @ w_query.T).view(B, T, n_heads, K).transpose(1, 2)
    k = (key @ w_key.T).view(B, S, n_heads, K).transpose(1, 2)
    v = (value @ w_value.T).view(B, S, n_heads, K).transpose(1, 2)
    s = q @ k.transpose(-2, -1) / math.sqrt(D)
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    y = s.softmax(-1) @ v
    return y.transpose(1, 2).reshape(B, T, D) @ w_output.T


@wrong(
    "multi_head_attention",
    "The length of the query is used for keys and values as well: an error, or nonsense, for S different from T.",
)
def mha_b(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    q, k, v = [
        F.linear(x, w).view(B, T, n_heads, D // n_heads).transpose(1, 2)
        for x, w in ((query, w_query), (key, w_key), (value, w_value))
    ]
    s = q @ k.transpose(-2, -1) / math.sqrt(D // n_heads)
    if mask is not None:
        s = s.masked_fill(mask == 0, -1e9)
    y = torch.softmax(s, -1) @ v
    return F.linear(y.transpose(1, 2).contiguous().view(B, T, D), w_output)


@wrong(
    "multi_head_attention",
    "The values are projected from `key`; wrong whenever value is another tensor than key.",
)
def mha_c(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape

    def heads(x, w):
        return F.linear(x, w).reshape(B, -1, n_heads, D // n_heads).transpose(1, 2)

    q, k, v = heads(query, w_query), heads(key, w_key), heads(key, w_value)
    s = q @ k.mT / math.sqrt(D / n_heads)
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
    return F.linear((s.softmax(-1) @ v).transpose(1, 2).flatten(2), w_output)


@wrong("multi_head_attention", "The output projection is forgotten.")
def mha_d(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    outs = []
    K = query.size(-1) // n_heads
    q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    for h in range(n_heads):
        sl = slice(h * K, (h + 1) * K)
        o = F.scaled_dot_product_attention(
            q[..., sl].unsqueeze(1),
            k[..., sl].unsqueeze(1),
            v[..., sl].unsqueeze(1),
            attn_mask=mask,
        )
        outs.append(o.squeeze(1))
    return torch.cat(outs, dim=-1)


@wrong(
    "multi_head_attention",
    "The heads are merged without transposing back; not seen for one head or T = 1.",
)
def mha_e(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    f = lambda x, w: (x @ w.T).reshape(B, x.size(1), n_heads, -1).transpose(1, 2)
    q, k, v = f(query, w_query), f(key, w_key), f(value, w_value)
    y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return y.reshape(B, T, D) @ w_output.T


@wrong(
    "multi_head_attention",
    "The hidden keys still take their share: the mask is applied to the weights after the softmax.",
)
def mha_f(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    f = lambda x, w: (x @ w.T).unflatten(-1, (n_heads, D // n_heads)).transpose(1, 2)
    q, k, v = f(query, w_query), f(key, w_key), f(value, w_value)
    a = torch.softmax(torch.einsum("bhtk,bhsk->bhts", q, k) * (D // n_heads) ** -0.5, -1)
    if mask is not None:
        a = a.masked_fill(~mask, 0.0)
    return torch.einsum("bhts,bhsk->bthk", a, v).flatten(-2) @ w_output.T


class MhaG(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)

    def forward(self, query, key, value, mask=None):
        B, T, D = query.shape
        q = self.query(query).view(B, -1, self.h, D // self.h).transpose(1, 2)
        k = self.key(key).view(B, -1, self.h, D // self.h).transpose(1, 2)
        v = self.value(value).view(B, -1, self.h, D // self.h).transpose(1, 2)
        s = q @ k.transpose(-1, -2) / math.sqrt(D // self.h)
        if mask is not None:
            s = s.masked_fill(mask, -1e9)
        return self.output((s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D))


wrong(
    "multi_head_attention",
    "The mask is read as True = hidden; seen with any mask that hides something.",
)(MhaG)


# ---------------------------------------------------------------- chapters 10 to 14
@wrong("layer_norm", "torch.var divides by D - 1 by default (Bessel), so the variance is not 1.")
def layer_norm_a(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(var + eps) + bias


@wrong("layer_norm", "The Annotated Transformer's version: unbiased std, and eps beside the std.")
def layer_norm_b(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return weight * (x - mean) / (std + eps) + bias


@wrong(
    "layer_norm",
    "eps is added to the standard deviation and not to the variance under the root: seen where a position's features are nearly equal (variance about 1e-5).",
)
def layer_norm_c(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = ((x - mean) ** 2).mean(-1, keepdim=True).clamp_min(1e-30).sqrt()
    return (x - mean) / (std + eps) * weight + bias


@wrong(
    "layer_norm",
    "Mean and variance are taken over positions and features together, one for each sentence.",
)
def layer_norm_d(x, weight, bias, eps=1e-5):
    mean = x.mean(dim=(1, 2), keepdim=True)
    var = x.var(dim=(1, 2), keepdim=True, unbiased=False)
    return (x - mean) / (var + eps).sqrt() * weight + bias


@wrong("layer_norm", "Normalised over the batch (axis 0): a batch norm.")
def layer_norm_e(x, weight, bias, eps=1e-5):
    mean = x.mean(0, keepdim=True)
    var = ((x - mean) ** 2).mean(0, keepdim=True)
    return (x - mean) / (var + eps).sqrt() * weight + bias


@wrong(
    "layer_norm",
    "Mean and variance are detached, as if they were constants: the values are right, the gradient for x is not.",
)
def layer_norm_f(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@wrong("layer_norm", "Divides by the variance; the root is forgotten.")
def layer_norm_g(x, weight, bias, eps=1e-5):
    c = x - x.mean(-1, keepdim=True)
    return c / (c.pow(2).mean(-1, keepdim=True) + eps) * weight + bias


@wrong(
    "layer_norm",
    "The variance as E[x²] − E[x]² in single precision: catastrophic cancellation if the mean is large beside the spread (e.g. features around 10000).",
)
def layer_norm_h(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = (x * x).mean(-1, keepdim=True) - mean * mean
    return (x - mean) / torch.sqrt(var.clamp_min(0) + eps) * weight + bias


class LayerNormI(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True, unbiased=False)
        return self.weight * ((x - mean) / torch.sqrt(var + 1e-5) + self.bias)


wrong("layer_norm", "The bias stands inside the bracket and is scaled with the weight.")(LayerNormI)


@wrong("layer_norm_parameters", "Order exchanged: the zeros (bias) come first.")
def layer_norm_parameters_a(d_model):
    return torch.zeros(d_model), torch.ones(d_model)


@wrong(
    "layer_norm_parameters",
    "The weight is drawn at random like that of a linear layer; it begins with ones.",
)
def layer_norm_parameters_b(d_model):
    return torch.randn(d_model) * d_model**-0.5, torch.zeros(d_model)


@wrong(
    "layer_norm_parameters",
    "One number for all features, shape (1,) rather than (D,); unseen for D = 1.",
)
def layer_norm_parameters_c(d_model):
    return torch.ones(1), torch.zeros(1)


@wrong("pre_norm", "The residual takes the normalised x.")
def pre_norm_a(x, sublayer, norm):
    x = norm(x)
    return x + sublayer(x)


@wrong("pre_norm", "The residual connection is forgotten.")
def pre_norm_b(x, sublayer, norm):
    return sublayer(norm(x))


@wrong("pre_norm", "The norm stands behind the sublayer, inside the residual.")
def pre_norm_c(x, sublayer, norm):
    return x + norm(sublayer(x))


@wrong("post_norm", "The residual is added after the norm.")
def post_norm_a(x, sublayer, norm):
    return x + norm(sublayer(x))


@wrong("post_norm", "The addition is forgotten: norm of the sublayer's output alone.")
def post_norm_b(x, sublayer, norm):
    return norm(sublayer(x))


@wrong(
    "post_norm",
    "x is detached on the residual way, so the gradient flows through the sublayer only.",
)
def post_norm_c(x, sublayer, norm):
    return norm(x.detach() + sublayer(x))


@wrong("dropout", "The other entries are not enlarged.")
def dropout_a(x, p, keep, training):
    if training:
        return x * keep
    return x


@wrong("dropout", "Divided by p in place of 1 - p; right for p = 0.5 only, and infinite for p = 0.")
def dropout_b(x, p, keep, training):
    if not training:
        return x
    return x * keep / p


@wrong("dropout", "keep is read as 'drop': the kept entries become zero.")
def dropout_c(x, p, keep, training):
    if not training:
        return x
    return x.masked_fill(keep, 0.0) / (1 - p)


@wrong(
    "dropout",
    "Enlarged by the share that was really kept (keep.mean()) and not by 1 / (1 - p); also nan where nothing was kept.",
)
def dropout_d(x, p, keep, training):
    if training:
        return x * keep / keep.float().mean()
    return x


@wrong("dropout", "`training` is not looked at: entries are dropped in evaluation, too.")
def dropout_e(x, p, keep, training):
    return torch.where(keep, x / (1 - p), torch.zeros_like(x))


@wrong("dropout", "The mask given is not used; F.dropout draws one of its own.")
def dropout_f(x, p, keep, training):
    return F.dropout(x, p, training)


@wrong("sublayer_with_dropout", "Dropout falls on the sum, the residual too.")
def sublayer_with_dropout_a(x, sublayer, norm, dropout):
    return dropout(x + sublayer(norm(x)))


@wrong("sublayer_with_dropout", "Dropout stands in front of the sublayer.")
def sublayer_with_dropout_b(x, sublayer, norm, dropout):
    return x + sublayer(dropout(norm(x)))


@wrong("sublayer_with_dropout", "Post-norm in place of pre-norm.")
def sublayer_with_dropout_c(x, sublayer, norm, dropout):
    return norm(x + dropout(sublayer(x)))


@wrong("sublayer_with_dropout", "The dropout is forgotten.")
def sublayer_with_dropout_d(x, sublayer, norm, dropout):
    return x + sublayer(norm(x))


@wrong("feed_forward", "ReLU is applied to the output, too.")
def feed_forward_a(x, w1, b1, w2, b2):
    return torch.relu(F.linear(torch.relu(F.linear(x, w1, b1)), w2, b2))


@wrong("feed_forward", "The first bias is added after the ReLU.")
def feed_forward_b(x, w1, b1, w2, b2):
    return (torch.relu(x @ w1.T) + b1) @ w2.T + b2


@wrong("feed_forward", "The nonlinearity is missing: two linear layers in a row.")
def feed_forward_c(x, w1, b1, w2, b2):
    return F.linear(F.linear(x, w1, b1), w2, b2)


@wrong("feed_forward", "LeakyReLU in place of ReLU.")
def feed_forward_d(x, w1, b1, w2, b2):
    return F.linear(F.leaky_relu(F.linear(x, w1, b1)), w2, b2)


class FeedForwardE(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return x + self.linear2(torch.relu(self.linear1(x)))


wrong("feed_forward", "The residual connection is added inside already.")(FeedForwardE)


@wrong("group_sort", "All features are sorted, not each pair; right for two features only.")
def group_sort_a(x):
    return x.sort(dim=-1).values


@wrong(
    "group_sort",
    "The pairs are feature i and i + D/2 (halves), not neighbours; right for two features.",
)
def group_sort_b(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([torch.minimum(a, b), torch.maximum(a, b)], dim=-1)


@wrong(
    "group_sort",
    "Rightly paired, but all the minima come first and then all the maxima, and are not interleaved again.",
)
def group_sort_c(x):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.cat([torch.min(a, b), torch.max(a, b)], dim=-1)


@wrong(
    "group_sort",
    "Written into a copy without a gradient (x.detach().clone()): the values are right, no gradient reaches x.",
)
def group_sort_d(x):
    y = x.detach().clone()
    y[..., 0::2] = torch.minimum(x, x.roll(-1, -1)).detach()[..., 0::2]
    y[..., 1::2] = torch.maximum(x, x.roll(1, -1)).detach()[..., 1::2]
    return y


@wrong(
    "group_sort",
    "The sort runs over axis 1, the pairs: unflatten gives (…, D/2, 2), and -2 is the wrong one of the two.",
)
def group_sort_e(x):
    return x.unflatten(-1, (-1, 2)).sort(dim=-2).values.flatten(-2)


@wrong("encoder_layer", "The mask is not passed on to the attention.")
def encoder_layer_a(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    x = x + attention(h, h, h, None)
    return x + feed_forward(norm2(x))


@wrong("encoder_layer", "norm1 is used twice.")
def encoder_layer_b(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    x = x + attention(h, h, h, mask)
    return x + feed_forward(norm1(x))


@wrong("encoder_layer", "Only the queries are normalised; keys and values are the raw x.")
def encoder_layer_c(x, mask, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x), x, x, mask)
    x = x + feed_forward(norm2(x))
    return x


@wrong(
    "encoder_layer",
    "The second residual comes from the layer's input and not from the attention's result.",
)
def encoder_layer_d(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    y = x + attention(h, h, h, mask)
    return x + feed_forward(norm2(y))


@wrong(
    "encoder_layer",
    "Parallel sublayers, as in GPT-J: the feed-forward network does not see what attention found.",
)
def encoder_layer_e(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    return x + attention(h, h, h, mask) + feed_forward(norm2(x))


@wrong("encoder_layer", "The residual around attention starts from the normalised x.")
def encoder_layer_f(x, mask, attention, feed_forward, norm1, norm2):
    x = norm1(x)
    x = x + attention(x, x, x, mask)
    return x + feed_forward(norm2(x))


@wrong("decoder_layer", "target_mask and memory_mask are exchanged.")
def decoder_layer_a(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, memory_mask)
    x = x + cross_attention(norms[1](x), memory, memory, target_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "The memory is normalised with the decoder's norm, too; it goes into cross-attention as it is.",
)
def decoder_layer_b(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    m = norms[1](memory)
    x = x + cross_attention(norms[1](x), m, m, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "Cross-attention comes before self-attention.")
def decoder_layer_c(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    x = x + cross_attention(norms[0](x), memory, memory, memory_mask)
    h = norms[1](x)
    x = x + self_attention(h, h, h, target_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "The values of cross-attention are the decoder's own vectors, not the memory; an error for S different from T.",
)
def decoder_layer_d(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    h = norms[1](x)
    x = x + cross_attention(h, memory, h, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer", "self_attention is called for both; cross_attention's weights are never used."
)
def decoder_layer_e(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n1, n2, n3 = norms
    h = n1(x)
    x = x + self_attention(h, h, h, target_mask)
    x = x + self_attention(n2(x), memory, memory, memory_mask)
    return x + feed_forward(n3(x))


@wrong("decoder_layer", "The residual around the cross-attention is forgotten.")
def decoder_layer_f(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n1, n2, n3 = norms
    h = n1(x)
    x = x + self_attention(h, h, h, target_mask)
    x = cross_attention(n2(x), memory, memory, memory_mask)
    return x + feed_forward(n3(x))


@wrong("decoder_layer", "The memory is detached: the encoder gets no gradient.")
def decoder_layer_g(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    memory = memory.detach()
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "causal_self_attention",
    "The causal mask is set in training only (is_causal=training); in evaluation each position sees the future.",
)
def causal_self_attention_a(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=training)


@wrong("causal_self_attention", "In evaluation only the last position is computed, (B, 1, D).")
def causal_self_attention_b(x, training):
    y = F.scaled_dot_product_attention(x, x, x, is_causal=True)
    return y if training else y[:, -1:]


@wrong("causal_self_attention", "The scaling is by the root of T (scores.size(-1)), not of D.")
def causal_self_attention_c(x, training):
    T = x.size(1)
    scores = x @ x.transpose(1, 2)
    scores = scores / math.sqrt(scores.size(-1))
    scores = scores.masked_fill(torch.triu(torch.ones(T, T), 1).bool(), float("-inf"))
    return scores.softmax(-1) @ x


@wrong(
    "causal_self_attention",
    "The lower triangle is multiplied in: future scores become 0 and are not hidden.",
)
def causal_self_attention_d(x, training):
    s = torch.tril(x @ x.mT / x.size(-1) ** 0.5)
    return s.softmax(-1) @ x


@wrong(
    "causal_self_attention",
    "masked_fill(s == 0) after tril hides real scores that happen to be exactly 0, e.g. of a zero vector or of orthogonal ones.",
)
def causal_self_attention_e(x, training):
    s = torch.tril(x @ x.mT / x.size(-1) ** 0.5)
    s = s.masked_fill(s == 0, -1e9)
    return s.softmax(-1) @ x


@wrong("make_stack", "The same layer n times: all share one set of weights.")
def make_stack_a(make_layer, n_layers):
    return nn.ModuleList([make_layer()] * n_layers)


@wrong("make_stack", "One layer too few: range(1, n_layers).")
def make_stack_b(make_layer, n_layers):
    return nn.ModuleList([make_layer() for _ in range(1, n_layers)])


@wrong("make_stack", "copy.copy is shallow: the layers share their parameters.")
def make_stack_c(make_layer, n_layers):
    layer = make_layer()
    return [copy.copy(layer) for _ in range(n_layers)]


@wrong(
    "transformer_forward",
    "The causal mask is taken from the source's length; an error or nonsense for S different from T.",
)
def transformer_forward_a(source, target, embed_source, embed_target, encoder, decoder, output):
    S = source.size(1)
    source_mask = (source != 0)[:, None, None, :]
    target_mask = torch.tril(torch.ones(S, S)).bool()[None, None]
    memory = encoder(embed_source(source), source_mask)
    return output(decoder(embed_target(target), memory, target_mask, source_mask))


@wrong("transformer_forward", "The memory mask is made from the target's padding.")
def transformer_forward_b(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.size(1)
    source_mask = (source != 0).unsqueeze(1).unsqueeze(2)
    pad = (target != 0).unsqueeze(1).unsqueeze(2)
    target_mask = pad & torch.tril(torch.ones(T, T)).bool()
    memory = encoder(embed_source(source), source_mask)
    return output(decoder(embed_target(target), memory, target_mask, pad))


@wrong(
    "transformer_forward",
    "No mask for cross-attention: the decoder attends to the source's padding.",
)
def transformer_forward_c(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.size(1)
    source_mask = (source != 0)[:, None, None, :]
    target_mask = (target != 0)[:, None, None, :] & torch.tril(torch.ones(T, T)).bool()
    memory = encoder(embed_source(source), source_mask)
    return output(decoder(embed_target(target), memory, target_mask, torch.ones_like(source_mask)))


@wrong("transformer_forward", "The target's mask hides padding but not the future.")
def transformer_forward_d(source, target, embed_source, embed_target, encoder, decoder, output):
    sm = (source != 0)[:, None, None, :]
    tm = (target != 0)[:, None, None, :].expand(-1, 1, target.size(1), -1)
    return output(decoder(embed_target(target), encoder(embed_source(source), sm), tm, sm))


@wrong("transformer_forward", "embed_source is used for the target as well.")
def transformer_forward_e(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.shape[1]
    sm = (source != 0)[:, None, None, :]
    tm = (target != 0)[:, None, None, :] & torch.tril(torch.ones(T, T)).bool()
    return output(decoder(embed_source(target), encoder(embed_source(source), sm), tm, sm))


@wrong(
    "transformer_forward",
    "The forward pass cuts the last target token off (target[:, :-1]) though shift has done it: T - 1 rows.",
)
def transformer_forward_f(source, target, embed_source, embed_target, encoder, decoder, output):
    target = target[:, :-1]
    T = target.shape[1]
    sm = (source != 0)[:, None, None, :]
    tm = (target != 0)[:, None, None, :] & torch.tril(torch.ones(T, T)).bool()
    return output(decoder(embed_target(target), encoder(embed_source(source), sm), tm, sm))


# ---------------------------------------------------------------- chapters 15 and 16
@wrong("cross_entropy", "The mean runs over all positions, padding counted.")
def cross_entropy_a(logits, target):
    return F.cross_entropy(logits.reshape(-1, logits.size(-1)), target.reshape(-1))


@wrong(
    "cross_entropy",
    "Each sentence's mean first, then the mean of those: short sentences weigh too much; unseen when all are equally long.",
)
def cross_entropy_b(logits, target):
    nll = F.cross_entropy(logits.transpose(1, 2), target, ignore_index=0, reduction="none")
    real = (target != 0).float()
    return (nll.sum(1) / real.sum(1).clamp_min(1)).mean()


@wrong("cross_entropy", "The sum over real tokens is divided by the number of all positions.")
def cross_entropy_c(logits, target):
    logp = torch.log_softmax(logits, dim=-1)
    nll = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return (nll * (target != 0)).mean()


@wrong(
    "cross_entropy",
    "log(softmax) underflows to log 0 for an unlikely right token (a logit 200 below the highest): the loss is inf.",
)
def cross_entropy_d(logits, target):
    p = torch.softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    return -torch.log(p[target != 0]).mean()


@wrong(
    "cross_entropy",
    "1e-9 inside the logarithm: a very unlikely right token costs 20.7 at the most.",
)
def cross_entropy_e(logits, target):
    p = torch.softmax(logits, -1)
    q = p.gather(2, target.unsqueeze(2)).squeeze(2)
    mask = target.ne(0)
    return -(torch.log(q + 1e-9) * mask).sum() / mask.sum()


@wrong(
    "cross_entropy",
    "The softmax runs over axis 1, the positions: logits go in without transposing.",
)
def cross_entropy_f(logits, target):
    logp = F.log_softmax(logits, dim=1)
    nll = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return nll[target != 0].mean()


@wrong("cross_entropy", "F.cross_entropy gets probabilities: softmax is taken twice.")
def cross_entropy_g(logits, target):
    return F.cross_entropy(logits.softmax(-1).flatten(0, 1), target.flatten(), ignore_index=0)


@wrong("cross_entropy", "<eos> (2) is left out of the mean along with the padding.")
def cross_entropy_h(logits, target):
    nll = F.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
    keep = (target.flatten() != 0) & (target.flatten() != 2)
    return (nll * keep).sum() / keep.sum().clamp(min=1)


@wrong("cross_entropy", "The sum is returned, not the mean; right for one real token.")
def cross_entropy_i(logits, target):
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0, reduction="sum")


@wrong(
    "cross_entropy",
    "The logit of padding is set to -inf before the softmax, so token 0 takes no share of the probability.",
)
def cross_entropy_j(logits, target):
    logits = logits.clone()
    logits[..., 0] = float("-inf")
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0)


@wrong(
    "label_smoothed_loss", "The smoothing term is summed over the vocabulary but not divided by V."
)
def label_smoothed_a(logits, target, smoothing):
    nlp = -torch.log_softmax(logits, -1)
    right_token = nlp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    loss = (1 - smoothing) * right_token + smoothing * nlp.sum(-1)
    return loss[target != 0].mean()


@wrong(
    "label_smoothed_loss",
    "The right token keeps its full weight: the factor (1 - smoothing) is forgotten.",
)
def label_smoothed_b(logits, target, smoothing):
    nlp = -torch.log_softmax(logits, -1)
    right_token = nlp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return (right_token + smoothing * nlp.mean(-1))[target != 0].mean()


@wrong(
    "label_smoothed_loss",
    "The smoothing term is averaged over the padding, too (mask only on the first part).",
)
def label_smoothed_c(logits, target, smoothing):
    logp = F.log_softmax(logits, dim=-1)
    nll = F.nll_loss(logp.flatten(0, 1), target.flatten(), ignore_index=0)
    smooth = -logp.mean()
    return (1 - smoothing) * nll + smoothing * smooth


@wrong(
    "label_smoothed_loss",
    "The smoothing leaves out the padding's class: shared among V - 1 tokens without <pad>.",
)
def label_smoothed_d(logits, target, smoothing):
    nlp = -F.log_softmax(logits, dim=-1)
    first = nlp.gather(-1, target[..., None])[..., 0]
    smooth = nlp[..., 1:].mean(-1)
    loss = (1 - smoothing) * first + smoothing * smooth
    real = target != 0
    return (loss * real).sum() / real.sum()


@wrong(
    "label_smoothed_loss",
    "As in the Annotated Transformer: ε/(V − 2) each, nothing for the right token and nothing for padding.",
)
def label_smoothed_e(logits, target, smoothing):
    V = logits.size(-1)
    logp = torch.log_softmax(logits, -1)
    dist = torch.full_like(logp, smoothing / (V - 2))
    dist.scatter_(-1, target.unsqueeze(-1), 1 - smoothing)
    dist[..., 0] = 0
    loss = -(dist * logp).sum(-1)
    return loss[target != 0].mean()


@wrong("label_smoothed_loss", "smoothing and 1 - smoothing are exchanged; right for 0.5 only.")
def label_smoothed_f(logits, target, smoothing):
    nlp = -torch.log_softmax(logits, -1)
    first = nlp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return torch.lerp(nlp.mean(-1), first, smoothing)[target != 0].mean()


@wrong("label_smoothed_loss", "The smoothing is fixed at 0.1, the argument is not read.")
def label_smoothed_g(logits, target, smoothing):
    return nn.CrossEntropyLoss(ignore_index=0, label_smoothing=0.1)(
        logits.flatten(0, 1), target.flatten()
    )


@wrong(
    "perplexity",
    "The mean of the batches' losses, not weighted by tokens; unseen for equal counts.",
)
def perplexity_a(losses, counts):
    return math.exp(sum(losses) / len(losses))


@wrong("perplexity", "The mean of the batches' perplexities: exp before averaging.")
def perplexity_b(losses, counts):
    return sum(math.exp(l) * c for l, c in zip(losses, counts)) / sum(counts)


@wrong("perplexity", "2 ** in place of exp, though the losses are in nats.")
def perplexity_c(losses, counts):
    return 2 ** (sum(l * c for l, c in zip(losses, counts)) / sum(counts))


@wrong(
    "perplexity",
    "The sum of losses is divided by the number of tokens, as if they were sums; they are means already.",
)
def perplexity_d(losses, counts):
    return math.exp(sum(losses) / sum(counts))


@wrong("inverse_sqrt_schedule", "max in place of min.")
def schedule_a(update, d_model, warmup):
    return d_model**-0.5 * max(update**-0.5, update * warmup**-1.5)


@wrong("inverse_sqrt_schedule", "update + 1 is used, as if updates counted from 0.")
def schedule_b(update, d_model, warmup):
    n = update + 1
    return d_model**-0.5 * min(n**-0.5, n * warmup**-1.5)


@wrong("inverse_sqrt_schedule", "The root of d_model is multiplied in, not divided by.")
def schedule_c(update, d_model, warmup):
    return d_model**0.5 * min(update**-0.5, update * warmup**-1.5)


@wrong(
    "inverse_sqrt_schedule",
    "warmup ** -0.5 in the warmup branch; then the ramp ends much too high and the peak comes too early.",
)
def schedule_d(update, d_model, warmup):
    return d_model**-0.5 * min(update**-0.5, update * warmup**-0.5)


@wrong(
    "inverse_sqrt_schedule",
    "After the warmup it counts anew from the end of the warmup: (n - warmup) ** -0.5; wrong for every update beyond the warmup.",
)
def schedule_e(update, d_model, warmup):
    if update <= warmup:
        return d_model**-0.5 * update * warmup**-1.5
    return d_model**-0.5 * (update - warmup) ** -0.5


@wrong("clip_gradients", "Each tensor is clipped on its own; right for a single tensor.")
def clip_a(gradients, limit):
    out = []
    for g in gradients:
        n = g.norm()
        out.append(g * (limit / n) if n > limit else g.clone())
    return out


@wrong("clip_gradients", "Clips values (clamp to ±limit): the direction changes.")
def clip_b(gradients, limit):
    return [g.clamp(-limit, limit) for g in gradients]


@wrong("clip_gradients", "Always scaled to limit, short gradients are lengthened.")
def clip_c(gradients, limit):
    total = torch.sqrt(sum((g**2).sum() for g in gradients))
    return [g * limit / (total + 1e-6) for g in gradients]


@wrong(
    "clip_gradients", "The lengths are added up rather than their squares; right for one tensor."
)
def clip_d(gradients, limit):
    total = sum(g.norm() for g in gradients)
    scale = min(1.0, float(limit / (total + 1e-6)))
    return [g * scale for g in gradients]


@wrong("clip_gradients", "mul_ changes the gradients that came in.")
def clip_e(gradients, limit):
    total = torch.stack([g.norm() for g in gradients]).norm()
    if total > limit:
        for g in gradients:
            g.mul_(limit / total)
    return gradients


@wrong(
    "clip_gradients",
    "The root is forgotten: the sum of squares is compared with the limit and divided by.",
)
def clip_f(gradients, limit):
    total = sum(g.pow(2).sum() for g in gradients)
    if total > limit:
        return [g * (limit / total) for g in gradients]
    return [g.clone() for g in gradients]


@wrong(
    "clip_gradients",
    "Compared with 1 in place of limit: gradients between 1 and limit are lengthened, for a limit below 1 some stay too long.",
)
def clip_g(gradients, limit):
    total = torch.cat([g.flatten() for g in gradients]).norm()
    if total > 1.0:
        return [g / total * limit for g in gradients]
    return [g.clone() for g in gradients]


@wrong("training_update", "zero_grad is missing: gradients pile up from the second update on.")
def training_update_a(model, optimizer, compute_loss):
    loss = compute_loss()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@wrong("training_update", "Clipped before backward: there is nothing to clip yet.")
def training_update_b(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss.backward()
    optimizer.step()


@wrong(
    "training_update", "zero_grad stands between backward and step: the weights do not move (SGD)."
)
def training_update_c(model, optimizer, compute_loss):
    loss = compute_loss()
    loss.backward()
    optimizer.zero_grad(set_to_none=False)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@wrong("training_update", "Clipped only after the step.")
def training_update_d(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@wrong("training_update", "clip_grad_value_ in place of clip_grad_norm_.")
def training_update_e(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()


@wrong("training_update", "Each parameter is clipped for itself and not at a common length.")
def training_update_f(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    for p in model.parameters():
        nn.utils.clip_grad_norm_([p], 1.0)
    optimizer.step()


@wrong(
    "accumulated_update",
    "The parts' losses are summed, not divided by their number: the gradient is len(parts) times too large.",
)
def accumulated_update_a(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        compute_loss(part).backward()
    optimizer.step()
    scheduler.step()


@wrong("accumulated_update", "zero_grad inside the loop: only the last part counts.")
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
        loss = compute_loss(part) / len(parts)
        loss.backward()
        scheduler.step()
    optimizer.step()


@wrong(
    "accumulated_update",
    "scheduler.step() before optimizer.step(): the update is done with the next rate already.",
)
def accumulated_update_d(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    n = len(parts)
    for part in parts:
        (compute_loss(part) / n).backward()
    scheduler.step()
    optimizer.step()


@wrong("accumulated_update", "A step for each part: several small updates and not one.")
def accumulated_update_e(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        optimizer.zero_grad()
        (compute_loss(part) / len(parts)).backward()
        optimizer.step()
    scheduler.step()


@wrong(
    "best_checkpoint",
    "The mean over batches, not over tokens: batches of unequal size weigh alike.",
)
def best_checkpoint_a(checkpoints, batches, loss_of):
    means = [sum(loss_of(c, b) for b in batches) / len(batches) for c in checkpoints]
    return means.index(min(means))


@wrong("best_checkpoint", "argmax: the highest loss wins.")
def best_checkpoint_b(checkpoints, batches, loss_of):
    n = sum(len(b) for b in batches)
    losses = torch.tensor(
        [float(sum(loss_of(c, b) * len(b) for b in batches)) / n for c in checkpoints]
    )
    return int(losses.argmax())


@wrong(
    "best_checkpoint",
    "Early stopping: stops at the first checkpoint that is worse than the one before; a better one further on is not found.",
)
def best_checkpoint_c(checkpoints, batches, loss_of):
    best, best_loss = 0, float("inf")
    for i, c in enumerate(checkpoints):
        loss = sum(float(loss_of(c, b)) * len(b) for b in batches)
        if loss > best_loss:
            break
        best, best_loss = i, loss
    return best


@wrong(
    "best_checkpoint",
    "The total is not set back to 0 for each checkpoint, so (with positive losses) the first always wins.",
)
def best_checkpoint_d(checkpoints, batches, loss_of):
    total, best, best_total = 0.0, 0, float("inf")
    for i, c in enumerate(checkpoints):
        for b in batches:
            total += float(loss_of(c, b)) * len(b)
        if total < best_total:
            best, best_total = i, total
    return best


@wrong(
    "average_checkpoints",
    "A running average (a + b) / 2: the last checkpoint weighs one half; right for one or two.",
)
def average_checkpoints_a(checkpoints):
    mean = {k: v.clone() for k, v in checkpoints[0].items()}
    for c in checkpoints[1:]:
        for k in mean:
            mean[k] = (mean[k] + c[k]) / 2
    return mean


@wrong(
    "average_checkpoints",
    "Summed into the first checkpoint's own tensors: the argument is changed.",
)
def average_checkpoints_b(checkpoints):
    mean = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k in mean:
            mean[k] += c[k]
    return {k: v / len(checkpoints) for k, v in mean.items()}


@wrong(
    "average_checkpoints",
    "torch.mean without a dimension: one number for each weight in place of a tensor of its shape.",
)
def average_checkpoints_c(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).mean() for k in checkpoints[0]}


@wrong("average_checkpoints", "The first checkpoint is counted in the number but not in the sum.")
def average_checkpoints_d(checkpoints):
    out = {k: torch.zeros_like(v) for k, v in checkpoints[0].items()}
    for c in checkpoints[1:]:
        for k, v in c.items():
            out[k] += v / len(checkpoints)
    return out


# ---------------------------------------------------------------- chapter 17
@wrong("next_token", "Argmax over the first position, not the last; unseen for T = 1.")
def next_token_a(logits):
    return logits[:, 0].argmax(-1)


@wrong("next_token", "Argmax of the last sentence's positions: logits[-1] takes the batch axis.")
def next_token_b(logits):
    return logits[-1].argmax(-1)


@wrong("next_token", "keepdim=True: (B, 1) and not (B,).")
def next_token_c(logits):
    return logits[:, -1, :].argmax(dim=-1, keepdim=True)


@wrong("next_token", "The positions' logits are averaged before the argmax.")
def next_token_d(logits):
    return logits.mean(dim=1).argmax(dim=-1)


@wrong("temperature_probabilities", "Multiplied by the temperature in place of divided.")
def temperature_a(logits, temperature):
    return torch.softmax(logits * temperature, dim=-1)


@wrong(
    "temperature_probabilities",
    "The temperature divides the probabilities after the softmax, which normalising undoes.",
)
def temperature_b(logits, temperature):
    p = torch.softmax(logits, -1) / temperature
    return p / p.sum(-1, keepdim=True)


@wrong(
    "temperature_probabilities",
    "exp(logits / T) without subtracting the maximum overflows at low temperature (logits 5, T = 0.01).",
)
def temperature_c(logits, temperature):
    e = torch.exp(logits / temperature)
    return e / e.sum(-1, keepdim=True)


@wrong(
    "temperature_probabilities",
    "softmax(logits) ** (1/T) underflows for unlikely tokens, and is not normalised again.",
)
def temperature_d(logits, temperature):
    return torch.softmax(logits, -1) ** (1 / temperature)


@wrong(
    "top_k_probabilities",
    "Not normalised again: the k probabilities do not sum to one (except for k = V).",
)
def top_k_a(logits, k):
    p = torch.softmax(logits, -1)
    v, i = p.topk(k, dim=-1)
    return torch.zeros_like(p).scatter(-1, i, v)


@wrong(
    "top_k_probabilities",
    "The others' logits are set to 0, not to minus infinity: they keep probability.",
)
def top_k_b(logits, k):
    v, i = logits.topk(k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, i, v).softmax(-1)


@wrong(
    "top_k_probabilities",
    "Compared with > the k-th largest: the k-th itself is lost (nan for k = 1).",
)
def top_k_c(logits, k):
    kth = logits.topk(k, dim=-1).values[:, -1:]
    return logits.masked_fill(~(logits > kth), float("-inf")).softmax(-1)


@wrong(
    "top_k_probabilities",
    "The threshold is taken from the first sentence for the whole batch; right for B = 1.",
)
def top_k_d(logits, k):
    kth = torch.topk(logits, k).values[0, -1]
    return logits.masked_fill(logits < kth, -1e30).softmax(-1)


@wrong("top_k_probabilities", "Returns only the k probabilities, (B, k), sorted.")
def top_k_e(logits, k):
    return torch.topk(logits, k, dim=-1).values.softmax(-1)


@wrong("greedy_search", "<eos> is appended before the test and stays in the list.")
def greedy_a(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        nxt = int(step(torch.tensor([tokens])).argmax(-1))
        tokens.append(nxt)
        if nxt == 2:
            break
    return tokens[1:]


@wrong(
    "greedy_search",
    "Off by one: <sos> is counted in max_length, so at most max_length - 1 tokens come out; seen when no <eos> comes in time.",
)
def greedy_b(step, max_length):
    tokens = [1]
    while len(tokens) < max_length:
        nxt = step(torch.tensor([tokens])).argmax(dim=-1).item()
        if nxt == 2:
            break
        tokens.append(nxt)
    return tokens[1:]


@wrong(
    "greedy_search",
    "Only the newest token is handed to step: it does not begin with <sos> and the history is lost.",
)
def greedy_c(step, max_length):
    out, last = [], 1
    for _ in range(max_length):
        last = int(step(torch.tensor([[last]])).argmax())
        if last == 2:
            break
        out.append(last)
    return out


@wrong(
    "greedy_search",
    "Cuts the last token off always, taking it for <eos>; wrong where max_length was reached without one.",
)
def greedy_d(step, max_length):
    ids = torch.ones(1, 1, dtype=torch.long)
    for _ in range(max_length):
        nxt = step(ids).argmax(-1, keepdim=True)
        ids = torch.cat([ids, nxt], dim=1)
        if nxt.item() == 2:
            break
    return ids[0, 1:-1].tolist()


@wrong("greedy_search", "Stops at <unk> (3), as well as at <eos>.")
def greedy_e(step, max_length):
    ids = [1]
    for _ in range(max_length):
        n = step(torch.tensor([ids])).argmax(-1).item()
        if n in (2, 3):
            break
        ids.append(n)
    return ids[1:]


@wrong("greedy_search", "Samples (multinomial) in place of taking the likeliest.")
def greedy_f(step, max_length):
    ids = [1]
    for _ in range(max_length):
        n = torch.multinomial(step(torch.tensor([ids])).exp(), 1).item()
        if n == 2:
            break
        ids.append(n)
    return ids[1:]


@wrong("greedy_batch", "Stops as soon as ANY sentence has ended.")
def greedy_batch_a(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        nxt = step(tokens).argmax(-1)
        tokens = torch.cat([tokens, nxt[:, None]], 1)
        if (nxt == 2).any():
            break
    return tokens[:, 1:]


@wrong("greedy_batch", "Finished sentences go on: no padding behind <eos>.")
def greedy_batch_b(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        nxt = step(tokens).argmax(-1)
        done = done | (nxt == 2)
        tokens = torch.cat([tokens, nxt[:, None]], 1)
        if done.all():
            break
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "`done` is overwritten and not or-ed: a sentence comes to life again two steps after its <eos>.",
)
def greedy_batch_c(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        nxt = step(tokens).argmax(-1).masked_fill(done, 0)
        tokens = torch.cat([tokens, nxt.unsqueeze(1)], 1)
        done = nxt == 2
        if done.all():
            break
    return tokens[:, 1:]


@wrong("greedy_batch", "done is updated before the fill: the <eos> itself becomes padding.")
def greedy_batch_d(step, n_sentences, max_length):
    tokens = torch.full((n_sentences, 1), 1)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        nxt = step(tokens).argmax(-1)
        done |= nxt == 2
        nxt[done] = 0
        tokens = torch.cat([tokens, nxt[:, None]], 1)
        if done.all():
            break
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "The buffer has max_length columns with <sos> among them: one token too few when nothing finishes in time.",
)
def greedy_batch_e(step, n_sentences, max_length):
    buf = torch.zeros(n_sentences, max_length, dtype=torch.long)
    buf[:, 0] = 1
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for t in range(1, max_length):
        nxt = step(buf[:, :t]).argmax(-1)
        nxt = torch.where(done, torch.zeros_like(nxt), nxt)
        buf[:, t] = nxt
        done = done | (nxt == 2)
    return buf[:, 1:]


@wrong(
    "greedy_batch",
    "<eos> is forced onto the last column of sentences that have not ended; the likeliest token belongs there.",
)
def greedy_batch_f(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for t in range(max_length):
        nxt = step(tokens).argmax(-1).masked_fill(done, 0)
        tokens = torch.cat([tokens, nxt[:, None]], 1)
        done = done | (nxt == 2)
    tokens[~done, -1] = 2
    return tokens[:, 1:]


@wrong("greedy_batch", "<sos> is left in the first column.")
def greedy_batch_g(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        nxt = step(tokens).argmax(-1) * (~done)
        tokens = torch.cat([tokens, nxt[:, None]], 1)
        done |= nxt == 2
        if bool(done.all()):
            break
    return tokens


@wrong("beam_search", "The scores are not added up: only the last step's log-probability counts.")
def beam_a(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        lp = step(torch.tensor([t for t, _ in alive]))
        cand = [
            (t + [v], lp[i, v].item()) for i, (t, s) in enumerate(alive) for v in range(lp.size(1))
        ]
        cand.sort(key=lambda c: -c[1])
        alive = []
        for t, s in cand[:beam_size]:
            (done if t[-1] == 2 else alive).append((t, s))
        if not alive:
            break
    best = max(done + alive, key=lambda c: c[1])[0][1:]
    return [t for t in best if t != 2]


@wrong(
    "beam_search",
    "Returns as soon as the first hypothesis has finished; a likelier one may still be alive.",
)
def beam_b(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        lp = step(torch.tensor([t for t, _ in alive]))
        cand = [
            (t + [v], s + lp[i, v].item())
            for i, (t, s) in enumerate(alive)
            for v in range(lp.size(1))
        ]
        cand.sort(key=lambda c: -c[1])
        alive = []
        for t, s in cand[:beam_size]:
            (done if t[-1] == 2 else alive).append((t, s))
        if done or not alive:
            break
    best = max(done or alive, key=lambda c: c[1])[0][1:]
    return [t for t in best if t != 2]


@wrong(
    "beam_search",
    "Finished ones do not take a place in the beam: beam_size living ones are kept beside them, a wider search than the sheet describes.",
)
def beam_c(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        lp = step(torch.tensor([t for t, _ in alive]))
        cand = []
        for i, (t, s) in enumerate(alive):
            for v in range(lp.size(1)):
                item = (t + [v], s + lp[i, v].item())
                (done if v == 2 else cand).append(item)
        alive = sorted(cand, key=lambda c: c[1], reverse=True)[:beam_size]
    best = max(done + alive, key=lambda c: c[1])[0][1:]
    return best[:-1] if best[-1] == 2 else best


@wrong(
    "beam_search",
    "If anything has finished, hypotheses that reached max_length are not considered, though they count as they are.",
)
def beam_d(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        lp = step(torch.tensor([t for t, _ in alive]))
        cand = sorted(
            (
                (t + [v], s + lp[i, v].item())
                for i, (t, s) in enumerate(alive)
                for v in range(lp.size(1))
            ),
            key=lambda c: c[1],
            reverse=True,
        )[:beam_size]
        done += [c for c in cand if c[0][-1] == 2]
        alive = [c for c in cand if c[0][-1] != 2]
        if not alive:
            break
    best = max(done if done else alive, key=lambda c: c[1])[0][1:]
    return [t for t in best if t != 2]


@wrong("beam_search", "Ranked at the end by score per token (length-normalised), not by the sum.")
def beam_e(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        lp = step(torch.tensor([t for t, _ in alive]))
        cand = sorted(
            (
                (t + [v], s + lp[i, v].item())
                for i, (t, s) in enumerate(alive)
                for v in range(lp.size(1))
            ),
            key=lambda c: c[1],
            reverse=True,
        )[:beam_size]
        done += [c for c in cand if c[0][-1] == 2]
        alive = [c for c in cand if c[0][-1] != 2]
        if not alive:
            break
    best = max(done + alive, key=lambda c: c[1] / (len(c[0]) - 1))[0][1:]
    return [t for t in best if t != 2]


@wrong(
    "beam_search",
    "Each hypothesis keeps its own single best continuation: after the first step the beams never compete.",
)
def beam_f(step, beam_size, max_length):
    lp = step(torch.tensor([[1]]))[0]
    top = lp.topk(beam_size)
    hyps = [([1, i], s) for s, i in zip(top.values.tolist(), top.indices.tolist())]
    for _ in range(max_length - 1):
        new = []
        for t, s in hyps:
            if t[-1] != 2:
                v, i = step(torch.tensor([t]))[0].max(0)
                t, s = t + [int(i)], s + float(v)
            new.append((t, s))
        hyps = new
    best = max(hyps, key=lambda h: h[1])[0][1:]
    return [x for x in best if x != 2]


@wrong(
    "beam_search",
    "The beams are divided with // beam_size and not // V: the flat index is taken apart wrongly as soon as beam_size differs from V.",
)
def beam_g(step, beam_size, max_length):
    tokens, scores, done = torch.ones(1, 1, dtype=torch.long), torch.zeros(1), []
    for _ in range(max_length):
        lp = step(tokens)
        V = lp.size(1)
        flat = (scores[:, None] + lp).flatten()
        scores, idx = flat.topk(min(beam_size, flat.numel()))
        rows = (idx // beam_size).clamp(max=tokens.size(0) - 1)
        tokens = torch.cat([tokens[rows], (idx % V)[:, None]], 1)
        end = tokens[:, -1] == 2
        done += [(s, t) for s, t in zip(scores[end].tolist(), tokens[end, 1:-1].tolist())]
        tokens, scores = tokens[~end], scores[~end]
        if len(tokens) == 0:
            break
    done += [(s, t) for s, t in zip(scores.tolist(), tokens[:, 1:].tolist())]
    return max(done)[1]


@wrong(
    "beam_search",
    "The width shrinks by every finished hypothesis (beam_size -= 1): 'every step keeps the best beam_size'.",
)
def beam_h(step, beam_size, max_length):
    alive, done, k = [([1], 0.0)], [], beam_size
    for _ in range(max_length):
        lp = step(torch.tensor([t for t, _ in alive]))
        cand = sorted(
            (
                (t + [v], s + lp[i, v].item())
                for i, (t, s) in enumerate(alive)
                for v in range(lp.size(1))
            ),
            key=lambda c: c[1],
            reverse=True,
        )[:k]
        alive = []
        for c in cand:
            if c[0][-1] == 2:
                done.append(c)
                k -= 1
            else:
                alive.append(c)
        if k == 0 or not alive:
            break
    best = max(done + alive, key=lambda c: c[1])[0][1:]
    return [t for t in best if t != 2]


@wrong(
    "embed_next", "The positions begin at 0 again: `past` is not added; right for an empty cache."
)
def embed_next_a(tokens, past, weight, table):
    return weight[tokens] + table[: tokens.size(1)]


@wrong(
    "embed_next",
    "One row of the table, that of position `past`, for all new tokens; right for t = 1.",
)
def embed_next_b(tokens, past, weight, table):
    return F.embedding(tokens, weight) + table[past]


@wrong("embed_next", "Scaled by the root of D, which the sheet says is not done here.")
def embed_next_c(tokens, past, weight, table):
    t = tokens.size(1)
    return weight[tokens] * math.sqrt(weight.size(1)) + table[past : past + t]


@wrong("embed_next", "Off by one: the first new token is put at position past + 1.")
def embed_next_d(tokens, past, weight, table):
    positions = torch.arange(past + 1, past + 1 + tokens.shape[1]).clamp(max=table.size(0) - 1)
    return weight[tokens] + table[positions]


@wrong("reorder_cache", "Only the keys are reordered.")
def reorder_cache_a(cache, rows):
    return [(k[rows], v) for k, v in cache]


@wrong(
    "reorder_cache",
    "The inverse order: row i is put to rows[i]; unseen for a swap, wrong for repeated rows.",
)
def reorder_cache_b(cache, rows):
    out = []
    for k, v in cache:
        nk, nv = k.clone(), v.clone()
        nk[rows] = k
        nv[rows] = v
        out.append((nk, nv))
    return out


@wrong(
    "reorder_cache",
    "Overwritten row by row in the copy itself: a row that was replaced already is read again (e.g. rows = [1, 0]).",
)
def reorder_cache_c(cache, rows):
    out = []
    for k, v in cache:
        k, v = k.clone(), v.clone()
        for i, r in enumerate(rows):
            k[i] = k[int(r)]
            v[i] = v[int(r)]
        out.append((k, v))
    return out


@wrong(
    "reorder_cache",
    "The heads (axis 1) are reordered, not the beams; an error when a row number exceeds the heads.",
)
def reorder_cache_d(cache, rows):
    return [(k[:, rows], v[:, rows]) for k, v in cache]


@wrong("length_normalised", "Multiplied by length^alpha.")
def length_normalised_a(score, length, alpha):
    return score * length**alpha


@wrong("length_normalised", "Divided by alpha * length.")
def length_normalised_b(score, length, alpha):
    return score / (alpha * length)


@wrong(
    "length_normalised",
    "The power is applied to the whole quotient's amount: -(|score| / length)^alpha.",
)
def length_normalised_c(score, length, alpha):
    return -((abs(score) / length) ** alpha)


@wrong("cut_at_end", "The <eos> itself is kept.")
def cut_at_end_a(ids):
    if 2 in ids:
        return ids[: ids.index(2) + 1]
    return ids[:]


@wrong("cut_at_end", "Cuts at the LAST <eos>.")
def cut_at_end_b(ids):
    if 2 not in ids:
        return list(ids)
    last = len(ids) - 1 - ids[::-1].index(2)
    return ids[:last]


@wrong("cut_at_end", "Takes out every <eos> but keeps what stands behind.")
def cut_at_end_c(ids):
    return [i for i in ids if i != 2]


@wrong(
    "cut_at_end",
    "find-style: -1 for 'not there' is used as a place, so the last token is lost if there is no <eos>.",
)
def cut_at_end_d(ids):
    end = -1
    for i, t in enumerate(ids):
        if t == 2:
            end = i
            break
    return ids[:end]


@wrong("cut_at_end", "Stops at padding (0), too: a 0 before the first <eos> cuts too early.")
def cut_at_end_e(ids):
    out = []
    for t in ids:
        if t == 2 or t == 0:
            break
        out.append(t)
    return out
