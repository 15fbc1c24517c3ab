"""Known mistakes of chapters 15 and 16: losses, perplexity, schedule, clipping, one update."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book.checks.learning import backward_then_step, length
from transformer_book.checks.mistakes.registry import mistake

# --- losses --------------------------------------------------------------------------------------

CE = "Three tokens, by hand"


@mistake(
    "cross_entropy",
    "real",
    "padding in the loss",
    symptom="The loss changes with the amount of padding.",
    cause="Average over the real tokens only (ignore_index=0).",
    section="Break it: two wrong averages",
    seen="fix: set cross_entropy ignore_index to PAD token index (#305), "
    "https://github.com/lukas-blecher/LaTeX-OCR/pull/443",
)
def padding_counted(target: Tensor) -> Tensor:
    return torch.ones_like(target, dtype=torch.bool)


@mistake(
    "cross_entropy",
    "average",
    "loss averaged per sentence",
    symptom="A token of a short sentence counts for more than one of a long sentence.",
    cause="Average over all real tokens of the batch at once: a mean of means is not the mean.",
    section="A mean of means is not the mean",
    seen="Refactors the loss calculation to pull it out into a free function, "
    "https://github.com/allenai/open-instruct/pull/1137",
)
def per_sentence(losses: Tensor, real: Tensor) -> Tensor:
    return ((losses * real).sum(dim=1) / real.sum(dim=1)).mean()


@mistake(
    "cross_entropy",
    "average",
    "padding left out of the sum, not of the count",
    symptom="The more padding, the smaller the loss.",
    cause="Divide by the number of real tokens, not by B · T.",
    section="Break it: two wrong averages",
)
def divided_by_all(losses: Tensor, real: Tensor) -> Tensor:
    return (losses * real).mean()


@mistake(
    "cross_entropy",
    "average",
    "summed in place of averaged",
    symptom="The loss grows with the batch.",
    cause="Divide by the number of real tokens.",
    section=CE,
)
def summed(losses: Tensor, real: Tensor) -> Tensor:
    return losses[real].sum()


@mistake(
    "cross_entropy",
    "average",
    "divided by the number of sentences",
    symptom="The loss grows with the length of the sentences.",
    cause="Divide by the number of real tokens.",
    section=CE,
    kind="convention",
)
def divided_by_sentences(losses: Tensor, real: Tensor) -> Tensor:
    return losses[real].sum() / len(losses)


@mistake(
    "cross_entropy",
    "log_p",
    "softmax applied twice",
    symptom="The loss cannot fall below a floor, however certain the model is.",
    cause="Something takes the softmax of a softmax: cross_entropy wants logits.",
    section="Break it: the softmax twice",
    seen="no need to softmax before cross_entrpoy, "
    "https://github.com/bkitano/llama-from-scratch/issues/5",
)
def softmax_twice(logits: Tensor) -> Tensor:
    return logits.softmax(dim=-1).log_softmax(dim=-1)


@mistake(
    "cross_entropy",
    "log_p",
    "logits without a softmax",
    symptom="The loss can be negative.",
    cause="Take the log-softmax of the logits first.",
    section=CE,
)
def raw_logits(logits: Tensor) -> Tensor:
    return logits


@mistake(
    "cross_entropy",
    "log_p",
    "log-softmax over the positions",
    symptom="The probabilities of a position do not sum to one.",
    cause="Use dim=-1, the vocabulary.",
    section=CE,
)
def over_positions(logits: Tensor) -> Tensor:
    return logits.log_softmax(dim=1)


@mistake(
    "cross_entropy",
    "log_p",
    "log-softmax without dim",
    symptom="The probabilities sum to one over the sentences of the batch, not over the "
    "vocabulary.",
    cause="Without dim, F.log_softmax takes axis 0 of three axes, the batch: write dim=-1.",
    section=CE,
    seen="UserWarning: Implicit dimension choice for log_softmax has been deprecated., "
    "https://github.com/benatorc/OTGNN/issues/2",
)
def log_softmax_without_dim(logits: Tensor) -> Tensor:
    return logits.log_softmax(dim=0)


@mistake(
    "cross_entropy",
    "log_p",
    "bits in place of nats",
    symptom="The loss is larger by a factor of 1 / ln 2.",
    cause="The logarithm is to base 2: the book, like PyTorch, counts in nats.",
    section=CE,
    kind="convention",
)
def bits(logits: Tensor) -> Tensor:
    return logits.log_softmax(dim=-1) / math.log(2)


@mistake(
    "label_smoothed_loss",
    "spread",
    "smoothing shared among the wrong tokens only",
    symptom="ε is shared among the V − 1 wrong tokens.",
    cause="That is another definition; PyTorch and this book share it among all V.",
    section="Two definitions",
    kind="convention",
    seen="About label smoothing., "
    "https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/50",
)
def among_the_wrong(log_p: Tensor, nll: Tensor) -> Tensor:
    return (-log_p.sum(dim=-1) - nll) / (log_p.size(-1) - 1)


@mistake(
    "label_smoothed_loss",
    "spread",
    "smoothing summed, not averaged",
    symptom="The loss is far too large, and more so the more words there are.",
    cause="Each token gets ε / V: divide the sum by V.",
    section="Two definitions",
)
def not_divided(log_p: Tensor, nll: Tensor) -> Tensor:
    return -log_p.sum(dim=-1)


@mistake(
    "label_smoothed_loss",
    "mix",
    "the right token's share not reduced",
    symptom="The weights sum to more than one.",
    cause="The right token keeps 1 − ε.",
    section="Two definitions",
)
def share_not_reduced(nll: Tensor, spread: Tensor, epsilon: float) -> Tensor:
    return nll + epsilon * spread


@mistake(
    "label_smoothed_loss",
    "mix",
    "ε forgotten beside the spread",
    symptom="The wrong tokens count as much as they do with ε = 1.",
    cause="Multiply the spread by ε, as the right token's part is multiplied by 1 − ε.",
    section="Two definitions",
    seen="About Label Smoothing, https://github.com/TimDettmers/ConvE/issues/55",
)
def epsilon_forgotten(nll: Tensor, spread: Tensor, epsilon: float) -> Tensor:
    return (1 - epsilon) * nll + spread


@mistake(
    "label_smoothed_loss",
    "mix",
    "ε and 1 − ε exchanged",
    symptom="The right token hardly counts.",
    cause="The right token keeps 1 − ε, the rest share ε.",
    section="Two definitions",
)
def shares_exchanged(nll: Tensor, spread: Tensor, epsilon: float) -> Tensor:
    return epsilon * nll + (1 - epsilon) * spread


@mistake(
    "label_smoothed_loss",
    "mix",
    "smoothing ignored",
    symptom="ε changes nothing.",
    cause="Use smoothing: multiply the right token's part by 1 − ε, and the spread by ε.",
    section="Two definitions",
)
def not_smoothed(nll: Tensor, spread: Tensor, epsilon: float) -> Tensor:
    return nll


@mistake(
    "label_smoothed_loss",
    "real",
    "padding in the smoothed loss",
    symptom="The loss changes with the amount of padding.",
    cause="Leave padding out of both parts.",
    section="Break it: two wrong averages",
    seen="Smoothing loss bug fix, https://github.com/k-tahiro/bert-summarizer/pull/41",
)
def padding_smoothed(target: Tensor) -> Tensor:
    return torch.ones_like(target, dtype=torch.bool)


@mistake(
    "perplexity",
    "average",
    "mean of the batches' means",
    symptom="A small batch counts as much as a large one.",
    cause="Weigh each batch's loss by its number of tokens.",
    section="A mean of means is not the mean",
    seen="Incorrect average calculation in `Perplexity of fixed-length models`, "
    "https://github.com/huggingface/transformers/issues/34138",
)
def mean_of_means(losses: Sequence[float], counts: Sequence[int]) -> float:
    return sum(losses) / len(losses)


@mistake(
    "perplexity",
    "average",
    "mean of the perplexities",
    symptom="The result is too large.",
    cause="Average the losses first, then exponentiate.",
    section="Perplexity",
    seen="Fix perplexity calculation., https://github.com/magenta/magenta/pull/239",
)
def mean_of_exponentials(losses: Sequence[float], counts: Sequence[int]) -> float:
    total = sum(math.exp(loss) * n for loss, n in zip(losses, counts, strict=True))
    return math.log(total / sum(counts))


@mistake(
    "perplexity",
    "average",
    "plain mean of the batches' perplexities",
    symptom="The result is too large, and a small batch counts as much as a large one.",
    cause="Average the losses first, weighted by their tokens, then exponentiate.",
    section="Perplexity",
)
def plain_mean_of_exponentials(losses: Sequence[float], counts: Sequence[int]) -> float:
    return math.log(sum(map(math.exp, losses)) / len(losses))


@mistake(
    "perplexity",
    "average",
    "losses summed",
    symptom="The result explodes with the number of batches.",
    cause="Divide by the number of tokens.",
    section="Perplexity",
)
def losses_summed(losses: Sequence[float], counts: Sequence[int]) -> float:
    return sum(losses)


@mistake(
    "perplexity",
    "power",
    "two to the power of nats",
    symptom="The result is too small.",
    cause="2 ** loss is for a loss in bits; this one is in nats: exp.",
    section="Perplexity",
)
def power_of_two(loss: float) -> float:
    return 2**loss


@mistake(
    "perplexity",
    "power",
    "exponential forgotten",
    symptom="This is the mean loss.",
    cause="The perplexity is its exponential.",
    section="Perplexity",
)
def no_power(loss: float) -> float:
    return loss


# --- schedule and clipping -----------------------------------------------------------------------


@mistake(
    "inverse_sqrt_schedule",
    "time",
    "warm-up forgotten",
    symptom="The first updates have the largest rate.",
    cause="Take the smaller of update**-0.5 and update * warmup**-1.5.",
    section="The schedule",
)
def no_warmup(update: int, warmup: int) -> float:
    return update**-0.5


@mistake(
    "inverse_sqrt_schedule",
    "time",
    "maximum in place of minimum",
    symptom="The rate is largest at both ends.",
    cause="Take the smaller of the two.",
    section="The schedule",
)
def larger_of_both(update: int, warmup: int) -> float:
    return max(update**-0.5, update * warmup**-1.5)


@mistake(
    "inverse_sqrt_schedule",
    "time",
    "warm-up for ever",
    symptom="The rate never falls.",
    cause="After the warm-up it falls with update**-0.5.",
    section="The schedule",
)
def always_rising(update: int, warmup: int) -> float:
    return update * warmup**-1.5


@mistake(
    "inverse_sqrt_schedule",
    "time",
    "updates from zero",
    symptom="The rate is one update late, and the first one does nothing.",
    cause="Updates count from 1.",
    section="The schedule",
    seen="Avoids 0-to-a-negative exponent error, https://github.com/CUNY-CL/yoyodyne/pull/300",
)
def from_zero(update: int, warmup: int) -> float:
    return min(max(update - 1, 1e-9) ** -0.5, (update - 1) * warmup**-1.5)


@mistake(
    "inverse_sqrt_schedule",
    "width",
    "width forgotten",
    symptom="The rate is too large by a factor of the root of d_model.",
    cause="Multiply by d_model**-0.5.",
    section="The schedule",
)
def no_width(d_model: int) -> float:
    return 1.0


@mistake(
    "inverse_sqrt_schedule",
    "width",
    "multiplied by the root of the width",
    symptom="The rate is too large by a factor of d_model.",
    cause="The exponent of d_model is −0.5.",
    section="The schedule",
)
def width_multiplied(d_model: int) -> float:
    return d_model**0.5


@mistake(
    "clip_gradients",
    "shorten",
    "each tensor clipped on its own",
    symptom="The direction of the step changes.",
    cause="Take the length of all gradients together, and shorten all by the same factor.",
    section="Clipping",
)
def one_by_one(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return [g * limit / g.norm() if g.norm() > limit else g for g in gradients]


@mistake(
    "clip_gradients",
    "shorten",
    "values clipped in place of the length",
    symptom="Each number is cut off at the limit, and the direction changes.",
    cause="Shorten the whole gradient (clip_grad_norm_, not clip_grad_value_).",
    section="Clipping",
)
def values_clipped(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return [g.clamp(-limit, limit) for g in gradients]


@mistake(
    "clip_gradients",
    "shorten",
    "always brought to the limit",
    symptom="Short gradients are made longer.",
    cause="Leave gradients alone that are short enough.",
    section="Clipping",
)
def always_scaled(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return [g * limit / length(gradients) for g in gradients]


@mistake(
    "clip_gradients",
    "shorten",
    "root forgotten in the length",
    symptom="Gradients are shortened too much.",
    cause="The length is the root of the sum of squares.",
    section="Clipping",
)
def squared_length(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    square = length(gradients) ** 2
    return [g * limit / square if square > limit else g for g in gradients]


@mistake(
    "clip_gradients",
    "shorten",
    "not clipped",
    symptom="Long gradients stay long.",
    cause="Multiply by limit / length if the length exceeds the limit.",
    section="Clipping",
)
def not_clipped(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return list(gradients)


# --- one update ----------------------------------------------------------------------------------

UPDATE = "One update, line by line"
Optimizer = torch.optim.Optimizer


@mistake(
    "training_update",
    "before",
    "gradients not zeroed",
    symptom="From the second update on, each step also goes along all earlier gradients.",
    cause="backward() adds to .grad: call optimizer.zero_grad() first.",
    section=UPDATE,
    seen="[ez] zero grad every step, https://github.com/meta-pytorch/torchforge/pull/71",
)
def not_zeroed(optimizer: Optimizer) -> None:
    pass


@mistake(
    "training_update",
    "steps",
    "clipped before backward",
    symptom="Gradients keep their full length: clipping does nothing.",
    cause="There is nothing to clip before backward(): clip between backward() and step().",
    section=UPDATE,
    seen="Clip gradients in configure_gradient_clipping instead of training_step, "
    "https://github.com/simchowitzlabpublic/nano-world-model/pull/22",
)
def clipped_too_early(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    loss.backward()
    optimizer.step()


@mistake(
    "training_update",
    "steps",
    "clipped after the step",
    symptom="Gradients keep their full length: clipping does nothing.",
    cause="Clip between backward() and step().",
    section=UPDATE,
    seen="Incorrect use of torch.nn.utils.clip_grad_norm, "
    "https://github.com/VGraphRNN/VGRNN/issues/4",
)
def clipped_too_late(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    loss.backward()
    optimizer.step()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@mistake(
    "training_update",
    "steps",
    "step before backward",
    symptom="The weights never change: step() finds no gradient.",
    cause="backward() first, then step().",
    section=UPDATE,
)
def stepped_too_early(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    optimizer.step()
    loss.backward()


@mistake(
    "training_update",
    "before",
    "step at the top, before the loss",
    symptom="Each update goes along the gradient of the batch before, and the last one is lost.",
    cause="step() stands before the loss is computed: backward() first, then step().",
    section=UPDATE,
    steps={"steps": lambda loss, optimizer, model: _backward_and_clip(loss, model)},
)
def stepped_at_the_top(optimizer: Optimizer) -> None:
    optimizer.step()
    optimizer.zero_grad()


def _backward_and_clip(loss: Tensor, model: nn.Module) -> None:
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)


@mistake(
    "training_update",
    "steps",
    "gradients zeroed after backward",
    symptom="The weights never change.",
    cause="zero_grad() stands between backward() and step(): call it before backward().",
    section=UPDATE,
)
def zeroed_too_late(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()


@mistake(
    "training_update",
    "steps",
    "two steps in one update",
    symptom="Each update moves twice as far.",
    cause="step() is called twice.",
    section=UPDATE,
)
def two_steps(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    backward_then_step(loss, optimizer, model)
    optimizer.step()


PARTS = "A mean of means is not the mean"


@mistake(
    "accumulated_update",
    "after_part",
    "schedule stepped per micro-batch",
    symptom="The rate moves on with every part of the batch: warm-up is over too soon.",
    cause="Call scheduler.step() once for the whole batch, behind optimizer.step().",
    section="Break it: counting from zero",
    chapter=15,
    steps={"after": lambda optimizer, scheduler: optimizer.step()},
    seen="Scheduler always steps when training with gradient accumulation, "
    "https://github.com/huggingface/accelerate/issues/963",
)
def schedule_per_part(optimizer: Optimizer, scheduler: Any) -> None:
    scheduler.step()


@mistake(
    "accumulated_update",
    "after_part",
    "step per micro-batch",
    symptom="Each part makes a step of its own, along all gradients so far.",
    cause="Call optimizer.step() once, after the last part.",
    section=UPDATE,
    steps={"after": lambda optimizer, scheduler: scheduler.step()},
)
def step_per_part(optimizer: Optimizer, scheduler: Any) -> None:
    optimizer.step()


@mistake(
    "accumulated_update",
    "share",
    "micro-batches summed, not averaged",
    symptom="The gradient is too large by a factor: the number of parts.",
    cause="Divide each part's mean loss by the number of parts, which are equally large here.",
    section=PARTS,
    chapter=15,
    seen="Logic Error in gradient accumulation?, https://github.com/karpathy/nanoGPT/issues/206",
)
def parts_summed(loss: Tensor, parts: Sequence[Any]) -> Tensor:
    return loss


@mistake(
    "accumulated_update",
    "before_part",
    "gradients zeroed in every micro-batch",
    symptom="Only the last part counts.",
    cause="Call zero_grad() once, before the first part.",
    section=UPDATE,
    seen="train.py: zero_grad is called per microbatch, breaking gradient accumulation, "
    "https://github.com/bytetriper/RAE/issues/67",
)
def zeroed_per_part(optimizer: Optimizer) -> None:
    optimizer.zero_grad()


@mistake(
    "accumulated_update",
    "before",
    "gradients of the last batch kept",
    symptom="From the second update on, each step also goes along all earlier gradients.",
    cause="backward() adds to .grad: call zero_grad() before the first part.",
    section=UPDATE,
)
def never_zeroed(optimizer: Optimizer) -> None:
    pass


@mistake(
    "accumulated_update",
    "after",
    "schedule never stepped",
    symptom="The rate stays what it was at the beginning.",
    cause="Call scheduler.step() behind optimizer.step().",
    section="The schedule",
    chapter=15,
)
def schedule_forgotten(optimizer: Optimizer, scheduler: Any) -> None:
    optimizer.step()


@mistake(
    "accumulated_update",
    "after",
    "schedule before the step",
    symptom="Every update has the rate of the next one: the first is skipped.",
    cause="optimizer.step() first, then scheduler.step().",
    section="The schedule",
    chapter=15,
    seen="Detected call of `lr_scheduler.step()` before `optimizer.step()`, "
    "https://github.com/ThilinaRajapakse/pytorch-transformers-classification/issues/21",
)
def schedule_first(optimizer: Optimizer, scheduler: Any) -> None:
    scheduler.step()
    optimizer.step()


BEST = "Two hundred pairs"


@mistake(
    "best_checkpoint",
    "measured",
    "best checkpoint chosen on one batch",
    symptom="Only the first batch decides.",
    cause="The loop ends, or returns, after the first batch: measure all of them.",
    section=BEST,
)
def first_batch(batches: Sequence[Any]) -> Sequence[Any]:
    return batches[:1]


@mistake(
    "best_checkpoint",
    "measured",
    "best checkpoint chosen on the last batch",
    symptom="Only the last batch decides.",
    cause="The loss is overwritten in the loop: add it up.",
    section=BEST,
)
def last_batch(batches: Sequence[Any]) -> Sequence[Any]:
    return batches[-1:]


@mistake(
    "best_checkpoint",
    "average",
    "best checkpoint by the mean of means",
    symptom="A small batch counts as much as a large one.",
    cause="Weigh each batch's loss by its number of tokens.",
    section=PARTS,
    chapter=15,
)
def by_mean_of_means(measured: Sequence[tuple[float, int]]) -> float:
    return sum(loss for loss, _ in measured) / len(measured)


@mistake(
    "best_checkpoint",
    "average",
    "best checkpoint by its luckiest batch",
    symptom="The smallest loss on any one batch decides.",
    cause="Compare the losses of the whole validation set, not of single batches.",
    section=BEST,
)
def luckiest(measured: Sequence[tuple[float, int]]) -> float:
    return min(loss for loss, _ in measured)


@mistake(
    "best_checkpoint",
    "choose",
    "largest loss in place of the smallest",
    symptom="The worst checkpoint is kept.",
    cause="A loss is to be small: min, not max.",
    section=BEST,
)
def largest(losses: Sequence[float]) -> int:
    return list(losses).index(max(losses))


@mistake(
    "best_checkpoint",
    "choose",
    "the last checkpoint taken for the best",
    symptom="The answer is always the last one.",
    cause="Nothing is compared: keep the place of the smallest loss so far.",
    section=BEST,
)
def always_last(losses: Sequence[float]) -> int:
    return len(losses) - 1


# --- averages ------------------------------------------------------------------------------------

Checkpoint = dict[str, Tensor]


def _summed(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    return {name: sum(c[name] for c in checkpoints) for name in checkpoints[0]}


@mistake(
    "average_checkpoints",
    "average",
    "checkpoints summed",
    symptom="The weights are too large by a factor of the number of checkpoints.",
    cause="Divide by their number.",
    section="The average of five models",
)
def checkpoints_summed(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    return _summed(checkpoints)


@mistake(
    "average_checkpoints",
    "average",
    "running average of halves",
    symptom="Later checkpoints count for more.",
    cause="(average + next) / 2 halves the earlier ones each time: add all, then divide once.",
    section="The average of five models",
)
def halved_again_and_again(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    average: dict[str, Any] = dict(checkpoints[0])
    for checkpoint in checkpoints[1:]:
        average = {name: (average[name] + checkpoint[name]) / 2 for name in average}
    return average


@mistake(
    "average_checkpoints",
    "average",
    "the last checkpoint",
    symptom="This is the last checkpoint alone.",
    cause="Take the mean of all.",
    section="The average of five models",
)
def last_alone(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    return dict(checkpoints[-1])


@mistake(
    "cross_entropy",
    "log_p",
    "logarithm of a softmax that underflows",
    symptom="A token that the model considers impossible costs infinitely much.",
    cause="The softmax rounds its probability to 0, and log(0) is −inf: take the log-softmax of "
    "the logits, in one step.",
    section=CE,
)
def logarithm_of_softmax(logits: Tensor) -> Tensor:
    return logits.softmax(dim=-1).log()


@mistake(
    "cross_entropy",
    "real",
    "<eos> left out of the loss",
    symptom="The model is never told where to end.",
    cause="<eos>, 2, is a token to be predicted: only padding, 0, is left out.",
    section="Break it: two wrong averages",
)
def end_left_out(target: Tensor) -> Tensor:
    return (target != 0) & (target != 2)


@mistake(
    "cross_entropy",
    "real",
    "all special tokens left out of the loss",
    symptom="<eos> and <unk> are left out with the padding.",
    cause="target > 3 leaves out four tokens: leave out padding alone, target != 0.",
    section="Break it: two wrong averages",
)
def specials_left_out(target: Tensor) -> Tensor:
    return target > 3


@mistake(
    "cross_entropy",
    "real",
    "last position left out of the loss",
    symptom="The last position is never counted.",
    cause="The target has been shifted already: take all positions that are not padding.",
    section="One place to the right",
    chapter=3,
)
def last_left_out(target: Tensor) -> Tensor:
    real = target != 0
    real[:, -1] = False
    return real


@mistake(
    "cross_entropy",
    "average",
    "loss with the wrong sign",
    symptom="The loss is negative, and falls as the model gets worse.",
    cause="The loss is −log p: the minus is missing.",
    section=CE,
)
def wrong_sign(losses: Tensor, real: Tensor) -> Tensor:
    return -losses[real].mean()


@mistake(
    "label_smoothed_loss",
    "average",
    "smoothed loss summed in place of averaged",
    symptom="The loss grows with the batch.",
    cause="Divide by the number of real tokens.",
    section=CE,
)
def smoothed_sum(losses: Tensor, real: Tensor) -> Tensor:
    return losses[real].sum()


@mistake(
    "label_smoothed_loss",
    "average",
    "smoothed loss averaged per sentence",
    symptom="A token of a short sentence counts for more than one of a long sentence.",
    cause="Average over all real tokens of the batch at once: a mean of means is not the mean.",
    section="A mean of means is not the mean",
)
def smoothed_per_sentence(losses: Tensor, real: Tensor) -> Tensor:
    return ((losses * real).sum(dim=1) / real.sum(dim=1)).mean()


@mistake(
    "label_smoothed_loss",
    "average",
    "smoothed loss divided by all positions",
    symptom="The more padding, the smaller the loss.",
    cause="Divide by the number of real tokens, not by B · T.",
    section="Break it: two wrong averages",
)
def smoothed_by_all(losses: Tensor, real: Tensor) -> Tensor:
    return (losses * real).mean()


@mistake(
    "label_smoothed_loss",
    "log_p",
    "smoothed loss of a softmax taken twice",
    symptom="The loss cannot fall below a floor, however certain the model is.",
    cause="Something takes the softmax of a softmax: log_softmax wants logits.",
    section="Break it: the softmax twice",
)
def smoothed_softmax_twice(logits: Tensor) -> Tensor:
    return logits.softmax(dim=-1).log_softmax(dim=-1)


@mistake(
    "label_smoothed_loss",
    "log_p",
    "smoothed loss by the logarithm of a softmax",
    symptom="A token that the model considers impossible costs infinitely much, or gives nan.",
    cause="The softmax rounds its probability to 0, and log(0) is −inf: take the log-softmax of "
    "the logits, in one step.",
    section=CE,
)
def smoothed_logarithm_of_softmax(logits: Tensor) -> Tensor:
    return logits.softmax(dim=-1).log()


@mistake(
    "label_smoothed_loss",
    "mix",
    "smoothing fixed at a tenth",
    symptom="The argument smoothing changes nothing: it is 0.1 always.",
    cause="0.1 is written into the function: use smoothing.",
    section="Two definitions",
)
def always_a_tenth(nll: Tensor, spread: Tensor, epsilon: float) -> Tensor:
    return 0.9 * nll + 0.1 * spread


@mistake(
    "label_smoothed_loss",
    "mix",
    "smoothing with the wrong sign",
    symptom="The smoothing rewards unlikely tokens.",
    cause="Both parts are −log p: add ε / V times the sum of them, do not subtract it.",
    section="Two definitions",
)
def spread_subtracted(nll: Tensor, spread: Tensor, epsilon: float) -> Tensor:
    return (1 - epsilon) * nll - epsilon * spread


@mistake(
    "perplexity",
    "average",
    "sums divided by the number of batches",
    symptom="The result is far too large, and grows with the batches' size.",
    cause="The losses were multiplied by their tokens: divide by the number of tokens.",
    section="Perplexity",
)
def divided_by_batches(losses: Sequence[float], counts: Sequence[int]) -> float:
    return sum(loss * n for loss, n in zip(losses, counts, strict=True)) / len(losses)


@mistake(
    "perplexity",
    "average",
    "means not multiplied by their tokens",
    symptom="The result is close to one.",
    cause="Each loss is a mean: multiply it by its number of tokens before you divide by all.",
    section="Perplexity",
)
def not_weighted(losses: Sequence[float], counts: Sequence[int]) -> float:
    return sum(losses) / sum(counts)


@mistake(
    "inverse_sqrt_schedule",
    "time",
    "schedule one update early",
    symptom="Every update has the rate of the next one.",
    cause="Updates count from 1 already: no update + 1.",
    section="Break it: counting from zero",
)
def one_update_early(update: int, warmup: int) -> float:
    return min((update + 1) ** -0.5, (update + 1) * warmup**-1.5)


@mistake(
    "inverse_sqrt_schedule",
    "time",
    "warm-up to the power of minus one",
    symptom="The warm-up rises too steeply, towards 1, so that the rate begins to fall before the "
    "warm-up is over.",
    cause="The exponent of warmup is −1.5: then both parts meet at the end of the warm-up.",
    section="The schedule",
)
def power_of_minus_one(update: int, warmup: int) -> float:
    return min(update**-0.5, update * warmup**-1)


@mistake(
    "inverse_sqrt_schedule",
    "time",
    "warm-up to the power of minus a half",
    symptom="The warm-up is over after a few updates.",
    cause="The exponent of warmup is −1.5, not −0.5.",
    section="The schedule",
)
def power_of_minus_half(update: int, warmup: int) -> float:
    return min(update**-0.5, update * warmup**-0.5)


@mistake(
    "inverse_sqrt_schedule",
    "time",
    "no decay after the warm-up",
    symptom="After the warm-up the rate stays where it is.",
    cause="After the warm-up it falls with update**-0.5.",
    section="The schedule",
)
def no_decay(update: int, warmup: int) -> float:
    return min(warmup**-0.5, update * warmup**-1.5)


@mistake(
    "inverse_sqrt_schedule",
    "time",
    "updates counted anew after the warm-up",
    symptom="Behind the warm-up the rate jumps upwards.",
    cause="The root is that of update, not of update − warmup.",
    section="The schedule",
)
def counted_anew(update: int, warmup: int) -> float:
    return update * warmup**-1.5 if update <= warmup else (update - warmup) ** -0.5


@mistake(
    "inverse_sqrt_schedule",
    "time",
    "warm-up fixed at 4000",
    symptom="The argument warmup changes nothing.",
    cause="4000 is written into the function: use warmup.",
    section="The schedule",
)
def always_four_thousand(update: int, warmup: int) -> float:
    return min(update**-0.5, update * 4000**-1.5)


def _clipped(gradients: Sequence[Tensor], size: Tensor, limit: float) -> list[Tensor]:
    return [g * limit / size if size > limit else g for g in gradients]


@mistake(
    "clip_gradients",
    "shorten",
    "lengths of the tensors added up",
    symptom="With several tensors the gradients are shortened too much.",
    cause="The common length is the root of the sum of squares, not the sum of the lengths.",
    section="Clipping",
)
def lengths_added(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return _clipped(gradients, sum(g.norm() for g in gradients), limit)


@mistake(
    "clip_gradients",
    "shorten",
    "longest tensor taken for the length",
    symptom="With several tensors the gradients stay too long.",
    cause="The common length is the root of the sum of squares over all tensors, not the largest.",
    section="Clipping",
)
def longest_tensor(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return _clipped(gradients, max(g.norm() for g in gradients), limit)


@mistake(
    "clip_gradients",
    "shorten",
    "absolute values added up",
    symptom="Gradients are shortened too much.",
    cause="The length is the root of the sum of squares, not the sum of absolute values.",
    section="Clipping",
)
def absolute_values(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return _clipped(gradients, sum(g.abs().sum() for g in gradients), limit)


@mistake(
    "clip_gradients",
    "shorten",
    "largest entry taken for the length",
    symptom="The gradients stay too long.",
    cause="The length is the root of the sum of squares, not the largest absolute value.",
    section="Clipping",
)
def largest_entry(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return _clipped(gradients, max(g.abs().max() for g in gradients), limit)


@mistake(
    "clip_gradients",
    "shorten",
    "limit fixed at one",
    symptom="The argument limit changes nothing.",
    cause="1.0 is written into the function: use limit.",
    section="Clipping",
)
def always_one(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return _clipped(gradients, length(gradients), 1.0)


@mistake(
    "clip_gradients",
    "shorten",
    "limit forgotten in the numerator",
    symptom="Long gradients come out with length 1, whatever the limit is.",
    cause="Multiply by limit / length, not by 1 / length.",
    section="Clipping",
)
def unit_length(gradients: Sequence[Tensor], limit: float) -> list[Tensor]:
    return [g / length(gradients) if length(gradients) > limit else g for g in gradients]


@mistake(
    "training_update",
    "steps",
    "each parameter clipped on its own",
    symptom="The direction of the step changes.",
    cause="Hand all parameters to clip_grad_norm_ at once: their common length is to be at most 1.",
    section=UPDATE,
)
def parameters_clipped_singly(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    loss.backward()
    for parameter in model.parameters():
        nn.utils.clip_grad_norm_([parameter], 1.0)
    optimizer.step()


@mistake(
    "training_update",
    "steps",
    "entries clipped in place of the length",
    symptom="Each entry of the gradients is cut off at 1, and the direction changes.",
    cause="clip_grad_norm_, not clip_grad_value_.",
    section=UPDATE,
)
def entries_clipped(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 1.0)
    optimizer.step()


@mistake(
    "training_update",
    "steps",
    "gradients always brought to length one",
    symptom="Short gradients are made longer.",
    cause="Clip only what is longer than 1: clip_grad_norm_ leaves short gradients alone.",
    section="Clipping",
    chapter=15,
)
def always_unit_length(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    loss.backward()
    size = length([p.grad for p in model.parameters()])
    for parameter in model.parameters():
        parameter.grad /= size
    optimizer.step()


@mistake(
    "accumulated_update",
    "share",
    "divided by the size of a part",
    symptom="The gradient is too short, and shorter the larger the parts are.",
    cause="The loss of a part is a mean already: divide it by the number of parts.",
    section=PARTS,
    chapter=15,
)
def divided_by_size(loss: Tensor, parts: Sequence[Any]) -> Tensor:
    return loss / len(parts[0][0])


@mistake(
    "accumulated_update",
    "after",
    "step forgotten",
    symptom="The weights never change.",
    cause="Call optimizer.step() after the last part.",
    section=UPDATE,
)
def step_forgotten(optimizer: Optimizer, scheduler: Any) -> None:
    scheduler.step()


@mistake(
    "best_checkpoint",
    "choose",
    "places counted from one",
    symptom="The answer is one too large.",
    cause="Places count from 0, as indices do.",
    section=BEST,
)
def counted_from_one(losses: Sequence[float]) -> int:
    return losses.index(min(losses)) + 1


@mistake(
    "best_checkpoint",
    "choose",
    "loss in place of the place",
    symptom="The answer is the smallest loss itself.",
    cause="Return where it stands: losses.index(min(losses)).",
    section=BEST,
)
def loss_returned(losses: Sequence[float]) -> float:
    return min(losses)


@mistake(
    "best_checkpoint",
    "choose",
    "first minimum taken for the smallest",
    symptom="The search ends where the loss rises for the first time.",
    cause="A later checkpoint may be better still: look at all of them.",
    section=BEST,
)
def first_rise(losses: Sequence[float]) -> int:
    rises = (i for i in range(len(losses) - 1) if losses[i + 1] > losses[i])
    return next(rises, len(losses) - 1)


@mistake(
    "best_checkpoint",
    "choose",
    "the first checkpoint taken for the best",
    symptom="The answer is always 0.",
    cause="A sum that is not set back for each checkpoint only grows: start it at 0 for each.",
    section=BEST,
)
def always_first(losses: Sequence[float]) -> int:
    return 0


@mistake(
    "best_checkpoint",
    "average",
    "losses divided by their tokens",
    symptom="A small batch counts for more than a large one.",
    cause="The losses are means: multiply each by its number of tokens, and divide by all tokens.",
    section=PARTS,
    chapter=15,
)
def divided_again(measured: Sequence[tuple[float, int]]) -> float:
    return sum(loss / n for loss, n in measured)


@mistake(
    "average_checkpoints",
    "average",
    "average divided by two",
    symptom="It is right for two checkpoints only.",
    cause="Divide by their number, len(checkpoints).",
    section="The average of five models",
)
def divided_by_two(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    return {name: total / 2 for name, total in _summed(checkpoints).items()}


@mistake(
    "average_checkpoints",
    "average",
    "first checkpoint counted twice",
    symptom="The first checkpoint counts for more.",
    cause="The sum begins with the first checkpoint, and the loop adds it again: begin with the "
    "second, or with zeros.",
    section="The average of five models",
)
def first_twice(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    total = _summed([checkpoints[0], *checkpoints])
    return {name: weight / len(checkpoints) for name, weight in total.items()}


@mistake(
    "average_checkpoints",
    "average",
    "one number for each weight",
    symptom="Each weight has become a single number.",
    cause="mean() without dim averages the entries, too: take the mean over dim=0 of the stack.",
    section="The average of five models",
)
def mean_over_all(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    return {name: torch.stack([c[name] for c in checkpoints]).mean() for name in checkpoints[0]}


@mistake(
    "average_checkpoints",
    "average",
    "the first checkpoint",
    symptom="This is the first checkpoint alone.",
    cause="Take the mean of all.",
    section="The average of five models",
)
def first_alone(checkpoints: Sequence[Checkpoint]) -> Checkpoint:
    return dict(checkpoints[0])


@mistake(
    "training_update",
    "steps",
    "clipping left out",
    symptom="Gradients keep their full length: nothing clips them.",
    cause="Clip between backward() and step(): clip_grad_norm_(model.parameters(), 1.0).",
    section=UPDATE,
)
def never_clipped(loss: Tensor, optimizer: Optimizer, model: nn.Module) -> None:
    loss.backward()
    optimizer.step()


# --- harmless ------------------------------------------------------------------------------------


@mistake(
    "cross_entropy",
    "log_p",
    "log-softmax twice",
    symptom="Nothing changes: the loss is the same.",
    cause="Log-probabilities are logits whose exponentials sum to one already: the second "
    "log-softmax subtracts zero. (The softmax twice is no joke: see there.)",
    section="Break it: the softmax twice",
    kind="harmless",
)
def logarithm_twice(logits: Tensor) -> Tensor:
    return logits.log_softmax(dim=-1).log_softmax(dim=-1)


@mistake(
    "perplexity",
    "power",
    "two to the power of bits",
    symptom="Nothing changes: the same number comes out.",
    cause="A loss in bits to base 2 is a loss in nats to base e.",
    section="Perplexity",
    kind="harmless",
)
def power_of_bits(loss: float) -> float:
    return 2 ** (loss / math.log(2))


@mistake(
    "training_update",
    "before",
    "gradients zeroed at the end of an update",
    symptom="Nothing changes, as long as nothing else calls backward().",
    cause="What counts is that they are zero before backward().",
    section=UPDATE,
    kind="harmless",
    steps={"after": lambda optimizer: optimizer.zero_grad()},
)
def zeroed_at_the_end(optimizer: Optimizer) -> None:
    pass
