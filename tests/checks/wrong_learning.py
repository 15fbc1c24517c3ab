"""Chapters 15 to 17, as beginners get them wrong: losses, updates, choosing tokens, searching."""

from __future__ import annotations

import heapq
import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.wrong_versions import wrong

# --- losses --------------------------------------------------------------------------------------

CE = "cross_entropy"


@wrong(CE, "padding in the loss")
def ce_all(logits, target):
    return F.cross_entropy(logits.transpose(1, 2), target)


@wrong(CE, "padding in the loss")
def ce_all_flat(logits, target):
    return nn.CrossEntropyLoss()(logits.reshape(-1, logits.size(-1)), target.reshape(-1))


@wrong(CE, "loss averaged per sentence")
def ce_per_sentence(logits, target):
    losses = F.cross_entropy(logits.transpose(1, 2), target, ignore_index=0, reduction="none")
    lengths = (target != 0).sum(1)
    return (losses.sum(1) / lengths).mean()


@wrong(CE, "loss averaged per sentence")
def ce_loop(logits, target):
    total = 0.0
    for row, words in zip(logits, target, strict=True):
        total = total + F.cross_entropy(row, words, ignore_index=0)
    return total / len(target)


@wrong(CE, "padding left out of the sum, not of the count")
def ce_masked_mean(logits, target):
    losses = -logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return (losses * (target != 0)).mean()


@wrong(CE, "padding left out of the sum, not of the count")
def ce_none(logits, target):
    losses = F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=0, reduction="none"
    )
    return losses.mean()


@wrong(CE, "summed in place of averaged")
def ce_sum(logits, target):
    return F.cross_entropy(logits.mT, target, ignore_index=0, reduction="sum")


@wrong(CE, "summed in place of averaged")
def ce_sum_loop(logits, target):
    loss = torch.tensor(0.0)
    for b in range(target.size(0)):
        for t in range(target.size(1)):
            if target[b, t] != 0:
                loss = loss - torch.log_softmax(logits[b, t], 0)[target[b, t]]
    return loss


@wrong(CE, "divided by the number of sentences")
def ce_by_batch(logits, target):
    total = F.cross_entropy(logits.mT, target, ignore_index=0, reduction="sum")
    return total / logits.size(0)


@wrong(CE, "divided by the number of sentences")
def ce_batch_mean(logits, target):
    log_p = F.log_softmax(logits, -1)
    nll = -log_p.gather(2, target[:, :, None])[:, :, 0] * target.ne(0)
    return nll.sum(dim=1).mean()


@wrong(CE, "softmax applied twice")
def ce_of_softmax(logits, target):
    return F.cross_entropy(logits.softmax(-1).transpose(1, 2), target, ignore_index=0)


@wrong(CE, "softmax applied twice")
class LossWithSoftmax(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)
        self.loss = nn.CrossEntropyLoss(ignore_index=0)

    def forward(self, logits, target):
        probabilities = self.softmax(logits)
        return self.loss(probabilities.view(-1, probabilities.shape[-1]), target.view(-1))


@wrong(CE, "logits without a softmax")
def ce_nll_of_logits(logits, target):
    return F.nll_loss(logits.mT, target, ignore_index=0)


@wrong(CE, "logits without a softmax")
def ce_minus_logit(logits, target):
    picked = logits.gather(-1, target[..., None])[..., 0]
    return -picked[target != 0].sum() / (target != 0).sum()


@wrong(CE, "log-softmax over the positions")
def ce_dim_1(logits, target):
    log_p = F.log_softmax(logits, dim=1)
    return F.nll_loss(log_p.mT, target, ignore_index=0)


@wrong(CE, "log-softmax over the positions")
def ce_log_of_dim_1(logits, target):
    p = torch.softmax(logits, 1)
    real = target != 0
    return -p.log().gather(2, target[..., None]).squeeze(-1)[real].mean()


@wrong(CE, "bits in place of nats")
def ce_log2(logits, target):
    p = logits.softmax(-1).gather(2, target.unsqueeze(2)).squeeze(2)
    return -torch.log2(p[target != 0]).mean()


@wrong(CE, "bits in place of nats")
def ce_over_ln2(logits, target):
    return F.cross_entropy(logits.mT, target, ignore_index=0) / math.log(2)


LS = "label_smoothed_loss"


def full(log_p, weights, target):
    return -(weights * log_p).sum(-1)[target != 0].mean()


