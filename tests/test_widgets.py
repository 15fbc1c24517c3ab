"""The Python side of the explorers: their modules in one piece, their state, bad input."""

from __future__ import annotations

import itertools
import json
import math
import re

import pytest
import torch

from transformer_book import decoding, widgets
from transformer_book.attention import scaled_dot_product_attention
from transformer_book.optimization import learning_rate
from transformer_book.rotary import RotaryPositions
from transformer_book.tokens import PAD, SOS, SPECIALS
from transformer_book.transformer import Transformer, TransformerConfig
from transformer_book.translator import Translator
from transformer_book.widgets import (
    BeamExplorer,
    Explorer,
    GeometryExplorer,
    InductionExplorer,
    MaskExplorer,
    NormalisationExplorer,
    PositionExplorer,
    RotaryExplorer,
    ScheduleExplorer,
    ShapeStepper,
    Talk,
)
from transformer_book.widgets.beam import record_search
from transformer_book.widgets.explorer import HERE, module_source, number_list
from transformer_book.widgets.schedule import SCHEDULES

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
    assert (
        explorer._esm.count((HERE / "shared.js").read_text(encoding="utf-8").splitlines()[0]) == 1
    )


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


def test_rotary_explorer_turns_as_the_package_does():
    start = RotaryExplorer().numbers()
    assert round(start["product"], 2) == -4.39 and start["unturned"] == 4
    for pair in range(4):
        numbers = [RotaryExplorer(m=5, n=2, shift=s, pair=pair).numbers() for s in (0, 7, 24)]
        for each in numbers:
            assert each["distance"] == -3
            assert each["product"] == pytest.approx(numbers[0]["by_distance"])
            assert math.hypot(*each["turned_query"]) == pytest.approx(each["lengths"][0])
    q = torch.zeros(1, 1, 1, 8)
    q[..., 1], q[..., 5] = 2.0, 1.0
    turned = RotaryPositions(8)(q, torch.tensor([9]))[0, 0, 0, [1, 5]]
    shown = RotaryExplorer(m=9, pair=1).numbers()["turned_query"]
    torch.testing.assert_close(turned, torch.tensor(shown))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"query": [3.0, 0.0]}, r"query is .* but its numbers must lie from −2.5 to 2.5"),
        ({"key": [1.0]}, r"key is .* must have the shape \(2,\)"),
        ({"m": 25}, r"m is 25, but it must be a whole number from 0 to 24"),
        ({"shift": -1}, r"shift is -1, but it must be a whole number from 0 to 24"),
        ({"pair": 4}, r"pair is 4, but it must be a whole number from 0 to 3"),
    ],
)
def test_rotary_explorer_refuses_what_it_cannot_show(unhooked, wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        unhooked("transformer_book.widgets.rotary").RotaryExplorer(**wrong)


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


def test_schedule_explorer_shows_the_numbers_of_chapter_15():
    start = ScheduleExplorer().numbers()
    assert round(start["one_in"]) == 1431 and round(start["top"], 4) == 0.0007
    assert start["share"] == pytest.approx(0.5) and round(start["rate"], 5) == 0.00035
    first, last = (ScheduleExplorer(update=n).numbers() for n in (1, 100_000))
    assert first["share"] == 1 / 4000 and round(first["rate"], 8) == 0.00000017
    assert last["share"] == pytest.approx(0.2) and round(last["rate"], 5) == 0.00014
    halved = ScheduleExplorer(warmup=2000).numbers()  # the falling curve does not depend on w
    assert halved["rate"] == pytest.approx(start["rate"]) and halved["top"] > 1.4 * start["top"]
    short = ScheduleExplorer(updates=450, update=450).numbers()  # never at the peak
    assert short["reached_at"] == 450 and round(short["reached"], 8) == 0.00007861


@pytest.mark.parametrize("warmup", [1, 30, 100, 300])
def test_schedule_explorer_adds_up_the_rates_of_the_package(warmup):
    settings = {"peak": 0.003, "warmup": warmup, "updates": 100}
    numbers = ScheduleExplorer(**settings, update=40, by_paper=False).numbers()
    for last, added_up in ((40, numbers["so_far"]), (100, numbers["whole"])):
        for schedule, total in zip(SCHEDULES, added_up, strict=True):
            rates = [learning_rate(n, schedule=schedule, **settings) for n in range(1, last + 1)]
            assert total == pytest.approx(sum(rates))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"schedule": "cosine"}, r"schedule is 'cosine', but it must be one of constant, inv"),
        ({"d_model": 0}, r"d_model is 0, but it must be a whole number from 1 to 4096"),
        ({"warmup": 0}, r"warmup is 0, but it must be a whole number from 1 to 100000"),
        ({"updates": 450}, r"update is 16000, but it must be a whole number from 1 to 450"),
        ({"by_paper": 1}, r"by_paper is 1, but it must be True or False"),
        ({"peak": 0.0}, r"peak is 0.0, but it must be a number above 0 and at most 1"),
        ({"peak": True}, r"peak is True, but it must be a number above 0 and at most 1"),
    ],
)
def test_schedule_explorer_refuses_what_is_no_run(unhooked, wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        unhooked("transformer_book.widgets.schedule").ScheduleExplorer(**wrong)


def test_the_text_of_small_rates_keeps_their_digits():
    assert "rates: 0.0006988, 0.0003494, 0.0006114" in ScheduleExplorer().text()


CHAPTER_10 = {  # the pencil's sentence, and a neighbour
    "batch": [[[15, 1, 9, 7], [9, 1, 3, 3]], [[1, 5, 5, 1], [2, 10, 2, 10]]],
    "pad": [4, 0, 2, 2],
}


def test_normalisation_explorer_shows_the_numbers_of_chapter_10():
    pencil = NormalisationExplorer(**CHAPTER_10).numbers()
    assert pencil["means"] == [8] * 4 and pencil["variances"] == [25] * 4
    assert [round(x, 2) for x in pencil["output"]] == [1.4, -1.4, 0.2, -0.2]
    second = NormalisationExplorer(**CHAPTER_10, word=1).numbers()
    assert second["means"] == [4] * 4 and second["variances"] == [9] * 4
    changed = NormalisationExplorer(**CHAPTER_10, scale=3, shift=5).numbers()
    assert changed["input"] == [50, 8, 32, 26] and changed["means"] == [29] * 4
    assert changed["output"] == pytest.approx(pencil["output"], abs=1e-6)
    bessel = NormalisationExplorer(**CHAPTER_10, bessel=True).numbers()
    assert round(bessel["variances"][0], 2) == 33.33 and round(bessel["off"], 1) == 13.4


@pytest.mark.parametrize(
    ("over", "by_word", "by_padding"),
    [  # which of the words ((0, 0), (0, 1), (1, 0), (1, 1)) move
        ("features", [True, False, False, False], [False] * 4),
        ("features, words", [True, True, False, False], [True] * 4),
        ("words, batch", [True] * 4, [True] * 4),
    ],
)
def test_normalisation_explorer_finds_the_leaks_of_chapter_10(over, by_word, by_padding):
    def moved(**how):
        numbers = NormalisationExplorer(**CHAPTER_10, over=over, **how).numbers()
        return [distance > 0.05 for row in numbers["moved"] for distance in row]

    assert moved() == [False] * 4
    assert moved(vector=[15, 6, 9, 7]) == by_word
    assert moved(padding=10) == by_padding


def test_normalisation_explorer_shows_what_epsilon_does_to_a_vector_nearly_constant():
    nearly = {**CHAPTER_10, "scale": 1e-4, "shift": 5}
    inside, outside = (
        NormalisationExplorer(**nearly, outside=out).numbers() for out in (False, True)
    )
    assert inside["output"][0] == pytest.approx(7e-4 / math.sqrt(25e-8 + 1e-5))
    assert outside["output"][0] == pytest.approx(7e-4 / (5e-4 + 1e-5))
    constant = NormalisationExplorer(**{**nearly, "scale": 0.0}, outside=True).numbers()
    assert constant["output"] == [0] * 4 and constant["divisors"] == [1e-5] * 4


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"batch": [[[1, 2, 3, 4]]]}, r"batch is .* must have the shape \(2, 2, 4\)"),
        ({"pad": [0.0]}, r"pad is \[0.0\], but it must have the shape \(4,\)"),
        ({"vector": [1, 2, 3, "x"]}, r"vector holds 'x', but it must hold numbers"),
        ({"sentence": 2}, r"sentence is 2, but it must be a whole number from 0 to 1"),
        ({"word": -1}, r"word is -1, but it must be a whole number from 0 to 1"),
        ({"scale": float("inf")}, r"scale holds inf, but its numbers must be finite"),
        ({"over": "batch"}, r"over is 'batch', but it must be one of features"),
        ({"padding": 11}, r"padding is 11, but it must be a whole number from 0 to 10"),
        ({"bessel": 1}, r"bessel is 1, but it must be True or False"),
    ],
)
def test_normalisation_explorer_refuses_what_it_cannot_show(unhooked, wrong, sentence):
    explorer = unhooked("transformer_book.widgets.normalisation").NormalisationExplorer
    with pytest.raises(ValueError, match=sentence):
        explorer(**{**CHAPTER_10, **wrong})


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


