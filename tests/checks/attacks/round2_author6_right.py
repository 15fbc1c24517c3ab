"""Round 2, author 6: what is right, as it was written from the docstrings alone."""

from kit import wrong, right
import copy, functools, heapq, itertools, math, operator
from collections import Counter
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@right("number_of_targets", "recursion by halving, Python's whole numbers")
def number_of_targets_r1(V, L):
    if L == 0:
        return 1
    half = number_of_targets_r1(V, L // 2)
    return half * half * (V if L % 2 else 1)


@right("build_vocabulary", "most frequent first, itertools.count")
def build_vocabulary_r1(sentences, min_frequency):
    freq = Counter()
    for s in sentences:
        freq.update(s)
    words = [
        "<pad>",
        "<sos>",
        "<eos>",
        "<unk>",
        *(w for w, n in freq.most_common() if n >= min_frequency),
    ]
    return dict(zip(words, itertools.count()))


@right("encode", "a closure with map, then a star")
def encode_r1(tokens, vocabulary):
    def look_up(t):
        try:
            return vocabulary[t]
        except KeyError:
            return 3

    return [*map(look_up, tokens), 2]


@right("training_words", "sorted list and groupby")
def training_words_r1(splits, min_frequency):
    all_words = sorted(itertools.chain(*splits["train"]))
    return [w for w, grp in itertools.groupby(all_words) if sum(1 for _ in grp) >= min_frequency]


@right("collate", "zip_longest and a transposition")
def collate_r1(rows):
    return torch.tensor(list(itertools.zip_longest(*rows, fillvalue=0))).T.contiguous()


@right("shift", "torch.roll over everything, then the last column cut away")
def shift_r1(target):
    return target[:, : target.shape[1] - 1], target.roll(-1, dims=1)[:, :-1]


@right("embedding", "one-hot times matrix")
def embedding_r1(tokens, weight):
    V, D = weight.shape
    return F.one_hot(tokens, V).to(weight.dtype) @ (weight * D**0.5)


@right("embedding", "a module with a parameter and index_select")
class EmbeddingR2(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.register_buffer("scale", torch.tensor(float(d_model)).sqrt(), persistent=False)

    def forward(self, tokens):
        return self.scale * self.weight.index_select(0, tokens.reshape(-1)).view(*tokens.shape, -1)


@right("tied_logits", "einsum")
def tied_logits_r1(hidden, emb):
    return torch.einsum("btd,vd->btv", hidden, emb)


@right("sinusoids", "two loops with math in double precision")
def sinusoids_r1(length, d_model):
    rows = []
    for p in range(length):
        row = []
        for i in range(d_model // 2):
            a = p / 10000 ** (2 * i / d_model)
            row += [math.sin(a), math.cos(a)]
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float32).reshape(length, d_model)


@right("sinusoids", "complex numbers in numpy: exp(i·angle), imaginary part first")
def sinusoids_r2(length, d_model):
    omega = 10000.0 ** (-np.arange(0, d_model, 2, dtype=np.float64) / d_model)
    z = np.exp(1j * np.outer(np.arange(length), omega))
    return torch.from_numpy(np.stack([z.imag, z.real], axis=-1).reshape(length, d_model)).float()


@right("softmax", "exp(x − logsumexp)")
def softmax_r1(scores):
    return (scores - torch.logsumexp(scores, dim=-1, keepdim=True)).exp()


@right("softmax", "last axis to the front, unbound rows are summed in a loop")
def softmax_r2(scores):
    parts = scores.movedim(-1, 0)
    top = functools.reduce(torch.maximum, parts.detach().unbind(0))
    e = [torch.exp(p - top) for p in parts.unbind(0)]
    total = sum(e[1:], e[0])
    return torch.stack([x / total for x in e], dim=-1)


@right("scaled_dot_product_attention", "exp times mask, denominator 1 where nothing is visible")
def sdpa_r1(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query, key) * key.shape[-1] ** -0.5
    m = torch.ones_like(s, dtype=torch.bool) if mask is None else mask.expand(s.shape)
    s = s.masked_fill(~m, torch.finfo(s.dtype).min)
    e = torch.exp(s - s.amax(-1, keepdim=True).detach()) * m
    Z = e.sum(-1, keepdim=True)
    return torch.einsum("...ts,...sv->...tv", e / torch.where(Z > 0, Z, torch.ones_like(Z)), value)


@right(
    "scaled_dot_product_attention",
    "−inf, softmax, then masked_fill of the weights; the query is scaled first",
)
def sdpa_r2(query, key, value, mask=None):
    q = query / math.sqrt(key.size(-1))
    scores = torch.matmul(q, key.transpose(-2, -1))
    if mask is None:
        return torch.matmul(scores.softmax(-1), value)
    lonely = ~mask.any(-1, keepdim=True)
    weights = scores.masked_fill(~mask & ~lonely, -math.inf).softmax(-1).masked_fill(lonely, 0.0)
    return torch.matmul(weights, value)


@right("padding_mask", "bool() of the ids, reshaped")
def padding_mask_r1(tokens):
    B, S = tokens.shape
    return tokens.bool().reshape(B, 1, 1, S)


@right("causal_mask", "a list of lists: i Trues, then Falses")
def causal_mask_r1(length):
    return torch.tensor(
        [[True] * (i + 1) + [False] * (length - 1 - i) for i in range(length)]
    ).reshape(length, length)


@right("causal_mask", "running logical sum of the unit matrix")
def causal_mask_r2(length):
    return torch.eye(length).cumsum(0).gt(0)


@right("split_heads", "slices of the features, stacked")
def split_heads_r1(x, n_heads):
    K = x.size(2) // n_heads
    return torch.stack([x[:, :, h * K : (h + 1) * K] for h in range(n_heads)], dim=1)


@right("merge_heads", "cat of the unbound heads")
def merge_heads_r1(heads):
    return torch.cat(heads.unbind(dim=1), dim=-1)


@right(
    "multi_head_attention",
    "head by head in a loop; the output projection is summed up head by head",
)
def mha_r1(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    D = query.shape[-1]
    K = D // n_heads
    out = 0
    for h in range(n_heads):
        rows = slice(h * K, (h + 1) * K)
        q, k, v = query @ w_query[rows].T, key @ w_key[rows].T, value @ w_value[rows].T
        s = q @ k.transpose(1, 2) / math.sqrt(K)
        if mask is not None:
            m = mask if mask.dim() < 4 else mask[:, 0]
            s = s.masked_fill(~m, -math.inf)
        out = out + s.softmax(-1) @ v @ w_output[:, rows].T
    return out


@right("multi_head_attention", "a module, einsum all the way")
class MultiHeadAttentionR2(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.query, self.key = (
            nn.Linear(d_model, d_model, bias=False),
            nn.Linear(d_model, d_model, bias=False),
        )
        self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False),
            nn.Linear(d_model, d_model, bias=False),
        )

    def forward(self, query, key, value, mask=None):
        H = self.n_heads
        wq, wk, wv = (l.weight.unflatten(0, (H, -1)) for l in (self.query, self.key, self.value))
        q = torch.einsum("btd,hkd->bhtk", query, wq)
        k = torch.einsum("bsd,hkd->bhsk", key, wk)
        v = torch.einsum("bsd,hkd->bhsk", value, wv)
        a = torch.einsum("bhtk,bhsk->bhts", q, k) / wq.size(1) ** 0.5
        if mask is not None:
            a = torch.where(mask, a, a.new_tensor(-math.inf))
        return torch.einsum(
            "bhts,bhsk,dhk->btd", a.softmax(-1), v, self.output.weight.unflatten(1, (H, -1))
        )


@right("layer_norm", "torch.var_mean with correction 0 and addcmul")
def layer_norm_r1(x, weight, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(var + eps), weight)


@right("layer_norm", "a module: sums over D, the squares by einsum")
class LayerNormR2(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight, self.bias = (
            nn.Parameter(torch.ones(d_model)),
            nn.Parameter(torch.zeros(d_model)),
        )

    def forward(self, x):
        D = x.size(-1)
        c = x - x.sum(-1, keepdim=True) / D
        squares = torch.einsum("...d,...d->...", c, c).unsqueeze(-1)
        return c / (squares / D + 1e-5) ** 0.5 * self.weight + self.bias


@right("dropout", "torch.where on an enlarged copy")
def dropout_r1(x, p, keep, training):
    return torch.where(keep, x / (1.0 - p), x.new_zeros(())) if training else x


@right("group_sort", "a swap with where, stacked and flattened")
def group_sort_r1(x):
    a, b = x[..., ::2], x[..., 1::2]
    swap = a > b
    return torch.stack([torch.where(swap, b, a), torch.where(swap, a, b)], -1).flatten(-2)


@right("encoder_layer", "a residual helper with functools.reduce over the sublayers")
def encoder_layer_r1(x, mask, attention, feed_forward, norm1, norm2):
    subs = [(norm1, lambda y: attention(y, y, y, mask)), (norm2, feed_forward)]
    return functools.reduce(lambda h, sub: h + sub[1](sub[0](h)), subs, x)


@right("decoder_layer", "names after Keras: one update of x per line")
def decoder_layer_r1(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n_self, n_cross, n_ff = list(norms)

    def self_block(z):
        return self_attention(z, z, z, target_mask)

    def cross_block(z):
        return cross_attention(z, memory, memory, memory_mask)

    x = torch.add(x, self_block(n_self(x)))
    x = torch.add(x, cross_block(n_cross(x)))
    return torch.add(x, feed_forward(n_ff(x)))


@right("causal_self_attention", "position by position, only over the prefix")
def causal_self_attention_r1(x, training):
    rows = []
    for t in range(x.shape[1]):
        past = x[:, : t + 1]
        w = torch.softmax((past @ x[:, t, :, None]).squeeze(-1) / math.sqrt(x.shape[-1]), dim=-1)
        rows.append((w.unsqueeze(1) @ past).squeeze(1))
    return torch.stack(rows, dim=1)


@right("transformer_forward", "masks by comparing positions")
def transformer_forward_r1(source, target, embed_source, embed_target, encoder, decoder, output):
    see_source = source.ne(0)[:, None, None, :]
    p = torch.arange(target.size(1), device=target.device)
    see_target = (p[:, None] >= p)[None, None] & target.ne(0)[:, None, None, :]
    memory = encoder(embed_source(source), see_source)
    return output(decoder(embed_target(target), memory, see_target, see_source))


@right("cross_entropy", "logsumexp minus the right logit, real tokens picked first")
def cross_entropy_r1(logits, target):
    z, y = logits[target != 0], target[target != 0]
    return (torch.logsumexp(z, -1) - z[torch.arange(len(y)), y]).sum() / len(y)


@right("label_smoothed_loss", "the smoothed distribution is written out and multiplied")
def label_smoothed_loss_r1(logits, target, smoothing):
    V = logits.shape[-1]
    real = target != 0
    q = F.one_hot(target[real], V).to(logits.dtype) * (1 - smoothing) + smoothing / V
    return -(q * torch.log_softmax(logits[real], -1)).sum() / real.sum()


@right("perplexity", "numpy: dot product over the sum, then exp")
def perplexity_r1(losses, counts):
    l, n = np.asarray(losses, dtype=float), np.asarray(counts, dtype=float)
    return float(np.exp(l @ n / n.sum()))


@right("inverse_sqrt_schedule", "two branches, met at the peak")
def inverse_sqrt_schedule_r1(update, d_model, warmup):
    if update <= warmup:
        return update / (warmup * math.sqrt(d_model * warmup))
    return 1 / math.sqrt(d_model * update)


@right("clip_gradients", "math.hypot over all lengths, factor min(1, …)")
def clip_gradients_r1(gradients, limit):
    length = math.hypot(*(g.double().norm().item() for g in gradients))
    factor = 1.0 if length <= limit else limit / length
    return [torch.mul(g, factor) for g in gradients]


@right("training_update", "torch.autograd.grad, clipped by hand, written into .grad")
def training_update_r1(model, optimizer, compute_loss):
    ps = [p for p in model.parameters() if p.requires_grad]
    gs = torch.autograd.grad(compute_loss(), ps, allow_unused=True)
    total = sum(g.pow(2).sum() for g in gs if g is not None).sqrt()
    scale = torch.clamp(1.0 / total, max=1.0)
    for p, g in zip(ps, gs):
        p.grad = None if g is None else g * scale
    optimizer.step()
    optimizer.zero_grad()


@right("accumulated_update", "one backward for the mean of all parts' losses")
def accumulated_update_r1(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    torch.stack([compute_loss(p) for p in parts]).mean().backward()
    optimizer.step()
    scheduler.step()


@right("best_checkpoint", "the sum over all tokens ranks as the mean does; min with a key")
def best_checkpoint_r1(checkpoints, batches, loss_of):
    total = lambda i: sum(float(loss_of(checkpoints[i], b)) * len(b) for b in batches)
    return min(range(len(checkpoints)), key=total)


@right("average_checkpoints", "stack and mean in a dictionary comprehension")
def average_checkpoints_r1(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).mean(0) for k in checkpoints[0]}


@right("top_k_probabilities", "sorted ranks: argsort of argsort below k")
def top_k_probabilities_r1(logits, k):
    rank = logits.argsort(-1, descending=True).argsort(-1)
    return torch.softmax(torch.where(rank < k, logits, torch.full_like(logits, -math.inf)), -1)


@right("greedy_search", "iter with a sentinel: <eos> ends it")
def greedy_search_r1(step, max_length):
    said = [1]

    def say():
        said.append(step(torch.tensor([said])).argmax().item())
        return said[-1]

    return list(itertools.islice(iter(say, 2), max_length))


@right("greedy_batch", "lists per sentence, the padding is carried on by a test for 2 anywhere")
def greedy_batch_r1(step, n_sentences, max_length):
    rows = [[1] for _ in range(n_sentences)]
    for _ in range(max_length):
        if all(2 in r for r in rows):
            break
        best = step(torch.tensor(rows)).argmax(1).tolist()
        rows = [r + [0 if 2 in r else t] for r, t in zip(rows, best)]
    return torch.tensor(rows)[:, 1:]


@right("beam_search", "heapq.nlargest over a generator, recursion over the steps")
def beam_search_r1(step, beam_size, max_length):
    def go(live, left):
        if not live or not left:
            return live
        table = step(torch.tensor([h for _, h in live])).double().tolist()
        every = ((s + p, h + [w]) for (s, h), row in zip(live, table) for w, p in enumerate(row))
        best = heapq.nlargest(beam_size, every, key=operator.itemgetter(0))
        return [b for b in best if b[1][-1] == 2] + go([b for b in best if b[1][-1] != 2], left - 1)

    ids = max(go([(0.0, [1])], max_length), key=operator.itemgetter(0))[1]
    return ids[1:-1] if ids[-1] == 2 else ids[1:]


@right("embed_next", "F.embedding of tokens and of positions")
def embed_next_r1(tokens, past, weight, table):
    where = torch.arange(past, past + tokens.size(-1)).expand_as(tokens)
    return F.embedding(tokens, weight) + F.embedding(where, table)


@right("reorder_cache", "a stack of single rows, nested comprehensions")
def reorder_cache_r1(cache, rows):
    order = [int(r) for r in rows]
    return [
        tuple(torch.stack([t[r] for r in order]) for t in (keys, values)) for keys, values in cache
    ]


@right("length_normalised", "exp of a logarithm")
def length_normalised_r1(score, length, alpha):
    return score * math.exp(-alpha * math.log(length))


@right("cut_at_end", "a generator that returns at <eos>")
def cut_at_end_r1(ids):
    def until():
        for t in ids:
            if t == 2:
                return
            yield t

    return list(until())
