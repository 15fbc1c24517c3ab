"""One stack instead of two: the decoder-only model (chapter 24), and today's parts (chapter 25)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_book.embeddings import POSITIONS, TokenEmbedding
from transformer_book.grouped_attention import GroupedQueryAttention, check_groups
from transformer_book.key_value_cache import KeysAndValues, KeyValueCache
from transformer_book.layers import ACTIVATIONS, FeedForward, LayerNorm
from transformer_book.masks import causal_mask
from transformer_book.rms_norm import RMSNorm
from transformer_book.rotary import RotaryPositions
from transformer_book.support.arguments import (
    check_choice,
    check_even,
    check_heads,
    check_length,
    check_positive,
    check_probability,
    check_same_batch,
    check_switch,
    check_tokens,
    is_number,
)
from transformer_book.swiglu import SwiGLU
from transformer_book.tokens import PAD
from transformer_book.transformer import INITIALIZATIONS, initialize

NORMS = ("layer", "rms")

# What most models of today have in place of the parts of 2017.
TODAY = {
    "norm": "rms",
    "positions": "rotary",
    "activation": "swiglu",
    "bias": False,
    "scale_embeddings": False,
}


@dataclass(frozen=True)
class DecoderOnlyConfig:
    """Everything that decides the shape and the function of a `DecoderOnly` model.

    As they are, the parts are those of 2017; `DecoderOnlyConfig(..., **TODAY)` has today's.

    Attributes:
        vocab_size: number of token ids, of source and target alike.
        d_model: width of all vectors.
        n_heads: query heads per layer.
        n_kv_heads: heads of keys and values; must divide `n_heads`. `None`: as many.
        d_head: width of a head; `None`: `d_model` over `n_heads`.
        n_layers: depth of the stack.
        d_ff: inner width of the feed-forward networks.
        max_length: longest source, and longest target, special tokens included. The sequence of
            both may be twice as long.
        dropout: on embeddings and on each sublayer's output.
        attention_dropout: on attention weights.
        activation_dropout: inside the feed-forward networks.
        norm: `"layer"` or `"rms"`; always before the sublayer, and once after the last.
        norm_eps: ε of the norms.
        positions: `"sinusoidal"`, `"learned"`, `"rotary"` or `"none"`.
        rotary_base: of the wavelengths of rotary positions.
        activation: `"relu"`, `"gelu"`, `"gelu_tanh"`, `"groupsort"`, or `"swiglu"` for gated
            networks.
        bias: let projections and layer norms have biases.
        tie_embeddings: let the embedding be the output projection, too.
        scale_embeddings: multiply embeddings by the root of `d_model`.
        initialization: one of `INITIALIZATIONS`, see `initialize`.
        prefix: let the positions of the source see each other in both directions; `False`: only
            what came before, as in the target.
        source_loss: learn to predict the source's tokens, too.
        padding: id of the token that stands for nothing; `None`: there is none.

    Raises:
        ValueError: for a value out of range, saying which, and what would be allowed.
    """

    vocab_size: int
    d_model: int = 512
    n_heads: int = 8
    n_kv_heads: int | None = None
    d_head: int | None = None
    n_layers: int = 6
    d_ff: int = 2048
    max_length: int = 1024
    dropout: float = 0.1
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0
    norm: str = "layer"
    norm_eps: float = 1e-5
    positions: str = "sinusoidal"
    rotary_base: float = 10000.0
    activation: str = "relu"
    bias: bool = True
    tie_embeddings: bool = False
    scale_embeddings: bool = True
    initialization: str = "xavier"
    prefix: bool = False
    source_loss: bool = False
    padding: int | None = PAD

    def __post_init__(self) -> None:
        sizes = ("vocab_size", "d_model", "n_heads", "n_layers", "d_ff", "max_length")
        check_positive(**{name: getattr(self, name) for name in sizes})
        if self.d_head is None:
            check_heads(self.d_model, self.n_heads)
        else:
            check_positive(d_head=self.d_head)
        if self.n_kv_heads is not None:
            check_positive(n_kv_heads=self.n_kv_heads)
            check_groups(self.n_heads, self.n_kv_heads)
        rates = ("dropout", "attention_dropout", "activation_dropout")
        check_probability(**{name: getattr(self, name) for name in rates})
        switches = ("bias", "tie_embeddings", "scale_embeddings", "prefix", "source_loss")
        check_switch(**{name: getattr(self, name) for name in switches})
        for name in ("norm_eps", "rotary_base"):
            value = getattr(self, name)
            if not is_number(value) or value <= 0:
                raise ValueError(f"{name} is {value!r}, but it must be a number above 0.")
        check_choice("norm", self.norm, NORMS)
        check_choice("positions", self.positions, (*POSITIONS, "rotary"))
        check_choice("activation", self.activation, (*ACTIVATIONS, "swiglu"))
        check_choice("initialization", self.initialization, INITIALIZATIONS)
        if self.prefix and self.source_loss:
            raise ValueError(
                "source_loss needs prefix=False: positions that see what follows them have "
                "nothing to predict."
            )
        if self.positions == "sinusoidal":
            check_even("A model with sinusoidal positions (d_model)", self.d_model)
        if self.positions == "rotary":
            check_even("A head with rotary positions (d_head)", self.head_width)
        if self.activation == "groupsort":
            check_even("GroupSort (d_ff)", self.d_ff)

    @property
    def head_width(self) -> int:
        """`d_head`, or `d_model` over `n_heads` if it is `None`."""
        return self.d_model // self.n_heads if self.d_head is None else self.d_head

    @property
    def source_vocab_size(self) -> int:
        """As of an encoder–decoder model; there is one vocabulary."""
        return self.vocab_size

    @property
    def target_vocab_size(self) -> int:
        """As of an encoder–decoder model; there is one vocabulary."""
        return self.vocab_size

    @property
    def causal(self) -> bool:
        """Whether a position never sees what follows it in the target: always."""
        return True


class DecoderOnlyLayer(nn.Module):
    """Masked self-attention, then the feed-forward network, each behind a norm.

    An `EncoderLayer` (pre-norm) with a causal mask; or a `DecoderLayer` without cross-attention.

    Args:
        config: see `DecoderOnlyConfig`.
        rotary: what turns queries and keys by their positions, if anything does; the layers of a
            model share it.

    Shapes: x `(B, T, D)`, mask broadcastable to `(B, H, T, S)`, positions `(B, T)` or `(T,)` →
    `(B, T, D)`.

    Source: Radford et al. (2019), GPT-2; Touvron et al. (2023), Llama.
    """

    def __init__(self, config: DecoderOnlyConfig, rotary: RotaryPositions | None = None) -> None:
        super().__init__()
        self.attention_norm = make_norm(config)
        self.self_attention = GroupedQueryAttention(
            config.d_model,
            config.n_heads,
            config.n_kv_heads,
            d_head=config.d_head,
            dropout=config.attention_dropout,
            bias=config.bias,
            rotary=rotary,
        )
        self.feed_forward_norm = make_norm(config)
        network = {"dropout": config.activation_dropout, "bias": config.bias}
        if config.activation == "swiglu":
            self.feed_forward = SwiGLU(config.d_model, config.d_ff, **network)
        else:
            network["activation"] = config.activation
            self.feed_forward = FeedForward(config.d_model, config.d_ff, **network)
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        x: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "..."] | None = None,
        positions: Int[Tensor, "*batch T"] | None = None,
        kept: KeysAndValues | None = None,
    ) -> Float[Tensor, "B T D"]:
        attended = self.self_attention(self.attention_norm(x), mask, positions, kept)  # (B, T, D)
        x = x + self.dropout(attended)  # (B, T, D)
        return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))  # (B, T, D)


def make_norm(config: DecoderOnlyConfig) -> nn.Module:
    """The norm that the configuration asks for."""
    if config.norm == "rms":
        return RMSNorm(config.d_model, eps=config.norm_eps)
    return LayerNorm(config.d_model, eps=config.norm_eps, bias=config.bias)


class DecoderOnly(nn.Module):
    r"""A language model: $p(x_{t+1} \mid x_{\le t})$ for every t at once.

    It translates, too. Source and target are one sequence, `source <eos> <sos> target`: the two
    special tokens between them are the separator, and what follows is what a decoder would write.
    `forward` takes the same arguments as that of `Transformer` and answers for the target alone, so
    whatever trains or decodes one trains or decodes the other.

    Padding may stand anywhere: it is masked, and positions count what is not padding.

    Shapes: source `(B, S)` and target `(B, T)`, token ids → logits `(B, T, V)`.

    Raises:
        ValueError: for an id outside the vocabulary, a source or target longer than `max_length`,
            an empty batch, or source and target of different batch size.

    Source: Liu et al. (2018), section 4.2.3; Radford et al. (2019); the prefix mask: Dong et al.
        (2019), Raffel et al. (2020), section 3.2.
    """

    def __init__(self, config: DecoderOnlyConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = TokenEmbedding(
            config.vocab_size, config.d_model, scale=config.scale_embeddings
        )
        added = "none" if config.positions == "rotary" else config.positions
        self.positions = POSITIONS[added](config.d_model, 2 * config.max_length)
        self.dropout = nn.Dropout(config.dropout)
        rotary = None
        if config.positions == "rotary":
            rotary = RotaryPositions(config.head_width, 2 * config.max_length, config.rotary_base)
        self.layers = nn.ModuleList(
            DecoderOnlyLayer(config, rotary) for _ in range(config.n_layers)
        )
        self.norm = make_norm(config)
        # Without a bias even where the layers have one: it would say how frequent a token is, and
        # neither GPT-2 nor Llama has one there.
        self.output = nn.Linear(config.d_model, config.vocab_size, bias=False)
        self.tie_weights()
        # Loading with assign=True puts new matrices in place of the tied one.
        self.register_load_state_dict_post_hook(DecoderOnly.tie_weights)
        initialize(self, config.initialization)

    def tie_weights(self, _: object = None) -> None:
        """Let embedding and output projection share one matrix, if the configuration ties them."""
        if self.config.tie_embeddings:
            self.output.weight = self.embedding.weight

    def forward(
        self,
        source: Int[Tensor, "B S"],
        target: Int[Tensor, "B T"],
        *,
        whole: bool = False,
        project: bool = True,
    ) -> Float[Tensor, "B places V"]:
        """The logits for the positions of the target; `whole`: for those of the source, too.

        Without `project` the vectors `(B, places, D)` from which they are made.
        """
        vectors = self.pair_vectors(source, target) if whole else self.decode(target, source)
        return self.output(vectors) if project else vectors

    def decode(
        self, target: Int[Tensor, "B T"], source: Int[Tensor, "B S"]
    ) -> Float[Tensor, "B T D"]:
        """One vector per target token, which has seen the source and the target so far."""
        return self.pair_vectors(source, target)[:, source.size(1) :]  # (B, T, D)

    def logits(self, tokens: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """What follows each position of one text, without source and target."""
        return self.output(self.vectors(tokens))  # (B, T, V)

    def pair_vectors(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B places D"]:
        """One vector per token of source and target."""
        check_same_batch(source, target)
        for tokens in (source, target):
            check_length(tokens.size(1), self.config.max_length)
        return self.vectors(torch.cat([source, target], dim=1), self.prefix_of(source))

    def prefix_of(self, source: Int[Tensor, "B S"]) -> int:
        """How many positions of a source see each other in both directions."""
        return source.size(1) if self.config.prefix else 0

    def vectors(
        self, tokens: Int[Tensor, "B T"], prefix: int = 0, cache: KeyValueCache | None = None
    ) -> Float[Tensor, "B T D"]:
        """One vector per token, which has seen what came before it.

        Args:
            tokens: ids; with a cache only those that are new.
            prefix: how many of the first positions see each other in both directions.
            cache: holds what came before; what is computed here is added to it.
        """
        check_tokens(tokens, self.config.vocab_size)
        past = None if cache is None else cache.real
        real = torch.ones_like(tokens, dtype=torch.bool)  # (B, T)
        if self.config.padding is not None:
            real = tokens != self.config.padding  # (B, T)
        real = real if past is None else torch.cat([past, real], dim=1)  # (B, S)
        mask = self.mask(real, tokens.size(1), prefix)  # (B, 1, T, S)
        positions = (real.cumsum(dim=1) - 1).clamp(min=0)[:, -tokens.size(1) :]  # (B, T)
        x = self.dropout(self.placed(self.embedding(tokens), positions))  # (B, T, D)
        for i, layer in enumerate(self.layers):
            x = layer(x, mask, positions, None if cache is None else cache.layers[i])  # (B, T, D)
        if cache is not None:
            cache.real = real
        return self.norm(x)  # (B, T, D)

    def mask(
        self, real: Bool[Tensor, "B S"], n_new: int, prefix: int = 0
    ) -> Bool[Tensor, "B 1 T S"]:
        """What each of the `n_new` last positions may see: real tokens, not in the future."""
        seen = causal_mask(real.size(1), real.device)[-n_new:]  # (T, S)
        if prefix:
            seen = seen | (torch.arange(real.size(1), device=real.device) < prefix)  # (T, S)
        return real[:, None, None, :] & seen  # (B, 1, T, S)

    def placed(
        self, x: Float[Tensor, "B T D"], positions: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """Add to each vector the row of its position, where positions are added at all."""
        length = int(positions.max()) + 1
        rows = self.positions(x.new_zeros(1, length, x.size(-1)))[0]  # (T', D): added to zeros
        return x + rows[positions]  # (B, T, D)

    def new_cache(self) -> KeyValueCache:
        """An empty cache for this model."""
        return KeyValueCache([KeysAndValues() for _ in self.layers])

    @property
    def n_parameters(self) -> int:
        """Number of trained numbers; a tied matrix counts once."""
        return sum(parameter.numel() for parameter in self.parameters())

    def source_labels(self, source: Tensor, target: Tensor) -> Int[Tensor, "B places"]:
        """The token that should follow each position of `source` and of `target[:, :-1]`.

        At the end of a source the label is padding: learning that `<sos>` follows is no use.
        """
        after = torch.cat([source[:, 1:], source.new_full((len(source), 1), PAD)], dim=1)  # (B, S)
        return torch.cat([after, target[:, 1:]], dim=1)  # (B, S+T)


def todays(vocab_size: int, **options: Any) -> DecoderOnlyConfig:
    """A configuration with today's parts; `options` take precedence over them."""
    return DecoderOnlyConfig(vocab_size, **{**TODAY, **options})
