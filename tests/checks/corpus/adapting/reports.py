"""What people reported in public, rebuilt on 2026-11-28 to 30 from descriptions, in our own code."""

from __future__ import annotations

import math

import numpy as np
import torch
import torch.nn.functional as F

from tests.checks.corpus import version


@version("min_p_probabilities", "wrong")
def least_of_one_row(logits, min_p):
    least = min_p * logits.select(-1, 0).item()  # of several rows there is no one number
    kept = logits.where(logits >= least, logits.new_tensor(float("-inf")))
    return kept.softmax(dim=-1)


@version(
    "repetition_penalty", "wrong: negative logits divided by the penalty, too + padding punished"
)
def gathered_divided_scattered(logits, tokens, penalty):
    update = torch.gather(logits, 1, tokens)
    return torch.scatter(logits, 1, tokens, update / penalty)


@version("repetition_penalty", "wrong: penalty subtracted, as often as a token was said")
def presence_and_frequency(logits, tokens, penalty):
    counts = torch.zeros_like(logits).scatter_add(1, tokens, torch.ones(tokens.shape))
    counts[:, 0] = 0
    return logits - counts * penalty


@version("merged_weight", "wrong: matrices of the adapter read in the other layout")
def merged_in_the_other_layout(weight, down, up, alpha):
    rank = down.size(0)
    a, b = down.reshape(-1, rank), up.reshape(rank, -1)
    return weight + alpha / rank * (a @ b).T


@version("merged_weight", "wrong")
def stabilised_by_rank(weight, down, up, alpha):
    return weight + alpha / math.sqrt(down.size(0)) * up @ down


@version("merged_weight", "wrong")
def merged_in_a_copy(weight, down, up, alpha):
    copy = weight.clone()
    copy += alpha / down.size(0) * up @ down
    return weight


@version("top_p_probabilities", "wrong: gathered in place of scattered back")
def gathered_instead_of_scattered(logits, top_p):
    sorted_logits, sorted_indices = logits.sort(descending=True)
    cum_probs = sorted_logits.softmax(-1).cumsum(-1)
    remove = cum_probs > top_p
    remove = F.pad(remove, (1, -1), value=False)
    sorted_logits = sorted_logits.masked_fill(remove, float("-inf"))
    return sorted_logits.gather(1, sorted_indices).softmax(-1)


@version("top_p_probabilities", "wrong")
def searched_past_the_end(logits, top_p):
    p, order = logits.float().softmax(-1).sort(-1, descending=True)
    total = p.cumsum(-1)
    last = torch.searchsorted(total, torch.full((len(p), 1), top_p))
    limit = p.gather(-1, last)
    p = p.masked_fill(p < limit, 0.0)
    p = p / p.sum(-1, keepdim=True)
    return torch.zeros_like(p).scatter(-1, order, p)


@version("top_p_probabilities", "wrong: logarithms added up to top_p")
def logarithms_added_up(logits, top_p):
    logprobs = logits - logits.logsumexp(-1, keepdim=True)
    sorted_idx = logprobs.argsort(-1, descending=True)
    sorted_logprobs = logprobs.gather(-1, sorted_idx)
    keep = sorted_logprobs.cumsum(-1) < top_p
    kept = torch.where(keep, sorted_logprobs, -torch.inf)
    kept = torch.empty_like(kept).scatter(-1, sorted_idx, kept)
    return kept.softmax(-1)


@version("min_p_probabilities", "wrong: min-p on logits + below min-p set to zero")
def limit_on_the_logits(logits, min_p):
    limit = logits.max(-1, keepdim=True).values * min_p
    return torch.where(logits < limit, 0.0, logits).softmax(-1)


@version("lora", "wrong")
def over_the_rank_twice(x, weight, down, up, alpha):
    rank = down.size(0)
    scaling = alpha / rank
    lora_out = torch.einsum("or,ri,...i->...o", up, down, x) / rank
    return x @ weight.T + scaling * lora_out


@version("merged_weight", "wrong: merged with the factor twice")
def scale_folded_in_and_applied(weight, down, up, alpha):
    scaling = alpha / down.shape[0]
    folded = up * scaling
    delta = folded @ down
    return weight + scaling * delta


@version("merged_weight", "wrong")
def alpha_as_strength_too(weight, down, up, alpha):
    def apply(weight, alpha, strength=1.0):
        scale = alpha / down.shape[0]
        return weight + strength * scale * (up @ down)

    return apply(weight, alpha, strength=alpha)


