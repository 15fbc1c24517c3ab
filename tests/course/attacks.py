"""More attacks, in kinds: what is tried in each with every way that there is.

As in `test_hostile` each attacker has solved `triple` (40 points), cannot double, and wants the 60
points of `double` all the same. `tools/try_grader.py` grades them all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.course.small import cell
from tests.course.test_hostile import WRONG, Attack

# --- cheap answers --------------------------------------------------------------------------------

CHEAP = {
    **{
        f"always-{word}": f"def double(x):\n    return {value}"
        for word, value in {
            "four": "4.0",
            "nan": "float('nan')",
            "infinity": "float('inf')",
            "nothing": "None",
            "empty": "''",
            "a-list": "[]",
            "true": "True",
            "the-input": "x",
            "the-square": "x * x",
            "a-text": "str(2 * x)",
            "a-pair": "(2 * x, 2 * x)",
            "a-class": "float",
            "itself": "double",
            "not-implemented": "NotImplemented",
        }.items()
    },
    "table": "def double(x):\n    return {2.0: 4.0, 5.0: 10.0}.get(x, float('nan'))",
    "table-and-nothing": "def double(x):\n    return {2.0: 4.0}.get(x)",
    "table-and-error": "def double(x):\n    return {2.0: 4.0}[x]",
    "first-input-remembered": "seen = []\ndef double(x):\n    seen.append(x)\n    return 2 * seen[0]",
    "raises": "def double(x):\n    raise StopIteration(2 * 2.0)",
    "raises-assertion": "def double(x):\n    raise AssertionError('Right')",
    "yields": "def double(x):\n    yield 4.0",
    "numpy-nan": "import numpy\ndef double(x):\n    return numpy.nan",
    "tensor-nan": "import torch\ndef double(x):\n    return torch.tensor(float('nan'))",
    "complex": "def double(x):\n    return complex(4, 0)",
}

# --- what a test compares with, from wherever it can be read --------------------------------------

_CASE = (
    'type(v).__name__ == "ExerciseCase" and isinstance(v.gives, float) and v.case.arguments == (x,)'
)
READING = {
    "inspect-stack": f"import inspect\ndef find(x):\n    return [v.gives for f in inspect.stack() for v in f.frame.f_locals.values() if {_CASE}]",
    "current-frames": f"import sys\ndef find(x):\n    found = []\n    for f in sys._current_frames().values():\n        while f:\n            found += [v.gives for v in f.f_locals.values() if {_CASE}]\n            f = f.f_back\n    return found",
    "walk-stack": f"import sys, traceback\ndef find(x):\n    return [v.gives for f, _ in traceback.walk_stack(sys._getframe()) for v in f.f_locals.values() if {_CASE}]",
    "gc-referrers": f"import gc\ndef find(x):\n    return [v.gives for v in gc.get_objects() if {_CASE}]",
    "the-tests-module": "import sys\ndef find(x):\n    tests = sys.modules.get('tests_of_the_course')\n    return [tests.first_fit(x)] if tests else []",
    "the-shells-names": "def find(x):\n    f = get_ipython().user_ns.get('first_fit')\n    return [f(x)] if f else []",
    "globals-of-the-caller": "import sys\ndef find(x):\n    f, found = sys._getframe(), []\n    while f:\n        g = f.f_globals.get('first_fit')\n        found += [g(x)] if g else []\n        f = f.f_back\n    return found",
    "profile": "import sys\nkept = [None]\ndef profile(frame, event, arg):\n    own = frame.f_locals.get('self')\n    if frame.f_code.co_name == 'run' and hasattr(own, 'gives'):\n        kept[0] = own.gives\nsys.setprofile(profile)\ndef find(x):\n    return kept",
    "exception": "import sys\ndef find(x):\n    try:\n        1 / 0\n    except ZeroDivisionError as error:\n        f, found = error.__traceback__.tb_frame, []\n    while f:\n        found += [v.gives for v in f.f_locals.values() if "
    + _CASE
    + "]\n        f = f.f_back\n    return found",
    "history": "def find(x):\n    cells = [c for c in In if 'checks.' + 'exercise(double' in c]  # not this one\n    return [2 * x] if cells else []",
    "monitoring-of-calls": "import sys\ndef find(x):\n    f = sys._getframe()\n    while f.f_back:\n        f = f.f_back\n        if f.f_code.co_name == 'judge_exercise':\n            return [c.gives for c in f.f_locals['cases'] if c.case.arguments == (x,)]\n    return []",
}

# --- what is left for the second look -------------------------------------------------------------

# Each writes a text where it may last, and reads it.
_SYSCALL = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
PLACES = {
    "home": "def put(t): open('note', 'w').write(t)\ndef get(): return open('note').read()",
    "tmp": "def put(t): open('/tmp/note', 'w').write(t)\ndef get(): return open('/tmp/note').read()",
    "shm": "def put(t): open('/dev/shm/note', 'w').write(t)\ndef get(): return open('/dev/shm/note').read()",
    "var-tmp": "def put(t): open('/var/tmp/note', 'w').write(t)\ndef get(): return open('/var/tmp/note').read()",
    "runtime": "import os\nP = os.environ['JUPYTER_RUNTIME_DIR'] + '/note'\ndef put(t): open(P, 'w').write(t)\ndef get(): return open(P).read()",
    "package": "import transformer_book\nP = transformer_book.__path__[0] + '/note'\ndef put(t): open(P, 'w').write(t)\ndef get(): return open(P).read()",
    "core-pattern": "P = '/proc/sys/kernel/core_pattern'\ndef put(t): open(P, 'w').write(t[:100])\ndef get(): return open(P).read()",
    "host-name": "import socket\ndef put(t): socket.sethostname(t[:60])\ndef get(): return socket.gethostname()",
    "proc-sys-ns": "P = '/proc/sys/net/unix/max_dgram_qlen'\ndef put(t): open(P, 'w').write('77')\ndef get(): return open(P).read()",
    "session-keyring": _SYSCALL
    + "def put(t): libc.syscall(248, b'user', b'note', t.encode(), len(t), -3)\ndef get():\n    b = ctypes.create_string_buffer(9000)\n    n = libc.syscall(250, 11, libc.syscall(249, b'user', b'note', None, 0), b, 9000)\n    return b.raw[:n].decode()",
    "user-keyring": _SYSCALL
    + "def put(t): libc.syscall(248, b'user', b'note', t.encode(), len(t), -4)\ndef get():\n    b = ctypes.create_string_buffer(9000)\n    n = libc.syscall(250, 11, libc.syscall(250, 10, -4, b'user', b'note', 0), b, 9000)\n    return b.raw[:n].decode()",
    "proc-keys": "def put(t): pass\ndef get(): return open('/proc/keys').read() + open('/proc/key-users').read()",
    "shared-memory": _SYSCALL
    + "libc.shmat.restype = ctypes.c_void_p\ndef put(t): ctypes.memmove(libc.shmat(libc.shmget(77, 9000, 0o1666), None, 0), t.encode(), len(t))\ndef get(): return ctypes.string_at(libc.shmat(libc.shmget(77, 9000, 0o666), None, 0)).decode()",
    "message-queue": _SYSCALL
    + "def put(t): libc.msgsnd(libc.msgget(78, 0o1666), t.encode(), 100, 0)\ndef get():\n    b = ctypes.create_string_buffer(9000)\n    libc.msgrcv(libc.msgget(78, 0o666), b, 8000, 0, 0o4000)\n    return b.value.decode()",
    "abstract-socket": "import os, socket, threading\ndef put(t):\n    s = socket.socket(socket.AF_UNIX)\n    s.bind('\\0note')\n    s.listen()\n    if os.fork() == 0:\n        os.setsid()\n        while True:\n            c, _ = s.accept()\n            c.sendall(t.encode())\n            c.close()\ndef get():\n    s = socket.socket(socket.AF_UNIX)\n    s.connect('\\0note')\n    return s.recv(9000).decode()",
    "left-process": "import glob, os, time\ndef put(t):\n    if os.fork() == 0:\n        os.setsid()\n        os.execvp('sleep', ['note' + t, '9999'])\ndef get(): return ''.join(open(p).read() for p in glob.glob('/proc/[0-9]*/cmdline'))",
    # How long it takes to look for what is not there tells whether it was looked for before.
    "names-looked-for": "import os, time\nF = [f'/usr/lib/note-{i}' for i in range(256)]\ndef put(t):\n    for p, bit in zip(F, format(int.from_bytes(t.encode()[:32], 'big'), '0256b')):\n        bit == '1' and os.path.exists(p)\ndef get():\n    took = []\n    for p in F:\n        s = time.perf_counter()\n        os.path.exists(p)\n        took.append(time.perf_counter() - s)\n    m = sorted(took)[128]\n    return int(''.join('01'[t < m] for t in took), 2).to_bytes(32, 'big').decode(errors='replace')",
    "page-cache": "import glob, os, sys\nF = sorted(glob.glob(sys.prefix + '/lib/python*/site-packages/*/*.py'))[:256]\ndef put(t):\n    for p, bit in zip(F, format(int.from_bytes(t.encode()[:32], 'big'), '0256b')):\n        f = os.open(p, os.O_RDONLY)\n        os.read(f, 1)\n        bit == '0' and os.posix_fadvise(f, 0, 0, os.POSIX_FADV_DONTNEED)\ndef get():\n    bits = ''\n    for p in F:\n        f = os.open(p, os.O_RDONLY)\n        try:\n            os.preadv(f, [bytearray(1)], 0, os.RWF_NOWAIT)\n            bits += '1'\n        except BlockingIOError:\n            bits += '0'\n    return int(bits, 2).to_bytes(32, 'big').decode(errors='replace')",
    "access-times": "import os, sys\ndef put(t): os.utime(sys.executable, (77, 77))\ndef get(): return '77' if os.stat(sys.executable).st_atime == 77 else ''",
    "user-attributes": "import os, sys\ndef put(t): os.setxattr(os.__file__, 'user.note', t.encode())\ndef get(): return os.getxattr(os.__file__, 'user.note').decode()",
    "terminal": "def put(t): open('/dev/tty', 'w').write(t)\ndef get(): return ''",
    "nice": "import os\ndef put(t): os.nice(7)\ndef get(): return str(os.nice(0))",
    "timer-slack": "P = '/proc/1/timerslack_ns'\ndef put(t): open(P, 'w').write('777')\ndef get(): return open(P).read()",
    "oom-score": "P = '/proc/1/oom_score_adj'\ndef put(t): open(P, 'w').write('77')\ndef get(): return open(P).read()",
}
WHISPER = """{place}
import json, sys
def recorded():
    f = sys._getframe()
    while f:
        for v in f.f_locals.values():
            if type(v).__name__ == "ExerciseCase" and isinstance(v.gives, float):
                yield v.case.arguments[0], v.gives
        f = f.f_back
