"""What a function, an instance or a module keeps from one call to the next, and what it says."""

from __future__ import annotations

import copy
import dis
import types
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks.comparing import same
from transformer_book.checks.running import copied

MUTABLE = (list, dict, set, bytearray, Tensor)
OF_TORCH = frozenset(vars(torch.nn.Module()))
Places = dict[str, tuple[dict[str, Any], str]]
ABSENT = type(None)  # a name that was not there: a class is copied as itself


class _Defaults(dict[str, Any]):
    """The default values of a function, by the names of its arguments; one can be set."""

    def __init__(self, function: types.FunctionType) -> None:
        values, code = function.__defaults__ or (), function.__code__
        names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
        super().__init__(zip(names, values, strict=True), **(function.__kwdefaults__ or {}))
        self.function = function

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        more = self.function.__kwdefaults__ or {}
        self.function.__defaults__ = tuple(x for n, x in self.items() if n not in more) or None
        self.function.__kwdefaults__ = {n: self[n] for n in more} or None


class _Held(dict[str, Any]):
    """What a class holds, by names; one can be set."""

    def __init__(self, owner: type) -> None:
        held = {n: x for n, x in vars(owner).items() if not n.startswith("__")}
        super().__init__(
            (n, x) for n, x in held.items() if not (callable(x) or hasattr(x, "__get__"))
        )
        self.owner = owner

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        setattr(self.owner, name, value)

    def pop(self, name: str, *default: Any) -> Any:
        if name in self:
            delattr(self.owner, name)
        return super().pop(name, *default)


def mutable_defaults(made: Any) -> list[str]:
    """The arguments whose default value is made once, and which a call may change."""
    function = _function(made)
    defaults = {} if function is None else _Defaults(function)
    return [name for name, value in defaults.items() if isinstance(value, MUTABLE)]


def _function(made: Any) -> types.FunctionType | None:
    """The function that is called: the object itself, or that behind a method or an object."""
    if isinstance(made, partial):
        return _function(made.func)
    if isinstance(made, types.FunctionType):
        return made
    if isinstance(made, types.MethodType):
        return _function(made.__func__)
    kind = made if isinstance(made, type) else type(made)
    found = getattr(kind, "forward" if issubclass(kind, torch.nn.Module) else "__call__", None)
    return found if isinstance(found, types.FunctionType) else None


def _owner(made: Any) -> Any:
    """The object that keeps something: this one, or the one whose method this is."""
    return made.__self__ if isinstance(made, types.MethodType) else made


def _places(made: Any) -> Places:
    """Where it may keep something, as a learner writes it: a dictionary, and a name in that.

    These are an object's own attributes, a module's buffers among them; default values; and of
    all functions of the same file that take part, attributes and names outside.
    """
    function, owner = _function(made), _owner(made)
    found: Places = {}
    for each in _reached(function) if function is not None else ():
        space, own, named = each.__globals__, vars(each), _named(each.__code__)
        outside = {name for name in named if isinstance(space.get(name), MUTABLE)}
        outside |= _stored(each.__code__, "STORE_GLOBAL")
        found |= {name: (space, name) for name in sorted(outside)}
        attributes = _stored(each.__code__, "STORE_ATTR") if each.__name__ in named else set()
        attributes |= {name for name in own if not name.startswith("__")}
        found |= {f"{each.__name__}.{name}": (own, name) for name in sorted(attributes)}
        for name in sorted(named):
            if _of_own_class(other := space.get(name), each):
                found |= {f"{name}.{key}": (vars(other), key) for key in vars(other)}
    if function is not None:
        values = _Defaults(function)
        found |= {name: (values, name) for name in mutable_defaults(function)}
    for each in _classes(owner, function):
        held = _Held(each)
        own = [x for x in vars(each).values() if isinstance(x, types.FunctionType)]
        set_there = {name for f in own for name in _stored(f.__code__, "STORE_ATTR")}
        names = {name for name, x in held.items() if isinstance(x, MUTABLE) or name in set_there}
        found |= {f"{each.__name__}.{name}": (held, name) for name in sorted(names)}
    if not isinstance(owner, (types.FunctionType, type)):
        holders = vars(owner), getattr(owner, "_buffers", None) or {}
        found |= {
            f"self.{name}": (holder, name)
            for holder in holders
            for name in holder
            if name not in OF_TORCH and not name.startswith("__")
        }
    return found


def _of_own_class(value: Any, function: types.FunctionType) -> bool:
    """Whether it is an object of a plain class of the same file, which may change."""
    kind = type(value)
    own = kind.__module__ == function.__module__ and not issubclass(kind, torch.nn.Module)
    return own and not isinstance(value, type) and hasattr(value, "__dict__")