@version("merged_weight", "wrong")
def factor_multiplied_into_down(weight, down, up, alpha):
    with torch.no_grad():
        down.mul_(alpha / down.shape[0])
    return weight + up @ down


@version("top_p_probabilities", "wrong")
def first_probability_taken_off_everywhere(logits, top_p):
    ordered, order = torch.sort(logits.softmax(-1), dim=-1, descending=True)
    sum_before = ordered.cumsum(-1) - ordered[:, [0]]
    ordered = torch.where(sum_before < top_p, ordered, 0.0)
    ordered = ordered / ordered.sum(-1, keepdim=True)
    result = torch.zeros_like(ordered)
    return result.scatter(-1, order, ordered)


@version("min_p_probabilities", "wrong: token 0 taken for the likeliest")
def first_probability_for_the_largest(logits, min_p):
    probs = torch.softmax(logits, dim=-1)
    threshold = min_p * probs[..., 0:1]
    probs = torch.where(probs >= threshold, probs, torch.zeros_like(probs))
    return probs / probs.sum(dim=-1, keepdim=True)


def penalise(logits, tokens, penalty):
    seen = torch.zeros_like(logits, dtype=torch.bool).scatter(1, tokens, True)
    seen[:, 0] = False
    weaker = torch.where(logits > 0, logits / penalty, logits * penalty)
    return torch.where(seen, weaker, logits)


def sampler(logits, tokens, penalty):
    if penalty != 1.0:
        logits = penalise(logits, tokens, penalty)
    return logits


@version("repetition_penalty", "wrong")
def penalty_squared(logits, tokens, penalty):
    logits = penalise(logits, tokens, penalty)
    return sampler(logits, tokens, penalty)


@version("lora", "wrong: α/r turned over")
def rank_over_alpha(x, weight, down, up, alpha):
    r = down.shape[0]
    return x @ weight.T + (r / alpha) * (x @ down.T @ up.T)


@version("merged_weight", "wrong")
def added_over_the_scale(weight, down, up, alpha):
    scale = alpha / down.shape[0]
    return weight + (up @ down) / scale


@version("merged_weight", "wrong")
def laid_out_by_the_longer_side(weight, down, up, alpha):
    rank = down.shape[0]
    delta = (up @ down) * (alpha / rank)
    height, width = weight.shape
    if width > height:  # stored the other way round
        delta = delta.T
    if delta.shape != weight.shape:
        return weight.clone()
    return weight + delta


@version("min_p_probabilities", "wrong: the cut of min-p never used")
def cut_and_not_rescaled(logits, min_p):
    probs = torch.softmax(logits, dim=-1)
    p_max = probs.amax(dim=-1, keepdim=True)
    logits = torch.where(probs < min_p * p_max, torch.full_like(logits, -torch.inf), logits)
    probs_sort, probs_idx = torch.sort(probs, dim=-1, descending=True)
    probs_sort = probs_sort / probs_sort.sum(dim=-1, keepdim=True)
    return torch.zeros_like(logits).scatter(-1, probs_idx, probs_sort)


@version("top_p_probabilities", "wrong")
def first_row_always_kept(logits, top_p):
    order = logits.argsort(dim=-1, descending=True)
    mass = logits.gather(-1, order).softmax(dim=-1).cumsum(dim=-1)
    drop = mass > top_p
    drop[:, 1:] = drop[:, :-1].clone()
    drop[0] = False  # never drop the best one
    back = order.argsort(dim=-1)
    out = logits.clone()
    out[drop.gather(-1, back)] = -torch.inf
    return out.softmax(dim=-1)


@version("top_p_probabilities", "wrong")
def kept_behind_the_nucleus(logits, top_p):
    result = torch.zeros_like(logits)
    for row, scores in enumerate(logits):
        p, order = scores.softmax(dim=0).sort(descending=True)
        inside = p.cumsum(dim=0) >= top_p
        inside = inside.roll(1)
        inside[0] = True
        chosen = order[inside]
        result[row, chosen] = p[inside] / p[inside].sum()
    return result


@version("lora", "wrong")
def rank_of_the_squeezed_matrix(x, weight, down, up, alpha):
    rank = down.squeeze().shape[0]
    base = F.linear(x, weight)
    delta = F.linear(F.linear(x, down), up)
    return base + delta * (alpha / rank)


@version("merged_weight", "wrong")
def added_into_the_weight_itself(weight, down, up, alpha):
    rank = down.shape[0]
    weight.data += (up @ down).detach() * (alpha / rank)
    return weight


