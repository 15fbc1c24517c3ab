"""How a learner's function or class is judged: run on all inputs, compared, and explained."""

from __future__ import annotations

import ast
import contextlib
import functools
import inspect
import io
import re
import types
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from transformer_book.checks import builtin, diagnosis, inside, kept, mending
from transformer_book.checks.attempt import Attempt
from transformer_book.checks.classes import filled, is_class, of_sizes
from transformer_book.checks.comparing import apart, difference, same
from transformer_book.checks.components import Case, Component, Mistake
from transformer_book.checks.explaining import explain, known_outcomes
from transformer_book.checks.learners_code import code_of, is_untouched, last_line, must_be_callable
from transformer_book.checks.running import SECONDS, Bounded, Outcome, call, in_words, leaves_of
from transformer_book.checks.troubles import (
    CHANGES,
    DIFFERS,
    STOPS,
    Trouble,
    in_brief,
    troubles_of,
    what_it_changes,
)
from transformer_book.checks.verdicts import (
    Verdict,
    all_right,
    first_difference,
    of_mistakes,
    stopped,
    unsaid,
)

DRAWS = "Your version draws random numbers: another call may give another answer."
CUT = ": is part of the computation cut off from them, or is a backward() of yours wrong?"
NEARER = "Yours is nearer to the convention"
FEWEST, CLEARLY = 3, 0.8  # inputs, and how much less may differ, for it to be nearer
# What a cause says to write: `target[:, :-1]`, or a call with arguments.
REMEDY = re.compile(
    r"(?:: |Call |Use |Write |Return )`?([\w.]+(?:\[[^\[\]]+\]|\([^()]+\)))"
    r"(?=`?(?:\.?$|\. |, not |, the ))"
)
OF_ANSWERS = re.compile(r"On (all \d+|the) input.*?: ")


def judge(
    component: Component,
    function: Any,
    mistakes: Sequence[Mistake] = (),
    *,
    seconds: float = SECONDS,
    allow_builtin: bool = True,
) -> Verdict:
    """Try a learner's function, and say what is wrong with it.

    Args:
        component: what it should be.
        function: the function, or the class if the component takes one.
        mistakes: those that may be named.
        seconds: of processor time, for each input.
        allow_builtin: let it call ready-made functions that do the work, see `builtin`.

    Raises:
        TypeError: if `function` cannot be called, or is a class where none is taken.
    """
    must_be_callable(function, component.name)
    attempt = Attempt.of(component, function, seconds)
    if is_untouched(function):
        return Verdict("not started", attempt.name, ("Not started yet.",))
    if not allow_builtin:
        ready_made = _ready_made(attempt)
        if ready_made is not None:
            return ready_made
    try:
        return _verdict(attempt, mistakes)
    finally:
        kept.restore(function, attempt.held)


def _verdict(attempt: Attempt, mistakes: Sequence[Mistake]) -> Verdict:
    """The verdict on what has been begun."""
    cases, found = attempt.cases, attempt.found
    if found[-1].names_differ:
        return stopped(attempt.name, cases[len(found) - 1], found[-1])
    if not attempt.wrong:
        flaw = _flaw(attempt, attempt.expected)
        if flaw is not None:
            return replace(flaw, sentences=(*flaw.sentences, *_mended(attempt)))
        if (by_chance := _drawn(attempt, range(len(found)))) is not None:
            sentence = (
                "It draws random numbers, and is right with those that the check draws for it: "
                f"others give another answer to the input {cases[by_chance].name!r}."
            )
            return Verdict("wrong", attempt.name, (sentence,))
        return _kept(attempt) or all_right(attempt.component, cases, found)
    verdict = _of_inputs(attempt, _named(attempt, mistakes) or _unnamed(attempt))
    if not verdict.example:
        return verdict
    beside = [attempt.plain.compared]
    if verdict.status == "wrong" and _drawn(attempt, attempt.wrong) is not None:
        beside.append(DRAWS)
    return replace(verdict, example=" ".join(filter(None, (verdict.example, *beside))))


def _of_inputs(attempt: Attempt, verdict: Verdict) -> Verdict:
    """The verdict, with where the names come from that conditions have and the function has not."""
    made_of = set(diagnosis.of_ours(attempt.plain)) - set(attempt.plain.signature.split(", "))

    def told(sentence: str) -> str:
        names = sorted(n for n in made_of if re.search(rf"exactly on those .*\b{n}\b", sentence))
        if not names:
            return sentence
        if "size of axis" in sentence:
            return ""  # it is the size of what a model of ours reads
        return f"{sentence[:-1]} (the check makes its inputs of {' and '.join(names)})."

    return replace(verdict, sentences=tuple(filter(None, map(told, verdict.sentences))))


