"""Correct code as different people write it: nothing here may be refused by a check.

The versions know the contract of a component (its arguments and what it returns) and the chapters,
and import of the checks only the list of their families. Their style is deliberately uneven.
"""

from importlib import import_module

from tests.checks.correct_versions.registry import VERSIONS
from transformer_book.checks.families import FAMILIES

for part in (*FAMILIES, "behaviour"):
    import_module(f"{__name__}.{part}")

__all__ = ["VERSIONS"]
