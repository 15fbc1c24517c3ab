"""The table of sinusoids, to be moved by hand: two places, one hand, a turn, a dot product."""

from __future__ import annotations

import math

import torch
import traitlets

from transformer_book.embeddings import sinusoids
from transformer_book.widgets.explorer import Explorer, check_whole

PLACES = 64  # rows of the table
WIDTHS = (4, 8, 16, 32, 64, 128)
STEPS = (-8, 32)  # the shortest and the longest step


class PositionExplorer(Explorer):
    r"""Two places of the sinusoidal table: their rows, one hand of both, their dot product.

    Hand $i$ stands at $(\sin p\,\omega_i, \cos p\,\omega_i)$ with $\omega_i = 10000^{-2i/D}$. The
    step from $p$ to $p + k$ turns it by $k\,\omega_i$, wherever it was, and the dot product of the
    two rows is $\sum_i \cos k\,\omega_i$. The table has 64 places.

    Args:
        d_model: width of the table, `D`: 4, 8, 16, 32, 64 or 128.
        place: $p$, from 0 to 63.
        step: $k$, from −8 to 32, such that $p + k$ is a place of the table, too.
        hand: $i$, from 0 to $D/2 - 1$.

    Raises:
        ValueError: if one of them is not a whole number within its limits.
    """

    javascript = "positions.js"
    label = "Position explorer"

    d_model = traitlets.Int(8).tag(sync=True, moved=True)
    place = traitlets.Int(1).tag(sync=True, moved=True)
    step = traitlets.Int(2).tag(sync=True, moved=True)
    hand = traitlets.Int(0).tag(sync=True, moved=True)

    def __init__(self, d_model: int = 8, place: int = 1, step: int = 2, hand: int = 0) -> None:
        if d_model not in WIDTHS:
            raise ValueError(
                f"d_model is {d_model!r}, but it must be one of {', '.join(map(str, WIDTHS))}."
            )
        check_whole("place", place, 0, PLACES - 1)
        check_whole("step", step, max(STEPS[0], -place), min(STEPS[1], PLACES - 1 - place))
        check_whole("hand", hand, 0, d_model // 2 - 1)
        super().__init__(d_model=d_model, place=place, step=step, hand=hand)

    def numbers(self) -> dict[str, object]:
        r"""The two tips of the hand, its turn, and dot products, as the page shows them.

        `turned` is the matrix `turn` times the tip at $p$; `share` the part of the hand in the dot
        product `product` of the two rows. `elsewhere` is the dot product of the places 0 and |k|,
        `by_distance` the sum of $\cos k\,\omega_i$, which does not depend on the place.
        """
        table = sinusoids(PLACES, self.d_model, torch.float64)  # (T, D)
        later, i = self.place + self.step, self.hand
        omegas = 10000 ** (-torch.arange(0, self.d_model, 2, dtype=torch.float64) / self.d_model)
        angle = self.step * omegas[i]
        turn = torch.stack(
            [torch.stack([angle.cos(), angle.sin()]), torch.stack([-angle.sin(), angle.cos()])]
        )  # (2, 2)
        here, there = table[self.place, 2 * i : 2 * i + 2], table[later, 2 * i : 2 * i + 2]
        return {
            "later": later,
            "omega": omegas[i].item(),
            "wavelength": 2 * math.pi / omegas[i].item(),
            "angle": angle.item(),
            "angles": [self.place * omegas[i].item(), later * omegas[i].item()],
            "here": here.tolist(),
            "there": there.tolist(),
            "turn": turn.tolist(),
            "turned": (turn @ here).tolist(),
            "share": (here @ there).item(),
            "product": (table[self.place] @ table[later]).item(),
            "elsewhere": (table[0] @ table[abs(self.step)]).item(),
            "by_distance": (self.step * omegas).cos().sum().item(),
        }
