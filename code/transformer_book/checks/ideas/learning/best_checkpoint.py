"""Best checkpoint (chapter 16): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def loss_table(
    seed: int, least: float = 2.0, spread: float = 1.0
) -> Callable[[int, Sequence[int]], float]:
    """The mean loss of a checkpoint on a batch: made up, the same at every call."""
    table = least + spread * normal(9, 9, seed=seed).double()
    return lambda checkpoint, batch: float(table[checkpoint, batch[0]])


def best_cases() -> Sequence[Case]:
    sizes = ((1, 9, 2), (7, 1, 1), (3, 3, 8), (1, 1, 12, 2), (2, 9), (6, 2, 1, 1), (1, 4, 9))
    many = tuple(
        Case(
            f"losses {i + 1}: {4 + i % 3} checkpoints, {len(lengths)} batches",
            (
                # A checkpoint's number is not its place: older ones have been deleted.
                list(range(8 - i % 3, 8 - i % 3 - (4 + i % 3), -1)),
                # Its first token tells a batch from the others; some come twice.
                [[b, *(4 + j * j % 5 for j in range(n - 1))] for b, n in enumerate(lengths)],
                # All are bad, or nearly the same.
                loss_table(40 + i, 2.0 if i % 4 else 120.0, 0.002 if i % 6 == 5 else 1.0),
            ),
        )
        for i, lengths in enumerate((*sizes, *sizes[:-2]))
    )
    bad, by_heart = {0: 0.0, 11: 0.3}, {"update_900": 2e-5, "update_1000": 0.0, "update_99": 1e-5}
    return (
        *many,
        Case(
            "twelve checkpoints, losses of 20000, a batch twice",
            (
                list(range(12)),
                [[0, 5, 6], [1, 7], [1, 7]],
                lambda c, batch: 20000.0 + bad.get(c, 0.5) * (1 if batch[0] == 0 or c < 11 else -1),
            ),
        ),
        Case(
            "checkpoints with names, losses of zero and nearly zero",
            (list(by_heart), [[0, 5], [1, 6, 7]], lambda c, batch: by_heart[c]),
        ),
        Case("one checkpoint, one token", ([7], [[4]], lambda c, batch: 1.5)),
        Case(
            "five checkpoints, losses of ten thousand, one batch",
            ([4, 5, 6, 7, 8], [[1, *range(5, 14)]], lambda c, batch: 9999.0 + abs(c - 7)),
        ),
    )


def mean_per_token(measured: Sequence[tuple[float, int]]) -> float:
    return sum(loss * n for loss, n in measured) / sum(n for _, n in measured)


def _best(checkpoints: Any, batches: Any, loss_of: Any) -> int:
    tokens = sum(map(len, batches))
    losses = [sum(loss_of(c, b) * len(b) for b in batches) / tokens for c in checkpoints]
    return losses.index(min(losses))


BEST = Component(
    name="best_checkpoint",
    chapter=16,
    order=3,
    section="Two hundred pairs",
    signature="checkpoints, batches, loss_of",
    pipeline=lambda s, checkpoints, batches, loss_of: s.choose(
        [
            s.average([(loss_of(c, batch), len(batch)) for batch in s.measured(batches)])
            for c in checkpoints
        ]
    ),
    steps={
        "measured": lambda batches: batches,
        "average": mean_per_token,
        "choose": lambda losses: losses.index(min(losses)),
    },
    cases=best_cases,
    returns="the place (0, 1, …) of the checkpoint with the lowest validation loss per token; "
    "`batches` are lists of tokens, and `loss_of(checkpoint, batch)` is the mean loss per token "
    "of one batch; no two are equally good",
    differentiable=False,
    done_by="Trainer",
    met="bleu",
    boundaries={
        "the first is the best": lambda checkpoints, batches, loss_of: (
            _best(checkpoints, batches, loss_of) == 0
        ),
        "the last is the best": lambda checkpoints, batches, loss_of: (
            _best(checkpoints, batches, loss_of) == len(checkpoints) - 1
        ),
        "losses above 100": lambda checkpoints, batches, loss_of: (
            loss_of(checkpoints[0], batches[0]) > 100
        ),
        "losses that differ by less than a hundredth": lambda checkpoints, batches, loss_of: (
            max(loss_of(c, batches[0]) for c in checkpoints)
            < min(loss_of(c, batches[0]) for c in checkpoints) + 0.01
        ),
        **{
            f"losses above {n}": lambda checkpoints, batches, loss_of, n=n: (
                loss_of(checkpoints[0], batches[0]) > n
            )
            for n in (1000, 4000)
        },
        "a loss of zero": lambda checkpoints, batches, loss_of: any(
            loss_of(c, batches[0]) == 0 for c in checkpoints
        ),
        "one checkpoint": lambda checkpoints: len(checkpoints) == 1,
        "more than ten checkpoints": lambda checkpoints: len(checkpoints) > 10,
        "checkpoints with names": lambda checkpoints: isinstance(checkpoints[0], str),
        "one batch": lambda batches: len(batches) == 1,
        "a batch twice": lambda batches: any(batches.count(b) > 1 for b in batches),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(BEST)


@mistake(
    "measured",
    "best checkpoint chosen on one batch",
    met=("bleu", 6),
    symptom="Only the first batch decides.",
    cause="Add up, over all batches, each one's own loss · its tokens; divide by the number of "
    "all tokens.",
)
def first_batch(batches: Sequence[Any]) -> Sequence[Any]:
    return batches[:1]


@mistake(
    "measured",
    "best checkpoint chosen on the last batch",
    symptom="Only the last batch decides.",
    cause="Add up, over all batches, each one's own loss · its tokens; divide by the number of "
    "all tokens.",
)
def last_batch(batches: Sequence[Any]) -> Sequence[Any]:
    return batches[-1:]


@mistake(
    "average",
    "best checkpoint by the mean of means",
    symptom="A small batch counts as much as a large one.",
    cause="Weigh each batch's loss by its number of tokens.",
    section="A mean of means is not the mean",
    chapter=15,
)
def by_mean_of_means(measured: Sequence[tuple[float, int]]) -> float:
    return sum(loss for loss, _ in measured) / len(measured)


@mistake(
    "average",
    "best checkpoint by its luckiest batch",
    symptom="The smallest loss on any one batch decides.",
    cause="Compare the losses of the whole validation set, not of single batches.",
)
def luckiest(measured: Sequence[tuple[float, int]]) -> float:
    return min(loss for loss, _ in measured)


@mistake(
    "choose",
    "largest loss in place of the smallest",
    symptom="Larger losses are taken for better ones.",
    cause="A loss is to be small: take the checkpoint of the smallest loss, as min does.",
)
def largest(losses: Sequence[float]) -> int:
    return list(losses).index(max(losses))


@mistake(
    "choose",
    "the last checkpoint taken for the best",
    symptom="The answer is the last one, good or bad.",
    cause="Begin the smallest loss at infinity, once; where a checkpoint's loss is smaller, keep "
    "it and its place, and return that place.",
)
def always_last(losses: Sequence[float]) -> int:
    return len(losses) - 1


@mistake(
    "choose",
    "places counted from one",
    symptom="The answer is one too large.",
    cause="Places count from 0, as indices do.",
)
def counted_from_one(losses: Sequence[float]) -> int:
    return losses.index(min(losses)) + 1


@mistake(
    "choose",
    "loss in place of the place",
    symptom="The answer is the smallest loss itself.",
    cause="Return where it stands: losses.index(min(losses)).",
)
def loss_returned(losses: Sequence[float]) -> float:
    return min(losses)


@mistake(
    "choose",
    "first minimum taken for the smallest",
    symptom="The search ends where the loss rises for the first time.",
    cause="A later checkpoint may be better still: look at all of them.",
)
def first_rise(losses: Sequence[float]) -> int:
    rises = (i for i in range(len(losses) - 1) if losses[i + 1] > losses[i])
    return next(rises, len(losses) - 1)


@mistake(
    "choose",
    "the first checkpoint taken for the best",
    symptom="The answer is always 0.",
    cause="Compare all checkpoints, each by its own loss, summed from 0: where it is smaller than "
    "the smallest so far, which begins at infinity, keep it and its place.",
)
def always_first(losses: Sequence[float]) -> int:
    return 0


@mistake(
    "average",
    "losses divided by their tokens",
    symptom="A small batch counts for more than a large one.",
    cause="The losses are means: multiply each by its number of tokens, and divide by all tokens.",
    section="A mean of means is not the mean",
    chapter=15,
)
def divided_again(measured: Sequence[tuple[float, int]]) -> float:
    return sum(loss / n for loss, n in measured)
