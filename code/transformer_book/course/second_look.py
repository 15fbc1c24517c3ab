"""The second look at an answer: it is called in one process, and judged in another.

In the first look a test and an answer share a Python, as in the student's own notebook: that gives
the words of the feedback. But who shares a Python with a test can read what it expects, or change
it. So a point counts only if the answer is right a second time. A fresh kernel runs the student's
cells and no test. The tests run here, where no code of a student runs; what they call is a stand-in
that sends the inputs to the kernel, and gets numbers, tensors, texts and lists back, and nothing
that could do anything.

Not everything is data: a function that a test hands over, gradients that arrive, the number of
calls of PyTorch. What the reference solution cannot show in this way is not looked at twice.
"""

from __future__ import annotations

import ast
import base64
import copy
import json
import math
import pickle
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

import torch

NUMBERS = (bool, int, float, str)
KINDS = {
    str(kind).removeprefix("torch."): kind
    for kind in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    )
}
MADE = {"made": "a function or a class"}
Ask = Callable[[str, Sequence[tuple[Any, Any]], bool], Sequence[Any]]


class NoData(ValueError):
    """Something that cannot be sent as data."""


# --- data -----------------------------------------------------------------------------------------


def encoded(value: Any) -> Any:
    """Numbers, texts, tensors, and lists and dictionaries of them, as JSON has them.

    Raises:
        NoData: for anything else.
    """
    if isinstance(value, torch.Tensor):
        kind = str(value.dtype).removeprefix("torch.")
        if kind not in KINDS or value.layout != torch.strided:
            raise NoData(f"a tensor of {kind}")
        flat = value.detach().cpu().contiguous().reshape(-1)
        data = base64.b64encode(bytes(flat.view(torch.uint8).tolist())).decode()
        return {"tensor": kind, "shape": list(value.shape), "data": data}
    if hasattr(value, "dtype") and hasattr(value, "tolist"):  # NumPy's
        return encoded(value.tolist() if value.ndim == 0 else torch.as_tensor(value))
    if value is None or isinstance(value, NUMBERS):
        return next((kind(value) for kind in NUMBERS if isinstance(value, kind)), None)
    if isinstance(value, (list, tuple)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [encoded(item) for item in value]}
    if isinstance(value, dict):
        return {"dict": [[encoded(key), encoded(item)] for key, item in value.items()]}
    raise NoData(f"a {type(value).__name__}")


def decoded(value: Any) -> Any:
    """What `encoded` was given. Whoever wrote `value` gets nothing but data made of it.

    Raises:
        NoData: if it is not something that `encoded` makes.
    """
    if value is None or isinstance(value, NUMBERS):
        return value
    match value:
        case {"tensor": str(kind), "shape": list(shape), "data": str(data)} if kind in KINDS:
            numbers = bytearray(base64.b64decode(data))
            whole = all(type(n) is int and n >= 0 for n in shape)
            if whole and math.prod(shape) * KINDS[kind].itemsize == len(numbers):
                if not numbers:
                    return torch.empty(shape, dtype=KINDS[kind])
                return torch.frombuffer(numbers, dtype=KINDS[kind]).reshape(shape)
        case {"list": list(items)}:
            return [decoded(item) for item in items]
        case {"tuple": list(items)}:
            return tuple(decoded(item) for item in items)
        case {"dict": list(pairs)}:
            return {_key(key): decoded(item) for key, item in pairs}
    raise NoData("no data")


def _key(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"tuple"}:
        return tuple(map(_key, value["tuple"]))
    if value is None or isinstance(value, NUMBERS):
        return value
    raise NoData("no key")


# --- in the student's kernel ----------------------------------------------------------------------


def answers(made: Any, sent: str, build: bool = False) -> str:
    """What the student's function gives for each of the inputs, as JSON; `null` if nothing.

    Args:
        made: the function; or a class, if it is to be built first.
        sent: the inputs, pickled, as text.
        build: see `checks.classes.built`.
    """
    from transformer_book.checks.classes import built

    found: list[Any] = []
    for arguments, keywords in pickle.loads(base64.b64decode(sent)):
        torch.default_generator.manual_seed(0)
        try:
            answer = built(made, *arguments) if build else made(*arguments, **keywords)
            found.append([MADE if callable(answer) else encoded(answer)])
        except Exception:
            found.append(None)
    return json.dumps(found)


def question(made: str, sent: str, build: bool) -> tuple[str, str]:
    """The code that readies a kernel for `answers`, and the expression that gives them."""
    code = "import transformer_book.course.second_look as _second_look"
    return code, f"_second_look.answers({made}, {sent!r}, {build})"


# --- where it is judged ---------------------------------------------------------------------------