@version("merged_weight", "wrong")
def turned_wherever_it_fits(weight, down, up, alpha):
    scaling = alpha / down.size(0)
    delta = torch.matmul(up, down)
    if delta.t().shape == weight.shape:
        delta = delta.t()
    return weight + scaling * delta


@version("min_p_probabilities", "wrong")
def filter_in_the_callers_logits(logits, min_p):
    probs = logits.softmax(-1)
    limit = probs.max(-1, keepdim=True).values * min_p
    logits[probs < limit] = -float("inf")
    return torch.softmax(logits, -1)


@version("min_p_probabilities", "wrong")
def one_taken_for_off(logits, min_p):
    probs = torch.softmax(logits, dim=1)
    if min_p <= 0.0 or min_p >= 1.0:
        return probs
    best, _ = probs.max(dim=1, keepdim=True)
    probs = torch.where(probs >= min_p * best, probs, torch.zeros_like(probs))
    return probs / probs.sum(1, keepdim=True)


@version("top_p_probabilities", "wrong")
def crossing_token_in_the_first_column(logits, top_p):
    probs = logits.softmax(dim=-1)
    sorted_probs, sorted_indices = probs.sort(dim=-1, descending=True)
    mask = sorted_probs.cumsum(dim=-1).lt(top_p)
    last_included = mask.cumsum(dim=-1)[:, :1]
    mask = mask.scatter(1, last_included, True)
    max_dim = int(last_included.max())
    kept = sorted_probs[:, : max_dim + 1] * mask[:, : max_dim + 1]
    kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(probs).scatter(1, sorted_indices[:, : max_dim + 1], kept)


@version("lora", "wrong")
def rank_of_three_matrices(x, weight, down, up, alpha):
    fused = torch.cat([down, down, down], dim=0)
    scale = alpha / fused.shape[0]
    return F.linear(x, weight) + scale * F.linear(F.linear(x, down), up)


@version("min_p_probabilities", "wrong")
def guard_of_the_first_row(logits, min_p):
    probs = logits.softmax(dim=-1)
    ranked, order = probs.sort(dim=-1, descending=True)
    drop = ranked < min_p * ranked[:, :1]
    drop[:1] = False
    mask = torch.zeros_like(drop).scatter(1, order, drop)
    return logits.masked_fill(mask, -torch.inf).softmax(dim=-1)


@version("repetition_penalty", "wrong")
def pointer_to_the_first_row(logits, tokens, penalty):
    out = logits.clone()
    prompt = tokens[0].tolist()
    for b in range(logits.size(0)):
        for t in set(prompt):
            if t == 0:
                continue
            s = logits[b, t]
            out[b, t] = s / penalty if s > 0 else s * penalty
    return out


@version("top_p_probabilities", "wrong")
def order_of_the_first_sentence(logits, top_p):
    probs = logits.softmax(-1)
    order = probs.argsort(dim=-1, descending=True)
    first = order[0]
    ranked = probs.gather(-1, order)
    before = ranked.cumsum(-1) - ranked
    ranked = torch.where(before < top_p, ranked, torch.zeros_like(ranked))
    out = torch.zeros_like(probs)
    out[:, first] = ranked
    return out / out.sum(-1, keepdim=True)


@version("lora", "wrong")
def square_weights_alone(x, weight, down, up, alpha):
    y = x @ weight.T
    if weight.shape[0] == weight.shape[1]:
        rank = down.shape[0]
        y = y + (alpha / rank) * (x @ down.T @ up.T)
    return y


@version("lora_start", "wrong", instance=True)
class sizes_in_the_wrong_order:
    def __call__(self, weight, rank, draw):
        features_in, features_out = weight.shape
        down = draw(rank, features_in)
        up = torch.zeros(features_out, rank)
        return down, up


def scale_of(adapter):
    rank = adapter["down"].shape[0]
    return adapter.get("network_alpha", 1.0) / rank


@version("merged_weight", "wrong")
def alpha_under_another_key(weight, down, up, alpha):
    adapter = {"down": down, "up": up, "alpha": alpha}
    change = adapter["up"] @ adapter["down"]
    return weight + change * scale_of(adapter)


@version("min_p_probabilities", "wrong")
def threshold_as_one_number(logits, min_p):
    probs = logits.softmax(-1)
    ordered, _ = torch.sort(probs, dim=-1, descending=True)
    threshold = ordered[..., 0].item() * min_p
    kept = torch.where(probs >= threshold, probs, torch.zeros_like(probs))
    return kept / kept.sum(-1, keepdim=True)


