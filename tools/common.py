"""What the maintenance scripts share: where things lie, the configuration, the notebooks."""

from __future__ import annotations

from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
CHAPTERS = ROOT / "chapters"


def configuration(root: Path = ROOT) -> dict:
    """The book's _config.yml."""
    return yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))


def repository_url(root: Path = ROOT) -> str:
    """The one repository URL, from _config.yml."""
    return configuration(root)["repository"]["url"].rstrip("/")


def notebooks(paths: list[str] | None = None) -> list[Path]:
    """The notebooks given, or every chapter."""
    if paths:
        return [Path(path) for path in paths]
    return sorted(CHAPTERS.glob("[0-9][0-9]_*.ipynb"))
