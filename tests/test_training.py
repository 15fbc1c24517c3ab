"""Training does what its configuration says, stops where it should, and goes on to the last bit."""

from __future__ import annotations

import itertools
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests import small
from transformer_book import training
from transformer_book.batches import BucketedBatches, PairDataset, collate
from transformer_book.optimization import learning_rate
from transformer_book.tokens import PAD
from transformer_book.training import NonFiniteLoss, Trainer, choose_device, mean_loss
from transformer_book.weights.checkpoints import (
    average,
    list_checkpoints,
    load_checkpoint,
    load_tensors,
    weights_of,
)

pytestmark = pytest.mark.usefixtures("one_thread", "quick_disk")


@pytest.fixture(scope="module")
def book(unhooked):
    return unhooked("transformer_book.training")


# --- the course of a run --------------------------------------------------------------------------


def test_the_loss_falls():
    trainer = small.trainer(updates=60, schedule="constant", validate_every=20)
    before = trainer.validate()
    assert trainer.fit()
    losses = [record["nll"] for record in trainer.history]
    assert sum(losses[-10:]) < 0.8 * sum(losses[:10])
    assert trainer.best[1] < before - 0.1


def by_hand(config: training.TrainingConfig) -> tuple[nn.Module, list[tuple[float, float]]]:
    """The same run, written out: with PyTorch's loss and its plain Adam, one tensor at a time."""
    model = small.model(dropout=0.0).double().train()
    batches = BucketedBatches(small.TRAIN, **config.size, seed=config.seed)
    options = {"betas": (config.beta1, config.beta2), "eps": config.epsilon, "foreach": False}
    adam = torch.optim.AdamW(model.parameters(), weight_decay=config.weight_decay, **options)
    measured = []
    for epoch in itertools.count():
        batches.set_epoch(epoch)
        for indices in batches:
            if len(measured) == config.updates:
                return model, measured
            batch = collate([small.TRAIN[i] for i in indices])
            logits = model(batch.source, batch.target_in).flatten(0, 1)
            loss = F.cross_entropy(
                logits,
                batch.target_out.flatten(),
                ignore_index=PAD,
                label_smoothing=config.label_smoothing,
            )
            adam.zero_grad()
            loss.backward()
            gradients = [parameter.grad for parameter in model.parameters()]
            norm = math.sqrt(sum(float(g.double().square().sum()) for g in gradients))
            if config.clip_norm and norm > config.clip_norm:
                for gradient in gradients:
                    gradient *= config.clip_norm / (norm + 1e-6)  # as PyTorch does
            adam.param_groups[0]["lr"] = learning_rate(
                len(measured) + 1,
                peak=config.learning_rate,
                schedule=config.schedule,
                warmup=config.warmup,
                updates=config.updates,
            )
            adam.step()
            measured.append((loss.item(), norm))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"schedule": "linear", "weight_decay": 0.5, "label_smoothing": 0.0, "clip_norm": 0.0},
        {"schedule": "constant", "warmup": 0, "clip_norm": 0.1, "beta1": 0.5, "epsilon": 1e-3},
        {"batch_size": None, "max_tokens": 30, "beta2": 0.9, "seed": 3},
    ],
)
def test_a_run_is_what_it_would_be_by_hand(options):
    config = small.config(**options)
    expected, measured = by_hand(config)
    # In float64: the gradient of a key's bias is pure rounding, which Adam turns into steps.
    model = small.model(dropout=0.0).double()
    trainer = Trainer(model, small.TRAIN, small.VALIDATION, config)
    assert trainer.fit()
    for parameter, other in zip(trainer.model.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(parameter, other, rtol=1e-8, atol=1e-8)
    found = [(record["loss"], record["gradient_norm"]) for record in trainer.history]
    for mine, other in zip(found, measured, strict=True):
        assert mine == pytest.approx(other, rel=1e-9)


def test_gradients_are_clipped():
    norms = {}
    for clip in (0.01, 0.0):
        trainer = small.trainer(clip_norm=clip, updates=1)
        trainer.fit()
        gradients = [p.grad for p in trainer.model.parameters()]
        norms[clip] = torch.stack([g.norm() for g in gradients]).norm().item()
        # The recorded norm is the one before clipping.
        assert trainer.history[0]["gradient_norm"] > 0.1
    assert norms[0.01] == pytest.approx(0.01, rel=1e-3)
    assert norms[0.0] == pytest.approx(trainer.history[0]["gradient_norm"], rel=1e-5)


def test_history():
    trainer = small.trainer(updates=7, warmup=2, schedule="constant", validate_every=3)
    trainer.fit()
    assert [record["update"] for record in trainer.history] == [1, 2, 3, 4, 5, 6, 7]
    assert [record["epoch"] for record in trainer.history] == [0, 0, 0, 1, 1, 1, 2]
    rates = [record["learning_rate"] for record in trainer.history]
    assert rates == [0.005, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01]
    measured = [r["update"] for r in trainer.history if "validation_loss" in r]
    assert measured == [3, 6, 7]
    for epoch in (trainer.history[:3], trainer.history[3:6]):
        tokens = sum(len(target) - 1 for _, target in small.TRAIN.examples)
        assert sum(record["tokens"] for record in epoch) == tokens
    assert all(record["loss"] != record["nll"] for record in trainer.history)


def test_the_model_is_trained_with_dropout_and_measured_without():
    trainer = small.trainer(updates=2)
    modes = []
    trainer.model.register_forward_pre_hook(lambda *_: modes.append(trainer.model.training))
    trainer.model.eval()
    trainer.fit()
    assert modes == [True, True, False]


def test_a_run_of_no_updates_keeps_the_untrained_model(tmp_path):
    trainer = small.trainer(tmp_path, updates=0)
    assert trainer.finished and trainer.fit()
    small.assert_same_weights(trainer.model, small.model())
    assert trainer.best == (0, trainer.validate())
    assert trainer.history == []
    again = small.trainer(tmp_path, updates=0)
    assert again.resume()
    assert again.best == trainer.best
    again.load_best()
    assert again.fit()


# --- slices ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(1, 6))
def test_a_resumed_run_is_the_uninterrupted_one(tmp_path, uninterrupted, first):
    assert not small.trainer(tmp_path).fit(updates=first)
    again = small.trainer(tmp_path)
    assert again.resume() and again.update == first
    assert again.fit() and again.finished
    small.assert_same_run(again, uninterrupted)


def test_a_run_cut_into_single_updates(tmp_path, uninterrupted):
    slices = 0
    while True:
        trainer = small.trainer(tmp_path)
        assert trainer.resume() == (slices > 0)
        slices += 1
        if trainer.fit(updates=1):
            break
    assert slices == 6
    small.assert_same_run(trainer, uninterrupted)


def test_nothing_is_measured_twice(tmp_path, monkeypatch):
    measured, real = [], training.mean_loss
    monkeypatch.setattr(training, "mean_loss", lambda *a, **o: measured.append(0) or real(*a, **o))
    finished = False
    while not finished:
        trainer = small.trainer(tmp_path, average=1)
        trainer.resume()
        finished = trainer.fit(updates=1) or trainer.fit(updates=1)
    assert trainer.fit()
    assert len(measured) == 3  # after updates 2, 4 and 6


def test_one_trainer_goes_on_by_itself(tmp_path, uninterrupted):
    trainer = small.trainer(tmp_path)
    assert [trainer.fit(updates=n) for n in (1, 2, 5)] == [False, False, True]
    small.assert_same_run(trainer, uninterrupted)
    assert trainer.fit()  # nothing more to do
    small.assert_same_run(trainer, uninterrupted)


def test_a_finished_run_is_taken_up_unchanged(tmp_path, uninterrupted):
    shutil.copytree(uninterrupted.folder, tmp_path / "run")
    again = small.trainer(tmp_path / "run")
    assert again.resume() and again.finished and again.fit()
    small.assert_same_run(again, uninterrupted)


def test_how_often_it_is_saved_has_no_influence(tmp_path, uninterrupted, monkeypatch):
    now = itertools.count()
    clock = types.SimpleNamespace(monotonic=lambda: float(next(now)))
    monkeypatch.setattr(training, "time", clock)
    trainer = small.trainer(tmp_path, save_seconds=0.5)  # less than a tick of this clock
    assert not trainer.fit(updates=3)
    assert [update for update, _ in list_checkpoints(tmp_path)] == [2, 3]
    trainer.fit(updates=2)
    assert [update for update, _ in list_checkpoints(tmp_path)] == [2, 4, 5]
    trainer.fit()
    small.assert_same_run(trainer, uninterrupted)


def test_a_slice_ends_when_its_minutes_are_over(tmp_path, uninterrupted, monkeypatch):
    now = itertools.count()
    clock = types.SimpleNamespace(monotonic=lambda: 10.0 * next(now))  # ten seconds a look
    monkeypatch.setattr(training, "time", clock)
    trainer = small.trainer(tmp_path, save_seconds=math.inf)
    assert not trainer.fit(minutes=1)
    assert 1 <= trainer.update < 6
    again = small.trainer(tmp_path)
    assert again.resume() and again.update == trainer.update
    monkeypatch.undo()
    again.fit(minutes=60)
    small.assert_same_run(again, uninterrupted)


def test_stop_ends_the_slice_after_the_present_update(tmp_path, uninterrupted):
    trainer = small.trainer(tmp_path)
    stops = iter([False, True, False, False, False, False])
    trainer.optimizer.register_step_post_hook(lambda *_: trainer.stop() if next(stops) else None)
    assert not trainer.fit()
    assert trainer.update == 2 and list_checkpoints(tmp_path)[-1][0] == 2
    assert trainer.fit()  # `stop` ended one slice, not the run
    small.assert_same_run(trainer, uninterrupted)


def test_a_resumed_run_in_a_new_process(tmp_path, uninterrupted):
    code = """
import sys
import tests.conftest  # with the annotations enforced, as here
from pathlib import Path
from tests import small
with small.one_thread():
    trainer = small.trainer(Path(sys.argv[1]))
    trainer.resume()
    trainer.fit(updates=int(sys.argv[2]))
"""
    for updates in (2, 1):
        command = [sys.executable, "-c", code, str(tmp_path), str(updates)]
        subprocess.run(command, check=True, cwd=Path(__file__).parents[1])
    again = small.trainer(tmp_path)
    assert again.resume() and again.update == 3
    assert again.fit()
    small.assert_same_run(again, uninterrupted)


def test_a_run_may_be_made_longer_where_its_end_has_no_influence(tmp_path):
    expected = small.trainer(tmp_path / "long", average=1)
    expected.fit()
    small.trainer(tmp_path / "run", updates=4, average=1).fit()
    again = small.trainer(tmp_path / "run", average=1)
    assert again.resume() and not again.finished
    assert again.fit()
    small.assert_same_run(again, expected)


def test_a_run_that_is_made_shorter_is_measured_at_its_end(tmp_path):
    small.trainer(tmp_path).fit(updates=3)
    again = small.trainer(tmp_path, updates=3, average=1)
    with pytest.raises(ValueError, match=r"has training\.average = 2, not 1"):
        again.resume()
    again = small.trainer(tmp_path, updates=3)
    assert again.resume() and again.finished
    assert again.fit()
    assert again.history[-1]["validation_loss"] == again.validate()


def test_threads_are_those_of_the_run(tmp_path):
    small.trainer(tmp_path).fit(updates=1)
    torch.set_num_threads(2)
    try:
        assert small.trainer(tmp_path).resume()
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(1)


def test_a_weight_that_is_not_used_or_not_trained_is_no_obstacle(tmp_path):
    def trainer(folder: Path) -> Trainer:
        model = small.model()
        model.spare = nn.Linear(2, 2)
        nn.init.ones_(model.spare.weight)
        nn.init.ones_(model.spare.bias)
        model.encoder.norm.weight.requires_grad_(False)
        return Trainer(model, small.TRAIN, small.VALIDATION, small.config(), folder=folder)

    whole, first = trainer(tmp_path / "whole"), trainer(tmp_path / "run")
    whole.fit()
    first.fit(updates=3)
    again = trainer(tmp_path / "run")
    assert again.resume() and again.fit()
    small.assert_same_run(again, whole)
    assert torch.equal(again.model.encoder.norm.weight, torch.ones(8))


# --- random numbers -------------------------------------------------------------------------------


def test_random_numbers_outside_are_left_alone():
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    trainer = small.trainer()
    assert torch.equal(torch.rand(2), expected[:2])
    trainer.fit(updates=2)
    with pytest.raises(ValueError):
        trainer.fit(updates=-1)
    assert torch.equal(torch.rand(2), expected[2:])


def test_random_numbers_outside_have_no_influence(uninterrupted):
    torch.manual_seed(99)
    trainer = small.trainer()
    for n in range(6):
        torch.manual_seed(n)
        random.seed(n)
        torch.rand(n + 1)
        trainer.fit(updates=1)
    assert trainer.history == uninterrupted.history


def test_dropout_follows_the_seed(uninterrupted):
    def losses(**options: object) -> list[float]:
        trainer = small.trainer(batch_size=21, updates=2, **options)  # one batch: all pairs
        trainer.fit()
        return [record["nll"] for record in trainer.history]

    assert losses(seed=1) == losses(seed=1)
    assert losses(seed=1)[0] != losses(seed=2)[0]
    config = small.config(batch_size=21, updates=2)
    model = small.model(dropout=0.0)
    trainer = Trainer(model, small.TRAIN, small.VALIDATION, config)
    trainer.fit()
    assert trainer.history[0]["nll"] != losses()[0]


# --- the best weights and the average -------------------------------------------------------------


def with_losses(monkeypatch: pytest.MonkeyPatch, trainer: Trainer, losses: list[float]) -> None:
    """Let the validations of a trainer find these losses."""
    found = iter(losses)
    monkeypatch.setattr(trainer, "validate", lambda: next(found))


@pytest.mark.parametrize(
    ("losses", "best"),
    [([3.0, 2.0, 1.0], 6), ([1.0, 2.0, 3.0], 2), ([2.0, 1.0, 1.0], 4), ([1.0, 1.0, 1.0], 2)],
)
def test_the_best_weights_are_those_of_the_lowest_loss(tmp_path, monkeypatch, losses, best):
    trainer = small.trainer(tmp_path, average=1, validate_every=2)
    weights = {}
    trainer.optimizer.register_step_post_hook(
        lambda *_: weights.setdefault(
            trainer.update + 1, {n: t.clone() for n, t in weights_of(trainer.model).items()}
        )
    )
    with_losses(monkeypatch, trainer, losses)
    trainer.fit()
    assert trainer.best == (best, min(losses))
    kept, metadata = load_tensors(tmp_path / "model.safetensors")
    assert metadata == {"updates": [best], "validation_loss": min(losses)}
    assert all(torch.equal(kept[name], tensor) for name, tensor in weights[best].items())
    trainer.load_best()
    assert all(torch.equal(weights_of(trainer.model)[n], t) for n, t in kept.items())


@pytest.mark.parametrize("better", [True, False])
def test_the_average_stands_in_only_if_it_is_better(tmp_path, monkeypatch, better):
    trainer = small.trainer(tmp_path, average=3, validate_every=1)
    with_losses(monkeypatch, trainer, [6.0, 5.0, 4.0, 3.0, 2.0, 2.5, 1.9 if better else 2.1])
    trainer.fit()
    assert [update for update, _ in list_checkpoints(tmp_path)] == [4, 5, 6]
    many = [load_checkpoint(folder)[0] for _, folder in list_checkpoints(tmp_path)]
    kept, metadata = load_tensors(tmp_path / "model.safetensors")
    if better:
        assert metadata == {"updates": [4, 5, 6], "validation_loss": 1.9}
        assert trainer.best == (6, 1.9)
    else:
        assert metadata == {"updates": [5], "validation_loss": 2.0}
        assert trainer.best == (5, 2.0)
    expected = average(many) if better else many[1]
    assert all(torch.equal(kept[name], tensor) for name, tensor in expected.items())
    # The model itself holds the last weights.
    assert all(torch.equal(weights_of(trainer.model)[n], t) for n, t in many[2].items())


def test_an_average_that_is_worth_it(tmp_path):
    """The same with a real loss: the average of weights that jump about is better than each."""
    trainer = small.trainer(tmp_path, learning_rate=0.2, schedule="constant")
    trainer.fit()
    _, metadata = load_tensors(tmp_path / "model.safetensors")
    assert metadata["updates"] == [4, 6]
    losses = [r["validation_loss"] for r in trainer.history if "validation_loss" in r]
    assert trainer.best[1] == metadata["validation_loss"] < min(losses)
    trainer.load_best()
    assert trainer.validate() == trainer.best[1]


def test_a_longer_run_remembers_how_good_its_average_was(tmp_path, monkeypatch):
    first = small.trainer(tmp_path, updates=4, average=3, validate_every=1)
    with_losses(monkeypatch, first, [5.0, 4.0, 3.0, 2.0, 1.0])  # the last one is the average's
    first.fit()
    best = (tmp_path / "model.safetensors").read_bytes()
    longer = small.trainer(tmp_path, updates=6, average=3, validate_every=1)
    assert longer.resume() and longer.best == (4, 1.0)
    with_losses(monkeypatch, longer, [1.5, 1.4, 1.3])
    longer.fit()
    assert longer.best == (4, 1.0)
    assert (tmp_path / "model.safetensors").read_bytes() == best


def test_no_run_is_made_shorter_than_it_is(tmp_path):
    small.trainer(tmp_path, updates=4).fit()
    with pytest.raises(
        ValueError, match=r"has made 4 updates already, more than training\.updates"
    ):
        small.trainer(tmp_path, updates=3).resume()


def test_the_average_includes_the_end_of_the_run(tmp_path):
    trainer = small.trainer(tmp_path, updates=5, average=2)
    trainer.fit()
    assert [update for update, _ in list_checkpoints(tmp_path)] == [4, 5]


def test_there_are_no_best_weights_without_a_folder():
    trainer = small.trainer()
    trainer.fit()
    with pytest.raises(ValueError, match="no best weights: train with a folder"):
        trainer.load_best()


# --- a loss that is not finite --------------------------------------------------------------------


def plant(monkeypatch: pytest.MonkeyPatch, trainer: Trainer, update: int, what: str) -> None:
    """Spoil the loss, or only its gradient, of one update."""
    real = training.label_smoothed_loss

    def spoiled(*args: object) -> tuple[torch.Tensor, torch.Tensor]:
        loss, nll = real(*args)
        if loss.requires_grad and trainer.update + 1 == update:
            if what == "loss":
                loss = loss * math.nan
            else:
                loss.register_hook(lambda gradient: gradient * math.inf)
        return loss, nll

    monkeypatch.setattr(training, "label_smoothed_loss", spoiled)


@pytest.mark.parametrize("what", ["loss", "gradient"])
@pytest.mark.parametrize(("update", "place"), [(1, "epoch 0, batch 0"), (5, "epoch 1, batch 1")])
def test_a_loss_that_is_not_finite_stops_the_run(
    tmp_path, monkeypatch, uninterrupted, what, update, place
):
    expected = small.trainer()
    if update > 1:
        expected.fit(updates=update - 1)
    trainer = small.trainer(tmp_path)
    plant(monkeypatch, trainer, update, what)
    message = rf"^The {what} is not finite at update {update} \({place}, .*learning rate"
    with pytest.raises(NonFiniteLoss, match=message):
        trainer.fit()
    small.assert_same_weights(trainer.model, expected.model)
    assert trainer.update == len(trainer.history) == update - 1
    for saved, folder in list_checkpoints(tmp_path):
        assert saved < update
        weights, optimizer, _ = load_checkpoint(folder)
        assert all(tensor.isfinite().all() for tensor in (*weights.values(), *optimizer.values()))
    monkeypatch.undo()
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    again = small.trainer(tmp_path)
    assert again.resume() and again.fit()
    small.assert_same_run(again, uninterrupted)


def test_a_learning_rate_that_is_much_too_high_stops_the_run(tmp_path):
    trainer = small.trainer(tmp_path, learning_rate=1e38, schedule="constant", warmup=0)
    with pytest.raises(NonFiniteLoss, match="Lower the learning rate or lengthen the warm-up"):
        trainer.fit()


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_validation_loss_that_is_not_finite_stops_the_run(tmp_path, monkeypatch, loss):
    trainer = small.trainer(tmp_path)
    with_losses(monkeypatch, trainer, [2.0, loss])
    with pytest.raises(NonFiniteLoss, match="validation loss is not finite after update 4"):
        trainer.fit()
    assert [update for update, _ in list_checkpoints(tmp_path)] == [2]
    assert load_tensors(tmp_path / "model.safetensors")[1]["updates"] == [2]
    assert trainer.best == (2, 2.0)


# --- what is measured -----------------------------------------------------------------------------


def token_losses(model: nn.Module, dataset: PairDataset) -> list[list[float]]:
    """Pair by pair, token by token."""
    found = []
    for source, target in dataset.examples:
        with torch.no_grad():
            logits = model.eval()(torch.tensor([source]), torch.tensor([target[:-1]]))
        log_p = logits[0].log_softmax(-1)
        found.append([-log_p[t, token].item() for t, token in enumerate(target[1:])])
    return found


def test_all_tokens_of_the_split_count_alike():
    model = small.model()
    losses = token_losses(model, small.TRAIN)
    expected = sum(map(sum, losses)) / sum(map(len, losses))
    assert mean_loss(model, small.TRAIN, batch_size=4) == pytest.approx(expected, rel=1e-5)
    of_pairs = sum(sum(pair) / len(pair) for pair in losses) / len(losses)
    assert abs(of_pairs - expected) > 1e-3
    trainer = Trainer(model, small.TRAIN, small.TRAIN, small.config())
    assert trainer.validate() == pytest.approx(expected, rel=1e-5)


def test_the_size_of_the_batches_has_no_influence():
    model = small.model(seed=2)
    sizes = [{"batch_size": n} for n in (1, 2, 5, 100)]
    sizes += [{"max_tokens": n} for n in (3, 8, 50, 1000)]  # 3: less than the longest pair has
    losses = [mean_loss(model, small.TRAIN, **size) for size in sizes]
    assert losses == pytest.approx([losses[0]] * len(losses), rel=1e-5)


@pytest.mark.parametrize("mode", [True, False])
def test_measuring_changes_nothing(mode):
    model = small.model().train(mode)
    state = torch.get_rng_state()
    mean_loss(model, small.VALIDATION, batch_size=4)
    assert model.training is mode
    assert torch.equal(torch.get_rng_state(), state)
    small.assert_same_weights(model, small.model())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_measuring_wants_one_size():
    with pytest.raises(ValueError, match="give exactly one of the two"):
        mean_loss(small.model(), small.VALIDATION)


# --- folders --------------------------------------------------------------------------------------


def test_a_folder_that_holds_a_run_is_not_overwritten(tmp_path):
    small.trainer(tmp_path).fit(updates=2)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    trainer = small.trainer(tmp_path)
    with pytest.raises(ValueError, match=r"holds a run already; call resume\(\)"):
        trainer.fit()
    assert trainer.update == 0
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_an_empty_folder_holds_no_run(tmp_path, uninterrupted):
    trainer = small.trainer(tmp_path / "new")
    assert not trainer.resume()
    trainer.fit()
    small.assert_same_run(trainer, uninterrupted)


def test_nothing_is_resumed_without_a_folder():
    with pytest.raises(ValueError, match="given no folder"):
        small.trainer().resume()


@pytest.mark.parametrize(
    ("name", "value", "then"),
    [
        ("seed", 6, "5"),
        ("batch_size", 9, "8"),
        ("learning_rate", 0.02, r"0\.01"),
        ("schedule", "constant", "'inverse_sqrt'"),
        ("warmup", 4, "3"),
        ("validate_every", 3, "2"),
        ("label_smoothing", 0.0, r"0\.1"),
        ("clip_norm", 0.5, r"1\.0"),
    ],
)
def test_a_run_is_not_resumed_with_another_configuration(tmp_path, name, value, then):
    small.trainer(tmp_path).fit(updates=2)
    trainer = small.trainer(tmp_path, **{name: value})
    message = rf"has training\.{name} = {then}, not {re.escape(repr(value))}; .*another folder"
    with pytest.raises(ValueError, match=message):
        trainer.resume()
    with pytest.raises(ValueError, match="holds a run already"):  # and certainly not overwritten
        trainer.fit()


def test_the_end_of_a_linear_schedule_cannot_be_moved(tmp_path):
    small.trainer(tmp_path, schedule="linear").fit(updates=2)
    with pytest.raises(ValueError, match=r"has training\.updates = 6, not 7"):
        small.trainer(tmp_path, schedule="linear", updates=7).resume()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dropout": 0.2}, r"has model\.dropout = 0\.1, not 0\.2"),
        ({"norm": "post"}, r"has model\.norm = 'pre', not 'post'"),
        ({"d_ff": 16}, r"has model\.d_ff = 8, not 16"),
    ],
)
def test_a_run_is_not_resumed_with_another_model(tmp_path, options, message):
    small.trainer(tmp_path).fit(updates=2)
    model = small.model(**options)
    trainer = Trainer(model, small.TRAIN, small.VALIDATION, small.config(), folder=tmp_path)
    with pytest.raises(ValueError, match=message):
        trainer.resume()
    small.assert_same_weights(model, small.model(**options))


