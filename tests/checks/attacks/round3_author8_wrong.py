"""Round 3, author 8: what is wrong, as it was written from the docstrings alone."""

from kit import wrong, right
import math, itertools
from collections import Counter
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

# ---------------------------------------------------------------- chapters 1 to 5


@wrong(
    "number_of_targets",
    "It computes in 64-bit integers of numpy, which overflow without a word: wrong from about 9.2e18 on, e.g. 37000 ** 5.",
)
def number_of_targets_a(vocab_size, length):
    return int(np.power(np.int64(vocab_size), np.int64(length)))


@wrong(
    "build_vocabulary",
    "It numbers all words first and then drops the rare ones, so the ids have gaps (when a rare word was met before a frequent one).",
)
def build_vocabulary_b(sentences, min_frequency):
    counts = Counter(w for s in sentences for w in s)
    ids = {w: i for i, w in enumerate(counts, start=4)}
    vocabulary = {"<pad>": 0, "<sos>": 1, "<eos>": 2, "<unk>": 3}
    vocabulary.update((w, i) for w, i in ids.items() if counts[w] >= min_frequency)
    return vocabulary


@wrong(
    "encode",
    "It skips the appending of <eos> when the last token is <eos> already (a sentence whose last token is the word '<eos>').",
)
def encode_b(tokens, vocabulary):
    ids = [vocabulary.get(t, 3) for t in tokens]
    if not ids or ids[-1] != 2:
        ids.append(2)
    return ids


@wrong("encode", "An early exit: an empty sentence gives an empty list, without <eos>.")
def encode_c(tokens, vocabulary):
    if not tokens:
        return []
    return [vocabulary.get(t, 3) for t in tokens] + [2]


@wrong(
    "text_to_ids",
    "It strips white space before it tokenizes; a tokenize that gives characters loses blanks at the ends of the text.",
)
def text_to_ids_c(text, tokenize, vocabulary):
    return [*map(lambda t: vocabulary.get(t, 3), tokenize(text.strip())), 2]


@wrong(
    "training_words",
    "It intersects the words of training with those of the validation set 'so that only useful ones are kept'; a word of the training sentences alone is lost.",
)
def training_words_a(splits, min_frequency):
    counts = Counter(itertools.chain.from_iterable(splits["train"]))
    frequent = {w for w, n in counts.items() if n >= min_frequency}
    seen = set(itertools.chain.from_iterable(splits["validation"]))
    return frequent & seen


@wrong(
    "training_words",
    "Two frequencies are compared: it asks for min_frequency sentences that hold the word, not for min_frequency occurrences (a word twice in one sentence).",
)
def training_words_c(splits, min_frequency):
    counts = Counter()
    for sentence in splits["train"]:
        counts.update(dict.fromkeys(sentence, 1))
    return [w for w, n in counts.items() if n >= min_frequency]


