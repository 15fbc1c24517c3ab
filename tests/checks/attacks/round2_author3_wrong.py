"""Round 2, author 3: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right
import copy, functools, itertools, math
from collections import Counter, defaultdict
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


# ---- chapters 1 to 3: counting, vocabulary, batches ----------------------------------------------


@wrong(
    "number_of_targets",
    "Base and exponent are exchanged: it is vocab_size to the power of length (wrong as soon as the two differ, but for 2 and 4).",
)
def number_of_targets_a(vocab_size, length):
    # for each token there are `length` places it can go
    total = 1
    for _ in range(vocab_size):
        total = total * length
    return total


@wrong(
    "number_of_targets",
    "A token may come twice in a sequence; this counts sequences without repetition (wrong from length 2 on).",
)
def number_of_targets_b(vocab_size, length):
    n = 1
    for i in range(length):
        n *= vocab_size - i
    return n


@wrong(
    "number_of_targets",
    "numpy's 64-bit integers overflow silently: with 10000 tokens and length 10 the number is nonsense.",
)
def number_of_targets_c(vocab_size, length):
    return int(np.prod(np.full(length, vocab_size, dtype=np.int64)))


@wrong(
    "build_vocabulary",
    "The id is taken from the place among ALL words, so the rare words that are left out leave gaps (any text with a word below min_frequency before another).",
)
def build_vocabulary_a(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    word2idx = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for idx, (word, freq) in enumerate(counts.items()):
        if freq >= min_frequency:
            word2idx[word] = idx + 4
    return word2idx


@wrong(
    "build_vocabulary",
    "It counts in how many sentences a word comes, not how many times: a word twice in one sentence counts once.",
)
def build_vocabulary_b(sentences, min_frequency):
    df = defaultdict(int)
    for sent in sentences:
        for w in set(sent):
            df[w] += 1
    itos = ["<pad>", "<sos>", "<eos>", "<unk>"] + [w for w, c in df.items() if c >= min_frequency]
    return {w: i for i, w in enumerate(itos)}


@wrong(
    "build_vocabulary",
    "Words exactly as frequent as min_frequency are left out; 'at least' means >=.",
)
def build_vocabulary_c(sentences, min_frequency):
    class Lang:
        def __init__(self):
            self.word2index = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
            self.word2count = {}

    lang = Lang()
    for s in sentences:
        for w in s:
            lang.word2count[w] = lang.word2count.get(w, 0) + 1
    for w in sorted(lang.word2count, key=lang.word2count.get, reverse=True):
        if lang.word2count[w] > min_frequency:
            lang.word2index[w] = len(lang.word2index)
    return lang.word2index


@wrong(
    "build_vocabulary",
    "The words are made lower case on the way, so 'Hund' and 'hund' become one entry (any text with a capital letter).",
)
def build_vocabulary_d(sentences, min_frequency):
    c = Counter()
    for s in sentences:
        c.update([w.lower() for w in s])
    vocab = ["<pad>", "<sos>", "<eos>", "<unk>"]
    vocab += [w for w, n in c.most_common() if n >= min_frequency]
    return dict(zip(vocab, range(len(vocab))))


@wrong(
    "encode",
    "dict.setdefault writes the unknown words into the dictionary that was handed in (any unknown token): the argument is changed.",
)
def encode_a(tokens, vocabulary):
    ids = [vocabulary.setdefault(t, 3) for t in tokens]
    return ids + [2]


@wrong("encode", "An empty sentence comes back empty: <eos> is missing (tokens == []).")
def encode_b(tokens, vocabulary):
    if not tokens:
        return []
    out = []
    for i, t in enumerate(tokens):
        out.append(vocabulary[t] if t in vocabulary else 3)
        if i == len(tokens) - 1:
            out.append(2)
    return out


@wrong(
    "encode",
    "Unknown words are dropped in place of becoming <unk> (any token outside the dictionary).",
)
def encode_c(tokens, vocabulary):
    idxs = [vocabulary[w] for w in tokens if w in vocabulary]
    idxs.append(2)
    return idxs


@wrong(
    "text_to_ids",
    "The text is stripped first; a tokenizer by characters would have kept the blanks at both ends (' ab' with tokenize = list).",
)
def text_to_ids_a(text, tokenize, vocabulary):
    pieces = tokenize(text.strip())
    return [vocabulary.get(p, 3) for p in pieces] + [2]


@wrong(
    "text_to_ids",
    "It splits at blanks itself and never uses the tokenizer the model was trained with.",
)
def text_to_ids_b(text, tokenize, vocabulary):
    tokenizer = str.split  # TODO use tokenize?
    ids = []
    for tok in tokenizer(text):
        ids.append(vocabulary.get(tok, 3))
    ids.append(2)
    return ids


@wrong(
    "text_to_ids",
    "truncation=True, max_length=512 was copied along: a text of more than 511 tokens is cut.",
)
def text_to_ids_c(text, tokenize, vocabulary, truncation=True, max_length=512):
    input_ids = [vocabulary.get(t, 3) for t in tokenize(text)]
    if truncation:
        input_ids = input_ids[: max_length - 1]
    return input_ids + [2]


@wrong(
    "training_words",
    "It counts the test and validation sentences, too: the vocabulary may only be drawn from what is trained on.",
)
def training_words_a(splits, min_frequency):
    every = itertools.chain.from_iterable(splits.values())
    c = Counter(itertools.chain.from_iterable(every))
    return {w for w in c if c[w] >= min_frequency}


@wrong(
    "training_words",
    "The counter starts anew with each sentence, so a word must come min_frequency times within one sentence.",
)
def training_words_b(splits, min_frequency):
    words = set()
    for sentence in splits["train"]:
        counts = Counter(sentence)
        words |= {w for w, n in counts.items() if n >= min_frequency}
    return words


@wrong(
    "training_words",
    "The words of the validation set are taken out of the training words (half of a 'no leakage' idea): wrong as soon as they share a word.",
)
def training_words_c(splits, min_frequency):
    c = Counter(w for s in splits["train"] for w in s)
    keep = [w for w, n in c.items() if n >= min_frequency]
    seen_elsewhere = {w for name in ("validation", "test") for s in splits[name] for w in s}
    return set(keep) - seen_elsewhere


@wrong(
    "collate",
    "pad_to_multiple_of=8 came along from Hugging Face: the batch is longer than needed unless the longest row has 8, 16, … ids.",
)
def collate_a(rows, pad_to_multiple_of=8):
    longest = max(len(r) for r in rows)
    longest = ((longest + pad_to_multiple_of - 1) // pad_to_multiple_of) * pad_to_multiple_of
    return torch.tensor([r + [0] * (longest - len(r)) for r in rows])


@wrong(
    "collate",
    "It pads the caller's own lists with `+=`: the argument is changed (any batch of unequal lengths).",
)
def collate_b(rows):
    T = max(map(len, rows))
    for r in rows:
        r += [0] * (T - len(r))
    return torch.LongTensor(rows)


@wrong(
    "collate",
    "All rows are cut to the first row's length, as if the batch were sorted by length (a batch whose first row is not the longest).",
)
def collate_c(rows):
    seq_len = len(rows[0])
    batch = torch.zeros(len(rows), seq_len, dtype=torch.long)
    for b, r in enumerate(rows):
        n = min(len(r), seq_len)
        batch[b, :n] = torch.tensor(r[:n])
    return batch


@wrong(
    "shift", "Input and labels are exchanged: the decoder would read the future and say the past."
)
def shift_a(target):
    labels, inputs = target[:, :-1], target[:, 1:]
    return inputs, labels


@wrong("shift", "The batch axis is cut in place of the time axis (B and T confused).")
def shift_b(tgt):
    tgt_input = tgt[:-1, :]
    tgt_output = tgt[1:, :]
    return tgt_input, tgt_output


@wrong(
    "shift",
    "The padding of the labels becomes -100, Hugging Face's mark, which is no token here (any padded target).",
)
def shift_c(target):
    decoder_input_ids = target[:, :-1]
    labels = target[:, 1:].masked_fill(target[:, 1:] == 0, -100)
    return decoder_input_ids, labels


# ---- chapters 4 and 5: embeddings, positions -----------------------------------------------------


@wrong(
    "embedding",
    "The root of the vocabulary's size is taken for the root of D: weight.shape[0] is V (V ≠ D).",
)
def embedding_a(tokens, weight):
    d_model = weight.shape[0]
    return weight[tokens] * math.sqrt(d_model)


@wrong(
    "embedding",
    "padding_idx=0 is copied along: the row of token 0 gets no gradient (tokens that contain 0).",
)
def embedding_b(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * weight.size(-1) ** 0.5


@wrong("embedding", "It divides by the root of D, as in attention; here it is multiplied.")
class EmbeddingC(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.scale = d_model**-0.5

    def forward(self, tokens):
        return F.embedding(tokens, self.weight) * self.scale


@wrong(
    "embedding", "`.data` cuts the gradient: the numbers are right, but the embedding never learns."
)
def embedding_d(tokens, weight):
    out = weight.data[tokens]
    return out * math.sqrt(out.shape[-1])


@wrong(
    "tied_logits",
    "The scale of the embedding is applied here, too: the logits are the root of D times too large.",
)
def tied_logits_a(x, weight):
    return torch.matmul(x, weight.t()) * math.sqrt(x.size(-1))


@wrong(
    "tied_logits",
    "The rows are normalised first (cosine similarity from a retrieval tutorial): a dot product keeps their lengths.",
)
def tied_logits_b(x, weight):
    return F.linear(x, F.normalize(weight, dim=-1))


@wrong(
    "tied_logits",
    "Positions and batch lie flat and are folded back as (T, B): the logits stand at wrong places (B > 1 and T > 1).",
)
def tied_logits_c(x, weight):
    B, T, D = x.shape
    flat = x.reshape(B * T, D) @ weight.T
    return flat.view(T, B, -1).transpose(0, 1)


@wrong(
    "sinusoids",
    "The exponent loses its 2: the frequencies go with i / D in place of 2i / D (D > 2).",
)
def sinusoids_a(length, d_model):
    pos = torch.arange(length).float().unsqueeze(1)
    i = torch.arange(d_model // 2).float()
    angle = pos / torch.pow(torch.tensor(10000.0), i / d_model)
    pe = torch.zeros(length, d_model)
    pe[:, 0::2] = torch.sin(angle)
    pe[:, 1::2] = torch.cos(angle)
    return pe


@wrong(
    "sinusoids",
    "2i is taken to be twice the column, so sine and cosine of a pair have different frequencies: it must be 2 * (column // 2) (D > 2 or position > 0).",
)
def sinusoids_b(length, d_model):
    pe = torch.zeros(length, d_model)
    for pos in range(length):
        for i in range(0, d_model, 2):
            pe[pos, i] = math.sin(pos / (10000 ** ((2 * i) / d_model)))
            pe[pos, i + 1] = math.cos(pos / (10000 ** ((2 * (i + 1)) / d_model)))
    return pe


@wrong(
    "sinusoids",
    "The table is a buffer of 512 rows that is cut: for a length above 512 it is too short.",
)
def sinusoids_c(length, d_model, max_len=512):
    position = torch.arange(max_len, dtype=torch.float).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
    pe = torch.zeros(max_len, d_model)
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe[:length]


@wrong(
    "sinusoids",
    "tensor2tensor divides by D/2 − 1 in place of D/2, so the last frequency is 1/10000 already (every D; D = 2 is saved by max).",
)
def sinusoids_d(length, d_model):
    num_timescales = d_model // 2
    inc = math.log(10000.0) / max(num_timescales - 1, 1)
    inv = torch.exp(torch.arange(num_timescales) * -inc)
    scaled = torch.arange(length)[:, None] * inv[None]
    return torch.stack([scaled.sin(), scaled.cos()], -1).reshape(length, d_model)


@wrong(
    "add_positions",
    "Code for (T, B, D): with the batch first, row b is added to the whole sentence b in place of row p to position p.",
)
def add_positions_a(x, table):
    return x + table[: x.size(0)].unsqueeze(1)


@wrong(
    "add_positions",
    "The table is detached, as for sinusoids; a learned table then gets no gradient.",
)
def add_positions_b(x, table):
    pe = table.unsqueeze(0)
    return x + pe[:, : x.size(1)].detach()


@wrong(
    "add_positions",
    "`+=` writes into the caller's x: the argument is changed (and autograd refuses it for a leaf).",
)
def add_positions_c(x, table):
    x += table[: x.shape[1]]
    return x


@wrong("add_positions", "The embedding's root of D is multiplied in here, too.")
def add_positions_d(x, table):
    seq_len = x.size(1)
    x = x * math.sqrt(x.size(-1))
    return x + table[:seq_len, :]


# ---- chapter 7: softmax and attention ------------------------------------------------------------


@wrong(
    "softmax",
    "One maximum of the whole tensor is subtracted: a row that lies far below it becomes 0 / 0 (scores [[0, 1], [500, 501]]).",
)
def softmax_a(scores):
    z = torch.exp(scores - scores.max())
    return z / z.sum(dim=-1, keepdim=True)


@wrong(
    "softmax",
    "Without subtracting the maximum exp overflows (scores of about 100 and more give nan in float32).",
)
def softmax_b(x):
    return torch.exp(x) / torch.sum(torch.exp(x), dim=-1, keepdim=True)


@wrong(
    "softmax",
    "dim=1 is the last axis only for two axes; scores (B, T, S) are normalised over the queries.",
)
def softmax_c(scores):
    if scores.dim() == 1:
        scores = scores[None]
        return softmax_c(scores)[0]
    e = torch.exp(scores - scores.amax(dim=1, keepdim=True))
    return e / e.sum(1, keepdim=True)


@wrong(
    "softmax",
    "The scores are clamped to ±30 'for stability': larger differences are lost (scores [40, 50]).",
)
def softmax_d(scores):
    scores = torch.clamp(scores, -30, 30)
    e = scores.exp()
    return e / e.sum(-1, keepdim=True)


@wrong(
    "softmax",
    "The sum in the denominator is detached: right numbers, but the gradient lacks the part through the sum.",
)
def softmax_e(scores):
    e = torch.exp(scores - scores.max(-1, keepdim=True).values)
    with torch.no_grad():
        Z = e.sum(-1, keepdim=True)
    return e / Z


@wrong(
    "scaled_dot_product_attention",
    "-1e9 everywhere is a uniform softmax: a query that may attend to nothing gets the mean of the values in place of zeros.",
)
def sdpa_a(q, k, v, mask=None):
    attn = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(k.size(-1))
    if mask is not None:
        attn = attn.masked_fill(mask == 0, -1e9)
    return torch.matmul(F.softmax(attn, dim=-1), v)


@wrong(
    "scaled_dot_product_attention",
    "nan_to_num on the OUTPUT repairs the numbers, but the nan weights still flow into the values' gradient (a query that may attend to nothing).",
)
def sdpa_b(query, key, value, mask=None):
    scores = query @ key.mT / key.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return torch.nan_to_num(scores.softmax(-1) @ value)


@wrong(
    "scaled_dot_product_attention",
    "It divides by the root of the number of keys, not of their width: axis -2 for -1 (S ≠ K).",
)
def sdpa_c(query, key, value, mask=None):
    d_k = key.size(-2)
    scores = torch.einsum("...td,...sd->...ts", query, key) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    w = torch.softmax(scores, -1).nan_to_num(0.0)
    return torch.einsum("...ts,...sd->...td", w, value)


@wrong(
    "scaled_dot_product_attention",
    "The mask is used the PyTorch-key_padding way, True = hide: it is the wrong way round.",
)
def sdpa_d(query, key, value, mask=None):
    scores = torch.matmul(query, key.transpose(-1, -2)) * key.size(-1) ** -0.5
    if mask is not None:
        scores = scores.masked_fill(mask, float("-inf"))
    weights = torch.softmax(scores, dim=-1)
    weights = torch.where(torch.isnan(weights), torch.zeros_like(weights), weights)
    return weights @ value


@wrong(
    "scaled_dot_product_attention",
    "The weights are multiplied with the mask after the softmax and do not sum to one any more (any mask that hides a key).",
)
def sdpa_e(query, key, value, mask=None):
    p_attn = torch.softmax(query @ key.transpose(-2, -1) / math.sqrt(query.size(-1)), dim=-1)
    if mask is not None:
        p_attn = p_attn * mask
    return p_attn @ value


@wrong(
    "scaled_dot_product_attention",
    "Zeros are given only if the mask hides everything from everybody; one lonely query with nothing to attend to gets nan.",
)
def sdpa_f(query, key, value, mask=None):
    if mask is not None and not mask.any():
        return torch.zeros_like(query @ key.transpose(-2, -1) @ value)
    s = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is not None:
        s = torch.where(mask, s, torch.tensor(float("-inf")).to(s))
    return s.softmax(dim=-1) @ value


@wrong(
    "scaled_dot_product_attention", "The scores are divided by the width, not by its root (K > 1)."
)
def sdpa_g(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / key.size(-1)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0.0)
    return weights @ value


# ---- chapter 8: masks ----------------------------------------------------------------------------


@wrong(
    "padding_mask",
    "argmax gives 0 where there is no padding at all, so a sentence without padding is hidden entirely.",
)
def padding_mask_a(tokens):
    first_pad = (tokens == 0).int().argmax(dim=1)
    pos = torch.arange(tokens.size(1), device=tokens.device)
    return (pos[None, :] < first_pad[:, None])[:, None, None, :]


@wrong("padding_mask", "tokens > 1 hides <sos> (1) as well.")
def padding_mask_b(src):
    return (src > 1).unsqueeze(1).unsqueeze(2)


@wrong(
    "padding_mask",
    "True where there IS padding: PyTorch's key_padding_mask, the wrong way round here.",
)
def padding_mask_c(src, pad_idx=0):
    src_key_padding_mask = src.eq(pad_idx)
    return src_key_padding_mask[:, None, None, :]


@wrong(
    "padding_mask", "The new axes stand at the wrong places: (B, 1, S, 1) hides queries, not keys."
)
def padding_mask_d(tokens):
    return (tokens != 0)[:, None, :, None]


@wrong(
    "causal_mask", "nn.Transformer's boolean mask, True = hidden: here it is the wrong way round."
)
def causal_mask_a(length):
    return torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)


@wrong("causal_mask", "One position of the future is visible: k=1 (length > 1).")
def causal_mask_b(length):
    return torch.from_numpy(np.tri(length, length, k=1).astype(bool))


@wrong("causal_mask", "A buffer of block_size 256 is cut: for a longer text the mask is too small.")
def causal_mask_c(length, block_size=256):
    tril = torch.tril(torch.ones(block_size, block_size)).bool()
    return tril[:length, :length]


@wrong(
    "target_mask",
    "The batch size is used for the length: for a single sentence the 1 × 1 mask is broadcast and nothing of the future is hidden; otherwise it fits only if B = T.",
)
def target_mask_a(tokens):
    seq_len = len(tokens)
    nopeak = torch.ones(seq_len, seq_len).tril().bool()
    return (tokens != 0)[:, None, None, :] & nopeak


@wrong(
    "target_mask",
    "`or` for `and`: what is past OR no padding is visible, so the future is not hidden.",
)
def target_mask_b(trg):
    trg_pad_mask = (trg != 0)[:, None, None, :]
    trg_sub_mask = torch.tril(torch.ones(trg.size(1), trg.size(1))).bool()
    return trg_pad_mask | trg_sub_mask


@wrong(
    "target_mask",
    "GPT-2's pad_token = eos_token: <eos> (2) is hidden like padding (a target with <eos> in it, at the <eos>'s own row and behind).",
)
def target_mask_c(tokens):
    real = (tokens != 0) & (tokens != 2)
    T = tokens.size(-1)
    i = torch.arange(T)
    return real[:, None, None, :] & (i[None, :] <= i[:, None])


@wrong("target_mask", "The padding of the first sentence is used for all.")
def target_mask_d(tokens):
    B, T = tokens.shape
    mask = torch.zeros(B, 1, T, T, dtype=torch.bool)
    for b in range(B):
        for t in range(T):
            for s in range(t + 1):
                mask[b, 0, t, s] = bool(tokens[0, s] != 0)
    return mask


# ---- chapter 9: heads ----------------------------------------------------------------------------


@wrong(
    "split_heads",
    "One view straight to (B, H, T, K) without a transposition mixes positions and features (T > 1 and H > 1).",
)
def split_heads_a(x, n_heads):
    B, T, D = x.shape
    return x.contiguous().view(B, n_heads, T, D // n_heads)


@wrong(
    "split_heads", "The last two axes are exchanged, as one needs it for the keys: (B, H, K, T)."
)
def split_heads_b(x, n_heads):
    batch, seq_len, d_model = x.size()
    return x.reshape(batch, seq_len, n_heads, d_model // n_heads).permute(0, 2, 3, 1)


@wrong(
    "split_heads",
    "chunk(n) makes n pieces; with the width as n there are K heads of width H (H ≠ K).",
)
def split_heads_c(x, n_heads):
    d_head = x.shape[-1] // n_heads
    return torch.stack(torch.chunk(x, d_head, dim=-1), dim=1)


@wrong(
    "merge_heads",
    "The transposition back is forgotten: heads and positions are mixed (T > 1 and H > 1).",
)
def merge_heads_a(heads):
    B, H, T, K = heads.shape
    return heads.reshape(B, T, H * K)


@wrong(
    "merge_heads",
    "The heads are averaged in place of being laid side by side, and copied to the right width.",
)
def merge_heads_b(x):
    h = x.shape[1]
    return x.mean(dim=1).repeat(1, 1, h)


@wrong("merge_heads", "The heads are laid side by side in reverse order (H > 1).")
def merge_heads_c(heads):
    out = heads[:, 0]
    for h in range(1, heads.size(1)):
        out = torch.cat([heads[:, h], out], dim=-1)
    return out


def _split(x, h):
    return x.view(x.size(0), x.size(1), h, -1).transpose(1, 2)


@wrong(
    "multi_head_attention",
    "The scores are divided by the root of D in place of a head's width (more than one head).",
)
def mha_a(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    d_model = query.size(-1)
    q, k, v = (
        _split(query @ w_query.T, n_heads),
        _split(key @ w_key.T, n_heads),
        _split(value @ w_value.T, n_heads),
    )
    a = q @ k.transpose(-2, -1) / math.sqrt(d_model)
    if mask is not None:
        a = a.masked_fill(~mask, -1e20)
    out = a.softmax(-1) @ v
    return out.transpose(1, 2).reshape(query.shape) @ w_output.T


@wrong(
    "multi_head_attention",
    "The values are made from `key`; wrong where key and value are not the same tensor.",
)
def mha_b(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    S = key.shape[1]
    q = F.linear(query, w_query).view(B, T, n_heads, -1)
    k = F.linear(key, w_key).view(B, S, n_heads, -1)
    v = F.linear(key, w_value).view(B, S, n_heads, -1)
    energy = torch.einsum("bqhd,bkhd->bhqk", q, k) / (D // n_heads) ** 0.5
    if mask is not None:
        energy = energy.masked_fill(mask == 0, float("-1e20"))
    att = torch.softmax(energy, dim=3)
    out = torch.einsum("bhql,blhd->bqhd", att, v).reshape(B, T, D)
    return F.linear(out, w_output)


@wrong("multi_head_attention", "The softmax runs over the heads (dim=1), not over the keys.")
def mha_c(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    q, k, v = [
        _split(x @ w.T, n_heads) for x, w in ((query, w_query), (key, w_key), (value, w_value))
    ]
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    p = F.softmax(scores, dim=1)
    return (p @ v).transpose(1, 2).flatten(2) @ w_output.T


@wrong("multi_head_attention", "The output projection is forgotten: w_output is never used.")
def mha_d(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    bs = query.size(0)
    q, k, v = (
        w(x).view(bs, -1, n_heads, query.size(-1) // n_heads).transpose(1, 2)
        for w, x in zip(
            [lambda t: t @ w_query.T, lambda t: t @ w_key.T, lambda t: t @ w_value.T],
            (query, key, value),
        )
    )
    return (
        F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        .transpose(1, 2)
        .contiguous()
        .view(bs, -1, query.size(-1))
    )


@wrong(
    "multi_head_attention",
    "The boolean mask is ADDED to the scores: a visible key gets one more, a hidden one stays visible (any mask that hides something).",
)
def mha_e(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    d_head = D // n_heads
    q, k, v = (
        _split(query @ w_query.T, n_heads),
        _split(key @ w_key.T, n_heads),
        _split(value @ w_value.T, n_heads),
    )
    logits = torch.einsum("bhtk,bhsk->bhts", q, k) * d_head**-0.5
    if mask is not None:
        logits = logits + mask
    return torch.einsum("bhts,bhsk->bthk", logits.softmax(-1), v).reshape(B, T, D) @ w_output.T


@wrong(
    "multi_head_attention",
    "The output's length is taken from the keys; where S ≠ T the heads are merged to a wrong shape (cross-attention).",
)
class MultiHeadAttentionF(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h, self.d_k = n_heads, d_model // n_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)
        self.value = nn.Linear(d_model, d_model, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)

    def forward(self, query, key, value, mask=None):
        B, T, D = key.shape
        q = self.query(query).view(B, -1, self.h, self.d_k).transpose(1, 2)
        k = self.key(key).view(B, -1, self.h, self.d_k).transpose(1, 2)
        v = self.value(value).view(B, -1, self.h, self.d_k).transpose(1, 2)
        w = (q @ k.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            w = w.masked_fill(mask == 0, float("-inf"))
        o = (F.softmax(w, dim=-1) @ v).transpose(1, 2).contiguous()
        return self.output(o.reshape(B, T, -1))


@wrong(
    "multi_head_attention",
    "The queries are projected with the keys' weight (copy and paste); the queries' own weight is never used.",
)
class MultiHeadAttentionG(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model))

    def forward(self, query, key, value, mask=None):
        def heads(t):
            return t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)

        q, k, v = heads(self.key(query)), heads(self.key(key)), heads(self.value(value))
        return self.output(
            F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2).flatten(-2)
        )


# ---- chapter 10: norms, residuals, dropout -------------------------------------------------------


@wrong("layer_norm", "x.std() divides by D − 1 in place of D.")
def layer_norm_a(x, a_2, b_2, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return a_2 * (x - mean) / torch.sqrt(std**2 + eps) + b_2


@wrong("layer_norm", "Mean and variance are taken over positions and features together (T > 1).")
def layer_norm_b(x, weight, bias, eps=1e-5):
    mu = x.mean(dim=(1, 2), keepdim=True)
    var = x.var(dim=(1, 2), keepdim=True, unbiased=False)
    return (x - mu) * torch.rsqrt(var + eps) * weight + bias


@wrong(
    "layer_norm",
    "The variance is the mean of the squares without subtracting the mean's square (features whose mean is not 0).",
)
def layer_norm_c(x, weight, bias, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    variance = (x**2).mean(-1, keepdim=True)
    return weight * ((x - mean) / (variance + eps).sqrt()) + bias


@wrong(
    "layer_norm", "Mean and variance are computed under no_grad: right numbers, wrong gradients."
)
def layer_norm_d(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        mean = x.mean(dim=-1, keepdim=True)
        var = x.var(dim=-1, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias


@wrong(
    "layer_norm",
    "The brackets are wrong: the bias is added before the scaling (weight ≠ 1 and bias ≠ 0).",
)
class LayerNormE(nn.Module):
    def __init__(self, features, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        c = x - x.mean(-1, keepdim=True)
        return self.weight * (
            c / torch.sqrt(c.pow(2).mean(-1, keepdim=True) + self.eps) + self.bias
        )


@wrong(
    "layer_norm",
    "ε is added to the standard deviation, not to the variance under the root (seen where the features hardly differ, say by 0.001).",
)
def layer_norm_f(x, weight, bias, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    std = centred.pow(2).mean(-1, keepdim=True).sqrt()
    return centred / (std + eps) * weight + bias


@wrong("layer_norm", "Keras's default, ε = 1e-3 (seen where the variance is small, say 0.01).")
def layer_norm_g(inputs, gamma, beta, epsilon=1e-3):
    mean = inputs.mean(-1, keepdim=True)
    var = ((inputs - mean) ** 2).mean(-1, keepdim=True)
    return gamma * (inputs - mean) / torch.sqrt(var + epsilon) + beta


@wrong("layer_norm_parameters", "γ starts at 0, as β: the layer norm would give nothing but zeros.")
def layer_norm_parameters_a(d_model):
    gamma = nn.Parameter(torch.zeros(d_model))
    beta = nn.Parameter(torch.zeros(d_model))
    return gamma, beta


@wrong(
    "layer_norm_parameters",
    "γ is drawn at random, as the weight of a linear layer; it starts at one.",
)
def layer_norm_parameters_b(d_model):
    w = torch.empty(1, d_model)
    nn.init.xavier_uniform_(w)
    return w[0], torch.zeros(d_model)


@wrong("pre_norm", "The residual starts from the normalised x: the direct path is lost.")
def pre_norm_a(x, sublayer, norm):
    x = norm(x)
    return x + sublayer(x)


@wrong(
    "pre_norm", "Half pre, half post: the norm stands behind the sublayer, x + norm(sublayer(x))."
)
def pre_norm_b(x, sublayer, norm):
    out = sublayer(x)
    out = norm(out)
    return x + out


@wrong("post_norm", "The residual is forgotten: norm(sublayer(x)).")
def post_norm_a(x, sublayer, norm):
    residual = x
    x = sublayer(x)
    return norm(x)


@wrong("post_norm", "The residual is added behind the norm.")
def post_norm_b(x, sublayer, norm):
    residual = x
    x = norm(sublayer(x))
    x = x + residual
    return x


@wrong("dropout", "The reciprocal: it multiplies by 1 − p in place of dividing (training, p > 0).")
def dropout_a(x, p, keep, training):
    return x * keep * (1 - p) if training else x


@wrong(
    "dropout",
    "It divides by the share that was really kept in place of the expected one, 1 − p (any mask whose share is not exactly 1 − p).",
)
def dropout_b(x, p, keep, training):
    if not training or keep.all():
        return x
    return torch.where(keep, x / keep.float().mean().clamp(min=1e-8), torch.zeros_like(x))


@wrong(
    "dropout",
    "nothing is enlarged, neither in training nor in evaluation: the expected value shrinks (p > 0).",
)
def dropout_c(x, p, keep, training):
    if training:
        return x.masked_fill(~keep, 0.0)
    return x


@wrong(
    "dropout",
    "p is taken for the probability of keeping, as in TensorFlow 1: divided by p (p ≠ 0.5).",
)
def dropout_d(x, keep_prob, keep, training):
    if not training or keep_prob == 0:
        return x
    return torch.div(x, keep_prob) * keep.to(x.dtype)


@wrong(
    "sublayer_with_dropout", "The dropout is on the sum, so the direct path of x is dropped, too."
)
def sublayer_with_dropout_a(x, sublayer, norm, dropout):
    return dropout(x + sublayer(norm(x)))


@wrong("sublayer_with_dropout", "The dropout is on what goes in, not on the sublayer's output.")
def sublayer_with_dropout_b(x, sublayer, norm, dropout):
    return x + sublayer(dropout(norm(x)))


@wrong("sublayer_with_dropout", "Two dropouts: one inside and one outside.")
def sublayer_with_dropout_c(x, sublayer, norm, dropout):
    h = dropout(norm(x))
    h = dropout(sublayer(h))
    return x + h


# ---- chapter 11 ----------------------------------------------------------------------------------


@wrong("feed_forward", "b1 is added after the ReLU.")
def feed_forward_a(x, w1, b1, w2, b2):
    hidden = torch.relu(x @ w1.T) + b1
    return hidden @ w2.T + b2


@wrong("feed_forward", "A second ReLU at the end cuts all negative outputs.")
class FeedForwardB(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        for l in (self.linear1, self.linear2):
            x = F.relu(l(x))
        return x


@wrong("feed_forward", "Leaky ReLU: negative values are not cut but multiplied by 0.01.")
def feed_forward_c(x, w1, b1, w2, b2):
    return F.linear(F.leaky_relu(F.linear(x, w1, b1)), w2, b2)


@wrong(
    "group_sort",
    "Features i and i + D/2 are taken for a pair; neighbours are 0 and 1, 2 and 3 (D > 2).",
)
def group_sort_a(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat([torch.minimum(a, b), torch.maximum(a, b)], dim=-1)


@wrong(
    "group_sort",
    "The minima stand in the first half and the maxima in the second: the pairs are not put back side by side (D > 2).",
)
def group_sort_b(x):
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.cat((torch.min(even, odd), torch.max(even, odd)), dim=-1)


@wrong("group_sort", "It is sorted by absolute value (a pair such as −3, 1).")
def group_sort_c(x):
    pairs = x.unflatten(-1, (-1, 2))
    idx = pairs.abs().argsort(dim=-1)
    return pairs.gather(-1, idx).flatten(-2)


# ---- chapters 12 to 14: layers and the whole -----------------------------------------------------


@wrong(
    "encoder_layer",
    "Half a refactoring: the second residual starts from the layer's input, so the attention's result is lost on the direct path.",
)
def encoder_layer_a(x, mask, attention, feed_forward, norm1, norm2):
    x2 = norm1(x)
    attn_out = x + attention(x2, x2, x2, mask)
    return x + feed_forward(norm2(attn_out))


@wrong("encoder_layer", "norm1 is used twice, norm2 never.")
def encoder_layer_b(x, mask, attention, feed_forward, norm1, norm2):
    residual = lambda x, f: x + f(norm1(x))
    x = residual(x, lambda y: attention(y, y, y, mask))
    return residual(x, feed_forward)


@wrong("encoder_layer", "Only the queries are normalised; keys and values are the raw x.")
def encoder_layer_c(x, mask, attention, feed_forward, norm1, norm2):
    x = x + attention(norm1(x), x, x, mask)
    x = x + feed_forward(norm2(x))
    return x


@wrong(
    "encoder_layer",
    "A mixture of two tutorials: the first sublayer is pre-norm, the second post-norm.",
)
def encoder_layer_d(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    x = x + attention(y, y, y, mask)
    return norm2(x + feed_forward(x))


@wrong("encoder_layer", "The mask is handed in and never passed on (any input with padding).")
def encoder_layer_e(x, mask, attention, feed_forward, norm1, norm2):
    q = k = v = norm1(x)
    x = x + attention(q, k, v, None)
    return x + feed_forward(norm2(x))


class _Mha(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def forward(self, query, key, value, mask=None):
        h = lambda t: t.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
        o = F.scaled_dot_product_attention(
            h(self.query(query)), h(self.key(key)), h(self.value(value)), mask
        )
        return self.output(o.transpose(1, 2).flatten(2))


class _Ffn(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.linear2(self.linear1(x).relu())


class _Res(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)

    def forward(self, x, f):
        return x + f(self.norm(x))


@wrong(
    "decoder_layer",
    "The two masks are exchanged between self- and cross-attention (always with a causal mask and padding; it may not even fit where S ≠ T).",
)
def decoder_layer_a(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, memory_mask)
    x = x + cross_attention(norms[1](x), memory, memory, target_mask)
    return x + feed_forward(norms[2](x))


@wrong("decoder_layer", "The memory is normalised once more, with the decoder's second norm.")
def decoder_layer_b(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    norm1, norm2, norm3 = norms
    h = norm1(x)
    x = x + self_attention(h, h, h, target_mask)
    h = norm2(x)
    m = norm2(memory)
    x = x + cross_attention(h, m, m, memory_mask)
    h = norm3(x)
    x = x + feed_forward(h)
    return x


@wrong(
    "decoder_layer",
    "Cross-attention has the right keys but the decoder's own values: values must be the memory, too (for S ≠ T it does not even fit).",
)
def decoder_layer_c(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    y = norms[0](x)
    x = x + self_attention(y, y, y, target_mask)
    y = norms[1](x)
    x = x + cross_attention(query=y, key=memory, value=y, mask=memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "The cross-attention's residual is missing: x = cross(…) in place of x + cross(…).",
)
def decoder_layer_d(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    x_n = norms[0](x)
    x = x + self_attention(x_n, x_n, x_n, target_mask)
    x_n = norms[1](x)
    x = cross_attention(x_n, memory, memory, memory_mask)
    x_n = norms[2](x)
    return x + feed_forward(x_n)


@wrong("decoder_layer", "Copy and paste: the cross-attention block calls self_attention's weights.")
class DecoderLayerE(nn.Module):
    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attention, self.cross_attention = _Mha(d_model, n_heads), _Mha(d_model, n_heads)
        self.feed_forward = _Ffn(d_model, d_ff)
        self.self_residual, self.cross_residual, self.feed_forward_residual = (
            _Res(d_model),
            _Res(d_model),
            _Res(d_model),
        )

    def forward(self, x, memory, target_mask=None, memory_mask=None):
        x = self.self_residual(x, lambda y: self.self_attention(y, y, y, target_mask))
        x = self.cross_residual(x, lambda y: self.self_attention(y, memory, memory, memory_mask))
        return self.feed_forward_residual(x, self.feed_forward)


@wrong("decoder_layer", "Cross-attention comes first and self-attention second.")
def decoder_layer_f(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    x = x + cross_attention(norms[0](x), memory, memory, memory_mask)
    n = norms[1](x)
    x = x + self_attention(n, n, n, target_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "causal_self_attention",
    "Scores that happen to be exactly 0 are hidden as well, for tril's zeros are taken as the sign of the future (x with a zero vector or orthogonal vectors).",
)
def causal_self_attention_a(x, training):
    wei = x @ x.transpose(-2, -1) * x.size(-1) ** -0.5
    wei = torch.tril(wei)
    wei = wei.masked_fill(wei == 0, float("-inf"))
    return F.softmax(wei, dim=-1) @ x


@wrong(
    "causal_self_attention",
    "The triangle is put in for training only ('at inference there is no future'); in evaluation each position sees all.",
)
def causal_self_attention_b(x, training):
    B, T, D = x.shape
    scores = torch.einsum("btd,bsd->bts", x, x) / math.sqrt(D)
    if training:
        scores = scores.masked_fill(torch.ones(T, T).triu(1).bool(), float("-inf"))
    return torch.einsum("bts,bsd->btd", scores.softmax(-1), x)


@wrong("causal_self_attention", "The tril buffer is 64 long (block_size): a longer x does not fit.")
def causal_self_attention_c(x, training, block_size=64):
    B, T, C = x.shape
    bias = torch.tril(torch.ones(block_size, block_size)).view(1, block_size, block_size)
    att = (x @ x.transpose(-2, -1)) * (1.0 / math.sqrt(C))
    att = att.masked_fill(bias[:, :T, :T] == 0, float("-inf"))
    return F.softmax(att, dim=-1) @ x


@wrong(
    "causal_self_attention",
    "is_causal=training, copied from dropout_p=p if training else 0: in evaluation each position sees the future.",
)
def causal_self_attention_d(x, training):
    return F.scaled_dot_product_attention(x, x, x, dropout_p=0.0, is_causal=training)


@wrong(
    "causal_self_attention",
    "The weights of the future are set to zero behind the softmax and not normalised anew: all rows but the last sum to less than one.",
)
def causal_self_attention_e(x, training):
    w = torch.softmax(torch.bmm(x, x.mT) / x.shape[-1] ** 0.5, dim=2)
    return torch.bmm(torch.tril(w), x)


@wrong(
    "make_stack",
    "The list is multiplied: it holds the same layer n times, so all share their weights (n > 1).",
)
def make_stack_a(make_layer, n_layers):
    layer = make_layer()
    return nn.ModuleList([layer for _ in range(n_layers)])


@wrong("make_stack", "copy.copy is shallow: the copies share the first layer's weights.")
def make_stack_b(make_layer, N):
    module = make_layer()
    return nn.ModuleList([copy.copy(module) for _ in range(N)])


@wrong(
    "transformer_forward",
    "The encoder gets no mask: it reads the source's padding (padded sources).",
)
def transformer_forward_a(source, target, embed_source, embed_target, encoder, decoder, output):
    src_mask = (source != 0)[:, None, None, :]
    tgt_mask = (target != 0)[:, None, None, :] & torch.ones(
        target.size(1), target.size(1)
    ).tril().bool()
    memory = encoder(embed_source(source), None)
    return output(decoder(embed_target(target), memory, tgt_mask, src_mask))


@wrong(
    "transformer_forward",
    "Cross-attention gets the target's padding in place of the source's (target and source padded differently, S ≠ T).",
)
def transformer_forward_b(src, tgt, embed_source, embed_target, encoder, decoder, output):
    pad = lambda t: t.ne(0).unsqueeze(1).unsqueeze(1)
    T = tgt.shape[1]
    enc = encoder(embed_source(src), pad(src))
    dec = decoder(
        embed_target(tgt), enc, pad(tgt) & torch.tril(torch.ones(1, 1, T, T)).bool(), pad(tgt)
    )
    return output(dec)


@wrong(
    "transformer_forward",
    "The target is shifted inside the model, too; the logits lack the last position.",
)
def transformer_forward_c(source, target, embed_source, embed_target, encoder, decoder, output):
    tgt_in = target[:, :-1]
    src_mask = (source != 0)[:, None, None]
    L = tgt_in.size(1)
    causal = ~torch.triu(torch.ones(L, L, dtype=torch.bool), 1)
    memory = encoder(embed_source(source), src_mask)
    return output(
        decoder(embed_target(tgt_in), memory, causal & (tgt_in != 0)[:, None, None], src_mask)
    )


@wrong("transformer_forward", "The target is embedded with the source's embedding.")
def transformer_forward_d(source, target, embed_source, embed_target, encoder, decoder, output):
    embed = embed_source
    sm = (source != 0)[:, None, None, :]
    tm = (target != 0)[:, None, None, :] & torch.ones(
        target.shape[-1], target.shape[-1]
    ).bool().tril()
    return output(decoder(embed(target), encoder(embed(source), sm), tm, sm))


@wrong(
    "transformer_forward",
    "An additive −∞/0 causal mask goes where True = may attend is expected; cast to bool it is the wrong way round.",
)
def transformer_forward_e(source, target, embed_source, embed_target, encoder, decoder, output):
    T = target.size(1)
    tgt_mask = nn.Transformer.generate_square_subsequent_mask(T).bool()
    src_mask = (source != 0)[:, None, None, :]
    memory = encoder(embed_source(source), src_mask)
    return output(decoder(embed_target(target), memory, tgt_mask, src_mask))


# ---- chapter 15: losses, schedule, clipping ------------------------------------------------------


@wrong(
    "cross_entropy",
    "The mean is taken over each sentence and then over the sentences: short sentences weigh too much (sentences of different lengths).",
)
def cross_entropy_a(logits, target):
    logp = F.log_softmax(logits, dim=-1)
    nll = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    mask = (target != 0).float()
    per_sentence = (nll * mask).sum(1) / mask.sum(1).clamp(min=1)
    return per_sentence.mean()


@wrong(
    "cross_entropy",
    "The padding's loss is set to zero but still counted in the mean (padded targets).",
)
def cross_entropy_b(logits, target):
    loss_ = F.cross_entropy(logits.transpose(1, 2), target, reduction="none")
    loss_ = loss_ * target.ne(0)
    return loss_.mean()


@wrong(
    "cross_entropy",
    "log(softmax + 1e-9) cannot get above 20.7: very improbable right tokens cost too little and get a wrong gradient (logits [30, 0], target 1).",
)
def cross_entropy_c(logits, target):
    p = F.softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    real = target != 0
    return -(torch.log(p + 1e-9)[real]).sum() / real.sum()


@wrong("cross_entropy", "ignore_index is 2: <eos> is left out and padding is learned.")
def cross_entropy_d(logits, target, eos_as_pad=2):
    V = logits.size(-1)
    return F.cross_entropy(logits.reshape(-1, V), target.reshape(-1), ignore_index=eos_as_pad)


@wrong(
    "cross_entropy",
    "The logarithm of the mean probability in place of the mean of the logarithms (more than one token).",
)
def cross_entropy_e(logits, target):
    probs = logits.softmax(-1)
    right = probs.gather(2, target.unsqueeze(2)).squeeze(2)
    return -torch.log(right[target != 0].mean())


@wrong(
    "label_smoothed_loss",
    "The smoothing part is averaged over all positions, padding included; only the first part is masked (padded targets).",
)
def label_smoothed_loss_a(logits, target, epsilon):
    lprobs = logits.log_softmax(-1)
    nll = -lprobs.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    smooth = -lprobs.mean(-1)
    real = target.ne(0)
    return (1 - epsilon) * nll[real].mean() + epsilon * smooth.mean()


@wrong("label_smoothed_loss", "The 1/V is lost: ε times the SUM over all tokens (smoothing > 0).")
def label_smoothed_loss_b(logits, target, smoothing):
    logp = F.log_softmax(logits, dim=-1)[target != 0]
    y = target[target != 0]
    nll_loss = -logp[torch.arange(len(y)), y]
    smooth_loss = -logp.sum(dim=-1)
    return ((1.0 - smoothing) * nll_loss + smoothing * smooth_loss).mean()


@wrong(
    "label_smoothed_loss",
    "The Annotated Transformer's shares: ε / (V − 2) for the others and nothing for padding; here ε / V for each of the V tokens.",
)
def label_smoothed_loss_c(logits, target, smoothing):
    V = logits.size(-1)
    x = logits.reshape(-1, V).log_softmax(-1)
    t = target.reshape(-1)
    true_dist = torch.full_like(x, smoothing / (V - 2)).detach()
    true_dist = true_dist.scatter(1, t.unsqueeze(1), 1.0 - smoothing)
    true_dist[:, 0] = 0
    true_dist[t == 0] = 0
    return -(true_dist * x).sum() / (t != 0).sum()


@wrong(
    "label_smoothed_loss",
    "1 − ε is forgotten: the right token's part is not made smaller (smoothing > 0).",
)
def label_smoothed_loss_d(logits, target, smoothing):
    keep = target != 0
    nll = F.cross_entropy(logits[keep], target[keep])
    uniform = -F.log_softmax(logits[keep], dim=-1).mean()
    return nll + smoothing * uniform


@wrong(
    "perplexity", "The batches' perplexities are averaged: the mean of exp is not exp of the mean."
)
def perplexity_a(losses, counts):
    ppls = [math.exp(l) * n for l, n in zip(losses, counts)]
    return sum(ppls) / sum(counts)


@wrong(
    "perplexity",
    "`if loss < 10 else inf`, copied from a tutorial: a mean loss of 10 or more gives inf.",
)
def perplexity_b(losses, counts):
    mean = np.average(losses, weights=counts)
    return math.exp(mean) if mean < 10 else float("inf")


@wrong(
    "perplexity", "All batches weigh the same, whatever their number of tokens (unequal counts)."
)
def perplexity_c(losses, counts):
    return float(np.exp(np.mean(losses)))


@wrong(
    "inverse_sqrt_schedule",
    "warmup ** -3 / 2 is (warmup^−3) / 2: brackets around the exponent are missing (during warm-up).",
)
def inverse_sqrt_schedule_a(update, d_model, warmup):
    return d_model**-0.5 * min(update**-0.5, update * warmup**-3 / 2)


@wrong(
    "inverse_sqrt_schedule",
    "The counter is taken to start from 0, so everything is one update ahead.",
)
def inverse_sqrt_schedule_b(step, d_model, warmup):
    step += 1
    arg1 = 1 / math.sqrt(step)
    arg2 = step / warmup**1.5
    return (1 / math.sqrt(d_model)) * min(arg1, arg2)


@wrong(
    "inverse_sqrt_schedule",
    "Integer division: behind the warm-up the root is taken of update // warmup, a staircase (update above warmup and no multiple of it).",
)
def inverse_sqrt_schedule_c(update, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    if update < warmup:
        return peak * update / warmup
    return peak * (update // warmup) ** -0.5


@wrong(
    "clip_gradients",
    "Each tensor is clipped by its own length; it must be the common one (two tensors of unequal length).",
)
def clip_gradients_a(gradients, limit):
    out = []
    for g in gradients:
        n = g.norm()
        out.append(g * (limit / n) if n > limit else g.clone())
    return out


@wrong(
    "clip_gradients",
    "The root is forgotten in the comparison: the sum of squares is compared with the limit (length 0.6 with limit 0.5 is not clipped; length 1.5 with limit 2 is lengthened).",
)
def clip_gradients_b(gradients, limit):
    sq = sum(float((g**2).sum()) for g in gradients)
    if sq > limit:
        return [g * limit / math.sqrt(sq) for g in gradients]
    return [g.clone() for g in gradients]


@wrong(
    "clip_gradients",
    "It works in place with mul_: the gradients that came in are changed (when they are too long).",
)
def clip_gradients_c(gradients, limit):
    total_norm = torch.norm(torch.stack([g.norm(2) for g in gradients]), 2)
    clip_coef = limit / (total_norm + 1e-12)
    if clip_coef < 1:
        for g in gradients:
            g.mul_(clip_coef)
    return gradients


@wrong(
    "clip_gradients",
    "Short gradients are lengthened to the limit: it scales always (common length below the limit).",
)
def clip_gradients_d(gradients, limit):
    flat = torch.cat([g.reshape(-1) for g in gradients])
    n = flat.norm().clamp_min(1e-12)
    return [limit * g / n for g in gradients]


@wrong(
    "clip_gradients",
    "clamp clips each number by itself: the direction changes (any gradient with one number above the limit).",
)
def clip_gradients_e(gradients, limit):
    return [torch.clamp(g, min=-limit, max=limit) for g in gradients]


# ---- chapter 16: training ------------------------------------------------------------------------


@wrong("training_update", "The gradients are never set to zero: they add up from update to update.")
def training_update_a(model, optimizer, compute_loss):
    model.train()
    loss = compute_loss()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    return loss.item()


@wrong(
    "training_update",
    "zero_grad stands between backward and clipping: the update is one without gradients.",
)
def training_update_b(model, optimizer, compute_loss):
    loss = compute_loss()
    loss.backward()
    optimizer.zero_grad()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@wrong("training_update", "clip_grad_value_ clips each number at 1, not the common length.")
def training_update_c(model, optimizer, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    compute_loss().backward()
    torch.nn.utils.clip_grad_value_(model.parameters(), clip_value=1)
    optimizer.step()


@wrong(
    "training_update",
    "The clipping comes after the step, when it is too late (gradients longer than 1).",
)
def training_update_d(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1)


@wrong(
    "accumulated_update",
    "The loss is not divided by the number of parts: the sum in place of the mean.",
)
def accumulated_update_a(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for p in parts:
        compute_loss(p).backward()
    optimizer.step()
    scheduler.step()


@wrong(
    "accumulated_update",
    "The schedule moves on with each part, not with each update (more than one part).",
)
def accumulated_update_b(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    accumulation_steps = len(parts)
    for i, part in enumerate(parts):
        loss = compute_loss(part) / accumulation_steps
        loss.backward()
        if (i + 1) % accumulation_steps == 0:
            optimizer.step()
        scheduler.step()


@wrong(
    "accumulated_update",
    "accumulation_steps = 4 is fixed: another number of parts is divided wrongly.",
)
def accumulated_update_c(optimizer, scheduler, parts, compute_loss, accumulation_steps=4):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / accumulation_steps).backward()
    optimizer.step()
    scheduler.step()


@wrong(
    "best_checkpoint",
    "The batches' means are averaged as if all batches had the same number of tokens (batches of unequal length).",
)
def best_checkpoint_a(checkpoints, batches, loss_of):
    val = [sum(loss_of(c, b) for b in batches) / len(batches) for c in checkpoints]
    return val.index(min(val))


@wrong(
    "best_checkpoint",
    "Early stopping: at the first checkpoint that is no better it breaks; a later one may be better still.",
)
def best_checkpoint_b(checkpoints, batches, loss_of):
    best, best_loss = 0, float("inf")
    n = sum(len(b) for b in batches)
    for i, c in enumerate(checkpoints):
        loss = sum(loss_of(c, b) * len(b) for b in batches) / n
        if loss < best_loss:
            best, best_loss = i, loss
        else:
            break
    return best


@wrong(
    "best_checkpoint",
    "best_loss starts at 10: if all losses are above it, place 0 is given whatever they are.",
)
def best_checkpoint_c(checkpoints, batches, loss_of):
    best_idx, best_loss = 0, 10.0
    for idx in range(len(checkpoints)):
        total, n_tok = 0.0, 0
        for b in batches:
            total += float(loss_of(checkpoints[idx], b)) * len(b)
            n_tok += len(b)
        if total / n_tok < best_loss:
            best_loss = total / n_tok
            best_idx = idx
    return best_idx


@wrong(
    "average_checkpoints",
    "A running mean of two: the last checkpoint weighs a half, the first ones next to nothing (three and more checkpoints).",
)
def average_checkpoints_a(checkpoints):
    avg = dict(checkpoints[0])
    for ck in checkpoints[1:]:
        avg = {k: (avg[k] + ck[k]) / 2 for k in avg}
    return avg


@wrong(
    "average_checkpoints",
    "The sum is built in the first checkpoint's own tensors: the argument is changed.",
)
def average_checkpoints_b(checkpoints):
    state = checkpoints[0]
    for other in checkpoints[1:]:
        for k, v in other.items():
            state[k].add_(v)
    return {k: v / len(checkpoints) for k, v in state.items()}


@wrong(
    "average_checkpoints",
    "It divides by the number of weights, not of checkpoints (len of the dictionary in place of the list).",
)
def average_checkpoints_c(checkpoints):
    total = {}
    for sd in checkpoints:
        for name, w in sd.items():
            total[name] = total[name] + w if name in total else w.clone()
    return {name: w / len(sd) for name, w in total.items()}


# ---- chapter 17: decoding ------------------------------------------------------------------------


@wrong(
    "next_token", "logits[:, 0]: the first position in place of the last (more than one position)."
)
def next_token_a(logits):
    return logits[:, 0].argmax(-1)


@wrong("next_token", "logits[-1] is the last SENTENCE, not the last position (B and T confused).")
def next_token_b(logits):
    return logits[-1].argmax(dim=-1)


@wrong(
    "temperature_probabilities",
    "It multiplies by the temperature in place of dividing (temperature ≠ 1).",
)
def temperature_probabilities_a(logits, temperature):
    return F.softmax(logits * temperature, dim=-1)


@wrong(
    "temperature_probabilities",
    "exp without subtracting the maximum: at a low temperature it overflows (logits 10, temperature 0.05).",
)
def temperature_probabilities_b(logits, temperature):
    p = torch.exp(logits / temperature)
    return p / p.sum(dim=1, keepdim=True)


@wrong(
    "temperature_probabilities",
    "The temperature is not let below 0.1 'for safety' (temperature 0.05).",
)
def temperature_probabilities_c(logits, temperature):
    t = max(float(temperature), 1e-1)
    return (logits / t).softmax(1)


@wrong(
    "top_k_probabilities",
    "The kept probabilities do not sum to one: they are not normalised again.",
)
def top_k_probabilities_a(logits, k):
    probs = F.softmax(logits, dim=-1)
    kth = probs.topk(k, dim=-1).values[:, -1:]
    return torch.where(probs >= kth, probs, torch.zeros_like(probs))


@wrong("top_k_probabilities", "The threshold of the first row is used for all rows (B > 1).")
def top_k_probabilities_b(logits, k):
    v, _ = torch.topk(logits, k)
    threshold = v[0, -1]
    out = logits.masked_fill(logits < threshold, -float("Inf"))
    return torch.nan_to_num(F.softmax(out, dim=-1))


@wrong(
    "top_k_probabilities",
    "nanoGPT's line writes −∞ into the caller's logits: the argument is changed (k < V).",
)
def top_k_probabilities_c(logits, k):
    v, _ = torch.topk(logits, min(k, logits.size(-1)))
    logits[logits < v[:, [-1]]] = -float("Inf")
    return F.softmax(logits, dim=-1)


@wrong(
    "greedy_search",
    "The last token is always cut off as if it were <eos>; where max_length came first a real word is lost.",
)
def greedy_search_a(step, max_length):
    ys = [1]
    while len(ys) - 1 < max_length and ys[-1] != 2:
        ys.append(int(step(torch.tensor([ys])).argmax()))
    return ys[1:-1]


@wrong(
    "greedy_search",
    "<sos> counts in max_length: one word too few (sentences that do not end earlier).",
)
def greedy_search_b(step, max_length):
    ys = torch.full((1, 1), 1, dtype=torch.long)
    for i in range(max_length - 1):
        prob = step(ys)
        _, next_word = torch.max(prob, dim=1)
        next_word = next_word.item()
        if next_word == 2:
            break
        ys = torch.cat([ys, torch.full((1, 1), next_word, dtype=torch.long)], dim=1)
    return ys[0, 1:].tolist()


@wrong(
    "greedy_search",
    "It stops when a word repeats itself, against loops; two equal words in a row are legal ('very very').",
)
def greedy_search_c(step, max_length):
    out = []
    while len(out) < max_length:
        w = int(step(torch.tensor([[1] + out]))[0].argmax())
        if w == 2 or (out and w == out[-1]):
            break
        out.append(w)
    return out


@wrong(
    "greedy_search",
    "Only the last token is given to `step`, as with a cache or an RNN; the model sees none of the words before.",
)
def greedy_search_d(step, max_length):
    decoder_input = torch.tensor([[1]])
    decoded = []
    for _ in range(max_length):
        topv, topi = step(decoder_input).topk(1)
        if topi.item() == 2:
            break
        decoded.append(topi.item())
        decoder_input = topi.detach()
    return decoded


@wrong(
    "greedy_batch",
    "It is over as soon as ANY sentence says <eos>: any() for all() (sentences that end at different times).",
)
def greedy_batch_a(step, n_sentences, max_length):
    ys = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        nxt = step(ys).argmax(-1, keepdim=True)
        ys = torch.cat([ys, nxt], 1)
        if (nxt == 2).any():
            break
    return ys[:, 1:]


@wrong(
    "greedy_batch",
    "Whether a sentence is finished is read off its last token only; two steps after <eos> the last token is padding and it comes alive again.",
)
def greedy_batch_b(step, n_sentences, max_length):
    out = torch.full((n_sentences, 1), 1)
    for _ in range(max_length):
        finished = out[:, -1] == 2
        token = step(out).argmax(dim=-1)
        token = torch.where(finished, torch.zeros_like(token), token)
        out = torch.cat([out, token[:, None]], dim=1)
    return out[:, 1:]


@wrong(
    "greedy_batch",
    "`finished` is updated before the token is written, so <eos> itself is replaced by padding.",
)
def greedy_batch_c(step, n_sentences, max_length):
    tokens = torch.ones((n_sentences, 1), dtype=torch.long)
    finished = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        new = step(tokens).max(-1).indices
        finished |= new == 2
        new = new * (~finished).long()
        tokens = torch.cat((tokens, new.view(-1, 1)), -1)
        if finished.all():
            break
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "A finished sentence goes on saying words: nothing is padded (sentences that end at different times and do not say padding by themselves).",
)
def greedy_batch_d(step, n_sentences, max_length):
    seqs = torch.ones(n_sentences, 1).long()
    unfinished = set(range(n_sentences))
    for _ in range(max_length):
        if not unfinished:
            break
        nxt = step(seqs).argmax(1)
        unfinished -= {b for b in range(n_sentences) if nxt[b] == 2}
        seqs = torch.cat([seqs, nxt.unsqueeze(1)], 1)
    return seqs[:, 1:]


def _beam(step, beam_size, max_length):
    beams, done = [((1,), 0.0)], []
    for _ in range(max_length):
        if not beams:
            break
        logp = step(torch.tensor([b for b, _ in beams]))
        cands = [
            (b + (v,), s + float(logp[i, v]))
            for i, (b, s) in enumerate(beams)
            for v in range(logp.shape[1])
        ]
        cands.sort(key=lambda c: -c[1])
        beams = []
        for c in cands[:beam_size]:
            (done if c[0][-1] == 2 else beams).append(c)
    return beams, done


@wrong(
    "beam_search",
    "A hypothesis that reaches max_length does not count if any finished one exists, even if it is likelier.",
)
def beam_search_a(step, beam_size, max_length):
    beams, done = _beam(step, beam_size, max_length)
    best = max(done or beams, key=lambda c: c[1])
    return [t for t in best[0] if t not in (1, 2)]


@wrong(
    "beam_search",
    "It ranks by the mean per token, not by the sum (finished hypotheses of different lengths).",
)
def beam_search_b(step, beam_size, max_length):
    beams, done = _beam(step, beam_size, max_length)
    tokens, score = max(beams + done, key=lambda c: c[1] / (len(c[0]) - 1))
    return [t for t in tokens[1:] if t != 2]


@wrong(
    "beam_search",
    "It returns the first hypothesis that finishes; a longer one may be likelier still.",
)
def beam_search_c(step, k, max_length):
    seqs = [([1], 0.0)]
    for _ in range(max_length):
        lp = step(torch.tensor([s for s, _ in seqs]))
        all_candidates = []
        for row, (seq, score) in zip(lp.tolist(), seqs):
            for j, p in enumerate(row):
                all_candidates.append([seq + [j], score + p])
        seqs = sorted(all_candidates, key=lambda t: t[1], reverse=True)[:k]
        for seq, score in seqs:
            if seq[-1] == 2:
                return seq[1:-1]
    return seqs[0][0][1:]


@wrong(
    "beam_search",
    "The log-probability of <eos> is not added to a finished hypothesis, so ending is free of charge when the hypotheses are compared at last.",
)
def beam_search_d(step, beam_size, max_length):
    live, finished = [(0.0, [1])], []
    for _ in range(max_length):
        if not live:
            break
        logp = step(torch.tensor([h for _, h in live]))
        total = logp + torch.tensor([s for s, _ in live])[:, None]
        val, idx = total.flatten().topk(min(beam_size, total.numel()))
        new = []
        for s, i in zip(val.tolist(), idx.tolist()):
            parent, tok = divmod(i, logp.size(1))
            if tok == 2:
                finished.append((live[parent][0], live[parent][1]))
            else:
                new.append((s, live[parent][1] + [tok]))
        live = new
    return max(finished + live, key=lambda t: t[0])[1][1:]


@wrong(
    "beam_search",
    "Each finished hypothesis takes its place with it: the beam shrinks by one, although every step keeps the best beam_size.",
)
def beam_search_e(step, beam_size, max_length):
    live, finished = [(0.0, [1])], []
    for _ in range(max_length):
        if not live or beam_size == 0:
            break
        total = step(torch.tensor([h for _, h in live])) + torch.tensor([[s] for s, _ in live])
        V = total.shape[1]
        val, idx = torch.topk(total.view(-1), min(beam_size, total.numel()))
        nxt = []
        for s, i in zip(val.tolist(), idx.tolist()):
            h = (s, live[i // V][1] + [i % V])
            if h[1][-1] == 2:
                finished.append(h)
                beam_size -= 1
            else:
                nxt.append(h)
        live = nxt
    return [t for t in max(finished + live)[1][1:] if t != 2]


@wrong(
    "beam_search",
    "Each living hypothesis keeps only its own best continuation after the first step: beam_size greedy searches side by side, no common ranking.",
)
def beam_search_f(step, beam_size, max_length):
    first = step(torch.tensor([[1]]))[0]
    val, idx = first.topk(min(beam_size, first.numel()))
    hyps = [([1, t], s) for s, t in zip(val.tolist(), idx.tolist())]
    for _ in range(max_length - 1):
        new = []
        for toks, s in hyps:
            if toks[-1] == 2:
                new.append((toks, s))
                continue
            p, t = step(torch.tensor([toks]))[0].max(0)
            new.append((toks + [int(t)], s + float(p)))
        hyps = new
    best, _ = max(hyps, key=lambda h: h[1])
    return [t for t in best[1:] if t != 2]


@wrong(
    "beam_search",
    "The score of a hypothesis is that of its last token: the sum over the former ones is lost when the beam is built anew.",
)
def beam_search_g(step, beam_size, max_length):
    live, done = [([1], 0.0)], []
    for _ in range(max_length):
        cand = []
        for seq, score in live:
            logp = step(torch.tensor([seq]))[0]
            cand += [(seq + [w], p) for w, p in enumerate(logp.tolist())]
        cand = sorted(cand, key=lambda c: c[1])[::-1][:beam_size]
        done += [c for c in cand if c[0][-1] == 2]
        live = [c for c in cand if c[0][-1] != 2]
    best = max(live + done, key=lambda c: c[1])[0]
    return best[1:-1] if best[-1] == 2 else best[1:]


@wrong("embed_next", "The positions start at 0 again: `past` is not used (past > 0).")
def embed_next_a(tokens, past, weight, table):
    pos = torch.arange(tokens.shape[1])
    return F.embedding(tokens, weight) + table[pos]


@wrong(
    "embed_next",
    "All new tokens get the row of the first new position: fine for one token at a time, wrong for several (t > 1).",
)
def embed_next_b(tokens, past, weight, table):
    return weight[tokens] + table[past]


@wrong(
    "embed_next",
    "Off by one: `past` tokens stand at 0 … past − 1, so the first new one is at `past`, not past + 1.",
)
def embed_next_c(tokens, past, weight, table):
    n = tokens.size(1)
    idx = torch.arange(past + 1, past + 1 + n).clamp(max=len(table) - 1)
    return weight[tokens] + table[idx].unsqueeze(0)


@wrong(
    "reorder_cache",
    "The inverse: row i goes TO rows[i] in place of coming from there (rows that are not their own inverse, or with a row twice).",
)
def reorder_cache_a(cache, rows):
    new = []
    for keys, values in cache:
        k, v = torch.zeros_like(keys), torch.zeros_like(values)
        for i, r in enumerate(rows):
            k[r] = keys[i]
            v[r] = values[i]
        new.append((k, v))
    return new


@wrong(
    "reorder_cache",
    "Row by row on the same copy: a row already overwritten is read again (rows such as [1, 0]: a swap).",
)
def reorder_cache_b(cache, rows):
    out = []
    for k, v in cache:
        k, v = k.clone(), v.clone()
        for i in range(len(rows)):
            k[i] = k[int(rows[i])]
            v[i] = v[int(rows[i])]
        out.append((k, v))
    return out


@wrong("reorder_cache", "Only the keys are reordered, the values stay.")
def reorder_cache_c(cache, rows):
    idx = torch.as_tensor(rows)
    return [(k.index_select(0, idx), v) for k, v in cache]


@wrong(
    "length_normalised",
    "The exponent goes to the score as well: (score / length) ** alpha, with a minus sign patched on (alpha ≠ 1).",
)
def length_normalised_a(score, length, alpha):
    return -((-score / length) ** alpha)


@wrong(
    "length_normalised",
    "Wu et al. with a term lost: the 6 in the denominator has no exponent (alpha ≠ 1; neither the one formula nor the other).",
)
def length_normalised_b(score, length, alpha):
    lp = (5 + length) ** alpha / (5 + 1)
    return score / lp


@wrong("cut_at_end", "Without <eos> the last token is lost: find() gives −1 and ids[:-1] is taken.")
def cut_at_end_a(ids):
    where = next((i for i, t in enumerate(ids) if t == 2), -1)
    return list(ids[:where])


@wrong(
    "cut_at_end",
    "It takes while the token is above 2, so it stops at <sos> or padding as well (ids with 0 or 1 before the <eos>).",
)
def cut_at_end_b(ids):
    return list(itertools.takewhile(lambda t: t > 2, ids))


@wrong(
    "cut_at_end", "It cuts at the last <eos>, not at the first (two of them, or <eos> as filling)."
)
def cut_at_end_c(ids):
    if 2 not in ids:
        return list(ids)
    return list(ids)[: len(ids) - 1 - list(reversed(ids)).index(2)]
