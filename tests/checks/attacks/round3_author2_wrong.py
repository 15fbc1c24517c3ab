"""Round 3, author 2: what is wrong, as it was written from the docstrings alone."""

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
    "number_of_targets",
    "It sums the geometric series, i.e. counts all sequences up to that length, not those of exactly that length (wrong for every length of two and more, right for one).",
)
def number_of_targets_b(vocab_size, length):
    if vocab_size == 1:
        return length
    return (vocab_size ** (length + 1) - vocab_size) // (vocab_size - 1)


@wrong(
    "build_vocabulary",
    "It counts each word once per sentence (set), the document frequency: a word that comes twice in the same sentence is missed.",
)
def build_vocabulary_a(sentences, min_frequency):
    counts = Counter(itertools.chain.from_iterable(map(set, sentences)))
    words = [w for w, n in counts.items() if n >= min_frequency]
    return {w: i for i, w in enumerate(["<pad>", "<sos>", "<eos>", "<unk>"] + words)}


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
    "build_vocabulary",
    "An early exit from the list sorted by frequency: takewhile with > in place of >=, so a word with just the minimum frequency is dropped.",
)
def build_vocabulary_c(sentences, min_frequency):
    ranked = Counter(itertools.chain(*sentences)).most_common()
    keep = itertools.takewhile(lambda pair: pair[1] > min_frequency, ranked)
    return {
        w: i
        for i, w in enumerate(
            itertools.chain(("<pad>", "<sos>", "<eos>", "<unk>"), (w for w, _ in keep))
        )
    }


@wrong(
    "encode",
    "`vocabulary.get(t) or 3` takes the id 0 for missing: the token <pad>, which is in the dictionary, becomes <unk>.",
)
def encode_a(tokens, vocabulary):
    get = vocabulary.get
    return [get(t) or 3 for t in tokens] + [2]


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
    "It tokenizes the lower-cased text; the model was trained with tokenize(text) as it is, so a text with capitals gets <unk> where the vocabulary has capitals.",
)
def text_to_ids_a(text, tokenize, vocabulary):
    return [vocabulary.get(t, 3) for t in tokenize(text.lower())] + [2]


@wrong(
    "text_to_ids", "It drops the unknown tokens in place of <unk> (a filter that saves one lookup)."
)
def text_to_ids_b(text, tokenize, vocabulary):
    return [vocabulary[t] for t in tokenize(text) if t in vocabulary] + [2]


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
    "Training and validation are counted together; the words of the validation set are not to be learned from.",
)
def training_words_b(splits, min_frequency):
    counts = sum((Counter(itertools.chain(*splits[k])) for k in ("train", "validation")), Counter())
    return {w for w in counts if counts[w] >= min_frequency}


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
    "The two come back the wrong way round: what is to be said first, then what the decoder reads.",
)
def shift_a(target):
    a, b = target.unfold(1, 2, 1).unbind(-1)
    return b, a


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
    "embedding",
    "It multiplies by an integer root (math.isqrt): right for D = 4, 16, 64, wrong where D is no square.",
)
def embedding_b(tokens, weight):
    return weight[tokens] * math.isqrt(weight.shape[-1])


@wrong(
    "embedding",
    "The root of the vocabulary's size (len(weight)) in place of that of D; wrong where V differs from D.",
)
def embedding_c(tokens, weight):
    return F.embedding(tokens, weight).mul(len(weight) ** 0.5)


