"""What is said of a wrong answer without a name: the right thing, and nothing that is false."""

from __future__ import annotations

import itertools
import math
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from tests.checks import test_check_mutants as mutants

# Damaged code may do what torch warns of.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

# The same instance as the mutants are made from.
checks = mutants.checks
judge = checks.judging.judge

SHARE = re.compile(r"Right on \d+ of \d+ inputs(?: \(on .*?\))?; the first that differs: ")
CALLS = itertools.count()
# Sentences that are true and say little: how far, and to which side.
WEAK = re.compile(
    r"(?:On (?:the input .*|all \d+ inputs (?:that|whose answers) differ): )?"
    r"(?:yours|your number|nearly every|everywhere|wherever it differs|each row)"
    r".*(?:too (?:large|small|long|short)|entry differs|of yours|a hundredth of the largest "
    r"number)\.",
    re.IGNORECASE,
)


def told(name: str, function: Callable[..., Any]) -> tuple[str, ...]:
    """What the diagnosis says, without the names of known mistakes."""
    found = judge(checks.COMPONENTS[name], function)
    assert found.status == "wrong", found.text()
    assert SHARE.match(found.sentences[0]), found.text()
    return found.sentences[1:]


def right(name: str) -> Callable[..., Any]:
    return checks.COMPONENTS[name].reference


def after(name: str, change: Callable[[Any], Any]) -> Callable[..., Any]:
    """The right version with something done to its answer."""
    return lambda *given, **more: change(right(name)(*given, **more))


