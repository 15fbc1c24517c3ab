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
    "The text is stripped before tokenizing: tokenizers for which spaces are tokens give other ids (spaces at the ends, tokenize=list).",
)
def text_to_ids_c(text, tokenize, vocabulary):
    tokens = tokenize(text.strip())
    return [vocabulary.get(token, vocabulary["<unk>"]) for token in tokens] + [vocabulary["<eos>"]]


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


@wrong(
    "collate",
    "The rows themselves are padded with +=: the argument is changed (rows of different length).",
)
def collate_d(rows):
    longest = max(len(row) for row in rows)
    for row in rows:
        row += [0] * (longest - len(row))
    return torch.tensor(rows)


@wrong(
    "shift",
    "<eos> is taken out of what the decoder reads, where only the last column goes (a sentence with padding behind <eos>).",
)
def shift_d(target):
    return target[:, :-1].masked_fill(target[:, :-1] == EOS, PAD), target[:, 1:]


# ---------------------------------------------------------------- chapters 4 and 5


@wrong(
    "embedding",
    "padding_idx=0 cuts the gradient of row 0 off, though the result's gradient is to be that of the rows (tokens with a 0).",
)
def embedding_b(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * weight.size(-1) ** 0.5


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
    "tied_logits",
    "Cosine similarity in place of the dot product: the rows are normalised (rows with a length other than 1).",
)
def tied_logits_c(x, weight):
    return torch.einsum("btd,vd->btv", x, F.normalize(weight, dim=-1))


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


@wrong("add_positions", "+= changes x itself, an argument.")
def add_positions_b(x, table):
    x += table[: x.shape[1]]
    return x


@wrong("add_positions", "The rows are detached: a learned table gets no gradient.")
def add_positions_c(x, table):
    return x + table[: x.size(1)].detach()


