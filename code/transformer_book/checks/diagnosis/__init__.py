"""What can be said of an answer that is wrong in a way nobody has named.

Each sentence was tested on all inputs on which the answers differ, and holds on all of them, or
else it says which input it is about. Nothing here knows any component: it looks only at the
arguments, the learner's answers and the right ones.
"""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from transformer_book.checks.comparing import in_full, plain, same
from transformer_book.checks.components import Case, Component
from transformer_book.checks.diagnosis.asif import (
    STEPS,
    Answer,
    as_if,
    changes,
    others,
    step_named,
    telling,
    versions_of,
)
from transformer_book.checks.diagnosis.conditions import CHANCE, condition, exact
from transformer_book.checks.diagnosis.places import (
    ELSEWHERE,
    alike_in_parts,
    extent,
    parts,
    placed,
    unmoved,
)
from transformer_book.checks.diagnosis.relations import by_arguments, related
from transformer_book.checks.diagnosis.trials import Leaf, Trial, all_of, axes_of, every
from transformer_book.checks.running import Outcome

Found = TypeVar("Found")

__all__ = [
    "Trial",
    "diagnose",
    "exactly_where",
    "of_ours",
    "of_outcomes",
    "shown",
    "slopes",
    "step_named",
    "which_inputs",
]


def of_outcomes(
    component: Component,
    cases: Sequence[Case],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
) -> tuple[str, ...]:
    """`diagnose` for what a component's cases gave.

    The cases are those of the component's function; the outcomes may be those of a class.
    """
    trials = _trials(component, cases, found, expected)
    versions = [(text, _version(component, steps)) for text, steps in versions_of(component.steps)]
    return diagnose(trials, _version(component, {}), versions, _kinds_of(component))


def simpler(
    component: Component,
    cases: Sequence[Case],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
) -> bool:
    """Whether one other way to call the right version, or one other step, explains every input."""
    trials = _trials(component, cases, found, expected)
    if any(trial.stops for trial in trials):
        return False
    calls = changes(trials, _version(component, {}), _kinds_of(component))
    versions = [(text, _version(component, steps)) for text, steps in versions_of(component.steps)]
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is tried here may be odd
        return bool(
            tried(unchanged, trials)
            or tried(as_if, trials, calls)
            or tried(as_if, trials, others(versions), least=STEPS)
        )


def _trials(
    component: Component,
    cases: Sequence[Case],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
) -> list[Trial]:
    names = _arguments(component)
    axes = axes_of(component.returns)
    return [
        Trial(
            case.name,
            {**names, **dict(zip(names, case.arguments, strict=False)), **case.keywords},
            mine.answer,
            right.answer,
            stops=bool(mine.trouble),
            wrong=bool(mine.trouble) or not same(mine.answer, right.answer),
            axes=axes,
        )
        for case, mine, right in zip(cases, found, expected, strict=False)
    ]


def shown(component: Component, case: Case) -> str:
    """An input in full, as a sentence, if it is small."""
    names = _arguments(component)
    given = {**dict(zip(names, case.arguments, strict=False)), **case.keywords}
    told = in_full(given)
    return f"The input: {told}." if told else ""


def which_inputs(
    component: Component,
    cases: Sequence[Case],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
) -> str:
    """On which inputs a version stops or is wrong, if they have something in common, or nothing."""
    return tried(condition, _trials(component, cases, found, expected)) or ""


def exactly_where(
    component: Component,
    cases: Sequence[Case],
    found: Sequence[Outcome],
    expected: Sequence[Outcome],
    among: Sequence[int],
) -> str:
    """On which of these inputs a version is wrong, if one property tells; or nothing.

    Nothing, too, where its wrong answers are so poor that other versions give them by chance.
    """
    trials = _trials(component, cases, found, expected)
    wrong = [trial for trial in trials if trial.wrong and not trial.stops]
    if not telling(wrong, STEPS):
        return ""
    return tried(exact, [trials[i] for i in among], CHANCE) or ""


