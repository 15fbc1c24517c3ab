"""The bench without its page: first weights, tasks, runs that change and are taken up, files."""

from __future__ import annotations

import io
import json
import re
import subprocess
import zipfile
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import pytest
import torch
from browser_parity import node as node_here
from record_bench import CAPTIONS, captions_module

from tests.javascript.test_backward import configuration
from transformer_book.recipes import load_recipe
from transformer_book.runs.experiment import Experiment
from transformer_book.training import TrainingConfig
from transformer_book.transformer import Transformer, TransformerConfig
from transformer_book.translator import Translator

SCRIPT = Path(__file__).with_name("bench.mjs")
SMALL = {"d_model": 16, "d_ff": 16, "batch_size": 8, "max_length": 4}
OWN = {"task", "layers", "padding_mask", "shift", "optimizer", "mistake", "min_length"}


def ask(operation: str, **job: Any) -> Any:
    asked = json.dumps([{"operation": operation, **job}])
    command = [node_here(), "--no-warnings", str(SCRIPT)]
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)[0]


def test_the_settings_have_the_names_of_the_recipes() -> None:
    table = ask("table")
    known = {each.name for kind in (TransformerConfig, TrainingConfig) for each in fields(kind)}
    assert set(table["values"]) - OWN <= known and set(table["values"]) >= OWN
    for d_model in table["values"]["d_model"]:
        assert all(d_model % heads == 0 for heads in table["values"]["n_heads"])


def test_first_weights_are_those_of_the_package() -> None:
    """The same names and shapes; and of what is drawn the mean, the variance and the bound."""
    asked = [configuration(seed) for seed in range(24)]
    found = ask("initial", configurations=[options for options, _ in asked])
    for (options, config), parameters in zip(asked, found, strict=True):
        model = Transformer(config)
        own = {name: tuple(p.shape) for name, p in model.named_parameters()}
        if options["norm"] == "none":
            own = {name: shape for name, shape in own.items() if "norm" not in name}
        assert {name: tuple(shape) for name, shape, *_ in parameters} == own
    wide = {"d_model": 64, "d_ff": 128, "n_encoder_layers": 1, "n_decoder_layers": 1}
    for scheme in ("xavier", "scaled_normal"):
        config = TransformerConfig(30, 30, **wide, max_length=8, initialization=scheme)
        (parameters,) = ask("initial", configurations=[asdict(config)])
        model = dict(Transformer(config).named_parameters())
        for name, shape, mean, square, largest in parameters:
            right = model[name].detach()
            if right.dim() == 1:
                assert (mean, square) == (float(right.mean()), float(right.square().mean()))
                continue
            n, variance = right.numel(), 2 / sum(shape) if scheme == "xavier" else 1 / shape[1]
            assert abs(mean) < 5 * (variance / n) ** 0.5, name
            assert abs(square / variance - 1) < 6 * (2 / n) ** 0.5, name
            bound = (3 * variance) ** 0.5
            assert (0.97 * bound < largest < bound * 1.0001) == (scheme == "xavier"), name


def added(source: str) -> str:
    return str(sum(map(int, source.split("+"))))


@pytest.mark.parametrize(
    ("task", "right"),
    [
        ("copy", str),
        ("reverse", lambda source: source[::-1]),
        ("sort", lambda source: "".join(sorted(source))),
        ("addition", added),
    ],
)
def test_pairs_are_right_and_their_splits_apart(task: str, right: Callable[[str], str]) -> None:
    lengths = {"task": task, "min_length": 2, "max_length": 5}
    found = ask("pairs", lengths=lengths, n=300)
    for source, target in found["train"] + found["validation"]:
        assert target == right(source)
        assert len(source) <= 5 and (task == "addition" or len(source) >= 2)
    sources = {split: {source for source, _ in found[split]} for split in ("train", "validation")}
    assert found["split"] and not sources["train"] & sources["validation"]
    assert len(sources["validation"]) == len(found["validation"]) >= 200
    assert len({len(source) for source in sources["train"]}) >= 3


def test_a_run_that_is_taken_up_goes_on_as_it_would_have() -> None:
    for settings in ({"dropout": 0.1}, {"optimizer": "sgd"}, {"mistake": "not_cleared"}):
        went_on, resumed = ask("resumed", settings=SMALL | settings, updates=4)
        assert went_on == resumed and len(set(went_on)) == 4