def _drawn(attempt: Attempt, places: Sequence[int]) -> int | None:
    """The first of these inputs to which other random numbers give another answer."""

    def of_seed(seed: int, i: int) -> Any:
        def seeded(*given: Any, **more: Any) -> Any:
            torch.default_generator.manual_seed(seed)
            return attempt.tried(*given, **more)

        return call(seeded, attempt.cases[i], gradients=False, seconds=attempt.seconds).answer

    for i in places:
        if attempt.found[i].drew and not attempt.expected[i].drew:
            first, *others, again = (of_seed(seed, i) for seed in (0, 1, 2, 0))
            if same(first, again) and not all(same(first, other) for other in others):
                return i
    return None


def _named(attempt: Attempt, mistakes: Sequence[Mistake]) -> Verdict | None:
    """The verdict on what known mistakes explain."""
    component, cases = attempt.component, attempt.cases
    found, expected = attempt.found, attempt.expected
    if len(found) < len(cases):
        return None
    explained = explain(component, mistakes, found, expected)
    if explained is None:
        return None
    groups, beside = explained.groups, explained.beside
    if explained.among:
        where = diagnosis.exactly_where(
            attempt.plain, attempt.given, found, expected, explained.among
        )
        if not where:
            return None
        beside = (
            f"Of the {len(explained.among)} inputs on which this mistake shows, yours makes it "
            f"exactly on those {where}; on the others it is right."
        )
    goal, wrong = expected, attempt.wrong
    conventions = [mistake for mistake in groups[0] if mistake.kind == "convention"]
    if len(groups[0]) == 2 and len(conventions) == 1:  # it is wrong beside the convention, too
        goal = known_outcomes(component, (*conventions,))
        wrong = [i for i in wrong if not same(found[i].answer, goal[i].answer)] or wrong
    named = of_mistakes(component, cases, found, goal, wrong, groups)
    if goal is not expected and named.example:
        example = f"{named.example[:1].lower()}{named.example[1:]}"
        named = replace(named, example=f"Held against the convention, {example}")
    if named.together:
        if diagnosis.simpler(attempt.plain, attempt.given, found, expected):
            return None
        change = _mended(attempt, whole=True)  # it is simpler than two mistakes
        return replace(named, sentences=change) if change else named
    wrong = named.status == "wrong"
    besides = _besides(attempt) if wrong else ""
    there = _there_already(attempt, named.mistakes) if wrong else ""
    unread = _unread(attempt) if wrong and not there else ()
    told = (explained.before, besides, *named.sentences, there, *unread, beside)
    named = replace(named, sentences=tuple(filter(None, told)))
    if explained.before:  # numbers that are nearly those of a convention are wrong beside it
        return replace(named, status="wrong")
    if beside or named.status != "convention":
        return named
    other = known_outcomes(component, groups[0]).version
    theirs = [call(other, case, gradients=component.differentiable) for case in cases]
    flaw = _flaw(attempt, theirs, "those of another convention")
    if flaw is None:
        return named
    return replace(flaw, sentences=(*flaw.sentences, *named.sentences), mistakes=named.mistakes)


def _there_already(attempt: Attempt, mistakes: Sequence[Mistake]) -> str:
    """What is to be said where the remedy of the mistake stands in the code, or nothing."""
    code = mending.Code.of(attempt.function)
    if code is None or len(mistakes) != 1:
        return ""
    nodes = [node for part in code.parts for node in ast.walk(part)]
    kinds = (ast.Call, ast.Subscript, ast.Assign)
    written = {ast.unparse(node) for node in nodes if isinstance(node, kinds)}
    cause = mistakes[0].cause
    for remedy in (*REMEDY.findall(cause), *re.findall(r"`([^`]+ = [^`]+)`", cause)):
        if remedy in written:
            return f"`{remedy}` stands in your code already: look at what comes of it."
    return ""