def _version(component: Component, steps: dict[str, Any]) -> Callable[[dict[str, Any]], Any]:
    """The right version, or one with another step, on arguments by name."""

    def answer(given: dict[str, Any]) -> Any:
        torch.default_generator.manual_seed(0)  # as every call of the learner's has it
        with torch.enable_grad():
            return component.observe(component.version(steps))(*given.values())

    return answer


def _kinds_of(component: Component) -> tuple[str, ...]:
    """The kinds of arguments that may be changed: of what is made of a model of ours, numbers."""
    return ("number",) if of_ours(component) else ()


def of_ours(component: Component) -> list[str]:
    """The names of what inputs are made of, if it is not what the learner's function is called on.

    So it is where a function is judged by what it does to a model of ours.
    """
    called = inspect.signature(component.observe(component.reference)).parameters.values()
    names = [one.name for one in called if one.kind is one.POSITIONAL_OR_KEYWORD]
    return [] if {*names} <= {*inspect.signature(component.pipeline).parameters} else names


def _arguments(component: Component) -> dict[str, Any]:
    """The names of the arguments, with what they are if they are not given."""
    names = of_ours(component) or component.signature.split(", ")
    split = [name.partition("=") for name in names]
    return {name: ast.literal_eval(default or "None") for name, _, default in split}


def diagnose(
    trials: Sequence[Trial],
    answer: Answer | None = None,
    versions: Sequence[tuple[str, Answer]] = (),
    kinds: Sequence[str] = (),
) -> tuple[str, ...]:
    """Where the learner's answers differ from the right ones, and how, in sentences.

    Args:
        trials: all inputs, in their order, one of them wrong at least.
        answer: the right version, on arguments by name, if there is one; it may raise an exception.
        versions: other versions, each with a text on how it differs.
        kinds: of arguments that may be changed to see whether that explains the answers; all, if
            none is given.

    Returns:
        up to three sentences; none if nothing holds on every input that is wrong.
    """
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is tried here may be odd
        wrong = [trial for trial in trials if trial.wrong and not trial.stops]
        leaves = [leaf for trial in wrong for leaf in trial.leaves()]
        fact = tried(unmoved, wrong)
        explained = not fact and (
            tried(unchanged, trials)
            or (answer and tried(as_if, trials, changes(trials, answer, kinds)))
        )
        if explained:
            return (explained,)
        fact = fact or of_parts(tried(by_arguments, leaves) if len(wrong) > 1 else None, wrong)
        if fact:
            return tuple(_of_those(wrong, [fact], of=len(trials)))
        steps = None
        if not tried(related, leaves, loose=False):
            steps = tried(as_if, trials, others(versions), least=STEPS)
        found = [steps] if steps else _told(wrong, of=len(trials))
        if not found and len(wrong) > 1:
            some = tried(alike_in_parts, wrong) or wrong[:1]
            found = _told(some, of=len(trials), how_far=False, among=len(wrong))
        found.append(None if steps else tried(condition, trials))
        return tuple(dict.fromkeys(sentence for sentence in found if sentence))


def tried(find: Callable[..., Found | None], *given: Any, **more: Any) -> Found | None:
    """What `find` finds, or nothing if it raises: people return things nobody has thought of."""
    try:
        return find(*given, **more)
    except Exception:
        return None


def unchanged(trials: Sequence[Trial]) -> str | None:
    """Whether the learner's answer is an argument, on every input."""
    for name in trials[0].given:
        if every(trials, lambda t, n=name: t.given[n] is not None and same(t.mine, t.given[n])):
            return f"On {all_of(trials)} your answer is `{name}`, unchanged."
    return None


