"""Right versions of learning, as people write them: none of these may be refused."""

import copy
import itertools
import math
from collections import OrderedDict

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import version

# --- cross_entropy --------------------------------------------------------------------------------


@version("cross_entropy", "right", "F.cross_entropy, flattened")
def cross_entropy_flat(logits, target):
    return F.cross_entropy(logits.reshape(-1, logits.size(-1)), target.reshape(-1), ignore_index=0)


@version("cross_entropy", "right", "nn.CrossEntropyLoss, transposed")
def cross_entropy_transposed(logits, target):
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    return criterion(logits.transpose(1, 2), target)


@version("cross_entropy", "right", "token by token")
def cross_entropy_loop(logits, target):
    total, count = 0.0, 0
    for row, words in zip(logits, target):
        for scores, word in zip(row, words):
            if word != 0:
                total = total - F.log_softmax(scores, dim=-1)[word]
                count += 1
    return total / count


@version("cross_entropy", "right", "logsumexp and a mask of numbers")
def cross_entropy_logsumexp(logits, target):
    mask = (target > 0).float()
    right = torch.gather(logits, -1, target.unsqueeze(-1)).squeeze(-1)
    nll = torch.logsumexp(logits, dim=-1) - right
    return (nll * mask).sum() / mask.sum()


@version("cross_entropy", "right", "softmax of doubles, then the log")
def cross_entropy_double(logits, target):
    p = logits.double().softmax(-1)
    one_hot = F.one_hot(target, logits.size(-1))
    p_right = (p * one_hot).sum(-1)
    return -p_right[target != 0].log().mean()


@version("cross_entropy", "right", "sum, divided by the number")
def cross_entropy_sum(logits, target):
    loss = F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0, reduction="sum")
    return loss / target.count_nonzero()


@version("cross_entropy", "right", "nll_loss")
def cross_entropy_nll(logits, target):
    log_p = logits.log_softmax(-1).permute(0, 2, 1)
    return F.nll_loss(log_p, target, ignore_index=0)


@version("cross_entropy", "right", "where")
def cross_entropy_where(logits, target):
    losses = F.cross_entropy(logits.mT, target, reduction="none")
    return torch.where(target == 0, 0.0, losses).sum().div((target != 0).sum())


# --- label_smoothed_loss --------------------------------------------------------------------------


@version("label_smoothed_loss", "right", "F.cross_entropy")
def smoothed_ready_made(logits, target, smoothing):
    return F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=0, label_smoothing=smoothing
    )


@version("label_smoothed_loss", "right", "a smoothed target")
def smoothed_target(logits, target, smoothing):
    v = logits.size(-1)
    q = F.one_hot(target, v) * (1 - smoothing) + smoothing / v
    losses = -(q * logits.log_softmax(-1)).sum(-1)
    real = target.ne(0)
    return (losses * real).sum() / real.sum()


@version("label_smoothed_loss", "right", "scatter")
def smoothed_scatter(logits, target, smoothing):
    log_p = F.log_softmax(logits.flatten(0, 1), dim=-1)
    target = target.flatten()
    q = torch.full_like(log_p, smoothing / log_p.size(1))
    q.scatter_add_(1, target[:, None], torch.full((len(target), 1), 1 - smoothing))
    return -(q * log_p)[target != 0].sum() / (target != 0).sum()


@version("label_smoothed_loss", "right", "two terms")
def smoothed_two_terms(logits, target, smoothing):
    real = target != 0
    log_p = torch.log_softmax(logits[real], dim=-1)  # (N, V)
    nll = -log_p.gather(1, target[real][:, None]).mean()
    uniform = -log_p.mean()
    return (1 - smoothing) * nll + smoothing * uniform


