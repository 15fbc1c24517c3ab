"""A maintenance script, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from common import ROOT


def run_tool(script: str, *arguments: str | Path) -> subprocess.CompletedProcess:
    """What a script of tools/ answers to these arguments, in the folder of the repository."""
    command = [sys.executable, str(ROOT / "tools" / script), *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
