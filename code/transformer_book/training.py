"""Training: the loop, cut into slices that join without a seam (chapter 16)."""

from __future__ import annotations

import json
import math
import os
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from tqdm.auto import tqdm

from transformer_book.architectures import Model, settings_of
from transformer_book.batches import Batch, BucketedBatches, PairDataset, collate, limit_of
from transformer_book.decoder_only import DecoderOnly
from transformer_book.fused import fused_kernels, projected_loss
from transformer_book.optimization import SCHEDULES, label_smoothed_loss, learning_rate
from transformer_book.support.arguments import (
    check_choice,
    check_positive,
    check_probability,
    is_number,
)
from transformer_book.support.atomic_files import write_atomically
from transformer_book.support.parts import is_changed
from transformer_book.weights.checkpoints import (
    average,
    list_checkpoints,
    load_checkpoint,
    load_tensors,
    load_weights,
    own_parts,
    prune_checkpoints,
    save_checkpoint,
    save_tensors,
    sweep,
    weights_of,
)

DEVICES = ("cpu", "cuda", "mps")


@dataclass(frozen=True)
class TrainingConfig:
    """Everything that decides the course of a training run, but for the model and the data.

    Attributes:
        updates: number of optimizer steps; 0 leaves the model as it is.
        batch_size: pairs in a batch; or instead
        max_tokens: ids in a batch, padding included, on the longer side.
        learning_rate: the peak, see `optimization.learning_rate`.
        schedule: `"constant"`, `"inverse_sqrt"`, `"linear"` or `"cosine"`.
        warmup: updates until the peak is reached; 0 for none; a shorter run ends on the way up.
        beta1, beta2, epsilon: of Adam.
        weight_decay: of AdamW; 0 is plain Adam.
        label_smoothing: ε of the loss.
        clip_norm: gradients are scaled down to this norm if they are longer; 0 for no clipping.
        validate_every: updates between two measurements on the validation split, each of which
            leaves a checkpoint.
        average: number of these checkpoints that are averaged at the end; 1 for none.
        seed: of the initial weights, of the order of the data, and of dropout.

    Raises:
        ValueError: for a value out of range.
    """

    updates: int
    batch_size: int | None = None
    max_tokens: int | None = None
    learning_rate: float = 1e-3
    schedule: str = "inverse_sqrt"
    warmup: int = 0
    beta1: float = 0.9
    beta2: float = 0.98
    epsilon: float = 1e-9
    weight_decay: float = 0.0
    label_smoothing: float = 0.0
    clip_norm: float = 1.0
    validate_every: int = 500
    average: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        check_positive(validate_every=self.validate_every, average=self.average)
        for name in ("updates", "warmup", "seed"):
            value = getattr(self, name)
            if type(value) is not int or not 0 <= value < 2**63:
                raise ValueError(f"{name} is {value!r}, but it must be a whole number, 0 or more.")
        limit_of(**self.size)
        rates = ("beta1", "beta2", "label_smoothing")
        check_probability(**{name: getattr(self, name) for name in rates})
        for name in ("learning_rate", "epsilon"):
            value = getattr(self, name)
            if not is_number(value) or value <= 0:
                raise ValueError(f"{name} is {value!r}, but it must be a number above 0.")
        for name in ("weight_decay", "clip_norm"):
            value = getattr(self, name)
            if not is_number(value) or value < 0:
                raise ValueError(f"{name} is {value!r}, but it must be a number, 0 or more.")
        check_choice("schedule", self.schedule, SCHEDULES)

    @property
    def size(self) -> dict[str, int | None]:
        """How large a batch is: `batch_size` and `max_tokens`, as all that takes batches asks."""
        return {"batch_size": self.batch_size, "max_tokens": self.max_tokens}


class NonFiniteLoss(ValueError):
    """A loss or its gradient is infinite or not a number: training cannot go on."""


