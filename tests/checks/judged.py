"""The checks as learners import them, and what they say of a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.fresh import import_fresh

# The annotations' hook would make each of many thousand calls slower.
checks = import_fresh("transformer_book.checks")


def verdict(name: str, function: Callable[..., Any], seconds: float = 10.0) -> Any:
    return checks.judging.judge(checks.COMPONENTS[name], function, checks.MISTAKES, seconds=seconds)
