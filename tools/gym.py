r"""The diagnosis gym: faults, their recorded runs, and what is asked about them.

**Which faults look alike** is measured, not thought. There are four looks at a run: its curves, its
answers, its attention, the length of the gradients of its parts. Each gives a list of numbers, and
each number is divided by its spread between seeds, pooled over all faults. With $x$ and $y$ two
runs and $n$ numbers in a look,

$$d(x, y) = \sqrt{\tfrac1n \sum_i \left(\frac{x_i - y_i}{s_i}\right)^2} .$$

By one look, the *gap* of two faults is the smallest distance between a run of the first and a run
of the second, over the largest between two seeds of the same fault. Above 1, no two seeds of one
fault differ as much as the two faults do: the look tells them apart. Faults that no look tells
apart count as right for one another.

**What is asked** is made in groups of faults of which any two can be told apart. In a group, each
fault is once what is wrong, and the same options stand there each time. So what is right cannot be
known from the options alone. On level 1 a group is far apart, on level 3 it is close.
"""

from __future__ import annotations

import json
import math
import statistics
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations, pairwise, product
from typing import Any
from zlib import crc32

from common import ROOT

TABLE = ROOT / "tools" / "gym.toml"
RECORD = ROOT / "tools" / "gym.json"
SEEDS = (1, 2, 3)
TASKS = ("reverse", "copy")
LEVELS = (1, 2, 3)
OPTIONS = 4
MOMENTS = (50, 100, 200, 400)  # after so many updates a run is asked for answers

