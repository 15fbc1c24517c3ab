"""Is a part of a model as the book and PyTorch have it? Short cuts past a part ask here."""

from __future__ import annotations

from torch import nn

KNOWN = {"transformer_book", "torch"}


def is_changed(part: nn.Module, method: str | None = None, *, hooks: bool = False) -> bool:
    """Whether a part is someone's own: its class, a method of it, or what hangs on it.

    Args:
        part: a module of a model.
        method: also whether another stands in this one's place, on the class or on this object.
        hooks: also whether PyTorch would call a hook with it. PyTorch has no public way to ask; its
            dictionaries of hooks are read here and nowhere else.
    """
    origins = {type(part).__module__.split(".")[0]}
    if method is not None:
        if method in vars(part):
            return True
        origins.add(getattr(type(part), method).__module__.split(".")[0])
    hung = hooks and any(there for name, there in vars(part).items() if name.endswith("_hooks"))
    return bool(origins - KNOWN or hung)
