"""What honest students hand in, right and in the styles that students have.

The set is `small`'s: `double` (60 points, with a hidden test) and `triple` (40). Each submission
here earns all points and keeps its good name; `test_honest` grades some of them, and
`tools/try_grader.py` all, in several jobs and on a busy machine.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from nbformat.v4 import new_code_cell, new_markdown_cell

from tests.course.small import cell

DOUBLE = "def double(x):\n    return x + x"
TRIPLE = "def triple(x):\n    return x * 3"


class Honest(NamedTuple):
    """One submission.

    Attributes:
        double: the cell of the first answer.
        triple: of the second.
        edit: changes the notebook then.
        status: that it must have.
        says: a part of the report's sentences about it; nothing may be said if it is empty.
    """

    double: str = DOUBLE
    triple: str = TRIPLE
    edit: Callable[[Any], None] | None = None
    status: str = "graded"
    says: str = ""


def hand_in(released: Any, honest: Honest) -> Any:
    """The notebook that is handed in."""
    notebook = copy.deepcopy(released)
    cell(notebook, "double").source = honest.double
    cell(notebook, "triple").source = honest.triple
    if honest.edit:
        honest.edit(notebook)
    return notebook


def _above(code: str, body: str = "return x + x") -> Honest:
    return Honest(f"{code}\n\n\ndef double(x):\n    {body}")


def _lines(*lines: str) -> Honest:
    """The body of `double`."""
    return Honest("def double(x):\n" + "\n".join(f"    {line}" for line in lines))


# --- names: some are the tests', some the course's, some Python's ---------------------------------

THEIRS = (
    "first_fit",
    "by_place",
    "cut",
    "words",
    "tokens",
    "known",
    "hidden",
    "n",
    "helper",
    "name",
)
COURSES = ("checks", "course", "torch", "inputs", "spread", "case", "tests", "apart", "setup")
PYTHONS = (
    *("sum", "max", "list", "id", "type", "len", "range", "print", "exec", "sys", "_", "In", "str"),
    *("int", "float", "input", "open", "map", "zip", "sorted", "abs", "min", "round", "math"),
)
MORE = ("lend", "guard", "judge", "answer", "question", "result", "data", "seed", "student", "l")


def _named(name: str, other: str) -> Honest:
    """A number that is called so, and a function."""
    return Honest(
        f"{name} = 2\n\n\ndef double(x):\n    return {name} * x",
        f"def {other}(x):\n    return x + x\n\n\ndef triple(x):\n    return {other}(x) + x",
    )


_NAMES = (*THEIRS, *COURSES, *PYTHONS, *MORE)
NAMED = {
    f"calls-things-{name}": _named(name, other)
    for name, other in zip(_NAMES, (*_NAMES[7:], *_NAMES[:7]), strict=True)
}

# --- ways to write it -----------------------------------------------------------------------------

STYLES = {
    "plain": Honest(),
    "lambda": Honest("double = lambda x: 2 * x"),
    "semicolons": Honest("def double(x): y = x; y += x; return y"),
    "partial": Honest("import functools, operator\ndouble = functools.partial(operator.mul, 2)"),
    "recursion": Honest("def double(x, k=2):\n    return x if k == 1 else x + double(x, k - 1)"),
    "deep-recursion": _above(
        "import sys\nsys.setrecursionlimit(10_000)\ndef down(k):\n    return k and down(k - 1)",
        "return x + x + down(3000)",
    ),
    "object": Honest(
        "class Double:\n    def __call__(self, x):\n        return 2 * x\ndouble = Double()"
    ),
    "static-method": _above(
        "class Maths:\n    @staticmethod\n    def add(a, b): return a + b", "return Maths.add(x, x)"
    ),
    "dataclass": _above(
        "from dataclasses import dataclass\n@dataclass\nclass Pair:\n    a: float\n    b: float",
        "p = Pair(x, x); return p.a + p.b",
    ),
    "own-float": _above("class Number(float):\n    pass", "return Number(2 * x)"),
    "type-hints": Honest(
        "from __future__ import annotations\nfrom typing import Union\ndef double(x: Union[int, float]) -> float:\n    return 2 * x"
    ),
    "nested": _lines("def twice(f): return f() + f()", "return twice(lambda: x)"),
    "closure": Honest(
        "def times(k):\n    def inner(x):\n        return k * x\n    return inner\ndouble, triple = times(2), times(3)",
        "# see above",
    ),
    "decorator": Honest(
        "import functools\ndef loud(f):\n    @functools.wraps(f)\n    def g(*a):\n        print(f.__name__, a)\n        return f(*a)\n    return g\n@loud\ndef double(x):\n    return 2 * x"
    ),
    "cached": Honest(
        "from functools import lru_cache\n@lru_cache\ndef double(x):\n    return 2 * x"
    ),
    "own-cache": Honest(
        "memo = {}\ndef double(x):\n    if x not in memo:\n        memo[x] = x + x\n    return memo[x]"
    ),
    "mutable-default": Honest(
        "def double(x, seen=[]):\n    seen.append(x)\n    return seen[-1] + x"
    ),
    "counts-calls": Honest(
        "calls = 0\ndef double(x):\n    global calls\n    calls += 1\n    return 2 * x"
    ),
    "generator": _lines("return sum(x for _ in range(2))"),
    "comprehension": _lines("return [y for y in [x + x] if y == y or True][0]"),
    "while": _lines(
        "total, k = 0.0, 0", "while k < 2:", "    total, k = total + x, k + 1", "return total"
    ),
    "walrus": _lines("return (y := x) + y"),
    "match": _lines(
        "match x:",
        "    case float():",
        "        return 2 * x",
        "    case _:",
        "        return x + x",
    ),
    "try": _lines("try:", "    return x + x", "except TypeError:", "    return None"),
    "asserts": _lines("assert isinstance(x, (int, float))", "return 2 * x"),
    "eval": Honest("double = eval('lambda x: 2 * x')"),
    "reduce": Honest(
        "from functools import reduce\ndef double(x):\n    return reduce(lambda a, b: a + b, [x, x])"
    ),
    "star-imports": Honest(
        "from math import *\nfrom torch import *\ndef double(x):\n    return fsum([x, x])"
    ),
    "umlauts": Honest(
        "def verdopple(größe):\n    # Wir zählen die Größe zweimal\n    return größe + größe\n\ndef double(zahl):\n    return verdopple(zahl)  # über eine Hilfsfunktion"
    ),
    "context-manager": Honest(
        "from contextlib import contextmanager\n@contextmanager\ndef twice(x):\n    yield 2 * x\ndef double(x):\n    with twice(x) as y:\n        return y"
    ),
    "string-and-back": _lines("return float(str(2 * x))"),
    "whole-number": _lines("return int(2 * x)"),
    "docstring": Honest(
        'def double(x):\n    """Twice x.\n\n    >>> double(2.0)\n    4.0\n    """\n    # YOUR CODE HERE\n    return 2 * x\n    # raise NotImplementedError()'
    ),
    "main": Honest(
        "def double(x):\n    return 2 * x\n\nif __name__ == '__main__':\n    assert double(4.0) == 8.0"
    ),
    # libraries
    "numpy-number": Honest("import numpy as np\ndef double(x):\n    return np.multiply(2, x)"),
    "numpy-array": Honest("import numpy as np\ndef double(x):\n    return np.array(2 * x)"),
    "numpy-vectorize": Honest("import numpy as np\ndouble = np.vectorize(lambda x: 2 * x)"),
    "torch-number": Honest("import torch\ndef double(x):\n    return torch.tensor(x) * 2"),
    "torch-module": Honest(
        "import torch\nclass Twice(torch.nn.Module):\n    def forward(self, x):\n        return x + x\ndouble = Twice()"
    ),
    "torch-settings": Honest(
        "import torch\ntorch.manual_seed(1)\ntorch.set_num_threads(1)\ntorch.set_grad_enabled(False)\ndef double(x):\n    return 2 * x"
    ),
    "collections": Honest(
        "from collections import Counter, deque\ndef double(x):\n    return sum(deque([x, x]))"
    ),
    "plot": Honest(
        "import matplotlib.pyplot as plt\nplt.plot([1, 2], [2, 4])\nplt.show()\ndef double(x):\n    return 2 * x"
    ),
    "progress-bar": Honest(
        "from tqdm import tqdm\ndef double(x):\n    return sum(x for _ in tqdm(range(2)))"
    ),
    "warnings": Honest(
        "import warnings\ndef double(x):\n    warnings.warn('twice')\n    return 2 * x"
    ),
    "logging": Honest(
        "import logging\nlogging.basicConfig(level=logging.DEBUG)\ndef double(x):\n    logging.info('x is %s', x)\n    return 2 * x"
    ),
    "pickle": Honest("import pickle\ndef double(x):\n    return pickle.loads(pickle.dumps(2 * x))"),
    "file": Honest(
        "def double(x):\n    with open('note.txt', 'w') as file:\n        file.write(str(x + x))\n    return float(open('note.txt').read())"
    ),
    "temporary-file": Honest(
        "import tempfile\ndef double(x):\n    with tempfile.TemporaryFile() as file:\n        file.write(b'x')\n    return 2 * x"
    ),
    "display": Honest(
        "from IPython.display import Markdown, display\ndef double(x):\n    display(Markdown('**twice**'))\n    return 2 * x"
    ),
    # chance, time, threads
    "random": Honest(
        "import random\ndef double(x):\n    return random.choice([lambda: x + x, lambda: 2 * x])()"
    ),
    "random-seeded": Honest(
        "import random, numpy\nrandom.seed(3)\nnumpy.random.seed(3)\ndef double(x):\n    return 2 * x + 0 * random.random()"
    ),
    "timer": Honest(
        "import time\ndef double(x):\n    start = time.perf_counter()\n    y = 2 * x\n    print(f'{time.perf_counter() - start:.6f} s')\n    return y"
    ),
    "sleeps": Honest("import time\ndef double(x):\n    time.sleep(0.3)\n    return 2 * x"),
    "slow": Honest(
        "import time\ndef double(x):\n    start = time.process_time()\n    while time.process_time() < start + 0.4:\n        pass\n    return 2 * x"
    ),
    "very-slow": Honest(
        "import time\ndef double(x):\n    start = time.process_time()\n    while time.process_time() < start + 2.2:\n        pass\n    return 2 * x"
    ),
    "threads": Honest(
        "from concurrent.futures import ThreadPoolExecutor\ndef double(x):\n    with ThreadPoolExecutor(2) as pool:\n        return sum(pool.map(float, [x, x]))"
    ),
    "processes": Honest(
        "import multiprocessing\ndef double(x):\n    with multiprocessing.get_context('fork').Pool(2) as pool:\n        return sum(pool.map(float, [x, x]))"
    ),
    "shell-and-magics": Honest("%matplotlib inline\n!echo hello\ndef double(x):\n    return 2 * x"),
    "timed-cell": Honest("%%time\ndef double(x):\n    return 2 * x"),
    "prints-a-lot": Honest(
        "for i in range(500):\n    print(i, 'x' * 50)\ndef double(x):\n    print('called with', x)\n    return 2 * x"
    ),
    "redirects-its-output": Honest(
        "import contextlib, io\ndef double(x):\n    with contextlib.redirect_stdout(io.StringIO()):\n        print(x)\n    return 2 * x"
    ),
    "tries-it-out": Honest(
        "def double(x):\n    return 2 * x\n\nprint(double(1.0), double(-3.0))\ndouble(0.0)"
    ),
    "collects-garbage": Honest(
        "import gc\ngc.disable()\nbig = [0] * 10**6\ndel big\ngc.collect()\ndef double(x):\n    return 2 * x"
    ),
    # settings that stay when a cell has ended
    "warnings-are-errors": _above("import warnings\nwarnings.simplefilter('error')"),
    "numpy-raises": _above("import numpy as np\nnp.seterr(all='raise')"),
    "double-precision": _above("import torch\ntorch.set_default_dtype(torch.float64)"),
    "deterministic": _above("import torch\ntorch.use_deterministic_algorithms(True)"),
    "anomalies": _above("import torch\ntorch.autograd.set_detect_anomaly(True)"),
    "another-folder": _above("import os\nos.makedirs('work')\nos.chdir('work')"),
    "folder-that-is-gone": _above("import os\nos.makedirs('w')\nos.chdir('w')\nos.rmdir('../w')"),
    "short-recursion": _above("import sys\nsys.setrecursionlimit(300)"),
    "alarm": _above(
        "import signal\ndef late(*_): raise TimeoutError\nsignal.signal(signal.SIGALRM, late)",
        "signal.alarm(5); y = 2 * x; signal.alarm(0); return y",
    ),
    "magics": Honest(
        "%load_ext autoreload\n%autoreload 2\n%pdb on\n%xmode Minimal\n%precision 3\n" + DOUBLE
    ),
    "writes-elsewhere": _above("import io, sys\nsys.stdout = io.StringIO()"),
    "quiet": _above("import builtins\nprint = builtins.print = lambda *a, **k: None"),
    "half-a-character": _above("print('\\ud83d')"),
    "thread-that-goes-on": _above(
        "import threading, time\ndef tick():\n    while True:\n        time.sleep(0.1)\n"
        "threading.Thread(target=tick).start()"
    ),
    "waits-for-itself": Honest(
        "import asyncio\nasync def later(x):\n    return 2 * x\nawait later(1.0)\n" + DOUBLE
    ),
    "wide-letters": Honest("def ｄｏｕｂｌｅ(x):\n    return 2 * ｘ"),  # plain ones, to Python
    "stack-of-its-own": Honest(
        "import inspect\ndef double(x):\n    print(inspect.currentframe().f_code.co_name)\n    return 2 * x"
    ),
}

# --- what becomes of a notebook -------------------------------------------------------------------


def _insert(at: str, *cells: Any, after: bool = False) -> Callable[[Any], None]:
    def edit(notebook: Any) -> None:
        place = notebook.cells.index(cell(notebook, at)) + after
        notebook.cells[place:place] = [copy.deepcopy(each) for each in cells]

    return edit


def _unmarked(*names: str) -> Callable[[Any], None]:
    def edit(notebook: Any) -> None:
        for each in notebook.cells:
            if not names or each.metadata.get("nbgrader", {}).get("grade_id") in names:
                each.metadata = {}

    return edit


def _split(notebook: Any) -> None:
    ours = cell(notebook, "double")
    first = copy.deepcopy(ours)
    first.source, ours.source = (
        "def helper(x):\n    return x",
        "def double(x):\n    return 2 * helper(x)",
    )
    notebook.cells.insert(notebook.cells.index(ours), first)


def _line_ends(notebook: Any) -> None:
    for each in notebook.cells:
        each.source = each.source.replace("\n", "\r\n")


def _comments(notebook: Any) -> None:
    cell(notebook, "double-test").source += "\n\n# all green!  "


def _run_elsewhere(notebook: Any) -> None:
    notebook.metadata["colab"] = {"provenance": []}
    notebook.metadata.kernelspec = {
        "name": "conda-env-ml",
        "display_name": "ml",
        "language": "python",
    }
    for i, each in enumerate(notebook.cells):
        each.metadata["id"] = f"{i}"
        each.metadata["collapsed"] = True


def _formatted(notebook: Any) -> None:
    test = cell(notebook, "double-test")
    test.source = test.source.replace("[2.0, 5.0]", "[\n    2.0,\n    5.0,\n]")


def _moved(notebook: Any) -> None:
    for name in ("double", "triple"):
        ours = cell(notebook, name)
        notebook.cells.remove(ours)
        notebook.cells.insert(notebook.cells.index(cell(notebook, "setup")) + 1, ours)


FOUND = {"says": "had lost its mark"}
NOTEBOOKS = {
    "an-answer-lost-its-mark": Honest(edit=_unmarked("double"), **FOUND),
    "both-answers-lost-their-marks": Honest(edit=_unmarked("double", "triple"), **FOUND),
    "every-cell-lost-its-mark": Honest(edit=_unmarked(), **FOUND),
    "a-test-lost-its-mark": Honest(edit=_unmarked("double-test")),
    "the-setup-lost-its-mark": Honest(edit=_unmarked("setup")),
    "split": Honest(edit=_split, says="was there twice"),
    "merged": Honest(f"{DOUBLE}\n\n\n{TRIPLE}", "# see above"),
    "merged-and-deleted": Honest(
        f"{DOUBLE}\n\n\n{TRIPLE}",
        edit=lambda notebook: notebook.cells.remove(cell(notebook, "triple")),
        says="stands in another cell",
    ),
    "helper-in-a-cell-above": Honest(
        "def double(x):\n    return helper(x, 2)",
        edit=_insert("double", new_code_cell("def helper(x, k):\n    return k * x")),
    ),
    "answer-in-a-cell-above": Honest("# above", edit=_insert("double", new_code_cell(DOUBLE))),
    "own-tests": Honest(
        edit=_insert("double", new_code_cell("assert double(1.0) == 2.0\n1 / 0"), after=True)
    ),
    "scratch": Honest(
        edit=_insert("triple", new_code_cell("2 + 2"), new_code_cell(""), new_markdown_cell("Puh."))
    ),
    "cleans-up-later": Honest(
        "factor = 2\n\ndef double(x):\n    return factor * x",
        edit=_insert("triple", new_code_cell("del factor")),
    ),
    "uses-a-variable-of-a-test": Honest(triple="def triple(x):\n    return x * (len(inputs) + 1)"),
    "uses-a-function-of-a-test": Honest(
        triple="def triple(x):\n    return x * (len(spread(0)) + 1)"
    ),
    "prints-a-variable-of-a-test": Honest(triple=f"print(inputs, spread(1))\n{TRIPLE}"),
    "line-ends": Honest(edit=_line_ends),
    "comment-in-a-test": Honest(edit=_comments),
    "formatted-test": Honest(edit=_formatted),
    "another-environment": Honest(edit=_run_elsewhere),
    "answers-moved-up": Honest(edit=_moved),
    "leaves-at-the-end": Honest(edit=_insert("triple-test", new_code_cell("quit()"), after=True)),
    "deleted-test": Honest(
        edit=lambda notebook: notebook.cells.remove(cell(notebook, "double-test")),
        status="changed tests",
        says="The test cell double-test had been deleted",
    ),
    "edited-test": Honest(
        edit=lambda notebook: cell(notebook, "double-test").update(source="double(3.0)"),
        status="changed tests",
        says="The test cell double-test had been edited",
    ),
}

HONEST = {**NAMED, **STYLES, **NOTEBOOKS}