@pytest.mark.parametrize("split", ["train", "validation"])
@pytest.mark.parametrize("n", [20, None])
def test_a_run_is_not_resumed_with_other_data(tmp_path, split, n):
    small.trainer(tmp_path).fit(updates=2)
    data = {"train": small.TRAIN, "validation": small.VALIDATION}
    data[split] = small.dataset(n or len(data[split]), seed=9)
    trainer = Trainer(small.model(), *data.values(), small.config(), folder=tmp_path)
    with pytest.raises(ValueError, match=f"has other {split} data: .*another folder"):
        trainer.resume()


def test_a_damaged_checkpoint_is_refused_and_the_one_before_taken_up(tmp_path, uninterrupted):
    first = small.trainer(tmp_path)
    first.fit(updates=3)
    (_, before), (_, newest) = list_checkpoints(tmp_path)
    path = newest / "optimizer.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    for trainer in (first, small.trainer(tmp_path)):
        with pytest.raises(ValueError, match=f"{newest} is incomplete or damaged .*delete it"):
            trainer.resume()
        with pytest.raises(ValueError, match="holds a run already"):
            trainer.fit()
    shutil.rmtree(newest)
    assert trainer.resume() and trainer.update == int(before.name) == 2
    trainer.fit()
    small.assert_same_run(trainer, uninterrupted)


