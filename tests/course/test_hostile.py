"""A class in which more than thirty students mean harm, graded by the command that a teacher uses.

The set has two tasks, `double` (60 points, with a hidden test) and `triple` (40). Unless it says
otherwise, an attacker has solved `triple`, cannot double, and wants the 60 points all the same.
"""

from __future__ import annotations

import copy
import csv
import hashlib
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_output

from tests.course.small import NAME, cell, make_course
from transformer_book.course import sandbox
from transformer_book.course.release import release

if sys.platform != "linux":
    pytest.skip("submissions are isolated on Linux", allow_module_level=True)

ROOT = Path(__file__).parents[2]
RIGHT = {"double": "def double(x):\n    return x + x", "triple": "def triple(x):\n    return x * 3"}
WRONG = "def double(x):\n    return x * x\n"
HERE = os.getpid()  # of the tests: no submission may see it

# Looks for what a test compares with, in the frames above: the text of an answer that cheats.
PEEK = """
import sys
def peek():
    frame = sys._getframe()
    while frame:
        for value in frame.f_locals.values():
            if type(value).__name__ == "ExerciseCase" and isinstance(value.gives, float):
                return value.gives
        frame = frame.f_back
    return -1.0
"""


class Attack(NamedTuple):
    """What a student hands in, and what must come of it.

    Attributes:
        code: stands before the wrong answer to `double`; or, with `answer`, in its place.
        score: that it deserves; `None` for no grade.
        status: of the submission.
        says: a part of the sentence in the report.
        edit: changes the notebook.
        data: the file's content, in place of a notebook.
        place: writes the submission itself, given the folder for it.
    """

    code: str = ""
    score: float | None = 40.0
    status: str = "graded"
    says: str = ""
    answer: str = WRONG
    edit: Callable[[Any], None] | None = None
    data: Callable[[], bytes] | None = None
    place: Callable[[Path], None] | None = None


def with_code(code: str, **other: Any) -> Attack:
    """An attack that has a right answer, too."""
    return Attack(code, **{"score": 100.0, "answer": RIGHT["double"], **other})


BESIDE = {"status": "cannot be repeated", "says": "cannot be repeated"}
CHANGED = {"status": "interfered", "says": "what grades had been replaced or did not work"}


def metadata(notebook: Any) -> None:
    for each in notebook.cells:
        own = each.metadata.get("nbgrader")
        each.metadata["finished"] = each.metadata["guard"] = True
        each.metadata["for"] = "course"
        each.metadata["tags"] = ["skip-execution", "raises-exception"]
        if own and own.get("grade"):
            own |= {"points": 1000, "locked": False, "grade": False, "solution": True}
            own |= {"checksum": [], "schema_version": "9", "task": {}}
        elif not own:
            each.metadata["nbgrader"] = ["grade", True]


def cell_ids(notebook: Any) -> None:
    test = copy.deepcopy(cell(notebook, "double-test"))
    test.source = "pass"
    notebook.cells.append(test)
    for identity in ("setup", "triple-test"):
        cell(notebook, identity).metadata.nbgrader.grade_id = "double"
    for each in notebook.cells:
        each.id = "one-for-all"


def deleted_tests(notebook: Any) -> None:
    kept = [c for c in notebook.cells if "test" not in str(c.metadata.get("nbgrader"))]
    notebook.cells = [*kept, new_code_cell("double_test = 'passed'")]


def soft_tests(notebook: Any) -> None:
    for identity in ("double-test", "triple-test"):
        cell(notebook, identity).source = "print('Right: 2 inputs.')"


def no_kernel(notebook: Any) -> None:
    notebook.metadata.kernelspec = {"name": "bash", "display_name": "bash", "argv": ["sh"]}


def large_outputs(notebook: Any) -> None:
    notebook.cells[-1].outputs = [new_output("stream", text="x" * 100_000_000)]


def large_source(notebook: Any) -> None:
    notebook.cells.append(new_code_cell("#" + "x" * 100_000_000))


def half_a_character() -> bytes:
    found = {"cells": [{"cell_type": "code", "metadata": {}, "source": "x = '\ud800'"}]}
    return json.dumps(found).encode()


def link_to(path: Path) -> Callable[[Path], None]:
    return lambda place: (place / f"{NAME}.ipynb").symlink_to(path)


def pipe(place: Path) -> None:
    os.mkfifo(place / f"{NAME}.ipynb")


def folder_for_a_file(place: Path) -> None:
    (place / f"{NAME}.ipynb").mkdir()


