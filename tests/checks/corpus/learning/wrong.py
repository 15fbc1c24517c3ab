"""Wrong versions of learning: each makes the mistake that is named."""

import math
import re

import torch
import torch.nn.functional as F
from torch import nn

from tests.checks.corpus import version

# --- cross_entropy --------------------------------------------------------------------------------


@version("cross_entropy", "wrong: log-softmax over the sentences")
def ce_no_dim(logits, target):
    log_p = F.log_softmax(logits)
    losses = -log_p.gather(-1, target[..., None])[..., 0]
    return losses[target != 0].mean()


@version("cross_entropy", "wrong: log-softmax over the sentences", instance=True)
class LossNoDim(nn.Module):
    def __init__(self):
        super().__init__()
        self.log_softmax = nn.LogSoftmax()

    def forward(self, logits, target):
        log_p = self.log_softmax(logits)
        return F.nll_loss(log_p.flatten(0, 1), target.flatten(), ignore_index=0)


@version("cross_entropy", "wrong: all special tokens left out of the loss")
def ce_words(logits, target):
    return F.cross_entropy(logits[target > 3], target[target > 3])


@version("cross_entropy", "wrong: all special tokens left out of the loss")
def ce_words_masked(logits, target):
    losses = F.cross_entropy(logits.mT, target, reduction="none")
    real = target.ge(4)
    return (losses * real).sum() / real.sum()


@version("cross_entropy", "wrong: last position left out of the loss")
def ce_cut(logits, target):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), target[:, :-1].flatten(), ignore_index=0)


@version("cross_entropy", "wrong: loss with the wrong sign")
def ce_sign(logits, target):
    return -F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0)


@version("cross_entropy", "wrong: padding in the loss")
def ce_all(logits, target):
    return F.cross_entropy(logits.transpose(1, 2), target)


@version("cross_entropy", "wrong: loss averaged per sentence")
def ce_per_sentence(logits, target):
    losses = F.cross_entropy(logits.transpose(1, 2), target, ignore_index=0, reduction="none")
    lengths = (target != 0).sum(1)
    return (losses.sum(1) / lengths).mean()


@version("cross_entropy", "wrong: padding left out of the sum, not of the count")
def ce_masked_mean(logits, target):
    losses = -logits.log_softmax(-1).gather(-1, target.unsqueeze(-1)).squeeze(-1)
    return (losses * (target != 0)).mean()


@version("cross_entropy", "wrong: summed in place of averaged")
def ce_sum(logits, target):
    return F.cross_entropy(logits.mT, target, ignore_index=0, reduction="sum")


@version("cross_entropy", "convention: divided by the number of sentences")
def ce_by_batch(logits, target):
    total = F.cross_entropy(logits.mT, target, ignore_index=0, reduction="sum")
    return total / logits.size(0)


@version("cross_entropy", "wrong: softmax applied twice")
def ce_of_softmax(logits, target):
    return F.cross_entropy(logits.softmax(-1).transpose(1, 2), target, ignore_index=0)


@version("cross_entropy", "wrong: softmax applied twice", instance=True)
class LossWithSoftmax(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)
        self.loss = nn.CrossEntropyLoss(ignore_index=0)

    def forward(self, logits, target):
        probabilities = self.softmax(logits)
        return self.loss(probabilities.view(-1, probabilities.shape[-1]), target.view(-1))


@version("cross_entropy", "wrong: logits without a softmax")
def ce_nll_of_logits(logits, target):
    return F.nll_loss(logits.mT, target, ignore_index=0)


@version("cross_entropy", "wrong: log-softmax over the positions")
def ce_log_of_dim_1(logits, target):
    p = torch.softmax(logits, 1)
    real = target != 0
    return -p.log().gather(2, target[..., None]).squeeze(-1)[real].mean()


@version("cross_entropy", "wrong: bits in place of nats")
def ce_log2(logits, target):
    p = logits.softmax(-1).gather(2, target.unsqueeze(2)).squeeze(2)
    return -torch.log2(p[target != 0]).mean()


@version("cross_entropy", "convention: bits in place of nats")
def ce_over_ln2(logits, target):
    return F.cross_entropy(logits.mT, target, ignore_index=0) / math.log(2)


# --- label_smoothed_loss --------------------------------------------------------------------------


