"""Recipes are complete, change as they are told to, and mistakes in them are named."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from transformer_book.architectures import SIZES, kind_of
from transformer_book.recipes import (
    SECTIONS,
    DataConfig,
    DecodingConfig,
    TokensConfig,
    changed,
    description,
    load_recipe,
    names,
    recipe_from_dict,
    to_toml,
    value_of,
)
from transformer_book.tasks import make_task
from transformer_book.training import TrainingConfig


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


SHORTEST = '[task]\nname = "copy"\n[training]\nupdates = 3\nbatch_size = 4\n'
"""What a recipe must say."""


# --- the recipes of the book ----------------------------------------------------------------------


def test_there_are_recipes():
    assert {"copy", "copy-untrained", "captions-de-en", "captions-en-it"} <= set(names())
    assert names() == sorted(names())


@pytest.mark.parametrize("name", names())
def test_a_recipe_is_complete(name):
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.description == description(name) and len(recipe.description) <= 100
    assert recipe.training.keys() == {field.name for field in fields(TrainingConfig)}
    kind = kind_of(recipe.model)
    named = {"architecture"} & recipe.model.keys()
    assert recipe.model.keys() - named == {f.name for f in fields(kind)} - {*SIZES[kind]}
    assert make_task(**recipe.task).to_dict() == recipe.task


@pytest.mark.parametrize("name", names())
def test_a_recipe_comes_back(name, tmp_path):
    recipe = load_recipe(name)
    assert recipe_from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe
    assert load_recipe(write(tmp_path / f"{name}.toml", to_toml(recipe))) == recipe


def test_listing_recipes_imports_little():
    code = """
import sys
from transformer_book import recipes
print(len([recipes.description(name) for name in recipes.names()]))
print([m for m in ("torch", "spacy", "sympy", "transformer_book.tasks.copy") if m in sys.modules])
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split("\n", 1)[0] == str(len(names()))
    assert done.stdout.split("\n", 1)[1].strip() == "[]"


# --- reading --------------------------------------------------------------------------------------


def test_the_shortest_recipe(tmp_path):
    recipe = load_recipe(write(tmp_path / "mine.toml", SHORTEST))
    assert recipe.name == "mine" and recipe.description == ""
    assert (recipe.data, recipe.tokens) == (DataConfig(), TokensConfig())
    assert recipe.decoding == DecodingConfig()
    assert recipe.training["updates"] == 3 and recipe.training["clip_norm"] == 1.0
    assert recipe.task["kind"] == "copy"
    with pytest.raises(FrozenInstanceError):
        recipe.name = "yours"


def test_a_recipe_changes_its_base(tmp_path):
    write(
        tmp_path / "a.toml", f'description = "first"\n{SHORTEST}[model]\nd_model = 64\nd_ff = 5\n'
    )
    write(tmp_path / "b.toml", 'base = "a.toml"\n[model]\nd_ff = 6\n[tokens]\njoint = true\n')
    (tmp_path / "deeper").mkdir()
    text = 'description = "third"\nbase = "../b.toml"\n[model]\nd_model = 32\n'
    recipe = load_recipe(write(tmp_path / "deeper" / "a.toml", text))
    assert recipe.name == "a" and recipe.description == "third"
    assert (recipe.model["d_model"], recipe.model["d_ff"]) == (32, 6)
    assert recipe.tokens.joint and recipe.training["updates"] == 3
    assert load_recipe(tmp_path / "b.toml").description == "first"


def test_a_recipe_may_carry_the_name_of_its_base(tmp_path):
    path = write(tmp_path / "copy.toml", 'base = "copy"\n[training]\nupdates = 77\n')
    recipe = load_recipe(path)
    assert recipe.training == {**load_recipe("copy").training, "updates": 77}


def test_bases_that_go_round_in_circles_are_refused(tmp_path):
    write(tmp_path / "a.toml", 'base = "b.toml"\n')
    write(tmp_path / "b.toml", 'base = "c.toml"\n')
    write(tmp_path / "c.toml", 'base = "a.toml"\n')
    write(tmp_path / "itself.toml", 'base = "itself.toml"\n')
    with pytest.raises(ValueError, match="recipe 'a' is based on itself: a → b → c → a"):
        load_recipe(tmp_path / "a.toml")
    with pytest.raises(ValueError, match="recipe 'itself' is based on itself: itself → itself"):
        load_recipe(tmp_path / "itself.toml")