@pytest.mark.parametrize("state", ["{}", '{"training": 3, "model": 4}', "[]", "3", '"update"'])
def test_a_state_that_is_none_is_refused(tmp_path, state):
    small.trainer(tmp_path).fit(updates=2)
    (list_checkpoints(tmp_path)[-1][1] / "state.json").write_text(state)
    with pytest.raises(ValueError, match=r"state\.json does not describe the state of a run"):
        small.trainer(tmp_path).resume()


# --- metrics.jsonl --------------------------------------------------------------------------------


def test_metrics_hold_the_history(uninterrupted):
    lines = (uninterrupted.folder / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == uninterrupted.history


def test_metrics_beyond_the_checkpoint_are_dropped(tmp_path, uninterrupted):
    small.trainer(tmp_path).fit(updates=3)
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"update": 4, "loss": 0.5}\n{"update": 5, "lo')
    again = small.trainer(tmp_path)
    assert again.resume() and len(again.history) == 3
    again.fit()
    small.assert_same_run(again, uninterrupted)


@pytest.mark.parametrize(
    "damage", [b"\x00\x00\x00", b"\xff\xfe", b'{"upd', b"[1]", b"3", b'{"loss": 1}', b""]
)
def test_a_damaged_line_of_the_metrics_costs_that_line_only(tmp_path, uninterrupted, damage):
    small.trainer(tmp_path).fit(updates=3)
    path = tmp_path / "metrics.jsonl"
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([lines[0], damage, lines[2]]) + b"\n")
    again = small.trainer(tmp_path)
    assert again.resume()
    again.fit()
    expected = [record for record in uninterrupted.history if record["update"] != 2]
    assert again.history == expected
    assert [json.loads(line) for line in path.read_bytes().splitlines()] == expected
    small.assert_same_weights(again.model, uninterrupted.model)


