"""Right versions of induction, as people write them: none of these may be refused."""

import torch
import torch.nn.functional as F

from tests.checks.corpus import version

# --- induction_score ------------------------------------------------------------------------------


@version("induction_score", "right", "a diagonal without its first place")
def induction_score_diagonal(weights, period):
    return weights.diagonal(1 - period, dim1=-2, dim2=-1)[..., 1:].mean(dim=(0, 2))


@version("induction_score", "right", "three loops")
def induction_score_loops(weights, period):
    B, H, T, _ = weights.shape
    scores = torch.zeros(H)
    for h in range(H):
        total, n = 0.0, 0
        for b in range(B):
            for t in range(period, T):
                total = total + weights[b, h, t, t - period + 1]
                n += 1
        scores[h] = total / n
    return scores


@version("induction_score", "right", "fancy indexing")
def induction_score_index(weights, period):
    t = torch.arange(period, weights.size(-1))
    return weights[..., t, t - (period - 1)].mean(-1).mean(0)


@version("induction_score", "right", "gather")
def induction_score_gather(weights, period):
    rows = weights[:, :, period:]
    where = torch.arange(1, 1 + rows.size(2)).expand(rows.shape[:3])[..., None]
    return rows.gather(-1, where).squeeze(-1).mean(dim=(0, 2))


@version("induction_score", "right", "a table of zeros and ones")
def induction_score_table(weights, period):
    T = weights.shape[-1]
    t, s = torch.arange(T)[:, None], torch.arange(T)
    wanted = ((s == t - period + 1) & (t >= period)).float()
    return torch.einsum("bhts,ts->h", weights, wanted) / (wanted.sum() * len(weights))


@version("induction_score", "right", "a list of heads")
def induction_score_list(weights, period):
    return torch.stack(
        [
            torch.stack([w[t, t + 1 - period] for w in head for t in range(period, len(w))]).mean()
            for head in weights.unbind(1)
        ]
    )


# --- ablate_head ----------------------------------------------------------------------------------


@version("ablate_head", "right", "a clone with zeros in it")
def ablate_clone(heads, weight, bias, head):
    heads = heads.clone()
    heads[:, head] = 0
    B, H, T, K = heads.shape
    return heads.permute(0, 2, 1, 3).reshape(B, T, H * K) @ weight + bias


@version("ablate_head", "right", "the sum of the others")
def ablate_sum(heads, weight, bias, head):
    B, H, T, K = heads.shape
    out = bias.expand(B, T, -1)
    for h in range(H):
        if h != head:
            out = out + heads[:, h] @ weight[h * K : (h + 1) * K]
    return out


@version("ablate_head", "right", "everything minus the head")
def ablate_minus(heads, weight, bias, head):
    K = heads.size(-1)
    everything = F.linear(heads.transpose(1, 2).flatten(-2), weight.T, bias)
    return everything - heads[:, head] @ weight[head * K : head * K + K]


@version("ablate_head", "right", "rows of the weight set to zero")
def ablate_rows(heads, weight, bias, head):
    H, K = heads.size(1), heads.size(3)
    weight = weight.clone().view(H, K, -1)
    weight[head] = 0.0
    return torch.einsum("bhtk,hkd->btd", heads, weight) + bias


@version("ablate_head", "right", "a slice of the merged vectors")
def ablate_slice(heads, weight, bias, head):
    B, H, T, K = heads.size()
    merged = heads.transpose(1, 2).reshape(B, T, H * K)
    kept = torch.ones(H * K)
    kept[head * K : (head + 1) * K] = 0
    return torch.matmul(merged * kept, weight) + bias


@version("ablate_head", "right", "the others side by side, and their rows")
def ablate_cut(heads, weight, bias, head):
    H, K = heads.size(1), heads.size(3)
    if H == 1:
        return torch.zeros_like(heads[:, 0]) @ weight + bias
    others = [h for h in range(H) if h != head]
    rows = torch.cat([weight[h * K : (h + 1) * K] for h in others])
    return torch.cat([heads[:, h] for h in others], dim=-1) @ rows + bias