@version("label_smoothed_loss", "right", "token by token")
def smoothed_loop(logits, target, smoothing):
    losses = []
    v = logits.shape[2]
    for b in range(target.shape[0]):
        for t in range(target.shape[1]):
            word = int(target[b, t])
            if word == 0:
                continue
            log_p = logits[b, t] - logits[b, t].logsumexp(0)
            losses.append(-(1 - smoothing) * log_p[word] - smoothing / v * log_p.sum())
    return torch.stack(losses).mean()


# --- perplexity -----------------------------------------------------------------------------------


@version("perplexity", "right", "a loop")
def perplexity_loop(losses, counts):
    total = 0
    for i in range(len(losses)):
        total += losses[i] * counts[i]
    return math.exp(total / sum(counts))


@version("perplexity", "right", "NumPy")
def perplexity_numpy(losses, counts):
    return np.exp(np.average(losses, weights=counts))


@version("perplexity", "right", "NumPy, 32 bits")
def perplexity_numpy_32(losses, counts):
    losses, counts = np.array(losses, dtype=np.float32), np.array(counts, dtype=np.float32)
    return np.exp((losses * counts).sum() / counts.sum())


@version("perplexity", "right", "NumPy, an array without axes")
def perplexity_numpy_array(losses, counts):
    return np.array(np.exp(np.dot(losses, counts) / np.sum(counts)))


@version("perplexity", "right", "tensors")
def perplexity_tensors(losses, counts):
    losses, counts = torch.tensor(losses), torch.tensor(counts).float()
    return torch.exp(losses @ counts / counts.sum())


@version("perplexity", "right", "powers of two")
def perplexity_bits(losses, counts):
    bits = sum(loss / math.log(2) * n for loss, n in zip(losses, counts))
    return 2 ** (bits / sum(counts))


@version("perplexity", "right", "the geometric mean")
def perplexity_product(losses, counts):
    n = sum(counts)
    return math.prod(math.e ** (loss * count / n) for loss, count in zip(losses, counts))


@version("perplexity", "right", "every token's loss written out")
def perplexity_written_out(losses, counts):
    every = [loss for loss, n in zip(losses, counts) for _ in range(n)]
    return torch.tensor(every, dtype=torch.float64).mean().exp().item()


# --- inverse_sqrt_schedule ------------------------------------------------------------------------


version("inverse_sqrt_schedule", "right", "the paper's formula")(
    lambda step, d_model, warmup: d_model ** (-0.5) * min(step ** (-0.5), step * warmup ** (-1.5))
)


@version("inverse_sqrt_schedule", "right", "an if")
def schedule_if(update, d_model, warmup):
    peak = 1 / math.sqrt(d_model * warmup)
    if update < warmup:
        return peak * update / warmup
    return peak * math.sqrt(warmup / update)


@version("inverse_sqrt_schedule", "right", "tensors")
def schedule_tensor(update, d_model, warmup):
    u = torch.tensor(float(update))
    return d_model**-0.5 * torch.minimum(u.rsqrt(), u * warmup**-1.5)


@version("inverse_sqrt_schedule", "right", "NumPy")
def schedule_numpy(update, d_model, warmup):
    return np.sqrt(1 / d_model) * np.min([1 / np.sqrt(update), update / warmup**1.5])


class Noam:
    def rate(self, step, d_model, warmup):
        return (d_model * max(step, warmup**3 / step**2)) ** -0.5


version("inverse_sqrt_schedule", "right", "a bound method")(Noam().rate)


# --- clip_gradients -------------------------------------------------------------------------------


@version("clip_gradients", "right", "the norm of the norms")
def clip_norms(gradients, limit):
    total = torch.linalg.vector_norm(torch.stack([g.norm() for g in gradients]))
    factor = torch.clamp(limit / (total + 1e-6), max=1.0)
    return [g * factor for g in gradients]


