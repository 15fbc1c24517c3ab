"""What is saved comes back complete, or not at all; a fault at any moment loses nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import safetensors.torch
import torch
from torch import nn

from tests import small
from tests.faults import Killed, fault_in
from transformer_book.support.atomic_files import read_json, write_atomically, write_json
from transformer_book.training import Trainer
from transformer_book.transformer import Transformer
from transformer_book.weights.checkpoints import (
    average,
    list_checkpoints,
    load_checkpoint,
    load_tensors,
    load_weights,
    prune_checkpoints,
    save_checkpoint,
    save_tensors,
    weights_of,
)

pytestmark = pytest.mark.usefixtures("one_thread", "quick_disk")
TENSORS = {
    "float": torch.tensor([[1.5, -0.0], [torch.inf, torch.nan]]),
    "half": torch.arange(5.0).half(),
    "bytes": torch.arange(7, dtype=torch.uint8),
    "one": torch.tensor(3, dtype=torch.int64),
    "none": torch.empty(0, 4),
}


@pytest.fixture
def saved(tmp_path) -> Path:
    path = tmp_path / "some.safetensors"
    save_tensors(path, TENSORS, {"updates": [3], "name": "ä"})
    return path


def leftovers(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name.endswith(".tmp")]


# --- files ----------------------------------------------------------------------------------------


def test_a_file_is_replaced(tmp_path):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_atomically(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


@pytest.mark.parametrize("kind", ["full", "interrupted", "killed"])
@pytest.mark.parametrize("before", [None, b"the old content"])
def test_a_file_is_written_whole_or_not_at_all(tmp_path, kind, before):
    new, path = b"the new content", tmp_path / "file"
    for step in range(1, 20):
        if before is not None:
            path.write_bytes(before)
        with fault_in(kind, step) as fault:
            try:
                write_atomically(path, new)
            except (OSError, KeyboardInterrupt, Killed):
                assert fault.happened
        found = path.read_bytes() if path.exists() else None
        assert found in (before, new)
        if kind == "full" and fault.log[-1] not in ("unlink", "open"):
            assert not leftovers(tmp_path)
        if not fault.happened:
            assert found == new
            assert fault.log[:4] == ["open", "write", "fsync", "replace"]
            return
        for path_left in leftovers(tmp_path):
            path_left.unlink()
        path.unlink(missing_ok=True)
    pytest.fail("It never passed.")


def test_json_comes_back(tmp_path):
    data = {"ä": [1, 2.5, None, True, "\ud800"], "nested": {"x": 1e-300}}
    write_json(tmp_path / "x.json", data)
    assert read_json(tmp_path / "x.json") == data


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"a": 1', b"\xff\xfe", b"[" * 100_000, b"\x00" * 9]
)
def test_damaged_json_is_refused(tmp_path, content):
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(ValueError, match=r"x\.json is not a JSON file"):
        read_json(tmp_path / "x.json")


# --- tensors --------------------------------------------------------------------------------------


def test_tensors_come_back(saved):
    tensors, metadata = load_tensors(saved)
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert tensors[name].dtype == tensor.dtype
        torch.testing.assert_close(tensors[name], tensor, rtol=0, atol=0, equal_nan=True)
    assert metadata == {"updates": [3], "name": "ä"}


def test_no_metadata_and_views(tmp_path):
    view = torch.arange(12.0).view(3, 4).T[1:]
    save_tensors(tmp_path / "x", {"view": view.requires_grad_()})
    tensors, metadata = load_tensors(tmp_path / "x")
    assert torch.equal(tensors["view"], view)
    assert metadata == {}


def test_the_same_tensors_give_the_same_file(saved, tmp_path):
    save_tensors(tmp_path / "again", TENSORS, {"name": "ä", "updates": [3]})
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_what_was_loaded_does_not_change_with_the_file(saved):
    tensors, _ = load_tensors(saved)
    size = saved.stat().st_size
    with saved.open("r+b") as file:
        file.seek(size // 2)
        file.write(b"\x01" * (size - size // 2))
    assert torch.equal(tensors["half"], TENSORS["half"])
    assert torch.equal(tensors["bytes"], TENSORS["bytes"])


def test_a_truncated_file_is_refused(saved):
    whole = saved.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    assert header < len(whole)
    for length in {0, 1, 7, 8, 9, header // 2, header - 1, header, header + 1, len(whole) - 1}:
        saved.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="damaged") as error:
            load_tensors(saved)
        assert str(saved) in str(error.value)
    saved.write_bytes(whole + b"\x00")
    with pytest.raises(ValueError, match="damaged"):
        load_tensors(saved)


@pytest.mark.parametrize("header_length", [640, 1152, 19280])
def test_a_truncated_file_is_not_taken_for_a_pickle(tmp_path, header_length):
    """The first bytes of these lengths are those of a pickle, or of a ZIP archive."""
    path = tmp_path / "x"
    path.write_bytes(header_length.to_bytes(8, "little") + b"{}".ljust(header_length // 2))
    with pytest.raises(ValueError, match="damaged"):
        load_tensors(path)


class Trap:
    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_is_refused_and_not_run(tmp_path, zipped):
    trap = Trap()
    trap.path = tmp_path / "sprung"
    torch.save({"x": trap}, tmp_path / "x", _use_new_zipfile_serialization=zipped)
    with pytest.raises(ValueError, match="a pickle, which could run any code"):
        load_tensors(tmp_path / "x")
    assert not trap.path.exists()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*nowhere"):
        load_tensors(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        load_tensors(tmp_path)


# --- weights --------------------------------------------------------------------------------------


def test_weights_come_back(tmp_path):
    one, other = small.model(seed=1), small.model(seed=2)
    save_tensors(tmp_path / "x", weights_of(one))
    load_weights(other, load_tensors(tmp_path / "x")[0], tmp_path / "x")
    small.assert_same_weights(one, other)
    assert other.output.weight is other.target_embedding.weight


def test_shared_weights_stand_there_once():
    model = small.model(tie_embeddings="all")
    names = set(weights_of(model))
    assert len(names & {"source_embedding.weight", "target_embedding.weight", "output.weight"}) == 1
    assert sum(tensor.numel() for tensor in weights_of(model).values()) == model.n_parameters


def test_buffers_of_a_learners_own_module_are_kept(tmp_path):
    one, other = (nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)) for _ in range(2))
    one(torch.randn(5, 2))
    save_tensors(tmp_path / "x", weights_of(one))
    load_weights(other, load_tensors(tmp_path / "x")[0], tmp_path / "x")
    x = torch.randn(3, 2)
    assert torch.equal(one.eval()(x), other.eval()(x))


def test_weights_are_converted_to_the_type_of_the_model():
    model = small.model()
    load_weights(model, {n: t.half() for n, t in weights_of(small.model(seed=1)).items()}, "x")
    for name, tensor in weights_of(model).items():
        assert tensor.dtype == torch.float32
        assert torch.equal(tensor, weights_of(small.model(seed=1))[name].half().float())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"d_model": 16}, r"has shape \(9, 16\) there and \(9, 8\) here"),
        ({"n_decoder_layers": 2}, r"has 'decoder\.layers\.1\..*' left over"),
        ({"bias": False}, "lacks '.*bias'"),
        ({"positions": "learned"}, r"has 'source_positions\.weight' left over"),
    ],
)
def test_weights_of_another_configuration_are_refused(options, message):
    model, before = small.model(), small.model()
    with pytest.raises(ValueError, match=f"^a file belongs to .* another configuration.*{message}"):
        load_weights(model, weights_of(small.model(seed=1, **options)), "a file")
    small.assert_same_weights(model, before)


# --- averages -------------------------------------------------------------------------------------


def test_the_average_by_hand():
    many = [weights_of(small.model(seed=seed)) for seed in range(3)]
    mean = average(iter(many))
    for name in many[0]:
        expected = sum(weights[name].double() for weights in many) / 3
        assert torch.equal(mean[name], expected.float())


def test_averaging_rounds_once():
    one, large = torch.ones(2), torch.full((2,), 1e8)
    mean = average([{"x": large}, {"x": one}, {"x": -large}])["x"]
    assert torch.equal(mean, torch.full((2,), 1 / 3))
    halves = average([{"x": one.half()}, {"x": one.half() * 2}])["x"]
    assert halves.dtype == torch.float16 and torch.equal(halves, one.half() * 1.5)


def test_averaging_leaves_what_it_is_given_alone():
    weights = [
        {"x": torch.ones(2, dtype=torch.float64)},
        {"x": torch.zeros(2, dtype=torch.float64)},
    ]
    assert torch.equal(average(weights)["x"], torch.full((2,), 0.5, dtype=torch.float64))
    assert torch.equal(weights[0]["x"], torch.ones(2, dtype=torch.float64))


def test_only_checkpoints_of_one_run_are_averaged():
    with pytest.raises(ValueError, match="no checkpoints to average"):
        average([])
    for other in ({"x": torch.ones(1)}, {"y": torch.ones(2)}, {}, {"x": torch.ones(2), "y": 1}):
        other = {name: torch.as_tensor(tensor) for name, tensor in other.items()}
        with pytest.raises(ValueError, match=r"Checkpoint 2 .* other names or shapes"):
            average([{"x": torch.ones(2)}, other])


# --- checkpoints ----------------------------------------------------------------------------------

STATE = {"update": 3, "best": [2, 0.1234567890123456789]}


def save(run: Path, update: int) -> Path:
    return save_checkpoint(run, update, {"w": torch.tensor([float(update)])}, TENSORS, STATE)


def test_a_checkpoint_comes_back(tmp_path):
    folder = save(tmp_path / "deep" / "run", 3)
    assert folder == tmp_path / "deep" / "run" / "checkpoints" / "00000003"
    assert list_checkpoints(tmp_path / "deep" / "run") == [(3, folder)]
    weights, optimizer, state = load_checkpoint(folder)
    assert torch.equal(weights["w"], torch.tensor([3.0]))
    assert optimizer.keys() == TENSORS.keys()
    assert state == STATE


def test_checkpoints_are_counted_not_spelled(tmp_path):
    assert list_checkpoints(tmp_path) == []
    for update in (123_456_789, 5, 40):
        save(tmp_path, update)
    for name in (".00000007.ab12.tmp", "best", "5²"):
        (tmp_path / "checkpoints" / name).mkdir()
    assert [update for update, _ in list_checkpoints(tmp_path)] == [5, 40, 123_456_789]


def test_an_existing_checkpoint_is_not_touched(tmp_path):
    folder = save(tmp_path, 3)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert save(tmp_path, 3) == folder
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json"])
def test_a_damaged_checkpoint_is_refused(tmp_path, name):
    folder = save(tmp_path, 3)
    whole = (folder / name).read_bytes()
    for content in (whole[:-2], whole[: len(whole) // 2], b"", None):
        (folder / name).unlink() if content is None else (folder / name).write_bytes(content)
        message = f"{folder} is incomplete or damaged .*{re.escape(name)}.*delete it"
        with pytest.raises(ValueError, match=message):
            load_checkpoint(folder)


def test_old_checkpoints_and_leftovers_are_deleted(tmp_path):
    for update in (1, 2, 3, 4):
        save(tmp_path, update)
    (tmp_path / "checkpoints" / ".00000009.ab12cd34.tmp").mkdir()
    (tmp_path / "checkpoints" / ".00000009.ab12cd34.tmp" / "model.safetensors").write_bytes(b"half")
    (tmp_path / ".model.safetensors.ab12cd34.tmp").write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("mine")
    prune_checkpoints(tmp_path, iter([2, 4, 7]))
    assert sorted(os.listdir(tmp_path / "checkpoints")) == ["00000002", "00000004"]
    assert sorted(os.listdir(tmp_path)) == ["checkpoints", "notes.txt"]


# --- faults ---------------------------------------------------------------------------------------

# Hundreds of runs; tests/test_training.py makes the same updates with the annotations enforced.
hundreds = pytest.mark.usefixtures("unenforced")


def bare() -> Transformer:
    """A model of few tensors: what is written a thousand times need not be many."""
    return small.model(bias=False, feed_forward=False)


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory) -> Trainer:
    trainer = small.trainer(tmp_path_factory.mktemp("whole"), model=bare())
    assert trainer.fit()
    return trainer


@pytest.fixture(scope="module")
def begun(tmp_path_factory) -> Path:
    """A run after update 3. The next one measures, and leaves a checkpoint in place of the last."""
    folder = tmp_path_factory.mktemp("begun")
    assert not small.trainer(folder, model=bare()).fit(updates=3)
    assert [update for update, _ in list_checkpoints(folder)] == [2, 3]
    return folder


def assert_complete(folder: Path) -> None:
    """Whatever has a name can be read."""
    for update, path in list_checkpoints(folder):
        weights, optimizer, state = load_checkpoint(path)
        assert weights.keys() == weights_of(bare()).keys()
        kinds = {name.partition(".")[0] for name in optimizer}
        assert kinds == {"step", "exp_avg", "exp_avg_sq", "random"}
        assert state["update"] == update
    _, metadata = load_tensors(folder / "model.safetensors")
    assert metadata["updates"]


def faults(
    kind: str, folder: Path, begun: Path | None, many: int | None = 1, **options: object
) -> Iterator[tuple]:
    """Copies of a run that has begun, or new ones, broken at each step of the next updates."""
    for step in count(1):
        copy = folder / f"{step}"
        if begun is not None:
            shutil.copytree(begun, copy)
        trainer = small.trainer(copy, model=bare(), **options)
        assert trainer.resume() == (begun is not None)
        with fault_in(kind, step) as fault:
            try:
                trainer.fit(updates=many)
            except (OSError, KeyboardInterrupt, Killed):
                assert fault.happened
        yield trainer, fault
        if not fault.happened:
            return


def assert_nothing_is_lost(trainer: Trainer, kind: str, uninterrupted: Trainer) -> None:
    """A new process goes on, and the old one if it is still there: the run ends as it should."""
    copy = Path(f"{trainer.folder} copy")
    if trainer.folder.exists():
        shutil.copytree(trainer.folder, copy)
    again = Trainer(bare(), small.TRAIN, small.VALIDATION, trainer.config, folder=copy)
    again.resume()
    # Room has been made, or the cell is run again: the object may go on, too.
    for one in [again] if kind == "killed" else [again, trainer]:
        assert one.fit()
        small.assert_same_run(one, uninterrupted)
        assert not leftovers(one.folder)


@hundreds
@pytest.mark.parametrize("kind", ["full", "interrupted", "killed"])
def test_a_fault_at_any_step_loses_nothing(tmp_path, begun, uninterrupted, kind):
    """Within one update: validation, best weights, metrics, a checkpoint, an old one deleted."""
    struck = set()
    for trainer, fault in faults(kind, tmp_path, begun):
        assert_complete(trainer.folder)
        updates = {update for update, _ in list_checkpoints(trainer.folder)}
        assert 2 in updates and updates & {3, 4}  # the last one is there, or its successor
        if fault.happened:
            struck.add(fault.log[-1])
        else:
            assert updates == {2, 4}
            assert struck == set(fault.log)
        assert_nothing_is_lost(trainer, kind, uninterrupted)
    assert struck == {"open", "write", "truncate", "fsync", "mkdir"} | (
        {"rename", "replace", "unlink", "rmdir"}
    )


@hundreds
@pytest.mark.parametrize("kind", ["full", "killed"])
def test_a_fault_in_the_first_save_loses_nothing(tmp_path, kind):
    options = {"updates": 2, "average": 1}
    uninterrupted = small.trainer(tmp_path / "whole", model=bare(), **options)
    assert uninterrupted.fit()
    for trainer, _ in faults(kind, tmp_path, None, None, **options):
        assert_nothing_is_lost(trainer, kind, uninterrupted)


@hundreds
def test_a_fault_while_averaging_loses_nothing(tmp_path):
    options = {"learning_rate": 0.5, "schedule": "constant"}
    uninterrupted = small.trainer(tmp_path / "whole", model=bare(), **options)
    assert uninterrupted.fit()
    path = uninterrupted.folder / "model.safetensors"
    assert load_tensors(path)[1]["updates"] == [4, 6]  # the average is better, and stands there
    for trainer, _ in faults("killed", tmp_path, uninterrupted.folder, None, **options):
        assert_complete(trainer.folder)
        assert_nothing_is_lost(trainer, "killed", uninterrupted)


def test_the_state_is_plain_json(begun):
    folder = list_checkpoints(begun)[0][1]
    state = json.loads((folder / "state.json").read_text())
    assert state["update"] == 2 and state["training"]["updates"] == 6
    for name in ("model.safetensors", "optimizer.safetensors"):
        assert safetensors.torch.load_file(folder / name)
