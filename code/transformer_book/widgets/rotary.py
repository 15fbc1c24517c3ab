"""Rotary positions, to be moved by hand: one pair of a query and of a key, both turned."""

from __future__ import annotations

import math

import torch
import traitlets

from transformer_book.rotary import rotary_angles, rotate
from transformer_book.widgets.explorer import Explorer, check_whole, number_list

WIDTH = 8  # of a head: four pairs
FURTHEST = 24  # position of a query or a key, before both are shifted
LIMIT = 2.5  # of a coordinate


class RotaryExplorer(Explorer):
    r"""One pair of features of a query and of a key, turned by their positions.

    The head is 8 wide: pair $i$ turns by $\omega_i = 10000^{-2i/8}$ at each position. The query at
    position $m$ and the key at $n$ are both `shift` positions further on. Their product is
    $q^\top R_{n-m}\,k$: the shift is not in it.

    Args:
        query, key: the pair before it is turned, two numbers from −2.5 to 2.5 each.
        m, n: positions of query and key, from 0 to 24.
        shift: by how many positions both are moved, from 0 to 24.
        pair: $i$, from 0 to 3.

    Raises:
        ValueError: if one of them is not within its limits.
    """

    javascript = "rotary.js"
    label = "Rotary explorer"

    query = traitlets.List(traitlets.Float()).tag(sync=True, moved=True)
    key = traitlets.List(traitlets.Float()).tag(sync=True, moved=True)
    m = traitlets.Int(1).tag(sync=True, moved=True)
    n = traitlets.Int(3).tag(sync=True, moved=True)
    shift = traitlets.Int(0).tag(sync=True, moved=True)
    pair = traitlets.Int(0).tag(sync=True, moved=True)

    def __init__(
        self,
        query: object = (2.0, 1.0),
        key: object = (1.0, 2.0),
        m: int = 1,
        n: int = 3,
        shift: int = 0,
        pair: int = 0,
    ) -> None:
        both = {"query": number_list("query", query, 2), "key": number_list("key", key, 2)}
        for name, vector in both.items():
            if max(map(abs, vector)) > LIMIT:
                raise ValueError(
                    f"{name} is {vector}, but its numbers must lie from −{LIMIT} to {LIMIT}."
                )
        for name, value in {"m": m, "n": n, "shift": shift}.items():
            check_whole(name, value, 0, FURTHEST)
        check_whole("pair", pair, 0, WIDTH // 2 - 1)
        super().__init__(**both, m=m, n=n, shift=shift, pair=pair)

    def numbers(self) -> dict[str, object]:
        r"""The turned pairs, the angles, and the products, as the page shows them.

        `places` are the positions with the shift; `angles` those that query and key are turned by;
        `between` from the turned query to the turned key, from −π to π. `product` is theirs,
        `unturned` that of the pairs as they were, and `by_distance` is $q^\top R_{n-m}\,k$.
        """
        q, k = (torch.tensor(pair, dtype=torch.float64) for pair in (self.query, self.key))
        omega = rotary_angles(2, WIDTH)[1, self.pair]
        places = [self.m + self.shift, self.n + self.shift]
        angles = [place * omega for place in places]
        turned_q, turned_k = (
            rotate(pair[None], angle.cos()[None], angle.sin()[None])[0]
            for pair, angle in zip((q, k), angles, strict=True)
        )  # (2,) each
        distance = self.n - self.m
        turn = distance * omega
        cross = (turned_q[0] * turned_k[1] - turned_q[1] * turned_k[0]).item()
        return {
            "omega": omega.item(),
            "places": places,
            "distance": distance,
            "angles": [angle.item() for angle in angles],
            "turned_query": turned_q.tolist(),
            "turned_key": turned_k.tolist(),
            "lengths": [q.norm().item(), k.norm().item()],
            "between": math.atan2(cross, (turned_q @ turned_k).item()),
            "product": (turned_q @ turned_k).item(),
            "unturned": (q @ k).item(),
            "by_distance": (q @ rotate(k[None], turn.cos()[None], turn.sin()[None])[0]).item(),
        }
