"""PyTorch's own modules with the book's weights in them: the other side of every proof.

`to_pytorch(module)` builds the counterpart of a component and copies its weights, so that outputs
can be compared; `paired_parameters` walks through both, so that gradients can be.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import singledispatch

import torch
from torch import Tensor, nn

from transformer_book.attention import MultiHeadAttention
from transformer_book.decoder import Decoder, DecoderLayer
from transformer_book.encoder import Encoder, EncoderLayer
from transformer_book.layers import FeedForward, LayerNorm, NoFeedForward, Residual
from transformer_book.transformer import Transformer

Pair = tuple[str, Tensor, nn.Parameter, slice]


def to_pytorch(module: nn.Module) -> nn.Module:
    """PyTorch's counterpart of `module`, with the same weights, type and mode.

    | the book | PyTorch |
    |---|---|
    | `MultiHeadAttention` | `nn.MultiheadAttention(batch_first=True)` |
    | `LayerNorm` | `nn.LayerNorm` |
    | `FeedForward` | `nn.Sequential(nn.Linear, activation, nn.Dropout, nn.Linear)` |
    | `EncoderLayer`, `Encoder` | `nn.TransformerEncoderLayer`, `nn.TransformerEncoder` |
    | `DecoderLayer`, `Decoder` | `nn.TransformerDecoderLayer`, `nn.TransformerDecoder` |
    | `Transformer` | `nn.Transformer` (the two stacks, without embeddings and output projection) |

    PyTorch's masks mean the opposite: pass `~mask`.

    Raises:
        ValueError: for a component that PyTorch has no counterpart of, such as a layer without
            residual connections.
    """
    with torch.random.fork_rng(devices=[]):  # their own initial weights are overwritten below
        theirs = _build(module)
    theirs = theirs.to(next(module.parameters()))
    with torch.no_grad():
        for _, ours, parameter, rows in paired_parameters(module, theirs):
            parameter[rows].copy_(ours)
    return theirs.train(module.training)


def paired_parameters(ours: nn.Module, theirs: nn.Module) -> Iterator[Pair]:
    """Every parameter of `ours` as (name, parameter, PyTorch's parameter, rows in it).

    PyTorch stacks the three input projections of attention into one matrix of 3·D rows; elsewhere
    the rows are all there are.
    """
    yield from _pair(ours, theirs)


@singledispatch
def _build(module: nn.Module) -> nn.Module:
    raise ValueError(f"PyTorch has no counterpart of {type(module).__name__}.")


@_build.register
def _(module: MultiHeadAttention) -> nn.Module:
    if module.scale is not None:
        raise ValueError("nn.MultiheadAttention always divides the scores by the root of d_head.")
    return nn.MultiheadAttention(
        module.query.in_features,
        module.n_heads,
        dropout=module.dropout,
        bias=module.query.bias is not None,
        batch_first=True,
    )


@_build.register
def _(module: LayerNorm) -> nn.Module:
    return nn.LayerNorm(len(module.weight), eps=module.eps, bias=module.bias is not None)


class _Activation(nn.Module):
    """An activation function as a module, for `nn.Sequential`."""

    def __init__(self, function: object) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


@_build.register
def _(module: FeedForward) -> nn.Module:
    d_model, d_ff = module.linear1.in_features, module.linear1.out_features
    bias = module.linear1.bias is not None
    return nn.Sequential(
        nn.Linear(d_model, d_ff, bias),
        _Activation(module.activation),
        nn.Dropout(module.dropout.p),
        nn.Linear(d_ff, d_model, bias),
    )


def _layer(module: EncoderLayer | DecoderLayer, kind: type[nn.Module]) -> nn.Module:
    """An encoder or decoder layer of PyTorch's; it has one dropout rate where we have three."""
    attention, feed_forward = module.self_attention, module.feed_forward
    residuals = [part for part in module.children() if isinstance(part, Residual)]
    attentions = [part for part in module.children() if isinstance(part, MultiHeadAttention)]
    residual = residuals[0]
    if not all(part.residual for part in residuals) or any(a.scale is not None for a in attentions):
        raise ValueError("PyTorch's layers always have residual connections and scaled scores.")
    if isinstance(feed_forward, NoFeedForward):
        raise ValueError("PyTorch's layers always have a feed-forward network.")
    if len({(r.pre_norm, r.dropout.p, r.norm.eps) for r in residuals}) > 1:
        raise ValueError("PyTorch's layers have one place of norms, one dropout and one epsilon.")
    layer = kind(
        attention.query.in_features,
        attention.n_heads,
        feed_forward.linear1.out_features,
        dropout=residual.dropout.p,
        activation=feed_forward.activation,
        batch_first=True,
        norm_first=residual.pre_norm,
        layer_norm_eps=residual.norm.eps,
        bias=attention.query.bias is not None,
    )
    layer.dropout.p = feed_forward.dropout.p
    layer.self_attn.dropout = attention.dropout
    if kind is nn.TransformerDecoderLayer:
        layer.multihead_attn.dropout = module.cross_attention.dropout
    return layer


@_build.register
def _(module: EncoderLayer) -> nn.Module:
    return _layer(module, nn.TransformerEncoderLayer)


@_build.register
def _(module: DecoderLayer) -> nn.Module:
    return _layer(module, nn.TransformerDecoderLayer)


def _final_norm(module: Encoder | Decoder) -> nn.Module | None:
    return _build(module.norm) if isinstance(module.norm, LayerNorm) else None


@_build.register
def _(module: Encoder) -> nn.Module:
    layers = [_build(layer) for layer in module.layers]
    # Nested tensors would drop the padding from the output; we compare every position.
    stack = nn.TransformerEncoder(
        layers[0], len(layers), _final_norm(module), enable_nested_tensor=False
    )
    stack.layers = nn.ModuleList(layers)
    return stack


@_build.register
def _(module: Decoder) -> nn.Module:
    layers = [_build(layer) for layer in module.layers]
    stack = nn.TransformerDecoder(layers[0], len(layers), _final_norm(module))
    stack.layers = nn.ModuleList(layers)
    return stack


@_build.register
def _(module: Transformer) -> nn.Module:
    config = module.config
    # nn.Transformer on its own would add final norms to post-norm stacks too.
    return nn.Transformer(
        config.d_model,
        config.n_heads,
        custom_encoder=_build(module.encoder),
        custom_decoder=_build(module.decoder),
        batch_first=True,
    )


def _same(name: str, ours: nn.Module, theirs: nn.Module) -> Iterator[Pair]:
    """Two modules that name their parameters alike (`weight`, `bias`)."""
    for key, parameter in ours.named_parameters():
        yield f"{name}.{key}".lstrip("."), parameter, theirs.get_parameter(key), slice(None)


def _inside(prefix: str, pairs: Iterator[Pair]) -> Iterator[Pair]:
    for name, *rest in pairs:
        yield (f"{prefix}.{name}", *rest)


@singledispatch
def _pair(ours: nn.Module, theirs: nn.Module) -> Iterator[Pair]:
    return _same("", ours, theirs)


@_pair.register
def _(ours: MultiHeadAttention, theirs: nn.Module) -> Iterator[Pair]:
    d_model = ours.query.in_features
    for i, name in enumerate(("query", "key", "value")):
        rows = slice(i * d_model, (i + 1) * d_model)
        for kind, parameter in getattr(ours, name).named_parameters():
            yield f"{name}.{kind}", parameter, getattr(theirs, f"in_proj_{kind}"), rows
    yield from _same("output", ours.output, theirs.out_proj)


@_pair.register
def _(ours: FeedForward, theirs: nn.Module) -> Iterator[Pair]:
    first, last = (
        (theirs[0], theirs[-1])
        if isinstance(theirs, nn.Sequential)
        else (theirs.linear1, theirs.linear2)
    )
    yield from _same("linear1", ours.linear1, first)
    yield from _same("linear2", ours.linear2, last)


@_pair.register
def _(ours: EncoderLayer, theirs: nn.Module) -> Iterator[Pair]:
    yield from _inside("self_attention", _pair(ours.self_attention, theirs.self_attn))
    yield from _same("attention_residual.norm", ours.attention_residual.norm, theirs.norm1)
    yield from _inside("feed_forward", _pair(ours.feed_forward, theirs))
    yield from _same("feed_forward_residual.norm", ours.feed_forward_residual.norm, theirs.norm2)


@_pair.register
def _(ours: DecoderLayer, theirs: nn.Module) -> Iterator[Pair]:
    yield from _inside("self_attention", _pair(ours.self_attention, theirs.self_attn))
    yield from _same("self_residual.norm", ours.self_residual.norm, theirs.norm1)
    yield from _inside("cross_attention", _pair(ours.cross_attention, theirs.multihead_attn))
    yield from _same("cross_residual.norm", ours.cross_residual.norm, theirs.norm2)
    yield from _inside("feed_forward", _pair(ours.feed_forward, theirs))
    yield from _same("feed_forward_residual.norm", ours.feed_forward_residual.norm, theirs.norm3)


def _stack(ours: Encoder | Decoder, theirs: nn.Module) -> Iterator[Pair]:
    for i, (layer, counterpart) in enumerate(zip(ours.layers, theirs.layers, strict=True)):
        yield from _inside(f"layers.{i}", _pair(layer, counterpart))
    if isinstance(ours.norm, LayerNorm):
        yield from _same("norm", ours.norm, theirs.norm)


_pair.register(Encoder, _stack)
_pair.register(Decoder, _stack)


@_pair.register
def _(ours: Transformer, theirs: nn.Module) -> Iterator[Pair]:
    yield from _inside("encoder", _pair(ours.encoder, theirs.encoder))
    yield from _inside("decoder", _pair(ours.decoder, theirs.decoder))