def _unnamed(attempt: Attempt) -> Verdict:
    """The verdict on what is wrong in a way that has no name."""
    cases, found, expected = attempt.cases, attempt.found, attempt.expected
    if all(outcome.answer is None and not outcome.trouble for outcome in found):
        return Verdict(
            "wrong", attempt.name, (unsaid(attempt.function),), line=last_line(attempt.function)
        )
    if attempt.right_alone():
        first = attempt.wrong[0]
        case, right = cases[first], expected[first].answer
        names = kept.changed(attempt.function, attempt.held, lambda: _is(attempt.call(case), right))
        example = _otherwise(found[first], expected[first])
        return _keeps(attempt, names, cases[first].name, example)
    return _of_troubles(attempt)


def _of_troubles(attempt: Attempt) -> Verdict:
    """The trouble of most inputs, diagnosed, and the second one in a sentence."""
    first, *others = troubles_of(attempt)
    if first.kind == CHANGES:  # autograd refuses what the same line does
        others = [each for each in others if each.kind != STOPS or not _by_autograd(attempt, each)]
    verdict = {STOPS: _stops, CHANGES: _changes, DIFFERS: _differs}[first.kind](attempt, first)
    sentences = (*verdict.sentences, *in_brief(attempt, others[:1]))
    if CHANGES not in [first.kind, *(each.kind for each in others)]:
        sentences = (*sentences, *filter(None, (_besides(attempt),)))
    example, own = verdict.example, attempt.cases[first.inputs[0]].name
    if any("would be the convention" in sentence for sentence in sentences):
        example = ""  # it is held against the book's own version
    named = {case.name for case in attempt.cases} - {own}
    others = any(repr(name) in text for text in sentences for name in named)
    if others and example and not example.startswith("On the input"):
        example = f"On the input {own!r}: {example[:1].lower()}{example[1:]}"
    return replace(verdict, sentences=sentences, example=example)


def _by_autograd(attempt: Attempt, trouble: Trouble) -> bool:
    """Whether it is only that no gradient can be computed."""
    troubles = (attempt.found[i].trouble or "" for i in trouble.inputs)
    return all(trouble.startswith("No gradient can ") for trouble in troubles)


def _mended(attempt: Attempt, *, whole: bool = False) -> tuple[str, ...]:
    """The changes that would mend it; if it is asked for a `whole` mend, one that does all."""
    found = diagnosis.tried(mending.mended, attempt) or ()
    return found if not whole or (len(found) == 1 and "right on all" in found[0]) else ()


def _stops(attempt: Attempt, trouble: Trouble) -> Verdict:
    """The verdict on a function that gives no answer, on most of the inputs that are not right."""
    cases, first = attempt.cases, trouble.inputs[0]
    shapes = not diagnosis.of_ours(attempt.plain)  # else the function is handed no tensor of them
    verdict = stopped(attempt.name, cases[first], attempt.found[first], shapes=shapes)
    where = diagnosis.which_inputs(attempt.plain, attempt.given, attempt.found, attempt.expected)
    if not where and len(trouble.inputs) < len(attempt.found):
        told = {attempt.found[i].trouble or "" for i in trouble.inputs}
        kind = next(iter(told)).partition(":")[0]
        does = kind if len(told) > 1 and kind.startswith("It stops with") else "It does so"
        others = set(range(len(attempt.found))) - set(trouble.inputs)
        if does == kind and any((attempt.found[i].trouble or "").startswith(kind) for i in others):
            does = f"{kind} in that line"
        where = f"{does} on {trouble.share(attempt)} inputs."
        if attempt.found[first].unfinished and len(attempt.found) < len(cases):
            where = f"The {len(cases) - len(attempt.found)} inputs behind it were not tried."
    change = _mended(attempt) or inside.located(attempt, trouble.inputs)
    return replace(verdict, sentences=(*verdict.sentences, where, *change))


def _differs(attempt: Attempt, trouble: Trouble) -> Verdict:
    """The verdict on answers that are wrong."""
    cases, given = attempt.cases, attempt.given
    found, first = attempt.found, trouble.inputs[0]
    answers = len(found) - len(attempt.wrong)
    right = sum(mending.right(attempt, i, mine) for i, mine in enumerate(found))
    alone = f" (on {answers}, if answers alone count)" if right < answers else ""
    share = (
        f"Right on {right} of {len(found)} inputs{alone}; the first that differs: "
        f"{cases[first].name}."
    )
    told, goal = _otherwise_again(attempt), attempt
    if not told:
        told, goal = _explained(attempt, trouble)
    if alone:  # conditions are those of answers
        told = tuple(
            text.replace(" it is wrong exactly", " its answer is wrong exactly").replace(
                "inputs that differ", "inputs whose answers differ"
            )
            for text in told
        )
    first = next(i for i in trouble.inputs if not same(found[i].answer, goal.expected[i].answer))
    example = " ".join(
        (
            first_difference(found[first], goal.expected[first]),
            diagnosis.shown(attempt.plain, given[first]),
        )
    )
    if goal is not attempt:
        example = f"On the input {cases[first].name!r}: {example[:1].lower()}{example[1:]}"
    return Verdict("wrong", attempt.name, (share, *told), example=example.strip())


