"""Changes to a model while it computes, written as short texts that fit into a web address.

    head:cross.0.2               this head adds nothing (layer 0, head 2, counted from 0)
    average:encoder.1.0          this head looks equally at everything it may see
    weight:cross.0.2.3.1.0.5     add 0.5 to the weight of key 1 for query 3; the row sums to 1 again
    layer:decoder.1              this layer passes on what it gets
    feed_forward:encoder.0       the feed-forward network of this layer adds nothing
    residual:encoder.0           the sublayers of this layer get no residual connection
    scale:1                      the scores are multiplied by this instead of 1/√d_k
    causal:off                   the decoder's self-attention sees the future
    positions:off                no positions are added (`positions:source`: none to the source)
    temperature:0.5              the logits are divided by this

Attention is named by its kind: `encoder` and `decoder` are the self-attention of these stacks,
`cross` is the decoder's look at the source. The page “Talk to the model” makes the same changes
under the same names, in JavaScript (`interventions.js`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from transformer_book.attention import MultiHeadAttention, scaled_dot_product_attention
from transformer_book.layers import Residual
from transformer_book.studies.inspection import attentions, silenced_heads
from transformer_book.transformer import Transformer, TransformerConfig

STACKS = {"encoder": "encoder", "decoder": "decoder", "cross": "decoder"}
FIELDS = {
    "head": ("kind", "layer", "head"),
    "average": ("kind", "layer", "head"),
    "weight": ("kind", "layer", "head", "position", "position", "number"),
    "layer": ("stack", "layer"),
    "feed_forward": ("stack", "layer"),
    "residual": ("stack", "layer"),
    "scale": ("number",),
    "causal": ("off",),
    "positions": ("sides",),
    "temperature": ("positive",),
}
RowChange: TypeAlias = Callable[[Tensor, int | None], Tensor]
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_LARGEST, _COLDEST = 100, 0.01


def parts_of(change: str, config: TransformerConfig) -> tuple[str, list[str]]:
    """A change and its parts: "weight:cross.0.2.3.1.0.5" → "weight", ["cross", "0", …, "0.5"].

    Raises:
        ValueError: this model has no such change, layer, head or position.
    """
    what, _, rest = change.partition(":")
    fields = FIELDS.get(what, ())
    parts = rest.split(".", len(fields) - 1) if fields else []  # a number at the end has a point
    if (
        what not in FIELDS
        or len(parts) != len(fields)
        or not all(
            _fits(field, part, parts[0], config) for field, part in zip(fields, parts, strict=True)
        )
    ):
        shown = change if len(change) <= 80 else f"{change[:79]}…"
        raise ValueError(
            f"This model cannot be changed by “{shown}”: there is no such change, layer or head "
            "in it."
        )
    return what, parts


def _fits(field: str, part: str, first: str, config: TransformerConfig) -> bool:
    """Whether `part` may stand in this field of a change whose first part is `first`."""
    if field in ("kind", "stack"):
        return part in (STACKS if field == "kind" else STACKS.values())
    if field in ("off", "sides"):
        return part == "off" or (field == "sides" and part in ("source", "target"))
    if field in ("number", "positive"):
        if not _NUMBER.fullmatch(part) or abs(float(part)) > _LARGEST:
            return False
        return field == "number" or float(part) >= _COLDEST
    limits = {"head": config.n_heads, "position": config.max_length}
    if first in STACKS:
        limits["layer"] = getattr(config, f"n_{STACKS[first]}_layers")
    return re.fullmatch("[0-9]+", part) is not None and int(part) < limits.get(field, 0)


@contextmanager
def changed(model: Transformer, changes: Sequence[str]) -> Iterator[None]:
    """While this is open, the model computes with these changes; its parameters stay as they are.

        with changed(translator.model, ["head:cross.1.2"]):
            translator.translate("Ein Hund schläft.", beam_size=1)

    Raises:
        ValueError: this model has no such change, layer, head or position.
    """
    parsed = [parts_of(change, model.config) for change in changes]
    modules = attentions(model)
    rows: dict[MultiHeadAttention, list[RowChange]] = {}
    with ExitStack() as stack:
        # Several changes of weights in one attention apply in turn, each to the last one's result.
        for what, parts in parsed:
            if what in ("average", "weight"):
                attention = modules[parts[0]][int(parts[1])]
                rows.setdefault(attention, []).append(_weights(what, *parts[2:]))
            else:
                _CHANGES[what](model, stack, *parts)
        step = _Step()
        hook = model.target_positions.register_forward_pre_hook(step.begins, with_kwargs=True)
        stack.callback(hook.remove)
        for attention, changes_of_rows in rows.items():
            at = step if attention not in modules["encoder"] else None
            attend = partial(_attend, attention, changes_of_rows, at)
            stack.enter_context(_attributes(attention, attend=attend))
        yield


class _Step:
    """Which position a decoder with a cache computes, for all beams; None: row t is position t."""

    start: int | None = None

    def begins(self, _: nn.Module, inputs: tuple[Tensor], named: dict[str, Any]) -> None:
        self.start = named.get("start")


@contextmanager
def _attributes(thing: Any, **values: object) -> Iterator[None]:
    """While this is open, a module has these attributes."""
    before = {name: vars(thing)[name] for name in values if name in vars(thing)}
    for name, value in values.items():
        setattr(thing, name, value)
    try:
        yield
    finally:
        for name in values:
            if name in before:
                setattr(thing, name, before[name])
            else:
                delattr(thing, name)


# --- weights --------------------------------------------------------------------------------------


def _weights(what: str, head: str, *numbers: str) -> RowChange:
    """From weights `(B, H, T, S)`, all at one position or row t at position t, to other ones."""
    if what == "average":
        return partial(_alike, int(head))
    query, key, amount = numbers
    return partial(_raised, int(head), int(query), int(key), float(amount))


def _alike(head: int, weights: Tensor, start: int | None) -> Tensor:
    weights = weights.clone()
    allowed = (weights[:, head] > 0).to(weights.dtype)  # what may not be seen has the weight 0
    weights[:, head] = allowed / allowed.sum(dim=-1, keepdim=True)
    return weights


def _raised(
    head: int, query: int, key: int, amount: float, weights: Tensor, start: int | None
) -> Tensor:
    positions = range(weights.size(2)) if start is None else [start] * weights.size(2)
    rows = [t for t, position in enumerate(positions) if position == query]
    if not rows or key >= weights.size(3):
        return weights
    weights = weights.clone()
    raised = weights[:, head, rows]  # (B, rows, S)
    raised[..., key] += amount
    raised.clamp_(min=0)  # a row stays a row of weights: none below 0, and their sum is 1
    total = raised.sum(dim=-1, keepdim=True)
    weights[:, head, rows] = raised / total.masked_fill(total == 0, 1.0)
    return weights


def _attend(
    attention: MultiHeadAttention,
    changes: Sequence[RowChange],
    step: _Step | None,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    """What stands in for `attention.attend`."""
    _, weights = scaled_dot_product_attention(q, k, v, mask, 0.0, attention.scale)
    for change in changes:
        weights = change(weights, step.start if step else None)
    attention.weights = weights.detach() if attention.keep_weights else None
    return weights @ v


# --- everything else ------------------------------------------------------------------------------


def _head(model: Transformer, stack: ExitStack, kind: str, layer: str, head: str) -> None:
    attention = attentions(model)[kind][int(layer)]
    stack.enter_context(silenced_heads(attention, int(head)))


def _residuals(model: Transformer, name: str, layer: str) -> list[Residual]:
    layers = getattr(model, name).layers
    return [each for each in layers[int(layer)].modules() if isinstance(each, Residual)]


def _pass_on(residual: Residual, x: Tensor, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
    # The sublayer computes all the same: it fills the cache.
    return Residual.forward(residual, x, lambda y: torch.zeros_like(sublayer(y)))


def _layer(model: Transformer, stack: ExitStack, name: str, layer: str) -> None:
    for residual in _residuals(model, name, layer):
        stack.enter_context(_attributes(residual, forward=partial(_pass_on, residual)))


def _feed_forward(model: Transformer, stack: ExitStack, name: str, layer: str) -> None:
    residual = getattr(model, name).layers[int(layer)].feed_forward_residual
    stack.enter_context(_attributes(residual, forward=partial(_pass_on, residual)))


def _residual(model: Transformer, stack: ExitStack, name: str, layer: str) -> None:
    for residual in _residuals(model, name, layer):
        stack.enter_context(_attributes(residual, residual=False))


def _scale(model: Transformer, stack: ExitStack, scale: str) -> None:
    for module in model.modules():
        if isinstance(module, MultiHeadAttention):
            stack.enter_context(_attributes(module, scale=float(scale)))


def _causal(model: Transformer, stack: ExitStack, _: str) -> None:
    # The searches read this, too: without a causal mask nothing can be kept from step to step.
    stack.enter_context(_attributes(model, config=replace(model.config, causal=False)))


def _positions(model: Transformer, stack: ExitStack, sides: str) -> None:
    for side in ("source", "target") if sides == "off" else (sides,):
        module = getattr(model, f"{side}_positions")
        stack.enter_context(_attributes(module, forward=lambda x, start=0: x))


def _temperature(model: Transformer, stack: ExitStack, temperature: str) -> None:
    def divide(_: nn.Module, inputs: tuple[Tensor], logits: Tensor) -> Tensor:
        return logits / float(temperature)

    stack.callback(model.output.register_forward_hook(divide).remove)


_CHANGES = {
    "head": _head,
    "layer": _layer,
    "feed_forward": _feed_forward,
    "residual": _residual,
    "scale": _scale,
    "causal": _causal,
    "positions": _positions,
    "temperature": _temperature,
}
