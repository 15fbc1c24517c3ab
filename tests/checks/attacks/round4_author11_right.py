"""Round 4, author 11: what is right, as it was written from the docstrings alone."""

from kit import wrong, right
import bisect
import functools
import heapq
import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@right("number_of_targets", "by repeated squaring")
def number_of_targets_r1(vocab_size, length):
    result, base, n = 1, vocab_size, length
    while n:
        if n & 1:
            result *= base
        base *= base
        n >>= 1
    return result


@right("number_of_targets", "recursion behind an lru_cache")
@functools.lru_cache(maxsize=None)
def number_of_targets_r2(vocab_size, length):
    if length == 0:
        return 1
    half = number_of_targets_r2(vocab_size, length // 2)
    return half * half * (vocab_size if length % 2 else 1)


@right("build_vocabulary", "sorted by the alphabet, with a counting iterator for the ids")
def build_vocabulary_r1(sentences, min_frequency):
    words = sorted(itertools.chain.from_iterable(sentences))
    ids = itertools.count(4)
    vocabulary = dict(zip(("<pad>", "<sos>", "<eos>", "<unk>"), range(4)))
    for word, run in itertools.groupby(words):
        if sum(1 for _ in run) >= min_frequency:
            vocabulary[word] = next(ids)
    return vocabulary


@right("encode", "try and except")
def encode_r1(tokens, vocabulary):
    ids = []
    for token in tokens:
        try:
            ids.append(vocabulary[token])
        except KeyError:
            ids.append(3)
    ids.append(2)
    return ids


@right("text_to_ids", "map over a chain, the end mark as an id")
def text_to_ids_r1(text, tokenize, vocabulary):
    known = defaultdict(lambda: 3, vocabulary)
    return list(itertools.chain(map(known.__getitem__, tokenize(text)), [2]))


@right("training_words", "a sorted list and bisection")
def training_words_r1(splits, min_frequency):
    words = sorted(w for s in splits["train"] for w in s)
    return [
        w
        for w in dict.fromkeys(words)
        if bisect.bisect_right(words, w) - bisect.bisect_left(words, w) >= min_frequency
    ]


@right("collate", "zip_longest, transposed back")
def collate_r1(rows):
    return (
        torch.tensor(list(itertools.zip_longest(*rows, fillvalue=0)), dtype=torch.long)
        .t()
        .contiguous()
    )


@right("collate", "one flat scatter through a mask")
def collate_r2(rows):
    lengths = torch.tensor([len(r) for r in rows])
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    batch = torch.zeros(mask.shape, dtype=torch.int64)
    batch[mask] = torch.tensor([i for r in rows for i in r], dtype=torch.int64)
    return batch


@right("shift", "unfold into pairs of neighbours")
def shift_r1(target):
    pairs = target.unfold(1, 2, 1)
    said, wanted = pairs.unbind(-1)
    return said.clone(), wanted.clone()


@right("embedding", "one-hot rows times the weight")
def embedding_r1(tokens, weight):
    hot = F.one_hot(tokens, weight.shape[0]).to(weight.dtype)
    return torch.tensordot(hot, weight, dims=1).mul(weight.shape[1] ** 0.5)


class EmbeddingClass(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model).normal_())

    def forward(self, tokens):
        flat = self.weight.index_select(0, tokens.reshape(-1)) * math.sqrt(self.weight.size(1))
        return flat.reshape(*tokens.shape, -1)


right("embedding", "a class that selects from the flattened ids")(EmbeddingClass)


@right("tied_logits", "sum of elementwise products by broadcasting")
def tied_logits_r1(x, weight):
    return (x[:, :, None, :] * weight).sum(-1)


@right("sinusoids", "the imaginary and real parts of complex powers, in double precision by NumPy")
def sinusoids_r1(length, d_model):
    rate = np.power(10000.0, -np.arange(0, d_model, 2, dtype=np.float64) / d_model)
    z = np.exp(1j * np.outer(np.arange(length, dtype=np.float64), rate))
    return torch.from_numpy(np.stack([z.imag, z.real], -1).reshape(length, d_model)).float()


@right("add_positions", "gathers the rows by F.embedding")
def add_positions_r1(x, table):
    p = torch.arange(x.shape[1]).expand(x.shape[0], -1)
    return F.embedding(p, table) + x


