"""Going on with a text, token by token, with a cache (chapter 28)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_book.decoder_only import DecoderOnly
from transformer_book.sampling import Drawing
from transformer_book.support.arguments import check_positive


@dataclass(frozen=True)
class Continuation:
    """What a model wrote.

    Attributes:
        tokens: the new ids; the last one ends the text if `finished`.
        log_probabilities: of each of them, under the model itself.
        finished: whether the model wrote a token that ends a text.
    """

    tokens: list[int]
    log_probabilities: list[float]
    finished: bool


@torch.inference_mode()
def continue_tokens(
    model: DecoderOnly,
    tokens: Int[Tensor, "B T"],
    n_new: int,
    *,
    end: Collection[int] = (),
    drawing: Drawing | None = None,
    generator: torch.Generator | None = None,
    cached: bool = True,
) -> Continuation:
    r"""Write up to `n_new` tokens after `tokens`: the likeliest each time, or a draw.

    $$x_{t+1} = \arg\max_v\, p(v \mid x_{\le t}) \qquad \text{or} \qquad
      x_{t+1} \sim \mathrm{softmax}(\text{logits} / \text{temperature})$$

    It stops early after an `end` token, and where the model knows no further position.

    Args:
        model: in evaluation mode.
        tokens: ids of the text so far, one row.
        n_new: how many to write at most.
        end: ids that end a text.
        drawing: draw at random, at its temperature and among what it keeps; `None`: the likeliest.
        generator: of the draws, on the model's device.
        cached: keep keys and values; `False` computes all of them anew at each step.

    Raises:
        ValueError: for more than one row, a text as long as the model's positions go, an option
            out of range.
    """
    check_positive(n_new=n_new)
    if tokens.dim() != 2 or tokens.size(0) != 1 or not tokens.size(1):
        raise ValueError(
            f"tokens must be one row of ids, (1, T), but its shape is {tuple(tokens.shape)}."
        )
    room = 2 * model.config.max_length - tokens.size(1)
    if room < 1:
        raise ValueError(
            f"The text has {tokens.size(1)} tokens, but this model has {tokens.size(1) + room} "
            "positions, and needs one to go on: take a shorter text."
        )
    cache = model.new_cache() if cached else None
    new, written, log_probabilities = tokens, [], []
    for _ in range(min(n_new, room)):
        logits = model.output(model.vectors(new, cache=cache)[:, -1]).float()  # (1, V)
        token = int(drawing.draw(logits, generator) if drawing else logits.argmax())
        written.append(token)
        log_probabilities.append(logits.log_softmax(dim=-1)[0, token].item())
        if token in end:
            break
        chosen = tokens.new_tensor([[token]])  # (1, 1)
        new = chosen if cached else torch.cat([new, chosen], dim=1)
    return Continuation(written, log_probabilities, finished=written[-1] in end)