@version("label_smoothed_loss", "wrong: ε forgotten beside the spread")
def smooth_one_over_v(logits, target, smoothing):
    v = logits.size(-1)
    wanted = (1 - smoothing) * F.one_hot(target, v) + 1.0 / v
    losses = -(wanted * logits.log_softmax(-1)).sum(-1)
    return losses[target != 0].mean()


@version("label_smoothed_loss", "wrong: smoothed loss summed in place of averaged")
def ls_sum(logits, target, smoothing):
    return F.cross_entropy(
        logits.mT, target, ignore_index=0, reduction="sum", label_smoothing=smoothing
    )


def smoothed(logits, target, smoothing):
    return F.cross_entropy(logits.mT, target, reduction="none", label_smoothing=smoothing)


@version("label_smoothed_loss", "wrong: smoothed loss averaged per sentence")
def ls_sentences(logits, target, smoothing):
    real = (target != 0).float()
    return ((smoothed(logits, target, smoothing) * real).sum(1) / real.sum(1)).mean()


@version("label_smoothed_loss", "wrong: smoothed loss divided by all positions")
def ls_all(logits, target, smoothing):
    return smoothed(logits, target, smoothing).masked_fill(target == 0, 0.0).mean()


@version("label_smoothed_loss", "wrong: smoothed loss of a softmax taken twice")
def ls_twice(logits, target, smoothing):
    return smoothed(logits.softmax(-1), target, smoothing)[target != 0].mean()


@version("label_smoothed_loss", "wrong: smoothed loss by the logarithm of a softmax")
def ls_log(logits, target, smoothing):
    log_p = torch.log(logits.softmax(-1))
    nll = -log_p.gather(2, target[..., None]).squeeze(2)
    return ((1 - smoothing) * nll - smoothing * log_p.mean(-1))[target != 0].mean()


@version("label_smoothed_loss", "wrong: smoothing fixed at a tenth")
def ls_tenth(logits, target, smoothing):
    return F.cross_entropy(
        logits.flatten(0, 1), target.flatten(), ignore_index=0, label_smoothing=0.1
    )


@version("label_smoothed_loss", "wrong: smoothing with the wrong sign")
def ls_minus(logits, target, smoothing):
    log_p = logits.log_softmax(-1)
    nll = -log_p.gather(2, target[..., None]).squeeze(2)
    return ((1 - smoothing) * nll + smoothing * log_p.mean(-1))[target != 0].mean()


@version("label_smoothed_loss", "convention: smoothing shared among the wrong tokens only")
def ls_kldiv_weights(logits, target, smoothing):
    log_p = logits.log_softmax(-1)
    weights = torch.full_like(log_p, smoothing / (log_p.size(-1) - 1)).detach()
    weights.scatter_(-1, target.unsqueeze(-1), 1 - smoothing)
    return -(weights * log_p).sum(-1)[target != 0].mean()


@version("label_smoothed_loss", "wrong: smoothing summed, not averaged")
def ls_sum_2(logits, target, smoothing):
    log_p = logits.log_softmax(-1)
    nll = F.nll_loss(log_p.mT, target, ignore_index=0)
    smooth = -log_p.sum(-1)[target != 0].mean()
    return (1 - smoothing) * nll + smoothing * smooth


@version("label_smoothed_loss", "wrong: the right token's share not reduced")
def ls_added(logits, target, smoothing):
    log_p = logits.log_softmax(-1)
    nll = F.nll_loss(log_p.mT, target, ignore_index=0)
    return nll - smoothing * log_p.mean(-1)[target != 0].mean()


@version("label_smoothed_loss", "wrong: ε and 1 − ε exchanged")
def ls_exchanged(logits, target, smoothing):
    return F.cross_entropy(logits.mT, target, ignore_index=0, label_smoothing=1 - smoothing)


@version("label_smoothed_loss", "wrong: smoothing ignored")
def ls_ignored(logits, target, smoothing):
    return F.cross_entropy(logits.mT, target, ignore_index=0)


@version(
    "label_smoothed_loss", "wrong: smoothing ignored + smoothed loss by the logarithm of a softmax"
)
def ls_ignored_by_hand(logits, target, smoothing):
    real = target != 0
    log_p = torch.log(torch.softmax(logits[real], -1))
    return -log_p[torch.arange(len(log_p)), target[real]].mean()


@version("label_smoothed_loss", "wrong: padding in the smoothed loss")
def ls_padding(logits, target, smoothing):
    return F.cross_entropy(logits.mT, target, label_smoothing=smoothing)


