"""How long something has computed and how long it has slept: a busy machine changes neither.

The wall clock runs on while a program waits for its turn on the processor. So time limits here are
limits on processor time, and behind them stands a limit on the time *asleep*, for what waits for a
lock, for input or in `time.sleep`. Where the system tells sleeping from waiting for a turn (Linux),
waiting for a turn counts as neither; elsewhere that second limit is far more generous.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable

ASLEEP = 60.0  # seconds asleep, where sleeping is told from waiting for a turn
PATIENCE = 900.0  # seconds without processor time, where it is not


class Meter:
    """What something has computed since this was made, and slept since it was first asked.

    Any thread may ask.

    Args:
        clock: the processor time it has used, in seconds.
        turns: seconds on the processor and in the queue for it, or `None` where nobody counts.
        asleep: seconds that it may sleep; `None` for `ASLEEP`, or `PATIENCE` where sleeping cannot
            be told from waiting for a turn.

    Attributes:
        slept: seconds, as far as `overslept` has looked.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        turns: Callable[[], float | None],
        asleep: float | None = None,
    ) -> None:
        self._clock, self._turns, self._asleep = clock, turns, asleep
        self._start = clock()
        # Of the last question. Most of what is measured ends before the first: to read the turns
        # costs more than all else here, and until then nothing counts as sleep.
        self._last: tuple[float, float, float | None] | None = None
        self.slept = 0.0

    def computed(self) -> float:
        """Seconds of processor time."""
        return self._clock() - self._start

    def overslept(self) -> bool:
        """Whether it has slept too long. Ask often: what lies between two questions counts as a
        second at most, for then the whole program was stopped, and perhaps the machine."""
        now = time.monotonic(), self._clock(), self._turns()
        if self._last is not None:
            passed, computed = now[0] - self._last[0], now[1] - self._last[1]
            turns = computed if now[2] is None else now[2] - (self._last[2] or 0.0)
            self.slept += min(max(0.0, passed - max(computed, turns, 0.0)), 1.0)
        self._last = now
        limit = self._asleep or (PATIENCE if now[2] is None else ASLEEP)
        return self.slept >= limit


def meter_of_this_thread(asleep: float | None = None) -> Meter:
    """A meter of the thread that calls this."""
    tasks = _tasks()
    return Meter(clock_of_this_thread(), lambda: turns_of(tasks), asleep)


def clock_of_this_thread() -> Callable[[], float]:
    """A clock of the calling thread's processor time, in seconds, which any thread may read.

    Where the system has none (macOS, read from another thread) it is the whole process's.
    """
    if hasattr(time, "pthread_getcpuclockid"):
        number = time.pthread_getcpuclockid(threading.get_ident())
        return lambda: time.clock_gettime(number)
    if sys.platform == "win32":
        return _windows_clock(threading.get_native_id())
    own = threading.get_ident()
    return lambda: time.thread_time() if threading.get_ident() == own else time.process_time()


def _windows_clock(thread: int) -> Callable[[], float]:
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined]
    kernel.OpenThread.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(kernel.OpenThread(0x0800, False, thread))  # permission to query only
    times = [ctypes.c_uint64() for _ in range(4)]  # created, ended, kernel, user: in 100 ns

    def read() -> float:
        kernel.GetThreadTimes(handle, *map(ctypes.byref, times))
        return (times[2].value + times[3].value) / 1e7

    return read


def _tasks() -> list[str]:
    """Where Linux counts the turns of the calling thread."""
    return [f"/proc/{os.getpid()}/task/{threading.get_native_id()}/schedstat"]


def turns_of(paths: list[str]) -> float | None:
    """Seconds on the processor and in the queue for it, summed over Linux's files that record it.

    `None` if none of them can be read.
    """
    total, found = 0, False
    for path in paths:
        try:
            with open(path, encoding="ascii") as file:
                running, queued, _ = map(int, file.read().split())
        except (OSError, ValueError):
            continue
        total, found = total + running + queued, True
    return total / 1e9 if found else None
