"""Rotary positions: queries and keys are turned by their position (chapter 25)."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_book.support.arguments import check_even, check_positive, is_number


def rotary_angles(length: int, d_head: int, base: float = 10000.0) -> Float[Tensor, "T half"]:
    r"""How far each pair of features is turned at each position: $p \cdot base^{-2i/K}$ radians.

    With base 10000 these are the angles of `sinusoids`. In double precision, since large angles
    lose digits otherwise.

    Raises:
        ValueError: if `d_head` is odd, since features are turned in pairs, for a length below 1 and
            a base that is not a number above 0.

    Source: Su et al. (2021), section 3.2.
    """
    check_positive(length=length, d_head=d_head)
    check_even("A head with rotary positions (d_head)", d_head)
    if not is_number(base) or base <= 0:
        raise ValueError(f"base is {base!r}, but it must be a number above 0; 10000 is usual.")
    position = torch.arange(length, dtype=torch.float64, device="cpu")[:, None]  # (T, 1)
    exponent = torch.arange(0, d_head, 2, dtype=torch.float64, device="cpu") / d_head  # (K/2,)
    return position * base**-exponent  # (T, K/2)


def rotate(
    x: Float[Tensor, "*batch T K"], cosine: Tensor, sine: Tensor
) -> Float[Tensor, "*batch T K"]:
    r"""Turn pair i of each vector by its angle: feature i and feature i + K/2 are the pair.

    $$x'_i = x_i \cos\theta_i - x_{i+K/2} \sin\theta_i, \qquad
      x'_{i+K/2} = x_i \sin\theta_i + x_{i+K/2} \cos\theta_i$$

    Su et al. pair neighbours, 2i and 2i + 1; `transformers` stores Llama's weights for the halves
    used here. Trained from the start, both are the same model with its features in another order.

    Args:
        x: queries or keys.
        cosine, sine: of the angles, broadcastable to `(…, T, K/2)`.

    Shapes: `(…, T, K)` → `(…, T, K)`; no length changes, since a rotation keeps it.
    """
    first, second = x.chunk(2, dim=-1)  # (…, T, K/2) each
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)


class RotaryPositions(nn.Module):
    r"""Turn the vector at position p by p times the angles of `rotary_angles`.

    A query at position m and a key at position n then have the dot product
    $q^\top R_{n-m}\, k$: it depends on their distance alone. Values are not turned. Nothing is
    learned.

    Args:
        d_head: width of one head, `K`; even.
        max_length: positions that the table has; no weight depends on it.
        base: of the wavelengths; Llama 3 uses 500000, for longer texts.

    Shapes: x `(B, H, T, K)` and positions `(T,)` or `(B, T)` → `(B, H, T, K)`.

    Raises:
        ValueError: as for `rotary_angles`, and for a position beyond the table.

    Source: Su et al. (2021), RoFormer.
    """

    def __init__(self, d_head: int, max_length: int = 1024, base: float = 10000.0) -> None:
        super().__init__()
        check_positive(max_length=max_length)
        self.d_head, self.max_length, self.base = d_head, max_length, base
        # Not a buffer: converted along with the model it would lose digits for good.
        self.table = self._computed(1)

    def _computed(self, length: int) -> Float[Tensor, "T K"]:
        """Cosines, then sines, `(T, K)`."""
        angles = rotary_angles(length, self.d_head, self.base)  # (T, K/2)
        return torch.cat([angles.cos(), angles.sin()], dim=-1)  # (T, K)

    def forward(
        self, x: Float[Tensor, "B H T K"], positions: Int[Tensor, "*batch T"]
    ) -> Float[Tensor, "B H T K"]:
        cosine, sine = self.rows_for(x, positions).chunk(2, dim=-1)  # (…, 1, T, K/2) each
        return rotate(x, cosine, sine)  # (B, H, T, K)

    def rows_for(self, x: Tensor, positions: Tensor) -> Float[Tensor, "*batch 1 T K"]:
        """The rows of the table at `positions`, the same for all heads, in the type of `x`."""
        if x.size(-1) != self.d_head:
            raise ValueError(
                f"The heads are {x.size(-1)} wide, but the rotary table {self.d_head}."
            )
        length = int(positions.max()) + 1
        if length > self.max_length:
            raise ValueError(
                f"Position {length - 1} is beyond max_length = {self.max_length}: build the model "
                "with a larger max_length."
            )
        known = len(self.table)
        if length > known or (self.table.device, self.table.dtype) != (x.device, x.dtype):
            # A table for all of max_length would be large; this one grows by doubling.
            rows = known if length <= known else min(max(length, 2 * known, 64), self.max_length)
            self.table = self._computed(rows).to(x.device, x.dtype)
        return self.table[positions].unsqueeze(-3)  # (T, K) → (1, T, K); (B, T, K) → (B, 1, T, K)
