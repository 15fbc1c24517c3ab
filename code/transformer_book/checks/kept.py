"""What a function, an instance or a module keeps from one call to the next, and what it says."""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.comparing import same

MUTABLE = (list, dict, set, bytearray, Tensor)


def mutable_defaults(function: Any) -> list[str]:
    """The arguments whose default value is made once, and which a call may change."""
    function = _function(function)
    if function is None:
        return []
    code = function.__code__
    positional = code.co_varnames[: code.co_argcount]
    defaults = function.__defaults__ or ()
    pairs = [*zip(positional[len(positional) - len(defaults) :], defaults, strict=True)]
    pairs += (function.__kwdefaults__ or {}).items()
    return [name for name, value in pairs if isinstance(value, MUTABLE)]


def _function(made: Any) -> types.FunctionType | None:
    """The function that is called: the object itself, or that behind a method or an object."""
    if isinstance(made, functools.partial):
        return _function(made.func)
    if isinstance(made, types.FunctionType):
        return made
    if isinstance(made, types.MethodType):
        return _function(made.__func__)
    name = "forward" if isinstance(made, torch.nn.Module) else "__call__"
    found = getattr(type(made), name, None)
    return found if isinstance(found, types.FunctionType) else None


def anew(made: Any) -> Callable[..., Any] | None:
    """The same, but starting every call from its present state: no call affects the next.

    `None` if there is nothing in which it could keep something, or if that cannot be copied.
    """
    try:
        if isinstance(made, types.FunctionType):
            return _with_its_defaults(made) if mutable_defaults(made) else None
        if not vars(_owner(made)):
            return None
        before = copy.deepcopy(made)
    except Exception:  # people keep what cannot be copied
        return None
    return lambda *given, **more: copy.deepcopy(before)(*given, **more)


def _with_its_defaults(made: types.FunctionType) -> Callable[..., Any]:
    """A function that begins every call with its default values as they are now."""
    kept = copy.deepcopy((made.__defaults__, made.__kwdefaults__))

    def fresh(*given: Any, **more: Any) -> Any:
        twin = types.FunctionType(
            made.__code__, made.__globals__, made.__name__, None, made.__closure__
        )
        twin.__defaults__, twin.__kwdefaults__ = copy.deepcopy(kept)
        return twin(*given, **more)

    return fresh


def _owner(made: Any) -> Any:
    """The object that keeps something: this one, or the one whose method this is."""
    return made.__self__ if isinstance(made, types.MethodType) else made


def attributes(made: Any) -> dict[str, Any] | None:
    """A copy of what an object holds, to compare it with later; `None` if there is none."""
    if isinstance(made, types.FunctionType):
        return None
    try:
        return copy.deepcopy(_plain(_owner(made)))
    except Exception:
        return None


def _plain(owner: Any) -> dict[str, Any]:
    """An object's own attributes, a module's buffers among them."""
    buffers = getattr(owner, "_buffers", None)
    return {**vars(owner), **(buffers if isinstance(buffers, dict) else {})}


def changed(made: Any, before: dict[str, Any] | None) -> list[str]:
    """The names of the attributes that differ from before."""
    if before is None:
        return []
    now = _plain(_owner(made))
    return [name for name in now if not name.startswith("_") and _other(now, before, name)]


def _other(now: dict[str, Any], before: dict[str, Any], name: str) -> bool:
    try:
        return name not in before or not (
            same(now[name], before[name])
            if isinstance(now[name], (Tensor, list, tuple))
            else bool(now[name] == before[name])
        )
    except Exception:  # what cannot be compared is not named
        return False


def cause(made: Any, names: Sequence[str]) -> str:
    """What keeps something, and what to write instead."""
    if defaults := mutable_defaults(made):
        return (
            f"The default value of {_list(defaults)} is made once, when the function is defined, "
            "and all calls share it: write None there, and make a new one in each call."
        )
    if names:
        own = _list([f"self.{name}" for name in names])
        return (
            f"What a call leaves in {own} is still there in the next call: compute it anew each "
            "time."
        )
    return (
        "It keeps something from one call to the next: compute everything anew from the arguments."
    )


def _list(names: Sequence[str]) -> str:
    return " and ".join(f"`{name}`" for name in names[:3])


# --- more inputs ---------------------------------------------------------------------------------


def in_a_row(given: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Inputs for one and the same module, in their order, and the first once more at the end.

    After each come two others, which a mask or result left over from the previous call would
    spoil: one of the same shapes with other numbers, and one of other shapes.
    """
    found = (x for inputs in given for x in (inputs, mirrored(inputs), twice(inputs)))
    return [*found, given[0]]


def mirrored(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same with the second axis reversed, and a mask's last one: legal wherever it was."""

    def turned(x: Any) -> Any:
        if not isinstance(x, Tensor) or x.dim() < 2:
            return x
        return x.flip(-1 if x.dtype == torch.bool else 1)

    return tuple(map(turned, inputs))


def twice(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same with every sentence twice; a mask for all sentences stays as it is."""

    def doubled(x: Any) -> Any:
        if not isinstance(x, Tensor) or (x.dtype == torch.bool and x.dim() < 4):
            return x
        return torch.cat([x, x.flip(0)])

    return tuple(map(doubled, inputs))
