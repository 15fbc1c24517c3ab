"""Round 1, author 1: what is right, as it was written from the docstrings alone."""

from kit import wrong, right
import functools, heapq, itertools, math
from collections import Counter, defaultdict
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


@right("number_of_targets", "a loop that multiplies whole numbers")
def number_of_targets_1(vocab_size, length):
    n = 1
    for _ in range(length):
        n *= vocab_size
    return n


@right("number_of_targets", "recursion by halves")
def number_of_targets_2(vocab_size, length):
    if length == 0:
        return 1
    half = number_of_targets_2(vocab_size, length // 2)
    return half * half * (vocab_size if length % 2 else 1)


@right("build_vocabulary", "defaultdict, words in alphabetical order")
def build_vocabulary_1(sentences, min_frequency):
    counts = defaultdict(int)
    for s in sentences:
        for w in s:
            counts[w] += 1
    special = ["<pad>", "<sos>", "<eos>", "<unk>"]
    words = sorted(w for w, c in counts.items() if c >= min_frequency and w not in special)
    return {w: i for i, w in enumerate(special + words)}


@right("build_vocabulary", "setdefault, so that special tokens in the text keep their ids")
def build_vocabulary_2(sentences, min_frequency):
    counts = Counter(itertools.chain.from_iterable(sentences))
    vocab = dict(zip(("<pad>", "<sos>", "<eos>", "<unk>"), range(4)))
    for w, c in reversed(counts.most_common()):
        if not c < min_frequency:
            vocab.setdefault(w, len(vocab))
    return vocab


@right("encode", "try and except")
def encode_1(tokens, vocabulary):
    ids = []
    for t in tokens:
        try:
            ids.append(vocabulary[t])
        except KeyError:
            ids.append(vocabulary["<unk>"])
    ids.append(vocabulary["<eos>"])
    return ids


@right("encode", "map and a conditional expression")
def encode_2(tokens, vocabulary):
    return [*map(lambda t: vocabulary[t] if t in vocabulary else 3, tokens), 2]


@right("text_to_ids", "a generator")
def text_to_ids_1(text, tokenize, vocabulary):
    def ids():
        for t in tokenize(text):
            yield vocabulary.get(t, 3)
        yield 2

    return list(ids())


@right("training_words", "each distinct word counted with list.count")
def training_words_1(splits, min_frequency):
    words = [w for s in splits["train"] for w in s]
    return [w for w in set(words) if words.count(w) >= min_frequency]


@right("training_words", "Counter.update, a set back")
def training_words_2(splits, min_frequency):
    c = Counter()
    for s in splits["train"]:
        c.update(s)
    return {w for w in c if c[w] >= min_frequency}


@right("collate", "zip_longest and transpose")
def collate_1(rows):
    rows = [[int(t) for t in r] for r in rows]
    columns = list(itertools.zip_longest(*rows, fillvalue=0))
    return torch.tensor(columns, dtype=torch.long).T.contiguous()


@right("collate", "NumPy buffer of whole numbers")
def collate_2(rows):
    out = np.zeros((len(rows), max(map(len, rows))), dtype=np.int64)
    for i, r in enumerate(rows):
        for j, t in enumerate(r):
            out[i, j] = int(t)
    return torch.from_numpy(out)


@right("shift", "narrow")
def shift_1(target):
    n = target.size(1) - 1
    return target.narrow(1, 0, n), target.narrow(1, 1, n)


@right("shift", "index_select by aranges")
def shift_2(target):
    i = torch.arange(target.shape[1] - 1)
    return target[:, i], target[:, i + 1]


@right("embedding", "one-hot times matrix")
def embedding_1(tokens, weight):
    V, D = weight.shape
    return F.one_hot(tokens, V).to(weight.dtype) @ (weight * D**0.5)


class EmbeddingClass(nn.Module):
    def __init__(self, vocab_size, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(vocab_size, d_model).normal_())
        self.factor = d_model**0.5

    def forward(self, tokens):
        flat = self.weight.index_select(0, tokens.reshape(-1))
        return flat.view(*tokens.shape, -1).mul(self.factor)


right("embedding", "a class with index_select")(EmbeddingClass)


@right("tied_logits", "einsum")
def tied_logits_1(x, weight):
    return torch.einsum("btd,vd->btv", x, weight)


@right("tied_logits", "F.linear without a bias")
def tied_logits_2(x, weight):
    return F.linear(x, weight)


@right("tied_logits", "one column of the vocabulary at a time")
def tied_logits_3(x, weight):
    return torch.stack([(x * row).sum(-1) for row in weight], dim=-1)


@right("sinusoids", "two loops with math")
def sinusoids_1(length, d_model):
    rows = []
    for p in range(length):
        row = []
        for j in range(d_model):
            angle = p / 10000 ** ((j - j % 2) / d_model)
            row.append(math.cos(angle) if j % 2 else math.sin(angle))
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float32)


