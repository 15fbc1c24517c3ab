"""Wrong backward functions: each makes the mistake that is named."""

import math

import torch
import torch.nn.functional as F

from tests.checks.corpus import version

# --- linear_backward -----------------------------------------------------------------------------


@version("linear_backward", "wrong: multiplied by the input, too")
def lb_times_x(d, x, w):
    return x * d.matmul(w), d.flatten(0, 1).T @ x.flatten(0, 1), d.sum((0, 1))


@version("linear_backward", "wrong: a mean over the outputs")
def lb_mean_outputs(d, x, w):
    d_x = (d[..., None] * w).mean(dim=-2)
    return d_x, torch.einsum("btn,btm->nm", d, x), d.sum((0, 1))


@version("linear_backward", "wrong: gradient of the weight transposed")
def lb_turned(d, x, w):
    return d @ w, torch.einsum("btm,btn->mn", x, d), d.sum((0, 1))


@version("linear_backward", "wrong: gradient of the weight averaged over the rows")
def lb_averaged(d, x, w):
    rows = d[..., :, None] * x[..., None, :]
    return d @ w, rows.mean(dim=(0, 1)), d.sum((0, 1))


@version("linear_backward", "wrong: gradient of the weight overwritten")
def lb_last_row(d, x, w):
    for d_row, row in zip(d.flatten(0, 1), x.flatten(0, 1)):
        d_w = torch.outer(d_row, row)
    return d @ w, d_w, d.sum((0, 1))


@version("linear_backward", "wrong: one gradient of the weight for each sentence")
def lb_per_sentence(d, x, w):
    return d @ w, torch.einsum("btn,btm->bnm", d, x), d.sum((0, 1))


@version("linear_backward", "wrong: gradient of the bias averaged")
def lb_bias_mean(d, x, w):
    return d @ w, torch.einsum("btn,btm->nm", d, x), d.reshape(-1, d.shape[-1]).mean(0)


@version("linear_backward", "wrong: gradient of the bias not summed")
def lb_bias_rows(d, x, w):
    return d @ w, torch.einsum("btn,btm->nm", d, x), d * 1


@version("linear_backward", "wrong: gradient of the bias summed over the features")
def lb_bias_features(d, x, w):
    return d @ w, torch.einsum("btn,btm->nm", d, x), d.sum(2)


@version("linear_backward", "wrong: gradient of the bias summed over the sentences only")
def lb_bias_batch(d, x, w):
    return d @ w, torch.einsum("btn,btm->nm", d, x), sum(d)


# --- softmax_backward ----------------------------------------------------------------------------


@version("softmax_backward", "wrong: dot product of the row forgotten")
def sb_no_dot(d, p):
    return p * d


@version("softmax_backward", "wrong: mean in place of the dot product")
def sb_mean_of_products(d, p):
    return p * (d - (p * d).mean(-1, keepdim=True))


@version("softmax_backward", "wrong: gradients averaged without the weights")
def sb_unweighted(d, p):
    return (d - d.mean(dim=-1, keepdim=True)) * p


@version("softmax_backward", "wrong: gradients summed without the weights")
def sb_plain_sum(d, p):
    return p * d - p * d.sum(-1, keepdim=True)


@version("softmax_backward", "wrong: dot product over the queries")
def sb_over_queries(d, p):
    return p * (d - (p * d).sum(dim=1, keepdim=True))


@version("softmax_backward", "wrong: one dot product for all rows")
def sb_over_everything(d, p):
    return p * (d - torch.dot(p.flatten(), d.flatten()))


@version("softmax_backward", "wrong: only the diagonal of the Jacobian")
def sb_diagonal(d, p):
    return p * (1 - p) * d


@version("softmax_backward", "wrong: dot product added")
def sb_added(d, p):
    return p * d + p * (p * d).sum(-1, keepdim=True)


@version("softmax_backward", "wrong: not multiplied by the weights")
def sb_not_weighted(d, p):
    return d - (d * p).sum(dim=-1, keepdim=True)


@version("softmax_backward", "wrong: dot product subtracted outside the brackets")
def sb_outside(d, p):
    product = p * d
    return product - product.sum(-1, keepdim=True)


@version("softmax_backward", "wrong: weights and gradients exchanged")
def sb_exchanged(p, d):
    return p * (d - (p * d).sum(-1, keepdim=True))


@version("softmax_backward", "wrong: softmax taken again")
def sb_again(d, p):
    dot = (p * d).sum(-1, keepdim=True)
    return torch.softmax(p, -1) * (d - dot)


