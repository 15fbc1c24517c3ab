"""Two processes, started by torchrun as a user would, make the updates that one would make."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

from tests import copied, small
from tests.cli.small import TINY, settings
from tests.fresh import fresh_package
from transformer_book.runs import distributed
from transformer_book.runs.distributed import DistributedTrainer, Processes
from transformer_book.training import Trainer
from transformer_book.weights.checkpoints import list_checkpoints, load_tensors, weights_of

pytestmark = pytest.mark.usefixtures("one_thread")
ROOT = Path(__file__).parents[1]


class Done(NamedTuple):
    """What a command of torchrun gave."""

    status: int
    out: str
    err: str

    @property
    def sentences(self) -> list[str]:
        """What our processes have complained of; the rest of stderr is torchrun's own report."""
        assert "Traceback" not in "".join(
            line for line in self.err.splitlines() if line.startswith("[rank")
        )
        begins = "transformer-book: "
        lines = self.err.splitlines()
        return [line.removeprefix(begins) for line in lines if line.startswith(begins)]


# As `python -m torch.distributed.run`; the programs that it starts are copies, as it is itself.
AGENT = """
import subprocess
from tests import copied
subprocess.Popen = copied.popen
from torch.distributed.run import main
main()
"""


def torchrun(*words: object, real: bool = False) -> Done:
    """Start a program in two processes; torchrun looks for a free port itself."""
    given = ["--standalone", "--nproc-per-node", "2", *map(str, words)]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    if real or not copied.POSSIBLE:
        start = [sys.executable, "-m", "torch.distributed.run", *given]
        done = subprocess.run(start, capture_output=True, text=True, check=False, cwd=ROOT, env=env)
    else:
        done = copied.run("-c", AGENT, *given, cwd=ROOT, env=env)
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def command_line():
    """The command line in this process, imported as users import it."""
    with fresh_package():
        yield importlib.import_module("transformer_book.cli").run


# --- the same updates -----------------------------------------------------------------------------


def alone(folder: Path | None = None, data=small.TRAIN, **options: object) -> Trainer:
    """One process, in float64 and without dropout."""
    model = small.model(dropout=0.0).double()
    return Trainer(model, data, small.VALIDATION, small.config(**options), folder=folder)


@pytest.fixture(scope="module")
def out(tmp_path_factory) -> Path:
    """Where two processes have left what they did."""
    folder = tmp_path_factory.mktemp("two")
    alone(folder / "one-then-two").fit(updates=3)
    done = torchrun("-m", "tests.two_processes", folder)
    assert done.status == 0, done.err
    return folder


@pytest.fixture(scope="module")
def found(out) -> list[dict]:
    return [json.loads((out / f"found.{rank}.json").read_text()) for rank in (0, 1)]


def tensors(out: Path, name: str, rank: int) -> dict[str, torch.Tensor]:
    return load_tensors(out / f"{name}.{rank}.safetensors")[0]


RUNS = {
    "plain": {},
    "tokens": {"batch_size": None, "max_tokens": 30, "label_smoothing": 0.0},
    "left over": {"data": small.dataset(17), "clip_norm": 0.0},
}


@pytest.mark.parametrize("name", RUNS)
def test_two_processes_make_the_updates_of_one(out, found, name):
    """Gradients, losses and weights; shares differ in tokens, so that a mean of means is not it."""
    one = alone(**RUNS[name])
    expected = {}

    def remember(*_: object) -> None:
        for parameter, tensor in one.model.named_parameters():
            expected[f"{one.update}.{parameter}"] = tensor.grad.clone()

    one.optimizer.register_step_pre_hook(remember)
    one.fit()
    gradients = tensors(out, f"{name}.gradients", 0)
    assert gradients.keys() == expected.keys()
    for key, tensor in expected.items():
        # Adam turns even gradients of pure rounding into steps: later ones differ.
        bound = 1e-12 if key.startswith("0.") else 1e-7
        torch.testing.assert_close(gradients[key], tensor, rtol=bound, atol=bound, msg=key)
    weights = tensors(out, f"{name}.weights", 0)
    for key, tensor in weights_of(one.model).items():
        torch.testing.assert_close(weights[key], tensor, rtol=1e-7, atol=1e-7, msg=key)
    history, best = found[0][name]
    assert best == pytest.approx(one.best, rel=1e-8)
    for mine, theirs in zip(history, one.history, strict=True):
        assert mine.keys() == theirs.keys()
        assert mine == pytest.approx(theirs, rel=1e-8)


