"""The second look at an answer: it is called in one process, and judged in another.

In the first look a test and an answer share a Python, as in the student's own notebook: that gives
the words of the feedback. But who shares a Python with a test can read what it expects, or change
it. So a point counts only if the answer is right a second time. A fresh kernel runs the student's
cells and no test. The tests run here, where no code of a student runs; what they call is a stand-in
that sends the inputs to the kernel, and gets numbers, tensors, texts and lists back, and nothing
that could do anything. A test is run on its own inputs, and then on others, drawn for this
submission alone: what the first look has seen of the right answers is of no use there.

Not everything is data: a function that a test hands over, gradients that arrive, the number of
calls of PyTorch. What the reference solution cannot show in this way is not looked at twice.
"""

from __future__ import annotations

import ast
import base64
import copy
import io
import json
import math
import pickle
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from typing import IO, Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

NUMBERS = (bool, int, float, str)
KINDS = {
    str(kind).removeprefix("torch."): kind
    for kind in (
        *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64),
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
    )
}
MADE = {"made": "a function or a class"}
LONG = 200  # characters of what a kernel says about an error
# In the student's kernel: code that binds no name there, and cannot meet one.
QUESTION = "__import__('transformer_book.course.second_look', fromlist=['answer']).answer"


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
        data = base64.b64encode(flat.view(torch.uint8).numpy().tobytes()).decode()
        return {"tensor": kind, "shape": list(value.shape), "data": data}
    if hasattr(value, "dtype") and hasattr(value, "tolist"):  # NumPy's
        return encoded(value.tolist() if value.ndim == 0 else torch.as_tensor(value))
    if value is None or isinstance(value, NUMBERS):
        return next((kind(value) for kind in NUMBERS if isinstance(value, kind)), None)
    if isinstance(value, (list, tuple, range, deque, Set, Iterator)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        if isinstance(value, (set, frozenset)):
            kind = "set"
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
        case {"set": list(items)}:
            return set(map(_key, items))
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


def answer(made: Any, sent: str, build: bool = False) -> str:
    """What the student's function gives for one input, as JSON: `gives`, or why it `stops`.

    It is called as in the first look, see `checks.running`.

    Args:
        made: the function; or a class, if it is to be built first.
        sent: the input, pickled, as text.
        build: see `checks.classes.built`.
    """
    from transformer_book.checks.classes import built
    from transformer_book.checks.running import Bounded, one_thread

    arguments, keywords = pickle.loads(base64.b64decode(sent))
    try:
        with one_thread(), redirect_stdout(Bounded(io.StringIO())), sdpa_kernel(SDPBackend.MATH):
            torch.default_generator.manual_seed(0)
            found = built(made, *arguments) if build else made(*arguments, **keywords)
            return json.dumps({"gives": MADE if callable(found) else encoded(found)})
    except Exception as error:
        return json.dumps({"stops": f"{type(error).__name__}: {error}"[:LONG]})


# --- where it is judged ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Reply:
    """What a kernel gave for one input.

    Attributes:
        given: holds the answer; empty if there is none.
        why: there is none, in words.
    """

    given: tuple[Any, ...] = ()
    why: str = "it gave nothing that is data"


# `ask(made, inputs, build)`: what the student's function gives, input after input. `made` is an
# expression, such as the function's name; with `build` it is a class.
Ask = Callable[[str, Sequence[tuple[Any, Any]], bool], Sequence[Reply]]


class Judge:
    """The tests of a set, in a process without code of students; see `serve`.

    Attributes:
        right: whether the answers to the last test were right, input after input.
        how: the first that was not, in words.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self.module = types.ModuleType("__main__")
        self.right: list[bool] = []
        self.how = ""
        self._known: dict[tuple[str, bool, bytes], Reply] = {}

    def ask(self, made: str, inputs: Sequence[tuple[Any, Any]], build: bool) -> Sequence[Reply]:
        """As `Ask`; what was asked before is not asked again."""
        keys = [(made, build, pickle.dumps(each)) for each in inputs]
        new = [i for i, key in enumerate(keys) if key not in self._known]
        replies = self._ask(made, [inputs[i] for i in new], build)
        self._known.update({keys[i]: reply for i, reply in zip(new, replies, strict=True)})
        return [self._known[key] for key in keys]

    def run(self, source: str) -> None:
        """Run a cell of the course's own; statements that need the student's code are left out."""
        for statement in ast.parse(source).body:
            with suppress(Exception):
                code = compile(ast.Module([statement], []), "course", "exec")
                exec(code, self.module.__dict__)

    def test(self, source: str, names: Sequence[str], other_inputs: bool = False) -> list[bool]:
        """Whether the answers are right, input after input.

        Args:
            source: the cell.
            names: of the student's functions and classes.
            other_inputs: it is the last test once more, on others: what was answered is kept.
        """
        from transformer_book import checks

        if not other_inputs:
            self._known.clear()
        self.right, self.how = [], ""
        self.module.__dict__.update({name: _Remote(name, self.ask) for name in names})
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
            found = iter([Reply(why="its inputs are no data")] * len(plain))
        for each in cases:
            try:
                if each.through is None:
                    reply = next(found)
                    wrong_how = _complaint(each, *reply.given) if reply.given else reply.why
                else:
                    arguments, keywords = copy.deepcopy(
                        (each.case.arguments, dict(each.case.keywords))
                    )
                    wrong_how = _complaint(each, each.through(function, *arguments, **keywords))
            except NoData as error:
                wrong_how = str(error)
            except Exception as error:
                wrong_how = f"its answer cannot be used: {type(error).__name__}"
            self.right.append(wrong_how is None)
            if wrong_how and not self.how:
                self.how = f"for {_input(each)} {' '.join(wrong_how.split())}"[: 2 * LONG]


@dataclass(frozen=True)
class _Checks:
    """Stands for `checks`: single exercises are judged here, and nothing else."""

    case: Callable[..., Any]
    exercise: Callable[..., None]

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *arguments, **keywords: None


def _complaint(case: Any, answer: Any) -> str | None:
    """What is wrong with an answer, or `None`."""
    found = case.judged(answer)
    return found and found.replace("you return", "it returns")


def _input(case: Any) -> str:
    """An input in a few words."""
    from transformer_book.checks.comparing import brief

    given = [*case.case.arguments, *case.case.keywords.values()]
    told = ", ".join(map(brief, given)) or "no input"
    return f"the input {case.case.name!r}" if case.case.name else told[:LONG]


class _Remote:
    """Stands for what a student has written: an expression in the student's kernel."""

    def __init__(self, made: str, ask: Ask) -> None:
        self.__name__ = self._made = made
        self._ask = ask

    def all(self, given: Sequence[tuple[Any, Any]], build: bool = False) -> Sequence[Reply]:
        """The answers to many inputs at once."""
        return self._ask(self._made, given, build) if given else []

    def one(self, *given: Any, build: bool = False) -> Any:
        """The answer to one input.

        Raises:
            NoData: if there is none.
        """
        (reply,) = self.all([given], build)
        if not reply.given:
            raise NoData(reply.why)
        return reply.given[0]

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        answer = self.one(arguments, keywords)
        if answer is not MADE:
            return answer
        if arguments or keywords:
            raise NoData("it made something of inputs")
        remote = _Remote(f"{self._made}()", self._ask)
        return type("Remote", (torch.nn.Module,), {"remote": remote})


def _built(made: Any, *arguments: Any) -> Any:
    from transformer_book.checks.classes import built

    remote = made if isinstance(made, _Remote) else getattr(made, "remote", None)
    if remote is None:
        return built(made, *arguments)
    return remote.one(arguments, {}, build=True)


def received(text: str) -> Reply:
    """The answer in what a kernel has sent, whatever that is."""
    with suppress(ValueError, TypeError, LookupError, RecursionError):
        match json.loads(text):
            case {"stops": str(why)}:
                return Reply(why=f"it stops with {''.join(filter(str.isprintable, why[:LONG]))}")
            case {"gives": found}:
                return Reply((MADE if found == MADE else decoded(found),))
    return Reply()


def serve(stream: IO[bytes]) -> None:
    """Be a `Judge` for whoever is at the other end; each call and each answer is a line of JSON."""

    def tell(**what: Any) -> None:
        stream.write(json.dumps(what).encode() + b"\n")
        stream.flush()

    def ask(made: str, inputs: Sequence[tuple[Any, Any]], build: bool) -> list[Reply]:
        sent = [base64.b64encode(pickle.dumps(each)).decode() for each in inputs]
        tell(made=made, sent=sent, build=build)
        answers = json.loads(stream.readline())["answers"]
        return [Reply(why=a["why"]) if "why" in a else received(a["text"]) for a in answers]

    judge = Judge(ask)
    sys.modules["__main__"] = judge.module
    for line in stream:
        order = json.loads(line)
        right: list[bool] = []
        with suppress(Exception):
            match order:
                case {"run": str(source)}:
                    judge.run(source)
                case {"test": str(source), "names": list(names), "other": bool(other)}:
                    right = judge.test(source, names, other)
        tell(right=right, how=judge.how)


def ask_judge(
    stream: IO[bytes],
    order: Mapping[str, Any],
    ask: Callable[[str, Sequence[str], bool], Sequence[Mapping[str, str]]],
) -> tuple[list[bool], str]:
    """Give the judge at the other end an order; `right` and `how` come back, see `Judge`.

    `ask(made, sent, build)` is asked in between. For each input it gives what the kernel has sent
    as `text`, or `why` there is nothing.
    """
    stream.write(json.dumps(order).encode() + b"\n")
    stream.flush()
    while line := stream.readline():
        reply = json.loads(line)
        if "right" in reply:
            return reply["right"], reply["how"]
        answers = ask(reply["made"], reply["sent"], reply["build"])
        stream.write(json.dumps({"answers": answers}).encode() + b"\n")
        stream.flush()
    return [], ""
