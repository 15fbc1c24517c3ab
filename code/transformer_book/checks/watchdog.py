"""Stop a Python function that does not come back: judged by its work, and not by the clock.

On a busy machine a right answer takes its time. So what counts is the processor time of the thread
that computes it; what other threads and other programs do is not counted. A function that waits
(for a lock, for `input()`, in `time.sleep`) uses none: for it there is a second limit, on the time
it has slept, see `processor_time`.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from types import FrameType, TracebackType

from transformer_book.checks.endless import Repetition, may_catch, no_way_out
from transformer_book.support.processor_time import Meter, meter_of_this_thread

RING = 0.2  # seconds between two looks
LOOK = 2.0  # seconds of processor time, after which it is asked whether this is an endless loop
OBSERVED = 1.0  # seconds of processor time, to see whether a loop repeats itself
NO_EXIT = "with no way out of it"
NO_CHANGE = "in which nothing changes from round to round"


class TooLong(BaseException):
    """Not an `Exception`: the learner's own `except Exception` must not swallow it.

    Attributes:
        computed: seconds of processor time.
        slept: seconds asleep.
        waits: it was stopped because it slept.
        endless: how it was seen to be an endless loop, in words; empty if it was not.
    """

    computed = slept = 0.0
    waits = False
    endless = ""

    def about(self, meter: Meter, waits: bool = False, endless: str = "") -> TooLong:
        """The same with what was measured."""
        self.computed, self.slept = meter.computed(), meter.slept
        self.waits, self.endless = waits, endless
        return self


class limit:
    """Raise `TooLong` in the block once it has used `seconds` of processor time.

    In the main thread of Linux and macOS an alarm looks after it; elsewhere (Windows, other
    threads) another thread does, and sets an exception that arrives at the next line of Python.
    Neither can stop one long call into a library, and neither can stop a loop that swallows every
    exception at once. An endless loop is stopped as soon as it is seen to be one.

    Args:
        seconds: of processor time of this thread.
        asleep: seconds that it may sleep; `None` for a generous number.
        home: the frame of the block. Loops in what it calls are looked at; without it, none is, and
            no time is spent on that.
    """

    def __init__(
        self, seconds: float, asleep: float | None = None, home: FrameType | None = None
    ) -> None:
        self.seconds = seconds
        self.asleep = asleep
        self.home = home

    def __enter__(self) -> None:
        self.meter = meter_of_this_thread(self.asleep)
        self.repetition: Repetition | None = None
        self.threads = threading.active_count()
        self.interval = min(RING, self.seconds)
        self.ringing = False
        self.alarmed = (
            hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
        )
        if self.alarmed:
            self.before = signal.signal(signal.SIGALRM, self._ring)
            # Rings again and again: a bare `except:` may have swallowed the first.
            signal.setitimer(signal.ITIMER_REAL, self.interval, self.interval)
        else:
            self.done = threading.Event()
            self.guard = threading.Thread(
                target=self._guard, args=(threading.get_ident(),), daemon=True
            )
            self.guard.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.alarmed:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self.before)
            if self.repetition:
                self._trace_no_more()
        else:
            self.done.set()
            self.guard.join()
            if isinstance(error, TooLong):
                error.about(*self.found)

    def _ring(self, _: int, frame: FrameType | None) -> None:
        # On a busy machine the next ring may come before this look has ended: looks do not nest.
        # Nor is the end of the block cut off: the alarm would ring on behind it.
        leaving = frame is not None and frame.f_code is limit.__exit__.__code__
        if not (self.ringing or leaving):
            self.ringing = True
            try:
                self._look(frame)
            finally:
                self.ringing = False

    def _look(self, frame: FrameType | None) -> None:
        """Raise `TooLong` if it is too long."""
        if self.meter.overslept():
            raise TooLong().about(self.meter, waits=True)
        computed = self.meter.computed()
        look = min(LOOK, self.seconds) if self.home else self.seconds
        if computed < look:
            return
        if self.home is None:
            raise TooLong().about(self.meter)
        frames = list(self._frames(frame))
        if _without_exit(frames):
            raise TooLong().about(self.meter, endless=NO_EXIT)
        if self.repetition is None:
            self.repetition, self.traced = Repetition(frames), sys.gettrace()
            sys.settrace(lambda *_: None)  # switches tracing on; traces nothing new
        elif computed > look + OBSERVED:
            self._trace_no_more()
        # Other threads may change the state: then a repetition proves nothing.
        if self.repetition.found and threading.active_count() <= self.threads:
            raise TooLong().about(self.meter, endless=NO_CHANGE)
        if computed > max(self.seconds, look + OBSERVED):
            raise TooLong().about(self.meter)

    def _trace_no_more(self) -> None:
        if not self.repetition.ended:
            sys.settrace(self.traced)
            self.repetition.end()

    def _guard(self, thread: int) -> None:
        while not self.done.wait(self.interval):
            waits = self.meter.overslept()
            computed = self.meter.computed()
            if not waits and computed < min(LOOK, self.seconds):
                continue
            frames = list(self._frames(sys._current_frames().get(thread)))
            endless = NO_EXIT if not waits and _without_exit(frames) else ""
            if not waits and not endless and computed < self.seconds:
                continue
            self.found = self.meter, waits, endless
            # An instance cannot be handed over, only the class: what was found comes with the exit.
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread), ctypes.py_object(TooLong)
            )

    def _frames(self, frame: FrameType | None) -> Iterator[FrameType]:
        """The frames inside the block, the innermost first; none if it is left already."""
        inside = []
        while frame is not None and frame is not self.home:
            inside.append(frame)
            frame = frame.f_back
        if frame is not None:
            yield from inside


def _without_exit(frames: Sequence[FrameType]) -> bool:
    """Whether one of the frames, the innermost first, can neither return nor be left otherwise."""
    for i, frame in enumerate(frames):
        if no_way_out(frame.f_code, frame.f_lasti):
            callers = ((each.f_code, each.f_lasti) for each in frames[i + 1 :])
            return not any(may_catch(*each) for each in callers)
    return False
