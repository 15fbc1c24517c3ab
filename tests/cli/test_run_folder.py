"""The folder of a run: what a training may go on with, and what it leaves alone."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.small import TINY, files, left_by, refused, settings, tiny


def test_no_permission_is_found_before_the_data_are_made(call, book, monkeypatch, tmp_path):
    # Not by chmod: the account that runs the tests may be allowed everything.
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    monkeypatch.setattr("transformer_book.tasks.copy.CopyTask.pairs", pytest.fail)
    sentence = refused(call("train", "copy", "--output", "a/b"))
    assert sentence == f"--output is a/b, but {tmp_path} cannot be written to."
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_a_run_is_left_alone(call, own):
    before = files(own)
    sentence = refused(call(*tiny(own)))
    advice = "add --resume to go on with it, or choose another --output."
    assert sentence == f"{own} holds a run of 'copy', at update 20 of 20; {advice}"
    assert files(own) == before


RESUMED = [
    (["captions-small"], {}, "holds a run of 'copy', not of 'captions-small'; choose another"),
    (["copy"], {"model.d_model": 32}, "has model.d_model = 16, not 32; leave that --set out"),
    (["copy"], {"task.kind": "reverse"}, "has task.kind = 'copy', not 'reverse'"),
    (["copy"], {"data.train": 100}, "has data.train = 200, not 100"),
    (["copy"], {"decoding.beam_size": 3}, "has decoding.beam_size = 1, not 3"),
    (["copy"], {"training.updates": 30}, "has training.updates = 20, not 30"),  # linear schedule
    (["copy"], {"training.seed": 7}, "has training.seed = 1, not 7"),
]


@pytest.mark.parametrize(("recipe", "changes", "sentence"), RESUMED, ids=str)
def test_another_run_is_not_resumed(call, own, recipe, changes, sentence):
    before = files(own)
    command = ["train", *recipe, "--output", own, "--resume", *settings(changes)]
    assert sentence in refused(call(*command))
    assert files(own) == before


def test_a_file_that_was_changed_since_the_run_began_is_no_secret(call, tmp_path):
    (tmp_path / "mine.toml").write_text(call("recipes", "copy").out)
    changes = settings(TINY | {"training.updates": 3})
    assert call("train", "mine.toml", "--threads", 1, *changes).status == 0
    text = (tmp_path / "mine.toml").read_text()
    (tmp_path / "mine.toml").write_text(
        text.replace("label_smoothing = 0.0", "label_smoothing = 0.2")
    )
    answer = call("train", "mine.toml", "--resume", *changes)
    assert answer.status == 0
    assert answer.err == (
        "transformer-book: The run in runs/mine goes on as it began: "
        "training.label_smoothing = 0.0, where mine.toml has 0.2.\n"
    )
    (tmp_path / "mine.toml").unlink()
    assert refused(call("train", "mine.toml", "--resume")) == "There is no recipe mine.toml."


def test_the_command_of_the_beginning_may_be_repeated(call, own, whole):
    assert call(*tiny(own), "--resume").status == 0
    assert left_by(own) == whole


def test_a_run_can_be_made_longer_unless_its_end_decides(call, tmp_path):
    constant = {"training__schedule": "constant", "training__warmup": 0}
    assert call(*tiny(Path("short"), training__updates=10, **constant)).status == 0
    more = ["--output", "short", "--resume", "--set", "training.updates=20"]
    longer = call("train", "copy", *more)
    assert longer.status == 0, longer.err
    assert call(*tiny(Path("long"), **constant)).status == 0
    assert left_by(tmp_path / "short") == left_by(tmp_path / "long")
    configurations = [tmp_path / name / "config.json" for name in ("short", "long")]
    assert configurations[0].read_text() == configurations[1].read_text()


def test_data_that_have_changed_since_are_noticed(call, own):
    path = own / "source_vocabulary.json"
    path.write_text(path.read_text().replace('"a"', '"A"'))
    sentence = refused(call("train", "copy", "--output", own, "--resume"))
    assert "began with another source vocabulary" in sentence


def test_folders_that_are_no_run(call, own, tmp_path):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "config.json").write_text('{"mine": 1}')
    shutil.copytree(own, tmp_path / "lost")
    (tmp_path / "lost" / "config.json").unlink()
    shutil.copytree(own, tmp_path / "shipped")
    shutil.rmtree(tmp_path / "shipped" / "checkpoints")
    before = files(tmp_path)
    sentences = {
        "foreign": "foreign/config.json is not that of a run of a recipe",
        "lost": "lost holds a run, but its config.json is missing",
        "shipped": "shipped holds a trained model, and no checkpoint to go on from",
    }
    for name, sentence in sentences.items():
        for resume in ([], ["--resume"]):
            assert sentence in refused(call(*tiny(Path(name)), *resume))
    assert files(tmp_path) == before


def test_there_may_be_nothing_to_resume(call, tmp_path, whole):
    (tmp_path / "empty").mkdir()
    for name in ("absent", "empty"):
        answer = call(*tiny(Path(name)), "--resume")
        assert answer.status == 0
        assert f"There is no run in {name} yet: it starts from the beginning." in answer.out
        assert left_by(tmp_path / name) == whole
