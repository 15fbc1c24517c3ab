"""What does not come back is stopped, and told what it did: it computed, it waited, it went round.

A busy machine changes none of this, so nothing here depends on how long a test takes.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import random
import threading
import time
from types import SimpleNamespace

import pytest
import torch

from transformer_book import checks
from transformer_book.support import processor_time

running, watchdog = checks.running, checks.watchdog
endless = watchdog.sys.modules["transformer_book.checks.endless"]

CASE = checks.components.Case("", (torch.ones(3),))
LOOP = "An endless loop"


@pytest.fixture(autouse=True)
def observed_briefly(monkeypatch) -> None:
    monkeypatch.setattr(watchdog, "OBSERVED", 0.4)


def outcome(function, seconds: float = 0.3, asleep: float = 1.0):
    return running.call(function, CASE, gradients=False, seconds=seconds, asleep=asleep)


def nothing_inside(x):
    while True:
        pass


def all_caught(x):
    while True:
        with contextlib.suppress(Exception):
            x.sum()


def grows(x):
    tokens = [1]
    while True:
        tokens = [*tokens[-3:], len(tokens)]


def in_a_helper(x):
    def again():
        while True:
            x.softmax(-1)

    return again()


def counter_forgotten(x):
    i = 0
    while i < len(x):
        x.sum()
    return i


def exit_not_reached(x):
    while True:
        try:
            x.sum()
        except ValueError:
            return x


@pytest.mark.parametrize("function", [nothing_inside, grows, in_a_helper, all_caught])
def test_a_loop_without_a_way_out_is_called_endless(function) -> None:
    found = outcome(function)
    assert found.unfinished and found.trouble == f"{LOOP}, {watchdog.NO_EXIT}"
    lines = range(function.__code__.co_firstlineno, function.__code__.co_firstlineno + 6)
    assert found.line in lines


def inside_a_for(x):
    for row in range(3):
        i = 0
        while i < len(x):
            row = x.sum()
    return row


@pytest.mark.parametrize("function", [counter_forgotten, exit_not_reached, inside_a_for])
def test_a_loop_in_which_nothing_changes_is_called_endless(function) -> None:
    assert outcome(function).trouble == f"{LOOP}, {watchdog.NO_CHANGE}"


def counts_far(x):
    for number in itertools.count():
        if number > 10**12:
            return x


def waits_for_luck(x):
    while random.random() < 1 - 1e-15:
        pass
    return x


def waits_for_the_clock(x):
    end = time.time() + 1e6
    while time.time() < end:
        pass
    return x


class Counter:
    rounds = 0


COUNTER = Counter()


def ends_by_an_exception(x):
    numbers = iter(range(10**12))

    def take():
        while True:
            next(numbers)

    try:
        take()
    except StopIteration:
        return x


def counts_elsewhere(x):
    def done():
        COUNTER.rounds += 1
        return COUNTER.rounds > 10**12

    while not done():
        pass
    return x


def moves_a_function(x):
    state = [0]

    def step():
        state[0] += 1

    while state[0] < 10**12:
        step()
    return x


def repeats_often(x):
    """A loop whose variable stays what it is: only its iterator knows how far it is."""
    for _ in itertools.repeat(None, 10**12):
        y = x.sum()
    return y


def the_same_item(x):
    for _ in [7] * 10**7:
        i = 0
        while i < 10**4:
            i += 1
    return x


def waits_for_a_thread(x):
    done = []
    threading.Timer(1e6, lambda: done.append(1)).start()
    while not done:
        pass
    return x


@pytest.fixture
def no_timer_left():
    yield
    for thread in threading.enumerate():
        if isinstance(thread, threading.Timer):
            thread.cancel()


@pytest.mark.usefixtures("no_timer_left")
@pytest.mark.parametrize(
    "function",
    [
        counts_far,
        waits_for_luck,
        waits_for_the_clock,
        ends_by_an_exception,
        counts_elsewhere,
        moves_a_function,
        repeats_often,
        the_same_item,
        waits_for_a_thread,
    ],
)
def test_what_would_end_some_day_is_not_called_endless(function) -> None:
    found = outcome(function)
    assert found.unfinished and "Not finished after" in found.trouble
    assert LOOP not in found.trouble and "it never ends, or it does far more work" in found.trouble


def test_what_sleeps_or_blocks_is_said_to_wait() -> None:
    def sleeps(x):
        time.sleep(1e9)

    def blocks(x):
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()

    for function in (sleeps, blocks):
        found = outcome(function, seconds=30.0)
        assert found.unfinished and "It waits and does not go on" in found.trouble
        assert "loop" not in found.trouble and found.line


def test_a_recursion_is_called_one() -> None:
    def again(x):
        return again(x)

    found = outcome(again)
    assert "It calls itself too often (without end, or more than" in found.trouble


def quadratic(x):
    """Right, and slow: it uses a given processor time, whatever else the machine does."""
    end = time.thread_time() + NEEDED
    while time.thread_time() < end:
        sum(range(1000))
    return x


NEEDED = 0.8


def test_slow_and_right_is_right() -> None:
    found = outcome(quadratic, seconds=10 * NEEDED)
    assert found.trouble is None and torch.equal(found.answer, torch.ones(3))


def test_eight_seconds_of_work_are_allowed() -> None:
    """Without working for eight seconds: twice that is within what the meter lets pass."""
    assert running.SECONDS >= 2 * 8


def test_what_others_compute_is_not_counted() -> None:
    """Three threads spin beside it: the call uses little, though the process uses much."""
    over = threading.Event()

    def spin():
        while not over.is_set():
            pass

    others = [threading.Thread(target=spin, daemon=True) for _ in range(3)]
    for other in others:
        other.start()
    try:
        began = time.process_time()

        def patient(x):
            while time.process_time() < began + 6 * SHARE:
                x.sum()
                time.sleep(0)
            return x

        found = outcome(patient, seconds=5 * SHARE, asleep=1000.0)
    finally:
        over.set()
    assert found.trouble is None


SHARE = 0.5


def test_the_learners_call_has_one_thread() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        seen = outcome(lambda x: torch.tensor(torch.get_num_threads()))
        assert seen.answer == 1 and torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def in_another_thread(function, **limits):
    found = []
    thread = threading.Thread(target=lambda: found.append(outcome(function, **limits)))
    thread.start()
    thread.join()
    return found[0]


def test_another_thread_is_watched_as_well() -> None:
    def sleeps(x):
        while True:
            time.sleep(0.01)

    found = in_another_thread(nothing_inside)
    assert found.trouble == f"{LOOP}, {watchdog.NO_EXIT}" and found.line
    assert "Not finished after" in in_another_thread(counter_forgotten).trouble
    assert "It waits and does not go on" in in_another_thread(sleeps, seconds=30.0).trouble
    assert in_another_thread(quadratic, seconds=10 * NEEDED).trouble is None


def test_a_caught_stop_comes_again() -> None:
    def stubborn(x):
        for _ in range(2):
            with contextlib.suppress(BaseException):
                nothing_inside(x)
        return x

    assert outcome(stubborn).trouble is None  # it came back, in the end


def test_a_trace_function_is_put_back() -> None:
    def trace(*_):
        return None

    before = watchdog.sys.gettrace()
    watchdog.sys.settrace(trace)
    try:
        outcome(counter_forgotten)
        assert watchdog.sys.gettrace() is trace
    finally:
        watchdog.sys.settrace(before)


def clocks(monkeypatch, step: float, computed: float, queued: float | None):
    """A meter on a machine that we make up: what passes at each look, and what was done in it."""
    looked = itertools.count()
    seen = SimpleNamespace(looks=0)

    def look():
        seen.looks = next(looked)
        return step * seen.looks

    monkeypatch.setattr(processor_time.time, "monotonic", look)
    return processor_time.Meter(
        lambda: computed * seen.looks,
        lambda: None if queued is None else (computed + queued) * seen.looks,
    )


def looks(meter, most: int) -> int | None:
    return next((i for i in range(most) if meter.overslept()), None)


def test_waiting_for_a_turn_is_not_sleeping(monkeypatch) -> None:
    """The thread gets a hundredth of the processor: for an hour that is no sleep."""
    assert looks(clocks(monkeypatch, 0.2, 0.002, queued=0.198), 18_000) is None


def test_sleeping_is_seen_among_waiting(monkeypatch) -> None:
    found = looks(clocks(monkeypatch, 0.2, 0.0, queued=0.1), 18_000)
    assert found is not None and found * 0.1 == pytest.approx(processor_time.ASLEEP, rel=0.01)


def test_where_nobody_counts_the_turns_patience_is_long(monkeypatch) -> None:
    """Thirty learners on two cores: twenty seconds of work take five minutes."""
    assert looks(clocks(monkeypatch, 0.2, 0.2 / 15, queued=None), 1500) is None
    found = looks(clocks(monkeypatch, 0.2, 0.0, queued=None), 18_000)
    assert found is not None and found * 0.2 == pytest.approx(processor_time.PATIENCE, rel=0.01)


def test_a_suspended_program_has_not_slept(monkeypatch) -> None:
    """Ctrl-Z, or a closed lid: an hour between two looks counts as a second."""
    assert looks(clocks(monkeypatch, 3600.0, 0.0, queued=0.0), 50) is None


def at(function, text: str) -> int:
    """The place of the first instruction of a line of the function that contains a text."""
    lines, start = inspect.getsourcelines(function)
    line = start + next(i for i, each in enumerate(lines) if text in each)
    return next(step for step, _, number in function.__code__.co_lines() if number == line)


def test_ways_out() -> None:
    def broken_off(x):
        while True:
            x = x + 1
            if x > 3:
                break
        return x

    def raising(x):
        while True:
            x = x + 1
            if x > 3:
                raise ValueError

    def yielding(x):
        while True:
            yield x + 0

    def caught(x):
        while True:
            try:
                x = next(x)
            except StopIteration:
                break

    def outer(x):
        while x:
            while True:
                x = x + 1

    for function in (broken_off, raising, yielding, caught):
        text = "next" if function is caught else "x + 0" if function is yielding else "x + 1"
        assert not endless.no_way_out(function.__code__, at(function, text)), function
    assert endless.no_way_out(outer.__code__, at(outer, "x + 1"))
    assert not endless.no_way_out(outer.__code__, at(outer, "while x"))


@pytest.mark.parametrize("windows", [False, True])
def test_the_clock_of_a_thread_counts_its_work(monkeypatch, windows) -> None:
    """On Windows the system's own call is asked; here a stand-in that answers in 100 ns."""
    if windows:

        class Kernel:
            class OpenThread:
                restype = None

                def __new__(cls, access, inherit, thread):
                    assert access and not inherit and thread == threading.get_native_id()
                    return 7

            @staticmethod
            def GetThreadTimes(handle, created, ended, kernel, user):
                kernel._obj.value, user._obj.value = 5_000_000, int(time.thread_time() * 1e7)

        monkeypatch.setattr(
            processor_time.ctypes, "windll", SimpleNamespace(kernel32=Kernel), raising=False
        )
        clock = processor_time._windows_clock(threading.get_native_id())
    else:
        clock = processor_time.clock_of_this_thread()
    before, own = clock(), time.thread_time()
    while time.thread_time() < own + 0.05:
        pass
    assert 0.05 <= clock() - before <= time.thread_time() - own + 0.05


