"""Decoder layer (chapter 13): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from transformer_book.checks.boundaries import RESIDUAL
from transformer_book.checks.components import AsClass, Case, Component, mistakes_in
from transformer_book.checks.given import normal
from transformer_book.checks.ideas.layers.encoder_layer import (
    LAYER_CONSTRUCTOR,
    around,
    first_norm,
    layer_weights,
    second_norm,
    some_tokens,
    the_attention,
    the_network,
    the_norm,
    toy_attention,
    toy_network,
)
from transformer_book.checks.ideas.layers.pre_norm import plain_norm


def toy_cross_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> Tensor:
    return 2 * toy_attention(query, key, value, mask) + 1


def third_norm(x: Tensor) -> Tensor:
    return plain_norm(x) * torch.linspace(1, 0.25, x.size(-1)).to(x) + 1


DECODER_NORMS = ("self_residual", "cross_residual", "feed_forward_residual")


def decoder_class_cases() -> Sequence[Case]:
    attentions = ("self_attention", "cross_attention")

    def inputs(batch: int, queries: int, keys: int, seed: int, masked: bool = True) -> Any:
        x, memory = normal(batch, queries, 4, seed=seed), normal(batch, keys, 4, seed=seed + 1)
        causal = torch.ones(queries, queries).tril().bool()
        return (x, memory, causal, some_tokens(batch, keys)) if masked else (x, memory, None, None)

    x, memory, causal, some = inputs(2, 3, 4, 80)
    each = torch.ones(3, 4).triu().bool() | (torch.arange(4) == torch.tensor([[[1]], [[2]]]))
    return tuple(
        Case(name, ((4, heads, 6), layer_weights(attentions, DECODER_NORMS, seed), given))
        for name, heads, seed, given in (
            ("no masks", 2, 100, inputs(2, 3, 3, 10, masked=False)),
            ("more target than source", 2, 200, inputs(2, 4, 3, 20)),
            ("as much target as source", 2, 300, inputs(2, 3, 3, 30)),
            ("as much of both, longer", 2, 400, inputs(1, 5, 5, 40)),
            ("less target than source", 2, 500, inputs(3, 2, 5, 50)),
            ("as much of both, three sentences", 2, 600, inputs(3, 4, 4, 60)),
            ("one token", 2, 700, inputs(1, 1, 3, 70)),
            ("four heads", 4, 800, (x, memory, causal & some[..., :-1], some)),
            ("no source mask, one head", 1, 900, (x, memory, causal, None)),
            ("a source mask for each query", 2, 1000, (x, memory, None, each[:, None])),
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

    hidden = torch.tensor([[True, True, True], [False, True, False]])[:, None]  # (B, 1, S)
    return (
        Case("no masks", (*vectors(1, 3, 3, 10), None, None, *parts)),
        Case("more target than source", (*vectors(2, 4, 3, 20), causal(4), hidden, *parts)),
        Case("as much target as source", (*vectors(2, 3, 3, 30), causal(3), hidden, *parts)),
        Case("less target than source", (*vectors(1, 2, 1030, 40), causal(2), None, *parts)),
        Case("no causal mask", (*vectors(4, 3, 3, 50), None, hidden[1:], *parts)),
        Case(
            "no source mask",
            (*vectors(1, 3, 3, 60), torch.ones(3, 3).triu(-1).bool(), None, *parts),
        ),
        Case("one sentence, all masks", (*vectors(1, 3, 3, 70), causal(3), hidden[1:], *parts)),
        Case("one token", (*vectors(1, 1, 3, 80), causal(1), hidden[1:], *parts)),
        Case(
            "a source of one token",
            (
                vectors(2, 3, 1, 90)[0] * torch.eye(3)[:, :1],
                vectors(2, 3, 1, 91)[1],
                causal(3),
                None,
                *parts,
            ),
        ),
        Case(
            "a target mask for each sentence",
            (*vectors(2, 3, 3, 100), hidden.expand(2, 3, 3), hidden.flip(0), *parts),
        ),
        Case(
            "a source mask for each query",
            (*vectors(2, 2, 3, 110), causal(2), hidden & (torch.eye(2, 3) == 0), *parts),
        ),
    )


DECODER_LAYER = Component(
    name="decoder_layer",
    chapter=13,
    order=1,
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
    met="worse",
    ready_made={
        "nn.TransformerEncoderLayer": nn.TransformerEncoderLayer.forward,
        "nn.TransformerDecoderLayer": nn.TransformerDecoderLayer.forward,
        "DecoderLayer": "decoder.DecoderLayer.forward",
    },
    boundaries={
        name: where
        for name, where in RESIDUAL.items()
        if not name.endswith("one of features") and "positions as features" not in name
    }
    | {
        "no mask at all": lambda target_mask, memory_mask: target_mask is memory_mask is None,
        "no target mask": lambda target_mask, memory_mask: (
            target_mask is None and memory_mask is not None
        ),
        "no source mask": lambda target_mask, memory_mask: (
            memory_mask is None and target_mask is not None
        ),
        "more source than target": lambda x, memory: memory.size(1) > x.size(1),
        "more target than source": lambda x, memory: memory.size(1) < x.size(1),
        "as much of both": lambda x, memory: memory.size(1) == x.size(1),
        "a source of one token": lambda memory: memory.size(1) == 1,
        "a target mask for each sentence": lambda target_mask: (
            target_mask is not None and target_mask.dim() > 2
        ),
        "a source mask for each query": lambda memory_mask: (
            memory_mask is not None and memory_mask.size(-2) > 1
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(DECODER_LAYER)


@mistake(
    "around",
    "post-norm decoder layer",
    symptom="This is a post-norm layer, norm(x + f(x)) three times, as in the 2017 paper.",
    cause="The book's layers are pre-norm, x + f(norm(x)). Both exist; weights do not fit from one "
    "to the other.",
    section="Where to put the norm",
    chapter=10,
    kind="convention",
)
def post_norm_decoder(x: Tensor, sublayer: Any, norm: Any, add: Callable[..., Tensor]) -> Tensor:
    return norm(add(x, sublayer(x)))


@mistake(
    "around",
    "normalised stream in the decoder layer",
    symptom="The stream itself is normalised in each sublayer.",
    cause="Add x, as it came in, to the sublayer's output: x + f(norm(x)), not norm(x) + "
    "f(norm(x)).",
    section="Where to put the norm",
    chapter=10,
)
def decoder_stream_normalised(
    x: Tensor, sublayer: Any, norm: Any, add: Callable[..., Tensor]
) -> Tensor:
    return add(norm(x), sublayer(norm(x)))


@mistake(
    "look_back",
    "causal mask not passed on",
    met=("too-good", 2),
    symptom="A position sees its future.",
    cause="Hand target_mask to the self-attention.",
)
def target_mask_lost(y: Tensor, masks: Any, attention: Callable[..., Tensor]) -> Tensor:
    return attention(y, y, y, None)


@mistake(
    "look_over",
    "source mask not passed on",
    met=("batch", 4),
    symptom="The padding of the source is read.",
    cause="Hand memory_mask to the cross-attention.",
    seen="Appropriate masks are needed for TransformerASR.decode(), "
    "https://github.com/speechbrain/speechbrain/issues/1107",
)
def memory_mask_lost(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(y, memory, memory, None)


@mistake(
    "look_over",
    "target mask used in cross-attention",
    met=("sizes", 3),
    symptom="With a causal target mask: where source and target are equally long, word i of "
    "the target sees only the first i words of the source; where both have several "
    "words, and differ in length, it stops.",
    cause="Hand memory_mask to the cross-attention: the source is known from the start.",
    seen="Fix masks in English-to-Spanish translation example, "
    "https://github.com/keras-team/keras-io/pull/1046",
)
def target_mask_across(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(y, memory, memory, masks[0])


@mistake(
    "look_back",
    "source mask used in self-attention",
    met=("too-good", 16),
    symptom="Words of the target are hidden where the source is padded, and the future is "
    "seen; with a mask of several source words, but not as many as the target has, it "
    "stops.",
    cause="Hand target_mask to the self-attention.",
)
def memory_mask_inside(y: Tensor, masks: Any, attention: Callable[..., Tensor]) -> Tensor:
    return attention(y, y, y, masks[1])


@mistake(
    "look_over",
    "keys and values from the target",
    met=("frequencies", 1),
    symptom="The memory does not matter: the source is never read.",
    cause="In cross-attention keys and values are the memory.",
)
def memory_never_read(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(y, y, y, masks[0])


@mistake(
    "look_over",
    "queries from the memory",
    met=("sizes", 6),
    symptom="The output of cross-attention has the length of the source.",
    cause="In cross-attention the queries come from the target.",
)
def queries_from_memory(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(memory, memory, memory, masks[1])


@mistake(
    "look_over",
    "mask of cross-attention transposed",
    symptom="Whole queries are hidden in place of padded keys; where source and target have "
    "several words, but not equally many, it stops.",
    cause="Hand memory_mask over as it is: its last axis is the source.",
    section="Break it: mistakes that need S = T",
)
def memory_mask_transposed(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(y, memory, memory, masks[1] if masks[1] is None else masks[1].mT)


@mistake(
    "look_over",
    "keys and values from the target, under the source mask",
    symptom="The source is never read; its mask, if it has one, is laid over the target.",
    cause="In cross-attention keys and values are the memory.",
)
def memory_never_read_but_masked(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(y, y, y, masks[1])


@mistake(
    "look_over",
    "roles in cross-attention exchanged",
    symptom="The memory asks and the target answers.",
    cause="In cross-attention the queries come from the target, keys and values from the memory.",
)
def roles_exchanged(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(memory, y, y, masks[1])


@mistake(
    "look_over",
    "roles in cross-attention exchanged, and no mask",
    symptom="The memory asks and the target answers.",
    cause="In cross-attention the queries come from the target, keys and values from the memory; "
    "and it takes memory_mask.",
)
def roles_exchanged_unmasked(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(memory, y, y, None)


@mistake(
    "read",
    "memory normalised again",
    symptom="The memory goes through the layer's norm.",
    cause="Hand the memory to cross-attention as it is; normalise x alone.",
)
def memory_normalised(memory: Tensor, norms: Any) -> Tensor:
    return norms[1](memory)


@mistake(
    "norm",
    "first norm used for cross-attention, too",
    symptom="The second norm does not matter.",
    cause="Each of the three sublayers has its own norm: norms[1] is that of cross-attention.",
    seen="[Bug?] Wrong layer norm used in TransformerDecoderLayer, "
    "https://github.com/ml-explore/mlx/issues/1636",
)
def first_norm_again(norms: Any, i: int) -> Any:
    return norms[0] if i == 1 else norms[i]


@mistake(
    "last",
    "residual around the decoder's feed-forward network forgotten",
    symptom="The network's output goes on alone.",
    cause="Add what went into the last norm to the network's output.",
)
@mistake(
    "middle",
    "residual around cross-attention forgotten",
    symptom="Cross-attention's output goes on alone.",
    cause="Add x to the output of cross-attention.",
)
@mistake(
    "first",
    "residual around self-attention forgotten",
    symptom="Self-attention's output goes on alone.",
    cause="Add x to the output of self-attention.",
)
def decoder_first_lost(x: Tensor, change: Tensor) -> Tensor:
    return change


@mistake(
    "wire",
    "cross-attention first, behind the first norm",
    symptom="The two attentions come in the wrong order, the norms in the right one.",
    cause="Self-attention first, then cross-attention, then the feed-forward network.",
    steps={"norm": lambda norms, i: norms[(1, 0, 2)[i]]},
)
@mistake(
    "wire",
    "cross-attention before self-attention",
    symptom="The two attentions come in the wrong order.",
    cause="Self-attention first, then cross-attention, then the feed-forward network.",
)
def across_first(x: Tensor, back: Any, over: Any, transformed: Any) -> Tensor:
    return transformed(back(over(x)))


@mistake(
    "wire",
    "cross-attention left out",
    symptom="The memory does not matter: nothing of the source comes in.",
    cause="Cross-attention is the second of the three sublayers: use what it gives.",
)
def never_across(x: Tensor, back: Any, over: Any, transformed: Any) -> Tensor:
    return transformed(back(x))


@mistake(
    "wire",
    "feed-forward network of the decoder left out",
    symptom="The feed-forward network does not matter.",
    cause="The network is the third of the three sublayers: use what it gives.",
)
def never_transformed(x: Tensor, back: Any, over: Any, transformed: Any) -> Tensor:
    return over(back(x))


@mistake(
    "wire",
    "attentions side by side",
    symptom="Cross-attention does not see what self-attention found.",
    cause="Add self-attention's output to x first, and hand that sum, normalised, to "
    "cross-attention.",
)
def attentions_in_parallel(x: Tensor, back: Any, over: Any, transformed: Any) -> Tensor:
    return transformed(back(x) + over(x) - x)


@mistake(
    "attentions",
    "self-attention used for cross-attention, too",
    symptom="The weights of cross-attention do not matter.",
    cause="Call cross_attention in the second sublayer.",
)
def self_attention_twice(self_attention: Any, cross_attention: Any) -> tuple[Any, Any]:
    return self_attention, self_attention


@mistake(
    "attentions",
    "self-attention and cross-attention exchanged",
    symptom="The weights of the two attentions have changed places.",
    cause="Call self_attention in the first sublayer, and cross_attention in the second.",
)
def attentions_exchanged(self_attention: Any, cross_attention: Any) -> tuple[Any, Any]:
    return cross_attention, self_attention


@mistake(
    "norm",
    "one norm for all three sublayers",
    symptom="The second and the third norm do not matter.",
    cause="Each of the three sublayers has its own norm: norms[0], norms[1], norms[2].",
)
def one_norm(norms: Any, i: int) -> Any:
    return norms[0]


@mistake(
    "norm",
    "norm before cross-attention forgotten",
    symptom="Cross-attention's queries are taken from the stream as it is.",
    cause="Hand norms[1](x) to cross-attention.",
)
def no_norm_across(norms: Any, i: int) -> Any:
    return norms[i] if i != 1 else lambda x: x


@mistake(
    "norm",
    "norm before the decoder's feed-forward network forgotten",
    symptom="The feed-forward network sees the stream as it is.",
    cause="Hand norms[2](x) to the feed-forward network.",
)
def no_last_norm(norms: Any, i: int) -> Any:
    return norms[i] if i != 2 else lambda x: x


@mistake(
    "look_over",
    "values of cross-attention from the target",
    symptom="The target's own vectors are averaged; if the lengths differ it stops.",
    cause="In cross-attention keys and values are the memory.",
)
def values_from_target(
    y: Tensor, memory: Tensor, masks: Any, attention: Callable[..., Tensor]
) -> Tensor:
    return attention(y, memory, y, masks[1])
