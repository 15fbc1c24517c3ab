"""What beginners write is rejected, and the mistake in it is called by its name."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.checks.wrong_versions import VERSIONS, Version
from tests.fresh import import_fresh

for part in sorted(Path(__file__).parent.glob("wrong_*.py")):
    importlib.import_module(f"tests.checks.{part.stem}")

# A softmax without dim warns, and beginners do not read it.
pytestmark = pytest.mark.filterwarnings("ignore:Implicit dimension:UserWarning")

# As learners import it: the annotations' hook would make each of many thousand calls slower.
checks = import_fresh("transformer_book.checks")


def name_of(version: Version) -> str:
    return getattr(version.function, "__name__", type(version.function).__name__)


@pytest.mark.parametrize("version", VERSIONS, ids=name_of)
def test_a_beginners_mistake_is_named(version: Version, count: Callable[..., None]) -> None:
    component = checks.COMPONENTS[version.component]
    found = checks.judging.judge(component, version.function, checks.MISTAKES)
    names = [mistake.name for mistake in found.mistakes]
    alone = names == [version.mistake] or (found.together and version.mistake in names)
    among = version.mistake in names and not alone
    count(
        component.chapter,
        written=1,
        detected=int(found.status in ("wrong", "convention")),
        missed=int(found.status == "right"),
        named_alone=int(alone),
        among_candidates=int(among),
        unnamed=int(not alone and not among),
    )
    assert found.status in ("wrong", "convention"), found.text()
    assert version.mistake in names, found.text()
    if version.also:
        assert found.together and version.also in names, found.text()


def test_every_mistake_has_two_versions() -> None:
    written = Counter((version.component, version.mistake) for version in VERSIONS)
    # What others wrote counts, where one name was given.
    for path in Path(__file__).with_name("attacks").glob("*.json"):
        for rows in json.loads(path.read_text(encoding="utf-8")).values():
            written.update(
                (component, names[0]) for component, _, _, *names in rows if len(names) == 1
            )
    known: list[Any] = [mistake for mistake in checks.MISTAKES if mistake.kind != "harmless"]
    few = [(m.component, m.name) for m in known if written[m.component, m.name] < 2]
    assert not few
    unknown = written.keys() - {(m.component, m.name) for m in known}
    assert {name for _, name in unknown} <= {checks.judging.KEPT}  # of any component


@pytest.mark.parametrize("name", [c.name for c in checks.COMPONENTS.values() if c.alike])
def test_right_steps_in_another_form_are_right(name: str) -> None:
    component = checks.COMPONENTS[name]
    assert checks.judging.judge(component, component.version(component.alike)).status == "right"


def test_nan_everywhere_is_given_no_name() -> None:
    """Matching loosely, nan disproves nothing; it must prove nothing either."""

    def not_a_number(query, key, value, mask=None):
        return query @ key.mT @ value * float("nan")

    component = checks.COMPONENTS["scaled_dot_product_attention"]
    found = checks.judging.judge(component, not_a_number, checks.MISTAKES)
    assert found.status == "wrong" and not found.mistakes
