"""Kernels that are copies of one process (see `transformer_book.support.copies`), on Linux.

A kernel computes for four seconds before its first own line, most of it to import PyTorch. A copy
is a fresh kernel all the same, as Jupyter starts one for a learner.
"""

from __future__ import annotations

import atexit
import gc
import os
import runpy
import sys
import time
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

# By its path: in the process that is copied, nothing of the package is imported.
_BASE = Path(__file__).parents[1] / "code" / "transformer_book" / "support" / "copies.py"
copies = SimpleNamespace(**runpy.run_path(str(_BASE)))

IMPORTED = (
    *("ipykernel.kernelapp", "ipykernel.ipkernel", "ipywidgets", "anywidget"),
    # PyTorch imports the third when the first optimizer makes a step.
    *("torch", "torch.testing", "torch._dynamo", "pandas", "seaborn", "spacy"),
)
# One thread in each kernel; a second would only wait for the first (and spin meanwhile).
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE"}
# Read when PyTorch is imported, and when matplotlib is.
BEFORE = {**ONE_THREAD, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}


class Copy(copies.Copy):
    """A kernel in the form of a `subprocess.Popen`."""

    def __init__(self, **request: Any) -> None:
        import psutil

        ended, self.pid = copies.of_original(
            lambda control: copies.ask(control, request), __file__, *IMPORTED, **BEFORE
        )
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


def copied(kind: type) -> type:
    """A kind of `KernelManager` that has a copy made where Jupyter starts a program.

    Where no copy can be made, a program is started.
    """
    from jupyter_client.provisioning import LocalProvisioner

    if not copies.POSSIBLE:
        return kind

    class Provisioner(LocalProvisioner):
        async def launch_kernel(self, cmd: list[str], **options: Any) -> Any:
            arguments, folder = cmd[cmd.index("-f") :], str(options.get("cwd") or os.getcwd())
            try:
                self.process = Copy(arguments=arguments, folder=folder, variables=options["env"])
            except OSError:
                return await super().launch_kernel(cmd, **options)
            self.pid = self.process.pid
            return self.connection_info

    class Manager(kind):
        def __init__(self, *arguments: Any, **traits: Any) -> None:
            super().__init__(*arguments, **traits)
            self.provisioner = Provisioner(
                parent=self, kernel_spec=self.kernel_spec, kernel_id=uuid.uuid4().hex
            )

    return Manager


# --- in a copy ------------------------------------------------------------------------------------


def _kernel(
    descriptors: list[int],
    above: int,
    arguments: list[str],
    folder: str,
    variables: dict[str, str],
) -> None:
    from ipykernel.kernelapp import IPKernelApp

    os.write(descriptors[0], str(os.getpid()).encode())
    for descriptor in descriptors:
        os.close(descriptor)
    gc.unfreeze()
    os.setsid()
    copies.become(folder, variables)
    sys.argv = ["ipykernel_launcher.py", *arguments]
    # A kernel ends with the process above it.
    IPKernelApp.launch_instance([*arguments, f"--IPKernelApp.parent_handle={above}"])
    # Taking its threads apart, one may wait for another that has ended already.
    atexit.unregister(IPKernelApp.instance().close)
    copies.end()


if __name__ == "__main__":
    copies.serve(_kernel)
