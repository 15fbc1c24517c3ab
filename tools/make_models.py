#!/usr/bin/env python3
"""Train and ship the models of `tools/models.toml` again: many hours; a run goes on where it was.

--list prints the commands and runs nothing. The first that fails ends the whole.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from common import ROOT

MANIFEST = Path(__file__).with_name("models.toml")
Command = list[str]


def training(run: str, manifest: dict[str, Any], folder: str | None = None) -> Command:
    """The command that trains a run, or goes on with it."""
    recipe, _, seed = run.partition("=")
    command = ["-m", "transformer_book", "train", recipe]
    if seed:
        command += ["--set", f"training.seed={seed}"]
    if recipe in manifest["taught"]:
        command += [part for name in manifest["teachers"] for part in ("--teacher", f"runs/{name}")]
    return [*command, "--output", folder or f"runs/{run}", "--resume"]


def commands(manifest: dict[str, Any]) -> Iterator[Command]:
    """Everything that Python is called with, in order."""
    for run in manifest["teachers"]:
        yield training(run, manifest)
    for one in manifest["shipped"]:
        folder = f"runs/{one['name']}"
        yield training(one["run"], manifest, folder)
        keep = ["--keep-search"] if one.get("keep_search") else []
        yield ["tools/ship_model.py", folder, "--name", one["name"], *keep]
    for run in manifest["recorded"]["runs"]:
        yield training(run, manifest)
        yield ["tools/record_runs.py", f"runs/{run}"]
    for script in manifest["recorded"]["scripts"]:
        yield [f"tools/{script}.py"]
    last = manifest["generations"]
    runs = f"{last['folder']}/{last['run']}"
    yield ["tools/generations.py", "--output", last["folder"]]
    shipped = last["shipped"]
    yield ["tools/ship_model.py", f"{runs}={shipped['seed']}", "--name", shipped["name"]]
    yield ["tools/record_runs.py", *(f"{runs}={seed}" for seed in last["recorded"])]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="print the commands")
    only_listed = parser.parse_args().list
    for command in commands(tomllib.loads(MANIFEST.read_text(encoding="utf-8"))):
        print("python", shlex.join(command), flush=True)
        if not only_listed and (
            status := subprocess.run([sys.executable, *command], cwd=ROOT).returncode
        ):
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
