"""What people wrote of search who had read the docstrings of the checks alone."""

import heapq
import itertools
import math
import operator

import torch
import torch.nn.functional as F

from tests.checks.corpus import version

# --- next_token -----------------------------------------------------------------------------------


@version("next_token", "right", "max of the selected position", by=(1, 2, 10, 11, 12, 13))
def next_token_1(logits):
    return logits.select(1, logits.size(1) - 1).max(dim=1)[1]


# Looks at the first position.
@version("next_token", "wrong: greedy takes the first position", by=(1, 2, 3))
def next_token_a(logits):
    return logits[:, 0].argmax(-1)


# The likeliest of all positions: (B, T).
@version("next_token", "wrong: likeliest token of every position", by=1)
def next_token_b(logits):
    return logits.argmax(dim=-1)


# argmax along the sentences (axis 0), not along the vocabulary.
@version("next_token", "wrong: largest over the batch", by=(1, 3))
def next_token_c(logits):
    return logits[:, -1].argmax(0)


# The largest logit comes back, not its token.
@version("next_token", "wrong: logit in place of the token", by=1)
def next_token_d(logits):
    return logits[:, -1].max(-1).values


# An axis of length one is left: (B, 1).
@version("next_token", "wrong: an axis of one token left", by=1)
def next_token_e(logits):
    return logits[:, -1:].argmax(-1)


# squeeze() takes the batch axis along when there is one sentence.
@version("next_token", "wrong", by=(1, 2, 5, 8, 10, 11))
def next_token_f(logits):
    return logits[:, -1:, :].argmax(-1).squeeze()


# Tokens 0 to 3 are excluded: <eos> could never be said.
@version("next_token", "wrong", by=(1, 2))
def next_token_g(logits):
    return logits[:, -1, 4:].argmax(-1) + 4


# The last but one position.
@version("next_token", "wrong: last but one position", by=1)
def next_token_h(logits):
    return logits[:, max(logits.shape[1] - 2, 0)].argmax(-1)


# logits[-1] is the last sentence, not the last position.
@version("next_token", "wrong: last sentence in place of last position", by=1)
def next_token_i(logits):
    return logits[-1].argmax(-1)


# Padding is never chosen, though it may be the likeliest token in these logits.
@version("next_token", "wrong", by=5)
def next_token_b_2(logits):
    return logits[:, -1, 1:].argmax(-1) + 1


# argmax over the flattened last two axes, modulo V: the likeliest token of all positions, not of
# the last one (T > 1).
@version("next_token", "wrong", by=(2, 8, 10, 11))
def next_token_a_2(logits):
    return logits.flatten(1).argmax(1) % logits.shape[-1]


# The logits are averaged over the positions before the argmax (T > 1).
@version("next_token", "wrong", by=(8, 12))
def next_token_c_2(logits):
    return torch.einsum("btv->bv", logits).argmax(1)


# `argmax()` without an axis: one place in the flattened tensor for all sentences.
@version("next_token", "wrong", by=10)
def next_token_c_3(logits):
    return logits[:, -1].argmax().repeat(logits.shape[0])


# Padding and `<sos>` can never win: wrong where one of them is the likeliest.
@version("next_token", "wrong", by=11)
def next_token_b_3(logits):
    return logits[:, -1, 2:].argmax(-1) + 2


# argmax without dim: one number for the whole batch (B > 1, and no axis for B = 1).
@version("next_token", "wrong", by=13)
def next_token_b_4(logits):
    return logits[:, -1].argmax()


# --- temperature_probabilities --------------------------------------------------------------------


@version("temperature_probabilities", "right", "the maximum subtracted, by hand", by=1)
def temperature_probabilities_1(logits, temperature):
    z = (logits - logits.amax(-1, keepdim=True)) / temperature
    e = z.exp()
    return e / e.sum(-1, keepdim=True)


@version("temperature_probabilities", "right", "exp of log_softmax", by=(4, 11))
def temperature_probabilities_r1(logits, temperature):
    return F.log_softmax(logits.div(temperature), -1).exp()


@version("temperature_probabilities", "right", "Boltzmann with the maximum taken off first", by=10)
def temperature_r1(logits, temperature):
    z = (logits - logits.amax(-1, keepdim=True).detach()) / temperature
    return torch.exp(z - z.logsumexp(-1, keepdim=True))


@version("temperature_probabilities", "right", "by logsumexp of the divided logits", by=12)
def temperature_r1_2(logits, temperature):
    z = logits / temperature
    return (z - z.logsumexp(-1, keepdim=True)).exp()


# Multiplies by the temperature: hot becomes cold.
@version("temperature_probabilities", "wrong: logits multiplied by the temperature", by=(1, 2, 3))
def temperature_probabilities_a(logits, temperature):
    return torch.softmax(logits * temperature, -1)


# Divides the probabilities, after the softmax; they no longer sum to one.
@version("temperature_probabilities", "wrong: temperature after the softmax", by=(1, 2))
def temperature_probabilities_b(logits, temperature):
    return torch.softmax(logits, -1) / temperature


# exp overflows for a low temperature: inf / inf is nan.
@version(
    "temperature_probabilities", "wrong: exponentials that overflow at a low temperature", by=1
)
def temperature_probabilities_d(logits, temperature):
    e = torch.exp(logits / temperature)
    return e / e.sum(-1, keepdim=True)


# The logarithm of the probabilities comes back.
@version("temperature_probabilities", "wrong: logarithms of the probabilities", by=1)
def temperature_probabilities_e(logits, temperature):
    return torch.log_softmax(logits / temperature, -1)


# Softmax over the whole batch: the rows do not sum to one (right for one row).
@version("temperature_probabilities", "wrong: softmax over the whole batch", by=1)
def temperature_probabilities_g(logits, temperature):
    z = logits / temperature
    e = torch.exp(z - z.max())
    return e / e.sum()


# p^(1/T) normalised, but a small temperature underflows: with T = 0.01 an only moderately likely
# winner gives 0/0 = nan.
@version("temperature_probabilities", "wrong", by=(3, 5, 10))
def temperature_probabilities_c(logits, temperature):
    p = torch.softmax(logits, -1) ** (1 / temperature)
    return p / p.sum(-1, keepdim=True)


# Temperatures below 0.1 are taken as 0.1.
@version("temperature_probabilities", "wrong", by=(5, 6, 10, 11))
def temperature_probabilities_b_2(logits, temperature):
    return (logits / max(temperature, 0.1)).softmax(-1)


# The probabilities are raised to the power 1/τ and not normalised again: they do not sum to one
# unless τ is 1.
@version(
    "temperature_probabilities",
    "wrong: divided by the temperature behind the softmax",
    by=(8, 11, 12, 13),
)
def temperature_probabilities_a_2(logits, temperature):
    return logits.softmax(-1).pow(1 / temperature)


# Below 0.1 it takes a short cut, one-hot of the argmax; nearly equal logits (1.00 and 1.01 at τ =
# 0.05) keep both a chance.
@version("temperature_probabilities", "wrong", by=8)
def temperature_probabilities_c_2(logits, temperature):
    if temperature < 0.1:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype) + 0 * logits
    return F.softmax(logits / temperature, dim=-1)


# p^(1/τ), normalised: the same in theory, but the probabilities underflow to 0 in float32 for
# logits 110 below the highest, which a high temperature (τ = 100) should bring back.
@version("temperature_probabilities", "wrong", by=8)
def temperature_probabilities_d_2(logits, temperature):
    return F.normalize(logits.softmax(-1) ** (1 / temperature), p=1, dim=-1)


# The softmax runs over the sentences.
@version("temperature_probabilities", "wrong: softmax over the sentences", by=10)
def temperature_e(logits, temperature):
    return (logits / temperature).softmax(0)


# Computed under no_grad: no gradient comes back.
@version("temperature_probabilities", "wrong", by=11)
def temperature_probabilities_e_2(logits, temperature):
    with torch.no_grad():
        return torch.softmax(logits / temperature, -1)


# The temperature is raised to at least 0.5 'for stability' (temperature under 0.5).
@version("temperature_probabilities", "wrong", by=13)
def temperature_probabilities_d_3(logits, temperature):
    return (logits / max(temperature, 0.5)).softmax(-1)


# --- top_k_probabilities --------------------------------------------------------------------------


@version(
    "top_k_probabilities",
    "right",
    "softmax of the k, scattered into zeros",
    by=(1, 2, 3, 4, 7, 8, 11, 12, 13),
)
def top_k_probabilities_1(logits, k):
    v, i = torch.topk(logits, k, dim=-1)
    return torch.zeros_like(logits).scatter(-1, i, torch.softmax(v, -1))


@version("top_k_probabilities", "right", "argsort of argsort gives ranks", by=(1, 6))
def top_k_probabilities_2(logits, k):
    rank = logits.argsort(dim=-1, descending=True, stable=True).argsort(dim=-1)
    return torch.softmax(logits.masked_fill(rank >= k, float("-inf")), dim=-1)


@version(
    "top_k_probabilities", "right", "exponentials of the k best alone, scattered into zeros", by=5
)
def top_k_probabilities_r1(logits, k):
    values, places = logits.topk(k, dim=-1)
    e = (values - values[:, :1]).exp()
    return torch.zeros_like(logits).scatter_(-1, places, e / e.sum(-1, keepdim=True))


@version("top_k_probabilities", "right", "softmax of the k best, scattered into zeros", by=10)
def top_k_r1(logits, k):
    values, places = logits.topk(k, dim=-1, sorted=False)
    return torch.zeros_like(logits).scatter(-1, places, values.softmax(-1))


