"""What people reported in public, rebuilt on 2026-11-28 from the descriptions, in our own code."""

from __future__ import annotations

from tests.checks.corpus import version


@version("min_p_probabilities", "wrong")
def least_of_one_row(logits, min_p):
    least = min_p * logits.select(-1, 0).item()  # of several rows there is no one number
    kept = logits.where(logits >= least, logits.new_tensor(float("-inf")))
    return kept.softmax(dim=-1)
