"""Run a student's notebook in processes of its own, with limits, and bring back what it did.

The notebook goes in and comes out through pipes; nothing of the course lies beside it on the disk.
One process (`python -m transformer_book.course.sandbox`) starts the kernel, runs cell after cell,
and outlives whatever a cell does to the kernel. It is no prison: the code runs as the user who
grades. Against malice, put a container around the whole command (see the teaching guide).
"""

from __future__ import annotations

import ast
import copy
import ctypes
import functools
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

import psutil

from transformer_book.course.forkserver import ForkServer, KernelMaker, environment

MARK = "TRANSFORMER_BOOK_GRADING"  # in the environment of every process of a submission
OUTPUT = 100_000  # characters of output that are kept of a cell
PICTURE = 2_000_000  # characters of one output that is no plain text
RESTARTS = 3  # of a kernel that died or does not answer, for one submission
TOO_LONG = "CellTimeout"
GRACE = 3.0  # seconds to answer an interrupt, of processor time or asleep


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
        again: by test, on which of its inputs the answer was right in the second look; `None` if
            there was none.
    """

    notebook: dict[str, Any] | None
    events: tuple[dict[str, Any], ...]
    seconds: float
    again: dict[str, list[bool]] | None = None


def run(notebook: dict[str, Any], limits: Limits) -> Run:
    """Run a notebook in processes of its own; whatever happens there, a `Run` comes back.

    When this returns, none of its processes is left.
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
                with _watched(submission, limits, over):
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


class _Spawned:
    """A submission whose processes are started as programs: found by a mark they inherit."""

    def __init__(self, channel: socket.socket, folder: str, variables: dict[str, str]) -> None:
        self.token = uuid.uuid4().hex
        self.supervisor = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],
            stdin=channel,
            stdout=channel,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**variables, MARK: self.token},
            start_new_session=True,
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
            _end(lambda: [process for process in everyone if _lives(process)])


def _lives(process: psutil.Process) -> bool:
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


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
        if not any(map(_lives, processes)):
            return
        time.sleep(0.01)


@contextmanager
def _watched(
    submission: _Spawned | _Forked, limits: Limits, over: threading.Event
) -> Iterator[None]:
    """While it lasts, what uses too much memory, or has too many processes, is killed."""
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.5):
            running = submission.processes()
            if len(running) > limits.processes or _memory(running, limits.memory) > limits.memory:
                over.set()
                _kill(running)  # and wait: what dies must not count against the next kernel

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


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


# --- inside the process of the submission ---------------------------------------------------------


def main(maker: KernelMaker | None = None) -> None:
    """Read an order from stdin, run its notebook, write the answer to stdout.

    Args:
        maker: of isolated kernels; `None`: kernels are started as Jupyter does it.
    """
    with open(0, "rb", closefd=False) as stdin:
        order = json.loads(stdin.read())
    answer = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody else writes there
    with suppress(OSError, AttributeError):
        # Orphans of the submission become children of this process: found, and ended with it.
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    if maker is None:
        # A demand far above the limit fails in the student's cell, with Python's own error. Address
        # space is not memory: torch maps several GiB that it never touches.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (order["memory"] + 2**33,) * 2)
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (2**28, 2**28))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    found = _run_cells(order, maker)
    with os.fdopen(answer, "wb") as out:
        out.write(json.dumps(found).encode())


def _run_cells(order: dict[str, Any], maker: KernelMaker | None) -> dict[str, Any]:
    import nbformat

    from transformer_book.kernels import meter_of

    notebook = nbformat.from_dict(order["notebook"])
    # Its own children, orphans too: whatever a cell has started.
    whole = meter_of(_below(psutil.Process()), order["seconds"])

    def used_up() -> str:
        too_long = whole.overslept() or whole.computed() > order["seconds"]
        return "stopped: the submission had used up its time" if too_long else ""

    events: list[dict[str, Any]] = []
    broken: set[int] = set()  # cells that ended a kernel: not run again when others are replayed
    at = 0
    for _ in range(RESTARTS + 1):
        at = _session(notebook, at, broken, order, maker, used_up, events)
        if at >= len(notebook.cells) or used_up():
            break
    for index in range(at, len(notebook.cells)):
        cell = notebook.cells[index]
        if cell.cell_type == "code" and not cell.get("execution_count"):
            _fail(cell, "NotRun", "This cell was not run: the time or the kernels were used up.")
            events.append({"kind": "not run", "cell": index, "text": "not run"})
    again = None
    if maker is not None:
        unsafe = broken | {event["cell"] for event in events}
        again = _look_again(notebook, unsafe, order, maker, used_up)
    return {"notebook": dict(notebook), "events": events, "again": again}