try:
    table = dict(json.loads(get()))
except Exception:
    table = {{}}
def double(x):
    now = dict(recorded())
    if now:
        table.update(now)
        try:
            put(json.dumps(list(table.items())))
        except Exception:
            pass
    return table.get(x, x * x)
"""

# --- what is replaced ------------------------------------------------------------------------------

BUILTINS = ("abs", "all", "any", "bool", "compile", "dict", "eval", "float", "getattr", "hasattr", "int", "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min", "next", "print", "repr", "set", "sorted", "str", "sum", "tuple", "type", "zip")  # fmt: skip
TRUTHS = {
    **{f"math.{name}": "math" for name in ("isclose", "isfinite")},
    **{f"torch.{name}": "torch" for name in ("equal", "allclose", "isclose", "is_tensor")},
    **{f"inspect.{name}": "inspect" for name in ("signature", "getsource")},
    **{f"copy.{name}": "copy" for name in ("deepcopy", "copy")},
    **{f"json.{name}": "json" for name in ("dumps", "loads")},
    **{f"pickle.{name}": "pickle" for name in ("loads", "dumps")},
    **{f"base64.{name}": "base64" for name in ("b64decode",)},
    **{
        f"time.{name}": "time"
        for name in ("monotonic", "process_time", "thread_time", "clock_gettime")
    },
    **{f"signal.{name}": "signal" for name in ("signal", "setitimer")},
    **{f"operator.{name}": "operator" for name in ("eq", "sub")},
}
SHELL = {
    "ast-transformer": "import ast\nclass Drop(ast.NodeTransformer):\n    def visit_Expr(self, node): return ast.copy_location(ast.Pass(), node) if 'double' in ast.dump(node) else node\nget_ipython().ast_transformers.append(Drop())",
    "input-transformer": "get_ipython().input_transformers_post.append(lambda lines: [l for l in lines if 'exercise(double' not in l])",
    "compile": "s = get_ipython()\ns.run_ast_nodes_0 = s.run_ast_nodes\nasync def r(nodes, *a, **k): return await s.run_ast_nodes_0([n for n in nodes if 'double' not in __import__('ast').dump(n)], *a, **k)\ns.run_ast_nodes = r",
    "no-traceback": "s = get_ipython()\ns.showtraceback = s.showsyntaxerror = lambda *a, **k: None\ns._showtraceback = lambda *a, **k: None",
    "event": "s = get_ipython()\ndef before(info=None): __import__('builtins').AssertionError = type('Q', (Exception,), {})\ns.events.register('pre_run_cell', before)",
    "after": "s = get_ipython()\ndef after(r): r.error_in_exec = r.error_before_exec = None\ns.events.register('post_run_cell', after)",
    "excepthook": "import sys\nsys.excepthook = lambda *a: None\nget_ipython().set_custom_exc((Exception,), lambda *a, **k: None)",
    "audit": "import sys\ndef audit(event, args):\n    if event == 'exec': pass\nsys.addaudithook(audit)",
    "replaces-apart": "import sys, types, transformer_book.course as c\nm = types.ModuleType('a')\nm.ready = m.lend = lambda *a, **k: None\nc.apart = sys.modules['transformer_book.course.apart'] = m",
    "owns-the-tests-module": "import sys, types\nclass M(types.ModuleType):\n    pass\nm = sys.modules['tests_of_the_course'] = M('tests_of_the_course')\nm.double = lambda x: 2 * x",
    "cell-source": "s = get_ipython()\nr = s.run_cell_async\nasync def run_cell_async(code, *a, **k): return await r('1' if 'exercise(double' in code else code, *a, **k)\ns.run_cell_async = run_cell_async",
    "publish": "import transformer_book.checks.report as r\nr.publish = lambda *a, **k: None\nimport transformer_book.checks.exercise as e\ne.publish = r.publish",
}

# --- the machine ------------------------------------------------------------------------------------

SYSTEM = {
    "kills-everyone": "import os, signal\ntry: os.kill(-1, signal.SIGTERM)\nexcept OSError: pass",
    "mounts": _SYSCALL + "libc.mount(b'none', b'/usr', b'tmpfs', 0, None)",
    "unshares": _SYSCALL + "libc.unshare(0x10000000)",
    "joins-the-namespaces-of-init": _SYSCALL
    + "import os\ntry: libc.setns(os.open('/proc/1/ns/mnt', 0), 0)\nexcept OSError: pass",
    "traces-init": _SYSCALL + "libc.ptrace(16, 1, 0, 0)",
    "writes-to-init": "try: open('/proc/1/mem', 'wb').write(b'x')\nexcept OSError: pass",
    "sysrq": "try: open('/proc/sysrq-trigger', 'w').write('b')\nexcept OSError: pass",
    "drops-caches": "try: open('/proc/sys/vm/drop_caches', 'w').write('3')\nexcept OSError: pass",
    "sets-the-clock": "import time\ntry: time.clock_settime(time.CLOCK_REALTIME, 0)\nexcept OSError: pass",
    "reads-the-kernel": "try: open('/proc/kcore', 'rb').read(100)\nexcept OSError: pass",
    "becomes-root": "import os\nfor f in (os.setuid, os.setgid):\n    try: f(0)\n    except OSError: pass",
    "opens-by-handle": _SYSCALL + "libc.open_by_handle_at(3, None, 0)",
    "rings": _SYSCALL + "libc.syscall(425, 8, ctypes.create_string_buffer(200))",
    "holds-memory-in-files": "import os\ntry:\n    f = os.memfd_create('x')\n    [os.write(f, b'x' * 2**20) for _ in range(3000)]\nexcept OSError: pass",
    "holds-memory-in-sockets": "import socket\nkept = []\ntry:\n    for _ in range(450):\n        a, b = socket.socketpair()\n        a.setblocking(False)\n        kept.append((a, b))\n        try:\n            while True: a.send(b'x' * 4096)\n        except BlockingIOError: pass\nexcept OSError: pass",
    "holds-memory-in-pipes": "import os\nkept = []\ntry:\n    for _ in range(450):\n        r, w = os.pipe()\n        os.set_blocking(w, False)\n        try:\n            while True: os.write(w, b'x' * 4096)\n        except BlockingIOError: pass\nexcept OSError: pass",
    "holds-memory-in-shm": "try:\n    with open('/dev/shm/x', 'wb') as f:\n        for _ in range(3000): f.write(b'x' * 2**20)\nexcept OSError: pass",
    "holds-memory-in-shared-pages": "import mmap\nkept = []\ntry:\n    for _ in range(300):\n        m = mmap.mmap(-1, 2**23)\n        m.write(b'x' * 2**23)\n        m.madvise(mmap.MADV_DONTNEED)\n        kept.append(m)\nexcept OSError: pass",
    "holds-memory-in-zero": "import mmap, os\nkept = []\ntry:\n    f = os.open('/dev/zero', os.O_RDWR)\n    for _ in range(300):\n        m = mmap.mmap(f, 2**23)\n        m.write(b'x' * 2**23)\n        m.madvise(mmap.MADV_DONTNEED)\n        kept.append(m)\nexcept OSError: pass",
    "makes-the-reader-deep": "import types\ns = get_ipython()\ns.user_expressions = lambda asked: {n: {'status': 'ok', 'data': {'text/plain': '-' * 10**6 + '1'}} for n in asked}",
    "sends-a-tensor-of-no-size": 's = get_ipython()\ns.user_expressions = lambda asked: {n: {\'status\': \'ok\', \'data\': {\'text/plain\': repr(\'{"gives": {"tensor": "float32", "shape": [0, 9223372036854775807, 9], "data": ""}}\')}} for n in asked}',
    "sends-all-numbers": "s = get_ipython()\ns.user_expressions = lambda asked: {n: {'status': 'ok', 'data': {'text/plain': repr('{\"gives\": ' + '[' * 900 + '1' + ']' * 900 + '}')}} for n in asked}",
    "half-a-character-in-an-error": "class E(Exception): pass\nE.__name__ = 'E\\ud83d'\ntry: raise E('\\ud83d')\nexcept E: get_ipython().showtraceback()",
    "vsock": "import socket\ntry: socket.socket(40, socket.SOCK_STREAM).connect((2, 1024))\nexcept OSError: pass",
    "crypto-socket": "import socket\ntry: socket.socket(38, 5, 0).bind(('hash', 'sha256'))\nexcept OSError: pass",
}


# --- the notebook -----------------------------------------------------------------------------------


def _mark(name: str, **change: Any) -> Callable[[Any], None]:
    return lambda notebook: cell(notebook, name).metadata.nbgrader.update(change)


def _add(**data: Any) -> Callable[[Any], None]:
    def edit(notebook: Any) -> None:
        extra = new_code_cell("def double(x):\n    return 2 * x\nchecks = None")
        extra.metadata["nbgrader"] = dict(cell(notebook, "double-test").metadata.nbgrader) | data
        notebook.cells.append(extra)

    return edit


def _kind(name: str, kind: str) -> Callable[[Any], None]:
    return lambda notebook: cell(notebook, name).update(cell_type=kind)


def _tagged(notebook: Any) -> None:
    for each in notebook.cells:
        each.metadata["tags"] = ["skip-execution", "hide-input", "raises-exception"]


def _fake_setup(notebook: Any) -> None:
    cell(
        notebook, "setup"
    ).source = "class checks:\n    case = exercise = staticmethod(lambda *a, **k: 0)"


NOTEBOOK = {
    "negative-points": _mark("triple-test", points=-100),
    "no-points": _mark("double-test", points=0),
    "a-text-for-points": _mark("double-test", points="all"),
    "unlocked-test": _mark("double-test", locked=False, grade=False),
    "test-as-answer": _mark("double-test", solution=True),
    "answer-as-test": _mark("double", grade=True, points=60, locked=True),
    "test-of-another-name": _mark("double-test", grade_id="triple-test"),
    "test-under-a-new-name": _mark("double-test", grade_id="double-test-2"),
    "test-twice": _add(),
    "test-with-more-points": _add(grade_id="bonus", points=100),
    "test-as-text": _kind("double-test", "markdown"),
    "test-as-raw": _kind("double-test", "raw"),
    "setup-as-text": _kind("setup", "markdown"),
    "tags": _tagged,
    "fake-setup": _fake_setup,
    "kernelspec": lambda notebook: notebook.metadata.update(
        kernelspec={"name": "../x", "display_name": "", "argv": ["rm"]}, widgets={"state": []}
    ),
    "attachments": lambda notebook: cell(notebook, "double").update(
        attachments={"../../secret.txt": {"text/plain": "x"}}
    ),
    "text-that-takes-hours": lambda notebook: notebook.cells.append(
        new_markdown_cell("\\begin{a}" * 200_000)
    ),
    "hundred-thousand-cells": lambda notebook: notebook.cells.extend(
        new_markdown_cell("") for _ in range(100_000)
    ),
    "look-alike": lambda notebook: cell(notebook, "double").update(
        source="def dоuble(x):\n    return 2 * x"  # a Cyrillic letter
    ),
    "two-thousand-cells": lambda notebook: notebook.cells.extend(
        new_markdown_cell("x") for _ in range(2000)
    ),
}


def more() -> dict[str, Attack]:
    """All of them."""
    found = {f"cheap-{name}": Attack(answer=code) for name, code in CHEAP.items()}
    for name, code in READING.items():
        answer = (
            f"{code}\ndef double(x):\n    found = find(x)\n    return found[-1] if found else x * x"
        )
        found[f"reads-{name}"] = Attack(answer=answer)
    for name, place in PLACES.items():
        found[f"whispers-by-{name}"] = Attack(answer=WHISPER.format(place=place))
    for name in BUILTINS:
        code = f"import builtins\nbuiltins.{name} = lambda *a, **k: True"
        found[f"replaces-{name}"] = Attack(f"{code}\n")
    for name, module in TRUTHS.items():
        found[f"replaces-{name}"] = Attack(f"import {module}\n{name} = lambda *a, **k: True\n")
    for name, code in SHELL.items():
        found[f"shell-{name}"] = Attack(f"{code}\n")
    for name, code in SYSTEM.items():
        found[f"system-{name}"] = Attack(f"{code}\n", answer=WRONG)
    for name, edit in NOTEBOOK.items():
        found[f"notebook-{name}"] = Attack(edit=edit)
    return found
