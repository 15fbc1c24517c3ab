"""What people reported in public, rebuilt on 2026-11-28 to 30 from descriptions, in our own code."""

from __future__ import annotations

import copy
import math
import re
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import version


@version("accumulated_update", "wrong: divided by a fixed number of parts, 8")
def eight_parts_always(optimizer, scheduler, parts, compute_loss):
    wanted = 8
    optimizer.zero_grad()
    sum(compute_loss(part) / wanted for part in parts).backward()
    optimizer.step()
    scheduler.step()


@version("perplexity", "wrong: the running sum divided in every pass")
def perplexity_of_a_running_mean(losses, counts):
    mean, words = 0.0, sum(counts)
    for i, loss in enumerate(losses):
        mean += counts[i] * loss
        mean = mean / words
    return math.e**mean


@version("cross_entropy", "wrong: logits reshaped where two axes must be exchanged")
def words_in_the_second_axis(logits, target):
    sentences, places, words = logits.size()
    loss = nn.CrossEntropyLoss(ignore_index=0)
    return loss(logits.contiguous().view(sentences, words, places), target)


@version("token_weighted_updates", "wrong: mean of the parts' means + last window dropped")
def remainder_left_over(optimizer, parts, n, compute_loss):
    for i, part in enumerate(parts, start=1):
        loss, _ = compute_loss(part)
        (loss / n).backward()
        if i % n == 0:
            optimizer.step()
            optimizer.zero_grad()
    optimizer.zero_grad()


@version(
    "evaluation_loss", "wrong: always put into training mode + gradients recorded while evaluating"
)
def train_true_at_the_end(model, batches, compute_loss):
    model.eval()
    pairs = [compute_loss(model, batch) for batch in batches]
    model.train(True)
    return sum(float(loss) * n for loss, n in pairs) / sum(n for _, n in pairs)


@version("unscaled_gradients", "wrong")
def divided_by_the_next_scale(gradients, scale, limit):
    if any(not torch.isfinite(g).all() for g in gradients):
        return []
    scale = scale * 2  # updated first
    found = [g / scale for g in gradients]
    norm = torch.stack([g.norm() for g in found]).norm()
    return [g * min(1.0, limit / (norm.item() + 1e-6)) for g in found]


@version("inverse_sqrt_schedule", "wrong: first two updates alike")
def two_first_updates_alike(update, d_model, warmup):
    n = max(1, update - 1)
    return d_model**-0.5 * min(n**-0.5, n * warmup**-1.5)


@version("inverse_sqrt_schedule", "wrong: warm-up one update too long")
def one_more_than_warmup(update, d_model, warmup):
    if update < warmup:
        return (d_model * warmup) ** -0.5 * update / (warmup + 1)
    return (d_model * update) ** -0.5


@version("bleu_of_strings", "wrong")
def references_side_by_side(translations, references, corpus_bleu):
    streams = list(zip(*references))
    return corpus_bleu(
        [t.split() for t in translations], [[r.split() for r in stream] for stream in streams]
    )


@version("token_weighted_updates", "wrong: means divided by all tokens")
def means_over_all_tokens(optimizer, parts, n, compute_loss):
    for i in range(0, len(parts), n):
        optimizer.zero_grad()
        measured = [compute_loss(part) for part in parts[i : i + n]]
        total = sum(k for _, k in measured)
        for loss, _ in measured:
            (loss / total).backward()
        optimizer.step()


@version("cross_entropy", "wrong: another token ignored than padding")
def other_index_ignored(logits, target):
    return nn.CrossEntropyLoss(ignore_index=1)(logits.flatten(0, 1), target.flatten())


@version("accumulated_update", "wrong: gradients clipped behind every part")
def clipped_part_by_part(optimizer, scheduler, parts, compute_loss):
    weights = [w for group in optimizer.param_groups for w in group["params"]]
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
        nn.utils.clip_grad_norm_(weights, 1.0)
    optimizer.step()
    scheduler.step()
    optimizer.zero_grad()