# Everything from the k-th logit up is kept: with ties, more than k tokens.
@version("top_k_probabilities", "right", by=(1, 2, 3), once_open=True)
def top_k_probabilities_b(logits, k):
    smallest = logits.topk(k, dim=-1).values[..., -1:]
    return torch.softmax(logits.masked_fill(logits < smallest, float("-inf")), -1)


# Strictly greater than the k-th: only k − 1 tokens stay.
@version("top_k_probabilities", "wrong", by=1)
def top_k_probabilities_c(logits, k):
    kth = logits.topk(min(k + 1, logits.shape[-1]), dim=-1).values[..., -2:-1]
    return torch.softmax(torch.where(logits > kth, logits, torch.tensor(-1e30)), -1)


# Only the k values come back: (…, k) in place of (…, V), sorted.
@version("top_k_probabilities", "wrong: only the k probabilities returned", by=1)
def top_k_probabilities_e(logits, k):
    return torch.softmax(logits.topk(k, dim=-1).values, -1)


# The k unlikeliest are kept: sorted upwards.
@version("top_k_probabilities", "wrong: least likely k kept", by=1)
def top_k_probabilities_f(logits, k):
    i = logits.argsort(dim=-1)[..., :k]
    z = torch.full_like(logits, float("-inf")).scatter(-1, i, logits.gather(-1, i))
    return torch.softmax(z, -1)


# The logits themselves are divided by their sum; exp is forgotten.
@version("top_k_probabilities", "wrong", by=1)
def top_k_probabilities_g(logits, k):
    v, i = logits.topk(k, dim=-1)
    v = v - v.min() + 1e-3
    return torch.zeros_like(logits).scatter(-1, i, v / v.sum(-1, keepdim=True))


# k + 1 tokens are kept (off by one in the slice).
@version("top_k_probabilities", "wrong: one token too many", by=1)
def top_k_probabilities_h(logits, k):
    i = logits.argsort(dim=-1, descending=True)[..., : k + 1]
    z = torch.full_like(logits, float("-inf")).scatter(-1, i, logits.gather(-1, i))
    return torch.softmax(z, -1)


# The logits of the others are set to 0 instead of −inf: they stay possible, and if all logits are
# negative even likely.
@version("top_k_probabilities", "wrong: dropped logits set to zero", by=(1, 2, 3))
def top_k_probabilities_c_2(logits, k):
    top = logits.topk(k, dim=-1)
    return torch.softmax(torch.zeros_like(logits).scatter(-1, top.indices, top.values), dim=-1)


# Keeps what is larger than the k-th: only k − 1 tokens, and for k = 1 none at all (nan).
@version("top_k_probabilities", "wrong: one token too few", by=2)
def top_k_probabilities_d(logits, k):
    kth = logits.sort(dim=-1, descending=True).values[..., k - 1 : k]
    return torch.softmax(logits.masked_fill(logits <= kth, -torch.inf), dim=-1)


