"""Cached attention (chapter 25): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import longer_than, on
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.todays_parts.rotary import pairs_of_halves, turned


def cached_pipeline(s, query, key, value, kept_keys, kept_values, turn):
    positions = s.positions(kept_keys.size(2), query.size(2))  # (t,)
    query = s.turn_query(query, positions, turn)  # (B, H, t, K)
    turned_key = s.turn_key(key, positions, turn)  # (B, H, t, K)
    keys = s.extend_keys(kept_keys, turned_key, turn)  # (B, H, P + t, K)
    values = s.extend_values(kept_values, s.turn_value(value, positions, turn), keys)
    scores = query @ keys.transpose(-2, -1) / math.sqrt(query.size(-1))  # (B, H, t, P + t)
    weights = torch.softmax(s.hide(scores, kept_keys), dim=-1)  # (B, H, t, P + t)
    return weights @ values, s.keep_keys(keys, kept_keys, key), s.keep_values(values, kept_values)


def quarter_turns(x: Tensor, positions: Tensor) -> Tensor:
    """Turn each pair by `position` quarters of a circle: numbers that can be checked by eye."""
    return turned_by(x, positions[:, None] * torch.full((x.size(-1) // 2,), math.pi / 2))


def falling_turns(x: Tensor, positions: Tensor) -> Tensor:
    """Turn pair i by position · 100^(−2i/K)."""
    return turned_by(
        x, positions[:, None] * 100.0 ** -(torch.arange(0, x.size(-1), 2) / x.size(-1))
    )


def turned_by(x: Tensor, angles: Tensor) -> Tensor:
    return torch.cat(turned(*pairs_of_halves(x), angles.to(x.dtype)), dim=-1)


def cached_cases() -> Sequence[Case]:
    def inputs(
        b: int,
        h: int,
        past: int,
        new: int,
        k: int,
        seed: int,
        turn: Callable[..., Tensor] = falling_turns,
    ) -> tuple[object, ...]:
        made = [normal(b, h, new, k, seed=seed + i) for i in range(3)]
        kept = turn(normal(b, h, past, k, seed=seed + 3), torch.arange(past))
        return *made, kept, normal(b, h, past, k, seed=seed + 4), turn

    slow = torch.tensor([0.0, 1.0, 0.0, 1.0]).repeat(1, 1, 2, 1)  # the pair that turns slowly
    far = torch.tensor([[-40000.0], [1.0]])  # one row's largest score is not another's
    _, _, value, _, kept_value, _ = inputs(1, 1, 1, 2, 4, 100)
    *new, kept, kept_values, _ = inputs(3, 2, 3, 2, 6, 130)
    kept[:, :, 1] = 0.0  # numbers as any others: the place is not free
    return (
        Case("one new token after one, quarter turns", inputs(1, 1, 1, 1, 2, 1, quarter_turns)),
        Case("one new token after three", inputs(1, 2, 3, 1, 4, 10)),
        Case("one new token after six", inputs(2, 2, 6, 1, 4, 20)),
        Case("two new tokens after four", inputs(2, 3, 4, 2, 4, 30)),
        Case("three new tokens after two", inputs(1, 2, 2, 3, 6, 40)),
        Case("four new tokens after four", inputs(2, 4, 4, 4, 4, 50)),
        Case("nothing kept yet: seventy tokens", inputs(2, 2, 0, 70, 4, 60)),
        Case("two after five, quarter turns", inputs(1, 2, 5, 2, 2, 70, quarter_turns)),
        Case("two new tokens after 257", inputs(1, 1, 257, 2, 2, 80)),
        Case("a query of zeros", (torch.zeros(1, 1, 2, 4), *inputs(1, 1, 2, 2, 4, 90)[1:])),
        Case(
            "scores far below zero",
            (far * slow, slow, value, slow[:, :, :1], kept_value, falling_turns),
            rough=True,
        ),
        Case("one first token", inputs(2, 1, 0, 1, 4, 110)),
        Case("two new tokens after 2060", inputs(1, 1, 2060, 2, 2, 120)),
        Case("a kept key of zeros", (*new, kept, kept_values, falling_turns)),
    )


def later_hidden(scores: Tensor, kept: Tensor) -> Tensor:
    seen = torch.ones(scores.shape[-2:]).tril(kept.size(2)).bool()  # (t, P + t)
    return scores.masked_fill(~seen, -math.inf)


CACHED = Component(
    name="cached_attention",
    chapter=25,
    order=5,
    section="The cache, and what is turned in it",
    signature="query, key, value, kept_keys, kept_values, turn",
    pipeline=cached_pipeline,
    steps={
        "positions": lambda past, new: torch.arange(past, past + new),
        "turn_query": lambda query, positions, turn: turn(query, positions),
        "turn_key": lambda key, positions, turn: turn(key, positions),
        "turn_value": lambda value, positions, turn: value,
        "extend_keys": lambda kept, new, turn: torch.cat([kept, new], dim=2),
        "extend_values": lambda kept, new, keys: torch.cat([kept, new], dim=2),
        "hide": later_hidden,
        "keep_keys": lambda keys, kept, key: keys,
        "keep_values": lambda values, kept: values,
    },
    cases=cached_cases,
    returns="the heads `(B, H, t, K)` of t new tokens, and what is kept for the next call: all "
    "keys and all values, `(B, H, P + t, K)`. `query`, `key`, `value` are those of the new tokens, "
    "not turned; `kept_keys` are those of the first P positions, turned; `turn(x, positions)` "
    "turns x `(B, H, T, K)` by positions `(T,)`. A new token sees what is kept and the new ones "
    "up to itself",
    done_by="KeysAndValues",
    met="worse",
    boundaries={
        "nothing kept": lambda kept_keys: kept_keys.size(2) == 0,
        "several new tokens after some": lambda query, kept_keys: (
            query.size(2) > 1 and kept_keys.size(2) > 0
        ),
        "a query of zeros": lambda query: bool((query == 0).all(-1).any()),
        "queries of large numbers": lambda query: bool((query.abs() > 100).any()),
        "queries large and small": lambda query: bool(
            ((query.abs().amax(-1) > 100).sum(-1) % query.size(2)).any()
        ),
        **on("kept_keys", longer_than((64, 256, 512, 1024, 2048), lambda kept: kept.size(2))),
        "one new token, and nothing kept": lambda query, kept_keys: (
            query.size(2) == 1 and kept_keys.size(2) == 0
        ),
        "one head of several sentences": lambda query: query.size(0) > 1 == query.size(1),
        "a kept key of zeros": lambda kept_keys: bool((kept_keys == 0).all(-1).any()),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(CACHED)


Turn = Callable[[Tensor, Tensor], Tensor]


@mistake(
    "positions",
    "positions not advanced with the cache",
    met=("nonsense", 6),
    symptom="New tokens are counted from position 0 again: the first call is right, no later one.",
    cause="The new tokens are counted from 0: count on from the number of positions that are kept.",
)
def restarted(past: int, new: int) -> Tensor:
    return torch.arange(new)


@mistake(
    "positions",
    "new token one position too far",
    met=("nonsense", 12),
    symptom="New tokens stand one position too far.",
    cause="The new tokens begin at position P + 1: the P kept ones have 0 to P − 1, so the first "
    "new one has P.",
)
def one_too_far(past: int, new: int) -> Tensor:
    return torch.arange(past + 1, past + 1 + new)


@mistake(
    "turn_query",
    "new queries not turned",
    symptom="The products do not depend on the distance, but on the position of the key.",
    cause="Queries are turned as keys are: turn the new ones by their positions.",
)
def query_straight(query: Tensor, positions: Tensor, turn: Turn) -> Tensor:
    return query


@mistake(
    "turn_key",
    "new keys not turned",
    symptom="New keys lie as if at position 0.",
    cause="Turn the new keys by their positions before they are kept.",
)
def key_straight(key: Tensor, positions: Tensor, turn: Turn) -> Tensor:
    return key


@mistake(
    "turn_value",
    "values turned, too",
    symptom="The average mixes values that were turned by different angles.",
    cause="Turn queries and keys only, and leave the values as they are.",
)
def value_turned(value: Tensor, positions: Tensor, turn: Turn) -> Tensor:
    return turn(value, positions)


@mistake(
    "extend_keys",
    "kept keys turned again",
    met=("nonsense", 8),
    symptom="At each call the kept keys are turned once more.",
    cause="Kept keys have been turned before they were kept: turn only the new ones.",
)
def turned_again(kept: Tensor, new: Tensor, turn: Turn) -> Tensor:
    past = kept.size(2)
    return torch.cat([turn(kept, torch.arange(past)), new], dim=2)


@mistake(
    "hide",
    "new tokens see each other's future",
    met=("too-good", 11),
    symptom="Several new tokens at once give other numbers than one after the other.",
    cause="With several new tokens, hide from each what comes behind it.",
)
def future_seen(scores: Tensor, kept: Tensor) -> Tensor:
    return scores


@mistake(
    "hide",
    "mask that does not count what is kept",
    met=("nonsense", 11),
    symptom="New token i, counted from 0, sees only the first i + 1 positions, kept ones included.",
    cause="Shift the triangle by the number P of kept positions, tril(P), which is_causal=True "
    "does not do.",
)
def unshifted(scores: Tensor, kept: Tensor) -> Tensor:
    seen = torch.ones(scores.shape[-2:]).tril().bool()  # (t, P + t)
    return scores.masked_fill(~seen, -math.inf)


@mistake(
    "hide",
    "mask as wide as the new tokens alone",
    met=("sizes", 15),
    symptom="It stops with several new tokens behind kept ones; one alone, or none kept, works.",
    cause="The scores are (t, P + t), since what is kept has its columns, too: make the mask of t "
    "rows and P + t columns, with tril(P), or, if it says what is hidden, triu(P + 1).",
    stops=True,
)
def new_columns_only(scores: Tensor, kept: Tensor) -> Tensor:
    later = torch.ones(scores.size(-2), scores.size(-2)).triu(1).bool()  # (t, t)
    return scores.masked_fill(later, -math.inf)


@mistake(
    "keep_keys",
    "cache not extended",
    met=("nonsense", 10),
    symptom="The new tokens are forgotten in the next call.",
    cause="What is handed back is what was handed in: hand back all keys and all values, the "
    "new ones behind.",
    steps={"keep_values": lambda values, kept: kept},
)
def not_extended(keys: Tensor, kept: Tensor, key: Tensor) -> Tensor:
    return kept


@mistake(
    "hide",
    "no mask as soon as something is kept",
    met=("too-good", 0),
    symptom="New tokens that come together behind kept ones see each other's future.",
    cause="Hide the future behind kept positions, too: tril(P), P being their number. Only a "
    "single new token needs no mask.",
    seen="generate() produces garbage despite low train loss: prefill skips causal masking when a "
    "KV cache is attached, https://github.com/Mikyx-1/TinyLLM/issues/17",
)
def only_without_a_cache(scores: Tensor, kept: Tensor) -> Tensor:
    return scores if kept.size(2) else later_hidden(scores, kept)


@mistake(
    "keep_keys",
    "new keys kept before they are turned",
    met=("nonsense", 9),
    symptom="The heads of this call are right; later calls read keys that were never turned.",
    cause="The attention uses turned keys and the cache gets those that are not: keep the "
    "turned ones.",
)
def kept_straight(keys: Tensor, kept: Tensor, key: Tensor) -> Tensor:
    return torch.cat([kept, key], dim=2)
