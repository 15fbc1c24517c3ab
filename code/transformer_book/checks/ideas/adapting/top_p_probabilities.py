"""Top p probabilities (chapter 27): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal

FOUR = torch.tensor([[0.15, 0.5, 0.1, 0.25]]).log()


def top_p_cases() -> Sequence[Case]:
    many = torch.arange(150.0)[None] / 100
    many[:, 70] = float("-inf")
    return (
        Case("four tokens, p = 0.7", (FOUR, 0.7)),
        Case("four tokens, p = 0.8", (FOUR, 0.8)),
        Case("less than the likeliest has", (FOUR, 0.3)),
        Case("nearly all", (FOUR + 3, 0.95)),
        Case("two rows", (torch.cat([FOUR, FOUR.flip(1) * 3]), 0.6)),
        Case("eight tokens, random", (2 * normal(3, 8, seed=1), 0.995)),
        Case("five tokens, random", (normal(2, 5, seed=2) - 4, 0.5)),
        Case("logits far from zero", (normal(2, 6, seed=3) - 2000, 0.75)),
        # In four bytes 1 / 61 is a little less, and so is the sum of all: on every processor.
        Case("more than rounding leaves", (torch.zeros(1, 61), 1 - 1e-12)),
        Case(
            "logits very far from zero",
            (torch.cat([normal(1, 5, seed=6) + 300, normal(1, 5, seed=7) - 300]), 0.6),
        ),
        Case("150 tokens, one of them ruled out", (many, 0.95)),
        Case("one token", (torch.zeros(1, 1), 0.5)),
        Case("as many rows as tokens, p = 0.1", (0.2 * normal(5, 5, seed=8), 0.1)),
        Case("a p that is nearly 0", (normal(2, 5, seed=9), 1e-8)),
    )


def nucleus(logits: Tensor, top_p: float) -> Tensor:
    p, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    kept = torch.zeros_like(logits).scatter(-1, order, (p.cumsum(dim=-1) - p < top_p).to(p.dtype))
    return kept > 0


def drop(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.masked_fill(~kept, float("-inf"))


TOP_P = Component(
    name="top_p_probabilities",
    chapter=27,
    order=4,
    section="Top-p and min-p, by hand",
    signature="logits, top_p",
    pipeline=lambda s, logits, top_p: s.share(s.drop(logits, s.keep(logits, top_p))),
    steps={"keep": nucleus, "drop": drop, "share": lambda logits: logits.softmax(dim=-1)},
    cases=top_p_cases,
    returns="probabilities `(B, V)`: of each row's fewest likeliest tokens whose probabilities "
    "reach `top_p`, 0 < top_p < 1, summing to one; all others zero; no two tokens are equally "
    "likely, and no sum meets `top_p` exactly",
    differentiable=False,
    done_by="keep_top_p",
    met="random",
    boundaries={
        "logits beyond 100": lambda logits: bool((logits > 100).any()),
        "logits below −100": lambda logits: bool((logits < -100).any()),
        "more than 100 tokens": lambda logits: logits.size(1) > 100,
        "a token that is ruled out": lambda logits: bool(logits.isinf().any()),
        "one token": lambda logits: logits.size(1) == 1,
        "as many rows as tokens": lambda logits: 1 < logits.size(0) == logits.size(1),
        "p below 0.2": lambda top_p: top_p < 0.2,
        "p below what rounding leaves": lambda top_p: top_p < 1e-7,
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(TOP_P)


def of_rank(logits: Tensor, kept: Callable[[Tensor], Tensor], descending: bool = True) -> Tensor:
    """Which tokens stay, by a rule for their sorted probabilities."""
    p, order = logits.softmax(dim=-1).sort(dim=-1, descending=descending)
    return torch.zeros_like(logits).scatter(-1, order, kept(p).to(p.dtype)) > 0


def at_least_one(kept: Tensor) -> Tensor:
    kept = kept.clone()
    kept[..., 0] = True
    return kept


@mistake(
    "keep",
    "nucleus one token too small",
    symptom="The token with which the sum passes top_p is dropped, even where it is the likeliest.",
    cause="Drop a token if those *before* it reach top_p: subtract its own probability.",
)
def one_too_few(logits: Tensor, top_p: float) -> Tensor:
    return of_rank(logits, lambda p: p.cumsum(dim=-1) <= top_p)


@mistake(
    "keep",
    "nucleus one token too small, but never empty",
    symptom="The token with which the sum passes top_p is dropped, unless it is the likeliest.",
    cause="Drop a token if those *before* it reach top_p: subtract its own probability.",
)
def one_too_few_never_none(logits: Tensor, top_p: float) -> Tensor:
    return of_rank(logits, lambda p: at_least_one(p.cumsum(dim=-1) <= top_p))


@mistake(
    "keep",
    "cumulative sum without sorting",
    symptom="Which tokens stay depends on their ids.",
    cause="Sort by probability, add up, and scatter the decision back to the tokens' places.",
)
def unsorted(logits: Tensor, top_p: float) -> Tensor:
    p = logits.softmax(dim=-1)
    return p.cumsum(dim=-1) - p < top_p


@mistake(
    "keep",
    "sorted and not put back",
    symptom="The right number of tokens stays, but always those with the first ids.",
    cause="Scatter the decision from sorted order back to the places of the tokens.",
)
def not_put_back(logits: Tensor, top_p: float) -> Tensor:
    p = logits.softmax(dim=-1).sort(dim=-1, descending=True).values
    return p.cumsum(dim=-1) - p < top_p


@mistake(
    "keep",
    "the unlikely ones first",
    symptom="The nucleus begins with the least likely token.",
    cause="Begin with the likeliest token: sort the probabilities with descending=True, and add "
    "up those before each token.",
)
def ascending(logits: Tensor, top_p: float) -> Tensor:
    return of_rank(logits, lambda p: p.cumsum(dim=-1) - p < top_p, descending=False)


@mistake(
    "keep",
    "top-p of 1 − p",
    symptom="The likeliest tokens that together reach 1 − top_p stay.",
    cause="Keep the likeliest tokens until they reach top_p, not 1 − top_p.",
)
def complement(logits: Tensor, top_p: float) -> Tensor:
    return of_rank(logits, lambda p: p.cumsum(dim=-1) - p < 1 - top_p)


@mistake(
    "drop",
    "outside the nucleus set to zero",
    symptom="Dropped tokens can still be drawn: the exponential of zero is one.",
    cause="Set the logits of dropped tokens to −inf.",
)
def nucleus_to_zero(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.masked_fill(~kept, 0.0)


@mistake(
    "drop",
    "nucleus not shared out anew",
    symptom="Where tokens are dropped, the probabilities of the others sum to less than one.",
    cause="Take the softmax after dropping the others, or divide by the sum.",
    steps={"share": lambda p: p},
)
def not_shared(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.softmax(dim=-1) * kept


@mistake(
    "drop",
    "gathered in place of scattered back",
    met=("nonsense", 0),
    symptom="Each row has the right number of tokens, but often at the places of others.",
    cause="sort() says which token stands at each rank: put sorted numbers back with scatter(-1, "
    "order, …), not with gather(-1, order).",
    seen="A bug in the implementation of the top-p sampling, "
    "https://github.com/lucidrains/PaLM-rlhf-pytorch/issues/60",
)
def gathered(logits: Tensor, kept: Tensor) -> Tensor:
    ranked, order = logits.sort(dim=-1, descending=True)
    return drop(ranked, kept.gather(-1, order)).gather(-1, order)


@mistake(
    "keep",
    "logarithms added up to top_p",
    symptom="Nothing is ever dropped.",
    cause="Set the logits behind those whose probabilities, added up, reach top_p to −inf, and "
    "take the softmax of what comes out. (Logarithms, added up, never reach it.)",
    seen="The reference top k sampler is incorrect, https://github.com/skyzh/tiny-llm/issues/32",
)
def logarithms_added(logits: Tensor, top_p: float) -> Tensor:
    return of_rank(logits, lambda p: p.log().cumsum(dim=-1) < top_p)


@mistake(
    "drop",
    "softmax of the nucleus taken twice",
    symptom="Where several tokens are kept, their probabilities are too even.",
    cause="Take the last softmax of logits, not of probabilities, or divide the kept "
    "probabilities by their sum.",
)
def of_probabilities(logits: Tensor, kept: Tensor) -> Tensor:
    return logits.softmax(dim=-1).masked_fill(~kept, float("-inf"))
