"""The verdict on the page: a small panel in a notebook, text in a terminal."""

from __future__ import annotations

import html
import sys
from dataclasses import replace
from typing import Any

from transformer_book.checks.verdicts import CheckFailed, Verdict
from transformer_book.support import progress

# The border alone has a colour; text and ground are the page's own, in light and in dark.
LOOKS = {
    "right": ("Right", "#2e7d32"),
    "convention": ("Another convention", "#1565c0"),
    "not started": ("Not started", "#757575"),
    "wrong": ("Not yet", "#c62828"),
}


# Problem sets that have begun in this process: there, an untouched stub fails its test.
STRICT: set[str] = set()
# Those among them in which another convention than the book's is wrong.
NO_CONVENTIONS: set[str] = set()


def as_html(verdict: Verdict) -> str:
    """The panel: plain HTML, no scripts, a live region for screen readers."""
    title, colour = LOOKS[verdict.status]
    lines = [part for part in (*verdict.sentences, verdict.example) if part]
    name = html.escape(verdict.component.replace("_", " "))
    body = "".join(f"<p style='margin:0.3em 0'>{html.escape(line)}</p>" for line in lines)
    return (
        f"<div role='status' style='border:1px solid {colour};border-left:6px solid {colour};"
        "border-radius:4px;padding:0.4em 0.8em;max-width:45em'>"
        f"<p style='margin:0.3em 0'><strong>{title}</strong> · {name}</p>{body}</div>"
    )


def in_notebook() -> bool:
    """Whether a kernel shows what we publish."""
    shell = sys.modules.get("IPython") and sys.modules["IPython"].get_ipython()
    return bool(shell) and hasattr(shell, "kernel")


def publish(
    verdict: Verdict, function: Any, page: str | None, *, allow_conventions: bool = True
) -> None:
    """Show the verdict, and keep it among the learner's progress if the learner has asked for that.

    Args:
        verdict: what a check found.
        function: the learner's.
        page: which asks for it: a chapter's number, or another page's name.
        allow_conventions: let another convention than the book's pass. A problem set may forbid it
            for all its checks, see `course.begin`.

    Raises:
        CheckFailed: if the verdict is that something is wrong; inside a problem set also if
            nothing was started.
    """
    if verdict.status == "convention" and (NO_CONVENTIONS or not allow_conventions):
        verdict = replace(verdict, status="wrong")
    if verdict.status != "not started" and not STRICT:  # a grader is not the learner
        progress.note(function, page, verdict.component, verdict.status != "wrong")
    text = f"{LOOKS[verdict.status][0]} ({verdict.component}): {verdict.text()}"
    if in_notebook():
        from IPython.display import publish_display_data

        publish_display_data({"text/html": as_html(verdict), "text/plain": text})
    elif verdict.status != "wrong":
        print(text)
    if verdict.status == "wrong" or (STRICT and verdict.status == "not started"):
        raise CheckFailed(verdict)
