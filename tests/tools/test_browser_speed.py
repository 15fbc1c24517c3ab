"""The tool that measures the browser's model: what it refuses, in one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from common import ROOT


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--models", "capitons"], "There is no model 'capitons'; the models are captions-de-en"),
        (["--rounds", "0"], "--rounds must be at least 1"),
        (["--site", "nowhere"], "nowhere holds no built site: run `make site`, or give --site."),
    ],
)
def test_bad_input_is_answered_in_one_sentence(options, sentence, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools" / "browser_speed.py"), *options]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(sentence) and len(done.stderr.splitlines()) == 1
