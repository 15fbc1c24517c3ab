"""`recipes` and `models`: what they list is what comes with the book."""

from __future__ import annotations

import json
import shutil

from tests.cli.small import TINY, refused, settings


def test_recipes_lists_every_recipe(call, book):
    about = {name: book.recipes.description(name) for name in book.recipes.names()}
    lines = call("recipes").out.splitlines()
    assert [line.split()[0] for line in lines] == list(about)
    assert all(line.endswith(one) for line, one in zip(lines, about.values(), strict=True))
    assert json.loads(call("recipes", "--json").out) == about
    recipe = json.loads(call("recipes", "copy", "--json").out)
    assert recipe == book.recipes.load_recipe("copy").to_dict()
    assert recipe["model"]["norm"] and recipe["task"]["min_length"]  # defaults are filled in


def test_a_printed_recipe_is_one(call, tmp_path):
    printed = call("recipes", "copy")
    assert printed.status == 0
    (tmp_path / "mine.toml").write_text(printed.out)
    assert call("recipes", "mine.toml").out == printed.out
    changes = TINY | {"training.updates": 3}
    answer = call("train", "mine.toml", "--threads", 1, *settings(changes))
    assert answer.status == 0 and answer.out.startswith("mine: task copy")
    assert (tmp_path / "runs" / "mine" / "model.safetensors").exists()  # the default folder


def test_every_recipe_survives_being_printed(book, tmp_path):
    for name in book.recipes.names():
        recipe = book.recipes.load_recipe(name)
        (tmp_path / f"{name}.toml").write_text(book.recipes.to_toml(recipe), encoding="utf-8")
        assert book.recipes.load_recipe(tmp_path / f"{name}.toml") == recipe
        assert book.recipes.recipe_from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe


def test_models_lists_what_is_shipped(call, book, monkeypatch, model, tmp_path):
    monkeypatch.setattr(book.pretrained, "FOLDER", tmp_path / "pretrained")
    assert call("models").out == "This version of the book comes without trained models.\n"
    sentence = refused(call("translate", "copier", "a"))
    assert sentence == "There is no folder 'copier', and the book has no model."
    shutil.copytree(model, tmp_path / "pretrained" / "copies")
    first = call("models").out
    loaded = book.checkpoints.load_tensors(model / "model.safetensors")[0]
    n = sum(tensor.numel() for tensor in loaded.values())
    size = (model / "model.safetensors").stat().st_size / 1e6
    assert first == (
        f"copies: task copy (kind=copy, min_length=2, max_length=3), {n:,} parameters, "
        f"{size:.1f} MB\n"
    )
    assert call("evaluate", "copies", "-n", 4).status == 0
    (result,) = json.loads((tmp_path / "pretrained" / "copies" / "results.json").read_text())
    exact = result["exact_match"]
    assert call("models").out == (
        f"{first}    validation, 4 pairs: exact match {100 * exact['value']:.1f} ± "
        f"{100 * exact['error']:.1f} %, perplexity {result['perplexity']['value']:.3f}\n"
    )
    assert "did you mean 'copies'?" in refused(call("translate", "copier", "a"))
    assert call("translate", "copies", "a b") == call("translate", model, "a b")
    (tmp_path / "pretrained" / "copies" / "model.safetensors").write_bytes(b"half")
    assert "does not hold a model of this book" in refused(call("models"))