# 'Larger than number k + 1', with the index held inside the vocabulary: where k = V the least
# likely token falls away.
@version("top_k_probabilities", "wrong", by=(4, 11))
def top_k_probabilities_b_2(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    limit = ordered[:, min(k, logits.size(-1) - 1)].unsqueeze(-1)
    return logits.masked_fill(logits <= limit, -torch.inf).softmax(-1)


# The whole batch's k-th largest is the limit of each sentence; right for B = 1.
@version("top_k_probabilities", "wrong", by=4)
def top_k_probabilities_c_3(logits, k):
    limit = logits.flatten().topk(k).values[-1]
    keep = logits >= torch.minimum(limit, logits.amax(-1, keepdim=True))
    return logits.masked_fill(~keep, -torch.inf).softmax(-1)


# The others' logits are set to -100: where the likeliest tokens are below -100 themselves, the
# others win.
@version("top_k_probabilities", "wrong", by=5)
def top_k_probabilities_a(logits, k):
    best = logits.topk(k, -1)
    return torch.full_like(logits, -100.0).scatter(-1, best.indices, best.values).softmax(-1)


# It keeps what is above the (k + 1)-th; with k = V there is none, and it fails.
@version("top_k_probabilities", "wrong", by=5)
def top_k_probabilities_b_3(logits, k):
    bound = logits.sort(-1, descending=True).values[:, k]
    return logits.masked_fill(logits <= bound[:, None], -math.inf).softmax(-1)


# nanoGPT's line writes −∞ into the caller's logits: the argument is changed (k < V).
@version("top_k_probabilities", "wrong", by=(6, 10, 13))
def top_k_probabilities_c_4(logits, k):
    v, _ = torch.topk(logits, min(k, logits.size(-1)))
    logits[logits < v[:, [-1]]] = -float("Inf")
    return F.softmax(logits, dim=-1)


# The threshold is the k-th largest of the whole batch, not of each row: seen for B > 1.
@version("top_k_probabilities", "wrong", by=8)
def top_k_probabilities_a_2(logits, k):
    floor = logits.topk(k, dim=-1).values[:, -1].max()
    best = logits.max(-1, keepdim=True).values
    return logits.masked_fill((logits < floor) & (logits < best), -torch.inf).softmax(-1)


# topk returns sorted values: they are written into the first k columns, not back to their tokens.
@version("top_k_probabilities", "wrong", by=8)
def top_k_probabilities_d_2(logits, k):
    out = torch.zeros_like(logits)
    out[:, :k] = logits.topk(k).values.softmax(-1)
    return out


# Above the (k + 1)-th logit: raises an error where k = V.
@version("top_k_probabilities", "wrong", by=10)
def top_k_d(logits, k):
    s = torch.sort(logits, dim=-1, descending=True).values
    return logits.masked_fill(logits <= s[:, k : k + 1].expand(-1, 1), float("-inf")).softmax(-1)


# The k-th logit of the first sentence is the threshold for all: right for B = 1.
@version("top_k_probabilities", "wrong", by=(6, 7, 10, 11, 12, 13))
def top_k_probabilities_a_3(logits, k):
    limit = logits[0].topk(k).values[-1]
    return torch.softmax(logits.masked_fill(logits < limit, float("-inf")), -1).nan_to_num(0.0)


# --- greedy_search --------------------------------------------------------------------------------


@version("greedy_search", "right", "recursion", by=(1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13))
def greedy_search_1(step, max_length):
    def go(ids):
        if len(ids) > max_length:
            return ids
        t = step(torch.tensor([ids])).argmax(-1).item()
        return ids if t == 2 else go(ids + [t])

    return go([1])[1:]


# <sos> is still in front.
@version("greedy_search", "wrong: <sos> left in", by=1)
def greedy_search_a(step, max_length):
    ids = [1]
    for _ in range(max_length):
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t == 2:
            break
        ids.append(t)
    return ids


# Does not stop at <eos>, only takes it out: what comes after the end stays.
@version("greedy_search", "wrong: never stops at <eos>", by=1)
def greedy_search_f(step, max_length):
    ids = [1]
    for _ in range(max_length):
        ids.append(int(step(torch.tensor([ids]))[0].argmax()))
    return [i for i in ids[1:] if i != 2]


# One token too many: <= lets max_length + 1 through.
@version("greedy_search", "wrong: loop one step too long", by=1)
def greedy_search_g(step, max_length):
    ids = [1]
    while len(ids) - 1 <= max_length:
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t == 2:
            break
        ids.append(t)
    return ids[1:]


# Stops also at <unk> (3), as if it ended the sentence.
@version("greedy_search", "wrong", by=(1, 11))
def greedy_search_h(step, max_length):
    ids = [1]
    for _ in range(max_length):
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t < 4:
            break
        ids.append(t)
    return ids[1:]


# Starts with <eos> (2) in place of <sos> (1).
@version("greedy_search", "wrong: begins with <eos>", by=1)
def greedy_search_i(step, max_length):
    ids = [2]
    for _ in range(max_length):
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t == 2:
            break
        ids.append(t)
    return ids[1:]


# Stops when a token comes twice in a row; a word may be repeated.
@version("greedy_search", "wrong", by=(1, 2, 5, 6, 8, 10, 11))
def greedy_search_j(step, max_length):
    ids = [1]
    for _ in range(max_length):
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t == 2 or t == ids[-1]:
            break
        ids.append(t)
    return ids[1:]


# Two mistakes: <sos> in front, <eos> at the end.
@version("greedy_search", "wrong: <sos> left in + <eos> left in", by=1)
def greedy_search_2a(step, max_length):
    ids = [1]
    while ids[-1] != 2 and len(ids) <= max_length:
        ids.append(int(step(torch.tensor(ids)[None]).argmax()))
    return ids


# The token 0 ends the loop, too (`if not token`), though only <eos> ends a sentence.
@version("greedy_search", "wrong", by=(2, 3))
def greedy_search_c(step, max_length):
    ids = []
    while len(ids) < max_length:
        token = step(torch.tensor([[1] + ids])).argmax(dim=-1).item()
        if not token or token == 2:
            break
        ids.append(token)
    return ids


# The last token is cut off as if it were <eos>, even when the search ended at max_length.
@version("greedy_search", "wrong: last token stripped blindly", by=(1, 2, 3))
def greedy_search_d(step, max_length):
    ids = torch.tensor([[1]])
    for _ in range(max_length):
        ids = torch.cat([ids, step(ids).argmax(-1, keepdim=True)], dim=1)
        if ids[0, -1] == 2:
            break
    return ids[0, 1:-1].tolist()


# The list is a default argument: the second sentence goes on where the first stopped.
@version("greedy_search", "wrong: kept from the call before", by=2)
def greedy_search_f_2(step, max_length, ids=[1]):
    while len(ids) - 1 < max_length:
        token = step(torch.tensor([ids])).argmax(-1).item()
        if token == 2:
            break
        ids.append(token)
    return ids[1:]


# min_length = 1: `<eos>` is forbidden as the first token, so the empty answer is never given.
@version("greedy_search", "wrong", by=(3, 11))
def greedy_search_d_2(step, max_length):
    ids = [1]
    for i in range(max_length):
        logp = step(torch.tensor([ids]))[0].clone()
        if i == 0:
            logp[2] = -math.inf
        token = int(logp.argmax())
        if token == 2:
            break
        ids.append(token)
    return ids[1:]


# All ids below 4 are filtered out as special: an <unk> (3) in the translation is lost.
@version("greedy_search", "wrong", by=(4, 13))
def greedy_search_c_2(step, max_length):
    tokens = [1]
    for _ in range(max_length):
        tokens.append(int(step(torch.tensor([tokens])).argmax()))
        if tokens[-1] == 2:
            break
    return [t for t in tokens if t > 3]


# The list is a default argument: the second call goes on where the first one ended.
@version("greedy_search", "wrong: kept from the call before", by=4)
def greedy_search_d_3(step, max_length, tokens=[1]):
    for _ in range(max_length):
        n = step(torch.tensor([tokens])).argmax(-1).item()
        if n == 2:
            break
        tokens.append(n)
    return [t for t in tokens if t != 1]


# However large max_length is, it stops after 50 tokens.
@version("greedy_search", "wrong", by=5)
def greedy_search_c_3(step, max_length=50):
    tokens = [1]
    for _ in range(min(max_length, 50)):
        new = step(torch.tensor([tokens]))[0].argmax().item()
        if new == 2:
            break
        tokens.append(new)
    return tokens[1:]


# step gets only <sos> and the last token, not all tokens; wrong from the third step on if it
# depends on earlier tokens.
@version("greedy_search", "wrong", by=7)
def greedy_search_b(step, max_length):
    ids = [1]
    while len(ids) <= max_length:
        n = int(
            step(
                torch.tensor([ids[-2:]]) if len(ids) <= 2 else torch.tensor([[1, ids[-1]]])
            ).argmax()
        )
        if n == 2:
            break
        ids.append(n)
    return ids[1:]


# The whole preallocated buffer goes into step, zeros (padding) behind the prefix included, so
# step does not get the ids (1, t) it asks for.
@version("greedy_search", "wrong", by=8)
def greedy_search_d_4(step, max_length):
    buffer = torch.zeros(1, max_length + 1, dtype=torch.long)
    buffer[0, 0] = 1
    for t in range(max_length):
        token = int(step(buffer).argmax(-1))
        if token == 2:
            return buffer[0, 1 : t + 1].tolist()
        buffer[0, t + 1] = token
    return buffer[0, 1:].tolist()


class _Greedy:
    def __init__(self):
        self.tokens = [1]

    def __call__(self, step, max_length):
        for _ in range(max_length):
            n = step(torch.tensor([self.tokens]))[0].argmax().item()
            if n == 2:
                break
            self.tokens.append(n)
        return self.tokens[1:]


# The tokens are kept: the second search begins where the first ended.
version("greedy_search", "wrong: kept from the call before", by=(10, 11))(_Greedy())


# Never more than 20 tokens, whatever max_length says.
@version("greedy_search", "wrong", by=(1, 10))
def greedy_search_e(step, max_length):
    tokens = [1]
    for _ in range(min(max_length, 20)):
        n = step(torch.tensor([tokens]))[0].argmax().item()
        if n == 2:
            break
        tokens.append(n)
    return tokens[1:]


# `<sos>` is shown at the first step only; then step gets the new tokens without it.
@version("greedy_search", "wrong", by=11)
def greedy_search_f_3(step, max_length):
    ids = []
    for _ in range(max_length):
        n = int(step(torch.tensor([ids or [1]])).argmax())
        if n == 2:
            break
        ids.append(n)
    return ids


# Only the last 16 tokens (behind `<sos>`) are shown to step: wrong on long sentences.
@version("greedy_search", "wrong", by=11)
def greedy_search_g_2(step, max_length):
    ids = []
    for _ in range(max_length):
        n = int(step(torch.tensor([[1] + ids[-16:]])).argmax())
        if n == 2:
            break
        ids.append(n)
    return ids


# Stops at <unk> (3), as well as at <eos>.
@version("greedy_search", "wrong", by=12)
def greedy_e(step, max_length):
    ids = [1]
    for _ in range(max_length):
        n = step(torch.tensor([ids])).argmax(-1).item()
        if n in (2, 3):
            break
        ids.append(n)
    return ids[1:]


# Samples (multinomial) in place of taking the likeliest.
@version("greedy_search", "wrong", by=(1, 12))
def greedy_f(step, max_length):
    ids = [1]
    for _ in range(max_length):
        n = torch.multinomial(step(torch.tensor([ids])).exp(), 1).item()
        if n == 2:
            break
        ids.append(n)
    return ids[1:]


# --- beam_search ----------------------------------------------------------------------------------


@version(
    "beam_search",
    "right",
    "heapq.nlargest over tuples, best finished one kept as we go",
    by=(4, 5, 10),
)
def beam_search_r1(step, beam_size, max_length):
    living, best = [(0.0, ())], (-math.inf, ())
    for _ in range(max_length):
        rows = step(torch.tensor([[1, *t] for _, t in living])).double().tolist()
        nxt = heapq.nlargest(
            beam_size,
            ((s + l, (*t, v)) for (s, t), row in zip(living, rows) for v, l in enumerate(row)),
            key=lambda h: h[0],
        )
        best = max([best] + [(s, t[:-1]) for s, t in nxt if t[-1] == 2], key=lambda h: h[0])
        living = [h for h in nxt if h[1][-1] != 2]
        if not living or living[0][0] < best[0]:
            break
    return list(max([best] + living, key=lambda h: h[0])[1])


@version(
    "beam_search",
    "right",
    "heapq.nlargest over a generator, recursion over the steps",
    by=(1, 2, 3, 6, 7, 8, 10, 11, 12, 13),
)
def beam_search_r1_2(step, beam_size, max_length):
    def go(live, left):
        if not live or not left:
            return live
        table = step(torch.tensor([h for _, h in live])).double().tolist()
        every = ((s + p, h + [w]) for (s, h), row in zip(live, table) for w, p in enumerate(row))
        best = heapq.nlargest(beam_size, every, key=operator.itemgetter(0))
        return [b for b in best if b[1][-1] == 2] + go([b for b in best if b[1][-1] != 2], left - 1)

    ids = max(go([(0.0, [1])], max_length), key=operator.itemgetter(0))[1]
    return ids[1:-1] if ids[-1] == 2 else ids[1:]


@version(
    "beam_search",
    "right",
    "the living are filled up to beam_size: what is added lies below a finished one already, and so can never win (log-probabilities are at most 0)",
    by=(1, 10, 11, 13),
)
def beam_search_r2(step, beam_size, max_length):
    beams, done = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([ids for ids, _ in beams])).tolist()
        cands = [
            (ids + [v], s + lp) for (ids, s), row in zip(beams, logp) for v, lp in enumerate(row)
        ]
        cands.sort(key=lambda c: -c[1])
        done += [c for c in cands[:beam_size] if c[0][-1] == 2]
        beams = [c for c in cands if c[0][-1] != 2][:beam_size]
    ids = max(done + beams, key=lambda c: c[1])[0]
    return [t for t in ids[1:] if t != 2]


def _beam(
    step,
    beam_size,
    max_length,
    final=None,
    eos_counts=True,
    stop_first=False,
    shrink=False,
    keep_alive=True,
):
    alive, ended = [([1], 0.0)], []
    size = beam_size
    for _ in range(max_length):
        logp = step(torch.tensor([a for a, _ in alive]))
        cands = []
        for (ids, s), row in zip(alive, logp):
            for v in range(len(row)):
                cands.append((ids + [v], s + float(row[v])))
        cands.sort(key=lambda c: -c[1])
        alive_before = {tuple(i): s for i, s in alive}
        alive = []
        for ids, s in cands[:size]:
            if ids[-1] == 2:
                ended.append((ids, s if eos_counts else alive_before[tuple(ids[:-1])]))
                if shrink:
                    size -= 1
            else:
                alive.append((ids, s))
        if stop_first and ended:
            break
        if not alive:
            break
    pool = ended + (alive if keep_alive else [])
    if not pool:
        pool = alive
    best = max(pool, key=final or (lambda c: c[1]))
    return [i for i in best[0][1:] if i != 2]


# Each finished hypothesis takes a place in the beam for good: the beam gets narrower.
@version("beam_search", "wrong: beam shrinks with each finished hypothesis", by=1)
def beam_search_e(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, shrink=True)


# Greedy search in disguise: the beam size is not used.
@version("beam_search", "wrong: one beam only", by=(1, 3))
def beam_search_g(step, beam_size, max_length):
    ids = [1]
    for _ in range(max_length):
        t = int(step(torch.tensor([ids]))[0].argmax())
        if t == 2:
            break
        ids.append(t)
    return ids[1:]


# Each hypothesis goes on with its own best token only; after the first step nothing competes.
@version("beam_search", "wrong: each hypothesis goes on by its own best token", by=1)
def beam_search_h(step, beam_size, max_length):
    first = step(torch.tensor([[1]]))[0]
    v, i = first.topk(min(beam_size, len(first)))
    alive = [([1, int(t)], float(s)) for s, t in zip(v, i)]
    ended = [a for a in alive if a[0][-1] == 2]
    alive = [a for a in alive if a[0][-1] != 2]
    for _ in range(max_length - 1):
        if not alive:
            break
        logp = step(torch.tensor([a for a, _ in alive]))
        s, t = logp.max(-1)
        nxt = [(ids + [int(tt)], sc + float(ss)) for (ids, sc), ss, tt in zip(alive, s, t)]
        ended += [a for a in nxt if a[0][-1] == 2]
        alive = [a for a in nxt if a[0][-1] != 2]
    best = max(ended + alive, key=lambda c: c[1])
    return [x for x in best[0][1:] if x != 2]


