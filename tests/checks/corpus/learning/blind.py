"""What people wrote of learning who had read the docstrings of the checks alone."""

import functools
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from tests.checks.corpus import version

# --- cross_entropy --------------------------------------------------------------------------------


@version("cross_entropy", "right", "one-hot and sums", by=1)
def cross_entropy_2(logits, target):
    hot = F.one_hot(target, logits.shape[-1]).to(logits.dtype) * target.ne(0)[..., None]
    return -(torch.log_softmax(logits, -1) * hot).sum() / hot.sum()


@version("cross_entropy", "right", "loops, with gradient", by=1)
def cross_entropy_3(logits, target):
    parts = []
    for z, t in zip(logits.flatten(0, 1), target.flatten()):
        if t:
            top = z.max()
            parts.append(top + (z - top).exp().sum().log() - z[t])
    return sum(parts) / len(parts)


@version(
    "cross_entropy",
    "right",
    "logsumexp minus the right logit, real tokens picked first",
    by=(1, 2, 4, 5, 6, 8, 10, 11, 12, 13),
)
def cross_entropy_r1(logits, target):
    z, y = logits[target != 0], target[target != 0]
    return (torch.logsumexp(z, -1) - z[torch.arange(len(y)), y]).sum() / len(y)


@version("cross_entropy", "right", "logsumexp minus the right logit, weighted sum", by=(3, 7))
def cross_entropy_r(logits, target):
    real = target.ne(0)
    l = torch.logsumexp(logits, -1) - logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return torch.where(real, l, torch.zeros_like(l)).sum() / real.sum()


@version("cross_entropy", "right", "class axis moved, sum over the number of real tokens", by=10)
def cross_entropy_r2(logits, target):
    nll = F.nll_loss(F.log_softmax(logits, dim=-1).transpose(1, 2), target, reduction="none")
    real = target != 0
    return torch.where(real, nll, torch.zeros_like(nll)).sum() / real.sum()


# The softmax is over the positions (axis 1), not the vocabulary.
@version("cross_entropy", "wrong: log-softmax over the positions", by=1)
def cross_entropy_g(logits, target):
    nll = -torch.log_softmax(logits, dim=1).gather(-1, target[..., None])[..., 0]
    return nll[target != 0].mean()


# <eos> is left out of the mean along with the padding; it is a real token.
@version("cross_entropy", "wrong: <eos> left out of the loss", by=(1, 2))
def cross_entropy_h(logits, target):
    nll = -torch.log_softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    return nll[(target != 0) & (target != 2)].mean()


# item() makes a Python number: no gradient flows back.
@version("cross_entropy", "wrong", by=(1, 10))
def cross_entropy_i(logits, target):
    nll = -torch.log_softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    return torch.tensor(nll[target != 0].mean().item())


# The last position of each row is always skipped, as if it were padding.
@version("cross_entropy", "wrong: last position left out of the loss", by=1)
def cross_entropy_k(logits, target):
    nll = -torch.log_softmax(logits, -1).gather(-1, target[..., None])[..., 0]
    real = target != 0
    if target.shape[1] > 1:
        nll, real = nll[:, :-1], real[:, :-1]
    return nll[real].mean()


# An ε inside the log: log(p + 1e-4) caps the loss at about 9.
@version("cross_entropy", "wrong", by=1)
def cross_entropy_l(logits, target):
    p = torch.softmax(logits, -1)
    p = p.gather(-1, target[..., None])[..., 0]
    return -torch.log(p[target != 0] + 1e-4).mean()


# Two mistakes: padding counts, and the mean is per sentence (a sum over positions).
@version("cross_entropy", "wrong: padding in the loss + divided by the number of sentences", by=1)
def cross_entropy_2a(logits, target):
    B, T, V = logits.shape
    loss = torch.tensor(0.0)
    for b in range(B):
        for t in range(T):
            loss = loss - torch.log_softmax(logits[b, t], 0)[target[b, t]]
    return loss / B


# First a mean per sentence, then over the sentences: a short sentence's tokens count more (right
# for B = 1 or equal lengths).
@version("cross_entropy", "wrong: loss averaged per sentence", by=(1, 2))
def cross_entropy_a(logits, target):
    nll = -logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    real = (target != 0).float()
    return ((nll * real).sum(1) / real.sum(1).clamp(min=1)).mean()


# log of softmax: a very unlikely token (logit 200 below) gives log 0 = −inf.
@version("cross_entropy", "wrong: logarithm of a softmax that underflows", by=(1, 2, 3))
def cross_entropy_c(logits, target):
    p = torch.softmax(logits, dim=-1).gather(-1, target[..., None])[..., 0]
    return -p[target != 0].log().mean()


# A small number is added to p before the log: the loss can never exceed 18, and is a little off
# for unlikely tokens.
@version("cross_entropy", "wrong: probabilities kept above 1e-8", by=2)
def cross_entropy_d(logits, target):
    p = torch.softmax(logits, dim=-1).gather(-1, target[..., None])[..., 0]
    return -torch.log(p[target > 0] + 1e-8).mean()


# Places where the prediction is right already are left out as if done: the mean is over the wrong
# ones.
@version("cross_entropy", "wrong", by=2)
def cross_entropy_e(logits, target):
    open_places = (target != 0) & (logits.argmax(-1) != target)
    if not open_places.any():
        return logits.sum() * 0
    return F.cross_entropy(logits[open_places], target[open_places])


# Averaged over each sentence first and then over sentences (fairseq's sentence_avg): short
# sentences weigh more.
@version("cross_entropy", "wrong: loss averaged per sentence", by=3)
def cross_entropy_a_2(logits, target):
    logp = torch.log_softmax(logits, -1)
    picked = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    real = (target != 0).float()
    return ((picked * real).sum(1) / real.sum(1)).mean()


# Logits of padding are excluded from the softmax's denominator: <pad> can be predicted, and its
# mass counts.
@version("cross_entropy", "wrong", by=(3, 11, 12))
def cross_entropy_g_2(logits, target):
    real = target != 0
    rest = logits[real][:, 1:]
    return -torch.log_softmax(rest, -1).gather(1, target[real][:, None] - 1).mean()


# log(p + 1e-9): a right token with p = 1e-20 costs 20.7 in place of 46.
@version(
    "cross_entropy",
    "wrong: probabilities kept above 1e-9",
    by=(3, 4, 5, 6, 8, 10, 12),
)
def cross_entropy_c_2(logits, target):
    p = logits.softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return -torch.log(p + 1e-9)[target != 0].mean()


# <eos> (2) and the other special tokens are left out, too: the model never learns to stop.
@version("cross_entropy", "wrong: all special tokens left out of the loss", by=4)
def cross_entropy_d_2(logits, target):
    real = target > 3
    nll = -logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return nll[real].sum() / real.sum().clamp(min=1)


# log of the sum of exp is computed without subtracting the largest logit: logits of 100 give
# infinity.
@version("cross_entropy", "wrong", by=(5, 11))
def cross_entropy_c_3(logits, target):
    right_one = logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    losses = logits.exp().sum(-1).log() - right_one
    return losses[target != 0].mean()


