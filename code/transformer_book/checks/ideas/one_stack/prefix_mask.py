"""Prefix mask (chapter 24): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.ideas.attention.target_mask import spread_out


def prefix_cases() -> Sequence[Case]:
    def real(*rows: str) -> Tensor:
        return torch.tensor([[place == "1" for place in row] for row in rows])

    return (
        Case("three places of the source, three of the target", (real("111111"), 3)),
        Case("padding in the middle", (real("110111", "111111"), 3)),
        Case("padding behind both", (real("11001100", "11111111", "10001000"), 4)),
        Case("a short source, a long target", (real("1111111", "1011110"), 2)),
        Case("a source of one place", (real("1111", "1110", "1011", "1100", "1101"), 1)),
        Case("no prefix", (real("11111", "11100"), 0)),
        Case("nothing but prefix", (real("1111", "1001"), 4)),
        Case("padding in front", (real("000111", "111111", "011011"), 3)),
        Case("as many sentences as places", (real("1101", "1111", "1011", "1110"), 2)),
        Case("a row of padding", (real("000000", "111100"), 3)),
        Case("a text longer than any buffer", (torch.arange(1152)[None] % 7 > 0, 700)),
        Case("five sentences of one place", (real("1", "0", "1", "1", "1"), 1)),
        Case("padding in front, no prefix", (real("0011", "0111", "1000"), 0)),
        Case("a target of padding alone", (real("111000", "011000", "111111"), 3)),
    )


PREFIX_MASK = Component(
    name="prefix_mask",
    chapter=24,
    order=1,
    section="What may see what",
    signature="real, prefix",
    pipeline=lambda s, real, prefix: s.both(
        s.tokens(real, prefix), s.seen(s.causal(real), s.opened(real, prefix))
    ),
    steps={
        "tokens": lambda real, prefix: real[:, None, None, :],
        "causal": lambda real: torch.ones_like(real[0]).expand(real.size(1), -1).tril(),
        "opened": lambda real, prefix: torch.arange(real.size(1)) < prefix,
        "seen": lambda causal, opened: causal | opened,
        "both": lambda keys, seen: keys & seen,
    },
    cases=prefix_cases,
    returns="a boolean mask `(B, 1, S+T, S+T)`, `True` = may attend, for one sequence of source "
    "and target: every place sees the first `prefix` places, itself, and what came before, unless "
    "that is padding; `real` `(B, S+T)` is `False` at the padding, which may stand anywhere",
    settled=spread_out,
    differentiable=False,
    done_by="DecoderOnly.mask",
    met="worse",
    boundaries={
        "one place": lambda real: real.size(1) == 1,
        "more than four sentences": lambda real: len(real) > 4,
        "padding in front, no prefix": lambda real, prefix: bool(
            prefix == 0 and (~real[:, 0] & real.any(1)).any()
        ),
        "a target of padding alone": lambda real, prefix: bool(
            (real[:, :prefix].any(1) & ~real[:, prefix:].any(1)).any()
        ),
    },
)

# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(PREFIX_MASK)


@mistake(
    "seen",
    "prefix ignored",
    symptom="The mask is purely causal: the source is not seen in both directions.",
    cause="Open the first `prefix` places to every query: causal | (place < prefix), from which "
    "padding alone is taken off.",
)
def causal_alone(causal: Tensor, opened: Tensor) -> Tensor:
    return causal


@mistake(
    "seen",
    "prefix visible to itself alone",
    met=("frequencies", 8),
    symptom="The target does not see the source.",
    cause="Open the prefix to every query, those of the target among them.",
)
def two_blocks(causal: Tensor, opened: Tensor) -> Tensor:
    return opened & opened[:, None] | causal & ~opened


@mistake(
    "seen",
    "causal mask forgotten in the target",
    met=("too-good", 19),
    symptom="The target sees its own future.",
    cause="Only the prefix is open: a place of the target sees the prefix, itself, and what came "
    "before.",
)
def future_of_the_target(causal: Tensor, opened: Tensor) -> Tensor:
    return opened | ~opened[:, None]


@mistake(
    "seen",
    "everything visible to everyone",
    met=("too-good", 20),
    symptom="The future is visible: padding alone is hidden.",
    cause="Only the prefix is open to all; of the rest a place sees itself and what came before: "
    "lower triangle | (place < prefix).",
)
def all_open(causal: Tensor, opened: Tensor) -> Tensor:
    return torch.ones_like(causal)


@mistake(
    "seen",
    "places of the prefix see the target",
    met=("too-good", 21),
    symptom="The source sees the target, whose tokens are to be predicted.",
    cause="The prefix is opened at the queries: it belongs to the keys, the last axis.",
)
def prefix_of_queries(causal: Tensor, opened: Tensor) -> Tensor:
    return causal | opened[:, None]


@mistake(
    "seen",
    "and in place of or",
    symptom="Only the prefix is visible: the target does not see its own past.",
    cause="Either is enough: a place sees the prefix and what came before, causal | (place < "
    "prefix).",
)
def and_for_or(causal: Tensor, opened: Tensor) -> Tensor:
    return causal & opened


@mistake(
    "seen",
    "prefix instead of causal",
    symptom="The target sees the source and nothing of itself.",
    cause="A place sees what came before, too: causal | (place < prefix).",
)
def prefix_alone(causal: Tensor, opened: Tensor) -> Tensor:
    return opened & torch.ones_like(causal)


@mistake(
    "opened",
    "prefix one place too long",
    met=("too-good", 23),
    symptom="Every place sees the first place of the target.",
    cause="The prefix has the places 0 to prefix − 1: place < prefix, or mask[..., :prefix].",
)
def one_more(real: Tensor, prefix: int) -> Tensor:
    return torch.arange(real.size(1)) <= prefix


@mistake(
    "opened",
    "prefix one place too short",
    symptom="The places of the source do not see its last one, but for itself.",
    cause="The prefix has the places 0 to prefix − 1: place < prefix, or mask[..., :prefix].",
)
def one_less(real: Tensor, prefix: int) -> Tensor:
    return torch.arange(real.size(1)) < prefix - 1


@mistake(
    "opened",
    "prefix counted in real tokens",
    met=("batch", 21),
    symptom="Where a source is padded, the first tokens of its target are open, too.",
    cause="prefix counts places, padding among them: compare places, not the running sum of real.",
    section="Padding in the middle",
)
def counted_in_tokens(real: Tensor, prefix: int) -> Tensor:
    counts = real.cumsum(dim=1) <= prefix  # (B, S)
    return counts[:, None, None, :]


@mistake(
    "opened",
    "last places open in place of the first",
    met=("too-good", 24),
    symptom="The last `prefix` places are open to everyone, in place of the first.",
    cause="The prefix is the beginning: place < prefix, or mask[..., :prefix].",
)
def suffix(real: Tensor, prefix: int) -> Tensor:
    return torch.arange(real.size(1)) >= real.size(1) - prefix


def square(real: Tensor, prefix: int) -> Tensor:
    inside = torch.arange(real.size(1)) < prefix
    return inside & inside[:, None]


@mistake(
    "both",
    "padding of the prefix seen from the prefix",
    symptom="Padding inside the source is visible from the source.",
    cause="Hide the padding last: (causal | (place < prefix)) & real[:, None, None, :].",
    section="Padding in the middle",
    steps={"tokens": lambda real, prefix: real[:, None, None, :] | square(real, prefix)},
)
@mistake(
    "both",
    "padding of the prefix seen",
    met=("batch", 18),
    symptom="Padding inside the source is visible.",
    cause="Hide the padding last: (causal | (place < prefix)) & real[:, None, None, :].",
    section="Padding in the middle",
    steps={
        "tokens": lambda real, prefix: (real | (torch.arange(real.size(1)) < prefix))[
            :, None, None, :
        ]
    },
)
def padded_prefix_open(keys: Tensor, seen: Tensor) -> Tensor:
    return keys & seen


@mistake(
    "both",
    "padding of one sequence forgotten",
    met=("batch", 19),
    symptom="Padding is visible wherever a token would be.",
    cause="Combine real with what may be seen: real[:, None, None, :] & seen.",
    section="Padding in the middle",
)
def padding_seen(keys: Tensor, seen: Tensor) -> Tensor:
    return seen & torch.ones_like(keys)


@mistake(
    "tokens",
    "query rows of one sequence masked",
    met=("batch", 20),
    symptom="The rows of padded queries are hidden; the others see padding in the prefix or "
    "before them.",
    cause="real stands at the queries: it must be (B, 1, 1, S+T).",
    section="Padding in the middle",
)
def rows_hidden(real: Tensor, prefix: int) -> Tensor:
    return real[:, None, :, None]


@mistake(
    "tokens",
    "padding inverted in one sequence",
    met=("frequencies", 9),
    symptom="Only padding is visible.",
    cause="real is True at tokens, and True means 'may attend': keep what is real, seen & real, "
    "or put False where it is not.",
    section="Padding in the middle",
)
def padding_alone(real: Tensor, prefix: int) -> Tensor:
    return ~real[:, None, None, :]


@mistake(
    "causal",
    "diagonal hidden behind the prefix",
    symptom="A place of the target does not see itself.",
    cause="The causal part leaves the diagonal out: what is no padding sees itself, too.",
)
def without_diagonal(real: Tensor) -> Tensor:
    return torch.ones(real.size(1), real.size(1), dtype=torch.bool).tril(-1)


@mistake(
    "causal",
    "next token visible behind the prefix",
    met=("too-good", 22),
    symptom="A place of the target sees the token that it is to predict.",
    cause="End the causal part with the diagonal, one place earlier.",
)
def next_visible(real: Tensor) -> Tensor:
    return torch.ones(real.size(1), real.size(1), dtype=torch.bool).tril(1)


@mistake(
    "causal",
    "causal part of one sequence transposed",
    symptom="A place of the target sees the target's future and not the target's past.",
    cause="The causal part is the upper triangle, it must be the lower: row i is the query.",
)
def upper(real: Tensor) -> Tensor:
    return torch.ones(real.size(1), real.size(1), dtype=torch.bool).triu()


@mistake(
    "both",
    "PyTorch's meaning: True hides",
    symptom="The mask is turned round as a whole: True stands where nothing may be seen.",
    cause="In the book True means 'may attend'; nn.TransformerEncoder wants the opposite.",
    section="The proof",
    kind="convention",
)
def true_hides(keys: Tensor, seen: Tensor) -> Tensor:
    return ~(keys & seen)


@mistake(
    "both",
    "prefix mask without its axis of heads",
    met=("sizes", 12),
    symptom="The mask has the shape (B, S+T, S+T).",
    cause="Beside the scores its batch axis would meet the heads: keep (B, 1, S+T, S+T).",
)
def without_heads_axis(keys: Tensor, seen: Tensor) -> Tensor:
    return (keys & seen)[:, 0]
