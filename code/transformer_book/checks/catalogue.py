"""The known mistakes by symptom: what people see when their model does not work (chapter 22).

Every mistake belongs to one symptom, the one by which it is most often met. What is another
convention, or harmless, belongs to the last symptom if no other names it. The page
`book/debugging.md` has a section for each.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from transformer_book.checks import COMPONENTS, MISTAKES, Mistake


@dataclass(frozen=True)
class Symptom:
    """What is seen, and the known mistakes behind it.

    Attributes:
        key: short, for programs.
        title: what is seen, in the words of someone who sees it.
        likely: the mistakes to suspect first, in this order, as `"component: name"`.
        rest: components all of whose other mistakes belong here.
    """

    key: str
    title: str
    likely: tuple[str, ...]
    rest: tuple[str, ...] = ()


def anchor_of(heading: str) -> str:
    """The anchor that a heading gets on the website, as on GitHub."""
    return re.sub(r"[^\w \-]", "", heading.strip().lower()).replace(" ", "-")


SYMPTOMS = (
    Symptom(
        "too-good",
        "The loss is far below what is plausible",
        (
            "target_mask: the future forgotten",
            "decoder_layer: causal mask not passed on",
            "shift: target not shifted",
            "causal_self_attention: causal mask only in evaluation",
            "transformer_forward: future of the target visible",
            "causal_mask: next token visible",
            "target_mask: next target token visible",
            "scaled_dot_product_attention: mask inverted",
            "grouped_query_attention: grouped mask inverted",
            "grouped_query_attention: grouped mask ignored",
            "cached_attention: new tokens see each other's future",
            "multi_head_attention: mask not passed on",
            "multi_head_attention: mask inverted on the way",
            "shift: nothing to begin with",
            "shift: input and output exchanged",
            "decoder_layer: source mask used in self-attention",
            "target_mask: either in place of both",
            "target_mask: causal part of the target transposed",
            "prefix_mask: causal mask forgotten in the target",
            "prefix_mask: everything visible to everyone",
            "prefix_mask: places of the prefix see the target",
            "prefix_mask: next token visible behind the prefix",
            "prefix_mask: prefix one place too long",
            "prefix_mask: last places open in place of the first",
            "one_stack_labels: labels of the target not shifted",
            "one_stack_labels: <sos> missing, the answer goes in",
            "one_stack_labels: inputs and labels of the target exchanged",
            "one_stack_labels: loss on the prefix, not shifted",
            "cross_entropy: padding left out of the sum, not of the count",
            "cross_entropy: logits without a softmax",
        ),
        ("causal_mask", "causal_self_attention"),
    ),
    Symptom(
        "nonsense",
        "Validation is fine, and what it writes is nonsense",
        (
            "merge_heads: heads merged without permuting back",
            "split_heads: heads split with view, not transposed",
            "scaled_dot_product_attention: mask applied after the softmax",
            "next_token: greedy takes the first position",
            "embed_next: every decoded token at position 0",
            "cached_attention: positions not advanced with the cache",
            "rotary: positions counted from the start of the tensor",
            "cached_attention: kept keys turned again",
            "cached_attention: new keys kept before they are turned",
            "cached_attention: cache not extended",
            "cached_attention: mask that does not count what is kept",
            "cached_attention: new token one position too far",
            "reorder_cache: cache not reordered with the beams",
            "paired_by_halves: rows left as they are",
            "split_stacked: stacked matrix not transposed",
            "causal_self_attention: causal mask only in training mode",
            "transformer_forward: forward returns argmax",
            "text_to_ids: trained on one tokenizer and used with another",
            "greedy_search: only the last token read",
            "multi_head_attention: several heads merged without permuting back",
            "multi_head_attention: several heads split with view, not transposed",
            "build_vocabulary: special tokens at the end",
            "average_checkpoints: checkpoints summed",
            "greedy_search: least likely token chosen",
            "beam_search: worst hypothesis chosen",
        ),
        (
            "next_token",
            "embed_next",
            "reorder_cache",
            "text_to_ids",
            "split_stacked",
            "paired_by_halves",
        ),
    ),
    Symptom(
        "batch",
        "The output changes with the batch it is in",
        (
            "encoder_layer: encoder mask not passed on",
            "transformer_forward: source padding read by the encoder",
            "transformer_forward: source padding read by the decoder",
            "decoder_layer: source mask not passed on",
            "layer_norm: layer norm over two axes",
            "padding_mask: query rows masked",
            "scaled_dot_product_attention: mask ignored",
            "scaled_dot_product_attention: hidden scores set to zero",
            "scaled_dot_product_attention: softmax over the first axis",
            "add_positions: batch axis taken for position",
            "layer_norm: layer norm over the positions",
            "rms_norm: mean of the squares over the positions",
            "collate: padded with another token",
            "next_token: largest over the batch",
            "cross_entropy: padding in the loss",
            "label_smoothed_loss: padding in the smoothed loss",
            "build_vocabulary: special tokens forgotten",
            "prefix_mask: padding of the prefix seen",
            "prefix_mask: padding of one sequence forgotten",
            "prefix_mask: query rows of one sequence masked",
            "prefix_mask: prefix counted in real tokens",
            "one_stack_labels: <sos> left out",
        ),
        ("padding_mask",),
    ),
    Symptom(
        "nan",
        "NaN, at once or after a while",
        (
            "scaled_dot_product_attention: rows of minus infinity",
            "softmax: softmax without subtracting the maximum",
            "scaled_dot_product_attention: attention with an overflowing softmax",
            "layer_norm: ε forgotten",
            "rms_norm: ε of RMSNorm forgotten",
            "causal_mask: diagonal hidden",
            "target_mask: diagonal of the target hidden",
            "inverse_sqrt_schedule: updates from zero",
            "clip_gradients: not clipped",
        ),
    ),
    Symptom(
        "flat",
        "The loss does not fall",
        (
            "training_update: gradients zeroed after backward",
            "training_update: step before backward",
            "cross_entropy: softmax applied twice",
            "tied_logits: softmax already taken",
            "transformer_forward: forward returns probabilities",
            "layer_norm_parameters: weight that starts at zero",
            "inverse_sqrt_schedule: width forgotten",
            "inverse_sqrt_schedule: multiplied by the root of the width",
            "inverse_sqrt_schedule: warm-up for ever",
            "cross_entropy: log-softmax over the positions",
            "label_smoothed_loss: ε and 1 − ε exchanged",
            "pre_norm: norm forgotten",
            "lora_start: A and B both zero",
        ),
    ),
    Symptom(
        "frequencies",
        "The loss falls, and stays where counting words would get you",
        (
            "decoder_layer: keys and values from the target",
            "transformer_forward: encoder left out",
            "pre_norm: residual connection forgotten",
            "embedding: embedding not scaled",
            "padding_mask: padding mask inverted",
            "encoder_layer: encoder mask inverted",
            "target_mask: target padding inverted",
            "prefix_mask: prefix visible to itself alone",
            "prefix_mask: padding inverted in one sequence",
            "one_stack_labels: target in front of the source",
            "add_positions: positions in place of words",
            "embedding: embedding divided by the root",
            "scaled_dot_product_attention: softmax over the queries",
            "scaled_dot_product_attention: scores of keys with keys",
            "post_norm: residual connection of post-norm forgotten",
        ),
    ),
    Symptom(
        "random",
        "The output changes from call to call",
        (
            "dropout: dropout left on in evaluation",
            "temperature_probabilities: logits multiplied by the temperature",
            "temperature_probabilities: temperature ignored",
            "top_k_probabilities: dropped logits set to zero",
        ),
        (
            "temperature_probabilities",
            "top_k_probabilities",
            "top_p_probabilities",
            "min_p_probabilities",
        ),
    ),
    Symptom(
        "sizes",
        "It fails, or should fail and does not, when two sizes differ",
        (
            "padding_mask: padding mask without its axis of heads",
            "padding_mask: padding mask without new axes",
            "decoder_layer: target mask used in cross-attention",
            "transformer_forward: padding mask of the source used for the target",
            "transformer_forward: mask of the target handed to cross-attention",
            "decoder_layer: queries from the memory",
            "split_heads: heads left behind the positions",
            "tied_logits: tied matrix not transposed",
            "merge_heads: heads averaged",
            "shift: shifted along the batch",
            "next_token: last sentence in place of last position",
            "prefix_mask: prefix mask without its axis of heads",
            "one_stack_labels: labels for the target alone",
            "one_stack_labels: last token left in the input of one stack",
        ),
    ),
    Symptom(
        "worse",
        "It trains, and worse than it should",
        (
            "scaled_dot_product_attention: scores not scaled",
            "training_update: gradients not zeroed",
            "sublayer_with_dropout: dropout applied to the residual stream",
            "accumulated_update: schedule stepped per micro-batch",
            "sublayer_with_dropout: dropout declared and never applied",
            "make_stack: [layer] * N",
            "inverse_sqrt_schedule: warm-up forgotten",
            "training_update: clipped before backward",
            "embedding: embedding scaled twice",
            "multi_head_attention: one head only",
            "feed_forward: activation forgotten",
            "sinusoids: doubled exponent",
            "add_positions: the same position everywhere",
            "pre_norm: normalised residual",
            "dropout: what survives is not enlarged",
        ),
        (
            "softmax",
            "scaled_dot_product_attention",
            "target_mask",
            "split_heads",
            "merge_heads",
            "multi_head_attention",
            "shift",
            "embedding",
            "tied_logits",
            "sinusoids",
            "add_positions",
            "layer_norm",
            "pre_norm",
            "post_norm",
            "dropout",
            "feed_forward",
            "group_sort",
            "encoder_layer",
            "decoder_layer",
            "make_stack",
            "inverse_sqrt_schedule",
            "clip_gradients",
            "training_update",
            "accumulated_update",
            "layer_norm_parameters",
            "sublayer_with_dropout",
            "transformer_forward",
            "prefix_mask",
            "one_stack_labels",
            "ablate_head",
            "rms_norm",
            "rotary",
            "swiglu",
            "grouped_query_attention",
            "cached_attention",
            "lora",
            "merged_weight",
            "lora_start",
        ),
    ),
    Symptom(
        "endless",
        "It is slow, and never ends",
        (
            "encode: <eos> forgotten",
            "one_stack_labels: end of the target not asked for",
            "greedy_search: never stops at <eos>",
            "greedy_batch: finished rows still growing",
            "collate: <eos> after the padding",
            "collate: cut to the shortest",
            "beam_search: one beam too many",
        ),
    ),
    Symptom(
        "bleu",
        "BLEU is two points low",
        (
            "greedy_search: last token stripped blindly",
            "cut_at_end: last id stripped blindly",
            "greedy_search: <eos> left in",
            "length_normalised: length ignored",
            "beam_search: stops at the first finished hypothesis",
            "best_checkpoint: best checkpoint chosen on one batch",
            "greedy_batch: all rows stop with the first",
            "encode: unknown words dropped",
            "beam_search: finished hypotheses forgotten",
            "beam_search: one beam only",
            "average_checkpoints: the last checkpoint",
        ),
        (
            "build_vocabulary",
            "encode",
            "collate",
            "average_checkpoints",
            "greedy_search",
            "beam_search",
            "length_normalised",
            "cut_at_end",
            "best_checkpoint",
            "greedy_batch",
        ),
    ),
    Symptom(
        "score",
        "The score is better than anyone's, or cannot be compared",
        (
            "training_words: vocabulary built on test data",
            "perplexity: two to the power of nats",
            "perplexity: mean of the batches' means",
            "cross_entropy: loss averaged per sentence",
            "cross_entropy: bits in place of nats",
            "cross_entropy: divided by the number of sentences",
            "label_smoothed_loss: smoothing summed, not averaged",
            "number_of_targets: n**V for V**n",
        ),
        (
            "training_words",
            "perplexity",
            "cross_entropy",
            "label_smoothed_loss",
            "number_of_targets",
            "induction_score",
        ),
    ),
    Symptom(
        "harmless",
        "It differs from the reference, and works",
        (
            "feed_forward: GELU in place of ReLU",
            "pre_norm: post-norm in place of pre-norm",
            "post_norm: pre-norm in place of post-norm",
            "label_smoothed_loss: smoothing shared among the wrong tokens only",
            "label_smoothed_loss: smoothing ignored",
            "encoder_layer: one norm used twice",
            "layer_norm: variance with Bessel's correction",
            "layer_norm: ε outside the root",
            "layer_norm: ε fixed",
            "target_mask: the padding forgotten",
            "target_mask: query rows of the target masked",
            "sinusoids: halves in place of interleaved",
            "sinusoids: sine and cosine exchanged",
            "split_heads: heads interleaved",
            "merge_heads: heads merged interleaved",
            "multi_head_attention: heads interleaved when split",
            "multi_head_attention: weights not transposed",
            "make_stack: deep copies that start equal",
            "causal_mask: additive mask in place of a boolean one",
            "causal_mask: a mask of numbers",
            "dropout: scaled in evaluation in place of training",
            "collate: padding in front",
            "collate: position first",
            "encode: <sos> in front of a source",
            "group_sort: larger first",
            "length_normalised: the penalty of Wu et al.",
            "ablate_head: mean ablation",
        ),
    ),
)


def full_name(mistake: Mistake) -> str:
    """`"component: name"`."""
    return f"{mistake.component}: {mistake.name}"


def symptom_of(mistake: Mistake) -> Symptom:
    """The symptom by which a mistake is met: one that names it, or else that of its component.

    Raises:
        ValueError: for a mistake that no symptom has.
    """
    for symptom in SYMPTOMS:
        if full_name(mistake) in symptom.likely:
            return symptom
    if mistake.kind != "wrong":
        return SYMPTOMS[-1]
    for symptom in SYMPTOMS:
        if mistake.component in symptom.rest:
            return symptom
    raise ValueError(f"No symptom has the mistake {full_name(mistake)!r}; add it in {__name__}.")


def mistakes_of(symptom: Symptom) -> list[Mistake]:
    """The mistakes of a symptom, the likely ones first, in their order."""
    mine = [mistake for mistake in MISTAKES if symptom_of(mistake) is symptom]
    named = {name: place for place, name in enumerate(symptom.likely)}
    return sorted(mine, key=lambda mistake: named.get(full_name(mistake), len(named)))


def place_of(mistake: Mistake) -> tuple[int, str]:
    """The number of the chapter and the heading of the section that explain a mistake."""
    return mistake.chapter or COMPONENTS[mistake.component].chapter, mistake.section
