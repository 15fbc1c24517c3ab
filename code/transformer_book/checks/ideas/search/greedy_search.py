"""Greedy search (chapter 17): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import longer_than, on
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal

EOS = 2


Step = Callable[[Tensor], Tensor]


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


def large_model(tokens: Tensor) -> Tensor:
    """Log-probabilities `(n, V)` of 40000 tokens: two nearly equal, then one that is sure, <eos>.

    What is ruled out has −inf.
    """
    log_p = torch.full((len(tokens), 40000), -torch.inf)
    last = int(tokens[0, -1])
    if last == 1:
        log_p[:, [300, 39000, 5]] = torch.tensor([0.33, 0.3301, 0.3299]).log()
        log_p[:, 4] = math.log(0.01)
    else:
        log_p[:, {39000: 300, 300: 299}.get(last, EOS)] = 0.0
    return log_p


class Ids(list):
    """Token ids, and how often the model was asked for the next one.

    They are compared as ids. The number of calls tells apart mistakes that give the same ids.
    """

    trace: int


Ids.__name__ = "list"  # as a verdict calls it


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
    seeds += ((9, -9.0, 5), (10, -9.0, 3), (11, -9.0, 0), (12, 0.0, 2), (13, -9.0, 1))
    # It ends at once; it ends with the last token; and it is longer than any buffer.
    seeds += ((14, 9.0, 5), (15, 9.0, 1), (16, -9.0, 150))
    # Only <eos> ends a sentence: these models say 0, too.
    seeds += ((1, 0.0, 8), (2, 0.0, 8), (3, 0.0, 8), (4, 0.0, 8))
    small = tuple(
        Case(
            f"small model {i + 1}, at most {n} tokens",
            (automaton(seed, end=end, padding=seed < 5 and i > 13, far=n > 100), n),
        )
        for i, (seed, end, n) in enumerate(seeds)
    )
    return (
        *small,
        Case("a large vocabulary, two tokens nearly equal", (large_model, 6)),
        Case("a long sentence", (automaton(17, end=-9.0, far=True), 530)),
    )


GREEDY = Component(
    name="greedy_search",
    chapter=17,
    order=4,
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
    "log-probabilities, of which that of `<sos>` is never the highest (`<pad>`, 0, may come like "
    "any word), and no two are equal",
    differentiable=False,
    settled=without_padding,
    met="bleu",
    ready_made={"decoding.greedy_search": "decoding.greedy_search"},
    boundaries={
        "one token at most": lambda max_length: max_length == 1,
        "a large vocabulary": lambda step: step(torch.tensor([[1]])).size(1) > 32767,
        "a token ruled out": lambda step: step(torch.tensor([[1]])).isinf().any(),
        **on("max_length", longer_than((10, 20, 64, 100, 128, 512), int)),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(GREEDY)


@mistake(
    "context",
    "only the last token read",
    met=("nonsense", 19),
    symptom="Each token depends on the one before it alone.",
    cause="Hand over all tokens so far (a cache would remember them; this step does not).",
)
def last_token_only(tokens: list[int]) -> list[int]:
    return tokens[-1:]


@mistake(
    "stop",
    "never stops at <eos>",
    met=("endless", 3),
    symptom="The sentence goes on behind its end.",
    cause="Leave the loop when the token is <eos>.",
)
def never_stops(tokens: list[int]) -> bool:
    return False


@mistake(
    "without_end",
    "<eos> left in",
    met=("bleu", 3),
    symptom="A sentence that ended keeps its <eos>.",
    cause="Take <eos> off where it comes last.",
)
@mistake(
    "without_start",
    "<sos> left in",
    symptom="The answer begins with <sos>.",
    cause="<sos> starts the search; it is not part of the sentence.",
)
def start_left_in(tokens: list[int]) -> list[int]:
    return tokens


@mistake(
    "without_end",
    "last token stripped blindly",
    met=("bleu", 1),
    symptom="A sentence cut off at the limit loses its last word.",
    cause="Take off nothing but <eos>: a sentence without it keeps all its max_length tokens, the "
    "last one, too.",
)
def stripped_blindly(tokens: list[int]) -> list[int]:
    return tokens[:-1]


@mistake(
    "choose",
    "least likely token chosen",
    met=("nonsense", 24),
    symptom="The least likely token is chosen each time.",
    cause="Choose the largest log-probability, as argmax does.",
)
def least_likely(log_p: Tensor) -> int:
    return int(log_p.argmin())


@mistake(
    "steps",
    "loop one step too short",
    symptom="A sentence cut off at the limit has one word too few.",
    cause="Take max_length steps: <sos> does not count.",
)
def one_step_less(max_length: int) -> int:
    return max_length - 1


@mistake(
    "steps",
    "loop one step too long",
    symptom="A sentence longer than the limit has one word too many.",
    cause="Take max_length steps, and not one more.",
)
def one_step_more(max_length: int) -> int:
    return max_length + 1


@mistake(
    "stop",
    "never stops, and <eos> stays",
    symptom="The end is written like a word, and the sentence goes on behind it up to the limit.",
    cause="Leave the loop when the token is <eos>, before it is appended.",
    steps={"without_end": lambda tokens: tokens},
)
def runs_on(tokens: list[int]) -> bool:
    return False


@mistake(
    "start",
    "begins with <eos>",
    symptom="The model is asked what follows <eos>, not <sos>.",
    cause="A sentence begins with <sos>, 1.",
)
def begins_with_end() -> int:
    return EOS


@mistake(
    "start",
    "begins with padding",
    symptom="The model is asked what follows <pad>, not <sos>.",
    cause="A sentence begins with <sos>, 1.",
)
def begins_with_padding() -> int:
    return 0


@mistake(
    "stop",
    "stops at <unk>, too",
    symptom="The sentence ends at its first unknown word.",
    cause="Only <eos> ends it: compare the token with 2 alone.",
)
def stops_at_unknown(tokens: list[int]) -> bool:
    return tokens[-1] in (EOS, 3)


@mistake(
    "choose",
    "<eos> never chosen",
    symptom="No sentence ends before the limit.",
    cause="<eos> is left out of the choice: leave it in, for it ends the sentence.",
)
def never_the_end(log_p: Tensor) -> int:
    return int(log_p.index_fill(-1, torch.tensor(EOS), -torch.inf).argmax())
