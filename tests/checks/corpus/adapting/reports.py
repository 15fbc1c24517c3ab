"""What people reported in public, rebuilt on 2026-11-28 from the descriptions, in our own code."""

from __future__ import annotations

import math

import torch

from tests.checks.corpus import version


@version("min_p_probabilities", "wrong")
def least_of_one_row(logits, min_p):
    least = min_p * logits.select(-1, 0).item()  # of several rows there is no one number
    kept = logits.where(logits >= least, logits.new_tensor(float("-inf")))
    return kept.softmax(dim=-1)


@version(
    "repetition_penalty", "wrong: negative logits divided by the penalty, too + padding punished"
)
def gathered_divided_scattered(logits, tokens, penalty):
    update = torch.gather(logits, 1, tokens)
    return torch.scatter(logits, 1, tokens, update / penalty)


@version("repetition_penalty", "wrong: penalty subtracted, as often as a token was said")
def presence_and_frequency(logits, tokens, penalty):
    counts = torch.zeros_like(logits).scatter_add(1, tokens, torch.ones(tokens.shape))
    counts[:, 0] = 0
    return logits - counts * penalty


@version("merged_weight", "wrong: matrices of the adapter read in the other layout")
def merged_in_the_other_layout(weight, down, up, alpha):
    rank = down.size(0)
    a, b = down.reshape(-1, rank), up.reshape(rank, -1)
    return weight + alpha / rank * (a @ b).T


@version("merged_weight", "wrong")
def stabilised_by_rank(weight, down, up, alpha):
    return weight + alpha / math.sqrt(down.size(0)) * up @ down


@version("merged_weight", "wrong")
def merged_in_a_copy(weight, down, up, alpha):
    copy = weight.clone()
    copy += alpha / down.size(0) * up @ down
    return weight
