"""Wrong versions of adapting: each makes the mistake that is named."""

import math

import torch
import torch.nn.functional as F

from tests.checks.corpus import version

# --- lora -----------------------------------------------------------------------------------------


@version("lora", "wrong: α/r forgotten")
def lora_no_factor(x, weight, down, up, alpha):
    return F.linear(x, weight) + F.linear(F.linear(x, down), up)


@version("lora", "wrong: α not divided by the rank")
def lora_alpha(x, weight, down, up, alpha):
    return F.linear(x, weight) + alpha * F.linear(F.linear(x, down), up)


@version("lora", "wrong: α times the rank")
def lora_times(x, weight, down, up, alpha):
    scale = alpha * up.size(1)
    return F.linear(x, weight) + scale * (x @ down.T) @ up.T


@version("lora", "wrong: rank read off the wrong axis")
def lora_axis(x, weight, down, up, alpha):
    return F.linear(x, weight) + alpha / down.shape[1] * F.linear(x @ down.T, up)


@version("lora", "convention: the root of the rank")
def lora_root(x, weight, down, up, alpha):
    return F.linear(x, weight) + alpha / math.sqrt(len(down)) * F.linear(x @ down.T, up)


@version("lora", "wrong: base weight left out")
def lora_alone(x, weight, down, up, alpha):
    return alpha / len(down) * F.linear(F.linear(x, down), up)


@version("lora", "wrong: the sum scaled")
def lora_sum_weight(x, weight, down, up, alpha):
    return x @ ((weight + up @ down) * (alpha / up.size(1))).T


@version("lora", "wrong: change of LoRA scaled twice")
def lora_both(x, weight, down, up, alpha):
    s = alpha / up.shape[1]
    return x @ weight.T + x @ (s * down).T @ (s * up).T


@version("lora", "wrong: input in place of the base")
def lora_residual(x, weight, down, up, alpha):
    return x + alpha / len(down) * F.linear(F.linear(x, down), up)


@version("lora", "wrong: down and up exchanged")
def lora_exchanged(x, weight, down, up, alpha):
    return F.linear(x, weight) + alpha / len(down) * (x @ up) @ down


@version("lora", "wrong: frozen weight not transposed")
def lora_base(x, weight, down, up, alpha):
    return x @ weight + alpha / len(down) * x @ down.T @ up.T


# --- merged_weight --------------------------------------------------------------------------------


@version("merged_weight", "wrong: merged without α/r")
def merged_plain(weight, down, up, alpha):
    return weight + up @ down


@version("merged_weight", "wrong: merged with α alone")
def merged_alpha_alone(weight, down, up, alpha):
    return weight + alpha * up @ down


@version("merged_weight", "wrong: the change alone is merged")
def merged_delta(weight, down, up, alpha):
    return alpha / len(down) * up @ down


@version("merged_weight", "wrong: merged twice")
def merged_again(weight, down, up, alpha):
    delta = alpha / len(down) * up @ down
    weight = weight + delta
    return weight + delta


@version("merged_weight", "wrong: subtracted in place of added")
def merged_minus(weight, down, up, alpha):
    return weight - alpha / len(down) * up @ down


@version("merged_weight", "wrong: product of the adapter transposed")
def merged_turned(weight, down, up, alpha):
    return weight + alpha / len(down) * (up @ down).T


# --- lora_start -----------------------------------------------------------------------------------


@version("lora_start", "wrong: B not zero")
def start_both(weight, rank, draw):
    return draw(rank, weight.shape[1]), draw(weight.shape[0], rank)


@version("lora_start", "wrong: A and B both zero")
def start_zeros(weight, rank, draw):
    return torch.zeros(rank, weight.size(1)), torch.zeros(weight.size(0), rank)


@version("lora_start", "convention: A zero in place of B")
def start_other(weight, rank, draw):
    return torch.zeros(rank, weight.size(1)), draw(weight.size(0), rank)


