"""The course: problem sets that are released, collected and graded with nbgrader.

    from transformer_book import course

    course.begin("ps2", blocks=["attention"])

stands at the top of a problem set. `seed` and `choice` make the hidden tests, and the constants of
a task, depend on the teacher's secret; `variant` gives each student other numbers. Nothing here
imports nbgrader; `release` and `grading` do.
"""

from __future__ import annotations

import hashlib
import importlib.abc
import random
import sys
from collections.abc import Callable, Sequence
from typing import Any

from transformer_book.support.arguments import check_choice

PUBLIC = "public"  # the secret of a set that was not instantiated: what the repository shows

# What a problem set may forbid, so that a task is solved and not imported.
BLOCKABLE = (
    "tokens",
    "batches",
    "embeddings",
    "attention",
    "masks",
    "layers",
    "encoder",
    "decoder",
    "transformer",
    "optimization",
    "training",
    "decoder_cache",
    "decoding",
    "metrics",
    "translator",
    "rotary",
    "grouped_attention",
    "rms_norm",
    "adapters",
    "sampling",
    "pytorch_twins",
    "backwards",
    "gradients",
)


def seed(name: str, secret: str = PUBLIC) -> int:
    """A number below 2³¹ that depends on the name and on the secret only.

    In a released set the teacher's secret has been put in: the call stands there as its result.
    """
    digest = hashlib.blake2b(name.encode(), digest_size=8, key=secret.encode()[:64]).digest()
    return int.from_bytes(digest, "big") % 2**31


def choice(name: str, options: Sequence[Any], secret: str = PUBLIC) -> Any:
    """One of the options, chosen by `seed`: the constants of a task that differ between courses.

    Raises:
        ValueError: without options.
    """
    if not options:
        raise ValueError(f"choice({name!r}) has no options: give at least one.")
    return random.Random(seed(name, secret)).choice(list(options))


def variant(name: str, options: Sequence[Any], student: str = "", secret: str = PUBLIC) -> Any:
    """One of the options, chosen for a student: numbers that differ within a class.

    In a student's own copy of a released set, the call stands there as its result, and the grader
    puts the same result into the tests. Without copies, the class shares the result of no name.

    Raises:
        ValueError: without options.
    """
    return choice(f"{name} of {student}" if student else name, options, secret)


def begin(problem_set: str, blocks: Sequence[str] = (), *, conventions: bool = True) -> None:
    """Start a problem set: an untouched task earns nothing, and blocked modules stay away.

    Args:
        problem_set: its name, for the messages.
        blocks: modules of the package that this set asks students to write themselves.
        conventions: another convention than the book's passes a check, as it does in a chapter,
            and earns the points; without, it is wrong.

    Raises:
        ValueError: for a module that is not in `BLOCKABLE`.
    """
    from transformer_book.checks import report  # torch with it

    for module in blocks:
        check_choice("a module that can be blocked", module, BLOCKABLE)
    report.STRICT.add(problem_set)
    (report.NO_CONVENTIONS.discard if conventions else report.NO_CONVENTIONS.add)(problem_set)
    # Modules that import a blocked one are blocked with it: the import inside them fails.
    for name in [name for name in sys.modules if name.partition(".")[0] == "transformer_book"]:
        if name.split(".")[1:2] and name.split(".")[1] in BLOCKABLE:
            del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Blocked)]
    sys.meta_path.insert(0, _Blocked(problem_set, blocks))


def gave(inputs: Sequence[tuple[Any, ...]], answers: Sequence[Any]) -> Callable[..., Any]:
    """A wrong version known only by its answers on some inputs.

    So a visible test can name a mistake without showing the code that makes it. Called with another
    input, it raises `LookupError`.
    """
    from transformer_book.checks.comparing import same

    def version(*arguments: Any) -> Any:
        for known, answer in zip(inputs, answers, strict=True):
            if same(arguments, known):
                return answer
        raise LookupError("The answer of this version to that input is not known.")

    return version


def verify() -> None:
    """Find out whether what grades still tells right from wrong; run before every test.

    Raises:
        RuntimeError: if a comparison that must fail passes.
    """
    import torch

    from transformer_book import checks

    def accepts(attempt: Callable[[], Any]) -> bool:
        try:
            return attempt() is not False
        except Exception:
            return False

    zero, one = torch.zeros(2), torch.ones(2)
    silent = {
        "checks.exercise": lambda: checks.exercise(lambda: 1, checks.case(gives=2)),
        "checks.softmax": lambda: checks.softmax(lambda scores, dim=-1: scores),
        "torch.testing.assert_close": lambda: torch.testing.assert_close(zero, one),
        "torch.equal": lambda: torch.equal(zero, one),
        "torch.allclose": lambda: torch.allclose(zero, one),
        "torch.isclose": lambda: bool(torch.isclose(zero, one).all()),
        "the comparison of tensors": lambda: bool((zero == one).any()),
    }
    for name, attempt in silent.items():
        if accepts(attempt):
            raise RuntimeError(f"{name} accepts what is wrong: it has been changed.")


class _Blocked(importlib.abc.MetaPathFinder):
    """Refuses to find the modules that a problem set blocks."""

    def __init__(self, problem_set: str, blocks: Sequence[str]) -> None:
        self.problem_set = problem_set
        self.names = {f"transformer_book.{module}" for module in blocks}

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname in self.names:
            raise ImportError(
                f"{self.problem_set} asks you to write this yourself: {fullname} cannot be "
                "imported here.",
                name=fullname,
            )
