"""Tied backward (chapter 29): the right steps, the inputs, and the known mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_book.checks.components import Case, Component, mistakes_in
from transformer_book.checks.given import normal


def tied_backward_pipeline(s, d_vectors, tokens, d_logits, vectors):
    read = s.read(d_vectors, tokens, d_logits)  # (V, D)
    return s.both(read, s.written(d_logits, vectors), tokens)  # (V, D)


def tied_backward_cases() -> Sequence[Case]:
    def case(name: str, tokens: list, vocab_size: int, d_model: int, seed: int) -> Case:
        ids = torch.tensor(tokens)  # (B, T)
        d_vectors = normal(*ids.shape, d_model, seed=seed)
        d_logits = normal(*ids.shape, vocab_size, seed=seed + 1)
        return Case(name, (d_vectors, ids, d_logits, normal(*ids.shape, d_model, seed=seed + 2)))

    return (
        case("a token at two places", [[2, 0, 2]], 4, 2, 1),
        case("two sentences", [[4, 5, 4], [5, 4, 1]], 7, 3, 4),
        case("a token three times", [[1, 3], [3, 3], [2, 0]], 5, 4, 7),
        case("padding", [[6, 2, 0, 0], [6, 6, 5, 2]], 8, 3, 10),
        case("one place each", [[2], [3], [1], *[[4]] * 6], 5, 3, 16),
        case("the last word everywhere, as many words as features", [[3, 3], [3, 3]], 4, 4, 19),
        case("70 places, 300 words, one feature", [[299, *range(231, 299), 299]], 300, 1, 22),
    )


TIED_BACKWARD = Component(
    name="tied_backward",
    chapter=29,
    order=5,
    section="ReLU, residual, embedding",
    signature="d_vectors, tokens, d_logits, vectors",
    pipeline=tied_backward_pipeline,
    steps={
        "read": lambda d_vectors, tokens, d_logits: d_vectors.new_zeros(
            d_logits.size(-1), d_vectors.size(-1)
        ).index_add(0, tokens.flatten(), d_vectors.flatten(0, 1)),
        "written": lambda d_logits, vectors: d_logits.flatten(0, 1).T @ vectors.flatten(0, 1),
        "both": lambda read, written, tokens: read + written,
    },
    cases=tied_backward_cases,
    returns="the gradient `(V, D)` of one matrix that was the table of an embedding (rows of "
    "`tokens` were read, with the gradients `d_vectors`) and the output projection "
    "(`vectors @ matrix.T` were the logits, with the gradients `d_logits`)",
    differentiable=False,  # it is a gradient itself
    met="worse",
    boundaries={
        "one place each": lambda tokens: tokens.size(1) == 1 and len(tokens) > 1,
        "as many words as features": lambda d_logits, vectors: (
            d_logits.size(-1) == vectors.size(-1)
        ),
        "one token everywhere": lambda tokens: tokens.numel() > 3 and len(tokens.unique()) == 1,
        "more than 64 places": lambda tokens: tokens.size(1) > 64,
        "more than 255 words": lambda tokens: tokens.max() > 255,
        "one feature": lambda vectors: vectors.size(-1) == 1,
    },
)


def _filled(d_vectors: Tensor, tokens: Tensor, d_logits: Tensor) -> Tensor:
    """The rows of the table, each from the last place where its token stands."""
    table = d_vectors.new_zeros(d_logits.size(-1), d_vectors.size(-1))
    for token, row in zip(tokens.flatten(), d_vectors.flatten(0, 1), strict=True):
        table[token] = row
    return table


def _replaced(read: Tensor, written: Tensor, tokens: Tensor) -> Tensor:
    """The rows that were read in the place of what the logits gave them."""
    rows = torch.zeros(len(read), 1, dtype=torch.bool)
    rows[tokens.flatten()] = True
    return torch.where(rows, read, written)


# --- known mistakes ------------------------------------------------------------------------------

mistake = mistakes_in(TIED_BACKWARD)


@mistake(
    "read",
    "rows overwritten where a token comes twice",
    symptom="Where a token was read at several places, only one of them counts.",
    cause="Add to a token's row the gradients of all its places, as index_add does.",
)
def overwritten(d_vectors: Tensor, tokens: Tensor, d_logits: Tensor) -> Tensor:
    return _filled(d_vectors, tokens, d_logits)


@mistake(
    "read",
    "rows averaged where a token comes twice",
    symptom="Where a token was read at several places, their gradients are averaged.",
    cause="Every place adds its gradient: a sum, not a mean.",
)
def averaged(d_vectors: Tensor, tokens: Tensor, d_logits: Tensor) -> Tensor:
    return (
        TIED_BACKWARD.steps["read"](d_vectors, tokens, d_logits)
        / (tokens.flatten().bincount(minlength=d_logits.size(-1)).clamp(min=1)[:, None])
    )


@mistake(
    "written",
    "logits' share averaged over the rows",
    symptom="The share of the output projection is too small: divided by the number of positions.",
    cause="The matrix was used at every position: the gradients add.",
)
def written_mean(d_logits: Tensor, vectors: Tensor) -> Tensor:
    return d_logits.flatten(0, 1).T @ vectors.flatten(0, 1) / (vectors.size(0) * vectors.size(1))


@mistake(
    "both",
    "tied matrix counted as embedding only",
    symptom="Tokens that were not read get no gradient.",
    cause="The matrix was also the output projection: return the sum of both shares.",
)
def embedding_only(read: Tensor, written: Tensor, tokens: Tensor) -> Tensor:
    return read


@mistake(
    "both",
    "tied matrix counted as projection only",
    symptom="The argument d_vectors changes nothing.",
    cause="The matrix was also the embedding: return the sum of both shares. (index_add returns a "
    "new tensor: assign it.)",
)
def projection_only(read: Tensor, written: Tensor, tokens: Tensor) -> Tensor:
    return written


@mistake(
    "both",
    "the two shares averaged",
    symptom="The gradient is half of what it should be.",
    cause="A matrix that is used twice gets the sum of both gradients.",
)
def halved(read: Tensor, written: Tensor, tokens: Tensor) -> Tensor:
    return (read + written) / 2


@mistake(
    "both",
    "one share overwrites the other",
    symptom="The rows of tokens that were read lack the share of the logits.",
    cause="Add the rows to the share of the logits: they must not take its place.",
)
def one_overwrites(read: Tensor, written: Tensor, tokens: Tensor) -> Tensor:
    return _replaced(read, written, tokens)