def test_a_run_survives_every_switch() -> None:
    """What is taken away and given back has kept its numbers: the loss has not begun again."""
    changes = [
        {"norm": "none"}, {"norm": "post"}, {"norm": "pre"}, {"positions": "learned"},
        {"positions": "sinusoidal"}, {"feed_forward": False}, {"feed_forward": True},
        {"tie_embeddings": "all"}, {"tie_embeddings": "none"}, {"tie_embeddings": "decoder"},
        {"n_heads": 8}, {"n_heads": 2}, {"optimizer": "sgd"}, {"optimizer": "adam"},
    ]  # fmt: skip
    found = ask("changed", changes=changes, updates=3)
    assert all(len(each["losses"]) == 3 for each in found)
    first = found[0]["losses"][0]
    assert found[-1]["losses"][-1] < first
    (there_and_back,) = [ask("changed", changes=[{"norm": "none"}, {"norm": "pre"}], updates=1)]
    (as_it_was,) = [ask("changed", changes=[{}, {}], updates=1)]
    assert there_and_back[0] == as_it_was[0] and there_and_back[1] != as_it_was[1]


def test_every_gradient_mistake_changes_the_course_and_no_first_loss() -> None:
    names = ask("table")["values"]["mistake"]
    right, *wrong = (
        ask("train", settings={"mistake": name}, updates=4)["losses"] for name in names
    )
    assert all(losses[0] == right[0] for losses in wrong)
    assert len({losses[-1] for losses in [right, *wrong]}) == len(names)


def test_a_run_stops_before_its_weights_are_no_numbers() -> None:
    settings = SMALL | {"optimizer": "sgd", "learning_rate": 1, "clip_norm": 0, "norm": "none"}
    settings |= {"warmup": 0, "schedule": "constant", "score_scale": 1, "batch_size": 16}
    found = ask("train", settings=settings | {"residual": True, "d_model": 64}, updates=300)
    assert re.fullmatch(r"The (loss|gradient) of update \d+ is not a number\.", found["error"])


def test_the_recipe_of_a_run_is_one_that_the_package_trains(tmp_path: Path) -> None:
    settings = {"task": "reverse", "n_heads": 4, "tie_embeddings": "all", "score_scale": 1}
    settings |= {"positions": "learned", "layers": 2, "warmup": 10}
    found = ask("recipe", settings=settings)
    path = tmp_path / "recipe.toml"
    path.write_text(found["toml"], encoding="utf-8")
    experiment = Experiment(load_recipe(path))
    assert found["not"] == [] and experiment.task.kind == "reverse"
    config = experiment.model_config
    assert (config.n_heads, config.n_decoder_layers, config.score_scale) == (4, 2, 1)
    assert (config.positions, config.tie_embeddings) == ("learned", "all")
    assert experiment.training.warmup == 10
    assert len(experiment.dataset("validation")) > 100
    for change in ({"padding_mask": False}, {"norm": "none"}, {"task": "addition"}):
        assert len(ask("recipe", settings=change)["not"]) == 1


@pytest.mark.parametrize("tie", ["none", "decoder", "all"])
def test_python_says_what_the_bench_says(tie: str, tmp_path: Path) -> None:
    """The folder that the page saves, opened by the package."""
    settings = SMALL | {"tie_embeddings": tie, "norm": "post", "warmup": 5}
    found = ask("folder", settings=settings, updates=80)
    with zipfile.ZipFile(io.BytesIO(b64decode(found["zip"]))) as packed:
        assert packed.testzip() is None
        packed.extractall(tmp_path)
    assert found["same"] and (tmp_path / "recipe.toml").is_file()
    translator = Translator.from_pretrained(tmp_path)
    sources, said = zip(*found["pairs"], strict=True)
    with torch.no_grad():
        own = [each.text for each in translator.search(sources, beam_size=1)]
    # With equal scores rounding decides.
    agree = sum(a == b for a, b in zip(own, said, strict=True))
    assert agree >= len(said) - 2 and len(set(said)) > 3


def test_a_run_that_was_saved_goes_on_as_it_would_have() -> None:
    """To the last bit; from its weights alone it does not."""
    for settings in (SMALL | {"schedule": "constant"}, SMALL | {"dropout": 0.1, "norm": "post"}):
        found = ask("reopened", settings=settings, updates=4)
        assert found["zip"] == found["went_on"] != found["weights"]
        assert "checkpoints/00000004/optimizer.safetensors" in found["names"]
    for settings in ({"optimizer": "sgd"}, {"task": "sort"}, {"norm": "none"}):
        names = ask("reopened", settings=SMALL | settings, updates=1)["names"]
        assert not any(name.startswith(("checkpoints", "recipe")) for name in names)


