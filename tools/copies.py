"""Processes that are copies of one, in which what is slow to import is imported.

A program that imports PyTorch computes for two to four seconds before its first own line. Nothing
of the package, of the tests and of the tools is imported before a process is copied, and none of
them ever runs in the one that is: each copy starts as fresh as a program of its own. Hash seeds
alone are the same in all copies.
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
import threading
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar

Made = TypeVar("Made")
POSSIBLE = sys.platform == "linux"
MESSAGE = 2**20  # bytes of a request, at most

_originals: dict[tuple[str, ...], socket.socket] = {}
_lock = threading.Lock()


def _original(
    server: str, imported: tuple[str, ...], variables: Mapping[str, str]
) -> socket.socket:
    """The process that is copied is behind it; it ends with this one, and its kernels with it."""
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        subprocess.Popen(
            [sys.executable, "-P", server, str(theirs.fileno()), *imported],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**at_start(os.environ), **variables},
        )
    return mine


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
                _originals[key] = _original(server, imported, variables)
            original = _originals[key]
        try:
            return make(original)
        except OSError:  # something ended it; not what the next copy is asked about
            with _lock:
                if _originals.get(key) is original:
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


def serve(start: Callable[..., None]) -> None:
    """Be the process that is copied.

    start: called in each copy with its open files and the process above it; what was asked follows
        by name. It writes the number of its process into the first file.
    """
    control = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[2:]:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a copy: it leaves no trace
    gc.freeze()  # what is shared with the copies stays shared
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MESSAGE, 5)
        if not message:
            return
        above = os.getpid()
        if not os.fork():
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            start(descriptors, above, **json.loads(message))
            return
        for descriptor in descriptors:
            os.close(descriptor)


def become(folder: str, variables: dict[str, str]) -> None:
    """Where and with what a copy works; random numbers are drawn anew, Python's by themselves."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()


def end(status: int = 0) -> NoReturn:
    """As Python ends, without taking apart what is imported: a second or two for PyTorch."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    os._exit(status)