def _below(process: psutil.Process) -> Callable[[], list[psutil.Process]]:
    """All processes below it, looked for once in a twentieth of a second.

    To look reads a file for every process of the machine, and each limit asks several times.
    """
    found: list[psutil.Process] = []
    looked = float("-inf")

    def below() -> list[psutil.Process]:
        nonlocal found, looked
        if time.monotonic() - looked > 0.05:
            found = process.children(recursive=True)
            looked = time.monotonic()
        return found

    return below


def _session(
    notebook: Any,
    start: int,
    broken: set[int],
    order: dict[str, Any],
    maker: KernelMaker | None,
    used_up: Callable[[], str],
    events: list[dict[str, Any]],
) -> int:
    """One kernel: replay the cells before `start`, run the others; where it ended."""
    from nbclient.exceptions import DeadKernelError

    client, replies = _client(notebook, order, used_up)
    if maker is not None:
        _isolate(client, maker, order)
    try:
        with client.setup_kernel():
            for index, cell in enumerate(notebook.cells):
                replay = index < start
                if cell.cell_type != "code" or index in broken:
                    continue
                if used_up():
                    return index
                if not replay:
                    cell.outputs, cell.execution_count = [], None
                target = copy.deepcopy(cell) if replay else cell
                try:
                    client.execute_cell(target, index)
                    notebook.cells[index] = cell  # nbclient puts there what it was given
                except DeadKernelError:
                    broken.add(index)
                    _fail(cell, "KernelDied", "This cell ended Python itself.")
                    events.append({"kind": "died", "cell": index, "text": "ended Python itself"})
                    return index + 1
                content = replies.pop(index, {}).get("content", {})
                if not replay:
                    cell.metadata["finished"] = content.get("status") == "ok"
                if client.stopped:
                    if not replay:
                        text = client.stopped
                        events.append({"kind": "timeout", "cell": index, "text": text})
                    if not _answers(client):
                        broken.add(index)
                        return max(start, index + 1)
        return len(notebook.cells)
    except (DeadKernelError, RuntimeError, OSError) as error:
        events.append({"kind": "died", "cell": start, "text": f"no kernel: {error}"[:200]})
        broken.add(start)
        return start + 1


def _look_again(
    notebook: Any,
    unsafe: set[int],
    order: dict[str, Any],
    maker: KernelMaker,
    used_up: Callable[[], str],
) -> dict[str, list[bool]]:
    """What the answers give in a fresh kernel that sees no test; see `second_look`.

    A cell says in its metadata what it is for: `"course"`, `"test"`, or the names that a student's
    answer defines.
    """
    from nbclient.exceptions import DeadKernelError

    from transformer_book.course.second_look import ask_judge, question

    right: dict[str, list[bool]] = {}
    passed = {
        index
        for index, cell in enumerate(notebook.cells)
        if cell.metadata.get("for") == "test"
        and cell.metadata.get("finished")
        and all(out.output_type != "error" for out in cell.outputs)
    }
    if not passed:
        return right
    # Of a copy: nbclient writes into its notebook, and students see what the first look brought.
    client, _ = _client(copy.deepcopy(notebook), order, used_up)
    _isolate(client, maker, order)
    judge = maker.judge()

    def ask(made: str, sent: str, build: bool) -> str:
        code, expression = question(made, sent, build)
        client.stopped, client.meter = "", None
        request = client.kc.execute(code, store_history=False, user_expressions={"it": expression})
        with suppress(LookupError, TypeError, SyntaxError, ValueError):
            reply = client.wait_for_reply(request)
            return str(
                ast.literal_eval(reply["content"]["user_expressions"]["it"]["data"]["text/plain"])
            )
        return ""

    try:
        with client.setup_kernel():
            for index, cell in enumerate(notebook.cells):
                role = cell.metadata.get("for")
                if cell.cell_type != "code" or index in unsafe or cell.metadata.get("guard"):
                    continue
                if used_up():
                    break
                if index in passed:
                    test = cell.metadata.nbgrader.grade_id
                    right[test] = ask_judge(judge, {"test": cell.source}, ask)
                elif role != "test":
                    client.execute_cell(copy.deepcopy(cell), index)
                if role == "course":
                    ask_judge(judge, {"run": cell.source}, ask)
                elif isinstance(role, list):
                    ask_judge(judge, {"names": role}, ask)
    except (DeadKernelError, RuntimeError, OSError):
        pass  # what has not been seen is not right
    return right


