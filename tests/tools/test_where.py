"""The map of the project, and what it says of an idea."""

from __future__ import annotations

import re
from itertools import chain

import pytest
import where
from common import ROOT

from tests.tools.running import run_tool
from transformer_book import checks


def test_the_map_is_up_to_date_and_leads_to_files() -> None:
    text = where.MAP.read_text(encoding="utf-8")
    assert text == where.page(), "run python tools/where.py --write"
    for address in re.findall(r"\]\(([^)]+)\)", text):
        assert (ROOT / address).exists(), address


@pytest.mark.parametrize("name", checks.COMPONENTS)
def test_every_idea_has_its_places(name: str) -> None:
    places = where.of_component(name).places
    assert {"chapter", "check", "known mistakes", "right and wrong versions"} <= set(places)
    in_runs = sum(int(place.rsplit("(", 1)[1][:-1]) for place in places["known mistakes"])
    assert 0 < in_runs <= sum(mistake.component == name for mistake in checks.MISTAKES)
    if "package" in places:
        assert places["tests"]
    for each in chain.from_iterable(places.values()):
        path = re.match(r"[\w/.-]+\.\w+", each.split("(")[-1] if each[0].isupper() else each)
        assert path and (ROOT / path[0]).exists(), each


def test_what_is_done_in_the_package_is_there() -> None:
    done_by = [component.done_by for component in checks.COMPONENTS.values()]
    assert all(where.defined(name) for name in done_by if name)


@pytest.mark.parametrize(
    ("asked", "name", "what", "place"),
    [
        ("layer norm", "layer_norm", "package", "code/transformer_book/layers.py"),
        ("LayerNorm", "layer_norm", "explorer", "NormalisationExplorer"),
        ("label smoothing", "label_smoothed_loss", "chapter", "chapters/15"),
        ("beam search", "beam_search", "in the browser", "book/assets/model/decoding.js"),
        ("causal mask", "causal_mask", "recipe", "ablation-no-causal-mask"),
        ("length penalty", "length_normalised", "known mistakes", "search/length_normalised.py"),
        ("decoder", "Decoder", "tests", "tests/test_proofs.py"),
        ("checkpoints", "weights.checkpoints", "tests", "tests/test_checkpoints.py"),
        ("warm-up forgotten", "mistake: warm-up forgotten", "chapter", "chapters/15"),
        ("gradient clipping", "term: clipping", "glossary", "book/glossary.md:"),
        ("early stopping", "term: early stopping", "chapter", "chapters/16_training.ipynb"),
        ("setup cell", "setup_cell", "tests", "tests/tools/test_chapters.py"),
        ("glossary links", "link_terms", "run in", "Makefile:"),
        ("Moodle", "questions_export", "tool", "tools/questions_export.py"),
        ("data parallel", "runs.distributed", "package", "runs/distributed.py"),
        ("js/memory", "script: js/memory.js", "in the browser", "book/assets/js/memory.js"),
        ("what the browser keeps", "script: bench/kept.js", "in the browser", "bench/kept.js"),
        ("forgets to divide by root d_k", "mistake: scores not scaled", "check", "attention"),
    ],
)
def test_an_idea_is_found_by_any_of_its_spellings(asked, name, what, place) -> None:
    (found,) = [idea for idea in where.search(asked) if idea.name == name]
    assert any(place in each for each in found.places[what])
    assert name in where.told(found)


def test_every_tool_has_its_group(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(where.tools()) == len(set(where.tools()))
    without = {group: names.replace("slides", "") for group, names in where.TOOLS.items()}
    monkeypatch.setattr(where, "TOOLS", without)
    with pytest.raises(ValueError, match="slides"):
        where.tools()


def test_what_is_nowhere_is_one_sentence() -> None:
    done = run_tool("where.py", "flux", "capacitor")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == "Nothing is called 'flux capacitor': try fewer words.\n"
