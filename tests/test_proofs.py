"""The package proven against PyTorch: every proof on several random configurations."""

from __future__ import annotations

import pytest

from tests.fresh import import_model
from tests.proofs import PROOFS

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: proof.__name__)
def test_proof(proof, seed):
    """A proof returns nothing; it raises AssertionError where the package and PyTorch differ."""
    assert proof(import_model(), seed) is None
