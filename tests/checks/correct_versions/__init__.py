"""Correct code as different people write it: nothing here may be refused by a check.

The versions know the contract of a component (its arguments and what it returns) and the chapters,
and import nothing from the checks. Their style is deliberately uneven.
"""

from tests.checks.correct_versions import attention, behaviour, inputs, layers, learning, search
from tests.checks.correct_versions.registry import VERSIONS

__all__ = ["VERSIONS", "attention", "behaviour", "inputs", "layers", "learning", "search"]