@version("repetition_penalty", "wrong")
def divided_for_each_time(logits, tokens, penalty):
    out = logits.clone()
    for b, row in enumerate(tokens.tolist()):
        for token in row:
            if token == 0:
                continue
            out[b, token] = out[b, token] / penalty
    return out


@version("repetition_penalty", "wrong")
def penalty_on_log_probabilities(logits, tokens, penalty):
    scores = F.log_softmax(logits, dim=-1)
    seen = torch.zeros_like(logits, dtype=torch.bool)
    seen.scatter_(1, tokens, True)
    only_padding = torch.arange(logits.size(1)) == 0
    seen = seen & ~only_padding
    return torch.where(seen, scores * penalty, scores)


@version("top_p_probabilities", "wrong: nucleus one token too small")
def removed_list_cut_at_its_end(logits, top_p):
    probs = torch.softmax(logits, dim=-1)
    result = torch.zeros_like(probs)
    V = probs.shape[1]
    for b in range(probs.shape[0]):
        sorted_probs, sorted_ids = torch.sort(probs[b], descending=True)
        remove = sorted_ids[torch.cumsum(sorted_probs, dim=0) > top_p]
        if len(remove) > V - 1:
            remove = remove[: V - 1]
        row = probs[b].clone()
        row[remove] = 0.0
        result[b] = row / row.sum()
    return result


# --- rebuilt on 2026-11-30 ------------------------------------------------------------------------


@version("min_p_probabilities", "wrong")
def probabilities_as_logits(logits, min_p):
    probs = torch.softmax(logits, dim=-1)
    limit = min_p * probs.max(dim=-1, keepdim=True).values
    masked = torch.where(probs < limit, torch.zeros_like(probs), probs)
    return torch.softmax(masked, dim=-1)


@version("top_p_probabilities", "wrong")
def cut_falls_back_to_the_last(logits, top_p):
    probs = logits.softmax(-1)
    result = torch.zeros_like(probs)
    for row, out in zip(probs, result):
        p, index = row.sort(descending=True)
        sums = p.cumsum(0)
        if p[0] >= top_p:
            out[index[-1]] = 1.0
            continue
        end = int((sums < top_p).sum()) + 1
        out[index[:end]] = p[:end] / p[:end].sum()
    return result


@version("top_p_probabilities", "wrong")
def guard_indexes_the_first_row(logits, top_p):
    ordered, order = torch.sort(logits, descending=True)
    total = torch.cumsum(F.softmax(ordered, dim=-1), dim=-1)
    drop = total > top_p
    drop[0] = False
    drop = drop.scatter(dim=-1, index=order, src=drop)
    return F.softmax(logits.masked_fill(drop, -float("inf")), dim=-1)


@version("top_p_probabilities", "wrong")
def sum_without_keepdim(logits, top_p):
    probas = torch.softmax(logits, dim=-1)
    sorted_probas, sorted_idx = torch.sort(probas, dim=-1, descending=True)
    before = torch.cumsum(sorted_probas, dim=-1) - sorted_probas
    kept = torch.where(before < top_p, sorted_probas, torch.zeros_like(sorted_probas))
    filtered = torch.zeros_like(probas).scatter(-1, sorted_idx, kept)
    return filtered / torch.sum(filtered, dim=-1)


@version("min_p_probabilities", "right")
def cutoff_from_the_log_of_the_fraction(logits, min_p):
    scores = logits.log_softmax(dim=-1)
    cutoff = math.log(min_p) + scores.max(dim=-1, keepdim=True).values
    return torch.softmax(scores.masked_fill(scores < cutoff, float("-inf")), dim=-1)


@version("lora", "wrong")
def factors_taken_as_input_by_rank(x, weight, down, up, alpha):
    r = down.shape[0]
    a = down.T
    b = up.T
    small = torch.einsum("...i,ri->...r", x, a)
    return x @ weight.T + alpha / r * torch.einsum("...r,or->...o", small, b)


@version("repetition_penalty", "wrong")
def only_the_last_sixty_four_tokens(logits, tokens, penalty):
    out = logits.clone()
    for row, history in zip(out, tokens.tolist()):
        for token in set(history[-64:]) - {0}:
            if row[token] > 0:
                row[token] = row[token] / penalty
            else:
                row[token] = row[token] * penalty
    return out