def _explained(attempt: Attempt, trouble: Trouble) -> tuple[tuple[str, ...], Attempt]:
    """How answers differ, and where that comes from; and the attempt as it is held against them."""
    facts = diagnosis.of_outcomes(attempt.plain, attempt.given, attempt.found, attempt.expected)
    change = _mended(attempt)
    if any("right on all" in text or "the convention" in text for text in change):
        # Beside the change that mends it, where and how numbers differ says nothing more.
        return (*(fact for fact in facts if not OF_ANSWERS.match(fact)), *change), attempt
    if any(" your answer is " in fact or " gives an answer, it is " in fact for fact in facts):
        # They hold on all inputs: what mends some, or where a number comes up, says less.
        return (*facts, *inside.located(attempt, trouble.inputs, calls=True)), attempt
    name, goal = nearer(attempt)
    if name:
        held = f"{NEARER} “{name}” than to the book's version; what follows is held against it."
        facts = diagnosis.of_outcomes(attempt.plain, goal.given, goal.found, goal.expected)
        return (held, *(fact for fact in facts if OF_ANSWERS.match(fact))), goal
    where = change or inside.located(attempt, trouble.inputs)
    return (*facts, *_unread(attempt), *where), attempt


def nearer(attempt: Attempt) -> tuple[str, Attempt]:
    """The convention whose numbers a version wants to have, though it has no name, held against it.

    On no input is it nearer to the right version, and on all together clearly nearer to that one.
    The attempt itself, and no name, if there is none.
    """
    wrong = [i for i in attempt.wrong if not attempt.found[i].trouble]
    own = _apart(attempt, wrong)
    for name, goal in mending.conventions(attempt) if len(wrong) >= FEWEST else ():
        theirs = _apart(goal, wrong)
        closer = all(0 < a <= b for a, b in zip(theirs, own, strict=True))
        if closer and sum(theirs) < CLEARLY * sum(own):
            return name, goal
    return "", attempt


def _apart(attempt: Attempt, inputs: Sequence[int]) -> list[float]:
    """How much of each answer differs: of two tensors the share of entries, else all or nothing."""

    def part(a: Any, b: Any) -> float:
        if same(a, b):
            return 0.0
        alike = isinstance(a, Tensor) and isinstance(b, Tensor) and a.shape == b.shape
        return apart(a, b).double().mean().item() if alike else 1.0

    return [part(attempt.found[i].answer, attempt.expected[i].answer) for i in inputs]


def _unread(attempt: Attempt) -> tuple[str, ...]:
    """The arguments that matter and are read nowhere, the names, and the calls of no effect."""
    code = mending.Code.of(attempt.function)
    if code is None:
        return ()
    return (
        *(
            f"`{name}` is read nowhere in your code."
            for place, name in mending.unread_arguments(code).items()
            if _matters(attempt, place, name)
        ),
        *(
            f"`{name}`, which line {line} of your cell or file computes, is read nowhere."
            for name, line in mending.unread_names(code)
        ),
        *(
            f"Line {line} of your cell or file computes `{call}` and drops what comes out."
            for call, line in mending.dropped(code, attempt, attempt.wrong[0])
        ),
        *(
            f"Line {line} of your cell or file sets `{name}`, the name of the loop, to what "
            "nothing reads."
            for name, line in mending.rebound(code)
        ),
    )


def _matters(attempt: Attempt, place: int, name: str) -> bool:
    """Whether the right answer to an input is another one if this argument is."""
    plain, others = attempt.plain, {bool: lambda x: not x, int: lambda x: x + 1}
    others |= {float: lambda x: x / 2, Tensor: lambda x: x.flip(-1)}
    others |= {types.FunctionType: lambda f: lambda *given: 2 * f(*given) + 1}
    for case, right in zip(attempt.given, attempt.expected, strict=True):
        given = dict(enumerate(case.arguments)) | dict(case.keywords)
        at = name if name in given else place
        if type(given.get(at)) not in others:
            continue
        given[at] = others[type(given[at])](given[at])
        keywords = {key: given.pop(key) for key in case.keywords}
        other = replace(case, arguments=tuple(given.values()), keywords=keywords)
        if not same(
            call(plain.observe(plain.reference), other, gradients=False).answer, right.answer
        ):
            return True
    return False


