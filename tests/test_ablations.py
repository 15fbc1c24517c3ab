"""The recorded ablations: what chapter 16 shows is what the committed recipes gave."""

from __future__ import annotations

import json

import pytest
import record_ablations
import record_today

from tests import small
from transformer_book import recipes
from transformer_book.recipes import (
    load_recipe,
    names,
    recipe_from_dict,
    recorded_ablations,
    recorded_today,
)
from transformer_book.runs import evaluation
from transformer_book.tasks.copy import CopyTask

ABLATIONS = [name for name in names() if name.startswith("ablation-")]


def test_every_ablation_was_recorded_with_three_seeds() -> None:
    seeds = {name: [run["seed"] for run in runs] for name, runs in recorded_ablations().items()}
    assert seeds == {name: [1, 2, 3] for name in ABLATIONS}


@pytest.mark.parametrize("name", ABLATIONS)
def test_a_recorded_run_is_one_of_the_present_recipe(name: str) -> None:
    for run in recorded_ablations()[name]:
        recipe = load_recipe(name, [f"training.seed={run['seed']}"])
        # An option that came later has its default in runs that were recorded before.
        assert recipe_from_dict(run["settings"]) == recipe, (
            f"{name} has changed since it was recorded: run python tools/record_ablations.py"
        )
        assert run["diverged"] or run["updates"] == recipe.training["updates"]
        assert run["diverged"] or 0 <= run["exact_match"]["value"] <= 1


TODAY = sorted(path.stem for path in (recipes.FOLDER / "today").glob("*.toml"))


def test_every_recipe_of_today_was_recorded_with_three_seeds() -> None:
    seeds = {name: [run["seed"] for run in runs] for name, runs in recorded_today().items()}
    assert seeds == {name: [1, 2, 3] for name in TODAY}


@pytest.mark.parametrize("name", TODAY)
def test_a_recorded_run_of_today_is_one_of_the_present_recipe(name: str) -> None:
    for run in recorded_today()[name]:
        path = recipes.FOLDER / "today" / f"{name}.toml"
        recipe = load_recipe(path, [f"training.seed={run['seed']}"])
        assert recipe_from_dict(run["settings"]) == recipe, (
            f"{name} has changed since it was recorded: run python tools/record_today.py"
        )
        assert run["updates"] == recipe.training["updates"]
        looks = [result["split"] for result in run.get("results", ())]
        whole = not name.startswith(("length-", *record_today.VALIDATION_ONLY))
        assert looks == (["test", "compositional"] if whole else [])
        assert ("by_length" in run) == name.startswith("length-")


@pytest.mark.parametrize(
    "compared",
    [
        (
            "two-stacks",
            "causal",
            "prefix",
            "source-loss",
            "length-rotary",
            "part-swiglu",
            "part-grouped-wide",
            "part-multi-query-wide",
        ),
        [name for name in TODAY if name.startswith("series-")],
    ],
)
def test_the_stacks_have_as_many_parameters(compared) -> None:
    """Within two per cent: what is compared is how they are put together."""
    runs = recorded_today()
    sizes = [runs[name][0]["parameters"] for name in compared]
    assert len(sizes) > 1 and max(sizes) < 1.02 * min(sizes)


def test_an_ablation_differs_from_the_baseline_in_one_setting() -> None:
    def settings(name: str) -> dict[tuple[str, str], object]:
        data = load_recipe(name).to_dict()
        return {(s, key): data[s][key] for s in recipes.SECTIONS for key in data[s]}

    baseline = settings("ablation-baseline")
    for name in ABLATIONS:
        changed = [key for key, value in settings(name).items() if value != baseline[key]]
        assert len(changed) == (name != "ablation-baseline"), (name, changed)


def test_runs_come_by_recipe_and_in_the_order_of_seeds(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(recipes, "FOLDER", tmp_path)
    recorded = [{"recipe": "b", "seed": 2}, {"recipe": "a", "seed": 1}, {"recipe": "b", "seed": 1}]
    (tmp_path / "ablations.json").write_text(json.dumps(recorded), encoding="utf-8")
    runs = recorded_ablations()
    assert {name: [run["seed"] for run in runs[name]] for name in runs} == {"b": [1, 2], "a": [1]}


def test_an_ablation_reads_nothing_off_the_test_split(monkeypatch) -> None:
    few = ["data.train=40", "data.validation=8", "training.updates=1", "training.warmup=0"]
    splits, pairs = [], CopyTask.pairs

    def asked(self, split="train", *args, **options):
        splits.append(split)
        return pairs(self, split, *args, **options)

    def measure(translator, split="validation", *, n=1000):
        splits.append(split)
        return dict.fromkeys(("exact_match", "torch", "hardware")) | {"n": n}

    monkeypatch.setattr(CopyTask, "pairs", asked)
    monkeypatch.setattr(evaluation, "evaluate", measure)
    with small.one_thread():
        entry, _ = record_ablations.run("copy", load_recipe("copy", few), threads=1)
    assert entry["n"] == 500 and set(splits) == {"train", "validation"}


def test_a_run_is_recorded_once_and_in_order(tmp_path) -> None:
    path, made = tmp_path / "record.json", []

    def make(name: str, seed: int, n: int):
        def run() -> dict:
            made.append((name, seed))
            return {"recipe": name, "seed": seed, "settings": {"n": n}, "exact_match": 0.5}

        return run

    for name, seed, n in (("b", 1, 1), ("a", 2, 2), ("b", 1, 1), ("b", 1, 3)):
        record_ablations.record_once(path, ["a", "b"], {"settings": {"n": n}}, make(name, seed, n))
    assert made == [("b", 1), ("a", 2), ("b", 1)], "what stands there is not made again"
    kept = [(run["recipe"], run["settings"]["n"]) for run in json.loads(path.read_text())]
    assert kept == [("a", 2), ("b", 3)], "a changed recipe takes the place of the old one"
