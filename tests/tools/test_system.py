"""What the tests need from the system: found, else installed, else named in one sentence."""

from __future__ import annotations

import pytest
from playwright.sync_api import sync_playwright

from tests import system


def test_an_absent_browser_is_named(monkeypatch) -> None:
    monkeypatch.setattr(system.shutil, "which", lambda name: None)
    monkeypatch.setattr(system, "_playwrights_own", lambda: None)
    monkeypatch.setattr(system.Path, "exists", lambda path: False)
    with pytest.raises(pytest.fail.Exception, match="install Chromium or Chrome"):
        system.chromium()


def test_an_absent_file_is_named(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(system, "_apt", lambda *packages: False)
    with pytest.raises(pytest.fail.Exception, match="Words are checked: install the packages a b"):
        system.ensure_files(str(tmp_path / "no"), packages=("a", "b"), purpose="Words are checked")


def test_a_browser_is_looked_for_while_playwright_runs(monkeypatch) -> None:
    """The fixture that asks has a Playwright open already; a second one in-process would fail."""
    monkeypatch.setattr(system, "_WHERE", system._WHERE.replace("executable_path", "name"))
    monkeypatch.setattr(system.subprocess, "run", recorded(system.subprocess.run))
    with sync_playwright():
        assert system._playwrights_own() is None
    assert RUNS[0].stdout == "chromium\n"


RUNS: list = []


def recorded(run):
    def wrapper(command, **options):
        if "install" in command:  # no download in this test
            return None
        RUNS.append(run(command, **options))
        return RUNS[-1]

    return wrapper