def _changes(attempt: Attempt, trouble: Trouble) -> Verdict:
    """The verdict on a function whose numbers are right on most inputs, and who changes them."""
    first, of = trouble.inputs[0], len(attempt.found)
    numbers = f"On {of - len(attempt.wrong)} of {of} inputs the {_answers(attempt)} are right"
    right = [x for i, x in enumerate(attempt.found) if i not in attempt.wrong]
    verdict = _changed(attempt, numbers, first, right or attempt.found)
    return replace(verdict, sentences=(*verdict.sentences, *_mended(attempt)))


def _otherwise_again(attempt: Attempt) -> tuple[str, ...]:
    """What to tell of another answer to the first input, asked again; nothing if it is the same."""
    since = kept.attributes(attempt.function)
    again = attempt.call(attempt.cases[0], gradients=attempt.component.differentiable)
    before = attempt.found[0]
    comparable = not again.trouble and not before.trouble and same(before.answer, before.answer)
    if not comparable or same(again.answer, before.answer):
        return ()
    told: tuple[str, ...] = (
        "Called again with the first input, after the others, it gives another answer: it keeps "
        "something from one call to the next, draws at random, or reads what was never filled.",
    )
    first = attempt.cases[0]
    names = kept.changed(
        attempt.function, attempt.held, lambda: _is(attempt.call(first), before.answer), since
    )
    return (*told, kept.cause(attempt.function, names)) if names else told


def _is(mine: Outcome, right: Any) -> bool:
    """Whether a call has given this answer."""
    return not mine.trouble and same(mine.answer, right)


# Of any component: it is seen by calling twice, and not by numbers.
KEPT = "kept from the call before"


def _kept(attempt: Attempt) -> Verdict | None:
    """The verdict on what is right on every input alone, but not on one after the other."""
    if attempt.component.form == "class":
        return _one_module(attempt)
    first = attempt.cases[0]
    rounds = [(first, attempt.expected[0].answer, attempt.call(first))]
    # Only what may keep something is held against more inputs: the rest costs one call.
    for case in attempt.cases if attempt.anew is not None else ():
        given = (*case.arguments, *case.keywords.values())
        if not _of_tensors(given):
            continue
        turned = kept.mirrored(given)
        keywords = dict(zip(case.keywords, turned[len(case.arguments) :], strict=True))
        other = replace(case, arguments=turned[: len(case.arguments)], keywords=keywords)
        right = call(attempt.plain.observe(attempt.plain.reference), other, gradients=False)
        mine = attempt.call(other)
        if not right.trouble:
            rounds.append((other, right.answer, mine))
        rounds += _of_another_number(attempt, other)
    for case, right, mine in rounds:
        if not _is(mine, right):
            names = kept.changed(
                attempt.function,
                attempt.held,
                lambda case=case, right=right: _is(attempt.call(case), right),
            )
            return _keeps(attempt, names, case.name, _otherwise(mine, Outcome(right)))
    return None


def _of_another_number(attempt: Attempt, case: Case) -> list[tuple[Case, Any, Outcome]]:
    """The same tensors with smaller whole numbers, if it is right there in a first call."""
    keywords = {name: kept.nudged(value) for name, value in case.keywords.items()}
    arguments = tuple(map(kept.nudged, case.arguments))
    other = replace(case, arguments=arguments, keywords=keywords)
    values = (*case.arguments, *case.keywords.values())
    if attempt.anew is None or not any(kept.nudged(x) is not x for x in values):
        return []
    versions = attempt.plain.reference, attempt.anew
    right, alone = (call(attempt.plain.observe(x), other, gradients=False) for x in versions)
    mine = attempt.call(other)
    return [] if right.trouble or not _is(alone, right.answer) else [(other, right.answer, mine)]


def _otherwise(mine: Outcome, right: Outcome) -> str:
    """How an outcome differs, as a sentence: it may be that there is none."""
    return f"{in_words(mine)}." if mine.trouble else first_difference(mine, right)


