"""From the sources of the problem sets to what students get, with the teacher's secret put in."""

from __future__ import annotations

import ast
import copy
import functools
import os
import re
import secrets
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import nbgrader.api
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import compute_checksum, is_locked, is_solution
from sqlalchemy.exc import SAWarning

from transformer_book.course import choice, seed, variant
from transformer_book.support.arguments import check_choice

SECRET = "secret.txt"
CONFIGURATION = "nbgrader_config.py"
OUTCOME = "outcome.json"  # beside each autograded notebook
CALL = re.compile(r"\bcourse\.(seed|choice|variant)\(")
VARIANT = re.compile(r"\bcourse\.variant\(")
PERSONAL = "personal"  # personal/STUDENT/SET/SET.ipynb: the copy of a student who has variants


def read_secret(folder: Path) -> str:
    """The secret of the course in `folder`; a new one is written there if there is none.

    Raises:
        ValueError: if the file is there and empty.
    """
    path = folder / SECRET
    if not path.exists():
        path.write_text(secrets.token_hex(16) + "\n", encoding="utf-8")
        path.chmod(0o600)
    secret = path.read_text(encoding="utf-8").strip()
    if not secret:
        raise ValueError(f"{path} is empty: write any long text into it, or delete it.")
    return secret


def instantiate(source: str, secret: str, seeds: str | None = None, student: str = "") -> str:
    """A cell's source with each `course.seed(...)`, `choice(...)`, `variant(...)` as its result.

    Args:
        seeds: a secret for `course.seed` alone.
        student: whose variants; none: the class's.

    Raises:
        ValueError: for a call whose arguments are not written out.
    """
    while calls := list(_calls(source)):
        node, start, end = calls[-1]
        try:
            arguments = [ast.literal_eval(argument) for argument in node.args]
            own_variant = functools.partial(variant, student=student)
            function = {"seed": seed, "choice": choice, "variant": own_variant}[node.func.attr]
            own = seeds if seeds and function is seed else secret
            value = function(*arguments, secret=own)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"{ast.unparse(node)!r} cannot be instantiated ({error}): write its arguments out."
            ) from None
        source = source[:start] + repr(value) + source[end:]
    return source


def _calls(source: str) -> Iterator[tuple[ast.Call, int, int]]:
    """Calls of `seed`, `choice` and `variant` in the order of the text, with their places."""
    if not CALL.search(source):
        return
    lines = source.splitlines(keepends=True)
    starts = [sum(map(len, lines[:i])) for i in range(len(lines) + 1)]

    def place(row: int, column: int) -> int:  # ast counts bytes
        return starts[row - 1] + len(lines[row - 1].encode()[:column].decode())

    found = [
        (node, place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "course"
        and node.func.attr in ("seed", "choice", "variant")
    ]
    yield from sorted(found, key=lambda call: call[1])


class InstantiateSecret(NbGraderPreprocessor):
    """The first step of nbgrader's `generate_assignment`: puts the teacher's secret in."""

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        """Instantiate one cell."""
        if cell.cell_type == "code":
            course = Path(resources["metadata"]["path"]).resolve().parents[1]  # source/SET
            cell.source = instantiate(cell.source, read_secret(course))
        return cell, resources


def sets_of(folder: Path) -> list[str]:
    """The names of the problem sets that a course has sources of.

    Raises:
        ValueError: if `folder` is no course.
    """
    source = folder / "source"
    if not source.is_dir():
        raise ValueError(f"{folder} is not a course: it has no folder source/.")
    return sorted(path.name for path in source.iterdir() if (path / f"{path.name}.ipynb").exists())


def configure(config: Any) -> None:
    """Everything about the course that nbgrader has to know; `nbgrader_config.py` calls it, too."""
    from nbgrader.converters import GenerateAssignment, GenerateFeedback
    from nbgrader.coursedir import CourseDirectory

    config.CourseDirectory.course_id = "transformer-book"
    # What is known of a submission lies beside it, and must not lie beside the feedback.
    ignored = CourseDirectory.class_traits()["ignore"].default()
    config.CourseDirectory.ignore = [*ignored, OUTCOME]
    config.ClearSolutions.code_stub = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
    steps = GenerateAssignment.class_traits()["preprocessors"].default()
    config.GenerateAssignment.preprocessors = [InstantiateSecret, *steps]
    config.AssignLatePenalties.plugin_class = "transformer_book.course.grading.PerDay"
    config.GenerateFeedback.exporter_class = "transformer_book.course.feedback.FeedbackExporter"
    steps = GenerateFeedback.class_traits()["preprocessors"].default()
    config.GenerateFeedback.preprocessors = ["transformer_book.course.feedback.HideTests", *steps]
    config.ZipCollectApp.collector_plugin = "transformer_book.course.collecting.Students"
    config.ZipCollectApp.extractor_plugin = "transformer_book.course.collecting.Archives"


def application(folder: Path) -> Any:
    """nbgrader's programming interface for a course, with its `nbgrader_config.py`."""
    from nbgrader.apps import NbGraderAPI
    from traitlets.config import Config
    from traitlets.config.loader import PyFileConfigLoader

    _open_quickly()
    # These warnings are about nbgrader's own use of its database: a teacher cannot act on them.
    warnings.filterwarnings("ignore", category=SAWarning)
    # nbgrader starts the command `alembic`, which lies beside this Python, activated or not.
    beside = str(Path(sys.executable).parent)
    if beside not in os.environ["PATH"].split(os.pathsep):
        os.environ["PATH"] = beside + os.pathsep + os.environ["PATH"]
    root = folder.resolve()
    config = Config()
    if (root / CONFIGURATION).exists():
        config = PyFileConfigLoader(CONFIGURATION, path=str(root)).load_config()
    else:
        configure(config)
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.db_url = f"sqlite:///{root / 'gradebook.db'}"
    api = NbGraderAPI(config=config)
    api.log.setLevel("ERROR")
    return api


@functools.cache
def _open_quickly() -> None:
    """Let what nbgrader does anew for each gradebook that it opens be done once.

    It opens one for every step of every submission. Each compiled its statements again, and each
    new one started a program that says which version a new gradebook has.
    """
    nbgrader.api.create_engine = functools.lru_cache(nbgrader.api.create_engine)
    nbgrader.api.get_alembic_version = functools.cache(nbgrader.api.get_alembic_version)


def release(folder: Path, names: list[str] | None = None) -> list[Path]:
    """Write the student version of the problem sets, and return where they are.

    Args:
        folder: of the course.
        names: of the sets; `None`: all.

    Raises:
        ValueError: an unknown set, or one that nbgrader cannot make, with nbgrader's reason.
    """
    known = sets_of(folder)
    for name in names or []:
        check_choice("problem set", name, known)
    read_secret(folder)
    made = []
    api = application(folder)
    for name in names or known:
        answer = api.generate_assignment(name, force=True, create=True)
        if not answer["success"]:
            said = f"{answer.get('log') or ''}\n{answer.get('error') or 'no reason given'}"
            lines = [line.strip() for line in said.splitlines() if line.strip()]
            reasons = [line for line in lines if re.match(r"\w+(Error|Exception): ", line)]
            raise ValueError(f"{name} cannot be released: {(reasons or lines[-1:])[0]}")
        made.append(folder / "release" / name / f"{name}.ipynb")
    return made


def with_variants(folder: Path, name: str) -> dict[str, str]:
    """The sources of a set's cells that ask for a student's variant, by their id.

    Raises:
        ValueError: for such a cell that is not locked: what it asks for could be edited.
    """
    notebook = nbformat.read(str(folder / "source" / name / f"{name}.ipynb"), 4)
    found = [cell for cell in notebook.cells if VARIANT.search(cell.source)]
    for cell in found:
        if cell.cell_type != "code" or not is_locked(cell):
            raise ValueError(f"{name}: a cell with course.variant must be locked: {cell.source!r}.")
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in found}


