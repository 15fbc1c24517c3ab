"""What a file says is input: for all that is changed in a run, one sentence says what is wrong.

Every entry of every JSON file, and every tensor of the optimizer's file, is replaced by values of
another kind, range or size, one at a time. What reads them must work, or raise `ValueError` with
one line.
"""

from __future__ import annotations

import contextlib
import copy
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from transformer_book.cli.run_folder import chosen_recipe, kept_recipe
from transformer_book.recipes import load_recipe
from transformer_book.runs.experiment import Experiment
from transformer_book.training import Trainer
from transformer_book.translator import Translator
from transformer_book.weights.checkpoints import list_checkpoints, load_tensors, save_tensors

pytestmark = pytest.mark.usefixtures("one_thread", "unenforced", "quick_disk")
GONE = object()
DEEP: Any = []
for _ in range(3000):  # Python's own JSON gives up on it
    DEEP = [DEEP]
ODD = (None, True, -1, 0, 1.5, 10**9, 10**29, float("nan"), "text", "", [], {}, [[]], GONE)
SETTINGS = ("model.d_model=8", "model.d_ff=8", "model.n_heads=2", "training.updates=4")
SMALL = (*SETTINGS, "data.train=64", "data.validation=16", "training.validate_every=2")


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tuple[Path, Experiment]:
    """A run of four updates, complete."""
    experiment = Experiment(load_recipe("copy", (*SMALL, "model.n_encoder_layers=1")))
    folder = tmp_path_factory.mktemp("run") / "copy"
    trainer = experiment.trainer(folder=folder)
    experiment.translator(trainer.model).save_description(folder)
    trainer.fit()
    return folder, experiment