# ---------------------------------------------------------------- chapters 7 and 8


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
    "nan_to_num mends the values, but the gradient of a wholly masked row stays nan (a query without any key, gradients asked).",
)
def sdpa_c(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)
    return torch.nan_to_num(torch.softmax(scores, dim=-1)) @ value


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
    "Hidden scores are -100, which a strongly negative visible score falls below (visible scores of about -100 and below).",
)
def sdpa_i(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is None:
        return scores.softmax(dim=-1) @ value
    weights = scores.masked_fill(~mask, -100.0).softmax(dim=-1)
    return (weights @ value) * mask.any(dim=-1, keepdim=True)


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


@wrong(
    "causal_mask",
    "A buffer of 128 positions is sliced: longer masks are too small (length over 128).",
)
def causal_mask_d(length, block_size=128):
    bias = torch.tril(torch.ones(block_size, block_size)).bool()
    return bias[:length, :length]


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


@wrong("merge_heads", "The heads are averaged and repeated, not laid side by side (H > 1).")
def merge_heads_b(heads):
    return heads.mean(dim=1).repeat(1, 1, heads.shape[1])


@wrong("merge_heads", "squeeze() of the result drops the axis of size one (B = 1 or T = 1).")
def merge_heads_c(heads):
    return torch.cat(heads.split(1, dim=1), dim=-1).squeeze()


# ---------------------------------------------------------------- chapters 10 and 11


@wrong(
    "layer_norm", "Mean and variance are detached: the values are right, the gradient to x is not."
)
def layer_norm_d(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True, unbiased=False)
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


@wrong("layer_norm_parameters", "The weight is drawn at random, as for a linear layer (every D).")
def layer_norm_parameters_c(d_model):
    return torch.randn(d_model), torch.zeros(d_model)


@wrong("post_norm", "norm(x) + sublayer(x): only the residual is normalised.")
def post_norm_a(x, sublayer, norm):
    return norm(x) + sublayer(x)


@wrong(
    "dropout",
    "Enlarged by the share that happens to be kept, not by 1 − p (the share differs from 1 − p).",
)
def dropout_c(x, p, keep, training):
    if not training:
        return x
    return x * keep / keep.float().mean()


@wrong("dropout", "In evaluation the mask still drops: `training` only decides about the scale.")
def dropout_e(x, p, keep, training):
    scale = 1 / (1 - p) if training else 1.0
    return torch.where(keep, x, 0.0) * scale


@wrong(
    "sublayer_with_dropout",
    "Post-norm, which is no accepted convention here: norm(x + dropout(sublayer(x))).",
)
def sublayer_with_dropout_c(x, sublayer, norm, dropout):
    return norm(x + dropout(sublayer(x)))


class FeedForwardResidual(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return x + self.linear2(torch.relu(self.linear1(x)))


@wrong(
    "group_sort",
    "Sorted along the axis of pairs, dim=-2, and not within the pair (D of 4 and more; D = 2 stays unsorted).",
)
def group_sort_d(x):
    return x.unflatten(-1, (-1, 2)).sort(dim=-2).values.flatten(-2)


# ---------------------------------------------------------------- chapters 12 to 14


@wrong("encoder_layer", "Half and half: the first sublayer pre-norm, the second post-norm.")
def encoder_layer_f(x, mask, attention, feed_forward, norm1, norm2):
    h = norm1(x)
    x = x + attention(h, h, h, mask)
    return norm2(x + feed_forward(x))


@wrong("decoder_layer", "The memory is detached: no gradient reaches the encoder.")
def decoder_layer_f(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    memory = memory.detach()
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


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
    "Encoder and memory get masks made from the embedded source, where a padding vector is not zero (a padded source).",
)
def transformer_forward_g(source, target, embed_source, embed_target, encoder, decoder, output):
    x = embed_source(source)
    mask = (x != 0).any(dim=-1)[:, None, None, :]
    memory = encoder(x, mask)
    return output(decoder(embed_target(target), memory, _tm(target), mask))


# ---------------------------------------------------------------- chapters 15 and 16


@wrong(
    "cross_entropy",
    "1e-3 inside the logarithm falsifies small probabilities (an unlikely right token).",
)
def cross_entropy_e(logits, target):
    p = logits.softmax(-1).gather(2, target.unsqueeze(2)).squeeze(2)
    return -(p + 1e-3).log()[target != 0].mean()


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
    "The distribution gets 1 − ε at the right token by assignment, so its ε/V share is lost (smoothing > 0).",
)
def label_smoothed_loss_f(logits, target, smoothing):
    v = logits.shape[-1]
    q = torch.full_like(logits, smoothing / v).scatter(-1, target.unsqueeze(-1), 1 - smoothing)
    loss = -(q * F.log_softmax(logits, -1)).sum(-1)
    return loss[target != 0].mean()


@wrong(
    "inverse_sqrt_schedule",
    "Linear warm-up to 1 and then the root: warmup^-1 in place of warmup^-1.5, so the rate jumps (update < warmup, warmup > 1).",
)
def inverse_sqrt_schedule_c(update, d_model, warmup):
    if update < warmup:
        return d_model**-0.5 * update / warmup
    return d_model**-0.5 * update**-0.5


@wrong("clip_gradients", "mul_ changes the gradients that came in (common length above limit).")
def clip_gradients_e(gradients, limit):
    total = torch.stack([g.norm() for g in gradients]).norm()
    if total > limit:
        for g in gradients:
            g.mul_(limit / total)
    return gradients


@wrong("clip_gradients", "Mean of squares in place of the sum (common length above limit).")
def clip_gradients_g(gradients, limit):
    flat = torch.cat([g.flatten() for g in gradients])
    length = flat.pow(2).mean().sqrt()
    factor = torch.clamp(limit / (length + 1e-6), max=1.0)
    return [g * factor for g in gradients]


@wrong("best_checkpoint", "The best checkpoint itself comes back, not its place.")
def best_checkpoint_b(checkpoints, batches, loss_of):
    return min(checkpoints, key=lambda c: sum(loss_of(c, b) * len(b) for b in batches))


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


@wrong(
    "next_token",
    "argmax without dim: one number for the whole batch (B > 1, and no axis for B = 1).",
)
def next_token_b(logits):
    return logits[:, -1].argmax()


@wrong("temperature_probabilities", "p^(1/T) is not normalised again (temperature other than 1).")
def temperature_probabilities_c(logits, temperature):
    return torch.softmax(logits, dim=-1).pow(1 / temperature)


@wrong(
    "temperature_probabilities",
    "The temperature is raised to at least 0.5 'for stability' (temperature under 0.5).",
)
def temperature_probabilities_d(logits, temperature):
    return (logits / max(temperature, 0.5)).softmax(-1)


@wrong("top_k_probabilities", "The threshold of the first sentence is used for all (B > 1).")
def top_k_probabilities_c(logits, k):
    threshold = logits.topk(k, dim=-1).values[0, -1]
    return logits.masked_fill(logits < threshold, float("-inf")).softmax(dim=-1)


@wrong("top_k_probabilities", "The logits are changed in place, an argument (k < V).")
def top_k_probabilities_f(logits, k):
    kth = torch.topk(logits, k)[0][..., -1, None]
    logits[logits < kth] = -float("inf")
    return F.softmax(logits, dim=-1)


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


@wrong("embed_next", "Off by one: the first new token gets row past + 1.")
def embed_next_c(tokens, past, weight, table):
    return weight[tokens] + table[past + 1 : past + 1 + tokens.size(1)]


@wrong("embed_next", "Scaled with the root of D, which the sheet excludes here.")
def embed_next_d(tokens, past, weight, table):
    return weight[tokens] * math.sqrt(weight.shape[1]) + table[past : past + tokens.shape[1]]


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
    "The score is raised together with the length: (score / length) ** alpha of its absolute value (alpha other than 1).",
)
def length_normalised_c(score, length, alpha):
    return -((-score / length) ** alpha)


@wrong(
    "split_heads",
    "permute(0, 3, 1, 2) brings K in front and H to the end, in place of permute(0, 2, 1, 3) (H > 1 or K > 1).",
)
def split_heads_d(x, n_heads):
    return x.reshape(x.size(0), x.size(1), n_heads, -1).permute(0, 3, 1, 2)
