"""Round 3, author 8: what is right, as it was written from the docstrings alone."""

from kit import wrong, right
import math, itertools, operator
from collections import Counter
from functools import reduce
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


@right("number_of_targets", "a product by reduce, whole numbers")
def number_of_targets_r(vocab_size, length):
    return reduce(operator.mul, itertools.repeat(int(vocab_size), length), 1)


@right("build_vocabulary", "most_common, itertools, count")
def build_vocabulary_r(sentences, min_frequency):
    ids = itertools.count()
    ranked = Counter(itertools.chain.from_iterable(sentences)).most_common()
    words = (w for w, n in ranked if n >= min_frequency)
    return {w: next(ids) for w in itertools.chain(("<pad>", "<sos>", "<eos>", "<unk>"), words)}


@right("encode", "a generator with try and except")
def encode_r(tokens, vocabulary):
    def run():
        for t in tokens:
            try:
                yield vocabulary[t]
            except KeyError:
                yield 3
        yield 2

    return [*run()]


@right("training_words", "repeated sorting and groupby")
def training_words_r(splits, min_frequency):
    words = sorted(itertools.chain(*splits["train"]))
    return [w for w, g in itertools.groupby(words) if sum(1 for _ in g) >= min_frequency]


@right("collate", "zip_longest, transposed")
def collate_r(rows):
    return torch.tensor(list(zip(*itertools.zip_longest(*rows, fillvalue=0))), dtype=torch.long)


@right("shift", "narrow")
def shift_r(target):
    n = target.shape[1] - 1
    return target.narrow(1, 0, n), target.narrow(1, 1, n)


@right("embedding", "one-hot product by einsum")
def embedding_r(tokens, weight):
    one = F.one_hot(tokens, weight.shape[0]).to(weight.dtype)
    return torch.einsum("btv,vd->btd", one, weight) * weight.shape[1] ** 0.5


@right("tied_logits", "broadcast product and sum")
def tied_logits_r(x, weight):
    return (x[:, :, None, :] * weight).sum(-1)


@right("sinusoids", "complex exponential in float64")
def sinusoids_r(length, d_model):
    f = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    z = np.exp(1j * np.outer(np.arange(length), f))
    out = np.empty((length, d_model))
    out[:, 0::2], out[:, 1::2] = z.imag, z.real
    return torch.from_numpy(out).float()