# <unk> (3) is left out together with the padding, though it is a real token.
@version("cross_entropy", "wrong", by=5)
def cross_entropy_d_3(logits, target):
    losses = -torch.log_softmax(logits, -1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return losses[(target != 0) & (target != 3)].mean()


# ignore_index is 2: <eos> is left out and padding is learned.
@version("cross_entropy", "wrong", by=6)
def cross_entropy_d_4(logits, target, eos_as_pad=2):
    V = logits.size(-1)
    return F.cross_entropy(logits.reshape(-1, V), target.reshape(-1), ignore_index=eos_as_pad)


# The logarithm of the mean probability in place of the mean of the logarithms (more than one
# token).
@version("cross_entropy", "wrong", by=6)
def cross_entropy_e_2(logits, target):
    probs = logits.softmax(-1)
    right = probs.gather(2, target.unsqueeze(2)).squeeze(2)
    return -torch.log(right[target != 0].mean())


def _nll(logits, target):
    return -torch.log_softmax(logits, -1).gather(-1, target.unsqueeze(-1)).squeeze(-1)


# target > 2 counts as real: <sos>, <eos> are left out; wrong if a target holds 1 or 2.
@version("cross_entropy", "wrong", by=7)
def cross_entropy_d_5(logits, target):
    m = target > 2
    if not m.any():
        m = target != 0
    return _nll(logits, target)[m].mean()


# All special tokens are masked out (ids above 2 only), in place of padding alone: <eos> is a real
# token and belongs to the mean.
@version("cross_entropy", "wrong", by=8)
def cross_entropy_d_6(logits, target):
    logp = F.log_softmax(logits, -1)
    mask = (target > 2).to(logp.dtype)
    return -(logp.gather(-1, target[..., None])[..., 0] * mask).sum() / mask.sum().clamp_min(1)


# Real tokens are counted in the loss's tensor (count_nonzero of −log p), not in the target: a
# real token with probability one has loss 0 and is not counted.
@version("cross_entropy", "wrong", by=(8, 11))
def cross_entropy_e_3(logits, target):
    nll = torch.logsumexp(logits, -1) - torch.take_along_dim(logits, target[..., None], -1)[..., 0]
    nll = torch.where(target != 0, nll, 0.0)
    return nll.sum() / nll.count_nonzero().clamp_min(1)


# Real tokens are told by the length of the first sentence: right where all are equally long.
@version("cross_entropy", "wrong", by=10)
def cross_entropy_h_2(logits, target):
    n = int((target[0] != 0).sum())
    return F.cross_entropy(logits[:, :n].flatten(0, 1), target[:, :n].flatten(), ignore_index=0)


# log(softmax + 1e-6): a very unlikely right token costs 13.8 at most.
@version("cross_entropy", "wrong", by=11)
def cross_entropy_b(logits, target):
    p = torch.softmax(logits, -1).gather(-1, target[..., None]).squeeze(-1)
    real = target != 0
    return -torch.log(p + 1e-6)[real].mean()


# The normaliser is detached: the value is right, the gradient is not.
@version("cross_entropy", "wrong", by=11)
def cross_entropy_g_3(logits, target):
    z = torch.logsumexp(logits, -1).detach()
    nll = z - logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return nll[target != 0].mean()


# Counts each sentence up to its first padding only: wrong if a real token stands behind a 0.
@version("cross_entropy", "wrong", by=11)
def cross_entropy_h_3(logits, target):
    real = (target != 0).long().cumprod(1).bool()
    nll = -F.log_softmax(logits, -1).gather(-1, target[..., None]).squeeze(-1)
    return nll[real].mean() if real.any() else nll.sum() * 0


# 1e-3 inside the logarithm falsifies small probabilities (an unlikely right token).
@version("cross_entropy", "wrong", by=13)
def cross_entropy_e_4(logits, target):
    p = logits.softmax(-1).gather(2, target.unsqueeze(2)).squeeze(2)
    return -(p + 1e-3).log()[target != 0].mean()


# Places are taken for padding where the logits' likeliest token is 0, not where the target is (a
# model that says 0 somewhere).
@version("cross_entropy", "wrong", by=13)
def cross_entropy_h_4(logits, target):
    logp = logits.log_softmax(-1)
    real = (logp.argmax(-1) != 0) & (target != 0)
    nll = -logp.gather(-1, target[..., None]).squeeze(-1)
    return (nll * real).sum() / real.sum().clamp(min=1)


# --- label_smoothed_loss --------------------------------------------------------------------------


@version("label_smoothed_loss", "right", "the smoothed distribution written out", by=(1, 10, 11))
def label_smoothed_loss_1(logits, target, smoothing):
    V = logits.shape[-1]
    q = F.one_hot(target, V).to(logits.dtype) * (1 - smoothing) + smoothing / V
    loss = -(q * torch.log_softmax(logits, -1)).sum(-1)
    return loss[target.ne(0)].mean()


@version("label_smoothed_loss", "right", "logsumexp minus mixed logits", by=1)
def label_smoothed_loss_2(logits, target, smoothing):
    real = target != 0
    z, t = logits[real], target[real]
    mixed = torch.lerp(z.gather(1, t[:, None])[:, 0], z.mean(-1), smoothing)
    return (z.logsumexp(-1) - mixed).mean()


@version(
    "label_smoothed_loss",
    "right",
    "as the cross-entropy with a smoothed distribution, one-hot mixed with 1/V",
    by=2,
)
def label_smoothed_loss_r1(logits, target, smoothing):
    V = logits.size(-1)
    wanted = torch.lerp(
        F.one_hot(target, V).to(logits.dtype),
        torch.full((V,), 1.0 / V, dtype=logits.dtype),
        smoothing,
    )
    per_token = -(wanted * F.log_softmax(logits, dim=-1)).sum(-1)
    return torch.masked_select(per_token, target.bool()).mean()


@version(
    "label_smoothed_loss", "right", "the smoothed distribution made explicitly, in flat form", by=3
)
def label_smoothed_loss_r1_2(logits, target, smoothing):
    v = logits.shape[-1]
    flat, ids = logits.reshape(-1, v), target.reshape(-1)
    keep = ids.nonzero().squeeze(1)
    flat, ids = flat[keep], ids[keep]
    logp = flat - flat.logsumexp(1, keepdim=True)
    q = torch.eye(v, dtype=logits.dtype)[ids] * (1 - smoothing) + smoothing / v
    return -torch.einsum("nv,nv->", q, logp) / len(ids)


@version("label_smoothed_loss", "right", "torch's own, with ignore_index, positions last", by=4)
def label_smoothed_loss_r1_3(logits, target, smoothing):
    return F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=0, label_smoothing=smoothing
    )


@version(
    "label_smoothed_loss",
    "right",
    "the smoothed target as a distribution, cross-entropy with it",
    by=5,
)
def label_smoothed_loss_r1_4(logits, target, smoothing):
    V = logits.shape[-1]
    goal = torch.full_like(logits, smoothing / V).scatter_add(
        -1, target[..., None], torch.full_like(logits[..., :1], 1 - smoothing)
    )
    losses = -(goal.detach() * logits.log_softmax(-1)).sum(-1)
    real = (target > 0).to(losses.dtype)
    return (losses * real).sum() / real.sum()


@version(
    "label_smoothed_loss",
    "right",
    "two mistakes that truly cancel: ε(V − 1)/V shared among the wrong tokens only",
    by=5,
)
def label_smoothed_loss_r2(logits, target, smoothing):
    V = logits.shape[-1]
    share = smoothing * (V - 1) / V
    nll = logits.logsumexp(-1, keepdim=True) - logits
    picked = nll.gather(-1, target[..., None]).squeeze(-1)
    losses = (1 - share) * picked + share / (V - 1) * (nll.sum(-1) - picked)
    return losses[target != 0].mean()


@version(
    "label_smoothed_loss",
    "right",
    "the smoothed distribution is written out and multiplied",
    by=(6, 7, 12),
)
def label_smoothed_loss_r1_5(logits, target, smoothing):
    V = logits.shape[-1]
    real = target != 0
    q = F.one_hot(target[real], V).to(logits.dtype) * (1 - smoothing) + smoothing / V
    return -(q * torch.log_softmax(logits[real], -1)).sum() / real.sum()


@version("label_smoothed_loss", "right", "lerp between the two losses, on the real places", by=8)
def label_smoothed_loss_r(logits, target, smoothing):
    real = target != 0
    lp = logits[real].log_softmax(-1)
    return torch.lerp(
        -lp.gather(1, target[real][:, None]).squeeze(1), -lp.mean(-1), smoothing
    ).mean()


@version("label_smoothed_loss", "right", "the distribution is built and multiplied", by=13)
def label_smoothed_loss_r_2(logits, target, smoothing):
    v = logits.shape[-1]
    real = target != 0
    q = (1 - smoothing) * F.one_hot(target[real], v).to(logits.dtype) + smoothing / v
    return -torch.einsum("nv,nv->", q, logits[real].log_softmax(-1)) / real.sum()


def _lp(logits, target):
    logp = torch.log_softmax(logits, -1)
    return logp, -logp.gather(-1, target[..., None])[..., 0], target != 0


# Averaged by sentence first, then over sentences.
@version("label_smoothed_loss", "wrong: smoothed loss averaged per sentence", by=1)
def label_smoothed_loss_i(logits, target, smoothing):
    logp, nll, real = _lp(logits, target)
    loss = (1 - smoothing) * nll - smoothing * logp.mean(-1)
    return torch.stack(
        [loss[b][real[b]].mean() for b in range(len(target)) if real[b].any()]
    ).mean()