@version("lora_start", "wrong: B of one number")
def start_ones(weight, rank, draw):
    return draw(rank, weight.size(1)), torch.ones(weight.size(0), rank)


# --- top_p_probabilities --------------------------------------------------------------------------


@version("top_p_probabilities", "wrong: nucleus one token too small")
def top_p_less(logits, top_p):
    p, order = logits.softmax(-1).sort(-1, descending=True)
    p = p.masked_fill(p.cumsum(-1) > top_p, 0.0)
    p = p / p.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, order, p)


@version("top_p_probabilities", "wrong: nucleus one token too small, but never empty")
def top_p_first_kept(logits, top_p):
    p, order = torch.sort(logits, descending=True)
    remove = p.softmax(-1).cumsum(-1) > top_p
    remove[:, 0] = False
    return logits.masked_fill(
        torch.zeros_like(remove).scatter(1, order, remove), -math.inf
    ).softmax(dim=-1)


@version("top_p_probabilities", "wrong: cumulative sum without sorting")
def top_p_unsorted(logits, top_p):
    p = logits.softmax(-1)
    p = torch.where(p.cumsum(-1) - p < top_p, p, 0.0)
    return p / p.sum(-1, keepdim=True)


@version("top_p_probabilities", "wrong: sorted and not put back")
def top_p_not_back(logits, top_p):
    p = torch.sort(logits, descending=True).values.softmax(-1)
    remove = p.cumsum(-1) - p >= top_p
    return logits.masked_fill(remove, -math.inf).softmax(-1)


@version("top_p_probabilities", "wrong: the unlikely ones first")
def top_p_sort(logits, top_p):
    p, order = logits.softmax(-1).sort(dim=-1)
    kept = p.cumsum(-1) - p < top_p
    return logits.masked_fill(~torch.zeros_like(kept).scatter(-1, order, kept), -math.inf).softmax(
        -1
    )


@version("top_p_probabilities", "wrong: top-p of 1 − p")
def top_p_complement(logits, top_p):
    p, order = logits.softmax(-1).sort(-1, descending=True)
    p = p * (p.cumsum(-1) - p < 1 - top_p)
    return torch.zeros_like(p).scatter(-1, order, p / p.sum(-1, keepdim=True))


def kept_of(logits, top_p):
    p, order = logits.softmax(-1).sort(-1, descending=True)
    kept = p.cumsum(-1) - p < top_p
    return torch.zeros_like(kept).scatter(-1, order, kept)


@version("top_p_probabilities", "wrong: outside the nucleus set to zero")
def top_p_zero(logits, top_p):
    return (logits * kept_of(logits, top_p)).softmax(-1)


@version("top_p_probabilities", "wrong: nucleus not shared out anew")
def top_p_unshared(logits, top_p):
    return logits.softmax(-1) * kept_of(logits, top_p)


@version("top_p_probabilities", "wrong: softmax of the nucleus taken twice")
def top_p_twice(logits, top_p):
    p = logits.softmax(-1)
    return p.masked_fill(~kept_of(logits, top_p), -math.inf).softmax(-1)


# --- min_p_probabilities --------------------------------------------------------------------------


@version("min_p_probabilities", "wrong: min-p taken absolutely")
def min_p_absolute(logits, min_p):
    p = logits.softmax(-1)
    return logits.masked_fill(p < min_p, -math.inf).softmax(-1)


@version("min_p_probabilities", "wrong: min-p relative to the whole batch")
def min_p_batch(logits, min_p):
    p = logits.softmax(-1)
    return logits.masked_fill(p < min_p * p.max(), -math.inf).softmax(-1)


@version("min_p_probabilities", "wrong: min-p on logits")
def min_p_logits(logits, min_p):
    bound = min_p * logits.max(-1, keepdim=True).values
    return logits.masked_fill(logits < bound, -math.inf).softmax(-1)


def shared(p, kept):
    return p * kept / (p * kept).sum(-1, keepdim=True)