def places(data: Any, above: tuple = ()) -> Iterator[tuple]:
    """The way to each entry of a JSON document; of a long list only to the first and the last."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield (*above, key)
            yield from places(value, (*above, key))
    elif isinstance(data, list):
        for i in sorted({0, len(data) - 1} & set(range(len(data)))):
            yield (*above, i)
            yield from places(data[i], (*above, i))


def with_entry(data: Any, place: tuple, value: Any) -> Any:
    """A copy of a document with another value in one place, or with none there."""
    changed = copy.deepcopy(data)
    within = changed
    for step in place[:-1]:
        within = within[step]
    if value is GONE:
        del within[place[-1]]
    else:
        within[place[-1]] = value
    return changed


def edits(path: Path) -> Iterator[tuple[str, str]]:
    """What is changed in a JSON file, and its text then."""
    data = json.loads(path.read_bytes())
    for place in places(data):
        for value in ODD:
            what = "nothing" if value is GONE else repr(value)
            yield f"{path.name} {place} = {what}", json.dumps(with_entry(data, place, value))
    for text in ("", "null", "[]", "7", "{", '"text"', "\x00", "[" * 30_000 + "]" * 30_000):
        yield f"{path.name} = {text[:20]!r}", text


def complaint(read: Callable[[], object]) -> str:
    """What is wrong with how something is read; nothing if it works or says why not in a line."""
    try:
        read()
    except ValueError as error:
        text = str(error)
        return "" if text and "\n" not in text and len(text) < 700 else f"says {text[:900]!r}"
    except Exception as error:
        return f"raises {type(error).__name__}: {str(error)[:200]}"
    return ""


@contextlib.contextmanager
def kept(path: Path) -> Iterator[None]:
    before = path.read_bytes()
    try:
        yield
    finally:
        path.write_bytes(before)


def resumed(folder: Path, experiment: Experiment, datasets: tuple) -> None:
    trainer = Trainer(experiment.new_model(), *datasets, experiment.training, folder=folder)
    threads = torch.get_num_threads()
    try:
        trainer.resume()
    finally:
        torch.set_num_threads(threads)


def opened(folder: Path) -> None:
    Translator.from_pretrained(folder).search(["s1 s2"], n_candidates=1)


def begun(folder: Path) -> None:
    kept_recipe(folder, "copy", resume=False)


def taken_up(folder: Path) -> None:
    recipe = kept_recipe(folder, "copy", resume=True)
    Experiment(chosen_recipe("copy", (), recipe, folder))


@pytest.mark.parametrize(
    "name", ["config.json", "source_vocabulary.json", "target_vocabulary.json", "state.json"]
)
def test_every_entry_of_a_file(run, tmp_path, name):
    folder, experiment = tmp_path / "copy", run[1]
    shutil.copytree(run[0], folder)
    datasets = experiment.dataset("train"), experiment.dataset("validation")
    path = folder / name
    readers: list[Callable[[], object]] = [lambda: opened(folder)]
    if name == "state.json":
        path = list_checkpoints(folder)[-1][1] / name
        readers = [lambda: resumed(folder, experiment, datasets)]
    elif name == "config.json":
        readers += [lambda: begun(folder), lambda: taken_up(folder)]
    wrong, n = [], 0
    with kept(path):
        for what, text in edits(path):
            path.write_text(text)
            n += 1
            wrong += [f"{what} {said}" for read in readers if (said := complaint(read))]
    print(f"{name}: {n} edits")
    assert not wrong, "\n".join([f"{len(wrong)} of {n}", *wrong[:40]])
    assert n > 60


def test_every_tensor_of_the_optimizer_and_what_the_best_weights_say_of_themselves(run, tmp_path):
    folder, experiment = tmp_path / "copy", run[1]
    shutil.copytree(run[0], folder)
    datasets = experiment.dataset("train"), experiment.dataset("validation")
    path = list_checkpoints(folder)[-1][1] / "optimizer.safetensors"
    tensors, _ = load_tensors(path)
    refused = wrong = 0
    with kept(path):
        for name, tensor in tensors.items():
            others = (None, tensor.to(torch.float16), tensor[None], tensor.new_zeros(3, 5))
            for other in others:
                changed = {k: v for k, v in tensors.items() if k != name}
                if other is not None:
                    changed[name] = other
                save_tensors(path, changed)
                with (
                    pytest.raises(ValueError, match=r"optimizer\.safetensors")
                    if not (other is None and name.startswith("random."))
                    else contextlib.nullcontext()
                ):
                    resumed(folder, experiment, datasets)
                refused += 1
    best = folder / "model.safetensors"
    weights, _ = load_tensors(best)
    with kept(best):
        for about in ({"updates": 3}, {"updates": "many", "validation_loss": 1.0}, [1], {}):
            save_tensors(best, weights, about)
            wrong += bool(complaint(lambda: resumed(folder, experiment, datasets)))
        for about in ({"updates": [1, 2], "validation_loss": "low"}, {"updates": [1, 2]}):
            save_tensors(best, weights, about)
            wrong += bool(complaint(lambda: resumed(folder, experiment, datasets)))
    assert refused > 100 and not wrong


@pytest.mark.parametrize(
    "change",
    [
        "task.max_length=1000",
        "model.n_encoder_layers=1000000000",
        "model.max_length=100000000000000000000000000000",
        "model.d_ff=1000000000000",
        f"task.symbols={'[' * 3000}{']' * 3000}",
    ],
)
def test_settings_beyond_all_bounds(change):
    said = complaint(lambda: Experiment(load_recipe("copy", (*SMALL, change))).new_model())
    assert not said


def test_a_recipe_nested_too_deeply(tmp_path):
    path = tmp_path / "deep.toml"
    path.write_text(f"x = {'[' * 2000}{']' * 2000}")
    with pytest.raises(ValueError, match="is not TOML"):
        load_recipe(path)


def test_what_a_killed_run_left_is_swept(run, tmp_path):
    folder, experiment = tmp_path / "copy", run[1]
    shutil.copytree(run[0], folder)
    left = [
        folder / ".source_vocabulary.json.0123abcd.tmp",
        folder / ".config.json.00000000.tmp",
        folder / "checkpoints" / ".00000004.89abcdef.tmp",
    ]
    for path in left[:2]:
        path.write_text("half")
    left[2].mkdir()
    own = folder / ".mine.tmp"
    own.write_text("not of a run")
    trainer = experiment.trainer(folder=folder)
    trainer.resume()
    trainer.fit()
    assert not any(path.exists() for path in left) and own.exists()
