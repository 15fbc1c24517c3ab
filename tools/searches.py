"""Searches written a second time, and their rivals: the same with another rule in one place.

Nothing here knows how the checks' references are written.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch

PAD, SOS, EOS, UNK = range(4)
Row = list[float]  # the log-probabilities of the next token
Program = tuple[str, Callable[..., Any]]


@dataclass(frozen=True)
class Rules:
    """What a beam search decides. The right rules are the first of each."""

    places: str = "aside"  # shrinking, kept, go on, filled, own best, only if first
    stop: str = "nothing better"  # first, enough, beam's best, never
    winner: str = "all"  # finished, alive, last finished
    score: str = "sum"  # last, half, end free, start counted
    rank: str = "score"  # mean, mean with <sos>, longest, worst
    width: int = 0  # more beams than asked for
    steps: int = 0  # more steps than asked for
    ends: tuple[int, ...] = (EOS,)

    @property
    def name(self) -> str:
        right = Rules()
        parts = [(k, v) for k, v in vars(self).items() if v != getattr(right, k)]
        return ", ".join(f"{k}: {v}" for k, v in parts)


Model = Callable[[tuple[int, ...]], Row]
Found = tuple[float, tuple[int, ...]]  # the score and the tokens of a hypothesis


def beam(model: Model, beam_size: int, max_length: int, rules: Rules) -> list[int]:
    """Beam search by these rules; hypotheses are compared, and ties broken, by score and order."""
    size = beam_size + rules.width
    living: list[Found] = [(0.0, (SOS,))]
    done: list[Found] = []
    if size < 1 or max_length + rules.steps < 1:
        return []
    for _ in range(max_length + rules.steps):
        grown = [
            (scored(rules, score, log_p, token, len(tokens)), (*tokens, token))
            for score, tokens in living
            for token, log_p in enumerate(model(tokens))
        ]
        grown.sort(key=lambda hypothesis: -hypothesis[0])
        before = done
        done, living = divided(rules, grown, done, size)
        if not living or stops(rules, before, done, living, size):
            break
    if rules.winner == "finished":
        pool = done or living
    elif rules.winner == "alive":
        pool = living or done
    elif rules.winner == "last finished":
        pool = done[-1:] or living[:1]
    else:
        pool = done + living
    if not pool:
        return []
    best = max(pool, key=lambda hypothesis: ranked(rules, hypothesis))
    return [token for token in best[1][1:] if token != EOS]


def scored(rules: Rules, score: float, log_p: float, token: int, length: int) -> float:
    if rules.score == "last":
        return log_p
    if rules.score == "half":
        return float(torch.tensor(score + log_p).half())
    if rules.score == "end free" and token == EOS:
        return score
    if rules.score == "probabilities":
        return score + math.exp(log_p)
    if rules.score == "mean":
        return (score * (length - 1) + log_p) / length
    return score + log_p


def divided(
    rules: Rules, grown: list[Found], done: list[Found], size: int
) -> tuple[list[Found], list[Found]]:
    """Who has finished, and who lives on."""

    def ended(hypothesis: Found) -> bool:
        return hypothesis[1][-1] in rules.ends

    if rules.places == "shrinking":
        kept = grown[: max(size - len(done), 0)]
    elif rules.places == "kept":
        kept = sorted(done + grown, key=lambda hypothesis: -hypothesis[0])[:size]
        return [h for h in kept if ended(h)], [h for h in kept if not ended(h)]
    elif rules.places == "go on":
        return done + [h for h in grown[:size] if ended(h)], grown[:size]
    elif rules.places == "filled":
        alive = [h for h in grown if not ended(h)][:size]
        last = alive[-1][0] if alive else -math.inf
        kept = [h for h in grown if ended(h) and h[0] >= last] + alive
    elif rules.places == "filled from twice as many":
        kept = grown[: 2 * size]
        alive = [h for h in kept if not ended(h)][:size]
        kept = [h for h in kept if ended(h)] + alive
    elif rules.places == "finished from the best only":
        alive = [h for h in grown if not ended(h)][:size]
        kept = [h for h in grown[:size] if ended(h)] + alive
    elif rules.places == "own best" and len(grown[0][1]) > 2:
        best: dict[tuple[int, ...], Found] = {}
        for hypothesis in grown:
            best.setdefault(hypothesis[1][:-1], hypothesis)
        kept = list(best.values())
    elif rules.places == "only if first":
        kept = [h for i, h in enumerate(grown[:size]) if i == 0 or not ended(h)]
    elif rules.places == "dropped":
        kept = [h for h in grown[:size] if not ended(h)] or grown[:size]
    else:
        kept = grown[:size]
    return done + [h for h in kept if ended(h)], [h for h in kept if not ended(h)]


def stops(
    rules: Rules, before: list[Found], done: list[Found], living: list[Found], size: int
) -> bool:
    if rules.stop == "never" or not done:
        return False
    if rules.stop == "first":
        return True
    if rules.stop == "enough":
        return len(done) >= size
    if rules.stop == "beam's best":
        return len(done) > len(before) and done[-1][0] >= living[0][0]
    if rules.stop == "worst":
        return min(done)[0] >= living[0][0]
    return max(done)[0] >= living[0][0]


def ranked(rules: Rules, hypothesis: Found) -> Any:
    score, tokens = hypothesis
    length = len(tokens) - 1
    return {
        "score": score,
        "mean": score / length,
        "mean with <sos>": score / (length + 1),
        "mean without <eos>": score / max(length - (tokens[-1] == EOS), 1),
        "longest": (length, score),
        "shortest": (-length, score),
        "worst": -score,
    }[rules.rank]


RIGHT = Rules()
CHOICES: dict[str, tuple[Any, ...]] = {
    "places": (
        "shrinking",
        "kept",
        "go on",
        "filled",
        "filled from twice as many",
        "finished from the best only",
        "own best",
        "only if first",
        "dropped",
    ),
    "stop": ("first", "enough", "beam's best", "worst"),
    "winner": ("finished", "alive", "last finished"),
    "score": ("last", "half", "end free", "probabilities", "mean"),
    "rank": ("mean", "mean with <sos>", "mean without <eos>", "longest", "shortest", "worst"),
    "width": (-1, 1),
    "steps": (-1, 1),
    "ends": ((EOS, UNK), (EOS, PAD)),
}
HARMLESS = ("go on", "filled", "finished from the best only")  # scores only fall
SINGLE = [replace(RIGHT, **{rule: value}) for rule, values in CHOICES.items() for value in values]
PAIRS = [
    replace(RIGHT, **{a: x, b: y})
    for a, b in itertools.combinations(CHOICES, 2)
    for x in CHOICES[a]
    for y in CHOICES[b]
]


def asked(step: Callable[..., Any]) -> Model:
    """The model behind a check's `step`, one hypothesis at a time; asked once for each."""
    answers: dict[tuple[int, ...], Row] = {}

    def model(tokens: tuple[int, ...]) -> Row:
        if tokens not in answers:
            answers[tokens] = step(torch.tensor([tokens]))[0].tolist()
        return answers[tokens]

    return model