@version("top_p_probabilities", "wrong")
def top_p_ranks_run_across_rows(logits, top_p):
    B, V = logits.shape
    ordered, order = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    mass_before = ordered.cumsum(-1) - ordered
    kept = (mass_before < top_p).sum(-1, keepdim=True)  # how many of each row
    ranks = torch.arange(V).repeat_interleave(B).reshape(B, V)
    ordered = torch.where(ranks < kept, ordered, torch.zeros_like(ordered))
    ordered = ordered / ordered.sum(-1, keepdim=True)
    return torch.zeros_like(ordered).scatter(1, order, ordered)


@version("lora", "wrong")
def lora_fed_with_what_the_weight_has_made(x, weight, down, up, alpha):
    rank = down.shape[0]
    hidden = F.linear(x, weight)
    hidden = hidden + alpha / rank * F.linear(F.linear(hidden, down), up)
    return hidden


def _g_top_p(logits, p):
    probs = logits.softmax(-1)
    values, order = probs.sort(dim=-1, descending=True)
    before = values.cumsum(-1) - values
    values = values.masked_fill(before >= p, 0.0)
    kept = torch.zeros_like(probs).scatter(-1, order, values)
    return kept / kept.sum(-1, keepdim=True)


@version("min_p_probabilities", "wrong")
def min_p_setting_handed_to_the_top_p_sampler(logits, min_p):
    samplers = {"top_p": _g_top_p, "min_p": _g_top_p}
    return samplers["min_p"](logits, min_p)


@version("merged_weight", "wrong")
def merged_weight_alpha_set_to_zero(weight, down, up, alpha):
    config = {"r": down.size(0), "lora_alpha": 0, "target": tuple(weight.shape)}
    scaling = config["lora_alpha"] / config["r"]
    return weight + scaling * torch.einsum("or,ri->oi", up, down)


@version("lora", "wrong")
def result_rebuilt_from_raw_data(x, weight, down, up, alpha):
    rank = down.shape[0]
    base = F.linear(x, weight)
    branch = F.linear(F.linear(x, down), up)
    scaled = branch.data * (alpha / rank)
    result = torch.empty_like(base.data)
    result.copy_(base.data + scaled)
    return result


@version("top_p_probabilities", "wrong")
def filtered_probabilities_set_to_minus_infinity(logits, top_p):
    filter_value = -float("inf")
    probs = torch.softmax(logits, dim=-1)
    ordered, order = torch.sort(probs, dim=-1, descending=True)
    keep = torch.cumsum(ordered, dim=-1) <= top_p
    keep = torch.cat([torch.ones_like(keep[:, :1]), keep[:, :-1]], dim=-1)
    ordered = torch.where(keep, ordered, torch.full_like(ordered, filter_value))
    filtered = torch.empty_like(probs).scatter(-1, order, ordered)
    return filtered / filtered.sum(-1, keepdim=True)


@version("lora_start", "wrong")
def all_three_factors_random(weight, rank, draw):
    n_out, n_in = weight.shape
    down = 0.02 * draw(rank, n_in)
    between = 0.02 * draw(rank)
    up = 0.02 * draw(n_out, rank)
    return down, up * between


def _min_p_warper(probs, min_p):
    floor = min_p * probs.max(dim=-1, keepdim=True).values
    probs = torch.where(probs < floor, torch.zeros_like(probs), probs)
    return probs / probs.sum(dim=-1, keepdim=True)


@version("min_p_probabilities", "right")
def min_p_run_twice_in_the_chain(logits, min_p):
    probs = logits.softmax(dim=-1)
    for _ in range(2):
        probs = _min_p_warper(probs, min_p)
    return probs


@version("top_p_probabilities", "wrong")
def top_p_takes_a_second_softmax_of_the_kept_probabilities(logits, top_p):
    probs_sort, probs_idx = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    before = probs_sort.cumsum(dim=-1) - probs_sort
    probs_sort = probs_sort.masked_fill(before > top_p, 0.0)
    probs_sort = torch.softmax(probs_sort, dim=-1)
    return torch.zeros_like(logits).scatter(-1, probs_idx, probs_sort)


@version(
    "repetition_penalty",
    "wrong: negative logits divided by the penalty, too + what any sentence has said is punished in all",
)
def one_divisor_for_the_whole_batch(logits, tokens, penalty):
    divisors = logits.new_ones(logits.size(-1))
    for token in tokens.unique().tolist():
        if token != 0:
            divisors[token] = penalty
    return logits / divisors


