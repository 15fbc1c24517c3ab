"""Components of chapter 25: RMSNorm, rotary positions, SwiGLU, shared heads, the turned cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer_book.checks.attention import normal
from transformer_book.checks.components import Case, Component

# --- RMSNorm -------------------------------------------------------------------------------------


def rms_norm_pipeline(s, x, weight, eps=1e-5):
    centred = s.centre(x)  # (…, D)
    return s.scale(s.divide(centred, s.mean_square(centred), eps), weight, x)  # (…, D)


def rms_norm_cases() -> Sequence[Case]:
    def weight(d_model: int, seed: int) -> Tensor:
        return 1 + 0.5 * normal(d_model, seed=seed)

    by_hand = torch.tensor([[[1.0, 7.0, -5.0, 5.0]]])  # the mean of the squares is 25
    return (
        Case("four numbers", (by_hand, torch.ones(4))),
        Case("four numbers and a weight", (by_hand, torch.tensor([1.0, 2.0, 0.0, -1.0]))),
        Case("two positions", (normal(1, 2, 4, seed=1), weight(4, 2))),
        Case("random vectors", (normal(2, 3, 6, seed=3), weight(6, 4))),
        Case("far from zero", (5 + 2 * normal(2, 4, 8, seed=5), weight(8, 6))),
        Case("small numbers, where ε counts", (0.01 * normal(2, 3, 6, seed=7), weight(6, 8))),
        Case("very small numbers", (0.001 * normal(2, 2, 4, seed=9), weight(4, 10))),
        Case("zeros", (torch.zeros(1, 2, 4), weight(4, 11))),
        Case("ε = 1e-6", (0.002 * normal(2, 2, 4, seed=12), weight(4, 13)), {"eps": 1e-6}),
        Case("ε = 0.1", (normal(2, 2, 6, seed=14), weight(6, 15)), {"eps": 0.1}),
        Case("ε = 2", (normal(2, 2, 5, seed=16), weight(5, 17)), {"eps": 2.0}),
        Case("as many positions as features", (normal(3, 5, 5, seed=18), weight(5, 19))),
        Case("more positions than features", (normal(2, 12, 3, seed=20), weight(3, 21))),
    )


RMS_NORM = Component(
    name="rms_norm",
    chapter=25,
    section="RMSNorm, by hand",
    signature="x, weight, eps=1e-5",
    pipeline=rms_norm_pipeline,
    steps={
        "centre": lambda x: x,
        "mean_square": lambda x: x.square().mean(dim=-1, keepdim=True),
        "divide": lambda x, mean_square, eps: x / torch.sqrt(mean_square + eps),
        "scale": lambda normalised, weight, x: weight * normalised,
    },
    cases=rms_norm_cases,
    returns="`(B, T, D)`, each position's features divided by the root of the mean of their "
    "squares plus ε, and scaled by `weight` (D,)",
)

# --- rotary positions ----------------------------------------------------------------------------


def rotary_pipeline(s, x, positions, base=10000.0):
    places = s.places(positions, x)  # (T,)
    angles = s.angles(places, s.frequencies(x, base), x)  # (T, K/2)
    first, second = s.turn(*s.pair(x), angles)  # (B, H, T, K/2) each
    return s.join(first, second, x)  # (B, H, T, K)


def rotary_cases() -> Sequence[Case]:
    def random(*shape: int, first: int = 0, seed: int, step: int = 1) -> tuple[Tensor, Tensor]:
        positions = first + step * torch.arange(shape[-2])
        return normal(*shape, seed=seed), positions

    two = torch.tensor([[[[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]]]])
    return (
        Case("one pair at positions 0, 1, 2", (two, torch.arange(3))),
        Case("two pairs", random(1, 1, 3, 4, seed=1)),
        Case("three pairs, two heads", random(1, 2, 4, 6, seed=2)),
        Case("a batch", random(2, 3, 5, 8, seed=3)),
        Case("as many heads as positions", random(2, 4, 4, 4, seed=4)),
        Case("one position, the seventh", random(2, 2, 1, 4, first=7, seed=5)),
        Case("later positions", random(2, 2, 3, 8, first=30, seed=6)),
        Case("every third position", random(1, 2, 4, 6, first=2, seed=7, step=3)),
        Case("positions in another order", (normal(1, 2, 3, 8, seed=8), torch.tensor([5, 1, 9]))),
        Case("base 100", random(2, 2, 4, 8, seed=9), {"base": 100.0}),
        Case("base 500000", random(1, 2, 6, 16, first=11, seed=10), {"base": 500000.0}),
        Case("base 2", random(1, 3, 4, 6, first=1, seed=11), {"base": 2.0}),
    )


def pairs_of_halves(x: Tensor) -> tuple[Tensor, Tensor]:
    half = x.size(-1) // 2
    return x[..., :half], x[..., half:]


def turned(first: Tensor, second: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
    cosine, sine = angles.cos(), angles.sin()
    return first * cosine - second * sine, first * sine + second * cosine


ROTARY = Component(
    name="rotary",
    chapter=25,
    section="Rotary positions: turn, do not add",
    signature="x, positions, base=10000.0",
    pipeline=rotary_pipeline,
    steps={
        "places": lambda positions, x: positions,
        "frequencies": lambda x, base: base ** -(torch.arange(0, x.size(-1), 2) / x.size(-1)),
        "angles": lambda places, frequencies, x: places[:, None] * frequencies,
        "pair": pairs_of_halves,
        "turn": turned,
        "join": lambda first, second, x: torch.cat([first, second], dim=-1),
    },
    cases=rotary_cases,
    returns="`(B, H, T, K)`, K even: the pair of features i and i + K/2 of the vector with number "
    "t, turned by `positions[t] * base ** (-2 * i / K)`, anticlockwise",
)

# --- SwiGLU --------------------------------------------------------------------------------------


def swiglu_pipeline(s, x, w_gate, w_value, w_output):
    gate, value = s.gate(x, w_gate, w_value), s.value(x, w_value, w_gate)  # (…, F) each
    hidden = s.combine(s.open(gate, value), s.pass_on(value, gate), gate)  # (…, F)
    return s.output(hidden, w_output, x)  # (…, D)


def swiglu_cases() -> Sequence[Case]:
    def inputs(batch: int, length: int, d_model: int, d_ff: int, seed: int) -> tuple[Tensor, ...]:
        return (
            normal(batch, length, d_model, seed=seed),
            normal(d_ff, d_model, seed=seed + 1) / d_model**0.5,
            normal(d_ff, d_model, seed=seed + 2) / d_model**0.5,
            normal(d_model, d_ff, seed=seed + 3) / d_ff**0.5,
        )

    by_hand = (
        torch.tensor([[[1.0, -1.0]]]),
        torch.tensor([[2.0, 0.0], [0.0, 2.0]]),
        torch.tensor([[3.0, 1.0], [1.0, 3.0]]),
        torch.eye(2),
    )
    return (
        Case("by hand: two features", by_hand),
        Case("random", inputs(2, 3, 4, 8, 10)),
        Case("wider than deep", inputs(1, 5, 6, 2, 20)),
        Case("as wide inside as outside", inputs(2, 4, 4, 4, 30)),
        Case("one position", inputs(3, 1, 5, 7, 40)),
        Case("large numbers", (5 * normal(2, 2, 4, seed=50), *inputs(2, 2, 4, 8, 51)[1:])),
    )


def silu(z: Tensor) -> Tensor:
    return z * torch.sigmoid(z)


SWIGLU = Component(
    name="swiglu",
    chapter=25,
    section="SwiGLU, by hand",
    signature="x, w_gate, w_value, w_output",
    pipeline=swiglu_pipeline,
    steps={
        "gate": lambda x, w_gate, w_value: x @ w_gate.T,
        "value": lambda x, w_value, w_gate: x @ w_value.T,
        "open": lambda gate, value: silu(gate),
        "pass_on": lambda value, gate: value,
        "combine": lambda opened, value, gate: opened * value,
        "output": lambda hidden, w_output, x: hidden @ w_output.T,
    },
    cases=swiglu_cases,
    returns="`(silu(x @ w_gate.T) * (x @ w_value.T)) @ w_output.T`, `(B, T, D)`",
)

# --- grouped-query attention ---------------------------------------------------------------------


def grouped_pipeline(s, query, key, value, mask=None):
    n_heads = query.size(1)
    keys, values = s.share_keys(key, n_heads), s.share_values(value, n_heads)  # (B, H, S, K) each
    scores = s.scale(s.products(query, keys, value), query, key)  # (B, H, T, S)
    if mask is not None:
        scores = s.hide(scores, mask, value)  # (B, H, T, S)
    return s.weigh(scores, mask) @ values  # (B, H, T, K)


def grouped_cases() -> Sequence[Case]:
    def inputs(b: int, h: int, g: int, t: int, n: int, k: int, seed: int) -> tuple[Tensor, ...]:
        return (
            normal(b, h, t, k, seed=seed),
            normal(b, g, n, k, seed=seed + 1),
            normal(b, g, n, k, seed=seed + 2),
        )

    def causal(t: int) -> Tensor:
        return torch.ones(t, t).tril().bool()

    padded = torch.tensor([[True, True, True], [True, True, False]])[:, None, None]
    # Each head of values is its own number: which one a query head reads is seen at once.
    address = torch.tensor([10.0, 20.0])[None, :, None, None].expand(1, 2, 2, 1).clone()
    return (
        Case(
            "four heads, two groups: each head of values is one number",
            (normal(1, 4, 2, 1, seed=1), normal(1, 2, 2, 1, seed=2), address),
            rough=True,  # whatever the weights, their average of equal values is the same
        ),
        Case("four heads, two groups", inputs(1, 4, 2, 3, 3, 2, 10)),
        Case("six heads, two groups, masked", (*inputs(2, 6, 2, 4, 4, 3, 20), causal(4))),
        Case("six heads, three groups, padded", (*inputs(2, 6, 3, 3, 3, 4, 30), padded)),
        Case("eight heads, four groups", (*inputs(1, 8, 4, 5, 5, 2, 40), causal(5))),
        Case("one group: multi-query", (*inputs(2, 3, 1, 4, 4, 2, 50), causal(4))),
        Case("as many groups as heads", (*inputs(2, 4, 4, 3, 3, 4, 60), causal(3))),
        Case("as many groups as heads, no mask", inputs(1, 3, 3, 2, 5, 4, 70)),
        Case("one query, seven keys", inputs(2, 4, 2, 1, 7, 4, 80)),
        Case("large scores", tuple(3 * x for x in inputs(1, 4, 2, 3, 3, 4, 90))),
    )


def shared(x: Tensor, n_heads: int) -> Tensor:
    return x.repeat_interleave(n_heads // x.size(1), dim=1)


GROUPED = Component(
    name="grouped_query_attention",
    chapter=25,
    section="Fewer heads of keys and values",
    signature="query, key, value, mask=None",
    pipeline=grouped_pipeline,
    steps={
        "share_keys": shared,
        "share_values": shared,
        "products": lambda query, key, value: query @ key.transpose(-2, -1),
        "scale": lambda scores, query, key: scores / math.sqrt(query.size(-1)),
        "hide": lambda scores, mask, value: scores.masked_fill(~mask, -math.inf),
        "weigh": lambda scores, mask: torch.softmax(scores, dim=-1),
    },
    cases=grouped_cases,
    returns="`(B, H, T, K)`: queries `(B, H, T, K)`, keys and values `(B, G, S, K)`, G divides H; "
    "the first H/G query heads share head 0 of keys and values, the next H/G head 1, …; `mask` is "
    "boolean, True = may attend, and hides from no query all keys",
)

# --- attention with a cache of turned keys -------------------------------------------------------


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

    return (
        Case("one new token after one, quarter turns", inputs(1, 1, 1, 1, 2, 1, quarter_turns)),
        Case("one new token after three", inputs(1, 2, 3, 1, 4, 10)),
        Case("one new token after six", inputs(2, 2, 6, 1, 4, 20)),
        Case("two new tokens after four", inputs(2, 3, 4, 2, 4, 30)),
        Case("three new tokens after two", inputs(1, 2, 2, 3, 6, 40)),
        Case("four new tokens after four", inputs(2, 4, 4, 4, 4, 50)),
        Case("nothing kept yet: three tokens", inputs(2, 2, 0, 3, 4, 60)),
        Case("two after five, quarter turns", inputs(1, 2, 5, 2, 2, 70, quarter_turns)),
    )


def later_hidden(scores: Tensor, kept: Tensor) -> Tensor:
    seen = torch.ones(scores.shape[-2:]).tril(kept.size(2)).bool()  # (t, P + t)
    return scores.masked_fill(~seen, -math.inf)


CACHED = Component(
    name="cached_attention",
    chapter=25,
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
)

COMPONENTS = (RMS_NORM, ROTARY, SWIGLU, GROUPED, CACHED)
