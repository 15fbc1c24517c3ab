"""Figures: the same bytes on every run, with a caption and an alternative text."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_rgb

from transformer_book import plots


@pytest.fixture
def published(monkeypatch):
    bundles: list[tuple[dict, dict]] = []
    monkeypatch.setattr(
        plots, "publish_display_data", lambda data, metadata: bundles.append((data, metadata))
    )
    yield bundles
    plt.close("all")


WORDS = ["Ein", "Hund", "schläft"]


def weights() -> torch.Tensor:
    return torch.tensor([[1.0, 0.0, 0.0], [0.25, 0.75, 0.0], [0.2, 0.2, 0.6]])


def test_show_publishes_figure_caption_and_alternative_text(published):
    plots.show(plots.attention(weights(), WORDS), caption="It $x$ finds.", alt="A map.")
    (image, data), (caption, mark) = published
    assert (
        image["image/svg+xml"].lstrip().startswith("<?xml") and "</svg>" in image["image/svg+xml"]
    )
    assert image["text/plain"] == "A map."
    assert data["image/svg+xml"] == {"alt": "A map.", "caption": "It $x$ finds."}
    assert caption["text/markdown"] == "*It $x$ finds.*" and mark == {"transformer_book": "caption"}
    assert not plt.get_fignums()


def test_the_same_figure_twice_gives_the_same_bytes(published):
    for _ in range(2):
        drawn, (left, right) = plots.figure(1, 2, width=6)
        plots.draw_attention(left, weights(), WORDS, WORDS, mask=torch.ones(3, 3).tril().bool())
        runs = {
            "a": torch.rand(3, 4, generator=torch.Generator().manual_seed(0)),
            "b": torch.ones(4),
        }
        plots.draw_runs(
            right, [1, 2, 4, 8], runs, xlabel="x", ylabel="y", xscale="log2", yscale="log"
        )
        plots.show(drawn, caption="Two.", alt="Two plots.")
    assert published[0][0] == published[2][0]
    assert "<dc:date>" not in published[0][0]["image/svg+xml"]


def test_rows_are_queries_and_columns_are_keys(published):
    drawn = plots.attention(weights()[:2], WORDS[:2], WORDS)
    (axes,) = drawn.axes
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("queries", "keys")
    assert [label.get_text() for label in axes.get_yticklabels()] == WORDS[:2]
    assert [label.get_text() for label in axes.get_xticklabels()] == WORDS
    assert [text.get_text() for text in axes.texts][:3] == ["1.00", "0.00", "0.00"]
    # Row 0 is on top, as the first word is read first.
    low, high = axes.get_ylim()
    assert low > high


def test_several_maps_stand_side_by_side(published):
    drawn = plots.attention({"head 0": weights(), "head 1": weights().T}, WORDS)
    assert [axes.get_title() for axes in drawn.axes] == ["head 0", "head 1"]


@pytest.mark.parametrize(("caption", "alt"), [("", "A map."), ("Finds.", " ")])
def test_a_figure_without_words_is_refused(published, caption, alt):
    with pytest.raises(ValueError, match="needs a caption and an alternative text"):
        plots.show(plots.attention(weights(), WORDS), caption=caption, alt=alt)
    assert not published


def test_labels_must_fit(published):
    with pytest.raises(ValueError, match="2 query labels and 3 key labels"):
        plots.attention(weights(), WORDS[:2], WORDS)


def test_unknown_scale(published):
    drawn, (axes,) = plots.figure()
    with pytest.raises(ValueError, match="did you mean 'log2'"):
        plots.draw_runs(axes, [1], {"a": torch.ones(1)}, xlabel="", ylabel="", xscale="log_2")
    plt.close(drawn)


def test_what_names_no_colour_has_the_hues_of_the_page(published):
    _, (axes,) = plots.figure()
    lines = [axes.plot([0, 1])[0] for _ in plots.PALETTE]
    assert [to_rgb(line.get_color()) for line in lines] == [to_rgb(hue) for hue in plots.PALETTE]
    plt.close(axes.figure)


PADDED = ["a", "dog", "<pad>"]
TRIANGLE = torch.ones(3, 3, dtype=torch.bool).tril()
REAL = torch.tensor([True, True, False])


def cells_of(axes) -> dict[str, set[tuple[int, int]]]:
    """The cells (row, column) of a drawn mask, by what the legend calls them."""
    return {
        c.get_label(): {
            tuple(int(v) for v in (path.vertices.min(axis=0) + 0.5)[::-1]) for path in c.get_paths()
        }
        for c in axes.collections
    }


def test_a_mask_shows_the_future_and_the_padding_apart(published):
    drawn = plots.masks({"right": (TRIANGLE & REAL, PADDED, PADDED)})
    (axes,) = drawn.axes
    assert cells_of(axes) == {
        "may attend": {(0, 0), (1, 0), (1, 1), (2, 0), (2, 1)},
        "may not": {(0, 1)},
        "padding": {(0, 2), (1, 2), (2, 2)},
    }
    looks = {c.get_label(): (c.get_facecolor().tobytes(), c.get_hatch()) for c in axes.collections}
    assert len(set(looks.values())) == 3
    assert (axes.get_ylabel(), axes.get_xlabel()) == ("queries", "keys")
    low, high = axes.get_ylim()
    assert low > high  # row 0 is on top
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == [*plots.MASKED]


def test_padding_that_may_be_attended_to_is_not_hatched(published):
    everything = torch.ones(2, 3, dtype=torch.bool)
    panels = {"leak": (everything, PADDED[:2], PADDED)}
    drawn = plots.masks(panels, legend=("attends", "does not", "padding"))
    assert set(cells_of(drawn.axes[0])) == {"may attend"}
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["attends"]


def test_masks_fill_a_grid_row_by_row(published):
    panels = {name: (TRIANGLE, PADDED, PADDED) for name in ("one", "two", "three")}
    drawn = plots.masks(panels, columns=2)
    assert [axes.get_title() for axes in drawn.axes] == ["one", "two", "three", ""]
    assert not drawn.axes[3].axison


@pytest.mark.parametrize(
    ("panels", "message"),
    [
        ({}, "no mask"),
        ({"a": (TRIANGLE.int(), PADDED, PADDED)}, "type torch.int32"),
        ({"a": (TRIANGLE, PADDED[:2], PADDED)}, "2 query labels and 3 key labels"),
    ],
)
def test_what_is_no_mask_is_refused(published, panels, message):
    with pytest.raises(ValueError, match=message):
        plots.masks(panels)


def test_tables_stand_one_above_the_other(published):
    values = {"with": torch.rand(2, 3), "without": torch.rand(2, 3)}
    drawn = plots.tables(values, ["a", "b"], ["1", "2", "3"], xlabel="rate", ylabel="width")
    upper, lower = drawn.axes
    assert (upper.get_title(), lower.get_title()) == ("with", "without")
    assert (upper.get_xlabel(), lower.get_xlabel()) == ("", "rate")
    assert upper.texts[5].get_text() == f"{values['with'][1, 2]:.2f}"


def coordinates(n_heads: int = 3, length: int = 4, d_head: int = 2) -> torch.Tensor:
    """`(H, T, K)`, each entry its own address."""
    h, t, k = (torch.arange(n) for n in (n_heads, length, d_head))
    return 100 * h[:, None, None] + 10 * t[:, None] + k


def painted(axes):
    """The colour of each cell by its upper left corner, and the corners of the frames."""
    filled = {p.get_xy(): p.get_facecolor() for p in axes.patches if p.get_fill()}
    frames = {
        (round(x), round(y)) for x, y in (p.get_xy() for p in axes.patches if not p.get_fill())
    }
    return filled, frames


def test_addresses_have_the_colour_of_their_head_and_the_darkness_of_their_position(published):
    heads = coordinates()
    merged = heads.transpose(0, 1).flatten(-2)  # (T, D)
    drawn = plots.addresses({"heads": heads, "merged": merged})
    split, rows = drawn.axes
    assert [a.get_title() for a in drawn.axes] == ["heads", "merged"]
    shown = [text.get_text() for text in rows.texts]
    assert shown == [str(number) for number in merged.flatten().tolist()]
    assert [t.get_text() for t in split.texts if "head" in t.get_text()] == [
        "head 0",
        "head 1",
        "head 2",
    ]
    filled, _ = painted(rows)
    assert len(filled) == 24 and len(set(filled.values())) == 12  # one for each head and position
    assert filled[0, 1] == filled[1, 1] != filled[2, 1]  # features of one head, then the next head
    assert sum(filled[0, 3][:3]) < sum(filled[0, 0][:3])  # later is darker
    low, high = rows.get_ylim()
    assert low > high  # position 0 is on top


def test_wrong_addresses_are_framed(published):
    heads = coordinates()
    merged = heads.reshape(4, 6)
    wrong = merged // 10 % 10 != torch.arange(4)[:, None]
    drawn = plots.addresses({"right": heads, "wrong": merged}, wrong={"wrong": wrong})
    assert painted(drawn.axes[0])[1] == set()
    assert painted(drawn.axes[1])[1] == {(c, r) for r, c in wrong.nonzero().tolist()} != set()


@pytest.mark.parametrize(
    ("addresses", "message"),
    [
        (torch.zeros(2), "must be whole numbers"),
        (torch.zeros(2, 2), "must be whole numbers"),
        (torch.tensor([[1000]]), "An address is 1000"),
        (torch.tensor([[-1, 5]]), "An address is -1"),
    ],
)
def test_what_is_no_address_is_refused(published, addresses, message):
    _, (axes,) = plots.figure()
    with pytest.raises(ValueError, match=message):
        plots.draw_addresses(axes, addresses)


def test_profiles_go_through_the_medians_of_stacks_of_different_depth(published):
    two, four = torch.tensor([[1.0, 10.0], [3.0, 30.0], [2.0, 50.0]]), torch.rand(3, 4) + 1
    drawn = plots.profiles(
        {"post": {"2 layers": two}, "pre": {"2 layers": two, "4 layers": four}},
        ylabel="gradient",
        yscale="log",
    )
    upper, lower = drawn.axes
    assert [axes.get_title() for axes in drawn.axes] == ["post", "pre"]
    assert (upper.get_xlabel(), lower.get_xlabel()) == ("", "layer")
    assert upper.get_ylabel() == "gradient" and upper.get_yscale() == "log"
    *runs, median = upper.lines
    assert [line.get_xdata().tolist() for line in upper.lines] == [[1, 2]] * 4
    assert [line.get_ydata().tolist() for line in runs] == two.tolist()
    assert median.get_ydata().tolist() == [2, 30]
    assert lower.lines[-1].get_xdata().tolist() == [1, 2, 3, 4]
    assert upper.get_ylim() == lower.get_ylim()
    with pytest.raises(ValueError, match="did you mean 'log'"):
        plots.profiles({"a": {"b": two}}, ylabel="", yscale="logg")


TREE = {
    ("a",): (".6", "kept"),
    ("the",): (".4", "best"),
    ("a", "dog"): (".3", "kept"),
    ("a", "cat"): (".3", "dropped"),
    ("the", "dog"): (".4", "best"),
}


def test_a_tree_grows_to_the_right_and_its_branches_do_not_cross(published):
    (axes,) = plots.tree(TREE).axes
    texts = {text.get_text(): text for text in axes.texts}
    assert set(texts) == {"a\n.6", "the\n.4", "dog\n.3", "cat\n.3", "dog\n.4"}
    places = {name: text.get_position() for name, text in texts.items()}
    assert [places[n] for n in ("dog\n.3", "cat\n.3", "dog\n.4")] == [(2, 0), (2, 1), (2, 2)]
    assert places["a\n.6"] == (1, 0.5) and places["the\n.4"] == (1, 2)  # beside their children
    lines = {tuple(zip(*line.get_data(), strict=True)): line for line in axes.lines}
    assert lines[(1, 0.5), (2, 1)].get_linestyle() == ":"  # dropped
    assert lines[(1, 0.5), (2, 0)].get_linestyle() == "-"
    low, high = axes.get_ylim()
    assert low > high  # the first beginning is on top
    assert texts["dog\n.4"].get_color() == "white" and texts["cat\n.3"].get_color() != "white"


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ({}, "no node"),
        ({("a", "dog"): ("", "kept")}, r"add \('a',\)"),
        ({(): ("", "kept")}, "no beginning"),
        ({("a",): ("", "drooped")}, "did you mean 'dropped'"),
    ],
)
def test_what_is_no_tree_is_refused(published, nodes, message):
    with pytest.raises(ValueError, match=message):
        plots.tree(nodes)


def test_weights_of_three_tokens_lie_in_a_triangle(published):
    corners = plots.simplex_points(torch.eye(3))
    sides = [((corners[i] - corners[j]) ** 2).sum() for i, j in ((0, 1), (0, 2), (1, 2))]
    assert sides == pytest.approx([1, 1, 1])
    assert corners[0][1] == corners[1][1] < corners[2][1]  # the first two below
    height, row = corners[2][1], torch.tensor([0.5, 0.3, 0.2])
    assert plots.simplex_points(row) == pytest.approx([0.3 + 0.2 / 2, 0.2 * height])
    # A thousand rows of weights: no point outside, each as far from the base as its weight says.
    rows = torch.randn(1000, 3, generator=torch.Generator().manual_seed(0)).softmax(dim=-1)
    points = plots.simplex_points(rows)
    assert points.shape == (1000, 2)
    assert points[:, 1] / height == pytest.approx(rows[:, 2].numpy())


def test_a_simplex_names_its_corners(published):
    _, (axes,) = plots.figure()
    plots.draw_simplex(axes, ["itself", "aligned", "others"], lines=[0.5])
    assert {text.get_text(): text.get_position()[0] for text in axes.texts} == {
        "itself": 0.0,
        "aligned": 1.0,
        "others": 0.5,
    }
    # The line of the left corner's weight 0.5 joins the middles of the two sides that meet there.
    ends = sorted(zip(*axes.lines[0].get_data(), strict=True))
    assert [tuple(end) for end in ends] == [
        pytest.approx((0.25, 3**0.5 / 4)),
        pytest.approx((0.5, 0)),
    ]


def test_a_triangle_has_three_corners(published):
    _, (axes,) = plots.figure()
    with pytest.raises(ValueError, match="2 names for 3 corners"):
        plots.draw_simplex(axes, ["a", "b"])
    with pytest.raises(ValueError, match="4 weights in a row"):
        plots.simplex_points(torch.full((2, 4), 0.25))


def test_arrows_start_at_the_origin_and_are_named_at_their_tips(published):
    _, (axes,) = plots.figure()
    plots.draw_arrows(axes, {"q": (1, 1), "k": (-2, -1)}, colours=["black", "red"])
    arrows = [text for text in axes.texts if not text.get_text()]
    names = [text for text in axes.texts if text.get_text()]
    assert [(arrow.xy, arrow.xyann) for arrow in arrows] == [((1, 1), (0, 0)), ((-2, -1), (0, 0))]
    assert [(name.get_text(), name.xy, name.get_color()) for name in names] == [
        ("q", (1, 1), "black"),
        ("k", (-2, -1), "red"),
    ]
    assert names[0].get_ha() == "left" and names[1].get_ha() == "right"  # away from the arrow


def test_influence_has_a_row_per_output_and_greys_what_does_not_move(published):
    only_the_past = torch.tensor([[1.5, 0.0, 0.0], [0.25, 1.0, 0.0], [0.1, 0.2, 1.0]])
    drawn = plots.influence({"past": only_the_past, "self": torch.eye(3)}, WORDS)
    upper, lower = drawn.axes
    assert (upper.get_ylabel(), upper.get_xlabel()) == ("output looked at", "token replaced")
    assert [label.get_text() for label in upper.get_yticklabels()] == WORDS
    assert [text.get_text() for text in upper.texts] == [
        "1.50",
        "0.25",
        "1.00",
        "0.10",
        "0.20",
        "1.00",
    ]
    assert [text.get_text() for text in lower.texts] == ["1.00"] * 3
    assert upper.get_position().y0 > lower.get_position().y1
    with pytest.raises(ValueError, match=r"shape \(2, 3\), but there are 3 words"):
        plots.influence({"past": only_the_past[:2]}, WORDS)


def test_padding_fills_each_batch_up_to_its_longest(published):
    drawn = plots.padding({"as they come": [[2, 5], [3, 1, 3]], "bucketed": [[1, 2], [3, 3]]})
    left, right = drawn.axes
    assert (left.get_title(), right.get_title()) == ("as they come", "bucketed")
    shapes = {name: [p for p in left.patches if p.get_label() == name] for name in plots.PLACES}
    assert [(p.get_width(), p.get_height()) for p in shapes["padding"]] == [(5, 2), (3, 3)]
    first, second = shapes["padding"]
    assert second.get_y() > first.get_y() + first.get_height()  # a gap between the batches
    outline = [tuple(point) for point in shapes["tokens"][0].get_xy()]
    assert outline == [(0, 0), (2, 0), (2, 1), (5, 1), (5, 2), (0, 2), (0, 0)]
    assert left.get_xlim() == right.get_xlim() == (0, 5)
    assert left.yaxis_inverted()
    (legend,) = drawn.legends
    assert [text.get_text() for text in legend.get_texts()] == ["tokens", "padding"]


@pytest.mark.parametrize("batches", [[], [[2, 5], []]])
def test_no_batch_to_draw(published, batches):
    with pytest.raises(ValueError, match="nothing to draw"):
        plots.padding({"": batches})
