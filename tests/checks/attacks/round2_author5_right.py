"""Round 2, author 5: what is right, as it was written from the docstrings alone."""

from kit import wrong, right

import heapq
import itertools
import math
from collections import defaultdict
from fractions import Fraction
from functools import lru_cache, reduce

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@right("number_of_targets", "recursion by squaring, whole numbers only")
def number_of_targets_r1(vocab_size, length):
    if length == 0:
        return 1
    half = number_of_targets_r1(vocab_size, length // 2)
    return half * half * (vocab_size if length % 2 else 1)


@right(
    "build_vocabulary",
    "a defaultdict counted by hand, ids by a counter, words from rare to frequent",
)
def build_vocabulary_r1(sentences, min_frequency):
    often = defaultdict(int)
    for word in itertools.chain(*sentences):
        often[word] += 1
    numbers = itertools.count()
    vocabulary = {name: next(numbers) for name in ("<pad>", "<sos>", "<eos>", "<unk>")}
    for word in sorted(often, key=often.__getitem__):
        if not often[word] < min_frequency:
            vocabulary[word] = next(numbers)
    return vocabulary


@right("encode", "a generator with try and except")
def encode_r1(tokens, vocabulary):
    def numbers():
        for token in tokens:
            try:
                yield vocabulary[token]
            except KeyError:
                yield 3
        yield 2

    return list(numbers())


@right("collate", "zip_longest, then transposed")
def collate_r1(rows):
    return torch.tensor(list(itertools.zip_longest(*rows, fillvalue=0))).t().contiguous()


@right("collate", "one flat tensor, put where a boolean mask is true")
def collate_r2(rows):
    lengths = torch.tensor([len(row) for row in rows])
    places = torch.arange(int(lengths.max())) < lengths[:, None]
    out = torch.zeros(places.shape, dtype=torch.int64)
    out[places] = torch.tensor([token for row in rows for token in row], dtype=torch.int64)
    return out


@right("shift", "narrow, and roll before cutting")
def shift_r1(target):
    length = target.shape[1] - 1
    return target.narrow(1, 0, length), torch.roll(target, -1, 1)[:, :length]


@right("embedding", "one-hot matrix product, with the number of classes given")
def embedding_r1(tokens, weight):
    V, D = weight.shape
    return torch.einsum("btv,vd->btd", F.one_hot(tokens, V).to(weight.dtype), weight) * D**0.5


class EmbeddingR2(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model).normal_(0, d_model**-0.5))

    def forward(self, tokens):
        rows = self.weight.index_select(0, tokens.flatten())
        return rows.mul(math.sqrt(rows.shape[-1])).unflatten(0, tokens.shape)


right("embedding", "a class, index_select over the flattened tokens")(EmbeddingR2)


