"""A recipe becomes pairs, vocabularies, a model and a run; each recipe of the book trains."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests import made_data, small
from tests.fresh import fresh_package
from transformer_book.recipes import names
from transformer_book.tokens import SPECIALS, UNK


@pytest.fixture(autouse=True, scope="module")
def book(tmp_path_factory) -> Iterator[SimpleNamespace]:
    """The package without the hook that checks annotations: the captions' grammar makes millions of
    short calls. Its corpora are made ones."""
    modules = ("recipes", "runs.experiment", "tasks", "training", "weights.checkpoints")
    folder = tmp_path_factory.mktemp("data")
    with small.one_thread(), fresh_package(), pytest.MonkeyPatch.context() as patch:
        made_data.write_corpora(folder)
        made_data.provide(patch, folder)
        yield SimpleNamespace(
            **{n.split(".")[-1]: importlib.import_module(f"transformer_book.{n}") for n in modules}
        )


def small_changes(recipe: Any) -> list[str]:
    """Few pairs, few updates; a narrow model in place of one that takes seconds an update."""
    size = "batch_size=8" if recipe.training["batch_size"] else "max_tokens=500"
    changes = ["data.train=100", "data.validation=10", "training.updates=8", f"training.{size}"]
    changes += [f"training.warmup={min(2, recipe.training['warmup'])}"]
    if recipe.model["d_model"] > 64:
        changes += ["model.d_model=32", "model.d_ff=64"]
    if recipe.task.get("size") == "long":  # two hundred tokens a pair
        changes += ["data.train=32", "data.validation=4"]
    return changes


@pytest.mark.parametrize("name", names())
def test_a_recipe_trains_and_its_loss_falls(book, name):
    recipe = book.recipes.load_recipe(name)
    recipe = book.recipes.load_recipe(name, small_changes(recipe))
    task = book.tasks.make_task(**recipe.task)
    taught = recipe.data.teachers > 0  # what they would have made
    made = [book.tasks.texts_of(task, pair) for pair in task.pairs("validation", n=9)] * taught
    experiment = book.experiment.Experiment(recipe, made)
    trainer = experiment.trainer()
    assert len(trainer.train) == recipe.data.train + len(made)
    size = {"batch_size": 50}
    before = book.training.mean_loss(trainer.model, trainer.train, **size)
    assert trainer.fit()
    assert [record["update"] for record in trainer.history] == list(range(1, 9))
    assert book.training.mean_loss(trainer.model, trainer.train, **size) < 0.97 * before
    # And the model takes text and gives text.
    pair = experiment.task.pairs("validation", n=1)[0]
    source = experiment.task.source_tokenizer.detokenize(pair.source)
    (found,) = experiment.translator(trainer.model).search([source], max_length=3)
    assert len(found.tokens) <= 3 and len(found.source_tokens) > 1


@pytest.fixture
def experiment(book):
    """A function that makes the experiment of a recipe with few pairs, and changes."""

    def make(*changes: str, name: str = "copy") -> Any:
        few = ["data.train=60", "data.validation=20", "training.updates=3", "training.warmup=0"]
        return book.experiment.Experiment(book.recipes.load_recipe(name, [*few, *changes]))

    return make


def test_an_experiment_draws_what_the_recipe_says(book, experiment):
    copies = experiment("data.seed=4", "task.min_length=3")
    task = book.tasks.make_task("copy", min_length=3)
    expected = [(pair.source, pair.target) for pair in task.pairs("train", n=60, seed=4)]
    found = copies.dataset("train")
    vocabulary = copies.vocabularies[0]
    assert [tuple(vocabulary.decode(source)) for source, _ in found] == [s for s, _ in expected]
    assert [tuple(vocabulary.decode(target)) for _, target in found] == [t for _, t in expected]
    assert len(copies.dataset("validation")) == 20
    assert len(copies.dataset("validation", n=7)) == len(copies.dataset("train", n=7)) == 7


def test_the_vocabulary_has_seen_the_training_split_only(experiment):
    captions = experiment(name="captions-small")
    pairs = captions.task.pairs("train", n=60, seed=captions.recipe.data.seed)
    source, target = captions.vocabularies
    assert set(source.tokens) - set(SPECIALS) == {t for pair in pairs for t in pair.source}
    assert set(target.tokens) - set(SPECIALS) == {t for pair in pairs for t in pair.target}
    validation = [i for source, _ in captions.dataset("validation") for i in source]
    assert UNK in validation
    assert captions.model_config.source_vocab_size == len(source)
    assert captions.model_config.target_vocab_size == len(target)


@pytest.mark.parametrize("joint", ["true", "false"])
@pytest.mark.parametrize("kind", ["words", "subwords"])
def test_tokens_and_vocabularies_are_made_of_the_training_split_alone(
    experiment, kind, joint, monkeypatch
):
    changes = [f"tokens.kind={kind}", "tokens.vocab_size=150", f"tokens.joint={joint}"]
    captions = experiment(*changes, name="captions-small")
    asked, pairs = [], type(captions.task).pairs

    def spied(self, split="train", n=1000, seed=0):
        asked.append((split, n, seed))
        return pairs(self, split, n, seed)

    monkeypatch.setattr(type(captions.task), "pairs", spied)
    assert captions.tokenizers and captions.vocabularies
    assert (captions.known_words is None) == (kind == "words")
    assert set(asked) == {("train", 60, captions.recipe.data.seed)}


def test_vocabularies_are_limited_and_joined(experiment):
    few = experiment("tokens.max_size=40", name="captions-small")
    assert list(map(len, few.vocabularies)) == [40, 40]
    frequent = experiment("tokens.min_frequency=5", name="captions-small")
    assert all(frequent.vocabularies[0].counts[t] >= 5 for t in frequent.vocabularies[0].tokens[4:])
    joint = experiment("tokens.joint=true", "model.tie_embeddings=all", name="captions-small")
    assert joint.vocabularies[0] is joint.vocabularies[1]
    assert {"Hund", "dog"} <= set(joint.vocabularies[0].tokens)
    model = joint.new_model()
    assert model.source_embedding.weight is model.output.weight


@pytest.mark.parametrize("joint", ["true", "false"])
def test_subwords(experiment, joint):
    changes = ["tokens.kind=subwords", "tokens.vocab_size=150", f"tokens.joint={joint}"]
    captions = experiment(*changes, "tokens.lowercase=true", name="captions-small")
    source, target = captions.vocabularies
    assert (source is target) == (joint == "true")
    assert len(source) == len(target) == 150
    # All pieces have their number, so that a word that was never seen is spelled, not lost.
    encoded = captions.translator(captions.new_model()).encode("Ein Hundehaus.")
    ids, unknown = encoded.ids, encoded.unknown
    assert UNK not in ids and unknown == ()
    assert source.decode(ids)[0].startswith("▁e")
    pair = captions.task.pairs("train", n=1, seed=captions.recipe.data.seed)[0]
    text = captions.task.target_tokenizer.detokenize(pair.target)
    assert captions.tokenizers[1].detokenize(target.decode(captions.dataset("train")[0][1])) == (
        text.lower()
    )


@pytest.mark.parametrize("lowercase", [False, True])
def test_a_model_of_subwords_keeps_the_words_that_it_meets(experiment, lowercase):
    changes = ["tokens.kind=subwords", "tokens.vocab_size=150"]
    case = f"tokens.lowercase={str(lowercase).lower()}"
    captions = experiment(*changes, case, name="captions-small")
    pairs = captions.task.pairs("train", n=60, seed=captions.recipe.data.seed)
    for side in ("source", "target"):
        text = " ".join(getattr(pair, f"{side}_text") for pair in pairs)
        counts = Counter(re.findall(r"\w+", text.lower() if lowercase else text))
        expected = {word for word, n in counts.items() if n >= 3}
        assert getattr(captions.known_words, side) == expected and len(expected) < len(counts)
    translator = captions.translator(captions.new_model())
    assert translator.known_words is captions.known_words
    rare = () if lowercase else ("EIN",)
    assert translator.search(["EIN Eisvogel."], max_length=2)[0].rare == (*rare, "Eisvogel")


def test_long_pairs_are_left_out_or_an_error(experiment):
    some = experiment("task.min_length=1", "data.max_length=8")
    assert some.dataset("train").dropped > 0
    assert max(map(max, some.dataset("train").lengths)) <= 8
    with pytest.raises(ValueError, match="max_length is 6"):
        experiment("model.max_length=6").dataset("train")


def test_sources_may_begin_with_sos(experiment):
    assert experiment("tokens.source_sos=true").dataset("train")[0][0][0] == 1
    assert experiment().dataset("train")[0][0][0] != 1


def test_a_new_model_depends_on_the_seed_and_on_nothing_else(book, experiment):
    torch.manual_seed(5)
    state = torch.get_rng_state()
    one = experiment().new_model()
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(6)
    small.assert_same_weights(experiment().new_model(), one)
    other = book.checkpoints.weights_of(experiment("training.seed=2").new_model())
    name = "target_embedding.weight"
    assert not torch.equal(other[name], book.checkpoints.weights_of(one)[name])


def test_a_trainer_takes_a_given_model_and_options(book, experiment, tmp_path):
    copies = experiment()
    model = copies.new_model()
    trainer = copies.trainer(model, folder=tmp_path, save_seconds=5.0)
    assert trainer.model is model and trainer.folder == tmp_path and trainer.save_seconds == 5
    assert trainer.config == book.training.TrainingConfig(**copies.recipe.training)


def test_the_translator_knows_its_recipe(experiment):
    copies = experiment("decoding.beam_size=3", "tokens.source_sos=true")
    translator = copies.translator(copies.new_model())
    assert translator.recipe == copies.recipe.to_dict()
    assert translator.decoding.beam_size == 3
    assert translator.encode("a b").ids[0] == 1