def _client(
    notebook: Any, order: dict[str, Any], used_up: Callable[[], str]
) -> tuple[Any, dict[int, dict[str, Any]]]:
    """A client that bounds what is used and printed; the kernel's replies by index of the cell."""
    from transformer_book.kernels import MeteredClient

    replies: dict[int, dict[str, Any]] = {}

    def note(cell: Any, cell_index: int, execute_reply: dict[str, Any]) -> None:
        replies[cell_index] = execute_reply
        content = execute_reply["content"]
        if content["status"] == "error" and not any(o.output_type == "error" for o in cell.outputs):
            why = f"This cell was {client.stopped}." if client.stopped else content["evalue"]
            _fail(cell, content["ename"], why)

    class Client(MeteredClient):
        """Keeps the beginning of what a cell prints."""

        def output(self, outs: list, msg: dict, display_id: str, cell_index: int) -> Any:
            content = msg["content"]
            used = sum(len(str(out.get("text", "")) or str(out.get("data", ""))) for out in outs)
            if msg["msg_type"] == "stream":
                content["text"] = content["text"][:OUTPUT]
            elif msg["msg_type"] == "error":
                content["evalue"] = content["evalue"][:OUTPUT]
                content["traceback"] = [line[:OUTPUT] for line in content["traceback"][:100]]
                used = 0  # it is always told
            if used > OUTPUT or len(str(content)) > PICTURE:
                return None
            return super().output(outs, msg, display_id, cell_index)

    client = Client(
        notebook,
        kernel_name="python3",
        allow_errors=True,
        interrupt_on_timeout=True,
        raise_on_iopub_timeout=False,
        iopub_timeout=120,
        store_widget_state=False,
        shutdown_kernel="immediate",
        error_on_timeout={"ename": TOO_LONG, "evalue": "stopped", "traceback": []},
        extra_arguments=["--HistoryManager.enabled=False"],
        on_cell_executed=note,
        cell_seconds=order["cell_seconds"],
        cell_asleep=order["cell_asleep"],
        processes=_below(psutil.Process()),
        also=used_up,
    )
    return client, replies


def _isolate(client: Any, maker: KernelMaker, order: dict[str, Any]) -> None:
    """Let the client's kernel be an isolated copy, reached by files: it has no network."""
    from jupyter_client.provisioning import LocalProvisioner

    class Provisioner(LocalProvisioner):
        """Has a copy made where Jupyter starts a program."""

        async def launch_kernel(self, cmd: list[str], **given: Any) -> Any:
            self.process = _Copy(
                maker,
                arguments=cmd[cmd.index("-f") :],
                variables=given["env"],
                shared=shared,
                empty=[order["home"], order["scratch"]],
                memory=order["memory"],
                processes=order["processes"],
            )
            self.pid = self.process.pid
            return self.connection_info

    shared = os.environ["JUPYTER_RUNTIME_DIR"]
    manager = client.create_kernel_manager()
    manager.transport = "ipc"
    manager.connection_file = os.path.join(shared, f"{uuid.uuid4().hex[:8]}.json")
    manager.provisioner = Provisioner(
        parent=manager, kernel_spec=manager.kernel_spec, kernel_id=uuid.uuid4().hex
    )


class _Copy:
    """An isolated kernel in the form of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, maker: KernelMaker, **request: Any) -> None:
        self.outer, self.kernel = maker.launch(**request)
        self.pid = self.outer.pid

    def poll(self) -> int | None:
        """0 if it has ended."""
        return None if _lives(self.kernel) else 0

    def wait(self) -> int:
        """Wait until nothing of it is left."""
        while _lives(self.outer):
            time.sleep(0.01)
        return 0

    def send_signal(self, number: int) -> None:
        """To the kernel itself."""
        with suppress(psutil.Error):
            self.kernel.send_signal(number)

    def kill(self) -> None:
        """With all that it has started."""
        with suppress(psutil.Error):
            self.outer.kill()

    terminate = kill


def _answers(client: Any) -> bool:
    """Whether the kernel still does what it is told."""
    from transformer_book.kernels import meter_of

    grace = meter_of(client.of_the_kernel, GRACE)
    request = client.kc.execute("pass", store_history=False)
    while not grace.overslept() and grace.computed() < GRACE:
        if client.wait_for_reply(request) is not None:
            return True
    return False


def _fail(cell: Any, name: str, text: str) -> None:
    from nbformat.v4 import new_output

    cell.outputs = [
        *cell.get("outputs", []),
        new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"]),
    ]


if __name__ == "__main__":
    main()
