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
    "math.pow works in floats, so a long sequence over a big vocabulary loses its digits or overflows (e.g. 30000 words, 100 tokens).",
)
def number_of_targets_b(vocab_size, length):
    return int(math.pow(vocab_size, length))


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


@wrong("encode", "<eos> and <unk> are exchanged: unknown words become 2 and the end is 3.")
def encode_c(tokens, vocabulary):
    return [vocabulary.get(t, 2) for t in tokens] + [3]


@wrong(
    "training_words",
    "Counted in the training set rightly, but words that come nowhere in the test set are thrown out.",
)
def training_words_b(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    in_test = {w for s in splits["test"] for w in s}
    return [w for w in counts if counts[w] >= min_frequency and w in in_test]


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


@wrong("tied_logits", "weight.detach(): the embedding gets no gradient from the output side.")
def tied_logits_c(x, weight):
    return F.linear(x, weight.detach())


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
    "x += changes the argument in place (and raises if x is a leaf that needs a gradient).",
)
def add_positions_b(x, table):
    x += table[: x.size(1)]
    return x


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


@wrong("softmax", "Normalised with the sum of absolute scores, the exponential is missing.")
def softmax_e(scores):
    s = scores - scores.amin(-1, keepdim=True)
    return s / (s.sum(-1, keepdim=True) + 1e-9)


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
    "causal_mask",
    "Cut out of a buffer of 64 positions (block_size): too small for longer sequences.",
)
def causal_mask_d(length):
    block = torch.tril(torch.ones(64, 64)).bool()
    return block[:length, :length]


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
    "cumprod takes everything behind the first 0 as padding: a sentence padded in front sees nothing at all.",
)
def target_mask_g(tokens):
    T = tokens.size(1)
    real = torch.cumprod((tokens != 0).long(), dim=1).bool()
    return real[:, None, None, :] & torch.tril(torch.ones(T, T)).bool()


