"""Every figure the chapters share, and the way a figure reaches the page.

Figures are drawn dark on white, in the palette of the page. The page turns their lightness over in
the dark and keeps their hues, so a caption says "strong" or "filled", never "dark". They are
published as SVG with a caption that states the finding and an alternative text that says what to
see. In heatmaps rows are queries and columns are keys.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from itertools import count, cycle

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
import torch
from IPython.display import publish_display_data
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch, Polygon, Rectangle
from torch import Tensor

from transformer_book.support.arguments import check_choice, check_positive

# The hues of the page, in lightnesses that the colour-blind tell apart, too; each line stands out
# from the paper by 3 to 1, in the light and in the dark.
_FIRST = ("#0b4fa8", "#d07a00", "#0b8f68", "#a3162e", "#9a62d0")
_LATER = ("#2c93bd", "#7a5a2c", "#c2559b", "#7b8600", "#5f6b7a")
PALETTE = sns.color_palette([*_FIRST, *_LATER])
STYLE = {
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "figure.dpi": 100,
    "axes.prop_cycle": plt.cycler(color=PALETTE),
    "svg.fonttype": "path",  # the same shapes on every machine, whatever fonts it has
    "svg.hashsalt": "transformer-book",  # the same ids on every run
}
WEIGHTS = mpl.colors.LinearSegmentedColormap.from_list("weights", ["#ffffff", "#9fc5e8", "#0b5394"])
HIDDEN = "#e4e4e4"


def figure(
    rows: int = 1, columns: int = 1, *, width: float = 6.5, height: float = 3.5, **options: object
) -> tuple[Figure, np.ndarray]:
    """A new figure in the book's style, and its axes as a flat array.

    `width` and `height` are inches of the whole figure; options go to `plt.subplots`.
    """
    with mpl.rc_context({**sns.axes_style("whitegrid"), **STYLE}):
        drawn, axes = plt.subplots(
            rows, columns, figsize=(width, height), squeeze=False, layout="constrained", **options
        )
    return drawn, axes.flatten()


def show(drawn: Figure, *, caption: str, alt: str) -> None:
    """Publish a figure with its caption and its alternative text, then close it.

    Args:
        drawn: the figure.
        caption: states the finding; Markdown with `$math$`, one paragraph, no `*emphasis*`.
        alt: plain text that says what to see, for readers who cannot.

    Raises:
        ValueError: if either text is empty.
    """
    if not caption.strip() or not alt.strip():
        raise ValueError("A figure needs a caption and an alternative text; one of them is empty.")
    buffer = io.StringIO()
    with mpl.rc_context(STYLE):
        drawn.savefig(buffer, format="svg", metadata={"Date": None}, bbox_inches="tight")
    plt.close(drawn)
    publish_display_data(
        {"image/svg+xml": buffer.getvalue(), "text/plain": alt},
        metadata={"image/svg+xml": {"alt": alt, "caption": caption}},
    )
    # For front ends that do not read the metadata; the website has the caption already.
    publish_display_data(
        {"text/markdown": f"*{caption}*", "text/plain": caption},
        metadata={"transformer_book": "caption"},
    )


def draw_cells(
    axes: Axes,
    values: Tensor,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    mask: Tensor | None = None,
    numbers: bool,
) -> None:
    """A labelled grid of numbers from 0 to 1, from white to blue; grey where `mask` is `False`."""
    sns.heatmap(
        values.detach().double().cpu().numpy(),
        ax=axes,
        vmin=0,
        vmax=1,
        cmap=WEIGHTS,
        mask=None if mask is None else ~mask.cpu().numpy(),
        annot=numbers,
        fmt=".2f",
        annot_kws={"size": 9},
        linewidths=0.6,
        linecolor="#d9d9d9",
        cbar=False,
        xticklabels=columns,
        yticklabels=rows,
    )
    axes.set_facecolor(HIDDEN)
    axes.grid(False)


def draw_attention(
    axes: Axes,
    weights: Tensor,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    mask: Tensor | None = None,
    title: str = "",
    numbers: bool | None = None,
) -> None:
    """One map of attention weights: rows are queries, columns are keys, each row sums to one.

    Args:
        axes: where to draw.
        weights: `(T, S)`.
        queries, keys: the `T` and `S` labels.
        mask: `(T, S)`, `True` = may attend; what may not be attended to is drawn in grey.
        title: above the map.
        numbers: write the weights into the cells; by default if there are at most 8 columns.

    Raises:
        ValueError: if labels and weights differ in number.
    """
    if weights.shape != (len(queries), len(keys)):
        raise ValueError(
            f"The weights have shape {tuple(weights.shape)}, but there are {len(queries)} query "
            f"labels and {len(keys)} key labels; pass one label per row and one per column."
        )
    numbers = len(keys) <= 8 if numbers is None else numbers
    draw_cells(axes, weights, queries, keys, mask=mask, numbers=numbers)
    label_map(axes, title)


def label_map(axes: Axes, title: str, rotation: int = 45) -> None:
    """What every map of queries and keys has: square cells, readable labels, names of the axes."""
    axes.set_aspect("equal")
    axes.tick_params(axis="x", rotation=rotation, length=0)
    axes.tick_params(axis="y", rotation=0, length=0)
    for label in axes.get_xticklabels():
        label.set_horizontalalignment("right")
        label.set_rotation_mode("anchor")
    axes.set(title=title, xlabel="keys", ylabel="queries")


def attention(
    weights: Tensor | Mapping[str, Tensor],
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    mask: Tensor | None = None,
    numbers: bool | None = None,
    size: float = 3.4,
) -> Figure:
    """One or several maps of attention weights side by side; keys default to the queries.

    Args:
        weights: `(T, S)`, or several by their titles.
        queries, keys, mask, numbers: as for `draw_attention`.
        size: inches of one map.
    """
    maps = weights if isinstance(weights, Mapping) else {"": weights}
    drawn, axes = figure(1, len(maps), width=size * len(maps), height=size)
    for place, (title, map_) in zip(axes, maps.items(), strict=True):
        draw_attention(
            place, map_, queries, keys or queries, mask=mask, title=title, numbers=numbers
        )
    for place in axes[1:]:
        place.set_ylabel("")
    return drawn


MASKED = {
    "may attend": {"facecolor": "#0b5394", "edgecolor": "white"},
    "may not": {"facecolor": HIDDEN, "edgecolor": "white"},
    "padding": {"facecolor": "white", "edgecolor": "#8c8c8c", "hatch": "/////"},
}


def draw_mask(
    axes: Axes,
    mask: Tensor,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    padding: str = "<pad>",
    title: str = "",
) -> None:
    """One boolean mask: dark where a query may attend, light or hatched where it may not.

    Args:
        axes: where to draw.
        mask: `(T, S)`, `True` = may attend.
        queries, keys: the `T` and `S` labels.
        padding: the label of padding. A hidden key of that name is hatched, any other hidden key is
            grey; its labels are grey, too. A padding key that may be attended to is dark: a leak.
        title: above the mask.

    Raises:
        ValueError: if the mask is not boolean, or if labels and mask differ in number.
    """
    if mask.dtype != torch.bool:
        raise ValueError(f"The mask has type {mask.dtype}, but it must be boolean to be drawn.")
    if mask.shape != (len(queries), len(keys)):
        raise ValueError(
            f"The mask has shape {tuple(mask.shape)}, but there are {len(queries)} query "
            f"labels and {len(keys)} key labels; pass one label per row and one per column."
        )
    cells: dict[str, list[Rectangle]] = {state: [] for state in MASKED}
    for i, row in enumerate(mask.tolist()):
        for j, may_attend in enumerate(row):
            hidden = "padding" if keys[j] == padding else "may not"
            cell = Rectangle((j - 0.5, i - 0.5), 1, 1)
            cells["may attend" if may_attend else hidden].append(cell)
    for state, rectangles in cells.items():
        if rectangles:
            drawn = PatchCollection(rectangles, label=state, linewidth=1, **MASKED[state])
            axes.add_collection(drawn)
    axes.set(xlim=(-0.5, len(keys) - 0.5), ylim=(len(queries) - 0.5, -0.5))
    axes.set_xticks(range(len(keys)), keys)
    axes.set_yticks(range(len(queries)), queries)
    axes.grid(False)
    label_map(axes, title, rotation=90)
    for label in axes.get_xticklabels():
        label.set_verticalalignment("center")  # of the column, as the text now runs upwards
    for label in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        if label.get_text() == padding:
            label.set_color("#767676")


def masks(
    panels: Mapping[str, tuple[Tensor, Sequence[str], Sequence[str]]],
    *,
    columns: int = 1,
    padding: str = "<pad>",
    legend: Sequence[str] = tuple(MASKED),
    size: float = 2.4,
) -> Figure:
    """Boolean masks in a grid, row by row, with one legend below all of them.

    Args:
        panels: by title, a `(T, S)` mask and its labels of queries and keys; see `draw_mask`.
        columns: how many stand side by side.
        padding: the label of padding.
        legend: other words for "may attend", "may not" and "padding".
        size: inches of one mask.

    Raises:
        ValueError: if there is no mask to draw; otherwise as `draw_mask`.
    """
    if not panels:
        raise ValueError("There is no mask to draw; pass at least one.")
    check_positive(columns=columns)
    rows = -(-len(panels) // columns)
    drawn, axes = figure(rows, columns, width=size * columns, height=size * rows + 0.4)
    for place, (title, (mask, queries, keys)) in zip(axes, panels.items(), strict=False):
        draw_mask(place, mask, queries, keys, padding=padding, title=title)
    for place in axes[len(panels) :]:
        place.axis("off")
    found = {c.get_label() for place in axes for c in place.collections}
    handles = [
        Patch(label=name, **look)
        for name, (state, look) in zip(legend, MASKED.items(), strict=True)
        if state in found
    ]
    drawn.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
    return drawn


def tables(
    values: Mapping[str, Tensor],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    xlabel: str,
    ylabel: str,
    width: float = 4.6,
    height: float = 3.8,
) -> Figure:
    """Tables of numbers from 0 to 1, one above the other, each number in its cell.

    Args:
        values: by title, `(len(rows), len(columns))`.
        rows, columns: the labels.
        xlabel, ylabel: what the labels are.
        width, height: inches of the whole figure.
    """
    drawn, axes = figure(len(values), 1, width=width, height=height)
    for place, (title, table) in zip(axes, values.items(), strict=True):
        draw_cells(place, table, rows, columns, numbers=True)
        place.tick_params(axis="both", rotation=0, length=0)
        place.set(title=title, xlabel=xlabel if place is axes[-1] else "", ylabel=ylabel)
    return drawn


def influence(
    changes: Mapping[str, Tensor],
    words: Sequence[str],
    *,
    numbers: bool = True,
    width: float = 4.6,
    height: float = 4.2,
) -> Figure:
    """Which input moves which output, one map below the other: row i, column j is how far output i
    moves when token j is replaced. What does not move at all is drawn in grey.

    Args:
        changes: by title, `(T, T)`, relative changes, at least 0; above 1 all are drawn alike.
        words: the `T` labels.
        numbers: write the changes into the cells.
        width, height: inches of one map.

    Raises:
        ValueError: if labels and changes differ in number.
    """
    drawn, axes = figure(len(changes), 1, width=width, height=height * len(changes))
    for place, (title, table) in zip(axes, changes.items(), strict=True):
        if table.shape != (len(words), len(words)):
            raise ValueError(
                f"The changes have shape {tuple(table.shape)}, but there are {len(words)} words; "
                "pass one row and one column per word."
            )
        draw_cells(place, table, words, words, mask=table != 0, numbers=numbers)
        place.tick_params(axis="x", rotation=45, length=0)
        place.tick_params(axis="y", rotation=0, length=0)
        for label in place.get_xticklabels():
            label.set_horizontalalignment("right")
            label.set_rotation_mode("anchor")
        place.set(title=title, xlabel="token replaced", ylabel="output looked at")
    return drawn


PLACES = {
    "tokens": {"facecolor": "#0b5394", "edgecolor": "none"},
    "padding": {"facecolor": "#f6c48f", "edgecolor": "none"},
}


def draw_padding(axes: Axes, batches: Sequence[Sequence[int]], *, title: str = "") -> None:
    """Batches as they lie in memory, one below the other: tokens are dark, padding is light.

    Each sequence is a row, from the left; each batch is a rectangle as wide as its longest.

    Args:
        axes: where to draw.
        batches: for each batch, the lengths of its sequences, in tokens.
        title: above the batches.

    Raises:
        ValueError: if there is no batch, or if one is empty.
    """
    if not batches or not all(batches):
        raise ValueError("There is nothing to draw: pass at least one batch, and none empty.")
    top, widest = 0.0, max(map(max, batches))
    gap = 0.02 * sum(map(len, batches))
    for lengths in batches:
        corner, width = (0, top), max(lengths)
        axes.add_patch(Rectangle(corner, width, len(lengths), label="padding", **PLACES["padding"]))
        # One outline for all rows: hundreds of thin ones would leave seams of the colour below.
        steps = [
            (length, top + row + below) for row, length in enumerate(lengths) for below in (0, 1)
        ]
        outline = [(0, top), *steps, (0, top + len(lengths))]
        axes.add_patch(Polygon(outline, closed=True, label="tokens", **PLACES["tokens"]))
        top += len(lengths) + gap
    axes.set(xlim=(0, widest), ylim=(top - gap, 0), yticks=[], title=title)
    axes.grid(False)
    sns.despine(ax=axes, left=True)


def padding(
    panels: Mapping[str, Sequence[Sequence[int]]], *, width: float = 4.8, height: float = 5.2
) -> Figure:
    """Batches and their padding, panels side by side, see `draw_padding`; one legend below.

    Args:
        panels: by title, for each batch the lengths of its sequences.
        width, height: inches of the whole figure.
    """
    drawn, axes = figure(1, len(panels), width=width, height=height)
    for place, (title, batches) in zip(axes, panels.items(), strict=True):
        draw_padding(place, batches, title=title)
        place.set_xlabel("position")
    widest = max(place.get_xlim()[1] for place in axes)
    for place in axes:
        place.set_xlim(0, widest)  # one scale, so that the panels can be compared
    axes[0].set_ylabel("sequences, batch after batch")
    handles = [Patch(label=name, **look) for name, look in PLACES.items()]
    drawn.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False)
    return drawn


MARKERS = ("o", "s", "^", "D")


def draw_runs(
    axes: Axes,
    x: Sequence[float],
    runs: Mapping[str, Tensor],
    *,
    xlabel: str,
    ylabel: str,
    xscale: str = "linear",
    yscale: str = "linear",
) -> None:
    """Several series of repeated measurements: a dot for each run, a line through the medians.

    Args:
        axes: where to draw.
        x: where the measurements were taken, `n` numbers.
        runs: by name, `(runs, n)` measurements.
        xlabel, ylabel: what the axes show.
        xscale, yscale: `"linear"`, or `"log2"` or `"log"` with ticks at the measured places.
    """
    for scale in (xscale, yscale):
        check_choice("scale", scale, ("linear", "log", "log2"))
    for (name, values), colour, marker in zip(
        runs.items(), cycle(PALETTE), cycle(MARKERS), strict=False
    ):
        values = values.detach().double().reshape(-1, len(x)).numpy()
        for run in values:
            axes.plot(x, run, marker, color=colour, alpha=0.45, markersize=5, markeredgewidth=0)
        axes.plot(
            x, np.median(values, axis=0), color=colour, marker=marker, label=name, markersize=6
        )
    for axis, scale in (("x", xscale), ("y", yscale)):
        if scale != "linear":
            getattr(axes, f"set_{axis}scale")("log", base=2 if scale == "log2" else 10)
    if xscale == "log2":
        axes.set_xticks(x, [str(value) for value in x])
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.legend(frameon=True)
    sns.despine(ax=axes)


def draw_frames(axes: Axes, cells: Tensor, *, left: float = 0.0) -> None:
    """Frame some cells of a grid, such as a heatmap.

    Args:
        axes: where the grid is drawn, its first cell from (left, 0) to (left + 1, 1).
        cells: `(rows, columns)`, `True` where a cell gets a frame.
        left: where the grid begins.
    """
    for row, column in cells.nonzero().tolist():
        corner = (left + column + 0.04, row + 0.04)
        axes.add_patch(mpl.patches.Rectangle(corner, 0.92, 0.92, fill=False, ec="black", lw=2))


def draw_addresses(
    axes: Axes, addresses: Tensor, *, title: str = "", wrong: Tensor | None = None
) -> None:
    """A tensor whose entries say where they belong: 100·head + 10·position + feature.

    A cell has its address in it and the colour of its head, the darker the later its position. So
    heads that are split or merged rightly have one colour to a block, or to a column, and rows of
    one darkness.

    Args:
        axes: where to draw.
        addresses: whole numbers from 0 to 999; `(T, D)`, one row per position, or `(H, T, K)`,
            drawn as `H` such blocks side by side.
        title: above the tensor.
        wrong: of the same shape, `True` where a cell gets a frame.

    Raises:
        ValueError: for other shapes or numbers.
    """
    if addresses.dim() not in (2, 3) or addresses.is_floating_point():
        raise ValueError(
            f"The addresses have shape {tuple(addresses.shape)} and type {addresses.dtype}, but "
            "they must be whole numbers of the shape (T, D) or (H, T, K)."
        )
    low, high = addresses.min().item(), addresses.max().item()
    if low < 0 or high > 999:
        raise ValueError(
            f"An address is {low if low < 0 else high}, but one digit each for head, position and "
            "feature allows 0 to 999."
        )
    blocks = addresses if addresses.dim() == 3 else addresses[None]  # (H, T, K)
    frames = (torch.zeros_like(blocks) if wrong is None else wrong).reshape(blocks.shape)
    _, n_rows, n_columns = blocks.shape
    last = max(1, (addresses // 10 % 10).max().item())
    for h, block in enumerate(blocks.tolist()):
        left = h * (n_columns + 0.6)
        for row, column in np.ndindex(n_rows, n_columns):
            address = block[row][column]
            head, position = address // 100, address // 10 % 10
            strength = 0.18 + 0.5 * position / last  # pale enough for black numbers
            colour = [1 + strength * (c - 1) for c in PALETTE[head]]
            corner = (left + column, row)
            axes.add_patch(mpl.patches.Rectangle(corner, 1, 1, facecolor=colour, edgecolor="white"))
            axes.text(
                left + column + 0.5, row + 0.5, str(address), size=9, ha="center", va="center"
            )
        draw_frames(axes, frames[h], left=left)
        if addresses.dim() == 3:
            axes.text(left + n_columns / 2, -0.12, f"head {h}", size=9, ha="center", va="bottom")
    axes.set(xlim=(-0.05, left + n_columns + 0.05), ylim=(n_rows + 0.05, -0.05), xticks=[])
    axes.set_yticks([row + 0.5 for row in range(n_rows)], [f"position {t}" for t in range(n_rows)])
    axes.tick_params(axis="y", length=0)
    axes.set_title(title, pad=16 if addresses.dim() == 3 else 6)
    axes.grid(False)
    sns.despine(ax=axes, left=True, bottom=True)


def addresses(
    tensors: Mapping[str, Tensor],
    *,
    wrong: Mapping[str, Tensor] | None = None,
    width: float = 4.6,
) -> Figure:
    """Tensors of addresses, one above the other.

    Args:
        tensors: by title, as for `draw_addresses`.
        wrong: by title, for those that have cells to frame.
        width: inches of the whole figure.
    """
    rows = [tensor.size(-2) for tensor in tensors.values()]
    drawn, axes = figure(
        len(tensors), 1, width=width, height=sum(0.3 * n + 0.6 for n in rows), height_ratios=rows
    )
    for place, (title, tensor) in zip(axes, tensors.items(), strict=True):
        draw_addresses(place, tensor, title=title, wrong=(wrong or {}).get(title))
    return drawn


def profiles(
    panels: Mapping[str, Mapping[str, Tensor]],
    *,
    xlabel: str = "layer",
    ylabel: str,
    yscale: str = "linear",
    width: float = 4.6,
    height: float = 6.0,
) -> Figure:
    """One line per stack over its layers 1 … n, from light (the first) to dark (the last).

    Args:
        panels: by title, from top to bottom, the stacks by name, each `(runs, n)` measurements; n
            may differ. A line goes through the medians, a dot stands for each run.
        xlabel, ylabel: what the axes show; all panels share them.
        yscale: `"linear"` or `"log"`.
        width, height: inches of the whole figure.
    """
    check_choice("scale", yscale, ("linear", "log"))
    drawn, axes = figure(len(panels), 1, width=width, height=height, sharex=True, sharey=True)
    for place, (title, stacks) in zip(axes, panels.items(), strict=True):
        colours = sns.color_palette("crest", len(stacks))
        for (name, values), colour, marker in zip(
            stacks.items(), colours, cycle(MARKERS), strict=False
        ):
            values = values.detach().double().cpu().numpy()
            layers = np.arange(1, values.shape[-1] + 1)
            for run in values:
                place.plot(layers, run, ".", color=colour, alpha=0.4, markeredgewidth=0)
            place.plot(
                layers,
                np.median(values, axis=0),
                color=colour,
                marker=marker,
                markersize=4,
                label=name,
            )
        place.set(title=title, ylabel=ylabel, yscale=yscale)
        sns.despine(ax=place)
    axes[-1].set_xlabel(xlabel)
    axes[0].legend(frameon=True, fontsize=8)
    return drawn


BRANCHES = {
    "best": {"face": "#0b5394", "text": "white", "line": "#0b5394", "style": "-", "width": 2.4},
    "kept": {"face": "#d9e8f6", "text": "black", "line": "#0b5394", "style": "-", "width": 1.4},
    "dropped": {"face": "white", "text": "#595959", "line": "#8c8c8c", "style": ":", "width": 1.4},
}


def tree(
    nodes: Mapping[tuple[str, ...], tuple[str, str]], *, width: float = 5.0, height: float = 3.6
) -> Figure:
    """Beginnings of sentences as a tree that grows from left to right, one word a column.

    Args:
        nodes: by its words, what is written below the last word of a beginning, and what became of
            it: `"kept"` (light, solid line), `"dropped"` (white, dotted line) or `"best"` (dark).
            The same beginning without its last word must be among the nodes, too.
        width, height: inches of the whole figure.

    Raises:
        ValueError: if there are no nodes, if the beginning of a node is missing, or for an unknown
            state.
    """
    if not nodes:
        raise ValueError("There is no node to draw; pass at least one.")
    children: dict[tuple[str, ...], list[tuple[str, ...]]] = {words: [] for words in ((), *nodes)}
    for words, (_, state) in nodes.items():
        check_choice("state", state, BRANCHES)
        if not words or words[:-1] not in children:
            raise ValueError(
                f"The node {words!r} has no beginning among the nodes; add {words[:-1]!r}."
            )
        children[words[:-1]].append(words)
    rows = count()
    places: dict[tuple[str, ...], float] = {}

    def place(words: tuple[str, ...]) -> float:
        """A leaf takes the next row, any other node stands in the middle of its children."""
        below = [place(child) for child in children[words]]
        places[words] = (below[0] + below[-1]) / 2 if below else next(rows)
        return places[words]

    place(())
    drawn, (axes,) = figure(width=width, height=height)
    for words, (number, state) in nodes.items():
        look, x, y = BRANCHES[state], len(words), places[words]
        line = {"color": look["line"], "linestyle": look["style"], "linewidth": look["width"]}
        axes.plot([x - 1, x], [places[words[:-1]], y], zorder=1, **line)
        axes.text(
            x,
            y,
            f"{words[-1]}\n{number}",
            color=look["text"],
            size=9,
            ha="center",
            va="center",
            linespacing=1.1,
            bbox={
                "boxstyle": "round,pad=0.3",
                "facecolor": look["face"],
                "edgecolor": look["line"],
                "linestyle": look["style"],
            },
        )
    axes.plot(0, places[()], "o", color=BRANCHES["kept"]["line"], markersize=6)
    axes.set(xlim=(-0.15, max(map(len, nodes)) + 0.45), ylim=(next(rows) - 0.5, -0.5))
    axes.axis("off")
    return drawn


TRIANGLE = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 3**0.5 / 2]])


def simplex_points(weights: Tensor) -> np.ndarray:
    r"""Where the weights of three tokens lie in the triangle: $\sum_j a_j\, c_j$.

    The corners $c_j$ are $(0, 0)$, $(1, 0)$ and $(1/2, \sqrt 3 / 2)$, so all sides have length 1.

    Args:
        weights: `(…, 3)`, each row sums to one: the barycentric coordinates of a point.

    Returns:
        `(…, 2)`, the places of the points in the plane.

    Raises:
        ValueError: if there are not three weights in a row.
    """
    if weights.shape[-1] != 3:
        raise ValueError(
            f"There are {weights.shape[-1]} weights in a row, but a triangle has 3 corners; "
            "add weights up into three groups."
        )
    return weights.detach().double().cpu().numpy() @ TRIANGLE


def draw_simplex(
    axes: Axes, corners: Sequence[str], *, lines: Sequence[float] = (0.25, 0.5, 0.75)
) -> None:
    """The triangle of all weights of three tokens, for points from `simplex_points`.

    Args:
        axes: where to draw.
        corners: the tokens that have all the weight at the left, the right and the upper corner.
        lines: dotted lines run where one of the weights has one of these values.

    Raises:
        ValueError: if there are not three corners.
    """
    if len(corners) != 3:
        raise ValueError(f"There are {len(corners)} names for 3 corners; pass three.")
    axes.add_patch(
        mpl.patches.Polygon(TRIANGLE, facecolor="#f7f7f7", edgecolor="#404040", zorder=0.5)
    )
    for weight in lines:
        for j in range(3):
            ends = weight * TRIANGLE[j] + (1 - weight) * np.delete(TRIANGLE, j, axis=0)
            axes.plot(*ends.T, ":", color="#b0b0b0", linewidth=0.8, zorder=0.6)
    for name, place, where in zip(corners, TRIANGLE, ("top", "top", "bottom"), strict=True):
        shift = -0.03 if where == "top" else 0.03
        axes.text(place[0], place[1] + shift, name, ha="center", va=where)
    axes.set(xlim=(-0.18, 1.18), ylim=(-0.15, 1.0))
    axes.set_aspect("equal")
    axes.axis("off")


def draw_arrows(
    axes: Axes,
    arrows: Mapping[str, Sequence[float]],
    *,
    colours: Sequence[object] = PALETTE,
    style: str = "-",
) -> None:
    """Vectors of the plane as arrows from the origin, each with its name beside its tip.

    Args:
        axes: where to draw; its limits are left to the caller.
        arrows: by name, two numbers each.
        colours: used in turn, starting again if there are fewer than arrows.
        style: of the lines.
    """
    for (name, (x, y)), colour in zip(arrows.items(), cycle(colours), strict=False):
        axes.annotate(
            "",
            (x, y),
            (0, 0),
            arrowprops={
                "arrowstyle": "-|>",
                "color": colour,
                "linewidth": 1.8,
                "linestyle": style,
                "shrinkA": 0,
                "shrinkB": 0,
            },
        )
        length = float(np.hypot(x, y)) or 1.0
        axes.annotate(
            name,
            (x, y),
            (9 * x / length, 9 * y / length),
            textcoords="offset points",
            ha="left" if x >= 0 else "right",
            va="bottom" if y >= 0 else "top",
            color=colour,
        )
    axes.set_aspect("equal")