@right("softmax", "exp of score minus logsumexp")
def softmax_r1(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


@right("softmax", "the maximum is detached, which changes no gradient")
def softmax_r2(scores):
    e = (scores - scores.detach().max(dim=-1, keepdim=True)[0]).exp()
    return torch.div(e, e.sum(-1).unsqueeze(-1))


@right(
    "scaled_dot_product_attention",
    "exp with its own normalisation, scale put on the query, zeros by a guarded division",
)
def sdpa_r1(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query * key.shape[-1] ** -0.5, key)
    if mask is None:
        mask = torch.ones_like(s, dtype=torch.bool)
    mask = torch.broadcast_to(mask, s.shape)
    top = torch.where(mask, s, torch.full_like(s, -torch.inf)).amax(-1, keepdim=True).detach()
    top = torch.where(torch.isfinite(top), top, torch.zeros_like(top))
    d = torch.where(mask, s - top, torch.zeros_like(s))
    e = torch.exp(d) * mask
    total = e.sum(-1, keepdim=True)
    total = total + (total == 0).to(total.dtype)
    return torch.einsum("...ts,...sv->...tv", e / total, value)


@right("padding_mask", "by the sign of the square, reshaped")
def padding_mask_r1(tokens):
    b, s = tokens.shape
    return torch.logical_not(torch.eq(tokens, 0)).reshape(b, 1, 1, s)


@right("causal_mask", "a nested list of comparisons")
def causal_mask_r1(length):
    return torch.tensor(
        [[j <= i for j in range(length)] for i in range(length)], dtype=torch.bool
    ).reshape(length, length)


@right("causal_mask", "cumulative sum over an identity")
def causal_mask_r2(length):
    return torch.eye(length, dtype=torch.long).flip(1).cumsum(1).flip(1) > 0


@right("target_mask", "by loops over all cells, in NumPy")
def target_mask_r1(tokens):
    ids = tokens.numpy()
    b, t = ids.shape
    mask = np.zeros((b, 1, t, t), dtype=bool)
    for i in range(t):
        mask[:, 0, i:, i] = (ids[:, i] != 0)[:, None]
    return torch.from_numpy(mask)


@right("split_heads", "chunks of the features, stacked")
def split_heads_r1(x, n_heads):
    return torch.stack(torch.chunk(x, n_heads, dim=-1), dim=1)


@right("merge_heads", "heads unbound and put side by side")
def merge_heads_r1(heads):
    return torch.cat(heads.unbind(dim=1), dim=-1)


@right(
    "multi_head_attention",
    "one head after the other; the outputs are summed through slices of w_output",
)
def mha_r1(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    b, t, d = query.shape
    s, k = key.shape[1], d // n_heads
    if mask is not None:
        mask = mask.expand(b, 1, t, s)[:, 0]
    total = 0
    for h in range(n_heads):
        part = slice(h * k, (h + 1) * k)
        q, kk, v = (
            F.linear(query, w_query[part]),
            F.linear(key, w_key[part]),
            F.linear(value, w_value[part]),
        )
        score = torch.bmm(q, kk.mT) / math.sqrt(k)
        if mask is not None:
            score = torch.where(mask, score, torch.full_like(score, -torch.inf))
        total = total + F.linear(score.softmax(-1) @ v, w_output[:, part])
    return total


class MHAClass(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        for name in ("query", "key", "value", "output"):
            self.add_module(name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            m(x).unflatten(-1, (self.h, -1))
            for m, x in ((self.query, query), (self.key, key), (self.value, value))
        )
        s = torch.einsum("bthk,bshk->bhts", q, k) * q.shape[-1] ** -0.5
        if mask is not None:
            s = s.masked_fill(torch.logical_not(mask), -torch.inf)
        return self.output(torch.einsum("bhts,bshk->bthk", s.softmax(-1), v).flatten(2))


right("multi_head_attention", "a class of einsums without any transpose")(MHAClass)


@right("layer_norm", "centred by a matrix, the length of the rest as a norm")
def layer_norm_r1(x, weight, bias, eps=1e-5):
    d = x.shape[-1]
    centred = x - x.sum(-1, keepdim=True) / d
    variance = torch.einsum("...d,...d->...", centred, centred) / d
    return torch.addcmul(bias, centred * variance.add(eps).pow(-0.5)[..., None], weight)


@right("layer_norm", "var_mean with correction=0")
def layer_norm_r2(x, weight, bias, eps=1e-5):
    v, m = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return bias + weight * ((x - m) / torch.sqrt(v + eps))


@right("layer_norm_parameters", "as parameters taken from nn.LayerNorm")
def layer_norm_parameters_r1(d_model):
    norm = nn.LayerNorm(d_model)
    return norm.weight.detach(), norm.bias.detach()


@right("pre_norm", "functions composed by reduce")
def pre_norm_r1(x, sublayer, norm):
    return torch.add(functools.reduce(lambda a, f: f(a), (norm, sublayer), x), x)


@right("post_norm", "stacked and summed, then normed")
def post_norm_r1(x, sublayer, norm):
    return norm(torch.stack((x, sublayer(x))).sum(0))


@right("dropout", "where, with an early return in evaluation")
def dropout_r1(x, p, keep, training):
    if training:
        return torch.where(keep, x / (1 - p), torch.zeros((), dtype=x.dtype))
    return x


@right("sublayer_with_dropout", "a loop through the three steps")
def sublayer_with_dropout_r1(x, sublayer, norm, dropout):
    y = x
    for step in (norm, sublayer, dropout):
        y = step(y)
    return y + x


@right("feed_forward", "ReLU as a product with its own sign, einsums for the rest")
def feed_forward_r1(x, w1, b1, w2, b2):
    h = torch.einsum("...d,fd->...f", x, w1) + b1
    h = h * (h > 0).to(h.dtype)
    return torch.einsum("...f,df->...d", h, w2) + b2


@right("group_sort", "chosen by a comparison of the even with the odd columns")
def group_sort_r1(x):
    a, b = x[..., 0::2], x[..., 1::2]
    swap = a > b
    return torch.stack((torch.where(swap, b, a), torch.where(swap, a, b)), dim=-1).flatten(-2)


@right("encoder_layer", "an inner helper adds the residual")
def encoder_layer_r1(x, mask, attention, feed_forward, norm1, norm2):
    def residual(y, norm, f):
        return y + f(norm(y))

    return residual(residual(x, norm1, lambda h: attention(h, h, h, mask)), norm2, feed_forward)


@right("decoder_layer", "a loop over the norms and three closures")
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


@right("causal_self_attention", "position by position over what came before")
def causal_self_attention_r1(x, training):
    out = []
    for t in range(x.shape[1]):
        seen = x[:, : t + 1]
        w = torch.softmax((seen @ x[:, t, :, None]).squeeze(-1) / x.shape[-1] ** 0.5, dim=-1)
        out.append((w[..., None] * seen).sum(1))
    return torch.stack(out, 1)


@right("make_stack", "appended to a ModuleList")
def make_stack_r1(make_layer, n_layers):
    stack = nn.ModuleList()
    while len(stack) < n_layers:
        stack.append(make_layer())
    return stack


@right("transformer_forward", "the target's mask from a comparison of positions")
def transformer_forward_r1(source, target, embed_source, embed_target, encoder, decoder, output):
    see = source.ne(0)[:, None, None]
    p = torch.arange(target.shape[1])
    mine = target.ne(0)[:, None, None] & p.le(p[:, None])
    return output(decoder(embed_target(target), encoder(embed_source(source), see), mine, see))


@right("cross_entropy", "real places picked out first, logsumexp minus the right logit")
def cross_entropy_r1(logits, target):
    real = target != 0
    rows, ids = logits[real], target[real]
    return torch.stack([torch.logsumexp(r, 0) - r[i] for r, i in zip(rows, ids)]).mean()


@right("label_smoothed_loss", "the dot product with a smoothed distribution")
def label_smoothed_loss_r1(logits, target, smoothing):
    v = logits.shape[-1]
    real = target != 0
    q = (1 - smoothing) * F.one_hot(target, v).to(logits.dtype) + smoothing / v
    losses = -(q * torch.log_softmax(logits, -1)).sum(-1)
    return losses[real].sum() / real.sum()


@right("perplexity", "np.average with weights")
def perplexity_r1(losses, counts):
    return float(
        np.exp(np.average(np.asarray(losses, dtype=float), weights=np.asarray(counts, dtype=float)))
    )


@right("inverse_sqrt_schedule", "two branches")
def inverse_sqrt_schedule_r1(update, d_model, warmup):
    if update < warmup:
        return update / (math.sqrt(d_model) * warmup * math.sqrt(warmup))
    return 1 / math.sqrt(d_model * update)


@right("clip_gradients", "hypot over all entries' lengths")
def clip_gradients_r1(gradients, limit):
    length = math.hypot(*(float(torch.linalg.vector_norm(g)) for g in gradients))
    factor = limit / length if length > limit else 1.0
    return [g.clone() * factor for g in gradients]


@right("training_update", "clipped by hand over the optimizer's groups")
def training_update_r1(model, optimizer, compute_loss):
    for p in model.parameters():
        p.grad = None
    compute_loss().backward()
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    length = torch.sqrt(sum(g.square().sum() for g in grads))
    if length > 1:
        for g in grads:
            g.div_(length)
    optimizer.step()


@right("accumulated_update", "one backward for the mean of all parts' losses")
def accumulated_update_r1(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    torch.stack([compute_loss(part) for part in parts]).mean().backward()
    optimizer.step()
    scheduler.step()


@right(
    "best_checkpoint",
    "min with a key: the whole loss, since the number of tokens is the same for all",
)
def best_checkpoint_r1(checkpoints, batches, loss_of):
    return min(
        range(len(checkpoints)),
        key=lambda i: math.fsum(len(b) * float(loss_of(checkpoints[i], b)) for b in batches),
    )


@right("average_checkpoints", "a running mean, out of place")
def average_checkpoints_r1(checkpoints):
    mean = {}
    for n, c in enumerate(checkpoints, start=1):
        for name, w in c.items():
            mean[name] = w.clone() if n == 1 else mean[name] + (w - mean[name]) / n
    return mean


@right("next_token", "topk with one winner")
def next_token_r1(logits):
    return logits.select(1, logits.shape[1] - 1).topk(1, dim=-1).indices[:, 0]


@right("temperature_probabilities", "through log_softmax")
def temperature_probabilities_r1(logits, temperature):
    return F.log_softmax(logits.div(temperature), dim=-1).exp()


@right("top_k_probabilities", "softmax of the winners alone, scattered into zeros")
def top_k_probabilities_r1(logits, k):
    values, ids = torch.topk(logits, k, dim=-1)
    return torch.zeros_like(logits).scatter(1, ids, torch.softmax(values, dim=-1))


@right("greedy_search", "a generator, cut by islice")
def greedy_search_r1(step, max_length):
    def speak():
        tokens = torch.tensor([[1]])
        while True:
            best = step(tokens).argmax(-1, keepdim=True)
            if best.item() == 2:
                return
            yield best.item()
            tokens = torch.cat((tokens, best), dim=1)

    return list(itertools.islice(speak(), max_length))


@right("greedy_batch", "a table filled in column by column; ended = `<eos>` anywhere so far")
def greedy_batch_r1(step, n_sentences, max_length):
    table = torch.zeros(n_sentences, max_length + 1, dtype=torch.long)
    table[:, 0] = 1
    for t in range(1, max_length + 1):
        ended = (table[:, :t] == 2).any(dim=1)
        if ended.all():
            break
        best = step(table[:, :t].clone()).argmax(dim=-1)
        table[:, t] = torch.where(ended, torch.zeros_like(best), best)
    return table[:, 1:]


@right("beam_search", "heapq.nlargest over a generator, the best of the ended ones kept as one")
def beam_search_r1(step, beam_size, max_length):
    alive, best = [(0.0, (1,))], (-math.inf, ())
    for t in range(max_length):
        if not alive:
            break
        rows = step(torch.tensor([ids for _, ids in alive])).double().tolist()
        candidates = (
            (s + l, ids + (v,)) for (s, ids), row in zip(alive, rows) for v, l in enumerate(row)
        )
        kept = heapq.nlargest(beam_size, candidates, key=lambda c: c[0])
        alive = []
        for c in kept:
            if c[1][-1] == 2 or t == max_length - 1:
                best = max(best, c, key=lambda d: d[0])
            else:
                alive.append(c)
    ids = list(best[1][1:])
    return ids[:-1] if ids and ids[-1] == 2 else ids


@right("embed_next", "token by token")
def embed_next_r1(tokens, past, weight, table):
    return torch.stack(
        [weight[tokens[:, j]] + table[past + j] for j in range(tokens.shape[1])], dim=1
    )


@right("reorder_cache", "stacked from the old rows")
def reorder_cache_r1(cache, rows):
    return [tuple(torch.stack([part[int(r)] for r in rows]) for part in pair) for pair in cache]


@right("length_normalised", "divided in logarithms")
def length_normalised_r1(score, length, alpha):
    return score * math.exp(-alpha * math.log(length))


@right("cut_at_end", "takewhile")
def cut_at_end_r1(ids):
    return list(itertools.takewhile(lambda i: i != 2, ids))


@right("cut_at_end", "recursion without slices of the caller's list changed")
def cut_at_end_r2(ids):
    out = []

    def go(i):
        while i < len(ids) and ids[i] != 2:
            out.append(ids[i])
            i += 1

    go(0)
    return out


@right(
    "beam_search",
    "topped up with living ones: whatever more it keeps is less likely than one that has finished, and never wins",
)
def beam_search_r2(step, beam_size, max_length):
    living, finished = [([1], 0.0)], []
    for _ in range(max_length):
        if not living:
            break
        rows = step(torch.tensor([ids for ids, _ in living])).tolist()
        new = [(ids + [v], s + l) for (ids, s), row in zip(living, rows) for v, l in enumerate(row)]
        new.sort(key=lambda h: -h[1])
        finished += [h for h in new[:beam_size] if h[0][-1] == 2]
        living = [h for h in new if h[0][-1] != 2][:beam_size]
    if not finished + living:
        return []
    ids = max(finished + living, key=lambda h: h[1])[0][1:]
    return ids[:-1] if ids and ids[-1] == 2 else ids