@right("sinusoids", "complex exponential, in float64")
def sinusoids_2(length, d_model):
    f = 10000.0 ** (-np.arange(0, d_model, 2) / d_model)
    z = np.exp(1j * np.outer(np.arange(length), f))
    out = np.stack([z.imag, z.real], axis=-1).reshape(length, -1)
    return torch.tensor(out[:, :d_model], dtype=torch.float32)


@right("add_positions", "F.embedding of an arange")
def add_positions_1(x, table):
    return F.embedding(torch.arange(x.shape[1]), table).expand_as(x) + x


@right("add_positions", "position by position, stacked")
def add_positions_2(x, table):
    return torch.stack([x[:, p] + table[p] for p in range(x.shape[1])], dim=1)


@right("softmax", "exp of scores minus logsumexp")
def softmax_1(scores):
    return torch.exp(scores - torch.logsumexp(scores, dim=-1, keepdim=True))


@right("softmax", "the last axis brought to the front")
def softmax_2(scores):
    s = scores.movedim(-1, 0)
    e = (s - s.amax(0)).exp()
    return (e / e.sum(0)).movedim(0, -1)


@right("softmax", "row by row in a loop")
def softmax_3(scores):
    rows = []
    for r in scores.reshape(-1, scores.shape[-1]):
        e = torch.exp(r - r.max())
        rows.append(e / e.sum())
    return torch.stack(rows).reshape(scores.shape)


@right("scaled_dot_product_attention", "softmax by hand; the sum is guarded for empty rows")
def sdpa_1(query, key, value, mask=None):
    s = torch.einsum("...tk,...sk->...ts", query, key) * key.shape[-1] ** -0.5
    if mask is None:
        mask = torch.ones((), dtype=torch.bool)
    top = s.masked_fill(~mask, -1e30).amax(-1, keepdim=True)
    e = torch.exp((s - top).masked_fill(~mask, -1e30)) * mask
    total = e.sum(-1, keepdim=True)
    return (e / total.masked_fill(total == 0, 1.0)) @ value


@right("scaled_dot_product_attention", "the scale on the query, where() for the empty rows")
def sdpa_2(query, key, value, mask=None):
    q = query / query.size(-1) ** 0.5
    s = torch.matmul(q, key.mT)
    if mask is None:
        return torch.softmax(s, -1) @ value
    some = mask.any(-1, keepdim=True)
    s = torch.where(mask, s, torch.full_like(s, -torch.inf))
    s = torch.where(some, s, torch.zeros_like(s))
    return torch.where(some, torch.softmax(s, -1), torch.zeros_like(s)) @ value


@right("padding_mask", "ne, then a view")
def padding_mask_1(tokens):
    return tokens.ne(0).view(tokens.size(0), 1, 1, tokens.size(1))


@right("padding_mask", "loops over Python lists")
def padding_mask_2(tokens):
    return torch.tensor([[[[t != 0 for t in row]]] for row in tokens.tolist()], dtype=torch.bool)


@right("causal_mask", "by comparing two aranges")
def causal_mask_1(length):
    i = torch.arange(length)
    return i[None, :] <= i[:, None]


@right("causal_mask", "the cumulative sum of a unit matrix")
def causal_mask_2(length):
    return torch.eye(length).cumsum(0).bool()


