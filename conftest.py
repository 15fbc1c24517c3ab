"""How nbval runs the cells of a notebook: how long it waits, and what it need not compute again.

It waits by what cells compute, and not by the clock. A chapter that `make book` has executed is not
executed again while nothing changes that it depends on (see tools/execution_cache.py): its cells
are held against the committed outputs, as if they had just run. `--execute-again` has all run.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

import execution_cache
import pytest
from copied_kernels import copied

TICK = 1.0  # seconds between two looks
OUTPUT = 300  # seconds for an output to arrive after its cell has ended
BEFORE = "executed by make book"  # a property of a test that computed nothing


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--execute-again",
        action="store_true",
        help="run the cells of chapters that `make book` has executed, too",
    )


def pytest_configure(config: pytest.Config) -> None:
    """nbval asks the kernel for a reply until its clock says stop; here a meter says so."""
    try:
        import nbval.kernel
    except ImportError:  # notebooks are not tested then
        return
    nbval.kernel.RunningKernel.await_reply = _await_reply
    nbval.kernel.KernelManager = copied(nbval.kernel.KernelManager)
    if not config.option.execute_again:
        import nbval.plugin

        nbval.plugin.IPyNbFile.setup = _without_need(nbval.plugin.IPyNbFile.setup)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if hasattr(item, "output_timeout"):  # a cell of a notebook
            item.output_timeout = OUTPUT


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    if isinstance(getattr(item.parent, "kernel", None), Recorded):
        item.user_properties.append((BEFORE, item.parent.name))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [report for each in terminalreporter.stats.values() for report in each]
    found = [name for each in reports for name in getattr(each, "user_properties", ())]
    names = {value for name, value in found if name == BEFORE}
    if names:
        terminalreporter.section("executed by make book")
        several = f"{len(names)} notebooks were" if len(names) > 1 else "1 notebook was"
        terminalreporter.write_line(
            f"{several} not executed again: nothing has changed that the outputs depend on. What "
            "came out then was held against the outputs shown; --execute-again runs all cells."
        )


def _await_reply(self: Any, msg_id: str, timeout: float | None = None) -> None:
    """Wait for the kernel's reply to a request; `queue.Empty` if its processes used too much."""
    from transformer_book.support.metered_kernels import (
        CELL_ASLEEP,
        CELL_SECONDS,
        meter_of,
        processes_of,
    )

    meter = None  # most cells end before the first look
    while True:
        try:
            message = self.get_message(stream="shell", timeout=TICK)
        except queue.Empty:
            if not self.is_alive():
                raise RuntimeError("Kernel died") from None
            meter = meter or meter_of(partial(processes_of, self.km), CELL_ASLEEP)
            if meter.computed() > CELL_SECONDS or meter.overslept():
                raise
            continue
        if message["parent_header"].get("msg_id") == msg_id:
            if message["content"]["status"] == "aborted":
                raise RuntimeError("Kernel aborted execution request")
            return


class Recorded:
    """A kernel for nbval that has the answers already: what a notebook's cells gave before."""

    def __init__(self, notebook: Any) -> None:
        self.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        self.next = 0
        self.messages: deque[dict[str, Any]] = deque()

    def execute_cell_input(self, source: str, allow_stdin: bool | None = None) -> str:
        """Find the next cell of these words (not all have to be asked for) and its outputs."""
        places = range(self.next, len(self.cells))
        place = next(place for place in places if self.cells[place].source == source)
        self.next = place + 1
        for output in self.cells[place].outputs:
            self._say(str(place), output.output_type, dict(output))
        self._say(str(place), "status", {"execution_state": "idle"})
        return str(place)

    def _say(self, cell: str, kind: str, content: dict[str, Any]) -> None:
        self.messages.append(
            {"msg_type": kind, "parent_header": {"msg_id": cell}, "content": content}
        )

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """It has come."""

    def await_idle(self, msg_id: str, timeout: float | None = None) -> None:
        """Nothing of this cell is left to be said."""
        self.messages.clear()

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """The next that the cell said."""
        return self.messages.popleft()

    def is_alive(self) -> bool:
        """Nothing can end it."""
        return True

    def stop(self) -> None:
        """Nothing runs."""


def _without_need(start: Callable[[Any], None]) -> Callable[[Any], None]:
    """Begin with a notebook: start a kernel, but for one that has been executed already."""

    def setup(self: Any) -> None:
        notebook = execution_cache.found(self.path)
        if notebook is None:
            start(self)
        else:
            self.kernel = Recorded(notebook)
            self.setup_sanitize_files()

    return setup
