"""What the tests need from the system: found, else installed, else named in one sentence."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest


def _apt(*packages: str) -> bool:
    """Install Debian packages if this account may; say whether it worked."""
    if not shutil.which("apt-get"):
        return False
    sudo = [] if os.geteuid() == 0 else ["sudo", "-n"]
    if sudo and not shutil.which("sudo"):
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = [*sudo, "apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    for command in (install, [*sudo, "apt-get", "update", "-q"], install):
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        if command is install and done.returncode == 0:
            return True
    return False


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
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    for name in names:
        if found := shutil.which(name):
            return found
    mac = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
    if mac.exists():
        return str(mac)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        bundled = Path(playwright.chromium.executable_path)
    if bundled.exists() or _playwright_downloads(bundled):
        return str(bundled)
    if _apt("chromium", "fonts-dejavu-core") and (found := shutil.which("chromium")):
        return found
    pytest.fail(
        "The website is tested in a real browser: install Chromium or Chrome, or run "
        "`python -m playwright install chromium`, and run the tests again."
    )


def _playwright_downloads(bundled: Path) -> bool:
    import sys

    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    try:
        subprocess.run(command, capture_output=True, check=False, timeout=300)
    except subprocess.TimeoutExpired:
        return False
    return bundled.exists()
