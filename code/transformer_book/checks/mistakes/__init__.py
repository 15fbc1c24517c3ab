"""The known mistakes: each one wrong step, small enough to read, with what it does and why.

A mistake replaces one or more steps of a component; the right steps are in the file of the same
name one folder up.
"""

from __future__ import annotations

from importlib import import_module

from transformer_book.checks.families import FAMILIES
from transformer_book.checks.mistakes.registry import MISTAKES

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

__all__ = ["MISTAKES"]
