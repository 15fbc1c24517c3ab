"""What the folder of a training holds, and whether this training may go on with it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transformer_book.cli.messages import warn

if TYPE_CHECKING:
    from transformer_book.runs.experiment import Experiment


def kept_recipe(folder: Path, name: str, resume: bool) -> dict[str, Any] | None:
    """The recipe of the run to be resumed, `None` for a new one; an error where there is no way."""
    from transformer_book.support.atomic_files import read_json
    from transformer_book.weights.checkpoints import list_checkpoints

    elsewhere = "choose another --output."
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--output is {folder}, which is a file; choose a folder.")
    checkpoints = list_checkpoints(folder)
    config = read_json(folder / "config.json") if (folder / "config.json").exists() else {}
    recipe = config.get("recipe") if isinstance(config, dict) else None
    if config and not (isinstance(recipe, dict) and "name" in recipe):
        raise ValueError(f"{folder / 'config.json'} is not that of a run of a recipe; {elsewhere}")
    if not checkpoints:
        if (folder / "model.safetensors").exists():
            raise ValueError(
                f"{folder} holds a trained model, and no checkpoint to go on from; {elsewhere}"
            )
        return None
    if not recipe:
        raise ValueError(f"{folder} holds a run, but its config.json is missing; {elsewhere}")
    if not resume:
        training = recipe.get("training")
        updates = training.get("updates") if isinstance(training, dict) else "?"
        raise ValueError(
            f"{folder} holds a run of {recipe['name']!r}, at update {checkpoints[-1][0]} of "
            f"{updates}; add --resume to go on with it, or {elsewhere}"
        )
    if recipe["name"] != name:
        raise ValueError(
            f"{folder} holds a run of {recipe['name']!r}, not of {name!r}; {elsewhere}"
        )
    return recipe


def chosen_recipe(
    recipe: str, changes: Iterable[str], kept: Mapping[str, Any] | None, folder: Path
) -> Any:
    """The recipe of a new run, or the one with which the kept run began."""
    from transformer_book.recipes import load_recipe

    if kept is None:
        return load_recipe(recipe, changes)
    begun = _same_recipe(kept, changes, folder)
    if recipe.endswith(".toml"):  # the file may have been changed since
        differences = [
            f"{name} = {then!r}, where {recipe} has {now!r}"
            for name, then, now in _differences(begun, load_recipe(recipe, changes))
        ]
        if differences:
            warn(f"The run in {folder} goes on as it began: {'; '.join(differences)}.")
    return begun


def _same_recipe(kept: Mapping[str, Any], changes: Iterable[str], folder: Path) -> Any:
    """The recipe that a run began with. Nothing of it may change but the number of updates."""
    from transformer_book.recipes import changed, recipe_from_dict

    began = recipe_from_dict(kept)
    recipe = recipe_from_dict(changed(kept, changes))
    for name, then, now in _differences(began, recipe):
        if name != "training.updates":
            raise ValueError(
                f"The run in {folder} has {name} = {then!r}, not {now!r}; leave that --set out, or "
                "choose another --output."
            )
    return recipe


def _differences(one: Any, other: Any) -> Iterator[tuple[str, Any, Any]]:
    """The settings in which two recipes differ, `section.key`, with both values."""
    for section, values in other.to_dict().items():
        before = one.to_dict()[section]
        if isinstance(values, dict):
            for key in {**before, **values}:
                if before.get(key) != values.get(key):
                    yield f"{section}.{key}", before.get(key), values.get(key)


def take_up_vocabularies(experiment: Experiment, folder: Path) -> None:
    """Go on with the ids that the run began with; refuse data that now have other tokens.

    A run of the book's bench has its symbols in another order than `Vocabulary.build` gives them.
    """
    from transformer_book.tokens import Vocabulary

    own = []
    for side, vocabulary in zip(("source", "target"), experiment.vocabularies, strict=True):
        path = folder / f"{side}_vocabulary.json"
        kept = Vocabulary.load(path) if path.exists() else vocabulary
        if {*kept.tokens} != {*vocabulary.tokens}:
            raise ValueError(
                f"The run in {folder} began with another {side} vocabulary: its data have changed "
                "since; choose another --output."
            )
        own.append(kept)
    source, target = own
    experiment.vocabularies = source, source if experiment.recipe.tokens.joint else target


def check_writable(folder: Path) -> None:
    """Before the data are made, which may take a minute, and without leaving an empty folder."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise ValueError(f"--output is {folder}, but {there} is a file; choose another folder.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(f"--output is {folder}, but {there} cannot be written to.")
