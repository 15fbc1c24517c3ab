"""Known mistakes of chapter 27: LoRA, and what a draw may choose."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from transformer_book.checks.mistakes.registry import mistake

HAND = "LoRA, by hand"
FACTOR = "Break it: the factor forgotten"
START = "Break it: a start that is not zero"
TWICE = "Break it: merged twice"
DRAW = "Top-p and min-p, by hand"

# --- LoRA ----------------------------------------------------------------------------------------


@mistake(
    "lora",
    "factor",
    "α/r forgotten",
    symptom="The change is added as it is, and α does nothing.",
    cause="Multiply the change by α over the rank.",
    section=FACTOR,
)
def factor_of_one(alpha: float, down: Tensor) -> float:
    return 1.0


@mistake(
    "lora",
    "factor",
    "α not divided by the rank",
    symptom="The change is r times too large: with each rank the steps have another size.",
    cause="The factor is α / r: divide by the number of rows of `down`.",
    section=FACTOR,
)
def alpha_alone(alpha: float, down: Tensor) -> float:
    return alpha


@mistake(
    "lora",
    "factor",
    "α times the rank",
    symptom="The change is r² times too large.",
    cause="Divide α by the rank, do not multiply.",
    section=FACTOR,
)
def alpha_times_rank(alpha: float, down: Tensor) -> float:
    return alpha * down.size(0)


@mistake(
    "lora",
    "factor",
    "rank read off the wrong axis",
    symptom="The change is divided by the width of the input.",
    cause="`down` is (r, I): its rank is the number of rows, down.size(0).",
    section=FACTOR,
)
def rank_of_columns(alpha: float, down: Tensor) -> float:
    return alpha / down.size(1)


@mistake(
    "lora",
    "factor",
    "the root of the rank",
    symptom="The change is larger by a factor of the root of r.",
    cause="This is rsLoRA's factor, α/√r, which is just as consistent; but adapters made for one "
    "do not fit the other, and the learning rate means something else.",
    section=FACTOR,
    kind="convention",
)
def root_of_rank(alpha: float, down: Tensor) -> float:
    return alpha / down.size(0) ** 0.5


@mistake(
    "lora",
    "join",
    "base weight left out",
    symptom="Only the change arrives: the model has forgotten all it knew.",
    cause="Add the output of the frozen weight.",
    section=HAND,
)
def change_alone(base: Tensor, change: Tensor, factor: float, x: Tensor) -> Tensor:
    return factor * change


@mistake(
    "lora",
    "join",
    "the sum scaled",
    symptom="The frozen layer's output is multiplied by α/r, too.",
    cause="Only the change has the factor: base + α/r · change.",
    section=HAND,
)
def sum_scaled(base: Tensor, change: Tensor, factor: float, x: Tensor) -> Tensor:
    return factor * (base + change)


@mistake(
    "lora",
    "join",
    "change of LoRA scaled twice",
    symptom="The change has the factor (α/r)².",
    cause="Both matrices were scaled, or two lines scale: once is enough.",
    section=FACTOR,
)
def factor_twice(base: Tensor, change: Tensor, factor: float, x: Tensor) -> Tensor:
    return base + factor**2 * change


@mistake(
    "lora",
    "join",
    "input in place of the base",
    symptom="The input comes through where the frozen weight should have acted.",
    cause="This is a residual adapter: add weight · x, not x.",
    section=HAND,
)
def input_added(base: Tensor, change: Tensor, factor: float, x: Tensor) -> Tensor:
    return x + factor * change


@mistake(
    "lora",
    "change",
    "down and up exchanged",
    symptom="The change is that of the transposed matrix.",
    cause="x meets `down` first and `up` second, each transposed: x @ down.T @ up.T.",
    section=HAND,
)
def exchanged(x: Tensor, down: Tensor, up: Tensor) -> Tensor:
    return x @ up @ down


@mistake(
    "lora",
    "base",
    "frozen weight not transposed",
    symptom="The frozen layer multiplies from the other side.",
    cause="A weight is (O, I): x @ weight.T.",
    section=HAND,
)
def base_transposed(x: Tensor, weight: Tensor) -> Tensor:
    return x @ weight


# --- merged --------------------------------------------------------------------------------------


@mistake(
    "merged_weight",
    "factor",
    "merged without α/r",
    symptom="The merged layer gives other numbers than the layer with its adapter.",
    cause="Multiply the product up @ down by α / r, as the adapter's output is multiplied.",
    section=FACTOR,
)
def merged_unscaled(alpha: float, down: Tensor) -> float:
    return 1.0


@mistake(
    "merged_weight",
    "factor",
    "merged with α alone",
    symptom="The change is r times too large in the merged weight.",
    cause="Divide α by the rank.",
    section=FACTOR,
)
def merged_alpha(alpha: float, down: Tensor) -> float:
    return alpha


@mistake(
    "merged_weight",
    "join",
    "the change alone is merged",
    symptom="The frozen weight is lost.",
    cause="Add the change to the weight.",
    section="Merging",
)
def merged_change(weight: Tensor, change: Tensor, factor: float) -> Tensor:
    return factor * change


@mistake(
    "merged_weight",
    "join",
    "merged twice",
    symptom="The change is in the weight twice.",
    cause="What is merged already is merged again: each adapter is added once.",
    section=TWICE,
)
def merged_twice(weight: Tensor, change: Tensor, factor: float) -> Tensor:
    return weight + 2 * factor * change


@mistake(
    "merged_weight",
    "join",
    "subtracted in place of added",
    symptom="The change has the wrong sign: this takes an adapter out again.",
    cause="Merging adds; unmerging subtracts.",
    section=TWICE,
)
def unmerged(weight: Tensor, change: Tensor, factor: float) -> Tensor:
    return weight - factor * change


@mistake(
    "merged_weight",
    "change",
    "product of the adapter transposed",
    symptom="The change is added with rows and columns exchanged.",
    cause="The weight is (O, I), and so is up @ down.",
    section="Merging",
)
def product_transposed(down: Tensor, up: Tensor) -> Tensor:
    return down.T @ up.T


# --- how it begins -------------------------------------------------------------------------------


@mistake(
    "lora_start",
    "up",
    "B not zero",
    symptom="Before the first update the model is another one already.",
    cause="Begin `up` with zeros: then the change is zero, whatever `down` is.",
    section=START,
)
def up_drawn(rows: int, rank: int, draw: Callable[..., Tensor]) -> Tensor:
    return draw(rows, rank)


@mistake(
    "lora_start",
    "down",
    "A and B both zero",
    symptom="Nothing is ever learned: the gradient of each is multiplied by the other.",
    cause="Draw `down` at random; only `up` begins with zeros.",
    section=START,
)
def down_zero(rank: int, columns: int, draw: Callable[..., Tensor]) -> Tensor:
    return torch.zeros(rank, columns)


@mistake(
    "lora_start",
    "up",
    "A zero in place of B",
    symptom="`down` is zero and `up` is random.",
    cause="The product is zero as well, so it works, too; Hu et al. and their followers begin with "
    "a random `down` and `up` = 0.",
    section=START,
    kind="convention",
    steps={"down": lambda rank, columns, draw: torch.zeros(rank, columns)},
)
def up_random(rows: int, rank: int, draw: Callable[..., Tensor]) -> Tensor:
    return draw(rows, rank)


@mistake(
    "lora_start",
    "up",
    "B of ones",
    symptom="`up` is full of ones: the model changes before it has learned.",
    cause="Begin `up` with zeros.",
    section=START,
)
def up_ones(rows: int, rank: int, draw: Callable[..., Tensor]) -> Tensor:
    return torch.ones(rows, rank)


# --- top-p ---------------------------------------------------------------------------------------


def of_rank(logits: Tensor, kept: Callable[[Tensor], Tensor], descending: bool = True) -> Tensor:
    """Which tokens stay, by a rule for their sorted probabilities."""
    p, order = logits.softmax(dim=-1).sort(dim=-1, descending=descending)
    return torch.zeros_like(logits).scatter(-1, order, kept(p).to(p.dtype)) > 0


def at_least_one(kept: Tensor) -> Tensor:
    kept = kept.clone()
    kept[..., 0] = True
    return kept


@mistake(
    "top_p_probabilities",
    "keep",
    "nucleus one token too small",
    symptom="The token with which the sum reaches top_p is dropped; where the model is sure, none "
    "is left.",
    cause="Drop a token if those *before* it reach top_p: subtract its own probability.",
    section=DRAW,
)
def one_too_few(logits: Tensor, top_p: float) -> Tensor:
    return of_rank(logits, lambda p: p.cumsum(dim=-1) <= top_p)


@mistake(
    "top_p_probabilities",
    "keep",
    "nucleus one token too small, but never empty",
    symptom="The token with which the sum reaches top_p is dropped, unless it is the likeliest.",
    cause="Drop a token if those *before* it reach top_p: subtract its own probability.",
    section=DRAW,
)
def one_too_few_never_none(logits: Tensor, top_p: float) -> Tensor:
    return of_rank(logits, lambda p: at_least_one(p.cumsum(dim=-1) <= top_p))


@mistake(
    "top_p_probabilities",
    "keep",
    "cumulative sum without sorting",
    symptom="Which tokens stay depends on their ids.",
    cause="Sort by probability first, then add up.",
    section=DRAW,
)
def unsorted(logits: Tensor, top_p: float) -> Tensor:
    p = logits.softmax(dim=-1)
    return p.cumsum(dim=-1) - p < top_p


@mistake(
    "top_p_probabilities",
    "keep",
    "sorted and not put back",
    symptom="The right number of tokens stays, but always those with the first ids.",
    cause="The decision is in sorted order: scatter it back to the places of the tokens.",
    section=DRAW,
)
def not_put_back(logits: Tensor, top_p: float) -> Tensor:
    p = logits.softmax(dim=-1).sort(dim=-1, descending=True).values
    return p.cumsum(dim=-1) - p < top_p


@mistake(
    "top_p_probabilities",
    "keep",
    "the unlikely ones first",
    symptom="The nucleus begins with the least likely token.",
    cause="sort() is ascending: pass descending=True.",
    section=DRAW,
)
def ascending(logits: Tensor, top_p: float) -> Tensor:
    return of_rank(logits, lambda p: p.cumsum(dim=-1) - p < top_p, descending=False)


@mistake(
    "top_p_probabilities",
    "keep",
    "top-p of 1 − p",
    symptom="The tokens that together have 1 − top_p stay.",
    cause="Keep what sums to top_p; 1 − top_p is what is cut off.",
    section=DRAW,
)
def complement(logits: Tensor, top_p: float) -> Tensor:
    return of_rank(logits, lambda p: p.cumsum(dim=-1) - p < 1 - top_p)


@mistake(
    "top_p_probabilities",
    "drop",
    "outside the nucleus set to zero",
    symptom="Dropped tokens can still be drawn: the exponential of zero is one.",
    cause="Set their logits to −inf.",
    section=DRAW,
)
def nucleus_to_zero(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.masked_fill(~kept, 0.0)


def not_shared(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.softmax(dim=-1) * kept


def of_probabilities(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.softmax(dim=-1).masked_fill(~kept, float("-inf"))


for component, kind in (("top_p_probabilities", "nucleus"), ("min_p_probabilities", "min-p")):
    mistake(
        component,
        "drop",
        f"{kind} not shared out anew",
        symptom="The probabilities of the kept tokens do not sum to one.",
        cause="Take the softmax after dropping the others, or divide by the sum.",
        section=DRAW,
        steps={"share": lambda p: p},
    )(not_shared)
    mistake(
        component,
        "drop",
        f"softmax of the {kind} taken twice",
        symptom="The kept probabilities are too even.",
        cause="What goes into the last softmax are probabilities: drop logits, or divide by the "
        "sum.",
        section=DRAW,
    )(of_probabilities)


# --- min-p ---------------------------------------------------------------------------------------


@mistake(
    "min_p_probabilities",
    "bound",
    "min-p taken absolutely",
    symptom="Where the model is unsure, few tokens reach the bound, or none.",
    cause="The bound is relative: min_p times the probability of the likeliest token.",
    section=DRAW,
)
def absolute(p: Tensor, min_p: float) -> Tensor:
    return torch.full_like(p[..., :1], min_p)


@mistake(
    "min_p_probabilities",
    "bound",
    "min-p relative to the whole batch",
    symptom="Which tokens of a row stay depends on the other rows.",
    cause="Take the largest probability of each row: dim=-1, keepdim=True.",
    section=DRAW,
)
def of_the_batch(p: Tensor, min_p: float) -> Tensor:
    return min_p * p.max().expand_as(p[..., :1])


@mistake(
    "min_p_probabilities",
    "p",
    "min-p on logits",
    symptom="The bound is a share of the largest logit, which may be negative.",
    cause="Compare probabilities: take the softmax first.",
    section=DRAW,
)
def on_logits(logits: Tensor) -> Tensor:
    return logits


@mistake(
    "min_p_probabilities",
    "bound",
    "min-p of 1 − p",
    symptom="The bound is (1 − min_p) times the largest probability.",
    cause="min_p itself is the share: the smaller it is, the more tokens stay.",
    section=DRAW,
)
def bound_of_complement(p: Tensor, min_p: float) -> Tensor:
    return (1 - min_p) * p.amax(dim=-1, keepdim=True)


@mistake(
    "min_p_probabilities",
    "keep",
    "the likely ones dropped",
    symptom="What is below the bound stays.",
    cause="Keep the tokens at or above the bound.",
    section=DRAW,
)
def below(p: Tensor, bound: Tensor) -> Tensor:
    return p < bound


@mistake(
    "min_p_probabilities",
    "drop",
    "below min-p set to zero",
    symptom="Dropped tokens can still be drawn: the exponential of zero is one.",
    cause="Set their logits to −inf.",
    section=DRAW,
)
def below_to_zero(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.masked_fill(~kept, 0.0)