@pytest.mark.parametrize("name", [*(f"{name}.weights" for name in RUNS), "whole", "cut"])
def test_all_processes_hold_the_same_bits(out, name):
    mine, theirs = tensors(out, name, 0), tensors(out, name, 1)
    assert mine.keys() == theirs.keys()
    for key, tensor in mine.items():
        assert torch.equal(tensor, theirs[key]), key


@pytest.mark.parametrize("name", RUNS)
def test_all_processes_have_measured_the_same(found, name):
    assert found[0][name] == found[1][name]


def test_the_tokens_of_two_shares_differ():
    """Otherwise the tests above could not tell a weighed sum from a mean."""
    batches = alone().batches
    differ = 0
    for indices in batches:
        lengths = [small.TRAIN.lengths[i][1] - 1 for i in indices]
        differ += sum(lengths[0::2]) != sum(lengths[1::2])
    assert differ == len(batches)


def test_dropout_is_drawn_by_each_process(found):
    assert found[0]["dropout 0.0"] == found[1]["dropout 0.0"]
    assert found[0]["dropout 0.3"] != found[1]["dropout 0.3"]


# --- resuming -------------------------------------------------------------------------------------


def test_a_resumed_run_is_the_uninterrupted_one(out, found):
    """To the last bit, with dropout: each process goes on with its own random numbers."""
    for rank in (0, 1):
        assert found[rank]["resumed"] is True and found[rank]["cut"] == [True, True]
        whole, cut = tensors(out, "whole", rank), tensors(out, "cut", rank)
        assert all(torch.equal(tensor, cut[name]) for name, tensor in whole.items())
    for name in ("metrics.jsonl", "model.safetensors", "checkpoints/00000006/state.json"):
        assert (out / "whole" / name).read_bytes() == (out / "cut" / name).read_bytes(), name
    states = [
        load_tensors(out / run / "checkpoints/00000006/optimizer.safetensors")[0]
        for run in ("whole", "cut")
    ]
    assert all(torch.equal(tensor, states[1][name]) for name, tensor in states[0].items())
    assert not torch.equal(states[0]["random.cpu"], states[0]["random.cpu.1"])


def test_a_run_of_one_process_goes_on_in_two_and_back(out, found):
    whole = alone()
    whole.fit()
    assert found[0]["other resumed"] and found[1]["other resumed"]
    again = alone(out / "two-then-one")
    assert again.resume() and again.update == 3 and again.fit()
    (_, newest) = list_checkpoints(out / "one-then-two")[-1]
    two = load_tensors(newest / "model.safetensors")[0]
    for name, tensor in weights_of(whole.model).items():
        torch.testing.assert_close(two[name], tensor, rtol=1e-7, atol=1e-7)
        torch.testing.assert_close(weights_of(again.model)[name], tensor, rtol=1e-7, atol=1e-7)


# --- ending ---------------------------------------------------------------------------------------


def test_all_stop_when_one_is_stopped(found):
    assert found[0]["stopped"] == found[1]["stopped"] == [False, 2]


def test_a_loss_that_is_not_finite_ends_all_before_it_reaches_the_weights(found):
    for rank, what in ((0, "gradient"), (1, "loss")):
        sentence, update = found[rank]["not finite"]
        assert sentence.startswith(f"The {what} is not finite at update 3 ") and update == 2


# One process of two, at update 7: killed, asked to end, or unable to write.
FATAL = """
import errno, os, signal, sys
from transformer_book import cli, training
from transformer_book.weights import checkpoints
rank, what = sys.argv.pop(1), sys.argv.pop(1)
step, write = training.Trainer._step, checkpoints.save_tensors
def fatal_step(self, batch):
    if os.environ["RANK"] == rank and self.update == 7 and what != "full":
        os.kill(os.getpid(), getattr(signal, what))
    return step(self, batch)
def full(path, *arguments):
    if what == "full" and "00000010" in str(path):
        raise OSError(errno.ENOSPC, "No space left on device", "the disk")
    write(path, *arguments)
training.Trainer._step, checkpoints.save_tensors = fatal_step, full
sys.exit(cli.run(sys.argv[1:]))
"""
WITHOUT_DROPOUT = {**TINY, "model.dropout": 0.0}


