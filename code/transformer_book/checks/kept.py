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
from transformer_book.checks.running import copied

MUTABLE = (list, dict, set, bytearray, Tensor)
OF_TORCH = frozenset(vars(torch.nn.Module()))
ABSENT = type(None)  # a name that was not there: a class is copied as itself


def mutable_defaults(function: Any) -> list[str]:
    """The arguments whose default value is made once, and which a call may change."""
    return list(_mutable(function))


def _mutable(made: Any) -> dict[str, Any]:
    return {name: x for name, x in _defaults(_function(made)).items() if isinstance(x, MUTABLE)}


def _defaults(function: types.FunctionType | None) -> dict[str, Any]:
    """The default values of a function, by the names of its arguments."""
    if function is None:
        return {}
    values = function.__defaults__ or ()
    end = function.__code__.co_argcount
    names = function.__code__.co_varnames[end - len(values) : end]
    return {**dict(zip(names, values, strict=True)), **(function.__kwdefaults__ or {})}


def _function(made: Any) -> types.FunctionType | None:
    """The function that is called: the object itself, or that behind a method or an object."""
    if isinstance(made, functools.partial):
        return _function(made.func)
    if isinstance(made, types.FunctionType):
        return made
    if isinstance(made, types.MethodType):
        return _function(made.__func__)
    kind = made if isinstance(made, type) else type(made)
    found = getattr(kind, "forward" if issubclass(kind, torch.nn.Module) else "__call__", None)
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
    """A copy of what it holds, to compare it with later; `None` if that cannot be copied."""
    try:
        return copied(_plain(made))
    except Exception:
        return None


def _plain(made: Any) -> dict[str, Any]:
    """An object's own attributes, a module's buffers among them, and default values."""
    found = _mutable(made)
    if isinstance(made, types.FunctionType):
        return found
    owner = _owner(made)
    buffers = getattr(owner, "_buffers", None)
    own = {**vars(owner), **(buffers if isinstance(buffers, dict) else {})}
    return found | {n: x for n, x in own.items() if n not in OF_TORCH and not n.startswith("__")}


def changed(
    made: Any, before: dict[str, Any] | None, right: Callable[[], bool] | None = None
) -> list[str]:
    """The names of what differs from before; of these, only what makes a later call `right`.

    That is, if it is put back: none, if this does not make it right, or if it is right as it is
    and more than one differs.
    """
    if before is None:
        return []
    now = _plain(made)
    names = [name for name in now if _other(now, before, name)]
    if right is None or not names:
        return names
    try:
        now = copied({name: now[name] for name in names})

        def put_back(some: Sequence[str]) -> bool:
            _put(made, {name: (before if name in some else now).get(name, ABSENT) for name in now})
            return right()

        needed = names if put_back(names) else []
        for name in needed if names[1:] else ():
            fewer = [each for each in needed if each != name]
            needed = fewer if put_back(fewer) else needed
        _put(made, now)
    except Exception:  # what cannot be copied or set is not named
        return []
    return needed


def _put(made: Any, state: dict[str, Any]) -> None:
    """Let it hold copies of this, and not what is absent."""
    function, owner = _function(made), _owner(made)
    defaults = _defaults(function)
    for name, value in copied(state).items():
        if function is not None and name in defaults:
            defaults[name] = value
            more = function.__kwdefaults__ or {}
            function.__defaults__ = tuple(x for n, x in defaults.items() if n not in more) or None
            function.__kwdefaults__ = {n: defaults[n] for n in more} or None
        elif value is ABSENT:
            delattr(owner, name)
        else:
            setattr(owner, name, value)


def _other(now: dict[str, Any], before: dict[str, Any], name: str) -> bool:
    try:
        return name not in before or not (
            same(now[name], before[name])
            if isinstance(now[name], (Tensor, dict, list, tuple))
            else bool(now[name] == before[name])
        )
    except Exception:  # what cannot be compared is not named
        return False


def cause(made: Any, names: Sequence[str]) -> str:
    """What keeps something, and what to write instead."""
    if defaults := [name for name in mutable_defaults(made) if name in names]:
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