# Two mistakes: padding is averaged along, and ε and 1 − ε are exchanged.
@version("label_smoothed_loss", "wrong: ε and 1 − ε exchanged + padding in the smoothed loss", by=1)
def label_smoothed_loss_2a(logits, target, smoothing):
    logp = torch.log_softmax(logits, -1)
    nll = -logp.gather(-1, target[..., None])[..., 0]
    return (smoothing * nll - (1 - smoothing) * logp.mean(-1)).mean()


# ε is 0.1 whatever was asked for: `smoothing or 0.1` takes the 0 for missing.
@version("label_smoothed_loss", "wrong", by=(2, 5, 11))
def label_smoothed_loss_c(logits, target, smoothing):
    smoothing = smoothing or 0.1
    logp = logits.log_softmax(-1)
    loss = -(1 - smoothing) * logp.gather(-1, target[..., None])[..., 0] - smoothing * logp.mean(-1)
    return loss[target != 0].mean()


# The column of the padding token is left out of the sum over V.
@version("label_smoothed_loss", "wrong", by=(1, 2, 4, 8, 10))
def label_smoothed_loss_d(logits, target, smoothing):
    logp = logits.log_softmax(-1)
    loss = -(1 - smoothing) * logp.gather(-1, target[..., None])[..., 0]
    loss = loss - smoothing / logits.shape[-1] * logp[..., 1:].sum(-1)
    return loss[target != 0].mean()


# The Annotated Transformer: spread over V - 2 tokens, none for padding, and a KL divergence,
# smaller by the entropy of the smoothed target.
@version("label_smoothed_loss", "wrong: divergence from a distribution over V − 2 words", by=3)
def label_smoothed_loss_b(logits, target, smoothing):
    real = target != 0
    logp = torch.log_softmax(logits[real], -1)
    v = logits.size(-1)
    q = torch.full_like(logp, smoothing / (v - 2)).scatter(1, target[real][:, None], 1 - smoothing)
    q[:, 0] = 0.0
    return F.kl_div(logp, q, reduction="sum") / real.sum()


# Two: ε is spread over V - 1 tokens, and padding is counted in the mean.
@version(
    "label_smoothed_loss",
    "wrong: smoothing shared among the wrong tokens only + smoothed loss divided by all positions",
    by=3,
)
def label_smoothed_loss_two(logits, target, smoothing):
    nlp = -logits.log_softmax(-1)
    q = torch.full_like(nlp, smoothing / (logits.size(-1) - 1)).scatter(
        -1, target[..., None], 1 - smoothing
    )
    return ((q * nlp).sum(-1) * (target != 0)).mean()


# Mean in place of sum, and then divided by V once more.
@version("label_smoothed_loss", "wrong", by=(4, 7))
def label_smoothed_loss_a(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    nll = -lp.gather(-1, target[..., None])[..., 0]
    loss = (1 - smoothing) * nll + smoothing / logits.size(-1) * -lp.mean(-1)
    return loss[target != 0].mean()


# Padding is taken out of the first part only; the smoothed part is averaged over all places.
@version("label_smoothed_loss", "wrong", by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13))
def label_smoothed_loss_d_2(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    nll = -lp.gather(-1, target[..., None])[..., 0]
    return (1 - smoothing) * nll[target != 0].mean() + smoothing * -lp.mean(-1).mean()


# 1 - ε is put in front of the bracket, and divides inside it: with a smoothing of 1 that is a
# division by zero.
@version("label_smoothed_loss", "wrong", by=5)
def label_smoothed_loss_b_2(logits, target, smoothing):
    nll = -logits.log_softmax(-1)
    picked = nll.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    losses = (1 - smoothing) * (
        picked + smoothing / (1 - smoothing) / logits.shape[-1] * nll.sum(-1)
    )
    real = target != 0
    return losses.masked_fill(~real, 0).sum() / real.sum()


# The Kullback-Leibler divergence, from which the entropy of the smoothed target is missing: right
# for a smoothing of 0 only.
@version("label_smoothed_loss", "wrong: divergence in place of the smoothed loss", by=5)
def label_smoothed_loss_d_3(logits, target, smoothing):
    V = logits.shape[-1]
    goal = (1 - smoothing) * F.one_hot(target, V).to(logits.dtype) + smoothing / V
    losses = F.kl_div(logits.log_softmax(-1), goal, reduction="none").sum(-1)
    return losses[target != 0].mean()


# An early exit for ε > 0.5: it is taken for the confidence and turned round (1 − ε).
@version("label_smoothed_loss", "wrong", by=8)
def label_smoothed_loss_d_4(logits, target, smoothing):
    if smoothing > 0.5:
        smoothing = 1 - smoothing
    return F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=0, label_smoothing=smoothing
    )


# ε/(V − 1) over all tokens, the right one included: neither of the two ways of sharing it.
@version("label_smoothed_loss", "wrong", by=10)
def label_smoothed_loss_f(logits, target, smoothing):
    lp = logits.log_softmax(-1)
    nll = -lp.gather(-1, target[..., None])[..., 0]
    loss = (1 - smoothing) * nll - smoothing / (lp.shape[-1] - 1) * lp.sum(-1)
    return loss[target != 0].mean()


# ε is shared among V − 2 tokens, neither the right one nor padding, as another text does.
@version("label_smoothed_loss", "wrong: smoothing shared among V − 2 words", by=(6, 11, 12, 13))
def label_smoothed_loss_a_2(logits, target, smoothing):
    logp = F.log_softmax(logits, -1)
    v = logits.shape[-1]
    q = torch.full_like(logp, smoothing / max(v - 2, 1))
    q.scatter_(-1, target[..., None], 1 - smoothing)
    q[..., 0] = 0
    return -(q * logp).sum(-1)[target != 0].mean()


# The sum is over T's length in place of V: ε/T; right only if T = V.
@version("label_smoothed_loss", "wrong", by=11)
def label_smoothed_loss_d_5(logits, target, smoothing):
    logp = F.log_softmax(logits, -1)
    nll = -logp.gather(-1, target[..., None]).squeeze(-1)
    loss = (1 - smoothing) * nll - smoothing / logits.shape[1] * logp.sum(-1)
    return loss[target != 0].mean()


# The smoothing leaves out the padding's class: shared among V - 1 tokens without <pad>.
@version("label_smoothed_loss", "wrong", by=12)
def label_smoothed_d(logits, target, smoothing):
    nlp = -F.log_softmax(logits, dim=-1)
    first = nlp.gather(-1, target[..., None])[..., 0]
    smooth = nlp[..., 1:].mean(-1)
    loss = (1 - smoothing) * first + smoothing * smooth
    real = target != 0
    return (loss * real).sum() / real.sum()


# The distribution gets 1 − ε at the right token by assignment, so its ε/V share is lost
# (smoothing > 0).
@version("label_smoothed_loss", "wrong", by=13)
def label_smoothed_loss_f_2(logits, target, smoothing):
    v = logits.shape[-1]
    q = torch.full_like(logits, smoothing / v).scatter(-1, target.unsqueeze(-1), 1 - smoothing)
    loss = -(q * F.log_softmax(logits, -1)).sum(-1)
    return loss[target != 0].mean()


# --- perplexity -----------------------------------------------------------------------------------


@version("perplexity", "right", "a product of powers", by=1)
def perplexity_2(losses, counts):
    n = sum(float(c) for c in counts)
    return math.prod(math.exp(float(l) * float(c) / n) for l, c in zip(losses, counts))


@version("perplexity", "right", "numpy's weighted average", by=(1, 2, 4, 6, 8, 10, 11, 12, 13))
def perplexity_r1(losses, counts):
    return float(np.exp(np.average([float(l) for l in losses], weights=[float(c) for c in counts])))


# The mean of the batches' losses, without regard to the number of their tokens.
@version("perplexity", "wrong: mean of the batches' means", by=(1, 2, 3))
def perplexity_a(losses, counts):
    return math.exp(sum(float(l) for l in losses) / len(losses))


# Divides the summed mean losses by the tokens: they have to be multiplied by their counts first.
@version("perplexity", "wrong: means not multiplied by their tokens", by=1)
def perplexity_d(losses, counts):
    return math.exp(sum(float(l) for l in losses) / sum(int(c) for c in counts))


