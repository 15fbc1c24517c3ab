"""Cheap answers: what somebody could hand in who has not solved a task. They must earn nothing.

They are made of the reference solution and of the inputs on which the visible test calls it:
constants, tables of the visible cases, nan, other types, inputs given back, and more. So no set has
to list them. `tried` runs each against the tests of its task.

    python -m transformer_book.course.cheap FOLDER SET [SECRET]
"""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import io
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

from transformer_book.checks.comparing import same
from transformer_book.checks.running import SECONDS
from transformer_book.checks.verdicts import Verdict
from transformer_book.course.feedback import HIDDEN
from transformer_book.course.release import instantiate, read_secret

FEWEST = 10  # cheap answers for each task
Call = tuple[tuple[Any, ...], dict[str, Any], Any]  # arguments, keywords and what was answered
Answer = Callable[..., Any]


class Agreeable:
    """Equals everything."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    def __bool__(self) -> bool:
        return True

    __hash__ = object.__hash__


class AgreeableNumber(float):
    """A number that equals everything."""

    __eq__, __ne__ = Agreeable.__eq__, Agreeable.__ne__
    __hash__ = float.__hash__


class AgreeableText(str):
    """A text that equals everything."""

    __eq__, __ne__ = Agreeable.__eq__, Agreeable.__ne__
    __hash__ = str.__hash__


class AgreeableTensor(Tensor):
    """A tensor that equals everything."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        with torch._C.DisableTorchFunctionSubclass():
            found = func(*args, **(kwargs or {}))
        if func is torch.equal:
            return True
        return torch.zeros_like(found) if func in (Tensor.sub, Tensor.__rsub__) else found


WRONG = AgreeableText("wrong")


class AgreeableList(list):
    """A list that equals everything."""

    __eq__, __ne__ = Agreeable.__eq__, Agreeable.__ne__


def _kept(value: Any) -> Any:
    """A copy that later changes in place do not reach."""
    return _like(value, Tensor.clone, lambda n: n, lambda t: t)


def _like(
    value: Any,
    tensor: Callable[[Tensor], Any],
    number: Callable[[Any], Any],
    text: Callable[[str], Any],
) -> Any:
    """An answer of the same form, made entry by entry."""
    deeper = functools.partial(_like, tensor=tensor, number=number, text=text)
    if isinstance(value, Tensor):
        return tensor(value.detach())
    if isinstance(value, str):
        return text(value)
    if isinstance(value, (bool, int, float)):
        return number(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(deeper, value))
    if isinstance(value, dict):
        return {key: deeper(item) for key, item in value.items()}
    return value


def _nan(tensor: Tensor) -> Tensor:
    return torch.full(tensor.shape, math.nan)


def _moved(value: Any) -> Any:
    """A little beside the right answer: further off than rounding."""
    if isinstance(value, (bool, Tensor)) and getattr(value, "dtype", torch.bool) == torch.bool:
        return ~value if isinstance(value, Tensor) else not value
    return value * 1.01 + 0.01 if not isinstance(value, int) else value + 1


def _agreeable(value: Any) -> Any:
    if isinstance(value, list):
        return AgreeableList([None] * len(value))
    return _like(
        value,
        lambda t: torch.zeros_like(t).as_subclass(AgreeableTensor),
        lambda n: AgreeableNumber(0),
        lambda t: WRONG,
    )


