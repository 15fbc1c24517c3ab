"""What a submission may do to its own processes, and that it can do no more."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from queue import Empty

import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.system import PATIENCE
from transformer_book.course import isolation, sandbox, supervisor
from transformer_book.course.sandbox import Limits, Run, run
from transformer_book.support import metered_kernels
from transformer_book.support.metered_kernels import MeteredClient

if sys.platform != "linux":
    pytest.skip("the limits of a submission are tested on Linux", allow_module_level=True)


@pytest.fixture(params=["isolated", "not isolated"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """With what the system offers, and as if it offered nothing."""
    if request.param == "not isolated":
        monkeypatch.setattr(sandbox, "fork_server", lambda: None)
        monkeypatch.setattr(isolation, "stranger", lambda: None)  # root's own files stay root's
    elif sandbox.fork_server() is None:
        pytest.skip("this system does not isolate processes")
    return request.param == "isolated"


def ran(*cells: str, seconds: float = 120, cell_seconds: float = 30, memory: int = 2**31) -> Run:
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    return run(notebook, Limits(seconds, cell_seconds, memory))


def finished(done: Run) -> list[bool]:
    return [cell["metadata"].get("finished", False) for cell in done.notebook["cells"]]


def errors(done: Run, index: int) -> str:
    outputs = done.notebook["cells"][index]["outputs"]
    return " ".join(f"{o['ename']}: {o['evalue']}" for o in outputs if o["output_type"] == "error")


def test_cells_share_a_kernel_and_bring_their_output_back() -> None:
    done = ran("x = 20", "print(x + 1)", "1 / 0", "print('after')")
    assert done.events == ()
    assert finished(done) == [True, True, False, True]
    assert done.notebook["cells"][1]["outputs"][0]["text"] == "21\n"
    assert "ZeroDivisionError" in errors(done, 2)


def test_students_see_what_their_cells_did_the_first_time() -> None:
    """Not in the second look, which runs no test, nor when cells are run again in a new kernel."""
    cells = [new_code_cell(cell) for cell in ("v = 1", "print(v)", "import os\nos._exit(0)")]
    cells[0].metadata["for"] = "test"
    cells[0].metadata["nbgrader"] = {"grade_id": "t"}
    done = run(new_notebook(cells=cells), Limits(120, 30, 2**31))
    assert [out["output_type"] for out in done.notebook["cells"][1]["outputs"]] == ["stream"]
    assert done.notebook["cells"][1]["outputs"][0]["text"] == "1\n"


def test_an_endless_loop_is_stopped_and_the_rest_runs() -> None:
    stubborn = (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nx = 3\nwhile True: pass"
    )
    cells = ("x = 1", "while True: pass", "x += 1", stubborn, "assert x == 2")
    done = ran(*cells, cell_seconds=0.5)  # of processor time: the others need almost none
    assert [event["kind"] for event in done.events] == ["timeout", "timeout"]
    assert [event["cell"] for event in done.events] == [1, 3]
    assert finished(done) == [True, False, True, False, True]


@pytest.mark.usefixtures("both_ways")
def test_a_kernel_that_ends_itself_is_replaced_and_earlier_answers_count() -> None:
    done = ran(
        "x = 1",
        "import os; os._exit(0)",
        "assert x == 1",
        "import os; os.kill(os.getpid(), 9)",
        "y = x",
    )
    assert [(event["kind"], event["cell"]) for event in done.events] == [("died", 1), ("died", 3)]
    assert finished(done) == [True, False, True, False, True]


def test_a_kernel_that_ends_at_once_is_told() -> None:
    client = MeteredClient(new_notebook(), kernel_name="python3")
    client.create_kernel_manager().kernel_spec.argv = [sys.executable, "-c", ""]
    client.start_new_kernel()
    with pytest.raises(RuntimeError, match="died before it answered"):
        client.start_new_kernel_client()


def test_a_kernel_is_ready_once_both_its_channels_answer() -> None:
    """Else the first cell's output, and that it has ended, may be said before anyone listens."""
    asked: list[str] = []

    class Channel:
        def __init__(self, *answers: str) -> None:
            self.answers = iter(answers)

        async def get_msg(self, timeout: float) -> str:
            if answer := next(self.answers):
                return answer
            raise Empty

    class Listener(metered_kernels._Listener):
        shell_channel, iopub_channel = Channel("first", "second"), Channel("", "starting")

        def kernel_info(self) -> None:
            asked.append("?")

        async def is_alive(self) -> bool:
            return True

        def _handle_kernel_info_reply(self, reply: str) -> None:
            asked.append(reply)

    asyncio.run(Listener().wait_for_ready())
    assert asked == ["?", "?", "second"]


def test_ending_the_process_above_it_ends_this_submission_at_most(both_ways: bool) -> None:
    done = ran("import os; os.kill(os.getppid(), 9)", "x = 1")
    if both_ways:  # what is above an isolated kernel cannot be ended from inside
        # It does nothing; or is an error, where root grades and what is above has another user.
        assert finished(done)[1] and not done.events
        assert finished(done)[0] or "PermissionError" in errors(done, 0)
    else:
        assert done.notebook is None
        assert done.events[0]["kind"] == "died"


