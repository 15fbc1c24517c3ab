#!/usr/bin/env python3
"""Which programs does each input of the checks tell from the right one? And does any tell none?

For each component there are families of programs that are not right, or not everywhere:

* `mutants`: the reference, damaged in one place;
* `mistakes`: the known ones;
* `pairs`: two known mistakes at a time;
* `apart`: one known mistake in the place of another, so that the right name is given;
* `boundaries`: right but where an argument is at a boundary (one sentence, one place, each special
  token at each place, padding, a length beyond any buffer, …), see `checks.boundaries`;
* `rivals`: for the searches, programs with a rule of their own for what stays in the beam, when
  to stop and who wins, singly and in pairs, see `searches`.

Every program runs on every input. The table of what differs is the report,
`tests/checks/inputs.json`, which a test holds to the code. An input that tells no program apart
must not stand. It also says how many programs need an input: those that would be told apart by
fewer than three without it.

`--cover` says which inputs would do. `--models N` holds the searches' references against an
independent implementation and, with a beam wide enough for all hypotheses, against brute force, on
N random small models. `--beams N` looks among N of them for the inputs of `beam_search`.
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from common import ROOT
from reference_mutants import mutants

REPORT = ROOT / "tests" / "checks" / "inputs.json"
ENOUGH = 3  # inputs: a mistake is named if it gives the learner's numbers on so many
SECONDS = 2.0  # of processor time, for one input

Program = tuple[str, Callable[..., Any]]
Kills = list[bool]  # for each input, whether it tells the program from the right one


def families(checks: Any, component: Any) -> dict[str, list[Program]]:
    """The programs of each family, by name."""
    import searches

    known = [m for m in checks.MISTAKES if m.component == component.name and m.kind != "harmless"]
    pairs = [
        p for p in itertools.combinations(known, 2) if not p[0].steps.keys() & p[1].steps.keys()
    ]
    found = {
        "mutants": damaged(checks, component),
        "mistakes": [(m.name, component.version(m.steps)) for m in known],
        "pairs": [
            (f"{a.name} + {b.name}", component.version({**a.steps, **b.steps})) for a, b in pairs
        ],
        "boundaries": [
            (name, right_but_where(component, where))
            for name, where in component.boundaries.items()
        ],
        "rivals": list(searches.rivals(component.name)),
    }
    return {name: programs for name, programs in found.items() if programs}


def damaged(checks: Any, component: Any) -> list[Program]:
    """The mutants of the reference that can be built."""
    found = mutants(checks.ideas.MODULES, component)
    return [(change, program) for change, program in found if program]


class Elsewhere(Exception):
    """Raised, where an argument is at a boundary, by a program that is otherwise right."""


def right_but_where(component: Any, where: Callable[..., bool]) -> Callable[..., Any]:
    """The reference, which stops where its arguments meet the condition."""
    names = list(inspect.signature(component.pipeline).parameters)[1:]

    def program(*arguments: Any, **keywords: Any) -> Any:
        given = {**dict(zip(names, arguments, strict=False)), **keywords}
        parameters = inspect.signature(where).parameters.items()
        wanted = [name for name, parameter in parameters if parameter.default is parameter.empty]
        if where(**{name: given.get(name) for name in wanted}):
            raise Elsewhere
        return component.reference(*arguments, **keywords)

    return program


def kills(checks: Any, component: Any, program: Callable[..., Any]) -> Kills:
    """For each input, whether the program gives another answer than the right one, or none."""
    tried = component.observe(program)
    expected = checks.explaining.known_outcomes(component, ())
    found = []
    for case, right in zip(component.cases(), expected, strict=True):
        mine = checks.running.call(tried, case, gradients=False, seconds=SECONDS, source=program)
        found.append(bool(mine.trouble) or not checks.comparing.same(mine.answer, right.answer))
        if mine.unfinished:
            found += [True] * (len(component.cases()) - len(found))
            break
    return found


def table(checks: Any, component: Any, only: Sequence[str] = ()) -> dict[str, dict[str, Kills]]:
    """Family → program → which inputs tell it from the right one."""
    found = {
        family: {name: kills(checks, component, program) for name, program in programs}
        for family, programs in families(checks, component).items()
        if not only or family in only
    }
    if not only or "apart" in only:
        found["apart"] = apart(checks, component)
    return found


def apart(checks: Any, component: Any) -> dict[str, Kills]:
    """Two known mistakes → the inputs on which they give different answers."""

    def differ(mine: Any, theirs: Any) -> bool:
        if mine.trouble or theirs.trouble:
            return bool(mine.trouble) != bool(theirs.trouble)
        return not checks.comparing.same(mine.answer, theirs.answer)

    known = [m for m in checks.MISTAKES if m.component == component.name and m.kind != "harmless"]
    outcomes = {m.name: checks.explaining.known_outcomes(component, (m,)) for m in known}
    return {
        f"{a} / {b}": [differ(x, y) for x, y in zip(outcomes[a], outcomes[b], strict=True)]
        for a, b in itertools.combinations(outcomes, 2)
    }


def needed(tables: dict[str, dict[str, Kills]], n_inputs: int) -> list[int]:
    """For each input, how many programs would be told apart by too few without it."""
    counts = [0] * n_inputs
    for programs in tables.values():
        for row in programs.values():
            if sum(row) <= ENOUGH:
                counts = [n + told for n, told in zip(counts, row, strict=True)]
    return counts


def cover(tables: dict[str, dict[str, Kills]], keep: Sequence[int] = ()) -> list[int]:
    """Few inputs that tell every program apart as often as is wanted and as all of them can."""
    rows = [row for programs in tables.values() for row in programs.values()]
    missing = [min(ENOUGH, sum(row)) for row in rows]
    n_inputs = len(rows[0])
    taken: list[int] = []
    waiting = list(keep)
    while any(missing):
        gains = [
            sum(left > 0 for row, left in zip(rows, missing, strict=True) if row[i])
            if i not in taken
            else -1
            for i in range(n_inputs)
        ]
        best = waiting.pop(0) if waiting else max(range(n_inputs), key=gains.__getitem__)
        taken.append(best)
        missing = [max(left - row[best], 0) for row, left in zip(rows, missing, strict=True)]
    return sorted(taken)


def described(checks: Any, component: Any) -> dict[str, Any]:
    """What the report says of one component."""
    tables = table(checks, component)
    cases = component.cases()
    need = needed(tables, len(cases))
    return {
        "families": {
            family: {
                "programs": len(programs),
                "told apart": sum(map(any, programs.values())),
                "by three inputs": sum(sum(row) >= ENOUGH for row in programs.values()),
                "never": sorted(name for name, row in programs.items() if not any(row)),
            }
            for family, programs in tables.items()
        },
        "inputs": [
            {
                "input": case.name,
                **{
                    family: sum(row[i] for row in programs.values())
                    for family, programs in tables.items()
                },
                "needed by": need[i],
            }
            for i, case in enumerate(cases)
        ],
    }


def as_text(report: dict[str, Any]) -> str:
    return json.dumps(report, ensure_ascii=False, indent=1) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("components", nargs="*", help="default: all")
    parser.add_argument("--write", action="store_true", help=f"write {REPORT.name}; else compare")
    parser.add_argument("--cover", action="store_true", help="say which inputs would do")
    parser.add_argument("--models", type=int, metavar="N", help="hold the searches against others")
    parser.add_argument("--beams", type=int, metavar="N", help="look for inputs of beam_search")
    arguments = parser.parse_args()
    import searches

    from transformer_book import checks

    if arguments.models:
        print(searches.agreement(checks, arguments.models))
        return 0
    if arguments.beams:
        print(searches.chosen(checks, arguments.beams))
        return 0
    unknown = [name for name in arguments.components if name not in checks.COMPONENTS]
    if unknown:
        parser.error(f"there is no check {unknown[0]!r}")
    if arguments.cover:
        for name in arguments.components or checks.COMPONENTS:
            tables = table(checks, checks.COMPONENTS[name])
            print(f"{name}: of {len(checks.COMPONENTS[name].cases())} inputs {cover(tables)}")
        return 0
    before = json.loads(REPORT.read_text(encoding="utf-8")) if REPORT.exists() else {}
    after = {
        name: described(checks, part)
        if name in arguments.components or not arguments.components
        else before.get(name)
        for name, part in checks.COMPONENTS.items()
    }
    for name, part in after.items():
        for told in (part or {}).get("inputs", ()):
            if not any(n for family, n in told.items() if family not in ("input", "needed by")):
                print(f"{name}: the input {told['input']!r} tells nothing apart")
    if arguments.write:
        REPORT.write_text(as_text(after), encoding="utf-8")
    elif after != before:
        print(f"{Path(REPORT).name} is not up to date: run python tools/find_inputs.py --write")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
