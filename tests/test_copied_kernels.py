"""The kernels of `make book` and of nbval are fresh ones, and end as others do."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import copied_kernels
import psutil
import pytest
from common import ROOT
from copied_kernels import copied, copies
from jupyter_client.manager import KernelManager

from tests.system import PATIENCE

if not copies.POSSIBLE:
    pytest.skip("kernels are copied on Linux", allow_module_level=True)


@contextmanager
def kernel(folder: Any) -> Iterator[tuple[Any, Any]]:
    made = copied(KernelManager)(kernel_name="python3")
    made.start_kernel(cwd=str(folder))
    client = made.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=PATIENCE)
        yield made, client
    finally:
        client.stop_channels()
        made.shutdown_kernel(now=True)


def value(client: Any, expression: str, code: str = "") -> Any:
    reply = client.execute_interactive(
        code, user_expressions={"it": expression}, timeout=PATIENCE, output_hook=lambda _: None
    )
    return ast.literal_eval(reply["content"]["user_expressions"]["it"]["data"]["text/plain"])


def test_nothing_of_one_notebook_is_there_in_the_next(tmp_path) -> None:
    code = "import os, sys, numpy, torch\nfolder = os.getcwd()"
    for_each = "[folder, hasattr(torch, 'mark'), 'MARK' in os.environ, 'mark' in globals()]"
    imported = "[name for name in sys.modules if name.startswith('transformer_book')]"
    drawn = []
    for _ in range(2):
        with kernel(tmp_path) as (_, client):
            assert value(client, for_each, code) == [str(tmp_path), False, False, False]
            assert value(client, imported) == []
            drawn.append(value(client, "float(numpy.random.rand())"))
            assert value(client, "len(os.environ['MPLBACKEND'])") > 0
            code_of_child = "import subprocess\nended = subprocess.run(['false']).returncode"
            assert value(client, "ended", code_of_child) == 1
            value(client, "mark", "torch.mark = mark = 1\nos.environ['MARK'] = '1'")
    assert drawn[0] != drawn[1]


def test_a_kernel_ends_is_interrupted_and_leaves_nothing(tmp_path) -> None:
    with kernel(tmp_path) as (made, client):
        assert made.is_alive()
        process = psutil.Process(made.provisioner.pid)
        # After an error a kernel would throw away what it is asked at once.
        sleep = "import time\nprint('asleep')\ntime.sleep(600)"
        asked = client.execute(sleep, stop_on_error=False)
        while client.get_iopub_msg(timeout=PATIENCE)["msg_type"] != "stream":
            pass
        made.interrupt_kernel()
        reply = {"parent_header": {}}
        while reply["parent_header"].get("msg_id") != asked:
            reply = client.get_shell_msg(timeout=PATIENCE)
        assert reply["content"]["ename"] == "KeyboardInterrupt"
        client.execute("import os\nos._exit(0)")
        process.wait(PATIENCE)
        assert not made.is_alive()


def test_a_kernel_that_is_asked_to_end_tidies_up(tmp_path, monkeypatch) -> None:
    forced = []
    for way in ("terminate", "kill"):
        monkeypatch.setattr(copied_kernels.Copy, way, lambda self: forced.append(self.pid))
    with kernel(tmp_path) as (made, client):
        code = "import tempfile\nfolder = tempfile.TemporaryDirectory(dir='.')"
        (left,) = [tmp_path / value(client, "folder.name", code)]
        assert left.exists()
        made.shutdown_kernel()
        assert not left.exists() and not forced


def test_if_the_original_is_ended_another_takes_its_place(tmp_path) -> None:
    with kernel(tmp_path) as (made, _):
        original = psutil.Process(made.provisioner.pid).parent()
    original.kill()
    with kernel(tmp_path) as (made, client):
        assert value(client, "6 * 7") == 42
        assert psutil.Process(made.provisioner.pid).parent() != original


LEFT_ALONE = """
import os
from copied_kernels import copied
from jupyter_client.manager import KernelManager
made = copied(KernelManager)(kernel_name="python3")
made.start_kernel()
print(made.provisioner.pid, flush=True)
os.kill(os.getpid(), 9)
"""


def test_no_kernel_outlives_the_tests_that_it_was_made_for() -> None:
    command = [sys.executable, "-c", LEFT_ALONE]
    done = subprocess.run(command, cwd=ROOT / "tools", capture_output=True, text=True)
    pid = int(done.stdout)
    with suppress(psutil.NoSuchProcess, psutil.TimeoutExpired):
        psutil.Process(pid).wait(PATIENCE)
    assert not psutil.pid_exists(pid)