@wrong(
    "collate",
    "The width is rounded up to a multiple of 8, which is fast on a GPU but longer than needed.",
)
def collate_a(rows):
    width = -(-max(map(len, rows)) // 8) * 8
    out = torch.zeros(len(rows), width, dtype=torch.long)
    for i, row in enumerate(rows):
        out[i, : len(row)] = torch.tensor(row)
    return out


@wrong(
    "collate",
    "The longest row is looked for at the front as if rows were sorted by length; a longer row that comes later is cut.",
)
def collate_b(rows):
    width = len(rows[0])
    return torch.tensor([row[:width] + [0] * (width - len(row)) for row in rows])


@wrong(
    "collate",
    "The columns are stored as int16 to save memory: an id of 32768 or more wraps round to a negative number.",
)
def collate_c(rows):
    lengths = [len(r) for r in rows]
    out = np.zeros((len(rows), max(lengths)), dtype=np.int64)
    for i, row in enumerate(rows):
        out[i, : len(row)] = np.array(row, dtype=np.int64).astype(np.int16)
    return torch.from_numpy(out)


@wrong(
    "shift",
    "It rolls by one and cuts the first column off as well: what is to be said is two tokens on, and ends with <sos>.",
)
def shift_b(target):
    return target[:, :-1], target.roll(-1, dims=1)[:, 1:]


@wrong(
    "embedding",
    "F.embedding with padding_idx=0 cuts the gradient of row 0 off: the numbers are right, but the row of token 0 gets no gradient.",
)
def embedding_a(tokens, weight):
    return F.embedding(tokens, weight, padding_idx=0) * math.sqrt(weight.shape[1])


@wrong(
    "tied_logits",
    "The weight is detached 'because it is trained through the embedding already': no gradient reaches the embedding.",
)
def tied_logits_b(x, weight):
    return F.linear(x, weight.detach())


@wrong(
    "sinusoids",
    "The angles are computed in half precision to save memory: for positions of a few hundred and more the sines are wrong.",
)
def sinusoids_a(length, d_model):
    p = torch.arange(length).half().unsqueeze(1)
    f = (10000.0 ** (-torch.arange(0, d_model, 2) / d_model)).half()
    angles = (p * f).float()
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


@wrong(
    "sinusoids",
    "The rotation recurrence is right, but the table is tiled after 512 rows to save time: from position 512 on the positions repeat.",
)
def sinusoids_c(length, d_model):
    base = min(length, 512)
    f = torch.exp(torch.arange(0, d_model, 2, dtype=torch.float64) * (-math.log(1e4) / d_model))
    a = torch.arange(base, dtype=torch.float64)[:, None] * f
    table = torch.stack((a.sin(), a.cos()), -1).reshape(base, d_model)
    return table.repeat(-(-length // base) if base else 1, 1)[:length].float()


@wrong(
    "add_positions",
    "It adds in place (add_), which changes the x that came in (and raises for a leaf that needs a gradient).",
)
def add_positions_b(x, table):
    return x.add_(table[: x.shape[1]])


@wrong(
    "add_positions",
    "The table is detached: right numbers, but learned positions would never learn.",
)
def add_positions_c(x, table):
    with torch.no_grad():
        rows = table.narrow(0, 0, x.shape[1]).expand_as(x)
    return x + rows


# ---------------------------------------------------------------- chapters 7 to 11


@wrong(
    "softmax",
    "Scores are clamped to ±30 in place of subtracting the maximum: two scores such as 40 and 50 become equally likely.",
)
def softmax_b(scores):
    e = scores.clamp(-30, 30).exp()
    return e / e.sum(dim=-1, keepdim=True)


@wrong(
    "softmax",
    "1e-9 is added to the sum without subtracting the maximum: for scores that all lie at −30 and below the probabilities do not sum to one.",
)
def softmax_c(scores):
    e = torch.exp(scores.clamp(max=80.0))
    return e / (e.sum(-1, keepdim=True) + 1e-9)


@wrong(
    "scaled_dot_product_attention",
    "−10000 in place of −infinity: with scores that large (a hidden key's score about 10000 above the others', or queries and keys of length 1000) hidden keys get through; and a query with no key gets a mean of all values, not zeros.",
)
def scaled_dot_product_attention_c(query, key, value, mask=None):
    scores = torch.matmul(query / math.sqrt(key.size(-1)), key.mT)
    if mask is not None:
        scores = scores + (~mask) * -1e4
    return scores.softmax(-1) @ value


@wrong(
    "scaled_dot_product_attention",
    "nan_to_num at the end cleans the forward pass, but the softmax over a row of −infinity still gives nan as gradient (a query that may attend to nothing).",
)
def scaled_dot_product_attention_d(query, key, value, mask=None):
    scores = query @ key.mT / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.nan_to_num(scores.softmax(-1) @ value)


@wrong(
    "scaled_dot_product_attention",
    "The fast path skips the mask when all of its first row is True (`mask[..., 0, :].all()`), as for a padding mask that is broadcast; a mask that hides keys only in later rows is ignored.",
)
def scaled_dot_product_attention_f(query, key, value, mask=None):
    if mask is not None and mask[..., 0, :].all():
        mask = None
    scores = query @ key.mT / math.sqrt(key.shape[-1])
    if mask is None:
        return scores.softmax(-1) @ value
    alive = mask.any(-1, keepdim=True)
    scores = scores.masked_fill(~mask & alive, -torch.inf)
    return (scores.softmax(-1) * alive) @ value


@wrong(
    "padding_mask",
    "From lengths: it counts the real tokens and marks that many from the left; wrong where padding stands in front or inside.",
)
def padding_mask_a(tokens):
    lengths = tokens.count_nonzero(dim=1)
    return (torch.arange(tokens.shape[1]) < lengths[:, None])[:, None, None, :]


@wrong(
    "padding_mask",
    "squeeze before the reshape: with several sentences of one token each (S = 1, B > 1) the mask is (1, 1, B).",
)
def padding_mask_b(tokens):
    return (
        tokens.squeeze().ne(0)[..., None, None, :]
        if tokens.shape[0] > 1
        else tokens.squeeze(0).ne(0)[None, None, :]
    )


@wrong(
    "causal_mask",
    "The table of 256 positions is made once and sliced: for a longer text the mask is only 256 × 256.",
)
def causal_mask_a(length):
    full = torch.ones(256, 256, dtype=torch.bool).tril_()
    return full[:length, :length]


@wrong(
    "causal_mask",
    "A band of 64 positions (a sliding window): from the 65th position on a token no longer sees the first ones.",
)
def causal_mask_b(length):
    d = torch.arange(length)[:, None] - torch.arange(length)
    return (d >= 0) & (d < 64)


@wrong(
    "causal_mask",
    "The comparison of uint8 positions to save memory: from position 256 on they wrap round and the mask is wrong.",
)
def causal_mask_c(length):
    p = torch.arange(length).to(torch.uint8)
    return p[:, None] >= p


@wrong(
    "target_mask",
    "A padded query is blanked, too (outer product of the mask), so that the sentence's padding rows see nothing, although they may see the real tokens before them.",
)
def target_mask_a(tokens):
    real = tokens != 0
    return (real[:, :, None] & real[:, None, :]).tril()[:, None]


@wrong(
    "target_mask",
    "cumprod: from the first padding on all is hidden; a real token behind padding (padding in front or inside) is hidden from itself.",
)
def target_mask_b(tokens):
    real = (tokens != 0).long().cumprod(1).bool()
    T = tokens.shape[1]
    return real[:, None, None, :] & torch.ones(T, T).tril().bool()


@wrong(
    "target_mask",
    "An early exit: it looks for padding in the last column only; where padding stands in front or inside (and the last token is real) the plain causal mask comes back.",
)
def target_mask_d(tokens):
    B, T = tokens.shape
    causal = torch.ones(T, T, dtype=torch.bool).tril()
    if bool((tokens[:, -1] != 0).all()):
        return causal.expand(B, 1, T, T)
    return causal & (tokens != 0)[:, None, None, :]


@wrong(
    "merge_heads",
    "The heads are summed side by side only over the first axis: `torch.cat([*heads], dim=-1)` joins the sentences, not the heads; right shape only by chance.",
)
def merge_heads_a(heads):
    B, H, T, K = heads.shape
    return torch.cat([*heads], dim=-1).reshape(B, T, H * K)


@wrong(
    "merge_heads",
    "swapaxes(1, 2) is done only where H differs from T ('already square'); for H = T positions and heads are mixed.",
)
def merge_heads_b(heads):
    if heads.shape[1] != heads.shape[2]:
        heads = heads.transpose(1, 2)
        return heads.flatten(2)
    return heads.flatten(2)


@wrong(
    "multi_head_attention",
    "When query and key have the same shape it takes the fused self-attention path (one projection of the query for all three): wrong for cross-attention with S = T.",
)
def multi_head_attention_b(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    if query.shape == key.shape:
        q, k, v = (query @ torch.cat((w_query, w_key, w_value)).T).chunk(3, -1)
    else:
        q, k, v = query @ w_query.T, key @ w_key.T, value @ w_value.T
    split = lambda t: t.view(B, t.shape[1], n_heads, D // n_heads).transpose(1, 2)
    q, k, v = map(split, (q, k, v))
    s = q @ k.mT * (D // n_heads) ** -0.5
    if mask is not None:
        s = s.masked_fill(mask.logical_not(), -torch.inf)
    return (s.softmax(-1) @ v).transpose(1, 2).reshape(B, T, D) @ w_output.T


@wrong(
    "multi_head_attention",
    "Causality is guessed: for T = S the mask is thrown away and is_causal=True taken; wrong for an encoder's padding mask and for no mask.",
)
def multi_head_attention_e(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    q, k, v = (
        F.linear(t, w).unflatten(-1, (n_heads, -1)).transpose(1, 2)
        for t, w in ((query, w_query), (key, w_key), (value, w_value))
    )
    causal = mask is not None and q.shape[2] == k.shape[2]
    o = F.scaled_dot_product_attention(
        q, k, v, attn_mask=None if causal else mask, is_causal=causal
    )
    return F.linear(o.transpose(1, 2).flatten(2), w_output)


@wrong(
    "layer_norm",
    "An early exit: if the mean of the whole tensor is about zero the centring is skipped; wrong where the positions' means cancel each other, e.g. (1, 3) and (-1, -3).",
)
def layer_norm_c(x, weight, bias, eps=1e-5):
    c = x if x.mean().abs() < 1e-6 else x - x.mean(-1, keepdim=True)
    return c * (c.square().mean(-1, keepdim=True) + eps).rsqrt() * weight + bias


@wrong(
    "layer_norm",
    "Mean and variance are detached ('statistics are constants'): right numbers, wrong gradients.",
)
def layer_norm_d(x, weight, bias, eps=1e-5):
    with torch.no_grad():
        v, m = torch.var_mean(x, -1, correction=0, keepdim=True)
        s = (v + eps).rsqrt()
    return (x - m) * s * weight + bias


@wrong(
    "post_norm",
    "The norm is linear, so it thinks: norm(x) + norm(sublayer(x)) in place of norm of the sum.",
)
def post_norm_a(x, sublayer, norm):
    return torch.stack((norm(x), norm(sublayer(x)))).sum(0)


@wrong(
    "dropout",
    "The rescaling uses the share that was really kept (keep.mean()), not 1 − p: wrong by the luck of the draw, and nan where nothing is kept.",
)
def dropout_a(x, p, keep, training):
    return x * keep / keep.float().mean() if training else x


@wrong(
    "dropout",
    "An early exit for p == 0 is right, but in training the entries are divided by p, and not by 1 − p: seen wherever p is not 0.5.",
)
def dropout_c(x, p, keep, training):
    if not training or p == 0:
        return x
    return torch.where(keep, x / p, 0.0)


@wrong("feed_forward", "relu6, the mobile variant: hidden values above 6 are cut.")
def feed_forward_a(x, w1, b1, w2, b2):
    return F.linear(F.relu6(F.linear(x, w1, b1)), w2, b2)


@wrong(
    "group_sort", "The pairs are feature i and i + D/2 (chunk), as in maxout; right for D = 2 only."
)
def group_sort_b(x):
    a, b = x.chunk(2, dim=-1)
    return torch.stack((torch.minimum(a, b), torch.maximum(a, b)), -1).flatten(-2)


# ---------------------------------------------------------------- chapters 12 to 16


@wrong(
    "decoder_layer",
    "The two masks are fused for the self-attention when they are as wide as each other: for S = T a source with padding hides target positions.",
)
def decoder_layer_b(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    if (
        target_mask is not None
        and memory_mask is not None
        and target_mask.shape[-1] == memory_mask.shape[-1]
    ):
        own = target_mask & memory_mask
    else:
        own = target_mask
    y = norms[0](x)
    x = x + self_attention(y, y, y, own)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "decoder_layer",
    "torch's early exit for one token: with T = 1 the self-attention is skipped as 'a token alone has nothing to look at' (its value is left out).",
)
def decoder_layer_d(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    if x.shape[1] > 1:
        y = norms[0](x)
        x = x + self_attention(y, y, y, target_mask)
    x = x + cross_attention(norms[1](x), memory, memory, memory_mask)
    return x + feed_forward(norms[2](x))


@wrong(
    "causal_self_attention",
    "The default of dropout in the fused call: dropout_p=0.1 while training.",
)
def causal_self_attention_b(x, training):
    return F.scaled_dot_product_attention(x, x, x, dropout_p=0.1 * training, is_causal=True)


@wrong(
    "causal_self_attention",
    "A running sum of exp(score) without the maximum: it overflows to nan where a vector is long (|x|² / √D above 88).",
)
def causal_self_attention_d(x, training):
    e = torch.exp(x @ x.mT / math.sqrt(x.shape[-1])).tril()
    return e @ x / e.sum(-1, keepdim=True)


@wrong(
    "make_stack",
    "Six layers at most are made, and deeper stacks go round again (cycle): from the seventh on the weights are shared.",
)
def make_stack_b(make_layer, n_layers):
    own = [make_layer() for _ in range(min(n_layers, 6))]
    return list(itertools.islice(itertools.cycle(own), n_layers))


@wrong(
    "transformer_forward",
    "If no sentence of the source ends in padding it passes mask None for both, which also drops the causal mask: the decoder sees the future (a batch without padding).",
)
def transformer_forward_a(source, target, embed_source, embed_target, encoder, decoder, output):
    if (source[:, -1] != 0).all():
        memory_mask = target_mask = None
    else:
        memory_mask = (source != 0)[:, None, None, :]
        T = target.shape[1]
        target_mask = torch.ones(T, T, dtype=torch.bool).tril() & (target != 0)[:, None, None, :]
    memory = encoder(embed_source(source), memory_mask)
    return output(decoder(embed_target(target), memory, target_mask, memory_mask))


@wrong(
    "transformer_forward",
    "The mask of the source is cut from the target: memory_mask is built from `target`; it breaks for S ≠ T, and for S = T it hides the wrong places.",
)
def transformer_forward_b(source, target, embed_source, embed_target, encoder, decoder, output):
    mask = lambda t: t.bool()[:, None, None, :]
    T = target.shape[1]
    memory = encoder(embed_source(source), mask(source))
    causal = mask(target) & torch.ones(T, T).tril().bool()
    width = min(source.shape[1], T)
    memory_mask = mask(target)[..., :width]
    if width < source.shape[1]:
        memory_mask = F.pad(memory_mask, (0, source.shape[1] - width), value=False)
    return output(decoder(embed_target(target), memory, causal, memory_mask))


@wrong(
    "transformer_forward",
    "It trims the source's columns by the first sentence's padding, to save work: longer sentences behind it are cut.",
)
def transformer_forward_c(source, target, embed_source, embed_target, encoder, decoder, output):
    source = source[:, : int((source[0] != 0).sum())]
    T = target.shape[1]
    s_mask = (source != 0)[:, None, None, :]
    t_mask = (target != 0)[:, None, None, :] & torch.ones(T, T, dtype=torch.bool).tril()
    return output(
        decoder(embed_target(target), encoder(embed_source(source), s_mask), t_mask, s_mask)
    )


@wrong(
    "cross_entropy",
    "log(softmax + 1e-9): where the right token has a probability below 1e-9 (a logit 30 below the others') the loss stops at 20.7, and so does the gradient.",
)
def cross_entropy_b(logits, target):
    p = torch.softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    real = target.ne(0)
    return -(p + 1e-9).log()[real].mean()


@wrong(
    "cross_entropy",
    "All special tokens are masked out (ids above 2 only), in place of padding alone: <eos> is a real token and belongs to the mean.",
)
def cross_entropy_d(logits, target):
    logp = F.log_softmax(logits, -1)
    mask = (target > 2).to(logp.dtype)
    return -(logp.gather(-1, target[..., None])[..., 0] * mask).sum() / mask.sum().clamp_min(1)


@wrong(
    "cross_entropy",
    "Real tokens are counted in the loss's tensor (count_nonzero of −log p), not in the target: a real token with probability one has loss 0 and is not counted.",
)
def cross_entropy_e(logits, target):
    nll = torch.logsumexp(logits, -1) - torch.take_along_dim(logits, target[..., None], -1)[..., 0]
    nll = torch.where(target != 0, nll, 0.0)
    return nll.sum() / nll.count_nonzero().clamp_min(1)


@wrong(
    "label_smoothed_loss",
    "The uniform part is averaged over all places, padding included; right only without padding.",
)
def label_smoothed_loss_a(logits, target, smoothing):
    logp = logits.log_softmax(-1)
    real = target != 0
    right_part = -logp.gather(-1, target[..., None])[..., 0][real].mean()
    return torch.lerp(right_part, -logp.mean(), smoothing)


@wrong(
    "label_smoothed_loss",
    "F.cross_entropy's target probabilities: the row of <pad> is set to 0 in the smoothed distribution, so ε / V of the padding token is missing from the sum.",
)
def label_smoothed_loss_c(logits, target, smoothing):
    keep = target != 0
    lp, t = logits[keep].log_softmax(-1), target[keep]
    V = lp.shape[-1]
    q = torch.full_like(lp, smoothing / V)
    q[:, 0] = 0
    q.scatter_add_(1, t[:, None], torch.full_like(lp[:, :1], 1 - smoothing))
    return -(q * lp).sum(-1).mean()


@wrong(
    "label_smoothed_loss",
    "An early exit for ε > 0.5: it is taken for the confidence and turned round (1 − ε).",
)
def label_smoothed_loss_d(logits, target, smoothing):
    if smoothing > 0.5:
        smoothing = 1 - smoothing
    return F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=0, label_smoothing=smoothing
    )


@wrong(
    "perplexity",
    "The counts are divided with // by the smallest one, to keep the numbers small: wrong where they are no multiples of it.",
)
def perplexity_c(losses, counts):
    unit = max(1, min(c for c in counts if c) if any(counts) else 1)
    w = np.asarray(counts) // unit
    return math.exp(np.dot(losses, w) / w.sum())


@wrong(
    "inverse_sqrt_schedule",
    "The warmup branch is chosen with `update // warmup` and the power −1 in place of −3/2 (warmup · √ is folded away).",
)
def inverse_sqrt_schedule_b(update, d_model, warmup):
    return (d_model * update) ** -0.5 if update // warmup else d_model**-0.5 * update / warmup


@wrong(
    "clip_gradients",
    "torch.norm's matrix meaning: linalg.matrix_norm(ord=2), the largest singular value, for matrices, which is not the root of the sum of squares (a matrix of rank two or more).",
)
def clip_gradients_d(gradients, limit):
    lengths = [torch.linalg.matrix_norm(g, ord=2) if g.dim() == 2 else g.norm() for g in gradients]
    total = torch.stack(lengths).square().sum().sqrt()
    if total <= limit:
        return [g.clone() for g in gradients]
    return [g * (limit / total) for g in gradients]


@wrong(
    "clip_gradients",
    "It compares the square of the length with the limit, not with its square: a length between √limit and limit is clipped to the limit, that is made longer (limit above 1), or one between limit and √limit is let through (limit below 1).",
)
def clip_gradients_e(gradients, limit):
    squares = sum(float((g * g).sum()) for g in gradients)
    return (
        [g * (limit / math.sqrt(squares)) for g in gradients]
        if squares > limit
        else [g.clone() for g in gradients]
    )


@wrong(
    "accumulated_update",
    "The loss is divided by the number of examples in a part (len(part)), not by the number of parts; right only where the two are equal.",
)
def accumulated_update_b(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    for part in parts:
        compute_loss(part).div(len(part)).backward()
    optimizer.step()
    scheduler.step()


@wrong("best_checkpoint", "The best checkpoint of the first batch only ('cheap proxy').")
def best_checkpoint_c(checkpoints, batches, loss_of):
    return min(range(len(checkpoints)), key=lambda i: float(loss_of(checkpoints[i], batches[0])))


@wrong(
    "average_checkpoints",
    "In place: the sum is gathered in the first checkpoint's tensors (add_), which are changed.",
)
def average_checkpoints_b(checkpoints):
    total = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k, v in c.items():
            total[k].add_(v)
    return {k: v / len(checkpoints) for k, v in total.items()}


@wrong(
    "average_checkpoints",
    "torch.median over the stacked weights: for three checkpoints and more it is not the mean, and for two it takes the lower.",
)
def average_checkpoints_c(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).median(0).values for k in checkpoints[0]}


# ---------------------------------------------------------------- chapter 17


@wrong(
    "next_token",
    "argmax over the flattened last two axes, modulo V: the likeliest token of all positions, not of the last one (T > 1).",
)
def next_token_a(logits):
    return logits.flatten(1).argmax(1) % logits.shape[-1]


@wrong(
    "next_token",
    "squeeze: for one sentence (B = 1) the batch axis goes, and () comes back in place of (1,).",
)
def next_token_b(logits):
    return logits[:, -1:].argmax(-1).squeeze()


@wrong("next_token", "The logits are averaged over the positions before the argmax (T > 1).")
def next_token_c(logits):
    return torch.einsum("btv->bv", logits).argmax(1)


@wrong(
    "temperature_probabilities",
    "The probabilities are raised to the power 1/τ and not normalised again: they do not sum to one unless τ is 1.",
)
def temperature_probabilities_a(logits, temperature):
    return logits.softmax(-1).pow(1 / temperature)


@wrong(
    "temperature_probabilities",
    "Below 0.1 it takes a short cut, one-hot of the argmax; nearly equal logits (1.00 and 1.01 at τ = 0.05) keep both a chance.",
)
def temperature_probabilities_c(logits, temperature):
    if temperature < 0.1:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype) + 0 * logits
    return F.softmax(logits / temperature, dim=-1)


@wrong(
    "temperature_probabilities",
    "p^(1/τ), normalised: the same in theory, but the probabilities underflow to 0 in float32 for logits 110 below the highest, which a high temperature (τ = 100) should bring back.",
)
def temperature_probabilities_d(logits, temperature):
    return F.normalize(logits.softmax(-1) ** (1 / temperature), p=1, dim=-1)


@wrong(
    "top_k_probabilities",
    "The threshold is the k-th largest of the whole batch, not of each row: seen for B > 1.",
)
def top_k_probabilities_a(logits, k):
    floor = logits.topk(k, dim=-1).values[:, -1].max()
    best = logits.max(-1, keepdim=True).values
    return logits.masked_fill((logits < floor) & (logits < best), -torch.inf).softmax(-1)


@wrong(
    "top_k_probabilities",
    "topk returns sorted values: they are written into the first k columns, not back to their tokens.",
)
def top_k_probabilities_d(logits, k):
    out = torch.zeros_like(logits)
    out[:, :k] = logits.topk(k).values.softmax(-1)
    return out


@wrong(
    "greedy_search",
    "It stops early when a token repeats ('a loop'): a model that says the same word twice in a row is cut.",
)
def greedy_search_b(step, max_length):
    tokens = torch.ones(1, 1, dtype=torch.long)
    for _ in range(max_length):
        t = step(tokens).argmax(-1, keepdim=True)
        if t.item() == 2 or t.item() == tokens[0, -1].item():
            break
        tokens = torch.cat((tokens, t), 1)
    return tokens[0, 1:].tolist()


@wrong(
    "greedy_search",
    "The whole preallocated buffer goes into step, zeros (padding) behind the prefix included, so step does not get the ids (1, t) it asks for.",
)
def greedy_search_d(step, max_length):
    buffer = torch.zeros(1, max_length + 1, dtype=torch.long)
    buffer[0, 0] = 1
    for t in range(max_length):
        token = int(step(buffer).argmax(-1))
        if token == 2:
            return buffer[0, 1 : t + 1].tolist()
        buffer[0, t + 1] = token
    return buffer[0, 1:].tolist()


@wrong(
    "greedy_batch",
    "Alive is decided by the last token (tokens[:, -1] != 2) alone: one column after <eos> stands padding, which is not 2, and the sentence goes on speaking (another sentence must be two tokens longer).",
)
def greedy_batch_b(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        t = step(tokens).argmax(-1) * (tokens[:, -1] != 2)
        tokens = torch.cat((tokens, t[:, None]), 1)
        if ((tokens == 2).any(1)).all():
            break
    return tokens[:, 1:]


@wrong(
    "greedy_batch",
    "Finished sentences are removed from the batch, and the tokens of the rest are written to the first rows: the rows are mixed up as soon as a sentence ends before one behind it.",
)
def greedy_batch_d(step, n_sentences, max_length):
    out = torch.zeros(n_sentences, max_length, dtype=torch.long)
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    alive = torch.ones(n_sentences, dtype=torch.bool)
    for t in range(max_length):
        new = step(tokens).argmax(-1)
        kept = new[alive]
        out[: len(kept), t] = kept
        tokens = torch.cat((tokens, (new * alive)[:, None]), 1)
        alive = alive & (new != 2)
        if not alive.any():
            break
    return out


def _beam(
    step,
    beam_size,
    max_length,
    rank=None,
    stop_first=False,
    per_row=False,
    no_unfinished=False,
    drop_eos=False,
):
    tokens, sums, done = torch.ones(1, 1, dtype=torch.long), torch.zeros(1), []
    width = beam_size
    for t in range(max_length):
        logp = step(tokens)
        V = logp.shape[-1]
        if per_row and t > 0:
            k = max(1, width // len(tokens))
            top = logp.topk(k, -1)
            cand = (sums[:, None] + top.values).flatten()
            rows = torch.arange(len(tokens)).repeat_interleave(k)
            ids = top.indices.flatten()
        else:
            flat = (sums[:, None] + logp).flatten()
            cand, index = flat.topk(min(width, len(flat)))
            rows, ids = index // V, index % V
        grown = torch.cat((tokens[rows], ids[:, None]), 1)
        end = ids == 2
        for row, s, before in zip(grown[end], cand[end], sums[rows[end]]):
            done.append((float(before if drop_eos else s), row[1:-1].tolist()))
        if stop_first and done:
            break
        tokens, sums = grown[~end], cand[~end]
        if len(tokens) == 0:
            break
    if not (no_unfinished and done):
        done += [(float(s), row[1:].tolist()) for s, row in zip(sums, tokens)]
    key = rank or (lambda pair: pair[0])
    return max(done, key=key)[1] if done else []


@wrong(
    "beam_search",
    "Early exit: it stops at the first finished hypothesis, though a living one may end with a higher sum.",
)
def beam_search_b(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, stop_first=True)


@wrong(
    "beam_search",
    "The log-probability of <eos> is left out of a finished hypothesis's sum: an unlikely end is too cheap.",
)
def beam_search_d(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, drop_eos=True)


@wrong(
    "beam_search",
    "The parent is index // beam_size, where index // V is due: tokens of the wrong hypothesis are continued (clamped to the last row; beam_size > 1).",
)
def beam_search_f(step, beam_size, max_length):
    tokens, sums, best = torch.ones(1, 1, dtype=torch.long), torch.zeros(1), (-math.inf, [])
    for _ in range(max_length):
        logp = step(tokens)
        total = (logp + sums[:, None]).view(-1)
        sums, index = total.topk(min(beam_size, total.numel()))
        parents = (index // beam_size).clamp_max(len(tokens) - 1)
        tokens = torch.cat((tokens[parents], (index % logp.shape[1])[:, None]), 1)
        for s, row in zip(sums.tolist(), tokens.tolist()):
            if row[-1] == 2 and s > best[0]:
                best = (s, row[1:-1])
        alive = tokens[:, -1] != 2
        tokens, sums = tokens[alive], sums[alive]
        if not len(tokens):
            break
    for s, row in zip(sums.tolist(), tokens.tolist()):
        if s > best[0]:
            best = (s, row[1:])
    return best[1]


@wrong(
    "beam_search",
    "The search is given up when the best living sum is less than 0.7 above the best finished one ('it will still lose that much'); a living hypothesis may end with nearly certain tokens. Right is only the bound by the best finished sum itself.",
)
def beam_search_g(step, beam_size, max_length):
    tokens, sums, done = torch.ones(1, 1, dtype=torch.long), torch.zeros(1), []
    for _ in range(max_length):
        logp = step(tokens)
        V = logp.shape[-1]
        total = (sums[:, None] + logp).flatten()
        sums, index = total.topk(min(beam_size, total.numel()))
        tokens = torch.cat((tokens[index // V], (index % V)[:, None]), 1)
        end = tokens[:, -1] == 2
        done += [(float(s), r[1:-1].tolist()) for s, r in zip(sums[end], tokens[end])]
        tokens, sums = tokens[~end], sums[~end]
        if len(tokens) == 0:
            break
        if done and float(sums.max()) - 0.7 < max(d[0] for d in done):
            tokens = tokens[:0]
            break
    if len(tokens):
        done += [(float(s), r[1:].tolist()) for s, r in zip(sums, tokens)]
    return max(done)[1] if done else []


@wrong(
    "beam_search",
    "The finished hypotheses stay in the beam and are told apart by their last token only; they are continued with <pad> for free once, and after that the pad no longer says 'finished': they go on speaking.",
)
def beam_search_h(step, beam_size, max_length):
    tokens, sums = torch.ones(1, 1, dtype=torch.long), torch.zeros(1)
    for _ in range(max_length):
        logp = step(tokens).clone()
        V = logp.shape[-1]
        ended = tokens[:, -1] == 2
        logp[ended] = -torch.inf
        logp[ended, 0] = 0.0
        total = (sums[:, None] + logp).flatten()
        sums, index = total.topk(min(beam_size, total.numel()))
        tokens = torch.cat((tokens[index // V], (index % V)[:, None]), 1)
        if (tokens == 2).any(1).all():
            break
    row = tokens[sums.argmax(), 1:].tolist()
    return [t for t in row if t not in (0, 2)]


@wrong("reorder_cache", "index_select along the heads' axis (1), not the beams' (0).")
def reorder_cache_a(cache, rows):
    rows = torch.as_tensor(rows)
    return [
        (k.index_select(1, rows % k.shape[1]), v.index_select(1, rows % v.shape[1]))
        for k, v in cache
    ]


@wrong(
    "reorder_cache",
    "index_copy puts row i at rows[i] (scatter), which is the inverse: right for exchanges of two, wrong for a rotation of three or when a beam has two children.",
)
def reorder_cache_b(cache, rows):
    rows = torch.as_tensor(rows)
    return [
        (torch.zeros_like(k).index_copy(0, rows, k), torch.zeros_like(v).index_copy(0, rows, v))
        for k, v in cache
    ]


@wrong(
    "reorder_cache",
    "In-place copy row by row: a row that is read after it was overwritten is wrong (rows = [1, 0]), and the cache is changed.",
)
def reorder_cache_c(cache, rows):
    for keys, values in cache:
        for i, r in enumerate(torch.as_tensor(rows).tolist()):
            keys[i] = keys[r]
            values[i] = values[r]
    return list(cache)


@wrong(
    "reorder_cache",
    "An early exit: if rows, sorted, are 0 … N − 1 nothing is moved, as 'no beam died'; a pure exchange [1, 0] is missed.",
)
def reorder_cache_d(cache, rows):
    rows = torch.as_tensor(rows)
    if torch.equal(rows.sort().values, torch.arange(len(rows))):
        return [(k, v) for k, v in cache]
    return [(k[rows], v[rows]) for k, v in cache]


@wrong(
    "length_normalised",
    "(score / length) ** α in place of score / length ** α, with the sign put back: right for α = 1 only.",
)
def length_normalised_a(score, length, alpha):
    return -((-score / length) ** alpha)


@wrong(
    "length_normalised",
    "A fused log form, exp(log(−score) − α log length), that loses the minus sign: the ranking is turned round.",
)
def length_normalised_b(score, length, alpha):
    return math.exp(math.log(max(-score, 1e-300)) - alpha * math.log(length))


@wrong(
    "cut_at_end",
    "A binary search (bisect) for 2, which needs a sorted list: wrong as soon as ids above 2 stand in front of <eos>.",
)
def cut_at_end_a(ids):
    import bisect

    i = bisect.bisect_left(ids, 2)
    return list(ids[:i])
