"""The geometry of attention, to be moved by hand: arrows, a point in a triangle, an average."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
import traitlets

from transformer_book.attention import scaled_dot_product_attention
from transformer_book.plots import simplex_points
from transformer_book.support.arguments import check_scale, check_switch
from transformer_book.widgets.explorer import Explorer, number_list


class GeometryExplorer(Explorer):
    r"""One query, three keys and three values in the plane: drag them and watch the output.

    Scores are $s_j = q \cdot k_j$, weights $a = \mathrm{softmax}(s / \tau)$, or with `scaled`
    $\mathrm{softmax}(s / (\tau \sqrt{d_k}))$ with $d_k = 2$, and the output is $\sum_j a_j v_j$.

    Args:
        query: `(2,)`.
        key: `(3, 2)`, one key for each token.
        value: `(3, 2)`, one value for each token.
        names: of the three tokens.
        temperature: $\tau > 0$.
        scaled: divide the scores by $\sqrt{d_k}$, too.

    Raises:
        ValueError: if a shape is wrong, a number is not finite, or the temperature not positive.
    """

    javascript = "geometry.js"
    label = "Geometry explorer"

    names = traitlets.List(traitlets.Unicode()).tag(sync=True)
    query = traitlets.List(traitlets.Float()).tag(sync=True, moved=True)
    key = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True, moved=True)
    value = traitlets.List(traitlets.List(traitlets.Float())).tag(sync=True, moved=True)
    temperature = traitlets.Float(1.0).tag(sync=True, moved=True)
    scaled = traitlets.Bool(False).tag(sync=True, moved=True)

    def __init__(
        self,
        query: object,
        key: object,
        value: object,
        names: Sequence[str] = ("A", "B", "C"),
        temperature: float = 1.0,
        scaled: bool = False,
    ) -> None:
        names = list(names)
        if len(names) != 3:
            raise ValueError(f"names holds {len(names)} names, but a triangle has 3 corners.")
        check_scale(temperature=temperature)
        check_switch(scaled=scaled)
        super().__init__(
            names=names,
            query=number_list("query", query, 2),
            key=number_list("key", key, 3, 2),
            value=number_list("value", value, 3, 2),
            temperature=float(temperature),
            scaled=scaled,
        )

    def numbers(self) -> dict[str, object]:
        """Lengths, angles (degrees), shadows, scores, weights and output, as the page shows them.

        `own` is the score of the query with itself, `louder` names the tokens that score above it.
        `divided` is what the softmax is taken of, `point` the place of the weights in the triangle.
        Angles and shadows of a vector of length zero do not exist: they are not a number.
        """
        q, K, V = (
            torch.tensor(part, dtype=torch.float64) for part in (self.query, self.key, self.value)
        )
        scale = 1 / (self.temperature * (math.sqrt(2) if self.scaled else 1))
        outputs, weights = scaled_dot_product_attention(q[None], K, V, scale=scale)
        scores, lengths = K @ q, K.norm(dim=-1)  # (3,) each
        cosines = (scores / (lengths * q.norm())).clamp(-1, 1)
        own = (q @ q).item()
        louder = [
            name
            for name, score in zip(self.names, scores.tolist(), strict=True)
            if score > own + 1e-9
        ]
        return {
            "own": own,
            "louder": ", ".join(louder) or "none",
            "lengths": lengths.tolist(),
            "angles": cosines.arccos().rad2deg().tolist(),
            "shadows": (scores / q.norm()).tolist(),
            "scores": scores.tolist(),
            "divided": (scores * scale).tolist(),
            "weights": weights[0].tolist(),
            "point": simplex_points(weights[0]).tolist(),
            "output": outputs[0].tolist(),
        }
