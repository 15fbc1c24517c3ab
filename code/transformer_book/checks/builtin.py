"""Ready-made functions that a task may forbid (`allow_builtin=False`), and how their use is seen.

What PyTorch hands to `__torch_function__` (`F.softmax`, `Tensor.softmax`, …) is seen by a
`TorchFunctionMode`; functions written in Python, those of this package among them, are seen by
their code being run. NumPy and other libraries are not watched.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from transformer_book.checks.components import Component

PACKAGE = Path(__file__).parents[1]
TORCH = Path(torch.__file__).parent


def published(component: Component) -> str:
    """The list of a check's docstring."""
    names = component.ready_made
    if not names:
        return "With allow_builtin=False nothing more is forbidden: no ready-made function does it."
    return "With allow_builtin=False these may not be called: " + ", ".join(names) + "."


def _codes(wanted: Mapping[str, Any]) -> dict[tuple[str, str], str]:
    """Where the code of the functions written in Python stands: its file and name → our name."""
    codes = {}
    for name, function in wanted.items():
        if isinstance(function, str):
            module, _, place = function.partition(".")
            codes[str(PACKAGE / f"{module}.py"), place] = name
            continue
        # A decorator such as no_grad stands around what we look for.
        code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
        if code is not None:
            codes[code.co_filename, code.co_qualname] = name
    return codes


class _Watched(TorchFunctionMode):
    """Notes the first of these functions that PyTorch hands over, and runs all of them."""

    def __init__(
        self, wanted: dict[Any, str], note: Callable[[str, FrameType | None], None]
    ) -> None:
        super().__init__()
        self.wanted, self.note = wanted, note

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in self.wanted:
            self.note(self.wanted[func], sys._getframe(1))
        return func(*args, **(kwargs or {}))


def _module_around(frame: FrameType | None) -> str | None:
    """The PyTorch module whose `forward` made the call, as a learner knows it: `nn.Softmax`."""
    while frame is not None and str(TORCH) in frame.f_code.co_filename:
        owner = frame.f_locals.get("self")
        if frame.f_code.co_name == "forward" and isinstance(owner, nn.Module):
            return f"nn.{type(owner).__name__}"
        frame = frame.f_back
    return None


@contextlib.contextmanager
def watch(component: Component, learner: CodeType | None) -> Iterator[list[tuple[str, int | None]]]:
    """Inside, the calls that a task on this component may forbid are noted.

    Yields the list of them: name, and the learner's line.
    """
    wanted = component.ready_made
    # The check's own answer is no learner's answer in any task.
    codes = {
        **_codes(wanted),
        (str(PACKAGE / "checks" / "components.py"), "Component.reference"): "the check's reference",
    }
    noted: list[tuple[str, int | None]] = []

    def note(name: str, frame: FrameType | None) -> None:
        name = _module_around(frame) or name
        while frame is not None and learner and frame.f_code.co_filename != learner.co_filename:
            frame = frame.f_back
        noted.append((name, frame.f_lineno if frame else None))

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            code = frame.f_code
            name = codes.get((code.co_filename, code.co_qualname))
            if name is not None:
                note(name, frame.f_back)

    functions = {f: name for name, f in wanted.items() if not isinstance(f, str)}
    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        with _Watched(functions, note):
            yield noted
    finally:
        sys.setprofile(before)