def test_changes():
    changes = [
        "training.updates=7",
        "training.label_smoothing=0",
        "model.norm=post",
        "model.score_scale = 0.5",
        "training.batch_size=",
        "training.max_tokens=500",
        'task.kind="reverse"',
    ]
    recipe = load_recipe("copy", changes)
    assert recipe.training["updates"] == 7
    assert recipe.training["label_smoothing"] == 0.0
    assert isinstance(recipe.training["label_smoothing"], float)
    assert recipe.model["norm"] == "post" and recipe.model["score_scale"] == 0.5
    assert recipe.training["batch_size"] is None and recipe.training["max_tokens"] == 500
    assert recipe.task["kind"] == "reverse"
    data = load_recipe("copy").to_dict()
    assert changed(data, changes[:1])["training"]["updates"] == 7
    assert data == load_recipe("copy").to_dict()


def test_values_in_the_notation_of_toml():
    texts = {
        "3": 3,
        "1_000": 1000,
        "3e-4": 0.0003,
        "true": True,
        "[1, 2]": [1, 2],
        "post": "post",
        '"3"': "3",
        "a b": "a b",
        "": "",
    }
    for text, value in texts.items():
        assert value_of(text) == value and type(value_of(text)) is type(value)


# --- bad input ------------------------------------------------------------------------------------

MISTAKES = [
    (["task.nam=1"], "an option of the task 'copy' is 'nam'"),
    (["task.name=coppy"], "task is 'coppy', but it must be one of", "did you mean 'copy'?"),
    (["task.kind=revers"], "kind is 'revers'", "did you mean 'reverse'?"),
    (["trainig.updates=3"], "section is 'trainig'", "did you mean 'training'?"),
    (["training.update=3"], "training key 'update' is not known; did you mean 'updates'?"),
    (["model.d_modle=3"], "model key 'd_modle' is not known; did you mean 'd_model'?"),
    (["model.source_vocab_size=9"], "model key 'source_vocab_size' is not known"),
    (["data.trian=3"], "data key 'trian' is not known; did you mean 'train'?"),
    (["tokens.lower=true"], "tokens key 'lower' is not known; did you mean 'lowercase'?"),
    (["decoding.beams=3"], "decoding key 'beams' is not known; did you mean 'beam_size'?"),
    (["training.updates=many"], "training.updates is 'many', but it must be a whole number"),
    (["training.updates=1.5"], "training.updates is 1.5, but it must be a whole number"),
    (["training.updates=true"], "training.updates is True, but it must be a whole number"),
    (["training.learning_rate=high"], "training.learning_rate is 'high', but it must be a number"),
    (["model.bias=1"], "model.bias is 1, but it must be true or false"),
    (["model.norm=3"], "model.norm is 3, but it must be a string"),
    (["model.score_scale=small"], "model.score_scale is 'small', but it must be a number or left"),
    (["data.max_length=[1]"], "data.max_length is [1], but it must be a whole number or left out"),
    (["model.n_heads=3"], "d_model = 64 is not divisible by n_heads = 3"),
    (["model.norm=prenorm"], "norm is 'prenorm', but it must be one of pre, post"),
    (["training.learning_rate=-1"], "learning_rate is -1.0, but it must be a number above 0"),
    (["training.max_tokens=100"], "give exactly one of the two"),
    (["training.updates="], "does not say training.updates"),
    (["task.name="], "does not say task.name"),
    (["data.train=0"], "data.train is 0, but it must be a whole number of at least 1"),
    (["data.validation=-1"], "data.validation is -1"),
    (["data.max_length=2"], "data.max_length is 2, but it must be a whole number of at least 3"),
    (["tokens.kind=word"], "tokens.kind is 'word'", "did you mean 'words'?"),
    (["tokens.min_frequency=0"], "tokens.min_frequency is 0"),
    (["tokens.max_size=4"], "tokens.max_size is 4, but it must be a whole number of at least 5"),
    (["tokens.vocab_size=0"], "tokens.vocab_size is 0"),
    (["decoding.beam_size=0"], "decoding.beam_size is 0, but it must be at least 1"),
    (["decoding.length_penalty=-1"], "decoding.length_penalty is -1.0"),
    (["decoding.length_penalty=nan"], "decoding.length_penalty is nan"),
    (["decoding.max_length=0"], "decoding.max_length is 0, but it must be at least 1"),
    (["data.max_length=17"], "data.max_length is 17, but with model.max_length = 16", "at most 16"),
    (["decoding.max_length=16"], "decoding.max_length is 16, but", "at most 15"),
    (["model.tie_embeddings=all"], "tie_embeddings = 'all' needs one vocabulary: set tokens.joint"),
    (["updates=3"], "'updates=3' is not a change of a recipe: write section.key=value"),
    (["training.updates"], "'training.updates' is not a change of a recipe"),
    (["training.=3"], "'training.=3' is not a change of a recipe"),
]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake[0][0])
def test_a_mistake_is_named(unhooked, mistake):
    changes, *messages = mistake
    with pytest.raises(ValueError) as error:
        unhooked("transformer_book.recipes").load_recipe("copy", changes)
    assert all(message in str(error.value) for message in messages), str(error.value)
    assert "\n" not in str(error.value)


