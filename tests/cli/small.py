"""The smallest runs of the command line, and what a command answers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

# Sequences of two or three symbols, a model of 3,000 parameters: a second.
TINY = {
    "task.min_length": 2,
    "task.max_length": 3,
    "data.train": 200,
    "data.validation": 12,
    "model.d_model": 16,
    "model.n_heads": 2,
    "model.d_ff": 16,
    "model.dropout": 0.1,
    "model.max_length": 8,
    "training.updates": 20,
    "training.batch_size": 20,
    "training.warmup": 2,
    "training.validate_every": 5,
}
SMALL = {  # captions: a model that learns next to nothing
    "data.train": 60,
    "data.validation": 8,
    "model.d_model": 8,
    "model.n_heads": 2,
    "model.d_ff": 8,
    "training.updates": 3,
    "training.warmup": 1,
    "training.max_tokens": 400,
}


class Answer(NamedTuple):
    """What a command gave."""

    status: int
    out: str
    err: str


def settings(changes: dict[str, object]) -> list[str]:
    return [word for key, value in changes.items() for word in ("--set", f"{key}={value}")]


def tiny(output: Path, **changes: object) -> list[str]:
    """The arguments of a run that takes a second."""
    changed = TINY | {key.replace("__", "."): value for key, value in changes.items()}
    return ["train", "copy", "--output", str(output), "--threads", "1", *settings(changed)]


def refused(answer: Answer) -> str:
    """The one sentence with which a command was refused."""
    assert answer.status == 2
    assert answer.out == ""
    assert answer.err.startswith("transformer-book: ")
    assert answer.err.count("\n") == 1 and answer.err.endswith("\n")
    return answer.err.removeprefix("transformer-book: ").strip()


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def python(code: str, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def left_by(folder: Path) -> tuple[str, bytes]:
    return (folder / "metrics.jsonl").read_text(), (folder / "model.safetensors").read_bytes()
