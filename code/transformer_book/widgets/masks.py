"""The masks of a batch, to be broken by hand: weights, outputs, and three tests that look on."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import torch
import traitlets
from torch import Tensor

from transformer_book.attention import scaled_dot_product_attention
from transformer_book.masks import causal_mask, padding_mask
from transformer_book.support.arguments import check_choice, check_switch
from transformer_book.tokens import PAD, SPECIALS
from transformer_book.widgets.explorer import Explorer, check_whole

PAD_TOKEN = SPECIALS[PAD]
PLACES = ("encoder", "decoder", "cross")
RULES = (
    "right",
    "inverted",
    "no causal mask",
    "next token visible",
    "diagonal hidden",
    "rows, not columns",
    "no padding mask",
)
LONGEST = 8  # tokens of a sentence: rows and columns of the largest mask
# As in the chapter's pencil exercise, all queries score a key alike: exponential of score, value.
WORDS = ((1.0, 8.0), (3.0, 4.0), (4.0, 7.0))
PADDING = (8.0, 100.0)
CHANGE = (2.0, 20.0)  # what a change adds to both of them
LIMIT = 1e-5  # a test finds what is larger


class MaskExplorer(Explorer):
    r"""The mask of one sentence of a batch: what it lets through, and which test sees a slip.

    All queries give a key the same score. The exponentials of the words' scores are 1, 3, 4, 1, 3,
    4, … with the values 8, 4, 7, …; a padding has 8 and 100. A query's output is the average of
    the values that it may attend to, weighted by these exponentials.

    Args:
        source: the batch's source sentences as tokens, all equally long, at most 8 of them each.
        target: the same for the decoder's inputs, as many sentences.
        where: "encoder", "decoder" or "cross".
        sentence: the row of the batch.
        shortened: how many more words, the last ones, are replaced by padding; 0 to 8.
        front: padding stands before the words, not after them.
        rule: the mask: "right", or one slip away from it.
        late: hide after the softmax instead of before it.
        flipped: cells `(query, key)` of the mask that are turned over by hand.
        changed: the first position of what is changed in the keys; 8 changes nothing.

    Raises:
        ValueError: if sentences are of different lengths, too long, or none, and for every other
            argument that is not one of those above.
    """

    javascript = "masks.js"
    label = "Mask explorer"

    source = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True)
    target = traitlets.List(traitlets.List(traitlets.Unicode())).tag(sync=True)
    where = traitlets.Unicode("decoder").tag(sync=True, moved=True)
    sentence = traitlets.Int(0).tag(sync=True, moved=True)
    shortened = traitlets.Int(0).tag(sync=True, moved=True)
    front = traitlets.Bool(False).tag(sync=True, moved=True)
    rule = traitlets.Unicode("right").tag(sync=True, moved=True)
    late = traitlets.Bool(False).tag(sync=True, moved=True)
    flipped = traitlets.List(traitlets.List(traitlets.Int())).tag(sync=True, moved=True)
    changed = traitlets.Int(4).tag(sync=True, moved=True)

    def __init__(
        self,
        source: Sequence[Sequence[str]],
        target: Sequence[Sequence[str]],
        where: str = "decoder",
        sentence: int = 0,
        shortened: int = 0,
        front: bool = False,
        rule: str = "right",
        late: bool = False,
        flipped: Sequence[Sequence[int]] = (),
        changed: int = 4,
    ) -> None:
        source, target = [[list(row) for row in batch] for batch in (source, target)]
        _check_batch("source", source)
        _check_batch("target", target)
        if len(source) != len(target):
            raise ValueError(
                f"source holds {len(source)} sentences and target {len(target)}; "
                "they must be as many."
            )
        check_choice("where", where, PLACES)
        check_choice("rule", rule, RULES)
        check_whole("sentence", sentence, 0, len(source) - 1)
        check_whole("shortened", shortened, 0, LONGEST)
        check_whole("changed", changed, 1, LONGEST)
        check_switch(front=front, late=late)
        queries = source if where == "encoder" else target
        keys = target if where == "decoder" else source
        flipped = [list(cell) for cell in flipped]
        for cell in flipped:
            if len(cell) != 2:
                raise ValueError(f"flipped holds {cell!r}, but a cell is a pair (query, key).")
            check_whole("The query of a flipped cell", cell[0], 0, len(queries[0]) - 1)
            check_whole("The key of a flipped cell", cell[1], 0, len(keys[0]) - 1)
        super().__init__(
            source=source,
            target=target,
            where=where,
            sentence=sentence,
            shortened=shortened,
            front=front,
            rule=rule,
            late=late,
            flipped=flipped,
            changed=changed,
        )

    def numbers(self) -> dict[str, object]:
        """The mask (1 = may attend), the right mask, weights, outputs, and what the tests say.

        `after` are the outputs after the change of the keys from the position `changed` on. The
        tests are those of chapter 8: `future` is how far an output moves at most when keys after
        it change, for every way to change all from one position on (not a number outside the
        decoder, where nothing is in the future); `padding` how far a real query moves when the
        padding changes; `sums` how far its weights are from a sum of 1.
        """
        asking, heard = self._tokens(self.where != "encoder"), self._tokens(self.where == "decoder")
        right, mask = self._masks(asking, heard)
        loudness, value = self._loudness_and_value(heard)
        real = torch.tensor([token != PAD_TOKEN for token in asking])  # (T,)
        n_queries, n_keys = mask.shape
        position = torch.arange(n_keys)

        def outputs_after(moved: Tensor) -> Tensor:
            e, v = loudness + CHANGE[0] * moved, value + CHANGE[1] * moved
            return self._attend(e, v, mask)[0]

        outputs, weights = self._attend(loudness, value, mask)
        after = outputs_after(position >= self.changed)
        future = torch.tensor(torch.nan)
        if self.where == "decoder":
            future = torch.stack(
                [(outputs_after(position >= t) - outputs)[:t].abs().max() for t in range(1, n_keys)]
            ).max()
        is_padding = torch.tensor([token == PAD_TOKEN for token in heard])
        padding = _largest((outputs_after(is_padding) - outputs)[real])
        sums = _largest((weights.sum(dim=-1) - 1)[real])

        def verdict(moved: Tensor) -> str:
            if moved.isnan():
                return "not asked"
            return "FAILS" if moved > LIMIT else "passes"

        return {
            "asking": asking,
            "heard": heard,
            "mask": mask.int().tolist(),
            "right": right.int().tolist(),
            "allowed": mask.sum().item(),
            "cells": n_queries * n_keys,
            "shown_wrongly": (mask & ~right).sum().item(),
            "hidden_wrongly": (right & ~mask).sum().item(),
            "exponentials": loudness.tolist(),
            "values": value.tolist(),
            "weights": weights.tolist(),
            "totals": weights.sum(dim=-1).tolist(),
            "outputs": outputs.tolist(),
            "after": after.tolist(),
            "moved": (after - outputs).abs().tolist(),
            "future": future.item(),
            "padding": padding.item(),
            "sums": sums.item(),
            "verdicts": [verdict(future), verdict(padding), verdict(sums)],
        }

    def _tokens(self, of_target: bool) -> list[str]:
        """The sentence, with more padding if it is shortened, before or after its words."""
        tokens = (self.target if of_target else self.source)[self.sentence]
        words = [token for token in tokens if token != PAD_TOKEN]
        words = words[: max(0, len(words) - self.shortened)]
        padding = [PAD_TOKEN] * (len(tokens) - len(words))
        return padding + words if self.front else words + padding

    def _masks(self, asking: list[str], heard: list[str]) -> tuple[Tensor, Tensor]:
        """The right mask and the one that is used, `(T, S)` each."""
        real_query, real_key = (
            padding_mask(torch.tensor([[int(token != PAD_TOKEN) for token in tokens]]))[0, 0, 0]
            for tokens in (asking, heard)
        )  # (T,) and (S,)
        everything = torch.ones(len(asking), len(heard), dtype=torch.bool)
        earlier = causal_mask(len(heard)) if self.where == "decoder" else everything
        right = real_key & earlier
        mask = {
            "right": right,
            "inverted": ~right,
            "no causal mask": real_key & everything,
            "next token visible": real_key & (everything.tril(1) | earlier),
            "diagonal hidden": right & (everything.tril(-1) | everything.triu(1)),
            "rows, not columns": real_query[:, None] & earlier,
            "no padding mask": earlier,
        }[self.rule].clone()
        for i, j in self.flipped:
            mask[i, j] = ~mask[i, j]
        return right, mask

    def _loudness_and_value(self, heard: list[str]) -> tuple[Tensor, Tensor]:
        """The exponential of the score, and the value, of each key: `(S,)` each."""
        words = cycle(WORDS)  # a word keeps its numbers, wherever the padding stands
        pairs = [PADDING if token == PAD_TOKEN else next(words) for token in heard]
        loudness, value = torch.tensor(pairs, dtype=torch.float64).unbind(dim=-1)
        return loudness, value

    def _attend(self, loudness: Tensor, value: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs `(T,)` and weights `(T, S)`, hidden before the softmax or after it."""
        query = torch.ones(len(mask), 1, dtype=torch.float64)
        key = loudness.log()[:, None]  # (S, 1): every score is the logarithm of the loudness
        hidden = None if self.late else mask
        _, weights = scaled_dot_product_attention(query, key, key, hidden, scale=1.0)
        weights = weights * mask
        return weights @ value, weights


def _largest(differences: Tensor) -> Tensor:
    """The largest size, or 0 where there is none."""
    return differences.abs().max() if differences.numel() else differences.new_zeros(())


def _check_batch(what: str, sentences: list[list[str]]) -> None:
    lengths = sorted({len(tokens) for tokens in sentences})
    if len(lengths) != 1 or not 1 <= lengths[0] <= LONGEST:
        raise ValueError(
            f"{what} holds sentences of the lengths {lengths}, but all must be equally long, "
            f"from 1 to {LONGEST} tokens."
        )
