"""Questions to a published model: lens, induction heads, attention sinks, outliers (chapter 28).

`tools/record_smollm2.py` records the answers; chapter 28 asks again where the model is installed.
All numbers come rounded, so that what is printed is the same from both.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, cast

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_book.attention import recorded_attention
from transformer_book.decoder_only import DecoderOnly
from transformer_book.studies.induction import induction_score, repeated_sequences
from transformer_book.weights.language_model import LanguageModel

PERIOD, N_SEQUENCES, SEED = 32, 8, 28
FIRST_WORD, N_WORDS = 1000, 40_000  # of the vocabulary: what lies before are mostly signs
N_HEADS = 8  # how many of the highest scores are named
N_TOKENS = 512  # of a text are read: all maps of so many take 0.3 GB, of twice as many 1.1


def repeated_words() -> Int[Tensor, "B T"]:
    """Random tokens, twice each: `(N_SEQUENCES, 2 PERIOD)`, the same in every call."""
    generator = torch.Generator().manual_seed(SEED)
    periods = torch.full((N_SEQUENCES,), PERIOD)
    return FIRST_WORD + repeated_sequences(periods, 2 * PERIOD, N_WORDS, generator)


@torch.no_grad()
def residual_stream(model: DecoderOnly, tokens: Int[Tensor, "1 T"]) -> list[Float[Tensor, "T D"]]:
    """The residual stream after the embedding and after each layer."""
    found: list[Tensor] = []
    with ExitStack() as hooks:
        first = model.layers[0]
        hooks.enter_context(first.register_forward_pre_hook(lambda _, x: found.append(x[0][0])))
        for layer in model.layers:
            hook = layer.register_forward_hook(lambda _m, _i, made: found.append(made[0]))
            hooks.enter_context(hook)
        model.vectors(tokens)
    return found


@torch.no_grad()
def lens(opened: LanguageModel, prompt: str, word: str) -> list[tuple[str, float, float]]:
    """After the embedding and each layer: the likeliest next token of a prompt, as the lens reads.

    Args:
        opened: the model and its tokenizer.
        prompt: what is read; its last position is asked.
        word: what is waited for; of several tokens, the first.

    Returns:
        For each place: the likeliest token, its probability, and that of `word`.

    Source: nostalgebraist (2020), the logit lens.
    """
    waited = opened.encode(word)[0]
    rows = []
    for x in residual_stream(opened.model, torch.tensor([opened.encode(prompt)])):
        p = opened.model.output(opened.model.norm(x[-1])).softmax(dim=-1)  # (V,)
        token = int(p.argmax())
        told = opened.tokenizer.decode([token])
        rows.append((told, round(p[token].item(), 3), round(p[waited].item(), 4)))
    return rows


@torch.no_grad()
def heads(model: DecoderOnly, text: Int[Tensor, "1 T"]) -> dict[str, Any]:
    """Of each layer and head: the induction score, and how much goes to the first token.

    Args:
        model: whose heads.
        text: of which the first `N_TOKENS` are read, for the share of the first token.

    Returns:
        `scores` and `sinks`, layers × heads; `best`, the `N_HEADS` highest scores as layer, head,
        score. A sink is the mean weight of the first token in the rows from `PERIOD` on.
    """
    sinks = [m[0, :, PERIOD:, 0].mean(dim=1).tolist() for m in _maps(model, text[:, :N_TOKENS])]
    scores = [induction_score(m, PERIOD).tolist() for m in _maps(model, repeated_words())]
    by_score = sorted(
        ((i, h, round(score, 3)) for i, row in enumerate(scores) for h, score in enumerate(row)),
        key=lambda head: -head[2],
    )
    return {
        "best": by_score[:N_HEADS],
        "scores": [[round(score, 3) for score in row] for row in scores],
        "sinks": [[round(share, 3) for share in row] for row in sinks],
    }


def _maps(model: DecoderOnly, tokens: Int[Tensor, "B T"]) -> list[Float[Tensor, "B H T T"]]:
    with recorded_attention(model) as modules:
        model.vectors(tokens)
    return [cast(Tensor, module.weights) for module in modules.values()]


def outliers(model: DecoderOnly, text: Int[Tensor, "1 T"]) -> dict[str, float]:
    """After half of the layers: the largest feature beside the median one, the first position.

    Args:
        model: whose stream.
        text: of which the first `N_TOKENS` are read.
    """
    layer = len(model.layers) // 2
    x = residual_stream(model, text[:, :N_TOKENS])[layer]  # (T, D)
    largest = x[1:].abs().amax(dim=0)  # (D,): the first position is no measure for the others
    return {
        "layer": layer,
        "feature": int(largest.argmax()),
        "largest": round(largest.max().item(), 1),
        "median": round(largest.median().item(), 2),
        "norm_first": round(x[0].norm().item(), 1),
        "norm_median": round(x[1:].norm(dim=1).median().item(), 1),
    }
