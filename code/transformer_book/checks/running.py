"""How a function is run on copies of one input, under watch, and what comes of it."""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from transformer_book.checks import watchdog
from transformer_book.checks.classes import NamesDiffer, Seen
from transformer_book.checks.components import Case
from transformer_book.checks.learners_code import learners_line

SEEDED = torch.Generator().manual_seed(0).get_state()
SECONDS = 20.0  # of processor time, for one input


@dataclass(frozen=True)
class Outcome:
    """What one call gave: an answer and the gradients of its inputs, or why there is none."""

    answer: Any = None
    gradients: tuple[Tensor | None, ...] = ()
    trouble: str | None = None
    line: int | None = None
    printed: bool = False
    changed: tuple[int | str, ...] = ()  # which arguments were changed in place, by place or name
    unfinished: bool = False  # it was stopped: it computed, or waited, for too long
    names_differ: bool = False
    drew: bool = False  # random numbers

    @functools.cached_property
    def total(self) -> tuple[float, float] | None:
        """Of a tensor of finite numbers: their sum, and how far rounding may move it."""
        if not isinstance(self.answer, Tensor) or not self.answer.is_floating_point():
            return None
        numbers = self.answer.double()
        total = numbers.sum().item()
        size = max(1e-3, numbers.abs().max().item()) if numbers.numel() else 1e-3
        return (total, 2e-4 * size * numbers.numel()) if math.isfinite(total) else None

    def cannot_equal(self, other: Outcome) -> bool:
        """Whether the sums already differ: cheaper than comparing all entries."""
        mine, theirs = self.total, other.total
        return bool(mine and theirs) and abs(mine[0] - theirs[0]) > mine[1] + theirs[1]


def call(
    function: Callable[..., Any],
    case: Case,
    *,
    gradients: bool,
    seconds: float = SECONDS,
    asleep: float | None = None,
    source: Callable[..., Any] | None = None,
    endless: bool = True,
) -> Outcome:
    """Run a function on one case; whatever it does, an `Outcome` comes back.

    It may use `seconds` of processor time, on one thread, and sleep for `asleep` seconds, see
    `watchdog`. `source` is the learner's own function, whose lines are reported, if `function`
    wraps it. What takes too long is looked at, whether it is `endless`, unless this is False.
    """
    source = source or function
    arguments, keywords = _fresh(case.given, gradients)
    leaves = list(leaves_of((arguments, keywords)))
    # Behind a copy, in-place changes of the inputs are reported by us, not refused by autograd.
    handed = _mapped(torch.clone, (arguments, keywords))
    output = io.StringIO()
    try:
        # The fused attention kernels do not check that there are as many keys as values: they
        # read past the end, and the learner's process dies. The plain one raises an error.
        with (
            one_thread(),
            sdpa_kernel(SDPBackend.MATH),  # outside: no limit may cut off that it is set back
            _some_heads(),
            contextlib.redirect_stdout(Bounded(output)),
            watchdog.limit(seconds, asleep, sys._getframe() if endless else None),
        ):
            torch.default_generator.manual_seed(0)  # torch.manual_seed is slow
            answer = function(*handed[0], **handed[1])
            drew = not torch.equal(torch.default_generator.get_state(), SEEDED)
    except watchdog.TooLong as stop:
        return Outcome(trouble=_unfinished(stop), line=learners_line(stop, source), unfinished=True)
    except Seen as told:
        return Outcome(trouble=str(told))
    except NamesDiffer as error:
        return Outcome(trouble=str(error), names_differ=True)
    except RecursionError as error:
        return Outcome(
            trouble="It calls itself too often (without end, or more than the "
            f"{sys.getrecursionlimit()} times that Python allows; a loop has no such limit)",
            line=learners_line(error, source),
        )
    except (Exception, SystemExit) as error:
        message = in_short(str(error))
        kind = type(error).__name__
        return Outcome(
            trouble=f"It stops with {kind}" + (f": {message}" if message else ""),
            line=learners_line(error, source),
        )
    now, then = (dict(enumerate(given)) | dict(named) for given, named in (handed, case.given))
    changed = tuple(each for each in then if not unchanged(now[each], then[each]))
    slopes: tuple[Tensor | None, ...] = ()
    if gradients and not changed:
        try:
            slopes = _gradients(answer, leaves)
        except RuntimeError as error:
            return Outcome(
                trouble=f"No gradient can be computed through it: {in_short(str(error))}"
            )
    return Outcome(
        answer=_mapped(_plain, answer),
        gradients=slopes,
        printed=bool(output.getvalue()),
        changed=changed,
        drew=drew,
    )


def in_words(outcome: Outcome) -> str:
    """Why there is no answer, and in which line, as a clause behind others."""
    at = f", in line {outcome.line} of your cell or file" if outcome.line else ""
    trouble = outcome.trouble or ""
    return f"{trouble[:1].lower()}{trouble[1:]}{at}"


def in_short(message: str, most: int = 300) -> str:
    """A message in one line, without its last full stop: whole sentences of it, while they fit.

    A first sentence that is longer is cut at a word.
    """
    line = " ".join(message.split())
    if len(line) > most:
        ends = [end.start() for end in re.finditer(r"[.!?](?= [A-Z])", line[: most + 1])]
        line = line[: ends[-1]] if ends else line[:most].rpartition(" ")[0] + " …"
    return line.removesuffix(".")