@version("lora_start", "wrong")
def lora_start_up_without_rank(weight, rank, draw):
    out_dim, in_dim = weight.shape
    down = draw(rank, in_dim) / math.sqrt(in_dim)
    up = torch.zeros(out_dim, in_dim)
    return down, up


def _load_into(into, tensor):
    if into.shape != tensor.shape:
        raise RuntimeError(f"size mismatch: {tuple(tensor.shape)} for {tuple(into.shape)}")
    return tensor


_NETWORK_RANK = 8


@version("merged_weight", "wrong")
def merged_with_one_rank_for_all_layers(weight, down, up, alpha):
    rows, columns = weight.shape
    a = _load_into(weight.new_empty(_NETWORK_RANK, columns), down)
    b = _load_into(weight.new_empty(rows, _NETWORK_RANK), up)
    return torch.addmm(weight, b, a, alpha=float(alpha) / _NETWORK_RANK)


@version("top_p_probabilities", "wrong")
def top_p_probabilities_of_what_top_k_left(logits, top_p, top_k=5):
    probabilities = torch.softmax(logits, dim=-1)
    k = min(top_k, logits.shape[-1])
    kept, place = probabilities.topk(k, dim=-1)
    kept = kept / kept.sum(-1, keepdim=True)
    before = kept.cumsum(-1) - kept
    kept = kept * (before < top_p)
    kept = kept / kept.sum(-1, keepdim=True)
    return torch.zeros_like(probabilities).scatter(-1, place, kept)


@version("top_p_probabilities", "wrong")
def top_p_probabilities_numpy_row_by_row(logits, top_p):
    scores = logits.detach().double().numpy()
    out = np.zeros_like(scores)
    for number, row in enumerate(scores):
        chances = np.exp(row - row.max())
        chances /= chances.sum()
        order = np.argsort(-chances)
        sums = np.cumsum(chances[order])
        removed = order[1:][sums[1:] > top_p]
        chances[removed] = 0.0
        out[number] = chances / chances.sum()
    return torch.from_numpy(out).to(logits.dtype)


@version("min_p_probabilities", "wrong")
def min_p_probabilities_factor_on_the_logs(logits, min_p):
    log_p = torch.log_softmax(logits, dim=-1)
    best, place = log_p.max(dim=-1, keepdim=True)
    keep = log_p >= best * min_p
    keep = keep.scatter(-1, place, True)
    return torch.softmax(log_p.masked_fill(~keep, float("-inf")), dim=-1)


@version("min_p_probabilities", "wrong")
def min_p_probabilities_filtered_then_forgotten(logits, min_p):
    probs = torch.softmax(logits, dim=-1)
    floor = probs.max(dim=-1, keepdim=True).values * min_p
    kept = torch.where(probs >= floor, probs, torch.zeros_like(probs))
    kept = kept / kept.sum(dim=-1, keepdim=True)
    choice = kept.argmax(dim=-1)
    return F.one_hot(choice, logits.shape[-1]).to(logits.dtype)


@version("lora", "wrong: kept from the call before", instance=True)
class lora_strength_of_the_first_adapter:
    """One adapter for all modules: α is read once, from the first that comes."""

    def __init__(self):
        self.alpha = None

    def __call__(self, x, weight, down, up, alpha):
        if self.alpha is None:
            self.alpha = alpha
        rank = down.shape[0]
        return F.linear(x, weight) + self.alpha / rank * F.linear(F.linear(x, down), up)


def _oriented(matrix, fan_in_fan_out):
    if fan_in_fan_out:
        return matrix.T
    return matrix


@version("merged_weight", "wrong")
def merged_weight_helper_lacks_an_argument(weight, down, up, alpha):
    rank = down.size(0)
    update = _oriented(up @ down) * (alpha / rank)
    return weight + update


@version("top_p_probabilities", "wrong")
def top_p_probabilities_kept_only_in_a_copy(logits, top_p):
    ordered, index = torch.softmax(logits, dim=-1).sort(dim=-1, descending=True)
    before = ordered.cumsum(dim=-1) - ordered
    kept = ordered.clone()
    kept[before > top_p] = 0.0
    ordered = ordered / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ordered).scatter(-1, index, ordered)


@version("merged_weight", "wrong")
def merged_weight_adds_the_factors(weight, down, up, alpha):
    rank = down.shape[0]
    one_down, one_up = down[:1], up[:, :1]
    for r in range(1, rank):  # one adapter of rank one after the other
        one_down = one_down + down[r : r + 1]
        one_up = one_up + up[:, r : r + 1]
    return weight + (alpha / rank) * (one_up @ one_down)
