"""Decoding one token at a time: the cache of keys and values, and the way without it (chapter 17).

A search feeds each row its newest token and asks for the logits of the next one. A `Stepper` does
that, and keeps what earlier steps have computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from transformer_book.architectures import Model
from transformer_book.attention import MultiHeadAttention
from transformer_book.decoder import DecoderLayer
from transformer_book.decoder_only import DecoderOnly
from transformer_book.masks import padding_mask
from transformer_book.support.parts import is_changed
from transformer_book.transformer import Transformer


@dataclass
class LayerCache:
    """The keys and values that one decoder layer need not compute again.

    For the target so far `(N, H, T, K)`, growing by one position per step, and for the memory
    `(B, H, S, K)`, computed once. N = B · W: each sentence has W rows (beams), which are adjacent
    and share its memory.
    """

    keys: Float[Tensor, "N H T K"]
    values: Float[Tensor, "N H T K"]
    memory_keys: Float[Tensor, "B H S K"]
    memory_values: Float[Tensor, "B H S K"]


class DecoderCache:
    """What a decoder has computed for the target so far, layer by layer.

    A causal decoder never changes a vector it has computed: the future is hidden from it. So the
    keys and values of earlier positions can be kept, and a step costs one position per row
    instead of all positions anew.

    Args:
        model: see `can_be_cached`.
        memory: the encoder's output `(B, S, D)`.

    Attributes:
        layers: one `LayerCache` for each layer of the decoder.

    Raises:
        ValueError: if this model's decoder cannot be cached.
    """

    def __init__(self, model: Transformer, memory: Float[Tensor, "B S D"]) -> None:
        if not can_be_cached(model):
            raise ValueError(
                "This decoder cannot be cached, because it sees the future (causal=False) or has "
                "parts of your own; call model.decode on the whole target so far, as the searches "
                "do with cached=False."
            )
        self.layers: list[LayerCache] = []
        for layer in model.decoder.layers:
            keys, values = layer.cross_attention.keys_and_values(memory, memory)  # (B, H, S, K)
            # Read at every step: each head's vectors side by side in memory, not D numbers apart.
            keys, values = keys.contiguous(), values.contiguous()
            nothing_yet = keys[:, :, :0]  # (B, H, 0, K)
            self.layers.append(LayerCache(nothing_yet, nothing_yet, keys, values))

    @property
    def length(self) -> int:
        """Number of target positions computed so far; also the position of the next token."""
        return self.layers[0].keys.size(2)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of sentences B, and of rows for each of them W."""
        sentences = self.layers[0].memory_keys.size(0)
        return sentences, self.layers[0].keys.size(0) // sentences

    def select(self, rows: Int[Tensor, "..."]) -> Int[Tensor, "B"]:
        """Keep these rows, in this order, and drop all others; a row may be named repeatedly.

        Args:
            rows: `(B',)`, one row for each sentence from now on; or `(B', W')`, the W' beams of
                each sentence. The rows in one line must belong to the same sentence.

        Returns:
            The sentence that each line belongs to, `(B',)`: index the memory's mask with it too.
        """
        width = self.shape[1]
        rows = rows.view(len(rows), -1)  # (B', W')
        sentences, rows = rows[:, 0] // width, rows.flatten()  # (B',), (B' W',)
        # Most steps only exchange the beams of a sentence: its memory stays where it is.
        moved = not torch.equal(sentences, torch.arange(self.shape[0], device=rows.device))
        for kept in self.layers:
            kept.keys = kept.keys.index_select(0, rows)  # (N', H, T, K)
            kept.values = kept.values.index_select(0, rows)  # (N', H, T, K)
            if moved:
                kept.memory_keys = kept.memory_keys.index_select(0, sentences)  # (B', H, S, K)
                kept.memory_values = kept.memory_values.index_select(0, sentences)  # (B', H, S, K)
        return sentences


