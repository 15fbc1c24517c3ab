"""Round 2, author 6: what is wrong, as it was written from the docstrings alone."""

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
    "text_to_ids",
    "The text is stripped first; a tokenizer by characters would have kept the blanks at both ends (' ab' with tokenize = list).",
)
def text_to_ids_a(text, tokenize, vocabulary):
    pieces = tokenize(text.strip())
    return [vocabulary.get(p, 3) for p in pieces] + [2]


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
    "padding_idx=0 is copied along: the row of token 0 gets no gradient (tokens that contain 0).",
)
def embedding_b(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * weight.size(-1) ** 0.5


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


# ---- chapter 7: softmax and attention ------------------------------------------------------------


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


# ---- chapter 8: masks ----------------------------------------------------------------------------


@wrong(
    "padding_mask",
    "argmax gives 0 where there is no padding at all, so a sentence without padding is hidden entirely.",
)
def padding_mask_a(tokens):
    first_pad = (tokens == 0).int().argmax(dim=1)
    pos = torch.arange(tokens.size(1), device=tokens.device)
    return (pos[None, :] < first_pad[:, None])[:, None, None, :]


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


# ---- chapter 9: heads ----------------------------------------------------------------------------


@wrong(
    "merge_heads",
    "The heads are averaged in place of being laid side by side, and copied to the right width.",
)
def merge_heads_b(x):
    h = x.shape[1]
    return x.mean(dim=1).repeat(1, 1, h)


def _split(x, h):
    return x.view(x.size(0), x.size(1), h, -1).transpose(1, 2)


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


@wrong("layer_norm", "Keras's default, ε = 1e-3 (seen where the variance is small, say 0.01).")
def layer_norm_g(inputs, gamma, beta, epsilon=1e-3):
    mean = inputs.mean(-1, keepdim=True)
    var = ((inputs - mean) ** 2).mean(-1, keepdim=True)
    return gamma * (inputs - mean) / torch.sqrt(var + epsilon) + beta


@wrong(
    "layer_norm_parameters",
    "γ is drawn at random, as the weight of a linear layer; it starts at one.",
)
def layer_norm_parameters_b(d_model):
    w = torch.empty(1, d_model)
    nn.init.xavier_uniform_(w)
    return w[0], torch.zeros(d_model)


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
    "p is taken for the probability of keeping, as in TensorFlow 1: divided by p (p ≠ 0.5).",
)
def dropout_d(x, keep_prob, keep, training):
    if not training or keep_prob == 0:
        return x
    return torch.div(x, keep_prob) * keep.to(x.dtype)


# ---- chapter 11 ----------------------------------------------------------------------------------


@wrong("group_sort", "It is sorted by absolute value (a pair such as −3, 1).")
def group_sort_c(x):
    pairs = x.unflatten(-1, (-1, 2))
    idx = pairs.abs().argsort(dim=-1)
    return pairs.gather(-1, idx).flatten(-2)


# ---- chapters 12 to 14: layers and the whole -----------------------------------------------------


@wrong(
    "encoder_layer",
    "A mixture of two tutorials: the first sublayer is pre-norm, the second post-norm.",
)
def encoder_layer_d(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    x = x + attention(y, y, y, mask)
    return norm2(x + feed_forward(x))


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
    "causal_self_attention",
    "Scores that happen to be exactly 0 are hidden as well, for tril's zeros are taken as the sign of the future (x with a zero vector or orthogonal vectors).",
)
def causal_self_attention_a(x, training):
    wei = x @ x.transpose(-2, -1) * x.size(-1) ** -0.5
    wei = torch.tril(wei)
    wei = wei.masked_fill(wei == 0, float("-inf"))
    return F.softmax(wei, dim=-1) @ x


@wrong("causal_self_attention", "The tril buffer is 64 long (block_size): a longer x does not fit.")
def causal_self_attention_c(x, training, block_size=64):
    B, T, C = x.shape
    bias = torch.tril(torch.ones(block_size, block_size)).view(1, block_size, block_size)
    att = (x @ x.transpose(-2, -1)) * (1.0 / math.sqrt(C))
    att = att.masked_fill(bias[:, :T, :T] == 0, float("-inf"))
    return F.softmax(att, dim=-1) @ x


@wrong(
    "causal_self_attention",
    "The weights of the future are set to zero behind the softmax and not normalised anew: all rows but the last sum to less than one.",
)
def causal_self_attention_e(x, training):
    w = torch.softmax(torch.bmm(x, x.mT) / x.shape[-1] ** 0.5, dim=2)
    return torch.bmm(torch.tril(w), x)


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
    "perplexity",
    "`if loss < 10 else inf`, copied from a tutorial: a mean loss of 10 or more gives inf.",
)
def perplexity_b(losses, counts):
    mean = np.average(losses, weights=counts)
    return math.exp(mean) if mean < 10 else float("inf")


@wrong(
    "inverse_sqrt_schedule",
    "warmup ** -3 / 2 is (warmup^−3) / 2: brackets around the exponent are missing (during warm-up).",
)
def inverse_sqrt_schedule_a(update, d_model, warmup):
    return d_model**-0.5 * min(update**-0.5, update * warmup**-3 / 2)


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


# ---- chapter 16: training ------------------------------------------------------------------------


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
    "temperature_probabilities",
    "The temperature is not let below 0.1 'for safety' (temperature 0.05).",
)
def temperature_probabilities_c(logits, temperature):
    t = max(float(temperature), 1e-1)
    return (logits / t).softmax(1)


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