def each(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same for every tensor in an answer."""
    return lambda answer: checks.running._mapped(change, answer)


def masked(answer: Tensor, mask: Tensor, value: float) -> Tensor:
    return answer.masked_fill(mask, value)


def first_only(x: Tensor) -> Tensor:
    return torch.cat([x[:, :1] + 1, x[:, 1:]], dim=1)


def last_only(x: Tensor) -> Tensor:
    return torch.cat([x[:, :-1], x[:, -1:] + 1], dim=1)


STRUCTURES: dict[str, tuple[str, Callable[..., Any], str]] = {
    # the whole answer
    "a constant factor": (
        "multi_head_attention",
        after("multi_head_attention", lambda x: 0.75 * x),
        "right answer times 0.75",
    ),
    "the root of a size as a factor": (
        "tied_logits",
        lambda x, weight: x @ weight.T / weight.size(0) ** 0.5,
        "divided by the root of the size of axis 0 of `weight`",
    ),
    "a size as a factor": (
        "cross_entropy",
        lambda logits, target: F.cross_entropy(
            logits.flatten(0, 1), target.flatten(), ignore_index=0, reduction="sum"
        ),
        "times the number of entries of `target` that are not 0",
    ),
    "a quotient of sizes as a factor": (
        "cross_entropy",
        lambda logits, target: (
            F.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0, reduction="sum")
            / target.numel()
        ),
        "times the number of entries of `target` that are not 0 and divided by the number of",
    ),
    "1 − p as a factor": (
        "dropout",
        lambda x, p, keep, training: (
            right("dropout")(x, p, keep, training) * (1 if training else 1 - p)
        ),
        "times (1 − `p`)",
    ),
    "one factor for each input": (
        "clip_gradients",
        lambda gradients, limit: [
            g * min(1.0, limit / sum(h.norm() for h in gradients)) for g in gradients
        ],
        "times a number, not the same for all inputs",
    ),
    "one factor for each tensor": (
        "clip_gradients",
        lambda gradients, limit: [g * min(1.0, limit / float(g.norm())) for g in gradients],
        "each tensor of yours is the right one times a number, often not the same for all",
    ),
    "one factor for each row": (
        "softmax",
        lambda scores: (scores - scores.amax(-1, True)).exp(),
        "right answer divided by its largest number, along the last axis",
    ),
    "a constant added": (
        "tied_logits",
        after("tied_logits", lambda x: x + 0.3),
        "larger by 0.3 than the right answer",
    ),
    "the other sign": (
        "temperature_probabilities",
        after("temperature_probabilities", lambda x: -x),
        "sign",
    ),
    "the logarithm": (
        "top_k_probabilities",
        after("top_k_probabilities", lambda x: x.log()),
        "logarithm",
    ),
    "a softmax missing": (
        "temperature_probabilities",
        lambda logits, temperature: logits / temperature,
        "After a softmax along the axis of the ids, yours would be right",
    ),
    "a norm too many": (
        "tied_logits",
        after("tied_logits", lambda x: F.normalize(x, dim=-1)),
        "right answer divided by its length, along the axis of the ids",
    ),
    "an argument itself": ("pre_norm", lambda x, sublayer, norm: x, "`x`, unchanged"),
    "an argument missing": (
        "pre_norm",
        lambda x, sublayer, norm: sublayer(norm(x)),
        "giving back `change`",
    ),
    "an argument too many": (
        "pre_norm",
        lambda x, sublayer, norm: 2 * x + sublayer(norm(x)),
        "`x` is added once too often",
    ),
    # the order
    "transposed": (
        "split_heads",
        after("split_heads", lambda x: x.mT),
        "right answer with axes 2 and 3 exchanged",
    ),
    "transposed, of one shape": (
        "causal_mask",
        after("causal_mask", lambda m: m.mT),
        "two axes exchanged",
    ),
    "turned round": ("padding_mask", after("padding_mask", lambda m: ~m), "True for False"),
    "reversed": (
        "merge_heads",
        after("merge_heads", lambda x: x.flip(1)),
        "reversed along",
    ),
    "permuted": (
        "merge_heads",
        lambda heads: right("merge_heads")(heads.flip(1)),
        "the right numbers in another order along the axis of the features",
    ),
    "interleaved": (
        "group_sort",
        lambda x: x.unflatten(-1, (-1, 2)).sort(-1).values.mT.flatten(-2),
        "interleaved otherwise along the last axis",
    ),
    "shifted": (
        "add_positions",
        after("add_positions", lambda x: F.pad(x, (0, 0, 1, 0))[:, :-1]),
        "one place later",
    ),
    "moved round": (
        "next_token",
        after("next_token", lambda x: x.roll(1, 0)),
        "moved by one",
    ),
    "the same everywhere": (
        "add_positions",
        after("add_positions", lambda x: x[:, :1].expand(x.shape)),
        "repeats the right answer's first position",
    ),
    # the place
    "the first position": (
        "embedding",
        after("embedding", first_only),
        "only at the first position",
    ),
    "the last position": ("embedding", after("embedding", last_only), "only at the last position"),
    "later positions": (
        "causal_self_attention",
        lambda x, training: F.scaled_dot_product_attention(
            x, x, x, is_causal=True, scale=1 / (x.size(-1) + 0.3)
        ),
        "the first position is right; yours differs only after it",
    ),
    "later sentences": (
        "add_positions",
        lambda x, table: torch.cat([(x + table[: x.size(1)])[:1], x[1:]]),
        "the first sentence is right; yours differs only after it",
    ),
    "padding": (
        "embedding",
        lambda tokens, weight: masked(
            right("embedding")(tokens, weight), (tokens == 0)[..., None], 0.0
        ),
        "only where `tokens` is padding (0)",
    ),
    "a special token": (
        "target_mask",
        lambda tokens: right("target_mask")(tokens) | (tokens == 2)[:, None, None],
        "only where the key in `tokens` is <eos> (2)",
    ),
    "a special token taken for padding": (
        "target_mask",
        lambda tokens: right("target_mask")(tokens) & (tokens != 2)[:, None, None],
        "with <eos>, 2, in `tokens` taken for padding",
    ),
    "the diagonal": (
        "causal_mask",
        lambda length: torch.ones(length, length).tril(-1).bool(),
        "only on the diagonal",
    ),
    "the diagonal above": (
        "causal_mask",
        lambda length: torch.ones(length, length).tril(1).bool(),
        "directly above the diagonal",
    ),
    "every second feature": (
        "decoder_layer",
        after("decoder_layer", lambda x: x * (1 + torch.arange(x.size(-1)) % 2)),
        "every second feature",
    ),
    "queries that see nothing": (
        "scaled_dot_product_attention",
        lambda query, key, value, mask=None: F.scaled_dot_product_attention(
            query, key, value, None if mask is None else mask | ~mask.any(-1, keepdim=True)
        ),
        "only for queries that may attend to nothing",
    ),
    "what is 0": (
        "collate",
        lambda rows: right("collate")(rows).masked_fill(right("collate")(rows) == 0, 7),
        "Wherever yours differs, it is 7",
    ),
    "nan in one place": (
        "clip_gradients",
        lambda gradients, limit: [
            g * min(1.0, limit / n) if n else g * float("nan")
            for n in [sum(g.square().sum() for g in gradients) ** 0.5]
            for g in gradients
        ],
        "On the input 'a length of 0': yours is nan",
    ),
    # the input
    "without a mask": (
        "multi_head_attention",
        lambda *given, mask=None: right("multi_head_attention")(*given),
        "gives without `mask`",
    ),
    "one mask for all": (
        "target_mask",
        lambda tokens: right("target_mask")(tokens[:1].expand(tokens.shape)),
        "the first sentence of `tokens` for all",
    ),
    "another argument": (
        "multi_head_attention",
        lambda query, key, value, *more, mask=None: right("multi_head_attention")(
            query, key, key, *more, mask
        ),
        "with `key` in the place of `value`",
    ),
    "one argument for two others": (
        "scaled_dot_product_attention",
        lambda query, key, value, mask=None: right("scaled_dot_product_attention")(
            key, key, key, mask
        ),
        "with `key` in the place of `query` and of `value`",
    ),
    "a weight transposed": (
        "multi_head_attention",
        lambda q, k, v, wq, wk, wv, wo, n_heads, mask=None: right("multi_head_attention")(
            q, k, v, wq, wk, wv, wo.T, n_heads, mask
        ),
        "with `w_output` transposed",
    ),
    "off by one": (
        "greedy_search",
        lambda step, max_length: right("greedy_search")(step, max_length - 1),
        "with `max_length` one smaller",
    ),
    "an argument that is not looked at": (
        "inverse_sqrt_schedule",
        lambda update, d_model, warmup: right("inverse_sqrt_schedule")(update, d_model, 4000),
        "with `warmup` always 4000",
    ),
    "exchanged": (
        "inverse_sqrt_schedule",
        lambda update, d_model, warmup: right("inverse_sqrt_schedule")(warmup, d_model, update),
        "with `update` and `warmup` exchanged",
    ),
    "a function left out": (
        "sublayer_with_dropout",
        lambda x, sublayer, norm, dropout: x + dropout(sublayer(x)),
        "if `norm` gave back its argument unchanged",
    ),
    "one of several functions left out": (
        "decoder_layer",
        lambda x, memory, masks, memory_mask, own, cross, feed_forward, norms: right(
            "decoder_layer"
        )(x, memory, masks, memory_mask, own, cross, feed_forward, [norms[0]] * 3),
        "with `norms` all equal to the first of them",
    ),
    "another axis": (
        "temperature_probabilities",
        lambda logits, temperature: (logits / temperature).softmax(0),
        "the first two axes change places",
    ),
    "sentence by sentence": (
        "cross_entropy",
        lambda logits, target: torch.stack(
            [
                F.cross_entropy(one, ids, ignore_index=0)
                for one, ids in zip(logits, target, strict=True)
            ]
        ).mean(),
        "for each sentence by itself: yours is the mean of the answers",
    ),
    "a step along another axis": (
        "layer_norm",
        lambda x, weight, bias, eps=1e-5: (
            weight
            * (x - x.mean(-2, keepdim=True))
            / torch.sqrt(x.var(-1, keepdim=True, unbiased=False) + eps)
            + bias
        ),
        "its step “mean” (x) done along the axis before the last of what it gets",
    ),
    "a step left out": (
        "softmax",
        lambda scores: (
            (scores - scores.amax(-1, True)) / (scores - scores.amax(-1, True)).sum(-1, True)
        ),
        "its step “exponentials” left out",
    ),
    "in training only": (
        "causal_self_attention",
        lambda x, training: (
            right("causal_self_attention")(x, training) + (x.square() if training else 0)
        ),
        "exactly on those with training=True",
    ),
    "a number of axes": (
        "softmax",
        lambda scores: scores.softmax(1 if scores.dim() > 2 else -1),
        "exactly on those where the number of axes of `scores` is more than 2",
    ),
    "from a length on": (
        "causal_mask",
        lambda length: (
            torch.ones(length, length, dtype=torch.bool).tril() | (torch.arange(length) >= 6)
        ),
        "exactly on those where `length` is more than 6",
    ),
    "from call to call": (
        "softmax",
        lambda scores: scores.softmax(-1) + next(CALLS),
        "Called again with the first input",
    ),
    # shapes, kinds, parts
    "an axis missing": (
        "padding_mask",
        after("padding_mask", lambda m: m[:, 0, 0]),
        "in another shape",
    ),
    "an axis too long": (
        "shift",
        lambda target: (target, target[:, 1:]),
        "only the first part differs",
    ),
    "less along an axis": (
        "transformer_forward",
        after("transformer_forward", lambda x: x[:, :-1]),
        "Axis 1 of yours is shorter by 1",
    ),
    "numbers for booleans": (
        "padding_mask",
        after("padding_mask", lambda m: m.long()),
        "of another kind",
    ),
    "sorted along another axis": (
        "group_sort",
        lambda x: x.unflatten(-1, (-1, 2)).sort(dim=-2).values.flatten(-2),
        "operation of its step “sort” (x) along the last axis done along the last axis but one",
    ),
    "other pairs sorted": (
        "group_sort",
        lambda x: x.unflatten(-1, (2, -1)).sort(dim=-1).values.flatten(-2),
        "Along the last axis yours has the right numbers in another order",
    ),
    "normalised along another axis": (
        "temperature_probabilities",
        lambda logits, temperature: (logits / temperature).softmax(dim=0),
        "along another axis: the first two axes change places before, and back",
    ),
    "a place is not large or small": (
        "best_checkpoint",
        after("best_checkpoint", lambda place: place * place + 1),
        "stands behind the right place",
    ),
    "another object": ("next_token", after("next_token", lambda x: (x, x)), "Yours is a tuple"),
    "one part of several": (
        "reorder_cache",
        lambda cache, rows: [(keys[rows], values[rows].flip(-1)) for keys, values in cache],
        "Of each pair that you return only the second differs",
    ),
    "keys of a dictionary": (
        "average_checkpoints",
        after("average_checkpoints", lambda d: {**d, "step": torch.zeros(1)}),
        "too many: 'step'",
    ),
    "nothing changes": (
        "training_update",
        lambda model, optimizer, compute_loss: compute_loss().backward(),
        "nothing changes",
    ),
    # lists
    "one missing at the end": (
        "text_to_ids",
        after("text_to_ids", lambda ids: ids[:-1]),
        "without",
    ),
    "one in front": ("encode", after("encode", lambda ids: [9, *ids]), "9 in front"),
    "a token for another": (
        "encode",
        after("encode", lambda ids: [7 if i == 3 else i for i in ids]),
        "only where <unk> (3) belongs",
    ),
    "too early": (
        "encode",
        after("encode", lambda ids: ids[:1]),
        "Yours is the first item of the right answer alone",
    ),
    "no list at all": ("cut_at_end", lambda ids: [], "Yours is empty"),
    "behind the end": (
        "cut_at_end",
        lambda ids: [i for i in ids if i != 2],
        "begins with the right answer, and then goes on",
    ),
}


@pytest.mark.parametrize("case", STRUCTURES)
def test_a_structure_is_seen(case: str) -> None:
    name, function, said = STRUCTURES[case]
    text = " ".join(told(name, function))
    assert said.lower() in text.lower(), text  # the first of a sentence, or not


def test_an_input_of_few_numbers_is_shown_in_full() -> None:
    def at(name: str, function: Callable[..., Any]) -> str:
        return judge(checks.COMPONENTS[name], function).text()

    text = at("next_token", lambda logits: (logits.sum(1) * 1e4).long().sum(-1) % 3)
    assert text.endswith("The input: logits = [[[0, 3, 1], [2, 0, 1]]].")
    text = at("length_normalised", lambda score, length, alpha: score / (length + 5) ** alpha)
    assert text.endswith("The input: score = -4, length = 2, alpha = 1.")
    assert "The input" not in at("feed_forward", lambda x, w1, b1, w2, b2: 2 * x)
    assert "The input" not in at("encode", lambda tokens, vocabulary: [7])


def test_the_place_of_an_entry_is_said_once() -> None:
    right, wrong = torch.zeros(2, 2), torch.eye(2)
    said = checks.comparing.difference
    assert said([right, wrong], [right, right]) == "entry [1][0, 0] is 1, it should be 0"
    assert said([(right, wrong)], [(right, right)]) == "entry [0][1][0, 0] is 1, it should be 0"
    assert said({"a": wrong}, {"a": right}) == "entry [0, 0] at ['a'] is 1, it should be 0"


# --- nothing false -------------------------------------------------------------------------------

DECIMAL = [
    name
    for name, part in checks.COMPONENTS.items()
    if part.differentiable and isinstance(part.reference(*part.cases()[0].arguments), Tensor)
]


@pytest.mark.parametrize("name", DECIMAL)
def test_of_noise_nothing_is_said_but_how_much(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers drawn at random have no structure, so none may be found."""
    monkeypatch.setattr(checks.inside, "located", lambda *given: ())  # what comes before is right
    generator = torch.Generator().manual_seed(sum(map(ord, name)))

    def noise(x: Tensor) -> Tensor:
        return x + x.abs().max() * (0.3 + torch.rand(x.shape, generator=generator))

    seen: dict[str, Any] = {}

    def noisy(*given: Any, **more: Any) -> Any:
        # Called twice with one input it gives one answer.
        key = repr([x for x in checks.running.leaves_of((given, more))])
        if key not in seen:
            seen[key] = noise(right(name)(*given, **more).detach())
        return seen[key]

    for sentence in told(name, noisy):
        assert WEAK.match(sentence), sentence


def test_of_ids_it_is_not_told_that_they_are_large_or_small() -> None:
    told_of = told("next_token", lambda logits: logits.argmin(-1)[:, -1])
    assert not any(re.search("too (large|small)", sentence) for sentence in told_of)


def test_a_few_random_entries_have_no_place() -> None:
    def dotted(x: Tensor) -> Tensor:
        generator = torch.Generator().manual_seed(x.numel())
        return torch.where(torch.rand(x.shape, generator=generator) < 0.4, 9.0, x)

    for name in ("multi_head_attention", "layer_norm", "encoder_layer"):
        for sentence in told(name, after(name, dotted)):
            assert "it differs only" not in sentence and "exactly" not in sentence, sentence


def test_what_holds_on_some_inputs_only_is_said_of_one() -> None:
    """Factor 2 on one input, 3 on the next, and so on: no factor may be said of all."""

    def growing(x: Tensor, weight: Tensor) -> Tensor:
        return right("tied_logits")(x, weight) + x.numel() * weight.sum() * weight.sum(1)

    for sentence in told("tied_logits", growing):
        assert "times" not in sentence or sentence.startswith("On the input"), sentence


def test_one_wrong_input_is_named_in_the_sentence() -> None:
    def spoilt(scores: Tensor) -> Tensor:
        found = scores.softmax(-1)
        if scores.shape == (2, 3, 4):
            found = found * 1.2
        return found / 0.4 if scores.shape == (2, 3, 4) else found

    sentence, *_ = told("softmax", spoilt)
    assert sentence == "On the input 'random scores': yours is the right answer times 3."


def test_what_cannot_be_compared_is_not_called_changing() -> None:
    """An array of NumPy is no right answer, but it is the same every time."""
    text = " ".join(told("causal_mask", after("causal_mask", lambda m: m.numpy())))
    assert "Called again" not in text and "ndarray" in text


@pytest.mark.parametrize(
    "odd",
    [
        lambda *given: object(),
        lambda *given: [object(), {1: 2}, "x"],
        lambda *given: {"a": [1, (2, torch.zeros(0))]},
        lambda *given: torch.zeros(0),
        lambda *given: torch.zeros(2, 2, dtype=torch.complex64),
        lambda *given: float("nan"),
        lambda *given: "text",
        lambda *given: [1, "x", None],
    ],
)
@pytest.mark.parametrize(
    "name", ["softmax", "encode", "shift", "perplexity", "build_vocabulary", "clip_gradients"]
)
def test_whatever_comes_back_there_is_a_verdict(name: str, odd: Callable[..., Any]) -> None:
    found = judge(checks.COMPONENTS[name], odd)
    assert found.status == "wrong" and found.text()


def test_where_it_stops_is_told_by_the_inputs() -> None:
    def stops(query, key, value, *more, mask=None):
        if mask is not None:
            raise ValueError("no masks here")
        return right("multi_head_attention")(query, key, value, *more)

    text = judge(checks.COMPONENTS["multi_head_attention"], stops).text()
    assert "no masks here" in text and "exactly on those with `mask`" in text


def test_texts_and_lists_are_told_apart_by_what_they_are_like() -> None:
    def marks_for_white_space(text, merges):
        marked = re.sub(r"\s+", " ▁", text.rstrip()).split(" ")
        words = [list(word) for word in marked if word]
        return [piece for word in words for piece in merged(word, merges)]

    merged = checks.COMPONENTS["text_to_pieces"].steps["merge"]
    component = checks.COMPONENTS["text_to_pieces"]
    text = checks.judging.judge(component, marks_for_white_space, checks.MISTAKES).text()
    assert "exactly on those where `text` does not begin with white space; on the" in text

    def stacked(rows):
        return torch.stack([torch.tensor(row) for row in rows])

    text = judge(checks.COMPONENTS["collate"], stacked).text()
    assert "exactly on those where the lists in `rows` are of different lengths." in text


def test_of_answers_with_parts_those_that_differ_in_the_same_are_told() -> None:
    def trial(name, loss, tied):
        due = {"the loss": torch.tensor([1.0, 2.0]), "one matrix": True}
        mine = {"the loss": due["the loss"] + torch.tensor(loss), "one matrix": tied}
        wrong = name != "one"
        return checks.diagnosis.Trial(name, {}, mine, due, stops=False, wrong=wrong)

    odd = [trial("one", [0.0, 0.0], True), trial("two", [0.3, -0.2], True)]
    more = [trial(name, [0.0, 0.0], False) for name in ("three", "four")]
    (text,) = checks.diagnosis.diagnose([*odd, *more])
    assert text.startswith(
        "On 2 of the 3 inputs that differ, the first 'three': right: the loss; "
    ), text
    assert text.endswith("wrong on all of these inputs: one matrix.")


def test_what_may_be_so_by_chance_is_not_told() -> None:
    """Seven inputs have much in common; the positions of one row stand in all of them."""

    def of_the_longest(tokens):
        real = tokens != 0
        positions = (real[real.sum(dim=1).argmax()].cumsum(0) - 1).clamp(min=0)
        return positions.expand_as(tokens)

    text = " ".join(told("real_positions", of_the_longest))
    assert "yours is the same at every sentence; the right answer need not be;" in text
    assert "wrong exactly" not in text


def test_an_input_of_a_model_of_ours_is_called_what_it_is() -> None:
    def smaller_in_training(model, batches, compute_loss):
        loss = right("evaluation_loss")(model, batches, compute_loss)
        return loss / 2 if model.training else loss

    text = " ".join(told("evaluation_loss", smaller_in_training))
    assert "exactly on those with training=True" in text and "compute_loss" not in text


# --- mutants -------------------------------------------------------------------------------------


def verdicts(per_component: int, seed: int) -> list[tuple[str, str, Any, float]]:
    """The verdicts on a sample of mutants, and the processor time that each took."""
    generator = random.Random(seed)
    found = []
    for component in checks.COMPONENTS.values():
        # A call cut down to the table of steps is nothing that anybody writes.
        whole = [
            (change, reference)
            for change, reference in mutants.mutants(mutants.IDEAS, component)
            if not change.endswith("→ s")
        ]
        for change, reference in generator.sample(whole, min(per_component, len(whole))):
            if reference is None:
                continue
            begun = time.process_time()
            verdict = judge(component, reference, seconds=2)
            spent = time.process_time() - begun
            if verdict.status == "wrong":
                found.append((component.name, change, verdict, spent))
    return found


def kind_of(verdict: Any) -> str:
    first, *more = verdict.sentences
    if not SHARE.match(first):
        return "stops"
    if not more:
        return "generic"
    return "weak" if all(WEAK.match(sentence) for sentence in more) else "located"


def test_most_mutants_without_a_name_are_located_and_it_is_quick() -> None:
    found = verdicts(2, seed=7)
    counts = Counter(kind_of(verdict) for _, _, verdict, _ in found)
    differing = len(found) - counts["stops"]
    slowest = max(found, key=lambda each: each[3])
    print(
        f"{len(found)} mutants, no names allowed: {counts['stops']} stop; of {differing} others "
        f"{counts['located']} are located, {counts['weak']} only by their side, "
        f"{counts['generic']} not at all; the slowest took {slowest[3]:.2f} s ({slowest[0]})"
    )
    assert counts["located"] >= 0.85 * differing
    # The whole verdict; the right answers of a component are computed in the first one.
    assert sorted(spent for *_, spent in found)[len(found) // 2] < 0.5


def test_the_gradients_factor_is_told() -> None:
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return x.clone()

        @staticmethod
        def backward(context, slope):
            return 2 * slope

    text = judge(
        checks.COMPONENTS["softmax"], lambda scores: Doubled.apply(scores).softmax(-1)
    ).text()
    assert "gradients are not" in text and "right gradient times 2" in text


def test_nan_is_neither_large_nor_small() -> None:
    def one_token_less(losses, counts):
        total = sum(loss * (n - 1) for loss, n in zip(losses, counts, strict=True))
        tokens = sum(counts) - len(counts)
        return math.exp(total / tokens) if tokens else math.nan

    assert "too small" not in judge(checks.COMPONENTS["perplexity"], one_token_less).text()


def test_nearly_every_entry_is_nine_in_ten() -> None:
    def best_of_each_half(logits, k):
        halves = logits.chunk(2, dim=-1)
        least = [half.topk(min(k, half.size(-1))).values[..., -1:] for half in halves]
        kept = [h.masked_fill(h < x, -torch.inf) for h, x in zip(halves, least, strict=True)]
        return torch.cat(kept, dim=-1).softmax(dim=-1)

    found = judge(checks.COMPONENTS["top_k_probabilities"], best_of_each_half)
    assert found.status == "wrong" and "early every" not in found.text()


def test_one_sentence_without_a_batch_has_no_number_of_sentences() -> None:
    def all_axes_turned(query, key, value, mask=None):
        scores = query @ key.permute(*range(key.dim() - 1, -1, -1)) / query.size(-1) ** 0.5
        if mask is not None:
            scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
        weights = scores.softmax(-1)
        return (weights if mask is None else weights.masked_fill(~mask, 0)) @ value

    found = judge(checks.COMPONENTS["scaled_dot_product_attention"], all_axes_turned)
    assert found.status == "wrong" and "number of sentences" not in found.text()


def test_of_several_parts_the_one_that_differs_is_told_with_how() -> None:
    def divided(d_output, x, weight):
        flat = d_output.flatten(0, 1)
        return d_output @ weight, flat.T @ x.flatten(0, 1) / len(weight), flat.sum(0)

    # Of the verdict, the change that mends it is all.
    a = checks.attempt.Attempt.of(checks.COMPONENTS["linear_backward"], divided, 5.0)
    text, *_ = checks.diagnosis.of_outcomes(a.plain, a.given, a.found, a.expected)
    assert "only the second part differs; what differs is the right answer divided by" in text


def test_parts_in_another_order_are_told_with_their_places() -> None:
    def keys_first(weight, bias):
        (q, k, v), (a, b, c) = weight.T.chunk(3), bias.chunk(3)
        return k, v, q, b, c, a

    text = judge(checks.COMPONENTS["split_stacked"], keys_first).text()
    assert "the parts are right and stand in another order: your first is the right second" in text


def test_a_factor_holds_for_small_entries_too() -> None:
    right = torch.tensor([[1.0, 0.02], [3.0, 0.04], [5.0, 0.06]])
    mine = right * 2
    for middle, holds in ((0.08, True), (0.0804, False)):  # half a percent is less than rounding
        mine[1, 1] = middle
        trial = checks.diagnosis.Trial("", {}, mine.clone(), right, stops=False, wrong=True)
        (leaf,) = trial.leaves()
        assert (checks.diagnosis.relations._by_one_factor(leaf, 0) is not None) == holds


def test_gradients_are_counted() -> None:
    def no_way_back_in_evaluation(x, p, keep, training):
        return x * keep / (1 - p) if training else x.detach() + 0 * x

    text = judge(checks.COMPONENTS["dropout"], no_way_back_in_evaluation).text()
    assert "but on 4 of them the gradients are not" in text


def test_beside_a_change_that_mends_all_no_place_and_no_relation_is_told() -> None:
    def doubled(scores):
        return 2 * scores.softmax(-1)

    (change,) = told("softmax", doubled)
    assert "with `scores.softmax(-1)` in the place of `2 * scores.softmax(-1)`" in change


def test_two_parts_that_differ_are_told() -> None:
    def of_the_answer(d_output, x, weight):
        flat = d_output.flatten(0, 1)
        return (
            (x @ weight.T) @ weight,
            (x @ weight.T).flatten(0, 1).T @ x.flatten(0, 1),
            flat.sum(0),
        )

    text = judge(checks.COMPONENTS["linear_backward"], of_the_answer).text()
    assert "the first and the second part differ, and not the third part" in text


def test_an_answer_of_two_arguments_is_told() -> None:
    def summed(d_output, output):
        return d_output + output

    (found,) = told("softmax_backward", summed)
    assert found == "On all 8 inputs that differ: yours is `d_output + output`."


def test_where_nothing_should_come_out_it_is_not_told_as_a_beginning() -> None:
    def from_the_second_on(ids):
        before = ids[:1]
        for token in ids[1:]:
            if token == 2:
                break
            before = [*before, token]
        return before

    text = " ".join(told("cut_at_end", from_the_second_on))
    assert "the right answer is empty, and yours is not" in text


def test_numbers_in_the_place_of_true_and_false_are_told() -> None:
    def additive(tokens):
        return torch.zeros(len(tokens), 1, 1, tokens.size(1)).masked_fill(
            (tokens == 0)[:, None, None], -torch.inf
        )

    text = " ".join(told("padding_mask", additive))
    assert "0 where True belongs, and -inf where False does." in text


def test_an_argument_that_is_never_read_is_told() -> None:
    def without_the_width(update, d_model, warmup):
        return 0.0442 * min(update**-0.5, update * warmup**-1.5)

    assert "`d_model` is read nowhere in your code." in told(
        "inverse_sqrt_schedule", without_the_width
    )


def test_of_what_is_drawn_no_number_is_told_as_fixed() -> None:
    def drawn(d_model):
        return torch.randn(d_model), torch.zeros(d_model)

    text = judge(checks.COMPONENTS["layer_norm_parameters"], drawn).text()
    assert text.endswith("Your version draws random numbers: another call may give another answer.")


def test_the_line_that_changes_an_argument_is_told() -> None:
    def in_place(logits, min_p):
        probabilities = logits.softmax(-1)
        limit = min_p * probabilities.max(-1, keepdim=True).values
        logits[probabilities < limit] = -torch.inf
        return logits.softmax(-1)

    text = judge(checks.COMPONENTS["min_p_probabilities"], in_place).text()
    line = in_place.__code__.co_firstlineno + 3
    assert f"changes its argument `logits` in line {line} of your cell or file" in text


def test_where_one_of_two_tensors_gets_no_gradient_the_other_is_not_meant() -> None:
    def cut(x, weight):
        return x @ weight.detach().T

    text = judge(checks.COMPONENTS["tied_logits"], cut).text()
    assert "no gradient comes back to `weight` of the input" in text
    assert "it would learn nothing through this" in text


def test_of_a_list_that_is_too_short_the_first_item_that_differs_is_told() -> None:
    found = checks.comparing.difference(["a", "x"], ["a", "b", "c"])
    assert found == "you return 2 items, it should be 3; you return 'x' at [1], it should be 'b'"


def test_one_tensor_under_all_names_is_not_told_as_standing_still() -> None:
    def of_the_last(checkpoints):
        for name in checkpoints[0]:
            mean = sum(c[name] for c in checkpoints) / len(checkpoints)
        return dict.fromkeys(checkpoints[0], mean)

    text = " ".join(told("average_checkpoints", of_the_last))
    assert "in yours the same stands under every name" in text and "every time" not in text


def test_what_is_told_of_parts_is_not_told_of_the_whole_answer() -> None:
    def said(change: Callable[[Tensor], Tensor]) -> str:
        x, y = torch.tensor([3.0, 1.0, 2.0, 5.0]), torch.tensor([[7.0, 4.0]])
        both = (([change(x), y], [x, y]), ([y, change(x)], [y, x]))  # another part each time
        trials = [
            checks.diagnosis.Trial(n, {}, *pair, False, True)
            for n, pair in zip("ab", both, strict=True)
        ]
        return " ".join(checks.diagnosis.diagnose(trials))

    assert said(lambda x: 0 * x).endswith("what differs is 0.")
    larger = said(lambda x: x + torch.tensor([1.0, 9.0, 2.0, 4.0]))
    assert larger.endswith("wherever it differs, your number is too large.")


def test_what_is_told_of_each_list_is_not_told_of_all_of_them() -> None:
    pairs = [("a", "b"), ("c", "d"), ("e", "f")]
    trial = checks.diagnosis.Trial("", {}, [p[::-1] for p in pairs], pairs, stops=False, wrong=True)
    assert checks.diagnosis.diagnose([trial] * 2)[0].endswith(
        "each item of yours is the right answer, reversed."
    )


def test_rows_of_beams_are_not_called_sentences() -> None:
    def without_the_last_row(memory, mask, n_beams):
        out, hidden = right("repeat_for_beams")(memory, mask, n_beams)
        return torch.cat([out[:-1], 0 * out[-1:]]), hidden

    # Of the verdict, the change that mends it is all.
    a = checks.attempt.Attempt.of(checks.COMPONENTS["repeat_for_beams"], without_the_last_row, 5.0)
    (text,) = checks.diagnosis.of_outcomes(a.plain, a.given, a.found, a.expected)
    assert "only the first part differs" in text and "sentence" not in text


def test_queries_are_told_of_masks_alone() -> None:
    trial = checks.diagnosis.Trial(
        "", {"keep": torch.tensor([[True, False]])}, None, None, stops=False, wrong=True
    )
    leaf = checks.diagnosis.Leaf(trial, "", torch.zeros(1, 2), torch.ones(1, 2))
    assert not any("queries" in p.text for p in checks.diagnosis.places._of_arguments([leaf]))


def test_sizes_in_another_order_are_no_axes_in_another_order() -> None:
    def read_otherwise(x, n_heads):
        sentences, length, width = x.shape
        return x.view(sentences, n_heads, width // n_heads, length)

    text = judge(checks.COMPONENTS["split_heads"], read_otherwise).text()
    assert "axes stand in another order" not in text


def test_a_kind_that_is_accepted_is_not_told_as_wrong() -> None:
    def in_a_tensor(losses, counts):
        return torch.tensor(right("perplexity")(losses, counts) ** 0.9)

    assert "and not a number" not in judge(checks.COMPONENTS["perplexity"], in_a_tensor).text()
    trial = checks.diagnosis.Trial("", {}, (7, 2), [5, 1], stops=False, wrong=True)
    assert checks.diagnosis._kinds(trial.leaves()) is None


def test_an_argument_that_a_step_gives_back_is_named() -> None:
    steps = {"average": lambda weights, key, value: weights @ value}
    texts = [text for text, _ in checks.diagnosis.versions_of(steps)]
    assert "with its step “average” (weights, value) giving back `value`" in texts


def test_the_first_axis_of_a_weight_is_not_called_that_of_the_sentences() -> None:
    trial = checks.diagnosis.Trial(
        "", {"weight": torch.ones(2, 3)}, None, None, stops=False, wrong=True
    )
    texts = [change.text for change in checks.diagnosis.asif._of_all([trial])]
    assert texts and not any("sentence" in text for text in texts)


def test_a_name_that_only_inputs_have_is_said_to_be_one() -> None:
    def left_in_training(model, batches, compute_loss):
        mode = model.training
        model.eval()
        with torch.no_grad():
            both = [compute_loss(model, batch) for batch in batches]
        for part in model.modules():
            part.training = mode or hasattr(part, "p")
        return sum(loss * n for loss, n in both) / sum(n for _, n in both)

    text = judge(checks.COMPONENTS["evaluation_loss"], left_in_training).text()
    assert "with training=False (the check makes its inputs of training)" in text


def test_what_holds_by_chance_is_not_told() -> None:
    def in_half_precision(blocks):
        right = checks.COMPONENTS["decode_q4_1"].reference(blocks)
        return right.half().float()

    def beyond_a_float(vocab_size, length):
        return int(float(vocab_size) ** length) if vocab_size**length < 1e300 else 0

    assert (
        "entries of `blocks`"
        not in judge(checks.COMPONENTS["decode_q4_1"], in_half_precision).text()
    )
    assert (
        "too large for 32 bits, and for 64"
        in judge(checks.COMPONENTS["number_of_targets"], beyond_a_float).text()
    )
