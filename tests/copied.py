"""Programs and kernels that are copies of one process, in which what is slow to import is imported.

A Python program that imports PyTorch computes for two to four seconds before its first own line,
and a chapter's kernel for four. Nothing of the package, of the tests and of the tools is imported
before a process is copied, and none of them ever runs in the one that is: each copy starts as fresh
as a program of its own. Hash seeds alone are the same in all copies. At least one test of each kind
starts the real program.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

Made = TypeVar("Made")
POSSIBLE = sys.platform == "linux"
MESSAGE = 2**20  # bytes of a request, at most
# PyTorch imports the second when the first optimizer makes a step.
PROGRAMS = ("torch", "torch._dynamo")
# Variables that are read before a program's first line: a copy would not see that they differ.
READ_AT_START = ("PYTHON", "OMP_", "MKL_", "OPENBLAS_", "KMP_", "LD_", "LC_", "LANG")
OF_RUNPY = "<frozen runpy>"
SHARED = "TESTS_COPIED"  # the socket on which a copy may ask for copies itself


_originals: dict[tuple[str, ...], socket.socket] = {}


def _original(imported: tuple[str, ...], variables: Mapping[str, str]) -> socket.socket:
    """The process that is copied is behind it; it ends with this one, and its kernels with it."""
    mine, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        subprocess.Popen(
            [sys.executable, "-P", __file__, str(theirs.fileno()), *imported],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**_at_start(os.environ), **variables},
        )
    return mine


def of_original(make: Callable[[socket.socket], Made], *imported: str, **variables: str) -> Made:
    """What is made with a copy of the process that has imported this, and began with that."""
    for _ in range(2):
        if imported not in _originals:
            _originals[imported] = _original(imported, variables)
        try:
            return make(_originals[imported])
        except OSError:  # something ended it; not what the next copy is asked about
            _originals.pop(imported).close()
    raise OSError("the process that is copied ends before it is")


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
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


class Program:
    """A program in the form of a `subprocess.Popen`; its words are those after `python`."""

    stdin = stdout = stderr = None

    def __init__(
        self,
        control: socket.socket,
        words: Sequence[str],
        streams: tuple[int, int, int],
        folder: str | os.PathLike | None,
        variables: Mapping[str, str],
        *,
        session: bool = False,
    ) -> None:
        self.args, self.returncode = list(words), None
        request = {
            "words": self.args,
            "session": session,
            "folder": str(folder or os.getcwd()),
            "variables": dict(variables),
            "deaf": signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
        }
        self._ended, self.pid = ask(control, request, *streams, control.fileno())

    def wait(self, timeout: float | None = None) -> int:
        """Its status."""
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
            # Nothing if what waits for the program was killed, and it may be, too.
            self.returncode = int(self._ended.recv(MESSAGE) or -signal.SIGKILL)
            self._ended.close()
        return self.returncode

    def poll(self) -> int | None:
        """Its status, if it has ended."""
        try:
            return self.wait(0.0)
        except subprocess.TimeoutExpired:
            return None

    def send_signal(self, number: int) -> None:
        """To the program itself."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


def run(
    *words: object,
    cwd: str | os.PathLike | None = None,
    env: Mapping[str, str] | None = None,
    imported: tuple[str, ...] = PROGRAMS,
) -> subprocess.CompletedProcess[str]:
    """What `python WORDS` answers, as `subprocess.run` tells it; with nothing on its stdin.

    imported: what the process has imported that is copied.
    """
    given, environment = [str(word) for word in words], os.environ if env is None else env
    if not POSSIBLE or _differ(environment):
        command = [sys.executable, *given]
        quiet = subprocess.DEVNULL
        return subprocess.run(
            command, cwd=cwd, env=env, stdin=quiet, capture_output=True, text=True, check=False
        )
    with (
        open(os.devnull) as nothing,
        tempfile.TemporaryFile("w+") as out,
        tempfile.TemporaryFile("w+") as err,
    ):
        streams = (nothing.fileno(), out.fileno(), err.fileno())
        program = of_original(
            lambda control: Program(control, given, streams, cwd, environment), *imported
        )
        try:
            status = program.wait()
        finally:
            program.kill()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(given, status, out.read(), err.read())


