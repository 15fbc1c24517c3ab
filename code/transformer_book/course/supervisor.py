"""Run the cells of one submission: what happens inside its supervisor, a process of its own.

It starts the kernel, runs cell after cell, and outlives whatever a cell does to the kernel; then it
looks again, see `second_look`. The order comes in on stdin, the answer goes out on stdout.
"""

from __future__ import annotations

import ast
import copy
import ctypes
import json
import os
import signal
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import psutil

from transformer_book.course.isolation import SCRATCH, bound, hand_over

if TYPE_CHECKING:
    from transformer_book.course.forkserver import KernelMaker

OUTPUT = 100_000  # characters of output that are kept of a cell
PICTURE = 2_000_000  # characters of one output that is no plain text
RESTARTS = 3  # of a kernel that died or does not answer, for one submission
TOO_LONG = "CellTimeout"
DRAWS = 3  # of other inputs for a test, at most
GRACE = 3.0  # seconds to answer an interrupt, of processor time or asleep


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
        bound(AS=order["memory"] + 2**33, CORE=0, FSIZE=SCRATCH)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    found = _run_cells(order, maker)
    with os.fdopen(answer, "wb") as out:
        out.write(json.dumps(found).encode())


def _run_cells(order: dict[str, Any], maker: KernelMaker | None) -> dict[str, Any]:
    import nbformat

    from transformer_book.support.metered_kernels import meter_of

    notebook = nbformat.from_dict(order["notebook"])
    # Its own children, orphans too: whatever a cell has started.
    below = _below(psutil.Process())

    def budget(looks: int) -> Callable[[], str]:
        whole = meter_of(below, looks * order["seconds"])

        def used_up() -> str:
            too_long = whole.overslept() or whole.computed() > looks * order["seconds"]
            return "stopped: the submission had used up its time" if too_long else ""

        return used_up

    used_up = budget(1)
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
        # What the first look had time for must not be lost in the second, which asks for more.
        again = _look_again(notebook, unsafe, order, maker, budget(1 + DRAWS))
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

    # nbclient puts each cell that it has run into its notebook: a replayed one must not stay.
    client, replies = _client(copy.deepcopy(notebook), order, used_up)
    whole_cells = client.cell_seconds
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
                # Each input of a test has a limit, see `checks.running`; together they need more.
                is_test = cell.metadata.get("for") == "test"
                client.cell_seconds = max(whole_cells, order["seconds"] / 2 * is_test)
                try:
                    client.execute_cell(target, index)
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
) -> dict[str, dict[str, Any]]:
    """What the answers give in a fresh kernel that sees no test; see `second_look`.

    A cell says in its metadata what it is for: `"course"`, `"test"`, `"guard"`, `"lent"`, or
    `"answer"`; a test has the `names` of the answers before it. `order["others"]` holds, by test,
    the same test with other inputs, several times.

    Returns:
        by test, on which of its inputs the answer was right (`same`); the same for each test with
        `other` inputs, up to the first that was passed; and `how` the first answer was wrong.
    """
    from nbclient.exceptions import DeadKernelError

    from transformer_book.course.second_look import ask_judge

    found: dict[str, dict[str, Any]] = {}
    passed = {
        index
        for index, cell in enumerate(notebook.cells)
        if cell.metadata.get("for") == "test"
        and cell.metadata.get("finished")
        and all(out.output_type != "error" for out in cell.outputs)
    }
    if not passed:
        return found
    notebook = copy.deepcopy(notebook)  # what the student gets is the first look
    client, _ = _client(notebook, order, used_up)
    _isolate(client, maker, order, look=1)
    judge = maker.judge((1 + DRAWS) * order["seconds"])
    ask = partial(_asked, client)
    try:
        with client.setup_kernel():
            for index, cell in enumerate(notebook.cells):
                role = cell.metadata.get("for")
                if cell.cell_type != "code" or index in unsafe or role == "guard":
                    continue
                if used_up():
                    break
                if index in passed:
                    test = cell.metadata.nbgrader.grade_id
                    names = list(cell.metadata.get("names", ()))
                    again = {"test": cell.source, "names": names, "other": False}
                    right, how = ask_judge(judge, again, ask)
                    found[test] = {"same": right, "other": [], "how": how}
                    for source in order["others"].get(test, ()) if any(right) else ():
                        again = {"test": source, "names": names, "other": True}
                        right, how = ask_judge(judge, again, ask)
                        found[test]["other"].append(right)
                        found[test]["how"] = found[test]["how"] or how
                        if all(right):
                            break
                elif role != "test":
                    client.execute_cell(copy.deepcopy(cell), index)
                if role == "course":
                    ask_judge(judge, {"run": cell.source}, ask)
    except (DeadKernelError, RuntimeError, OSError):
        pass  # what has not been seen is not right
    return found