@pytest.fixture(scope="module")
def fatal(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("fatal") / "fatal.py"
    path.write_text(FATAL)
    return path


def command(output: Path, *more: object) -> list[str]:
    start = ["train", "copy", "--output", str(output), "--threads", "1", "--device", "cpu"]
    return [*start, *settings(WITHOUT_DROPOUT), *map(str, more)]


@pytest.mark.parametrize("rank", [0, 1])
def test_a_killed_process_ends_all_with_one_sentence(fatal, tmp_path, rank):
    done = torchrun(fatal, rank, "SIGKILL", *command(tmp_path / "run"))
    assert done.status != 0
    (sentence,) = done.sentences
    assert sentence.startswith("Another process of this training has ended")
    assert list_checkpoints(tmp_path / "run")[-1][0] == 5


def test_sigterm_to_one_process_saves_and_ends_all(fatal, command_line, tmp_path):
    run = tmp_path / "run"
    done = torchrun(fatal, 1, "SIGTERM", *command(run))
    assert done.status != 0 and done.sentences == []
    assert done.out.count("Stopped after update 8 of 20 updates") == 1
    again = (
        f"torchrun --standalone --nproc-per-node 2 -m transformer_book train copy --output {run}"
    )
    assert f"{again} --resume" in done.out
    assert list_checkpoints(run)[-1][0] == 8
    # From the command line, too, a run can go on with a different number of processes.
    assert command_line([*command(run), "--resume", "--quiet"]) == 0
    assert command_line([*command(tmp_path / "whole"), "--quiet"]) == 0
    runs = [(folder / "metrics.jsonl").read_text() for folder in (run, tmp_path / "whole")]
    records = [[json.loads(line) for line in text.splitlines()] for text in runs]
    for mine, theirs in zip(*records, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-4)


def test_a_full_disk_ends_all_with_one_sentence(fatal, tmp_path):
    done = torchrun(fatal, 0, "full", *command(tmp_path / "run"))
    assert done.status != 0
    assert done.sentences == ["the disk: No space left on device."]
    assert list_checkpoints(tmp_path / "run")[-1][0] == 5


# --- the command ----------------------------------------------------------------------------------


def test_the_same_command_trains_in_two_processes(command_line, tmp_path, capsys):
    done = torchrun("-m", "transformer_book", *command(tmp_path / "two"), real=True)
    assert done.status == 0 and done.sentences == [], done.err
    assert command_line(command(tmp_path / "one")) == 0
    said = capsys.readouterr().out.replace(str(tmp_path / "one"), str(tmp_path / "two"))
    assert done.out.replace(" in each of 2 processes", "").splitlines()[0] == said.splitlines()[0]
    assert done.out.splitlines()[2:] == said.splitlines()[2:]  # once, though there are two
    names = [
        sorted(str(path.relative_to(tmp_path / run)) for path in (tmp_path / run).rglob("*"))
        for run in ("one", "two")
    ]
    assert names[0] == names[1]
    assert (tmp_path / "one/config.json").read_bytes() == (
        tmp_path / "two/config.json"
    ).read_bytes()
    records = [
        [json.loads(line) for line in (tmp_path / run / "metrics.jsonl").read_text().splitlines()]
        for run in ("one", "two")
    ]
    for one, two in zip(*records, strict=True):
        assert two == pytest.approx(one, rel=1e-4)


def test_processes_with_different_recipes_are_refused(tmp_path):
    program = tmp_path / "different.py"
    program.write_text(
        "import os, sys\n"
        "from transformer_book.cli import run\n"
        "seed = f\"training.seed={os.environ['RANK']}\"\n"
        "sys.exit(run([*sys.argv[1:], '--set', seed]))\n"
    )
    done = torchrun(program, *command(tmp_path / "run"))
    assert done.status != 0 and done.out == ""
    assert done.sentences == [
        "Process 1 has another recipe or data than process 0; start all processes with the same "
        "command, on the same files."
    ]
    assert not (tmp_path / "run").exists()


def test_what_the_command_line_refuses_is_said_once():
    done = torchrun("-m", "transformer_book", "train", "copy", "--minuts", "3")
    assert done.status != 0
    (sentence,) = done.sentences
    assert "did you mean --minutes?" in sentence


# --- bad input ------------------------------------------------------------------------------------


def test_what_two_processes_refuse(found):
    for rank in (0, 1):
        assert found[rank]["few pairs"] == (
            "There are 2 processes, but at most 1 pair in a batch (batch_size = 1); start fewer "
            "processes or raise batch_size."
        )
        for name, what in (
            ("other seed", "recipe or data"),
            ("other data", "recipe or data"),
            ("other folder", "folder"),
        ):
            assert found[rank][name].startswith(f"Process 1 has another {what} than process 0;")


TORCHRUN = {
    "RANK": "1",
    "WORLD_SIZE": "2",
    "LOCAL_RANK": "1",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29500",
}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"RANK": "", "MASTER_ADDR": ""},
            "WORLD_SIZE is '2', but RANK, MASTER_ADDR are not set; start several processes with",
        ),
        ({"MASTER_PORT": ""}, "WORLD_SIZE is '2', but MASTER_PORT is not set; start several"),
        ({"RANK": "first"}, "RANK is 'first', but it must be a whole number; leave it to torchrun"),
        ({"WORLD_SIZE": "-2"}, "WORLD_SIZE is '-2', but it must be a whole number"),
        ({"RANK": "2"}, "RANK is 2 and WORLD_SIZE is 2, but ranks count from 0 and stay below it"),
    ],
)
def test_an_environment_that_is_not_torchruns(
    command_line, monkeypatch, capsys, tmp_path, changes, sentence
):
    for name, value in (TORCHRUN | changes).items():
        monkeypatch.setenv(name, value)
    assert command_line(["train", "copy", "--output", str(tmp_path / "run")]) == 2
    answer = capsys.readouterr()
    assert answer.out == "" and answer.err.startswith(f"transformer-book: {sentence}")
    assert answer.err.count("\n") == 1
    assert not (tmp_path / "run").exists()


