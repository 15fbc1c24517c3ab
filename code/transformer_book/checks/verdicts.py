"""What a check tells a learner."""

from __future__ import annotations

import dis
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from transformer_book.checks.comparing import difference
from transformer_book.checks.components import Case, Component, Mistake
from transformer_book.checks.learners_code import code_of
from transformer_book.checks.running import Outcome, in_words, tensors_of


@dataclass(frozen=True)
class Verdict:
    """What a check found.

    Attributes:
        status: `"not started"`, `"right"`, `"convention"` or `"wrong"`.
        component: the name of what was checked.
        sentences: what to tell the learner, in order.
        mistakes: the known mistakes that explain the learner's numbers; several if they
            cannot be told apart, or come together (then `together`).
        together: the mistakes are made at the same time.
        example: the smallest numeric difference.
    """

    status: str
    component: str
    sentences: tuple[str, ...]
    mistakes: tuple[Mistake, ...] = ()
    together: bool = False
    example: str = ""
    line: int | None = None

    def text(self) -> str:
        """The verdict as plain text."""
        return " ".join(part for part in (*self.sentences, self.example) if part)


class CheckFailed(AssertionError):
    """The check's verdict on a wrong attempt; notebooks show its sentences, not a traceback."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.text())
        self.verdict = verdict

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of the traceback (its own hook for this)."""
        return [f"CheckFailed: {self}"]


def all_right(component: Component, cases: Sequence[Case], found: Sequence[Outcome]) -> Verdict:
    """The verdict on what is right on every input."""
    sentences = [
        f"Right: {len(cases)} inputs" + (", gradients, too." if component.differentiable else ".")
    ]
    if any(outcome.printed for outcome in found):
        sentences.append("(What it printed meanwhile was left out.)")
    return Verdict("right", component.name, tuple(sentences))


def unsaid(function: Any = None) -> str:
    """What to tell a learner whose function returns nothing."""
    if not _gives(function):
        return "It returns nothing (None): is the `return` missing?"
    return (
        "It returns nothing (None): no `return` is reached, or what stands behind it gives None, "
        "as methods do that change a list, a dictionary or a set in place (`sort`, `append`, "
        "`update`)."
    )


def _gives(function: Any) -> bool:
    """Whether some `return` of a function has something behind it."""
    steps = [*dis.get_instructions(code_of(function))] if function and code_of(function) else []
    return any(
        step.opname == "RETURN_VALUE" and (before.opname, before.argval) != ("LOAD_CONST", None)
        for before, step in itertools.pairwise(steps)
    )


def stopped(name: str, case: Case, mine: Outcome, *, shapes: bool = True) -> Verdict:
    """The verdict on a function that raised an exception, or did not end."""
    if mine.names_differ:
        return Verdict("wrong", name, (mine.trouble or "",))
    at = f", in line {mine.line} of your cell or file" if mine.line else ""
    of = f" The input was: {case.name}." if case.name else ""
    told = mine.trouble or ""
    called = mine.line or re.search("^It stops with TypeError: .*argument", told)
    if not called:  # neither in the learner's code, nor as it is called
        told = re.sub("^It stops", "It, or what is done with it afterwards, stops", told)
    sentences = (f"{told}{at}.{of}", _shapes(case) if shapes else "")
    return Verdict("wrong", name, sentences, line=mine.line)


def _shapes(case: Case) -> str:
    """The shapes of the input, for a learner whose function stopped."""
    of_class = isinstance(case.arguments[0], tuple)  # sizes; behind them the weights
    given = case.arguments[2:] if of_class else (*case.arguments, *case.keywords.values())
    shapes = [tuple(tensor.shape) for tensor in tensors_of(given)]
    if len(shapes) == 1:
        return f"Its tensor has the shape {shapes[0]}."
    return f"Its tensors have the shapes {', '.join(map(str, shapes))}." if shapes else ""


def of_mistakes(
    component: Component,
    cases: Sequence[Case],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
    wrong: Sequence[int],
    explained: Sequence[tuple[Mistake, ...]],
) -> Verdict:
    """The verdict on what known mistakes explain; `wrong` are the places of the wrong answers."""
    first = next((i for i in wrong if not found[i].trouble), wrong[0])
    example = f"{in_words(found[first])}." if found[first].trouble else ""
    example = example or first_difference(found[first], expected[first])
    if example:
        example = f"On the input {cases[first].name!r}: {example[0].lower()}{example[1:]}"
    told = tuple(itertools.chain(*explained))
    convention = all(mistake.kind == "convention" for mistake in told)
    status, kind = ("convention", "conventions") if convention else ("wrong", "mistakes")
    if len(told) == 1:
        (mistake,) = told
        sentences = (as_a_rule(mistake), mistake.cause, _where(component, mistake))
        return Verdict(status, component.name, sentences, told, example=example)
    if len(explained[0]) == 2:
        a, b = sorted(explained[0], key=lambda mistake: mistake.kind == "convention")
        what, first, second = f"Two known {kind}", "First", "Second"
        if a.kind != b.kind:
            what = "A known mistake and a convention"
            first, second = "The mistake", "The convention, which may stay"
        places = [_where(component, mistake) for mistake in (a, b)]
        once = f" {places[0]}" if places[0] != places[1] else ""
        sentences = (
            # A symptom is that of one mistake alone, and a name that of one way to make it.
            f"{what} together give your numbers.",
            f"{first}, “{a.name}”: {a.cause}{once}",
            f"{second}, “{b.name}”: {b.cause} {places[1]}",
        )
        pair = explained[0]
        return Verdict(status, component.name, sentences, pair, together=True, example=example)
    sentences = (
        f"{len(told)} known {kind} give your numbers; the check cannot tell them apart"
        f"{'.' if convention else ', and the cause may be another.'}",
        *(
            f"{as_a_rule(m, 'one of them') if m.symptom != before else ''} {m.cause} "
            f"{_where(component, m)}".lstrip()
            for m, before in zip(told, ["", *(m.symptom for m in told)], strict=False)
        ),
    )
    return Verdict(status, component.name, sentences, told, example=example)


def as_a_rule(mistake: Mistake, what: str = "your version") -> str:
    """The symptom of a mistake as it is told: some input nearly always makes an exception.

    A window may be longer than the sentence, a factor may be 1, a sentence may have no padding.
    What a convention is holds always.
    """
    symptom = mistake.symptom
    if mistake.kind == "convention":
        return symptom
    begins = symptom if symptom.startswith("True ") else f"{symptom[0].lower()}{symptom[1:]}"
    return f"What {what} does, as a rule: {begins}"


def _where(component: Component, mistake: Mistake) -> str:
    """Where the book explains it."""
    return f"See chapter {mistake.chapter or component.chapter}, “{mistake.section}”."


def first_difference(mine: Outcome, right: Outcome) -> str:
    """Where two answers first differ, as a sentence; nothing if there is no difference."""
    found = difference(mine.answer, right.answer)
    return f"{found[0].upper()}{found[1:]}." if found else ""
