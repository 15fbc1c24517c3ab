"""Chapter 27, as beginners get it wrong: LoRA, and what a draw may choose."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from tests.checks.wrong_versions import wrong

# --- LoRA ----------------------------------------------------------------------------------------

L = "lora"


@wrong(L, "α/r forgotten")
def lora_no_factor(x, weight, down, up, alpha):
    return F.linear(x, weight) + F.linear(F.linear(x, down), up)


@wrong(L, "α/r forgotten")
def lora_plain_sum(x, weight, down, up, alpha):
    return x @ (weight + torch.einsum("or,ri->oi", up, down)).T


@wrong(L, "α not divided by the rank")
def lora_alpha(x, weight, down, up, alpha):
    return F.linear(x, weight) + alpha * F.linear(F.linear(x, down), up)


@wrong(L, "α not divided by the rank")
def lora_alpha_weight(x, weight, down, up, alpha):
    return x @ torch.addmm(weight, up, down, alpha=alpha).T


@wrong(L, "α times the rank")
def lora_times(x, weight, down, up, alpha):
    scale = alpha * up.size(1)
    return F.linear(x, weight) + scale * (x @ down.T) @ up.T


@wrong(L, "α times the rank")
def lora_times_loop(x, weight, down, up, alpha):
    out = x @ weight.T
    for _ in range(len(down)):
        out = out + alpha * (x @ down.T) @ up.T
    return out


@wrong(L, "rank read off the wrong axis")
def lora_axis(x, weight, down, up, alpha):
    return F.linear(x, weight) + alpha / down.shape[1] * F.linear(x @ down.T, up)


@wrong(L, "rank read off the wrong axis")
def lora_axis_width(x, weight, down, up, alpha):
    rank = x.shape[-1]
    return (x @ weight.T) + (x @ (up @ down).T) * (alpha / rank)


@wrong(L, "the root of the rank")
def lora_root(x, weight, down, up, alpha):
    return F.linear(x, weight) + alpha / math.sqrt(len(down)) * F.linear(x @ down.T, up)


@wrong(L, "the root of the rank")
def lora_root_weight(x, weight, down, up, alpha):
    return F.linear(x, weight + alpha * up.shape[1] ** -0.5 * up @ down)


@wrong(L, "base weight left out")
def lora_alone(x, weight, down, up, alpha):
    return alpha / len(down) * F.linear(F.linear(x, down), up)


@wrong(L, "base weight left out")
def lora_replaced(x, weight, down, up, alpha):
    weight = up @ down * (alpha / down.size(0))
    return x @ weight.T


@wrong(L, "the sum scaled")
def lora_sum(x, weight, down, up, alpha):
    y = F.linear(x, weight) + F.linear(F.linear(x, down), up)
    return y * alpha / len(down)


@wrong(L, "the sum scaled")
def lora_sum_weight(x, weight, down, up, alpha):
    return x @ ((weight + up @ down) * (alpha / up.size(1))).T


@wrong(L, "change of LoRA scaled twice")
def lora_twice(x, weight, down, up, alpha):
    scale = alpha / len(down)
    h = F.linear(x, down) * scale
    return F.linear(x, weight) + F.linear(h, up) * scale


@wrong(L, "change of LoRA scaled twice")
def lora_both(x, weight, down, up, alpha):
    s = alpha / up.shape[1]
    return x @ weight.T + x @ (s * down).T @ (s * up).T


@wrong(L, "input in place of the base")
def lora_residual(x, weight, down, up, alpha):
    return x + alpha / len(down) * F.linear(F.linear(x, down), up)


@wrong(L, "input in place of the base")
def lora_identity(x, weight, down, up, alpha):
    return x @ (torch.eye(x.shape[-1]) + alpha / down.size(0) * up @ down).T


@wrong(L, "down and up exchanged")
def lora_exchanged(x, weight, down, up, alpha):
    return F.linear(x, weight) + alpha / len(down) * (x @ up) @ down


@wrong(L, "down and up exchanged")
def lora_product(x, weight, down, up, alpha):
    return x @ weight.T + alpha / up.size(1) * torch.matmul(x, up @ down)


@wrong(L, "frozen weight not transposed")
def lora_base(x, weight, down, up, alpha):
    return x @ weight + alpha / len(down) * x @ down.T @ up.T


@wrong(L, "frozen weight not transposed")
def lora_base_einsum(x, weight, down, up, alpha):
    base = torch.einsum("...o,oi->...i", x, weight)
    return base + F.linear(F.linear(x, down), up) * (alpha / up.size(1))


M = "merged_weight"


@wrong(M, "merged without α/r")
def merged_plain(weight, down, up, alpha):
    return weight + up @ down


@wrong(M, "merged without α/r")
def merged_plain_outer(weight, down, up, alpha):
    return weight + sum(torch.outer(up[:, i], down[i]) for i in range(len(down)))


@wrong(M, "merged with α alone")
def merged_alpha_alone(weight, down, up, alpha):
    return weight + alpha * up @ down


@wrong(M, "merged with α alone")
def merged_alpha_addmm(weight, down, up, alpha):
    return torch.addmm(weight, up, down, alpha=alpha)


@wrong(M, "the change alone is merged")
def merged_delta(weight, down, up, alpha):
    return alpha / len(down) * up @ down


@wrong(M, "the change alone is merged")
def merged_overwritten(weight, down, up, alpha):
    merged = torch.zeros_like(weight)
    return merged + torch.matmul(up, down) * alpha / down.shape[0]


@wrong(M, "merged twice")
def merged_again(weight, down, up, alpha):
    delta = alpha / len(down) * up @ down
    weight = weight + delta
    return weight + delta


@wrong(M, "merged twice")
def merged_loop(weight, down, up, alpha):
    for _ in ("merge", "save"):
        weight = torch.addmm(weight, up, down, alpha=alpha / up.size(1))
    return weight


@wrong(M, "subtracted in place of added")
def merged_minus(weight, down, up, alpha):
    return weight - alpha / len(down) * up @ down


@wrong(M, "subtracted in place of added")
def merged_sub(weight, down, up, alpha):
    return torch.sub(weight, torch.mm(up, down), alpha=alpha / down.size(0))


@wrong(M, "product of the adapter transposed")
def merged_turned(weight, down, up, alpha):
    return weight + alpha / len(down) * (up @ down).T


@wrong(M, "product of the adapter transposed")
def merged_turned_einsum(weight, down, up, alpha):
    return weight + alpha / len(down) * torch.einsum("or,ri->io", up, down)


S = "lora_start"


@wrong(S, "B not zero")
def start_both(weight, rank, draw):
    return draw(rank, weight.shape[1]), draw(weight.shape[0], rank)


@wrong(S, "B not zero")
def start_loop(weight, rank, draw):
    rows, columns = weight.shape
    return tuple(draw(*shape) for shape in ((rank, columns), (rows, rank)))


@wrong(S, "A and B both zero")
def start_zeros(weight, rank, draw):
    return torch.zeros(rank, weight.size(1)), torch.zeros(weight.size(0), rank)


@wrong(S, "A and B both zero")
def start_times_zero(weight, rank, draw):
    return 0 * draw(rank, weight.size(1)), weight.new_zeros(weight.size(0), rank)


@wrong(S, "A zero in place of B")
def start_other(weight, rank, draw):
    return torch.zeros(rank, weight.size(1)), draw(weight.size(0), rank)


@wrong(S, "A zero in place of B")
def start_other_new(weight, rank, draw):
    rows, columns = weight.shape
    up, down = draw(rows, rank), weight.new_zeros((rank, columns))
    return down, up


@wrong(S, "B of ones")
def start_ones(weight, rank, draw):
    return draw(rank, weight.size(1)), torch.ones(weight.size(0), rank)


@wrong(S, "B of ones")
def start_full(weight, rank, draw):
    return draw(rank, weight.size(1)), torch.full((weight.size(0), rank), 1.0)


# --- top-p ---------------------------------------------------------------------------------------

P = "top_p_probabilities"


def loop(logits, top_p, *, first=True, order=None):
    """With loops: which stay, by the order of `order`."""
    out = torch.zeros_like(logits)
    for b, row in enumerate(logits.softmax(-1).tolist()):
        total = 0.0
        by = order and (lambda i: order(row, i))  # noqa: B023
        for n, i in enumerate(sorted(range(len(row)), key=by)):
            total += row[i]
            if total > top_p and not (first and n == 0):
                break
            out[b, i] = row[i]
    return out / out.sum(-1, keepdim=True)


@wrong(P, "nucleus one token too small")
def top_p_less(logits, top_p):
    p, order = logits.softmax(-1).sort(-1, descending=True)
    p = p.masked_fill(p.cumsum(-1) > top_p, 0.0)
    p = p / p.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, order, p)


@wrong(P, "nucleus one token too small")
def top_p_less_loop(logits, top_p):
    return loop(logits, top_p, first=False, order=lambda row, i: -row[i])


@wrong(P, "nucleus one token too small, but never empty")
def top_p_first_kept(logits, top_p):
    p, order = torch.sort(logits, descending=True)
    remove = p.softmax(-1).cumsum(-1) > top_p
    remove[:, 0] = False
    return logits.masked_fill(
        torch.zeros_like(remove).scatter(1, order, remove), -math.inf
    ).softmax(dim=-1)


@wrong(P, "nucleus one token too small, but never empty")
def top_p_first_loop(logits, top_p):
    return loop(logits, top_p, order=lambda row, i: -row[i])


@wrong(P, "cumulative sum without sorting")
def top_p_unsorted(logits, top_p):
    p = logits.softmax(-1)
    p = torch.where(p.cumsum(-1) - p < top_p, p, 0.0)
    return p / p.sum(-1, keepdim=True)


@wrong(P, "cumulative sum without sorting")
def top_p_unsorted_loop(logits, top_p):
    out = torch.full_like(logits, -math.inf)
    for b, row in enumerate(logits.softmax(-1)):
        total = 0.0
        for i, q in enumerate(row.tolist()):
            out[b, i] = logits[b, i]
            total += q
            if total >= top_p:
                break
    return out.softmax(-1)


@wrong(P, "sorted and not put back")
def top_p_not_back(logits, top_p):
    p = torch.sort(logits, descending=True).values.softmax(-1)
    remove = p.cumsum(-1) - p >= top_p
    return logits.masked_fill(remove, -math.inf).softmax(-1)


@wrong(P, "sorted and not put back")
def top_p_places(logits, top_p):
    p = logits.softmax(-1)
    n = (p.sort(descending=True).values.cumsum(-1) < top_p).sum(-1, keepdim=True) + 1
    p = p * (torch.arange(p.size(-1)) < n)
    return p / p.sum(-1, keepdim=True)


@wrong(P, "the unlikely ones first")
def top_p_sort(logits, top_p):
    p, order = logits.softmax(-1).sort(dim=-1)
    kept = p.cumsum(-1) - p < top_p
    return logits.masked_fill(~torch.zeros_like(kept).scatter(-1, order, kept), -math.inf).softmax(
        -1
    )


@wrong(P, "the unlikely ones first")
def top_p_sort_loop(logits, top_p):
    out = torch.zeros_like(logits)
    for b, row in enumerate(logits.softmax(-1).tolist()):
        total = 0.0
        for i in sorted(range(len(row)), key=row.__getitem__):
            if total >= top_p:
                break
            out[b, i], total = row[i], total + row[i]
    return F.normalize(out, p=1, dim=-1)


@wrong(P, "top-p of 1 − p")
def top_p_complement(logits, top_p):
    p, order = logits.softmax(-1).sort(-1, descending=True)
    p = p * (p.cumsum(-1) - p < 1 - top_p)
    return torch.zeros_like(p).scatter(-1, order, p / p.sum(-1, keepdim=True))


@wrong(P, "top-p of 1 − p")
def top_p_copied(logits, top_p):
    # Hugging Face's line, but sorted the other way round.
    ordered, indices = torch.sort(logits, descending=True)
    p = ordered.softmax(dim=-1)
    remove = p.cumsum(dim=-1) - p >= (1 - top_p)
    return logits.masked_fill(remove.scatter(1, indices, remove), -math.inf).softmax(-1)


def kept_of(logits, top_p):
    p, order = logits.softmax(-1).sort(-1, descending=True)
    kept = p.cumsum(-1) - p < top_p
    return torch.zeros_like(kept).scatter(-1, order, kept)


@wrong(P, "outside the nucleus set to zero")
def top_p_zero(logits, top_p):
    return (logits * kept_of(logits, top_p)).softmax(-1)


@wrong(P, "outside the nucleus set to zero")
def top_p_where(logits, top_p):
    return F.softmax(torch.where(kept_of(logits, top_p), logits, 0.0), dim=-1)


@wrong(P, "nucleus not shared out anew")
def top_p_unshared(logits, top_p):
    return logits.softmax(-1) * kept_of(logits, top_p)


@wrong(P, "nucleus not shared out anew")
def top_p_unshared_fill(logits, top_p):
    return logits.softmax(-1).masked_fill(~kept_of(logits, top_p), 0)


@wrong(P, "softmax of the nucleus taken twice")
def top_p_twice(logits, top_p):
    p = logits.softmax(-1)
    return p.masked_fill(~kept_of(logits, top_p), -math.inf).softmax(-1)


@wrong(P, "softmax of the nucleus taken twice")
def top_p_twice_loop(logits, top_p):
    p, kept = logits.softmax(-1), kept_of(logits, top_p)
    out = torch.zeros_like(p)
    for b in range(len(p)):
        out[b, kept[b]] = p[b, kept[b]].softmax(0)
    return out


# --- min-p ---------------------------------------------------------------------------------------

N = "min_p_probabilities"


def shared(p, kept):
    return p * kept / (p * kept).sum(-1, keepdim=True)


@wrong(N, "min-p taken absolutely")
def min_p_absolute(logits, min_p):
    p = logits.softmax(-1)
    return logits.masked_fill(p < min_p, -math.inf).softmax(-1)


@wrong(N, "min-p taken absolutely")
def min_p_absolute_shared(logits, min_p):
    p = logits.softmax(-1)
    return shared(p, p >= min_p)


@wrong(N, "min-p relative to the whole batch")
def min_p_batch(logits, min_p):
    p = logits.softmax(-1)
    return logits.masked_fill(p < min_p * p.max(), -math.inf).softmax(-1)


@wrong(N, "min-p relative to the whole batch")
def min_p_batch_column(logits, min_p):
    p = logits.softmax(-1)
    return shared(p, p >= min_p * p.flatten().sort().values[-1])


@wrong(N, "min-p on logits")
def min_p_logits(logits, min_p):
    bound = min_p * logits.max(-1, keepdim=True).values
    return logits.masked_fill(logits < bound, -math.inf).softmax(-1)


@wrong(N, "min-p on logits")
def min_p_logits_shared(logits, min_p):
    return shared(logits.softmax(-1), logits >= min_p * logits.amax(-1, keepdim=True))


@wrong(N, "min-p of 1 − p")
def min_p_complement(logits, min_p):
    p = logits.softmax(-1)
    return shared(p, p >= (1 - min_p) * p.amax(-1, keepdim=True))


@wrong(N, "min-p of 1 − p")
def min_p_complement_logs(logits, min_p):
    bound = logits.amax(-1, keepdim=True) + math.log(1 - min_p)
    return logits.masked_fill(logits < bound, -math.inf).softmax(-1)


@wrong(N, "the likely ones dropped")
def min_p_below(logits, min_p):
    p = logits.softmax(-1)
    return logits.masked_fill(p >= min_p * p.amax(-1, keepdim=True), -math.inf).softmax(-1)


@wrong(N, "the likely ones dropped")
def min_p_below_shared(logits, min_p):
    p = logits.softmax(-1)
    return shared(p, p / p.amax(-1, keepdim=True) < min_p)


@wrong(N, "below min-p set to zero")
def min_p_zero(logits, min_p):
    p = logits.softmax(-1)
    return torch.where(p < min_p * p.amax(-1, keepdim=True), 0.0, logits).softmax(-1)


@wrong(N, "below min-p set to zero")
def min_p_times(logits, min_p):
    p = logits.softmax(-1)
    return (logits * (p >= min_p * p.max(-1, keepdim=True).values)).softmax(-1)


@wrong(N, "min-p not shared out anew")
def min_p_unshared(logits, min_p):
    p = logits.softmax(-1)
    return p * (p >= min_p * p.max(-1, keepdim=True).values)


@wrong(N, "min-p not shared out anew")
def min_p_unshared_fill(logits, min_p):
    p = logits.softmax(-1)
    return p.masked_fill(p < min_p * p.amax(-1, keepdim=True), 0)


@wrong(N, "softmax of the min-p taken twice")
def min_p_twice(logits, min_p):
    p = logits.softmax(-1)
    return p.masked_fill(p < min_p * p.amax(-1, keepdim=True), -math.inf).softmax(-1)


@wrong(N, "softmax of the min-p taken twice")
def min_p_twice_rows(logits, min_p):
    rows = []
    for row in logits.softmax(-1):
        kept = torch.where(row >= min_p * row.max(), row, -torch.inf)
        rows.append(kept.softmax(0))
    return torch.stack(rows)