@wrong(
    "tied_logits",
    "The dot products are divided by the root of D, to undo the embedding's scale; they are wanted plain (wrong for every D above 1).",
)
def tied_logits_a(x, weight):
    return torch.einsum("btd,vd->btv", x, weight) * x.shape[-1] ** -0.5


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
    "logspace runs to the end point: the exponent is i / (D/2 − 1) in place of 2i / D (wrong from D = 4 on).",
)
def sinusoids_b(length, d_model):
    f = torch.logspace(0, -4, d_model // 2, dtype=torch.float64)
    angles = torch.outer(torch.arange(length, dtype=torch.float64), f)
    return torch.stack((angles.sin(), angles.cos()), -1).reshape(length, d_model).float()


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
    "index by batch: the table's rows are broadcast over the wrong axis, so the row depends on the sentence, not on the position.",
)
def add_positions_a(x, table):
    return x + table[: x.shape[0], None]


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
    "The maximum of the whole tensor is subtracted, not that of the row: a row that lies 200 below the largest score of another row gives 0 / 0 = nan.",
)
def softmax_a(scores):
    e = (scores - scores.max()).exp_()
    return e / e.sum(-1, keepdim=True)


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
    "The mask by multiplication of the scores: a hidden key has score 0, which is weight exp(0), not weight 0.",
)
def scaled_dot_product_attention_a(query, key, value, mask=None):
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = scores * mask
    weights = scores.softmax(-1)
    if mask is not None:
        weights = weights * mask.any(-1, keepdim=True)
    return weights @ value


@wrong(
    "scaled_dot_product_attention",
    "The weights are masked by multiplication after the softmax and not normalised again: the rest does not sum to one.",
)
def scaled_dot_product_attention_b(query, key, value, mask=None):
    w = torch.softmax(
        torch.einsum("...td,...sd->...ts", query, key) * key.shape[-1] ** -0.5, dim=-1
    )
    return (w if mask is None else w * mask) @ value


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
    "exp without the maximum, masked by multiplication, divided by sum + eps: elegant, but it overflows to nan for scores above 88.",
)
def scaled_dot_product_attention_e(query, key, value, mask=None):
    e = (query @ key.mT / math.sqrt(query.shape[-1])).exp()
    if mask is not None:
        e = e * mask
    return (e @ value) / e.sum(-1, keepdim=True).clamp_min(1e-30)


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
    "scaled_dot_product_attention",
    "The scale is the root of the values' width: wrong where the values are wider than the keys.",
)
def scaled_dot_product_attention_g(query, key, value, mask=None):
    scores = torch.matmul(query, key.mT).div(math.sqrt(value.shape[-1]))
    if mask is None:
        return scores.softmax(-1) @ value
    dead = ~mask.any(-1, keepdim=True)
    w = scores.masked_fill(~mask & ~dead, -torch.inf).softmax(-1).masked_fill(dead, 0.0)
    return w @ value


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
    "padding_mask", "torch.sign: it gives a whole-number mask of ones and zeros, not a boolean one."
)
def padding_mask_c(tokens):
    return tokens.sign()[:, None, None, :]


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
    "The diagonal is set to True at the end, so that no row is empty: a padded position may attend to itself, which is padding.",
)
def target_mask_c(tokens):
    T = tokens.shape[1]
    m = (tokens != 0)[:, None, None, :].repeat(1, 1, T, 1).tril_()
    m.diagonal(dim1=-2, dim2=-1).fill_(True)
    return m


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
    "split_heads",
    "A view straight to (B, H, T, K), without a transpose: with more than one position it mixes positions and heads.",
)
def split_heads_a(x, n_heads):
    B, T, D = x.shape
    return x.view(B, n_heads, T, D // n_heads)


@wrong(
    "split_heads",
    "stack of chunk along axis 0 in place of 1: (H, B, T, K); seen where B and H differ, and for B = H the axes are exchanged.",
)
def split_heads_b(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=0)


@wrong(
    "split_heads",
    "split(n_heads) cuts pieces of width n_heads, not n_heads pieces: right only where H = K.",
)
def split_heads_c(x, n_heads):
    return torch.stack(x.split(n_heads, dim=-1), dim=1)


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
    "The fused projection: keys and values are both computed from `key`; wrong where the value differs from the key.",
)
def multi_head_attention_a(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    q = F.linear(query, w_query)
    k, v = F.linear(key, torch.cat((w_key, w_value))).chunk(2, dim=-1)
    q, k, v = (t.unflatten(-1, (n_heads, -1)).transpose(1, 2) for t in (q, k, v))
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return F.linear(out.transpose(1, 2).reshape(B, T, D), w_output)


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
    "Scaled by the root of D, not of the width of one head (folded into w_query); right for a single head only.",
)
def multi_head_attention_c(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    wq = w_query * D**-0.5
    q = torch.einsum("btd,hkd->bhtk", query, wq.unflatten(0, (n_heads, -1)))
    k = torch.einsum("bsd,hkd->bhsk", key, w_key.unflatten(0, (n_heads, -1)))
    v = torch.einsum("bsd,hkd->bhsk", value, w_value.unflatten(0, (n_heads, -1)))
    s = q @ k.mT
    if mask is not None:
        s = torch.where(mask, s, -torch.inf)
    return torch.einsum(
        "bhts,bhsk,dhk->btd", s.softmax(-1), v, w_output.unflatten(1, (n_heads, -1))
    )


@wrong(
    "multi_head_attention",
    "Heads are folded into the batch axis, and the mask is repeated (repeat) where repeat_interleave is due: for B > 1 with unlike masks a sentence gets another sentence's mask.",
)
def multi_head_attention_d(
    query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None
):
    B, T, D = query.shape
    S, K = key.shape[1], D // n_heads
    fold = lambda t: t.unflatten(-1, (n_heads, K)).transpose(1, 2).reshape(B * n_heads, -1, K)
    q, k, v = fold(query @ w_query.T), fold(key @ w_key.T), fold(value @ w_value.T)
    s = torch.bmm(q, k.mT) / math.sqrt(K)
    if mask is not None:
        m = mask.expand(B, 1, T, S) if mask.dim() == 4 else mask.expand(B, T, S)[:, None]
        s = s.masked_fill(~m.reshape(B, T, S).repeat(n_heads, 1, 1), -torch.inf)
    return (
        torch.bmm(s.softmax(-1), v).view(B, n_heads, T, K).transpose(1, 2).reshape(B, T, D)
        @ w_output.T
    )


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


@wrong("layer_norm", "torch.var_mean with its default: variance divided by D − 1.")
def layer_norm_a(x, weight, bias, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, keepdim=True)
    return torch.addcmul(bias, (x - mean) * torch.rsqrt(var + eps), weight)


@wrong(
    "layer_norm",
    "One pass, E[x²] − E[x]², in float32: for features with a large mean (1000 ± 0.1) the digits cancel, and the variance may even be negative (nan).",
)
def layer_norm_b(x, weight, bias, eps=1e-5):
    m = x.mean(-1, keepdim=True)
    v = x.square().mean(-1, keepdim=True) - m.square()
    return (x - m) * torch.rsqrt(v + eps) * weight + bias


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
    "layer_norm_parameters",
    "Both are ones (one tensor, unbound); the bias before training is zero.",
)
def layer_norm_parameters_a(d_model):
    return torch.ones(2, d_model).unbind(0)