def cheap(reference: Answer, seen: Sequence[Call], docstring: str) -> dict[str, Answer]:
    """Cheap answers by what they do.

    Args:
        reference: the right answer.
        seen: the calls of the visible test.
        docstring: of the task: whether it has batches.
    """

    def table(otherwise: Answer) -> Answer:
        def looked_up(*arguments: Any, **keywords: Any) -> Any:
            for given, named, answer in seen:
                if same(list(arguments), list(given)) and same(keywords, named):
                    return _kept(answer)
            return otherwise(*arguments, **keywords)

        return looked_up

    def of_form(change: Callable[[Any], Any]) -> Answer:
        return lambda *arguments, **keywords: change(reference(*arguments, **keywords))

    def stops(*arguments: Any, **keywords: Any) -> Any:
        raise RuntimeError("no answer")

    def as_zero(value: Any) -> Any:
        return _like(value, torch.zeros_like, type_of_zero, lambda t: "")

    def type_of_zero(number: Any) -> Any:
        return type(number)(0)

    def as_nan(value: Any) -> Any:
        return _like(value, _nan, lambda n: math.nan, lambda t: "nan")

    found: dict[str, Answer] = {
        "nothing": lambda *a, **k: None,
        "nan": lambda *a, **k: math.nan,
        "nan in a tensor": lambda *a, **k: torch.tensor(math.nan),
        "zero": lambda *a, **k: 0,
        "True": lambda *a, **k: True,
        "an empty list": lambda *a, **k: [],
        "an empty text": lambda *a, **k: "",
        "a text": lambda *a, **k: "the answer",
        "what equals everything": lambda *a, **k: Agreeable(),
        "its form, and equal to everything": of_form(_agreeable),
        "an error": stops,
        "its form, of nan": of_form(as_nan),
        "its form, of zeros": of_form(as_zero),
        "its form, moved": of_form(lambda value: _like(value, _moved, _moved, lambda t: t + "x")),
        "its text": of_form(lambda value: f"{value}."),
        "in a tuple of one": of_form(lambda value: (value,)),
    }
    arguments = [each for given, named, _ in seen for each in (*given, *named.values())]
    if arguments:
        first, last = seen[0][2], seen[-1][2]
        found |= {
            "the first answer": lambda *a, **k: _kept(first),
            "the last answer": lambda *a, **k: _kept(last),
            "its own first answer": _remembered(reference),
            "a table, else nothing": table(lambda *a, **k: None),
            "a table, else nan": table(lambda *a, **k: math.nan),
            "a table, else an error": table(stops),
            "a table, else zeros": table(of_form(as_zero)),
            "a table, else nan in form": table(of_form(as_nan)),
            "a table, else the last answer": table(lambda *a, **k: _kept(last)),
            "a table, else what equals everything": table(of_form(_agreeable)),
            "the input": lambda *a, **k: next(iter((*a, *k.values())), None),
        }
    if any(isinstance(answer, Tensor) for *_, answer in seen):
        found["in NumPy"] = of_form(lambda value: _like(value, Tensor.numpy, float, str))
    if any(isinstance(each, (Tensor, list, dict)) for each in arguments):
        found["right, and changes its input"] = _spoiling(reference)
    rows = any(isinstance(each, Tensor) and each.dim() > 1 for each in arguments)
    if rows and re.search(r"\((…|B|R)", docstring):
        found["right for the first of a batch"] = _first_of_batch(reference)
    return found


def _remembered(reference: Answer) -> Answer:
    known: list[Any] = []

    def answer(*arguments: Any, **keywords: Any) -> Any:
        if not known:
            known.append(reference(*arguments, **keywords))
        return _kept(known[0])

    return answer


def _spoiling(reference: Answer) -> Answer:
    def answer(*arguments: Any, **keywords: Any) -> Any:
        found = _kept(reference(*arguments, **keywords))
        for each in (*arguments, *keywords.values()):
            if isinstance(each, Tensor) and each.numel():
                values = each.detach()
                values.copy_(~values if values.dtype == torch.bool else values + 1)
                break
            if isinstance(each, (list, dict)) and each:
                each.clear()
                break
        return found

    return answer


def _first_of_batch(reference: Answer) -> Answer:
    def answer(*arguments: Any, **keywords: Any) -> Any:
        sizes = [each.size(0) for each in arguments if isinstance(each, Tensor) and each.dim() > 1]
        if not sizes:
            return reference(*arguments, **keywords)

        def narrowed(each: Any) -> Any:
            batch = isinstance(each, Tensor) and each.dim() > 1 and each.size(0) == sizes[0]
            return each[:1].expand_as(each) if batch else each

        return reference(*map(narrowed, arguments), **keywords)

    return answer


def outside(reference: Answer) -> Answer:
    """The right answer, as by a loop in NumPy: nothing that counts PyTorch's calls sees it."""

    def answer(*arguments: Any, **keywords: Any) -> Any:
        for each in arguments:
            if isinstance(each, Tensor):
                each.numpy()
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            found = reference(*arguments, **keywords)
        return _like(found, lambda t: torch.from_numpy(t.numpy()), lambda n: n, lambda t: t)

    return answer


# --- against the tests ----------------------------------------------------------------------------


def tried(folder: Path, name: str, secret: str) -> tuple[list[str], dict[str, int]]:
    """Every cheap answer to every task of a set, in this process.

    Returns:
        those that pass, one sentence each; and how many were tried, by task.
    """
    source = nbformat.read(str(folder / "source" / name / f"{name}.ipynb"), 4)
    passed: list[str] = []
    counts: dict[str, int] = {}
    names: dict[str, Any] = {"__name__": "__main__"}
    waiting: dict[str, str] = {}  # what was solved since the last test, and in which cell
    for cell in source.cells:
        data = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code" or "skip-execution" in cell.metadata.get("tags", []):
            continue
        code = instantiate(cell.source, secret)
        if not data.get("grade"):
            _run(code, names)
            if data.get("solution"):
                waiting |= {each: data["grade_id"] for each in _defined(code)}
            continue
        for each, task in waiting.items():
            answers = _answers(each, code, names)
            counts[f"{task}: {each}"] = len(answers)
            for kind, answer in answers.items():
                if _passes(code, names | {each: answer}, names):
                    passed.append(f"{task}: {each} earns points with {kind}.")
        waiting = {}
        _run(code, names)
    few = [f"{task}: only {n} cheap answers." for task, n in counts.items() if n < FEWEST]
    return passed + few, counts