@right("sinusoids", "imaginary exponential in double precision, real and imaginary part")
def sinusoids_r1(length, d_model):
    p = np.arange(length)[:, None]
    i = np.arange(d_model // 2)[None, :]
    turn = np.exp(1j * p * 10000.0 ** (-2 * i / d_model))
    out = np.empty((length, d_model))
    out[:, ::2], out[:, 1::2] = turn.imag, turn.real
    return torch.from_numpy(out).float()


@right("add_positions", "position by position, then stacked")
def add_positions_r1(x, table):
    return torch.stack([vector + table[p] for p, vector in enumerate(x.unbind(1))], dim=1)


@right("softmax", "exp of the score minus logsumexp")
def softmax_r1(scores):
    return (scores - scores.logsumexp(-1, keepdim=True)).exp()


@right(
    "scaled_dot_product_attention",
    "finite filling, mask again after the softmax; query and key both divided by the fourth root",
)
def sdpa_r1(query, key, value, mask=None):
    quarter = key.shape[-1] ** -0.25
    scores = torch.einsum("...tk,...sk->...ts", query * quarter, key * quarter)
    if mask is None:
        return torch.einsum("...ts,...sk->...tk", scores.softmax(-1), value)
    weights = torch.where(mask, scores, torch.finfo(scores.dtype).min).softmax(-1)
    return torch.einsum("...ts,...sk->...tk", torch.where(mask, weights, 0.0), value)


@right("padding_mask", "truth value of the numbers, reshaped")
def padding_mask_r1(tokens):
    return tokens.bool().reshape(len(tokens), 1, 1, -1)


@right("causal_mask", "cumulative sum of the unit matrix")
def causal_mask_r1(length):
    return torch.eye(length, dtype=torch.long).cumsum(0).bool()


@right("target_mask", "cumulative maximum of one-hot matrices of real tokens")
def target_mask_r1(tokens):
    real = tokens.ne(0).long()
    return torch.diag_embed(real).cumsum(-2).bool().unsqueeze(1)


@right("split_heads", "chunks, stacked")
def split_heads_r1(x, n_heads):
    return torch.stack(torch.tensor_split(x, n_heads, dim=2), dim=1)


@right("merge_heads", "concatenated by a loop over the heads")
def merge_heads_r1(heads):
    return reduce(
        lambda left, h: torch.cat((left, heads[:, h]), -1), range(1, heads.shape[1]), heads[:, 0]
    )


@right("multi_head_attention", "einsum throughout, heads as an axis of the weights")
def multi_head_attention_r1(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    K = w_query.shape[0] // n_heads
    wq, wk, wv = (w.unflatten(0, (n_heads, K)) for w in (w_query, w_key, w_value))
    q = torch.einsum("btd,hkd->bhtk", query, wq)
    k = torch.einsum("bsd,hkd->bhsk", key, wk)
    v = torch.einsum("bsd,hkd->bhsk", value, wv)
    scores = torch.einsum("bhtk,bhsk->bhts", q, k).div(K**0.5)
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -math.inf)
    out = torch.einsum("bhts,bhsk->bhtk", scores.softmax(3), v)
    return torch.einsum("bhtk,dhk->btd", out, w_output.unflatten(1, (n_heads, K)))


class MultiHeadR2(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n_heads = n_heads
        for name in ("query", "key", "value", "output"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, query, key, value, mask=None):
        heads = lambda x: x.unflatten(-1, (self.n_heads, -1)).movedim(2, 1)
        q, k, v = heads(self.query(query)), heads(self.key(key)), heads(self.value(value))
        scores = q.matmul(k.mT) * q.size(-1) ** -0.5
        if mask is not None:
            scores = scores.masked_fill(mask == False, -1e30)
        return self.output(scores.softmax(-1).matmul(v).movedim(1, 2).flatten(-2))


right("multi_head_attention", "a class with linear layers without bias")(MultiHeadR2)


@right("layer_norm", "centred twice against rounding, then a power of -0.5 and addcmul")
def layer_norm_r1(x, weight, bias, eps=1e-5):
    D = x.shape[-1]
    centred = x - x.sum(-1, keepdim=True) / D
    centred = centred - centred.sum(-1, keepdim=True) / D  # again, for what rounding left over
    return torch.addcmul(
        bias, centred * (centred.pow(2).sum(-1, keepdim=True) / D + eps).pow(-0.5), weight
    )


@right("dropout", "an early return, then masked_fill")
def dropout_r1(x, p, keep, training):
    if not training:
        return x
    return (x / (1.0 - p)).masked_fill(keep.logical_not(), 0.0)


@right("feed_forward", "addmm-like: linear and a threshold")
def feed_forward_r1(x, w1, b1, w2, b2):
    return F.linear(F.threshold(F.linear(x, w1, b1), 0.0, 0.0), w2, b2)


@right("group_sort", "sort over a new last axis of two")
def group_sort_r1(x):
    return x.unflatten(-1, (-1, 2)).sort(dim=-1).values.flatten(-2)


@right("decoder_layer", "a loop over the three sublayers, as closures")
def decoder_layer_r1(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    steps = (
        lambda h: self_attention(h, h, h, target_mask),
        lambda h: cross_attention(h, memory, memory, memory_mask),
        feed_forward,
    )
    for norm, step in zip(norms, steps):
        x = step(norm(x)) + x
    return x


@right("causal_self_attention", "position by position: the last query over the beginning so far")
def causal_self_attention_r1(x, training):
    out = []
    for t in range(x.shape[1]):
        seen = x[:, : t + 1]
        weights = torch.softmax((seen @ x[:, t, :, None]).squeeze(-1) / x.shape[2] ** 0.5, dim=1)
        out.append(torch.einsum("bs,bsd->bd", weights, seen))
    return torch.stack(out, 1)


@right("cross_entropy", "only the real tokens are taken, logsumexp minus the right logit")
def cross_entropy_r1(logits, target):
    real = target.ne(0)
    rows, goal = logits[real], target[real]
    return (rows.logsumexp(1) - rows[torch.arange(len(goal)), goal]).sum() / len(goal)


@right("label_smoothed_loss", "the smoothed target as a distribution, cross-entropy with it")
def label_smoothed_loss_r1(logits, target, smoothing):
    V = logits.shape[-1]
    goal = torch.full_like(logits, smoothing / V).scatter_add(
        -1, target[..., None], torch.full_like(logits[..., :1], 1 - smoothing)
    )
    losses = -(goal.detach() * logits.log_softmax(-1)).sum(-1)
    real = (target > 0).to(losses.dtype)
    return (losses * real).sum() / real.sum()


@right(
    "label_smoothed_loss",
    "two mistakes that truly cancel: ε(V − 1)/V shared among the wrong tokens only",
)
def label_smoothed_loss_r2(logits, target, smoothing):
    V = logits.shape[-1]
    share = smoothing * (V - 1) / V
    nll = logits.logsumexp(-1, keepdim=True) - logits
    picked = nll.gather(-1, target[..., None]).squeeze(-1)
    losses = (1 - share) * picked + share / (V - 1) * (nll.sum(-1) - picked)
    return losses[target != 0].mean()


@right("inverse_sqrt_schedule", "one over the larger of the reciprocals")
def inverse_sqrt_schedule_r1(update, d_model, warmup):
    return 1.0 / (math.sqrt(d_model) * max(math.sqrt(update), warmup**1.5 / update))


@right("clip_gradients", "length by nested hypot, early return of copies")
def clip_gradients_r1(gradients, limit):
    length = math.hypot(*(g.norm().item() for g in gradients))
    if not length > limit:
        return [g.clone() for g in gradients]
    return [g / length * limit for g in gradients]


@right("accumulated_update", "the gradients are summed first and divided afterwards")
def accumulated_update_r1(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    n = 0
    for part in parts:
        compute_loss(part).backward()
        n += 1
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad.div_(n)
    optimizer.step()
    scheduler.step()


@right("best_checkpoint", "min over the places, sum of losses without dividing")
def best_checkpoint_r1(checkpoints, batches, loss_of):
    def summed(i):
        return math.fsum(float(loss_of(checkpoints[i], batch)) * len(batch) for batch in batches)

    return min(range(len(checkpoints)), key=summed)


@right("average_checkpoints", "running mean")
def average_checkpoints_r1(checkpoints):
    mean = {name: torch.zeros_like(w) for name, w in checkpoints[0].items()}
    for n, checkpoint in enumerate(checkpoints, start=1):
        mean = {name: m + (checkpoint[name] - m) / n for name, m in mean.items()}
    return mean


@right("top_k_probabilities", "exponentials of the k best alone, scattered into zeros")
def top_k_probabilities_r1(logits, k):
    values, places = logits.topk(k, dim=-1)
    e = (values - values[:, :1]).exp()
    return torch.zeros_like(logits).scatter_(-1, places, e / e.sum(-1, keepdim=True))


@right("greedy_search", "a generator, taken until <eos>, at most max_length")
def greedy_search_r1(step, max_length):
    def words():
        tokens = torch.tensor([[1]])
        while True:
            new = step(tokens).argmax(-1)
            yield new.item()
            tokens = torch.hstack([tokens, new.reshape(1, 1)])

    return list(
        itertools.takewhile(lambda token: token != 2, itertools.islice(words(), max_length))
    )


@right(
    "greedy_batch",
    "what stands behind the first <eos> is found anew each time, with a cumulative sum",
)
def greedy_batch_r1(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        tokens = torch.cat([tokens, step(tokens).argmax(-1, keepdim=True)], 1)
        end = (tokens == 2).long()
        tokens = tokens.masked_fill(end.cumsum(1) - end > 0, 0)
        if end.any(1).all():
            break
    return tokens[:, 1:]


@right("beam_search", "heapq over tuples, ends as soon as no living one can win any more")
def beam_search_r1(step, beam_size, max_length):
    living, best = [(0.0, (1,))], (-math.inf, None)
    for _ in range(max_length):
        logp = step(torch.tensor([tokens for _, tokens in living])).tolist()
        every = (
            (score + lp, tokens + (t,))
            for (score, tokens), row in zip(living, logp)
            for t, lp in enumerate(row)
        )
        kept = heapq.nlargest(beam_size, every, key=lambda h: h[0])
        for h in kept:
            if h[1][-1] == 2 and h[0] > best[0]:
                best = h
        living = [h for h in kept if h[1][-1] != 2 and h[0] > best[0]]
        if not living:
            break
    score, tokens = max([best] + living, key=lambda h: h[0])
    return [t for t in tokens[1:] if t != 2]


@right("embed_next", "index tensors for both tables")
def embed_next_r1(tokens, past, weight, table):
    places = torch.arange(past, past + tokens.shape[1])
    return F.embedding(tokens, weight) + F.embedding(places, table)


@right("reorder_cache", "row by row, stacked")
def reorder_cache_r1(cache, rows):
    return [tuple(torch.stack([part[int(r)] for r in rows]) for part in layer) for layer in cache]


@right("cut_at_end", "takewhile")
def cut_at_end_r1(ids):
    return list(itertools.takewhile(lambda token: token != 2, ids))