@version("min_p_probabilities", "wrong: min-p of 1 − p")
def min_p_complement(logits, min_p):
    p = logits.softmax(-1)
    return shared(p, p >= (1 - min_p) * p.amax(-1, keepdim=True))


@version("min_p_probabilities", "wrong: min-p of 1 − p")
def min_p_complement_logs(logits, min_p):
    bound = logits.amax(-1, keepdim=True) + math.log(1 - min_p)
    return logits.masked_fill(logits < bound, -math.inf).softmax(-1)


@version("min_p_probabilities", "wrong: the likely ones dropped")
def min_p_below(logits, min_p):
    p = logits.softmax(-1)
    return logits.masked_fill(p >= min_p * p.amax(-1, keepdim=True), -math.inf).softmax(-1)


@version("min_p_probabilities", "wrong: below min-p set to zero")
def min_p_zero(logits, min_p):
    p = logits.softmax(-1)
    return torch.where(p < min_p * p.amax(-1, keepdim=True), 0.0, logits).softmax(-1)


@version("min_p_probabilities", "wrong: min-p not shared out anew")
def min_p_unshared(logits, min_p):
    p = logits.softmax(-1)
    return p * (p >= min_p * p.max(-1, keepdim=True).values)


@version("min_p_probabilities", "wrong: softmax of the min-p taken twice")
def min_p_twice(logits, min_p):
    p = logits.softmax(-1)
    return p.masked_fill(p < min_p * p.amax(-1, keepdim=True), -math.inf).softmax(-1)


# --- repetition_penalty ---------------------------------------------------------------------------


def _punished(logits, tokens, change):
    rows = logits.clone()
    for row, said in enumerate(tokens.tolist()):
        for token in {word for word in said if word}:
            rows[row, token] = change(logits[row, token])
    return rows


@version("repetition_penalty", "wrong: negative logits divided by the penalty, too")
def penalty_as_in_the_paper(logits, tokens, penalty):
    return _punished(logits, tokens, lambda x: x / penalty)


@version("repetition_penalty", "wrong: logits multiplied by the penalty")
def penalty_times(logits, tokens, penalty):
    return _punished(logits, tokens, lambda x: penalty * x)


@version("repetition_penalty", "wrong: division and multiplication exchanged")
def penalty_upside_down(logits, tokens, penalty):
    return _punished(logits, tokens, lambda x: x * penalty if x >= 0 else x / penalty)


@version("repetition_penalty", "wrong: penalty subtracted")
def penalty_of_presence(logits, tokens, penalty):
    return _punished(logits, tokens, lambda x: x - penalty)


@version("repetition_penalty", "wrong: penalty once for each time")
def penalty_in_a_loop(logits, tokens, penalty):
    found = logits.clone()
    for row, said in zip(found, tokens, strict=True):
        for token in said[said > 0]:
            row[token] *= penalty if row[token] < 0 else 1 / penalty
    return found


@version("repetition_penalty", "wrong: padding punished")
def penalty_for_padding(logits, tokens, penalty):
    own = torch.take_along_dim(logits, tokens, dim=1)
    weaker = torch.where(own > 0, own / penalty, own * penalty)
    return logits.scatter(1, tokens, weaker)


@version("repetition_penalty", "wrong: what any sentence has said is punished in all")
def penalty_of_the_batch(logits, tokens, penalty):
    found = logits.clone()
    words = tokens[tokens != 0].unique()
    own = found[:, words]
    found[:, words] = torch.where(own > 0, own / penalty, own * penalty)
    return found


@version("repetition_penalty", "wrong: the last token alone punished")
def penalty_for_now(logits, tokens, penalty):
    return _punished(logits, tokens[:, -1:], lambda x: x / penalty if x > 0 else x * penalty)


@version("repetition_penalty", "wrong: every token punished")
def penalty_for_all(logits, tokens, penalty):
    return logits.relu() / penalty - (-logits).relu() * penalty
