"""Decoding one token at a time: with a cache of keys and values, and without it (chapter 17).

A search feeds each row its newest token and asks for the logits of the next one. A `Stepper` does
that, and keeps what earlier steps have computed.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer_book.architectures import Model
from transformer_book.decoder import DecoderLayer
from transformer_book.decoder_only import DecoderOnly
from transformer_book.key_value_cache import KeysAndValues, KeyValueCache
from transformer_book.masks import padding_mask
from transformer_book.support.parts import is_changed
from transformer_book.transformer import Transformer


def new_cache(model: Model, source: Int[Tensor, "B S"]) -> KeyValueCache:
    """The source read, and nothing written yet: one row for each sentence.

    Raises:
        ValueError: if this model's decoder cannot be cached, see `can_be_cached`.
    """
    if not can_be_cached(model):
        raise ValueError(
            "This decoder cannot be cached, because it sees the future (causal=False) or has "
            "parts of your own; call model.decode on the whole target so far, as the searches "
            "do with cached=False."
        )
    if isinstance(model, DecoderOnly):
        cache = model.new_cache()
        model.vectors(source, model.prefix_of(source), cache)
        return cache
    memory, mask = read(model, source)
    kept = []
    for layer in model.decoder.layers:
        keys, values = layer.cross_attention.keys_and_values(memory, memory)  # (B, H, S, K)
        # Read at every step: each head's vectors side by side in memory, not D numbers apart.
        kept.append(KeysAndValues(keys.contiguous(), values.contiguous()))
    nothing = [KeysAndValues(each.keys[:, :, :0], each.values[:, :, :0]) for each in kept]
    return KeyValueCache(nothing, kept, mask)


def decode_step(
    model: Transformer, tokens: Int[Tensor, "N"], cache: KeyValueCache
) -> Float[Tensor, "N V"]:
    """Feed one new token to each row: the logits of the token that follows it.

    The same as the last position of `model.decode` on the whole target so far. What it computes for
    the new position goes into the cache.

    Args:
        model: the model the cache was made for.
        tokens: the newest token of each row; `<sos>` in the first step.
        cache: of everything before these tokens.

    Raises:
        ValueError: if there are more or fewer tokens than rows in the cache, for a token outside
            the vocabulary, and for a target longer than the model's `max_length`.
    """
    sentences, width = cache.shape
    if tokens.shape != (sentences * width,):
        raise ValueError(
            f"The tokens have shape {tuple(tokens.shape)}, but the cache has {sentences * width} "
            "rows; pass one token for each row."
        )
    x = model.target_embedding(tokens[:, None])  # (N, 1, D)
    x = model.dropout(model.target_positions(x, start=cache.length))  # (N, 1, D)
    for layer, kept, memory in zip(model.decoder.layers, cache.layers, cache.memory, strict=True):
        x = layer_step(layer, x, kept, memory, cache.memory_mask)  # (N, 1, D)
    return model.output(model.decoder.norm(x)).squeeze(1)  # (N, V)


def layer_step(
    layer: DecoderLayer,
    x: Float[Tensor, "N 1 D"],
    kept: KeysAndValues,
    memory: KeysAndValues,
    memory_mask: Bool[Tensor, "B 1 1 S"],
) -> Float[Tensor, "N 1 D"]:
    """`DecoderLayer.forward` for the newest position alone; all else has been kept."""
    cross = layer.cross_attention

    def cross_attention(y: Tensor) -> Tensor:  # (B, W, D); only queries are new
        q = cross.split_heads(cross.query(y))  # (B, H, W, K)
        heads = cross.attend(q, memory.keys, memory.values, memory_mask)  # (B, H, W, K)
        return cross.output(cross.merge_heads(heads))  # (B, W, D)

    # No mask: all that is kept is the past, and none of it is padding.
    x = layer.self_residual(x, lambda y: layer.self_attention(y, y, y, kept=kept))  # (N, 1, D)
    # The beams of a sentence are several queries to one memory, which is kept only once.
    beams = x.view(len(memory.keys), -1, x.size(-1))  # (N, 1, D) → (B, W, D)
    beams = layer.cross_residual(beams, cross_attention)  # (B, W, D)
    return layer.feed_forward_residual(beams, layer.feed_forward).view_as(x)  # (N, 1, D)


def can_be_cached(model: Model) -> bool:
    """Whether a search may use `decode_step` for `model.decode`, computing each position once.

    The decoder must be causal, and every part of it the book's own: `decode_step` takes the place
    of the `forward` of the decoder and its layers, and hands their attentions what is kept, so
    what someone has changed there would be ignored, or would not know the cache. (It ignores
    forward hooks on decoder and layers, too; hooks on what the layers contain are called.)
    """
    if isinstance(model, DecoderOnly):
        target = tuple(model.modules())
    else:
        target = (model, model.target_embedding, model.target_positions, *model.decoder.modules())
    return model.config.causal and not any(map(is_changed, target))


# --- the steps of a search ------------------------------------------------------------------------


@runtime_checkable
class Stepper(Protocol):
    """What computes the steps of a search, one token of each row at a time."""

    def step(self, tokens: Int[Tensor, "N"]) -> Float[Tensor, "N V"]:
        """The newest token of each row → logits of the next."""

    def select(self, rows: Int[Tensor, "..."]) -> None:
        """As `KeyValueCache.select`."""


def new_stepper(model: Model, source: Int[Tensor, "B S"], cached: bool) -> Stepper:
    """Nothing decoded yet: one row for each source, cached if asked for and possible."""
    return (_Cached if cached and can_be_cached(model) else _Uncached)(model, source)


def read(model: Model, source: Int[Tensor, "B S"]) -> tuple[Tensor, ...]:
    """What `model.decode` needs besides the target: the memory and its mask, or the source."""
    if isinstance(model, DecoderOnly):
        return (source,)
    mask = padding_mask(source)  # (B, 1, 1, S)
    return model.encode(source, mask), mask


class _Cached:
    """Each position computed once: the logits of `_Uncached`, but faster."""

    def __init__(self, model: Model, source: Tensor) -> None:
        self.model, self.cache = model, new_cache(model, source)

    def step(self, tokens: Tensor) -> Tensor:
        if isinstance(self.model, DecoderOnly):
            return self.model.output(self.model.vectors(tokens[:, None], cache=self.cache)[:, -1])
        return decode_step(self.model, tokens, self.cache)

    def select(self, rows: Tensor) -> None:
        self.cache.select(rows)


class _Uncached:
    """Decodes the whole target so far at every step: plain, and right for any model."""

    def __init__(self, model: Model, source: Tensor) -> None:
        self.model, self.read = model, read(model, source)  # (N, …) each
        self.target = source.new_empty(len(source), 0)  # (N, 0)

    def step(self, tokens: Tensor) -> Tensor:
        self.target = torch.cat([self.target, tokens[:, None]], dim=1)  # (N, T)
        vectors = self.model.decode(self.target, *self.read)  # (N, T, D)
        return self.model.output(vectors[:, -1])  # (N, V)

    def select(self, rows: Tensor) -> None:
        rows = rows.flatten()  # (N',)
        self.target = self.target.index_select(0, rows)  # (N', T)
        self.read = tuple(each.index_select(0, rows) for each in self.read)  # (N', …) each
