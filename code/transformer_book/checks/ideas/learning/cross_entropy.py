"""Cross entropy (chapter 15): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.checks.boundaries import PAD, SPECIAL
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal, sentences


def loss_pipeline(s, logits, target):
    losses = -s.log_p(logits).gather(2, target[..., None]).squeeze(2)  # (B, T)
    return s.average(losses, s.real(target))


def loss_cases() -> Sequence[Case]:
    by_hand = torch.tensor([[[0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 3.0]]])
    far = torch.tensor([[[0.0, 0.0, 0.0, 0.0, 90.0], [0.0, 120.0, 0.0, 100.0, 0.0]]])
    logits, target = _batch(1, 2, 3, seed=5)
    apart = torch.tensor([60.0, -60.0, 0.0])  # by more than exponentials of numbers may be
    sure = normal(2, 3, 5, seed=13)
    sure[0, 0, 2] = 60.0  # beside it, all other exponentials are rounded away
    rows, places = torch.arange(17)[:, None], torch.arange(4)
    real = places > rows**2 // 3 % 3  # one to three, and no few sentences have the mean of all
    return (
        Case("by hand: no padding", (by_hand, torch.tensor([[1, 3]]))),
        Case("by hand: one padding", (by_hand, torch.tensor([[1, 0]]))),
        Case("two sentences of different length", _batch(5, 2, seed=1)),
        Case("three sentences", _batch(2, 6, 3, seed=3)),
        Case("as many sentences as tokens", (logits + apart[:, None, None], target), rough=True),
        Case("very sure logits", (20 * _batch(4, 1, seed=7)[0], _batch(4, 1, seed=7)[1])),
        Case(
            "special tokens", (normal(2, 4, 6, seed=9), torch.tensor([[1, 3, 5, 2], [3, 2, 0, 0]]))
        ),
        Case("one sentence, padded", (normal(1, 4, 5, seed=10), torch.tensor([[4, 2, 0, 0]]))),
        Case("ends alone", (normal(3, 1, 5, seed=11), torch.tensor([[2], [2], [0]]))),
        Case("a word given up for lost", (far, torch.tensor([[2, 4]])), rough=True),
        Case("another one", (-far, torch.tensor([[4, 1]])), rough=True),
        Case("and padding", (far, torch.tensor([[0, 2]])), rough=True),
        Case("a word of probability one", (sure, torch.tensor([[2, 3, 0], [1, 2, 3]]))),
        Case("padding in front", (normal(17, 4, 5, seed=12), (1 + (rows + places) % 4) * real)),
        Case(
            "padding in the middle",
            (normal(2, 4, 5, seed=14), torch.tensor([[3, 0, 0, 2], [4, 0, 2, 0]])),
        ),
        Case("a vocabulary of 300", (normal(1, 3, 300, seed=15), torch.tensor([[256, 4, 299]]))),
        Case(
            "192 places, half of them padding behind, 64 words",
            (
                normal(2, 192, 64, seed=16),
                torch.arange(384).reshape(2, 192) % 4 * (torch.arange(192) < 96),
            ),
        ),
        Case(
            "one word, a loss of 600",
            (torch.tensor([[[0.0, 0.0, 600.0]]]), torch.tensor([[1]])),
            rough=True,
        ),
    )


def _batch(*lengths: int, seed: int) -> tuple[Tensor, Tensor]:
    return normal(len(lengths), max(lengths), 20, seed=seed), sentences(*lengths, seed=seed + 1)


CROSS_ENTROPY = Component(
    name="cross_entropy",
    chapter=15,
    order=1,
    section="Three tokens, by hand",
    signature="logits, target",
    pipeline=loss_pipeline,
    steps={
        "log_p": lambda logits: logits.log_softmax(dim=-1),
        "real": lambda target: target != 0,
        "average": lambda losses, real: losses[real].mean(),
    },
    cases=loss_cases,
    # The logarithm of a softmax that underflows is another mistake than those beside it.
    settled=lambda case, answer: 0.0 if case.rough else answer,
    returns="a tensor `()` from logits `(B, T, V)` and ids `(B, T)`: the mean of −log p over all "
    "real tokens (padding is 0, wherever it stands), of which there is one at least, in nats",
    done_by="label_smoothed_loss",
    met="score",
    ready_made={
        "F.cross_entropy": F.cross_entropy,
        "F.nll_loss": F.nll_loss,
        "torch.nll_loss": torch._C._nn.nll_loss,
        "optimization.label_smoothed_loss": "optimization.label_smoothed_loss",
    },
    boundaries={
        "one sentence": lambda target: len(target) == 1,
        "one sentence, padded": lambda target: len(target) == 1 and bool((target == PAD).any()),
        "one position": lambda target: target.size(1) == 1,
        "no padding": lambda target: bool((target != PAD).all()),
        **{
            f"the target {name}": lambda target, t=t: bool((target == t).any())
            for name, t in SPECIAL.items()
        },
        "a probability below the least number": lambda logits: bool(
            (logits.amax(-1) - logits.amin(-1) > 104).any()
        ),
        "a word of probability one": lambda logits, target: bool(
            (logits.log_softmax(-1).gather(-1, target[..., None])[target != PAD] == 0).any()
        ),
        "positions far apart": lambda logits, target: bool(
            (logits.amax(-1)[target != PAD].max() - logits.amax(-1)[target != PAD].min()) > 104
        ),
        "padding in front": lambda target: bool((target[:, 0] == PAD).any()),
        "padding in the middle": lambda target: any(
            PAD in row[:-1] and row[0] != PAD != row[-1] for row in target.tolist()
        ),
        "ids beyond 255": lambda target: bool((target > 255).any()),
        "more than 128 positions": lambda target: target.size(1) > 128,
        "one sentence of one word": lambda target: target.numel() == 1,
        "a loss beyond 500": lambda logits: bool((logits.amax(-1) - logits.amin(-1) > 500).any()),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(CROSS_ENTROPY)


@mistake(
    "real",
    "padding in the loss",
    met=("batch", 15),
    symptom="The loss changes with the amount of padding.",
    cause="Average over the real tokens only (ignore_index=0).",
    section="Break it: two wrong averages",
    seen="fix: set cross_entropy ignore_index to PAD token index (#305), "
    "https://github.com/lukas-blecher/LaTeX-OCR/pull/443",
)
def padding_counted(target: Tensor) -> Tensor:
    return torch.ones_like(target, dtype=torch.bool)


@mistake(
    "average",
    "loss averaged per sentence",
    met=("score", 4),
    symptom="A token of a short sentence counts for more than one of a long sentence.",
    cause="Add up the losses of all real tokens of the batch, and divide once by their number.",
    section="A mean of means is not the mean",
    seen="Refactors the loss calculation to pull it out into a free function, "
    "https://github.com/allenai/open-instruct/pull/1137",
)
def per_sentence(losses: Tensor, real: Tensor) -> Tensor:
    return ((losses * real).sum(dim=1) / real.sum(dim=1)).mean()


@mistake(
    "average",
    "padding left out of the sum, not of the count",
    met=("too-good", 29),
    symptom="The more padding, the smaller the loss.",
    cause="Divide by the number of real tokens, not by B · T.",
    section="Break it: two wrong averages",
)
def divided_by_all(losses: Tensor, real: Tensor) -> Tensor:
    return (losses * real).mean()


@mistake(
    "average",
    "summed in place of averaged",
    symptom="The loss grows with the batch.",
    cause="Divide by the number of real tokens.",
)
def summed(losses: Tensor, real: Tensor) -> Tensor:
    return losses[real].sum()


@mistake(
    "average",
    "divided by the number of sentences",
    met=("score", 6),
    symptom="The losses are added up in each sentence, and averaged over the sentences.",
    cause="Divide by the number of real tokens.",
    kind="convention",
)
def divided_by_sentences(losses: Tensor, real: Tensor) -> Tensor:
    return losses[real].sum() / len(losses)


@mistake(
    "log_p",
    "softmax applied twice",
    met=("flat", 3),
    symptom="The loss cannot fall below a floor, however certain the model is.",
    cause="Something takes the softmax of a softmax: log_softmax and F.cross_entropy want logits.",
    section="Break it: the softmax twice",
    seen="no need to softmax before cross_entrpoy, "
    "https://github.com/bkitano/llama-from-scratch/issues/5",
)
def softmax_twice(logits: Tensor) -> Tensor:
    return logits.softmax(dim=-1).log_softmax(dim=-1)


@mistake(
    "log_p",
    "logits without a softmax",
    met=("too-good", 30),
    symptom="The loss can be negative.",
    cause="Take the log-softmax of the logits first.",
)
def raw_logits(logits: Tensor) -> Tensor:
    return logits


@mistake(
    "log_p",
    "log-softmax over the positions",
    met=("flat", 10),
    symptom="The probabilities of a position do not sum to one.",
    cause="The probabilities of all words must sum to one: take the softmax over the vocabulary, "
    "the last axis of (B, T, V).",
)
def over_positions(logits: Tensor) -> Tensor:
    return logits.log_softmax(dim=1)


@mistake(
    "log_p",
    "logits reshaped where two axes must be exchanged",
    met=("flat", 14),
    symptom="A position's logits are every T-th number of its sentence, whatever position and word "
    "that is of.",
    cause="F.cross_entropy wants (B, V, T), and `reshape` or `view` to that shape moves no number: "
    "write logits.transpose(1, 2), or flatten the first two axes to (B · T, V).",
)
def reshaped_over_words(logits: Tensor) -> Tensor:
    batch, length, words = logits.shape
    return logits.reshape(batch, words, length).transpose(1, 2).log_softmax(dim=-1)


@mistake(
    "log_p",
    "log-softmax over the sentences",
    symptom="The probabilities sum to one over the sentences of the batch, not over the "
    "vocabulary.",
    cause="dim=0 is the batch, which F.log_softmax takes where three axes come without dim: write "
    "dim=-1.",
    seen="UserWarning: Implicit dimension choice for log_softmax has been deprecated., "
    "https://github.com/benatorc/OTGNN/issues/2",
)
def log_softmax_without_dim(logits: Tensor) -> Tensor:
    return logits.log_softmax(dim=0)


@mistake(
    "log_p",
    "bits in place of nats",
    met=("score", 5),
    symptom="The loss is larger by a factor of 1 / ln 2.",
    cause="The logarithm is to base 2: the book, like PyTorch, counts in nats.",
    kind="convention",
)
def bits(logits: Tensor) -> Tensor:
    return logits.log_softmax(dim=-1) / math.log(2)


@mistake(
    "log_p",
    "logarithm of a softmax that underflows",
    symptom="Where logits are large or far apart, the loss can be inf or nan.",
    cause="Take the log-softmax of the logits in one step: logits.log_softmax(dim=-1) stays "
    "finite.",
)
def logarithm_of_softmax(logits: Tensor) -> Tensor:
    return logits.softmax(dim=-1).log()


def kept_above(least: float, written: str) -> None:
    """Note as a mistake: a probability is never below this, nor that much below one."""
    mistake(
        "log_p",
        f"probabilities kept above {written}",
        symptom=f"A token less likely than {written} costs no more than {-math.log(least):.1f}, "
        "and hardly any gradient comes from it.",
        cause="Nothing need be added to a probability, and no bound set, to take its logarithm: "
        "logits.log_softmax(dim=-1) is exact where the softmax underflows.",
    )(lambda logits: logits.softmax(dim=-1).clamp(least, 1 - least).log())


for bound in ("1e-7", "1e-8", "1e-9", "1e-10", "1e-12"):
    kept_above(float(bound), bound)


@mistake(
    "real",
    "<eos> left out of the loss",
    symptom="The model is never told where to end.",
    cause="<eos>, 2, is a token to be predicted: only padding, 0, is left out.",
    section="Break it: two wrong averages",
)
def end_left_out(target: Tensor) -> Tensor:
    return (target != 0) & (target != 2)


@mistake(
    "real",
    "all special tokens left out of the loss",
    symptom="<eos> and <unk> are left out with the padding.",
    cause="Four ids are left out, as by target > 3: leave out padding alone, target != 0.",
    section="Break it: two wrong averages",
)
def specials_left_out(target: Tensor) -> Tensor:
    return target > 3


@mistake(
    "real",
    "last position left out of the loss",
    symptom="The last of several positions is never counted.",
    cause="The target has been shifted already: take all positions that are not padding.",
    section="One place to the right",
    chapter=3,
)
def last_left_out(target: Tensor) -> Tensor:
    real = target != 0
    real[:, -1] = False
    return real


@mistake(
    "average",
    "loss with the wrong sign",
    symptom="The loss has the wrong sign: it falls as the model gets worse.",
    cause="The loss is −log p, not log p: mind the minus.",
)
def wrong_sign(losses: Tensor, real: Tensor) -> Tensor:
    return -losses[real].mean()


@mistake(
    "log_p",
    "log-softmax twice",
    symptom="Nothing changes: the loss is the same.",
    cause="Log-probabilities are logits whose exponentials sum to one already: the second "
    "log-softmax subtracts zero. (A softmax taken twice does change the loss.)",
    section="Break it: the softmax twice",
    kind="harmless",
)
def logarithm_twice(logits: Tensor) -> Tensor:
    return logits.log_softmax(dim=-1).log_softmax(dim=-1)


@mistake(
    "log_p",
    "binary cross-entropy of every word",
    met=("score", 0),
    symptom="The loss is paid for the probability of all other words, too.",
    cause="One word of V is asked for, and the softmax makes them compete: take −log p of the "
    "right one alone. Yours adds −log(1 − p) of all others.",
    seen="cross entropy is correct?, https://github.com/eriklindernoren/ML-From-Scratch/issues/98",
)
def of_every_word(logits: Tensor) -> Tensor:
    p = logits.softmax(dim=-1).clamp(1e-15, 1 - 1e-7)
    return p.log() - (1 - p).log() + (1 - p).log().sum(dim=-1, keepdim=True)


@mistake(
    "real",
    "another token ignored than padding",
    symptom="Padding counts, and the places where <sos> is to be said do not.",
    cause="The index that is ignored is not that of padding, which is 0: ignore_index=0.",
    seen="Seq2Seq CodeBERT - ignore index = -1, https://github.com/microsoft/CodeBERT/issues/145",
)
def another_ignored(target: Tensor) -> Tensor:
    return target != 1
