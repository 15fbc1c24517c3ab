"""A disk that fails, a user who interrupts, a process that dies: at any change of a file."""

from __future__ import annotations

import errno
import io
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


class Killed(BaseException):
    """The process is gone: nothing it would still do reaches the disk, no clean-up either."""


class Fault:
    """Lets the first `step - 1` changes of the disk pass, and breaks the next.

    Args:
        kind: `"full"`: a write stops half-way, and from then on only deleting works;
            `"interrupted"`: Ctrl-C, once; `"killed"`: a write stops half-way, and nothing follows.
        step: which change, from 1.

    Attributes:
        happened: whether there were so many changes.
        log: what was changed until then.
    """

    def __init__(self, kind: str, step: int) -> None:
        self.kind, self.step = kind, step
        self.happened = False
        self.log: list[str] = []

    def passes(self, what: str) -> bool:
        """Whether this change is made; False if it is only half made, before `strike`."""
        if self.happened:
            if self.kind == "killed" or (self.kind == "full" and what not in ("unlink", "rmdir")):
                self.strike()
            return True
        self.log.append(what)
        self.happened = len(self.log) == self.step
        return not self.happened

    def strike(self) -> None:
        if self.kind == "full":
            raise OSError(errno.ENOSPC, "No space left on device")
        raise KeyboardInterrupt if self.kind == "interrupted" else Killed


class _File:
    """A file whose writes can fail."""

    def __init__(self, file: Any, fault: Fault) -> None:
        self._file, self._fault = file, fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def write(self, data: Any) -> int:
        if not self._fault.passes("write"):
            self._file.write(data[: len(data) // 2])
            self._file.flush()
            self._fault.strike()
        return self._file.write(data)

    def truncate(self, size: int) -> int:
        if not self._fault.passes("truncate"):
            self._fault.strike()
        return self._file.truncate(size)


@contextmanager
def fault_in(kind: str, step: int) -> Iterator[Fault]:
    """Inside, the disk fails at that step."""
    fault = Fault(kind, step)
    real_open = io.open

    def guarded(what: str, real: Any) -> Any:
        def call(*args: object, **options: object) -> Any:
            if not fault.passes(what):
                fault.strike()
            return real(*args, **options)

        return call

    def opened(path: object, mode: str = "r", *args: object, **options: object) -> Any:
        if "r" in mode and "+" not in mode:
            return real_open(path, mode, *args, **options)
        if not fault.passes("open"):
            fault.strike()
        return _File(real_open(path, mode, *args, **options), fault)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io, "open", opened)
        for name in ("fsync", "mkdir", "rename", "replace", "rmdir", "unlink"):
            patch.setattr(os, name, guarded(name, getattr(os, name)))
        yield fault


def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every name of a host is unknown from now on."""

    def lookup(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
