"""What a learner has written, as code: whether it is still a stub, and its lines."""

from __future__ import annotations

import dis
import functools
import inspect
import traceback
from collections.abc import Callable
from types import CodeType
from typing import Any

from torch import nn

from transformer_book.checks.classes import is_class
from transformer_book.checks.comparing import brief


def must_be_callable(function: object, check: str) -> None:
    """Raise `TypeError` for anything that is not a function."""
    if not callable(function):
        raise TypeError(
            f"checks.{check} takes your function itself, not {brief(function)}: write "
            f"its name without parentheses."
        )


def is_untouched(function: object) -> bool:
    """A stub nobody has written into: only a docstring, `pass`, `...` or `return None`."""
    code = code_of(function) if callable(function) else None
    if code is None:
        return False
    trivial = {"RESUME", "NOP", "LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "COPY_FREE_VARS"}
    constants = [step.argval for step in dis.get_instructions(code) if "CONST" in step.opname]
    return (
        all(step.opname in trivial for step in dis.get_instructions(code))
        and set(map(repr, constants)) <= {"None"}
    ) or _raises_not_implemented(code)


def _raises_not_implemented(code: Any) -> bool:
    names = [step.argval for step in dis.get_instructions(code) if "GLOBAL" in step.opname]
    raises = any(step.opname == "RAISE_VARARGS" for step in dis.get_instructions(code))
    return raises and names == ["NotImplementedError"]


def learners_line(error: BaseException, function: Callable[..., Any]) -> int | None:
    """The last line of the learner's own file in a traceback."""
    code = code_of(function)
    file = code.co_filename if code else None
    frames = [
        frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file
    ]
    return frames[-1].lineno if frames else None


def last_line(function: Callable[..., Any]) -> int | None:
    """The last line of what the learner wrote."""
    code = code_of(function)
    lines = [line for *_, line in code.co_lines() if line] if code else []
    return max(lines, default=None)


def code_of(function: Any) -> CodeType | None:
    """The code the learner wrote in a function, method, partial, module or callable object."""
    if isinstance(function, functools.partial):
        return code_of(function.func)
    if isinstance(function, nn.Module) or is_class(function):
        kind = function if isinstance(function, type) else type(function)
        function = getattr(kind, "forward", None)  # compiled ones have none
    elif not hasattr(function, "__code__") and not hasattr(function, "__wrapped__"):
        function = getattr(type(function), "__call__", None)  # noqa: B004
    return getattr(inspect.unwrap(function), "__code__", None)
