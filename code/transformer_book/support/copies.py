"""Processes that are copies of one, in which what is slow to import is imported.

A program that imports PyTorch computes for two to four seconds before its first own line; a copy of
a process that has it begins at once, and as fresh as a program of its own, since nothing ever runs
in the one that is copied. Hash seeds alone are the same in all copies.

Three programs stand on this: the fork server of the course, the kernels of `make book` and of nbval
(tools/copied_kernels.py), and the programs of the tests (tests/copied.py). The last two run this
file by its path: nothing of the package is imported before their processes are copied.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, TypeVar

Made = TypeVar("Made")
POSSIBLE = sys.platform == "linux"
MESSAGE = 2**20  # bytes of a request, at most
FILES = 5  # that come with one, at most

_originals: dict[tuple[str, ...], socket.socket] = {}
_lock = threading.Lock()


class Copy:
    """A copy in the form of a `subprocess.Popen`."""

    stdin = stdout = stderr = None
    pid: int

    def poll(self) -> int | None:
        """Its status, if it has ended."""
        raise NotImplementedError

    def send_signal(self, number: int) -> None:
        """To the copy itself."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


def original(
    *program: str, words: Iterable[str] = (), **options: Any
) -> tuple[subprocess.Popen[Any], socket.socket]:
    """A process that is copied, and what asks it for copies; closed, it ends the process.

    program: what Python runs; it asks `controlled` for its end of the socket.
    words: behind that, for the program.
    options: of `subprocess.Popen`.
    """
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", *program, str(theirs.fileno()), *words],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            **options,
        )
    return process, mine


def of_original(
    make: Callable[[socket.socket], Made], server: str, *imported: str, **variables: str
) -> Made:
    """What is made with a copy of a process that has imported this, and began with that.

    server: the script that it runs, which calls `serve`.
    """
    key = (server, *imported)
    for _ in range(2):
        with _lock:
            if key not in _originals:
                environment = {**at_start(os.environ), **variables}
                _, _originals[key] = original(server, words=imported, env=environment)
            control = _originals[key]
        try:
            return make(control)
        except OSError:  # something ended it; not what the next copy is asked about
            with _lock:
                if _originals.get(key) is control:
                    _originals.pop(key).close()
    raise OSError("the process that is copied ends before it is")


def at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """Without the folders of modules: a copy looks up its own."""
    return {name: value for name, value in environment.items() if name != "PYTHONPATH"}


def ask(
    control: socket.socket, request: dict[str, Any], *streams: int
) -> tuple[socket.socket, int]:
    """What tells how a new copy ends, and its process.

    Raises:
        OSError: if there is nothing left to copy.
    """
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        message = json.dumps(request).encode()
        socket.send_fds(control, [message], [theirs.fileno(), *streams])
    answer = mine.recv(MESSAGE)
    if not answer:
        mine.close()
        raise BrokenPipeError("the process that is copied has ended")
    return mine, int(answer)


# --- in the process that is copied, and in its copies ---------------------------------------------


def controlled() -> socket.socket:
    """What this process is asked by for copies; nobody waits for one: it leaves no trace."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    return socket.socket(fileno=int(sys.argv[1]))


def prepare(names: Iterable[str], also: Callable[[], Any] = lambda: None) -> None:
    """Import what copies need, and do what else they would do first."""
    gc.disable()  # nothing of what is imported is garbage
    for name in names:
        importlib.import_module(name)
    also()
    gc.freeze()  # what is shared with the copies stays shared
    gc.enable()


def requests(control: socket.socket) -> Iterator[tuple[dict[str, Any], list[int]]]:
    """What is asked, and the open files that came with it, until nobody is left to ask.

    The number of the copy's process goes into the first file.
    """
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MESSAGE, FILES)
        if not message:
            return
        yield json.loads(message), descriptors
        for descriptor in descriptors:
            os.close(descriptor)


def serve(start: Callable[..., None]) -> None:
    """Be the process that is copied.

    start: called in each copy with its open files and the process above it; what was asked follows
        by name.
    """
    control = controlled()
    prepare(sys.argv[2:])
    above = os.getpid()
    for request, descriptors in requests(control):
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            start(descriptors, above, **request)
            return


def live_in(variables: Mapping[str, str]) -> None:
    """The environment of a copy; where temporary files lie is asked for again."""
    os.environ.clear()
    os.environ.update(variables)
    tempfile.tempdir = None


def become(folder: str, variables: Mapping[str, str]) -> None:
    """Where and with what a copy works; random numbers are drawn anew, Python's by themselves."""
    os.chdir(folder)
    live_in(variables)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()


def end(status: int = 0) -> NoReturn:
    """As Python ends, without taking apart what is imported: a second or two for PyTorch."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    os._exit(status)