# The scores are forgotten from step to step: only the last token's log-probability ranks.
@version("beam_search", "wrong: only the last token's score", by=(1, 2))
def beam_search_j(step, beam_size, max_length):
    alive, ended = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([a for a, _ in alive]))
        cands = [
            (ids + [v], float(row[v]))
            for (ids, _), row in zip(alive, logp)
            for v in range(len(row))
        ]
        cands = sorted(cands, key=lambda c: c[1], reverse=True)[:beam_size]
        ended += [c for c in cands if c[0][-1] == 2]
        alive = [c for c in cands if c[0][-1] != 2]
        if not alive:
            break
    best = max(ended + alive, key=lambda c: c[1])
    return [x for x in best[0][1:] if x != 2]


# Finished hypotheses are thrown away, not put aside: only those that never end are left.
@version("beam_search", "wrong: <eos> filtered out everywhere", by=1)
def beam_search_l(step, beam_size, max_length):
    alive = [([1], 0.0)]
    for _ in range(max_length):
        logp = step(torch.tensor([a for a, _ in alive]))
        cands = [
            (ids + [v], s + float(row[v]))
            for (ids, s), row in zip(alive, logp)
            for v in range(len(row))
            if v != 2
        ]
        alive = sorted(cands, key=lambda c: -c[1])[:beam_size]
    return alive[0][0][1:]


# The worst is returned at the end: sorted upwards, first taken.
@version("beam_search", "wrong: worst hypothesis chosen", by=1)
def beam_search_m(step, beam_size, max_length):
    return _beam(step, beam_size, max_length, final=lambda c: -c[1])


# <eos> has to beat the whole beam: only if it is the very best candidate is a hypothesis put
# aside, else it is dropped.
@version("beam_search", "wrong", by=1)
def beam_search_n(step, beam_size, max_length):
    alive, ended = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([a for a, _ in alive]))
        cands = [
            (ids + [v], s + float(row[v]))
            for (ids, s), row in zip(alive, logp)
            for v in range(len(row))
        ]
        cands = sorted(cands, key=lambda c: -c[1])[:beam_size]
        if cands[0][0][-1] == 2:
            ended.append(cands[0])
        alive = [c for c in cands if c[0][-1] != 2]
        if not alive:
            break
    best = max(ended + alive, key=lambda c: c[1])
    return [x for x in best[0][1:] if x != 2]


# Two mistakes: finished hypotheses keep growing behind <eos>, and <eos> is filtered out at the
# end.
@version("beam_search", "wrong", by=1)
def beam_search_2a(step, beam_size, max_length):
    beams = [([1], 0.0)]
    for _ in range(max_length):
        logp = step(torch.tensor([b for b, _ in beams]))
        new = [
            (b + [v], s + float(row[v]))
            for (b, s), row in zip(beams, logp)
            for v in range(len(row))
        ]
        beams = sorted(new, key=lambda c: -c[1])[:beam_size]
    return [i for i in beams[0][0][1:] if i != 2]


# Probabilities are added up in place of log-probabilities: long hypotheses gain.
@version("beam_search", "wrong: probabilities added", by=1)
def beam_search_p(step, beam_size, max_length):
    alive, ended = [([1], 0.0)], []
    for _ in range(max_length):
        p = step(torch.tensor([a for a, _ in alive])).exp()
        cands = [
            (ids + [v], s + float(row[v]))
            for (ids, s), row in zip(alive, p)
            for v in range(len(row))
        ]
        cands = sorted(cands, key=lambda c: -c[1])[:beam_size]
        ended += [c for c in cands if c[0][-1] == 2]
        alive = [c for c in cands if c[0][-1] != 2]
        if not alive:
            break
    best = max(ended + alive, key=lambda c: c[1])
    return [x for x in best[0][1:] if x != 2]


# The last step is skipped when something has finished: a hypothesis of exactly max_length tokens
# then cannot win.
@version("beam_search", "wrong", by=1)
def beam_search_q(step, beam_size, max_length):
    alive, ended = [([1], 0.0)], []
    for n in range(max_length):
        if ended and n == max_length - 1:
            alive = []
            break
        logp = step(torch.tensor([a for a, _ in alive]))
        cands = [
            (ids + [v], s + float(row[v]))
            for (ids, s), row in zip(alive, logp)
            for v in range(len(row))
        ]
        cands = sorted(cands, key=lambda c: -c[1])[:beam_size]
        ended += [c for c in cands if c[0][-1] == 2]
        alive = [c for c in cands if c[0][-1] != 2]
        if not alive:
            break
    best = max(ended + alive, key=lambda c: c[1])
    return [x for x in best[0][1:] if x != 2]


def _grow(step, living):
    """All continuations of the living hypotheses: (score, ids), best first."""
    logp = step(torch.tensor([[1] + ids for _, ids in living]))
    new = [
        (score + logp[i, t].item(), ids + [t])
        for i, (score, ids) in enumerate(living)
        for t in range(logp.shape[1])
    ]
    return sorted(new, key=lambda h: -h[0])


# The score is divided by the length; asked is the sum of log-probabilities.
@version("beam_search", "wrong: normalised by length", by=(1, 2))
def beam_search_b(step, beam_size, max_length):
    living, finished = [(0.0, [])], []
    for _ in range(max_length):
        best = _grow(step, living)[:beam_size]
        finished += [h for h in best if h[1][-1] == 2]
        living = [h for h in best if h[1][-1] != 2]
        if not living:
            break
    score, ids = max(finished + living, key=lambda h: h[0] / len(h[1]))
    return [t for t in ids if t != 2]


# Stops as soon as beam_size hypotheses are finished, while a living one is still better and could
# win.
@version("beam_search", "wrong", by=(2, 5, 10))
def beam_search_f(step, beam_size, max_length):
    living, finished = [(0.0, [])], []
    for _ in range(max_length):
        best = _grow(step, living)[:beam_size]
        finished += [h for h in best if h[1][-1] == 2]
        living = [h for h in best if h[1][-1] != 2]
        if not living or len(finished) >= beam_size:
            break
    ids = max(finished if len(finished) >= beam_size else finished + living, key=lambda h: h[0])[1]
    return ids[:-1] if ids[-1] == 2 else ids


# The <sos> counts towards max_length, so that the hypotheses are cut one token early.
@version("beam_search", "wrong: beam search one step too short", by=(1, 2))
def beam_search_g_2(step, beam_size, max_length):
    living, finished = [(0.0, [])], []
    while living and 1 + len(living[0][1]) < max_length:
        best = _grow(step, living)[:beam_size]
        finished += [h for h in best if h[1][-1] == 2]
        living = [h for h in best if h[1][-1] != 2]
    ids = max(finished + living, key=lambda h: h[0])[1]
    return ids[:-1] if ids and ids[-1] == 2 else ids


def _beam_2(step, beam_size, max_length, key):
    living, finished = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([h for h, _ in living])).double()
        new = [
            (h + [t], s + float(logp[i, t]))
            for i, (h, s) in enumerate(living)
            for t in range(logp.size(1))
        ]
        new.sort(key=lambda c: -c[1])
        living = []
        for h, s in new[:beam_size]:
            (finished if h[-1] == 2 else living).append((h, s))
        if not living:
            break
    best = max(finished + living, key=lambda c: key(c[1], len(c[0]) - 1))
    return [t for t in best[0][1:] if t != 2]


# GNMT's length penalty ((5 + n)/6)^0.6 is used for the ranking at the end; asked is the plain sum
# of log-probabilities.
@version("beam_search", "wrong", by=3)
def beam_search_a(step, beam_size, max_length):
    return _beam_2(step, beam_size, max_length, key=lambda s, n: s / ((5 + n) / 6) ** 0.6)


# Early stopping: the best hypothesis finished by the first step at which one ends is returned,
# though a living one may become likelier than it.
@version("beam_search", "wrong: stops at the first finished hypothesis", by=(1, 2, 3))
def beam_search_b_2(step, beam_size, max_length):
    living = [([1], 0.0)]
    for _ in range(max_length):
        logp = step(torch.tensor([h for h, _ in living])).double()
        new = [
            (h + [t], s + float(logp[i, t]))
            for i, (h, s) in enumerate(living)
            for t in range(logp.size(1))
        ]
        new = sorted(new, key=lambda c: -c[1])[:beam_size]
        ended = [h for h, _ in new if h[-1] == 2]
        if ended:
            return ended[0][1:-1]
        living = new
    return living[0][0][1:]


