"""Threads that fit the work: one for small models, all of them for what gains by them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest
import torch
from common import ROOT
from torch import nn

from benchmarks import threads as measured
from transformer_book.support.threads import WORTH, fitting_threads, use_threads

RECORDED = json.loads(measured.RESULT.read_text(encoding="utf-8"))
GAIN = 1.1


class Sized(nn.Module):
    """A model of so many parameters; no memory is touched."""

    def __init__(self, parameters: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(parameters, device="meta"))


@pytest.fixture
def three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("entry", RECORDED["sizes"], ids=lambda entry: str(entry["d_model"]))
@pytest.mark.parametrize("work", WORTH)
def test_the_thresholds_are_those_of_the_recorded_run(work: str, entry: dict) -> None:
    assert (entry[work] >= GAIN) == (entry["parameters"] >= WORTH[work])


@pytest.mark.parametrize(("work", "least"), WORTH.items())
def test_more_threads_from_a_number_of_parameters_on(three_threads, work, least) -> None:
    if least == float("inf"):
        assert fitting_threads(Sized(10**9), work) == 1
    else:
        assert fitting_threads(Sized(int(least)), work) == 3
        assert fitting_threads(Sized(int(least) - 1), work) == 1


def test_what_is_asked_for_goes_before(three_threads) -> None:
    use_threads(Sized(10), "training", 2)
    assert torch.get_num_threads() == 2
    use_threads(Sized(10), "training")
    assert torch.get_num_threads() == 1


def test_the_measurement_runs(three_threads) -> None:
    found = measured.measure(sizes=((32, 1, 20),), rounds=1, threads=2)
    assert torch.get_num_threads() == 3
    (entry,) = found["sizes"]
    assert entry.keys() == RECORDED["sizes"][0].keys()
    assert all(entry[work] > 0 for work in WORTH)


def test_a_measured_update_trains_and_a_measured_batch_is_translated() -> None:
    model = measured.model_of((32, 1, 20))
    before = [parameter.clone() for parameter in model.parameters()]
    work = measured.work(model)
    assert work.keys() == WORTH.keys()
    work["training"]()
    assert not all(map(torch.equal, before, model.parameters()))


@pytest.mark.parametrize(("given", "found"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_the_command_line_waits_passively_unless_told_otherwise(given, found) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "OMP_WAIT_POLICY"}
    environment |= {} if given is None else {"OMP_WAIT_POLICY": given}
    script = (
        "import os, sys; from transformer_book import cli; before = 'torch' in sys.modules;"
        "cli.run(['recipes']); print(before, os.environ['OMP_WAIT_POLICY'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == f"False {found}"