def test_where_threads_have_no_clock_the_process_has_one(monkeypatch) -> None:
    monkeypatch.delattr(processor_time.time, "pthread_getcpuclockid")
    clock = processor_time.clock_of_this_thread()
    assert clock() == pytest.approx(time.thread_time(), abs=1.0)
    read = []
    thread = threading.Thread(target=lambda: read.append(clock()))
    thread.start()
    thread.join()
    assert read[0] >= 0


def test_a_ring_during_a_look_starts_no_other_look(monkeypatch) -> None:
    """On a busy machine a look lasts longer than the time between two rings."""
    looks = []

    def look(frame):
        looks.append(frame)
        guard._ring(0, frame)

    guard = watchdog.limit(5.0)
    with guard:
        monkeypatch.setattr(guard, "_look", look)
        guard._ring(0, None)
    assert looks == [None]


def test_no_limit_cuts_off_that_the_kernels_are_set_back(monkeypatch) -> None:
    """What is stopped once may be stopped again on its way out, while the clock still runs."""
    left = []

    @contextlib.contextmanager
    def slow(_):
        try:
            yield
        finally:
            end = time.process_time() + 0.5
            while time.process_time() < end:
                pass
            left.append("whole")

    monkeypatch.setattr(running, "sdpa_kernel", slow)
    assert outcome(nothing_inside).unfinished and left == ["whole"]
