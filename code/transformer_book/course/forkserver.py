"""A fork server: one process that has imported all that a submission needs, and copies itself.

PyTorch takes a second or two to import. A copy of a process that has it takes none, and no student
ever runs in the process that is copied, so each gets a fresh one:

    the grader ── the server ─┬─ one supervisor for each submission ── its kernel maker ─┬─ a kernel
                              └─ …                                                       └─ …

The server and the kernel makers know nothing of the course: they are copied before anything is
read. A kernel is isolated (see `isolation`); the others run no code of students.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import psutil

from transformer_book import course
from transformer_book.course import isolation, supervisor
from transformer_book.support import copies

NEEDED = (
    "transformer_book.support.metered_kernels",
    "transformer_book.course.supervisor",
    "ipykernel.kernelapp",
    # What a kernel imports when it starts, a quarter of a second in each.
    "ipykernel.debugger",
    "IPython.core.completerlib",
    "IPython.core.debugger",
    "IPython.extensions.storemagic",
    "tornado.platform.asyncio",
    "torch.testing",
    "transformer_book.checks",
    "transformer_book.course.second_look",
    "transformer_book.course.apart",
)
THREADS = 4  # for each process that a submission may have: the system counts both alike
MESSAGES = 2**32  # bytes for what a kernel sends
ANSWER = 4096  # bytes of a message between these processes, at most


class ForkServer:
    """The grader's end. It ends with the grader, however that ends.

    Attributes:
        isolates: whether this system isolates a process; if not, `fork` must not be used.
    """

    def __init__(self) -> None:
        variables = {**environment(), "OMP_NUM_THREADS": "1"}
        self._process, self._socket = copies.original(
            "-m", __name__, cwd="/", env=variables, start_new_session=True
        )
        self.isolates = self._socket.recv(ANSWER) == b"isolates"

    def fork(
        self, channel: socket.socket, folder: str, variables: Mapping[str, str]
    ) -> psutil.Process:
        """A supervisor, reading its order from `channel` and answering there.

        Raises:
            OSError: if the server has been ended.
        """
        request = {"folder": folder, "variables": dict(variables)}
        answered, pid = copies.ask(self._socket, request, channel.fileno())
        answered.close()
        return psutil.Process(pid)

    def close(self) -> None:
        """End it, and all that it has made."""
        self._socket.close()
        self._process.wait()


def environment() -> dict[str, str]:
    """The environment variables that programs need, and nothing that belongs to the teacher."""
    kept = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "VIRTUAL_ENV")
    found = {name: os.environ[name] for name in kept if name in os.environ}
    # The package that grades is the one that students' code finds.
    return {**found, "PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONDONTWRITEBYTECODE": "1"}


def main() -> None:
    """The server itself."""
    control = copies.controlled()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not _tried():
        control.send(b"does not")
        return
    isolation.library()  # it is looked for by starting a program
    copies.prepare(NEEDED, course.verify)  # which imports what is imported when it is first used
    control.send(b"isolates")
    for request, (answer, channel) in copies.requests(control):
        pid = _copy(partial(_supervise, request, channel), keep=[channel])
        os.write(answer, str(pid).encode())
    # The death of this process is that of all its copies.


def _tried() -> bool:
    """Whether this system isolates a process: asked of one that does nothing."""
    with tempfile.TemporaryDirectory(prefix="grading-") as place:
        home, shared = os.path.join(place, "home"), os.path.join(place, "runtime")
        os.mkdir(home)
        os.mkdir(shared)
        told, tell = os.pipe()

        def isolated() -> None:
            def read(_: Any) -> None:
                Path(__file__).read_bytes()  # where root grades, not every user may read it
                os.write(tell, b"x")

            isolation.enter(isolation.installed(), shared, [home], read)

        _copy(isolated, keep=[tell])
        os.close(tell)
        answer = os.read(told, 1)
        os.close(told)
    return bool(answer)


def _copy(do: Callable[[], Any], keep: list[int]) -> int:
    """A copy of this process that does one thing and ends; it keeps these open files only."""
    pid = os.fork()
    if pid:
        return pid
    try:
        isolation.end_with_parent()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for name in os.listdir("/proc/self/fd"):
            if int(name) > 2 and int(name) not in keep:
                with suppress(OSError):
                    os.close(int(name))
        do()
    except BaseException:
        os._exit(1)
    os._exit(0)


def _supervise(request: Mapping[str, Any], channel: int) -> None:
    os.setsid()
    os.chdir(request["folder"])
    copies.live_in(request["variables"])
    os.dup2(channel, 0)
    os.dup2(channel, 1)
    os.close(channel)
    maker = KernelMaker()
    # What a kernel sends is read here: too much of it ends this submission, and nothing else.
    isolation.bound(AS=psutil.Process().memory_info().vms + MESSAGES)
    supervisor.main(maker)


class KernelMaker:
    """A process that copies itself into kernels; made by a supervisor before it reads its order."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        self._judge, judges = socket.socketpair()
        keep = [theirs.fileno(), judges.fileno()]
        _copy(partial(_make_kernels, theirs, judges), keep=keep)
        theirs.close()
        judges.close()

    def judge(self, seconds: float) -> IO[bytes]:
        """A process without code of students that says what is right; see `second_look.serve`.

        There is one for each supervisor. It ends after `seconds` of processor time: a test may
        work without end on what a student gives.
        """
        self._socket.sendall(json.dumps({"judge": int(seconds) + 1}).encode() + b"\n")
        self._socket.recv(ANSWER)
        return self._judge.makefile("rwb")

    def launch(self, **request: Any) -> tuple[psutil.Process, psutil.Process]:
        """An isolated kernel: the process that ends with it, outside, and the kernel's own.

        Raises:
            OSError: if there is none.
        """
        self._socket.sendall(json.dumps(request).encode() + b"\n")
        answer = self._socket.recv(ANSWER)
        pids = [int(pid) for pid in answer.split()]
        if not pids:
            raise OSError("no kernel could be started")
        return psutil.Process(pids[0]), psutil.Process(pids[1])


