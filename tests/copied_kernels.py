"""Kernels for nbval that are copies of one process: see tests/copied.py.

Each is a fresh one, as in Jupyter, where `make book` and a learner run a chapter.
"""

from __future__ import annotations

import os
import signal
import time
import uuid
from typing import Any

from tests.copied import POSSIBLE, ask, of_original

__all__ = ["POSSIBLE", "manager"]
IMPORTED = (
    *("ipykernel.kernelapp", "ipykernel.ipkernel", "ipywidgets", "anywidget"),
    *("torch", "torch.testing", "torch._dynamo", "pandas", "seaborn", "spacy"),
)


class Copy:
    """A kernel in the form of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, **request: Any) -> None:
        import psutil

        # As ipykernel has it; it is read when matplotlib is imported.
        backend = {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
        ended, self.pid = of_original(lambda control: ask(control, request), *IMPORTED, **backend)
        ended.close()
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
