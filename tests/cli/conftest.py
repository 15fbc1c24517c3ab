"""The command line as users run it: imported anew, without the annotations' hook."""

from __future__ import annotations

import importlib
import io
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tests.cli.small import SMALL, TINY, Answer, left_by, settings
from tests.fresh import fresh_package

MODULES = (
    "checks",
    "cli",
    "pretrained",
    "recipes",
    "runs.evaluation",
    "support.progress",
    "tasks",
    "training",
    "weights.checkpoints",
)


@pytest.fixture(scope="module")
def book() -> Iterator[SimpleNamespace]:
    """The package as users import it, for as long as these tests last."""
    threads = torch.get_num_threads()
    with fresh_package():
        yield SimpleNamespace(
            **{n.split(".")[-1]: importlib.import_module(f"transformer_book.{n}") for n in MODULES}
        )
    torch.set_num_threads(threads)


@pytest.fixture
def call(book, capsys, monkeypatch, tmp_path) -> Callable[..., Answer]:
    """A function that runs a command in an empty folder, with `stdin`."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object, stdin: object = b"") -> Answer:
        stream = io.TextIOWrapper(io.BytesIO(stdin)) if isinstance(stdin, bytes) else stdin
        monkeypatch.setattr(sys, "stdin", stream)
        capsys.readouterr()
        status = book.cli.run([str(argument) for argument in arguments])
        return Answer(status, *capsys.readouterr())

    return run


def trained(folder: Path, *command: str) -> Path:
    """The folder, with what this training leaves there."""
    with fresh_package():
        run = importlib.import_module("transformer_book.cli").run
        assert run([*command, "--output", str(folder), "--threads", "1", "--quiet"]) == 0
    return folder


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    """A model that has been trained for a second; tests that write into it copy it first."""
    folder = tmp_path_factory.mktemp("trained") / "model"
    return trained(folder, "train", "copy", *settings(TINY))


@pytest.fixture
def own(model, tmp_path) -> Path:
    """A copy of the model."""
    return Path(shutil.copytree(model, tmp_path / "own"))


@pytest.fixture(scope="session")
def whole(model) -> tuple[str, bytes]:
    """What an uninterrupted run leaves: its metrics, and its best weights."""
    return left_by(model)


@pytest.fixture(scope="session")
def captions(tmp_path_factory) -> Path:
    """A model of captions that has learned next to nothing."""
    folder = tmp_path_factory.mktemp("captions") / "model"
    return trained(folder, "train", "captions-small", *settings(SMALL))


@pytest.fixture(scope="session")
def subwords(tmp_path_factory) -> Path:
    """One that reads and writes subwords."""
    changes = SMALL | {"tokens.kind": "subwords", "tokens.vocab_size": 150}
    folder = tmp_path_factory.mktemp("subwords") / "model"
    return trained(folder, "train", "captions-small", *settings(changes))
