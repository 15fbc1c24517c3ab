"""What people reported in public, rebuilt on 2026-11-28 from the descriptions, in our own code."""

from __future__ import annotations

from torch import nn

from tests.checks.corpus import version


@version("merge_tokens", "wrong")
def ranks_of_single_pieces(tokens, ranks):
    parts = list(tokens)
    while True:
        found = [(ranks[part], i) for i, part in enumerate(parts) if part in ranks]
        if not found:
            return parts
        _, i = min(found)
        parts[i : i + 2] = ["".join(parts[i : i + 2])]


@version("merge_tokens", "wrong: the first pair met joined, from left to right")
def left_to_right_first_found(tokens, ranks):
    tokens, i = list(tokens), 0
    while i + 1 < len(tokens):
        if (tokens[i], tokens[i + 1]) in ranks:
            tokens[i : i + 2] = [tokens[i] + tokens[i + 1]]
            i = 0
        else:
            i += 1
    return tokens


@version("load_tied", "wrong: tied, and then loaded with assign=True")
def tied_and_then_assigned(model, state):
    model.output.weight = model.embedding.weight
    model.load_state_dict({k: nn.Parameter(v) for k, v in state.items()}, strict=False, assign=True)


@version("paired_by_halves", "wrong")
def as_many_rows_as_columns(weight, n_heads):
    dim = weight.size(1)
    return weight.view(n_heads, dim // n_heads // 2, 2, dim).transpose(1, 2).reshape(dim, dim)


@version("paired_by_halves", "right", "view, transpose, reshape, reported as wrong")
def viewed_and_transposed(weight, n_heads):
    rows, columns = weight.shape
    w = weight.view(n_heads, rows // n_heads // 2, 2, columns)
    return w.transpose(1, 2).reshape(rows, columns)
