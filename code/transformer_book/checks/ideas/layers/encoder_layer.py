"""Encoder layer (chapter 12): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book.checks.boundaries import RESIDUAL
from transformer_book.checks.components import AsClass, Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.attention.multi_head_attention import MULTI_HEAD
from transformer_book.checks.ideas.layers.feed_forward import FEED_FORWARD, FEED_FORWARD_NAMES
from transformer_book.checks.ideas.layers.layer_norm import LAYER_NORM
from transformer_book.checks.ideas.layers.pre_norm import plain_norm


def toy_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention without weights of its own: enough to see what is handed to it."""
    return nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def toy_network(x: Tensor) -> Tensor:
    return torch.relu(2 * x - 1)


def first_norm(x: Tensor) -> Tensor:
    return plain_norm(x) * torch.linspace(0.5, 2, x.size(-1)).to(x) + 0.25


def second_norm(x: Tensor) -> Tensor:
    return plain_norm(x) * torch.linspace(1.5, 0.75, x.size(-1)).to(x) - 0.5


def layer_weights(attentions: Sequence[str], norms: Sequence[str], seed: int) -> dict[str, Tensor]:
    """Random weights for the parts of a layer, D = 4, H = 2, F = 6, by their published names."""
    d_model, d_ff = 4, 6
    shapes = {
        **{
            f"{attention}.{projection}.weight": (d_model, d_model)
            for attention in attentions
            for projection in ("query", "key", "value", "output")
        },
        "feed_forward.linear1.weight": (d_ff, d_model),
        "feed_forward.linear1.bias": (d_ff,),
        "feed_forward.linear2.weight": (d_model, d_ff),
        "feed_forward.linear2.bias": (d_model,),
        **{f"{norm}.norm.{name}": (d_model,) for norm in norms for name in ("weight", "bias")},
    }
    return {name: normal(*shape, seed=seed + i) for i, (name, shape) in enumerate(shapes.items())}


def the_attention(weights: dict[str, Tensor], name: str, n_heads: int) -> Callable[..., Tensor]:
    four = [weights[f"{name}.{part}.weight"] for part in ("query", "key", "value", "output")]
    return lambda query, key, value, mask=None: MULTI_HEAD.reference(
        query, key, value, *four, n_heads, mask
    )


def the_network(weights: dict[str, Tensor]) -> Callable[[Tensor], Tensor]:
    four = [weights[f"feed_forward.{name}"] for name in FEED_FORWARD_NAMES]
    return lambda x: FEED_FORWARD.reference(x, *four)


def the_norm(weights: dict[str, Tensor], name: str) -> Callable[[Tensor], Tensor]:
    both = weights[f"{name}.norm.weight"], weights[f"{name}.norm.bias"]
    return lambda x: LAYER_NORM.reference(x, *both)


ENCODER_NORMS = ("attention_residual", "feed_forward_residual")


def encoder_class_cases() -> Sequence[Case]:
    causal = torch.ones(4, 4).tril().bool()
    each = causal & some_tokens(2, 4)  # (B, 1, S, S)
    return tuple(
        Case(name, ((4, heads, 6), layer_weights(("self_attention",), ENCODER_NORMS, seed), inputs))
        for name, heads, seed, inputs in (
            ("random vectors", 2, 100, (normal(2, 3, 4, seed=1), None)),
            ("a mask", 2, 200, (normal(2, 4, 4, seed=2), some_tokens(2, 4))),
            ("another mask", 2, 300, (normal(3, 3, 4, seed=3), some_tokens(3, 3))),
            ("a longer sentence", 2, 400, (normal(1, 530, 4, seed=4), some_tokens(1, 530))),
            ("one token", 2, 500, (normal(1, 1, 4, seed=5), None)),
            ("four heads", 4, 600, (normal(2, 3, 4, seed=6), some_tokens(2, 3))),
            ("one head, a mask for each query", 1, 700, (normal(2, 4, 4, seed=7), each)),
            ("a causal mask (S, S)", 2, 800, (normal(2, 4, 4, seed=8), causal)),
        )
    )


def some_tokens(batch: int, length: int) -> Tensor:
    """A padding mask `(B, 1, 1, S)`: each sentence is shorter than the one before."""
    lengths = length - 1 - torch.arange(batch) % (length - 1)
    return (torch.arange(length) < lengths[:, None])[:, None, None]


def encoder_parts(sizes: Any, weights: dict[str, Tensor], inputs: Any) -> tuple[Any, ...]:
    return (
        *inputs,
        the_attention(weights, "self_attention", sizes[1]),
        the_network(weights),
        *(the_norm(weights, name) for name in ENCODER_NORMS),
    )


LAYER_CONSTRUCTOR = "d_model, n_heads, d_ff"


def around(x: Tensor, sublayer: Any, norm: Any, add: Callable[..., Tensor]) -> Tensor:
    """A sublayer in its residual connection, the norm in front."""
    return add(x, sublayer(norm(x)))


