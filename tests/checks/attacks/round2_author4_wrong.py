"""Round 2, author 4: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right
import copy, math, functools
from collections import Counter
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


# ---- chapter 1 and 2


@wrong(
    "number_of_targets",
    "Counted in 64-bit integers, which run over: 30000 words and 10 tokens give nonsense.",
)
def number_of_targets_b(vocab_size, length):
    n = torch.tensor(1)
    for _ in range(length):
        n = n * vocab_size
    return n.item()


@wrong(
    "build_vocabulary",
    "The id is the word's place among all words, so each rare word leaves a gap.",
)
def build_vocabulary_c(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    vocab = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    for i, w in enumerate(counts):
        if counts[w] >= min_frequency:
            vocab[w] = i + 4
    return vocab


@wrong(
    "build_vocabulary",
    "The counter is a default argument, so it goes on counting from one call to the next: the second call holds the first one's words.",
)
def build_vocabulary_d(sentences, min_frequency, counts=Counter()):
    for s in sentences:
        counts.update(s)
    words = ["<pad>", "<sos>", "<eos>", "<unk>"] + [
        w for w, c in counts.items() if c >= min_frequency
    ]
    return {w: i for i, w in enumerate(words)}


@wrong("encode", "No <eos> behind an empty sentence.")
def encode_b(tokens, vocabulary):
    ids = [vocabulary.get(t, 3) for t in tokens]
    if ids:
        ids.append(2)
    return ids


@wrong(
    "encode",
    "setdefault writes every unknown word into the dictionary, which is an argument and must stay as it was.",
)
def encode_c(tokens, vocabulary):
    return [vocabulary.setdefault(t, 3) for t in tokens] + [2]


@wrong(
    "training_words",
    "min_frequency is asked of each sentence, not of the whole training set: a word once in each of two sentences does not reach 2.",
)
def training_words_b(splits, min_frequency):
    words = set()
    for s in splits["train"]:
        for w, c in Counter(s).items():
            if c >= min_frequency:
                words.add(w)
    return words


@wrong(
    "training_words",
    "Words that also stand in the test set are taken out; they may be learnt, as they are in the training set.",
)
def training_words_c(splits, min_frequency):
    counts = Counter(w for s in splits["train"] for w in s)
    test = {w for s in splits["test"] for w in s}
    return {w for w, c in counts.items() if c >= min_frequency and w not in test}


# ---- chapter 3
@wrong("collate", "As long as the first row: longer rows behind it are cut.")
def collate_a(rows):
    width = len(rows[0])
    return torch.tensor([(r + [0] * width)[:width] for r in rows])


@wrong(
    "collate", "The rows that came in are lengthened themselves: += changes the learner's lists."
)
def collate_c(rows):
    width = max(map(len, rows))
    for r in rows:
        r += [0] * (width - len(r))
    return torch.tensor(rows)


# ---- chapter 4
@wrong("embedding", "padding_idx=0 cuts the gradient of row 0; wrong as soon as token 0 comes.")
def embedding_a(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * math.sqrt(weight.size(1))


@wrong("embedding", "from_pretrained freezes the weight: no gradient comes to it.")
def embedding_c(tokens, weight):
    table = nn.Embedding.from_pretrained(weight)
    return table(tokens) * math.sqrt(weight.size(-1))


@wrong(
    "tied_logits",
    "Reshaped to (D, V) in place of transposed: the shape is right, the numbers are mixed up.",
)
def tied_logits_a(x, weight):
    V, D = weight.shape
    return x @ weight.reshape(D, V)


@wrong(
    "tied_logits",
    "The embedding is detached: tied weights are to get their gradient from the output, too.",
)
def tied_logits_b(x, weight):
    return F.linear(x, weight.detach())


# ---- chapter 5


@wrong("sinusoids", "A table of 512 rows is cut: longer texts get too few rows.")
def sinusoids_c(length, d_model, max_len=512):
    p = torch.arange(max_len, dtype=torch.float64).unsqueeze(1)
    f = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(10000.0) / d_model))
    table = torch.stack([torch.sin(p * f), torch.cos(p * f)], -1).flatten(1).float()
    return table[:length]


@wrong(
    "add_positions", "The table is not cut: wrong as soon as the table is longer than the sentence."
)
def add_positions_b(x, table):
    return x + table.unsqueeze(0)


@wrong("add_positions", "The table is detached: learned positions get no gradient.")
def add_positions_c(x, table):
    return x + table[None, : x.shape[1]].detach()


# ---- chapter 7


@wrong("softmax", "Axis 1 in place of the last: right for two axes only, wrong for (B, T, S).")
def softmax_b(scores):
    scores = scores - scores.max(dim=-1, keepdim=True).values
    e = scores.exp()
    return e / e.sum(dim=1, keepdim=True)


@wrong(
    "softmax",
    "sum over the last axis without keepdim and with [:, None] in its place: fits two axes, divides by the wrong sums (or fails) with three.",
)
def softmax_d(scores):
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / e.sum(-1)[:, None]


@wrong(
    "scaled_dot_product_attention",
    "An additive −inf and nan_to_num behind it: the forward pass is right, but a query with nothing to attend to sends NaN back in the gradient.",
)
def scaled_dot_product_attention_b(query, key, value, mask=None):
    scores = query @ key.mT / key.size(-1) ** 0.5
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=scores.dtype).masked_fill(
            ~mask, float("-inf")
        )
    return torch.nan_to_num(scores.softmax(-1)) @ value


@wrong(
    "scaled_dot_product_attention",
    "If one query may attend to nothing, all queries of that sentence get zeros: any/all taken over both axes.",
)
def scaled_dot_product_attention_g(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.size(-1))
    if mask is None:
        return scores.softmax(-1) @ value
    out = scores.masked_fill(~mask, -1e9).softmax(-1) @ value
    ok = mask.any(-1, keepdim=True).all(-2, keepdim=True)
    return torch.where(ok, out, torch.zeros_like(out))


# ---- chapter 8
@wrong(
    "padding_mask",
    "The lengths are counted and the first places kept: wrong when padding stands in front or in between.",
)
def padding_mask_a(tokens):
    n = (tokens != 0).sum(1, keepdim=True)
    return (torch.arange(tokens.size(1)) < n)[:, None, None, :]


BUFFER = torch.ones(256, 256, dtype=torch.bool).tril()


@wrong(
    "causal_mask",
    "Cut out of a fixed buffer of 256 places: longer sentences get a mask that is too small.",
)
def causal_mask_c(length):
    return BUFFER[:length, :length]


@wrong(
    "target_mask",
    "A row that sees nothing is opened at its own place 'against NaN': wrong when padding comes in front.",
)
def target_mask_e(tokens):
    T = tokens.size(1)
    m = (tokens != 0)[:, None, None, :] & torch.ones(T, T, dtype=torch.bool).tril()
    return m | torch.eye(T, dtype=torch.bool) & ~m.any(-1, keepdim=True)


# ---- chapter 9


@wrong(
    "merge_heads",
    "transpose without contiguous, then view: raises except for one head or one token.",
)
def merge_heads_a(heads):
    B, H, T, K = heads.shape
    return heads.transpose(1, 2).view(B, T, H * K)


def _heads(x, n):
    return x.unflatten(-1, (n, -1)).transpose(1, 2)


class MultiHeadF(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        self.query, self.key, self.value, self.output = [
            nn.Linear(d_model, d_model, bias=False) for _ in range(4)
        ]
        self.n_heads, self.mask = n_heads, None

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            self.mask = mask
        q, k, v = (
            _heads(self.query(query), self.n_heads),
            _heads(self.key(key), self.n_heads),
            _heads(self.value(value), self.n_heads),
        )
        s = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
        if self.mask is not None:
            s = s.masked_fill(~self.mask, -1e9)
        return self.output((s.softmax(-1) @ v).transpose(1, 2).flatten(2))


wrong(
    "multi_head_attention",
    "The mask stays in self.mask: a call without a mask, of the same instance, still uses the one before.",
)(MultiHeadF)


@wrong(
    "multi_head_attention",
    "The mask is multiplied to the weights behind the softmax; hidden keys still count in the sum.",
)
def multi_head_attention_g(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    q, k, v = (
        _heads(query @ w_query.T, n_heads),
        _heads(key @ w_key.T, n_heads),
        _heads(value @ w_value.T, n_heads),
    )
    w = (q @ k.mT / math.sqrt(q.size(-1))).softmax(-1)
    if mask is not None:
        w = w.masked_fill(~mask, 0.0)
    return (w @ v).transpose(1, 2).flatten(2) @ w_output.T


# ---- chapter 10


@wrong(
    "layer_norm",
    "Mean and variance are treated as constants (no_grad): the numbers are right, the gradients are not.",
)
def layer_norm_c(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, unbiased=False, keepdim=True)
    return (x - mean) / (var + eps).sqrt() * weight + bias


@wrong("layer_norm_parameters", "Drawn at random as if it were a linear layer.")
def layer_norm_parameters_b(d_model):
    return torch.randn(d_model) / math.sqrt(d_model), torch.zeros(d_model)


@wrong(
    "dropout",
    "Divided by the share that was kept by chance, not by 1 − p; if nothing is kept, 0 / 0.",
)
def dropout_b(x, p, keep, training):
    if not training:
        return x
    return x * keep / keep.float().mean()


# ---- chapter 11
@wrong("feed_forward", "The activation behind the second layer, in place of between them.")
def feed_forward_a(x, w1, b1, w2, b2):
    return F.relu(F.linear(F.linear(x, w1, b1), w2, b2))


@wrong("feed_forward", "ReLU6: large activations, above 6, are cut.")
def feed_forward_c(x, w1, b1, w2, b2):
    return F.linear(F.relu6(F.linear(x, w1, b1)), w2, b2)


@wrong(
    "group_sort",
    "The second line reads the name that the first has overwritten: a pair that stood the wrong way round becomes twice the smaller.",
)
def group_sort_c(x):
    a, b = x[..., 0::2], x[..., 1::2]
    a = torch.minimum(a, b)
    b = torch.maximum(a, b)
    return torch.stack([a, b], dim=-1).flatten(-2)


@wrong("group_sort", "Sorted along the pairs' axis in place of within a pair.")
def group_sort_d(x):
    return x.unflatten(-1, (-1, 2)).sort(dim=-2).values.flatten(-2)


# ---- chapters 12 to 14


def _masks(source, target):
    T = target.size(1)
    s = (source != 0)[:, None, None]
    t = (target != 0)[:, None, None] & torch.ones(T, T, dtype=torch.bool).tril()
    return s, t


@wrong(
    "transformer_forward",
    "The decoder's memory mask is made from the target's padding, not the source's; fails or misleads where the two differ.",
)
def transformer_forward_a(source, target, embed_source, embed_target, encoder, decoder, output):
    s, t = _masks(source, target)
    memory = encoder(embed_source(source), s)
    memory_mask = (target != 0)[:, None, None]
    return output(decoder(embed_target(target), memory, t, memory_mask))


# ---- chapter 15


@wrong("cross_entropy", "log(p + 1e-9): a right token with p = 1e-20 costs 20.7 in place of 46.")
def cross_entropy_c(logits, target):
    p = logits.softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -torch.log(p + 1e-9)[target != 0].mean()


@wrong(
    "cross_entropy",
    "<eos> (2) and the other special tokens are left out, too: the model never learns to stop.",
)
def cross_entropy_d(logits, target):
    real = target > 3
    nll = -logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return nll[real].sum() / real.sum().clamp(min=1)


@wrong("label_smoothed_loss", "Mean in place of sum, and then divided by V once more.")
def label_smoothed_loss_a(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    nll = -lp.gather(-1, target[..., None])[..., 0]
    loss = (1 - smoothing) * nll + smoothing / logits.size(-1) * -lp.mean(-1)
    return loss[target != 0].mean()


@wrong(
    "label_smoothed_loss",
    "The share for padding, token 0, is left out of the sum over the vocabulary.",
)
def label_smoothed_loss_b(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    V = lp.size(-1)
    q = torch.full_like(lp, smoothing / V)
    q = q.scatter_add(-1, target[..., None], torch.full_like(lp[..., :1], 1 - smoothing))
    q[..., 0] = 0
    return -(q * lp).sum(-1)[target != 0].mean()


@wrong(
    "label_smoothed_loss",
    "Padding is taken out of the first part only; the smoothed part is averaged over all places.",
)
def label_smoothed_loss_d(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    nll = -lp.gather(-1, target[..., None])[..., 0]
    return (1 - smoothing) * nll[target != 0].mean() + smoothing * -lp.mean(-1).mean()


@wrong(
    "inverse_sqrt_schedule",
    "The brackets: D^(−1/2) stands inside min, with the decay alone; the warm-up is too steep.",
)
def inverse_sqrt_schedule_c(update, d_model, warmup):
    return min(d_model**-0.5 * update**-0.5, update * warmup**-1.5)


@wrong("clip_gradients", "The gradients that came in are scaled in place.")
def clip_gradients_c(gradients, limit):
    n = math.sqrt(sum(float(g.pow(2).sum()) for g in gradients))
    if n > limit:
        for g in gradients:
            g.mul_(limit / n)
    return gradients


# ---- chapter 16


@wrong(
    "average_checkpoints", "The sum is collected in the first checkpoint itself, which is changed."
)
def average_checkpoints_b(checkpoints):
    total = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k in total:
            total[k] += c[k]
    return {k: v / len(checkpoints) for k, v in total.items()}


# ---- chapter 17


@wrong(
    "top_k_probabilities",
    "'Larger than number k + 1', with the index held inside the vocabulary: where k = V the least likely token falls away.",
)
def top_k_probabilities_b(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    limit = ordered[:, min(k, logits.size(-1) - 1)].unsqueeze(-1)
    return logits.masked_fill(logits <= limit, -torch.inf).softmax(-1)


@wrong(
    "top_k_probabilities",
    "The whole batch's k-th largest is the limit of each sentence; right for B = 1.",
)
def top_k_probabilities_c(logits, k):
    limit = logits.flatten().topk(k).values[-1]
    keep = logits >= torch.minimum(limit, logits.amax(-1, keepdim=True))
    return logits.masked_fill(~keep, -torch.inf).softmax(-1)


@wrong(
    "greedy_search",
    "All ids below 4 are filtered out as special: an <unk> (3) in the translation is lost.",
)
def greedy_search_c(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        tokens.append(int(step(torch.tensor([tokens])).argmax()))
        if tokens[-1] == 2:
            break
    return [t for t in tokens if t > 3]


@wrong(
    "greedy_search",
    "The list is a default argument: the second call goes on where the first one ended.",
)
def greedy_search_d(step, max_length, tokens=[1]):
    for _ in range(max_length):
        n = step(torch.tensor([tokens])).argmax(-1).item()
        if n == 2:
            break
        tokens.append(n)
    return [t for t in tokens if t != 1]


def _beam(
    step,
    beam_size,
    max_length,
    eos_score=True,
    rank=lambda s, n: s,
    stop=None,
    steps=None,
    unfinished=True,
    free=False,
    copies=1,
):
    living, done = [(0.0, [1])] * copies, []
    for _ in range(max_length if steps is None else steps):
        lp = step(torch.tensor([t for _, t in living])).tolist()
        everything = [
            (s + l, t + [v]) for (s, t), row in zip(living, lp) for v, l in enumerate(row)
        ]
        everything.sort(key=lambda h: -h[0])
        if free:
            done += [h for h in everything if h[1][-1] == 2][:beam_size]
            living = [h for h in everything if h[1][-1] != 2][:beam_size]
        else:
            kept = everything[:beam_size]
            if eos_score:
                done += [h for h in kept if h[1][-1] == 2]
            else:
                before = {tuple(t): s for s, t in living}
                done += [(before[tuple(t[:-1])], t) for s, t in kept if t[-1] == 2]
            living = [h for h in kept if h[1][-1] != 2]
        if not living or (stop and stop(done)):
            break
    pool = done + living if unfinished or not done else done
    best = max(pool, key=lambda h: rank(h[0], len(h[1]) - 1))[1][1:]
    return best[:-1] if best and best[-1] == 2 else best


@wrong(
    "beam_search",
    "Stops at the first finished hypothesis: a likelier one that ends later is not found.",
)
def beam_search_b(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, stop=lambda done: len(done) > 0)


@wrong("beam_search", "The log-probability of <eos> is not added to the sum.")
def beam_search_c(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, eos_score=False)


@wrong(
    "beam_search",
    "topk(beam_size) over the continuations: fails at the first step when beam_size is larger than the vocabulary.",
)
def beam_search_h(step, beam_size, max_length):
    tokens, scores, best = torch.tensor([[1]]), torch.zeros(1), (-math.inf, [])
    for _ in range(max_length):
        total = scores[:, None] + step(tokens)
        V = total.size(1)
        scores, flat = total.flatten().topk(beam_size)
        tokens = torch.cat([tokens[flat // V], (flat % V)[:, None]], 1)
        end = tokens[:, -1] == 2
        for s, t in zip(scores[end].tolist(), tokens[end].tolist()):
            best = max(best, (s, t[1:-1]))
        tokens, scores = tokens[~end], scores[~end]
        if len(tokens) == 0:
            return best[1]
    return max([best] + [(s, t[1:]) for s, t in zip(scores.tolist(), tokens.tolist())])[1]


@wrong(
    "reorder_cache",
    "The wrong way round: row i goes to rows[i] in place of coming from there; equal for a mere exchange of two.",
)
def reorder_cache_b(cache, rows):
    out = []
    for k, v in cache:
        k2, v2 = k.clone(), v.clone()
        k2[rows], v2[rows] = k, v
        out.append((k2, v2))
    return out


@wrong(
    "reorder_cache",
    "The rows are overwritten one after the other, so a row that is needed later has been replaced: [1, 0] gives [1, 1].",
)
def reorder_cache_c(cache, rows):
    out = []
    for k, v in cache:
        k, v = k.clone(), v.clone()
        for i, r in enumerate(rows):
            k[i], v[i] = k[int(r)].clone(), v[int(r)].clone()
        out.append((k, v))
    return out


@wrong(
    "length_normalised",
    "'alpha or 0.6': an α of 0, which means no normalising, turns to the default.",
)
def length_normalised_b(score, length, alpha):
    return score / length ** (alpha or 0.6)
