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
    if type(part).__module__.split(".")[0] not in KNOWN:
        return True
    if method is not None and (method in vars(part) or _is_replaced(type(part), method)):
        return True
    return hooks and any(hung for name, hung in vars(part).items() if name.endswith("_hooks"))


def _is_replaced(kind: type, method: str) -> bool:
    """Whether a class has another function in a method's place than the one written there.

    Not only one from elsewhere: `checks` puts known mistakes, which are the book's, in such places.
    """
    where = next(each for each in kind.__mro__ if method in vars(each))
    function = getattr(kind, method)
    written = (where.__module__, f"{where.__qualname__}.{method}")
    return (function.__module__, function.__qualname__) != written
