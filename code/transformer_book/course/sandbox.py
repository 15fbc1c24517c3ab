"""Run a student's notebook in processes of its own, with limits, and bring back what it did.

The notebook goes in and comes out through pipes; nothing of the course lies beside it on the disk.
One process, the `supervisor`, runs cell after cell. Where the system isolates processes, it is a
copy made by the `forkserver`; elsewhere it is a program, and no prison: the code runs as the user
who grades. Against malice, put a container around the whole command then (see the teaching guide).
"""

from __future__ import annotations

import functools
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

import psutil

from transformer_book.course import isolation, supervisor
from transformer_book.course.forkserver import ForkServer, environment
from transformer_book.course.supervisor import lives

MARK = "TRANSFORMER_BOOK_GRADING"  # in the environment of every process of a submission


@dataclass(frozen=True)
class Limits:
    """What one submission may use. A busy machine takes none of it away.

    Attributes:
        seconds: processor time of all its processes together; it may sleep for as long again.
        cell_seconds: processor time of one cell.
        memory: bytes, of all its processes together.
        processes: how many it may have at a time, the kernel included.
        cell_asleep: seconds that one cell may sleep, or wait for something.
        patience: times `seconds`, by the wall clock, for what no other limit sees.
    """

    seconds: float = 600.0
    cell_seconds: float = 60.0
    memory: int = 6 * 2**30
    processes: int = 64
    cell_asleep: float = 60.0
    patience: float = 20.0


@dataclass(frozen=True)
class Run:
    """What came back.

    Attributes:
        notebook: as a dictionary, with outputs; `None` if nothing came back.
        events: what happened that should not: dictionaries with `kind` (`"timeout"`, `"died"`,
            `"memory"`, `"not run"`), `cell` (its index) and `text`.
        seconds: that it took, by the clock.
        again: by test, what the second look has seen, see `supervisor`; `None` if there was none.
    """

    notebook: dict[str, Any] | None
    events: tuple[dict[str, Any], ...]
    seconds: float
    again: dict[str, dict[str, Any]] | None = None


def run(
    notebook: dict[str, Any], limits: Limits, others: Mapping[str, Sequence[str]] | None = None
) -> Run:
    """Run a notebook in processes of its own; whatever happens there, a `Run` comes back.

    When this returns, none of its processes is left.

    Args:
        notebook: as a dictionary, each cell with what it is for, see `supervisor`.
        limits: for all of it.
        others: by test, the same test with other inputs, several times, for the second look.
    """
    start = time.monotonic()
    # Files by which a kernel is reached have names of at most 107 characters.
    short = "/tmp" if len(tempfile.gettempdir()) > 60 and os.path.isdir("/tmp") else None
    with tempfile.TemporaryDirectory(prefix="grading-", dir=short) as place:
        folder, private = os.path.join(place, "home"), os.path.join(place, "runtime")
        scratch = os.path.join(place, "scratch")
        for path in (folder, private, scratch):
            os.mkdir(path)
        variables = environment() | {
            "HOME": folder,
            "TMPDIR": scratch,
            "IPYTHONDIR": scratch,
            "JUPYTER_RUNTIME_DIR": private,
            "JUPYTER_PLATFORM_DIRS": "1",
            "MPLCONFIGDIR": scratch,
            "MPLBACKEND": "Agg",
            "OMP_NUM_THREADS": "1",
            "PYTHONUTF8": "1",
        }
        order = {"notebook": notebook, "home": folder, "scratch": scratch, **asdict(limits)}
        order["others"] = dict(others or {})
        mine, theirs = socket.socketpair()
        over = threading.Event()
        patience = limits.patience * limits.seconds
        with mine:
            with theirs:
                server = fork_server()
                started = _Forked if server else _Spawned
                submission = started(theirs, folder, variables)
            _running.add(submission)
            try:
                with _watched(submission, limits, over, scratch):
                    answer = _exchanged(mine, json.dumps(order).encode(), patience)
            finally:
                submission.end()
                _running.discard(submission)
    seconds = time.monotonic() - start
    with suppress(ValueError, KeyError):
        found = json.loads(answer)
        events = [*found["events"]]
        if over.is_set():
            events = [e | {"kind": "memory"} if e["kind"] == "died" else e for e in events]
        return Run(found["notebook"], tuple(events), seconds, found["again"])
    kind = "timeout" if seconds >= patience else "died"
    text = "nothing came back in time" if kind == "timeout" else "its processes ended themselves"
    return Run(None, ({"kind": kind, "cell": None, "text": text},), seconds)


_running: set[_Spawned | _Forked] = set()


def end_all() -> None:
    """End every submission that runs, whichever thread has started it."""
    for submission in [*_running]:
        submission.end()


def fork_server() -> ForkServer | None:
    """The server of this process, or `None` where the system does not isolate processes."""
    with _starting:
        return _fork_server()


_starting = threading.Lock()  # of two threads that ask, one starts it


@functools.cache
def _fork_server() -> ForkServer | None:
    if sys.platform != "linux":
        return None
    server = ForkServer()
    return server if server.isolates else None