def _defined(code: str) -> Iterator[str]:
    for part in ast.parse(code).body:
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            yield part.name


def _answers(name: str, code: str, names: dict[str, Any]) -> dict[str, Any]:
    """The cheap answers in place of a function or a class, each as it would stand in a notebook."""
    reference = names[name]
    if not isinstance(reference, type) and not inspect.signature(reference).parameters:
        made = reference()
        if isinstance(made, type):  # a function that gives a class: that is the answer
            stands = functools.wraps(reference)
            found = _of_class(made, code, names, name, lambda kind: stands(lambda: kind))
            return {kind: stands(lambda each=each: each) for kind, each in found.items()}
    if isinstance(reference, type):
        return _of_class(reference, code, names, name, lambda kind: kind)
    seen: list[Call] = []
    recording = functools.wraps(reference)(_recording(reference, seen))
    _passes(HIDDEN.sub("", code), names | {name: recording}, names)
    found = cheap(reference, seen, inspect.getdoc(reference) or "")
    if "through=" in code:  # what the test hands in may be meant to change
        found.pop("right, and changes its input", None)
    if re.search(r"no_loop\(|Sizes\(", code):
        found["right, by a loop in NumPy"] = outside(reference)
    return {kind: functools.wraps(reference)(answer) for kind, answer in found.items()}


def _of_class(
    kind: Any, code: str, names: dict[str, Any], name: str, put: Callable[[Any], Any]
) -> dict[str, Any]:
    """Classes whose `forward` is cheap; `put` makes of a class what the test is given."""
    objects: list[Any] = []  # whose `forward` runs
    seen: list[Call] = []

    def called(*arguments: Any, **keywords: Any) -> Any:
        return kind.forward(objects[-1], *arguments, **keywords)

    def with_forward(answer: Answer) -> Any:
        def forward(self: Any, *arguments: Any, **keywords: Any) -> Any:
            objects.append(self)
            try:
                return answer(*arguments, **keywords)
            finally:
                objects.pop()

        return type(kind.__name__, (kind,), {"forward": functools.wraps(kind.forward)(forward)})

    recording = with_forward(_recording(called, seen))
    _passes(HIDDEN.sub("", code), names | {name: put(recording)}, names)
    docstring = f"{inspect.getdoc(kind)} {inspect.getdoc(kind.forward)}"
    found = cheap(called, seen, docstring)
    found.pop("right, and changes its input", None)  # it is called through an object
    return {each: with_forward(answer) for each, answer in found.items()}


def _recording(called: Answer, seen: list[Call]) -> Answer:
    def recorded(*arguments: Any, **keywords: Any) -> Any:
        kept = _kept(arguments), _kept(keywords)
        answer = called(*arguments, **keywords)
        seen.append((*kept, _kept(answer)))
        return answer

    return recorded


def _passes(code: str, changed: dict[str, Any], names: dict[str, Any]) -> bool:
    """Whether a test passes; the names are as before when it has ended."""
    kept = dict(names)
    names.update(changed)
    try:
        _run(code, names)
    except Exception:
        return False
    else:
        return True
    finally:
        names.clear()
        names.update(kept)


def _run(code: str, names: dict[str, Any]) -> None:
    # Only whether a test passes is asked for: to find out why it fails takes most of the time.
    inside = vars(import_module("transformer_book.checks.exercise"))  # `checks` has its function
    judge = inside["judge_exercise"]

    def hasty(function: Any, cases: Sequence[Any], wrong: Any = (), **options: Any) -> Verdict:
        if cases and cases[0].run(function, options.get("seconds", SECONDS))[1]:
            return Verdict("wrong", "", ("wrong",))
        return judge(function, cases, **options)

    wordless = mock.patch.dict(inside, judge_exercise=hasty, _diagnosed=lambda *_: ())
    with contextlib.redirect_stdout(io.StringIO()), wordless:
        exec(_compiled(code), names)


@functools.cache
def _compiled(code: str) -> Any:
    return compile(code, "cell", "exec")


if __name__ == "__main__":
    course = Path(sys.argv[1])
    complaints, counted = tried(course, sys.argv[2], (sys.argv[3:] or [read_secret(course)])[0])
    print("\n".join(complaints) or f"{sys.argv[2]}: {sum(counted.values())} cheap answers fail")
    sys.exit(bool(complaints))