def choose_device(name: str | None = None) -> torch.device:
    """The device of that name, or the best there is: CUDA, else MPS, else the CPU.

    Raises:
        ValueError: an unknown device, or one that this machine does not have.
    """
    count = {
        "cpu": 1,
        "cuda": torch.cuda.device_count() if torch.cuda.is_available() else 0,
        "mps": int(torch.backends.mps.is_available()),
    }
    if name is None:
        return torch.device(next(kind for kind in ("cuda", "mps", "cpu") if count[kind]))
    kind, colon, number = name.partition(":")
    check_choice("device", kind, DEVICES)
    if not count[kind] or (colon and number not in map(str, range(count[kind]))):
        here = [kind if n == 1 else f"{kind}:0 to {kind}:{n - 1}" for kind, n in count.items() if n]
        raise ValueError(
            f"device is {name!r}, which this machine does not have; it has {', '.join(here)}."
        )
    return torch.device(name)


def batch_loss(
    model: nn.Module, batch: Batch, smoothing: float = 0.0, *, fused: bool = False
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    """The loss of a model on the targets of a batch: `label_smoothed_loss` of its logits.

    Args:
        model: one of the book's, or one that PyTorch has wrapped for several processes.
        batch: on the device of the model.
        smoothing: of the labels, ε.
        fused: let `projected_loss` make the logits, slice by slice. It does so on a processor, in
            full precision, and where the projection to the vocabulary is PyTorch's own, without
            hooks, and the model can leave it out.

    Returns:
        The loss to be lowered, and the negative log-likelihood without smoothing. Both are over the
        target's tokens; of a decoder-only model with `source_loss` over the source's, too.
    """
    bare = getattr(model, "module", model)
    output, labels, options = bare.output, batch.target_out, {}
    if isinstance(bare, DecoderOnly) and bare.config.source_loss:
        options["whole"] = True
        labels = bare.source_labels(batch.source, batch.target)  # (B, S+T)
    # `projected_loss` reads the weights of `output` and never calls it.
    own = type(output) is not nn.Linear or is_changed(output, "forward", hooks=True)
    own |= "project" not in signature(bare.forward).parameters
    device = batch.source.device.type
    if not fused or own or device != "cpu" or torch.is_autocast_enabled(device):
        logits = model(batch.source, batch.target_in, **options)  # (B, T, V)
        return label_smoothed_loss(logits, labels, smoothing)
    vectors = model(batch.source, batch.target_in, project=False, **options)  # (B, T, D)
    return projected_loss(vectors, output, labels, smoothing)


def mean_loss(
    model: Model,
    dataset: PairDataset,
    *,
    batch_size: int | None = None,
    max_tokens: int | None = None,
) -> float:
    """The negative log-likelihood per token of the targets, in nats: over all tokens alike.

    Args:
        model: is put into evaluation mode meanwhile.
        dataset: encoded pairs.
        batch_size, max_tokens: how many at once, one of the two; no influence on the result but for
            rounding.
    """
    total, count = total_loss(model, dataset, batch_size=batch_size, max_tokens=max_tokens)
    return total / count


def total_loss(
    model: Model,
    dataset: PairDataset,
    *,
    batch_size: int | None = None,
    max_tokens: int | None = None,
    part: slice = slice(None),
) -> tuple[float, int]:
    """The negative log-likelihood of all targets together, in nats, and how many tokens they have.

    Args:
        model, dataset, batch_size, max_tokens: as for `mean_loss`.
        part: of the batches; `slice(1, None, 2)` is every second one.
    """
    if max_tokens is not None:  # a long sentence must fit, though training would leave it out
        max_tokens = max(max_tokens, *map(max, dataset.lengths))
    batches = BucketedBatches(dataset, batch_size=batch_size, max_tokens=max_tokens, shuffle=False)
    device = model.output.weight.device
    was_training = model.training
    model.eval()
    total, count = 0.0, 0
    try:
        with torch.no_grad():
            for indices in list(batches)[part]:
                batch = collate([dataset[i] for i in indices]).to(device)
                logits = model(batch.source, batch.target_in)  # (B, T, V)
                _, nll = label_smoothed_loss(logits, batch.target_out)
                total += nll.item() * batch.n_tokens
                count += batch.n_tokens
    finally:
        model.train(was_training)
    return total, count


class Trainer:
    """Trains a model, and can be stopped and resumed anywhere without changing the result.

    One update: a batch, its loss, the gradients, clipped, one step of Adam at the learning rate of
    the schedule. Every `validate_every` updates, and after the last one, the loss on the
    validation split is measured; the weights with the lowest are the best.

    With a folder, everything is kept there (see `checkpoints`): a line of `metrics.jsonl` for each
    update, the best weights in `model.safetensors`, and checkpoints. `resume` takes up the newest
    checkpoint; on one machine, with one number of threads, the updates that follow are those of an
    uninterrupted run, to the last bit: weights, Adam's moments, the place in the data and the state
    of the random numbers are all restored. Random numbers drawn elsewhere have no influence.

    Args:
        model: is moved to the device and trained in place.
        train, validation: encoded pairs.
        config: the course of the run.
        device: where to compute, see `choose_device`.
        folder: where to keep the run; without one nothing is kept: no best weights, no average.
        progress: show a progress bar.
        save_seconds: a checkpoint is written at least this often, seconds.
        fused: the same up to rounding, but faster: PyTorch's kernel computes the layer norms
            (`layers.fused_norms`), `projected_loss` the loss, and the formula short attentions.
            `transformer-book train` does so.

    Attributes:
        history: one record for each update so far: `update`, `epoch`, `learning_rate`, `loss` (what
            is minimised, nats per token), `nll` (the same without label smoothing),
            `gradient_norm` (before clipping), `tokens`; and `validation_loss` where measured.
        best: the update with the lowest validation loss, and that loss.

    Raises:
        ValueError: for a device that this machine does not have.
    """

    _writes = True  # of several processes (chapter 23), only the first one

    def __init__(
        self,
        model: Model,
        train: PairDataset,
        validation: PairDataset,
        config: TrainingConfig,
        *,
        device: torch.device | str = "cpu",
        folder: str | Path | None = None,
        progress: bool = False,
        save_seconds: float = 60.0,
        fused: bool = False,
    ) -> None:
        self.device = choose_device(str(device))
        self.model = model.to(self.device)
        self.train, self.validation, self.config = train, validation, config
        self.folder = None if folder is None else Path(folder)
        self.progress, self.save_seconds, self.fused = progress, save_seconds, fused
        self.batches = BucketedBatches(train, **config.size, seed=config.seed)
        self.optimizer = torch.optim.AdamW(
            [{"params": list(model.parameters()), "weight_decay": config.weight_decay}],
            lr=config.learning_rate,
            betas=(config.beta1, config.beta2),
            eps=config.epsilon,
            fused=self.device.type in ("cpu", "cuda"),  # one loop over all weights, not eighty
        )
        self.update, self.epoch, self.position = 0, 0, 0
        self.best: tuple[int, float] | None = None
        self.history: list[dict[str, Any]] = []
        self._random = _random_state_of(config.seed, self.device)
        self._unsaved: list[dict[str, Any]] = []
        self._metrics_size = 0  # bytes of metrics.jsonl, up to the last whole record
        self._measured: int | None = None  # the update last measured on the validation split
        self._stop = False
        self._holds_a_run = False
        if self.folder is not None:
            self._holds_a_run = bool(list_checkpoints(self.folder))
            self._data = {"train": _fingerprint(train), "validation": _fingerprint(validation)}

    @property
    def finished(self) -> bool:
        """Whether all updates have been made."""
        return self.update >= self.config.updates

    def stop(self) -> None:
        """End the running `fit` after the present update; to be called from a signal handler."""
        self._stop = True

    def fit(self, *, updates: int | None = None, minutes: float | None = None) -> bool:
        """Train until the run is finished, or for so many updates or minutes, and save.

        After an error, or an interruption, `fit` can be called again, or a new `Trainer` resume.

        Returns:
            Whether the run is finished.

        Raises:
            NonFiniteLoss: at which update, with which batch. The weights are those before it.
            ValueError: the folder holds a run already (see `resume`), or an argument is out of
                range.
            OSError: a checkpoint could not be written; those before it are intact.
        """
        if self._holds_a_run:
            raise ValueError(
                f"{self.folder} holds a run already; call resume() to go on with it, or choose "
                "another folder."
            )
        if minutes is not None and not minutes > 0:
            raise ValueError(f"minutes is {minutes!r}, but it must be above 0.")
        last = self.config.updates
        if updates is not None:
            check_positive(updates=updates)
            last = min(last, self.update + updates)
        if self.folder is not None and self._writes:
            sweep(self.folder)
        self._stop = False
        began = saved = time.monotonic()
        ends = math.inf if minutes is None else began + 60 * minutes
        tokens = 0
        bar = tqdm(
            total=self.config.updates,
            initial=self.update,
            unit="update",
            disable=not self.progress,
            dynamic_ncols=True,
        )
        kernels = fused_kernels(self.model) if self.fused else nullcontext()
        with bar, _random_numbers(self), kernels:
            batches = self._remaining_batches()
            if self.update == 0 and not self.finished:
                self._save()  # from here on there is always something to resume
            while True:
                due = self._is_due()
                if due:
                    self._measure()
                if self._anywhere(due or time.monotonic() - saved > self.save_seconds):
                    self._save()
                    saved = time.monotonic()
                ended = self.update >= last or self._stop or time.monotonic() >= ends
                if self._anywhere(ended):
                    break
                record = self._step(next(batches))
                tokens += record["tokens"]
                bar.update()
                if self.update % 10 == 0:
                    bar.set_postfix_str(
                        f"loss {record['loss']:.3f}, perplexity {_perplexity(record['nll'])}, "
                        f"{tokens / max(time.monotonic() - began, 1e-9):,.0f} tokens/s",
                        refresh=False,
                    )
            self._save()
            if self.finished and self.config.average > 1:
                self._average()
        return self.finished

    def resume(self) -> bool:
        """Take up the newest checkpoint of the folder, if there is one.

        Returns:
            Whether there was one; without, training starts from the beginning.

        Raises:
            ValueError: there is no folder, the checkpoint is damaged, or it belongs to another
                model, training configuration or data.
        """
        if self.folder is None:
            raise ValueError("There is nothing to resume: this Trainer was given no folder.")
        checkpoints = list_checkpoints(self.folder)
        if not checkpoints:
            return False
        self._holds_a_run = True  # until all of it is loaded
        _, newest = checkpoints[-1]
        weights, tensors, state = load_checkpoint(newest)
        try:
            _check_state(state)
            self._check_belongs(state, self.folder)
            if state["update"] > self.config.updates:
                raise ValueError(
                    f"The run in {self.folder} has made {state['update']} updates already, more "
                    f"than training.updates = {self.config.updates}."
                )
            self.update, self.epoch, self.position = (
                state[name] for name in ("update", "epoch", "position")
            )
            self.best = None if state["best"] is None else tuple(state["best"])
            self._measured, threads = state["measured"], state["threads"]
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"{newest / 'state.json'} does not describe the state of a run: {error}; delete "
                "the checkpoint's folder, and the run goes on from the one before it."
            ) from error
        self._check_tensors(tensors, newest / "optimizer.safetensors")
        load_weights(self.model, weights, newest / "model.safetensors")
        self._restore_optimizer(tensors)
        for kind in self._random:  # a run that moves to a GPU starts that GPU's afresh
            self._random[kind] = tensors.get(f"random.{kind}", self._random[kind])
        self._read_metrics()
        self._take_up_average()
        self._holds_a_run = False
        if self.device.type == "cpu" and torch.get_num_threads() != threads:
            torch.set_num_threads(threads)  # sums are split, and rounded, as before
        return True

    def validate(self) -> float:
        """The negative log-likelihood per token on the validation split, in nats."""
        return mean_loss(self.model, self.validation, **self.config.size)

    # --- one update -------------------------------------------------------------------------------

    def _step(self, batch: Batch) -> dict[str, Any]:
        config = self.config
        number = self.update + 1
        rate = learning_rate(
            number,
            peak=config.learning_rate,
            schedule=config.schedule,
            warmup=config.warmup,
            updates=config.updates,
        )
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.model.train()
        loss, nll = batch_loss(self.model, batch, config.label_smoothing, fused=self.fused)
        self.optimizer.zero_grad()
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), config.clip_norm or math.inf)
        # Together: a GPU is waited for once, not three times.
        loss, nll, norm = torch.stack([loss.detach(), nll, norm]).tolist()
        if not math.isfinite(loss) or not math.isfinite(norm):
            what = "gradient" if math.isfinite(loss) else "loss"
            raise NonFiniteLoss(
                f"The {what} is not finite at update {number} (epoch {self.epoch}, batch "
                f"{self.position}, both counted from 0; learning rate {rate:.2g}); the weights are "
                "those before it, and checkpoints stay as they are. Lower the learning rate or "
                "lengthen the warm-up."
            )
        self.optimizer.step()
        self.update = number
        self.position += 1
        record = {
            "update": number,
            "epoch": self.epoch,
            "learning_rate": rate,
            "loss": loss,
            "nll": nll,
            "gradient_norm": norm,
            "tokens": batch.n_tokens,
        }
        self.history.append(record)
        self._unsaved.append(record)
        return record

    def _remaining_batches(self) -> Iterator[Batch]:
        """The batches from the present place in the data on, epoch after epoch, without end."""
        while True:
            self.batches.set_epoch(self.epoch)
            for indices in list(self.batches)[self.position :]:
                yield collate([self.train[i] for i in indices]).to(self.device)
            self.epoch, self.position = self.epoch + 1, 0

    def _anywhere(self, here: bool) -> bool:
        """Whether it is so here; of several processes (chapter 23): in any of them."""
        return here

    def _is_due(self) -> bool:
        """Whether the validation loss is to be measured after this update, and has not been yet."""
        regular = self.update > 0 and self.update % self.config.validate_every == 0
        return (regular or self.finished) and self._measured != self.update

    def _measure(self) -> None:
        loss = self.validate()
        if not math.isfinite(loss):
            raise NonFiniteLoss(
                f"The validation loss is not finite after update {self.update}; checkpoints stay "
                "as they are. Lower the learning rate or lengthen the warm-up."
            )
        if self.best is None or loss < self.best[1]:
            self._write_best(weights_of(self.model), [self.update], loss)
            self.best = (self.update, loss)
        if self.history:
            self.history[-1]["validation_loss"] = loss
        self._measured = self.update

    def _write_best(self, weights: dict[str, Tensor], updates: list[int], loss: float) -> None:
        if self.folder is not None and self._writes:
            self.folder.mkdir(parents=True, exist_ok=True)
            metadata = {"updates": updates, "validation_loss": loss}
            save_tensors(self.folder / "model.safetensors", weights, metadata)

    def _average(self) -> None:
        """Put the average of the last checkpoints in place of the best weights, if it is better."""
        if self.folder is None:
            return
        chosen = self._worth_averaging()
        kept = {update: path for update, path in list_checkpoints(self.folder) if update in chosen}
        here = {name: tensor.clone() for name, tensor in weights_of(self.model).items()}
        mean = average(load_tensors(path / "model.safetensors")[0] for path in kept.values())
        try:
            load_weights(self.model, mean, "the average")
            loss = self.validate()
        finally:
            load_weights(self.model, here, "the last weights")
        if loss < self.best[1]:
            self._write_best(mean, list(kept), loss)
            self.best = (self.update, loss)

    def _take_up_average(self) -> None:
        """An average is written after the last checkpoint, which cannot say how good it is."""
        path = self.folder / "model.safetensors"
        if self.best is not None and path.exists():
            about = load_tensors(path)[1]
            updates, loss = about.get("updates", []), about.get("validation_loss", math.inf)
            if not isinstance(updates, list) or not is_number(loss):
                raise ValueError(
                    f"{path} says that its updates are {updates!r:.40} and its validation loss is "
                    f"{loss!r:.40}: that is not what training writes; delete the file."
                )
            if len(updates) > 1 and loss < self.best[1]:
                self.best = (self.update, loss)

    def load_best(self) -> None:
        """Put the best weights of the folder (perhaps an average) into the model.

        Raises:
            ValueError: there is no folder, or nothing has been validated yet.
        """
        if self.folder is None or self.best is None:
            raise ValueError("There are no best weights: train with a folder first.")
        path = self.folder / "model.safetensors"
        load_weights(self.model, load_tensors(path)[0], path)

    # --- keeping and restoring --------------------------------------------------------------------

    def _worth_averaging(self) -> set[int]:
        every, n = self.config.validate_every, self.config.average
        newest = self.update // every
        measured = {every * i for i in range(max(newest - n, 0), newest + 1) if i > 0}
        if self.finished:
            measured.add(self.update)
        return set(sorted(measured)[-n:])

    def _save(self) -> None:
        if self.folder is None or not self._writes:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        self._write_metrics()
        names = {id(parameter): name for name, parameter in self.model.named_parameters()}
        tensors = {
            f"{key}.{names[id(parameter)]}": value
            for parameter, moments in self.optimizer.state.items()
            for key, value in moments.items()
        }
        _remember_random_state(self._random, self.device)
        tensors |= {f"random.{name}": tensor for name, tensor in self._random.items()}
        state = {
            "update": self.update,
            "epoch": self.epoch,
            "position": self.position,
            "best": self.best,
            "measured": self._measured,
            "threads": torch.get_num_threads(),
            "training": asdict(self.config),
            "model": self._model(),
            "data": self._data,
        }
        save_checkpoint(self.folder, self.update, weights_of(self.model), tensors, state)
        prune_checkpoints(self.folder, {self.update} | self._worth_averaging())

    def _check_tensors(self, tensors: dict[str, Tensor], path: Path) -> None:
        """Raise `ValueError` unless moments and random states have the kinds and sizes they had."""
        wanted: dict[str, tuple[torch.dtype, torch.Size | None]] = {
            f"random.{kind}": (torch.uint8, state.shape) for kind, state in self._random.items()
        }
        for name, parameter in self.model.named_parameters():
            moments = [f"{key}.{name}" for key in ("step", "exp_avg", "exp_avg_sq")]
            there = [moment in tensors for moment in moments]
            if any(there) and not all(there):
                raise ValueError(f"{path} lacks {moments[there.index(False)]!r}; {AGAIN}.")
            shapes = (torch.Size(), parameter.shape, parameter.shape)
            wanted |= {m: (parameter.dtype, s) for m, s in zip(moments, shapes, strict=True)}
            wanted[moments[0]] = (torch.float32, torch.Size())
        if self.update and not any(name.startswith("exp_avg") for name in tensors):
            raise ValueError(f"{path} has no moments after {self.update} updates; {AGAIN}.")
        for name, tensor in tensors.items():
            if name.startswith("random.") and name not in wanted:
                continue  # that of a device which this run is no longer on
            kind, shape = wanted.get(name, (None, None))
            if tensor.dtype != kind or tensor.shape != shape:
                raise ValueError(
                    f"{path} has {name!r} of type {tensor.dtype} and shape {tuple(tensor.shape)}, "
                    f"which this run does not have; {AGAIN}."
                )

    def _restore_optimizer(self, tensors: dict[str, Tensor]) -> None:
        self.optimizer.state.clear()
        for name, parameter in self.model.named_parameters():
            moments = {
                key: tensors[f"{key}.{name}"]
                for key in ("step", "exp_avg", "exp_avg_sq")
                if f"{key}.{name}" in tensors  # a weight without a gradient has none
            }
            for key, value in moments.items():
                # The count of steps stays where Adam wants it; the moments move to the device.
                if key != "step" or self.device.type == "cuda":
                    moments[key] = value.to(self.device)
            if moments:
                self.optimizer.state[parameter] = moments

    def _model(self) -> dict[str, Any]:
        """What the model is: its configuration, and the names of parts that are not the book's."""
        return settings_of(self.model.config) | {"own_parts": own_parts(self.model) or None}

    def _check_belongs(self, state: dict[str, Any], run: Path) -> None:
        another = "resume it as it began, or choose another folder"
        now = {"training": asdict(self.config), "model": self._model()}
        for section, fields in now.items():
            for name, value in fields.items():
                if name == "updates" and self.config.schedule not in ("linear", "cosine"):
                    continue  # without influence on the updates before
                if state[section].get(name) != value:
                    raise ValueError(
                        f"The run in {run} has {section}.{name} = {state[section].get(name)!r}, "
                        f"not {value!r}; {another}."
                    )
        for split, value in self._data.items():
            then = state["data"].get(split, value)  # a run of the bench has drawn pairs without end
            if then != value:
                raise ValueError(
                    f"The run in {run} has other {split} data: {then['pairs']} pairs, and now "
                    f"{value['pairs']} that are not the same; {another}."
                )

    def _write_metrics(self) -> None:
        """Append the new records; what a failed attempt left behind the old ones is replaced."""
        path = self.folder / "metrics.jsonl"
        path.touch()
        with path.open("r+b") as file:
            file.truncate(min(self._metrics_size, path.stat().st_size))
            file.seek(0, os.SEEK_END)
            file.write(_lines(self._unsaved))
            file.flush()
            os.fsync(file.fileno())
            self._metrics_size, self._unsaved = file.tell(), []

    def _read_metrics(self) -> None:
        """The records up to the checkpoint; later ones, and damaged lines, are dropped."""
        path = self.folder / "metrics.jsonl"
        self.history, self._unsaved = [], []
        for line in path.read_bytes().splitlines() if path.exists() else ():
            try:
                record = json.loads(line)
                if record["update"] <= self.update:
                    self.history.append(record)
            except (ValueError, KeyError, TypeError, RecursionError):
                continue
        if self._writes:
            write_atomically(path, _lines(self.history))
            self._metrics_size = path.stat().st_size