# Divides by the number of batches, not of tokens.
@version("perplexity", "wrong: sums divided by the number of batches", by=1)
def perplexity_e(losses, counts):
    return math.exp(min(700, sum(float(l) * int(c) for l, c in zip(losses, counts)) / len(losses)))


# A weighted mean loss comes back; exp is forgotten.
@version("perplexity", "wrong: exponential forgotten", by=1)
def perplexity_f(losses, counts):
    return float(np.average([float(l) for l in losses], weights=[int(c) for c in counts]))


# Two mistakes: unweighted, and exp is taken of each batch.
@version("perplexity", "wrong: plain mean of the batches' perplexities", by=1)
def perplexity_2a(losses, counts):
    return float(np.mean(np.exp([float(l) for l in losses])))


# The mean of the batches' perplexities instead of exp of the mean loss.
@version("perplexity", "wrong: mean of the perplexities", by=(1, 2))
def perplexity_b(losses, counts):
    total = sum(float(n) for n in counts)
    return sum(math.exp(float(l)) * float(n) for l, n in zip(losses, counts)) / total


# Batches with loss 0 are skipped by `if loss`, tokens and all.
@version("perplexity", "wrong", by=(2, 5))
def perplexity_c(losses, counts):
    pairs = [(float(l), float(n)) for l, n in zip(losses, counts) if l]
    if not pairs:
        return 1.0
    return math.exp(sum(l * n for l, n in pairs) / sum(n for _, n in pairs))


# The losses are rounded to two places first, as they are in the log file.
@version("perplexity", "wrong", by=3)
def perplexity_c_2(losses, counts):
    losses = [round(float(l), 2) for l in losses]
    return math.exp(sum(l * n for l, n in zip(losses, counts)) / sum(counts))


# The mean loss is capped at 10 (a guard against overflow): worse models all look the same.
@version("perplexity", "wrong", by=(3, 5))
def perplexity_e_2(losses, counts):
    mean = sum(l * n for l, n in zip(losses, counts)) / sum(counts)
    return math.exp(min(mean, 10.0))


# It multiplies the probabilities of all tokens and takes the root: with a few thousand tokens the
# product is 0, and one divides by zero.
@version("perplexity", "wrong", by=5)
def perplexity_c_3(losses, counts):
    product = 1.0
    for loss, count in zip(losses, counts):
        product *= math.exp(-loss) ** count
    return (1 / product) ** (1 / sum(counts))


# `if loss < 10 else inf`, copied from a tutorial: a mean loss of 10 or more gives inf.
@version("perplexity", "wrong", by=6)
def perplexity_b_2(losses, counts):
    mean = np.average(losses, weights=counts)
    return math.exp(mean) if mean < 10 else float("inf")


# The counts are divided with // by the smallest one, to keep the numbers small: wrong where they
# are no multiples of it.
@version("perplexity", "wrong", by=8)
def perplexity_c_4(losses, counts):
    unit = max(1, min(c for c in counts if c) if any(counts) else 1)
    w = np.asarray(counts) // unit
    return math.exp(np.dot(losses, w) / w.sum())


class _PerplexityMeter:
    def __init__(self):
        self.total, self.n = 0.0, 0

    def __call__(self, losses, counts):
        for l, n in zip(losses, counts):
            self.total += l * n
            self.n += n
        return math.exp(self.total / self.n)


# The sums are not reset: the second epoch's perplexity has the first one's losses in it.
version("perplexity", "wrong: kept from the call before", by=10)(_PerplexityMeter())


# The last batch is left out if it is smaller than the first, as incomplete.
@version("perplexity", "wrong", by=(10, 11))
def perplexity_c_5(losses, counts):
    if len(counts) > 1 and counts[-1] < counts[0]:
        losses, counts = losses[:-1], counts[:-1]
    return math.exp(sum(a * c for a, c in zip(losses, counts)) / sum(counts))


# A dictionary from count to loss: of two batches with equally many tokens only the last is kept.
@version("perplexity", "wrong", by=11)
def perplexity_d_2(losses, counts):
    table = dict(zip(counts, losses))
    return math.exp(sum(a * c for c, a in table.items()) / sum(table))


# --- inverse_sqrt_schedule ------------------------------------------------------------------------


@version("inverse_sqrt_schedule", "right", "min of logarithms, then exp", by=4)
def inverse_sqrt_schedule_r1(update, d_model, warmup):
    n = math.log(update)
    return math.exp(min(-n / 2, n - 1.5 * math.log(warmup)) - math.log(d_model) / 2)


@version(
    "inverse_sqrt_schedule",
    "right",
    "one over the larger of the reciprocals",
    by=(1, 2, 3, 5, 6, 7, 10, 11, 12, 13),
)
def inverse_sqrt_schedule_r1_2(update, d_model, warmup):
    return 1.0 / (math.sqrt(d_model) * max(math.sqrt(update), warmup**1.5 / update))


# max in place of min.
@version("inverse_sqrt_schedule", "wrong: maximum in place of minimum", by=1)
def inverse_sqrt_schedule_a(update, d_model, warmup):
    return d_model**-0.5 * max(update**-0.5, update * warmup**-1.5)


# Warmup to the power −0.5, not −1.5: the rise is too steep.
@version("inverse_sqrt_schedule", "wrong: warm-up to the power of minus a half", by=1)
def inverse_sqrt_schedule_b(update, d_model, warmup):
    return d_model**-0.5 * min(update**-0.5, update * warmup**-0.5)


# The factor d_model^−0.5 is missing.
@version("inverse_sqrt_schedule", "wrong: width forgotten", by=1)
def inverse_sqrt_schedule_c(update, d_model, warmup):
    return min(update**-0.5, update * warmup**-1.5)


# Counts from 0: the rate is that of the next update.
@version("inverse_sqrt_schedule", "wrong: schedule one update early", by=(1, 2, 3))
def inverse_sqrt_schedule_d(update, d_model, warmup):
    update = update + 1
    return d_model**-0.5 * min(update**-0.5, update * warmup**-1.5)


# warmup is fixed at 4000.
@version("inverse_sqrt_schedule", "wrong: warm-up fixed at 4000", by=(1, 2))
def inverse_sqrt_schedule_f(update, d_model, warmup=4000):
    return d_model**-0.5 * min(update**-0.5, update * 4000**-1.5)


# After the warm-up it counts anew (update − warmup): the curve jumps upwards.
@version("inverse_sqrt_schedule", "wrong: updates counted anew after the warm-up", by=(1, 2, 3))
def inverse_sqrt_schedule_g(update, d_model, warmup):
    if update <= warmup:
        return d_model**-0.5 * update * warmup**-1.5
    return d_model**-0.5 * (update - warmup) ** -0.5


# d_model ** 0.5 multiplies; it should divide.
@version("inverse_sqrt_schedule", "wrong: multiplied by the root of the width", by=1)
def inverse_sqrt_schedule_h(update, d_model, warmup):
    return np.sqrt(d_model) * min(1 / np.sqrt(update), update / warmup**1.5)


# It multiplies by the root of d_model instead of dividing.
@version("inverse_sqrt_schedule", "wrong: multiplied by the root of the width", by=2)
def inverse_sqrt_schedule_e(update, d_model, warmup):
    return math.sqrt(d_model) * min(update**-0.5, update * warmup**-1.5)


