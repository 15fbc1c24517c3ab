"""Saving what training has reached, so that nothing is ever lost (chapter 16).

Tensors go into safetensors files, which hold numbers and nothing that could be executed; the rest
goes into JSON. A single file is replaced whole or not at all. A checkpoint consists of several
files, so they are written to a temporary folder, which takes its name in one step when all of
them have reached the disk: a folder with a name is complete.

    run/
      config.json, source_vocabulary.json, target_vocabulary.json   what the model is
      known_words.json           which words a model of subwords met in training
      model.safetensors          the best weights so far
      metrics.jsonl              one line for each update
      checkpoints/00000500/      everything needed to go on after update 500
        model.safetensors  optimizer.safetensors  state.json
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor, nn

from transformer_book.support.atomic_files import read_json, write_atomically, write_json
from transformer_book.support.parts import is_changed

TEMPORARY = ".*." + "[0-9a-f]" * 8 + ".tmp"  # what is being written, a file or a checkpoint


def save_tensors(
    path: str | Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, Any] | None = None
) -> None:
    """Write tensors by name, and JSON-able metadata, to a safetensors file, whole or not at all."""
    data = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    # One entry: safetensors writes several in an order that changes from run to run.
    text = {"json": json.dumps(metadata, sort_keys=True)} if metadata else None
    write_atomically(path, safetensors.torch.save(data, text))


def load_tensors(path: str | Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote: the tensors, on the CPU, and the metadata.

    Raises:
        ValueError: the file is truncated, or is something else, such as a pickle.
        FileNotFoundError: there is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    try:
        with safetensors.safe_open(path, framework="pt", device="cpu") as file:
            metadata = file.metadata() or {}
            # Cloned, since these would read from the file later on, when it may have gone.
            tensors = {name: file.get_tensor(name).clone() for name in file.keys()}  # noqa: SIM118
        about = json.loads(metadata.get("json", "{}"))
        if not isinstance(about, dict):
            raise ValueError("what it says of itself is no dictionary")
        return tensors, about
    except (safetensors.SafetensorError, ValueError, RecursionError) as error:
        with path.open("rb") as file:
            head = file.read(8)  # of a safetensors file the length of its header, below 2**32
        pickle = head.startswith((b"PK", b"\x80")) and head[4:] != bytes(4)
        what = "a pickle, which could run any code" if pickle else f"damaged ({error})"
        raise ValueError(
            f"{path} is {what}: tensors are read from a complete safetensors file only."
        ) from error


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """The parameters by name, and buffers; a matrix that several layers share stands there once."""
    tensors = [*model.named_parameters(), *model.named_buffers()]
    return {name: tensor.detach() for name, tensor in tensors}


def own_parts(model: nn.Module) -> list[str]:
    """The names of the classes in a model that are neither the book's nor PyTorch's."""
    return sorted({type(part).__name__ for part in model.modules() if is_changed(part)})


def load_weights(model: nn.Module, weights: Mapping[str, Tensor], origin: str | Path) -> None:
    """Copy weights into a model, converted to the model's own type, on its device.

    Args:
        model: what they belong to.
        weights: as `weights_of` gave them.
        origin: where they come from, for the message.

    Raises:
        ValueError: a weight is missing, left over, or of another shape: then nothing is copied.
    """
    own = weights_of(model)
    missing, left_over = sorted(own.keys() - weights.keys()), sorted(weights.keys() - own.keys())
    if missing or left_over:
        which = f"lacks {missing[0]!r}" if missing else f"has {left_over[0]!r} left over"
        raise ValueError(f"{origin} belongs to a model of another configuration: it {which}.")
    for name, tensor in own.items():
        if tensor.shape != weights[name].shape:
            raise ValueError(
                f"{origin} belongs to a model of another configuration: {name!r} has shape "
                f"{tuple(weights[name].shape)} there and {tuple(tensor.shape)} here."
            )
    with torch.no_grad():
        for name, tensor in own.items():
            tensor.copy_(weights[name])


def average(many: Iterable[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    r"""The mean of several models' weights, $\frac{1}{n} \sum_i \theta_i$, summed in float64.

    The models must stem from one run: averaging unrelated models gives nonsense.

    Raises:
        ValueError: there is nothing to average, or the models differ in configuration.

    Source: Vaswani et al. (2017), section 6.1, who average the last 5 checkpoints.
    """
    many = iter(many)
    first = next(many, None)
    if first is None:
        raise ValueError("There are no checkpoints to average.")
    sums = {name: t.to("cpu", torch.float64, copy=True) for name, t in first.items()}
    n = 1
    for n, weights in enumerate(many, 2):
        if {name: t.shape for name, t in weights.items()} != {k: t.shape for k, t in sums.items()}:
            raise ValueError(
                f"Checkpoint {n} of those to average has weights of other names or shapes than the "
                "first; average checkpoints of one run only."
            )
        for name, tensor in weights.items():
            sums[name] += tensor.cpu().double()
    return {name: (total / n).to(first[name].dtype) for name, total in sums.items()}


# --- checkpoints ----------------------------------------------------------------------------------


def save_checkpoint(
    run: str | Path,
    update: int,
    weights: Mapping[str, Tensor],
    optimizer: Mapping[str, Tensor],
    state: Mapping[str, Any],
) -> Path:
    """Write a complete checkpoint into `run/checkpoints`, unless that update's is there already.

    Raises:
        OSError: the disk is full, or the folder cannot be written to. The checkpoints that were
            there before are untouched.
    """
    parent = Path(run) / "checkpoints"
    parent.mkdir(parents=True, exist_ok=True)
    final = parent / f"{update:08d}"
    if final.exists():  # a run repeats itself to the last bit: it would be the same again
        return final
    temporary = parent / f".{final.name}.{secrets.token_hex(4)}.tmp"
    try:
        temporary.mkdir()
        save_tensors(temporary / "model.safetensors", weights)
        save_tensors(temporary / "optimizer.safetensors", optimizer)
        write_json(temporary / "state.json", state)
        _flush_folder(temporary)
        temporary.rename(final)
        _flush_folder(parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return final


def list_checkpoints(run: str | Path) -> list[tuple[int, Path]]:
    """The complete checkpoints of a run, (update, folder), the oldest first."""
    folders = (Path(run) / "checkpoints").glob("[0-9]*")
    return sorted((int(folder.name), folder) for folder in folders if folder.name.isdecimal())


def load_checkpoint(
    folder: str | Path,
) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Any]]:
    """The weights, the optimizer's tensors and the state that `save_checkpoint` wrote.

    Raises:
        ValueError: one of the files is missing or damaged.
    """
    folder = Path(folder)
    try:
        weights, _ = load_tensors(folder / "model.safetensors")
        optimizer, _ = load_tensors(folder / "optimizer.safetensors")
        state = read_json(folder / "state.json")
        if not isinstance(state, dict):
            raise ValueError(f"{folder / 'state.json'} does not describe the state of a run")
        return weights, optimizer, state
    except (FileNotFoundError, ValueError) as error:
        raise ValueError(
            f"The checkpoint {folder} is incomplete or damaged ({error}); delete it, and the run "
            "goes on from the one before it."
        ) from error


def sweep(run: str | Path) -> None:
    """Delete what a killed run left half written in its folder: nothing else has such a name."""
    run = Path(run)
    for leftover in (*run.glob(TEMPORARY), *(run / "checkpoints").glob(TEMPORARY)):
        if leftover.is_dir():
            shutil.rmtree(leftover, ignore_errors=True)
        else:
            leftover.unlink(missing_ok=True)


def prune_checkpoints(run: str | Path, keep: Iterable[int]) -> None:
    """Delete the checkpoints of all updates but those in `keep`, and what a killed run left."""
    run, keep = Path(run), set(keep)
    for update, folder in list_checkpoints(run):
        if update not in keep:
            # Rename, then delete: a folder under its final name must never be half deleted.
            hidden = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
            folder.rename(hidden)
    sweep(run)


def _flush_folder(folder: Path) -> None:
    # On POSIX a new name is only safe from a power cut once its folder is flushed, too.
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
