"""From a checkpoint's `config.json` to the book's configuration, or one sentence (chapter 28)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

from transformer_book.decoder_only import DecoderOnlyConfig
from transformer_book.weights.gpt2 import config_from_gpt2, weights_from_gpt2
from transformer_book.weights.llama import config_from_llama, weights_from_llama

# By model_type: what reads the settings, and what renames the weights.
FAMILIES: dict[
    str,
    tuple[
        Callable[[Mapping[str, Any]], DecoderOnlyConfig],
        Callable[[Mapping[str, Tensor]], dict[str, Tensor]],
    ],
] = {
    "gpt2": (config_from_gpt2, weights_from_gpt2),
    "llama": (config_from_llama, weights_from_llama),
}

# Families that have a part which the book's model lacks, and which part that is.
LACKING = {
    "bloom": "positions as a bias on the scores (ALiBi)",
    "deepseek_v2": "multi-head latent attention, and a mixture of experts",
    "deepseek_v3": "multi-head latent attention, and a mixture of experts",
    "falcon": "attention and feed-forward network side by side",
    "gemma": "a gated network with GELU, and norms that scale by 1 + weight",
    "gemma2": "sliding windows, and logits with a cap",
    "gemma3_text": "sliding windows, and norms of queries and keys",
    "gpt_neox": "rotary positions on a part of each head",
    "gpt_oss": "a mixture of experts, and attention sinks",
    "mistral": "sliding windows",
    "mixtral": "a mixture of experts",
    "olmo2": "norms of queries and keys, and norms after the sublayers",
    "phi": "rotary positions on a part of each head",
    "qwen2": "biases on queries, keys and values, but not on the output",
    "qwen2_moe": "a mixture of experts",
    "qwen3": "norms of queries and keys",
    "qwen3_moe": "norms of queries and keys, and a mixture of experts",
}


def config_from_checkpoint(settings: Any) -> DecoderOnlyConfig:
    """The configuration that a checkpoint's `config.json` describes, whichever family it is of.

    Raises:
        ValueError: the book's model has no part for the family or for a setting, or a setting is
            missing or out of range.
    """
    family = family_of(settings)
    if settings.get("rope_interleaved"):
        raise ValueError(
            "The model pairs neighbours in its rotary positions (rope_interleaved), but the "
            "book's model pairs feature i with feature i + K/2."
        )
    try:
        return FAMILIES[family][0](settings)
    except (TypeError, AttributeError) as error:
        reason = str(error).split("\n")[0].rstrip(".")
        raise ValueError(f"A setting of the model is of a wrong kind: {reason}.") from error


def family_of(settings: Any) -> str:
    """The `model_type` of a checkpoint, if the book's model can take its form.

    Raises:
        ValueError: it cannot; the sentence says which part is lacking, where that is known.
    """
    if not isinstance(settings, Mapping):
        raise ValueError("The settings of the model are not a JSON object.")
    family = settings.get("model_type")
    if not isinstance(family, str):
        raise ValueError(
            "The settings do not say which kind of model it is: model_type is missing."
        )
    if family not in FAMILIES:
        part = LACKING.get(family)
        reason = f": that has {part}" if part else ""
        raise ValueError(
            f"The model is of the kind {family!r}{reason}; the book's model can be "
            f"{' or '.join(FAMILIES)}."
        )
    return family