def encoder_layer_pipeline(s, x, mask, attention, feed_forward, norm1, norm2):
    norm1, norm2 = s.norms(norm1, norm2)
    return s.wire(
        x,
        lambda x: s.around(x, lambda y: s.attend(y, mask, attention, x), norm1, s.first),
        lambda x: s.around(x, feed_forward, norm2, s.second),
    )


def encoder_layer_cases() -> Sequence[Case]:
    parts = (toy_attention, toy_network, first_norm, second_norm)
    some = torch.tensor([[True, True, False], [True, True, True]])[:, None]  # (B, 1, S)
    one = torch.tensor([True, False, True, True])
    causal = torch.ones(3, 3).tril().bool()
    return (
        Case("two tokens", (torch.tensor([[[1.0, 3.0], [2.0, 0.0]]]), None, *parts)),
        Case("random vectors", (2 * normal(6, 3, 4, seed=1), None, *parts)),
        Case("with a mask", (2 * normal(2, 3, 4, seed=2), some, *parts)),
        Case("another mask", (2 * normal(2, 4, 6, seed=3), one, *parts)),
        Case("a hidden first token", (2 * normal(2, 4, 6, seed=4), one.roll(-1), *parts)),
        Case("two hidden tokens", (2 * normal(2, 4, 6, seed=8), one.roll(1), *parts)),
        Case("a longer sentence", (normal(1, 530, 4, seed=5), None, *parts)),
        Case("one token", (1e6 * normal(1, 1, 4, seed=6), None, *parts)),
        Case("one sentence with a mask", (2 * normal(1, 4, 4, seed=7), one, *parts)),
        Case("a mask for each query", (2 * normal(2, 3, 4, seed=9), some & causal, *parts)),
        Case("a causal mask (S, S)", (2 * normal(2, 3, 6, seed=10), causal, *parts)),
    )


