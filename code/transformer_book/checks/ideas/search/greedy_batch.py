"""Greedy batch (chapter 17): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer_book.checks.boundaries import UNK, longer_than, on
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.search.greedy_search import EOS, Step, automaton


def batch_step(seed: int, ends: Sequence[float], padding: bool = False) -> Step:
    """A model of several sentences: each row has an automaton of its own."""
    rows = [automaton(seed + i, end=end, padding=padding, far=True) for i, end in enumerate(ends)]

    def step(tokens: Tensor) -> Tensor:
        both = zip(rows, tokens, strict=False)
        return torch.cat([row(beginning[None]) for row, beginning in both])

    return step


def wide_step() -> Step:
    """A model with 400 words: one row never ends, one word is impossible, and ids are large."""
    table = normal(400, 400, seed=10)
    table[:, :2], table[:, 3] = -9, -torch.inf
    table[7::2, EOS] += 3
    for last, following in ((1, 300), (300, 301), (301, 300)):
        table[last, following] = 9.0
    table = table.log_softmax(dim=-1)
    return lambda tokens: table[(tokens[:, -1] + torch.arange(len(tokens))) % 400]


def unknown_step() -> Step:
    """A model that says <unk> twice, then another word and the end."""
    said = F.one_hot(torch.tensor([3, 3, 4, EOS]), 6).float().log_softmax(dim=-1)
    return lambda tokens: said[tokens.size(1) - 1].expand(len(tokens), 6)


def batch_cases() -> Sequence[Case]:
    chosen = (
        (70, (3.0, -1.0), 6),
        (72, (-9.0, 2.0, 0.5), 5),
        (75, (1.0, 1.0, -2.0), 8),
        (80, (2.0, -1.0, 1.0, 0.0), 7),
        (84, (1.0,), 6),
        (85, (-1.0, 3.0), 6),
        (90, (0.5, 1.5, -0.5), 9),
        (97, (9.0, 9.0), 5),
        (100, (-9.0,), 1),
        (110, (-9.0, 2.0), 520),
    )
    # Only <eos> ends a sentence: these models say 0, too.
    padding = ((1, (0.0, 0.0, -9.0), 7), (2, (-9.0, -9.0), 6), (3, (0.0, -9.0, -9.0, 1.0), 8))
    small = tuple(
        Case(
            f"small model {i}, {len(ends)} sentences, at most {n} tokens",
            (batch_step(seed, ends, padding=(seed, ends, n) in padding), len(ends), n),
        )
        for i, (seed, ends, n) in enumerate((*chosen, *padding), 1)
    )
    return (
        *small,
        Case("400 words, 70 sentences, at most 130 tokens", (wide_step(), 70, 130)),
        Case("<unk> is the likeliest", (unknown_step(), 1, 4)),
    )


def batch_pipeline(s, step, n_sentences, max_length):
    tokens = torch.ones(n_sentences, 1, dtype=torch.long)  # (B, 1), <sos>
    done = torch.zeros(n_sentences, dtype=torch.bool)
    for _ in range(s.steps(max_length)):
        chosen = s.fill(s.choose(step(tokens)), done)  # (B,)
        tokens = torch.cat([tokens, chosen[:, None]], dim=1)  # (B, t)
        done = s.remember(done, chosen)
        if s.stop(done):
            break
    return s.finish(tokens)


def observe_batch(function: Callable[..., object]) -> Callable[..., object]:
    """Columns of nothing but padding at the end make no difference: all have `max_length`."""

    def observed(step: Step, n_sentences: int, max_length: int) -> object:
        found = function(step, n_sentences, max_length)
        if not isinstance(found, Tensor) or found.dim() != 2:
            return found
        while found.size(1) > max_length and not found[:, -1].any():
            found = found[:, :-1]
        return F.pad(found, (0, max(0, max_length - found.size(1))))

    return observed


GREEDY_BATCH = Component(
    name="greedy_batch",
    chapter=17,
    order=5,
    section="Many sentences at once",
    signature="step, n_sentences, max_length",
    pipeline=batch_pipeline,
    steps={
        "steps": lambda max_length: max_length,
        "choose": lambda log_p: log_p.argmax(dim=-1),
        "fill": lambda chosen, done: chosen.masked_fill(done, 0),
        "remember": lambda done, chosen: done | (chosen == EOS),
        "stop": lambda done: bool(done.all()),
        "finish": lambda tokens: tokens[:, 1:],
    },
    cases=batch_cases,
    returns="`(B, t)` whole numbers: the likeliest tokens of all sentences, without `<sos>` (1), "
    "with `<eos>` (2) where a sentence ended and padding (0) behind it; `step(tokens)` takes ids "
    "`(B, t)` that begin with `<sos>` and gives `(B, V)` log-probabilities, never the highest for "
    "`<sos>`; padding may come like any word before a sentence has ended; `max_length` counts "
    "`<eos>`, and columns of nothing but padding at the end are no matter",
    differentiable=False,
    observe=observe_batch,
    compared="Answers are compared with padding up to `max_length`.",
    done_by="greedy_search",
    met="bleu",
    boundaries={
        "one sentence": lambda n_sentences: n_sentences == 1,
        "one token at most": lambda max_length: max_length == 1,
        "more than 64 sentences": lambda n_sentences: n_sentences > 64,
        "more than 256 words": lambda step: step(torch.ones(2, 1).long()).size(-1) > 256,
        "a word that is impossible": lambda step: step(torch.ones(2, 1).long()).isinf().any(),
        "<unk> is the likeliest": lambda step, n_sentences: (
            step(torch.ones(n_sentences, 1).long()).argmax(dim=-1) == UNK
        ).all(),
        **on("max_length", longer_than((10, 20, 64, 128), int)),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(GREEDY_BATCH)


@mistake(
    "fill",
    "finished rows still growing",
    met=("endless", 4),
    symptom="Behind the end of a sentence other ids than padding stand, as long as others go on.",
    cause="Write padding in the rows that have had their <eos>: chosen = chosen.masked_fill(done, "
    "0).",
    seen="fix: correct EOS handling in batched generation, "
    "https://github.com/mistralai/mistral-inference/pull/270",
)
def growing_on(chosen: Tensor, done: Tensor) -> Tensor:
    return chosen


@mistake(
    "stop",
    "all rows stop with the first",
    met=("bleu", 7),
    symptom="Sentences that are not finished when the first one ends are cut off there.",
    cause="Leave the loop when all rows are done: done.all(), not done.any().",
)
def any_done(done: Tensor) -> bool:
    return bool(done.any())


@mistake(
    "fill",
    "filled with <eos> in place of padding",
    symptom="Behind its end a sentence has one <eos> after the other.",
    cause="A consistent choice, if each sentence is then cut at its first <eos>; the book fills "
    "with padding, 0.",
    kind="convention",
)
def ends_repeated(chosen: Tensor, done: Tensor) -> Tensor:
    return chosen.masked_fill(done, EOS)


@mistake(
    "finish",
    "<sos> left in front of the batch",
    symptom="Every row begins with <sos>.",
    cause="<sos> starts the search; it is not part of the sentence: tokens[:, 1:].",
)
def starts_left_in(tokens: Tensor) -> Tensor:
    return tokens


@mistake(
    "steps",
    "batch one step too short",
    symptom="Sentences that do not end have one word too few.",
    cause="Take max_length steps: <sos> does not count.",
)
def batch_one_step_less(max_length: int) -> int:
    return max_length - 1


@mistake(
    "steps",
    "batch one step too long",
    symptom="Sentences that do not end have one word too many.",
    cause="Take max_length steps, and not one more.",
)
def batch_one_step_more(max_length: int) -> int:
    return max_length + 1


@mistake(
    "finish",
    "<eos> overwritten with padding",
    symptom="The ends are missing: padding stands in their place.",
    cause="Leave each <eos> where it is, and pad only behind it: fill the rows that were done "
    "before the step.",
)
def end_overwritten(tokens: Tensor) -> Tensor:
    return tokens[:, 1:].masked_fill(tokens[:, 1:] == EOS, 0)


@mistake(
    "remember",
    "finished rows wake up again",
    symptom="A row counts as ended only just behind its <eos>: after one padding it goes on.",
    cause="A row that was done before stays done: done = done | (chosen == EOS).",
)
def forgotten(done: Tensor, chosen: Tensor) -> Tensor:
    return chosen == EOS


@mistake(
    "remember",
    "no look at <eos>",
    symptom="All rows go on to max_length, and words stand behind their ends.",
    cause="Remember which rows have had their <eos>, fill those with padding, and stop when all "
    "have: done = done | (chosen == EOS).",
)
def never_remembered(done: Tensor, chosen: Tensor) -> Tensor:
    return done


@mistake(
    "choose",
    "token of the first sentence for all",
    symptom="All sentences are the first one.",
    cause="Hand the rows of all sentences to `step` at once, (B, t), and choose a token for each: "
    "step(tokens).argmax(dim=-1).",
)
def first_row_for_all(log_p: Tensor) -> Tensor:
    return log_p[:1].argmax(dim=-1).expand(len(log_p))


@mistake(
    "stop",
    "a batch that runs on to the limit",
    symptom="Nothing changes but the time it takes, and columns of padding at the end.",
    cause="Leave the loop when all rows are done.",
    kind="harmless",
)
def never_done(done: Tensor) -> bool:
    return False
