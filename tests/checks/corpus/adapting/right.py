"""Right versions of adapting, as people write them: none of these may be refused."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import version

# --- lora -----------------------------------------------------------------------------------------


@version("lora", "right", "F.linear")
def lora_linear(x, weight, down, up, alpha):
    return F.linear(x, weight) + (alpha / len(down)) * F.linear(F.linear(x, down), up)


@version("lora", "right", "through the merged weight")
def lora_merged(x, weight, down, up, alpha):
    r = up.shape[1]
    return x @ (weight + up @ down * (alpha / r)).T


@version("lora", "right", "einsum, and factor first")
def lora_einsum(x, weight, down, up, alpha):
    rank = down.shape[0]
    small = torch.einsum("...i,ri->...r", x * (alpha / rank), down)
    return torch.einsum("...i,oi->...o", x, weight) + torch.einsum("...r,or->...o", small, up)


@version("lora", "right", "rank by rank")
def lora_ranks(x, weight, down, up, alpha):
    out = x @ weight.T
    for i in range(down.size(0)):
        out = out + alpha / down.size(0) * (x @ down[i]).unsqueeze(-1) * up[:, i]
    return out


class Lora(nn.Module):
    def forward(self, x, weight, down, up, alpha):
        h = torch.matmul(x, torch.transpose(down, 0, 1))
        return torch.matmul(x, weight.t()) + torch.matmul(h, up.t()) * alpha / down.shape[0]


version("lora", "right", "a module")(Lora())


# --- merged_weight --------------------------------------------------------------------------------


version("merged_weight", "right", "one line")(
    lambda weight, down, up, alpha: weight + alpha / down.shape[0] * (up @ down)
)


@version("merged_weight", "right", "outer products")
def merged_outer(weight, down, up, alpha):
    total = weight.clone()
    for row, column in zip(down, up.T):
        total = total + alpha / len(down) * torch.outer(column, row)
    return total


@version("merged_weight", "right", "addmm")
def merged_addmm(weight, down, up, alpha):
    return torch.addmm(weight, up, down, alpha=alpha / up.size(1))


@version("merged_weight", "right", "transposed twice")
def merged_transposed(weight, down, up, alpha):
    return (weight.T + down.T @ up.T * (alpha / down.size(0))).T


# --- lora_start -----------------------------------------------------------------------------------


version("lora_start", "right", "a lambda")(
    lambda weight, rank, draw: (draw(rank, weight.size(1)), torch.zeros(weight.size(0), rank))
)


@version("lora_start", "right", "new_zeros")
def start_new(weight, rank, draw):
    rows, columns = weight.shape
    up = weight.new_zeros(rows, rank)
    down = draw(rank, columns)
    return down, up


@version("lora_start", "right", "a list, zeroed after drawing")
def start_zeroed(weight, rank, draw):
    up = draw(weight.size(0), rank)
    nn.init.zeros_(up)
    return [draw(rank, weight.size(1)), up]


# --- top_p_probabilities --------------------------------------------------------------------------


@version("top_p_probabilities", "right", "as Hugging Face: ascending")
def top_p_ascending(logits, top_p):
    ordered, indices = torch.sort(logits, descending=False)
    remove = ordered.softmax(dim=-1).cumsum(dim=-1) <= 1 - top_p
    remove[..., -1:] = False
    return logits.masked_fill(remove.scatter(1, indices, remove), -math.inf).softmax(-1)


@version("top_p_probabilities", "right", "shifted by one")
def top_p_shifted(logits, top_p):
    p, order = torch.sort(logits.softmax(-1), descending=True)
    remove = p.cumsum(-1) > top_p
    remove[:, 1:] = remove[:, :-1].clone()
    remove[:, 0] = False
    p = p.masked_fill(remove, 0.0)
    p = p / p.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, order, p)


@version("top_p_probabilities", "right", "row by row, with loops")
def top_p_loops(logits, top_p):
    out = torch.zeros_like(logits)
    for b, row in enumerate(logits.softmax(-1)):
        total = 0.0
        for i in sorted(range(len(row)), key=lambda i: -float(row[i])):
            out[b, i] = row[i]
            total += float(row[i])
            if total >= top_p:
                break
    return out / out.sum(-1, keepdim=True)


# --- min_p_probabilities --------------------------------------------------------------------------


@version("min_p_probabilities", "right", "in logarithms")
def min_p_logs(logits, min_p):
    bound = logits.max(-1, keepdim=True).values + math.log(min_p)
    return F.softmax(logits.masked_fill(logits < bound, -math.inf), dim=-1)


@version("min_p_probabilities", "right", "probabilities divided by their sum")
def min_p_where(logits, min_p):
    p = logits.softmax(-1)
    p = torch.where(p < min_p * p.max(dim=-1, keepdim=True)[0], 0.0, p)
    return p / p.sum(-1, keepdim=True)


@version("min_p_probabilities", "right", "row by row")
def min_p_rows(logits, min_p):
    rows = []
    for row in logits:
        p = torch.softmax(row, 0)
        kept = torch.tensor([float(q) if q >= min_p * max(p) else 0.0 for q in p])
        rows.append(kept / kept.sum())
    return torch.stack(rows)


# --- repetition_penalty ---------------------------------------------------------------------------


@version("repetition_penalty", "right", "gathered and scattered")
def penalty_scattered(logits, tokens, penalty):
    own = logits.gather(1, tokens)
    weaker = torch.where(own < 0, own * penalty, own / penalty)
    found = logits.scatter(1, tokens, weaker)
    found[:, 0] = logits[:, 0]  # padding is no token
    return found


@version("repetition_penalty", "right", "row by row")
def penalty_by_loops(logits, tokens, penalty):
    found = logits.clone()
    for row, said in zip(found, tokens.tolist(), strict=True):
        for token in set(said) - {0}:
            row[token] = row[token] / penalty if row[token] > 0 else row[token] * penalty
    return found


@version("repetition_penalty", "right", "a factor to the power of minus the sign")
def penalty_by_sign(logits, tokens, penalty):
    said = torch.zeros(logits.shape, dtype=torch.bool)
    said[torch.arange(len(tokens))[:, None], tokens] = True
    said[:, 0] = False
    return logits * penalty ** -(logits.sign() * said)


@version("lora_start", "right", "drawn numbers divided by the root of the width")
def start_scaled(weight, rank, draw):
    rows, columns = weight.shape
    return draw(rank, columns) / columns**0.5, torch.zeros(rows, rank)
