"""Kernels for nbval that are copies of one process, in which what is slow to import is imported.

A chapter's kernel computes for four seconds before the first line of the chapter does. Nothing of
the package is imported before it is copied, and no chapter ever runs in the process that is: each
has a fresh one, as in Jupyter, where `make book` and a learner run it.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from functools import cache
from typing import Any

IMPORTED = (
    *("ipykernel.kernelapp", "ipykernel.ipkernel", "ipywidgets", "anywidget"),
    *("torch", "torch.testing", "torch._dynamo", "pandas", "seaborn"),
)
MESSAGE = 2**20  # bytes of a request, at most
POSSIBLE = sys.platform == "linux"


@cache
def _original() -> socket.socket:
    """The process that is copied is behind it; it ends with this one, and its copies with it."""
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        subprocess.Popen(
            [sys.executable, "-P", __file__, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # As ipykernel has it; it is read when matplotlib is imported.
            env={**os.environ, "MPLBACKEND": "module://matplotlib_inline.backend_inline"},
        )
    return mine


def _copied(message: bytes) -> int:
    """The process of a new copy.

    Raises:
        OSError: if there is nothing left to copy.
    """
    original = _original()
    original.sendall(message)
    answer = original.recv(MESSAGE)
    if not answer:
        raise BrokenPipeError("the process that is copied has ended")
    return int(answer)


class Copy:
    """A kernel in the form of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, **request: Any) -> None:
        import psutil

        message = json.dumps(request).encode()
        try:
            self.pid = _copied(message)
        except OSError:  # something ended the original; not what the next notebook is asked about
            _original.cache_clear()
            self.pid = _copied(message)
        self._process = psutil.Process(self.pid)

    def poll(self) -> int | None:
        """0 if it has ended."""
        import psutil

        try:
            ended = self._process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            ended = True
        return 0 if ended or not self._process.is_running() else None

    def wait(self) -> int:
        """Until it has ended."""
        while self.poll() is None:
            time.sleep(0.01)
        return 0

    def send_signal(self, number: int) -> None:
        """To the kernel itself."""
        if self.poll() is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


def manager(**given: Any) -> Any:
    """A `KernelManager` that has a copy made where Jupyter starts a program."""
    from jupyter_client.manager import KernelManager
    from jupyter_client.provisioning import LocalProvisioner

    class Provisioner(LocalProvisioner):
        async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
            arguments, folder = cmd[cmd.index("-f") :], str(options.get("cwd") or os.getcwd())
            self.process = Copy(arguments=arguments, folder=folder, variables=options["env"])
            self.pid = self.process.pid
            return self.connection_info

    made = KernelManager(**given)
    made.provisioner = Provisioner(
        parent=made, kernel_spec=made.kernel_spec, kernel_id=uuid.uuid4().hex
    )
    return made


def main() -> None:
    """The process that is copied."""
    control = socket.socket(fileno=int(sys.argv[1]))
    for name in IMPORTED:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a copy: it leaves no trace
    gc.freeze()  # what is shared with the copies stays shared
    while message := control.recv(MESSAGE):
        original, pid = os.getpid(), os.fork()
        if not pid:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            gc.unfreeze()
            _kernel(original, **json.loads(message))
            return
        control.sendall(str(pid).encode())


def _kernel(original: int, arguments: list[str], folder: str, variables: dict[str, str]) -> None:
    import numpy as np
    from ipykernel.kernelapp import IPKernelApp

    os.setsid()
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    np.random.seed()  # Python's own random numbers are drawn anew by themselves
    sys.argv = ["ipykernel_launcher.py", *arguments]
    # A kernel ends with the process above it.
    IPKernelApp.launch_instance([*arguments, f"--IPKernelApp.parent_handle={original}"])


if __name__ == "__main__":
    main()
