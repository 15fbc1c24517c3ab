"""What the tests need from the system: found, else installed, else named in one sentence."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from common import installed_chromium
from filelock import FileLock

PATIENCE = 300  # seconds: generous, since a busy machine is slow, not wrong


def _apt(*packages: str) -> bool:
    """Install Debian packages if this account may; say whether it worked."""
    if not shutil.which("apt-get"):
        return False
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if sudo and not shutil.which("sudo"):
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = [*sudo, "apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    # One test process at a time: of two, apt would send the second one away.
    with FileLock(Path(tempfile.gettempdir()) / f"apt-for-tests-{os.geteuid()}.lock"):
        for command in (install, [*sudo, "apt-get", "update", "-q"], install):
            done = subprocess.run(command, env=environment, capture_output=True, check=False)
            if command is install and done.returncode == 0:
                return True
    return False


def built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[], Path]) -> Path:
    """The folder that `build` gives, called by one of the processes that test side by side."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent  # of this run, and of all its processes
    note = base / f"{name}-is-built"
    with FileLock(base / f".{name}"):
        if not note.exists():
            note.write_text(str(build()), encoding="utf-8")
    return Path(note.read_text(encoding="utf-8"))


def ensure_files(*paths: str, packages: tuple[str, ...], purpose: str) -> None:
    """Make sure that every path exists, installing `packages` where this account may.

    Fails the test in one sentence that says what to install: a check that needs something absent
    is never skipped silently.
    """
    if all(Path(path).exists() for path in paths):
        return
    if _apt(*packages) and all(Path(path).exists() for path in paths):
        return
    pytest.fail(f"{purpose}: install the packages {' '.join(packages)} and run the tests again.")


def chromium() -> str:
    """Path of a Chromium: an installed one, else Playwright's own, else Debian's package."""
    if found := installed_chromium():
        return found
    if bundled := _playwrights_own():
        return bundled
    if _apt("chromium", "fonts-dejavu-core") and (found := shutil.which("chromium")):
        return found
    pytest.fail(
        "The website is tested in a real browser: install Chromium or Chrome, or run "
        "`python -m playwright install chromium`, and run the tests again."
    )


# In a process of its own: this one may have a Playwright running already.
_WHERE = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


def _playwrights_own() -> str | None:
    """The Chromium that Playwright brings, downloaded now if need be and if the network lets it."""
    where = subprocess.run(
        [sys.executable, "-c", _WHERE], capture_output=True, text=True, check=False
    ).stdout.strip()
    if not where:
        return None
    if not Path(where).exists():
        command = [sys.executable, "-m", "playwright", "install", "chromium"]
        with contextlib.suppress(subprocess.TimeoutExpired):
            subprocess.run(command, capture_output=True, check=False, timeout=4 * PATIENCE)
    return where if Path(where).exists() else None