CHAPTER_17 = {  # the tree of six sentences
    (): {"dogs": 0.5, "some": 0.4, "sleeping": 0.1},
    ("dogs",): {"sleep": 0.4, "nap": 0.3, "rest": 0.3},
    ("some",): {"dogs": 1.0},
    ("sleeping",): {"dogs": 1.0},
    ("some", "dogs"): {"sleep": 0.9, "nap": 0.1},
}
HUNDE = record_search("Hunde schlafen", lambda words: CHAPTER_17.get(words, {"<eos>": 1.0}), 6)


def test_beam_explorer_shows_the_numbers_of_chapter_17():
    def rows(step):
        found = BeamExplorer([HUNDE], step=step).numbers()["rows"]
        return [(row["beginning"], round(row["probability"], 2), row["fate"]) for row in found]

    assert rows(2) == [
        ("some dogs", 0.4, "goes on"),
        ("dogs sleep", 0.2, "goes on"),
        ("dogs nap", 0.15, "dropped"),
        ("dogs rest", 0.15, "dropped"),
    ]
    assert rows(3) == [
        ("some dogs sleep", 0.36, "goes on"),
        ("dogs sleep <eos>", 0.2, "finished"),
        ("some dogs nap", 0.04, "goes on"),
    ]
    two = BeamExplorer([HUNDE], step=3).numbers()
    assert two["verdict"] == "the search goes on: an open beam could still win"
    assert two["result"]["sentence"] == "some dogs sleep <eos>" and two["n_steps"] == 4
    assert two["greedy"]["sentence"] == "dogs sleep <eos>"
    assert round(two["result"]["probability"], 2) == 0.36
    assert round(two["greedy"]["probability"], 2) == 0.2
    assert two["compared"].startswith("Greedy search loses")
    wins, greedy = (
        [[r["token"] for r in step if r[k]] for step in two["tree"]] for k in ("wins", "greedy")
    )
    assert wins == [["some"], ["dogs"], ["sleep"]] and greedy == [["dogs"], ["sleep"], ["<eos>"]]
    assert "dogs sleep <eos>: sum -1.61" in BeamExplorer([HUNDE], step=3).text()
    one = BeamExplorer([HUNDE], beam_size=1, step=9).numbers()
    assert one["now"] == one["n_steps"] == 3 and one["compared"] == "That is the same."