def greedy(model: Model, max_length: int, ends: tuple[int, ...] = (EOS,)) -> list[int]:
    """The likeliest token again and again."""
    tokens = [SOS]
    while len(tokens) <= max_length:
        row = model(tuple(tokens))
        tokens.append(row.index(max(row)))
        if tokens[-1] in ends:
            return [t for t in tokens[1:] if t != EOS]
    return tokens[1:]


def best_of_all(model: Model, max_length: int) -> list[int]:
    """The likeliest of all hypotheses there are: brute force."""
    best: Found = (-math.inf, ())

    def look(score: float, tokens: tuple[int, ...]) -> None:
        nonlocal best
        if tokens[-1] == EOS or len(tokens) > max_length:
            best = max(best, (score, tokens), key=lambda found: found[0])
            return
        for token, log_p in enumerate(model(tokens)):
            look(score + log_p, (*tokens, token))

    look(0.0, (SOS,))
    return [token for token in best[1][1:] if token != EOS]


def as_program(rules: Rules) -> Callable[..., Any]:
    return lambda step, beam_size, max_length: beam(asked(step), beam_size, max_length, rules)


def rivals(component: str) -> Iterator[Program]:
    """The programs that are held against the inputs of a search."""
    if component == "beam_search":
        for rules in (*SINGLE, *PAIRS):
            yield rules.name, as_program(rules)
    if component == "greedy_search":
        for ends in ((EOS, PAD), (EOS, UNK), (EOS, SOS), (), (EOS, 4), (EOS, 5)):
            yield (
                f"ends: {ends}",
                lambda step, max_length, ends=ends: greedy(asked(step), max_length, ends),
            )


