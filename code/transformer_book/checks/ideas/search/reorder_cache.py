"""Reorder cache (chapter 17): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def cache_cases() -> Sequence[Case]:
    def cache(layers: int, n: int, heads: int, seed: int) -> list[tuple[Tensor, Tensor]]:
        return [
            (
                normal(n, heads, 3, 2, seed=seed + 2 * i),
                normal(n, heads, 3, 2, seed=seed + 2 * i + 1),
            )
            for i in range(layers)
        ]

    several = tuple(
        Case(name, (cache(layers, n, heads, seed), torch.tensor(rows)))
        for name, layers, n, heads, seed, rows in (
            ("two beams change places", 1, 2, 2, 10, [1, 0]),
            ("three beams, one of them doubled", 2, 3, 2, 20, [2, 0, 0]),
            ("all from one", 2, 3, 3, 30, [1, 1, 1]),
            ("round about", 1, 4, 4, 40, [1, 2, 3, 0]),
            ("nothing changes", 2, 2, 2, 50, [0, 1]),
            ("beams of two sentences", 2, 4, 2, 60, [1, 1, 3, 2]),
            ("round about, three layers", 3, 3, 3, 70, [2, 0, 1]),
            ("one beam", 2, 1, 2, 90, [0]),
            ("as many layers as beams, as many heads", 2, 2, 2, 95, [1, 1]),
        )
    )
    return (
        *several,
        Case(
            "the best stays, five beams of one head, a long text",
            (
                [(normal(5, 1, 1030, 3, seed=100), normal(5, 1, 1030, 3, seed=101))],
                torch.tensor([0, 0, 2, 1, 3]),
            ),
        ),
        Case(
            "one position, twelve layers",
            (
                [(normal(2, 2, 1, 4, seed=i), normal(2, 2, 1, 4, seed=i + 1)) for i in range(12)],
                torch.tensor([1, 0]),
            ),
        ),
    )


REORDER = Component(
    name="reorder_cache",
    chapter=17,
    order=8,
    section="Break it: three bugs in a decoder",
    signature="cache, rows",
    pipeline=lambda s, cache, rows: [
        s.pair(s.key_rows(keys, rows, i), s.value_rows(values, rows, i))
        for i, (keys, values) in enumerate(cache)
    ],
    steps={
        "key_rows": lambda keys, rows, layer: keys[rows],
        "value_rows": lambda values, rows, layer: values[rows],
        "pair": lambda keys, values: (keys, values),
    },
    cases=cache_cases,
    returns="a list of pairs (keys, values), one for each layer, both `(N, H, T, K)`: row i is "
    "what row `rows[i]` was, for beam i continues the beam that stood there",
    differentiable=False,
    done_by="KeyValueCache",
    met="nonsense",
    boundaries={
        "one beam": lambda rows: len(rows) == 1,
        "one layer": lambda cache: len(cache) == 1,
        "more than two layers": lambda cache: len(cache) > 2,
        "more than ten layers": lambda cache: len(cache) > 10,
        "more than four beams": lambda rows: len(rows) > 4,
        "one head": lambda cache: cache[0][0].size(1) == 1,
        "one position": lambda cache: cache[0][0].size(2) == 1,
        "longer than 128": lambda cache: cache[0][0].size(2) > 128,
        "more than two features": lambda cache: cache[0][0].size(3) > 2,
        "the best stays, others change": lambda rows: (
            rows[0] == 0 and rows.tolist() != list(range(len(rows)))
        ),
        "nothing changes": lambda rows: rows.tolist() == list(range(len(rows))),
        "a beam twice": lambda rows: len(rows.unique()) < len(rows),
        "as many layers as beams": lambda cache, rows: len(cache) == len(rows),
        "as many heads as beams": lambda cache: cache[0][0].size(0) == cache[0][0].size(1),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(REORDER)


def scattered_into(new: Tensor, old: Tensor, rows: Tensor) -> Tensor:
    for row, part in zip(rows, old, strict=True):  # of two in one place the last stays
        new[row] = part
    return new


@mistake(
    "key_rows",
    "cache not reordered with the beams",
    met=("nonsense", 13),
    symptom="Each beam goes on with the past of the beam that stood in its place before.",
    cause="Return keys[rows] and values[rows] of every layer: the rows that the kept beams "
    "continue.",
    steps={"value_rows": lambda values, rows, layer: values},
    seen="Beam search cache reorder silently skipped for Mamba, XLNet, RWKV, and Reformer models, "
    "https://github.com/huggingface/transformers/issues/46612",
)
def keys_left(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return keys


@mistake(
    "value_rows",
    "only the keys reordered",
    symptom="A beam finds its own keys and another beam's values.",
    cause="Reorder the values, too.",
)
def values_left(values: Tensor, rows: Tensor, layer: int) -> Tensor:
    return values


@mistake(
    "key_rows",
    "only the first layer reordered",
    symptom="From the second layer on, beams have the past of others.",
    cause="Reorder the cache of every layer.",
    steps={"value_rows": lambda values, rows, layer: values if layer else values[rows]},
)
def deeper_left(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return keys if layer else keys[rows]


@mistake(
    "key_rows",
    "cache scattered in place of gathered",
    symptom="Row i was written to place rows[i]; it should have been read from there.",
    cause="Take new = old[rows], not new[rows] = old.",
    steps={"value_rows": lambda values, rows, layer: scattered(values, rows, layer)},
)
def scattered(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return scattered_into(keys.clone(), keys, rows)


@mistake(
    "key_rows",
    "cache scattered into zeros",
    symptom="Row i was written to place rows[i]; places that no beam names stay 0.",
    cause="Take new = old[rows], not new[rows] = old.",
    steps={"value_rows": lambda values, rows, layer: scattered_anew(values, rows, layer)},
)
def scattered_anew(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return scattered_into(torch.zeros_like(keys), keys, rows)


@mistake(
    "key_rows",
    "rows sorted before the cache is taken",
    symptom="The beams' rows come in ascending order.",
    cause="Beam i continues row rows[i]: take keys[rows], in the order of `rows`.",
    steps={"value_rows": lambda values, rows, layer: values[rows.sort().values]},
)
def rows_sorted(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return keys[rows.sort().values]


@mistake(
    "key_rows",
    "each row taken once",
    symptom="Each row that goes on is there once, in ascending order, however often it is named.",
    cause="A row may be named several times: keys[rows] takes it as often.",
    steps={"value_rows": lambda values, rows, layer: values[rows.unique()]},
)
def rows_once(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return keys[rows.unique()]


@mistake(
    "pair",
    "keys in the place of values",
    symptom="The second of each pair is the keys again.",
    cause="Reorder the values, and return (keys, values).",
)
def keys_again(keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    return keys, keys


@mistake(
    "key_rows",
    "cache sorted the other way",
    symptom="Where no row comes twice, row i has gone to place rows[i]; it should have come from "
    "there.",
    cause="Beam i continues row rows[i]: take keys[rows].",
    steps={"value_rows": lambda values, rows, layer: values[rows.argsort()]},
)
def the_way_back(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return keys[rows.argsort()]


@mistake(
    "key_rows",
    "positions picked in place of rows",
    symptom="Places of the text are picked, not beams; where there are too few it stops.",
    cause="The indices are those of the beams: pick them along axis 0.",
    steps={"value_rows": lambda values, rows, layer: values.index_select(2, rows)},
)
def along_the_positions(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    return keys.index_select(2, rows)


@mistake(
    "key_rows",
    "cache overwritten while it is read",
    symptom="A later beam may read a row that has been overwritten already.",
    cause="Read all rows before any of them is written, as keys[rows] does.",
    steps={"value_rows": lambda values, rows, layer: overwritten(values, rows, layer)},
)
def overwritten(keys: Tensor, rows: Tensor, layer: int) -> Tensor:
    keys = keys.clone()
    for i, row in enumerate(rows):
        keys[i] = keys[row]
    return keys