def test_a_run_goes_on_without_its_metrics(tmp_path, uninterrupted):
    trainer = small.trainer(tmp_path)
    trainer.fit(updates=3)
    (tmp_path / "metrics.jsonl").unlink()
    trainer.fit(updates=1)
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == uninterrupted.history[3:4]
    (tmp_path / "metrics.jsonl").unlink()
    again = small.trainer(tmp_path)
    assert again.resume() and again.history == []
    again.fit()
    assert again.history == uninterrupted.history[4:]
    small.assert_same_weights(again.model, uninterrupted.model)


# --- the progress bar -----------------------------------------------------------------------------


def test_the_bar_shows_loss_perplexity_speed_and_time_left(capsys, monkeypatch):
    small.trainer(updates=10, progress=True).fit()
    bar = capsys.readouterr().err.split("\r")[-1]
    shown = r"10/10 \[.*<.*loss \d\.\d+, perplexity \d+\.\d\d, [\d,]+ tokens/s"
    assert re.search(shown, bar)
    small.trainer(updates=10).fit()
    assert capsys.readouterr().err == ""


# --- devices and configurations -------------------------------------------------------------------


def test_the_best_device_is_chosen(monkeypatch):
    available = {"cuda": 0, "mps": False}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: available["cuda"] > 0)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: available["cuda"])
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: available["mps"])
    assert choose_device().type == "cpu"
    available["mps"] = True
    assert choose_device().type == "mps"
    available["cuda"] = 2
    assert choose_device().type == "cuda"
    assert choose_device("cpu") == torch.device("cpu")
    assert choose_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(ValueError, match=r"'cuda:2'.* does not have; it has cpu, cuda:0 to cuda:1"):
        choose_device("cuda:2")
    for name in ("cuda:", "cuda:x", "cpu:1"):
        with pytest.raises(ValueError, match=f"device is '{name}', which this machine does not"):
            choose_device(name)
    available["cuda"] = 0
    with pytest.raises(ValueError, match=r"'cuda', which this machine does not have; .* cpu, mps"):
        choose_device("cuda")
    with pytest.raises(ValueError, match="did you mean 'cuda'"):
        choose_device("cudaa")


