"""Bad input answered in one sentence: the offending value, the limit, and the remedy.

These checks stand beside the model so that its `forward` methods hold nothing but the model. The
module imports nothing heavy, since tokenizers and captions answer without torch: whoever has a
tensor to be checked has loaded it.
"""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Iterable
from numbers import Integral, Real
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


def check_choice(what: str, value: object, choices: Iterable[str]) -> None:
    """Raise `ValueError` unless `value` is one of `choices`; suggest the nearest.

    Args:
        what: what is chosen, as the sentence begins: `"language"`.
        value: what was given.
        choices: the names that are known.
    """
    names = tuple(choices)
    if isinstance(value, str) and value in names:
        return
    near = difflib.get_close_matches(str(value), names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    raise ValueError(f"{what} is {value!r}, but it must be one of {', '.join(names)}{hint}")


def is_number(value: object) -> bool:
    """Whether this is one finite real number; `True` and `False` do not count."""
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # a whole number larger than any float
        return False


def check_positive(**values: int) -> None:
    """Raise `ValueError` for the first value that is not an integer of at least 1."""
    for name, value in values.items():
        if _left_open(value):
            continue
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} is {value!r}, but it must be a whole number of at least 1.")


def _left_open(value: object) -> bool:
    """Whether this is a length that torch.export leaves open."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.SymInt)


def check_probability(**values: float) -> None:
    """Raise `ValueError` for the first value outside [0, 1)."""
    for name, value in values.items():
        if not isinstance(value, Real) or isinstance(value, bool) or not 0 <= value < 1:
            raise ValueError(f"{name} is {value!r}, but it must be at least 0 and below 1.")


def check_switch(**values: bool) -> None:
    """Raise `ValueError` for the first value that is neither `True` nor `False`."""
    for name, value in values.items():
        if not isinstance(value, bool):
            raise ValueError(f"{name} is {value!r}, but it must be True or False.")


def check_scale(**values: float | None) -> None:
    """Raise `ValueError` for the first value that is neither `None` nor a positive number."""
    for name, value in values.items():
        if value is not None and not (is_number(value) and value > 0):
            raise ValueError(f"{name} is {value!r}, but it must be None or a positive number.")


def check_heads(d_model: int, n_heads: int) -> None:
    """Raise `ValueError` unless d_model can be shared out equally among the heads."""
    check_positive(d_model=d_model, n_heads=n_heads)
    if d_model % n_heads:
        fits = [n for n in range(1, d_model + 1) if d_model % n == 0]
        raise ValueError(
            f"d_model = {d_model} is not divisible by n_heads = {n_heads}; "
            f"choose n_heads among {', '.join(map(str, fits))}."
        )


def check_even(what: str, size: int) -> None:
    """Raise `ValueError` unless `size` is even."""
    if size % 2:
        raise ValueError(f"{what} needs an even size, not {size}; use {size + 1}.")


def check_width(what: str, x: torch.Tensor, d_model: int) -> None:
    """Raise `ValueError` unless the vectors in `x` are `d_model` wide."""
    if x.dim() == 0 or x.size(-1) != d_model:
        raise ValueError(
            f"{what} has shape {tuple(x.shape)}, but its last axis must have the width {d_model}."
        )


def check_features(what: str, x: torch.Tensor, d_model: int) -> None:
    """Raise `ValueError` unless `x` is a non-empty (B, T, d_model)."""
    if x.dim() != 3 or x.size(-1) != d_model:
        raise ValueError(
            f"{what} has shape {tuple(x.shape)}, but it must be (batch, length, {d_model})."
        )
    if x.numel() == 0:
        raise ValueError(f"{what} has shape {tuple(x.shape)}: it is empty; pass at least one row.")


def check_length(length: int, max_length: int) -> None:
    """Raise `ValueError` if a sequence is longer than the positions reach."""
    if length > max_length:
        raise ValueError(
            f"The sequence has {length} positions, but max_length is {max_length}; shorten it or "
            f"build the model with max_length={length} or more."
        )


def check_token_batch(tokens: torch.Tensor) -> None:
    """Raise `ValueError` unless `tokens` is a non-empty (B, T) of whole numbers."""
    import torch

    if not isinstance(tokens, torch.Tensor) or tokens.dtype not in (torch.int64, torch.int32):
        kind = tokens.dtype if isinstance(tokens, torch.Tensor) else type(tokens).__name__
        raise ValueError(
            f"Token ids have the type {kind}, but they must be a tensor of whole numbers, "
            "torch.int64 or torch.int32."
        )
    if tokens.dim() != 2:
        raise ValueError(
            f"Token ids have shape {tuple(tokens.shape)}, but it must be (batch, length); add a "
            "batch axis to a single sentence with tokens[None]."
        )
    if tokens.numel() == 0:
        raise ValueError(f"The batch of token ids is empty: its shape is {tuple(tokens.shape)}.")


def check_tokens(tokens: torch.Tensor, vocab_size: int) -> None:
    """Raise `ValueError` unless `tokens` is a non-empty (B, T) of ids below `vocab_size`.

    The ids themselves are read on the CPU only: elsewhere, reading one value would make the
    processor wait for the device at every call.
    """
    import torch

    check_token_batch(tokens)
    if tokens.device.type != "cpu" or torch.compiler.is_compiling():
        return
    low, high = tokens.min().item(), tokens.max().item()
    if low < 0 or high >= vocab_size:
        raise ValueError(
            f"Token id {low if low < 0 else high} is outside the vocabulary of {vocab_size} "
            f"entries (0 to {vocab_size - 1}); encode the text with this model's vocabulary."
        )


def check_mask(mask: torch.Tensor | None, shape: tuple[int, ...]) -> None:
    """Raise `ValueError` unless `mask` is boolean and broadcasts to `shape` (B, H, T, S).

    A (B, T, S) mask is refused although it may broadcast by accident (when B equals H): it would
    then mask head number b instead of sentence number b.
    """
    import torch

    if mask is None:
        return
    if mask.dtype != torch.bool:
        raise ValueError(
            f"The mask has type {mask.dtype}, but it must be boolean, True where attention is "
            "allowed; write mask.bool(), or mask == 0 for an additive mask of 0 and -inf."
        )
    if mask.dim() < 2:
        raise ValueError(
            f"The mask has shape {tuple(mask.shape)}, but it needs at least the two axes "
            "(queries, keys); write mask[None] for one that is the same for all queries."
        )
    if mask.dim() == 3 and len(shape) == 4:
        raise ValueError(
            f"The mask has shape {tuple(mask.shape)}: with three axes it is unclear whether the "
            "first counts sentences or heads; add the missing axis, as in mask.unsqueeze(1)."
        )
    fits = mask.dim() <= len(shape) and all(
        size in (1, wanted) for size, wanted in zip(mask.shape[::-1], shape[::-1], strict=False)
    )
    if not fits:
        raise ValueError(
            f"The mask has shape {tuple(mask.shape)}, which does not broadcast to the scores' "
            f"{shape} (the last two axes are queries and keys)."
        )


def check_padding_mask(mask: torch.Tensor, name: str) -> None:
    """Raise `ValueError` unless `mask` has the four axes of a padding mask, (B, 1, 1, S).

    A (B, S) mask is refused although it may fit by accident (when B equals the number of queries):
    it would then hide keys by query instead of by sentence.
    """
    if mask.dim() != 4:
        raise ValueError(
            f"{name} has shape {tuple(mask.shape)}, but it must be (batch, 1, 1, length), as "
            "padding_mask(source) makes it."
        )


def check_keys_and_values(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
    """Raise `ValueError` unless each key has its value, and each query sentence its keys."""
    if key.shape[:2] != value.shape[:2]:
        raise ValueError(
            f"There are keys of shape {tuple(key.shape)} and values of shape {tuple(value.shape)}; "
            "each key needs exactly one value."
        )
    if query.size(0) != key.size(0):
        raise ValueError(
            f"The query has {query.size(0)} sentences and the key {key.size(0)}; attention stays "
            "inside a sentence, so both need equally many."
        )


def check_same_batch(source: torch.Tensor, target: torch.Tensor) -> None:
    """Raise `ValueError` unless source and target hold equally many sentences."""
    check_token_batch(source)
    check_token_batch(target)
    if source.size(0) != target.size(0):
        raise ValueError(
            f"The source has {source.size(0)} sentences and the target {target.size(0)}; "
            "every source needs exactly one target."
        )
