"""What all tests of the checks share, and the table that stands at the end of `make test`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch

COUNTED = "checks"
COLUMNS = ("written", "detected", "named alone", "among candidates", "unnamed", "missed")
MORE = ("correct versions", "false alarms", "mutants", "rejected", "equivalent", "survived")


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """The tensors are tiny: a second thread would only wait for the first."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def count(record_property: Callable[[str, Any], None]) -> Callable[..., None]:
    """Adds to the table: `count(chapter, detected=1)`. A test may call it before it fails."""

    def add(chapter: int, **columns: int) -> None:
        record_property(COUNTED, [chapter, columns])

    return add


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many mistakes were found, chapter by chapter, and how many correct versions refused.

    The numbers travel with the tests' reports, as `user_properties`.
    """
    table: dict[int, Counter[str]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) != "call":
                continue
            for name, value in report.user_properties:
                if name == COUNTED:
                    chapter, columns = value
                    table.setdefault(chapter, Counter()).update(columns)
    if not table:
        return
    rows = (*sorted(table.items()), ("all", sum(table.values(), Counter())))
    terminalreporter.section("checks: wrong versions, correct versions, mutants")
    for columns in (COLUMNS, MORE):
        if not any(row[_key(column)] for _, row in rows for column in columns):
            continue
        terminalreporter.write_line("chapter  " + "  ".join(columns))
        for chapter, row in rows:
            numbers = "  ".join(f"{row[_key(column)]:>{len(column)}}" for column in columns)
            terminalreporter.write_line(f"{chapter!s:>7}  {numbers}")


def _key(column: str) -> str:
    return column.replace(" ", "_")
