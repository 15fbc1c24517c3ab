"""What the maintenance scripts share: where things lie, the configuration, the notebooks."""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = ROOT / "chapters"
PAGES = ROOT / "book"


def configuration(root: Path = ROOT) -> dict:
    """The book's _config.yml."""
    return yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))


def repository_url(root: Path = ROOT) -> str:
    """The one repository URL, from _config.yml."""
    return configuration(root)["repository"]["url"].rstrip("/")


def notebooks(paths: list[str] | None = None) -> list[Path]:
    """The notebooks given, or every notebook of the book in reading order.

    That is the pages of book/ that run (the prerequisites), then every chapter. Nothing else looks
    for notebooks: what is listed here is executed, normalised, linked and tested.
    """
    if paths:
        return [Path(path) for path in paths]
    return [*sorted(PAGES.glob("*.ipynb")), *sorted(CHAPTERS.glob("[0-9][0-9]_*.ipynb"))]


def problem_sets() -> list[Path]:
    """The sources of the course's problem sets."""
    return sorted((ROOT / "assignments" / "source").glob("*/*.ipynb"))
