"""What the maintenance scripts share: where things lie, the configuration, the notebooks."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = ROOT / "chapters"
PAGES = ROOT / "book"
# In a copy without git: what is made, and what begins with a dot and is ours all the same.
GENERATED = {"_build", "__pycache__", "local"}
HIDDEN = {".ci", ".github", ".gitattributes", ".gitignore"}
# Corpora have splits of their own, which are measured whole.
WHOLE = {
    "multi30k": {"validation": 1014, "test": 1000},
    "series/two-terms-public": {"validation": 1185, "test": 593},
}


def configuration(root: Path = ROOT) -> dict:
    """The book's _config.yml."""
    return yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))


def repository_url(root: Path = ROOT) -> str:
    """The one repository URL, from _config.yml."""
    return configuration(root)["repository"]["url"].rstrip("/")


def tracked(root: Path = ROOT) -> list[Path]:
    """The files that git knows, or, in a copy without git, all that are not generated."""
    names: list[str] = []
    if (root / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        names = [name for name in listed.stdout.split("\0") if name]
    found = (
        [root / name for name in names]
        if names
        else [path for path in sorted(root.rglob("*")) if not _generated(path.relative_to(root))]
    )
    return [path for path in found if path.is_file()]


def _generated(path: Path) -> bool:
    return any(
        part in GENERATED
        or part.endswith(".egg-info")
        or (part.startswith(".") and part not in HIDDEN)
        for part in path.parts
    )


def installed_chromium() -> str | None:
    """Where a Chromium or Chrome is installed, if one is."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    if found := next(filter(None, map(shutil.which, names)), None):
        return found
    mac = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")
    return str(mac) if mac.exists() else None


# For a Chromium that opens what `served` shows, and nothing else.
ALONE = [
    *("--no-sandbox", "--disable-gpu"),
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """While this is open, a local server shows the folder: its address, with a slash at the end."""
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()


def split_sizes(task: dict, n: int) -> dict[str, int]:
    """Each split on which a model is measured, and how many pairs of it: `n` of a made split."""
    from transformer_book.tasks import make_task

    name = task["name"]
    whole = WHOLE.get(f"{name}/{task.get('size')}", WHOLE.get(name, {}))
    splits = (split for split in make_task(**task).splits if split != "train")
    return {split: whole.get(split, n) for split in splits}


def notebooks(paths: list[str] | None = None) -> list[Path]:
    """The notebooks given, or every notebook of the book.

    That is the pages of book/ that run (prerequisites, twelve recipes), then every chapter in
    reading order. Nothing else looks for notebooks: what is listed here is executed, normalised,
    linked and tested.
    """
    if paths:
        return [Path(path) for path in paths]
    return [*sorted(PAGES.glob("*.ipynb")), *sorted(CHAPTERS.glob("[0-9][0-9]_*.ipynb"))]


def problem_sets() -> list[Path]:
    """The sources of the course's problem sets."""
    return sorted((ROOT / "assignments" / "source").glob("*/*.ipynb"))
