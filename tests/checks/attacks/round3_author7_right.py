"""Round 3, author 7: what is right, as it was written from the docstrings alone."""

from kit import wrong, right
import math
from collections import defaultdict
from itertools import takewhile, zip_longest
from functools import reduce
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


@right("number_of_targets", "product by reduce")
def number_of_targets_r(vocab_size, length):
    return reduce(lambda a, _: a * vocab_size, range(length), 1)


@right("build_vocabulary", "defaultdict and two loops")
def build_vocabulary_r(sentences, min_frequency):
    n = defaultdict(int)
    for s in sentences:
        for w in s:
            n[w] += 1
    words = ["<pad>", "<sos>", "<eos>", "<unk>"] + sorted(w for w in n if not n[w] < min_frequency)
    return dict(zip(words, range(len(words))))


@right("collate", "zip_longest, transposed")
def collate_r(rows):
    return torch.tensor(list(zip(*zip_longest(*rows, fillvalue=0))), dtype=torch.long)


@right("shift", "narrow")
def shift_r(target):
    n = target.size(1) - 1
    return target.narrow(1, 0, n), target.narrow(1, 1, n)


@right("embedding", "one-hot matrix product")
def embedding_r(tokens, weight):
    one = F.one_hot(tokens.long(), weight.shape[0]).to(weight.dtype)
    return (one @ weight) * weight.shape[1] ** 0.5


@right("tied_logits", "einsum")
def tied_logits_r(x, weight):
    return torch.einsum("vd,btd->btv", weight, x)


@right("sinusoids", "outer product in double, sine and cosine stacked")
def sinusoids_r(length, d_model):
    i = torch.arange(0, d_model, 2, dtype=torch.float64)
    a = torch.outer(torch.arange(length, dtype=torch.float64), 10000.0 ** (-i / d_model))
    return torch.stack([a.sin(), a.cos()], -1).reshape(length, d_model).float()


@right("softmax", "exp of scores minus logsumexp")
def softmax_r(scores):
    return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))


@right("scaled_dot_product_attention", "query scaled first, exp by hand, division by a safe sum")
def sdpa_r(query, key, value, mask=None):
    s = torch.einsum("...td,...sd->...ts", query / math.sqrt(key.shape[-1]), key)
    if mask is None:
        mask = torch.ones((), dtype=torch.bool)
    low = s.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True).detach()
    low = torch.where(torch.isfinite(low), low, torch.zeros_like(low))
    d = (s - low).masked_fill(~mask, -torch.inf)
    e = torch.exp(d)
    z = e.sum(-1, keepdim=True)
    return (e @ value) / torch.where(z == 0, torch.ones_like(z), z)


@right("padding_mask", "ne and reshape")
def padding_mask_r(tokens):
    return tokens.ne(0).reshape(tokens.shape[0], 1, 1, tokens.shape[1])


@right("causal_mask", "cumulative sum of the identity matrix")
def causal_mask_r(length):
    return torch.eye(length, dtype=torch.long).cumsum(1).T.bool()


@right("target_mask", "loops over sentences, queries and keys")
def target_mask_r(tokens):
    B, T = tokens.shape
    rows = tokens.tolist()
    m = [[[[j <= i and rows[b][j] != 0 for j in range(T)] for i in range(T)]] for b in range(B)]
    return torch.tensor(m, dtype=torch.bool)


@right("split_heads", "chunks of the features, stacked")
def split_heads_r(x, n_heads):
    return torch.stack(x.chunk(n_heads, -1), 1)


@right("merge_heads", "cat of the heads")
def merge_heads_r(heads):
    return torch.cat(heads.unbind(1), -1)