def _of_tensors(values: Sequence[Any]) -> bool:
    """Whether they are tensors and numbers: of a list or a function, nothing can be turned."""
    simple = all(value is None or isinstance(value, (int, float, Tensor)) for value in values)
    return simple and any(isinstance(value, Tensor) for value in values)


def _one_module(attempt: Attempt) -> Verdict | None:
    """One module for each size, on one input after the other, and on the first one again."""
    made, component = attempt.function, attempt.component
    groups: dict[tuple[int, ...], list[Case]] = {}
    for case in attempt.cases:
        groups.setdefault(case.arguments[0], []).append(case)
    for sizes, cases in groups.items():
        weights = cases[0].arguments[1]
        with contextlib.redirect_stdout(Bounded(io.StringIO())):
            module = of_sizes(made, sizes)
        held = kept.attributes(module)
        function = functools.partial(filled, module)
        for inputs in kept.in_a_row([case.arguments[2] for case in cases]):
            case = Case("", (sizes, weights, inputs))
            right = call(component.reference, case, gradients=False)
            again = functools.partial(
                call, function, case, gradients=False, seconds=attempt.seconds, source=made
            )
            mine = again()
            if not right.trouble and not _is(mine, right.answer):
                due = right.answer
                names = kept.changed(module, held, lambda a=again, d=due: _is(a(), d))
                return _keeps(attempt, names, "", _otherwise(mine, right))
    return None


def _keeps(attempt: Attempt, names: Sequence[str], of: str, example: str) -> Verdict:
    """The verdict on what is right when it is called for the first time."""
    plain, function = attempt.plain, attempt.function
    what = "function" if inspect.isroutine(function) else "object"
    if is_class(function):
        what = "module"
    symptom = f"Your {what} is right in its first call, and wrong in a later one."
    cause = kept.cause(function, names)
    mistake = Mistake(KEPT, plain.name, symptom, cause, plain.section, {})
    if example:
        call = f"Called with the input {of!r} after others" if of else "In a later call"
        example = f"{call}: {example[0].lower()}{example[1:]}"
    return Verdict("wrong", plain.name, (symptom, cause), (mistake,), example=example)


def _ready_made(attempt: Attempt) -> Verdict | None:
    """The verdict on a function that calls what it should do itself, or `None`."""
    for case in attempt.cases:
        with builtin.watch(attempt.component, code_of(attempt.function)) as noted:
            outcome = attempt.call(case)
        if noted:
            name, line = noted[0]
            sentence = f"You call {name}, which this task asks you to write yourself."
            return Verdict("wrong", attempt.name, (sentence,), line=line)
        if outcome.unfinished:
            return None
    return None


def _flaw(attempt: Attempt, expected: Sequence[Outcome], what: str = "right") -> Verdict | None:
    """The answers are right, or those of a convention; what about the inputs, and the gradients?"""
    component, cases, found = attempt.component, attempt.cases, attempt.found
    numbers = f"On all {len(cases)} inputs the {_answers(attempt)} are {what}"
    for i, mine in enumerate(found):
        if mine.changed:
            return _changed(attempt, numbers, i, found)
    for case, mine, right in zip(cases, found, expected, strict=True):
        if mine.trouble or right.trouble:
            continue  # where nothing can be computed, two versions of a convention may differ
        for i, (slope, target) in enumerate(zip(mine.gradients, right.gradients, strict=True)):
            if not _due(right, i):
                continue
            if slope is None:
                lost = sum(own.gradients[i : i + 1] == (None,) for own in found)
                others = any(slope is not None for slope in mine.gradients)
                to = f" to {_of_tensor(attempt, case, i)}" if others else ""
                no = f"{_some(lost, attempt)}no gradient comes back{to}"
                return Verdict(
                    "wrong",
                    component.name,
                    (
                        f"{numbers}, but {no}: {'it' if to else 'nothing'} would "
                        f"{'learn nothing' if to else 'be learned'} through this. `.item()`, "
                        "`.detach()`, `.data`, NumPy, a new `torch.tensor(...)` or "
                        "`nn.Parameter(...)` of old numbers, `from_pretrained`, and "
                        "`torch.no_grad()` cut the connection.",
                    ),
                )
            if case.rough and slope.isfinite().all():
                continue
            if not same(slope, target):
                pairs = [
                    (own.gradients[i], other.gradients[i])
                    for own, other in zip(found, expected, strict=True)
                    if _slopes_differ(own, other, i)
                ]
                told = diagnosis.slopes(pairs)
                cut = told in ("", "They are 0.")
                return Verdict(
                    "wrong",
                    component.name,
                    (
                        f"{numbers}, but {_some(len(pairs), attempt)}the gradients are not "
                        f"({_of_tensor(attempt, case, i)})" + (CUT if cut else "."),
                        f"Of that tensor: {told[:1].lower()}{told[1:]}" if told else "",
                    ),
                    example=(difference(slope, target) or "").capitalize() + ".",
                )
    return None