def _plain(tensor: Tensor) -> Tensor:
    """A copy that is nothing but a tensor: a subclass could equal everything."""
    with torch._C.DisableTorchFunctionSubclass():
        return tensor.detach().clone()


def leaves_of(value: Any) -> Iterator[Tensor]:
    """Every floating-point tensor inside nested tuples, lists and dictionaries."""
    return (tensor for tensor in tensors_of(value) if tensor.dtype.is_floating_point)


def tensors_of(value: Any) -> Iterator[Tensor]:
    """Every tensor inside nested tuples, lists and dictionaries."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (dict, list, tuple)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from tensors_of(item)


def _fresh(value: Any, gradients: bool) -> Any:
    """A copy of an argument whose floating-point tensors may collect gradients."""
    value = copied(value)
    if gradients:
        for leaf in leaves_of(value):
            leaf.requires_grad_()
    return value


def copied(value: Any) -> Any:
    """As `copy.deepcopy` does it, which is slow for tensors."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if type(value) is dict:
        return _each_once(copied, value)
    if type(value) in (list, tuple):
        return type(value)(map(copied, value))
    return copy.deepcopy(value)


def _each_once(change: Callable[[Any], Any], state: dict[str, Any]) -> dict[str, Any]:
    """A dictionary changed: what has two names in it, as a tied weight has, stays one thing.

    Arguments are no such names: what query and key are given in one tensor gets gradients apart.
    """
    changed = {id(value): change(value) for value in state.values()}
    return {name: changed[id(value)] for name, value in state.items()}


def _unfinished(stop: watchdog.TooLong) -> str:
    """Why it was stopped. It is called endless only if it was seen to be."""
    if stop.waits:
        return (
            "It waits and does not go on (`time.sleep`, `input()` or a lock does that); it was "
            f"stopped after it had slept for {stop.slept:.0f} seconds"
        )
    if stop.endless:
        return f"An endless loop, {stop.endless}"
    return (
        f"Not finished after {stop.computed:.2g} seconds of processor time: either it never ends, "
        "or it does far more work than is needed. It was stopped"
    )


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let torch compute on one thread: threads that wait for each other spin, and use up time."""
    threads = torch.get_num_threads()
    if threads == 1:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@contextlib.contextmanager
def _some_heads() -> Iterator[None]:
    """Grouped attention on keys without a head raises: PyTorch's divides by 0 and ends Python."""
    attention = functional.scaled_dot_product_attention

    def guarded(query: Tensor, key: Tensor, value: Tensor, *given: Any, **named: Any) -> Tensor:
        if named.get("enable_gqa") and not (key.numel() and value.numel()):
            raise ValueError(f"keys of shape {tuple(key.shape)}, values of {tuple(value.shape)}")
        return attention(query, key, value, *given, **named)

    functional.scaled_dot_product_attention = guarded
    try:
        yield
    finally:
        functional.scaled_dot_product_attention = attention


class Bounded(io.TextIOBase):
    """Takes what is printed, and keeps the beginning: endless printing must not fill the memory."""

    def __init__(self, into: io.StringIO) -> None:
        self.into = into

    def write(self, text: str) -> int:
        if self.into.tell() < 1000:
            self.into.write(text[:1000])
        return len(text)


def _mapped(change: Callable[[Tensor], Tensor], value: Any) -> Any:
    """The same nest of tuples, lists and dictionaries with every tensor in it changed."""
    if isinstance(value, Tensor):
        return change(value)
    if isinstance(value, dict):
        return _each_once(lambda item: _mapped(change, item), value)
    if type(value) in (list, tuple):
        return type(value)(_mapped(change, item) for item in value)
    return value


def unchanged(now: Any, then: Any) -> bool:
    """Whether a value is what it was, entry for entry."""
    if isinstance(then, Tensor):
        return (
            isinstance(now, Tensor)
            and now.shape == then.shape
            and (
                torch.equal(now, then)  # as most are
                or bool(((now == then) | ((now != now) & (then != then))).all())
            )
        )
    if isinstance(then, dict):
        return now.keys() == then.keys() and all(unchanged(now[k], then[k]) for k in then)
    if isinstance(then, (list, tuple)):
        return len(now) == len(then) and all(map(unchanged, now, then))
    if isinstance(then, (int, float, str, set)):
        return now == then or then != then
    return True


def _gradients(answer: Any, leaves: Sequence[Tensor]) -> tuple[Tensor | None, ...]:
    """What a fixed random weighting of the answer sends back to each input."""
    outputs = [leaf for leaf in leaves_of(answer) if leaf.requires_grad]
    if not outputs:
        return (None,) * len(leaves)
    generator = torch.Generator().manual_seed(1)
    total = sum(
        (leaf.double() * torch.randn(leaf.shape, generator=generator, dtype=torch.float64)).sum()
        for leaf in outputs
    )
    return torch.autograd.grad(total, leaves, allow_unused=True)
