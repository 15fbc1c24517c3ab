"""Before anything is timed: all contestants compute the same."""

from __future__ import annotations

from typing import Any

import torch

from benchmarks.contestants import Book, Contestant, Trained
from benchmarks.setting import Setting
from transformer_book.tokens import EOS

TOLERANCE = 1e-4  # of a loss in nats: float32, summed in another order


def same_losses(setting: Setting, kinds: list[type[Contestant]]) -> dict[str, Any]:
    """Without dropout, one loss and one gradient, of the output projection of the first attention.

    Raises:
        AssertionError: a contestant computes something else.
    """
    batch = setting.train_batches(1)[0]
    losses, gradients = {}, {}
    for kind in kinds:
        if not issubclass(kind, Trained):
            continue
        contestant = kind(setting)
        contestant.model.train()
        loss = contestant.loss(batch)
        loss.backward()
        losses[kind.name] = loss.item()
        gradients[kind.name] = _first_output_projection(contestant).grad.clone()
    expected, gradient = losses[Book.name], gradients[Book.name]
    for name in losses:
        torch.testing.assert_close(
            losses[name], expected, atol=TOLERANCE, rtol=0, msg=lambda m, n=name: f"{n}: {m}"
        )
        torch.testing.assert_close(
            gradients[name],
            gradient,
            atol=1e-4 * gradient.abs().max().item(),
            rtol=1e-3,
            msg=lambda m, n=name: f"{n}: {m}",
        )
    return {"contestants": list(losses), "loss": round(expected, 4), "within": TOLERANCE}


def _first_output_projection(contestant: Trained) -> torch.Tensor:
    names = (
        "encoder.layers.0.self_attention.output.weight",
        "transformer.encoder.layers.0.self_attn.out_proj.weight",
        "model.encoder.layers.0.self_attn.out_proj.weight",
        "encoder.attn_layers.layers.0.1.to_out.weight",
    )
    parameters = dict(contestant.model.named_parameters())
    return next(parameters[name] for name in names if name in parameters)


def same_translations(contestants: list[Contestant], setting: Setting) -> dict[str, Any]:
    """Greedy and beam search find the same tokens for every caption, those of the book.

    Of a caption that one of the two cuts off at its longest length this is not asked: libraries
    differ in whether a beam that is cut off may win over one that has ended. Such captions are
    counted, and there may be one in a hundred.

    Raises:
        AssertionError: a contestant translates another way.
    """
    found: dict[str, Any] = {}
    book = contestants[0]
    for search in ("greedy", "beam"):
        whole = [row for source in setting.sources for row in getattr(book, search)(source)]
        alone = [row for source in setting.single_sources for row in getattr(book, search)(source)]
        entry = {"captions": len(whole), "ended": sum(row[-1] == EOS for row in whole)}
        entry["tokens"] = sum(map(len, whole))
        compared, cut_off = [], 0
        for other in contestants[1:]:
            if not other.can(search):
                continue
            sources = setting.sources if other.batched else setting.single_sources
            expected = whole if other.batched else alone
            rows = [row for source in sources for row in getattr(other, search)(source)]
            pairs = list(zip(rows, expected, strict=True))
            differ = [n for n, (a, b) in enumerate(pairs) if a != b and a[-1] == b[-1] == EOS]
            cut = [n for n, (a, b) in enumerate(pairs) if a != b and n not in differ]
            if len(cut) > len(rows) // 100:
                differ = sorted(differ + cut)
            assert not differ, (
                f"{other.name}, {search}: {len(differ)} of {len(rows)} translations differ from "
                f"the book's, the first is {differ[0]}: {rows[differ[0]]}, not "
                f"{expected[differ[0]]}."
            )
            compared.append(other.name)
            cut_off = max(cut_off, len(cut))
        found[search] = entry | {"equal": compared, "cut_off": cut_off}
    return found
