"""Python programs that are copies of one process: see code/transformer_book/support/copies.py.

At least one test of each kind starts the real program.
"""

from __future__ import annotations

import io
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# By its path: a copy has folders of modules of its own.
_BASE = Path(__file__).parents[1] / "code" / "transformer_book" / "support" / "copies.py"
copies = types.SimpleNamespace(**runpy.run_path(str(_BASE)))
POSSIBLE, MESSAGE = copies.POSSIBLE, copies.MESSAGE
# PyTorch imports the second when the first optimizer makes a step.
PROGRAMS = ("torch", "torch._dynamo")
# Variables that are read before a program's first line: a copy would not see that they differ.
READ_AT_START = ("PYTHON", "OMP_", "MKL_", "OPENBLAS_", "KMP_", "LD_", "LC_", "LANG")
OF_RUNPY = "<frozen runpy>"
SHARED = "TESTS_COPIED"  # the socket on which a copy may ask for copies itself


class Program(copies.Copy):
    """A program in the form of a `subprocess.Popen`; its words are those after `python`."""

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
        self._ended, self.pid = copies.ask(control, request, *streams, control.fileno())

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
        program = copies.of_original(
            lambda control: Program(control, given, streams, cwd, environment), __file__, *imported
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
        {
            name: value
            for name, value in copies.at_start(each).items()
            if name.startswith(READ_AT_START)
        }
        for each in (os.environ, environment)
    )
    return mine != theirs


# --- in the process that is copied, and in its copies ---------------------------------------------


def _program(
    descriptors: list[int],
    above: int,
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
    copies.become(folder, {**variables, SHARED: str(control)})
    if words[0] == "-u":
        words = words[1:]
        raw = io.FileIO(1, "w", closefd=False)
        sys.stdout = io.TextIOWrapper(raw, sys.stdout.encoding, write_through=True)
    folders = filter(None, variables.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:0] = [os.path.abspath(each) for each in folders]
    copies.end(_status_of(*words))


def _status_of(first: str, *more: str) -> int:
    """Run a program as Python does, to its end."""
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
    return status


if __name__ == "__main__":
    copies.serve(_program)