def personal(folder: Path, name: str, students: Iterable[str]) -> list[Path]:
    """Write each student's copy of a set that was released just before, and return where they are.

    Raises:
        ValueError: the set has no `course.variant`, or one in a cell that is not locked.
    """
    secret, sources = read_secret(folder), with_variants(folder, name)
    if not sources:
        raise ValueError(f"{name} has no course.variant: everyone gets the same file.")
    made = []
    for student in students:
        notebook = nbformat.read(str(folder / "release" / name / f"{name}.ipynb"), 4)
        for cell in notebook.cells:
            identity = cell.metadata.get("nbgrader", {}).get("grade_id")
            if identity in sources:
                cell.source = without_hidden_tests(
                    instantiate(sources[identity], secret, student=student)
                )
                cell.metadata.nbgrader["checksum"] = compute_checksum(cell)
        path = folder / PERSONAL / student / name / f"{name}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, str(path))
        made.append(path)
    return made


def without_hidden_tests(source: str) -> str:
    return re.sub(r"(?ms)^### BEGIN HIDDEN TESTS.*?^### END HIDDEN TESTS\n?", "", source)


def answers_of(source: Any, secret: str) -> dict[str, str]:
    """The reference solutions by the id of their cell."""
    return {
        cell.metadata.nbgrader.grade_id: instantiate(cell.source, secret)
        if cell.cell_type == "code"
        else cell.source
        for cell in source.cells
        if is_solution(cell)
    }


def answered(notebook: Any, answers: Mapping[str, str]) -> Any:
    """A copy with these answers, by the id of their cell.

    Raises:
        ValueError: if there is no such answer.
    """
    notebook = copy.deepcopy(notebook)
    left = dict(answers)
    for cell in notebook.cells:
        identity = cell.metadata.get("nbgrader", {}).get("grade_id")
        if identity in left:
            cell.source = left.pop(identity)
    if left:
        raise ValueError(f"{', '.join(left)}: there is no such answer in the set.")
    return notebook


def solve(folder: Path, name: str) -> Path:
    """Write the solutions of a set, to be given out after the last submission; return their path.

    Raises:
        ValueError: an unknown set.
    """
    check_choice("problem set", name, sets_of(folder))
    notebook = nbformat.read(str(folder / "source" / name / f"{name}.ipynb"), 4)
    secret = read_secret(folder)
    for cell in notebook.cells:
        cell.source = without_hidden_tests(cell.source)
        cell.source = re.sub(r"(?m)^ *### (BEGIN|END) SOLUTION\n?", "", cell.source)
        if cell.cell_type == "code":
            cell.source = instantiate(cell.source, secret)
    path = folder / "solution" / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, str(path))
    return path
