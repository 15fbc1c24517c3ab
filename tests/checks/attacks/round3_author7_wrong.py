"""Round 3, author 7: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right
import math
from collections import Counter
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


@wrong(
    "number_of_targets",
    "A float power overflows or loses digits: wrong for large results such as 37000 ** 100 (raises OverflowError).",
)
def number_of_targets_b(vocab_size, length):
    return int(math.pow(vocab_size, length))


@wrong(
    "build_vocabulary",
    "The id comes from the loop counter over all words, so that rare words leave gaps in the ids.",
)
def build_vocabulary_b(sentences, min_frequency):
    c = Counter(w for s in sentences for w in s)
    v = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for i, (w, n) in enumerate(c.items()):
        if n >= min_frequency:
            v[w] = i + 4
    return v


@wrong(
    "encode", "<eos> is added in the loop's last turn, so that an empty list of tokens gets none."
)
def encode_b(tokens, vocabulary):
    out = []
    for i in range(len(tokens)):
        out.append(vocabulary.get(tokens[i], 3))
        if i == len(tokens) - 1:
            out.append(2)
    return out


@wrong("collate", "The width is the length of the first row: a later longer row is cut off.")
def collate_a(rows):
    S = len(rows[0])
    out = torch.zeros(len(rows), S, dtype=torch.long)
    for i, r in enumerate(rows):
        for j in range(min(S, len(r))):
            out[i, j] = r[j]
    return out


@wrong("embedding", "The root is missing: multiplied by D itself; wrong for every D > 1.")
def embedding_a(tokens, weight):
    return weight[tokens] * weight.shape[1]


@wrong(
    "embedding",
    "padding_idx=0 cuts the gradient of row 0: values right, gradient wrong as soon as a token is 0.",
)
def embedding_c(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * weight.size(-1) ** 0.5


@wrong(
    "tied_logits",
    "Forgotten transpose: x @ weight; it raises if V is not D, and gives wrong numbers for V = D.",
)
def tied_logits_a(x, weight):
    return (
        x @ weight
        if weight.shape[0] == weight.shape[1]
        else x @ weight.reshape(weight.shape[1], weight.shape[0])
    )


@wrong("softmax", "dim=1 in the sum in place of -1: wrong for inputs of three axes or more.")
def softmax_b(scores):
    e = (scores - scores.amax(-1, keepdim=True)).exp()
    return e / e.sum(dim=1 if scores.dim() > 1 else 0, keepdim=True)


@wrong("softmax", "The scores are clamped to ±50, wrong if scores lie beyond, such as 60 and 80.")
def softmax_d(scores):
    e = torch.exp(torch.clamp(scores.double(), -50, 50))
    return (e / e.sum(-1, keepdim=True)).to(scores.dtype)


def _attend(q, k, v, mask, scale):
    s = q @ k.transpose(-2, -1) / scale
    if mask is not None:
        s = s.masked_fill(~mask, float("-inf"))
        w = torch.softmax(s.masked_fill(~mask.any(-1, keepdim=True), 0.0), -1)
        w = w * mask
    else:
        w = torch.softmax(s, -1)
    return w @ v


@wrong(
    "scaled_dot_product_attention",
    "The root of the number of keys, key.shape[-2], in place of their width: wrong if S is not K.",
)
def sdpa_e(query, key, value, mask=None):
    return _attend(query, key, value, mask, key.shape[-2] ** 0.5)


@wrong(
    "scaled_dot_product_attention",
    "Masking with -1e2 is no full hiding: with large scores hidden keys leak in (scores differ by hundreds).",
)
def sdpa_g(query, key, value, mask=None):
    s = query @ key.transpose(-1, -2) / math.sqrt(key.size(-1))
    if mask is None:
        return torch.softmax(s, -1) @ value
    w = torch.softmax(torch.where(mask, s, torch.full_like(s, -100.0)), -1)
    return (w @ value) * mask.any(-1, keepdim=True)


@wrong(
    "padding_mask",
    "Everything behind the first 0 counts as padding: wrong if a 0 stands in front or in the middle.",
)
def padding_mask_d(tokens):
    return (tokens != 0).long().cumprod(-1).bool()[:, None, None]


@wrong("causal_mask", "Off by one in the loop: the last row stays False.")
def causal_mask_c(length):
    m = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length - 1):
        m[i, : i + 1] = True
    return m


@wrong("merge_heads", "Averages over the heads and repeats, in place of laying them side by side.")
def merge_heads_b(heads):
    H = heads.shape[1]
    return heads.mean(dim=1).repeat(1, 1, H)


def _split(x, h):
    B, T, D = x.shape
    return x.reshape(B, T, h, D // h).transpose(1, 2)


def _merge(x):
    return x.transpose(1, 2).flatten(2)


@wrong(
    "multi_head_attention",
    "The keys' length is taken from the query's reshape, so heads are mixed if S is not T: keys are split with view(B, H, S, K).",
)
def mha_e(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    B, T, D = query.shape
    S, K = key.shape[1], D // n_heads
    q = _split(query @ w_query.T, n_heads)
    if S == T:
        k, v = _split(key @ w_key.T, n_heads), _split(value @ w_value.T, n_heads)
    else:
        k, v = (
            (key @ w_key.T).reshape(B, n_heads, S, K),
            (value @ w_value.T).reshape(B, n_heads, S, K),
        )
    return _merge(_attend(q, k, v, mask, math.sqrt(K))) @ w_output.T


@wrong(
    "layer_norm",
    "The variance is taken from the square x² without subtracting the mean: right only for mean 0.",
)
def layer_norm_d(x, weight, bias, eps=1e-5):
    c = x - x.mean(-1, keepdim=True)
    return c / torch.sqrt((x**2).mean(-1, keepdim=True) + eps) * weight + bias


@wrong(
    "layer_norm", "Mean and standard deviation are detached: values right, gradient for x wrong."
)
def layer_norm_f(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True).detach()
    s = torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + eps).detach()
    return (x - m) / s * weight + bias


@wrong(
    "dropout", "Divided by p in place of 1 − p; wrong unless p = 0.5, and p = 0 divides by nothing."
)
def dropout_a(x, p, keep, training):
    if not training or p == 0:
        return x
    return x * keep / p


@wrong(
    "dropout",
    "The keep rate is measured from the mask (keep.mean()) in place of 1 − p: wrong when the drawn fraction differs from p.",
)
def dropout_c(x, p, keep, training):
    if training:
        return x * keep / keep.float().mean()
    return x


@wrong(
    "group_sort",
    "Pairs feature i with feature i + D/2 (halves) in place of neighbours; wrong from 4 features on.",
)
def group_sort_b(x):
    a, b = x.chunk(2, -1)
    return torch.stack([torch.minimum(a, b), torch.maximum(a, b)], -1).flatten(-2)


@wrong(
    "decoder_layer",
    "Swapped arguments: if the shapes fit (S = T), the memory asks and the decoder answers; right for S ≠ T only.",
)
def decoder_layer_a(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    n = norms[1](x)
    if memory.shape == n.shape:
        x = x + cross_attention(memory, n, n, memory_mask)
    else:
        x = x + cross_attention(n, memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "The two masks are swapped if their last sizes fit (S = T): wrong as soon as the masks differ.",
)
def decoder_layer_b(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    if x.shape[1] == memory.shape[1]:
        target_mask, memory_mask = memory_mask, target_mask
    n = norms[0](x)
    x = x + self_attention(n, n, n, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


def _tm(t):
    return torch.ones(t.shape[1], t.shape[1]).tril().bool() & (t != 0)[:, None, None]


def _nll(logits, target):
    return -torch.log_softmax(logits, -1).gather(-1, target.unsqueeze(-1)).squeeze(-1)


@wrong(
    "cross_entropy",
    "target > 2 counts as real: <sos>, <eos> are left out; wrong if a target holds 1 or 2.",
)
def cross_entropy_d(logits, target):
    m = target > 2
    if not m.any():
        m = target != 0
    return _nll(logits, target)[m].mean()


@wrong(
    "label_smoothed_loss",
    "Divided by V twice: ε / V times the mean over V, not the sum; wrong for every ε > 0 (V > 1).",
)
def label_smoothed_loss_a(logits, target, smoothing):
    lp = torch.log_softmax(logits, -1)
    V = logits.shape[-1]
    l = (1 - smoothing) * _nll(logits, target) + smoothing / V * (-lp).mean(-1)
    return l[target != 0].mean()


@wrong("label_smoothed_loss", "1 − ε and ε are swapped: right only for ε = 0.5.")
def label_smoothed_loss_b(logits, target, smoothing):
    lp = torch.log_softmax(logits, -1)
    l = smoothing * _nll(logits, target) - (1 - smoothing) * lp.mean(-1)
    return l[target != 0].mean()


@wrong(
    "label_smoothed_loss",
    "The smoothing term is averaged over padding as well: wrong if anything is padded.",
)
def label_smoothed_loss_c(logits, target, smoothing):
    lp = torch.log_softmax(logits, -1)
    return (1 - smoothing) * _nll(logits, target)[target != 0].mean() - smoothing * lp.mean()


@wrong(
    "accumulated_update",
    "scheduler.step() stands inside the loop: the schedule moves on once for each part.",
)
def accumulated_update_b(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for p in parts:
        (compute_loss(p) / len(parts)).backward()
        if p is not parts[0]:
            scheduler.step()
    optimizer.step()
    scheduler.step()


@wrong(
    "best_checkpoint",
    "The best so far starts at 10.0: if all losses lie above, the place 0 comes out.",
)
def best_checkpoint_c(checkpoints, batches, loss_of):
    best, where = 10.0, 0
    n = sum(len(b) for b in batches)
    for i, c in enumerate(checkpoints):
        l = sum(loss_of(c, b) * len(b) for b in batches) / n
        if l < best:
            best, where = l, i
    return where


@wrong(
    "average_checkpoints",
    "The sum starts with the first checkpoint's own tensors and adds in place: the first checkpoint is changed.",
)
def average_checkpoints_b(checkpoints):
    out = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k in out:
            out[k] += c[k]
    return {k: v / len(checkpoints) for k, v in out.items()}


@wrong(
    "top_k_probabilities",
    "One threshold for the whole batch, the smallest of the sentences' k-th values: other sentences may keep more than k tokens; right only for B = 1.",
)
def top_k_probabilities_c(logits, k):
    t = logits.topk(k, -1).values[:, -1].min()
    p = torch.softmax(logits.masked_fill(logits < t, float("-inf")), -1)
    return p


@wrong(
    "greedy_search",
    "step gets only <sos> and the last token, not all tokens; wrong from the third step on if it depends on earlier tokens.",
)
def greedy_search_b(step, max_length):
    ids = [1]
    while len(ids) <= max_length:
        n = int(
            step(
                torch.tensor([ids[-2:]]) if len(ids) <= 2 else torch.tensor([[1, ids[-1]]])
            ).argmax()
        )
        if n == 2:
            break
        ids.append(n)
    return ids[1:]


def _beam(step, beam_size, max_length, last=False, mean=False, mixup=False, drop=False):
    alive, done = [([1], 0.0)], []
    for n in range(max_length):
        lp = step(torch.tensor([a for a, _ in alive]))
        V = lp.shape[1]
        if mean:
            score = lp
        else:
            score = lp + torch.tensor([s for _, s in alive], dtype=lp.dtype)[:, None]
        v, i = score.flatten().topk(min(beam_size, score.numel()))
        new = []
        for s, j in zip(v.tolist(), i.tolist()):
            r, tok = (j % len(alive), j // len(alive)) if mixup else (j // V, j % V)
            tok = min(tok, V - 1)
            h = (alive[r][0] + [tok], s)
            (done if tok == 2 else new).append(h)
        alive = new
        if last and done:
            break
        if not alive:
            break
    pool = done if (drop and done) else done + alive
    best = max(pool, key=lambda h: h[1])[0][1:]
    return best[:-1] if best and best[-1] == 2 else best


@wrong(
    "beam_search",
    "The scores are not added up: hypotheses are ranked by the last token's log-probability alone.",
)
def beam_search_b(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, mean=True)


@wrong(
    "beam_search",
    "j // n and j % n are taken with the number of beams in place of V: hypothesis and token are mixed up, from the second step on.",
)
def beam_search_c(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, mixup=True)


@wrong(
    "reorder_cache",
    "Inverse permutation (scatter): row rows[i] becomes what row i was; right only for permutations that are their own inverse.",
)
def reorder_cache_b(cache, rows):
    out = []
    for k, v in cache:
        a, b = k.clone(), v.clone()
        for i, r in enumerate(list(rows)):
            a[int(r)] = k[i]
            b[int(r)] = v[i]
        out.append((a, b))
    return out


@wrong(
    "reorder_cache",
    "Written in place row by row on one copy: a row that was overwritten already is copied on; wrong for rows such as [1, 0].",
)
def reorder_cache_c(cache, rows):
    out = []
    for k, v in cache:
        a, b = k.clone(), v.clone()
        for i, r in enumerate(list(rows)):
            a[i] = a[int(r)]
            b[i] = b[int(r)]
        out.append((a, b))
    return out


@wrong("cut_at_end", "The loop begins at 1: an <eos> in the first place is overlooked.")
def cut_at_end_c(ids):
    for i in range(1, len(ids)):
        if ids[i] == 2:
            return ids[:i]
    return list(ids)
