"""Known mistakes of chapter 25: RMSNorm, rotary positions, SwiGLU, shared heads, the cache."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from transformer_book.checks.mistakes.registry import mistake
from transformer_book.checks.todays_parts import silu

Turn = Callable[[Tensor, Tensor], Tensor]

RMS = "RMSNorm, by hand"
ROTARY = "Rotary positions: turn, do not add"
SWIGLU = "SwiGLU, by hand"
GROUPED = "Fewer heads of keys and values"
CACHED = "The cache, and what is turned in it"


def interleaved(first: Tensor, second: Tensor, x: Tensor) -> Tensor:
    return torch.stack([first, second], dim=-1).flatten(-2)


# --- rms_norm ------------------------------------------------------------------------------------


@mistake(
    "rms_norm",
    "centre",
    "mean subtracted in RMSNorm",
    symptom="The features have mean 0, and their variance is 1.",
    cause="The mean is subtracted first, which is layer norm without its bias: RMSNorm divides, "
    "and nothing else.",
    section=RMS,
)
def centred(x: Tensor) -> Tensor:
    return x - x.mean(dim=-1, keepdim=True)


@mistake(
    "rms_norm",
    "mean_square",
    "divided by the standard deviation",
    symptom="The mean of the squares is not 1, and the mean of the features is not 0.",
    cause="The vectors are divided by their standard deviation, which leaves the mean out: "
    "divide by the root of the mean of the squares.",
    section=RMS,
)
def variance(x: Tensor) -> Tensor:
    return x.var(dim=-1, keepdim=True, unbiased=False)


@mistake(
    "rms_norm",
    "mean_square",
    "sum of the squares in place of their mean",
    symptom="Every vector has the length 1, not √D: all features are too small.",
    cause="The squares are added up and not divided by their number: take the mean.",
    section=RMS,
)
def sum_of_squares(x: Tensor) -> Tensor:
    return x.square().sum(dim=-1, keepdim=True)


@mistake(
    "rms_norm",
    "divide",
    "ε of RMSNorm outside the root",
    symptom="Small vectors come out too large.",
    cause="ε is added to the root: add it to the mean of the squares, inside.",
    section=RMS,
)
def epsilon_outside(x: Tensor, mean_square: Tensor, eps: float) -> Tensor:
    return x / (mean_square.sqrt() + eps)


@mistake(
    "rms_norm",
    "divide",
    "ε of RMSNorm forgotten",
    symptom="Zeros become nan, and small vectors come out too large.",
    cause="There is no ε: a vector of zeros is divided by zero. Add ε inside the root.",
    section=RMS,
)
def no_epsilon(x: Tensor, mean_square: Tensor, eps: float) -> Tensor:
    return x / mean_square.sqrt()


@mistake(
    "rms_norm",
    "divide",
    "root of RMSNorm forgotten",
    symptom="Large vectors come out small, and small ones large.",
    cause="The vectors are divided by the mean of the squares: take its root.",
    section=RMS,
)
def no_root(x: Tensor, mean_square: Tensor, eps: float) -> Tensor:
    return x / (mean_square + eps)


@mistake(
    "rms_norm",
    "scale",
    "weight of RMSNorm forgotten",
    symptom="All features come out at the same size; a trained model's weights have no effect.",
    cause="The normalised vector is not multiplied by `weight`: multiply it, feature by feature.",
    section=RMS,
)
def no_weight(normalised: Tensor, weight: Tensor, x: Tensor) -> Tensor:
    return normalised


@mistake(
    "rms_norm",
    "scale",
    "one added to the weight of RMSNorm",
    symptom="The normalised vector is multiplied by 1 + w, not by w.",
    cause="The weight counts from zero, (1 + w): Gemma's convention, whose weights start at 0. "
    "Llama's and PyTorch's start at 1 and are multiplied as they are.",
    section=RMS,
    kind="convention",
)
def from_zero(normalised: Tensor, weight: Tensor, x: Tensor) -> Tensor:
    return (1 + weight) * normalised


@mistake(
    "rms_norm",
    "mean_square",
    "mean of the squares over the positions",
    symptom="A position's output changes with the other positions.",
    cause="The mean is taken over dim=1, the positions: take it over the features, dim=-1.",
    section=RMS,
)
def over_positions(x: Tensor) -> Tensor:
    return x.square().mean(dim=1, keepdim=True)


# --- rotary --------------------------------------------------------------------------------------


@mistake(
    "rotary",
    "pair",
    "neighbours paired",
    symptom="The numbers stand in another order than Llama's.",
    cause="Features 2i and 2i + 1 are a pair, as Su et al. write; Llama's weights are stored "
    "for pairs of i and i + K/2. A model trained from the start does not care.",
    section=ROTARY,
    kind="convention",
    steps={"join": interleaved},
)
def neighbours(x: Tensor) -> tuple[Tensor, Tensor]:
    return x[..., 0::2], x[..., 1::2]


@mistake(
    "rotary",
    "pair",
    "neighbours turned, halves put together",
    symptom="The numbers stand in another order than they came in.",
    cause="The pairs are neighbours when they are taken apart, and halves when they are put "
    "together: do both in the same way.",
    section=ROTARY,
)
def neighbours_apart(x: Tensor) -> tuple[Tensor, Tensor]:
    return x[..., 0::2], x[..., 1::2]


@mistake(
    "rotary",
    "join",
    "halves turned, neighbours put together",
    symptom="The numbers stand in another order than they came in.",
    cause="The pairs are halves when they are taken apart, and neighbours when they are put "
    "together: do both in the same way.",
    section=ROTARY,
)
def neighbours_together(first: Tensor, second: Tensor, x: Tensor) -> Tensor:
    return interleaved(first, second, x)


@mistake(
    "rotary",
    "turn",
    "turned clockwise",
    symptom="Every pair is turned the other way.",
    cause="The sign of the angle is turned round. If queries and keys both are, their products "
    "are the same; weights do not fit from one to the other.",
    section=ROTARY,
    kind="convention",
)
def clockwise(first: Tensor, second: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
    cosine, sine = angles.cos(), angles.sin()
    return first * cosine + second * sine, second * cosine - first * sine


@mistake(
    "rotary",
    "turn",
    "one sign of the turn wrong",
    symptom="Vectors do not keep their length.",
    cause="Both sines are added. A turn subtracts one of them: first · cos − second · sin.",
    section=ROTARY,
)
def no_turn(first: Tensor, second: Tensor, angles: Tensor) -> tuple[Tensor, Tensor]:
    cosine, sine = angles.cos(), angles.sin()
    return first * cosine + second * sine, first * sine + second * cosine


@mistake(
    "rotary",
    "frequencies",
    "all pairs turned equally fast",
    symptom="All pairs turn by the same angle.",
    cause="The frequencies do not fall: pair i turns by base^(−2i/K) at each position.",
    section=ROTARY,
)
def same_frequency(x: Tensor, base: float) -> Tensor:
    return torch.ones(x.size(-1) // 2)


@mistake(
    "rotary",
    "frequencies",
    "exponent without its factor two",
    symptom="The slowest pair is far too fast.",
    cause="The exponent is −i/K: it must be −2i/K, so that the frequencies reach from 1 nearly "
    "down to 1/base.",
    section=ROTARY,
)
def half_exponent(x: Tensor, base: float) -> Tensor:
    return base ** -(torch.arange(x.size(-1) // 2) / x.size(-1))


@mistake(
    "rotary",
    "places",
    "positions counted from the start of the tensor",
    symptom="The first vector handed in is never turned, whatever its position.",
    cause="The positions that are handed in are not used: with a cache the only new token is "
    "then at position 0 for ever.",
    section=ROTARY,
)
def from_the_start(positions: Tensor, x: Tensor) -> Tensor:
    return torch.arange(x.size(-2))


@mistake(
    "rotary",
    "frequencies",
    "base fixed at 10000",
    symptom="It is right for the usual base and for no other.",
    cause="Use the base that is handed in, not a fixed 10000.",
    section=ROTARY,
)
def fixed_base(x: Tensor, base: float) -> Tensor:
    return 10000.0 ** -(torch.arange(0, x.size(-1), 2) / x.size(-1))


@mistake(
    "rotary",
    "places",
    "rotary positions counted from one",
    symptom="Every vector is turned by one position more.",
    cause="Positions start at 1. The products do not change, since they depend on distances only.",
    section=ROTARY,
    kind="convention",
)
def from_one(positions: Tensor, x: Tensor) -> Tensor:
    return positions + 1


# --- swiglu --------------------------------------------------------------------------------------


@mistake(
    "swiglu",
    "open",
    "gate and value exchanged",
    symptom="The activation is on the other of the two products.",
    cause="silu is taken of x @ w_value.T: it belongs to x @ w_gate.T.",
    section=SWIGLU,
    steps={"pass_on": lambda value, gate: gate},
)
def value_opened(gate: Tensor, value: Tensor) -> Tensor:
    return silu(value)


@mistake(
    "swiglu",
    "open",
    "sigmoid in place of SiLU",
    symptom="The gate lies between 0 and 1.",
    cause="The gate is sigmoid(z), as in the first gated networks: SwiGLU's is z · sigmoid(z).",
    section=SWIGLU,
)
def sigmoid_gate(gate: Tensor, value: Tensor) -> Tensor:
    return torch.sigmoid(gate)


@mistake(
    "swiglu",
    "open",
    "GELU in place of SiLU",
    symptom="The numbers are close to the right ones, but not equal to them.",
    cause="The gate is GELU(z), which makes this GeGLU: it works as well, but it is another "
    "network.",
    section=SWIGLU,
    kind="convention",
)
def gelu_gate(gate: Tensor, value: Tensor) -> Tensor:
    return torch.nn.functional.gelu(gate)


@mistake(
    "swiglu",
    "open",
    "activation of the gate forgotten",
    symptom="The network is a product of two linear maps: it is the same for x and −x.",
    cause="There is no activation on the gate: take silu(x @ w_gate.T).",
    section=SWIGLU,
)
def bare_gate(gate: Tensor, value: Tensor) -> Tensor:
    return gate


@mistake(
    "swiglu",
    "combine",
    "gate added in place of multiplied",
    symptom="The value passes even where the gate is closed.",
    cause="The two products are added: multiply them.",
    section=SWIGLU,
)
def added(opened: Tensor, value: Tensor, gate: Tensor) -> Tensor:
    return opened + value


@mistake(
    "swiglu",
    "combine",
    "activation after the product of both",
    symptom="The hidden numbers are never below −0.28.",
    cause="silu is taken of the product of gate and value: take it of the gate, before.",
    section=SWIGLU,
)
def activated_last(opened: Tensor, value: Tensor, gate: Tensor) -> Tensor:
    return silu(gate * value)


@mistake(
    "swiglu",
    "pass_on",
    "activation on gate and value",
    symptom="Both factors are never below −0.28.",
    cause="silu is taken of both products: the value goes through as it is.",
    section=SWIGLU,
)
def value_activated(value: Tensor, gate: Tensor) -> Tensor:
    return silu(value)


@mistake(
    "swiglu",
    "value",
    "one matrix for gate and value",
    symptom="`w_value` has no effect.",
    cause="Gate and value both come from `w_gate`: the value is x @ w_value.T.",
    section=SWIGLU,
)
def same_matrix(x: Tensor, w_value: Tensor, w_gate: Tensor) -> Tensor:
    return x @ w_gate.T


# --- grouped_query_attention ---------------------------------------------------------------------


@mistake(
    "grouped_query_attention",
    "share_keys",
    "repeat for repeat_interleave",
    symptom="Query head 1 reads head 1 of keys and values, where it shares head 0.",
    cause="`repeat` lays the heads one behind the other, 0 1 0 1: neighbours share a head, 0 0 "
    "1 1, which `repeat_interleave` does.",
    section=GROUPED,
    steps={"share_values": lambda x, n_heads: x.repeat(1, n_heads // x.size(1), 1, 1)},
)
def repeated(x: Tensor, n_heads: int) -> Tensor:
    return x.repeat(1, n_heads // x.size(1), 1, 1)


@mistake(
    "grouped_query_attention",
    "share_values",
    "values repeated in another order than the keys",
    symptom="The weights are right, and the values they average belong to another group.",
    cause="Keys are repeated with `repeat_interleave` and values with `repeat`: do both alike.",
    section=GROUPED,
)
def values_repeated(x: Tensor, n_heads: int) -> Tensor:
    return x.repeat(1, n_heads // x.size(1), 1, 1)


@mistake(
    "grouped_query_attention",
    "share_keys",
    "keys and values averaged over their heads",
    symptom="All query heads read the same keys and values.",
    cause="The heads of keys and values are averaged into one: each group keeps its own.",
    section=GROUPED,
    steps={"share_values": lambda x, n_heads: x.mean(dim=1, keepdim=True)},
)
def averaged(x: Tensor, n_heads: int) -> Tensor:
    return x.mean(dim=1, keepdim=True)


@mistake(
    "grouped_query_attention",
    "share_keys",
    "first head of keys and values for all",
    symptom="All query heads read head 0 of keys and values.",
    cause="Only the first of the G heads is used: that would be multi-query attention, with G = 1.",
    section=GROUPED,
    steps={"share_values": lambda x, n_heads: x[:, :1]},
)
def first_head(x: Tensor, n_heads: int) -> Tensor:
    return x[:, :1]


@mistake(
    "grouped_query_attention",
    "scale",
    "scaled by the root of the model's width",
    symptom="The weights are too even.",
    cause="The scores are divided by √(H · K): divide by √K, the width of one head.",
    section=GROUPED,
)
def model_scaled(scores: Tensor, query: Tensor, key: Tensor) -> Tensor:
    return scores / math.sqrt(query.size(1) * query.size(-1))


@mistake(
    "grouped_query_attention",
    "scale",
    "grouped scores not scaled",
    symptom="The weights are too sharp.",
    cause="The scores are not divided by √K.",
    section=GROUPED,
)
def unscaled(scores: Tensor, query: Tensor, key: Tensor) -> Tensor:
    return scores


@mistake(
    "grouped_query_attention",
    "hide",
    "grouped mask inverted",
    symptom="Queries see what they must not, and not what they may.",
    cause="The mask is True where a query may attend: hide where it is False, ~mask.",
    section=GROUPED,
)
def inverted(scores: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    return scores.masked_fill(mask, -math.inf)


@mistake(
    "grouped_query_attention",
    "hide",
    "grouped mask ignored",
    symptom="Queries see the future and the padding.",
    cause="The mask is not used: set the scores where it is False to minus infinity before the "
    "softmax.",
    section=GROUPED,
)
def unmasked(scores: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    return scores


# --- cached_attention ----------------------------------------------------------------------------


@mistake(
    "cached_attention",
    "positions",
    "positions not advanced with the cache",
    symptom="Every new token stands at position 0 again: the first call is right, no later one.",
    cause="The new tokens are counted from 0: count on from the number of positions that are kept.",
    section=CACHED,
)
def restarted(past: int, new: int) -> Tensor:
    return torch.arange(new)


@mistake(
    "cached_attention",
    "positions",
    "new token one position too far",
    symptom="There is a gap between what is kept and what is new.",
    cause="The new tokens begin at position P + 1: the P kept ones have 0 to P − 1, so the first "
    "new one has P.",
    section=CACHED,
)
def one_too_far(past: int, new: int) -> Tensor:
    return torch.arange(past + 1, past + 1 + new)


@mistake(
    "cached_attention",
    "turn_query",
    "new queries not turned",
    symptom="The products do not depend on the distance, but on the position of the key.",
    cause="Only the keys are turned: turn the queries by their positions, too.",
    section=CACHED,
)
def query_straight(query: Tensor, positions: Tensor, turn: Turn) -> Tensor:
    return query


@mistake(
    "cached_attention",
    "turn_key",
    "new keys not turned",
    symptom="New keys lie as if at position 0.",
    cause="Only the queries are turned: turn the new keys by their positions before they are kept.",
    section=CACHED,
)
def key_straight(key: Tensor, positions: Tensor, turn: Turn) -> Tensor:
    return key


@mistake(
    "cached_attention",
    "turn_value",
    "values turned, too",
    symptom="The average mixes values that were turned by different angles.",
    cause="Values are turned like keys: they carry content, and no product is taken of them. "
    "Leave them as they are.",
    section=CACHED,
)
def value_turned(value: Tensor, positions: Tensor, turn: Turn) -> Tensor:
    return turn(value, positions)


@mistake(
    "cached_attention",
    "extend_keys",
    "kept keys turned again",
    symptom="The older a token, the more often it has been turned.",
    cause="All keys are turned, those that are kept already turned, too: turn only the new ones.",
    section=CACHED,
)
def turned_again(kept: Tensor, new: Tensor, turn: Turn) -> Tensor:
    past = kept.size(2)
    return torch.cat([turn(kept, torch.arange(past)), new], dim=2)


@mistake(
    "cached_attention",
    "hide",
    "new tokens see each other's future",
    symptom="Several new tokens at once give other numbers than one after the other.",
    cause="No mask is used: with several new tokens, hide from each what comes behind it.",
    section=CACHED,
)
def future_seen(scores: Tensor, kept: Tensor) -> Tensor:
    return scores


@mistake(
    "cached_attention",
    "hide",
    "mask that does not count what is kept",
    symptom="New tokens see only the beginning of the text.",
    cause="The triangle begins at the first kept position: shift it by their number, tril(P).",
    section=CACHED,
)
def unshifted(scores: Tensor, kept: Tensor) -> Tensor:
    seen = torch.ones(scores.shape[-2:]).tril().bool()  # (t, P + t)
    return scores.masked_fill(~seen, -math.inf)


@mistake(
    "cached_attention",
    "keep_keys",
    "cache not extended",
    symptom="The new tokens are forgotten in the next call.",
    cause="What is handed back is what was handed in: hand back all keys and all values, the "
    "new ones behind.",
    section=CACHED,
    steps={"keep_values": lambda values, kept: kept},
)
def not_extended(keys: Tensor, kept: Tensor, key: Tensor) -> Tensor:
    return kept


@mistake(
    "cached_attention",
    "keep_keys",
    "new keys kept before they are turned",
    symptom="This call is right, and the next one is not.",
    cause="The attention uses turned keys and the cache gets those that are not: keep the "
    "turned ones.",
    section=CACHED,
)
def kept_straight(keys: Tensor, kept: Tensor, key: Tensor) -> Tensor:
    return torch.cat([kept, key], dim=2)
