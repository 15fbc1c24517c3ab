"""Components of chapters 10 to 14: norms, residuals, dropout, feed-forward, layers, stacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book.checks.attention import MULTI_HEAD, normal, sentences
from transformer_book.checks.components import AsClass, Case, Component

# --- layer norm ----------------------------------------------------------------------------------


def layer_norm_pipeline(s, x, weight, bias, eps=1e-5):
    centred = x - s.mean(x)  # (…, D)
    normalised = s.divide(centred, s.variance(x), eps)  # (…, D)
    return s.scale(normalised, weight, bias)  # (…, D)


def layer_norm_cases() -> Sequence[Case]:
    def parameters(d_model: int, seed: int) -> tuple[Tensor, Tensor]:
        return 1 + 0.5 * normal(d_model, seed=seed), normal(d_model, seed=seed + 1)

    plain = torch.ones(4), torch.zeros(4)
    return (
        Case("four numbers", (torch.tensor([[[1.0, 3.0, 5.0, 7.0]]]), *plain)),
        Case(
            "two positions", (torch.tensor([[[1.0, 3.0, 5.0, 7.0], [0.0, 0.0, 4.0, 4.0]]]), *plain)
        ),
        Case("random vectors", (normal(2, 3, 6, seed=1), *parameters(6, 2))),
        Case("far from zero", (5 + 2 * normal(2, 4, 8, seed=3), *parameters(8, 4))),
        Case("small numbers, where ε counts", (0.01 * normal(2, 3, 6, seed=5), *parameters(6, 6))),
        Case("very small numbers", (0.001 * normal(2, 2, 4, seed=12), *parameters(4, 13))),
        Case("a large ε", (normal(1, 3, 4, seed=7), *parameters(4, 8)), {"eps": 0.5}),
        Case("ε = 0.1", (normal(2, 2, 6, seed=14), *parameters(6, 15)), {"eps": 0.1}),
        Case("ε = 2", (normal(2, 2, 5, seed=16), *parameters(5, 17)), {"eps": 2.0}),
        Case(
            "equal numbers: the variance is zero", (torch.full((1, 2, 4), 3.0), *parameters(4, 9))
        ),
        Case("as many positions as features", (normal(3, 5, 5, seed=10), *parameters(5, 11))),
        # The mean of such numbers is exact; the mean of their squares is not.
        Case(
            "close together, far from zero",
            (300 + torch.tensor([[[5.0, 77.0, 33.0, 130.0]]]) / 64, *parameters(4, 18)),
            rough=True,
        ),
        Case(
            "another such vector",
            (torch.tensor([[[11.0, 3.0, 90.0, 121.0]]]) / 64 - 350, *parameters(4, 20)),
            rough=True,
        ),
        Case(
            "two such vectors",
            (280 + torch.tensor([[[7.0, 151.0]], [[99.0, 3.0]]]) / 64, *parameters(2, 22)),
            rough=True,
        ),
        Case(
            "positions whose means cancel",
            (torch.tensor([[[1.0, 2.0, 6.0], [-1.0, -2.0, -6.0]]]), *parameters(3, 24)),
        ),
        Case("one feature", (normal(2, 3, 1, seed=26), *parameters(1, 27))),
        Case("more positions than features", (normal(2, 12, 3, seed=29), *parameters(3, 30))),
    )


def layer_norm_class_cases() -> Sequence[Case]:
    return tuple(
        replace(case, arguments=((x.size(-1),), {"weight": weight, "bias": bias}, (x,)))
        for case in layer_norm_cases()
        if not case.keywords  # a class keeps its own ε
        for x, weight, bias in [case.arguments]
    )


LAYER_NORM = Component(
    name="layer_norm",
    chapter=10,
    section="Layer norm, by hand",
    signature="x, weight, bias, eps=1e-5",
    pipeline=layer_norm_pipeline,
    steps={
        "mean": lambda x: x.mean(dim=-1, keepdim=True),
        "variance": lambda x: x.var(dim=-1, keepdim=True, unbiased=False),
        "divide": lambda centred, variance, eps: centred / torch.sqrt(variance + eps),
        "scale": lambda x, weight, bias: weight * x + bias,
    },
    cases=layer_norm_cases,
    returns="`(B, T, D)`, each position's features with mean 0 and variance 1, scaled and shifted",
    as_class=AsClass(
        constructor="d_model",
        forward="x",
        weights="`weight` and `bias`, both (D,); ε is 1e-5",
        cases=layer_norm_class_cases,
        arguments=lambda sizes, weights, inputs: (*inputs, *weights.values()),
    ),
)

LAYER_NORM_PARAMETERS = Component(
    name="layer_norm_parameters",
    chapter=10,
    section="Layer norm, by hand",
    signature="d_model",
    pipeline=lambda s, d_model: (s.scale(d_model), s.shift(d_model)),
    steps={"scale": torch.ones, "shift": torch.zeros},
    cases=lambda: tuple(Case(f"d_model = {d_model}", (d_model,)) for d_model in (4, 1, 2, 7, 1030)),
    returns="the weight (γ) and the bias (β) of a layer norm before training, both `(D,)`",
    differentiable=False,
)

# --- residuals and dropout -----------------------------------------------------------------------


def doubled_plus_one(x: Tensor) -> Tensor:
    return 2 * x + 1


def halved_cube(x: Tensor) -> Tensor:
    return x**3 / 2


def plain_norm(x: Tensor) -> Tensor:
    return (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, unbiased=False) + 1e-5).sqrt()


def scaled_norm(x: Tensor) -> Tensor:
    return 3 * plain_norm(x) - 1


def residual_cases() -> Sequence[Case]:
    return (
        Case(
            "one vector, f(x) = 2x + 1",
            (torch.tensor([[[1.0, 3.0]]]), doubled_plus_one, plain_norm),
            rough=True,  # two numbers, once normalised, hardly depend on what they were
        ),
        Case("random vectors", (normal(2, 3, 4, seed=1), doubled_plus_one, plain_norm)),
        Case("another f", (normal(2, 3, 4, seed=2), halved_cube, plain_norm)),
        Case("another norm", (5 * normal(2, 3, 4, seed=3), doubled_plus_one, scaled_norm)),
        Case("both", (2 + normal(1, 2, 6, seed=4), halved_cube, scaled_norm)),
        Case("f is the sine", (3 * normal(2, 2, 5, seed=5), torch.sin, scaled_norm)),
        Case("one position", (normal(1, 1, 7, seed=6), halved_cube, scaled_norm)),
        Case("as many positions as features", (normal(2, 4, 4, seed=7), torch.sin, plain_norm)),
        # What comes back is the input itself: adding to it in place changes x.
        Case("f and the norm do nothing", (normal(2, 3, 4, seed=8), nn.Identity(), nn.Identity())),
    )


PRE_NORM = Component(
    name="pre_norm",
    chapter=10,
    section="Where to put the norm",
    signature="x, sublayer, norm",
    pipeline=lambda s, x, sublayer, norm: s.add(x, s.inside(x, sublayer, norm), norm),
    steps={
        "inside": lambda x, sublayer, norm: sublayer(norm(x)),
        "add": lambda x, change, norm: x + change,
    },
    cases=residual_cases,
    returns="`x + sublayer(norm(x))`",
)

POST_NORM = Component(
    name="post_norm",
    chapter=10,
    section="Where to put the norm",
    signature="x, sublayer, norm",
    pipeline=lambda s, x, sublayer, norm: s.add(x, s.inside(x, sublayer, norm), norm),
    steps={
        "inside": lambda x, sublayer, norm: sublayer(x),
        "add": lambda x, change, norm: norm(x + change),
    },
    cases=residual_cases,
    returns="`norm(x + sublayer(x))`",
)


def dropout_cases() -> Sequence[Case]:
    def some(*shape: int, p: float, seed: int) -> tuple[Tensor, float, Tensor]:
        return normal(*shape, seed=seed), p, normal(*shape, seed=seed + 1) > (p - 0.5)

    four = torch.tensor([2.0, 4.0, 6.0, 8.0]), 0.5, torch.tensor([True, False, True, True])
    return (
        Case("four numbers, p = 0.5", (*four, True)),
        Case("the same in evaluation", (*four, False)),
        Case("p = 0.1", (*some(3, 4, p=0.1, seed=1), True)),
        Case("p = 0.75", (*some(2, 3, 4, p=0.75, seed=2), True)),
        Case("p = 0.3", (*some(5, 6, p=0.3, seed=4), True)),
        Case("p = 0.1 in evaluation", (*some(3, 4, p=0.1, seed=1), False)),
        Case("p = 0.75 in evaluation", (*some(2, 3, 4, p=0.75, seed=2), False)),
        Case("p = 0", (*some(2, 3, p=0.0, seed=6)[:2], torch.ones(2, 3).bool(), True)),
        Case("all dropped", (normal(1, 4, seed=8), 0.9, torch.zeros(1, 4).bool(), True)),
        Case("all kept by chance", (normal(2, 2, seed=9), 0.2, torch.ones(2, 2).bool(), True)),
    )


DROPOUT = Component(
    name="dropout",
    chapter=10,
    section="Dropout",
    signature="x, p, keep, training",
    pipeline=lambda s, x, p, keep, training: (
        s.rescale(s.drop(x, keep), p) if training else s.evaluate(x, p, keep)
    ),
    steps={
        "drop": lambda x, keep: x * keep,
        "rescale": lambda x, p: x / (1 - p),
        "evaluate": lambda x, p, keep: x,
    },
    cases=dropout_cases,
    returns="in training, x with zeros where the boolean `keep` is False, which happens with "
    "probability p, 0 ≤ p < 1, and the other entries enlarged so that the expected value stays; "
    "else x, whose entries are finite",
)


def every_second(x: Tensor) -> Tensor:
    """A dropout without chance, p = 0.5: every second feature survives, doubled."""
    return 2 * x * (torch.arange(x.size(-1)) % 2)


def every_third_less(x: Tensor) -> Tensor:
    """The same with p = 1/3."""
    return 1.5 * x * (torch.arange(x.size(-1)) % 3 > 0)


def sublayer_cases() -> Sequence[Case]:
    return (
        Case(
            "one vector, f(x) = 2x + 1",
            (torch.tensor([[[1.0, 3.0, 2.0]]]), doubled_plus_one, plain_norm, every_second),
        ),
        Case("random", (normal(2, 3, 4, seed=1), doubled_plus_one, plain_norm, every_second)),
        Case("another f", (normal(2, 3, 4, seed=2), halved_cube, plain_norm, every_third_less)),
        Case("another norm", (3 * normal(1, 4, 6, seed=3), torch.sin, scaled_norm, every_second)),
        Case("both", (normal(3, 2, 5, seed=4), halved_cube, scaled_norm, every_third_less)),
        Case("one position", (normal(1, 1, 5, seed=5), torch.sin, scaled_norm, every_third_less)),
        Case("as many of all", (normal(4, 4, 4, seed=6), halved_cube, plain_norm, every_second)),
    )


SUBLAYER = Component(
    name="sublayer_with_dropout",
    chapter=10,
    section="Dropout",
    signature="x, sublayer, norm, dropout",
    pipeline=lambda s, x, sublayer, norm, dropout: s.out(
        x, s.drop(sublayer(s.feed(s.norm(x, norm), dropout)), dropout), dropout, norm
    ),
    steps={
        "norm": lambda x, norm: norm(x),
        "feed": lambda y, dropout: y,
        "drop": lambda change, dropout: dropout(change),
        "out": lambda x, change, dropout, norm: x + change,
    },
    cases=sublayer_cases,
    returns="`x + dropout(sublayer(norm(x)))`: dropout on the sublayer's output, and nowhere else",
)

# --- the feed-forward network --------------------------------------------------------------------


def feed_forward_cases() -> Sequence[Case]:
    def inputs(batch: int, length: int, d_model: int, d_ff: int, seed: int) -> tuple[Tensor, ...]:
        return (
            normal(batch, length, d_model, seed=seed),
            normal(d_ff, d_model, seed=seed + 1) / d_model**0.5,
            normal(d_ff, seed=seed + 2),
            normal(d_model, d_ff, seed=seed + 3) / d_ff**0.5,
            normal(d_model, seed=seed + 4),
        )

    by_hand = (
        torch.tensor([[[1.0, -1.0]]]),
        torch.eye(2),
        torch.zeros(2),
        torch.tensor([[1.0, 2.0], [3.0, 4.0]]),
        torch.tensor([10.0, 20.0]),
    )
    return (
        Case("by hand: two features", by_hand),
        Case("random", inputs(2, 3, 4, 8, 10)),
        Case("wider than deep", inputs(1, 5, 6, 2, 20)),
        Case("as wide inside as outside", inputs(2, 4, 4, 4, 30)),
        Case("one position", inputs(3, 1, 5, 7, 40)),
        Case("large numbers", (20 * normal(2, 2, 4, seed=50), *inputs(2, 2, 4, 8, 51)[1:])),
    )


FEED_FORWARD_NAMES = ("linear1.weight", "linear1.bias", "linear2.weight", "linear2.bias")


def feed_forward_class_cases() -> Sequence[Case]:
    return tuple(
        Case(
            case.name,
            (
                (x.size(-1), len(weights[0])),
                dict(zip(FEED_FORWARD_NAMES, weights, strict=True)),
                (x,),
            ),
        )
        for case in feed_forward_cases()
        for x, *weights in [case.arguments]
    )


FEED_FORWARD = Component(
    name="feed_forward",
    chapter=11,
    section="Two matrices and a bend, by hand",
    signature="x, w1, b1, w2, b2",
    pipeline=lambda s, x, w1, b1, w2, b2: s.second(s.activate(s.first(x, w1, b1), b1), w2, b2, x),
    steps={
        "first": lambda x, w, b: x @ w.T + b,
        "activate": lambda h, b: torch.relu(h),
        "second": lambda h, w, b, x: h @ w.T + b,
    },
    cases=feed_forward_cases,
    returns="`relu(x @ w1.T + b1) @ w2.T + b2`",
    as_class=AsClass(
        constructor="d_model, d_ff",
        forward="x",
        weights="`linear1.weight` (F, D), `linear1.bias` (F,), `linear2.weight` (D, F), "
        "`linear2.bias` (D,)",
        cases=feed_forward_class_cases,
        arguments=lambda sizes, weights, inputs: (*inputs, *weights.values()),
    ),
)


def group_sort_cases() -> Sequence[Case]:
    return (
        Case("four numbers", (torch.tensor([3.0, 1.0, 2.0, 5.0]),)),
        Case("already sorted", (torch.tensor([1.0, 2.0, 0.0, 4.0]),)),
        Case("random", (normal(2, 3, 6, seed=1),)),
        Case("random, wider", (normal(4, 8, seed=2),)),
        Case("a batch of sentences", (normal(2, 5, 4, seed=3),)),
        Case("one pair", (torch.tensor([[[2.0, -3.0]]]),)),
        Case(
            "ties and negative numbers",
            (torch.tensor([[-1.0, -1.0, 0.0, -2.0, 5.0, 5.0]]),),
            rough=True,  # of two equal numbers either may come first
        ),
    )


GROUP_SORT = Component(
    name="group_sort",
    chapter=11,
    section="Three bends",
    signature="x",
    pipeline=lambda s, x: s.sort(x),
    steps={"sort": lambda x: x.unflatten(-1, (-1, 2)).sort(dim=-1).values.flatten(-2)},
    cases=group_sort_cases,
    returns="x, which has an even number of features, with each pair of neighbouring features (0 "
    "and 1, 2 and 3, …) sorted, the smaller first (between equal ones the gradient may go to "
    "either)",
)

# --- layers --------------------------------------------------------------------------------------


def toy_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
    """Attention without weights of its own: enough to see what is handed to it."""
    return nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)


def toy_cross_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> Tensor:
    return 2 * toy_attention(query, key, value, mask) + 1


def toy_network(x: Tensor) -> Tensor:
    return torch.relu(2 * x - 1)


def first_norm(x: Tensor) -> Tensor:
    return 1.5 * plain_norm(x) + 0.25


def second_norm(x: Tensor) -> Tensor:
    return plain_norm(x) - 0.5


def third_norm(x: Tensor) -> Tensor:
    return 0.75 * plain_norm(x) + 1


# A layer with weights: in a class the parts are not handed in.


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
DECODER_NORMS = ("self_residual", "cross_residual", "feed_forward_residual")


def encoder_class_cases() -> Sequence[Case]:
    return tuple(
        Case(name, ((4, 2, 6), layer_weights(("self_attention",), ENCODER_NORMS, seed), inputs))
        for name, seed, inputs in (
            ("random vectors", 100, (normal(2, 3, 4, seed=1), None)),
            ("a mask", 200, (normal(2, 4, 4, seed=2), some_tokens(2, 4))),
            ("another mask", 300, (normal(3, 3, 4, seed=3), some_tokens(3, 3))),
            ("a longer sentence", 400, (normal(1, 6, 4, seed=4), some_tokens(1, 6))),
            ("one token", 500, (normal(1, 1, 4, seed=5), None)),
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


def decoder_class_cases() -> Sequence[Case]:
    attentions = ("self_attention", "cross_attention")

    def inputs(batch: int, queries: int, keys: int, seed: int, masked: bool = True) -> Any:
        x, memory = normal(batch, queries, 4, seed=seed), normal(batch, keys, 4, seed=seed + 1)
        causal = torch.ones(queries, queries).tril().bool()
        return (x, memory, causal, some_tokens(batch, keys)) if masked else (x, memory, None, None)

    return tuple(
        Case(name, ((4, 2, 6), layer_weights(attentions, DECODER_NORMS, seed), given))
        for name, seed, given in (
            ("no masks", 100, inputs(2, 3, 3, 10, masked=False)),
            ("more target than source", 200, inputs(2, 4, 3, 20)),
            ("as much target as source", 300, inputs(2, 3, 3, 30)),
            ("as much of both, longer", 400, inputs(1, 5, 5, 40)),
            ("less target than source", 500, inputs(3, 2, 5, 50)),
            ("as much of both, three sentences", 600, inputs(3, 4, 4, 60)),
            ("one token", 700, inputs(1, 1, 3, 70)),
        )
    )


def decoder_parts(sizes: Any, weights: dict[str, Tensor], inputs: Any) -> tuple[Any, ...]:
    return (
        *inputs,
        the_attention(weights, "self_attention", sizes[1]),
        the_attention(weights, "cross_attention", sizes[1]),
        the_network(weights),
        tuple(the_norm(weights, name) for name in DECODER_NORMS),
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
    return (
        Case("two tokens", (torch.tensor([[[1.0, 3.0], [2.0, 0.0]]]), None, *parts)),
        Case("random vectors", (2 * normal(2, 3, 4, seed=1), None, *parts)),
        Case("with a mask", (2 * normal(2, 3, 4, seed=2), some, *parts)),
        Case("another mask", (2 * normal(2, 4, 6, seed=3), one, *parts)),
        Case("a hidden first token", (2 * normal(2, 4, 6, seed=4), one.roll(-1), *parts)),
        Case("two hidden tokens", (2 * normal(2, 4, 6, seed=8), one.roll(1), *parts)),
        Case("a longer sentence", (normal(1, 7, 4, seed=5), None, *parts)),
        Case("one token", (2 * normal(1, 1, 4, seed=6), None, *parts)),
        Case("one sentence with a mask", (2 * normal(1, 4, 4, seed=7), one, *parts)),
    )


ENCODER_LAYER = Component(
    name="encoder_layer",
    chapter=12,
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
)


def decoder_layer_pipeline(
    s, x, memory, target_mask, memory_mask, self_attention, cross_attention, feed_forward, norms
):
    masks = target_mask, memory_mask
    memory = s.read(memory, norms)
    back, over = s.attentions(self_attention, cross_attention)
    norm1, norm2, norm3 = (s.norm(norms, i) for i in range(3))
    return s.wire(
        x,
        lambda x: s.around(x, lambda y: s.look_back(y, masks, back), norm1, s.first),
        lambda x: s.around(x, lambda y: s.look_over(y, memory, masks, over), norm2, s.middle),
        lambda x: s.around(x, feed_forward, norm3, s.last),
    )


def decoder_layer_cases() -> Sequence[Case]:
    parts = (toy_attention, toy_cross_attention, toy_network, (first_norm, second_norm, third_norm))

    def causal(length: int) -> Tensor:
        return torch.ones(length, length).tril().bool()

    def vectors(batch: int, queries: int, keys: int, seed: int) -> tuple[Tensor, Tensor]:
        return 2 * normal(batch, queries, 4, seed=seed), 2 * normal(batch, keys, 4, seed=seed + 1)

    hidden = torch.tensor([[True, True, True], [True, True, False]])[:, None]  # (B, 1, S)
    return (
        Case("no masks", (*vectors(1, 3, 3, 10), None, None, *parts)),
        Case("more target than source", (*vectors(2, 4, 3, 20), causal(4), hidden, *parts)),
        Case("as much target as source", (*vectors(2, 3, 3, 30), causal(3), hidden, *parts)),
        Case("less target than source", (*vectors(1, 2, 5, 40), causal(2), None, *parts)),
        Case("no causal mask", (*vectors(2, 3, 3, 50), None, hidden, *parts)),
        Case("no source mask", (*vectors(1, 3, 3, 60), causal(3), None, *parts)),
        Case("one sentence, all masks", (*vectors(1, 3, 3, 70), causal(3), hidden[1:], *parts)),
        Case("one token", (*vectors(1, 1, 3, 80), causal(1), hidden[1:], *parts)),
        Case("a source of one token", (*vectors(2, 3, 1, 90), causal(3), None, *parts)),
    )


DECODER_LAYER = Component(
    name="decoder_layer",
    chapter=13,
    section="Two words and a memory, by hand",
    signature="x, memory, target_mask, memory_mask, self_attention, cross_attention, "
    "feed_forward, norms",
    pipeline=decoder_layer_pipeline,
    steps={
        "around": around,
        "attentions": lambda self_attention, cross_attention: (self_attention, cross_attention),
        "norm": lambda norms, i: norms[i],
        "wire": lambda x, back, over, transformed: transformed(over(back(x))),
        "look_back": lambda y, masks, attention: attention(y, y, y, masks[0]),
        "first": lambda x, change: x + change,
        "read": lambda memory, norms: memory,
        "look_over": lambda y, memory, masks, attention: attention(y, memory, memory, masks[1]),
        "middle": lambda x, change: x + change,
        "last": lambda x, change: x + change,
    },
    cases=decoder_layer_cases,
    returns="`(B, T, D)`, pre-norm, three sublayers; `norms` are three; an attention is called as "
    "`attention(query, key, value, mask)` and gives one tensor",
    as_class=AsClass(
        constructor=LAYER_CONSTRUCTOR,
        forward="x, memory, target_mask=None, memory_mask=None",
        weights="those of multi_head_attention behind `self_attention.` and `cross_attention.`, of "
        "feed_forward behind `feed_forward.`, of layer_norm behind `self_residual.norm.`, "
        "`cross_residual.norm.` and `feed_forward_residual.norm.`",
        cases=decoder_class_cases,
        arguments=decoder_parts,
    ),
)


def modes_pipeline(s, x, training):
    scores = x @ x.mT / s.root(x)  # (B, T, T)
    seen = s.seen(torch.ones(x.size(1), x.size(1)), training).bool()  # (T, T)
    return s.weights(scores, seen) @ x


def modes_cases() -> Sequence[Case]:
    return (
        *(
            Case(f"{tokens} tokens, {mode}", (normal(batch, tokens, width, seed=tokens), flag))
            for batch, tokens, width in ((1, 2, 2), (2, 3, 4), (1, 5, 6), (3, 4, 3), (1, 130, 2))
            for mode, flag in (("training", True), ("evaluation", False))
        ),
        Case("scores of ten thousand", (200 * normal(2, 4, 3, seed=9), True), rough=True),
        Case("one token", (normal(1, 1, 3, seed=10), False)),
        Case(
            "a vector of zeros",
            (normal(2, 4, 3, seed=11) * torch.tensor([1, 0, 1, 1])[:, None], True),
        ),
    )


SELF_ATTENTION = Component(
    name="causal_self_attention",
    chapter=13,
    section="Break it: a mask in one mode only",
    signature="x, training",
    pipeline=modes_pipeline,
    steps={
        "root": lambda x: x.size(-1) ** 0.5,
        "seen": lambda ones, training: ones.tril(),
        "weights": lambda scores, seen: scores.masked_fill(~seen, -torch.inf).softmax(dim=-1),
    },
    cases=modes_cases,
    returns="`(B, T, D)`: attention of x to itself (queries, keys and values are x), each "
    "position to itself and what came before; `training` is the module's mode, `self.training`, "
    "and there is no dropout; scores are divided by the root of D",
)

# --- stacks --------------------------------------------------------------------------------------


def observe_stack(function: Callable[..., Any]) -> Callable[..., Any]:
    """What a list of layers is like: how many, how many of them different, and alike or not."""

    def observed(make_layer: Callable[[], nn.Module], n_layers: int) -> dict[str, Any]:
        layers = list(function(make_layer, n_layers))
        weights = [layer.weight for layer in layers]
        alike = zip(*(layer.parameters() for layer in layers), strict=False)
        own = [len({id(parameter) for parameter in each}) for each in alike]
        return {
            "layers": len(layers),
            "layers with weights of their own": min(own, default=0),
            "layers that begin with different numbers": len({w.sum().item() for w in weights}),
        }

    return observed


def make_linear() -> nn.Module:
    return nn.Linear(3, 3)


def stack_cases() -> Sequence[Case]:
    return tuple(Case(f"{n} layers", (make_linear, n)) for n in (2, 3, 1, 4, 6, 9))


STACK = Component(
    name="make_stack",
    chapter=14,
    section="Break it: N layers that are one",
    signature="make_layer, n_layers",
    pipeline=lambda s, make_layer, n_layers: s.build(make_layer, n_layers),
    steps={"build": lambda make, n: [make() for _ in range(n)]},
    cases=stack_cases,
    returns="a list (or `nn.ModuleList`) of `n_layers` layers, each with weights of its own, "
    "drawn anew; `make_layer()` makes one",
    differentiable=False,
    observe=observe_stack,
)

# --- the whole model -----------------------------------------------------------------------------


def attend_in_heads(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> Tensor:
    """`toy_attention` for masks `(B, 1, T, S)`: one head."""
    return toy_attention(query[:, None], key[:, None], value[:, None], mask)[:, 0]


def toy_encoder(x: Tensor, mask: Tensor | None = None) -> Tensor:
    return x + 2 * attend_in_heads(x, x, x, mask)


def toy_decoder(
    y: Tensor,
    memory: Tensor,
    target_mask: Tensor | None = None,
    memory_mask: Tensor | None = None,
) -> Tensor:
    y = y + attend_in_heads(y, y, y, target_mask)
    return y + 2 * attend_in_heads(y, memory, memory, memory_mask)


def embedding_of(seed: int) -> Callable[[Tensor], Tensor]:
    table = normal(20, 4, seed=seed)
    return lambda tokens: table[tokens] + 0.1 * torch.arange(tokens.size(1))[:, None]


def output_of(seed: int) -> Callable[[Tensor], Tensor]:
    weight = normal(4, 7, seed=seed)
    return lambda y: y @ weight


def forward_cases() -> Sequence[Case]:
    parts = embedding_of(1), embedding_of(2), toy_encoder, toy_decoder, output_of(3)
    lengths = (
        ("no padding", (3, 3), (4, 4)),
        ("padding in the source", (5, 2), (4, 4)),
        ("padding in the target", (4, 4), (2, 5)),
        ("padding in both, source and target of one length", (2, 4), (4, 3)),
        ("the same with three sentences", (5, 2, 3), (3, 5, 4)),
        ("the same with other lengths", (1, 6), (6, 2)),
        ("a longer source", (6, 3), (2, 3)),
        ("one sentence", (4,), (3,)),
        ("one token", (1,), (1,)),
    )
    ids = (
        # Every token that is not padding is read, <sos>, <eos> and <unk>, too.
        ("special tokens", [[5, 3, 2], [3, 2, 0]], [[1, 3, 7, 2], [1, 4, 2, 0]]),
        ("other special tokens", [[3, 6, 3, 2], [1, 9, 2, 0]], [[1, 2, 3], [1, 3, 2]]),
        ("one sentence with padding", [[1, 8, 2, 0, 0]], [[1, 3, 2, 0]]),
        (
            "more sentences than tokens",
            [[3, 2], [2, 0], [7, 3], [5, 2]],
            [[1, 2], [1, 3], [1, 2], [1, 4]],
        ),
    )
    return (
        *(
            Case(name, (sentences(*source, seed=i), sentences(*target, seed=i + 50), *parts))
            for i, (name, source, target) in enumerate(lengths)
        ),
        *(
            Case(name, (torch.tensor(source), torch.tensor(target), *parts))
            for name, source, target in ids
        ),
    )


def forward_pipeline(s, source, target, embed_source, embed_target, encoder, decoder, output):
    source_mask = s.real(source)[:, None, None]  # (B, 1, 1, S)
    x = s.embedded(source, embed_source, embed_target)  # (B, S, D)
    memory = s.encode(x, source_mask, encoder)  # (B, S, D)
    masks = s.target_mask(target, source), s.memory_mask(source_mask, target)
    y = s.embedded_target(target, embed_source, embed_target)  # (B, T, D)
    y = decoder(y, memory, *masks)  # (B, T, D)
    return s.finish(y, output)


def causal_and_real(tokens: Tensor) -> Tensor:
    causal = torch.ones(tokens.size(1), tokens.size(1)).tril().bool()  # (T, T)
    return tokens.bool()[:, None, None] & causal  # (B, 1, T, T)


def observe_forward(function: Callable[..., Any]) -> Callable[..., Any]:
    """The rows of real target tokens: no loss ever reads those of padding."""

    def observed(source: Tensor, target: Tensor, *parts: Any) -> Any:
        answer = function(source, target, *parts)
        if not isinstance(answer, Tensor) or answer.shape[:2] != target.shape:
            return answer
        real = target != 0
        return answer.masked_fill(~(real[..., None] if answer.dim() == 3 else real), 0)

    return observed


FORWARD = Component(
    name="transformer_forward",
    chapter=14,
    section="The wiring",
    signature="source, target, embed_source, embed_target, encoder, decoder, output",
    pipeline=forward_pipeline,
    steps={
        "real": lambda source: source != 0,
        "embedded": lambda source, embed_source, embed_target: embed_source(source),
        "embedded_target": lambda target, embed_source, embed_target: embed_target(target),
        "encode": lambda x, mask, encoder: encoder(x, mask),
        "target_mask": lambda target, source: causal_and_real(target),
        "memory_mask": lambda mask, target: mask,
        "finish": lambda y, output: output(y),
    },
    cases=forward_cases,
    returns="the logits `(B, T, V)`, of which the rows at the target's padding are not looked at; "
    "padding is token 0 and stands behind, masks are boolean, True = may attend, and the parts "
    "are called as `embed_source(source)`, `encoder(x, mask)`, `decoder(y, memory, target_mask, "
    "memory_mask)` and `output(y)`",
    observe=observe_forward,
    differentiable=False,
)

COMPONENTS = (
    LAYER_NORM,
    LAYER_NORM_PARAMETERS,
    PRE_NORM,
    POST_NORM,
    DROPOUT,
    SUBLAYER,
    FEED_FORWARD,
    GROUP_SORT,
    ENCODER_LAYER,
    DECODER_LAYER,
    SELF_ATTENTION,
    STACK,
    FORWARD,
)
