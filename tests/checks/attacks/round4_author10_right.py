"""Round 4, author 10: what is right, as it was written from the docstrings alone."""

from kit import wrong, right
import copy
import functools
import heapq
import itertools
import math
from collections import Counter, defaultdict

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


@right("number_of_targets", "by squaring")
def number_of_targets_r1(vocab_size, length):
    result, base, n = 1, vocab_size, length
    while n:
        if n & 1:
            result *= base
        base *= base
        n >>= 1
    return result


@right("number_of_targets", "reduce over repeat")
def number_of_targets_r2(vocab_size, length):
    return functools.reduce(lambda a, b: a * b, itertools.repeat(vocab_size, length), 1)


@right("build_vocabulary", "defaultdict that numbers by its own length, words sorted backwards")
def build_vocabulary_r1(sentences, min_frequency):
    counts = Counter(itertools.chain.from_iterable(sentences))
    ids = defaultdict(lambda: len(ids))
    for special in "<pad> <sos> <eos> <unk>".split():
        ids[special]
    for word in sorted(counts, reverse=True):
        if not counts[word] < min_frequency:
            ids[word]
    return dict(ids)


@right("encode", "try and except in a generator-like loop")
def encode_r1(tokens, vocabulary):
    ids = []
    for token in tokens:
        try:
            ids.append(vocabulary[token])
        except KeyError:
            ids.append(3)
    return [*ids, 2]


@right("encode", "map over a chain with a padded get")
def encode_r2(tokens, vocabulary):
    return list(
        itertools.chain(map(lambda t: vocabulary[t] if t in vocabulary else 3, tokens), (2,))
    )


@right("text_to_ids", "inserts from behind")
def text_to_ids_r1(text, tokenize, vocabulary):
    ids = [2]
    for token in reversed(list(tokenize(text))):
        ids.insert(0, vocabulary.get(token, 3))
    return ids


@right("training_words", "sorted and grouped")
def training_words_r1(splits, min_frequency):
    words = sorted(w for s in splits["train"] for w in s)
    return [w for w, g in itertools.groupby(words) if sum(1 for _ in g) >= min_frequency]


@right("collate", "zip_longest and a transpose")
def collate_r1(rows):
    return torch.tensor(
        list(itertools.zip_longest(*rows, fillvalue=0)), dtype=torch.long
    ).T.contiguous()


@right("collate", "a mask of places filled with all ids in one go")
def collate_r2(rows):
    lengths = torch.tensor([len(r) for r in rows])
    out = torch.zeros(len(rows), int(lengths.max()), dtype=torch.int64)
    out[torch.arange(out.shape[1])[None, :] < lengths[:, None]] = torch.tensor(
        [i for r in rows for i in r]
    )
    return out


@right("shift", "unfold into pairs of neighbours")
def shift_r1(target):
    pairs = target.unfold(1, 2, 1)
    return pairs.select(-1, 0), pairs.select(-1, 1)


@right("shift", "roll and cut")
def shift_r2(target):
    n = target.size(1) - 1
    return target.narrow(1, 0, n).clone(), target.roll(-1, 1).narrow(1, 0, n)


@right("embedding", "one-hot matrix times the weight")
def embedding_r1(tokens, weight):
    hot = (tokens.unsqueeze(-1) == torch.arange(weight.size(0))).to(weight.dtype)
    return torch.einsum("btv,vd->btd", hot, weight).mul(math.sqrt(weight.size(1)))


class _Embedding(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model))
        nn.init.normal_(self.weight)

    def forward(self, tokens):
        flat = torch.index_select(self.weight, 0, tokens.reshape(-1))
        return flat.view(*tokens.shape, -1) * self.weight.shape[1] ** 0.5


right("embedding", "class with index_select")(_Embedding)


@right("tied_logits", "F.linear")
def tied_logits_r1(x, weight):
    return F.linear(x, weight)


@right("tied_logits", "a loop over the vocabulary")
def tied_logits_r2(x, weight):
    return torch.stack([(x * row).sum(-1) for row in weight], dim=-1)


@right("sinusoids", "real and imaginary part of e^{ia}, in double precision")
def sinusoids_r1(length, d_model):
    w = np.exp(-math.log(10000.0) * np.arange(0, d_model, 2) / d_model)
    z = np.exp(1j * np.outer(np.arange(length), w))
    return torch.from_numpy(np.stack([z.imag, z.real], axis=-1).reshape(length, d_model)).float()


