"""`train`: what it leaves and says, and that a stopped run goes on as if nothing had happened."""

from __future__ import annotations

import errno
import itertools
import json
import math
import re
import signal
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from tests import copied
from tests.cli.small import files, left_by, refused, tiny

pytestmark = pytest.mark.usefixtures("hears_ctrl_c")


def test_train_evaluate_translate(call, tmp_path, book):
    changes = {"model__d_model": 32, "model__d_ff": 64, "model__dropout": 0.0}
    changes |= {"training__updates": 250, "training__validate_every": 125}
    changes |= {"training__learning_rate": 5e-3}
    trained = call(*tiny(Path("run"), **changes))
    assert trained.status == 0 and trained.err == ""
    first, reached, *following = trained.out.splitlines()
    assert first.startswith("copy: task copy (kind=copy, min_length=2, max_length=3), 200 pairs, ")
    weights, _ = book.checkpoints.load_tensors(tmp_path / "run" / "model.safetensors")
    parameters = sum(tensor.numel() for tensor in weights.values())
    assert first.endswith(f", {parameters:,} parameters, 250 updates, on cpu, 1 thread")
    metrics = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    best = min(json.loads(line).get("validation_loss", math.inf) for line in metrics)
    assert (
        f"250 updates made; validation loss {best:.4f}, perplexity {math.exp(best):.3f}" in reached
    )

    # What it says to type next works as it stands.
    evaluate, translate = (line.split() for line in following[1:])
    assert evaluate == ["transformer-book", "evaluate", "run"]
    measured = call(*evaluate[1:], "-n", 12, "--json")
    assert measured.status == 0
    result = json.loads(measured.out)
    assert result["perplexity"]["value"] == pytest.approx(math.exp(best), rel=1e-4)
    assert result["exact_match"]["value"] >= 0.75  # it has learned to copy
    assert json.loads((tmp_path / "run" / "results.json").read_text()) == [result]

    assert translate[1:3] == ["translate", "run"]
    pairs = book.tasks.make_task("copy", min_length=2, max_length=3).pairs("validation", n=12)
    sources = [" ".join(pair.source) for pair in pairs]
    assert " ".join(translate[3:]) == f"'{sources[0]}'"
    answer = call("translate", "run", stdin="\n".join(sources).encode())
    copied = sum(map(str.__eq__, answer.out.splitlines(), sources))
    assert copied / 12 == pytest.approx(result["exact_match"]["value"])


def test_what_teachers_make_of_the_pairs_is_trained_on_too(call, tmp_path):
    assert call(*tiny(Path("teacher"))).status == 0
    taught = tiny(Path("run"), data__teachers=1, training__schedule="constant")
    assert refused(call(*taught)) == (
        "copy also trains on what other models make of its pairs: name 1 trained model with "
        "--teacher (0 given)."
    )
    assert refused(call(*tiny(Path("run")), "--teacher", "teacher")) == (
        "copy has no teachers (data.teachers = 0): leave --teacher out."
    )
    assert "nobody" in refused(call(*taught, "--teacher", "nobody"))
    two = ["--set", "data.teachers=2", "--teacher", "teacher", "--teacher", "captions-de-en"]
    assert refused(call(*taught, *two)).startswith("A teacher was trained on the task {'name': 'ca")
    assert not (tmp_path / "run").exists()  # nothing was translated before the second was looked at
    begun = call(*taught, "--teacher", "teacher", "--set", "training.updates=5")
    told, trained, *_ = begun.out.splitlines()
    assert told == "teacher: 200 of 200 translations"
    pairs = int(re.search(r"\), (\d+) pairs", trained)[1])
    assert 200 < pairs <= 400
    rows = (tmp_path / "run" / "translations" / "1.jsonl").read_text().splitlines()
    assert len(rows) == 1 + 200
    gone_on = call(*taught, "--teacher", "teacher", "--resume", "--set", "training.updates=9")
    assert (
        gone_on.status == 0 and f"{pairs} pairs" in gone_on.out and "9 updates made" in gone_on.out
    )
    # Other teachers than those it began with: nothing is lost.
    assert call(*tiny(Path("other"), training__seed=5)).status == 0
    before = files(tmp_path / "run")
    assert "holds what another teacher made" in refused(
        call(*taught, "--teacher", "other", "--resume", "--set", "training.updates=9")
    )
    assert files(tmp_path / "run") == before