# --- perplexity -----------------------------------------------------------------------------------


@version("perplexity", "wrong: mean of the perplexities")
def ppl_weighted_exponentials(losses, counts):
    weights = torch.tensor(counts, dtype=torch.float64) / sum(counts)
    return (weights * torch.tensor(losses, dtype=torch.float64).exp()).sum()


@version("perplexity", "wrong: sums divided by the number of batches")
def ppl_batches(losses, counts):
    total = 0.0
    for loss, n in zip(losses, counts, strict=True):
        total += loss * n
    return math.exp(total / len(counts))


@version("perplexity", "wrong: losses summed")
def ppl_sum(losses, counts):
    return math.exp(sum(losses))


@version("perplexity", "wrong: two to the power of nats")
def ppl_two(losses, counts):
    return 2 ** (sum(a * b for a, b in zip(losses, counts, strict=True)) / sum(counts))


@version("perplexity", "wrong: two to the power of nats")
def ppl_two_tensor(losses, counts):
    counts = torch.tensor(counts).float()
    return torch.exp2((torch.tensor(losses) * counts).sum() / counts.sum())


# --- inverse_sqrt_schedule ------------------------------------------------------------------------


@version("inverse_sqrt_schedule", "wrong: warm-up to the power of minus one")
def lr_minus_one(update, d_model, warmup):
    return d_model**-0.5 * min(update**-0.5, update / warmup)


@version("inverse_sqrt_schedule", "wrong: no decay after the warm-up")
def lr_flat(update, d_model, warmup):
    return d_model**-0.5 * min(update, warmup) * warmup**-1.5


@version("inverse_sqrt_schedule", "wrong: warm-up forgotten")
def lr_no_warmup(update, d_model, warmup):
    return 1 / math.sqrt(d_model * update)


@version("inverse_sqrt_schedule", "wrong: warm-up for ever")
def lr_for_ever(update, d_model, warmup):
    return d_model**-0.5 * update * warmup**-1.5


# --- clip_gradients -------------------------------------------------------------------------------


def shortened(gradients, size, limit):
    factor = min(1.0, limit / (float(size) + 1e-12))
    return [g * factor for g in gradients]


@version("clip_gradients", "wrong: largest entry taken for the length")
def clip_inf(gradients, limit):
    return shortened(gradients, max(float(g.abs().max()) for g in gradients), limit)


@version("clip_gradients", "wrong: limit forgotten in the numerator")
def clip_unit(gradients, limit):
    size = math.sqrt(sum(float(g.square().sum()) for g in gradients))
    return [g / size for g in gradients] if size > limit else list(gradients)


@version("clip_gradients", "wrong: always brought to the limit")
def clip_always_nan(gradients, limit):
    total = math.sqrt(sum((g**2).sum().item() for g in gradients))
    return [g * torch.tensor(limit / 1.0) / torch.tensor(total) for g in gradients]


@version("clip_gradients", "wrong: not clipped")
def clip_not(gradients, limit):
    return [g.clone() for g in gradients]


# --- training_update ------------------------------------------------------------------------------


@version("training_update", "wrong: step before backward / gradients zeroed after backward")
def up_step_then_backward(model, optimizer, compute_loss):
    model.zero_grad()
    loss = compute_loss()
    optimizer.step()
    loss.backward()