def decode_step(
    model: Transformer,
    tokens: Int[Tensor, "N"],
    cache: DecoderCache,
    memory_mask: Bool[Tensor, "B 1 1 S"],
) -> Float[Tensor, "N V"]:
    """Feed one new token to each row: the logits of the token that follows it.

    The same as the last position of `model.decode` on the whole target so far. What it computes for
    the new position goes into the cache.

    Args:
        model: the model the cache was made for.
        tokens: the newest token of each row; `<sos>` in the first step.
        cache: of everything before these tokens.
        memory_mask: of the sentences in the cache, as `padding_mask(source)` makes it.

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
    for layer, kept in zip(model.decoder.layers, cache.layers, strict=True):
        x = layer_step(layer, x, kept, memory_mask)  # (N, 1, D)
    return model.output(model.decoder.norm(x)).squeeze(1)  # (N, V)


def layer_step(
    layer: DecoderLayer,
    x: Float[Tensor, "N 1 D"],
    kept: LayerCache,
    memory_mask: Bool[Tensor, "B 1 1 S"],
) -> Float[Tensor, "N 1 D"]:
    """`DecoderLayer.forward` for the newest position alone; earlier ones come from the cache."""

    def self_attention(y: Tensor) -> Tensor:  # (N, 1, D)
        keys, values = layer.self_attention.keys_and_values(y, y)  # (N, H, 1, K)
        kept.keys = torch.cat([kept.keys, keys], dim=2)  # (N, H, T, K)
        kept.values = torch.cat([kept.values, values], dim=2)  # (N, H, T, K)
        # No mask: all that is kept is the past, and none of it is padding.
        return _attend(layer.self_attention, y, kept.keys, kept.values)

    def cross_attention(y: Tensor) -> Tensor:  # (B, W, D)
        return _attend(layer.cross_attention, y, kept.memory_keys, kept.memory_values, memory_mask)

    x = layer.self_residual(x, self_attention)  # (N, 1, D)
    # The beams of a sentence are several queries to one memory, which is kept only once.
    beams = x.view(len(kept.memory_keys), -1, x.size(-1))  # (N, 1, D) → (B, W, D)
    beams = layer.cross_residual(beams, cross_attention)  # (B, W, D)
    return layer.feed_forward_residual(beams, layer.feed_forward).view_as(x)  # (N, 1, D)


def _attend(
    attention: MultiHeadAttention,
    query: Tensor,
    keys: Tensor,
    values: Tensor,
    mask: Tensor | None = None,
) -> Tensor:
    """`MultiHeadAttention.forward` with keys and values that are projected already."""
    q = attention.split_heads(attention.query(query))  # (B, H, T, K)
    return attention.output(attention.merge_heads(attention.attend(q, keys, values, mask)))


def can_be_cached(model: Model) -> bool:
    """Whether a search may use `decode_step` for `model.decode`, computing each position once.

    The decoder must be causal, and every part of it the book's own: `decode_step` takes the place
    of the `forward` of the decoder, its layers and their attentions, so it would ignore
    whatever someone has changed there. (It ignores forward hooks on these too; hooks on what they
    contain, the projections, norms and feed-forward networks, are called.)
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
        """As `DecoderCache.select`."""


def new_stepper(model: Model, source: Int[Tensor, "B S"], cached: bool) -> Stepper:
    """Nothing decoded yet: one row for each source, cached if asked for and possible."""
    cached = cached and can_be_cached(model)
    if isinstance(model, DecoderOnly):
        return (_OneStackCached if cached else _OneStackUncached)(model, source)
    return (_Cached if cached else _Uncached)(model, source)


class _Cached:
    """Each position computed once: the logits of `_Uncached`, but faster."""

    def __init__(self, model: Transformer, source: Tensor) -> None:
        self.model = model
        self.memory_mask = padding_mask(source)  # (B, 1, 1, S)
        self.cache = DecoderCache(model, model.encode(source, self.memory_mask))

    def step(self, tokens: Tensor) -> Tensor:
        return decode_step(self.model, tokens, self.cache, self.memory_mask)

    def select(self, rows: Tensor) -> None:
        self.memory_mask = self.memory_mask[self.cache.select(rows)]  # (B', 1, 1, S)


class _Uncached:
    """Decodes the whole target so far at every step: plain, and right for any model."""

    def __init__(self, model: Transformer, source: Tensor) -> None:
        self.model = model
        self.memory_mask = padding_mask(source)  # (N, 1, 1, S)
        self.memory = model.encode(source, self.memory_mask)  # (N, S, D)
        self.target = source.new_empty(len(source), 0)  # (N, 0)

    def step(self, tokens: Tensor) -> Tensor:
        self.target = torch.cat([self.target, tokens[:, None]], dim=1)  # (N, T)
        vectors = self.model.decode(self.target, self.memory, self.memory_mask)  # (N, T, D)
        return self.model.output(vectors[:, -1])  # (N, V)

    def select(self, rows: Tensor) -> None:
        rows = rows.flatten()  # (N',)
        self.target = self.target.index_select(0, rows)  # (N', T)
        self.memory = self.memory.index_select(0, rows)  # (N', S, D)
        self.memory_mask = self.memory_mask.index_select(0, rows)  # (N', 1, 1, S)


class _OneStackCached:
    """As `_Cached`, for a decoder-only model: the source comes first in what is kept."""

    def __init__(self, model: DecoderOnly, source: Tensor) -> None:
        self.model, self.cache = model, model.new_cache()
        model.vectors(source, model.prefix_of(source), self.cache)

    def step(self, tokens: Tensor) -> Tensor:
        vectors = self.model.vectors(tokens[:, None], cache=self.cache)  # (N, 1, D)
        return self.model.output(vectors).squeeze(1)  # (N, V)

    def select(self, rows: Tensor) -> None:
        self.cache.select(rows.flatten())


class _OneStackUncached:
    """As `_Uncached`, for a decoder-only model."""

    def __init__(self, model: DecoderOnly, source: Tensor) -> None:
        self.model, self.source = model, source
        self.target = source.new_empty(len(source), 0)  # (N, 0)

    def step(self, tokens: Tensor) -> Tensor:
        self.target = torch.cat([self.target, tokens[:, None]], dim=1)  # (N, T)
        return self.model(self.source, self.target)[:, -1]  # (N, V)

    def select(self, rows: Tensor) -> None:
        rows = rows.flatten()  # (N',)
        self.source, self.target = self.source[rows], self.target[rows]  # (N', S), (N', T)