@wrong(
    "pre_norm", "The residual takes the normed x: y = norm(x) is cached and used for both terms."
)
def pre_norm_a(x, sublayer, norm):
    y = norm(x)
    return y + sublayer(y)


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
    "The zeros by multiplication: an infinite or nan entry that is dropped becomes nan; and the enlargement 1 + p is only the first term of 1 / (1 − p).",
)
def dropout_b(x, p, keep, training):
    return x * (keep * (1 + p)) if training else x


@wrong(
    "dropout",
    "An early exit for p == 0 is right, but in training the entries are divided by p, and not by 1 − p: seen wherever p is not 0.5.",
)
def dropout_c(x, p, keep, training):
    if not training or p == 0:
        return x
    return torch.where(keep, x / p, 0.0)


@wrong(
    "sublayer_with_dropout",
    "The dropout is moved out of the sum, to save a tensor: dropout(x + sublayer(norm(x))).",
)
def sublayer_with_dropout_a(x, sublayer, norm, dropout):
    return dropout(sublayer(norm(x)).add(x))


@wrong(
    "sublayer_with_dropout",
    "The dropout is applied to the sublayer's input, as 'it commutes with a linear layer'.",
)
def sublayer_with_dropout_b(x, sublayer, norm, dropout):
    return torch.add(x, sublayer(dropout(norm(x))))


@wrong("feed_forward", "relu6, the mobile variant: hidden values above 6 are cut.")
def feed_forward_a(x, w1, b1, w2, b2):
    return F.linear(F.relu6(F.linear(x, w1, b1)), w2, b2)


