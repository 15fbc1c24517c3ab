#!/usr/bin/env python3
"""Is what a verdict tells true? Each sentence is held against the version that it is told of.

A sentence is read again by its words, and must hold on every input: an input on which the version
stops, or gives nan, counts as any other. A sentence about single inputs must hold on those. A
sentence without a reader here is reported, too: a new kind of sentence needs one.

The versions are all of `tests/checks/corpus`, and for each component the mutants of its reference,
the known mistakes and their pairs (as in `find_inputs`). `--every N` takes one in N of each.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import inspect
import io
import math
import re
import sys
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import torch
from common import ROOT

sys.path.insert(0, str(ROOT))

QUOTED = r"('.*?'|\".*?\")"  # the name of an input, in double quotes if it has an apostrophe
THERE = rf"On (?:the input {QUOTED}|all (\d+) inputs (?:that differ|on which it stops so)),"
STEP = r"(comes out of|goes first into) the step “(.*?)”(?: \([\w, ]+\))?(?:, the (\w+) time)?"
MENDED = (
    r"(?:With that, l|L)ine (\d+) of your cell or file: (.*) yours would be (?:right on "
    r"(?:all (\d+) inputs|(\d+) of \d+ inputs, not (\d+))(?:; the cause may be another)?|"
    r"the convention “(.*)”)\."
)
SECONDS = 5.0  # of processor time, for one input
ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"] + [
    f"{i}th" for i in range(9, 500)
]
# What a symptom says of the rows, the signs and the axes of an answer.
NUMBERS: dict[str, Callable[[torch.Tensor], Any]] = {
    r"^Each row sums to less than one": lambda x: x.sum(-1) < 1 - 1e-4,
    r"^The (?:probabilities|rows)\b(?: of [\w ]+)? do not sum to one": lambda x: (
        (x.sum(-1) - 1).abs() > 1e-5
    ),
    r"^The columns sum to one": lambda x: (
        (x.sum(-2) - 1).abs() < 1e-4 if x.dim() > 1 else torch.tensor(False)
    ),
    r"some of them are negative": lambda x: (x < 0).any(),
    r"^No output is negative": lambda x: x >= 0,
    r"^Every number is negative or zero": lambda x: x <= 0,
    r"holds 0 and 1 as numbers": lambda x: (x == 0) | (x == 1) if x.dtype != torch.bool else x < x,
}
# What it says of the size of all that is returned.
SIZE = (
    r"(?:The (?:result|loss|score|vectors|weights|logits|gradients)|(?:All )?[Gg]radients) "
    r"(?:is|are|stay) (?:far |shortened )?too (?:(large|long|high)|small|short|low|much)\b"
    r"(?!.*unless)"
)
SHAPE = r"shape(?: is)? \(([^()]*)\)"
IDLE = (
    r"(?:The (?:arguments? )?)?(.+?)(?: and (.+?))? "
    r"(?:do(?:es)? not matter|changes? nothing|has no effect)"
)
Reader = Callable[..., bool]
READERS: list[tuple[re.Pattern[str], Reader]] = []


def reads(pattern: str) -> Callable[[Reader], Reader]:
    """Notes that the decorated method says whether a sentence of this form is true."""

    def note(reader: Reader) -> Reader:
        READERS.append((re.compile(pattern, re.DOTALL), reader))
        return reader

    return note


def holds_a_number(value: Any) -> bool:
    """Whether an answer holds a number but 0: nan, infinity and 0 are what many versions give."""
    if isinstance(value, dict):
        return any(map(holds_a_number, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(holds_a_number, value))
    if isinstance(value, torch.Tensor):
        return bool((value.isfinite() & (value != 0)).any())
    if isinstance(value, float):
        return math.isfinite(value) and value != 0
    return isinstance(value, int) and value != 0


def true_numbers(symptom: str, answer: Any) -> bool:
    """Whether an answer is as a symptom says without a condition: in its rows, signs and axes."""
    if not isinstance(answer, torch.Tensor) or answer.isnan().any():
        return True
    axes = re.search(SHAPE, symptom)
    claims = [holds for claim, holds in NUMBERS.items() if re.search(claim, symptom)]
    return (not axes or answer.dim() == len(axes[1].split(", "))) and all(
        bool(holds(answer).all()) for holds in claims
    )


def true_size(symptom: str, mine: Any, right: Any) -> bool:
    """Whether an answer is too large, or too small, if a symptom says so without a condition.

    What is too large by a factor may have the right size, for the factor may be 1.
    """
    if not (said := re.match(SIZE, symptom)):
        return True
    own, other = _size(mine), _size(right)
    return (own > other if said[1] else own < other) or (own == other and " by " in symptom)


def _size(answer: Any) -> float:
    if isinstance(answer, (dict, list, tuple)):
        parts = answer.values() if isinstance(answer, dict) else answer
        return sum(map(_size, parts))
    return float(torch.as_tensor(answer).double().square().nansum())


def truly_idle(checks: Any, attempt: Any, symptom: str) -> bool:
    """Whether arguments of which a symptom says that they do not matter can be others."""
    names = list(inspect.signature(attempt.plain.pipeline).parameters)[1:]
    read = re.match(IDLE, symptom)
    words = [word.strip("`") for word in read.groups() if word] if read else []
    idle = {n for n in names for word in words if word in (n, f"{n}s", f"{n[:-1]}ies")}
    for case in attempt.cases if idle and attempt.component.form == "function" else ():
        arguments = [
            _other(x) if n in idle else x for n, x in zip(names, case.arguments, strict=False)
        ]
        keywords = {n: _other(x) if n in idle else x for n, x in case.keywords.items()}
        given = case, replace(case, arguments=tuple(arguments), keywords=keywords)
        before, after = (attempt.call(each, gradients=False) for each in given)
        if not before.trouble and not checks.comparing.same(after.answer, before.answer):
            return False
    return True


def _other(value: Any) -> Any:
    """Another value of the same kind and shape; a mask that hides nothing."""
    if isinstance(value, torch.Tensor):
        return torch.ones_like(value) if value.dtype == torch.bool else 1 + value.flip(-1) * 2
    return value / 2 + 0.1 if isinstance(value, float) else value


class Told:
    """A version, its outcomes on all inputs, and the sentences that its verdict tells."""

    def __init__(self, checks: Any, component: Any, made: Any) -> None:
        self.checks, self.same, self.made = checks, checks.comparing.same, made
        again = made
        with contextlib.suppress(Exception):  # an object may count its calls
            again = copy.deepcopy(made)
        self.attempt = checks.attempt.Attempt.of(component, again, SECONDS)
        self.verdict = checks.judging.judge(component, made, checks.MISTAKES, seconds=SECONDS)
        self.found, self.cases = self.attempt.found, self.attempt.cases
        self.expected = list(self.attempt.expected)
        self.names = [case.name for case in self.cases]
        self.trials = checks.diagnosis._trials(
            self.attempt.plain, self.attempt.given, self.found, self.expected
        )
        # How answers differ may be told against a convention that is nearer.
        self.nearer, self.goal = "", list(self.expected)
        if any(s.startswith(checks.judging.NEARER) for s in self.verdict.sentences):
            self.nearer, held = checks.judging.nearer(self.attempt)
            self.goal = list(held.expected)
        trials = checks.diagnosis._trials(
            self.attempt.plain, self.attempt.given, self.found, self.goal
        )
        self.answered = [trial for trial in trials if trial.wrong and not trial.stops]

    def untrue(self) -> Iterator[str]:
        """The sentences that are not true, or that cannot be read; of what is right, none."""
        if self.verdict.status == "right":
            return
        if not self.true_example(self.verdict.example):
            yield self.verdict.example
        if self.verdict.mistakes:
            yield from self._untrue_names()
            return
        sentences = filter(None, self.verdict.sentences)
        told = [
            text.replace("inputs whose answers differ", "inputs that differ") for text in sentences
        ]
        if "the gradients are not" in told[0]:  # the next is about them: see test_diagnosis
            told = [told[0], *(sentence for sentence in told if re.fullmatch(MENDED, sentence))]
        yield from (sentence for sentence in told if not self.true(sentence))

    def true_example(self, example: str) -> bool:
        """Whether the numbers of an example are those of an input, or of none in particular."""
        if not example or "the gradients are not" in self.verdict.text():
            return True
        example, drawn, _ = example.partition(f" {self.checks.judging.DRAWS}")
        example = example.removesuffix(f" {self.attempt.plain.compared}")
        if drawn and not self.draws():
            return False
        if example.startswith(("Called with the input", "In a later call")):
            return self.verdict.mistakes[0].name == self.checks.judging.KEPT
        example = re.sub("^Held against the convention, on", "On", example)
        read = re.match(rf"On the input {QUOTED}: ", example)
        of = ast.literal_eval(read[1]) if read else None
        told = example[read.end() if read else 0 :].partition(" The input: ")[0]
        expected: Any = self.goal
        beside = [m for m in self.verdict.mistakes if m.kind == "convention"]
        if self.verdict.together and len(beside) == 1:  # a mistake beside a convention
            expected = self.checks.explaining.known_outcomes(self.attempt.component, (*beside,))
        return any(
            told.lower()
            == (
                f"{self.checks.running.in_words(mine)}."
                if mine.trouble
                else self.checks.verdicts.first_difference(mine, right)
            ).lower()
            for mine, right, name in zip(self.found, expected, self.names, strict=False)
            if of in (None, name)
        )

    def draws(self) -> bool:
        """Whether other random numbers give another answer to an input."""
        pairs = [(c, t.mine) for c, t in zip(self.cases, self.trials, strict=False) if t.wrong]

        def seeded(*given: Any, **more: Any) -> Any:
            torch.default_generator.manual_seed(3)
            return self.attempt.tried(*given, **more)

        call = self.checks.running.call
        return any(not self.same(call(seeded, c, gradients=False).answer, x) for c, x in pairs)

    def true(self, sentence: str) -> bool:
        """Whether a sentence is true of this version."""
        for pattern, reader in READERS:
            if read := pattern.fullmatch(sentence):
                return reader(self, *read.groups())
        return self.of_answers(sentence, self.answered)

    # --- which inputs -----------------------------------------------------------------------------

    @reads(
        r"Right on (\d+) of (\d+) inputs(?: \(on (\d+), if answers alone count\))?; the first that "
        r"differs: (.*)\."
    )
    def share(self, right: str, of: str, answers: str | None, first: str) -> bool:
        counts = [not trial.wrong for trial in self.trials]
        goal = self.attempt
        full = [self.checks.mending.right(goal, i, mine) for i, mine in enumerate(self.found)]
        both = zip(self.names, self.trials, strict=False)
        named = next(name for name, t in both if t.wrong and not t.stops)
        said = int(right), int(answers or right), int(of), first
        return (sum(full), sum(counts), len(counts), named) == said

    @reads(r"The (\d+) inputs behind it were not tried\.")
    def not_tried(self, many: str) -> bool:
        return self.found[-1].unfinished and len(self.cases) - len(self.found) == int(many)

    @reads(
        r"Your \w+ changes (.*?)(?: in line [\d or]+ of your cell or file)?: what "
        r"reads it afterwards may get other data\."
    )
    def besides(self, what: str) -> bool:
        first = next((o for o in self.found if o.changed), None)
        return first is not None and what == self.checks.troubles.what_it_changes(
            self.attempt, first
        )

    @reads(
        rf"On the input {QUOTED} your (\w+) call of `(.*?)` hands it (\d+) rows?; each call of the "
        r"right version hands it (\d+)\."
    )
    def rows(self, name: str, which: str, function: str, many: str, due: str) -> bool:
        number = ORDINALS.index(which)
        return any(
            len(mine[function][number][0]) == int(many) != int(due)
            and {len(given[0]) for given in right[function]} == {int(due)}
            for mine, right in self._handed(name)
        )

    @reads(r"It (does so|stops with \w+)( in that line|) on (\d+) of (\d+) inputs\.")
    def so_often(self, how: str, there: str, times: str, of: str) -> bool:
        kind = self.verdict.sentences[0].split(":")[0]
        alike = [o for o in self.found if (o.trouble or "").split(":")[0] == kind]
        here = [o for o in alike if o.line == self.verdict.line]
        counted = here if there or how == "does so" else alike
        return (len(counted), len(self.found)) == (int(times), int(of))

    @reads(
        r"Of the \d+ inputs (?:it|its answer) is wrong exactly on those (.*?)"
        r"(?: \(the check makes its inputs of .*\))?\."
    )
    def exactly(self, said: str) -> bool:
        return any(
            [bool(each.holds(t)) == (each.text == said) for t in self.trials]
            == [t.wrong for t in self.trials]
            for each in self._conditions(said)
        )

    def _conditions(self, said: str) -> list[Any]:
        options = self.checks.diagnosis.conditions.conditions(self.trials)
        return [each for each in options if said in (each.text, each.opposite)]

    @reads(r"On (\d+) of (\d+) inputs, (?:the first of them )?" + QUOTED + r": (.*)\.")
    def in_brief(self, times: str, of: str, first: str, what: str) -> bool:
        place = self.names.index(ast.literal_eval(first))
        mine, right = self.found[place], self.expected[place]
        if mine.trouble:
            kind = mine.trouble.split(":")[0]
            alike = [o.trouble for o in self.found if o.trouble and o.line == mine.line]
            same_kind = [t for t in alike if t.split(":")[0] == kind]
            mine = mine if len({*same_kind}) == 1 else replace(mine, trouble=kind)
            told = self.checks.running.in_words(mine) == what
            return told and (len(same_kind), len(self.found)) == (int(times), int(of))
        if what.startswith("your code changes"):
            number = sum(bool(o.changed) for o in self.found)
            return bool(mine.changed) and int(times) <= number
        told = f"{what[:1].upper()}{what[1:]}."
        differ = len(self.answered)
        return (differ, told) == (int(times), self.checks.verdicts.first_difference(mine, right))

    # --- stops, and what is told of right answers -------------------------------------------------

    @reads(
        r"((?:It(?:, or what is done with it afterwards,)? (?:stops|calls|waits) |An endless |"
        r"An update |No gradient can |Not finished ).*?)"
        r"(?:, in line (\d+) of your cell or file)?\.(?: The input was: (.*)\.)?"
    )
    def stops(self, trouble: str, line: str | None, name: str | None) -> bool:
        trouble = trouble.replace(", or what is done with it afterwards,", "", 1)
        return any(
            outcome.trouble == trouble and (line is None or outcome.line == int(line))
            for outcome, case in zip(self.found, self.names, strict=False)
            if name in (None, case)
        )

    @reads(r"Its tensors? ha(?:s|ve) the shapes? .*\.")
    def shapes(self) -> bool:
        cases = [c for c, o in zip(self.cases, self.found, strict=False) if o.trouble]
        return any(self.checks.verdicts._shapes(c) in self.verdict.sentences for c in cases)

    @reads(
        r"On (?:all (\d+)|(\d+) of (\d+)) inputs the (?:numbers|answers) are "
        r"(right|(?:nearly )?those of another convention), but (?:on (\d+) of them )?your \w+ "
        r"changes .* The input was: (.*)\."
    )
    def changes(
        self,
        every: str | None,
        times: str,
        of: str,
        numbers: str,
        these: str | None,
        name: str,
    ) -> bool:
        right = [
            bool(o.changed) and not t.wrong for o, t in zip(self.found, self.trials, strict=False)
        ]
        changed = bool(self.found[self.names.index(name)].changed)
        if every:
            often = sum(bool(outcome.changed) for outcome in self.found)
            return changed and often == int(these or every) and self.slopes(every, numbers)
        return changed and (sum(right), len(right)) == (int(times), int(of))

    @reads(
        r"On all (\d+) inputs the (?:numbers|answers) are "
        r"(right|(?:nearly )?those of another convention), but (?:on \d+ of them )?"
        r"(?:no gradient|the grad).*"
    )
    def slopes(self, of: str, numbers: str) -> bool:
        right = numbers != "right" or not any(trial.wrong for trial in self.trials)
        return right and len(self.found) == int(of)

    @reads(r"Called again with the first input, after the others, it gives another answer: .*")
    def again(self) -> bool:
        again = self.attempt.call(self.cases[0], gradients=False)
        return bool(again.trouble) or not self.same(again.answer, self.found[0].answer)

    @reads(
        r"The parameter (\S+) has the shape (\(.*?\)) in your class, built with (\(.*?\)); it "
        r"should be (\(.*?\))\."
    )
    def parameter(self, name: str, own: str, sizes: str, right: str) -> bool:
        built = self.made(*ast.literal_eval(sizes))
        return str(tuple(built.get_parameter(name).shape)) == own != right

    @reads(r"It returns nothing \(None\): (?:is the `return` missing\?|no `return` is .*\.)")
    def nothing(self) -> bool:
        return all(o.answer is None and not o.trouble for o in self.found)

    @reads(r"Yours is nearer to the convention “(.*?)” than to the book's version; .*")
    def is_nearer(self, name: str) -> bool:
        return name == self.nearer != ""

    @reads(r"`(\w+)`(?: is read nowhere in your code|, which line \d+ .* is read nowhere)\.")
    def unread(self, name: str) -> bool:
        code = self.checks.mending.Code.of(self.made)
        nodes = [node for part in code.parts for node in ast.walk(part)] if code else []
        names = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        return name not in names

    @reads(r"Line (\d+) of your cell or file computes `(.*)` and drops what comes out\.")
    def drops(self, line: str, call: str) -> bool:
        code = self.checks.mending.Code.of(self.made)
        nodes = [node for part in code.parts for node in ast.walk(part)] if code else []
        alone = [n for n in nodes if isinstance(n, ast.Expr) and n.lineno == int(line)]
        return call in [self.checks.mending.written(n.value) for n in alone]

    @reads(r"Line (\d+) of your cell or file sets `(\w+)`, the name of the loop, to what .*")
    def sets_in_vain(self, line: str, name: str) -> bool:
        code = self.checks.mending.Code.of(self.made)
        nodes = [node for part in code.parts for node in ast.walk(part)] if code else []
        here = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
        later = [n for n in here if n.lineno > int(line) and isinstance(n.ctx, ast.Load)]
        return any(n.lineno == int(line) and isinstance(n.ctx, ast.Store) for n in here) and not (
            later
        )

    @reads(r"(?:The default value of|What a call leaves in|It keeps something|Your \w+ ha).*")
    def of_the_code(self) -> bool:
        return True  # about names in the code, not about answers

    # --- as if ------------------------------------------------------------------------------------

    @reads(r"On (?:all \d+ inputs|the input) your answer is `(\w+)`, unchanged\.")
    def unchanged(self, name: str) -> bool:
        return all(not t.stops and self.same(t.mine, t.given[name]) for t in self.trials)

    @reads(
        r"On (?:all \d+ inputs your answer|the \d+ of \d+ inputs (where) yours gives an answer, "
        r"it) is what the right version gives (.*)\."
    )
    def as_if(self, where: str | None, text: str) -> bool:
        asif, plain = self.checks.diagnosis.asif, self.attempt.plain
        version = self.checks.diagnosis._version
        given = [t for t in self.trials if not (t.stops and where)]
        kinds = self.checks.diagnosis._kinds_of(plain)
        options = [
            *asif.changes(self.trials, version(plain, {}), kinds),
            *asif.others(
                [(t, version(plain, steps)) for t, steps in asif.versions_of(plain.steps)]
            ),
        ]
        # An answer of nothing but nan is one that many versions give.
        telling = [t for t in given if t.wrong and holds_a_number(t.mine)]
        return len(telling) > 1 and any(
            all(not t.stops and asif._explains(change, t, answer) for t in given)
            for change, answer in options
            if change.text == text
        )

    # --- inside -----------------------------------------------------------------------------------

    @reads(
        rf"On the input {QUOTED} your (\w+) call of `([^`]*)` lacks the row (\[[^]]*\]), which it "
        r"should get, and (your .*\.)"
    )
    def lacks(self, name: str, which: str, function: str, row: str, and_then: str) -> bool:
        number, missing = ORDINALS.index(which), ast.literal_eval(row)
        lacking = any(
            missing in right[function][number][0].tolist()
            and missing not in mine[function][number][0].tolist()
            for mine, right in self._handed(name)
        )
        return lacking and self.true(f"On the input {name} {and_then}")

    @reads(rf"On the input {QUOTED} your (\w+) call of `([^`]*)` hands it (.*)\.")
    def hands(self, name: str, which: str, function: str, what: str) -> bool:
        number, at = ORDINALS.index(which), re.search(r" as its (\w+) argument, w", what)
        place = ORDINALS.index(at[1]) if at else 0
        return any(
            len(mine[function]) > number
            and not any(self.same(mine[function][number][place], x[place]) for x in right[function])
            and (len(right[function]) > number or "where it should get" not in what)
            for mine, right in self._handed(name)
        )

    @reads(
        rf"On the input {QUOTED} your (\w+) call of `([^`]*)` hands it the same as the one before"
        r"(?:, where it should get .*)?\."
    )
    def repeated(self, name: str, which: str, function: str) -> bool:
        n = ORDINALS.index(which)
        return any(
            self.same(mine[function][n], mine[function][n - 1])
            and not self.same(right[function][n], right[function][n - 1])
            for mine, right in self._handed(name)
        )

    @reads(rf"On the input {QUOTED} you (?:never call `(.*?)`|call `(.*?)` .*; what (.*))\.")
    def seldom(self, name: str, never: str | None, fewer: str | None, how: str | None) -> bool:
        return any(
            len(mine[never]) == 0 < len(right[never])
            if never
            else 0 < len(mine[fewer]) < len(right[fewer])
            and (not (how or "").endswith("is right") or self._in_turn({fewer: mine[fewer]}, right))
            for mine, right in self._handed(name)
        )

    @reads(
        rf"{THERE} (?:all that you hand to (.*) (is right|the right version hands to it, too)|"
        rf"you call no function of these); on the input {QUOTED} your answer is .*\."
    )
    def handed(
        self, one: str | None, many: str | None, names: str | None, how: str | None, name: str
    ) -> bool:
        places = self.checks.troubles.troubles_of(self.attempt)[0].inputs
        given = [each for i in places for each in self._handed(repr(self.names[i]))]
        return (
            self._looked_at(one, many)
            and {f"`{name}`" for mine, _ in given for name in mine}
            == {*(names.split(" and ") if names else ())}
            and all(
                any(self.same(x, y) for y in right[function])
                for mine, right in given
                for function, calls in mine.items()
                for x in calls
            )
            and (how != "is right" or all(self._in_turn(*each) for each in given))
        )

    def _in_turn(self, mine: Any, right: Any) -> bool:
        """Whether each call hands over what that of the right version does, rows in any order."""

        def rows(given: Any) -> Any:
            return [sorted(x.tolist()) if self.checks.inside._of_ids(x) else x for x in given]

        return all(
            len(calls) <= len(right[function])
            and all(
                self.same(rows(x), rows(y)) for x, y in zip(calls, right[function], strict=False)
            )
            for function, calls in mine.items()
        )

    def _handed(self, name: str) -> Iterator[tuple[Any, Any]]:
        """What each function is handed, by the learner and by the right version."""
        attempt = self.attempt
        for place in (i for i, n in enumerate(self.names) if n == ast.literal_eval(name)):
            both = []
            for made in (attempt.anew or attempt.function, attempt.component.reference):
                calls: Any = defaultdict(list)
                for function, given, _ in self.checks.inside._called(attempt, place, made)[1]:
                    calls[function].append(given)
                both.append(calls)
            yield both[0], both[1]

    @reads(MENDED)
    def mends(self, *_: str | None) -> bool:
        """Whether the changes that are told, made one after the other, do what is said."""
        mending = self.checks.mending
        code = mending.Code.of(self.made, self.attempt.held)
        goals = dict(mending.conventions(self.attempt))
        right = self._rightness(self.made, self.attempt)
        for said in filter(None, (re.fullmatch(MENDED, s) for s in self.verdict.sentences)):
            line, told, full, some, before, convention = said.groups()
            if before and sum(right) != int(before):
                return False
            goal = goals.get(convention, self.attempt)
            right = self._rightness(code.build(), goal)
            wrong = [i for i, good in enumerate(right) if not good]
            seen = (mending.values_of(code, self.attempt, i) for i in wrong)
            for edit in (edit for values in seen for edit in mending.edits(code, values)):
                if (edit.line, edit.told()) != (int(line), told):
                    continue
                edit.swap()
                right = self._rightness(code.build(), goal)
                if sum(right) == int(full or some or len(right)):
                    break
                edit.swap()
            else:
                return False
        return True

    def _rightness(self, made: Any, goal: Any) -> list[bool]:
        """For each input, whether a function or class is right there in all respects."""
        component, mending = self.attempt.component, self.checks.mending
        tried = component.observe(made)
        return [
            mending.right(
                goal,
                i,
                self.checks.running.call(
                    tried, case, gradients=component.differentiable, seconds=SECONDS
                ),
            )
            for i, case in enumerate(self.cases)
        ]

    def _inside(self) -> Iterator[tuple[Any, Any]]:
        """The steps of the right version, and the values of the learner's lines, where it fails."""
        for place in self.checks.troubles.troubles_of(self.attempt)[0].inputs:
            yield place, self.checks.inside._steps(self.attempt, place)

    def _looked_at(self, name: str | None, many: str | None) -> bool:
        """Whether these are the inputs of the first trouble: one by its name, or how many."""
        inputs = self.checks.troubles.troubles_of(self.attempt)[0].inputs
        one = name is None or self.names[inputs[0]] == ast.literal_eval(name)
        return one and len(inputs) == int(many or 1)

    @staticmethod
    def _key(way: str, step: str, time: str | None) -> Any:
        number = 0 if time is None else ORDINALS.index(time)
        return "from" if way == "comes out of" else "into", (step.replace(" ", "_"), number)

    def _at(self, steps: Any, way: str, step: str, time: str | None) -> Any:
        return steps[self._key(way, step, time)]

    @reads(
        rf"{THERE} line (\d+) of your cell or file has(, its axes in another order,|) what {STEP} "
        rf"of the right version; (?:(?:that value is|the numbers are) right: look at .*|no tensor "
        rf"of yours is what {STEP})\."
    )
    def comes_up(
        self, name: str | None, many: str | None, line: str, how: str, *said: str | None
    ) -> bool:
        inside = self.checks.inside
        if not self._looked_at(name, many):
            return False
        for place, steps in self._inside():
            values = inside._values(self.attempt, place)
            lines = {n for n, x in values if inside._alike(x, self._at(steps, *said[:3]))}
            if int(line) not in lines:
                return False
            if not how and not inside._in_order(
                self.attempt, place, self._key(*said[:3]), int(line)
            ):
                return False
            if said[3] and any(inside._alike(x, self._at(steps, *said[3:])) for _, x in values):
                return False
        return True

    @reads(
        rf"{THERE} one value explains your answer: where the right version has what {STEP}, a "
        r"value in line (\d+) of your cell or file is another one; it, or what goes into it, is "
        r"wrong: (.*\.)"
    )
    def all_but_one(
        self,
        name: str | None,
        many: str | None,
        way: str,
        step: str,
        time: str | None,
        line: str,
        relation: str,
    ) -> bool:
        inside = self.checks.inside
        number, rows = int(line), []
        for place, steps in self._inside():
            right = self._at(steps, way, step, time)
            values = inside._values(self.attempt, place)
            rows.append((place, dict(inside._leads(self.attempt, place, right, values)), right))
        if (
            not self._looked_at(name, many)
            or not all(found for _, found, _ in rows)
            or number not in rows[0][1]
        ):
            return False
        common = all(number in found for _, found, _ in rows)
        both = [(i, f[number] if common else next(iter(f.values())), x) for i, f, x in rows]
        leaves = [inside._leaf(self.attempt, *each) for each in both]
        told = relation.replace("the right value", "the right answer")
        if told.startswith("on the input"):
            return told == inside._entry(self.attempt, *both[0])
        told = f"{told[0].upper()}{told[1:]}"
        return self._relation(told, leaves) or self._place(told, leaves)

    # --- answers ----------------------------------------------------------------------------------

    def of_answers(self, sentence: str, trials: list[Any]) -> bool:
        """Whether a sentence on how answers differ, and where, holds for all these inputs."""
        of = (
            rf"On (?:the input {QUOTED}|the first that differs|all (\d+) inputs that differ|"
            rf"(\d+) of the (\d+) inputs that differ, the first {QUOTED}): (.*)\."
        )
        if one := re.fullmatch(of, sentence):
            name, every, some, among, first, facts = one.groups()
            if some:
                alike = self.checks.diagnosis.alike_in_parts(trials)
                counted = (len(alike), len(trials)) == (int(some), int(among))
                named = bool(alike) and alike[0].name == ast.literal_eval(first)
                return counted and named and self._facts(facts, alike)
            chosen = [t for t in trials if name is None or t.name == ast.literal_eval(name)]
            chosen = chosen if every else chosen[:1]
            return len(chosen) == int(every or 1) and self._facts(facts, chosen)
        return self._fact(sentence, trials)

    def _facts(self, facts: str, trials: list[Any]) -> bool:
        """Facts on one input, joined by semicolons, which may also stand inside of one."""
        parts = facts.split("; ")
        return not parts or any(
            self._fact(f"{said[0].upper()}{said[1:]}.", trials)
            and (n == len(parts) or self._facts("; ".join(parts[n:]), trials))
            for n in range(1, len(parts) + 1)
            if (said := "; ".join(parts[:n]))
        )

    def _fact(self, text: str, trials: list[Any]) -> bool:
        diagnosis = self.checks.diagnosis
        if not trials:
            return False
        parts = r"(?i)\b(what|each item that) differs|\beach item of yours"
        told = re.sub(parts, "yours", text)
        told = f"{told[0].upper()}{told[1:]}"
        leaves = [leaf for trial in trials for leaf in trial.leaves()]
        of_leaves = (diagnosis.shaped, diagnosis._kinds, diagnosis._nowhere, diagnosis._sums)
        if told in (diagnosis.tried(f, leaves) for f in of_leaves) or self._relation(told, leaves):
            return diagnosis.of_parts(told, trials) == text  # the whole answer, or parts of it
        if text in (diagnosis.tried(f, trials) for f in (diagnosis.unmoved, diagnosis.parts)):
            return True
        return self._place(text, leaves) or self._side(text, leaves)

    def _relation(self, text: str, leaves: list[Any]) -> bool:
        relations = self.checks.diagnosis.relations
        options: list[Any] = []
        for some in (relations.relations(leaves), relations._with_arguments(leaves)):
            with contextlib.suppress(Exception):  # people return things of all kinds
                options += some
        return any(
            all(relations._holds(relation)(leaf) and self._speaks(text, leaf) for leaf in leaves)
            for relation in options
            if relation.text == text
        )

    def _speaks(self, text: str, leaf: Any) -> bool:
        """Whether nothing but nan agrees, where a relation is not about nan."""
        if "nan" in text or not leaf.tensors or not leaf.mine.is_floating_point():
            return True
        return bool(leaf.mine[leaf.apart()].isfinite().any()) or "infinite" in text

    def _place(self, text: str, leaves: list[Any]) -> bool:
        places = self.checks.diagnosis.places
        if not all(leaf.tensors and leaf.right.dim() for leaf in leaves):
            return False
        differ = [leaf.apart() for leaf in leaves]
        options = [*places.places(leaves, differ), *places._of_values(leaves)]
        return any(
            all(
                (inside := places._inside(place, leaf)) is not None and not (where & ~inside).any()
                for leaf, where in zip(leaves, differ, strict=True)
            )
            for place in options
            if place.text == text
        )

    def _side(self, text: str, leaves: list[Any]) -> bool:
        """How much differs, and to which side."""
        plain = self.checks.comparing.plain
        if len(leaves) and all(isinstance(leaf.mine, list) for leaf in leaves):
            more = sum(any(x not in leaf.right for x in leaf.mine) for leaf in leaves)
            said = re.search(r"and (?:on (\d+) of them )?holds what", text)
            if more != (int(said[1] or len(leaves)) if said else 0):
                return False
            longer = {len(leaf.mine) > len(leaf.right) for leaf in leaves}
            return longer == {"too long" in text}

        sides = [plain(side) for leaf in leaves for side in (leaf.mine, leaf.right)]
        if not all(isinstance(side, (bool, int, float, torch.Tensor)) for side in sides):
            return False

        def numbers(value: Any) -> Any:
            value = plain(value)
            return value if isinstance(value, torch.Tensor) else torch.tensor(float(value))

        try:
            mine = [numbers(leaf.mine) for leaf in leaves]
            right = [numbers(leaf.right) for leaf in leaves]
        except (TypeError, ValueError):  # words, not numbers
            return False
        pairs = [
            (m.double()[where], r.double()[where])
            for m, r in zip(mine, right, strict=True)
            if m.shape == r.shape
            for where in [self.checks.comparing.apart(m, r)]
        ]
        if len(pairs) < len(leaves) or any(m.isnan().any() for m, _ in pairs):
            return False
        if re.search(r"too large|behind the right place", text):
            return all(bool((m > r).all()) for m, r in pairs)
        if re.search(r"too small|in front of the right place", text):
            return all(bool((m < r).all()) for m, r in pairs)
        if "less than a hundredth" in text:
            return all(bool(((m - r).abs() <= 0.01 * r.abs().max()).all()) for m, r in pairs)
        return text.startswith("Nearly every entry differs")

    # --- names ------------------------------------------------------------------------------------

    def _untrue_names(self) -> Iterator[str]:
        verdict, component = self.verdict, self.attempt.component
        mistakes = verdict.mistakes
        if mistakes[0].name == self.checks.judging.KEPT:
            return  # seen by calling again: test_kept holds it
        mends = [sentence for sentence in verdict.sentences if re.fullmatch(MENDED, sentence)]
        yield from (sentence for sentence in mends if not self.true(sentence))
        groups = [mistakes] if verdict.together else [(mistake,) for mistake in mistakes]
        for group in groups:
            options = [
                self.checks.explaining.known_outcomes(component, group, alike=alike)
                for alike in (False, True)
                if component.alike or not alike
            ]
            named = any(self._named_truly(group, theirs) for theirs in options)
            if not named or not self._as_said(group):
                yield f"{' + '.join(m.name for m in group)}: {verdict.text()}"

    def _as_said(self, group: tuple[Any, ...]) -> bool:
        """Whether what is told of one mistake is true of this version, which may differ from it."""
        symptom, wrong = group[0].symptom, [trial for trial in self.trials if trial.wrong]
        if len(group) > 1 or "; on the others it is right." in self.verdict.text():
            return True  # it is said of each alone, or of some inputs
        return (
            all(true_numbers(symptom, t.mine) for t in wrong if not t.stops)
            and all(true_size(symptom, t.mine, t.right) for t in self.trials if not t.stops)
            and truly_idle(self.checks, self.attempt, symptom)
        )

    def _named_truly(self, group: tuple[Any, ...], theirs: Any) -> bool:
        told = " ".join(f"{mistake.symptom} {mistake.cause}" for mistake in group)
        text, nan = self.verdict.text(), self.checks.comparing.holds_nan
        only = re.search(
            r"Of the (\d+) inputs on which .* exactly on those (.*); on the others", text
        )
        more = re.search(
            r"On (\d+) of \d+ inputs yours (stops|holds nan), and the mistake as we know it", text
        )
        less = re.search(
            r"On (\d+) of \d+ inputs, where yours .*?, the mistake as we know it (stops|gives nan)",
            text,
        )
        agreeing = sum(self.checks.explaining._agreeing(self.found, theirs))
        share = re.search(
            r"Yours gives what a known \w+ gives, (?:up to rounding on (\d+) of \d+ inputs)?"
            r"(?:, and )?(in part)?(?: on (\d+))?",
            text,
        )
        if not only and agreeing != (int(share[1] or 0) if share else len(self.found)):
            return False
        counted = {"stops": 0, "holds nan": 0, "theirs stops": 0, "theirs gives nan": 0}
        for case, mine, right, other in zip(
            self.cases, self.found, self.expected, theirs, strict=True
        ):
            if only and not mine.trouble and self.same(mine.answer, right.answer):
                continue
            if mine.trouble or other.trouble:
                counted["stops"] += bool(mine.trouble) and not other.trouble
                counted["theirs stops"] += bool(other.trouble) and not mine.trouble
                if not mine.trouble and "stops" in told:
                    return False
                continue
            counted["holds nan"] += nan(mine.answer) and not nan(other.answer)
            counted["theirs gives nan"] += nan(other.answer) and not nan(mine.answer)
            if "nan" in told and nan(other.answer) and not nan(mine.answer):
                return False
            given = mine.answer, right.answer, other.answer
            first, _, last = self.checks.explaining._comparable(
                self.attempt.component, case, *given
            )
            if not self.same(mine.answer, other.answer) and not self.same(first, last):
                return False
        if only:
            shows = [i for i, right in enumerate(self.expected) if theirs.tells(i, right)]
            wrong = [trial.wrong for trial in self.trials]
            return (
                len(shows) == int(only[1]) and sum(wrong) == sum(wrong[i] for i in shows)
            ) and any(
                all(
                    (each.holds(self.trials[i]) == (each.text == only[2])) == wrong[i]
                    for i in shows
                )
                for each in self._conditions(only[2])
            )
        if more and counted[more[2]] != int(more[1]):
            return False
        if less and counted[f"theirs {less[2]}"] != int(less[1]):
            return False
        near = sum(
            not (mine.trouble or other.trouble or self.same(mine.answer, other.answer))
            and nan(mine.answer) == nan(other.answer)
            and self.checks.explaining._in_part(mine.answer, other.answer)
            for mine, other in zip(self.found, theirs, strict=True)
        )
        said = 0 if not share or not share[2] else int(share[3] or len(self.found) - agreeing)
        return near == said and (bool(more or less) or not any(counted.values()))


def versions(checks: Any, every: int, offset: int = 0) -> Iterator[tuple[str, Any, Any]]:
    """What is judged: a name, the component, and the function; one in `every` of each family."""
    from find_inputs import families

    from tests.checks import corpus

    written = [version for version in corpus.load() if version.status != "right"]
    for version in written[offset::every]:
        yield version.label, checks.COMPONENTS[version.component], version.made
    for component in checks.COMPONENTS.values():
        programs = families(checks, component)
        for family in ("mutants", "mistakes", "pairs"):
            for name, program in programs.get(family, ())[offset::every]:
                yield f"{family}: {name}", component, program


def untrue(checks: Any, component: Any, made: Any) -> list[str]:
    """The sentences told of one version that are not true."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")  # learners' code may cause warnings
        return list(Told(checks, component, made).untrue())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1, metavar="N")
    arguments = parser.parse_args()
    from transformer_book import checks

    number = bad = 0
    for name, component, made in versions(checks, arguments.every):
        number += 1
        for sentence in untrue(checks, component, made):
            bad += 1
            print(f"{component.name}, {name}: {sentence}", flush=True)
    print(f"{number} verdicts, {bad} sentences that are not true or cannot be read")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