@version("clip_gradients", "right", "clip_grad_norm_ on copies")
def clip_ready_made(gradients, limit):
    parameters = [nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for parameter, g in zip(parameters, gradients):
        parameter.grad = g.clone()
    nn.utils.clip_grad_norm_(parameters, max_norm=limit)
    return [parameter.grad for parameter in parameters]


@version("clip_gradients", "right", "one long vector")
def clip_cat(gradients, limit):
    flat = torch.cat([g.flatten() for g in gradients])
    norm = flat.norm(p=2).item()
    if norm <= limit:
        return gradients
    flat = flat * limit / norm
    parts = flat.split([g.numel() for g in gradients])
    return [part.view(g.shape) for part, g in zip(parts, gradients)]


@version("clip_gradients", "right", "a tuple, plain numbers")
def clip_plain(gradients, limit):
    squares = sum(v * v for g in gradients for v in g.flatten().tolist())
    length = math.sqrt(squares)
    scale = 1.0 if length == 0 else min(1.0, limit / length)
    return tuple(scale * g for g in gradients)


@version("clip_gradients", "right", "deep copies, in place")
def clip_deepcopy(gradients, limit):
    gradients = copy.deepcopy(gradients)
    length = sum((g**2).sum() for g in gradients).sqrt()
    if length > limit:
        for g in gradients:
            g.mul_(limit / length)
    return gradients


# --- training_update ------------------------------------------------------------------------------


@version("training_update", "right", "by the book")
def update_by_the_book(model, optimizer, compute_loss):
    optimizer.zero_grad()
    loss = compute_loss()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


@version("training_update", "right", "the loss first, kept zeros, returns the loss")
def update_loss_first(model, optimizer, compute_loss):
    model.train()
    loss = compute_loss()
    optimizer.zero_grad(set_to_none=False)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm=1)
    optimizer.step()
    return loss.item()


@version("training_update", "right", "cleared by hand, clipped by hand")
def update_by_hand(model, optimizer, compute_loss):
    for p in model.parameters():
        p.grad = None
    compute_loss().backward()
    grads = [p.grad for p in model.parameters()]
    norm = torch.sqrt(sum((g * g).sum() for g in grads))
    if norm > 1:
        for g in grads:
            g /= norm
    optimizer.step()


@version("training_update", "right", "cleared afterwards")
def update_cleared_afterwards(model, optimizer, compute_loss):
    compute_loss().backward()
    nn.utils.clip_grad_norm_(list(model.parameters()), 1.0, norm_type=2.0)
    optimizer.step()
    optimizer.zero_grad()


@version("training_update", "right", "autograd.grad")
def update_autograd_grad(model, optimizer, compute_loss):
    parameters = list(model.parameters())
    for p, g in zip(parameters, torch.autograd.grad(compute_loss(), parameters)):
        p.grad = g
    total = nn.utils.get_total_norm([p.grad for p in parameters])
    nn.utils.clip_grads_with_norm_(parameters, 1.0, total)
    optimizer.step()


@version("training_update", "right", "a closure for the optimizer")
def update_closure(model, optimizer, compute_loss):
    def closure():
        model.zero_grad()
        loss = compute_loss()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        return loss

    return optimizer.step(closure)


# --- accumulated_update ---------------------------------------------------------------------------