AGAIN = "delete the checkpoint's folder, and the run goes on from the one before it"


def _check_state(state: dict[str, Any]) -> None:
    """Raise `TypeError` unless each entry of a checkpoint's state is of the kind it had."""

    def whole(value: object) -> bool:
        return type(value) is int and 0 <= value < 2**53

    def pairs(value: object) -> bool:
        return isinstance(value, dict) and {*map(type, value.values())} <= {int}

    best, threads = state["best"], state["threads"]
    measured_best = isinstance(best, list) and len(best) == 2 and whole(best[0])
    right = {
        **{name: whole(state[name]) for name in ("update", "epoch", "position")},
        "best": best is None or (measured_best and is_number(best[1])),
        "measured": state["measured"] is None or whole(state["measured"]),
        "threads": whole(threads) and 1 <= threads <= 4096,
        **{name: isinstance(state[name], dict) for name in ("training", "model")},
        "data": isinstance(state["data"], dict) and all(map(pairs, state["data"].values())),
    }
    for name, is_right in right.items():
        if not is_right:
            raise TypeError(f"{name} is {state[name]!r:.60}")


def _lines(records: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def _fingerprint(dataset: PairDataset) -> dict[str, int]:
    """What tells one set of pairs from another."""
    examples = [dataset[i] for i in range(len(dataset))]
    return {"pairs": len(dataset), "crc32": zlib.crc32(repr(examples).encode())}


# --- random numbers -------------------------------------------------------------------------------


def _random_state_of(seed: int, device: torch.device) -> dict[str, Tensor]:
    """The state of the random numbers of a run that begins with this seed."""
    kinds = {"cpu": "cpu", device.type: device}
    return {kind: torch.Generator(d).manual_seed(seed).get_state() for kind, d in kinds.items()}


def _remember_random_state(state: dict[str, Tensor], device: torch.device) -> None:
    state["cpu"] = torch.get_rng_state()
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        state["mps"] = torch.mps.get_rng_state()


def _install_random_state(state: dict[str, Tensor], device: torch.device) -> None:
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda":
        torch.cuda.set_rng_state(state["cuda"], device)
    elif device.type == "mps":
        torch.mps.set_rng_state(state["mps"])


@contextmanager
def _random_numbers(trainer: Trainer) -> Iterator[None]:
    """Draw from the run's own random numbers inside, and leave those outside as they were."""
    outside: dict[str, Tensor] = {}
    _remember_random_state(outside, trainer.device)
    _install_random_state(trainer._random, trainer.device)
    try:
        yield
    finally:
        _remember_random_state(trainer._random, trainer.device)
        _install_random_state(outside, trainer.device)


def _perplexity(nll: float) -> str:
    return f"{math.exp(nll):.2f}" if nll < 20 else "huge"