def test_leaving_python_is_an_error_in_that_cell() -> None:
    done = ran("import sys; sys.exit(3)", "x = 1")
    assert finished(done) == [False, True]
    assert "SystemExit" in errors(done, 0)


@pytest.mark.usefixtures("both_ways")
def test_too_much_memory_at_once_and_bit_by_bit() -> None:
    # Slower than the watch looks: in one leap from its limit to that of the process, the cell would
    # end with Python's own error, which is as true, before anyone has looked.
    slowly = (
        "import time\nkept = []\n"
        "while True:\n    kept.append(bytearray(b'x' * 25_000_000))\n    time.sleep(0.1)"
    )
    done = ran("bytearray(30 * 10**9)", "x = 1", slowly, "y = 2", memory=2**30)
    assert finished(done) == [False, True, False, True]
    assert "MemoryError" in errors(done, 0)
    assert [(event["kind"], event["cell"]) for event in done.events] == [("memory", 2)]


@pytest.mark.skipif(isolation.library() is None, reason="libseccomp is not installed")
def test_no_memory_is_mapped_that_belongs_to_no_process_and_no_file() -> None:
    if sandbox.fork_server() is None:
        pytest.skip("this system does not isolate processes")
    own = "import mmap, os\nmmap.mmap(-1, 2**20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)"
    zero = "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 2**20)"
    done = ran(own, "mmap.mmap(-1, 2**20)", zero)
    assert finished(done) == [True, False, False]


def test_a_test_that_works_without_end_on_an_answer_is_ended() -> None:
    script = (
        "from transformer_book.course import second_look\n"
        "from transformer_book.course.forkserver import KernelMaker\n"
        "maker = KernelMaker()\njudge = maker.judge(0)\n"  # of processor time, rounded up
        "for run in ('x = 1', 'while True: pass'):\n"
        '    judge.write(b\'{"run": "%b"}\\n\' % run.encode())\n'
        "    judge.flush()\n    print(judge.readline().decode())\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.split("\n") == ['{"right": [], "how": ""}', "", "", ""], done.stderr


def test_endless_printing_fills_nothing() -> None:
    done = ran("while True: print('x' * 1000)", "x = 1", cell_seconds=0.5)
    printed = sum(len(o.get("text", "")) for o in done.notebook["cells"][0]["outputs"])
    assert 0 < printed <= 2 * supervisor.OUTPUT
    assert finished(done) == [False, True]


@pytest.mark.usefixtures("both_ways")
def test_no_process_survives() -> None:
    """Fifty children, some of them in sessions of their own, some whose parent has gone."""
    hidden = (
        "import os\nif os.fork() == 0:\n    os.setsid()\n    os.fork()\n"
        "    os.execvp('sleep', ['sleep', '987'])"
    )
    many = (
        "import subprocess\n"
        "[subprocess.Popen(['sleep', '987'], start_new_session=i % 2 == 0) for i in range(50)]"
    )
    done = ran(many, hidden, "x = 1")
    assert finished(done)[0] and finished(done)[2]
    sleeping = [
        p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "987"]
    ]
    assert sleeping == []


def test_too_many_processes_end_the_kernel_not_the_grading() -> None:
    many = (
        "import subprocess, time\n"
        "x = [subprocess.Popen(['sleep', '986']) for i in range(90)]\ntime.sleep(20)"
    )
    done = ran(many, "y = 1")
    assert done.events[0]["kind"] == "memory"
    assert finished(done) == [False, True]


def test_when_all_time_is_used_up_the_rest_is_marked() -> None:
    done = ran(*["import time; time.sleep(60)"] * 6, "x = 1", seconds=2, cell_seconds=30)
    assert {event["kind"] for event in done.events} == {"timeout", "not run"}
    assert "NotRun" in errors(done, 6)


def test_the_home_and_the_folder_of_the_teacher_are_not_there() -> None:
    done = ran(
        "import os\nassert not os.listdir(), os.listdir()\nassert os.environ['HOME'] == os.getcwd()"
    )
    assert finished(done) == [True], errors(done, 0)


@pytest.mark.usefixtures("hears_ctrl_c")
def test_stopping_the_grading_leaves_nothing_behind() -> None:
    """Whoever presses Ctrl-C finds no process of a student afterwards."""
    script = (
        "from nbformat.v4 import *\n"
        "from transformer_book.course.sandbox import *\n"
        "cell = new_code_cell('import os; os.system(\"sleep 985\")')\n"
        "run(new_notebook(cells=[cell]), Limits())\n"
    )
    grading = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + PATIENCE
    while not (kernels := _sleepers_below(grading.pid)) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert kernels
    os.kill(grading.pid, signal.SIGINT)
    grading.wait(timeout=PATIENCE)
    _, alive = psutil.wait_procs(kernels, timeout=PATIENCE)
    assert not alive


def _sleepers_below(pid: int) -> list[psutil.Process]:
    """The processes that grading has started, once the student's own is among them."""
    children = psutil.Process(pid).children(recursive=True)
    return children if any(child.name() == "sleep" for child in children) else []
