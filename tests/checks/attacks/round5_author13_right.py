"""Round 5, author 13: what is right, as it was written from the docstrings alone."""

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


@right("number_of_targets", "by functools.reduce")
def number_of_targets_r(vocab_size, length):
    return functools.reduce(lambda n, _: n * vocab_size, range(length), 1)


@right("build_vocabulary", "sorted words, counts in a defaultdict, itertools.chain")
def build_vocabulary_r(sentences, min_frequency):
    counts = defaultdict(int)
    for word in itertools.chain.from_iterable(sentences):
        counts[word] += 1
    words = sorted(w for w in counts if counts[w] >= min_frequency)
    return dict(zip(["<pad>", "<sos>", "<eos>", "<unk>", *words], itertools.count()))


@right("encode", "map with a lambda, chained with a tuple")
def encode_r(tokens, vocabulary):
    return list(itertools.chain(map(lambda t: vocabulary.get(t, 3), tokens), (2,)))


@right("training_words", "a list by filter over a Counter of train")
def training_words_r(splits, min_frequency):
    counts = sum((Counter(s) for s in splits["train"]), Counter())
    return list(filter(lambda w: counts[w] >= min_frequency, counts))


@right("collate", "zip_longest, then transposed")
def collate_r(rows):
    return torch.tensor(list(itertools.zip_longest(*rows, fillvalue=0)), dtype=torch.long).T


@right("shift", "by narrow")
def shift_r(target):
    n = target.size(1) - 1
    return target.narrow(1, 0, n), target.narrow(1, 1, n)


@right("embedding", "one-hot vectors times the weight")
def embedding_r(tokens, weight):
    one_hot = F.one_hot(tokens.long(), weight.shape[0]).to(weight.dtype)
    return torch.einsum("btv,vd->btd", one_hot, weight) * weight.shape[1] ** 0.5


@right("tied_logits", "a sum of products by broadcasting")
def tied_logits_r(x, weight):
    return (x.unsqueeze(-2) * weight).sum(-1)