def _told(wrong: Sequence[Trial], of: int, *, how_far: bool = True, among: int = 0) -> list[str]:
    """Where and how the answers differ on all of these inputs, out of `of` in all.

    Args:
        wrong: these.
        of: how many inputs there are.
        how_far: where nothing else holds, how far, and to which side; an example says that itself.
        among: how many differ in all, if more than these do.
    """
    leaves = [leaf for trial in wrong for leaf in trial.leaves()]
    told = [tried(parts, wrong)] if wrong else []
    if leaves and not any(text and ELSEWHERE in text for text in told):
        how = tried(related, leaves, loose=False) or tried(related, leaves, loose=True)
        told.append(of_parts(how, wrong))
        told.append(tried(placed, leaves))
        for find in (shaped, _kinds, _nowhere, *([_sums, extent] * how_far)):
            if not any(told):
                told.append(of_parts(tried(find, leaves), wrong))
    return _of_those(wrong, [text for text in told if text], of, among)


def of_parts(text: str | None, wrong: Sequence[Trial]) -> str | None:
    """What is told of all that differs, where that is not the whole answer, or several lists."""
    some = any(trial.in_part() for trial in wrong)
    each = [trial.leaves() for trial in wrong]
    items = any(len(leaves) > 1 and isinstance(leaves[0].mine, list | tuple) for leaves in each)
    name = ("each item that differs" if some else "each item of yours") if items else "what differs"
    if not text or not (some or items):
        return text
    told = re.sub(r"\b(?<!tensor of )[Yy]ours\b(?! differs)", name, text)
    return f"{told[0].upper()}{told[1:]}"


def _of_those(wrong: Sequence[Trial], told: list[str], of: int, among: int = 0) -> list[str]:
    """Facts on these inputs, out of `of` in all, with the inputs of which they are told."""
    if of == 1 or not told:
        return told
    what = f"On the input {wrong[0].name!r}" if wrong[0].name else "On the first that differs"
    if 1 < len(wrong) < among:
        what = f"On {len(wrong)} of the {among} inputs that differ, the first {wrong[0].name!r}"
    elif len(wrong) > 1:
        what = f"On all {len(wrong)} inputs that differ"
    facts = "; ".join(f"{text[0].lower()}{text[1:]}".removesuffix(".") for text in told)
    return [f"{what}: {facts}."]


def shaped(leaves: Sequence[Leaf]) -> str | None:
    """What is wrong with the shapes, if it is the same on all inputs."""
    both = [(leaf.mine, leaf.right) for leaf in leaves]
    if not all(isinstance(value, Tensor) for pair in both for value in pair):
        return None
    common = set.intersection(*(set(_shapes(leaf.mine, leaf.right)) for leaf in leaves))
    return next((text for text in _shapes(leaves[0].mine, leaves[0].right) if text in common), None)


def _shapes(mine: Tensor, right: Tensor) -> Iterator[str]:
    own, target = tuple(mine.shape), tuple(right.shape)
    if own == target:
        return
    if len(own) == len(target):
        odd = [axis for axis, (a, b) in enumerate(zip(own, target, strict=True)) if a != b]
        if len(odd) == 1:
            (axis,) = odd
            off = own[axis] - target[axis]
            if own[axis] == 1:
                yield f"Axis {axis} of yours has the size 1."
            amount, word = abs(off), "longer" if off > 0 else "shorter"
            yield f"Axis {axis} of yours is {word} by {amount}."
            yield f"Axis {axis} of yours is too {word.removesuffix('er')}."
        if sorted(own) == sorted(target):
            which = ", ".join(map(str, odd))
            yield (
                f"Your shape has the right sizes in another order (axes {which} differ); to "
                "exchange axes need not be enough."
            )
        if len(odd) > 1:
            yield f"Axes {', '.join(map(str, odd))} have other sizes than they should."
        else:
            yield f"Axis {odd[0]} has another size than it should."
    elif len(own) < len(target):
        for axis in range(len(target)):
            if target[:axis] + target[axis + 1 :] == own:
                yield f"Axis {axis} of the right answer is missing in yours."
        yield f"Yours has {len(own)} axes and not {len(target)}."
    else:
        for axis in range(len(own)):
            if own[:axis] + own[axis + 1 :] == target:
                yield f"Axis {axis} of yours is one too many."
        yield f"Yours has {len(own)} axes and not {len(target)}."


