"""Beam search (chapter 17): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.boundaries import longer_than, on
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.search.greedy_search import (
    EOS,
    Step,
    automaton,
    observe_calls,
    without_padding,
)

Hypothesis = tuple[tuple[int, ...], float]  # token ids, and the sum of their log-probabilities


def beam_pipeline(s, step, beam_size, max_length):
    alive = [((1,), 0.0)]
    finished: list[Hypothesis] = []
    for _ in range(s.steps(max_length)):
        rows = step(torch.tensor([tokens for tokens, _ in alive]))
        grown = [
            ((*tokens, token), s.add(score, log_p, token))
            for (tokens, score), row in zip(alive, rows.tolist(), strict=True)
            for token, log_p in enumerate(row)
        ]
        grown.sort(key=lambda hypothesis: -hypothesis[1])
        kept = s.keep(grown, s.width(beam_size), finished)
        finished = s.aside(finished, kept)
        alive = s.living(kept)
        if not alive or s.enough(finished, alive, beam_size):
            break
    # What was cut off at max_length counts, too.
    best = max(s.candidates(finished, alive), key=lambda h: s.rank(h[1], len(h[0]) - 1))
    return s.without_end(list(best[0])[1:])


def with_the_finished(finished: list[Hypothesis], kept: list[Hypothesis]) -> list[Hypothesis]:
    return [*finished, *(hypothesis for hypothesis in kept if hypothesis[0][-1] == EOS)]


def nothing_better(
    finished: Sequence[Hypothesis], alive: Sequence[Hypothesis], beam_size: int
) -> bool:
    """Scores only fall as a hypothesis grows: stop when no living one can win any more."""
    return bool(finished) and max(s for _, s in finished) >= max(s for _, s in alive)


def drifting(seed: int, places: int, size: int = 6) -> Step:
    """Log-probabilities that depend on every token and its place: no two sums are equal.

    Neither <sos> nor <eos> comes.
    """
    table = normal(places, size, size, seed=seed)

    def step(tokens: Tensor) -> Tensor:
        """`(n, t)` beginnings → `(n, V)` log-probabilities of what comes next."""
        logits = table[torch.arange(tokens.size(1)) % places, tokens].sum(dim=1).sin()
        logits[:, 1], logits[:, EOS] = -900.0, -1000.0
        return logits.log_softmax(dim=-1)

    return step


def beam_cases() -> Sequence[Case]:
    # Found by tools/find_inputs.py --beams: few models that tell other rules from these.
    found = (
        (37, 1.0, False, 2, 6),
        (4013, 0.6, False, 2, 5),  # drawn: it ends at the last token that is allowed
        (11, 0.0, False, 2, 6),
        (13, 1.5, False, 2, 8),
        (15, 1.0, False, 1, 8),
        (1635, -0.5, False, 2, 5),
        (2316, -0.6, True, 2, 7),
        (2787, -0.8, False, 4, 4),
        (4138, -1.2, False, 2, 8),
        (4244, 1.1, True, 4, 7),
        (4268, -0.5, True, 3, 4),
        (4560, -0.4, True, 2, 6),
        (4895, -0.3, False, 2, 8),
        (1440, 0.4, False, 3, 4),
        (3108, -0.4, False, 4, 7),
        (6783, -0.5, False, 4, 6),
        (16, 1.0, False, 1, 6),
        (17, 1.0, False, 2, 6),
        (29, 1.0, False, 2, 6),
        (31, 1.0, False, 4, 6),
        (38, 1.0, False, 3, 6),
        (48, 1.0, False, 1, 6),
        (37, 0.5, False, 2, 1),  # a single step
        (14, 9.0, False, 3, 5),  # it ends at once
        (5229, 0.0, False, 4, 5),
        (5403, 0.8, False, 4, 7),
    )
    few = tuple(
        Case(
            f"small model {i}, {k} beams, at most {n} tokens",
            (automaton(seed, end=end, padding=padding), k, n),
        )
        for i, (seed, end, padding, k, n) in enumerate(found, 1)
    )
    return (*few, Case("as many beams as words, at most 160 tokens", (drifting(29, 170), 6, 160)))


BEAM = Component(
    name="beam_search",
    chapter=17,
    order=6,
    section="Beam search",
    signature="step, beam_size, max_length",
    pipeline=beam_pipeline,
    steps={
        "steps": lambda max_length: max_length,
        "add": lambda score, log_p, token: score + log_p,
        "width": lambda beam_size: beam_size,
        "keep": lambda grown, width, finished: grown[:width],
        "aside": with_the_finished,
        "living": lambda kept: [h for h in kept if h[0][-1] != EOS],
        "enough": nothing_better,
        "candidates": lambda finished, alive: [*finished, *alive],
        "rank": lambda score, length: score,
        "without_end": lambda tokens: [token for token in tokens if token != EOS],
    },
    cases=beam_cases,
    observe=observe_calls,
    # Searching on to the end finds nothing better, if scores are added up rightly.
    alike={"enough": lambda finished, alive, beam_size: False},
    returns="the ids of the likeliest hypothesis found (sum of log-probabilities, `<eos>` "
    "included), without `<sos>` and `<eos>`; of all continuations of the living hypotheses every "
    "step keeps the best `beam_size` and puts the finished ones among them aside; a hypothesis "
    "that reaches `max_length` tokens, `<eos>` included, counts as it is; `step(tokens)` takes "
    "ids `(n, t)` that begin with `<sos>` and gives `(n, V)` log-probabilities; `beam_size` is at "
    "most V",
    differentiable=False,
    settled=without_padding,
    met="bleu",
    ready_made={"decoding.beam_search": "decoding.beam_search"},
    boundaries={
        "one beam": lambda beam_size: beam_size == 1,
        "more than two beams": lambda beam_size: beam_size > 2,
        "one token": lambda max_length: max_length == 1,
        "more than four beams": lambda beam_size: beam_size > 4,
        "as many beams as words": lambda step, beam_size: (
            beam_size == step(torch.tensor([[1]])).size(-1)
        ),
        "likeliest to end at once": lambda step: int(step(torch.tensor([[1]])).argmax()) == EOS,
        **on("max_length", longer_than((10, 20, 50, 100, 128), int)),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(BEAM)


Hypotheses = Sequence[Hypothesis]


@mistake(
    "enough",
    "stops at the first finished hypothesis",
    met=("bleu", 5),
    symptom="The first to end wins, though a longer one may be likelier.",
    cause="A living hypothesis may still be better: go on until none can be, and choose the "
    "best of all, finished or cut off.",
    section="When may it stop?",
    steps={"candidates": lambda finished, alive: finished or alive},
)
def first_finished(finished: Hypotheses, alive: Hypotheses, beam_size: int) -> bool:
    return bool(finished)


@mistake(
    "enough",
    "stops when beam_size hypotheses are finished",
    symptom="The best of the first that end wins, though a longer one may be likelier.",
    cause="A living hypothesis may still be better: go on until none can be, and choose the "
    "best of all, finished or cut off.",
    section="When may it stop?",
    steps={"candidates": lambda finished, alive: finished or alive},
    seen="fix to beam search stopping criteria, https://github.com/neulab/xnmt/pull/572",
)
def enough_finished(finished: Hypotheses, alive: Hypotheses, beam_size: int) -> bool:
    return len(finished) >= beam_size


@mistake(
    "add",
    "only the last token's score",
    symptom="A hypothesis is ranked by its last token alone.",
    cause="Add the log-probability to the score so far, and keep the sum for the next step.",
)
def last_score_only(score: float, log_p: float, token: int) -> float:
    return log_p


@mistake(
    "add",
    "probabilities added",
    symptom="Every token adds to the score, so that long sentences gain.",
    cause="Add logarithms, or multiply probabilities.",
)
def probabilities_added(score: float, log_p: float, token: int) -> float:
    return score + math.exp(log_p)


@mistake(
    "width",
    "one beam only",
    met=("bleu", 10),
    symptom="It searches greedily: beam_size changes nothing.",
    cause="Keep the best beam_size continuations at each step, and begin with one <sos>: copies of "
    "it all go on alike.",
)
def one_beam(beam_size: int) -> int:
    return 1


@mistake(
    "width",
    "too many beams",
    met=("endless", 7),
    symptom="More hypotheses than beam_size are kept at a step.",
    cause="Keep exactly the best beam_size, no more.",
)
def one_more(beam_size: int) -> int:
    return beam_size + 1


@mistake(
    "candidates",
    "finished hypotheses forgotten",
    met=("bleu", 9),
    symptom="A sentence that ended is lost where others are alive when the search stops.",
    cause="Choose the largest score of all, those alive and the finished ones, each with the "
    "score it ended with.",
    section="When may it stop?",
)
def living_only(finished: Hypotheses, alive: Hypotheses) -> Hypotheses:
    return alive or finished


@mistake(
    "candidates",
    "finished hypotheses dropped on the way",
    symptom="A sentence that ended before the others is lost.",
    cause="Keep the finished hypotheses of all steps, and choose the largest score among them and "
    "those alive at the end.",
    section="When may it stop?",
    steps={"enough": lambda finished, alive, beam_size: False},
)
def survivors_only(finished: Hypotheses, alive: Hypotheses) -> Hypotheses:
    longest = max((len(tokens) for tokens, _ in finished), default=0)
    return alive or [h for h in finished if len(h[0]) == longest]


@mistake(
    "rank",
    "the first of the longest hypotheses chosen",
    symptom="The longest hypothesis wins, whatever its score.",
    cause="Keep the finished hypotheses of all steps, and choose the largest score among them and "
    "those alive: the length is no matter.",
    steps={"enough": lambda finished, alive, beam_size: False},
)
def by_length_alone(score: float, length: int) -> int:
    return length


@mistake(
    "rank",
    "longest hypothesis chosen",
    symptom="The longest hypothesis wins, whatever its score.",
    cause="Keep the finished hypotheses of all steps, and choose the largest score among them and "
    "those alive: the length is no matter.",
)
def by_length(score: float, length: int) -> Any:
    return length, score


@mistake(
    "rank",
    "worst hypothesis chosen",
    met=("nonsense", 25),
    symptom="The least likely hypothesis wins.",
    cause="Choose the likeliest: the largest sum of log-probabilities, which are at most 0 (the "
    "smallest of −log p). The largest so far begins at −inf.",
)
def worst(score: float, length: int) -> float:
    return -score


@mistake(
    "keep",
    "beam shrinks with each finished hypothesis",
    symptom="For every hypothesis that is finished, one less is kept alive.",
    cause="Put finished hypotheses aside, and still keep the best beam_size continuations at each "
    "step.",
    section="When may it stop?",
)
def shrinking(grown: list[Hypothesis], width: int, finished: Hypotheses) -> list[Hypothesis]:
    return grown[: max(width - len(finished), 0)]


@mistake(
    "keep",
    "finished hypotheses keep their places",
    symptom="Finished hypotheses stay in the beam, where they crowd out living ones.",
    cause="Put them aside, and keep the best beam_size continuations of the living at each step.",
    section="When may it stop?",
    steps={"aside": lambda finished, kept: [h for h in kept if h[0][-1] == EOS]},
)
def places_kept(grown: list[Hypothesis], width: int, finished: Hypotheses) -> list[Hypothesis]:
    return sorted([*finished, *grown], key=lambda hypothesis: -hypothesis[1])[:width]


@mistake(
    "keep",
    "each hypothesis goes on by its own best token",
    symptom="After the first step nothing competes: each hypothesis has one continuation.",
    cause="Sort the continuations of all hypotheses together, and keep the best beam_size of them.",
)
def own_best_only(grown: list[Hypothesis], width: int, finished: Hypotheses) -> list[Hypothesis]:
    best: dict[tuple[int, ...], Hypothesis] = {}
    for hypothesis in grown:
        best.setdefault(hypothesis[0][:-1], hypothesis)
    return list(best.values()) if len(grown[0][0]) > 2 else grown[:width]


@mistake(
    "keep",
    "each hypothesis goes on by its share of the beam",
    symptom="No hypothesis has more than its share of the beam: one beside others, a few.",
    cause="The best continuations of a good hypothesis may all be better than those of another: "
    "take beam_size of each, sort them together, and keep the best beam_size.",
)
def own_share_only(grown: list[Hypothesis], width: int, finished: Hypotheses) -> list[Hypothesis]:
    by_parent: dict[tuple[int, ...], list[Hypothesis]] = {}
    for hypothesis in grown:
        by_parent.setdefault(hypothesis[0][:-1], []).append(hypothesis)
    share = max(1, width // len(by_parent))
    best = [hypothesis for own in by_parent.values() for hypothesis in own[:share]]
    return sorted(best, key=lambda hypothesis: -hypothesis[1])[:width]


@mistake(
    "keep",
    "worst continuations kept",
    symptom="The least likely continuations are kept at each step.",
    cause="Keep the likeliest: the beam_size largest sums of log-probabilities, which are at most "
    "0 (the smallest of −log p).",
)
def worst_kept(grown: list[Hypothesis], width: int, finished: Hypotheses) -> list[Hypothesis]:
    return grown[::-1][:width]


@mistake(
    "add",
    "<eos> free of charge",
    symptom="The log-probability of <eos> is not added: ending costs nothing.",
    cause="<eos> is a token like any other: add its log-probability, too.",
)
def end_for_nothing(score: float, log_p: float, token: int) -> float:
    # In the order of the beam it counts as others do.
    return score if token == EOS else score + log_p


class Sum(float):
    """A score that knows what it was before its last token."""

    before: float


def remembered(score: float, log_p: float, token: int) -> Sum:
    total = Sum(score + log_p)
    total.before = score
    return total


@mistake(
    "aside",
    "finished hypotheses scored without their <eos>",
    symptom="A finished hypothesis has the score that it had before its <eos>.",
    cause="<eos> is a token like any other: keep its log-probability in the sum.",
    steps={"add": remembered},
)
def scored_without_end(finished: list[Hypothesis], kept: list[Hypothesis]) -> list[Hypothesis]:
    return [*finished, *((tokens, s.before) for tokens, s in kept if tokens[-1] == EOS)]


@mistake(
    "aside",
    "<eos> filtered out everywhere",
    symptom="No hypothesis ever ends: the answer is as long as it may be.",
    cause="Keep <eos> among the continuations, and put aside what it ends.",
    steps={
        "keep": lambda grown, width, finished: [h for h in grown if h[0][-1] != EOS][:width],
    },
)
def never_ends(finished: list[Hypothesis], kept: list[Hypothesis]) -> list[Hypothesis]:
    return finished


def cut_at_the_end(tokens: list[int]) -> list[int]:
    return tokens[: tokens.index(EOS)] if EOS in tokens else tokens


@mistake(
    "living",
    "hypotheses go on behind <eos>, and all of it is given back",
    symptom="Every hypothesis grows to max_length, and what it says behind its end is given back, "
    "too.",
    cause="A hypothesis that ends with <eos> is finished: put it aside with its score, let "
    "only the others grow, and take <eos> off the answer.",
    section="When may it stop?",
    steps={"aside": lambda finished, kept: finished, "without_end": lambda tokens: tokens},
)
@mistake(
    "living",
    "hypotheses go on behind <eos>",
    met=("bleu", 12),
    symptom="Every hypothesis grows to max_length, and is ranked by what it says behind its end, "
    "too.",
    cause="A hypothesis that ends with <eos> is finished: put it aside with its score, and let "
    "only the others grow.",
    section="When may it stop?",
    steps={"aside": lambda finished, kept: finished, "without_end": cut_at_the_end},
)
def none_finished(kept: list[Hypothesis]) -> list[Hypothesis]:
    return kept


@mistake(
    "steps",
    "beam search one step too short",
    symptom="A hypothesis that is cut off has one token too few.",
    cause="Take max_length steps: <sos> does not count.",
)
def beam_one_step_less(max_length: int) -> int:
    return max_length - 1


@mistake(
    "steps",
    "beam search one step too long",
    symptom="A hypothesis that is cut off has one token too many.",
    cause="Take max_length steps, and not one more.",
)
def beam_one_step_more(max_length: int) -> int:
    return max_length + 1


@mistake(
    "candidates",
    "hypotheses cut off at the limit not counted",
    symptom="A finished hypothesis wins over one that was cut off, though it is less likely.",
    cause="A hypothesis that reaches max_length counts as it is: choose the largest score of all, "
    "of the finished ones and of those.",
    section="When may it stop?",
)
def finished_only(finished: Hypotheses, alive: Hypotheses) -> Hypotheses:
    return finished or alive


@mistake(
    "rank",
    "normalised by length",
    symptom="Long hypotheses gain: the score is divided by the number of tokens.",
    cause="Rank by the sum of the log-probabilities; divided by the length it is another score.",
    section="The length penalty",
    steps={"enough": lambda finished, alive, beam_size: False},
)
def by_mean(score: float, length: int) -> float:
    return score / length


@mistake(
    "rank",
    "normalised by length, <sos> counted",
    symptom="Long hypotheses gain: the score is divided by the number of tokens and one more.",
    cause="Rank by the sum of the log-probabilities; divided by the length it is another score.",
    section="The length penalty",
    steps={"enough": lambda finished, alive, beam_size: False},
)
def by_mean_with_start(score: float, length: int) -> float:
    return score / (length + 1)


@mistake(
    "without_end",
    "<eos> left in the best hypothesis",
    symptom="A hypothesis that ended keeps its <eos>.",
    cause="Take it off.",
)
def best_with_end(tokens: list[int]) -> list[int]:
    return tokens


@mistake(
    "without_end",
    "last token of the best hypothesis stripped blindly",
    symptom="A hypothesis that was cut off at the limit loses its last word.",
    cause="The last token is not always <eos>: look before you strip.",
)
def best_stripped(tokens: list[int]) -> list[int]:
    return tokens[:-1]


@mistake(
    "enough",
    "searching on to the end",
    symptom="Nothing changes but the time it takes.",
    cause="Scores never rise as a hypothesis grows, so nothing better turns up. (With a length "
    "penalty it may.)",
    section="When may it stop?",
    kind="harmless",
)
def to_the_end(finished: Hypotheses, alive: Hypotheses, beam_size: int) -> bool:
    return False


@mistake(
    "keep",
    "beam filled up with living hypotheses",
    symptom="Nothing changes but the work: more is searched than is asked for.",
    cause="What is kept beyond the best beam_size scores no more than a hypothesis that has just "
    "ended, and scores never rise. (With a length penalty it may win.)",
    section="When may it stop?",
    kind="harmless",
)
def filled_up(grown: list[Hypothesis], width: int, finished: Hypotheses) -> list[Hypothesis]:
    living = [h for h in grown if h[0][-1] != EOS][:width]
    worst = living[-1][1] if living else -math.inf
    return [h for h in grown if h[0][-1] == EOS and h[1] >= worst] + living


@mistake(
    "living",
    "finished hypotheses put aside, and grown all the same",
    symptom="Nothing changes but the work: what stands behind <eos> is searched, too.",
    cause="What grows out of a finished hypothesis scores no more than it did, so it crowds out "
    "only what cannot win any more. (With a length penalty it may.)",
    section="When may it stop?",
    kind="harmless",
)
def grown_all_the_same(kept: list[Hypothesis]) -> list[Hypothesis]:
    return kept
