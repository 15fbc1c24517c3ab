"""Saving what training has reached, so that nothing is ever lost (chapter 16).

Tensors go into safetensors files, which hold numbers and nothing that could be executed; the rest
goes into JSON. A single file is replaced whole or not at all. A checkpoint consists of several
files, so they are written to a temporary folder, which takes its name in one step when all of
them have reached the disk: a folder with a name is complete.

    run/
      config.json, source_vocabulary.json, target_vocabulary.json   what the model is
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

from transformer_book.files import read_json, write_atomically, write_json


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
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return tensors, json.loads(metadata.get("json", "{}"))
    except (safetensors.SafetensorError, ValueError) as error:
        head = path.read_bytes()[:4]
        pickle = head.startswith(b"PK") or head.startswith(b"\x80")
        what = "a pickle, which could run any code" if pickle else f"damaged ({error})"
        raise ValueError(
            f"{path} is {what}: a model is read from a complete safetensors file only."
        ) from error


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    """The parameters by name; a matrix that several layers share stands there once."""
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


def load_weights(model: nn.Module, weights: Mapping[str, Tensor], origin: str | Path) -> None:
    """Copy weights into a model, in the model's own type and on its device.

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
    for name, parameter in own.items():
        if parameter.shape != weights[name].shape:
            raise ValueError(
                f"{origin} belongs to a model of another configuration: {name!r} has shape "
                f"{tuple(weights[name].shape)} there and {tuple(parameter.shape)} here."
            )
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(weights[name])


def average(many: Iterable[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    r"""The mean of several models' weights, $\frac{1}{n} \sum_i \theta_i$, summed in float64.

    The models must stem from one run: averaging unrelated models gives nonsense.

    Raises:
        ValueError: there is nothing to average.

    Source: Vaswani et al. (2017), section 6.1, who average the last 5 checkpoints.
    """
    sums: dict[str, Tensor] = {}
    types: dict[str, torch.dtype] = {}
    n = 0
    for weights in many:
        n += 1
        for name, tensor in weights.items():
            types[name] = tensor.dtype
            sums[name] = sums.get(name, 0) + tensor.double().cpu()
    if not n:
        raise ValueError("There are no checkpoints to average.")
    return {name: (total / n).to(types[name]) for name, total in sums.items()}


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
        temporary.rename(final)
        _flush_folder(parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return final


def list_checkpoints(run: str | Path) -> list[tuple[int, Path]]:
    """The complete checkpoints of a run, (update, folder), the oldest first."""
    folders = (Path(run) / "checkpoints").glob("[0-9]*")
    return sorted((int(folder.name), folder) for folder in folders if folder.name.isdigit())


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
        return weights, optimizer, read_json(folder / "state.json")
    except FileNotFoundError as error:
        raise ValueError(f"The checkpoint {folder} is incomplete: {error}") from error


def prune_checkpoints(run: str | Path, keep: Iterable[int]) -> None:
    """Delete the checkpoints of all updates but those in `keep`, and what a killed run left."""
    keep = set(keep)
    for update, folder in list_checkpoints(run):
        if update not in keep:
            # First out of sight, then away: a folder with a name must never be half deleted.
            hidden = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.tmp")
            folder.rename(hidden)
    for leftover in (Path(run) / "checkpoints").glob(".*.tmp"):
        shutil.rmtree(leftover, ignore_errors=True)


def _flush_folder(folder: Path) -> None:
    # On POSIX a new name is only safe from a power cut once its folder is flushed, too.
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