FILES = [
    ("trainig = 3", "recipe 'mine': section 'trainig' is not known; did you mean 'training'?"),
    ('name = "other"\n' + SHORTEST, "recipe 'mine': section 'name' is not known"),
    ("description = 3\n" + SHORTEST, "recipe 'mine': description is 3, but it must be a string"),
    ("training = 3\n[task]\nname = 'copy'", "training is 3, but it is a section"),
    ("base = 3\n" + SHORTEST, "recipe 'mine': base is 3, but it must be a string"),
    ('base = "coppy"', "recipe is 'coppy', but it must be one of"),
    ('base = "none.toml"', "There is no recipe"),
    ('[task]\nname = "copy"', "recipe 'mine' lacks the section [training]"),
    ("[training]\nupdates = 3", "recipe 'mine' lacks the section [task]"),
    ("[task]\n[training]\nupdates = 3", "does not say task.name"),
    ('[task]\nname = "copy"\n[training]\nbatch_size = 3', "does not say training.updates"),
    ("[task\n", "mine.toml is not TOML"),
]


@pytest.mark.parametrize(("text", "message"), FILES, ids=[message for _, message in FILES])
def test_a_bad_file_is_refused(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        load_recipe(write(tmp_path / "mine.toml", text))


def test_a_file_that_is_no_text_or_not_there(tmp_path):
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"mine\.toml is not TOML"):
        load_recipe(tmp_path / "mine.toml")
    with pytest.raises(ValueError, match=r"There is no recipe .*yours\.toml"):
        load_recipe(tmp_path / "yours.toml")
    with pytest.raises(
        ValueError, match=r"recipe is 'captions-de-em', .*did you mean 'captions-de"
    ):
        load_recipe("captions-de-em")


def test_a_dictionary_is_checked_like_a_file():
    data = load_recipe("copy").to_dict()
    with pytest.raises(ValueError, match=r"section 'modle' is not known; did you mean 'model'"):
        recipe_from_dict({**data, "modle": {}})
    with pytest.raises(ValueError, match="name is 3, but it must be a string"):
        recipe_from_dict({**data, "name": 3})
    for section in SECTIONS:
        with pytest.raises(ValueError, match=f"{section} is 'x', but it is a section"):
            recipe_from_dict({**data, section: "x"})


STEPS = {
    "subwords": ("tokens", "kind vocab_size joint lowercase"),
    "init": ("model", "initialization"),
    "tied": ("model", "tie_embeddings"),
    "smoothing": ("training", "label_smoothing"),
    "norm": ("model", "norm"),
    "adam": ("training", "beta2 epsilon"),
    "warmup": ("training", "learning_rate schedule warmup"),
    "narrow": ("model", "d_model n_heads n_encoder_layers n_decoder_layers d_ff"),
    "dropout": ("model", "dropout attention_dropout activation_dropout"),
    "long": ("training", "updates"),
    "sinusoidal": ("model", "positions"),
    "slow-warmup": ("training", "warmup"),
}


def flat(name: str) -> dict[str, object]:
    data = load_recipe(name).to_dict()
    return {f"{s}.{key}": value for s in SECTIONS for key, value in data[s].items()}


def test_each_step_from_the_tutorial_changes_what_it_says():
    before = flat("multi30k-tutorial")
    for step, (section, keys) in STEPS.items():
        after = flat(f"multi30k-tutorial-{step}")
        changed_keys = {key for key in after if after[key] != before[key]}
        assert changed_keys == {f"{section}.{key}" for key in keys.split()}, step
        before = after
    best = flat("multi30k-teacher")
    assert {key for key in best if best[key] != before[key]} == {
        *("training.batch_size", "training.max_tokens", "tokens.source_sos"),
        *("training.average", "training.validate_every", "model.max_length"),
        *("decoding.beam_size", "decoding.length_penalty", "decoding.max_length"),
        *("task.lowercase", "tokens.min_frequency", "tokens.lowercase"),  # text as it is written
    }
    lowered = flat("multi30k-lowercase")
    assert [key for key in best if best[key] != lowered[key]] == ["tokens.lowercase"]
    student = flat("multi30k-best")
    assert {key for key in best if best[key] != student[key]} == {
        *("data.teachers", "model.dropout"),
        *("training.max_tokens", "training.updates", "training.seed"),
    }


def test_a_recipe_asks_a_corpus_for_what_it_has():
    sizes = {"multi30k": (29000, 1014), "two-terms-public": (10072, 1185)}
    for name in names():
        recipe = load_recipe(name)
        series = recipe.task["name"] == "series"
        key = recipe.task.get("size") if series else recipe.task["name"]
        if key in sizes:
            assert (recipe.data.train, recipe.data.validation) == sizes[key], name