def test_who_this_process_is(monkeypatch):
    for name in TORCHRUN:
        monkeypatch.delenv(name, raising=False)
    assert Processes.from_environment() == Processes(0, 1, 0, 1)
    for name, value in TORCHRUN.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("WORLD_SIZE", "1")  # torchrun --nproc-per-node 1
    assert Processes.from_environment() == Processes(0, 1, 0, 1)
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert Processes.from_environment() == Processes(1, 4, 1, 2)


def test_each_process_has_a_gpu_of_its_own(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    second = Processes(1, 2, 1, 2)
    assert second.device() == second.device("cuda") == torch.device("cuda:1")
    assert second.device("cpu") == torch.device("cpu")
    with pytest.raises(ValueError, match="device is 'cuda:0', but 2 processes compute on 'cpu'"):
        second.device("cuda:0")
    with pytest.raises(ValueError, match="are 3 processes on this machine, but 2 GPUs; start as"):
        Processes(2, 3, 2, 3).device("cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert second.device() == torch.device("cpu")
    assert Processes().device("cpu") == torch.device("cpu")


def test_a_distributed_trainer_needs_several_processes():
    data = small.TRAIN, small.VALIDATION, small.config()
    with pytest.raises(ValueError, match="There is one process only: start several with torchrun"):
        DistributedTrainer(small.model(), *data, processes=Processes())


def test_an_error_that_is_not_of_the_network_keeps_its_traceback():
    with pytest.raises(RuntimeError, match="a defect"), distributed._lost_is_said():
        raise RuntimeError("a defect")
    with pytest.raises(distributed.LostProcess), distributed._lost_is_said():
        raise RuntimeError("[pair.cc:534] Connection closed by peer [127.0.0.1]:2345")