class Judge:
    """The tests of a set, in a process without code of students; see `serve`.

    Args:
        ask: `ask(made, inputs, build)` gives what the student's function gives, for each of the
            inputs: a list with the answer, or `None` for none. `made` is an expression, such as the
            function's name; with `build` it is a class.
    """

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self.module = types.ModuleType("__main__")
        self.right: list[bool] = []

    def run(self, source: str) -> None:
        """Run a cell of the course's own; statements that need the student's code are left out."""
        for statement in ast.parse(source).body:
            with suppress(Exception):
                code = compile(ast.Module([statement], []), "course", "exec")
                exec(code, self.module.__dict__)

    def name(self, names: Sequence[str]) -> None:
        """Let these names be the student's functions."""
        for name in names:
            setattr(self.module, name, _Remote(name, self.ask))

    def test(self, source: str) -> list[bool]:
        """Whether the answers are right, input after input."""
        from transformer_book import checks

        self.right = []
        kept = {**self.module.__dict__}
        stands = {"checks": _Checks(checks.case, self._exercise), "built": _built}
        self.module.__dict__.update({k: v for k, v in stands.items() if k in kept})
        self.run(source)
        self.module.__dict__.update({k: v for k, v in kept.items() if k in stands})
        return self.right

    def _exercise(self, function: Any, *cases: Any, wrong: Any = ()) -> None:
        if not isinstance(function, _Remote):
            return
        plain = [each for each in cases if each.through is None]
        given = [(each.case.arguments, dict(each.case.keywords)) for each in plain]
        try:
            found = iter(function.all(given))
        except Exception:  # they cannot be sent
            found = iter([None] * len(plain))
        for each in cases:
            try:
                if each.through is None:
                    (answer,) = next(found) or [None]
                else:
                    arguments, keywords = copy.deepcopy(
                        (each.case.arguments, dict(each.case.keywords))
                    )
                    answer = each.through(function, *arguments, **keywords)
                self.right.append(_is_right(each, answer))
            except Exception:
                self.right.append(False)


@dataclass(frozen=True)
class _Checks:
    """Stands for `checks`: single exercises are judged here, and nothing else."""

    case: Callable[..., Any]
    exercise: Callable[..., None]

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *arguments, **keywords: None


def _is_right(case: Any, answer: Any) -> bool:
    from transformer_book.checks.comparing import difference

    if case.accept is None:
        return difference(answer, case.gives) is None
    return answer is not None and case.accept(answer, *case.case.arguments) is None


class _Remote:
    """Stands for what a student has written: an expression in the student's kernel."""

    def __init__(self, made: str, ask: Ask) -> None:
        self.__name__ = self._made = made
        self._ask = ask

    def all(self, given: Sequence[tuple[Any, Any]], build: bool = False) -> Sequence[Any]:
        """The answers to many inputs at once."""
        return self._ask(self._made, given, build) if given else []

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        (answer,) = self.all([(arguments, keywords)])
        if answer is None:
            raise NoData("no answer")
        if answer[0] is not MADE:
            return answer[0]
        if arguments or keywords:
            raise NoData("something that is made of inputs")
        remote = _Remote(f"{self._made}()", self._ask)
        return type("Remote", (torch.nn.Module,), {"remote": remote})


def _built(made: Any, *arguments: Any) -> Any:
    from transformer_book.checks.classes import built

    remote = made if isinstance(made, _Remote) else getattr(made, "remote", None)
    if remote is None:
        return built(made, *arguments)
    (answer,) = remote.all([(arguments, {})], build=True)
    if answer is None:
        raise NoData("no answer")
    return answer[0]


def received(text: str, count: int) -> list[Any]:
    """The answers in what a kernel has sent, whatever that is: a list with each, or `None`."""
    found: list[Any] = [None] * count
    with suppress(ValueError, TypeError, RecursionError):
        replies = json.loads(text)
        if isinstance(replies, list) and len(replies) == count:
            for i, reply in enumerate(replies):
                with suppress(ValueError, TypeError, LookupError, RecursionError):
                    found[i] = [MADE if reply[0] == MADE else decoded(reply[0])]
    return found


def serve(stream: IO[bytes]) -> None:
    """Be a `Judge` for whoever is at the other end; each call and each answer is a line of JSON."""

    def tell(**what: Any) -> None:
        stream.write(json.dumps(what).encode() + b"\n")
        stream.flush()

    def ask(made: str, inputs: Sequence[tuple[Any, Any]], build: bool) -> list[Any]:
        sent = base64.b64encode(pickle.dumps(inputs)).decode()
        tell(made=made, sent=sent, build=build)
        return received(json.loads(stream.readline())["answers"], len(inputs))

    judge = Judge(ask)
    sys.modules["__main__"] = judge.module
    for line in stream:
        order = json.loads(line)
        try:
            match order:
                case {"run": str(source)}:
                    judge.run(source)
                    tell(right=[])
                case {"names": list(names)}:
                    judge.name(names)
                    tell(right=[])
                case {"test": str(source)}:
                    tell(right=judge.test(source))
        except Exception:
            tell(right=[])


def ask_judge(
    stream: IO[bytes], order: Mapping[str, Any], ask: Callable[[str, str, bool], str]
) -> list[bool]:
    """Give the judge at the other end an order; `ask(made, sent, build)` is asked in between."""
    stream.write(json.dumps(order).encode() + b"\n")
    stream.flush()
    while line := stream.readline():
        reply = json.loads(line)
        if "right" in reply:
            return reply["right"]
        answer = {"answers": ask(reply["made"], reply["sent"], reply["build"])}
        stream.write(json.dumps(answer).encode() + b"\n")
        stream.flush()
    return []
