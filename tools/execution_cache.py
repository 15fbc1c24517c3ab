"""What `make book` has executed: nothing is computed again while all that it depends on stays.

The outputs of a chapter depend on its cells, on the package, on what is installed, and on the data
that are there. `make book` keeps them in the cache that Jupyter Book reads; that cache knows the
cells alone, so a key of all the rest stands beside it. `make test` holds what it finds under the
same key against the committed outputs, as if it had just computed it.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import sys
import sysconfig
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import nbformat

# Besides the cells.
CODE = ("code", "requirements.txt", "pyproject.toml")
KERNELS = ("tools/copied_kernels.py", "tools/notebook_runner.py")


def digest(root: Path, *names: str) -> str:
    """A hash over the contents of files and folders."""
    total = hashlib.sha256()
    for name in names:
        path = root / name
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            parts = file.relative_to(root).parts
            generated = any(part == "__pycache__" or part.endswith(".egg-info") for part in parts)
            if file.is_file() and not generated:
                total.update("/".join(parts).encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


def surroundings() -> str:
    """A hash of the interpreter, of all that is installed, and of the data that are there."""
    from transformer_book.tasks.downloads import data_folder

    # Where pip installs; what is imported may put other folders on the path, as setuptools does.
    folders = sorted({sysconfig.get_path(name) for name in ("purelib", "platlib")})
    installed = sorted(f"{each.name} {each.version}" for each in distributions(path=folders))
    data = data_folder()
    files = sorted((str(p), p.stat().st_size) for p in data.rglob("*") if p.is_file())
    everything = [sys.version, platform.machine(), installed, files]
    return hashlib.sha256(json.dumps(everything).encode()).hexdigest()


def key(root: Path) -> str:
    """What outputs depend on, besides the cells."""
    return f"{digest(root, *CODE, *KERNELS)} {surroundings()}"


def forget_if_changed(stamp: Path, key: str, *folders: Path) -> bool:
    """Remove folders that were made under another key; say whether they were."""
    changed = not stamp.exists() or stamp.read_text(encoding="utf-8") != key
    if changed:
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(key, encoding="utf-8")
    return changed


def stamp(build: Path) -> Path:
    """Where the key stands under which the chapters of a build were executed."""
    return build / ".executed.key"


def folder(build: Path) -> Path:
    """Where they lie: the cache that Jupyter Book reads."""
    return build / ".jupyter_cache"


def begin(root: Path, build: Path) -> Path:
    """The cache to execute into, without what was executed under another key."""
    forget_if_changed(stamp(build), key(root), folder(build), build / ".doctrees")
    return folder(build)


def read(path: Path) -> Any:
    """A notebook without the outputs of earlier runs."""
    notebook = nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return notebook


def found(path: Path) -> Any | None:
    """A notebook of a book as `make book` has executed it, if nothing has changed since then."""
    root = next((each for each in path.parents if (each / "_toc.yml").exists()), None)
    opened = root and _opened(root)
    if not opened:
        return None
    try:
        record = opened.match_cache_notebook(read(path))
        return opened.get_cache_bundle(record.pk).nb
    except Exception:  # not there, or nobody can read it: then it is executed
        return None


@cache
def _opened(root: Path) -> Any | None:
    build = root / "_build"
    if not stamp(build).exists() or not folder(build).is_dir():
        return None
    if stamp(build).read_text(encoding="utf-8") != key(root):
        return None
    from jupyter_cache import get_cache

    return get_cache(folder(build))