def test_a_change_without_a_value_leaves_the_key_out(book):
    by_tokens = ["training.batch_size=", "training.max_tokens=500"]
    training = book.recipes.load_recipe("copy", by_tokens).training
    assert (training["batch_size"], training["max_tokens"]) == (None, 500)


def test_quiet_says_nothing(call):
    assert call(*tiny(Path("run"), training__updates=3), "--quiet") == (0, "", "")


def test_the_progress_bar_is_for_terminals(call, book, monkeypatch):
    shown = []

    def fit(self, **options: object) -> bool:
        shown.append(self.progress)
        return True

    monkeypatch.setattr(book.training.Trainer, "fit", fit)
    call(*tiny(Path("a")))
    monkeypatch.setattr(sys.stderr.__class__, "isatty", lambda self: True)
    call(*tiny(Path("b")))
    call(*tiny(Path("c")), "--quiet")
    assert shown == [False, True, False]


def test_a_run_of_no_updates_leaves_a_model(call):
    answer = call(*tiny(Path("run"), training__updates=0, training__schedule="constant"))
    assert answer.status == 0
    assert call("translate", "run", "a b").status == 0


def test_a_loss_that_explodes_is_one_sentence(call, tmp_path):
    wild = {"training__learning_rate": 1e30, "training__clip_norm": 0, "training__warmup": 0}
    answer = call(*tiny(Path("run"), **wild))
    assert answer.status == 2
    assert answer.err.startswith("transformer-book: The ") and answer.err.count("\n") == 1
    assert "is not finite at update" in answer.err


# --- stopping and going on ------------------------------------------------------------------------


def test_minutes_stop_and_resume_goes_on(call, book, monkeypatch, tmp_path, whole):
    seconds = itertools.count()
    clock = SimpleNamespace(monotonic=lambda: next(seconds))
    with monkeypatch.context() as patch:
        patch.setattr(book.training, "time", clock)
        stopped = call(*tiny(Path("run")), "--minutes", 0.4)
    assert stopped.status == 0
    reached = int(stopped.out.split("Stopped after update ")[1].split()[0])
    assert 0 < reached < 20
    assert stopped.out.endswith("  transformer-book train copy --output run --resume\n")
    for again in (1, 2):  # the second time there is nothing left to do
        finished = call("train", "copy", "--output", "run", "--resume")
        assert finished.status == 0, finished.err
        assert "20 updates made; validation loss" in finished.out
        done = reached if again == 1 else 20
        assert f"20 updates, the first {done} made before, on cpu" in finished.out
        assert left_by(tmp_path / "run") == whole


