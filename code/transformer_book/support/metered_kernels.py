"""Run a notebook's cells in a kernel, and stop a cell by what it uses: processor time first.

The wall clock judges nothing here. A cell may compute for so many seconds and sleep for so many,
however long that takes on a busy machine.
"""

from __future__ import annotations

import asyncio
import glob
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from queue import Empty
from typing import Any

import psutil
from jupyter_client.asynchronous import AsyncKernelClient
from nbclient import NotebookClient
from nbclient.util import run_sync
from traitlets import Callable as CallableTrait
from traitlets import Float

from transformer_book.support.processor_time import Meter, turns_of

TICK = 1  # seconds between two looks at a cell
CELL_SECONDS = 600.0  # of processor time, for one cell: for what hangs
CELL_ASLEEP = 600.0  # seconds that a cell may sleep, or wait
SLOW = 600  # seconds for what a kernel does by itself (start, hand over its outputs)
LEFT = 3  # seconds for the outputs of a cell that was interrupted: it may not even notice


def processes_of(manager: Any) -> list[psutil.Process]:
    """A manager's kernel and all processes that it has started; none if it has ended."""
    with suppress(psutil.Error, AttributeError):
        kernel = psutil.Process(manager.provisioner.pid)
        return [kernel, *kernel.children(recursive=True)]
    return []


class CellStopped(Exception):
    """A cell that computed, or slept, for too long; the text says which, in one sentence."""


def meter_of(processes: Callable[[], Iterable[psutil.Process]], asleep: float) -> Meter:
    """A meter of all that `processes()` gives, including children of theirs that have ended."""
    most = 0.0

    def clock() -> float:
        nonlocal most
        total = 0.0
        for process in processes():
            with suppress(psutil.Error):
                total += sum(process.cpu_times()[:4])  # its own, and its ended children's
        most = max(most, total)  # one that ends between two looks takes its time with it
        return most

    def turns() -> float | None:
        return turns_of(
            [path for p in processes() for path in glob.glob(f"/proc/{p.pid}/task/*/schedstat")]
        )

    return Meter(clock, turns, asleep)


class _Listener(AsyncKernelClient):
    """Ready with the kernel's first answers; the inherited one listens on for a fifth of a second.

    What a kernel says before the first cell belongs to no cell, and is passed over anyway.
    """

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Wait for an answer on both channels.

        Raises:
            RuntimeError: if the kernel ends, or does not answer.
        """
        deadline = time.monotonic() + (timeout or SLOW)
        while time.monotonic() < deadline:
            self.kernel_info()
            with suppress(Empty):
                reply = await self.shell_channel.get_msg(timeout=TICK)
                await self.iopub_channel.get_msg(timeout=TICK / 5)  # soon, if it is connected
                return self._handle_kernel_info_reply(reply)
            if not await self.is_alive():
                raise RuntimeError("The kernel died before it answered.")
        raise RuntimeError("The kernel did not answer in time.")


class MeteredClient(NotebookClient):
    """A client whose cells are stopped by processor time, and by time asleep.

    What is asked of it is set like any trait of `NotebookClient`. With `interrupt_on_timeout` the
    cell is interrupted, and `stopped` says why; otherwise `CellStopped` is raised.

    Attributes:
        cell_seconds: of processor time, for one cell; 0 for no limit.
        cell_asleep: seconds that one cell may sleep.
        processes: what is measured; by default the kernel and all that it has started.
        also: asked at each look: why everything has to stop, or an empty text.
        stopped: why the last cell was stopped, in words; empty if it was not.
    """

    cell_seconds = Float(CELL_SECONDS).tag(config=True)
    cell_asleep = Float(CELL_ASLEEP).tag(config=True)
    processes = CallableTrait(None, allow_none=True)
    also = CallableTrait(lambda: "")
    stopped = ""
    meter: Meter | None = None

    def __init__(self, *arguments: Any, **traits: Any) -> None:
        patient = {"timeout": TICK, "shell_timeout_interval": TICK}
        patient |= {"startup_timeout": SLOW, "iopub_timeout": SLOW}
        super().__init__(*arguments, **{**patient, **traits})

    def create_kernel_manager(self) -> Any:
        """As `NotebookClient` does it."""
        manager = super().create_kernel_manager()
        manager.client_factory = _Listener
        return manager

    def of_the_kernel(self) -> list[psutil.Process]:
        """The kernel and all processes that it has started."""
        return processes_of(self.km)

    def excess(self) -> str:
        """Why what runs has to stop, in words; empty if it need not."""
        if self.meter is None:
            self.meter = meter_of(self.processes or self.of_the_kernel, self.cell_asleep)
        if self.cell_seconds and self.meter.computed() > self.cell_seconds:
            return f"stopped after {self.cell_seconds:g} seconds of processor time"
        if self.meter.overslept():
            return f"stopped: it waited, asleep, for {self.cell_asleep:g} seconds"
        return self.also()

    async def async_execute_cell(
        self, cell: Any, cell_index: int, *given: Any, **named: Any
    ) -> Any:
        """As `NotebookClient` does it; measured from the first tick on."""
        self.stopped, self.meter = "", None
        patience = self.iopub_timeout
        try:
            return await super().async_execute_cell(cell, cell_index, *given, **named)
        finally:
            self.iopub_timeout = patience

    execute_cell = run_sync(async_execute_cell)  # the inherited one calls the inherited coroutine

    async def _async_reply_to(self, request: str, seconds: float) -> dict[str, Any] | None:
        meter = None  # most replies come before it is needed
        while True:
            with suppress(Empty):
                message = await self.kc.shell_channel.get_msg(timeout=TICK)
                if message["parent_header"].get("msg_id") == request:
                    return message
                continue
            await self._async_check_alive()
            meter = meter or meter_of(self.of_the_kernel, self.cell_asleep)
            self.stopped = self.also()
            if meter.computed() > seconds:
                self.stopped = f"stopped after {seconds:g} seconds of processor time"
            elif meter.overslept():
                self.stopped = f"stopped: it waited, asleep, for {self.cell_asleep:g} seconds"
            if self.stopped:
                return None

    def reply_to(self, request: str, seconds: float) -> dict[str, Any] | None:
        """What the kernel answers to a request, waited for while it computes.

        `None` after `seconds` of processor time, or too long asleep; `stopped` says which.
        """
        self.stopped = ""
        return run_sync(self._async_reply_to)(request, seconds)

    async def _async_handle_timeout(self, timeout: int, cell: Any = None) -> Any:
        """Called at every tick of a cell that has not ended: go on, or stop it."""
        await asyncio.sleep(TICK / 10)  # what else has come in makes the next tick a short one
        if self.stopped:  # it does not react
            return None
        self.stopped = self.excess()
        if not self.stopped:
            return None
        if not self.interrupt_on_timeout:
            raise CellStopped(self.stopped)
        self.iopub_timeout = min(self.iopub_timeout, LEFT)
        return await super()._async_handle_timeout(timeout, cell)