Run = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """One fault: how it is made, and what the page says of it.

    Attributes:
        id: its name in addresses and files.
        says: the fault as an option that can be chosen.
        why: what it does, in two or three sentences.
        test: what decides whether it is this fault.
        chapter: where the book explains it, "08_masks#heading".
        tasks: what the model was to learn.
        settings: what differs from where the bench begins, by the names of its settings.
        recipe: further changes of the recipe, as `recipes.load_recipe` takes them.
        mistake: component and name of a mistake that `checks` knows.
        damage, use: what `record_gym.py` does to training, or to a rightly trained model.
        bench: settings of the bench that make the fault where `settings` do not.
        talk: a change on the page *Talk to the model* that makes it.
        seeds: of the recorded runs.
    """

    id: str
    says: str
    why: str
    test: str
    chapter: str
    tasks: tuple[str, ...] = ("reverse",)
    settings: dict[str, Any] = field(default_factory=dict)
    recipe: tuple[str, ...] = ()
    mistake: tuple[str, ...] = ()
    damage: str = ""
    use: str = ""
    bench: dict[str, Any] = field(default_factory=dict)
    talk: str = ""
    seeds: tuple[int, ...] = SEEDS

    def asked(self) -> dict[str, Any]:
        """What a recorded run was made by."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name in ("settings", "recipe", "mistake", "damage", "use")
            if (value := getattr(self, name))
        }


FAULTS = {
    entry["id"]: Fault(
        **{name: tuple(v) if isinstance(v, list) else v for name, v in entry.items()}
    )
    for entry in tomllib.loads(TABLE.read_text(encoding="utf-8"))["fault"]
}
HEALTHY = FAULTS["healthy"]


def shown_seed(fault: Fault, task: str) -> int:
    """Which seed a new record shows: by the fault's name, not always the first.

    What is recorded keeps the one that it has, whatever is added to the table.
    """
    return SEEDS[(crc32(fault.id.encode()) + (task == "copy")) % 2]


@cache
def recorded() -> dict[tuple[str, str], list[Run]]:
    """The runs that are recorded as the table says, by task and fault, in the order of the table.

    A fault counts once its shown seed and another one are there.
    """
    runs = json.loads(RECORD.read_text(encoding="utf-8"))
    found: dict[tuple[str, str], list[Run]] = {}
    for task, fault in product(TASKS, FAULTS.values()):
        fits = [
            run
            for run in runs
            if (run["task"], run["fault"], run["asked"]) == (task, fault.id, fault.asked())
            and run["seed"] in SEEDS
        ]
        if len(fits) > 1 and any("answers" in run for run in fits):
            found[task, fault.id] = fits
    return found


# --- four looks, as numbers -----------------------------------------------------------------------


def _log(loss: float | None) -> float:
    """The logarithm of a loss, at least −5; 3 for what is no number."""
    return 3.0 if loss is None else math.log10(max(loss, 1e-5))


def _curves(run: Run) -> list[float]:
    """Means of the training loss, losses on validation, and how much the training loss jumps."""
    logs = [_log(loss) for loss in run["train"]]
    jumps = [abs(b - a) for a, b in pairwise(logs[10:])]
    logs += [3.0] * (40 - len(logs))
    means = [sum(logs[i : i + 5]) / 5 for i in range(0, 40, 5)]
    measured = dict(run["validation"])
    validation = [_log(measured.get(update)) for update in range(50, 401, 50)]
    return [*means, *validation, sum(jumps) / max(1, len(jumps))]


def _answers(run: Run) -> list[float]:
    return [number for update in MOMENTS for number in run["counts"].get(str(update), [-1.0] * 10)]


def _attention(run: Run) -> list[float]:
    return run.get("looks", [-1.0] * 48)


PARTS = (
    "source_embedding",
    "target_embedding",
    "encoder self_attention",
    "encoder feed_forward",
    "decoder self_attention",
    "decoder cross_attention",
    "decoder feed_forward",
    "norms",
    "output",
)


def _gradients(run: Run) -> list[float]:
    return [
        math.log10(max(1e-6, run["norms"].get(str(update), {}).get(part) or 0.0))
        for update in (1, *MOMENTS)
        for part in PARTS
    ]


LOOKS: dict[str, tuple[Callable[[Run], list[float]], float]] = {
    "curves": (_curves, 0.05),
    "answers": (_answers, 0.03),
    "attention": (_attention, 0.03),
    "gradients": (_gradients, 0.1),
}
"""For each look its numbers, and a difference in them that is too small to be seen."""

# --- how far apart they are -----------------------------------------------------------------------


@cache
def scales(look: str) -> list[float]:
    """How much each number of a look differs between seeds of one fault, pooled over all faults."""
    numbers, visible = LOOKS[look]
    lists = [[numbers(run) for run in runs] for runs in recorded().values()]
    variances = [
        [statistics.variance(column) for column in zip(*runs, strict=True)] for runs in lists
    ]
    means = [statistics.fmean(column) for column in zip(*variances, strict=True)]
    return [math.sqrt(mean + visible**2) for mean in means]


def in_units(look: str, run: Run) -> list[float]:
    """The numbers of a run, each in units of its spread."""
    return [value / s for value, s in zip(LOOKS[look][0](run), scales(look), strict=True)]


@cache
def scaled(look: str) -> dict[tuple[str, str], list[list[float]]]:
    """The numbers of every run in units of their spread, by task and fault."""
    return {name: [in_units(look, run) for run in runs] for name, runs in recorded().items()}


def distance(x: Iterable[float], y: Iterable[float]) -> float:
    """The root of the mean square of differences."""
    squares = [(a - b) ** 2 for a, b in zip(x, y, strict=True)]
    return math.sqrt(sum(squares) / len(squares))


def gap_of(first: list[list[float]], second: list[list[float]]) -> float:
    """The nearest two of different faults, over the farthest two of the same."""
    near = min(distance(x, y) for x, y in product(first, second))
    same = [distance(x, y) for runs in (first, second) for x, y in combinations(runs, 2)]
    return near / max(*same, 1.0)  # 1.0: two seeds never differ by less than is usual


@cache
def gap(look: str, task: str, first: str, second: str) -> float:
    """How clearly a look tells two faults apart; above 1 it does."""
    lists = scaled(look)
    return gap_of(lists[task, first], lists[task, second])


def clearest(task: str, first: str, second: str) -> float:
    """The gap by the look that tells most."""
    pair = sorted((first, second))
    return max(gap(look, task, *pair) for look in LOOKS)


def told_apart(task: str, first: str, second: str) -> bool:
    """Whether some look tells them apart."""
    return clearest(task, first, second) > 1


def alike(task: str, fault: str) -> list[str]:
    """The other faults of this task that no look tells from this one."""
    others = [name for each, name in recorded() if each == task and name != fault]
    return [name for name in others if not told_apart(task, fault, name)]


# --- what is asked --------------------------------------------------------------------------------


@cache
def groups(task: str, level: int) -> list[list[str]]:
    """Faults in groups of which any two are told apart; on level 1 far apart, on level 3 close.

    A fault with many that look like it chooses first. What is left over joins a group where it can
    be told from all, or is not asked on this level.
    """
    left = [name for each, name in recorded() if each == task]
    order = {name: n for n, name in enumerate(left)}
    made: list[list[str]] = []
    alone: list[str] = []

    def nearness(name: str, group: list[str]) -> tuple[float, int]:
        total = sum(math.log(clearest(task, name, member)) for member in group) / len(group)
        wanted = {1: -total, 2: abs(total - math.log(4)), 3: total}[level]
        return wanted, order[name]

    while left:
        crowd = {name: sum(not told_apart(task, name, other) for other in left) for name in left}
        group = [max(left, key=lambda name: (crowd[name], -order[name]))]
        while len(group) < OPTIONS:
            fits = [
                name
                for name in left
                if name not in group and all(told_apart(task, name, each) for each in group)
            ]
            if not fits:
                break
            group.append(min(fits, key=lambda name: nearness(name, group)))
        left = [name for name in left if name not in group]
        if len(group) == OPTIONS:
            made.append(group)
        else:
            alone += group
    for name in alone:
        fits = [
            group
            for group in made
            if len(group) == OPTIONS and all(told_apart(task, name, each) for each in group)
        ]
        if fits:
            min(fits, key=lambda group: nearness(name, group)).append(name)
    return made


def first_looks(task: str, group: list[str]) -> list[str]:
    """What is shown at first: the curves, and the answers where curves do not tell all apart.

    It is the same for every case of a group, and so gives nothing away.
    """
    pairs = [sorted(pair) for pair in combinations(group, 2)]
    curves_tell = all(gap("curves", task, *pair) > 1 for pair in pairs)
    return ["curves"] if curves_tell else ["curves", "answers"]


def address(fault: Fault, task: str) -> str:
    """The settings of the bench that make this fault, as its address; empty where it has none."""
    settings = {**fault.settings, **fault.bench}
    made_otherwise = (fault.damage or fault.mistake) and not fault.bench
    if made_otherwise or fault.recipe or fault.use or fault is HEALTHY:
        return ""
    settings = {"task": task, "max_length": 6, "updates": 400, **settings}
    text = {key: json.dumps(v) if isinstance(v, bool) else v for key, v in settings.items()}
    return "&".join(
        f"{key}={value}" for key, value in text.items() if key != "task" or value != "copy"
    )


def stand_ins(task: str, group: list[str]) -> dict[str, list[str]]:
    """For each fault of a group those that may stand in its place as an option.

    No look tells them from it, and some look tells them from every other fault of the group.
    """
    return {
        name: [
            other
            for other in alike(task, name)
            if all(told_apart(task, other, each) for each in group if each != name)
        ]
        for name in group
    }


EVIDENCE = ("seed", "train", "validation", "norms", "answers", "sources", "targets", "maps")


def _asked_of(task: str, group: list[str]) -> dict[str, Any]:
    others = stand_ins(task, group)
    pairs = {
        tuple(sorted((name, shown)))
        for name, member in product(group, group)
        if name != member
        for shown in (member, *others[member])
    }
    return {
        "faults": group,
        "alike": {name: names for name, names in others.items() if names},
        "first": first_looks(task, group),
        "gaps": {
            "|".join(pair): [round(min(99.0, gap(look, task, *pair)), 1) for look in LOOKS]
            for pair in sorted(pairs)
        },
    }


def page_data() -> dict[str, Any]:
    """All that the page needs: texts, the shown runs, the groups, and which look tells what."""
    asked = {
        task: [[_asked_of(task, group) for group in groups(task, level)] for level in LEVELS]
        for task in TASKS
    }
    runs = {}
    for (task, name), found in recorded().items():
        shown = next(run for run in found if "answers" in run)
        fault = FAULTS[name]
        runs[f"{name}-{task}"] = {
            **{key: shown[key] for key in EVIDENCE if key in shown},
            "alike": alike(task, name),
            "bench": address(fault, task),
        }
    texts = {
        name: {key: getattr(fault, key) for key in ("says", "why", "test", "chapter", "talk")}
        for name, fault in FAULTS.items()
    }
    return {"faults": texts, "runs": runs, "asked": asked}