@wrong("feed_forward", "The first bias is added after the ReLU (addmm saved).")
def feed_forward_b(x, w1, b1, w2, b2):
    return ((x @ w1.T).clamp_min(0) + b1) @ w2.T + b2


@wrong(
    "group_sort",
    "The whole last axis is sorted; right only for two features (or for input that is sorted by pairs).",
)
def group_sort_a(x):
    return x.sort(dim=-1).values


@wrong(
    "group_sort", "The pairs are feature i and i + D/2 (chunk), as in maxout; right for D = 2 only."
)
def group_sort_b(x):
    a, b = x.chunk(2, dim=-1)
    return torch.stack((torch.minimum(a, b), torch.maximum(a, b)), -1).flatten(-2)


@wrong(
    "group_sort",
    "Minimum and maximum are joined (cat), not interleaved: right for two features only.",
)
def group_sort_c(x):
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.cat((torch.minimum(even, odd), torch.maximum(even, odd)), dim=-1)


# ---------------------------------------------------------------- chapters 12 to 16


@wrong(
    "encoder_layer",
    "Both sublayers run in parallel on the same x (as in GPT-J, faster): the feed-forward network does not see the attention's output.",
)
def encoder_layer_a(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    return x + attention(y, y, y, mask) + feed_forward(norm2(x))


@wrong(
    "encoder_layer",
    "The mask is dropped when no row of it is empty (mask.any(-1).all()): every ordinary padding mask is ignored.",
)
def encoder_layer_b(x, mask, attention, feed_forward, norm1, norm2):
    y = norm1(x)
    if mask is not None and mask.any(-1).all():
        mask = None
    x = torch.add(x, attention(y, y, y, mask))
    return torch.add(x, feed_forward(norm2(x)))


@wrong("encoder_layer", "Only the query is normed; keys and values are the raw x.")
def encoder_layer_c(x, mask, attention, feed_forward, norm1, norm2):
    h = x + attention(norm1(x), x, x, mask)
    return h + feed_forward(norm2(h))


@wrong(
    "decoder_layer",
    "The memory is normed with the second norm, too; it comes out of the encoder ready.",
)
def decoder_layer_a(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    n1, n2, n3 = norms
    y = n1(x)
    x = x + self_attention(y, y, y, target_mask)
    m = n2(memory)
    x = x + cross_attention(n2(x), m, m, memory_mask)
    return x + feed_forward(n3(x))


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
    "Queries of the cross-attention are the norm of the layer's input, computed before the self-attention's output was added.",
)
def decoder_layer_c(
    x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    a, q = norms[0](x), norms[1](x)
    x = x + self_attention(a, a, a, target_mask) + cross_attention(q, memory, memory, memory_mask)
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
    "is_causal=training: in evaluation mode every position sees the future.",
)
def causal_self_attention_a(x, training):
    return F.scaled_dot_product_attention(x, x, x, is_causal=bool(training))


@wrong(
    "causal_self_attention",
    "The default of dropout in the fused call: dropout_p=0.1 while training.",
)
def causal_self_attention_b(x, training):
    return F.scaled_dot_product_attention(x, x, x, dropout_p=0.1 * training, is_causal=True)


@wrong(
    "causal_self_attention",
    "tril of the scores leaves zeros above the diagonal, which the softmax turns into positive weights: the future is seen.",
)
def causal_self_attention_c(x, training):
    scores = (x @ x.mT / math.sqrt(x.shape[-1])).tril()
    return scores.softmax(-1) @ x


@wrong(
    "causal_self_attention",
    "A running sum of exp(score) without the maximum: it overflows to nan where a vector is long (|x|² / √D above 88).",
)
def causal_self_attention_d(x, training):
    e = torch.exp(x @ x.mT / math.sqrt(x.shape[-1])).tril()
    return e @ x / e.sum(-1, keepdim=True)


@wrong("make_stack", "List multiplication: the same layer n times, one set of weights.")
def make_stack_a(make_layer, n_layers):
    return nn.ModuleList([make_layer()] * n_layers)


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
    "Each sentence is averaged on its own and then the sentences: wrong where they have unequally many real tokens.",
)
def cross_entropy_a(logits, target):
    real = (target != 0).float()
    nll = -logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1) * real
    return (nll.sum(1) / real.sum(1).clamp_min(1)).mean()


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
    "The mask by multiplication and mean() over all places: divided by B·T, not by the number of real tokens; right only without padding.",
)
def cross_entropy_c(logits, target):
    nll = torch.logsumexp(logits, -1) - logits.gather(-1, target[..., None]).squeeze(-1)
    return (nll * (target != 0)).mean()


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


