"""Known mistakes of chapter 28: weights copied in the wrong order or not transposed."""

from __future__ import annotations

import torch
from torch import Tensor

from transformer_book.checks.mistakes.registry import mistake

# --- queries, keys and values in one matrix ------------------------------------------------------

STACKED = "Three matrices in one, by hand"
Parts = tuple[Tensor, ...]


@mistake(
    "split_stacked",
    "turn",
    "stacked matrix not transposed",
    symptom="The three matrices are cut correctly, but each is transposed.",
    cause="GPT-2 computes x @ weight, nn.Linear x @ weight.T: transpose each. Square matrices fit "
    "either way.",
    section="Break it: square matrices",
)
def not_turned(columns: Tensor) -> Tensor:
    return columns


@mistake(
    "split_stacked",
    "cut",
    "stacked matrix reshaped, not cut",
    symptom="Each matrix holds pieces of queries, keys and values.",
    cause="reshape(3, D, D) reads row by row; the three stand side by side: chunk(3, dim=1).",
    section=STACKED,
)
def reshaped(weight: Tensor) -> Parts:
    return weight.reshape(3, weight.size(0), weight.size(0)).unbind(0)


@mistake(
    "split_stacked",
    "cut",
    "every third column",
    symptom="Each matrix holds every third column.",
    cause="The columns of the queries stand together, in the first third: chunk(3, dim=1), not a "
    "step of 3.",
    section=STACKED,
    steps={"cut_bias": lambda bias: tuple(bias[i::3] for i in range(3))},
)
def every_third(weight: Tensor) -> Parts:
    return tuple(weight[:, i::3] for i in range(3))


@mistake(
    "split_stacked",
    "order",
    "queries and keys exchanged",
    symptom="Queries and keys have changed places: who asks and who answers is turned round.",
    cause="c_attn stacks queries, keys, values, in this order.",
    section="Break it: queries for keys",
    steps={"order_bias": lambda parts: (parts[1], parts[0], parts[2])},
)
def keys_first(parts: Parts) -> Parts:
    return parts[1], parts[0], parts[2]


@mistake(
    "split_stacked",
    "order",
    "keys and values exchanged",
    symptom="Keys and values have changed places.",
    cause="c_attn stacks queries, keys, values, in this order.",
    section=STACKED,
    steps={"order_bias": lambda parts: (parts[0], parts[2], parts[1])},
)
def values_second(parts: Parts) -> Parts:
    return parts[0], parts[2], parts[1]


@mistake(
    "split_stacked",
    "order",
    "values first",
    symptom="The values come first, then queries, then keys.",
    cause="c_attn stacks queries, keys, values, in this order.",
    section=STACKED,
    steps={"order_bias": lambda parts: (parts[2], parts[0], parts[1])},
)
def values_first(parts: Parts) -> Parts:
    return parts[2], parts[0], parts[1]


@mistake(
    "split_stacked",
    "cut_bias",
    "stacked bias forgotten",
    symptom="The three biases are zero.",
    cause="c_attn has a bias, too: cut it into three, as the columns of the matrix.",
    section=STACKED,
)
def no_bias(bias: Tensor) -> Parts:
    return torch.zeros_like(bias).chunk(3)


@mistake(
    "split_stacked",
    "cut_bias",
    "one bias for all three",
    symptom="Keys and values have the bias of the queries.",
    cause="The bias is as long as all three together: cut it into three, too.",
    section=STACKED,
)
def first_bias(bias: Tensor) -> Parts:
    return (bias[: len(bias) // 3],) * 3


@mistake(
    "split_stacked",
    "order_bias",
    "biases in another order than the matrices",
    symptom="The matrices are right, the biases of queries and keys have changed places.",
    cause="Cut matrix and bias with the same slices.",
    section=STACKED,
)
def biases_exchanged(parts: Parts) -> Parts:
    return parts[1], parts[0], parts[2]


# --- the two ways to pair features ---------------------------------------------------------------

PAIRS = "Which features are a pair, by hand"
OTHER_PAIRS = "Break it: the other pairs"


@mistake(
    "paired_by_halves",
    "first_and_second",
    "rows left as they are",
    symptom="No row has moved: the heads still pair neighbours.",
    cause="In each head, take the first features of all pairs, then the second ones.",
    section=OTHER_PAIRS,
)
def unmoved(pairs: Tensor) -> Tensor:
    return pairs


@mistake(
    "paired_by_halves",
    "unfold",
    "pairs taken the other way round",
    symptom="The rows are moved from halves to neighbours; they were neighbours, and should become "
    "halves.",
    cause="Unfold each head into (K/2, 2) and exchange the two axes; (2, K/2) is the way back.",
    section=PAIRS,
)
def way_back(weight: Tensor, n_heads: int) -> Tensor:
    return weight.unflatten(0, (n_heads, 2, -1))


@mistake(
    "paired_by_halves",
    "unfold",
    "all heads taken for one",
    symptom="Rows have left their head.",
    cause="The even rows of the whole matrix come first: do it within each head.",
    section=PAIRS,
)
def one_head(weight: Tensor, n_heads: int) -> Tensor:
    return weight.unflatten(0, (1, -1, 2))


@mistake(
    "paired_by_halves",
    "first_and_second",
    "second features first",
    symptom="The second features of the pairs come first: each pair is turned the other way.",
    cause="The first feature of a pair goes to place i, the second to i + K/2.",
    section=PAIRS,
)
def second_first(pairs: Tensor) -> Tensor:
    return pairs.transpose(1, 2).flip(1)


@mistake(
    "paired_by_halves",
    "unfold",
    "heads interleaved in the rows",
    symptom="A row is taken for that of another head.",
    cause="The K rows of a head stand together: unfold into (H, K), not (K, H).",
    section=PAIRS,
)
def heads_inside(weight: Tensor, n_heads: int) -> Tensor:
    return weight.unflatten(0, (-1, n_heads)).transpose(0, 1).unflatten(1, (-1, 2))


@mistake(
    "paired_by_halves",
    "unfold",
    "columns permuted, not rows",
    symptom="The columns have moved, the rows have not.",
    cause="nn.Linear's weight is (out, in): the features of queries and keys are its rows.",
    section=PAIRS,
    steps={"fold": lambda pairs: pairs.flatten(0, 2).T},
)
def columns(weight: Tensor, n_heads: int) -> Tensor:
    return weight.T.unflatten(0, (n_heads, -1, 2))