def _exchanged(channel: socket.socket, order: bytes, patience: float) -> bytes:
    """Send an order, and bring back the answer; what came in time."""
    channel.settimeout(patience)
    answer = bytearray()
    with suppress(OSError):  # it ended, or took too long
        channel.sendall(order)
        channel.shutdown(socket.SHUT_WR)
        while part := channel.recv(2**20):
            answer += part
    return bytes(answer)


class Unsafe(ValueError):
    """Grading would do what a teacher cannot want; the text says what."""


def circumstances() -> str:
    """What a teacher has to know before anything runs, in a sentence; empty if there is nothing.

    Raises:
        Unsafe: if students' code would run as root.
    """
    if fork_server() is None:
        _other_user()
        return (
            "This system does not isolate processes: students' code can read and change what you "
            "can, and each answer is looked at only beside its test."
        )
    told = []
    if (user := isolation.stranger()) is not None:
        told.append(f"You are root: students' code runs as user {user}, to whom nothing belongs.")
    if isolation.library() is None:
        told.append(
            "libseccomp is not installed: students' code is isolated, but may make every call of "
            "the system, and memory outside its processes is not bounded."
        )
    return " ".join(told)


@functools.cache
def _other_user() -> int | None:
    """Whose the processes are that are not isolated; `None`: of the one who grades."""
    user = isolation.stranger()
    if user is not None:
        trial = [sys.executable, "-P", "-c", "import transformer_book"]
        as_user = {"user": user, "group": user, "extra_groups": [], "cwd": "/"}
        with suppress(OSError, subprocess.CalledProcessError):
            subprocess.run(trial, env=environment(), capture_output=True, check=True, **as_user)
            return user
        raise Unsafe(
            "You are root, this system does not isolate processes, and no other user may start "
            "this Python: grade as another user, so that students' code is not root's."
        )
    return None


class _Spawned:
    """A submission whose processes are started as programs: found by a mark they inherit."""

    def __init__(self, channel: socket.socket, folder: str, variables: dict[str, str]) -> None:
        self.token = uuid.uuid4().hex
        options: dict[str, Any] = {}
        if (user := _other_user()) is not None:
            options = {"user": user, "group": user, "extra_groups": []}
            place = os.path.dirname(folder)
            os.chmod(place, 0o711)
            for path in os.scandir(place):
                os.chown(path, user, user)
        self.supervisor = subprocess.Popen(
            [sys.executable, "-P", "-m", supervisor.__name__],
            stdin=channel,
            stdout=channel,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**variables, MARK: self.token},
            start_new_session=True,
            **options,
        )

    def processes(self) -> list[psutil.Process]:
        """Every living process of the student's code, even those that left its process group."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                if (
                    process.pid != self.supervisor.pid
                    and process.status() != psutil.STATUS_ZOMBIE
                    and process.environ().get(MARK) == self.token
                ):
                    found.append(process)
        return found

    def end(self) -> None:
        """Kill all, and those they started meanwhile."""
        self.supervisor.kill()
        self.supervisor.wait()
        _end(self.processes)


class _Forked:
    """A submission whose processes are copies: all that the kernel's maker has started."""

    def __init__(self, channel: socket.socket, folder: str, variables: dict[str, str]) -> None:
        self.supervisor = fork_server().fork(channel, folder, variables)

    def processes(self) -> list[psutil.Process]:
        """Every living process of the student's code: none can leave."""
        with suppress(psutil.Error):
            return [p for maker in self.supervisor.children() for p in maker.children(True)]
        return []

    def end(self) -> None:
        """Kill all: with the supervisor its kernels die."""
        with suppress(psutil.Error):
            everyone = [self.supervisor, *self.supervisor.children(recursive=True)]
            _end(lambda: [process for process in everyone if lives(process)])


def _end(processes: Callable[[], list[psutil.Process]]) -> None:
    for _ in range(50):
        left = processes()
        if not left:
            return
        _kill(left)


def _kill(processes: Sequence[psutil.Process]) -> None:
    for process in processes:
        with suppress(psutil.Error):
            process.kill()
    for _ in range(500):
        if not any(map(lives, processes)):
            return
        time.sleep(0.01)


@contextmanager
def _watched(
    submission: _Spawned | _Forked, limits: Limits, over: threading.Event, scratch: str
) -> Iterator[None]:
    """While it lasts, what uses too much memory, or has too many processes, is killed."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.5):
            running = submission.processes()
            enough = limits.memory - _held(running, scratch)
            if len(running) > limits.processes or _memory(running, enough) > enough:
                over.set()
                _kill(running)  # and wait: what dies must not count against the next kernel

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _held(processes: Sequence[psutil.Process], scratch: str) -> int:
    """Bytes that belong to no process, but to the namespaces of one."""
    apart: dict[str, int] = {}
    for process in processes:
        with suppress(OSError):
            apart[os.readlink(f"/proc/{process.pid}/ns/mnt")] = process.pid
    return sum(isolation.held(pid, scratch) for pid in apart.values())


def _memory(processes: Sequence[psutil.Process], enough: int) -> int:
    """Bytes, counting shared memory once; exact only where there may be more than `enough`."""
    resident = 0
    for process in processes:
        with suppress(psutil.Error):
            resident += process.memory_info().rss
    if resident <= enough or not psutil.LINUX:
        return resident
    shared_once = 0
    for process in processes:
        with suppress(psutil.Error):
            shared_once += process.memory_full_info().pss
    return shared_once