@wrong("label_smoothed_loss", "ε · Σ(−log p) without the division by V.")
def label_smoothed_loss_b(logits, target, smoothing):
    keep = target.ne(0)
    lp = logits[keep].log_softmax(-1)
    picked = lp[torch.arange(len(lp)), target[keep]]
    return -((1 - smoothing) * picked + smoothing * lp.sum(-1)).mean()


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
    "The mean of the batches' perplexities, weighted by the counts: exp is taken before the mean, not after it.",
)
def perplexity_a(losses, counts):
    return float(np.average(np.exp(losses), weights=counts))


@wrong("perplexity", "np.mean of the losses: a small batch counts as much as a large one.")
def perplexity_b(losses, counts):
    return float(np.exp(np.mean(losses))) if len(losses) else 1.0


@wrong(
    "perplexity",
    "The counts are divided with // by the smallest one, to keep the numbers small: wrong where they are no multiples of it.",
)
def perplexity_c(losses, counts):
    unit = max(1, min(c for c in counts if c) if any(counts) else 1)
    w = np.asarray(counts) // unit
    return math.exp(np.dot(losses, w) / w.sum())


@wrong("inverse_sqrt_schedule", "max in place of min.")
def inverse_sqrt_schedule_a(update, d_model, warmup):
    return d_model**-0.5 * max(update**-0.5, update * warmup**-1.5)


@wrong(
    "inverse_sqrt_schedule",
    "The warmup branch is chosen with `update // warmup` and the power −1 in place of −3/2 (warmup · √ is folded away).",
)
def inverse_sqrt_schedule_b(update, d_model, warmup):
    return (d_model * update) ** -0.5 if update // warmup else d_model**-0.5 * update / warmup


@wrong(
    "inverse_sqrt_schedule",
    "Behind the warmup it decays from update − warmup: the square root is taken of the updates since the peak.",
)
def inverse_sqrt_schedule_c(update, d_model, warmup):
    n = update if update <= warmup else max(1, update - warmup)
    return 1 / math.sqrt(d_model) * min(1 / math.sqrt(n), update / warmup**1.5)


@wrong(
    "clip_gradients",
    "Each tensor is clipped by its own length, not by the common one (the foreach call works tensor by tensor).",
)
def clip_gradients_a(gradients, limit):
    norms = torch._foreach_norm(gradients)
    return [g * min(1.0, limit / (float(n) + 1e-6)) for g, n in zip(gradients, norms)]


@wrong(
    "clip_gradients",
    "The scale is not bounded by one: short gradients are made longer, up to the limit.",
)
def clip_gradients_b(gradients, limit):
    total = torch.cat([g.reshape(-1) for g in gradients]).norm()
    return [g * (limit / (total + 1e-6)) for g in gradients]


@wrong(
    "clip_gradients",
    "A sum of the lengths in place of the root of the sum of squares: with two tensors and more it clips too much.",
)
def clip_gradients_c(gradients, limit):
    total = sum(torch.linalg.vector_norm(g) for g in gradients)
    return [g * torch.clamp(limit / (total + 1e-6), max=1.0) for g in gradients]


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
    "training_update",
    "The gradients are zeroed after backward() and before the step, so that nothing is learned (order of the steps).",
)
def training_update_a(model, optimizer, compute_loss):
    loss = compute_loss()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.zero_grad(set_to_none=False)
    optimizer.step()


