"""Programs that are copies of one process do what they do when they are started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import copied

if not copied.POSSIBLE:
    pytest.skip("programs are copied on Linux", allow_module_level=True)

TOLD = """
import atexit, os, sys
atexit.register(print, "at its end")
print(__name__, sys.argv, sys.path[0], os.getcwd(), os.environ.get("MARK"))
print([sys.stdin.read(), sys.stdin.isatty(), sys.stdout.isatty()], sys.flags.utf8_mode)
print([name for name in sys.modules if name.startswith(("transformer_book", "tests"))])
os.system("echo from a child")
"""
ENDS = {
    "a number": "import sys; print('said'); sys.exit(3)",
    "a sentence": "import sys; sys.exit('refused')",
    "nothing": "import sys; sys.exit()",
    "an error": "def fail():\n    1 / 0\nfail()",
    "at once": "import os; os._exit(7)",
    "killed": "import os; os.kill(os.getpid(), 9)",
    "interrupted": "import os; os.kill(os.getpid(), 2)",
    "a thread goes on": "import threading, time\n"
    "threading.Thread(target=lambda: (time.sleep(0.1), print('late'))).start()",
}


def started(*words: str, cwd: Path, env: dict[str, str]) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout, done.stderr


def copy_of(*words: str, cwd: Path, env: dict[str, str]) -> tuple[int, str, str]:
    done = copied.run(*words, cwd=cwd, env=env)
    return done.returncode, done.stdout, done.stderr


def test_a_copy_knows_what_a_program_knows(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "told.py").write_text(TOLD)
    env = {**os.environ, "MARK": "x", "PYTHONPATH": str(tmp_path / "folder")}
    for words in (["-c", TOLD], ["-m", "told"], [str(tmp_path / "folder" / "told.py")], ["-c", ""]):
        where = {"cwd": tmp_path, "env": env}
        assert copy_of(*words, "an", "--argument", **where) == started(
            *words, "an", "--argument", **where
        )


@pytest.mark.parametrize("how", ENDS)
def test_a_copy_ends_as_a_program_does(how: str, tmp_path: Path, hears_ctrl_c) -> None:
    (tmp_path / "ends.py").write_text(ENDS[how])
    where = {"cwd": tmp_path, "env": dict(os.environ)}
    assert copy_of("ends.py", **where) == started("ends.py", **where)


def test_nothing_of_one_program_is_there_in_the_next() -> None:
    code = "import torch, numpy\nprint(hasattr(torch, 'mark'), numpy.random.rand())\ntorch.mark = 1"
    first, second = (copied.run("-c", code).stdout.split() for _ in range(2))
    assert first[0] == second[0] == "False"
    assert first[1] != second[1]


def test_what_is_read_at_the_start_makes_a_start() -> None:
    code = "print(hash('a'), 'torch' in __import__('sys').modules)"
    done = [copied.run("-c", code, env={**os.environ, "PYTHONHASHSEED": "3"}) for _ in range(2)]
    assert done[0].stdout == done[1].stdout and done[0].stdout.split()[1] == "False"
    assert copied.run("-c", code).stdout.split()[1] == "True"
