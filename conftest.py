"""How long nbval waits for the cells of a notebook: by what they compute, and not by the clock."""

from __future__ import annotations

import queue
from typing import Any

import pytest
from copied_kernels import copied

CELL_SECONDS = 600.0  # of processor time: for what hangs
CELL_ASLEEP = 600.0
TICK = 1.0  # seconds between two looks
OUTPUT = 300  # seconds for an output to arrive after its cell has ended


def pytest_configure(config: pytest.Config) -> None:
    """nbval asks the kernel for a reply until its clock says stop; here a meter says so."""
    try:
        import nbval.kernel
    except ImportError:  # notebooks are not tested then
        return
    nbval.kernel.RunningKernel.await_reply = _await_reply
    nbval.kernel.KernelManager = copied(nbval.kernel.KernelManager)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if hasattr(item, "output_timeout"):  # a cell of a notebook
            item.output_timeout = OUTPUT


def _await_reply(self: Any, msg_id: str, timeout: float | None = None) -> None:
    """Wait for the kernel's reply to a request; `queue.Empty` if its processes used too much."""
    import psutil

    from transformer_book.kernels import meter_of

    def processes() -> list[psutil.Process]:
        try:
            kernel = psutil.Process(self.km.provisioner.pid)
            return [kernel, *kernel.children(recursive=True)]
        except (psutil.Error, AttributeError):
            return []

    meter = None  # most cells end before the first look
    while True:
        try:
            message = self.get_message(stream="shell", timeout=TICK)
        except queue.Empty:
            if not self.is_alive():
                raise RuntimeError("Kernel died") from None
            meter = meter or meter_of(processes, CELL_ASLEEP)
            if meter.computed() > CELL_SECONDS or meter.overslept():
                raise
            continue
        if message["parent_header"].get("msg_id") == msg_id:
            if message["content"]["status"] == "aborted":
                raise RuntimeError("Kernel aborted execution request")
            return