@right("causal_mask", "NumPy's tri")
def causal_mask_3(length):
    return torch.from_numpy(np.tri(length, dtype=bool))


@right("target_mask", "tril of an expanded padding mask")
def target_mask_2(tokens):
    B, T = tokens.shape
    return tokens.ne(0).view(B, 1, 1, T).expand(B, 1, T, T).tril()


@right("split_heads", "chunks, stacked")
def split_heads_1(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@right("split_heads", "slices in a loop into a buffer")
def split_heads_2(x, n_heads):
    B, T, D = x.shape
    K = D // n_heads
    out = x.new_empty(B, n_heads, T, K)
    for h in range(n_heads):
        out[:, h] = x[:, :, h * K : (h + 1) * K]
    return out


@right("split_heads", "unflatten and movedim")
def split_heads_3(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).movedim(2, 1)


@right("merge_heads", "cat of the unbound heads")
def merge_heads_1(heads):
    return torch.cat(heads.unbind(1), dim=-1)


@right("merge_heads", "permute and flatten")
def merge_heads_2(heads):
    return heads.permute(0, 2, 1, 3).flatten(2)


@right("multi_head_attention", "head by head; the slices of the output weight are added up")
def multi_head_attention_1(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    K = w_query.shape[0] // n_heads
    total = 0
    for h in range(n_heads):
        part = slice(h * K, (h + 1) * K)
        q, k, v = query @ w_query[part].T, key @ w_key[part].T, value @ w_value[part].T
        s = (q @ k.transpose(-2, -1) / math.sqrt(K)).unsqueeze(1)
        if mask is not None:
            m = mask
            if m.dim() == 4 and m.shape[1] == n_heads and n_heads > 1:
                m = m[:, h : h + 1]
            s = s.masked_fill(~m, float("-inf"))
        w = torch.nan_to_num(torch.softmax(s, -1), nan=0.0).squeeze(1)
        total = total + (w @ v) @ w_output[:, part].T
    return total


@right("multi_head_attention", "einsum throughout")
def multi_head_attention_2(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    D = w_query.shape[1]
    wq, wk, wv = (w.reshape(n_heads, -1, D) for w in (w_query, w_key, w_value))
    q = torch.einsum("btd,hkd->bhtk", query, wq)
    k = torch.einsum("bsd,hkd->bhsk", key, wk)
    v = torch.einsum("bsd,hkd->bhsk", value, wv)
    s = torch.einsum("bhtk,bhsk->bhts", q, k) / q.shape[-1] ** 0.5
    if mask is not None:
        s = s.masked_fill(mask.logical_not(), float("-inf"))
    w = torch.softmax(s, -1)
    if mask is not None:
        w = w.masked_fill(mask.logical_not(), 0.0)
    return torch.einsum("bhts,bhsk,ehk->bte", w, v, w_output.reshape(-1, n_heads, q.shape[-1]))


class MultiHeadClass(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.n = n_heads
        for name in ("query", "key", "value", "output"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, query, key, value, mask=None):
        q, k, v = (
            torch.stack(f(a).chunk(self.n, -1), 1)
            for f, a in ((self.query, query), (self.key, key), (self.value, value))
        )
        return self.output(torch.cat(sdpa_1(q, k, v, mask).unbind(1), -1))


right("multi_head_attention", "a class, heads by chunk and unbind")(MultiHeadClass)


@right("layer_norm", "var_mean and rsqrt")
def layer_norm_1(x, weight, bias, eps=1e-5):
    v, m = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
    return torch.addcmul(bias, (x - m) * torch.rsqrt(v + eps), weight)


@right("layer_norm", "sums divided by D; the centred x is reused")
def layer_norm_2(x, weight, bias, eps=1e-5):
    D = x.shape[-1]
    c = x - x.sum(-1, keepdim=True) / D
    return c / ((c * c).sum(-1, keepdim=True) / D + eps) ** 0.5 * weight + bias


class LayerNormClass(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight, self.bias = (
            nn.Parameter(torch.ones(d_model)),
            nn.Parameter(torch.zeros(d_model)),
        )

    def forward(self, x):
        c = x.double() - x.double().mean(-1, keepdim=True)
        c = c / c.square().mean(-1, keepdim=True).add(1e-5).sqrt()
        return c.to(x.dtype) * self.weight + self.bias


right("layer_norm", "a class that reckons in float64")(LayerNormClass)


@right("layer_norm_parameters", "nn.Parameter by full")
def layer_norm_parameters_1(d_model):
    return nn.Parameter(torch.full((d_model,), 1.0)), nn.Parameter(torch.full((d_model,), 0.0))


@right("pre_norm", "torch.add, the other way round")
def pre_norm_1(x, sublayer, norm):
    return torch.add(sublayer(norm(x)), x)


@right("post_norm", "composed of small functions")
def post_norm_1(x, sublayer, norm):
    add = lambda f: lambda a: f(a) + a
    return functools.reduce(lambda a, f: f(a), (add(sublayer), norm), x)


@right("dropout", "where on the condition")
def dropout_1(x, p, keep, training):
    if not training:
        return x
    return torch.where(keep, x / (1 - p) if p < 1 else x, torch.zeros((), dtype=x.dtype))


@right("dropout", "boolean indexing in a copy")
def dropout_2(x, p, keep, training):
    out = x.clone()
    if training:
        out[torch.logical_not(keep)] = 0
        out[keep] = out[keep] * (1 / (1 - p)) if p != 1 else out[keep]
    return out


@right("sublayer_with_dropout", "reduce over the chain of functions")
def sublayer_with_dropout_1(x, sublayer, norm, dropout):
    y = x
    for f in (norm, sublayer, dropout):
        y = f(y)
    return y + x


@right("feed_forward", "F.linear and (|h| + h) / 2")
def feed_forward_1(x, w1, b1, w2, b2):
    h = F.linear(x, w1, b1)
    return F.linear((h.abs() + h) / 2, w2, b2)


@right("feed_forward", "einsum, the negative entries multiplied away")
def feed_forward_2(x, w1, b1, w2, b2):
    h = torch.einsum("...d,fd->...f", x, w1) + b1
    h = h * (h > 0)
    return torch.einsum("...f,df->...d", h, w2) + b2


@right("group_sort", "reshape to pairs and sort")
def group_sort_1(x):
    return x.unflatten(-1, (-1, 2)).sort(dim=-1).values.flatten(-2)


@right("group_sort", "where in both directions")
def group_sort_2(x):
    a, b = x[..., ::2], x[..., 1::2]
    out = torch.empty_like(x)
    out[..., ::2] = torch.where(a <= b, a, b)
    out[..., 1::2] = torch.where(a <= b, b, a)
    return out


@right("encoder_layer", "a loop over two closures")
def encoder_layer_1(x, mask, attention, feed_forward, norm1, norm2):
    def look(n):
        return attention(n, n, n, mask)

    for norm, sublayer in ((norm1, look), (norm2, feed_forward)):
        x = sublayer(norm(x)) + x
    return x


@right("decoder_layer", "a list of sublayers")
def decoder_layer_1(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    subs = [
        lambda n: self_attention(n, n, n, target_mask),
        lambda n: cross_attention(n, memory, memory, memory_mask),
        feed_forward,
    ]
    for norm, sub in zip(norms, subs):
        x = x + sub(norm(x))
    return x


@right("decoder_layer", "recursion over the sublayers")
def decoder_layer_2(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    def go(y, i):
        if i == 3:
            return y
        n = norms[i](y)
        if i == 0:
            d = self_attention(n, n, n, target_mask)
        elif i == 1:
            d = cross_attention(n, memory, memory, memory_mask)
        else:
            d = feed_forward(n)
        return go(y + d, i + 1)

    return go(x, 0)


@right("causal_self_attention", "position by position, only what came before is touched")
def causal_self_attention_1(x, training):
    out = []
    for t in range(x.shape[1]):
        past = x[:, : t + 1]
        w = torch.softmax((past * x[:, t : t + 1]).sum(-1) / math.sqrt(x.shape[-1]), -1)
        out.append((w[..., None] * past).sum(1))
    return torch.stack(out, 1)


@right("make_stack", "a while loop")
def make_stack_1(make_layer, n_layers):
    layers = []
    while len(layers) < n_layers:
        layers += [make_layer()]
    return layers


@right("transformer_forward", "masks by broadcasting aranges")
def transformer_forward_1(source, target, embed_source, embed_target, encoder, decoder, output):
    see_source = source.ne(0).unsqueeze(1).unsqueeze(1)
    i = torch.arange(target.size(1))
    see_target = target.ne(0)[:, None, None, :].logical_and(i[:, None].ge(i))
    memory = encoder(embed_source(source), see_source)
    return output(decoder(embed_target(target), memory, see_target, see_source))


@right("cross_entropy", "logsumexp minus the right logit, by boolean indexing")
def cross_entropy_1(logits, target):
    real = target != 0
    z, t = logits[real], target[real]
    return (torch.logsumexp(z, -1) - z[torch.arange(len(t)), t]).mean()


@right("cross_entropy", "one-hot and sums")
def cross_entropy_2(logits, target):
    hot = F.one_hot(target, logits.shape[-1]).to(logits.dtype) * target.ne(0)[..., None]
    return -(torch.log_softmax(logits, -1) * hot).sum() / hot.sum()


@right("cross_entropy", "loops, with gradient")
def cross_entropy_3(logits, target):
    parts = []
    for z, t in zip(logits.flatten(0, 1), target.flatten()):
        if t:
            top = z.max()
            parts.append(top + (z - top).exp().sum().log() - z[t])
    return sum(parts) / len(parts)


@right("label_smoothed_loss", "the smoothed distribution written out")
def label_smoothed_loss_1(logits, target, smoothing):
    V = logits.shape[-1]
    q = F.one_hot(target, V).to(logits.dtype) * (1 - smoothing) + smoothing / V
    loss = -(q * torch.log_softmax(logits, -1)).sum(-1)
    return loss[target.ne(0)].mean()


@right("label_smoothed_loss", "logsumexp minus mixed logits")
def label_smoothed_loss_2(logits, target, smoothing):
    real = target != 0
    z, t = logits[real], target[real]
    mixed = torch.lerp(z.gather(1, t[:, None])[:, 0], z.mean(-1), smoothing)
    return (z.logsumexp(-1) - mixed).mean()


@right("perplexity", "weighted average of NumPy")
def perplexity_1(losses, counts):
    return float(
        np.exp(np.average(np.array([float(l) for l in losses]), weights=[float(c) for c in counts]))
    )


@right("perplexity", "a product of powers")
def perplexity_2(losses, counts):
    n = sum(float(c) for c in counts)
    return math.prod(math.exp(float(l) * float(c) / n) for l, c in zip(losses, counts))


@right("inverse_sqrt_schedule", "two cases")
def inverse_sqrt_schedule_1(update, d_model, warmup):
    rate = 1 / math.sqrt(d_model * update)
    if update < warmup:
        rate = update / (warmup * math.sqrt(warmup) * math.sqrt(d_model))
    return rate


@right("clip_gradients", "norm of the flattened whole, factor by clamp")
def clip_gradients_1(gradients, limit):
    n = torch.cat([g.reshape(-1) for g in gradients]).norm()
    factor = (limit / n.clamp(min=1e-30)).clamp(max=1.0)
    return [g * factor for g in gradients]


@right("clip_gradients", "the norm of norms, with hypot")
def clip_gradients_2(gradients, limit):
    n = math.hypot(*[float(g.norm()) for g in gradients])
    return [g * limit / n if n > limit else g.clone() for g in gradients]


@right("accumulated_update", "one backward of the mean of all losses")
def accumulated_update_1(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    torch.stack([compute_loss(p) for p in parts]).mean().backward()
    optimizer.step()
    scheduler.step()


@right("accumulated_update", "gradients summed, then divided by the number of parts")
def accumulated_update_2(optimizer, scheduler, parts, compute_loss):
    for g in optimizer.param_groups:
        for p in g["params"]:
            p.grad = None
    for part in parts:
        compute_loss(part).backward()
    for g in optimizer.param_groups:
        for p in g["params"]:
            if p.grad is not None:
                p.grad /= len(parts)
    optimizer.step()
    scheduler.step()


@right("best_checkpoint", "matrix of losses times counts")
def best_checkpoint_1(checkpoints, batches, loss_of):
    m = np.array([[float(loss_of(c, b)) for b in batches] for c in checkpoints])
    n = np.array([len(b) for b in batches])
    return int((m @ n / n.sum()).argmin())


@right("best_checkpoint", "min over the places with a key")
def best_checkpoint_2(checkpoints, batches, loss_of):
    return min(
        range(len(checkpoints)),
        key=lambda i: math.fsum(len(b) * float(loss_of(checkpoints[i], b)) for b in batches),
    )


@right("average_checkpoints", "running mean")
def average_checkpoints_1(checkpoints):
    mean = {k: v.clone() for k, v in checkpoints[0].items()}
    for n, c in enumerate(checkpoints[1:], start=2):
        for k in mean:
            mean[k] = mean[k] + (c[k] - mean[k]) / n
    return mean


@right("average_checkpoints", "functools.reduce")
def average_checkpoints_2(checkpoints):
    return {
        k: functools.reduce(torch.add, (c[k] for c in checkpoints)) / len(checkpoints)
        for k in checkpoints[-1]
    }


@right("next_token", "max of the selected position")
def next_token_1(logits):
    return logits.select(1, logits.size(1) - 1).max(dim=1)[1]


@right("next_token", "a loop over the sentences, NumPy's argmax")
def next_token_2(logits):
    return torch.tensor([int(np.argmax(row[-1].detach().numpy())) for row in logits])


@right("temperature_probabilities", "the maximum subtracted, by hand")
def temperature_probabilities_1(logits, temperature):
    z = (logits - logits.amax(-1, keepdim=True)) / temperature
    e = z.exp()
    return e / e.sum(-1, keepdim=True)


@right("top_k_probabilities", "softmax of the k, scattered into zeros")
def top_k_probabilities_1(logits, k):
    v, i = torch.topk(logits, k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, i, torch.softmax(v, -1))


@right("top_k_probabilities", "argsort of argsort gives ranks")
def top_k_probabilities_2(logits, k):
    rank = logits.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
    return torch.softmax(logits.masked_fill(rank >= k, float("-inf")), dim=-1)


@right("greedy_search", "recursion")
def greedy_search_1(step, max_length):
    def go(ids):
        if len(ids) > max_length:
            return ids
        t = step(torch.tensor([ids])).argmax(-1).item()
        return ids if t == 2 else go(ids + [t])

    return go([1])[1:]


@right("greedy_search", "a tensor that grows, a while loop")
def greedy_search_2(step, max_length):
    tokens = torch.ones((1, 1), dtype=torch.long)
    while tokens.shape[1] <= max_length:
        new = step(tokens).topk(1, dim=-1).indices
        if new.item() == 2:
            break
        tokens = torch.hstack([tokens, new])
    return tokens[0, 1:].tolist()


@right("greedy_search", "a generator, iter with a sentinel")
def greedy_search_3(step, max_length):
    ids = [1]

    def following():
        t = int(step(torch.tensor([ids]))[0].argmax())
        ids.append(t)
        return t

    return list(itertools.islice(iter(following, 2), max_length))


@right("greedy_batch", "done found anew from the tokens in each step")
def greedy_batch_1(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        done = tokens.eq(2).any(1)
        if done.all():
            break
        t = step(tokens).argmax(1)
        tokens = torch.cat([tokens, torch.where(done, torch.zeros_like(t), t)[:, None]], dim=1)
    return tokens[:, 1:]


@right("greedy_batch", "lists; every living sentence gets a token")
def greedy_batch_2(step, n_sentences, max_length):
    rows = [[1] for _ in range(n_sentences)]
    for _ in range(max_length):
        if all(2 in r for r in rows):
            break
        best = step(torch.tensor(rows)).argmax(-1).tolist()
        rows = [r + [0 if 2 in r else t] for r, t in zip(rows, best)]
    return torch.tensor([r[1:] for r in rows], dtype=torch.long)


@right("beam_search", "tensors, topk of the flattened scores, divmod")
def beam_search_1(step, beam_size, max_length):
    tokens, scores = torch.tensor([[1]]), torch.zeros(1)
    best = (-math.inf, [])
    for _ in range(max_length):
        total = scores[:, None] + step(tokens)
        V = total.size(1)
        scores, flat = total.flatten().topk(min(beam_size, total.numel()))
        tokens = torch.cat([tokens[flat // V], (flat % V)[:, None]], 1)
        ended = tokens[:, -1] == 2
        for s, t in zip(scores[ended].tolist(), tokens[ended].tolist()):
            best = max(best, (s, t[1:-1]), key=lambda b: b[0])
        tokens, scores = tokens[~ended], scores[~ended]
        if not len(tokens):
            break
    for s, t in zip(scores.tolist(), tokens.tolist()):
        best = max(best, (s, t[1:]), key=lambda b: b[0])
    return best[1]


@right("beam_search", "heapq.nlargest over a generator, tuples")
def beam_search_2(step, beam_size, max_length):
    alive, aside = [(0.0, (1,))], []
    for _ in range(max_length):
        if not alive:
            break
        logp = step(torch.tensor([ids for _, ids in alive])).tolist()
        best = heapq.nlargest(
            beam_size,
            ((s + p, ids + (v,)) for (s, ids), row in zip(alive, logp) for v, p in enumerate(row)),
            key=lambda c: c[0],
        )
        aside.extend(c for c in best if c[1][-1] == 2)
        alive = [c for c in best if c[1][-1] != 2]
    score, ids = max(aside + alive, key=lambda c: c[0])
    return list(ids[1:-1] if ids[-1] == 2 and len(ids) > 1 else ids[1:])


@right(
    "beam_search",
    "always beam_size living ones: those let in additionally score below a finished one and can never win",
)
def beam_search_3(step, beam_size, max_length):
    alive, ended = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([a for a, _ in alive]))
        cands = [
            (ids + [v], s + float(row[v]))
            for (ids, s), row in zip(alive, logp)
            for v in range(len(row))
        ]
        cands.sort(key=lambda c: -c[1])
        ended += [c for c in cands[:beam_size] if c[0][-1] == 2]
        alive = [c for c in cands if c[0][-1] != 2][:beam_size]
    best = max(ended + alive, key=lambda c: c[1])
    return [x for x in best[0][1:] if x != 2]


@right("embed_next", "narrow and F.embedding")
def embed_next_1(tokens, past, weight, table):
    t = tokens.shape[1]
    return F.embedding(tokens, weight) + table.narrow(0, past, t).unsqueeze(0)


@right("embed_next", "token by token")
def embed_next_2(tokens, past, weight, table):
    return torch.stack(
        [weight[column] + table[past + i] for i, column in enumerate(tokens.T)], dim=1
    )


@right("reorder_cache", "index_select")
def reorder_cache_1(cache, rows):
    rows = torch.as_tensor(rows, dtype=torch.long)
    return [tuple(t.index_select(0, rows) for t in pair) for pair in cache]


@right("reorder_cache", "stack in a loop")
def reorder_cache_2(cache, rows):
    out = []
    for keys, values in cache:
        out.append(
            (torch.stack([keys[int(r)] for r in rows]), torch.stack([values[int(r)] for r in rows]))
        )
    return out


@right("length_normalised", "a negative exponent")
def length_normalised_1(score, length, alpha):
    return score * length**-alpha


@right("length_normalised", "exp and log")
def length_normalised_2(score, length, alpha):
    return score / math.exp(alpha * math.log(length))


@right("cut_at_end", "takewhile")
def cut_at_end_1(ids):
    return list(itertools.takewhile(lambda i: i != 2, ids))


@right("cut_at_end", "recursion on the first id")
def cut_at_end_2(ids):
    ids = list(ids)
    if not ids or ids[0] == 2:
        return []
    return [ids[0]] + cut_at_end_2(ids[1:])