@wrong("training_update", "clip_grad_value_: each number is cut at ±1, not the common length.")
def training_update_b(model, optimizer, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    compute_loss().backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()


@wrong(
    "training_update",
    "The clipping comes after the step and touches nothing any more; gradients longer than 1 are used as they are.",
)
def training_update_c(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@wrong("accumulated_update", "The sum of the parts' gradients, not divided by their number.")
def accumulated_update_a(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    sum(compute_loss(p) for p in parts).backward()
    optimizer.step()
    scheduler.step()


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


@wrong("accumulated_update", "The schedule moves on with every part.")
def accumulated_update_c(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
        scheduler.step()
    optimizer.step()


@wrong(
    "best_checkpoint",
    "The plain mean of the batches' losses; a short last batch counts as much as the full ones.",
)
def best_checkpoint_a(checkpoints, batches, loss_of):
    table = np.array([[float(loss_of(c, b)) for b in batches] for c in checkpoints])
    return int(table.mean(1).argmin())


@wrong(
    "best_checkpoint",
    "An early stop: it returns at the first checkpoint after which the loss rises; a later, lower one is never seen.",
)
def best_checkpoint_b(checkpoints, batches, loss_of):
    best, place = math.inf, 0
    for i, c in enumerate(checkpoints):
        loss = sum(float(loss_of(c, b)) * len(b) for b in batches)
        if loss > best:
            return place
        best, place = loss, i
    return place


@wrong("best_checkpoint", "The best checkpoint of the first batch only ('cheap proxy').")
def best_checkpoint_c(checkpoints, batches, loss_of):
    return min(range(len(checkpoints)), key=lambda i: float(loss_of(checkpoints[i], batches[0])))


@wrong(
    "average_checkpoints",
    "A running average by halves, (a + b) / 2: with three checkpoints and more the last ones weigh more.",
)
def average_checkpoints_a(checkpoints):
    mean = {k: v.clone() for k, v in checkpoints[0].items()}
    for c in checkpoints[1:]:
        for k in mean:
            mean[k].lerp_(c[k], 0.5)
    return mean


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
    "exp(logits / τ) without the maximum: at a low temperature (logit 5, τ = 0.05) it overflows to nan.",
)
def temperature_probabilities_b(logits, temperature):
    e = (logits / temperature).exp()
    return e / e.sum(-1, keepdim=True)


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
    "The logits are masked by multiplication: the others get logit 0, which is a positive probability.",
)
def top_k_probabilities_b(logits, k):
    keep = torch.zeros_like(logits).scatter_(1, logits.topk(k).indices, 1.0)
    return (logits * keep).softmax(-1)


@wrong(
    "top_k_probabilities",
    "The threshold with > in place of ≥: k − 1 tokens remain (and with k = 1 it falls back on all).",
)
def top_k_probabilities_c(logits, k):
    floor = logits.kthvalue(logits.shape[-1] - k + 1, dim=-1, keepdim=True).values
    keep = logits > floor
    keep = keep | ~keep.any(-1, keepdim=True)
    return torch.where(keep, logits, -torch.inf).softmax(-1)


@wrong(
    "top_k_probabilities",
    "topk returns sorted values: they are written into the first k columns, not back to their tokens.",
)
def top_k_probabilities_d(logits, k):
    out = torch.zeros_like(logits)
    out[:, :k] = logits.topk(k).values.softmax(-1)
    return out


@wrong(
    "top_k_probabilities",
    "The kept probabilities are not normalised again: they sum to less than one (k below V).",
)
def top_k_probabilities_e(logits, k):
    p = logits.softmax(-1)
    return p * (p >= p.topk(k).values[:, -1:])


@wrong(
    "greedy_search",
    "It feeds the last token alone, as if there were a cache; step wants all ids from <sos> on.",
)
def greedy_search_a(step, max_length):
    out, tokens = [], torch.tensor([[1]])
    while len(out) < max_length:
        t = int(step(tokens).argmax())
        if t == 2:
            break
        out.append(t)
        tokens = torch.tensor([[t]])
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
    "The buffer has max_length places with <sos> among them: one token too few when <eos> does not come.",
)
def greedy_search_c(step, max_length):
    buffer = torch.zeros(1, max(max_length, 1), dtype=torch.long)
    buffer[0, 0] = 1
    for t in range(1, max_length):
        token = step(buffer[:, :t]).argmax(-1)
        if token == 2:
            return buffer[0, 1:t].tolist()
        buffer[:, t] = token
    return buffer[0, 1:].tolist()


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
    "It stops as soon as one sentence has ended (any in place of all); the others are cut.",
)
def greedy_batch_a(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    alive = torch.ones(n_sentences, dtype=torch.long)
    for _ in range(max_length):
        t = step(tokens).argmax(-1) * alive
        tokens = torch.cat((tokens, t[:, None]), 1)
        alive = alive * (t != 2)
        if not alive.all():
            break
    return tokens[:, 1:]


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
    "The padding behind the first <eos> is made by cumsum of (token == 2) > 0 without a shift: the <eos> itself is blanked, too.",
)
def greedy_batch_c(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        tokens = torch.cat((tokens, step(tokens).argmax(-1, keepdim=True)), 1)
        if (tokens == 2).any(1).all():
            break
    out = tokens[:, 1:]
    return out * ((out == 2).cumsum(1) == 0)


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


@wrong(
    "greedy_batch",
    "The early exit compares the summed number of <eos> in a step with B: it only stops when all end at once, and after <eos> the argmax goes on (no padding) for sentences that ended before.",
)
def greedy_batch_e(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        t = step(tokens).argmax(-1)
        tokens = torch.cat((tokens, t[:, None]), 1)
        if (t == 2).sum() == n_sentences:
            break
    return tokens[:, 1:]


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
    "It ranks by the mean log-probability per token at the end; asked is the sum (a longer hypothesis with a lower sum and a better mean wins).",
)
def beam_search_a(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, rank=lambda pair: pair[0] / (len(pair[1]) + 1))


@wrong(
    "beam_search",
    "Early exit: it stops at the first finished hypothesis, though a living one may end with a higher sum.",
)
def beam_search_b(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, stop_first=True)


@wrong(
    "beam_search",
    "A hypothesis that reaches max_length unfinished is thrown away as soon as any finished one exists; it counts as it is and may be the likeliest.",
)
def beam_search_c(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, no_unfinished=True)


@wrong(
    "beam_search",
    "The log-probability of <eos> is left out of a finished hypothesis's sum: an unlikely end is too cheap.",
)
def beam_search_d(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, drop_eos=True)


@wrong(
    "beam_search",
    "topk per row in place of over all continuations: each living hypothesis gets its own best token only, so no beam can have two children (beam_size > 1).",
)
def beam_search_e(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, per_row=True)


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


@wrong(
    "embed_next",
    "The table is indexed by the new tokens' own places 0 … t − 1; past is forgotten (past > 0).",
)
def embed_next_a(tokens, past, weight, table):
    return F.embedding(tokens, weight) + table[: tokens.shape[1]]


@wrong(
    "embed_next",
    "One row of the table, table[past], is broadcast over all new tokens: right for t = 1 only.",
)
def embed_next_b(tokens, past, weight, table):
    return weight[tokens] + table[past]


@wrong(
    "embed_next",
    "Rows are taken from the end of the table (table[-t:]), right only when the table is just full.",
)
def embed_next_c(tokens, past, weight, table):
    return weight[tokens] + table[-tokens.shape[1] :]


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


@wrong("cut_at_end", "It searches from the end (the last <eos>): wrong where <eos> comes twice.")
def cut_at_end_b(ids):
    back = ids[::-1]
    return ids[: len(ids) - 1 - back.index(2)] if 2 in ids else list(ids)


@wrong(
    "cut_at_end",
    "argmax of (ids == 2) is 0 where there is no <eos>: an empty list in place of all of them.",
)
def cut_at_end_c(ids):
    return list(ids[: int((np.array(ids) == 2).argmax())]) if len(ids) else []


@wrong(
    "cut_at_end",
    "takewhile stops at padding, too (t > 2): ids 0 and 1 before the first <eos> belong to the answer.",
)
def cut_at_end_d(ids):
    return list(itertools.takewhile(lambda t: t > 2, ids))
