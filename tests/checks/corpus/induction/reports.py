"""What people reported in public, rebuilt on 2026-11-29 and 30 from descriptions, in our own code."""

from __future__ import annotations

import torch

from tests.checks.corpus import version


@version("ablate_head", "wrong: ablated after the projection")
def features_zeroed_behind_the_projection(heads, weight, bias, head):
    b, h, t, k = heads.shape
    merged = heads.transpose(1, 2).reshape(b, t, h * k)
    out = merged @ weight + bias
    split = out.reshape(b, t, h, -1).clone()
    split[:, :, head] = 0
    return split.reshape(b, t, -1)


@version("induction_score", "wrong")
def one_minus_the_distance(weights, period):
    T = weights.size(-1)
    pattern = torch.zeros(T, T)
    for t in range(period, T):
        pattern[t, t - period + 1] = 1.0
    return 1 - (weights - pattern).abs().mean(dim=(0, 2, 3))


@version("induction_score", "wrong: divided by all rows")
def over_all_rows(weights, period):
    T = weights.shape[-1]
    pattern = torch.diag(torch.ones(T - period + 1), diagonal=1 - period)[:T, :T]
    pattern[:period] = 0
    kept = (weights * pattern).sum(dim=(0, 2, 3))
    return kept / weights.sum(dim=(0, 2, 3))


@version("ablate_head", "wrong")
def head_zeroed_in_the_columns(heads, weight, bias, head):
    B, H, T, K = heads.shape
    block = weight.shape[1] // H
    pruned = weight.clone()
    pruned[:, head * block : (head + 1) * block] = 0
    merged = heads.transpose(1, 2).reshape(B, T, H * K)
    return merged @ pruned + bias


@version("ablate_head", "wrong")
def zeroed_in_place(heads, weight, bias, head):
    B, H, T, K = heads.shape
    with torch.no_grad():
        heads[:, head] = 0.0
    merged = heads.permute(0, 2, 1, 3).reshape(B, T, H * K)
    return merged @ weight + bias


@version("ablate_head", "wrong")
def mean_of_the_last_example(heads, weight, bias, head):
    B, H, T, K = heads.shape
    for example in heads:
        mean = example[head].mean(dim=0)
    parts = []
    for h in range(H):
        parts.append(mean.expand(B, T, K) if h == head else heads[:, h])
    return torch.cat(parts, dim=-1) @ weight + bias


@version("induction_score", "wrong")
def share_of_weights_above_a_bound(weights, period):
    B, H, T, _ = weights.shape
    hits = torch.zeros(H)
    rows = 0
    for t in range(period, T):
        hits = hits + (weights[:, :, t, t - period + 1] > 0.3).float().sum(dim=0)
        rows += B
    return hits / rows


@version("ablate_head", "wrong")
def mask_on_what_is_not_read(heads, weight, bias, head):
    B, H, T, K = heads.shape
    head_mask = torch.ones(H)
    head_mask[head] = 0
    masked = heads * head_mask[None, :, None, None]
    merged = heads.permute(0, 2, 1, 3).reshape(B, T, H * K)
    return merged @ weight + bias


@version("induction_score", "wrong")
def without_the_last_row(weights, period):
    T = weights.shape[-1]
    rows = torch.arange(period, T - 1)
    picked = weights[:, :, rows, rows - period + 1]
    return picked.mean(dim=(0, 2))


@version("ablate_head", "wrong")
def head_pruned_projection_as_before(heads, weight, bias, head):
    B, H, T, K = heads.shape
    kept = [h for h in range(H) if h != head]
    pruned = heads[:, kept]
    merged = pruned.permute(0, 2, 1, 3).reshape(B, T, len(kept) * K)
    return merged @ weight + bias


@version("ablate_head", "right")
def smaller_matrix_after_pruning(heads, weight, bias, head):
    B, H, T, K = heads.shape
    stay = torch.ones(H, dtype=torch.bool, device=heads.device)
    stay[head] = False
    small = weight.reshape(H, K, -1)[stay].reshape((H - 1) * K, weight.shape[1])
    merged = heads[:, stay].permute(0, 2, 1, 3).reshape(B, T, (H - 1) * K)
    return merged @ small + bias


@version("ablate_head", "wrong")
def same_indices_for_rows_and_columns(heads, weight, bias, head):
    batch, n_heads, length, width = heads.shape
    pruned = torch.arange(head * width, (head + 1) * width)
    weight, bias = weight.clone(), bias.clone()
    weight[pruned] = 0
    # keep both sides of the projection in step
    weight[:, pruned] = 0
    bias[pruned] = 0
    merged = heads.transpose(1, 2).reshape(batch, length, n_heads * width)
    return merged @ weight + bias
