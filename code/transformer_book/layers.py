"""What surrounds attention: layer norm, residuals, the feed-forward network (chapters 10, 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from transformer_book.support.arguments import (
    check_choice,
    check_even,
    check_heads,
    check_positive,
    check_probability,
    check_scale,
    check_switch,
    check_width,
)
from transformer_book.support.parts import is_changed


class LayerNorm(nn.Module):
    r"""Bring the features of each position to mean 0 and variance 1, then scale and shift.

    $$y = \gamma \, \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} + \beta, \qquad
      \mu = \tfrac1D \sum_d x_d, \quad \sigma^2 = \tfrac1D \sum_d (x_d - \mu)^2$$

    The mean and the (biased) variance are taken over the features of one position only.

    Args:
        d_model: width of the vectors, `D`.
        eps: ε, inside the root.
        bias: have a shift β (`bias`) beside the scale γ (`weight`).

    Shapes: `(…, D)` → `(…, D)`.

    Source: Ba et al. (2016).
    """

    def __init__(self, d_model: int, *, eps: float = 1e-5, bias: bool = True) -> None:
        super().__init__()
        check_positive(d_model=d_model)
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model)) if bias else None
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        check_width("The input of LayerNorm", x, len(self.weight))
        centred = x - x.mean(dim=-1, keepdim=True)  # (…, D)
        variance = centred.square().mean(dim=-1, keepdim=True)  # (…, 1)
        y = self.weight * centred / torch.sqrt(variance + self.eps)  # (…, D)
        return y if self.bias is None else y + self.bias


def _kernel(norm: LayerNorm, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
    check_width("The input of LayerNorm", x, len(norm.weight))
    return F.layer_norm(x, x.shape[-1:], norm.weight, norm.bias, norm.eps)  # (…, D)


@contextmanager
def fused_norms(model: nn.Module) -> Iterator[None]:
    """While this is open, PyTorch's kernel computes every `LayerNorm` of the model.

    The formula goes through memory once for each of its operations, the kernel once for all of
    them. Classes and formulas of your own are left as they are. Chapter 23.
    """
    norms = [m for m in model.modules() if type(m) is LayerNorm and not is_changed(m, "forward")]
    try:
        for norm in norms:
            norm.forward = partial(_kernel, norm)
        yield
    finally:
        for norm in norms:
            del norm.forward


def group_sort(x: Float[Tensor, "*batch F"]) -> Float[Tensor, "*batch F"]:
    """Sort each pair of neighbouring features: nothing is lost, lengths are preserved.

    Source: Anil et al. (2019), with groups of two.
    """
    return x.unflatten(-1, (-1, 2)).sort(dim=-1).values.flatten(-2)  # (…, F/2, 2) → (…, F)


ACTIVATIONS = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),  # what GPT-2 was trained with
    "groupsort": group_sort,
}


class FeedForward(nn.Module):
    r"""The same two-layer network at every position: $f(x W_1 + b_1) W_2 + b_2$.

    Args:
        d_model: width of the vectors, `D`.
        d_ff: width in between, usually 4 D; even for GroupSort.
        activation: f, one of `relu`, `gelu` (exact), `gelu_tanh` (approximated), `groupsort`.
        dropout: after the activation (0 in the 2017 paper).
        bias: let both layers have a bias.

    Shapes: `(…, D)` → `(…, D)`.

    Raises:
        ValueError: for an unknown activation, or an odd `d_ff` with GroupSort.

    Source: Vaswani et al. (2017), section 3.3.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        *,
        activation: str = "relu",
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        check_positive(d_model=d_model, d_ff=d_ff)
        check_choice("activation", activation, ACTIVATIONS)
        check_probability(dropout=dropout)
        if activation == "groupsort":
            check_even("GroupSort (d_ff)", d_ff)
        self.linear1 = nn.Linear(d_model, d_ff, bias=bias)
        self.linear2 = nn.Linear(d_ff, d_model, bias=bias)
        self.activation = ACTIVATIONS[activation]
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        hidden = self.dropout(self.activation(self.linear1(x)))  # (…, F)
        return self.linear2(hidden)  # (…, D)


class NoFeedForward(nn.Module):
    """Add nothing: what remains of a layer without its feed-forward network (an ablation)."""

    def forward(self, x: Float[Tensor, "*batch D"]) -> Float[Tensor, "*batch D"]:
        return torch.zeros_like(x)


NORMS = ("pre", "post")