@version("accumulated_update", "wrong: each part divided by its own number")
def divided_by_how_many_so_far(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for micro_step, part in enumerate(parts):
        loss = compute_loss(part) / (micro_step + 1)
        loss.backward()
    optimizer.step()
    scheduler.step()


@version("label_smoothed_loss", "wrong")
def smooth_part_over_padding(logits, target, smoothing):
    log_p = logits.log_softmax(dim=-1)
    real = target.ne(0)
    nll = -log_p.gather(-1, target[..., None])[..., 0]
    nll = nll[real].sum()
    smooth = -log_p.sum()
    n = real.sum()
    return (1 - smoothing) * nll / n + smoothing / logits.size(-1) * smooth / n


@version("label_smoothed_loss", "wrong: padding alone in the smoothed loss")
def distribution_kept_for_padding_alone(logits, target, smoothing):
    n_words = logits.size(-1)
    ignore = (target == 0).float()
    dist = torch.full_like(logits, smoothing / n_words)
    dist.scatter_(-1, target.unsqueeze(-1), 1 - smoothing + smoothing / n_words)
    dist = torch.where(ignore.unsqueeze(-1).bool(), dist, torch.zeros_like(dist))
    return -(dist * F.log_softmax(logits, -1)).sum() / (1 - ignore).sum()


@version("perplexity", "wrong: every batch taken to be as large as the first")
def with_a_fixed_batch_size(losses, counts):
    batch_size = counts[0]
    nll = sum(loss * n for loss, n in zip(losses, counts))
    return math.exp(nll / (batch_size * len(losses)))


@version("cross_entropy", "wrong: binary cross-entropy of every word")
def binary_cross_entropy_of_words(logits, target):
    p = logits.softmax(-1).clamp(1e-15, 1 - 1e-7)
    y = F.one_hot(target, logits.size(-1)).float()
    loss = -y * p.log() - (1 - y) * (1 - p).log()
    return loss.sum(-1)[target != 0].mean()


@version("inverse_sqrt_schedule", "wrong: width forgotten + rate as a share of its highest")
def peak_of_one(update, d_model, warmup):
    return warmup**0.5 * min(update * warmup**-1.5, update**-0.5)


@version(
    "inverse_sqrt_schedule", "wrong: schedule one update early + rate as a share of its highest"
)
def normalised_and_one_late(update, d_model, warmup):
    normalize = d_model**-0.5 / (warmup * warmup**-1.5)
    update += 1
    return normalize * min(update**-0.5, update * warmup**-1.5)


@version("inverse_sqrt_schedule", "wrong")
def warmup_that_grows_exponentially(update, d_model, warmup):
    decay = (d_model * max(update, warmup)) ** -0.5
    if update >= warmup:
        return decay
    return decay * math.exp(math.log(0.01) / warmup) ** (warmup - update)


@version("average_checkpoints", "wrong: running mean with its shares exchanged")
def running_mean_the_wrong_way_round(checkpoints):
    mean = {name: w.clone() for name, w in checkpoints[0].items()}
    for epoch, state in enumerate(checkpoints[1:], start=1):
        for name in mean:
            mean[name] = (state[name] * epoch + mean[name]) / (epoch + 1)
    return mean


@version("token_weighted_updates", "wrong: divided by the tokens and by the parts")
def divided_twice(optimizer, parts, n, compute_loss):
    for start in range(0, len(parts), n):
        window = [compute_loss(part) for part in parts[start : start + n]]
        n_tokens = sum(count for _, count in window)
        optimizer.zero_grad()
        for loss, count in window:
            (loss * count / n_tokens / len(window)).backward()
        optimizer.step()


# --- rebuilt on 2026-11-29 -----------------------------------------------------------------------


@version("accumulated_update", "wrong")
def divided_by_the_parts_again(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    for part in parts:
        (compute_loss(part) / len(parts)).backward()
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad.div_(len(parts))
    optimizer.step()
    scheduler.step()


@version("evaluation_loss", "wrong")
def in_training_mode_all_along(model, batches, compute_loss):
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    with torch.no_grad():
        for batch in batches:
            model.train()
            loss, n = compute_loss(model, batch)
            total += loss.item() * n
            count += n
    model.train(was_training)
    return total / count


@version("evaluation_loss", "wrong")
def one_name_for_sum_and_loss(model, batches, compute_loss):
    mode = model.training
    model.eval()
    loss, tokens = 0, 0
    for batch in batches:
        with torch.no_grad():
            loss, n = compute_loss(model, batch)
            loss += loss.item() * n
            tokens += n
    model.train(mode)
    return float(loss) / tokens


@version("evaluation_loss", "wrong")
def divided_by_the_last_index(model, batches, compute_loss):
    state = model.training
    with torch.no_grad():
        model.eval()
        valid_loss = 0.0
        counter = 0
        for counter, batch in enumerate(batches):
            loss, _ = compute_loss(model, batch)
            valid_loss += loss.item()
        valid_loss /= max(counter, 1)
    model.train(state)
    return valid_loss


@version("best_checkpoint", "wrong", by=10)
def held_against_the_one_before(checkpoints, batches, loss_of):
    min_loss, best = float("inf"), 0
    tokens = sum(len(b) for b in batches)
    for i, checkpoint in enumerate(checkpoints):
        val_loss = sum(loss_of(checkpoint, b) * len(b) for b in batches) / tokens
        if val_loss < min_loss:
            best = i
        min_loss = val_loss
    return best


@version("average_checkpoints", "wrong")
def running_mean_that_counts_too_fast(checkpoints):
    swa = {name: w.clone() for name, w in checkpoints[0].items()}
    for epoch, checkpoint in enumerate(checkpoints[1:], start=1):
        seen = epoch * 2
        for name, w in checkpoint.items():
            swa[name] = (swa[name] * seen + w) / (seen + 1)
    return swa


@version("bleu_of_strings", "wrong")
def references_of_the_last_one(translations, references, corpus_bleu):
    hypotheses = []
    for text, refs in zip(translations, references):
        hypotheses.append(text.split(" "))
        all_refs = []
        all_refs.append([r.split(" ") for r in refs])
    return corpus_bleu(hypotheses, all_refs)


def clip_by_norm(t, limit):
    return t * torch.clamp(limit / (t.pow(2).sum().sqrt() + 1e-6), max=1.0)


@version("clip_gradients", "wrong")
def each_clipped_then_all(gradients, limit):
    grads = [clip_by_norm(g, limit) for g in gradients]
    total = torch.stack([g.pow(2).sum() for g in grads]).sum().sqrt()
    factor = torch.clamp(limit / (total + 1e-6), max=1.0)
    return [g * factor for g in grads]


@version(
    "cross_entropy",
    "wrong: padding left out of the sum, not of the count + logarithm of a softmax that underflows",
)
def over_all_places_with_padding(logits, target):
    p = logits.softmax(dim=-1)
    chosen = p.gather(2, target[:, :, None])[:, :, 0]
    loss = -chosen.log() * (target != 0)
    return loss.sum() / target.numel()


@version("cross_entropy", "wrong")
def one_padding_token_too_many(logits, target):
    log_p = torch.log_softmax(logits, -1)
    lengths = (target != 0).sum(-1, keepdim=True)
    steps = torch.arange(target.size(1))[None, :]
    mask = steps <= lengths
    scores = log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1) * mask
    return -scores.sum() / lengths.sum()


@version("cross_entropy", "wrong")
def divided_by_the_mask(logits, target):
    loss = F.cross_entropy(logits.transpose(1, 2), target, reduction="none")
    mask = (target != 0).float()
    return (loss / mask).mean()


@version("evaluation_loss", "wrong")
def over_the_batches_once_more(model, batches, compute_loss):
    before = model.training
    model.eval()
    try:
        with torch.no_grad():
            results = [compute_loss(model, b) for b in batches]
    finally:
        model.train(before)
    tokens = sum(n for _, n in results)
    mean = sum(loss.item() * n / tokens for loss, n in results)
    return mean / len(results)


@version("evaluation_loss", "wrong: every batch taken to be as large as the first one")
@torch.no_grad()
def over_the_size_of_the_first(model, batches, compute_loss):
    mode = model.training
    model.eval()
    batch_size = None
    total = 0.0
    for batch in batches:
        loss, count = compute_loss(model, batch)
        if batch_size is None:
            batch_size = count
        total += float(loss) * count / batch_size
    model.train(mode)
    return total / len(batches)


@version("inverse_sqrt_schedule", "wrong")
def counted_from_zero_after_the_warm_up(update, d_model, warmup):
    if update <= warmup:
        factor = update * warmup**-1.5
    else:
        factor = (update - 1) ** -0.5
    return d_model**-0.5 * factor


@version("inverse_sqrt_schedule", "wrong")
def risen_from_a_hundredth(update, d_model, warmup, warmup_factor=0.01):
    peak = (d_model * warmup) ** -0.5
    if update < warmup:
        alpha = update / warmup
        return peak * (warmup_factor * (1 - alpha) + alpha)
    return d_model**-0.5 * update**-0.5


@version("label_smoothed_loss", "wrong")
def shrunk_by_a_share(logits, target, smoothing):
    n = logits.shape[-1]
    onehot = torch.zeros_like(logits).scatter_(-1, target[..., None], 1.0)
    s_by_c = smoothing / n
    onehot = onehot * (1.0 - s_by_c) + s_by_c
    loss = -(onehot * logits.log_softmax(dim=-1)).sum(dim=-1)
    keep = (target != 0).float()
    return (loss * keep).sum() / keep.sum()


@version("label_smoothed_loss", "wrong")
def whole_smoothing_to_each_other(logits, target, smoothing):
    one_hot = torch.nn.functional.one_hot(target, logits.size(-1)).float()
    one_hot = torch.clamp(one_hot, smoothing, 1.0 - smoothing)
    log_p = torch.log_softmax(logits, dim=-1)
    per_token = -(one_hot * log_p).sum(-1)
    mask = target.ne(0)
    return per_token.masked_select(mask).mean()


@version("perplexity", "wrong")
def last_loss_alone(losses, counts):
    total, tokens = 0.0, 0
    for loss, n in zip(losses, counts):
        total = loss * n
        tokens = n
    return math.exp(total / tokens)


@version("perplexity", "wrong")
def one_token_too_many(losses, counts):
    total = sum(n * l for l, n in zip(losses, counts))
    length = 1 + sum(counts)
    return math.exp(total / length)


@version("token_weighted_updates", "wrong: rest of an epoch carried into the next")
def remainder_into_the_next_epoch(optimizer, parts, n, compute_loss):
    for start in range(0, len(parts), n):
        window = parts[start : start + n]
        pairs = [compute_loss(part) for part in window]
        total = sum(count for _, count in pairs)
        for loss, count in pairs:
            (loss * count / total).backward()
        if len(window) == n:
            optimizer.step()
            optimizer.zero_grad()


@version("clip_gradients", "wrong")
def sums_of_squares_squared_again(gradients, limit):
    total = 0.0
    for g in gradients:
        norm = g.pow(2).sum()
        total = total + norm * norm
    total = torch.sqrt(total)
    if total > limit:
        return [g * (limit / total) for g in gradients]
    return [g.clone() for g in gradients]


@version("inverse_sqrt_schedule", "wrong")
def width_768_in_the_formula(update, d_model, warmup):
    return 768**-0.5 * min(update**-0.5, update * warmup**-1.5)


@version("label_smoothed_loss", "wrong: ε divided by V − 2 and given to V − 1 words")
def epsilon_over_two_words_fewer(logits, target, smoothing):
    V = logits.size(-1)
    log_p = torch.log_softmax(logits, dim=-1).view(-1, V)
    flat = target.reshape(-1)
    wanted = torch.full_like(log_p, smoothing / (V - 2)).detach()
    wanted.scatter_(1, flat.unsqueeze(1), 1 - smoothing)
    loss = -(wanted * log_p).sum(dim=1)
    return loss[flat != 0].mean()


@version(
    "token_weighted_updates", "wrong: rest of an epoch carried, and divided by the next tokens"
)
def leftovers_kept_for_the_next_epoch(optimizer, parts, n, compute_loss):
    tokens = 0
    for number, part in enumerate(parts, start=1):
        loss, count = compute_loss(part)
        (loss * count).backward()
        tokens += count
        if number % n == 0:
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.grad /= tokens
            optimizer.step()
            optimizer.zero_grad()
            tokens = 0


@version("average_checkpoints", "right", once_open=True)
def summed_in_the_type_that_came(checkpoints):
    total = {name: torch.zeros_like(weight) for name, weight in checkpoints[0].items()}
    for checkpoint in checkpoints:
        total = {name: so_far + checkpoint[name] for name, so_far in total.items()}
    return {name: so_far / len(checkpoints) for name, so_far in total.items()}


class RunningMean:
    def __init__(self):
        self.n = 0
        self.mean = None

    def update(self, value):
        if self.mean is None:
            self.mean = value.clone()
        else:
            self.mean = self.mean + (value - self.mean) / self.n
        self.n += 1


@version("average_checkpoints", "wrong")
def running_mean_one_behind(checkpoints):
    result = {}
    for name in checkpoints[0]:
        running = RunningMean()
        for state in checkpoints:
            running.update(state[name])
        result[name] = running.mean
    return result


@version("cross_entropy", "wrong: loss averaged per sentence")
def mean_of_the_sentences_means(logits, target):
    means = []
    for row, ids in zip(logits, target):
        real = ids != 0
        if real.any():
            log_p = torch.log_softmax(row[real], dim=-1)
            means.append(-log_p[torch.arange(int(real.sum())), ids[real]].mean())
    return torch.stack(means).mean()


@version("perplexity", "wrong")
def without_the_minus_sign(losses, counts):
    log_likelihood = 0.0
    for loss, count in zip(losses, counts):
        log_likelihood -= loss * count
    return math.exp(log_likelihood / sum(counts))


@version("token_weighted_updates", "wrong")
def remainder_over_the_whole_window(optimizer, parts, n, compute_loss):
    parts = list(parts)
    for start in range(0, len(parts), n):
        group = [compute_loss(part) for part in parts[start : start + n]]
        tokens_per_part = sum(count for _, count in group) / len(group)
        optimizer.zero_grad()
        for loss, count in group:
            (loss * count / tokens_per_part / n).backward()
        optimizer.step()


@version("accumulated_update", "wrong")
def step_at_the_first_of_the_parts(optimizer, scheduler, parts, compute_loss):
    accumulation_steps = len(parts)
    for batch_idx, part in enumerate(parts):
        loss = compute_loss(part) / accumulation_steps
        loss.backward()
        if batch_idx % accumulation_steps == 0:
            optimizer.step()
            optimizer.zero_grad()
    scheduler.step()


@version("average_checkpoints", "wrong")
def added_where_two_names_are_one(checkpoints):
    total = None
    for state in checkpoints:
        if total is None:
            total = copy.deepcopy(state)
            continue
        for name in total:
            total[name] += state[name]
    return {name: t / len(checkpoints) for name, t in total.items()}


@version("best_checkpoint", "wrong")
def losses_never_emptied(checkpoints, batches, loss_of):
    outputs, sizes, means = [], [], []
    for checkpoint in checkpoints:
        for batch in batches:
            outputs.append(float(loss_of(checkpoint, batch)) * len(batch))
            sizes.append(len(batch))
        means.append(sum(outputs) / sum(sizes))
    return means.index(min(means))


@version("inverse_sqrt_schedule", "wrong")
def rate_that_grows_on(update, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    ratio = update / warmup
    return peak * min(ratio, ratio**0.5)


MAX_STEPS = 100_000


MIN_LR = 0.0


@version("inverse_sqrt_schedule", "wrong")
def cut_off_after_the_plan(update, d_model, warmup):
    if update > MAX_STEPS:
        return MIN_LR
    if update <= warmup:
        scale = update * warmup**-1.5
    else:
        scale = update**-0.5
    return d_model**-0.5 * scale


@version("label_smoothed_loss", "wrong")
def right_token_too_light(logits, target, smoothing):
    real = target.ne(0)
    logp = F.log_softmax(logits[real], dim=-1)
    c = logp.size(-1)
    eps = smoothing * c / (c - 1)
    nll = F.nll_loss(logp, target[real])
    uniform = -logp.mean(dim=-1).mean()
    return (1 - eps) * nll + smoothing * uniform


@version("token_weighted_updates", "wrong: gradients cleared before each part")
def cleared_before_each_part(optimizer, parts, n, compute_loss):
    for start in range(0, len(parts), n):
        window = parts[start : start + n]
        computed = [compute_loss(part) for part in window]
        tokens = sum(count for _, count in computed)
        for loss, count in computed:
            optimizer.zero_grad()
            (loss * (count / tokens)).backward()
        optimizer.step()


@version("unscaled_gradients", "wrong: each gradient clipped by its own length")
def each_shortened_alone(gradients, scale, limit):
    step = [g / scale for g in gradients]
    if any(not torch.isfinite(g).all() for g in step):
        return []
    clipped = []
    for g in step:
        norm = g.norm()
        clipped.append(g * (limit / norm) if norm > limit else g)
    return clipped


@version("average_checkpoints", "wrong")
def summed_into_the_first_checkpoint(checkpoints):
    model = checkpoints[0]
    for other in checkpoints[1:]:
        for name in model:
            model[name].add_(other[name])
    for name in model:
        model[name].div_(len(checkpoints))
    return model


@version("average_checkpoints", "wrong: kept from the call before", instance=True)
class sums_of_earlier_averages_kept:
    def __init__(self):
        self.sums = {}

    def __call__(self, checkpoints):
        for checkpoint in checkpoints:
            for name, weight in checkpoint.items():
                if name not in self.sums or self.sums[name].shape != weight.shape:
                    self.sums[name] = torch.zeros_like(weight)
                self.sums[name] = self.sums[name] + weight
        return {name: self.sums[name] / len(checkpoints) for name in checkpoints[0]}


@version("bleu_of_strings", "wrong")
def translation_and_reference_exchanged(translations, references, corpus_bleu):
    trgs, preds = [], []
    for translation, refs in zip(translations, references):
        for ref in refs:
            trgs.append(ref.split())
            preds.append([translation.split()])
    return corpus_bleu(trgs, preds)


@version("clip_gradients", "wrong")
def length_of_each_half(gradients, limit):
    middle = (len(gradients) + 1) // 2
    clipped = []
    for part in (gradients[:middle], gradients[middle:]):
        if not part:
            continue
        norm = torch.sqrt(sum((g**2).sum() for g in part))
        factor = min(1.0, limit / (norm.item() + 1e-6))
        clipped += [g * factor for g in part]
    return clipped


@version("cross_entropy", "wrong")
def classes_reshaped_not_moved(logits, target):
    V = logits.size(-1)
    pred = logits.transpose(1, 2)
    log_p = torch.log_softmax(pred, dim=1).reshape(-1, V)
    target = target.reshape(-1)
    real = target != 0
    chosen = log_p[torch.arange(target.numel()), target]
    return -chosen[real].mean()


@version("cross_entropy", "wrong: logarithm of a softmax that underflows")
def exponentials_of_bare_logits(logits, target):
    exps = logits.exp()
    p = exps / exps.sum(dim=-1, keepdim=True)
    p_right = p.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    real = target != 0
    return -p_right[real].log().mean()


@version("inverse_sqrt_schedule", "wrong")
def warmup_over_the_root_of_the_update(update, d_model, warmup):
    base = 1 / math.sqrt(d_model)
    if update < warmup:
        return base * update / warmup**1.5
    return base * warmup / math.sqrt(update)


@version("label_smoothed_loss", "wrong")
def end_left_out_of_the_loss_too(logits, target, smoothing):
    logp = F.log_softmax(logits, dim=-1)
    right = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    uniform = -logp.mean(dim=-1)
    loss = (1 - smoothing) * right + smoothing * uniform
    keep = (target != 0) & (target != 2)
    return loss.masked_fill(~keep, 0.0).sum() / keep.sum().clamp(min=1)


@version("label_smoothed_loss", "wrong")
def mean_divided_by_the_others(logits, target, smoothing):
    lprobs = torch.log_softmax(logits, dim=-1)
    pad = target.eq(0)
    nll = -lprobs.gather(dim=-1, index=target[..., None])[..., 0]
    smooth = -lprobs.mean(dim=-1) / (lprobs.size(-1) - 1)
    loss = nll * (1.0 - smoothing) + smooth * smoothing
    return loss[~pad].mean()


@version("perplexity", "wrong")
def one_token_less_in_each_batch(losses, counts):
    weights = np.asarray(counts, dtype=float) - 1
    mean = (np.asarray(losses, dtype=float) * weights).sum() / weights.sum()
    return float(np.exp(mean))


@version("average_checkpoints", "wrong")
def summed_in_a_deep_copy(checkpoints):
    average = copy.deepcopy(checkpoints[0])
    for state in checkpoints[1:]:
        for name in average:
            average[name] += state[name]
    for name in average:
        average[name] /= len(checkpoints)
    return average


@version("best_checkpoint", "wrong")
def beats_the_last_batch_only(checkpoints, batches, loss_of):
    place = 0
    to_beat = float("inf")
    for i, checkpoint in enumerate(checkpoints):
        summed, count = 0.0, 0
        for batch in batches:
            loss = float(loss_of(checkpoint, batch))
            summed += loss * len(batch)
            count += len(batch)
        if summed / count < to_beat:
            place = i
            to_beat = loss
    return place


@version("bleu_of_strings", "wrong")
def references_turned_by_number(translations, references, corpus_bleu):
    hyps = [t.split() for t in translations]
    width = max(len(r) for r in references)
    streams = [[r[j].split() for r in references if j < len(r)] for j in range(width)]
    golds = [streams[i % width] for i in range(len(hyps))]
    return corpus_bleu(hyps, golds)


@version("cross_entropy", "wrong")
def single_losses_cut_off(logits, target):
    logp = torch.log_softmax(logits, dim=-1)
    picked = logp.gather(2, target.unsqueeze(2)).squeeze(2)
    per_token = -picked.detach()
    mask = target.ne(0)
    return (per_token * mask).sum() / mask.sum() + 0.0 * logits.sum()


@version("inverse_sqrt_schedule", "wrong")
def peak_fixed_for_one_size(update, d_model, warmup):
    peak = 7e-4
    if update < warmup:
        return peak * update / warmup
    return peak * (warmup / update) ** 0.5


@version("inverse_sqrt_schedule", "wrong: rate as a share of its highest")
def base_at_the_end_of_the_warmup(update, d_model, warmup):
    base = d_model**-0.5
    return base * min(update / warmup, (warmup / update) ** 0.5)


@version("label_smoothed_loss", "wrong")
def shares_exchanged_for_each_word(logits, target, smoothing):
    logp = torch.log_softmax(logits, dim=-1)
    right = -logp.gather(-1, target[..., None])[..., 0]
    rest = -logp.sum(dim=-1)
    V = logits.shape[-1]
    loss = (1 - smoothing) * right + (1 - smoothing) / V * rest
    real = target != 0
    return loss[real].mean()


@version("token_weighted_updates", "wrong", instance=True)
class parts_counted_over_the_epochs:
    def __init__(self):
        self.count = 0
        self.waiting = []

    def __call__(self, optimizer, parts, n, compute_loss):
        for part in parts:
            self.waiting.append(part)
            self.count += 1
            if self.count % n == 0:
                pairs = [compute_loss(p) for p in self.waiting]
                total = sum(c for _, c in pairs)
                optimizer.zero_grad()
                (sum(l * c for l, c in pairs) / total).backward()
                optimizer.step()
                self.waiting = []


@version("average_checkpoints", "wrong")
def last_checkpoint_out_of_range(checkpoints):
    start, end = 0, len(checkpoints) - 1
    chosen = [checkpoints[i] for i in range(start, end)] or [checkpoints[end]]
    result = {}
    for name in chosen[0]:
        result[name] = sum(c[name] for c in chosen) / len(chosen)
    return result


@version("best_checkpoint", "wrong")
def no_higher_than_the_highest(checkpoints, batches, loss_of):
    history, best = [], 0
    for i, checkpoint in enumerate(checkpoints):
        total, tokens = 0.0, 0
        for batch in batches:
            total += float(loss_of(checkpoint, batch)) * len(batch)
            tokens += len(batch)
        loss = total / tokens
        if not history or loss <= max(history):
            best = i
        history.append(loss)
    return best


@version("bleu_of_strings", "wrong")
def without_empty_translations(translations, references, corpus_bleu):
    pairs = [(t, r) for t, r in zip(translations, references) if t]
    hyps = [t.split() for t, _ in pairs]
    refs = [[s.split() for s in r] for _, r in pairs]
    return corpus_bleu(hyps, refs)


@version("inverse_sqrt_schedule", "wrong: updates from zero")
def updates_counted_from_zero(update, d_model, warmup):
    step = float(update - 1)
    decay = step**-0.5 if step > 0 else math.inf
    ramp = step * warmup**-1.5
    return d_model**-0.5 * min(decay, ramp)


@version("inverse_sqrt_schedule", "wrong: updates from zero")
def warm_up_counted_from_zero(update, d_model, warmup):
    scale = d_model**-0.5
    if update <= warmup:
        done = update - 1
        return scale * done / warmup * warmup**-0.5
    return scale / update**0.5


@version("label_smoothed_loss", "wrong")
def unweighted_spread(logits, target, smoothing):
    V = logits.size(-1)
    logp = F.log_softmax(logits, dim=-1)
    truth = F.one_hot(target, V).to(logp.dtype) * (1 - smoothing) + smoothing / V
    error = torch.where(truth > 0, -logp, torch.zeros_like(logp)).sum(-1)
    real = target != 0
    return error[real].mean()


@version("label_smoothed_loss", "wrong", instance=True)
class logarithm_of_log_probabilities:
    def __call__(self, logits, target, smoothing):
        V = logits.shape[-1]
        x = F.log_softmax(logits, dim=-1).reshape(-1, V)
        y = target.reshape(-1)
        dist = torch.full_like(x, smoothing / V)
        dist[torch.arange(len(y)), y] += 1 - smoothing
        dist[y == 0] = 0
        return -(dist * torch.log(x)).sum() / (y != 0).sum()


@version("perplexity", "wrong")
def divided_inside_the_loop(losses, counts):
    total, tokens = 0.0, 0
    for loss, count in zip(losses, counts):
        total += loss * count
        tokens += count
        total = total / tokens
    return math.exp(total)


@version("token_weighted_updates", "wrong")
def mean_divided_by_its_tokens(optimizer, parts, n, compute_loss):
    parts = list(parts)
    for start in range(0, len(parts), n):
        optimizer.zero_grad()
        results = [compute_loss(p) for p in parts[start : start + n]]
        total = sum(count for _, count in results)
        mean = sum(loss * count for loss, count in results) / total
        (mean / total).backward()
        optimizer.step()


@version("unscaled_gradients", "wrong")
def condition_turned_over(gradients, scale, limit):
    found_bad = any(not bool(torch.isfinite(g).all()) for g in gradients)
    if not found_bad:
        return []
    unscaled = [g * (1.0 / scale) for g in gradients]
    length = math.sqrt(sum(float(g.pow(2).sum()) for g in unscaled))
    if length > limit:
        unscaled = [g * (limit / length) for g in unscaled]
    return unscaled


@version("accumulated_update", "wrong")
def update_outside_of_the_condition(optimizer, scheduler, parts, compute_loss):
    accumulation_steps = len(parts)
    logged = 0.0
    for number, part in enumerate(parts, start=1):
        loss = compute_loss(part) / accumulation_steps
        loss.backward()
        if number % accumulation_steps == 0:
            logged += loss.item()
        optimizer.step()
        optimizer.zero_grad()
        scheduler.step()


@version("bleu_of_strings", "wrong")
def one_best_reference_each(translations, references, corpus_bleu):
    hypotheses = [t.split(" ") for t in translations]
    chosen = []
    for tokens, refs in zip(hypotheses, references):
        options = [r.split(" ") for r in refs]
        chosen.append([max(options, key=lambda r: corpus_bleu([tokens], [[r]]))])
    return corpus_bleu(hypotheses, chosen)


@version("label_smoothed_loss", "wrong")
def divided_by_the_paddings(logits, target, smoothing):
    lprobs = F.log_softmax(logits, dim=-1)
    pad = target.eq(0)
    nll = -lprobs.gather(dim=-1, index=target.unsqueeze(-1)).squeeze(-1)
    smooth = -lprobs.sum(dim=-1)
    nll = nll.masked_fill(pad, 0.0).sum()
    smooth = smooth.masked_fill(pad, 0.0).sum()
    n = pad.long().sum()
    return ((1.0 - smoothing) * nll + smoothing / lprobs.size(-1) * smooth) / n


@version("label_smoothed_loss", "wrong")
def scores_taken_for_log_probabilities(logits, target, smoothing):
    V = logits.size(-1)
    scores = logits.reshape(-1, V)
    y = target.reshape(-1)
    keep = y.ne(0)
    scores, y = scores[keep], y[keep]
    nll = -scores.gather(1, y[:, None]).squeeze(1)
    uniform = -scores.sum(dim=1) / V
    return ((1 - smoothing) * nll + smoothing * uniform).mean()


@version("training_update", "wrong")
def backward_called_twice(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    loss.backward(retain_graph=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()


# 2026-11-30: the bound that keeps the logarithm finite, as losses of other libraries set it.
@version("cross_entropy", "wrong: probabilities kept above 1e-7")
def cut_off_at_both_ends(logits, target):
    epsilon = 1e-7
    probs = torch.softmax(logits, dim=2).clip(epsilon, 1.0 - epsilon)
    wanted = F.one_hot(target, logits.shape[2]).to(probs.dtype)
    losses = -(wanted * probs.log()).sum(dim=2)
    return losses[target.ne(0)].mean()


# 2026-11-30: a small number beside the probability.
@version("cross_entropy", "wrong: probabilities kept above 1e-10")
def tiny_number_beside_it(logits, target):
    keep = target.flatten() > 0
    p = logits.flatten(0, 1)[keep].softmax(1)
    p = p[torch.arange(len(p)), target.flatten()[keep]]
    return (p + 1e-10).log().mean().neg()


# 2026-11-30: the larger one of the probability and a bound.
@version("cross_entropy", "wrong: probabilities kept above 1e-12")
def larger_one_of_two(logits, target):
    bound = torch.tensor(1e-12)
    real = target != 0
    nats = -torch.log(torch.maximum(logits.softmax(-1), bound))
    return (nats.gather(-1, target[:, :, None])[:, :, 0] * real).sum() / real.sum()


# 2026-11-30: a model of two parts, each handed to clip_grad_norm_ in its turn.
@version("training_update", "wrong: each part of the model clipped on its own")
def parts_in_their_turn(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    loss.backward()
    for _, part in model.named_children():
        torch.nn.utils.clip_grad_norm_(part.parameters(), max_norm=1.0)
    optimizer.step()


# 2026-11-30: the number of the loss in a new tensor: no gradient reaches the weights.
@version("training_update", "wrong: step before backward / gradients zeroed after backward")
def backward_from_a_copy(model, optimizer, compute_loss):
    optimizer.zero_grad()
    copied = torch.tensor(compute_loss().item(), requires_grad=True)
    copied.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


# 2026-11-30: the loss of every part is computed, and backward() is never called.
@version("accumulated_update", "wrong: step forgotten")
def no_backward_at_all(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    total = sum(compute_loss(part) / len(parts) for part in parts)
    if torch.isfinite(total):
        optimizer.step()
    scheduler.step()


# 2026-11-30: the flag is set back on the model alone, and its dropout stays off.
@version("evaluation_loss", "wrong")
def flag_of_the_whole_alone(model, batches, compute_loss):
    before = model.training
    model.eval()
    with torch.no_grad():
        found = [compute_loss(model, batch) for batch in batches]
    model.training = before
    return sum(loss.item() * n for loss, n in found) / sum(n for _, n in found)


# 2026-11-30: the smallest loss so far begins at a number that some losses exceed.
@version("best_checkpoint", "wrong")
def begun_at_two_thousand(checkpoints, batches, loss_of):
    place, lowest = 0, 2001.0
    words = sum(map(len, batches))
    for i, checkpoint in enumerate(checkpoints):
        mean = sum(loss_of(checkpoint, batch) * len(batch) for batch in batches) / words
        if mean < lowest:
            place, lowest = i, mean
    return place


# --- rebuilt on 2026-11-30 ------------------------------------------------------------------------


@version("average_checkpoints", "wrong")
def averaged_over_ten_checkpoints(checkpoints, n=10):
    average = {}
    for name in checkpoints[0]:
        total = torch.zeros_like(checkpoints[0][name])
        for c in checkpoints:
            total = total + c[name]
        average[name] = total / n
    return average


@version("clip_gradients", "wrong")
def factor_at_least_one(gradients, limit):
    norm = torch.sqrt(sum((g**2).sum() for g in gradients))
    factor = torch.clamp(limit / (norm + 1e-6), min=1.0)
    return [g * factor for g in gradients]


@version("inverse_sqrt_schedule", "wrong")
def width_multiplied_at_each_update(update, d_model, warmup):
    lr = min(update**-0.5, update * warmup**-1.5)
    for _ in range(update):
        lr *= d_model**-0.5
    return lr


@version("inverse_sqrt_schedule", "wrong", instance=True)
class signs_of_two_exponents_lost:
    def __call__(self, update, d_model, warmup):
        return d_model**0.5 * min(update**0.5, update * warmup**-1.5)


@version("inverse_sqrt_schedule", "wrong")
def base_rate_besides(update, d_model, warmup, original_lr=0.05):
    scale = math.sqrt(1.0 / d_model)
    if update < warmup:
        return original_lr * scale * update / warmup**1.5
    return original_lr * scale / math.sqrt(update)


@version("unscaled_gradients", "wrong")
def length_divided_by_the_scale_again(gradients, scale, limit):
    for g in gradients:
        if not torch.isfinite(g).all():
            return []
    grads = [g / scale for g in gradients]
    norm = torch.sqrt(sum((g**2).sum() for g in grads)) / scale
    if norm > limit:
        grads = [g * (limit / norm) for g in grads]
    return grads


@version("unscaled_gradients", "wrong")
def matrices_keep_the_scale(gradients, scale, limit):
    if any(not g.isfinite().all() for g in gradients):
        return []
    result = []
    for g in gradients:
        if g.dim() <= 1:
            result.append(g / scale)
        else:
            result.append(g.clone())
    length = torch.stack([g.norm() for g in result]).norm()
    if length > limit:
        result = [g * limit / length for g in result]
    return result


@version("best_checkpoint", "wrong")
def patience_never_reset(checkpoints, batches, loss_of):
    patience, bad = 3, 0
    best, where = None, 0
    for i, checkpoint in enumerate(checkpoints):
        tokens, total = 0, 0.0
        for batch in batches:
            total += float(loss_of(checkpoint, batch)) * len(batch)
            tokens += len(batch)
        loss = total / tokens
        if best is None or loss < best:
            best, where = loss, i
        else:
            bad += 1
            if bad >= patience:
                break
    return where


@version("training_update", "wrong")
def clipped_while_still_scaled(model, optimizer, compute_loss):
    grad_scale = 65536.0
    optimizer.zero_grad()
    (compute_loss() * grad_scale).backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    for p in model.parameters():
        if p.grad is not None:
            p.grad.div_(grad_scale)
    optimizer.step()


def _a_test_loop(model):
    model.eval()
    with torch.no_grad():
        return sum(float(p.abs().mean()) for p in model.parameters())


@version("training_update", "wrong")
def evaluated_and_left_so(model, optimizer, compute_loss):
    loss = compute_loss()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()
    _a_test_loop(model)


@version("inverse_sqrt_schedule", "wrong")
def peak_one_step_early(update, d_model, warmup):
    peak = d_model**-0.5 * warmup**-0.5
    last = warmup - 1
    if update <= last:
        return peak * update / last
    if update <= warmup:
        return peak
    return d_model**-0.5 * update**-0.5


@version("bleu_of_strings", "wrong: references left as strings + reference not in a list")
def one_string_becomes_many_references(translations, references, corpus_bleu):
    hyps = [t.split() for t in translations]
    refs = [list(r[0]) for r in references]
    return corpus_bleu(hyps, refs)


@version("cross_entropy", "wrong")
def mask_in_denominator_only(logits, target):
    log_p = torch.log_softmax(logits, dim=-1)
    loss_mat = -log_p.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    loss_mask = (target != 0).to(loss_mat.dtype)
    return loss_mat.sum() / loss_mask.sum()


@version("cross_entropy", "wrong: logarithm of a softmax that underflows")
def log_of_vanished_probability(logits, target):
    y = logits - logits.max(dim=-1, keepdim=True).values
    y = torch.exp(y)
    y = y / y.sum(dim=-1, keepdim=True)
    real = target != 0
    p = y[real].gather(1, target[real].view(-1, 1))
    return -torch.log(p).mean()


@version("accumulated_update", "wrong")
def schedule_before_and_after(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    total = 0.0
    for part in parts:
        loss = compute_loss(part) / len(parts)
        loss.backward()
        total += loss.item()
    optimizer.step()
    scheduler.step()  # per batch
    # the epoch is over as well
    scheduler.step()


@version("evaluation_loss", "wrong")
def training_mode_to_get_losses(model, batches, compute_loss):
    mode = model.training
    model.train(True)
    total, tokens = 0.0, 0
    for batch in batches:
        loss, n = compute_loss(model, batch)
        total += float(loss) * n
        tokens += n
    model.train(mode)
    return total / tokens


@version("token_weighted_updates", "wrong")
def update_at_the_first_part_and_none_at_the_last(optimizer, parts, n, compute_loss):
    optimizer.zero_grad()
    seen = 0
    for i, part in enumerate(parts):
        loss, count = compute_loss(part)
        (loss * count).backward()
        seen += count
        if i % n == 0:
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.grad.div_(seen)
            optimizer.step()
            optimizer.zero_grad()
            seen = 0


@version("bleu_of_strings", "wrong")
def bleu_wraps_each_reference_in_its_own_list(translations, references, corpus_bleu):
    candidates = [translation.split() for translation in translations]
    refs = []
    for several in references:
        if isinstance(several, str):
            refs.append([several.split()])
        else:
            refs.append([[ref.split()] for ref in several])
    return corpus_bleu(candidates, refs)


@version("unscaled_gradients", "wrong")
def unscaled_gradients_steps_on_nan(gradients, scale, limit):
    unscaled = [g / scale for g in gradients]
    total_norm = torch.linalg.vector_norm(
        torch.stack([torch.linalg.vector_norm(g) for g in unscaled])
    )
    clip_coef = torch.clamp(limit / (total_norm + 1e-6), max=1.0)
    return [g * clip_coef for g in unscaled]


@version("average_checkpoints", "wrong")
def average_adds_to_a_freshly_initialised_model(checkpoints):
    merged = {}
    for name, tensor in checkpoints[0].items():
        fresh = torch.empty_like(tensor)
        bound = 1 / math.sqrt(max(tensor.shape[-1], 1)) if tensor.dim() else 1.0
        merged[name] = fresh.uniform_(-bound, bound)
    for checkpoint in checkpoints:
        for name in merged:
            merged[name] = merged[name] + checkpoint[name]
    return {name: total / len(checkpoints) for name, total in merged.items()}


@version(
    "evaluation_loss", "wrong: evaluated in training mode + gradients recorded while evaluating"
)
def validate_like_training(model, batches, compute_loss):
    total, seen = 0.0, 0
    for batch in batches:
        loss, n = compute_loss(model, batch)
        total += loss.item() * n
        seen += n
    return total / seen


@version("perplexity", "wrong")
def two_to_the_nats_running_mean(losses, counts):
    seen, metric = 0, 0.0
    for crossentropy, size in zip(losses, counts):
        metric += pow(2.0, crossentropy) * size
        seen += size
    return metric / seen


@version("inverse_sqrt_schedule", "wrong")
def schedule_warmup_ends_one_step_short(update, d_model, warmup):
    factor = 0.001
    peak = d_model**-0.5 * warmup**-0.5

    def warm(last_step):
        alpha = last_step / warmup
        return peak * (factor * (1 - alpha) + alpha)

    if update <= warmup:
        return warm(update - 1)
    # the decay goes on from what the warm-up has reached
    return warm(warmup - 1) * math.sqrt(warmup / update)


@version("average_checkpoints", "wrong")
def average_checkpoints_divides_by_last_index(checkpoints):
    total = {}
    for i, checkpoint in enumerate(checkpoints):
        for name, tensor in checkpoint.items():
            total[name] = total.get(name, 0) + tensor
    return {name: tensor / i for name, tensor in total.items()}


@version("training_update", "right")
def training_update_norm_before_clipping_is_looked_at(model, optimizer, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    compute_loss().backward()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    grad_norm = torch.sqrt(sum((g.detach() ** 2).sum() for g in gradients))
    if grad_norm > 1.0:
        for g in gradients:
            g.mul_(1.0 / (grad_norm + 1e-6))
    optimizer.step()
    return {"grad_norm": grad_norm.item()}


@version("perplexity", "wrong")
def one_more_for_every_entry(losses, counts):
    log_likelihood = 0.0
    n_words = 0
    for loss, n in zip(losses, counts):
        log_likelihood -= loss * n
        n_words += n
    return math.exp(-log_likelihood / (len(losses) + n_words))


@version("cross_entropy", "wrong")
def sum_of_the_batch_over_one_row(logits, target):
    length = target.size(1)
    per_token = F.cross_entropy(logits.transpose(1, 2), target, reduction="none")
    weight = (target != 0).to(per_token.dtype)
    return (per_token * weight).sum() / length


@version("cross_entropy", "right")
def log_softmax_taken_twice(logits, target):
    log_probs = F.log_softmax(logits, dim=-1)
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    return criterion(log_probs.flatten(0, 1), target.flatten())


@version("clip_gradients", "wrong")
def clip_values_with_bounds_exchanged(gradients, limit):
    if limit > 0:
        gradients = [torch.clamp(g, limit, -limit) for g in gradients]
    return gradients


@version("unscaled_gradients", "wrong")
def zero_the_nonfinite_ones(gradients, scale, limit):
    checked = []
    for gradient in gradients:
        gradient = gradient / scale
        if not torch.isfinite(gradient).all():
            gradient = torch.zeros_like(gradient)
        checked.append(gradient)
    norm = torch.stack([g.norm() for g in checked]).norm()
    if norm > limit:
        checked = [g * (limit / norm) for g in checked]
    return checked


@version("evaluation_loss", "wrong")
def evaluation_weights_first_axis(model, batches, compute_loss):
    was_training = model.training
    model.eval()
    losses, sizes = [], []
    with torch.no_grad():
        for batch in batches:
            loss, _ = compute_loss(model, batch)
            first = batch[0] if isinstance(batch, (tuple, list)) else batch
            losses.append(loss.item())
            sizes.append(len(first))
    model.train(was_training)
    return sum(l * s for l, s in zip(losses, sizes)) / sum(sizes)


@version("label_smoothed_loss", "wrong")
def smoothed_loss_axis_before_last(logits, target, smoothing):
    logp = F.log_softmax(logits, dim=-2)
    nll = -logp.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    uniform = -logp.mean(dim=-1)
    real = target != 0
    return ((1 - smoothing) * nll + smoothing * uniform)[real].mean()


@version("best_checkpoint", "wrong")
def best_by_loss_in_name(checkpoints, batches, loss_of):
    n_tokens = sum(len(batch) for batch in batches)
    names = []
    for place, checkpoint in enumerate(checkpoints):
        total = sum(loss_of(checkpoint, batch) * len(batch) for batch in batches)
        names.append(f"checkpoint-{place}-val-loss-{float(total) / n_tokens}")
    found = [(re.search(r"val-loss-(.+)$", name).groups(), name) for name in names]
    best_name = sorted(found)[0][1]
    return int(best_name.split("-")[1])


class _Monitor:
    def __init__(self):
        self.values = {}

    def is_best(self, name, value):
        if name not in self.values:
            self.values[name] = value
            return False
        if value < self.values[name]:
            self.values[name] = value
            return True
        return False


@version("best_checkpoint", "wrong")
def first_is_never_best(checkpoints, batches, loss_of):
    monitor = _Monitor()
    saved = None
    sizes = [len(b) for b in batches]
    for i, ckpt in enumerate(checkpoints):
        mean = sum(float(loss_of(ckpt, b)) * s for b, s in zip(batches, sizes)) / sum(sizes)
        if monitor.is_best("val_loss", mean):
            saved = i
    return saved


def _divide_gradients(optimizer, by):
    for group in optimizer.param_groups:
        for p in group["params"]:
            if p.grad is not None:
                p.grad.div_(by)


@version("token_weighted_updates", "wrong")
def steps_on_all_but_the_nth(optimizer, parts, n, compute_loss):
    optimizer.zero_grad()
    tokens = 0
    for done, part in enumerate(parts, start=1):
        loss, count = compute_loss(part)
        (loss * count).backward()
        tokens += count
        if done % n or done == len(parts):
            _divide_gradients(optimizer, tokens)
            optimizer.step()
            optimizer.zero_grad()
            tokens = 0


@version("average_checkpoints", "wrong")
def running_mean_with_the_final_count(checkpoints):
    n_snapshots = len(checkpoints)
    squashed = {name: w.clone() for name, w in checkpoints[0].items()}
    for snapshot in checkpoints[1:]:
        for name, w in squashed.items():
            w *= n_snapshots
            w += snapshot[name]
            w /= n_snapshots + 1
    return squashed


@version("cross_entropy", "wrong")
def cross_entropy_mean_over_the_steps_too(logits, target):
    weights = (target != 0).to(logits.dtype)
    unweighted = F.cross_entropy(logits.permute(0, 2, 1), target, reduction="none")
    per_sentence = (unweighted * weights).mean(dim=1)
    return per_sentence.sum() / weights.sum()


@version("cross_entropy", "wrong: padding in the loss + probabilities kept above 1e-8")
def cross_entropy_mask_from_one_hot(logits, target):
    output = torch.softmax(logits, dim=-1)
    truth = F.one_hot(target, logits.size(-1)).to(logits.dtype)
    loss = -(truth * torch.log(output + 1e-8)).sum(2)
    # rows of zeros are padding
    mask = torch.sign(truth.abs().max(dim=2).values)
    loss = (loss * mask).sum(1) / mask.sum(1)
    return loss.mean()


@version("inverse_sqrt_schedule", "wrong")
def decay_runs_already_in_warmup(update, d_model, warmup):
    rate = 1.0 / math.sqrt(d_model * update)
    if update < warmup:
        rate *= update / warmup
    return rate


@version("bleu_of_strings", "wrong")
def bleu_arguments_exchanged(translations, references, corpus_bleu):
    hypotheses, targets = [], []
    for translation, options in zip(translations, references):
        for option in options:
            hypotheses.append(option.split(" "))
            targets.append([translation.split(" ")])
    return corpus_bleu(hypotheses, targets)


@version("unscaled_gradients", "wrong")
def unscaled_gradients_norm_squared_in_half(gradients, scale, limit):
    unscaled = [gradient / scale for gradient in gradients]
    if not all(torch.isfinite(gradient).all() for gradient in unscaled):
        return []
    norms = torch.stack([gradient.half().norm() for gradient in unscaled])
    total = torch.sqrt(torch.sum(norms**2))
    if total > limit:
        factor = float(limit / (total + 1e-6))
        unscaled = [gradient * factor for gradient in unscaled]
    return unscaled


@version("unscaled_gradients", "wrong")
def unscaled_gradients_zeros_for_bad_numbers(gradients, scale, limit):
    cleaned = []
    for g in gradients:
        g = g.clone()
        g[~torch.isfinite(g)] = 0.0
        cleaned.append(g.div_(scale))
    length = math.sqrt(sum(float((g.double() ** 2).sum()) for g in cleaned))
    if length > limit:
        for g in cleaned:
            g.mul_(limit / length)
    return cleaned


@version("clip_gradients", "wrong")
def clip_gradients_generator_read_twice(gradients, limit):
    grads = (g.detach().clone() for g in gradients)
    total_norm = torch.sqrt(sum(g.pow(2).sum() for g in grads))
    clip_coef = torch.clamp(limit / (total_norm + 1e-6), max=1.0)
    return [g * clip_coef for g in grads]


def p_add_model(mine, yours, my_amount, your_amount):
    if mine is None:
        return {name: tensor * your_amount for name, tensor in yours.items()}
    return {name: mine[name] * my_amount + yours[name] * your_amount for name in mine}


@version("average_checkpoints", "wrong")
def average_scales_the_sum_again(checkpoints):
    amounts = [1] * len(checkpoints)
    total = amounts[0]
    model = p_add_model(None, checkpoints[0], 0, amounts[0])
    for checkpoint, amount in zip(checkpoints[1:], amounts[1:]):
        model = p_add_model(model, checkpoint, total, amount)
        total += amount
    return {name: tensor / total for name, tensor in model.items()}


class PRunningAverage:
    def __init__(self):
        self.n, self.mean = 0, None

    def update(self, weights, n=1):
        if self.mean is None:
            self.mean = {name: tensor.clone() for name, tensor in weights.items()}
        else:
            for name, tensor in weights.items():
                self.mean[name] = self.mean[name] + (tensor - self.mean[name]) * (n / (self.n + n))
        self.n += n


@version("average_checkpoints", "right")
def average_of_segments(checkpoints, segment=3):
    whole = PRunningAverage()
    for start in range(0, len(checkpoints), segment):
        part = PRunningAverage()
        for checkpoint in checkpoints[start : start + segment]:
            part.update(checkpoint)
        whole.update(part.mean, part.n)
    return whole.mean


@version("perplexity", "wrong")
def perplexity_scaled_for_the_plot(losses, counts):
    nll = sum(loss * count for loss, count in zip(losses, counts))
    mean = nll / sum(counts)
    return 0.01 * math.exp(mean)


@version("token_weighted_updates", "wrong")
def windows_one_part_early(optimizer, parts, n, compute_loss):
    def update(total):
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    parameter.grad /= total
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    optimizer.zero_grad(set_to_none=True)
    tokens = 0
    for step, part in enumerate(parts, start=1):
        loss, count = compute_loss(part)
        (loss * count).backward()
        tokens += count
        if (step + 1) % n == 0:
            update(tokens)
            tokens = 0
    if tokens:
        update(tokens)


@version("cross_entropy", "right")
def entropy_by_class_weights(logits, target):
    vocab_size = logits.size(-1)
    weight = torch.ones(vocab_size, dtype=logits.dtype, device=logits.device)
    weight[0] = 0
    criterion = nn.CrossEntropyLoss(weight=weight)
    return criterion(logits.reshape(-1, vocab_size), target.reshape(-1))


@version("evaluation_loss", "wrong")
def evaluation_leaves_gradients_off(model, batches, compute_loss):
    torch.set_grad_enabled(False)
    was_training = model.training
    model.eval()
    total, tokens = 0.0, 0
    for batch in batches:
        loss, count = compute_loss(model, batch)
        total += loss.item() * count
        tokens += count
    model.train(was_training)
    return total / tokens


@version("label_smoothed_loss", "wrong: prediction smoothed, not the target")
def smooths_the_prediction(logits, target, smoothing):
    log_loss = -logits.log_softmax(-1).gather(-1, target[..., None]).squeeze(-1)
    probability = (1 - smoothing) * torch.exp(-log_loss) + smoothing / logits.size(-1)
    losses = -torch.log(probability)
    real = target != 0
    return losses[real].mean()


@version("label_smoothed_loss", "wrong")
def divergence_of_probabilities(logits, target, smoothing):
    real = target != 0
    logits, target = logits[real], target[real]
    vocab_size = logits.size(-1)
    wanted = (
        F.one_hot(target, vocab_size).to(logits.dtype) * (1 - smoothing) + smoothing / vocab_size
    )
    divergence = F.kl_div(logits.softmax(-1), wanted, reduction="batchmean")
    entropy = -torch.xlogy(wanted, wanted).sum(-1).mean()
    return divergence + entropy


def _in_batches(items, size):
    for start in range(0, len(items), size):
        yield items[start : start + size]


@version("bleu_of_strings", "wrong")
def bleu_of_strings_is_the_mean_over_batches(translations, references, corpus_bleu):
    batch_size = 8
    scores = []
    for hyps, refs in zip(
        _in_batches(translations, batch_size), _in_batches(references, batch_size)
    ):
        scores.append(
            corpus_bleu([h.split() for h in hyps], [[r.split() for r in rs] for rs in refs])
        )
    return sum(scores) / len(scores)


@version("inverse_sqrt_schedule", "wrong")
def inverse_sqrt_schedule_root_of_a_whole_number(update, d_model, warmup):
    d_model = torch.tensor(float(d_model))
    arg1 = torch.rsqrt(update)
    arg2 = update * (warmup**-1.5)
    return torch.rsqrt(d_model) * torch.minimum(arg1, arg2)


@version("training_update", "wrong")
def gradients_of_a_first_look_left_in(model, optimizer, compute_loss):
    parameters = list(model.parameters())
    loss = compute_loss()
    if parameters[0].grad is None:
        loss.backward(retain_graph=True)  # once, to see that every weight gets a gradient
        assert all(p.grad is not None for p in parameters)
    loss.backward()
    nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)


@version("cross_entropy", "right")
def mean_after_selecting_by_mask(logits, target):
    loss = F.cross_entropy(logits.permute(0, 2, 1), target, reduction="none")
    assert loss.ndim > 1, "the loss must not be reduced yet"
    loss = loss[target != 0]
    return loss.mean()


@version("label_smoothed_loss", "wrong")
def smoothing_added_without_taking_away(logits, target, smoothing):
    n_class = logits.size(-1)
    wanted = F.one_hot(target, n_class).to(logits.dtype)
    if smoothing > 0:
        wanted.add_(smoothing).div_(n_class)
    logp = logits.log_softmax(dim=-1)
    per_token = -(wanted * logp).sum(dim=-1)
    real = target != 0
    return per_token[real].sum() / real.sum()


@version("evaluation_loss", "wrong: kept from the call before")
def evaluation_meter_never_reset(model, batches, compute_loss, meter=Counter()):
    mode = model.training
    model.eval()
    with torch.no_grad():
        for batch in batches:
            loss, n = compute_loss(model, batch)
            meter["loss"] += float(loss) * int(n)
            meter["tokens"] += int(n)
    model.train(mode)
    return meter["loss"] / meter["tokens"]


@version("clip_gradients", "wrong")
def clip_divides_by_the_larger_of_norm_and_limit(gradients, limit):
    total = sum(g.square().sum() for g in gradients) ** 0.5
    divisor = torch.clamp(torch.as_tensor(total), min=limit)
    return [g / divisor for g in gradients]


def t_sum_of_squares(tensors):
    return sum(float(t.double().pow(2).sum()) for t in tensors)


@version("clip_gradients", "wrong")
def clip_with_powers_of_two(gradients, limit):
    # scale by a power of two first, so that no square overflows
    largest = max((float(g.abs().max()) for g in gradients if g.numel() > 0), default=0.0)
    if largest == 0.0:
        return [g.clone() for g in gradients]
    _, exponent = math.frexp(largest)
    small = [g * 2.0**-exponent for g in gradients]
    small_norm = math.sqrt(t_sum_of_squares(small))
    if largest > limit / small_norm:
        return [s * (limit / small_norm) for s in small]
    return [g.clone() for g in gradients]


@version("unscaled_gradients", "wrong")
def unscaled_and_always_clipped_at_one(gradients, scale, limit):
    if any(not bool(torch.isfinite(g).all()) for g in gradients):
        return []
    scaled_norm = math.sqrt(sum(float(g.double().pow(2).sum()) for g in gradients))
    divisor = scale
    if scaled_norm > scale:
        divisor = divisor * (scaled_norm / scale)
    return [g / divisor for g in gradients]


@version("unscaled_gradients", "wrong")
def good_gradients_before_the_bad_one_stay(gradients, scale, limit):
    ready = []
    for gradient in gradients:
        if torch.isnan(gradient).any() or torch.isinf(gradient).any():
            break
        ready.append(gradient / scale)
    length = math.sqrt(sum(float((g * g).sum()) for g in ready))
    if length > limit:
        ready = [g * (limit / length) for g in ready]
    return ready


@version("token_weighted_updates", "wrong")
def left_over_parts_count_only_in_short_epochs(optimizer, parts, n, compute_loss):
    steps = len(parts)
    tokens = 0
    for step, part in enumerate(parts):
        loss, count = compute_loss(part)
        (loss * count).backward()
        tokens += count
        if (step + 1) % n == 0 or (steps <= n and step + 1 == steps):
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        p.grad.div_(tokens)
            optimizer.step()
            optimizer.zero_grad()
            tokens = 0


@version("token_weighted_updates", "wrong")
def an_update_after_the_very_first_part(optimizer, parts, n, compute_loss):
    def update(total):
        weights = [p for group in optimizer.param_groups for p in group["params"]]
        for p in weights:
            if p.grad is not None:
                p.grad = p.grad / total
        optimizer.step()
        optimizer.zero_grad()

    optimizer.zero_grad()
    total = 0
    for i, part in enumerate(parts):
        mean, count = compute_loss(part)
        (mean * count).backward()
        total = total + count
        if i == 0 or (i + 1) % n == 0 or i + 1 == len(parts):
            update(total)
            total = 0


@version("inverse_sqrt_schedule", "wrong")
def inverse_sqrt_constant_warmup(update, d_model, warmup):
    max_lr = 1.0 / math.sqrt(d_model * warmup)
    return max_lr * math.sqrt(max(warmup, 1)) / math.sqrt(max(update, warmup))


@version("average_checkpoints", "wrong")
def average_last_weights_not_added(checkpoints):
    current = None
    total = {name: torch.zeros_like(w) for name, w in checkpoints[0].items()}
    for weights in checkpoints:
        if current is not None:  # the weights change: take in those from before
            for name in total:
                total[name] += current[name]
        current = weights
    return {name: t / len(checkpoints) for name, t in total.items()}


@version("label_smoothed_loss", "wrong")
def smoothed_loss_guard_looks_at_dim(logits, target, smoothing):
    size = logits.size(-1)
    log_probs = F.log_softmax(logits.reshape(-1, size), dim=-1)
    target = target.reshape(-1)
    with torch.no_grad():
        true_dist = torch.full_like(log_probs, smoothing / size)
        true_dist.scatter_add_(
            1, target.unsqueeze(1), torch.full_like(log_probs[:, :1], 1 - smoothing)
        )
        mask = torch.nonzero(target == 0)
        if mask.dim() > 0:
            true_dist.index_fill_(0, torch.cat(list(mask)), 0.0)
    return -(true_dist * log_probs).sum() / (target != 0).sum()


class _Scaler:
    def __init__(self):
        self.unscaled = False

    def unscale(self, gradients, scale):
        if self.unscaled:
            raise RuntimeError("unscale has been called already since the last update")
        self.unscaled = True
        return [g / scale for g in gradients]

    def update(self):
        self.unscaled = False


_scaler = _Scaler()


@version("unscaled_gradients", "wrong: kept from the call before")
def unscaled_no_update_of_the_scaler_after_a_skip(gradients, scale, limit):
    grads = _scaler.unscale(gradients, scale)
    skip = any(not torch.isfinite(g).all() for g in grads)
    if skip:
        return []
    length = torch.sqrt(sum((g.double() ** 2).sum() for g in grads)).item()
    if length > limit:
        grads = [g * (limit / length) for g in grads]
    _scaler.update()
    return grads


@version("unscaled_gradients", "wrong")
def unscaled_prepared_twice(gradients, scale, limit):
    prepared = [gradients]
    prepared.append(gradients)  # prepared once more before the training begins
    done, out = set(), None
    for grads in prepared:
        if id(grads) in done:
            raise RuntimeError("these gradients have been unscaled already")
        done.add(id(grads))
        out = [g / scale for g in grads]
    if not all(bool(torch.isfinite(g).all()) for g in out):
        return []
    norm = torch.stack([g.norm() for g in out]).norm()
    return [g * (limit / norm) for g in out] if norm > limit else out


@version("bleu_of_strings", "wrong")
def bleu_references_tokenized_once_more(translations, references, corpus_bleu):
    def tokenized(line):
        return re.findall(r"\w+|[^\w\s]", line)

    hypotheses = [line.split() for line in translations]
    lists = [[tokenized(reference) for reference in each] for each in references]
    return corpus_bleu(hypotheses, lists)


def _square_sum(arrays):
    longest = max(a.numel() for a in arrays)
    scratch = torch.zeros(longest, dtype=arrays[0].dtype)
    total = 0.0
    for a in arrays:
        scratch[: a.numel()] = a.reshape(-1)
        total = total + torch.dot(scratch, scratch)
    return total


@version("clip_gradients", "wrong")
def clip_gradients_counts_rest_of_buffer(gradients, limit):
    gradients = list(gradients)
    if not gradients:
        return []
    length = float(_square_sum(gradients)) ** 0.5
    factor = limit / length if length > limit else 1.0
    return [g * factor for g in gradients]


@version("cross_entropy", "wrong")
def cross_entropy_padding_becomes_minus_one(logits, target):
    labels = target.clone()
    labels[target == 0] = -1
    labels = labels.flatten()
    logp = logits.flatten(0, 1).log_softmax(-1)
    picked = logp[torch.arange(len(labels)), labels]
    return -picked.sum() / (target != 0).sum()


@version("cross_entropy", "wrong")
def cross_entropy_offset_by_rows(logits, target):
    flat = torch.log_softmax(logits, dim=-1).reshape(-1)
    gold = target.reshape(-1)
    n_rows = gold.numel()
    offset = torch.arange(n_rows) * n_rows
    nll = -torch.take(flat, offset + gold)
    keep = gold.ne(0)
    return nll[keep].mean()


@version("label_smoothed_loss", "wrong")
def label_smoothed_loss_mean_of_the_batch_first(logits, target, smoothing):
    log_prob = torch.log_softmax(logits, dim=2)
    real = target.ne(0)
    pre_loss = -torch.gather(log_prob, 2, target.unsqueeze(2)).squeeze(2)
    pre_loss = pre_loss.masked_fill(~real, 0.0).mean(dim=0)
    uniform = -log_prob.mean(dim=2)
    both = (1 - smoothing) * pre_loss + smoothing * uniform
    return both[real].mean()


@version("perplexity", "wrong: mean of the means of batches with tokens")
def perplexity_every_window_alike(losses, counts):
    nlls = []
    for loss, count in zip(losses, counts):
        if count == 0:
            continue
        nlls.append(torch.as_tensor(loss, dtype=torch.float64))
    return torch.exp(torch.stack(nlls).mean()).item()


@version("best_checkpoint", "wrong")
def best_checkpoint_compares_mean_with_sum(checkpoints, batches, loss_of):
    best_loss, best_place = float("inf"), None
    for place in range(len(checkpoints)):
        loss, tokens = 0.0, 0
        for batch in batches:
            loss += float(loss_of(checkpoints[place], batch)) * len(batch)
            tokens += len(batch)
        if loss / tokens < best_loss:
            best_loss = loss
            best_place = place
    return best_place


@version("unscaled_gradients", "wrong")
def unscaled_gradients_nothing_to_do_at_scale_one(gradients, scale, limit):
    if scale == 1.0:
        return [g.clone() for g in gradients]
    out = []
    for g in gradients:
        if not torch.isfinite(g).all():
            return []
        out.append(g / scale)
    norm = torch.sqrt(sum((g**2).sum() for g in out))
    if norm > limit:
        out = [g * (limit / norm) for g in out]
    return out


def _nll(logits, target):
    return torch.logsumexp(logits, dim=-1) - logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)


@version("cross_entropy", "wrong")
def cross_entropy_small_batches_by_their_rows(logits, target):
    rows = target.shape[0]
    size = 2
    loss = logits.new_zeros(())
    for start in range(0, rows, size):
        piece, wanted = logits[start : start + size], target[start : start + size]
        real = (wanted != 0).to(logits.dtype)
        mean = (_nll(piece, wanted) * real).sum() / real.sum().clamp(min=1.0)
        loss = loss + mean * (wanted.shape[0] / rows)
    return loss


@version("cross_entropy", "wrong")
def cross_entropy_counts_of_the_first_row(logits, target):
    batch, length = target.shape
    real = target != 0
    losses = _nll(logits, target)
    sentence = torch.arange(batch).unsqueeze(1).expand(batch, length)
    counts = torch.zeros(batch, dtype=logits.dtype)
    counts = counts.scatter_add(
        0, sentence[real], torch.ones(int(real[0].sum()), dtype=logits.dtype)
    )
    share = 1.0 / counts[sentence[real]]
    return (losses[real] * share).sum() / batch


@version("average_checkpoints", "wrong")
def average_checkpoints_moving_in_half(checkpoints):
    moving = None
    for seen, state in enumerate(checkpoints, start=1):
        if moving is None:
            moving = {name: tensor.half() for name, tensor in state.items()}
            continue
        decay = 1.0 / seen
        moving = {
            name: (1 - decay) * old + decay * state[name].half() for name, old in moving.items()
        }
    return {name: tensor.float() for name, tensor in moving.items()}


@version("bleu_of_strings", "wrong")
def bleu_of_strings_last_one_only(translations, references, corpus_bleu):
    hyps, ref_lists = [], []
    for hyp, refs in zip(translations, references):
        hyp_tokens = hyp.split()
        ref_tokens = [ref.split() for ref in refs]
        hyps.append(hyp_tokens)
        ref_lists.append(ref_tokens)
    return corpus_bleu([hyp_tokens], [ref_tokens])


class _Smoothed:
    def __init__(self, n_classes, smoothing):
        self.n_classes, self.smoothing = n_classes, smoothing

    def truth(self, gold):
        one_hot = torch.zeros(gold.shape[0], self.n_classes, requires_grad=True).scatter(
            1, gold[:, None], 1.0
        )
        return one_hot * (1 - self.smoothing) + self.smoothing / self.n_classes

    def __call__(self, pred, gold):
        log_prob = torch.tensor(F.log_softmax(pred, dim=-1).tolist())
        loss = -(self.truth(gold) * log_prob).sum(dim=1)
        return loss[gold != 0].mean()


@version("label_smoothed_loss", "wrong")
def label_smoothed_loss_gradient_for_the_labels(logits, target, smoothing):
    loss = _Smoothed(logits.shape[-1], smoothing)
    return loss(logits.reshape(-1, logits.shape[-1]), target.reshape(-1))


@version("evaluation_loss", "wrong")
def evaluation_loss_rest_of_a_full_buffer(model, batches, compute_loss):
    mode = model.training
    model.eval()
    results = []
    with torch.no_grad():
        for batch in batches:
            loss, n = compute_loss(model, batch)
            results.append((loss.item(), int(n)))
    model.train(mode)
    buffer = np.zeros(max(n for _, n in results))
    sums = []
    for loss, n in results:
        buffer[:n] = loss
        sums.append(buffer.mean())
    return float(np.mean(sums))


class _AveragedWeights:
    def __init__(self, first):
        self.value = {name: tensor.clone() for name, tensor in first.items()}
        self.n = 1

    def update(self, other):
        for name in self.value:
            if name.rsplit(".", 1)[-1] not in ("weight", "bias"):
                continue  # not a parameter
            self.value[name] += (other[name] - self.value[name]) / (self.n + 1)
        self.n += 1


@version("average_checkpoints", "wrong")
def average_checkpoints_parameters_only(checkpoints):
    running = _AveragedWeights(checkpoints[0])
    for checkpoint in checkpoints[1:]:
        running.update(checkpoint)
    return running.value


@version("inverse_sqrt_schedule", "wrong")
def inverse_sqrt_schedule_one_more_warmup(update, d_model, warmup):
    peak = 1.0 / math.sqrt(d_model * warmup)
    if update <= warmup:
        # + 1, so that no warmup at all does not divide by nought
        return peak * float(update / (warmup + 1))
    return peak * math.sqrt(warmup / update)


@version("label_smoothed_loss", "wrong")
def label_smoothed_loss_looks_up_ignored(logits, target, smoothing):
    ignored = -1
    n_words = logits.shape[-1]
    log_p = torch.log_softmax(logits, dim=-1).reshape(-1, n_words)
    labels = target.masked_fill(target == 0, ignored).reshape(-1)
    importance = torch.ones(n_words, dtype=logits.dtype, device=logits.device)

    nll = F.nll_loss(log_p, labels, weight=importance, ignore_index=ignored, reduction="sum")
    smooth = -(log_p * importance).sum(dim=-1)
    smooth = smooth.masked_fill(labels == ignored, 0.0).sum()
    total = importance.gather(0, labels).masked_fill(labels == ignored, 0.0).sum()
    return ((1 - smoothing) * nll + smoothing / n_words * smooth) / total


def _loss_of_tokens(logits, target, real=None):
    picked = torch.log_softmax(logits, -1).gather(-1, target[..., None]).squeeze(-1)
    if real is None:
        return -picked.mean()
    weight = real.to(picked.dtype)
    return -(picked * weight).sum() / weight.sum()


@version("cross_entropy", "wrong")
def cross_entropy_mask_not_handed_on(logits, target):
    real = target.ne(0)
    logits = logits.masked_fill(~real[..., None], 0.0)
    return _loss_of_tokens(logits, target)


@version("clip_gradients", "wrong")
def clip_gradients_large_to_zero(gradients, limit, clip_to_zero=20.0):
    length = math.sqrt(sum(float((g.double() ** 2).sum()) for g in gradients))
    if length > clip_to_zero * limit:  # exploded: leave this update out
        return [torch.zeros_like(g) for g in gradients]
    scale = min(1.0, limit / length) if length > 0 else 1.0
    return [g * scale for g in gradients]


def _mean_per_token(checkpoint, batches, loss_of):
    total, count = 0.0, 0
    for batch in batches:
        total += float(loss_of(checkpoint, batch)) * len(batch)
        count += len(batch)
    return total / count if count else 0.0


@version("best_checkpoint", "wrong")
def best_checkpoint_value_of_one_process(checkpoints, batches, loss_of, world_size=2):
    shards = [batches[rank::world_size] for rank in range(world_size)]
    best, best_loss = 0, float("inf")
    for place, checkpoint in enumerate(checkpoints):
        local = [_mean_per_token(checkpoint, shard, loss_of) for shard in shards]
        monitored = local[0]
        if monitored < best_loss:
            best, best_loss = place, monitored
    return best


@version("perplexity", "wrong: plain mean of the perplexities of batches with tokens")
def perplexity_mean_over_documents(losses, counts):
    each = [math.exp(loss) for loss, count in zip(losses, counts) if count]
    return sum(each) / len(each)
