"""Chapter 26, as beginners get it wrong: the induction score, and a head taken away."""

from __future__ import annotations

import torch
import torch.nn.functional as F

from tests.checks.wrong_versions import wrong

# --- induction_score -----------------------------------------------------------------------------

SCORE = "induction_score"


@wrong(SCORE, "the same token in place of the one after it")
def score_same_diagonal(weights, period):
    return weights.diagonal(-period, dim1=-2, dim2=-1).mean(dim=(0, 2))


@wrong(SCORE, "the same token in place of the one after it")
def score_same_loop(weights, period):
    T = weights.size(-1)
    score = torch.zeros(weights.size(1))
    for t in range(period, T):
        score = score + weights[:, :, t, t - period].mean(0)
    return score / (T - period)


@wrong(SCORE, "the token before the last occurrence")
def score_before_diagonal(weights, period):
    return weights.diagonal(-(period + 1), dim1=2, dim2=3).mean(-1).mean(0)


@wrong(SCORE, "the token before the last occurrence")
def score_before_index(weights, period):
    t = torch.arange(period + 1, weights.size(2))
    return weights[:, :, t, t - (period + 1)].mean(dim=(0, 2))


@wrong(SCORE, "previous token scored")
def score_previous(weights, period):
    t = torch.arange(period, weights.size(2))
    return weights[:, :, t, t - 1].mean(dim=(0, 2))


@wrong(SCORE, "previous token scored")
def score_previous_diagonal(weights, period):
    return weights.diagonal(-1, dim1=-2, dim2=-1)[..., period - 1 :].mean(dim=(0, 2))


@wrong(SCORE, "a row counted that has not seen its token yet")
def score_whole_diagonal(weights, period):
    return weights.diagonal(1 - period, dim1=-2, dim2=-1).mean(dim=(0, 2))


@wrong(SCORE, "a row counted that has not seen its token yet")
def score_row_more(weights, period):
    T = weights.size(-1)
    picked = [weights[:, :, t, t - period + 1] for t in range(T) if t - period + 1 >= 0]
    return torch.stack(picked).mean(dim=(0, 1))


@wrong(SCORE, "third time left out")
def score_second_only(weights, period):
    t = torch.arange(period, min(2 * period, weights.size(-1)))
    return weights[:, :, t, t - period + 1].mean(dim=(0, 2))


@wrong(SCORE, "third time left out")
def score_second_slice(weights, period):
    part = weights[:, :, period : 2 * period, 1:]  # row r of the repeat looks at key r + 1
    n = part.size(2)
    return torch.stack([part[:, :, r, r] for r in range(n)]).mean(dim=(0, 1))


@wrong(SCORE, "only the last row scored")
def score_last(weights, period):
    return weights[:, :, -1, -period].mean(0)


@wrong(SCORE, "only the last row scored")
def score_last_of_loop(weights, period):
    for t in range(period, weights.size(2)):
        score = weights[:, :, t, t - period + 1].mean(dim=0)
    return score


@wrong(SCORE, "queries and keys exchanged")
def score_exchanged(weights, period):
    t = torch.arange(period, weights.size(-1))
    return weights[:, :, t - period + 1, t].mean(dim=(0, 2))


@wrong(SCORE, "queries and keys exchanged")
def score_upper_diagonal(weights, period):
    return weights.diagonal(period - 1, dim1=-2, dim2=-1)[..., 1:].mean(dim=(0, 2))


@wrong(SCORE, "divided by all rows")
def score_all_rows(weights, period):
    B, T = weights.size(0), weights.size(-1)
    t = torch.arange(period, T)
    return weights[:, :, t, t - period + 1].sum(dim=(0, 2)) / (B * T)


@wrong(SCORE, "divided by all rows")
def score_mask_mean(weights, period):
    T = weights.size(-1)
    t, s = torch.arange(T)[:, None], torch.arange(T)[None]
    mask = (s == t - period + 1) & (t >= period)
    return (weights * mask).sum(-1).mean(dim=(0, 2))


@wrong(SCORE, "weights summed over the rows")
def score_summed(weights, period):
    return weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:].sum(-1).mean(0)


@wrong(SCORE, "weights summed over the rows")
def score_counter(weights, period):
    score = 0
    for t in range(period, weights.size(2)):
        score = score + weights[:, :, t, t - period + 1]
    return score.mean(dim=0)


@wrong(SCORE, "averaged over the heads")
def score_one_number(weights, period):
    t = torch.arange(period, weights.size(-1))
    return weights[:, :, t, t - period + 1].mean()


@wrong(SCORE, "averaged over the heads")
def score_mean_map(weights, period):
    mean = weights.mean(dim=(0, 1))
    return mean.diagonal(1 - period)[1:].mean()


@wrong(SCORE, "only the first sequence scored")
def score_first(weights, period):
    w = weights[0]
    t = torch.arange(period, w.size(-1))
    return w[:, t, t - period + 1].mean(-1)


@wrong(SCORE, "only the first sequence scored")
def score_first_diagonal(weights, period):
    return weights.diagonal(1 - period, dim1=-2, dim2=-1)[0, :, 1:].mean(dim=1)


# --- ablate_head ---------------------------------------------------------------------------------

ABLATE = "ablate_head"


def joined(heads):
    B, H, T, K = heads.shape
    return heads.permute(0, 2, 1, 3).reshape(B, T, H * K)


@wrong(ABLATE, "heads counted from one")
def ablate_from_one(heads, weight, bias, head):
    heads = heads.clone()
    heads[:, head - 1] = 0
    return joined(heads) @ weight + bias