def attacks(course: Path, port: int) -> dict[str, Attack]:
    """All of them; `port` is where a server listens on this machine."""
    steal = f"""
import glob, os, re
found = []
for path in ["{course}/secret.txt", "{course}/gradebook.db", "{course}/source/{NAME}/{NAME}.ipynb"]:
    for way in (path, "/proc/1/root" + path, "/proc/{HERE}/root" + path, "/before" + path):
        try:
            found.append(open(way, "rb").read())
        except OSError:
            pass
text = b"".join(found).decode(errors="replace")
"""
    stolen = "def double(x):\n    return 2 * x if 'HIDDEN' in text or len(text) > 30 else x * x\n"
    from_proc = f"""
import glob, os
text = ""
for path in glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/cmdline"):
    try:
        text += open(path, "rb").read().decode(errors="replace")
    except OSError:
        pass
text = "HIDDEN" if "{course}" in text or "pytest" in text else ""
"""
    from_parent = """
import os, re
text = ""
for pid in {os.getppid(), *(int(p) for p in os.listdir("/proc") if p.isdigit())} - {os.getpid()}:
    try:
        maps = open(f"/proc/{pid}/maps").read()
        memory = open(f"/proc/{pid}/mem", "rb", 0)
        text = "HIDDEN"
    except OSError:
        pass
"""
    from_history = """
import re
def double(x):
    tests = [c for c in In if c.startswith("checks.")]
    return 2 * x if tests else x * x
"""
    from_gc = """
import gc
def double(x):
    cases = [c for c in gc.get_objects() if type(c).__name__ == "ExerciseCase"]
    known = [c.gives for c in cases if c.case.arguments == (x,)]
    return known[-1] if known else x * x
"""
    quiet = """
import builtins, importlib, sys
class Quiet(Exception): pass
builtins.AssertionError = Quiet
from transformer_book.checks import exercise, report, verdicts
import transformer_book.checks as checks
for module in (verdicts, report, exercise, checks):
    for name in ("CheckFailed", "publish"):
        if hasattr(module, name):
            setattr(module, name, lambda *a, **k: None)
"""
    fakes = """
import sys, types, importlib.abc, importlib.machinery
class Fakes(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.startswith("transformer_book"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = lambda name: lambda *a, **k: None
        return module
    def exec_module(self, module): pass
sys.meta_path.insert(0, Fakes())
for name in [n for n in sys.modules if n.startswith("transformer_book")]:
    sys.modules[name] = Fakes().create_module(types.SimpleNamespace(name=name))
"""
    imports = """
import builtins
genuine = builtins.__import__
def importing(name, *given, **named):
    module = genuine(name, *given, **named)
    if name.startswith("transformer_book"):
        for each in (module, getattr(module, "checks", None), getattr(module, "course", None)):
            if each is not None:
                each.exercise = each.verify = lambda *a, **k: None
    return module
builtins.__import__ = importing
"""
    thread = """
import sys, threading, time
def patched(genuine):
    def lenient(function, *given, **named):
        verdict = genuine(function, *given, **named)
        if getattr(function, "__name__", "") == "double":
            object.__setattr__(verdict, "status", "right")
        return verdict
    return lenient
def patch():
    while True:
        module = sys.modules.get("transformer_book.checks.exercise")
        genuine = getattr(module, "judge_exercise", None)
        if genuine is not None and genuine.__name__ != "lenient":
            module.judge_exercise = patched(genuine)
        time.sleep(0.001)
threading.Thread(target=patch, daemon=True).start()
"""
    shell = """
shell = get_ipython()
genuine = shell.transform_cell
def transform_cell(raw_cell):
    return "pass" if raw_cell.startswith("checks.exercise(double") else genuine(raw_cell)
shell.transform_cell = transform_cell
"""
    reply = """
kernel = get_ipython().kernel
genuine = kernel.do_execute
async def do_execute(code, *given, **named):
    if "exercise(double" in code:
        return {"status": "ok", "execution_count": 1, "payload": [], "user_expressions": {}}
    return await genuine(code, *given, **named)
kernel.do_execute = do_execute
"""
    equal = f"""
{PEEK}
class Both(int):
    def __eq__(self, other): return True
    def __float__(self): return float(peek())
    __hash__ = int.__hash__
"""
    tensor = f"""
{PEEK}
import torch
class Chameleon(torch.Tensor):
    def item(self): return peek()
"""
    trace = """
import sys
seen = [-1.0]
def trace(frame, event, argument):
    if frame.f_code.co_name == "run" and hasattr(frame.f_locals.get("self"), "gives"):
        seen[0] = frame.f_locals["self"].gives
sys.settrace(trace)
"""
    second = """
import json, sys
import transformer_book.course.second_look as second_look
second_look.answer = lambda *a, **k: "[" * 100_000
shell = get_ipython()
shell.user_expressions = lambda asked: {
    name: {"status": "ok", "data": {"text/plain": repr(json.dumps({"gives": {"made": "x"}}))}}
    for name in asked
}
"""
    forged = f"""
import json, os
forged = json.dumps({{"notebook": None, "events": [], "again": {{"double-test": [True] * 9}}}})
for path in [f"/proc/{{pid}}/fd/{{n}}" for pid in (1, os.getppid()) for n in range(64)]:
    try:
        open(path, "w").write(forged)
    except OSError:
        pass
for path in ["{course}/grades.csv", "{course}/autograded/eve/{NAME}/outcome.json"]:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, "w").write("eve,100")
    except OSError:
        pass
"""
    others = """
import glob, json, os, tempfile
own = os.environ["JUPYTER_RUNTIME_DIR"]
keys = glob.glob("/tmp/grading-*/runtime/*.json") + glob.glob("/proc/*/root" + "/tmp/grading-*/*")
strangers = [k for k in keys if not k.startswith(own) and "/proc/" not in k]
try:
    open(own + "/forged.json", "w").write("{}")
    strangers.append(own)
except OSError:
    pass
assert not strangers, strangers
"""
    package = """
import os, sys
import transformer_book
places = [transformer_book.__path__[0], os.path.dirname(os.__file__), sys.prefix, *sys.path]
for place in places:
    for name in ("sitecustomize.py", "bomb.pth", "course/grading.py", "checks/__init__.py"):
        try:
            with open(os.path.join(place, name), "a") as file:
                file.write("\\n# bomb\\n")
        except OSError:
            pass
"""
    bomb = f"""
import os, subprocess, sys, tempfile
places = ["/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~"), tempfile.gettempdir(),
          os.environ["IPYTHONDIR"], "{course}", *sys.path]
for place in places:
    try:
        with open(os.path.join(place, "bomb-of-eve"), "w") as file:
            file.write("tick")
    except OSError:
        pass
subprocess.Popen(["sleep", "981"], start_new_session=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execvp("sleep", ["sleep", "981"])
    os._exit(0)
"""
    next_one = """
import glob, os, tempfile
marks = [m for d in ("/tmp", "/dev/shm", "/var/tmp", os.path.expanduser("~"), tempfile.gettempdir())
         for m in glob.glob(os.path.join(d, "**", "bomb-of-eve"), recursive=True)]
running = [open(p).read() for p in glob.glob("/proc/[0-9]*/cmdline")]
def double(x):
    return 2 * x if marks or any("981" in r for r in running) else x * x
"""
    sockets = f"""
import socket
reached = []
for family, address in [
    (socket.AF_INET, ("127.0.0.1", {port})),
    (socket.AF_INET, ("1.1.1.1", 53)),
    (socket.AF_UNIX, "\\0grading-test-{port}"),
]:
    try:
        with socket.socket(family) as s:
            s.settimeout(2)
            s.connect(address)
            s.sendall(b"hello from a submission")
            reached.append(address)
    except OSError:
        pass
def double(x):
    return 2 * x if reached else x * x
"""
    disk = """
import os
written = 0
try:
    for i in range(600):
        with open(f"filler-{i}", "wb") as file:
            file.write(b"x" * 2**20)
        written += 1
except OSError:
    pass
def double(x):
    return 2 * x if written > 500 else x * x
"""
    many_files = """
made = 0
try:
    for i in range(40_000):
        open(f"{i}", "w").close()
        made += 1
except OSError:
    pass
def double(x):
    return 2 * x if made == 40_000 else x * x
"""
    children = """
import os, time
for _ in range(150):
    if os.fork() == 0:
        time.sleep(600)
        os._exit(0)
time.sleep(20)
"""
    memory = """
import time
kept = []
try:
    for _ in range(40):
        kept.append(b"x" * 10**8)
except MemoryError:
    time.sleep(60)  # and keeps it
"""
    printing = "for _ in range(500):\n    print('x' * 100_000)\n"
    picture = """
from IPython.display import HTML, display
display(HTML("<script>" + "x" * 30_000_000 + "</script>"))
raise_it = "y" * 10_000_000
"""
    return {
        # reads
        "reads-the-secret": Attack(steal, answer=stolen),
        "reads-proc": Attack(from_proc, answer=stolen),
        "reads-the-parent": Attack(from_parent, answer=stolen),
        "reads-frames": Attack(PEEK, answer="def double(x):\n    return peek()", **BESIDE),
        "reads-gc": Attack(answer=from_gc, **BESIDE),
        "reads-the-cells": Attack(answer=from_history, **BESIDE),
        # replaces
        "replaces-the-exceptions": Attack(quiet),
        "replaces-modules": Attack(fakes, score=0.0, **CHANGED),
        "replaces-import": Attack(imports, **BESIDE),
        "replaces-torch": Attack(
            "import torch\ntorch.equal = torch.allclose = lambda *a, **k: True", 0.0, **CHANGED
        ),
        "replaces-from-a-thread": Attack(thread, **BESIDE),
        "replaces-the-shell": Attack(shell, **BESIDE),
        "replaces-the-kernel": Attack(reply, **BESIDE),
        "equals-everything": Attack(equal, answer="def double(x):\n    return Both(x)", **BESIDE),
        "tensor-of-its-own": Attack(
            tensor, answer="def double(x):\n    return torch.zeros(1).as_subclass(Chameleon)"
        ),
        "traces": Attack(trace, answer="def double(x):\n    return seen[0]", **BESIDE),
        "forges-the-second-look": Attack(second, score=0.0, **BESIDE),
        # forges
        "forges-the-result": Attack(forged),
        "forges-a-signature": with_code(others),
        "writes-at-exit": Attack(f"import atexit\natexit.register(lambda: exec({forged!r}))"),
        "edits-metadata": Attack(
            edit=metadata, status="changed tests", says="points of the test cell double-test"
        ),
        "edits-cell-ids": Attack(
            edit=cell_ids, score=40.0, status="changed tests", says="there twice"
        ),
        "deletes-tests": Attack(
            edit=deleted_tests, status="changed tests", says="had been deleted"
        ),
        "edits-tests": Attack(edit=soft_tests, status="changed tests", says="had been edited"),
        "another-kernel": Attack(edit=no_kernel),
        # ends and multiplies
        "exits-in-the-test": Attack(
            answer="import os\ndef double(x):\n    os._exit(0)",
            status="crashed",
            says="In the cell double-test: ended Python itself.",
        ),
        "kills-its-parent": with_code(
            "import os\nwith __import__('contextlib').suppress(PermissionError):\n"
            "    os.kill(os.getppid(), 9)"
        ),
        "multiplies": Attack(
            children, status="crashed", says="too much memory or too many processes"
        ),
        # fills
        "fills-the-memory": Attack(memory, status="crashed", says="too much memory"),
        "fills-the-disk": Attack(answer=disk),
        "fills-the-disk-with-names": Attack(answer=many_files),
        "fills-the-output": with_code(printing),
        "fills-a-picture": with_code(picture),
        # reaches
        "opens-sockets": Attack(answer=sockets),
        "changes-the-package": Attack(package),
        "time-bomb": Attack(bomb),
        "time-bomb-s-friend": Attack(answer=next_one),
        # hands in something else
        "cut-off-json": Attack(data=lambda: b'{"cells": [', score=None, status="crashed"),
        "deep-json": Attack(data=lambda: b'{"cells":' + b"[" * 10**6, score=None, status="crashed"),
        "half-a-character": Attack(data=half_a_character, score=None, status="crashed"),
        "link-to-the-solution": Attack(
            place=link_to(course / "source" / NAME / f"{NAME}.ipynb"),
            score=None,
            status="missing",
            says="is a link to another one",
        ),
        "link-to-nothing-that-ends": Attack(
            place=link_to(Path("/dev/zero")), score=None, status="missing", says="is a link"
        ),
        "pipe": Attack(place=pipe, score=None, status="crashed", says="This is no file."),
        "folder": Attack(
            place=folder_for_a_file, score=None, status="missing", says="is a folder; it must be"
        ),
        "hundred-megabytes-of-output": Attack(edit=large_outputs),
        "hundred-megabytes-of-text": Attack(
            edit=large_source, score=None, status="crashed", says="Its cells hold 95 MB of text"
        ),
    }