# --- attention_backward --------------------------------------------------------------------------


@version("attention_backward", "wrong: weights computed again without the mask")
def ab_without_mask(d, q, k, v, A):
    A = torch.softmax(q @ k.mT / math.sqrt(q.size(-1)), dim=-1)
    dA = d @ v.mT
    dS = A * (dA - (A * dA).sum(-1, keepdim=True))
    dS = dS / math.sqrt(q.size(-1))
    return dS @ k, dS.mT @ q, A.mT @ d


@version("attention_backward", "wrong: softmax's dot product forgotten in attention")
def ab_no_dot(d, q, k, v, A):
    dA = d @ v.mT
    dS = A * dA
    dS = dS / math.sqrt(q.size(-1))
    return dS @ k, dS.mT @ q, A.mT @ d


@version("attention_backward", "wrong: softmax skipped on the way back")
def ab_skipped(d, q, k, v, A):
    dA = d @ v.mT
    dS = dA
    dS = dS / math.sqrt(q.size(-1))
    return dS @ k, dS.mT @ q, A.mT @ d


@version("attention_backward", "wrong: dot product over the queries in attention")
def ab_over_queries(d, q, k, v, A):
    dA = d @ v.mT
    dS = A * (dA - (A * dA).sum(1, keepdim=True))
    dS = dS / math.sqrt(q.size(-1))
    return dS @ k, dS.mT @ q, A.mT @ d


@version("attention_backward", "wrong: only the diagonal of softmax's Jacobian")
def ab_diagonal(d, q, k, v, A):
    dA = d @ v.mT
    dS = (A - A * A) * dA
    dS = dS / math.sqrt(q.size(-1))
    return dS @ k, dS.mT @ q, A.mT @ d


@version("attention_backward", "wrong: scale forgotten on the way back")
def ab_not_scaled(d, q, k, v, A):
    dA = d @ v.mT
    dS = A * (dA - (A * dA).sum(-1, keepdim=True))
    return dS @ k, dS.mT @ q, A.mT @ d


@version("attention_backward", "wrong: scale once too often")
def ab_scaled_twice(d, q, k, v, A):
    dA = d @ v.mT
    dS = A * (dA - (A * dA).sum(-1, keepdim=True))
    dS = dS / q.shape[-1]
    return dS @ k, dS.mT @ q, A.mT @ d


@version("attention_backward", "wrong: multiplied by the root on the way back")
def ab_multiplied(d, q, k, v, A):
    dA = d @ v.mT
    dS = A * (dA - (A * dA).sum(-1, keepdim=True))
    dS = dS * math.sqrt(k.size(-1))
    return dS @ k, dS.mT @ q, A.mT @ d


@version("attention_backward", "wrong: scaled by the width of the values")
def ab_width_of_values(d, q, k, v, A):
    dA = d @ v.mT
    dS = A * (dA - (A * dA).sum(-1, keepdim=True))
    dS = dS / v.size(-1) ** 0.5
    return dS @ k, dS.mT @ q, A.mT @ d


@version("attention_backward", "wrong: values weighted by the gradients of the scores")
def ab_scores_for_weights(d, q, k, v, A):
    dA = d @ v.mT
    dS = A * (dA - (A * dA).sum(-1, keepdim=True))
    dS = dS / math.sqrt(q.size(-1))
    return dS @ k, dS.mT @ q, dS.mT @ d


@version("attention_backward", "wrong: values averaged over the queries")
def ab_mean_of_queries(d, q, k, v, A):
    dA = d @ v.mT
    dS = A * (dA - (A * dA).sum(-1, keepdim=True))
    dS = dS / math.sqrt(q.size(-1))
    return dS @ k, dS.mT @ q, torch.einsum("bts,btv->btsv", A, d).mean(dim=1)


@version("attention_backward", "wrong: gradients of query and key exchanged")
def ab_exchanged(d, q, k, v, A):
    dA = d @ v.mT
    dS = A * (dA - (A * dA).sum(-1, keepdim=True))
    dS = dS / math.sqrt(q.size(-1))
    return dS.mT @ q, dS @ k, A.mT @ d


# --- layer_norm_backward -------------------------------------------------------------------------


