"""The whole model, and the configuration that says which one (chapter 14)."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_book.decoder import Decoder
from transformer_book.embeddings import POSITIONS, TokenEmbedding
from transformer_book.encoder import Encoder
from transformer_book.layers import LayerConfig
from transformer_book.masks import padding_mask, target_mask
from transformer_book.support.arguments import (
    check_choice,
    check_even,
    check_padding_mask,
    check_positive,
    check_same_batch,
    check_switch,
)

TIES = ("none", "decoder", "all")
INITIALIZATIONS = ("xavier", "scaled_normal", "loud_positions")


@dataclass(frozen=True)
class TransformerConfig(LayerConfig):
    """Everything that decides the shape and the function of a `Transformer`.

    Attributes:
        source_vocab_size, target_vocab_size: numbers of token ids.
        n_encoder_layers, n_decoder_layers: depth of each stack.
        max_length: longest sequence, special tokens included.
        positions: `"sinusoidal"`, `"learned"` or `"none"`.
        tie_embeddings: `"none"`; `"decoder"`: target embedding = output projection; `"all"`: the
            source embedding too, which needs one vocabulary for both languages.
        scale_embeddings: multiply embeddings by the root of `d_model`.
        initialization: one of `INITIALIZATIONS`, see `initialize`.
        causal: hide the future from the decoder; `False` is for ablations.

    What the layers are is said by the fields of `LayerConfig`; `dropout` is on embeddings, too.

    Raises:
        ValueError: for a value out of range, saying which, and what would be allowed.
    """

    source_vocab_size: int
    target_vocab_size: int
    n_encoder_layers: int = 6
    n_decoder_layers: int = 6
    max_length: int = 1024
    positions: str = "sinusoidal"
    tie_embeddings: str = "none"
    scale_embeddings: bool = True
    initialization: str = "xavier"
    causal: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = ("source_vocab_size", "target_vocab_size", "n_encoder_layers", "n_decoder_layers")
        check_positive(**{name: getattr(self, name) for name in (*sizes, "max_length")})
        check_switch(scale_embeddings=self.scale_embeddings, causal=self.causal)
        check_choice("positions", self.positions, POSITIONS)
        check_choice("tie_embeddings", self.tie_embeddings, TIES)
        check_choice("initialization", self.initialization, INITIALIZATIONS)
        if self.positions == "sinusoidal":
            check_even("A model with sinusoidal positions (d_model)", self.d_model)
        if self.tie_embeddings == "all" and self.source_vocab_size != self.target_vocab_size:
            raise ValueError(
                f"tie_embeddings='all' needs one vocabulary, but source_vocab_size is "
                f"{self.source_vocab_size} and target_vocab_size {self.target_vocab_size}; use a "
                "joint vocabulary, or tie_embeddings='decoder'."
            )


class Transformer(nn.Module):
    r"""The encoder–decoder Transformer: $p(y_{t+1} \mid y_{\le t}, x)$ for every t at once.

    Shapes: source `(B, S)` and target `(B, T)`, token ids → logits `(B, T, V)`: row t scores the
    token that follows target[:, : t+1]. Token 0 is padding and is masked on both sides.

    Raises:
        ValueError: for an id outside the vocabulary, a sequence longer than `max_length`, an empty
            batch, or source and target of different batch size.

    Source: Vaswani et al. (2017), figure 1.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        positions = POSITIONS[config.positions]
        scale = config.scale_embeddings
        self.source_embedding = TokenEmbedding(
            config.source_vocab_size, config.d_model, scale=scale
        )
        self.target_embedding = TokenEmbedding(
            config.target_vocab_size, config.d_model, scale=scale
        )
        self.source_positions = positions(config.d_model, config.max_length)
        self.target_positions = positions(config.d_model, config.max_length)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = Encoder(config.n_encoder_layers, config)
        self.decoder = Decoder(config.n_decoder_layers, config)
        self.output = nn.Linear(config.d_model, config.target_vocab_size, bias=config.bias)
        self.tie_weights()
        # Loading with assign=True puts new matrices in place of the tied one.
        self.register_load_state_dict_post_hook(Transformer.tie_weights)
        initialize(self, config.initialization)

    def tie_weights(self, _: object = None) -> None:
        """Make one matrix of those that the configuration ties."""
        if self.config.tie_embeddings in ("decoder", "all"):
            self.output.weight = self.target_embedding.weight
        if self.config.tie_embeddings == "all":
            self.source_embedding.weight = self.target_embedding.weight

    def forward(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"], *, project: bool = True
    ) -> Float[Tensor, "B T V"]:
        """The logits; without `project` the vectors `(B, T, D)` from which they are made."""
        check_same_batch(source, target)
        memory_mask = padding_mask(source)  # (B, 1, 1, S)
        memory = self.encode(source, memory_mask)  # (B, S, D)
        vectors = self.decode(target, memory, memory_mask)  # (B, T, D)
        return self.output(vectors) if project else vectors

    def encode(
        self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B 1 1 S"]
    ) -> Float[Tensor, "B S D"]:
        """The memory: one vector per source token, which has seen the whole source."""
        check_padding_mask(mask, "The source mask")
        x = self.dropout(self.source_positions(self.source_embedding(source)))  # (B, S, D)
        return self.encoder(x, mask)  # (B, S, D)

    def decode(
        self,
        target: Int[Tensor, "B T"],
        memory: Float[Tensor, "B S D"],
        memory_mask: Bool[Tensor, "B 1 1 S"],
    ) -> Float[Tensor, "B T D"]:
        """One vector per target token, which has seen the source and the target so far."""
        check_padding_mask(memory_mask, "The memory mask")
        mask = target_mask(target) if self.config.causal else padding_mask(target)
        y = self.dropout(self.target_positions(self.target_embedding(target)))  # (B, T, D)
        return self.decoder(y, memory, mask, memory_mask)  # (B, T, D)

    @property
    def n_parameters(self) -> int:
        """Number of trained numbers; a tied matrix counts once."""
        return sum(parameter.numel() for parameter in self.parameters())


def initialize(model: nn.Module, scheme: str) -> None:
    r"""Set every weight matrix at random, every bias to zero; the norms keep scale 1.

    `"xavier"`: uniform with variance $2/(\text{rows} + \text{columns})$ (Glorot and Bengio, 2010).
    `"scaled_normal"`: normal with variance $1/\text{columns}$: for a projection that is one over
    its number of inputs, for an embedding $1/d_{model}$, which also suits a tied output projection.
    `"loud_positions"`: the same, but learned positions begin as long as sinusoids (chapter 5).
    """
    check_choice("initialization", scheme, INITIALIZATIONS)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(parameter)
        elif parameter.dim() > 1 and scheme == "xavier":
            nn.init.xavier_uniform_(parameter)
        elif parameter.dim() > 1:
            loud = scheme == "loud_positions" and name.endswith("positions.weight")
            nn.init.normal_(parameter, std=0.5**0.5 if loud else parameter.size(-1) ** -0.5)
