"""Wrong versions of induction: each makes the mistake that is named."""

import torch
import torch.nn.functional as F

from tests.checks.corpus import version

# --- induction_score ------------------------------------------------------------------------------


@version("induction_score", "wrong: the same token in place of the one after it")
def score_same_diagonal(weights, period):
    return weights.diagonal(-period, dim1=-2, dim2=-1).mean(dim=(0, 2))


@version("induction_score", "wrong: the token before the last occurrence")
def score_before_diagonal(weights, period):
    return weights.diagonal(-(period + 1), dim1=2, dim2=3).mean(-1).mean(0)


@version("induction_score", "wrong: previous token scored")
def score_previous_diagonal(weights, period):
    return weights.diagonal(-1, dim1=-2, dim2=-1)[..., period - 1 :].mean(dim=(0, 2))


@version("induction_score", "wrong: a row counted that has not seen its token yet")
def score_whole_diagonal(weights, period):
    return weights.diagonal(1 - period, dim1=-2, dim2=-1).mean(dim=(0, 2))


@version("induction_score", "wrong: third time left out")
def score_second_only(weights, period):
    t = torch.arange(period, min(2 * period, weights.size(-1)))
    return weights[:, :, t, t - period + 1].mean(dim=(0, 2))


@version("induction_score", "wrong: only the last row scored")
def score_last(weights, period):
    return weights[:, :, -1, -period].mean(0)


@version("induction_score", "wrong: queries and keys exchanged")
def score_upper_diagonal(weights, period):
    return weights.diagonal(period - 1, dim1=-2, dim2=-1)[..., 1:].mean(dim=(0, 2))


@version("induction_score", "wrong: divided by all rows")
def score_all_rows(weights, period):
    B, T = weights.size(0), weights.size(-1)
    t = torch.arange(period, T)
    return weights[:, :, t, t - period + 1].sum(dim=(0, 2)) / (B * T)


@version("induction_score", "wrong: weights summed over the rows")
def score_summed(weights, period):
    return weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:].sum(-1).mean(0)


@version("induction_score", "wrong: averaged over the heads")
def score_one_number(weights, period):
    t = torch.arange(period, weights.size(-1))
    return weights[:, :, t, t - period + 1].mean()


@version("induction_score", "wrong: only the first sequence scored")
def score_first_diagonal(weights, period):
    return weights.diagonal(1 - period, dim1=-2, dim2=-1)[0, :, 1:].mean(dim=1)


# --- ablate_head ----------------------------------------------------------------------------------


def joined(heads):
    B, H, T, K = heads.shape
    return heads.permute(0, 2, 1, 3).reshape(B, T, H * K)


@version("ablate_head", "wrong: heads counted from one")
def ablate_from_one(heads, weight, bias, head):
    heads = heads.clone()
    heads[:, head - 1] = 0
    return joined(heads) @ weight + bias


@version("ablate_head", "wrong: heads counted from one")
def ablate_from_one_sum(heads, weight, bias, head):
    H, K = heads.size(1), heads.size(3)
    gone = (head - 1) % H
    parts = [heads[:, h] @ weight[h * K : (h + 1) * K] for h in range(H) if h != gone]
    return sum(parts) + bias if parts else bias.expand(len(heads), heads.size(2), -1)


@version("ablate_head", "wrong: only this head kept")
def ablate_kept(heads, weight, bias, head):
    K = heads.size(-1)
    return heads[:, head] @ weight[head * K : (head + 1) * K] + bias


@version("ablate_head", "wrong: others enlarged")
def ablate_as_dropout(heads, weight, bias, head):
    H = heads.size(1)
    out = heads.clone()
    out[:, head] = 0
    share = 1 - 1 / H if H > 1 else 1.0
    return F.linear(joined(out / share), weight.T, bias)


@version("ablate_head", "convention: mean ablation")
def ablate_mean(heads, weight, bias, head):
    heads = heads.clone()
    heads[:, head] = heads[:, head].mean(dim=(0, 1))
    return joined(heads) @ weight + bias


@version("ablate_head", "wrong: head read at the wrong place after merging")
def ablate_strided(heads, weight, bias, head):
    merged = joined(heads).clone()
    merged[..., head :: heads.size(1)] = 0
    return merged @ weight + bias


@version("ablate_head", "wrong: head as wide as there are heads")
def ablate_wide(heads, weight, bias, head):
    H = heads.size(1)
    merged = joined(heads).clone()
    merged[:, :, head * H : (head + 1) * H] = 0
    return merged @ weight + bias


@version("ablate_head", "wrong: remaining heads moved up")
def ablate_moved(heads, weight, bias, head):
    K = heads.size(-1)
    others = [h for h in range(heads.size(1)) if h != head]
    left = joined(heads[:, others])
    return left @ weight[: len(others) * K] + bias


@version("ablate_head", "wrong: remaining heads moved up")
def ablate_padded(heads, weight, bias, head):
    B, H, T, K = heads.shape
    left = torch.cat([heads[:, :head], heads[:, head + 1 :]], dim=1)
    left = F.pad(joined(left) if H > 1 else heads.new_zeros(B, T, 0), (0, K))
    return left @ weight + bias


@version("ablate_head", "wrong: merged without permuting back, one head silent")
def ablate_view(heads, weight, bias, head):
    B, H, T = heads.shape[:3]
    kept = (torch.arange(H) != head).float().view(1, H, 1, 1)
    return (heads * kept).contiguous().view(B, T, -1) @ weight + bias


@version("ablate_head", "wrong: bias taken away with the head")
def ablate_no_bias(heads, weight, bias, head):
    heads = heads.clone()
    heads[:, head] = 0
    return joined(heads) @ weight


@version("ablate_head", "wrong: bias taken away with the head")
def ablate_bias_subtracted(heads, weight, bias, head):
    K = heads.size(-1)
    own = heads[:, head] @ weight[head * K : (head + 1) * K] + bias
    return joined(heads) @ weight + bias - own


@version("ablate_head", "wrong: ablated after the projection")
def ablate_after_mask(heads, weight, bias, head):
    K = heads.size(-1)
    out = F.linear(joined(heads), weight.T, bias)
    place = torch.arange(out.size(-1))
    return out.masked_fill((place >= head * K) & (place < head * K + K), 0.0)


@version("ablate_head", "wrong: columns of the weight in place of its rows")
def ablate_columns(heads, weight, bias, head):
    K = heads.size(-1)
    weight = weight.clone()
    weight[:, head * K : (head + 1) * K] = 0
    return joined(heads) @ weight + bias
