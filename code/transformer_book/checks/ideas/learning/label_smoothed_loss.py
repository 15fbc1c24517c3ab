"""Label smoothed loss (chapter 15): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.learning.cross_entropy import CROSS_ENTROPY, loss_cases


def smoothed_cases() -> Sequence[Case]:
    epsilons = (0.1, 0.1, 0.3, 0.2, 0.0, 0.1, 0.2, 0.5, 1.0, 0.1, 0.3, 0.0, 0.2, 0.4, 0.1)
    sure = normal(1, 3, 5, seed=13)
    sure[0, 0, 2] = 60.0  # as in the cross-entropy's: without smoothing its loss is 0
    return (
        *(
            Case(f"{case.name}, ε = {epsilon}", (*case.arguments, epsilon), rough=case.rough)
            for case, epsilon in zip(loss_cases(), cycle(epsilons), strict=False)
        ),
        Case("a loss of 0, no smoothing", (sure, torch.tensor([[2, 3, 0]]), 0.0)),
        Case("one token of 300 words", (normal(1, 1, 300, seed=14), torch.tensor([[299]]), 0.1)),
    )


def smoothed_pipeline(s, logits, target, smoothing):
    log_p = s.log_p(logits)  # (B, T, V)
    nll = -log_p.gather(2, target[..., None]).squeeze(2)  # (B, T)
    losses = s.mix(nll, s.spread(log_p, nll), smoothing)  # (B, T)
    return s.average(s.entropy(losses, log_p, smoothing), s.real(target))


SMOOTHED = Component(
    name="label_smoothed_loss",
    chapter=15,
    order=2,
    section="Two definitions",
    signature="logits, target, smoothing",
    pipeline=smoothed_pipeline,
    steps={
        "log_p": lambda logits: logits.log_softmax(dim=-1),
        "spread": lambda log_p, nll: -log_p.mean(dim=-1),
        "mix": lambda nll, spread, epsilon: (1 - epsilon) * nll + epsilon * spread,
        "entropy": lambda losses, log_p, epsilon: losses,
        "real": lambda target: target != 0,
        "average": lambda losses, real: losses[real].mean(),
    },
    cases=smoothed_cases,
    settled=CROSS_ENTROPY.settled,
    returns="a tensor `()`: (1 − ε) (−log p of the right token) + ε / V · Σ (−log p), averaged "
    "over real tokens (padding is 0, wherever it stands), of which there is one at least",
    met="score",
    ready_made=CROSS_ENTROPY.ready_made,
    boundaries={**CROSS_ENTROPY.boundaries}
    | {
        "no smoothing": lambda smoothing: smoothing == 0,
        "smoothing alone": lambda smoothing: smoothing == 1,
        "another smoothing than 0.1": lambda smoothing: smoothing != 0.1,
        "one token": lambda target: target.numel() == 1,
        "more than 255 words": lambda target: target.max() > 255,
        "no smoothing, and a word of probability one": lambda logits, target, smoothing: (
            smoothing == 0
            and (logits.softmax(-1).gather(2, target[..., None])[..., 0][target != 0] == 1).any()
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(SMOOTHED)


@mistake(
    "spread",
    "smoothing shared among the wrong tokens only",
    met=("harmless", 4),
    symptom="ε is shared among the V − 1 wrong tokens.",
    cause="That is another definition; PyTorch and this book share it among all V.",
    kind="convention",
    seen="About label smoothing., "
    "https://github.com/jadore801120/attention-is-all-you-need-pytorch/issues/50",
)
def among_the_wrong(log_p: Tensor, nll: Tensor) -> Tensor:
    return (-log_p.sum(dim=-1) - nll) / (log_p.size(-1) - 1)


def entropy_of(right: float, other: float, others: int) -> float:
    """The entropy, in nats, of a distribution with one probability apart and all others equal."""
    shares = torch.tensor([right, *[other] * others], dtype=torch.float64)
    return -float(torch.special.xlogy(shares, shares).sum())


def less_the_smoothed_target(losses: Tensor, log_p: Tensor, epsilon: float) -> Tensor:
    others = epsilon / log_p.size(-1)
    return losses - entropy_of(1 - epsilon + others, others, log_p.size(-1) - 1)


def among_all_but_two(log_p: Tensor, nll: Tensor) -> Tensor:
    return (-log_p[..., 1:].sum(dim=-1) - nll) / (log_p.size(-1) - 2)


@mistake(
    "entropy",
    "divergence in place of the smoothed loss",
    met=("score", 0),
    symptom="The loss is too small by a number that depends on ε and V alone, and is 0 for ε = 0.",
    cause="The entropy of the smoothed target is subtracted, as KLDivLoss does. The gradients are "
    "the same, but the value cannot be compared with a cross-entropy: do not subtract it.",
)
def divergence(losses: Tensor, log_p: Tensor, epsilon: float) -> Tensor:
    return less_the_smoothed_target(losses, log_p, epsilon)


@mistake(
    "spread",
    "smoothing shared among V − 2 words",
    met=("score", 0),
    symptom="ε is shared among V − 2 words: the right one and the padding get none of it.",
    cause="That is the Annotated Transformer's distribution; here it is shared among all V. Losses "
    "that are to be compared must share it alike.",
)
def all_but_two(log_p: Tensor, nll: Tensor) -> Tensor:
    return among_all_but_two(log_p, nll)


@mistake(
    "spread",
    "ε divided by V − 2 and given to V − 1 words",
    symptom="Each wrong word gets ε / (V − 2), padding too: with ε above 0 the shares add up to "
    "more than one.",
    cause="V − 2 is the number of words where the right one and the padding get nothing: "
    "here all V share ε, so give ε / V to each, the right one too.",
)
def divided_by_two_less(log_p: Tensor, nll: Tensor) -> Tensor:
    return (-log_p.sum(dim=-1) - nll) / (log_p.size(-1) - 2)


@mistake(
    "entropy",
    "divergence from a distribution over V − 2 words",
    met=("score", 9),
    symptom="The loss is the divergence from a smoothed target that leaves padding out.",
    cause="This is the Annotated Transformer's loss: ε is shared among V − 2 words, and KLDivLoss "
    "subtracts the target's entropy. Share ε among all V, and subtract no entropy.",
    steps={"spread": among_all_but_two},
)
def divergence_from_all_but_two(losses: Tensor, log_p: Tensor, epsilon: float) -> Tensor:
    others = log_p.size(-1) - 2
    return losses - entropy_of(1 - epsilon, epsilon / others, others)


@mistake(
    "spread",
    "smoothing summed, not averaged",
    met=("score", 7),
    symptom="The smoothing is too large by a factor of V, the number of words.",
    cause="Each token gets ε / V: divide the sum by V.",
)
def not_divided(log_p: Tensor, nll: Tensor) -> Tensor:
    return -log_p.sum(dim=-1)


@mistake(
    "mix",
    "the right token's share not reduced",
    symptom="The weights sum to 1 + ε.",
    cause="Multiply −log p of the right token by 1 − ε.",
)
def share_not_reduced(nll: Tensor, spread: Tensor, epsilon: float) -> Tensor:
    return nll + epsilon * spread


@mistake(
    "mix",
    "ε forgotten beside the spread",
    symptom="The wrong tokens count as much as they do with ε = 1.",
    cause="Multiply the spread by ε, as the right token's part is multiplied by 1 − ε.",
    seen="About Label Smoothing, https://github.com/TimDettmers/ConvE/issues/55",
)
def epsilon_forgotten(nll: Tensor, spread: Tensor, epsilon: float) -> Tensor:
    return (1 - epsilon) * nll + spread


@mistake(
    "mix",
    "ε and 1 − ε exchanged",
    met=("flat", 11),
    symptom="The right token's part is multiplied by ε, and the smoothing by 1 − ε.",
    cause="Multiply the right token's part by 1 − ε, and the spread over all V by ε.",
)
def shares_exchanged(nll: Tensor, spread: Tensor, epsilon: float) -> Tensor:
    return epsilon * nll + (1 - epsilon) * spread


@mistake(
    "mix",
    "smoothing ignored",
    met=("harmless", 5),
    symptom="ε changes nothing.",
    cause="Add (1 − ε) times −log p of the right token and ε times the mean of −log p over all V "
    "words.",
)
def not_smoothed(nll: Tensor, spread: Tensor, epsilon: float) -> Tensor:
    return nll


@mistake(
    "real",
    "padding in the smoothed loss",
    met=("batch", 16),
    symptom="The loss changes with the amount of padding.",
    cause="Average both parts over the real tokens only, target != 0.",
    section="Break it: two wrong averages",
    seen="Smoothing loss bug fix, https://github.com/k-tahiro/bert-summarizer/pull/41",
)
def padding_smoothed(target: Tensor) -> Tensor:
    return torch.ones_like(target, dtype=torch.bool)


@mistake(
    "average",
    "smoothed loss summed in place of averaged",
    symptom="The loss grows with the batch.",
    cause="Divide by the number of real tokens.",
    section="Three tokens, by hand",
)
def smoothed_sum(losses: Tensor, real: Tensor) -> Tensor:
    return losses[real].sum()


@mistake(
    "average",
    "smoothed loss averaged per sentence",
    symptom="A token of a short sentence counts for more than one of a long sentence.",
    cause="Add up the losses of all real tokens of the batch, and divide once by their number.",
    section="A mean of means is not the mean",
)
def smoothed_per_sentence(losses: Tensor, real: Tensor) -> Tensor:
    return ((losses * real).sum(dim=1) / real.sum(dim=1)).mean()


@mistake(
    "average",
    "smoothed loss divided by all positions",
    symptom="The more padding, the smaller the loss.",
    cause="Divide by the number of real tokens, not by B · T.",
    section="Break it: two wrong averages",
)
def smoothed_by_all(losses: Tensor, real: Tensor) -> Tensor:
    return (losses * real).mean()


@mistake(
    "log_p",
    "smoothed loss of a softmax taken twice",
    symptom="The loss cannot come as low as it should: no word's probability can come near one.",
    cause="Something takes the softmax of a softmax: log_softmax wants logits.",
    section="Break it: the softmax twice",
)
def smoothed_softmax_twice(logits: Tensor) -> Tensor:
    return logits.softmax(dim=-1).log_softmax(dim=-1)


@mistake(
    "log_p",
    "smoothed loss by the logarithm of a softmax",
    symptom="Where logits are large or far apart, the loss can be inf or nan.",
    cause="Take the log-softmax of the logits in one step: logits.log_softmax(dim=-1) stays "
    "finite.",
    section="Three tokens, by hand",
)
def smoothed_logarithm_of_softmax(logits: Tensor) -> Tensor:
    return logits.softmax(dim=-1).log()


@mistake(
    "mix",
    "smoothing fixed at a tenth",
    symptom="The argument smoothing changes nothing: it is 0.1 always.",
    cause="Use the smoothing that is handed in, not a fixed 0.1.",
)
def always_a_tenth(nll: Tensor, spread: Tensor, epsilon: float) -> Tensor:
    return 0.9 * nll + 0.1 * spread


@mistake(
    "average",
    "padding alone in the smoothed loss",
    met=("flat", 0),
    symptom="Without padding the loss is 0, and no word is learned.",
    cause="Zero the losses at the padding, and keep those of the words. (masked_fill fills where "
    "its mask is True.)",
    seen="Question on CrossEntropyMetric in loss.py line 159 ., "
    "https://github.com/awslabs/sockeye/issues/200",
)
def padding_alone(losses: Tensor, real: Tensor) -> Tensor:
    return losses[~real].sum() / real.sum()


@mistake(
    "mix",
    "smoothing with the wrong sign",
    symptom="With ε above 0, the less likely the wrong tokens are made, the lower the loss "
    "falls, without end.",
    cause="Both parts are −log p: add ε / V times the sum of them, do not subtract it.",
)
def spread_subtracted(nll: Tensor, spread: Tensor, epsilon: float) -> Tensor:
    return (1 - epsilon) * nll - epsilon * spread


@mistake(
    "mix",
    "prediction smoothed, not the target",
    symptom="With ε above 0 the loss is never above −log(ε / V), however unlikely the right token "
    "is.",
    cause="The logarithm is taken of the mix of p and 1 / V: mix the logarithms, (1 − ε) times "
    "−log p of the right token and ε times the mean of −log p over all V words.",
    steps={"spread": lambda log_p, nll: torch.full_like(nll, 1 / log_p.size(-1))},
)
def logarithm_of_a_mix(nll: Tensor, share: Tensor, epsilon: float) -> Tensor:
    return -((1 - epsilon) * (-nll).exp() + epsilon * share).log()
