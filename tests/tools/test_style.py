"""Code and notebooks are formatted, free of lint and rightly typed, by pyproject.toml."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMANDS = (
    ("ruff", "check", "--no-cache", "."),
    ("ruff", "format", "--check", "--no-cache", "."),
    ("ty", "check", "--python", sys.prefix),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_nothing_is_found(command) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