@wrong(LS, "smoothing shared among the wrong tokens only")
def ls_kldiv_weights(logits, target, smoothing):
    log_p = logits.log_softmax(-1)
    weights = torch.full_like(log_p, smoothing / (log_p.size(-1) - 1)).detach()
    weights.scatter_(-1, target.unsqueeze(-1), 1 - smoothing)
    return -(weights * log_p).sum(-1)[target != 0].mean()


@wrong(LS, "smoothing shared among the wrong tokens only")
def ls_wrong_tokens(logits, target, smoothing):
    log_p = logits.log_softmax(-1)
    right = log_p.gather(2, target[..., None]).squeeze(2)
    others = (log_p.sum(-1) - right) / (logits.size(-1) - 1)
    losses = -(1 - smoothing) * right - smoothing * others
    return losses.masked_select(target != 0).mean()


@wrong(LS, "smoothing summed, not averaged")
def ls_sum(logits, target, smoothing):
    log_p = logits.log_softmax(-1)
    nll = F.nll_loss(log_p.mT, target, ignore_index=0)
    smooth = -log_p.sum(-1)[target != 0].mean()
    return (1 - smoothing) * nll + smoothing * smooth


@wrong(LS, "smoothing summed, not averaged")
def ls_eps_everywhere(logits, target, smoothing):
    one_hot = F.one_hot(target, logits.size(-1))
    weights = one_hot * (1 - smoothing) + smoothing
    losses = -(weights * logits.log_softmax(-1)).sum(-1)
    return losses[target != 0].mean()


@wrong(LS, "the right token's share not reduced")
def ls_added(logits, target, smoothing):
    log_p = logits.log_softmax(-1)
    nll = F.nll_loss(log_p.mT, target, ignore_index=0)
    return nll - smoothing * log_p.mean(-1)[target != 0].mean()


@wrong(LS, "the right token's share not reduced")
def ls_one_hot_plus(logits, target, smoothing):
    v = logits.size(-1)
    weights = F.one_hot(target, v).float() + smoothing / v
    real = target != 0
    return F.cross_entropy(logits[real], weights[real])


@wrong(LS, "ε and 1 − ε exchanged")
def ls_exchanged(logits, target, smoothing):
    return F.cross_entropy(logits.mT, target, ignore_index=0, label_smoothing=1 - smoothing)


@wrong(LS, "ε and 1 − ε exchanged")
def ls_exchanged_by_hand(logits, target, smoothing):
    log_p = logits.log_softmax(-1)
    nll = -log_p.gather(2, target[..., None]).squeeze(2)
    losses = smoothing * nll + (1 - smoothing) * -log_p.mean(2)
    return (losses * (target != 0)).sum() / (target != 0).sum()


@wrong(LS, "smoothing ignored")
def ls_ignored(logits, target, smoothing):
    return F.cross_entropy(logits.mT, target, ignore_index=0)


@wrong(LS, "smoothing ignored")
def ls_ignored_by_hand(logits, target, smoothing):
    real = target != 0
    log_p = torch.log(torch.softmax(logits[real], -1))
    return -log_p[torch.arange(len(log_p)), target[real]].mean()


@wrong(LS, "padding in the smoothed loss")
def ls_padding(logits, target, smoothing):
    return F.cross_entropy(logits.mT, target, label_smoothing=smoothing)


@wrong(LS, "padding in the smoothed loss")
def ls_padding_by_hand(logits, target, smoothing):
    log_p = logits.log_softmax(-1)
    nll = -log_p.gather(2, target[..., None]).squeeze(2)
    return ((1 - smoothing) * nll - smoothing * log_p.mean(-1)).mean()


@wrong("perplexity", "mean of the batches' means")
def ppl_mean_of_means(losses, counts):
    return math.exp(sum(losses) / len(losses))


@wrong("perplexity", "mean of the batches' means")
def ppl_tensor_mean(losses, counts):
    return torch.tensor(losses).mean().exp().item()


@wrong("perplexity", "plain mean of the batches' perplexities")
def ppl_of_each(losses, counts):
    return sum(math.exp(loss) for loss in losses) / len(losses)


@wrong("perplexity", "mean of the perplexities")
def ppl_of_each_weighted(losses, counts):
    total = 0
    for i in range(len(losses)):
        total += math.exp(losses[i]) * counts[i]
    return total / sum(counts)


@wrong("perplexity", "losses summed")
def ppl_sum(losses, counts):
    return math.exp(sum(losses))


@wrong("perplexity", "losses summed")
def ppl_product(losses, counts):
    return torch.tensor(losses).exp().prod().item()


@wrong("perplexity", "two to the power of nats")
def ppl_two(losses, counts):
    return 2 ** (sum(a * b for a, b in zip(losses, counts, strict=True)) / sum(counts))