@version("layer_norm_backward", "wrong: the norm's first mean forgotten")
def lnb_no_first(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return (dn - n * b) / s, (d * n).sum((0, 1)), d.sum((0, 1))


@version("layer_norm_backward", "wrong: the norm's second mean forgotten")
def lnb_no_second(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return (dn - a) / s, (d * n).sum((0, 1)), d.sum((0, 1))


@version("layer_norm_backward", "wrong: both means of the norm forgotten")
def lnb_no_means(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return d * w / s, (d * n).sum((0, 1)), d.sum((0, 1))


@version("layer_norm_backward", "wrong: second mean not multiplied by n")
def lnb_n_forgotten(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return (dn - a - b) / s, (d * n).sum((0, 1)), d.sum((0, 1))


@version("layer_norm_backward", "wrong: second mean added")
def lnb_second_added(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return (dn - a + n * b) / s, (d * n).sum((0, 1)), d.sum((0, 1))


@version("layer_norm_backward", "wrong: sum in place of the first mean")
def lnb_first_sum(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.sum(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return (dn - a - n * b) / s, (d * n).sum((0, 1)), d.sum((0, 1))


@version("layer_norm_backward", "wrong: sum in place of the second mean")
def lnb_second_sum(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).sum(-1, keepdim=True)
    return (dn - a - n * b) / s, (d * n).sum((0, 1)), d.sum((0, 1))


@version("layer_norm_backward", "wrong: γ forgotten in the gradient of x")
def lnb_no_gamma(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return (dn - a - n * b) / s, (d * n).sum((0, 1)), d.sum((0, 1))


@version("layer_norm_backward", "wrong: not divided by the deviation")
def lnb_not_divided(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return dn - a - n * b, (d * n).sum((0, 1)), d.sum((0, 1))


@version("layer_norm_backward", "wrong: divided by the variance on the way back")
def lnb_divided_twice(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return (dn - a - n * b) / s**2, (d * n).sum((0, 1)), d.sum((0, 1))


@version("layer_norm_backward", "wrong: ε forgotten on the way back")
def lnb_no_eps(d, x, w, eps=1e-5):
    s = x.std(-1, keepdim=True, unbiased=False)
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return (dn - a - n * b) / s, (d * n).sum((0, 1)), d.sum((0, 1))


@version("layer_norm_backward", "wrong: γ's gradient from the raw input")
def lnb_raw(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return (dn - a - n * b) / s, torch.einsum("btd,btd->d", d, x), d.sum((0, 1))


@version("layer_norm_backward", "wrong: γ multiplied into its own gradient")
def lnb_own_gamma(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return (dn - a - n * b) / s, (dn * n).sum((0, 1)), d.sum((0, 1))


@version("layer_norm_backward", "wrong: γ's gradient averaged")
def lnb_gamma_mean(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return (dn - a - n * b) / s, (d * n).flatten(0, 1).mean(0), d.sum((0, 1))


@version("layer_norm_backward", "wrong: γ multiplied into the gradient of β")
def lnb_gamma_in_beta(d, x, w, eps=1e-5):
    s = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    n = (x - x.mean(-1, keepdim=True)) / s
    dn = d * w
    a, b = dn.mean(-1, keepdim=True), (n * dn).mean(-1, keepdim=True)
    return (dn - a - n * b) / s, (d * n).sum((0, 1)), w * d.sum((0, 1))


# --- tied_backward -------------------------------------------------------------------------------


@version("tied_backward", "wrong: rows overwritten where a token comes twice")
def tb_overwritten(d_vectors, tokens, d_logits, vectors):
    V = d_logits.size(-1)
    rows, ids = d_vectors.flatten(0, 1), tokens.flatten()
    written = d_logits.flatten(0, 1).T @ vectors.flatten(0, 1)
    read = torch.zeros(V, rows.size(-1))
    for token, row in zip(ids, rows):
        read[token] = row
    return read + written


@version("tied_backward", "wrong: rows averaged where a token comes twice")
def tb_averaged(d_vectors, tokens, d_logits, vectors):
    V = d_logits.size(-1)
    rows, ids = d_vectors.flatten(0, 1), tokens.flatten()
    written = d_logits.flatten(0, 1).T @ vectors.flatten(0, 1)
    read = torch.zeros(V, rows.size(-1))
    for token in range(V):
        if (ids == token).any():
            read[token] = rows[ids == token].mean(0)
    return read + written


@version("tied_backward", "wrong: logits' share averaged over the rows")
def tb_written_mean(d_vectors, tokens, d_logits, vectors):
    V = d_logits.size(-1)
    rows, ids = d_vectors.flatten(0, 1), tokens.flatten()
    written = d_logits.flatten(0, 1).T @ vectors.flatten(0, 1)
    read = torch.zeros(V, rows.size(-1)).index_add(0, ids, rows)
    return read + written / len(rows)


@version("tied_backward", "wrong: tied matrix counted as embedding only")
def tb_embedding_only(d_vectors, tokens, d_logits, vectors):
    V = d_logits.size(-1)
    rows, ids = d_vectors.flatten(0, 1), tokens.flatten()
    written = d_logits.flatten(0, 1).T @ vectors.flatten(0, 1)
    return torch.zeros(V, rows.size(-1)).index_add(0, ids, rows)


@version("tied_backward", "wrong: tied matrix counted as projection only")
def tb_projection_only(d_vectors, tokens, d_logits, vectors):
    V = d_logits.size(-1)
    rows, ids = d_vectors.flatten(0, 1), tokens.flatten()
    written = d_logits.flatten(0, 1).T @ vectors.flatten(0, 1)
    return written


@version("tied_backward", "wrong: the two shares averaged")
def tb_halved(d_vectors, tokens, d_logits, vectors):
    V = d_logits.size(-1)
    rows, ids = d_vectors.flatten(0, 1), tokens.flatten()
    written = d_logits.flatten(0, 1).T @ vectors.flatten(0, 1)
    read = torch.zeros(V, rows.size(-1)).index_add(0, ids, rows)
    return torch.stack([read, written]).mean(0)


@version("tied_backward", "wrong: one share overwrites the other")
def tb_one_overwrites(d_vectors, tokens, d_logits, vectors):
    V = d_logits.size(-1)
    rows, ids = d_vectors.flatten(0, 1), tokens.flatten()
    written = d_logits.flatten(0, 1).T @ vectors.flatten(0, 1)
    read = torch.zeros(V, rows.size(-1)).index_add(0, ids, rows)
    for token in set(ids.tolist()):
        written[token] = read[token]
    return written


# --- cross_entropy_backward ----------------------------------------------------------------------


@version("cross_entropy_backward", "wrong: q − p in place of p − q")
def ceb_turned(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = logits.softmax(-1)
    q = F.one_hot(target, V) * (1 - e) + e / V
    return (q - p) * real / real.sum()


@version("cross_entropy_backward", "wrong: only the right token's logit")
def ceb_right_only(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = logits.softmax(-1)
    q = F.one_hot(target, V) * (1 - e) + e / V
    return (p - q) * F.one_hot(target, V) * real / real.sum()


@version("cross_entropy_backward", "wrong: multiplied by the slope of a sigmoid")
def ceb_sigmoid_slope(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = logits.softmax(-1)
    q = F.one_hot(target, V) * (1 - e) + e / V
    return p * (1 - p) * (p - q) * real / real.sum()


@version("cross_entropy_backward", "wrong: logits in place of probabilities")
def ceb_no_softmax(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = logits
    q = F.one_hot(target, V) * (1 - e) + e / V
    return (p - q) * real / real.sum()


@version("cross_entropy_backward", "wrong: log-probabilities in place of probabilities")
def ceb_logarithms(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = F.log_softmax(logits, -1)
    q = F.one_hot(target, V) * (1 - e) + e / V
    return (p - q) * real / real.sum()


@version("cross_entropy_backward", "wrong: softmax over the positions in the gradient")
def ceb_over_positions(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = logits.softmax(1)
    q = F.one_hot(target, V) * (1 - e) + e / V
    return (p - q) * real / real.sum()


@version("cross_entropy_backward", "wrong: smoothing forgotten on the way back")
def ceb_sharp(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = logits.softmax(-1)
    q = F.one_hot(target, V) * (1) + 0
    return (p - q) * real / real.sum()


@version("cross_entropy_backward", "wrong: ε/(V − 1) on the way back")
def ceb_other_denominator(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = logits.softmax(-1)
    q = F.one_hot(target, V) * (1 - e - e / (V - 1)) + e / (V - 1)
    return (p - q) * real / real.sum()


@version("cross_entropy_backward", "wrong: ε added, and not taken from the right token")
def ceb_too_much(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = logits.softmax(-1)
    q = F.one_hot(target, V) * (1) + e / V
    return (p - q) * real / real.sum()


@version("cross_entropy_backward", "wrong: padding gets a gradient")
def ceb_padding_too(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = logits.softmax(-1)
    q = F.one_hot(target, V) * (1 - e) + e / V
    return (p - q) / real.sum()


@version("cross_entropy_backward", "wrong: divided by all tokens, padding too")
def ceb_all_tokens(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = logits.softmax(-1)
    q = F.one_hot(target, V) * (1 - e) + e / V
    return (p - q) * real / target.numel()


@version("cross_entropy_backward", "wrong: not divided by the number of tokens")
def ceb_sum_of_tokens(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = logits.softmax(-1)
    q = F.one_hot(target, V) * (1 - e) + e / V
    return (p - q) * real / 1


@version("cross_entropy_backward", "wrong: divided by the number of sentences")
def ceb_per_sentence(logits, target, smoothing=0.0):
    e = smoothing
    V, real = logits.size(-1), (target != 0)[..., None]
    p = logits.softmax(-1)
    q = F.one_hot(target, V) * (1 - e) + e / V
    return (p - q) * real / target.size(0)


# --- adam_update ---------------------------------------------------------------------------------


@version("adam_update", "wrong: 1 − β₁ forgotten")
def au_summed(w, g, m, v, n, lr, b1, b2, eps):
    m, v = b1 * m + g, b2 * v + (1 - b2) * g * g
    mh, vh = m / (1 - b1**n), v / (1 - b2**n)
    return w - lr * mh / (vh.sqrt() + eps), m, v


@version("adam_update", "wrong: no running mean of the gradient")
def au_no_momentum(w, g, m, v, n, lr, b1, b2, eps):
    m, v = g * 1, b2 * v + (1 - b2) * g * g
    mh, vh = m / (1 - b1**n), v / (1 - b2**n)
    return w - lr * mh / (vh.sqrt() + eps), m, v


@version("adam_update", "wrong: the shares of the running mean exchanged")
def au_shares_exchanged(w, g, m, v, n, lr, b1, b2, eps):
    m, v = torch.lerp(m, g, b1), b2 * v + (1 - b2) * g * g
    mh, vh = m / (1 - b1**n), v / (1 - b2**n)
    return w - lr * mh / (vh.sqrt() + eps), m, v


@version("adam_update", "wrong: gradient not squared")
def au_not_squared(w, g, m, v, n, lr, b1, b2, eps):
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g.abs()
    mh, vh = m / (1 - b1**n), v / (1 - b2**n)
    return w - lr * mh / (vh.sqrt() + eps), m, v


@version("adam_update", "wrong: the mean squared in place of the gradient")
def au_mean_squared(w, g, m, v, n, lr, b1, b2, eps):
    m = b1 * m + (1 - b1) * g
    v = b2 * v + (1 - b2) * m.square()
    return w - lr * (m / (1 - b1**n)) / ((v / (1 - b2**n)).sqrt() + eps), m, v


@version("adam_update", "wrong: mean not corrected for its start at zero")
def au_uncorrected(w, g, m, v, n, lr, b1, b2, eps):
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    mh, vh = m, v / (1 - b2**n)
    return w - lr * mh / (vh.sqrt() + eps), m, v


@version("adam_update", "wrong: square not corrected for its start at zero")
def au_square_uncorrected(w, g, m, v, n, lr, b1, b2, eps):
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    mh, vh = m / (1 - b1**n), v
    return w - lr * mh / (vh.sqrt() + eps), m, v


@version("adam_update", "wrong: correction of the first update for ever")
def au_corrected_for_ever(w, g, m, v, n, lr, b1, b2, eps):
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    mh, vh = m / (1 - b1), v / (1 - b2**n)
    return w - lr * mh / (vh.sqrt() + eps), m, v


@version("adam_update", "wrong: ε inside the root of Adam")
def au_epsilon_inside(w, g, m, v, n, lr, b1, b2, eps):
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    mh, vh = m / (1 - b1**n), v / (1 - b2**n)
    return w - lr * mh / (vh + eps).sqrt(), m, v


@version("adam_update", "wrong: root forgotten in Adam")
def au_root_forgotten(w, g, m, v, n, lr, b1, b2, eps):
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    mh, vh = m / (1 - b1**n), v / (1 - b2**n)
    return w - lr * mh / (vh + eps), m, v


@version("adam_update", "wrong: steps uphill")
def au_uphill(w, g, m, v, n, lr, b1, b2, eps):
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    mh, vh = m / (1 - b1**n), v / (1 - b2**n)
    return w + lr * mh / (vh.sqrt() + eps), m, v


@version("adam_update", "wrong: learning rate forgotten")
def au_no_rate(w, g, m, v, n, lr, b1, b2, eps):
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    mh, vh = m / (1 - b1**n), v / (1 - b2**n)
    return w - mh / (vh.sqrt() + eps), m, v