@right("softmax", "exp of x minus logsumexp")
def softmax_r(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


@right(
    "scaled_dot_product_attention", "mask by a safe maximum and multiplication, divided at the end"
)
def scaled_dot_product_attention_r(query, key, value, mask=None):
    scores = torch.einsum("...td,...sd->...ts", query * key.shape[-1] ** -0.5, key)
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    low = torch.finfo(scores.dtype).min
    seen = torch.where(mask, scores, low)
    top = seen.detach().amax(-1, keepdim=True)
    alive = mask.any(-1, keepdim=True)
    top = torch.where(alive, top, torch.zeros_like(top))
    e = torch.where(mask, scores - top, torch.zeros_like(scores)).exp() * mask
    return (e @ value) / (e.sum(-1, keepdim=True) + (~alive))


@right("padding_mask", "logical_not of eq, reshape")
def padding_mask_r(tokens):
    B, S = tokens.shape
    return tokens.eq(0).logical_not().reshape(B, 1, 1, S)


@right("causal_mask", "cumsum of the unit matrix")
def causal_mask_r(length):
    return torch.eye(length).cumsum(0) > 0


@right("target_mask", "comparing positions and tokens by broadcasting")
def target_mask_r(tokens):
    p = torch.arange(tokens.shape[1], device=tokens.device)
    return ((p[None, :, None] >= p[None, None, :]) & tokens[:, None, :].ne(0)).unsqueeze(1)


@right("split_heads", "stack of chunks")
def split_heads_r(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@right("merge_heads", "cat of the heads")
def merge_heads_r(heads):
    return torch.cat(heads.unbind(1), dim=-1)


@right("multi_head_attention", "a loop over the heads, output summed head by head")
def multi_head_attention_r(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    K = query.shape[-1] // n_heads
    if mask is not None and mask.dim() == 4:
        mask = mask[:, 0]
    total = 0
    for h in range(n_heads):
        s = slice(h * K, (h + 1) * K)
        scores = (query @ w_query[s].T) @ (key @ w_key[s].T).mT * K**-0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, float("-inf"))
        total = total + scores.softmax(-1) @ (value @ w_value[s].T) @ w_output[:, s].T
    return total


class _Norm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight, self.bias, self.eps = (
            nn.Parameter(torch.ones(d_model)),
            nn.Parameter(torch.zeros(d_model)),
            eps,
        )

    def forward(self, x):
        var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        return torch.addcmul(self.bias, (x - mean) * torch.rsqrt(var + self.eps), self.weight)


right("layer_norm", "a module with var_mean, rsqrt and addcmul")(_Norm)


@right("layer_norm", "centring by a matrix, in float64")
def layer_norm_r(x, weight, bias, eps=1e-5):
    D = x.shape[-1]
    c = x.double() @ (torch.eye(D, dtype=torch.float64) - 1 / D)
    return (c / torch.sqrt((c * c).sum(-1, keepdim=True) / D + eps)).to(x.dtype) * weight + bias


@right("dropout", "torch.where with a quotient")
def dropout_r(x, p, keep, training):
    return torch.where(keep, x / (1.0 - p), torch.zeros_like(x)) if training else x


@right("group_sort", "unflatten and sort")
def group_sort_r(x):
    return x.unflatten(-1, (-1, 2)).sort(dim=-1).values.flatten(-2)


@right("decoder_layer", "a list of closures and a fold")
def decoder_layer_r(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    subs = (
        lambda y: self_attention(y, y, y, target_mask),
        lambda y: cross_attention(y, memory, memory, memory_mask),
        feed_forward,
    )
    return reduce(lambda h, pair: h + pair[0](pair[1](h)), zip(subs, norms), x)


@right("causal_self_attention", "position by position")
def causal_self_attention_r(x, training):
    rows = []
    for t in range(x.shape[1]):
        w = (
            torch.einsum("bd,bsd->bs", x[:, t], x[:, : t + 1])
            .div(math.sqrt(x.shape[-1]))
            .softmax(-1)
        )
        rows.append(torch.einsum("bs,bsd->bd", w, x[:, : t + 1]))
    return torch.stack(rows, 1)


@right("cross_entropy", "logsumexp minus the picked logit over the real places only")
def cross_entropy_r(logits, target):
    b, t = target.nonzero(as_tuple=True)
    rows = logits[b, t]
    return (rows.logsumexp(-1) - rows[torch.arange(len(b)), target[b, t]]).mean()


@right("label_smoothed_loss", "lerp between the two losses, on the real places")
def label_smoothed_loss_r(logits, target, smoothing):
    real = target != 0
    lp = logits[real].log_softmax(-1)
    return torch.lerp(
        -lp.gather(1, target[real][:, None]).squeeze(1), -lp.mean(-1), smoothing
    ).mean()


@right("perplexity", "numpy average")
def perplexity_r(losses, counts):
    return float(np.exp(np.average(losses, weights=counts)))


@right("clip_gradients", "hypot over all lengths, float64")
def clip_gradients_r(gradients, limit):
    total = math.hypot(*(float(g.double().norm()) for g in gradients))
    scale = limit / total if total > limit else 1.0
    return [g * scale for g in gradients]


@right("accumulated_update", "torch.stack of the losses, one backward")
def accumulated_update_r(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    torch.stack([compute_loss(p) for p in parts]).mean().backward()
    optimizer.step()
    scheduler.step()


@right("average_checkpoints", "a running mean in float64")
def average_checkpoints_r(checkpoints):
    mean = {}
    for n, c in enumerate(checkpoints, start=1):
        for k, v in c.items():
            old = mean.get(k, torch.zeros_like(v, dtype=torch.float64))
            mean[k] = old + (v.double() - old) / n
    return {k: v.to(checkpoints[0][k].dtype) for k, v in mean.items()}


@right("top_k_probabilities", "softmax of the top k, scattered back")
def top_k_probabilities_r(logits, k):
    values, where = logits.topk(k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, where, values.softmax(-1))


@right("greedy_batch", "stops per sentence, padded again by an exclusive cumsum")
def greedy_batch_r(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        ended = (tokens == 2).any(1)
        if bool(ended.all()):
            break
        tokens = torch.cat((tokens, step(tokens).argmax(-1).masked_fill(ended, 0)[:, None]), 1)
    out = tokens[:, 1:]
    end = (out == 2).long()
    return out * ((end.cumsum(1) - end) == 0)


@right("beam_search", "lists and sorted in place of topk, tuples as hypotheses")
def beam_search_r(step, beam_size, max_length):
    living, aside = [(0.0, (1,))], []
    for _ in range(max_length):
        if not living:
            break
        logp = step(torch.tensor([h for _, h in living])).double().tolist()
        grown = [(s + p, h + (v,)) for (s, h), row in zip(living, logp) for v, p in enumerate(row)]
        best = sorted(grown, key=lambda g: -g[0])[:beam_size]
        aside += [g for g in best if g[1][-1] == 2]
        living = [g for g in best if g[1][-1] != 2]
    _, ids = max(aside + living, key=lambda g: g[0])
    return [i for i in ids[1:] if i != 2]


@right("reorder_cache", "stack row by row")
def reorder_cache_r(cache, rows):
    order = [int(r) for r in rows]
    return [tuple(torch.stack([t[r] for r in order]) for t in pair) for pair in cache]


@right("cut_at_end", "iter with a sentinel")
def cut_at_end_r(ids):
    it = iter([*ids, 2])
    return list(iter(lambda: next(it), 2))