@wrong(
    "split_heads",
    "Positions and features are transposed before the reshape, so that the numbers come out scrambled; not seen for T = 1.",
)
def split_heads_c(x, n_heads):
    B, T, D = x.shape
    return x.transpose(1, 2).reshape(B, n_heads, T, D // n_heads)


@wrong("merge_heads", "The heads are averaged in place of joined: (B, T, K).")
def merge_heads_b(heads):
    return heads.mean(dim=1)


@wrong(
    "merge_heads",
    "The joined heads come out position first, (T, B, D); unseen in values only for B = T = 1.",
)
def merge_heads_c(heads):
    return torch.cat(list(heads.unbind(1)), dim=-1).transpose(0, 1)


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


# ---------------------------------------------------------------- chapters 10 to 14


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


class LayerNormI(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, keepdim=True, unbiased=False)
        return self.weight * ((x - mean) / torch.sqrt(var + 1e-5) + self.bias)


@wrong(
    "layer_norm_parameters",
    "The weight is drawn at random like that of a linear layer; it begins with ones.",
)
def layer_norm_parameters_b(d_model):
    return torch.randn(d_model) * d_model**-0.5, torch.zeros(d_model)


@wrong(
    "post_norm",
    "x is detached on the residual way, so the gradient flows through the sublayer only.",
)
def post_norm_c(x, sublayer, norm):
    return norm(x.detach() + sublayer(x))


@wrong(
    "dropout",
    "Enlarged by the share that was really kept (keep.mean()) and not by 1 / (1 - p); also nan where nothing was kept.",
)
def dropout_d(x, p, keep, training):
    if training:
        return x * keep / keep.float().mean()
    return x


@wrong("dropout", "The mask given is not used; F.dropout draws one of its own.")
def dropout_f(x, p, keep, training):
    return F.dropout(x, p, training)


@wrong("sublayer_with_dropout", "Post-norm in place of pre-norm.")
def sublayer_with_dropout_c(x, sublayer, norm, dropout):
    return norm(x + dropout(sublayer(x)))


@wrong("sublayer_with_dropout", "The dropout is forgotten.")
def sublayer_with_dropout_d(x, sublayer, norm, dropout):
    return x + sublayer(norm(x))


class FeedForwardE(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)

    def forward(self, x):
        return x + self.linear2(torch.relu(self.linear1(x)))


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


@wrong("encoder_layer", "The residual around attention starts from the normalised x.")
def encoder_layer_f(x, mask, attention, feed_forward, norm1, norm2):
    x = norm1(x)
    x = x + attention(x, x, x, mask)
    return x + feed_forward(norm2(x))


@wrong("decoder_layer", "The memory is detached: the encoder gets no gradient.")
def decoder_layer_g(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    memory = memory.detach()
    h = norms[0](x)
    x = x + self_attention(h, h, h, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong("causal_self_attention", "In evaluation only the last position is computed, (B, 1, D).")
def causal_self_attention_b(x, training):
    y = F.scaled_dot_product_attention(x, x, x, is_causal=True)
    return y if training else y[:, -1:]


@wrong(
    "causal_self_attention",
    "masked_fill(s == 0) after tril hides real scores that happen to be exactly 0, e.g. of a zero vector or of orthogonal ones.",
)
def causal_self_attention_e(x, training):
    s = torch.tril(x @ x.mT / x.size(-1) ** 0.5)
    s = s.masked_fill(s == 0, -1e9)
    return s.softmax(-1) @ x


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


# ---------------------------------------------------------------- chapters 15 and 16


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
    "The logit of padding is set to -inf before the softmax, so token 0 takes no share of the probability.",
)
def cross_entropy_j(logits, target):
    logits = logits.clone()
    logits[..., 0] = float("-inf")
    return F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0)


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


@wrong("clip_gradients", "mul_ changes the gradients that came in.")
def clip_e(gradients, limit):
    total = torch.stack([g.norm() for g in gradients]).norm()
    if total > limit:
        for g in gradients:
            g.mul_(limit / total)
    return gradients


@wrong(
    "clip_gradients",
    "Compared with 1 in place of limit: gradients between 1 and limit are lengthened, for a limit below 1 some stay too long.",
)
def clip_g(gradients, limit):
    total = torch.cat([g.flatten() for g in gradients]).norm()
    if total > 1.0:
        return [g / total * limit for g in gradients]
    return [g.clone() for g in gradients]


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


@wrong("average_checkpoints", "The first checkpoint is counted in the number but not in the sum.")
def average_checkpoints_d(checkpoints):
    out = {k: torch.zeros_like(v) for k, v in checkpoints[0].items()}
    for c in checkpoints[1:]:
        for k, v in c.items():
            out[k] += v / len(checkpoints)
    return out


# ---------------------------------------------------------------- chapter 17


@wrong("next_token", "The positions' logits are averaged before the argmax.")
def next_token_d(logits):
    return logits.mean(dim=1).argmax(dim=-1)


@wrong(
    "temperature_probabilities",
    "softmax(logits) ** (1/T) underflows for unlikely tokens, and is not normalised again.",
)
def temperature_d(logits, temperature):
    return torch.softmax(logits, -1) ** (1 / temperature)


@wrong(
    "top_k_probabilities",
    "The threshold is taken from the first sentence for the whole batch; right for B = 1.",
)
def top_k_d(logits, k):
    kth = torch.topk(logits, k).values[0, -1]
    return logits.masked_fill(logits < kth, -1e30).softmax(-1)


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


@wrong("embed_next", "Scaled by the root of D, which the sheet says is not done here.")
def embed_next_c(tokens, past, weight, table):
    t = tokens.size(1)
    return weight[tokens] * math.sqrt(weight.size(1)) + table[past : past + t]


@wrong("embed_next", "Off by one: the first new token is put at position past + 1.")
def embed_next_d(tokens, past, weight, table):
    positions = torch.arange(past + 1, past + 1 + tokens.shape[1]).clamp(max=table.size(0) - 1)
    return weight[tokens] + table[positions]


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


@wrong(
    "length_normalised",
    "The power is applied to the whole quotient's amount: -(|score| / length)^alpha.",
)
def length_normalised_c(score, length, alpha):
    return -((abs(score) / length) ** alpha)
