"""Execute notebooks side by side, each in a kernel of its own with one thread; say how far it is.

What stops a cell is what it uses (`transformer_book.support.metered_kernels`), never the clock. A
notebook that fails hides no other one: the rest is executed, and each failure is named in one line.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from copied_kernels import ONE_THREAD, copied
from execution_cache import read
from jupyter_client.manager import AsyncKernelManager, KernelManager
from nbclient.exceptions import CellExecutionError, DeadKernelError

from transformer_book.support.metered_kernels import (
    CELL_ASLEEP,
    CELL_SECONDS,
    CellStopped,
    MeteredClient,
)

AT_MOST = 4
FEW = 3  # notebooks: starting their kernels is quicker than to make a process that is copied
COSTS = {"half": 1, "under": 2, "a": 3, "about": 3, "two": 4, "three": 5}  # "two minutes to run"


@dataclass(frozen=True)
class Failure:
    """A notebook that did not run to its end: which cell stopped it, and why, in one line."""

    path: Path
    cell: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path.stem}, {self.cell}: {self.reason}"


@dataclass(frozen=True)
class Executed:
    """A notebook with the outputs of this run, and the seconds it took by the clock."""

    path: Path
    notebook: Any
    seconds: float


def cores() -> int:
    """How many processors this process may use."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return usable or 1


def jobs_here() -> int:
    """How many notebooks are executed at a time: as many as there are processors, at most four."""
    return min(AT_MOST, cores())


def cost(path: Path) -> int:
    """How long a chapter runs, roughly: by what it says of itself in its first cell."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    said = re.search(r"for all of it; (\w+)[\w ]* to run", json.dumps(notebook["cells"][:1]))
    return COSTS.get(said[1], 2) if said else 2


class Progress:
    """Tells which notebooks run, which are done and what is left: on a terminal in one line that
    changes, elsewhere in a line for each that ends."""

    def __init__(self, names: Sequence[str], out: Any = None) -> None:
        self.left = list(names)
        self.of = len(names)
        self.running: dict[str, str] = {}
        self.out = out or sys.stderr
        self.lock = threading.Lock()
        self.done = 0

    def at(self, name: str, where: str = "") -> None:
        """A notebook has come to a cell."""
        with self.lock:
            if name in self.left:
                self.left.remove(name)
            self.running[name] = where
            if self.out.isatty():
                self.out.write(f"\r\x1b[2K{self.line()[: self._width()]}")
                self.out.flush()

    def end(self, name: str, how: str) -> None:
        """A notebook has ended."""
        with self.lock:
            self.running.pop(name, None)
            self.done += 1
            clear = "\r\x1b[2K" if self.out.isatty() else ""
            rest = f"; running: {', '.join(self.running)}" if self.running else ""
            rest += f"; left: {len(self.left)}" if self.left else ""
            self.out.write(f"{clear}[{self.done}/{self.of}] {name}: {how}{rest}\n")
            self.out.flush()

    def line(self) -> str:
        """What stands on the terminal."""
        running = ", ".join(f"{name} {where}".strip() for name, where in self.running.items())
        return f"[{self.done}/{self.of}] running: {running}; left: {len(self.left)}"

    @staticmethod
    def _width() -> int:
        try:
            return os.get_terminal_size(sys.stderr.fileno()).columns - 1
        except OSError:
            return 100


def execute(
    path: Path,
    at: Callable[[str], None] = lambda where: None,
    seconds: float = CELL_SECONDS,
    asleep: float = CELL_ASLEEP,
    kernels: type[KernelManager] = AsyncKernelManager,
) -> Executed | Failure:
    """Execute one notebook; whatever its cells do, an answer comes back."""
    notebook = read(path)
    began = time.monotonic()
    count = sum(cell.cell_type == "code" for cell in notebook.cells)
    last = [0]

    def start(cell: Any, cell_index: int) -> None:
        last[0] = cell_index
        code = sum(each.cell_type == "code" for each in notebook.cells[: cell_index + 1])
        at(f"(cell {code} of {count})")

    client = MeteredClient(
        notebook,
        kernel_name="python3",
        kernel_manager_class=kernels,
        store_widget_state=True,
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],
        resources={"metadata": {"path": str(path.parent)}},
        cell_seconds=seconds,
        cell_asleep=asleep,
        on_cell_start=start,
    )

    def failure(reason: str) -> Failure:
        name = notebook.cells[last[0]].get("id", "")
        return Failure(path, f"cell {last[0] + 1} ({name})", " ".join(reason.split())[:300])

    try:
        client.execute(env={**os.environ, **ONE_THREAD})
    except CellExecutionError as error:
        return failure(f"{error.ename}: {error.evalue}")
    except (CellStopped, DeadKernelError, RuntimeError) as error:
        return failure(str(error) or type(error).__name__)
    return Executed(path, notebook, time.monotonic() - began)


def execute_all(
    paths: Sequence[Path], jobs: int | None = None, seconds: float = CELL_SECONDS
) -> Iterator[Executed | Failure]:
    """Execute notebooks, the long ones first; give each as it ends."""
    progress = Progress([path.stem for path in paths])
    kernels = copied(AsyncKernelManager) if len(paths) > FEW else AsyncKernelManager

    def run(path: Path) -> Executed | Failure:
        progress.at(path.stem)
        at = partial(progress.at, path.stem)
        found = execute(path, at, seconds, kernels=kernels)
        failed = isinstance(found, Failure)
        progress.end(path.stem, "FAILED" if failed else f"{found.seconds:.0f} s")
        return found

    with ThreadPoolExecutor(max(1, jobs or jobs_here())) as pool:
        ordered = sorted(paths, key=cost, reverse=True)
        for ended in as_completed([pool.submit(run, path) for path in ordered]):
            yield ended.result()


def tell(failures: Sequence[Failure], after: str = "") -> None:
    """The end of the output: each failed notebook, cell and reason in one line."""
    if failures:
        print(f"\n{len(failures)} of the notebooks failed{after}:", file=sys.stderr)
        for failure in sorted(failures, key=lambda each: each.path):
            print(f"  {failure}", file=sys.stderr)
