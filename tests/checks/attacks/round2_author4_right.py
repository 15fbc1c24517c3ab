"""Round 2, author 4: what is right, as it was written from the docstrings alone."""

from kit import wrong, right
import copy, heapq, itertools, math, operator, functools
from collections import Counter, defaultdict
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


@right("number_of_targets", "reduce over repeated factors")
def number_of_targets_r1(vocab_size, length):
    return functools.reduce(operator.mul, itertools.repeat(vocab_size, length), 1)


@right("build_vocabulary", "most frequent first, by enumerate over a chain")
def build_vocabulary_r1(sentences, min_frequency):
    counts = Counter(itertools.chain.from_iterable(sentences))
    words = [w for w, c in counts.most_common() if not c < min_frequency]
    return dict(map(reversed, enumerate(["<pad>", "<sos>", "<eos>", "<unk>", *words])))


@right("encode", "a defaultdict of threes, updated with a copy of the dictionary")
def encode_r1(tokens, vocabulary):
    table = defaultdict(lambda: 3, vocabulary)
    return [*(table[t] for t in tokens), 2]


@right("text_to_ids", "a generator that ends with <eos>")
def text_to_ids_r1(text, tokenize, vocabulary):
    def ids():
        for token in tokenize(text):
            try:
                yield vocabulary[token]
            except KeyError:
                yield 3
        yield 2

    return list(ids())


@right("training_words", "sorted, then groupby")
def training_words_r1(splits, min_frequency):
    words = sorted(itertools.chain(*splits["train"]))
    return [w for w, g in itertools.groupby(words) if len(list(g)) >= min_frequency]


@right("collate", "zip_longest and a transpose")
def collate_r1(rows):
    return (
        torch.tensor(list(itertools.zip_longest(*rows, fillvalue=0)), dtype=torch.long)
        .t()
        .contiguous()
    )


@right("shift", "narrow on the time axis")
def shift_r1(target):
    n = target.size(1) - 1
    return target.narrow(1, 0, n), target.narrow(1, 1, n)


@right("shift", "unfold into pairs of neighbours")
def shift_r2(target):
    pairs = target.unfold(1, 2, 1)
    return pairs[..., 0], pairs[..., 1]


@right("embedding", "one-hot rows times the weight")
def embedding_r1(tokens, weight):
    return F.one_hot(tokens, weight.size(0)).to(weight.dtype) @ weight * math.sqrt(weight.size(1))


@right("tied_logits", "tensordot over the features")
def tied_logits_r1(x, weight):
    return torch.tensordot(x, weight, dims=([-1], [-1]))


@right("sinusoids", "as complex numbers in float64: imaginary part first, real part behind it")
def sinusoids_r1(length, d_model):
    p = torch.arange(length, dtype=torch.float64)
    f = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = torch.outer(p, f)
    z = torch.view_as_real(torch.polar(torch.ones_like(angle), angle))
    return z.flip(-1).reshape(length, d_model).float()


@right("add_positions", "looked up as an embedding of the positions")
def add_positions_r1(x, table):
    return F.embedding(torch.arange(x.size(1), device=x.device), table).unsqueeze(0) + x