def test_beam_explorer_searches_as_the_package_does(monkeypatch):
    """The same sentence, the same sums and scores, and a stop at the same step."""
    words = [*SPECIALS, *"abcde"]
    steps = 0
    ask = decoding._Search.log_probabilities

    def counted(*arguments):
        nonlocal steps
        steps += 1
        return ask(*arguments)

    monkeypatch.setattr(decoding._Search, "log_probabilities", counted)
    seen = set()
    for seed, longest in itertools.product((1, 17), (3, 4, 5)):
        torch.manual_seed(seed)
        model = Transformer(
            TransformerConfig(
                source_vocab_size=9,
                target_vocab_size=9,
                d_model=16,
                n_heads=2,
                n_encoder_layers=1,
                n_decoder_layers=1,
                d_ff=32,
                max_length=12,
            )
        ).eval()
        with torch.no_grad():
            model.output.weight *= 4  # a random model hesitates; this one has opinions
        source = torch.randint(4, 9, (1, 6), generator=torch.Generator().manual_seed(longest))

        @torch.no_grad()
        def follow(so_far, model=model, source=source):
            target = torch.tensor([[SOS, *map(words.index, so_far)]])
            logits = model(source, target)[0, -1]
            logits[[PAD, SOS]] = -torch.inf
            return dict(zip(words, logits.softmax(dim=-1).tolist(), strict=True))

        search = record_search("abc", follow, longest)
        for size, penalty in itertools.product((1, 2, 4), (0.0, 0.6, 2.0)):
            steps = 0
            options = {"length_penalty": penalty, "max_length": longest}
            ((best,),) = decoding.beam_search(model, source, size, **options)
            shown = BeamExplorer([search], 0, size, penalty, 9).numbers()
            assert shown["result"]["sentence"] == " ".join(words[i] for i in best.tokens)
            assert shown["result"]["sum"] == pytest.approx(sum(best.log_probabilities), abs=1e-3)
            assert shown["result"]["score"] == pytest.approx(best.score, abs=1e-3)
            assert shown["n_steps"] == steps
            seen.add(shown["verdict"])
    assert len(seen) == 3, seen  # in each of the ways in which a search stops


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"searches": []}, r"searches is empty"),
        ({"searches": [{"name": "x"}]}, r"A search holds \['name'\], but it must hold max_length"),
        (
            {"searches": [{**HUNDE, "nodes": [[-1, "dogs", 0.1]]}]},
            r"Node 0 \('dogs'\) has the log-probability 0.1, but it must be finite and at most 0",
        ),
        (
            {"searches": [{**HUNDE, "nodes": [[0, "dogs", -0.1]]}]},
            r"Node 0 \('dogs'\) has the parent 0, .* parents come first",
        ),
        (
            {"searches": [{**HUNDE, "nodes": HUNDE["nodes"][:3]}]},
            r"Nothing is recorded after 'dogs' of 'Hunde schlafen'",
        ),
        ({"example": 1}, r"example is 1, but it must be a whole number from 0 to 0"),
        ({"beam_size": 5}, r"beam_size is 5, but it must be a whole number from 1 to 4"),
        ({"step": 0}, r"step is 0, but it must be a whole number from 1 to 40"),
        ({"length_penalty": -0.1}, r"length_penalty is -0.1, .* from 0 \(none\) to 10"),
        ({"length_penalty": float("nan")}, r"length_penalty is nan, .* from 0 \(none\) to 10"),
    ],
)
def test_beam_explorer_refuses_what_it_cannot_show(unhooked, wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        unhooked("transformer_book.widgets.beam").BeamExplorer(**{"searches": [HUNDE], **wrong})


@pytest.mark.parametrize(
    ("follow", "longest", "sentence"),
    [
        (lambda words: {"a": 1.5}, 3, r"follow gives 'a' the probability 1.5 after \[\]"),
        (lambda words: {"a": 0.0}, 3, r"follow gives nothing that may come after \[\]"),
        (lambda words: {"a": 1.0}, 41, r"max_length is 41, .* from 1 to 40"),
    ],
)
def test_a_search_that_cannot_be_recorded_is_refused(unhooked, follow, longest, sentence):
    with pytest.raises(ValueError, match=sentence):
        unhooked("transformer_book.widgets.beam").record_search("x", follow, longest)


def test_talk_refuses_what_it_cannot_show():
    with pytest.raises(ValueError, match="captions"):
        Talk("capitons-de-en")
    with pytest.raises(ValueError, match=r"cannot be changed by “head:cross\.0\.9”"):
        Talk("captions-de-en", changes=["head:cross.0.9"])
    translator = Translator.from_pretrained("captions-de-en")
    translator.model.encoder.layers[0].self_attention = torch.nn.Identity()
    with pytest.raises(ValueError, match="of the kind 'encoder' has the class Identity"):
        Talk(translator)


def test_talk_answers_in_one_sentence_whatever_is_asked():
    talk = Talk(Translator.from_pretrained("captions-de-en"), text="Ein Hund schläft.")
    sent = []
    talk.send = lambda content, buffers: sent.append((content, buffers))
    assert talk.about["models"][0]["title"] == "a model" and not talk.about["models"][0]["examples"]
    for question, sentence in (
        ({"id": 1, "task": "translate", "text": ""}, "the text is empty"),
        ({"id": 2, "task": "translate", "text": "Hund " * 10_000}, "this model reads at most"),
        ({"id": 3, "task": "nothing"}, "Nothing answers to the task 'nothing'"),
        ({"id": 4, "task": "beam", "text": "x", "changes": ["scale:"]}, "cannot be changed by"),
        ({"id": 5, "task": "beam", "text": "x", "changes": ["x" * 5000]}, "x…”: there is no such"),
        ({"id": 6, "task": "translate", "text": "x", "forced": [999]}, "cannot say the token 999"),
        ({"id": 7, "task": "steps", "text": "x"}, "The model has failed (TypeError)"),
    ):
        talk._answer(talk, question, [])
        content, _ = sent.pop()
        assert content["id"] == question["id"] and content["state"] == "failed"
        assert sentence in content["message"] and len(content["message"]) < 300
    talk._answer(talk, {"id": 5, "task": "translate", "text": "Ein Hund schläft."}, [])
    while sent[-1][0]["state"] == "step":
        talk._answer(talk, {"id": 5, "task": "next"}, [])
    done, buffers = sent.pop()
    assert done["translation"]["text"] == "A dog is sleeping."
    first = done["attention"]["cross"][0]
    weights = torch.frombuffer(bytearray(buffers[first["weights"]["buffer"]]), dtype=torch.float32)
    sums = weights.view(first["H"], first["T"], first["S"]).sum(dim=-1)
    torch.testing.assert_close(sums, torch.ones_like(sums))
    json.dumps([content for content, _ in [*sent, (done, [])]], allow_nan=False)


def test_talk_takes_one_step_for_each_message():
    """A reader may stop: no more is asked for, or something else; nothing runs on its own."""
    talk = Talk("captions-de-en", text="Ein Hund schläft.")
    sent = []
    talk.send = lambda content, buffers: sent.append(content)

    def asks(**message) -> list[tuple]:
        sent.clear()
        talk._answer(talk, message, [])
        return [(each["id"], each["state"]) for each in sent]

    assert asks(id="none", task="next") == []
    first = {"id": "a-1", "task": "translate", "text": "Ein Hund schläft."}
    assert asks(**first) == [("a-1", "step")]
    assert sent[0]["translation"]["tokens"] == ["A"]
    # A quick question in between ends nothing.
    step = {"tokens": sent[0]["translation"]["ids"], "stack": "decoder", "layer": 0, "position": 0}
    assert asks(**{**first, **step, "id": "a-2", "task": "steps"}) == [("a-2", "done")]
    assert asks(id="a-1", task="next") == [("a-1", "step")]
    assert sent[0]["translation"]["tokens"] == ["A", "dog"]
    # Another question does, also one of another view.
    assert asks(**{**first, "id": "b-1", "task": "beam"}) == [("b-1", "step")]
    assert asks(id="a-1", task="next") == []
    while asks(id="b-1", task="next") == [("b-1", "step")]:
        pass
    assert sent[0]["state"] == "done" and sent[0]["search"]["nodes"]
    assert asks(id="b-1", task="next") == []


COPIES = {  # a, b, a, b: its second layer copies, from update 10 on
    "tokens": ["a", "b", "a", "b"],
    "period": 2,
    "updates": [0, 10],
    "maps": [
        [["100 / 50 50 / 40 30 30 / 25 25 25 25"]],
        [["100 / 50 50 / 0 100 0 / 0 20 80 0"]],
    ],
    "measured": [0, 5, 10],
    "first": [0.7, 0.7, 0.7],
    "again": [0.7, 0.6, 0.1],
}


def test_induction_explorer_reads_scores_and_rows():
    before, after = (InductionExplorer(**COPIES, stop=stop, row=3).numbers() for stop in (0, 1))
    assert before["induction"] == [[pytest.approx((0.30 + 0.25) / 2)]]
    assert after["induction"] == [[pytest.approx((1.00 + 0.80) / 2)]]
    assert after["previous"] == [[pytest.approx((0.50 + 1.00 + 0.80) / 3)]]
    assert (after["update"], after["loss_again"]) == (10, 0.1)
    assert (after["wanted"], after["weight"]) == ("a at 2", 0.8)
    assert after["strongest"] == after["wanted"] and after["asks"] == "b at 3"
    first = InductionExplorer(**COPIES, row=1).numbers()
    assert first["wanted"] == "none" and math.isnan(first["weight"])


def test_induction_explorer_takes_models():
    from transformer_book.studies.induction import AttentionOnly, attention_of, induction_score

    ids = torch.tensor([[3, 1, 4, 3, 1, 4]])
    models = {update: AttentionOnly(5, 8, 2, 2, 6).eval() for update in (0, 10)}
    made = InductionExplorer.from_models(models, ids, 3, {**COPIES, "updates": [0, 5, 10]}, stop=1)
    assert made.tokens == ["3", "1", "4", "3", "1", "4"] and made.updates == [0, 10]
    scores = torch.stack([induction_score(w, 3) for w in attention_of(models[10], ids)])
    torch.testing.assert_close(torch.tensor(made.numbers()["induction"]), scores, atol=0.01, rtol=0)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"period": 4}, "period is 4, but there are 4 tokens: it must be a whole number from 1 to"),
        ({"updates": [0]}, "There are 1 updates and 2 sets of maps"),
        ({"updates": [0, 7]}, "There is no loss for update 7"),
        ({"maps": [[["100 / 50 50"]]] * 2}, "A map has other rows than 1, 2, … 4 weights"),
        ({"maps": [[["a / b"]]] * 2}, "A map is 'a / b', but it must be text"),
        ({"first": [1.0]}, "first is .* must have the shape"),
        ({"stop": 2}, "stop is 2, but there are 2 updates"),
        ({"layer": 1}, "layer is 1, but there are 1 layers"),
        ({"head": 1}, "head is 1, but there are 1 heads"),
        ({"row": 4}, "row is 4, but there are 4 tokens"),
    ],
)
def test_induction_explorer_refuses_what_it_cannot_show(unhooked, wrong, sentence):
    explorer = unhooked("transformer_book.widgets.induction").InductionExplorer
    with pytest.raises(ValueError, match=sentence):
        explorer(**{**COPIES, **wrong})


def test_induction_explorer_keeps_per_cents():
    odd = [[["100 / 50 50 / 40 30 130 / 25 25 25 25"]]] * 2
    with pytest.raises(ValueError, match="A weight is 130, but weights are kept in per cents"):
        InductionExplorer(**{**COPIES, "maps": odd})