@wrong("perplexity", "two to the power of nats")
def ppl_two_tensor(losses, counts):
    counts = torch.tensor(counts).float()
    return torch.exp2((torch.tensor(losses) * counts).sum() / counts.sum())


@wrong("perplexity", "exponential forgotten")
def ppl_mean_loss(losses, counts):
    return sum(a * b for a, b in zip(losses, counts, strict=True)) / sum(counts)


@wrong("perplexity", "exponential forgotten")
def ppl_loop(losses, counts):
    total = tokens = 0.0
    for loss, n in zip(losses, counts, strict=False):
        total += loss * n
        tokens += n
    return total / tokens


SCH = "inverse_sqrt_schedule"


@wrong(SCH, "warm-up forgotten")
def lr_no_warmup(update, d_model, warmup):
    return 1 / math.sqrt(d_model * update)


@wrong(SCH, "warm-up forgotten")
def lr_no_warmup_power(update, d_model, warmup):
    return d_model ** (-1 / 2) * update ** (-1 / 2)


@wrong(SCH, "maximum in place of minimum")
def lr_max(update, d_model, warmup):
    return d_model**-0.5 * max(update**-0.5, update * warmup**-1.5)


@wrong(SCH, "maximum in place of minimum")
def lr_branches_exchanged(update, d_model, warmup):
    if update < warmup:
        return 1 / (d_model * update) ** 0.5
    return update / (math.sqrt(d_model) * warmup * math.sqrt(warmup))


@wrong(SCH, "warm-up for ever")
def lr_for_ever(update, d_model, warmup):
    return d_model**-0.5 * update * warmup**-1.5


@wrong(SCH, "warm-up for ever")
def lr_for_ever_peak(update, d_model, warmup):
    peak = 1 / math.sqrt(d_model * warmup)
    return peak * update / warmup


@wrong(SCH, "updates from zero")
def lr_from_zero(update, d_model, warmup):
    step = update - 1
    if step == 0:
        return 0.0
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@wrong(SCH, "updates from zero")
def lr_from_zero_branches(update, d_model, warmup):
    n = update - 1
    if n < warmup:
        return n / warmup / math.sqrt(d_model * warmup)
    return 1 / math.sqrt(d_model * n)


@wrong(SCH, "width forgotten")
def lr_no_width(update, d_model, warmup):
    return min(update**-0.5, update * warmup**-1.5)


@wrong(SCH, "width forgotten")
def lr_no_width_branches(update, d_model, warmup):
    if update <= warmup:
        return update / warmup / math.sqrt(warmup)
    return 1 / math.sqrt(update)


@wrong(SCH, "multiplied by the root of the width")
def lr_sign(update, d_model, warmup):
    return d_model**0.5 * min(update**-0.5, update * warmup**-1.5)


@wrong(SCH, "multiplied by the root of the width")
def lr_sqrt(update, d_model, warmup):
    return math.sqrt(d_model) * min(1 / math.sqrt(update), update / warmup**1.5)


@wrong("clip_gradients", "each tensor clipped on its own")
def clip_each(gradients, limit):
    out = []
    for g in gradients:
        norm = g.norm()
        out.append(g * (limit / norm) if norm > limit else g)
    return out


@wrong("clip_gradients", "each tensor clipped on its own")
def clip_each_clamped(gradients, limit):
    return [g * torch.clamp(limit / (g.norm() + 1e-12), max=1) for g in gradients]


@wrong("clip_gradients", "values clipped in place of the length")
def clip_values(gradients, limit):
    return [g.clamp(-limit, limit) for g in gradients]


@wrong("clip_gradients", "values clipped in place of the length")
def clip_values_minmax(gradients, limit):
    bound = torch.tensor(limit)
    return [torch.minimum(torch.maximum(g, -bound), bound) for g in gradients]


@wrong("clip_gradients", "always brought to the limit")
def clip_always(gradients, limit):
    total = torch.cat([g.flatten() for g in gradients]).norm()
    if total == 0:
        return gradients
    return [g / total * limit for g in gradients]


@wrong("clip_gradients", "always brought to the limit")
def clip_always_nan(gradients, limit):
    total = math.sqrt(sum((g**2).sum().item() for g in gradients))
    return [g * torch.tensor(limit / 1.0) / torch.tensor(total) for g in gradients]


@wrong("clip_gradients", "root forgotten in the length")
def clip_squared(gradients, limit):
    total = sum(g.pow(2).sum() for g in gradients)
    if total > limit:
        return [g * limit / total for g in gradients]
    return list(gradients)


