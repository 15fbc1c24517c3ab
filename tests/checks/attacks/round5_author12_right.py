"""Round 5, author 12: what is right, as it was written from the docstrings alone."""

from kit import wrong, right
import heapq
import itertools
import math
from collections import Counter
from functools import lru_cache, reduce
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@right("number_of_targets", "a product in a loop, whole numbers only")
def number_of_targets_r1(vocab_size, length):
    return math.prod(itertools.repeat(vocab_size, length))


@right("build_vocabulary", "sorted by falling frequency, chained lists")
def build_vocabulary_r1(sentences, min_frequency):
    counts = Counter(itertools.chain.from_iterable(sentences))
    words = sorted((w for w in counts if counts[w] >= min_frequency), key=lambda w: (-counts[w], w))
    return dict(zip(["<pad>", "<sos>", "<eos>", "<unk>", *words], itertools.count()))


@right("encode", "try and except")
def encode_r1(tokens, vocabulary):
    ids = []
    for token in tokens:
        try:
            ids.append(vocabulary[token])
        except KeyError:
            ids.append(3)
    return [*ids, 2]


@right("text_to_ids", "a generator that ends with 2")
def text_to_ids_r1(text, tokenize, vocabulary):
    def ids():
        for token in tokenize(text):
            yield vocabulary[token] if token in vocabulary else 3
        yield 2

    return list(ids())


@right("training_words", "a dictionary counted by hand")
def training_words_r1(splits, min_frequency):
    times = {}
    for sentence in splits["train"]:
        for word in sentence:
            times[word] = times.get(word, 0) + 1
    return sorted(filter(lambda w: times[w] >= min_frequency, times))


@right("collate", "zip_longest, transposed back")
def collate_r1(rows):
    return torch.tensor(list(zip(*itertools.zip_longest(*rows, fillvalue=0))), dtype=torch.long)


@right("collate", "boolean mask filled with the flat ids, by numpy")
def collate_r2(rows):
    lengths = np.array([len(r) for r in rows])
    mask = np.arange(lengths.max()) < lengths[:, None]
    out = np.zeros(mask.shape, dtype=np.int64)
    out[mask] = np.concatenate([np.asarray(r, dtype=np.int64) for r in rows])
    return torch.from_numpy(out)


@right("shift", "narrow")
def shift_r1(target):
    n = target.size(1) - 1
    return target.narrow(1, 0, n), target.narrow(1, 1, n)


@right("embedding", "one-hot times matrix")
def embedding_r1(tokens, weight):
    return F.one_hot(tokens, weight.size(0)).to(weight.dtype) @ (weight * weight.size(1) ** 0.5)


class EmbeddingR2(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model) / math.sqrt(d_model))

    def forward(self, tokens):
        flat = self.weight.index_select(0, tokens.reshape(-1))
        return math.sqrt(self.weight.shape[-1]) * flat.reshape(*tokens.shape, -1)


right("embedding", "a class with index_select")(EmbeddingR2)


@right("tied_logits", "einsum")
def tied_logits_r1(x, weight):
    return torch.einsum("btd,vd->btv", x, weight)


@right("sinusoids", "stacked and flattened, in double precision")
def sinusoids_r1(length, d_model):
    p = torch.arange(length, dtype=torch.float64)
    rate = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    a = torch.outer(p, rate)
    return torch.stack([a.sin(), a.cos()], dim=-1).flatten(1).float()


