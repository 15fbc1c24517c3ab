#!/usr/bin/env python3
"""What changed in the chapters between two commits, as Markdown, for pull request reviewers.

    tools/chapter_changes.py main HEAD

Each changed notebook is a unified diff of its text by jupytext: prose and code, without outputs,
counts and metadata. A workflow shows it beside every pull request, so nobody needs a set-up. There
is no committed text twin: it would be a second source for each line, and two to keep in step.
"""

from __future__ import annotations

import argparse
import difflib
import subprocess
import sys
from pathlib import Path

import jupytext
from common import ROOT


def git(*arguments: str, root: Path) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=root, capture_output=True, text=True, encoding="utf-8", check=False
    )
    if done.returncode:
        raise ValueError(done.stderr.strip().splitlines()[-1])
    return done.stdout


def as_text(commit: str, path: str, root: Path) -> list[str]:
    """A notebook's prose and code at a commit; nothing, if it is not there."""
    if not git("ls-tree", commit, "--", path, root=root):
        return []
    notebook = jupytext.reads(git("show", f"{commit}:{path}", root=root), fmt="ipynb")
    notebook.metadata = {}
    for cell in notebook.cells:
        cell.metadata = {}
    return jupytext.writes(notebook, fmt="md").splitlines()


def changes(before: str, after: str, root: Path = ROOT) -> str:
    """The Markdown page of all changed notebooks.

    Raises:
        ValueError: one of them is no commit.
    """
    base = git("merge-base", before, after, root=root).strip()
    names = git("diff", "--name-only", base, after, "--", "*.ipynb", root=root).split("\n")
    parts = []
    for name in filter(None, names):
        old, new = (as_text(commit, name, root) for commit in (base, after))
        lines = list(difflib.unified_diff(old, new, name, name, n=3, lineterm=""))
        if not lines:
            parts.append(f"## {name}\n\nOnly outputs or metadata.\n")
            continue
        fence = "`" * (3 + max(line.count("`") for line in lines))
        parts.append("\n".join([f"## {name}", "", f"{fence}diff", *lines, fence, ""]))
    return "\n".join(parts) or "No chapter changed.\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", help="a commit, such as main")
    parser.add_argument("after", nargs="?", default="HEAD")
    options = parser.parse_args()
    try:
        print(changes(options.before, options.after), end="")
    except ValueError as problem:
        print(f"chapter_changes: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
