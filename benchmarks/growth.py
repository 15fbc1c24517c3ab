"""How costs grow: time against tokens in training; operations and time in decoding."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.clock import _short, round_robin
from benchmarks.contestants import Book
from benchmarks.setting import Setting
from transformer_book.attention import recorded_attention
from transformer_book.batches import Batch
from transformer_book.decoding import beam_search, greedy_search
from transformer_book.transformer import Transformer, TransformerConfig

WIDTH = 20  # tokens of each sentence in training; S, the source's length in decoding


def training(setting: Setting) -> list[dict[str, float]]:
    """Seconds of an update against the tokens in its batch, all sentences of one length."""
    contestant = Book(setting, dropout=setting.sizes.dropout)
    contestant.prepare()
    turns, generator = {}, torch.Generator().manual_seed(0)
    for tokens in setting.sizes.growth_tokens:
        ids = torch.randint(4, setting.sizes.vocab_size, (tokens // WIDTH, WIDTH + 1))
        ids = ids.random_(4, setting.sizes.vocab_size, generator=generator)
        batch = Batch(ids[:, 1:].contiguous(), ids)
        turns[str(tokens)] = lambda batch=batch: contestant.update(batch)
    seconds = round_robin(turns, setting.sizes.growth_rounds)
    return [{"tokens": int(n), "seconds": _short(median(s))} for n, s in seconds.items()]


def decoding(setting: Setting) -> dict[str, list[dict[str, Any]]]:
    """Operations and seconds for one sentence: against its length, and against the beams.

    The model never ends a sentence here: `<eos>` is banned, `max_length` ends it.
    """
    model, source = setting.model(), _source(setting)
    by_length, by_beams = [], []

    def search(length: int, cached: bool) -> Callable[[], object]:
        options = {"max_length": length, "cached": cached, "ban": (0, 1, 2)}
        return lambda: greedy_search(model, source, **options)

    lengths = setting.sizes.growth_lengths
    runs = {(n, cached): search(n, cached) for n in lengths for cached in (True, False)}
    seconds = round_robin(
        {f"{n} {cached}": run for (n, cached), run in runs.items()}, setting.sizes.growth_rounds
    )
    for (n, cached), run in runs.items():
        by_length.append(
            {
                "length": n,
                "cached": cached,
                "operations": counted(model, run),
                "formula": formula(model.config, source.size(1), n, cached=cached),
                "seconds": _short(median(seconds[f"{n} {cached}"])),
            }
        )

    length = min(20, setting.sizes.growth_lengths[-1])

    def beams(width: int) -> Callable[[], object]:
        options = {"max_length": length, "ban": (0, 1, 2)}
        return lambda: beam_search(model, source, width, **options)

    wide = {width: beams(width) for width in setting.sizes.growth_beams}
    seconds = round_robin({str(w): run for w, run in wide.items()}, setting.sizes.growth_rounds)
    for width, run in wide.items():
        by_beams.append(
            {
                "beams": width,
                "length": length,
                "operations": counted(model, run),
                "formula": formula(model.config, source.size(1), length, beams=width),
                "seconds": _short(median(seconds[str(width)])),
            }
        )
    return {"by_length": by_length, "by_beams": by_beams}


def _source(setting: Setting) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(4, setting.sizes.vocab_size, (1, WIDTH), generator=generator)


def counted(model: Transformer, run: Callable[[], object]) -> int:
    """Floating-point operations of all matrix products, as PyTorch counts them while it runs.

    It does not look into the fused kernel for attention on a CPU; the plain formula it does.
    """
    with recorded_attention(model), FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops()


def formula(
    config: TransformerConfig, source: int, target: int, *, beams: int = 1, cached: bool = True
) -> int:
    r"""The operations of translating one sentence, 2 for each multiplication and addition.

    With D = `d_model`, F = `d_ff`, V the vocabulary, S and T the lengths of source and target, per
    layer: the four projections of an attention cost $2 D^2$ for each vector they are applied to,
    an attention $4 D$ for each pair of query and key, the feed-forward network $4 D F$ for each
    vector; and $2 D V$ for each row of logits.

    With a cache, step t adds one vector for each beam; in the first step there is one beam only.
    Without, step t computes t vectors for each beam, and projects the memory anew in each layer.
    """
    d, f, v, s = config.d_model, config.d_ff, config.target_vocab_size, source
    encoder = config.n_encoder_layers * (s * (8 * d * d + 4 * d * f) + 4 * d * s * s)
    memory = 4 * d * d * s  # its keys and values, in one layer
    total = encoder + (config.n_decoder_layers * memory if cached else 0)
    for t in range(1, target + 1):
        rows = 1 if t == 1 else beams
        new = rows * (1 if cached else t)  # vectors that go through the layers
        # Self-attention has 4 projections, cross-attention 2: the memory is counted by itself.
        layer = new * (12 * d * d + 4 * d * f + 4 * d * t + 4 * d * s)
        if not cached:
            layer += rows * memory
        total += config.n_decoder_layers * layer + 2 * d * v * rows
    return total