@right("sinusoids", "two Python loops with a cache")
def sinusoids_r2(length, d_model):
    @lru_cache(maxsize=None)
    def rate(i):
        return 10000 ** (2 * i / d_model)

    out = torch.zeros(length, d_model)
    for p in range(length):
        for i in range(d_model // 2):
            out[p, 2 * i] = math.sin(p / rate(i))
            out[p, 2 * i + 1] = math.cos(p / rate(i))
    return out


@right("add_positions", "embedding look-up of an arange")
def add_positions_r1(x, table):
    return F.embedding(torch.arange(x.size(1), device=x.device), table).expand_as(x) + x


@right("softmax", "by logsumexp")
def softmax_r1(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


@right("softmax", "the maximum is detached, the sum with einsum")
def softmax_r2(scores):
    top = scores.detach().max(dim=-1, keepdim=True).values
    e = (scores - top).exp()
    return e * (1 / torch.einsum("...i->...", e)).unsqueeze(-1)


@right("scaled_dot_product_attention", "finite fill before, zero fill behind")
def attention_r1(query, key, value, mask=None):
    scores = (query * key.size(-1) ** -0.5) @ key.mT
    if mask is None:
        return scores.softmax(-1) @ value
    weights = scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1)
    return weights.masked_fill(~mask, 0) @ value


@right("scaled_dot_product_attention", "exp by hand with a safe denominator, einsum")
def attention_r2(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query, key) / math.sqrt(key.shape[-1])
    if mask is None:
        mask = torch.ones_like(s, dtype=torch.bool)
    lowest = torch.finfo(s.dtype).min
    top = torch.where(mask, s, lowest).amax(-1, keepdim=True).detach()
    e = torch.where(
        mask, torch.where(mask, s - top, torch.zeros_like(s)).exp(), torch.zeros_like(s)
    )
    total = e.sum(-1, keepdim=True)
    return torch.einsum(
        "...ts,...sk->...tk", e / torch.where(total > 0, total, torch.ones_like(total)), value
    )


@right("padding_mask", "reshape of the booleans")
def padding_mask_r1(tokens):
    return torch.ne(tokens, 0).reshape(tokens.shape[0], 1, 1, tokens.shape[1])


@right("causal_mask", "by comparing two aranges")
def causal_mask_r1(length):
    p = torch.arange(length)
    return p[:, None] >= p


@right("causal_mask", "list of lists")
def causal_mask_r2(length):
    return torch.tensor(
        [[s <= t for s in range(length)] for t in range(length)], dtype=torch.bool
    ).reshape(length, length)


@right("target_mask", "loops over all three axes")
def target_mask_r1(tokens):
    B, T = tokens.shape
    mask = torch.zeros(B, 1, T, T, dtype=torch.bool)
    for b in range(B):
        for t in range(T):
            mask[b, 0, t, : t + 1] = tokens[b, : t + 1] != 0
    return mask


@right("target_mask", "tril of the expanded padding mask")
def target_mask_r2(tokens):
    T = tokens.size(1)
    real = tokens.bool()[:, None, None, :].expand(-1, 1, T, T)
    return real.to(torch.uint8).tril() == 1


@right("split_heads", "chunks stacked")
def split_heads_r1(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@right("merge_heads", "concatenation of the heads")
def merge_heads_r1(heads):
    return torch.cat(heads.unbind(dim=1), dim=-1)


@right("merge_heads", "permute and flatten")
def merge_heads_r2(heads):
    return heads.permute(0, 2, 1, 3).flatten(start_dim=2)


@right("multi_head_attention", "the sum of each head's share of the output, in a loop")
def mha_r1(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    D = query.size(-1)
    K = D // n_heads
    if mask is not None and mask.dim() == 4:
        mask = mask.squeeze(1)
    out = 0
    for h in range(n_heads):
        rows = slice(h * K, (h + 1) * K)
        q = query @ w_query[rows].T
        k = key @ w_key[rows].T
        v = value @ w_value[rows].T
        s = q @ k.mT / K**0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, -math.inf))
        out = out + s.softmax(-1) @ v @ w_output[:, rows].T
    return out


class MhaR2(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            f(x).unflatten(-1, (self.n_heads, -1))
            for f, x in ((self.query, query), (self.key, key), (self.value, value))
        )
        s = torch.einsum("bthk,bshk->bhts", q, k) / math.sqrt(q.size(-1))
        if mask is not None:
            s = s.masked_fill(mask.logical_not(), float("-inf"))
        return self.output(torch.einsum("bhts,bshk->bthk", s.softmax(-1), v).flatten(2))


right("multi_head_attention", "a class with einsum and without biases")(MhaR2)


@right("layer_norm", "var_mean and rsqrt")
def layer_norm_r1(x, weight, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(var + eps), weight)


@right("layer_norm", "biased variance from dot products of the centred vector")
def layer_norm_r2(x, weight, bias, eps=1e-5):
    D = x.shape[-1]
    c = x - x.sum(-1, keepdim=True) / D
    var = torch.einsum("...d,...d->...", c, c)[..., None] / D
    return weight * c * (var + eps) ** -0.5 + bias


@right("layer_norm_parameters", "nn.Parameter")
def layer_norm_parameters_r1(d_model):
    return nn.Parameter(torch.full((d_model,), 1.0)), nn.Parameter(torch.full((d_model,), 0.0))


@right("pre_norm", "functions composed with reduce")
def pre_norm_r1(x, sublayer, norm):
    return torch.add(reduce(lambda v, f: f(v), (norm, sublayer), x), x)


@right("post_norm", "a closure")
def post_norm_r1(x, sublayer, norm):
    def residual(v):
        return sublayer(v) + v

    return norm(residual(x))


@right("dropout", "torch.where with the enlarged entries")
def dropout_r1(x, p, keep, training):
    if not training:
        return x
    return torch.where(keep, x / (1.0 - p), torch.zeros((), dtype=x.dtype))


@right("feed_forward", "einsum, clamp")
def feed_forward_r1(x, w1, b1, w2, b2):
    h = torch.einsum("btd,fd->btf", x, w1).add(b1)
    return F.linear(torch.where(h > 0, h, torch.zeros_like(h)), w2) + b2


@right("group_sort", "sort of the unflattened pairs")
def group_sort_r1(x):
    return torch.sort(x.reshape(*x.shape[:-1], -1, 2), dim=-1).values.reshape(x.shape)


@right("group_sort", "where, stacked again")
def group_sort_r2(x):
    a, b = x[..., 0::2], x[..., 1::2]
    swap = a > b
    low, high = torch.where(swap, b, a), torch.where(swap, a, b)
    return torch.stack((low, high), -1).flatten(-2)


@right("encoder_layer", "a list of sublayers in a loop")
def encoder_layer_r1(x, mask, attention, feed_forward, norm1, norm2):
    for norm, f in ((norm1, lambda h: attention(h, h, h, mask)), (norm2, feed_forward)):
        x = f(norm(x)) + x
    return x


@right("decoder_layer", "a list of sublayers in a loop")
def decoder_layer_r1(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    steps = [
        lambda h: self_attention(h, h, h, target_mask),
        lambda h: cross_attention(h, memory, memory, memory_mask),
        feed_forward,
    ]
    for norm, f in zip(norms, steps):
        x = x + f(norm(x))
    return x


@right("causal_self_attention", "position by position, over the prefix only")
def causal_self_attention_r1(x, training):
    rows = []
    for t in range(x.size(1)):
        prefix = x[:, : t + 1]
        w = (torch.einsum("bd,bsd->bs", x[:, t], prefix) / x.size(-1) ** 0.5).softmax(-1)
        rows.append(torch.einsum("bs,bsd->bd", w, prefix))
    return torch.stack(rows, dim=1)


@right("make_stack", "a plain list that grows")
def make_stack_r1(make_layer, n_layers):
    layers = []
    while len(layers) < n_layers:
        layers.append(make_layer())
    return layers


@right("transformer_forward", "causal part by aranges, padding of the target in it")
def transformer_forward_r1(source, target, embed_source, embed_target, encoder, decoder, output):
    B, T = target.shape
    see = source.ne(0).view(B, 1, 1, -1)
    p = torch.arange(T)
    target_mask = (p[None, None, :, None] >= p) & target.ne(0).view(B, 1, 1, T)
    return output(
        decoder(embed_target(target), encoder(embed_source(source), see), target_mask, see)
    )


@right("cross_entropy", "logsumexp less the right logit, real tokens only")
def cross_entropy_r1(logits, target):
    real = target != 0
    z, y = logits[real], target[real]
    return (torch.logsumexp(z, -1) - z[torch.arange(len(y)), y]).mean()


@right("label_smoothed_loss", "a soft target distribution")
def label_smoothed_r1(logits, target, smoothing):
    V = logits.size(-1)
    real = target != 0
    soft = F.one_hot(target[real], V).to(logits.dtype) * (1 - smoothing) + smoothing / V
    return -(soft * F.log_softmax(logits[real], dim=-1)).sum() / real.sum()


@right("perplexity", "weighted mean by fsum")
def perplexity_r1(losses, counts):
    return math.exp(math.fsum(l * c for l, c in zip(losses, counts)) / sum(counts))


@right("inverse_sqrt_schedule", "the two branches written out")
def schedule_r1(update, d_model, warmup):
    if update < warmup:
        return update / (math.sqrt(d_model) * warmup * math.sqrt(warmup))
    return 1 / math.sqrt(d_model * update)


@right("clip_gradients", "one factor, at most 1, from the flat vector")
def clip_r1(gradients, limit):
    length = torch.linalg.vector_norm(torch.cat([g.reshape(-1) for g in gradients]))
    factor = torch.clamp(limit / (length + 1e-6), max=1.0)
    return [g * factor for g in gradients]


@right("training_update", "zero_grad at the end, clipped by hand")
def training_update_r1(model, optimizer, compute_loss):
    compute_loss().backward()
    with torch.no_grad():
        grads = [p.grad for p in model.parameters() if p.grad is not None]
        total = torch.sqrt(sum((g**2).sum() for g in grads))
        if total > 1:
            for g in grads:
                g.div_(total)
    optimizer.step()
    optimizer.zero_grad()


@right("accumulated_update", "the mean of all parts' losses, one backward")
def accumulated_update_r1(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    torch.stack([compute_loss(part) for part in parts]).mean().backward()
    optimizer.step()
    scheduler.step()


@right("best_checkpoint", "min over the places, loss summed over tokens")
def best_checkpoint_r1(checkpoints, batches, loss_of):
    return min(
        range(len(checkpoints)),
        key=lambda i: sum(len(b) * float(loss_of(checkpoints[i], b)) for b in batches),
    )


@right("average_checkpoints", "a running mean with the right weights")
def average_checkpoints_r1(checkpoints):
    mean = {}
    for n, c in enumerate(checkpoints, 1):
        for k, v in c.items():
            mean[k] = v.clone() if n == 1 else mean[k] + (v - mean[k]) / n
    return mean


@right("next_token", "topk of the last position")
def next_token_r1(logits):
    return logits.select(1, -1).topk(1, dim=-1).indices.squeeze(-1)


@right("temperature_probabilities", "by logsumexp of the divided logits")
def temperature_r1(logits, temperature):
    z = logits / temperature
    return (z - z.logsumexp(-1, keepdim=True)).exp()


@right("top_k_probabilities", "softmax over the k and scatter")
def top_k_r1(logits, k):
    top = logits.topk(k, dim=-1)
    return torch.zeros_like(logits).scatter(1, top.indices, top.values.softmax(-1))


@right("greedy_search", "recursion")
def greedy_r1(step, max_length):
    def go(ids):
        if len(ids) > max_length:
            return ids[1:]
        n = step(torch.tensor([ids])).argmax(-1).item()
        return ids[1:] if n == 2 else go(ids + [n])

    return go([1])


@right("greedy_batch", "Python lists, one for each sentence")
def greedy_batch_r1(step, n_sentences, max_length):
    rows = [[1] for _ in range(n_sentences)]
    for _ in range(max_length):
        best = step(torch.tensor(rows)).argmax(-1).tolist()
        for row, n in zip(rows, best):
            row.append(0 if 2 in row else n)
        if all(2 in row for row in rows):
            break
    return torch.tensor([row[1:] for row in rows])


@right("beam_search", "heapq.nlargest over all continuations")
def beam_r1(step, beam_size, max_length):
    alive, aside = [(0.0, (1,))], []
    for _ in range(max_length):
        logp = step(torch.tensor([ids for _, ids in alive])).tolist()
        everything = (
            (s + lp, ids + (v,)) for (s, ids), row in zip(alive, logp) for v, lp in enumerate(row)
        )
        kept = heapq.nlargest(beam_size, everything, key=lambda h: h[0])
        aside += [h for h in kept if h[1][-1] == 2]
        alive = [h for h in kept if h[1][-1] != 2]
        if not alive:
            break
    _, ids = max(aside + alive, key=lambda h: h[0])
    return [i for i in ids[1:] if i != 2]


@right("embed_next", "positions looked up by an arange that starts at past")
def embed_next_r1(tokens, past, weight, table):
    places = past + torch.arange(tokens.size(-1))
    return F.embedding(places, table) + F.embedding(tokens, weight)


@right("reorder_cache", "rows stacked one by one")
def reorder_cache_r1(cache, rows):
    return [tuple(torch.stack([part[int(r)] for r in rows]) for part in pair) for pair in cache]


@right("length_normalised", "by a negative power")
def length_normalised_r1(score, length, alpha):
    return score * math.pow(length, -alpha)


@right("cut_at_end", "takewhile")
def cut_at_end_r1(ids):
    return list(itertools.takewhile(lambda i: i != 2, ids))


@right("sublayer_with_dropout", "one step a line, added at the end")
def sublayer_with_dropout_r1(x, sublayer, norm, dropout):
    branch = norm(x)
    branch = sublayer(branch)
    branch = dropout(branch)
    return torch.add(branch, x)