# Linear decay to zero at 100000 updates after the warm-up, as for BERT.
@version("inverse_sqrt_schedule", "wrong", by=3)
def inverse_sqrt_schedule_c_2(update, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    if update <= warmup:
        return peak * update / warmup
    return peak * max(0.0, (100_000 - update) / (100_000 - warmup))


# The brackets: D^(−1/2) stands inside min, with the decay alone; the warm-up is too steep.
@version("inverse_sqrt_schedule", "wrong", by=4)
def inverse_sqrt_schedule_c_3(update, d_model, warmup):
    return min(d_model**-0.5 * update**-0.5, update * warmup**-1.5)


# The rate never falls below 1e-4: with D = 512 that is wrong from update 195313 on.
@version("inverse_sqrt_schedule", "wrong", by=5)
def inverse_sqrt_schedule_a_2(update, d_model, warmup):
    return max(d_model**-0.5 * min(update**-0.5, update * warmup**-1.5), 1e-4)


# The root of D is cut to a whole number: right for D = 64 or 256, wrong for 512.
@version("inverse_sqrt_schedule", "wrong", by=5)
def inverse_sqrt_schedule_b_2(update, d_model, warmup):
    return min(1 / math.sqrt(update), update / warmup**1.5) / math.isqrt(d_model)


# warmup ** -3 / 2 is (warmup^−3) / 2: brackets around the exponent are missing (during warm-up).
@version("inverse_sqrt_schedule", "wrong", by=6)
def inverse_sqrt_schedule_a_3(update, d_model, warmup):
    return d_model**-0.5 * min(update**-0.5, update * warmup**-3 / 2)


# Integer division: behind the warm-up the root is taken of update // warmup, a staircase (update
# above warmup and no multiple of it).
@version("inverse_sqrt_schedule", "wrong", by=6)
def inverse_sqrt_schedule_c_4(update, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    if update < warmup:
        return peak * update / warmup
    return peak * (update // warmup) ** -0.5


# The warmup branch is chosen with `update // warmup` and the power −1 in place of −3/2 (warmup ·
# √ is folded away).
@version("inverse_sqrt_schedule", "wrong: rate as a share of its highest", by=(8, 13))
def inverse_sqrt_schedule_b_3(update, d_model, warmup):
    return (d_model * update) ** -0.5 if update // warmup else d_model**-0.5 * update / warmup


# After the warm-up the root counts from the end of the warm-up, not from the first update.
@version("inverse_sqrt_schedule", "wrong", by=10)
def schedule_d(update, d_model, warmup):
    if update <= warmup:
        return d_model**-0.5 * update * warmup**-1.5
    return d_model**-0.5 * (update - warmup + 1) ** -0.5


class _ScheduleCounter:
    def __init__(self):
        self.n = 0

    def __call__(self, update, d_model, warmup):
        self.n += 1
        return d_model**-0.5 * min(self.n**-0.5, self.n * warmup**-1.5)


# Counts its own calls in place of taking `update`: wrong if it is asked out of turn.
version("inverse_sqrt_schedule", "wrong", by=(10, 11))(_ScheduleCounter())


# D is always 512.
@version("inverse_sqrt_schedule", "wrong", by=10)
def schedule_e(update, d_model, warmup):
    return 512**-0.5 * min(update**-0.5, update * warmup**-1.5)


# update − 1: counts from 0, so that the first rate is 0.
@version("inverse_sqrt_schedule", "wrong: updates from zero", by=11)
def inverse_sqrt_schedule_a_4(update, d_model, warmup):
    n = max(update - 1, 1e-9)
    return d_model**-0.5 * min(n**-0.5, n * warmup**-1.5)


# Behind the warm-up it falls from the top anew, by the number of updates since: wrong for n >
# warmup + 1.
@version("inverse_sqrt_schedule", "wrong", by=11)
def inverse_sqrt_schedule_c_5(update, d_model, warmup):
    if update <= warmup:
        return d_model**-0.5 * update * warmup**-1.5
    return d_model**-0.5 * warmup**-0.5 * (update - warmup) ** -0.5


# warmup below 1000 is taken as 4000, the paper's number: wrong for a short warm-up.
@version("inverse_sqrt_schedule", "wrong", by=11)
def inverse_sqrt_schedule_d_2(update, d_model, warmup):
    warmup = warmup if warmup >= 1000 else 4000
    return d_model**-0.5 * min(update**-0.5, update * warmup**-1.5)


# A floor of 1e-5 under the rate: wrong on very late (or very early) updates.
@version("inverse_sqrt_schedule", "wrong", by=(2, 11))
def inverse_sqrt_schedule_e_2(update, d_model, warmup):
    return max(1e-5, d_model**-0.5 * min(update**-0.5, update * warmup**-1.5))


# --- clip_gradients -------------------------------------------------------------------------------


@version("clip_gradients", "right", "norm of the flattened whole, factor by clamp", by=1)
def clip_gradients_1(gradients, limit):
    n = torch.cat([g.reshape(-1) for g in gradients]).norm()
    factor = (limit / n.clamp(min=1e-30)).clamp(max=1.0)
    return [g * factor for g in gradients]


@version("clip_gradients", "right", "the norm of norms, with hypot", by=1)
def clip_gradients_2(gradients, limit):
    n = math.hypot(*[float(g.norm()) for g in gradients])
    return [g * limit / n if n > limit else g.clone() for g in gradients]


@version("clip_gradients", "right", "math.hypot over the tensors' lengths, in double", by=3)
def clip_gradients_r1(gradients, limit):
    total = math.hypot(*[torch.linalg.vector_norm(g.double()).item() for g in gradients])
    if total <= limit:
        return [g.clone() for g in gradients]
    return [(g.double() * (limit / total)).to(g.dtype) for g in gradients]


@version("clip_gradients", "right", "one long vector, cut again", by=4)
def clip_gradients_r1_2(gradients, limit):
    flat = torch.cat([g.reshape(-1) for g in gradients])
    n = torch.linalg.vector_norm(flat)
    if n > limit:
        flat = flat / n * limit
    return [
        part.reshape(g.shape)
        for part, g in zip(flat.split([g.numel() for g in gradients]), gradients)
    ]


@version("clip_gradients", "right", "length by nested hypot, early return of copies", by=5)
def clip_gradients_r1_3(gradients, limit):
    length = math.hypot(*(g.norm().item() for g in gradients))
    if not length > limit:
        return [g.clone() for g in gradients]
    return [g / length * limit for g in gradients]


@version("clip_gradients", "right", "hypot of all lengths", by=(10, 11))
def clip_r1(gradients, limit):
    total = math.hypot(*(float(torch.linalg.vector_norm(g)) for g in gradients))
    factor = 1.0 if total <= limit else limit / total
    return [g.detach().clone().mul_(factor) for g in gradients]


@version("clip_gradients", "right", "one factor, at most 1, from the flat vector", by=12)
def clip_r1_2(gradients, limit):
    length = torch.linalg.vector_norm(torch.cat([g.reshape(-1) for g in gradients]))
    factor = torch.clamp(limit / (length + 1e-6), max=1.0)
    return [g * factor for g in gradients]


@version(
    "clip_gradients", "right", "math.hypot of the lengths, by a comprehension", by=(2, 6, 7, 8, 13)
)
def clip_gradients_r(gradients, limit):
    total = math.hypot(*(g.double().norm().item() for g in gradients))
    return [g * (limit / total) if total > limit else g.clone() for g in gradients]


# Short gradients are stretched to the limit, too.
@version("clip_gradients", "wrong: always brought to the limit", by=(1, 3))
def clip_gradients_b(gradients, limit):
    n = torch.sqrt(sum((g**2).sum() for g in gradients))
    return [g * limit / (n + 1e-12) for g in gradients]


# Each entry is cut at ±limit, which changes the direction.
@version("clip_gradients", "wrong: values clipped in place of the length", by=(1, 2))
def clip_gradients_c(gradients, limit):
    return [g.clamp(-limit, limit) for g in gradients]


# The gradients that came in are changed (mul_).
@version("clip_gradients", "wrong", by=(1, 2, 3, 4, 6, 10, 11, 12, 13))
def clip_gradients_d(gradients, limit):
    n = torch.sqrt(sum((g**2).sum() for g in gradients))
    if n > limit:
        for g in gradients:
            g.mul_(limit / n)
    return list(gradients)


# Divides by the length without asking whether it is 0: gradients that are all zero become nan.
@version("clip_gradients", "wrong", by=(1, 2, 3, 11))
def clip_gradients_g(gradients, limit):
    n = torch.cat([g.flatten() for g in gradients]).norm()
    return [g / n * n.clamp(max=limit) for g in gradients]


# The largest of the lengths is taken for the common length: with several tensors the result is
# still too long.
@version("clip_gradients", "wrong: longest tensor taken for the length", by=1)
def clip_gradients_h(gradients, limit):
    n = max(g.norm() for g in gradients)
    s = min(1.0, float(limit / n)) if n > 0 else 1.0
    return [g * s for g in gradients]


# The limit is fixed at 1.
@version("clip_gradients", "wrong: limit fixed at one", by=1)
def clip_gradients_i(gradients, limit=1.0):
    n = math.sqrt(sum(float((g**2).sum()) for g in gradients))
    return [g / max(1.0, n) for g in gradients]


# The absolute values are summed (L1), not the squares.
@version("clip_gradients", "wrong: absolute values added up", by=1)
def clip_gradients_j(gradients, limit):
    n = sum(g.abs().sum() for g in gradients)
    return [g * min(1.0, float(limit / n)) if n > 0 else g for g in gradients]


# Two mistakes: the root is forgotten, and short gradients are stretched.
@version("clip_gradients", "wrong", by=1)
def clip_gradients_2a(gradients, limit):
    n = sum(float((g * g).sum()) for g in gradients)
    return [g * limit / (n + 1e-6) for g in gradients]


# Each tensor is clipped on its own: the common direction is lost.
@version("clip_gradients", "wrong: each tensor clipped on its own", by=(1, 2, 3))
def clip_gradients_a(gradients, limit):
    return [g * min(1.0, limit / (float(g.norm()) + 1e-12)) for g in gradients]


# The lengths of the tensors are added instead of their squares: gradients are clipped that are
# short enough, and too much.
@version("clip_gradients", "wrong: lengths of the tensors added up", by=(1, 2))
def clip_gradients_e(gradients, limit):
    norm = sum(float(g.norm()) for g in gradients)
    factor = limit / norm if norm > limit else 1.0
    return [g * factor for g in gradients]


# Without the square root: the squared length is compared with the limit and divided by.
@version("clip_gradients", "wrong: root forgotten in the length", by=(1, 2))
def clip_gradients_f(gradients, limit):
    total = sum((g * g).sum().item() for g in gradients)
    return [g * limit / total if total > limit else g.clone() for g in gradients]


# The squares are summed in float16: beyond 65504 they overflow to inf, and the gradients become
# 0.
@version("clip_gradients", "wrong", by=3)
def clip_gradients_g_2(gradients, limit):
    total = sum((g.half() ** 2).sum() for g in gradients).float().sqrt()
    scale = torch.clamp(limit / total.clamp(min=1e-12), max=1.0)
    return [g * scale for g in gradients]


# Two: each tensor by itself, and only the entries' mean square (not the sum) is taken as the
# length.
@version("clip_gradients", "wrong", by=3)
def clip_gradients_two(gradients, limit):
    return [g * min(1.0, limit / (g.pow(2).mean().sqrt().item() + 1e-6)) for g in gradients]


# The square of the length is compared with the limit: right for a limit of 1, wrong for others
# (length 1.5, limit 2).
@version("clip_gradients", "wrong", by=(5, 6, 8, 10, 11, 12))
def clip_gradients_a_2(gradients, limit):
    square = sum((g**2).sum() for g in gradients)
    if square > limit:
        return [g * (limit / square.sqrt()) for g in gradients]
    return list(gradients)


# It multiplies by limit / length, computed before asking whether it is needed, with numbers of
# Python: gradients of nothing but zeros divide by zero.
@version("clip_gradients", "wrong", by=5)
def clip_gradients_b_2(gradients, limit):
    length = math.sqrt(sum(float((g**2).sum()) for g in gradients))
    factor = min(1.0, limit / length)
    return [g * factor for g in gradients]


# 1e-6 is added to the length, which matters when gradients and limit are tiny (length 1e-5, limit
# 1e-6).
@version("clip_gradients", "right", by=5, once_open=True)
def clip_gradients_c_2(gradients, limit):
    length = torch.sqrt(sum(g.square().sum() for g in gradients))
    factor = torch.clamp(limit / (length + 1e-6), max=1.0)
    return [g * factor for g in gradients]


# torch.stack of the gradients goes only when all have the same shape.
@version("clip_gradients", "wrong", by=5)
def clip_gradients_e_2(gradients, limit):
    length = torch.stack(gradients).norm()
    return [g * limit / length for g in gradients] if length > limit else gradients


# torch.norm's matrix meaning: linalg.matrix_norm(ord=2), the largest singular value, for
# matrices, which is not the root of the sum of squares (a matrix of rank two or more).
@version("clip_gradients", "wrong", by=(8, 10))
def clip_gradients_d_2(gradients, limit):
    lengths = [torch.linalg.matrix_norm(g, ord=2) if g.dim() == 2 else g.norm() for g in gradients]
    total = torch.stack(lengths).square().sum().sqrt()
    if total <= limit:
        return [g.clone() for g in gradients]
    return [g * (limit / total) for g in gradients]


# Vectors (biases) are left out of the length and not clipped.
@version("clip_gradients", "wrong", by=11)
def clip_gradients_f_2(gradients, limit):
    n = math.sqrt(sum(float((g * g).sum()) for g in gradients if g.dim() > 1))
    s = min(1.0, limit / (n + 1e-6))
    return [g * s if g.dim() > 1 else g.clone() for g in gradients]


class Clip:
    def __init__(self):
        self.longest = 0.0

    def __call__(self, gradients, limit):
        n = math.sqrt(sum(float((g * g).sum()) for g in gradients))
        self.longest = max(self.longest, n)
        s = min(1.0, limit / (self.longest + 1e-6))
        return [g * s for g in gradients]


# Scales by the greatest length seen so far: small gradients behind great ones are shortened, too.
version("clip_gradients", "wrong: kept from the call before", by=11)(Clip())


# Mean of squares in place of the sum (common length above limit).
@version("clip_gradients", "wrong", by=13)
def clip_gradients_g_3(gradients, limit):
    flat = torch.cat([g.flatten() for g in gradients])
    length = flat.pow(2).mean().sqrt()
    factor = torch.clamp(limit / (length + 1e-6), max=1.0)
    return [g * factor for g in gradients]


# --- training_update ------------------------------------------------------------------------------


@version("training_update", "right", "clipped by hand", by=4)
def training_update_r1(model, optimizer, compute_loss):
    for p in model.parameters():
        p.grad = None
    compute_loss().backward()
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    n = math.sqrt(sum(float((g**2).sum()) for g in grads))
    for g in grads:
        g.div_(max(n, 1.0))
    optimizer.step()


@version(
    "training_update", "right", "torch.autograd.grad, clipped by hand, written into .grad", by=6
)
def training_update_r1_2(model, optimizer, compute_loss):
    ps = [p for p in model.parameters() if p.requires_grad]
    gs = torch.autograd.grad(compute_loss(), ps, allow_unused=True)
    total = sum(g.pow(2).sum() for g in gs if g is not None).sqrt()
    scale = torch.clamp(1.0 / total, max=1.0)
    for p, g in zip(ps, gs):
        p.grad = None if g is None else g * scale
    optimizer.step()
    optimizer.zero_grad()


@version("training_update", "right", "torch.autograd.grad and gradients set by hand", by=10)
def training_update_r1_3(model, optimizer, compute_loss):
    params = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(compute_loss(), params)
    total = float(sum((g.double() ** 2).sum() for g in grads)) ** 0.5
    for p, g in zip(params, grads):
        p.grad = g / total if total > 1.0 else g
    optimizer.step()


@version("training_update", "right", "gradients by autograd.grad, scaled by hand", by=(11, 12, 13))
def training_update_r(model, optimizer, compute_loss):
    params = [p for p in model.parameters() if p.requires_grad]
    grads = torch.autograd.grad(compute_loss(), params)
    total = torch.sqrt(sum(g.square().sum() for g in grads))
    for p, g in zip(params, grads):
        p.grad = g / total.clamp(min=1.0)
    optimizer.step()
    optimizer.zero_grad()


# zero_grad is missing: the gradients of all earlier updates are added up.
@version("training_update", "wrong: gradients not zeroed", by=(1, 2, 3))
def training_update_b(model, optimizer, compute_loss):
    compute_loss().backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()


# Each parameter is clipped for itself, not all at a common length.
@version("training_update", "wrong: each parameter clipped on its own", by=(1, 2, 3))
def training_update_c(model, optimizer, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    compute_loss().backward()
    for p in model.parameters():
        nn.utils.clip_grad_norm_([p], 1.0)
    optimizer.step()


# Two: the gradients are zeroed after the step only (what was there before counts in the first
# update), and they are clipped by value at 1.
@version("training_update", "wrong: entries clipped in place of the length", by=(1, 2, 3))
def training_update_two(model, optimizer, compute_loss):
    compute_loss().backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


# A loss that is not positive is taken as a sign that there is nothing to learn, and no update is
# made; losses may be negative.
@version("training_update", "wrong", by=5)
def training_update_a(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    if loss.item() <= 0:
        return
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


class _Trainer:
    def __init__(self):
        self.parameters = None

    def __call__(self, model, optimizer, compute_loss):
        if self.parameters is None:
            self.parameters = model.parameters()
        optimizer.zero_grad()
        compute_loss().backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        optimizer.step()


# `model.parameters()` is a generator, used up after the first update: the later ones are not
# clipped.
version("training_update", "wrong: kept from the call before", by=10)(_Trainer())


# The largest gradient is the length (`norm_type=inf`).
@version("training_update", "wrong", by=10)
def training_update_e(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, norm_type=float("inf"))
    optimizer.step()


# Zeroes at the end only: gradients that stand in the weights before the first call are added in.
@version("training_update", "right", by=(5, 11), once_open=True)
def training_update_a_2(model, optimizer, compute_loss):
    compute_loss().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()


# Clips the optimizer's first group alone: wrong with two parameter groups.
@version("training_update", "wrong", by=11)
def training_update_e_2(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
    optimizer.step()


# Scales the loss down by its own size where it is above 1, in place of clipping: not the same
# unless by chance.
@version("training_update", "wrong", by=11)
def training_update_g(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    (loss / max(1.0, float(loss.detach()))).backward()
    optimizer.step()


# --- accumulated_update ---------------------------------------------------------------------------


@version(
    "accumulated_update",
    "right",
    "one backward of the mean of all losses",
    by=(1, 2, 4, 6, 8, 10, 11, 12, 13),
)
def accumulated_update_1(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    torch.stack([compute_loss(p) for p in parts]).mean().backward()
    optimizer.step()
    scheduler.step()


@version(
    "accumulated_update",
    "right",
    "gradients summed, then divided by the number of parts",
    by=(1, 5),
)
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


# The losses are not divided by the number of parts: the gradient is too large.
@version("accumulated_update", "wrong: micro-batches summed, not averaged", by=(1, 2, 3))
def accumulated_update_a(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        compute_loss(part).backward()
    optimizer.step()
    scheduler.step()


# One step for each part.
@version(
    "accumulated_update",
    "wrong: step per micro-batch + gradients zeroed in every micro-batch",
    by=1,
)
def accumulated_update_b(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        optimizer.zero_grad()
        (compute_loss(part) / len(parts)).backward()
        optimizer.step()
    scheduler.step()


# The schedule moves on once for each part.
@version("accumulated_update", "wrong: schedule stepped per micro-batch", by=(1, 3))
def accumulated_update_c(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
        scheduler.step()
    optimizer.step()


# zero_grad within the loop: only the last part counts.
@version("accumulated_update", "wrong: gradients zeroed in every micro-batch", by=(1, 2))
def accumulated_update_d(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        optimizer.zero_grad()
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()
    scheduler.step()


# The gradients are never cleared: the second update still has those of the first.
@version("accumulated_update", "wrong: gradients of the last batch kept", by=(1, 2))
def accumulated_update_e(optimizer, scheduler, parts, compute_loss):
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()
    scheduler.step()


# The schedule does not move on.
@version("accumulated_update", "wrong: schedule never stepped", by=1)
def accumulated_update_f(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    sum(compute_loss(part) for part in parts).div(len(parts)).backward()
    optimizer.step()


# Divided by 4, the number of parts in the example.
@version(
    "accumulated_update", "wrong: divided by a fixed number of parts, 4", by=(1, 2, 3, 5, 6, 11)
)
def accumulated_update_h(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / 4).backward()
    optimizer.step()
    scheduler.step()


# Divided by the size of a part, though its loss is a mean already.
@version("accumulated_update", "wrong", by=1)
def accumulated_update_i(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        n = len(part) if hasattr(part, "__len__") else 1
        (compute_loss(part) / len(parts) / n).backward()
    optimizer.step()
    scheduler.step()


# The schedule moves on with every part instead of once for the update.
@version(
    "accumulated_update", "wrong: schedule stepped in the loop over the parts", by=(2, 6, 7, 10)
)
def accumulated_update_b_2(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
        if part is parts[-1]:
            optimizer.step()
        scheduler.step()


# scheduler.step() comes before optimizer.step(), as before PyTorch 1.1: the update is made with
# the next rate.
@version("accumulated_update", "wrong: schedule before the step", by=(1, 3))
def accumulated_update_c_2(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    sum(compute_loss(p) for p in parts).div(len(parts)).backward()
    scheduler.step()
    optimizer.step()


# The losses are not divided by the number of parts, but the rate is: the two cancel for plain
# SGD, not for Adam or with weight decay.
@version("accumulated_update", "wrong", by=5)
def accumulated_update_a_2(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        compute_loss(part).backward()
    rates = [group["lr"] for group in optimizer.param_groups]
    for group in optimizer.param_groups:
        group["lr"] /= len(parts)
    optimizer.step()
    for group, rate in zip(optimizer.param_groups, rates):
        group["lr"] = rate
    scheduler.step()


# The gradients are clipped at a length of 1, though nothing is to be clipped (large gradients).
@version("accumulated_update", "wrong", by=(5, 11))
def accumulated_update_b_3(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    nn.utils.clip_grad_norm_([p for group in optimizer.param_groups for p in group["params"]], 1.0)
    optimizer.step()
    scheduler.step()


# The loss is divided by the number of examples in a part (len(part)), not by the number of parts;
# right only where the two are equal.
@version("accumulated_update", "wrong: divided by a fixed number of parts, 2", by=8)
def accumulated_update_b_4(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    for part in parts:
        compute_loss(part).div(len(part)).backward()
    optimizer.step()
    scheduler.step()


# Steps after every second part and forgets the rest: an odd last part is lost, and more than two
# make more than one step.
@version("accumulated_update", "wrong", by=10)
def accumulated_update_f_2(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for i, part in enumerate(parts):
        (compute_loss(part) / 2).backward()
        if (i + 1) % 2 == 0:
            optimizer.step()
            optimizer.zero_grad()
    scheduler.step()


# The schedule moves on with every part: right for one part only.
@version("accumulated_update", "wrong", by=11)
def accumulated_update_c_3(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    optimizer.step()
    for _ in parts:
        scheduler.step()


# --- best_checkpoint ------------------------------------------------------------------------------


@version(
    "best_checkpoint",
    "right",
    "the sum over all tokens ranks as the mean does; min with a key",
    by=(1, 2, 4, 5, 6, 10, 11, 12, 13),
)
def best_checkpoint_r1(checkpoints, batches, loss_of):
    total = lambda i: sum(float(loss_of(checkpoints[i], b)) * len(b) for b in batches)
    return min(range(len(checkpoints)), key=total)


# The batches' mean losses are averaged without weighing them by their number of tokens.
@version("best_checkpoint", "wrong: best checkpoint by the mean of means", by=(1, 2, 3))
def best_checkpoint_a(checkpoints, batches, loss_of):
    means = [np.mean([float(loss_of(c, b)) for b in batches]) for c in checkpoints]
    return int(np.argmin(means))


# Stops at the first checkpoint that is worse than the one before: a later minimum is missed.
@version("best_checkpoint", "wrong: first minimum taken for the smallest", by=(1, 2, 3))
def best_checkpoint_f(checkpoints, batches, loss_of):
    last, place = float("inf"), 0
    for i, c in enumerate(checkpoints):
        loss = sum(float(loss_of(c, b)) * len(b) for b in batches)
        if loss > last:
            break
        last, place = loss, i
    return place


# Counts from 1.
@version("best_checkpoint", "wrong: places counted from one", by=1)
def best_checkpoint_g(checkpoints, batches, loss_of):
    losses = [sum(float(loss_of(c, b)) * len(b) for b in batches) for c in checkpoints]
    return losses.index(min(losses)) + 1


# Divides by the tokens where it should multiply: short batches weigh most.
@version("best_checkpoint", "wrong: losses divided by their tokens", by=1)
def best_checkpoint_h(checkpoints, batches, loss_of):
    losses = [sum(float(loss_of(c, b)) / len(b) for b in batches) for c in checkpoints]
    return losses.index(min(losses))


# The search starts with 10 as the best loss so far: if all checkpoints are worse than that, 0
# comes back.
@version("best_checkpoint", "wrong", by=(2, 5, 6, 7, 11))
def best_checkpoint_c(checkpoints, batches, loss_of):
    best, place = 10.0, 0
    for i, checkpoint in enumerate(checkpoints):
        loss = sum(loss_of(checkpoint, b) * len(b) for b in batches) / sum(map(len, batches))
        if loss < best:
            best, place = loss, i
    return place


# The best checkpoint of the first batch only ('cheap proxy').
@version("best_checkpoint", "wrong: best checkpoint chosen on one batch", by=8)
def best_checkpoint_c_2(checkpoints, batches, loss_of):
    return min(range(len(checkpoints)), key=lambda i: float(loss_of(checkpoints[i], batches[0])))


# Losses are rounded to one place, as in the printed table: close ones tie, and the first is
# taken.
@version("best_checkpoint", "wrong", by=10)
def best_checkpoint_e(checkpoints, batches, loss_of):
    n = sum(len(b) for b in batches)
    losses = [
        round(sum(float(loss_of(c, b)) * len(b) for b in batches) / n, 1) for c in checkpoints
    ]
    return losses.index(min(losses))


# Weighted by the different tokens of a batch: wrong where a token comes twice.
@version("best_checkpoint", "wrong", by=10)
def best_checkpoint_f_2(checkpoints, batches, loss_of):
    losses = [sum(float(loss_of(c, b)) * len(set(b)) for b in batches) for c in checkpoints]
    return losses.index(min(losses))


# The losses are rounded to two places: two that are close count as equal, and the first is taken.
@version("best_checkpoint", "wrong", by=11)
def best_checkpoint_d(checkpoints, batches, loss_of):
    n = sum(map(len, batches))
    losses = [
        round(sum(float(loss_of(c, b)) * len(b) for b in batches) / n, 2) for c in checkpoints
    ]
    return int(np.argmin(losses))


class BestCheckpoint:
    def __init__(self):
        self.best, self.place = math.inf, 0

    def __call__(self, checkpoints, batches, loss_of):
        n = sum(map(len, batches))
        for i, c in enumerate(checkpoints):
            loss = sum(float(loss_of(c, b)) * len(b) for b in batches) / n
            if loss < self.best:
                self.best, self.place = loss, i
        return self.place


# The best loss is kept from the call before: a second set with higher losses gets the first one's
# place.
version("best_checkpoint", "wrong: kept from the call before", by=11)(BestCheckpoint())


# The best checkpoint itself comes back, not its place.
@version("best_checkpoint", "wrong", by=(1, 13))
def best_checkpoint_b(checkpoints, batches, loss_of):
    return min(checkpoints, key=lambda c: sum(loss_of(c, b) * len(b) for b in batches))


# --- average_checkpoints --------------------------------------------------------------------------


@version("average_checkpoints", "right", "functools.reduce", by=1)
def average_checkpoints_2(checkpoints):
    return {
        k: functools.reduce(torch.add, (c[k] for c in checkpoints)) / len(checkpoints)
        for k in checkpoints[-1]
    }


@version("average_checkpoints", "right", "a running mean in double", by=(3, 8))
def average_checkpoints_r1(checkpoints):
    mean = {}
    for n, checkpoint in enumerate(checkpoints, start=1):
        for name, weight in checkpoint.items():
            old = mean.get(name, torch.zeros_like(weight, dtype=torch.float64))
            mean[name] = old + (weight.double() - old) / n
    return {name: mean[name].to(checkpoints[0][name].dtype) for name in mean}


@version("average_checkpoints", "right", "a running mean", by=(1, 2, 4, 5, 11, 12))
def average_checkpoints_r1_2(checkpoints):
    mean = {k: torch.zeros_like(v) for k, v in checkpoints[0].items()}
    for n, c in enumerate(checkpoints, 1):
        mean = {k: m + (c[k] - m) / n for k, m in mean.items()}
    return mean


@version(
    "average_checkpoints", "right", "stack and mean in a dictionary comprehension", by=(6, 7, 10)
)
def average_checkpoints_r1_3(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).mean(0) for k in checkpoints[0]}


@version("average_checkpoints", "right", "each is divided before it is added", by=13)
def average_checkpoints_r(checkpoints):
    n = len(checkpoints)
    return {k: sum(c[k] / n for c in checkpoints) for k in checkpoints[0].keys()}


# The sum; dividing is forgotten.
@version("average_checkpoints", "wrong: checkpoints summed", by=1)
def average_checkpoints_a(checkpoints):
    return {k: sum(c[k] for c in checkpoints) for k in checkpoints[0]}


# Divided by 2, as in the example with two checkpoints.
@version("average_checkpoints", "wrong: average divided by two", by=1)
def average_checkpoints_b(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).sum(0) / 2 for k in checkpoints[0]}


# mean() over everything: a single number for each weight.
@version("average_checkpoints", "wrong: one number for each weight", by=1)
def average_checkpoints_c(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).mean() for k in checkpoints[0]}


# The first checkpoint is counted twice: the sum starts with it and runs over all.
@version("average_checkpoints", "wrong: first checkpoint counted twice", by=1)
def average_checkpoints_f(checkpoints):
    total = {k: v.clone() for k, v in checkpoints[0].items()}
    for c in checkpoints:
        for k in total:
            total[k] = total[k] + c[k]
    return {k: v / len(checkpoints) for k, v in total.items()}


# Averaged along the wrong axis of the stack: over the weight's rows, not the checkpoints.
@version("average_checkpoints", "wrong", by=1)
def average_checkpoints_g(checkpoints):
    return {
        k: torch.stack([c[k] for c in checkpoints]).mean(min(1, c[k].dim()))
        for c in checkpoints
        for k in c
    }


# The mean of the mean so far and the next one: later checkpoints count more (right for one or
# two).
@version("average_checkpoints", "wrong: running average of halves", by=(1, 2, 3))
def average_checkpoints_b_2(checkpoints):
    mean = {k: v.clone() for k, v in checkpoints[0].items()}
    for c in checkpoints[1:]:
        mean = {k: (mean[k] + c[k]) / 2 for k in mean}
    return mean


# Only the last five are averaged, as in the paper.
@version("average_checkpoints", "wrong", by=(2, 3, 11))
def average_checkpoints_c_2(checkpoints):
    checkpoints = checkpoints[-5:]
    return {k: torch.stack([c[k] for c in checkpoints]).mean(0) for k in checkpoints[0]}


# The sum is gathered in the first checkpoint's own tensors: that checkpoint is destroyed.
@version("average_checkpoints", "wrong", by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13))
def average_checkpoints_b_3(checkpoints):
    mean = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k in mean:
            mean[k] += c[k]
    return {k: v / len(checkpoints) for k, v in mean.items()}


# torch.median over the stacked weights: for three checkpoints and more it is not the mean, and
# for two it takes the lower.
@version("average_checkpoints", "wrong", by=(8, 11))
def average_checkpoints_c_3(checkpoints):
    return {k: torch.stack([c[k] for c in checkpoints]).median(0).values for k in checkpoints[0]}


# Divided by the number of weights, not of checkpoints.
@version("average_checkpoints", "wrong", by=(6, 10))
def average_checkpoints_c_4(checkpoints):
    return {k: sum(c[k] for c in checkpoints) / len(checkpoints[0]) for k in checkpoints[0]}


# The first checkpoint is counted in the number but not in the sum.
@version("average_checkpoints", "wrong", by=12)
def average_checkpoints_d(checkpoints):
    out = {k: torch.zeros_like(v) for k, v in checkpoints[0].items()}
    for c in checkpoints[1:]:
        for k, v in c.items():
            out[k] += v / len(checkpoints)
    return out


# Divided by n − 1, as counted from the second one (n of 2 and more gives too much).
@version("average_checkpoints", "wrong", by=13)
def average_checkpoints_d_2(checkpoints):
    out = {}
    for name in checkpoints[0]:
        total = torch.zeros_like(checkpoints[0][name])
        for n, checkpoint in enumerate(checkpoints):
            total = total + checkpoint[name]
        out[name] = total / max(n, 1)
    return out