@wrong("clip_gradients", "root forgotten in the length")
def clip_squared_clamp(gradients, limit):
    total = torch.cat([g.flatten() for g in gradients]).square().sum()
    scale = min(1.0, limit / max(total.item(), 1e-12))
    return [scale * g for g in gradients]


@wrong("clip_gradients", "not clipped")
def clip_not(gradients, limit):
    return [g.clone() for g in gradients]


@wrong("clip_gradients", "not clipped")
def clip_thrown_away(gradients, limit):
    length = torch.sqrt(sum((g * g).sum() for g in gradients))
    if length > limit:
        for g in gradients:
            g = g * limit / length
    return gradients


# --- one update ----------------------------------------------------------------------------------

UP = "training_update"


@wrong(UP, "gradients not zeroed")
def up_not_zeroed(model, optimizer, compute_loss):
    loss = compute_loss()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@wrong(UP, "gradients not zeroed")
def up_not_zeroed_by_hand(model, optimizer, compute_loss):
    compute_loss().backward()
    total = sum(p.grad.square().sum() for p in model.parameters()) ** 0.5
    if total > 1:
        for p in model.parameters():
            p.grad /= total
    optimizer.step()


@wrong(UP, "clipped before backward")
def up_clip_first(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    loss.backward()
    optimizer.step()


@wrong(UP, "clipped before backward")
def up_clip_then_zero(model, optimizer, compute_loss):
    nn.utils.clip_grad_norm_(model.parameters(), 1)
    model.zero_grad()
    compute_loss().backward()
    optimizer.step()


@wrong(UP, "clipped after the step")
def up_clip_last(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@wrong(UP, "clipped after the step")
def up_clip_last_zero_after(model, optimizer, compute_loss):
    loss = compute_loss()
    loss.backward()
    optimizer.step()
    torch.nn.utils.clip_grad_norm_(list(model.parameters()), 1.0)
    optimizer.zero_grad()


@wrong(UP, "step before backward")
def up_step_first(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    optimizer.step()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@wrong(UP, "step at the top, before the loss")
def up_step_at_the_top(model, optimizer, compute_loss):
    optimizer.step()
    optimizer.zero_grad()
    compute_loss().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@wrong(UP, "gradients zeroed after backward")
def up_zero_late(model, optimizer, compute_loss):
    loss = compute_loss()
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()


@wrong(UP, "gradients zeroed after backward")
def up_zero_model_late(model, optimizer, compute_loss):
    compute_loss().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for p in model.parameters():
        p.grad = torch.zeros_like(p)
    optimizer.step()


@wrong(UP, "two steps in one update")
def up_twice(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.step()


@wrong(UP, "two steps in one update")
def up_loop(model, optimizer, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    loss = compute_loss()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for _ in range(2):
        optimizer.step()


@wrong("average_checkpoints", "checkpoints summed")
def avg_sum(checkpoints):
    return {k: sum(c[k] for c in checkpoints) for k in checkpoints[0]}


@wrong("average_checkpoints", "checkpoints summed")
def avg_stack_sum(checkpoints):
    result = {}
    for name in checkpoints[0]:
        result[name] = torch.stack([c[name] for c in checkpoints]).sum(0)
    return result


@wrong("average_checkpoints", "running average of halves")
def avg_halves(checkpoints):
    mean = dict(checkpoints[0])
    for c in checkpoints[1:]:
        for k in mean:
            mean[k] = (mean[k] + c[k]) / 2
    return mean


@wrong("average_checkpoints", "running average of halves")
def avg_lerp(checkpoints):
    mean = checkpoints[0]
    for c in checkpoints[1:]:
        mean = {k: torch.lerp(mean[k], c[k], 0.5) for k in mean}
    return mean


@wrong("average_checkpoints", "the last checkpoint")
def avg_last(checkpoints):
    return checkpoints[-1]


@wrong("average_checkpoints", "the last checkpoint")
def avg_overwritten(checkpoints):
    mean = {}
    for c in checkpoints:
        for k, v in c.items():
            mean[k] = v.clone()
    return mean


# --- the next token ------------------------------------------------------------------------------


@wrong("next_token", "greedy takes the first position")
def next_first(logits):
    return logits[:, 0].argmax(-1)


@wrong("next_token", "greedy takes the first position")
def next_first_max(logits):
    _, token = torch.max(logits[:, 0, :], dim=1)
    return token


@wrong("next_token", "last sentence in place of last position")
def next_last_sentence(logits):
    return logits[-1].argmax(-1)


@wrong("next_token", "last sentence in place of last position")
def next_topk(logits):
    return logits[-1, :, :].topk(1, dim=-1).indices.squeeze(-1)


@wrong("next_token", "least likely token")
def next_least(logits):
    return logits[:, -1].argmin(-1)


@wrong("next_token", "least likely token")
def next_sorted(logits):
    return logits[:, -1].argsort(dim=-1)[:, 0]


@wrong("next_token", "largest over the batch")
def next_dim_0(logits):
    return logits[:, -1].argmax(dim=0)


@wrong("next_token", "largest over the batch")
def next_max_0(logits):
    return logits[:, -1, :].max(0).indices


@wrong("next_token", "probability in place of the token")
def next_probability(logits):
    return logits[:, -1].softmax(-1).max(-1).values


@wrong("next_token", "probability in place of the token")
def next_amax(logits):
    return F.softmax(logits, dim=-1)[:, -1, :].amax(dim=1)


@wrong("next_token", "logit in place of the token")
def next_max_logit(logits):
    return logits[:, -1].max(dim=-1)[0]


TEMP = "temperature_probabilities"


@wrong(TEMP, "logits multiplied by the temperature")
def temp_times(logits, temperature):
    return F.softmax(logits * temperature, dim=-1)


@wrong(TEMP, "logits multiplied by the temperature")
def temp_times_by_hand(logits, temperature):
    e = torch.exp(temperature * logits)
    return e / e.sum(-1, keepdim=True)


@wrong(TEMP, "temperature after the softmax")
def temp_after(logits, temperature):
    return F.softmax(logits, dim=-1) / temperature


@wrong(TEMP, "temperature after the softmax")
def temp_after_by_hand(logits, temperature):
    e = (logits - logits.amax(-1, keepdim=True)).exp()
    return e / (temperature * e.sum(-1, keepdim=True))


@wrong(TEMP, "temperature ignored")
def temp_ignored(logits, temperature):
    return logits.softmax(-1)


@wrong(TEMP, "temperature ignored")
class TemperatureIgnored(nn.Module):
    def forward(self, logits, temperature):
        logits / temperature
        return nn.Softmax(dim=1)(logits)


@wrong(TEMP, "softmax of probabilities over the temperature")
def temp_twice(logits, temperature):
    return (logits.softmax(-1) / temperature).softmax(-1)


@wrong(TEMP, "softmax of probabilities over the temperature")
def temp_twice_long(logits, temperature):
    probabilities = F.softmax(logits, dim=1)
    scaled = probabilities.div(temperature)
    return F.softmax(scaled, dim=1)


TOPK = "top_k_probabilities"


@wrong(TOPK, "dropped logits set to zero")
def topk_zero(logits, k):
    kept = torch.zeros_like(logits)
    values, indices = logits.topk(k, dim=-1)
    return kept.scatter(-1, indices, values).softmax(-1)


@wrong(TOPK, "dropped logits set to zero")
def topk_times(logits, k):
    least = torch.sort(logits, dim=-1, descending=True).values[:, k - 1].unsqueeze(1)
    return F.softmax(logits * (logits >= least), dim=-1)


@wrong(TOPK, "all but the best k")
def topk_dropped(logits, k):
    _, indices = logits.topk(k, dim=-1)
    return logits.scatter(-1, indices, float("-inf")).softmax(-1)


@wrong(TOPK, "all but the best k")
def topk_inverted(logits, k):
    least = logits.topk(k).values[:, -1:]
    return torch.where(logits >= least, float("-inf"), logits).softmax(-1)


@wrong(TOPK, "one token too few")
def topk_strict(logits, k):
    least = logits.topk(k).values[:, -1:]
    return logits.masked_fill(logits <= least, float("-inf")).softmax(-1)


@wrong(TOPK, "one token too few")
def topk_slice(logits, k):
    order = logits.argsort(dim=-1, descending=True)[:, : k - 1]
    out = torch.full_like(logits, -torch.inf)
    out.scatter_(1, order, logits.gather(1, order))
    return out.softmax(-1)


@wrong(TOPK, "not shared out anew")
def topk_unshared(logits, k):
    p = logits.softmax(-1)
    values, indices = p.topk(k)
    return torch.zeros_like(p).scatter(-1, indices, values)


@wrong(TOPK, "not shared out anew")
def topk_unshared_filled(logits, k):
    p = F.softmax(logits, dim=-1)
    return p.masked_fill(logits < logits.topk(k).values[:, [-1]], 0)


# --- a sentence ----------------------------------------------------------------------------------

GREEDY = "greedy_search"


@wrong(GREEDY, "only the last token read")
def greedy_last(step, max_length):
    token, out = 1, []
    for _ in range(max_length):
        token = step(torch.tensor([[token]])).argmax(-1).item()
        if token == 2:
            break
        out.append(token)
    return out


@wrong(GREEDY, "only the last token read")
def greedy_last_slice(step, max_length):
    ids = torch.tensor([[1]])
    while ids.size(1) <= max_length:
        ids = torch.cat([ids, step(ids[:, -1:]).argmax(-1, keepdim=True)], dim=1)
        if ids[0, -1] == 2:
            return ids[0, 1:-1].tolist()
    return ids[0, 1:].tolist()


@wrong(GREEDY, "never stops at <eos>")
def greedy_for_ever(step, max_length):
    ids = torch.ones(1, 1, dtype=torch.long)
    for _ in range(max_length):
        ids = torch.cat([ids, step(ids).argmax(-1)[:, None]], dim=1)
    return [i for i in ids[0].tolist() if i not in (1, 2)]


@wrong(GREEDY, "never stops at <eos>")
def greedy_wrong_comparison(step, max_length):
    ids = [1]
    while len(ids) - 1 < max_length:
        token = step(torch.tensor(ids).unsqueeze(0)).argmax(dim=-1)
        ids.append(token.item())
        if ids[-1] == "<eos>":
            break
    return [i for i in ids[1:] if i != 2]


@wrong(GREEDY, "<sos> left in")
def greedy_sos(step, max_length):
    ids = [1]
    for _ in range(max_length):
        token = int(step(torch.tensor([ids])).argmax())
        if token == 2:
            break
        ids.append(token)
    return ids


@wrong(GREEDY, "<sos> left in")
def greedy_sos_tensor(step, max_length):
    ids = torch.tensor([[1]])
    for _ in range(max_length):
        nxt = step(ids).max(-1).indices.view(1, 1)
        if nxt.item() == 2:
            break
        ids = torch.hstack([ids, nxt])
    return ids.squeeze(0).tolist()


@wrong(GREEDY, "<eos> left in")
def greedy_eos(step, max_length):
    ids = [1]
    for _ in range(max_length):
        ids.append(int(step(torch.tensor([ids])).argmax()))
        if ids[-1] == 2:
            break
    return ids[1:]


@wrong(GREEDY, "<eos> left in")
def greedy_eos_while(step, max_length):
    ids, token = [], None
    while token != 2 and len(ids) < max_length:
        token = step(torch.tensor([[1, *ids]]))[0].argmax().item()
        ids += [token]
    return ids


@wrong(GREEDY, "last token stripped blindly")
def greedy_strip(step, max_length):
    ids = [1]
    for _ in range(max_length):
        ids.append(int(step(torch.tensor([ids])).argmax()))
        if ids[-1] == 2:
            break
    return ids[1:-1]


@wrong(GREEDY, "last token stripped blindly")
def greedy_pop(step, max_length):
    ids = torch.tensor([[1]])
    for _ in range(max_length):
        ids = torch.cat([ids, step(ids).argmax(-1, keepdim=True)], 1)
        if ids[0, -1].item() == 2:
            break
    answer = ids[0].tolist()
    answer.pop(0)
    answer.pop()
    return answer


@wrong(GREEDY, "least likely token chosen")
def greedy_least(step, max_length):
    ids = [1]
    for _ in range(max_length):
        token = int(step(torch.tensor([ids])).argmin())
        if token == 2:
            break
        ids.append(token)
    return ids[1:]


@wrong(GREEDY, "least likely token chosen")
def greedy_sorted(step, max_length):
    ids = [1]
    while len(ids) <= max_length and ids[-1] != 2:
        row = step(torch.tensor([ids]))[0].tolist()
        ids.append(sorted(range(len(row)), key=lambda i: row[i])[0])
    return [i for i in ids[1:] if i != 2]


BEAM = "beam_search"


def grow(step, beams):
    for ids, score in beams:
        row = step(torch.tensor([ids]))[0]
        for token, log_p in enumerate(row.tolist()):
            yield ids, score, token, log_p


@wrong(BEAM, "stops at the first finished hypothesis")
def beam_first(step, beam_size, max_length):
    beams = [([1], 0.0)]
    for _ in range(max_length):
        new = [([*ids, t], s + lp) for ids, s, t, lp in grow(step, beams)]
        beams = sorted(new, key=lambda b: b[1], reverse=True)[:beam_size]
        for ids, _s in beams:
            if ids[-1] == 2:
                return ids[1:-1]
    return beams[0][0][1:]


@wrong(BEAM, "stops at the first finished hypothesis")
def beam_first_heap(step, beam_size, max_length):
    alive = [(0.0, [1])]
    done = None
    for _ in range(max_length):
        grown = []
        for score, ids in alive:
            for token, lp in enumerate(step(torch.tensor([ids]))[0].tolist()):
                grown.append((score + lp, [*ids, token]))
        alive = heapq.nlargest(beam_size, grown)
        done = next((ids for _, ids in alive if ids[-1] == 2), None)
        if done:
            break
    answer = done or alive[0][1]
    return [i for i in answer if i not in (1, 2)]


def usual_beam(step, beam_size, max_length, score=lambda s, lp: s + lp, value=lambda b: b[1]):
    """Beam search with slots for what beginners get wrong in it."""
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        new = [([*ids, t], score(s, lp)) for ids, s, t, lp in grow(step, alive)]
        new = sorted(new, key=lambda b: b[1], reverse=True)[:beam_size]
        done += [b for b in new if b[0][-1] == 2]
        alive = [b for b in new if b[0][-1] != 2]
        if not alive:
            break
    best = max(done + alive, key=value)
    return [i for i in best[0][1:] if i != 2]


@wrong(BEAM, "only the last token's score")
def beam_last_score(step, beam_size, max_length):
    return usual_beam(step, beam_size, max_length, score=lambda s, lp: lp)


@wrong(BEAM, "only the last token's score")
def beam_score_overwritten(step, beam_size, max_length):
    beams, done = [([1], 0.0)], []
    for _ in range(max_length):
        candidates = []
        for ids, _score in beams:
            log_p, tokens = step(torch.tensor([ids]))[0].topk(6)
            for lp, token in zip(log_p.tolist(), tokens.tolist(), strict=True):
                candidates.append(([*ids, token], lp))
        candidates.sort(key=lambda c: c[1], reverse=True)
        beams = []
        for c in candidates[:beam_size]:
            (done if c[0][-1] == 2 else beams).append(c)
        if not beams or (done and max(d[1] for d in done) >= beams[0][1]):
            break
    ids = max(done + beams, key=lambda c: c[1])[0]
    return [i for i in ids if i not in (1, 2)]


@wrong(BEAM, "probabilities added")
def beam_probabilities(step, beam_size, max_length):
    return usual_beam(step, beam_size, max_length, score=lambda s, lp: s + math.exp(lp))


@wrong(BEAM, "probabilities added")
def beam_softmaxed(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        p = step(torch.tensor([ids for ids, _ in alive])).softmax(-1)
        p = p + torch.tensor([s for _, s in alive])[:, None]
        scores, places = p.flatten().topk(min(beam_size, p.numel()))
        new = [
            ([*alive[i // p.size(1)][0], i % p.size(1)], s)
            for s, i in zip(scores.tolist(), places.tolist(), strict=True)
        ]
        done += [b for b in new if b[0][-1] == 2]
        alive = [b for b in new if b[0][-1] != 2]
        if not alive or (done and max(b[1] for b in done) >= alive[0][1]):
            break
    best = max(done + alive, key=lambda b: b[1])
    return [i for i in best[0] if i not in (1, 2)]


@wrong(BEAM, "one beam only")
def beam_is_greedy(step, beam_size, max_length):
    ids = [1]
    for _ in range(max_length):
        token = int(step(torch.tensor([ids])).argmax())
        if token == 2:
            break
        ids.append(token)
    return ids[1:]


@wrong(BEAM, "one beam only")
def beam_top_1(step, beam_size, max_length):
    return usual_beam(step, 1, max_length)


@wrong(BEAM, "one beam too many")
def beam_wider(step, beam_size, max_length):
    return usual_beam(step, beam_size + 1, max_length)


@wrong(BEAM, "one beam too many")
def beam_off_by_one(step, beam_size, max_length):
    alive, best, best_score = [([1], 0.0)], [1], -math.inf
    for _ in range(max_length):
        grown = [(s + lp, [*ids, t]) for ids, s, t, lp in grow(step, alive)]
        grown.sort(reverse=True)
        alive = []
        for i, (score, ids) in enumerate(grown):
            if i > beam_size:
                break
            if ids[-1] != 2:
                alive.append((ids, score))
            elif score > best_score:
                best, best_score = ids, score
        if not alive:
            break
    for ids, score in alive:
        if score > best_score:
            best, best_score = ids, score
    return [i for i in best[1:] if i != 2]


@wrong(BEAM, "finished hypotheses dropped on the way")
def beam_forgets(step, beam_size, max_length):
    alive = [([1], 0.0)]
    for _ in range(max_length):
        new = [([*ids, t], s + lp) for ids, s, t, lp in grow(step, alive)]
        new = sorted(new, key=lambda b: -b[1])[:beam_size]
        unfinished = [b for b in new if b[0][-1] != 2]
        if not unfinished:
            return [i for i in new[0][0] if i not in (1, 2)]
        alive = unfinished
    return alive[0][0][1:]


@wrong(BEAM, "finished hypotheses forgotten")
def beam_alive_only(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        new = [([*ids, t], s + lp) for ids, s, t, lp in grow(step, alive)]
        new = heapq.nlargest(beam_size, new, key=lambda b: b[1])
        done += [b for b in new if b[0][-1] == 2]
        alive = [b for b in new if b[0][-1] != 2]
        if not alive:
            break
    best = max(alive or done, key=lambda b: b[1])
    return [i for i in best[0] if i not in (1, 2)]


@wrong(BEAM, "the first of the longest hypotheses chosen")
def beam_longest(step, beam_size, max_length):
    return usual_beam(step, beam_size, max_length, value=lambda b: len(b[0]))


@wrong(BEAM, "longest hypothesis chosen")
def beam_longest_then_best(step, beam_size, max_length):
    return usual_beam(step, beam_size, max_length, value=lambda b: (len(b[0]), b[1]))


@wrong(BEAM, "worst hypothesis chosen")
def beam_min(step, beam_size, max_length):
    return usual_beam(step, beam_size, max_length, value=lambda b: -b[1])


@wrong(BEAM, "worst hypothesis chosen")
def beam_sorted_wrong(step, beam_size, max_length):
    alive, done = [([1], 0.0)], []
    for _ in range(max_length):
        new = [([*ids, t], s + lp) for ids, s, t, lp in grow(step, alive)]
        new = sorted(new, key=lambda b: -b[1])[:beam_size]
        done += [b for b in new if b[0][-1] == 2]
        alive = [b for b in new if b[0][-1] != 2]
        if not alive or (done and max(b[1] for b in done) >= alive[0][1]):
            break
    everything = sorted(done + alive, key=lambda b: b[1])
    return [i for i in everything[0][0] if i not in (1, 2)]


PEN = "length_normalised"


@wrong(PEN, "length ignored")
def pen_none(score, length, alpha):
    return score


@wrong(PEN, "length ignored")
def pen_none_tensor(score, length, alpha):
    penalty = length**alpha  # noqa: F841
    return torch.tensor(score)


@wrong(PEN, "length times α")
def pen_product(score, length, alpha):
    return score / (length * alpha)


@wrong(PEN, "length times α")
def pen_product_guarded(score, length, alpha):
    penalty = alpha * length
    return score / penalty if penalty else float("-inf")


@wrong(PEN, "α ignored")
def pen_no_alpha(score, length, alpha):
    return score / length


@wrong(PEN, "α ignored")
def pen_mean(score, length, alpha=1.0):
    return torch.full((length,), score / length).mean().item()


@wrong(PEN, "multiplied by the length")
def pen_times(score, length, alpha):
    return score * length**alpha


@wrong(PEN, "multiplied by the length")
def pen_minus(score, length, alpha):
    return score / length**-alpha


@wrong(PEN, "the penalty of Wu et al.")
def pen_wu(score, length, alpha):
    return score / (((5 + length) / 6) ** alpha)


@wrong(PEN, "the penalty of Wu et al.")
def pen_wu_powers(score, length, alpha):
    lp = (5 + length) ** alpha / (5 + 1) ** alpha
    return score / lp


@wrong("cut_at_end", "last id stripped blindly")
def cut_strip(ids):
    return ids[:-1]


@wrong("cut_at_end", "last id stripped blindly")
def cut_pop(ids):
    ids = list(ids)
    ids.pop()
    return ids


@wrong("cut_at_end", "only the special tokens removed")
def cut_specials(ids):
    return [i for i in ids if i not in (0, 1, 2)]


@wrong("cut_at_end", "only the special tokens removed")
def cut_filter(ids):
    return list(filter(lambda i: i > 2, ids))


@wrong("cut_at_end", "<eos> kept")
def cut_eos(ids):
    return ids[: ids.index(2) + 1] if 2 in ids else ids


@wrong("cut_at_end", "<eos> kept")
def cut_eos_loop(ids):
    words = []
    for i in ids:
        words.append(i)
        if i == 2:
            break
    return words


@wrong("cut_at_end", "cut at the last <eos>")
def cut_last(ids):
    if 2 not in ids:
        return ids
    return ids[: len(ids) - 1 - ids[::-1].index(2)]


@wrong("cut_at_end", "cut at the last <eos>")
def cut_last_loop(ids):
    end = len(ids)
    for place, i in enumerate(ids):
        if i == 2:
            end = place
    return ids[:end]
