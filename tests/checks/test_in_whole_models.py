"""Known mistakes made in the whole model: only while they are made, and nothing else changes."""

from __future__ import annotations

import pytest

from transformer_book import decoder_cache
from transformer_book.checks.in_whole_models import PLACES, load, made, names, recorded
from transformer_book.recipes import load_recipe, recipe_from_dict
from transformer_book.runs.experiment import Experiment
from transformer_book.training import Trainer

pytestmark = pytest.mark.usefixtures("unhooked")

FEW = ["data.train=40", "data.validation=12", "training.updates=3"]


def trained() -> tuple[Trainer, list[str]]:
    """A model after three updates, and what it writes."""
    experiment = Experiment(load_recipe("ablation-baseline", FEW))
    trainer = experiment.trainer()
    trainer.fit()
    written = experiment.translator(trainer.model).translate(["ein Hund schläft ."], max_length=5)
    return trainer, written


@pytest.fixture(scope="module")
def right() -> list[float]:
    return [record["loss"] for record in trained()[0].history]


def losses() -> list[float]:
    return [record["loss"] for record in trained()[0].history]


@pytest.mark.parametrize("component", PLACES)
def test_the_right_steps_put_in_the_same_way_change_nothing(component, right) -> None:
    with made(component, None):
        assert losses() == pytest.approx(right, rel=1e-5)


@pytest.mark.parametrize("name", names())
def test_a_mistake_is_made_inside_and_gone_outside(name, right) -> None:
    wrong = load(name)
    with made(wrong.component, wrong.mistake):
        inside = losses()
    # The sizes of ε and of Bessel's correction are small; the second update shows every mistake.
    assert max(abs(a - b) for a, b in zip(inside, right, strict=True)) > 1e-5
    assert losses() == right


def test_a_mistake_is_gone_after_an_error(right) -> None:
    with pytest.raises(RuntimeError), made("merge_heads", "heads merged without permuting back"):
        raise RuntimeError
    assert losses() == right


def test_a_wrong_model_is_decoded_without_the_cache() -> None:
    model = Experiment(load_recipe("ablation-baseline", FEW)).new_model()
    assert decoder_cache.can_be_cached(model)
    with made("make_stack", "[layer] * N"):
        assert not decoder_cache.can_be_cached(model)


def test_what_cannot_be_made_is_told() -> None:
    with pytest.raises(ValueError, match="component"), made("perplexity", "losses summed"):
        pass
    with pytest.raises(ValueError, match="heads merged"), made("merge_heads", "heads merged"):
        pass
    with (
        pytest.raises(ValueError, match="before"),
        made("training_update", "two steps in one update"),
    ):
        pass
    with pytest.raises(ValueError, match="one-layer-n-times"):
        load("one-layer")


# --- the recorded runs ----------------------------------------------------------------------------


def test_every_recipe_with_a_mistake_was_recorded_with_three_seeds() -> None:
    seeds = {name: [run["seed"] for run in runs] for name, runs in recorded().items()}
    assert seeds == {name: [1, 2, 3] for name in names()}


@pytest.mark.parametrize("name", names())
def test_a_recorded_run_is_one_of_the_present_recipe(name: str) -> None:
    baseline = load_recipe("ablation-baseline")
    for run in recorded()[name]:
        wrong = load(name, [f"training.seed={run['seed']}"])
        # An option that came later has its default in runs that were recorded before.
        assert (recipe_from_dict(run["settings"]), run["component"], run["mistake"]) == (
            wrong.recipe,
            wrong.component,
            wrong.mistake,
        ), f"{name} has changed: run python tools/record_ablations.py --mistakes"
        assert wrong.recipe.model == baseline.model  # the mistake is the only change
        assert run["diverged"] or run["updates"] == baseline.training["updates"]
        assert run["diverged"] or 0 <= run["exact_match"]["value"] <= 1


def test_recorded_runs_are_those_of_the_baselines_data() -> None:
    baseline = load_recipe("ablation-baseline")
    for name in names():
        recipe = load(name).recipe
        assert (recipe.task, recipe.data, recipe.tokens, recipe.training, recipe.decoding) == (
            baseline.task,
            baseline.data,
            baseline.tokens,
            baseline.training,
            baseline.decoding,
        )
        assert len(recipe.description) <= 100


def test_changes_reach_the_recipe() -> None:
    assert load("softmax-twice", ["training.updates=7"]).recipe.training["updates"] == 7