def popen(
    args: Sequence[str],
    env: Mapping[str, str] | None = None,
    stdout: Any = None,
    stderr: Any = None,
    start_new_session: bool = False,
) -> Program:
    """Stands for `subprocess.Popen` inside a copy that starts Python itself, and nothing else."""
    command, *words = args
    assert command == sys.executable
    files = [sys.stdin, stdout or sys.stdout, stderr or sys.stderr]
    control = socket.socket(fileno=os.dup(int(os.environ[SHARED])))
    with control:
        numbers = tuple(file.fileno() for file in files)
        return Program(control, words, numbers, None, env or os.environ, session=start_new_session)


def _differ(environment: Mapping[str, str]) -> bool:
    """Whether a program with this environment would start otherwise than the original did."""
    mine, theirs = (
        {name: value for name, value in _at_start(each).items() if name.startswith(READ_AT_START)}
        for each in (os.environ, environment)
    )
    return mine != theirs


# --- in the process that is copied, and in its copies ---------------------------------------------


def main() -> None:
    """The process that is copied."""
    control = socket.socket(fileno=int(sys.argv[1]))
    for name in sys.argv[2:]:
        importlib.import_module(name)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a copy: it leaves no trace
    gc.freeze()  # what is shared with the copies stays shared
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, MESSAGE, 5)
        if not message:
            return
        request, above, pid = json.loads(message), os.getpid(), os.fork()
        if not pid:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.close()
            if "words" in request:
                _program(descriptors, **request)
            else:
                _kernel(descriptors, above, **request)
            return
        if "words" not in request:
            os.write(descriptors[0], str(pid).encode())
        for descriptor in descriptors:
            os.close(descriptor)


def _become(folder: str, variables: dict[str, str]) -> None:
    """Where and with what a copy works; random numbers are drawn anew, Python's by themselves."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    if numpy := sys.modules.get("numpy"):
        numpy.random.seed()


def _program(
    descriptors: list[int],
    words: list[str],
    folder: str,
    variables: dict[str, str],
    deaf: bool,
    session: bool,
) -> None:
    ended, *streams, control = descriptors
    pid = os.fork()
    if pid:  # waits for the program, and tells how it ends
        os.write(ended, str(pid).encode())
        for descriptor in (*streams, control):
            os.close(descriptor)
        _, status = os.waitpid(pid, 0)
        os.write(ended, str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    os.close(ended)
    if session:
        os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    signal.signal(signal.SIGINT, signal.SIG_IGN if deaf else signal.default_int_handler)
    _become(folder, {**variables, SHARED: str(control)})
    if words[0] == "-u":
        words = words[1:]
        raw = io.FileIO(1, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(raw, sys.stdout.encoding, write_through=True)
    folders = filter(None, variables.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:0] = [os.path.abspath(each) for each in folders]
    os._exit(_status_of(*words))


def _status_of(first: str, *more: str) -> int:
    """Run a program as Python does, to its end.

    Not to the end of Python, which takes PyTorch apart for a third of a second.
    """
    status = 1
    try:
        if first == "-m":
            sys.argv, sys.path = list(more), [os.getcwd(), *sys.path]
            runpy.run_module(more[0], run_name="__main__", alter_sys=True)
        else:
            module = sys.modules["__main__"] = types.ModuleType("__main__")
            if first == "-c":
                sys.argv, sys.path = ["-c", *more[1:]], ["", *sys.path]
                code = compile(more[0], "<string>", "exec")
            else:
                sys.argv, sys.path = [first, *more], [os.path.dirname(first) or ".", *sys.path]
                sys.path[0] = os.path.realpath(sys.path[0])
                module.__file__ = os.path.abspath(first)
                code = compile(Path(first).read_bytes(), module.__file__, "exec")
            exec(code, module.__dict__)
        status = 0
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            status = (end.code or 0) & 0xFF
        else:
            print(end.code, file=sys.stderr)
    except BaseException as error:
        own = error.__traceback__
        while own and own.tb_frame.f_code.co_filename in (__file__, OF_RUNPY):
            own = own.tb_next
        sys.excepthook(type(error), error.with_traceback(own), own)
        if isinstance(error, KeyboardInterrupt):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    return status


def _kernel(
    descriptors: list[int],
    above: int,
    arguments: list[str],
    folder: str,
    variables: dict[str, str],
) -> None:
    from ipykernel.kernelapp import IPKernelApp

    for descriptor in descriptors:
        os.close(descriptor)
    gc.unfreeze()
    os.setsid()
    _become(folder, variables)
    sys.argv = ["ipykernel_launcher.py", *arguments]
    # A kernel ends with the process above it.
    IPKernelApp.launch_instance([*arguments, f"--IPKernelApp.parent_handle={above}"])


if __name__ == "__main__":
    main()