def _make_kernels(control: socket.socket, judges: socket.socket) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    silence = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(silence, number)
    for line in control.makefile("rb"):
        with suppress(ChildProcessError):  # of those that ended: their processor time stays counted
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        request = json.loads(line)
        if "judge" in request:
            _copy(partial(_judge, judges, request["judge"]), keep=[judges.fileno()])
            judges.close()
            control.sendall(b"\n")
            continue
        ready, tell = os.pipe()
        pid = _copy(partial(_isolated_kernel, request, tell), keep=[tell])
        os.close(tell)
        answer = b"\n"
        if os.read(ready, 1):
            kernel = psutil.Process(pid).children(recursive=True)[-1]
            answer = f"{pid} {kernel.pid}\n".encode()
        os.close(ready)
        control.sendall(answer)


def _judge(channel: socket.socket, seconds: int) -> None:
    from transformer_book.course import second_look

    isolation.bound(CPU=seconds)
    second_look.serve(channel.makefile("rwb"))


def _isolated_kernel(request: Mapping[str, Any], ready: int) -> None:
    copies.live_in(request["variables"])

    def kernel(settled: Callable[[], None]) -> None:
        from ipykernel.kernelapp import IPKernelApp

        _limit(request["memory"], request["processes"])
        app = IPKernelApp.instance()
        app.initialize(request["arguments"])
        settled()
        os.write(ready, b"x")
        os.close(ready)
        app.start()

    isolation.enter(
        isolation.installed(), request["shared"], request["empty"], kernel, request["look"]
    )


def _limit(memory: int, processes: int) -> None:
    """What one process may use; what all of them use together is watched from outside."""
    # Address space is not memory, but what is mapped already is known.
    mapped = psutil.Process().memory_info().vms
    isolation.bound(
        AS=mapped + memory + 2**30,
        CORE=0,
        FSIZE=isolation.SCRATCH,
        NOFILE=1024,
        NPROC=THREADS * processes,
    )


if __name__ == "__main__":
    main()