@right("multi_head_attention", "loop over the heads, the output summed head by head")
def mha_r(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    D = query.shape[-1]
    K = D // n_heads
    if mask is not None and mask.dim() == 4:
        mask = mask[:, 0]
    out = 0
    for h in range(n_heads):
        a = slice(h * K, (h + 1) * K)
        q, k, v = query @ w_query[a].T, key @ w_key[a].T, value @ w_value[a].T
        s = torch.bmm(q, k.mT) * K**-0.5
        if mask is not None:
            s = s.masked_fill(mask.logical_not(), -torch.inf)
        out = out + s.softmax(-1) @ v @ w_output[:, a].T
    return out


@right("layer_norm", "var_mean and rsqrt")
def layer_norm_r(x, weight, bias, eps=1e-5):
    v, m = torch.var_mean(x, -1, correction=0, keepdim=True)
    return torch.addcmul(bias, (x - m) * torch.rsqrt(v + eps), weight)


@right("dropout", "where, divided by 1 − p")
def dropout_r(x, p, keep, training):
    return torch.where(keep, x / (1 - p), torch.zeros_like(x)) if training else x


@right("feed_forward", "F.linear and where")
def feed_forward_r(x, w1, b1, w2, b2):
    h = F.linear(x, w1, b1)
    h = torch.where(h > 0, h, torch.zeros_like(h))
    return F.linear(h, w2, b2)


@right("group_sort", "two wheres over the even and odd features")
def group_sort_r(x):
    a, b = x[..., ::2], x[..., 1::2]
    first = a <= b
    return torch.stack((torch.where(first, a, b), torch.where(first, b, a)), -1).flatten(-2)


@right("decoder_layer", "a loop over three closures")
def decoder_layer_r(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    parts = (
        lambda n: self_attention(n, n, n, target_mask),
        lambda n: cross_attention(n, memory, memory, memory_mask),
        feed_forward,
    )
    for part, norm in zip(parts, norms):
        x = x + part(norm(x))
    return x


@right("cross_entropy", "logsumexp minus the right logit, weighted sum")
def cross_entropy_r(logits, target):
    real = target.ne(0)
    l = torch.logsumexp(logits, -1) - logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return torch.where(real, l, torch.zeros_like(l)).sum() / real.sum()


@right("label_smoothed_loss", "smoothed target distribution, selected rows")
def label_smoothed_loss_r(logits, target, smoothing):
    real = target != 0
    z, t = logits[real], target[real]
    V = z.shape[-1]
    q = F.one_hot(t, V).to(z.dtype) * (1 - smoothing) + smoothing / V
    return -(q * F.log_softmax(z, -1)).sum() / len(t)


@right("inverse_sqrt_schedule", "by cases with math.sqrt")
def inverse_sqrt_schedule_r(update, d_model, warmup):
    if update < warmup:
        return update / (warmup * math.sqrt(warmup * d_model))
    return 1 / math.sqrt(d_model * update)


@right("clip_gradients", "math.sqrt of Python sums")
def clip_gradients_r(gradients, limit):
    n = math.sqrt(sum(g.double().square().sum().item() for g in gradients))
    f = limit / n if n > limit else 1.0
    return [g * f for g in gradients]


@right("average_checkpoints", "stack and mean")
def average_checkpoints_r(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).mean(0) for k in checkpoints[0]}


@right("top_k_probabilities", "softmax of the top k, scattered")
def top_k_probabilities_r(logits, k):
    v, i = logits.topk(k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, i, torch.softmax(v, -1))


@right("greedy_search", "a generator inside")
def greedy_search_r(step, max_length):
    def tokens():
        ids = [1]
        while len(ids) <= max_length:
            n = int(step(torch.tensor([ids])).argmax())
            if n == 2:
                return
            ids.append(n)
            yield n

    return list(tokens())


@right("beam_search", "Python lists sorted at each step")
def beam_search_r(step, beam_size, max_length):
    alive, done = [(0.0, [1])], []
    for _ in range(max_length):
        rows = step(torch.tensor([h for _, h in alive])).tolist()
        c = [(s + p, h + [t]) for (s, h), r in zip(alive, rows) for t, p in enumerate(r)]
        c = sorted(c, key=lambda e: -e[0])[:beam_size]
        done += [e for e in c if e[1][-1] == 2]
        alive = [e for e in c if e[1][-1] != 2]
        if not alive:
            break
    h = max(done + alive, key=lambda e: e[0])[1][1:]
    return h[:-1] if h and h[-1] == 2 else h


@right("cut_at_end", "takewhile")
def cut_at_end_r(ids):
    return list(takewhile(lambda t: t != 2, ids))


@right("reorder_cache", "index_select")
def reorder_cache_r(cache, rows):
    r = torch.as_tensor(rows, dtype=torch.long)
    return [(k.index_select(0, r), v.index_select(0, r)) for k, v in cache]
