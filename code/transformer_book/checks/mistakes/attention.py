"""Known mistakes of chapters 6 to 9: softmax, attention, masks, heads."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from transformer_book.checks.mistakes.registry import MISTAKES, mistake

# --- softmax -------------------------------------------------------------------------------------

STABLE = "A softmax that survives large scores"


@mistake(
    "softmax",
    "shift",
    "softmax without subtracting the maximum",
    symptom="Scores beyond about 88 give nan.",
    cause="The exponential overflows: subtract the largest score of the row first.",
    section=STABLE,
)
def nothing_subtracted(scores: Tensor) -> Tensor:
    return scores


@mistake(
    "softmax",
    "normalise",
    "softmax over the wrong axis",
    symptom="The columns sum to one instead of the rows.",
    cause="The sum runs over the second-last axis: use dim=-1, the axis of the keys.",
    section=STABLE,
)
def normalised_over_queries(exponentials: Tensor, scores: Tensor) -> Tensor:
    axis = -2 if scores.dim() > 1 else -1
    if exponentials.isinf().any():  # the maximum was not subtracted either
        return exponentials / exponentials.sum(dim=axis, keepdim=True)
    return scores.softmax(dim=axis)


@mistake(
    "softmax",
    "normalise",
    "softmax over the first of several axes",
    symptom="The numbers of one row change with the other rows, or with the other sentences.",
    cause="The sum runs over dim=0: use dim=-1, the axis of the keys.",
    section=STABLE,
)
def normalised_over_first(exponentials: Tensor, scores: Tensor) -> Tensor:
    if exponentials.isinf().any():  # the maximum was not subtracted either
        return exponentials / exponentials.sum(dim=0, keepdim=True)
    return scores.softmax(dim=0)


def implied_axis(scores: Tensor) -> int:
    """The axis that F.softmax takes if none is given (it warns, and does it)."""
    return 0 if scores.dim() in (0, 1, 3) else 1


@mistake(
    "softmax",
    "normalise",
    "softmax without dim",
    symptom="It is right for one or two axes, and wrong for three.",
    cause="Without dim, F.softmax takes axis 0 of three axes, and axis 1 of two or four: write "
    "dim=-1.",
    section=STABLE,
    seen="UserWarning: Implicit dimension choice for softmax has been deprecated., "
    "https://github.com/linnaeushuang/pensieve-pytorch/issues/4",
)
def softmax_without_dim(exponentials: Tensor, scores: Tensor) -> Tensor:
    axis = implied_axis(scores)
    if exponentials.isinf().any():  # the maximum was not subtracted either
        return exponentials / exponentials.sum(dim=axis, keepdim=True)
    return scores.softmax(dim=axis)


@mistake(
    "softmax",
    "normalise",
    "softmax over everything",
    symptom="Each row sums to less than one; all rows together sum to one.",
    cause="The sum has no dim and runs over the whole tensor: use dim=-1 and keepdim=True.",
    section=STABLE,
)
def normalised_over_everything(exponentials: Tensor, scores: Tensor) -> Tensor:
    if exponentials.isinf().any():  # the maximum was not subtracted either
        return exponentials / exponentials.sum()
    return scores.flatten().softmax(dim=0).reshape(scores.shape)


@mistake(
    "softmax",
    "normalise",
    "exponentials never divided",
    symptom="The rows do not sum to one.",
    cause="The exponentials are not divided by their sum.",
    section=STABLE,
)
def not_normalised(exponentials: Tensor, scores: Tensor) -> Tensor:
    return exponentials


@mistake(
    "softmax",
    "normalise",
    "log-softmax in place of softmax",
    symptom="Every number is negative or zero.",
    cause="This is the logarithm of the softmax: use softmax, or exponentiate.",
    section=STABLE,
)
def logarithm(exponentials: Tensor, scores: Tensor) -> Tensor:
    return scores.log_softmax(dim=-1)


# --- attention -----------------------------------------------------------------------------------

ROOT = "Why divide by the square root of the width"
FUNCTION = "The function in the package"
HARD = "Break it: the mask after the softmax"
EMPTY = "Minus infinity, or a very small number?"


@mistake(
    "scaled_dot_product_attention",
    "scale",
    "scores not scaled",
    symptom="The weights are too sharp, and all the more so the wider the vectors are.",
    cause="Divide the scores by the root of d_k.",
    section=ROOT,
    seen="Fix scaling in attention computation, "
    "https://github.com/PAIR-code/tiny-transformers/issues/71",
)
def not_scaled(query: Tensor, value: Tensor) -> float:
    return 1.0


@mistake(
    "scaled_dot_product_attention",
    "scale",
    "scores divided by d_k without the root",
    symptom="The weights are too even.",
    cause="The scores are divided by d_k; divide by its square root.",
    section=ROOT,
)
def divided_without_root(query: Tensor, value: Tensor) -> float:
    return 1 / query.size(-1)


@mistake(
    "scaled_dot_product_attention",
    "scale",
    "scores multiplied by the root of d_k",
    symptom="The weights are much too sharp.",
    cause="The scores are multiplied by the root of d_k; divide by it.",
    section=ROOT,
    seen="Bug in MultiHeadAttention, https://github.com/esceptico/perceiver-io/issues/9",
)
def multiplied_by_root(query: Tensor, value: Tensor) -> float:
    return math.sqrt(query.size(-1))


@mistake(
    "scaled_dot_product_attention",
    "scale",
    "scores divided by the root of the number of queries",
    symptom="The weights depend on how long the sentence is.",
    cause="query.size(-2) is the number of queries; the width d_k is query.size(-1).",
    section=ROOT,
)
def divided_by_length(query: Tensor, value: Tensor) -> float:
    return 1 / math.sqrt(query.size(-2))


@mistake(
    "scaled_dot_product_attention",
    "normalise",
    "weights scaled after the softmax",
    symptom="Each row of weights sums to 1/√d_k, not to 1.",
    cause="The division by the root of d_k comes after the softmax; it belongs on the scores.",
    section=ROOT,
    steps={"scale": not_scaled, "average": lambda w, key, v: w @ v / math.sqrt(key.size(-1))},
)
def scaled_afterwards(scores: Tensor) -> Tensor:
    return scores.softmax(dim=-1)


@mistake(
    "scaled_dot_product_attention",
    "normalise",
    "softmax over the queries",
    symptom="The columns of weights sum to one, so a query's weights do not.",
    cause="The softmax runs over the axis of the queries: use dim=-1.",
    section=FUNCTION,
    seen="Bug in SA for DDPM UNet?, "
    "https://github.com/labmlai/annotated_deep_learning_paper_implementations/issues/146",
)
def softmax_over_queries(scores: Tensor) -> Tensor:
    return scores.softmax(dim=-2)


@mistake(
    "scaled_dot_product_attention",
    "normalise",
    "softmax over the first axis",
    symptom="The output of one sentence changes with the others of its batch.",
    cause="The softmax runs over the first axis, often the batch: use dim=-1.",
    section=FUNCTION,
    seen="Attention's softmax dimension is wrong?, "
    "https://github.com/PetrochukM/PyTorch-NLP/issues/2",
)
def softmax_over_batch(scores: Tensor) -> Tensor:
    return scores.softmax(dim=0)


@mistake(
    "scaled_dot_product_attention",
    "normalise",
    "no softmax",
    symptom="The weights are the scores themselves and do not sum to one.",
    cause="Take the softmax of the scores, between the two matrix products.",
    section=FUNCTION,
)
def no_softmax(scores: Tensor) -> Tensor:
    return scores


@mistake(
    "scaled_dot_product_attention",
    "normalise",
    "attention with an overflowing softmax",
    symptom="Large scores give nan.",
    cause="The exponential overflows: subtract the row's maximum, or use torch.softmax.",
    section=STABLE,
)
def overflowing_softmax(scores: Tensor) -> Tensor:
    exponentials = scores.exp()
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


@mistake(
    "scaled_dot_product_attention",
    "hide",
    "mask inverted",
    symptom="What should be hidden is seen, and what should be seen is hidden.",
    cause="True means 'may attend' in this book: hide where the mask is False. "
    "(nn.MultiheadAttention means the opposite.)",
    section="PyTorch's modules mean the opposite",
    chapter=8,
    steps={
        "clean": lambda weights, mask: weights if mask is None else weights.masked_fill(mask, 0.0)
    },
    seen="Bug in Ch03 - Bonus02 - PyTorch's scaled dot product attention without FlashAttention, "
    "https://github.com/rasbt/LLMs-from-scratch/issues/1061",
)
def hidden_where_true(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(mask, torch.finfo(scores.dtype).min)


@mistake(
    "scaled_dot_product_attention",
    "hide",
    "mask ignored",
    symptom="The mask changes nothing.",
    cause="The masked scores are not used: masked_fill returns a new tensor, assign it.",
    section=HARD,
    chapter=8,
    steps={"clean": lambda weights, mask: weights},
)
def mask_ignored(scores: Tensor, mask: Tensor) -> Tensor:
    return scores


@mistake(
    "scaled_dot_product_attention",
    "hide",
    "mask applied after the softmax",
    symptom="With a mask, the weights of a query no longer sum to one.",
    cause="Hidden keys are taken out after the softmax and still count in its sum: hide their "
    "scores before it.",
    section=HARD,
    chapter=8,
)
def masked_afterwards(scores: Tensor, mask: Tensor) -> Tensor:
    return scores


@mistake(
    "scaled_dot_product_attention",
    "hide",
    "boolean mask added to the scores",
    symptom="Nothing is hidden: where attention is allowed, scores are larger by one.",
    cause="True counts as 1. Add numbers, 0 and -inf; or use masked_fill(~mask, …).",
    section="PyTorch's modules mean the opposite",
    chapter=8,
    steps={"clean": lambda weights, mask: weights},
)
def mask_added(scores: Tensor, mask: Tensor) -> Tensor:
    return scores + mask


@mistake(
    "scaled_dot_product_attention",
    "hide",
    "hidden scores set to zero",
    symptom="Hidden keys still get weight: the exponential of zero is one.",
    cause="Hidden scores are set to 0: set them to the lowest number instead.",
    section=HARD,
    chapter=8,
    steps={"clean": lambda weights, mask: weights},
)
def hidden_scores_zero(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, 0.0)


@mistake(
    "scaled_dot_product_attention",
    "hide",
    "rows of minus infinity",
    symptom="A query that may attend to nothing gives nan.",
    cause="The softmax of a row of -inf divides zero by zero: use the lowest finite number, and "
    "set the weights of such a row to zero.",
    section=EMPTY,
    chapter=8,
    steps={"clean": lambda weights, mask: weights},
    seen="`scaled_dot_product_attention` produces `nan`s with boolean `attn_mask` with zero rows., "
    "https://github.com/pytorch/pytorch/issues/103963",
)
def hidden_by_infinity(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, float("-inf"))


@mistake(
    "scaled_dot_product_attention",
    "clean",
    "an empty row averages everything",
    symptom="A query that may attend to nothing gets the mean of all values.",
    cause="A row of equal low scores becomes equal weights: set the weights of hidden keys to "
    "zero after the softmax, too.",
    section=EMPTY,
    chapter=8,
)
def empty_rows_average(weights: Tensor, mask: Tensor | None) -> Tensor:
    return weights


@mistake(
    "scaled_dot_product_attention",
    "average",
    "keys averaged in place of values",
    symptom="The values do not matter.",
    cause="The weights average the keys; they must average the values.",
    section=FUNCTION,
)
def keys_averaged(weights: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return weights @ key


@mistake(
    "scaled_dot_product_attention",
    "roles",
    "keys and values exchanged",
    symptom="The queries are compared with the values, and the keys are averaged.",
    cause="Two arguments have changed places: query, key, value is the order everywhere.",
    section=FUNCTION,
)
def exchanged(key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return value, key


@mistake(
    "scaled_dot_product_attention",
    "normalise",
    "attention with a softmax without dim",
    symptom="With three or four axes the weights do not sum to one over the keys.",
    cause="Without dim, F.softmax runs over the batch if there are three axes, and over the "
    "heads if there are four: write dim=-1.",
    section=FUNCTION,
)
def attention_without_dim(scores: Tensor) -> Tensor:
    return scores.softmax(dim=implied_axis(scores))


@mistake(
    "scaled_dot_product_attention",
    "scores",
    "scores of queries with queries",
    symptom="The keys do not matter.",
    cause="The scores are query times query: the second factor must be the key.",
    section=FUNCTION,
)
def queries_with_queries(query: Tensor, key: Tensor) -> Tensor:
    return query @ query.transpose(-2, -1)


@mistake(
    "scaled_dot_product_attention",
    "scores",
    "scores of keys with keys",
    symptom="The queries do not matter.",
    cause="The scores are key times key: the first factor must be the query.",
    section=FUNCTION,
)
def keys_with_keys(query: Tensor, key: Tensor) -> Tensor:
    return key @ key.transpose(-2, -1)


@mistake(
    "scaled_dot_product_attention",
    "scores",
    "cosine in place of the dot product",
    symptom="The length of a vector no longer counts.",
    cause="Queries and keys are normalised before the product: the paper's scores are plain dot "
    "products.",
    section="Angle and length, by hand",
    chapter=6,
)
def cosines(query: Tensor, key: Tensor) -> Tensor:
    normalise = torch.nn.functional.normalize
    return normalise(query, dim=-1) @ normalise(key, dim=-1).transpose(-2, -1)


# --- masks ---------------------------------------------------------------------------------------


@mistake(
    "padding_mask",
    "real",
    "padding mask inverted",
    symptom="The mask is True at the padding and False at the words.",
    cause="True means 'may attend' in this book: compare with != 0. (PyTorch's "
    "key_padding_mask means the opposite.)",
    section="PyTorch's modules mean the opposite",
)
def true_at_padding(tokens: Tensor) -> Tensor:
    return tokens == 0


@mistake(
    "padding_mask",
    "shape",
    "query rows masked",
    symptom="The mask hides the rows of padded queries; padded keys stay visible.",
    cause="The axis of the tokens stands at the queries: a padding mask hides keys, (B, 1, 1, S).",
    section="Break it: masks that are nearly right",
    seen="nn.MultiheadAttention causes gradients to become NaN under some use cases, "
    "https://github.com/pytorch/pytorch/issues/41508",
)
def rows_hidden(real: Tensor) -> Tensor:
    return real[:, None, :, None]


@mistake(
    "padding_mask",
    "shape",
    "padding mask without its axis of heads",
    symptom="The mask has the shape (B, 1, S).",
    cause="Beside scores (B, H, T, S) its batch axis would meet the heads, silently when B equals "
    "H: insert one more axis, (B, 1, 1, S).",
    section="How a mask spreads",
)
def without_heads_axis(real: Tensor) -> Tensor:
    return real[:, None, :]


@mistake(
    "padding_mask",
    "shape",
    "padding mask without new axes",
    symptom="The mask has the shape (B, S).",
    cause="Beside scores (B, H, T, S) its batch axis would meet the queries: insert the axes of "
    "heads and queries, (B, 1, 1, S).",
    section="How a mask spreads",
)
def without_axes(real: Tensor) -> Tensor:
    return real


@mistake(
    "padding_mask",
    "real",
    "token 1 taken for the padding",
    symptom="Padding is not hidden.",
    cause="The padding is token 0 here (some libraries have it at 1).",
    section="The three masks of one batch",
)
def padding_is_one(tokens: Tensor) -> Tensor:
    return tokens != 1


@mistake(
    "causal_mask",
    "triangle",
    "causal mask transposed",
    symptom="A position sees the future and not the past.",
    cause="This is the upper triangle: row i is the query, so use tril.",
    section="The three masks of one batch",
)
def upper_triangle(ones: Tensor) -> Tensor:
    return torch.triu(ones)


@mistake(
    "causal_mask",
    "triangle",
    "diagonal hidden",
    symptom="A position does not see itself, and the first one sees nothing.",
    cause="The diagonal is left out (diagonal=-1): a position may attend to itself.",
    section="Break it: masks that are nearly right",
)
def diagonal_hidden(ones: Tensor) -> Tensor:
    return torch.tril(ones, diagonal=-1)


@mistake(
    "causal_mask",
    "triangle",
    "next token visible",
    symptom="A position sees the token after it, the one it is to predict.",
    cause="The triangle is one too wide (diagonal=1): use diagonal=0.",
    section="Break it: masks that are nearly right",
)
def next_visible(ones: Tensor) -> Tensor:
    return torch.tril(ones, diagonal=1)


@mistake(
    "causal_mask",
    "triangle",
    "causal mask with the opposite meaning",
    symptom="The mask is True at the future and False elsewhere.",
    cause="True means 'may attend' in this book. (nn.Transformer's masks mean the opposite.)",
    section="PyTorch's modules mean the opposite",
    seen="translate.py not consistent, https://github.com/hkproj/pytorch-transformer/issues/19",
)
def true_at_future(ones: Tensor) -> Tensor:
    return torch.triu(ones, diagonal=1)


@mistake(
    "causal_mask",
    "kind",
    "additive mask in place of a boolean one",
    symptom="The mask holds 0 and -inf instead of True and False.",
    cause="This mask is to be added to the scores, as nn.Transformer's "
    "generate_square_subsequent_mask is; the book's masks are boolean.",
    section="PyTorch's modules mean the opposite",
    kind="convention",
)
def additive(triangle: Tensor) -> Tensor:
    return torch.zeros_like(triangle).masked_fill(triangle == 0, float("-inf"))


@mistake(
    "causal_mask",
    "kind",
    "a mask of numbers",
    symptom="The mask holds 0 and 1 as numbers.",
    cause="Make it boolean: ones and zeros added to scores hide nothing, and ~ does not invert "
    "them.",
    section="PyTorch's modules mean the opposite",
    seen="`attn_mask` in nn.MultiheadAttention is additive, "
    "https://github.com/pytorch/pytorch/issues/21518",
)
def numbers(triangle: Tensor) -> Tensor:
    return triangle


@mistake(
    "target_mask",
    "both",
    "the future forgotten",
    symptom="Every position sees the future: padding alone is hidden.",
    cause="The causal mask is missing: combine both with &.",
    section="The functions in the package",
)
def padding_only(padding: Tensor, causal: Tensor) -> Tensor:
    return padding & torch.ones_like(causal)


@mistake(
    "target_mask",
    "both",
    "the padding forgotten",
    symptom="Padding is visible: only the future is hidden.",
    cause="The padding mask is missing: combine both with &.",
    section="The functions in the package",
)
def causal_only(padding: Tensor, causal: Tensor) -> Tensor:
    return causal & torch.ones_like(padding)


@mistake(
    "target_mask",
    "both",
    "either in place of both",
    symptom="A key is visible if it is real or not in the future; it must be both.",
    cause="The masks are combined with |: use &.",
    section="The functions in the package",
)
def either(padding: Tensor, causal: Tensor) -> Tensor:
    return padding | causal


@mistake(
    "target_mask",
    "padding",
    "query rows of the target masked",
    symptom="The rows of padded queries are hidden, and padded keys stay visible.",
    cause="The axis of the tokens stands at the queries: it must be (B, 1, 1, T).",
    section="Break it: masks that are nearly right",
)
def target_rows_hidden(tokens: Tensor) -> Tensor:
    return (tokens != 0)[:, None, :, None]


@mistake(
    "target_mask",
    "padding",
    "target padding inverted",
    symptom="Only padding is visible.",
    cause="The padding mask is inverted: True means 'may attend'.",
    section="PyTorch's modules mean the opposite",
)
def target_padding_inverted(tokens: Tensor) -> Tensor:
    return (tokens == 0)[:, None, None, :]


@mistake(
    "target_mask",
    "causal",
    "diagonal of the target hidden",
    symptom="A position does not see itself.",
    cause="The causal part leaves the diagonal out (diagonal=-1).",
    section="Break it: masks that are nearly right",
)
def target_diagonal_hidden(tokens: Tensor) -> Tensor:
    return torch.ones(tokens.size(1), tokens.size(1)).tril(-1).bool()


@mistake(
    "target_mask",
    "causal",
    "next target token visible",
    symptom="A position sees the token it is to predict.",
    cause="The causal part is one too wide (diagonal=1).",
    section="Break it: masks that are nearly right",
)
def target_next_visible(tokens: Tensor) -> Tensor:
    return torch.ones(tokens.size(1), tokens.size(1)).tril(1).bool()


@mistake(
    "target_mask",
    "causal",
    "causal part of the target transposed",
    symptom="A position sees the future and not the past.",
    cause="The causal part is the upper triangle: use tril.",
    section="The three masks of one batch",
)
def target_upper(tokens: Tensor) -> Tensor:
    return torch.ones(tokens.size(1), tokens.size(1)).triu().bool()


# --- heads ---------------------------------------------------------------------------------------

SPLIT = "Splitting"
MERGE = "Merging"


@mistake(
    "split_heads",
    "split",
    "heads split with view, not transposed",
    symptom="A head holds a stretch of positions in place of a stretch of features.",
    cause="reshape to (B, H, T, K) only reads memory from left to right: make it (B, T, H, K) "
    "first, then transpose axes 1 and 2.",
    section=SPLIT,
    seen="MultiHeadAttention bug when num_heads is greater than 1, "
    "https://github.com/reczoo/FuxiCTR/issues/30",
)
def split_without_transpose(x: Tensor, n_heads: int) -> Tensor:
    return x.reshape(x.size(0), n_heads, x.size(1), -1)


@mistake(
    "split_heads",
    "split",
    "heads interleaved",
    symptom="Head h holds every H-th feature in place of its own stretch of K neighbours.",
    cause="The features are unfolded as (K, H): unfold them as (H, K). Both work if used "
    "everywhere, but weights do not fit from one to the other.",
    section=SPLIT,
    kind="convention",
)
def split_interleaved(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


@mistake(
    "split_heads",
    "split",
    "heads left behind the positions",
    symptom="The shape is (B, T, H, K): heads and positions have not changed places.",
    cause="The transpose of axes 1 and 2 is missing.",
    section=SPLIT,
)
def split_not_transposed(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1))


@mistake(
    "merge_heads",
    "merge",
    "heads merged without permuting back",
    symptom="A row holds one head's numbers of several positions.",
    cause="reshape reads memory from left to right: transpose axes 1 and 2 first, then merge.",
    section=MERGE,
    seen="Fix several bugs, one critical, "
    "https://github.com/jsbaan/transformer-from-scratch/pull/6",
)
def merged_without_transpose(heads: Tensor) -> Tensor:
    return heads.reshape(heads.size(0), heads.size(2), -1)


@mistake(
    "merge_heads",
    "merge",
    "other axes exchanged before merging",
    symptom="A row holds one feature of several positions.",
    cause="Positions and features have changed places: exchange the axes of heads and positions, "
    "1 and 2.",
    section=MERGE,
)
def merged_over_positions(heads: Tensor) -> Tensor:
    return heads.transpose(2, 3).reshape(heads.size(0), heads.size(2), -1)


@mistake(
    "merge_heads",
    "merge",
    "heads merged interleaved",
    symptom="The features of the heads alternate in place of standing one head after the other.",
    cause="The axes are merged as (K, H): merge them as (H, K). Both work if used everywhere.",
    section=MERGE,
    kind="convention",
)
def merged_interleaved(heads: Tensor) -> Tensor:
    return heads.permute(0, 2, 3, 1).flatten(-2)


@mistake(
    "merge_heads",
    "merge",
    "heads averaged",
    symptom="The shape is (B, T, K): the heads are averaged.",
    cause="Heads stand side by side; the output projection mixes them.",
    section=MERGE,
)
def heads_averaged(heads: Tensor) -> Tensor:
    return heads.mean(dim=1)


CLASS = "The class in the package"


@mistake(
    "multi_head_attention",
    "output",
    "output projection forgotten",
    symptom="The last weight does not matter: the heads stand side by side, unmixed.",
    cause="Multiply the merged heads by w_output.T.",
    section="Break it: three more",
)
def output_forgotten(x: Tensor, weight: Tensor) -> Tensor:
    return x


@mistake(
    "multi_head_attention",
    "merge",
    "several heads merged without permuting back",
    symptom="A row holds one head's numbers of several positions.",
    cause="reshape reads memory from left to right: transpose axes 1 and 2 first, then merge.",
    section=MERGE,
    seen="Fix several bugs, one critical, "
    "https://github.com/jsbaan/transformer-from-scratch/pull/6",
)
def several_merged_wrongly(heads: Tensor) -> Tensor:
    return heads.reshape(heads.size(0), heads.size(2), -1)


@mistake(
    "multi_head_attention",
    "merge",
    "other axes exchanged before several heads are merged",
    symptom="A row holds one feature of several positions.",
    cause="Exchange the axes of heads and positions, 1 and 2, before merging.",
    section=MERGE,
)
def several_merged_over_positions(heads: Tensor) -> Tensor:
    return merged_over_positions(heads)


@mistake(
    "multi_head_attention",
    "key_weight",
    "keys projected with the query's weight",
    symptom="The weight of the keys does not matter.",
    cause="The keys are projected with w_query: use w_key.",
    section=CLASS,
)
def query_weight_for_keys(w_query: Tensor, w_key: Tensor) -> Tensor:
    return w_query


@mistake(
    "multi_head_attention",
    "split",
    "several heads split with view, not transposed",
    symptom="A head holds a stretch of positions in place of a stretch of features.",
    cause="reshape to (B, T, H, K) first, then transpose axes 1 and 2.",
    section=SPLIT,
    steps={"split_query": lambda x, n_heads, key: split_without_transpose(x, n_heads)},
    seen="MultiHeadAttention bug when num_heads is greater than 1, "
    "https://github.com/reczoo/FuxiCTR/issues/30",
)
def several_split_wrongly(x: Tensor, n_heads: int) -> Tensor:
    return split_without_transpose(x, n_heads)


@mistake(
    "multi_head_attention",
    "split",
    "heads interleaved when split",
    symptom="Head h holds every H-th feature in place of its own stretch.",
    cause="Unfold the features as (H, K), not as (K, H).",
    section=SPLIT,
    steps={"split_query": lambda x, n_heads, key: split_interleaved(x, n_heads)},
)
def several_interleaved(x: Tensor, n_heads: int) -> Tensor:
    return split_interleaved(x, n_heads)


@mistake(
    "multi_head_attention",
    "value_weight",
    "values projected with the key's weight",
    symptom="The weight of the values does not matter.",
    cause="The values are projected with w_key: use w_value.",
    section=CLASS,
)
def key_weight_for_values(w_key: Tensor, w_value: Tensor) -> Tensor:
    return w_key


@mistake(
    "multi_head_attention",
    "project_query",
    "queries not projected",
    symptom="The weight of the queries does not matter.",
    cause="Multiply the queries by w_query.T.",
    section=CLASS,
)
def query_not_projected(x: Tensor, weight: Tensor, n_heads: int) -> Tensor:
    return x


@mistake(
    "multi_head_attention",
    "project",
    "weights not transposed",
    symptom="Each projection uses its weight the other way round.",
    cause="This is x @ weight; the book computes x @ weight.T, as nn.Linear does, which stores "
    "one row per output.",
    section="Three projections, or one",
    kind="convention",
    steps={"project_query": lambda x, weight, n_heads: x @ weight, "output": torch.matmul},
)
def not_transposed(x: Tensor, weight: Tensor, n_heads: int) -> Tensor:
    return x @ weight


@mistake(
    "multi_head_attention",
    "scale",
    "scores scaled by d_model",
    symptom="The weights are too even, and more so the more heads there are.",
    cause="The scores are divided by the root of d_model: a head's vectors have d_head numbers.",
    section=CLASS,
    seen="WS04: Attention uses the wrong scaling dimension, "
    "https://github.com/Graylab/DL4Proteins-notebooks/issues/12",
)
def scaled_by_d_model(query: Tensor, value: Tensor) -> float:
    return 1 / math.sqrt(query.size(-1) * query.size(1))


@mistake(
    "multi_head_attention",
    "mask",
    "mask not passed on",
    symptom="The mask changes nothing.",
    cause="It is not handed to the attention of the heads.",
    section=CLASS,
)
def mask_lost(mask: Tensor | None) -> None:
    return None


@mistake(
    "multi_head_attention",
    "mask",
    "mask inverted on the way",
    symptom="What should be hidden is seen, and what should be seen is hidden.",
    cause="True means 'may attend'. (nn.MultiheadAttention means the opposite.)",
    section="PyTorch's modules mean the opposite",
    chapter=8,
)
def mask_inverted(mask: Tensor | None) -> Tensor | None:
    return None if mask is None else ~mask


@mistake(
    "multi_head_attention",
    "split",
    "one head only",
    symptom="The number of heads does not matter.",
    cause="The vectors are never split: there is one head as wide as the model.",
    section=SPLIT,
    steps={"split_query": lambda x, n_heads, key: x[:, None]},
)
def never_split(x: Tensor, n_heads: int) -> Tensor:
    return x[:, None]


@mistake(
    "multi_head_attention",
    "roles",
    "projected keys and values exchanged",
    symptom="The queries are compared with the values, and the keys are averaged.",
    cause="Two arguments have changed places: query, key, value is the order everywhere. (In a "
    "module that is trained from the start, the two weights would only exchange their names.)",
    section=CLASS,
    seen="Returned q,k,v but assigned q,v,k? Is there any difference?, "
    "https://github.com/jsbaan/transformer-from-scratch/issues/1",
)
def projections_exchanged(key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return value, key


def _of_the_first_head(weight: Tensor, n_heads: int) -> Tensor:
    return weight[: weight.size(0) // n_heads].repeat(n_heads, 1)


@mistake(
    "multi_head_attention",
    "project",
    "one projection shared by all heads",
    symptom="All heads are equal: each is the first head again.",
    cause="Every head uses the first K rows of the weights; head h has rows h·K to (h + 1)·K.",
    section=SPLIT,
    steps={
        "project_query": lambda x, weight, n_heads: x @ _of_the_first_head(weight, n_heads).T,
    },
)
def first_head_repeated(x: Tensor, weight: Tensor, n_heads: int) -> Tensor:
    return x @ _of_the_first_head(weight, n_heads).T


@mistake(
    "multi_head_attention",
    "mask",
    "mask without its axis of heads",
    symptom="With as many heads as sentences, each head gets the mask of another sentence; "
    "otherwise it stops.",
    cause="A mask (B, T, S) beside scores (B, H, T, S) puts its sentences at the heads: keep the "
    "axis of heads, (B, 1, T, S).",
    section="How a mask spreads",
    chapter=8,
)
def heads_axis_lost(mask: Tensor | None) -> Tensor | None:
    return mask[:, 0] if mask is not None and mask.dim() == 4 else mask


@mistake(
    "multi_head_attention",
    "split_query",
    "lengths of queries and keys taken for the same",
    symptom="It works where there are as many keys as queries, and stops elsewhere.",
    cause="A shape is built with the wrong length, as in query.view(B, S, H, K): take the length "
    "of each tensor from that tensor.",
    section="All heads at once",
    stops=True,
)
def reshaped_with_source_length(x: Tensor, n_heads: int, key: Tensor) -> Tensor:
    width = x.size(-1) // n_heads
    return x.reshape(x.size(0), key.size(1), n_heads, width).transpose(1, 2)


@mistake(
    "target_mask",
    "both",
    "target mask without its axis of heads",
    symptom="The mask has the shape (B, T, T).",
    cause="Beside scores (B, H, T, T) its batch axis would meet the heads, silently when B equals "
    "H: keep one more axis, (B, 1, T, T).",
    section="How a mask spreads",
)
def target_without_heads_axis(padding: Tensor, causal: Tensor) -> Tensor:
    return (padding & causal)[:, 0]


@mistake(
    "softmax",
    "normalise",
    "axis 1 in place of the last one",
    symptom="It is right for two axes, and wrong for three.",
    cause="dim=1 is the last of two axes only: write dim=-1.",
    section=STABLE,
)
def normalised_over_axis_one(exponentials: Tensor, scores: Tensor) -> Tensor:
    axis = min(1, scores.dim() - 1)
    if exponentials.isinf().any():  # the maximum was not subtracted either
        return exponentials / exponentials.sum(dim=axis, keepdim=True)
    return scores.softmax(dim=axis)


@mistake(
    "softmax",
    "shift",
    "largest of all scores subtracted",
    symptom="A row far below another one gives nan.",
    cause="The maximum is that of the whole tensor: take the maximum of each row, dim=-1.",
    section=STABLE,
)
def shifted_by_the_largest(scores: Tensor) -> Tensor:
    return scores - scores.max()


@mistake(
    "softmax",
    "shift",
    "largest absolute value subtracted",
    symptom="Very negative scores give nan.",
    cause="The largest absolute value of a row of −1000 is +1000: subtract the largest score.",
    section=STABLE,
)
def shifted_by_absolute_value(scores: Tensor) -> Tensor:
    return scores - scores.abs().amax(dim=-1, keepdim=True)


@mistake(
    "softmax",
    "shift",
    "maximum cut off at zero",
    symptom="Very negative scores give nan.",
    cause="The maximum is not allowed below 0: subtract the largest score, whatever its sign.",
    section=STABLE,
)
def shifted_by_clamped_maximum(scores: Tensor) -> Tensor:
    return scores - scores.amax(dim=-1, keepdim=True).clamp(min=0)


@mistake(
    "softmax",
    "normalise",
    "scores divided by their sum",
    symptom="The numbers sum to one, and some of them are negative.",
    cause="The exponential is missing: exp of the scores first, then divide by their sum.",
    section=STABLE,
)
def no_exponential(exponentials: Tensor, scores: Tensor) -> Tensor:
    return scores / scores.sum(dim=-1, keepdim=True)


@mistake(
    "scaled_dot_product_attention",
    "scale",
    "root of the values' width",
    symptom="The weights change with the width of the values.",
    cause="The scores are sums over the width of the keys: divide by the root of key.size(-1).",
    section=ROOT,
)
def by_the_values(query: Tensor, value: Tensor) -> float:
    return 1 / math.sqrt(value.size(-1))


@mistake(
    "scaled_dot_product_attention",
    "average",
    "weights returned beside the output",
    symptom="Two things come back, the output and the weights.",
    cause="Return the output alone.",
    section=FUNCTION,
)
def weights_too(weights: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return weights @ value, weights


@mistake(
    "scaled_dot_product_attention",
    "average",
    "weights in place of the output",
    symptom="The weights come back, (…, T, S), and the values do not matter.",
    cause="Multiply the weights by the values.",
    section=FUNCTION,
)
def weights_alone(weights: Tensor, key: Tensor, value: Tensor) -> Tensor:
    return weights


@mistake(
    "padding_mask",
    "real",
    "<sos> hidden, too",
    symptom="The first token of every target is hidden with the padding.",
    cause="tokens > 1 hides <sos>, which is 1: padding is token 0 alone, tokens != 0.",
    section="The three masks of one batch",
)
def start_hidden(tokens: Tensor) -> Tensor:
    return tokens > 1


@mistake(
    "padding_mask",
    "real",
    "all special tokens hidden",
    symptom="<sos>, <eos> and <unk> are hidden with the padding.",
    cause="tokens > 3 hides four tokens: padding is token 0 alone, tokens != 0.",
    section="The three masks of one batch",
)
def specials_hidden(tokens: Tensor) -> Tensor:
    return tokens > 3


@mistake(
    "padding_mask",
    "real",
    "<eos> hidden, too",
    symptom="The end of each sentence is hidden with the padding.",
    cause="<eos>, 2, is a token that is read: padding is token 0 alone, tokens != 0.",
    section="The three masks of one batch",
)
def end_hidden(tokens: Tensor) -> Tensor:
    return (tokens != 0) & (tokens != 2)


@mistake(
    "padding_mask",
    "real",
    "<sos> and <eos> hidden, too",
    symptom="The first and the last token of each sentence are hidden with the padding.",
    cause="tokens > 2 hides <sos> and <eos>: padding is token 0 alone, tokens != 0.",
    section="The three masks of one batch",
)
def start_and_end_hidden(tokens: Tensor) -> Tensor:
    return tokens > 2


@mistake(
    "padding_mask",
    "real",
    "a padding mask of numbers",
    symptom="The mask holds 0 and 1 as numbers.",
    cause="Make it boolean: ones and zeros added to scores hide nothing, and ~ does not invert "
    "them.",
    section="PyTorch's modules mean the opposite",
)
def padding_as_numbers(tokens: Tensor) -> Tensor:
    return (tokens != 0).float()


@mistake(
    "padding_mask",
    "real",
    "padding of the first sentence for all",
    symptom="Every sentence has the mask of the first one.",
    cause="tokens[0] is one sentence: compare all of them, tokens != 0.",
    section="The three masks of one batch",
)
def first_for_all(tokens: Tensor) -> Tensor:
    return (tokens[:1] != 0).expand(tokens.shape)


@mistake(
    "causal_mask",
    "triangle",
    "first row empty",
    symptom="The first position sees nothing, not even itself.",
    cause="The loop begins at 1: row 0 has one True, too.",
    section="The three masks of one batch",
)
def first_row_empty(ones: Tensor) -> Tensor:
    mask = ones.tril()
    mask[:1] = 0
    return mask


@mistake(
    "causal_mask",
    "triangle",
    "nothing hidden",
    symptom="Every position sees everything.",
    cause="The triangle is missing: torch.tril of the ones.",
    section="The three masks of one batch",
)
def nothing_hidden(ones: Tensor) -> Tensor:
    return ones


@mistake(
    "causal_mask",
    "triangle",
    "diagonal alone",
    symptom="A position sees itself and nothing else.",
    cause="torch.eye is the diagonal alone: the past must be visible, too, so use torch.tril.",
    section="The three masks of one batch",
)
def diagonal_alone(ones: Tensor) -> Tensor:
    return torch.eye(len(ones))


@mistake(
    "causal_mask",
    "kind",
    "causal mask with axes in front",
    symptom="The mask has the shape (1, 1, T, T).",
    cause="(T, T) is asked for; it spreads over sentences and heads by itself.",
    section="How a mask spreads",
    kind="convention",
)
def axes_in_front(triangle: Tensor) -> Tensor:
    return triangle.bool()[None, None]


@mistake(
    "target_mask",
    "padding",
    "<sos> of the target hidden, too",
    symptom="The first token of every target is hidden with the padding.",
    cause="tokens > 1 hides <sos>, which is 1: padding is token 0 alone, tokens != 0.",
    section="The three masks of one batch",
)
def target_start_hidden(tokens: Tensor) -> Tensor:
    return (tokens > 1)[:, None, None, :]


@mistake(
    "target_mask",
    "padding",
    "all special tokens of the target hidden",
    symptom="<sos>, <eos> and <unk> are hidden with the padding.",
    cause="tokens > 3 hides four tokens: padding is token 0 alone, tokens != 0.",
    section="The three masks of one batch",
)
def target_specials_hidden(tokens: Tensor) -> Tensor:
    return (tokens > 3)[:, None, None, :]


@mistake(
    "target_mask",
    "padding",
    "<eos> of the target hidden, too",
    symptom="The end of each sentence is hidden with the padding.",
    cause="<eos>, 2, is a token that is read: padding is token 0 alone, tokens != 0.",
    section="The three masks of one batch",
)
def target_end_hidden(tokens: Tensor) -> Tensor:
    return ((tokens != 0) & (tokens != 2))[:, None, None, :]


@mistake(
    "target_mask",
    "padding",
    "padding of the first target for all",
    symptom="Every sentence has the padding of the first one.",
    cause="tokens[0] is one sentence: compare all of them, tokens != 0.",
    section="The three masks of one batch",
)
def first_target_for_all(tokens: Tensor) -> Tensor:
    return (tokens[:1] != 0).expand(tokens.shape)[:, None, None, :]


@mistake(
    "target_mask",
    "both",
    "diagonal of the target always open",
    symptom="A padding sees itself.",
    cause="The diagonal is set to True at the end: a hidden key stays hidden, from itself, too.",
    section="The functions in the package",
)
def diagonal_open(padding: Tensor, causal: Tensor) -> Tensor:
    return padding & causal | torch.eye(len(causal), dtype=torch.bool)


@mistake(
    "target_mask",
    "both",
    "a target mask of numbers",
    symptom="The mask holds 0 and 1 as numbers.",
    cause="The masks are multiplied as numbers: make them boolean, and combine them with &.",
    section="PyTorch's modules mean the opposite",
)
def target_as_numbers(padding: Tensor, causal: Tensor) -> Tensor:
    return padding.float() * causal.float()


@mistake(
    "split_heads",
    "split",
    "sentences and heads exchanged",
    symptom="The shape is (H, B, T, K): the heads stand before the sentences.",
    cause="The batch stays in front: exchange axes 1 and 2 of (B, T, H, K), not 0 and 2.",
    section=SPLIT,
)
def heads_first(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).permute(2, 0, 1, 3)


@mistake(
    "split_heads",
    "split",
    "number of heads taken for their width",
    symptom="There are D / H heads, each n_heads wide.",
    cause="The last axis is unfolded as (D / H, H): unfold it as (H, D / H).",
    section=SPLIT,
)
def width_for_number(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (-1, n_heads)).transpose(1, 2)


@mistake(
    "split_heads",
    "split",
    "features before positions in each head",
    symptom="The shape is (B, H, K, T): the last two axes are exchanged, too.",
    cause="Only the axes of heads and positions change places: transpose(1, 2), once.",
    section=SPLIT,
)
def features_first(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).permute(0, 2, 3, 1)


@mistake(
    "merge_heads",
    "merge",
    "heads in reverse order",
    symptom="The last head stands first.",
    cause="Head 0 has the first K features, head 1 the next ones.",
    section=MERGE,
)
def heads_reversed(heads: Tensor) -> Tensor:
    return heads.flip(1).transpose(1, 2).flatten(-2)


@mistake(
    "merge_heads",
    "merge",
    "heads summed",
    symptom="The shape is (B, T, K): the heads are added up.",
    cause="Heads stand side by side; the output projection mixes them.",
    section=MERGE,
)
def heads_summed(heads: Tensor) -> Tensor:
    return heads.sum(dim=1)


@mistake(
    "merge_heads",
    "merge",
    "heads and features not put together",
    symptom="The shape is (B, T, H, K): the last two axes are still apart.",
    cause="After the transpose the last two axes become one: flatten(-2).",
    section=MERGE,
)
def heads_left_apart(heads: Tensor) -> Tensor:
    return heads.transpose(1, 2)


@mistake(
    "multi_head_attention",
    "sources",
    "values made from the key",
    symptom="The argument `value` does not matter.",
    cause="The values are made by self.value(key): project them from `value`, self.value(value).",
    section=CLASS,
)
def values_from_key(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return key, key


@mistake(
    "multi_head_attention",
    "sources",
    "keys made from the value",
    symptom="The argument `key` does not matter.",
    cause="The keys are made by self.key(value): project them from `key`, self.key(key).",
    section=CLASS,
)
def keys_from_value(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return value, value


@mistake(
    "multi_head_attention",
    "sources",
    "keys and values made from the query",
    symptom="The arguments `key` and `value` do not matter: this is self-attention.",
    cause="Project the keys from `key` and the values from `value`: in the decoder they are the "
    "memory.",
    section=CLASS,
)
def all_from_query(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return query, query


@mistake(
    "multi_head_attention",
    "sources",
    "arguments key and value exchanged",
    symptom="Keys are made from `value`, and values from `key`.",
    cause="Two arguments have changed places: query, key, value is the order everywhere.",
    section=CLASS,
)
def arguments_exchanged(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
    return value, key


@mistake(
    "multi_head_attention",
    "output",
    "output weight not transposed",
    symptom="The output projection uses its weight the other way round.",
    cause="Transpose it as the other weights are: heads @ w_output.T, not heads @ w_output.",
    section="Three projections, or one",
)
def output_not_transposed(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight


@mistake(
    "multi_head_attention",
    "split",
    "one head, scaled as if there were several",
    symptom="The heads are never split, though the scores are divided by the root of D / H.",
    cause="There is one head as wide as the model: split queries, keys and values.",
    section=SPLIT,
    steps={
        "split_query": lambda x, n_heads, key: (x * n_heads**0.5)[:, None],
    },
)
def one_wide_head(x: Tensor, n_heads: int) -> Tensor:
    return x[:, None]


@mistake(
    "multi_head_attention",
    "mask",
    "mask of the first sentence for all",
    symptom="Every sentence has the mask of the first one.",
    cause="mask[0] is the mask of one sentence: hand over all of them.",
    section=CLASS,
)
def first_mask_for_all(mask: Tensor | None) -> Tensor | None:
    return mask[:1] if mask is not None and mask.dim() == 4 else mask


# What is wrong in the attention of one head is wrong in that of several.
IN_SEVERAL_HEADS = (
    "scores not scaled",
    "scores divided by d_k without the root",
    "scores multiplied by the root of d_k",
    "scores divided by the root of the number of queries",
    "weights scaled after the softmax",
    "softmax over the queries",
    "softmax over the first axis",
    "attention with a softmax without dim",
    "no softmax",
    "mask applied after the softmax",
    "boolean mask added to the scores",
    "hidden scores set to zero",
    "keys averaged in place of values",
    "scores of queries with queries",
    "scores of keys with keys",
    "cosine in place of the dot product",
)
# There are four axes here.
OTHERWISE_SAID = {
    "attention with a softmax without dim": {
        "symptom": "The weights sum to one over the heads, but not over the keys.",
        "cause": "The softmax runs over axis 1 of the scores (B, H, T, S), the heads, as it does "
        "with dim=1 or without dim: write dim=-1.",
    }
}
MISTAKES.extend(
    replace(
        known,
        name=f"in several heads: {known.name}",
        component="multi_head_attention",
        chapter=known.chapter or 7,
        seen="",  # said of the mistake in one head
        **OTHERWISE_SAID.get(known.name, {}),
    )
    for known in tuple(MISTAKES)
    if known.component == "scaled_dot_product_attention" and known.name in IN_SEVERAL_HEADS
)

# --- harmless ------------------------------------------------------------------------------------


@mistake(
    "scaled_dot_product_attention",
    "scores",
    "queries scaled in place of scores",
    symptom="Nothing changes: the same scores come out.",
    cause="A factor can be pulled out of a product; it is even cheaper before it.",
    section=ROOT,
    kind="harmless",
    steps={"scale": not_scaled},
)
def queries_scaled(query: Tensor, key: Tensor) -> Tensor:
    return query / math.sqrt(query.size(-1)) @ key.transpose(-2, -1)


@mistake(
    "scaled_dot_product_attention",
    "hide",
    "-1e9 in place of the lowest number",
    symptom="Nothing changes, as long as scores are far from a billion.",
    cause="Any number that low has a weight of zero. (Half precision cannot hold it: use "
    "torch.finfo(dtype).min.)",
    section=EMPTY,
    chapter=8,
    kind="harmless",
)
def hidden_by_a_billion(scores: Tensor, mask: Tensor) -> Tensor:
    return scores.masked_fill(~mask, -1e9)


@mistake(
    "multi_head_attention",
    "scores",
    "a bias on the keys",
    symptom="Nothing changes, whatever the bias is: it can learn nothing.",
    cause="It adds the same number to all scores of a query, and a softmax does not notice.",
    section="Three projections, or one",
    kind="harmless",
)
def keys_moved(query: Tensor, key: Tensor) -> Tensor:
    bias = torch.linspace(-1, 1, key.size(-1))
    return query @ (key + bias).transpose(-2, -1)
