"""What people write gets the verdict that stands beside it: right is right, mistakes are named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import judge_versions
import pytest
import twins

from tests.checks import corpus
from tests.fresh import import_fresh

# Learners' code may do what torch warns of, and learners do not read it.
pytestmark = pytest.mark.filterwarnings("ignore")

# As learners import it: the annotations' hook would make each of many thousand calls slower.
checks = import_fresh("transformer_book.checks")
SECONDS = {False: 20.0, True: 5.0}  # of processor time, for one input: of ours, of a blind one
VERSIONS = corpus.load()
OURS = [version for version in VERSIONS if not version.by]
ONCE_OPEN = 9  # meant as wrong, called right


def id_of(version: corpus.Version) -> str:
    by = f"-{version.by[0]}" if version.by else ""
    return f"{version.component}-{version.label}{by}"


@pytest.mark.parametrize("version", VERSIONS, ids=id_of)
def test_a_version_gets_the_verdict_that_stands_beside_it(
    version: corpus.Version, count: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is said where there is no name is looked at elsewhere, and takes time.
    monkeypatch.setattr(checks.diagnosis, "of_outcomes", lambda *given: ())
    monkeypatch.setattr(checks.diagnosis, "which_inputs", lambda *given: "")
    monkeypatch.setattr(checks.inside, "located", lambda *given: ())
    component = checks.COMPONENTS[version.component]
    seconds = SECONDS[bool(version.by)]
    found = checks.judging.judge(component, version.made, checks.MISTAKES, seconds=seconds)
    names = tuple(mistake.name for mistake in found.mistakes)
    if version.meant == "right":
        counted = {"correct_versions": 1, "false_alarms": int(found.status != "right")}
    else:
        counted = {
            "written": 1,
            "detected": int(found.status in ("wrong", "convention")),
            "missed": int(found.status == "right"),
            "named_alone": int(len(names) == 1 or found.together),
            "among_candidates": int(len(names) > 1 and not found.together),
            "unnamed": int(not names),
        }
    count(component.chapter, **counted)
    expected = version.status, version.names, version.together
    assert (found.status, names, found.together) == expected, found.text()


def test_every_component_has_three_right_versions_of_ours() -> None:
    written = Counter(version.component for version in OURS if version.meant == "right")
    assert written.keys() == checks.COMPONENTS.keys()
    assert not [name for name, number in written.items() if number < 3]


def test_every_mistake_was_written_by_hand_and_is_told() -> None:
    written = {(v.component, name) for v in VERSIONS for name in v.names}
    known = {(m.component, m.name) for m in checks.MISTAKES if m.kind != "harmless"}
    assert not known - written
    assert {name for _, name in written - known} <= {checks.judging.KEPT}  # of any component


def test_what_is_meant_as_wrong_is_right_only_where_the_docstring_was_open() -> None:
    called = [version for version in VERSIONS if version.status != version.meant == "wrong"]
    assert sum(version.status == "right" for version in called) == ONCE_OPEN
    assert {version.status for version in called} <= {"right", "convention"}


def test_every_version_has_a_name_of_its_own() -> None:
    repeated = [name for name, n in Counter(map(id_of, VERSIONS)).items() if n > 1]
    assert not repeated


def test_what_several_people_wrote_stands_once() -> None:
    """Of a few components, those that are judged in a moment; `tools/twins.py` looks at all."""
    few = ("encode", "shift", "tied_logits", "padding_mask", "lora_start", "length_normalised")
    kept = [version for version in VERSIONS if version.component in few]
    assert kept and not twins.superfluous(checks, kept)
    again = [version for version in kept if version.status == "wrong" and not version.names][:1]
    found = twins.superfluous(checks, [*kept, *again])
    assert len(found) == 1 and len(found[0]) == 2


ANEW = """from tests.checks.corpus import version


@version("softmax", "right", by=1)
def over_everything(scores):
    return scores.exp() / scores.exp().sum()


@version("softmax", "wrong", by=1)
def not_divided(scores):
    return scores.exp()
"""


def test_what_is_written_anew_gets_its_verdict_written_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "anew.py"
    path.write_text(ANEW)
    mine = judge_versions.versions(path)
    verdicts = [judge_versions.judged(checks, version)[0] for version in mine]
    text = judge_versions.rewritten(ANEW, list(zip(mine, verdicts, strict=True)))
    assert [version.label for version in mine] == ["over_everything", "not_divided"]
    assert not [version for version in corpus.VERSIONS if version in mine]
    assert '@version("softmax", "wrong: softmax without subtracting the maximum' in text
    assert text.count('"right"') == 0 and '"wrong"' not in text


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