def _answers(attempt: Attempt) -> str:
    return "numbers" if attempt.component.differentiable else "answers"


def _due(right: Outcome, i: int) -> bool:
    """Whether the right version has a gradient for an input's tensor, other than 0."""
    return any(x is not None and bool(x.any()) for x in right.gradients[i : i + 1])


def _some(number: int, attempt: Attempt) -> str:
    """On how many inputs, if not on all."""
    return f"on {number} of them " if number < len(attempt.found) else ""


def _of_tensor(attempt: Attempt, case: Case, i: int) -> str:
    """The tensor of an input that gets the i-th gradient, by its name or that of what it is in."""
    named = zip(attempt.component.names, case.arguments, strict=False)
    given = [*named, *case.keywords.items()]
    for name, value in given:
        inside = [*leaves_of(value)]
        if i < len(inside):
            keys = [f"`{key}`" for key in value] if isinstance(value, dict) else []
            which = keys[i] if len(keys) == len(inside) else f"tensor {i + 1} of `{name}`"
            which = f"`{name}`" if isinstance(value, Tensor) else which
            return f"{which} of the input {case.name!r}"
        i -= len(inside)
    raise IndexError(i)


def _changed(attempt: Attempt, numbers: str, i: int, right: Sequence[Outcome]) -> Verdict:
    """The verdict on what changes its arguments on this input.

    `numbers` says what is right, and `right` are the outcomes of which it says so.
    """
    case, mine = attempt.cases[i], attempt.found[i]
    many = sum(mine.changed[0] in outcome.changed for outcome in right)
    these = f"on {many} of them " if many < len(right) else ""
    copy = "Work on a copy, and avoid `+=` and methods that change what they are called on."
    first = mine.changed[0]
    given = case.keywords if isinstance(first, str) else case.arguments
    if isinstance(given[first], (Tensor, tuple)):  # ty: ignore
        copy = (
            "Work on a copy (`clone`), and avoid assignments to a part of it, `+=`, and operations "
            "whose name ends in an underscore; `.float()` and `.to()` may hand back the tensor "
            "itself, and what `.view()` gives shares its numbers."
        )
    lines = _changing_lines(attempt, mine.changed[0])
    sentence = (
        f"{numbers}, but {these}your {attempt.component.form} changes "
        f"{what_it_changes(attempt, mine)}{_in_lines(lines)}: the caller has other data "
        f"afterwards. {copy} The input was: {case.name}."
    )
    line = lines[0] if lines else last_line(attempt.function)
    return Verdict("wrong", attempt.name, (sentence,), line=line)


def _changing_lines(attempt: Attempt, argument: int | str) -> list[int]:
    """The lines in which an argument is changed; none, if that of one input is not known."""
    changed = [i for i, mine in enumerate(attempt.found) if mine.changed[:1] == (argument,)]
    lines = {diagnosis.tried(inside.changing_line, attempt, i) for i in changed}
    return [] if None in lines else sorted(lines)


def _in_lines(lines: Sequence[int]) -> str:
    return f" in line {' or '.join(map(str, lines))} of your cell or file" if lines else ""


def _besides(attempt: Attempt) -> str:
    """What is to be said of arguments that are changed where answers are wrong, or nothing."""
    for mine in attempt.found:
        if mine.changed:
            what = f"Your {attempt.component.form} changes {what_it_changes(attempt, mine)}"
            at = _in_lines(_changing_lines(attempt, mine.changed[0]))
            return f"{what}{at}: what reads it afterwards may get other data."
    return ""


def _slopes_differ(mine: Outcome, right: Outcome, i: int) -> bool:
    """Whether both have a gradient for an input's tensor, and the two differ."""
    if mine.trouble or right.trouble or max(len(mine.gradients), len(right.gradients)) <= i:
        return False
    own, other = mine.gradients[i], right.gradients[i]
    return own is not None and other is not None and not same(own, other)
