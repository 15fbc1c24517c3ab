"""A small model while it learns to copy: its loss, its heads' maps and scores, update by update."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
import traitlets

from transformer_book.studies.induction import attention_of
from transformer_book.widgets.explorer import Explorer, check_whole, number_list

PERCENT = 100  # weights are kept as whole per cents: the page holds many


class InductionExplorer(Explorer):
    r"""What each head of a causal model looks at, on one sequence that repeats, at several updates.

    Beside the map stand the losses of the run. For each head there are two scores, read from the
    map as it is drawn: the mean weight on the token after the last place of the row's token
    (`induction_score`), and on the token one place back (`previous_token_score`).

    `from_models` makes one from models and their losses.

    Args:
        tokens: names of the $T$ tokens.
        period: $P$: token $t$ is token $t - P$.
        updates: at which updates there are maps.
        maps: for each update, layer and head its map as text, "100 / 50 50 / 0 100 0": row $t$ has
            $t + 1$ weights, in whole per cents (see `packed`).
        measured: at which updates the losses were measured; each of `updates` is one of them.
        first: the loss on tokens that come for the first time, at each of them.
        again: the loss on tokens that come again.
        stop: which of the updates is shown.
        layer, head: which map.
        row: the position that is looked at.

    All are counted from 0; the page counts layers and heads from 1.

    Raises:
        ValueError: for maps of another shape, a weight that is no per cent, an update without a
            loss, or what does not exist.
    """

    javascript = "induction.js"
    label = "Induction explorer"

    tokens = traitlets.List(traitlets.Unicode()).tag(sync=True)
    period = traitlets.Int().tag(sync=True)
    updates = traitlets.List(traitlets.Int()).tag(sync=True)
    maps = traitlets.List().tag(sync=True)
    measured = traitlets.List(traitlets.Int()).tag(sync=True)
    first = traitlets.List(traitlets.Float()).tag(sync=True)
    again = traitlets.List(traitlets.Float()).tag(sync=True)
    stop = traitlets.Int(0).tag(sync=True, moved=True)
    layer = traitlets.Int(0).tag(sync=True, moved=True)
    head = traitlets.Int(0).tag(sync=True, moved=True)
    row = traitlets.Int(0).tag(sync=True, moved=True)

    def __init__(
        self,
        tokens: Sequence[str],
        period: int,
        updates: Sequence[int],
        maps: Sequence,
        measured: Sequence[int],
        first: Sequence[float],
        again: Sequence[float],
        stop: int = 0,
        layer: int = 0,
        head: int = 0,
        row: int = 0,
    ) -> None:
        n_tokens = len(tokens)
        check_whole("period", period, 1, n_tokens - 1, f"there are {n_tokens} tokens")
        if len(maps) != len(updates) or not maps:
            raise ValueError(
                f"There are {len(updates)} updates and {len(maps)} sets of maps: give one set for "
                "each update, and at least one."
            )
        missing = [update for update in updates if update not in measured]
        if missing:
            raise ValueError(f"There is no loss for update {missing[0]}: measure it there, too.")
        n_layers, n_heads = len(maps[0]), len(maps[0][0])
        for layers in maps:
            for heads in layers:
                for text in heads:
                    check_rows(text, n_tokens)
            if len(layers) != n_layers or any(len(heads) != n_heads for heads in layers):
                raise ValueError("The updates differ in their layers or heads.")
        check_whole("stop", stop, 0, len(updates) - 1, f"there are {len(updates)} updates")
        check_whole("layer", layer, 0, n_layers - 1, f"there are {n_layers} layers")
        check_whole("head", head, 0, n_heads - 1, f"there are {n_heads} heads")
        check_whole("row", row, 0, n_tokens - 1, f"there are {n_tokens} tokens")
        super().__init__(
            tokens=list(tokens),
            period=period,
            updates=list(updates),
            maps=[[list(heads) for heads in layers] for layers in maps],
            measured=list(measured),
            first=number_list("first", list(first), len(measured)),
            again=number_list("again", list(again), len(measured)),
            stop=stop,
            layer=layer,
            head=head,
            row=row,
        )

    @classmethod
    def from_models(
        cls,
        models: Mapping[int, torch.nn.Module],
        ids: torch.Tensor,
        period: int,
        losses: Mapping[str, Sequence],
        **chosen: object,
    ) -> InductionExplorer:
        """The maps of models, by their updates, when they read one sequence.

        Args:
            models: `AttentionOnly` models.
            ids: `(1, T)`.
            period: of the sequence.
            losses: "updates", "first" and "again", as `recorded_induction` has them.
            chosen: stop, layer, head, row.

        Raises:
            ValueError: as the constructor.
        """
        maps = []
        for model in models.values():
            weights = (PERCENT * attention_of(model, ids)[:, 0]).round().int()  # (layers, H, T, T)
            maps.append([[packed(rows) for rows in heads] for heads in weights.tolist()])
        return cls(
            tokens=[str(token) for token in ids[0].tolist()],
            period=period,
            updates=list(models),
            maps=maps,
            measured=losses["updates"],
            first=losses["first"],
            again=losses["again"],
            **chosen,
        )

    def numbers(self) -> dict[str, object]:
        """Losses at this update, all scores, and where the chosen row looks, as the page shows it.

        `induction` and `previous` have a score for each layer and head. `wanted` names the token
        after the last place of the row's token, "none" where it has not been there, and `weight`
        is what the chosen head gives it. `strongest` and `largest` are the token with the largest
        weight, and this weight.
        """
        maps = [[unpacked(text) for text in heads] for heads in self.maps[self.stop]]
        at = self.measured.index(self.updates[self.stop])
        length, row, period = len(self.tokens), self.row, self.period
        chosen = maps[self.layer][self.head][row]
        key = row - period + 1
        strongest = chosen.index(max(chosen))
        return {
            "update": self.updates[self.stop],
            "loss_first": self.first[at],
            "loss_again": self.again[at],
            "induction": [
                [mean(rows[t][t - period + 1] for t in range(period, length)) for rows in heads]
                for heads in maps
            ],
            "previous": [
                [mean(rows[t][t - 1] for t in range(1, length)) for rows in heads] for heads in maps
            ],
            "shown": f"layer {self.layer + 1}, head {self.head + 1}",
            "asks": self._name(row),
            "wanted": self._name(key) if row >= period else "none",
            "weight": chosen[key] / PERCENT if row >= period else float("nan"),
            "strongest": self._name(strongest),
            "largest": chosen[strongest] / PERCENT,
        }

    def _name(self, position: int) -> str:
        return f"{self.tokens[position]} at {position}"


def mean(weights: object) -> float:
    """The mean of whole per cents, as a share."""
    each = list(weights)
    return sum(each) / len(each) / PERCENT


def packed(rows: Sequence[Sequence[int]]) -> str:
    """A causal map, its rows of whole per cents, as short text; what lies above is left out."""
    return " / ".join(" ".join(map(str, row[: t + 1])) for t, row in enumerate(rows))


def unpacked(text: str) -> list[list[int]]:
    """The rows of a map that `packed` has made text of."""
    return [[int(weight) for weight in row.split()] for row in text.split("/")]


def check_rows(text: object, n_tokens: int) -> None:
    """Raise `ValueError` unless this is a causal map, in whole per cents."""
    try:
        rows = unpacked(text)
    except (AttributeError, ValueError):
        raise ValueError(
            f"A map is {text!r}, but it must be text, rows of whole per cents, from packed()."
        ) from None
    if [len(row) for row in rows] != [t + 1 for t in range(n_tokens)]:
        raise ValueError(
            f"A map has other rows than 1, 2, … {n_tokens} weights: row t of a causal map has "
            "t + 1, one for each position up to its own."
        )
    for weight in (weight for row in rows for weight in row):
        check_whole("A weight", weight, 0, PERCENT, "weights are kept in per cents")
