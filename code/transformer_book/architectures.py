"""The kinds of models that a recipe may ask for, and a description that makes one again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from transformer_book.arguments import check_choice
from transformer_book.decoder_only import DecoderOnly, DecoderOnlyConfig
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


def build(config: Config) -> Model:
    """A new model of this configuration, its weights drawn from torch's random numbers."""
    return MODELS[type(config)](config)
