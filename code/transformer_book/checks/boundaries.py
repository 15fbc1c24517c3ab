"""Where arguments are at a boundary, as conditions on them: what several ideas have in common.

Each component names its own. Two conditions together (one sentence, and padded) are a condition of
their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

PAD, SOS, EOS, UNK = range(4)
SPECIAL = {"padding": PAD, "<sos>": SOS, "<eos>": EOS, "<unk>": UNK}
BUFFERS = (10, 16, 20, 64, 100, 128, 512, 1024)  # sizes that people make buffers with
Condition = Callable[..., bool]


def on(argument: str, conditions: Mapping[str, Callable[[Any], Any]]) -> dict[str, Condition]:
    """Conditions on one argument, by its name."""
    made = {}
    for name, holds in conditions.items():
        scope: dict[str, Any] = {"holds": holds}
        exec(f"def where({argument}):\n    return bool(holds({argument}))", scope)
        made[f"{argument}: {name}"] = scope["where"]
    return made


def longer_than(sizes: tuple[int, ...], size: Callable[[Any], int]) -> dict[str, Any]:
    return {f"longer than {n}": lambda x, n=n: size(x) > n for n in sizes}


def token_conditions(*, padded: bool = True, buffers: tuple[int, ...] = BUFFERS) -> dict[str, Any]:
    """Of ids `(B, T)`."""
    found: dict[str, Any] = {
        "one sentence": lambda t: len(t) == 1,
        "several sentences": lambda t: len(t) > 1,
        "as many sentences as places": lambda t: t.size(0) == t.size(1),
        "more sentences than places": lambda t: t.size(0) > t.size(1) > 1,
        "fewer sentences than places": lambda t: t.size(0) < t.size(1),
        "no padding": lambda t: (t != PAD).all(),
        **longer_than(buffers, lambda t: t.size(1)),
    }
    for name, token in SPECIAL.items():
        if token != PAD:
            found[f"{name} first"] = lambda t, token=token: (t[:, 0] == token).any()
            found[f"{name} in the middle"] = lambda t, token=token: (t[:, 1:-1] == token).any()
            found[f"{name} last"] = lambda t, token=token: (t[:, -1] == token).any()
    if padded:
        found |= {
            "padding": lambda t: (t == PAD).any(),
            "one sentence, padded": lambda t: len(t) == 1 and (t == PAD).any(),
            "the first sentence padded": lambda t: (t[0] == PAD).any(),
            "the last sentence padded": lambda t: (t[-1] == PAD).any(),
            "<sos>, and padding": lambda t: (t == SOS).any() and (t == PAD).any(),
        }
    return found


BTD = ("sentences", "positions", "features")


def vector_conditions(*axes: str) -> dict[str, Any]:
    """Of a tensor with these axes, the last one behind."""
    found: dict[str, Any] = {}
    for i, axis in enumerate(axes[:-1], start=-len(axes)):
        found[f"one of {axis}"] = lambda x, i=i: x.size(i) == 1
        found[f"several of {axis}"] = lambda x, i=i: x.size(i) > 1
    for i in range(-len(axes), -1):
        names = f"as many {axes[i]} as {axes[i + 1]}"
        found[names] = lambda x, i=i: x.size(i) == x.size(i + 1)
    if axes == BTD:
        found["more sentences than positions, of several"] = lambda x: x.size(-3) > x.size(-2) > 1
    return found


MASKS: dict[str, Condition] = {
    "no mask": lambda mask: mask is None,
    "a mask that is the same for all": lambda mask: mask is not None and mask.dim() == 2,
    "a mask for each sentence": lambda mask: mask is not None and mask.dim() == 4 and len(mask) > 1,
    "a hidden first key": lambda mask: mask is not None and not mask[..., 0].all(),
    "a hidden last key": lambda mask: mask is not None and not mask[..., -1].all(),
}
QUERIES_AND_KEYS: dict[str, Condition] = {
    "more keys than queries": lambda query, key: key.size(-2) > query.size(-2),
    "as many keys as queries": lambda query, key: key.size(-2) == query.size(-2),
    "one query": lambda query: query.size(-2) == 1,
    "one key": lambda key: key.size(-2) == 1,
    "one sentence": lambda query: len(query) == 1,
}
RESIDUAL = on("x", vector_conditions(*BTD))