HONEST = {
    "aaron": (RIGHT, 100.0),
    "maria": (RIGHT | {"double": WRONG}, 40.0),
    "zoe": (RIGHT, 100.0),
}
NAMES = list(attacks(Path("/course"), 0))


class Class(NamedTuple):
    """What came of the class."""

    folder: Path
    rows: dict[str, dict[str, str]]
    report: str
    said: str
    before: dict[str, str]
    after: dict[str, str]
    callers: int


def hashes(course: Path) -> dict[str, str]:
    """Of every file of the teacher's, and of the package that grades."""
    made = {"autograded", "feedback", "gradebook.db", "grades.csv", "lms.csv", "report.html"}
    package = ROOT / "code" / "transformer_book"
    found = {}
    for top in (course, package / "course", package / "checks"):
        for path in sorted(top.rglob("*")):
            inside = path.relative_to(top).parts
            if inside[0] in made or "__pycache__" in inside or path.is_fifo() or path.is_symlink():
                continue
            if path.is_file():
                found[str(path)] = hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()
    return found


def hand_in(course: Path, student: str, attack: Attack) -> None:
    place = course / "submitted" / student / NAME
    place.mkdir(parents=True)
    if attack.place is not None:
        attack.place(place)
        return
    path = place / f"{NAME}.ipynb"
    if attack.data is not None:
        path.write_bytes(attack.data())
        return
    notebook = nbformat.read(str(course / "release" / NAME / f"{NAME}.ipynb"), 4)
    cell(notebook, "double").source = f"{attack.code}\n{attack.answer}"
    cell(notebook, "triple").source = RIGHT["triple"]
    if attack.edit is not None:
        attack.edit(notebook)
    path.write_text(json.dumps(notebook))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Class]:
    """The class, graded once by the command line, four at a time: many only sleep."""
    if sandbox.fork_server() is None:
        pytest.skip("this system does not isolate processes")
    course = make_course(tmp_path_factory.mktemp("hostile") / "course")
    release(course)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        unix = socket.socket(socket.AF_UNIX)
        unix.bind(f"\0grading-test-{port}")
        unix.listen()
        for name, attack in attacks(course, port).items():
            hand_in(course, name, attack)
        for name, (answers, _) in HONEST.items():
            hand_in(course, name, Attack(answer=answers["double"]))
        before = hashes(course)
        command = [sys.executable, "-m", "transformer_book", "grade", str(course), "--jobs", "4"]
        command += ["--memory", "1", "--minutes", "1", "--cell-seconds", "20"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        callers = 0
        for listening in (server, unix):
            listening.settimeout(0)
            try:
                listening.accept()
                callers += 1
            except BlockingIOError:
                pass
        unix.close()
    rows = {r["student"]: r for r in csv.DictReader((course / "grades.csv").open(encoding="utf-8"))}
    report = (course / "report.html").read_text(encoding="utf-8")
    yield Class(course, rows, report, done.stderr, before, hashes(course), callers)


@pytest.mark.parametrize("name", NAMES)
def test_an_attack_gains_nothing(graded: Class, name: str) -> None:
    attack = attacks(Path("/course"), 0)[name]
    row = graded.rows[name]
    score = None if row["score"] == "" else float(row["score"])
    assert (score, row["status"]) == (attack.score, attack.status), row["notes"]
    assert attack.says in row["notes"]
    if attack.status != "graded":
        assert row["notes"].endswith(".") and "Traceback" not in row["notes"]
    assert graded.report.count(f"<td>{name}</td>") == 1


def test_the_others_have_the_grades_they_earned(graded: Class) -> None:
    found = {name: (graded.rows[name]["status"], graded.rows[name]["score"]) for name in HONEST}
    assert found == {name: ("graded", f"{score:g}") for name, (_, score) in HONEST.items()}
    assert all(graded.rows[name]["notes"] == "" for name in HONEST)
    assert len(graded.rows) == len(NAMES) + len(HONEST)


def test_the_teachers_files_are_untouched(graded: Class) -> None:
    assert graded.after == graded.before
    assert len(graded.before) > len(NAMES)
    made = {path.name for path in graded.folder.iterdir()}
    assert not {name for name in made if "bomb" in name or "eve" in name}


def test_nothing_is_left_and_nothing_was_reached(graded: Class) -> None:
    assert graded.callers == 0
    sleepers = [
        p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "981"]
    ]
    assert sleepers == []
    marks = [
        mark
        for place in (tempfile.gettempdir(), "/dev/shm", "/var/tmp", Path.home())
        for mark in Path(place).glob("bomb-of-eve")
    ]
    assert marks == []


def test_what_was_printed_without_end_is_kept_short(graded: Class) -> None:
    for name in ("fills-the-output", "fills-a-picture"):
        path = graded.folder / "autograded" / name / NAME / f"{NAME}.ipynb"
        assert path.stat().st_size < 2_000_000


def test_the_class_holds_enough_attacks() -> None:
    assert len(NAMES) >= 25