class Residual(nn.Module):
    r"""Wrap a sublayer f in a residual connection, dropout and a layer norm.

    $$\text{pre: } x + \mathrm{dropout}(f(\mathrm{norm}(x))) \qquad
      \text{post: } \mathrm{norm}(x + \mathrm{dropout}(f(x)))$$

    Args:
        d_model: width of the vectors, `D`.
        norm: `"pre"` (trains stably when deep) or `"post"` (as in the 2017 paper).
        dropout: on the sublayer's output, never on x itself.
        bias: let the layer norm have a shift.
        residual: add x; `False` takes the connection away (an ablation).

    Shapes: x `(B, T, D)` and a function `(B, T, D)` → `(B, T, D)` give `(B, T, D)`.

    Source: post: Vaswani et al. (2017), section 5.4; pre: Xiong et al. (2020).
    """

    def __init__(
        self,
        d_model: int,
        *,
        norm: str = "pre",
        dropout: float = 0.1,
        bias: bool = True,
        residual: bool = True,
    ) -> None:
        super().__init__()
        check_choice("norm", norm, NORMS)
        check_probability(dropout=dropout)
        check_switch(bias=bias, residual=residual)
        self.pre_norm, self.residual = norm == "pre", residual
        self.norm = LayerNorm(d_model, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "B T D"], sublayer: Callable[[Tensor], Tensor]
    ) -> Float[Tensor, "B T D"]:
        stream = x if self.residual else 0.0
        if self.pre_norm:
            return stream + self.dropout(sublayer(self.norm(x)))  # (B, T, D)
        return self.norm(stream + self.dropout(sublayer(x)))  # (B, T, D)


@dataclass(frozen=True, kw_only=True)
class LayerConfig:
    """Everything that decides the shape and the function of an encoder or a decoder layer.

    Attributes:
        d_model: width of all vectors, `D`.
        n_heads: attention heads; must divide `d_model`.
        d_ff: inner width of the feed-forward network.
        norm: `"pre"` or `"post"` (the 2017 paper).
        dropout: on each sublayer's output.
        attention_dropout: on attention weights.
        activation_dropout: inside the feed-forward network.
        activation: `"relu"`, `"gelu"`, `"gelu_tanh"` or `"groupsort"`.
        bias: let projections and norms have biases.
        score_scale: factor on attention scores; `None` means one over the root of `d_head`.
        residual: keep the residual connections. `feed_forward`: keep the feed-forward network.
            `False` is for ablations.

    Raises:
        ValueError: for a value out of range, saying which, and what would be allowed.
    """

    d_model: int = 512
    n_heads: int = 8
    d_ff: int = 2048
    norm: str = "pre"
    dropout: float = 0.1
    attention_dropout: float = 0.0
    activation_dropout: float = 0.0
    activation: str = "relu"
    bias: bool = True
    score_scale: float | None = None
    residual: bool = True
    feed_forward: bool = True

    def __post_init__(self) -> None:
        check_positive(d_ff=self.d_ff)
        check_heads(self.d_model, self.n_heads)
        rates = ("dropout", "attention_dropout", "activation_dropout")
        check_probability(**{name: getattr(self, name) for name in rates})
        switches = ("bias", "residual", "feed_forward")
        check_switch(**{name: getattr(self, name) for name in switches})
        check_scale(score_scale=self.score_scale)
        check_choice("norm", self.norm, NORMS)
        check_choice("activation", self.activation, ACTIVATIONS)
        if self.activation == "groupsort":
            check_even("GroupSort (d_ff)", self.d_ff)


def make_feed_forward(config: LayerConfig) -> nn.Module:
    """The feed-forward network that the configuration asks for."""
    if not config.feed_forward:
        return NoFeedForward()
    options = {"activation": config.activation, "dropout": config.activation_dropout}
    return FeedForward(config.d_model, config.d_ff, bias=config.bias, **options)


def make_residual(config: LayerConfig) -> nn.Module:
    """What the configuration wraps a sublayer in."""
    options = {"norm": config.norm, "dropout": config.dropout, "residual": config.residual}
    return Residual(config.d_model, bias=config.bias, **options)


def final_norm(config: LayerConfig) -> nn.Module:
    """The norm after the last layer of a stack.

    A pre-norm stack ends in a sum that no norm has touched yet, so it needs one; the last sublayer
    of a post-norm stack has just been normalised.
    """
    if config.norm == "post":
        return nn.Identity()
    return LayerNorm(config.d_model, bias=config.bias)