@version("training_update", "wrong: gradients always brought to length one")
def update_unit(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    size = sum(p.grad.square().sum() for p in model.parameters()).sqrt()
    for p in model.parameters():
        p.grad.mul_(1 / size)
    optimizer.step()


@version(
    "training_update", "wrong: clipped before backward / clipped after the step / clipping left out"
)
def update_plain(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    optimizer.step()


@version("training_update", "wrong: step at the top, before the loss")
def up_step_at_the_top(model, optimizer, compute_loss):
    optimizer.step()
    optimizer.zero_grad()
    compute_loss().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@version("training_update", "wrong: two steps in one update")
def up_twice(model, optimizer, compute_loss):
    optimizer.zero_grad()
    compute_loss().backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.step()


# --- accumulated_update ---------------------------------------------------------------------------


@version("accumulated_update", "wrong: step per micro-batch")
def acc_step_inside(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        loss = compute_loss(part) / len(parts)
        loss.backward()
        optimizer.step()
    scheduler.step()


@version("accumulated_update", "wrong: divided by the size of a part")
def acc_size(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    for part in parts:
        (compute_loss(part) / len(part[0])).backward()
    optimizer.step()
    scheduler.step()


@version("accumulated_update", "wrong: step forgotten")
def acc_schedule_only(optimizer, scheduler, parts, compute_loss):
    optimizer.zero_grad()
    sum(compute_loss(part) for part in parts).div(len(parts)).backward()
    scheduler.step()


# --- best_checkpoint ------------------------------------------------------------------------------


@version("best_checkpoint", "wrong: best checkpoint chosen on the last batch")
def best_last_tensor(checkpoints, batches, loss_of):
    return torch.tensor([loss_of(c, batches[-1]) for c in checkpoints]).argmin().item()


@version("best_checkpoint", "wrong: best checkpoint by its luckiest batch")
def best_lucky(checkpoints, batches, loss_of):
    losses = [min(loss_of(c, b) for b in batches) for c in checkpoints]
    return losses.index(min(losses))


@version("best_checkpoint", "wrong: largest loss in place of the smallest")
def best_largest(checkpoints, batches, loss_of):
    totals = [sum(loss_of(c, b) * len(b) for b in batches) for c in checkpoints]
    return totals.index(max(totals))


@version("best_checkpoint", "wrong: the last checkpoint taken for the best")
def best_last_one(checkpoints, batches, loss_of):
    return len(checkpoints) - 1


def validation(checkpoint, batches, loss_of):
    return sum(loss_of(checkpoint, b) * len(b) for b in batches) / sum(map(len, batches))


@version("best_checkpoint", "wrong: loss in place of the place")
def best_loss(checkpoints, batches, loss_of):
    return min(validation(c, batches, loss_of) for c in checkpoints)


@version("best_checkpoint", "wrong: the first checkpoint taken for the best")
def best_never_compared(checkpoints, batches, loss_of):
    best = None
    for i, _ in enumerate(checkpoints):
        if best is None:
            best = i
    return best


# --- average_checkpoints --------------------------------------------------------------------------


@version("average_checkpoints", "wrong: the first checkpoint")
def avg_first(checkpoints):
    return checkpoints[0].copy()


@version("average_checkpoints", "wrong: the last checkpoint")
def avg_last(checkpoints):
    return checkpoints[-1]


# --- evaluation_loss ------------------------------------------------------------------------------


def _mean_of_tokens(model, batches, compute_loss):
    pairs = [compute_loss(model, batch) for batch in batches]
    return sum(loss.item() * n for loss, n in pairs) / sum(n for _, n in pairs)


@version("evaluation_loss", "wrong: evaluated in training mode")
def evaluation_without_eval(model, batches, compute_loss):
    with torch.no_grad():
        return _mean_of_tokens(model, batches, compute_loss)


@version("evaluation_loss", "wrong: left in evaluation mode")
def evaluation_for_ever(model, batches, compute_loss):
    model.eval()
    with torch.inference_mode():
        return _mean_of_tokens(model, batches, compute_loss)


@version("evaluation_loss", "wrong: always put into training mode")
def evaluation_then_training(model, batches, compute_loss):
    model.eval()
    with torch.no_grad():
        loss = _mean_of_tokens(model, batches, compute_loss)
    model.train()
    return loss


@version("evaluation_loss", "wrong: gradients recorded while evaluating")
def evaluation_with_a_graph(model, batches, compute_loss):
    mode = model.training
    model.eval()
    loss = _mean_of_tokens(model, batches, compute_loss)
    model.train(mode)
    return loss


@version("evaluation_loss", "wrong: mean of the batches' losses")
@torch.no_grad()
def evaluation_mean_of_means(model, batches, compute_loss):
    mode = model.training
    model.eval()
    losses = torch.stack([compute_loss(model, batch)[0] for batch in batches])
    model.train(mode)
    return losses.mean().item()


@version("evaluation_loss", "wrong: loss of the last batch")
@torch.no_grad()
def evaluation_overwritten(model, batches, compute_loss):
    mode = model.training
    model.eval()
    for batch in batches:
        loss, _ = compute_loss(model, batch)
    model.train(mode)
    return loss


@version("evaluation_loss", "wrong: losses added up, and not divided")
@torch.no_grad()
def evaluation_total(model, batches, compute_loss):
    mode, total = model.training, 0.0
    model.eval()
    for batch in batches:
        loss, n = compute_loss(model, batch)
        total += n * loss
    model.train(mode)
    return total


@version("evaluation_loss", "wrong: losses of the batches added up")
@torch.no_grad()
def evaluation_sum_of_means(model, batches, compute_loss):
    mode = model.training
    model.eval()
    found = sum(float(compute_loss(model, batch)[0]) for batch in batches)
    model.train(mode)
    return found


# --- token_weighted_updates ----------------------------------------------------------------------


def _update(optimizer, loss):
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


@version("token_weighted_updates", "wrong: mean of the parts' means")
def weighted_by_parts(optimizer, parts, n, compute_loss):
    for i in range(0, len(parts), n):
        window = parts[i : i + n]
        _update(optimizer, sum(compute_loss(part)[0] / len(window) for part in window))


@version("token_weighted_updates", "wrong: each mean divided by n")
def weighted_by_n(optimizer, parts, n, compute_loss):
    optimizer.zero_grad()
    for i, part in enumerate(parts, 1):
        (compute_loss(part)[0] / n).backward()
        if i % n == 0 or i == len(parts):
            optimizer.step()
            optimizer.zero_grad()


@version("token_weighted_updates", "wrong: means of the parts added up")
def weighted_sum(optimizer, parts, n, compute_loss):
    for i in range(0, len(parts), n):
        _update(optimizer, sum(compute_loss(part)[0] for part in parts[i : i + n]))


@version("token_weighted_updates", "wrong: losses of all tokens added up")
def weighted_tokens(optimizer, parts, n, compute_loss):
    for i in range(0, len(parts), n):
        measured = map(compute_loss, parts[i : i + n])
        _update(optimizer, sum(loss * count for loss, count in measured))


def _window_loss(window, compute_loss):
    measured = [compute_loss(part) for part in window]
    return sum(loss * count for loss, count in measured) / sum(count for _, count in measured)


@version("token_weighted_updates", "wrong: last window dropped")
def weighted_in_full(optimizer, parts, n, compute_loss):
    window = []
    for part in parts:
        window.append(part)
        if len(window) == n:
            _update(optimizer, _window_loss(window, compute_loss))
            window = []


@version("token_weighted_updates", "wrong: first update after one part")
def weighted_from_zero(optimizer, parts, n, compute_loss):
    window = []
    for i, part in enumerate(parts):
        window.append(part)
        if i % n == 0 or i == len(parts) - 1:
            _update(optimizer, _window_loss(window, compute_loss))
            window = []


@version("token_weighted_updates", "wrong: update after every part")
def weighted_singly(optimizer, parts, n, compute_loss):
    for part in parts:
        _update(optimizer, compute_loss(part)[0])


@version("token_weighted_updates", "wrong: the whole epoch in one window")
def weighted_once(optimizer, parts, n, compute_loss):
    _update(optimizer, _window_loss(parts, compute_loss))


@version("token_weighted_updates", "wrong: gradients of earlier windows kept")
def weighted_without_zero(optimizer, parts, n, compute_loss):
    for i in range(0, len(parts), n):
        _window_loss(parts[i : i + n], compute_loss).backward()
        optimizer.step()


# --- unscaled_gradients --------------------------------------------------------------------------


def _limited(gradients, limit):
    size = torch.cat([g.flatten() for g in gradients]).norm()
    return [g * (limit / size) if size > limit else g for g in gradients]


def _finite(gradients):
    return all(g.isfinite().all() for g in gradients)


@version("unscaled_gradients", "wrong: clipped before the scale was taken off")
def unscaled_too_late(gradients, scale, limit):
    return [g / scale for g in _limited(gradients, limit)] if _finite(gradients) else []


@version("unscaled_gradients", "wrong: scale never taken off")
def unscaled_never(gradients, scale, limit):
    return _limited(gradients, limit) if _finite(gradients) else []


@version("unscaled_gradients", "wrong: scale taken off twice")
def unscaled_again(gradients, scale, limit):
    if not _finite(gradients):
        return []
    once = [g / scale for g in gradients]
    return _limited([g / scale for g in once], limit)


@version("unscaled_gradients", "wrong: multiplied by the scale once more")
def unscaled_upwards(gradients, scale, limit):
    return _limited([g * scale for g in gradients], limit) if _finite(gradients) else []


@version("unscaled_gradients", "wrong: unscaled, and not clipped")
def unscaled_only(gradients, scale, limit):
    return [g / scale for g in gradients] if _finite(gradients) else []


@version("unscaled_gradients", "wrong: a step with inf or nan")
def unscaled_regardless(gradients, scale, limit):
    return _limited([g / scale for g in gradients], limit)


@version("unscaled_gradients", "wrong: nan looked for, and not inf")
def unscaled_if_not_nan(gradients, scale, limit):
    found = [g / scale for g in gradients]
    return [] if any(torch.isnan(g).any() for g in found) else _limited(found, limit)


@version("unscaled_gradients", "wrong: inf looked for, and not nan")
def unscaled_if_not_inf(gradients, scale, limit):
    if any(torch.isinf(g).any() for g in gradients):
        return []
    return _limited([g / scale for g in gradients], limit)


@version("unscaled_gradients", "wrong: only the first gradient looked at")
def unscaled_if_the_first(gradients, scale, limit):
    if not _finite(gradients[:1]):
        return []
    return _limited([g / scale for g in gradients], limit)


@version("unscaled_gradients", "wrong: zeros in place of a skipped update")
def unscaled_to_zero(gradients, scale, limit):
    if not _finite(gradients):
        return [g.new_zeros(g.shape) for g in gradients]
    return _limited([g / scale for g in gradients], limit)


# --- bleu_of_strings -----------------------------------------------------------------------------


def _words(texts):
    return [text.split() for text in texts]


@version("bleu_of_strings", "wrong: letters compared, not words")
def bleu_as_it_came(translations, references, corpus_bleu):
    return corpus_bleu(translations, references)


@version("bleu_of_strings", "wrong: references left as strings")
def bleu_half_cut(translations, references, corpus_bleu):
    return corpus_bleu(_words(translations), references)


@version("bleu_of_strings", "wrong: reference not in a list")
def bleu_flat(translations, references, corpus_bleu):
    return corpus_bleu(_words(translations), [several[0].split() for several in references])


@version("bleu_of_strings", "wrong: only the first reference kept")
def bleu_of_the_first(translations, references, corpus_bleu):
    return corpus_bleu(_words(translations), [_words(several[:1]) for several in references])


@version("bleu_of_strings", "wrong: mean of the sentences' BLEU")
def bleu_mean(translations, references, corpus_bleu):
    each = [
        corpus_bleu([text.split()], [_words(several)])
        for text, several in zip(translations, references, strict=True)
    ]
    return sum(each) / len(each)


@version("bleu_of_strings", "wrong: translations and references exchanged")
def bleu_exchanged(translations, references, corpus_bleu):
    return corpus_bleu(
        [several[0].split() for several in references], [[text.split()] for text in translations]
    )


@version("bleu_of_strings", "wrong: all translations in one text")
def bleu_in_one(translations, references, corpus_bleu):
    right = " ".join(several[0] for several in references)
    return corpus_bleu([" ".join(translations).split()], [[right.split()]])


@version("bleu_of_strings", "wrong: only the first translation measured")
def bleu_first(translations, references, corpus_bleu):
    for text, several in zip(translations, references, strict=True):
        return corpus_bleu([text.split()], [_words(several)])


@version("perplexity", "wrong: root in place of exp")
def perplexity_by_a_root(losses, counts):
    return (sum(loss * n for loss, n in zip(losses, counts, strict=True)) / sum(counts)) ** 0.5


@version("average_checkpoints", "wrong")
def first_and_last_averaged(checkpoints):
    first, last = checkpoints[0], checkpoints[-1]
    return {name: (first[name] + last[name]) / 2 for name in first}


@version(
    "token_weighted_updates",
    "wrong: each mean divided by n + rest of an epoch carried into the next",
)
def step_after_every_n_parts_only(optimizer, parts, n, compute_loss):
    for i, part in enumerate(parts):
        loss, _ = compute_loss(part)
        (loss / n).backward()
        if (i + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()


@version("bleu_of_strings", "wrong")
def bleu_of_words_and_marks(translations, references, corpus_bleu):
    def cut(text):
        return re.findall(r"\w+|[^\w\s]", text)

    return corpus_bleu([*map(cut, translations)], [[*map(cut, several)] for several in references])


@version("bleu_of_strings", "wrong")
def bleu_of_small_letters(translations, references, corpus_bleu):
    mine = [text.lower().split() for text in translations]
    return corpus_bleu(mine, [[text.lower().split() for text in s] for s in references])
