"""What a page downloads to run a model: nothing that only training needs, and no more than before.

`BEFORE` are the sizes, gzipped, of the commit before the model in JavaScript learned to train
(4c4b31d): each with all that its scripts import. What came later and has nothing to do with
training may be added to them, with its size.
"""

from __future__ import annotations

import gzip
import re
from functools import cache
from pathlib import Path

import pytest
from browser_parity import MODULES
from common import ROOT

WIDGETS = ROOT / "code" / "transformer_book" / "widgets"
BENCH = MODULES.with_name("bench")
WORKER = MODULES / "worker.js"
PAGES = {
    "talk": [MODULES / "talk-loader.js", MODULES / "page.js", WORKER],
    "explorers": [MODULES / "sentence-loader.js", MODULES / "sentence.js", WORKER],
    "landing": [MODULES / "translating-loader.js", MODULES / "translating.js", WORKER],
}
BEFORE = {"talk": 85_057, "explorers": 57_817, "landing": 55_407}
# The parts of the model, which training uses as they are: before, with some room for rewording.
PARTS = ["attention", "decoder", "embeddings", "encoder", "layers", "masks", "safetensors"]
PARTS += ["tensors", "transformer"]
BEFORE_OF_PARTS = 11_897
ROOM = 100
# What only a model that is trained has.
TRAINING = ("backward", "dropout", "grad", "gradient", "optimizer", "learning_rate")


@cache
def imported(path: Path) -> frozenset[Path]:
    """A module and all that loading it loads: not what an `import(…)` in it may fetch later."""
    found, left = set(), [path]
    while left:
        one = left.pop()
        if one in found:
            continue
        found.add(one)
        text = one.read_text(encoding="utf-8")
        for address in re.findall(r'^(?:import|export)\b[^;"]*"(\.[^"]+)";', text, re.MULTILINE):
            there = (one.parent / address).resolve()
            # The site's build puts the widgets of the package there.
            left.append(WIDGETS / there.name if there.parent.name == "widgets" else there)
    return frozenset(found)


def weight(paths) -> int:
    return sum(len(gzip.compress(path.read_bytes(), mtime=0)) for path in paths)


def of_page(name: str) -> set[Path]:
    return set().union(*map(imported, PAGES[name]))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_runs_a_model_downloads_no_more_than_before(name, tell) -> None:
    now = weight(of_page(name))
    tell(f"{name}: {now:,} bytes gzipped of code, {BEFORE[name]:,} before a model could be trained")
    assert now <= BEFORE[name]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_runs_a_model_has_nothing_of_training(name) -> None:
    found = of_page(name)
    training = imported(BENCH / "worker.js") - imported(WORKER)
    assert {path.stem for path in training} >= {"backwards", "optimization", "initialization"}
    assert not found & training and BENCH not in {path.parent for path in found}
    for path in found:
        words = re.findall(r"[a-z]+(?:_[a-z]+)*", path.read_text(encoding="utf-8").lower())
        assert not set(words) & set(TRAINING), path.name


def test_the_parts_of_the_model_have_not_grown_for_training(tell) -> None:
    now = weight(MODULES / f"{name}.js" for name in PARTS)
    tell(f"parts of the model: {now:,} bytes gzipped, {BEFORE_OF_PARTS:,} before")
    assert now <= BEFORE_OF_PARTS + ROOM


def test_the_bench_and_the_model_that_learns_stay_small(tell) -> None:
    """Captions of its grammar are data, and stand alone in a file."""
    own = weight(path for path in BENCH.glob("*.js") if path.stem != "captions")
    learns = ["attention", "layers", "encoder", "decoder", "embeddings", "transformer", "backwards"]
    lines = sum(len((MODULES / f"{n}.js").read_text("utf-8").splitlines()) for n in learns)
    data = (BENCH / "captions.js").stat().st_size
    tell(f"the bench: {own:,} bytes gzipped, its captions {data:,}; its model {lines} lines")
    assert own <= 60_000 and data <= 300_000 and lines <= 900
