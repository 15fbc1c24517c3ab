"""The Python side of the explorers: their modules in one piece, their state, bad input."""

from __future__ import annotations

import json
import re

import pytest
import torch

from transformer_book import widgets
from transformer_book.attention import scaled_dot_product_attention
from transformer_book.widgets import (
    Explorer,
    GeometryExplorer,
    MaskExplorer,
    PositionExplorer,
    ShapeStepper,
)
from transformer_book.widgets.explorer import HERE, module_source, number_list

CHAPTER_6 = (
    [1.0, 1.0],
    [[4.0, -1.0], [1.0, 1.0], [0.0, 1.0]],
    [[0.0, 0.0], [4.0, 0.0], [0.0, 2.0]],
)


def test_every_explorer_is_found_by_its_name():
    for name in widgets.__all__:
        assert getattr(widgets, name).__name__ == name
    with pytest.raises(AttributeError, match="Unknown"):
        _ = widgets.Unknown


@pytest.mark.parametrize("name", [name for name in widgets.__all__ if name != "Explorer"])
def test_a_module_stands_alone(name):
    """One piece, no import, one render: nothing is fetched when a notebook shows it."""
    explorer = getattr(widgets, name)
    assert not re.search(r"^import\b|\bimport\(", explorer._esm, re.MULTILINE)
    assert explorer._esm.count("export default") == 1
    assert explorer._esm.startswith((HERE / "shared.js").read_text(encoding="utf-8"))


def test_a_module_without_the_shared_import_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("transformer_book.widgets.explorer.HERE", tmp_path)
    (tmp_path / "x.js").write_text("export default {};\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.js imports from \./shared\.js 0 times"):
        module_source("x.js")


def test_the_start_is_kept_and_what_moves_is_part_of_the_state():
    explorer = GeometryExplorer(*CHAPTER_6)
    assert set(explorer.start) == {"query", "key", "value", "temperature", "scaled"}
    assert set(explorer.state()) == {*explorer.start, "names"}
    explorer.query = [0.0, 1.0]
    assert explorer.start["query"] == [1.0, 1.0]
    assert GeometryExplorer(**explorer.state()).numbers() == explorer.numbers()
    json.dumps(explorer.state(), allow_nan=False)


def test_instances_do_not_share_what_they_hold():
    one, other = GeometryExplorer(*CHAPTER_6), GeometryExplorer(*CHAPTER_6)
    one.key = [[0.0, 0.0]] * 3
    assert other.key == CHAPTER_6[1]


def test_front_ends_without_widgets_show_the_numbers():
    bundle = GeometryExplorer(*CHAPTER_6)._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert "application/vnd.jupyter.widget-view+json" in data
    assert "weights: 0.67, 0.24, 0.09" in data["text/plain"]
    assert "output: 0.98, 0.18" in data["text/plain"]


def test_geometry_explorer_shows_the_numbers_of_chapter_6():
    numbers = GeometryExplorer(*(torch.tensor(part) for part in CHAPTER_6)).numbers()
    rounded = {n: [round(x, 2) for x in v] for n, v in numbers.items() if isinstance(v, list)}
    assert rounded["scores"] == [3, 2, 1]
    assert numbers["own"] == 2 and numbers["louder"] == "A"  # B is the query: not above itself
    assert rounded["lengths"] == [4.12, 1.41, 1] and rounded["shadows"] == [2.12, 1.41, 0.71]
    assert [round(angle) for angle in numbers["angles"]] == [59, 0, 45]
    assert rounded["weights"] == [0.67, 0.24, 0.09] and rounded["point"] == [0.29, 0.08]
    assert rounded["output"] == [0.98, 0.18]


def test_geometry_explorer_scales_as_the_package_does():
    q, K, V = (torch.tensor(part, dtype=torch.float64) for part in CHAPTER_6)
    numbers = GeometryExplorer(*CHAPTER_6, scaled=True).numbers()
    outputs, weights = scaled_dot_product_attention(q[None], K, V)  # its own scale is 1/√d_k
    torch.testing.assert_close(torch.tensor(numbers["weights"], dtype=torch.float64), weights[0])
    torch.testing.assert_close(torch.tensor(numbers["output"], dtype=torch.float64), outputs[0])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"query": [1.0]}, r"query is \[1.0\], but it must have the shape \(2,\)"),
        ({"key": [[1.0, 2.0]]}, r"key is .* must have the shape \(3, 2\)"),
        ({"value": [["a", "b"]] * 3}, r"value holds 'a', but it must hold numbers"),
        ({"query": [float("nan"), 0.0]}, r"query holds nan, but its numbers must be finite"),
        ({"names": ["A"]}, r"names holds 1 names, but a triangle has 3 corners"),
        ({"temperature": 0.0}, r"temperature is 0.0, but it must be None or a positive number"),
        ({"scaled": 1}, r"scaled is 1, but it must be True or False"),
    ],
)
def test_geometry_explorer_refuses_what_it_cannot_show(unhooked, wrong, sentence):
    explorer = unhooked("transformer_book.widgets.geometry").GeometryExplorer
    arguments = dict(zip(("query", "key", "value"), CHAPTER_6, strict=True))
    with pytest.raises(ValueError, match=sentence):
        explorer(**{**arguments, **wrong})


