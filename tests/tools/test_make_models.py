"""The manifest of the models: what it names exists, and nothing that is shipped is missing."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import make_models
import pytest
from common import ROOT

from transformer_book import pretrained, recipes

MANIFEST = tomllib.loads(make_models.MANIFEST.read_text(encoding="utf-8"))
COMMANDS = list(make_models.commands(MANIFEST))


def test_every_shipped_model_is_made():
    made = {c[c.index("--name") + 1] for c in COMMANDS if c[0] == "tools/ship_model.py"}
    assert made == set(pretrained.names())


def test_every_recipe_and_script_exists():
    for command in COMMANDS:
        if command[0] == "-m":
            assert command[3] in recipes.names()
        else:
            assert (ROOT / command[0]).is_file()


def test_what_is_shipped_or_recorded_was_trained_before():
    trained: set[str] = {"runs/generations"}
    for command in COMMANDS:
        if "--output" in command:
            trained.add(command[command.index("--output") + 1])
        for part in command:
            if part.startswith("runs/") and command[0].startswith("tools/"):
                assert part in trained or part.startswith("runs/generations/")


def test_the_taught_read_all_teachers():
    taught = [c for c in COMMANDS if c[0] == "-m" and c[3] in MANIFEST["taught"]]
    assert len(taught) == 4
    for command in taught:
        folders = [command[i + 1] for i, part in enumerate(command) if part == "--teacher"]
        assert folders == [f"runs/{name}" for name in MANIFEST["teachers"]]


def test_the_first_failure_ends_it(monkeypatch, capsys):
    calls = []

    def run(command, **_):
        calls.append(command)
        return subprocess.CompletedProcess(command, 3 if len(calls) == 2 else 0)

    monkeypatch.setattr(make_models.subprocess, "run", run)
    monkeypatch.setattr(sys, "argv", ["make_models.py"])
    assert make_models.main() == 3 and len(calls) == 2
    monkeypatch.setattr(sys, "argv", ["make_models.py", "--list"])
    capsys.readouterr()
    assert make_models.main() == 0 and len(calls) == 2
    assert len(capsys.readouterr().out.splitlines()) == len(COMMANDS)


@pytest.mark.parametrize(("run", "seed"), [("copy", None), ("copy=7", "training.seed=7")])
def test_a_seed_is_a_change_of_the_recipe(run, seed):
    command = make_models.training(run, MANIFEST)
    assert command[3] == "copy" and command[-1] == "--resume" and f"runs/{run}" in command
    assert (seed in command) if seed else ("--set" not in command)
