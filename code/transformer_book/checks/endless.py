"""Is this an endless loop? Said only of a loop that was seen to be one, in one of two ways.

There is no way out of it: from where the function stands, no `return`, `break` or `raise` can be
reached, and whoever called it catches no exception that could end it. Or it goes round and nothing
changes: everything that it reads is as it was a round before, so each further round must be like
the last. Where neither can be shown, nothing is claimed.
"""

from __future__ import annotations

import dis
import functools
import hashlib
import inspect
import random
from collections.abc import Hashable, Sequence
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np
import torch

LOOKS = 400  # at the state of the frames; each compares all that they read
LARGEST = 200_000  # entries of a tensor, or items altogether, that are compared
# What these modules compute depends on the arguments alone, and on the random state.
PURE = {
    "builtins",
    "collections",
    "copy",
    "functools",
    "itertools",
    "jaxtyping",
    "math",
    "numpy",
    "operator",
    "torch",
    "typing",
}
IMPURE = {"input", "open", "breakpoint", "exec", "eval", "__import__"}
ENDS = {"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "YIELD_VALUE", "RETURN_GENERATOR", "SEND"}


def no_way_out(code: CodeType, at: int) -> bool:
    """Whether no `return` and no `raise` can be reached from the byte `at` of the code.

    An exception that something else raises would still end it, unless a handler catches it: ways
    through handlers count. Whether a caller would catch it is asked with `may_catch`.
    """
    steps = list(dis.get_instructions(code))
    place = {step.offset: i for i, step in enumerate(steps)}
    handlers = _handlers(code)
    if handlers is None:
        return False
    jumps = {*dis.hasjrel, *dis.hasjabs}
    start = max((i for i, step in enumerate(steps) if step.offset <= at), default=0)
    todo, seen = [start], set()
    while todo:
        i = todo.pop()
        if i in seen or i >= len(steps):
            continue
        seen.add(i)
        step = steps[i]
        if step.opname in ENDS:
            return False
        todo += [place[h.target] for h in handlers if h.start <= step.offset < h.end]
        if step.opcode in jumps:
            todo.append(place[step.argval])
        if step.opname != "RERAISE" and not step.opname.startswith(
            ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_ABSOLUTE")
        ):
            todo.append(i + 1)
    return True


def may_catch(code: CodeType, at: int) -> bool:
    """Whether an exception that is raised at the byte `at` of the code meets a handler there."""
    handlers = _handlers(code)
    return handlers is None or any(each.start <= at < each.end for each in handlers)


def _handlers(code: CodeType) -> Sequence[Any] | None:
    """The parts of a code that exceptions do not leave at once; `None` if Python does not say."""
    found = getattr(dis.Bytecode(code), "exception_entries", None)
    return None if found is None and code.co_exceptiontable else found or ()


class Unknown(Exception):
    """A value that may have changed without anyone being able to tell."""


class Repetition:
    """Looks at running frames line by line, until one is found as it was before.

    Attributes:
        found: whether one was.
        ended: nothing is looked at any more.
    """

    def __init__(self, frames: Sequence[FrameType]) -> None:
        self.found = self.ended = False
        self.looks = 0
        self.seen: set[Hashable] = set()
        self.frames = frames
        for frame in frames:
            frame.f_trace = self.look

    def look(self, frame: FrameType, event: str, _: object) -> Any:
        """A trace function of a frame; give `sys.settrace` one that traces nothing new."""
        if event != "line" or self.found or self.ended or self.looks >= LOOKS:
            return self.look
        self.looks += 1
        if frame.f_lineno in _lines_of_for(frame.f_code):
            self.seen.clear()  # its iterator, which nobody can look into, goes on
            return self.look
        try:
            state = (id(frame), frame.f_lasti, _state(frame))
        except (Unknown, RecursionError):
            frame.f_trace = None  # the next round would not say more of it
            return None
        self.found = state in self.seen
        self.seen.add(state)
        return self.look

    def end(self) -> None:
        """Look no more."""
        self.ended = True
        for frame in self.frames:
            frame.f_trace = None


@functools.cache
def _lines_of_for(code: CodeType) -> frozenset[int]:
    """The lines at which a `for` takes its next item."""
    line, found = 0, set()
    for step in dis.get_instructions(code):
        line = step.starts_line if isinstance(step.starts_line, int) else line
        line = getattr(step, "line_number", None) or line
        if step.opname == "FOR_ITER":
            found.add(line)
    return frozenset(found)


def _state(frame: FrameType) -> Hashable:
    """All that the frame's next round can depend on."""
    reader = _Reader()
    variables = tuple((name, reader.value(value)) for name, value in sorted(frame.f_locals.items()))
    named = reader.names(frame.f_code, frame.f_globals)
    chance = random.getstate(), torch.get_rng_state().numpy().tobytes()
    numpys = np.random.get_state()
    return hash((variables, named, chance, numpys[1].tobytes(), numpys[2]))


class _Reader:
    """Makes of any value something that is equal if and only if the value is."""

    def __init__(self) -> None:
        self.known: set[int] = set()
        self.left = LARGEST

    def value(self, value: Any) -> Hashable:
        self.left -= 1
        if self.left < 0:
            raise Unknown
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes, range)):
            return type(value).__name__, repr(value)
        kind = type(value)
        if kind in (torch.Tensor, torch.nn.Parameter):
            return self._tensor(value)
        if kind in (torch.dtype, torch.device, torch.Size, slice, type(...)):
            return repr(value)
        if kind in (list, tuple, set, frozenset, dict):
            items = value.items() if kind is dict else value
            parts = tuple(self.value(item) for item in items)
            return kind.__name__, frozenset(parts) if kind in (set, frozenset) else parts
        if isinstance(value, (type, BuiltinFunctionType, ModuleType)):
            return self._constant(value)
        if isinstance(value, FunctionType):
            return self._function(value)
        if inspect.ismethod(value):
            return self.value(value.__func__), self.value(value.__self__)
        if isinstance(value, torch.nn.Module) and id(value) not in self.known:
            self.known.add(id(value))
            return id(value), self.value(vars(value))
        if id(value) in self.known:
            return id(value)
        raise Unknown

    def _tensor(self, tensor: torch.Tensor) -> Hashable:
        self.left -= tensor.numel()
        if self.left < 0 or tensor.layout is not torch.strided or tensor.device.type != "cpu":
            raise Unknown
        numbers = tensor.detach().contiguous().view(-1).view(torch.uint8).numpy()
        return str(tensor.dtype), tensor.shape, hashlib.blake2b(numbers.tobytes()).digest()

    def _constant(self, value: Any) -> Hashable:
        module = value.__name__ if isinstance(value, ModuleType) else value.__module__
        if (module or "builtins").split(".")[0].lstrip("_") not in PURE:
            raise Unknown
        if getattr(value, "__name__", "") in IMPURE:
            raise Unknown
        return id(value)

    def _function(self, function: FunctionType) -> Hashable:
        """A function, with what it keeps from call to call."""
        if (function.__module__ or "").split(".")[0] in PURE or id(function) in self.known:
            return id(function)
        self.known.add(id(function))
        kept = inspect.getclosurevars(function).nonlocals
        return (
            id(function),
            self.value(dict(kept)),
            self.value(function.__defaults__),
            self.value(vars(function)),
            self.names(function.__code__, function.__globals__),
        )

    def names(self, code: CodeType, module: dict[str, Any]) -> Hashable:
        """What a code reads from its module; names in it that are none of the module's are left."""
        if any(name in IMPURE and name not in module for name in code.co_names):
            raise Unknown
        return tuple((n, self.value(module[n])) for n in sorted(code.co_names) if n in module)