@pytest.mark.parametrize(("asked", "had"), [([], 1), (["--threads", 2], 2)])
def test_a_resumed_run_has_its_threads_or_those_asked_for(call, tmp_path, asked, had):
    assert call(*tiny(Path("run"), training__updates=2)).status == 0
    torch.set_num_threads(3)
    resumed = call("train", "copy", "--output", "run", "--resume", *asked)
    assert resumed.status == 0, resumed.err
    assert torch.get_num_threads() == had
    assert f"on cpu, {had} thread" in resumed.out


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_in_good_order(call, book, monkeypatch, tmp_path, whole, number, status):
    before = signal.getsignal(number)
    step = book.training.Trainer._step

    def interrupted(self, batch):
        if self.update == 6:
            signal.raise_signal(number)
        return step(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(book.training.Trainer, "_step", interrupted)
        stopped = call(*tiny(Path("run")))
    assert stopped.status == status
    assert signal.getsignal(number) is before
    assert "Stopped after update 7 of 20 updates; validation loss" in stopped.out
    assert call("train", "copy", "--output", "run", "--resume").status == 0
    assert left_by(tmp_path / "run") == whole


def test_the_second_signal_ends_at_once(call, book, monkeypatch, tmp_path, whole):
    step = book.training.Trainer._step

    def interrupted(self, batch):
        if self.update == 6:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return step(self, batch)

    with monkeypatch.context() as patch:
        patch.setattr(book.training.Trainer, "_step", interrupted)
        assert call(*tiny(Path("run"))).status == 130
    assert [update for update, _ in book.checkpoints.list_checkpoints("run")] == [5]
    assert call("train", "copy", "--output", "run", "--resume").status == 0
    assert left_by(tmp_path / "run") == whole


def test_a_signal_that_was_ignored_stays_ignored(call, book, monkeypatch, tmp_path, whole):
    """As in a background job of a shell: Ctrl-C is meant for what runs in the foreground."""
    step = book.training.Trainer._step

    def interrupted(self, batch):
        signal.raise_signal(signal.SIGINT)
        return step(self, batch)

    monkeypatch.setattr(book.training.Trainer, "_step", interrupted)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert call(*tiny(Path("run"))).status == 0
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert left_by(tmp_path / "run") == whole


KILLED = """
import os, signal, sys
from transformer_book import training
from transformer_book.weights import checkpoints
from transformer_book.cli import run

def die():
    os.kill(os.getpid(), signal.SIGKILL)

step, write = training.Trainer._step, checkpoints.write_atomically
def fatal_step(self, batch):
    if sys.argv[1] == "update" and self.update == 12:
        die()
    return step(self, batch)
def fatal_write(path, data):
    if sys.argv[1] in str(path):
        write(path, data[: len(data) // 2])
        die()
    write(path, data)
training.Trainer._step, checkpoints.write_atomically = fatal_step, fatal_write
sys.exit(run(sys.argv[2:]))
"""


@pytest.mark.parametrize(
    ("where", "kept"),
    [
        ("update", [10]),  # in the middle of the third stretch of five
        (".00000015.", [10]),  # while the checkpoint of update 15 is half written
        (".00000005.", [0]),  # while the first checkpoint after the start is half written
        (".00000000.", []),  # before there is any
    ],
)
def test_a_killed_run_goes_on_as_if_nothing_had_happened(call, book, tmp_path, whole, where, kept):
    run = tmp_path / "run"
    killed = copied.run("-c", KILLED, where, *tiny(run))
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert [update for update, _ in book.checkpoints.list_checkpoints(run)] == kept
    assert (run / "metrics.jsonl").read_text() != whole[0]
    if kept:
        resumed = call("train", "copy", "--output", run, "--resume")
    else:
        resumed = call(*tiny(run), "--resume")
        assert "There is no run in" in resumed.out
    assert resumed.status == 0, resumed.err
    assert left_by(run) == whole
    assert not list(run.rglob("*.tmp"))


def test_a_full_disk_leaves_what_was_saved(call, book, monkeypatch, tmp_path, whole):
    write = book.checkpoints.write_atomically

    def full(path: object, data: bytes) -> None:
        if ".00000015." in str(path) and "optimizer" in str(path):
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, data)

    with monkeypatch.context() as patch:
        patch.setattr(book.checkpoints, "write_atomically", full)
        answer = call(*tiny(Path("run")))
    assert answer.status == 2
    assert answer.err == "transformer-book: No space left on device.\n"
    assert [update for update, _ in book.checkpoints.list_checkpoints("run")] == [10]
    assert call("train", "copy", "--output", "run", "--resume").status == 0
    assert left_by(tmp_path / "run") == whole