# fairseq's 2·beam: finished hypotheses do not use up a place of the beam, so more continuations
# live than beam_size allows.
@version("beam_search", "wrong", by=3)
def beam_search_d(step, beam_size, max_length):
    living, finished = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([h for h, _ in living]))
        total = (torch.tensor([s for _, s in living])[:, None] + logp).flatten()
        v = logp.size(1)
        values, places = total.topk(min(2 * beam_size, total.numel()))
        alive = []
        for value, place in zip(values.tolist(), places.tolist()):
            h = living[place // v][0] + [place % v]
            if h[-1] == 2:
                finished.append((h, value))
            elif len(alive) < beam_size:
                alive.append((h, value))
        living = alive
        if not living:
            break
    best = max(finished + living, key=lambda c: c[1])[0]
    return [t for t in best if t not in (1, 2)]


# Only finished hypotheses may win; one that reaches max_length alive is forgotten though it
# counts as it is.
@version("beam_search", "wrong: hypotheses cut off at the limit not counted", by=(1, 2, 3))
def beam_search_f_2(step, beam_size, max_length):
    living, finished = [([1], 0.0)], []
    for _ in range(max_length):
        logp = step(torch.tensor([h for h, _ in living]))
        new = [
            (h + [t], s + logp[i, t].item())
            for i, (h, s) in enumerate(living)
            for t in range(logp.size(1))
        ]
        new = sorted(new, key=lambda c: c[1], reverse=True)[:beam_size]
        finished += [c for c in new if c[0][-1] == 2]
        living = [c for c in new if c[0][-1] != 2]
        if not living:
            break
    pool = finished or living
    return [t for t in max(pool, key=lambda c: c[1])[0][1:] if t != 2]


# Sums kept in float16: long hypotheses with nearly equal sums are rounded to ties, and the wrong
# one wins.
@version("beam_search", "wrong", by=3)
def beam_search_h_2(step, beam_size, max_length):
    ids, scores, finished = torch.tensor([[1]]), torch.zeros(1, dtype=torch.float16), []
    for _ in range(max_length):
        logp = step(ids).half()
        v = logp.size(1)
        total = (scores[:, None] + logp).flatten()
        scores, places = total.topk(min(beam_size, total.numel()))
        ids = torch.cat([ids[places // v], (places % v)[:, None]], 1)
        ended = ids[:, -1] == 2
        finished += list(zip(scores[ended].tolist(), ids[ended].tolist()))
        ids, scores = ids[~ended], scores[~ended]
        if not len(ids):
            break
    finished += list(zip(scores.tolist(), ids.tolist()))
    return [t for t in max(finished, key=lambda c: c[0])[1][1:] if t != 2]


def _beam_3(
    step,
    beam_size,
    max_length,
    eos_score=True,
    rank=lambda s, n: s,
    stop=None,
    steps=None,
    unfinished=True,
    free=False,
    copies=1,
):
    living, done = [(0.0, [1])] * copies, []
    for _ in range(max_length if steps is None else steps):
        lp = step(torch.tensor([t for _, t in living])).tolist()
        everything = [
            (s + l, t + [v]) for (s, t), row in zip(living, lp) for v, l in enumerate(row)
        ]
        everything.sort(key=lambda h: -h[0])
        if free:
            done += [h for h in everything if h[1][-1] == 2][:beam_size]
            living = [h for h in everything if h[1][-1] != 2][:beam_size]
        else:
            kept = everything[:beam_size]
            if eos_score:
                done += [h for h in kept if h[1][-1] == 2]
            else:
                before = {tuple(t): s for s, t in living}
                done += [(before[tuple(t[:-1])], t) for s, t in kept if t[-1] == 2]
            living = [h for h in kept if h[1][-1] != 2]
        if not living or (stop and stop(done)):
            break
    pool = done + living if unfinished or not done else done
    best = max(pool, key=lambda h: rank(h[0], len(h[1]) - 1))[1][1:]
    return best[:-1] if best and best[-1] == 2 else best


# Stops at the first finished hypothesis: a likelier one that ends later is not found.
@version("beam_search", "wrong", by=4)
def beam_search_b_3(step, beam_size, max_length):
    return _beam_3(step, beam_size, max_length, stop=lambda done: len(done) > 0)


# topk(beam_size) over the continuations: fails at the first step when beam_size is larger than
# the vocabulary.
@version("beam_search", "right", by=(4, 5), once_open=True)
def beam_search_h_3(step, beam_size, max_length):
    tokens, scores, best = torch.tensor([[1]]), torch.zeros(1), (-math.inf, [])
    for _ in range(max_length):
        total = scores[:, None] + step(tokens)
        V = total.size(1)
        scores, flat = total.flatten().topk(beam_size)
        tokens = torch.cat([tokens[flat // V], (flat % V)[:, None]], 1)
        end = tokens[:, -1] == 2
        for s, t in zip(scores[end].tolist(), tokens[end].tolist()):
            best = max(best, (s, t[1:-1]))
        tokens, scores = tokens[~end], scores[~end]
        if len(tokens) == 0:
            return best[1]
    return max([best] + [(s, t[1:]) for s, t in zip(scores.tolist(), tokens.tolist())])[1]


# The log-probability of <eos> is not added to a finished hypothesis, so ending is free of charge
# when the hypotheses are compared at last.
@version(
    "beam_search",
    "wrong: finished hypotheses scored without their <eos>",
    by=(1, 2, 3, 4, 5, 6, 8, 10),
)
def beam_search_d_2(step, beam_size, max_length):
    live, finished = [(0.0, [1])], []
    for _ in range(max_length):
        if not live:
            break
        logp = step(torch.tensor([h for _, h in live]))
        total = logp + torch.tensor([s for s, _ in live])[:, None]
        val, idx = total.flatten().topk(min(beam_size, total.numel()))
        new = []
        for s, i in zip(val.tolist(), idx.tolist()):
            parent, tok = divmod(i, logp.size(1))
            if tok == 2:
                finished.append((live[parent][0], live[parent][1]))
            else:
                new.append((s, live[parent][1] + [tok]))
        live = new
    return max(finished + live, key=lambda t: t[0])[1][1:]


def _beam_4(step, beam_size, max_length, last=False, mean=False, mixup=False, drop=False):
    alive, done = [([1], 0.0)], []
    for n in range(max_length):
        lp = step(torch.tensor([a for a, _ in alive]))
        V = lp.shape[1]
        if mean:
            score = lp
        else:
            score = lp + torch.tensor([s for _, s in alive], dtype=lp.dtype)[:, None]
        v, i = score.flatten().topk(min(beam_size, score.numel()))
        new = []
        for s, j in zip(v.tolist(), i.tolist()):
            r, tok = (j % len(alive), j // len(alive)) if mixup else (j // V, j % V)
            tok = min(tok, V - 1)
            h = (alive[r][0] + [tok], s)
            (done if tok == 2 else new).append(h)
        alive = new
        if last and done:
            break
        if not alive:
            break
    pool = done if (drop and done) else done + alive
    best = max(pool, key=lambda h: h[1])[0][1:]
    return best[:-1] if best and best[-1] == 2 else best


# The scores are not added up: hypotheses are ranked by the last token's log-probability alone.
@version("beam_search", "wrong", by=7)
def beam_search_b_4(step, beam_size, max_length):
    return _beam_4(step, beam_size, max_length, mean=True)


# j // n and j % n are taken with the number of beams in place of V: hypothesis and token are
# mixed up, from the second step on.
@version("beam_search", "wrong", by=7)
def beam_search_c(step, beam_size, max_length):
    return _beam_4(step, beam_size, max_length, mixup=True)


def _beam_5(
    step,
    beam_size,
    max_length,
    rank=None,
    stop_first=False,
    per_row=False,
    no_unfinished=False,
    drop_eos=False,
):
    tokens, sums, done = torch.ones(1, 1, dtype=torch.long), torch.zeros(1), []
    width = beam_size
    for t in range(max_length):
        logp = step(tokens)
        V = logp.shape[-1]
        if per_row and t > 0:
            k = max(1, width // len(tokens))
            top = logp.topk(k, -1)
            cand = (sums[:, None] + top.values).flatten()
            rows = torch.arange(len(tokens)).repeat_interleave(k)
            ids = top.indices.flatten()
        else:
            flat = (sums[:, None] + logp).flatten()
            cand, index = flat.topk(min(width, len(flat)))
            rows, ids = index // V, index % V
        grown = torch.cat((tokens[rows], ids[:, None]), 1)
        end = ids == 2
        for row, s, before in zip(grown[end], cand[end], sums[rows[end]]):
            done.append((float(before if drop_eos else s), row[1:-1].tolist()))
        if stop_first and done:
            break
        tokens, sums = grown[~end], cand[~end]
        if len(tokens) == 0:
            break
    if not (no_unfinished and done):
        done += [(float(s), row[1:].tolist()) for s, row in zip(sums, tokens)]
    key = rank or (lambda pair: pair[0])
    return max(done, key=key)[1] if done else []


# Early exit: it stops at the first finished hypothesis, though a living one may end with a higher
# sum.
@version("beam_search", "wrong", by=8)
def beam_search_b_5(step, beam_size, max_length):
    return _beam_5(step, beam_size, max_length, stop_first=True)


# The search is given up when the best living sum is less than 0.7 above the best finished one
# ('it will still lose that much'); a living hypothesis may end with nearly certain tokens. Right
# is only the bound by the best finished sum itself.
@version("beam_search", "wrong", by=8)
def beam_search_g_3(step, beam_size, max_length):
    tokens, sums, done = torch.ones(1, 1, dtype=torch.long), torch.zeros(1), []
    for _ in range(max_length):
        logp = step(tokens)
        V = logp.shape[-1]
        total = (sums[:, None] + logp).flatten()
        sums, index = total.topk(min(beam_size, total.numel()))
        tokens = torch.cat((tokens[index // V], (index % V)[:, None]), 1)
        end = tokens[:, -1] == 2
        done += [(float(s), r[1:-1].tolist()) for s, r in zip(sums[end], tokens[end])]
        tokens, sums = tokens[~end], sums[~end]
        if len(tokens) == 0:
            break
        if done and float(sums.max()) - 0.7 < max(d[0] for d in done):
            tokens = tokens[:0]
            break
    if len(tokens):
        done += [(float(s), r[1:].tolist()) for s, r in zip(sums, tokens)]
    return max(done)[1] if done else []


# The finished hypotheses stay in the beam and are told apart by their last token only; they are
# continued with <pad> for free once, and after that the pad no longer says 'finished': they go on
# speaking.
@version("beam_search", "wrong", by=8)
def beam_search_h_4(step, beam_size, max_length):
    tokens, sums = torch.ones(1, 1, dtype=torch.long), torch.zeros(1)
    for _ in range(max_length):
        logp = step(tokens).clone()
        V = logp.shape[-1]
        ended = tokens[:, -1] == 2
        logp[ended] = -torch.inf
        logp[ended, 0] = 0.0
        total = (sums[:, None] + logp).flatten()
        sums, index = total.topk(min(beam_size, total.numel()))
        tokens = torch.cat((tokens[index // V], (index % V)[:, None]), 1)
        if (tokens == 2).any(1).all():
            break
    row = tokens[sums.argmax(), 1:].tolist()
    return [t for t in row if t not in (0, 2)]


def _beam_6(
    step,
    beam_size,
    max_length,
    *,
    shrink=False,
    first=False,
    eos=True,
    norm=0.0,
    only_finished=False,
    per_beam=None,
    enough=None,
    last_only=False,
    living_first=False,
):
    living, finished = [([1], 0.0)], []
    for _ in range(max_length):
        if not living:
            break
        logp = step(torch.tensor([ids for ids, _ in living]))
        new = []
        for (ids, s), row in zip(living, logp.tolist()):
            pairs = sorted(enumerate(row), key=lambda c: -c[1])[:per_beam]
            for v, l in pairs:
                add = 0.0 if (v == 2 and not eos) else l
                new.append((ids + [v], add if last_only else s + add))
        new.sort(key=lambda h: -h[1])
        width = beam_size - len(finished) if shrink else beam_size
        best = new[: max(width, 0)]
        finished += [h for h in best if h[0][-1] == 2]
        living = [h for h in best if h[0][-1] != 2]
        if first and finished:
            living = []
        if enough and len(finished) >= enough:
            living = []
    if living_first and living:
        pool = living
    elif only_finished and finished:
        pool = finished
    else:
        pool = finished + living
    ids = max(pool, key=lambda h: h[1] / (len(h[0]) - 1) ** norm)[0][1:]
    return ids[:-1] if ids and ids[-1] == 2 else ids


# The log-probability of `<eos>` is not added.
@version("beam_search", "wrong: <eos> free of charge", by=11)
def beam_search_d_3(step, beam_size, max_length):
    return _beam_6(step, beam_size, max_length, eos=False)


# Of each hypothesis at most the best two continuations are looked at: wrong for a beam of three
# and more, at the first step already.
@version("beam_search", "wrong", by=11)
def beam_search_g_4(step, beam_size, max_length):
    return _beam_6(step, beam_size, max_length, per_beam=2)


# If anything is still alive at max_length the finished ones are forgotten.
@version("beam_search", "wrong: finished hypotheses forgotten", by=11)
def beam_search_j_2(step, beam_size, max_length):
    return _beam_6(step, beam_size, max_length, living_first=True)


# Padding within a hypothesis is taken out of the answer: wrong where a token 0 is part of the
# likeliest one.
@version("beam_search", "wrong", by=11)
def beam_search_k(step, beam_size, max_length):
    return [t for t in _beam_6(step, beam_size, max_length) if t != 0]


# Finished ones do not take a place in the beam: beam_size living ones are kept beside them, a
# wider search than the sheet describes.
@version("beam_search", "wrong", by=(5, 12))
def beam_c(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        lp = step(torch.tensor([t for t, _ in alive]))
        cand = []
        for i, (t, s) in enumerate(alive):
            for v in range(lp.size(1)):
                item = (t + [v], s + lp[i, v].item())
                (done if v == 2 else cand).append(item)
        alive = sorted(cand, key=lambda c: c[1], reverse=True)[:beam_size]
    best = max(done + alive, key=lambda c: c[1])[0][1:]
    return best[:-1] if best[-1] == 2 else best


# The beams are divided with // beam_size and not // V: the flat index is taken apart wrongly as
# soon as beam_size differs from V.
@version("beam_search", "wrong", by=(1, 8, 12))
def beam_g(step, beam_size, max_length):
    tokens, scores, done = torch.ones(1, 1, dtype=torch.long), torch.zeros(1), []
    for _ in range(max_length):
        lp = step(tokens)
        V = lp.size(1)
        flat = (scores[:, None] + lp).flatten()
        scores, idx = flat.topk(min(beam_size, flat.numel()))
        rows = (idx // beam_size).clamp(max=tokens.size(0) - 1)
        tokens = torch.cat([tokens[rows], (idx % V)[:, None]], 1)
        end = tokens[:, -1] == 2
        done += [(s, t) for s, t in zip(scores[end].tolist(), tokens[end, 1:-1].tolist())]
        tokens, scores = tokens[~end], scores[~end]
        if len(tokens) == 0:
            break
    done += [(s, t) for s, t in zip(scores.tolist(), tokens[:, 1:].tolist())]
    return max(done)[1]


PAD, SOS, EOS, UNK = 0, 1, 2, 3


# Beam and token are taken from the flat index with the wrong divisor: `// beam_size` in place of
# `// V` (beam_size of 2 and more).
@version("beam_search", "wrong", by=13)
def beam_search_g_5(step, beam_size, max_length):
    tokens, scores = torch.tensor([[SOS]]), torch.zeros(1)
    best, best_score = [], -math.inf
    for _ in range(max_length):
        total = scores[:, None] + step(tokens)
        v = total.shape[1]
        scores, flat = total.flatten().topk(beam_size)
        rows = (flat // beam_size) % tokens.shape[0]
        tokens = torch.cat((tokens[rows], (flat % v)[:, None]), dim=1)
        ended = tokens[:, -1] == EOS
        for ids, s in zip(tokens[ended].tolist(), scores[ended].tolist()):
            if s > best_score:
                best, best_score = ids[1:-1], s
        tokens, scores = tokens[~ended], scores[~ended]
        if len(tokens) == 0:
            break
    for ids, s in zip(tokens.tolist(), scores.tolist()):
        if s > best_score:
            best, best_score = ids[1:], s
    return best


# --- embed_next -----------------------------------------------------------------------------------


@version("embed_next", "right", "F.embedding and narrow", by=(1, 2, 3, 4, 5, 6, 10, 11, 12, 13))
def embed_next_r1(tokens, past, weight, table):
    return F.embedding(tokens, weight) + table.narrow(0, int(past), tokens.size(1)).unsqueeze(0)


# The positions begin at 0 again: `past` is not used.
@version("embed_next", "wrong: every decoded token at position 0", by=(1, 2, 3))
def embed_next_a(tokens, past, weight, table):
    return weight[tokens] + table[: tokens.shape[1]]


# All new tokens get the row `past`: right for one new token only.
@version("embed_next", "wrong: row of the first new token for all", by=(1, 2, 3))
def embed_next_b(tokens, past, weight, table):
    return weight[tokens] + table[past]


# One row too early: past − 1, as if `past` were the last place.
@version("embed_next", "wrong: new tokens at the position of the last one", by=1)
def embed_next_d(tokens, past, weight, table):
    pos = (torch.arange(tokens.shape[1]) + past - 1).clamp(min=0)
    return weight[tokens] + table[pos]


# The last rows of the table in place of those behind `past`.
@version("embed_next", "wrong: last rows of the table for the new tokens", by=1)
def embed_next_e(tokens, past, weight, table):
    return weight[tokens] + table[-tokens.shape[1] :]


# The positions are forgotten.
@version("embed_next", "wrong: positions of the new tokens forgotten", by=1)
def embed_next_f(tokens, past, weight, table):
    return weight[tokens]


# past is multiplied by the number of new tokens: as if each call had brought equally many.
@version("embed_next", "wrong", by=1)
def embed_next_g(tokens, past, weight, table):
    t = tokens.shape[1]
    return weight[tokens] + table[[(past * t + i) % len(table) for i in range(t)]]


# One position too far: past tokens stand at 0 … past − 1, the first new one at `past`.
@version("embed_next", "wrong", by=(1, 2, 3, 6, 12))
def embed_next_c(tokens, past, weight, table):
    positions = torch.arange(1, tokens.shape[1] + 1) + past
    return F.embedding(tokens, weight) + table[positions.clamp(max=len(table) - 1)]


# Only the last new token is embedded (right for t = 1).
@version("embed_next", "wrong", by=(2, 10))
def embed_next_d_2(tokens, past, weight, table):
    return weight[tokens[:, -1:]] + table[past + tokens.shape[1] - 1]


# The last rows are counted from the end of what stands in the cache: `past or 1`, so that the
# very first token, with an empty cache, gets position 1.
@version("embed_next", "wrong", by=(5, 11))
def embed_next_b_2(tokens, past, weight, table):
    past = past or 1
    return weight[tokens] + table[past : past + tokens.shape[1]]


# Scaled by the root of D.
@version("embed_next", "wrong: embedding of the new tokens scaled", by=(10, 11, 12, 13))
def embed_next_c_2(tokens, past, weight, table):
    return weight[tokens] * weight.shape[1] ** 0.5 + table[past : past + tokens.shape[1]]


# One position too far where there is a cache.
@version("embed_next", "wrong", by=10)
def embed_next_d_3(tokens, past, weight, table):
    start = past + 1 if past else 0
    rows = (torch.arange(tokens.shape[1]) + start).clamp(max=len(table) - 1)
    return weight[tokens] + table[rows]


# padding_idx=0: the values are right, but row 0 of the embedding gets no gradient when token 0 is
# among the new ones.
@version("embed_next", "wrong", by=11)
def embed_next_e_2(tokens, past, weight, table):
    return F.embedding(tokens, weight, padding_idx=0) + table.narrow(0, past, tokens.shape[1])


# Off by one: the first new token gets row past + 1.
@version("embed_next", "wrong: new tokens one position too late", by=13)
def embed_next_c_3(tokens, past, weight, table):
    return weight[tokens] + table[past + 1 : past + 1 + tokens.size(1)]


# --- reorder_cache --------------------------------------------------------------------------------


@version(
    "reorder_cache", "right", "row by row, stacked", by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13)
)
def reorder_cache_r1(cache, rows):
    return [tuple(torch.stack([part[int(r)] for r in rows]) for part in layer) for layer in cache]


# The rows of the heads (axis 1) are reordered, not those of the beams.
@version("reorder_cache", "wrong", by=(1, 8))
def reorder_cache_a(cache, rows):
    r = torch.as_tensor(rows)
    return [(k[:, r % k.shape[1]], v[:, r % v.shape[1]]) for k, v in cache]


# Written in place, row by row: a row that was overwritten is read later.
@version(
    "reorder_cache", "wrong: cache overwritten while it is read", by=(1, 3, 4, 5, 6, 7, 10, 11, 12)
)
def reorder_cache_d(cache, rows):
    out = []
    for k, v in cache:
        k, v = k.clone(), v.clone()
        for i, r in enumerate(rows):
            k[i], v[i] = k[int(r)], v[int(r)]
        out.append((k, v))
    return out


# Rows are sorted first: the order of the beams is lost.
@version("reorder_cache", "wrong: rows sorted before the cache is taken", by=1)
def reorder_cache_f(cache, rows):
    r = torch.as_tensor(rows).sort().values
    return [(k[r], v[r]) for k, v in cache]


# Each row is taken once only (unique): a beam that is continued twice is missing.
@version("reorder_cache", "wrong", by=(1, 2))
def reorder_cache_g(cache, rows):
    r = list(dict.fromkeys(int(i) for i in rows))
    return [(k[r], v[r]) for k, v in cache]


# The layers are reordered by the rows, too.
@version("reorder_cache", "wrong", by=1)
def reorder_cache_h(cache, rows):
    r = [int(i) for i in rows]
    n = len(cache)
    return [(cache[r[i % len(r)] % n][0][r], cache[r[i % len(r)] % n][1][r]) for i in range(n)]


# Written in place, row by row: a row that was overwritten already is read again (rows = [1, 0]).
@version("reorder_cache", "wrong: cache overwritten while it is read", by=(2, 8, 13))
def reorder_cache_a_2(cache, rows):
    for keys, values in cache:
        for i, row in enumerate(rows):
            keys[i] = keys[row]
            values[i] = values[row]
    return cache


# Only the keys are reordered, the values stay with their old beams.
@version("reorder_cache", "wrong: only the keys reordered", by=(1, 2, 3))
def reorder_cache_a_3(cache, rows):
    return [(k.index_select(0, torch.as_tensor(rows)), v) for k, v in cache]


# The wrong way round: row i goes to rows[i] in place of coming from there; equal for a mere
# exchange of two.
@version(
    "reorder_cache", "wrong: cache scattered in place of gathered", by=(1, 2, 3, 4, 7, 11, 12, 13)
)
def reorder_cache_b(cache, rows):
    out = []
    for k, v in cache:
        k2, v2 = k.clone(), v.clone()
        k2[rows], v2[rows] = k, v
        out.append((k2, v2))
    return out


# index_copy puts row i at rows[i] (scatter), which is the inverse: right for exchanges of two,
# wrong for a rotation of three or when a beam has two children.
@version("reorder_cache", "wrong: cache scattered into zeros", by=(5, 6, 8, 10))
def reorder_cache_b_2(cache, rows):
    rows = torch.as_tensor(rows)
    return [
        (torch.zeros_like(k).index_copy(0, rows, k), torch.zeros_like(v).index_copy(0, rows, v))
        for k, v in cache
    ]


# An early exit: if rows, sorted, are 0 … N − 1 nothing is moved, as 'no beam died'; a pure
# exchange [1, 0] is missed.
@version("reorder_cache", "wrong", by=8)
def reorder_cache_d_2(cache, rows):
    rows = torch.as_tensor(rows)
    if torch.equal(rows.sort().values, torch.arange(len(rows))):
        return [(k, v) for k, v in cache]
    return [(k[rows], v[rows]) for k, v in cache]


# Only the last layer is reordered: right for one layer.
@version("reorder_cache", "wrong", by=(11, 13))
def reorder_cache_d_3(cache, rows):
    idx = torch.as_tensor(rows)
    *front, (k, v) = cache
    return front + [(k[idx], v[idx])]


# The heads (axis 1) are reordered, not the beams; an error when a row number exceeds the heads.
@version("reorder_cache", "wrong", by=12)
def reorder_cache_d_4(cache, rows):
    return [(k[:, rows], v[:, rows]) for k, v in cache]


# --- greedy_batch ---------------------------------------------------------------------------------


@version(
    "greedy_batch",
    "right",
    "lists; every living sentence gets a token",
    by=(1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 13),
)
def greedy_batch_2(step, n_sentences, max_length):
    rows = [[1] for _ in range(n_sentences)]
    for _ in range(max_length):
        if all(2 in r for r in rows):
            break
        best = step(torch.tensor(rows)).argmax(-1).tolist()
        rows = [r + [0 if 2 in r else t] for r, t in zip(rows, best)]
    return torch.tensor([r[1:] for r in rows], dtype=torch.long)


# <eos> is overwritten with padding, too: `done` is set before the token is masked.
@version("greedy_batch", "wrong: <eos> overwritten with padding", by=1)
def greedy_batch_e(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        t = step(tokens).argmax(-1)
        done = done | (t == 2)
        t = torch.where(done, 0, t)
        tokens = torch.cat([tokens, t[:, None]], 1)
        if done.all():
            break
    return tokens[:, 1:]


# <sos> is left in front.
@version("greedy_batch", "wrong: <sos> left in front of the batch", by=1)
def greedy_batch_f(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        t = step(tokens).argmax(-1).masked_fill(done, 0)
        tokens = torch.cat([tokens, t[:, None]], 1)
        done = done | (t == 2)
        if done.all():
            break
    return tokens


# <sos> counts towards max_length: a token is lost where sentences do not end.
@version("greedy_batch", "wrong: batch one step too short", by=1)
def greedy_batch_g(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    while tokens.shape[1] < max_length and not done.all():
        t = step(tokens).argmax(-1).masked_fill(done, 0)
        tokens = torch.cat([tokens, t[:, None]], 1)
        done = done | (t == 2)
    return tokens[:, 1:]


# The token of the first sentence is given to all: argmax()[0].
@version("greedy_batch", "wrong: token of the first sentence for all", by=1)
def greedy_batch_i(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        t = int(step(tokens)[0].argmax())
        tokens = torch.cat([tokens, torch.full((n_sentences, 1), t)], 1)
        if t == 2:
            break
    return tokens[:, 1:]


# Stops as soon as one sentence has ended.
@version("greedy_batch", "wrong: all rows stop with the first", by=(1, 2, 3))
def greedy_batch_a(step, n_sentences, max_length):
    ids = torch.full((n_sentences, 1), 1)
    for _ in range(max_length):
        token = step(ids).argmax(-1)
        ids = torch.cat([ids, token[:, None]], 1)
        if (token == 2).any():
            break
    return ids[:, 1:]


# All must say <eos> at the same step for it to stop; what a finished sentence says afterwards
# stays instead of padding.
@version("greedy_batch", "wrong: finished rows still growing + finished rows wake up again", by=2)
def greedy_batch_b(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        token = step(ids).argmax(-1)
        ids = torch.cat([ids, token.unsqueeze(1)], 1)
        if (token == 2).all():
            break
    return ids[:, 1:]


# `finished` is only the last token == <eos>: after one padding a finished sentence comes alive
# again.
@version("greedy_batch", "wrong: finished rows wake up again", by=(1, 2, 3))
def greedy_batch_b_2(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        last = ids[:, -1]
        if bool((last == 2).all()):
            break
        new = torch.where(last == 2, torch.zeros_like(last), step(ids).argmax(-1))
        ids = torch.cat([ids, new[:, None]], dim=1)
    return ids[:, 1:]


# A produced padding token counts as 'finished' (`ids == 0` is asked for the state): a sentence
# that says 0 without having ended stops.
@version("greedy_batch", "wrong", by=(2, 3))
def greedy_batch_d(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        done = (ids == 2).any(1) | (ids == 0).any(1)
        if done.all():
            break
        new = step(ids).argmax(-1) * ~done
        ids = torch.cat([ids, new[:, None]], 1)
    return ids[:, 1:]


# Two: <eos> is replaced by padding at once, and so nobody is ever noticed to be finished: the
# rows are always max_length long.
@version("greedy_batch", "wrong", by=3)
def greedy_batch_two(step, n_sentences, max_length):
    ids = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        new = step(ids).argmax(-1)
        new = torch.where(new == 2, torch.zeros_like(new), new)
        ids = torch.cat([ids, new[:, None]], 1)
        if (new == 2).all():
            break
    return ids[:, 1:]


# Finished sentences are filled with <eos> (a convention), but then all <eos> are counted: two of
# one sentence end the search while another goes on.
@version("greedy_batch", "wrong", by=5)
def greedy_batch_a_2(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        new = step(tokens).argmax(-1)
        new[(tokens == 2).any(1)] = 2
        tokens = torch.cat([tokens, new[:, None]], 1)
        if (tokens == 2).sum() >= n_sentences:
            break
    return tokens[:, 1:]


# Whether a sentence is finished is read off its last token only; two steps after <eos> the last
# token is padding and it comes alive again.
@version("greedy_batch", "wrong", by=(6, 13))
def greedy_batch_b_3(step, n_sentences, max_length):
    out = torch.full((n_sentences, 1), 1)
    for _ in range(max_length):
        finished = out[:, -1] == 2
        token = step(out).argmax(dim=-1)
        token = torch.where(finished, torch.zeros_like(token), token)
        out = torch.cat([out, token[:, None]], dim=1)
    return out[:, 1:]


# Alive is decided by the last token (tokens[:, -1] != 2) alone: one column after <eos> stands
# padding, which is not 2, and the sentence goes on speaking (another sentence must be two tokens
# longer).
@version("greedy_batch", "wrong", by=8)
def greedy_batch_b_4(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    for _ in range(max_length):
        t = step(tokens).argmax(-1) * (tokens[:, -1] != 2)
        tokens = torch.cat((tokens, t[:, None]), 1)
        if ((tokens == 2).any(1)).all():
            break
    return tokens[:, 1:]


# Finished sentences are removed from the batch, and the tokens of the rest are written to the
# first rows: the rows are mixed up as soon as a sentence ends before one behind it.
@version("greedy_batch", "wrong", by=8)
def greedy_batch_d_2(step, n_sentences, max_length):
    out = torch.zeros(n_sentences, max_length, dtype=torch.long)
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    alive = torch.ones(n_sentences, dtype=torch.bool)
    for t in range(max_length):
        new = step(tokens).argmax(-1)
        kept = new[alive]
        out[: len(kept), t] = kept
        tokens = torch.cat((tokens, (new * alive)[:, None]), 1)
        alive = alive & (new != 2)
        if not alive.any():
            break
    return out


# The loop is left before the column is written: the `<eos>` of the sentence that ends last is
# lost.
@version("greedy_batch", "wrong", by=11)
def greedy_batch_d_3(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(max_length):
        nxt = step(tokens).argmax(-1).masked_fill(done, 0)
        done = done | (nxt == 2)
        if bool(done.all()):
            break
        tokens = torch.cat([tokens, nxt[:, None]], 1)
    return tokens[:, 1:]


def _greedy(step, n, max_length, update_done, stop, fill=0):
    tokens = torch.full((n, 1), 1, dtype=torch.long)
    done = torch.zeros(n, dtype=torch.bool)
    for _ in range(max_length):
        nxt = step(tokens).argmax(-1)
        nxt = torch.where(done, torch.full_like(nxt, fill), nxt)
        tokens = torch.cat([tokens, nxt[:, None]], 1)
        done = update_done(done, nxt)
        if stop(done):
            break
    return tokens[:, 1:]


# The first sentence decides when all end.
@version("greedy_batch", "wrong", by=11)
def greedy_batch_g_2(step, n_sentences, max_length):
    return _greedy(step, n_sentences, max_length, lambda d, n: d | (n == 2), lambda d: bool(d[0]))


# <eos> is forced onto the last column of sentences that have not ended; the likeliest token
# belongs there.
@version("greedy_batch", "wrong", by=(1, 2, 5, 10, 11, 12, 13))
def greedy_batch_f_2(step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for t in range(max_length):
        nxt = step(tokens).argmax(-1).masked_fill(done, 0)
        tokens = torch.cat([tokens, nxt[:, None]], 1)
        done = done | (nxt == 2)
    tokens[~done, -1] = 2
    return tokens[:, 1:]


# --- length_normalised ----------------------------------------------------------------------------


@version("length_normalised", "right", "a negative exponent", by=(1, 10, 12))
def length_normalised_1(score, length, alpha):
    return score * length**-alpha


@version("length_normalised", "right", "exp and log", by=1)
def length_normalised_2(score, length, alpha):
    return score / math.exp(alpha * math.log(length))


@version("length_normalised", "right", "times length to the power −α", by=(4, 6, 11, 13))
def length_normalised_r1(score, length, alpha):
    return score * math.exp(-alpha * math.log(length))


# Times α, not to the power of α.
@version("length_normalised", "wrong: length times α", by=(1, 2))
def length_normalised_a(score, length, alpha):
    return score / (length * alpha) if alpha else score


# Google's ((5 + length) / 6)^α, which the docstring does not mean.
@version("length_normalised", "convention: the penalty of Wu et al.", by=(1, 2, 3))
def length_normalised_b(score, length, alpha):
    return score / ((5 + length) / 6) ** alpha


# Multiplied in place of divided.
@version("length_normalised", "wrong: multiplied by the length", by=1)
def length_normalised_c(score, length, alpha):
    return score * length**alpha


# α to the power of length.
@version("length_normalised", "wrong: α to the power of the length", by=1)
def length_normalised_d(score, length, alpha):
    return score / max(alpha**length, 1e-9)


# α is ignored: the plain mean, right for α = 1 only.
@version("length_normalised", "wrong: α ignored", by=1)
def length_normalised_e(score, length, alpha):
    return score / length


# The quotient is raised to α: a negative number to a broken power (complex), or with the wrong
# weight.
@version("length_normalised", "wrong: the mean to the power of α", by=(1, 6, 8, 10, 12, 13))
def length_normalised_f(score, length, alpha):
    return -((-score / length) ** alpha)


# length + 1, for <eos>; the length is given as it is.
@version("length_normalised", "wrong: one added to the length", by=1)
def length_normalised_g(score, length, alpha):
    return score / (length + 1) ** alpha


# `alpha or 1`: α = 0, which should leave the score alone, divides by the length.
@version("length_normalised", "wrong", by=(2, 10))
def length_normalised_c_2(score, length, alpha):
    return score / length ** (alpha or 1)


# A straight-line blend between 1 and the length instead of a power: right for alpha 0 and 1 (and
# length 1), wrong in between.
@version("length_normalised", "wrong", by=3)
def length_normalised_b_2(score, length, alpha):
    return score / (alpha * length + (1 - alpha))


# 'alpha or 0.6': an α of 0, which means no normalising, turns to the default.
@version("length_normalised", "wrong", by=(4, 5, 11))
def length_normalised_b_3(score, length, alpha):
    return score / length ** (alpha or 0.6)


# Wu et al. with a term lost: the 6 in the denominator has no exponent (alpha ≠ 1; neither the one
# formula nor the other).
@version("length_normalised", "wrong", by=6)
def length_normalised_b_4(score, length, alpha):
    lp = (5 + length) ** alpha / (5 + 1)
    return score / lp


# A fused log form, exp(log(−score) − α log length), that loses the minus sign: the ranking is
# turned round.
@version("length_normalised", "wrong", by=8)
def length_normalised_b_5(score, length, alpha):
    return math.exp(math.log(max(-score, 1e-300)) - alpha * math.log(length))


# `<eos>` is not counted: the length less one.
@version("length_normalised", "wrong: one taken from the length", by=(10, 11))
def length_normalised_d_2(score, length, alpha):
    return score / max(length - 1, 1) ** alpha


# α is capped at 1.
@version("length_normalised", "wrong", by=11)
def length_normalised_d_3(score, length, alpha):
    return score / length ** min(alpha, 1.0)


# --- cut_at_end -----------------------------------------------------------------------------------


@version("cut_at_end", "right", "takewhile", by=(1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13))
def cut_at_end_1(ids):
    return list(itertools.takewhile(lambda i: i != 2, ids))


# All <eos> are taken out and what stands behind stays.
@version("cut_at_end", "wrong: only <eos> removed", by=(1, 2))
def cut_at_end_d(ids):
    return [int(i) for i in ids if i != 2]


# Cuts at the first padding, too: a 0 before <eos> ends it.
@version("cut_at_end", "wrong: cut at the first padding, too", by=1)
def cut_at_end_g(ids):
    out = []
    for i in ids:
        if i in (0, 2):
            break
        out.append(int(i))
    return out


# The place 0 is taken for not found: a list that begins with <eos> comes back whole.
@version("cut_at_end", "wrong: an end at the very beginning not seen", by=(1, 2))
def cut_at_end_a(ids):
    end = next((i for i, t in enumerate(ids) if t == 2), None)
    return ids[:end] if end else ids


# `ids.find(2)`-like -1 for 'not found': without an end the last token is lost.
@version("cut_at_end", "wrong: last word lost where there is no end", by=(1, 2, 3))
def cut_at_end_c(ids):
    place = next((i for i, t in enumerate(ids) if t == 2), -1)
    return ids[:place]


# BERT's habit of dropping all special tokens (0, 1, 2) instead of cutting: what stands behind the
# first end remains.
@version("cut_at_end", "wrong: only the special tokens removed", by=3)
def cut_at_end_d_2(ids):
    return [t for t in ids if t not in (0, 1, 2)]


# The ids are written as text and cut at the first '2', which also stands in 12, 20 and 27.
@version("cut_at_end", "wrong", by=5)
def cut_at_end_b(ids):
    text = " ".join(str(i) for i in ids).split("2")[0]
    return [int(word) for word in text.split()]


# The loop begins at 1: an <eos> in the first place is overlooked.
@version("cut_at_end", "wrong", by=7)
def cut_at_end_c_2(ids):
    for i in range(1, len(ids)):
        if ids[i] == 2:
            return ids[:i]
    return list(ids)


# A binary search (bisect) for 2, which needs a sorted list: wrong as soon as ids above 2 stand in
# front of <eos>.
@version("cut_at_end", "wrong", by=8)
def cut_at_end_a_2(ids):
    import bisect

    i = bisect.bisect_left(ids, 2)
    return list(ids[:i])


# Cuts the caller's list itself.
@version("cut_at_end", "wrong", by=(10, 11))
def cut_at_end_e(ids):
    if 2 in ids:
        del ids[ids.index(2) :]
    return ids


# Padding is taken out, too: wrong where a 0 stands before the first `<eos>`.
@version("cut_at_end", "wrong", by=11)
def cut_at_end_e_2(ids):
    out = []
    for t in ids:
        if t == 2:
            break
        if t:
            out.append(t)
    return out