def _kinds(leaves: Sequence[Leaf]) -> str | None:
    """What is wrong with the kind of answer: numbers for booleans, a tuple for a tensor."""
    kinds = {
        (_kind(plain(x.mine) if _kind(x.right) == "a number" else x.mine), _kind(x.right))
        for x in leaves
    }
    if len(kinds) != 1:
        return None
    mine, right = kinds.pop()
    if mine == right or {mine, right} == {"a tuple", "a list"}:  # either is accepted
        return None
    told = f"Yours is {mine}, and not {right}"
    if every(leaves, lambda leaf: leaf.tensors and leaf.right.dtype == torch.bool):
        both = [
            {x for leaf in leaves for x in leaf.mine[leaf.right == value].tolist()}
            for value in (True, False)
        ]
        if all(len(values) == 1 for values in both):
            (true,), (false,) = both
            told += f": {true:.4g} where True belongs, and {false:.4g} where False does"
    return f"{told}."


def _kind(value: Any) -> str:
    if isinstance(value, Tensor):
        if value.dtype == torch.bool:
            return "a tensor of booleans"
        return f"a tensor of {'decimal' if value.dtype.is_floating_point else 'whole'} numbers"
    return {
        "list": "a list",
        "tuple": "a tuple",
        "dict": "a dictionary",
        "int": "a number",
        "float": "a number",
        "NoneType": "None",
        "bool": "True or False",
        "str": "a text",
    }.get(type(value).__name__, f"a {type(value).__name__}")


def _nowhere(leaves: Sequence[Leaf]) -> str | None:
    """Where nan comes, and how much of it."""
    if not every(leaves, lambda leaf: leaf.tensors and leaf.mine.is_floating_point()):
        return None
    odd = [leaf.mine.isnan() & ~leaf.right.isnan() for leaf in leaves]
    if not all(bool(o.any()) for o in odd):
        return None
    if all(bool(o.all()) for o in odd):
        return "All of yours is nan."
    rows = all(bool((o.all(-1) == o.any(-1)).all()) for o in odd if o.dim())
    where = ", in whole rows" if rows else ""
    return (
        f"Yours holds nan{where}: often 0 / 0, infinite minus infinite, "
        "or the root or logarithm of a negative number."
    )


def _sums(leaves: Sequence[Leaf]) -> str | None:
    """What each row of the right answers sums to, and not each of the learner's."""
    if not every(leaves, lambda leaf: leaf.tensors and leaf.right.is_floating_point()):
        return None
    if not every(leaves, lambda leaf: leaf.right.dim() > 1 and leaf.right.size(-1) > 1):
        return None

    def near(x: Tensor, total: int) -> bool:
        return bool(((x.double().sum(-1) - total).abs() < 1e-4 * (1 + x.abs().sum(-1))).all())

    for total in (0, 1):
        if all(near(leaf.right, total) and not near(leaf.mine, total) for leaf in leaves):
            return f"Each row of the right answer sums to {total}, and not each of yours."
    return None


def slopes(pairs: Sequence[tuple[Tensor, Tensor]]) -> str:
    """How gradients differ that belong to right answers: by a factor, by being 0, by nan."""
    if any(mine.isnan().any() for mine, _ in pairs):
        return "Some of them are nan."
    if all(not mine.any() for mine, _ in pairs):
        return "They are 0."
    blank = Trial("", {}, None, None, stops=False, wrong=True)
    leaves = [Leaf(blank, "", mine, right) for mine, right in pairs]
    told = " ".join(text for text in (related(leaves, loose=False), placed(leaves)) if text)
    return told.replace("the right answer", "the right gradient")