@wrong(ABLATE, "heads counted from one")
def ablate_from_one_sum(heads, weight, bias, head):
    H, K = heads.size(1), heads.size(3)
    gone = (head - 1) % H
    parts = [heads[:, h] @ weight[h * K : (h + 1) * K] for h in range(H) if h != gone]
    return sum(parts) + bias if parts else bias.expand(len(heads), heads.size(2), -1)


@wrong(ABLATE, "only this head kept")
def ablate_kept(heads, weight, bias, head):
    K = heads.size(-1)
    return heads[:, head] @ weight[head * K : (head + 1) * K] + bias


@wrong(ABLATE, "only this head kept")
def ablate_mask_inverted(heads, weight, bias, head):
    mask = torch.zeros(heads.size(1))
    mask[head] = 1
    return joined(heads * mask.view(1, -1, 1, 1)) @ weight + bias


@wrong(ABLATE, "others enlarged")
def ablate_enlarged(heads, weight, bias, head):
    n = heads.size(1)
    keep = torch.ones(n)
    keep[head] = 0
    if n > 1:
        keep = keep * n / (n - 1)
    return joined(heads * keep[None, :, None, None]) @ weight + bias


@wrong(ABLATE, "others enlarged")
def ablate_as_dropout(heads, weight, bias, head):
    H = heads.size(1)
    out = heads.clone()
    out[:, head] = 0
    share = 1 - 1 / H if H > 1 else 1.0
    return F.linear(joined(out / share), weight.T, bias)


@wrong(ABLATE, "mean ablation")
def ablate_mean(heads, weight, bias, head):
    heads = heads.clone()
    heads[:, head] = heads[:, head].mean(dim=(0, 1))
    return joined(heads) @ weight + bias


@wrong(ABLATE, "mean ablation")
def ablate_mean_difference(heads, weight, bias, head):
    K = heads.size(-1)
    own = heads[:, head]
    change = own.flatten(0, 1).mean(0) - own
    return joined(heads) @ weight + bias + change @ weight[head * K : (head + 1) * K]


@wrong(ABLATE, "head read at the wrong place after merging")
def ablate_strided(heads, weight, bias, head):
    merged = joined(heads).clone()
    merged[..., head :: heads.size(1)] = 0
    return merged @ weight + bias


@wrong(ABLATE, "head read at the wrong place after merging")
def ablate_strided_view(heads, weight, bias, head):
    B, H, T, K = heads.shape
    merged = joined(heads).view(B, T, K, H).clone()
    merged[..., head] = 0.0
    return merged.view(B, T, H * K) @ weight + bias


@wrong(ABLATE, "head as wide as there are heads")
def ablate_wide(heads, weight, bias, head):
    H = heads.size(1)
    merged = joined(heads).clone()
    merged[:, :, head * H : (head + 1) * H] = 0
    return merged @ weight + bias


@wrong(ABLATE, "head as wide as there are heads")
def ablate_wide_weight(heads, weight, bias, head):
    H = heads.size(1)
    weight = weight.clone()
    weight[head * H : (head + 1) * H] = 0
    return joined(heads) @ weight + bias


@wrong(ABLATE, "remaining heads moved up")
def ablate_moved(heads, weight, bias, head):
    K = heads.size(-1)
    others = [h for h in range(heads.size(1)) if h != head]
    left = joined(heads[:, others])
    return left @ weight[: len(others) * K] + bias


@wrong(ABLATE, "remaining heads moved up")
def ablate_padded(heads, weight, bias, head):
    B, H, T, K = heads.shape
    left = torch.cat([heads[:, :head], heads[:, head + 1 :]], dim=1)
    left = F.pad(joined(left) if H > 1 else heads.new_zeros(B, T, 0), (0, K))
    return left @ weight + bias


@wrong(ABLATE, "merged without permuting back, one head silent")
def ablate_unpermuted(heads, weight, bias, head):
    B, H, T, K = heads.shape
    heads = heads.clone()
    heads[:, head] = 0
    return heads.reshape(B, T, H * K) @ weight + bias


@wrong(ABLATE, "merged without permuting back, one head silent")
def ablate_view(heads, weight, bias, head):
    B, H, T = heads.shape[:3]
    kept = (torch.arange(H) != head).float().view(1, H, 1, 1)
    return (heads * kept).contiguous().view(B, T, -1) @ weight + bias


@wrong(ABLATE, "bias taken away with the head")
def ablate_no_bias(heads, weight, bias, head):
    heads = heads.clone()
    heads[:, head] = 0
    return joined(heads) @ weight


@wrong(ABLATE, "bias taken away with the head")
def ablate_bias_subtracted(heads, weight, bias, head):
    K = heads.size(-1)
    own = heads[:, head] @ weight[head * K : (head + 1) * K] + bias
    return joined(heads) @ weight + bias - own


@wrong(ABLATE, "ablated after the projection")
def ablate_after(heads, weight, bias, head):
    K = heads.size(-1)
    out = joined(heads) @ weight + bias
    out = out.clone()
    out[..., head * K : (head + 1) * K] = 0
    return out


@wrong(ABLATE, "ablated after the projection")
def ablate_after_mask(heads, weight, bias, head):
    K = heads.size(-1)
    out = F.linear(joined(heads), weight.T, bias)
    place = torch.arange(out.size(-1))
    return out.masked_fill((place >= head * K) & (place < head * K + K), 0.0)


@wrong(ABLATE, "columns of the weight in place of its rows")
def ablate_columns(heads, weight, bias, head):
    K = heads.size(-1)
    weight = weight.clone()
    weight[:, head * K : (head + 1) * K] = 0
    return joined(heads) @ weight + bias


@wrong(ABLATE, "columns of the weight in place of its rows")
def ablate_columns_mask(heads, weight, bias, head):
    K = heads.size(-1)
    place = torch.arange(weight.size(1))
    keep = 1.0 - ((place // K) == head).float()
    return joined(heads) @ (weight * keep) + bias