@right("softmax", "exp of the distance to logsumexp")
def softmax_r1(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


@right("scaled_dot_product_attention", "−inf, then nan_to_num: masked_fill sends no NaN back")
def scaled_dot_product_attention_r1(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query, key) * key.shape[-1] ** -0.5
    if mask is not None:
        s = s.masked_fill(mask.logical_not(), -math.inf)
    return s.softmax(-1).nan_to_num(nan=0.0) @ value


@right(
    "scaled_dot_product_attention",
    "by hand: exp, where, division by a sum that is never below one half",
)
def scaled_dot_product_attention_r2(query, key, value, mask=None):
    s = (query / math.sqrt(query.size(-1))) @ key.mT
    mask = torch.ones((), dtype=torch.bool) if mask is None else mask
    s = torch.where(mask, s, torch.finfo(s.dtype).min)
    e = torch.exp(s - s.amax(-1, keepdim=True).detach()) * mask
    return (e @ value) / e.sum(-1, keepdim=True).clamp(min=0.5)


@right("padding_mask", "bool() of the ids, with view")
def padding_mask_r1(tokens):
    B, S = tokens.shape
    return tokens.bool().reshape(B, 1, 1, S)


@right("causal_mask", "running sum of the unit matrix")
def causal_mask_r1(length):
    return torch.eye(length).cumsum(0) > 0


@right("causal_mask", "lists of lists, kept by lru_cache and copied")
def causal_mask_r2(length):
    return _triangle(length).clone()


@functools.lru_cache(maxsize=None)
def _triangle(length):
    return torch.tensor([[j <= i for j in range(length)] for i in range(length)])


@right("split_heads", "chunks of the features, stacked on axis 1")
def split_heads_r1(x, n_heads):
    return torch.stack(torch.chunk(x, n_heads, dim=-1), dim=1)


@right("merge_heads", "the heads, unbound and put side by side")
def merge_heads_r1(heads):
    return torch.cat(heads.unbind(1), dim=-1)


@right(
    "multi_head_attention", "head by head, each with its columns of the output weight, and summed"
)
def multi_head_attention_r1(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    K = w_query.size(0) // n_heads
    total = 0
    for h in range(n_heads):
        rows = slice(h * K, (h + 1) * K)
        q, k, v = (
            F.linear(a, w[rows])[:, None]
            for a, w in ((query, w_query), (key, w_key), (value, w_value))
        )
        s = q @ k.mT / math.sqrt(K)
        if mask is not None:
            s = s.masked_fill(~mask, -math.inf)
        total = total + (s.softmax(-1) @ v)[:, 0] @ w_output[:, rows].T
    return total


@right("layer_norm", "group norm with one group, on the positions as a batch")
def layer_norm_r1(x, weight, bias, eps=1e-5):
    return torch.group_norm(x.reshape(-1, x.size(-1)), 1, weight, bias, eps).view_as(x)


class LayerNormR(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight, self.bias = (
            nn.Parameter(torch.ones(d_model)),
            nn.Parameter(torch.zeros(d_model)),
        )

    def forward(self, x):
        d = x - torch.einsum("btd->bt", x)[..., None] / x.size(-1)
        v = torch.einsum("btd,btd->bt", d, d)[..., None] / x.size(-1)
        return torch.addcmul(self.bias, d * (v + 1e-5) ** -0.5, self.weight)


right("layer_norm", "a class, with einsum and addcmul")(LayerNormR)


@right("dropout", "where, with the entries enlarged beforehand")
def dropout_r1(x, p, keep, training):
    return torch.where(keep, x / (1 - p), torch.zeros_like(x)) if training else x.clone()


@right("feed_forward", "einsum, and ReLU as a product with a mask")
def feed_forward_r1(x, w1, b1, w2, b2):
    h = torch.einsum("...d,fd->...f", x, w1) + b1
    return torch.einsum("...f,df->...d", h * (h > 0), w2) + b2


@right("group_sort", "pairs on an axis of their own, sorted")
def group_sort_r1(x):
    return x.unflatten(-1, (-1, 2)).sort(-1).values.flatten(-2)


@right("encoder_layer", "two closures in a loop")
def encoder_layer_r1(x, mask, attention, feed_forward, norm1, norm2):
    for norm, sub in ((norm1, lambda n: attention(n, n, n, mask)), (norm2, feed_forward)):
        x = torch.add(sub(norm(x)), x)
    return x


@right("decoder_layer", "one expression after the other, norms unpacked")
def decoder_layer_r1(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    subs = [
        lambda n: self_attention(n, n, n, target_mask),
        lambda n: cross_attention(n, memory, memory, memory_mask),
        feed_forward,
    ]
    return functools.reduce(lambda y, pair: y + pair[1](pair[0](y)), zip(norms, subs), x)


@right("causal_self_attention", "position by position, without any mask")
def causal_self_attention_r1(x, training):
    out = []
    for t in range(x.size(1)):
        past = x[:, : t + 1]
        w = torch.softmax((past @ x[:, t, :, None])[..., 0] / math.sqrt(x.size(-1)), -1)
        out.append(torch.einsum("bs,bsd->bd", w, past))
    return torch.stack(out, 1)


@right("make_stack", "by recursion")
def make_stack_r1(make_layer, n_layers):
    return [] if n_layers == 0 else make_stack_r1(make_layer, n_layers - 1) + [make_layer()]


@right("transformer_forward", "masks by comparing and a product")
def transformer_forward_r1(source, target, embed_source, embed_target, encoder, decoder, output):
    place = torch.arange(target.size(1), device=target.device)
    source_mask = source.ne(0)[:, None, None, :]
    target_mask = (
        target.ne(0)[:, None, None, :] * (place[None] <= place[:, None])[None, None]
    ).bool()
    memory = encoder(embed_source(source), source_mask)
    y = decoder(embed_target(target), memory, target_mask, source_mask)
    return output(y)


@right("cross_entropy", "logsumexp minus the right logit, over the real places only")
def cross_entropy_r1(logits, target):
    b, t = target.nonzero(as_tuple=True)
    rows = logits[b, t]
    return (rows.logsumexp(-1) - rows[torch.arange(len(b)), target[b, t]]).sum() / len(b)


@right("label_smoothed_loss", "torch's own, with ignore_index, positions last")
def label_smoothed_loss_r1(logits, target, smoothing):
    return F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=0, label_smoothing=smoothing
    )


@right("perplexity", "numpy's weighted average")
def perplexity_r1(losses, counts):
    return float(
        np.exp(np.average(np.asarray(losses, dtype=float), weights=np.asarray(counts, dtype=float)))
    )


@right("inverse_sqrt_schedule", "min of logarithms, then exp")
def inverse_sqrt_schedule_r1(update, d_model, warmup):
    n = math.log(update)
    return math.exp(min(-n / 2, n - 1.5 * math.log(warmup)) - math.log(d_model) / 2)


@right("clip_gradients", "one long vector, cut again")
def clip_gradients_r1(gradients, limit):
    flat = torch.cat([g.reshape(-1) for g in gradients])
    n = torch.linalg.vector_norm(flat)
    if n > limit:
        flat = flat / n * limit
    return [
        part.reshape(g.shape)
        for part, g in zip(flat.split([g.numel() for g in gradients]), gradients)
    ]


@right("training_update", "clipped by hand")
def training_update_r1(model, optimizer, compute_loss):
    for p in model.parameters():
        p.grad = None
    compute_loss().backward()
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    n = math.sqrt(sum(float((g**2).sum()) for g in grads))
    for g in grads:
        g.div_(max(n, 1.0))
    optimizer.step()


@right("accumulated_update", "the mean of the parts' losses, one backward")
def accumulated_update_r1(optimizer, scheduler, parts, compute_loss):
    parts = list(parts)
    optimizer.zero_grad()
    torch.stack([compute_loss(p) for p in parts]).mean().backward()
    optimizer.step()
    scheduler.step()


@right("best_checkpoint", "min over the places, weighted with the batches' tokens")
def best_checkpoint_r1(checkpoints, batches, loss_of):
    return min(
        range(len(checkpoints)),
        key=lambda i: sum(len(b) * float(loss_of(checkpoints[i], b)) for b in batches),
    )


@right("average_checkpoints", "a running mean")
def average_checkpoints_r1(checkpoints):
    mean = {k: torch.zeros_like(v) for k, v in checkpoints[0].items()}
    for n, c in enumerate(checkpoints, 1):
        mean = {k: m + (c[k] - m) / n for k, m in mean.items()}
    return mean


@right("temperature_probabilities", "exp of log_softmax")
def temperature_probabilities_r1(logits, temperature):
    return F.log_softmax(logits.div(temperature), -1).exp()


@right("top_k_probabilities", "scattered from the softmax of the k best")
def top_k_probabilities_r1(logits, k):
    v, i = logits.topk(k, -1)
    return torch.zeros_like(logits).scatter(-1, i, v.softmax(-1))


@right("greedy_search", "by recursion")
def greedy_search_r1(step, max_length):
    def go(tokens):
        if len(tokens) == max_length:
            return tokens
        n = int(step(torch.tensor([[1, *tokens]])).argmax())
        return tokens if n == 2 else go(tokens + [n])

    return go([])


@right("greedy_batch", "flags kept outside a table of padding that is filled column by column")
def greedy_batch_r1(step, n_sentences, max_length):
    out = torch.zeros(n_sentences, max_length + 1, dtype=torch.long)
    out[:, 0] = 1
    alive = torch.ones(n_sentences, dtype=torch.bool)
    for t in range(max_length):
        out[alive, t + 1] = step(out[:, : t + 1].clone()).max(-1).indices[alive]
        alive &= out[:, t + 1] != 2
        if not alive.any():
            break
    return out[:, 1:]


@right("beam_search", "heapq.nlargest over tuples, best finished one kept as we go")
def beam_search_r1(step, beam_size, max_length):
    living, best = [(0.0, ())], (-math.inf, ())
    for _ in range(max_length):
        rows = step(torch.tensor([[1, *t] for _, t in living])).double().tolist()
        nxt = heapq.nlargest(
            beam_size,
            ((s + l, (*t, v)) for (s, t), row in zip(living, rows) for v, l in enumerate(row)),
            key=lambda h: h[0],
        )
        best = max([best] + [(s, t[:-1]) for s, t in nxt if t[-1] == 2], key=lambda h: h[0])
        living = [h for h in nxt if h[1][-1] != 2]
        if not living or living[0][0] < best[0]:
            break
    return list(max([best] + living, key=lambda h: h[0])[1])


@right("embed_next", "narrow and index_select")
def embed_next_r1(tokens, past, weight, table):
    B, t = tokens.shape
    return weight.index_select(0, tokens.reshape(-1)).view(B, t, -1) + table.narrow(0, past, t)


@right("reorder_cache", "index_select on axis 0")
def reorder_cache_r1(cache, rows):
    rows = torch.as_tensor(rows)
    return [tuple(x.index_select(0, rows) for x in pair) for pair in cache]


@right("length_normalised", "times length to the power −α")
def length_normalised_r1(score, length, alpha):
    return score * math.exp(-alpha * math.log(length))


@right("cut_at_end", "takewhile")
def cut_at_end_r1(ids):
    return list(itertools.takewhile(lambda i: i != 2, ids))
