"""The checks of single exercises: what a chapter asks for once, and the package does not contain.

    checks.exercise(
        my_separation,
        checks.case(torch.tensor([1, 7]), 64, gives=torch.tensor([1.9, 6.3])),
        wrong=[(unsquared, "Your distances are not under a root.")],
    )

They run a learner's function as the other checks do: watched, on copies of its inputs, with a
verdict of one paragraph.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from transformer_book.checks import diagnosis
from transformer_book.checks.comparing import difference, holds_nan, same
from transformer_book.checks.components import Case
from transformer_book.checks.explaining import CONFIRMATIONS
from transformer_book.checks.learners_code import is_untouched, last_line, must_be_callable
from transformer_book.checks.report import publish
from transformer_book.checks.running import SECONDS, Outcome, call
from transformer_book.checks.verdicts import Verdict, stopped, unsaid
from transformer_book.support.progress import page_of

_NOTHING = object()


@dataclass(frozen=True)
class ExerciseCase:
    """One input of an exercise, and what its answer must be; made by `case`."""

    case: Case
    gives: Any
    accept: Callable[..., str | None] | None
    through: Callable[..., Any] | None

    def run(self, function: Callable[..., Any], seconds: float) -> tuple[Outcome, str | None]:
        """What the function does with the input, and what is wrong with that, or `None`."""
        tried = function
        if self.through is not None:
            through = self.through

            def tried(*arguments: Any, **keywords: Any) -> Any:
                return through(function, *arguments, **keywords)

        outcome = call(tried, self.case, gradients=False, seconds=seconds, source=function)
        if outcome.trouble:
            return outcome, outcome.trouble
        return outcome, self.judged(outcome.answer)

    def judged(self, answer: Any) -> str | None:
        """What is wrong with an answer, or `None`. Where many are right, nan is none of them."""
        if self.accept is None:
            return difference(answer, self.gives)
        if answer is None:
            return "you return None"
        try:
            complaint = self.accept(answer, *self.case.arguments)
        except Exception as error:  # an answer of another kind than was asked for
            complaint = f"your answer cannot be used: {type(error).__name__}: {error}"
        return complaint or ("you return nan, which is no number" if holds_nan(answer) else None)


def case(
    *arguments: Any,
    gives: Any = _NOTHING,
    accept: Callable[..., str | None] | None = None,
    through: Callable[..., Any] | None = None,
    name: str = "",
    **keywords: Any,
) -> ExerciseCase:
    """One input of an exercise.

    Args:
        arguments, keywords: the function is called with copies of them.
        gives: the right answer. Tensors, numbers, lists and dictionaries are compared up to
            rounding.
        accept: where many answers are right: `accept(answer, *arguments)` returns `None`, or what
            is wrong, as a sentence without a full stop. `None` is never right, nor is nan.
        through: where the answer is not what the function returns: `through(function, *arguments)`
            is called instead, and gives the answer.
        name: what this input tries, in a few words.

    Raises:
        ValueError: unless exactly one of `gives` and `accept` is there.
    """
    if (gives is _NOTHING) == (accept is None):
        raise ValueError("a case needs what it gives, or a function that accepts: one of the two.")
    return ExerciseCase(Case(name, arguments, keywords), gives, accept, through)


def judge_exercise(
    function: Any,
    cases: Sequence[ExerciseCase],
    wrong: Sequence[tuple[Callable[..., Any], str]] = (),
    *,
    seconds: float = SECONDS,
) -> Verdict:
    """Try a learner's function on the cases of an exercise.

    Raises:
        TypeError: if `function` cannot be called.
        ValueError: without a case.
    """
    if not cases:
        raise ValueError("an exercise needs at least one case.")
    must_be_callable(function, "exercise")
    title = getattr(function, "__name__", type(function).__name__)
    title = title.removeprefix("my_").removeprefix("solution_")
    if is_untouched(function):
        return Verdict("not started", title, ("Not started yet.",))
    found = []
    for each in cases:
        found.append(each.run(function, seconds))
        if found[-1][0].unfinished:
            break  # nor would it finish on the other inputs
    bad = [i for i, (_, complaint) in enumerate(found) if complaint]
    if not bad:
        return _right(title, function, cases, [outcome for outcome, _ in found])
    if len(found) == len(cases):
        for version, sentence in wrong:
            if _explains(version, cases, [outcome for outcome, _ in found], seconds):
                return Verdict(
                    "wrong", title, (sentence,), example=_sentence(found[bad[0]][1] or "")
                )
    if all(outcome.answer is None and not outcome.trouble for outcome, _ in found):
        return Verdict("wrong", title, (unsaid(),), line=last_line(function))
    outcome, complaint = found[bad[0]]
    tried = cases[bad[0]].case
    if outcome.trouble:
        return stopped(title, tried, outcome)
    share = f"Right on {len(cases) - len(bad)} of {len(cases)} inputs; " if len(cases) > 1 else ""
    named = f"on the input {tried.name!r}, " if tried.name else ""
    told = _diagnosed(function, cases, found) if len(found) == len(cases) else ()
    return Verdict("wrong", title, (_sentence(share + named + complaint), *told))


def _diagnosed(
    function: Callable[..., Any],
    cases: Sequence[ExerciseCase],
    found: Sequence[tuple[Outcome, str | None]],
) -> tuple[str, ...]:
    """Where the answers differ from the right ones, and how, if it is known which those are."""
    if any(each.gives is _NOTHING for each in cases):
        return ()
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):  # a function that is not written in Python
        names = []
    if any(each.through is not None or len(each.case.arguments) > len(names) for each in cases):
        names = [f"argument {i + 1}" for i in range(max(len(e.case.arguments) for e in cases))]
    return diagnosis.diagnose(
        [
            diagnosis.Trial(
                each.case.name,
                {
                    **dict.fromkeys(names),
                    **dict(zip(names, each.case.arguments, strict=False)),
                    **each.case.keywords,
                },
                outcome.answer,
                each.gives,
                stops=bool(outcome.trouble),
                wrong=bool(complaint),
            )
            for each, (outcome, complaint) in zip(cases, found, strict=True)
        ]
    )


def _right(
    title: str,
    function: Callable[..., Any],
    cases: Sequence[ExerciseCase],
    found: Sequence[Outcome],
) -> Verdict:
    for each, outcome in zip(cases, found, strict=True):
        if outcome.changed and each.through is None:
            first = outcome.changed[0]
            what = f"argument `{first}`" if isinstance(first, str) else f"argument {first + 1}"
            sentence = f"The answer is right, but your function changes its {what}: work on a copy."
            return Verdict("wrong", title, (sentence,), line=last_line(function))
    inputs = "one input" if len(cases) == 1 else f"{len(cases)} inputs"
    return Verdict("right", title, (f"Right: {inputs}.",))


def _explains(
    version: Callable[..., Any],
    cases: Sequence[ExerciseCase],
    found: Sequence[Outcome],
    seconds: float,
) -> bool:
    """Whether a wrong version gives the learner's answers, at least three of them wrong ones."""
    telling = 0
    for each, mine in zip(cases, found, strict=True):
        theirs, complaint = each.run(version, seconds)
        if mine.trouble or theirs.trouble or not same(mine.answer, theirs.answer):
            return False
        telling += bool(complaint)
    return telling >= CONFIRMATIONS


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def exercise(
    function: Any,
    *cases: ExerciseCase,
    wrong: Sequence[tuple[Callable[..., Any], str]] = (),
) -> None:
    """Check your solution of an exercise.

    Args:
        function: yours.
        cases: what it is tried on; see `case`.
        wrong: wrong versions that people write, each with the sentence that helps. A sentence is
            shown only if the version gives your answers on all inputs, and wrong ones on three.

    Raises:
        CheckFailed: if it is wrong; the text says how.
    """
    publish(judge_exercise(function, cases, wrong), function, page_of(function))