# --- random small models --------------------------------------------------------------------------


Size = tuple[int, float, bool, int, int]


def sizes(n: int) -> Iterator[Size]:
    """Of random small models: seed, inclination to end, whether padding comes; beams, length."""
    generator = torch.Generator().manual_seed(0)
    for seed in range(1000, 1000 + n):
        end, beams, length = torch.rand(3, generator=generator).tolist()
        yield seed, round(4 * end - 1.5, 1), seed % 4 == 0, 1 + int(4 * beams), 2 + int(7 * length)


def agreement(checks: Any, n: int) -> str:
    """Whether the references agree with these searches, and these with brute force."""
    search = checks.ideas.search
    counts = {"greedy": 0, "beam": 0, "brute force": 0, "batch": 0, "what is harmless": 0}
    for seed, end, padding, beams, length in sizes(n):
        step = search.greedy_search.automaton(seed, end=end, padding=padding)
        model = asked(step)
        counts["greedy"] += search.greedy_search.GREEDY.reference(step, length) == greedy(
            model, length
        )
        found = search.beam_search.BEAM.reference(step, beams, length)
        counts["beam"] += found == beam(model, beams, length, RIGHT)
        counts["what is harmless"] += all(
            beam(model, beams, length, replace(RIGHT, places=places)) == found
            for places in HARMLESS
        )
        small = min(length, 4)
        wide = search.beam_search.BEAM.reference(step, 6**small, small)
        counts["brute force"] += wide == best_of_all(model, small)
        steps = search.greedy_batch.batch_step(seed, (end, -end))
        rows = search.greedy_batch.GREEDY_BATCH.reference(steps, 2, length).tolist()
        alone = [
            greedy(asked(search.greedy_search.automaton(seed + i, end=e)), length)
            for i, e in enumerate((end, -end))
        ]
        counts["batch"] += all(
            search.cut_at_end.until_end(row) == mine for row, mine in zip(rows, alone, strict=True)
        )
    return f"of {n} models: " + ", ".join(f"{name} agrees on {k}" for name, k in counts.items())


def chosen(checks: Any, n: int, enough: int = 3) -> str:
    """A few of n random small models that tell every rival from the right search `enough` times."""
    told: list[tuple[Size, set[str]]] = []
    for size in sizes(n):
        seed, end, padding, beams, length = size
        model = asked(checks.ideas.search.greedy_search.automaton(seed, end=end, padding=padding))
        right = beam(model, beams, length, RIGHT)
        mine = {r.name for r in (*SINGLE, *PAIRS) if beam(model, beams, length, r) != right}
        told.append((size, mine))
    wanted = {name: enough for _, names in told for name in names}
    picked: list[Size] = []
    while told and any(wanted.values()):
        size, names = max(told, key=lambda pair: sum(wanted[name] > 0 for name in pair[1]))
        if not any(wanted[name] for name in names):
            break
        picked.append(size)
        told = [pair for pair in told if pair[0] != size]
        for name in names:
            wanted[name] = max(wanted[name] - 1, 0)
    never = [r.name for r in (*SINGLE, *PAIRS) if r.name not in wanted]
    left = sorted(name for name, missing in wanted.items() if missing)
    return f"{sorted(picked)}\nnever told apart: {never}\ntold apart by fewer than {enough}: {left}"