def test_position_explorer_shows_the_numbers_of_chapter_5():
    pencil = PositionExplorer(d_model=4).numbers()  # the places 1 and 3
    assert [round(x, 2) for x in pencil["here"] + pencil["there"]] == [0.84, 0.54, 0.14, -0.99]
    assert round(pencil["share"], 2) == -0.42 and round(pencil["product"], 2) == 0.58
    turn = PositionExplorer(step=1).numbers()
    assert [[round(x, 2) for x in row] for row in turn["turn"]] == [[0.54, 0.84], [-0.84, 0.54]]
    assert [round(x, 2) for x in turn["turned"]] == [0.91, -0.42]
    for k, product in {0: 64.0, 1: 62.1, 2: 57.4, 4: 48.6, 8: 45.7, 16: 39.7, 32: 35.7}.items():
        for place in (0, 31):
            numbers = PositionExplorer(128, place, k, 40).numbers()
            assert round(numbers["product"], 1) == round(numbers["by_distance"], 1) == product
    assert round(PositionExplorer(128, hand=63).numbers()["wavelength"]) == 54410


def test_position_explorer_turns_back_by_the_transpose():
    ahead, back = (torch.tensor(PositionExplorer(8, 9, k, 1).numbers()["turn"]) for k in (3, -3))
    torch.testing.assert_close(back, ahead.T)
    back_again = PositionExplorer(8, 9, -3, 1).numbers()
    assert back_again["later"] == 6 and back_again["turned"] == pytest.approx(back_again["there"])


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"d_model": 6}, r"d_model is 6, but it must be one of 4, 8, 16, 32, 64, 128"),
        ({"place": 64}, r"place is 64, but it must be a whole number from 0 to 63"),
        ({"place": 40, "step": 24}, r"step is 24, but it must be a whole number from -8 to 23"),
        ({"step": -2}, r"step is -2, but it must be a whole number from -1 to 32"),
        ({"hand": 4}, r"hand is 4, but it must be a whole number from 0 to 3"),
        ({"hand": True}, r"hand is True, but it must be a whole number from 0 to 3"),
    ],
)
def test_position_explorer_refuses_what_is_not_on_its_table(unhooked, wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        unhooked("transformer_book.widgets.positions").PositionExplorer(**wrong)


CHAPTER_8 = {  # the pencil's sentence, in a batch of two
    "source": [["der", "Hund", "<pad>"], ["er", "ruht", "."]],
    "target": [["the", "dog", "sleeps", "<pad>"], ["he", "has", "a", "rest"]],
}


def test_mask_explorer_shows_the_numbers_of_chapter_8():
    def outputs(**how):
        return MaskExplorer(**CHAPTER_8, **how).numbers()["outputs"]

    everything = [[i, j] for i in range(4) for j in range(4) if j > i or j == 3]
    assert outputs(flipped=everything) == pytest.approx([53, 53, 53, 53])
    assert outputs(rule="no causal mask") == pytest.approx([6, 6, 6, 6])
    assert outputs(rule="no padding mask") == pytest.approx([8, 5, 6, 53])
    assert outputs() == pytest.approx([8, 5, 6, 6])
    late = MaskExplorer(**CHAPTER_8, late=True).numbers()
    assert late["totals"][1] == pytest.approx(1 / 4) and late["outputs"][1] == pytest.approx(1.25)
    assert late["verdicts"] == ["FAILS"] * 3


@pytest.mark.parametrize(
    ("rule", "verdicts"),
    [  # the table of chapter 8: the future, the padding, the sums
        ("right", ["passes", "passes", "passes"]),
        ("inverted", ["FAILS", "FAILS", "FAILS"]),
        ("no causal mask", ["FAILS", "passes", "passes"]),
        ("next token visible", ["FAILS", "passes", "passes"]),
        ("diagonal hidden", ["passes", "passes", "FAILS"]),
        ("rows, not columns", ["passes", "passes", "passes"]),
        ("no padding mask", ["passes", "passes", "passes"]),
    ],
)
def test_mask_explorer_finds_what_the_tests_of_chapter_8_find(rule, verdicts):
    of_both = [MaskExplorer(**CHAPTER_8, rule=rule, sentence=b).numbers() for b in (0, 1)]
    found = zip(*(numbers["verdicts"] for numbers in of_both), strict=True)
    assert ["FAILS" if "FAILS" in each else "passes" for each in found] == verdicts
    assert MaskExplorer(**CHAPTER_8, where="cross").numbers()["verdicts"][0] == "not asked"


def test_mask_explorer_shows_an_empty_row_as_zeros():
    front = MaskExplorer(**CHAPTER_8, front=True).numbers()
    assert front["asking"] == ["<pad>", "the", "dog", "sleeps"]
    assert front["weights"][0] == [0, 0, 0, 0] and front["outputs"] == pytest.approx([0, 8, 5, 6])
    leaking = MaskExplorer(**CHAPTER_8, front=True, rule="no padding mask").numbers()
    assert leaking["verdicts"] == ["passes", "FAILS", "passes"]
    gone = MaskExplorer(**CHAPTER_8, where="encoder", shortened=2).numbers()
    assert gone["heard"] == ["<pad>"] * 3 and gone["totals"] == [0, 0, 0]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"source": [["a"], ["b", "c"]]}, r"source holds sentences of the lengths \[1, 2\]"),
        ({"target": [["a"] * 9] * 2}, r"target holds .* from 1 to 8 tokens"),
        ({"source": [["a"]]}, r"source holds 1 sentences and target 2"),
        ({"where": "middle"}, r"where is 'middle', but it must be one of encoder, decoder, cross"),
        ({"rule": "wrong"}, r"rule is 'wrong', but it must be one of right, inverted"),
        ({"sentence": 2}, r"sentence is 2, but it must be a whole number from 0 to 1"),
        ({"shortened": -1}, r"shortened is -1, but it must be a whole number from 0 to 8"),
        ({"changed": 0}, r"changed is 0, but it must be a whole number from 1 to 8"),
        ({"late": 1}, r"late is 1, but it must be True or False"),
        ({"flipped": [[0, 4]]}, r"The key of a flipped cell is 4, but .* from 0 to 3"),
        ({"flipped": [[0]]}, r"flipped holds \[0\], but a cell is a pair"),
    ],
)
def test_mask_explorer_refuses_what_is_no_batch_or_mask(unhooked, wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        unhooked("transformer_book.widgets.masks").MaskExplorer(**{**CHAPTER_8, **wrong})


def test_numbers_come_from_lists_arrays_and_tensors():
    assert number_list("x", torch.tensor([0.1, 2.0]), 2) == [0.1, 2.0]
    assert number_list("x", torch.tensor([0.1]).numpy(), 1) == [0.1]
    assert number_list("x", (1, 2), 2) == [1.0, 2.0]
    assert issubclass(GeometryExplorer, Explorer)


def test_shape_stepper_shows_the_numbers_of_chapter_9():
    right = ShapeStepper().numbers()
    places = ["(0, 1, 4)", "(0, 1, 2, 0)", "(0, 2, 1, 0)", "(0, 2, 1, 0)", "(0, 1, 2, 0)"]
    assert right["places"] == [*places, places[0]] and right["strangers"] == [0] * 6
    assert right["orders"][1:4] == ["B T H K", "B T H K", "B H T K"]  # only attention writes
    assert right["slots"] == [10, 10, 10, 18, 18, 10] and right["partners"] == "200, 210, 220, 230"
    merged = ShapeStepper(version="merged by view").numbers()
    assert merged["entries"][5][:6] == [0, 1, 10, 11, 20, 21]
    assert (merged["row"], merged["taken_for_head"], merged["early"]) == (3, 0, 8)
    split = ShapeStepper(version="split by view").numbers()
    assert split["entries"][1][:8] == [0, 1, 100, 101, 200, 201, 10, 11]
    never = ShapeStepper(version="never permuted").numbers()
    assert never["strangers"] == [0] * 6 and never["partners"] == "10, 110, 210"


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"n_positions": 9}, r"n_positions is 9, but it must be a whole number from 2 to 8"),
        ({"n_heads": 4, "d_head": 3}, r"d_head is 3, but it must be a whole number from 2 to 2"),
        ({"position": 4}, r"position is 4, but it must be a whole number from 0 to 3"),
        ({"head": -1}, r"head is -1, but it must be a whole number from 0 to 2"),
        ({"feature": True}, r"feature is True, but it must be a whole number from 0 to 1"),
        ({"version": "rigth"}, r"version is 'rigth', .* did you mean 'right'"),
    ],
)
def test_shape_stepper_refuses_what_it_cannot_show(unhooked, wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        unhooked("transformer_book.widgets.shapes").ShapeStepper(**wrong)