def _asked(client: Any, made: str, sent: Sequence[str], build: bool) -> list[dict[str, str]]:
    """What a kernel answers to each input, or why there is no answer.

    One input may take as long as in the first look, and as long again: there the processor time of
    one thread counts, here that of all processes.
    """
    from transformer_book.checks.running import SECONDS
    from transformer_book.course.second_look import QUESTION

    answers: list[dict[str, str]] = []
    for each in sent:
        if client.stopped:  # it would not end on this one either
            answers.append({"why": f"it was {client.stopped}"})
            continue
        expression = f"{QUESTION}({made}, {each!r}, {build})"
        request = client.kc.execute("pass", store_history=False, user_expressions={"": expression})
        reply = client.reply_to(request, 2 * SECONDS)
        answers.append({"text": ""})
        with suppress(LookupError, TypeError, SyntaxError, ValueError, MemoryError, RecursionError):
            told = reply["content"]["user_expressions"][""]
            if told.get("status") == "error":
                answers[-1] = {"why": f"it stops with {told['ename']}: {told['evalue']}"[:200]}
            else:
                answers[-1] = {"text": str(ast.literal_eval(told["data"]["text/plain"]))}
    if client.stopped:
        client.km.interrupt_kernel()
        if not _answers(client):
            raise RuntimeError("The kernel does not answer.")
        client.stopped = ""
    return answers


def _client(
    notebook: Any, order: dict[str, Any], used_up: Callable[[], str]
) -> tuple[Any, dict[int, dict[str, Any]]]:
    """A client that bounds what is used and printed; the kernel's replies by index of the cell."""
    from transformer_book.support.metered_kernels import MeteredClient

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


def _isolate(client: Any, maker: KernelMaker, order: dict[str, Any], look: int = 0) -> None:
    """Let the client's kernel be an isolated copy, reached by files: it has no network."""
    from jupyter_client.provisioning import LocalProvisioner

    class Provisioner(LocalProvisioner):
        """Has a copy made where Jupyter starts a program."""

        async def launch_kernel(self, cmd: list[str], **given: Any) -> Any:
            hand_over(shared, look)
            self.process = _Copy(
                maker,
                arguments=cmd[cmd.index("-f") :],
                variables=given["env"],
                shared=shared,
                empty=[order["home"], order["scratch"]],
                memory=order["memory"],
                processes=order["processes"],
                look=look,
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


def lives(process: psutil.Process) -> bool:
    """Whether it runs, or could."""
    with suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


class _Copy:
    """An isolated kernel in the form of a `subprocess.Popen`."""

    stdin = stdout = stderr = None

    def __init__(self, maker: KernelMaker, **request: Any) -> None:
        self.outer, self.kernel = maker.launch(**request)
        self.pid = self.outer.pid

    def poll(self) -> int | None:
        """0 if it has ended."""
        return None if lives(self.kernel) else 0

    def wait(self) -> int:
        """Wait until nothing of it is left."""
        while lives(self.outer):
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
    request = client.kc.execute("pass", store_history=False)
    asleep, client.cell_asleep = client.cell_asleep, GRACE
    try:
        return client.reply_to(request, GRACE) is not None
    finally:
        client.cell_asleep = asleep


def _fail(cell: Any, name: str, text: str) -> None:
    from nbformat.v4 import new_output

    cell.outputs = [
        *cell.get("outputs", []),
        new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"]),
    ]


if __name__ == "__main__":
    main()
