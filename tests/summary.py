"""What `make test` prints at its end: the table of the checks, and what was measured.

Numbers travel with the tests' reports, as `user_properties`: tests run in several processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

COUNTED, TOLD = "checks", "told"
COLUMNS = ("written", "detected", "named alone", "among candidates", "unnamed", "missed")
MORE = ("correct versions", "false alarms", "mutants", "rejected", "equivalent", "survived")


@pytest.fixture
def count(record_property: Callable[[str, Any], None]) -> Callable[..., None]:
    """Adds to the table: `count(chapter, detected=1)`. A test may call it before it fails."""

    def add(chapter: int, **columns: int) -> None:
        record_property(COUNTED, [chapter, columns])

    return add


@pytest.fixture
def tell(record_property: Callable[[str, Any], None]) -> Callable[[str], None]:
    """Says a line at the end of the whole run: what was measured and is not asserted."""

    def line(text: str) -> None:
        record_property(TOLD, text)

    return line


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """How many mistakes were found, chapter by chapter, and how many correct versions refused."""
    found = list(_recorded(terminalreporter))
    lines = [value for name, value in found if name == TOLD]
    if lines:
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(line)
    table: dict[int, Counter[str]] = {}
    for chapter, columns in (value for name, value in found if name == COUNTED):
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


def _recorded(terminalreporter: Any) -> Iterator[tuple[str, Any]]:
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                yield from report.user_properties


def _key(column: str) -> str:
    return column.replace(" ", "_")