def test_a_trainer_wants_a_device_that_is_there(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for device in ("gpu", "cuda"):
        with pytest.raises(ValueError, match=f"device is '{device}'"):
            small.trainer(device=device)


CONFIGURATIONS = [
    ({"updates": -1}, "updates is -1, but it must be a whole number, 0 or more"),
    ({"updates": 1.5}, "updates is 1.5"),
    ({"updates": True}, "updates is True"),
    ({"warmup": -3}, "warmup is -3"),
    ({"seed": "1"}, "seed is '1'"),
    ({"seed": 2**64}, "seed is 18446744073709551616"),
    ({"batch_size": 4, "max_tokens": 100}, "give exactly one of the two"),
    ({"batch_size": None}, "batch_size is None and max_tokens is None"),
    ({"batch_size": 0}, "batch_size is 0, but it must be a whole number of at least 1"),
    ({"batch_size": None, "max_tokens": -1}, "max_tokens is -1"),
    ({"learning_rate": 0}, "learning_rate is 0, but it must be a number above 0"),
    ({"learning_rate": math.nan}, "learning_rate is nan"),
    ({"learning_rate": "3e-3"}, "learning_rate is '3e-3'"),
    ({"epsilon": 0.0}, "epsilon is 0.0"),
    ({"weight_decay": -0.1}, "weight_decay is -0.1, but it must be a number, 0 or more"),
    ({"clip_norm": math.inf}, "clip_norm is inf"),
    ({"clip_norm": None}, "clip_norm is None"),
    ({"beta1": 1.0}, "beta1 is 1.0, but it must be at least 0 and below 1"),
    ({"beta2": -0.1}, "beta2 is -0.1"),
    ({"label_smoothing": 1}, "label_smoothing is 1"),
    ({"schedule": "step"}, "schedule is 'step', but it must be one of constant"),
    ({"validate_every": 0}, "validate_every is 0"),
    ({"average": 0}, "average is 0"),
]


@pytest.mark.parametrize(("options", "message"), CONFIGURATIONS, ids=lambda x: str(x)[:40])
def test_bad_configurations(book, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        book.TrainingConfig(**{"updates": 6, "batch_size": 8, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"updates": 0}, "updates is 0, but it must be a whole number of at least 1"),
        ({"minutes": 0}, "minutes is 0, but it must be above 0"),
        ({"minutes": math.nan}, "minutes is nan"),
    ],
)
def test_bad_slices(options, message):
    trainer = small.trainer()
    with pytest.raises(ValueError, match=message):
        trainer.fit(**options)
    assert trainer.update == 0
