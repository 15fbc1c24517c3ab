"""Every unit test runs with the annotations enforced: shapes and types cannot rot."""

from __future__ import annotations

import gc
import os
import signal
import sys

import pytest
from hypothesis import settings

import tests.typecheck
from tests.summary import count, pytest_terminal_summary, tell  # noqa: F401

# Several tests run at once, on models so small that a second thread would only wait.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Before any test module imports the package.
tests.typecheck.enforce_annotations()

import torch  # noqa: E402

from tests import small  # noqa: E402
from tests.fresh import import_fresh  # noqa: E402

torch.set_num_threads(1)
# No test asserts a wall-clock time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def _nothing_stays_blocked():
    """A problem set that a test begins ends with it: no later test meets what the set blocks."""
    yield
    left = [f for f in sys.meta_path if type(f).__module__ == "transformer_book.course"]
    sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in left]
    assert not left, "The test leaves modules blocked: let a copied process begin the set."


@pytest.fixture(scope="module")
def one_thread():
    """For models this small a second thread would only wait for the first."""
    with small.one_thread():
        yield


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The small run, made in one go."""
    trainer = small.trainer(tmp_path_factory.mktemp("whole"))
    assert trainer.fit()
    return trainer


@pytest.fixture(scope="module")
def unenforced():
    """The annotations are not looked at: see tests/typecheck.py."""
    with tests.typecheck.unenforced():
        yield


@pytest.fixture
def quick_disk(monkeypatch):
    """No test cuts the power, so that flushing needs no disk to turn."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture
def hears_ctrl_c():
    """A shell starts what runs in the background deaf to Ctrl-C; some tests send it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def unhooked():
    """A function that imports a module as users do, without the hook: for tests of bad input."""
    return import_fresh


def pytest_collection_finish() -> None:
    """What was imported and collected, a million objects, stays: no garbage is looked for in it."""
    gc.collect()
    gc.freeze()
