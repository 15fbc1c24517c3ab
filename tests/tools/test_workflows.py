"""What is published has been tested, by actions that cannot change behind our back."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / ".github" / "workflows"
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text("utf-8")) for path in FOLDER.glob("*.yml")}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_are_pinned_by_their_hash(name):
    uses = re.findall(r"uses: (.+)", (FOLDER / f"{name}.yml").read_text("utf-8"))
    assert uses
    for action in uses:
        pinned = re.fullmatch(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v[\d.]+", action)
        assert pinned or action.startswith("./.github/workflows/"), action


def ancestors(jobs: dict, name: str) -> set[str]:
    """The jobs that must have succeeded before this one starts."""
    needs = jobs[name].get("needs", [])
    needs = [needs] if isinstance(needs, str) else needs
    return {*needs, *(each for need in needs for each in ancestors(jobs, need))}


@pytest.mark.parametrize(
    ("workflow", "job"), [("publish", "deploy"), ("release", "release"), ("release", "index")]
)
def test_nothing_is_published_untested(workflow, job):
    jobs = WORKFLOWS[workflow]["jobs"]
    tests = {name for name, one in jobs.items() if one.get("uses", "").endswith("/test.yml")}
    assert tests & ancestors(jobs, job)
    assert any(
        "run" in step and ".ci/run" in step["run"]
        for step in WORKFLOWS["test"]["jobs"]["test"]["steps"]
    )


def test_every_job_has_a_limit_and_few_rights():
    for workflow in WORKFLOWS.values():
        assert workflow["permissions"] == {"contents": "read"}
        for job in workflow["jobs"].values():
            rights = job.get("permissions", {})
            assert (
                "uses" in job
                or "timeout-minutes" in job
                or set(rights) & {"pages", "contents", "id-token"}
            )
