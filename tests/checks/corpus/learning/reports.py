"""What people reported in public, rebuilt on 2026-11-28 from the descriptions, in our own code."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import version


@version("label_smoothed_loss", "wrong: divergence from a distribution over V − 2 words")
def smoothed_as_annotated(logits, target, smoothing):
    guess = F.log_softmax(logits.flatten(0, 1), dim=-1)
    ids = target.flatten()
    wanted = torch.zeros_like(guess).fill_(smoothing / (guess.size(1) - 2))
    wanted[torch.arange(len(ids)), ids] = 1 - smoothing
    wanted[:, 0] = 0
    wanted[ids == 0] = 0
    return nn.KLDivLoss(reduction="sum")(guess, wanted) / ids.count_nonzero()


@version("label_smoothed_loss", "wrong: divergence in place of the smoothed loss")
def smoothed_divergence(logits, target, smoothing):
    words = logits.size(-1)
    wanted = (1 - smoothing) * F.one_hot(target, words) + smoothing / words
    lost = F.kl_div(logits.log_softmax(-1), wanted.to(logits.dtype), reduction="none").sum(-1)
    return lost[target > 0].mean()


@version("label_smoothed_loss", "wrong: smoothing shared among V − 2 words")
def smoothed_without_padding(logits, target, smoothing):
    words = logits.size(-1)
    share = torch.full_like(logits, smoothing / (words - 2))
    share[..., 0] = 0.0
    share = share.scatter(-1, target.unsqueeze(-1), 1 - smoothing)
    lost = -(share * logits.log_softmax(dim=-1)).sum(dim=-1)
    return lost.masked_select(target.ne(0)).mean()


@version("accumulated_update", "wrong: divided by a fixed number of parts, 4")
def four_parts_always(optimizer, scheduler, parts, compute_loss, accumulation=4):
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            parameter.grad = None
    for loss in map(compute_loss, parts):
        loss.div(accumulation).backward()
    optimizer.step()
    scheduler.step()


@version("accumulated_update", "wrong: divided by a fixed number of parts, 2")
def two_parts_always(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad(set_to_none=True)
    for part in parts:
        half = 0.5 * compute_loss(part)
        half.backward()
    optimizer.step()
    scheduler.step()


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


@version("accumulated_update", "wrong: schedule stepped in the loop over the parts")
def scheduler_in_the_loop(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for i, part in enumerate(parts):
        (compute_loss(part) / len(parts)).backward()
        if i == len(parts) - 1:
            optimizer.step()
        scheduler.step()
