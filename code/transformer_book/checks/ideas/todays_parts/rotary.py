"""Rotary (chapter 25): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.boundaries import longer_than, on
from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


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
        Case("more sentences than positions", random(4, 1, 3, 6, first=1, seed=13)),
        Case("as many heads as positions", random(2, 4, 4, 4, seed=4)),
        Case("one position, the seventh", random(2, 2, 1, 4, first=7, seed=5)),
        Case("later positions", random(2, 2, 3, 8, first=30, seed=6)),
        Case("every third position", random(1, 2, 4, 6, first=2, seed=7, step=3)),
        Case(
            "positions in another order",
            (normal(1, 2, 3, 8, seed=8), torch.tensor([5.0, 1.5, 9.0])),
        ),
        Case(
            "far on in a long text", (normal(1, 2, 3, 4, seed=12), torch.tensor([257, 2051, 4099]))
        ),
        Case("base 100", random(2, 2, 4, 8, seed=9), {"base": 100.0}),
        Case("base 500000", random(1, 2, 6, 16, first=11, seed=10), {"base": 500000.0}),
        Case("base 2", random(1, 3, 4, 6, first=1, seed=11), {"base": 2.0}),
        Case(
            "padding in front, many features, as many sentences as positions",
            (normal(3, 2, 3, 160, seed=14), torch.tensor([-1, -1, 0])),
        ),
        Case("the end of a very long text, one pair", random(1, 1, 4100, 2, first=10**5, seed=15)),
        Case("sentences of one position, one head, one pair", random(2, 1, 1, 2, first=5, seed=16)),
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
    order=2,
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
    done_by="rotate",
    met="worse",
    boundaries={
        "one position": lambda positions: len(positions) == 1,
        "as many heads as positions": lambda x: x.size(1) == x.size(2),
        "as many sentences as positions": lambda x: x.size(0) == x.size(2) > 1,
        "a position twice": lambda positions: len(positions.unique()) < len(positions),
        "one pair of features": lambda x: x.size(3) == 2,
        "several sentences of one position and one head": lambda x: (
            x.size(0) > 1 == x.size(1) == x.size(2)
        ),
        **on("x", {"more than 128 features": lambda x: x.size(3) > 128}),
        **on("positions", longer_than((256, 1024, 2048, 4096, 8192, 65536), max)),
        **on("positions", {"more than 1024 of them": lambda positions: len(positions) > 1024}),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(ROTARY)


def interleaved(first: Tensor, second: Tensor, x: Tensor) -> Tensor:
    return torch.stack([first, second], dim=-1).flatten(-2)


@mistake(
    "pair",
    "neighbours turned, halves put together",
    symptom="With several pairs, the numbers stand in another order than they came in.",
    cause="The pairs are neighbours when they are taken apart, and halves when they are put "
    "together: do both in the same way.",
)
@mistake(
    "pair",
    "neighbours paired",
    symptom="Neighbours are turned together, where the book turns features i and i + K/2.",
    cause="Features 2i and 2i + 1 are a pair, as Su et al. write; transformers stores Llama's "
    "weights for pairs of i and i + K/2. A model trained from the start does not care.",
    kind="convention",
    steps={"join": interleaved},
)
def neighbours(x: Tensor) -> tuple[Tensor, Tensor]:
    return x[..., 0::2], x[..., 1::2]


@mistake(
    "join",
    "halves turned, neighbours put together",
    symptom="With several pairs, the numbers stand in another order than they came in.",
    cause="The pairs are halves when they are taken apart, and neighbours when they are put "
    "together: do both in the same way.",
)
def neighbours_together(first: Tensor, second: Tensor, x: Tensor) -> Tensor:
    return interleaved(first, second, x)


def turned_by_two(first: Tensor, second: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """As it should be, but the two of a pair have different angles."""
    return first * a.cos() - second * a.sin(), first * b.sin() + second * b.cos()


@mistake(
    "turn",
    "angles laid out for neighbours, halves turned",
    met=("nonsense", 26),
    symptom="With several pairs, the two features of a pair are turned by different angles, and "
    "vectors can change their length.",
    cause="Give features i and i + K/2 the same angle: `torch.cat([angles, angles], dim=-1)`.",
)
def angles_of_neighbours(first: Tensor, second: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
    return turned_by_two(first, second, *angles.repeat_interleave(2, dim=-1).chunk(2, dim=-1))


@mistake(
    "turn",
    "angles laid out for halves, neighbours turned",
    symptom="With several pairs, the two features of a pair are turned by different angles, and "
    "vectors can change their length.",
    cause="Turn features i and i + K/2 together, or give neighbours the same angle, with "
    "`repeat_interleave`.",
    steps={"pair": lambda x: (x[..., 0::2], x[..., 1::2]), "join": interleaved},
)
def angles_of_halves(first: Tensor, second: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
    full = torch.cat([angles, angles], dim=-1)
    return turned_by_two(first, second, full[..., 0::2], full[..., 1::2])


@mistake(
    "turn",
    "turned clockwise",
    symptom="Every pair is turned the other way.",
    cause="The angle has the other sign. If queries and keys are both turned so, their products "
    "still depend on the distance alone; but weights trained with one sign do not fit the other.",
    kind="convention",
)
def clockwise(first: Tensor, second: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
    cosine, sine = angles.cos(), angles.sin()
    return first * cosine + second * sine, second * cosine - first * sine


@mistake(
    "turn",
    "one sign of the turn wrong",
    symptom="Vectors can change their length.",
    cause="Both sines are added. A turn subtracts one of them: first · cos − second · sin.",
)
def no_turn(first: Tensor, second: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
    cosine, sine = angles.cos(), angles.sin()
    return first * cosine + second * sine, first * sine + second * cosine


@mistake(
    "frequencies",
    "all pairs turned equally fast",
    symptom="All pairs turn by the same angle.",
    cause="Let the frequencies fall: the angle of pair i is position · base^(−2i/K).",
)
def same_frequency(x: Tensor, base: float) -> Tensor:
    return torch.ones(x.size(-1) // 2)


@mistake(
    "frequencies",
    "exponent without its factor two",
    symptom="All pairs but the first turn too fast.",
    cause="The exponent is −i/K: it must be −2i/K, for i from 0 to K/2 − 1.",
)
def half_exponent(x: Tensor, base: float) -> Tensor:
    return base ** -(torch.arange(x.size(-1) // 2) / x.size(-1))


@mistake(
    "frequencies",
    "exponent without its minus",
    symptom="All pairs but the first turn too fast, the last of them fastest.",
    cause="Put a minus before the exponent: the angle of pair i is position · base^(−2i/K).",
    seen="Missing a negative sign on the exponent for RoPE, "
    "https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/313",
)
def rising(x: Tensor, base: float) -> Tensor:
    return base ** (torch.arange(0, x.size(-1), 2) / x.size(-1))


@mistake(
    "places",
    "positions counted from the start of the tensor",
    met=("nonsense", 7),
    symptom="The first vector handed in is never turned, whatever its position.",
    cause="The positions that are handed in are not used: with a cache the only new token is "
    "then at position 0 for ever.",
)
def from_the_start(positions: Tensor, x: Tensor) -> Tensor:
    return torch.arange(x.size(-2))


@mistake(
    "frequencies",
    "base fixed at 10000",
    symptom="The argument base changes nothing.",
    cause="Use the base that is handed in, not a fixed 10000.",
)
def fixed_base(x: Tensor, base: float) -> Tensor:
    return 10000.0 ** -(torch.arange(0, x.size(-1), 2) / x.size(-1))


@mistake(
    "places",
    "rotary positions counted from one",
    symptom="Every vector is turned by one position more.",
    cause="Each position counts one more. If queries and keys are both turned so, their products "
    "do not change, since they depend on distances only.",
    kind="convention",
)
def from_one(positions: Tensor, x: Tensor) -> Tensor:
    return positions + 1


def quarter_frequencies(x: Tensor, base: float) -> Tensor:
    half = x.size(-1) // 2
    return base ** -(torch.arange(0, half // 2 * 2, 2) / half)


@mistake(
    "pair",
    "only half of each head turned",
    symptom="The second half of the features comes out as it went in.",
    cause="Turn all K features, by K/2 angles: the pairs are i and i + K/2.",
    steps={
        "frequencies": quarter_frequencies,
        "join": lambda first, second, x: torch.cat(
            [first, second, x[..., 2 * first.size(-1) :]], dim=-1
        ),
    },
    seen="rotary embedding question, https://github.com/lucidrains/RETRO-pytorch/issues/12",
)
def half_turned(x: Tensor) -> tuple[Tensor, Tensor]:
    quarter = x.size(-1) // 2 // 2
    return x[..., :quarter], x[..., quarter : 2 * quarter]
