"""What is wrong where no known mistake explains it: troubles, those of most inputs first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from transformer_book.checks.attempt import Attempt
from transformer_book.checks.running import Outcome, in_words
from transformer_book.checks.verdicts import first_difference

STOPS, DIFFERS, CHANGES = "it stops", "its answers differ", "it changes its arguments"


@dataclass(frozen=True)
class Trouble:
    """One thing that happens on some inputs, by their places: `STOPS`, `DIFFERS` or `CHANGES`."""

    kind: str
    inputs: tuple[int, ...]

    def share(self, attempt: Attempt) -> str:
        """On how many inputs of those tried: `3 of 11`."""
        return f"{len(self.inputs)} of {len(attempt.found)}"


def troubles_of(attempt: Attempt) -> list[Trouble]:
    """Every input with something wrong, in one trouble each; most inputs first.

    Exceptions of one kind in one line are one trouble. What does not end stands before all others:
    the inputs behind it were not tried. Where as many inputs have two troubles, the one that
    comes first does.
    """
    groups: dict[tuple[object, ...], list[int]] = {}
    for i, mine in enumerate(attempt.found):
        if mine.trouble:
            kind = mine.trouble.partition(":")[0]
            groups.setdefault((STOPS, kind, mine.line), []).append(i)
        elif i in attempt.wrong:
            groups.setdefault((DIFFERS,), []).append(i)
        elif mine.changed:
            groups.setdefault((CHANGES, mine.changed[0]), []).append(i)
    found = [Trouble(str(key[0]), tuple(inputs)) for key, inputs in groups.items()]

    def rank(trouble: Trouble) -> tuple[bool, int]:
        endless = attempt.found[trouble.inputs[0]].unfinished
        return not endless, -len(trouble.inputs)

    return sorted(found, key=rank)


def in_brief(attempt: Attempt, troubles: Sequence[Trouble]) -> Iterator[str]:
    """Each trouble in a sentence."""
    for trouble in troubles:
        first = trouble.inputs[0]
        mine, right = attempt.found[first], attempt.expected[first]
        if len({attempt.found[i].trouble for i in trouble.inputs}) > 1:  # each says something else
            mine = replace(mine, trouble=(mine.trouble or "").partition(":")[0])
        what = {
            STOPS: lambda m=mine: in_words(m),
            DIFFERS: lambda m=mine, r=right: _clause(first_difference(m, r)),
            CHANGES: lambda m=mine: f"your code changes {what_it_changes(attempt, m)}",
        }[trouble.kind]()
        named = repr(attempt.cases[first].name)
        which = f"the first of them {named}" if len(trouble.inputs) > 1 else named
        yield f"On {trouble.share(attempt)} inputs, {which}: {what}."


def _clause(sentence: str) -> str:
    return f"{sentence[:1].lower()}{sentence[1:]}".removesuffix(".")


def what_it_changes(attempt: Attempt, mine: Outcome) -> str:
    """What was changed in place, in words."""
    if attempt.component.form == "class":
        return "one of its inputs"
    first = mine.changed[0]
    return f"its argument `{attempt.component.names[first] if isinstance(first, int) else first}`"
