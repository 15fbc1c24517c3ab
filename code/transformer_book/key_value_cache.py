"""What attention need not compute again: the cache of keys and values (chapters 17, 24 and 25)."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass
class KeysAndValues:
    """What one attention keeps of the positions it has computed: `(N, G, T, K)` each."""

    keys: Float[Tensor, "N G T K"] | None = None
    values: Float[Tensor, "N G T K"] | None = None

    def extended(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """Append these, and return all that is kept now."""
        if self.keys is not None and self.values is not None:
            keys = torch.cat([self.keys, keys], dim=2)  # (N, G, T, K)
            values = torch.cat([self.values, values], dim=2)  # (N, G, T, K)
        self.keys, self.values = keys, values
        return keys, values

    def select(self, rows: Int[Tensor, "N"]) -> None:
        """Keep these rows, in this order, and drop all others; a row may be named repeatedly."""
        self.keys = self.keys.index_select(0, rows)  # (N', G, T, K)
        self.values = self.values.index_select(0, rows)  # (N', G, T, K)


@dataclass
class KeyValueCache:
    """What a model has computed so far: keys and values, layer by layer.

    A causal model never changes a vector it has computed: the future is hidden from it. So the
    keys and values of earlier positions can be kept, and a step costs one position per row
    instead of all positions anew. Each of B sentences has W rows (beams), which are adjacent:
    N = B · W.

    Attributes:
        layers: of each layer's self-attention, growing with every step, `(N, G, T, K)`.
        memory: of each layer's cross-attention, computed once, `(B, H, S, K)`: the beams of a
            sentence share its memory. A model of one stack has none.
        memory_mask: what of the memory is not padding, `(B, 1, 1, S)`.
        real: what of the positions so far is not padding, `(N, T)`, if that can be.
    """

    layers: list[KeysAndValues]
    memory: list[KeysAndValues] = field(default_factory=list)
    memory_mask: Bool[Tensor, "B 1 1 S"] | None = None
    real: Bool[Tensor, "N T"] | None = None

    @property
    def length(self) -> int:
        """Number of positions computed so far; also the position of the next token."""
        return self.layers[0].keys.size(2)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of sentences B, and of rows for each of them W."""
        n_rows = len(self.layers[0].keys)
        sentences = len(self.memory[0].keys) if self.memory else n_rows
        return sentences, n_rows // sentences

    @property
    def n_bytes(self) -> int:
        """Memory of all keys and values."""
        kept = [t for each in (*self.layers, *self.memory) for t in (each.keys, each.values)]
        return sum(t.numel() * t.element_size() for t in kept if t is not None)

    def select(self, rows: Int[Tensor, "..."]) -> None:
        """Keep these rows, in this order, and drop all others; a row may be named repeatedly.

        Args:
            rows: `(B',)`, one row for each sentence from now on; or `(B', W')`, the W' beams of
                each sentence. The rows in one line must belong to the same sentence.
        """
        sentences, width = self.shape
        rows = rows.view(len(rows), -1)  # (B', W')
        owners, rows = rows[:, 0] // width, rows.flatten()  # (B',), (N',)
        for kept in self.layers:
            kept.select(rows)
        if self.real is not None:
            self.real = self.real.index_select(0, rows)  # (N', T)
        # Most steps only exchange the beams of a sentence: its memory stays where it is.
        if self.memory and not torch.equal(owners, torch.arange(sentences, device=owners.device)):
            for kept in self.memory:
                kept.select(owners)
            self.memory_mask = self.memory_mask[owners]  # (B', 1, 1, S)
