"""In a student's kernel: tests run apart from the student's names, and neither touches the other.

A test cell of the course runs in a module of its own. It has the course's names, made anew for each
test, what earlier tests have defined, and the student's answers by reference: a test that defines
`words` changes no `words` of the student's, and finds none. The student's code has, as in its own
notebook, what the visible part of a test defines (see `lend`), if it uses that.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import sys
import types
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from io import StringIO
from typing import Any

TESTS = "tests_of_the_course"  # the module's name


def guard(setup: str, names: Sequence[str], test: str) -> str:
    """The cell before a test: all that grades is loaded anew and tried, and names are put apart.

    It binds no name of the student's, and needs none but Python's own.
    """
    code = (
        "import sys\n"
        "for name in [n for n in sys.modules if n.partition('.')[0] == 'transformer_book']:\n"
        "    del sys.modules[name]\n"
        "from transformer_book.course import apart\n"
        f"apart.ready({setup!r}, {list(names)!r}, {_mark(test)!r})\n"
    )
    return f"__import__('builtins').exec({code!r}, {{}})"


def _mark(source: str) -> str:
    return hashlib.blake2b(source.encode(), digest_size=16).hexdigest()


def ready(setup: str, names: Sequence[str], test: str) -> None:
    """Let the next cell run apart, if it is the test. (One that ended Python is not run again.)

    Args:
        setup: of the course, run where the test will be.
        names: of the student's answers, handed in by reference.
        test: by what it is known.

    Raises:
        RuntimeError: if what grades has been changed.
    """
    from IPython import get_ipython

    shell = get_ipython()
    tests = _tests()
    before = {"__builtins__": builtins, "In": [], "Out": {}, "_oh": {}, "get_ipython": get_ipython}
    tests.__dict__.update(before)
    with redirect_stdout(StringIO()):
        exec(compile(setup, "setup", "exec"), tests.__dict__)
    from transformer_book import course

    course.verify()
    module, student = shell.user_module, shell.user_ns
    _renew(student, tests.__dict__)
    for name in names:
        tests.__dict__.pop(name, None)
        if name in student:
            tests.__dict__[name] = student[name]

    def enter(cell: Any) -> None:
        shell.events.unregister("pre_run_cell", enter)
        if _mark(cell.raw_cell) == test:
            shell.user_module, shell.user_ns = tests, tests.__dict__
            shell.events.register("post_run_cell", leave)

    def leave(*_: Any) -> None:
        shell.user_module, shell.user_ns = module, student
        shell.events.unregister("post_run_cell", leave)

    shell.events.register("pre_run_cell", enter)


def _tests() -> types.ModuleType:
    return sys.modules.setdefault(TESTS, types.ModuleType(TESTS))


def _renew(student: dict[str, Any], fresh: dict[str, Any]) -> None:
    """Modules and classes of the package that the student has from the course's cells, made anew.

    Else a test would hand over objects of other classes than those the student's code asks about.
    """
    for name, new in fresh.items():
        old = student.get(name)
        if type(old) is type(new) and _origin(old) == _origin(new) is not None:
            student[name] = new


def _origin(value: Any) -> tuple[str, str] | None:
    """Where in the package something is from; `None` if it is from elsewhere."""
    if isinstance(value, types.ModuleType):
        place = value.__name__, ""
    elif isinstance(value, type | types.FunctionType):
        place = str(value.__module__), value.__qualname__
    else:
        return None
    return place if place[0].partition(".")[0] == "transformer_book" else None


def lend(source: str, names: Sequence[str]) -> None:
    """Give the student what the visible part of a test defines, unless the student has it.

    Args:
        source: of the visible part. Only what defines something is run.
        names: that the student's code uses.
    """
    from IPython import get_ipython

    student = get_ipython().user_ns
    lent = _tests().__dict__.setdefault("_lent", {})  # as it was then
    scratch = dict(student)
    for statement in ast.parse(source).body:
        if not isinstance(statement, ast.Expr | ast.Assert):
            with suppress(Exception), redirect_stdout(StringIO()):
                exec(compile(ast.Module([statement], []), "test", "exec"), scratch)
    for name in names:
        if name in scratch and (name not in student or student[name] is lent.get(name)):
            student[name] = lent[name] = scratch[name]


def defines(source: str) -> set[str]:
    """The names that a cell binds, wherever in it; none if it is not Python."""
    return {
        *(node.name for node in _nodes(source, _NAMED)),
        *(node.id for node in _nodes(source, ast.Name) if isinstance(node.ctx, ast.Store)),
        *(
            (alias.asname or alias.name).partition(".")[0]
            for node in _nodes(source, (ast.Import, ast.ImportFrom))
            for alias in node.names
        ),
    }


def uses(source: str) -> set[str]:
    """The names that a cell reads, wherever in it; none if it is not Python."""
    return {n.id for n in _nodes(source, ast.Name) if isinstance(n.ctx, ast.Load)}


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _nodes(source: str, kinds: Any) -> list[Any]:
    lines = [
        "pass" if line.lstrip()[:1] in ("%", "!", "?") else line for line in source.splitlines()
    ]
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]
