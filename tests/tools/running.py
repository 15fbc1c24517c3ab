"""A maintenance script, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from common import ROOT

from tests import copied


def run_tool(
    script: str, *arguments: str | Path, real: bool = False
) -> subprocess.CompletedProcess[str]:
    """What a script of tools/ answers to these arguments, in the folder of the repository.

    real: the program itself, and not a copy of a process that has imported PyTorch.
    """
    words = [str(ROOT / "tools" / script), *map(str, arguments)]
    if not real:
        return copied.run(*words, cwd=ROOT)
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
