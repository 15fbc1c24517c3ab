"""Components of chapter 17: choosing the next token, searching for a sentence."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer_book.checks.attention import normal
from transformer_book.checks.components import Case, Component

EOS = 2
Step = Callable[[Tensor], Tensor]
Hypothesis = tuple[tuple[int, ...], float]  # token ids, and the sum of their log-probabilities

# --- one token -----------------------------------------------------------------------------------


def next_token_cases() -> Sequence[Case]:
    hand = torch.tensor([[[0.0, 3.0, 1.0], [2.0, 0.0, 1.0]]])
    return (
        Case("two positions", (hand,)),
        Case("random", (normal(3, 4, 6, seed=1),)),
        Case("as many sentences as tokens", (normal(4, 4, 4, seed=2),)),
        Case("one position", (normal(2, 1, 5, seed=3),)),
        Case("a long sentence", (normal(2, 9, 7, seed=4),)),
        Case("one sentence", (normal(1, 5, 8, seed=5),)),
        Case("one sentence, one position", (normal(1, 1, 6, seed=6),)),
        Case("another sentence", (normal(1, 4, 9, seed=7),)),
    )


NEXT_TOKEN = Component(
    name="next_token",
    chapter=17,
    section="A tree of words, by hand",
    signature="logits",
    pipeline=lambda s, logits: s.choose(s.place(logits)),
    steps={
        "place": lambda logits: logits[:, -1],
        "choose": lambda last: last.argmax(dim=-1),
    },
    cases=next_token_cases,
    returns="`(B,)`: for each sentence the likeliest token after its last position",
    differentiable=False,
)


def temperature_cases() -> Sequence[Case]:
    # A softmax written by hand overflows where the temperature is low.
    low = ((0.01, 3), (0.02, 4), (0.015, 5))
    return (
        *(
            Case(f"temperature {temperature}", (normal(2, 6, seed=i), temperature))
            for i, temperature in enumerate((1.0, 0.5, 2.0, 0.1, 5.0))
        ),
        Case("one sentence", (normal(1, 5, seed=9), 0.7)),
        *(
            Case(f"temperature {t}", (4 + normal(2, 6, seed=seed), t), rough=True)
            for t, seed in low
        ),
    )


TEMPERATURE = Component(
    name="temperature_probabilities",
    chapter=17,
    section="Drawing instead of searching",
    signature="logits, temperature",
    pipeline=lambda s, logits, temperature: s.heat(logits, temperature),
    steps={"heat": lambda logits, temperature: (logits / temperature).softmax(dim=-1)},
    cases=temperature_cases,
    returns="the probabilities `(B, V)` that are sampled from; the temperature is above 0",
)


def top_k_cases() -> Sequence[Case]:
    hand = torch.tensor([[1.0, 3.0, 2.0, 0.0]])
    return (
        Case("the two best of four", (hand, 2)),
        Case("the best", (hand, 1)),
        Case("all", (hand, 4)),
        Case("negative logits", (hand - 10, 2)),
        Case("logits far below zero", (hand - 300, 3)),
        Case("three of eight, random", (normal(3, 8, seed=1), 3)),
        Case("five of nine, random", (normal(2, 9, seed=2) - 5, 5)),
    )


def keep_top(logits: Tensor, k: int) -> Tensor:
    worst = logits.topk(k, dim=-1).values[..., -1:]
    return logits.masked_fill(logits < worst, float("-inf"))


TOP_K = Component(
    name="top_k_probabilities",
    chapter=17,
    section="Drawing instead of searching",
    signature="logits, k",
    pipeline=lambda s, logits, k: s.share(s.keep(logits, k)),
    steps={"keep": keep_top, "share": lambda logits: logits.softmax(dim=-1)},
    cases=top_k_cases,
    returns="probabilities `(B, V)`: those of the k likeliest tokens, summing to one; all others "
    "zero; k is at most V, and no two tokens are equally likely",
    differentiable=False,
)

# --- a sentence ----------------------------------------------------------------------------------


def automaton(
    seed: int, size: int = 6, end: float = 0.0, padding: bool = False, far: bool = False
) -> Step:
    """Log-probabilities of the next token that depend on the last two: a tiny language model.

    `end` is added to the logits of `<eos>`. `padding` may come like any word, or never. With `far`
    they depend on the last and the third token, as soon as there are ten.
    """
    table = 2 * normal(size, size, size, seed=seed)
    table[:, :, 1] = -20.0  # <sos> never comes again
    if not padding:
        table[:, :, 0] = -20.0
    table[:, :, EOS] += end
    table = table.log_softmax(dim=-1)

    def step(tokens: Tensor) -> Tensor:
        """`(n, t)` beginnings → `(n, V)` log-probabilities of what comes next."""
        last = tokens[:, -1]
        before = tokens[:, -2] if tokens.size(1) > 1 else torch.zeros_like(last)
        if far and tokens.size(1) >= 10:
            before = tokens[:, 2]
        return table[before, last]

    return step


class Ids(list):
    """Token ids, and how often the model was asked for the next one.

    They are compared as ids. The number of calls tells apart mistakes that give the same ids.
    """

    trace: int


def observe_calls(function: Callable[..., object]) -> Callable[..., object]:
    """The answer of a search; if it is a list, with the number of steps that were taken."""

    def observed(step: Step, *limits: int) -> object:
        calls = 0

        def counted(tokens: Tensor) -> Tensor:
            nonlocal calls
            calls += 1
            return step(tokens)

        found = function(counted, *limits)
        if not isinstance(found, list):
            return found
        ids = Ids(found)
        ids.trace = calls
        return ids

    return observed


def without_padding(case: Case, answer: object) -> object:
    """The ids of words: removing special tokens may or may not remove padding with them."""
    return [token for token in answer if token] if isinstance(answer, list) else answer


def greedy_pipeline(s, step, max_length):
    tokens = [s.start()]
    for _ in range(s.steps(max_length)):
        tokens.append(s.choose(step(torch.tensor([s.context(tokens)]))[0]))
        if s.stop(tokens):
            break
    return s.without_end(s.without_start(tokens))


def greedy_cases() -> Sequence[Case]:
    seeds = ((3, 0.0, 8), (4, 1.0, 8), (5, -1.0, 6), (6, 0.5, 10), (7, 2.0, 4), (8, 1.0, 12))
    seeds += ((9, -9.0, 5), (10, -9.0, 3), (11, -9.0, 4), (12, 0.0, 2), (13, -9.0, 1))
    # It ends at once; it ends with the last token; and it is longer than any buffer.
    seeds += ((14, 9.0, 5), (15, 9.0, 1), (16, -9.0, 150))
    # Only <eos> ends a sentence: these models say 0, too.
    seeds += ((1, 0.0, 8), (2, 0.0, 8), (3, 0.0, 8), (4, 0.0, 8))
    return tuple(
        Case(
            f"a small model, at most {n} tokens",
            (automaton(seed, end=end, padding=seed < 5 and i > 13, far=n > 100), n),
        )
        for i, (seed, end, n) in enumerate(seeds)
    )


GREEDY = Component(
    name="greedy_search",
    chapter=17,
    section="A tree of words, by hand",
    signature="step, max_length",
    pipeline=greedy_pipeline,
    steps={
        "start": lambda: 1,
        "steps": lambda max_length: max_length,
        "choose": lambda log_p: int(log_p.argmax()),
        "context": lambda tokens: tokens,
        "stop": lambda tokens: tokens[-1] == EOS,
        "without_start": lambda tokens: tokens[1:],
        "without_end": lambda tokens: [token for token in tokens if token != EOS],
    },
    cases=greedy_cases,
    observe=observe_calls,
    returns="a list of token ids without `<sos>` (1) and `<eos>` (2), at most `max_length` "
    "tokens; `step(tokens)` takes ids `(1, t)` that begin with `<sos>` and gives `(1, V)` "
    "log-probabilities, of which those of `<sos>` and `<pad>` (0) are never the highest, and no "
    "two are equal",
    differentiable=False,
    settled=without_padding,
)


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


def beam_cases() -> Sequence[Case]:
    # Found by tools/find_inputs.py --beams: few models that tell other rules from these.
    found = (
        (37, 1.0, False, 2, 6),
        (1055, 0.5, False, 2, 6),
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
    )
    return tuple(
        Case(
            f"a small model, {k} beams, at most {n} tokens",
            (automaton(seed, end=end, padding=padding), k, n),
        )
        for seed, end, padding, k, n in found
    )


BEAM = Component(
    name="beam_search",
    chapter=17,
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
)


def embed_cases() -> Sequence[Case]:
    table = normal(12, 4, seed=2)

    def tokens(batch: int, length: int, seed: int) -> Tensor:
        least = 4 if seed else 0  # at the beginning special tokens, too
        generator = torch.Generator().manual_seed(seed)
        return torch.randint(least, 9, (batch, length), generator=generator)

    return tuple(
        Case(
            f"{t} new tokens after {past}", (tokens(b, t, past), past, normal(9, 4, seed=1), table)
        )
        for b, t, past in (
            *((1, 1, 3), (2, 1, 5), (3, 1, 1), (2, 1, 0), (2, 2, 4), (1, 3, 2)),
            *((1, 2, 6), (2, 3, 0), (1, 1, 11)),
        )
    )


EMBED_NEXT = Component(
    name="embed_next",
    chapter=17,
    section="The cache of keys and values",
    signature="tokens, past, weight, table",
    pipeline=lambda s, tokens, past, weight, table: (
        weight[tokens] + s.rows(table, past, tokens.size(1))
    ),
    steps={"rows": lambda table, past, new: table[past : past + new]},
    cases=embed_cases,
    returns="`(B, t, D)`: of the new tokens `(B, t)` alone, the rows of the embedding `weight` "
    "plus (it is not scaled) their rows of the `table` of positions; `past` tokens stand in the "
    "cache already",
    # Before the first row there is none, and what people get there differs.
    settled=lambda case, answer: answer if case.arguments[1] else 0.0,
)


def cache_cases() -> Sequence[Case]:
    def cache(layers: int, n: int, heads: int, seed: int) -> list[tuple[Tensor, Tensor]]:
        return [
            (
                normal(n, heads, 3, 2, seed=seed + 2 * i),
                normal(n, heads, 3, 2, seed=seed + 2 * i + 1),
            )
            for i in range(layers)
        ]

    return tuple(
        Case(name, (cache(layers, n, heads, seed), torch.tensor(rows)))
        for name, layers, n, heads, seed, rows in (
            ("two beams change places", 1, 2, 2, 10, [1, 0]),
            ("three beams, one of them doubled", 2, 3, 2, 20, [2, 0, 0]),
            ("all from one", 2, 3, 3, 30, [1, 1, 1]),
            ("round about", 1, 4, 4, 40, [1, 2, 3, 0]),
            ("nothing changes", 2, 2, 2, 50, [0, 1]),
            ("beams of two sentences", 2, 4, 2, 60, [1, 1, 3, 2]),
            ("round about, three layers", 3, 3, 3, 70, [2, 0, 1]),
            ("one beam", 2, 1, 2, 90, [0]),
            ("as many layers as beams, as many heads", 2, 2, 2, 95, [1, 1]),
        )
    )


REORDER = Component(
    name="reorder_cache",
    chapter=17,
    section="Break it: three bugs in a decoder",
    signature="cache, rows",
    pipeline=lambda s, cache, rows: [
        s.pair(s.key_rows(keys, rows, i), s.value_rows(values, rows, i))
        for i, (keys, values) in enumerate(cache)
    ],
    steps={
        "key_rows": lambda keys, rows, layer: keys[rows],
        "value_rows": lambda values, rows, layer: values[rows],
        "pair": lambda keys, values: (keys, values),
    },
    cases=cache_cases,
    returns="a list of pairs (keys, values), one for each layer, both `(N, H, T, K)`: row i is "
    "what row `rows[i]` was, for beam i continues the beam that stood there",
    differentiable=False,
)


def batch_step(seed: int, ends: Sequence[float], padding: bool = False) -> Step:
    """A model of several sentences: each row has an automaton of its own."""
    rows = [automaton(seed + i, end=end, padding=padding) for i, end in enumerate(ends)]

    def step(tokens: Tensor) -> Tensor:
        both = zip(rows, tokens, strict=False)
        return torch.cat([row(beginning[None]) for row, beginning in both])

    return step


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
        (110, (-9.0, 2.0), 70),
    )
    # Only <eos> ends a sentence: these models say 0, too.
    padding = ((1, (0.0, 0.0, -9.0), 7), (2, (-9.0, -9.0), 6), (3, (0.0, -9.0, -9.0, 1.0), 8))
    return tuple(
        Case(
            f"{len(ends)} sentences, at most {n} tokens",
            (batch_step(seed, ends, padding=(seed, ends, n) in padding), len(ends), n),
        )
        for seed, ends, n in (*chosen, *padding)
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
    """Columns of nothing but padding at the end make no difference."""

    def observed(step: Step, n_sentences: int, max_length: int) -> object:
        found = function(step, n_sentences, max_length)
        if not isinstance(found, Tensor) or found.dim() != 2:
            return found
        while found.size(1) and not found[:, -1].any():
            found = found[:, :-1]
        return found

    return observed


GREEDY_BATCH = Component(
    name="greedy_batch",
    chapter=17,
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
    "`<sos>` and padding before a sentence has ended; `max_length` counts `<eos>`, and columns of "
    "nothing but padding at the end are no matter",
    differentiable=False,
    observe=observe_batch,
)


def penalty_cases() -> Sequence[Case]:
    return tuple(
        Case(f"score {score}, {n} tokens, α = {alpha}", (score, n, alpha))
        for score, n, alpha in (
            (-4.0, 2, 1.0),
            (-4.0, 4, 1.0),
            (-3.0, 9, 0.5),
            (-6.0, 7, 0.6),
            (-5.0, 12, 0.7),
            (-6.0, 7, 0.0),
            (-1.0, 1, 1.0),
            (-2.5, 20, 2.0),
        )
    )


LENGTH_NORMALISED = Component(
    name="length_normalised",
    chapter=17,
    section="The length penalty",
    signature="score, length, alpha",
    pipeline=lambda s, score, length, alpha: s.apply(score, s.divisor(length, alpha)),
    steps={
        "divisor": lambda length, alpha: length**alpha,
        "apply": lambda score, divisor: score / divisor,
    },
    cases=penalty_cases,
    returns="the score that hypotheses are ranked by: the sum of log-probabilities over length^α, "
    "the simpler of two penalties (the chapter teaches ((5 + length) / 6)^α first)",
    differentiable=False,
    # With α = 0 a factor is zero, and people write all sorts of things to get round it.
    settled=lambda case, answer: answer if case.arguments[2] else 0.0,
)


def cut_cases() -> Sequence[Case]:
    return (
        Case("padding behind the end", ([5, 6, 2, 0, 0],)),
        Case("an end at the end", ([5, 6, 2],)),
        Case("no end: cut off at the limit", ([5, 6, 7],)),
        Case("words behind the end", ([5, 2, 6, 7, 2],)),
        Case("two words behind the end", ([6, 2, 9, 8, 2],)),
        Case("padding, then words", ([6, 7, 2, 0, 8, 2],)),
        Case("an empty sentence", ([2, 0, 0],)),
        Case("one word", ([4, 2],)),
        Case("padding before the end", ([5, 0, 6, 2, 7],)),
        Case("padding first", ([0, 5, 2, 0],)),
        Case("padding and no end", ([5, 0, 0],)),
        Case("cut off, with <sos> and <unk>", ([1, 3, 5, 3],)),
        Case("one word that was cut off", ([6],)),
        Case("nothing", ([],)),
        Case("another end at once", ([2, 5, 2, 6],)),
        Case("words behind an end at once", ([2, 9],)),
        Case("ids with a 2 in them", ([12, 20, 5, 27, 2, 9],)),
    )


def until_end(ids: Sequence[int]) -> list[int]:
    return list(ids[: ids.index(EOS)]) if EOS in ids else list(ids)


CUT = Component(
    name="cut_at_end",
    chapter=17,
    section="A tree of words, by hand",
    signature="ids",
    pipeline=lambda s, ids: s.cut(ids),
    steps={"cut": until_end},
    cases=cut_cases,
    returns="of a list of ids those before the first `<eos>` (2), as a list; all of them if there "
    "is none",
    differentiable=False,
    # Removing special tokens may or may not remove <unk> with them.
    settled=lambda case, answer: 0.0 if 3 in case.arguments[0] else answer,
)

COMPONENTS = (
    NEXT_TOKEN,
    TEMPERATURE,
    TOP_K,
    GREEDY,
    GREEDY_BATCH,
    BEAM,
    EMBED_NEXT,
    REORDER,
    LENGTH_NORMALISED,
    CUT,
)