def test_files_that_are_no_run_are_refused_in_one_sentence() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("run/state.json", "{}")
    whole = packed.getvalue()
    cases = {
        "There is no model.safetensors": {"state.json": b"{}"},
        "Of a checkpoint the page needs all three": {"model.safetensors": b"", "state.json": b"{}"},
        "state.json is damaged": {"state.json": b"{"},
        "The ZIP file is cut off or damaged": {"a.zip": whole[:-30]},
        "The file of the weights cannot be read: it is cut off": {"model.safetensors": b"12"},
        "The model has the activation gelu": {
            "model.safetensors": b"",
            "config.json": b'{"model": {"activation": "gelu"}}',
        },
        "The run has batch size 7, and the bench has only": {
            "model.safetensors": b"",
            "optimizer.safetensors": b"",
            "state.json": b'{"training": {"batch_size": 7}}',
        },
    }
    damaged = bytearray(whole)
    damaged[whole.index(b"PK\x01\x02") + 42] = 255  # where the file begins
    cases["The ZIP file is cut off or damaged, or"] = {"a.zip": bytes(damaged)}
    cases["Of a checkpoint the page needs"] = {"a.zip": whole, "model.safetensors": b""}
    for sentence, files in cases.items():
        encoded = {name: b64encode(data).decode() for name, data in files.items()}
        assert ask("refused", files=encoded).startswith(sentence), files


def test_embeddings_are_seen_from_where_they_differ_most() -> None:
    """The two principal components, and a picture that does not turn over between two of a run."""
    with torch.random.fork_rng():
        torch.manual_seed(4)
        rows = torch.randn(9, 16, dtype=torch.float64) * torch.linspace(4, 0.5, 16).double()
    first, second = ask("projected", rows=rows.tolist())
    centred = rows - rows.mean(dim=0)
    values = torch.linalg.svdvals(centred) ** 2
    assert first["share"] == pytest.approx(float(values[:2].sum() / values.sum()), rel=1e-3)
    axes, points = (torch.tensor(first[name], dtype=torch.float64) for name in ("axes", "points"))
    torch.testing.assert_close(axes @ axes.T, torch.eye(2, dtype=torch.float64))
    torch.testing.assert_close(centred @ axes.T, points)
    turned = -torch.tensor(second["points"], dtype=torch.float64)
    torch.testing.assert_close(turned, points, atol=0.01, rtol=0.01)  # sixty rounds further


def test_captions_are_those_of_the_package(tmp_path: Path) -> None:
    """The file, the ids of the words, and what a model says, here and in Python."""
    text = CAPTIONS.read_bytes()
    assert text.decode("utf-8") == captions_module() and len(text) <= 300_000
    settings = {"task": "captions", "d_model": 16, "d_ff": 16, "batch_size": 16, "updates": 100}
    found = ask("folder", settings=settings, updates=60)
    with zipfile.ZipFile(io.BytesIO(b64decode(found["zip"]))) as packed:
        packed.extractall(tmp_path)
    experiment = Experiment(load_recipe(tmp_path / "recipe.toml"))
    translator = Translator.from_pretrained(tmp_path)
    assert translator.source_vocabulary.tokens == experiment.vocabularies[0].tokens
    sources, said = zip(*found["pairs"], strict=True)
    own = [each.text for each in translator.search(sources, beam_size=1)]
    assert sum(a.replace(".", " .") == b for a, b in zip(own, said, strict=True)) >= len(said) - 2
    assert len(set(said)) > 3


def test_what_stands_in_an_address_is_read_and_what_is_wrong_is_said() -> None:
    found = ask("address", search="?task=sort&score_scale=1&beside=1&b.score_scale=root&go=1")
    assert found["go"] and found["problems"] == []
    assert found["differ"] == [
        ["task: sort: cab → abc", "scale of the scores: none"],
        ["task: sort: cab → abc"],
    ]
    assert ask("address", search=found["again"])["differ"] == found["differ"]
    odd = ask("address", search="?layers=9000&constructor=1&norm=<b>")
    assert odd["differ"] == [[]] and len(odd["problems"]) == 3