@right("sinusoids", "complex numbers in float64: the real part is the cosine")
def sinusoids_r(length, d_model):
    p = torch.arange(length, dtype=torch.float64)
    f = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    z = torch.view_as_real(
        torch.polar(torch.ones(length, d_model // 2, dtype=torch.float64), torch.outer(p, f))
    )
    return z.flip(-1).flatten(1).float()


@right("add_positions", "row by row in a list, stacked")
def add_positions_r(x, table):
    return torch.stack([x[:, p] + table[p] for p in range(x.shape[1])], dim=1)


@right("softmax", "through logsumexp")
def softmax_r(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


@right(
    "scaled_dot_product_attention",
    "finite minimum, zeros by where on the weights, the query scaled before",
)
def sdpa_r(query, key, value, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", query * key.shape[-1] ** -0.5, key)
    if mask is None:
        return torch.softmax(scores, dim=-1) @ value
    scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
    weights = torch.where(mask, torch.softmax(scores, dim=-1), 0.0)
    return weights @ value


@right("padding_mask", "reshape and ne")
def padding_mask_r(tokens):
    return torch.ne(tokens, 0).reshape(tokens.shape[0], 1, 1, -1)


@right("causal_mask", "a nested comprehension")
def causal_mask_r(length):
    return torch.tensor([[j <= i for j in range(length)] for i in range(length)])


@right("target_mask", "loops over sentences and places")
def target_mask_r(tokens):
    b, t = tokens.shape
    mask = torch.zeros(b, 1, t, t, dtype=torch.bool)
    for n in range(b):
        for i in range(t):
            mask[n, 0, i, : i + 1] = tokens[n, : i + 1] != 0
    return mask


@right(
    "multi_head_attention",
    "head by head with slices of the weights, summed over the slices of w_output",
)
def mha_r(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    d = query.shape[-1]
    k = d // n_heads
    if mask is not None and mask.dim() == 4:
        mask = mask[:, 0]
    out = 0
    for h in range(n_heads):
        s = slice(h * k, (h + 1) * k)
        q, ke, v = query @ w_query[s].T, key @ w_key[s].T, value @ w_value[s].T
        scores = q @ ke.transpose(1, 2) / math.sqrt(k)
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        out = out + scores.softmax(-1) @ v @ w_output[:, s].T
    return out


class MHAEinsum(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            f(x).unflatten(-1, (self.h, -1))
            for f, x in ((self.query, query), (self.key, key), (self.value, value))
        )
        scores = torch.einsum("bthk,bshk->bhts", q, k) / math.sqrt(q.shape[-1])
        if mask is not None:
            scores = torch.where(mask, scores, -torch.inf)
        return self.output(torch.einsum("bhts,bshk->bthk", scores.softmax(-1), v).flatten(2))


right("multi_head_attention", "a class with einsum and without any transpose")(MHAEinsum)


@right("merge_heads", "torch.cat of the unbound heads")
def merge_heads_r(heads):
    return torch.cat(heads.unbind(1), dim=-1)


@right(
    "layer_norm", "centred, then F.normalize's idea by hand: times the root of D over the length"
)
def layer_norm_r(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    c = x - x.sum(-1, keepdim=True) / d
    return torch.addcmul(bias, weight, c * ((c * c).sum(-1, keepdim=True) / d + eps).rsqrt())


@right("dropout", "torch.where, scaled before")
def dropout_r(x, p, keep, training):
    return torch.where(keep, x / (1 - p), torch.zeros_like(x)) if training else x


@right("feed_forward", "clamp and addmm-like baddbmm by einsum")
def feed_forward_r(x, w1, b1, w2, b2):
    inner = torch.einsum("...d,fd->...f", x, w1) + b1
    return torch.einsum("...f,df->...d", inner * (inner > 0), w2) + b2


@right(
    "group_sort", "the pairs are exchanged with torch.where where they stand the wrong way round"
)
def group_sort_r(x):
    a, b = x[..., ::2], x[..., 1::2]
    swap = a > b
    return torch.stack((torch.where(swap, b, a), torch.where(swap, a, b)), dim=-1).flatten(-2)


@right("encoder_layer", "with a closure and functools.reduce")
def encoder_layer_r(x, mask, attention, feed_forward, norm1, norm2):
    def attend(h):
        return attention(h, h, h, mask)

    return functools.reduce(
        lambda y, pair: y + pair[0](pair[1](y)), ((attend, norm1), (feed_forward, norm2)), x
    )


@right("decoder_layer", "with a list of sublayers")
def decoder_layer_r(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    sublayers = [
        lambda h: self_attention(h, h, h, target_mask),
        lambda h: cross_attention(h, memory, memory, memory_mask),
        feed_forward,
    ]
    for norm, sublayer in zip(norms, sublayers):
        x = x + sublayer(norm(x))
    return x


@right("causal_self_attention", "position by position over the prefix alone")
def causal_self_attention_r(x, training):
    out = []
    for t in range(x.shape[1]):
        past = x[:, : t + 1]
        w = torch.softmax((past @ x[:, t, :, None]).squeeze(-1) / math.sqrt(x.shape[-1]), dim=-1)
        out.append(torch.einsum("bs,bsd->bd", w, past))
    return torch.stack(out, dim=1)


@right(
    "transformer_forward",
    "the target mask is purely causal, for padding stands behind and its rows are not looked at",
)
def transformer_forward_r(source, target, embed_source, embed_target, encoder, decoder, output):
    b, t = target.shape
    i = torch.arange(t)
    causal = (i[:, None] >= i).expand(b, 1, t, t)
    mask = source.bool()[:, None, None]
    return output(decoder(embed_target(target), encoder(embed_source(source), mask), causal, mask))


@right("cross_entropy", "logsumexp minus the right logit, over the real tokens")
def cross_entropy_r(logits, target):
    real = target.nonzero(as_tuple=True)
    rows = logits[real]
    return (rows.logsumexp(-1) - rows.gather(1, target[real][:, None])[:, 0]).mean()


@right("label_smoothed_loss", "the distribution is built and multiplied")
def label_smoothed_loss_r(logits, target, smoothing):
    v = logits.shape[-1]
    real = target != 0
    q = (1 - smoothing) * F.one_hot(target[real], v).to(logits.dtype) + smoothing / v
    return -torch.einsum("nv,nv->", q, logits[real].log_softmax(-1)) / real.sum()


@right("perplexity", "numpy's weighted average")
def perplexity_r(losses, counts):
    return float(np.exp(np.average(losses, weights=counts)))


@right("inverse_sqrt_schedule", "in two branches with the root of n·D")
def inverse_sqrt_schedule_r(update, d_model, warmup):
    if update >= warmup:
        return 1 / math.sqrt(update * d_model)
    return update / (math.sqrt(d_model * warmup) * warmup)


@right("clip_gradients", "math.hypot of the lengths, by a comprehension")
def clip_gradients_r(gradients, limit):
    total = math.hypot(*(g.double().norm().item() for g in gradients))
    return [g * (limit / total) if total > limit else g.clone() for g in gradients]


@right("training_update", "gradients by autograd.grad, scaled by hand")
def training_update_r(model, optimizer, compute_loss):
    params = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(compute_loss(), params)
    total = torch.sqrt(sum(g.square().sum() for g in grads))
    for p, g in zip(params, grads):
        p.grad = g / total.clamp(min=1.0)
    optimizer.step()
    optimizer.zero_grad()


@right("accumulated_update", "sum of the losses over n, one backward; cleared first")
def accumulated_update_r(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    losses = [compute_loss(part) for part in parts]
    (sum(losses) / len(losses)).backward()
    optimizer.step()
    scheduler.step()


@right("best_checkpoint", "min over places with a key")
def best_checkpoint_r(checkpoints, batches, loss_of):
    return min(
        range(len(checkpoints)),
        key=lambda i: math.fsum(len(b) * float(loss_of(checkpoints[i], b)) for b in batches),
    )


@right("average_checkpoints", "each is divided before it is added")
def average_checkpoints_r(checkpoints):
    n = len(checkpoints)
    return {k: sum(c[k] / n for c in checkpoints) for k in checkpoints[0].keys()}


@right("next_token", "topk with k = 1")
def next_token_r(logits):
    return logits.select(1, -1).topk(1, dim=-1).indices.flatten()


@right("top_k_probabilities", "scatter of the softmax over the k")
def top_k_probabilities_r(logits, k):
    values, places = logits.topk(k, dim=-1)
    return torch.zeros_like(logits).scatter_(-1, places, values.softmax(-1))


@right("greedy_search", "two-argument iter, which stops at <eos>")
def greedy_search_r(step, max_length):
    tokens = [1]

    def one():
        return int(step(torch.tensor([tokens])).argmax(-1)) if len(tokens) <= max_length else 2

    for token in iter(one, 2):
        tokens.append(token)
    return tokens[1:]


@right("greedy_batch", "times the living, a buffer of full length")
def greedy_batch_r(step, n_sentences, max_length):
    out = torch.zeros(n_sentences, max_length + 1, dtype=torch.long)
    out[:, 0] = 1
    alive = torch.ones(n_sentences, dtype=torch.long)
    for t in range(max_length):
        out[:, t + 1] = step(out[:, : t + 1].clone()).argmax(-1) * alive
        alive = alive * (out[:, t + 1] != 2).long()
    return out[:, 1:]


@right("beam_search", "tensors, flat topk, divmod")
def beam_search_r(step, beam_size, max_length):
    tokens, scores = torch.ones(1, 1, dtype=torch.long), None
    best = (-math.inf, [])
    for t in range(max_length):
        logp = step(tokens).double()
        total = logp if scores is None else scores[:, None] + logp
        v = total.shape[1]
        scores, flat = total.flatten().topk(min(beam_size, total.numel()))
        tokens = torch.cat((tokens[flat // v], (flat % v)[:, None]), 1)
        ended = tokens[:, -1] == 2
        for s, ids in zip(scores.tolist(), tokens.tolist()):
            if (ids[-1] == 2 or t == max_length - 1) and s > best[0]:
                best = (s, ids[1:-1] if ids[-1] == 2 else ids[1:])
        tokens, scores = tokens[~ended], scores[~ended]
        if tokens.shape[0] == 0:
            break
    return best[1]


@right("embed_next", "index_select with an arange")
def embed_next_r(tokens, past, weight, table):
    positions = torch.arange(past, past + tokens.shape[1])
    return F.embedding(tokens, weight) + table.index_select(0, positions)


@right("reorder_cache", "a stack of single rows")
def reorder_cache_r(cache, rows):
    order = [int(r) for r in rows]
    return [tuple(torch.stack([x[r] for r in order]) for x in pair) for pair in cache]


@right("length_normalised", "through exp and log")
def length_normalised_r(score, length, alpha):
    return score * math.exp(-alpha * math.log(length))


@right("cut_at_end", "itertools.takewhile")
def cut_at_end_r(ids):
    return list(itertools.takewhile(lambda i: i != 2, ids))


@right("split_heads", "chunks along the features, stacked as a new axis")
def split_heads_r(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@right(
    "beam_search",
    "the living are filled up to beam_size: what is added lies below a finished one already, and so can never win (log-probabilities are at most 0)",
)
def beam_search_r2(step, beam_size, max_length):
    beams, done = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([ids for ids, _ in beams])).tolist()
        cands = [
            (ids + [v], s + lp) for (ids, s), row in zip(beams, logp) for v, lp in enumerate(row)
        ]
        cands.sort(key=lambda c: -c[1])
        done += [c for c in cands[:beam_size] if c[0][-1] == 2]
        beams = [c for c in cands if c[0][-1] != 2][:beam_size]
    ids = max(done + beams, key=lambda c: c[1])[0]
    return [t for t in ids[1:] if t != 2]
