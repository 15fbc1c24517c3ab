"""Layer norm and its look-alikes on a small batch: change one word and see which outputs move."""

from __future__ import annotations

import math

import torch
import traitlets
from torch import Tensor

from transformer_book.layers import LayerNorm
from transformer_book.support.arguments import check_choice, check_switch
from transformer_book.widgets.explorer import Explorer, check_whole, number_list

B, T, D = 2, 2, 4
OVER = {"features": (-1,), "features, words": (-2, -1), "words, batch": (0, 1)}
EPSILON = 1e-5
MOST_PADDING = 10
SEEN = 0.005  # what moves by less moves by 0.00 on the page


class NormalisationExplorer(Explorer):
    r"""Two sentences of two words with four features each; one word is changed.

    The changed word goes in as $a x + b$. Every word comes out as
    $\hat x = (x - \mu) / \sqrt{\sigma^2 + \varepsilon}$ with $\varepsilon = 10^{-5}$, and is
    compared with what it was before the change, and before there was padding.

    Args:
        batch: `(2, 2, 4)`, the vectors of the words before the change.
        pad: `(4,)`, the vector of `<pad>`.
        sentence: of the word that is changed, 0 or 1.
        word: its position in the sentence, 0 or 1.
        vector: `(4,)`, $x$, what the word becomes; by default what it was.
        scale: $a$.
        shift: $b$.
        over: what mean and variance run over: "features" (layer norm), "features, words" or
            "words, batch".
        padding: how many `<pad>` follow each sentence, 0 to 10.
        bessel: divide the sum of squares by one less than the number of its terms.
        outside: add ε to the root, not within it.

    Raises:
        ValueError: if a shape is wrong, or a number is not finite or out of its limits.
    """

    javascript = "normalisation.js"
    label = "Normalisation explorer"

    batch = traitlets.List().tag(sync=True)
    pad = traitlets.List(traitlets.Float()).tag(sync=True)
    sentence = traitlets.Int(0).tag(sync=True, moved=True)
    word = traitlets.Int(0).tag(sync=True, moved=True)
    vector = traitlets.List(traitlets.Float()).tag(sync=True, moved=True)
    scale = traitlets.Float(1.0).tag(sync=True, moved=True)
    shift = traitlets.Float(0.0).tag(sync=True, moved=True)
    over = traitlets.Unicode("features").tag(sync=True, moved=True)
    padding = traitlets.Int(0).tag(sync=True, moved=True)
    bessel = traitlets.Bool(False).tag(sync=True, moved=True)
    outside = traitlets.Bool(False).tag(sync=True, moved=True)

    def __init__(
        self,
        batch: object,
        pad: object,
        sentence: int = 0,
        word: int = 0,
        vector: object = None,
        scale: float = 1.0,
        shift: float = 0.0,
        over: str = "features",
        padding: int = 0,
        bessel: bool = False,
        outside: bool = False,
    ) -> None:
        batch = number_list("batch", batch, B, T, D)
        check_whole("sentence", sentence, 0, B - 1)
        check_whole("word", word, 0, T - 1)
        check_choice("over", over, OVER)
        check_whole("padding", padding, 0, MOST_PADDING)
        check_switch(bessel=bessel, outside=outside)
        (scale,), (shift,) = number_list("scale", [scale], 1), number_list("shift", [shift], 1)
        super().__init__(
            batch=batch,
            pad=number_list("pad", pad, D),
            sentence=sentence,
            word=word,
            vector=number_list("vector", batch[sentence][word] if vector is None else vector, D),
            scale=scale,
            shift=shift,
            over=over,
            padding=padding,
            bessel=bessel,
            outside=outside,
        )

    def numbers(self) -> dict[str, object]:
        r"""What goes in, its statistics, what comes out and what moved, as the page shows them.

        `input`, `means`, `variances`, `divisors`, `output` and `before` belong to the changed
        word, one number for each feature. `outputs` and `earlier` are those of all words, `moved`
        the largest difference of the two. `others` is how many of the words that were *not*
        changed moved. `count` numbers are in each mean. `off` is the distance from layer norm in
        percent, relative to its length: $\lVert \hat x - \hat x_{right} \rVert /
        \lVert \hat x_{right} \rVert$ over all words.
        """
        earlier = torch.tensor(self.batch, dtype=torch.float64)  # (B, T, D)
        chosen = (self.sentence, self.word)
        x = earlier.clone()
        x[chosen] = self.scale * torch.tensor(self.vector, dtype=torch.float64) + self.shift
        pad = torch.tensor(self.pad, dtype=torch.float64).expand(B, self.padding, D)
        padded = torch.cat([x, pad], dim=1)  # (B, T + padding, D)

        mean, variance, divisor = (
            part.expand_as(padded)[chosen] for part in self._statistics(padded)
        )  # (D,) each
        before, after = self._normed(earlier), self._normed(padded)[:, :T]  # (B, T, D) each
        moved = (after - before).abs().amax(dim=-1)  # (B, T)
        others = moved > SEEN
        others[chosen] = False
        right = LayerNorm(D, eps=EPSILON).double()(x).detach()
        return {
            "input": x[chosen].tolist(),
            "means": mean.tolist(),
            "variances": variance.tolist(),
            "divisors": divisor.tolist(),
            "output": after[chosen].tolist(),
            "before": before[chosen].tolist(),
            "outputs": after.tolist(),
            "earlier": before.tolist(),
            "moved": moved.tolist(),
            "others": int(others.sum()),
            "count": math.prod(padded.shape[axis] for axis in OVER[self.over]),
            "off": (100 * (after - right).norm() / right.norm()).item(),
        }

    def _statistics(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mean, variance and divisor over the chosen axes, which stay with length 1."""
        axes = OVER[self.over]
        variance, mean = torch.var_mean(x, axes, correction=int(self.bessel), keepdim=True)
        divisor = variance.sqrt() + EPSILON if self.outside else (variance + EPSILON).sqrt()
        return mean, variance, divisor

    def _normed(self, x: Tensor) -> Tensor:
        mean, _, divisor = self._statistics(x)
        return (x - mean) / divisor
