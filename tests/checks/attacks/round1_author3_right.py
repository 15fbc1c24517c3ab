"""Round 1, author 3: what is right, as it was written from the docstrings alone."""

from kit import wrong, right

import functools
import heapq
import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@right("number_of_targets", "by recursion, halving the length")
def number_of_targets_r1(vocab_size, length):
    if length == 0:
        return 1
    half = number_of_targets_r1(vocab_size, length // 2)
    return half * half * (vocab_size if length % 2 else 1)


@right(
    "build_vocabulary",
    "words sorted by the alphabet, counted with itertools.chain, the dictionary with zip and count",
)
def build_vocabulary_r1(sentences, min_frequency):
    counts = Counter(itertools.chain.from_iterable(sentences))
    words = sorted(w for w in counts if counts[w] >= min_frequency)
    return dict(zip(["<pad>", "<sos>", "<eos>", "<unk>", *words], itertools.count()))


@right("encode", "map with a closure, and unpacking")
def encode_r1(tokens, vocabulary):
    unknown = vocabulary["<unk>"]
    look_up = functools.partial(lambda table, t: table[t] if t in table else unknown, vocabulary)
    return [*map(look_up, tokens), vocabulary["<eos>"]]


@right("text_to_ids", "a defaultdict made from the vocabulary")
def text_to_ids_r1(text, tokenize, vocabulary):
    table = defaultdict(lambda: 3, vocabulary)
    ids = []
    for token in tokenize(text):
        ids.append(table[token])
    ids.append(2)
    return ids


@right("training_words", "a sorted list, counted by hand")
def training_words_r1(splits, min_frequency):
    counts = {}
    for sentence in splits["train"]:
        for word in sentence:
            counts[word] = counts.get(word, 0) + 1
    return sorted(filter(lambda w: counts[w] >= min_frequency, counts))


@right("collate", "zip_longest and a transposed tensor")
def collate_r1(rows):
    columns = list(itertools.zip_longest(*rows, fillvalue=0))
    return torch.tensor(columns, dtype=torch.int64).reshape(-1, len(rows)).T


@right("collate", "numpy with a boolean mask of lengths")
def collate_r2(rows):
    lengths = np.array([len(r) for r in rows])
    seen = np.arange(lengths.max())[None] < lengths[:, None]
    out = np.zeros(seen.shape, dtype=np.int64)
    out[seen] = np.concatenate([np.asarray(r, dtype=np.int64) for r in rows])
    return torch.from_numpy(out)


@right("shift", "with narrow")
def shift_r1(target):
    n = target.shape[1] - 1
    return target.narrow(1, 0, n), target.narrow(1, 1, n)


@right("embedding", "a one-hot matrix product")
def embedding_r1(tokens, weight):
    one_hot = F.one_hot(tokens.long(), weight.shape[0]).to(weight.dtype)
    return torch.einsum("btv,vd->btd", one_hot, weight) * weight.shape[1] ** 0.5


@right("embedding", "a class with nn.Module's register_parameter and index_select")
class EmbeddingR2(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.register_parameter(
            "weight", nn.Parameter(torch.empty(vocab_size, d_model).normal_(std=d_model**-0.5))
        )

    def forward(self, tokens):
        rows = self.weight.index_select(0, tokens.flatten())
        return rows.unflatten(0, tokens.shape).mul(math.sqrt(rows.shape[-1]))


@right("tied_logits", "einsum")
def tied_logits_r1(x, weight):
    return torch.einsum("...d,vd->...v", x, weight)


@right("sinusoids", "numpy in double precision, cosine as a sine shifted by a quarter turn")
def sinusoids_r1(length, d_model):
    column = np.arange(d_model)
    angle = np.arange(length, dtype=np.float64)[:, None] * 10000.0 ** (
        -(column - column % 2) / d_model
    )
    return torch.from_numpy(np.sin(angle + (column % 2) * (np.pi / 2))).float()


@right(
    "sinusoids", "complex numbers: view_as_real of polar gives cosine and sine, which are exchanged"
)
def sinusoids_r2(length, d_model):
    frequency = torch.exp(
        torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(1e4) / d_model)
    )
    angle = torch.outer(torch.arange(length, dtype=torch.float64), frequency)
    z = torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(z).flip(-1).flatten(1)[:, :d_model].float()


@right("add_positions", "row by row, stacked")
def add_positions_r1(x, table):
    return torch.stack([x[:, p] + table[p] for p in range(x.shape[1])], dim=1)


@right("softmax", "logsumexp, then exp")
def softmax_r1(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


@right("softmax", "the last entry of logcumsumexp as the denominator, in double")
def softmax_r2(scores):
    wide = scores.double()
    return torch.exp(wide - torch.logcumsumexp(wide, dim=-1)[..., -1:]).to(scores.dtype)


@right(
    "scaled_dot_product_attention",
    "query scaled first, finite smallest number for hidden keys, and the weights multiplied by the mask at the end",
)
def sdpa_r1(query, key, value, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", query / key.shape[-1] ** 0.5, key)
    if mask is None:
        return scores.softmax(-1) @ value
    weights = torch.where(mask, scores, torch.finfo(scores.dtype).min).softmax(-1)
    return (weights * mask) @ value


@right(
    "scaled_dot_product_attention",
    "an additive float mask of log(0/1), with the rows of nothing replaced before the softmax",
)
def sdpa_r2(query, key, value, mask=None):
    scores = torch.matmul(query, key.mT) * (1.0 / math.sqrt(query.size(-1)))
    if mask is not None:
        nothing = ~mask.any(dim=-1, keepdim=True)
        scores = scores + torch.log((mask | nothing).to(scores.dtype))
    out = torch.matmul(torch.softmax(scores, dim=-1), value)
    return out if mask is None else out.masked_fill(nothing, 0.0)


@right(
    "scaled_dot_product_attention",
    "exponentials by hand, with a detached maximum and a safe denominator",
)
def sdpa_r3(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) / math.sqrt(key.shape[-1])
    if mask is None:
        mask = torch.ones((), dtype=torch.bool)
    hidden = ~mask
    top = scores.masked_fill(hidden, -math.inf).amax(-1, keepdim=True).detach()
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    e = torch.exp((scores - top).masked_fill(hidden, -math.inf))
    total = e.sum(-1, keepdim=True)
    return (e @ value) / torch.where(total == 0, torch.ones_like(total), total)


@right("padding_mask", "sign, bool and view")
def padding_mask_r1(tokens):
    return tokens.sign().bool().view(len(tokens), 1, 1, -1)


@right("causal_mask", "cumulative sum of the unit matrix")
def causal_mask_r1(length):
    return torch.eye(length).cumsum(dim=1).T.bool()


@right("target_mask", "a loop over sentences and positions, numpy")
def target_mask_r1(tokens):
    b, t = tokens.shape
    out = np.zeros((b, 1, t, t), dtype=bool)
    ids = tokens.numpy()
    for s in range(b):
        for q in range(t):
            out[s, 0, q, : q + 1] = ids[s, : q + 1] != 0
    return torch.from_numpy(out)


@right("target_mask", "the lower triangle of the padding mask expanded to a square")
def target_mask_r2(tokens):
    t = tokens.size(-1)
    return tokens.ne(0)[:, None, None, :].expand(-1, 1, t, t).tril()


@right("split_heads", "chunks of features, stacked")
def split_heads_r1(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@right("merge_heads", "unbind and cat")
def merge_heads_r1(heads):
    return torch.cat(heads.unbind(1), dim=-1)


@right("multi_head_attention", "one einsum for each step, the heads as an axis of the weights")
def mha_r1(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    wq, wk, wv = (w.unflatten(0, (n_heads, -1)) for w in (w_query, w_key, w_value))
    q = torch.einsum("btd,hkd->bhtk", query, wq)
    k = torch.einsum("bsd,hkd->bhsk", key, wk)
    v = torch.einsum("bsd,hkd->bhsk", value, wv)
    scores = torch.einsum("bhtk,bhsk->bhts", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(-1).masked_fill(~mask, 0.0)
    else:
        weights = scores.softmax(-1)
    return torch.einsum("bhts,bhsk,dhk->btd", weights, v, w_output.unflatten(1, (n_heads, -1)))


@right(
    "multi_head_attention",
    "a class; head by head in a loop, each head's share of the output added up",
)
class MHAR2(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads, self.k = n_heads, d_model // n_heads
        for name in ("query", "key", "value", "output"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, query, key, value, mask=None):
        q, k, v = self.query(query), self.key(key), self.value(value)
        if mask is not None:
            mask = mask.expand(query.shape[0], self.n_heads, query.shape[1], key.shape[1])
        total = 0
        for h in range(self.n_heads):
            part = slice(h * self.k, (h + 1) * self.k)
            scores = q[..., part] @ k[..., part].mT / math.sqrt(self.k)
            if mask is not None:
                weights = torch.softmax(scores.masked_fill(~mask[:, h], -1e30), -1) * mask[:, h]
            else:
                weights = torch.softmax(scores, -1)
            total = total + (weights @ v[..., part]) @ self.output.weight[:, part].T
        return total


@right("layer_norm", "torch.var_mean with correction=0, and addcmul")
def layer_norm_r1(x, weight, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(var + eps), weight)


@right("layer_norm", "centred by a matrix, the variance as a squared length over D")
def layer_norm_r2(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    centre = torch.eye(d, dtype=torch.float64) - 1.0 / d
    c = x.double() @ centre
    var = torch.einsum("...d,...d->...", c, c).unsqueeze(-1) / d
    return (c / (var + eps).sqrt()).to(x.dtype) * weight + bias


@right("dropout", "torch.where, with the case p = 1 by itself")
def dropout_r1(x, p, keep, training):
    if not training:
        return x
    if p == 1:
        return torch.zeros_like(x)
    return torch.where(keep, x * (1.0 / (1.0 - p)), torch.zeros((), dtype=x.dtype))


@right("feed_forward", "einsum and clamp, the bias first")
def feed_forward_r1(x, w1, b1, w2, b2):
    hidden = (b1 + torch.einsum("...d,fd->...f", x, w1)).clamp(min=0)
    return b2 + torch.einsum("...f,df->...d", hidden, w2)


@right("group_sort", "pairs on an axis of their own, sorted")
def group_sort_r1(x):
    return x.unflatten(-1, (-1, 2)).sort(dim=-1).values.flatten(-2)


@right("group_sort", "two torch.where into an empty tensor")
def group_sort_r2(x):
    a, b = x[..., ::2], x[..., 1::2]
    out = torch.empty_like(x)
    out[..., ::2] = torch.where(a <= b, a, b)
    out[..., 1::2] = torch.where(a <= b, b, a)
    return out


@right("encoder_layer", "sublayers as a list of closures, folded with reduce")
def encoder_layer_r1(x, mask, attention, feed_forward, norm1, norm2):
    def attend(y):
        h = norm1(y)
        return attention(h, h, h, mask)

    return functools.reduce(
        lambda y, sub: y + sub(y), [attend, lambda y: feed_forward(norm2(y))], x
    )


@right("decoder_layer", "an inner function for the residual, norms from an iterator")
def decoder_layer_r1(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    following = iter(norms)

    def residual(y, sublayer):
        return y + sublayer(next(following)(y))

    x = residual(x, lambda h: self_attention(h, h, h, target_mask))
    x = residual(x, lambda h: cross_attention(h, memory, memory, memory_mask))
    return residual(x, feed_forward)


@right("causal_self_attention", "prefix by prefix in a loop, the mode ignored")
def causal_self_attention_r1(x, training):
    rows = []
    for t in range(x.shape[1]):
        prefix = x[:, : t + 1]
        scores = torch.einsum("bd,bsd->bs", x[:, t], prefix) / x.shape[-1] ** 0.5
        rows.append(torch.einsum("bs,bsd->bd", scores.softmax(-1), prefix))
    return torch.stack(rows, dim=1)


@right(
    "cross_entropy", "logsumexp minus the right logit, by a one-hot sum, padding filled with zeros"
)
def cross_entropy_r1(logits, target):
    right_one = F.one_hot(target, logits.shape[-1]).bool()
    chosen = torch.where(right_one, logits, torch.zeros_like(logits)).sum(-1)
    nll = torch.logsumexp(logits, -1) - chosen
    real = target > 0
    return nll.masked_fill(~real, 0.0).sum() / real.sum()


@right("label_smoothed_loss", "the smoothed distribution made explicitly, in flat form")
def label_smoothed_loss_r1(logits, target, smoothing):
    v = logits.shape[-1]
    flat, ids = logits.reshape(-1, v), target.reshape(-1)
    keep = ids.nonzero().squeeze(1)
    flat, ids = flat[keep], ids[keep]
    logp = flat - flat.logsumexp(1, keepdim=True)
    q = torch.eye(v, dtype=logits.dtype)[ids] * (1 - smoothing) + smoothing / v
    return -torch.einsum("nv,nv->", q, logp) / len(ids)


@right("inverse_sqrt_schedule", "with if and else instead of min")
def inverse_sqrt_schedule_r1(update, d_model, warmup):
    if update < warmup:
        return update / (math.sqrt(d_model) * warmup * math.sqrt(warmup))
    return 1 / math.sqrt(d_model * update)


@right("clip_gradients", "math.hypot over the tensors' lengths, in double")
def clip_gradients_r1(gradients, limit):
    total = math.hypot(*[torch.linalg.vector_norm(g.double()).item() for g in gradients])
    if total <= limit:
        return [g.clone() for g in gradients]
    return [(g.double() * (limit / total)).to(g.dtype) for g in gradients]


@right("average_checkpoints", "a running mean in double")
def average_checkpoints_r1(checkpoints):
    mean = {}
    for n, checkpoint in enumerate(checkpoints, start=1):
        for name, weight in checkpoint.items():
            old = mean.get(name, torch.zeros_like(weight, dtype=torch.float64))
            mean[name] = old + (weight.double() - old) / n
    return {name: mean[name].to(checkpoints[0][name].dtype) for name in mean}


@right("top_k_probabilities", "sorted, cut, and scattered back into zeros after the softmax")
def top_k_probabilities_r1(logits, k):
    order = logits.argsort(dim=-1, descending=True)[..., :k]
    best = torch.softmax(logits.gather(-1, order), dim=-1)
    return torch.zeros_like(logits).scatter(-1, order, best)


@right("greedy_search", "recursion")
def greedy_search_r1(step, max_length):
    def rest(ids, left):
        if left == 0:
            return []
        token = step(torch.tensor([ids])).argmax(-1).item()
        return [] if token == 2 else [token, *rest(ids + [token], left - 1)]

    return rest([1], max_length)


@right(
    "greedy_batch", "a table filled in place, the state kept in a Python list, cut to what was used"
)
def greedy_batch_r1(step, n_sentences, max_length):
    ids = torch.zeros(n_sentences, max_length + 1, dtype=torch.long)
    ids[:, 0] = 1
    ended, used = [False] * n_sentences, 0
    while used < max_length and not all(ended):
        best = step(ids[:, : used + 1]).argmax(dim=-1).tolist()
        used += 1
        for i, token in enumerate(best):
            if not ended[i]:
                ids[i, used] = token
                ended[i] = token == 2
    return ids[:, 1 : used + 1]


@right("beam_search", "heapq.nlargest over plain tuples, in Python floats")
def beam_search_r1(step, beam_size, max_length):
    living, done = [(0.0, (1,))], []
    for _ in range(max_length):
        table = step(torch.tensor([ids for _, ids in living])).tolist()
        options = (
            (score + p, ids + (token,))
            for (score, ids), row in zip(living, table)
            for token, p in enumerate(row)
        )
        living = []
        for score, ids in heapq.nlargest(beam_size, options, key=lambda option: option[0]):
            (done if ids[-1] == 2 else living).append((score, ids))
        if not living:
            break
    best = max(done + living, key=lambda option: option[0])[1]
    return [token for token in best[1:] if token != 2]


@right("embed_next", "index_select of both tables, positions as an arange from past")
def embed_next_r1(tokens, past, weight, table):
    positions = torch.arange(past, past + tokens.shape[1])
    return F.embedding(tokens, weight) + F.embedding(positions, table)


@right("reorder_cache", "picked row by row and stacked")
def reorder_cache_r1(cache, rows):
    chosen = [int(r) for r in rows]
    return [tuple(torch.stack([part[r] for r in chosen]) for part in pair) for pair in cache]


@right("cut_at_end", "itertools.takewhile")
def cut_at_end_r1(ids):
    return list(itertools.takewhile(lambda token: token != 2, ids))
