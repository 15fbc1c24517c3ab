"""The kinds of models that a recipe may ask for, and a description that makes one again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from transformer_book.decoder_only import DecoderOnly, DecoderOnlyConfig
from transformer_book.support.arguments import check_choice
from transformer_book.transformer import Transformer, TransformerConfig

Model = Transformer | DecoderOnly
Config = TransformerConfig | DecoderOnlyConfig

USUAL = "encoder_decoder"
CONFIGS = {USUAL: TransformerConfig, "decoder_only": DecoderOnlyConfig}
MODELS = {TransformerConfig: Transformer, DecoderOnlyConfig: DecoderOnly}
SIZES = {
    TransformerConfig: ("source_vocab_size", "target_vocab_size"),
    DecoderOnlyConfig: ("vocab_size",),
}


def kind_of(settings: Mapping[str, Any]) -> type[TransformerConfig] | type[DecoderOnlyConfig]:
    """The class of the configuration that `settings` describe: by their `architecture`."""
    name = settings.get("architecture", USUAL)
    check_choice("architecture", name, CONFIGS)
    return CONFIGS[name]


def configuration(settings: Mapping[str, Any], sizes: tuple[int, int] | None = None) -> Config:
    """The configuration that `settings` describe; `settings_of` gives them.

    Args:
        settings: fields, and `architecture` if it is not an encoder–decoder.
        sizes: of source and target vocabulary, where the settings do not say them.

    Raises:
        ValueError: a value out of range; two vocabularies for a model that has one.
        TypeError: a field that is not known.
    """
    kind = kind_of(settings)
    fields = {name: value for name, value in settings.items() if name != "architecture"}
    if sizes is not None:
        if len(SIZES[kind]) < len(set(sizes)):
            raise ValueError(
                f"A decoder-only model has one vocabulary, but the source's has {sizes[0]} tokens "
                f"and the target's {sizes[1]}: use a joint one (tokens.joint = true)."
            )
        fields |= dict(zip(SIZES[kind], sizes, strict=False))
    return kind(**fields)


def settings_of(config: Config) -> dict[str, Any]:
    """All fields of a configuration, and its `architecture` if it is not an encoder–decoder."""
    names = {kind: name for name, kind in CONFIGS.items() if name != USUAL}
    kind = type(config)
    return ({"architecture": names[kind]} if kind in names else {}) | asdict(config)


LAYER = 50_000  # bytes that a layer takes besides its numbers


def memory() -> int:
    """The memory of this machine in bytes; a tebibyte where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # no POSIX
        return 2**40


def n_numbers(config: Config) -> int:
    """How many numbers a model of this configuration holds at least, its tables of positions too.

    Projections and feed-forward networks of all layers, embeddings, positions; no biases and norms.
    """
    D, F = config.d_model, config.d_ff
    if isinstance(config, DecoderOnlyConfig):
        width = config.n_heads * config.head_width
        kept = (config.n_kv_heads or config.n_heads) * config.head_width
        gated = 3 if config.activation == "swiglu" else 2
        layers = config.n_layers * (2 * D * width + 2 * D * kept + gated * D * F)
        return layers + config.vocab_size * D + 2 * config.max_length * D
    encoder = config.n_encoder_layers * (4 * D * D + 2 * D * F * config.feed_forward)
    decoder = config.n_decoder_layers * (8 * D * D + 2 * D * F * config.feed_forward)
    words = config.target_vocab_size + config.source_vocab_size * (config.tie_embeddings != "all")
    return encoder + decoder + words * D + 2 * config.max_length * D


def check_memory(config: Config) -> None:
    """Raise `ValueError` if a model of this configuration is larger than this machine's memory."""
    n_layers = sum(value for name, value in vars(config).items() if name.endswith("_layers"))
    needed, there = 4 * n_numbers(config) + LAYER * n_layers, memory()
    if needed > there:
        raise ValueError(
            f"A model of this configuration needs at least {needed // 2**30} GiB, and this machine "
            f"has {there // 2**30} GiB of memory: make it narrower, shallower, or its sequences "
            "shorter."
        )


def build(config: Config) -> Model:
    """A new model of this configuration, its weights drawn from torch's random numbers.

    Raises:
        ValueError: the memory does not suffice for it; nothing has been made then.
    """
    check_memory(config)
    return MODELS[type(config)](config)