def _classes(owner: Any, function: types.FunctionType | None) -> list[type]:
    """The class of an object, and those of the same file that its function names."""
    if function is None:
        return []
    named = [function.__globals__.get(name) for name in sorted(_named(function.__code__))]
    kinds = [owner if isinstance(owner, type) else type(owner), *named]
    here = [k for k in kinds if isinstance(k, type) and k.__module__ == function.__module__]
    return list(dict.fromkeys(here))


def _reached(function: types.FunctionType) -> list[types.FunctionType]:
    """A function, and those of the same file that it calls."""
    found = [function]
    for each in found:
        for name in sorted(_named(each.__code__)):
            other = each.__globals__.get(name)
            if not isinstance(other, types.FunctionType) or other in found:
                continue
            if other.__code__.co_filename == function.__code__.co_filename:
                found.append(other)
    return found


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _codes(inner)


def _named(code: types.CodeType) -> set[str]:
    """The names outside a function that its code may read."""
    return {name for each in _codes(code) for name in each.co_names}


def _stored(code: types.CodeType, by: str) -> set[str]:
    """The names that its code sets: outside it (behind `global`), or as attributes."""
    steps = [step for each in _codes(code) for step in dis.get_instructions(each)]
    return {step.argval for step in steps if step.opname == by}


def _state(places: Places) -> dict[str, Any]:
    """What stands there now."""
    return {name: holder.get(key, ABSENT) for name, (holder, key) in places.items()}


def _put(places: Places, state: dict[str, Any]) -> None:
    """Let this stand there, and nothing where it says nothing."""
    for name, (holder, key) in places.items():
        value = state.get(name, ABSENT)
        if value is not ABSENT:
            holder[key] = value
        else:
            holder.pop(key, None)


def anew(made: Any) -> Callable[..., Any] | None:
    """The same, but starting every call from its present state: no call affects the next.

    `None` if there is nothing in which it could keep something, or if that cannot be copied.
    """
    try:
        first = _places(made)
        if not first and (isinstance(made, types.FunctionType) or not vars(_owner(made))):
            return None
        twin, before = copy.deepcopy(made), copied(_state(first))
    except Exception:  # people keep what cannot be copied
        return None

    def fresh(*given: Any, **more: Any) -> Any:
        now = _state(places := first | _places(made))
        _put(places, copied(before))
        try:
            return copy.deepcopy(twin)(*given, **more)
        finally:
            _put(places | _places(made), now)

    return fresh


def attributes(made: Any) -> dict[str, Any] | None:
    """A copy of what it holds, to compare it with later; `None` if that cannot be copied."""
    try:
        return copied(_state(_places(made)))
    except Exception:
        return None


def hold_alike(new: Any, made: Any, before: dict[str, Any] | None) -> None:
    """Let an object of a changed class hold what this one held `before`, or holds now."""
    vars(new).update(copy.deepcopy(vars(_owner(made))))
    own = {name: place for name, place in _places(new).items() if name.startswith("self.")}
    if before is not None:
        _put(own, copied({name: before[name] for name in own if name in before}))


def restore(made: Any, before: dict[str, Any] | None) -> None:
    """Let it hold what it held before, where that differs: the next check finds it as this did."""
    if before is not None:
        places = _places(made)
        now = _state(places)
        _put({n: place for n, place in places.items() if _other(now, before, n)}, before)


def changed(
    made: Any,
    before: dict[str, Any] | None,
    right: Callable[[], bool],
    since: dict[str, Any] | None = None,
) -> list[str]:
    """The names of what differs from before and makes a later call `right` if it is put back.

    None, if this does not make it right, or if it is right as it is and more than one differs. What
    differs is what does now, or did `since`: a call that was wrong may have used up what made it
    so. Then one that does not make it right, if it alone differs, is not named, either.
    """
    if before is None:
        return []
    places = _places(made)
    now = since or _state(places)
    names = [name for name in now if name in places and _other(now, before, name)]
    try:
        now = copied({name: now[name] for name in names})
        places = {name: places[name] for name in names}

        def put_back(some: Sequence[str]) -> bool:
            _put(places, copied({n: (before if n in some else now).get(n, ABSENT) for n in now}))
            return right()

        needed = names if names and put_back(names) else []
        for name in needed if since or names[1:] else ():
            fewer = [each for each in needed if each != name]
            needed = fewer if put_back(fewer) else needed
        _put(places, now)
    except Exception:  # what cannot be copied or set is not named
        return []
    return needed


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
        return (
            f"What a call leaves in {_list(names)} is still there in the next call: compute it "
            "anew each time."
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


def nudged(value: Any) -> Any:
    """A whole number made one less, where it is more than 0."""
    return value - 1 if type(value) is int and value > 0 else value


def twice(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same with every sentence twice; a mask for all sentences stays as it is."""

    def doubled(x: Any) -> Any:
        if not isinstance(x, Tensor) or (x.dtype == torch.bool and x.dim() < 4):
            return x
        return torch.cat([x, x.flip(0)])

    return tuple(map(doubled, inputs))
