"""Where one number goes when heads are split off, attended with and merged: right, and wrong."""

from __future__ import annotations

import torch
import traitlets
from torch import Tensor

from transformer_book.support.arguments import check_choice
from transformer_book.widgets.explorer import Explorer, check_whole

VERSIONS = ("right", "never permuted", "split by view", "merged by view")
LEFT_OUT = "left out"


class ShapeStepper(Explorer):
    r"""One number on its way through multi-head attention, step by step.

    One sentence, `B = 1`, with `T` positions, `H` heads and `K` features in each, `D = H · K`. Each
    number is its own address, $100 \cdot \text{head} + 10 \cdot \text{position} + \text{feature}$.
    Attention is taken to return what it was given, so that the addresses can be followed.

    Args:
        n_positions: `T`, from 2 to 8.
        n_heads: `H`, from 2 to 4.
        d_head: `K`, from 2 to 4, with `H · K` at most 8.
        position, head, feature: the address of the number that is followed.
        version: `"right"`; `"never permuted"`, neither there nor back; `"split by view"` or
            `"merged by view"`, in place of transposing as well.

    Raises:
        ValueError: if one of them is outside its limits, or the version none of these.
    """

    javascript = "shapes.js"
    label = "Shape stepper"

    n_positions = traitlets.Int().tag(sync=True)
    n_heads = traitlets.Int().tag(sync=True)
    d_head = traitlets.Int().tag(sync=True)
    position = traitlets.Int().tag(sync=True, moved=True)
    head = traitlets.Int().tag(sync=True, moved=True)
    feature = traitlets.Int().tag(sync=True, moved=True)
    version = traitlets.Unicode().tag(sync=True, moved=True)

    def __init__(
        self,
        n_positions: int = 4,
        n_heads: int = 3,
        d_head: int = 2,
        position: int = 1,
        head: int = 2,
        feature: int = 0,
        version: str = "right",
    ) -> None:
        check_whole("n_positions", n_positions, 2, 8)
        check_whole("n_heads", n_heads, 2, 4)
        check_whole("d_head", d_head, 2, 8 // n_heads)
        check_whole("position", position, 0, n_positions - 1)
        check_whole("head", head, 0, n_heads - 1)
        check_whole("feature", feature, 0, d_head - 1)
        check_choice("version", version, VERSIONS)
        super().__init__(
            n_positions=n_positions,
            n_heads=n_heads,
            d_head=d_head,
            position=position,
            head=head,
            feature=feature,
            version=version,
        )

    def _steps(self) -> list[tuple[str, str, Tensor]]:
        """What each step does, its axes, and its tensor as PyTorch makes it."""
        T, H, K = self.n_positions, self.n_heads, self.d_head
        column = torch.arange(H * K)  # (D,)
        positions = torch.arange(T)[:, None]  # (T, 1)
        projected = (100 * (column // K) + 10 * positions + column % K)[None]  # (B, T, D)
        steps = [("x @ W", "BTD", projected)]
        if self.version == "split by view":
            heads = projected.view(1, H, T, K)
            steps += [("view(B, H, T, K)", "BHTK", heads), (LEFT_OUT, "BHTK", heads)]
        else:
            cut = projected.unflatten(-1, (H, K))  # (B, T, H, K)
            steps.append(("unflatten(-1, (H, K))", "BTHK", cut))
            if self.version == "never permuted":
                steps.append((LEFT_OUT, "BTHK", cut))
            else:
                steps.append(("transpose(1, 2)", "BHTK", cut.transpose(1, 2)))
        _, axes, heads = steps[-1]
        # Attention writes its results down in the order of the axes it was given.
        heads = heads.clone(memory_format=torch.contiguous_format)
        steps.append(("attention", axes, heads))
        if self.version == "merged by view":
            steps += [(LEFT_OUT, axes, heads), ("view(B, T, D)", "BTD", heads.view(1, T, H * K))]
            return steps
        if self.version == "never permuted":
            steps.append((LEFT_OUT, axes, heads))
        else:
            heads = heads.transpose(1, 2)
            steps.append(("transpose(1, 2)", "BTHK", heads))
        steps.append(("flatten(-2)", "BTD", heads.flatten(-2)))
        return steps

    def numbers(self) -> dict[str, object]:
        """Where the number stands after each of the six steps, as the page shows it.

        `places` are its coordinates, `orders` the axes as they lie in memory, from the slowest to
        the fastest, `slots` its place in memory. `entries` are all numbers as they are read, and
        `strangers` of them stand where another address belongs. `partners` are the numbers that
        attention averages. `early` numbers end in the row of an earlier position.
        """
        H, K = self.n_heads, self.d_head
        address = 100 * self.head + 10 * self.position + self.feature
        steps = self._steps()
        places = [(tensor == address).nonzero()[0].tolist() for _, _, tensor in steps]
        _, h, _, k = places[3]
        partners = steps[3][2][0, h, :, k]
        belonging = {  # the address of each place, by the letters of its axes
            "BTD": steps[0][2],
            "BTHK": steps[0][2].unflatten(-1, (H, K)),
            "BHTK": steps[0][2].unflatten(-1, (H, K)).transpose(1, 2),
        }
        result = steps[-1][2][0]  # (T, D)
        rows = torch.arange(self.n_positions)[:, None]  # (T, 1)
        _, row, column = places[-1]
        return {
            "address": address,
            "does": [does for does, _, _ in steps],
            "axes": [f"({', '.join(axes)})" for _, axes, _ in steps],
            "sizes": [str(tuple(tensor.shape)) for _, _, tensor in steps],
            "places": [str(tuple(place)) for place in places],
            "orders": [
                " ".join(axes[i] for i in sorted(range(len(axes)), key=lambda i: -strides[i]))
                for _, axes, tensor in steps
                for strides in [tensor.stride()]
            ],
            "slots": [
                sum(i * stride for i, stride in zip(place, tensor.stride(), strict=True))
                for place, (_, _, tensor) in zip(places, steps, strict=True)
            ],
            "entries": [tensor.flatten().tolist() for _, _, tensor in steps],
            "partners": ", ".join(map(str, partners.tolist())),
            "partners_are": (
                "one head"
                if len((partners // 100).unique()) == 1
                else "one position, several heads"
                if len((partners // 10 % 10).unique()) == 1
                else "a mixture"
            ),
            "strangers": [(tensor != belonging[axes]).sum().item() for _, axes, tensor in steps],
            "row": row,
            "taken_for_head": column // K,
            "taken_for_feature": column % K,
            "all": self.n_positions * H * K,
            "early": (result // 10 % 10 > rows).sum().item(),
        }