@version("accumulated_update", "right", "loss divided by the parts")
def acc_divided(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        loss = compute_loss(part) / len(parts)
        loss.backward()
    optimizer.step()
    scheduler.step()


@version("accumulated_update", "right", "zeroed at the end")
def acc_zero_last(optimizer, scheduler, parts, compute_loss):
    n = len(parts)
    for i, part in enumerate(parts, 1):
        (compute_loss(part) * (1 / n)).backward()
        if i == n:
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad(set_to_none=True)


@version("accumulated_update", "right", "gradients divided at the end")
def acc_gradients(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        compute_loss(part).backward()
    for group in optimizer.param_groups:
        for p in group["params"]:
            p.grad.div_(len(parts))
    optimizer.step()
    scheduler.step()


@version("accumulated_update", "right", "one loss, one backward")
def acc_one(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    torch.stack([compute_loss(part) for part in parts]).mean().backward()
    optimizer.step()
    scheduler.step()


# --- best_checkpoint ------------------------------------------------------------------------------


@version("best_checkpoint", "right", "a running best")
def best_loop(checkpoints, batches, loss_of):
    best, place = float("inf"), -1
    for i, checkpoint in enumerate(checkpoints):
        total = tokens = 0
        for batch in batches:
            total += loss_of(checkpoint, batch) * len(batch)
            tokens += len(batch)
        if total / tokens < best:
            best, place = total / tokens, i
    return place


@version("best_checkpoint", "right", "sums are enough")
def best_sum(checkpoints, batches, loss_of):
    def total(i):
        return sum(len(b) * loss_of(checkpoints[i], b) for b in batches)

    return min(range(len(checkpoints)), key=total)


@version("best_checkpoint", "right", "a matrix product")
def best_matrix(checkpoints, batches, loss_of):
    losses = torch.tensor([[loss_of(c, b) for b in batches] for c in checkpoints])
    counts = torch.tensor([float(len(b)) for b in batches])
    return (losses @ counts / counts.sum()).argmin()


# --- average_checkpoints --------------------------------------------------------------------------


@version("average_checkpoints", "right", "a running sum")
def average_running(checkpoints):
    total = {name: tensor.clone() for name, tensor in checkpoints[0].items()}
    for checkpoint in checkpoints[1:]:
        for name in total:
            total[name] += checkpoint[name]
    return {name: tensor / len(checkpoints) for name, tensor in total.items()}


@version("average_checkpoints", "right", "sum and an ordered dictionary")
def average_sum(checkpoints):
    n = len(checkpoints)
    return OrderedDict((k, sum(c[k] for c in checkpoints) / n) for k in checkpoints[-1])


@version("average_checkpoints", "right", "weights of a module")
def average_parameters(checkpoints):
    average = nn.ParameterDict()
    for name in checkpoints[0]:
        average[name] = torch.stack([c[name].double() for c in checkpoints]).mean(0).float()
    return dict(average)


@version("average_checkpoints", "right", "state_dict")
def average_state_dict(checkpoints):
    module = nn.Module()
    for name in checkpoints[0]:
        module.register_buffer(name, torch.zeros_like(checkpoints[0][name]))
        for checkpoint in checkpoints:
            getattr(module, name).add_(checkpoint[name], alpha=1 / len(checkpoints))
    return module.state_dict()


@version("average_checkpoints", "right", "clones, lerp")
def average_lerp(checkpoints):
    average = {name: tensor.clone() for name, tensor in checkpoints[0].items()}
    for i, checkpoint in enumerate(checkpoints[1:], start=2):
        for name, tensor in average.items():
            tensor.lerp_(checkpoint[name], 1 / i)
    return average


# --- evaluation_loss ------------------------------------------------------------------------------


@version("evaluation_loss", "right", "in a loop")
def evaluation_in_a_loop(model, batches, compute_loss):
    mode, total, tokens = model.training, 0.0, 0
    model.eval()
    with torch.no_grad():
        for batch in batches:
            loss, n = compute_loss(model, batch)
            total, tokens = total + loss.item() * n, tokens + n
    model.train(mode)
    return total / tokens


@version("evaluation_loss", "right", "under a decorator")
@torch.inference_mode()
def evaluation_decorated(model, batches, compute_loss):
    was_training = model.training
    model.train(mode=False)
    try:
        losses, counts = zip(*(compute_loss(model, batch) for batch in batches), strict=True)
    finally:
        if was_training:
            model.train()
    weights = torch.tensor(counts, dtype=torch.float32)
    return torch.dot(torch.stack(losses), weights) / weights.sum()


@version("evaluation_loss", "right", "a running mean")
def evaluation_running(model, batches, compute_loss):
    before = model.training
    mean, seen = 0.0, 0
    torch.set_grad_enabled(False)
    for batch in batches:
        loss, n = compute_loss(model.eval(), batch)
        seen += n
        mean += (float(loss) - mean) * n / seen
    torch.set_grad_enabled(True)
    model.train(before)
    return mean


# --- token_weighted_updates ----------------------------------------------------------------------


@version("token_weighted_updates", "right", "cut into windows")
def weighted_windows(optimizer, parts, n, compute_loss):
    for start in range(0, len(parts), n):
        optimizer.zero_grad()
        losses, counts = zip(*map(compute_loss, parts[start : start + n]), strict=True)
        total = sum(counts)
        for loss, count in zip(losses, counts, strict=True):
            (loss * (count / total)).backward()
        optimizer.step()


@version("token_weighted_updates", "right", "gradients divided at the end")
def weighted_by_gradients(optimizer, parts, n, compute_loss):
    optimizer.zero_grad()
    tokens = 0
    for i, part in enumerate(parts, start=1):
        loss, count = compute_loss(part)
        (loss * count).backward()
        tokens += count
        if i % n == 0 or i == len(parts):
            for group in optimizer.param_groups:
                for weight in group["params"]:
                    weight.grad /= tokens
            optimizer.step()
            optimizer.zero_grad()
            tokens = 0


@version("token_weighted_updates", "right", "an iterator of windows")
def weighted_batched(optimizer, parts, n, compute_loss):
    rest = iter(parts)
    while window := list(itertools.islice(rest, n)):
        measured = [compute_loss(part) for part in window]
        weights = torch.tensor([float(count) for _, count in measured])
        loss = torch.stack([loss for loss, _ in measured]) @ (weights / weights.sum())
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()


# --- unscaled_gradients --------------------------------------------------------------------------


@version("unscaled_gradients", "right", "one factor")
def unscaled_by_a_factor(gradients, scale, limit):
    norm = torch.cat([g.flatten() for g in gradients]).norm() / scale
    if not torch.isfinite(norm):
        return []
    factor = min(1.0, limit / max(norm.item(), 1e-12)) / scale
    return [g * factor for g in gradients]


@version("unscaled_gradients", "right", "as PyTorch clips")
def unscaled_and_clipped(gradients, scale, limit):
    inverse = 1.0 / scale
    found = [g.clone().mul_(inverse) for g in gradients]
    if any(torch.isinf(g).any() or torch.isnan(g).any() for g in found):
        return []
    size = sum(g.pow(2).sum() for g in found).sqrt()
    clip = (limit / (size + 1e-6)).clamp(max=1.0)
    return [g * clip for g in found]


@version("unscaled_gradients", "right", "with nn.utils")
def unscaled_parameters(gradients, scale, limit):
    holders = [torch.zeros_like(g).requires_grad_() for g in gradients]
    for holder, g in zip(holders, gradients, strict=True):
        holder.grad = g / scale
    if not all(torch.isfinite(holder.grad).all() for holder in holders):
        return []
    nn.utils.clip_grad_norm_(holders, limit)
    return [holder.grad for holder in holders]


# --- bleu_of_strings -----------------------------------------------------------------------------


@version("bleu_of_strings", "right", "comprehensions")
def bleu_cut(translations, references, corpus_bleu):
    mine = [text.split() for text in translations]
    return corpus_bleu(mine, [[text.split() for text in several] for several in references])


@version("bleu_of_strings", "right", "in a loop")
def bleu_loop(translations, references, corpus_bleu):
    hypotheses, lists = [], []
    for text, several in zip(translations, references, strict=True):
        hypotheses.append(text.split(" "))
        lists.append([one.split(" ") for one in several])
    return torch.tensor(corpus_bleu(hypotheses, lists))


@version("bleu_of_strings", "right", "with map")
def bleu_map(translations, references, corpus_bleu):
    return corpus_bleu(
        list(map(str.split, translations)), [list(map(str.split, few)) for few in references]
    )
