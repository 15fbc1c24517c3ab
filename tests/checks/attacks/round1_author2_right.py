"""Round 1, author 2: what is right, as it was written from the docstrings alone."""

from kit import wrong, right
import copy, functools, itertools, math
from collections import Counter, defaultdict
from functools import lru_cache, reduce
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


@right("number_of_targets", "recursion with lru_cache and squaring")
@lru_cache(maxsize=None)
def number_of_targets_r1(vocab_size, length):
    if length == 0:
        return 1
    half = number_of_targets_r1(vocab_size, length // 2)
    return half * half * (vocab_size if length % 2 else 1)


@right(
    "build_vocabulary",
    "defaultdict, words in order of the alphabet, special words of the text left where they are",
)
def build_vocabulary_r1(sentences, min_frequency):
    seen = defaultdict(int)
    for sentence in sentences:
        for word in sentence:
            seen[word] += 1
    table = dict(zip(("<pad>", "<sos>", "<eos>", "<unk>"), range(4)))
    for word in sorted(seen, reverse=True):
        if not seen[word] < min_frequency:
            table.setdefault(word, len(table))
    return table


@right("encode", "try / except in a generator, list at the end")
def encode_r1(tokens, vocabulary):
    def ids():
        for token in tokens:
            try:
                yield vocabulary[token]
            except KeyError:
                yield vocabulary["<unk>"]
        yield vocabulary["<eos>"]

    return list(ids())


@right("collate", "zip_longest and a transpose")
def collate_r1(rows):
    columns = list(itertools.zip_longest(*[[int(t) for t in row] for row in rows], fillvalue=0))
    return torch.tensor(columns, dtype=torch.int64).reshape(-1, len(rows)).T.contiguous()


@right("shift", "unfold into neighbouring pairs, then taken apart")
def shift_r1(target):
    pairs = target.unfold(1, 2, 1)
    return pairs[..., 0], pairs[..., 1]


@right("embedding", "one-hot times the matrix")
def embedding_r1(tokens, weight):
    V, D = weight.shape
    return torch.einsum("btv,vd->btd", F.one_hot(tokens, V).to(weight.dtype), weight) * D**0.5


class IndexSelectEmbedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.register_parameter("weight", nn.Parameter(torch.empty(vocab_size, d_model).normal_()))

    def forward(self, tokens):
        rows = torch.index_select(self.weight, 0, tokens.reshape(-1))
        return rows.reshape(*tokens.shape, -1).mul(math.sqrt(self.weight.size(1)))


right("embedding", "a class, with index_select")(IndexSelectEmbedding)


@right("tied_logits", "tensordot over the last axes")
def tied_logits_r1(x, weight):
    return torch.tensordot(x, weight, dims=([2], [1]))


@right("sinusoids", "complex numbers: e^(ipω) seen as pairs of real ones")
def sinusoids_r1(length, d_model):
    p = torch.arange(length, dtype=torch.float64)
    w = torch.pow(
        torch.tensor(10000.0, dtype=torch.float64),
        -torch.arange(0, d_model, 2, dtype=torch.float64) / d_model,
    )
    angle = torch.outer(p, w)
    both = torch.view_as_real(torch.polar(torch.ones_like(angle), angle))  # (T, D/2, 2): cos, sin
    return both.flip(-1).flatten(1).float()


@right("add_positions", "a loop over the positions, stacked")
def add_positions_r1(x, table):
    return torch.stack([x[:, p] + table[p] for p in range(x.size(1))], dim=1)


@right("softmax", "exp of the difference to logsumexp")
def softmax_r1(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


@right("softmax", "F.normalize with p = 1 of the exponentials")
def softmax_r2(scores):
    highest, _ = torch.max(scores, dim=-1, keepdim=True)
    return F.normalize((scores - highest.detach()).exp(), p=1.0, dim=-1)


@right(
    "scaled_dot_product_attention",
    "blocked rows opened for the softmax and multiplied by zero afterwards",
)
def sdpa_r1(query, key, value, mask=None):
    scores = torch.einsum("...tk,...sk->...ts", query / math.sqrt(query.shape[-1]), key)
    if mask is None:
        return scores.softmax(-1) @ value
    some = mask.any(dim=-1, keepdim=True)
    weights = scores.masked_fill(~(mask | ~some), float("-inf")).softmax(-1)
    return (weights * some) @ value


@right(
    "scaled_dot_product_attention",
    "the exponentials by hand, with the maximum of the open scores and a guarded divisor",
)
def sdpa_r2(query, key, value, mask=None):
    scores = torch.matmul(query, key.mT) * query.shape[-1] ** -0.5
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand_as(scores)
    lowest = torch.finfo(scores.dtype).min
    top = torch.where(allowed, scores, lowest).amax(-1, keepdim=True).detach()
    e = torch.where(allowed, torch.where(allowed, scores - top, 0.0).exp(), 0.0)
    total = e.sum(-1, keepdim=True)
    return (e / torch.where(total == 0, 1.0, total)) @ value


@right("padding_mask", "nested comprehension in plain Python")
def padding_mask_r1(tokens):
    return torch.tensor([[[[t != 0 for t in row]]] for row in tokens.tolist()], dtype=torch.bool)


@right("causal_mask", "cumsum of the identity, turned over twice")
def causal_mask_r1(length):
    return torch.eye(length).cumsum(dim=0).T.flip(0, 1).bool()


@right("causal_mask", "lru_cache, a fresh clone each time")
def causal_mask_r2(
    length,
    _build=lru_cache(maxsize=8)(lambda n: ~torch.triu(torch.ones(n, n, dtype=torch.bool), 1)),
):
    return _build(length).clone()


@right("target_mask", "a product of whole numbers, numpy's tri")
def target_mask_r1(tokens):
    B, T = tokens.shape
    real = tokens.ne(0).long().reshape(B, 1, 1, T)
    lower = torch.tensor(np.tri(T, T, dtype=np.int64))
    return (real * lower).to(torch.bool)


@right("split_heads", "chunk along the features, stack as a new axis")
def split_heads_r1(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@right("merge_heads", "unbind the heads and put them one behind another")
def merge_heads_r1(heads):
    return torch.cat(heads.unbind(dim=1), dim=-1)


@right("multi_head_attention", "einsum all the way, weights seen as (H, K, D)")
def mha_r1(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    D = query.shape[-1]
    K = D // n_heads
    q = torch.einsum("btd,hkd->bhtk", query, w_query.reshape(n_heads, K, D))
    k = torch.einsum("bsd,hkd->bhsk", key, w_key.reshape(n_heads, K, D))
    v = torch.einsum("bsd,hkd->bhsk", value, w_value.reshape(n_heads, K, D))
    scores = torch.einsum("bhtk,bhsk->bhts", q, k) / math.sqrt(K)
    if mask is not None:
        scores = scores.masked_fill(torch.logical_not(mask), -torch.inf)
    weights = torch.softmax(scores, -1)
    weights = torch.where(weights.isnan(), torch.zeros_like(weights), weights)
    return torch.einsum("bhtk,dhk->btd", weights @ v, w_output.reshape(D, n_heads, K))


@right(
    "multi_head_attention", "a sum over the heads, each with its own columns of the output weight"
)
def mha_r2(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    K = query.shape[-1] // n_heads
    out = torch.zeros(())
    for h in range(n_heads):
        part = slice(h * K, h * K + K)
        q, k, v = (
            F.linear(query, w_query[part]),
            F.linear(key, w_key[part]),
            F.linear(value, w_value[part]),
        )
        out = out + F.linear(
            F.scaled_dot_product_attention(
                q[:, None],
                k[:, None],
                v[:, None],
                attn_mask=None
                if mask is None
                else (mask[:, h : h + 1] if mask.dim() == 4 and mask.shape[1] > 1 else mask),
            )[:, 0],
            w_output[:, part],
        )
    return out


@right("layer_norm", "var_mean, and addcmul for scale and shift")
def layer_norm_r1(x, weight, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(bias, (x - mean).div((var + eps).sqrt()), weight)


class HandNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        c = x - torch.einsum("...d->...", x)[..., None] / x.shape[-1]
        v = torch.einsum("...d,...d->...", c, c)[..., None] / x.shape[-1]
        return self.bias + self.weight * c * torch.rsqrt(v + 0.00001)


right("layer_norm", "a class, mean and variance with einsum")(HandNorm)


@right("post_norm", "a chain of functions folded with reduce")
def post_norm_r1(x, sublayer, norm):
    return reduce(lambda value, f: f(value), (lambda v: torch.add(sublayer(v), v), norm), x)


@right("dropout", "where; nothing is divided where nothing is kept")
def dropout_r1(x, p, keep, training):
    if training is False or not training:
        return x
    return torch.where(keep, x / (1.0 - p) if p < 1 else torch.zeros_like(x), torch.zeros_like(x))


@right("feed_forward", "addmm on flattened positions, clamp for relu")
def feed_forward_r1(x, w1, b1, w2, b2):
    flat = x.reshape(-1, x.shape[-1])
    hidden = torch.addmm(b1, flat, w1.t()).clamp(min=0)
    return torch.addmm(b2, hidden, w2.t()).reshape(*x.shape[:-1], w2.shape[0])


@right("group_sort", "minimum and maximum of strided views")
def group_sort_r1(x):
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((torch.min(even, odd), torch.max(even, odd)), dim=-1).reshape(x.shape)


@right("encoder_layer", "a loop over pairs of norm and sublayer, functools.partial-like closure")
def encoder_layer_r1(x, mask, attention, feed_forward, norm1, norm2):
    def attend(h):
        return attention(h, h, h, mask)

    for norm, sublayer in zip((norm1, norm2), (attend, feed_forward)):
        x = sublayer(norm(x)) + x
    return x


@right("decoder_layer", "three closures in a table, the norms taken by iterator")
def decoder_layer_r1(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    steps = [
        lambda h: self_attention(h, h, h, target_mask),
        lambda h: cross_attention(h, memory, memory, memory_mask),
        feed_forward,
    ]
    for norm, step in zip(iter(norms), steps):
        x = torch.add(x, step(norm(x)))
    return x


@right("causal_self_attention", "position by position: each attends to the slice up to itself")
def causal_self_attention_r1(x, training):
    outs = []
    for t in range(x.shape[1]):
        past = x[:, : t + 1]
        weights = torch.softmax(
            torch.einsum("bd,bsd->bs", x[:, t], past) / math.sqrt(x.shape[-1]), dim=-1
        )
        outs.append(torch.einsum("bs,bsd->bd", weights, past))
    return torch.stack(outs, dim=1)


@right("transformer_forward", "masks by logical_and and comparison of aranges")
def transformer_forward_r1(source, target, embed_source, embed_target, encoder, decoder, output):
    real_source = torch.ne(source, 0)[:, None, None, :]
    place = torch.arange(target.size(1))
    see = torch.logical_and(
        place[:, None].ge(place[None, :]), torch.ne(target, 0)[:, None, None, :]
    )
    return output(
        decoder(embed_target(target), encoder(embed_source(source), real_source), see, real_source)
    )


@right("cross_entropy", "logsumexp minus the right logit, real tokens picked first")
def cross_entropy_r1(logits, target):
    rows, right_ids = logits[target > 0], target[target > 0]
    return (torch.logsumexp(rows, dim=1) - rows[torch.arange(len(rows)), right_ids]).sum() / len(
        rows
    )


@right(
    "label_smoothed_loss",
    "as the cross-entropy with a smoothed distribution, one-hot mixed with 1/V",
)
def label_smoothed_loss_r1(logits, target, smoothing):
    V = logits.size(-1)
    wanted = torch.lerp(
        F.one_hot(target, V).to(logits.dtype),
        torch.full((V,), 1.0 / V, dtype=logits.dtype),
        smoothing,
    )
    per_token = -(wanted * F.log_softmax(logits, dim=-1)).sum(-1)
    return torch.masked_select(per_token, target.bool()).mean()


@right("perplexity", "numpy's weighted average")
def perplexity_r1(losses, counts):
    return float(np.exp(np.average([float(l) for l in losses], weights=[float(c) for c in counts])))


@right("inverse_sqrt_schedule", "two branches instead of the minimum, all under one root")
def inverse_sqrt_schedule_r1(update, d_model, warmup):
    if update < warmup:
        return update / (warmup * math.sqrt(warmup * d_model))
    return 1 / math.sqrt(d_model * update)


@right("clip_gradients", "flattened into one vector, scaled, taken apart again")
def clip_gradients_r1(gradients, limit):
    flat = torch.cat([g.reshape(-1) for g in gradients])
    length = torch.linalg.vector_norm(flat).item()
    flat = flat if length <= limit else flat * (limit / length)
    pieces = torch.split(flat, [g.numel() for g in gradients])
    return [piece.clone().reshape(g.shape) for piece, g in zip(pieces, gradients)]


@right(
    "accumulated_update",
    "one backward of the mean of all parts' losses, gradients cleared by hand before",
)
def accumulated_update_r1(optimizer, scheduler, parts, compute_loss):
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad = None
    losses = [compute_loss(part) for part in parts]
    torch.stack(losses).mean().backward()
    optimizer.step()
    scheduler.step()


@right("best_checkpoint", "min over the places with a key function; math.fsum")
def best_checkpoint_r1(checkpoints, batches, loss_of):
    def total(place):
        return math.fsum(float(loss_of(checkpoints[place], b)) * len(b) for b in batches)

    return min(range(len(checkpoints)), key=total)


@right("average_checkpoints", "a running mean with the right weights 1/n, in fresh tensors")
def average_checkpoints_r1(checkpoints):
    mean = {}
    for n, checkpoint in enumerate(checkpoints, start=1):
        for name, w in checkpoint.items():
            mean[name] = w.clone() if n == 1 else mean[name] + (w - mean[name]) / n
    return mean


@right("next_token", "select and topk of one")
def next_token_r1(logits):
    return torch.topk(logits.select(1, logits.shape[1] - 1), 1, dim=1).indices.flatten()


@right("top_k_probabilities", "softmax of the k values alone, scattered into zeros")
def top_k_probabilities_r1(logits, k):
    values, indices = torch.topk(logits, k, dim=-1)
    return torch.zeros_like(logits).scatter_(-1, indices, values.softmax(-1))


@right("greedy_search", "a generator that never ends by itself, cut by iter's sentinel and islice")
def greedy_search_r1(step, max_length):
    ids = torch.ones(1, 1, dtype=torch.long)

    def say():
        nonlocal ids
        token = step(ids).argmax(dim=-1)
        ids = torch.hstack([ids, token[None]])
        return int(token)

    return list(itertools.islice(iter(say, 2), max_length))


@right("greedy_batch", "plain lists, only the tensor for step is built anew")
def greedy_batch_r1(step, n_sentences, max_length):
    rows = [[1] for _ in range(n_sentences)]
    ended = set()
    for _ in range(max_length):
        choice = step(torch.tensor(rows)).max(dim=1).indices.tolist()
        for b, token in enumerate(choice):
            rows[b].append(0 if b in ended else token)
            if token == 2 and b not in ended:
                ended.add(b)
        if len(ended) == n_sentences:
            break
    return torch.tensor(rows)[:, 1:]


@right("beam_search", "heapq.nlargest over a generator, the best ended one carried along")
def beam_search_r1(step, beam_size, max_length):
    import heapq

    living, champion = [(0.0, (1,))], (-math.inf, ())
    for _ in range(max_length):
        rows = step(torch.tensor([ids for _, ids in living])).tolist()
        candidates = (
            (s + p, ids + (t,)) for (s, ids), row in zip(living, rows) for t, p in enumerate(row)
        )
        best = heapq.nlargest(beam_size, candidates, key=lambda h: h[0])
        for s, ids in best:
            if ids[-1] == 2 and s > champion[0]:
                champion = (s, ids[1:-1])
        living = [h for h in best if h[1][-1] != 2]
        if not living:
            break
    for s, ids in living:
        if s > champion[0]:
            champion = (s, ids[1:])
    return list(champion[1])


@right("embed_next", "F.embedding and narrow")
def embed_next_r1(tokens, past, weight, table):
    return F.embedding(tokens, weight) + table.narrow(0, int(past), tokens.size(1)).unsqueeze(0)


@right("reorder_cache", "stacked row by row in plain Python")
def reorder_cache_r1(cache, rows):
    rows = [int(r) for r in rows]
    return [tuple(torch.stack([part[r] for r in rows]) for part in pair) for pair in cache]


@right("cut_at_end", "itertools.takewhile")
def cut_at_end_r1(ids):
    return list(itertools.takewhile(lambda token: token != 2, ids))