@right("sinusoids", "number by number with math")
def sinusoids_r2(length, d_model):
    return torch.tensor(
        [
            [
                (math.cos if c % 2 else math.sin)(p / 10000 ** (2 * (c // 2) / d_model))
                for c in range(d_model)
            ]
            for p in range(length)
        ]
    )


@right("add_positions", "position after position, stacked again")
def add_positions_r1(x, table):
    return torch.stack([v + table[p] for p, v in enumerate(x.unbind(1))], dim=1)


@right("add_positions", "an embedding lookup of arange")
def add_positions_r2(x, table):
    p = torch.arange(x.size(1)).expand(x.size(0), -1)
    return torch.add(F.embedding(p, table), x)


@right("softmax", "exp of the scores less their logsumexp")
def softmax_r1(scores):
    return (scores - torch.logsumexp(scores, dim=-1, keepdim=True)).exp()


@right("softmax", "with a detached maximum")
def softmax_r2(scores):
    top = torch.amax(scores.detach(), dim=-1, keepdim=True)
    e = torch.exp(scores.sub(top))
    return e.div(e.sum(-1, keepdim=True))


@right(
    "scaled_dot_product_attention",
    "exponentials by hand, masked ones zero, and a denominator of one where nothing is seen",
)
def sdpa_r1(query, key, value, mask=None):
    s = torch.matmul(query / math.sqrt(key.size(-1)), key.mT)
    if mask is None:
        mask = torch.ones(1, 1, dtype=torch.bool)
    hidden = mask.logical_not().expand(s.shape) if mask.dim() <= s.dim() else mask.logical_not()
    s = s.masked_fill(hidden, torch.finfo(s.dtype).min)
    e = torch.exp(s - s.amax(-1, keepdim=True).detach()).masked_fill(hidden, 0.0)
    z = e.sum(-1, keepdim=True)
    return (e / torch.where(z == 0, torch.ones_like(z), z)) @ value


@right("scaled_dot_product_attention", "where, softmax, where again")
def sdpa_r2(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query, key).div(key.shape[-1] ** 0.5)
    if mask is None:
        return torch.einsum("...ts,...sk->...tk", s.softmax(-1), value)
    low = torch.tensor(-1e30, dtype=s.dtype)
    w = torch.where(mask, s, low).softmax(-1)
    w = torch.where(mask, w, torch.zeros((), dtype=s.dtype))
    return torch.einsum("...ts,...sk->...tk", w, value)


@right("padding_mask", "through bool()")
def padding_mask_r1(tokens):
    return (
        tokens.bool().view(tokens.size(0), 1, 1, tokens.size(1))
        if tokens.is_contiguous()
        else tokens.bool()[:, None, None]
    )


@right("padding_mask", "row by row in Python")
def padding_mask_r2(tokens):
    return torch.tensor([[[[bool(t) for t in row]]] for row in tokens.tolist()])


@right("causal_mask", "cumsum of the unit matrix down the rows")
def causal_mask_r1(length):
    return torch.eye(length).cumsum(0).bool()


@right("causal_mask", "the outside of an upper triangle")
def causal_mask_r2(length):
    return ~torch.ones((length, length), dtype=torch.bool).triu_(1)


@right("target_mask", "two where conditions on indices, filled by index")
def target_mask_r1(tokens):
    B, T = tokens.shape
    out = torch.zeros(B, 1, T, T, dtype=torch.bool)
    for t in range(T):
        out[:, 0, t, : t + 1] = tokens[:, : t + 1] != 0
    return out


@right("target_mask", "ids copied to every query, then tril")
def target_mask_r2(tokens):
    B, T = tokens.shape
    return tokens.ne(0).long().view(B, 1, 1, T).expand(B, 1, T, T).tril().bool()


@right("split_heads", "chunks, stacked")
def split_heads_r1(x, n_heads):
    return torch.stack(torch.tensor_split(x, n_heads, dim=-1), dim=1)


@right("split_heads", "unflatten and movedim")
def split_heads_r2(x, n_heads):
    return torch.movedim(x.unflatten(-1, (n_heads, -1)), 2, 1)


@right("merge_heads", "cat of the unbound heads")
def merge_heads_r1(heads):
    return torch.cat(torch.unbind(heads, 1), dim=2)


@right("multi_head_attention", "head by head, each with its slice of the output matrix, summed")
def mha_r1(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    D = w_query.shape[0]
    K = D // n_heads
    if mask is not None and mask.dim() == 4:
        mask = mask[:, 0]
    out = 0
    for h in range(n_heads):
        rows = slice(h * K, (h + 1) * K)
        q, k, v = (
            F.linear(a, w[rows]) for a, w in ((query, w_query), (key, w_key), (value, w_value))
        )
        s = torch.bmm(q, k.transpose(1, 2)) * K**-0.5
        if mask is not None:
            s = s.masked_fill(~mask, float("-inf"))
        out = out + F.linear(s.softmax(-1) @ v, w_output[:, rows])
    return out


class _EinsumMHA(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.h = n_heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        )

    def forward(self, query, key, value, mask=None):
        q = self.query(query).unflatten(-1, (self.h, -1))
        k = self.key(key).unflatten(-1, (self.h, -1))
        v = self.value(value).unflatten(-1, (self.h, -1))
        s = torch.einsum("bthk,bshk->bhts", q / q.shape[-1] ** 0.5, k)
        if mask is not None:
            mask = mask.unsqueeze(1) if mask.dim() == 3 else mask
            s = torch.where(mask, s, torch.full_like(s, float("-inf")))
        return self.output(torch.einsum("bhts,bshk->bthk", s.softmax(-1), v).flatten(2))


right("multi_head_attention", "class with einsum")(_EinsumMHA)


@right("layer_norm", "centred first, then the mean of squares and rsqrt")
def layer_norm_r1(x, weight, bias, eps=1e-5):
    c = x - x.mean(dim=-1, keepdim=True)
    return torch.addcmul(bias, weight, c * torch.rsqrt((c * c).mean(dim=-1, keepdim=True) + eps))


@right("layer_norm", "var_mean with correction 0")
def layer_norm_r2(x, weight, bias, eps=1e-5):
    v, m = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return bias + (x - m).div((v + eps) ** 0.5).mul(weight)


@right("layer_norm_parameters", "as nn.Parameters out of nn.LayerNorm")
def layer_norm_parameters_r1(d_model):
    n = nn.LayerNorm(d_model)
    return n.weight, n.bias


@right("pre_norm", "reduce through the two functions")
def pre_norm_r1(x, sublayer, norm):
    return functools.reduce(lambda y, f: f(y), (norm, sublayer), x).add(x)


@right("post_norm", "torch.add and a closure")
def post_norm_r1(x, sublayer, norm):
    def inner():
        return torch.add(sublayer(x), x)

    return norm(inner())


@right("dropout", "a factor for each entry by where")
def dropout_r1(x, p, keep, training):
    if training:
        return torch.where(keep, x / (1.0 - p), torch.zeros((), dtype=x.dtype))
    return x


@right("sublayer_with_dropout", "nested in a Sequential-like loop")
def sublayer_with_dropout_r1(x, sublayer, norm, dropout):
    y = x
    for f in (norm, sublayer, dropout):
        y = f(y)
    return y + x


@right("feed_forward", "addmm-like with einsum and clamp")
def feed_forward_r1(x, w1, b1, w2, b2):
    h = torch.clamp(torch.einsum("...d,fd->...f", x, w1) + b1, min=0)
    return torch.einsum("...f,df->...d", h, w2) + b2


@right("group_sort", "sort of pairs along a new axis")
def group_sort_r1(x):
    return x.unflatten(-1, (-1, 2)).sort(dim=-1).values.flatten(-2)


@right("group_sort", "where the first of a pair is larger, exchange")
def group_sort_r2(x):
    a, b = x[..., ::2], x[..., 1::2]
    swap = a > b
    return torch.stack((torch.where(swap, b, a), torch.where(swap, a, b)), dim=-1).reshape(x.shape)


@right("encoder_layer", "a local residual function with closures")
def encoder_layer_r1(x, mask, attention, feed_forward, norm1, norm2):
    def self_attend(n):
        return attention(n, n, n, mask)

    for norm, sub in ((norm1, self_attend), (norm2, feed_forward)):
        x = x + sub(norm(x))
    return x


@right("decoder_layer", "list of sublayers zipped with the norms")
def decoder_layer_r1(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    subs = (
        lambda n: self_attention(n, n, n, target_mask),
        lambda n: cross_attention(n, memory, memory, memory_mask),
        feed_forward,
    )
    for sub, norm in zip(subs, norms):
        x = sub(norm(x)).add(x)
    return x


@right("causal_self_attention", "prefix by prefix")
def causal_self_attention_r1(x, training):
    out = []
    for t in range(x.shape[1]):
        past = x[:, : t + 1]
        w = (past @ x[:, t].unsqueeze(-1) / x.shape[-1] ** 0.5).softmax(1)
        out.append((w * past).sum(1))
    return torch.stack(out, 1)


@right("causal_self_attention", "the ready-made causal attention")
def causal_self_attention_r2(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=True)


@right("make_stack", "recursion")
def make_stack_r1(make_layer, n_layers):
    return [] if n_layers == 0 else [make_layer()] + make_stack_r1(make_layer, n_layers - 1)


@right("transformer_forward", "only the causal mask for the target, since padding stands behind")
def transformer_forward_r1(source, target, embed_source, embed_target, encoder, decoder, output):
    B, T = target.shape
    m = source.ne(0)[:, None, None, :]
    c = torch.ones(B, 1, T, T, dtype=torch.bool).tril()
    return output(decoder(embed_target(target), encoder(embed_source(source), m), c, m))


@right("cross_entropy", "logsumexp less the right logit, a mask by indexing")
def cross_entropy_r1(logits, target):
    b, t = torch.nonzero(target, as_tuple=True)
    rows = logits[b, t]
    return (torch.logsumexp(rows, -1) - rows[torch.arange(len(b)), target[b, t]]).mean()


@right("cross_entropy", "class axis moved, sum over the number of real tokens")
def cross_entropy_r2(logits, target):
    nll = F.nll_loss(F.log_softmax(logits, dim=-1).transpose(1, 2), target, reduction="none")
    real = target != 0
    return torch.where(real, nll, torch.zeros_like(nll)).sum() / real.sum()


@right("label_smoothed_loss", "the product of a smoothed distribution and the log-probabilities")
def label_smoothed_loss_r1(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    V = lp.shape[-1]
    goal = F.one_hot(target, V).to(lp.dtype) * (1 - smoothing) + smoothing / V
    return -(goal * lp)[target > 0].sum(-1).mean()


@right("perplexity", "numpy's weighted average")
def perplexity_r1(losses, counts):
    return float(
        np.exp(np.average(np.asarray(losses, dtype=float), weights=np.asarray(counts, dtype=float)))
    )


@right("inverse_sqrt_schedule", "two cases, one root")
def schedule_r1(update, d_model, warmup):
    if update < warmup:
        return update / (math.sqrt(d_model) * warmup * math.sqrt(warmup))
    return 1.0 / math.sqrt(d_model * update)


@right("clip_gradients", "hypot of all lengths")
def clip_r1(gradients, limit):
    total = math.hypot(*(float(torch.linalg.vector_norm(g)) for g in gradients))
    factor = 1.0 if total <= limit else limit / total
    return [g.detach().clone().mul_(factor) for g in gradients]


@right("training_update", "torch.autograd.grad and gradients set by hand")
def training_update_r1(model, optimizer, compute_loss):
    params = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(compute_loss(), params)
    total = float(sum((g.double() ** 2).sum() for g in grads)) ** 0.5
    for p, g in zip(params, grads):
        p.grad = g / total if total > 1.0 else g
    optimizer.step()


@right("accumulated_update", "one backward pass of the mean of all losses")
def accumulated_update_r1(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad(set_to_none=False)
    torch.stack([compute_loss(p) for p in parts]).mean().backward()
    optimizer.step()
    scheduler.step()


@right("best_checkpoint", "min of an enumeration by the total loss")
def best_checkpoint_r1(checkpoints, batches, loss_of):
    return min(
        range(len(checkpoints)),
        key=lambda i: math.fsum(len(b) * float(loss_of(checkpoints[i], b)) for b in batches),
    )


@right("average_checkpoints", "stack and mean, one weight after the other")
def average_checkpoints_r1(checkpoints):
    return {
        name: torch.mean(torch.stack([c[name] for c in checkpoints]), dim=0)
        for name in checkpoints[-1]
    }


@right("next_token", "max with indices over a selected position")
def next_token_r1(logits):
    return logits.select(1, logits.size(1) - 1).max(dim=1)[1]


@right("temperature_probabilities", "Boltzmann with the maximum taken off first")
def temperature_r1(logits, temperature):
    z = (logits - logits.amax(-1, keepdim=True).detach()) / temperature
    return torch.exp(z - z.logsumexp(-1, keepdim=True))


@right("top_k_probabilities", "softmax of the k best, scattered into zeros")
def top_k_r1(logits, k):
    values, places = logits.topk(k, dim=-1, sorted=False)
    return torch.zeros_like(logits).scatter(-1, places, values.softmax(-1))


@right("greedy_search", "recursive")
def greedy_search_r1(step, max_length):
    def go(tokens):
        if len(tokens) > max_length:
            return []
        n = int(torch.argmax(step(torch.tensor([tokens])), dim=-1)[0])
        return [] if n == 2 else [n] + go(tokens + [n])

    return go([1])


@right("greedy_batch", "writes into a buffer, one column after the other, all steps")
def greedy_batch_r1(step, n_sentences, max_length):
    buf = torch.zeros(n_sentences, max_length + 1, dtype=torch.long)
    buf[:, 0] = 1
    alive = torch.ones(n_sentences, dtype=torch.bool)
    for t in range(max_length):
        if not alive.any():
            break
        n = step(buf[:, : t + 1]).argmax(-1)
        buf[:, t + 1] = torch.where(alive, n, torch.zeros_like(n))
        alive = alive & (n != 2)
    return buf[:, 1:]


@right(
    "beam_search", "heapq.nlargest over all continuations; stops early when no living one can win"
)
def beam_search_r1(step, beam_size, max_length):
    live, best = [(0.0, (1,))], (-math.inf, ())
    for t in range(max_length):
        lp = step(torch.tensor([h for _, h in live])).tolist()
        grown = ((s + p, h + (v,)) for (s, h), row in zip(live, lp) for v, p in enumerate(row))
        top = heapq.nlargest(beam_size, grown, key=lambda c: c[0])
        live = []
        for s, h in top:
            if h[-1] == 2 or t == max_length - 1:
                best = max(best, (s, h), key=lambda c: c[0])
            else:
                live.append((s, h))
        if not live or best[0] >= live[0][0]:
            break
    h = best[1][1:]
    return list(h[:-1] if h[-1:] == (2,) else h)


@right("beam_search", "with tensors: topk of the flattened scores")
def beam_search_r2(step, beam_size, max_length):
    tokens, scores = torch.ones(1, 1, dtype=torch.long), torch.zeros(1)
    done = []
    for _ in range(max_length):
        lp = step(tokens)
        total = (scores[:, None] + lp).flatten()
        scores, flat = total.topk(beam_size)
        parent = torch.div(flat, lp.shape[1], rounding_mode="floor")
        tokens = torch.cat([tokens[parent], (flat % lp.shape[1])[:, None]], 1)
        end = tokens[:, -1] == 2
        done += [(float(s), r.tolist()[1:-1]) for s, r in zip(scores[end], tokens[end])]
        tokens, scores = tokens[~end], scores[~end]
        if not len(tokens):
            break
    done += [(float(s), r.tolist()[1:]) for s, r in zip(scores, tokens)]
    return max(done, key=lambda c: c[0])[1]


def _candidates(step, live):
    lp = step(torch.tensor([h for h, _ in live]))
    return [
        (h + [v], s + float(lp[i, v])) for i, (h, s) in enumerate(live) for v in range(lp.shape[1])
    ]


def _clean(h):
    return [t for t in h[1:] if t != 2]


@right(
    "beam_search",
    "the beam is filled up with living ones: they rank below one that ended and, as log-probabilities are never above 0, cannot win",
)
def beam_search_r3(step, beam_size, max_length):
    live, done = [([1], 0.0)], []
    for _ in range(max_length):
        cand = sorted(_candidates(step, live), key=lambda c: -c[1])
        done += [c for c in cand[:beam_size] if c[0][-1] == 2]
        live = [c for c in cand if c[0][-1] != 2][:beam_size]
        if not live:
            break
    return _clean(max(done + live, key=lambda c: c[1])[0])


@right("embed_next", "lookup of both by index tensors")
def embed_next_r1(tokens, past, weight, table):
    p = torch.arange(past, past + tokens.size(1))
    return F.embedding(tokens, weight) + F.embedding(p, table)[None]


@right("reorder_cache", "row by row, stacked")
def reorder_cache_r1(cache, rows):
    return [tuple(torch.stack([part[int(r)] for r in rows]) for part in layer) for layer in cache]


@right("length_normalised", "a negative power")
def length_normalised_r1(score, length, alpha):
    return score * float(length) ** -float(alpha)


@right("cut_at_end", "takewhile")
def cut_at_end_r1(ids):
    return list(itertools.takewhile(lambda i: i != 2, ids))