ENCODER_LAYER = Component(
    name="encoder_layer",
    chapter=12,
    order=1,
    section="Two words, by hand",
    signature="x, mask, attention, feed_forward, norm1, norm2",
    pipeline=encoder_layer_pipeline,
    steps={
        "around": around,
        "attend": lambda y, mask, attention, x: attention(y, y, y, mask),
        "first": lambda x, change: x + change,
        "norms": lambda norm1, norm2: (norm1, norm2),
        "second": lambda x, change: x + change,
        "wire": lambda x, attended, transformed: transformed(attended(x)),
    },
    cases=encoder_layer_cases,
    returns="`(B, S, D)`, pre-norm: self-attention, then the feed-forward network, each with a "
    "residual connection; `attention(query, key, value, mask)` gives one tensor, the other three "
    "take one and give one",
    as_class=AsClass(
        constructor=LAYER_CONSTRUCTOR,
        forward="x, mask=None",
        weights="those of multi_head_attention behind `self_attention.`, of feed_forward behind "
        "`feed_forward.`, of layer_norm behind `attention_residual.norm.` and "
        "`feed_forward_residual.norm.`",
        cases=encoder_class_cases,
        arguments=encoder_parts,
    ),
    met="worse",
    ready_made={
        "nn.TransformerEncoderLayer": nn.TransformerEncoderLayer.forward,
        "nn.TransformerDecoderLayer": nn.TransformerDecoderLayer.forward,
        "EncoderLayer": "encoder.EncoderLayer.forward",
    },
    boundaries=RESIDUAL
    | {
        "no mask": lambda mask: mask is None,
        "one sentence and a mask": lambda x, mask: mask is not None and len(x) == 1,
        "a hidden first token": lambda mask: mask is not None and not mask[..., 0].all(),
        "a hidden last token": lambda mask: mask is not None and not mask[..., -1].all(),
        "a mask for each query": lambda mask: mask is not None and mask.dim() > 1 < mask.size(-2),
        "a mask (S, S)": lambda mask: mask is not None and mask.dim() == 2,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(ENCODER_LAYER)


@mistake(
    "attend",
    "encoder mask not passed on",
    met=("batch", 1),
    symptom="The mask changes nothing: what it hides is read.",
    cause="Hand the mask to the attention.",
)
def encoder_mask_lost(
    y: Tensor, mask: Tensor | None, attention: Callable[..., Tensor], x: Tensor
) -> Tensor:
    return attention(y, y, y, None)


@mistake(
    "attend",
    "encoder mask inverted",
    met=("frequencies", 6),
    symptom="With a mask, only what should be hidden is seen.",
    cause="True means 'may attend' in this book.",
    section="PyTorch's modules mean the opposite",
    chapter=8,
)
def encoder_mask_inverted(
    y: Tensor, mask: Tensor | None, attention: Callable[..., Tensor], x: Tensor
) -> Tensor:
    return attention(y, y, y, None if mask is None else ~mask)


@mistake(
    "second",
    "residual around the feed-forward network forgotten",
    symptom="The network's output goes on alone.",
    cause="Add what went into the second norm to the network's output.",
)
@mistake(
    "first",
    "residual around attention forgotten",
    symptom="The attention's output goes on alone.",
    cause="Add x to the attention's output.",
)
def encoder_first_lost(x: Tensor, change: Tensor) -> Tensor:
    return change


@mistake(
    "norms",
    "one norm used twice",
    met=("harmless", 6),
    symptom="The second norm does not matter.",
    cause="Use norm2, not norm1, in front of the feed-forward network. (Fresh norms are "
    "alike, so a new model that shares one begins with the same numbers.)",
)
def same_norm_twice(norm1: Any, norm2: Any) -> tuple[Any, Any]:
    return norm1, norm1


@mistake(
    "norms",
    "second norm forgotten",
    symptom="The feed-forward network sees the stream as it is.",
    cause="Use norm2 for the feed-forward network as norm1 is used for the attention.",
)
def no_second_norm(norm1: Any, norm2: Any) -> tuple[Any, Any]:
    return norm1, lambda x: x


@mistake(
    "around",
    "post-norm encoder layer",
    symptom="This is a post-norm layer, norm(x + f(x)) twice, as in the 2017 paper.",
    cause="The book's layers are pre-norm, x + f(norm(x)). Both exist; weights do not fit from one "
    "to the other.",
    section="Where to put the norm",
    chapter=10,
    kind="convention",
)
def post_norm_encoder(x: Tensor, sublayer: Any, norm: Any, add: Callable[..., Tensor]) -> Tensor:
    return norm(add(x, sublayer(x)))


@mistake(
    "around",
    "normalised stream in the encoder layer",
    symptom="The stream itself is normalised in each sublayer.",
    cause="Add x, as it came in, to the sublayer's output: x + f(norm(x)), not norm(x) + "
    "f(norm(x)).",
    section="Where to put the norm",
    chapter=10,
    seen="Incorrect pre-LN in the transformer model, "
    "https://github.com/pytorch/pytorch/issues/61165",
)
def stream_normalised(x: Tensor, sublayer: Any, norm: Any, add: Callable[..., Tensor]) -> Tensor:
    return add(norm(x), sublayer(norm(x)))


@mistake(
    "wire",
    "sublayers side by side",
    symptom="The feed-forward network does not see what the attention found.",
    cause="Add the attention's output to x first, and hand that sum, normalised, to the "
    "feed-forward network.",
)
def in_parallel(x: Tensor, attended: Any, transformed: Any) -> Tensor:
    return attended(x) + transformed(x) - x


@mistake(
    "wire",
    "feed-forward network first, behind the first norm",
    symptom="The sublayers come in the wrong order, the norms in the right one.",
    cause="Self-attention first, then the feed-forward network.",
    steps={"norms": lambda norm1, norm2: (norm2, norm1)},
)
@mistake(
    "wire",
    "feed-forward network before the attention",
    symptom="The sublayers come in the wrong order.",
    cause="Self-attention first, then the feed-forward network.",
)
def in_wrong_order(x: Tensor, attended: Any, transformed: Any) -> Tensor:
    return attended(transformed(x))


@mistake(
    "wire",
    "second residual from the layer's input",
    symptom="What the attention found reaches the output only through the feed-forward network.",
    cause="Add what the first sum gave to the network's output, not the layer's input.",
)
def back_to_the_input(x: Tensor, attended: Any, transformed: Any) -> Tensor:
    y = attended(x)
    return x + transformed(y) - y


@mistake(
    "norms",
    "norms of the encoder layer exchanged",
    symptom="The attention gets the second norm, and the feed-forward network the first.",
    cause="norm1 belongs to the attention, norm2 to the feed-forward network.",
)
def norms_exchanged(norm1: Any, norm2: Any) -> tuple[Any, Any]:
    return norm2, norm1


@mistake(
    "norms",
    "first norm forgotten",
    symptom="The attention sees the stream as it is.",
    cause="Use norm1 for the attention as norm2 is used for the feed-forward network.",
)
def no_first_norm(norm1: Any, norm2: Any) -> tuple[Any, Any]:
    return lambda x: x, norm2


@mistake(
    "attend",
    "only the queries normalised",
    symptom="Keys and values are taken from the stream as it is.",
    cause="Take query, key and value from y = norm1(x): attention(y, y, y, mask).",
)
def queries_normalised(
    y: Tensor, mask: Tensor | None, attention: Callable[..., Tensor], x: Tensor
) -> Tensor:
    return attention(y, x, x, mask)


@mistake(
    "attend",
    "values not normalised",
    symptom="The values are taken from the stream as it is.",
    cause="Take query, key and value from y = norm1(x): attention(y, y, y, mask).",
)
def values_not_normalised(
    y: Tensor, mask: Tensor | None, attention: Callable[..., Tensor], x: Tensor
) -> Tensor:
    return attention(y, y, x, mask)


@mistake(
    "norms",
    "one LayerNorm shared, at the beginning",
    symptom="In a new model nothing changes: all norms begin with ones and zeros.",
    cause="Both sublayers use one module. It has fewer parameters, and weights of a model with two "
    "do not fit in.",
    kind="harmless",
)
def shared_norm(norm1: Any, norm2: Any) -> tuple[Any, Any]:
    return norm1, norm1
