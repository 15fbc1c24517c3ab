#!/usr/bin/env python3
"""Which versions of the corpus are twins: no input tells them apart, and the check says the same.

Two versions of a component are twins if they are handed in alike (as a function, an object or a
class) and, on every input and on every input turned round (see `checks.kept.mirrored`), give the
same answer, stop or print alike, change the same arguments and send back the same gradients. Wrong
ones are compared as a check compares, right ones bit by bit: how they round is what they try.

Of twins, `tests/checks/corpus` keeps one; our own right versions stay, since each is there for how
it is written. The script lists the twins of all components, or of those that are named.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from common import ROOT
from torch import Tensor

sys.path.insert(0, str(ROOT))

from tests.checks import corpus

SECONDS = 5.0  # of processor time, for one input


def outcomes(checks: Any, version: corpus.Version) -> tuple[Any, ...]:
    """What a version does on every input, and on every input turned round."""
    component, made = checks.COMPONENTS[version.component], version.made
    if component.as_class and checks.classes.is_class(made):
        component = component.of_class()
    tried, cases, found = component.observe(made), list(component.cases()), []
    turned = cases if component.form == "function" else []
    for case in (*cases, *(other for each in turned for other in mirrored(checks, each))):
        gradients = component.differentiable and len(found) < len(cases)
        found.append(
            checks.running.call(tried, case, gradients=gradients, seconds=SECONDS, source=made)
        )
        if found[-1].unfinished or found[-1].names_differ:
            break
    return tuple(found)


def mirrored(checks: Any, case: Any) -> Iterator[Any]:
    """The case turned round, if it can be."""
    given = (*case.arguments, *case.keywords.values())
    simple = all(value is None or isinstance(value, (int, float, Tensor)) for value in given)
    if simple and any(isinstance(value, Tensor) for value in given):
        turned, n = checks.kept.mirrored(given), len(case.arguments)
        keywords = dict(zip(case.keywords, turned[n:], strict=True))
        yield replace(case, arguments=turned[:n], keywords=keywords)


def form(checks: Any, version: corpus.Version) -> tuple[Any, ...]:
    """How it is handed in, what is said of it, and what it could keep."""
    made = version.made
    kind = "class" if checks.classes.is_class(made) else hasattr(made, "__code__")
    keeps = checks.kept.anew(made) is not None, *checks.kept.mutable_defaults(made)
    allowed = None
    if version.meant == "right":
        component = checks.COMPONENTS[version.component]
        judged = checks.judging.judge(component, made, seconds=SECONDS, allow_builtin=False)
        allowed = judged.status, judged.sentences
    return kind, version.status, version.names, version.together, keeps, allowed


def alike(checks: Any, mine: Sequence[Any], theirs: Sequence[Any], *, bits: bool) -> bool:
    """Whether two versions did the same on every input."""

    def same(a: Any, b: Any) -> bool:
        if isinstance(a, Tensor) != isinstance(b, Tensor) or type(a) is not type(b):
            return False
        if isinstance(a, Tensor) and (a.dtype, a.shape) != (b.dtype, b.shape):
            return False
        if bits and isinstance(a, dict):
            return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
        if bits and isinstance(a, (list, tuple)):
            return len(a) == len(b) and all(map(same, a, b))
        if bits and isinstance(a, Tensor):
            return bool(((a == b) | ((a != a) & (b != b))).all())
        if bits and isinstance(a, float):
            return a == b or (a != a and b != b)
        return checks.comparing.same(a, b) and checks.comparing.same(b, a)

    def did(outcome: Any) -> tuple[Any, ...]:
        trouble = (outcome.trouble or "").partition(":")[0]
        traced = None if isinstance(outcome.answer, Tensor) else outcome.answer
        trace = getattr(traced, "trace", None)
        return trouble, outcome.unfinished, outcome.changed, outcome.printed, trace

    return len(mine) == len(theirs) and all(
        did(a) == did(b)
        and (bool(a.trouble) or same(a.answer, b.answer))
        and len(a.gradients) == len(b.gradients)
        and all(map(same, a.gradients, b.gradients))
        for a, b in zip(mine, theirs, strict=True)
    )


def groups(checks: Any, versions: Iterable[corpus.Version]) -> list[list[corpus.Version]]:
    """The versions, twins together."""
    found: dict[Any, list[tuple[Any, list[corpus.Version]]]] = defaultdict(list)
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for version in versions:
            did = outcomes(checks, version)
            known = found[version.component, version.meant, form(checks, version)]
            for other, twins in known:
                if alike(checks, other, did, bits=version.meant == "right"):
                    twins.append(version)
                    break
            else:
                known.append((did, [version]))
    return [twins for known in found.values() for _, twins in known]


def superfluous(checks: Any, versions: Sequence[corpus.Version]) -> list[list[corpus.Version]]:
    """The groups in which one version would do: of wrong ones, and of right ones written blind."""
    looked = [version for version in versions if version.meant == "wrong" or version.by]
    return [twins for twins in groups(checks, looked) if len(twins) > 1]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("components", nargs="*", help="default: all")
    arguments = parser.parse_args()
    from transformer_book import checks

    names = arguments.components or list(checks.COMPONENTS)
    versions = [version for version in corpus.load() if version.component in names]
    found = superfluous(checks, versions)
    for twins in found:
        print(f"{twins[0].component}: {', '.join(version.label for version in twins)}")
    print(f"{len(versions)} versions; groups of twins with one too many: {len(found)}")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
